"""trace_short_name and trace_stable_name follow the rules of ext/naming/short_name.h, and equal HTA's own short names
wherever its grammar loses nothing (defect D22).
"""
import collections
import csv
import os
import random
import re
import time
import unittest
from operator import itemgetter

import oracle_names
from made import InFolder, document, event, step, write
from support import connect, corpus, found_below, golden, series

SLACK = float(os.environ.get("SLACK") or 1)
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
    """HTA's shorten_name, implemented from its description."""
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
        "at::native::(anonymous"
        " namespace)::k<a::(anonymous namespace)::X>(int)": "at::native::(anonymous namespace)::k",
        "operator()(int)": "operator()", "operator<(int)": "operator<", "X::operator->(int)": "X::operator->",
        "void f<&X::operator()>(int)": "f", "void f<(a)->b>(int)": "f",
        "myoperator<int>(x)": "myoperator", "bool operator< <int>(X, Y)": "operator<",
        "bool operator<< <int>(X)::{lambda()#1}::x(int)": "operator<<::{lambda()#1}::x".replace("()", ""),
        # 7
        "auto f(int) -> decltype(x)": "f", "auto ns::f<int>(int) const -> std::vector<int>": "ns::f",
        "auto X::operator()(int) const -> X*": "X::operator()", "auto X::operator->() -> X*": "X::operator->",
        "auto f(T) -> decltype(t + 1) [with T = int]": "f",
        # 8
        "void X::f() &&": "X::f", "void X::f() const &": "X::f", "X::f(int) const volatile": "X::f",
        "void f(int) noexcept(true)": "f", "void f(T) [with T = float]": "f",
        "void f(T, U) [with T = std::pair<int, int>; U = int [3]]": "f",
        "f(int)::{lambda(int)#1}::operator()(int) &&::{lambda()#2}": "f::{lambda#1}::operator()::{lambda#2}",
        "f()::{lambda(int)#1}::operator()(int) const": "f::{lambda#1}::operator()",
        "void cub::Device(int) const": "cub::Device", "void foo<a>(b) [clone .x]": "foo",
        "f(int) const [clone .a] [clone .b]": "f", "f(int) ": "f",
        "f(int)::{lambda(int)#1}::operator()(int) const::{lambda()#2}": "f::{lambda#1}::operator()::{lambda#2}",
        # 9
        "unsigned long f(int)": "f", "void ns::Foo::operator float() const": "ns::Foo::operator float",
        "X::operator unsigned long() const [clone .cold]": "X::operator unsigned long",
        "X::operator T const&() const": "X::operator T const&", "X::operator T*()": "X::operator T*",
        "X::operator c10::complex<float>() const": "X::operator c10::complex",
        "X::operator std::function<void (int)>()": "X::operator std::function",
        "operator delete(void*)": "operator delete", "void* operator new[](unsigned long)": "operator new[]",
        "operator delete[](void*, unsigned long)": "operator delete[]",
        "operator co_await(X<int>)": "operator co_await",
        'X operator"" _kg(long double)': 'operator"" _kg', 'X operator""_kg(long double)': 'operator""_kg',
        "bool operator&&(X, Y)": "operator&&", "void operator_kernel<int>(x)": "operator_kernel",
        "void X::{unnamed type#1}::f(int)": "X::{unnamed type#1}::f", "void f\0g(int)": "f\0g",
        # 10
        "(int)": None, "()": None, "x (y": "x",
    }
    STABLE = {
        "f(0x12) at 0x7f3aB9g": "f(0x12)g", "a.py(1743): f": "a.py: f", "a(b.py(1): c(2): d": "a(b.py: c: d",
        "ProfilerStep#12": "ProfilerStep", "ProfilerStep #3": "ProfilerStep", "ProfilerStep#": None,
        "ProfilerStep#1a": None, "aten::mm": None, "f() : x": None, "": None, " at 0x": "",
        "ProfilerStep#1 at 0x2": "ProfilerStep",
        # 4
        "aten::add, op_id = 12, seq = 5": "aten::add", "f, trace_id = 1, g": "f", "f, seq=1": None, "f,seq = 1": None,
        # 5
        "triton_poi_fused_1_2": "triton_poi_fused_1", "graph_12_cpp_fused_3": "graph_12_cpp_fused",
        "graph__cpp_fused_3": None, "graph_1cpp_fused_3": None, "triton__fused_3": None, "triton_Poi_fused_3": None,
        "triton_poi_fused_": None, "triton_poi_fused3": None, "xtriton_poi_fused_3": None, "triton_poi_fused_3x": None,
        # 6
        f"## Call CompiledFxGraph f{'a2' * 25}z ##": "## Call CompiledFxGraph ##",
        f"## Call CompiledFxGraph f{'a2' * 25} ##": None, f"## Call CompiledFxGraph f{'a1' * 25}z ##": None,
        # 7
        "Torch-Compiled Region: 12/3": "Torch-Compiled Region: 12", "Torch-Compiled Region: /3": None,
        "Torch-Compiled Region: 1/": None, "Torch-Compiled Region: 1/2_": None, "Torch-Compiled Region: 1/2_3_4": None,
        # 8
        f"/x/ab/c{'a2' * 25}.py(1): f": "inductor.py: f", f"/ab/c{'a2' * 25}z.py(1): f": "inductor.py: f",
        f"/x/ab/c{'a2' * 25}zz.py(1): f": f"/x/ab/c{'a2' * 25}zz.py: f", f"ab/c{'a2' * 25}.py: f": None,
        f"/abc/c{'a2' * 25}.py: f": None, f"a.py: /x/ab/c{'a2' * 25}.py: f": None,
        f"C:\\x\\ab\\c{'a2' * 25}.py(1): f": "inductor.py: f",
        # 9
        "a of pybind11_builtins.pybind11_detail_function_record_v1_x object>": "a>",
        "a of pybind11_builtins.pybind11_detail_function_record_v1-x object>": None,
        # 10
        "step[EXTEND]": "step: prefill", "step[Q_1]": "step: q_1", "step[decode]": None, "step[DECODE ]": None,
        "step[DECODE bs=1": None, "step[DECODE bs=]": None, " step[DECODE]": None,
        "dummy_prefill[bs=1 tok=1]": "step: idle",
        "decode[bs=1 tok=2 p=0]": "step: decode", "prefill[bs=1 tok=2 p=3]": "step: prefill",
        "decode[tok=1 bs=1]": None,
        "execute_context_1(2_3)_generation_00(0)": "step: prefill", "execute_context_1(2)_generation_1": None,
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

    PIECES = ["<", ">", "(", ")", " ", "::", "->", "operator", "const", " const", " &&", " [clone .x]", " [with T = x]",
              "a", "\N{LATIN SMALL LETTER E WITH ACUTE}", ": ", "(anonymous namespace)", "(12)", " at 0x1", "f<int>",
              "#",
              "{", "}", ",", "\0", "(1): ", "ProfilerStep#", "1", ", seq = ", ", sizes = ", "triton_poi_fused", "_2",
              "graph_3_", "cpp_fused", "## Call CompiledFxGraph f", "a2z" * 17, " ##", "Torch-Compiled Region: ", "/4",
              "/ab/c", ".py(5): ", ".py: ", " of pybind11_builtins.pybind11_detail_function_record_v1", " object",
              "step[", "EXTEND", "DECODE", " bs=6", "]", "decode[bs=7 tok=8", "dummy_", " p=9", " ctx=[1, 2]...+3",
              "execute_context_0(0)_generation_", "execute_diffusion_1_2x", "[Executor] _forward_step",
              ": 3 ctx reqs, ",
              "0 gen reqs"]

    def stable(self, name):
        return self.db.execute("SELECT trace_stable_name(?)", (name,)).fetchone()[0]

    def test_never_empty_and_never_longer(self):
        rng = random.Random(1)
        idempotent, count = 0, series(7_000, 20_000)
        for _ in range(count):
            name = "".join(rng.choice(self.PIECES) for _ in range(rng.randrange(1, 9)))
            short, stable = self.short(name), self.stable(name)
            self.assertEqual(stable, oracle_names.stable_name(name), name)
            self.assertTrue(short or not stable, name)
            self.assertLessEqual(len(short.encode()), len(name.encode()), name)
            self.assertLessEqual(len(stable.encode()), len(name.encode()) + (name == "step[EXTEND]"), name)
            # the result of one rule can match another rule, or the same one again
            idempotent += self.stable(stable) == stable
        self.assertGreater(idempotent, 0.95 * count)

    STEPS = ["execute_context_1(888_788544)_generation_0(0)", "execute_context_2(6144)_generation_3(3)",
             "execute_64_context_0(sq0sk0sqsq0sqsk0)_generation_64(sq64sk131072sqsq64sqsk131072)",
             "execute_new_2_cached_30", "step[EXTEND bs=2 toks=14721]", "step[DRAFT_EXTEND_V2]",
             "step[X_1 a=[1, 2]...+3]",
             "prefill[bs=6 tok=17408 ctx=[4096, 4096]...+3]", "decode[bs=117/128 tok=384 p=2 d=126]",
             "eager_decode[bs=1 tok=1]", "dummy_prefill[bs=1 tok=1 d=1]", "execute_diffusion_1_1024x768",
             "[Executor] _forward_step 7: 3 ctx reqs, 12 ctx tokens, 5 gen reqs",
             "[Executor] _forward_step: 0 ctx reqs, 0 gen reqs"]

    def test_names_of_steps(self):
        """Each form of a step's name is recognised, and near misses are not: a few changed bytes, or pieces of two
        forms.
        """
        rng, phases, count = random.Random(4), collections.Counter(), series(7_000, 20_000)
        for _ in range(count):
            name, other = rng.choice(self.STEPS), rng.choice(self.STEPS)
            for _ in range(rng.randrange(3)):
                at = rng.randrange(len(name))
                name = name[:at] + rng.choice(("", "0", "1", "12", "_", " ", "[", "]", "=", "p=1", "E", "x")) + \
                    name[at + rng.randrange(3):]
            if rng.randrange(4) == 0:
                at = rng.randrange(len(name))
                name = name[:at] + other[at:]
            phase = oracle_names.step_phase(name)
            if phase is not None:
                self.assertEqual(self.stable(name), f"step: {phase}", name)
                self.assertEqual(self.stable(f"step: {phase}"), f"step: {phase}")
            self.assertEqual(self.stable(name), oracle_names.stable_name(name))
            phases[phase] += 1
        self.assertLess({None, "prefill", "decode", "mixed", "idle", "draft", "diffusion"}, set(phases))
        self.assertGreater(phases[None], count // 4)

    def test_stable_names_of_real_names_are_stable(self):
        for name in [*self.STABLE, *map(itemgetter("name"), self.golden("stable_names"))]:
            if not re.match(r"triton_poi_fused_1_2", name):  # two numbers at the end: one is removed each time
                self.assertEqual(self.stable(self.stable(name)), self.stable(name))

    def test_any_bytes(self):
        """Bytes that are not UTF-8 are names, too, and names made from text are text."""
        rng = random.Random(2)
        pieces = [piece.encode() for piece in self.PIECES] + [bytes([byte]) for byte in range(128, 256, 5)]
        self.db.text_factory = bytes
        for _ in range(10_000):
            name = b"".join(rng.choice(pieces) for _ in range(rng.randrange(9)))
            names = self.db.execute("SELECT trace_short_name(t), trace_stable_name(t), trace_kernel_type(t)"
                                    " FROM (SELECT CAST(? AS TEXT) AS t)", (name,)).fetchone()
            for made in names[:2]:
                self.assertLessEqual(len(made), len(name) + (name == b"step[EXTEND]"), name)
                if self.is_text(name):
                    self.assertTrue(self.is_text(made), name)

    @staticmethod
    def is_text(name):
        try:
            return name.decode() is not None
        except UnicodeDecodeError:
            return False

    def golden(self, table):
        with open(golden("serving", f"{table}.csv"), newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def test_golden_stable_names(self):
        for row in self.golden("stable_names"):
            self.assertEqual(self.stable(row["name"]), row["stable"])

    def test_golden_phases(self):
        for row in self.golden("parse"):
            expected = f"step: {row['phase']}" if row["phase"] else row["name"]
            self.assertEqual(self.stable(row["name"]), expected)
            self.assertEqual(oracle_names.step_phase(row["name"]), row["phase"] or None)

    def test_long_names_take_time_in_proportion(self):
        """Time is linear in the name's length: sixteen times the bytes take about sixteen times the time, not 256
        times.
        """
        units = ("f<", "<>", "x>(", " const", " &", "[clone ", " [with ]", " operator", "operator<", "{ ", ": ", "(1",
                 "ep::internode", "ep1", "_all", "warp_", "ccl", "a", ", seq", " of pybind11_builtins", " at 0x",
                 "/ab/c",
                 ".py", "triton_a", "_1", "step[A b=", " a=[", "(anonymous namespace)", "->", ")->")
        query = "SELECT length(trace_short_name(?1)), length(trace_stable_name(?1)), trace_kernel_type(?1)"

        def seconds(name):
            began = time.process_time()
            self.db.execute(query, (name,)).fetchone()
            return time.process_time() - began
        every, sizes = series(3, 1), series((1 << 12, 1 << 16), (1 << 14, 1 << 18))
        for at, start in enumerate(("", "f(", "step[A a=1")):
            for unit in units[at % every::every]:
                short, long = (start + unit * (size // len(unit)) for size in sizes)
                least = min(seconds(short) for _ in range(3))
                self.assertLess(seconds(long), 16 * 5 * least + 0.05 * SLACK, (start, unit))
        for unit in ("f<x>(y) ", "_all_reduce"):
            self.db.execute(query, (unit * ((series(4, 16) << 20) // len(unit)),)).fetchone()

    def test_python_files_are_never_merged(self):
        names = [f"{folder}/{file}.py({line}): {function}" for folder in "ab" for file in ("x", "x(1)", "x<y>")
                 for line in (1, 22) for function in ("f", "<lambda>", "g(h)")]
        self.assertEqual(len({self.short(name) for name in names}), len(names) // 2)


class Goldens(unittest.TestCase):
    """The transcription, applied to our full names, gives HTA's short-name output, and our short names equal HTA's
    except for D22.
    """

    PAIRS = {"pair_trace_diff": ("hta/trace_diff/control", "hta/trace_diff/test", {}),
             "pair_trace_compare": ("hta/trace_compare/base", "hta/trace_compare/test", {}),
             "pair_filter_rank0_vs_rank1": ("hta/trace_filter", "hta/trace_filter",
                                            {"control_rank": 0, "test_rank": 1}),
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
            for path in found_below(corpus(folder), "**", "*.gz"):
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
        self.assertEqual(self.rows(diff.format("NULL")), self.rows(diff.format(2)))
        for same in ("'1'", "1.0"):
            self.assertEqual(self.rows(diff.format(same)), self.rows(diff.format(1)))
        for wrong in ("3", "-1", "'x'", "1.5", "4294967297"):
            self.assert_error("trace_diff: use_short_name must be 0 (the full name), 1 (the short name) or 2 (the"
                              f" stable name), not {wrong}", diff.format(wrong))
