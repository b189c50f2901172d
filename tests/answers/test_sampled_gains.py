"""Gains from a sample of the steps (E11, C16.4): on steps with known gains, and on random jobs, where all numbers must
be consistent.
"""
import os
import resource
import subprocess
import sys
import unittest
from unittest import mock

import generate_bench
from generate_gains import write_gains_pair
from made import InFolder, document, event, kernel, launch, step, write
from support import EXTENSION, alone, series, slowest

ALL = "SELECT kind, text, diff_ms, gain_ms, hidden_by, rank FROM trace_summary('control', 'test')"


def sample(count):
    """The sample of E11.1."""
    return [(2 * run + 1) * count // 8 - 2 + i for run in range(4) for i in range(4)] if count > 16 else range(count)


def steps_of(lengths, first=0, rank=0):
    """A rank: in each step it waits for a kernel of this many us after one of 50 us; then the ranks meet."""
    events, at = [], first
    for number, us in enumerate(lengths):
        end, work = at + 40 + 50 + us, 4 * number
        events += [step(number, at, 60 + 50 + us + 20), event("aten::sort", at + 5, 10), launch(at + 6, 2, work),
                   kernel("sort", at + 40, 50, work), event("aten::mm", at + 16, 10), launch(at + 17, 2, work + 1),
                   kernel("gemm", at + 90, us, work + 1), event("c10d::allreduce_", at + 27, 5),
                   launch(at + 28, 2, work + 2), kernel("ncclKernel_AllReduce", end, 10, work + 2),
                   event("cudaDeviceSynchronize", at + 50, end + 15 - at - 50, cat="cuda_runtime")]
        at += 60 + 50 + us + 20
    return document(*events, distributedInfo={"rank": rank, "world_size": 2})


def hidden_of(count, more=100, name="aten::mm"):
    """Steps in which a kernel is longer beside another one, which hides its gain except for 20 us."""
    events, period = [], 400 + more
    for number in range(count):
        at, work = period * number, 2 * number
        events += [step(number, at, period), event(name, at + 5, 10), launch(at + 6, 2, work),
                   kernel("gemm", at + 40, 100 + more, work), event("aten::add", at + 16, 10),
                   launch(at + 17, 2, work + 1), kernel("add", at + 40, 80 + 1.0 * more, work + 1, 8),
                   event("cudaDeviceSynchronize", at + 50, 95 + more, cat="cuda_runtime")]
    return document(*events)


class Sampled(InFolder):
    def gain(self, name="aten::mm"):
        """(diff_ms, gain_ms) for steps in us, rounded to ns."""
        [found] = self.rows("SELECT round(diff_ms, 6), round(gain_ms, 6) FROM trace_summary('control', 'test')"
                            " WHERE diagnoses = 0 AND name = ?", name)
        return found

    def sides(self, more, **sides):
        """Control's kernel takes 100 us in each step, test's this much more. The first and the last step are left
        out.
        """
        write("control/a.json", steps_of([100] * (len(more) + 2), **sides))
        write("test/a.json", steps_of([100, *(100 + us for us in more), 100], **sides))

    def test_the_gain_is_that_of_the_sampled_steps(self):
        for count in (16, 17, 18, 23, 40, 61):
            more = [30 + 7 * number % 23 for number in range(count)]
            self.sides(more)
            chosen = sample(count)
            self.assertEqual(self.gain(), (round(sum(more) / count / 1000, 6),
                                           round(sum(more[i] for i in chosen) / len(chosen) / 1000, 6)), count)

    def test_the_sides_have_other_numbers_of_steps(self):
        """Sides with different numbers of steps are sampled separately, and gains belong to test."""
        more = [30 + 7 * number % 23 for number in range(40)]
        for control in (3, 16, 17, 90):
            self.sides(more)
            write("control/a.json", steps_of([100] * (control + 2)))
            self.assertEqual(self.gain()[1], round(sum(more[i] for i in sample(40)) / 16 / 1000, 6), control)

    def test_it_says_so(self):
        """From 17 steps on, in test or otherwise in control, a line mentions the sample."""
        for counts, sampled in (((18, 18), ""), ((19, 19), " (16 of 17 steps)"), ((40, 18), " (16 of 38 steps)"),
                                ((18, 40), " (16 of 38 steps)"), ((19, 40), " (16 of 38 steps)"),
                                ((40, 19), " (16 of 17 steps)")):
            for side, count, more in zip(("control", "test"), counts, (0, 100)):
                write(f"{side}/a.json", hidden_of(count, more))
            [text] = self.rows("SELECT text FROM trace_summary('control', 'test') WHERE name = 'aten::mm'")
            self.assertEqual(text[0].partition("; a fix saves 0.020 ms")[2].partition(",")[0], sampled, counts)

    def test_eight_characters_before_the_dots(self):
        """C13.3: a text is cut after a word only if eight characters are left before the dots."""
        for length, shown in ((8, "wwwwwwww..."), (7, "wwwwwww xxxxxxxxxxxxxxx...")):
            for side, more in (("control", 0), ("test", 100)):
                write(f"{side}/a.json", hidden_of(19, more, "w" * length + " " + "x" * 40))
            [text] = self.rows("SELECT text FROM trace_summary('control', 'test') WHERE kind = 'cause' LIMIT 1")
            self.assertEqual(text[0].partition("; a fix")[0].rpartition("  ")[2], shown, text)

    def test_equal_steps_gain_what_all_of_them_do(self):
        """A sample of equal steps gains as much as all steps, for a job of two ranks, the second of which is slower."""
        for side, us in (("control", 100), ("test", 180)):
            for rank in range(2):
                lengths = [us if rank else 100] * 42
                events = steps_of(lengths, rank=rank)["traceEvents"]
                for each in events:  # the first rank waits in the collective
                    if each["name"] == "ncclKernel_AllReduce" and not rank:
                        each["dur"] += us - 100
                    number = (each["ts"]) // 230
                    each["ts"] += number * (us - 100) if not rank else 0
                    if not rank and each["name"][:12] in ("ProfilerStep", "cudaDeviceSy"):
                        each["dur"] += us - 100
                write(f"{side}/rank{rank}.json",
                      document(*events, distributedInfo={"rank": rank, "world_size": 2}))
        whole = self.rows("SELECT name, round(gain_alone / 1000, 6) FROM trace_undo('control', 'test')"
                          " WHERE name = 'aten::mm'")
        self.assertEqual(whole, [("aten::mm", 0.08)])
        self.assertEqual(self.gain()[1], 0.08)

    def test_shifted_times_change_nothing(self):
        more = [30 + 7 * number % 23 for number in range(40)]
        self.sides(more)
        expected = self.rows(ALL)
        self.sides(more, first=10 ** 9)
        self.assertEqual(self.rows(ALL), expected)

    def test_random_jobs_hold_together(self):
        """In random jobs the recorded lengths of all steps are simulated (E1); otherwise a caution says that gains are
        unknown.
        """
        simulated = 0
        for seed in range(series(20, 60)):
            write_gains_pair(f"{seed}/control", f"{seed}/test", seed, other=seed % 2 == 1, steps=20 + seed % 9)
            rows = self.rows("SELECT kind, code, text, gain_ms FROM trace_summary(?, ?)", f"{seed}/control",
                             f"{seed}/test")
            said = [text for kind, code, text, _ in rows if kind == "caution" and code == "gains"]
            self.assertEqual([text for text in said if "device events begin before" not in text], [], seed)  # E12
            simulated += any(gain is not None for *_, gain in rows)
        self.assertGreater(simulated, 4)


class Cost(InFolder):
    @alone
    @slowest
    def test_many_steps_take_little_more_with_gains(self):
        """With 200 steps, gains take at most three quarters more memory and time; without sampling it would be twice as
        much.
        """
        with mock.patch.object(generate_bench, "STEPS", 200):
            for side in ("control", "test"):
                os.mkdir(side)
                generate_bench.generate(f"{side}/rank0.json", 150, run=side)
        script = ("import sqlite3, sys\nsys.path[:0] = sys.argv[3:]\nfrom support import connect\n"
                  "connect(extension=sys.argv[2]).execute('SELECT count(*) FROM trace_summary(?, ?) WHERE gains = '"
                  " + sys.argv[1], ('control', 'test')).fetchall()")
        cost = []
        for gains in "01":
            began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            process = subprocess.Popen([sys.executable, "-c", script, gains, EXTENSION, *sys.path])
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = status
            self.assertEqual(status, 0)
            cost.append((used.ru_maxrss, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - began))
        self.assertLess(cost[1][0], cost[0][0] * 1.75, cost)
        self.assertLess(cost[1][1], cost[0][1] * 1.75, cost)


if __name__ == "__main__":
    unittest.main()
