"""How reliable the verdicts of trace_ab are: false alarms and power on generated families of runs with a run effect.

Steps within a run are autocorrelated; their noise is normal, heavy-tailed or skewed, in turn. Seeds are fixed. For
rates over thousands of families, by the oracle's statistics, run `python3 tests/generators/generate_ab.py --table`.
"""
import random
import shutil
import unittest
from collections import Counter
from dataclasses import dataclass

from generate_ab import LAUNCH, PLANTED, TAILS, Family, Plan, kernel
from made import InFolder
from support import slow

FAMILIES = 100
SQL = "SELECT name, p_value, verdict, gate, detectable, diff_pct FROM trace_ab(?, ?)"


@dataclass
class Rates:
    rows: float  # share with p <= 0.05
    spoilt: float  # share of families with a verdict
    gates: float  # share with a row that a gate calls slower
    found: float  # share in which the planted kernel is slower
    others: float  # share in which another row has a verdict
    detectable: float  # median for the planted kernel


@slow
class Power(InFolder):
    def rates(self, runs, effect, factor=1, **others):
        seen, detectable = Counter(), []
        for seed in range(FAMILIES):
            plan = Plan((runs, runs), effect=effect, tails=TAILS[seed % len(TAILS)], planted={PLANTED: factor},
                        **others)
            rows = self.rows(SQL, *Family(random.Random(seed), plan).write(str(seed)))
            shutil.rmtree(str(seed))
            # equal in each run, so there is nothing to test
            tested = [row for row in rows if row[0] not in (LAUNCH, "ProfilerStep")]
            self.assertEqual(len(tested), len(rows) - 2)
            seen["rows"] += len(tested)
            seen["alarms"] += sum(row[1] <= 0.05 for row in tested)
            seen["gates"] += any(row[3] == "slower" for row in rows)
            called = {row[0]: row[2] for row in rows if row[2] in ("slower", "faster")}
            seen["spoilt"] += bool(called)
            seen["found"] += called.get(kernel(PLANTED)) == "slower"
            seen["others"] += bool(set(called) - {kernel(PLANTED)})
            detectable += [row[4] for row in rows if row[0] == kernel(PLANTED)]
        return Rates(seen["alarms"] / seen["rows"],
                     *(seen[key] / FAMILIES for key in ("spoilt", "gates", "found", "others")),
                     sorted(detectable)[FAMILIES // 2])

    def assert_quiet(self, rates):
        self.assertLessEqual(rates.rows, 0.07)
        self.assertGreaterEqual(rates.rows, 0.03)  # a test that never rejects has no power
        self.assertLessEqual(rates.spoilt, 0.05)
        self.assertLessEqual(rates.gates, 0.05)

    def test_unchanged_programs_whose_runs_differ_by_1_percent(self):
        for runs in (3, 5):
            self.assert_quiet(self.rates(runs, 0.01))

    def test_unchanged_programs_whose_runs_differ_by_3_percent(self):
        for runs in (3, 5):
            self.assert_quiet(self.rates(runs, 0.03))

    def test_a_planted_change_is_found_where_runs_differ_by_1_percent(self):
        ten, five = (self.rates(5, 0.01, factor) for factor in (1.1, 1.05))
        self.assertGreaterEqual(ten.found, 0.9)
        self.assertLess(five.found, ten.found)  # half of the measured differences are below min_effect
        self.assertGreater(five.found, 0.25)
        self.assertLessEqual(ten.others, 0.08)

    def test_power_is_less_where_runs_differ_by_3_percent(self):
        few, many = self.rates(3, 0.03, 1.1), self.rates(5, 0.03, 1.1)
        self.assertGreater(many.found, 0.4)
        self.assertLess(few.found, 0.4)
        self.assertGreater(few.detectable, many.detectable)
        self.assertLessEqual(many.others, 0.08)


if __name__ == "__main__":
    unittest.main()
