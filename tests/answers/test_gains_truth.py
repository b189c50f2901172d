"""The predicted gain of a cause against its true gain. Other programs plant the causes and simulate the run with and
without each. The generator of examples/gpu lists its causes; ../causes, beside the corpus, plants causes in other
traces.
"""
import contextlib
import gc
import importlib
import io
import json
import os
import re
import statistics
import sys
from collections import Counter
from unittest import mock

import score_gains
from generate_gpu_pair import PLANTED
from made import InFolder
from support import EXAMPLES, ROOT, corpus, slow

UNDONE = """SELECT kind, coalesce(name, ''), coalesce(text, ''), rank, gain_alone, cumulative, diff_time
    FROM trace_undo(?, ?)"""
RECORDED = "SELECT avg(recorded_ns) / 1e3 FROM trace_what_if(?, '[]')"
NAMED = {"slower kernel": "layer_norm", "operator replaced": "_fused_adamw_", "more copies": "clone",
         "late batch": "DataLoader", "longer transfer": "all_reduce", "late rank": "EmbeddingBackward0"}


class Generated(InFolder):
    """examples/gpu"""

    def setUp(self):
        super().setUp()
        self.sides = [os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test")]
        self.found = self.rows(UNDONE, *self.sides)

    def test_each_cause(self):
        """Each gain is within 1 % of the planted time, including the gaps that the cause adds."""
        planted = Counter()
        for each in PLANTED:
            if each["ranks"] != [0]:  # rank 0 only waits for rank 1
                planted[each["what"]] += each["ns_per_step"] / 1e3
        for what, time in planted.items():
            rows = [gain for _, name, text, _, gain, _, _ in self.found
                    if NAMED[what] in f"{name} {text}" and gain and abs(gain) > 1]
            with self.subTest(what):
                self.assertEqual(len(rows), 1)
                self.assertAlmostEqual(rows[0], time, delta=abs(time) / 100)

    def test_all_causes(self):
        """With all causes undone, less than 0.5 % of the difference is left."""
        control, test = (self.value(RECORDED, side) for side in self.sides)
        self.assertIsNone(self.found[-1][0])
        self.assertAlmostEqual(self.found[-2][5], control, delta=0.005 * (test - control))
        self.assertAlmostEqual(self.found[-1][5], control, places=2)


@contextlib.contextmanager
def programs(folder):
    """The programs of ../causes, which keep their output in a folder."""
    path = os.path.dirname(corpus("..", "causes", "score.py"))
    with mock.patch.dict(os.environ, TRACEDIFF_DIR=ROOT, CAUSES_DATA=folder), \
            mock.patch.object(sys, "path", [path, *sys.path]):
        yield importlib.import_module("score"), importlib.import_module("pairs")
    gc.enable()  # they disable it


@slow
class Planted(InFolder):
    """../causes: each gain is within 5 % of the truth or 0.2 % of the step, and the median is within 1 % of the
    truth.
    """

    # A changed clock, a pause in one step, and other shapes are not lags of an event, so nothing is undone.
    WITHOUT_NODES = ("clock", "gc pause", "batch mix")

    def truths(self, score, number, pair):
        """The traces of a pair, and (cause, its cost in us per step)."""
        graph = score.GRAPHS.setdefault(pair["base"], None) or score.base(pair["base"])
        score.GRAPHS[pair["base"]] = graph
        folder = os.path.join(os.getcwd(), "pair")
        score.simulate(graph, 1000 + number, pair["control"], os.path.join(folder, "control"))
        causes = [dict(cause) for cause in pair["causes"]]
        test, _ = score.simulate(graph, 5000 + number, causes, os.path.join(folder, "test"))
        for place, cause in enumerate(pair["causes"]):
            rest = [dict(other) for each, other in enumerate(pair["causes"]) if each != place]
            yield cause, 1e3 * (test - score.simulate(graph, 5000 + number, rest)[0])

    def gain(self, cause):
        """The largest gain among the rows of this cause."""
        rows = [gain for kind, name, text, _, gain, _, _ in self.rows(UNDONE, "pair/control", "pair/test")
                if kind and cause["ok"] and gain is not None and re.search(cause["ok"], f"{text} | {name}")]
        return max(rows, key=abs, default=0)

    def test_undone(self):
        errors = []
        with programs(os.path.join(os.getcwd(), "made")) as (score, pairs):
            for number, pair in enumerate(pairs.P):
                for cause, truth in self.truths(score, number, pair):
                    step = self.value(RECORDED, "pair/test")
                    if cause["kind"] in self.WITHOUT_NODES or abs(truth) < 0.005 * step:
                        continue
                    with self.subTest(pair=pair["id"], cause=cause):
                        error = abs(self.gain(cause) - truth)
                        errors.append(error / abs(truth))
                        self.assertLessEqual(error, max(0.05 * abs(truth), 0.002 * step))
        self.assertGreater(len(errors), 15)
        self.assertLess(statistics.median(errors), 0.01)

    def test_what_hides(self):
        """Rank 0 has the cause. Undone, it waits for rank 1, which mostly runs matrix products until then."""
        hidden = {"gpu03": "aten::layer_norm", "gpu13": "aten::clone"}
        with programs(os.path.join(os.getcwd(), "made")) as (score, pairs):
            for number, pair in enumerate(pairs.P):
                for cause, truth in self.truths(score, number, pair) if pair["id"] in hidden else ():
                    [(diff, *by)] = self.rows("""SELECT diff_time, hidden_by, hidden_rank
                        FROM trace_undo('pair/control', 'pair/test') WHERE name = ? AND rank = ? AND diff_time > 10""",
                                              hidden[pair["id"]], cause["rank"])
                    self.assertLess(truth, 0.9 * diff)
                    self.assertEqual(by, ["aten::mm", 1])

    def test_hidden(self):
        """Work of a rank that waits for another one gains less than 0.2 % of the step."""
        with programs(os.path.join(os.getcwd(), "made")) as (score, pairs):
            for number, (rank, pattern, op) in enumerate((
                    (0, pairs.LN, "aten::native_layer_norm"), (1, pairs.LN, "aten::native_layer_norm"),
                    (0, pairs.GELU, "aten::gelu"))):
                causes = [pairs.kernel(pairs.NN, 2, "mm", rank=1 - rank), pairs.kernel(pattern, 1.5, op, rank=rank)]
                (_, exposed), (_, hidden) = self.truths(score, number, {"base": "gpu", "control": [], "causes": causes})
                step = self.value(RECORDED, "pair/test")
                with self.subTest(rank=rank, op=op):
                    self.assertGreater(exposed, 0.02 * step)
                    self.assertLess(abs(hidden), 0.0005 * step)
                    changes = json.dumps([{"what": "device", "op": op, "rank": rank, "factor": 1 / 1.5}])
                    changed = self.value("SELECT avg(gain_ms) * 1e3 FROM trace_what_if('pair/test', ?)", changes)
                    rows = self.rows(UNDONE, "pair/control", "pair/test")
                    self.assertLess(changed, 0.002 * step)
                    self.assertLess(sum(gain for _, name, _, only, gain, _, _ in rows
                                        if only == rank and op.split("_")[-1] in name), 0.002 * step)


class Recorded(InFolder):
    """examples/gains: the recordings and the functions give the numbers in the document."""

    FOLDER = os.path.join(EXAMPLES, "gains")
    RUN = "03"

    def test_steps(self):
        for row in score_gains.read(self.FOLDER, "runs.csv"):
            if row["run"] == self.RUN:
                path = os.path.join(self.FOLDER, row["experiment"], row["side"])
                rows = self.rows("SELECT dur / 1e3 FROM trace_steps(?) WHERE rank = ? ORDER BY ts", path, row["rank"])
                steps = [ms for ms, in rows][1:-1]
                self.assertEqual([f"{ms:.3f}" for ms in (statistics.median(steps), min(steps), max(steps))],
                                 [row["step_ms"], row["lowest_ms"], row["highest_ms"]], row)

    def test_predictions(self):
        for row in score_gains.read(self.FOLDER, "predicted.csv"):
            if row["run"] == self.RUN:
                sides = [os.path.join(self.FOLDER, row["experiment"], side) for side in ("control", "test")]
                found = score_gains.scored(self.db, row["experiment"], *sides)
                self.assertEqual(["" if each is None else f"{each:.1f}" for each in found],
                                 [row[f"{name}_us"] for name in ("control", "test", "undone", "applied")], row)

    def test_what_hides(self):
        """examples/gains/hidden: rank 1 runs its operators while rank 0 sleeps in its DataLoader."""
        sides = [os.path.join(self.FOLDER, "hidden", side) for side in ("control", "test")]
        [(name, diff, gain, by, rank)] = self.rows("""SELECT name, diff_time, gain_alone, hidden_by, hidden_rank
            FROM trace_undo(?, ?) WHERE rank = 1 AND kind = 'changed' AND diff_time > 1""", *sides)
        self.assertEqual(name, "aten::gelu")
        self.assertGreater(diff, 2)
        self.assertLess(abs(gain), 0.1)
        self.assertRegex(by, r"^enumerate\(DataLoader\)")
        self.assertEqual(rank, 0)

    def test_the_table_of_the_documents(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            score_gains.print_table(self.FOLDER)
        with open(os.path.join(EXAMPLES, "gains.md"), encoding="utf-8") as file:
            self.assertIn(printed.getvalue(), file.read())

    def test_resnet(self):
        """The documents' numbers about DataLoader workers hold."""
        control, test = (corpus("kineto", f"resnet50_workers_{workers}") for workers in (4, 0))
        loader = self.value("SELECT gain_alone FROM trace_undo(?, ?) WHERE name LIKE 'enumerate(DataLoader)%'", control,
                            test)
        self.assertAlmostEqual(self.value(RECORDED, test) - loader, 118_800, delta=100)
