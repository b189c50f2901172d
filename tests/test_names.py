"""trace_short_name and trace_stable_name: the rules of ext/trace/short_name.h, and
HTA's own short names wherever its grammar loses nothing (defect D22).
"""
import csv
import glob
import os
import random
import re
import unittest

from made import InFolder, document, event, step, write
from support import connect, corpus, golden

D22 = {
    "empty": lambda name, hta: hta == "",
    "## ... ##": lambda name, hta: name.startswith("## ") and name.endswith(" ##"),
    "(anonymous namespace) torn": lambda name, hta: "(anonymous namespace)" in name,
    "const or [clone ...] chosen": lambda name, hta: hta == "const" or hta.endswith("]"),
    "operator torn": lambda name, hta: "operator" in name,
    "Python frame": lambda name, hta: re.search(r"\(\d+\): ", name) or name.startswith("<"),
    "prefix lost": lambda name, hta: re.search(r"[^:]: ", name),
}


def hta_short_name(name):
    """HTA's shorten_name, from its description."""
    if re.match(r"(hip)?Memcpy|(hip)?Memset|dma", name) or ("<" not in name and "(" not in name):
        return name
    kept = []
    for character in name.replace("->", ""):
        if character in ">)":
            opening = "<" if character == ">" else "("
            while kept and kept[-1] != opening:
                kept.pop()
            if kept:
                kept.pop()
        else:
            kept.append(character)
    return "".join(kept).split(" ")[-1]


class Names(unittest.TestCase):
    SHORT = {
        # rule 1                                           2
        "Memcpy HtoD (Pinned -> Device)": None, "dma <x>": None, "aten::add": None, "void f": None,
        # 3                                                4
        "## all2all (x) wait ##": None, "a.py(12): f<x>": "a.py: f<x>", "<forward op>": None,
        "<built-in method run of X object at 0x7f3a>": "<built-in method run of X object>",
        # 5
        "autograd::engine::evaluate_function: AddmmBackward0": None,
        "evaluate: f<x>(int)": "evaluate: f",
        # 6
        "void at::native::f<4, X<float> >(int)": "at::native::f",
        "std::enable_if<(x>3), int>::type f(int)": "f",
        "void (anonymous namespace)::k<int>(int)": "(anonymous namespace)::k",
        "at::native::(anonymous namespace)::k<a::(anonymous namespace)::X>(int)": "at::native::(anonymous namespace)::k",
        "operator()(int)": "operator()", "operator<(int)": "operator<", "X::operator->(int)": "X::operator->",
        "void f<&X::operator()>(int)": "f", "void f<(a)->b>(int)": "f",
        # 7
        "void cub::Device(int) const": "cub::Device", "void foo<a>(b) [clone .x]": "foo",
        "f(int) const [clone .a] [clone .b]": "f", "f(int) ": "f",
        "f(int)::{lambda(int)#1}::operator()(int) const::{lambda()#2}": "f::{lambda#1}::operator()::{lambda#2}",
        # 8
        "unsigned long f(int)": "f",
        # 9
        "(int)": None, "()": None, "x (y": "x",
    }
    STABLE = {
        "f(0x12) at 0x7f3aB9g": "f(0x12)g", "a.py(1743): f": "a.py: f", "a(b.py(1): c(2): d": "a(b.py: c: d",
        "ProfilerStep#12": "ProfilerStep", "ProfilerStep #3": "ProfilerStep", "ProfilerStep#": None,
        "ProfilerStep#1a": None, "aten::mm": None, "f() : x": None, "": None, " at 0x": "",
    }

    def setUp(self):
        self.db = connect()
        self.addCleanup(self.db.close)

    def short(self, name):
        return self.db.execute("SELECT trace_short_name(?)", (name,)).fetchone()[0]

    def test_short_names(self):
        for name, expected in self.SHORT.items():
            self.assertEqual(self.short(name), name if expected is None else expected)

    def test_stable_names(self):
        for name, expected in self.STABLE.items():
            found, = self.db.execute("SELECT trace_stable_name(?)", (name,)).fetchone()
            self.assertEqual(found, name if expected is None else expected)

    def test_other_values(self):
        self.assertEqual(self.db.execute("SELECT trace_short_name(NULL), trace_stable_name(NULL), trace_short_name(5)")
                         .fetchone(), (None, None, "5"))

    def test_never_empty_and_never_longer(self):
        rng = random.Random(1)
        pieces = ["<", ">", "(", ")", " ", "::", "->", "operator", "const", " const", " [clone .x]", "a", "é", ": ",
                  "(anonymous namespace)", "(12)", " at 0x1", "f<int>", "#", "{", "}", ","]
        for _ in range(20_000):
            name = "".join(rng.choice(pieces) for _ in range(rng.randrange(1, 12)))
            short = self.short(name)
            self.assertTrue(short or not self.db.execute("SELECT trace_stable_name(?)", (name,)).fetchone()[0], name)
            self.assertLessEqual(len(short), len(name), name)

    def test_python_files_are_never_merged(self):
        names = [f"{folder}/{file}.py({line}): {function}" for folder in "ab" for file in ("x", "x(1)", "x<y>")
                 for line in (1, 22) for function in ("f", "<lambda>", "g(h)")]
        self.assertEqual(len({self.short(name) for name in names}), len(names) // 2)


class Goldens(unittest.TestCase):
    """The transcription applied to our full-name result is HTA's short-name output, and our short names
    are HTA's but where D22 says why."""

    PAIRS = {"pair_trace_diff": ("hta/trace_diff/control", "hta/trace_diff/test", {}),
             "pair_trace_compare": ("hta/trace_compare/base", "hta/trace_compare/test", {}),
             "pair_filter_rank0_vs_rank1": ("hta/trace_filter", "hta/trace_filter", {"control_rank": 0, "test_rank": 1}),
             "pair_own_torch": ("own/torch/control", "own/torch/test", {})}
    SIDES = ("control_counts", "control_total_duration", "test_counts", "test_total_duration")

    def result(self, db, pair, use_short_name, device_type):
        control, test, ranks = self.PAIRS[pair]
        return {row[0]: row[1:] for row in db.execute(
            f"SELECT name, {', '.join(self.SIDES)} FROM compare_traces(?, ?, ?, ?, NULL, NULL, ?, ?)",
            (corpus(*control.split("/")), corpus(*test.split("/")), ranks.get("control_rank"), ranks.get("test_rank"),
             device_type, use_short_name))}

    @staticmethod
    def regrouped(rows, rename):
        merged = {}
        for name, values in rows.items():
            before = merged.get(rename(name), (0, 0, 0, 0))
            merged[rename(name)] = tuple(round(a + b, 3) for a, b in zip(before, values))
        return merged

    def test_short_names(self):
        db = connect()
        self.addCleanup(db.close)
        ordinary = 0
        for pair in self.PAIRS:
            for device_type in ("ALL", "CPU", "GPU"):
                full = self.result(db, pair, 0, device_type)
                with open(golden(pair, f"compare_traces.{device_type}.short_name.csv"), newline="",
                          encoding="utf-8") as file:
                    expected = {row["short_name"]: tuple(
                        round(float(row[column]), 3) for column in ("Control_counts", "Control_total_duration",
                                                                    "Test_counts", "Test_total_duration"))
                                for row in csv.DictReader(file)}
                self.assertEqual(self.regrouped(full, hta_short_name), expected, (pair, device_type))
                short = {name: db.execute("SELECT trace_short_name(?)", (name,)).fetchone()[0] for name in full}
                found = self.result(db, pair, 1, device_type)
                self.assertEqual({name: tuple(round(value, 3) for value in row) for name, row in found.items()},
                                 self.regrouped(full, short.get), (pair, device_type))
                for name in full:
                    if short[name] == hta_short_name(name):
                        ordinary += 1
                    else:
                        self.assertTrue(any(case(name, hta_short_name(name)) for case in D22.values()), name)
        self.assertGreater(ordinary, 1000)

    def test_every_name_of_the_corpus(self):
        db = connect()
        self.addCleanup(db.close)
        names = set()
        for folder in ("hta", "kineto", "tracelens", "param", "own"):
            for path in glob.glob(os.path.join(corpus(folder), "**", "*.gz"), recursive=True):
                names |= {name for name, in db.execute("SELECT DISTINCT name FROM trace_ops(?, 'all', 'all')", (path,))}
        different = {}
        for name in names:
            short, = db.execute("SELECT trace_short_name(?)", (name,)).fetchone()
            self.assertTrue(short or not name, name)
            if short != hta_short_name(name):
                case = next((title for title, is_case in D22.items() if is_case(name, hta_short_name(name))), None)
                self.assertIsNotNone(case, (name, short))
                different.setdefault(case, []).append(name)
        self.assertGreater(len(names), 2500)
        self.assertGreater(len(names) - sum(map(len, different.values())), 1500)


class Use(InFolder):
    def test_use_short_name(self):
        names = ["void f<1>(int)", "void f<2>(int)", "g at 0x12", "g at 0x34"]
        write("a.json", document(step(1, 0, 100), *[event(name, 1 + i, 1 + i) for i, name in enumerate(names)]))
        write("b.json", document(step(7, 0, 100), event("void f<3>(int)", 1, 9), event("g at 0x56", 2, 5)))
        diff = "SELECT name, control_counts, test_counts, diff_duration FROM trace_diff('a.json', 'b.json')" \
               " WHERE use_short_name = {} ORDER BY name"
        self.assertEqual(len(self.rows(diff.format(0))), 8)
        self.assertIn(("f", 2, 1, 6.0), self.rows(diff.format(1)))
        self.assertEqual(self.rows(diff.format(2))[:2], [("ProfilerStep", 1, 1, 0.0), ("g", 2, 1, -2.0)])
        self.assertEqual(self.rows(diff.format("NULL")), self.rows(diff.format(0)))
        for wrong in ("3", "-1", "'1'", "1.0", "4294967297"):
            self.assert_error("trace_diff: use_short_name must be 0 (the full name), 1 (the short name) or 2 (the"
                              f" stable name), not {wrong}", diff.format(wrong))
