// A function of `frame`, the element of the page, which may be in another page (page.c).
"use strict";
// Tables sort by a click on a head.
for (const table of frame.querySelectorAll("table")) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.onclick = () => {
      const number = head.className === "n";
      const down = head.ariaSort ? head.ariaSort !== "descending" : number;
      const text = row => row.cells[column].textContent;
      const value = row => number ? text(row).replace(/,/g, "").replace("−", "-") : text(row);
      const order = number
        ? (a, b) => (value(b) !== "") - (value(a) !== "") || (down ? value(b) - value(a) : value(a) - value(b))
        : (a, b) => (down ? -1 : 1) * (value(a) < value(b) ? -1 : value(a) > value(b));
      for (const other of table.tHead.rows[0].cells) other.ariaSort = null;
      head.ariaSort = down ? "descending" : "ascending";
      body.append(...[...body.rows].sort(order));
    };
  });
}

// Figures are drawn by Plotly, which is unpacked from the page. The page around it may have a Plotly of its own, so the
// names that this one takes are given back.
(async () => {
  const packed = frame.querySelector(".library");
  if (!packed) return;
  const bytes = Uint8Array.from(atob(packed.textContent), letter => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script"), names = ["Plotly", "PolyBool"];
  const theirs = names.map(name => Object.getOwnPropertyDescriptor(window, name));
  script.textContent = `{const module = {exports: {}};\n${await new Response(unpacked).text()}
document.currentScript.made = module.exports;}`;
  document.head.append(script);
  script.remove();
  names.forEach((name, i) => theirs[i] ? Object.defineProperty(window, name, theirs[i]) : delete window[name]);
  const Plotly = frame.plotly = script.made;

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const NARROW = 760, isNarrow = () => frame.clientWidth <= NARROW;
  const touch = matchMedia("(pointer: coarse)");
  const figures = [...frame.querySelectorAll("div.figure")];

  // The colours of catalogue.h that are others on a dark page.
  const night = {"#1f2328": "#e4e8ec", "#6b7480": "#8b96a3", "#c2500a": "#ff9d5c", "#0b67a8": "#6cb8f2"};
  const parse = (div, printing) => {
    const shade = colour => dark.matches && !printing && night[colour] || colour;
    return JSON.parse(div.nextElementSibling.textContent, (key, value) =>
      key === "color" ? Array.isArray(value) ? value.map(shade) : shade(value) : value);
  };

  // A label is characters, entities and breaks: the same in lines of another width, broken as write_label() does.
  const wrap = (label, width) => {
    const parts = label.replace(/<br>/g, "").match(/&[#\w]+;|[^]/gu) || [], lines = [];
    const ends = [" ", "_", ":", ",", "&gt;", ")", "/"];
    const last = (at, stops, least) => {
      let end = at + width;
      while (end > at + least && (!stops.includes(parts[end - 1]) || ends.includes(parts[end]))) end--;
      return end > at + least && end;
    };
    for (let at = 0, end; at < parts.length; at = end) {
      end = at + width >= parts.length ? parts.length
        : last(at, [" "], width / 3) || last(at, ends, width / 2) || at + width;
      lines.push(parts.slice(at, end).join(""));
    }
    return lines;
  };

  // On a narrow screen long labels are above the bars.
  const labelled = (layout, size) => {
    const axis = layout.yaxis, width = Math.max(8, Math.floor((frame.clientWidth - 40) / (size * 0.62)));
    const texts = axis.ticktext.map(label => wrap(label, width));
    const above = size * 1.3 * Math.max(1, ...texts.map(lines => lines.length)) + 2;
    const bars = layout.barmode === "group" && layout.meta !== "ordered" ? 22 : 16;
    const height = bars + above + 8, top = Math.max(0, above / 2 - 2) / height;
    layout.annotations = texts.map((lines, i) => ({xref: "paper", x: 0, xanchor: "left", y: axis.tickvals[i],
      yanchor: "bottom", yshift: bars / 2, text: lines.join("<br>"), align: "left", showarrow: false, borderpad: 0,
      font: {size}}));
    layout.bargap = 1 - bars / height;
    Object.assign(axis, {autorange: false, range: [texts.length - 0.5, -0.5 - top]});
    layout.height = (texts.length + top) * height + 20 + layout.margin.t + layout.margin.b;
    axis.showticklabels = false;
  };

  // What depends on the screen, not on the figure. `top`: px above the plot.
  const look = (layout, small, printing, top) => {
    const isDark = dark.matches && !printing;
    const ink = isDark ? "#e4e8ec" : "#1f2328", paper = isDark ? "#15181c" : "#ffffff";
    const line = isDark ? "#343b43" : "#d8dee4";
    layout.height += top - layout.margin.t;
    layout.margin.t = top;
    for (const key of Object.keys(layout).filter(key => /^[xy]axis/.test(key))) {
      const axis = layout[key];
      Object.assign(axis, {gridcolor: line, zerolinecolor: isDark ? "#7d8894" : "#59636e",
        tickfont: {size: small ? 10 : 12}});
      if (axis.title) axis.title.font = {size: small ? 11 : 13};
      if (small && axis.nticks) axis.nticks = layout.xaxis3 ? 3 : 5;
    }
    if (layout.yaxis.ticktext) layout.yaxis.ticklabelstandoff = 6;
    if (small) layout.margin.r = Math.ceil(layout.margin.r * 0.85);
    if (small && layout.yaxis.ticktext?.some(label => label.length > 16)) labelled(layout, 11);
    return Object.assign(layout, {title: undefined, paper_bgcolor: paper, plot_bgcolor: paper, showlegend: false,
      dragmode: touch.matches ? false : "zoom",
      hoverlabel: {...layout.hoverlabel, bgcolor: isDark ? "#2b323a" : "#ffffff", bordercolor: line,
        font: {color: ink, size: small ? 11 : 13}},
      font: {family: getComputedStyle(frame).fontFamily, size: small ? 11 : 13, color: ink}});
  };

  const draw = async (div, printing) => {
    const {data, layout} = div.source = parse(div, printing);
    const next = look(structuredClone(layout), isNarrow() && !printing, printing,
      layout.xaxis.side === "top" ? 48 : 12);
    if (div.order) next.yaxis.categoryarray = div.order;
    if (printing) next.width = 680;
    data.forEach((trace, i) => { if (div.shown) trace.visible = div.shown[i]; });
    await Plotly.react(div, data, next, {responsive: true, displayModeBar: false});
  };

  // A label of Plotly as text.
  const plain = label =>
    new DOMParser().parseFromString(label.replace(/<br>/g, ""), "text/html").documentElement.textContent;

  const colour = trace => (trace.line || trace.marker).color;
  const swatch = div => div.parentNode.querySelectorAll(".legend button").forEach(it => {
    it.firstChild.style.background = colour(div.source.data[it.value]);
  });

  // What can be shown and hidden.
  const legend = div => {
    const {data} = div.source;
    const box = document.createElement("div");
    box.className = "legend";
    div.shown = data.map(trace => trace.visible ?? true);
    data.forEach((trace, i) => {
      if (trace.showlegend === false) return;
      const it = document.createElement("button");
      it.type = "button";
      it.value = i;
      it.ariaPressed = String(div.shown[i] === true);
      it.title = "show or hide";
      it.append(document.createElement("i"), plain(trace.name));
      it.onclick = () => {
        div.shown[i] = div.shown[i] === true ? "legendonly" : true;
        it.ariaPressed = String(div.shown[i] === true);
        Plotly.restyle(div, {visible: div.shown[i]}, [i]);
      };
      box.append(it);
    });
    if (box.childElementCount < 2) box.replaceChildren();
    return box;
  };

  // Zooms by a factor, and moves by a part of what is seen.
  const move = (div, factor, right = 0, up = 0) => {
    const change = touch.matches ? {dragmode: "pan"} : {};
    for (const axis of Object.keys(div.source.layout).filter(key => /^[xy]axis/.test(key))) {
      const [from, to] = div.layout[axis].range.map(Number);
      const middle = (from + to) / 2 + (axis === "yaxis" ? up : right) * (to - from), half = (to - from) / 2 * factor;
      change[axis + ".range"] = [middle - half, middle + half];
    }
    return Plotly.relayout(div, change);
  };

  // Names by the size of a series, the greatest first; as the figure has them for an empty key.
  const sizes = trace => trace.mode === "text" ? trace.customdata : trace.x;
  const sorted = (data, key) => {
    const given = [...data[0].y.keys()];
    if (key === "name") {
      const name = i => data[0].customdata[i][0];
      given.sort((a, b) => name(a) < name(b) ? -1 : name(a) > name(b));
    } else if (key !== "") {
      const size = sizes(data[key]);
      given.sort((a, b) => Math.abs(size[b] || 0) - Math.abs(size[a] || 0) || a - b);
    }
    return given.map(String);
  };

  // The picture as it is seen, with title and legend.
  const save = (div, format) => {
    const source = parse(div).layout, width = Math.max(div.clientWidth, 800);
    const {title, legend, margin} = source;
    const layout = look(source, false, false, margin.t + 40);
    Object.assign(layout, {width, legend, showlegend: true,
      title: {...title, x: 0, xanchor: "left", y: 1, yanchor: "top", pad: {l: 14, t: 16}}});
    for (const key of Object.keys(layout).filter(key => /^[xy]axis/.test(key)))
      if (div.layout[key].range) Object.assign(layout[key], {range: div.layout[key].range, autorange: false});
    if (div.order) layout.yaxis.categoryarray = div.order;
    return Plotly.downloadImage({data: div.data, layout}, {format, width, height: layout.height,
      scale: format === "png" ? 2 : 1, filename: "tracediff"});
  };

  const tools = div => {
    const {data, layout} = div.source;
    const bar = document.createElement("div");
    bar.className = "tools";
    const button = (text, action) => {
      const it = document.createElement("button");
      it.type = "button";
      it.textContent = text;
      it.onclick = action;
      bar.append(it);
    };
    if (data[0].type === "bar" && data[0].y.length > 1 && layout.meta !== "ordered") {
      const select = document.createElement("select");
      const label = document.createElement("label");
      select.add(new Option("default", ""));
      data.forEach((trace, i) => { if (sizes(trace)) select.add(new Option(plain(trace.name), i)); });
      select.add(new Option("name", "name"));
      select.onchange = () => {
        div.order = sorted(data, select.value);
        draw(div);
      };
      label.append("Sort by ", select);
      bar.append(label);
    }
    button("Zoom in", () => move(div, 0.5));
    button("Zoom out", () => move(div, 2));
    button("Whole figure", () => draw(div));
    button("Save SVG", () => save(div, "svg"));
    button("Save PNG", () => save(div, "png"));
    return bar;
  };

  for (const div of figures) {
    await draw(div);
    div.before(legend(div), tools(div));
    swatch(div);
    div.setAttribute("tabindex", "0");
    div.setAttribute("role", "group");
    div.setAttribute("aria-label", "Figure. Plus and minus zoom, arrows move, 0 shows all. Its table follows.");
    div.addEventListener("keydown", event => {
      const moves = {"+": [0.5], "-": [2], ArrowLeft: [1, -0.2], ArrowRight: [1, 0.2], ArrowUp: [1, 0, 0.2],
        ArrowDown: [1, 0, -0.2]};
      if (event.target !== div || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key in moves) move(div, ...moves[event.key]);
      else if (event.key === "0") draw(div);
      else return;
      event.preventDefault();
    });
  }
  const redraw = printing => figures.forEach(div => { draw(div, printing); swatch(div); });
  dark.addEventListener("change", () => redraw(false));
  let width = frame.clientWidth;
  new ResizeObserver(() => {
    const changed = width !== frame.clientWidth && (width <= NARROW || isNarrow());
    width = frame.clientWidth;
    if (changed) redraw(false);
  }).observe(frame);
  addEventListener("beforeprint", () => redraw(true));
  addEventListener("afterprint", () => redraw(false));
  frame.dataset.drawn = figures.length;
})();
