"""The effects of `make` on a machine: plain `make` and `make install` print missing packages, the set-up targets
install them, and a message explains why the charting library is unavailable. The machine consists of stubs that come
first in the PATH.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import run
from support import EXTENSION, ROOT

# Prints its arguments, and does nothing.
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
        for name, text in (("apt-get", ASKED), ("sudo", ASKED), ("id", "#!/bin/sh\necho 0\n"),
                           ("npm", ASKED + "exit 1\n"),
                           ("cc-without-headers", NO_HEADER)):
            self.stub(name, text)

    def stub(self, name, text):
        path = os.path.join(self.stubs, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def make(self, *arguments, path=None):
        """Exit status, output, and the arguments of the stubs."""
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("MAKEFLAGS", "MAKELEVEL", "SETUP", "SLOW")}
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
        """A PATH with only these programs."""
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

    def test_gcc_is_enough(self):
        """gcc is enough, without the name cc, which is make's own default."""
        path = self.links("sh", "make", "gcc", "id", "git")
        self.assertEqual(self.make("needed", path=path), (0, "", []))

    def test_the_compiler_that_is_missing_is_named(self):
        """A missing compiler is named, and not the headers, which gcc finds."""
        path = self.links("sh", "make", "gcc", "id", "git")
        for compiler, said in (("clang", "Missing: clang. Run: apt-get update"),
                               ("clang-7 -m32", "Missing: clang-7. Run: apt-get update"),
                               ("/opt/gcc", "CC=/opt/gcc: there is no program /opt/gcc\n"),
                               ("zig cc", "CC=zig cc: there is no program zig\n")):
            status, printed, asked = self.make("needed", f"CC={compiler}", path=path)
            with self.subTest(compiler):
                self.assertTrue(printed.startswith(said), printed)
                self.assertNotEqual(status, 0)
                self.assertEqual(asked, [])
        _, printed, _ = self.make("needed", path=self.links("sh", "make", "id", "git"))
        self.assertIn("Missing: gcc libsqlite3-dev zlib1g-dev. Run: ", printed)

    def test_the_page_needs_a_compiler_of_its_own(self):
        path = self.links("sh", "make", "gcc", "id", "git", "python3")
        self.stub("id", "#!/bin/sh\necho 1000\n")
        self.stub("sudo", ASKED + "exit 1\n")
        _, printed, _ = self.make("web", f"PYTHON={self.folder}/no-python", path=path)
        self.assertIn("Missing: python3 emscripten node-acorn. Run: ", printed)

    def test_sudo_that_needs_no_password_installs_it(self):
        self.stub("id", "#!/bin/sh\necho 1000\n")
        self.stub("sudo", ASKED)
        _, printed, asked = self.make("CC=cc-without-headers", "demo")
        self.assertIn("Installing libsqlite3-dev zlib1g-dev\n", printed)
        self.assertEqual(asked[:3], ["sudo -n true", "sudo apt-get update -qq", f"sudo {INSTALL} -qq"])


class Install(Make):
    def test_without_rights_a_prefix_is_suggested(self):
        # even root has no rights there
        status, printed, _ = self.make("-o", "all", "install", "PREFIX=/proc/nobody")
        self.assertTrue(printed.endswith(
            "Cannot install into /proc/nobody. For you alone: make install PREFIX=$HOME/.local\n"
            "For everyone on this machine, as root: make install\n" + printed.splitlines(True)[-1]), printed)
        self.assertNotEqual(status, 0)

    def test_a_prefix_is_an_absolute_path(self):
        """A prefix must be an absolute path: make does not expand ~, and a library in a relative folder is found from
        one folder only.
        """
        with unittest.mock.patch.dict(os.environ, HOME=self.folder):
            for target in ("install", "uninstall"):
                for prefix in ("~/.local", "local", "./local", "../a /b"):
                    status, printed, _ = self.make("-o", "all", target, f"PREFIX={prefix}", f"DESTDIR={self.folder}/")
                    with self.subTest(target=target, prefix=prefix):
                        self.assertRegex(printed, rf"^Makefile:\d+: \*\*\* PREFIX must be an absolute path, not"
                                                  rf" '{re.escape(prefix)}'\. "
                                                  r"For you alone: make install PREFIX=\$HOME/\.local\.  Stop\.\n$")
                        self.assertEqual((status, sorted(os.listdir(self.folder))), (2, ["stubs"]))

    def install(self, user, known=""):
        """The folder of the library, the output after the line that names it, and the arguments of ldconfig."""
        self.stub("id", f"#!/bin/sh\necho {user}\n")
        prefix = tempfile.mkdtemp(prefix="a prefix", dir=self.folder)
        self.stub("ldconfig", ASKED
                  + f'[ "$*" != -p ] || echo "\ttracediff.so (libc6,x86-64) => {known or prefix}/lib/tracediff.so"\n')
        _, printed, asked = self.make("-o", "all", "install", f"PREFIX={prefix}", f"DIST={os.path.dirname(EXTENSION)}")
        first, *rest = printed.splitlines()
        self.assertEqual(first, f"Installed {prefix}/lib/tracediff.so and {prefix}/share/tracediff")
        return f"{prefix}/lib", rest, asked

    def test_where_the_linker_finds_it_the_bare_name_is_said(self):
        for user, asked in ((0, ["ldconfig ", "ldconfig -p"]), (1000, ["ldconfig -p"])):
            self.assertEqual(self.install(user)[1:], (["In sqlite3: .load tracediff"], asked), user)

    def test_where_it_does_not_the_lines_that_are_said_load_it(self):
        for user in (0, 1000):
            folder, said, _ = self.install(user, known="/elsewhere")
            self.assertEqual(said, [f'In sqlite3: .load "{folder}/tracediff"',
                                    f"In each sqlite3 that you start: echo '.load \"{folder}/tracediff\"' >>"
                                    f" ~/.sqliterc"])
            environment = {"PATH": os.environ["PATH"], "HOME": tempfile.mkdtemp(dir=self.folder)}
            load, write = (line.split(": ", 1)[1] for line in said)
            subprocess.run(["sh", "-c", write], env=environment, cwd="/", check=True)
            # the shell finds the user's home through the system, not through HOME
            for given in ("-cmd", load), ("-init", os.path.join(environment["HOME"], ".sqliterc")):
                done = subprocess.run(["sqlite3", "-batch", *given, ":memory:", "SELECT tracediff_version()"],
                                      env=environment,
                                      cwd="/", stdout=subprocess.PIPE, text=True, check=True)
                self.assertRegex(done.stdout, r"^v\d+\.\d+\.\d+\n$", (user, given))

    def test_uninstall_names_the_line_that_would_fail(self):
        """Uninstall names the line that would fail, because a shell with -bail stops there."""
        prefix = f"{self.folder}/prefix"
        with unittest.mock.patch.dict(os.environ, HOME=self.folder):
            for text, said in (('.mode box\n', ""),
                               (f'.load "{prefix}/lib/tracediff"\n',
                                f"Remove from ~/.sqliterc: .load \"{prefix}/lib/tracediff\"\n")):
                with open(f"{self.folder}/.sqliterc", "w", encoding="utf-8") as file:
                    file.write(text)
                status, printed, _ = self.make("-s", "uninstall", f"PREFIX={prefix}")
                self.assertEqual((status, printed), (0, said))


class Library(Make):
    TOOLS = ("sh", "mkdir", "test", "timeout", "grep", "head", "sed", "touch", "git", "cat", "sha256sum", "tar", "rm",
             "basename")

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
        self.stub("npm", ASKED + 'echo "npm error code ENOTFOUND" >&2\n'
                  'echo "npm error     at x (y.js:1)" >&2\nexit 1\n')
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

    def test_charts_asks_npm_again(self):
        """`make charts` calls npm again; of the built files, it needs only the assets."""
        given = ("-o", "needed", "charts", "COMPILED=")
        for _ in range(2):
            status, printed, asked = self.make(*given)
            self.assertEqual((status, len(asked)), (2, 1), printed)
        with open(f"{self.folder}/fetched/plotly", "w", encoding="ascii") as file:
            file.write("library")
        self.assertEqual(self.make(*given)[::2], (0, []))

    def test_packages_are_said_to_be_without_charts_once_the_library_was_asked_for(self):
        status, printed, _ = self.make("-n", "dist")
        self.assertEqual(status, 0)
        self.assertGreater(printed.index("packed without charts"), printed.rindex("npm could not give"))


class Folder(Make):
    """No two makes write into one folder at once. With -n, make prints its commands, and so do the makes that it
    starts.
    """

    def test_a_file_is_compiled_once(self):
        for goals in (("charts",), ("charts", "wheel"), ("charts", "bare"), ("pages",), ("demo", "bare")):
            status, printed, _ = self.make("-n", *goals)
            with self.subTest(goals):
                self.assertEqual((status, printed.count("  CC   ext/text/text.c")), (0, 1), printed[-300:])

    def test_the_library_of_charts_is_fetched_before_others_are_built_with_it(self):
        """The library of charts is fetched before others are built with it; otherwise one build would fetch it, and the
        next one, which does not wait, would lack it.
        """
        for goals in (("cross",), ("web",), ("test-web",), ("wheel", "PLATFORM=macos-arm64 macos-x86_64")):
            status, printed, _ = self.make("-n", "-o", "needed", "-j4", *goals)
            with self.subTest(goals):
                self.assertEqual(status, 0, printed[-300:])
                self.assertLess(printed.index("npm could not give"),
                                re.search(r"-o build/(cross|web)/\S*/?ext/", printed).start())


class Platforms(Make):
    """The platforms whose packages are made. With -n, make prints its commands."""

    def libraries(self, *arguments):
        status, printed, _ = self.make("-n", *arguments)
        self.assertEqual(status, 0, printed)
        return [line.split()[1:] for line in re.findall(r"pack\.py (.*)", printed)]

    def test_a_kind_is_of_this_machine_whatever_is_made_beside_it_and_all_are_of_all(self):
        for kind in ("wheel", "npm", "deb", "tarball"):
            (folder, *libraries), = self.libraries(kind)
            self.assertEqual((folder, libraries), (f"{self.folder}/dist/packages",
                                                   [f"{self.folder}/dist/portable/tracediff.so"]))
        found = self.libraries("wheel", "PLATFORM=musl-x86_64 macos-arm64")
        self.assertEqual(found, [[f"{self.folder}/dist/packages", "build/cross/musl-x86_64/tracediff.so",
                                  "build/cross/macos-arm64/tracediff.dylib"]])
        for beside in ("all", "demo", "charts"):
            with self.subTest(beside):
                self.assertEqual([len(libraries) for libraries in self.libraries(beside, "wheel")], [2])
        found = self.libraries("dist")
        self.assertEqual([len(libraries) for libraries in found], [8] * 4, found)


class Parts(unittest.TestCase):
    """The parts that run in each place."""

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
        self.assertEqual(sorted(" ".join(re.findall(r"for target in (.*?);", ci)).split()), sorted(parts))
        self.assertRegex(ci.splitlines()[-1], r"^SLOW=run make --no-print-directory test$")

    def test_tests_of_another_build_read_nothing_of_the_one_in_build(self):
        """Tests of another build read nothing from build/: `make sanitize` builds nothing there, and both targets name
        their folder, except for the faults, which are left out.
        """
        found = set()
        for folder, _, names in os.walk(os.path.join(ROOT, "tests")):
            for name in names:
                if name.startswith("test_") and name.endswith(".py"):
                    found |= set(re.findall(r'(?<!makedirs\()((?:environ\.get\("\w+"\) or )?)os\.path\.join\(ROOT, '
                                            r'"build"(?:, "(\w+)")?\)', self.read(folder, name)))
        self.assertEqual({part for variable, part in found if not variable}, {"cross", "hosts", "platforms"})
        told = {variable.split('"')[1] for variable, _ in found if variable}
        self.assertLessEqual({"FAULT", "OBJECTS", "UNIT"}, told)
        makefile = self.read("Makefile")
        for wanted, which in ((told, r"(?m)^test: needed.*\n((?:\t.*\n)+)"),
                              (told - {"FAULT"}, r"(?m)^UNDER_SANITIZERS = ((?:.*\\\n)*.*)")):
            self.assertLessEqual(wanted, set(re.findall(r"(\w+)=", re.search(which, makefile)[1])))

    def run_tests(self, text, slow, **variables):
        """The output of tests/run.py for one file of tests, its exit status, and its list of skipped tests."""
        with tempfile.TemporaryDirectory() as root:
            folder = os.path.join(root, "tests")
            os.makedirs(os.path.join(folder, "answers"))
            for name in ("run.py", "support.py"):
                shutil.copy(os.path.join(ROOT, "tests", name), folder)
            with open(os.path.join(folder, "answers", "test_some.py"), "w", encoding="utf-8") as file:
                file.write("import os\nimport unittest\nfrom support import corpus, slow, slowest\n\nclass"
                           " Some(unittest.TestCase):\n" + text)
            environment = {name: value for name, value in os.environ.items()
                           if name not in ("SLOW", "CORPUS", "TMPDIR", "TEMP", "TMP")}
            done = subprocess.run([sys.executable, os.path.join("tests", "run.py")], capture_output=True, text=True,
                                  check=False,
                                  cwd=root, env={**environment, "SLOW": slow, **variables})
            with open(os.path.join(root, "build", "skipped.txt"), encoding="utf-8") as file:
                return done.stdout, done.returncode, file.read()

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

    def test_a_file_names_what_is_left_out_and_why(self):
        others = "CORPUS is not set: 1\n  test_some.Some.test_d\n", "no Chromium: 1\n  test_some.Some.test_e\n"
        for slow, left_out, last in (("skip", "bc", "1 passed, 0 failed, 4 skipped"),
                                     ("some", "c", "2 passed, 0 failed, 3 skipped"),
                                     ("run", "", "3 passed, 0 failed, 2 skipped")):
            printed, status, skipped = self.run_tests(self.TESTS, slow)
            with self.subTest(slow):
                by_slowness = f"it is slow: {len(left_out)}\n" + "".join(f"  test_some.Some.test_{name}\n"
                                                                         for name in left_out)
                self.assertEqual(skipped, others[0] + (by_slowness if left_out else "") + others[1])
                said = f", {len(left_out)} of them slow; `make check` runs these" if left_out else ""
                self.assertEqual(printed.splitlines()[-2:],
                                 [f"build/skipped.txt names the {len(left_out) + 2} skipped tests{said}", last])
                self.assertEqual(status, 0)

    def test_a_failure_is_counted_once_and_is_the_exit_status(self):
        printed, status, _ = self.run_tests("""
    def test_a(self):
        for i in range(2):
            with self.subTest(i):
                self.fail()
    def test_b(self): pass
""", "run")
        self.assertEqual(printed.splitlines()[-1], "1 passed, 1 failed, 0 skipped")
        self.assertEqual(status, 1)

    def test_an_expected_failure_is_counted_and_one_that_passes_has_failed(self):
        printed, status, _ = self.run_tests("""
    @unittest.expectedFailure
    def test_a(self): self.fail()
    @unittest.expectedFailure
    def test_b(self):
        for i in range(2):
            with self.subTest(i):
                self.fail()
    def test_c(self): pass
""", "run")
        self.assertEqual((printed.splitlines()[-1], status), ("1 passed, 0 failed, 0 skipped, 2 waiting", 0))
        printed, status, _ = self.run_tests("""
    @unittest.expectedFailure
    def test_a(self): self.fail()
    @unittest.expectedFailure
    def test_b(self): pass
    @unittest.expectedFailure
    def test_c(self): raise KeyError("absent")
""", "run")
        self.assertEqual((printed.splitlines()[-1], status), ("0 passed, 2 failed, 0 skipped, 1 waiting", 1))
        self.assertIn("FAILED: test_b (test_some.Some.test_b)\nunexpected success\n", printed)
        self.assertIn("KeyError: 'absent'\n", printed)

    def test_a_process_that_dies_fails_the_test_it_ran(self):
        printed, status, _ = self.run_tests("""
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
        """A process that ends with an error after its tests, like under valgrind, is a failure."""
        printed, status, _ = self.run_tests("""
    def test_a(self):
        from multiprocessing import util
        util.Finalize(None, os._exit, args=(9,), exitpriority=1)
""", "run")
        self.assertIn("FAILED: run.py: the process ended with status 9 after its last test\n", printed)
        self.assertEqual((printed.splitlines()[-1], status), ("1 passed, 1 failed, 0 skipped", 1))

    def test_what_measures_is_alone(self):
        """Slow tests come first, then the rest of the class; the tests that measure run alone afterwards."""
        printed, *_ = self.run_tests("""
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

    def test_failures_are_the_last_thing_before_the_result(self):
        printed, *_ = self.run_tests("""
    def test_a(self): self.assertEqual(1, 2)
    @slow
    def test_b(self): pass
""", "skip")
        self.assertRegex(printed, r"(?s)FAILED: test_a .*AssertionError: 1 != 2\nbuild/skipped.txt [^\n]*\n0 passed, 1"
                                  r" failed, 1 skipped\n$")

    def test_files_are_in_memory_where_there_is_room_unless_all_tests_run(self):
        text = """
    def test_a(self): print("in", os.environ["TMPDIR"], flush=True)
"""
        with tempfile.TemporaryDirectory() as other:
            for slow, variables, expected in (("skip", {}, run.memory() or "/tmp"), ("run", {}, "/tmp"),
                                              ("skip", {"TMPDIR": other}, other)):
                printed, *_ = self.run_tests(text, slow, **variables)
                self.assertEqual(re.search("in (.*)/tracediff", printed)[1], expected)

    def test_series_that_are_shorter_are_said(self):
        text = """
    from support import series
    LENGTH = series(1, 4)
    def test_a(self): self.assertEqual(self.LENGTH, 4)
"""
        for slow, failed in (("skip", 1), ("some", 1), ("run", 0)):
            printed, _, skipped = self.run_tests(text, slow)
            self.assertEqual(skipped, "Random series that `make check` runs at full length: test_some\n" if failed
                             else "")
            self.assertTrue(printed.endswith(f"{1 - failed} passed, {failed} failed, 0 skipped\n"), printed)

    def test_slow_is_marked_in_one_place(self):
        for path in glob.glob(os.path.join(ROOT, "tests", "*", "test_*.py")):
            if not os.path.samefile(path, __file__):
                self.assertNotIn('"SLOW"', self.read(path), path)


if __name__ == "__main__":
    unittest.main()
