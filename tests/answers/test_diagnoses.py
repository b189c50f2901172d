"""What a person changed (DG1 to DG7): on recordings with one known change, and on pairs without any.

The recordings with truth.tsv lie beside CORPUS, in cases/diagnose.
"""
import glob
import itertools
import os

from made import InFolder
from support import EXAMPLES, corpus, slow

CASES = ("..", "cases", "diagnose")
H200 = {"attention": "attention", "checkpoint": "checkpointing", "checks": "synchronization", "neighbour": "gpu_shared",
        "optimizer": "optimizer", "pageable": "pageable", "prefetch": "prefetch"}


class Asking(InFolder):
    def rows_of(self, control, test):
        return self.rows("SELECT pattern, sentence, time_ms, share, rank, advice, causes FROM trace_diagnoses(?, ?)",
                         control, test)

    def named(self, control, test):
        return {pattern for pattern, *_ in self.rows_of(control, test) if pattern}

    def pair(self, folder, back=False):
        sides = [os.path.join(folder, side) for side in ("control", "test")]
        return self.named(*sides[::-1] if back else sides)


class Recorded(Asking):
    def test_of_a_gpu(self):
        for pair, pattern in H200.items():
            for back in (False, True):
                with self.subTest(pair, back=back):
                    self.assertEqual(self.pair(os.path.join(EXAMPLES, "h200", pair), back), {pattern})

    def test_runs_of_one_program(self):
        for side in ("control", "test"):
            runs = sorted(glob.glob(os.path.join(EXAMPLES, "runs", side, "*")))
            self.assertEqual(len(runs), 5)
            for control, test in itertools.combinations(runs, 2):
                with self.subTest(control, test=test):
                    self.assertEqual(self.named(control, test), set())

    def truths(self):
        with open(corpus(*CASES, "truth.tsv"), encoding="utf-8") as file:
            return dict(line.rstrip("\n").split("\t") for line in list(file)[1:])

    def check(self, truths):
        for pair, patterns in truths:
            for back in (False, True):
                with self.subTest(pair, back=back):
                    named = self.pair(corpus(*CASES, pair), back)
                    wanted = set(patterns.split("|"))
                    self.assertTrue(named <= wanted if named else "-" in wanted, named)

    def test_changes(self):
        self.check([(pair, pattern) for pair, pattern in self.truths().items()
                    if pair in ("recorded/quantised_lost", "near/clamp_loss")])

    @slow
    def test_more_changes(self):
        truths = self.truths()
        self.assertEqual(len(truths), 27)
        self.check(truths.items())
