"""trace_step_causes: the rows partition the difference of two steps (L1 to L10), and find the planted changes of
examples/gpu.
"""
import json
import os
import random
import re
import unittest
from collections import Counter

import oracle
from made import InFolder, document, event, kernel, launch, step, write
from oracle_moved import late_parts, late_rows, placed, plain_sides
from oracle_steps import Attributed, end, kind, label, stable, windows_of
from support import EXAMPLES, ROOT, connect, corpus, series, slow, slowest

GPU = tuple(os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test"))
SERVING = tuple(os.path.join(EXAMPLES, "serving", side) for side in ("control", "test"))
SUMS = "SELECT total(control_ns), total(test_ns), total(diff_time) FROM {}(?, ?, {})"
BACKWARD = r"autograd::engine|torch::autograd::AccumulateGrad|.*Backward[0-9]?\Z"
KINDS = {"changed", "replaced", "communication", "host late", "queued", "not recorded"}
PARAMETERS = ("control", "test", "control_rank", "test_rank", "control_iteration", "test_iteration", "clock", "shown",
              "steps")


def in_modules(seed):
    """A trace of a few steps, with and without device work, whose operators run in areas of some families."""
    rng = random.Random(seed)
    events, correlation, at = [], 0, 0
    of_device, areas = rng.random() < 0.7, [
        *(("nn.Module: Block_%d" % number, "python_function") for number in range(rng.choice((1, 3, 25)))),
        *(("layers.%d.mlp" % number, "user_annotation") for number in range(3)),
        *(("stage %d" % number, "user_annotation") for number in range(rng.choice((1, 2)))),
        ("Optimizer.step#SGD.step", "user_annotation"), ("enumerate(DataLoader)#X.__next__", "user_annotation"), None]
    slow = rng.choice(areas)  # one instance differs, or all do
    for number in range(rng.choice((1, 2, 3, 5))):
        begin = at
        for area in areas:
            for name in rng.sample(("aten::mm", "aten::add", "MulBackward0", "fused"), rng.randint(0, 3)):
                length = rng.randint(4, 9)
                if area:
                    events.append(event(area[0], at, length + 20, cat=area[1]))
                events.append(event(name, at + 1, length + 10))
                if of_device and rng.random() < 0.8:
                    correlation += 1
                    events += [launch(at + 2, 3, correlation),
                               kernel(rng.choice(("gemm", "ncclAllReduce", "Memcpy DtoD", "add")),
                                      at + 3 + rng.randint(0, 40),
                                      rng.choice((5, 30)) * (3 if area == slow else 1), correlation)]
                at += length + 20 + rng.choice((0, 0, 15))
        events.append(step(number, begin, at - begin + 5))
        at += 10
    return document(*events)


class Partition(unittest.TestCase):
    def check(self, control, test):
        db = connect()
        for given in ("NULL, NULL, NULL, NULL", "'all', 'all', 'all', 'all'", "'all', 'all', NULL, NULL"):
            for sides in ((control, test), (test, control)):
                with self.subTest(sides, given=given):
                    rows = db.execute(f"SELECT * FROM trace_step_causes(?, ?, {given})", sides).fetchall()
                    found = db.execute(SUMS.format("trace_step_causes", given), sides).fetchone()
                    expected = db.execute(SUMS.format("trace_step_diff", given), sides).fetchone()
                    self.assertEqual(found[:2], expected[:2])
                    self.assertAlmostEqual(found[2], expected[2], delta=1e-6 * max(1, abs(expected[2])))
                    self.assertLessEqual({row[0] for row in rows}, KINDS | {"moved", "synchronized"})
                    self.assertEqual(len({row[:4] for row in rows}), len(rows))
                    shares = [row[12] for row in rows if row[12] is not None]
                    if shares:
                        self.assertAlmostEqual(sum(shares), 1, places=6)
                    self.assertNotIn("-0.0", map(str, shares))

    def test_examples(self):
        cpu = [os.path.join(EXAMPLES, "cpu", side) for side in ("control", "test")]
        for pair in (GPU, SERVING, (GPU[0], cpu[1]), cpu, (GPU[0], GPU[0]))[:series(2, 5)]:
            self.check(*pair)

    @slowest
    def test_real_traces(self):
        for control, test in ((("hta", "trace_diff", "control"), ("hta", "trace_diff", "test")),
                              (("kineto", "resnet50_workers_0"), ("kineto", "resnet50_workers_4")),
                              (("hta", "trace_compare", "base"), ("hta", "trace_compare", "test")),
                              (("hta", "amd_trace"), ("hta", "triton_example")),
                              (("hta", "critical_path", "simple_add"), ("hta", "cpu_only"))):
            self.check(corpus(*control), corpus(*test))


def late_of(file, chosen):
    """{(class, annotation, area, top_op, top_name, op, kernel): ns} of communication below 0."""
    attributed, found = Attributed(file), Counter()
    for window in windows_of(file, "device"):
        if chosen is not None and window.iteration not in chosen or window.start >= window.end:
            continue
        instants = attributed.changes(window)
        for start, until in zip(instants, instants[1:]):
            running = [(row.ts_ns, row.event, row) for row in attributed.work if row.ts_ns <= start < end(row)]
            kinds = {kind(row) for _, _, row in running}
            threads = ("COMMUNICATION" in kinds and kinds <= {"COMMUNICATION", "MEMORY"}
                       and attributed.late(window, start))
            if threads:
                owner = min(each for each in running if kind(each[2]) == "COMMUNICATION")[2]
                hidden, late = late_parts(attributed, threads, owner, start)
                found[hidden] -= until - start
                found[late] += until - start
    return found


class SecondReading(InFolder):
    """L2 and L3 implemented in SQL: every column but the text."""

    @classmethod
    def setUpClass(cls):
        with open(os.path.join(ROOT, "tests", "oracles", "oracle_causes.sql")) as file:
            cls.query = file.read()

    PARTS = ("SELECT step_count, class, annotation, area, family, top_op, top_name, op, kernel, time_ns"
             " FROM trace_step_path(?, ?, 'steady', 'device', 'trace') WHERE time_ns > 0 OR class IS NULL")

    def fill(self, *sides, ranks=None):
        """The effect of L9, L12 and L13 on the parts of both sides. Returns how many parts L9 changes."""
        self.db.execute("CREATE TABLE IF NOT EXISTS placed (side, steps, class, time_ns, of_device, area, late_area,"
                        " family, stage, name, moved, before_ns)")
        self.db.execute("DELETE FROM placed")
        rows, late = [], []
        for side, path in enumerate(plain_sides(*sides)):
            rows += [(side, *row) for row in self.db.execute(self.PARTS, (path, ranks))]
            trace = oracle.read_trace(path)
            files = [file for file in trace.files if file.rank in oracle.choose_ranks(trace, ranks)]
            chosen = oracle.choose_steps(files, "steady")
            for file in files:
                steps = None if chosen is None else {number for path, number in chosen if path == file.path}
                late += list(late_rows(side, late_of(file, steps), rows))
        self.db.executemany(f"INSERT INTO placed VALUES ({', '.join('?' * 12)})", placed(rows + late))
        return len(late)

    def check(self, control, test, shown, ranks=None):
        def plain(row):
            only_in = row[14] and sorted(json.loads(row[14]))
            return [value if not isinstance(value, float) else round(value, 6)
                    for value in row[:14]] + [only_in, round(row[15], 6)]
        given = {name: None for name in PARAMETERS} | {"control": control, "test": test, "shown": shown or None,
                                                       "control_rank": ranks,
                                                      "test_rank": ranks}
        expected = [plain(row) for row in self.db.execute(self.query, given)]
        rows = self.db.execute(
            "SELECT * FROM trace_step_causes(:control, :test, :control_rank, :test_rank, NULL, NULL, NULL, :shown)",
            given).fetchall()
        rows = [row[:21] for row in rows]
        found = [plain(row) for row in rows]
        with self.subTest((control, test), shown=shown):
            self.assertEqual(found, expected)
            self.check_parts(given, rows)
            for kind, _, _, name, _, _, names, *_, replaced, _, _ in rows:
                self.assertEqual(replaced is not None, kind == "replaced")
                if replaced:
                    self.assertEqual((len(set(json.loads(replaced))), name in json.loads(replaced)), (names, True))
        return found

    def check_parts(self, given, rows):
        """Checks that trace_cause_parts adds up to the causes by number, has as many names, and has the kernels of work
        that is not always hidden.
        """
        parts = self.db.execute(
            "SELECT cause, control_time, test_time, diff_time, control_kernels, test_kernels, class, family, name"
            " FROM trace_cause_parts(:control, :test, :control_rank, :test_rank, NULL, NULL, NULL, :shown)", given)
        sums, names, kernels = {}, {}, [0, 0]
        for cause, *values, control, test, class_, family, name in parts:
            sums[cause] = [a + b for a, b in zip(sums.get(cause, (0, 0, 0)), values)]
            names.setdefault(cause, set()).add((class_, family, name))
            kernels = [kernels[0] + control, kernels[1] + test]
        self.assertEqual([row[-1] for row in rows], list(range(1, len(rows) + 1)))
        self.assertEqual(sorted(sums), [row[-1] for row in rows])
        for row in rows:
            self.assertEqual(len(names[row[-1]]), row[6], row)
            for one, other in zip(sums[row[-1]], row[7:10]):
                self.assertAlmostEqual(one, other, places=6, msg=row)
        for count, side in zip(kernels, ("control", "test")):
            least, most = self.db.execute(
                "SELECT total(kernels * 1.0 / step_count) FILTER (WHERE time_ns > 0 AND class <> 'comm'),"
                f" total(kernels * 1.0 / step_count) FROM trace_step_path(:{side}, :{side}_rank, 'steady', 'device',"
                " 'trace')", given).fetchone()
            self.assertLess(least - 1e-6, count)
            self.assertLess(count, most + 1e-6)

    @slow
    def test_examples(self):
        for folder in ("gpu", "cpu", "serving"):
            sides = [os.path.join(EXAMPLES, folder, side) for side in ("control", "test")]
            self.fill(*sides, ranks=0)
            for shown in (None, 3, 8):
                self.check(*sides, shown, 0)

    def test_random_traces(self):
        seen = Counter()
        count = series(25, 300)
        for seed in range(count):
            write("a.json", in_modules(2 * seed))
            write("b.json", in_modules(2 * seed + 1))
            seen["late"] += self.fill("a.json", "b.json") > 0
            for shown in (None, 0, 1, 3, 6):
                for row in self.check("a.json", "b.json", shown):
                    seen[row[0]] += 1
                    seen["instances"] += row[13] > 1
                    seen["only_in"] += row[14] is not None
                    seen["late area"] += row[0] == "host late" and row[2] is not None
        for what in (*KINDS, "merged", "instances", "only_in", "late", "late area"):
            self.assertGreater(seen[what], count // 10, what)


class Planted(unittest.TestCase):
    def test_no_two_causes_have_the_same_words(self):
        """No two causes have the same text, also when an operator and a graph launch the same kernel."""
        for sides in (GPU, SERVING, SERVING[::-1]):
            rows = connect().execute("SELECT class, text FROM trace_step_causes(?, ?)", sides).fetchall()
            self.assertEqual(len(set(rows)), len(rows))

    ALONE = [
        ("communication", "comm", "nccl:all_reduce",
         "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 300, 0, 0, None),
        ("host late", "idle_host", None, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 300, 0, 0,
         None),
        ("replaced", "compute", "Optimizer.step#AdamW.step", "aten::_fused_adamw_", -168, 1, 5, None),
        ("changed", "compute", "DistributedDataParallel.forward", "aten::layer_norm", 160, 0, 0, None),
        ("changed", "memory", "DistributedDataParallel.forward", "aten::clone", 96, 0, 0, None)]

    def test_the_six_causes_of_the_example(self):
        """The six causes of the example's job are found: rank 0's wait is attributed to the work of rank 1, not to
        communication.
        """
        query = ("SELECT kind, class, area, name, round(diff_time), added, removed, rank"
                 " FROM trace_step_causes(?, ?, {}) LIMIT {}")
        transfer, late, fused, norm, clone = self.ALONE
        self.assertEqual(connect().execute(query.format("NULL", 6), GPU).fetchall(), [
            late, (*transfer[:4], 180, 0, 0, None), fused, norm,
            ("changed", "compute", "backward", "autograd::engine::evaluate_function: EmbeddingBackward0", 120, 0, 0, 1),
            clone])
        self.assertEqual(connect().execute(query.format("0, 0", 5), GPU).fetchall(), self.ALONE)

    def test_turned_around(self):
        """Swapping the sides gives causes of the same size with the opposite sign; added work becomes removed work."""
        there, back = (connect().execute("SELECT kind, class, area, round(diff_time), added, removed, names"
                                         " FROM trace_step_causes(?, ?) LIMIT 5", sides).fetchall()
                       for sides in (GPU, GPU[::-1]))
        self.assertEqual([(*row[:3], -row[3], row[5], row[4], row[6]) for row in there], back)


class Rules(InFolder):
    def test_communication_while_the_host_has_launched_nothing_more(self):
        """The all-reduce is equally long on both sides. In test, the host sleeps before it launches the next kernel."""
        for side, sleep in (("control", 0), ("test", 60)):
            reduced = kernel("ncclAllReduce", 25, 100, 2, 20)
            events = [step(0, 0, 300), event("aten::mm", 10, 8), launch(12, 2, 1), kernel("gemm", 15, 10, 1),
                      event("nccl:all_reduce", 18, 6), launch(20, 2, 2), reduced, event("aten::sort", 30, 5 + sleep),
                      event("aten::add", 35 + sleep, 8), launch(37 + sleep, 2, 3), kernel("add", 40 + sleep, 80, 3)]
            write(side, document(*events))
        self.assertEqual([row[:4] + row[7:] for row in self.causes()][:1],
                         [("host late", "idle_host", None, "aten::sort", 60.0)])
        self.assertEqual(self.rows("SELECT class, diff_time FROM trace_step_diff('control', 'test')"
                                   " WHERE diff_time > 0"), [("comm", 55.0)])

    def causes(self):
        return self.rows("SELECT kind, class, area, name, added, removed, names, diff_time"
                         " FROM trace_step_causes('control', 'test', NULL, NULL, 0, 0) WHERE diff_time <> 0")

    @staticmethod
    def trace(*kernels):
        """A step whose operators launch kernels one after another: (operator, annotation, length)."""
        events, at = [step(0, 0, 1000)], 10
        for number, (operator, annotation, length) in enumerate(kernels, 1):
            if annotation:
                events.append(event(annotation, at, 20, cat="user_annotation"))
            events += [event(operator, at + 1, 15), launch(at + 2, 5, number),
                       kernel(f"k_{operator} {annotation}", 400 + 50 * number, length, number)]
            at += 30
        return document(*events)

    def test_what_replaced_what(self):
        write("control/a.json", self.trace(("mul", "opt", 20), ("add", "opt", 20), ("gelu", "fwd", 10)))
        write("test/a.json", self.trace(("fused", "opt", 25), ("gelu", "fwd", 10)))
        replaced = [row for row in self.causes() if row[0] == "replaced"]
        self.assertEqual(replaced, [("replaced", "compute", "opt", "fused", 1, 2, 3, -15.0)])
        names = self.value("SELECT replaced FROM trace_step_causes('control', 'test') WHERE kind = 'replaced'")
        self.assertEqual(sorted(json.loads(names)), ["add", "fused", "mul"])

    def test_what_went_has_its_own_name(self):
        write("control/a.json", self.trace(("fused", "opt", 25), ("mul", "opt", 5)))
        write("test/a.json", self.trace(("mul", "opt", 40)))
        self.assertIn(("replaced", "compute", "opt", "fused", 0, 1, 2, 10.0), self.causes())

    def test_an_operator_that_came_replaces_nothing(self):
        write("control/a.json", self.trace(("gelu", "fwd", 10)))
        write("test/a.json", self.trace(("gelu", "fwd", 10), ("norm", "fwd", 30)))
        self.assertIn(("changed", "compute", "fwd", "norm", 1, 0, 1, 30.0), self.causes())

    def test_two_that_came_replace_nothing(self):
        write("control/a.json", self.trace(("gelu", "fwd", 10)))
        write("test/a.json", self.trace(("gelu", "fwd", 10), ("norm", "fwd", 30), ("drop", "fwd", 20)))
        self.assertEqual([row[3] for row in self.causes() if row[0] == "changed"], ["norm", "drop"])

    def test_no_annotation(self):
        write("control/a.json", self.trace(("MulBackward0", None, 10), ("aten::mul", None, 10)))
        write("test/a.json", self.trace(("MulBackward0", None, 20), ("aten::mul", None, 15)))
        found = [row[:4] for row in self.causes() if row[1] == "compute"]
        self.assertEqual(found, [("changed", "compute", "backward", "MulBackward0"),
                                 ("changed", "compute", "aten::mul", "aten::mul")])

    def layers(self, *lengths, add=0, form="nn.Module: Layer_{}", cat="python_function"):
        """A step whose layers each launch aten::mm with these lengths."""
        events, at = [], 10
        for number, length in enumerate(lengths):
            events += [event(form.format(number), at, 20, cat=cat), event("aten::mm", at + 1, 15),
                       launch(at + 2, 5, number + 1),
                       kernel("gemm", 2000 + 100 * number, length + add, number + 1)]
            at += 30
        return document(step(0, 0, 5000), *events)

    def texts(self, **given):
        return self.rows("SELECT text, instances, only_in, round(diff_time)"
                         " FROM trace_step_causes('control.json', 'test.json',"
                         " shown => :shown) WHERE class = 'compute'".replace("shown => :shown",
                                                                             "NULL, NULL, 0, 0, NULL, :shown"),
                         given.get("shown"))

    def test_layers_are_one_cause(self):
        """L1: 24 layers that are each slightly slower form one cause."""
        write("control.json", self.layers(*[20] * 24))
        write("test.json", self.layers(*[20] * 24, add=5))
        self.assertEqual(self.texts(), [("aten::mm in 24 Layer", 24, None, 120)])

    def test_one_layer_of_many(self):
        """L2.6: one layer is named when it has four fifths."""
        write("control.json", self.layers(*[20] * 12))
        write("test.json", self.layers(*[20] * 7, 90, *[20] * 3, 30))
        self.assertEqual(self.texts(), [("aten::mm in 12 Layer, only in Layer_7", 12, '["nn.Module: Layer_7"]', 80)])

    def test_some_layers_of_many(self):
        """L2.6: layers are named when fewer than a tenth of them changed."""
        write("control.json", self.layers(*[20] * 21))
        write("test.json", self.layers(*[20] * 19, 60, 60))
        self.assertEqual(self.texts(), [("aten::mm in 21 Layer, only in 2 of them", 21,
                                         '["nn.Module: Layer_19","nn.Module: Layer_20"]', 80)])
        write("control.json", self.layers(*[20] * 20))
        write("test.json", self.layers(*[20] * 18, 60, 60))
        self.assertEqual(self.texts(), [("aten::mm in 20 Layer", 20, None, 80)])

    def test_one_layer_has_its_own_name(self):
        write("control.json", self.layers(20))
        write("test.json", self.layers(50))
        self.assertEqual(self.texts(), [("aten::mm (Layer_0)", 1, None, 30)])

    def test_annotations_that_one_side_repeats(self):
        """L1.3: a number that varies on one side is a number on both sides."""
        form = {"form": "stage {}", "cat": "user_annotation"}
        write("control.json", self.layers(20, **form))
        write("test.json", self.layers(20, 20, **form))
        self.assertEqual(self.texts(), [("aten::mm in 2 stage *, only in stage 1", 2, '["stage 1"]', 20)])

    def test_an_operator_everywhere(self):
        """L3: an operator has one large cause, and appears in six other places."""
        def trace(more):
            names = [("large", None, 9 + more)] + [("aten::mm", f"part {'abcdef'[i]}", 30 + more // 5)
                                                   for i in range(6)]
            return self.trace(*names, ("aten::add", "part a", 30 - more // 5), ("aten::sub", "part b", 30 + more // 5))
        write("control.json", trace(0))
        write("test.json", trace(40))
        self.assertEqual(self.texts(shown=1), [("aten::mm, everywhere", 6, None, 48), ("large", 1, None, 40),
                                               ("aten::add (part a)", 1, None, -8), ("aten::sub (part b)", 1, None, 8)])
        self.assertEqual(len(self.texts()), 9)
        self.assertEqual(self.texts(shown=8), self.texts())  # these explain three quarters

    def test_what_cancels_is_no_answer(self):
        """L3.4: changes that cancel out are no answer."""
        def trace(*more):
            return self.trace(("large", None, 9 + more[0]), *(("aten::mm", f"part {'abcdef'[i]}", 20 + more[1 + i % 2])
                                                                for i in range(6)))
        write("control.json", trace(0, 0, 0))
        write("test.json", trace(20, 20, -15))
        self.assertEqual(len(self.texts(shown=1)), 7)
        write("test.json", trace(20, 20, -5))
        self.assertEqual([row[0] for row in self.texts(shown=1)], ["aten::mm, everywhere", "large"])

    def test_hip_beside_cuda(self):
        """L2.1: names that differ only between CUDA and HIP are one."""
        def trace(*names, gap):
            calls = [event(name, 100 + 200 * i, 100 if name.endswith("Synchronize") else 10, cat="cuda_runtime",
                           args={"correlation": i + 1}) for i, name in enumerate(names)]
            return document(step(0, 0, 1000 + gap), *calls, event("aten::mm", 700 + gap, 50),
                            event(names[0].replace("DeviceSynchronize", "LaunchKernel"), 720 + gap, 10,
                                  cat="cuda_runtime",
                                  args={"correlation": 9}),
                            kernel("gemm", 740 + gap, 50, 9))
        write("control.json", trace("cudaDeviceSynchronize", gap=0))
        write("test.json", trace("hipDeviceSynchronize", gap=100))
        query = ("SELECT name, text, added, removed FROM trace_step_causes('control.json', 'test.json', NULL, NULL, 0,"
                 " 0) WHERE diff_time > 0")
        both = "between cudaDeviceSynchronize and aten::mm"
        self.assertEqual(self.rows(query), [(both, both, 0, 0)])
        write("control.json", trace("hipDeviceSynchronize", gap=0))
        self.assertEqual(self.rows(query)[0][0], "between hipDeviceSynchronize and aten::mm")


class LateAreas(InFolder):
    """L2.3: the device waits for one host operator after another."""
    FORWARD = [("aten::a", 20), ("aten::b", 20), ("aten::c", 20), ("aten::d", 20)]
    MORE = [(f"aten::{name}", 20) for name in ("mul", "add", "div", "sqrt", "lerp")]

    @staticmethod
    def trace(*areas):
        """A step: (annotation or None, [(operator, us before its launch)])."""
        events, at, number = [], 0, 0
        for annotation, operators in areas:
            begin = at
            for name, us in operators:
                number += 1
                events += [event(name, at, us + 2), launch(at + us, 2, number), kernel("k", at + us + 2, 1, number)]
                at += us + 2
            if annotation:
                events.append(event(annotation, begin, at - begin, cat="user_annotation"))
        return document(step(0, 0, at + 3), *events)

    def late(self, control, test):
        """(area, name, us) of this kind, in both directions."""
        query = "SELECT area, name, diff_time FROM trace_step_causes(?, ?) WHERE kind = 'host late' AND diff_time <> 0"
        write("control", self.trace(*control))
        write("test", self.trace(*test))
        found = self.rows(query, "control", "test")
        self.assertEqual(self.rows(query, "test", "control"), [(area, name, -us) for area, name, us in found])
        return found

    def test_many_operators_of_one_annotation(self):
        """Launches inside an annotation belong to it, too."""
        control = [("forward", self.FORWARD), ("opt", [("aten::fused", 20)])]
        test = [("forward", self.FORWARD), ("opt", [("aten::fused", 20), *self.MORE])]
        self.assertEqual(self.late(control, test), [("opt", "opt", 5 * 19 + 5 * 2)])
        row = self.rows("SELECT class, names, added, text, only_in FROM trace_step_causes('control', 'test') LIMIT 1")
        self.assertEqual(row, [(None, 7, 5, "waiting for opt", None)])

    def test_what_is_late_elsewhere_is_not_of_it(self):
        """Delays outside the annotation are not part of it: launches are late in both places, and the time is
        divided.
        """
        test = [("forward", [*self.FORWARD, ("aten::e", 12)]), ("opt", [("aten::fused", 20), *self.MORE])]
        self.assertEqual(self.late([("forward", self.FORWARD), ("opt", [("aten::fused", 20)])], test),
                         [("opt", "opt", 105), (None, "aten::e", 11), (None, None, 2)])

    def test_one_operator_says_more_than_its_annotation(self):
        test = [("forward", self.FORWARD), ("opt", [("aten::fused", 120), ("aten::mul", 30)])]
        found = self.late([("forward", self.FORWARD), ("opt", [("aten::fused", 20)])], test)
        self.assertEqual([row[:2] for row in found], [(None, "aten::fused"), (None, "aten::mul"), (None, None)])

    def test_an_annotation_around_everything_says_nothing(self):
        areas = [row[0] for row in self.late([("train", self.FORWARD)], [("train", [*self.FORWARD, *self.MORE])])]
        self.assertEqual(set(areas), {None})

    def test_all_that_is_slower_by_one_factor_is_of_no_area(self):
        areas = [[(area, [(name, us * more) for name, us in self.FORWARD + self.MORE]) for area in ("a", "b", "c")]
                 for more in (1, 2)]
        self.assertEqual({row[0] for row in self.late(*areas)}, {None})

    def test_two_areas(self):
        """With two areas, the larger one is named first, then the rest."""
        calm = [("calm", self.FORWARD * 4)]
        control = [*calm, ("opt", [("aten::fused", 20)]), ("log", [("aten::fused", 20)])]
        test = [*calm, ("opt", [("aten::fused", 20), *self.MORE * 2]), ("log", [("aten::fused", 20), *self.MORE])]
        self.assertEqual(self.late(control, test), [("opt", "opt", 210), ("log", "log", 105)])

    def test_areas_that_share_alike_are_none(self):
        calm = [("calm", self.FORWARD * 4)]
        test = [*calm, *((f"{number}x", self.MORE) for number in range(3))]
        self.assertEqual({row[0] for row in self.late(calm, test)}, {None})

    def test_families_and_backward(self):
        calm = [("calm", self.FORWARD * 2)]
        layers = [[(f"layers.{number}.mlp", [("aten::fused", 20), operator][:count])
                   for number, operator in enumerate(self.MORE)] for count in (1, 2)]
        self.assertEqual(self.late([*calm, *layers[0]], [*calm, *layers[1]]), [("layers.*.mlp", "layers.*.mlp", 105)])
        nodes = [(None, [(name.replace("aten::", "") + "Backward0", us)]) for name, us in self.MORE]
        self.assertEqual(self.late(calm, [*calm, *nodes]), [("backward", "backward", 105)])
        self.assertEqual({row[0] for row in self.late(calm, [*calm, (None, self.MORE)])}, {None})

    def test_before_it_is_less_than_a_twentieth_of_the_step(self):
        calm = [("calm", self.FORWARD)]
        test = self.trace(("calm", self.FORWARD), ("opt", self.MORE))
        test["traceEvents"] += [launch(180, 1, 99), kernel("long", 240, 9000, 99)]
        write("control", self.trace(*calm))
        write("test", test)
        self.assertEqual(self.value("SELECT count(*) FROM trace_step_causes('control', 'test') WHERE area = 'opt'"
                                    " AND kind = 'host late'"), 0)


class Recomputed(InFolder):
    """L10: recomputation."""
    FORWARD = [("aten::linear", ["aten::addmm", "aten::gelu"])]

    @staticmethod
    def trace(*operators):
        """A step: (operator, its inner operators, each with a kernel); an operator named opt is in `Optimizer.step`."""
        events, at, number = [], 0, 0
        for outer, inner in operators:
            begin = at
            for name in inner:
                number += 1
                events += [event(name, at + 1, 8), launch(at + 2, 2, number),
                           kernel(f"k of {outer} {name}", 1000 + 10 * number, 10, number)]
                at += 10
            events.append(event(outer, begin, at - begin))
            if outer == "opt":
                events.append(event("Optimizer.step#X.step", begin, at - begin, cat="user_annotation"))
        return document(step(0, 0, 900), *events)

    def recomputed(self, control, test):
        """{name of the cause: (text, operators)}."""
        write("control", self.trace(*control))
        write("test", self.trace(*test))
        found, back = ({name: (text, names and json.loads(names)) for name, text, names in self.rows(
            "SELECT trace_label(name), text, recomputed FROM trace_step_causes(?, ?) WHERE class = 'compute'"
            " AND recomputed IS NOT NULL", *sides)} for sides in (("control", "test"), ("test", "control")))
        self.assertEqual(*(sorted(names for _, names in side.values()) for side in (found, back)))
        for there, again in ((found, back), (back, found)):
            self.assertEqual(sum(", recomputes " in text for text, _ in there.values()),
                             sum(", no longer recomputes " in text for text, _ in again.values()))
        return found

    def test_a_checkpoint(self):
        """PyTorch's checkpoint with use_reentrant=False recomputes in the first node that needs a discarded tensor."""
        node = "autograd::engine::evaluate_function: AddmmBackward0"
        found = self.recomputed([*self.FORWARD, (node, ["aten::mm"])],
                                [*self.FORWARD, (node, ["aten::addmm", "aten::gelu", "aten::addmm", "aten::mm"])])
        self.assertEqual(found, {"AddmmBackward0": ("AddmmBackward0 (backward), recomputes aten::addmm and 1 more",
                                                    ["aten::addmm", "aten::gelu"])})

    def test_a_reentrant_checkpoint(self):
        """A reentrant checkpoint runs its backward pass within one node, which replaces all others."""
        nodes = [("AddmmBackward0", ["aten::mm"]), ("GeluBackward0", ["aten::gelu_backward"])]
        one = [("CheckpointFunctionBackward", ["aten::addmm", "aten::gelu", "aten::gelu_backward", "aten::mm"])]
        text = "CheckpointFunctionBackward replaces 2 operators (backward), recomputes aten::addmm and 1 more"
        self.assertEqual(self.recomputed([*self.FORWARD, *nodes], [*self.FORWARD, *one]),
                         {"CheckpointFunctionBackward": (text, ["aten::addmm", "aten::gelu"])})

    def test_what_is_not_recomputed(self):
        node, more = "MulBackward0", ["aten::addmm", "aten::gelu"]
        for why, control, test in (
                ("one operator", [*self.FORWARD, (node, ["aten::mm"])], [*self.FORWARD, (node, ["aten::mm", more[0]])]),
                ("not of the forward pass", [(node, ["aten::mm"])], [(node, ["aten::mm", *more])]),
                ("the forward pass of test", [(node, ["aten::mm"])], [*self.FORWARD, (node, ["aten::mm", *more])]),
                ("of the optimizer", [("opt", more), (node, ["aten::mm"])],
                 [("opt", more), (node, ["aten::mm", *more])]),
                ("in both", [*self.FORWARD, (node, more)], [*self.FORWARD, (node, [*more, *more, *more])]),
                ("less than half", [*self.FORWARD, (node, ["aten::mm"])],
                 [*self.FORWARD, (node, ["aten::mm"] * 4 + more)]),
                ("of an operator of the forward pass", [*self.FORWARD, ("mine", ["aten::mm"])],
                 [*self.FORWARD, ("mine", ["aten::mm", *more])])):
            with self.subTest(why):
                self.assertEqual(self.recomputed(control, test), {})

    def test_a_second_reading(self):
        rng, seen = random.Random(1), 0
        names = [f"aten::{name}" for name in "abcdef"]
        for seed in range(series(40, 400)):
            sides = [[(outer, rng.sample(names, rng.randint(1, 4)))
                      for outer in ("one", "two", "three", "XBackward0", "YBackward1") if rng.random() < 0.9]
                     for _ in range(2)]
            expected = {}
            forward = [{name for outer, inner in side if "Backward" not in outer for name in inner} for side in sides]
            times = [Counter({(outer, name): 10 * inner.count(name) for outer, inner in side for name in inner})
                     for side in sides]
            causes = self.recomputed(*sides)
            replaced = self.rows("SELECT name, replaced, diff_time FROM trace_step_causes('control', 'test')"
                                 " WHERE class = 'compute' AND kind IN ('changed', 'replaced')")
            for cause, of, diff in replaced:
                if not cause.endswith(("Backward0", "Backward1")) or diff == 0:
                    continue
                own = [Counter() for _ in sides]
                for side, counter in zip(times, own):
                    for (outer, name), time in side.items():
                        if outer in (json.loads(of) if of else [cause]):
                            counter[name] += time
                again = [name for name in own[diff > 0] if not own[diff < 0][name] and name in forward[0] & forward[1]]
                if len(again) > 1 and 2 * sum(own[diff > 0][name] for name in again) >= abs(diff):
                    expected[cause] = sorted(again, key=lambda name: (-own[diff > 0][name], name))
            with self.subTest(seed=seed):
                self.assertEqual({name: names for name, (_, names) in causes.items()}, expected)
            seen += len(expected)
        self.assertGreater(seen, 5)


class Synchronization(InFolder):
    """L8: synchronisation with a busy device, where the host is ahead except for the first launch of a step."""

    @staticmethod
    def trace(waits=(), late=(0, 0), call="cudaStreamSynchronize", operator="aten::item", rank=0):
        """Four steps of eight operators. The host waits after some, and one of them launches late. All steps end in a
        wait.
        """
        events, host, device, number = [], 0, 0, 0
        for at in range(4):
            begin = host
            for i in range(8):
                number += 1
                start = host + (late[1] if late[0] == i else 0)
                events += [event(f"aten::op{i}", host, start - host + 20), launch(start + 5, 5, number)]
                device = max(device, start + 12) + 100
                events.append(kernel(f"k{i}", device - 100, 100, number))
                host = start + 20
                if i in waits:
                    events += [event(operator, host + 1, device + 4 - host),
                               event(call, host + 2, device + 1 - host, cat="cuda_runtime")]
                    host = device + 5
            events += [event("cudaDeviceSynchronize", host + 1, device - host + 1, cat="cuda_runtime"),
                       step(at, begin, device + 3 - begin)]
            host = device + 5
        return document(*events, distributedInfo={"rank": rank})

    def causes(self, ranks="NULL"):
        return self.rows("SELECT kind, name, round(diff_time, 3), text FROM trace_step_causes('control', 'test',"
                         f" {ranks}, {ranks}) WHERE abs(diff_time) > 0.0005")

    def test_the_device_runs_dry(self):
        write("control/a.json", self.trace())
        write("test/a.json", self.trace(waits=(3,)))
        self.assertEqual(self.causes(), [("synchronized", "aten::item", 17, "synchronization: aten::item")])
        text = "  +0.017 ms  100 %  GPU idle       synchronization: aten::item new, 1 per step"
        self.assertIn((text,), self.rows("SELECT text FROM trace_summary('control', 'test') WHERE diagnoses = 0"))
        back = self.rows("SELECT kind, name, round(diff_time, 3) FROM trace_step_causes('test', 'control')"
                         " WHERE diff_time <> 0")
        self.assertEqual(back, [("synchronized", "aten::item", -17)])

    def test_a_wait_of_both_sides_is_none(self):
        write("control/a.json", self.trace(waits=(3,)))
        write("test/a.json", self.trace(waits=(3,), late=(4, 60)))
        self.assertEqual([row[:3] for row in self.causes()], [("host late", "aten::op4", 60)])

    def test_what_else_is_late_has_its_own_cause(self):
        """Delays before the wait, and delays beyond the lost lead, have their own cause."""
        write("control/a.json", self.trace())
        write("test/a.json", self.trace(waits=(3,), late=(0, 50)))
        self.assertEqual({row[:3] for row in self.causes()},
                         {("host late", "aten::op0", 50), ("synchronized", "aten::item", 17)})
        write("test/a.json", self.trace(waits=(3,), late=(6, 1500)))
        found = {row[:2] for row in self.causes() if row[0] != "queued"}
        self.assertEqual(found, {("host late", "aten::op6"), ("synchronized", "aten::item")})

    def test_more_often(self):
        write("control/a.json", self.trace(waits=(1,)))
        write("test/a.json", self.trace(waits=(1, 3, 5)))
        self.assertEqual([row[:3] for row in self.causes()], [("synchronized", "aten::item", 34)])

    def test_on_one_rank(self):
        for rank in (0, 1):
            write(f"control/{rank}.json", self.trace(rank=rank))
            write(f"test/{rank}.json", self.trace(waits=(3,) if rank else (), rank=rank))
        self.assertEqual([row[:3] for row in self.causes("'all'")], [("synchronized", "aten::item", 8.5)])

    def test_a_rank_beside_another(self):
        for rank in (0, 1):
            write(f"control/{rank}.json", self.trace(waits=(3,) if rank else (), rank=rank))
        found = self.rows("SELECT kind, name, round(diff_time, 3) FROM trace_step_causes('control', 'control', 0, 1)"
                          " WHERE diff_time <> 0")
        self.assertEqual(found, [("synchronized", "aten::item", 17)])

    def test_events_that_end_after_those_they_begin_in(self):
        write("control/a.json", self.trace())
        made = self.trace(waits=(3,))
        made["traceEvents"] += [event("aten::first", each["ts"] - 0.5, 1) for each in made["traceEvents"]
                                if each["name"] == "aten::item"]
        write("test/a.json", made)
        self.assertEqual([row[:2] for row in self.causes() if row[0] == "synchronized"],
                         [("synchronized", "aten::item")])

    def test_names(self):
        """Outside operators the call gives the name, and HIP and CUDA names are one."""
        write("control/a.json", self.trace(waits=(3,)))
        write("test/a.json", self.trace(waits=(3,), operator="mine"))
        self.assertEqual(self.causes(), [])
        write("control/a.json", self.trace())
        write("test/a.json", self.trace(waits=(3,), operator="mine"))
        self.assertEqual([row[1] for row in self.causes()], ["mine"])
        for call in ("cudaMemcpy", "hipMemcpyWithStream", "cuCtxSynchronize"):
            write("test/a.json", self.trace(waits=(3,), call=call))
            self.assertEqual([row[:2] for row in self.causes()], [("synchronized", "aten::item")], call)
        write("test/a.json", self.trace(waits=(3,), call="cudaMemcpyAsync"))
        self.assertEqual({row[0] for row in self.causes()}, {"host late", "queued"})
