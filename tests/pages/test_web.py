"""dist/tracediff.html, made by `make web`, gives the extension's answers, from disk and without a network.

    CHROMIUM, FIREFOX, WEBKIT  the browsers (tests of missing ones are skipped)
    WEB       the page (default dist/tracediff.html)
    CORPUS    traces that do not ship (tests that need one are skipped without)
    GOLDEN    HTA's outputs for them (likewise)
"""
import csv
import glob
import gzip
import importlib
import io
import json
import os
import pathlib
import pickle
import random
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from collections import Counter

import browser
import generate_rocprof
import generate_xplane
import support
import test_golden
import test_hta
import webdriver
from made import document, event
from support import DATA, EXAMPLES, EXTENSION, ROOT, alone, connect, corpus, found_below, golden, slow, slowest
from test_nsys_cost import grow

PAGE = os.path.abspath(os.environ.get("WEB") or os.path.join(ROOT, "dist", "tracediff.html"))
GPU = {side: os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test")}
CPU = {side: os.path.join(EXAMPLES, "cpu", side) for side in ("control", "test")}
MEMORY = {side: os.path.join(EXAMPLES, "memory", "gpu", side) for side in ("control", "test")}
LONG = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


def shortest(text):
    """Text in which fractional numbers have the fewest digits that distinguish them."""
    return re.sub(r"-?\d+\.\d+(e[-+]?\d+)?", lambda number: repr(float(number[0])), text)


class Driven(unittest.TestCase):
    """The page in a tab, and the extension beside it in a folder with the same files."""

    driver = None

    @classmethod
    def started(cls):
        return browser.start() if browser.CHROMIUM else None

    @classmethod
    def setUpClass(cls):
        if not os.path.exists(PAGE):
            raise unittest.SkipTest(f"there is no {os.path.basename(PAGE)}: make web")
        cls.driver = cls.started()
        if not cls.driver:
            raise unittest.SkipTest("there is no such browser, or it does not work here")
        cls.addClassCleanup(cls.driver.close)
        cls.page = cls.opened()
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    @classmethod
    def opened(cls, **how):
        page = cls.driver.open(PAGE, **how)
        page.wait("!document.getElementById('run').disabled || !document.getElementById('error').hidden")
        # The tests from here on query the worker directly instead of the console.
        page.value("void (window.asked = (sql, most = 1e9) => ready.then(() => ask({sql, most})).then("
                   "answer => answer, error => ({error: error.message})))")
        return page

    def tearDown(self):
        self.assertEqual(self.page.problems(), [])

    def done(self):
        self.page.wait("document.getElementById('cancel').hidden")

    def text(self, name):
        return self.page.value(f"document.getElementById({json.dumps(name)}).textContent")

    def error(self):
        return self.page.value("document.getElementById('error').hidden ? null : "
                               "document.getElementById('error').textContent")

    def press(self, name):
        self.page.press(f"#{name}")
        self.done()

    def choose(self, side, files, page=None):
        """Chooses files, or the folder with this path."""
        page = page or self.page
        which = "[webkitdirectory]" if isinstance(files, str) else ":not([webkitdirectory])"
        page.value(f"void (window.taken = new Promise(done => document.querySelector('[data-side={side}] input{which}')"
                   ".addEventListener('change', done, {once: true})))")  # a folder's files come some time later
        page.choose(f"[data-side={side}] input{which}", [files] if isinstance(files, str) else files)
        page.wait("taken.then(() => new Promise(done => setTimeout(() => asked('SELECT 1').then(() => done(true)))))")

    def console(self, sql):
        self.page.value(f"void (document.getElementById('sql').value = {json.dumps(sql)})")
        self.press("run")
        return self.page.value("[...document.querySelectorAll('#rows tr')].map(row => "
                               "[...row.cells].map(cell => cell.textContent))")

    def both(self, **sides):
        """Gives the page and the extension, in its own folder, the files of folders or lists of files, under the same
        names. Snapshots belong to their side, too.
        """
        here = tempfile.mkdtemp(dir=self.folder)
        for side, given in sides.items():
            if isinstance(given, str):
                given = [os.path.join(given, name) for name in sorted(os.listdir(given))]
            files = [path for path in given if os.path.isfile(path)]
            os.mkdir(os.path.join(here, side))
            for path in files:
                os.symlink(path, os.path.join(here, side, os.path.basename(path)))
            self.choose(side.removesuffix("_memory"), files)
        return here

    def native(self, here, sql):
        """Rows or the error, with numbers as text like on the page."""
        before = os.getcwd()
        os.chdir(here)
        try:
            db = connect()
            db.text_factory = lambda data: data.decode("utf-8", "replace")
            return [list(row) for row in db.execute(sql)]
        except sqlite3.Error as error:
            return str(error)
        finally:
            os.chdir(before)

    def asked(self, sql):
        """Rows or the error on the page."""
        answer = self.page.value(f"asked({json.dumps(sql)}).then(answer => JSON.stringify(answer))")
        answer = json.loads(answer)
        if "error" in answer:
            return answer["error"]
        kinds = {1: int, 2: float, 3: str}
        return [[None if value is None else kinds[kind](value) for value, kind in zip(row, types)]
                for row, types in zip(answer["rows"], answer["types"])]

    def same(self, here, sql):
        """Asserts that the page gives the extension's answers. Versions of SQLite print REAL with 15 or 17 digits."""
        expected, found = self.native(here, sql), self.asked(sql)
        if isinstance(expected, str) or isinstance(found, str):
            self.assertEqual(found, expected)
            return found
        self.assertEqual(len(found), len(expected))
        for mine, theirs in zip(found, expected):
            self.assertEqual([type(value) for value in mine], [type(value) for value in theirs])
            for value, other in zip(mine, theirs):
                if isinstance(value, float):
                    self.assertAlmostEqual(value, other, delta=abs(other) * 1e-14)
                elif value != other and isinstance(value, str):
                    self.assertEqual(shortest(value), shortest(other))
                else:
                    self.assertEqual(value, other)
        return found


# One query of each family over the examples.
QUERIES = [
    "SELECT * FROM trace_files('control')",
    "SELECT count(*), sum(dur_ns), sum(ts_ns % 1000) FROM trace_events('test')",
    "SELECT * FROM trace_events('control') ORDER BY rank, event LIMIT 200",
    "SELECT * FROM trace_diff('control', 'test')",
    "SELECT * FROM compare_traces('control', 'test')",
    "SELECT * FROM ops_diff('control', 'test')",
    "SELECT * FROM trace_summary('control', 'test')",
    "SELECT * FROM trace_steps('control')",
    "SELECT * FROM step_diff('control', 'test')",
    "SELECT * FROM temporal_breakdown('test')",
    "SELECT * FROM gpu_kernel_breakdown('test')",
    "SELECT * FROM critical_path('control')",
    "SELECT * FROM idle_time('control')",
    "SELECT * FROM comm_comp_overlap('test')",
    "SELECT name, sum(dur_ns), avg(dur_ns) FROM trace_events('control') GROUP BY name ORDER BY name",
    "SELECT count(*) FROM tracediff_help",
    "SELECT name, family, question FROM tracediff_help",
    "SELECT * FROM trace_events('nowhere')",
    "SELECT * FROM trace_diff('control', 'test', control_rank := 7)",
    "SELECT * FROM trace_diff('control', 'test', 7)",
    "SELECT nothing FROM trace_events('control')",
    "SELECT 'x' || char(0) || 'ü', 1e300, -0.5, 9223372036854775807, NULL, 1.0",
]


# Queries that read most of a file, with sums where there are many rows.
OF_TRACES = [
    "SELECT * FROM trace_files('control')",
    "SELECT * FROM trace_metadata('control')",
    "SELECT * FROM trace_events('control') ORDER BY rank, event LIMIT 500",
    "SELECT rank, device, ph, cat, name, count(*), count(link), sum(link % 1009), sum(event % 1009), sum(dur_ns), "
    "sum(ts_ns % 1000003), sum(stream % 1009), sum(correlation % 1009), sum(iteration), count(DISTINCT tid), "
    "count(args) FROM trace_events('control', 'all') GROUP BY 1, 2, 3, 4, 5",
    "SELECT rank, event, args FROM trace_events('control', 'all') WHERE event % 37 = 5 LIMIT 300",
    "SELECT rank, class, name, sum(time_ns) FROM trace_step_time('control', 'all', 'all') GROUP BY 1, 2, 3",
    "SELECT * FROM trace_ops('control', 'all', 'all')",
    "SELECT text FROM trace_summary('control', 'control')"]
OF_MEMORY = [
    "SELECT * FROM memory_files('control_memory')",
    "SELECT * FROM memory_events('control_memory') LIMIT 500",
    "SELECT rank, device, action, count(*), sum(size), sum(addr % 1000003), max(addr), sum(time_us % 1009) "
    "FROM memory_events('control_memory') GROUP BY 1, 2, 3",
    "SELECT * FROM memory_segments('control_memory')",
    "SELECT * FROM memory_peak('control_memory')",
    "SELECT text FROM memory_summary('control_memory', 'control_memory')"]


class Answers(Driven):
    def test_the_example_is_one_click(self):
        self.press("example")
        self.assertIsNone(self.error())
        report = self.page.value("document.getElementById('report').srcdoc")
        self.assertEqual(report, self.native(os.path.join(EXAMPLES, "gpu"),
                                             "SELECT html FROM trace_diff_report('control', 'test')")[0][0])
        rows = self.console("SELECT text FROM trace_summary('control', 'test')")
        self.assertEqual(rows, [["text"]] + self.native(os.path.join(EXAMPLES, "gpu"),
                                                        "SELECT text FROM trace_summary('control', 'test')"))

    def test_queries_over_examples(self):
        for sides in (GPU, CPU):
            here = self.both(**sides)
            for sql in QUERIES:
                with self.subTest(sql, sides=sides["control"]):
                    self.same(here, sql)

    def test_snapshots_of_memory(self):
        for side in ("control", "test"):
            self.choose(side, [*glob.glob(f"{GPU[side]}/*"), *glob.glob(f"{MEMORY[side]}/*")])
        self.assertIn("Memory: ", self.page.value("document.querySelector('[data-side=control]').textContent"))
        here = tempfile.mkdtemp(dir=self.folder)
        for side in ("control", "test"):
            os.symlink(GPU[side], f"{here}/{side}")
            os.symlink(MEMORY[side], f"{here}/{side}_memory")
        self.same(here, "SELECT * FROM memory_summary('control_memory')")
        self.press("compare")
        self.assertEqual(self.page.value("document.getElementById('report').srcdoc"), self.native(
            here, "SELECT html FROM trace_diff_report('control', 'test') "
            "WHERE control_memory = 'control_memory' AND test_memory = 'test_memory'")[0][0])
        # Traces alone replace everything.
        self.choose("control", glob.glob(f"{GPU['control']}/*"))
        self.assertNotIn("Memory: ", self.page.value("document.querySelector('[data-side=control]').textContent"))
        self.choose("test", glob.glob(f"{GPU['test']}/*"))

    def test_sides_are_swapped(self):
        here = self.both(**GPU)
        self.press("swap")
        self.page.wait("asked('SELECT 1').then(() => true)")
        os.rename(f"{here}/control", f"{here}/was")
        os.rename(f"{here}/test", f"{here}/control")
        os.rename(f"{here}/was", f"{here}/test")
        self.same(here, "SELECT * FROM trace_diff('control', 'test')")

    def test_only_queries_run(self):
        for sql in ("CREATE TABLE t(x)", "INSERT INTO t VALUES (1)", "ATTACH 'x.db' AS x", "DETACH main", "VACUUM",
                    "PRAGMA trusted_schema = ON", "PRAGMA table_list", "BEGIN", "ANALYZE", "VACUUM INTO 'x'",
                    "SAVEPOINT s", "CREATE TEMP VIEW v AS SELECT 1", "DROP TABLE t", "SELECT 1; CREATE TABLE t(x)",
                    "EXPLAIN CREATE TABLE t(x)", "WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a"):
            with self.subTest(sql):
                self.assertIn(self.asked(sql), ("only queries can be run here: SELECT, VALUES, WITH and EXPLAIN",
                                                "no such table: t"))
        self.assertEqual(self.asked("SELECT count(*) FROM sqlite_schema"), [[0]])
        self.assertEqual(self.asked("SELECT load_extension('x')"), "not authorized")
        for sql in ("SELECT 1", "VALUES (1)", "WITH a(x) AS (VALUES (1)) SELECT * FROM a",
                    "SELECT 2; SELECT 1 -- last"):
            self.assertEqual(self.asked(sql), [[1]])
        self.assertEqual(self.asked("-- nothing"), [])
        self.assertNotIsInstance(self.asked("EXPLAIN SELECT 1"), str)
        self.assertNotIsInstance(self.asked("SELECT * FROM pragma_function_list"), str)

    def test_errors_are_shown(self):
        self.console("SELECT * FROM trace_events('gone')")
        self.assertEqual(self.error(), self.native(self.folder, "SELECT * FROM trace_events('gone')"))
        self.console("SELECT 1")
        self.assertIsNone(self.error())

    def test_functions_are_found_beside_it(self):
        found = self.page.value("document.querySelectorAll('#functions li').length")
        self.assertEqual([[found]], self.native(self.folder, "SELECT count(*) FROM tracediff_help"))
        self.page.value("void (document.getElementById('find').value = 'trace_diff_report', "
                        "document.getElementById('find').oninput(), "
                        "document.querySelector('#functions button').click())")
        self.assertEqual([[self.text("text")]], self.native(
            self.folder, "SELECT text FROM tracediff_help WHERE name = 'trace_diff_report'"))
        self.page.value("void (document.getElementById('find').value = '', document.getElementById('find').oninput())")

    def test_what_is_long_is_cancelled(self):
        here = self.both(**GPU)
        self.page.value(f"void (document.getElementById('sql').value = {json.dumps(LONG)}, "
                        "document.getElementById('run').click())")
        self.page.wait("!document.getElementById('cancel').hidden")
        self.press("cancel")
        self.assertIsNone(self.error())
        self.assertEqual(self.text("status"), "Cancelled.")
        self.console("SELECT 1")
        self.same(here, "SELECT * FROM trace_diff('control', 'test')")

    def test_files_of_other_profilers(self):
        for path in ("nsys/nsys_rules_one.sqlite", "rocpd/rocpd_v3.db", "ascend/ascend_pytorch_profiler_5.db",
                     "pftrace/control.pftrace"):
            here = self.both(control=[os.path.join(DATA, path)])
            for sql in OF_TRACES:
                with self.subTest(path, sql=sql):
                    self.assertIsInstance(self.same(here, sql), list)


class Chosen(Driven):
    def test_it_says_what_is_to_be_done_next(self):
        page = self.opened()
        self.addCleanup(page.close)
        hint = "document.getElementById('hint').textContent"
        self.assertEqual(page.value(hint), "Choose the trace of Control.")
        self.choose("control", glob.glob(f"{GPU['control']}/*"), page)
        self.assertEqual(page.value(hint), "Choose the trace of Test.")
        self.choose("test", glob.glob(f"{GPU['test']}/*"), page)
        self.assertEqual(page.value(hint), "")
        page.value("void document.getElementById('compare').focus()")
        page.key("Enter", 13)
        page.wait("document.getElementById('report').getBoundingClientRect().top < 100 && "
                  "!document.getElementById('report').hidden")
        self.assertEqual(page.value("document.activeElement.id"), "compare")
        self.drop(page, "#bar", glob.glob(f"{GPU['test']}/*"))
        page.wait("document.getElementById('error').textContent.startsWith('Drop the trace on one of the sides')")
        self.assertEqual(page.problems(), [])

    def test_dumps_of_a_job_that_hangs(self):
        page = self.opened()
        self.addCleanup(page.close)
        self.choose("control", glob.glob(os.path.join(EXAMPLES, "hangs", "never_called", "*")), page)
        self.assertEqual(page.value("document.getElementById('hint').textContent"),
                         "These are dumps of a hanging job: press Run below.")
        self.assertTrue(page.value("document.getElementById('compare').disabled"))
        page.press("#run")
        page.wait("document.getElementById('cancel').hidden && document.querySelectorAll('#rows tr').length > 0")
        rows = page.value("[...document.querySelectorAll('#rows tr')].map(row => row.cells[0].textContent)")
        self.assertEqual([[row] for row in rows[1:]], self.native(
            os.path.join(EXAMPLES, "hangs"), "SELECT text FROM hang_summary('never_called')"))
        self.choose("control", glob.glob(f"{GPU['control']}/*"), page)
        self.assertEqual(page.value("document.getElementById('hint').textContent"), "Choose the trace of Test.")

    @staticmethod
    def drop(page, selector, files):
        x, y = page.value("(r => [r.x + 20, r.y + 20])"
                          f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())")
        for kind in ("dragEnter", "dragOver", "drop"):
            page.call("Input.dispatchDragEvent", type=kind, x=x, y=y,
                      data={"items": [], "files": files, "dragOperationsMask": 1})

    def test_a_folder_is_chosen_or_dropped(self):
        count = "SELECT count(*) FROM trace_files('control')"
        self.choose("control", GPU["control"])
        self.assertEqual(self.asked(count), [[2]])
        for dropped, expected in (([CPU["control"]], "rank0.pt.trace.json.gz, rank1.pt.trace.json.gz: 761 KB"),
                                  (glob.glob(f"{GPU['test']}/rank0*"), "rank0.pt.trace.json.gz: 50 KB")):
            self.drop(self.page, "[data-side=control]", dropped)
            self.page.wait("document.querySelector('[data-side=control] .chosen').textContent === "
                           + json.dumps(expected))
        self.assertEqual(self.asked("SELECT sum(rank) FROM trace_files('control')"), [[0]])
        empty = tempfile.mkdtemp(dir=os.path.dirname(PAGE))  # Chromium reads no folder of /dev/shm by its handle
        self.addCleanup(os.rmdir, empty)
        self.drop(self.page, "[data-side=control]", [empty])
        self.page.wait("document.getElementById('error').textContent === 'There are no files in it.'")
        self.assertEqual(self.asked("SELECT sum(rank) FROM trace_files('control')"), [[0]])

    def test_what_was_answered_goes_with_its_files(self):
        shown = ("[document.getElementById('report').hidden, document.getElementById('keep').hidden, "
                 "document.getElementById('csv').disabled, !document.querySelector('#rows table'), "
                 "document.getElementById('status').textContent === '']")
        for what in ("swap", "choose"):
            self.both(**GPU)
            self.press("compare")
            self.console("SELECT 1")
            self.assertEqual(self.page.value(shown), [False] * 5)
            if what == "swap":
                self.press("swap")
            else:
                self.choose("test", glob.glob(f"{CPU['test']}/*"))
            self.assertEqual(self.page.value(shown), [True] * 5, what)

    def test_other_files_cancel_what_is_asked_of_those_before(self):
        self.both(**GPU)
        self.page.value(f"void (document.getElementById('sql').value = {json.dumps(LONG)}, "
                        "document.getElementById('run').click())")
        self.page.wait("!document.getElementById('cancel').hidden")
        here = self.both(control=CPU["control"])
        self.done()
        self.assertIsNone(self.error())
        self.same(here, "SELECT * FROM trace_files('control')")

    def test_what_is_asked_waits_for_files_that_are_copied(self):
        """Queries wait for files that are still being copied, which takes a while for large ones in browsers whose
        workers cannot read files.
        """
        page = self.opened()
        self.addCleanup(page.close)
        page.value("void (reads = false, window.bytes = File.prototype.arrayBuffer, "
                   "File.prototype.arrayBuffer = function () { return new Promise(done => setTimeout(() => "
                   "done(bytes.call(this)), 300)); })")
        for side in ("control", "test"):
            self.choose(side, glob.glob(f"{GPU['control']}/*"), page)
        page.choose("[data-side=test] input:not([webkitdirectory])", glob.glob(f"{GPU['test']}/*"))
        page.press("#compare")
        page.wait("!document.getElementById('report').hidden")
        self.assertEqual(page.value("document.getElementById('report').srcdoc"), self.native(
            os.path.join(EXAMPLES, "gpu"), "SELECT html FROM trace_diff_report('control', 'test')")[0][0])
        self.assertEqual(page.problems(), [])

    def test_keys_lead_from_opening_to_the_answer(self):
        """Three actions lead from opening to the answer: a file per side, and Compare. Tab reaches each, and Enter
        opens it.
        """
        page = self.opened()
        self.addCleanup(page.close)
        page.call("Page.setInterceptFileChooserDialog", enabled=True)
        for actions, (name, files) in enumerate((("control", glob.glob(f"{GPU['control']}/*")),
                                                 ("test", glob.glob(f"{GPU['test']}/*")), ("compare", None))):
            wanted = (f"document.activeElement.matches('[data-side={name}] input, #{name}')" if files else
                      f"document.activeElement.id === '{name}'")
            for _ in range(8):
                page.key("Tab", 9)
                if page.value(wanted):
                    break
            self.assertTrue(page.value(wanted), name)
            page.key("Enter", 13)
            if files:
                opened = [event["params"] for event in self.driver.events
                          if event["method"] == "Page.fileChooserOpened"]
                self.assertEqual(len(opened), actions + 1)
                page.call("DOM.setFileInputFiles", files=files, backendNodeId=opened[-1]["backendNodeId"])
                page.wait(f"folders.{name}.length === 2 && !document.getElementById('run').disabled")
        page.wait("!document.getElementById('report').hidden")
        self.assertTrue(page.value("document.getElementById('status').textContent.startsWith('Compared in ')"))
        self.assertTrue(page.value("document.getElementById('report').getBoundingClientRect().top < 100"))
        self.assertEqual(page.problems(), [])

    def test_screen_readers_can_name_everything(self):
        page = self.opened()
        self.addCleanup(page.close)
        page.value("void document.getElementById('example').click()")
        page.wait("!document.getElementById('report').hidden")
        page.value("void (document.getElementById('progress').hidden = false, "
                   "document.querySelector('#functions button').click())")
        nodes = page.call("Accessibility.getFullAXTree")["nodes"]
        found = Counter((node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes
                        if not node["ignored"])
        for role in ("button", "textbox", "searchbox", "progressbar", "region", "group", "Iframe", "heading"):
            names = [name for kind, name in found if kind == role]
            self.assertTrue(names, role)
            self.assertNotIn("", names, role)
        for named in (("group", "Control the baseline"), ("group", "Test what is compared with it"),
                      ("progressbar", "Files read"), ("region", "Help"), ("region", "Rows"), ("status", "")):
            self.assertEqual(found[named], 1, named)
        live = page.value("[...document.querySelectorAll('[aria-live], [role=status], [role=alert]')]"
                          ".map(element => element.id || element.className)")
        self.assertEqual(set(live), {"chosen", "snapshots", "status", "hint", "error", "text"})
        self.assertEqual(page.problems(), [])

    def test_nothing_moves_for_those_who_do_not_want_it(self):
        page = self.opened()
        self.addCleanup(page.close)
        page.value("void (document.getElementById('progress').hidden = false, "
                   "document.getElementById('progress').removeAttribute('value'))")
        shown = "getComputedStyle(document.getElementById('progress')).display"
        for wanted, expected in (("no-preference", "block"), ("reduce", "none")):
            page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": wanted}])
            self.assertEqual(page.value(shown), expected)
        page.value("void (document.getElementById('progress').value = 0.5)")
        self.assertEqual(page.value(shown), "block")
        self.assertEqual(page.value("document.getAnimations().length"), 0)
        self.assertEqual(page.problems(), [])


class Console(Driven):
    def test_rows_are_copied_as_csv(self):
        self.driver.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        self.console("SELECT 'a,\"b' || char(10) AS x, NULL AS y, 1.5 AS z, x'00ff' AS \"q,\"")
        self.press("csv")
        self.assertIsNone(self.error())
        copied = self.page.value("navigator.clipboard.readText()")
        self.assertEqual(list(csv.reader(io.StringIO(copied, newline=""))),
                         [["x", "y", "z", "q,"], ['a,"b\n', "", "1.5", "00ff"]])
        rows = self.console("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2500) "
                            "SELECT i FROM n")
        self.assertEqual(len(rows), 1001)
        self.assertTrue(self.text("status").startswith("The first 1000 rows in"))
        self.press("csv")
        self.assertEqual(self.page.value("navigator.clipboard.readText()").split(),
                         ["i"] + [str(i) for i in range(1, 2501)])

    def downloaded(self, button, name):
        target = tempfile.mkdtemp(dir=self.folder)
        self.driver.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=target)
        self.press(button)
        self.assertIsNone(self.error())
        path, until = os.path.join(target, name), time.monotonic() + browser.PATIENCE
        while not os.path.exists(path):
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
        return path

    def test_rows_are_saved_as_a_database(self):
        here = self.both(**GPU)
        self.console("SELECT 1; SELECT name, control_counts, x'00' AS b FROM trace_diff('control', 'test'); -- saved")
        path = self.downloaded("save", "result.db")
        self.assertEqual([list(row) for row in sqlite3.connect(path).execute("SELECT * FROM result")], self.native(
            here, "SELECT name, control_counts, x'00' AS b FROM trace_diff('control', 'test')"))
        self.assertEqual(self.asked("SELECT name FROM pragma_database_list WHERE name <> 'temp'"), [["main"]])

    def test_the_report_is_saved(self):
        here = self.both(**GPU)
        self.press("compare")
        html = self.native(here, "SELECT html FROM trace_diff_report('control', 'test')")[0][0]
        self.assertEqual(pathlib.Path(self.downloaded("keep", "report.html")).read_text(encoding="utf-8"), html)

    def test_keys_are_enough(self):
        self.page.value("void (document.getElementById('sql').value = 'SELECT 42', "
                        "document.getElementById('sql').focus())")
        for kind in ("keyDown", "keyUp"):
            self.page.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13,
                           modifiers=2)
        self.page.wait("document.getElementById('rows').textContent.includes('42')")
        # Tab reaches each control, and the focus is visible.
        self.page.value("void (document.getElementById('report').onload = () => { window.loaded = true; })")
        self.press("example")
        self.page.wait("window.loaded")
        wanted, reached = {"file", "swap", "compare", "example", "keep", "report"}, set()
        self.page.value("void (document.querySelector('h1').tabIndex = -1)")
        for _ in range(5):  # the report is in another process, which takes the focus after drawing
            self.page.value("document.querySelector('h1').focus()")
            for _ in range(12):
                self.page.key("Tab", 9)
                reached.add(self.page.value("document.activeElement.id || document.activeElement.type"))
            if wanted <= reached:
                break
        self.assertLessEqual(wanted, reached)


class Hostile(Driven):
    NAMES = ["quote'\".json", "<script>alert(1)</script>.json", "line\nbreak.json", "..json", "...json", "%2e%2e.json",
             "back\\slash.json", "*.json", "[1].json", "-dash.json", "ünï 🙂.json", " .json", "rank3.json"]

    def test_names(self):
        made = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        for i, name in enumerate(self.NAMES):
            name = name.replace("/", "\u2215")
            (made / name).write_text(json.dumps(document(event("op", i, 5))))
        here = self.both(control=str(made))
        self.same(here, "SELECT * FROM trace_files('control') ORDER BY file")
        found = self.same(here, "SELECT rank, name, ts_ns FROM trace_events('control') ORDER BY rank, ts_ns")
        self.assertEqual(len(found), sum(not name.startswith(".") for name in self.NAMES))

    def test_a_file_that_changes(self):
        path = pathlib.Path(tempfile.mkdtemp(dir=self.folder), "rank0.json")
        path.write_text(json.dumps(document(event("op", 0, 5))))
        self.choose("control", [str(path)])
        path.write_text(json.dumps(document(event("op", 0, 5), event("op", 7, 5))))
        for _ in range(2):
            self.assertEqual(self.asked("SELECT count(*) FROM trace_events('control')"),
                             "trace_events: cannot read 'control/rank0.json': I/O error\n"
                             "A file has changed since it was chosen: choose it again.")
        self.choose("control", [str(path)])
        self.assertEqual(self.asked("SELECT count(*) FROM trace_events('control')"), [[2]])

    def test_one_name_twice(self):
        files = [*glob.glob(f"{GPU['control']}/rank0*"), *glob.glob(f"{GPU['test']}/rank0*")]
        self.choose("control", files)
        self.assertEqual(self.page.value("folders.control.map(file => file.name)"),
                         ["rank0.pt.trace.json.gz", "again_rank0.pt.trace.json.gz"])
        here = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        (here / "control").mkdir()
        for path, name in zip(files, ("rank0.pt.trace.json.gz", "again_rank0.pt.trace.json.gz")):
            shutil.copy(path, here / "control" / name)
        self.same(str(here), "SELECT * FROM trace_files('control')")

    def test_damaged_files(self):
        for path in sorted(glob.glob(os.path.join(glob.escape(corpus("bad")), "*"))):
            name = os.path.basename(path)
            if not os.path.isfile(path) or not name.endswith((".json", ".gz")) or not os.access(path, os.R_OK):
                continue
            with self.subTest(name):
                here = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
                (here / "control").mkdir()
                shutil.copy(path, here / "control" / name)
                self.choose("control", [path])
                for sql in ("SELECT * FROM trace_files('control')",
                            "SELECT * FROM trace_events('control') ORDER BY event LIMIT 50"):
                    self.same(str(here), sql)


class Asking(sqlite3.Connection):
    """The extension. Every query also goes to the page, on the same files, and must give the same rows."""

    driven = None

    def execute(self, sql, values=()):
        self.driven.ask_beside(sql, values)
        return super().execute(sql, values)


TOKENS = re.compile(r"""'(?:[^']|'')*'|"[^"]*"|\?(\d*)|:(\w+)""")


def written(sql, values):
    """The SQL with its parameters inlined."""
    def literal(value):
        return "NULL" if value is None else "'" + value.replace("'", "''") + "'" if isinstance(value, str) \
            else repr(value)

    def replaced(token):
        if token[2] is not None:
            return literal(values[token[2]])
        if token[1] is None:
            return token[0]
        place[0] = int(token[1]) if token[1] else place[0] + 1
        return literal(values[place[0] - 1])

    place = [0]
    return TOKENS.sub(replaced, sql)


@slow
class Goldens(Driven):
    """The tests of recorded answers, with a connection that queries the page, too."""

    TESTS = {"test_golden": None, "test_step_time": ["Golden"], "test_job": ["Golden"], "test_serving": ["Golden"],
             "test_memory": ["Recorded"], "test_nsys": ["Golden"], "test_counters": ["Golden"],
             "test_names": ["Goldens.test_short_names", "Names.test_golden_stable_names", "Names.test_golden_phases"],
             "test_aggregates": ["KernelType.test_names_of_kernels_of_communication"],
             "test_critical_path": ["Hta"], "test_differs": ["Differs.test_every_call_on_every_trace"]}

    def ask_beside(self, sql, values):
        """Queries the page with 'control' and 'test' in place of the paths in the SQL."""
        sql, sides = written(sql, values), {}
        for path in dict.fromkeys(token[0][1:-1] for token in TOKENS.finditer(sql) if token[0].startswith("'")):
            files = sorted(glob.glob(path))
            if files == [path] and os.path.isdir(path):
                files = [file for file in sorted(glob.glob(os.path.join(path, "*"))) if os.path.isfile(file)]
            if files:
                side = ("control", "test")[len(sides)] + ("_memory" if files[0].endswith(".pickle") else "")
                sides[side] = [os.path.abspath(file) for file in files]
                sql = sql.replace(f"'{path}'", f"'{side}'")
        state = [(path, os.stat(path).st_mtime_ns) for files in sides.values() for path in files]
        if state != self.state:
            self.here, self.state = self.both(**sides), state
        self.same(self.here, sql)
        self.count += 1

    # The source of a golden file's rows, by its name and sql/HTA.md: for one trace, and for two.
    OF_TRACE = {
        r"get_(temporal_breakdown|comm_comp_overlap|memory_bw_time_series|memory_bw_summary|queue_length_time_series"
        r"|queue_length_summary|cuda_kernel_launch_stats|aten_op_kernels_and_delay|idle_time_breakdown"
        r"|gpu_kernels_with_user_annotations|gpu_user_annotation_breakdown|potential_stragglers)":
            r"SELECT * FROM \1(?, 'all')",
        r"get_idle_time_breakdown\.interval_stats": "SELECT * FROM idle_interval_stats(?, 'all')",
        r"get_gpu_kernel_breakdown\.kernel_type(\.all)?": "SELECT * FROM gpu_kernel_type_breakdown(?, 'all')",
        r"get_gpu_kernel_breakdown\.kernels": "SELECT * FROM gpu_kernel_breakdown(?, 'all')",
        r"get_gpu_kernel_breakdown\.kernels\.all":
            "SELECT * FROM gpu_kernel_breakdown(?, 'all') WHERE num_kernels = 1000000",
        r"get_gpu_user_annotation_breakdown\.cpu":
            "SELECT * FROM gpu_user_annotation_breakdown(?, 'all') WHERE use_gpu_annotation = 0",
        r"get_time_spent_blocked_on_full_queue\.(\d+)":
            r"SELECT * FROM time_spent_blocked_on_full_queue(?, 'all') WHERE max_queue_length = \1",
        r"get_frequent_cuda_kernel_sequences\.minlen3":
            "SELECT value, found.* FROM json_each(?2) CROSS JOIN frequent_cuda_kernel_sequences AS found "
            "WHERE trace = ?1 AND ranks = 'all' AND operator_name = value AND min_pattern_len = 3",
        r"get_frequent_cuda_kernel_sequences\.overlay":
            "SELECT * FROM frequent_cuda_kernel_sequences(?, 'aten::') WHERE min_pattern_len = 1",
        r"get_profiler_steps": "SELECT * FROM trace_steps(?)",
        r"generate_trace_with_counters": "SELECT * FROM trace_counter_events(?)",
        r"(loaded|parsed)_summary": test_golden.EventsPerIteration.QUERY,
        r"(loaded|parsed)_events_rank(\d+)": r"SELECT * FROM trace_events(?, \2)"}
    OF_PAIR = re.compile(r"(compare_traces|ops_diff)\.(ALL|CPU|GPU)(?:\.(name|short_name))?(?:\.([\w-]+))?")

    def ask_for(self, folder, name):
        """Queries the rows of a golden file that no test above has read."""
        db = self.connect()
        if pair := self.pairs.get(folder):
            if side := re.fullmatch(r"ops_summary\.(control|test)", name):
                return db.execute("SELECT * FROM trace_ops(?)", (pair.traces()[side[1] == "test"],)).fetchall()
            function, device, key, variant = self.OF_PAIR.fullmatch(name).groups()
            arguments = {**pair.arguments, **pair.variants[variant or ""], "use_short_name": int(key == "short_name")}
            if function == "ops_diff":
                del arguments["use_short_name"]
            return test_golden.from_sql(db, function, *pair.traces(), device_type=device, **arguments)[1]
        (pattern, sql), = [(pattern, sql) for pattern, sql in self.OF_TRACE.items() if re.fullmatch(pattern, name)]
        trace, sql = self.traces[folder], re.sub(pattern, sql, name)
        return db.execute(sql, (trace, json.dumps(test_hta.OPERATORS)) if "?2" in sql else (trace,)).fetchall()

    def find_traces(self):
        """The traces for the folders of golden files."""
        pairs = test_golden.CorpusPair.__subclasses__() + test_golden.ShippedPair.__subclasses__()
        self.pairs = {case.folder: case() for case in pairs}
        amd = self.pairs[test_golden.AmdAgainstTriton.folder] = test_golden.CorpusPair()
        amd.control, amd.test = "hta/amd_trace", "hta/triton_example"
        self.traces = {case.folder: corpus("hta", *case.path.split("/")) for case in
                       test_hta.GoldenTrace.__subclasses__() + test_hta.Overlaid.__subclasses__()
                       if hasattr(case, "folder")}

    def connect(self):
        db = sqlite3.connect(":memory:", factory=Asking)
        db.enable_load_extension(True)
        sqlite3.Connection.execute(db, "SELECT load_extension(?)", (EXTENSION,))
        return db

    def test_goldens(self):
        """The rows of every golden file match; none of the traces is too large for the page."""
        read, opened = set(), open

        def reading(path, *arguments, **more):
            if isinstance(path, str) and path.startswith(golden() + os.sep):
                read.add(os.path.relpath(path, golden()))
            return opened(path, *arguments, **more)

        corpus()
        files = {os.path.relpath(path, golden()) for path in glob.glob(os.path.join(glob.escape(golden()), "*", "*"))}
        Asking.driven, self.state, self.here, self.count = self, None, self.folder, 0
        for name, tests in self.TESTS.items():
            module = importlib.import_module(name)
            suite = unittest.defaultTestLoader.loadTestsFromNames(tests or [name], module if tests else None)
            result = unittest.TestResult()
            with unittest.mock.patch("builtins.open", reading), \
                    unittest.mock.patch.object(module, "connect", self.connect, create=True), \
                    unittest.mock.patch("made.connect", self.connect):
                suite.run(result)
            with self.subTest(name):
                self.assertEqual([text for _, text in result.failures + result.errors], [])
                self.assertEqual(result.skipped, [])
                self.assertGreater(result.testsRun, 0)
        self.find_traces()
        for path in sorted(files - read):
            with self.subTest(path):
                folder, name = os.path.split(path)
                self.ask_for(folder, name.removesuffix(".csv"))
        self.assertGreater(self.count, 1000)
        print(f"\nGolden files whose rows the page gave: {len(files)} of {len(files)}, {len(files & read)} of them for "
              f"tests that read them; {self.count} queries. Not rows: "
              + ", ".join(name for name in sorted(os.listdir(golden())) if os.path.isfile(golden(name))))


@slow
class Files(Driven):
    """Files of every kind, each alone or with the files that it needs."""

    answered = Counter()

    def check(self, path):
        snapshot = re.search(r"\.pickle(\.gz)?$", path)
        here = self.both(**{"control_memory" if snapshot else "control": [path]})
        for sql in OF_MEMORY if snapshot else OF_TRACES:
            with self.subTest(os.path.relpath(path, ROOT), sql=sql):
                self.answered[sql] += isinstance(self.same(here, sql), list)

    def check_all(self, folders):
        self.answered = Counter()
        files = [path for folder in folders
                 for path in found_below(folder, "**", "*")
                 if path.endswith((".json", ".gz", ".sqlite", ".db", ".pb", ".pickle", ".pftrace"))]
        for path in files:
            self.check(path)
        for sql in OF_TRACES + OF_MEMORY:
            self.assertGreater(self.answered[sql], 5, sql)
        return len(files)

    def test_that_ship(self):
        self.check_all([os.path.join(DATA, name) for name in ("ascend", "nsys", "pftrace", "rocpd")]
                       + [os.path.join(EXAMPLES, "memory")])

    def test_of_the_corpus(self):
        self.assertGreater(self.check_all(corpus(name) for name in sorted(os.listdir(corpus())) if name != "bad"), 100)

    def test_made_ones(self):
        """Generated XLA profiles and rocprofv3 JSON give the same rows, also damaged."""
        here = tempfile.mkdtemp(dir=self.folder)
        for seed in range(10):
            rng = random.Random(seed)
            made = ((f"{seed}.xplane.pb", generate_xplane.generate(rng, tidy=seed % 2 == 0)),
                    (f"{seed}_results.json", json.dumps(generate_rocprof.generate(rng, tidy=seed % 2 == 0)).encode()))
            for name, data in made:
                path = pathlib.Path(here, name)
                path.write_bytes(data)
                self.check(str(path))

    @slowest
    def test_above_4_GB(self):
        """Offsets above 32 bits work: in a snapshot, whose memory they bound, and in a profile with a skipped field.
        Both need little memory. The profile is read three times: 13 GB, which takes the page 22 s on two loaded cores.
        """
        here, more = tempfile.mkdtemp(dir=self.folder), 2 ** 32
        events = [{"action": "alloc", "addr": 0x7f0000000000 + 512 * i, "size": 512, "stream": 0,
                   "time_us": 10 ** 15 + i, "frames": []} for i in range(700_000)]
        made = pickle.dumps({"segments": [], "device_traces": [events], "z": b""}, 3)
        zeros = gzip.compress(bytes(2 ** 26), 1)
        self.enterContext(unittest.mock.patch("browser.PATIENCE", 600))
        with open(f"{here}/rank0.pickle.gz", "wb") as file:
            file.write(gzip.compress(b"\x80\x04" + made[2:made.rindex(b"C\0")] + b"\x8e" + struct.pack("<Q", more), 1))
            file.write(zeros * (more // 2 ** 26) + gzip.compress(b"u.", 1))
        self.assertIsInstance(self.same(self.both(control_memory=[f"{here}/rank0.pickle.gz"]),
                                        "SELECT * FROM memory_files('control_memory')"), list)
        plane = generate_xplane.generate(random.Random(4), tidy=True)
        with open(f"{here}/a.xplane.pb", "wb") as file:
            file.write(plane + generate_xplane.varint(15 << 3 | 2) + generate_xplane.varint(more))
            file.seek(more, os.SEEK_CUR)
            file.write(plane)
        self.assertIsInstance(self.same(self.both(control=[f"{here}/a.xplane.pb"]),
                                        "SELECT * FROM trace_files('control')"), list)

    @slowest
    @alone
    def test_a_large_database(self):
        """A large database is read in place, in large pieces."""
        path = shutil.copyfile(corpus("nsys", "mfu_2gpu_before.sqlite"), os.path.join(self.folder, "large.sqlite"))
        grow(path, 30)
        self.assertGreater(os.path.getsize(path), 7e7)
        here = self.both(control=[path])
        asks = "SELECT count(*), sum(ts_ns % 1009), sum(dur_ns) FROM trace_events('control', 'all')"
        began = time.process_time()
        self.native(here, asks)
        native = time.process_time() - began
        before = processes(self.driver.profile)
        self.assertIsInstance(self.same(here, asks), list)
        after = processes(self.driver.profile)
        self.assertLess(sum(after[number][0] - before.get(number, (0,))[0] for number in after), 4 * native)
        self.assertLess(max(most for _, most in after.values()), 5e8)


def processes(profile):
    """(CPU seconds, peak memory in bytes) by id of the browser's processes that draw pages and run workers. Only
    Chromium's first process has the profile in its command line; the others are its descendants.
    """
    found, below = {}, {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            fields = pathlib.Path(path).read_text(encoding="utf-8").rsplit(")", 1)[1].split()
            folder = pathlib.Path(path).parent
            command = (folder / "cmdline").read_text(encoding="utf-8")
            status = (folder / "status").read_text(encoding="utf-8")
        except (OSError, IndexError):
            continue
        most = [int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM")]
        number = int(folder.name)
        below[number] = int(fields[1])
        found[number] = ((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), sum(most), command)
    first = {number for number, (_, _, command) in found.items() if f"--user-data-dir={profile}" in command}

    def is_ours(number):
        while number in below and number not in first:
            number = below[number]
        return number in first

    return {number: (seconds, most) for number, (seconds, most, command) in found.items()
            if "--type=renderer" in command and is_ours(number)}


@slowest
@alone
class Large(Driven):
    """Two traces of 350 MB."""

    def test_cpu_time_and_memory(self):
        here = tempfile.mkdtemp(dir=self.folder)
        os.mkdir(f"{here}/control")
        os.mkdir(f"{here}/test")
        for side in ("control", "test"):
            subprocess.run([sys.executable, os.path.join(ROOT, "tests", "generators", "generate_bench.py"),
                            f"{here}/{side}/rank0.json", "350", "kineto", side], check=True, stdout=subprocess.DEVNULL)
        asks = "SELECT html FROM trace_diff_report('control', 'test')"
        script = ("import os, sys; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); "
                  "sys.path.insert(0, sys.argv[1]); from support import connect; "
                  "html = connect().execute(sys.argv[2]).fetchone()[0]; times = os.times(); "
                  "print(times.user + times.system); print(html)")
        native = subprocess.run([sys.executable, "-c", script, os.path.join(ROOT, "tests"), asks], cwd=here, check=True,
                                env={**os.environ, "TRACEDIFF": EXTENSION}, stdout=subprocess.PIPE, text=True).stdout
        seconds, _, html = native.partition("\n")
        for side in ("control", "test"):
            self.choose(side, [f"{here}/{side}/rank0.json"])
        before = processes(self.driver.profile)
        with unittest.mock.patch("browser.PATIENCE", 600):
            self.press("compare")
        after = processes(self.driver.profile)
        self.assertIsNone(self.error())
        self.assertEqual(self.page.value("document.getElementById('report').srcdoc"), html.removesuffix("\n"))
        spent = sum(after[number][0] - before.get(number, (0,))[0] for number in after)
        self.assertLess(spent, 4 * float(seconds))
        self.assertLess(max(most for _, most in after.values()), 2e9)


class Firefox(Answers):
    @classmethod
    def started(cls):
        return webdriver.start(webdriver.Firefox)


class WebKit(Answers):
    @classmethod
    def started(cls):
        return webdriver.start(webdriver.WebKit)


class Page(Driven):
    def test_it_is_small(self):
        drawn = self.asked("SELECT length(visualize_step_diff('compute', 'x', 1, 2))")[0][0]
        self.assertLess(os.path.getsize(PAGE), 3e6 if drawn < 5e5 else 5e6)

    def test_it_fits_phones(self):
        page = self.opened(width=390, height=844, mobile=True, dark=True)
        self.addCleanup(page.close)
        page.value("document.getElementById('example').click()")
        page.wait("document.getElementById('cancel').hidden && !document.getElementById('report').hidden")
        self.assertEqual(page.value("document.documentElement.scrollWidth"), 390)
        self.assertEqual(page.problems(), [])


@slowest
class Made(unittest.TestCase):
    """The latest page from `make web`."""

    @unittest.skipUnless(shutil.which("emcc") and os.path.exists(os.path.join(ROOT, "build", "web", "tracediff.wasm"))
                         and os.path.exists(PAGE), "there is no page that was made here: make web")
    def test_it_has_the_same_bytes_when_made_in_another_folder(self):
        """The page has the same bytes when it is built in another folder. A whole build takes 150 s of CPU time, so
        this compiles one object of each kind and three random ones, copies the others, and links.
        """
        web = pathlib.Path("build", "web")
        with tempfile.TemporaryDirectory() as folder:
            there = pathlib.Path(folder, "another")
            listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, text=True,
                                    capture_output=True).stdout.splitlines()
            for name in listed:
                (there / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(os.path.join(ROOT, name), there / name)
            for name in ("web", "charts"):
                shutil.copytree(os.path.join(ROOT, "build", name), there / "build" / name)
            objects = sorted(path.relative_to(there / web) for path in (there / web).rglob("*.o"))
            again = {path for path in objects if path.name in ("web.o", "assets.o", "scalars.o", "zutil.o")}
            self.assertEqual(len(again), 4)
            again.update(random.sample(objects, 3))
            for name in [*again, "tracediff.js", "tracediff.wasm"]:
                (there / web / name).unlink()
            commit = (there / web / "commit").read_text(encoding="ascii").strip()
            environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
            made = subprocess.run(["make", "web", f"COMMIT={commit}"], cwd=there, capture_output=True, text=True,
                                  env=environment)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertLess(made.stdout.count("  CC "), len(again) + 5, "all is made again")
            page = (there / "dist" / "tracediff.html").read_bytes()
            self.assertTrue(page == pathlib.Path(PAGE).read_bytes(), f"made again: {sorted(map(str, again))}")


if __name__ == "__main__":
    unittest.main()
