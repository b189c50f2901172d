"""The tree follows ext/README.md: layers that only use lower ones, one exported symbol per entry point, and files short
enough to read in one sitting.

    OBJECTS    the folder of make's build    (default build)
"""
import glob
import os
import re
import subprocess
import tempfile
import unittest

from support import EXTENSION, ROOT

OBJECTS = os.path.abspath(os.environ.get("OBJECTS") or os.path.join(ROOT, "build"))
# Each may use the ones before it.
LAYERS = ["base", "platform", "platform/posix", "platform/windows", "access", "text", "naming", "source", "reader",
          "file", "linking", "steps", "loading", "perfetto", "paths", "trace", "snapshot", "dumps", "database",
          "profilers", "rocprof", "xplane", "analysis/names", "analysis/sums", "analysis/counts",
          "analysis/parts", "analysis/job", "analysis/health", "analysis/steps", "analysis/causes", "analysis/path",
          "analysis/simulation", "analysis/gains", "analysis/samples", "analysis/hang", "analysis/answer", "chart",
          "compile", "report", "sqlite", "functions/args", "functions/call", "functions/compile", "functions/words",
          "functions/facts", "functions/diagnoses", "functions/answer", "functions/brief", "functions/aggregates",
          "functions/tables", "functions/gains",
          "functions/memory", "functions/hangs", "functions"]
# Headers of any C11 compiler, <strings.h>, which all these systems have, and the libraries.
PORTABLE = {"assert", "ctype", "errno", "float", "inttypes", "limits", "math", "stdarg", "stdatomic", "stdbool",
            "stddef", "stdint", "stdio", "stdlib", "string", "strings", "emmintrin", "arm_neon", "zlib",
            "isa-l/igzip_lib", "sqlite3ext"}
SQLITE = ("database", "profilers", "rocprof", "xplane", "sqlite", "functions", "functions/args", "functions/call",
          "functions/words", "functions/facts", "functions/diagnoses", "functions/answer", "functions/brief",
          "functions/tables", "functions/gains", "functions/memory", "functions/hangs", "functions/compile",
          "functions/aggregates")


def sources():
    for folder, _, names in os.walk(os.path.join(ROOT, "ext")):
        for name in names:
            if name.endswith((".c", ".h")) and "/packages/" not in folder:
                yield os.path.join(folder, name)


def room(path):
    """The folder of a source file in ext/."""
    return os.path.relpath(os.path.dirname(path), os.path.join(ROOT, "ext"))


def uses(objects):
    """The objects whose symbols each object uses, from `objects`: paths by name."""
    listed = subprocess.run(["nm", "-P", "-A", *objects.values()], capture_output=True, text=True, check=True).stdout
    names = {path: name for name, path in objects.items()}
    defined, used = {}, {name: set() for name in objects}
    for line in listed.splitlines():
        path, symbol, kind = line.split()[:3]
        name = names[path.rstrip(":")]
        if kind in "BCDRTV":
            defined[symbol] = name
        elif kind == "U":
            used[name].add(symbol)
    return {name: {defined[symbol] for symbol in symbols if symbol in defined} - {name}
            for name, symbols in used.items()}


def reached(graph, start):
    """Everything reachable from a name; the name itself only through a cycle."""
    found, waiting = set(), [start]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def layer(name):
    """The layer number of an object; entry points and code made from sql/ are above all others."""
    return LAYERS.index(os.path.dirname(name)) if "/" in name else len(LAYERS)


def upward(graph):
    return sorted((name, other) for name, others in graph.items() for other in others if layer(other) > layer(name))


def circles(graph):
    """The sets of objects that use each other."""
    everything = {name: reached(graph, name) for name in graph}
    return sorted({tuple(sorted(other for other in found if name in everything[other]))
                   for name, found in everything.items() if name in found})


class Linking(unittest.TestCase):
    """The objects use only their own layer and lower ones."""

    @classmethod
    def setUpClass(cls):
        names = [os.path.relpath(path, os.path.join(ROOT, "ext"))[:-2]
                 for path in sources() if path.endswith(".c") and room(path) != "platform/windows"]
        cls.objects = {name: os.path.join(OBJECTS, "ext", name + ".o") for name in names}

    def test_layers_do_not_look_up(self):
        self.assertEqual(upward(uses(self.objects)), [])

    def test_circles(self):
        self.assertEqual(circles(uses(self.objects)), [])

    def test_an_arrow_up_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            source, planted = os.path.join(folder, "planted.c"), os.path.join(folder, "planted.o")
            with open(source, "w", encoding="utf-8") as file:
                file.write("extern int all_functions;\nint step_class_name(int);\n"
                           "int memory_zeroed(int i) { return all_functions + step_class_name(i); }\n")
            subprocess.run(["cc", "-c", "-o", planted, source], check=True)
            graph = uses({**self.objects, "base/memory": planted})
        self.assertIn(("base/memory", "functions/registry"), upward(graph))
        self.assertTrue(any({"base/memory", "analysis/parts/parts"} <= set(circle) for circle in circles(graph)))


class Tree(unittest.TestCase):
    def test_layers_do_not_look_up(self):
        for path in sources():
            own = room(path)
            for include in re.findall(r'#include [<"](.*)[>"]', open(path, encoding="utf-8").read()):
                with self.subTest(file=path, include=include):
                    other = os.path.dirname(include)
                    if other in LAYERS and own in LAYERS:
                        self.assertLess(LAYERS.index(other), LAYERS.index(own))
                    self.assertTrue(own in (*SQLITE, ".") or "sqlite3" not in include
                                    or path.endswith("sqlite_memory.c"))

    def test_rooms(self):
        """A folder has at most 25 files and is a layer."""
        for top in ("ext", "sql"):
            for folder, _, names in os.walk(os.path.join(ROOT, top)):
                with self.subTest(folder):
                    self.assertLessEqual(len(names), 25)
        self.assertEqual({room(path) for path in sources()} - {"."}, set(LAYERS))

    def test_no_two_files_have_one_name(self):
        """No two files have one name, except the implementations of the platform, which have the same files."""
        names = [os.path.basename(path) for path in sources() if room(path) != "platform/windows"]
        self.assertEqual(sorted(names), sorted(set(names)))

    def test_a_tag_means_one_thing(self):
        """Each struct, union and enum is defined once, even if no file sees two with the same name."""
        homes = {}
        for path in sources():
            text = re.sub(r"/\*.*?\*/", "", open(path, encoding="utf-8").read(), flags=re.S)
            for tag in re.findall(r"\b(?:struct|union|enum)\s+(\w+)\s*\{", text):
                homes.setdefault(tag, []).append(os.path.relpath(path, ROOT))
        self.assertEqual({tag: found for tag, found in homes.items() if len(found) > 1}, {})

    def test_only_the_platform_knows_the_system(self):
        """Only the platform has system headers and #ifdefs, and each system implements the same functions."""
        systems = re.compile(r"^\s*#.*(_WIN32|_WIN64|__MINGW|_MSC_VER|__APPLE__|__MACH__|__linux|__unix|__GLIBC__"
                             r"|_(GNU|DEFAULT|DARWIN_C|BSD|XOPEN|POSIX)_SOURCE).*", re.M)
        for path in sources():
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if not room(path).startswith("platform"):
                with self.subTest(path):
                    self.assertEqual(set(re.findall(r"#\s*include <(.*)\.h>", text)) - PORTABLE, set())
                    self.assertEqual([found.group() for found in systems.finditer(text)], [])
        files = {system: {name for name in os.listdir(os.path.join(ROOT, "ext", "platform", system))
                          if name.endswith(".c")} for system in ("posix", "windows")}
        self.assertEqual(files["posix"] - files["windows"], set())

    def test_every_path_is_asked_whether_it_may_be_read(self):
        """Only access/ passes a path to the system (roots.h). For SQLite, which opens databases, see readonly.c, and
        diagnosis_facts.c for one in memory.
        """
        asks = re.compile(r"\bsystem_(status|is_link|real_path|open|listing)\(|\b(fopen|sqlite3_open\w*)\(")
        users = {path for path in sources() if path.endswith(".c") and asks.search(open(path, encoding="utf-8").read())}
        self.assertEqual({os.path.relpath(path, os.path.join(ROOT, "ext")) for path in users
                          if not room(path).startswith("platform")}, {"access/roots.c", "database/readonly.c",
                          "functions/diagnoses/diagnosis_facts.c"})

    def test_only_decoders_know_compression(self):
        for header, users in (("<zlib.h>", {"decoder.c"}), ("<isa-l/igzip_lib.h>", {"decoder_isal.c"})):
            self.assertEqual({os.path.basename(path) for path in sources()
                              if header in open(path, encoding="utf-8").read()}, users)

    def test_files_have_at_most_600_lines(self):
        for path in sources():
            self.assertLessEqual(len(open(path, encoding="utf-8").readlines()), 600, path)

    def test_lines_are_as_long_as_editorconfig_says(self):
        """Lines of files that git tracks or could track have the length limit of their kind."""
        with open(os.path.join(ROOT, ".editorconfig"), encoding="utf-8") as file:
            kinds = re.findall(r"\[\*\.\{?([\w,]+)\}?\]\n(?:\w+ = \w+\n)*max_line_length = (\d+)", file.read())
        most = {"." + kind: int(length) for names, length in kinds for kind in names.split(",")}
        self.assertEqual((most[".c"], most[".sql"], most[".py"]), (100, 120, 120))
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True,
                                text=True, check=True).stdout.splitlines()
        for path in listed:
            length = most.get(os.path.splitext(path)[1])
            if length and os.path.exists(os.path.join(ROOT, path)):
                with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                    too_long = [number for number, line in enumerate(file, 1) if len(line.rstrip("\n")) > length]
                with self.subTest(path):
                    self.assertEqual(too_long, [])

    def test_no_comment_was_cut_by_a_formatter(self):
        for path in sources():
            self.assertIsNone(re.search(r"^\*\w.*", open(path, encoding="utf-8").read(), re.M), path)

    def test_functions_have_at_most_80_lines(self):
        for path in sources():
            lines = open(path, encoding="utf-8").read().split("\n")
            for first in (i for i, line in enumerate(lines) if line == "{"):
                end = lines.index("}", first)
                while re.match(r"\w| +\S.*[,)(]$", lines[first - 1]):  # the signature
                    first -= 1
                self.assertLessEqual(end + 1 - first, 80, f"{path}:{first + 1}")

    def test_arguments_of_one_name_take_the_same(self):
        """Arguments of one name take the same values. Declarations, not names, give the values, but users rely on the
        names.
        """
        expected = {"trace": "TRACE", "control": "TRACE", "test": "TRACE", "ranks": "RANKS", "control_rank": "RANKS",
                    "test_rank": "RANKS", "iterations": "ITERATIONS", "control_iteration": "ITERATIONS",
                    "test_iteration": "ITERATIONS", "control_iterations": "ITERATIONS", "steps": "STEPS",
                    "capture": "CAPTURE", "control_capture": "CAPTURE", "test_capture": "CAPTURE"}
        declared = [(path, *found) for path in sources()
                    for found in re.findall(r'"(\w+)",[\s\\]*TAKES_(\w+)', open(path, encoding="utf-8").read())]
        for path in glob.glob(os.path.join(ROOT, "sql", "*", "*.sql")):
            declared += [(path, name, word.split("|")[0].upper()) for name, word in
                         re.findall(r"(?m)^--   :(\w+) +(\S+)", open(path, encoding="utf-8").read())]
        self.assertGreater(len(declared), 200)
        for path, name, kind in declared:
            if name in expected:
                with self.subTest(path, name=name):
                    self.assertEqual(kind.split("_OR_")[0], expected[name])

    def test_exported_symbols(self):
        listed = subprocess.run(["nm", "-D", "--defined-only", EXTENSION], capture_output=True, text=True, check=True)
        names = {line.split()[2] for line in listed.stdout.splitlines()}
        self.assertEqual({name for name in names if not name.startswith(("__asan", "__odr_asan", "__ubsan"))},
                         {"sqlite3_tracediff_init", "sqlite3_tracediff_nofs_init"})

    def test_no_locale_and_no_output(self):
        banned = re.compile(r"\b(strtod|atof|sscanf|printf|fprintf|puts|abort|exit|atexit|setlocale)\s*\(")
        for path in sources():
            text = re.sub(r"/\*.*?\*/", "", open(path, encoding="utf-8").read(), flags=re.S)
            self.assertIsNone(banned.search(text), path)
            writes = re.search(r"\bwrite\s*\(|\bSTD(ERR|OUT)|\bSTD_(ERROR|OUTPUT)_HANDLE|\bstd(err|out)\b", text)
            self.assertEqual(bool(writes), path.endswith("/terminal.c"), path)
            decimals = {call for call in re.findall(r'(\w+)\([^";()]*"[^"\n]*%[-+ #0]*[\d.*]*[aefgAEFG]\b', text)
                        if not call.startswith("sqlite3_") and call != "write_format"}  # which ignore the locale
            self.assertEqual(decimals, {"snprintf"} if path.endswith("/chart/writer.c") else set(), path)

    def test_headers_declare_what_other_files_use(self):
        def read(path):
            return re.sub(r"/\*.*?\*/", "", open(path, encoding="utf-8").read(), flags=re.S)

        texts = {path: read(path) for path in sources()}
        users = {**texts, **{path: read(path) for folder in (OBJECTS, "tests/c/unit", "tests/c/fuzz", "tests/c/fault")
                             for path in glob.glob(os.path.join(ROOT, folder, "*.c"))}}
        words = {path: set(re.findall(r"\w+", text)) for path, text in users.items()}
        for path, text in texts.items():
            for name in re.findall(r"^(?!typedef)[a-z][\w ]*[ *](\w+)\([^;{]*\);$", text,
                                   re.M) if path.endswith(".h") else ():
                used = len(re.findall(rf"\b{name}\b", text)) > 1  # through a macro or a function of the header
                with self.subTest(path=path, name=name):
                    self.assertTrue(used or any(name in words[user] for user in users if user[:-2] != path[:-2]))
