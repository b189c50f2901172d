"""A hostile schema, a restrictive host or a hostile name in a trace: right rows or an error, never a crash, and the
connection still works.
"""
import glob
import os
import re
import sqlite3
import unittest

from made import InFolder, document, event, run, write
from support import EXAMPLES, EXTENSION, ROOT, can_be_a_name, connect, series, slow
from test_analyses import ANALYSES

SQL = ["SELECT count(*), sum(dur_ns) FROM trace_events('a')", "SELECT count(*) FROM trace_files('a')",
       "SELECT count(*) FROM trace_steps('a')", "SELECT count(*) FROM trace_ops('a', '[0]', '[0, 1]')",
       "SELECT count(*) FROM trace_diff('a', 'b')", "SELECT count(*) FROM ops_diff('a', 'b')",
       "SELECT count(*) FROM compare_traces('a', 'b')", "SELECT count(*) FROM top_count_increases('a', 'b')",
       "SELECT count(*) FROM top_duration_changes('a', 'b')", "SELECT count(*) > 50 FROM tracediff_help"]
FUNCTIONS = [re.search(r"FROM (\w+)", sql)[1] for sql in SQL]
def calls_of_every_function(db):
    """{table function: (statement, values)} for the examples; each gives rows."""
    pair = {side: os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test")}
    values = {**pair, "trace": pair["test"], "keys": "op,shapes", "operator_name": "aten::*", "min_pattern_len": 1,
              "changes": "[]", "limit_percent": 5,
              "max_queue_length": 2, "num_kernels": 1, "allowlist_patterns": '["*forward*", "nccl*"]',
              "schedule": '[{"rank": 0, "iteration": 12, "own_iteration": 12, "own_ts_ns": 0, "dur_ns": 0}]'}
    others = {"cupti_counters": {"trace": os.path.join(EXAMPLES, "counters")},
              **{function: {"trace": os.path.join(EXAMPLES, "recorded", name)} for function, name in (
                  ("memory_timeline", "memory.raw.json.gz"), ("execution_trace", "execution_trace.json.gz"))}}
    snapshots = [os.path.join(EXAMPLES, "memory", f"training_{length}.pickle.gz") for length in (128, 512)]
    for function in ("memory_files", "memory_events", "memory_allocations", "memory_segments", "memory_peak"):
        others[function] = {"snapshot": snapshots[0], "keys": "phase,op"}
    for function in ("compilations", "compile_breaks", "compile_guards", "compile_events", "compile_ranks",
                     "compile_files", "compile_records"):
        others[function] = {"log": os.path.join(EXAMPLES, "compile", "test")}
    others["compile_breaks"] = {"log": os.path.join(EXAMPLES, "compile", "breaks")}
    others["compile_steps"] = {"trace": os.path.join(EXAMPLES, "compile", "test")}
    others["compile_diff"] = {side: os.path.join(EXAMPLES, "compile", side) for side in ("control", "test")}
    for function in ("fr_dumps", "fr_entries", "fr_groups", "hang_ranks", "hang_summary"):
        others[function] = {"dumps": os.path.join(EXAMPLES, "hangs", "never_called")}
    for function in ("memory_diff", "memory_summary"):
        others[function] = {"control": snapshots[0], "test": snapshots[1], "keys": "phase,op"}
    calls = {}
    for function, in db.execute("SELECT DISTINCT function FROM tracediff_columns WHERE kind = 'column'").fetchall():
        terms = [f"{name} = :{name}" for name, in db.execute(
            "SELECT name FROM tracediff_columns(?) WHERE kind = 'argument'", (function,))
            if name in {**values, **others.get(function, {})}]
        calls[function] = (f"SELECT * FROM {function} WHERE {' AND '.join(terms)}" if terms
                           else f"SELECT * FROM {function}", {**values, **others.get(function, {})})
    return calls


class Hostile(InFolder):
    def setUp(self):
        super().setUp()
        write("a/rank0.json", run())
        write("b/rank0.json", run(slower=2, extra=("new",) * 3))
        self.expected = [self.rows(sql) for sql in SQL]

    def attempt(self, db, sql, expected, values=()):
        """The right rows, or an SQLite error."""
        try:
            self.assertEqual(db.execute(sql, values).fetchall(), expected, sql)
        except (sqlite3.Error, MemoryError):
            pass


class Limits(Hostile):
    NAMES = ["LENGTH", "SQL_LENGTH", "COLUMN", "EXPR_DEPTH", "COMPOUND_SELECT", "VDBE_OP", "FUNCTION_ARG", "ATTACHED",
             "LIKE_PATTERN_LENGTH", "VARIABLE_NUMBER", "TRIGGER_DEPTH", "WORKER_THREADS"]

    @unittest.skipUnless(hasattr(sqlite3.Connection, "setlimit"), "this Python cannot set limits")
    def test_smallest_limits(self):
        for name in self.NAMES:
            category = getattr(sqlite3, f"SQLITE_LIMIT_{name}")
            for limit in (0, 1, 2, 5, 10, 25, 50, 100, 250):
                before = self.db.setlimit(category, limit)
                for sql, expected in zip(SQL, self.expected):
                    self.attempt(self.db, sql, expected)
                self.db.setlimit(category, before)
            for sql, expected in zip(SQL, self.expected):
                self.assertEqual(self.rows(sql), expected, name)

    @unittest.skipUnless(hasattr(sqlite3.Connection, "setlimit"), "this Python cannot set limits")
    def test_loading_under_smallest_limits(self):
        for name in self.NAMES:
            for limit in (0, 1, 10, 60):
                db = sqlite3.connect(":memory:")
                db.enable_load_extension(True)
                category = getattr(sqlite3, f"SQLITE_LIMIT_{name}")
                before = db.setlimit(category, limit)
                try:
                    db.load_extension(EXTENSION)
                except (sqlite3.Error, MemoryError):
                    pass
                db.setlimit(category, before)
                db.load_extension(EXTENSION)
                for sql, expected in zip(SQL, self.expected):
                    self.assertEqual(db.execute(sql).fetchall(), expected, (name, limit))
                db.close()


class Schemas(Hostile):
    def test_a_database_made_by_somebody_else(self):
        """Views and triggers of another person's database cannot read traces, whatever the host trusts."""
        with sqlite3.connect("evil.db") as made:
            for number, sql in enumerate(SQL):
                made.execute(f"CREATE VIEW v{number} AS {sql}")
            made.execute("CREATE TABLE t(x)")
            made.execute("CREATE TRIGGER tr AFTER INSERT ON t BEGIN"
                         " INSERT INTO t SELECT name FROM trace_events WHERE trace = 'a'; END")
        made.close()
        for trusted in (1, 0):
            db = connect("evil.db")
            db.execute(f"PRAGMA trusted_schema = {trusted}")
            for number, function in enumerate(FUNCTIONS):
                if function == "tracediff_help":
                    self.assertEqual(db.execute(f"SELECT * FROM v{number}").fetchall(), [(1,)])
                    continue
                with self.assertRaisesRegex(sqlite3.OperationalError, "unsafe use of virtual table"):
                    db.execute(f"SELECT * FROM v{number}").fetchall()
            with self.assertRaisesRegex(sqlite3.OperationalError, "unsafe use of virtual table"):
                db.execute("INSERT INTO t VALUES (1)")
            db.rollback()
            db.close()

    def test_authorizer_that_denies(self):
        """When the authorizer denies any single action, the result is an error, and the next query is right."""
        for sql, expected in zip(SQL, self.expected):
            for denied in range(1, 40):
                for answer in (sqlite3.SQLITE_DENY, sqlite3.SQLITE_IGNORE):
                    seen = []

                    def authorize(*action):
                        seen.append(action)
                        return answer if len(seen) == denied else sqlite3.SQLITE_OK

                    self.db.set_authorizer(authorize)
                    try:
                        self.db.execute(sql + f" -- {denied} {answer}").fetchall()
                    except sqlite3.Error:
                        pass
                    self.db.set_authorizer(None)
                if len(seen) < denied:
                    break
            self.assertEqual(self.rows(sql), expected)

    def test_tables_of_every_name(self):
        """Tables and views with the names of all our functions and helpers do not matter."""
        names = FUNCTIONS + ["json_each", "json_tree", "pragma_module_list", "n", "a", "c"]
        for kind in ("TABLE {}(x)", "TEMP TABLE {}(x)", "VIEW {} AS SELECT 1 AS x"):
            db = connect()
            for name in names:
                db.execute("CREATE " + kind.format(name))
            for function, sql, expected in zip(FUNCTIONS, SQL, self.expected):
                hidden = sql.replace(f"FROM {function}", f'FROM "tracediff:{function}"')
                self.assertEqual(db.execute(hidden).fetchall(), expected, kind)
            db.close()

    def test_analyses_beside_tables_of_every_name_they_use(self):
        """Tables named like any identifier in the functions written in SQL, their CTEs, and SQLite's table functions,
        do not matter.
        """
        names = set()
        for path in glob.glob(os.path.join(ROOT, "sql", "**", "*.sql"), recursive=True):
            with open(path, encoding="utf-8") as file:
                text = re.sub("--.*", "", file.read())
            names |= set(re.findall(r"\b(?:FROM|JOIN)\s+(\w+)", text))
            names |= set(re.findall(r"(\w+)(?:\([\w, ]+\))? AS (?:(?:NOT )?MATERIALIZED )?\(", text))
        self.assertLess({"work", "call", "trace_events", "allowed", "series"}, names)
        names |= {name for name, in self.db.execute("SELECT name FROM pragma_module_list") if ":" not in name}
        names |= {"json_each", "json_tree", "generate_series", "pragma_module_list"}
        calls = calls_of_every_function(self.db)
        expected = {name: self.db.execute(sql, values).fetchall() for name, (sql, values) in calls.items()}
        # no graph is replayed, no step is long, and there is no finding
        self.assertEqual({name for name in expected if not expected[name]},
                         {"trace_graph_diff", "trace_health", "trace_long_steps"})
        kinds = ("TABLE {}(name, rank, event, file)", "TEMP VIEW {} AS SELECT 1 AS x", "TABLE {}(x)",
                 "TEMP TABLE {}(x)",
                 "VIEW {} AS SELECT 1 AS x")
        for kind in kinds[:series(1, 5)]:
            db = connect()
            for name in sorted(names):
                if not name.startswith("sqlite_"):  # these are refused
                    db.execute("CREATE " + kind.format(f'"{name}"'))
            for name, (sql, values) in calls.items():
                with self.subTest(name, kind=kind):
                    hidden = sql.replace(f"FROM {name}", f'FROM "tracediff:{name}"')
                    self.assertEqual(db.execute(hidden, values).fetchall(), expected[name])
            db.close()

    @slow
    def test_analyses_beside_functions_of_the_users(self):
        """Beside functions of the user, rows are right where SQLite's function is not needed, otherwise right or an
        error.
        """
        calls = calls_of_every_function(self.db)
        expected = {name: self.db.execute(sql, values).fetchall() for name, (sql, values) in calls.items()}
        for function, arguments in (("max", 2), ("min", 2), ("instr", 2), ("json", 1), ("json_extract", 2), ("abs", 1)):
            db = connect()
            db.create_function(function, arguments, lambda *_: 7)
            for name in ANALYSES:
                with self.subTest(name, function=function):
                    self.assertEqual(db.execute(*calls[name]).fetchall(), expected[name])
            db.close()
        for function in ("round", "substr", "replace", "coalesce", "nullif", "json_array_length", "->>", "glob",
                         "like"):
            db = connect()
            for arguments in (1, 2, 3):
                db.create_function(function, arguments, lambda *_: 1 / 0)
            for name in ANALYSES:
                sql, values = calls[name]
                with self.subTest(name, function=function):
                    self.attempt(db, sql, expected[name], values)
            db.close()

    def test_functions_of_every_name(self):
        """A user's scalar functions can replace any function that our SQL calls."""
        for name in ("json_valid", "json_type", "json_extract", "json_array_length", "quote", "abs", "max", "substr",
                     "length", "->>", "like"):
            db = connect()
            for arguments in (1, 2, 3):
                db.create_function(name, arguments, lambda *_: 1 / 0)
            for sql, expected in zip(SQL, self.expected):
                self.attempt(db, sql, expected)
            db.close()


class Texts(Hostile):
    NAMES = ["'", '"', "''; DROP TABLE t; --", "`", "a\0b", "</script><img src=x onerror=alert(1)>",
             "\x1b[31mred\x1b[0m", "\u202eright to left", "%s%n%d", "", " ", "\\", "\U0001f600", "[0]", "a" * 100_000]

    def test_names_come_through_as_they_are(self):
        write("t.json", document(*[event(name, i, 1, cat=name, pid=name, tid=name)
                                   for i, name in enumerate(self.NAMES)]))
        rows = self.rows("SELECT cat, name, pid, tid FROM trace_events('t.json') ORDER BY event")
        self.assertEqual(rows, [(name,) * 4 for name in self.NAMES])
        self.assertEqual({name for name, in self.rows("SELECT name FROM trace_ops('t.json', 'all', 'all')")},
                         set(self.NAMES))
        self.assertEqual({name for name, in self.rows("SELECT name FROM ops_diff('t.json', 't.json')")},
                         set(self.NAMES))
        for name in self.NAMES:
            self.assertEqual(self.rows("SELECT count(*) FROM trace_events('t.json') WHERE name = ?", name), [(1,)])

    def test_paths_are_quoted_in_errors_and_problems(self):
        for name in filter(can_be_a_name, ("it's.json", 'say "hi".json', "new\nline.json", "%s%n.json", "a;b.json",
                                           "\x1b[31m.json")):
            write(name, "no trace")
            self.assert_error(f"trace_events: '{name}': not JSON at byte 1", "SELECT * FROM trace_events(?)", name)
            self.assertEqual(self.rows("SELECT file, json_valid(problems) FROM trace_files(?)", name), [(name, 1)])

    def test_a_path_with_a_nul_is_no_path(self):
        with self.assertRaisesRegex(sqlite3.OperationalError, "^trace_events: trace must be the path"):
            self.rows("SELECT * FROM trace_events(CAST(x'6100' AS TEXT))")
        self.assertTrue(os.path.exists("a"))
