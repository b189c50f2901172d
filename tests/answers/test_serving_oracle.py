"""Steps by annotation, strata and replayed graphs against the rules word for word (oracle_marks.py, oracle_serving.py),
on random traces of serving frameworks (generate_serving.py).
"""
import math
import os
import random
import sqlite3
import unittest
from collections import Counter

import generate_serving
import oracle
import oracle_serving
import oracle_steps
from made import InFolder
from support import series

STEPS = """
    SELECT rank, iteration, file, ts_ns, dur_ns, name, phase, batch_size, padded_size, tokens, stratum
    FROM trace_steps(?, ?)"""
EVENTS = "SELECT file, event, iteration FROM trace_events(?, NULL, NULL, NULL, NULL, ?)"
OPS = """
    SELECT rank, iteration, device, cat, name, counts, CAST(round(total_duration * 1000) AS INTEGER)
    FROM trace_ops(?, ?, ?, 'ALL', ?)"""
TIME = "SELECT rank, iteration, stratum, class, name, time_ns FROM trace_step_time(?, ?, ?, ?, ?, ?, ?)"
TRACE_DIFF = """
    SELECT name, control_counts, test_counts, CAST(round(control_total_duration * 1000) AS INTEGER),
           CAST(round(test_total_duration * 1000) AS INTEGER), round(diff_duration_per_step, 6)
    FROM trace_diff(?, ?, ?, ?, ?, ?, NULL, 0, ?)"""
PATH = """
    SELECT rank, iteration, class, sum(time_ns)
    FROM trace_step_path(?, ?, ?, ?, NULL, ?) GROUP BY rank, iteration, class"""
STEP_DIFF = """
    SELECT class, name, control_time, test_time, diff_time, diff_within, diff_mix
    FROM trace_step_diff(?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, ?)"""
OWNERS = """
    SELECT file, event, iteration, graph_position, op, top_op, module, annotation
    FROM trace_kernel_owners(?, ?, ?, ?, ?)"""
LABELS = ("op", "top_op", "module", "annotation")
ITERATIONS = ("steady", "steady", "all", "decode", "prefill", "mixed", "idle", "new_mode", "decode 2", "mixed 40", 0, 1,
              "first", "first")


def in_order(rows):
    return sorted(rows, key=lambda row: [(value is not None, isinstance(value, str), value or 0) for value in row])


class Random(InFolder):
    COUNT = int(os.environ.get("RANDOM_TRACES") or series(60, 400))

    def setUp(self):
        super().setUp()
        self.seen = Counter()

    def traces(self, first):
        """(seed, rng, trace, capture), both made with the rng"""
        for seed in range(first, first + self.COUNT):
            rng = random.Random(seed)
            trace, capture = generate_serving.generate(rng).write(str(seed))
            yield seed, rng, trace, capture

    def compare(self, what, found, expected, context=None):
        """Compares rows of SQL with the result of the oracle, which may be Refused."""
        try:
            wanted = expected()
        except oracle.Refused as refused:
            self.seen[what, "refused"] += 1
            with self.assertRaises(sqlite3.Error, msg=f"{what} {context}: {refused}"):
                found()
            return None
        self.seen[what] += 1
        rows = found()
        self.assertEqual(in_order(rows), in_order(wanted), f"{what} {context}")
        return rows

    def test_steps_are_those_of_the_oracle(self):
        """trace_steps and the column iteration of trace_events and trace_ops equal the oracle's."""
        for seed, rng, trace, _ in self.traces(0):
            with self.subTest(seed=seed):
                for steps in (None, *rng.sample(generate_serving.STEPS[1:], 4)):
                    read = oracle.read_trace(trace, steps)

                    def rows():
                        oracle.check_ranks(read, read.ranks)
                        return [(step.rank, step.iteration, step.file, step.ts_ns, step.dur_ns, *step[8:])
                                for step in read.steps]

                    self.compare("trace_steps", lambda: self.rows(STEPS, trace, steps), rows, steps)
                    self.compare("trace_events", lambda: self.rows(EVENTS, trace, steps),
                                 lambda: [(row.file, row.event, row.iteration) for row in read.rows], steps)
                    for phase in {step.phase for step in read.steps}:
                        self.seen[phase] += 1
                    for file in read.files:
                        self.seen["annotated" if file.annotated else "profiler" if file.steps else "none"] += 1
        for what in ("annotated", "profiler", "none", "decode", "prefill", "mixed", "idle", "verify", "draft",
                     "diffusion", None, ("trace_steps", "refused")):
            self.assertGreater(self.seen[what], self.COUNT // series(30, 20), (what, self.seen))

    def test_ops(self):
        """The first step is the lowest ProfilerStep, or the lowest of the steps that match the pattern."""
        for seed, rng, trace, _ in self.traces(10_000):
            with self.subTest(seed=seed):
                steps = rng.choice((None, None, "auto", "profiler", "step[%", "%"))
                wanted = rng.choice((None, None, *ITERATIONS))
                read = oracle.read_trace(trace, steps)
                self.compare("trace_ops", lambda: self.rows(OPS, trace, "all", wanted, steps), lambda: [
                    (row.rank, row.iteration, row.device, row.cat, row.name, row.counts, row.total_ns)
                    for row in oracle.summary(read, "all", wanted)], (wanted, steps))
        self.assertGreater(self.seen["trace_ops"], self.COUNT // 6)

    def test_diffs_are_those_of_the_oracle(self):
        before = None
        for seed, rng, trace, _ in self.traces(60_000):
            control, before = before or trace, trace
            wanted, steps = rng.choice((None, *ITERATIONS)), rng.choice((None, None, "step[%", "%"))
            ranks = rng.choice((None, "all"))
            with self.subTest(seed=seed):
                chosen = (ranks, ranks, wanted, wanted)
                self.compare(
                    "trace_diff", lambda: self.rows(TRACE_DIFF, control, trace, *chosen, steps),
                    lambda: [(row.name, row.control_counts, row.test_counts, row.control_ns, row.test_ns,
                              round(float(row.diff_ns_per_step / 1000), 6))
                             for row in oracle.trace_diff(
                                 *(oracle.read_trace(path, steps) for path in (control, trace)), *chosen).values()],
                    (chosen, steps))
        self.assertGreater(self.seen["trace_diff"], self.COUNT // 6)

    def arguments(self, rng):
        return {"ranks": rng.choice((None, "all")), "wanted": rng.choice(ITERATIONS),
                "level": rng.choice(("op", "op", *oracle_steps.LEVELS)),
                "clock": rng.choice(("device", "device", "host"))}

    @staticmethod
    def captures(path, steps):
        return path and oracle_serving.captures(oracle.read_trace(path, steps))

    @staticmethod
    def read(path, steps, wanted):
        """The first step is the profiler's, unless a pattern names the steps (T23.3)."""
        return oracle.read_trace(path, "profiler" if wanted == "first" and steps is None else steps)

    def test_step_time(self):
        for seed, rng, trace, capture in self.traces(20_000):
            with self.subTest(seed=seed):
                for _ in range(3):
                    chosen, steps = self.arguments(rng), rng.choice((None, None, "profiler", "step[%", "execute%", "%"))
                    captured = rng.choice((None, None, capture))
                    read = self.read(trace, steps, chosen["wanted"])
                    rows = self.compare(
                        "trace_step_time", lambda: self.rows(TIME, trace, *chosen.values(), captured, steps),
                        lambda: [(*part[:3], *row, ns) for part in oracle_serving.parts(
                            read, **chosen, captured=self.captures(captured, steps)) for row, ns in part[3].items()],
                        (chosen, steps, captured))
                    self.seen["graph"] += any((row[4] or "").startswith("graph: ") for row in rows or ())
                    if rows is not None:  # trace_step_path divides the same time
                        times = Counter()
                        for rank, number, _, class_, _, ns in rows:
                            times[rank, number, class_] += ns
                        path = self.rows(PATH, trace, chosen["ranks"], chosen["wanted"], chosen["clock"], steps)
                        self.assertEqual({row[:3]: row[3] for row in path if row[3]}, +times)
        self.assertGreater(self.seen["graph"], self.COUNT // 20)
        self.assertGreater(self.seen["trace_step_time"], self.COUNT // 2)

    def test_step_diff(self):
        before = None
        for seed, rng, trace, _ in self.traces(30_000):
            with self.subTest(seed=seed):
                control, before = before or trace, trace
                chosen, steps = self.arguments(rng), rng.choice((None, None, "step[%", "execute%", "%"))
                if rng.random() < .6:
                    chosen["wanted"] = "all"
                common = set.intersection(*(set(oracle.read_trace(path, steps).ranks) for path in (control, trace)))
                if chosen["ranks"] is None and len(common) > 1:  # otherwise Q1.6 decides what is compared
                    chosen["ranks"] = min(common)
                arguments = [*[chosen["ranks"]] * 2, *[chosen["wanted"]] * 2, chosen["level"], chosen["clock"], steps]

                def rows():
                    sides = [oracle_serving.side(self.read(path, steps, chosen["wanted"]), **chosen)
                             for path in (control, trace)]
                    if not all(sides):
                        raise oracle.Refused("a side without windows")
                    return [(*key, *(float(value / 1000) for value in row))
                            for key, row in oracle_serving.diff(*sides).items() if key[0] is not None]

                try:
                    expected = in_order(rows())
                except oracle.Refused:
                    with self.assertRaises(sqlite3.Error, msg=(control, trace, arguments)):
                        self.rows(STEP_DIFF, control, trace, *arguments)
                    continue
                found = in_order(self.rows(STEP_DIFF, control, trace, *arguments))
                self.assertEqual([row[:2] for row in found], [row[:2] for row in expected])
                most = 1e-9 * max(sum(row[2] for row in expected), sum(row[3] for row in expected), 1e-3)
                for row, wanted in zip(found, expected):
                    for value, exact in zip(row[2:], wanted[2:]):
                        self.assertLessEqual(abs(value - exact), most, (row, wanted, arguments))
                    self.seen["within"] += abs(row[5]) > most
                    self.seen["mix"] += abs(row[6]) > most
                self.assertLessEqual(abs(math.fsum(row[5] + row[6] - row[4] for row in found)), most * (len(found) + 1))
        self.assertGreater(min(self.seen["within"], self.seen["mix"]), series(3, self.COUNT // 3))

    def test_owners(self):
        for seed, rng, trace, capture in self.traces(40_000):
            with self.subTest(seed=seed):
                for captured in (None, capture, capture):
                    steps = rng.choice((None, None, "profiler", "%"))
                    read = oracle.read_trace(trace, steps)

                    def rows():
                        oracle.check_ranks(read, read.ranks)
                        known = self.captures(captured, steps)
                        files = {file.path: oracle_serving.Replayed(file, known) for file in read.files}
                        return [(row.file, row.event, row.iteration, files[row.file].position.get(row.event),
                                 *(files[row.file].owner(row, level) for level in LABELS))
                                for row in read.rows if oracle.is_device_work(row) and oracle.is_counted(row)]

                    found = self.compare(
                        "trace_kernel_owners", lambda: self.rows(OWNERS, trace, "all", "all", captured, steps), rows,
                        (steps, captured))
                    self.seen["positions"] += sum(row[3] is not None for row in found or ())
        self.assertGreater(self.seen["positions"], self.COUNT)


if __name__ == "__main__":
    unittest.main()
