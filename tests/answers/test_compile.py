"""Logs of the compiler (CL1 to CL15): recorded rows, an independent reading of random logs, changed bytes, and each
rule.
"""
import csv
import gzip
import json
import os
import random
import re
import sqlite3

from generate_compile import Log, large, random_log
from made import InFolder, document, event, write
from oracle_compile import Reading
from support import EXAMPLES, alone, corpus, found_below, golden, outside, series, slow, slowest

CASES = os.path.abspath(os.path.join(os.environ.get("GOLDEN", ""), "..", "cases", "compile"))  # next to their rows
FUNCTIONS = {"files": "compile_files", "compilations": "compilations", "breaks": "compile_breaks",
             "guards": "compile_guards", "events": "compile_events", "ranks": "compile_ranks",
             "steps": "compile_steps", "steps_trace": "compile_steps", "diff": "compile_diff"}
# Other phases in the recorded rows add up to more than the compilation; ours add up to it exactly (CL7).
MORE_THAN_ALL = ("backward.test", "cache.test", "recompile.test", "two_runs.test")
LOG = "dedicated_log_torch_trace_a.log"
START = 1_790_000_000_000_000.0  # us, like in generate_compile
EXAMPLE = os.path.join(EXAMPLES, "compile", "test", "dedicated_log_torch_trace_pt3121yz.log.gz")


def case(name):
    """The folder of a recorded answer."""
    parts = name.replace("old_2.3.1_", "old/2.3.1/").replace("old_2.6.0_", "old/2.6.0/").split("/")
    parts[-1:] = parts[-1].split(".") if parts[-1].endswith((".test", ".control")) else parts[-1:]
    return os.path.join(CASES, *parts)


class Tlparse(InFolder):
    """The logs and the results of tlparse's own tests, where TLPARSE is a folder with its repository."""

    def of(self, name, sql, *arguments):
        path = name if os.path.isdir(name) else outside("TLPARSE", "tests", "inputs", name)
        return self.rows(sql, path, *arguments)

    def test_records(self):
        """All records are listed, except for the events and strings that tlparse leaves out."""
        for name, records in (("simple.log", 14), ("comp_metrics.log", 12)):
            self.assertEqual(self.of(name, "SELECT count(*) FROM compile_records(?)"
                                           " WHERE kind NOT IN ('chromium_event', 'str')"), [(records,)])

    def test_attempts(self):
        """tlparse names a compilation by its last attempt: 0/0_1, 1/0_1, 2/0_0."""
        self.assertEqual(self.of("comp_metrics.log", "SELECT id, attempts - 1 FROM compilations(?)"),
                         [("0/0", 1), ("1/0", 1), ("2/0", 0)])
        self.assertEqual(self.of("simple.log", "SELECT id, attempts - 1 FROM compilations(?)"), [("0/0", 0)])

    def test_failures(self):
        self.assertEqual(self.of("comp_failure.log", "SELECT id, fail_type FROM compilations(?)"),
                         [("0/0", "BackendCompilerFailed")])

    def test_caches(self):
        self.assertEqual(self.of("cache_hit_miss.log", "SELECT id, cache_fx FROM compilations(?) WHERE cache_fx > ''"),
                         [("1/0", "miss"), ("1/0", "hit"), ("1/0", "miss")])

    def test_damage(self):
        (problems,), = self.of("simple_corrupted_json.log", "SELECT problems FROM compile_files(?)")
        self.assertIn("event cannot be read", problems)
        self.assertEqual(self.of("simple_corrupted_json.log", "SELECT id FROM compilations(?)"), [("0/0",)])

    def test_ranks(self):
        """CL15: groups of ranks show diverging ids of compilations, and diverging hits and misses of caches."""
        ranks = "SELECT what, count(*) FROM compile_ranks(?) GROUP BY what ORDER BY what"
        self.assertEqual(self.of("multi_rank_logs", ranks), [("cache", 3), ("ids", 3)])
        for names, groups in ((("simple.log", "simple.log"), 1), (("cache_hit_miss.log", "cache_hit_miss.log"), 1),
                              (("cache_hit_miss.log", "simple.log"), 2)):
            for rank, name in enumerate(names):
                with open(outside("TLPARSE", "tests", "inputs", name), "rb") as log:
                    write(f"ranks/dedicated_log_torch_trace_rank_{rank}.log", log.read())
            self.assertEqual(self.of("ranks", ranks), [("cache", groups), ("ids", groups)])


class Recorded(InFolder):
    def found(self, name, ending, columns):
        folder = case(name)
        log = (os.path.join(folder, "test") if ending == "ranks" else
               json.dumps([os.path.join(folder, side) for side in ("control", "test")])
               if os.path.isdir(os.path.join(folder, "control")) else folder)
        if ending == "diff":
            columns = [{"control": "control_count", "test": "test_count"}.get(column, column) for column in columns]
            log = os.path.join(folder, "control")
        more = {"diff": (os.path.join(folder, "test"),), "steps_trace": (None, None, "")}.get(ending, ())
        return self.rows(f"SELECT {', '.join(columns)} FROM {FUNCTIONS[ending]}(?{', ?' * len(more)})", log, *more)

    def test_all_rows(self):
        compared = 0
        for file in sorted(os.listdir(golden("compile", "."))):
            name, _, ending = file.removesuffix(".csv").rpartition(".")
            if not file.endswith(".csv") or ending not in FUNCTIONS:
                continue
            with open(golden("compile", file), encoding="utf-8", newline="") as lines:
                columns, *expected = csv.reader(lines)
            if ending == "steps_trace" and name in MORE_THAN_ALL:
                at = columns.index("aot_ns")
                columns, expected = columns[:at] + columns[at + 1:], [row[:at] + row[at + 1:] for row in expected]
            with self.subTest(file):
                compared += 1
                self.assertEqual([["" if value is None else str(value) for value in row]
                                  for row in self.found(name, ending, columns)], expected)
        self.assertGreater(compared, 150)


    def test_all_answers(self):
        """All recorded answers hold: the verdict on steps that compile, the compiled frames, logs and hints. Wording
        may improve.
        """
        compared = 0
        for file in sorted(os.listdir(golden("compile", "."))):
            name = file.removesuffix(".answer.txt")
            if name == file:
                continue
            with open(golden("compile", file), encoding="utf-8") as lines:
                expected = lines.read().splitlines()
            sides = [os.path.join(case(name), side) for side in ("control", "test")]
            found = self.rows("SELECT kind, text, words FROM trace_summary(?, ?)", *sides)
            texts = [text for _, text, _ in found]
            with self.subTest(name):
                verdict = [line for line in expected if line.startswith("test is")]
                self.assertEqual([texts[0].split(": ")[:2]] if verdict else [],
                                 [line.split(": ")[:2] for line in verdict])
                if not verdict:
                    self.assertNotIn("compile", texts[0])
                for line in expected:
                    if line.startswith(("log: ", "hint: ")):
                        self.assertIn(line[:75], "\n".join(texts))
                parts = [re.split(r"  compile  ", line)[1] for line in expected if "  compile  " in line]
                if len(parts) == 1 and verdict:
                    words = [words for kind, _, words in found if kind in ("cause", "diagnosis")]
                    self.assertTrue(any(word.startswith(parts[0].replace(", only on rank 1", "")) for word in words),
                                    (parts, words))
                compared += 1
        self.assertGreater(compared, 14)


class Compile(InFolder):
    def write_log(self, *parts, name=LOG):
        write(name, b"".join(part if isinstance(part, bytes) else part.encode() for part in parts))

    def problems(self, log="."):
        return {problem["what"]: problem["count"] for text, in self.rows("SELECT problems FROM compile_files(?)", log)
                for problem in json.loads(text)}

    def compare(self, content):
        """Compares all rows with the independent reading."""
        write(LOG, content)
        read = Reading(content)
        self.assertEqual(self.rows("SELECT line, kind, id, attempt, payload, damaged FROM compile_records('.')"),
                         read.records)
        self.assertEqual(self.rows("SELECT line, id, attempt, depth, name, phase, ts_ns, dur_ns, self_ns"
                                   " FROM compile_events('.')"), read.events_rows())
        self.assertEqual(self.rows(
            "SELECT id, nth, part, attempts, nullif(source, 'records'), iif(source = 'records', NULL, start_ns),"
            " iif(source = 'records', NULL, dur_ns), dynamo_ns, aot_ns, inductor_ns, codegen_ns, cache, recompile"
            " FROM compilations('.')"), list(read.compilation_rows()))


class Read(Compile):
    """Comparison with an independent reading in Python."""

    def test_random_logs(self):
        for seed in range(series(60, 2000)):
            with self.subTest(seed):
                self.compare(random_log(seed))

    def test_random_logs_with_damage(self):
        for seed in range(series(60, 2000)):
            with self.subTest(seed):
                self.compare(random_log(1000 + seed, damaged=True))

    def test_an_example(self):
        with gzip.open(EXAMPLE) as file:
            self.compare(file.read())

    def change_bytes(self, count):
        with gzip.open(EXAMPLE) as file:
            content = file.read()
        draw, records = random.Random(count), self.value("SELECT count(*) FROM compile_records(?)", EXAMPLE)
        for _ in range(count):
            changed, at = bytearray(content), draw.randrange(len(content))
            for _ in range(draw.choice((1, 1, 8))):
                end = at + draw.choice((0, 1, 3, 100))
                changed[at:end] = bytes(draw.randrange(256) for _ in range(draw.choice((0, 1, 5))))
                at = draw.randrange(len(changed))
            write(LOG, bytes(changed))
            self.assertLessEqual(self.value("SELECT count(*) FROM compile_records('.')"), records + 8)
            self.rows("SELECT * FROM compilations('.')")
            self.rows("SELECT * FROM compile_events('.')")

    def test_changed_bytes(self):
        self.change_bytes(60)

    @slowest
    def test_many_changed_bytes(self):
        self.change_bytes(100_000)

    @alone
    @slowest
    def test_speed(self):
        """100 MB of log take at most a second."""
        import time  # pylint: disable=import-outside-toplevel
        large(LOG, 100)
        begun = time.process_time()
        self.assertGreater(self.value("SELECT count(*) FROM compilations('.')"), 100)
        self.assertLess(time.process_time() - begun, 1)


class Each(Compile):
    """The rules, one by one."""

    def log(self, **more):
        return Log(1, **more)

    def test_files(self):
        """CL1: files with logs are recognised."""
        write("other.log", "x\n")
        write("trace.json", "[]")
        with self.assertRaisesRegex(sqlite3.OperationalError, "no log in '.': there is no dedicated_log_torch_trace_"):
            self.rows("SELECT * FROM compile_files('.')")
        with self.assertRaisesRegex(sqlite3.OperationalError, "'other.log' is not a log of TORCH_TRACE"):
            self.rows("SELECT * FROM compile_files('other.log')")
        self.write_log()
        self.assertEqual(self.rows("SELECT file, records FROM compile_files(?)", LOG), [(LOG, 0)])
        with gzip.open(EXAMPLE) as file:
            write("named.txt", file.read())
        self.assertEqual(self.value("SELECT count(*) FROM compilations('named.txt')"), 2)
        with self.assertRaisesRegex(sqlite3.OperationalError, "no trace in 'logs'"):
            os.mkdir("logs")
            write(f"logs/{LOG}.gz", b"")
            self.rows("SELECT * FROM trace_files('logs')")

    def test_payloads(self):
        """Payloads follow CL2.1 and CL2.3 to CL2.5."""
        log = self.log()
        log.artifact({}, "a", "one\n\ntwo")
        log.artifact({}, "b", "")
        log.record({"c": {}})
        log.record({"d": {}}, "x", "0" * 32)
        log.parts += [b"\n", b"\tmore\n", b"noise\n", b"\tof noise\n"]
        log.record({"e": {}})
        log.parts[-1] += b"\talone\n"
        log.record({"f": {}, "has_payload": "0" * 32})
        self.write_log(*log.parts)
        self.assertEqual(self.rows("SELECT kind, name, payload, damaged FROM compile_records('.')"),
                         [("artifact", "a", "one\n\ntwo", 0), ("artifact", "b", "", 0), ("c", None, None, 0),
                          ("d", None, "x\nmore", 1), ("e", None, None, 0), ("f", None, None, 0)])
        self.assertEqual(self.problems(), {"payload is not what was written": 1, "line is not a record": 1,
                                           "payload without a record": 1, "payload is missing": 1})

    def test_too_long_a_payload(self):
        """CL2.4: a payload that is too long is skipped."""
        log = self.log()
        for length in ((64 << 20) - 1, 64 << 20):
            log.artifact({}, "a", "x" * length)
        log.artifact({}, "b", "y")
        self.write_log(*log.parts)
        self.assertEqual(self.rows("SELECT name, length(payload) FROM compile_records('.')"),
                         [("a", (64 << 20) - 1), ("a", None), ("b", 1)])
        self.assertEqual(self.problems(), {"payload is too long": 1})

    def test_kinds(self):
        """CL2.2: each record has a kind."""
        log = self.log()
        for kind in ("frame_id", "rank", "stack", "subgraph_name"):
            log.record({kind: 1, "x": {"name": "n"}, "y": 2})
        log.record({"rank": 1})
        self.write_log(*log.parts)
        self.assertEqual(self.rows("SELECT DISTINCT kind, metadata FROM compile_records('.')"),
                         [("x", '{"name": "n"}'), (None, None)])

    def test_processes(self):
        """CL3: one log holds several processes."""
        logs = [self.log(pid=pid) for pid in (5, 6)]
        for rank, log in enumerate(logs):
            for _ in range(2):
                log.record({"rank": rank, "x": {}})
        self.write_log(*(part for pair in zip(*(log.parts for log in logs)) for part in pair),
                       name="dedicated_log_torch_trace_rank_7_a.log")
        self.assertEqual(self.rows("SELECT pid, rank, records FROM compile_files('.')"), [(5, 0, 2), (6, 1, 2)])
        self.write_log(*logs[0].parts, name="dedicated_log_torch_trace_rank_7_a.log")
        self.assertEqual(self.rows("SELECT pid, rank FROM compile_files('.')"), [(5, 7)])
        self.assertEqual(self.problems(), {"ranks differ": 1})
        for pid, known in ((4194304, 4194304), (4194305, None)):
            log = self.log(pid=pid)
            log.record({"x": {}})
            self.write_log(*log.parts, name="dedicated_log_torch_trace_rank_7_a.log")
            self.assertEqual(self.rows("SELECT pid FROM compile_files('.')"), [(known,)])

    def test_clocks(self):
        """CL4: clocks are aligned."""
        for offset in (0, 7200, -34200, 20700):
            log = self.log(offset_s=offset)
            log.record({"x": {}})
            log.event({"frame_id": 0, "frame_compile_id": 0}, "dynamo", "B")
            self.write_log(*log.parts)
            self.assertEqual(self.rows("SELECT clock, utc_offset_s FROM compile_files('.')"), [("events", offset)])
            first, second = (ts for ts, in self.rows("SELECT ts_ns FROM compile_records('.')"))
            self.assertLess(abs(second - first), 4_000_000)
        log = self.log(offset_s=3600)
        log.record({"compilation_metrics": {"start_time": log.us / 1e6, "entire_frame_compile_time_s": 0.0005},
                    "frame_id": 0, "frame_compile_id": 0})
        self.write_log(*log.parts)
        self.assertEqual(self.rows("SELECT clock, utc_offset_s FROM compile_files('.')"), [("metrics", 3600)])

    def test_guards(self):
        """CL9: guards have reasons."""
        for reason, guard, argument, place in (
                ("0/0: L['k'] == 7   # return  # /a/b/c.py:31 in many\nmore", "k == 7", "k", "b/c.py:31 many"),
                ("0/0: tensor 'L['x']' rank mismatch", "tensor 'x' rank mismatch", "x", None),
                ("___check_obj_id(L['a'].b, 140296414507728), type=<class 'code'>", "___check_obj_id(a.b)", "a.b",
                 None),
                ("0/0: f(L['x'], 12345678)", "f(x, 12345678)", "f", None),
                ("0/0: f(L['x'], 123456789)", "f(x)", "f", None)):
            log = self.log()
            log.artifact({"frame_id": 0, "frame_compile_id": 1}, "recompile_reasons", reason)
            self.write_log(*log.parts)
            self.assertEqual(self.rows("SELECT guard, argument, guard_place, recompile FROM compilations('.')"),
                             [(guard, argument, place, 1)])

    def test_breaks(self):
        """CL10: graph breaks come from an artifact, otherwise from restarts."""
        same = {"frame_id": 0, "frame_compile_id": 0}
        for artifact in (False, True):
            log = self.log()
            log.record({"dynamo_start": {"stack": []}, **same})
            if artifact:
                log.artifact(same, "dynamo_graph_break_reason", "Graph break in user code at /a/b.py:3\nReason: x: y\n"
                             'User code traceback:\n  File "/a/b.py", line 3, in f\n    g()\n\nTraceback:\n')
            log.record({"compilation_metrics": {"restart_reasons": ["why\n not"], "entire_frame_compile_time_s": 1},
                        **same})
            self.write_log(*log.parts)
            self.assertEqual(self.rows("SELECT place, reason, stack FROM compile_breaks('.')"),
                             [("a/b.py:3", "x: y", "a/b.py:3 f")] if artifact else [(None, "why not", None)])

    def test_open_spans(self):
        """CL5: at most 1,024 spans are open."""
        log = self.log()
        for _ in range(1025):
            log.event({}, "a", "B")
        self.write_log(*log.parts)
        self.assertEqual(self.value("SELECT max(depth) FROM compile_events('.')"), 1023)
        self.assertEqual(self.problems(), {"begin without an end": 1024, "event cannot be read": 1})


class Steps(Compile):
    """CL11, on small traces."""

    def trace(self, *events, name="rank0.json", pid=1):
        steps = [event(f"ProfilerStep#{n}", START + 1000 * n, 1000, cat="user_annotation", pid=pid) for n in range(4)]
        write(name, document(*steps, *events))

    def compile_steps(self, *arguments, columns="step, id, part, recompile"):
        marks = ", ?" * len(arguments)
        return self.rows(f"SELECT {columns} FROM compile_steps('.', 'all', 'all'{marks})", *arguments)

    def test_without_a_log(self):
        """CL11.1, CL11.2: compilations are found without a log."""
        region = ("dynamo", START + 1100, 50)
        self.trace(event(*region))
        self.assertEqual(self.compile_steps(), [])  # nothing matches (dynamo_timed)
        timed = event("f (dynamo_timed)", START + 1110, 10)
        self.trace(event(*region), timed)
        self.assertEqual(self.compile_steps(), [(1, None, "forward", None)])
        self.trace(event(*region), timed, event("Torch-Compiled Region: 2/1", START + 1200, 5))
        self.assertEqual(self.compile_steps(), [(1, "2/1", "forward", 1)])
        self.trace(event(*region), timed, event("Torch-Compiled Region: 2/1", START + 1200, 5),
                   event("Torch-Compiled Region: 2/1", START, 5))
        self.assertEqual(self.compile_steps(), [(1, None, "forward", None)])
        self.trace(event(*region), timed, event("a_data: fn_name=f, compile_id=1/0", START + 1101, 5))
        self.assertEqual(self.compile_steps(), [(1, "1/0", "forward", 0)])
        self.trace(event("CUDAGraphNode.record (dynamo_timed)", START + 1100, 50))
        self.assertEqual(self.compile_steps(), [(1, None, "runtime", None)])

    @slow
    def test_recordings_without_a_compilation(self):
        """No compilation is claimed: not of recordings that run compiled code either."""
        asked = 0
        for folder in (corpus(), EXAMPLES):
            for path in found_below(folder, "**", "*.json*"):
                if os.path.join("compile", "") in path:
                    continue
                try:
                    times = self.rows("SELECT count(*) FROM trace_step_time(?, 'all', 'all') WHERE class = 'compile'",
                                      path)
                    steps = self.rows("SELECT count(*) FROM compile_steps(?, 'all', 'all', '')", path)
                except sqlite3.Error:
                    continue  # not a trace
                with self.subTest(path):
                    asked += 1
                    self.assertEqual(times + steps, [(0,), (0,)])
        self.assertGreater(asked, 250)

    def test_a_compilation_in_two_steps(self):
        self.trace(event("dynamo", START + 900, 300), event("f (dynamo_timed)", START + 910, 10))
        self.assertEqual(self.compile_steps(columns="step, after_ns, in_step_ns, dur_ns, dynamo_ns"),
                         [(0, 900_000, 100_000, 300_000, 300_000), (1, -100_000, 200_000, 300_000, 300_000)])

    def logged(self, pid, name, at_us=None, frame=0):
        """A log with one compilation, named after its frame."""
        log = Log(1, pid=pid)
        log.us = at_us or int(START)
        same = {"frame_id": frame, "frame_compile_id": 0}
        log.event(same, "dynamo", "B")
        log.us += 100
        log.event(same, "dynamo", "E")
        self.write_log(*log.parts, name=name)

    def test_logs_of_other_runs(self):
        """CL11.3: the log is chosen by process, then by rank, otherwise it is the only log."""
        self.trace()
        self.logged(1, "dedicated_log_torch_trace_a.log", frame=1)
        self.logged(2, "dedicated_log_torch_trace_b.log", frame=2)
        self.assertEqual(sorted({row[1] for row in self.compile_steps()}), ["1/0"])
        os.remove("dedicated_log_torch_trace_a.log")
        self.assertEqual(sorted({row[1] for row in self.compile_steps()}), ["2/0"])  # the only log
        self.assertEqual(self.compile_steps(""), [])
        self.logged(3, "dedicated_log_torch_trace_rank_0_c.log", frame=3)
        self.assertEqual(sorted({row[1] for row in self.compile_steps()}), ["3/0"])
        self.logged(4, "dedicated_log_torch_trace_rank_0_d.log", frame=4)
        self.assertEqual(self.compile_steps(), [])  # either log
        os.mkdir("other")
        self.logged(1, "other/dedicated_log_torch_trace_e.log", frame=5)
        self.assertEqual(sorted({row[1] for row in self.compile_steps("other")}), ["5/0"])

    def test_without_common_time(self):
        """CL11.4: without common time, spans match by id and part."""
        self.trace(event("dynamo", START + 1100, 50), event("f (dynamo_timed)", START + 1110, 10),
                   event("a_data: compile_id=1/0", START + 1101, 5))
        log = Log(1, pid=1)
        same = {"frame_id": 1, "frame_compile_id": 0}
        log.us = int(START) + 10**9
        log.event(same, "dynamo", "B")
        log.record({"compilation_metrics": {"co_name": "f", "co_filename": "a.py", "co_firstlineno": 1}, **same})
        log.event(same, "dynamo", "E")
        self.write_log(*log.parts)
        self.assertEqual(self.compile_steps(columns="source, function, place"), [("trace", "f", "a.py:1")])


class Diff(Compile):
    """Differences between two sides (CL14)."""

    def write_side(self, side, *compilations, damage=None):
        log = Log(1)
        for number, (function, metrics, caches) in enumerate(compilations):
            same = {"frame_id": number, "frame_compile_id": int(metrics.get("again", 0))}
            log.record({"dynamo_start": {"stack": []}, **same})
            for cache in caches:
                log.artifact(same, cache, "{}")
            if "break" in metrics:
                log.artifact(same, "dynamo_graph_break_reason", f"Graph break in user code at /a/b.py:3\nReason: "
                                                                f"{metrics['break']}\n")
            log.record({"compilation_metrics": {
                "co_name": function, "co_filename": "/a/b.py", "co_firstlineno": 1, "start_time": log.us / 1e6,
                "entire_frame_compile_time_s": metrics.get("s", 1), "fail_type": metrics.get("fails"),
                "fail_reason": metrics.get("why")}, **same})
        self.write_log(*log.parts, name=f"{side}/{LOG}")

    def whats(self, control, test):
        self.write_side("control", *control)
        self.write_side("test", *test)
        return self.rows("SELECT function, what FROM compile_diff('control', 'test')")

    def test_what(self):
        """CL14.1 to CL14.3: differences have a kind."""
        one, hit, miss = ("f", {}, ()), ("fx_graph_cache_hit",), ("fx_graph_cache_miss",)
        for control, test, what in (
                ([one], [("f", {"fails": "E", "why": "recompile limit hit"}, ())], "limit"),
                ([one], [("f", {"fails": "E", "why": "x"}, ())], "fails"),
                ([one], [("f", {"break": "x"}, ())], "new break"),
                ([("f", {"break": "x"}, ())], [("f", {"break": "y"}, ())], "new break"),
                ([("f", {"break": "x"}, ())], [("f", {"break": "x"}, ())], None),
                ([one], [one, ("f", {"again": 1}, ())], "recompiles"),
                ([("f", {}, hit)], [("f", {}, miss)], "cache lost"), ([("f", {}, miss)], [("f", {}, hit)], None),
                ([("g", {}, ())], [("g", {}, ()), one], "new"), ([one], [], "gone"), ([one], [one, one], "compiles"),
                ([("f", {"s": 2}, ())], [("f", {"s": 3}, ())], "longer"),
                ([("f", {"s": 2}, ())], [("f", {"s": 2.99}, ())], None),
                ([("f", {"s": 2.1}, ())], [("f", {"s": 3.1}, ())], None)):
            with self.subTest(what):
                self.assertEqual(self.whats(control, test), [("f", what)] if what else [])

    def test_names(self):
        resumed = "torch_dynamo_resume_in_f_at_"
        self.assertEqual(self.whats([(resumed + "7", {}, ())], [(resumed + "8", {}, ())]), [])
        self.assertEqual(self.whats([(resumed + "7", {}, ())], []), [(resumed + "N", "gone")])

    def test_a_log_that_is_cut_off(self):
        self.write_side("control", ("f", {}, ()))
        with open(f"control/{LOG}", "rb") as file:
            content = gzip.compress(file.read())
        write("test/dedicated_log_torch_trace_a.log.gz.cut", b"")
        with open("test/dedicated_log_torch_trace_a.log.gz", "wb") as file:
            file.write(content[:-20])
        with self.assertRaisesRegex(sqlite3.OperationalError, "dedicated_log_torch_trace_a.log.gz' is cut off"):
            self.rows("SELECT * FROM compile_diff('control', 'test')")


class Answer(Compile):
    """Answers of trace_summary and others (CL12, CL13)."""

    def side(self, path, *steps):
        """A side; each step is (ms in an operator, ms in the compiler)."""
        events, at = [], START
        for number, (own, compiling) in enumerate(((1, 0), *steps, (1, 0))):
            begin = at
            events.append(event("op", at, 1000 * own, pid=1))
            at += 1000 * own
            if compiling:
                events += [event("dynamo", at, 1000 * compiling, pid=1),
                           event("a_data: compile_id=0/1", at + 1, 1, pid=1),
                           event("aten::mm", at + 3, 1, pid=1), event("f (dynamo_timed)", at + 2, 5, pid=1)]
                at += 1000 * compiling
            events.append(event(f"ProfilerStep#{number}", begin, at - begin, cat="user_annotation", pid=1))
        write(f"{path}/rank0.json", document(*events))

    def lines(self, control, test, columns="kind, text"):
        self.side("control", *control)
        self.side("test", *test)
        return self.rows(f"SELECT {columns} FROM trace_summary('control', 'test')")

    def verdict(self, control, test):
        """Whether the verdict mentions compilations."""
        lines = self.lines(control, test)
        return "compile" in lines[0][1]

    def left_out(self):
        return self.value("SELECT coalesce(json_array_length(test_left_out), 0) FROM trace_verdict('control', 'test')")

    def test_the_class(self):
        """CL12: all time in the compiler has one class and one name."""
        self.side("a", (2, 3))
        self.assertEqual(self.rows("SELECT class, name, round(time) FROM trace_step_time('a') ORDER BY class"),
                         [("compile", "dynamo", 3000.0), ("host", "op", 2000.0)])

    def test_lines(self):
        """CL13.2 to CL13.4: lines of the answer."""
        found = self.lines([(2, 0)] * 4, [(2, 0), (2, 0), (2, 198), (2, 0)])
        self.assertEqual(found[0], ("verdict", "test is slower here: 1 of 4 steps recompiles: 2.0 -> 51.5 ms per step, "
                                    "+49.5 ms (x 26)"))
        self.assertIn(("compiled", "the steps that do not compile: 2.00 -> 2.00 ms"), found)
        self.assertEqual([text.split("compile ")[-1].strip() for kind, text in found if kind == "cause"],
                         ["compiled code of frame 0 recompiled in step 3"])
        self.assertEqual(found[-1], ("hint", "hint: a log names the function and the guard: TORCH_TRACE=folder"))
        self.assertEqual([text for kind, text in found if kind == "caution"], [])
        self.assertEqual(self.lines([(2, 198)] + [(2, 0)] * 3, [(2, 0)] * 4)[0][1], "test is faster here: 1 of 4 steps"
                         " recompiles in control: 51.5 -> 2.0 ms per step, -49.5 ms (-96 %)")

    def test_the_log_is_found(self):
        """CL13.3 to CL13.5: the log is found."""
        log = Log(1, pid=1)
        same = {"frame_id": 0, "frame_compile_id": 1}
        log.us = int(START) + 10**9
        log.event(same, "dynamo", "B")
        log.artifact(same, "recompile_reasons", "0/0: L['k'] == 7")
        log.artifact(same, "dynamo_graph_break_reason", "Graph break in user code at /a/b.py:3\nReason: why\n")
        log.record({"compilation_metrics": {"co_name": "many", "co_filename": "/a/b.py", "co_firstlineno": 1}, **same})
        log.event(same, "dynamo", "E")
        self.write_log(*log.parts, name=f"test/{LOG}")
        control, test = [(2, 0)] * 4, [(2, 0), (2, 198), (2, 0), (2, 0)]
        found = self.lines(control, test)
        self.assertIn("many (b.py:1) recompiled in step 2: k == 7", " ".join(text for _, text in found))
        self.assertEqual(found[-1], ("log", "log: new graph break in many at a/b.py:3: why"))
        without = self.rows("SELECT kind FROM trace_summary('control', 'test') WHERE test_log = ''")
        self.assertEqual(without[-1], ("hint",))
        self.write_log(*log.parts, b"noise\n", name=f"test/{LOG}")
        self.assertIn(("caution", "caution: test: the log of the compiler is damaged: line is not a record (1)"),
                      self.lines(control, test))

    def test_no_outlier(self):
        """CL13.1: a step that compiles is not an outlier."""
        self.side("control", *[(2, 0)] * 4)
        for compiling, left_out in ((0, 1), (198, 0)):
            self.side("test", (2, 0), (200 - compiling, compiling), (2, 0), (2, 0))
            self.assertEqual(self.left_out(), left_out)

    def test_a_tenth_of_a_step(self):
        """CL12: COMPILE_PART applies per step; the other steps keep the verdict."""
        for own, named in ((90, 1), (90.2, 0)):
            self.side("test", (own, 10), (10, 0), (10, 0), (10, 0))
            self.side("control", *[(10, 0)] * 4)
            self.assertEqual(self.left_out(), 1 - named)

    def test_a_millisecond(self):
        """CL12: COMPILE_LEAST_NS is a millisecond."""
        self.side("control", *[(0.1, 0)] * 4)
        for compiling, left_out in ((1, 0), (0.998, 1)):
            self.side("test", (0.1, compiling), *[(0.1, 0)] * 3)
            self.assertEqual(self.left_out(), left_out)

    def test_half_of_the_difference(self):
        """CL13.2: COMPILE_OF_DIFF is half of the difference."""
        self.assertTrue(self.verdict([(2, 0)] * 4, [(42, 41), (2, 0), (2, 0), (2, 0)]))
        self.assertFalse(self.verdict([(2, 0)] * 4, [(43, 40), (2, 0), (2, 0), (2, 0)]))

    def test_a_tenth_of_the_mean(self):
        """CL13.2: COMPILE_OF_STEP is a tenth of the mean."""
        self.assertTrue(self.verdict([(100, 0)] * 4, [(100, 45), (100, 0), (100, 0), (100, 0)]))
        self.assertFalse(self.verdict([(100, 0)] * 4, [(100, 44), (100, 0), (100, 0), (100, 0)]))
