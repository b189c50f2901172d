"""What `make` does to a machine: plain `make` and `make install` print what is missing, the targets that set up install
it, and why the charting library cannot be had is said. The machine is made of stubs that stand first in the PATH.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from support import ROOT

# Says what it was asked, and does nothing.
ASKED = '#!/bin/sh\necho "$(basename "$0") $*" >> "$ASKED"\n'
NO_HEADER = "#!/bin/sh\nexit 1\n"


class Make(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = place.name
        self.stubs = os.path.join(self.folder, "stubs")
        os.mkdir(self.stubs)
        self.asked = os.path.join(self.folder, "asked")
        for name, text in (("apt-get", ASKED), ("sudo", ASKED), ("id", "#!/bin/sh\necho 0\n"), ("npm", ASKED + "exit 1\n"),
                           ("cc-without-headers", NO_HEADER)):
            self.stub(name, text)

    def stub(self, name, text):
        path = os.path.join(self.stubs, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def make(self, *arguments, path=None):
        """Exit status, what is printed, and what the stubs were asked."""
        environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "SETUP", "SLOW")}
        environment.update(PATH=f"{self.stubs}:{path or os.environ['PATH']}", ASKED=self.asked, LD_PRELOAD="")
        done = subprocess.run(["make", "--no-print-directory", f"BUILD={self.folder}/build", f"DIST={self.folder}/dist",
                               f"FETCHED={self.folder}/fetched", *arguments], cwd=ROOT, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        asked = []
        if os.path.exists(self.asked):
            with open(self.asked, encoding="utf-8") as file:
                asked = file.read().splitlines()
            os.remove(self.asked)
        return done.returncode, done.stdout, asked

    def links(self, *names, without=()):
        """A PATH of these programs alone."""
        folder = tempfile.mkdtemp(dir=self.folder)
        for name in names:
            if name not in without:
                found = subprocess.run(["sh", "-c", f"command -v {name}"], capture_output=True, text=True, check=True)
                os.symlink(found.stdout.strip(), os.path.join(folder, name))
        return folder


MISSING = "Missing: libsqlite3-dev zlib1g-dev. Run: "
INSTALL = "apt-get install -y --no-install-recommends libsqlite3-dev zlib1g-dev"


class Needs(Make):
    def test_make_and_make_install_print_what_is_missing(self):
        for target in ((), ("all",), ("install", f"DESTDIR={self.folder}/root")):
            status, printed, asked = self.make("CC=cc-without-headers", *target)
            with self.subTest(target=target):
                self.assertIn(f"{MISSING}apt-get update -qq && {INSTALL}\n", printed)
                self.assertNotEqual(status, 0)
                self.assertEqual(asked, [])

    def test_targets_that_set_up_install_it(self):
        for target in ("demo", "test", "charts", "setup"):
            _, printed, asked = self.make("CC=cc-without-headers", target)
            with self.subTest(target):
                self.assertIn("Installing libsqlite3-dev zlib1g-dev\n", printed)
                self.assertEqual(asked[:2], ["apt-get update -qq", f"{INSTALL} -qq"])

    def test_without_rights_the_line_is_printed(self):
        self.stub("id", "#!/bin/sh\necho 1000\n")
        self.stub("sudo", ASKED + "exit 1\n")  # asks for a password
        for target in ("all", "demo", "test", "charts"):
            status, printed, asked = self.make("CC=cc-without-headers", target)
            with self.subTest(target):
                self.assertIn(f"{MISSING}sudo apt-get update -qq && sudo {INSTALL}\n", printed)
                self.assertNotEqual(status, 0)
                self.assertEqual([line for line in asked if line != "sudo -n true"], [])

    def test_one_line_has_all_that_the_goals_need(self):
        self.stub("id", "#!/bin/sh\necho 1000\n")
        self.stub("sudo", ASKED + "exit 1\n")
        for goals, needed in ((("all",), ""), (("demo",), ""), (("test",), " python3"), (("all", "test"), " python3"),
                              (("charts",), ""), (("setup",), " python3")):
            _, printed, _ = self.make("CC=cc-without-headers", "PYTHON=no-python", *goals)
            with self.subTest(goals):
                self.assertIn(f"Missing: libsqlite3-dev zlib1g-dev{needed}. Run: ", printed)

    def test_sudo_that_needs_no_password_installs_it(self):
        self.stub("id", "#!/bin/sh\necho 1000\n")
        self.stub("sudo", ASKED)
        _, printed, asked = self.make("CC=cc-without-headers", "demo")
        self.assertIn("Installing libsqlite3-dev zlib1g-dev\n", printed)
        self.assertEqual(asked[:3], ["sudo -n true", "sudo apt-get update -qq", f"sudo {INSTALL} -qq"])


class Install(Make):
    def test_without_rights_a_prefix_is_suggested(self):
        status, printed, _ = self.make("-o", "all", "install", "PREFIX=/proc/nobody")  # where root has no rights, either
        self.assertTrue(printed.endswith(
            "Cannot install into /proc/nobody. For you alone: make install PREFIX=$HOME/.local\n"
            "For everyone on this machine: sudo make install\n" + printed.splitlines(True)[-1]), printed)
        self.assertNotEqual(status, 0)


class Library(Make):
    TOOLS = ("sh", "mkdir", "test", "timeout", "grep", "head", "sed", "touch", "git", "cat", "sha256sum", "tar", "rm", "basename")

    def fetched(self, *arguments, **options):
        return self.make("-o", "needed", f"{self.folder}/fetched/plotly", *arguments, **options)

    def test_plain_make_does_not_ask_npm(self):
        status, printed, asked = self.fetched()
        self.assertEqual((status, printed, asked), (
            0, "  built without charts: 'make charts' fetches the library that draws them\n", []))

    def test_no_npm_is_said(self):
        os.remove(os.path.join(self.stubs, "npm"))
        status, printed, asked = self.fetched("SETUP=yes", path=self.links(*self.TOOLS, "make", "gcc", "id"))
        self.assertEqual((status, printed, asked), (
            0, "  built without charts: there is no npm; 'make charts' installs it and fetches the library\n", []))

    def test_what_npm_says_is_printed_and_it_is_asked_once(self):
        self.stub("npm", ASKED + 'echo "npm error code ENOTFOUND" >&2\necho "npm error     at x (y.js:1)" >&2\nexit 1\n')
        said = ("  built without charts: npm could not give plotly.js-basic-dist-min; 'make charts' tries again\n"
                "  npm error code ENOTFOUND\n")
        for turn in range(2):
            status, printed, asked = self.fetched("SETUP=yes")
            self.assertEqual(status, 0)
            self.assertTrue(printed.endswith(said), printed)
            self.assertEqual(len(asked), 1 - turn)

    def test_another_package_is_refused(self):
        self.stub("npm", ASKED + "echo other > plotly.js-basic-dist-min-4.1.1.tgz\n")
        status, printed, _ = self.fetched("SETUP=yes")
        self.assertEqual(status, 0)
        self.assertIn("npm could not give", printed)
        self.assertIn("sha256sum: WARNING", printed)
        self.assertEqual(os.path.getsize(f"{self.folder}/fetched/plotly"), 0)


class Parts(unittest.TestCase):
    """What is run where."""

    @staticmethod
    def read(*path):
        with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
            return file.read()

    def test_check_and_ci_run_the_same_parts_and_then_every_test(self):
        recipe = re.search(r"(?m)^check:.*\n((?:\t.*\n)+)", self.read("Makefile"))[1]
        parts = re.search(r"for part in (.*?);", recipe)[1].split()
        self.assertEqual(parts, ["strict", "plain", "sanitize", "tsan", "valgrind", "fuzz"])
        self.assertRegex(recipe.splitlines()[-1], r"test SLOW=run$")
        ci = self.read(".ci", "run")
        self.assertEqual(re.search(r"for target in (.*?);", ci)[1].split(), parts)
        self.assertRegex(ci.splitlines()[-1], r"^SLOW=run make --no-print-directory test$")

    def run_tests(self, text, slow):
        """What tests/run.py prints of one file of tests, and its exit status."""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("run.py", "support.py"):
                shutil.copy(os.path.join(ROOT, "tests", name), folder)
            with open(os.path.join(folder, "test_some.py"), "w", encoding="utf-8") as file:
                file.write("import os\nimport unittest\nfrom support import corpus, slow, slowest\n\nclass Some(unittest.TestCase):\n" + text)
            environment = {name: value for name, value in os.environ.items() if name not in ("SLOW", "CORPUS")}
            done = subprocess.run([sys.executable, os.path.join(folder, "run.py")], env={**environment, "SLOW": slow},
                                  capture_output=True, text=True, check=False)
            return done.stdout, done.returncode

    TESTS = """
    def test_a(self): pass
    @slow
    def test_b(self): pass
    @slowest
    def test_c(self): pass
    def test_d(self): corpus("x")
    @unittest.skipUnless(None, "no Chromium")
    def test_e(self): pass
"""

    def test_what_is_left_out_is_said_by_name_with_its_reason(self):
        others = ("skipped, CORPUS is not set: 1\n  test_some.Some.test_d\n", "skipped, no Chromium: 1\n  test_some.Some.test_e\n")
        for slow, left_out, last in (("skip", ["test_b", "test_c"], "1 passed, 0 failed, 4 skipped"),
                                     ("some", ["test_c"], "2 passed, 0 failed, 3 skipped"),
                                     ("run", [], "3 passed, 0 failed, 2 skipped")):
            printed, status = self.run_tests(self.TESTS, slow)
            with self.subTest(slow):
                for part in others:
                    self.assertIn(part, printed)
                names = " ".join(f"test_some.Some.{name}" for name in left_out)
                self.assertEqual(f"skipped, it is slow: {len(left_out)}\n  {names}\n" in printed, bool(left_out))
                self.assertEqual("run in `make check`" in printed, bool(left_out))
                self.assertEqual(printed.splitlines()[-1], last)
                self.assertEqual(status, 0)

    def test_a_failure_is_counted_once_and_is_the_exit_status(self):
        printed, status = self.run_tests("""
    def test_a(self):
        for i in range(2):
            with self.subTest(i):
                self.fail()
    def test_b(self): pass
""", "run")
        self.assertEqual(printed.splitlines()[-1], "1 passed, 1 failed, 0 skipped")
        self.assertEqual(status, 1)

    def test_a_process_that_dies_fails_the_test_it_ran(self):
        printed, status = self.run_tests("""
    def test_a(self): pass
    def test_b(self): os.kill(os.getpid(), 9)
    def test_c(self): os._exit(0)
    def test_d(self): pass
""", "run")
        self.assertIn("FAILED: test_some.Some.test_b: the process ended with signal 9\n", printed)
        self.assertIn("FAILED: test_some.Some.test_c: the process ended with status 0\n", printed)
        self.assertEqual(printed.splitlines()[-1], "2 passed, 2 failed, 0 skipped")
        self.assertEqual(status, 1)

    def test_a_process_that_ends_with_an_error_after_its_tests_is_a_failure(self):
        """As under valgrind."""
        printed, status = self.run_tests("""
    def test_a(self):
        from multiprocessing import util
        util.Finalize(None, os._exit, args=(9,), exitpriority=1)
""", "run")
        self.assertIn("FAILED: run.py: the process ended with status 9 after its last test\n", printed)
        self.assertEqual((printed.splitlines()[-1], status), ("1 passed, 1 failed, 0 skipped", 1))

    def test_what_measures_is_alone(self):
        """Slow ones first, and the rest of the class; then those that are alone."""
        printed, _ = self.run_tests("""
    from support import alone
    DONE = os.path.join(os.path.dirname(__file__), "done")
    def note(self, what):
        with open(self.DONE, "a") as file:
            file.write(what)
    @alone
    def test_a(self):
        with open(self.DONE) as file:
            self.assertEqual(sorted(file.read()), ["b", "c", "d"])
    @slow
    def test_b(self): self.note("b")
    def test_c(self): self.note("c")
    def test_d(self): self.note("d")
""", "run")
        self.assertEqual(printed.splitlines()[-1], "4 passed, 0 failed, 0 skipped", printed)

    def test_series_that_are_shorter_are_said(self):
        text = """
    from support import series
    LENGTH = series(1, 4)
    def test_a(self): self.assertEqual(self.LENGTH, 4)
"""
        for slow, failed in (("skip", 1), ("some", 1), ("run", 0)):
            printed, _ = self.run_tests(text, slow)
            self.assertEqual("Random series that `make check` runs at full length: test_some\n" in printed, bool(failed))
            self.assertTrue(printed.endswith(f"{1 - failed} passed, {failed} failed, 0 skipped\n"), printed)

    def test_slow_is_marked_in_one_place(self):
        for name in os.listdir(os.path.join(ROOT, "tests")):
            if name.startswith("test_") and name != "test_make.py":
                self.assertNotIn('"SLOW"', self.read("tests", name), name)


if __name__ == "__main__":
    unittest.main()
