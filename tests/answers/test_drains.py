"""trace_step_causes, kind 'synchronized' (L8), against an independent implementation."""
from collections import Counter

import oracle
from generate_waits import write_pair
from made import InFolder
from oracle_drains import Side, synchronized
from oracle_moved import plain_sides
from support import series

CAUSES = """SELECT kind, name, control_ns, test_ns, diff_time
            FROM trace_step_causes(:control, :test, :control_rank, :test_rank, :steps, :steps, :clock)"""
STEPS = """SELECT total(control_ns), total(test_ns), total(diff_time)
           FROM trace_step_diff(:control, :test, :control_rank, :test_rank, :steps, :steps, 'op', :clock)"""


def questions(seed, ranks):
    """The arguments for a pair: ranks of both sides, steps and clock."""
    yield "all", "all", "steady", "device"
    if seed % 4 == 0:
        yield "all", "all", "all", "host"
    elif seed % 4 == 1:
        yield min(ranks[0]), max(ranks[1]), "all", "device"
    else:
        yield "all", "all", "all", "device"


class SecondReading(InFolder):
    def check(self, seed, seen):
        paths = f"{seed}/control", f"{seed}/test"
        write_pair(*paths, seed)
        traces = [oracle.read_trace(path) for path in plain_sides(*paths)]
        for *ranks, steps, clock in questions(seed, [trace.ranks for trace in traces]):
            expected = synchronized(*(Side(trace, chosen, steps, clock) for trace, chosen in zip(traces, ranks)))
            given = dict(zip(("control", "test", "control_rank", "test_rank", "steps", "clock"),
                             (*paths, *ranks, steps, clock)))
            causes = self.db.execute(CAUSES, given).fetchall()
            with self.subTest(**given):
                self.assertEqual([row[1:4] for row in causes if row[0] == "synchronized"], [expected] if expected
                                 else [])
                sums = self.db.execute(STEPS, given).fetchone()
                self.assertEqual((sum(row[2] for row in causes), sum(row[3] for row in causes)), sums[:2])
                self.assertAlmostEqual(sum(row[4] for row in causes), sums[2], places=6)
            seen[expected and expected[0]] += 1

    def test_random_pairs(self):
        seen, count = Counter(), series(60, 1000)
        for seed in range(count):
            self.check(seed, seen)
        for what in (None, "cudaStreamSynchronize", "cudaDeviceSynchronize", "aten::item", "aten::to", "aten::copy_",
                     "mine::event"):
            self.assertGreater(seen[what], count // 40, what)
