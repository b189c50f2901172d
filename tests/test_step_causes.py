"""trace_step_causes: a partition of the difference of two steps, and what is planted in examples/gpu."""
import os
import unittest

from made import InFolder, document, event, kernel, launch, step, write
from support import EXAMPLES, connect, corpus, slowest

GPU = tuple(os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test"))
SERVING = tuple(os.path.join(EXAMPLES, "serving", side) for side in ("control", "test"))
SUMS = "SELECT total(control_ns), total(test_ns), total(diff_time) FROM {}(?, ?, {})"
KINDS = {"changed", "replaced", "communication", "host late", "queued", "not recorded"}


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
                    self.assertLessEqual({row[0] for row in rows}, KINDS)
                    self.assertEqual(len({row[:4] for row in rows}), len(rows))
                    shares = [row[-2] for row in rows if row[-2] is not None]
                    if shares:
                        self.assertAlmostEqual(sum(shares), 1, places=6)
                    self.assertNotIn("-0.0", map(str, shares))

    def test_examples(self):
        self.check(*GPU)
        self.check(*(os.path.join(EXAMPLES, "cpu", side) for side in ("control", "test")))
        self.check(GPU[0], os.path.join(EXAMPLES, "cpu", "test"))
        self.check(GPU[0], GPU[0])
        self.check(*SERVING)

    @slowest
    def test_real_traces(self):
        for control, test in ((("hta", "trace_diff", "control"), ("hta", "trace_diff", "test")),
                              (("kineto", "resnet50_workers_0"), ("kineto", "resnet50_workers_4")),
                              (("hta", "trace_compare", "base"), ("hta", "trace_compare", "test")),
                              (("hta", "amd_trace"), ("hta", "triton_example")),
                              (("hta", "critical_path", "simple_add"), ("hta", "cpu_only"))):
            self.check(corpus(*control), corpus(*test))


class Planted(unittest.TestCase):
    def test_no_two_causes_have_the_same_words(self):
        """One kernel is launched by an operator, and by a graph without one."""
        for sides in (GPU, SERVING, SERVING[::-1]):
            rows = connect().execute("SELECT class, text FROM trace_step_causes(?, ?)", sides).fetchall()
            self.assertEqual(len(set(rows)), len(rows))

    def test_the_five_causes_of_the_example(self):
        rows = connect().execute("SELECT kind, class, area, name, round(diff_time), added, removed"
                                 " FROM trace_step_causes(?, ?) LIMIT 5", GPU).fetchall()
        self.assertEqual(rows, [
            ("communication", "comm", "nccl:all_reduce",
             "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 300, 0, 0),
            ("host late", "idle_host", None, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 300, 0, 0),
            ("replaced", "compute", "Optimizer.step#AdamW.step", "aten::_fused_adamw_", -168, 1, 5),
            ("changed", "compute", "DistributedDataParallel.forward", "aten::layer_norm", 160, 0, 0),
            ("changed", "memory", "DistributedDataParallel.forward", "aten::clone", 96, 0, 0)])

    def test_turned_around(self):
        """Causes of the same size with the other sign: what was added was removed."""
        there, back = (connect().execute("SELECT kind, class, area, round(diff_time), added, removed, names"
                                         " FROM trace_step_causes(?, ?) LIMIT 5", sides).fetchall()
                       for sides in (GPU, GPU[::-1]))
        self.assertEqual([(*row[:3], -row[3], row[5], row[4], row[6]) for row in there], back)


class Rules(InFolder):
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
                       kernel(f"k_{operator}", 400 + 50 * number, length, number)]
            at += 30
        return document(*events)

    def test_what_replaced_what(self):
        write("control/a.json", self.trace(("mul", "opt", 20), ("add", "opt", 20), ("gelu", "fwd", 10)))
        write("test/a.json", self.trace(("fused", "opt", 25), ("gelu", "fwd", 10)))
        replaced = [row for row in self.causes() if row[0] == "replaced"]
        self.assertEqual(replaced, [("replaced", "compute", "opt", "fused", 1, 2, 3, -15.0)])

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
