"""Charts: figures as Plotly has them, pages as a browser shows them, bars of text.

CHROMIUM  the browser (tests that need one are skipped without)
BARE      the extension built with CHARTS=no (likewise)
"""
import html
import json
import math
import os
import random
import re
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree

import browser
from support import EXAMPLES, ROOT, connect, slow

CONTROL, TEST = (os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test"))
HOSTILE = [
    "</script><img src=x onerror=alert(1)>", "<!--<script>", "</style></title><script>alert(1)</script>",
    "<b>bold</b> &lt;i&gt; &amp; &#60;", "%{x} %{customdata} {{a}} ${b} `c`", "'\"><svg onload=alert(1)>",
    "]]>\\u003c\\\"", "a\u2028b\u2029c", "line\nbreak\ttab\x01", "$\\alpha$ _x_ *y*", "javascript:alert(1)",
    "void f<int, (lambda at /x.cpp:1:2)>(T*) [clone .1] const", "", " ", "ünïcödé 中文 🙂", "<a href='javascript:alert(1)'>x</a>",
    "x" * 5000, "🙂" * 600,
]

# Each function, and a query that it takes its rows from.
ANALYSES = {
    "visualize_temporal_breakdown": f"SELECT rank, idle_time, compute_time, non_compute_time"
                                    f" FROM temporal_breakdown('{TEST}')",
    "visualize_idle_time_breakdown": f"SELECT rank, stream, idle_category, idle_time FROM idle_time_breakdown('{TEST}')",
    "visualize_gpu_kernel_type_breakdown": f"SELECT kernel_type, sum FROM gpu_kernel_type_breakdown('{TEST}')",
    "visualize_gpu_kernel_breakdown": f"SELECT name, sum, max, min, mean FROM gpu_kernel_breakdown('{TEST}', 0)",
    "visualize_comm_comp_overlap": f"SELECT rank, comp_comm_overlap_pctg FROM comm_comp_overlap('{TEST}')",
    "visualize_queue_length_time_series": f"SELECT rank, stream, ts, queue_length FROM queue_length_time_series('{TEST}')",
    "visualize_memory_bw_time_series": f"SELECT rank, name, ts, memory_bw_gbps FROM memory_bw_time_series('{TEST}')",
    "visualize_cuda_kernel_launch_stats": f"SELECT cpu_duration, gpu_duration, launch_delay"
                                          f" FROM cuda_kernel_launch_stats('{TEST}')",
    "visualize_step_diff": f"SELECT class, name, control_time, test_time FROM trace_step_diff('{CONTROL}', '{TEST}')",
    "visualize_counts_diff": f"SELECT name, control_counts, test_counts FROM trace_diff('{CONTROL}', '{TEST}') LIMIT 10",
    "visualize_duration_diff": f"SELECT name, control_total_duration, test_total_duration"
                               f" FROM trace_diff('{CONTROL}', '{TEST}') LIMIT 10",
}


def columns_of(query):
    return re.match(r"SELECT (.*?) FROM", query)[1]


def picture(db, function, query, *more):
    """The result of a function over the rows of a query."""
    marks = "".join(", ?" for _ in more)
    return db.execute(f"SELECT {function}({columns_of(query)}{marks}) FROM ({query})", more).fetchone()[0]


def diff(db, rows, *more, function="visualize_duration_diff"):
    """The same over rows of (name, control, test)."""
    db.execute("CREATE TEMP TABLE IF NOT EXISTS given(name, a, b)")
    db.execute("DELETE FROM given")
    db.executemany("INSERT INTO given VALUES (?, ?, ?)", rows)
    marks = "".join(", ?" for _ in more)
    return db.execute(f"SELECT {function}(name, a, b{marks}) FROM (SELECT * FROM given ORDER BY rowid)", more).fetchone()[0]


def made(count, seed=1):
    chance = random.Random(seed)
    return [(f"void at::native::kernel_{i}<float, {i}>(int)", chance.randrange(10**9) / 1000,
             chance.randrange(10**9) / 1000) for i in range(count)]


def hover_text(label):
    """A label of Plotly as the text it stands for."""
    return html.unescape(label.replace("<br>", ""))


class Figures(unittest.TestCase):
    """format 'plotly'."""

    def setUp(self):
        self.db = connect()

    def figure(self, *arguments, **named):
        return json.loads(diff(self.db, *arguments, None, "plotly", **named))

    def error(self, text, sql):
        with self.assertRaises(Exception) as caught:
            self.db.execute(sql).fetchall()
        self.assertEqual(str(caught.exception), text)

    def test_values_are_exact_and_in_order(self):
        rows = made(200) + [("tiny", 1e-9, 0.1 + 0.2), ("large", 1e300, 2**53 + 2), ("negative", -1.5, -0.001),
                            ("odd", 1 / 3, 123456789.123456789), ("integer", 2**62, 0)]
        data = self.figure(rows)["data"]
        self.assertEqual([trace["name"] for trace in data], ["control", "test", "difference"])
        self.assertEqual(data[0]["x"], [float(control) for _, control, _ in rows])
        self.assertEqual(data[1]["x"], [float(test) for _, _, test in rows])
        self.assertEqual(data[2]["x"], [float(test) - float(control) for _, control, test in rows])
        self.assertEqual([hover_text(label) for label in data[0]["customdata"]], [name for name, _, _ in rows])

    def test_names(self):
        figure = self.figure([(name, 1, 2) for name in HOSTILE])
        for name, label, tick in zip(HOSTILE, figure["data"][0]["customdata"], figure["layout"]["yaxis"]["ticktext"]):
            with self.subTest(name[:40]):
                name = re.sub(r"[\x00-\x1f]", " ", name)
                found = hover_text(label)
                if len(name) <= 480:
                    self.assertEqual(found, name)
                else:
                    begin, end = found.split("…")
                    self.assertTrue(name.startswith(begin) and name.endswith(end) and len(found) == 480)
                self.assertLessEqual(len(hover_text(tick)), 34)
                self.assertNotRegex(label.replace("<br>", "") + tick, "[<>]")
                self.assertLessEqual(max(len(html.unescape(line)) for line in label.split("<br>")), 48)

    def test_short_names_tell_kernels_apart(self):
        apply = "void at::native::(anonymous namespace)::apply<List<4>, {}<float> >(int)"
        names = [apply.format("FunctorOfAdd"), "aten::add", apply.format("FunctorOfMul"), apply.format("X"),
                 "void gemm<1>(int)", "void gemm<23>(int)", "same<1>(int)", "same<1>(int)"]
        ticks = self.figure([(name, 1, 2) for name in names])["layout"]["yaxis"]["ticktext"]
        self.assertEqual(ticks, ["apply FunctorOfAdd", "aten::add", "apply FunctorOfMul", "apply X", "gemm 1", "gemm 23",
                                 "same", "same"])

    def test_json_cannot_end_a_script(self):
        text = diff(self.db, [(name, 1, 2) for name in HOSTILE], "".join(HOSTILE[:9]), "plotly")
        self.assertNotRegex(text, "[<>&\u2028\u2029\x00-\x1f]")
        self.assertEqual(len(json.loads(text)["data"][0]["x"]), len(HOSTILE))

    def test_no_utf8(self):
        text = self.db.execute("SELECT visualize_counts_diff(CAST(x'61ff80c0afeda080f4908080e28241' AS TEXT), 1, 2, NULL,"
                               " 'plotly')").fetchone()[0]
        self.assertEqual(json.loads(text)["data"][0]["customdata"], ["a" + "\ufffd" * 13 + "A"])

    def test_missing(self):
        figure = self.figure([("a", None, 2), (None, 1, 1), ("b", 1, None), ("c", math.inf, 1)])
        self.assertEqual([trace["x"] for trace in figure["data"]],
                         [[None, 1, None], [2, None, 1], [None, None, None]])
        self.assertIsNone(diff(self.db, []))
        self.assertEqual(json.loads(diff(self.db, [(None, 1, 1)], None, "plotly"))["data"][0]["x"], [])

    def test_title_and_format(self):
        for given, title in (("<i>T</i>", "<i>T</i>"), (None, "Total durations of control and test"), (5, "5")):
            figure = json.loads(diff(self.db, [("a", 1, 2)], given, "plotly"))
            self.assertEqual(hover_text(figure["layout"]["title"]["text"]), title)
        page = diff(self.db, [("a", 1, 2)])
        self.assertEqual(diff(self.db, [("a", 1, 2)], None), page)
        self.assertEqual(diff(self.db, [("a", 1, 2)], None, None), page)
        self.assertEqual(diff(self.db, [("a", 1, 2)], None, "html"), page)
        self.error("visualize_counts_diff: format must be 'html' or 'plotly'", "SELECT visualize_counts_diff(1, 1, 1, 1, 'png')")
        self.error("visualize_counts_diff: test_counts must be a number", "SELECT visualize_counts_diff(1, 1, 'x')")
        self.error("wrong number of arguments to function visualize_counts_diff()", "SELECT visualize_counts_diff(1, 1)")

    @slow
    def test_too_many_rows(self):
        rows = made(20000)
        figure = self.figure(rows)
        kept = len(figure["data"][0]["x"])
        self.assertGreater(kept, 400)
        self.assertEqual(figure["layout"]["title"]["text"],
                         f"Total durations of control and test (the first {kept:,} of 20,000 rows)")
        for names in ("<" * 300, "x" * 3000, "\x01" * 100, "é" * 200):
            with self.subTest(names[0]):
                self.assertLess(len(diff(self.db, [(names + str(i), i, 1 / (i + 3)) for i in range(20000)]).encode()), 1.5e6)

    def test_series_by_text(self):
        figure = json.loads(picture(self.db, "visualize_idle_time_breakdown", ANALYSES["visualize_idle_time_breakdown"],
                                    None, "plotly"))
        found = {(name, trace["name"]): value for trace in figure["data"]
                 for name, value in zip(trace["customdata"], trace["x"])}
        rows = self.db.execute(ANALYSES["visualize_idle_time_breakdown"]).fetchall()
        self.assertEqual(found, {(f"rank {rank}, stream {stream}", category): value for rank, stream, category, value in rows})
        self.error("visualize_idle_time_breakdown: more than 64 series: select fewer",
                   "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n LIMIT 65)"
                   " SELECT visualize_idle_time_breakdown(0, 7, i, 1) FROM n")

    @slow
    def test_long_lines_are_thinned_and_keep_extremes(self):
        chance = random.Random(2)
        points = [(i * 0.5, chance.gauss(0, 1)) for i in range(100000)]
        points[31415] = (31415 * 0.5, 1000.0)
        points[27182] = (27182 * 0.5, -1000.0)
        self.db.execute("CREATE TEMP TABLE point(x, y)")
        self.db.executemany("INSERT INTO point VALUES (?, ?)", points)
        figure = json.loads(self.db.execute("SELECT visualize_queue_length_time_series(0, 7, x, y, NULL, 'plotly')"
                                            " FROM point").fetchone()[0])
        line = figure["data"][0]
        kept = list(zip(line["x"], line["y"]))
        self.assertTrue(6000 < len(kept) <= 8000)
        self.assertTrue({points[0], points[31415], points[27182], points[-1]} <= set(kept) <= set(points))
        self.assertEqual(line["x"], sorted(line["x"]))
        for at in range(0, 100000, 100):  # two buckets: what is kept of them reaches as far
            within = [y for _, y in points[at + 50:at + 100]]
            near = [y for x, y in kept if at * 0.5 <= x < at * 0.5 + 75]
            self.assertLessEqual(max(within), max(near))
            self.assertGreaterEqual(min(within), min(near))
        self.assertIn(f"({len(kept):,} of 100,000 points, extremes kept)", figure["layout"]["title"]["text"])

    def test_lines_that_go_back_or_stand_still(self):
        for x in ("i % 1000", "5", "-i"):
            figure = json.loads(self.db.execute(
                "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n LIMIT 50000)"
                f" SELECT visualize_queue_length_time_series(0, 7, {x}, i = 777, NULL, 'plotly') FROM n").fetchone()[0])
            self.assertLessEqual(len(figure["data"][0]["x"]), 8000)
            self.assertEqual(max(figure["data"][0]["y"]), 1)

    def test_histograms_count_every_value(self):
        query = ANALYSES["visualize_cuda_kernel_launch_stats"]
        figure = json.loads(picture(self.db, "visualize_cuda_kernel_launch_stats", query, None, "plotly"))
        rows = self.db.execute(query).fetchall()

        def within(name, value):
            numbers = [float(number.replace(",", "")) for number in re.findall(r"[\d.,]+", name)]
            return numbers[0] <= value < numbers[1] if len(numbers) == 2 else value == 0
        for i, trace in enumerate(figure["data"]):
            self.assertEqual(sum(trace["x"]), len(rows))
            for name, count in zip(trace["customdata"], trace["x"]):
                self.assertEqual(count, sum(within(name, row[i]) for row in rows), name)
        edges = json.loads(self.db.execute("SELECT visualize_cuda_kernel_launch_stats(column1, 0, -1, NULL, 'plotly') FROM"
                                           " (VALUES (1), (1.999), (2), (1e9), (9e99), (0.0001), (0.001), (NULL))")
                           .fetchone()[0])["data"]
        counts = {name: x for name, x in zip(edges[0]["customdata"], edges[0]["x"]) if x}
        self.assertEqual(counts, {"1 to 2 µs": 2, "2 to 5 µs": 1, "1,000,000,000 µs or more": 2, "below 0.001 µs": 1,
                                  "0.001 to 0.002 µs": 1})

    def test_one_statement_each_in_python_plotly(self):
        """Debian's python3-plotly knows every attribute."""
        check = "import json, sys, plotly.io; plotly.io.from_json(sys.stdin.read())"
        if subprocess.run(["/usr/bin/python3", "-c", "import plotly"], capture_output=True).returncode:
            self.skipTest("no python3-plotly")
        for function, query in ANALYSES.items():
            with self.subTest(function):
                text = picture(self.db, function, query, None, "plotly")
                done = subprocess.run(["/usr/bin/python3", "-c", check], input=text, capture_output=True, text=True,
                                      env={**os.environ, "LD_PRELOAD": ""})
                self.assertEqual(done.stderr, "")


class Bars(unittest.TestCase):
    """trace_bar."""

    CASES = [
        ((5, 10, 4), "    │██  "), ((-5, 10, 4), "  ██│    "), ((10, 10, 4), "    │████"), ((-10, 10, 4), "████│    "),
        ((11, 10, 4), "    │███>"), ((-11, 10, 4), "<███│    "), ((0, 10, 4), "    │    "), ((0, 0, 4), "    │    "),
        ((1, 0, 2), "  │█>"), ((1e-9, 10, 4), "    │▏   "), ((-1e-9, 10, 4), "   ▐│    "), ((1.25, 10, 4), "    │▌   "),
        ((9.99, 10, 4), "    │████"), ((-3.75, 10, 4), "  ▐█│    "), ((5, 10, 4, 1), "    |##  "), ((-5, 10, 4, 1), "  ##|    "),
        ((99, 10, 4, 1), "    |###>"), ((-99, 10, 4, 1), "<###|    "), ((1, 10, 1), " │▏"), ((99, 10, 1), " │>"),
        ((math.inf, 10, 4), "    │███>"), ((-math.inf, 10, 4), "<███│    "), ((1, math.inf, 2), "  │▏ "),
        ((None, 1, 1), None), ((1, None, 1), None), ((1, 1, None), " " * 10 + "│" + "█" * 10),
    ]

    def test_cases(self):
        db = connect()
        for arguments, expected in self.CASES:
            with self.subTest(arguments=arguments):
                marks = ", ".join("?" for _ in arguments)
                self.assertEqual(db.execute(f"SELECT trace_bar({marks})", arguments).fetchone()[0], expected)

    def test_every_bar_is_as_wide(self):
        db, chance = connect(), random.Random(3)
        for _ in range(2000):
            value, width = chance.uniform(-12, 12), chance.randrange(1, 60)
            for ascii in (0, 1):
                bar, = db.execute("SELECT trace_bar(?, 10, ?, ?)", (value, width, ascii)).fetchone()
                self.assertEqual(len(bar), 2 * width + 1)
                self.assertEqual(bar.isascii(), bool(ascii))
                filled = len(bar.replace(" ", "")) - 1
                self.assertLessEqual(abs(filled - min(abs(value), 10) / 10 * width), 1)

    def test_errors(self):
        db = connect()
        for call, text in (("1, -1", "max must not be negative"), ("'x', 1", "value must be a number"), ("1, 'x'", "max must be a number"),
                           ("1, 1, 0", "width must be an integer from 1 to 500"), ("1, 1, 501", "width must be an integer from 1 to 500"),
                           ("1, 1, 1.5", "width must be an integer from 1 to 500"), ("1, 1, 1, 2", "ascii must be 0 or 1")):
            with self.assertRaises(Exception) as caught:
                db.execute(f"SELECT trace_bar({call})")
            self.assertEqual(str(caught.exception), f"trace_bar: {text}")


class Waterfall(unittest.TestCase):
    """visualize_step_diff."""

    def bars(self, rows):
        """[(name, begin, length, what)] from top to bottom."""
        db = connect()
        db.execute("CREATE TABLE given(class, name, a, b)")
        db.executemany("INSERT INTO given VALUES (?, ?, ?, ?)", rows)
        figure = json.loads(db.execute("SELECT visualize_step_diff(class, name, a, b, NULL, 'plotly') FROM given").fetchone()[0])
        found = [(int(y), hover_text(details[0]), base, x, trace["name"]) for trace in figure["data"]
                 for y, x, base, details in zip(trace["y"], trace["x"], trace["base"], trace["customdata"])]
        self.assertEqual(figure["layout"]["barmode"], "overlay")
        return [bar[1:] for bar in sorted(found)]

    def test_from_control_to_test(self):
        self.assertEqual(self.bars([("compute", "a", 10, 12), ("idle_unrecorded", None, 7, 2), ("comm", "b", 4, 4)]),
                         [("step of control", 0, 21, "control"), ("idle_unrecorded", 21, -5, "shorter"),
                          ("compute: a", 16, 2, "longer"), ("1 other part", 18, 0, "longer"),
                          ("step of test", 0, 18, "test")])

    def test_the_largest_parts_and_the_rest(self):
        chance = random.Random(3)
        rows = [("compute", f"op{i}", chance.randrange(1000), chance.randrange(1000)) for i in range(100)]
        bars = self.bars(rows)
        self.assertEqual(len(bars), 19)
        largest = sorted((abs(test - control) for _, _, control, test in rows), reverse=True)[:16]
        self.assertEqual([abs(bar[2]) for bar in bars[1:17]], largest)
        self.assertEqual(bars[17][0], "84 other parts")
        level = sum(control for _, _, control, _ in rows)
        self.assertEqual(bars[0], ("step of control", 0, level, "control"))
        for _, begin, length, _ in bars[1:-1]:
            self.assertEqual(begin, level)
            level += length
        self.assertEqual(bars[-1], ("step of test", 0, level, "test"))
        self.assertEqual(level, sum(test for _, _, _, test in rows))

    def test_odd_rows(self):
        self.assertEqual(self.bars([("compute", "a", None, 3), ("comm", "b", 2, None)]),
                         [("step of control", 0, 2, "control"), ("compute: a", 2, 3, "longer"), ("comm: b", 5, -2, "shorter"),
                          ("step of test", 0, 3, "test")])
        self.assertEqual(self.bars([("compute", "a", 0, 0)]),
                         [("step of control", 0, 0, "control"), ("1 other part", 0, 0, "longer"), ("step of test", 0, 0, "test")])
        self.assertIsNone(connect().execute("SELECT visualize_step_diff(1, 2, 3, 4) WHERE 0").fetchone()[0])


@unittest.skipUnless(browser.CHROMIUM, "no Chromium")
class Pages(unittest.TestCase):
    """Pages in Chromium, which has no network."""

    browser = None
    missing = "built without the charting library"

    @classmethod
    def setUpClass(cls):
        if "charts by Plotly" not in connect().execute("SELECT tracediff_debug()").fetchone()[0]:
            return
        cls.browser = browser.start()
        cls.missing = "Chromium does not start"
        if not cls.browser:
            return
        cls.addClassCleanup(cls.browser.close)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name

    def setUp(self):
        if not self.browser:
            self.skipTest(self.missing)
        self.db = connect()

    def open(self, text, **how):
        self.assertLess(len(text.encode()), 1.5e6)
        path = os.path.join(self.folder, "page.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        page = self.browser.open(path, **how)
        self.addCleanup(page.close)
        self.assertEqual(page.problems(), [])
        return page

    def press(self, page, text):
        page.value("[...document.querySelectorAll('button')].find(it => it.textContent === %s).click()" % json.dumps(text))

    @slow
    def test_every_analysis(self):
        """Offline, no error, as many marks as rows, and the values of the rows."""
        for function, query in ANALYSES.items():
            for width, dark in ((1280, False), (390, True)):
                with self.subTest(function, width=width):
                    page = self.open(picture(self.db, function, query), width=width, dark=dark, mobile=width < 400)
                    drawn = page.value("document.querySelector('.figure').data")
                    source = json.loads(picture(self.db, function, query, None, "plotly"))["data"]
                    for a, b in zip(drawn, source):
                        for key in ("x", "y", "values"):
                            self.assertEqual(a.get(key), b.get(key))
                    marks = page.value("[document.querySelectorAll('.bars .point').length, document.querySelectorAll('.slice')"
                                       ".length, document.querySelectorAll('.scatterlayer .trace').length]")
                    kinds = [[len(t["y"]) if t["type"] == "bar" else 0, len(t["values"]) if t["type"] == "pie" else 0,
                              t["type"] == "scatter"] for t in source]
                    self.assertEqual(marks, [sum(column) for column in zip(*kinds)])
                    self.assertLessEqual(page.value("document.documentElement.scrollWidth"), width)
                    self.assertEqual(page.value("getComputedStyle(document.body).backgroundColor"),
                                     "rgb(21, 24, 28)" if dark else "rgb(255, 255, 255)")
                    rows = page.value("[...document.querySelectorAll('tbody tr')].length")
                    self.assertEqual(rows, sum(len(t["y"]) for t in source) if "base" in source[0] else
                                     len(source[0]["y"]) if source[0]["type"] == "bar" else
                                     len(source[0]["values"]) if source[0]["type"] == "pie" else
                                     sum(len(t["x"]) for t in source))
                    self.assertEqual(page.problems(), [])

    def test_hundreds_of_rows(self):
        rows = made(200)
        page = self.open(diff(self.db, rows))
        self.assertEqual(page.value("document.querySelectorAll('.bars .point').length"), 600)
        overlaps = page.value("""(() => {
            const boxes = [...document.querySelectorAll('.ytick text')].map(it => it.getBoundingClientRect());
            return [boxes.length, boxes.some((box, i) => i && box.top < boxes[i - 1].bottom - 4)]; })()""")
        self.assertEqual(overlaps, [200, False])

    def test_hover_shows_figures_and_the_whole_name(self):
        rows = made(5)
        page = self.open(diff(self.db, rows))
        x, y = page.value("(() => { const box = document.querySelectorAll('.bars')[1].querySelectorAll('.point')[2]"
                          ".getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()")
        page.move(x, y)
        page.wait("document.querySelector('.hoverlayer').textContent")
        text = page.value("document.querySelector('.hoverlayer').textContent")
        self.assertEqual(text, f"{rows[2][0]}test: {rows[2][2]:,.3f}".rstrip("0").rstrip(".") + " µs")

    def test_hostile_names_are_text(self):
        rows = [(name, 2, 1) for name in HOSTILE]
        page = self.open(diff(self.db, rows, "".join(HOSTILE[:8])))
        self.assertEqual(page.value("document.querySelector('h1').textContent"), "".join(HOSTILE[:8]))
        self.assertEqual(page.value("document.title"), re.sub(" +", " ", "".join(HOSTILE[:8])))
        shown = page.value("[...document.querySelectorAll('tbody th')].map(it => it.textContent)")
        self.assertEqual(shown, [re.sub(r"\x01", "\ufffd", name) for name in HOSTILE])
        self.assertEqual(page.value("document.querySelectorAll('img, .figure a, main script:not([type])').length"), 0)
        for i in range(len(rows)):
            page.value("Plotly.Fx.hover(document.querySelector('.figure'), [{curveNumber: 0, pointNumber: %d}])" % i)
            name = re.sub(r"[\x00-\x1f]", " ", HOSTILE[i])
            if len(name) < 480:
                page.wait("document.querySelector('.hoverlayer').textContent.replace(/\\s/g, ' ') === %s" %
                          json.dumps(re.sub(r"\s", " ", f"{name}control: 2 µs")))
        self.assertEqual(page.problems(), [])

    def test_sort_legend_zoom(self):
        rows = made(20)
        page = self.open(diff(self.db, rows))
        first = ("[...document.querySelectorAll('.ytick text')].sort((a, b) => a.getBoundingClientRect().y"
                 " - b.getBoundingClientRect().y)[0].textContent")
        self.assertIn("kernel_0", page.value(first))
        page.value("(() => { const it = document.querySelector('select'); it.value = '2';"
                   " it.dispatchEvent(new Event('change')); })()")
        largest = max(range(20), key=lambda i: abs(rows[i][2] - rows[i][1]))
        page.wait(f"{first} === 'at::native::kernel_{largest}'")
        page.value("[...document.querySelectorAll('.legend button')][0].click()")
        page.wait("document.querySelectorAll('.bars .point').length === 40")
        page.value("[...document.querySelectorAll('.legend button')][0].click()")
        page.wait("document.querySelectorAll('.bars .point').length === 60")
        span = "(range => Math.abs(range[1] - range[0]))(document.querySelector('.figure').layout.xaxis.range)"
        before = page.value(span)
        self.press(page, "Zoom in")
        page.wait(f"Math.abs({span} - {before / 2}) < 1")
        self.press(page, "Whole figure")
        page.wait(f"Math.abs({span} - {before}) < 1")
        page.value("document.querySelector('.figure').focus()")
        page.key("+", 187)
        page.wait(f"Math.abs({span} - {before / 2}) < 1")
        self.assertEqual(page.problems(), [])

    def test_by_keyboard_alone(self):
        page = self.open(diff(self.db, made(5)))
        reached = []
        for _ in range(14):
            page.key("Tab", 9)
            reached.append(page.value("document.activeElement.tagName + ' ' + document.activeElement.textContent.slice(0, 20)"))
        for name in ("SELECT", "BUTTON Save SVG", "BUTTON control", "DIV", "SUMMARY The figures as a "):
            self.assertTrue(any(it.startswith(name[:24]) for it in reached), (name, reached))

    def test_table_sorts(self):
        rows = made(20)
        page = self.open(diff(self.db, rows))
        column = "[...document.querySelectorAll('tbody tr')].map(row => +row.cells[1].textContent)"
        values = [control for _, control, _ in rows]
        self.assertEqual(page.value(column), values)
        page.value("document.querySelectorAll('thead button')[1].click()")
        self.assertEqual(page.value(column), sorted(values, reverse=True))
        page.value("document.querySelectorAll('thead button')[1].click()")
        self.assertEqual(page.value(column), sorted(values))

    def saved(self, page, name):
        script = """(async () => {
            const make = URL.createObjectURL;
            const blob = new Promise(done => { URL.createObjectURL = it => {
                if (it.type.includes("svg") === (%s === "SVG")) done(it);
                return make(it); }; });
            [...document.querySelectorAll('button')].find(it => it.textContent === "Save " + %s).click();
            const it = await blob;
            URL.createObjectURL = make;
            return it.type + ' ' + (it.type.includes('svg') ? await it.text() : it.size); })()"""
        return page.value(script % (json.dumps(name), json.dumps(name)))

    def test_saved_pictures(self):
        for how in ({}, {"dark": True}):
            page = self.open(diff(self.db, [(name, 1, 2) for name in HOSTILE if len(name) < 200], "A & <B>"), **how)
            kind, _, svg = self.saved(page, "SVG").partition(" ")
            root = xml.etree.ElementTree.fromstring(svg[svg.index("<"):])
            self.assertTrue(root.tag.endswith("svg"))
            texts = ["".join(it.itertext()) for it in root.iter() if it.tag.endswith("}text")]
            for expected in ("A & <B>", "control", "test", "difference", HOSTILE[1], HOSTILE[3]):
                self.assertIn(expected, texts)
            self.assertRegex(self.saved(page, "PNG"), r"^\S+ \d{4,}$")
            self.assertEqual(page.problems(), [])

    def test_printed(self):
        page = self.open(diff(self.db, made(10)), dark=True)
        pdf = page.pdf()
        self.assertTrue(pdf.startswith(b"%PDF"))
        self.assertGreater(len(pdf), 10000)
        self.assertEqual(page.problems(), [])

    def test_report(self):
        """Every figure is there, and the SQL under it makes the same figure alone."""
        folder = os.path.join(self.folder, "it's <b>")
        os.symlink(CONTROL, folder)
        self.addCleanup(os.remove, folder)
        text, = self.db.execute("SELECT html FROM trace_diff_report(?, ?)", (folder, TEST)).fetchone()
        for how in ({}, {"width": 390, "dark": True, "mobile": True}):
            page = self.open(text, **how)
            self.assertLessEqual(page.value("document.documentElement.scrollWidth"), how.get("width", 1280))
        headings = page.value("[...document.querySelectorAll('h2')].map(it => it.textContent)")
        statements = page.value("[...document.querySelectorAll('.sql pre')].map(it => it.textContent)")
        figures = page.value("[...document.querySelectorAll('.figure')].map(it => it.source)")
        queries = sorted(os.listdir(os.path.join(ROOT, "sql", "report")))
        self.assertEqual([len(headings), len(statements), len(figures)], [len(queries)] * 3)
        for heading, statement, figure in zip(headings, statements, figures):
            with self.subTest(heading):
                self.assertGreater(len(figure["data"][0]["x"]), 0)
                head, rows = statement.split(") FROM (", 1)
                alone, = self.db.execute(f"{head}, 'plotly') FROM ({rows}").fetchone()
                self.assertEqual(json.loads(alone), figure)
                self.assertIn(heading, figure["layout"]["title"]["text"])

    def test_report_of_what_is_not_there(self):
        for control, error in (("nowhere", "trace_diff_report: cannot read 'nowhere': No such file or directory"),):
            with self.assertRaises(Exception) as caught:
                self.db.execute("SELECT * FROM trace_diff_report(?, ?)", (control, TEST)).fetchall()
            self.assertEqual(str(caught.exception), error)
        self.assertEqual(self.db.execute("SELECT * FROM trace_diff_report(?, NULL)", (CONTROL,)).fetchall(), [])
        cpu = [os.path.join(EXAMPLES, "cpu", side) for side in ("control", "test")]
        page = self.open(self.db.execute("SELECT html FROM trace_diff_report(?, ?)", cpu).fetchone()[0])
        self.assertGreater(page.value("[...document.querySelectorAll('section p')].filter(it => it.textContent === 'No rows.')"
                                      ".length"), 0)

    def test_scheme_changes(self):
        page = self.open(diff(self.db, made(5)))
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        page.wait("document.querySelector('.figure').layout.paper_bgcolor === '#15181c'")


class Bare(unittest.TestCase):
    """Built without the charting library."""

    def setUp(self):
        path = os.environ.get("BARE")
        if not path:
            self.skipTest("BARE is not set")
        self.db = connect(extension=os.path.abspath(path))

    def test_figures_are_the_same(self):
        self.assertIn("no charts", self.db.execute("SELECT tracediff_debug()").fetchone()[0])
        with_library = connect()
        for function, query in ANALYSES.items():
            self.assertEqual(picture(self.db, function, query, None, "plotly"),
                             picture(with_library, function, query, None, "plotly"))

    @unittest.skipUnless(browser.CHROMIUM, "no Chromium")
    @slow
    def test_pages_are_tables_and_say_so(self):
        chromium = browser.start()
        if not chromium:
            self.skipTest("Chromium does not start")
        self.addCleanup(chromium.close)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            for function, query in ANALYSES.items():
                with self.subTest(function):
                    text = picture(self.db, function, query)
                    self.assertLess(len(text), 600000)
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(text)
                    page = chromium.open(path)
                    self.assertIn("built without Plotly", page.value("document.querySelector('.missing').textContent"))
                    self.assertTrue(page.value("document.querySelector('tbody tr').checkVisibility()"))
                    page.value("document.querySelectorAll('thead button')[1].click()")
                    values = page.value("[...document.querySelectorAll('tbody tr')].map(row => +row.cells[1].textContent)")
                    self.assertEqual(values, sorted(values, reverse=True))
                    self.assertEqual(page.problems(), [])
                    page.close()


if __name__ == "__main__":
    unittest.main()
