"""Databases of rocprofv3 (R1 to R9): against the rows recorded for one, and the oracle (oracle_rocpd.py) on random ones
(generate_rocpd.py).

    SEED    begins another series of databases (default 1)
"""
import csv
import json
import os
import random
import sqlite3
import unittest
from contextlib import closing

import generate_rocpd
import oracle_rocpd
from generate_rocpd import Table, write
from made import InFolder
from oracle_nsys import path_of
from support import DATA, connect, corpus, series
from test_nsys import as_csv, parsed
from test_oracle import sort_key

SEED = int(os.environ.get("SEED") or 1)
SAMPLE = os.path.join(DATA, "rocpd", "rocpd_v3")
COLUMNS = "event, rank, device, ph, cat, name, pid, tid, ts_ns, dur_ns, stream, correlation, link"
ROWS = f"SELECT {COLUMNS}, iteration, args FROM trace_events(?, NULL, NULL, 'all') ORDER BY event"
FILES = "SELECT file, rank, rows, events, start_ns, end_ns FROM trace_files(?)"
STEPS = "SELECT rank, iteration, ts_ns, dur_ns FROM trace_steps(?)"
UNTRIED = "format not tried on a real file"


class AgainstOracle(unittest.TestCase):
    """A database gives the rows of an oracle."""

    maxDiff = 2000

    def compare(self, db, path, trace):
        rows = sorted((row for file in trace.files for row in file.rows + getattr(file, "marks", [])),
                      key=lambda row: row.event)
        expected = [(*(getattr(row, column) for column in f"{COLUMNS}, iteration".split(", ")), parsed(row.args))
                    for row in rows]
        found = [(*row[:-1], parsed(row[-1])) for row in db.execute(ROWS, (path,))]
        for row, wanted in zip(found, expected):
            self.assertEqual(row, wanted)
        self.assertEqual(len(found), len(expected))
        files = [(path_of(file.path), file.rank, len(file.rows), file.events, file.first_ns, file.last_ns)
                 for file in trace.files]
        self.assertEqual(sorted(db.execute(FILES, (path,)), key=sort_key), sorted(files, key=sort_key))
        if len(trace.ranks) == len(trace.files):
            steps = [(step.rank, step.iteration, step.ts_ns, step.dur_ns) for step in trace.steps]
            self.assertEqual(sorted(db.execute(STEPS, (path,)), key=sort_key), sorted(steps, key=sort_key))


class Sample(unittest.TestCase):
    """The database that was made for the rules gives its recorded rows."""

    def expected(self):
        with open(SAMPLE + ".expected.csv", encoding="utf-8") as file:
            return file.read()

    def test_rows_of_the_sample(self):
        rows = connect().execute(f"SELECT {COLUMNS} FROM trace_events(?) ORDER BY event", (SAMPLE + ".db",))
        self.assertEqual(as_csv(COLUMNS, rows), self.expected())

    def test_the_oracle_gives_the_rows_of_the_sample(self):
        rows = oracle_rocpd.read_trace(SAMPLE + ".db").rows
        self.assertEqual(as_csv(COLUMNS, [[getattr(row, column) for column in COLUMNS.split(", ")] for row in rows]),
                         self.expected())

    def test_answers(self):
        """Answers from the recorded rows are equal."""
        db = connect()
        owners = db.execute("SELECT op, name, count(*) FROM trace_kernel_owners(?, 'all', 'all') GROUP BY 1, 2"
                            " ORDER BY 1, 2",
                            (SAMPLE + ".db",)).fetchall()
        self.assertEqual(owners, [
            (None, "Memcpy HtoD (Host -> Device)", 2), (None, "gemm(float*)", 1), ("aten::mm", "gemm(float*)", 4),
            ("aten::mm", "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", 2)])
        for step, length in db.execute("SELECT iteration, sum(time_ns)"
                                       " FROM trace_step_time(?, 'all', 'all') GROUP BY 1",
                                       (SAMPLE + ".db",)):
            window, = db.execute("SELECT sum(dur_ns) FROM trace_steps(?) WHERE iteration = ?",
                                 (SAMPLE + ".db", step)).fetchone()
            self.assertGreater(length, window / 4)
        self.assertEqual(db.execute("SELECT class, sum(time_ns) FROM trace_step_time(?, 'all', 'all') GROUP BY 1 HAVING"
                                    " class IN ('comm', 'memory')", (SAMPLE + ".db",)).fetchall(),
                         [("comm", 120013), ("memory", 10002)])

    def test_says_that_no_real_file_was_tried(self):
        problems, = connect().execute("SELECT problems FROM trace_files(?)", (SAMPLE + ".db",)).fetchone()
        self.assertIn(UNTRIED, [problem["what"] for problem in json.loads(problems)])


class Real(InFolder, AgainstOracle):
    """A capture of schema 4 on an MI300X gives the rows of AMD's own views, and 22 links."""

    def setUp(self):
        super().setUp()
        data = corpus("rocpd", "v4_realcapture_data.sql")
        self.recorded = data.removesuffix("_data.sql")
        with open(data, encoding="utf-8") as file, closing(sqlite3.connect("v4.db")) as db:
            db.executescript(file.read())

    def test_rows(self):
        with open(self.recorded + ".expected.csv", encoding="utf-8") as file:
            expected = list(csv.reader(file))
        rows = self.rows(f"SELECT {COLUMNS} FROM trace_events('v4.db') ORDER BY event")
        self.assertEqual([["" if value is None else str(value) for value in row] for row in rows], expected[1:])

    def test_counts_and_sums(self):
        self.assertEqual(self.rows("SELECT cat, count(*), sum(dur_ns), count(link)"
                                   " FROM trace_events('v4.db') GROUP BY cat ORDER BY cat"),
                         [("cuda_driver", 384, 30929534, 22), ("gpu_memcpy", 2, 4818581, 2),
                          ("kernel", 20, 148019, 20)])
        self.assertEqual(self.rows("SELECT min(ts_ns) FROM trace_events('v4.db') WHERE cat <> 'gpu_memcpy'"
                                   " GROUP BY cat ORDER BY cat"), [(516609802359041,), (516609921772013,)])

    def test_the_file(self):
        self.assertEqual(self.rows("SELECT rank, rows, events, problems FROM trace_files('v4.db')"),
                         [(0, 406, 406, "[]")])
        self.assertEqual(dict(self.rows("SELECT key, value FROM trace_metadata('v4.db')")),
                         {"producer": "rocprofv3", "schema": "4", "pid": 1923546})

    def test_args(self):
        args = [json.loads(args) for args, in self.rows("SELECT args FROM trace_events('v4.db') WHERE device = 'GPU'"
                                                        " AND cat = 'kernel'")]
        self.assertEqual({tuple(value["grid"] + value["block"] + [value["queue"]]) for value in args},
                         {(64, 64, 1, 16, 16, 1, 1)})
        args = [json.loads(args) for args, in self.rows("SELECT args FROM trace_events('v4.db')"
                                                        " WHERE cat = 'gpu_memcpy'")]
        self.assertEqual([(value["device"], value["bytes"], "queue" in value) for value in args],
                         2 * [(0, 4194304, False)])

    def test_the_oracle_gives_the_same(self):
        self.compare(self.db, "v4.db", oracle_rocpd.read_trace("v4.db"))


class Random(InFolder, AgainstOracle):
    def test_databases(self):
        rows = parts = 0
        for seed in range(SEED * 10_000, SEED * 10_000 + series(12, 100)):
            rng = random.Random(seed)
            tables = generate_rocpd.generate(rng)
            views = generate_rocpd.views(tables) if len(tables) <= len(generate_rocpd.COLUMNS) else ()
            path = write(rng.choice(("results.db", "rank3.db", "7.rocpd")), tables, views=views)
            trace = oracle_rocpd.read_trace(path)
            with self.subTest(seed=seed):
                self.compare(self.db, path, trace)
            rows, parts = rows + len(trace.rows), parts + len(trace.files)
            os.remove(path)
        self.assertGreater(rows, series(250, 500))
        self.assertGreater(parts, series(12, 30))


class Schema4(InFolder):
    """R9: the rows of schema 3 in the tables of schema 4."""

    def test_the_same_rows(self):
        for seed in range(series(4, 40)):
            expected = None
            for schema in ("3", "4.0", "4.1"):
                path = write("x.db", generate_rocpd.generate(random.Random(seed), processes=1, tidy=True,
                                                              schema=schema))
                rows = [(*row[:-1], parsed(row[-1])) for row in self.rows(ROWS, path)]
                expected = expected or rows
                with self.subTest(seed=seed, schema=schema):
                    self.assertEqual(rows, expected)
                    self.assertGreater(len(rows), 0)

    def test_only_schema_3_was_not_tried(self):
        for schema, untried in (("3", True), ("4.0", False)):
            path = write("x.db", generate_rocpd.generate(random.Random(1), processes=1, tidy=True, schema=schema))
            problems = self.value("SELECT problems FROM trace_files(?)", path)
            self.assertEqual(UNTRIED in [problem["what"] for problem in json.loads(problems)], untried)

    def test_an_unknown_timestamp(self):
        """R9: an unknown timestamp is NULL, and counted."""
        tables = generate_rocpd.generate(random.Random(1), processes=1, tidy=True, schema="4.0", events=6)
        region = next(table for name, table in tables.items() if name.startswith("rocpd_region"))
        region.rows[0][1]["start_id"] = 0
        region.rows[1][1]["end_id"] = None
        path = write("x.db", tables)
        self.assertEqual(self.rows("SELECT ts_ns IS NULL, dur_ns FROM trace_events(?) ORDER BY event LIMIT 2", path),
                         [(1, None), (0, None)])
        problems = {problem["what"]: problem["count"]
                    for problem in json.loads(self.value("SELECT problems FROM trace_files(?)", path))}
        self.assertEqual(problems["ts or dur is not a time"], 2)

    def test_tables_of_a_viewer(self):
        """A viewer's tables, whose names also end in the guid, do not matter."""
        path = write("x.db", generate_rocpd.generate(random.Random(1), processes=1, tidy=True, schema="4.0"))
        rows = self.rows(ROWS, path)
        with closing(sqlite3.connect(path)) as db:
            suffix, = db.execute("SELECT substr(name, 14) FROM sqlite_master"
                                 " WHERE name LIKE 'rocpd_region%'").fetchone()
            db.execute(f"CREATE TABLE roc_optiq_event_levels_region_{suffix} (id INTEGER PRIMARY KEY, start INTEGER)")
        self.assertEqual(self.rows(ROWS, path), rows)


class Rules(InFolder):
    def made(self, name="results.db", change=None, processes=1, seed=1):
        """A tidy database after changing the tables of a process, which are given without their suffix."""
        tables = generate_rocpd.generate(random.Random(seed), processes=processes, tidy=True, events=6, schema="3")
        if change:
            change({name[:-37]: table for name, table in tables.items()})
        return write(name, tables)

    def with_environments(self, *environments, name="results.db"):
        tables = generate_rocpd.generate(random.Random(1), processes=len(environments), tidy=True, events=6)
        processes = [table for table_name, table in sorted(tables.items())
                     if table_name.startswith("rocpd_info_process_")]
        for table, environment in zip(processes, environments):
            table.rows[0][1]["environment"] = environment
        return write(name, tables)

    def ranks(self, path):
        return [rank for rank, in self.rows("SELECT rank FROM trace_files(?) ORDER BY rank", path)]

    def test_rank_of_the_environment(self):
        """R4: the rank comes from the environment."""
        for environment, rank in (('{"RANK": "3", "PMI_RANK": "4"}', 3), ('{"PMI_RANK": "4", "PMIX_RANK": "5"}', 5),
                                  ('{"PMIX_RANK": "5", "OMPI_COMM_WORLD_RANK": "6"}', 6), ('{"SLURM_PROCID": "8"}', 8),
                                  ('{"SLURM_PROCID": "8", "PMI_RANK": "4"}', 4), ('{"RANK": 7}', 7),
                                  ('{"RANK": "-1", "PMI_RANK": "4"}', 4), ('{"LOCAL_RANK": "2"}', 0), ("{}", 0),
                                  ('{"A": {"RANK": "9"}, "B": ["RANK", "8"], "RANK": "1"}', 1), ("not JSON", 0),
                                  (None, 0)):
            with self.subTest(environment):
                self.assertEqual(self.ranks(self.with_environments(environment)), [rank])
        self.assertEqual(self.ranks(self.with_environments("{}", name="x_rank7.db")), [7])

    def test_processes_are_parts(self):
        """R1: several processes in one database are ranks of it, and (file, event) distinguishes their events."""
        path = self.with_environments('{"RANK": "5"}', "{}", '{"RANK": "0"}', name="rank7.db")
        self.assertEqual(self.ranks(path), [0, 1, 5])
        events = [event for event, in self.rows("SELECT event FROM trace_events(?)", path)]
        self.assertEqual(len(events), len(set(events)))
        self.assertEqual(self.value("SELECT count(DISTINCT file) FROM trace_events(?)", path), 1)
        self.assertEqual(self.value("SELECT count(*) FROM trace_events(?) AS a JOIN trace_events(?) AS b"
                                    " ON b.event = a.link WHERE a.rank <> b.rank", path, path), 0)
        self.assertEqual(self.value("SELECT max(event) + 1 FROM trace_events(?)", path),
                         self.value("SELECT sum(events) FROM trace_files(?)", path))

    def test_other_schemas(self):
        """R1: other schemas are errors."""
        def version(value):
            def change(tables):
                tables["rocpd_metadata"].rows[0][1]["value"] = value
            return change

        for value in ("3", "3.0.0", "3.0.5", "3.1", "4", "4.0.0", "4.1"):
            self.assertEqual(len(self.ranks(self.made(change=version(value)))), 1)
        for number in (5, 30, 40, 2):
            path = self.made(change=version(f"{number}.0.1"))
            with self.subTest(number=number):
                self.assert_error(f"trace_events: '{path}': rocpd schema {number} is not known",
                                  "SELECT * FROM trace_events(?)", path)

    def test_another_format_of_this_name(self):
        """R1: RPD, a format of this name, has tables with the plain names."""
        write("trace.rpd", {name: Table({"id": "INTEGER PRIMARY KEY", "start": "INTEGER"})
                            for name in ("rocpd_string", "rocpd_api", "rocpd_op", "rocpd_kernelapi")})
        write("none.rpd", {name: Table({"id": "INTEGER PRIMARY KEY"}) for name in ("rocpd_string_", "rocpd_region_")})
        for name in ("trace.rpd", "none.rpd"):
            self.assert_error(f"trace_events: '{name}': a SQLite database of no known profiler",
                              f"SELECT * FROM trace_events('{name}')")

    def test_views_are_not_read(self):
        """R1: views are not read, not even one with the name of a table."""
        path = self.made()
        rows = self.rows(ROWS, path)
        with sqlite3.connect(path) as db:
            db.execute("CREATE VIEW rocpd_string AS SELECT 1 AS id, 'from the view' AS string")
            db.execute("CREATE VIEW rocpd_region_0_0 AS SELECT 1 AS id, 5 AS start")
        db.close()
        self.assertEqual(self.rows(ROWS, path), rows)

    def test_missing_tables(self):
        """Each table may be missing, and all but a few columns; their results are NULL."""
        for name, columns in generate_rocpd.COLUMNS.items():
            def change(tables, name=name):
                tables[name].rows.clear()
            path = self.made(change=change)
            with self.subTest(name):
                self.assertGreater(len(self.rows(ROWS, path)), 0)
            for column in columns[::series(2, 1)]:
                def change(tables, name=name, column=column):
                    del tables[name].columns[column]
                if column == "id" or (name, column) == ("rocpd_kernel_dispatch", "pid"):
                    continue
                path = self.made(change=change)
                with self.subTest(name, column=column):
                    whole = column not in ("start", "timestamp") or name.startswith("rocpd_info_")
                    if whole:
                        self.assertGreater(len(self.rows(ROWS, path)), 0)
                        self.rows("SELECT * FROM trace_diff(?1, ?1, 0, 0)", path)
                    else:
                        with self.assertRaisesRegex(sqlite3.Error, f"table {name}_[0-9a-f_]+ has no column {column}"):
                            self.rows("SELECT * FROM trace_diff(?1, ?1, 0, 0)", path)


if __name__ == "__main__":
    unittest.main()
