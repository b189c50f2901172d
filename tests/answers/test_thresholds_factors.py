"""The thresholds of trace_clock_factor and trace_host_factor (X1 to X3, L7.4), each from just below and just above."""
import unittest

from made import InFolder, write
from test_clock_factor import program as kernels_of
from test_host_factor import program as operators_of


class Kernels(InFolder):
    def step(self, *kernels):
        """The row of the step; a kernel is (us in control, us in test), with 0 where it does not run."""
        for side, path in enumerate(("a.json", "b.json")):
            write(path, kernels_of([(f"aten::op{i}", f"kernel{i}", us[side]) for i, us in enumerate(kernels)
                                    if us[side]]))
        return self.rows("SELECT outcome, agreement, agreeing, factor FROM trace_clock_factor('a.json', 'b.json')"
                         " WHERE kind = 'step'")[0]

    def outcome(self, *kernels):
        return self.step(*kernels)[0]

    def kinds(self):
        """Kinds of the kernels, by name."""
        return [kind for kind, in self.rows("SELECT kind FROM trace_clock_factor('a.json', 'b.json')"
                                            " WHERE name IS NOT NULL ORDER BY name")]

    def test_a_fifth_of_the_weight(self):
        """The limit is a fifth of the weight: eight kernels have 800 us together, so 200 us are a fifth of the
        total.
        """
        others = [(50, 50)] * 8
        self.assertAlmostEqual(self.step((90, 108), *others)[1], 800 / 998, 9)
        self.assertAlmostEqual(self.step((92, 110), *others)[1], 0.8, 9)

    def test_three_kernels(self):
        self.assertEqual(self.outcome(*[(100, 120)] * 2), "too few kernels")
        self.assertEqual(self.outcome(*[(100, 120)] * 3), "one factor")

    def test_three_that_agree(self):
        """Three witnesses must agree; here two of three have two thirds of the weight."""
        self.assertEqual(self.outcome((100, 120), (100, 120), (100, 300)), "no common factor")
        self.assertEqual(self.outcome((100, 120), (100, 120), (100, 120), (100, 300)), "one factor")

    def test_a_tenth_of_the_time_of_each_side(self):
        compared = [(100, 120)] * 4
        for control, test, outcome in ((3590, 4310, "one factor"), (3610, 4310, "too few kernels"),
                                       (3590, 4330, "too few kernels")):
            self.assertEqual(self.outcome(*compared, (control, 0), (0, test)), outcome)

    def test_two_percent(self):
        for factor, outcome in ((1.0199, "no change"), (1.0201, "one factor")):
            self.assertEqual(self.outcome(*[(1000, 1000 * factor)] * 4), outcome)
            self.assertEqual(self.outcome(*[(1000 * factor, 1000)] * 4), outcome)

    def test_five_percent_from_twenty_percent_on(self):
        for own, agreeing, kind in ((1.0499, 5, "within"), (1.0501, 4, "beyond")):
            self.assertEqual(self.step((1000, 1500 * own), *[(1000, 1500)] * 4)[2], agreeing)
            self.assertEqual(self.kinds(), [kind, *["within"] * 4])

    def test_five_percent_below_two_percent(self):
        for own, agreeing, kind in ((1.0499, 5, "within"), (1.0501, 4, "beyond")):
            self.assertEqual(self.step((1000, 1000 * own), *[(1000, 1000)] * 4)[2], agreeing)
            self.assertEqual(self.kinds(), [kind, *["within"] * 4])

    def test_a_quarter_of_the_distance(self):
        for own, agreeing, kind in ((1.0249, 5, "within"), (1.0251, 4, "beyond")):
            self.assertEqual(self.step((1000, 1100 * own), *[(1000, 1100)] * 4)[2], agreeing)
            self.assertEqual(self.kinds(), [kind, *["within"] * 4])

    def test_two_thirds_of_the_weight(self):
        for agreeing, outcome in ((665, "no common factor"), (667, "no change")):
            other = (1000 - agreeing) / 2
            self.assertEqual(self.outcome(*[(agreeing / 8, agreeing / 8)] * 4, *[(0.4 * other, 0.6 * other)] * 2),
                             outcome)


class Operators(InFolder):
    def outcome(self, *operators):
        """The host's row; an operator is (us in control, us in test), with 0 where it does not run."""
        for side, path in enumerate(("a.json", "b.json")):
            write(path, operators_of([(f"aten::op{i}", us[side], [[8]], ["float"], 0) for i, us in enumerate(operators)
                                      if us[side]]))
        return self.value("SELECT outcome FROM trace_host_factor('a.json', 'b.json')")

    def of_factors(self, *factors):
        return self.outcome(*((1000, 1000 * factor) for factor in factors))

    def test_three_operators(self):
        self.assertEqual(self.of_factors(*[1.5] * 2), "too few operators")
        self.assertEqual(self.of_factors(*[1.5] * 3), "one factor")

    def test_a_tenth_of_the_time_of_each_side(self):
        compared = [(100, 120)] * 4
        for control, test, outcome in ((3590, 4310, "one factor"), (3610, 4310, "too few operators"),
                                       (3590, 4330, "too few operators")):
            self.assertEqual(self.outcome(*compared, (control, 0), (0, test)), outcome)

    def test_fifteen_percent(self):
        for factor, outcome in ((1.149, "no change"), (1.151, "one factor")):
            self.assertEqual(self.of_factors(*[factor] * 4), outcome)
            self.assertEqual(self.outcome(*[(1000 * factor, 1000)] * 4), outcome)

    def test_quartiles_of_fifteen_percent(self):
        for faster, slower, outcome in ((1 / 1.151, 1.151, "load differs"), (1 / 1.149, 1.2, "no change"),
                                        (1 / 1.2, 1.149, "no change")):
            self.assertEqual(self.of_factors(*[faster] * 3, *[1] * 4, *[slower] * 3), outcome)

    def test_quartiles_that_are_closer_than_the_factor(self):
        for slowest, outcome in ((1.55, "one factor"), (1.57, "load differs")):
            self.assertEqual(self.of_factors(*[1.2] * 3, *[1.3] * 4, *[slowest] * 3), outcome)


if __name__ == "__main__":
    unittest.main()
