"""trace_step_time and trace_step_diff: against recorded answers (GOLDEN), against what is planted in examples/gpu,
against the rules word for word (oracle_steps.py) on small random traces, by what must add up on every trace there is,
and on steps made by hand.
"""
import csv
import json
import os
import random
import sqlite3
import unittest
from collections import Counter, defaultdict
from fractions import Fraction

import generate_gpu_pair
import oracle
import oracle_steps
from made import ABSENT, InFolder, document, event, kernel, launch, step, write
from support import DATA, EXAMPLES, connect, corpus, golden, slow

LEVELS = oracle_steps.LEVELS
CLOCKS = ("device", "host")
PAIRS = {
    "trace_diff": ("hta/trace_diff/control", "hta/trace_diff/test"),
    "resnet50": ("kineto/resnet50_workers_0", "kineto/resnet50_workers_4"),
    "facebook_timesformer": ("tracelens/h100/facebook*.json.gz", "tracelens/mi300/facebook*.json.gz"),
    "gaunernst_bert": ("tracelens/h100/gaunernst*.json.gz", "tracelens/mi300/gaunernst*.json.gz"),
    "param": ("param/worker0_*.json.gz", "param/worker1_*.json.gz"),
    "own_torch": ("own/torch/control", "own/torch/test")}
DIFF = """
    SELECT class, name, control_ns, test_ns, control_steps, test_steps
    FROM trace_step_diff(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration, :level,
                         :clock)"""


def diff(db, control, test, rank=None, iteration=None, level=None, clock=None):
    return db.execute(DIFF, {"control": control, "test": test, "control_rank": rank, "test_rank": rank,
                             "control_iteration": iteration, "test_iteration": iteration,
                             "level": level, "clock": clock}).fetchall()


class Golden(unittest.TestCase):
    """Files golden/step_diff/PAIR.LEVEL[.host][.stepsA-B].csv, exact to the nanosecond."""

    def test_golden(self):
        db, folder = connect(), golden("step_diff")
        files = sorted(os.listdir(folder))
        self.assertEqual(len(files), 15)
        for file in files:
            pair, level, *rest = file.split(".")[:-1]
            arguments = {"level": level}
            for part in rest:
                if part == "host":
                    arguments["clock"] = part
                else:
                    first, last = part[len("steps"):].split("-")
                    arguments["iteration"] = json.dumps(list(range(int(first), int(last) + 1)))
            with open(os.path.join(folder, file), newline="", encoding="utf-8") as lines:
                expected = [(row[0], row[1] or None, *map(int, row[2:])) for row in csv.reader(lines)]
            found = diff(db, *(corpus(*os.path.split(path)) if "*" not in path else
                               os.path.join(corpus(os.path.dirname(path)), os.path.basename(path))
                               for path in PAIRS[pair]), **arguments)
            with self.subTest(file):
                self.assertEqual(len(found), len(expected))
                self.assertEqual(set(found), set(expected))


class Planted(unittest.TestCase):
    """examples/gpu: what differs is what tests/generate_gpu_pair.py says, and nothing else."""

    CONTROL, TEST = (os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test"))

    def test_rows(self):
        db = connect()
        for rank in generate_gpu_pair.RANKS:
            planted = Counter()
            for row in generate_gpu_pair.PLANTED:
                if rank in row["ranks"]:
                    planted[row["class"], row["name"]] += row["ns_per_step"]
            found = {}
            for class_, name, control_ns, test_ns, *steps in diff(db, self.CONTROL, self.TEST, rank):
                self.assertEqual(steps, [4, 4])
                if test_ns != control_ns:
                    found[class_, name] = Fraction(test_ns - control_ns, 4)
            with self.subTest(rank=rank):
                self.assertEqual(found, planted)
                self.assertEqual(sum(found.values()), 683_600)

    def test_columns(self):
        rows = connect().execute("SELECT * FROM trace_step_diff(?, ?)", (self.CONTROL, self.TEST)).fetchall()
        for row in rows:
            _, _, control, test, change, control_ns, test_ns, control_steps, test_steps = row
            self.assertAlmostEqual(control, control_ns / 1000 / control_steps)
            self.assertAlmostEqual(test, test_ns / 1000 / test_steps)
            self.assertAlmostEqual(change, test - control)
        self.assertEqual(rows, sorted(rows, key=lambda row: (-abs(row[4]), row[0], row[1] is not None, row[1])))
        self.assertAlmostEqual(sum(row[4] for row in rows), 683.6)

    def test_all_ranks_are_steps(self):
        rows = diff(connect(), self.CONTROL, self.TEST, "all")
        self.assertEqual({row[4:] for row in rows}, {(8, 8)})


# ---- every trace there is ---------------------------------------------------

SIDE = """
    SELECT file, rank, iteration, max(ts_ns + dur_ns) FROM trace_events(?)
    WHERE device = 'GPU' AND trace_kernel_type(name, cat) IS NOT NULL AND dur_ns > 0
    GROUP BY file, rank, iteration"""
STEPS = "SELECT file, rank, iteration, ts_ns, ts_ns + dur_ns FROM trace_steps(?)"
BUSY = """
    SELECT coalesce(trace_busy_time(max(ts_ns, ?2), min(ts_ns + dur_ns, ?3) - max(ts_ns, ?2)), 0)
    FROM trace_events(?1)
    WHERE file = ?4 AND device = 'GPU' AND trace_kernel_type(name, cat) IS NOT NULL AND dur_ns > 0
      AND ts_ns < ?3 AND ts_ns + dur_ns > ?2"""


def traces():
    """Every trace that ships, and every file of CORPUS."""
    folders = [EXAMPLES, os.path.join(DATA, "tiny")]
    if os.environ.get("CORPUS"):
        folders.append(os.environ["CORPUS"])
    for folder in folders:
        for place, inside, names in os.walk(folder):
            inside[:] = sorted(name for name in inside if name != "bad")
            for name in sorted(names):
                if name.endswith((".json", ".json.gz", ".gz")):
                    yield os.path.join(place, name)


class AddsUp(unittest.TestCase):
    def windows(self, db, path, clock):
        """{(rank, iteration): (file, window)}"""
        ends, steps, ranks = defaultdict(dict), defaultdict(list), {}
        for file, rank, iteration, end in db.execute(SIDE, (path,)):
            ends[file][iteration] = end
        for file, rank, iteration, start, end in db.execute(STEPS, (path,)):
            steps[file].append((iteration, start, end, None))
        spans = {}
        for file, rank, start, end in db.execute("SELECT file, rank, start_ns, end_ns FROM trace_files(?)", (path,)):
            ranks[file], spans[file] = rank, (start, end)
        return {(ranks[file], window.iteration): (file, window) for file in ranks
                for window in oracle_steps.windows(steps[file], ends.get(file), clock, spans[file], None)}

    def check(self, db, path, clock, level):
        found, busy = Counter(), Counter()
        for rank, iteration, class_, name, time, time_ns in db.execute(
                "SELECT * FROM trace_step_time(?, 'all', 'all', ?, ?)", (path, level, clock)):
            self.assertGreaterEqual(time_ns, 0)
            self.assertEqual(time, time_ns / 1000)
            found[rank, iteration] += time_ns
            busy[rank, iteration] += time_ns if class_ in ("compute", "comm", "memory") else 0
        expected = self.windows(db, path, clock)
        self.assertEqual(found, {key: max(window.end - window.start, 0) for key, (_, window) in expected.items()})
        for key, (file, window) in expected.items():
            if level == "op":
                self.assertEqual(db.execute(BUSY, (path, window.start, window.end, file)).fetchone(), (busy[key],))

    @slow
    def test_every_trace(self):
        db, checked = connect(), 0
        for path in traces():
            try:
                db.execute("SELECT count(*) FROM trace_diff(?, ?)", (path, path))
            except sqlite3.OperationalError as error:
                with self.assertRaises(sqlite3.OperationalError) as raised:
                    db.execute("SELECT count(*) FROM trace_step_time(?)", (path,))
                self.assertEqual(str(raised.exception), str(error).replace("trace_diff", "trace_step_time", 1))
                continue
            checked += 1
            for clock in CLOCKS:
                for level in ("op", "module"):
                    with self.subTest(path, clock=clock, level=level):
                        self.check(db, path, clock, level)
        self.assertGreater(checked, 10)

    def test_levels_have_the_same_classes(self):
        db = connect()
        for path in (Planted.TEST, os.path.join(EXAMPLES, "cpu", "test")):
            sums = [db.execute("SELECT rank, iteration, class, sum(time_ns) FROM trace_step_time(?, 'all', 'all', ?)"
                               " GROUP BY 1, 2, 3", (path, level)).fetchall() for level in LEVELS]
            self.assertEqual(sums, sums[:1] * len(LEVELS))

    def test_turned_around(self):
        db = connect()
        for pair in ((Planted.CONTROL, Planted.TEST), tuple(os.path.join(EXAMPLES, "cpu", side)
                                                             for side in ("control", "test"))):
            for level in LEVELS:
                there = db.execute("SELECT class, name, diff_time, control_ns, test_ns"
                                   " FROM trace_step_diff(?, ?, 'all', 'all', 'all', 'all', ?)", (*pair, level))
                back = db.execute("SELECT class, name, -diff_time, test_ns, control_ns"
                                  " FROM trace_step_diff(?, ?, 'all', 'all', 'all', 'all', ?)", (*pair[::-1], level))
                self.assertEqual(there.fetchall(), back.fetchall())

    def test_order(self):
        rows = connect().execute("SELECT * FROM trace_step_time(?, 'all')", (Planted.TEST,)).fetchall()
        self.assertEqual(rows, sorted(rows, key=lambda row: (row[0], row[1], -row[5], row[2], row[3] is not None,
                                                             row[3] or "")))
        self.assertEqual({row[:2] for row in rows}, {(rank, number) for rank in (0, 1) for number in (11, 12, 13, 14)})


# ---- the rules, word for word -------------------------------------------------

HOST = ["cpu_op", "cpu_op", "Operator", "user_annotation", "python_function", "cuda_runtime", "cuda_driver",
        "Runtime", "Trace", ABSENT, "fwdbwd"]
DEVICE = ["kernel", "kernel", "kernel", "gpu_memcpy", "gpu_memset", "Memset", "cuda_sync", "gpu_user_annotation"]
NAMES = ["a", "b", "c at 0x7f01", "c at 0x7f02", "f.py(12): f", "f.py(13): f", "nn.Module: L_0", "nn.Module: M_1"]
KERNELS = ["gemm", "relu", "ncclAllReduce", "RCCL_x", "Memcpy HtoD"]


def spelt(nanoseconds):
    """In us."""
    return f"{nanoseconds // 1000}.{nanoseconds % 1000:03}"


def random_trace(seed):
    """A small trace, all of it within some 60 ns: three host threads whose events need not nest, three streams, a few
    correlations with calls and work without the other, steps that overlap, come twice, or are missing."""
    rng = random.Random(seed)
    events, length = [], rng.choice([20, 40, 60])
    threads, correlations = rng.choice([1, 2, 3]), rng.choice([2, 5, 9])

    def add(cat, name, at, dur, **fields):
        events.append(event(name, spelt(at), spelt(dur), cat=cat, **fields))

    for _ in range(rng.choice([3, 8, 16])):
        cat = rng.choice(HOST)
        fields = {"tid": rng.randrange(threads)}
        if cat in ("cuda_runtime", "cuda_driver", "Runtime"):
            fields["args"] = {"correlation": rng.randrange(correlations)}
        add(cat, rng.choice(NAMES), rng.randrange(length), rng.choice([0, 1, 2, 5, 9, 20]), **fields)
    for _ in range(rng.choice([0, 0, 2, 5, 9])):
        add("cuda_runtime", rng.choice(["launch", "graph"]), rng.randrange(length), rng.choice([0, 1, 3]),
            tid=rng.randrange(threads), args={"correlation": rng.randrange(correlations)})
    for _ in range(rng.choice([0, 2, 5, 9])):
        cat = rng.choice(DEVICE)
        add(cat, rng.choice(KERNELS), rng.randrange(length), rng.choice([0, 1, 2, 4, 8]), pid=0, tid=rng.randrange(3),
            args={"correlation": rng.randrange(correlations), "stream": rng.randrange(3)})
    at = rng.randrange(10)
    for number in range(rng.choice([0, 1, 2, 3, 4])):
        dur = rng.choice([0, 3, 8, 15])
        number = number if rng.random() < .9 else 0
        add("user_annotation", f"ProfilerStep#{number}", at, dur, tid=rng.randrange(threads))
        at += dur + rng.choice([0, 0, 2, -1])
    if rng.random() < .3:
        events.append(event("without a duration", spelt(3), ABSENT))
        events.append(event(ABSENT, spelt(4), spelt(9)))
    rng.shuffle(events)
    return document(*events, baseTimeNanoseconds=rng.choice([0, 10 ** 18]))


class Rules(InFolder):
    COUNT = int(os.environ.get("RANDOM_TRACES") or 400)

    def check(self, path, file, clock, iterations, chosen):
        expected = oracle_steps.attribute(file, clock, chosen)
        for level in LEVELS:
            rows = self.rows("SELECT iteration, class, name, time_ns FROM trace_step_time(?, 0, ?, ?, ?)", path,
                             iterations, level, clock)
            self.assertEqual({row[:3]: row[3] for row in rows}, expected[level], (level, clock, iterations))
            self.assertEqual(len(rows), len(expected[level]))

    def test_random_traces(self):
        seen = Counter()
        for seed in range(self.COUNT):
            path = write(f"{seed % 8}.json", random_trace(seed))
            file = oracle.read_trace(path).files[0]
            numbers = sorted({step.iteration for step in file.steps})
            with self.subTest(seed=seed):
                for clock in CLOCKS:
                    self.check(path, file, clock, "all", None)
                    self.check(path, file, clock, None, numbers[1:-1] if len(numbers) > 2 else None)
                if numbers:
                    self.check(path, file, "device", numbers[-1], numbers[-1:])
            classes = self.rows("SELECT DISTINCT class FROM trace_step_time(?, 0, 'all')", path)
            seen.update(class_ for class_, in classes)
        self.assertEqual(len(seen), 12, seen)  # every class, and a window of no length
        self.assertGreater(min(seen.values()), self.COUNT // 40, seen)


# ---- steps made by hand ---------------------------------------------------------

class Made(InFolder):
    """Times are us; STEP 2 is looked at, from the end of STEP 1's work to the end of its own."""

    def parts(self, *events, iteration=2, level="op", clock="device"):
        write("trace.json", document(*events))
        rows = self.rows("SELECT class, name, time FROM trace_step_time('trace.json', NULL, ?, ?, ?)", iteration, level,
                         clock)
        self.assertEqual(len({row[:2] for row in rows}), len(rows))
        return {row[:2]: row[2] for row in rows}

    def test_a_step(self):
        events = [step(1, 0, 100), launch(10, 5, 1), kernel("k1", 50, 70, 1),
                  step(2, 100, 100), event("aten::mm", 110, 50), event("inner", 140, 10), launch(142, 4, 2),
                  kernel("k2", 160, 60, 2)]
        self.assertEqual(self.parts(*events), {
            ("idle_host", "aten::mm"): 20, ("idle_host", "inner"): 2, ("idle_launch", "cudaLaunchKernel"): 4,
            ("idle_wait", "inner"): 14, ("compute", "inner"): 60})
        self.assertEqual(self.parts(*events, level="kernel")["compute", "k2"], 60)
        self.assertEqual(self.parts(*events, level="top_op")["compute", "aten::mm"], 60)
        self.assertEqual(self.parts(*events, level="annotation")["compute", None], 60)
        self.assertEqual(self.parts(*events, clock="host"), {
            ("compute", None): 20, ("idle_host", "aten::mm"): 20, ("idle_host", "inner"): 2,
            ("idle_launch", "cudaLaunchKernel"): 4, ("idle_wait", "inner"): 14, ("compute", "inner"): 40})

    def test_host_in_a_call_and_in_nothing(self):
        self.assertEqual(self.parts(
            step(1, 0, 100), launch(10, 5, 1), kernel("k1", 50, 50, 1),
            step(2, 100, 100), event("cudaMalloc", 110, 20, cat="cuda_runtime"), launch(140, 10, 2),
            kernel("k2", 150, 10, 2)), {
                ("idle_unrecorded", None): 20, ("idle_call", "cudaMalloc"): 20, ("idle_launch", "cudaLaunchKernel"): 10,
                ("compute", None): 10})

    def test_other_thread_then_the_step_s(self):
        self.assertEqual(self.parts(
            step(1, 0, 100), launch(10, 5, 1), kernel("k1", 50, 50, 1),
            step(2, 100, 100), event("wait", 100, 30), event("backward", 120, 30, tid=2), launch(140, 5, 2, tid=2),
            kernel("k2", 145, 10, 2)), {
                ("idle_host", "wait"): 20, ("idle_host", "backward"): 20, ("idle_launch", "cudaLaunchKernel"): 5,
                ("compute", "backward"): 10})

    def test_kernel_that_starts_at_the_end_of_the_window(self):
        """By the host's clock: it waits for a launch that is before the end."""
        events = [step(1, 0, 100), step(2, 100, 100), event("a", 100, 90), launch(150, 10, 2), kernel("k", 200, 10, 2)]
        self.assertEqual(self.parts(*events, clock="host"), {
            ("idle_host", "a"): 50, ("idle_launch", "cudaLaunchKernel"): 10, ("idle_wait", "a"): 40})

    def test_launch_at_the_end_of_the_window(self):
        """The step's thread is asked throughout, not the launch's."""
        events = [step(1, 0, 100), step(2, 100, 100), event("a", 100, 90), event("b", 100, 90, tid=2), step(3, 200, 10),
                  launch(200, 10, 2, tid=2), kernel("k", 220, 10, 2)]
        self.assertEqual(self.parts(*events, clock="host"), {("idle_host", "a"): 90, ("idle_unrecorded", None): 10})

    def test_two_streams(self):
        self.assertEqual(self.parts(
            step(1, 0, 100), step(2, 100, 200),
            event("a", 110, 10), launch(111, 2, 1), event("b", 120, 10), launch(121, 2, 2),
            event("c", 130, 10), launch(131, 2, 3), event("d", 140, 10), launch(141, 2, 4),
            kernel("ncclSum", 150, 100, 1, 20), kernel("k", 170, 20, 2), kernel("k", 180, 20, 3, 8),
            event("Memcpy HtoD", 240, 30, cat="gpu_memcpy", pid=0, tid=24, args={"correlation": 4, "stream": 24})), {
                ("idle_unrecorded", None): 10, ("idle_host", "a"): 1, ("idle_launch", "cudaLaunchKernel"): 2,
                ("idle_wait", "a"): 37, ("comm", "ncclSum"): 70, ("compute", "b"): 20, ("compute", "c"): 10,
                ("memory", "d"): 20})

    def test_launch_of_no_length(self):
        self.assertEqual(self.parts(
            step(1, 0, 100), step(2, 100, 100), event("a", 100, 50), launch(120, 0, 1), kernel("k", 130, 10, 1)), {
                ("idle_host", "a"): 20, ("idle_wait", "a"): 10, ("compute", "a"): 10})

    def test_graph_launch(self):
        """One call, many kernels: between them the device waits."""
        self.assertEqual(self.parts(
            step(1, 0, 100), step(2, 100, 100), event("replay", 100, 50),
            event("cudaGraphLaunch", 120, 5, cat="cuda_runtime", args={"correlation": 1}),
            kernel("k1", 130, 10, 1), kernel("k2", 142, 10, 1), kernel("k3", 152, 8, 1)), {
                ("idle_host", "replay"): 20, ("idle_launch", "cudaGraphLaunch"): 5, ("idle_wait", "replay"): 7,
                ("compute", "replay"): 28})

    def test_work_without_a_launch(self):
        self.assertEqual(self.parts(
            step(1, 0, 100), step(2, 100, 100), event("a", 100, 50), launch(110, 5, 1), kernel("k1", 115, 5, 1),
            kernel("k2", 130, 10, 9), launch(141, 1, 2), kernel("k3", 150, 10, 2)), {
                ("idle_host", "a"): 21, ("idle_launch", "cudaLaunchKernel"): 6, ("compute", "a"): 15,
                ("compute", None): 10, ("idle_wait", "a"): 8})

    def test_no_step(self):
        events = [event("a", 0, 10), event("a", 20, 10), event("b", 5, 100, tid=2), launch(25, 2, 1),
                  kernel("k", 40, 10, 1)]
        self.assertEqual(self.parts(*events, iteration=None), {
            ("idle_host", "a"): 15, ("idle_unrecorded", None): 10 + 55, ("idle_launch", "cudaLaunchKernel"): 2,
            ("idle_wait", "a"): 13, ("compute", "a"): 10})

    def test_one_step(self):
        self.assertEqual(self.parts(step(7, 10, 50), event("a", 10, 20), launch(15, 5, 1), kernel("k", 30, 40, 1),
                                    iteration=None), {
            ("idle_host", "a"): 5, ("idle_launch", "cudaLaunchKernel"): 5, ("idle_wait", "a"): 10,
            ("compute", "a"): 40})

    def test_step_without_device_work(self):
        """Its window ends with the host's step; the first step has no window."""
        events = [step(1, 0, 100), launch(10, 5, 1), kernel("k", 50, 60, 1), step(2, 100, 100), event("a", 120, 50),
                  step(3, 200, 100), launch(220, 5, 2), kernel("k", 250, 10, 2)]
        self.assertEqual(self.parts(*events), {("idle_host", "a"): 50, ("idle_unrecorded", None): 40})
        self.assertEqual(self.parts(*events, iteration=1), {})
        self.assertEqual(self.parts(*events, iteration=3)["compute", None], 10)

    def test_window_of_no_length(self):
        """Work of step 1 outlasts step 2, which launched none: the step counts, with nothing in it."""
        events = [step(1, 0, 100), launch(10, 5, 1), kernel("k", 50, 250, 1), step(2, 100, 100), event("a", 120, 50),
                  step(3, 200, 100), launch(220, 5, 2), kernel("k", 320, 10, 2)]
        self.assertEqual(self.parts(*events), {(None, None): 0})
        self.assertEqual(self.rows("SELECT * FROM trace_step_diff('trace.json', 'trace.json', NULL, NULL, 2, 2)"), [])
        self.assertEqual(self.rows("SELECT control_time, test_time, diff_time, control_steps, test_steps FROM"
                                   " trace_step_diff('trace.json', 'trace.json', NULL, NULL, 'all', 3)"
                                   " WHERE class = 'compute'"), [(5, 10, 5, 2, 1)])

    def test_no_device_work_in_the_file(self):
        events = [step(1, 0, 100), step(2, 100, 100), event("a", 110, 50),
                  event("cudaMalloc", 120, 5, cat="cuda_runtime")]
        for clock in CLOCKS:
            self.assertEqual(self.parts(*events, clock=clock),
                             {("host", "a"): 45, ("call", "cudaMalloc"): 5, ("unrecorded", None): 50})

    def test_threads_that_do_not_nest(self):
        events = [step(1, 0, 100), event("a", 0, 50), event("b", 30, 40), event("c", 40, 10),
                  event("x", 60, 20, cat="python_function")]
        self.assertEqual(self.parts(*events, iteration=1), {
            ("host", "a"): 30, ("host", "b"): 30, ("host", "c"): 10, ("host", "x"): 10, ("unrecorded", None): 20})
        self.assertEqual(self.parts(*events, iteration=1, level="top_op"), {
            ("host", "a"): 50, ("host", "b"): 20, ("host", "x"): 10, ("unrecorded", None): 20})

    def test_profiler_started_in_mid_step(self):
        """No step in the file holds the first launches: their work ends no window, but runs in one."""
        self.assertEqual(self.parts(
            launch(5, 2, 1), kernel("k0", 20, 100, 1), step(1, 50, 50), launch(60, 2, 2), kernel("k1", 120, 20, 2),
            step(2, 100, 50), event("a", 100, 20), launch(110, 2, 3), kernel("k2", 145, 5, 3)), {
                ("idle_wait", "a"): 5, ("compute", "a"): 5})

    def test_modules_and_annotations(self):
        events = [step(1, 0, 100), event("nn.Module: A_0", 0, 80, cat="python_function"),
                  event("nn.Module: B_0", 10, 40, cat="python_function"),
                  event("## fw ##", 20, 40, cat="user_annotation"),
                  event("x", 30, 10), event("y", 90, 5)]
        self.assertEqual(self.parts(*events, iteration=1, level="module"), {
            ("host", "nn.Module: A_0"): 40, ("host", "nn.Module: B_0"): 40, ("host", "y"): 5, ("unrecorded", None): 15})
        self.assertEqual(self.parts(*events, iteration=1, level="annotation"), {
            ("host", "## fw ##"): 40, ("host", None): 45, ("unrecorded", None): 15})
        self.assertEqual(self.parts(*events, iteration=1, level="kernel"), self.parts(*events, iteration=1))

    def test_names_are_stable(self):
        self.assertEqual(self.parts(step(1, 0, 100), event("f.py(12): g at 0x7f", 0, 50, cat="python_function"),
                                    event("f.py(13): g at 0x80", 50, 50, cat="python_function"), iteration=1),
                         {("host", "f.py: g"): 100})

    def test_cycles_are_attributed_one_by_one(self):
        for cycle in range(2):
            at = 1000 * cycle
            write(f"cycles/rank0.{cycle}.json", document(
                *(step(3 * cycle + i, at + 100 * i, 100) for i in range(3)),
                *(launch(at + 100 * i + 10, 5, i + 1) for i in range(3)),
                *(kernel("k", at + 100 * i + 50, 20, i + 1) for i in range(3))))
        self.assertEqual(self.rows("SELECT iteration, sum(time) FROM trace_step_time('cycles', 0, 'all') GROUP BY 1"),
                         [(1, 100), (2, 100), (4, 100), (5, 100)])
        self.assertEqual(self.rows("SELECT DISTINCT iteration FROM trace_step_time('cycles')"), [(1,), (4,)])

    def test_times_at_the_ends_of_all_time(self):
        """A window longer than 64 bits hold: time is right, time_ns as much as it can hold."""
        far = 9223372036854775
        write("trace.json", document(step(1, 0, 100), launch(1, 5, 1, tid=2), kernel("k", -far, 1, 1),
                                     step(2, 100, far - 201)))
        self.assertEqual(self.rows("SELECT class, name, time, time_ns FROM trace_step_time('trace.json', NULL, 2)"),
                         [("idle_unrecorded", None, 2 * far - 102, 9223372036854775807)])
        write("trace.json", document(step(1, 0, 100), launch(1, 5, 1), kernel("k", far, far, 1)))
        self.assertEqual(self.rows("SELECT class, name, time_ns FROM trace_step_time('trace.json')"), [
            ("idle_wait", None, 1000 * (far - 6)), ("idle_launch", "cudaLaunchKernel", 5000),
            ("idle_unrecorded", None, 1000), ("compute", None, 807)])


class Errors(InFolder):
    def setUp(self):
        super().setUp()
        for side, ranks in (("control", (0, 1)), ("test", (0,))):
            for rank in ranks:
                write(f"{side}/rank{rank}.json", document(step(1, 0, 100), event("a", 0, 50)))

    def test_words(self):
        levels = "'op', 'top_op', 'module', 'annotation' or 'kernel'"
        for function, arguments in (("trace_step_time", "'test', NULL, NULL"),
                                    ("trace_step_diff", "'test', 'test', NULL, NULL, NULL, NULL")):
            self.assert_error(f"{function}: level must be {levels}, not 'layer'",
                              f"SELECT * FROM {function}({arguments}, 'layer')")
            self.assert_error(f"{function}: level must be {levels}, not 2", f"SELECT * FROM {function}({arguments}, 2)")
            self.assert_error(f"{function}: clock must be 'device' or 'host', not 'wall'",
                              f"SELECT * FROM {function}({arguments}, NULL, 'wall')")
            self.assertEqual(len(self.rows(f"SELECT * FROM {function}({arguments}, 'OP', 'Host')")), 2)

    def test_what_is_not_there(self):
        self.assert_error("trace_step_time: 'test' has no rank 1 (ranks: 0)",
                          "SELECT * FROM trace_step_time('test', 1)")
        self.assert_error("trace_step_diff: 'test' has no rank 1 (ranks: 0)",
                          "SELECT * FROM trace_step_diff('control', 'test', 1, 1)")
        self.assert_error("trace_step_diff: 'control' has no step 9 (steps: 1)",
                          "SELECT * FROM trace_step_diff('control', 'test', 1, 0, 9)")
        self.assertEqual(self.value("SELECT count(*) FROM trace_step_diff('control', 'test', 1, 0)"), 2)

    def test_damage(self):
        with open("test/rank0.json", encoding="utf-8") as file:
            text = file.read()
        write("test/rank0.json", text[:-3])
        for sql in ("SELECT * FROM trace_step_time('test')", "SELECT * FROM trace_step_diff('control', 'test')"):
            with self.assertRaisesRegex(sqlite3.OperationalError, r"'test/rank0.json': .* at byte \d+"):
                self.rows(sql)

    def test_null(self):
        self.assertEqual(self.rows("SELECT * FROM trace_step_time(NULL)"), [])
        self.assertEqual(self.rows("SELECT * FROM trace_step_diff(NULL, NULL)"), [])


if __name__ == "__main__":
    unittest.main()
