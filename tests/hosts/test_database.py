"""The database from `make db` (sql/database/to_database.sql): its rows equal the functions' rows, any SQLite reads it
without the extension, and whatever happens during writing, either the old file or the new one is there.
"""
import datetime
import glob
import itertools
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

import made
import traces
from support import EXAMPLES, EXTENSION, ROOT, connect, corpus, series, slow, slowest
from test_documents import RUNS

GPU, CPU = ([os.path.join(ROOT, "examples", name, side) for side in ("control", "test")] for name in ("gpu", "cpu"))
FILES = ("database/tables.sql", "database/summaries.sql", "database/to_database.sql", "database/diffs.sql",
         "database/views.sql")

# Tables and views with rows of both sides, and the call with the rows of one side.
OF_A_SIDE = {
    "files": "trace_files(:trace)",
    "metadata": "trace_metadata(:trace)",
    "steps": "trace_steps(:trace)",
    "events": "trace_events(:trace)",
    "step_time": "trace_step_time(:trace, 'all', 'all')",
    "kernel_owners": "trace_kernel_owners(:trace, 'all', 'all')",
    "collectives": "trace_collectives(:trace, 'all', 'all')",
    "stragglers": "potential_stragglers(:trace, 'all', 'steady', :control)",
    "hta_frequent_cuda_kernel_sequences": "frequent_cuda_kernel_sequences(:trace, 'aten::*', 'all', 0, 1)",
    **{f"hta_{name}": f"{name}(:trace)" for name in (
        "temporal_breakdown", "idle_time_breakdown", "idle_interval_stats", "gpu_kernel_type_breakdown",
        "gpu_kernel_breakdown", "gpu_user_annotation_breakdown", "gpu_kernels_with_user_annotations",
        "comm_comp_overlap", "memory_bw_time_series", "memory_bw_summary",
        "queue_length_time_series", "queue_length_summary", "time_spent_blocked_on_full_queue",
        "cuda_kernel_launch_stats", "aten_op_kernels_and_delay")}}

# Tables and views of both sides together.
KEPT = ", ".join(f"(SELECT {side}_iterations FROM trace_verdict(:control, :test))" for side in ("control", "test"))
OF_A_PAIR = {
    "diff": "trace_diff(:control, :test, 'all', 'all', 'steady', 'steady', 'ALL', 0)",
    "step_diff": "trace_step_diff(:control, :test)",
    "summary": "trace_summary(:control, :test, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1)",
    "step_causes": f"trace_step_causes(:control, :test, NULL, NULL, {KEPT})",
    "tree_diff": f"trace_tree_diff(:control, :test, NULL, NULL, {KEPT})",
    "diff_by_op": "trace_diff_by(:control, :test, 'op,shapes', 'all', 'all', 'steady', 'steady')",
    **{f"hta_{name}": f"{name}(:control, :test, 'all', 'all', 'steady', 'steady')" for name in (
        "ops_diff", "compare_traces", "top_count_increases", "top_duration_changes")}}

# Tables and views without a function.
PARTS = {"about", "ops", "events_utc", "names", "threads", "event_rows", "event_args", "owners", "kernel_owner_rows"}

TYPES = {"TEXT": "text", "INTEGER": "integer", "INT": "integer", "REAL": "real"}


def script():
    parts = []
    for name in FILES:
        with open(os.path.join(ROOT, "sql", name), encoding="utf-8") as file:
            parts.append(file.read())
    return "".join(parts)


def write(path, control=None, test=None, args=0):
    """Writes it from a host, like the head of to_database.sql describes."""
    db = connect(path)
    db.execute("CREATE TEMP TABLE input (side TEXT, path TEXT, with_args INTEGER)")
    db.executemany("INSERT INTO temp.input VALUES (?, ?, ?)",
                   [(side, trace, args) for side, trace in (("control", control), ("test", test)) if trace])
    db.commit()
    db.executescript(f"BEGIN; {script()} COMMIT;")
    db.close()


def listed(db, kind):
    return [name for name, in db.execute(
        "SELECT name FROM sqlite_master WHERE type = ? AND name NOT LIKE 'sqlite_%' ORDER BY name", (kind,))]


def columns(db, table):
    return [(name, type_) for _, name, type_, *_ in db.execute(f"PRAGMA table_info({table})")]


def quoted(name):
    return f'"{name}"'


class InFolder(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = place.name
        self.path = os.path.join(self.folder, "perf.db")

    def plain(self, path=None):
        """A connection without the extension."""
        db = sqlite3.connect(f"file:{path or self.path}?mode=ro", uri=True)
        self.addCleanup(db.close)
        return db


class Rows(InFolder):
    """The database of a pair has the functions' rows."""

    def check(self, control, test, args=0):
        write(self.path, control, test, args)
        db, functions = self.plain(), connect()
        self.addCleanup(functions.close)
        self.assertEqual(set(listed(db, "table") + listed(db, "view")), {*OF_A_SIDE, *OF_A_PAIR, *PARTS})
        self.rows_are_those_of_the_functions(db, functions, {"control": control, "test": test}, args)
        self.values_are_of_the_declared_types(db)
        self.assertEqual(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        return db

    def rows_are_those_of_the_functions(self, db, functions, paths, args):
        for table, call in OF_A_PAIR.items():
            if None not in paths.values():
                self.compare(db, functions, table, "", call, paths)
        for table, call in OF_A_SIDE.items():
            for side, path in paths.items():
                if path:
                    self.compare(db, functions, table, f"WHERE side = '{side}'", call,
                                 {"trace": path, "control": paths["control"]}, args)
        for side, path in paths.items():
            if path:
                self.compare_ops(db, functions, side, path)

    def compare(self, db, functions, table, of_side, call, given, args=0):
        expected = functions.execute(f"SELECT * FROM {call}", given)
        names = [column[0] for column in expected.description if column[0] != "operator"]
        self.assertEqual(set(names) - {name for name, _ in columns(db, table)}, set(), table)
        kept = [f"NULL AS {name}" if name == "args" and not args else
                f"CAST({name} AS TEXT) AS {name}" if name in ("pid", "tid", "value") else
                f"CAST({name} AS INTEGER)" if name == "world_size" else quoted(name) for name in names]
        expected = functions.execute(f"SELECT {', '.join(kept)} FROM {call}", given).fetchall()
        order = "ORDER BY rowid" if table in listed(db, "table") else ""
        found = db.execute(f"SELECT {', '.join(quoted(name) for name in names)}"
                           f" FROM {table} {of_side} {order}").fetchall()
        with self.subTest(table, given=given):
            self.assertEqual(len(found), len(expected))
            if found != expected:
                self.assertEqual(*next((a, b) for a, b in zip(found, expected) if a != b))

    def compare_ops(self, db, functions, side, path):
        """Compares sums in ns with sums in us."""
        found = db.execute("SELECT rank, iteration, device, cat, name, short_name, counts, total_ns / 1000.0, self_ns"
                           " / 1000.0,"
                           " total_ns / (1000.0 * counts), min_ns / 1000.0, max_ns / 1000.0 FROM ops WHERE side = ?"
                           " ORDER BY rowid", (side,)).fetchall()
        self.assertEqual(found, functions.execute("SELECT * FROM trace_ops(?, 'all', 'all')", (path,)).fetchall())
        steady = db.execute("SELECT rank, iteration, device, cat, name, sum(counts) FROM ops WHERE side = ?"
                            " AND is_steady"
                            " GROUP BY 1, 2, 3, 4, 5 ORDER BY rowid", (side,)).fetchall()
        expected = functions.execute("SELECT rank, iteration, device, cat, name, counts"
                                     " FROM trace_ops(?, 'all', 'steady')",
                                     (path,)).fetchall()
        self.assertEqual(sorted(steady, key=repr), sorted(expected, key=repr))

    def values_are_of_the_declared_types(self, db):
        """Checks every row; for views, only if this SQLite knows the types of expressions."""
        for kind in ("table", "view"):
            for table in set(listed(db, kind)) - {"events"}:  # events_utc has its columns
                declared = columns(db, table)
                types = ", ".join(f'replace(typeof("{name}"), \'null\', \'\')' for name, _ in declared)
                found = [set(column) - {""} for column in zip(*db.execute(f"SELECT DISTINCT {types} FROM {table}"))]
                for (name, type_), values in zip(declared, found):
                    with self.subTest(table, column=name):
                        if kind == "view" and sqlite3.sqlite_version_info < (3, 41):
                            self.assertLessEqual(len(values), 1)
                        else:
                            self.assertLessEqual(values, {TYPES[type_]})

    def test_of_an_example(self):
        db = self.check(*GPU)
        empty = {table for table in listed(db, "table") + listed(db, "view")
                 if not db.execute(f"SELECT 1 FROM {table}").fetchone()}
        self.assertEqual(empty, {"event_args", "hta_time_spent_blocked_on_full_queue"})

    @slowest
    def test_of_traces_without_device_work_and_with_args(self):
        self.check(*CPU, args=1)

    @slowest
    def test_of_real_traces(self):
        """Without args, the database is much smaller than the JSON."""
        self.check(*(corpus("hta", "trace_diff", side) for side in ("control", "test")))
        json_size, = self.plain().execute("SELECT sum(json_size) FROM files").fetchone()
        self.assertLess(os.path.getsize(self.path), 0.25 * json_size)

    @slow
    def test_of_other_traces(self):
        for control, test in ((None, "param"), ("own/onnxruntime/control.json.gz", "own/onnxruntime/test.json.gz"),
                              ("hta/amd_trace", "hta/cpu_only"), ("jax", "serving"), ("catapult", "perfetto")):
            with self.subTest(control=control, test=test):
                self.check(*(path and corpus(*path.split("/")) for path in (control, test)))
                os.remove(self.path)

    @slow
    def test_of_bad_traces(self):
        """Bad traces give the rows of the functions, or one of their errors."""
        files = sorted(glob.glob(os.path.join(glob.escape(corpus("bad")), "*.json*")))
        refused = 0
        for trace in (path for path in files[::3] if "bomb" not in path):
            with self.subTest(trace):
                try:
                    self.check(trace, None)
                except sqlite3.OperationalError as error:
                    self.assertRegex(str(error), "^trace_")
                    refused += 1
            os.remove(self.path)
        self.assertLess(3 * refused, len(files[::3]))

    def test_of_random_traces(self):
        for seed in range(series(1, 8)):
            rng = random.Random(seed)
            sides = [os.path.join(self.folder, f"{side}{seed}") for side in ("control", "test")]
            for side in sides:
                traces.save(traces.generate(rng, ranks=rng.choice((1, 2))), side, traces.Style(rng))
            with self.subTest(seed=seed):
                self.check(*sides, args=seed % 2)
                os.remove(self.path)

    def test_of_one_side(self):
        for side in (0, 1)[:series(1, 2)]:
            db = self.check(*(path if i == side else None for i, path in enumerate(GPU)))
            for table in OF_A_PAIR:
                self.assertEqual(db.execute(f"SELECT count(*) FROM {table}").fetchone(), (0,), table)
            os.remove(self.path)

    @slow
    def test_of_a_full_queue_and_of_ranks_without_steps(self):
        events = [made.event("op", 0, 5000)]
        for i in range(1100):
            events += [made.launch(i, 1, i + 1), made.kernel("gemm", 2000 + 10 * i, 10, i + 1)]
        trace = os.path.join(self.folder, "full")
        for rank in range(2):
            made.write(f"{trace}/rank{rank}.json", made.document(*events))
        db = self.check(trace, trace)
        self.assertEqual(db.execute("SELECT side, rank FROM hta_time_spent_blocked_on_full_queue").fetchall(),
                         [(side, rank) for side in ("control", "test") for rank in (0, 1)])
        self.assertEqual(db.execute("SELECT control_counts_per_step FROM diff WHERE name = 'op'").fetchall(), [(1.0,)])

    def made(self, name, *documents):
        """A folder of files."""
        for i, content in enumerate(documents):
            made.write(os.path.join(self.folder, name, f"{i}.json"), content)
        return os.path.join(self.folder, name)

    def test_of_few_steps(self):
        for steps in range(4):
            with self.subTest(steps):
                db = self.check(self.made(f"control{steps}", made.run(steps)),
                                self.made(f"test{steps}", made.run(3, 2)))
                self.assertEqual(db.execute("SELECT count(*) FROM steps"
                                            " WHERE side = 'control' AND is_steady").fetchone(),
                                 ({3: 1}.get(steps, steps),))
                os.remove(self.path)

    def test_of_several_files_of_a_rank_and_files_without_events(self):
        def later(event):
            number = ({"name": f"ProfilerStep#{int(event['name'][13:]) + 7}"} if event["name"].startswith("Profiler")
                      else {})
            return {**event, "ts": event["ts"] + 1e6, **number}
        first, rank = made.run(), {"distributedInfo": {"rank": 0}}
        second = made.document(*map(later, first["traceEvents"]))
        empty = {**made.document(), "distributedInfo": {"rank": 1}}
        self.check(self.made("cycles", {**first, **rank}, {**second, **rank}),
                   self.made("whole", made.document(made.event("a", 1, 2)), empty))
        self.assertEqual(self.plain().execute("SELECT count(*), max(origin_ns)"
                                              " FROM files WHERE side = 'control'").fetchone(),
                         (2, 0))

    def test_of_processes_as_numbers_and_text_and_of_copies_that_meet(self):
        events = [made.event("a", i, 1, pid=pid, tid=tid) for i, (pid, tid) in enumerate(
            [(1, 1), ("1", "1"), ("stream 7", ""), (1.5, made.ABSENT), (2 ** 70, -1)])]
        for i, (at, length, speed) in enumerate([(10, 5, 1.5), (15, 5, 2.5), (15, 7, 4), (22, 1, 8)], 1):
            copy = made.kernel("Memcpy HtoD", at, length, i)
            events += [made.launch(1, 1, i),
                       {**copy, "cat": "gpu_memcpy", "args": {**copy["args"], "memory bandwidth (GB/s)": speed}}]
        db = self.check(self.made("odd", made.document(*events)), None)
        self.assertEqual(db.execute("SELECT count(*), count(DISTINCT pid || ',' || tid) FROM threads").fetchone(),
                         (5, 4))

    def test_of_events_with_gaps(self):
        """An operator, a launch, its work and annotations: without a time, duration or name, with only a begin, and as
        instants.
        """
        gaps = [{}, {"dur": made.ABSENT}, {"dur": -1}, {"ts": made.ABSENT}, {"name": 5}, {"ph": "B"}, {"ph": "i"}]
        events = [made.step(number, 50_000 * number, 50_000) for number in range(3)]
        for number, (place, gap) in enumerate(itertools.product(range(5), gaps)):
            at = 1000 * (number + 1)
            group = [made.event("aten::op", at, 90), made.launch(at + 5, 20, number + 1),
                     made.kernel("k", at + 30, 40, number + 1),
                     made.event("## part ##", at, 90, cat="user_annotation"),
                     made.event("## part ##", at + 30, 50, cat="gpu_user_annotation", pid=0, tid=7)]
            # otherwise an open operator contains all later events
            tid = 100 + number if place in (0, 3) else group[place]["tid"]
            group[place] = made.event(**{**group[place], "tid": tid, **gap})
            events += group
        db = self.check(self.made("gaps", made.document(*events)), None)
        launches, = db.execute("SELECT count(*) FROM hta_cuda_kernel_launch_stats").fetchone()
        self.assertEqual(launches, 5 * len(gaps) - 2 * (len(gaps) - 1))

    def test_of_a_side_without_events(self):
        phases = made.document(*(made.event(f"step[DECODE bs={size}]", 100 * size, 90, cat="user_annotation")
                                 for size in (1, 2, 4, 8)))
        paths = self.made("control", phases), self.made("test", made.document())
        for sides in (paths, paths[::-1]):
            self.check(*sides)
            os.remove(self.path)

    def test_dates(self):
        write(self.path, test=GPU[1])
        db = self.plain()
        for sql in ("SELECT ts_ns, ts_epoch, ts_utc FROM events_utc", "SELECT ts_ns, ts_epoch, ts_utc FROM steps",
                    "SELECT start_ns, start_epoch, start_utc FROM files"):
            rows = db.execute(sql).fetchall()
            self.assertGreater(len(rows), 1)
            for ns, epoch, utc in rows:
                date = datetime.datetime.fromtimestamp(ns // 10 ** 9, datetime.timezone.utc)
                self.assertEqual(utc, f"{date:%Y-%m-%dT%H:%M:%S}.{ns % 10 ** 9 // 1000:06}Z")
                self.assertAlmostEqual(epoch, ns / 1e9, delta=1e-6)

    def test_dates_before_1970_and_times_that_are_missing(self):
        trace = made.write(os.path.join(self.folder, "old.json"), made.document(
            made.event("a", -1.5, 1), made.event("b", 0, 1), made.event("c", "x", 1), made.event("d", 4e14, 1)))
        db = self.check(trace, None)
        self.assertEqual(db.execute("SELECT name, ts_epoch, ts_utc FROM events_utc ORDER BY id").fetchall(), [
            ("a", -1.5e-6, "1969-12-31T23:59:59.999998Z"), ("b", 0.0, "1970-01-01T00:00:00.000000Z"), ("c", None, None),
            ("d", 4e8, "1982-09-04T15:06:40.000000Z")])
        self.assertEqual(db.execute("SELECT start_utc FROM files").fetchall(), [("1969-12-31T23:59:59.999998Z",)])

    def test_ids_join_events(self):
        write(self.path, *GPU)
        db = self.plain()
        for column in ("parent", "link"):
            self.assertEqual(db.execute(
                f"SELECT count(*), sum(other.side = e.side AND other.file = e.file AND other.event = e.{column})"
                f" FROM events AS e JOIN events AS other ON other.id = e.{column}_id").fetchone(),
                db.execute(f"SELECT count({column}), count({column}) FROM events").fetchone())

    def test_about(self):
        before = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
        write(self.path, *GPU)
        about = dict(self.plain().execute("SELECT key, value FROM about"))
        created = datetime.datetime.strptime(about.pop("created_utc"), "%Y-%m-%dT%H:%M:%SZ").replace(
            tzinfo=datetime.timezone.utc)
        self.assertLessEqual(before, created)
        db = connect()
        self.assertEqual(about, {"content": "PyTorch profiler traces, written by tracediff", "layout": "1",
                                 "control": GPU[0],
                                 "test": GPU[1], "tracediff": db.execute("SELECT tracediff_version()").fetchone()[0],
                                 "sqlite": sqlite3.sqlite_version})

    def test_nothing_hides_a_function_of_the_extension(self):
        write(self.path, *GPU)
        db = connect(self.path)
        self.addCleanup(db.close)
        functions = {name for sql in ("SELECT name FROM pragma_module_list", "SELECT name FROM pragma_function_list",
                                      "SELECT name FROM tracediff_help") for name, in db.execute(sql)}
        self.assertIn("temporal_breakdown", functions)
        self.assertEqual(functions & set(listed(db, "table") + listed(db, "view")), set())
        self.assertEqual(db.execute("SELECT * FROM diff").fetchall(),
                         db.execute("SELECT * FROM trace_diff(?, ?, 'all', 'all', 'steady', 'steady', 'ALL', 0)",
                                    GPU).fetchall())


def tables_of(path):
    """All rows of all tables, except the time of writing."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return {table: db.execute(f"SELECT * FROM {table} WHERE rowid <> (SELECT coalesce(max(rowid), 0) FROM about"
                                  f" WHERE '{table}' = 'about' AND key = 'created_utc')").fetchall()
                for table in listed(db, "table")}
    finally:
        db.close()


@RUNS
class Make(InFolder):
    """`make db`, and the state of OUT afterwards."""

    USAGE = ("make db CONTROL=traces/a TEST=traces/b OUT=perf.db    one of CONTROL and TEST is enough;"
             " ARGS=yes keeps args\n")

    def make(self, **given):
        """Exit status and output."""
        done = subprocess.run(["make", "--no-print-directory", "-o", "all", "-o", "needed", "db",
                               f"DIST={os.path.dirname(EXTENSION)}",
                               *(f"{name}={value}" for name, value in given.items())],
                              cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              env={name: value for name, value in os.environ.items()
                                   if name not in ("MAKEFLAGS", "MAKELEVEL", "CONTROL", "TEST", "OUT", "ARGS")})
        return done.returncode, done.stdout

    def assert_made(self, **given):
        """Asserts that it prints the file, and a shell command that lists its tables."""
        status, printed = self.make(**given)
        first = f"Wrote {given['OUT']}\nList its tables: "
        self.assertEqual((status, printed[:len(first)]), (0, first))
        shown = subprocess.run(["sh", "-c", printed[len(first):]], capture_output=True, text=True, check=True)
        self.assertLessEqual({"diff", "events", "summary"}, set(shown.stdout.split()))

    def start(self, *given):
        return subprocess.Popen(["sh", os.path.join(ROOT, "sql", "database", "database.sh"), *given],
                                stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, start_new_session=True,
                                env={**os.environ, "TRACEDIFF": EXTENSION})

    def assert_refused(self, message, **given):
        """Asserts that it refuses with this message, and leaves or changes nothing."""
        before = self.content()
        status, printed = self.make(**given)
        self.assertNotEqual(status, 0, printed)
        self.assertEqual(re.sub(r"(?m)^make: .*\n", "", printed), message)
        self.assertEqual(self.content(), before)

    def content(self):
        found = {}
        for folder, _, names in os.walk(self.folder):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    found[os.path.join(folder, name)] = file.read()
        return found, sorted(os.listdir(self.folder))

    def test_gives_what_the_files_give_in_a_host(self):
        self.assert_made(CONTROL=GPU[0], TEST=GPU[1], OUT=self.path)
        other = os.path.join(self.folder, "other.db")
        write(other, *GPU)
        self.assertEqual(tables_of(self.path), tables_of(other))
        self.assertEqual(sorted(os.listdir(self.folder)), ["other.db", "perf.db"])
        self.assertEqual(os.stat(self.path).st_mode & 0o777, os.stat(other).st_mode & 0o777)
        self.assertEqual(self.plain().execute("PRAGMA journal_mode").fetchone(), ("delete",))

    @slow
    def test_who_has_the_old_file_open_goes_on_reading_it(self):
        write(self.path, *CPU)
        db = self.plain()
        expected = db.execute("SELECT * FROM diff").fetchall()
        db.execute("PRAGMA cache_size = 0")
        self.assert_made(CONTROL=GPU[0], TEST=GPU[1], OUT=self.path)
        self.assertEqual(db.execute("SELECT * FROM diff").fetchall(), expected)
        self.assertNotEqual(self.plain().execute("SELECT * FROM diff").fetchall(), expected)

    def test_args_on_request(self):
        self.assert_made(CONTROL=GPU[0], ARGS="yes", OUT=self.path)
        self.assertEqual(self.plain().execute("SELECT args FROM events ORDER BY id").fetchall(),
                         connect().execute("SELECT args FROM trace_events(?)", (GPU[0],)).fetchall())

    def test_snapshots_on_request(self):
        """Snapshots have tables only on request, and the sums equal the functions' sums."""
        one, other = (os.path.join(EXAMPLES, "memory", f"training_{tokens}.pickle.gz") for tokens in (128, 512))
        columns = "phase, function, op, bytes, blocks"
        parts = connect().execute(f"SELECT 'test', rank, device, {columns} FROM memory_peak(?)", (other,)).fetchall()
        self.assert_made(CONTROL=GPU[0], TEST_MEMORY=other, OUT=self.path)
        self.assertEqual(self.plain().execute("SELECT * FROM memory_parts ORDER BY rowid").fetchall(), parts)
        self.assertEqual(self.plain().execute("SELECT * FROM memory_part_diffs").fetchall(), [])
        self.assert_made(CONTROL=GPU[0], CONTROL_MEMORY=one, TEST_MEMORY=other, OUT=self.path)
        diff = connect().execute("SELECT rank, device, phase, function, op, control_bytes, test_bytes, diff_bytes,"
                                 " control_blocks, test_blocks,"
                                 " diff_from_blocks, diff_from_size FROM memory_diff(?, ?)", (one, other)).fetchall()
        self.assertEqual(self.plain().execute("SELECT * FROM memory_part_diffs ORDER BY rowid").fetchall(), diff)
        self.assert_made(CONTROL=GPU[0], OUT=self.path)
        self.assertEqual(self.plain().execute("SELECT name FROM sqlite_schema WHERE name LIKE 'memory%'").fetchall(),
                         [])
        before = self.content()
        status, printed = self.make(CONTROL=GPU[0], TEST_MEMORY=GPU[0], OUT=self.path)
        self.assertNotEqual(status, 0)
        self.assertIn("no snapshot in", printed)
        self.assertEqual(self.content(), before)

    def test_says_what_to_type(self):
        trace, out = GPU[0], self.path
        for given, message in (
                ({}, f"Which traces? {self.USAGE}"), ({"OUT": out}, f"Which traces? {self.USAGE}"),
                ({"CONTROL": trace}, f"Which file shall be written? {self.USAGE}"),
                ({"TEST": trace, "OUT": out, "ARGS": "1"}, f"ARGS is yes or no, not '1'. {self.USAGE}"),
                ({"TEST": trace, "OUT": self.folder}, f"OUT='{self.folder}' is a directory: name the file\n")):
            with self.subTest(given):
                self.assert_refused(message, **given)
        status, printed = self.make(TEST=trace, OUT=os.path.join(self.folder, "none", "x.db"))
        self.assertNotEqual(status, 0)
        self.assertIn(f"Cannot write beside OUT='{self.folder}/none/x.db'\n", printed)

    def test_a_failure_says_why_and_leaves_the_old_file(self):
        control = made.write(os.path.join(self.folder, "control.json"), made.run())
        write(self.path, control, control)
        broken = made.write(os.path.join(self.folder, "broken.json"),
                            '{"traceEvents": [{"ph": "X", "ts": 1, "dur": 1, "name": "a"}')
        for test, message in (("nowhere", "trace_files: cannot read 'nowhere': No such file or directory"),
                              (broken, f"'{broken}'")):
            before = self.content()
            done = self.start(control, test, self.path)
            said = done.communicate()[1].decode()
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, said)
            self.assertEqual(self.content(), before)

    def test_does_not_replace_what_is_not_a_database(self):
        trace = shutil.copy(os.path.join(GPU[0], "rank0.pt.trace.json.gz"), self.folder)
        self.assert_refused(f"OUT='{trace}' exists and is not a database: it stays as it is\n", CONTROL=GPU[0],
                            OUT=trace)

    def test_does_not_replace_what_is_being_written(self):
        for mode, ending in (("wal", "-wal"), ("persist", "-journal")):
            db = sqlite3.connect(self.path, isolation_level=None)
            db.execute(f"PRAGMA journal_mode = {mode}")
            db.execute("BEGIN")
            db.execute(f"CREATE TABLE t{mode} (x)")
            if mode == "wal":
                db.execute("COMMIT")
            with self.subTest(mode):
                self.assert_refused(f"'{self.path}{ending}' says that a program is writing to '{self.path}': close it"
                                    f" first\n",
                                    CONTROL=GPU[0], OUT=self.path)
            db.close()
            os.remove(self.path)

    @slow
    def test_hostile_paths(self):
        names = ["it's", 'say "x"', "a b", "$HOME $(id) `id`", "-rf", "new\nline", ";.quit", "caf\u00e9 \U0001f600",
                 "a*b[c]", "%s%n",
                 "back\\slash", "#x", "x'); DROP TABLE about; --"]
        for name in names:
            folder = os.path.join(self.folder, name)
            made.write(os.path.join(folder, "rank0.json"), made.run())
            out = os.path.join(folder, f"{name}.db")
            with self.subTest(name):
                self.assert_made(CONTROL=folder, TEST=json.dumps([f"{folder}/rank0.json"]), OUT=out)
                self.assertEqual(sorted(os.listdir(folder)), sorted(["rank0.json", f"{name}.db"]))
                db = sqlite3.connect(out)
                self.addCleanup(db.close)
                self.assertEqual(db.execute("SELECT value FROM about WHERE key = 'control'").fetchone(), (folder,))
                self.assertEqual(db.execute("SELECT DISTINCT file FROM files").fetchall(), [(f"{folder}/rank0.json",)])

    def test_names_of_files_in_the_current_directory(self):
        control = made.write(os.path.join(self.folder, "control", "rank0.json"), made.run())
        for name in ("-x.db", "x y.db", "file:x?mode=memory", ":memory:"):
            done = subprocess.run(["sh", os.path.join(ROOT, "sql", "database", "database.sh"), control, "", name],
                                  cwd=self.folder, check=False,
                                  env={**os.environ, "TRACEDIFF": EXTENSION}, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(name, os.listdir(self.folder))

    def test_a_link_stays_a_link(self):
        os.mkdir(os.path.join(self.folder, "data"))
        os.symlink("data/perf.db", self.path)
        for _ in range(2):
            self.assert_made(CONTROL=GPU[0], OUT=self.path)
            self.assertEqual(os.readlink(self.path), "data/perf.db")
            self.assertEqual(self.plain().execute("SELECT count(*) FROM files").fetchone(), (2,))

    @slowest
    def test_two_at_once_do_not_mix(self):
        expected = []
        for pair in (GPU, CPU):
            write(self.path, *pair)
            expected.append(tables_of(self.path))
            os.remove(self.path)
        for _ in range(2):
            running = [self.start(*pair, self.path) for pair in (GPU, CPU)]
            for process in running:
                self.assertEqual((process.communicate()[1], process.returncode), (b"", 0))
            self.assertIn(tables_of(self.path), expected)
            self.assertEqual(os.listdir(self.folder), ["perf.db"])

    def killed(self, number, times):
        """Starts a run and kills it at a random moment, repeatedly; OUT is complete each time."""
        write(self.path, *CPU)
        old, rng, seen = tables_of(self.path), random.Random(1), set()
        started = time.monotonic()
        self.start(*GPU, self.path).communicate()
        took, new = time.monotonic() - started, tables_of(self.path)
        write_old = os.path.join(self.folder, "old.db")
        write(write_old, *CPU)
        for _ in range(times):
            shutil.copy(write_old, self.path)
            process = self.start(*GPU, self.path)
            time.sleep(rng.uniform(0, 1.1 * took))
            if process.poll() is None:
                os.killpg(process.pid, number)
            process.communicate()
            found = tables_of(self.path)
            self.assertTrue(found in (old, new))
            seen.add((found == new, process.returncode == 0))
        return seen

    @slowest
    def test_kill_9_leaves_the_old_file_or_the_new_one(self):
        seen = self.killed(signal.SIGKILL, 16)
        self.assertIn((False, False), seen)

    @slowest
    def test_control_c_leaves_nothing_else(self):
        seen = self.killed(signal.SIGINT, 6)
        self.assertIn((False, False), seen)
        self.assertEqual(sorted(os.listdir(self.folder)), ["old.db", "perf.db"])
