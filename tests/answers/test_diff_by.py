"""trace_diff_by (B1 to B6): against trace_kernel_owners and call stacks of trace_events walked in Python, against the
planted changes of examples/gpu, and its errors.
"""
import itertools
import json
import os
import random
import re
import unittest
from collections import Counter, defaultdict

import generate_gpu_pair
from made import InFolder, document, event, kernel, launch, step, write
from oracle_steps import OPERATORS, stable
from support import EXAMPLES, corpus, slow
from test_step_time import random_trace

CONTROL, TEST = (os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test"))
KEYS = ("op", "top_op", "module", "annotation", "kernel", "kernel_type", "cat", "stream", "shapes", "types", "name")
OF_LAUNCH = ("grid", "block")
EVENTS = """
    SELECT file, event, rank, iteration, device, cat, name, ts_ns, dur_ns, round(self_dur * 1000), pid, tid, parent,
           args ->> '$."Input Dims"', args ->> '$."Input type"',
           args ->> '$.grid', args ->> '$.block'
    FROM trace_events(?, ?)"""
OWNERS = """
    SELECT file, event, launch, name, kernel_type, cat, stream, op, top_op, module, annotation, shapes, types
    FROM trace_kernel_owners(?, ?, ?)"""
STEP_NAME = re.compile(r"ProfilerStep ?#(\d+)")
COLUMNS = ("key", "key_json", "control_counts", "test_counts", "control_kernels", "test_kernels", "control_device_time",
           "test_device_time", "diff_device_time", "diff_from_counts", "diff_from_mean", "control_host_time",
           "test_host_time", "diff_host_time", "control_self_time", "test_self_time", "diff_self_time",
           "control_events", "test_events")
SELECTED = f"""
    SELECT {", ".join(COLUMNS + KEYS + OF_LAUNCH)} FROM trace_diff_by(:control, :test, :keys)
    WHERE control_rank = :ranks AND test_rank = :ranks AND control_iteration = :steps AND test_iteration = :steps"""


class Event:
    def __init__(self, *values):
        (self.file, self.event, self.rank, self.iteration, self.device, self.cat, self.name, self.ts, self.dur,
         self.self_dur, self.pid, self.tid, self.parent, self.shapes, self.types, self.grid, self.block) = values
        self.counts = self.dur is not None and self.name is not None and self.cat != "Trace"

    def holds(self, thread, instant):
        return (self.pid, self.tid) == thread and self.ts is not None and self.ts <= instant < self.ts + self.dur

    def innerness(self):
        return self.ts, -self.dur, self.event


def is_call(cat):
    return cat in ("cuda_driver", "Runtime") or (cat or "").endswith("_runtime")


def launcher(holding, level):
    """The host event that labels a level, among the host events on its thread that contain the launch's start."""
    operators = [row for row in holding if row.cat in OPERATORS]
    modules = [row for row in holding if row.name.startswith("nn.Module: ")]
    annotations = [row for row in holding if row.cat == "user_annotation"]
    if level == "annotation":
        return max(annotations, key=Event.innerness, default=None)
    if level == "module" and modules:
        return max(modules, key=Event.innerness)
    return (max if level == "op" else min)(operators or holding, key=Event.innerness, default=None)


class Side:
    """The selected part of a trace: device work and host events, with the values of every key."""

    def __init__(self, db, path, ranks, chosen):
        self.events = {(row[0], row[1]): Event(*row) for row in db.execute(EVENTS, (path, ranks))}
        steps = {place: row for place, row in self.events.items() if row.device == "CPU" and row.ts is not None
                 and row.dur is not None and STEP_NAME.fullmatch(row.name or "")}
        ranks_read = {row.rank for row in self.events.values()}
        numbers = {rank: sorted({int(STEP_NAME.fullmatch(step.name)[1]) for step in steps.values()
                                 if step.rank == rank}) for rank in ranks_read}
        if chosen == "steady":
            numbers = {rank: of[1:-1] if len(of) > 2 else of for rank, of in numbers.items()}
            steady = db.execute("SELECT DISTINCT rank, iteration FROM trace_step_time(?, ?)", (path, ranks)).fetchall()
            numbers = {rank: [number for number in of if (rank, number) in steady]  # I5
                       for rank, of in numbers.items()}
        everything = chosen == "all" or not any(numbers.values())
        self.steps = sum(len(of) for of in numbers.values()) or len(ranks_read)
        self.around = [row for place, row in self.events.items() if row.device == "CPU" and row.counts
                       and not is_call(row.cat) and place not in steps]
        self.work = []
        for file, number, call, name, type_, cat, stream, op, top_op, module, annotation, shapes, types in db.execute(
                OWNERS, (path, ranks, chosen)):
            made = {"name": name, "kernel": name, "kernel_type": type_, "cat": cat, "stream": stream, "op": op,
                    "top_op": top_op, "module": module, "annotation": annotation, "shapes": shapes, "types": types,
                    "grid": self.events[file, number].grid, "block": self.events[file, number].block}
            labels, itself = self.launchers(file, number, call)
            if (op or "").startswith("graph: "):  # A14: the operator is unknown
                labels.pop("op", None)
            self.work.append((made, self.events[file, number].dur, labels, itself))
        self.host = {place: self.host_keys(*place) for place, row in self.events.items()
                     if row.device == "CPU" and row.counts and (everything or row.iteration in numbers[row.rank])}

    def host_keys(self, file, number):
        """The keys of a host event, from its call stack and itself."""
        chain = []
        while number is not None:
            chain.append(self.events[file, number])
            number = self.events[file, number].parent
        labels = [row for row in chain if row.device == "CPU" and not is_call(row.cat) and row.name is not None
                  and not STEP_NAME.fullmatch(row.name)]
        operators = [row for row in labels if row.cat in OPERATORS]
        around = operators or labels
        op, top = (around[0], around[-1]) if around else (None, None)
        module = next((row for row in labels if row.name.startswith("nn.Module: ")), top)
        annotation = next((row for row in labels if row.cat == "user_annotation"), None)
        made = {key: row and stable(row.name)
                for key, row in (("op", op), ("top_op", top), ("module", module), ("annotation", annotation))}
        return {**dict.fromkeys(KEYS + OF_LAUNCH), **made, "shapes": op.shapes if operators else None,
                "types": op.types if operators else None, "cat": chain[0].cat, "name": stable(chain[0].name)}

    def launchers(self, file, number, call):
        """{level: (file, event)} for the labels of a launch, and the event itself, which stands for a run without a
        label.
        """
        if call is None:
            return {}, (file, number)
        launch = self.events[file, call]
        holding = [row for row in self.around
                   if row.file == file and row.holds((launch.pid, launch.tid), launch.ts)]
        labels = {level: launcher(holding, level) for level in KEYS[:4]}
        return {level: (row.file, row.event) for level, row in labels.items() if row}, (file, number)

    def sums(self, keys):
        """{values of the keys: (runs, kernels, device time, host time, self time, events)}; ns"""
        runs, sums = defaultdict(set), defaultdict(lambda: [0, 0, 0, 0, 0])
        by = next((key for key in KEYS[:4] if key in keys or (key == "op" and {"shapes", "types"} & {*keys})), None)
        for made, dur, labels, itself in self.work:
            part = tuple(made[key] for key in keys)
            runs[part].add(labels.get(by, itself))
            sums[part][0] += 1
            sums[part][1] += dur
        parts = {place: tuple(made[key] for key in keys) for place, made in self.host.items()}
        for place, part in parts.items():
            row = self.events[place]
            if parts.get((place[0], row.parent)) != part:
                sums[part][2] += row.dur
            sums[part][3] += int(row.self_dur or 0)
            sums[part][4] += 1
        return {part: (len(runs[part]), *values) for part, values in sums.items()}


class Comparing(InFolder):
    @staticmethod
    def expected(sides, part, sums):
        """The columns from control_counts on. Quotients of integers are exact up to one rounding."""
        (runs0, kernels0, *times0, events0), (runs1, kernels1, *times1,
                                              events1) = (of.get(part, (0,) * 6) for of in sums)
        steps0, steps1 = sides[0].steps, sides[1].steps
        times = [(a / (1000 * steps0), b / (1000 * steps1), (b * steps0 - a * steps1) / (1000 * steps0 * steps1))
                 for a, b in zip(times0, times1)]
        split = times[0][2], 0  # work on one side only
        if runs0 and runs1:  # by the difference of one factor and the mean of the other
            mean0, mean1, per = times0[0] * runs1, times1[0] * runs0, 2000 * steps0 * steps1 * runs0 * runs1
            split = ((runs1 * steps0 - runs0 * steps1) * (mean0 + mean1) / per,
                     (mean1 - mean0) * (runs0 * steps1 + runs1 * steps0) / per)
        return (runs0 / steps0, runs1 / steps1, kernels0 / steps0, kernels1 / steps1, *times[0], *split, *times[1],
                *times[2], events0 / steps0, events1 / steps1)

    def compare(self, control, test, keys, ranks, steps, sides=None):
        sides = sides or [Side(self.db, path, ranks, steps) for path in (control, test)]
        sums = [side.sums(keys) for side in sides]
        found = self.db.execute(SELECTED, {"control": control, "test": test, "keys": ",".join(keys), "ranks": ranks,
                                           "steps": steps}).fetchall()
        seen = set()
        for row, named in ((row[:len(COLUMNS)], row[len(COLUMNS):]) for row in found):
            values = json.loads(row[1])
            self.assertEqual(list(values), list(keys))
            part = tuple(json.dumps(value, separators=(",", ":")) if isinstance(value, list) else value
                         for value in values.values())
            seen.add(part)
            self.assertEqual(dict(zip(KEYS + OF_LAUNCH, named)),
                             {**dict.fromkeys(KEYS + OF_LAUNCH), **dict(zip(keys, part))})
            expected = self.expected(sides, part, sums)
            self.assertEqual((row[2:9], row[11:]), (expected[:7], expected[9:]), row)
            for got, wanted in zip((*row[9:11], row[9] + row[10]), (*expected[7:9], row[8])):
                self.assertAlmostEqual(got, wanted, delta=1e-9 * (1 + row[6] + row[7]), msg=row)
            joined = [str(value) if value is not None else "" for value in part]
            self.assertEqual(row[0], " | ".join(joined) if any(value is not None for value in part) else None)
        self.assertEqual(seen, sums[0].keys() | sums[1].keys())
        self.assertEqual(len(seen), len(found))
        self.assertEqual([abs(row[8]) for row in found], sorted((abs(row[8]) for row in found), reverse=True))
        return found


def nested_trace(rng, steps, rank):
    """Nested operators with modules and annotations around them, on two threads. Some launch one kernel, some several,
    some a graph, some nothing; there are launches without an operator, and kernels without a launch. Steps are on the
    first thread, with work between them.
    """
    events, correlations = [], itertools.count(1)

    def work(at, correlation):
        name, cat = rng.choice([("gemm", "kernel"), ("gemm", "kernel"), ("fill", "kernel"), ("ncclAllReduce", "kernel"),
                                ("Memcpy DtoD", "gpu_memcpy"), ("Memset", "gpu_memset")])
        stream = rng.choice([7, 7, 20])
        events.append(event(name, at + rng.randrange(9), rng.choice([0, 1, 2, 2.5, 7]), cat=cat, pid=0, tid=stream,
                            args={"stream": stream, "correlation": correlation,
                                  **({"grid": [rng.choice([1, 8]), 1, 1], "block": [64, 1, 1]}
                                     if rng.random() < .6 else {})}))

    def call(at, thread):
        name, kernels = rng.choice([("cudaLaunchKernel", 1), ("cudaLaunchKernel", 1), ("cudaGraphLaunch", 4),
                                    ("hipExtLaunch", 2), ("cudaLaunchKernel", 0)])
        correlation = next(correlations)
        events.append(event(name, at, 1, cat="cuda_runtime", tid=thread, args={"correlation": correlation}))
        for _ in range(kernels):
            work(at, correlation)
        return at + 2

    def nest(at, depth, thread):
        start = at
        for _ in range(rng.choice([0, 1, 2] if depth else [2, 3])):
            at = nest(at + 1, depth + 1, thread) if depth < 4 and rng.random() < .55 else call(at + 1, thread)
        if depth:
            cat, name = rng.choice([("cpu_op", "aten::mm"), ("cpu_op", "aten::mm"), ("cpu_op", "aten::add"),
                                    ("Operator", "aten::to"), ("user_annotation", "## fw ##"),
                                    ("python_function", "nn.Module: L_0"), ("python_function", "f.py(3): g")])
            args = {"args": {"Input Dims": rng.choice([[[2, 3]], [[4], []]])}} if rng.random() < .7 else {}
            if args and rng.random() < .7:
                args["args"]["Input type"] = rng.choice((["float"], ["double", "Scalar"]))
            events.append(event(name, start, at + 1 - start, cat=cat, tid=thread, **args))
        return at + 2

    at = nest(0, 0, 1)
    for number in range(steps):
        start, at = at, nest(at + 1, 0, 1)
        events.append(step(5 + number, start, at - start))
        at = nest(at, 0, 1) if rng.random() < .5 else at
    nest(0, 0, 2)
    for _ in range(rng.choice([0, 2])):
        work(rng.randrange(at), rng.choice([0, 10_000]))
    rng.shuffle(events)
    return document(*events, distributedInfo={"rank": rank})


class Runs(Comparing):
    """Counts are runs of the innermost host key, for every combination of keys."""

    PAIRS = 33

    def pair(self, number):
        rng = random.Random(number)
        ranks = 1 + number % 2
        for side in "ab":
            steps = rng.choice([0, 1, 2, 4])
            for rank in range(ranks):
                write(f"{number}{side}/{rank}.json", nested_trace(rng, steps, rank))
        return f"{number}a", f"{number}b"

    @slow
    def test_every_combination_of_keys(self):
        combinations = [keys for count in range(1, len(KEYS) + 1) for keys in itertools.combinations(KEYS, count)]
        self.assertEqual(len(combinations), 2047)
        seen = Counter()
        for number in range(self.PAIRS):
            control, test = self.pair(number)
            steps = ("all", "steady")[number // 2 % 2]
            sides = [Side(self.db, path, "all", steps) for path in (control, test)]
            for keys in combinations[number::self.PAIRS]:
                keys = [*keys, *OF_LAUNCH[:len(keys) % 3]]
                keys = random.Random(number).sample(keys, len(keys))
                with self.subTest(number=number, keys=keys, steps=steps):
                    for row in self.compare(control, test, keys, "all", steps, sides):
                        runs, kernels = row[2:4], row[4:6]
                        seen["rows"] += 1
                        seen["several kernels a run"] += runs[0] < kernels[0]
                        seen["nothing launched"] += kernels == (0, 0)
                        seen["one side"] += min(kernels) == 0 < max(kernels)
                        if not {*keys} & {"op", "top_op", "module", "annotation", "shapes", "types"}:
                            self.assertEqual(runs, kernels)
        self.assertGreater(min(seen.values()), 500, seen)
        self.assertEqual(len(seen), 4)

    def counts(self, keys, *events):
        write("trace.json", document(*events))
        return {row[0]: row[1:] for row in self.rows(
            "SELECT key, control_counts, control_kernels FROM trace_diff_by('trace.json', 'trace.json', ?)"
            " WHERE device_type = 'GPU'", keys)}

    def test_a_product_that_fills_first_is_one_run(self):
        events = [step(1, 0, 200), event("aten::linear", 0, 90), event("aten::mm", 10, 30), event("aten::mm", 50, 30),
                  launch(12, 1, 1), kernel("fill", 20, 1, 1), launch(14, 1, 2), kernel("gemm", 30, 9, 2),
                  launch(52, 1, 3), kernel("gemm", 60, 9, 3, 20)]
        self.assertEqual(self.counts("op", *events), {"aten::mm": (2, 3)})
        self.assertEqual(self.counts("top_op", *events), {"aten::linear": (1, 3)})
        self.assertEqual(self.counts("op,kernel", *events), {"aten::mm | gemm": (2, 2), "aten::mm | fill": (1, 1)})
        self.assertEqual(self.counts("top_op,stream", *events),
                         {"aten::linear | 7": (1, 2), "aten::linear | 20": (1, 1)})
        self.assertEqual(self.counts("top_op,op", *events), {"aten::linear | aten::mm": (2, 3)})
        self.assertEqual(self.counts("shapes,top_op", *events), {" | aten::linear": (2, 3)})
        self.assertEqual(self.counts("kernel", *events), {"gemm": (2, 2), "fill": (1, 1)})

    def test_a_graph_is_one_run_of_its_operator_and_a_run_a_kernel_without_one(self):
        kernels = [kernel("k", 50 + 10 * i, 5, 1) for i in range(4)]
        graph = event("cudaGraphLaunch", 12, 2, cat="cuda_runtime", args={"correlation": 1})
        self.assertEqual(self.counts("op", step(1, 0, 200), event("replay", 10, 20), graph, *kernels),
                         {"replay": (1, 4)})
        self.assertEqual(self.counts("op", step(1, 0, 200), graph, *kernels), {"graph: k": (4, 4)})

    def test_runs_are_of_a_step_and_a_file(self):
        """A run belongs to a step and a file: one event number in two files is two runs, and two steps halve counts."""
        for rank in (0, 1):
            write(f"ranks/{rank}.json", document(
                step(1, 0, 100), event("a", 0, 50), launch(1, 1, 1), kernel("k", 5, 5, 1), kernel("k", 10, 5, 1),
                step(2, 100, 100), distributedInfo={"rank": rank}))
        self.assertEqual(self.rows("SELECT key, control_counts, control_kernels, test_counts, test_kernels"
                                   " FROM trace_diff_by('ranks', 'ranks', 'op', 'all', 0, 'all', 1, 'GPU')"),
                         [("a", .5, 1, 1, 2)])


class DiffBy(Comparing):
    @slow
    def test_examples(self):
        sides = [Side(self.db, path, 1, "steady") for path in (CONTROL, TEST)]
        for keys in (("op",), ("top_op", "kernel_type"), ("shapes", "op"), ("stream", "cat"), ("name",), KEYS):
            with self.subTest(keys):
                self.compare(CONTROL, TEST, keys, 1, "steady", sides)
        self.compare(*(os.path.join(EXAMPLES, "cpu", side) for side in ("control", "test")),
                     ("module", "annotation"), 0, "steady")

    def test_random_traces(self):
        for seed in range(2000, 2060):
            paths = [write(f"{side}.json", random_trace(seed + 100 * side)) for side in (0, 1)]
            for steps in ("all", "steady"):
                with self.subTest(seed=seed, steps=steps):
                    self.compare(*paths, KEYS[seed % 10:][:3], 0, steps)

    def test_device_time_that_was_planted_is_found(self):
        """Planted device time is found by op, even behind work on other streams."""
        rows = {row[0]: row[1:] for row in self.rows(
            "SELECT key, control_kernels, test_kernels, diff_device_time FROM trace_diff_by(?, ?, 'op')"
            " WHERE control_iteration = 'steady' AND test_iteration = 'steady'", CONTROL, TEST)}
        for row in generate_gpu_pair.PLANTED:
            if row["class"] in ("compute", "memory") and 0 in row["ranks"]:
                counts = row["control_count"], row["test_count"]
                self.assertEqual(rows[row["name"]][:2], counts)
                self.assertAlmostEqual(rows[row["name"]][2], row["ns_per_step"] / 1000)

    def test_what_the_page_says_of_two_gpus(self):
        control, test = (os.path.join(corpus("tracelens", gpu), "facebook*") for gpu in ("h100", "mi300"))
        rows = dict(self.rows("SELECT key, diff_device_time FROM trace_diff_by(?, ?, 'op,shapes')", control, test))
        self.assertEqual(round(rows["aten::bmm | [[37632,8,64],[37632,64,8]]"] / 1000, 1), 13.2)
        rows = dict(self.rows("SELECT key, diff_device_time FROM trace_diff_by(?, ?, 'top_op')", control, test))
        self.assertLess(rows["aten::matmul"], -5000)

    def test_two_gpus_run_as_many_products(self):
        """Two GPUs run as many products; the fills before most cuBLAS products do not add any."""
        control, test = (os.path.join(corpus("tracelens", gpu), "facebook*") for gpu in ("h100", "mi300"))
        (*counts, diff, from_counts, from_mean), = self.rows(
            "SELECT control_counts, test_counts, control_kernels, test_kernels, diff_device_time, diff_from_counts,"
            " diff_from_mean FROM trace_diff_by(?, ?, 'op') WHERE key = 'aten::addmm'", control, test)
        self.assertEqual((counts, from_counts), ([85, 85, 169, 85], 0))
        self.assertAlmostEqual(from_mean, diff)

    def test_names_and_devices(self):
        path = write("trace.json", document(step(1, 0, 100), event("a", 0, 50), launch(1, 5, 1),
                                            kernel("void k<int>(float)", 10, 20, 1)))
        for use, name in ((0, "void k<int>(float)"), (1, "k"), (2, "void k<int>(float)"), (None, "void k<int>(float)")):
            self.assertEqual(self.rows("SELECT key, control_device_time FROM trace_diff_by(?1, ?1, 'kernel')"
                                       " WHERE use_short_name IS ?2 AND device_type = 'GPU'", path, use)
                             if use is not None else
                             self.rows("SELECT key, control_device_time FROM trace_diff_by(?1, ?1, 'kernel')"
                                       " WHERE device_type = 'GPU'", path), [(name, 20)])
        self.assertEqual(self.rows("SELECT key, control_counts, control_host_time, control_self_time FROM"
                                   " trace_diff_by(?1, ?1, 'op') WHERE device_type = 'CPU' ORDER BY key", path),
                         [(None, 0, 100, 50), ("a", 0, 50, 50)])

    def test_the_default_is_the_lowest_step(self):
        found = self.rows("SELECT sum(control_kernels) FROM trace_diff_by(?, ?, 'op')", CONTROL, TEST)
        self.assertEqual(found, self.rows("SELECT count(*) FROM trace_kernel_owners(?, 0, 10)", CONTROL))

    def test_turned_around(self):
        query = "SELECT key, %s FROM trace_diff_by(?, ?, 'op,kernel_type') ORDER BY key"
        columns = ("diff_device_time", "diff_from_counts", "diff_from_mean", "diff_host_time", "diff_self_time")
        there = self.rows(query % ", ".join(columns), CONTROL, TEST)
        back = self.rows(query % ", ".join(f"-{column}" for column in columns), TEST, CONTROL)
        self.assertEqual(there, back)

    def test_errors(self):
        expected = ("trace_diff_by: keys must be one or more of op, top_op, module, annotation, kernel, kernel_type,"
                    " cat, stream, shapes, types, name, grid, block, collective and process_group, each once,"
                    " separated by commas, not ")
        for keys in ("'layer'", "''", "'op,'", "'op,op'", "'op shapes'", "','", "1"):
            self.assert_error(expected + keys + self.order("trace_diff_by"),
                              f"SELECT * FROM trace_diff_by('a', 'b', {keys})")
        self.assert_error("trace_diff_by: test has no rank 7 (ranks: 0, 1)",
                          "SELECT * FROM trace_diff_by(?, ?, 'op', 0, 7)", CONTROL, TEST)
        self.assert_error("trace_diff_by: control has no step 9 (steps: 10, 11, 12, 13, 14, 15)",
                          "SELECT * FROM trace_diff_by(?, ?, 'op', 0, 0, 9)", CONTROL, TEST)
        self.assertEqual(self.rows("SELECT * FROM trace_diff_by(?, ?, NULL)", CONTROL, TEST), [])
        self.assertEqual(len(self.rows("SELECT * FROM trace_diff_by(?, ?, ' OP ,Stream')", CONTROL, TEST)),
                         len(self.rows("SELECT * FROM trace_diff_by(?, ?, 'op,stream')", CONTROL, TEST)))


if __name__ == "__main__":
    unittest.main()
