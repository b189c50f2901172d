"""One effect that explains most of a difference: a clock, other types, a long step, load on the host. It is planted in
the program of examples/gpu, which the generator simulates. trace_brief names it first, and trace_summary agrees.
"""
import contextlib
import json
import os
import unittest
from unittest import mock

import generate_gpu_pair as program
from made import write
from support import series
from test_brief import Brief

FORWARD = "DistributedDataParallel.forward"


def record(folder, seed, kernels=1, copies=1, ranks=program.RANKS, of="", host=1, pauses=None, double=None, device=1,
           steps=6):
    """Writes a run of the program without the generator's planted changes, with noise from this seed. `kernels` and
    `copies` scale device work whose names have `of` on these ranks, `device` scales all device work, and `host` the
    host. Pauses are ns in {(rank, step)}; `double` is a part of the names of operators with float64.
    """
    launch, spend, span, noisy = program.Thread.launch, program.Thread.spend, program.Thread.span, program.noisy

    def launch_so(thread, work):
        launch(thread, work)
        [task] = thread.rank.last[work.stream]
        if work.name != program.ALL_REDUCE:
            factor = kernels if work.cat == "kernel" else copies
            planted = thread.rank.rank in ranks and of in work.name
            task.length = round(task.length * device * (factor if planted else 1))

    def spend_so(thread, place, ns):
        thread.now += round(host * program.noisy(place, ns, program.HOST_NOISE))

    @contextlib.contextmanager
    def span_so(thread, op, args=""):
        with span(thread, op, args) as event:
            if double and double in op.name:
                event.args = event.args.replace('"float"', '"double"')
            if op.name == FORWARD:
                thread.now += (pauses or {}).get((thread.rank.rank, int(thread.place.split("/")[1]) - 10), 0)
            yield event

    with mock.patch.multiple(program.Thread, launch=launch_so, spend=spend_so, span=span_so), \
            mock.patch.multiple(program, RUNS=["control"], STEPS=range(10, 10 + steps),
                                noisy=lambda place, ns, share: noisy(f"{seed}/{place}", ns, share)):
        for name, text in program.generate():
            write(os.path.join(folder, os.path.basename(name)[:-3]), text)
    return folder


EVERY = {(rank, step): 300_000 for rank in program.RANKS for step in range(6)}
SHORT = {"device": 0.1}     # the host is too slow for such kernels
# The planted change of control and test besides noise; kind, rank and class of the main effect. None: no single effect
# dominates, and a line is the first cause.
CASES = [
    ({}, {"kernels": 1.07}, "clock", None, "compute"),
    ({}, {"kernels": 1.1, "ranks": [1]}, "clock", 1, "compute"),
    ({}, {"pauses": {(0, 3): 3_000_000}}, "outlier", 0, "none"),
    ({}, {"pauses": {(1, 2): 700_000}}, "long_step", 1, "all"),
    ({}, {"kernels": 1.8, "double": "aten::"}, "types", None, "all"),
    (SHORT, {**SHORT, "host": 1.5}, "load", None, "all"),
    ({}, {"kernels": 1.03}, "clock", None, "compute"),
    ({"kernels": 1.1, "ranks": [0]}, {}, "clock", 0, "compute"),
    ({}, {"kernels": 0.8}, "clock", None, "compute"),
    ({}, {"kernels": 1.15, "pauses": EVERY}, "clock", None, "compute"),
    ({"pauses": {(1, 2): 4_000_000}}, {}, "outlier", 1, "none"),
    ({}, {"host": 1.5}, "load", None, "all"),
    ({**SHORT, "host": 1.3}, SHORT, "load", None, "all"),
    ({"kernels": 1.8, "double": "aten::"}, {}, "types", None, "all"),
    ({}, {"kernels": 1.07, "pauses": EVERY}, None, None, None),
    ({}, {"copies": 3}, None, None, None),
    ({}, {"kernels": 1.2, "of": "gemm"}, None, None, None),
    ({}, {"kernels": 1.8, "double": "addmm", "of": "sgemm_128x64_tn"}, None, None, None),
    ({}, {"host": 1.2, "pauses": EVERY}, None, None, None),
    ({}, {"host": 1.5, "pauses": EVERY}, None, None, None),
    (SHORT, {**SHORT, "host": 1.2, "pauses": EVERY}, None, None, None)]
SAME = [{}, {"steps": 9}, SHORT, {"kernels": 1.02}, {"copies": 1.02}, {"host": 1.1}, {"pauses": {(0, 3): 60_000}}]


class Planted(Brief):
    def ask(self, *sides):
        [[text]] = self.rows("SELECT json FROM trace_brief(?, ?)", *sides)
        return json.loads(text)

    def assert_most(self, found, kind, rank, covers):
        """Asserts that exactly the first cause has this kind, and that trace_summary reports it before all causes."""
        first = found["causes"][0]
        self.assertEqual((first["kind"], first.get("rank"), first.get("covers")), (kind, rank, covers))
        self.assertFalse([each for each in found["causes"][1:] if "covers" in each])

    def test_what_makes_most_is_the_first_cause(self):
        for number, (control, test, kind, rank, covers) in enumerate(CASES[:series(6, len(CASES))]):
            sides = [record(f"{number}/control", 1, **control), record(f"{number}/test", 2, **test)]
            with self.subTest(control=control, test=test):
                found = (self.brief if series(0, 1) else self.ask)(*sides)
                if not kind:
                    self.assertFalse([each for each in found["causes"] if "covers" in each])
                    self.assertTrue(found["causes"])
                    continue
                self.assert_most(found, kind, rank, covers)
                if EVERY not in test.values():
                    sides += [record(f"{number}/{seed}", seed, device=control.get("device", 1)) for seed in (1, 2)]
                    lengths = [self.value("SELECT sum(time_ns) / 4e6"
                                          " FROM trace_step_time(?, 'job', '[11,12,13,14]')", side) for side in sides]
                    truth = lengths[1] - lengths[3] - (lengths[0] - lengths[2])
                    # on a slower rank; less if another rank replaces it on the path
                    part = found["causes"][0]["diff_ms"] / truth
                    self.assertTrue(0.85 < part and (part < 1.15 or kind == "clock" and rank is not None), part)

    def test_noise_is_no_cause(self):
        for number, plan in enumerate(SAME[:series(2, len(SAME))]):
            sides = [record(f"{number}/control", 1, device=plan.get("device", 1), steps=plan.get("steps", 6)),
                     record(f"{number}/test", 2, **plan)]
            with self.subTest(plan):
                self.assertEqual((self.ask(*sides)["causes"], self.ask(*sides[::-1])["causes"]), ([], []))

    def test_sides_turned_around(self):
        sides = [record("a", 1), record("b", 2, kernels=1.25)]
        there, back = ([*self.rows("SELECT diff_ms, share FROM trace_summary(?, ?) WHERE kind = 'caution'", *each)]
                       for each in (sides, sides[::-1]))
        self.assertAlmostEqual(there[0][0], -back[0][0], delta=0.02 * there[0][0])
        self.assertGreater(min(there[0][1], back[0][1]), 0.9)


if __name__ == "__main__":
    unittest.main()
