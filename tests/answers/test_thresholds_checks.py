"""The thresholds of trace_comparability (J2, J3, L6), each from just below and just above."""
import unittest

from made import InFolder, document, event, kernel, launch, step, write
from test_host_factor import program as operators_of


class Steps(InFolder):
    def items(self, *durations, other=(100,) * 9):
        """{item: [why]} for the checks of steps that matter; steps of control and test in us."""
        for path, lengths in (("a.json", durations), ("b.json", other)):
            write(path, document(*[step(number, 1000 * number, us) for number, us in enumerate(lengths)],
                                 *[event("op", 1000 * number, us) for number, us in enumerate(lengths)]))
        return dict(self.rows("SELECT item, why FROM trace_comparability('a.json', 'b.json', 0, 0, 'all', 'all')"
                              " WHERE topic = 'steps' AND matters = 'yes'"))

    def is_long(self, *durations):
        return "longest" in self.items(*durations)

    def test_three_steps(self):
        self.assertEqual(list(self.items(100, 200)), ["few"])
        self.assertEqual(list(self.items(100, 100, 200)), ["longest"])

    def test_numbers_of_steps(self):
        """The numbers of steps are listed, including one that begins with the first number."""
        self.items(*[100] * 13)
        self.assertEqual(self.rows("SELECT control_value, test_value, same FROM trace_comparability('a.json', 'b.json')"
                                   " WHERE item = 'chosen'"), [("1-11", "1-7", 0)])

    def test_as_long_as_the_median(self):
        self.assertFalse(self.is_long(100, 100, 114.9))
        self.assertTrue(self.is_long(100, 100, 115.1))

    def test_of_five_steps_it_stands_out(self):
        self.assertTrue(self.is_long(90, 95, 105, 120))
        self.assertFalse(self.is_long(90, 95, 100, 105, 120))

    def test_five_deviations(self):
        self.assertFalse(self.is_long(90, 95, 100, 105, 124.9))
        self.assertTrue(self.is_long(90, 95, 100, 105, 125.1))


class Device(InFolder):
    def checks(self, control, test):
        """{(topic, item): matters}; an operator is (name, shapes, types, us of its kernel)."""
        for path, operators in (("a.json", control), ("b.json", test)):
            events = []
            for number in range(3):
                at = 10 ** 5 * number
                events.append(step(number, at, 90000))
                for place, (name, shapes, types, us) in enumerate(operators):
                    work = 1000 * number + place + 1
                    events += [event(name, at + 3, 2, args={"Input Dims": shapes, "Input type": types}),
                               launch(at + 3.5, 1, work), kernel(f"of {name}", at + 10, us, work)]
                    at += us + 10
            write(path, document(*events))
        return {(topic, item): matters for topic, item, matters in self.rows(
            "SELECT topic, item, matters FROM trace_comparability('a.json', 'b.json')")}

    def test_nine_tenths_at_common_shapes(self):
        for common, matters in ((901, "no"), (899, "yes")):
            sides = [[("aten::mm", [[8]], ["float"], common), ("aten::mm", own, ["float"], 1000 - common)]
                     for own in ([[7]], [[9]])]
            self.assertEqual(self.checks(*sides)["shapes", "operators"], matters)

    def test_five_operators(self):
        sides = [[(f"aten::op{place}", [[8]], ["float"], 10 + place) for place in range(8)]] * 2
        for topic in ("shapes", "types"):
            self.assertEqual([item for of, item in self.checks(*sides) if of == topic and "::" in item],
                             [f"aten::op{place}" for place in range(3, 8)])

    def test_half_of_the_time_has_other_types(self):
        """When half of the time has other types, the caution names the change instead of different float types."""
        for retyped, floats, operators in ((499, "yes", "maybe"), (501, "maybe", "yes")):
            sides = [[("aten::mm", [[8]], types, retyped), ("aten::add", [[8]], ["long"], 1000 - retyped)]
                     for types in (["float"], ["double"])]
            found = self.checks(*sides)
            self.assertEqual((found["types", "floats"], found["types", "operators"]), (floats, operators))


class Host(InFolder):
    def retyped(self, *sides):
        """The row of types that differ; an operator is (name, types, us)."""
        for path, operators in zip(("a.json", "b.json"), sides):
            write(path, operators_of([(name, us, [[8]], types, 0) for name, types, us in operators]))
        return [f"{control} {test} {matters}" for control, test, matters in self.rows(
            "SELECT control_value, test_value, matters FROM trace_comparability('a.json', 'b.json')"
            " WHERE topic = 'types' AND item = 'operators'")]

    def test_half_a_percent(self):
        for us, row in ((49, []), (51, ["float double maybe"])):
            self.assertEqual(self.retyped(*[[("aten::mm", types, us), ("aten::add", ["long"], 10000 - us)]
                                            for types in (["float"], ["double"])]), row)

    def test_sixteen_inputs(self):
        for before, row in ((15, ["float double yes"]), (16, [])):
            self.assertEqual(self.retyped(*[[("aten::cat", ["long"] * before + [last], 100)]
                                            for last in ("float", "double")]), row)

    def scale(self, *operators):
        """The row of shapes; an operator is (name, us, first dim in control, in test)."""
        for path, side in (("a.json", 2), ("b.json", 3)):
            write(path, operators_of([(each[0], each[1], [[each[side], 3]], ["float"], 0) for each in operators]))
        return self.value("SELECT why FROM trace_comparability('a.json', 'b.json')"
                          " WHERE topic = 'shapes' AND item = 'operators'").split(":")[0]

    def test_nine_tenths_are_n_times_as_large(self):
        for count, said in ((9, "tensors are 2 times as large"), (8, self.SAID)):
            self.assertEqual(self.scale(("aten::other", 10, 8, 9),
                                        *[(f"aten::op{place}", 10, 8, 16) for place in range(count)]), said)

    SAID = "shapes differ for 100 % of the time of common operators"

    def test_sixteen_lists_with_the_most_time(self):
        """The sixteen lists with the most time count: another operator has another scale, and the row reports the scale
        of the sixteenth list, but not of the next one.
        """
        for larger, said in ((16, "tensors are 2 times as large"), (15, self.SAID)):
            self.assertEqual(self.scale(("aten::other", 10, 8, 9), *[
                ("aten::op", 200 - place, 1001 + 2 * place, (2 if place < larger else 1) * (1001 + 2 * place) +
                 (0 if place < larger else 4000)) for place in range(17)]), said)


if __name__ == "__main__":
    unittest.main()
