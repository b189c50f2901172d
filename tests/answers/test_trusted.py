"""Answers about recordings that cannot be trusted: C24, I15, I16, J2.11, O3.3 and V13."""
import csv
import json
import os
import unittest

from made import InFolder, document, event, kernel, launch, step, write
from support import corpus, golden


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

    def lines(self, where="1"):
        return [text for text, in self.rows(f"SELECT text FROM trace_summary('control', 'test') WHERE {where}")]

    def cautions(self, where="1"):
        return self.lines(f"code = 'health' AND {where}")

    def checks(self, where="1"):
        return self.rows("SELECT why, matters FROM trace_comparability('control', 'test')"
                         f" WHERE topic = 'health' AND {where}")

    def gate(self, where="1"):
        return self.rows(f"SELECT outcome, code, reason FROM trace_gate('control', 'test', 5) WHERE {where}")[0]

    LOST = "test: 3 of 6 launches have no kernel, in 3 of 6 steps"

    CANNOT = "cannot be compared: " + LOST
    BY_HOST = "by the host's clock: 0.100 -> 0.100 ms per step (WHERE clock = 'host')"

    def test_lost_kernels(self):
        self.sides(lost=(1, 2, 3))
        self.assertEqual(self.lines(), [self.CANNOT, self.BY_HOST])
        self.assertEqual(self.checks(), [(self.LOST, "yes")])
        self.assertEqual(self.gate(), ("not known", "health", self.LOST))
        verdict, = self.rows("SELECT verdict, judged, judgement, control_ms, test_ms, diff_ms, control_median_ms,"
                             " test_high_ms, slow_steps, is_apart, test_steps FROM trace_verdict('control', 'test')")
        self.assertEqual(verdict, ("cannot be compared", "cannot", "cannot be compared", *[None] * 7, 4))

    def test_codes(self):
        self.sides(lost=(1, 2, 3))
        found = self.rows("SELECT line, kind, code, class, name, control_ms, test_ms, diff_ms, words"
                          " FROM trace_summary('control', 'test')")
        self.assertEqual(found, [(1, "verdict", "cannot", *[None] * 5, self.CANNOT),
                                 (2, "coverage", "host", None, None, 0.1, 0.1, 0.0, None)])

    def test_on_the_other_side(self):
        write("control/a.json", self.trace(lost=(1, 2, 3)))
        write("test/a.json", self.trace())
        lost = self.LOST.replace("test", "control")
        self.assertEqual(self.lines()[0], "cannot be compared: " + lost)
        self.assertEqual(self.gate(), ("not known", "health", lost))

    def test_on_both_sides(self):
        """With lost kernels on both sides, the verdict names test and a caution names control."""
        write("control/a.json", self.trace(lost=(1, 2)))
        write("test/a.json", self.trace(lost=(1, 2, 3)))
        self.assertEqual(self.lines(), [self.CANNOT, self.BY_HOST,
                                        "caution: control: 2 of 6 launches have no kernel, in 2 of 6 steps"])

    def test_a_brief(self):
        self.sides(lost=(1, 2, 3))
        brief = json.loads(self.value("SELECT json FROM trace_brief('control', 'test')"))
        self.assertEqual((brief["verdict"]["is"], brief["verdict"]["words"]), ("cannot", self.CANNOT))
        self.assertEqual((brief["causes"], brief["comparability"]["is"]), ([], "doubtful"))
        self.assertIn("trace_health", brief["next"][0]["sql"])

    def test_a_report(self):
        self.sides(lost=(1, 2, 3))
        page, = self.rows("SELECT html FROM trace_diff_report('control', 'test')")[0]
        self.assertIn("These traces cannot be compared", page)
        self.assertIn("Test: 3 of 6 launches have no kernel", page)
        self.assertNotIn("tracediff-causes", page)

    def test_by_the_hosts_clock(self):
        """By the host's clock, lost kernels do not change any step."""
        self.sides(lost=(1, 2, 3))
        self.assertEqual(self.cautions("clock = 'host'"), [])
        self.assertEqual(self.value("SELECT diff_ms FROM trace_verdict('control', 'test') WHERE clock = 'host'"), 0)
        self.assertEqual(self.checks("clock = 'host'"), [(self.LOST, "maybe")])
        self.assertEqual(self.gate("clock = 'host'")[:2], ("pass", None))

    def test_in_steps_that_are_not_chosen(self):
        self.sides(lost=(1, 2, 3))
        chosen = "control_iteration = 4 AND test_iteration = 4"
        self.assertEqual(self.cautions(chosen), [])
        self.assertEqual([matters for _, matters in self.checks(chosen)], ["no"])

    def test_notes_that_are_cautions(self):
        """I16: a kernel that lasts too long is read like the others of its name (I1)."""
        self.sides()
        trace = self.trace()
        trace["traceEvents"] = [{**each, "dur": 5e6} if each["name"] == "gemm" and each["ts"] < 200 and each["ts"] > 100
                                else each for each in trace["traceEvents"]]
        write("test/a.json", trace)
        self.assertEqual(self.cautions(), ["caution: test: 1 device event of 6 lasts too long, one 5 s: read as 50 us"
                                           " together"])
        self.assertEqual([matters for _, matters in self.checks()], ["no"])
        self.assertEqual(self.gate()[0], "pass")

    def test_work_without_a_launch(self):
        """I16: work without a launch is reported from 5 % of the device time on."""
        for us, said in ((15.8, True), (15.7, False)):
            self.sides()
            trace = self.trace()
            trace["traceEvents"].append(kernel("nccl", 590, us, 0))
            write("test/a.json", trace)
            self.assertEqual(len(self.cautions()), said, us)

    def test_a_rank_is_named(self):
        for side, lost in (("control", ()), ("test", (1, 2, 3))):
            for rank in (0, 1):
                write(f"{side}/{rank}.json", self.trace(lost=lost if rank else (), rank=rank))
        self.assertEqual(self.lines()[0], self.CANNOT.replace("test: ", "test: rank 1: "))

    def test_the_rank_on_which_it_matters_is_named(self):
        """The rank that matters is named: on rank 0, the kernel of a step that is not compared is lost."""
        for side, lost in (("control", ((), ())), ("test", ((0,), (1, 2, 3)))):
            for rank in (0, 1):
                write(f"{side}/{rank}.json", self.trace(lost=lost[rank], rank=rank))
        self.assertEqual(self.lines()[0], self.CANNOT.replace("test: ", "test: rank 1: "))

    def test_events_of_both_that_are_too_long(self):
        """By the host's clock, host events that are too long matter, although the device's come first."""
        self.sides()
        trace = self.trace()
        trace["traceEvents"] = [{**each, "dur": {"gemm": 5e6, "aten::mm": 1e12}.get(each["name"], each["dur"])}
                                if each["ts"] < 300 else each for each in trace["traceEvents"]]
        write("test/a.json", trace)
        for clock, wanted in (("device", ["yes", "yes"]), ("host", ["maybe", "yes"])):
            found = self.checks(f"clock = '{clock}' AND why LIKE '%too long%'")
            self.assertEqual(["device event" in why for why, _ in found], [True, False], found)
            self.assertEqual([matters for _, matters in found], wanted)

    def test_one_side(self):
        """I15.1: traces cannot be compared if only one side has device work."""
        self.sides()
        trace = self.trace()
        trace["traceEvents"] = [each for each in trace["traceEvents"]
                                if each["cat"] not in ("kernel", "cuda_runtime")]
        write("test/a.json", trace)
        self.assertEqual(self.lines()[0], "cannot be compared: test has no device work, control has")
        self.assertEqual(self.checks("item = 'one side'"), [("test has no device work, control has", "yes")])
        self.assertEqual(self.checks("item = 'one side' AND clock = 'host'"),
                         [("test has no device work, control has", "no")])
        self.assertEqual(self.value("SELECT diff_ms FROM trace_verdict('control', 'test') WHERE clock = 'host'"), 0)

    @staticmethod
    def scaled(factor=1, names=3, kernels=None):
        """Steps with this many operators and kernels, with all times scaled by this factor."""
        events = []
        for number in range(6):
            at = 1000 * number
            events.append(step(number, at, 1000))
            for place in range(names):
                correlation = 10 * number + place
                events += [event(f"aten::{place}", at + 100 * place, 40), launch(at + 100 * place + 5, 5, correlation),
                           kernel(f"kernel_{place}", at + 100 * place + 20, 50, correlation)]
        for each in events:
            each["ts"], each["dur"] = each["ts"] * factor, each["dur"] * factor
            if kernels and each["cat"] == "cpu_op":
                each["dur"] = each["dur"] / kernels
        return document(*events)

    def test_unit(self):
        """I15.2: a unit is wrong within 10 % of 1,000 or 1,000,000, or of their inverse."""
        said = "cannot be compared: times of {} are {} times the other side's: is its unit {}, read as us?"
        write("control/a.json", self.scaled())
        for factor, wanted in ((901, ("test", 1000, "ns")), (899, None), (1099, ("test", 1000, "ns")), (1101, None),
                               (1e6, ("test", 1000000, "ps")), (1 / 1000, ("control", 1000, "ns")), (100, None)):
            write("test/a.json", self.scaled(factor))
            line = self.lines()[0]
            if wanted:
                self.assertEqual(line, said.format(*wanted), factor)
            else:
                self.assertNotIn("unit", line, factor)
        write("test/a.json", self.scaled(1000))
        self.assertEqual(self.lines()[1:], ["by the host's clock: 1.00 -> 1000 ms per step"])
        self.assertEqual(self.lines("clock = 'host'")[0], said.format("test", 1000, "ns"))
        self.assertEqual([item for item, in self.rows("SELECT item FROM trace_comparability('control', 'test')"
                                                      " WHERE topic = 'health'")], ["unit"])

    def test_unit_of_two_names(self):
        """I15.2: when only two names are slower, the unit is right."""
        write("control/a.json", self.scaled(names=2))
        write("test/a.json", self.scaled(1000, names=2))
        self.assertNotIn("unit", self.lines()[0])

    def test_unit_of_both_kinds(self):
        """I15.2: when only the device's times are 1,000 times as long, the unit is right."""
        write("control/a.json", self.scaled())
        write("test/a.json", self.scaled(1000, kernels=1000))
        self.assertNotIn("unit", self.lines()[0])

    def test_runs(self):
        """V13: a row of the device names the run that cannot be trusted; rows of the host stay."""
        for side in ("control", "test"):
            for run in range(5):
                lost = (1, 2, 3) if (side, run) == ("test", 3) else ()
                write(f"{side}/{run}/a.json", self.trace(us=50 + run, lost=lost))
        found = self.rows("SELECT name, verdict, gate, runs_needed, note FROM trace_ab('control/*', 'test/*')")
        by_name = {name: row for name, *row in found}
        for name in ("step", "gemm"):
            self.assertEqual(by_name[name][:3], ["~", "inconclusive", None], name)
            begins = "cannot be compared: test/3/a.json: 3 of 6 launches have no kernel"
            self.assertTrue(by_name[name][3].startswith(begins), by_name[name])
        self.assertNotIn("cannot", by_name["aten::mm"][3] or "")

    def test_reported_pairs(self):
        """Pairs of public bug reports have the first line of the golden file, also for times by the host's clock."""
        reports = os.path.join(os.path.dirname(corpus()), "cases", "found", "reports")
        count = 0
        with open(os.path.join(golden("health"), "answers.csv"), encoding="utf-8", newline="") as file:
            answers = list(csv.DictReader(file))
        for answer in answers:
            sides = [os.path.join(reports, answer[side]) for side in ("control", "test")]
            with self.subTest(answer["test"]):
                first = self.rows("SELECT text, code FROM trace_summary(?, ?) LIMIT 1", *sides)[0]
                if answer["comparable"] == "0":
                    self.assertEqual(first, (answer["text"], "cannot"))
                    host = self.rows("SELECT round(control_ms * 1e6), round(test_ms * 1e6) FROM trace_summary(?, ?)"
                                     " WHERE code = 'host'", *sides)
                    self.assertEqual(host, [(float(answer["host_control_ns"]), float(answer["host_test_ns"]))])
                else:
                    self.assertNotEqual(first[1], "cannot")
                checks = self.rows("SELECT item FROM trace_comparability(?, ?) WHERE topic = 'health'", *sides)
                found = {item.replace(" ", "_") for item, in checks}
                wanted = {check.split(":")[0] for check in answer["checks"].split()} - {"not_tied"}  # in lines
                self.assertEqual(found, wanted)
                count += 1
        self.assertGreaterEqual(count, 25)

    def test_how_files_are_read(self):
        """I16: cycles of one process, and copies that are left out, are noted."""
        reports = os.path.join(os.path.dirname(corpus()), "cases", "found", "reports")
        for name, caution in (("min_cycles", "test: 2 files of one process are cycles of one rank"),
                              ("r17b", "test: left out: a recording of the capture of graphs")):
            said = [text for text, in self.rows("SELECT text FROM trace_summary(? || '/control', ? || '/test')",
                                                *2 * (os.path.join(reports, name),))]
            self.assertIn("caution: " + caution, said)

    def test_the_host_of_one_device(self):
        """A recording of a CPU and one of a GPU are compared by the host of one device."""
        pair = os.path.join(os.path.dirname(corpus()), "cases", "wild", "resnet_cpu_gpu")
        first, = self.rows("SELECT text FROM trace_summary(? || '/control', ? || '/test') LIMIT 1", pair, pair)
        self.assertEqual(first, ("cannot be compared: control has no device work, test has",))

    def test_healthy_recordings(self):
        self.sides(us=60)
        self.assertEqual((self.cautions(), self.checks()), ([], []))
        self.assertEqual(self.gate()[:2], ("pass", None))


if __name__ == "__main__":
    unittest.main()
