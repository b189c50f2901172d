"""What the answer says of a recording that cannot be trusted: J2.11, O3.3."""
import unittest

from made import InFolder, document, event, kernel, launch, step, write


class Trusted(InFolder):
    @staticmethod
    def trace(lost=(), us=50, rank=None):
        """Six steps, each with a product; the kernels of some steps are lost."""
        events = []
        for number in range(6):
            at = 100 * number
            events += [step(number, at, 100), event("aten::mm", at + 5, 20), launch(at + 10, 5, number + 1)]
            if number not in lost:
                events.append(kernel("gemm", at + 30, us, number + 1))
        return document(*events, **({} if rank is None else {"distributedInfo": {"rank": rank, "world_size": 2}}))

    def sides(self, **test):
        write("control/a.json", self.trace())
        write("test/a.json", self.trace(**test))

    def cautions(self, where="1"):
        return [text for text, in self.rows("SELECT text FROM trace_summary('control', 'test')"
                                            f" WHERE code = 'health' AND {where}")]

    def checks(self, where="1"):
        return self.rows("SELECT why, matters FROM trace_comparability('control', 'test')"
                         f" WHERE topic = 'health' AND item = 'check' AND {where}")

    def gate(self, where="1"):
        return self.rows(f"SELECT outcome, code, reason FROM trace_gate('control', 'test', 5) WHERE {where}")[0]

    LOST = "test: 3 of 6 launches have no kernel, in 3 of 6 steps"

    def test_lost_kernels(self):
        self.sides(lost=(1, 2, 3))
        self.assertEqual(self.cautions(), ["caution: " + self.LOST])
        self.assertEqual(self.checks(), [(self.LOST, "yes")])
        self.assertEqual(self.gate(), ("not known", "health", self.LOST))

    def test_on_the_other_side(self):
        write("control/a.json", self.trace(lost=(1, 2, 3)))
        write("test/a.json", self.trace())
        lost = self.LOST.replace("test", "control")
        self.assertEqual(self.cautions(), ["caution: " + lost])
        self.assertEqual(self.gate(), ("not known", "health", lost))

    def test_by_the_hosts_clock(self):
        """Kernels that are lost change no step of the host."""
        self.sides(lost=(1, 2, 3))
        self.assertEqual(self.cautions("clock = 'host'"), [])
        self.assertEqual(self.checks("clock = 'host'"), [(self.LOST, "maybe")])
        self.assertEqual(self.gate("clock = 'host'")[:2], ("pass", None))

    def test_in_steps_that_are_not_chosen(self):
        self.sides(lost=(1, 2, 3))
        chosen = "control_iteration = 4 AND test_iteration = 4"
        self.assertEqual(self.cautions(chosen), [])
        self.assertEqual([matters for _, matters in self.checks(chosen)], ["no"])

    def test_a_note_is_no_caution(self):
        """A kernel that lasts too long is read as the others of its name (I1)."""
        self.sides()
        trace = self.trace()
        trace["traceEvents"] = [{**each, "dur": 5e6} if each["name"] == "gemm" and each["ts"] < 200 and each["ts"] > 100
                                else each for each in trace["traceEvents"]]
        write("test/a.json", trace)
        self.assertEqual(self.cautions(), [])
        self.assertEqual([matters for _, matters in self.checks()], ["no"])
        self.assertEqual(self.gate()[0], "pass")

    def test_a_rank_is_named(self):
        for side, lost in (("control", ()), ("test", (1, 2, 3))):
            for rank in (0, 1):
                write(f"{side}/{rank}.json", self.trace(lost=lost if rank else (), rank=rank))
        self.assertEqual(self.cautions(), ["caution: " + self.LOST.replace("test: ", "test: rank 1: ")])

    def test_the_rank_on_which_it_matters_is_named(self):
        """On rank 0, the kernel of a step that is not compared is lost."""
        for side, lost in (("control", ((), ())), ("test", ((0,), (1, 2, 3)))):
            for rank in (0, 1):
                write(f"{side}/{rank}.json", self.trace(lost=lost[rank], rank=rank))
        self.assertEqual(self.cautions(), ["caution: " + self.LOST.replace("test: ", "test: rank 1: ")])

    def test_events_of_both_that_are_too_long(self):
        """By the host's clock, those of the host matter, though those of the device come first."""
        self.sides()
        trace = self.trace()
        trace["traceEvents"] = [{**each, "dur": {"gemm": 5e6, "aten::mm": 1e12}.get(each["name"], each["dur"])}
                                if each["ts"] < 300 else each for each in trace["traceEvents"]]
        write("test/a.json", trace)
        for clock, wanted in (("device", ["yes", "yes"]), ("host", ["maybe", "yes"])):
            found = self.checks(f"clock = '{clock}' AND why LIKE '%too long%'")
            self.assertEqual(["device event" in why for why, _ in found], [True, False], found)
            self.assertEqual([matters for _, matters in found], wanted)

    def test_healthy_recordings(self):
        self.sides(us=60)
        self.assertEqual((self.cautions(), self.checks()), ([], []))
        self.assertEqual(self.gate()[:2], ("pass", None))


if __name__ == "__main__":
    unittest.main()
