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
    const axis = old => old && {...old, gridcolor: line, zerolinecolor: night ? "#7d8894" : "#59636e",
      tickfont: {size: small ? 10 : 12}};
    const brief = name => small && name.length > 20 && !name.includes("&") ? name.slice(0, 8) + "…" + name.slice(-11) : name;
    const y = axis(layout.yaxis);
    if (y && y.ticktext) y.ticktext = y.ticktext.map(brief);
    const x = axis(layout.xaxis);
    if (x && small) x.nticks = 4;
    return {...layout, title: undefined, xaxis: x, yaxis: y,
      paper_bgcolor: paper, plot_bgcolor: paper, dragmode: touch.matches ? false : "zoom",
      hoverlabel: {...layout.hoverlabel, bgcolor: night ? "#2b323a" : "#ffffff", bordercolor: line,
        font: {color: ink, size: small ? 11 : 13}},
      font: {family: getComputedStyle(document.body).fontFamily, size: 13, color: ink}};
  };
  const options = {responsive: true, displaylogo: false, displayModeBar: true,
    modeBarButtonsToRemove: ["toImage", "select2d", "lasso2d", "autoScale2d"]};

  const draw = async (div, printing) => {
    const {data, layout} = div.source;
    const next = look(layout, printing);
    if (div.order) next.yaxis.categoryarray = div.order;
    if (printing) next.width = 680;
    await Plotly.react(div, div.data || data, next, options);
    for (const item of div.querySelectorAll(".legendtoggle")) {
      item.setAttribute("tabindex", "0");
      item.setAttribute("role", "button");
      item.setAttribute("aria-label", "show or hide " + item.parentNode.textContent);
    }
    for (const button of div.querySelectorAll(".modebar-btn")) button.setAttribute("tabindex", "0");
  };

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

  const save = (div, format) => Plotly.downloadImage(
    {data: div.data, layout: {...div.layout, title: {...div.source.layout.title, x: 0.01, xanchor: "left"},
      width: Math.max(div.clientWidth, 800), height: div.source.layout.height + 40,
      margin: {...div.source.layout.margin, t: div.source.layout.margin.t + 40}}},
    {format, width: Math.max(div.clientWidth, 800), height: div.source.layout.height + 40,
      scale: format === "png" ? 2 : 1, filename: "tracediff"});

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
      const choices = [["", "as given"], ...bars.map((trace, i) => [i, trace.name]), ["name", "name"]];
      for (const [key, text] of choices) select.add(new Option(text, key));
      select.onchange = () => {
        div.order = sorted(div.data, select.value);
        draw(div);
      };
      label.append("Sort by ", select);
      bar.append(label);
    }
    const all = document.createElement("span");
    if (div.source.layout.xaxis) {
      all.append(
        button("Whole figure", () => Plotly.relayout(div, {"xaxis.autorange": true,
          "yaxis.autorange": div.source.layout.yaxis.autorange || true})));
    }
    all.append(button("Save SVG", () => save(div, "svg")), button("Save PNG", () => save(div, "png")));
    bar.append(all);
    div.before(bar);
  };

  for (const div of figures) {
    div.source = JSON.parse(div.nextElementSibling.textContent);
    await draw(div);
    tools(div);
    div.addEventListener("keydown", event => {
      if (event.key !== "Enter" && event.key !== " ") return;
      if (event.target.matches(".modebar-btn")) event.target.dispatchEvent(new MouseEvent("click", {bubbles: true}));
      else if (event.target.matches(".legendtoggle")) {
        const trace = event.target.__data__[0].trace;
        const at = trace.index;
        Plotly.restyle(div, {visible: trace.visible === true ? "legendonly" : true}, [at])
          .then(() => div.querySelectorAll(".legendtoggle")[at]?.focus());
      } else return;
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
