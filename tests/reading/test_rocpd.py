"""Databases of rocprofv3 (R): against the rows that come with one, and the oracle (oracle_rocpd.py) on random ones
(generate_rocpd.py).

SEED    begins another series of databases (default 1)
"""
import json
import os
import random
import sqlite3
import unittest

import generate_rocpd
import oracle_rocpd
from generate_rocpd import Table, write
from made import InFolder
from oracle_nsys import path_of
from support import DATA, connect, series
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
    """A database gives the rows of an oracle's reading of it."""

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
    """The database that was made for the rules gives the rows that come with it."""

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
        """What is made of rows is made of these, too."""
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


class Rules(InFolder):
    def made(self, name="results.db", change=None, processes=1, seed=1):
        """A tidy database after a change of the tables of a process, which are given without their suffix."""
        tables = generate_rocpd.generate(random.Random(seed), processes=processes, tidy=True, events=6)
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
        """R4"""
        for environment, rank in (('{"RANK": "3", "PMI_RANK": "4"}', 3), ('{"PMI_RANK": "4", "PMIX_RANK": "5"}', 5),
                                  ('{"PMIX_RANK": "5", "OMPI_COMM_WORLD_RANK": "6"}', 6), ('{"RANK": 7}', 7),
                                  ('{"RANK": "-1", "PMI_RANK": "4"}', 4), ('{"LOCAL_RANK": "2"}', 0), ("{}", 0),
                                  ('{"A": {"RANK": "9"}, "B": ["RANK", "8"], "RANK": "1"}', 1), ("not JSON", 0),
                                  (None, 0)):
            with self.subTest(environment):
                self.assertEqual(self.ranks(self.with_environments(environment)), [rank])
        self.assertEqual(self.ranks(self.with_environments("{}", name="x_rank7.db")), [7])

    def test_processes_are_parts(self):
        """R1: several in one database are ranks of it, and (file, event) tells their events apart."""
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
        """R1"""
        def version(value):
            def change(tables):
                tables["rocpd_metadata"].rows[0][1]["value"] = value
            return change

        def without_pid(tables):
            del tables["rocpd_kernel_dispatch"].columns["pid"]

        for value in ("3", "3.0.0", "3.0.5", "3.1"):
            self.assertEqual(len(self.ranks(self.made(change=version(value)))), 1)
        for change, number in ((version("4"), 4), (version("4.0.1"), 4), (version("30"), 30), (version("2"), 2),
                               (without_pid, 4)):
            path = self.made(change=change)
            with self.subTest(number=number):
                self.assert_error(f"trace_events: '{path}': rocpd schema {number} is not known",
                                  "SELECT * FROM trace_events(?)", path)

    def test_another_format_of_this_name(self):
        """RPD has the plain names as tables (R1)."""
        write("trace.rpd", {name: Table({"id": "INTEGER PRIMARY KEY", "start": "INTEGER"})
                            for name in ("rocpd_string", "rocpd_api", "rocpd_op", "rocpd_kernelapi")})
        write("none.rpd", {name: Table({"id": "INTEGER PRIMARY KEY"}) for name in ("rocpd_string_", "rocpd_region_")})
        for name in ("trace.rpd", "none.rpd"):
            self.assert_error(f"trace_events: '{name}': a SQLite database of no known profiler",
                              f"SELECT * FROM trace_events('{name}')")

    def test_views_are_not_read(self):
        """R1: not even one that has the name of a table."""
        path = self.made()
        rows = self.rows(ROWS, path)
        with sqlite3.connect(path) as db:
            db.execute("CREATE VIEW rocpd_string AS SELECT 1 AS id, 'from the view' AS string")
            db.execute("CREATE VIEW rocpd_region_0_0 AS SELECT 1 AS id, 5 AS start")
        db.close()
        self.assertEqual(self.rows(ROWS, path), rows)

    def test_missing_tables(self):
        """Each table may be missing, and each but a few columns: then what it tells is NULL."""
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
