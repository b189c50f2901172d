// A function of `frame`, as page.js. Adds to a page that can be read without it: Copy buttons, tables to sort and
// filter, and the map.
"use strict";
const all = selector => [...frame.querySelectorAll(selector)], one = selector => frame.querySelector(selector);
const page = frame.closest(".tracediff-report-page");
const make = (tag, text, attributes = {}) => {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
};

const copy = async (button, text) => {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  button.textContent = "Copied";
  setTimeout(() => button.textContent = label, 1200);
};

for (const pre of all("details.sql pre")) {
  const button = make("button", "Copy SQL", { type: "button" });
  button.onclick = () => copy(button, pre.textContent);
  pre.after(button);
}

// In another page there may be other headings of the same name, and / may be for others.
for (const link of all("nav a"))
  link.onclick = event => {
    if (page) return;
    event.preventDefault();
    one(link.hash).scrollIntoView();
  };

// A cell as a number: "▼ −0.3" is -0.3; what is not there is 0.
const number = cell => +cell.textContent.replace("−", "-").replace(/[^-.\d]/g, "") || 0;
const quoted = text => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

for (const table of all("details.app table")) {
  const head = [...table.tHead.rows[0].cells], body = table.tBodies[0], rows = [...body.rows];
  const title = table.closest("details").querySelector("summary").textContent;
  const tools = make("div", "", { class: "tools" }), out = make("output", "", { class: "note" });
  const filter = make("input", "", { type: "search", placeholder: "Filter", "aria-label": `Filter: ${title}` });
  const csv = make("button", "Copy CSV", { type: "button" });
  filter.oninput = () => {
    const query = filter.value.toLowerCase();
    for (const row of rows)
      row.hidden = !`${row.textContent} ${row.cells[0].title}`.toLowerCase().includes(query);
    out.textContent = `${rows.filter(row => !row.hidden).length} of ${rows.length} rows`;
  };
  csv.onclick = () => copy(csv, [head, ...[...body.rows].filter(row => !row.hidden).map(row => [...row.cells])]
    .map(cells => cells.map((cell, i) => quoted(cell.tagName === "TD" && head[i].className === "n" ?
      cell.textContent.replace(/[▲▼ ]/g, "").replace("−", "-") : cell.title || cell.textContent)).join(","))
      .join("\n"));
  tools.append(filter, csv, out);
  table.closest(".scroll").before(tools);
  filter.oninput();
  head.forEach((cell, i) => {
    const button = make("button", cell.textContent, { type: "button" }), numeric = cell.className === "n";
    cell.replaceChildren(button);
    button.onclick = () => {
      const down = cell.ariaSort ? cell.ariaSort === "ascending" : numeric;
      for (const other of head) other.removeAttribute("aria-sort");
      cell.ariaSort = down ? "descending" : "ascending";
      body.append(...[...body.rows].sort((a, b) => (down ? -1 : 1) * (numeric ?
        number(a.cells[i]) - number(b.cells[i]) : a.cells[i].textContent.localeCompare(b.cells[i].textContent))));
    };
  });
}

const icicle = one(".icicle");
if (icicle) {
  const data = JSON.parse(one(".map-data").textContent), { names, leaves } = data;
  const said = one(".said"), find = one(".find");
  const root = { name: data.root, c: 0, t: 0, d: 0, depth: 0, below: new Map() };
  for (let i = 0; i < leaves.length;) {
    let node = root;
    const end = i + 1 + leaves[i], c = leaves[end], t = leaves[end + 1], path = [root];
    for (let at = i + 1; at < end; at++) {
      const name = names[leaves[at]], key = leaves[at];
      if (!node.below.has(key))
        node.below.set(key, { name: [name].flat()[0], full: [name].flat()[1], c: 0, t: 0, d: 0,
          depth: node.depth + 1, up: node, below: new Map() });
      node = node.below.get(key);
      path.push(node);
    }
    for (const it of path) { it.c += c; it.t += t; it.d += Math.abs(t - c); }
    i = end + 2;
  }
  const unit = 1e6 * data.size, shown = ns => (ns < 0 ? "−" : "") + Math.abs(ns / unit).toFixed(data.digits);
  const signed = ns => +Math.abs(ns / unit).toFixed(data.digits) ? (ns > 0 ? "+" : "") + shown(ns) : "0";
  const percent = change => { // as write_percent() of writer.c
    const size = Math.abs(change), text = size.toFixed(size < 0.995 ? 2 : size < 9.95 ? 1 : 0);
    return +text ? (change < 0 ? "−" : "+") + text : "0";
  };
  const tell = node =>
    `${node.name}: ${shown(node.c)} → ${shown(node.t)} ${data.unit}, ${signed(node.t - node.c)} ${data.unit}` +
    (!node.c ? " (new)" : !node.t ? " (gone)" : ` (${percent(100 * (node.t / node.c - 1))} %)`);
  const say = node => {
    const path = [];
    for (let it = node.up; it && it.up; it = it.up) path.unshift(it.name);
    said.replaceChildren(make("b", tell(node)), make("div", [...path, node.full || ""].join(" › "), { class: "soft" }));
  };
  let mode = "t", zoom = root, at = root, query = "", boxes = [];
  const nodes = () => boxes.map(box => box.node);
  const sorted = node => [...node.below.values()].sort((a, b) => b[mode] - a[mode]);
  const colour = node => {
    const diff = node.t - node.c, size = Math.abs(diff);
    const strength = Math.min(1, size / Math.max(node.t, node.c, 1) / 0.6) *
      Math.min(1, size / (0.02 * Math.max(root.t, root.c)));
    return strength < 0.02 ? "var(--track)" :
      `color-mix(in srgb, var(--map-${diff > 0 ? "more" : "less"}) ${Math.round(100 * strength)}%, var(--track))`;
  };
  const put = (node, left, share, up) => {
    const box = make("div", "", { role: "treeitem", "aria-level": node.depth + 1, "aria-label": tell(node),
      tabindex: node === at ? 0 : -1 });
    const width = share * icicle.clientWidth, change = signed(node.t - node.c);
    box.node = node;
    box.style.cssText = `left:${100 * left}%;width:${100 * share}%;top:${21 * node.depth}px;background:${colour(node)}`;
    if (width >= 26) box.append(make("span", (!node.c ? "+ " : !node.t ? "× " : "") + node.name));
    if (width > 170 && change !== "0") box.append(make("span", `${change} ${data.unit}`, { class: "change" }));
    box.classList.toggle("tiny", width < 26);
    box.classList.toggle("up", !!up);
    box.classList.toggle("gone", !node.t);
    if (query) box.classList.add(`${node.name} ${node.full || ""}`.toLowerCase().includes(query) ? "hit" : "dim");
    boxes.push(box);
  };
  const draw = focus => {
    boxes = [];
    const above = [];
    for (let it = zoom.up; it; it = it.up) above.unshift(it);
    for (const it of above) put(it, 0, 1, true);
    const spread = (node, left, share) => {
      put(node, left, share);
      let x = left;
      for (const child of sorted(node)) {
        const part = node[mode] ? share * child[mode] / node[mode] : 0;
        if (part * icicle.clientWidth >= 2) spread(child, x, part);
        x += part;
      }
    };
    spread(zoom, 0, 1);
    if (!nodes().includes(at)) { at = zoom; boxes[above.length].tabIndex = 0; }
    icicle.replaceChildren(...boxes);
    icicle.style.height = `${21 * (1 + Math.max(...nodes().map(it => it.depth)))}px`;
    one(".whole").disabled = zoom === root;
    if (focus) boxes[nodes().indexOf(at)].focus();
  };
  const go = (node, focus) => { zoom = at = node; draw(focus); say(node); };
  icicle.onclick = event => {
    const { node } = event.target;
    if (node) go(node === zoom && node.up ? node.up : node, true);
  };
  icicle.onmouseover = event => event.target.node && say(event.target.node);
  icicle.addEventListener("focusin", event => {
    const { node } = event.target;
    if (!node) return;
    for (const box of boxes) box.tabIndex = box === event.target ? 0 : -1;
    at = node;
    say(node);
  });
  icicle.onkeydown = event => {
    const here = nodes(), beside = at.up ? sorted(at.up).filter(it => here.includes(it)) : [at], i = beside.indexOf(at);
    const to = { ArrowDown: () => sorted(at).find(it => here.includes(it)), ArrowUp: () => at.up,
      ArrowRight: () => beside[i + 1], ArrowLeft: () => beside[i - 1] }[event.key];
    if (to) boxes[here.indexOf(to())]?.focus();
    else if (event.key === "Enter" || event.key === " ") go(at, true);
    else if (event.key === "Escape") go(root, true);
    else return;
    event.preventDefault();
  };
  for (const button of all("[data-mode]")) {
    button.onclick = () => {
      mode = button.dataset.mode;
      for (const other of all("[data-mode]")) other.ariaPressed = String(other === button);
      draw();
    };
    button.disabled = button.dataset.mode === "d" && !root.d;
  }
  find.oninput = () => {
    query = find.value.trim().toLowerCase();
    draw();
    let c = 0, t = 0;
    const sum = node => {
      if (`${node.name} ${node.full || ""}`.toLowerCase().includes(query)) { c += node.c; t += node.t; }
      else node.below.forEach(sum);
    };
    if (query) {
      sum(root);
      said.replaceChildren(make("b", tell({ name: `“${query}”`, c, t })));
    } else {
      say(at);
    }
  };
  one(".whole").onclick = () => go(root, true);
  one(".folded").onclick = event => {
    const lines = [];
    const fold = (node, path) => {
      const own = [...node.below.values()].reduce(([c, t], it) => [c - it.c, t - it.t], [node.c, node.t]);
      const stack = [...path, (node.full || node.name).replace(/[;\n]/g, ",")];
      if (own[0] || own[1]) lines.push(`${stack.join(";")} ${own[0]} ${own[1]}`);
      node.below.forEach(it => fold(it, stack));
    };
    fold(root, []);
    copy(event.target, lines.join("\n"));
  };
  (page || frame).addEventListener("keydown", event => {
    if (event.key !== "/" || /INPUT|TEXTAREA/.test(document.activeElement.tagName)) return;
    event.preventDefault();
    find.focus();
  });
  addEventListener("beforeprint", () => go(root));
  one(".map-tools").hidden = false;
  draw();
  new ResizeObserver(() => draw()).observe(icicle);
  say(root);
}
