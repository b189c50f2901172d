"""Table functions in SQLite (S1 to S23): its planner, joins, names and threads neither lose nor duplicate rows. The
reference is the same query on plain tables, filled beforehand with the functions' rows for every argument in use; their
columns include the arguments.
"""
import ctypes
import os
import sqlite3
import threading
import time
import unittest

from made import InFolder, document, event, run, write, write_big
from support import EXTENSION, alone, connect, slowest

TABLES = {"trace_events": ("'a'", "phases"), "trace_files": ("'a'", ""), "trace_metadata": ("'a'", ""),
          "trace_steps": ("'a'", ""),
          "trace_ops": ("'a'", "ranks"), "trace_diff": ("'a', 'b'", "device_type"),
          "ops_diff": ("'a', 'b'", "device_type"), "compare_traces": ("'a', 'b'", "device_type"),
          "top_count_increases": ("'a', 'b'", "device_type"), "top_duration_changes": ("'a', 'b'", "device_type"),
          "tracediff_help": ("", "")}
ALIASES = (("trace_events", "e", "events"), ("trace_ops", "o", "ops"), ("trace_diff", "d", "diffs"))
FULL_JOIN = sqlite3.sqlite_version_info >= (3, 39)
ELSEWHERE = ("create it in the temp schema: CREATE VIRTUAL TABLE temp.{} USING ... (elsewhere it would make the"
             " database unreadable without this extension)")
NO_FULL_JOIN = "FULL and RIGHT JOIN need SQLite 3.39"


class Pair(InFolder):
    """Traces a, b and c, and tables of their rows."""

    def setUp(self):
        super().setUp()
        self.arguments = {}
        for rank in (0, 1):
            write(f"a/rank{rank}.json", run(extra=["gone"]))
            write(f"b/rank{rank}.json", run(slower=2, extra=["new", "op1"]))
        write("c/rank0.json", run(slower=3))
        self.fill("events", "trace_events", {"trace": ("a", "b", "c"), "phases": (None, "X")})
        self.fill("ops", "trace_ops", {"trace": ("a", "b"), "ranks": (None, 0, 1, "all"),
                                       "device_type": (None, "CPU", "GPU")})
        self.fill("diffs", "trace_diff", {"control": ("a", "b"), "test": ("b", "c"), "control_rank": (None, 0),
                                          "device_type": (None, "GPU")})
        self.db.executescript("""
            CREATE TABLE runs(id INTEGER, path TEXT, q);
            INSERT INTO runs VALUES (1, 'a', 'CPU'), (2, 'b', 'GPU'), (3, NULL, NULL);""")

    def fill(self, table, function, arguments):
        """A table of a function's rows for every combination of arguments."""
        self.arguments[table] = tuple(arguments)
        calls = [{}]
        for name, values in arguments.items():
            calls = [{**call, name: value} for call in calls for value in values]
        for call in calls:
            named = ", ".join(f":{name} AS {name}" for name in call)
            given = " AND ".join(f"{name} IS :{name}" for name in call)
            verb = f"INSERT INTO {table}" if call is not calls[0] else f"CREATE TABLE {table} AS"
            self.db.execute(f"{verb} SELECT {named}, * FROM {function} WHERE {given}", call)

    def assert_same(self, sql, reference=None, empty=False):
        """Asserts that a query on functions gives the same rows as on the tables, with the aliases e, o and d, where
        `*` includes the arguments.
        """
        if reference is None:
            reference = sql
            for function, alias, table in ALIASES:
                reference = reference.replace(function, table)
                arguments = self.arguments[table]
                sql = sql.replace(f"{alias}.*", ", ".join(f"{alias}.{name}" for name in (*arguments, "*")))
            self.assertNotEqual(reference, sql)
        found, wanted = (sorted(self.rows(query), key=repr) for query in (sql, reference))
        self.assertEqual(found, wanted, sql)
        self.assertEqual(wanted == [], empty, sql)


class Planning(Pair):
    """S1 to S9: planning."""

    def test_s01_absent_argument_is_no_planning_error(self):
        self.assert_same("SELECT * FROM trace_events('a') WHERE rank = 0 OR name = 'op1'",
                         f"SELECT {', '.join(row[1] for row in self.rows('PRAGMA table_info(trace_events)'))}"
                         " FROM events WHERE trace = 'a' AND phases IS NULL AND (rank = 0 OR name = 'op1')")
        self.assert_error("trace_events: first argument (trace) is missing", "SELECT * FROM trace_events")
        self.assert_error("trace_diff: second argument (test) is missing", "SELECT * FROM trace_diff('a')")
        self.assert_error("ops_diff: first argument (control) is missing", "SELECT * FROM ops_diff WHERE test = 'b'")

    def test_s02_unusable_optional_argument(self):
        where = "FROM trace_ops('a', NULL, 'all', r.q) AS o JOIN runs AS r"
        self.assertEqual(self.rows(f"SELECT r.id, count(*) {where} GROUP BY 1"),
                         self.rows("SELECT id, (SELECT count(*) FROM trace_ops('a', NULL, 'all', q)) FROM runs"))
        self.assert_same("SELECT r.id, o.* FROM trace_ops AS o JOIN runs AS r ON o.trace = 'a' AND o.ranks IS 0"
                         " AND o.device_type = r.q AND r.q IS NOT NULL")

    def test_s02_two_terms_on_an_argument(self):
        self.assert_same("SELECT d.*, e.event FROM trace_diff AS d, trace_events AS e WHERE d.control = e.trace AND"
                         " d.test = 'b' AND e.trace IN ('a', 'b') AND e.name = d.name AND d.control_rank IS NULL AND"
                         " d.device_type IS NULL AND e.phases IS NULL")
        for terms in ("trace = 'a' AND trace = 'b'", "trace = 'a' AND trace <> 'a'", "trace IS 'a' AND trace > 'b'"):
            self.assertEqual(self.rows(f"SELECT * FROM trace_events WHERE {terms}"), [], terms)
        self.assertEqual(self.rows("SELECT * FROM trace_ops('a', 0) WHERE ranks = 1"), [])
        self.assert_same("SELECT o.* FROM trace_ops AS o WHERE trace = 'a' AND trace IS 'a' AND ranks = 0 AND ranks"
                         " IN (0, 1)"
                         " AND device_type IS NULL")

    def test_s02_argument_from_each_side_of_a_join(self):
        for join in ("runs AS r, trace_events AS e", "trace_events AS e, runs AS r",
                     "runs AS r CROSS JOIN trace_events AS e"):
            self.assert_same(f"SELECT r.id, e.* FROM {join} WHERE e.trace = r.path AND e.phases IS NULL")
        self.assert_error("trace_events: first argument (trace) is missing",
                          "SELECT * FROM trace_events AS e CROSS JOIN runs AS r WHERE e.trace = r.path")

    def test_s03_hidden_column_echoes_the_argument(self):
        self.assertEqual(self.rows("SELECT DISTINCT trace, phases FROM trace_events('a')"), [("a", None)])
        self.assertEqual(self.rows("SELECT DISTINCT typeof(ranks), ranks FROM trace_ops('a', '[0]')"),
                         [("text", "[0]")])
        self.assertEqual(self.rows("SELECT DISTINCT trace, ranks FROM trace_ops WHERE trace IN ('b', 'a') AND ranks"
                                   " = 1"), [("a", 1), ("b", 1)])
        self.assertEqual(self.rows("SELECT DISTINCT control, test, device_type FROM ops_diff('a', 'b') WHERE"
                                   " device_type = 'gpu'"),
                         [("a", "b", "gpu")])
        self.assert_same("SELECT e.* FROM trace_events AS e WHERE trace = 'a' AND phases = 'X' AND trace IN ('a', 'b')")

    def test_s04_terms_on_output_columns(self):
        """Terms on output columns work with any affinity and collation of SQLite."""
        for term in ("rank = '0'", "rank = 0.0", "rank = 0.5", "rank IN ('0', 7)", "rank IS 0",
                     "name = 'OP1' COLLATE NOCASE",
                     "name COLLATE NOCASE IN ('OP1', 'Gemm')", "name = 'op1  ' COLLATE RTRIM", "+name = 'op1'",
                     "stream = '7'",
                     "ts > '100'", "ts BETWEEN 100 AND 1000.5", "ts = 10", "iteration IS NULL", "iteration IN (0, '2')",
                     "device = 'GPU' AND stream = 7", "name LIKE 'OP%'", "cat || name = 'cpu_opop1'", "ph = 'X'",
                     "dur IN (50, 51)",
                     "(rank, name) = (1, 'op1')", "(rank, name) IN (SELECT 1, 'op1' UNION SELECT '0', 'op2')",
                     "NOT rank = 0", "event < 5 AND file LIKE '%rank1%'"):
            self.assert_same(f"SELECT e.* FROM trace_events AS e WHERE trace = 'a' AND phases IS NULL AND {term}",
                             empty=term == "rank = 0.5")

    def test_s04_limit_and_offset(self):
        rows = self.rows("SELECT * FROM trace_events('a')")
        self.assertEqual(self.rows("SELECT * FROM trace_events('a') LIMIT 3 OFFSET 2"), rows[2:5])
        self.assertEqual(self.rows("SELECT * FROM trace_events('a') WHERE rank = 1 LIMIT 1"),
                         [row for row in rows if row[0] == 1][:1])

    def test_s05_or_neither_doubles_nor_loses(self):
        pairs = "control_rank IS NULL AND device_type IS NULL"
        for either in ("(control = 'a' AND test = 'b') OR (control = 'a' AND test = 'c')",
                       "(control = 'a' AND test = 'b') OR (control = 'a' AND test = 'b' AND name = 'op1')",
                       "(control = 'a' AND test = 'b' AND name = 'op1') OR (control = 'b' AND test = 'c' AND name ="
                       " 'op1')"):
            self.assert_same(f"SELECT d.* FROM trace_diff AS d WHERE ({either}) AND {pairs}")
        for either in ("trace = 'a' OR trace = 'b'", "(trace = 'a' AND rank = 0) OR (trace = 'a' AND name = 'op1')",
                       "(trace = 'a' AND name = 'op1') OR (trace = 'b' AND name = 'op2') OR (trace = 'a' AND rank)"):
            self.assert_same(f"SELECT e.* FROM trace_events AS e WHERE ({either}) AND phases IS NULL")

    def test_s05_rowid_is_of_arguments_and_row(self):
        both = "SELECT rowid, * FROM trace_events WHERE trace IN ('a', 'b')"
        with connect() as other:
            self.assertEqual(other.execute(both).fetchall(), other.execute(both).fetchall())
        self.assertEqual(self.value("SELECT count(DISTINCT rowid) = count(*) FROM trace_events WHERE trace IN ('a',"
                                    " 'b')"), 1)
        self.assertEqual(self.rows("SELECT a.rowid = b.rowid, count(*) FROM trace_ops('a') AS a JOIN trace_ops('a')"
                                   " AS b"
                                   " USING (rank, iteration, device, cat, name) GROUP BY 1"),
                         [(1, self.value("SELECT count(*) FROM trace_ops('a')"))])

    def test_s06_in_and_null_on_arguments(self):
        default = self.rows("SELECT * FROM trace_ops('a')")
        rank0 = self.rows("SELECT * FROM trace_ops('a', 0)")
        self.assertTrue(default)
        for terms, rows in (("ranks = NULL", default), ("ranks IN (NULL)", default), ("ranks IN (0, NULL)", rank0),
                            ("ranks IS NULL", default), ("ranks IN (0)", rank0), ("ranks IN ()", [])):
            self.assertEqual(self.rows(f"SELECT * FROM trace_ops WHERE trace = 'a' AND {terms}"), rows, terms)
        self.assertEqual(self.rows("SELECT * FROM trace_ops('a', 0) WHERE ranks IS NULL"), [])
        self.assertEqual(self.rows("SELECT ranks, count(*) FROM trace_ops WHERE trace = 'a' AND ranks IN (1, 0, 1)"
                                   " GROUP BY 1"),
                         [(0, len(rank0)), (1, len(rank0))])
        self.assert_same("SELECT o.* FROM trace_ops AS o WHERE trace IN (SELECT path FROM runs) AND ranks IN ('all', 1)"
                         " AND device_type IN ('GPU')")

    def test_s07_null_required_argument_gives_no_rows(self):
        for function, (arguments, _) in TABLES.items():
            if arguments:
                nulls = arguments.replace("'a'", "NULL", 1)
                self.assertEqual(self.rows(f"SELECT * FROM {function}({nulls})"), [], function)
        self.assertEqual(self.rows("SELECT r.id, count(e.name) FROM runs AS r LEFT JOIN trace_events(r.path) AS e"
                                   " GROUP BY 1"),
                         [(1, 38), (2, 44), (3, 0)])
        self.assert_same("SELECT r.id, d.name FROM runs AS r LEFT JOIN trace_diff AS d ON d.control = r.path AND"
                         " d.test = 'b'"
                         " AND d.control_rank IS NULL AND d.device_type IS NULL")

    def test_s08_order(self):
        self.assert_same("SELECT name, abs(diff_duration) FROM trace_diff WHERE control = 'a' AND test = 'b' AND"
                         " control_rank IS NULL AND device_type IS NULL ORDER BY abs(diff_duration) DESC, name LIMIT 3")
        for order in ("ts DESC, event", "name, ts, event, rank", "name DESC, ts DESC, rank", "rank DESC, event"):
            function, table = (f"SELECT name, rank, ts, event FROM {source} WHERE trace = 'a' AND phases IS NULL"
                               f" ORDER BY {order}"
                               for source in ("trace_events", "events"))
            self.assertEqual(self.rows(function), self.rows(table), order)
        rows = self.rows("SELECT abs(diff_duration), name FROM trace_diff('a', 'b', 'all', 'all', 'all', 'all')")
        self.assertEqual(rows, sorted(rows, key=lambda row: (-row[0], row[1])))

    def test_s09_star_below_other_queries(self):
        self.assertEqual(self.value("WITH e AS (SELECT * FROM trace_events('a')) SELECT count(*) FROM e WHERE name ="
                                    " 'op1'"), 6)
        self.assertEqual(self.rows("SELECT id FROM runs WHERE EXISTS (SELECT * FROM trace_events(runs.path) WHERE"
                                   " name = 'gone')"),
                         [(1,)])


class Joins(Pair):
    """S10 and S17: rows are computed once per tuple of arguments, whatever the join."""

    def forget(self, *paths):
        """An SQL function that removes the files at its first call."""
        def call():
            for path in paths:
                if os.path.exists(path):
                    os.remove(path)
            return 1
        self.db.create_function("forget", 0, call)

    def test_s10_a_join_computes_rows_once(self):
        for inner in ("trace_diff('c', 'c')", "trace_ops('c')", "ops_diff('c', 'c')", "trace_events('c')"):
            with self.subTest(inner):
                write("c/rank0.json", run(slower=3))
                count = self.value(f"SELECT count(*) FROM {inner}")
                self.forget("c/rank0.json")
                self.assertEqual(self.value(f"SELECT count(*) FROM {inner} AS x CROSS JOIN {inner} AS y ON forget()"),
                                 count ** 2)
                self.assert_error(f"{inner.split('(')[0]}: no trace in 'c': there is no *.json, *.gz, *.sqlite,"
                                  f" *.sqlite3, *.db, *.xplane.pb, *.pftrace or *.perfetto-trace file",
                                  f"SELECT * FROM {inner}")

    def test_s10_correlated_subqueries_compute_rows_once(self):
        self.forget("c/rank0.json")
        self.assertEqual(self.rows("SELECT d.name, forget(), EXISTS (SELECT 1 FROM trace_diff('c', 'c') AS x WHERE"
                                   " x.name = d.name)"
                                   " FROM trace_diff('c', 'c') AS d WHERE d.name LIKE 'op%'"),
                         [("op1", 1, 1), ("op2", 1, 1)])

    def test_s10_a_statement_reads_anew(self):
        self.assertEqual(self.value("SELECT count(*) FROM trace_steps('c')"), 3)
        write("c/rank0.json", run(steps=5))
        self.assertEqual(self.value("SELECT count(*) FROM trace_steps('c')"), 5)
        write("c/rank1.json", run(steps=2))
        self.assertEqual(self.value("SELECT count(*) FROM trace_steps('c')"), 7)
        os.remove("c/rank0.json")
        self.assertEqual(self.value("SELECT count(*) FROM trace_steps('c')"), 2)

    def test_s10_text_outlives_the_reading(self):
        """An aggregate can keep a text of a file that has changed since."""
        names = {1: "z" * 100, 2: "y", 3: "x"}
        self.db.create_function("rewrite", 1, lambda id: write("a", document(event(names[id], 1, 1))) and 1)
        os.rename("a", "old")
        self.assertEqual(self.value("SELECT max(CASE WHEN rewrite(id) THEN (SELECT max(name) FROM"
                                    " trace_events(substr('aaa', id, 1)))"
                                    " END) FROM runs"), names[1])

    def test_s10_many_calls(self):
        """A thousand different calls work."""
        self.assertEqual(self.value("WITH RECURSIVE n(path) AS (SELECT 'c' UNION ALL SELECT './' || path FROM n LIMIT"
                                    " 1000)"
                                    " SELECT count(*) FROM n, trace_steps(n.path)"), 3000)

    @unittest.skipUnless(FULL_JOIN, NO_FULL_JOIN)
    def test_s17_full_join(self):
        for join in ("FULL", "LEFT"):
            sql = f"SELECT x.name, x.counts, y.counts FROM %s AS x {join} JOIN %s AS y USING (name, cat)"
            self.assert_same(sql % ("trace_ops('a')", "trace_ops('b')"),
                             sql % tuple(f"(SELECT * FROM ops WHERE trace = '{side}' AND ranks IS NULL AND"
                                         f" device_type IS NULL)"
                                         for side in "ab"))

    @unittest.skipUnless(FULL_JOIN, NO_FULL_JOIN)
    def test_s17_right_join(self):
        """A function has its arguments on the left, and in a subquery; on the right, SQLite 3.40 passes none."""
        sql = "SELECT x.name, x.counts, y.counts FROM {} AS x RIGHT JOIN {} AS y USING (name, cat)"
        one, other = ("ops WHERE trace = '{}' AND ranks IS NULL AND device_type IS NULL".format(side) for side in "ab")
        tables = [f"(SELECT * FROM {each})" for each in (one, other)]
        wanted = self.rows(sql.format(*tables))
        self.assertEqual(self.rows(sql.format("trace_ops('a')", tables[1])), wanted)
        self.assertEqual(self.rows(sql.format("trace_ops('a')", "(SELECT * FROM trace_ops('b'))")), wanted)
        missing = "trace_ops: first argument (trace) is missing"
        for left in ("trace_ops('a')", tables[0]):
            if sqlite3.sqlite_version_info < (3, 41):
                self.assert_error(missing, sql.format(left, "trace_ops('b')"))
            elif sqlite3.sqlite_version_info >= (3, 52):
                self.assertEqual(self.rows(sql.format(left, "trace_ops('b')")), wanted)
        for join in ("RIGHT", "FULL"):
            self.assert_error(missing, f"SELECT * FROM runs {join} JOIN trace_ops AS o ON o.trace = 'a'")
            self.assert_error(missing, f"SELECT * FROM trace_ops AS o {join} JOIN runs ON 1 WHERE o.trace = 'a'")

    def test_s17_row_values(self):
        self.db.execute("CREATE TABLE pairs AS SELECT 'a', 'b' UNION SELECT 'b', 'c'")
        self.assert_same("SELECT d.* FROM trace_diff AS d WHERE (control, test) IN (SELECT * FROM pairs)"
                         " AND control_rank IS NULL AND device_type IS NULL")


class Names(Pair):
    """S11 to S16: names."""

    def answers(self):
        return {name: self.rows(f"SELECT * FROM {name}({arguments})") for name, (arguments, _) in TABLES.items()}

    def test_s11_tables_named_like_functions(self):
        """Functions written in SQL still work, whatever tables have the names that they use."""
        written = ("ops_diff", "compare_traces", "top_count_increases", "top_duration_changes")
        before = self.answers()
        for create in ("TABLE {}(x)", "VIEW {} AS SELECT 1 AS x", "TEMP TABLE {}(x)", "TEMP VIEW {} AS SELECT 1 AS x"):
            for hidden in (*TABLES, "json_each", "pragma_module_list"):
                kind = create.split(" {}")[0].split()[-1]
                self.db.execute("CREATE " + create.format(hidden))
                for name in written:
                    if name != hidden:
                        with self.subTest(create.format(hidden), function=name):
                            self.assertEqual(self.rows(f"SELECT * FROM {name}('a', 'b')"), before[name])
                self.assert_error(f"'{hidden}' is not a function", f"SELECT * FROM {hidden}('a')")
                self.db.execute(f"DROP {kind} {hidden}")
        self.assertEqual(self.answers(), before)

    def test_s11_json_arrays_below_a_hidden_json_each(self):
        wanted = self.rows("SELECT * FROM trace_ops('[\"a\"]', '[0,1]')")
        self.db.execute("CREATE TABLE json_each(x)")
        self.assertEqual(self.rows("SELECT * FROM trace_ops('[\"a\"]', '[0,1]')"), wanted)

    def test_s11_loading_beside_tables_of_these_names(self):
        db = sqlite3.connect(":memory:")
        for name in TABLES:
            db.execute(f"CREATE TABLE {name}(x)")
        db.enable_load_extension(True)
        db.execute("SELECT load_extension(?)", (EXTENSION,))
        self.assertEqual(db.execute("SELECT count(*) FROM trace_ops").fetchall(), [(0,)])
        self.assertEqual(db.execute("SELECT tracediff_version()").fetchall(), self.rows("SELECT tracediff_version()"))
        db.close()

    def test_s11_loading_beside_a_hidden_pragma(self):
        db = sqlite3.connect(":memory:")
        db.execute("CREATE TABLE pragma_module_list(x)")
        db.enable_load_extension(True)
        db.execute("SELECT load_extension(?)", (EXTENSION,))
        self.assertEqual(db.execute("SELECT tracediff_version()").fetchall(), self.rows("SELECT tracediff_version()"))
        db.close()

    def test_s12_recursion(self):
        wanted = self.rows("SELECT * FROM ops_diff('a', 'b')")
        self.db.execute("CREATE VIRTUAL TABLE temp.trace_diff USING ops_diff")
        self.assertEqual(self.rows("SELECT * FROM ops_diff('a', 'b')"), wanted)
        self.assertEqual(self.rows("SELECT * FROM trace_diff('a', 'b')"), wanted)
        self.db.execute("""CREATE VIRTUAL TABLE temp."tracediff:trace_diff" USING compare_traces""")
        self.assert_error("compare_traces: functions written in SQL are nested more than 8 deep:"
                          " does a table or a view have the name of one?", "SELECT * FROM compare_traces('a', 'b')")
        self.db.execute('DROP TABLE temp."tracediff:trace_diff"')
        self.assertEqual(self.rows("SELECT * FROM ops_diff('a', 'b')"), wanted)

    def test_s13_ambiguous_names(self):
        self.db.execute("CREATE TABLE named AS SELECT id, path AS trace FROM runs")
        self.assert_error("ambiguous column name: trace", "SELECT * FROM named, trace_events(trace)")
        self.assert_same("SELECT id, e.name FROM named, trace_events(named.trace) AS e",
                         "SELECT id, e.name FROM named, events AS e WHERE e.trace = named.trace AND phases IS NULL")
        self.assert_same("SELECT id, e.name FROM named JOIN trace_events AS e USING (trace)",
                         "SELECT id, e.name FROM named JOIN events AS e USING (trace) WHERE phases IS NULL")
        self.assert_error("trace_events: first argument (trace) is missing",
                          "SELECT * FROM named NATURAL JOIN trace_events")
        self.db.execute("CREATE TABLE wanted(name)")
        self.db.execute("INSERT INTO wanted VALUES ('op1')")
        self.assertEqual(self.value("SELECT count(*) FROM wanted NATURAL JOIN trace_events('a')"), 6)

    def test_s14_created_tables(self):
        op1 = "SELECT count(*) FROM {} WHERE name = 'op1'"
        for number, (arguments, rows) in enumerate((
                ("'a'", 6), ("'a', '[0,1]'", 6), ("trace = 'b'", 12), ("phases='X',trace='b'", 12),
                ("'a', phases = 'M'", 0), ("'a', NULL", 6), ("\n TRACE = 'b'", 12))):
            self.db.execute(f"CREATE VIRTUAL TABLE temp.t{number} USING trace_events({arguments})")
            self.assertEqual(self.value(op1.format(f"t{number}")), rows, arguments)
        self.assert_error("trace_events: argument trace is given twice",
                          "CREATE VIRTUAL TABLE temp.twice USING trace_events('a', TRACE = 'b')")
        self.db.execute("CREATE VIRTUAL TABLE temp.base USING trace_ops('a', 1, device_type = 'GPU')")
        self.assertEqual(self.rows("SELECT DISTINCT trace, ranks, device_type, rank, device FROM base"),
                         [(None, None, None, 1, "GPU")])
        self.assertEqual(self.rows("SELECT DISTINCT trace, ranks, rank, device FROM base('b')"),
                         [("b", None, 1, "GPU")])
        self.assertEqual(self.rows("SELECT DISTINCT trace, ranks, rank, device FROM base(NULL, 0)"), [])
        self.assertEqual(self.rows("SELECT DISTINCT trace, ranks, rank, device FROM base WHERE ranks = 0"),
                         [(None, 0, 0, "GPU")])
        self.assertEqual(self.rows("SELECT DISTINCT device FROM base WHERE device_type = NULL"), [("GPU",)])
        self.db.execute("CREATE VIRTUAL TABLE temp.bare USING trace_events")
        self.assert_error("trace_events: first argument (trace) is missing", "SELECT * FROM bare")
        self.assertEqual(self.value(op1.format("bare('a')")), 6)
        self.db.execute("CREATE VIRTUAL TABLE temp.quoted USING trace_steps('it''s \"here\"')")
        self.assert_error("trace_steps: cannot read 'it's \"here\"': No such file or directory", "SELECT * FROM quoted")

    def test_s14_created_elsewhere(self):
        self.db.execute("ATTACH ':memory:' AS aux")
        for schema in ("", "main.", "aux."):
            self.assert_error("trace_events: " + ELSEWHERE.format("base"),
                              f"CREATE VIRTUAL TABLE {schema}base USING trace_events('a')")
        self.assert_error("trace_steps: " + ELSEWHERE.format("trace_steps"),
                          "CREATE VIRTUAL TABLE trace_steps USING trace_steps('a')")
        self.assertEqual(self.rows("SELECT name FROM aux.sqlite_schema"), [])

    def test_s14_own_name_elsewhere(self):
        self.db.execute("ATTACH ':memory:' AS aux")
        self.assert_error("trace_files: " + ELSEWHERE.format("trace_files"),
                          "CREATE VIRTUAL TABLE aux.trace_files USING trace_files")

    def test_s15_views(self):
        for trusted in (1, 0):
            self.db.execute(f"PRAGMA trusted_schema = {trusted}")
            self.db.executescript("""
                CREATE TEMP VIEW v AS SELECT * FROM trace_steps('a');
                CREATE TEMP TABLE log(n);
                CREATE TEMP TRIGGER t AFTER INSERT ON runs
                BEGIN INSERT INTO log SELECT count(*) FROM trace_steps('a'); END;
                INSERT INTO runs(id) VALUES (4);""")
            self.assertEqual((self.rows("SELECT count(*) FROM v"), self.rows("SELECT n FROM log")), ([(6,)], [(6,)]))
            self.db.executescript("DROP VIEW v; DROP TABLE log; DROP TRIGGER t")
        for number, (name, (arguments, _)) in enumerate(TABLES.items()):
            self.db.execute(f"CREATE VIEW v{number} AS SELECT * FROM {name}({arguments})")
            if name == "tracediff_help":
                self.assertGreater(self.value(f"SELECT count(*) FROM v{number}"), 90)
            else:
                self.assert_error(f'unsafe use of virtual table "{name}"', f"SELECT * FROM v{number}")

    def test_s16_loading_twice(self):
        reading = self.db.execute("SELECT tracediff_version(), name FROM trace_events('a')")
        first = reading.fetchone()
        for _ in range(2):
            self.db.execute("SELECT load_extension(?)", (EXTENSION,))
        self.db.execute("SELECT load_extension(?, 'sqlite3_tracediff_nofs_init')", (EXTENSION,))
        self.assertEqual(len(reading.fetchall()), 37)
        self.assertEqual(self.rows("SELECT tracediff_version(), name FROM trace_events('a')")[0], first)

    def test_s16_a_function_of_the_program(self):
        """A function of the program stays, also with one of our longer argument lists."""
        for arguments in (1, 2):
            db = sqlite3.connect(":memory:")
            db.create_function("trace_kernel_type", arguments, lambda *_: "the program's")
            db.enable_load_extension(True)
            db.execute("SELECT load_extension(?)", (EXTENSION,))
            answers = db.execute("SELECT trace_kernel_type('gemm'), trace_kernel_type('gemm', 'hta')").fetchone()
            self.assertEqual([answer == "the program's" for answer in answers], [arguments == 1, arguments == 2])
            db.close()

    def test_as_one_would_hope(self):
        for name, (arguments, _) in TABLES.items():
            for change in (f"UPDATE {name} SET {self.rows(f'PRAGMA table_info({name})')[0][1]} = 1",
                           f"DELETE FROM {name}"):
                self.assert_error(f"table {name} may not be modified", change)
            if arguments:
                self.assert_error(f"{name}: first argument ({'trace' if arguments == repr('a') else 'control'}) is"
                                  f" missing",
                                  f"SELECT * FROM {name}")
        self.db.execute("CREATE TABLE kept AS SELECT * FROM trace_ops('a')")
        self.assertEqual([row[2] for row in self.rows("PRAGMA table_info(kept)")],
                         ["INT", "INT", *["TEXT"] * 4, "INT", *["REAL"] * 5])

    def test_without_files(self):
        db = connect(entry="sqlite3_tracediff_nofs_init")
        for name, (arguments, _) in TABLES.items():
            if arguments:
                with self.assertRaisesRegex(sqlite3.OperationalError, f"^no such table: {name}$"):
                    db.execute(f"SELECT * FROM {name}({arguments})")
        self.assertGreater(db.execute("SELECT count(*) FROM tracediff_help").fetchone()[0], 90)
        self.assertRegex(db.execute("SELECT tracediff_debug()").fetchone()[0],
                         "^tracediff v[0-9.]+, commit .*, running on SQLite 3")
        db.close()


class Types(InFolder):
    """S20: types."""

    def test_s20_pid_and_tid_are_as_in_the_file(self):
        write("t.json", document(*[event("op", 1, 1, pid=pid, tid=pid) for pid in ("007", 7, "7", 1.5, "x", None)]))
        self.assertEqual(self.rows("SELECT pid, typeof(tid) FROM trace_events('t.json')"),
                         [("007", "text"), (7, "integer"), ("7", "text"), ("1.5", "text"), ("x", "text"),
                          (None, "null")])
        self.assertEqual(self.rows("SELECT event FROM trace_events('t.json') WHERE pid = '007'"), [(0,)])
        self.assertEqual(self.rows("SELECT event FROM trace_events('t.json') WHERE pid = 7"), [(1,)])
        self.db.execute("CREATE TABLE kept AS SELECT pid FROM trace_events('t.json')")
        self.assertEqual(self.rows("SELECT pid FROM kept WHERE typeof(pid) = 'text'"),
                         [("007",), ("7",), ("1.5",), ("x",)])


@slowest
@alone
class Stopping(InFolder):
    """S19: a long read stops immediately, and the connection still works."""

    LONGEST = 0.1  # s from the interrupt to the end

    def setUp(self):
        super().setUp()
        write_big("big.json.gz", 200)
        write("small.json", run())

    def assert_stops(self, sql, ask):
        """`ask` schedules an interrupt, and returns a list with its time."""
        start = time.monotonic()
        connect().execute(sql).fetchall()
        self.db = connect()
        wished = ask((time.monotonic() - start) / 3)
        with self.assertRaisesRegex(sqlite3.OperationalError, "^interrupted$"):
            self.rows(sql)
        self.assertLess(time.monotonic() - wished[0], self.LONGEST)
        self.db.set_progress_handler(None, 0)
        self.assertEqual(self.value("SELECT count(*) FROM trace_steps('small.json')"), 3)

    @staticmethod
    def interrupt(db, wished):
        wished.append(time.monotonic())
        db.interrupt()

    def from_a_thread(self, delay):
        wished = []
        timer = threading.Timer(delay, self.interrupt, (self.db, wished))
        timer.start()
        self.addCleanup(timer.join)
        return wished

    def by_handler(self, operations, delay):
        wished, start = [], time.monotonic()

        def handler():
            if time.monotonic() - start > delay:
                wished.append(time.monotonic())
            return bool(wished)
        self.db.set_progress_handler(handler, operations)
        return wished

    def test_s19_interrupt(self):
        write("two/0.json", "[]")
        os.symlink("../big.json.gz", "two/0.json.gz")
        os.symlink("../big.json.gz", "two/1.json.gz")
        for sql in ("SELECT count(*) FROM trace_events('{}')", "SELECT * FROM trace_files('{}')",
                    "SELECT * FROM trace_ops('{}')",
                    "SELECT * FROM trace_diff('{0}', '{0}')", "SELECT * FROM ops_diff('{0}', '{0}')"):
            for path in ("big.json.gz", "two"):
                with self.subTest(sql.format(path)):
                    self.assert_stops(sql.format(path), self.from_a_thread)

    def test_s19_interrupt_after_reading(self):
        """Linking, summing and sorting stop, too, at any moment of the query."""
        lines = (f'{{"ph":"X","name":"op{n * 7919 % 300000}","pid":1,"tid":1,"ts":{n},"dur":3}}' for n in range(300000))
        write("many.json", '{"traceEvents":[' + ",\n".join(lines) + "]}")
        for sql in ("SELECT * FROM trace_ops('many.json')",
                    "SELECT count(*) FROM trace_diff('many.json', 'many.json')"):
            start = time.monotonic()
            connect().execute(sql).fetchone()
            whole, late = time.monotonic() - start, []
            for part in range(1, 6):
                db, wished = connect(), []
                timer = threading.Timer(whole * part / 6, self.interrupt, (db, wished))
                timer.start()
                try:
                    db.execute(sql).fetchone()
                except sqlite3.OperationalError:
                    late.append(time.monotonic() - wished[0])
                timer.join()
            with self.subTest(sql):
                self.assertLess(max(late), self.LONGEST)

    def test_s19_progress_handler(self):
        for operations in (1, 100, 1000):
            with self.subTest(operations=operations):
                self.assert_stops("SELECT * FROM trace_ops('big.json.gz')",
                                  lambda delay, operations=operations: self.by_handler(operations, delay))

    def test_s19_progress_handler_of_many_operations(self):
        """A progress handler runs every 10,000 operations, like in some hosts."""
        calls = []
        self.db.set_progress_handler(lambda: calls.append(1), 10000)
        self.rows("SELECT * FROM trace_ops('big.json.gz')")
        self.assertTrue(calls)


class Threads(InFolder):
    """S22, and connections side by side."""

    def test_second_connection_in_another_thread(self):
        for side in "ab":
            write(f"{side}/rank0.json", run(steps=200, slower=1 + (side == "b")))
        sql = "SELECT * FROM trace_diff('a', 'b', 0, 0, 'all', 'all')"
        wanted, found = self.rows(sql), []

        def read():
            db = connect()
            for _ in range(20):
                found.append(db.execute(sql).fetchall() == wanted)
            db.close()
        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(20):
            found.append(self.rows(sql) == wanted)
        for thread in threads:
            thread.join()
        self.assertEqual(found, [True] * 80)

    def test_s22_closing_with_an_open_statement(self):
        """sqlite3_close refuses, the statement continues, and the next close succeeds, also for a zombie."""
        write("t.json", run())
        library = ctypes.CDLL("libsqlite3.so.0")
        library.sqlite3_column_text.restype = ctypes.c_char_p
        for close, first in ((library.sqlite3_close, 5), (library.sqlite3_close_v2, 0)):
            db, statement = ctypes.c_void_p(), ctypes.c_void_p()
            self.assertEqual(library.sqlite3_open(b":memory:", ctypes.byref(db)), 0)
            self.assertEqual(library.sqlite3_enable_load_extension(db, 1), 0)
            self.assertEqual(library.sqlite3_load_extension(db, EXTENSION.encode(), None, None), 0)
            sql = b"SELECT d.name FROM ops_diff('t.json', 't.json') AS d, trace_events('t.json') AS e USING (name)"
            self.assertEqual(library.sqlite3_prepare_v2(db, sql, -1, ctypes.byref(statement), None), 0)
            self.assertEqual(library.sqlite3_step(statement), 100)
            self.assertEqual(close(db), first)
            rows = 1
            while library.sqlite3_step(statement) == 100:
                self.assertIn(library.sqlite3_column_text(statement, 0),
                              (b"gemm", b"op1", b"op2", b"ProfilerStep#0", b"cudaLaunchKernel"))
                rows += 1
            self.assertEqual(rows, 13)
            self.assertEqual(library.sqlite3_finalize(statement), 0)
            if first:
                self.assertEqual(close(db), 0)

    def test_s22_authorizer_sees_inner_queries(self):
        write("t.json", run())
        self.db.set_authorizer(lambda _, table, *others: sqlite3.SQLITE_DENY * (table == "tracediff:trace_diff"))
        self.assert_error("ops_diff: access to tracediff:trace_diff.counts_change is prohibited",
                          "SELECT * FROM ops_diff('t.json', 't.json')")


if __name__ == "__main__":
    unittest.main()
