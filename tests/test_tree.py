"""The tree is what ext/README.md says: layers that do not look up, one exported
symbol an entry point, files that can be read at a sitting.
"""
import glob
import os
import re
import subprocess
import unittest

from support import EXTENSION, ROOT

LAYERS = ["reader", "trace", "snapshot", "database", "analysis", "chart", "sqlite", "functions"]


def sources():
    for folder, _, names in os.walk(os.path.join(ROOT, "ext")):
        for name in names:
            if name.endswith((".c", ".h")):
                yield os.path.join(folder, name)


class Tree(unittest.TestCase):
    def test_layers_do_not_look_up(self):
        for path in sources():
            folder = os.path.basename(os.path.dirname(path))
            if folder not in LAYERS:
                continue
            above = LAYERS[LAYERS.index(folder) + 1:]
            for include in re.findall(r'#include [<"](.*)[>"]', open(path, encoding="utf-8").read()):
                with self.subTest(file=path, include=include):
                    self.assertFalse(any(f"{layer}/" in include for layer in above))
                    self.assertTrue(folder in ("database", "sqlite", "functions") or "sqlite3" not in include)

    def test_no_two_files_have_one_name(self):
        names = [os.path.basename(path) for path in sources()]
        self.assertEqual(sorted(names), sorted(set(names)))

    def test_only_decoders_know_compression(self):
        for header, users in (("<zlib.h>", {"decoder.c"}), ("<isa-l/igzip_lib.h>", {"decoder_isal.c"})):
            self.assertEqual({os.path.basename(path) for path in sources()
                              if header in open(path, encoding="utf-8").read()}, users)

    def test_files_have_at_most_600_lines(self):
        for path in sources():
            self.assertLessEqual(len(open(path, encoding="utf-8").readlines()), 600, path)

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
            writes = re.search(r"\bwrite\s*\(|\bSTD(ERR|OUT)|\bstd(err|out)\b", text)
            self.assertEqual(bool(writes), path.endswith("/trace/progress.c"), path)
            decimals = {call for call in re.findall(r'(\w+)\([^";()]*"[^"\n]*%[-+ #0]*[\d.*]*[aefgAEFG]\b', text)
                        if not call.startswith("sqlite3_")}  # which knows no locale
            self.assertEqual(decimals, {"snprintf"} if path.endswith("/chart/writer.c") else set(), path)

    def test_headers_declare_what_other_files_use(self):
        def read(path):
            return re.sub(r"/\*.*?\*/", "", open(path, encoding="utf-8").read(), flags=re.S)

        texts = {path: read(path) for path in sources()}
        users = {**texts, **{path: read(path) for folder in ("build", "tests/unit", "tests/fuzz", "tests/fault")
                             for path in glob.glob(os.path.join(ROOT, folder, "*.c"))}}
        words = {path: set(re.findall(r"\w+", text)) for path, text in users.items()}
        for path, text in texts.items():
            for name in re.findall(r"^(?!typedef)[a-z][\w ]*[ *](\w+)\([^;{]*\);$", text, re.M) if path.endswith(".h") else ():
                used = len(re.findall(rf"\b{name}\b", text)) > 1  # by a macro or a function of the header
                with self.subTest(path=path, name=name):
                    self.assertTrue(used or any(name in words[user] for user in users if user[:-2] != path[:-2]))
