"""dist/tracediff.html, which `make web` makes: it answers as the extension does, from the disk and without a network.

CHROMIUM  the browser
WEB       the page (default dist/tracediff.html)
CORPUS    traces that do not ship (tests that need one are skipped without)
GOLDEN    HTA's outputs for them (likewise)
"""
import csv
import glob
import io
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

import browser
from made import document, event
from support import EXAMPLES, ROOT, alone, connect, corpus, slow, slowest
from test_golden import FIRST, both

PAGE = os.path.abspath(os.environ.get("WEB") or os.path.join(ROOT, "dist", "tracediff.html"))
GPU = {side: os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test")}
CPU = {side: os.path.join(EXAMPLES, "cpu", side) for side in ("control", "test")}
MEMORY = {side: os.path.join(EXAMPLES, "memory", "gpu", side) for side in ("control", "test")}
LONG = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


class Driven(unittest.TestCase):
    """The page in a tab, and the extension beside it in a folder that has the same files."""

    driver = None

    @classmethod
    def setUpClass(cls):
        if not browser.CHROMIUM:
            raise unittest.SkipTest("no Chromium")
        if not os.path.exists(PAGE):
            raise unittest.SkipTest(f"there is no {os.path.basename(PAGE)}: make web")
        cls.driver = browser.start()
        if not cls.driver:
            raise unittest.SkipTest("Chromium does not work here")
        cls.addClassCleanup(cls.driver.close)
        cls.page = cls.opened()
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    @classmethod
    def opened(cls, **how):
        page = cls.driver.open(PAGE, **how)
        page.wait("!document.getElementById('run').disabled || !document.getElementById('error').hidden")
        # From here on, a test asks the worker itself what the console would.
        page.value("void (window.asked = (sql, most = 1e9) => ask({sql, most}).then(answer => answer, error => "
                   "({error: error.message})))")
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
        """As a user does: some things need that."""
        self.page.call("Runtime.evaluate", expression=f"document.getElementById({json.dumps(name)}).click()",
                       userGesture=True)
        self.done()

    def choose(self, side, files, page=None):
        """Chooses files, or a folder if they are its path."""
        page = page or self.page
        which = "[webkitdirectory]" if isinstance(files, str) else ":not([webkitdirectory])"
        page.value("void (window.mounted = false)")
        root = page.call("DOM.getDocument")["root"]["nodeId"]
        node = page.call("DOM.querySelector", nodeId=root, selector=f"[data-side={side}] input{which}")["nodeId"]
        page.call("DOM.setFileInputFiles", nodeId=node, files=[files] if isinstance(files, str) else files)
        page.wait("new Promise(done => setTimeout(() => asked('SELECT 1').then(() => done(true))))")

    def console(self, sql):
        self.page.value(f"void (document.getElementById('sql').value = {json.dumps(sql)})")
        self.press("run")
        return self.page.value("[...document.querySelectorAll('#rows tr')].map(row => "
                               "[...row.cells].map(cell => cell.textContent))")

    def both(self, **sides):
        """Gives the page and the extension, in a folder of its own, the files of folders under the same names."""
        here = tempfile.mkdtemp(dir=self.folder)
        for side, folder in sides.items():
            os.symlink(folder, os.path.join(here, side))
            self.choose(side, sorted(path for path in glob.glob(os.path.join(glob.escape(folder), "*"))
                                     if os.path.isfile(path)))
        return here

    def native(self, here, sql):
        """Rows, or the error; numbers as the page has them, in text."""
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
        """Rows, or the error, as the page has them."""
        answer = self.page.value(f"asked({json.dumps(sql)}).then(answer => JSON.stringify(answer))")
        answer = json.loads(answer)
        if "error" in answer:
            return answer["error"]
        kinds = {1: int, 2: float, 3: str}
        return [[None if value is None else kinds[kind](value) for value, kind in zip(row, types)]
                for row, types in zip(answer["rows"], answer["types"])]

    def same(self, here, sql):
        """The page answers as the extension does. Versions of SQLite write REAL with 15 or 17 digits."""
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
                else:
                    self.assertEqual(value, other)
        return found


# Queries over the examples, one of each family.
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
        # Traces alone take the place of all.
        self.choose("control", glob.glob(f"{GPU['control']}/*"))
        self.assertNotIn("Memory: ", self.page.value("document.querySelector('[data-side=control]').textContent"))
        self.choose("test", glob.glob(f"{GPU['test']}/*"))

    def test_a_folder_is_chosen_or_dropped(self):
        count = "SELECT count(*) FROM trace_files('control')"
        self.choose("control", GPU["control"])
        self.assertEqual(self.asked(count), [[2]])
        for dropped, expected in (([CPU["control"]], "rank0.pt.trace.json.gz, rank1.pt.trace.json.gz: 0.761 MB"),
                                  (glob.glob(f"{GPU['test']}/rank0*"), "rank0.pt.trace.json.gz: 0.050 MB")):
            x, y = self.page.value("(r => [r.x + 20, r.y + 20])"
                                   "(document.querySelector('[data-side=control]').getBoundingClientRect())")
            for kind in ("dragEnter", "dragOver", "drop"):
                self.page.call("Input.dispatchDragEvent", type=kind, x=x, y=y,
                               data={"items": [], "files": dropped, "dragOperationsMask": 1})
            self.page.wait("document.querySelector('[data-side=control] .chosen').textContent === "
                           + json.dumps(expected))
        self.assertEqual(self.asked("SELECT sum(rank) FROM trace_files('control')"), [[0]])

    def test_sides_are_swapped(self):
        here = self.both(**GPU)
        self.press("swap")
        self.page.wait("asked('SELECT 1').then(() => true)")
        os.rename(f"{here}/control", f"{here}/was")
        os.rename(f"{here}/test", f"{here}/control")
        os.rename(f"{here}/was", f"{here}/test")
        self.same(here, "SELECT * FROM trace_diff('control', 'test')")


class Console(Driven):
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

    def test_rows_are_saved_as_a_database(self):
        here = self.both(**GPU)
        target = tempfile.mkdtemp(dir=self.folder)
        self.driver.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=target)
        self.console("SELECT 1; SELECT name, control_counts, x'00' AS b FROM trace_diff('control', 'test'); -- saved")
        self.press("save")
        self.assertIsNone(self.error())
        path, until = os.path.join(target, "result.db"), time.monotonic() + browser.PATIENCE
        while not os.path.exists(path):
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
        self.assertEqual([list(row) for row in sqlite3.connect(path).execute("SELECT * FROM result")], self.native(
            here, "SELECT name, control_counts, x'00' AS b FROM trace_diff('control', 'test')"))
        self.assertEqual(self.asked("SELECT name FROM pragma_database_list"), [["main"]])

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

    def test_keys_are_enough(self):
        self.page.value("void (document.getElementById('sql').value = 'SELECT 42', "
                        "document.getElementById('sql').focus())")
        for kind in ("keyDown", "keyUp"):
            self.page.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13,
                           modifiers=2)
        self.page.wait("document.getElementById('rows').textContent.includes('42')")
        # Each control is reached by Tab, and shows that it is.
        self.page.value("void (document.getElementById('report').onload = () => { window.loaded = true; })")
        self.press("example")
        self.page.wait("window.loaded")
        reached = set()
        self.page.value("void (document.querySelector('h1').tabIndex = -1, document.querySelector('h1').focus())")
        for _ in range(12):
            self.page.key("Tab", 9)
            reached.add(self.page.value("document.activeElement.id || document.activeElement.type"))
        self.assertLessEqual({"file", "swap", "compare", "example", "report"}, reached)


class Hostile(Driven):
    NAMES = ["quote'\".json", "<script>alert(1)</script>.json", "line\nbreak.json", "..json", "...json", "%2e%2e.json",
             "back\\slash.json", "*.json", "[1].json", "-dash.json", "ünï 🙂.json", " .json", "rank3.json"]

    def test_names(self):
        made = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        for i, name in enumerate(self.NAMES):
            name = name.replace("/", "\u2215")
            (made / name).write_text(json.dumps(document([event("op", i, 5)])))
        here = self.both(control=str(made))
        self.same(here, "SELECT * FROM trace_files('control') ORDER BY file")
        self.same(here, "SELECT rank, name, ts_ns FROM trace_events('control') ORDER BY rank, ts_ns")

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


@slow
class Goldens(Driven):
    """What test_golden compares, in the page."""

    PAIRS = [("hta/trace_diff/control", "hta/trace_diff/test", [
                 FIRST, {**FIRST, "control_iteration": 1011, "test_iteration": 1012},
                 both(iteration=[1010, 1011, 1012])]),
             ("hta/trace_compare/base", "hta/trace_compare/test", [
                 FIRST, both(iteration=1009), both(iteration=1010)]),
             ("hta/trace_filter", "hta/trace_filter", [
                 {**FIRST, "control_rank": 0, "test_rank": 1}, {**FIRST, **both(rank=[0, 1])}]),
             ("hta/amd_trace", "hta/triton_example", [FIRST])]

    def test_pairs(self):
        for control, test, calls in self.PAIRS:
            here = self.both(control=corpus(*control.split("/")), test=corpus(*test.split("/")))
            for given in calls:
                for kind in ("ALL", "CPU", "GPU"):
                    given = {**given, "device_type": kind}
                    values = [given.get(name) for name in (
                        "control_rank", "test_rank", "control_iteration", "test_iteration", "device_type")]
                    values = [json.dumps(value) if isinstance(value, list) else value for value in values]
                    written = ", ".join("NULL" if value is None else f"'{value}'" if isinstance(value, str)
                                        else str(value) for value in values)
                    for function in ("compare_traces", "ops_diff", "trace_diff"):
                        with self.subTest(f"{function}: {control}", **given):
                            self.same(here, f"SELECT * FROM {function}('control', 'test', {written})")

    def test_events_per_iteration(self):
        for name in ("trace_diff/control", "trace_compare/base", "trace_compare/test", "trace_filter",
                     "rank_unavailable", "critical_path/simple_add"):
            with self.subTest(name):
                here = self.both(control=corpus("hta", *name.split("/")))
                self.same(here, "SELECT rank, cat, iteration, stream, count(*), sum(dur_ns), min(ts_ns), "
                          "max(ts_ns + dur_ns), sum(event) FROM trace_events('control') GROUP BY 1, 2, 3, 4")


def processes(profile):
    """(CPU seconds, most memory in bytes) of the browser's processes that draw pages and run their workers, by id.
    Chromium names the profile only to the first process, and the others are below that."""
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
                                capture_output=True, text=True).stdout
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


if __name__ == "__main__":
    unittest.main()
