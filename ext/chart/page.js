"use strict";
// Tables sort by a click on a head.
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.onclick = () => {
      const down = head.ariaSort ? head.ariaSort !== "descending" : head.className === "n";
      const value = row => row.cells[column].textContent;
      const order = head.className === "n"
        ? (a, b) => (value(b) !== "") - (value(a) !== "") || (down ? value(b) - value(a) : value(a) - value(b))
        : (a, b) => (down ? -1 : 1) * (value(a) < value(b) ? -1 : value(a) > value(b));
      for (const other of table.tHead.rows[0].cells) other.ariaSort = null;
      head.ariaSort = down ? "descending" : "ascending";
      body.append(...[...body.rows].sort(order));
    };
  });
}

// Figures are drawn by Plotly, which is unpacked from the page.
(async () => {
  const packed = document.getElementById("plotly");
  if (!packed) return;
  const bytes = Uint8Array.from(atob(packed.textContent), letter => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(unpacked).text();
  document.head.append(script);

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const narrow = matchMedia("(max-width: 600px)");
  const touch = matchMedia("(pointer: coarse)");
  const figures = [...document.querySelectorAll("div.figure")];

  // What depends on the screen, not on the figure.
  const look = (layout, printing) => {
    const night = dark.matches && !printing;
    const ink = night ? "#e4e8ec" : "#1f2328", paper = night ? "#15181c" : "#ffffff";
    const line = night ? "#343b43" : "#d8dee4";
    const small = narrow.matches && !printing;
    const top = layout.xaxis?.side === "top" && layout.yaxis.domain[1] === 1 ? 48 : 12;
    const axis = old => old && {...old, gridcolor: line, zerolinecolor: night ? "#7d8894" : "#59636e",
      tickfont: {size: small ? 10 : 12}, title: {...old.title, font: {size: small ? 11 : 13}}};
    // a label is characters and entities
    const brief = label => {
      const parts = label.match(/&[#\w]+;|[^]/gu) || [];
      return small && parts.length > 20 ? [...parts.slice(0, 8), "…", ...parts.slice(-11)].join("") : label;
    };
    const x = axis(layout.xaxis), y = axis(layout.yaxis);
    if (y && y.ticktext) y.ticktext = y.ticktext.map(brief);
    if (x && small) x.nticks = 5;
    return {...layout, title: undefined, ...(x && {xaxis: x, yaxis: y}),
      paper_bgcolor: paper, plot_bgcolor: paper, dragmode: touch.matches ? false : "zoom",
      showlegend: false, height: layout.height - layout.margin.t + top,
      margin: {...layout.margin, t: top},
      hoverlabel: {...layout.hoverlabel, bgcolor: night ? "#2b323a" : "#ffffff", bordercolor: line,
        font: {color: ink, size: small ? 11 : 13}},
      font: {family: getComputedStyle(document.body).fontFamily, size: 13, color: ink}};
  };

  const draw = async (div, printing) => {
    const {data, layout} = div.source;
    const next = look(layout, printing);
    if (div.order) next.yaxis.categoryarray = div.order;
    if (printing) next.width = 680;
    await Plotly.react(div, div.data || data, next, {responsive: true, displayModeBar: false});
  };

  // What can be shown and hidden: series, or the parts of a pie that is alone.
  const legend = div => {
    const {data, layout} = div.source;
    const box = document.createElement("div");
    box.className = "legend";
    const add = (name, colour, toggle) => {
      const it = document.createElement("button");
      const swatch = document.createElement("i");
      swatch.style.background = colour;
      it.type = "button";
      it.ariaPressed = "true";
      it.title = "show or hide";
      it.append(swatch, plain(name));
      it.onclick = () => {
        it.ariaPressed = it.ariaPressed === "true" ? "false" : "true";
        toggle(it.ariaPressed === "true");
      };
      box.append(it);
    };
    const pie = data[0].type === "pie";
    if (pie && data.length === 1) {
      const hidden = new Set();
      data[0].labels.forEach((label, i) => add(label, data[0].marker.colors[i], shown => {
        if (shown) hidden.delete(label);
        else hidden.add(label);
        layout.hiddenlabels = [...hidden];
        Plotly.relayout(div, {hiddenlabels: [...hidden]});
      }));
    } else if (!pie) {
      data.forEach((trace, i) => add(trace.name, (trace.line || trace.marker).color,
        shown => Plotly.restyle(div, {visible: shown ? true : "legendonly"}, [i])));
    }
    if (box.childElementCount) div.before(box);
  };

  // Zooms by a factor, and moves by a part of what is seen.
  const move = (div, factor, right = 0, up = 0) => {
    const change = touch.matches ? {dragmode: "pan"} : {};
    for (const [axis, part] of [["xaxis", right], ["yaxis", up]]) {
      const [from, to] = div.layout[axis].range.map(Number);
      const middle = (from + to) / 2 + part * (to - from), half = (to - from) / 2 * factor;
      change[axis + ".range"] = [middle - half, middle + half];
    }
    return Plotly.relayout(div, change);
  };
  const whole = div => Plotly.relayout(div, {"xaxis.autorange": true, dragmode: touch.matches ? false : "zoom",
    "yaxis.autorange": div.source.layout.yaxis.autorange || true});

  // A label of Plotly as text.
  const plain = label => new DOMParser().parseFromString(label.replace(/<br>/g, ""), "text/html").documentElement.textContent;

  // Names by the size of a series, the greatest first; as given for an empty key.
  const sorted = (data, key) => {
    const bars = data.filter(trace => trace.type === "bar");
    const given = [...bars[0].y.keys()];
    const trace = bars[+key];
    if (key === "name") {
      const name = i => String([].concat(bars[0].customdata[i])[0]);
      given.sort((a, b) => name(a) < name(b) ? -1 : name(a) > name(b));
    } else if (key !== "") {
      given.sort((a, b) => Math.abs(trace.x[b] || 0) - Math.abs(trace.x[a] || 0) || a - b);
    }
    return given.map(String);
  };

  // The picture as it is seen, with title and legend.
  const save = (div, format) => {
    const source = div.source.layout, width = Math.max(div.clientWidth, 800), height = source.height + 40;
    const title = {...source.title, x: 0, xanchor: "left", y: 1, yanchor: "top", pad: {l: 14, t: 16}};
    const layout = {...div.layout, width, height, title, legend: source.legend, showlegend: true,
      margin: {...source.margin, t: source.margin.t + 40}};
    return Plotly.downloadImage({data: div.data, layout}, {format, width, height, scale: format === "png" ? 2 : 1,
      filename: "tracediff"});
  };

  const tools = div => {
    const bar = document.createElement("div");
    bar.className = "tools";
    const button = (text, action) => {
      const it = document.createElement("button");
      it.type = "button";
      it.textContent = text;
      it.onclick = action;
      return it;
    };
    const bars = div.source.data.filter(trace => trace.type === "bar");
    if (bars.length && bars[0].y.length > 1 && div.source.layout.meta !== "ordered") {
      const select = document.createElement("select");
      const label = document.createElement("label");
      const choices = [["", "as given"], ...bars.map((trace, i) => [i, plain(trace.name)]), ["name", "name"]];
      for (const [key, text] of choices) select.add(new Option(text, key));
      select.onchange = () => {
        div.order = sorted(div.data, select.value);
        draw(div);
      };
      label.append("Sort by ", select);
      bar.append(label);
    }
    const all = document.createElement("span");
    if (div.source.layout.xaxis)
      all.append(button("Zoom in", () => move(div, 0.5)), button("Zoom out", () => move(div, 2)),
        button("Whole figure", () => whole(div)));
    all.append(button("Save SVG", () => save(div, "svg")), button("Save PNG", () => save(div, "png")));
    bar.append(all);
    div.before(bar);
  };

  for (const div of figures) {
    div.source = JSON.parse(div.nextElementSibling.textContent);
    await draw(div);
    tools(div);
    legend(div);
    div.setAttribute("tabindex", "0");
    div.setAttribute("role", "group");
    div.setAttribute("aria-label", "Figure. Plus and minus zoom, arrows move, 0 shows all. Its table follows.");
    div.addEventListener("keydown", event => {
      const moves = {"+": [0.5], "-": [2], ArrowLeft: [1, -0.2], ArrowRight: [1, 0.2], ArrowUp: [1, 0, 0.2],
        ArrowDown: [1, 0, -0.2]};
      if (event.target !== div || !div.layout.xaxis || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key in moves) move(div, ...moves[event.key]);
      else if (event.key === "0") whole(div);
      else return;
      event.preventDefault();
    });
  }
  const redraw = printing => figures.map(div => draw(div, printing));
  dark.addEventListener("change", () => redraw(false));
  narrow.addEventListener("change", () => redraw(false));
  addEventListener("beforeprint", () => redraw(true));
  addEventListener("afterprint", () => redraw(false));
  document.documentElement.dataset.drawn = figures.length;
})();
