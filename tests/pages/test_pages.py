"""Pages embedded in another page, like in notebooks: the other page stays unchanged, and they work there.

    CHROMIUM  the browser (all are skipped without)
"""
import json
import os
import tempfile
import unittest

import browser
from support import EXAMPLES, connect

GPU = tuple(os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test"))

# A page with the same elements and classes as ours, and with names that ours might use.
HOST = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Host</title><style>
:root { --paper: #123456; --ink: red; --line: 9px; --more: 1 } body { margin: 17px; font: 20px serif; background: #eee }
</style></head><body>
<main><h1 class="lead">One</h1><h2 id="map">Two</h2><h3>Three</h3><nav class="top"><a href="#map">link</a></nav>
<p class="note more less flat state soft missing">Text <b>bold</b> <code>code</code></p>
<table class="cmp fall kinds ranks"><caption>Caption</caption>
<thead><tr class="sum"><th class="n">a<th aria-sort="ascending"><button>b</button></thead>
<tbody><tr><th>c<td class="n b">d</tbody></table>
<ul class="checks"><li>item</ul><ol class="causes"><li><small>item</small></ol>
<dl class="two"><dt>t<dd class="bar"><i>d</i></dl>
<div class="tools legend figure callout app scroll table head"><button aria-pressed="true">button</button>
<select><option>o</select><input type="search"><label>label</label></div>
<div class="icicle said lane axis vh"><div class="gone">box</div><span>x</span></div>
<section><details class="sql"><summary>more</summary><pre>pre</pre></details></section>
<svg class="steps" width="9" height="9"><text class="test">t</text><path class="grid mean control" d="M 0 0"/></svg>
</main>
<footer>Footer</footer><div id="cells" style="height: 400px; overflow: auto"></div></body></html>"""

HELPERS = """
const seen = () => {
  const own = ["--paper", "--ink", "--line", "--more", "--soft", "--raised", "--track"], found = [];
  for (const it of document.querySelectorAll("html, body, body *:not(#cells, #cells *)")) {
    if (it.closest("#js-plotly-tester")) continue;  // Plotly measures texts in it, far outside of the page
    for (const part of [null, "::before", "::after", "::marker"]) {
      const style = getComputedStyle(it, part);
      found.push([it.tagName, part, ...[...style, ...own].map(name => [name, style.getPropertyValue(name)])]);
    }
    found.push([...it.attributes].map(({name, value}) => [name, value]));
  }
  return JSON.stringify(found);
};
const names = () => Object.getOwnPropertyNames(window).sort().join();
const insert = (html, begin) => {
  const cell = document.createElement("div");
  document.getElementById("cells").append(cell);
  cell.innerHTML = html;
  for (const script of cell.querySelectorAll("script")) {
    const again = document.createElement("script");
    for (const {name, value} of script.attributes) again.setAttribute(name, value);
    again.textContent = script.textContent;
    begin(script, again);
  }
};
// JupyterLab begins a script in its place, jQuery in the head of the page.
const inPlace = (script, again) => script.replaceWith(again);
const inHead = (script, again) => { if (!script.type) { document.head.append(again); again.remove(); } };
"""


@unittest.skipUnless(browser.CHROMIUM, "no Chromium")
class Inside(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.start()
        if not cls.browser:
            raise unittest.SkipTest("Chromium does not start")
        cls.addClassCleanup(cls.browser.close)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.path = os.path.join(folder.name, "host.html")
        with open(cls.path, "w", encoding="utf-8") as file:
            file.write(HOST)
        db = connect()
        cls.charts = "charts by Plotly" in db.execute("SELECT tracediff_debug()").fetchone()[0]
        cls.report, = db.execute("SELECT html FROM trace_diff_report(?, ?)", GPU).fetchone()
        cls.chart, = db.execute("SELECT visualize_step_diff(text, NULL, control_time, test_time)"
                                " FROM trace_step_causes(?, ?)",
                                GPU).fetchone()

    def open(self, **how):
        page = self.browser.open(self.path, **how)
        self.addCleanup(page.close)
        page.value(HELPERS)
        return page

    def insert(self, page, html, how="inPlace"):
        page.value(f"insert({json.dumps(html)}, {how})")

    def assert_no_problems(self, page):
        """Asserts no problems, except that a policy in our page is not adopted."""
        self.assertEqual([it for it in page.problems() if "outside the document's <head>" not in it], [])

    def drawn(self, page, count):
        if self.charts:
            page.wait(f"document.querySelectorAll('[data-drawn]').length === {count}")
            self.assertEqual(page.value("[...document.querySelectorAll('.tracediff-chart')].map(it =>"
                                        " it.querySelectorAll('.bars .point').length)"), [9] * count)

    def test_the_other_page_stays_as_it_is(self):
        """All computed styles and attributes outside, names of scripts and the title stay unchanged, in light and in
        dark.
        """
        page = self.open()

        def look():
            found = []
            for scheme in ("dark", "light"):
                page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
                page.wait(f"matchMedia('(prefers-color-scheme: {scheme})').matches")
                found.append(json.loads(page.value("seen()")))
            return found + [page.value("[names(), document.title, location.hash]")]
        before = look()
        self.assertGreater(len(before[0]), 200)
        for count, html in enumerate((self.chart, self.report, self.chart, self.report)):
            self.insert(page, html)
            self.drawn(page, 1 + count // 2)
        for one, other in zip(before, look()):
            self.assertEqual(len(one), len(other))
            for a, b in zip(one, other):
                self.assertEqual(a, b)
        self.assert_no_problems(page)

    def test_names_of_the_other_page_are_left_alone(self):
        page = self.open()
        page.value("window.Plotly = 'theirs'; window.define = () => { throw Error('asked'); }; define.amd = {};"
                   "window.keys = []; addEventListener('keydown', event => keys.push(event.defaultPrevented));")
        self.insert(page, self.chart)
        self.drawn(page, 1)
        self.insert(page, self.report)
        page.call("Input.dispatchKeyEvent", type="keyDown", key="/", code="Slash", text="/", windowsVirtualKeyCode=191)
        page.wait("keys.length === 1")
        self.assertEqual(page.value("[Plotly, keys[0], document.activeElement.tagName]"), ["theirs", False, "BODY"])
        self.assert_no_problems(page)

    def test_pages_work_there(self):
        """Two of each page work: legend and table of the second chart, and map, links and tables of the second
        report.
        """
        for how in ("inPlace", "inHead"):
            page = self.open()
            for count, html in enumerate((self.chart, self.report, self.chart, self.report)):
                self.insert(page, html, how)
                self.drawn(page, 1 + count // 2)
            page.value("window.charts = document.querySelectorAll('.tracediff-chart');"
                       "window.reports = document.querySelectorAll('.tracediff-report')")
            if self.charts:
                page.value("charts[1].querySelector('.legend button').click()")
                page.wait("charts[1].querySelectorAll('.bars .point').length === 8")
                self.assertEqual(page.value("charts[0].querySelectorAll('.bars .point').length"), 9)
            self.assertEqual(page.value("[...charts].map(it => it.querySelectorAll('thead button').length)"), [4, 4])
            page.value("[...reports[1].querySelectorAll('[data-mode]')][1].click()")
            self.assertEqual(page.value("[...reports].map(it => [...it.querySelectorAll('[data-mode]')].map(it =>"
                                        " it.ariaPressed))"),
                             [["true", "false", "false"], ["false", "true", "false"]])
            self.assertGreater(page.value("Math.min(...[...reports].map(it =>"
                                          " it.querySelectorAll('[role=treeitem]').length))"), 20)
            self.assertEqual(page.value("[...reports].map(it => it.querySelectorAll('details.app .tools').length)"),
                             [3, 3])
            page.value("reports[1].querySelector('nav a:nth-of-type(3)').click()")
            self.assertLess(page.value(
                "Math.abs(reports[1].querySelector('#tracediff-causes').getBoundingClientRect().top"
                " - document.getElementById('cells').getBoundingClientRect().top)"), 30)
            self.assertEqual(page.value("location.hash"), "")
            self.assert_no_problems(page)

    def test_they_are_as_wide_as_their_place(self):
        """In a narrow column of a wide page, they have the layout for a phone."""
        page = self.open(width=1280)
        page.value("document.getElementById('cells').style.width = '390px'")
        for html in (self.chart, self.report):
            self.insert(page, html)
        self.drawn(page, 1)
        self.assertLessEqual(page.value("document.getElementById('cells').scrollWidth"), 390)
        self.assertEqual(page.value("getComputedStyle(document.querySelector('#cells .cmp thead')).display"), "none")
        if self.charts:
            self.assertGreater(page.value("document.querySelectorAll('.annotation').length"), 5)
        self.assert_no_problems(page)

    def test_a_chart_that_was_begun_out_of_sight(self):
        """A chart that starts out of sight has no width; once visible, it looks as if it had always been."""
        if not self.charts:
            self.skipTest("built without the charting library")
        labels = "[...document.querySelectorAll('.annotation text, .ytick text')].map(it => it.textContent)"
        for width in (390, 1200):
            found = []
            for hidden in (False, True):
                page = self.open(width=1280)
                page.value(f"document.getElementById('cells').style = 'width: {width}px; display:"
                           f" {'none' if hidden else 'block'}'")
                self.insert(page, self.chart)
                self.drawn(page, 1)
                page.value("document.getElementById('cells').style.display = 'block'")
                if hidden:
                    page.wait(f"{labels}.join() === {json.dumps(','.join(found[0]))}")
                found.append(page.value(labels))
                self.assert_no_problems(page)
            self.assertEqual(*found)


if __name__ == "__main__":
    unittest.main()
