"""Input from the host and the build: processors, and the commit of the build."""
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import unittest

from made import InFolder, run, write, write_big
from support import EXTENSION, ROOT, alone, connect, series


class Processors(unittest.TestCase):
    READ = textwrap.dedent("""
        import os, sqlite3, sys, threading
        extension, folder, processors = sys.argv[1:]
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(processors)])
        db = sqlite3.connect(":memory:", check_same_thread=False)
        db.enable_load_extension(True)
        db.execute("SELECT load_extension(?)", (extension,))
        most, done = 0, threading.Event()
        sql = "SELECT count(*) FROM trace_events(?)"
        query = threading.Thread(target=lambda: (db.execute(sql, (folder,)).fetchall(), done.set()))
        before = len(os.listdir("/proc/self/task")) + 1
        query.start()
        while not done.wait(0.001):
            most = max(most, len(os.listdir("/proc/self/task")) - before)
        query.join()
        print(most)
        """)

    @alone
    def test_no_more_threads_than_the_process_may_use(self):
        allowed = len(os.sched_getaffinity(0))
        with tempfile.TemporaryDirectory() as folder:
            for rank in range(6):
                write_big(os.path.join(folder, f"rank{rank}.json.gz"), 10)
            for processors in {1, min(2, allowed)}:
                ran = subprocess.run([sys.executable, "-c", self.READ, EXTENSION, folder, str(processors)],
                                     check=True, capture_output=True, text=True)
                self.assertEqual(int(ran.stdout), processors if processors > 1 else 0)


class Interrupts(InFolder):
    """S23: an interrupt at every moment at which SQLite checks whether a SELECT is allowed, also a SELECT inside a
    function. Directly after that check, it declares the functions' tables.
    """
    QUERIES = ("ops_diff('a', 'b')", "trace_step_diff('a', 'b')", "trace_summary('a', 'b')")

    def test_while_tables_are_declared(self):
        for name, slower in (("a", 1), ("b", 2)):
            write(f"{name}/rank0.json", run(slower=slower))
        for query in self.QUERIES:
            sql, stopped = f"SELECT count(*) FROM {query}", 0
            whole = self.rows(sql)
            for moment in (*range(1, 12), *range(12, 200, series(12, 1))):
                db, asked = connect(), []

                def authorize(action, *_):
                    if action == sqlite3.SQLITE_SELECT:
                        asked.append(action)
                        if len(asked) == moment:
                            db.interrupt()
                    return sqlite3.SQLITE_OK

                db.set_authorizer(authorize)
                try:
                    self.assertEqual(db.execute(sql).fetchall(), whole)
                except sqlite3.OperationalError as error:
                    self.assertEqual(str(error), "interrupted", (query, moment))
                    stopped += 1
                db.close()
                if len(asked) < moment:
                    break
            self.assertGreater(stopped, 0, query)


class Embedding(unittest.TestCase):
    """sql/embed.awk refuses a query whose arguments exceed the space in C, or that is missing from the help."""

    def embed(self, *parameters, known=("-- Family: memory", "-- Question: What is it?")):
        lines = [f"-- :{name} TEXT {'required ' if required else ''}text" for name, required in parameters]
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, "made.sql")
            with open(path, "w", encoding="ascii") as file:
                file.write("\n".join(["-- made: it.", *known, "-- Parameters", *lines, "-- Columns", "--   x TEXT text",
                                      "SELECT 1;", ""]))
            # awk is not being tested
            environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
            ran = subprocess.run(["awk", "-f", os.path.join(ROOT, "sql", "embed.awk"), path], env=environment,
                                 capture_output=True,
                                 text=True, check=False)
            return ran.returncode, ran.stderr.replace(path, "made.sql")

    def test_arguments(self):
        four = [(name, True) for name in "abcd"]
        self.assertEqual(self.embed(*four), (0, ""))
        self.assertEqual(self.embed(*four, ("e", False)), (0, ""))
        self.assertEqual(self.embed(*four, ("e", True)),
                         (1, "made.sql:9: a required argument is not among the first 4\n"))
        self.assertEqual(self.embed(("a", False), ("b", True)), (0, ""))
        letters = [(chr(ord("a") + i), False) for i in range(31)]
        self.assertEqual(self.embed(*letters[:30]), (0, ""))
        self.assertEqual(self.embed(*letters), (1, "made.sql:35: more than 30 arguments\n"))

    def test_family_and_question(self):
        for known in (["-- Family: memory"], ["-- Question: What is it?"], []):
            self.assertEqual(self.embed(known=known), (1, f"made.sql:{5 + len(known)}: no family or no question\n"))


class Commit(unittest.TestCase):
    def test_a_new_commit_is_shown_and_only_what_shows_it_is_compiled(self):
        """After a new commit, the version changes and only the files that contain it are compiled, in a clone with two
        files.
        """
        if not os.path.isdir(os.path.join(ROOT, ".git")) or not shutil.which("git"):
            self.skipTest("not a git repository")
        with tempfile.TemporaryDirectory() as place:
            def run(*command):
                return subprocess.run(command, cwd=place, check=True, capture_output=True, text=True).stdout

            run("git", "clone", "-q", ROOT, ".")
            for name in ("Makefile", "ext"):  # like in the tree under test
                run("cp", "-r", os.path.join(ROOT, name), ".")
            shows, other = "build/ext/functions/aggregates/scalars.o", "build/ext/file/tracks.o"
            for number in range(2):
                run("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m",
                    str(number))
                compiled = run("make", "OPTIMIZE=-O0", shows, other)
                commit = run("git", "rev-parse", "--short", "HEAD").strip().encode()
                with open(os.path.join(place, shows), "rb") as file:
                    self.assertIn(commit + b"\0", file.read())
                self.assertIn("scalars.c", compiled)
                self.assertEqual("tracks.c" in compiled, number == 0)
            self.assertNotIn("CC", run("make", "OPTIMIZE=-O0", shows, other))
