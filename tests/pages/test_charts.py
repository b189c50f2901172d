"""Charts: figures for Plotly, pages in a browser, and text bars.

    CHROMIUM  the browser (tests that need one are skipped without)
    BARE      the extension built with CHARTS=no (likewise)
"""
import html
import json
import math
import os
import random
import re
import sqlite3
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
    "void f<int, (lambda at /x.cpp:1:2)>(T*) [clone .1] const", "", " ", "ünïcödé 中文 🙂",
    "<a href='javascript:alert(1)'>x</a>",
    "x" * 5000, "🙂" * 600,
]

# Each function, and a query for its rows. The part after `|` is optional.
STEPS = f"FROM %s('{TEST}') AS it LEFT JOIN trace_steps('{TEST}') AS step ON step.rank = it.rank AND" \
        " it.ts >= step.ts AND it.ts < step.ts + step.dur"
SIDES = f"(SELECT 'test' AS side, * FROM temporal_breakdown('{TEST}') UNION ALL" \
        f" SELECT 'control', * FROM temporal_breakdown('{CONTROL}'))"
SNAPSHOTS = ", ".join(f"'{os.path.join(EXAMPLES, 'memory', f'training_{tokens}.pickle.gz')}'" for tokens in (128, 512))
SNAPSHOT = SNAPSHOTS.rpartition(", ")[2]
ANALYSES = {
    "visualize_temporal_breakdown": f"SELECT rank, idle_time, compute_time, non_compute_time | side FROM {SIDES}",
    "visualize_idle_time_breakdown": f"SELECT rank, stream, idle_category, idle_time | busy_time"
                                     f" FROM idle_time_breakdown('{TEST}')",
    "visualize_critical_path": f"SELECT rank, iteration, kind, sum(dur) FROM critical_path('{TEST}', 'all')"
                               f" GROUP BY 1, 2, 3",
    "visualize_gpu_kernel_type_breakdown": f"SELECT kernel_type, sum FROM gpu_kernel_type_breakdown('{TEST}')",
    "visualize_gpu_kernel_breakdown": f"SELECT name, sum, max, min, mean FROM gpu_kernel_breakdown('{TEST}')",
    "visualize_comm_comp_overlap": f"SELECT rank, comp_comm_overlap_pctg | hidden_time, exposed_time"
                                   f" FROM comm_comp_overlap('{TEST}')",
    "visualize_queue_length_time_series": f"SELECT it.rank, it.stream, it.ts, it.queue_length | step.ts"
                                          f" {STEPS % 'queue_length_time_series'}",
    "visualize_memory_bw_time_series": f"SELECT it.rank, it.name, it.ts, it.memory_bw_gbps | step.ts"
                                       f" {STEPS % 'memory_bw_time_series'}",
    "visualize_timeline": f"SELECT it.rank, it.tid, it.name, it.ts, it.dur | step.ts"
                          f" {STEPS % 'trace_events'} WHERE it.device = 'GPU'",
    "visualize_cuda_kernel_launch_stats": f"SELECT cpu_duration, gpu_duration, launch_delay"
                                          f" FROM cuda_kernel_launch_stats('{TEST}')",
    "visualize_step_diff": f"SELECT class, name, control_time, test_time FROM trace_step_diff('{CONTROL}', '{TEST}')",
    "visualize_memory_diff": f"SELECT phase, op, control_bytes, test_bytes FROM memory_diff({SNAPSHOTS}, 'phase,op')"
                             " WHERE phase <> 'cached and rounded'",
    "visualize_memory": f"SELECT rank, device, phase, bytes, alloc_event, free_event"
                        f" FROM memory_allocations({SNAPSHOT})",
    "visualize_counts_diff": f"SELECT name, control_counts, test_counts"
                             f" FROM trace_diff('{CONTROL}', '{TEST}') LIMIT 10",
    "visualize_duration_diff": f"SELECT name, control_total_duration, test_total_duration"
                               f" FROM trace_diff('{CONTROL}', '{TEST}') LIMIT 10",
}


def rows_of(db, query):
    return db.execute(query.replace(" |", ",")).fetchall()


def draw(db, function, rows, *more, optional=0):
    """The result of a function over rows whose last `optional` columns are optional."""
    columns = [f"column{i + 1}" for i in range(len(rows[0]))]
    given = columns[:len(columns) - optional] + ["?"] * len(more)
    if optional:
        given += ["NULL"] * (2 - len(more)) + columns[-optional:]
    db.execute("DROP TABLE IF EXISTS temp.given_rows")
    db.execute(f"CREATE TEMP TABLE given_rows({', '.join(columns)})")
    db.executemany(f"INSERT INTO given_rows VALUES ({', '.join('?' * len(columns))})", rows)
    return db.execute(f"SELECT {function}({', '.join(given)}) FROM (SELECT * FROM given_rows ORDER BY rowid)",
                      more).fetchone()[0]


def figure_of(db, function, rows, optional=0):
    return json.loads(draw(db, function, rows, None, "plotly", optional=optional))


def picture(db, function, *more, plain=False):
    """The same over the rows of its query; `plain`: without the optional part."""
    query = ANALYSES[function]
    if plain:
        query = re.sub(r" \|.*? FROM", " FROM", query, count=1)
    head = query.split(" FROM ")[0]
    return draw(db, function, rows_of(db, query), *more,
                optional=head.partition("|")[2].count(",") + 1 if "|" in head else 0)


def diff(db, rows, *more, function="visualize_duration_diff"):
    """The same over rows of (name, control, test)."""
    if not rows:
        return db.execute(f"SELECT {function}(1, 2, 3) WHERE 0").fetchone()[0]
    return draw(db, function, rows, *more)


def made(count, seed=1):
    chance = random.Random(seed)
    return [(f"void at::native::kernel_{i}<float, {i}>(int)", chance.randrange(10**9) / 1000,
             chance.randrange(10**9) / 1000) for i in range(count)]


def hover_text(label):
    """A label of Plotly as plain text."""
    return html.unescape(label.replace("<br>", ""))


def names_of(trace):
    return [hover_text(item[0]) for item in trace["customdata"]]


def bars_of(figure):
    """{(name, series): value}"""
    return {(name, trace["name"]): value for trace in figure["data"] if trace["type"] == "bar"
            for name, value in zip(names_of(trace), trace["x"]) if value is not None}


def ends_of(figure):
    """{name: text at the end of its bars}"""
    return dict(zip(names_of(figure["data"][0]), figure["data"][-1]["text"]))


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

    def test_values_and_their_order(self):
        rows = made(200) + [("thousandth", 0.001, 0.1 + 0.2), ("negative", -1.5, -0.001), ("third", 1 / 3, 0)]
        data = self.figure(rows)["data"]
        self.assertEqual([trace["name"] for trace in data], ["control", "test", "difference"])
        for trace, number in ((data[0], 1), (data[1], 2)):
            self.assertEqual([f"{value:.9f}" for value in trace["x"]], [f"{row[number] / 1000:.9f}" for row in rows])
            self.assertEqual(names_of(trace), [row[0] for row in rows])
        self.assertEqual([f"{value:.9f}" for value in data[2]["customdata"]],
                         [f"{(test - control) / 1000:.9f}" for _, control, test in rows])

    def test_a_wait_is_drawn_once(self):
        """The statement in the help draws self times: of a wait and the events around it, only the innermost has a
        bar.
        """
        example, = self.db.execute("SELECT text FROM tracediff_help('visualize_duration_diff')").fetchone()
        statement = re.sub(r"(?s).*(SELECT )writefile\('build/page.html', (visualize_duration_diff\([^)]*)\)\) > 0 AS"
                           r" written",
                           r"\1\2, NULL, 'plotly')", example)
        figure = json.loads(self.db.execute(statement.replace("examples/", EXAMPLES + "/")).fetchone()[0])
        nested = {"aten::item", "aten::_local_scalar_dense", "cudaStreamSynchronize", "Stream Sync"}
        self.assertEqual([name for name in names_of(figure["data"][0]) if name in nested], ["cudaStreamSynchronize"])
        total = {name for name, in self.db.execute("SELECT name FROM top_duration_changes(?, ?)", (CONTROL, TEST))}
        self.assertLessEqual(nested, total)

    def test_numbers_are_as_people_read_them(self):
        """Numbers have no exponents and no digits that are only rounding."""
        for rows in (made(50), [("a", 0.1 + 0.2, 1e-9), ("b", 2.2 - 1e-15, 1 / 3)], [("large", 9e18, 2**62)],
                     [("a", 0, -0.0)],
                     [("a", 5.4, 7.6)]):
            numbers = []
            json.loads(diff(self.db, rows, None, "plotly"), parse_float=numbers.append, parse_int=numbers.append)
            for number in numbers:
                self.assertRegex(number, r"^-?\d+(\.\d{0,8}[1-9])?$")
        figure = self.figure([("a", 7.6, 5.4), ("b", 1, 2)])
        self.assertEqual(figure["data"][2]["text"], ["▼ −2.2 µs", "▲ +1.0 µs"])

    def test_units_come_from_the_data(self):
        for most, axis, text, hover in ((900.4, "duration (µs)", "▲ +900 µs", "900.4 µs"),
                                        (1500, "duration (ms)", "▲ +1.5 ms", "1.5 ms"),
                                        (9999999, "duration (ms)", "▲ +10,000 ms", "9,999.999 ms"),
                                        (12345678, "duration (s)", "▲ +12.3 s", "12.346 s")):
            figure = self.figure([("a", 0, most)])
            self.assertEqual(figure["layout"]["xaxis"]["title"]["text"], axis)
            self.assertEqual(figure["data"][1]["customdata"], [["a", hover]])
            self.assertEqual(figure["data"][2]["text"], [text])
        figure = self.figure([("a", 10000, 20000)], function="visualize_counts_diff")
        self.assertEqual([figure["layout"]["xaxis"]["title"]["text"], figure["data"][2]["text"]],
                         ["events", ["▲ +10,000"]])

    def test_control_and_test_are_a_pair(self):
        figure = self.figure([("longer", 1000, 3000), ("shorter", 3000, 1000), ("same", 5, 5), ("new", None, 7),
                              ("a", 1, 1.001)])
        self.assertEqual([trace["type"] for trace in figure["data"]], ["bar", "bar", "scatter"])
        self.assertEqual([trace["marker"]["color"] for trace in figure["data"][:2]], ["#6b7480", "#1f2328"])
        self.assertEqual(ends_of(figure), {"longer": "▲ +2.00 ms", "shorter": "▼ −2.00 ms", "same": "0 ms",
                                           "new": "", "a": "0 ms"})
        self.assertEqual(figure["data"][2]["textfont"]["color"], ["#c2500a", "#0b67a8"] + ["#6b7480"] * 3)
        self.assertEqual(figure["data"][2]["x"], [3, 3, 0.005, 0.007, 0.001001])
        self.assertEqual(figure["layout"]["xaxis"]["rangemode"], "tozero")

    def test_names(self):
        figure = self.figure([(name, 1, 2) for name in HOSTILE])
        for name, (label, _), tick in zip(HOSTILE, figure["data"][0]["customdata"],
                                          figure["layout"]["yaxis"]["ticktext"]):
            with self.subTest(name[:40]):
                name = re.sub(r"[\x00-\x1f]", " ", name)
                self.assertEqual(hover_text(label), name[:480])
                for text, width, lines in ((label, 48, 10), (tick, 42, 4)):
                    self.assertNotRegex(text.replace("<br>", ""), "[<>…]")
                    self.assertLessEqual(max(len(html.unescape(line)) for line in text.split("<br>")), width)
                    self.assertLessEqual(text.count("<br>"), lines - 1)

    def test_labels_break_before_words(self):
        names = ["ncclDevKernel_AllReduce_Sum_f32_RING_LL_and_more",
                 "from workers, and so on, to the end [idle_host]",
                 "the quick brown fox jumps over the lazy dog twice", "a" * 50,
                 "aten::_foreach_addcmul_::and_what_comes_after_it", "x" * 30 + "é" * 100]
        ticks = self.figure([(name, 1, 2) for name in names])["layout"]["yaxis"]["ticktext"]
        self.assertEqual(ticks, ["ncclDevKernel_AllReduce_Sum_f32_RING_LL_<br>and_more",
                                 "from workers, and so on, to the end <br>[idle_host]",
                                 "the quick brown fox jumps over the lazy <br>dog twice",
                                 "a" * 42 + "<br>" + "a" * 8, "aten::_foreach_addcmul_::and_what_comes_<br>after_it",
                                 "x" * 30 + "é" * 12 + "<br>" + "é" * 42 + "<br>" + "é" * 24])

    def test_short_names(self):
        apply = "void at::native::(anonymous namespace)::apply<List<4>, {}<float> >(int)"
        names = {apply.format("FunctorOfAdd"): "(anonymous namespace)::apply · FunctorOfAdd<float> >(int)",
                 apply.format("X"): "(anonymous namespace)::apply · X<float> >(int)",
                 "void gemm<1>(int)": "gemm · 1>(int)", "void gemm<23>(int)": "gemm · 23>(int)",
                 "aten::add": "aten::add",
                 "CloneBackward0": "CloneBackward0",
                 "autograd::engine::evaluate_function: CloneBackward0":
                 "CloneBackward0 · autograd::engine::evaluate_function:",
                 "torch::autograd::CppNode<Lookup>": "Lookup", "## forward ##": "forward", "nn.Module: Net": "Net",
                 "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__": "DataLoader next batch, from workers",
                 "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__":
                 "DataLoader next batch, in this process"}
        figure = self.figure([(name, 1, 2) for name in [*names, "same<1>(int)", "same<1>(int)"]])
        ticks = figure["layout"]["yaxis"]["ticktext"]
        self.assertEqual([hover_text(tick) for tick in ticks], [*names.values(), "same", "same #2"])
        long = ["f" * 90 + "<" + "x" * 50 + side + ">(int)" for side in "ab"]
        ticks = self.figure([(name, 1, 2) for name in long])["layout"]["yaxis"]["ticktext"]
        self.assertEqual([hover_text(tick) for tick in ticks],
                         ["f" * 69 + " · " + "x" * 36, "f" * 69 + " · " + "x" * 36 + " #2"])

    def test_json_cannot_end_a_script(self):
        text = diff(self.db, [(name, 1, 2) for name in HOSTILE], "".join(HOSTILE[:9]), "plotly")
        self.assertNotRegex(text, "[<>&\u2028\u2029\x00-\x1f]")
        self.assertEqual(len(json.loads(text)["data"][0]["x"]), len(HOSTILE))

    def test_no_utf8(self):
        text = self.db.execute("SELECT visualize_counts_diff(CAST(x'61ff80c0afeda080f4908080e28241' AS TEXT), 1, 2,"
                               " NULL,"
                               " 'plotly')").fetchone()[0]
        self.assertEqual(names_of(json.loads(text)["data"][0]), ["a" + "\ufffd" * 13 + "A"])

    def test_missing(self):
        figure = self.figure([("a", None, 2), (None, 1, 1), ("b", 1, None), ("c", math.inf, 1), ("d", 1, -1e19)])
        self.assertEqual([trace["x"] for trace in figure["data"][:2]], [[None, 1, None, 1], [2, None, 1, None]])
        self.assertEqual(figure["data"][2]["text"], [""] * 4)
        self.assertIsNone(diff(self.db, []))
        self.assertEqual(json.loads(diff(self.db, [(None, 1, 1)], None, "plotly"))["data"][0]["x"], [])

    def test_title_and_format(self):
        for given, title in (("<i>T</i>", "<i>T</i>"), (None, "Durations of control and test"), (5, "5")):
            figure = json.loads(diff(self.db, [("a", 1, 2)], given, "plotly"))
            self.assertEqual(hover_text(figure["layout"]["title"]["text"]), title)
        page = diff(self.db, [("a", 1, 2)])
        self.assertEqual(diff(self.db, [("a", 1, 2)], None), page)
        self.assertEqual(diff(self.db, [("a", 1, 2)], None, None), page)
        self.assertEqual(diff(self.db, [("a", 1, 2)], None, "html"), page)
        self.error("visualize_counts_diff: format must be 'html' or 'plotly'",
                   "SELECT visualize_counts_diff(1, 1, 1, 1, 'png')")
        self.error("visualize_counts_diff: test_counts must be a number", "SELECT visualize_counts_diff(1, 1, 'x')")
        self.error("wrong number of arguments to function visualize_counts_diff()",
                   "SELECT visualize_counts_diff(1, 1)")

    @slow
    def test_too_many_rows(self):
        rows = made(20000)
        figure = self.figure(rows)
        kept = len(figure["data"][0]["x"])
        self.assertGreater(kept, 400)
        self.assertEqual(figure["layout"]["title"]["text"],
                         f"Durations of control and test (the first {kept:,} of 20,000 rows)")
        for names in ("<" * 300, "x" * 3000, "\x01" * 100, "é" * 200):
            with self.subTest(names[0]):
                self.assertLess(len(diff(self.db, [(names + str(i), i, 1 / (i + 3)) for i in range(20000)]).encode()),
                                1.5e6)

    def rows(self, function):
        return rows_of(self.db, ANALYSES[function])

    def test_temporal_breakdown(self):
        """Bars are percentages of the time, with control above test for each rank."""
        name = "visualize_temporal_breakdown"
        figure = json.loads(picture(self.db, name, None, "plotly"))
        self.assertEqual(names_of(figure["data"][0]),
                         [f"rank {rank}, {side}" for rank in (0, 1) for side in ("control", "test")])
        self.assertEqual([trace["name"] for trace in figure["data"]], ["compute", "other work", "idle"])
        bars = bars_of(figure)
        for rank, idle, compute, other, side in self.rows(name):
            for series, time in (("idle", idle), ("compute", compute), ("other work", other)):
                self.assertAlmostEqual(bars[f"rank {rank}, {side}", series], 100 * time / (idle + compute + other))
        self.assertEqual(figure["layout"]["xaxis"]["range"], [0, 100])
        self.assertRegex(figure["data"][0]["customdata"][0][1], r"^\d+\.\d+ ms \(73 %\)$")
        # other ranks: two groups
        rows = [(rank, 1, 2, 1, side) for rank, side in ((3, "test"), (0, "control"), (4, "test"), (3, "control"))]
        figure = figure_of(self.db, name, rows, optional=1)
        self.assertEqual(names_of(figure["data"][0]), ["rank 0, control", "rank 3, control", "rank 3, test",
                                                       "rank 4, test"])
        # one side, in the order given
        figure = figure_of(self.db, name, [(rank, 1, 2, 1) for rank in (2, 0, 1)])
        self.assertEqual(names_of(figure["data"][0]), ["rank 2", "rank 0", "rank 1"])
        self.assertEqual(figure["data"][0]["text"], ["50 %"] * 3)

    def test_idle_time_breakdown(self):
        """A bar is the window of a stream, and the busiest stream of a rank comes first."""
        name = "visualize_idle_time_breakdown"
        figure, rows = json.loads(picture(self.db, name, None, "plotly")), self.rows(name)
        self.assertEqual(figure["data"][0]["name"], "busy")
        bars, windows = bars_of(figure), {}
        for rank, stream, category, idle, busy in rows:
            self.assertAlmostEqual(bars[f"rank {rank}, stream {stream}", category], idle / 1000)
            self.assertAlmostEqual(bars[f"rank {rank}, stream {stream}", "busy"], busy / 1000)
            windows[rank, stream] = windows.get((rank, stream), busy) + idle
        for rank, stream, window in self.db.execute(
                f"SELECT rank, stream, max(ts + dur) - min(ts) FROM trace_events('{TEST}', 'all', 0)"
                f" WHERE stream IS NOT NULL"
                " AND device = 'GPU' AND trace_kernel_type(name, cat) IS NOT NULL GROUP BY 1, 2"):
            self.assertAlmostEqual(windows[rank, stream], window, places=2)
        self.assertEqual(names_of(figure["data"][0]),
                         [f"rank {rank}, stream {stream}" for rank in (0, 1) for stream in (7, 20, 24)])
        self.assertRegex(ends_of(figure)["rank 0, stream 7"], "^ busy 6[0-9] %$")
        figure = figure_of(self.db, name, [(0, 5, "host_wait", 1, 2), (0, 7, "host_wait", 1, 9),
                                           (1, 3, "host_wait", 1, 1)], optional=1)
        self.assertEqual(names_of(figure["data"][0]), ["rank 0, stream 7", "rank 0, stream 5", "rank 1, stream 3"])
        # without the given busy_time
        figure = json.loads(picture(self.db, name, None, "plotly", plain=True))
        self.assertEqual([trace["name"] for trace in figure["data"][:-1]], ["host_wait", "kernel_wait", "other"])
        self.assertEqual(bars_of(figure), {(f"rank {rank}, stream {stream}", category): round(time / 1000, 9)
                                           for rank, stream, category, time, _ in rows})
        self.error("visualize_idle_time_breakdown: more than 64 series: select fewer",
                   "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n LIMIT 65)"
                   " SELECT visualize_idle_time_breakdown(0, 7, i, 1) FROM n")

    def test_gpu_kernel_type_breakdown(self):
        """Bars are sorted, and an overlap belongs to its first type."""
        name = "visualize_gpu_kernel_type_breakdown"
        figure = figure_of(self.db, name, [("MEMORY", 5), ("A overlapping B overlapping C", 1), ("A", 3),
                                           ("A overlapping MEMORY", 4),
                                           ("B overlapping C", 7)])
        self.assertEqual(bars_of(figure), {("A", "alone"): 3, ("A", "overlapping B overlapping C"): 1,
                                           ("A", "overlapping MEMORY"): 4,
                                           ("B", "overlapping C"): 7, ("MEMORY", "alone"): 5})
        self.assertEqual(ends_of(figure), {"A": " 8 µs (40 %)", "B": " 7 µs (35 %)", "MEMORY": " 5 µs (25 %)"})
        self.assertEqual(list(ends_of(figure)), ["A", "B", "MEMORY"])
        self.assertEqual(figure["layout"]["barmode"], "stack")

    def test_gpu_kernel_breakdown(self):
        """Bars are sorted by sum, with shares as text, others last, and min to max on a log axis, without a pie."""
        name = "visualize_gpu_kernel_breakdown"
        figure = figure_of(self.db, name, [("b", 10, 5, 5, 5), ("others", 1000, 400, 1, 10), ("a", 40, 20, 4, 10),
                                           ("b", 20, 8, 1, 4),
                                           ("others", 930, 900, 30, 465)])
        bar, means, ends = figure["data"]
        self.assertEqual([bar["type"], bar["x"], names_of(bar)], ["bar", [0.04, 0.03, 1.93], ["a", "b", "others"]])
        self.assertEqual(ends["text"], [" 2.0 %", " 1.5 %", " 96 %"])
        self.assertEqual(means["x"], [10, round(30 / 7, 9), round(1930 / 102, 9)])
        self.assertEqual([row[1] for row in means["customdata"]],
                         ["10.000 µs<br>min: 4.000 µs<br>max: 20.000 µs",
                          "4.286 µs<br>min: 1.000 µs<br>max: 8.000 µs",
                          "18.922 µs<br>min: 1.000 µs<br>max: 900.000 µs"])
        self.assertEqual([means["xaxis"], means["error_x"]["array"][0], means["error_x"]["arrayminus"][0]],
                         ["x2", 10, 6])
        axis = figure["layout"]["xaxis2"]
        self.assertEqual([axis["type"], axis["range"], axis["ticktext"], axis["title"]["text"]],
                         ["log", [0, 3], ["1", "10", "100", "1,000"], "min, mean, max (µs)"])
        rows = self.rows(name)
        figure = json.loads(picture(self.db, name, None, "plotly"))
        self.assertAlmostEqual(sum(figure["data"][0]["x"]), sum(row[1] for row in rows) / 1000)
        self.assertEqual(names_of(figure["data"][0])[-1], "others")
        self.assertEqual(figure["data"][0]["x"][:-1], sorted(figure["data"][0]["x"][:-1], reverse=True))
        # the line of a kernel of length 0 goes to the end of the axis
        figure = figure_of(self.db, name, [("a", 10, 10, 0, 5), ("b", 0, 0, 0, 0)])
        self.assertEqual(figure["data"][1]["error_x"]["arrayminus"], [4, -1])

    def test_comm_comp_overlap(self):
        """Bars show hidden and exposed times, or percentages without times."""
        name = "visualize_comm_comp_overlap"
        figure, rows = json.loads(picture(self.db, name, None, "plotly")), self.rows(name)
        self.assertEqual(bars_of(figure), {(f"rank {rank}", series): round(time / 1000, 9)
                                           for rank, _, hidden, exposed in rows
                                           for series, time in (("hidden", hidden), ("not hidden", exposed))})
        self.assertEqual(ends_of(figure), {f"rank {row[0]}": f" hidden {row[1]:.0f} %" for row in rows})
        self.assertEqual(figure["layout"]["xaxis"]["title"]["text"], "communication (ms)")
        figure = json.loads(picture(self.db, name, None, "plotly", plain=True))
        self.assertEqual(bars_of(figure), {(f"rank {row[0]}", series): value for row in rows
                                           for series, value in (("hidden", row[1]),
                                                                 ("not hidden", round(100 - row[1], 9)))})
        self.assertEqual(figure["layout"]["xaxis"]["title"]["text"], "communication (%)")
        self.assertEqual(figure["data"][0]["customdata"][0][1], f"{rows[0][1]} %")

    def test_queue_length(self):
        """Queues start at 0, steps are in the background, and lines that stay low are only in the legend."""
        name = "visualize_queue_length_time_series"
        rows = [(0, 7, 5000.5, 0, 4990), (0, 7, 6000.5, 200, 4990), (0, 7, 9000.5, 0, 9000), (0, 8, 5500.5, 2, 4990),
                (0, 9, 5500.5, 3, None)]
        figure = figure_of(self.db, name, rows, optional=1)
        self.assertEqual([(line["name"], line.get("visible", True)) for line in figure["data"]],
                         [("rank 0, stream 7", True), ("rank 0, stream 8", "legendonly"), ("rank 0, stream 9", True)])
        self.assertEqual([figure["data"][0]["x"], figure["data"][0]["y"]], [[0.0105, 1.0105, 4.0105], [0, 200, 0]])
        self.assertEqual([[shape["x0"], shape["layer"], shape["yref"]] for shape in figure["layout"]["shapes"]],
                         [[0, "below", "paper"], [4.01, "below", "paper"]])
        self.assertEqual(figure["layout"]["xaxis"]["title"]["text"], "time; dotted lines: steps (ms)")
        figure = figure_of(self.db, name, [row[:4] for row in rows])
        self.assertEqual([figure["data"][0]["x"], figure["layout"]["shapes"]], [[0, 1, 4], []])
        self.assertEqual(figure["layout"]["xaxis"]["title"]["text"], "time (ms)")

    def areas(self, rows):
        """The stack at each event, the sum of all, and the position of the peak, computed again from rows of key,
        bytes, from, to.
        """
        places = sorted({at for _, _, *ends in rows for at in ends if at is not None})
        if any(begin is None for _, _, begin, _ in rows):
            places.insert(0, places[0] - 1 if places else -1)
        sums = {at: {key: 0 for key, *_ in rows} for at in places}
        for key, size, begin, end in rows:
            for at in places:
                if (begin is None or begin <= at) and (end is None or at < end):
                    sums[at][key] += size
        whole = {at: sum(by.values()) for at, by in sums.items()}
        return sums, whole, min(whole, key=lambda at: (-whole[at], at))

    def check_areas(self, rows):
        figure = figure_of(self.db, "visualize_memory", [(0, 0, *row) for row in rows])
        sums, whole, peak = self.areas([("(none)" if row[0] is None else row[0], *row[1:]) for row in rows])
        keys = sorted(sums[peak], key=lambda key: (-sums[peak][key], key))
        *areas, line = figure["data"]
        unit = {"kB": 1e3, "MB": 1e6, "GB": 1e9}[figure["layout"]["yaxis"]["title"]["text"][-3:-1]]
        named = keys if len(keys) <= 8 else keys[:7]
        self.assertEqual([area["name"] for area in areas], named + [f"{len(keys) - 7} others"] * (len(keys) > 8))
        at = line["x"]
        self.assertEqual(at, sorted(set(at)))
        self.assertTrue({min(whole), max(whole), peak} <= set(at) <= set(whole))
        for x, *values, of_all in zip(at, *(area["y"] for area in areas), line["y"]):
            wanted = [sums[x][key] for key in named] + ([whole[x] - sum(sums[x][key] for key in named)] if len(keys) > 8
                                                        else [])
            self.assertEqual([round(value * unit) for value in (*values, of_all)], [*wanted, whole[x]])
        self.assertEqual([shape["x0"] for shape in figure["layout"]["shapes"]], [peak])
        self.assertEqual({area["stackgroup"] for area in areas}, {"areas"})
        self.assertEqual(figure["layout"]["xaxis"]["title"]["text"], "event; dotted line: the peak")
        return figure

    def test_memory(self):
        """Areas are drawn by event, the largest at the peak first. Before the first event is a separate place, and the
        earliest of equal peaks is marked.
        """
        figure = self.check_areas([("a", 300_000, None, 7), ("b", 700_000, 2, 5), ("b", 100_000, 2, None),
                                   ("a", 800_000, 5, 9), (None, 0, 9, None)])
        self.assertEqual([(area["name"], area["x"], area["y"]) for area in figure["data"]], [
            ("a", [1, 2, 5, 7, 9], [0.3, 0.3, 1.1, 0.8, 0]), ("b", [1, 2, 5, 7, 9], [0, 0.8, 0.1, 0.1, 0.1]),
            ("(none)", [1, 2, 5, 7, 9], [0] * 5),
            ("all, 1.200 MB at the peak", [1, 2, 5, 7, 9], [0.3, 1.1, 1.2, 0.9, 0.1])])
        self.check_areas([("a", 5, None, None)])
        self.check_areas([("a", 5, None, 0), ("b", 5, 0, None)])
        self.check_areas([(f"key {i % 11}", 10 ** 6 + i, i, i + 30) for i in range(200)])
        self.assertEqual([area["name"]
                          for area in figure_of(self.db, "visualize_memory", [(0, 0, "", 5, 1, 2)])["data"]],
                         ["(empty)", "all, 0.005 kB at the peak"])
        figure = figure_of(self.db, "visualize_memory", [(0, 0, "a", 5, 7, 3), (0, 0, "a", None, 1, 2)])
        self.assertEqual((figure["data"], figure["layout"]["shapes"]), ([], []))

    def test_random_memory(self):
        chance = random.Random(5)
        for _ in range(40):
            begins = [chance.choice([None, chance.randrange(40)]) for _ in range(chance.randrange(1, 60))]
            self.check_areas([(chance.choice(["a", "b", None, f"key {chance.randrange(12)}"]),
                               chance.randrange(10 ** chance.randrange(1, 13)), begin,
                               chance.choice([None, (begin or 0) + chance.randrange(9)])) for begin in begins])

    def test_the_peak_of_a_snapshot(self):
        """The peak equals memory_files, and its areas equal the parts of memory_peak in bytes, also with many events
        and keys.
        """
        peak, event = self.db.execute(f"SELECT peak_bytes, peak_event FROM memory_files({SNAPSHOT})").fetchone()
        for key in ("phase", "place", "top_op"):
            figure = json.loads(draw(self.db, "visualize_memory", self.db.execute(
                f"SELECT rank, device, {key}, bytes, alloc_event, free_event"
                f" FROM memory_allocations({SNAPSHOT})").fetchall(), None, "plotly"))
            *areas, line = figure["data"]
            self.assertEqual([shape["x0"] for shape in figure["layout"]["shapes"]], [event])
            at = line["x"].index(event)
            self.assertEqual(round(line["y"][at] * 1e9), peak)
            self.assertEqual(max(line["y"]), line["y"][at])
            parts = dict(self.db.execute(f"SELECT coalesce({key}, '(none)'), sum(bytes)"
                                         f" FROM memory_allocations({SNAPSHOT}) WHERE at_peak GROUP BY 1"))
            for area in areas:
                if "others" not in area["name"]:
                    self.assertEqual(round(area["y"][at] * 1e9), parts.get(hover_text(area["name"]), 0))
            self.assertLessEqual(sum(len(trace["x"]) for trace in figure["data"]), 8000)
            self.assertIn(" points, extremes kept)", figure["layout"]["title"]["text"])

    def test_a_page_of_memory_is_bounded(self):
        rows = [(0, 0, "é" * 3000 + str(i % 40), 1000 + i, i, None if i % 3 else i + 700) for i in range(9000)]
        page = draw(self.db, "visualize_memory", rows)
        library = len(draw(self.db, "visualize_memory", rows[:1]))
        self.assertLess(len(page) - library, 2_000_000)

    def test_memory_of_several_devices(self):
        for name, one, other in ("rank", (0, 0), (1, 0)), ("device", (0, 0), (0, 1)), ("device", (0, None), (0, 0)):
            with self.assertRaisesRegex(sqlite3.OperationalError,
                                        f"^visualize_memory: {name} must be the same in every row: select one$"):
                figure_of(self.db, "visualize_memory", [(*one, "a", 1, 2, 3), (*other, "a", 1, 2, 3)])

    def test_memory_bandwidth(self):
        """A dot marks the start of each copy, on a logarithmic axis."""
        rows = [(0, "Memcpy HtoD", ts, bandwidth) for ts, bandwidth in ((10, 12), (20, 0), (30, 5), (35, 8), (40, 3),
                                                                        (50, 0), (60, 0.02),
                                                                        (70, 0))]
        figure = figure_of(self.db, "visualize_memory_bw_time_series", rows)
        dots, = figure["data"]
        self.assertEqual([dots["mode"], dots["x"], dots["y"]], ["markers", [0, 20, 25, 50], [12, 5, 8, 0.02]])
        axis = figure["layout"]["yaxis"]
        self.assertEqual([axis["type"], axis["range"], axis["ticktext"]],
                         ["log", [-2, 2], ["0.01", "0.1", "1", "10", "100"]])
        copies, = self.db.execute(f"SELECT count(*) FROM trace_events('{TEST}', 'all', 0) WHERE device = 'GPU'"
                                  " AND trace_kernel_type(name, cat) = 'MEMORY'").fetchone()
        figure = json.loads(picture(self.db, "visualize_memory_bw_time_series", None, "plotly"))
        self.assertEqual(sum(len(trace["x"]) for trace in figure["data"]), copies)
        rows = [(0, f"m{i % 4}", i, i % 8 < 4) for i in range(16000)]  # 8,000 dots in clusters, all drawn
        figure = figure_of(self.db, "visualize_memory_bw_time_series", rows)
        self.assertEqual(sum(len(trace["x"]) for trace in figure["data"]), 8000)

    def test_timeline(self):
        """Each event has a bar in a lane per rank and lane, from the first event on, and each name has one colour."""
        rows = [(0, "stream 7", "gemm", 2000.75, 1500, 1000), (0, "stream 20", "copy", 2500, 250, 1000),
                (1, "stream 7", "gemm", 3000, 500, 5000), (0, "stream 7", "copy", 4000, 0.001, 5000),
                (0, "stream 7", None, 4000, 7, None), (0, "stream 7", "late", None, 7, None),
                (0, "stream 7", "endless", 4000, None, None), (None, "stream 7", "gemm", 4000, 7, None)]
        figure = figure_of(self.db, "visualize_timeline", rows, optional=1)
        lanes = figure["layout"]["yaxis"]["ticktext"]
        self.assertEqual(lanes, ["rank 0, stream 7", "rank 0, stream 20", "rank 1, stream 7"])
        found = [(lanes[int(lane)], *bar) for trace in figure["data"]
                 for lane, *bar in zip(trace["y"], trace["base"], trace["x"], trace["customdata"])]
        self.assertEqual(found, [
            ("rank 0, stream 7", 1.00075, 1.5, ["gemm", "1.500 ms, at 1.001 ms"]),
            ("rank 0, stream 7", 3, 0.000001, ["copy", "0.000 ms, at 3.000 ms"]),
            ("rank 0, stream 20", 1.5, 0.25, ["copy", "0.250 ms, at 1.500 ms"]),
            ("rank 1, stream 7", 2, 0.5, ["gemm", "0.500 ms, at 2.000 ms"])])
        colours = [trace["marker"]["color"] for trace in figure["data"]]
        self.assertEqual((colours[0][0], colours[0][1]), (colours[2][0], colours[1][0]))
        self.assertNotEqual(*colours[0])
        self.assertEqual([shape["x0"] for shape in figure["layout"]["shapes"]], [0, 4])

    def test_what_is_not_on_the_path_is_pale(self):
        """Work off the path is pale, with dark text to stay legible; without a path all bars are unchanged."""
        rows = [(0, 7, "gemm", 2000, 500, None, 1), (1, 7, "gemm", 2000, 400, None, 0),
                (1, 7, "wait", 2400, 100, None, None)]
        figure = figure_of(self.db, "visualize_timeline", rows, optional=2)
        on, off = figure["data"]
        self.assertEqual((on["marker"]["opacity"], off["marker"]["opacity"]), ([1], [0.25, 1]))
        self.assertEqual(off["insidetextfont"]["color"], ["#1f2328", "#ffffff"])
        self.assertEqual([text for _, text in on["customdata"] + off["customdata"]],
                         ["500 µs, at 0.000 µs, on the path", "400 µs, at 0.000 µs", "100 µs, at 400.000 µs"])
        self.assertIn("pale: not on the path", figure["layout"]["xaxis"]["title"]["text"])
        plain = figure_of(self.db, "visualize_timeline", [row[:5] for row in rows])
        self.assertNotIn("opacity", plain["data"][0]["marker"])
        self.assertNotIn("pale", plain["layout"]["xaxis"]["title"]["text"])

    def test_nested_bars_of_a_timeline_are_drawn_last(self):
        """A bar covers earlier ones, so whatever the order of rows, no bar is drawn inside a later one."""
        rows = [(0, 7, "outer", 10, 90), (0, 7, "inner", 20, 10), (0, 7, "first", 10, 5), (0, 7, "before", 5, 20),
                (0, 7, "end", 90, 10), (0, 7, "point", 20, 0), (0, 8, "other", 1, 500)]
        for order in (rows, rows[::-1], sorted(rows, key=lambda row: row[2])):
            lane = figure_of(self.db, "visualize_timeline", order)["data"][order[0][1] == 8]
            self.assertEqual([name for name, _ in lane["customdata"]],
                             ["before", "outer", "first", "inner", "point", "end"])

    def test_a_long_timeline_says_so(self):
        many = [(0, 7, f"kernel {i % 50}", i, 1) for i in range(20000)]
        figure = figure_of(self.db, "visualize_timeline", many)
        shown = sum(len(trace["x"]) for trace in figure["data"])
        self.assertGreater(shown, 2000)
        self.assertEqual(figure["layout"]["title"]["text"], f"Events over time (the first {shown:,} of 20,000 rows)")
        self.assertLess(len(draw(self.db, "visualize_timeline", many)), 1_500_000)

    @slow
    def test_long_lines_are_thinned_and_keep_extremes(self):
        chance = random.Random(2)
        points = [(i * 0.5, round(chance.gauss(0, 1), 6)) for i in range(100000)]
        points[31415] = (31415 * 0.5, 1000.0)
        points[27182] = (27182 * 0.5, -1000.0)
        figure = figure_of(self.db, "visualize_queue_length_time_series", [(0, 7, x, y) for x, y in points])
        line = figure["data"][0]
        kept = list(zip((round(x * 1000, 6) for x in line["x"]), line["y"]))
        self.assertTrue(6000 < len(kept) <= 8000)
        self.assertTrue({points[0], points[31415], points[27182], points[-1]} <= set(kept) <= set(points))
        self.assertEqual(line["x"], sorted(line["x"]))
        for at in range(0, 100000, 100):  # two buckets: the kept rows reach as far
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
            self.assertEqual(min(figure["data"][0]["x"]), 0)

    def test_histograms_count_every_value(self):
        """Three columns of shares count every value, in bins from the first to the last with values."""
        name = "visualize_cuda_kernel_launch_stats"
        figure, rows = json.loads(picture(self.db, name, None, "plotly")), self.rows(name)

        def within(bin, value):
            begin, _, end = bin.rpartition("–")
            unit = bin.split()[-1]
            size = {"µs": 1, "ms": 1000}
            first = float(begin.split()[0]) * size[begin.split()[1] if " " in begin else unit]
            return first <= value < float(end.split()[0]) * size[unit]
        self.assertEqual([trace.get("xaxis") for trace in figure["data"]], ["x", "x2", "x3"])
        for i, trace in enumerate(figure["data"]):
            self.assertAlmostEqual(sum(trace["x"]), 100)
            for (bin, text), share in zip(trace["customdata"], trace["x"]):
                count = sum(within(bin, row[i]) for row in rows)
                self.assertEqual(int(text.split()[0]), count, bin)
                self.assertAlmostEqual(share, 100 * count / len(rows))
        values = [1, 1.999, 2, 1e9, 9e18, 0.0001, 0.499, 0.5, 500, None]
        edges = figure_of(self.db, name, [(value, 0, -1) for value in values])["data"]
        self.assertEqual([(bin, text) for bin, text in edges[0]["customdata"] if not text.startswith("0 ")],
                         [("below 0.5 µs", "2 (22 %)"), ("0.5–1 µs", "1 (11 %)"), ("1–2 µs", "2 (22 %)"),
                          ("2–5 µs", "1 (11 %)"),
                          ("500 µs–1 ms", "1 (11 %)"), ("from 1000 s", "2 (22 %)")])
        self.assertEqual(names_of(edges[0])[:4], ["below 0 µs", "0 µs", "below 0.5 µs", "0.5–1 µs"])
        self.assertEqual(names_of(figure_of(self.db, name, [(0, 0, 0), (0, 2, 0)])["data"][0]),
                         ["0 µs", "below 0.5 µs", "0.5–1 µs", "1–2 µs", "2–5 µs"])

    @slow
    def test_one_statement_each_in_python_plotly(self):
        """One statement per chart works in Debian's python3-plotly, which knows every attribute."""
        check = "import json, sys, plotly.io; plotly.io.from_json(sys.stdin.read())"
        if subprocess.run(["/usr/bin/python3", "-c", "import plotly"], capture_output=True).returncode:
            self.skipTest("no python3-plotly")
        for function in ANALYSES:
            with self.subTest(function):
                text = picture(self.db, function, None, "plotly")
                done = subprocess.run(["/usr/bin/python3", "-c", check], input=text, capture_output=True, text=True,
                                      env={**os.environ, "LD_PRELOAD": ""})
                self.assertEqual(done.stderr, "")


class Bars(unittest.TestCase):
    """trace_bar draws text bars."""

    CASES = [
        ((5, 10, 4), "    │██  "), ((-5, 10, 4), "  ██│    "), ((10, 10, 4), "    │████"), ((-10, 10, 4), "████│    "),
        ((11, 10, 4), "    │███>"), ((-11, 10, 4), "<███│    "), ((0, 10, 4), "    │    "), ((0, 0, 4), "    │    "),
        ((1, 0, 2), "  │█>"), ((1e-9, 10, 4), "    │▏   "), ((-1e-9, 10, 4), "   ▐│    "), ((1.25, 10, 4), "    │▌   "),
        ((9.99, 10, 4), "    │████"), ((-3.75, 10, 4), "  ▐█│    "), ((5, 10, 4, 1), "    |##  "),
        ((-5, 10, 4, 1), "  ##|    "),
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
        for call, text in (("1, -1", "max must not be negative"), ("'x', 1", "value must be a number"),
                           ("1, 'x'", "max must be a number"),
                           ("1, 1, 0", "width must be an integer from 1 to 500"),
                           ("1, 1, 501", "width must be an integer from 1 to 500"),
                           ("1, 1, 1.5", "width must be an integer from 1 to 500"),
                           ("1, 1, 1, 2", "ascii must be 0 or 1")):
            with self.assertRaises(Exception) as caught:
                db.execute(f"SELECT trace_bar({call})")
            self.assertEqual(str(caught.exception), f"trace_bar: {text}")


class Waterfall(unittest.TestCase):
    """visualize_step_diff draws a waterfall."""

    def figure(self, rows):
        return figure_of(connect(), "visualize_step_diff", rows)

    def bars(self, rows):
        """[(name, begin, length, kind)] from top to bottom."""
        figure = self.figure(rows)
        found = [(int(y), hover_text(details[0]), base, x, trace["name"])
                 for trace in figure["data"] if trace["type"] == "bar"
                 for y, x, base, details in zip(trace["y"], trace["x"], trace["base"], trace["customdata"])]
        self.assertEqual(figure["layout"]["barmode"], "overlay")
        self.assertEqual(len(found), len(figure["layout"]["yaxis"]["ticktext"]))
        return [bar[1:] for bar in sorted(found)]

    def test_from_control_to_test(self):
        """Each step has a bar from 0, and the bar of each part begins at the end of the previous one."""
        rows = [("compute", "a", 10, 12), ("idle_unrecorded", None, 7, 2), ("comm", "b", 4, 4)]
        self.assertEqual(self.bars(rows),
                         [("step of control", 0, 21, "control"), ("idle_unrecorded", 21, -5, "shorter"),
                                           ("a [compute]", 16, 2, "longer"), ("step of test", 0, 18, "test")])
        figure = self.figure(rows)
        self.assertEqual(figure["layout"]["yaxis"]["ticktext"],
                         ["step of control: 21 µs", "idle_unrecorded", "a [compute]", "step of test: 18 µs"])
        self.assertEqual(figure["data"][-1]["text"], ["", "▼ −5 µs", "▲ +2 µs", "▼ −3 µs (−14 %)"])
        self.assertEqual(figure["data"][1]["customdata"],
                         [["a [compute]", "control: 10 µs<br>test: 12 µs<br>difference: +2 µs"]])
        self.assertEqual([trace["marker"]["color"] for trace in figure["data"][:4]],
                         ["#6b7480", "#c2500a", "#0b67a8", "#1f2328"])
        self.assertEqual(figure["layout"]["title"]["text"], "Difference of a step: from control to test, part by part")

    def test_the_axis_says_where_it_begins(self):
        """The axis begins at 0 if the bars of the parts then have a third of the width; otherwise it begins shortly
        before the parts, and its label says so.
        """
        def axis(control, *changes):
            layout = self.figure([("compute", "rest", control, control)] + [
                ("compute", str(i), max(-change, 0), max(change, 0))
                for i, change in enumerate(changes)])["layout"]["xaxis"]
            return layout["range"][0], layout["title"]["text"]
        self.assertEqual(axis(100, 51), (0, "time of a step (µs)"))
        self.assertEqual(axis(100, 20), (90, "time of a step (µs), not from 0"))
        self.assertEqual(axis(3052, 684), (2.7, "time of a step (ms), not from 0"))
        self.assertEqual(axis(1000, -20, 5)[0], 0.99)
        self.assertEqual(axis(100), (0, "time of a step (µs)"))
        for seed in range(50):
            chance = random.Random(seed)
            rows = [("compute", str(i), chance.randrange(10**chance.randrange(1, 6)), chance.randrange(1000))
                    for i in range(5)]
            first, last = self.figure(rows)["layout"]["xaxis"]["range"]
            ends = [end for trace in self.figure(rows)["data"][:4] for base, x in zip(trace["base"], trace["x"])
                    for end in ((base, base + x) if trace["name"] in ("longer", "shorter") else (x,))]
            self.assertLessEqual(first, min(ends))
            self.assertGreaterEqual(last, max(ends))
            self.assertTrue(first == 0 or max(ends) - min(ends) >= 0.4999 * (last - first), (rows, first, last))

    def test_the_largest_parts_and_the_rest(self):
        chance = random.Random(3)
        rows = [("compute", f"op{i}", chance.randrange(1000), chance.randrange(1000)) for i in range(100)]
        rows += [("compute", f"same{i}", 7, 7) for i in range(5)]
        control, *bars = self.bars(rows)
        self.assertEqual(len(bars), 12)
        changes = sorted((test - control for _, _, control, test in rows), key=abs, reverse=True)
        self.assertEqual([abs(round(bar[2] * 1000)) for bar in bars[:10]], [abs(change) for change in changes[:10]])
        rest = changes[10:]
        more, less = (sum(change for change in rest if change * sign > 0) / 1000 for sign in (1, -1))
        self.assertEqual(bars[10][0], f"90 smaller parts (+{more:.2f} longer, −{-less:.2f} shorter; 5 unchanged)")
        level = control[2]
        for _, begin, length, _ in bars[:-1]:
            self.assertAlmostEqual(begin, level)
            level += length
        self.assertAlmostEqual(bars[-1][2], level)
        self.assertAlmostEqual(level - control[2], sum(changes) / 1000)

    def test_small_and_unchanged_parts(self):
        """Parts below 1 % of the difference are summed up, and unchanged parts are not counted."""
        self.assertEqual(self.bars([("compute", "a", 0, 1000), ("compute", "b", 5, 14), ("comm", None, 3, 3)])[1:],
                         [("a [compute]", 0.008, 1, "longer"),
                          ("1 smaller part (+0.01 longer; 1 unchanged)", 1.008, 0.009, "longer"),
                          ("step of test", 0, 1.017, "test")])

    def test_odd_rows(self):
        self.assertEqual(self.bars([("compute", "a", None, 3), ("comm", "b", 2, None)]),
                         [("step of control", 0, 2, "control"), ("a [compute]", 2, 3, "longer"),
                          ("b [comm]", 5, -2, "shorter"),
                          ("step of test", 0, 3, "test")])
        self.assertEqual(self.bars([("compute", "a", 0, 0)]),
                         [("step of control", 0, 0, "control"), ("step of test", 0, 0, "test")])
        self.assertEqual(self.figure([("compute", "a", 5, 5)])["data"][-1]["text"], ["", "0 µs (0 %)"])
        self.assertEqual(self.bars([(None, "a", 1, 3), (None, None, 1, 9)])[1:-1], [("a", 1, 2, "longer")])
        self.assertIsNone(connect().execute("SELECT visualize_step_diff(1, 2, 3, 4) WHERE 0").fetchone()[0])


@unittest.skipUnless(browser.CHROMIUM, "no Chromium")
class Pages(unittest.TestCase):
    """Pages in Chromium, without a network."""

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
        page.value("[...document.querySelectorAll('button')].find(it => it.textContent === %s).click()"
                   % json.dumps(text))

    # Clipped or covered elements: texts outside the figure, labels on top of each other.
    COLLISIONS = """(() => {
        const texts = [...document.querySelectorAll('.figure svg text')].filter(it => it.textContent.trim() &&
            getComputedStyle(it).opacity !== '0' && it.style.display !== 'none' && !it.closest('.hoverlayer'));
        const outside = texts.filter(it => { const box = it.getBoundingClientRect();
            return box.width > 0 && (box.left < -1 || box.right > innerWidth + 1); });
        const found = outside.map(it => 'outside: ' + it.textContent);
        for (const kind of ['.ytick text', '.annotation text', '.xaxislayer-above .xtick text', '.textpoint text']) {
            const boxes = [...document.querySelectorAll(kind)].map(it => [it.getBoundingClientRect(), it.textContent]);
            boxes.sort(([a], [b]) => a.top - b.top || a.left - b.left);
            boxes.forEach(([a, name], i) => { const next = boxes[i + 1]; if (!next) return; const b = next[0];
                if (a.right > b.left + 2 && b.right > a.left + 2 && a.bottom > b.top + 4 && b.bottom > a.top + 4)
                    found.push(kind + ': ' + name + ' | ' + next[1]); });
        }
        return found; })()"""

    @slow
    def test_every_analysis(self):
        """Every chart works offline without errors, has as many marks as rows, shows the values of the rows, and clips
        nothing.
        """
        for function in ANALYSES:
            for width, dark in ((1280, False), (390, True)):
                with self.subTest(function, width=width):
                    page = self.open(picture(self.db, function), width=width, dark=dark, mobile=width < 400)
                    drawn = page.value("document.querySelector('.figure').data")
                    source = json.loads(picture(self.db, function, None, "plotly"))["data"]
                    for a, b in zip(drawn, source):
                        for key in ("x", "y", "text"):
                            self.assertEqual(a.get(key), b.get(key))
                    marks = page.value("[document.querySelectorAll('.bars .point').length,"
                                       " document.querySelectorAll('.scatterlayer"
                                       " .point').length]")
                    seen = [trace for trace in source if trace.get("visible") != "legendonly"]
                    self.assertEqual(marks, [sum(len(trace["y"]) for trace in seen if trace["type"] == "bar"),
                                             sum(len(trace["y"]) for trace in seen if trace.get("mode") == "markers")])
                    self.assertLessEqual(page.value("document.documentElement.scrollWidth"), width)
                    self.assertEqual(page.value(self.COLLISIONS), [])
                    self.assertEqual(page.value("getComputedStyle(document.body).backgroundColor"),
                                     "rgb(21, 24, 28)" if dark else "rgb(255, 255, 255)")
                    rows = page.value("[...document.querySelectorAll('tbody tr')].length")
                    self.assertEqual(rows, sum(len(trace["y"]) for trace in source) if function == "visualize_timeline"
                                     else
                                     len(source[-1]["y"]) if "base" in source[0] else
                                     len(source[0]["y"]) if source[0]["type"] == "bar" else
                                     sum(len(trace["x"]) for trace in source))
                    self.assertNotIn("…", page.value("document.body.innerText"))
                    self.assertEqual(page.problems(), [])

    def test_one_toolbar_that_shows_on_hover_and_focus(self):
        page = self.open(diff(self.db, made(5)))
        seen = "[...document.querySelectorAll('.tools')].map(it => getComputedStyle(it).opacity).join()"
        page.move(1, 1)
        self.assertEqual(page.value(seen), "0")
        page.move(640, 200)
        page.wait(f"{seen} === '1'")
        page.move(1, 1)
        page.wait(f"{seen} === '0'")
        page.value("document.querySelector('.tools button').focus()")
        self.assertEqual(page.value(seen), "1")
        page = self.open(diff(self.db, made(5)), width=390, mobile=True)
        self.assertEqual(page.value(seen), "1")

    def test_colours_of_a_dark_page(self):
        colours = ("(data => [data[0].marker.color, data[1].marker.color, ...data[2].textfont.color])"
                   "(document.querySelector('.figure').data)")
        swatches = "[...document.querySelectorAll('.legend i')].map(it => getComputedStyle(it).backgroundColor)"
        rows = [("#1f2328", 1, 3), ("b", 3, 1), ("c", 1, 1)]
        page = self.open(diff(self.db, rows))
        self.assertEqual(page.value(colours), ["#6b7480", "#1f2328", "#c2500a", "#0b67a8", "#6b7480"])
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        page.wait(f"{colours}[0] === '#8b96a3'")
        self.assertEqual(page.value(colours), ["#8b96a3", "#e4e8ec", "#ff9d5c", "#6cb8f2", "#8b96a3"])
        self.assertEqual(page.value(swatches), ["rgb(139, 150, 163)", "rgb(228, 232, 236)"])
        self.assertEqual(page.value("document.querySelector('.figure').data[0].customdata[0][0]"), "#1f2328")

    def test_long_labels_are_above_the_bars_of_a_phone(self):
        rows = [(f"a kernel with a long name, which goes on and on and does not end soon, it is number {i} of many",
                 i + 1, 9)
                for i in range(8)]
        page = self.open(diff(self.db, rows), width=390, mobile=True)
        labels = page.value("[...document.querySelectorAll('.annotation text')].map(it => it.textContent)")
        self.assertEqual(labels, [row[0] for row in rows])
        self.assertEqual(page.value(self.COLLISIONS), [])
        self.assertEqual(page.value("document.querySelectorAll('.ytick').length"), 0)
        widest = page.value("Math.max(...[...document.querySelectorAll('.bars path')].map(it =>"
                            " it.getBoundingClientRect().width))")
        self.assertGreater(widest, 200)

    def test_the_axis_of_a_phone_follows_the_legend(self):
        """On a phone, nothing is between axis and legend, visible or not, with a mouse and with a finger, and the tools
        follow the figure.
        """
        script = """(() => { const box = it => document.querySelector(it).getBoundingClientRect();
            const drawn = [...document.querySelectorAll('.figure .gridlayer path, .figure svg text')].map(it =>
                it.getBoundingClientRect()).filter(it => it.width + it.height > 0);
            return [Math.min(...drawn.map(it => it.top)) - box('.legend').bottom,
                    box('.tools').top - box('.figure').bottom]; })()"""
        for function in ("visualize_step_diff", "visualize_duration_diff", "visualize_queue_length_time_series"):
            for mobile in (False, True):
                with self.subTest(function, mobile=mobile):
                    legend, tools = self.open(picture(self.db, function), width=390, mobile=mobile).value(script)
                    self.assertTrue(0 <= legend < 24, legend)
                    self.assertTrue(0 <= tools < 24, tools)

    def test_tables_have_units(self):
        page = self.open(diff(self.db, [("a", 1234567.5, 2000), ("b", 0, 1)]))
        self.assertEqual(page.value("[...document.querySelectorAll('th.n')].map(it => it.textContent)"),
                         ["control (ms)", "test (ms)", "difference (ms)"])
        self.assertEqual(page.value("[...document.querySelectorAll('td')].map(it => it.textContent)"),
                         ["1,234.568", "2.000", "−1,232.568", "0.000", "0.001", "0.001"])
        page.value("document.querySelectorAll('thead button')[3].click()")
        self.assertEqual(page.value("document.querySelector('tbody th').textContent"), "b")

    def test_hundreds_of_rows(self):
        rows = made(200)
        page = self.open(diff(self.db, rows))
        self.assertEqual(page.value("document.querySelectorAll('.bars .point').length"), 400)
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
        self.assertEqual(text, f"{rows[2][0]}test: {rows[2][2] / 1000:,.3f} ms")

    def test_hostile_names_are_text(self):
        rows = [(name, 2, 1) for name in HOSTILE]
        page = self.open(diff(self.db, rows, "".join(HOSTILE[:8])))
        self.assertEqual(page.value("document.querySelector('h1').textContent"), "".join(HOSTILE[:8]))
        self.assertEqual(page.value("document.title"), re.sub(" +", " ", "".join(HOSTILE[:8])))
        shown = page.value("[...document.querySelectorAll('tbody th')].map(it => it.textContent)")
        self.assertEqual(shown, [re.sub(r"\x01", "\ufffd", name) for name in HOSTILE])
        self.assertEqual(page.value("document.querySelectorAll('img, .figure a, main script:not([type])').length"), 0)
        for i in range(len(rows)):
            page.value("document.querySelector('.tracediff-chart').plotly.Fx.hover("
                       "document.querySelector('.figure'), [{curveNumber: 0, pointNumber: %d}])" % i)
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
        page.value("(() => { const it = document.querySelector('select'); it.value = 2;"
                   " it.dispatchEvent(new Event('change')); })()")
        largest = max(range(20), key=lambda i: abs(rows[i][2] - rows[i][1]))
        page.wait(f"{first} === 'kernel_{largest}'")
        page.value("[...document.querySelectorAll('.legend button')][0].click()")
        page.wait("document.querySelectorAll('.bars .point').length === 20")
        page.value("[...document.querySelectorAll('.legend button')][0].click()")
        page.wait("document.querySelectorAll('.bars .point').length === 40")
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
            reached.append(page.value("document.activeElement.tagName + ' ' +"
                                      " document.activeElement.textContent.slice(0, 20)"))
        for name in ("SELECT", "BUTTON Save SVG", "BUTTON control", "DIV", "SUMMARY The figures as a "):
            self.assertTrue(any(it.startswith(name[:24]) for it in reached), (name, reached))

    def test_table_sorts(self):
        rows = made(20)
        page = self.open(diff(self.db, rows))
        column = "[...document.querySelectorAll('tbody tr')].map(row => +row.cells[1].textContent.replace(/,/g, ''))"
        values = [round(control / 1000, 3) for _, control, _ in rows]
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
            for expected in ("A & <B>", "control", "test", "▲ +1 µs", HOSTILE[1], HOSTILE[3]):
                self.assertIn(expected, texts)
            self.assertRegex(self.saved(page, "PNG"), r"^\S+ \d{4,}$")
            self.assertEqual(page.problems(), [])

    def test_printed(self):
        page = self.open(diff(self.db, made(10)), dark=True)
        pdf = page.pdf()
        self.assertTrue(pdf.startswith(b"%PDF"))
        self.assertGreater(len(pdf), 10000)
        self.assertEqual(page.problems(), [])

    def test_scheme_changes(self):
        page = self.open(diff(self.db, made(5)))
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        page.wait("document.querySelector('.figure').layout.paper_bgcolor === '#15181c'")


class Bare(unittest.TestCase):
    """The extension built without the charting library."""

    def setUp(self):
        path = os.environ.get("BARE")
        if not path:
            self.skipTest("BARE is not set")
        self.db = connect(extension=os.path.abspath(path))

    def test_figures_are_the_same(self):
        self.assertIn("no charts", self.db.execute("SELECT tracediff_debug()").fetchone()[0])
        with_library = connect()
        for function in ANALYSES:
            self.assertEqual(picture(self.db, function, None, "plotly"),
                             picture(with_library, function, None, "plotly"))
            self.assertNotRegex(picture(self.db, function), r"\d[eE][+-]\d|…")

    @unittest.skipUnless(browser.CHROMIUM, "no Chromium")
    @slow
    def test_pages_are_tables_and_say_so(self):
        chromium = browser.start()
        if not chromium:
            self.skipTest("Chromium does not start")
        self.addCleanup(chromium.close)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            for function in ANALYSES:
                with self.subTest(function):
                    text = picture(self.db, function)
                    self.assertLess(len(text), 600000)
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(text)
                    page = chromium.open(path)
                    self.assertIn("built without Plotly", page.value("document.querySelector('.missing').textContent"))
                    self.assertTrue(page.value("document.querySelector('tbody tr').checkVisibility()"))
                    at = 1 + (function == "visualize_timeline")  # after lane and name
                    page.value(f"document.querySelectorAll('thead button')[{at}].click()")
                    values = page.value(f"[...document.querySelectorAll('tbody tr')].map(row =>"
                                        f" +row.cells[{at}].textContent"
                                        ".replace(/,/g, '').replace('−', '-'))")
                    self.assertEqual(values, sorted(values, reverse=True))
                    self.assertEqual(page.problems(), [])
                    page.close()


if __name__ == "__main__":
    unittest.main()
