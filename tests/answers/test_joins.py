"""examples/joins.md: its queries find the planted changes to the nanosecond, and the exit status of
examples/joins/gate.sh gives the whole result, whatever its arguments contain.
"""
import csv
import os
import re
import shutil
import subprocess
import sys
import unittest

import generate_joins
import made
import test_documents
from support import EXTENSION, ROOT, connect, slow

JOINS = os.path.join(ROOT, "examples", "joins")
GATE = os.path.join(JOINS, "gate.sh")


class Data(unittest.TestCase):
    def test_is_what_the_generator_makes(self):
        done = subprocess.run([sys.executable, os.path.join(ROOT, "tests", "generators", "generate_joins.py"),
                               "--check"], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_is_small(self):
        self.assertLess(sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(JOINS)
                            for name in names),
                        40_000)


class Document(unittest.TestCase):
    """The statements of the document on its tables, which are read here like .import does."""

    def setUp(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(ROOT)
        self.db = connect()
        self.blocks = [sql for sql, _
                       in test_documents.Documents.EXAMPLE.findall(test_documents.read("examples", "joins.md"))][1:]

    def run_blocks(self, *numbers, replaced=("", "")):
        """The rows of the last statement of each block."""
        results = []
        for number in numbers:
            rows = None
            for statement in re.split(r"(?<=;)\n|(?m:(?<=^)(?=\.import))", self.blocks[number].replace(*replaced)):
                imported = re.match(r"\.import --csv --skip 1 (\S+) (\w+)\n", statement)
                if imported:
                    with open(imported[1], newline="", encoding="utf-8") as file:
                        lines = list(csv.reader(file))[1:]
                    self.db.executemany(f"INSERT INTO {imported[2]} VALUES ({','.join('?' * len(lines[0]))})", lines)
                    statement = statement[imported.end():]
                rows = self.db.execute(statement).fetchall() if statement.strip() else rows
            results.append(rows)
        return results

    def test_changes_of_the_history_are_the_planted_ones(self):
        self.run_blocks(0)
        found = self.db.execute(
            "SELECT history.revision, part.name, part.test_ns / part.test_steps - part.control_ns / part.control_steps"
            " AS ns"
            " FROM history, trace_step_diff(history.path_before, history.path) AS part"
            " WHERE part.class = 'compute' AND ns <> 0 AND history.revision <> ?",
            (generate_joins.MEASURED,)).fetchall()
        fused = {("aten::_foreach_addcdiv_", -30_000_000), ("aten::_fused_adamw_", 18_000_000)}
        self.assertEqual(sorted(found), sorted([
            *(("d20a9c4", *part) for part in fused), *(("e02f6a9", *part) for part in fused),
            ("7f3e5b8", "aten::native_layer_norm", 19_000_000), ("c8846ae", "aten::native_layer_norm", -19_000_000)]))

    def test_runs_of_another_cluster_are_not_compared(self):
        self.run_blocks(0)
        before = dict(self.db.execute("SELECT revision, path_before FROM history"))
        self.assertEqual({revision: path and os.path.basename(path) for revision, path in before.items()}, {
            "41c07d2": None, "9be11f0": "41c07d2", "d20a9c4": "9be11f0", "7f3e5b8": "d20a9c4", "c8846ae": "7f3e5b8",
            "5a90d13": "c8846ae", "b77c310": None, "e02f6a9": "b77c310"})

    def test_clock_of_each_kernel_is_the_planted_one(self):
        self.run_blocks(2)
        rows = self.db.execute(
            "SELECT name, dur_ns, (SELECT mhz FROM state WHERE gpu = kernel.rank AND ts_ns <= kernel.ts_ns"
            " ORDER BY ts_ns DESC"
            " LIMIT 1) FROM trace_events('examples/joins/runs/5a90d13') AS kernel WHERE cat = 'kernel'").fetchall()
        whole = {name: kernel[1] for name, kernel in {**generate_joins.KERNELS, **generate_joins.FUSED}.items()
                 if kernel}
        self.assertEqual({mhz for *_, mhz in rows}, {1005, 1410})
        for name, ns, mhz in rows:
            self.assertEqual(ns, whole[name] * 1410 // int(mhz))

    def test_zone(self):
        covered, = self.run_blocks(2)
        self.assertEqual(covered, [(1, 0)])

    def test_another_zone_is_seen(self):
        covered, = self.run_blocks(2, replaced=("+02:00", "+00:00"))
        self.assertEqual(covered, [(0, 2)])

    def test_what_is_no_number_is_null(self):
        self.run_blocks(2)
        self.assertEqual(self.db.execute("SELECT gpu, count(*), count(mhz), count(watt), min(mhz) FROM state"
                                         " GROUP BY gpu").fetchall(),
                         [(0, 26, 26, 26, 1005), (1, 26, 25, 25, 1410)])

    def test_no_query_is_a_cross_product(self):
        """Queries look up samples in the index; none is a cross product."""
        self.run_blocks(2)
        for number in (3, 4, 6):
            plan = "\n".join(row[3] for row in self.db.execute(f"EXPLAIN QUERY PLAN {self.blocks[number]}"))
            searched = re.findall(r"SEARCH (?:state|s|first) USING (?:COVERING )?INDEX state_by_time \((.*)\)", plan)
            self.assertNotIn("SCAN s", plan.replace("SCAN step", ""))
            self.assertIn("gpu=? AND ts_ns<?", searched, plan)


@test_documents.RUNS
class Gate(made.InFolder):
    def gate(self, *arguments, shell="sh", **environment):
        """Exit status, stdout and stderr."""
        done = subprocess.run([shell, GATE, *arguments], capture_output=True, text=True, check=False, encoding="utf-8",
                              env={**os.environ, "TRACEDIFF": EXTENSION, **environment})
        return done.returncode, done.stdout, done.stderr

    def trace(self, path, *durations, rank=0, world=1, extra=(), device="A"):
        """A trace with a step for each duration of its kernel, in us."""
        events, now = [], 0
        for number, duration in enumerate(durations):
            events += [made.step(number, now, duration + 40), made.event("op", now + 5, 20),
                       made.launch(now + 10, 5, number + 1),
                       made.kernel("gemm", now + 30, duration, number + 1)]
            now += duration + 50
        made.write(os.path.join(path, f"rank{rank}.json"), made.document(
            *events, *extra, deviceProperties=[{"id": 0, "name": device}],
            distributedInfo={"rank": rank, "world_size": world}))
        return path

    def test_examples(self):
        """The examples give what the document prints."""
        os.chdir(ROOT)
        status, said, errors = self.gate("examples/gpu/control", "examples/gpu/test")
        self.assertEqual((status, errors), (1, ""))
        lines = said.splitlines()
        shown = re.search(r"(?m)(?:^    .*\n)+",
                          test_documents.read("examples", "joins.md").split("these are its first lines:\n\n")[1])
        self.assertEqual([line[4:] for line in shown[0].splitlines()], lines[:len(shown[0].splitlines())])
        self.assertEqual(
            lines[0], "fail: 3.052 -> 3.735 ms per step, mean +22.4 %, median +22.4 % (limits: +5 % and +0.1 ms)")
        self.assertIn("      +120.0 us  compute       EmbeddingBackward0 (backward), only on rank 1", lines)
        self.assertEqual(self.gate("examples/gpu/test", "examples/gpu/control"), (
            0, "pass: 3.735 -> 3.052 ms per step, mean -18.3 %, median -18.3 % (limits: +5 % and +0.1 ms)\n", ""))

    def test_both_limits_count(self):
        pair = self.trace("a", *[1000] * 6), self.trace("b", *[1100] * 6)   # 0.1 ms and 9.5 % longer
        for limits, status in ((("9", "0.09"), 1), (("10", "0.09"), 0), (("9", "0.11"), 0), (("0", "0"), 1),
                               (("9.5",), 0), (("9", "0.1"), 0), (("9", "0.099999"), 1)):
            self.assertEqual(self.gate(*pair, *limits)[0], status, limits)

    def test_one_slow_step_fails_nothing(self):
        pair = self.trace("a", *[1000] * 9), self.trace("b", *[1000] * 4, 5000, *[1000] * 4)
        status, said, _ = self.gate(*pair)
        self.assertEqual(status, 0)
        self.assertIn("pass: 1.050 -> 1.050 ms per step, mean +0.0 %, median +0.0 %", said)
        self.assertIn("caution: step 4 of test is left out: 4.8 times as long; more of op", said)

    def test_of_what_varies_more_it_is_not_known(self):
        """If the rest varies more, the answer is unknown, like in trace_summary."""
        pair = self.trace("a", *[1000, 1000, 1400, 1000, 1200,
                                 1000]), self.trace("b", *[1000, 1100, 1400, 1200, 1300, 1000])
        status, said, errors = self.gate(*pair, "1", "0.01")
        self.assertEqual((status, said.splitlines()[:2], errors), (2, [
            "not known: 1.200 -> 1.300 ms per step, mean +8.3 %, median +13.0 % (limits: +1 % and +0.01 ms): the"
            " difference is not clear",
            "no clear difference: 1.200 -> 1.300 ms per step, +0.100 ms (+8.3 %)"], ""))

    def test_a_slow_rank_counts(self):
        for path, slow in (("a", 1000), ("b", 1300)):
            self.trace(path, *[1000] * 5, world=2)
            self.trace(path, *[slow] * 5, rank=1, world=2)
        self.assertEqual(self.gate("a", "b")[0], 1)

    def assert_cannot(self, reason, *arguments, printed="", **options):
        status, said, errors = self.gate(*arguments, **options)
        self.assertEqual(status, 2, said + errors)
        self.assertIn(reason, said + errors)
        self.assertEqual(said != "", reason in said)

    def test_what_cannot_be_compared(self):
        good = self.trace("good", *[1000] * 5)
        made.write("stepless/rank0.json", made.document(made.event("op", 0, 10)))
        made.write("text/rank0.json", "no trace")
        os.mkdir("empty")
        self.trace("two", *[1000] * 5)
        self.trace("two", *[1000] * 5, rank=1)
        self.trace("other", *[1000] * 5, rank=1)
        self.trace("large", *[1000] * 5, world=8)
        self.trace("device", *[1000] * 5, device="B")
        made.write("host/rank0.json", made.document(*(made.step(number, 1000 * number, 990) for number in range(5)),
                                                    distributedInfo={"rank": 0, "world_size": 1}))
        for path, reason in (("nowhere", "cannot read 'nowhere': No such file or directory"), ("empty", "'empty'"),
                             ("text", "text"),
                             ("stepless", "cannot be compared: test has no steps: record it with profiler.step()\n"),
                             ("two", "cannot be compared: other ranks: rank 1 only in test\n"),
                             ("other", "cannot be compared: other ranks: rank 0 only in control, rank 1 only in"
                                       " test\n"),
                             ("large", "cannot be compared: other world sizes: 1 in control, 8 in test\n"),
                             ("device", "cannot be compared: other devices: A in control, B in test\n"),
                             ("host", "cannot be compared: test has no device work, control has\n")):
            with self.subTest(path):
                self.assert_cannot(reason, good, path)
        self.assert_cannot("control has no steps", "stepless", good)

    def test_wrong_arguments(self):
        good = self.trace("good", *[1000] * 5)
        for arguments in ((), (good,), (good, good, "5", "1", "more")):
            self.assert_cannot("gate: usage: gate.sh CONTROL TEST [PERCENT [MS]]\n", *arguments)
        for number in ("", "x", "-1", "1e3", "1.2.3", ".", "5%", "0; SELECT 1", "1)", "٣"):
            self.assert_cannot(f"gate: '{number}' is not a number of 0 or more\n", good, good, number)
            self.assert_cannot(f"gate: '{number}' is not a number of 0 or more\n", good, good, "5", number)
        self.assert_cannot("the trace is an empty text", "", good)

    def test_without_the_extension_or_the_shell(self):
        good = self.trace("good", *[1000] * 5)
        self.assert_cannot("cannot open shared object file", good, good, TRACEDIFF="/nowhere.so")
        os.mkdir("bin")
        for name in ("sh", "od", "tr", "dirname"):
            os.symlink(shutil.which(name), os.path.join("bin", name))
        self.assert_cannot("gate: there is no sqlite3: install SQLite's shell\n", good, good,
                           PATH=os.path.abspath("bin"))

    @slow
    def test_nothing_in_a_path_means_anything(self):
        places = ["a b", "it's", '"quoted"', "back\\slash\\n", "$(touch made)", "`touch made`", "-x", "--", "%s%d",
                  "a;b|c&d", "ä\n",
                  "'); DROP TABLE step; --", "{a,b}", "~", "x'41'", "# no", ".exit 0"]
        for place in places:
            with self.subTest(place):
                os.mkdir(os.path.join(self.folder, "place"))
                base, new = os.path.join("place", place, "base"), os.path.join("place", place, "new")
                self.trace(base, *[1000] * 5)
                self.trace(new, *[2000] * 5)
                self.assertEqual([self.gate(*pair)[::2] for pair in ((base, base), (base, new))], [(0, ""), (1, "")])
                shutil.rmtree("place")
        self.assertEqual(os.listdir(), [])

    def test_a_path_that_begins_with_a_dash(self):
        self.trace("-bail", *[1000] * 5)
        self.assertEqual(self.gate("-bail", "-bail")[0], 0)

    def test_the_extension_may_be_anywhere(self):
        good = self.trace("good", *[1000] * 5)
        os.mkdir("it's $HOME")
        shutil.copy(EXTENSION, "it's $HOME/tracediff.so")
        self.assertEqual(self.gate(good, good, TRACEDIFF="./it's $HOME/tracediff.so")[0], 0)

    def test_settings_of_the_user_change_nothing(self):
        good = self.trace("good", *[1000] * 5)
        made.write(".sqliterc", ".mode box\n.headers on\nSELECT 5;\n")
        self.assertEqual(self.gate(good, good, HOME=self.folder), self.gate(good, good))

    def test_other_shells(self):
        good, slow = self.trace("good", *[1000] * 5), self.trace("it's slow", *[2000] * 5)
        for shell in filter(shutil.which, ("bash", "dash", "busybox")):
            arguments = ("sh", GATE) if shell == "busybox" else (GATE,)
            done = [subprocess.run([shell, *arguments, good, path], capture_output=True, check=False,
                                   env={**os.environ, "TRACEDIFF": EXTENSION}).returncode for path in (good, slow)]
            self.assertEqual(done, [0, 1], shell)

    def test_cautions_are_printed_with_either_verdict(self):
        good, short = self.trace("good", *[1000] * 5), self.trace("short", *[1000] * 2)
        status, said, _ = self.gate(good, short)
        self.assertEqual(status, 0)
        self.assertRegex(said, "^pass: ")
        self.assertIn("caution: ", said)


if __name__ == "__main__":
    unittest.main()
