"""Common support for tests: a connection with the extension, the test data, and marks for slow tests.

    TRACEDIFF  the extension to test      (default dist/tracediff.so)
    CORPUS     traces that do not ship    (tests that need one are skipped without)
    GOLDEN     HTA's outputs for them     (likewise)
    FOREIGN    set where Python and the extension are for another platform, under wine or qemu: tests that need another
               program, or a feature missing there, are skipped, with that as the reason
    SLOW       skip: without tests marked as slow or slowest; some: without the slowest.
               build/skipped.txt then lists them with all other skipped tests
"""
import contextlib
import ctypes
import glob
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXTENSION = os.path.abspath(os.environ.get("TRACEDIFF") or os.path.join(ROOT, "dist", "tracediff.so"))
EXAMPLES = os.path.join(ROOT, "examples")
DATA = os.path.join(ROOT, "tests", "data")


def queries():
    """The files of the functions written in SQL, by name."""
    return {os.path.basename(path)[:-4]: path for folder in ("tracediff", "hta")
            for path in sorted(glob.glob(os.path.join(ROOT, "sql", folder, "*.sql")))}


def query_statements(path):
    """The statements of a query, the facts first if it has any, with shared parts inserted: a line `-- With
    FOLDER/NAME` stands for the CTEs of that file of sql/.
    """
    def text(path):
        with open(path, encoding="utf-8") as file:
            own = re.split("(?m)^-- Own.*$", re.split("(?m)^-- Shared.*\n", file.read())[-1])[0]
        shared = re.sub(r"(?m)^-- With (\S+)\n", lambda line: text(os.path.join(ROOT, "sql", f"{line[1]}.sql")), own)
        return re.sub("(?m)^--.*\n", "", shared)

    return re.split(r";\n\s*(?=\S)", text(path))


LEFT_OUT = "it is slow"
SLOW = os.environ.get("SLOW") or "run"


def mark(name, left_out=False):
    """A decorator for tests and classes of tests."""
    def marked(test):
        setattr(test, name, True)
        return unittest.skip(LEFT_OUT)(test) if left_out else test
    return marked


# Tests that take seconds are marked: `make test` leaves them out, `make check` does not. In a long series, the first
# part is a test, and the rest a slow one. The slowest, which measure time or take an oracle minutes, are also left out
# under sanitizers and valgrind.
slow = mark("slow", SLOW == "skip")
slowest = mark("slow", SLOW in ("skip", "some"))
alone = mark("alone")  # measures time or counts threads, so run.py runs nothing beside it
SHORTENED = set()  # modules with short series


def series(short, whole):
    """The length of a random series: short where slow tests are left out, which run.py then reports."""
    if SLOW == "run":
        return whole
    SHORTENED.add(sys._getframe(1).f_globals["__name__"])
    return short


def instructions(sql):
    """The number of instructions in a new sqlite3 by valgrind, and its system calls in valgrind's notation."""
    run = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}", "--trace-syscalls=yes",
                          "sqlite3", "-cmd", f".load {EXTENSION}", ":memory:", sql],
                         check=True, capture_output=True, encoding="utf-8", errors="replace")
    return int(re.search(r"Collected : (\d+)", run.stderr)[1]), re.findall(r"SYSCALL\[.*?\) (\w+)", run.stderr)


def can_be_a_name(name):
    """Whether a file on this system can have this name."""
    return os.name != "nt" or not set(name) & {*'\\:*?"<>|', *map(chr, range(32))}


names_of_bytes = unittest.skipIf(os.name == "nt", "needs names that are not UTF-8")
fine_clock = unittest.skipIf(os.name == "nt", "needs processor time in less than ticks of 15 ms")


class Absent:
    """Stands for a missing feature of this system, or for its functions; using it skips the test."""

    def __init__(self, name):
        self.name = name

    def __getattr__(self, attribute):
        return Absent(f"{self.name}.{attribute}")

    def __call__(self, *_, **__):
        raise unittest.SkipTest(f"needs {self.name}")

    __index__ = __call__  # for a signal


def symbolic_link(target, path, make=os.symlink):
    """Makes a link, or on Windows nothing, because not every user may make one there, and wine cannot."""
    with contextlib.suppress(OSError):
        make(target, path)
    if not os.path.islink(path):
        raise unittest.SkipTest("needs symbolic links")


def replace(source, path, of_system=os.replace):
    """Replaces a file. Windows cannot replace one that a program has open, but lets another take its name, unless the
    program forbids that, like SQLite does.
    """
    try:
        try:
            of_system(source, path)
        except PermissionError:
            os.rename(path, os.path.join(tempfile.mkdtemp(), "replaced"))
            os.rename(source, path)
    except PermissionError:
        raise unittest.SkipTest("needs to replace a database that SQLite has open") from None


class OnlyPython(subprocess.Popen):
    def __init__(self, command, *arguments, **named):
        program = command if isinstance(command, str) else command[0]
        if program != sys.executable:
            raise unittest.SkipTest(f"needs {os.path.basename(program)}")
        super().__init__(command, *arguments, **named)


if os.environ.get("FOREIGN"):
    subprocess.Popen = OnlyPython
if os.name == "nt":
    for holder, name in ((os, "geteuid"), (os, "mkfifo"), (signal, "SIGALRM"), (signal, "SIGKILL")):
        setattr(holder, name, Absent(f"{holder.__name__}.{name}"))
    for name in ("fcntl", "pty", "resource", "termios"):
        sys.modules[name] = Absent(name)
    ctypes.CDLL = lambda name, **_: Absent(name or "libc")
    os.symlink, os.replace = symbolic_link, replace
    vars(shutil._winapi).pop("CopyFile2", None)  # missing in wine


def connect(database=":memory:", extension=EXTENSION, entry=None):
    """A connection with the extension loaded."""
    db = sqlite3.connect(database)
    db.enable_load_extension(True)
    if entry:
        db.execute("SELECT load_extension(?, ?)", (extension, entry))
    else:
        db.execute("SELECT load_extension(?)", (extension,))
    return db


def bytes_read():
    """How many bytes this process has read from files."""
    if os.name == "nt":
        raise unittest.SkipTest("needs /proc/self/io")
    with open("/proc/self/io", encoding="ascii") as file:
        return int(file.readline().split()[1])


def outside(variable, *parts):
    folder = os.environ.get(variable)
    if not folder:
        raise unittest.SkipTest(f"{variable} is not set")
    path = os.path.join(folder, *parts)
    if not os.path.exists(path):
        raise unittest.SkipTest(f"{variable} has no {os.path.join(*parts)}")
    return path


def corpus(*parts):
    """Path of a trace that does not ship; skips the test without it."""
    return outside("CORPUS", *parts)


def found_below(folder, *pattern):
    """The matches of a pattern with `**` below a folder, in order, without dangling links."""
    found = glob.glob(os.path.join(glob.escape(folder), *pattern), recursive=True)
    return [path for path in sorted(found) if os.path.exists(path)]


def golden(*parts):
    """Path of an output of HTA that does not ship; skips the test without it."""
    return outside("GOLDEN", *parts)
