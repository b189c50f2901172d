"""Common programs for SQLite databases read the one of `make db` without the extension.

`make setup-hosts` installs them in build/hosts; tests of a missing one are skipped with the reason.
"""
import datetime
import json
import os
import subprocess
import tempfile
import unittest

from support import ROOT, slow, slowest
from test_database import GPU, InFolder, columns, listed, quoted, write

PLACE = os.path.join(ROOT, "build", "hosts")
PYTHON_TYPES = {"text": str, "integer": int, "real": float}
PYTHON = os.path.join(PLACE, "venv", "bin", "python")


def needs(host):
    if not os.path.exists(os.path.join(PLACE, "ready", host)):
        raise unittest.SkipTest(f"no {host}: run `make setup-hosts`")


@slow
class Readers(InFolder):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.database = os.path.join(place.name, "perf.db")
        write(cls.database, *GPU, args=1)

    def setUp(self):
        super().setUp()
        self.db = self.plain(self.database)

    def run_in(self, host, *command, script=None):
        """The output of a program."""
        needs(host)
        done = subprocess.run(command, input=script, cwd=self.folder, capture_output=True, text=True, check=False,
                              encoding="utf-8", env={**os.environ, "LD_PRELOAD": ""})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def python(self, script, *arguments):
        return json.loads(self.run_in("venv", PYTHON, "-c", script, self.database, *arguments))

    DUCKDB = """
import glob, json, os, sys, duckdb, duckdb_extension_sqlite_scanner
db = duckdb.connect()
folder = duckdb_extension_sqlite_scanner.__path__[0]
library, = glob.glob(os.path.join(folder, "**", "*.duckdb_extension"), recursive=True)
db.execute(f"LOAD '{library}'")
db.execute(f"ATTACH '{sys.argv[1]}' AS perf (TYPE sqlite, READ_ONLY)")
db.execute("USE perf")
json.dump([(db.execute(sql).fetchall(), [column[1] for column in db.description])
           for sql in json.loads(sys.argv[2])], sys.stdout, default=str)
"""

    def duckdb(self, *queries):
        return self.python(self.DUCKDB, json.dumps(queries))

    def test_duckdb_reads_everything(self):
        tables = [name for name in listed(self.db, "table") + listed(self.db, "view") if name != "events_utc"]
        for table, (rows, types) in zip(tables, self.duckdb(*(f"FROM {table}" for table in tables))):
            with self.subTest(table):
                self.assertEqual(rows, [list(row) for row in self.db.execute(f"SELECT * FROM {table}")])
                found = [{"VARCHAR": "text", "BIGINT": "integer", "DOUBLE": "real"}[type_] for type_ in types]
                for type_, column in zip(found, zip(*rows)):
                    self.assertLessEqual({type(value) for value in column} - {type(None)}, {PYTHON_TYPES[type_]})

    def test_duckdb_reads_dates_as_text(self):
        (rows, types), = self.duckdb("SELECT ts_utc, id FROM events_utc ORDER BY CAST(id AS BIGINT)")
        self.assertEqual(types, ["VARCHAR", "VARCHAR"])
        self.assertEqual(rows, [list(row)
                                for row in self.db.execute("SELECT ts_utc, CAST(id AS TEXT)"
                                                           " FROM events_utc ORDER BY id")])

    def test_duckdb_joins_what_the_view_joins(self):
        joined = """SELECT n.name, count(*), CAST(sum(e.dur_ns) AS BIGINT)
                    FROM event_rows AS e JOIN names AS n USING (name_id) JOIN files AS f USING (file_id)
                    WHERE f.side = 'test' AND n.kernel_type = 'COMPUTATION' GROUP BY n.name ORDER BY n.name"""
        (rows, _), = self.duckdb(joined)
        self.assertEqual(rows, [list(row) for row in self.db.execute(
            "SELECT name, count(*), sum(dur_ns) FROM events WHERE side = 'test' AND kernel_type = 'COMPUTATION'"
            " GROUP BY name ORDER BY name")])
        self.assertGreater(len(rows), 3)

    def test_pandas(self):
        found = self.python("""
import json, sqlite3, sys, pandas
db = sqlite3.connect(sys.argv[1])
events = pandas.read_sql("SELECT ts_utc, ts_ns, dur FROM events_utc", db, parse_dates=["ts_utc"])
types = {name: {column: str(type_) for column, type_ in pandas.read_sql(f"SELECT * FROM {name}", db).dtypes.items()}
         for name in ("diff", "events")}
json.dump([str(events.ts_utc[0]), len(events), str(events.ts_utc.dtype), types], sys.stdout)
""")
        first, count, dtype, types = found
        (utc, rows), = self.db.execute("SELECT ts_utc, (SELECT count(*) FROM events) FROM events_utc LIMIT 1")
        self.assertEqual((datetime.datetime.fromisoformat(first), count),
                         (datetime.datetime.fromisoformat(utc.replace("Z", "+00:00")), rows))
        self.assertRegex(dtype, r"^datetime64\[.s, UTC\]$")
        self.assertEqual({types["diff"][name] for name in ("diff_duration", "test_duration_per_step")}, {"float64"})
        self.assertEqual({types["diff"]["diff_counts"], types["events"]["ts_ns"]}, {"int64"})

    @slowest
    def test_datasette(self):
        tables = listed(self.db, "table") + listed(self.db, "view")
        found = self.python("""
import asyncio, json, sys
from datasette.app import Datasette
async def get():
    client = Datasette([sys.argv[1]]).client
    pages = [(await client.get(f"/perf/{table}")).status_code for table in sys.argv[2:]]
    return pages, (await client.get("/perf/diff.json?_shape=arrays&_size=5")).json()["rows"]
json.dump(asyncio.run(get()), sys.stdout)
""", *tables)
        pages, rows = found
        self.assertEqual(pages, [200] * len(tables))
        self.assertEqual([row[1:] for row in rows],
                         [list(row) for row in self.db.execute("SELECT * FROM diff ORDER BY rowid LIMIT 5")])

    JDBC = """
import java.sql.*;

class Readers {
    public static void main(String[] arguments) throws SQLException {
        try (Connection db = DriverManager.getConnection("jdbc:sqlite:" + arguments[0]);
             Statement statement = db.createStatement()) {
            for (int i = 1; i < arguments.length; i++) {
                ResultSet listed = db.getMetaData().getColumns(null, null, arguments[i], null);
                StringBuilder types = new StringBuilder();
                while (listed.next()) types.append(" ").append(listed.getString("TYPE_NAME"));
                ResultSet rows = statement.executeQuery("SELECT * FROM " + arguments[i]);
                long count = 0, columns = rows.getMetaData().getColumnCount();
                while (rows.next()) {
                    count++;
                    for (int column = 1; column <= columns; column++) rows.getObject(column);
                }
                System.out.println(arguments[i] + " " + count + types);
            }
        }
    }
}
"""

    @slowest
    def test_jdbc(self):
        needs("jdbc")
        source = os.path.join(self.folder, "Readers.java")
        with open(source, "w", encoding="utf-8") as file:
            file.write(self.JDBC)
        tables = listed(self.db, "table") + listed(self.db, "view")
        printed = self.run_in("jdbc", "java", "-cp", os.path.join(PLACE, "java", "*"), source, self.database, *tables)
        for table, line in zip(tables, printed.splitlines()):
            name, count, *types = line.split()
            with self.subTest(table):
                self.assertEqual((name, int(count)),
                                 (table, self.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]))
                self.assertEqual(len(types), len(columns(self.db, table)))
                self.assertLessEqual(set(types), {"TEXT", "INTEGER", "INT", "REAL"})

    def test_odbc(self):
        for table in listed(self.db, "table") + listed(self.db, "view"):
            names = [name for name, _ in columns(self.db, table)]
            # isql reads lines, and prints no more than a count
            printed = self.run_in("odbc", "isql", "-b", "-c", "-d\x1f", "-k",
                                  f"Driver=SQLite3;Database={self.database}",
                                  script=f"SELECT count(*), {', '.join(f'max({quoted(name)})' for name in names[:5])}"
                                         f" FROM {table}\n")
            with self.subTest(table):
                expected = self.db.execute(f"SELECT count(*) FROM {table}").fetchone()
                self.assertEqual(printed.splitlines()[1].split("\x1f")[0], str(expected[0]))
