"""Changes that a person made (DG1 to DG8): on recordings with one known change, and on pairs without any.

The recordings with truth.tsv are next to CORPUS, in cases/diagnose.
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

    @slow
    def test_the_summary_names_two_changes(self):
        """DG7.2: a small diagnosis takes the room of a line about work."""
        planted = [corpus("own", "torch_planted", name) for name in ("clip", "double_forward")]
        for pair in [*planted, *[corpus(*CASES, pair) for pair in self.truths()]]:
            with self.subTest(pair):
                sides = [os.path.join(pair, side) for side in ("control", "test")]
                lines = self.rows("SELECT kind, code, advice FROM trace_summary(?, ?)", *sides)
                said = [kind for kind, _, advice in lines if kind in ("diagnosis", "change") or
                        (kind == "cause" and advice)]
                self.assertGreaterEqual(len(said), min(2, len(self.named(*sides))), lines)

    def test_changes(self):
        self.check([(pair, pattern) for pair, pattern in self.truths().items()
                    if pair in ("recorded/quantised_lost", "near/clamp_loss")])

    @slow
    def test_more_changes(self):
        truths = self.truths()
        self.assertEqual(len(truths), 27)
        self.check(truths.items())


class Own(Asking):
    """Patterns of the user (DG8), and patterns that fail (DG5)."""

    PAIR = [os.path.join(EXAMPLES, "h200", "pageable", side) for side in ("control", "test")]

    def said(self, folder=None):
        rows = self.rows("SELECT pattern, sentence, time_ms, causes FROM trace_diagnoses(?, ?) WHERE patterns IS ?",
                         *self.PAIR, folder)
        return {pattern: (sentence, ms is not None, causes) for pattern, sentence, ms, causes in rows
                if pattern not in (None, "pageable")}

    def put(self, **patterns):
        os.makedirs("own", exist_ok=True)
        for name, text in patterns.items():
            with open(f"own/{name}.sql", "w", encoding="utf-8") as file:
                file.write(text)
        return self.said("own")

    def test_in_a_directory(self):
        self.assertEqual(self.said(), {})
        found = self.put(ours="-- ours: a change\n-- Rank: 3\nSELECT 'copies are ours, ' || :test_rank, NULL, id\n"
                              "FROM cause WHERE class = 'memory'", silent="SELECT 'nothing', NULL, NULL WHERE 0")
        self.assertEqual(found, {})  # a rank that is not given is NULL, and NULL makes no sentence
        found = self.put(ours="-- Rank: 3\nSELECT 'copies are ours', 'pin them', id FROM cause WHERE class = 'memory'")
        self.assertEqual({name: row[:2] for name, row in found.items()}, {"ours": ("copies are ours", True)})
        with open("own/notes.txt", "w", encoding="utf-8") as file:
            file.write("no pattern")
        self.assertEqual(self.said("own"), found)

    def test_in_a_table(self):
        self.db.execute("CREATE TEMP TABLE patterns(name, head, sql)")
        self.db.execute("INSERT INTO patterns VALUES ('ours', '-- Rank: 3', 'SELECT ''copies'', ''pin'', id FROM cause"
                        " WHERE class = ''memory'''), ('none', NULL, NULL)")
        self.assertEqual(set(self.said()), {"ours"})
        self.assertIn(("ours", "pin"), self.rows("SELECT code, advice FROM trace_summary(?, ?)", *self.PAIR))

    def test_a_head(self):
        """The head of a pattern decides which pattern owns a cause (`Rank`), for which traces it applies (`Alike`), and
        whether it is a guess that rests on times (`Said`).
        """
        text = "SELECT 'ours', NULL, id FROM cause WHERE class = 'memory'"
        later = self.put(ours=text)["ours"][2]  # rank 50: pageable has 22
        self.assertEqual(self.put(ours="-- Rank: 22\n-- Alike: no\n" + text)["ours"][2][:2], "[1")  # o before p
        self.assertEqual(later, self.put(ours="-- Rank: 23\n-- Alike: within\n" + text)["ours"][2])
        self.assertNotIn("[1,", later)
        guess = "-- Rank: 21\n-- Said: a tenth\nSELECT 'ours', NULL, id FROM cause WHERE class {} 'memory' LIMIT 1"
        self.assertTrue(self.put(ours=guess.format("="))["ours"][1])
        self.assertEqual(self.put(ours=guess.format("<>")), {})

    def test_that_fail(self):
        for text, said in (("SELECT 'a', 'b'", "it must be one SELECT of three columns: sentence, advice, cause"),
                           ("DELETE FROM cause", "it must be one SELECT of three columns: sentence, advice, cause"),
                           ("", "it must be one SELECT of three columns: sentence, advice, cause"),
                           ("SELECT 1, 2, 3; SELECT 1, 2, 3", "it must be one statement"),
                           ("SELECT 'a', 'b', 1000", "its third column, cause, is not the id of a cause"),
                           ("SELECT 'a', 'b', c FROM missing", "no such table: missing"),
                           ("-- Rank: high\nSELECT 'a', 'b', NULL", "a line of its head is wrong: -- Rank: high"),
                           ("-- Rank: 100\nSELECT 'a', 'b', NULL", "a line of its head is wrong: -- Rank: 100"),
                           ("-- Said: often\nSELECT 'a', 'b', NULL", "a line of its head is wrong: -- Said: often"),
                           ("-- Alike: yes\nSELECT 'a', 'b', NULL", "a line of its head is wrong: -- Alike: yes")):
            with self.subTest(text):
                self.assertEqual(self.put(ours=text), {"ours": (said, False, None)})
        self.assert_error("trace_diagnoses: cannot read 'nowhere': No such file or directory",
                          "SELECT * FROM trace_diagnoses(?, ?) WHERE patterns = 'nowhere'", *self.PAIR)

    def test_a_long_sentence(self):
        """Long sentences are cut to 80 characters, at whole words (DG6)."""
        found = self.put(ours="SELECT printf('%.*c', 60, 'a') || ' and more words than there is room for', NULL, NULL")
        self.assertEqual(found["ours"][0], "a" * 60 + " and more words...")
