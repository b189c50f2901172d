"""Jobs where one thing differs, made from seeds: the first cause names it, its rank, and what a fix saves."""
import shutil
import unittest
from collections import Counter

from generate_causes import KINDS, STYLES, write_pair, write_pipeline
from made import InFolder
from support import slow

CLASSES = {"loader": "idle_host", "one loader": "idle_host", "network": "comm", "host": "idle_unrecorded"}


class Planted(InFolder):
    def answer(self, seed, kind=None):
        """The truth, the verdict and the first cause."""
        shutil.rmtree("pair", ignore_errors=True)
        truth = write_pipeline("pair", seed) if kind == "stage" else write_pair(
            "pair", seed, kind, tuple(STYLES)[seed % len(STYLES)])
        verdict, *lines = self.rows("SELECT kind, code, class, name, rank, text, diff_ms, gain_ms"
                                    " FROM trace_summary('pair/control', 'pair/test')")
        causes = [line for line in lines if line[0] in ("cause", "diagnosis")]
        return truth, verdict, causes[0] if causes else None

    @staticmethod
    def is_right(truth, verdict, cause):
        if truth.kind == "nothing":
            return verdict[1] in ("unknown", "same")
        _, _, class_, name, rank, text, *_ = cause
        return (verdict[1] == "slower" and class_ == CLASSES.get(truth.kind, "compute") and truth.name in name
                and rank == truth.rank and ("on changing ranks" in text) == truth.kind.startswith("moving"))

    def test_each_kind(self):
        for place, kind in enumerate((*KINDS, "stage", "nothing")):
            answer = self.answer(place, kind)
            with self.subTest(kind):
                self.assertTrue(self.is_right(*answer), answer)

    @slow
    def test_random_jobs(self):
        """300 jobs of three styles with an effect, 60 pipelines and 60 jobs without an effect: 95 % are right, 90 %
        of each kind, and there is no false alarm. Where the answer says what a fix of the cause saves, 95 % are
        within a quarter of the difference.
        """
        right, asked, gains, close = Counter(), Counter(), 0, 0
        for seed in range(1000, 1420):
            truth, verdict, cause = self.answer(seed, "stage" if seed >= 1360 else "nothing" if seed >= 1300 else None)
            asked[truth.kind] += 1
            right[truth.kind] += self.is_right(truth, verdict, cause)
            if truth.kind != "nothing" and cause[7] is not None:
                gains += 1
                close += abs(cause[7] - verdict[6]) <= 0.25 * verdict[6]
        self.assertEqual(right["nothing"], asked["nothing"])
        for kind in (*KINDS, "stage"):
            with self.subTest(kind):
                self.assertGreaterEqual(right[kind], 0.9 * asked[kind])
        self.assertGreaterEqual(sum(right.values()) - right["nothing"], 342)
        self.assertGreaterEqual(gains, 300)
        self.assertGreaterEqual(close, 0.95 * gains)


if __name__ == "__main__":
    unittest.main()
