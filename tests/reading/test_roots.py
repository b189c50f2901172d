"""TRACEDIFF_ROOTS: only files below these directories are read (roots.h)."""
import json
import os
import subprocess
import sys
import textwrap
import unittest

from made import InFolder, event, run, write
from support import EXAMPLES, EXTENSION, connect, series

ASK = textwrap.dedent("""
    import json, os, sqlite3, sys
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    try:
        db.execute("SELECT load_extension(?)", (sys.argv[1],))
    except sqlite3.Error as error:
        sys.exit(str(error))
    os.environ["TRACEDIFF_ROOTS"] = "/"   # too late
    def ask(sql, *values):
        try:
            return db.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            return str(error)
    """)
ANSWER = ASK + 'print(json.dumps([ask(*each) for each in json.load(sys.stdin)]))'


class Roots(InFolder):
    def setUp(self):
        super().setUp()
        self.here = os.path.realpath(".")
        for folder in ("root/a", "root/b", "root2", "outside"):
            write(f"{folder}/rank0.json", run())
        write("outside/rank1.json.gz", run())
        write("outside/empty.db", b"")
        os.symlink("../a", "root/b/inwards")
        os.symlink("../outside", "root/outwards")
        os.symlink("/none/file.json", "root/nowhere.json")
        os.mkdir("root/c")
        os.symlink("../../outside/rank0.json", "root/c/rank0.json")

    def process(self, code, roots="root", **more):
        environment = {**os.environ, "TRACEDIFF_ROOTS": roots, **more}
        if roots is None:
            del environment["TRACEDIFF_ROOTS"]
        return subprocess.run([sys.executable, "-c", code, EXTENSION], env=environment, capture_output=True, text=True,
                              check=False, input=self.asked)

    def answers(self, statements, roots="root", **more):
        """The rows or the error of each statement with its values, in another process."""
        self.asked = json.dumps(statements)
        ran = self.process(ANSWER, roots, **more)
        self.assertEqual(ran.stderr, "")
        return json.loads(ran.stdout)

    COUNT = "SELECT count(*) FROM trace_files(?)"

    def files(self, paths, roots="root", **more):
        """{path: the number of its files, or the error}"""
        return dict(zip(paths, self.answers([[self.COUNT, path] for path in paths], roots, **more)))

    def test_what_is_below_is_read(self):
        paths = ["root/a", "root/a/rank0.json", "root/[ab]/rank0.json", "./root/a/../b/../a", "root/b/inwards", "~/a",
                 f"{self.here}/root/b", "outside/../root/a", "root//a", "root2/rank0.json", '["root/a/", "root/b/."]']
        self.assertEqual(self.files(paths, "root:root2", HOME=f"{self.here}/root"),
                         {path: [[2 if "[" in path else 1]] for path in paths})

    def test_what_is_not_cannot_be_told_from_what_is_not_there(self):
        paths = ["outside", "outside/rank0.json", "outside/none", "outside/none/none.json", f"{self.here}/outside",
                 "root/../outside", "root/a/../../outside/rank0.json", "root/outwards", "root/outwards/rank0.json",
                 "root/outwards/none.json", "root/outwards/*.json", "root/c/rank0.json", "root2", "root2/none",
                 "/", "/none", "/etc/passwd", ".", "..", "none.json", "~/", "outside/*", "*/*.json", "root/../*/*.json",
                 "/*/*", "root/*/../../outside/*.json", "/proc/self/cwd/outside",
                 "outside/empty.db", "outside/rank1.json.gz", "outside/[r]ank1.json.gz",
                 '["root/a", "outside/rank0.json"]']
        for path, answer in self.files(paths, HOME=self.here).items():
            with self.subTest(path):
                self.assertRegex(answer, "^trace_files: cannot read '.*': Permission denied$")

    def test_what_is_not_there_below_is_said(self):
        for path, answer in self.files(["root/none", "root/a/none.json", "root/none/../../outside/none"]).items():
            self.assertEqual(answer, f"trace_files: cannot read '{path}': No such file or directory")
        self.assertEqual(self.files(["root/*.gz"]), {"root/*.gz": "trace_files: no file matches 'root/*.gz'"})
        self.assertEqual(self.answers([["SELECT 1 FROM trace_files('root')"]]),
                         self.answers([["SELECT 1 FROM trace_files('root')"]], None))  # the dangling link

    def test_links_in_a_directory(self):
        self.assertEqual(self.answers([
            ["SELECT file, rows, problems ->> '$[0].what' FROM trace_files('root/c')"],
            ["SELECT 1 FROM trace_events('root/[o]utwards/rank0.json')"]]), [
                [["root/c/rank0.json", 0, "cannot read 'root/c/rank0.json': Permission denied"]],
                "trace_events: no file matches 'root/[o]utwards/rank0.json'"])

    def test_the_hints_of_errors_do_not_look_elsewhere(self):
        os.mkdir("root/empty")
        os.symlink("../../outside", "root/empty/folder")
        hint, = self.answers([["SELECT 1 FROM trace_files('root/empty')"]])
        self.assertNotIn("did you mean", hint)
        self.assertIn("did you mean 'root/empty/*/*.json*'",
                      self.answers([["SELECT 1 FROM trace_files('root/empty')"]], None)[0])

    def test_every_function_that_reads(self):
        """No function reads elsewhere through any argument: each trace of a call is moved outside in turn, while the
        others stay below.
        """
        write("outside/snapshot.pickle", b"")
        of_traces = {"trace", "control", "test", "capture", "control_capture", "snapshot", "control_memory",
                     "test_memory", "dumps", "log"}
        functions = {}

        def of_memory(function, argument):
            return argument.endswith("_memory") or function in ("memory_summary", "memory_diff")

        for function, name, required in connect().execute(
                "SELECT function, name, required FROM tracediff_columns WHERE kind = 'argument' AND function IN (SELECT"
                " function FROM tracediff_columns WHERE kind = 'column')"):
            functions.setdefault(function, []).append((name, required))
        others = {"keys": "'op'", "changes": "'[]'", "operator_name": "'aten::'", "schedule": "'[]'",
                  "limit_percent": "5"}
        memory = os.path.join(EXAMPLES, "memory", "gpu", "test", "rank0.pickle.gz")
        asked = []
        for function, arguments in functions.items():
            for name in sorted(of_traces & {name for name, _ in arguments}):
                required = {other for other, required in arguments if required}
                required |= {"control_memory", "test_memory"} if name.endswith("_memory") else set()
                if (function, name) == ("compile_diff", "test"):  # control has no log
                    continue
                terms = [f"{other} = {others[other]}" if other in others else
                         f"{other} = '{memory if of_memory(function, other) else 'root/a'}'"
                         for other, _ in arguments if other in required and other != name]
                asked.append([f"SELECT count(*) FROM {function} WHERE " +
                              " AND ".join([*terms, f"{name} = 'outside/rank0.json'"])])
        self.assertGreater(len(asked), 80)
        for (sql,), answer in zip(asked, self.answers(asked, f"root:{EXAMPLES}")):
            with self.subTest(sql):
                self.assertRegex(str(answer), "'outside/rank0.json': Permission denied")

    def test_databases(self):
        path = os.path.join(os.path.dirname(EXAMPLES), "tests", "data", "nsys")
        name = next(name for name in sorted(os.listdir(path)) if name.endswith(".sqlite"))
        self.assertRegex(self.files([os.path.join(path, name)])[os.path.join(path, name)], "Permission denied$")
        self.assertEqual(self.files([os.path.join(path, name)], f"root:{path}"),
                         self.files([os.path.join(path, name)], None))

    def test_roots_that_are_not_there(self):
        self.asked = "[]"
        for roots, wrong in (("none", "none"), ("root:none", "none"), ("", ""), ("root:", ""), ("root::root2", "")):
            self.assertEqual(self.process(ANSWER, roots).stderr, "error during initialization: TRACEDIFF_ROOTS: cannot"
                             f" read '{wrong}': No such file or directory\n")
        self.assertEqual(self.files(["root/a", "outside"], "/"), {"root/a": [[1]], "outside": [[3]]})
        os.symlink("root", "named")
        self.assertEqual(self.files(["root/a", "named/a"], "named/"), {"root/a": [[1]], "named/a": [[1]]})

    def test_a_path_that_changes_while_it_is_read(self):
        """A link that turns between two files never gives the file outside."""
        write("root/own.json", {"traceEvents": [event("own", 0, 1)]})
        write("outside/secret.json", {"traceEvents": [event("secret", 0, 1)]})
        turn = ("import os\nwhile os.getppid() == %d:\n    for to in 'own.json', '../outside/secret.json':\n"
                "        os.symlink(to, 'root/new')\n        os.replace('root/new', 'root/turning.json')")
        with subprocess.Popen([sys.executable, "-S", "-c", turn % os.getpid()]) as turning:
            while not os.path.lexists("root/turning.json"):
                pass
            self.asked = ""
            ran = self.process(ASK + textwrap.dedent(f"""
                import time
                found, tries, until = set(), 0, time.monotonic() + 30
                while tries < {series(200, 10000)} or (len(found) < 2 and time.monotonic() < until):
                    tries += 1
                    answer = ask("SELECT name FROM trace_events('root/turning.json')")
                    found.add(answer if isinstance(answer, str) else answer[0][0])
                print(*sorted(found), sep="\\n")
                """))
            turning.kill()
        self.assertEqual(ran.stderr, "")
        self.assertIn("own", ran.stdout.splitlines())
        self.assertNotIn("secret", ran.stdout.splitlines(), ran.stdout)


if __name__ == "__main__":
    unittest.main()
