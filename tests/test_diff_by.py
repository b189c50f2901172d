"""trace_diff_by: against trace_kernel_owners, and the call stacks of trace_events walked in Python, by the rules of
ext/trace/keyed.h; against what is planted in examples/gpu; and its errors."""
import json
import os
import re
import unittest
from collections import defaultdict

import generate_gpu_pair
from made import InFolder, document, event, kernel, launch, step, write
from oracle_steps import OPERATORS, stable
from support import EXAMPLES, corpus
from test_step_time import random_trace

CONTROL, TEST = (os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test"))
KEYS = ("op", "top_op", "module", "annotation", "kernel", "kernel_type", "cat", "stream", "shapes", "name")
EVENTS = """
    SELECT event, parent, device, cat, name, dur, self_dur, iteration, args ->> '$."Input Dims"'
    FROM trace_events(?) WHERE rank = ?"""
OWNERS = """
    SELECT name, kernel_type, cat, stream, dur, op, top_op, module, annotation, shapes
    FROM trace_kernel_owners(?, ?, ?)"""
ALL_SELECTED = """
    SELECT * FROM trace_diff_by(:control, :test, :keys) WHERE control_rank = :rank AND test_rank = :rank
      AND control_iteration = :steps AND test_iteration = :steps"""


def is_call(cat):
    return cat in ("cuda_driver", "Runtime") or (cat or "").endswith("_runtime")


def host_keys(events, number):
    """The keys of a host event: from the events around it in its call stack, and itself."""
    chain = []
    at = number
    while at is not None:
        chain.append(events[at])
        at = events[at].parent
    labels = [row for row in chain if row.device == "CPU" and not is_call(row.cat) and row.name is not None
              and not re.fullmatch(r"ProfilerStep ?#\d+", row.name)]
    operators = [row for row in labels if row.cat in OPERATORS]
    around = operators or labels
    op, top = (around[0], around[-1]) if around else (None, None)
    module = next((row for row in labels if row.name.startswith("nn.Module: ")), top)
    annotation = next((row for row in labels if row.cat == "user_annotation"), None)
    made = {key: row and stable(row.name)
            for key, row in (("op", op), ("top_op", top), ("module", module), ("annotation", annotation))}
    return {**dict.fromkeys(KEYS), **made, "shapes": op.shapes if operators else None, "cat": events[number].cat,
            "name": stable(events[number].name)}


class Row:
    def __init__(self, *values):
        (self.event, self.parent, self.device, self.cat, self.name, self.dur, self.self_dur, self.iteration,
         self.shapes) = values


class DiffBy(InFolder):
    def side(self, path, rank, steps, chosen, keys):
        """{tuple of keys: [counts, device time, host time, self time]} in us of all steps"""
        sums = defaultdict(lambda: [0, 0, 0, 0])
        for name, type_, cat, stream, dur, op, top_op, module, annotation, shapes in self.rows(
                OWNERS, path, rank, steps):
            made = {"name": name, "kernel": name, "kernel_type": type_, "cat": cat, "stream": stream, "op": op,
                    "top_op": top_op, "module": module, "annotation": annotation, "shapes": shapes}
            entry = sums[tuple(made[key] for key in keys)]
            entry[0] += 1
            entry[1] += dur
        events = {row[0]: Row(*row) for row in self.rows(EVENTS, path, rank)}
        parts = {}
        for number, row in events.items():
            if row.device == "CPU" and row.cat != "Trace" and row.name is not None and row.dur is not None and (
                    chosen is None or row.iteration in chosen):
                made = host_keys(events, number)
                parts[number] = tuple(made[key] for key in keys)
        for number, part in parts.items():
            if parts.get(events[number].parent) != part:
                sums[part][2] += events[number].dur
            sums[part][3] += events[number].self_dur
        return sums

    def compare(self, control, test, keys, rank, steps, control_steps, test_steps):
        sides = [self.side(path, rank, steps if chosen is not None else "all", chosen, keys)
                 for path, chosen in ((control, control_steps), (test, test_steps))]
        counts = [len(chosen) if chosen else 1 for chosen in (control_steps, test_steps)]
        found = self.db.execute(ALL_SELECTED, {"control": control, "test": test, "keys": ",".join(keys), "rank": rank,
                                               "steps": steps}).fetchall()
        self.assertEqual(len(found), len(sides[0].keys() | sides[1].keys()))
        seen = set()
        for row in found:
            values = json.loads(row[1])
            self.assertEqual(list(values), list(keys))
            part = tuple(json.dumps(value, separators=(",", ":")) if isinstance(value, list) else value
                         for value in values.values())
            seen.add(part)
            expected = [sides[side][part][i] / counts[side] for i in range(4) for side in (0, 1)]
            n0, n1, d0, d1, h0, h1, s0, s1 = expected
            m0, m1 = (d0 / n0 if n0 else d1 / n1 if n1 else 0), (d1 / n1 if n1 else d0 / n0 if n0 else 0)
            wanted = [n0, n1, d0, d1, d1 - d0, (n1 - n0) * (m0 + m1) / 2, (m1 - m0) * (n0 + n1) / 2,
                      h0, h1, h1 - h0, s0, s1, s1 - s0]
            for got, value in zip(row[2:], wanted):
                self.assertAlmostEqual(got, value, places=4, msg=row)
            self.assertAlmostEqual(row[7] + row[8], row[6], places=4)
            joined = [str(value) if value is not None else "" for value in part]
            self.assertEqual(row[0], " | ".join(joined) if any(value is not None for value in part) else None)
        self.assertEqual(len(seen), len(found))
        self.assertEqual([abs(row[6]) for row in found], sorted((abs(row[6]) for row in found), reverse=True))

    def test_examples(self):
        for keys in (("op",), ("top_op", "kernel_type"), ("shapes", "op"), ("stream", "cat"), ("name",), KEYS):
            with self.subTest(keys):
                self.compare(CONTROL, TEST, keys, 1, "steady", range(11, 15), range(11, 15))
        cpu = [os.path.join(EXAMPLES, "cpu", side) for side in ("control", "test")]
        steps = [{number for number, in self.rows("SELECT iteration FROM trace_steps(?) WHERE rank = 0", path)}
                 for path in cpu]
        steady = [numbers - {min(numbers), max(numbers)} for numbers in steps]
        self.compare(*cpu, ("module", "annotation"), 0, "steady", *steady)

    def test_random_traces(self):
        for seed in range(2000, 2060):
            paths = [write(f"{side}.json", random_trace(seed + 100 * side)) for side in (0, 1)]
            chosen = [{number for number, in self.rows("SELECT iteration FROM trace_steps(?)", path)} or None
                      for path in paths]
            with self.subTest(seed=seed):
                if None not in chosen:
                    for side, path in enumerate(paths):
                        numbers = chosen[side]
                        chosen[side] = numbers - {min(numbers), max(numbers)} if len(numbers) > 2 else numbers
                    self.compare(*paths, KEYS[seed % 10:][:3], 0, "steady", *chosen)
                elif chosen == [None, None]:
                    self.compare(*paths, KEYS[seed % 10:][:3], 0, "all", *chosen)

    def test_planted(self):
        """Device time by op, whatever it hides behind: what is planted on streams."""
        rows = {row[0]: row[1:] for row in self.rows(
            "SELECT key, control_counts, test_counts, diff_device_time FROM trace_diff_by(?, ?, 'op')"
            " WHERE control_iteration = 'steady' AND test_iteration = 'steady'", CONTROL, TEST)}
        for row in generate_gpu_pair.PLANTED:
            if row["class"] in ("compute", "memory") and 0 in row["ranks"]:
                counts = row["control_count"], row["test_count"]
                self.assertEqual(rows[row["name"]][:2], counts)
                self.assertAlmostEqual(rows[row["name"]][2], row["ns_per_step"] / 1000)

    def test_what_the_page_says_of_two_gpus(self):
        control, test = (os.path.join(corpus("tracelens", gpu), "facebook*") for gpu in ("h100", "mi300"))
        rows = dict(self.rows("SELECT key, diff_device_time FROM trace_diff_by(?, ?, 'op,shapes')", control, test))
        self.assertEqual(round(rows["aten::bmm | [[37632,8,64],[37632,64,8]]"] / 1000, 1), 13.2)
        rows = dict(self.rows("SELECT key, diff_device_time FROM trace_diff_by(?, ?, 'top_op')", control, test))
        self.assertLess(rows["aten::matmul"], -5000)

    def test_names_and_devices(self):
        path = write("trace.json", document(step(1, 0, 100), event("a", 0, 50), launch(1, 5, 1),
                                            kernel("void k<int>(float)", 10, 20, 1)))
        for use, name in ((0, "void k<int>(float)"), (1, "k"), (2, "void k<int>(float)"), (None, "void k<int>(float)")):
            self.assertEqual(self.rows("SELECT key, control_device_time FROM trace_diff_by(?1, ?1, 'kernel')"
                                       " WHERE use_short_name IS ?2 AND device_type = 'GPU'", path, use)
                             if use is not None else
                             self.rows("SELECT key, control_device_time FROM trace_diff_by(?1, ?1, 'kernel')"
                                       " WHERE device_type = 'GPU'", path), [(name, 20)])
        self.assertEqual(self.rows("SELECT key, control_counts, control_host_time, control_self_time FROM"
                                   " trace_diff_by(?1, ?1, 'op') WHERE device_type = 'CPU' ORDER BY key", path),
                         [(None, 0, 100, 50), ("a", 0, 50, 50)])

    def test_the_default_is_the_lowest_step(self):
        found = self.rows("SELECT sum(control_counts) FROM trace_diff_by(?, ?, 'op')", CONTROL, TEST)
        self.assertEqual(found, self.rows("SELECT count(*) FROM trace_kernel_owners(?, 0, 10)", CONTROL))

    def test_turned_around(self):
        query = "SELECT key, %s FROM trace_diff_by(?, ?, 'op,kernel_type') ORDER BY key"
        columns = ("diff_device_time", "diff_from_counts", "diff_from_mean", "diff_host_time", "diff_self_time")
        there = self.rows(query % ", ".join(columns), CONTROL, TEST)
        back = self.rows(query % ", ".join(f"-{column}" for column in columns), TEST, CONTROL)
        self.assertEqual(there, back)

    def test_errors(self):
        expected = ("trace_diff_by: keys must be one or more of op, top_op, module, annotation, kernel, kernel_type,"
                    " cat, stream, shapes and name, between commas, not ")
        for keys in ("'layer'", "''", "'op,'", "'op,op'", "'op shapes'", "','", "1"):
            self.assert_error(expected + keys, f"SELECT * FROM trace_diff_by('a', 'b', {keys})")
        self.assert_error("trace_diff_by: test has no rank 7 (ranks: 0, 1)",
                          "SELECT * FROM trace_diff_by(?, ?, 'op', 0, 7)", CONTROL, TEST)
        self.assert_error("trace_diff_by: control has no step 9 (steps: 10, 11, 12, 13, 14, 15)",
                          "SELECT * FROM trace_diff_by(?, ?, 'op', 0, 0, 9)", CONTROL, TEST)
        self.assertEqual(self.rows("SELECT * FROM trace_diff_by(?, ?, NULL)", CONTROL, TEST), [])
        self.assertEqual(len(self.rows("SELECT * FROM trace_diff_by(?, ?, ' OP ,Stream')", CONTROL, TEST)),
                         len(self.rows("SELECT * FROM trace_diff_by(?, ?, 'op,stream')", CONTROL, TEST)))


if __name__ == "__main__":
    unittest.main()
