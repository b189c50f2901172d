"""trace_step_time and trace_step_diff (A1 to A10): against recorded answers (GOLDEN), the planted changes of
examples/gpu, and the rules word for word (oracle_steps.py) on small random traces; by sums that hold on every available
trace; and on steps made by hand.
"""
import csv
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import time
import unittest
from collections import Counter, defaultdict
from fractions import Fraction

import generate_gpu_pair
import oracle
import oracle_serving
import oracle_steps
from made import ABSENT, InFolder, document, event, kernel, launch, step, write
from support import DATA, EXAMPLES, EXTENSION, alone, connect, corpus, golden, series, slow

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


GAPS = ("idle_unrecorded", "unrecorded")  # only these name gaps (A5.4)


def without_gaps(rows):
    """Rows (class, name, number, ...) without names of gaps; rows with equal class and name are then summed up."""
    summed = defaultdict(lambda: (0,) * (len(rows[0]) - 2))
    for class_, name, *numbers in rows:
        key = class_, None if class_ in GAPS else name
        summed[key] = tuple(map(sum, zip(summed[key], numbers)))
    return [(*key, *numbers) for key, numbers in summed.items()]


def diff(db, control, test, rank=None, iteration=None, level=None, clock=None):
    return db.execute(DIFF, {"control": control, "test": test, "control_rank": rank, "test_rank": rank,
                             "control_iteration": iteration, "test_iteration": iteration,
                             "level": level, "clock": clock}).fetchall()


class Golden(unittest.TestCase):
    """Files golden/step_diff/PAIR.LEVEL[.host][.stepsA-B].csv match to the nanosecond. They have no names of gaps."""

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
            if pair == "own_torch":  # two ranks, with the answers of the lowest
                arguments["rank"] = 0
            found = diff(db, *(corpus(*os.path.split(path)) if "*" not in path else
                               os.path.join(corpus(os.path.dirname(path)), os.path.basename(path))
                               for path in PAIRS[pair]), **arguments)
            steps = found[0][4:]
            found = without_gaps([row[:4] for row in found])
            with self.subTest(file):
                self.assertEqual({(*row, *steps) for row in found}, set(expected))
                self.assertEqual(len(found), len(expected))


    def test_the_largest_parts_of_traces_of_other_makers(self):
        """golden/serving/step_time.csv matches: by trace and level, the sum and the 25 largest parts over the steady
        steps.
        """
        traces = {"hta/trace_diff/control": ("hta", "trace_diff", "control"),
                  "hta/trace_diff/test": ("hta", "trace_diff", "test"),
                  "param/worker1": ("param", "worker1_*"), "tracelens/h100/bert": ("tracelens", "h100", "gaunernst*"),
                  "tracelens/mi300/bert": ("tracelens", "mi300", "gaunernst*")}
        expected = defaultdict(list)
        with open(golden("serving", "step_time.csv"), newline="", encoding="utf-8") as lines:
            for trace, level, class_, name, time_ns, _ in list(csv.reader(lines))[1:]:
                expected[trace, level].append((class_ or None, name or None, int(time_ns)))
        db, checked = connect(), 0
        for (trace, level), rows in expected.items():
            if trace not in traces:  # their steps are annotations
                continue
            checked += 1
            path = os.path.join(corpus(*traces[trace][:-1]), traces[trace][-1])
            found = db.execute("SELECT class, name, sum(time_ns) FROM trace_step_time(?, NULL, NULL, ?) GROUP BY 1, 2",
                               (path, level)).fetchall()
            found = without_gaps(found)
            found.sort(key=lambda row: -row[2])
            with self.subTest(trace, level=level):
                self.assertEqual((None, None, sum(row[2] for row in found)), rows[0])
                self.assertEqual(Counter(row[2] for row in found[:25]), Counter(row[2] for row in rows[1:]))
                least = min(row[2] for row in rows[1:])
                self.assertEqual({row for row in found if row[2] > least}, {row for row in rows[1:] if row[2] > least})
        self.assertEqual(checked, 10)

    def test_first_and_single_steps_of_real_traces(self):
        """us by step: the first of six steps differs from the others, and a single step contains the end of its
        backlog.
        """
        time = "SELECT round(sum(time)) FROM trace_step_time(?, NULL, 'all') GROUP BY iteration ORDER BY iteration"
        self.assertEqual(connect().execute(time, (corpus("hta", "trace_diff", "test"),)).fetchall(),
                         [(118128,), (117128,), (114802,), (123104,), (116692,), (116143,)])
        single = os.path.join(corpus("param"), "worker1_*")
        self.assertEqual(connect().execute(time, (single,)).fetchall(), [(18453,)])


class Planted(unittest.TestCase):
    """examples/gpu: the changes of tests/generators/generate_gpu_pair.py are the only differences."""

    CONTROL, TEST = (os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test"))

    def test_differences_that_were_planted_are_found(self):
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

    def test_columns_follow_from_others(self):
        rows = connect().execute("SELECT * FROM trace_step_diff(?, ?)", (self.CONTROL, self.TEST)).fetchall()
        for row in rows:
            _, _, control, test, change, control_ns, test_ns, control_steps, test_steps, *_ = row
            self.assertAlmostEqual(control, control_ns / 1000 / control_steps)
            self.assertAlmostEqual(test, test_ns / 1000 / test_steps)
            self.assertAlmostEqual(change, test - control)
        self.assertEqual(rows, sorted(rows, key=lambda row: (-abs(row[4]), row[0], row[1] is not None, row[1])))
        self.assertAlmostEqual(sum(row[4] for row in rows), 683.6)

    def test_all_ranks_are_steps(self):
        rows = diff(connect(), self.CONTROL, self.TEST, "all")
        self.assertEqual({row[4:] for row in rows}, {(8, 8)})


# ---- every available trace ---------------------------------------------------

SIDE = """
    SELECT file, rank, iteration, max(ts_ns + dur_ns) FROM trace_events(?)
    WHERE device = 'GPU' AND trace_kernel_type(name, cat) IS NOT NULL AND dur_ns > 0
    GROUP BY file, rank, iteration"""
BACKLOG = """
    WITH work AS (
      SELECT file, pid, tid, ts_ns, dur_ns, link,
             min(ts_ns) FILTER (WHERE link IS NOT NULL) OVER (PARTITION BY file, pid, tid) AS first
      FROM trace_events(?) WHERE device = 'GPU' AND trace_kernel_type(name, cat) IS NOT NULL)
    SELECT file, ts_ns, ts_ns + dur_ns FROM work WHERE link IS NULL AND ts_ns < first AND dur_ns > 0"""
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
                if name.endswith((".json", ".json.gz", ".gz")) and os.path.exists(os.path.join(place, name)):
                    yield os.path.join(place, name)


class AddsUp(unittest.TestCase):
    def windows(self, db, path, clock):
        """{(rank, iteration): (file, window)}"""
        ends, steps, ranks, backlog = defaultdict(dict), defaultdict(list), {}, defaultdict(list)
        for file, start, end in db.execute(BACKLOG, (path,)):
            backlog[file].append((start, end))
        for file, rank, iteration, end in db.execute(SIDE, (path,)):
            ends[file][iteration] = end
        for file, rank, iteration, start, end in db.execute(STEPS, (path,)):
            steps[file].append((iteration, start, end, None))
        # XLA steps, by step_num, have their own end, like those of the profiler
        for file, in db.execute("SELECT DISTINCT file FROM trace_steps(?) WHERE name NOT LIKE 'ProfilerStep%'"
                                " AND file NOT LIKE '%/examples/jax/%'", (path,)):
            steps[file].sort(key=lambda step: step[1])  # T20.6
            steps[file] = [(*one[:2], other[1], None)
                           for one, other in zip(steps[file], steps[file][1:])] + steps[file][-1:]
        spans = {}
        for file, rank, start, end in db.execute("SELECT file, rank, start_ns, end_ns FROM trace_files(?)", (path,)):
            ranks[file], spans[file] = rank, (start, end)
        return {(ranks[file], window.iteration): (file, window) for file in ranks
                for window in oracle_steps.windows(steps[file], ends.get(file), clock, spans[file], None,
                                                   backlog[file])}

    def check(self, db, path, clock, level):
        found, busy = Counter(), Counter()
        for rank, iteration, class_, time, time_ns in db.execute(
                "SELECT rank, iteration, class, time, time_ns FROM trace_step_time(?, 'all', 'all', ?, ?)",
                (path, level, clock)):
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

    def assert_stddevs(self, *arguments):
        """Asserts that trace_step_diff's standard deviations equal those computed in Python from each step's parts."""
        db, expected = connect(), []
        for side in (0, 1):
            steps, parts = set(), defaultdict(list)
            for rank, iteration, class_, name, time_ns in db.execute(
                    "SELECT rank, iteration, class, name, time_ns FROM trace_step_time(?, ?, ?, ?)",
                    (*arguments[side:6:2], *arguments[6:])):
                steps.add((rank, iteration))
                parts[class_, name].append(time_ns)
            expected.append(defaultdict(lambda steps=len(steps): 0.0 if steps > 1 else None))
            for key, times in parts.items():
                times += [0] * (len(steps) - len(times))
                if len(steps) > 1:
                    expected[side][key] = float(statistics.stdev(map(Fraction, times))) / 1000
        found = db.execute("SELECT class, name, control_stddev, test_stddev FROM trace_step_diff"
                           f"({', '.join('?' * len(arguments))})", arguments).fetchall()
        self.assertGreater(len(found), 3)
        for class_, name, *stddevs in found:
            for side, stddev in enumerate(stddevs):
                wanted = expected[side][class_, name]
                if wanted:
                    self.assertLessEqual(abs(stddev - wanted), wanted * 1e-12, (arguments, class_, name))
                else:
                    self.assertEqual(stddev, wanted, (arguments, class_, name))

    def test_standard_deviations(self):
        cpu = tuple(os.path.join(EXAMPLES, "cpu", side) for side in ("control", "test"))
        for pair in ((Planted.CONTROL, Planted.TEST), (Planted.TEST, cpu[0]), cpu)[:series(1, 3)]:
            for level in LEVELS:
                self.assert_stddevs(*pair, *["all"] * 4, level)
        self.assert_stddevs(*(Planted.CONTROL, Planted.TEST), 0, 1, "steady", 12, "op")

    @slow
    def test_standard_deviations_of_real_traces(self):
        for control, test in (PAIRS["trace_diff"], PAIRS["resnet50"], ("hta/cpu_only", "param/worker0_*.json.gz")):
            paths = [os.path.join(corpus(os.path.dirname(path)), os.path.basename(path)) for path in (control, test)]
            self.assert_stddevs(*paths, "all", "all", "all", "steady", "op")

    def test_rows_are_in_order(self):
        rows = connect().execute("SELECT * FROM trace_step_time(?, 'all')", (Planted.TEST,)).fetchall()
        self.assertEqual(rows, sorted(rows, key=lambda row: (row[0], row[1], -row[5], row[2], row[3] is not None,
                                                             row[3] or "")))
        self.assertEqual({row[:2] for row in rows}, {(rank, number) for rank in (0, 1) for number in (11, 12, 13, 14)})


# ---- the rules, word for word ------------------------------------------------

HOST = ["cpu_op", "cpu_op", "Operator", "user_annotation", "python_function", "cuda_runtime", "cuda_driver",
        "Runtime", "Trace", ABSENT, "fwdbwd"]
DEVICE = ["kernel", "kernel", "kernel", "gpu_memcpy", "gpu_memset", "Memset", "cuda_sync", "gpu_user_annotation"]
NAMES = ["a", "b", "c at 0x7f01", "c at 0x7f02", "f.py(12): f", "f.py(13): f", "nn.Module: L_0", "nn.Module: M_1",
         "torch/nn/modules/module.py(9): _call_impl", "threading.py(1): run", "<built-in method x>"]
KERNELS = ["gemm", "relu", "ncclAllReduce", "RCCL_x", "Memcpy HtoD"]


def spelt(nanoseconds):
    """The time in us."""
    return f"{nanoseconds // 1000}.{nanoseconds % 1000:03}"


def random_trace(seed):
    """A small trace of about 60 instants, 1 ns or 0.2 ms apart. Three host threads have events that may cross, and
    there are three streams. Some correlations have a call or work only. There are backlog, calls without a name, graph
    launches, and steps that overlap, repeat or are missing.
    """
    rng = random.Random(seed)
    events, length = [], rng.choice([20, 40, 60])
    unit = rng.choice([1, 1, 200_000])
    threads, correlations = rng.choice([1, 2, 3]), rng.choice([2, 5, 9])

    def add(cat, name, at, dur, **fields):
        events.append(event(name, spelt(at * unit), spelt(dur * unit), cat=cat, **fields))

    for _ in range(rng.choice([3, 8, 16])):
        cat = rng.choice(HOST)
        fields = {"tid": rng.randrange(threads), "args": {"External id": rng.randrange(3)}}
        if cat in ("cuda_runtime", "cuda_driver", "Runtime"):
            fields["args"] = {"correlation": rng.randrange(correlations)}
        add(cat, rng.choice(NAMES), rng.randrange(length), rng.choice([0, 1, 2, 5, 9, 20]), **fields)
    for _ in range(rng.choice([0, 0, 2, 5, 9])):
        add(rng.choice(["cuda_runtime", "cuda_runtime", "cuda_driver"]),
            rng.choice(["launch", "cudaGraphLaunch", "cuGraphLaunch", None]), rng.randrange(length),
            rng.choice([0, 1, 3]), tid=rng.randrange(threads), args={"correlation": rng.randrange(correlations)})
    for _ in range(rng.choice([0, 0, 1, 3])):
        add("kernel", rng.choice(KERNELS), rng.randrange(-15, 20), rng.choice([1, 4, 8]), pid=0, tid=rng.randrange(3),
            args={"correlation": 10 ** 6, "stream": 7})
    for _ in range(rng.choice([0, 2, 5, 9])):
        cat = rng.choice(DEVICE)
        add(cat, rng.choice(KERNELS), rng.randrange(length), rng.choice([0, 1, 2, 4, 8]), pid=0, tid=rng.randrange(3),
            args={"correlation": rng.randrange(correlations), "stream": rng.randrange(3),
                  "External id": rng.randrange(3)})
    at = rng.randrange(10)
    for number in range(rng.choice([0, 1, 2, 3, 4])):
        dur = rng.choice([0, 3, 8, 15])
        number = number if rng.random() < .9 else 0
        add("user_annotation", f"ProfilerStep#{number}", at, dur, tid=rng.randrange(threads))
        at += dur + rng.choice([0, 0, 2, -1])
    if rng.random() < .1:
        add("cuda_runtime", "cudaGraphLaunch", rng.randrange(length), 1)
    if rng.random() < .3:
        events.append(event("without a duration", spelt(3), ABSENT))
        events.append(event(ABSENT, spelt(4), spelt(9)))
    rng.shuffle(events)
    return document(*events, baseTimeNanoseconds=rng.choice([0, 10 ** 18]))


class Rules(InFolder):
    COUNT = int(os.environ.get("RANDOM_TRACES") or series(60, 400))

    def check(self, path, file, clock, iterations, chosen):
        expected = oracle_steps.attribute(file, clock, chosen, oracle_serving.Replayed(file))
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
        self.assertGreater(min(seen.values()), self.COUNT // 60, seen)


# ---- steps made by hand ------------------------------------------------------

class Made(InFolder):
    """Times are us. The tests examine STEP 2, from the end of STEP 1's work to the end of its own."""

    def parts(self, *events, gaps=False, iteration=2, level="op", clock="device"):
        """{(class, name): us}; gaps have no names unless requested."""
        write("trace.json", document(*events))
        rows = self.rows("SELECT class, name, time FROM trace_step_time('trace.json', NULL, ?, ?, ?)", iteration, level,
                         clock)
        self.assertEqual(len({row[:2] for row in rows}), len(rows))
        return {row[:2]: row[2] for row in (rows if gaps else without_gaps(rows))}

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

    def test_gaps_are_named_by_the_outermost_events_around_them(self):
        """A5.4: gaps are named after the outermost events around them. If several events end or start together, the
        outermost counts, and steps do not.
        """
        events = [step(1, 0, 100), event("early", 90, 15), step(2, 100, 100), event("aten::a", 110, 20),
                  event("call", 120, 10),
                  event("cudaMalloc", 150, 10, cat="cuda_runtime"), event("b", 150, 9), event("other", 165, 9, tid=2),
                  step(3, 200, 50), event("late", 201, 10), launch(240, 5, 1), kernel("k", 250, 10, 1)]
        for level in LEVELS:
            self.assertEqual({key: ns for key, ns in self.parts(*events, clock="host", gaps=True, level=level).items()
                              if key[0] == "idle_unrecorded"}, {
                ("idle_unrecorded", "before aten::a"): 5, ("idle_unrecorded", "between aten::a and cudaMalloc"): 20,
                ("idle_unrecorded", "after cudaMalloc"): 40})

    def test_gaps_of_another_thread_and_outside_of_steps(self):
        """A5.4: gaps have the name from the step's thread; between two steps they have none."""
        self.assertEqual(self.parts(
            step(1, 0, 100), launch(10, 5, 1), kernel("k1", 50, 50, 1), step(2, 120, 100), event("a", 130, 10),
            event("backward", 150, 30, tid=2), launch(190, 5, 2, tid=2), kernel("k2", 195, 10, 2), gaps=True), {
                ("idle_unrecorded", None): 20, ("idle_unrecorded", "before a"): 10, ("idle_host", "a"): 10,
                ("idle_unrecorded", "after a"): 20, ("idle_host", "backward"): 30,
                ("idle_launch", "cudaLaunchKernel"): 5,
                ("compute", None): 10})

    def test_gaps_without_steps_and_without_device_work(self):
        self.assertEqual(self.parts(event("a", 0, 10), event("b", 30, 10), event("c", 60, 10, tid=2), gaps=True,
                                    iteration=None), {
            ("host", "a"): 10, ("host", "b"): 10, ("unrecorded", "between a and b"): 20, ("unrecorded", "after b"): 30})
        self.assertEqual(self.parts(step(2, 0, 10), gaps=True), {("unrecorded", None): 10})

    def test_gaps_between_names_that_get_longer(self):
        """Gaps between names that get longer; these are the longest names of all events here, and they are not
        steps.
        """
        write("trace.json", document(event("step[EXTEND]", 0, 10), event("step[EXTEND]", 30, 10)))
        self.assertEqual(self.rows("SELECT name, time FROM trace_step_time('trace.json') WHERE steps = 'profiler'"), [
            ("step: prefill", 20.0), ("between step: prefill and step: prefill", 20.0)])

    def test_other_thread_then_the_step_s(self):
        self.assertEqual(self.parts(
            step(1, 0, 100), launch(10, 5, 1), kernel("k1", 50, 50, 1),
            step(2, 100, 100), event("wait", 100, 30), event("backward", 120, 30, tid=2), launch(140, 5, 2, tid=2),
            kernel("k2", 145, 10, 2)), {
                ("idle_host", "wait"): 20, ("idle_host", "backward"): 20, ("idle_launch", "cudaLaunchKernel"): 5,
                ("compute", "backward"): 10})

    def test_kernel_that_starts_at_the_end_of_the_window(self):
        """By the host's clock, a kernel that starts at the end of the window waits for a launch that is before the
        end.
        """
        events = [step(1, 0, 100), step(2, 100, 100), event("a", 100, 90), launch(150, 10, 2), kernel("k", 200, 10, 2)]
        self.assertEqual(self.parts(*events, clock="host"), {
            ("idle_host", "a"): 50, ("idle_launch", "cudaLaunchKernel"): 10, ("idle_wait", "a"): 40})

    def test_launch_at_the_end_of_the_window(self):
        """For a launch at the end of the window, the step's thread counts throughout, not the launch's."""
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
        """In a graph launch, one call starts many kernels, and between them the device waits."""
        self.assertEqual(self.parts(
            step(1, 0, 100), step(2, 100, 100), event("replay", 100, 50),
            event("cudaGraphLaunch", 120, 5, cat="cuda_runtime", args={"correlation": 1}),
            kernel("k1", 130, 10, 1), kernel("k2", 142, 10, 1), kernel("k3", 152, 8, 1)), {
                ("idle_host", "replay"): 20, ("idle_launch", "cudaGraphLaunch"): 5, ("idle_wait", "replay"): 7,
                ("compute", "replay"): 28})

    def test_work_without_a_launch(self):
        self.assertEqual(self.parts(
            step(1, 0, 100), step(2, 100, 100), event("a", 100, 50), launch(110, 5, 1), kernel("k1", 115, 5, 1),
            kernel("k2 at 0x1", 130, 10, 9), launch(141, 1, 2), kernel("k3", 150, 10, 2)), {
                ("idle_host", "a"): 21, ("idle_launch", "cudaLaunchKernel"): 6, ("compute", "a"): 15,
                ("compute", "k2"): 10, ("idle_wait", "a"): 8})

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
        """The window of a step without device work ends with the host's step."""
        events = [step(1, 0, 100), launch(10, 5, 1), kernel("k", 50, 60, 1), step(2, 100, 100), event("a", 120, 50),
                  step(3, 200, 100), launch(220, 5, 2), kernel("k", 250, 10, 2)]
        self.assertEqual(self.parts(*events), {("idle_host", "a"): 50, ("idle_unrecorded", None): 40})
        self.assertEqual(self.parts(*events, iteration=3)["compute", None], 10)

    def test_window_of_no_length(self):
        """Work of step 1 outlasts step 2, which launched none, so step 2 has an empty window but still counts."""
        events = [step(1, 0, 100), launch(10, 5, 1), kernel("k", 50, 250, 1), step(2, 100, 100), event("a", 120, 50),
                  step(3, 200, 100), launch(220, 5, 2), kernel("k", 320, 10, 2)]
        self.assertEqual(self.parts(*events), {(None, None): 0})
        self.assertEqual(self.rows("SELECT * FROM trace_step_diff('trace.json', 'trace.json', NULL, NULL, 2, 2)"), [])
        self.assertEqual(self.rows("SELECT control_time, test_time, diff_time, control_steps, test_steps FROM"
                                   " trace_step_diff('trace.json', 'trace.json', NULL, NULL, '[2, 3]', 3)"
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
        """When the profiler starts in mid-step, no step contains the first launches. Their work ends no window, but
        runs in one.
        """
        self.assertEqual(self.parts(
            launch(5, 2, 1), kernel("k0", 20, 100, 1), step(1, 50, 50), launch(60, 2, 2), kernel("k1", 120, 20, 2),
            step(2, 100, 50), event("a", 100, 20), launch(110, 2, 3), kernel("k2", 145, 5, 3)), {
                ("idle_wait", "a"): 5, ("compute", "a"): 5})

    def test_the_first_step_has_a_window(self):
        events = [step(1, 0, 100), event("a", 0, 30), launch(10, 5, 1), kernel("k", 50, 60, 1), step(2, 100, 100),
                  launch(120, 5, 2), kernel("k", 150, 10, 2)]
        self.assertEqual(self.parts(*events, iteration=1), {
            ("idle_host", "a"): 10, ("idle_launch", "cudaLaunchKernel"): 5, ("idle_wait", "a"): 35,
            ("compute", "a"): 60})

    def test_backlog_is_in_no_step(self):
        """Backlog was launched before the recording, and the first window begins when it is done. Later work on the
        stream without a launch, and work of a stream without any launch, is not backlog.
        """
        events = [kernel("old1", 0, 20, 8), kernel("old2", 20, 20, 9), kernel("alone", 25, 50, 7, 8),
                  step(1, 10, 90), event("a", 10, 90), launch(15, 5, 1), kernel("k", 60, 20, 1),
                  kernel("late", 90, 5, 6),
                  step(2, 100, 100), launch(120, 5, 2), kernel("k", 150, 10, 2)]
        self.assertEqual(self.parts(*events, iteration=1), {("compute", "alone"): 35, ("compute", "a"): 5})
        self.assertEqual(self.parts(*events, iteration=1, clock="host"), {
            ("compute", "old1"): 10, ("compute", "old2"): 20, ("compute", "alone"): 35, ("compute", "a"): 5,
            ("compute", "late"): 5, ("idle_host", "a"): 15})

    def test_backlog_that_starts_after_the_first_step_s_work(self):
        """Backlog of another stream that starts after the first step's work does not move the window."""
        events = [step(1, 0, 100), launch(10, 5, 1), kernel("k", 20, 20, 1), kernel("old", 50, 20, 8, 20),
                  step(2, 100, 100), launch(110, 5, 2), kernel("k", 120, 10, 2, 20)]
        self.assertEqual(sum(self.parts(*events, iteration=1).values()), 40)

    def test_backlog_that_outlasts_the_first_step(self):
        events = [step(1, 0, 100), launch(10, 5, 1), kernel("k", 20, 20, 1), kernel("old", 30, 220, 8, 20),
                  step(2, 100, 100), launch(110, 5, 2), kernel("k", 255, 10, 2, 20)]
        self.assertEqual(self.parts(*events, iteration=1), {(None, None): 0})
        self.assertEqual(self.parts(*events), {("idle_wait", None): 5, ("compute", None): 10})

    def test_a_single_step_with_and_without_backlog(self):
        """The host's tail is part of a single step without backlog, or with backlog that ends before the step."""
        work = [step(1, 100, 100), launch(110, 5, 1), kernel("k", 120, 20, 1)]
        for old, expected in (([], 100), ([kernel("old", 50, 50, 9)], 100), ([kernel("old", 50, 51, 9)], 39),
                              ([kernel("old", 101, 30, 9, 8)], 100)):
            self.assertEqual(sum(self.parts(*work, *old, iteration=1).values()), expected)

    def test_a_trace_without_steps_has_its_backlog(self):
        self.assertEqual(self.parts(kernel("old at 0x12", 0, 10, 9), launch(5, 5, 1), kernel("k", 10, 10, 1),
                                    iteration=None), {("compute", "old"): 10, ("compute", None): 10})

    def test_work_without_a_launch_has_its_own_name_at_every_level(self):
        events = [step(1, 0, 100), event("a", 0, 50), launch(10, 5, 1), kernel("k1", 20, 5, 1), kernel("k2", 30, 5, 9),
                  event("copy", 40, 5, cat="gpu_memcpy", pid=0, tid=7)]
        for level in LEVELS:
            parts = self.parts(*events, iteration=1, level=level)
            self.assertEqual((parts["compute", "k2"], parts["memory", "copy"]), (5, 5), level)
        self.assertEqual(self.parts(*events, iteration=1, level="annotation")["compute", None], 5)

    def test_a_launch_without_a_name(self):
        """A launch without a name works as a call, as the launch of work, and as the launch of a graph."""
        for name in (None, 7, ABSENT):
            unnamed = {"cat": "cuda_runtime", "args": {"correlation": 1}}
            events = [step(1, 0, 100), event("a", 0, 50), event(name, 10, 10, **unnamed), kernel("k", 40, 20, 1),
                      event(name, 70, 10, cat="cuda_runtime")]
            self.assertEqual(self.parts(*events, iteration=1), {
                ("idle_host", "a"): 10, ("idle_launch", None): 10, ("idle_wait", "a"): 20, ("compute", "a"): 20,
                ("idle_unrecorded", None): 40})
            sides = self.rows("SELECT class, name, control_time, test_time FROM"
                              " trace_step_diff('trace.json', 'trace.json') WHERE name IS NULL")
            self.assertEqual(sides, [("idle_launch", None, 10, 10)])
            self.assertGreater(self.value("SELECT length(html) FROM trace_diff_report('trace.json', 'trace.json')"), 0)

    def test_a_wait_that_nothing_recorded_explains(self):
        """A wait of more than 1 ms between the launch, or the previous work, and the start is unexplained."""
        for start, waits in ((1100, ("idle_wait", "a")), (1100.001, ("idle_unrecorded", None))):
            events = [step(1, 0, 100), step(2, 90, round(start - 80, 3)), kernel("k", start, 10, 1)]
            waited = round(start - 100, 3)
            self.assertEqual(self.parts(*events, event("a", 90, 20), launch(95, 5, 1), clock="host"), {
                ("idle_host", "a"): 5, ("idle_launch", "cudaLaunchKernel"): 5, waits: waited, ("compute", "a"): 10})
            self.assertEqual(self.parts(*events, event("a", 0, 150), launch(20, 5, 2), kernel("k0", 30, 70, 2),
                                        launch(40, 5, 1), clock="host"), {("compute", "a"): 20, waits: waited})

    def test_a_wait_is_measured_beyond_the_window(self):
        """The whole wait is compared with the limit: 600 us of 1,200 are in step 2."""
        self.assertEqual(self.parts(step(1, 0, 700), event("a", 0, 50), launch(95, 5, 1), step(2, 700, 800),
                                    kernel("k", 1300, 10, 1), clock="host"), {
            ("idle_unrecorded", None): 600 + 190, ("compute", None): 10})

    def test_a_graph_whose_kernels_were_not_recorded(self):
        graph = {"cat": "cuda_runtime", "args": {"correlation": 5}}
        events = [step(1, 0, 100), step(2, 100, 200), event("a", 100, 180), launch(105, 5, 1), kernel("k1", 110, 10, 1),
                  event("cudaGraphLaunch", 130, 10, **graph), launch(160, 5, 2, tid=2), kernel("k2", 200, 10, 2)]
        self.assertEqual(self.parts(*events, clock="host"), {
            ("idle_host", "a"): 5 + 10 + 70, ("idle_launch", "cudaLaunchKernel"): 5, ("compute", "a"): 10,
            ("idle_call", "cudaGraphLaunch"): 10, ("idle_unrecorded", None): 60 + 20, ("compute", None): 10})
        recorded = {
            ("idle_host", "a"): 5 + 10 + 5 + 70, ("idle_launch", "cudaLaunchKernel"): 5 + 5, ("compute", "a"): 10 + 5,
            ("idle_launch", "cudaGraphLaunch"): 10, ("idle_wait", "a"): 10, ("idle_wait", None): 35,
            ("idle_unrecorded", None): 20, ("compute", None): 10}
        events.append(kernel("k", 150, 5, 5))
        self.assertEqual(self.parts(*events, clock="host"), recorded)
        inner = event("cuGraphLaunch", 132, 5, cat="cuda_driver", args={"correlation": 5})
        self.assertEqual(self.parts(*events, inner, clock="host"), recorded)

    def test_a_graph_that_nothing_follows(self):
        """A graph without later work may have run to the end of the window."""
        self.assertEqual(self.parts(
            step(1, 0, 100), step(2, 100, 200), event("a", 100, 180), launch(105, 5, 1), kernel("k1", 110, 10, 1),
            event("hipGraphLaunch", 130, 10, cat="cuda_runtime"), clock="host"), {
                ("idle_host", "a"): 15, ("idle_launch", "cudaLaunchKernel"): 5, ("compute", "a"): 10,
                ("idle_call", "hipGraphLaunch"): 10, ("idle_unrecorded", None): 160})

    def test_the_profiler_s_own_span_widens_nothing(self):
        """The profiler's own span widens nothing, either as an X or as a B with its E, which may lack the category."""
        inside = [event("a", 10, 20), launch(15, 5, 1), kernel("k", 30, 10, 1)]
        own = {"ts": -100, "pid": "Spans", "tid": 1, "name": "PyTorch Profiler (0)", "cat": "Trace"}
        for span in ([{**own, "ph": "X", "dur": 500}], [{**own, "ph": "B"}, {**own, "ph": "E", "ts": 400}],
                     [{**own, "ph": "B"}, {"ph": "E", "ts": 400, "pid": "Spans", "tid": 1}]):
            self.assertEqual(sum(self.parts(*inside, *span, iteration=None).values()), 30)
            self.assertEqual(self.rows("SELECT start_ns, end_ns FROM trace_files('trace.json')"), [(10000, 40000)])
        lone = {"ph": "E", "ts": 400, "pid": 3, "tid": 1}
        self.assertEqual(sum(self.parts(*inside, lone, iteration=None).values()), 390)

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
                         [(0, 70), (1, 100), (2, 100), (3, 70), (4, 100), (5, 100)])
        self.assertEqual(self.rows("SELECT DISTINCT iteration FROM trace_step_time('cycles')"), [(1,), (4,)])

    def test_times_at_the_ends_of_all_time(self):
        """A part that exceeds 64 bits is an error, and an event that ends beyond 64 bits has no dur."""
        far = 9223372036854775
        write("trace.json", document(step(1, -far, 100), launch(1 - far, 5, 1, tid=2), kernel("k", 2 - far, 1, 1),
                                     step(2, 100, far - 203)))
        self.assert_error("trace_step_time: 'trace.json': a part of a step is beyond 64 bits of nanoseconds",
                          "SELECT class, name, time, time_ns FROM trace_step_time('trace.json', NULL, 2)")
        write("trace.json", document(step(1, 0, 100), launch(1, 5, 1), kernel("k", far, far, 1)))
        self.assertEqual(self.rows("SELECT ts_ns, dur_ns FROM trace_events('trace.json') WHERE name = 'k'"),
                         [(1000 * far, None)])
        write("trace.json", document(step(1, 0, 100), launch(1, 5, 1), kernel("k", far, 0.807, 1)))
        self.assertEqual(self.rows("SELECT class, name, time_ns FROM trace_step_time('trace.json')"), [
            ("idle_unrecorded", None, 1000 * (far - 6)), ("idle_launch", "cudaLaunchKernel", 5000),
            ("idle_unrecorded", "before cudaLaunchKernel", 1000), ("compute", None, 807)])


PEAKS = """
import resource, sqlite3, sys
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.execute("SELECT load_extension(?)", sys.argv[1:2])
for sql in sys.argv[2:]:
    db.execute(sql).fetchall()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


class Overlapping(InFolder):
    """n steps that overlap by the host's clock have n^2 parts, which are computed as they are read."""

    READ = "trace_step_time('trace.json', 0, 'all', 'op', 'host')"

    def write(self, count):
        write("trace.json", document(*(step(i, i, 3 * count) for i in range(count)),
                                     *(event(f"op{i}", count + i, .5) for i in range(count))))

    @alone
    def test_the_first_rows_are_quick(self):
        self.write(3000)
        self.value("SELECT count(*) FROM trace_events('trace.json')")
        began = time.process_time()
        self.assertEqual(self.value(f"SELECT count(*) FROM (SELECT * FROM {self.READ} LIMIT 10)"), 10)
        self.assertLess(time.process_time() - began, 0.2 * float(os.environ.get("SLACK") or 1))

    @unittest.skipIf(os.name == "nt", "needs resource.getrusage")
    @unittest.skipIf("asan" in os.environ.get("LD_PRELOAD", ""), "AddressSanitizer takes memory of its own")
    def test_memory_is_that_of_a_step(self):
        """Memory, in KiB, is enough for one step, not for a million rows of at least 32 bytes."""
        self.write(1000)
        done = subprocess.run(
            [sys.executable, "-c", PEAKS, EXTENSION, f"SELECT * FROM {self.READ} LIMIT 1",
             f"SELECT count(DISTINCT time) FROM {self.READ}"], check=True, capture_output=True, text=True)
        one_step, all_steps = map(int, done.stdout.split())
        self.assertLess(all_steps - one_step, 24 * 1024)

    @slow
    def test_rows_are_the_same_whenever_they_are_read(self):
        """Rows do not depend on the reading order, even if there are too many to keep: numbers, order, two cursors side
        by side, and a join.
        """
        self.write(600)
        sql = f"SELECT rowid, * FROM {self.READ}"
        first = self.rows(sql)
        self.assertEqual([row[1:] for row in first],
                         sorted((row[1:] for row in first), key=lambda row: (*row[:2], -row[5], row[2], row[3] or "")))
        self.assertEqual([row[0] - first[0][0] for row in first], list(range(len(first))))
        one, two = self.db.execute(sql), self.db.execute(sql)
        self.assertEqual(one.fetchmany(1000), first[:1000])
        self.assertTrue(all(two.fetchone() == row for row in first))
        self.assertEqual(one.fetchall(), first[1000:])
        for places in ((0, -1), (-1, 0), (1000, 999)):
            self.assertEqual(
                self.rows(f"SELECT b.rowid FROM (VALUES {', '.join(f'({first[i][0]})' for i in places)}) AS a"
                          f" CROSS JOIN {self.READ} AS b WHERE b.rowid = a.column1"), [(first[i][0],) for i in places])
        either = f"SELECT count(*) FROM {self.READ} WHERE iteration = 3 OR name = 'op3'"
        self.assertEqual(self.value(either), sum(row[2] == 3 or row[4] == "op3" for row in first))

    def test_ranks_and_cycles_side_by_side(self):
        """A join that alternates between the files of a rank, and between ranks, gives the right rows."""
        for rank, cycle in ((0, 0), (0, 1), (1, 0)):
            write(f"runs/rank{rank}.{cycle}.json", document(
                *(step(2 * i + cycle, 100 * i, 100) for i in range(3)),
                *(event(f"op{rank}{cycle}", 100 * i, 10 + i) for i in range(3))))
        read = "trace_step_time('runs', 'all', 'all')"
        rows = self.rows(f"SELECT rank, iteration, name, time FROM {read}")
        self.assertEqual([row[:2] for row in rows if row[2].startswith("op")],
                         [(0, i) for i in range(6)] + [(1, i) for i in (0, 2, 4)])
        self.assertEqual(self.rows(f"SELECT a.name, b.rank, b.iteration, b.name, b.time FROM {read} AS a"
                                   f" CROSS JOIN {read} AS b"),
                         [(a[2], *b) for a in rows for b in rows])


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
            self.assert_error(f"{function}: level must be {levels}, not 'layer'{self.order(function)}",
                              f"SELECT * FROM {function}({arguments}, 'layer')")
            self.assert_error(f"{function}: level must be {levels}, not 2{self.order(function)}",
                              f"SELECT * FROM {function}({arguments}, 2)")
            self.assert_error(f"{function}: clock must be 'device' or 'host', not 'wall'{self.order(function)}",
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
