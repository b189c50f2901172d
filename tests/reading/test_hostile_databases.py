"""Hostile databases (G1 to G7): rows or one error, equal each time; nothing is executed, written beside the file, or
left open.
"""
import ctypes
import os
import random
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import time
import unittest

from made import InFolder
from made_database import (EVENTS, KERNEL, ODD, SOURCES, STRINGS, TABLES, changed, edited, export, insert, opened,
                           root_of, rows_of,
                           untouched)
from support import DATA, EXTENSION, ROOT, connect, series, slow

COLUMNS = "event, rank, iteration, device, ph, cat, name, pid, tid, ts_ns, dur_ns, stream, correlation, link"
ROWS = f"SELECT {COLUMNS}, args FROM trace_events(?, NULL, NULL, 'all') ORDER BY event"
FILES = "SELECT rank, rows, events, problems FROM trace_files(?)"
METADATA = "SELECT key, value FROM trace_metadata(?)"
DIFF = "SELECT name, control_counts, test_counts FROM trace_diff(?1, ?1, 'all', 'all', 'all', 'all')"
# Words of an error that would show that the file caused a lookup.
EXECUTED = re.compile("no such (function|collation|vfs)|not authorized(?! to use function)")
MOST = 16 * 2 ** 20  # bytes of a value (G5)


def make_many_tables(path, name, columns, count):
    """Adds tables that all share one page, which saves the time to create them."""
    with opened(path) as db:
        db.execute("CREATE TABLE IF NOT EXISTS StringIds (id INTEGER PRIMARY KEY, value TEXT)")
        db.execute("PRAGMA writable_schema = ON")
        db.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?) INSERT INTO"
                   " sqlite_master SELECT"
                   " 'table', ?2 || i, ?2 || i, 2, 'CREATE TABLE ' || ?2 || i || '(' || ?3 || ')' FROM n",
                   (count, name, columns))


class Databases(InFolder):
    """Each test has an export, clean.db, and its rows."""

    def setUp(self):
        super().setUp()
        export("clean.db")
        self.clean = self.rows(ROWS, "clean.db")
        self.assertEqual(len(self.clean), 32)

    @staticmethod
    def outcome(db, sql, path):
        """The rows, or the text of an error."""
        try:
            return db.execute(sql, (path,)).fetchall()
        except sqlite3.Error as error:
            return str(error)
        except MemoryError:
            return "out of memory"

    def ask(self, db, path, queries=(ROWS, FILES, METADATA, DIFF)):
        answers = []
        for sql in queries:
            answer = self.outcome(db, sql, path)
            function = re.search(r"trace_\w+", sql)[0]
            if isinstance(answer, str):
                self.assertRegex(answer, rf"(?s)\A{function}: .*'{re.escape(path)}")
                self.assertNotRegex(answer, EXECUTED)
            answers.append(answer)
        return answers

    def read(self, path):
        """The rows of trace_events or the text of an error, after every query ran three times."""
        with untouched(self):
            answers = self.ask(self.db, path)
            self.assertEqual(self.ask(self.db, path), answers)
            fresh = connect()
            self.assertEqual(self.ask(fresh, path), answers)
            fresh.close()
        return answers[0]

    def error(self, path):
        """The text of an error after the function's name."""
        answer = self.read(path)
        self.assertIsInstance(answer, str)
        return answer.removeprefix("trace_events: ")

    def damage(self, path):
        """G6: a comparison's error for a file whose complete rows can be read."""
        self.assertIsInstance(self.read(path), list)
        answer = self.outcome(self.db, DIFF, path)
        self.assertIsInstance(answer, str)
        return answer.removeprefix("trace_diff: ")

    def assert_nothing(self, path):
        """Asserts no rows, and that comparisons are refused."""
        answer = self.read(path)
        self.assertTrue(answer == [] or isinstance(answer, str), answer)
        self.assertIsInstance(self.outcome(self.db, DIFF, path), str)

    def rows_without(self, *tables):
        return self.read(export("without.db", tables=[table for table in TABLES if table not in tables]))

    def made(self, *statements):
        return edited("clean.db", "x.db", *statements)


class Schemas(Databases):
    def test_views_in_place_of_tables(self):
        """G1: a view is never read, whatever its name is."""
        for table in SOURCES:
            with self.subTest(table):
                view = (f"CREATE VIEW {table} AS SELECT *, load_extension('evil'), randomblob(1 << 30) FROM hidden",
                        f"CREATE TRIGGER t INSTEAD OF INSERT ON {table} BEGIN SELECT load_extension('evil'); END")
                path = self.made(f"ALTER TABLE {table} RENAME TO hidden", *view)
                self.assertEqual(self.read(path), self.rows_without(table))
                path = edited("without.db", "x.db", "CREATE TABLE hidden(a)", *view)
                self.assertEqual(self.read(path), self.rows_without(table))

    def test_a_view_that_says_that_it_is_a_table(self):
        for table in SOURCES[::series(4, 1)]:
            for text in (f"CREATE VIEW {table} AS SELECT load_extension(1) AS start, writefile('w', 'x') AS end",
                         f"CREATE TEMP VIEW {table} AS SELECT 1",
                         f"create/**/view {table} AS SELECT made_up() AS start"):
                with self.subTest(table, text=text):
                    self.read(self.made(f"UPDATE sqlite_master SET sql = '{text.replace(chr(39), chr(39) * 2)}'"
                                        f" WHERE name = '{table}'"))

    def test_only_views(self):
        with opened("x.db") as db:
            for table in TABLES:
                db.execute(f"CREATE VIEW {table} AS SELECT 1 AS start, 2 AS end, 3 AS id, 4 AS value")
        self.assertEqual(self.error("x.db"), "'x.db': a SQLite database of no known profiler")

    def test_triggers(self):
        statements = [f"CREATE TRIGGER t{n} {when} {what} ON {table} BEGIN SELECT load_extension('evil'); END"
                      for n, (when, what, table) in enumerate((when, what, table) for when in ("BEFORE", "AFTER")
                                                              for what in ("INSERT", "UPDATE", "DELETE")
                                                              for table in SOURCES)]
        self.assertEqual(self.read(self.made(*statements)), self.clean)

    def test_generated_columns(self):
        """G3: a computed column counts as absent, whatever computes it."""
        expressions = ("1", "abs(-9223372036854775808)", "zeroblob(1000000000)",
                       "replace(hex(zeroblob(9999)), '0', 'aaaaaaaaaa')",
                       "made_up(1)", "printf('%.*c', 100000000, 'x')", "end")
        for kind in ("VIRTUAL", "STORED"):
            for expression in expressions:
                computed = f"INTEGER AS ({expression}) {kind}".replace("'", "''")
                for column in ("start", "deviceId"):
                    path = self.made(f"UPDATE sqlite_master SET sql = replace(sql, '{column} INTEGER NOT NULL',"
                                     f" '{column} {computed}')"
                                     f" WHERE name = '{KERNEL}'")
                    with self.subTest(computed, column=column):
                        if column == "start":
                            self.assertEqual(self.damage(path), f"'x.db': table {KERNEL} has no column start")
                        else:
                            self.assertEqual([row[7] for row in self.read(path) if row[5] == "kernel"], [None] * 8)

    def test_generated_columns_that_call_what_is_not_there(self):
        for call in ("load_extension(''evil'')", "writefile(''w'', ''x'')", "random()", "trace_stable_name(start)",
                     "(SELECT 1)", "last_insert_rowid()"):
            with self.subTest(call):
                path = self.made("UPDATE sqlite_master SET sql = replace(sql, 'start INTEGER NOT NULL',"
                                 f" 'start INTEGER AS ({call})') WHERE name = '{KERNEL}'")
                self.read(path)
        self.assertFalse(os.path.exists("w"))

    def test_checks_defaults_and_indexes(self):
        made = self.made(
            "UPDATE sqlite_master SET sql = replace(sql, 'INTEGER NOT NULL', 'INTEGER NOT NULL DEFAULT"
            " (load_extension(1)) CHECK (load_extension(1) OR made_up(2))') WHERE name LIKE 'CUPTI%'")
        if sqlite3.sqlite_version_info < (3, 54):
            self.assertEqual(self.read(made), self.clean)
        else:  # a column with a function as its default is refused
            self.assertRegex(self.damage(made), "^'x.db': not authorized to use function: load_extension")
        made = self.made(*(f"CREATE INDEX i{n} ON {table}(abs(start), made_up(start)) WHERE made_up(1)"
                           for n, table in enumerate(EVENTS)))
        self.assertEqual(self.read(made), self.clean)

    def test_indexes_that_say_something_else(self):
        """Indexes are not read, so their content does not matter."""
        made = self.made("CREATE INDEX i ON StringIds(id, value)", f"CREATE INDEX j ON {KERNEL}(start, end)")
        made = changed(made, "y.db", *((4096 * (root_of(made, name) - 1), bytes(4096)) for name in "ij"))
        self.assertEqual(self.read(made), self.clean)

    def test_virtual_tables(self):
        modules = ("fts5(start, end)", "fts4(start)", "rtree(id, start, end)", "dbstat", "trace_events('clean.db')",
                   "nowhere(1)", "csv(filename='clean.db')")
        modules_here = {name for name, in self.rows("SELECT name FROM pragma_module_list")} & {"fts5", "fts4", "rtree"}
        for table in SOURCES[::series(3, 1)]:
            expected = self.rows_without(table)
            for module in modules:
                text = f"CREATE VIRTUAL TABLE {table} USING {module}".replace("'", "''")
                row = f"INSERT INTO sqlite_master VALUES ('table', '{table}', '{table}', %s, '{text}')"
                with self.subTest(text):
                    if module.split("(")[0] in modules_here:
                        path = edited("without.db", "x.db", text.replace("''", "'"))
                        self.assertEqual(self.read(path), expected)
                    self.assertEqual(self.read(edited("without.db", "x.db", row % 0)), expected)
                    self.read(edited("without.db", "x.db", row % 2))  # as if it contained rows

    def test_names_that_are_not_those_of_the_texts(self):
        """Two rows of the schema do not match their text: one says `table` and CREATE TABLE, another has a text with
        its name.
        """
        for table in SOURCES[::series(4, 1)]:
            for text in (f"CREATE VIRTUAL TABLE {table} USING fts5(start, end)",
                         f"CREATE VIRTUAL TABLE {table} USING dbstat",
                         f"CREATE VIRTUAL TABLE {table} USING nowhere",
                         f"CREATE VIEW {table} AS SELECT load_extension(1) AS start",
                         f"CREATE TABLE {table} (start AS (load_extension(1)), end)"):
                for root in (0, 2):
                    with self.subTest(text, root=root):
                        self.read(self.made(f"UPDATE sqlite_master SET sql = replace(sql, '{table}', 'other')"
                                            f" WHERE name = '{table}'",
                                            f"INSERT INTO sqlite_master VALUES ('table', 'x', 'x', {root}, '{text}')"))

    def test_rows_elsewhere(self):
        """The rows of a table are read at its declared root."""
        last = os.path.getsize("clean.db") // 4096
        for table in SOURCES[::series(4, 1)]:
            for root in (*range(1, last + 1), 0, last + 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, -1, "'x'", "NULL", "x'00'"):
                with self.subTest(table, root=root):
                    self.read(self.made(f"UPDATE sqlite_master SET rootpage = {root} WHERE name = '{table}'"))

    def test_texts_of_tables(self):
        first = f"CREATE TABLE {KERNEL}"
        for text in ("", "garbage", "CREATE TABLE", f"{first} (", "DROP TABLE StringIds",
                     f"{first} AS SELECT 1 AS start",
                     f"{first} (start, end, demangledName) WITHOUT ROWID", f"{first} (a); DROP TABLE {STRINGS}",
                     f"{first} (start PRIMARY KEY, end, demangledName) WITHOUT ROWID",
                     "CREATE TABLE other(start, end, demangledName)", f"{first} (start)", f"{first} (x)",
                     f"{first} (start, end, demangledName, {', '.join(f'c{n}' for n in range(1990))})",
                     f"{first} (start, end, demangledName, {', '.join(f'c{n}' for n in range(3000))})",
                     f"{first} (demangledName, end, start)", f"{first} (start, START)",
                     f"{first} (start TEXT, end BLOB,"
                     " deviceId REAL, contextId, streamId, correlationId, globalPid, demangledName)",
                     f"{first} (start INTEGER PRIMARY KEY, end, demangledName)",
                     f"{first} (start INTEGER PRIMARY KEY DESC, end, demangledName)",
                     f"CREATE VIRTUAL TABLE {KERNEL} USING fts5(start)", f"CREATE INDEX {KERNEL} ON {STRINGS}(value)",
                     f"CREATE TRIGGER {KERNEL} AFTER INSERT ON {STRINGS} BEGIN SELECT 1; END",
                     f"{first} (start, end, demangledName CHECK ({'(' * 900}1{')' * 900}))",
                     f"{first} (start, end, demangledName CHECK (1{' + 1' * 2000}))",
                     f"{first} (start, end, demangledName REFERENCES nowhere)"):
            with self.subTest(text[:100]):
                quoted = text.replace("'", "''")
                self.read(self.made(f"UPDATE sqlite_master SET sql = '{quoted}' WHERE name = '{KERNEL}'"))
        for column in ("type", "name", "tbl_name", "sql"):
            for value in ("NULL", "x'ff00ff'", "1.5", "CAST(x'6100' AS TEXT)", "zeroblob(100000)", "char(0xd800)"):
                with self.subTest(column, value=value):
                    self.read(self.made(f"UPDATE sqlite_master SET {column} = {value} WHERE name = '{KERNEL}'"))

    def test_a_key_of_another_name(self):
        """An INTEGER PRIMARY KEY of any name is the row number."""
        for table in EVENTS:
            path = export("x.db", columns={table: f"{TABLES[table]}, place INTEGER PRIMARY KEY"})
            self.assertEqual(self.read(path), self.clean)

    def test_without_rowid(self):
        """G3: a table WITHOUT ROWID is refused."""
        for table in SOURCES:
            path = export("x.db", tables=[name for name in TABLES if name != table])
            with opened(path) as db:
                columns = TABLES[table].replace(" PRIMARY KEY", "")
                key = "id" if table == STRINGS else "start, end"
                db.execute(f"CREATE TABLE {table} ({columns}, PRIMARY KEY ({key})) WITHOUT ROWID")
                insert(db, table, rows_of(table, 4))
            with self.subTest(table):
                self.assertEqual(self.damage(path), f"'x.db': no such column: rowid (table {table})")

    def test_names_of_tables(self):
        """Names that differ in case work, and unrelated names do not matter, however odd."""
        made = self.made("INSERT INTO sqlite_master SELECT type, upper(name), upper(tbl_name), rootpage, upper(sql)"
                         " FROM sqlite_master WHERE name = 'StringIds'")
        self.read(made)
        odd = ["'", '"', "a\0b", "[", "`", "x" * 10_000, "", " ", "\n", "é", "CUPTI_ACTIVITY_KIND_KERNEL_V",
               "CUPTI_ACTIVITY_KIND_KERNEL_V2", "CUPTI_ACTIVITY_KIND_KERNEL_V99999999999999999999",
               "CUPTI_ACTIVITY_KIND_KERNEL_V2x"]
        for name in odd:
            with self.subTest(name[:20]), opened(shutil.copyfile("clean.db", "x.db")) as db:
                db.execute('CREATE TABLE "' + name.split("\0")[0].replace('"', '""') + '" (a)')
                if "\0" in name:
                    db.execute("PRAGMA writable_schema = ON")
                    db.execute("UPDATE sqlite_master SET name = ? WHERE name = ?", (name, name.split("\0")[0]))
            self.assertEqual(self.read("x.db"), self.clean)

    def test_versions_of_tables(self):
        """N1: a missing table is replaced by its highest version, whose name can contain anything else."""
        for tail in ("_V2", "_V10", "_V007", "_V2'", '_V2"', "_V-1", "_V99999999999999999999", "_V", "_V2 "):
            with self.subTest(tail):
                name = (KERNEL + tail).replace('"', '""')
                self.read(self.made(f'ALTER TABLE {KERNEL} RENAME TO "{name}"'))

    def test_wide_tables(self):
        wide = ", ".join(f"c{n}" for n in range(1900))
        path = export("x.db", columns={table: f"{TABLES[table]}, {wide}" for table in SOURCES})
        self.assertEqual(self.read(path), self.clean)
        path = export("x.db", columns={table: f'{TABLES[table]}, "{"n" * 100_000}"' for table in SOURCES})
        self.assertEqual(self.read(path), self.clean)

    def test_strict_tables_and_other_collations(self):
        path = export("x.db", tables=[])
        with opened(path) as db:
            for table, columns in TABLES.items():
                db.execute(f"CREATE TABLE {table} ({columns}) STRICT")
                insert(db, table, rows_of(table, 4))
        self.assertEqual(self.read(path), self.clean)
        path = self.made("UPDATE sqlite_master SET sql = replace(sql, ' TEXT', ' TEXT COLLATE nowhere') WHERE type"
                         " = 'table'",
                         "UPDATE sqlite_master SET sql = replace(sql, 'start INTEGER', 'start INTEGER COLLATE"
                         " nowhere')")
        self.assertEqual(self.read(path), self.clean)
        with opened(shutil.copyfile("clean.db", "x.db")) as db:
            db.create_collation("nowhere", lambda a, b: (a > b) - (a < b))
            db.execute("CREATE INDEX i ON StringIds(value COLLATE nowhere)")
        self.assertEqual(self.read("x.db"), self.clean)

    def test_statistics(self):
        """SQLite's statistics tables, which it reads while opening a database, do not matter."""
        self.assertEqual(self.read(self.made(
            "CREATE INDEX i ON StringIds(value)", "ANALYZE",
                                             "UPDATE sqlite_stat1 SET stat = '-1 sz=x noskipscan ' ||"
                                             " hex(zeroblob(9999))",
            "INSERT INTO sqlite_stat1 SELECT 'nowhere', NULL, char(10) FROM sqlite_master")), self.clean)
        self.read(self.made("CREATE INDEX i ON StringIds(value)", "ANALYZE", "UPDATE sqlite_master SET"
                            " sql = 'CREATE VIEW sqlite_stat1 AS SELECT 1 AS tbl, 2 AS idx, made_up() AS stat'"
                            " WHERE name = 'sqlite_stat1'"))

    @slow
    def test_many_tables(self):
        make_many_tables("clean.db", "t", "a, b", 20_000)
        started = time.process_time()
        self.assertEqual(self.read("clean.db"), self.clean)
        self.assertLess(time.process_time() - started, 10)


class Values(Databases):
    """Columns with unexpected values."""

    def test_odd_values_in_every_column(self):
        rng = random.Random(1)
        loose = {table: ", ".join(column.split()[0] for column in columns.split(", ")) for table,
                 columns in TABLES.items()}
        for number in range(series(30, 600)):
            with opened(export("x.db", tables=[])) as db:
                for table in TABLES:
                    db.execute(f"CREATE TABLE {table} ({loose[table]})")
                    rows = [list(row) for row in rows_of(table, 2)]
                    for row in rows:
                        for column in rng.sample(range(len(row)), rng.choice((0, 1, 1, 2, len(row)))):
                            row[column] = rng.choice(ODD)
                            if row[column] == "\udc80":
                                row[column] = b"\x80"
                    insert(db, table, rows)
                    if rng.random() < 0.5:
                        for column in loose[table].split(", "):
                            db.execute(f"UPDATE {table} SET {column} = CAST({column} AS TEXT) WHERE"
                                       f" typeof({column}) = 'blob'")
            with self.subTest(number):
                answers = self.ask(self.db, "x.db")
                self.assertEqual(self.ask(self.db, "x.db"), answers)

    def test_odd_times(self):
        for base in (2 ** 63 - 1, -2 ** 63, 2 ** 63 - 1000, "x", None, 1.5, b"1"):
            for start, end in ((2 ** 63 - 1, 2 ** 63 - 1), (-2 ** 63, 2 ** 63 - 1), (-2 ** 63, -2 ** 63), (5, 4),
                               (0, 2 ** 62)):
                with self.subTest(base, start=start, end=end):
                    with opened(shutil.copyfile("clean.db", "x.db")) as db:
                        db.execute("UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = ?", (base,))
                        db.execute(f"UPDATE {KERNEL} SET start = ?, end = ? WHERE rowid % 2", (start, end))
                        db.execute("UPDATE NVTX_EVENTS SET start = ?, end = ? WHERE rowid = 3", (start, end))
                    self.ask(self.db, "x.db")

    def test_row_numbers(self):
        """G9: row numbers can be any 64-bit integers, and they give the file order."""
        most = 2 ** 63 - 1
        for numbers in ([-most - 1, -5, -1, 0, 1, 7, most - 1, most], list(range(-8, 0)),
                        [most - 7 + n for n in range(8)]):
            with self.subTest(numbers):
                with opened(shutil.copyfile("clean.db", "x.db")) as db:
                    for old, new in zip(range(8, 0, -1), reversed(numbers)):
                        db.execute(f"UPDATE {KERNEL} SET rowid = ? WHERE rowid = ?", (10 ** 9 + old, old))
                    for old, new in zip(range(1, 9), numbers):
                        db.execute(f"UPDATE {KERNEL} SET rowid = ? WHERE rowid = ?", (new, 10 ** 9 + old))
                self.assertEqual(self.read("x.db"), self.clean)
                self.assertEqual(self.rows("SELECT e.args FROM (SELECT 26 AS event UNION ALL SELECT 21 UNION ALL"
                                           " SELECT 25) AS p"
                                           " CROSS JOIN trace_events('x.db') AS e USING (event)"),
                                 [(self.clean[event][-1],) for event in (26, 21, 25)])

    def test_numbers_of_strings(self):
        for number in (1 - 2 ** 63, -1, 0, 2 ** 32 + 1, 2 ** 63 - 1):
            with opened(shutil.copyfile("clean.db", "x.db")) as db:
                db.execute("UPDATE StringIds SET id = ? WHERE id = 2", (number,))
                db.execute(f"UPDATE {KERNEL} SET demangledName = ? WHERE demangledName = 2", (number,))
            self.assertEqual(self.read("x.db"), self.clean)

    def test_values_longer_than_the_limit(self):
        """G5: values longer than the limit are left out and counted, also at the ends, and later rows are read."""
        most = 2 ** 63 - 1
        for table, column, rows in (("NVTX_EVENTS", "text", (1, 4, 8)), (STRINGS, "value", (1, 5)),
                                    (KERNEL, "end", (8,)))[:series(1, 3)]:
            for last in (None, most):
                with self.subTest(table, last=last):
                    with opened(shutil.copyfile("clean.db", "x.db")) as db:
                        for row in rows:
                            db.execute(f"UPDATE {table} SET {column} = CAST(zeroblob(?) AS TEXT) WHERE rowid = ?",
                                       (MOST + 1, row))
                        if last:
                            db.execute(f"UPDATE {table} SET rowid = ? WHERE rowid = ?", (last, rows[-1]))
                    answer = self.read("x.db")
                    self.assertIsInstance(answer, list)
                    (problems,), = self.rows("SELECT problems FROM trace_files('x.db')")
                    self.assertIn("name is not text" if table == STRINGS else "longer than 16 MiB", problems)
                    if table == STRINGS:
                        named = {1: "cudaLaunchKernel", 2: "void gemm<float>(int)", 3: "relu", 5: "cudaMemcpyAsync"}
                        lost = {named[row] for row in rows}
                        self.assertEqual([row[6] for row in answer],
                                         [None if row[6] in lost else row[6] for row in self.clean])
                    else:
                        self.assertEqual(len(answer), len(self.clean) - len(rows))

    def test_args_that_become_too_long(self):
        """If JSON escapes make args too long, they are NULL, and other rows keep theirs."""
        with opened(shutil.copyfile("clean.db", "x.db")) as db:
            db.execute("UPDATE NVTX_EVENTS SET domainId = 5 WHERE rowid = 1")
            db.execute("INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId)"
                       " SELECT 0, 75, CAST(? AS TEXT), globalTid, 5 FROM NVTX_EVENTS WHERE rowid = 1",
                       (b"\1" * 3_000_000,))
        args = [row[-1] for row in self.read("x.db")]
        self.assertEqual(args, [None] + [row[-1] for row in self.clean[1:]])

    def test_texts_that_are_not_utf8(self):
        with opened(shutil.copyfile("clean.db", "x.db")) as db:
            for value in (b"\xff\xfe", b"\xed\xa0\x80", b"a\x00b", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xe2\x82"):
                db.execute("UPDATE StringIds SET value = CAST(? AS TEXT) WHERE id = 2", (value,))
                db.execute("UPDATE NVTX_EVENTS SET text = CAST(? AS TEXT) WHERE rowid = 1", (value,))
                db.execute("UPDATE META_DATA_EXPORT SET value = CAST(? AS TEXT)", (value,))
                db.commit()
                answer = self.read("x.db")
                self.assertEqual(len(answer), len(self.clean))
                self.assertIn("\ufffd" if value != b"a\x00b" else "a\0b", {row[6] for row in answer}
                              | {answer[0][6][-1:]})

    PIECES = [(", seq = 1", "x"), (", ", ""), ("[", ""), ("[1], ", ""), ("(1,1), ", "x"), ("1, ", "1]]"), ("1", ""),
              (", seq = 1, op_id = 1, sizes = [[", ""), ("7", ""), ("_", ""), ("a::", "b, seq = 1"), ("(", ""),
              ("<unnamed>::", ""),
              ("(1,1), ", ")]")]
    STARTS = ["", "", ", sizes = [", ", sizes = [", ", input_op_ids = [", "a, sizes = [[", ", op_id = ", "", "step ",
              "iteration", "",
              "", "", "a, input_op_ids = ["]

    def test_long_texts(self):
        """Work on a text grows linearly with its length."""
        for start, (piece, end) in zip(self.STARTS, self.PIECES):
            text = start + piece * (series(300_000, 3_000_000) // len(piece)) + end
            with opened(shutil.copyfile("clean.db", "x.db")) as db:
                db.execute("UPDATE NVTX_EVENTS SET text = ? WHERE rowid % 4 = 1", (text,))
                db.execute("UPDATE StringIds SET value = ? WHERE id IN (1, 2)", (text,))
            started = time.process_time()
            with self.subTest(piece, start=start):
                self.assertEqual(len(self.rows(ROWS, "x.db")), len(self.clean))
                self.assertLess(time.process_time() - started, series(1, 5))


class Declarations(InFolder):
    """Each profiler's tables with the same rows and other declarations."""
    SAMPLES = [("nsys", "nsys_rules_mpi.sqlite"), ("nsys", "nsys_rules_two.sqlite"), ("rocpd", "rocpd_v3.db"),
               ("ascend", "ascend_pytorch_profiler_5.db")]
    STRINGS = re.compile("StringIds|STRING_IDS|rocpd_(string|info_kernel_symbol|event)_.*")
    ROWIDS = ["INTEGER PRIMARY KEY", "INTEGER PRIMARY KEY ASC", "INTEGER, PRIMARY KEY (id)",
              "INTEGER, PRIMARY KEY (id DESC)"]  # SQLite treats these ids as rowids, others not
    OTHERS = ["INTEGER PRIMARY KEY DESC", "INTEGER NOT NULL PRIMARY KEY DESC UNIQUE", "INT PRIMARY KEY",
              "INT UNIQUE PRIMARY KEY", "INT, PRIMARY KEY (id)", "TEXT PRIMARY KEY", "INTEGER, PRIMARY KEY (id, id)",
              "INTEGER UNIQUE", "INTEGER, UNIQUE (id)", "INTEGER", "TEXT", "", "INTEGER, rowid INTEGER PRIMARY KEY",
              "INTEGER UNIQUE, another INTEGER PRIMARY KEY", "INTEGER PRIMARY KEY DESC, rowid INTEGER AS (id)"]

    def samples(self):
        """Writes each sample as sample.db, and yields its name and its rows."""
        for parts in self.SAMPLES:
            shutil.copyfile(os.path.join(DATA, *parts), "sample.db")
            shutil.copyfile("sample.db", "x.db")
            yield parts[1], self.rows(ROWS, "x.db")

    @staticmethod
    def tables(db):
        return [table for table, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'"
                                               " AND name NOT LIKE 'sqlite%'")]

    @staticmethod
    def columns(db, table):
        """{name: type}"""
        return {row[1]: row[2] for row in db.execute(f'PRAGMA table_info("{table}")')}

    def hide(self, rng, path):
        """Adds columns named like rowids. Returns the tables where all these names are taken."""
        hidden, added = [], []
        with opened(path) as db:
            for table in self.tables(db):
                first = next(iter(self.columns(db, table)))
                names = rng.sample(("rowid", "_rowid_", "oid", "rowid ", "row id"), rng.choice((0, 1, 2, 2, 2, 4)))
                if {"rowid", "_rowid_", "oid"} <= set(names):
                    hidden.append(table)
                for name in names:
                    name = rng.choice(('"%s"', "[%s]", "`%s`")) % rng.choice((name, name.upper(), name.title()))
                    value = rng.choice((f'-"{first}"', f'"{first}" % 3', f'hex("{first}")', "1", "NULL",
                                        "9223372036854775807"))
                    other = f"added{len(added)}"  # new versions of SQLite refuse to add a column named like the rowid
                    added.append((table, first, name, other))
                    if rng.random() < 0.4:
                        kind = rng.choice(("BLOB", "INTEGER", "TEXT"))
                        db.execute(f'ALTER TABLE "{table}" ADD COLUMN {other} {kind}')
                        db.execute(f'UPDATE "{table}" SET {other} = {value}')
                    else:
                        db.execute(f'ALTER TABLE "{table}" ADD COLUMN {other} INTEGER AS ({value}) VIRTUAL')
            db.execute("PRAGMA writable_schema = ON")
            db.executemany("UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = ?",
                           ((f"{other} ", f"{name} ", table) for table, _, name, other in added))
            db.execute("UPDATE sqlite_master SET sql = replace(sql, ') VIRTUAL', ') STORED') WHERE rootpage % ? = 0",
                       (rng.randint(1, 3),))
        with opened(path) as db:
            for table, first, name, other in added:
                db.execute(f'UPDATE "{table}" SET "{first}" = "{first}"')
                if rng.random() < 0.3:
                    db.execute(f'CREATE INDEX {other} ON "{table}"({name}, abs({name})) WHERE {name} > 0')
        return hidden

    def test_columns_named_as_the_rowid(self):
        """G3: rows are in the order of the real rowid, or refused, whatever columns have its names."""
        refused = read = 0
        for sample, expected in self.samples():
            for seed in range(series(8, 200)):
                shutil.copyfile("sample.db", "x.db")
                hidden = self.hide(random.Random(seed), "x.db")
                with self.subTest(sample, seed=seed):
                    try:
                        self.rows(DIFF, "x.db")
                        read += 1
                        self.assertEqual(self.rows(ROWS, "x.db"), expected)
                    except sqlite3.Error as error:
                        self.assertIn(str(error), [f"trace_diff: 'x.db': its columns hide its rowid (table {table})"
                                                   for table in hidden])
                        refused += 1
        self.assertGreater(refused, 3)
        self.assertGreater(read, 3)

    def declare(self, rng, db, table, declared):
        """Recreates a table with another declaration of its id, and its rows in any order."""
        others = self.columns(db, table)
        del others["id"]
        names = ", ".join(f'"{name}"' for name in ("id", *others))
        rows = db.execute(f'SELECT {names} FROM "{table}"').fetchall()
        db.execute(f'DROP TABLE "{table}"')
        db.execute(f'CREATE TABLE "{table}" ({", ".join(map(" ".join, others.items()))}, id {declared})')
        places = rng.sample(range(-2 * len(rows), rng.choice((0, len(rows)))), len(rows))
        if declared in self.ROWIDS:
            places = [row[0] for row in rows]
        db.executemany(f'INSERT INTO "{table}" (_rowid_, {names}) VALUES (?, {", ".join("?" * (1 + len(others)))})',
                       ((place, *row) for place, row in zip(places, rows)))

    def test_ids_of_strings(self):
        """G7: a string is found by its id, however it is declared, and whatever its rowid is."""
        rng = random.Random(1)
        for sample, expected in self.samples():
            for declared in self.ROWIDS + self.OTHERS:
                shutil.copyfile("sample.db", "x.db")
                with opened("x.db") as db:
                    for table in filter(self.STRINGS.fullmatch, self.tables(db)):
                        self.declare(rng, db, table, declared)
                with self.subTest(sample, declared=declared):
                    self.assertEqual(self.rows(ROWS, "x.db"), expected)


SMALL_STACKS = """
import ctypes, sys
sys.path.insert(0, sys.argv[1])
from support import connect
libc, attributes = ctypes.CDLL(None), ctypes.create_string_buffer(64)
libc.pthread_attr_init(attributes)
libc.pthread_attr_setstacksize(attributes, ctypes.c_size_t(64 * 1024))
if libc.pthread_setattr_default_np(attributes):
    sys.exit("the size of stacks cannot be set")
print(connect().execute("SELECT count(*), sum(rows) > 0 FROM trace_files('d')").fetchone())
"""


class Threads(Databases):
    @unittest.skipIf(os.name == "nt", "needs threads of POSIX")
    def test_have_stacks_for_the_deepest_expressions(self):
        """Threads have stacks for the deepest expressions, even if the system's default stacks are small, like
        musl's.
        """
        deep = "1" + "+1" * 980
        for number in range(3):
            export(f"d{number}.db")
            with opened(f"d{number}.db") as db:
                db.execute(f"CREATE TABLE deep (a CHECK ({deep}), b AS ({deep}), c DEFAULT ({deep}))")
                db.execute(f"CREATE INDEX deeper ON deep (a + {deep}) WHERE a + {deep}")
            os.renames(f"d{number}.db", f"d/d{number}.db")
        done = subprocess.run([sys.executable, "-c", SMALL_STACKS, os.path.join(ROOT, "tests")], capture_output=True,
                              check=False, text=True, env={**os.environ, "TRACEDIFF": EXTENSION})
        self.assertEqual((done.returncode, done.stdout), (0, "(3, 1)\n"), done.stderr)


class Formats(Databases):
    """The same export in other formats that SQLite can write."""

    def test_pragmas(self):
        for pragmas in (["encoding = 'UTF-16le'"], ["encoding = 'UTF-16be'"], ["page_size = 512"],
                        ["page_size = 65536"],
                        ["auto_vacuum = FULL"], ["auto_vacuum = INCREMENTAL"], ["application_id = -1"],
                        ["user_version = -1"], ["legacy_file_format = ON"], ["journal_mode = WAL"],
                        ["journal_mode = PERSIST"],
                        ["journal_mode = WAL", "encoding = 'UTF-16le'", "page_size = 512", "auto_vacuum = FULL"]):
            with self.subTest(pragmas):
                export("x.db", pragmas=pragmas)
                if "PERSIST" in pragmas[0]:
                    os.remove("x.db-journal")
                self.assertEqual(self.read("x.db"), self.clean)

    def test_reserved_bytes(self):
        lite = ctypes.CDLL("libsqlite3.so.0")
        with opened("clean.db") as db:
            script = "\n".join(db.iterdump()).encode()
        for reserved in (1, 32, 255):
            made, size = ctypes.c_void_p(), ctypes.c_int(reserved)
            if os.path.exists("x.db"):
                os.remove("x.db")
            self.assertEqual(lite.sqlite3_open(b"x.db", ctypes.byref(made)), 0)
            self.assertEqual(lite.sqlite3_file_control(made, b"main", 38, ctypes.byref(size)), 0)  # RESERVE_BYTES
            self.assertEqual(lite.sqlite3_exec(made, script, None, None, None), 0)
            lite.sqlite3_close(made)
            with open("x.db", "rb") as file:
                self.assertEqual(file.read(21)[20], reserved)
            self.assertEqual(self.read("x.db"), self.clean)

    def test_bytes_after_the_database(self):
        with open("clean.db", "rb") as file:
            content = file.read()
        for tail in (b"\0", b"x" * 100, bytes(4096), random.Random(1).randbytes(40960)):
            with open("x.db", "wb") as file:
                file.write(content + tail)
            self.assertEqual(self.read("x.db"), self.clean)

    def test_headers(self):
        """Any other value in a byte of the header gives rows or an error."""
        with open("clean.db", "rb") as file:
            content = file.read()
        rng = random.Random(1)
        for at in range(0, 100, series(7, 1)):
            for value in {0, 1, 255, content[at] ^ 1, content[at] ^ 128, rng.randrange(256)}:
                with self.subTest(at=at, value=value):
                    self.ask(self.db, changed("clean.db", "x.db", (at, bytes([value]))), (ROWS, FILES))
        for at, value in ((48, 2 ** 31 - 1), (48, 2 ** 31), (28, 0), (28, 2 ** 32 - 1), (44, 5), (44, 0), (56, 4),
                          (32, 3)):
            self.read(changed("clean.db", "x.db", (at, struct.pack(">I", value))))

    def test_encrypted(self):
        noise = random.Random(1).randbytes
        size = os.path.getsize("clean.db")
        for kept in (16, 24, 100):
            self.assert_nothing(changed("clean.db", "x.db", (kept, noise(size - kept))))
        self.assertEqual(self.error(changed("clean.db", "x.db", (16, noise(size - 16)))),
                         "cannot read 'x.db': file is not a database")

    def test_almost_nothing(self):
        with open("clean.db", "rb") as file:
            content = file.read()
        for size in (0, 1, 15, 16, 17, 99, 100, 511, 512, 4095, 4096):
            with open("x.db", "wb") as file:
                file.write(content[:size])
            self.assert_nothing("x.db")
        with opened("y.db") as db:
            db.execute("CREATE TABLE t(a)")
        self.assertEqual(self.error("y.db"), "'y.db': a SQLite database of no known profiler")
        with opened("z.db") as db:
            db.execute("VACUUM")
        self.assertIsInstance(self.read("z.db"), str)


if __name__ == "__main__":
    unittest.main()
