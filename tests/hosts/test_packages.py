"""Packages, each installed in a clean environment, run a diff of examples/gpu."""
import base64
import contextlib
import csv
import fcntl
import functools
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
import time
import unittest
import zipfile

import debian_root
from support import EXAMPLES, ROOT, slowest

CONTROL, TEST = (os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test"))
QUERY = f"SELECT text FROM trace_summary('{CONTROL}', '{TEST}') LIMIT 1"
ANSWER = "test is slower here: 3.052 -> 3.735 ms per step, +0.684 ms (+22 %)"

SLACK = float(os.environ.get("SLACK") or 1)
MACHINE = sysconfig.get_platform().split("-")[-1]
UNIT = os.environ.get("UNIT") or "build/unit"
BUILD = os.path.relpath(os.path.dirname(os.path.join(ROOT, UNIT)), ROOT)
PACK = os.path.join(ROOT, "ext", "packages", "pack.py")
HOSTS = os.path.join(ROOT, "build", "hosts")
VENV = os.path.join(HOSTS, "venv", "bin", "python")
NODE = os.path.join(HOSTS, "node", "node_modules", ".bin", "node")

IS_ROOT = hasattr(os, "getuid") and os.getuid() == 0
NOT_OURS = ("aarch64", 183) if MACHINE == "x86_64" else ("x86_64", 62)  # another processor, with its number in ELF


SOURCES = os.path.join(ROOT, "build", "cross", "sources")


def needs(path):
    return unittest.skipUnless(os.path.exists(path), f"there is no {os.path.relpath(path, ROOT)}: run `make"
                                                     f" setup-hosts`")


def run(*command, cwd="/", status=0, **environment):
    """The output of a command with nothing of this environment but the PATH."""
    done = subprocess.run(command, cwd=cwd,
                          env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": "/nonexistent", **environment},
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != status:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


VERSION = re.search('#define TRACEDIFF_VERSION "(.*)"', read("ext", "version.h"))[1]
PLATFORMS = re.search("(?m)^PLATFORMS = (.*)", read("ext", "platform", "cross.mk"))[1].split()
GLIBC = re.search('(?m)^GLIBC = "(.*)"', read("ext", "packages", "pack.py"))[1]


@functools.cache
def packages():
    """The folder dist from `make dist`, for this platform."""
    folder = os.path.join(tempfile.mkdtemp(), "dist")
    make("dist", folder)
    return folder


@contextlib.contextmanager
def alone():
    """Makes other test processes wait, because make does not notice another make that writes to the same folder."""
    os.makedirs(os.path.join(ROOT, BUILD), exist_ok=True)
    with open(os.path.join(ROOT, BUILD, "lock"), "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def make(target, folder, *arguments):
    with alone():
        return run("make", "--no-print-directory", target, f"BUILD={BUILD}", f"DIST={folder}",
                   f"PLATFORM=linux-{MACHINE}", *arguments, cwd=ROOT)


@unittest.skipIf(os.environ.get("FOREIGN"), "needs sh")
class AtOnce(unittest.TestCase):
    """Test processes that build in one folder."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = place.name

    def program(self, name, text):
        os.makedirs(f"{self.folder}/bin", exist_ok=True)
        with open(f"{self.folder}/bin/{name}", "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\nset -eu\n{text}\n")
        os.chmod(f"{self.folder}/bin/{name}", 0o755)

    def test_one_make_waits_for_another(self):
        """A make waits for another one; here make is a program that fails if two run at once."""
        self.program("make", f"cd {self.folder}\nmkdir running\nsleep 0.3\nrmdir running")
        code = ("import sys\nsys.path[:0] = sys.argv[1:]\nimport test_packages\n"
                "test_packages.make('dist', '/nonexistent')")
        environment = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        folders = [os.path.join(ROOT, "tests"), os.path.join(ROOT, "tests", "hosts")]
        running = [subprocess.Popen([sys.executable, "-c", code, *folders], env=environment, stderr=subprocess.PIPE,
                                    text=True) for _ in range(3)]
        self.assertEqual([(process.communicate()[1], process.returncode) for process in running], [("", 0)] * 3)

    def test_the_same_library_of_isa_l_is_made_twice(self):
        """Two makes that build ISA-L at once give the same library: the first one compiles until the second one has
        begun, and finishes after it.
        """
        for source in re.findall(r"(?:igzip|crc)/[\w/]+\.[cS]\b", read("ext", "packages", "library", "isal.sh")):
            os.makedirs(os.path.dirname(f"{self.folder}/source/{source}"), exist_ok=True)
            with open(f"{self.folder}/source/{source}", "w", encoding="ascii"):
                pass
        self.program("compile", 'while [ "$1" != -o ]; do shift; done\necho "$WORD" >"$2"\n: >"$PLACE/$WORD"\n'
                                'while [ "$WORD" = first ] && [ ! -e "$PLACE/second" ]; do sleep 0.05; done')
        self.program("archive", 'shift\nto=$1\nshift\ncat "$@" >"$to"\n'
                                'while [ "$WORD" = first ] && [ ! -e "$PLACE/over" ]; do sleep 0.05; done')
        script, library = os.path.join(ROOT, "ext", "packages", "library", "isal.sh"), f"{self.folder}/isal.a"
        running = [subprocess.Popen(["sh", script, f"{self.folder}/source", "linux", "aarch64", library], text=True,
                                    stderr=subprocess.PIPE, env={
                                        **os.environ, "CC": f"{self.folder}/bin/compile", "PLACE": self.folder,
                                        "AR": f"{self.folder}/bin/archive", "WORD": word})
                   for word in ("first", "second")]
        for word, process in (("second", running[1]), ("first", running[0])):
            self.assertEqual((process.communicate()[1], process.returncode), ("", 0), word)
            with open(library, encoding="ascii") as file:
                self.assertEqual(set(file), {f"{word}\n"})
            with open(f"{self.folder}/over", "w", encoding="ascii"):
                pass
        self.assertEqual(sorted(os.listdir(self.folder)), ["bin", "first", "isal.a", "over", "second", "source"])


class Packed(unittest.TestCase):
    """Has the packages, and an empty folder."""

    def setUp(self):
        self.dist = packages()
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = place.name
        self.began = time.monotonic()

    def assert_within_a_minute(self):
        """Asserts that the time from the package to the first diff is at most a minute."""
        self.assertLess(time.monotonic() - self.began, 60 * SLACK)

    def package(self, ending):
        found, = glob.glob(f"{self.dist}/packages/*{ending}")
        return found

    def empty(self):
        return tempfile.mkdtemp(dir=self.folder)

    def place(self):
        """A folder with only dist/packages, under the path used in documents."""
        folder = self.empty()
        os.symlink(self.dist, f"{folder}/dist")
        return folder

    def line(self, start):
        """The line with this start in the instructions for users."""
        found = {line for document in ("README.md", "ext/README.md")
                 for line in re.findall(rf"(?m)^    ({re.escape(start)}.*?)(?: +#.*)?$", read(document))}
        self.assertEqual(len(found), 1, found)
        return found.pop()

    def library(self, change):
        """The path of the library with other bytes."""
        path = os.path.join(self.empty(), "tracediff.so")
        with open(f"{self.dist}/portable/tracediff.so", "rb") as file:
            data = change(file.read())
        with open(path, "wb") as file:
            file.write(data)
        return path

    def other_processor(self, kind):
        """The path of a package with a library for another processor."""
        library = self.library(lambda data: data[:18] + NOT_OURS[1].to_bytes(2, "little") + data[20:])
        return run(sys.executable, PACK, kind, self.empty(), library).split("\n", maxsplit=1)[0]


@slowest
@needs(SOURCES)
@needs(VENV)
class Wheel(Packed):
    LOAD = "import sqlite3, sys, tracediff\ndb = sqlite3.connect(':memory:')\n"
    DIFF = LOAD + "tracediff.load(db)\nprint(*db.execute(sys.argv[1]).fetchone())"
    APSW = DIFF.replace("sqlite3", "apsw").replace("apsw.connect(", "apsw.Connection(")

    @staticmethod
    @functools.cache
    def installed():
        """A folder with only the installed wheel."""
        folder = tempfile.mkdtemp()
        wheel, = glob.glob(f"{packages()}/packages/*.whl")
        run(VENV, "-m", "pip", "install", "-q", "--no-index", "--disable-pip-version-check",
            "--root-user-action=ignore",
            "--target", folder, wheel)
        return folder

    def python(self, code, *arguments, python=sys.executable, folder=None):
        return run(python, "-c", code, *arguments, PYTHONPATH=folder or self.installed())

    def index(self):
        """The URL of an index with only apsw, packed again from VENV."""
        name, site = run(VENV, "-c", "import importlib.metadata as m\nd = m.distribution('apsw')\n"
                         "print(f'apsw-{d.version}-{d.read_text(\"WHEEL\").split(\"Tag: \")[1].split()[0]}.whl',"
                         " d.locate_file(''), sep='\\n')").splitlines()
        record, = glob.glob(f"{site}/apsw-*.dist-info/RECORD")
        folder = os.path.join(self.empty(), "apsw")
        os.mkdir(folder)
        with open(record, encoding="utf-8", newline="") as file, zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
            for path, *_ in csv.reader(file):
                if not path.startswith("..") and "__pycache__" not in path and os.path.exists(f"{site}/{path}"):
                    wheel.write(f"{site}/{path}", path)
        with open(f"{folder}/index.html", "w", encoding="ascii") as file:
            file.write(f'<a href="{name}">{name}</a>')
        return f"file://{os.path.dirname(folder)}"

    def test_in_a_fresh_environment_it_diffs(self):
        """The command in documents and make installs it in a fresh environment, beside wheels of other platforms and
        without sqlite3, and a diff works.
        """
        place, venv = self.place(), self.empty()
        other = os.path.basename(self.package(".whl")).replace(MACHINE, NOT_OURS[0])
        with open(f"{self.dist}/packages/{other}", "w", encoding="ascii"):
            self.addCleanup(os.remove, f"{self.dist}/packages/{other}")
        run(sys.executable, "-m", "venv", venv)
        path, index = f"{venv}/bin:{os.environ['PATH']}", self.index()
        self.began = time.monotonic()
        run("sh", "-c", self.line("pip install"), cwd=place, PATH=path, PIP_INDEX_URL=index,
            PIP_DISABLE_PIP_VERSION_CHECK="1")
        self.assertEqual(run(f"{venv}/bin/python", "-c", self.DIFF, QUERY), ANSWER + "\n")
        self.assert_within_a_minute()
        self.assertEqual(run(f"{venv}/bin/pip", "check"), "No broken requirements found.\n")
        without = self.empty()
        with open(f"{without}/sqlite3.py", "w", encoding="ascii") as file:
            file.write("raise ImportError('not here')\n")
        for there in {}, {"PYTHONPATH": without}:
            self.assertEqual(run(f"{venv}/bin/tracediff", CONTROL, TEST, **there).splitlines()[0], ANSWER)
        kind = "import tracediff; print(type(tracediff.connect()).__mro__[2].__module__)"
        self.assertEqual(run(f"{venv}/bin/python", "-c", kind, PYTHONPATH=without), "apsw\n")

    def test_documents_and_make_tell_one_line(self):
        line = self.line("pip install")
        for document in ("README.md", "ext/packages/python/README.md", "examples/notebook.ipynb"):
            self.assertIn(f"`{line}`", read(document))
        folder = self.empty()
        self.assertEqual(make("wheel", folder).splitlines()[-1],
                         f"In a virtual environment: {line.replace('dist/', f'{folder}/')}")

    def test_installs_a_command(self):
        """`pip install` installs a command, in a typical environment; the extra is apsw."""
        venv = self.empty()
        run(sys.executable, "-m", "venv", venv)
        run(f"{venv}/bin/pip", "install", "-q", "--no-index", "--disable-pip-version-check", self.package(".whl"))
        self.assertEqual(run(f"{venv}/bin/tracediff", CONTROL, TEST).splitlines()[0], ANSWER)
        self.assertEqual(run(f"{venv}/bin/tracediff", "--version"), f"tracediff {VERSION}\n")
        self.assertEqual(run(f"{venv}/bin/tracediff", CONTROL, TEST, "--gate", "3%", status=1).splitlines()[0], ANSWER)
        self.assertEqual(run(f"{venv}/bin/tracediff", CONTROL, status=2),
                         "tracediff: expected CONTROL and TEST, got one trace; see tracediff --help\n")
        self.assertIn("apsw", run(f"{venv}/bin/pip", "install", "--no-index", "--disable-pip-version-check",
                                  "sqlite-tracediff[apsw]", status=1))

    def test_has_the_schema_of_a_brief(self):
        code = ("import importlib.resources as r;"
                "print(end=(r.files('tracediff') / 'brief.schema.json').read_text())")
        self.assertEqual(self.python(code), read("sql", "brief.schema.json"))

    def test_gives_the_path_to_a_shell(self):
        path = self.python("import tracediff; print(tracediff.path())").strip()
        self.assertEqual(run("sqlite3", "-cmd", f".load {path}", ":memory:", QUERY), ANSWER + "\n")

    def test_apsw_diffs(self):
        self.assertEqual(self.python(self.APSW, QUERY, python=VENV), ANSWER + "\n")

    def test_loading_is_allowed_afterwards_if_it_was_before(self):
        code = textwrap.dedent("""
            for before in (False, True):
                for nofs in (False, True):
                    db.enable_load_extension(before)
                    tracediff.load(db, nofs=nofs)
                    try:
                        db.load_extension(tracediff.path())
                    except Exception as error:
                        print(before, error)
                    else:
                        print(before, "allowed")
            """)
        for load, python in ((self.LOAD, sys.executable), (self.APSW.split("tracediff.load")[0], VENV)):
            printed = self.python(load + code, python=python)
            self.assertRegex(printed, r"\A(False .*not authorized\n){2}(True allowed\n){2}\Z")

    def test_a_failure_leaves_loading_forbidden(self):
        folder = self.empty()
        shutil.copytree(self.installed(), folder, dirs_exist_ok=True)
        os.remove(os.path.join(folder, "tracediff", "tracediff.so"))
        code = textwrap.dedent("""
            db.enable_load_extension(False)
            for load in tracediff.load, lambda db: db.load_extension("x"):
                try:
                    load(db)
                except Exception as error:
                    print(error)
            """)
        self.assertRegex(self.python(self.LOAD + code, folder=folder),
                         r"\A.*tracediff.so.*cannot open.*\nnot authorized\n\Z")

    def test_nofs_reads_no_files(self):
        code = textwrap.dedent("""
            tracediff.load(db, nofs=True)
            print(*db.execute("SELECT tracediff_version(), count(*) FROM pragma_module_list"
                              " WHERE name LIKE 'trace!_%' ESCAPE '!'"))
            """)
        self.assertEqual(self.python(self.LOAD + code), f"('v{VERSION}', 0)\n")

    def test_a_python_that_cannot_load_says_what_can(self):
        code = self.LOAD + textwrap.dedent("""
            class Without(sqlite3.Connection):
                @property
                def enable_load_extension(self):
                    raise AttributeError
            for given in (Without(":memory:"), db.cursor()):
                try:
                    tracediff.load(given)
                except Exception as error:
                    print(type(error).__name__, error)
            """)
        first, second = self.python(code).splitlines()
        self.assertRegex(first, r"^RuntimeError tracediff.load: .*enable_load_extension.*apsw.*/usr/bin/python3")
        self.assertEqual(second, "TypeError tracediff.load: expected a connection of sqlite3 or apsw, not Cursor")

    def test_the_tag_and_the_metadata_are_true(self):
        tag = f"manylinux_{GLIBC.replace('.', '_')}_{MACHINE}"
        wheel = self.package(".whl")
        self.assertEqual(os.path.basename(wheel), f"sqlite_tracediff-{VERSION}-py3-none-{tag}.whl")
        shown = " ".join(run(VENV, "-m", "auditwheel", "show", wheel).split())
        self.assertIn(f'is consistent with the following platform tag: "{tag}"', shown)
        name = run(VENV, "-c", "import sys, zipfile; from packaging.metadata import Metadata\n"
                   "with zipfile.ZipFile(sys.argv[1]) as wheel:\n"
                   " path = next(n for n in wheel.namelist() if n.endswith('/METADATA'))\n"
                   " print(path, Metadata.from_email(wheel.read(path), validate=True).name)", wheel)
        self.assertEqual(name, f"sqlite_tracediff-{VERSION}.dist-info/METADATA sqlite-tracediff\n")

    def test_the_licences_of_what_is_inside_are_named(self):
        with zipfile.ZipFile(self.package(".whl")) as wheel:
            info = f"sqlite_tracediff-{VERSION}.dist-info"
            metadata = wheel.read(f"{info}/METADATA").decode()
            self.assertIn("\nLicense-Expression: MIT AND BSD-3-Clause AND Zlib\n", metadata)
            files = re.findall(r"(?m)^License-File: (.*)", metadata)
            self.assertEqual(files, ["LICENSE", "LICENSE.isa-l", "LICENSE.zlib"])
            for name, holder in zip(files, ("tracediff authors", "Intel Corporation", "Mark Adler")):
                self.assertIn(holder, wheel.read(f"{info}/licenses/{name}").decode())

    def test_gzip_is_decoded_by_what_is_inside(self):
        code = self.LOAD + "tracediff.load(db)\nprint(*db.execute('SELECT tracediff_debug()').fetchone())"
        for decoder, said in (("", ", gzip by ISA-L "), ("zlib", ", gzip by zlib 1.3.")):
            self.assertIn(said, run(sys.executable, "-c", code, PYTHONPATH=self.installed(), TRACEDIFF_DECODER=decoder))

    def test_the_record_has_every_file(self):
        with zipfile.ZipFile(self.package(".whl")) as wheel:
            record = next(name for name in wheel.namelist() if name.endswith("/RECORD"))
            rows = {name: (digest, size) for name, digest, size in csv.reader(wheel.read(record).decode().splitlines())}
            self.assertEqual(set(rows), set(wheel.namelist()))
            self.assertEqual(rows.pop(record), ("", ""))
            for name, (digest, size) in rows.items():
                found = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).decode().rstrip("=")
                self.assertEqual((f"sha256={found}", len(wheel.read(name))), (digest, int(size)), name)

    def test_another_processor_is_refused(self):
        self.assertIn("is not a supported wheel on this platform",
                      run(VENV, "-m", "pip", "install", "--no-index", "--target", self.empty(),
                          self.other_processor("wheel"), status=1))


@slowest
@needs(SOURCES)
@needs(NODE)
class Npm(Packed):
    def installed(self):
        """A folder with only the installed package."""
        folder = self.place()
        run("sh", "-c", self.line("npm install"), cwd=folder, HOME=folder, npm_config_offline="true",
            npm_config_audit="false")
        return folder

    def node(self, folder, name, text, **environment):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        return run(NODE, "--no-warnings", name, cwd=folder, **environment)

    def test_in_an_empty_folder_it_diffs(self):
        folder = self.installed()
        ask = ("const db = new DatabaseSync(':memory:', { allowExtension: true }); load(db);"
               f"console.log(db.prepare(`{QUERY}`).get().text);")
        for name, text in (("x.mjs", "import { DatabaseSync } from 'node:sqlite'; import { load } from"
                                     " 'sqlite-tracediff';"),
                           ("x.cjs", "const { DatabaseSync } = require('node:sqlite'); const { load } ="
                                     " require('sqlite-tracediff');")):
            with self.subTest(name):
                self.assertEqual(self.node(folder, name, text + ask), ANSWER + "\n")
        self.assert_within_a_minute()

    def test_better_sqlite3_diffs(self):
        text = ("const db = require('better-sqlite3')(':memory:'); require('sqlite-tracediff').load(db);"
                f"console.log(db.prepare(`{QUERY}`).get().text);")
        self.assertEqual(self.node(self.installed(), "x.cjs", text,
                                   NODE_PATH=os.path.join(HOSTS, "node", "node_modules")), ANSWER + "\n")

    def test_has_the_schema_of_a_brief(self):
        self.assertEqual(self.node(self.installed(), "x.cjs", "console.log(JSON.stringify("
                                   "require('sqlite-tracediff/brief.schema.json').properties.schema))"),
                         '{"const":"tracediff/brief/1"}\n')

    def test_gives_the_path_to_a_shell(self):
        path = self.node(self.installed(), "x.cjs",
                         "console.log(require('sqlite-tracediff').getLoadablePath())").strip()
        self.assertEqual(run("sqlite3", "-cmd", f".load {path}", ":memory:", QUERY), ANSWER + "\n")

    def test_another_processor_is_refused(self):
        folder = self.empty()
        self.assertIn("EBADPLATFORM", run("npm", "install", "--offline", "--no-audit", self.other_processor("npm"),
                                          cwd=folder, HOME=folder, status=1))


@slowest
@needs(SOURCES)
class Tarball(Packed):
    def unpacked(self, package=None):
        folder = self.empty()
        run("tar", "xzf", package or self.package(".tar.gz"), "-C", folder)
        name, = os.listdir(folder)
        return os.path.join(folder, name)

    def test_installs_into_an_empty_prefix_and_diffs(self):
        folder, prefix = self.place(), os.path.join(self.empty(), "a prefix")
        said = run("sh", "-c", f"{self.line('tar xzf')} '{prefix}'", cwd=folder).splitlines()[1:]
        self.assertEqual(said, [f'In sqlite3: .load "{prefix}/lib/tracediff"',
                                f"In each sqlite3 that you start: echo '.load \"{prefix}/lib/tracediff\"' >>"
                                f" ~/.sqliterc"])
        self.assertEqual(set(os.listdir(folder)), {"dist", f"tracediff-v{VERSION}-loadable-linux-{MACHINE}"})
        self.assertEqual(run("sqlite3", "-cmd", said[0].split(": ", 1)[1], ":memory:", QUERY), ANSWER + "\n")
        self.assertEqual(run("sqlite3", "-cmd", ".load tracediff", ":memory:", QUERY, LD_LIBRARY_PATH=f"{prefix}/lib"),
                         ANSWER + "\n")
        self.assert_within_a_minute()

    @staticmethod
    def tree(prefix):
        """{path: its kind and content} below it."""
        found = {}
        for folder, _, names in os.walk(prefix):
            for name in names:
                path = os.path.join(folder, name)
                linked = os.path.islink(path)
                found[os.path.relpath(path, prefix)] = os.readlink(path) if linked else oct(os.stat(path).st_mode)
        return found

    def test_installs_what_make_install_does(self):
        ours, theirs = self.empty(), self.empty()
        run(f"{self.unpacked()}/install.sh", ours)
        make("install", self.empty(), f"DESTDIR={theirs}", "PREFIX=/usr/local")  # with DESTDIR, ldconfig does not run
        self.assertEqual(self.tree(ours), self.tree(f"{theirs}/usr/local"))

    def test_says_what_it_cannot_do(self):
        folder = self.unpacked()
        for arguments, said in ((("--prefix=/x",), "install.sh: unknown option '--prefix=/x'; usage: ./install.sh"
                                                   " [PREFIX]\n"),
                                (("a", "b"), "install.sh: expected one PREFIX, got 2; usage: ./install.sh [PREFIX]\n"),
                                (("here",), "install.sh: PREFIX must be an absolute path, not 'here'\n"),
                                (("",), "install.sh: PREFIX must be an absolute path, not ''\n"),
                                (("/proc/nobody",), "Cannot install into /proc/nobody. For you alone: ./install.sh"
                                                    " $HOME/.local\n"
                                                    "For everyone on this machine, as root: ./install.sh\n")):
            with self.subTest(arguments):
                self.assertEqual(run(f"{folder}/install.sh", *arguments, status=1), said)
        stubs = self.empty()
        for name, text, said in (("getconf", "exit 1", f"this package needs glibc {GLIBC} or newer; this system has"
                                                       f" another C library"),
                                 ("getconf", "echo glibc 2.9", f"this package needs glibc {GLIBC} or newer, not 2.9")):
            with open(f"{stubs}/{name}", "w", encoding="ascii") as file:
                file.write(f"#!/bin/sh\n{text}\n")
            os.chmod(f"{stubs}/{name}", 0o755)
            self.assertEqual(run(f"{folder}/install.sh", self.empty(), status=1, PATH=f"{stubs}:{os.environ['PATH']}"),
                             f"install.sh: {said}\n")
        os.remove(f"{folder}/tracediff.so")
        prefix = self.empty()
        self.assertEqual(run(f"{folder}/install.sh", prefix, status=1),
                         "install.sh: tracediff.so or sql/ is missing: unpack the whole archive\n")
        self.assertEqual(os.listdir(prefix), [])

    def test_another_processor_is_refused(self):
        self.assertEqual(run(f"{self.unpacked(self.other_processor('tarball'))}/install.sh", self.empty(), status=1),
                         f"install.sh: this package is for Linux {NOT_OURS[0]}, not for Linux {MACHINE}\n")


@slowest
@needs(SOURCES)
@unittest.skipUnless(shutil.which("dpkg-deb"), "there is no dpkg-deb")
class Deb(Packed):
    FILES = [f"/usr/lib/{MACHINE}-linux-gnu/libtracediff.so", f"/usr/lib/{MACHINE}-linux-gnu/tracediff.so",
             "/usr/share/doc/tracediff/CHANGELOG.md.gz", "/usr/share/doc/tracediff/changelog.gz",
             "/usr/share/doc/tracediff/copyright", "/usr/share/tracediff/brief.schema.json"]

    def debian(self):
        """A new Debian with a shell for SQLite, and with the examples and packages in /root."""
        root = self.empty()
        debian_root.make(root, "apt", "sqlite3")
        shutil.copytree(EXAMPLES, f"{root}/root/examples")
        with open(f"{root}/root/yes", "w", encoding="ascii") as file:
            file.write('APT::Get::Assume-Yes "yes";')
        shutil.copytree(f"{self.dist}/packages", f"{root}/root/dist/packages")
        return root

    @staticmethod
    def ask(root):
        query = QUERY.replace(EXAMPLES, "/root/examples")
        return run("chroot", root, "sqlite3", "-cmd", ".load tracediff", ":memory:", query, "SELECT tracediff_debug()")

    @unittest.skipUnless(IS_ROOT, "only root can use chroot")
    def test_in_a_new_debian_it_diffs_and_is_removed(self):
        root = self.debian()
        run("chroot", root, "sh", "-c", f"cd root && {self.line('apt install')}", APT_CONFIG="/root/yes",
            DEBIAN_FRONTEND="noninteractive")
        answer, debug = self.ask(root).splitlines()
        self.assertEqual(answer, ANSWER)
        self.assertIn(", gzip by ISA-L", debug)  # missing from a new Debian, so it is included
        self.assert_within_a_minute()
        files = run("chroot", root, "dpkg", "-L", "tracediff").splitlines()
        self.assertEqual(sorted(name for name in files if os.path.isfile(f"{root}/{name}")
                                and not name.endswith(".sql")), self.FILES)
        self.assertEqual(run("chroot", root, "dpkg", "-V", "tracediff"), "")
        run("chroot", root, "apt-get", "remove", "-y", "tracediff")
        self.assertEqual(run("find", f"{root}/usr", "-name", "*tracediff*"), "")
        self.assertNotIn("tracediff", run("chroot", root, "ldconfig", "-p"))

    @unittest.skipUnless(IS_ROOT, "only root can use chroot")
    def test_the_tarball_is_found_everywhere_in_a_new_debian(self):
        root = self.debian()
        self.assertEqual(run("chroot", root, "sh", "-c", f"cd root && {self.line('tar xzf')}"),
                         "Installed /usr/local/lib/tracediff.so and /usr/local/share/tracediff\nIn sqlite3: .load"
                         " tracediff\n")
        self.assertEqual(self.ask(root).splitlines()[0], ANSWER)

    @unittest.skipUnless(IS_ROOT, "only root can use chroot")
    def test_another_processor_is_refused(self):
        root = self.debian()
        shutil.copy(self.other_processor("deb"), f"{root}/root/other.deb")
        self.assertRegex(run("chroot", root, "apt-get", "install", "-y", "/root/other.deb", status=100),
                         "tracediff:(arm64|amd64)")

    def test_depends_on_what_the_library_needs(self):
        self.assertEqual(run("dpkg-deb", "-f", self.package(".deb"), "Depends").strip(),
                         f"libc6 (>= {GLIBC})")


@slowest
@needs(SOURCES)
class Dist(Packed):
    def test_makes_the_same_bytes_again(self):
        again = self.empty()
        make("dist", again)
        names = sorted(os.listdir(f"{self.dist}/packages"))
        self.assertEqual(len(names), 6)
        self.assertEqual(sorted(os.listdir(f"{again}/packages")), names)
        for name in names:
            with open(f"{self.dist}/packages/{name}", "rb") as one, open(f"{again}/packages/{name}", "rb") as other:
                self.assertEqual(hashlib.sha256(one.read()).digest(), hashlib.sha256(other.read()).digest(), name)

    def test_the_sums_are_right_and_of_every_package(self):
        run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=f"{self.dist}/packages")
        with open(f"{self.dist}/packages/SHA256SUMS", encoding="ascii") as file:
            self.assertEqual({line.split()[1] for line in file} | {"SHA256SUMS"},
                             set(os.listdir(f"{self.dist}/packages")))

    def refused(self, library, said, *kinds):
        for kind in kinds or ("wheel",):
            out = self.empty()
            self.assertEqual(run(sys.executable, PACK, kind, out, library, status=1),
                             f"pack.py: cannot pack {library}: {said}\n")
            self.assertEqual(os.listdir(out), [])

    def test_a_library_that_is_not_whole_or_not_ours_is_refused(self):
        self.refused(f"{self.folder}/none", "there is no such file: run `make dist`", "wheel", "npm", "deb", "tarball")
        for change, said in (
                (lambda data: b"", "it is not a library of a 64-bit Linux, of macOS or of Windows"),
                (lambda data: data[:len(data) // 2], "it is not whole"),
                (lambda data: data[:18] + b"\xf3\0" + data[20:],
                 f"its processor is not one of those of {', '.join(PLATFORMS)}"),
                (lambda data: data.replace(f"v{VERSION}\0".encode(), b"v0.0.0\0"),
                 f"it is not of version {VERSION}, which ext/version.h has"),
                (lambda data: data.replace(b"_nofs_init", b"_nofs_exit"),
                 "it does not have the entry point sqlite3_tracediff_nofs_init"),
                (lambda data: data.replace(b"libdl.so.2", b"libxl.so.2"),
                 "it needs libraries that not every system has: libxl.so.2")):
            self.refused(self.library(change), said)

    def test_a_library_that_needs_a_newer_glibc_is_refused(self):
        """A library that needs a newer glibc is refused; `make` builds it from the same code."""
        library = os.environ.get("TRACEDIFF") or "dist/tracediff.so"
        needs = re.findall(r"UND (\S+)@GLIBC_([\d.]+)", run("readelf", "-W", "--dyn-syms", os.path.join(ROOT, library)))
        newer = [f"{name} ({of})" for name, of in sorted(set(needs))
                 if [*map(int, of.split("."))] > [*map(int, GLIBC.split("."))]]
        if not newer:
            self.skipTest("this system's glibc has no newer symbols")
        self.assertIn(f": it needs a glibc newer than {GLIBC}: {', '.join(newer)}. ",
                      run(sys.executable, PACK, "wheel", self.empty(), os.path.join(ROOT, library), status=1))
