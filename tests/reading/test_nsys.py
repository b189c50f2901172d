"""Databases of Nsight Systems (G1 to G11, N1 to N13): against their recorded rows, recorded answers, the oracle
(oracle_nsys.py) on random ones (generate_nsys.py), and the same rows in Kineto's JSON.

    SEED    begins another series of databases (default 1)
"""
import csv
import functools
import hashlib
import io
import itertools
import json
import math
import os
import random
import re
import sqlite3
import unittest

import generate_nsys
import oracle
import oracle_nsys
import oracle_stacks
from generate_nsys import Table
from made import InFolder, run, write
from oracle_nsys import path_of
from support import DATA, can_be_a_name, connect, corpus, golden, series, slow
from test_oracle import Comparing, sort_key, us

SEED = int(os.environ.get("SEED") or 1)
SAMPLES = ("nsys_rules_one", "nsys_rules_two", "nsys_rules_mpi")
COLUMNS = "event, rank, iteration, device, ph, cat, name, pid, tid, ts_ns, dur_ns, stream, correlation, link"
ROWS = f"SELECT {COLUMNS}, args FROM trace_events(?, NULL, NULL, 'all') ORDER BY event"
STACKS = ("SELECT {}, parent, depth, args, ts, dur, self_dur FROM trace_events(?, NULL, NULL, 'all')"
          " ORDER BY file, event")
FILES = "SELECT file, rank, rows, steps, first_step, last_step, start_ns, end_ns FROM trace_files(?)"
STEPS = "SELECT rank, iteration, file, ts_ns, dur_ns, ts, dur FROM trace_steps(?)"
OF_STRINGS = {"nameId", "textId", "demangledName", "shortName", "mangledName"}  # columns with ids of StringIds
LEVELS = ("op", "top_op", "module", "annotation", "kernel")


def sample(name):
    return os.path.join(DATA, "nsys", name)


def as_csv(columns, rows):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns.split(", "))
    writer.writerows(rows)
    return text.getvalue()


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]


def parsed(args):
    """Keys in their order, numbers in their notation."""
    return args and json.loads(args, object_pairs_hook=list, parse_int=str, parse_float=str)


@functools.lru_cache(maxsize=8)
def read(path):
    return oracle_nsys.read_trace(path)


class Samples(unittest.TestCase):
    """The databases that were made for the rules give their recorded rows."""

    def test_rows_of_the_samples(self):
        db = connect()
        for name in SAMPLES:
            rows = db.execute(ROWS, (sample(name + ".sqlite"),))
            with self.subTest(name), open(sample(name + ".expected.csv"), encoding="utf-8") as file:
                self.assertEqual(as_csv(COLUMNS + ", args", rows), file.read())

    def test_the_oracle_gives_the_rows_of_the_samples(self):
        for name in SAMPLES:
            trace = oracle_nsys.read_trace(sample(name + ".sqlite"))
            rows = sorted((row for file in trace.files for row in file.rows + file.marks), key=lambda row: row.event)
            values = [[getattr(row, column) for column in f"{COLUMNS}, args".split(", ")] for row in rows]
            with self.subTest(name), open(sample(name + ".expected.csv"), encoding="utf-8") as file:
                self.assertEqual(as_csv(COLUMNS + ", args", values), file.read())


NO_GAPS = "CASE WHEN class NOT IN ('idle_unrecorded', 'unrecorded') THEN name END"  # gaps (A5.4) have no names


class Golden(unittest.TestCase):
    """Two real recordings of two ranks, before and after a change."""

    maxDiff = 2000

    def setUp(self):
        self.before, self.after = (corpus("nsys", f"mfu_2gpu_{side}.sqlite") for side in ("before", "after"))
        self.sides = ((self.before, "mfu_2gpu_before"), (self.after, "mfu_2gpu_after"))
        self.db = connect()

    def same(self, name, sql, *arguments, exact=99):
        """Rows in any order; from column `exact` on, numbers may differ slightly."""
        found = [["" if value is None else value for value in row] for row in self.db.execute(sql, arguments)]
        expected = read_csv(golden("profilers", name))
        with self.subTest(name):
            self.assertEqual(len(found), len(expected))
            for row, wanted in zip(sorted([*map(str, row[:exact]), *row[exact:]] for row in found), sorted(expected)):
                self.assertEqual(row[:exact], wanted[:exact])
                for value, number in zip(row[exact:], wanted[exact:]):
                    self.assertTrue(math.isclose(value, float(number), rel_tol=1e-9), (row, wanted))

    def test_rows_are_those_recorded(self):
        for path, name in self.sides:
            rows = self.db.execute(ROWS, (path,)).fetchall()
            with self.subTest(name), open(golden("profilers", name + ".rows.sha256"), encoding="ascii") as file:
                text = as_csv(COLUMNS, [row[:-1] for row in rows])
                self.assertEqual(hashlib.sha256(text.encode()).hexdigest(), file.read().strip())
            with self.subTest(name), open(golden("profilers", name + ".rows.some.csv"), encoding="utf-8") as file:
                self.assertEqual(as_csv(COLUMNS + ", args", rows[::997]), file.read())

    def test_sums_are_those_recorded(self):
        ns = "CAST(round({} * 1000) AS INTEGER)".format
        for path, name in self.sides:
            self.same(name + ".ops.csv", f"SELECT rank, device, cat, name, counts, {ns('total_duration')},"
                      f" {ns('self_duration')} FROM trace_ops(?, 'all', 'all')", path)
            self.same(name + ".owners.csv", "SELECT rank, op, count(*), " + ns("sum(dur)") +
                      " FROM trace_kernel_owners(?, 'all', 'all') GROUP BY rank, op", path)
            self.same(name + ".step_time.csv", f"SELECT rank, class, {NO_GAPS}, sum(time_ns)"
                      " FROM trace_step_time(?, 'all', 'all') GROUP BY 1, 2, 3", path)
            self.same(name + ".kernel_types.csv", "SELECT * FROM gpu_kernel_type_breakdown(?)", path, exact=1)
            self.same(name + ".memory_bw_summary.csv", "SELECT * FROM memory_bw_summary(?)", path, exact=3)
            self.same(name + ".temporal_breakdown.csv", "SELECT * FROM temporal_breakdown(?)", path, exact=1)

    def test_differences(self):
        ns = "CAST(round({} * 1000) AS INTEGER)".format
        for rank in (0, 1):
            self.same(f"diff.rank{rank}.csv", "SELECT name, replace(counts_change, 'same', 'unchanged'),"
                      f" control_counts, test_counts, {ns('control_total_duration')}, {ns('test_total_duration')},"
                      f" {ns('diff_duration')}"
                      " FROM trace_diff(?, ?, ?3, ?3, 'all', 'all')", self.before, self.after, rank)
            self.same(f"step_diff.rank{rank}.csv", f"SELECT class, {NO_GAPS}, sum(control_ns), sum(test_ns)"
                      " FROM trace_step_diff(?, ?, ?3, ?3, 'all', 'all') GROUP BY 1, 2", self.before, self.after, rank)

    def test_both_ranks_are_there(self):
        for path, _ in self.sides:
            self.assertEqual(self.db.execute("SELECT rank, rows > 10000 FROM trace_files(?)", (path,)).fetchall(),
                             [(0, 1), (1, 1)])


class AgainstOracle(Comparing):
    read = staticmethod(read)

    def assert_same(self, found, expected, exact):
        """Times of odd databases exceed the precision of a double."""
        for row, wanted in zip(found, expected):
            same = len(row) == len(wanted) and all(
                value == other or isinstance(value, float) and other is not None and
                math.isclose(value, other, rel_tol=1e-9, abs_tol=1e-9) for value, other in zip(row, wanted))
            self.assertTrue(same, f"{row}, expected\n{wanted}")
        self.assertEqual(len(found), len(expected))

    def compare_events(self, db, path):
        expected, trace = [], read(path)
        for file in trace.files:
            rows = sorted(file.rows + getattr(file, "marks", []), key=lambda row: row.event)
            places = oracle_stacks.stacks(rows)
            for row in rows:
                place = places[row.file, row.event]
                expected.append((path_of(row.file), row.event, *(getattr(row, column) for column in
                                                                 COLUMNS.split(", ")[1:]), place.parent, place.depth,
                                 parsed(getattr(row, "args", None)), us(row.ts_relative_ns), us(row.dur_ns),
                                 us(place.self_ns)))
        expected.sort(key=lambda row: (os.fsencode(row[0]), row[1]))
        found = [list(row) for row in db.execute(STACKS.format("file, " + COLUMNS), (path,))]
        for row in found:
            row[-4] = parsed(row[-4]) if oracle_nsys.is_database(row[0]) else None
        self.assert_same([tuple(row) for row in found], expected, exact=len(expected[0]) - 3 if expected else 0)

    def compare_files(self, db, path):
        expected = []
        for file in read(path).files:
            steps = sorted({step.iteration for step in file.steps})
            expected.append((path_of(file.path), file.rank, len(file.rows), len(steps), *(steps[:1] or [None]),
                             *(steps[-1:] or [None]), file.first_ns, file.last_ns))
        self.assertEqual(sorted(db.execute(FILES, (path,)), key=sort_key), sorted(expected, key=sort_key))
        kinds = set().union(*(file.problems for file in read(path).files))
        expected = [(file.events, file.skipped, {kind: count for kind, count in file.problems.items() if count})
                    for file in read(path).files]
        found = db.execute("SELECT events, skipped, problems FROM trace_files(?)", (path,))
        found = [(events, skipped, {problem["what"]: problem["count"] for problem in json.loads(problems)
                                    if problem["what"] in kinds}) for events, skipped, problems in found]
        self.assertEqual(found, expected)

    def compare_steps(self, db, path):
        trace = read(path)
        try:
            oracle.check_ranks(trace, trace.ranks)
        except oracle.Refused:
            return self.assert_refused(db, STEPS, (path,))
        expected = [(step.rank, step.iteration, path_of(step.file), step.ts_ns, step.dur_ns, us(step.ts_relative_ns),
                     us(step.dur_ns)) for step in trace.steps]
        self.assert_same(sorted(db.execute(STEPS, (path,)), key=sort_key), sorted(expected, key=sort_key), exact=7)

    def compare(self, db, path):
        self.compare_events(db, path)
        self.compare_files(db, path)
        self.compare_steps(db, path)
        self.compare_ops(db, path, "all", "all", "ALL")
        self.compare_ops(db, path, None, None, "GPU")
        self.compare_diff(db, path, path, None, None, "all", "steady", "ALL")


def settings(rng):
    """Options of writing a database, which must not matter."""
    return {"page_size": rng.choice((512, 4096, 65536)), "wal": rng.random() < 0.1}


class Random(InFolder, AgainstOracle):
    def test_databases(self):
        rows = parts = 0
        for seed in range(SEED * 10_000, SEED * 10_000 + series(15, 150)):
            rng = random.Random(seed)
            odd = f"x rank_2 %23{'?' if can_be_a_name('?') else ''}#.sqlite3"
            path = generate_nsys.write(rng.choice(("run.sqlite", "rank3.db", "7.nsys", odd)),
                                       generate_nsys.generate(rng), **settings(rng))
            read.cache_clear()
            with self.subTest(seed=seed):
                self.compare(self.db, path)
            rows, parts = rows + len(read(path).rows), parts + len(read(path).files)
            os.remove(path)
        self.assertGreater(rows, series(400, 1000))
        self.assertGreater(parts, series(15, 40))

    def test_directories(self):
        """N5, T7: ranks come from several databases and traces in JSON."""
        for seed in range(SEED * 20_000, SEED * 20_000 + series(6, 40)):
            rng, folder = random.Random(seed), f"{seed}"
            names = rng.sample(("a.sqlite", "b.db", "c.sqlite3", "rank1.sqlite", "z_rank-4.db"), rng.randrange(1, 4))
            for name in names:
                os.makedirs(folder, exist_ok=True)
                generate_nsys.write(os.path.join(folder, name), generate_nsys.generate(rng, events=6))
            for name in rng.sample(("c.json", "rank0.json", "x.json"), rng.randrange(3)):
                write(os.path.join(folder, name), run())
            sqlite3.connect(os.path.join(folder, "other.db")).execute("CREATE TABLE t (a)")
            with self.subTest(seed=seed):
                self.compare_events(self.db, folder)
                self.compare_steps(self.db, folder)
                other = self.rows("SELECT rank FROM trace_files(?) WHERE file LIKE '%other.db'", folder)
                self.assertEqual(other, [(None,)])

    @slow
    def test_rows_that_are_too_long(self):
        """G5: a row that is too long is left out, and later rows are read."""
        for place in ("text", "string", "both"):
            tables = generate_nsys.generate(random.Random(SEED), tidy=True, events=8)
            long = "x" * (16 * 2 ** 20 + 1)
            if place != "string":
                tables["NVTX_EVENTS"].rows[2][1]["text"] = long
            if place != "text":
                tables["StringIds"].rows[0][1]["value"] = long
            path = generate_nsys.write("long.sqlite", tables)
            read.cache_clear()
            with self.subTest(place):
                self.compare(self.db, path)
                problems = self.rows("SELECT problems FROM trace_files('long.sqlite')")
                self.assertEqual(any("longer than 16 MiB" in problem for problem, in problems), place != "string")


def decimal(ns):
    """us, as text (T1)."""
    return f"{'-' if ns < 0 else ''}{abs(ns) // 1000}.{abs(ns) % 1000:03}"


def as_kineto(file):
    """The rows of a part as a trace in JSON, each at its event number."""
    rows = {row.event: row for row in file.rows + file.marks}
    events = []
    for number in range(max(rows, default=-1) + 1):
        row = rows.get(number)
        if row is None:
            events.append({"ph": "M", "name": "nothing"})
            continue
        event = {"ph": row.ph, "name": row.name, "cat": row.cat, "pid": row.pid, "tid": row.tid,
                 "ts": None if row.ts_ns is None else decimal(row.ts_ns),
                 "dur": None if row.dur_ns is None or row.ph != "X" else decimal(row.dur_ns),
                 "args": {key: value for key, value in (("stream", row.stream), ("correlation", row.correlation))
                          if value is not None}}
        events.append({key: value for key, value in event.items() if value is not None})
    return {"distributedInfo": {"rank": file.rank}, "traceEvents": events}


class AgainstJson(InFolder):
    """A database and its rows in Kineto's JSON give the same answers."""

    SAME = (f"SELECT {COLUMNS}, parent, depth, ts, dur, self_dur FROM trace_events(?, NULL, NULL, 'XBi')"
            f" ORDER BY rank, event",
            "SELECT rank, event, operator FROM trace_events(?, NULL, NULL, NULL, 'aten::') ORDER BY rank, event",
            "SELECT rank, iteration, ts_ns, dur_ns FROM trace_steps(?) ORDER BY 1, 2, 3",
            *(f"SELECT * FROM trace_step_time(?, 'all', 'all', '{level}') ORDER BY 1, 2, 3, 4" for level in LEVELS),
            "SELECT * FROM trace_step_time(?, 'all', 'all', 'op', 'host') ORDER BY 1, 2, 3, 4",
            "SELECT rank, event, launch, op, top_op, annotation FROM trace_kernel_owners(?, 'all', 'all')"
            " ORDER BY 1, 2",
            "SELECT * FROM trace_step_path(?, 'all', 'all') ORDER BY 1, 2, 3, 4, 5, 6, 7, 8",
            "SELECT * FROM temporal_breakdown(?) ORDER BY rank",
            "SELECT iteration, process_group, name, seq, rank_count, transfer, max_wait, last_rank, spread_end,"
            " collective, bytes, algorithm, protocol FROM trace_collectives(?) ORDER BY 1, 2, 3, 4, 5",
            "SELECT * FROM cuda_kernel_launch_stats(?) ORDER BY 1, 2, 3, 4, 5")

    def ask(self, sql, path):
        """The rows or the error, with 'it' for each path."""
        def unnamed(value):
            return re.sub(rf"\b(json/\d+\.json|{re.escape(path)})\b|{re.escape(path)}", "it", str(value))
        try:
            return [[unnamed(value) if isinstance(value, str) else value for value in row]
                    for row in self.rows(sql, path)]
        except sqlite3.Error as error:
            return unnamed(error)

    def compare(self, path):
        trace = oracle_nsys.read_trace(path)
        for number, file in enumerate(trace.files):
            write(f"json/{number:03}.json", as_kineto(file))
        for sql in self.SAME:
            with self.subTest(sql):
                self.assertEqual(self.ask(sql, path), self.ask(sql, "json"))
        for sql in ("SELECT name FROM trace_diff(?, ?, 'all', 'all', 'all', 'all') WHERE diff_counts OR diff_duration",
                    "SELECT name FROM trace_step_diff(?, ?, 'all', 'all', 'all', 'all') WHERE control_ns <> test_ns"):
            for pair in ((path, "json"), ("json", path)):
                try:
                    self.assertEqual(self.rows(sql, *pair), [])
                except sqlite3.Error:  # T8, T12: not for these either
                    with self.assertRaises(sqlite3.Error):
                        self.rows(sql, "json", "json")
        return len(trace.rows)

    def test_samples_as_json(self):
        for name in SAMPLES:
            with self.subTest(name):
                self.assertGreater(self.compare(sample(name + ".sqlite")), 10)
            self.clear()

    def test_random_databases_as_json(self):
        for seed in range(SEED * 30_000, SEED * 30_000 + series(10, 80)):
            path = generate_nsys.write("run.sqlite", generate_nsys.generate(random.Random(seed)))
            with self.subTest(seed=seed):
                self.compare(path)
            self.clear()

    def clear(self):
        for name in os.listdir("json"):
            os.remove(os.path.join("json", name))


# ---- changes that must not matter -------------------------------------------

def vacuumed(rng, tables, path):
    generate_nsys.write(path, tables)
    db = sqlite3.connect(path)
    db.execute("VACUUM")
    db.close()


def among_others(rng, tables, path):
    """Shuffles other tables, views, indexes and triggers of an export between its tables."""
    others = {"OSRT_API": Table({"start": "INTEGER", "end": "INTEGER", "globalTid": "INTEGER"},
                                [(None, {"start": 1, "end": 2, "globalTid": 999 << 24})]),
              "CUPTI_ACTIVITY_KIND_OVERHEAD": Table({"start": "INTEGER", "a b": ""}, [(None, {"start": 5})]),
              "ENUM_CUDA_MEMCPY_OPER": Table({"id": "INTEGER", "name": "TEXT"}, [(None, {"id": 1, "name": "x"})])}
    order = list({**tables, **others}.items())
    rng.shuffle(order)
    generate_nsys.write(path, dict(order), views=(
        "CREATE VIEW CUPTI_ACTIVITY_KIND_X AS SELECT 1 AS start", "CREATE INDEX i ON OSRT_API (start)",
        "CREATE TRIGGER t AFTER INSERT ON OSRT_API BEGIN DELETE FROM StringIds; END"))


def renumbered(rng, tables, path):
    """Strings get other ids, which are no longer the key; each text has two."""
    ids = {}

    def new(number):
        return ids.setdefault(number, 10 ** 12 - 13 * len(ids)) if isinstance(number, int) else number
    rows = [{**values, "id": new(values["id"])} for _, values in tables["StringIds"].rows]
    rows += [{**values, "id": -values["id"]} for values in rows]
    rng.shuffle(rows)
    made = {"StringIds": Table({"value": "TEXT", "id": ""}, [(None, values) for values in rows])}
    for name, table in tables.items():
        if name != "StringIds":
            made[name] = Table(table.columns, [(rowid, {
                column: new(value) * rng.choice((1, -1)) if column in OF_STRINGS and isinstance(value, int) else value
                for column, value in values.items()}) for rowid, values in table.rows])
    generate_nsys.write(path, made)


def spaced(rng, tables, path):
    """Gaps between rowids, negative rowids, more columns in another order, another page size and encoding."""
    made = {}
    for name, table in tables.items():
        columns = [*table.columns.items(), ("another", "BLOB")]
        rng.shuffle(columns)
        ids = sorted(rng.sample(range(-10 ** 6, 10 ** 6), len(table.rows)))
        rows = [(None if "KEY" in str(columns) else rowid, values) for rowid, (_, values) in zip(ids, table.rows)]
        rng.shuffle(rows)
        made[name] = Table(dict(columns), rows)
    generate_nsys.write(path, made, encoding=rng.choice(("UTF-16le", "UTF-16be")), page_size=1024, wal=True)


def versioned(rng, tables, path):
    generate_nsys.write(path, {
        name + rng.choice(("", "_V2", "_V3")) if name.startswith(("CUPTI", "NVTX")) else name: table
        for name, table in tables.items()})


def spelt(rng, tables, path):
    """G8: integers as TEXT."""
    generate_nsys.write(path, {name: Table({column: "TEXT" if type_ == "INTEGER" else type_
                                            for column, type_ in table.columns.items()}, table.rows)
                               for name, table in tables.items()})


def by_id(rng, tables, path):
    """Moves the texts of ranges to the string table."""
    strings, events = tables["StringIds"], tables["NVTX_EVENTS"]
    rows, texts = [], []
    for rowid, values in events.rows:
        if values["text"] is not None:
            texts.append((None, {"id": 10 ** 6 + len(texts), "value": values["text"]}))
            values = {**values, "text": None, "textId": texts[-1][1]["id"]}
        rows.append((rowid, values))
    columns = dict(events.columns)
    if rng.random() < 0.5:
        del columns["text"]
    generate_nsys.write(path, {**tables, "StringIds": Table(strings.columns, strings.rows + texts),
                               "NVTX_EVENTS": Table(columns, rows)})


class Changes(InFolder):
    """Changes of a database that must not matter."""

    CHANGES = (vacuumed, among_others, renumbered, spaced, versioned, spelt, by_id)
    ASK = (STACKS.format(COLUMNS), "SELECT rank, events, rows, skipped, problems FROM trace_files(?)",
           "SELECT key, value FROM trace_metadata(?)", "SELECT * FROM trace_step_time(?, 'all', 'all')")

    def answers(self, path):
        made = []
        for sql in self.ASK:
            try:
                made.append(self.rows(sql, path))
            except sqlite3.Error as error:
                made.append(str(error).replace(path, "it"))
        return made

    def test_changes(self):
        rows = 0
        for seed in range(SEED * 40_000, SEED * 40_000 + series(2, 20)):
            rng = random.Random(seed)
            tables = generate_nsys.generate(rng, tidy=True)
            wanted = self.answers(generate_nsys.write("old.sqlite", tables))
            rows += len(wanted[0])
            for number, change in enumerate(self.CHANGES):
                path = f"new {number}.db"
                change(rng, tables, path)
                with self.subTest(seed=seed, change=change.__name__):
                    self.assertEqual(self.answers(path), wanted)
                os.remove(path)
        self.assertGreater(rows, 100)


class Sequences(InFolder):
    """Answers about databases with several parts do not depend on earlier queries of the connection."""

    PATHS = ("a.db", "d", "d/b.db", '["a.db", "d/b.db"]')
    RANKS = ("NULL", "'all'", "0", "1", "'[0,2]'", "5")

    def question(self, rng):
        path, ranks = rng.choice(self.PATHS), rng.choice(self.RANKS)
        phases = rng.choice(("NULL", "'all'", "'i'"))
        return rng.choice((
            f"SELECT rank, event, name, args, link FROM trace_events('{path}', {ranks}, NULL, {phases})",
            f"SELECT * FROM trace_ops('{path}', {ranks}, 'all')",
            f"SELECT rank, rows, steps, problems FROM trace_files('{path}')", f"SELECT * FROM trace_metadata('{path}')",
            f"SELECT * FROM trace_diff('{path}', '{rng.choice(self.PATHS)}', {ranks}, 1, 'all', 'all')",
            f"SELECT a.event, b.args FROM trace_events('{path}', {ranks}) AS a, trace_events('{path}') AS b"
            " WHERE a.link = b.event AND a.rank = b.rank AND a.file = b.file"))

    @staticmethod
    def answer(db, sql):
        try:
            return db.execute(sql).fetchall()
        except sqlite3.Error as error:
            return str(error)

    def test_questions(self):
        made = [generate_nsys.generate(random.Random(seed), tidy=True, events=6) for seed in (0, 6)]
        write("d/rank1.json", run())
        generate_nsys.write("d/b.db", made[0])
        generate_nsys.write("d/c.sqlite", made[1])
        for seed in range(SEED * 50_000, SEED * 50_000 + series(5, 30)):
            rng, asked = random.Random(seed), []
            generate_nsys.write("a.db", made[0])
            db = connect()
            for _ in range(12):
                if rng.random() < 0.1:
                    generate_nsys.write("a.db", rng.choice(made))
                    asked.append("a.db is another")
                asked.append(self.question(rng))
                new = connect()
                self.assertEqual(self.answer(db, asked[-1]), self.answer(new, asked[-1]), asked)
                new.close()
            db.close()


class Texts(InFolder):
    """N7, N10: single ranges, made by hand."""

    PROCESS = 1 << 24

    def ranges(self, *texts, type_=59):
        rows = [(None, {"start": 10 * at, "end": 10 * at + 5, "eventType": type_, "text": text,
                        "globalTid": self.PROCESS | 1}) for at, text in enumerate(texts)]
        columns = dict.fromkeys(("start", "end", "eventType", "text", "globalTid"), "")
        generate_nsys.write("x.db", {"StringIds": Table({"id": "INTEGER PRIMARY KEY", "value": "TEXT"}),
                                     "NVTX_EVENTS": Table(columns, rows)})
        return self.rows("SELECT name, cat, args FROM trace_events('x.db', NULL, NULL, 'XBi') ORDER BY event")

    def test_emitted(self):
        for text, name, cat, args in (
                ("aten::mm, seq = 7, op_id = 12, sizes = [[8, 512], []], input_op_ids = [(3,0), (4,1)]", "aten::mm",
                 "cpu_op", '{"Record function id":12,"Sequence number":7,"Input Dims":[[8,512],[]]}'),
                ("MmBackward0, seq = 7", "MmBackward0", "cpu_op", '{"Sequence number":7}'),
                ("FSDP::pre_forward (a, seq = 1), op_id = 14", "FSDP::pre_forward (a, seq = 1)", "user_annotation",
                 '{"Record function id":14}'),
                ("detach_, op_id = 1", "detach_", "cpu_op", '{"Record function id":1}'),
                ("aten::mm", "aten::mm", "user_annotation", None),
                ("a, seq = 1, b", "a, seq = 1, b", "user_annotation", None),
                ("a, op_id = 1, seq = 2", "a, op_id = 1", "cpu_op", '{"Sequence number":2}'),
                ("a, seq = 1, seq = 2", "a, seq = 1", "cpu_op", '{"Sequence number":2}'),
                ("a, seq = 007", "a", "cpu_op", '{"Sequence number":7}'),
                ("a::b, sizes = [[08]]", "a::b, sizes = [[08]]", "user_annotation", None),  # not JSON
                ("a::b, sizes = [[1,]]", "a::b, sizes = [[1,]]", "user_annotation", None),
                (", seq = 1", "", "cpu_op", '{"Sequence number":1}'),
                ("\u00e9, seq = 1", "\u00e9", "cpu_op", '{"Sequence number":1}')):
            with self.subTest(text):
                self.assertEqual(self.ranges(text), [(name, cat, args)])

    def test_markers_of_dlprof(self):
        """N7.4: DLProf's markers are recognised."""
        def named(text):
            (name, cat, args), = self.ranges(text)
            self.assertEqual(cat, "user_annotation")
            self.assertEqual(args and json.loads(args), None if name == text else {"nvtx": text})
            return name
        stack = "{'traceMarker': ['net.py:42', '/lib/torch/nn/modules/linear.py:103'], 'funcStack': '%s'}"
        for path, name in (("/<module>/Net::forward/Linear::_call_impl(5)/Linear::forward/linear", "linear"),
                           ("/<module>/Net::forward/relu(4)", "relu"), ("/<module>/Net::cuda/<lambda>", "<lambda>"),
                           ("/<module>/f(x)", "f(x)"), ("/<module>/(4)", "(4)"), ("iter 3", "iter 3")):
            self.assertEqual(named(stack % path), name)
        for text, name in (("{'traceMarker': '//dummy_network::_call_impl/dummy_network::forward'}",
                            "dummy_network::forward"),
                           ("{'traceMarker': ['net.py:42', '/lib/linear.py:103']}", "linear.py:103"),
                           ("{'mod': 'torch.nn.functional', 'op': 'conv2d', 'args': [{'name': '', 'shape': (1, 3)}]}",
                            "conv2d")):
            self.assertEqual(named(text), name)
        for text in (stack % "/<module>/", "{'traceMarker': []}", "{'traceMarker': ['a'], 'funcStack': '/cut",
                     "{'mod': 'x'}", " {'traceMarker': 'a'}", '{"model_config": {"emit_nvtx": true}}', "traceMarker"):
            self.assertEqual(named(text), text)

    def test_texts_that_name_steps(self):
        def names(*texts):
            return [name for name, _, _ in self.ranges(*texts)]
        self.assertEqual(names("step 3", "STEP_4", "Step: 05", "step#=-6", "step7"),
                         [f"ProfilerStep#{number}" for number in (3, 4, 5, 6, 7)])
        self.assertEqual(self.ranges("step 3, op_id = 9"), [
            ("ProfilerStep#3", "user_annotation", '{"Record function id":9,"nvtx":"step 3, op_id = 9"}')])
        words = ["ProfilerStep", "step", "train_step", "training_step", "iteration", "iter"]
        for first in range(len(words)):  # the first of these words that is there
            texts = [f"{word} 1" for word in reversed(words[first:])]
            self.assertEqual(names(*texts), texts[:-1] + ["ProfilerStep#1"])
        for text in ("step", "step 1 of 3", "a step 1", "step\t1", "steps 1", "step 1.5", "step 1 ", "step \u0663", "1",
                     "step 99999999999999999999"):
            self.assertEqual(names(text, "iter 2"), [text, "ProfilerStep#2"])
        self.assertEqual(self.ranges("step 3", type_=34), [("step 3", "user_annotation", None)])


class Databases(InFolder):
    """G1, G2, G8, T16: which files are traces, and which are errors."""

    def database(self, path, *statements):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        db = sqlite3.connect(path, isolation_level=None)
        for statement in statements:
            db.execute(statement)
        db.close()
        return path

    def assert_trace_error(self, message, path):
        for function in ("trace_events", "trace_ops", "trace_step_time"):
            self.assert_error(f"{function}: {message}", f"SELECT * FROM {function}(?)", path)

    def test_of_no_profiler(self):
        for statement in ("CREATE TABLE t (a)", "CREATE TABLE StringIds (id, value)",
                          "CREATE VIEW NVTX_EVENTS AS SELECT 1 AS start", "CREATE TABLE NVTX_EVENTS (start)"):
            self.database("x.db", statement)
            self.assert_trace_error("'x.db': a SQLite database of no known profiler", "x.db")
            os.remove("x.db")

    def test_an_export_without_tables_of_events(self):
        """N1.3: the error for an export without event tables lists the missing tables. Results that need no event exist
        (T15).
        """
        strings = "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value)"
        head = "CREATE TABLE META_DATA_EXPORT (name, value)"
        ranges = "CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid)"
        lacks = ("CUPTI_ACTIVITY_KIND_RUNTIME, _KERNEL, _MEMCPY, _MEMSET, _GRAPH_TRACE and _SYNCHRONIZATION;"
                 " record with nsys profile -t cuda,nvtx")
        for statements, message in (
                ([strings, head], f"lacks the tables NVTX_EVENTS, {lacks}"),
                ([head], f"lacks the tables NVTX_EVENTS, {lacks}"),
                ([strings, ranges], f"has no row in NVTX_EVENTS, and lacks the tables {lacks}"),
                ([strings, ranges, "INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, 'a', 1)"], None),
                ([strings, "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName)"], None)):
            self.database("x.db", *statements)
            message = message and f"'x.db': no events: the export of Nsight Systems {message}"
            with self.subTest(statements):
                self.assertEqual(self.value("SELECT problems ->> '$[0].what' FROM trace_files('x.db')"), message)
                if message:
                    self.assert_error(f"trace_summary: {message}", "SELECT * FROM trace_summary('x.db', 'x.db')")
            os.remove("x.db")

    def test_changes_that_are_not_in_it_yet(self):
        for suffix in ("-wal", "-journal"):
            generate_nsys.write("x.db", generate_nsys.generate(random.Random(1), tidy=True))
            write("x.db" + suffix, "x")
            self.assert_trace_error(
                f"cannot read 'x.db': it has changes in 'x.db{suffix}' that are not in it yet", "x.db")
            write("x.db" + suffix, "")
            self.assertGreater(self.value("SELECT count(*) FROM trace_events('x.db')"), 0)
            os.remove("x.db" + suffix)

    def test_a_required_column(self):
        generate_nsys.write("x.db", generate_nsys.generate(random.Random(2), tidy=True))
        whole = self.rows("SELECT event, args FROM trace_events('x.db') ORDER BY event")
        for table, columns in (("NVTX_EVENTS", ("start",)), ("CUPTI_ACTIVITY_KIND_KERNEL", ("start",)),
                               ("CUPTI_ACTIVITY_KIND_KERNEL", ("demangledName", "shortName"))):
            tables = generate_nsys.generate(random.Random(2), tidy=True)
            for column in columns:
                del tables[table].columns[column]
            generate_nsys.write("x.db", tables)
            message = f"'x.db': table {table} has no column {columns[0]}"
            self.assert_error("trace_step_time: " + message, "SELECT * FROM trace_step_time('x.db')")
            self.assertEqual(self.value("SELECT problems ->> '$[0].what' FROM trace_files('x.db')"), message)
            found = self.rows("SELECT event, args FROM trace_events('x.db') ORDER BY event")  # events before it (T15)
            self.assertEqual(found, [row for row in whole if row[0] < found[-1][0] + 1] if found else [])
            self.assertEqual(len(found) > 0, table != "NVTX_EVENTS")

    def test_what_counts_as_a_table_and_a_column(self):
        """G3: neither views nor generated columns count; rows are in rowid order, whatever columns are called."""
        range_ = "(start, end, eventType, text, globalTid{})"
        for statements, names in (
                ([f"CREATE TABLE NVTX_EVENTS {range_.format(', rowid')}",
                  "INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, 'a', 1, 9), (1, 2, 59, 'b', 1, 3)"], ["a", "b"]),
                (["CREATE TABLE NVTX_EVENTS (start, end, eventType, globalTid, text AS ('x'), textId AS (1) STORED)",
                  "INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, 1)", "INSERT INTO StringIds VALUES (1, 'y')"], [None]),
                (["CREATE VIEW NVTX_EVENTS_V9 AS SELECT 1 AS start", f"CREATE TABLE nvtx_events_V2 {range_.format('')}",
                  "INSERT INTO NVTX_EVENTS_V2 VALUES (1, 2, 59, 'a', 1)"], ["a"]),
                (["CREATE TABLE NVTX_EVENTS (end, eventType, text, globalTid, start AS (end - 1))",
                  "INSERT INTO NVTX_EVENTS VALUES (2, 59, 'a', 1)"], "table NVTX_EVENTS has no column start"),
                (["CREATE TABLE NVTX_EVENTS (start PRIMARY KEY, end, eventType, text, globalTid) WITHOUT ROWID",
                  "INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, 'a', 1)"], "no such column: rowid (table NVTX_EVENTS)")):
            self.database("x.db", "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value)", *statements)
            with self.subTest(statements):
                found = [name for name, in self.rows("SELECT name FROM trace_events('x.db') ORDER BY event")]
                self.assertEqual(found, [] if isinstance(names, str) else names)
                if isinstance(names, str):
                    self.assert_error(f"trace_step_time: 'x.db': {names}", "SELECT * FROM trace_step_time('x.db')")
            os.remove("x.db")

    def test_phases_asked_for_one_after_another(self):
        path = sample("nsys_rules_one.sqlite")
        for order in itertools.permutations((("NULL", 26), ("'all'", 27), ("'X'", 25), ("'i'", 1))):
            db = connect()
            for phases, count in order:
                found = db.execute(f"SELECT count(*) FROM trace_events(?, NULL, NULL, {phases})", (path,)).fetchall()
                self.assertEqual(found, [(count,)], order)
                self.assertEqual(db.execute("SELECT rows FROM trace_files(?)", (path,)).fetchall(), [(26,)])
            db.close()

    def test_nothing_is_written(self):
        os.mkdir("a")
        generate_nsys.write("a/x.db", generate_nsys.generate(random.Random(3), tidy=True), wal=True)
        with open("a/x.db", "rb") as file:
            before = file.read()
        os.chmod("a/x.db", 0o444)
        self.assertGreater(self.value("SELECT count(*) FROM trace_events('a')"), 0)
        self.assertGreater(self.value("SELECT count(args) FROM trace_events('a')"), 0)
        self.assertEqual(os.listdir("a"), ["x.db"])
        with open("a/x.db", "rb") as file:
            self.assertEqual(file.read(), before)

    def test_a_directory_of_other_databases(self):
        self.database("a/x.db", "CREATE TABLE t (a)")
        with self.assertRaises(sqlite3.Error):
            self.rows("SELECT * FROM trace_events('a')")
        write("a/rank2.json", run())
        self.assertEqual(self.rows("SELECT DISTINCT rank, file FROM trace_events('a')"), [(2, "a/rank2.json")])
        listed = self.rows("SELECT file, rank FROM trace_files('a') ORDER BY file")
        self.assertEqual(listed, [("a/rank2.json", 2), ("a/x.db", None)])


if __name__ == "__main__":
    unittest.main()
