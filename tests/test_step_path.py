"""trace_step_path (rule A12): its rows cut those of trace_step_time finer, at every level and clock."""
import glob
import os
import re
import unittest
from collections import Counter

import oracle
import oracle_serving
import oracle_steps
from made import InFolder, document, event, kernel, launch, step, write
from support import EXAMPLES, connect, corpus, series, slowest
from test_step_time import random_trace

LEVELS = ("op", "top_op", "module", "annotation", "kernel")
CALLS = ("idle_call", "idle_launch", "call")
WORK = ("compute", "comm", "memory")


def name_of(class_, names, level):
    """The name that trace_step_time has for a path, by the last sentence of A12; False if the path does not tell."""
    kernel_, op = names["kernel"], names["op"]
    if class_ == "comm" or (class_ in WORK and level == "kernel"):
        return kernel_
    if class_ in WORK and op is None:  # work without a launch, or with one outside of all events
        return False
    if class_ in CALLS:
        return op
    return names["op" if level == "kernel" else level]


class Paths(unittest.TestCase):
    def check(self, db, path, clock, level):
        time = Counter()
        for *key, time_ns in db.execute("SELECT rank, iteration, class, name, time_ns"
                                        " FROM trace_step_time(?, 'all', 'all', ?, ?)", (path, level, clock)):
            time[tuple(key)] += time_ns
        unsure = Counter()
        for rank, iteration, class_, *names, time_ns in db.execute(
                "SELECT rank, iteration, class, annotation, module, top_op, op, kernel, time_ns"
                " FROM trace_step_path(?, 'all', 'all', ?)", (path, clock)):
            names = dict(zip(("annotation", "module", "top_op", "op", "kernel"), names))
            self.assertEqual(names["kernel"] is not None, class_ in WORK)
            name = name_of(class_, names, level)
            if name is False:
                unsure[rank, iteration, class_, names["kernel"]] += time_ns
            else:
                time[rank, iteration, class_, name] -= time_ns
        left = {key: value for key, value in time.items() if value}
        self.assertTrue(all(value > 0 for value in left.values()), left)
        self.assertEqual(sum(left.values()), sum(unsure.values()))
        for *key, name in left:
            self.assertTrue(name is None or (*key, name) in unsure, name)

    def check_trace(self, db, path):
        for clock in ("device", "host"):
            for level in LEVELS:
                with self.subTest(path, clock=clock, level=level):
                    self.check(db, path, clock, level)

    def test_examples(self):
        db = connect()
        for folder in ("gpu", "cpu"):
            self.check_trace(db, os.path.join(EXAMPLES, folder, "test"))

    @slowest
    def test_real_traces(self):
        db = connect()
        for path in (("hta", "trace_diff", "control"), ("hta", "trace_diff", "test"), ("hta", "amd_trace"),
                     ("hta", "cpu_only"), ("hta", "critical_path", "simple_add"), ("kineto", "resnet50_workers_0")):
            self.check_trace(db, corpus(*path))


class Sums(unittest.TestCase):
    def test_of_the_trace_are_those_of_its_steps(self):
        db = connect()
        for path in (os.path.join(EXAMPLES, folder, "test") for folder in ("gpu", "cpu")):
            for given in ("NULL, NULL, NULL", "'all', 'all', 'device'", "1, 'all', 'host'"):
                query = ("SELECT {} FROM trace_step_path(?, {}, '{}') GROUP BY class, annotation, module, top_op, op, kernel"
                         " ORDER BY sum(time_ns) DESC, class, kernel, op, annotation, module, top_op")
                names = "class, annotation, module, top_op, op, kernel"
                steps, = db.execute("SELECT count(*) FROM (SELECT DISTINCT rank, iteration"
                                    f" FROM trace_step_path(?, {given}))", (path,)).fetchone()
                wanted = db.execute(query.format(f"{names}, sum(time_ns), sum(kernels)", given, "step"), (path,)).fetchall()
                found = db.execute(query.format(f"{names}, time_ns, kernels, count(*), rank, iteration, step_count, time", given,
                                                "trace"), (path,)).fetchall()
                self.assertEqual(found, [(*row, 1, None, None, steps, row[6] / 1000) for row in wanted])


def area_of(annotation, module, top_op):
    """A12.7, in Python."""
    if annotation is None and module is not None and module.startswith("nn.Module"):
        return module
    if annotation is None and top_op is not None and (
            top_op.startswith(("autograd::engine", "torch::autograd::AccumulateGrad"))
            or re.search(r"Backward[0-9]?\Z", top_op)):
        return "backward"
    return annotation if annotation is not None else top_op


class Areas(InFolder):
    """A12.7"""

    def check(self, path):
        for *names, area in connect().execute(
                "SELECT DISTINCT annotation, module, top_op, area FROM trace_step_path(?, 'all', 'all')", (path,)):
            self.assertEqual(area, area_of(*names), names)
            self.seen.add(area)

    def test_every_pair(self):
        self.seen = set()
        for path in {os.path.dirname(path) for path in glob.glob(os.path.join(EXAMPLES, "*", "*", "*.json.gz"))}:
            self.check(path)
        self.assertIn("backward", self.seen)
        self.assertIn("Optimizer.step#AdamW.step", self.seen)

    def test_names(self):
        self.seen = set()
        names = ["Backward", "Backward1", "MulBackward0", "MulBackward12", "XBackwardX", "xbackward", "7", "",
                 "Backward\n", "autograd::engine", "autograd::engine::evaluate_function: MulBackward0", "xautograd::engine",
                 "torch::autograd::AccumulateGrad", "torch::autograd::Accumulate", "nn.Module: A_0", "nn.Modul", "aten::mm"]
        operators = (event(name, 10 * i, 8) for i, name in enumerate(names))
        write("d/a.json", document(step(1, 0, 10 * len(names)), *operators))
        self.check("d")
        self.assertEqual(self.seen & set(names), set(names) - {
            "Backward", "Backward1", "MulBackward0", "autograd::engine",
            "autograd::engine::evaluate_function: MulBackward0", "torch::autograd::AccumulateGrad"})


class Kernels(InFolder):
    """A12.5, against the rules word for word."""

    def counted(self, file, clock):
        found, attributed = Counter(), oracle_serving.Replayed(file)
        for window in oracle_steps.windows_of(file, clock):
            for work in attributed.work:
                if window.start <= work.ts_ns < window.end:
                    launched = attributed.rows.get(work.link)
                    names = [attributed.of_launch(launched, level) for level in ("annotation", "module", "top_op", "op")]
                    if launched is not None and (attributed.of_work(work, "op") or "").startswith("graph: "):  # A14
                        names[3] = attributed.of_work(work, "op")
                    found[window.iteration, oracle_steps.CLASSES[oracle_steps.kind(work)], *names,
                          oracle_steps.stable(work.name)] += 1
        return found

    def test_random_traces(self):
        kernels, hidden, count = 0, 0, series(60, 300)
        for seed in range(count):
            path = write(f"{seed % 8}.json", random_trace(seed))
            file = oracle.read_trace(path).files[0]
            for clock in ("device", "host"):
                rows = self.rows("SELECT iteration, class, annotation, module, top_op, op, kernel, kernels, time_ns"
                                 " FROM trace_step_path(?, 0, 'all', ?)", path, clock)
                with self.subTest(seed=seed, clock=clock):
                    self.assertEqual({row[:7]: row[7] for row in rows if row[7]}, self.counted(file, clock))
                kernels += sum(row[7] for row in rows)
                hidden += sum(row[7] > 0 and row[8] == 0 for row in rows)
        self.assertGreater(kernels, 2 * count)
        self.assertGreater(hidden, count // 10)


class Rows(InFolder):
    def paths(self, clock="device"):
        return self.rows("SELECT class, annotation, module, top_op, op, kernel, time_ns"
                         " FROM trace_step_path('d', 0, 0, ?)", clock)

    def test_a_launch_and_what_is_around_it(self):
        around = [event("forward", 10, 60, cat="user_annotation"),
                  event("nn.Module: Net", 12, 50, cat="python_function"), event("aten::linear", 15, 40),
                  event("aten::mm", 20, 20)]
        write("d/a.json", document(step(0, 0, 100), *around, launch(25, 5, 1), kernel("k", 45, 30, 1)))
        forward, net = "forward", "nn.Module: Net"
        inside = (forward, net, "aten::linear")
        self.assertEqual(self.paths("host"), [
            ("idle_unrecorded", None, None, None, None, None, 35000),
            ("compute", *inside, "aten::mm", "k", 30000),
            ("idle_wait", *inside, "aten::mm", None, 15000),
            ("idle_host", *inside, "aten::linear", None, 5000),
            ("idle_host", *inside, "aten::mm", None, 5000),
            ("idle_launch", *inside, "cudaLaunchKernel", None, 5000),
            ("idle_host", forward, net, forward, net, None, 3000),
            ("idle_host", *[forward] * 4, None, 2000)])

    def test_nothing_is_recorded(self):
        write("d/a.json", document(step(0, 0, 100)))
        self.assertEqual(self.paths(), [("unrecorded", None, None, None, None, None, 100000)])
