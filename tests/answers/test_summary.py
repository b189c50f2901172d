"""trace_summary (C1 to C24): its lines for the examples and for real traces, and invariants for any pair."""
import glob
import os
import re
import unittest

from generate_gains import write_gains_pair
from made import InFolder, document, event, kernel, launch, run, step, write
from support import EXAMPLES, connect, corpus, series, slow, slowest

GPU = tuple(os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test"))
CPU = tuple(os.path.join(EXAMPLES, "cpu", side) for side in ("control", "test"))


def lines(*arguments):
    return [text for text, in connect().execute(f"SELECT text FROM trace_summary({', '.join('?' * len(arguments))})",
                                                arguments)]


class Lines(unittest.TestCase):
    maxDiff = None

    def test_what_is_planted_in_the_example(self):
        self.assertEqual(lines(*GPU), [
            "test is slower here: 3.052 -> 3.735 ms per step, +0.684 ms (+22 %)",
            "device busy 2.362 -> 2.570 ms, exposed communication 0.319 -> 0.499 ms, idle 0.371 -> 0.666 ms",
            "4 steps 3.044-3.072, 4 of 3.728-3.755: longer; job of 2 ranks; one recording per side: see trace_ab",
            "  +0.300 ms   44 %  GPU idle       waiting for DataLoader next batch, from workers",
            "  +0.180 ms   26 %  communication  nccl:all_reduce: 0.78 times the bandwidth (54.0 -> 41.9 GB/s)",
            "  -0.168 ms  -25 %  AdamW.step is fused, control's uses foreach: 5 -> 1 operators",
            "  +0.160 ms   23 %  compute        aten::layer_norm (DistributedDataParallel.forward)",
            "  +0.120 ms   18 %  compute        EmbeddingBackward0 (backward), only on rank 1",
            "  +0.096 ms   14 %  copies         aten::clone 4 -> 8 per step (DistributedDataParallel.forward)",
            "  -0.004 ms   -1 %                 14 smaller parts",
            "change: aten::layer_norm 1511 -> 539.5 GB/s (74 -> 26 % of the peak)",
            "count: CloneBackward0 4 -> 8 per step"])

    def test_another_mix_of_requests(self):
        """The planted difference leads, although the step as a whole is shorter, because of another mix of requests."""
        self.assertEqual(lines(*(os.path.join(EXAMPLES, "serving", side) for side in ("control", "test"))), [
            "test is slower at some sizes: +0.013 ms (+1.4 %); over all sizes 0.977 -> 0.975 ms per step",
            "36 steps of 0.397-3.583, 43 of 0.427-5.707, of 4 sizes; rank 0; one recording per side: see trace_ab",
            "at like sizes +0.013 ms (+1.4 %); from another mix of requests -0.016 ms",
            "caution: 1 of 2 ranks recorded: who waits for whom is not known",
            "  +0.013 ms         compute        graph: flash::flash_fwd_splitkv_kernel, at like sizes",
            "  -0.016 ms         mix            another mix of requests",
            "       0 ms                        11 smaller parts"])

    def test_one_phase_has_no_mix_to_speak_of(self):
        sides = [os.path.join(EXAMPLES, "serving", side) for side in ("control", "test")]
        rows = connect().execute("SELECT kind, text FROM trace_summary(?, ?, NULL, NULL, 'prefill', 'prefill')",
                                 sides).fetchall()
        self.assertNotIn("mix", {kind for kind, _ in rows})
        self.assertEqual(rows[0][1], "no difference: 3.58 -> 3.58 ms per step, 0 ms")

    def test_the_same_trace_twice(self):
        self.assertEqual(lines(GPU[0], GPU[0]), [
            "no difference: 3.05 -> 3.05 ms per step, 0 ms",
            "4 steps of 3.04-3.07 ms, 4 of 3.04-3.07: all parts are equal; job of 2 ranks"])

    @slow
    def test_other_devices_ranks_and_shapes(self):
        self.assertEqual(lines(corpus("hta", "trace_diff", "control"), corpus("hta", "trace_diff", "test")), [
            "test is slower here: 77.1 -> 117.9 ms per step, +40.9 ms (+53 %)",
            "device busy 50.7 -> 102.2 ms, exposed communication 12.4 -> 11.5 ms, idle 14.0 -> 4.2 ms per step",
            "4 steps of 76.3-78.5, 4 of 114.8-123.1: all longer; ranks 3, 1; one recording per side: see trace_ab",
            "caution: devices differ: NVIDIA A100-PG509-200 / Tesla V100-SXM2-16GB",
            "caution: rank 3 of 8 is compared with rank 1 of 2; no other rank is recorded",
            "caution: shapes differ for 56 % of the time of common operators: same model?",
            "   +40.2 ms   98 %  the model is compiled: its kernels are those of torch.compile",
            "   +11.4 ms   28 %  other device: NVIDIA A100-PG509-200 -> Tesla V100-SXM2-16GB; a fix saves 2.6 ms",
            "    -9.7 ms  -24 %  CUDA graphs are replayed: 2 per step, other launches 1428 -> 811",
            "    -0.7 ms   -2 %  communication  nccl:all_to_all, exposed",
            "    -0.3 ms   -1 %                 2 smaller parts"])

    @slow
    def test_a_loader_without_workers(self):
        self.assertEqual(lines(corpus("kineto", "resnet50_workers_0"), corpus("kineto", "resnet50_workers_4")), [
            "test is faster here: 177.9 -> 135.0 ms per step, -42.9 ms (-24 %)",
            "device busy 100.6 -> 102.2 ms, exposed communication 0, idle 77.3 -> 32.7 ms per step",
            "4 steps of 174.6-182.2, 4 of 123.0-163.5: all shorter; rank 0; one recording per side: see trace_ab",
            "caution: step 9 of test takes 163.5 ms, median 126.7; more of aten::batch_norm",
            "   -53.7 ms  125 %  the DataLoader has worker processes now: 53.7 -> 0.0 ms",
            "    +1.2 ms   -3 %  copies         aten::to",
            "    +9.2 ms  -22 %  GPU idle       waiting for the host",
            "    +0.3 ms   -1 %                 26 smaller parts",
            "count: DataLoader next batch, from workers new, 1 per step"])

    def test_other_work_than_control_beside_other_load(self):
        """C7.3: aten::sort sorts more numbers in the same number of runs; no load makes a step 14 times as long."""
        found = lines(*(os.path.join(EXAMPLES, "gloo", "three", side) for side in ("control", "operator")))
        self.assertEqual(found[:3], [
            "test is slower here: 12 -> 161 ms per step, +149 ms (x 14)",
            "5 steps of 10-15 ms, 5 of 148-196: all longer; job of 3 ranks; one recording per side: see trace_ab",
            "caution: operators of the host take 0.5 to 2.7 times as long: machine load?"])
        self.assertIn("    +131 ms   88 %  host           aten::sort, only on rank 2", found)


class Gains(InFolder):
    """Rule 11: lines with gains."""

    ASKED = "SELECT kind, text, diff_ms, gain_ms, hidden_by FROM trace_summary(?, ?) WHERE gains IS ?" \
        " AND diagnoses = 0"

    def sides(self, control=(0, 0), test=(30, 30)):
        """Two simultaneous kernels: the step gains no more than the other kernel allows."""
        for side, (more, others) in (("control", control), ("test", test)):
            events = []
            for number in range(5):
                at, first = (300 + more) * number, 2 * number
                events += [step(number, at, 200 + more),
                           event("aten::mm", at + 5, 10), launch(at + 6, 2, first),
                           kernel("gemm", at + 20, 100 + more, first),
                           event("aten::add", at + 16, 10), launch(at + 17, 2, first + 1),
                           kernel("add", at + 20, 90 + others, first + 1, 8),
                           event("cudaDeviceSynchronize", at + 30, 95 + more, cat="cuda_runtime")]
            write(f"{side}.json", document(*events))

    def test_where_it_differs(self):
        self.sides()
        row = "  +0.030 ms  100 %  compute        aten::mm"
        hidden = row + "; a fix saves 0.010 ms, hidden by aten::add", 0.03, 0.01, "aten::add"
        for gains, found in ((None, hidden), (0, (row, 0.03, None, None)), (1, hidden)):
            self.assertIn(("cause", *found), self.rows(self.ASKED, "control.json", "test.json", gains))
        row = row.replace("+", "-")
        self.assertIn(("cause", row, -0.03, -0.03, None), self.rows(self.ASKED, "test.json", "control.json", 1))

    def test_a_name_is_not_cut_for_what_hides_it(self):
        self.sides()
        for side in ("control", "test"):
            with open(f"{side}.json") as file:
                text = file.read()
            text = text.replace("aten::mm", "a_long_name_of_an_operator_somebody_wrote")
            write(f"{side}.json", text.replace("aten::add", "some_other_operator"))
        row = "  +0.030 ms  100 %  compute        a_long_name_of_an_operator_somebody_wrote; a fix saves 0.010 ms"
        self.assertIn(("cause", row, 0.03, 0.01, "some_other_operator"),
                      self.rows(self.ASKED, "control.json", "test.json", 1))

    def test_a_simulation_that_fails(self):
        """When removed work is too much to simulate, the answer has the same lines without gains, and says so."""
        for side, us in (("control", 2.2e15), ("test", 10)):
            write(f"{side}.json", document(*(
                one for number in range(4) for one in
                (step(number, 2.25e15 * number, 2.22e15), event(f"aten::{side}", 2.25e15 * number + 10, us)))))
        error = "the changes move events beyond 64 bits of nanoseconds"
        self.assert_error("trace_undo: " + error, "SELECT * FROM trace_undo('control.json', 'test.json')")
        self.assertEqual(self.rows("SELECT kind, gain_alone, text FROM trace_undo('control.json', 'test.json')"
                                   " WHERE fallible = 1"), [("failed", None, error)])
        without = self.rows(self.ASKED, "control.json", "test.json", 0)
        self.assertEqual([row for row in self.rows(self.ASKED, "control.json", "test.json", None)
                          if not row[1].startswith("caution: gains")], without)
        self.assertIn("caution: gains are not known: " + error, [row[1] for row in self.rows(
            self.ASKED, "control.json", "test.json", None)])
        self.assertIn(error, self.value("SELECT trace_diff_report.html FROM trace_diff_report(?, ?)", "control.json",
                                        "test.json"))

    def test_what_undoing_costs_in_a_faster_test(self):
        """C16.5: the cost of undoing a cause in a faster test is in the column only."""
        self.sides((30, 0), (-40, 0))
        [(text, diff, gain)] = self.rows("SELECT text, diff_ms, gain_ms FROM trace_summary('control.json', 'test.json')"
                                         " WHERE name = 'aten::mm'")
        self.assertTrue(text.endswith("  aten::mm"), text)
        self.assertGreater(abs(gain - diff), 0.1 * abs(diff))

    def test_not_by_the_hosts_clock(self):
        self.sides()
        rows = self.rows("SELECT gain_ms FROM trace_summary('control.json', 'test.json') WHERE gains = 1"
                         " AND clock = 'host'")
        self.assertEqual(set(rows), {(None,)})

    def test_values(self):
        self.sides()
        for function in ("trace_summary", "trace_diff_report"):
            self.assert_error(f"{function}: gains must be 0 or 1, not 2",
                              f"SELECT * FROM {function}('control.json', 'test.json') WHERE gains = 2")

    def test_any_pair(self):
        """For any pair, lines equal those without gains; a cause also has the gain of trace_undo if that is another
        time.
        """
        ended = 0
        for seed in range(series(6, 60)):
            write_gains_pair(f"{seed}/a", f"{seed}/b", seed)
            pair = f"{seed}/a", f"{seed}/b"
            without, rows = (self.rows(self.ASKED, *pair, gains) for gains in (0, 1))
            if any(text.startswith("caution: gains are not known") for _, text, *_ in rows):
                continue
            undone = {(round(diff, 7), gain) for diff, gain in self.rows(
                "SELECT diff_time / 1000, gain_alone / 1000 FROM trace_undo(?, ?, NULL, NULL, NULL, NULL, ?)",
                *pair, self.room(rows))}
            order, plain = ([(row[0], row[2] or 0) for row in each] for each in (rows, without))
            self.assertEqual(sorted(order), sorted(plain))
            if order != plain:
                continue  # a cause leads (C16.6)
            for (kind, text, diff, gain, _), (_, before, *_) in zip(rows, without):
                said = re.search(r"; a fix saves (?:nothing|(\d+\.\d+) ms)(?:, hidden by .+)?$", text)
                self.assertLessEqual(len(text), 100)
                self.assertEqual(text[:36], before[:36])
                if kind == "cause":
                    self.assertIn((round(diff, 7), gain), undone, (seed, text))
                if text.endswith("; same time, but less of it overlaps"):
                    self.assertIsNone(gain)
                    continue
                if not said:
                    self.assertEqual(text, before)
                    if gain is not None and diff > 0:  # a cause can be undone
                        self.assertLessEqual(abs(gain - diff), max(0.1 * abs(diff), 0.2), (seed, text))
                    continue
                ended += 1
                self.assertEqual(kind, "cause")
                self.assertGreater(abs(gain - diff), 0.1 * abs(diff), (seed, text))
                self.assertGreater(max(diff, gain), 0)
                self.assertAlmostEqual(float(said[1] or 0), max(gain, 0),
                                       delta=0.5001 * 10 ** -len((said[1] or ".0").split(".")[1]))
        self.assertGreater(ended, 0)

    @staticmethod
    def room(rows):
        """How many causes trace_summary selects: one per line below its head."""
        heads = sum(row[0] not in ("cause", "rest", "work") for row in rows)
        return 11 - heads - sum(row[0] == "work" for row in rows)


class AnyPair(InFolder):
    def check(self, *arguments):
        """Checks the limits on lines and characters, and that the ms add up to the verdict and to trace_step_diff."""
        marks = ", ".join("?" * len(arguments))
        rows = self.rows(f"SELECT line, kind, text, control_ms, test_ms, diff_ms, share FROM trace_summary({marks})",
                         *arguments)
        with self.subTest(arguments):
            self.assertEqual([row[0] for row in rows], list(range(1, len(rows) + 1)))
            self.assertLessEqual(len(rows), 12)
            for _, _, text, *_ in rows:
                self.assertNotIn("\n", text)
            if rows[0][2].startswith("cannot be compared: "):  # in full (C24)
                self.assertLessEqual({row[1] for row in rows[1:]}, {"coverage", "caution"})
                return [row[2] for row in rows]
            for _, _, text, *_ in rows:
                self.assertLessEqual(len(text), 100)
            totals = [row for row in rows if row[1] == "totals"]
            rows = [row for row in rows if row[1] != "totals"]
            self.assertEqual([row[1] for row in rows[:2]], ["verdict", "coverage"])
            kept = self.rows(f"SELECT control_iterations, test_iterations FROM trace_verdict({marks})", *arguments)[0]
            (control, test), = self.rows("SELECT sum(control_time) / 1000, sum(test_time) / 1000"
                                         " FROM trace_step_diff(?, ?, ?, ?, ?, ?)",
                                         *(*arguments, None, None)[:4], *kept)
            for found, expected in zip(rows[0][3:], (control, test, test - control)):
                self.assertAlmostEqual(found, expected, delta=1e-6 * max(1, control))
            parts = [row for row in rows if row[1] in ("cause", "diagnosis", "rest") and row[5] is not None]
            if parts:
                self.assertAlmostEqual(sum(row[5] for row in parts), test - control, delta=1e-6 * max(1, control))
            else:
                self.assertIn("no difference", rows[0][2])
            for row in totals:
                self.assertEqual(row[0], 2)
                self.check_totals(row, marks, arguments, kept)
        return [row[2] for row in rows]

    def check_totals(self, row, marks, arguments, kept):
        """Checks that totals are the classes of trace_step_diff (C18), and that the line has the numbers with the
        largest change.
        """
        sums = self.rows("SELECT sum(control_time) / 1000, sum(test_time) / 1000 FROM"
                         " trace_step_diff(?, ?, ?, ?, ?, ?) GROUP BY CASE WHEN class IN ('compute', 'memory')"
                         " THEN 1 WHEN class = 'comm' THEN 2 ELSE 3 END", *(*arguments, None, None)[:4], *kept)
        most = max(sums, key=lambda pair: abs(pair[1] - pair[0]))
        for found, expected in zip(row[3:], (*most, most[1] - most[0])):
            self.assertAlmostEqual(found, expected, delta=1e-6 * max(1, most[0]))

    def test_examples(self):
        pairs = (GPU, CPU[::-1], (GPU[0], CPU[0]), CPU, GPU[::-1], (CPU[1], GPU[1]))
        for pair in pairs[:series(3, 6)]:
            self.check(*pair)
        for pair in pairs[:series(2, 6)]:
            self.check(*pair, "all", "all", "all", "all")

    def test_totals_come_second(self):
        """C18: totals come second: compute and copies, exposed communication, and the rest."""
        for side, dur in (("a", 1193), ("b", 361)):
            events = [each for number in range(3) for at in [(2000 + dur) * number] for each in (
                step(number, at, 2000 + dur), event("aten::mm", at, 30), launch(at + 10, 5, 10 * number + 1),
                kernel("gemm", at + 100, dur - 61, 10 * number + 1), launch(at + 20, 5, 10 * number + 2),
                kernel("Memcpy HtoD (Pageable -> Device)", at + 1800, 61, 10 * number + 2))]
            write(f"{side}.json", document(*events))
        ask = "SELECT line, text, code, round(diff_ms, 9), words = text FROM trace_summary(?, ?) WHERE kind = 'totals'"
        [row] = self.rows(ask, "a.json", "b.json")
        self.assertEqual(row, (2, "device busy 1.193 -> 0.361 ms, exposed communication 0, idle"
                               " 2.000 -> 2.000 ms per step",
                               "busy", -0.832, 1))
        self.assertEqual(self.rows(ask, "a.json", "a.json"), [])
        self.check("a.json", "b.json")

    def test_time_divided_by_the_scale_of_tensors(self):
        """C19: the caution has the time divided by the tensors' scale, and drops the tensors if there is no room for
        both.
        """
        for side, size in (("a", 4), ("b", 32)):
            events, at = [], 0
            for number in range(5):
                events += [step(number, at, 100 * size + 300),
                           event("aten::gelu", at + 10, 40, args={"Input Dims": [[size, 256, 512]]}),
                           launch(at + 15, 10, number + 1), kernel("gelu", at + 100, 100 * size, number + 1)]
                at += 100 * size + 300
            write(f"{side}.json", document(*events))
        ask = "SELECT text, round(control_ms, 6), round(test_ms, 6) FROM trace_summary(?, ?) WHERE code = 'shapes'"
        self.assertEqual(self.rows(ask, "a.json", "b.json"), [
            ("caution: tensors are 8 times as large: [4,256,512] -> [32,256,512]; divided by 8: 0.70 -> 0.44 ms",
             0.7, 0.4375)])
        self.assertEqual(self.rows(ask, "b.json", "a.json"), [
            ("caution: tensors are 1/8 as large: [32,256,512] -> [4,256,512]; divided by 8: 0.44 -> 0.70 ms",
             0.4375, 0.7)])
        for side in "ab":
            with open(f"{side}.json") as file:
                text = file.read()
            write(f"{side}.json", text.replace("256, 512]", "2560, 5120, 1]"))
        self.assertEqual(self.rows(ask, "a.json", "b.json")[0][0],
                         "caution: tensors are 8 times as large; divided by 8: 0.70 -> 0.44 ms")

    def test_kernels_of_one_collective_are_told_apart(self):
        """C13.6: kernels of one collective are distinguished by the difference in their names."""
        for side, more in (("a", 0), ("b", 50)):
            events = []
            for number in range(3):
                at = 1000 * number
                events.append(step(number, at, 1000))
                for place, (kind, dur) in enumerate((("f32", 100 + more), ("bf16", 200 + 2 * more))):
                    own = 10 * number + place
                    events += [event("nccl:_reduce_scatter_base", at + 10 + 40 * place, 30, cat="user_annotation"),
                               launch(at + 15 + 40 * place, 2, own),
                               kernel(f"ncclDevKernel_ReduceScatter_Sum_{kind}_RING_LL(ncclDevKernelArgs)",
                                      at + 100 + 400 * place, dur, own)]
            write(f"{side}.json", document(*events))
        self.assertEqual(self.rows("SELECT words FROM trace_summary('a.json', 'b.json') WHERE class = 'comm'"), [
            (f"nccl:_reduce_scatter_base of {kind} exposed: 1.5 times as long",) for kind in ("bf16", "f32")])

    def test_ranks_of_one_run(self):
        found = self.check(GPU[1], GPU[1], 0, 1)
        self.assertEqual(found[0], "no clear difference: 3.74 -> 3.74 ms per step, 0 ms")
        self.assertIn(": they overlap; ranks 0, 1; one recording per side: see trace_ab", found[1])
        self.assertIn("   +0.18 ms         compute        EmbeddingBackward0 (backward)", found)
        self.assertRegex(found[-1], r"^       0 ms                        \d+ smaller parts$")

    def test_ranks_that_were_not_recorded(self):
        info = {"backend": "nccl", "rank": 0, "world_size": 8}
        for side, length in (("a", 10), ("b", 20)):
            write(f"{side}.json", {"distributedInfo": info, **run(slower=length // 10)})
        self.assertIn("caution: 1 of 8 ranks recorded: who waits for whom is not known",
                      self.check("a.json", "b.json"))

    def test_device_work_of_one_side(self):
        write("a.json", run())
        write("b.json", document(*(step(number, 1000 * number, 900) for number in range(5)), event("op", 0, 5000)))
        for pair in (("a.json", "b.json"), ("b.json", "a.json")):
            sides = ("test", "control") if pair[1] == "b.json" else ("control", "test")
            self.assertEqual(self.check(*pair)[0],
                             "cannot be compared: {} has no device work, {} has".format(*sides))

    def test_no_steps(self):
        write("a.json", document(event("op", 0, 100)))
        write("b.json", document(event("op", 0, 150)))
        self.assertEqual(self.check("a.json", "b.json"), [
            "one trace per side, test is slower here: 0.100 -> 0.150 ms per trace, +0.050 ms (+50 %)",
            "whole traces of 0.100 ms and 0.150; rank 0; one recording per side: see trace_ab",
            "  +0.050 ms  100 %  host           op"])

    def test_one_sample_a_side(self):
        """C2.4: with a single trace or step per side, no line claims that all are longer."""
        def heads(control, test):
            for path, lengths in (("a.json", control), ("b.json", test)):
                write(path, document(*(each for number, length in enumerate(lengths) for each in (
                    step(number, 1000 * number, length), event("op", 1000 * number, length)))))
            return self.check("a.json", "b.json")[:2]
        self.assertEqual(heads([9, 100, 9], [9, 150, 9]), [
            "test is slower here: 0.100 -> 0.150 ms per step, +0.050 ms (+50 %)",
            "1 step of 0.100 ms, 1 of 0.150; rank 0; one recording per side: see trace_ab"])
        self.assertEqual(heads([9, 100, 9], [9, 150, 160, 9])[1],
                         "1 step of 0.100 ms, 2 of 0.150-0.160: all longer; rank 0;"
                         " one recording per side: see trace_ab")

    def test_whole_traces(self):
        """C2.4: for whole traces, the first words name one sample per side, whatever the verdict."""
        write("a.json", document(event("op", 0, 100)))
        for length, words, code in ((106, "test is slower here", "slower"), (94, "test is faster here", "faster"),
                                    (104, "no clear difference", "unknown"), (100, "no difference", "same")):
            write("b.json", document(event("op", 0, length)))
            self.assertEqual(self.rows("SELECT words, code FROM trace_summary('a.json', 'b.json') LIMIT 1"),
                             [(f"one trace per side, {words}", code)])
            self.assertEqual(self.rows("SELECT judgement FROM trace_verdict('a.json', 'b.json')"),
                             [(f"one trace per side, {words}",)])
            self.assertEqual(self.rows("SELECT text FROM trace_summary('a.json', 'b.json')"
                                       " WHERE text LIKE '%all %er;%'"), [])

    def test_no_events(self):
        write("a.json", document())
        write("b.json", document(event("op", 0, 100)))
        for pair, missing in ((("a.json", "b.json"), "control"), (("b.json", "a.json"), "test"),
                              (("a.json", "a.json"), "control and in test")):
            self.assertEqual(self.rows("SELECT line, kind, text FROM trace_summary(?, ?)", *pair),
                             [(1, "verdict", f"nothing to compare: no events in {missing}")])

    def test_steps_of_one_side(self):
        write("a.json", document(event("op", 0, 100)))
        write("b.json", document(*(each for number in range(5) for each in (
            step(number, 1000 * number, 900), event("op", 1000 * number, 500)))))
        self.assertIn("caution: control has no steps: its whole trace is compared with a step",
                      self.check("a.json", "b.json"))

    def test_few_steps(self):
        write("a.json", document(step(0, 0, 100), event("op", 0, 100)))
        write("b.json", document(step(0, 0, 150), event("op", 0, 150)))
        self.assertEqual(self.check("a.json", "b.json")[2:3], [
            "caution: 1 step per side: too few to tell how much steps vary"])

    def test_one_step_of_three(self):
        """J2.3: a caution says that 'steady' leaves one step of three."""
        few = "caution: {}: too few to tell how much steps vary"
        for path, steps in (("a.json", 3), ("b.json", 3), ("c.json", 5), ("d.json", 4)):
            write(path, document(*(each for number in range(steps) for each in (
                step(number, 1000 * number, 100 + steps), event("op", 1000 * number, 100)))))
        for control, test, said in (("a", "b", "only 1 step of 3 per side is steady"),
                                    ("a", "c", "'steady' leaves control 1 step of 3"),
                                    ("c", "a", "'steady' leaves test 1 step of 3"),
                                    ("a", "d", "'steady' leaves control 1 step of 3, test 2"),
                                    ("d", "d", "2 steps per side")):
            self.assertIn(few.format(said), self.check(f"{control}.json", f"{test}.json"))
        for iterations, said in (("[1]", "1 step per side"), ("first", "1 step per side"),
                                 ("steady", "only 1 step of 3 per side is steady")):
            self.assertIn(few.format(said), [text for text, in self.rows(
                "SELECT text FROM trace_summary('a.json', 'b.json', 0, 0, ?, ?)", iterations, iterations)])

    @staticmethod
    def of_operators(*operators):
        """Three steps with the same operators, each of which launches a kernel: (name of the kernel, shapes, types)."""
        events = []
        for number in range(3):
            at = 1000 * number
            events.append(step(number, at, 900))
            for place, (name, shapes, types) in enumerate(operators):
                work, start = 100 * number + place + 1, at + 100 * place
                events += [event("aten::op", start, 50, args={"Input Dims": shapes, "Input type": types}),
                           launch(start + 10, 5, work), kernel(name, start + 60, 30, work)]
        return document(*events)

    def cautions(self, control, test):
        write("a.json", self.of_operators(*control))
        write("b.json", self.of_operators(*test))
        there, back = self.check("a.json", "b.json"), self.check("b.json", "a.json")
        return [text for text in there
                if text.startswith("caution")], [text for text in back if text.startswith("caution")]

    def test_shapes_of_copies_to_the_device(self):
        copy, work = "Memcpy HtoD (Pageable -> Device)", ("gemm", [[64, 64]], ["float"])
        few = ["caution: only 1 step of 3 per side is steady: too few to tell how much steps vary"]
        for control, test, said in (
                ([[8, 3], [8]], [[8, 3], [8]], []), ([[8, 3], [8]], [[6, 4], [9]], ["4 of 4"]),
                ([[8, 3], [8]], [[8, 3], [0]], ["2 of 3"]), ([[8, 3], [8]], [], []), ([None], [[8]], [])):
            sides = [[(copy, shape and [shape], ["float"]) for shape in side] + 20 * [work] for side in (control, test)]
            expected = [f"caution: {each} shapes of copies to the device differ: same input?" for each in said]
            with self.subTest(control=control, test=test):
                for found in self.cautions(*sides):
                    self.assertEqual([text for text in found if "common operators" not in text], few + expected)

    def test_shapes_of_copies_that_are_larger_as_tensors_are(self):
        """Copies whose shapes grow with their tensors are mentioned once."""
        copy, work = "Memcpy HtoD (Pageable -> Device)", ("gemm", [[64, 64]], ["float"])
        sides = [[(copy, [shape], ["float"]) for shape in side] + [work] for side in ([[8, 3], [8]], [[16, 3], [16]])]
        self.assertEqual([[text.partition(";")[0] for text in found if "shapes" in text or "tensors" in text]
                          for found in self.cautions(*sides)],
                         [["caution: tensors are 2 times as large: [8,3] -> [16,3]"],
                          ["caution: tensors are 1/2 as large: [16,3] -> [8,3]"]])

    def test_types_of_operators(self):
        few = ["caution: only 1 step of 3 per side is steady: too few to tell how much steps vary"]
        for control, test, said in (
                (["float", "long int"], ["float", "Scalar"], None), (["float"], ["Double", ""], None),
                (["float"], ["c10::BFloat16", "float"], ("float", "c10::BFloat16")),
                (["c10::Half", "double"], ["c10::Float8_e4m3fn"], ("c10::Half", "c10::Float8_e4m3fn")),
                (["c10::BFloat16"], ["c10::Float4_e2m1fn_x2", "c10::Float8_e8m0fnu"],
                 ("c10::BFloat16", "c10::Float4_e2m1fn_x2"))):
            sides = [[("gemm", [[8]], types)] for types in (control, test)]
            expected = [f"caution: types differ: {' -> '.join(said)} in 100 % of operators' time"] if said else []
            turned = [f"caution: types differ: {' -> '.join(said[::-1])} in 100 % of operators' time"] if said else []
            with self.subTest(control=control, test=test):
                self.assertEqual(self.cautions(*sides), (expected + few, turned + few))

    def test_steps_that_overlap(self):
        def trace(*lengths):
            ends = [sum(lengths[:number]) for number in range(len(lengths) + 1)]
            return document(*(step(number, 1000 * start, 1000 * length)
                              for number, (start, length) in enumerate(zip(ends, lengths))),
                            event("op", 0, 1000 * ends[-1]))
        write("a.json", trace(5, 10, 14, 10, 5))
        write("b.json", trace(5, 11, 12, 14, 5))
        found = self.check("a.json", "b.json")
        self.assertTrue(found[0].startswith("no clear difference: 11.33 -> 12.33 ms per step, +1.00 ms"), found[0])
        self.assertIn("   +1.00 ms         host           op", found)
        self.assertIn(": they overlap; rank 0; one recording per side: see trace_ab", found[1])

    def test_long_lengths_of_steps(self):
        """When lengths of steps are long, the second line still ends with the function to call."""
        def trace(first, second):
            ends, lengths = [0], (first, *10 * (first, second), first)
            for length in lengths:
                ends.append(ends[-1] + length)
            return document(*(step(number, start, length) for number, (start, length) in enumerate(zip(ends, lengths))),
                            event("op", 0, ends[-1]), *self.tying(ends[:-1]))
        for first, second, count in ((9005000, 9105000, 2), (85180, 155340, 2), (1185180, 1255340, 12),
                                     (9185000, 9255000, 12)):
            for rank in range(count):
                for side, slower in (("a", 0), ("b", 25)):
                    write(f"{count}/{side}/{rank}.json", {"distributedInfo": {"rank": rank, "world_size": count},
                                                          **trace(first + slower, second + slower)})
            found = self.check(f"{count}/a", f"{count}/b")
            self.assertRegex(found[1], r"one(?: recording)? per side: see trace_ab$")

    @staticmethod
    def tying(starts):
        """Collectives that tie ranks together without device work, on a thread without steps."""
        return [event("gloo:all_reduce", start + 1, 2, cat="user_annotation", tid=9) for start in starts]

    @staticmethod
    def of_lengths(*lengths, op="op"):
        """Steps of these lengths in us, each with one operator of that length."""
        ends = [sum(lengths[:number]) for number in range(len(lengths) + 1)]
        return document(*(one for number, (start, length) in enumerate(zip(ends, lengths))
                          for one in (step(number, start, length), event(op, start, length))))

    def test_many_steps_that_are_left_out(self):
        """Many steps that are left out give one caution for both sides."""
        few, many = [100] * 42, [150] * 42
        few[3] = 500
        for number in (5, 20, 30):
            many[number] = 600 + 100 * number
        write("a.json", self.of_lengths(*few))
        write("b.json", self.of_lengths(*many))
        for control, said in (("a", "3 steps of test and 1 of control"), ("b", "3 steps of control and 3 of test")):
            self.assertEqual(self.rows("SELECT text FROM trace_summary(?, 'b.json') WHERE kind = 'caution'",
                                       f"{control}.json"),
                             [(f"caution: {said} are left out, as step 30 (x 24): more of op",)])

    def test_ranks_and_steps_that_are_left_out(self):
        """Ranks and steps that are left out have a line each, in which no word is cut; ranks come first."""
        for side, slower, ranks in (("a", 0, (0, 1, 2, 3, 4, 8, 20, 21, 22)), ("b", 50, (0, 1, 2, 3, 4, 5, 6, 8))):
            lengths = [100 + slower] * 42
            lengths[5:7] = [3000, 2000]
            for rank in ranks:
                trace = self.of_lengths(*lengths)
                trace["traceEvents"] += self.tying(sum(lengths[:number]) for number in range(42))
                if rank in (3, 4) and side == "b":  # without steps
                    trace["traceEvents"] = [each for each in trace["traceEvents"] if each["cat"] == "cpu_op"]
                write(f"{side}/{rank}.json", {"distributedInfo": {"rank": rank, "world_size": 24}, **trace})
        self.assertEqual(self.check("a", "b")[2:-1], [
            "caution: left out of the job: ranks 20, 21 and 22 (only in control), ranks 5 and 6 (only in test)...",
            "caution: 2 steps of control and 2 of test are left out, as step 5 (x 30): rank 0 has more of op",
            "caution: 9 and 8 of 24 ranks recorded: who waits for whom is not known"])

    def test_names_do_not_act_on_what_people_read(self):
        """Characters that change text direction or control a terminal are in no line, page or chart, not even as JSON
        in a page. Columns with names keep them.
        """
        acting = [chr(code) for code in (*range(1, 32), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F,
                                         *range(0x202A, 0x202F), *range(0x2066, 0x206A))]
        name = f"a{''.join(acting)}b\u202e"
        for side, dur in (("control", 20), ("test", 60)):
            events = [each for number in range(3) for start in [1000 * number] for each in (
                step(number, start, 900), event(name, start + 10, 20), launch(start + 15, 5, 10 * number + 1),
                kernel(name, start + 100, dur, 10 * number + 1))]
            write(f"{side}.json", document(*events, deviceProperties=[{"id": 0, "name": name + side}]))
        sides = "control.json", "test.json"
        told = ["\n".join(lines(*sides)), *(text for text, in self.rows(
            "SELECT text FROM trace_step_causes(?, ?) UNION ALL SELECT why FROM trace_comparability(?1, ?2)", *sides))]
        pages = [page for page, in self.rows(
            "SELECT html FROM trace_diff_report(?1, ?2) UNION ALL SELECT visualize_step_diff(class, name, control_time,"
            " test_time, name) FROM trace_step_causes(?1, ?2) UNION ALL SELECT visualize_timeline(rank, name, name, ts,"
            " dur, name) FROM trace_events(?1) UNION ALL SELECT visualize_duration_diff(name, control_total_duration,"
            " test_total_duration, name) FROM trace_diff(?1, ?2)", *sides)]
        self.assertIn("caution: devices differ: a", told[0])
        self.assertRegex(told[0], r"\+0.04 ms +compute +a")
        for text in [*told, *pages]:
            self.assertEqual([each for each in acting if each in text.replace("\n", "").replace("\t", "")], [])
            self.assertNotIn("\\u202e", text)
        self.assertTrue(all("\ufffd" in page for page in pages))
        self.assertEqual(self.rows("SELECT DISTINCT name FROM trace_step_causes(?, ?) WHERE class = 'compute'", *sides),
                         [(name,)])

    def test_hostile_names(self):
        name = "a\nb'; DROP TABLE x; --%s%n\"" + "é" * 200
        write("a.json", document(*(step(number, 100 * number, 100) for number in range(5)), event(name, 0, 500)))
        write("b.json", document(*(step(number, 200 * number, 200) for number in range(5)), event(name, 0, 1000)))
        found = self.check("a.json", "b.json")
        self.assertTrue(found[2].startswith("  +0.100 ms  100 %  host           a b'; DROP TABLE x; --%s%n"), found[2])

    @slowest
    def test_real_traces(self):
        for control, test in ((("hta", "trace_diff", "control"), ("hta", "amd_trace")),
                              (("hta", "trace_compare", "base"), ("hta", "trace_compare", "test")),
                              (("hta", "critical_path", "simple_add"), ("hta", "cpu_only"))):
            self.check(corpus(*control), corpus(*test))
            self.check(corpus(*test), corpus(*control))


class Corpus(unittest.TestCase):
    """L3 in the lines of real pairs: the answer is not in the rest."""

    def pairs(self):
        tracelens = [[os.path.join(corpus("tracelens", device), model) for device in ("h100", "mi300")]
                     for model in sorted(os.listdir(corpus("tracelens", "h100")))]
        own = [os.path.dirname(path)
               for path in glob.glob(os.path.join(corpus("own"), "**", "control"), recursive=True)]
        return [*tracelens, [model[0] for model in tracelens[:2]], sorted(glob.glob(corpus("param") + "/*.json.gz")),
                sorted(glob.glob(corpus("hta", "trace_filter") + "/*.json.gz")),
                [corpus("kineto", "resnet50_workers_0"), corpus("kineto", "resnet50_workers_4")],
                [corpus("hta", "trace_diff", "control"), corpus("hta", "trace_diff", "test")],
                [corpus("hta", "trace_compare", "base"), corpus("hta", "trace_compare", "test")],
                [corpus("hta", "critical_path", "simple_add"), corpus("hta", "cpu_only")],
                [corpus("own", "torch_planted", "gloo_control"),
                 corpus("own", "torch_planted", "gloo_rank1_sleeps_60ms")],
                *([os.path.join(folder, side) for side in ("control", "test")] for folder in sorted(own))]

    @slow
    def test_the_causes_hold_three_quarters(self):
        """Causes explain three quarters, or the rest lists its additions and removals. No name is a Python frame."""
        db = connect()
        for control, test in self.pairs():
            with self.subTest(control):
                for diagnoses in (1, 0):
                    rows = db.execute("SELECT kind, text, diff_ms FROM trace_summary(?, ?) WHERE diagnoses = ?",
                                      (control, test, diagnoses)).fetchall()
                    self.assertLessEqual(len(rows), 12)
                    self.assertLessEqual(max(len(row[1]) for row in rows), 100)
                    parts = [row for row in rows if row[0] in ("cause", "diagnosis", "rest") and row[2] is not None]
                    self.assertAlmostEqual(sum(row[2] for row in parts), rows[0][2] if parts else 0,
                                           delta=1e-6 * max(1, abs(rows[0][2] or 0)))
                if not parts:
                    continue
                steps = db.execute("SELECT control_iterations, test_iterations FROM trace_verdict(?, ?)",
                                   (control, test)).fetchone()
                rank = "job" if "job of " in rows[1][1] else None
                changes, = db.execute("SELECT total(changes) / 1000 FROM trace_step_causes(?, ?, ?, ?, ?, ?, NULL, ?)",
                                      (control, test, rank, rank, *steps, 11 - len(rows) + len(parts))).fetchone()
                held = sum(abs(row[2]) for row in parts if row[0] == "cause")
                if held < 0.7499 * changes:
                    self.assertRegex(parts[-1][1], r"smaller parts: \+[0-9.]+ and -[0-9.]+ m?s$")
                for name, in db.execute("SELECT name FROM trace_step_causes(?, ?, ?, ?, ?, ?)",
                                        (control, test, rank, rank, *steps)):
                    self.assertNotRegex(name or "", r"\.py\(|<(module|string|lambda)>")

    @slow
    def test_what_is_planted_is_said(self):
        """The planted change is named; the README of own/torch_planted has the truth."""
        for pair, said in (("slow_loader", "DataLoader"),
                           ("unfused_attn", "scaled_dot_product_attention gone|masked_fill new"),
                           ("python_loop", "SliceBackward0 new|SelectBackward0 new"),
                           ("item_sync", "aten::item 27 -> 351"),
                           ("grad_hook", "hooks on gradients run more operators: aten::nan_to_num"),
                           ("float64_all", "float -> double"),
                           ("clip", "linalg_vector_norm new"),
                           ("double_forward", "the forward pass runs 2 times as often"),
                           ("anomaly", "anomaly mode is on: 97 checks")):
            with self.subTest(pair):
                self.assertRegex("\n".join(lines(*(corpus("own", "torch_planted", pair, side)
                                                   for side in ("control", "test")))), said)
        same = lines(*(corpus("own", "torch_planted", "same", side) for side in ("control", "test")))
        self.assertIn("no clear difference", same[0])
        self.assertNotIn("count:", "\n".join(same))
