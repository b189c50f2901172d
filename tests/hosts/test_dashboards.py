"""The recipes of examples/dashboards: their queries run on a database from `make db`, in SQLite without the extension,
and print the results on the page. Datasette serves the same rows.
"""
import contextlib
import json
import os
import re
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.request

from support import EXAMPLES, EXTENSION, ROOT, slow

DATASETTE = os.path.join(ROOT, "build", "hosts", "venv", "bin", "datasette")
PAGE = os.path.join(EXAMPLES, "dashboards", "README.md")
METADATA = os.path.join(EXAMPLES, "dashboards", "datasette.yml")
EXAMPLE = re.compile(r"```sql\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.S)
PATIENCE = 60


def make_database(folder):
    path = os.path.join(folder, "perf.db")
    subprocess.run(["sh", os.path.join(ROOT, "sql", "database", "database.sh"),
                    os.path.join(EXAMPLES, "gpu", "control"),
                    os.path.join(EXAMPLES, "gpu", "test"), path], check=True,
                    env={**os.environ, "TRACEDIFF": EXTENSION})
    return path


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def queries():
    """The queries by their names in Datasette's metadata."""
    found = re.findall(r"(?m)^      (\w+):\n        title: .*\n        sql: \|-\n((?: {10}.*\n)+)", read(METADATA))
    return {name: re.sub(r"(?m)^ {10}", "", sql).rstrip("\n") for name, sql in found}


class Dashboards(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.database = make_database(cls.folder.name)

    def shell(self, sql):
        return subprocess.run(["sqlite3", "-batch", "-header", self.database], input=sql, check=True, text=True,
                              capture_output=True, encoding="utf-8").stdout

    def test_queries_print_what_the_page_shows(self):
        examples = EXAMPLE.findall(read(PAGE))
        self.assertGreaterEqual(len(examples), 5)
        for sql, printed in examples:
            with self.subTest(sql=sql):
                self.assertTrue(printed)
                # the shell of SQLite 3.52 prints 17 digits
                shown = re.sub(r"\d+\.\d{6,}", lambda number: f"{float(number[0]):.15g}", self.shell(sql))
                self.assertEqual(shown, printed)

    def test_the_range_of_time_is_that_of_the_trace(self):
        self.assertIn("SELECT min(ts_utc), max(ts_utc) FROM steps;", read(PAGE))
        self.assertRegex(self.shell("SELECT min(ts_utc), max(ts_utc) FROM steps;"), r"\n2025-\d\d-\d\dT.*Z\|2025-.*Z\n")

    def test_metadata_has_the_queries_of_the_page(self):
        shown = [re.sub(r"(\nLIMIT \d+)?;\n$", "", sql) for sql, _ in EXAMPLE.findall(read(PAGE))]
        self.assertEqual(list(queries().values()), shown)

    @slow
    @unittest.skipUnless(os.path.exists(DATASETTE), "Datasette is not here: make setup-hosts")
    def test_datasette_serves_the_database(self):
        with served(self.database) as url:
            page = get(url + "/perf")
            self.assertIn("What changed between two runs", get(url + "/"))
            self.assertIn("Made by make db", page)
            for table in ("steps", "step_diff", "events"):
                self.assertIn(f'href="/perf/{table}"', page)
            for name, sql in queries().items():
                with self.subTest(name):
                    rows = json.loads(get(f"{url}/perf/{name}.json?_shape=arrays"))["rows"]
                    self.assertGreater(len(rows), 0)
                    self.assertEqual(rows, self.rows(sql))
                    self.assertIn("<table", get(f"{url}/perf/{name}"))
            self.assertIn("ProfilerStep#11", get(f"{url}/perf/events?name__contains=ProfilerStep"))

    def rows(self, sql):
        return [list(row.values()) for row in json.loads(self.shell(f".mode json\n{sql};\n"))]


def get(url):
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        return answer.read().decode()


@contextlib.contextmanager
def served(database):
    """The URL of a Datasette with the database."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    server = subprocess.Popen([DATASETTE, database, "--metadata", METADATA, "--host", "127.0.0.1", "--port", str(port)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                get(f"http://127.0.0.1:{port}/-/versions.json")
                break
            except OSError:
                if server.poll() is not None or time.monotonic() > until:
                    raise
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    unittest.main()
