"""trace_step_path (A12): its rows subdivide the rows of trace_step_time, at every level and clock."""
import glob
import os
import random
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
CALLS = ("idle_call", "idle_launch", "idle_unrecorded", "call", "unrecorded")
WORK = ("compute", "comm", "memory")


def name_of(class_, names, level):
    """The name in trace_step_time for a path, by the last sentence of A12; False if the path does not give it."""
    kernel_, op = names["kernel"], names["op"]
    if class_ == "comm" or (class_ in WORK and level == "kernel"):
        return kernel_
    if class_ in WORK and op is None:  # work without a launch, or with one outside all events
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
        for folder in ("gpu", "cpu")[:series(1, 2)]:
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
                query = ("SELECT {} FROM trace_step_path(?, {}, '{}') GROUP BY class, annotation, module, top_op, op,"
                         " kernel"
                         " ORDER BY sum(time_ns) DESC, class, kernel, op, annotation, module, top_op")
                names = "class, annotation, module, top_op, op, kernel"
                steps, = db.execute("SELECT count(*) FROM (SELECT DISTINCT rank, iteration"
                                    f" FROM trace_step_path(?, {given}))", (path,)).fetchone()
                wanted = db.execute(query.format(f"{names}, sum(time_ns), sum(kernels)", given, "step"),
                                    (path,)).fetchall()
                found = db.execute(query.format(f"{names}, time_ns, kernels, count(*), rank, iteration, step_count,"
                                                f" time", given,
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


def family_of(area, module, repeated):
    """L1 in Python; `repeated` has the stems of the annotations in L1.3."""
    if area is None or area == "backward":
        return area
    if area.startswith("nn.Module: "):
        return re.sub(r"_[0-9]+\Z", "", area)
    path = re.sub(r"(?<![A-Za-z0-9_.])[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]*)+",
                  lambda found: re.sub(r"\.[0-9]+(?=\.|\Z)", ".*", found[0]), area)
    stem = re.sub(r"(?<=.)(?<![0-9])[0-9]+\Z", "*", path, flags=re.DOTALL)
    return stem if stem != path and stem in repeated else path


class Families(InFolder):
    """L1 against the rules word for word."""
    STEPS = (("layers.0.mlp", "layers.17.mlp", "block 1", "block 2", "lone 1"), ("lone 2", "block 3", "block 3"),
             ("lone 3", "conv1d", "a.1.2.c", "1.2", "v2.x.3", "x 0.5", "é.1", "_.7", "7", "..1", "a..1", "a.b.1 c.2",
              "k9", "k10", "",
              "a.01", "a.1b", "nn.Modul: X_1"))

    def test_of_annotations(self):
        events, at = [], 0
        for number, names in enumerate(self.STEPS):
            events.append(step(number, at, 10 * len(names)))
            for name in names:
                events += [event(name, at, 9, cat="user_annotation"), event("aten::mm", at + 1, 7)]
                at += 10
        write("a.json", document(*events))
        found = dict(self.rows("SELECT DISTINCT area, family FROM trace_step_path('a.json', 0, 'all')"
                               " WHERE area IS NOT NULL"))
        self.assertEqual(set(found), {name for names in self.STEPS for name in names})
        self.assertEqual(found, {area: family_of(area, None, {"block *", "k*"}) for area in found})
        self.assertEqual([found[area] for area in ("layers.17.mlp", "block 2", "lone 2", "1.2", "x 0.5", "a.1.2.c",
                                                   "k9")],
                         ["layers.*.mlp", "block *", "lone 2", "1.2", "x 0.5", "a.*.*.c", "k*"])

    def test_of_modules(self):
        names = ("Net_0", "Net_12", "Net", "Net_", "Net_1_2", "Net0", "layers.1_3")
        write("a.json", document(step(0, 0, 100), *(event(f"nn.Module: {name}", 10 * i, 9, cat="python_function")
                                                    for i, name in enumerate(names))))
        found = dict(self.rows("SELECT area, family FROM trace_step_path('a.json') WHERE area IS NOT NULL"))
        self.assertEqual(found, {f"nn.Module: {name}": f"nn.Module: {family}" for name, family in
                                 zip(names, ("Net", "Net", "Net", "Net_", "Net_1", "Net0", "layers.1"))})

    def test_whatever_the_order_of_events(self):
        events = [event(f"block {i % 4}", 10 * i, 9, cat="user_annotation") for i in range(8)]
        events += [step(i, 20 * i, 20) for i in range(4)]
        for seed in range(5):
            random.Random(seed).shuffle(events)
            write("a.json", document(*events))
            self.assertEqual(self.rows("SELECT DISTINCT family FROM trace_step_path('a.json', 0, 'all')"
                                       " WHERE area IS NOT NULL"),
                             [("block *",)])


NAMED = """SELECT iteration, class, CASE WHEN class = 'comm' THEN kernel
         WHEN class IN ('idle_call', 'idle_launch', 'idle_unrecorded', 'call', 'unrecorded') THEN op
         WHEN class IN ('compute', 'memory') THEN coalesce(top_name, kernel) ELSE top_name END AS name, sum(time_ns)
  FROM trace_step_path(?, 0, 'all', ?) GROUP BY 1, 2, 3 HAVING sum(time_ns) > 0 OR class IS NULL"""


def nested_frames(seed):
    """A trace of nested Python frames, modules, operators and calls, some of which launch."""
    rng = random.Random(seed)
    events, correlations = [step(0, 0, 40), step(1, 40, 45)], []
    names = {"python_function": ("train.py(1): main", "model.py(2): forward", "nn.Module: A_0", "nn.Module: A_1",
                                 "nn.Module: B_0",
                                 "torch/x.py(1): call", "threading.py(1): run", "model.py(3): loss"),
             "cpu_op": ("aten::mm",), "user_annotation": ("forward",), "cuda_runtime": ("cudaLaunchKernel",),
             "other": ("x",)}

    def fill(start, end, depth):
        at = start
        while at < end and depth < 6:
            at += rng.choice((0, 0, 1, 3))
            length = rng.randint(1, 12)
            if at + length > end:
                return
            cat = rng.choice(("python_function",) * 5 + tuple(names)) if depth > 0 else "python_function"
            args = {"args": {"correlation": len(correlations) + 1}} if cat == "cuda_runtime" else {}
            if args:
                correlations.append(at + length)
            events.append(event(rng.choice(names[cat]), at, length, cat=cat, **args))
            if cat != "cuda_runtime":
                fill(at, at + length, depth + 1)
            at += length

    fill(0, 84, 0)
    if rng.random() < .5:
        events += [kernel("gemm", at + rng.randint(0, 4), rng.randint(1, 4), i + 1)
                   for i, at in enumerate(correlations)]
    return document(*events)


class Frames(InFolder):
    """L4: frames of Python."""

    def test_random_traces(self):
        """The name of a part (L2.1), which has no frame in it, follows the rules word for word on random traces."""
        count, seen = series(60, 300), Counter()
        for seed in range(count):
            path = write(f"{seed % 8}.json", (random_trace if seed % 2 else nested_frames)(seed))
            file = oracle.read_trace(path).files[0]
            for clock in ("device", "host"):
                found = {row[:3]: row[3] or 0 for row in self.rows(NAMED, path, clock)}
                expected = oracle_steps.attribute(file, clock, None, levels=("top_name",))["top_name"]
                with self.subTest(seed=seed, clock=clock):
                    self.assertEqual(found, {key: ns for key, ns in expected.items() if ns or key[1] is None})
                for *_, name in found:
                    seen["gap"] += (name or "").startswith(("between", "before", "after"))
                    seen["function"] += (name or "").endswith((".py: main", ".py: forward", ".py: loss"))
                    seen["method"] += name in ("A.forward", "B.loss")
                    seen["module"] += name in ("A", "B")
        self.assertTrue(all(seen[what] > count // 10 for what in ("gap", "function", "method", "module")), seen)

    def test_what_stands_for_a_frame(self):
        """A frame is represented by PyTorch, the standard library, another library or the user."""
        def named(*frames):
            write("a.json", document(step(0, 0, 100), event("before", 0, 10), event("later", 90, 10),
                                     *(event(name, 10 + i, 70 - 2 * i, cat="python_function")
                                       for i, name in enumerate(frames))))
            return {name for name, in self.rows("SELECT top_name"
                                                " FROM trace_step_path('a.json') WHERE class = 'host'")} - {
                "before", "later"}
        self.assertEqual(named("<string>(1): <module>"), {"between before and later"})
        self.assertEqual(named("train.py(1): main", "nn.Module: Net_0"),
                         {"between before and nn.Module: Net_0", "Net", "between nn.Module: Net_0 and later"})
        for frame in ("/opt/conda/lib/python3.11/site-packages/torch/nn/modules/module.py(1): _call_impl",
                      "C:\\me\\env\\Lib\\site-packages\\torch\\nn\\modules\\module.py(1): _call_impl",
                      "torch\\_ops.py(5): __call__", "C:\\Python38\\lib\\asyncio\\events.py(81): _run",
                      "torch/_ops.py(5): __call__",
                      "threading.py(9): run", "/usr/lib/python3.11/asyncio/base_events.py(600): run_forever",
                      "<built-in function x>",
                      "<frozen importlib._bootstrap>(2): y", "multiprocessing/queues.py(8): get", "no frame"):
            with self.subTest(frame):
                self.assertEqual(named("nn.Module: Net_0", frame), {"Net"})
        for frame in ("model/net.py(3): forward",
                      "D:\\me\\lib\\train.py(7): forward",
                      "C:\\me\\env\\Lib\\site-packages\\timm\\layers.py(2): forward",
                      "/home/me/lib/train.py(7): forward",
                      "torchvision/models/x.py(3): forward",
                      "/usr/lib/python3/dist-packages/timm/layers.py(2): forward"):
            with self.subTest(frame):
                self.assertEqual(named("nn.Module: Net_12", frame, "torch/_tensor.py(3): wrapped"),
                                 {"Net", "Net.forward"})

    def named(self, *events):
        """{name: us} of host time in one step of 100 us, with `a` at 0-10 and `z` at 90-100 besides these events."""
        write("a.json", document(step(0, 0, 100), event("a", 0, 10), *events, event("z", 90, 10)))
        return {name: ns / 1000 for name, ns in self.rows(
            "SELECT top_name, sum(time_ns) FROM trace_step_path('a.json', 0, 'all') WHERE class IN ('host', 'call')"
            " GROUP BY 1") if name not in ("a", "z")}

    @staticmethod
    def frame(name, ts, dur):
        return event(name, ts, dur, cat="python_function")

    def test_a_function_within_a_gap(self):
        """A function within a gap names it; its file has no folder or line, also in Windows notation, and <lambda> is a
        function, too.
        """
        for name, short in (("train.py(5): preprocess", "train.py: preprocess"),
                            ("/home/me/lib/data/load.py(1205): <lambda>", "load.py: <lambda>"),
                            ("C:\\me\\data.py(7): read", "data.py: read"),
                            ("/usr/lib/python3/dist-packages/PIL/Image.py(3): open", "Image.py: open"),
                            ("a(b)/c.py(3): d(4): e", "c.py: d(4): e"), ("(3): f", ": f")):
            with self.subTest(name):
                self.assertEqual(self.named(self.frame("train.py(1): main", 0, 100), self.frame(name, 20, 50)),
                                 {"between a and z": 30, short: 50})

    def test_of_nested_functions_the_outermost(self):
        self.assertEqual(self.named(self.frame("torch/x.py(1): call", 12, 76), self.frame("a.py(1): outer", 20, 50),
                                    self.frame("b.py(1): inner", 30, 30), self.frame("c.py(1): innermost", 40, 10),
                                    self.frame("b.py(1): inner", 72, 8)),
                         {"between a and z": 18, "a.py: outer": 50, "b.py: inner": 8})

    def test_functions_that_overlap(self):
        self.assertEqual(self.named(self.frame("a.py(1): f", 20, 30), self.frame("a.py(1): g", 40, 30)),
                         {"a.py: f": 30, "a.py: g": 20})

    def test_a_function_that_encloses_an_event_keeps_the_gap(self):
        """A function that encloses an event keeps the gap, although it or one of its callees would name the gap
        before.
        """
        for inner in (event("m", 60, 5), event("cudaFree", 60, 5, cat="cuda_runtime"),
                      event("n", 60, 5, cat="user_annotation"), self.frame("nn.Module: N_0", 60, 5)):
            of_inner = inner["name"]
            name = {"nn.Module: N_0": "N"}.get(of_inner, of_inner)
            with self.subTest(of_inner):
                found = self.named(self.frame("t.py(1): train", 12, 8), self.frame("t.py(1): train", 30, 50), inner,
                                   self.frame("t.py(2): load", 35, 15))
                found.pop(name, None)
                found.pop(None, None)  # a call
                self.assertEqual(found, {"t.py: train": 8, "t.py: load": 15, f"between a and {of_inner}": 15,
                                         f"between {of_inner} and z": 15})

    def test_functions_of_torch_and_of_the_library_are_skipped(self):
        for name in ("torch/_ops.py(5): __call__", "threading.py(9): run", "<built-in function x>",
                     "<frozen importlib._bootstrap>(2): y", "no frame"):
            with self.subTest(name):
                self.assertEqual(self.named(self.frame(name, 20, 50)), {"between a and z": 50})
                self.assertEqual(self.named(self.frame(name, 20, 50), self.frame("t.py(1): f", 30, 20)),
                                 {"between a and z": 30, "t.py: f": 20})

    def test_a_function_in_two_steps_is_not_within_a_gap(self):
        write("a.json", document(step(0, 0, 100), step(1, 100, 100), event("a", 0, 10), event("b", 190, 10),
                                 self.frame("t.py(1): f", 50, 80), self.frame("t.py(2): g", 60, 40),
                                 self.frame("t.py(3): h", 100, 20)))
        self.assertEqual(dict(self.rows("SELECT top_name, time_ns FROM trace_step_path('a.json', 0, 'all')"
                                        " WHERE class = 'host'")),
                         {"a": 10000, "after a": 10000, "t.py: g": 40000, "t.py: h": 20000, "before b": 10000,
                          "b": 10000})

    def test_a_gap_within_a_frame_ends_with_the_step(self):
        write("a.json", document(step(0, 0, 100), step(1, 100, 100),
                                 event("train.py(1): main", 0, 200, cat="python_function"),
                                 event("a", 0, 10), event("b", 190, 10)))
        self.assertEqual(dict(self.rows("SELECT top_name, time_ns FROM trace_step_path('a.json', 0, 'all')"
                                        " WHERE class = 'host'")),
                         {"a": 10000, "after a": 90000, "before b": 90000, "b": 10000})


class Areas(InFolder):
    """A12.7: areas."""

    def check(self, path):
        for *names, area in connect().execute(
                "SELECT DISTINCT annotation, module, top_name, area FROM trace_step_path(?, 'all', 'all')", (path,)):
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
                 "Backward\n", "autograd::engine", "autograd::engine::evaluate_function: MulBackward0",
                 "xautograd::engine",
                 "torch::autograd::AccumulateGrad", "torch::autograd::Accumulate", "nn.Module: A_0", "nn.Modul",
                 "aten::mm"]
        operators = (event(name, 10 * i, 8) for i, name in enumerate(names))
        write("d/a.json", document(step(1, 0, 10 * len(names)), *operators))
        self.check("d")
        self.assertEqual(self.seen & set(names), set(names) - {
            "Backward", "Backward1", "MulBackward0", "autograd::engine",
            "autograd::engine::evaluate_function: MulBackward0", "torch::autograd::AccumulateGrad"})


class Kernels(InFolder):
    """A12.5 against the rules word for word."""

    def counted(self, file, clock):
        found, attributed = Counter(), oracle_serving.Replayed(file)
        for window in oracle_steps.windows_of(file, clock):
            for work in attributed.work:
                if window.start <= work.ts_ns < window.end:
                    launched = attributed.rows.get(work.link)
                    names = [attributed.of_launch(launched, level)
                             for level in ("annotation", "module", "top_op", "op")]
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
            ("compute", *inside, "aten::mm", "k", 30000),
            ("idle_unrecorded", None, None, None, "after forward", None, 25000),
            ("idle_wait", *inside, "aten::mm", None, 15000),
            ("idle_unrecorded", None, None, None, "before forward", None, 10000),
            ("idle_host", *inside, "aten::linear", None, 5000),
            ("idle_host", *inside, "aten::mm", None, 5000),
            ("idle_launch", *inside, "cudaLaunchKernel", None, 5000),
            ("idle_host", forward, net, forward, net, None, 3000),
            ("idle_host", *[forward] * 4, None, 2000)])

    def test_nothing_is_recorded(self):
        write("d/a.json", document(step(0, 0, 100)))
        self.assertEqual(self.paths(), [("unrecorded", None, None, None, None, None, 100000)])
