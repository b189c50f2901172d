"""Each platform gives this one's rows, with SQLite's shell and the library that `make cross` built for it: Windows
under wine, aarch64 under qemu, musl with its own loader. The macOS library does not run; its symbols, load commands and
minimum version are checked. `make platforms` builds everything; tests of missing parts are skipped with the reason.
"""
import os
import re
import shutil
import struct
import subprocess
import tempfile
import unittest

from made import document, event, write
from support import DATA, EXTENSION, ROOT, connect, corpus, slow

CROSSED = os.path.join(ROOT, "build", "cross")
SHELLS = os.path.join(ROOT, "build", "platforms")
LIBRARY = {"linux": "tracediff.so", "musl": "tracediff.so", "macos": "tracediff.dylib", "windows": "tracediff.dll"}
ENTRIES = {"sqlite3_tracediff_init", "sqlite3_tracediff_nofs_init"}
# Output that identifies the build.
NOT_ASKED = {"tracediff_version", "tracediff_debug"}
MARK = "-- next --"


def library(platform):
    path = os.path.join(CROSSED, platform, LIBRARY[platform.split("-")[0]])
    if not os.path.exists(path):
        raise unittest.SkipTest(f"no library for {platform}: run `make platforms`")
    return path


def shell(platform):
    path = os.path.join(SHELLS, platform, "sqlite3")
    if not os.path.exists(path):
        raise unittest.SkipTest(f"no SQLite for {platform}: run `make platforms`")
    return path


def answers(platform, extension, queries, folder=ROOT, **environment):
    """The shell's output on a platform for each query, and the errors with the lines of their queries."""
    script = "".join([f".load '{extension}'\n.mode quote\n",
                      *(f"{query}\n;\n.print '{MARK}'\n" for query in queries)])
    done = subprocess.run([shell(platform), "-batch", ":memory:"], input=script.encode(), capture_output=True,
                          cwd=folder, check=False, timeout=3600,
                          env={**os.environ, "TRACEDIFF_DECODER": "zlib", **environment})
    printed = done.stdout.replace(b"\r\n", b"\n").decode().split(f"{MARK}\n")
    assert len(printed) == len(queries) + 1, (platform, done.returncode, done.stdout[-500:], done.stderr[-2000:])
    errors = re.findall(r"(?m)^\S.* near line (\d+): (.*)$", done.stderr.replace(b"\r\n", b"\n").decode())
    return printed[:-1], errors


def functions():
    """The table functions, with their required arguments."""
    found = {}
    for name, kind, argument, required in connect().execute(
            "SELECT function, kind, name, required FROM tracediff_columns"):
        found.setdefault(name, [])
        if kind == "argument" and required:
            found[name].append(argument)
    return {name: arguments for name, arguments in found.items() if name not in NOT_ASKED}


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def of_traces(traces, pairs):
    """Every table function for each trace, and for each pair."""
    for name, required in functions().items():
        if required == ["snapshot"]:
            yield f"SELECT * FROM {name}('examples/memory/training_128.pickle.gz')"
        elif required == ["trace"]:
            yield from (f"SELECT * FROM {name}({quoted(trace)})" for trace in traces)
        elif required == ["control", "test"] and name != "trace_diff_report":
            yield from (f"SELECT * FROM {name}({quoted(control)}, {quoted(test)})" for control, test in pairs)


def of_examples():
    """The examples of the help."""
    pages = connect().execute("SELECT h.name, t.text FROM tracediff_help h, tracediff_help(h.name) t")
    for name, page in pages.fetchall():
        sql = page.split("\nExample, in the directory of tracediff:\n")[-1]
        if name not in NOT_ASKED and "writefile" not in sql and sql != page:
            yield sql.rstrip().rstrip(";")


class Rows:
    """The rows of one platform."""
    platform = None

    def compare(self, queries, folder=ROOT):
        queries = list(queries)
        own = library(self.platform)
        expected, expected_errors = answers("linux-x86_64", EXTENSION, queries, folder)
        found, errors = answers(self.platform, self.as_named_there(own), queries, folder)
        for query, ours, theirs in zip(queries, expected, found):
            if ours != theirs:
                with self.subTest(query):
                    self.assertEqual(theirs, ours)
        self.assertEqual(errors, expected_errors)

    def as_named_there(self, path):
        return path

    @slow
    def test_examples_of_the_help(self):
        self.compare(of_examples())

    @slow
    def test_every_function_of_examples(self):
        traces = ["examples/gpu/test", "examples/cpu/test", "examples/recorded", "examples/serving",
                  "examples/counters",
                  "examples/gpu/test/*rank0*", "tests/data/tiny/control", "tests/data/nsys", "tests/data/rocpd"]
        self.compare(of_traces(traces, [("examples/gpu/control", "examples/gpu/test"),
                                        ("examples/cpu/control", "examples/cpu/test")]))

    @slow
    def test_files_of_the_corpus(self):
        """Files of the corpus give the same rows as checksums, and hostile ones the same errors."""
        root = corpus()
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(root, os.path.join(folder, "corpus"))
            files = sorted(os.path.relpath(os.path.join(place, name), root) for place, _, names in os.walk(root)
                           for name in names)
            files = [f"corpus/{name}" for name in files if name.endswith(TAILS) and self.may_be_named(name)]
            self.assertGreater(len(files), 200)
            self.compare((f"SELECT hex(sha3_query({quoted(query)}))" for file in files
                          for query in (f"SELECT * FROM {name}({quoted(file)})" for name in READERS)), folder)

    @staticmethod
    def may_be_named(name):
        return True


# Queries that read most of a file.
READERS = ("trace_files", "trace_metadata", "trace_events", "trace_step_time", "trace_ops", "memory_events",
           "memory_peak")
TAILS = (".json", ".gz", ".sqlite", ".db", ".pickle")


class Linux(Rows, unittest.TestCase):
    platform = "linux-x86_64"


class Aarch64(Rows, unittest.TestCase):
    platform = "linux-aarch64"


class Musl(Rows, unittest.TestCase):
    platform = "musl-x86_64"


class Windows(Rows, unittest.TestCase):
    platform = "windows-x86_64"

    @staticmethod
    def may_be_named(name):
        return not set(name) & set('*?"<>|:\\')

    def test_paths(self):
        """Paths work with backslashes, drives, names in any case, more than 260 characters, and characters beyond
        ASCII.
        """
        with tempfile.TemporaryDirectory() as folder:
            deep = os.path.join(folder, *["a-directory-with-a-name-that-is-rather-long"] * 8)
            os.makedirs(deep)
            for path in (os.path.join(folder, "näme-✓.json"), os.path.join(deep, "x.json")):
                write(path, document(event("op", 0, 1)))
            shutil.copy(os.path.join(DATA, "rocpd", "rocpd_v3.db"), os.path.join(deep, "x.db"))
            drive = "Z:" + folder.replace("/", "\\")
            below = drive + deep[len(folder):].replace("/", "\\")
            cases = [(path, [found]) for path, found in (
                ("näme-✓.json", "näme-✓.json"), ("n?me-?.json", "näme-✓.json"), ("N?ME*.JSON", "näme-✓.json"),
                (".\\näme-✓.json", ".\\näme-✓.json"), ("./n*", "./näme-✓.json"), (".\\n*", ".\\näme-✓.json"),
                (drive, f"{drive}\\näme-✓.json"), (f"{drive}\\", f"{drive}\\näme-✓.json"),
                (f"Z:{folder}", f"Z:{folder}/näme-✓.json"), (f"\\\\?\\{drive}", f"\\\\?\\{drive}\\näme-✓.json"),
                (f"{below}\\x.json", f"{below}\\x.json"), (f"{below}\\*.json", f"{below}\\x.json"))]
            cases.append((below, [f"{below}\\x.db", f"{below}\\x.json"]))
            printed, errors = answers(self.platform, "Z:" + library(self.platform),
                                      [f"SELECT file FROM trace_files({quoted(path)}) ORDER BY file"
                                       for path, _ in cases], folder)
            self.assertEqual(errors, [])
            for (path, found), rows in zip(cases, printed):
                with self.subTest(path):
                    self.assertEqual(rows.splitlines(), [quoted(name) for name in found])

    def test_roots(self):
        """TRACEDIFF_ROOTS (roots.h) works with backslashes, drives and names in any case."""
        with tempfile.TemporaryDirectory() as folder:
            for path in ("root/a/x.json", "root2/x.json", "other/x.json", "outside/x.json"):
                os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
                write(os.path.join(folder, path), document(event("op", 0, 1)))
            os.symlink("../outside", os.path.join(folder, "root", "link"))
            drive = "Z:" + folder.replace("/", "\\")
            below = ["root\\a", "root/a/x.json", "ROOT\\A", "root\\a\\..\\a", f"{drive}\\root\\a", f"Z:{folder}/root/a",
                     f"\\\\?\\{drive}\\root\\a", "root\\*\\x.json", "other"]
            outside = ["outside", "root2", "root\\..\\outside", "root/none/../../outside", f"{drive}\\outside\\x.json",
                       f"\\\\?\\{drive}\\outside", "outside\\none", ".", "C:\\", "C:\\windows\\*", "root\\link\\x.json",
                       "root\\link", "//localhost/c$", "o*\\x.json", "Z:/none", "\\\\.\\Z:\\etc"]
            printed, errors = answers(self.platform, "Z:" + library(self.platform),
                                      [f"SELECT count(*) FROM trace_files({quoted(path)})" for path in below + outside],
                                      folder, TRACEDIFF_ROOTS=f"root;{drive}\\other")
            self.assertEqual(printed, ["1\n"] * len(below) + [""] * len(outside), errors)
            self.assertEqual(len(errors), len(outside))
            for path, (_, error) in zip(outside, errors):
                self.assertRegex(error, "Permission denied", path)


class MachO:
    """The tested parts of a macOS library: its commands and its exported names."""

    def __init__(self, data):
        self.data, self.exported, self.needed = data, set(), []
        magic, self.processor, _, self.kind, commands = struct.unpack_from("<5I", data)
        assert magic == 0xfeedfacf, magic
        self.minimum, self.signed, at = None, False, 32
        for _ in range(commands):
            command, size = struct.unpack_from("<2I", data, at)
            fields = struct.unpack_from(f"<{size // 4 - 2}I", data, at + 8)
            if command == 0xc:  # LC_LOAD_DYLIB
                self.needed.append(data[at + fields[0]:at + size].rstrip(b"\0").decode())
            elif command == 0xd:  # LC_ID_DYLIB
                self.name = data[at + fields[0]:at + size].rstrip(b"\0").decode()
            elif command == 0x32 and fields[0] == 1:  # LC_BUILD_VERSION of macOS
                self.minimum = (fields[1] >> 16, fields[1] >> 8 & 255)
            elif command == 0x1d:  # LC_CODE_SIGNATURE
                self.signed = True
            elif command == 0x80000022:  # LC_DYLD_INFO_ONLY
                self.trie = fields[8]
                self.read_exports(self.trie, b"")
            at += size

    def number(self, at):
        value = shift = 0
        while True:
            byte = self.data[at]
            value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
            if byte < 128:
                return value, at

    def read_exports(self, at, prefix):
        size, at = self.number(at)
        if size:
            self.exported.add(prefix.decode().removeprefix("_"))
        at += size
        count, at = self.data[at], at + 1
        for _ in range(count):
            end = self.data.index(b"\0", at)
            label = self.data[at:end]
            child, at = self.number(end + 1)
            self.read_exports(self.trie + child, prefix + label)


class Built(unittest.TestCase):
    """The libraries export the entry points, and need only what every such system has."""

    @staticmethod
    def said(*command):
        return subprocess.run(command, capture_output=True, text=True, check=True,
                              env={**os.environ, "LC_ALL": "C"}).stdout

    def test_macos(self):
        for platform, processor in (("macos-arm64", 0x100000c), ("macos-x86_64", 0x1000007)):
            with self.subTest(platform), open(library(platform), "rb") as file:
                found = MachO(file.read())
                self.assertEqual((found.processor, found.kind), (processor, 6))
                of_the_linker = {"_mh_dylib_header", "__dso_handle"}
                self.assertEqual(found.exported - of_the_linker, ENTRIES)
                self.assertEqual((found.name, found.needed), ("@rpath/tracediff.dylib", ["/usr/lib/libSystem.B.dylib"]))
                self.assertEqual(found.minimum, (13, 0))
                self.assertTrue(found.signed or processor != 0x100000c)

    def test_windows(self):
        said = self.said("objdump", "-p", library("windows-x86_64"))
        names = re.findall(r"(?m)^\s+\[ *\d+\](?: \+base\[ *\d+\] +[0-9a-f]+)? +(\w+)$",
                           said.split("[Ordinal/Name")[-1])
        self.assertEqual(set(names), ENTRIES)
        for name in re.findall(r"DLL Name: (.*)", said):
            self.assertRegex(name, r"^(KERNEL32\.dll|api-ms-win-crt-[a-z]+-l1-1-0\.dll)$")

    def test_linux(self):
        for platform in ("linux-x86_64", "linux-aarch64", "musl-x86_64", "musl-aarch64"):
            with self.subTest(platform):
                path = library(platform)
                symbols = self.said("readelf", "-W", "--dyn-syms", path)
                self.assertEqual(set(re.findall(r"(?m) GLOBAL +(?:DEFAULT|PROTECTED) +\d+ (\w+)$", symbols)), ENTRIES)
                versions = {tuple(map(int, number.split("."))) for number in re.findall(r"GLIBC_([\d.]+)", symbols)}
                self.assertLessEqual(max(versions, default=(0,)), (2, 17))
                needed = set(re.findall(r"NEEDED.*\[(.*)\]", self.said("readelf", "-d", path)))
                self.assertLessEqual(needed, {"libc.so"} if platform.startswith("musl") else
                                     {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2"})
