"""FLOPs and bytes (F1 to F7): against oracle_work.py on random operators, by arithmetic, and under changes that must
not matter.
"""
import glob
import itertools
import json
import math
import os
import random
from collections import defaultdict

import oracle
import oracle_work
from made import InFolder, document, event, kernel, launch, step, write
from support import EXAMPLES, corpus, series, slow

CONTROL, TEST = (os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test"))
SHARES = "SELECT file, event, flops, bytes FROM trace_kernel_owners(?, 'all', 'all')"
HALF, FLOAT = "c10::BFloat16", "float"
PARTS = ("control_flops", "test_flops", "control_tflops", "test_tflops", "diff_from_flops", "diff_from_tflops",
         "control_bytes", "test_bytes", "control_gbs", "test_gbs", "diff_from_bytes", "diff_from_gbs")


def operator(name, dims, types=None, concrete=None, at=0, dur=100, **fields):
    args = {"Input Dims": dims}
    if types is not None:
        args["Input type"] = [types] * len(dims) if isinstance(types, str) else types
    if concrete is not None:
        args["Concrete Inputs"] = concrete
    return event(name, at, dur, args=args, **fields)


def alone(*call, kernels=1):
    """A trace of one operator and its kernels."""
    events = [operator(*call)]
    for number in range(kernels):
        events += [launch(10 + number, 1, number + 1), kernel(f"k{number}", 200 + 10 * number, 5, number + 1)]
    return document(*events)


def random_call(rng):
    """(name, dims, types, values) of an operator, mostly in PyTorch's format."""
    kind = rng.choice(("matrices", "linear", "conv", "backward", "attention", "each", "other", "unknown"))
    size = lambda: rng.choice((1, 2, 3, 4, 5, 7, 8, 16))
    types = [rng.choice((HALF, FLOAT, "c10::Half", "double"))] * 16
    values = [""] * 16
    if kind == "matrices":
        name = rng.choice(list(oracle_work.MATRICES))
        m, n, k, b = size(), size(), size(), [size()] if "b" in name[:3] and name != "_bmm" else []
        dims = [b + [m, k], b + [k, n]]
        if "add" in name:
            dims = [rng.choice(([n], [m, n], [])), *dims, [], []]
            types[3:] = ["Scalar"] * 13
    elif kind == "linear":
        k, n = size(), size()
        name, dims = "linear", [[size() for _ in range(rng.randrange(3))] + [k], [n, k], rng.choice(([n], []))]
        types[2] = types[2] if dims[2] else ""
    elif kind in ("conv", "backward"):
        name = rng.choice(list(oracle_work.CONVOLUTIONS)) if kind == "conv" else "convolution_backward"
        names = (oracle_work.CONVOLUTIONS[name] if kind == "conv" else oracle_work.BACKWARD).split()
        spatial = int(name[-2]) if name[-1] == "d" and name[-2].isdigit() else rng.choice((1, 2, 3))
        groups, channels, out = rng.choice((1, 1, 2)), size(), size()
        x = [size(), channels * groups, *(size() + 4 for _ in range(spatial))]
        given = {"x": x, "gradient": [x[0], out * groups, *(size() for _ in range(spatial))],
                 "w": [out * groups, channels, *(rng.choice((1, 2, 3)) for _ in range(spatial))],
                 "bias": rng.choice(([out * groups], []))}
        dims = [given.get(each, []) for each in names]
        lists = {"stride": (1, 2, 3), "padding": (0, 1, 2), "dilation": (1, 2), "output_padding": (0, 1)}
        for place, each in enumerate(names):
            if each in given:
                types[place] = types[place] if dims[place] else ""
            else:
                types[place] = "ScalarList" if each in lists else "Scalar"
            if each in lists:
                count = rng.choice((spatial, spatial, spatial, 1))
                values[place] = json.dumps([rng.choice(lists[each]) for _ in range(count)])
        values = [str(groups) if each == "groups" else rng.choice(("True", "False")) if each == "transposed" else
                  f"[{', '.join(rng.choice(('True', 'False')) for _ in range(3))}]" if each == "output_mask" else value
                  for each, value in zip(names, values)]
    elif kind == "attention":
        name = rng.choice(list(oracle_work.ATTENTION))
        batch, heads, rows, keys, depth = (size() for _ in range(5))
        order = (lambda b, h, s, d: [b, s, h, d]) if name in oracle_work.SEQUENCE_FIRST else (lambda *dims: list(dims))
        q, k = order(batch, heads, rows, depth), order(batch, rng.choice((heads, 1)), keys, depth)
        given = {"q": q, "k": k, "v": [*k[:3], size()], "gradient": [*q[:3], size()],
                 "lengths": rng.choice(([], [], [], [batch + 1]))}
        dims = [given.get(each, []) for each in oracle_work.ATTENTION[name].split()] + [[], []]
        types = [kind if each else "" for each, kind in zip(dims, types)]
    elif kind == "each":
        name = rng.choice(list(oracle_work.OPERANDS))
        shape = [size() for _ in range(rng.randrange(4))]
        dims = [rng.choice((shape, shape, shape[1:], [1] * len(shape), [])) for _ in range(4)]
        types = [rng.choice((HALF, FLOAT, "long", "bool")) if each or rng.random() < .2
                 else rng.choice(("Scalar", "", "double"))
                 for each in dims]
    elif kind == "other":
        shape = [size() for _ in range(rng.randrange(4))]
        name, dims = rng.choice((("copy", [shape, shape, []]), ("fill", [shape, []]), ("zero", [shape]),
                                 ("native_layer_norm", [shape, [], shape[-1:], rng.choice((shape[-1:], [])), []])))
        types = [rng.choice((HALF, FLOAT)) if each else "Scalar" for each in dims]
    else:
        name, dims = rng.choice((("view", [[2, 3], []]), ("mm_", [[2, 3], [3, 2]]), ("sum", [[4]]),
                                 ("Mm", [[2, 3], [3, 4]])))
    if rng.random() < .3:
        name += "_"
    damage = rng.random()
    if damage < .05 and dims:
        rng.choice(dims).append(rng.choice((0, 2, [3], 2 ** 62, -1)))
    elif damage < .1:
        dims = dims[:rng.randrange(len(dims) + 1)]
    elif damage < .13:
        dims = rng.choice(("x", None, [[2], 3], [], {}))
    elif damage < .16:
        types = [rng.choice((*oracle_work.SIZES, "", "Scalar", "c10::Unheard")) for _ in types]
    count = len(dims) if isinstance(dims, list) else 2
    args = {"Input Dims": dims, "Input type": types[:count], "Concrete Inputs": values[:count]}
    if rng.random() < .1:
        args.pop(rng.choice(list(args)))
    space = rng.choice(("aten::",) * 9 + ("torch::",))
    return space + name, args


def random_work(seed):
    """Nested operators, in steps and on threads, with kernels, some of them without a duration."""
    rng, events, correlations = random.Random(seed), [], itertools.count(1)

    def call(at, thread):
        number = next(correlations)
        events.append(launch(at, 1, number, tid=thread))
        for _ in range(rng.choice((0, 1, 1, 1, 2))):
            events.append(kernel(rng.choice("klm"), at + rng.randrange(5), rng.choice((0, 1, 2, 2.5, 7)), number,
                                 rng.choice((7, 20))))
        return at + 2

    def nest(at, depth, thread):
        start = at
        for _ in range(rng.choice((0, 1, 1, 2, 3)) if depth else 4):
            at = nest(at + 1, depth + 1, thread) if depth < 4 and rng.random() < .6 else call(at + 1, thread)
        if depth:
            name, args = random_call(rng)
            cat = rng.choice(("cpu_op",) * 8 + ("Operator", "user_annotation", "python_function"))
            events.append(event(name, start, at + 1 - start, cat=cat, tid=thread, args=args))
        return at + 2

    at = 0
    for number in range(rng.choice((1, 3, 4))):
        start, at = at, nest(at + 1, 0, 1)
        events.append(step(number, start, at - start))
    nest(3, 0, 2)
    return events


class Formulas(InFolder):
    def of(self, *call):
        write("trace.json", alone(*call))
        return self.rows("SELECT flops, bytes FROM trace_kernel_owners('trace.json')")[0]

    def test_by_hand(self):
        conv = [[8, 6, 10, 10], [4, 3, 3, 3], [4], [], [], [], []]
        values = ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "2"]
        heads = [2, 3, 5, 8], [2, 3, 7, 8], [2, 3, 7, 16]
        cases = [
            ("aten::mm", [[2, 3], [3, 5]], FLOAT, None, 60, 4 * (6 + 15 + 10)),
            ("aten::mm", [[2, 3], [3, 5]], HALF, None, 60, 2 * (6 + 15 + 10)),
            ("aten::mm", [[2, 3], [3, 5], [2, 5]], HALF, None, 60, 2 * (6 + 15 + 10)),  # mm.out
            ("aten::mm", [[2, 3], [3, 5]], None, None, 60, None),
            ("aten::mm", [[2, 3], [3, 5]], [FLOAT, "c10::Unheard"], None, 60, None),
            ("aten::mm", [[0, 3], [3, 5]], FLOAT, None, 0, 60),
            ("aten::mm", [[2, 3], [4, 5]], FLOAT, None, None, None),
            ("aten::mm", [[2, 3]], FLOAT, None, None, None),
            ("aten::mm", [[2, 2 ** 62], [2 ** 62, 2]], FLOAT, None, None, None),
            ("aten::mm", [[2 ** 31, 2], [2, 2 ** 30]], "bool", None, None, 2 ** 61 + 2 ** 32 + 2 ** 31),
            ("aten::mm", [[2, 2 ** 64], [2, 2]], FLOAT, None, None, None),
            ("torch::mm", [[2, 3], [3, 5]], FLOAT, None, None, None),
            ("aten::mmm", [[2, 3], [3, 5]], FLOAT, None, None, None),
            ("aten::addmm", [[5], [2, 3], [3, 5], [], []], [FLOAT, FLOAT, FLOAT, "Scalar", "Scalar"], None, 60, 4 * 36),
            ("aten::bmm", [[7, 2, 3], [7, 3, 5]], "double", None, 420, 8 * 7 * 31),
            ("aten::baddbmm_", [[7, 2, 5], [7, 2, 3], [7, 3, 5]], FLOAT, None, 420, 4 * 7 * 41),
            ("aten::linear", [[7, 2, 3], [5, 3], [5]], FLOAT, None, 420, 4 * (42 + 15 + 5 + 70)),
            ("aten::linear", [[3], [5, 3]], FLOAT, None, 30, 4 * (3 + 15 + 5)),
            ("aten::_scaled_mm", [[2, 3], [3, 5]], "c10::Float8_e4m3fn", None, 60, None),
            # 10 + 2 - 3 over 2, and 1: 5 by 5 places
            ("aten::conv2d", conv, FLOAT, values, 2 * 8 * 25 * 4 * 27, 4 * (4800 + 108 + 4 + 8 * 4 * 25)),
            ("aten::conv2d", conv, FLOAT, None, None, None),
            ("aten::conv2d", conv, FLOAT, [*values[:3], "[2]", "[1]", "1", "2"], 2 * 8 * 25 * 4 * 27, 4 * (4800 + 912)),
            ("aten::conv2d", conv, FLOAT, [*values[:3], "[2, 2]", "same", *values[5:]], None, None),
            ("aten::conv1d", [[1, 1, 10], [1, 1, 3], [], [], [], [], []], FLOAT, ["", "", "", "[1]", "[0]", "[3]", "1"],
             2 * 4 * 3, 4 * (10 + 3 + 1 + 4)),
            ("aten::conv_transpose2d", [[1, 4, 5, 5], [4, 2, 3, 3], [], [], [], [], [], []], FLOAT,
             ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "3", "[1, 1]"], 2 * 25 * 72,
             4 * (100 + 72 + 1 + 2 * 3 * 100)),  # (5 - 1) 2 - 2 + 3 - 1 + 1 + 1 = 10
            ("aten::conv_transpose2d", [[1, 4, 5, 5], [4, 2, 3, 3]], FLOAT, None, 2 * 25 * 72, None),
            ("aten::convolution_backward", [[8, 4, 5, 5], *conv[:2]] + [[]] * 8, FLOAT,
             [""] * 7 + ["False", "", "2", "[True, True, False]"], 2 * 2 * 8 * 25 * 108, 4 * (800 + 2 * 4908)),
            ("aten::convolution_backward", [[8, 4, 5, 5], *conv[:2]] + [[]] * 8, FLOAT,
             [""] * 7 + ["False", "", "2", "[False, True, False]"], 2 * 8 * 25 * 108, 4 * (800 + 4908)),
            ("aten::_scaled_dot_product_flash_attention", heads, FLOAT, None, 2 * 6 * 35 * 24,
             4 * (240 + 336 + 672 + 480)),
            ("aten::_flash_attention_forward", [[2, 5, 3, 8], [2, 7, 3, 8], [2, 7, 3, 16]], FLOAT, None,
             2 * 6 * 35 * 24,
             4 * (240 + 336 + 672 + 480)),
            ("aten::_flash_attention_forward", [[10, 3, 8], [14, 3, 8], [14, 3, 8], [3], [3]], FLOAT, None, None, None),
            ("aten::_efficient_attention_forward", [[1, 5, 3, 8]] * 3 + [[], [4]], FLOAT, None, None, None),
            ("aten::_scaled_dot_product_efficient_attention_backward", ([2, 3, 5, 16], *heads), FLOAT, None,
             2 * 6 * 35 * (3 * 8 + 2 * 16), 8 * (240 + 336 + 672 + 480)),
            ("aten::copy_", [[4, 5], [4, 5], []], [FLOAT, HALF, "Scalar"], None, None, 20 * 6),
            ("aten::copy_", [[4, 5], [5], []], [FLOAT, HALF, "Scalar"], None, None, 80 + 10),
            ("aten::fill_", [[4, 5], []], [HALF, "Scalar"], None, None, 40),
            ("aten::zero_", [[4, 5]], [HALF], None, None, 40),
            ("aten::add", [[4, 5], [4, 5], []], [FLOAT, HALF, "Scalar"], None, None, 20 * (4 + 2 + 4)),
            ("aten::add", [[4, 5], [5], []], [FLOAT, FLOAT, "Scalar"], None, None, 4 * (20 + 5 + 20)),
            ("aten::add", [[4, 1], [1, 5], []], [FLOAT, FLOAT, "Scalar"], None, None, 4 * (4 + 5 + 20)),
            ("aten::add", [[4, 5], [3], []], [FLOAT, FLOAT, "Scalar"], None, None, None),
            ("aten::add_", [[4, 5], [5], []], [HALF, FLOAT, "Scalar"], None, None, 40 + 20 + 40),
            ("aten::mul", [[4, 5], []], [HALF, "double"], None, None, 40 + 8 + 40),
            ("aten::mul", [[4, 5], []], [HALF, "Scalar"], None, None, 40 + 40),
            ("aten::eq", [[4, 5], [4, 5]], [FLOAT, FLOAT], None, None, 80 + 80 + 20),
            ("aten::where", [[4, 5], [4, 5], []], ["bool", FLOAT, FLOAT], None, None, 20 + 80 + 4 + 80),
            ("aten::gelu", [[4, 5], []], [FLOAT, ""], None, None, 160),
            ("aten::native_layer_norm", [[4, 5], [], [5], [5], []], [FLOAT, "ScalarList", FLOAT, FLOAT, "Scalar"], None,
             None,
             160 + 40),
            ("aten::cat", [[[4, 5], [4, 5]], []], ["TensorList", "Scalar"], None, None, None),
            ("aten::add", [[[4, 5], [4, 5]], []], ["TensorList", "Scalar"], None, None, None),
            ("aten::mm", [], FLOAT, None, None, None),
            ("aten::mm", "[[2,3],[3,5]", FLOAT, None, None, None),
        ]
        for name, dims, types, concrete, *expected in cases:
            with self.subTest(name, dims=dims):
                self.assertEqual(self.of(name, list(dims) if isinstance(dims, tuple) else dims, types, concrete),
                                 tuple(expected))

    def test_as_the_profiler_computes_them(self):
        """F4.2: FLOPs equal the profiler's, for random shapes in one trace."""
        rng, events, expected = random.Random(7), [], []
        for number in range(series(120, 3000)):
            base = rng.choice(("mm", "addmm", "bmm", "baddbmm", "conv2d"))
            size = lambda: rng.randrange(1, 40)
            m, n, k, b = size(), size(), size(), [size()] if "bmm" in base else []
            dims, values, given = [[m, n]] * ("add" in base) + [b + [m, k], b + [k, n]], [], ()
            if base == "conv2d":
                groups = rng.choice((1, 2, 4))
                dims = [[b + 1 for b in (m, k * groups - 1, size() + 9, size() + 9)],
                        [n * groups, k, rng.randrange(1, 4), rng.randrange(1, 4)], []]
                given = tuple([rng.randrange(low, 3), rng.randrange(low, 3)] for low in (1, 0, 1))
                values = ["", "", "", *(json.dumps(each) for each in given), str(groups)]
                dims, given = dims + [[]] * 4, (*given, groups)
            events += [operator("aten::" + base, dims, FLOAT, values, 100 * number),
                       launch(100 * number + 1, 1, number + 1), kernel("k", 100 * number + 5, 3, number + 1)]
            expected.append(oracle_work.of_the_profiler(base, [each for each in dims if each], *given))
        write("trace.json", document(*events))
        found = [flops for flops, in self.rows("SELECT flops FROM trace_kernel_owners('trace.json') ORDER BY ts")]
        self.assertEqual(found, expected)


class Shares(InFolder):
    def expected(self, path):
        trace = oracle.read_trace(path)
        return sorted((row.file, row.event, *oracle_work_of.shares.get(row.event, (None, None)))
                      for file in trace.files for oracle_work_of in [oracle_work.Work(file)] for row in file.rows
                      if oracle.is_device_work(row) and oracle.is_counted(row))

    def test_random_operators(self):
        known = 0
        for seed in range(series(60, 600)):
            path = write("trace.json", document(*random_work(seed)))
            expected = self.expected(path)
            known += sum(row[2] is not None for row in expected)
            with self.subTest(seed=seed):
                found = sorted(self.rows(SHARES, path))
                self.assertEqual(found, expected)
                self.assertEqual(sorted(self.rows(SHARES.replace("flops", "NULL"), path)),
                                 [(*row[:2], None, row[3]) for row in expected])
        self.assertGreater(known, 200)

    def test_which_operator_owns(self):
        mm, linear = ([[2, 3], [3, 5]], FLOAT), ([[2, 3], [5, 3]], FLOAT)
        write("trace.json", document(
            operator("aten::linear", *linear, at=0, dur=100), launch(1, 1, 1), kernel("stray", 500, 5, 1),
            operator("aten::mm", *mm, at=10, dur=50), launch(11, 1, 2), kernel("gemm", 510, 30, 2),
            launch(13, 1, 3), kernel("reduce", 540, 10, 3),
            event("custom::epilogue", 20, 9), launch(21, 1, 4), kernel("custom", 550, 0, 4),
            operator("aten::zero_", [[5]], FLOAT, at=40, dur=9), launch(41, 1, 5), kernel("fill", 560, 2, 5),
            operator("aten::linear", *linear, at=200, dur=50), launch(201, 1, 6), kernel("own", 570, 3, 6),
            event("custom::outer", 300, 50), launch(301, 1, 7), kernel("none", 580, 3, 7),
            kernel("unlaunched", 590, 1, 9)))
        self.assertEqual(self.rows("SELECT name, flops, bytes FROM trace_kernel_owners('trace.json') ORDER BY ts"),
                         [("stray", None, None), ("gemm", 45, 93), ("reduce", 15, 31), ("custom", 0, 0),
                          ("fill", None, 20),
                          ("own", 60, 124), ("none", None, None), ("unlaunched", None, None)])
        write("trace.json", alone("aten::mm", [[2, 3], [3, 5]], FLOAT, kernels=7))
        self.assertEqual(self.rows("SELECT flops, bytes FROM trace_kernel_owners('trace.json') ORDER BY ts"),
                         [(60 * (i + 1) // 7 - 60 * i // 7, 124 * (i + 1) // 7 - 124 * i // 7) for i in range(7)])
        events = alone("aten::mm", [[2, 3], [3, 5]], FLOAT, kernels=3)["traceEvents"]
        write("trace.json", document(*({**each, "dur": 0} if each["cat"] == "kernel" else each for each in events)))
        self.assertEqual(self.rows("SELECT flops FROM trace_kernel_owners('trace.json') ORDER BY ts"),
                         [(60,), (0,), (0,)])

    def test_durations_that_are_hardly_possible(self):
        events = alone("aten::mm", [[2 ** 20, 2 ** 20], [2 ** 20, 2 ** 20]], "bool", kernels=9)["traceEvents"]
        write("trace.json", document(*({**each, "dur": 9.2e15, "tid": i} if each["cat"] == "kernel" else each
                                       for i, each in enumerate(events)), event("late", 9.2e15, 1)))
        self.assertEqual(self.rows("SELECT sum(flops), min(flops), max(flops) FROM trace_kernel_owners('trace.json')"),
                         [(2 ** 61, 2 ** 61 // 9, 2 ** 61 // 9 + 1)])

    def test_what_must_not_matter(self):
        for seed in range(2000, 2000 + series(10, 100)):
            events, rng = random_work(seed), random.Random(seed)
            path = write("trace.json", document(*events))
            query = ("SELECT ts_ns - (SELECT min(ts_ns) FROM trace_events(:path)), dur, name, stream, flops, bytes"
                     " FROM trace_kernel_owners(:path, 'all', 'all') AS o JOIN trace_events(:path) AS e USING (event)"
                     ).replace("name", "o.name").replace("stream", "o.stream").replace(" dur", " o.dur")
            expected = sorted(map(repr, self.db.execute(query, {"path": path})))
            shuffled = [{**each, "ts": each["ts"] + 1000} for each in events]
            ties = defaultdict(int)  # events that T5 distinguishes only by their place in the file
            for each in events:
                ties[each["ts"], each["dur"], each["pid"], each["tid"]] += 1
            if max(ties.values()) == 1:
                rng.shuffle(shuffled)
            path = write("other.json", document(*shuffled, note=1))
            with self.subTest(seed=seed):
                self.assertEqual(sorted(map(repr, self.db.execute(query, {"path": path}))), expected)

    def test_steps_add_up(self):
        for seed in range(3000, 3000 + series(10, 100)):
            path = write("trace.json", document(*random_work(seed)))
            sums = ("SELECT sum(flops), sum(bytes), count(*) FROM trace_kernel_owners(:t, 'all', 'all')"
                    " WHERE iteration {}")
            for number, in self.rows("SELECT DISTINCT iteration FROM trace_kernel_owners(:t, 'all', 'all')"
                                     " WHERE iteration IS NOT NULL", path):
                self.assertEqual(self.rows(f"SELECT sum(flops), sum(bytes), count(*)"
                                           f" FROM trace_kernel_owners(:t, 'all', {number})",
                                           path), self.rows(sums.format(f"= {number}"), path))

    def test_columns_asked_for_later(self):
        write("trace.json", alone("aten::mm", [[2, 3], [3, 5]], FLOAT))
        self.assertEqual(self.rows("SELECT name FROM trace_kernel_owners('trace.json')"), [("k0",)])
        self.assertEqual(self.rows("SELECT bytes, shapes, flops FROM trace_kernel_owners('trace.json')"),
                         [(124, "[[2,3],[3,5]]", 60)])
        self.assertEqual(self.rows("SELECT name FROM trace_kernel_owners('trace.json') WHERE flops > 50"), [("k0",)])

    @slow
    def test_real_traces(self):
        asked = 0
        for parts in (("param",), ("tracelens", "torch_compile_triton"), ("tracelens", "mi300"),
                      ("hta", "amd_trace", "mi250_minitoy_train_ROCm6_2_kineto.json.gz")):
            place = corpus(*parts)
            for path in [place] if os.path.isfile(place) else glob.glob(os.path.join(place, "*.gz")):
                try:
                    expected = self.expected(path)
                except oracle.NotStrict:
                    continue
                with self.subTest(path):
                    self.assertEqual(sorted(self.rows(SHARES, path)), expected)
                    asked += sum(row[2] is not None for row in expected)
        self.assertGreater(asked, 200)


class Differences(InFolder):
    """F7: rates of two sides."""

    def sides(self, control, test, keys, steps="all"):
        """{keys: [(w, T, kernels known), all kernels] by side, for flops and bytes}"""
        found = defaultdict(lambda: [[[0, 0, 0, 0], [0, 0, 0, 0]] for _ in range(2)])
        counted = []
        columns = ['name' if key == 'kernel' else key for key in keys]
        for side, path in enumerate((control, test)):
            counted.append(self.value("SELECT max(1, count(*)) FROM trace_steps(?)", path))
            for *part, flops, bytes_, dur in self.rows(
                    f"SELECT {', '.join(columns)}, flops, bytes, dur FROM trace_kernel_owners(?, 'all', ?)", path,
                    steps):
                for which, amount in enumerate((flops, bytes_)):
                    sums = found[tuple(part)][which][side]
                    sums[3] += 1
                    if amount is not None:
                        for i, add in enumerate((amount, dur, 1)):
                            sums[i] += add
        return found, counted

    def check(self, control, test, keys):
        sides, counted = self.sides(control, test, keys)
        rows = self.rows(f"SELECT key_json, diff_device_time, {', '.join(PARTS)}"
                         f" FROM trace_diff_by(?, ?, ?, 'all', 'all',"
                         " 'all', 'all', 'ALL', 2)", control, test, ",".join(keys))
        close = lambda got, wanted, scale=0: self.assertAlmostEqual(got, wanted, delta=1e-9 * (1 + abs(wanted) + scale))
        for key_json, diff, *found in rows:
            part = tuple(json.loads(key_json).values())
            for which, unit in ((0, 1e6), (1, 1e3)):
                sums = sides[part][which] if part in sides else [[0, 0, 0, 0]] * 2
                w0, w1, rate0, rate1, more, lower = found[6 * which:6 * which + 6]
                any_known = sums[0][2] + sums[1][2] > 0
                known = [any_known and (sums[side][2] > 0 or sums[side][3] == 0) for side in (0, 1)]
                for side, (w, rate) in enumerate(((w0, rate0), (w1, rate1))):
                    amount, time, count, _ = sums[side]
                    self.assertEqual(w, amount / counted[side] if known[side] else None, (key_json, sums))
                    self.assertEqual(rate is None, not (count and time))
                    if rate is not None:
                        close(rate, amount / time / unit)
                self.assertEqual((more is None, lower is None), (not all(known),) * 2)
                if more is None:
                    continue
                (amount0, time0), (amount1, time1) = ((sums[side][0] / counted[side], sums[side][1] / counted[side])
                                                      for side in (0, 1))
                close(more + lower, time1 - time0, time0 + time1)
                if amount0 and amount1:
                    close(more, (amount1 - amount0) / (amount0 / time0) if time0 else 0, time0 + time1)
                    close(lower, amount1 * (time1 / amount1 - time0 / amount0), time0 + time1)
                elif not sums[0][3] or not sums[1][3]:
                    close(more, time1 - time0 if amount0 or amount1 else 0, time0 + time1)
                if all(sums[side][2] == sums[side][3] for side in (0, 1)):
                    close(more + lower, diff, time0 + time1)
        self.assertTrue(set(sides) <= {tuple(json.loads(row[0]).values()) for row in rows})
        return rows

    def test_random_operators(self):
        split = 0
        for seed in range(4000, 4000 + series(15, 150)):
            control = write("control.json", document(*random_work(seed)))
            test = write("test.json", document(*random_work(seed + 1000)))
            for keys in (["op"], ["kernel", "stream"], ["kernel_type"], ["op", "kernel"]):
                with self.subTest(seed=seed, keys=keys):
                    split += sum(row[6] is not None for row in self.check(control, test, keys))
        self.assertGreater(split, 100)

    def test_rates_that_were_planted_are_found(self):
        """The planted rates are found: layer norm is slower for the same bytes, and there are more copies at the same
        rate.
        """
        found = {key: parts for key, *parts in self.rows(
            "SELECT key, diff_device_time, diff_from_bytes, diff_from_gbs, control_gbs, test_gbs"
            " FROM trace_diff_by(?, ?, 'op,shapes') WHERE control_iteration = 'steady' AND test_iteration = 'steady'",
            CONTROL, TEST) if parts[1] is not None}
        norm, = (parts for key, parts in found.items() if key.startswith("aten::native_layer_norm |"))
        self.assertEqual([round(part, 6) for part in norm[:3]], [160, 0, 160])
        self.assertGreater(norm[3], 2 * norm[4])
        copies, = (parts for key, parts in found.items() if key == "aten::copy_ | [[8,512,1024],[8,512,1024]]")
        self.assertEqual([round(part, 6) for part in copies[:3]], [96, 96, 0])
        self.assertEqual(copies[3], copies[4])
        self.assertGreater(len(found), 8)

    def test_by_hand(self):
        def side(rows, durations):
            return document(operator("aten::mm", [[rows, 1000], [1000, 1000]], FLOAT), *sum((
                [launch(10 + i, 1, i + 1), kernel("gemm", 200 + 100 * i, dur, i + 1)]
                for i, dur in enumerate(durations)), []),
                event("aten::sum", 150, 20), launch(151, 1, 9), kernel("sum", 900, 7, 9))
        write("control.json", side(1000, [40]))  # 2 GFLOP in 40 us: 50 TFLOP/s
        write("test.json", side(3000, [100, 50]))  # 6 GFLOP in 150 us: 40 TFLOP/s
        query = ("SELECT control_flops, test_flops, control_tflops, test_tflops, diff_from_flops, diff_from_tflops,"
                 " diff_device_time FROM trace_diff_by('control.json', 'test.json', ?)")
        self.assertEqual(self.rows(query + " WHERE control_flops > 0", "op"),
                         [(2e9, 6e9, 50, 40, 80, 30, 110)])
        self.assertEqual(self.rows(query + " WHERE key = 'COMPUTATION'", "kernel_type"),
                         [(2e9, 6e9, 50, 40, 80, 30, 110)])
        self.assertEqual(self.rows(query + " WHERE key = 'aten::sum'", "op"), [(None,) * 6 + (0,)])
        write("control.json", document(event("aten::sum", 150, 20)))
        self.assertEqual(self.rows(query + " WHERE key = 'aten::mm'", "op"), [(0, 6e9, None, 40, 150, 0, 150)])
        write("control.json", side("x", [40]))  # its shapes are unknown
        self.assertEqual(self.rows(query + " WHERE key = 'aten::mm'", "op"), [(None, 6e9, None, 40, None, None, 110)])
        self.assertEqual(self.rows("SELECT count(*), count(control_flops), count(diff_from_bytes)"
                                   " FROM trace_diff_by('control.json', 'control.json', 'op', 0, 0, 'all', 'all',"
                                   " 'CPU')"),
                         [(2, 0, 0)])

    def test_columns_asked_for_later(self):
        for columns in ("key, diff_device_time", "key, control_flops", "key, test_bytes, diff_from_tflops", "key"):
            self.assertEqual(len(self.rows(f"SELECT {columns} FROM trace_diff_by(?, ?, 'op')", CONTROL, TEST)),
                             len(self.rows("SELECT * FROM trace_diff_by(?, ?, 'op')", CONTROL, TEST)))
