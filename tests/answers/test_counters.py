"""Counters of trace_counter_events in a trace, and CUPTI counters."""
import csv
import glob
import json
import math
import os
import random
import re
import subprocess
import sys
import unittest

import generate_counters
import hta
import oracle
import oracle_stacks
from generate_joins import KERNELS, STEPS
from hta_load import RIGHT
from made import InFolder, document, event, kernel, launch, step, write
from support import EXAMPLES, ROOT, alone, connect, corpus, golden, slow
from test_nsys_cost import SLACK, fastest

GPU = os.path.join(EXAMPLES, "gpu", "test")


def recipe(trace, ranks):
    """The query of HTA.md that writes a trace with counters, without the writing."""
    with open(os.path.join(ROOT, "sql", "HTA.md"), encoding="utf-8") as file:
        block = next(block for block in re.findall(r"```sql\n(.*?)```", file.read(), re.S)
                     if "trace_counter_events" in block)
    sql = re.sub(r"writefile\('[^']*', (.*)\) > 0 AS written", r"\1 AS text", block, flags=re.S)
    assert sql != block
    return sql.replace("'examples/gpu/test'", f"'{trace}'").replace(", 0)", f", {ranks})")


class OfSeries(InFolder):
    def assert_of_series(self, trace, call=""):
        found = self.db.execute(f"SELECT rank, ph, name, stream, pid, ts, args FROM trace_counter_events(?{call})",
                                (trace,)).fetchall()
        wanted = [(rank, "C", "Queue Length", stream, pid, ts, {"Queue Length": length})
                  for rank, stream, pid, ts, length in
                  self.db.execute(f"SELECT rank, stream, pid, ts, queue_length FROM queue_length_time_series(?{call})",
                                  (trace,))]
        wanted += [(rank, "C", name, None, pid, ts, {"Memcpy BW": gbps}) for rank, name, pid, ts, gbps in
                   self.db.execute(f"SELECT rank, name, pid, ts, memory_bw_gbps FROM memory_bw_time_series(?{call})",
                                   (trace,))]
        found = [(*row[:-1], json.loads(row[-1])) for row in found]
        self.assertEqual([row[:-1] for row in found], [row[:-1] for row in sorted(wanted, key=lambda row: row[0])])
        for row, other in zip(found, sorted(wanted, key=lambda row: row[0])):
            (key, value), = row[-1].items()
            self.assertAlmostEqual(value, other[-1][key], 9)
        return len(found)

    def test_every_row_is_one_of_the_series_in_its_place(self):
        for call in ("", ", 0", ", '[1,0]'", ", NULL, 1"):
            self.assertGreater(self.assert_of_series(GPU, call), 100)

    def test_points_at_one_time_stay_in_order(self):
        """Points at one time stay in order: two launches and a start at 10 give 1, 2, 1, not 0, 1, 2."""
        events = [launch(10, 1, 1), launch(10, 1, 2), kernel("k", 10, 5, 1), kernel("k", 20, 5, 2)]
        for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
            write("trace.json", document(*(events[i] for i in order)))
            self.assertEqual(self.db.execute("SELECT args ->> '$.\"Queue Length\"'"
                                             " FROM trace_counter_events('trace.json')").fetchall(),
                             [(1,), (2,), (1,), (0,)])
            self.assert_of_series("trace.json")


class Golden(unittest.TestCase):
    @staticmethod
    def last(rows):
        """The last value at each time; HTA leaves open which of several comes last."""
        return {row[:-1]: row[-1] for row in rows}

    def compare(self, folder, path):
        """Rows that only tracediff has, and rows that only HTA has."""
        trace, db = corpus("hta", *path.split("/")), connect()
        origins = dict(db.execute("SELECT rank, min(ts_ns - CAST(round(ts * 1000) AS INTEGER)) FROM trace_events(?)"
                                  " WHERE ts IS NOT NULL GROUP BY rank", (trace,)))
        found = self.last((name, number, pid, (origins[rank] + round(ts * 1000)) / 1000, round(value, 6))
                          for rank, name, number, pid, ts, value in db.execute(
                              "SELECT rank, name, stream, pid, ts, coalesce(args ->> '$.\"Queue Length\"', args ->>"
                              " '$.\"Memcpy BW\"')"
                              " FROM trace_counter_events(?)", (trace,)))
        with open(golden(folder, "generate_trace_with_counters.csv"), newline="", encoding="utf-8") as file:
            expected = self.last((row["name"], int(float(row["id"])) if row["id"] else None, int(row["pid"]),
                                  float(row["ts"]),
                                  round(next(iter(json.loads(row["args"]).values())), 6))
                                  for row in csv.DictReader(file))
        self.assertGreater(len(expected), 1)
        return set(found.items()) - set(expected.items()), set(expected.items()) - set(found.items())

    def test_are_htas_where_no_difference_is(self):
        for folder, path in (("critical_path_simple_add", "critical_path/simple_add"),
                             ("trace_filter_2ranks", "trace_filter")):
            self.assertEqual(self.compare(folder, path), (set(), set()))

    def test_copies_without_a_launch_are_only_here(self):
        """D41: copies without a launch are the only rows that HTA lacks."""
        for side in ("base", "test"):
            more, fewer = self.compare(f"trace_compare_{side}", f"trace_compare/{side}")
            self.assertEqual({key[0] for key, _ in more}, {"Memcpy HtoD", "Memcpy DtoD", "Memset"})
            self.assertEqual(fewer, set())


class WithCounters(InFolder):
    """The trace that the query of HTA.md writes."""

    COLUMNS = "cat, name, pid, tid, ts, dur, iteration, device"

    def round_trip(self, trace, rank):
        text, = self.db.execute(recipe(trace, rank)).fetchone()
        made = json.loads(text)["traceEvents"]
        write("written.json", text)
        both = [self.db.execute(f"SELECT {self.COLUMNS}, args FROM trace_events(?, ?) ORDER BY ts, cat, name, dur",
                                call).fetchall()
                for call in ((trace, rank), ("written.json", None))]
        return made, both

    def test_has_the_events_the_links_and_the_counters(self):
        for trace, rank in [(GPU, 1),
                            *((path, 0) for path in glob.glob(os.path.join(EXAMPLES, "serving", "test", "*")))]:
            made, (before, after) = self.round_trip(trace, rank)
            self.assertGreater(len(before), 50)
            self.assertEqual([row[:-1] for row in after], [row[:-1] for row in before])
            for old, new in zip(before, after):
                self.assertEqual(json.loads(new[-1] or "{}"), json.loads(old[-1] or "{}"))
            counters = self.db.execute(f"SELECT name, stream, pid, ts, args FROM trace_counter_events(?, {rank})",
                                       (trace,)).fetchall()
            self.assertGreater(len(counters), 10)
            self.assertEqual([(each["name"], each.get("id"), each["pid"], each["ts"], each["args"]) for each in made
                              if each["ph"] == "C"], [(*row[:-1], json.loads(row[-1])) for row in counters])
            self.assertFalse([each for each in made if None in each.values()])
            starts = {(each["ph"], each["id"], each["ts"]) for each in made if each["ph"] in "sf"}
            linked = self.db.execute(f"SELECT device, correlation, ts FROM trace_events(?, {rank})"
                                     f" WHERE link IS NOT NULL", (trace,))
            self.assertEqual(starts, {("s" if device == "CPU" else "f", correlation, ts)
                                      for device, correlation, ts in linked})

    def test_what_is_null_is_left_out(self):
        """NULL columns are left out: of an event without category and args, of a B with its E, and of an instant."""
        write("trace.json", document({"ph": "X", "name": "x", "pid": 1, "tid": 1, "ts": 5, "dur": 1},
                                     {"ph": "B", "name": "b", "pid": 1, "tid": 1, "ts": 7},
                                     {"ph": "i", "name": "i", "pid": 1, "tid": 1, "ts": 8},
                                     {"ph": "E", "pid": 1, "tid": 1, "ts": 9}, event("op", 11, 1, args={"a": [None]})))
        text, = self.db.execute(recipe("trace.json", 0)).fetchone()
        self.assertEqual(json.loads(text)["traceEvents"], [
            {"ph": "X", "name": "x", "pid": 1, "tid": 1, "ts": 0.0, "dur": 1.0},
            {"ph": "X", "name": "b", "pid": 1, "tid": 1, "ts": 2.0, "dur": 2.0},
            {"ph": "i", "name": "i", "pid": 1, "tid": 1, "ts": 3.0},
            {"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": 6.0, "dur": 1.0,
             "args": {"a": [None]}}])


def of_cupti(name, ts, dur=5, **counters):
    return event(name, ts, dur, cat="cuda_profiler_range", pid=0, tid=0, args=counters)


def random_run(rng):
    """Two threads with nested operators and launches, some inside driver calls; push and pop of ranges mostly
    balance.
    """
    events, count = [step(number, 1000 * number, rng.choice((900, 1000))) for number in range(rng.randrange(4))], 0
    for tid in (1, 2):
        for _ in range(rng.randrange(2, 7)):
            at = rng.randrange(0, 3000, 20) + tid     # the threads never launch at the same time
            for depth in range(rng.randrange(4)):
                events.append(event(rng.choice(("op", "aten::x", 'say "x"')), at + depth, 60 - 2 * depth, tid=tid,
                                    cat=rng.choice(("cpu_op", "cpu_op", "Operator", "user_annotation",
                                                    "python_function"))))
            if rng.random() < 0.8:
                cat, name = rng.choice((("cuda_runtime", "cudaLaunchKernel"), ("cuda_driver", "cuLaunchKernelEx"),
                                        ("hip_runtime", "hipExtModuleLaunchKernel"),
                                        ("cuda_runtime", "cudaMemcpyAsync")))
                if not any(other["ts"] == at + 5 for other in events):
                    events.append(event(name, at + 5, 9, tid=tid, cat=cat, args={"correlation": len(events)}))
                    count += "Kernel" in name
                    if cat == "cuda_runtime":
                        events.append(event("cuLaunchKernel", at + 6, 3, tid=tid, cat="cuda_driver"))
                        count += "Kernel" not in name
    count += rng.choice((0, 0, 0, 0, -1, 1))
    events += [of_cupti(f"k{place}", place * 40, value=place) for place in range(count)]
    rng.shuffle(events)
    return events


class Cupti(InFolder):
    COLUMNS = "rank, iteration, name, op, top_op, op_stack, counters, ts, dur, launch, event"

    def found(self, path, *arguments):
        marks = "".join(", ?" for _ in arguments)
        return self.db.execute(f"SELECT {self.COLUMNS} FROM cupti_counters(?{marks})", (path, *arguments)).fetchall()

    def expected(self, path, events):
        """The rules, implemented again; with the last step, up to its end (T13)."""
        trace = oracle.read_trace(path)
        rows, steps = trace.rows, sorted(trace.steps, key=lambda step: step.ts_ns)
        until = steps[-1].ts_ns + steps[-1].dur_ns if len(steps) > 1 else math.inf
        places, by_event = oracle_stacks.stacks(rows), {row.event: row for row in rows}
        calls = {row.event for row in rows if oracle.is_call(row) and re.search("Launch.*Kernel", row.name)}
        launches = sorted((by_event[event] for event in calls if places[path, event].parent not in calls),
                          key=lambda row: (row.ts_ns, row.event))
        ranges = sorted((row for row in rows if row.cat == "cuda_profiler_range"),
                        key=lambda row: (row.ts_ns, row.event))
        made = []
        for place, row in enumerate(ranges):
            launch, stack, iteration = None, [], None
            if len(ranges) == len(launches):
                launch, iteration = launches[place].event, launches[place].iteration
                up = places[path, launch].parent
                while up is not None:
                    stack[:0] = [by_event[up].name] if by_event[up].cat in ("cpu_op", "Operator") else []
                    up = places[path, up].parent
            first, last = (stack[0], stack[-1]) if stack else (None, None)
            if (row if launch is None else launches[place]).ts_ns > until:
                continue
            made.append((row.rank, iteration, row.name, last, first, None if launch is None else stack,
                         events[row.event]["args"], row.ts_relative_ns / 1000, row.dur_ns / 1000, launch, row.event))
        return made

    @staticmethod
    def parsed(rows):
        return [(*row[:5], row[5] and json.loads(row[5]), json.loads(row[6]), *row[7:]) for row in rows]

    def test_random_runs_are_as_the_rules_say(self):
        rng, paired = random.Random(5), 0
        for _ in range(60):
            events = random_run(rng)
            path = write("run.json", document(*events))
            found = self.parsed(self.found(path, None, 1))
            self.assertEqual(found, self.expected(path, events))
            paired += any(row[3] for row in found)
            wanted = hta.cupti_counters(hta.load(path, RIGHT))       # without the last step
            self.assertEqual([dict(zip(("rank", "name", "op", "top_op", "op_stack"), (*row[:1], *row[2:6])))
                              for row in self.parsed(self.found(path))],
                             [{key: row[key] for key in ("rank", "name", "op", "top_op", "op_stack")}
                              for row in wanted])
        self.assertGreater(paired, 20)

    def test_where_no_difference_is_they_are_htas(self):
        """Where no difference applies, the counters equal HTA's: operators throughout, one kind of launch call, all
        steps.
        """
        compared = 0
        for seed in range(40):
            rng, events = random.Random(seed), [event("first", 0, 1, args={})]
            for place in range(rng.randrange(1, 5)):
                depth = rng.randrange(1, 4)
                events += [event(f"op{rng.randrange(3)}", 100 * place + 10 + at, 80 - 2 * at) for at in range(depth)]
                events.append(launch(100 * place + 10 + depth, 5, place + 1))
                events.append(of_cupti(f"k{place}", 30 * place + 7))
            rng.shuffle(events)
            path = write("run.json", document(*events))
            wanted = hta.cupti_counters(hta.load(path))
            compared += len(wanted)
            self.assertEqual([dict(zip(("rank", "name", "op", "top_op", "op_stack"), (*row[:1], *row[2:6])))
                              for row in self.parsed(self.found(path))],
                             [{key: row[key] for key in ("rank", "name", "op", "top_op", "op_stack")}
                              for row in wanted])
        self.assertGreater(compared, 50)

    def test_what_does_not_matter(self):
        """Other times, processes and correlations, and another order of events do not matter."""
        for seed in range(10):
            rng = random.Random(seed)
            events = random_run(rng)
            changed = [{**each, "ts": each["ts"] + 12345, "pid": each["pid"] + 40, "tid": each["tid"] + 7,
                        **({"args": {"correlation": each["args"]["correlation"] + 9}}
                           if "correlation" in each.get("args", ()) else {})}
                       for each in events]
            rng.shuffle(changed)
            both = [[row[:9] for row in self.found(write(name, document(*made)))]
                    for name, made in (("a.json", events), ("b.json", changed))]
            self.assertEqual(*both)

    def test_example_is_what_is_planted(self):
        done = subprocess.run([sys.executable, os.path.join(ROOT, "tests", "generators", "generate_counters.py"),
                               "--check"], capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = self.parsed(self.found(os.path.join(EXAMPLES, "counters"), None, 1))
        self.assertEqual(len(rows), len(KERNELS) * len(STEPS))
        for place, row in enumerate(rows):
            number, name = place // len(KERNELS), list(KERNELS)[place % len(KERNELS)]
            operators = [each for each in KERNELS[name][0] if not each.startswith("Optimizer")]
            self.assertEqual(row[1:7], (STEPS[number], "__missing__" if row[2] == "__missing__" else name,
                                        operators[-1], operators[0],
                                        operators, generate_counters.counters(name, number)))
        self.assertEqual(sum(row[2] == "__missing__" for row in rows), 1)
        self.assertEqual(rows[:-len(KERNELS)], self.parsed(self.found(os.path.join(EXAMPLES, "counters"))))

    def test_more_ranges_than_launches_have_no_operators(self):
        ranges = [of_cupti("a", 1, n=1), of_cupti("b", 2, n=2)]
        write("run.json", document(event("op", 0, 50), launch(5, 1, 1), *ranges))
        self.assertEqual([(row[2:6], json.loads(row[6]), row[9]) for row in self.found("run.json")],
                         [(("a", None, None, None), {"n": 1}, None), (("b", None, None, None), {"n": 2}, None)])

    def test_a_launch_in_no_operator(self):
        write("run.json", document(launch(5, 1, 1), of_cupti("a", 1, n=1)))
        self.assertEqual([(row[2:6], row[9]) for row in self.found("run.json")], [(("a", None, None, "[]"), 0)])

    def test_files_are_paired_each_by_itself(self):
        for rank, op in enumerate(("mm", "add")):
            write(f"run/rank{rank}.json",
                  document(event(op, 0, 50), launch(5, 1, 1), of_cupti("k", 900 - rank, n=rank)))
        self.assertEqual([(row[0], row[3], json.loads(row[6])) for row in self.found("run")],
                         [(0, "mm", {"n": 0}), (1, "add", {"n": 1})])
        self.assertEqual([row[3] for row in self.found("run", 1)], ["add"])

    def test_four_times_the_launches_take_four_times_the_steps(self):
        steps = []
        for size in (200, 800):
            path = write(f"{size}.json", document(*(one for place in range(size) for one in (
                event("outer", 100 * place, 90), event("op", 100 * place + 1, 50),
                launch(100 * place + 5, 9, place + 1),
                event("cuLaunchKernel", 100 * place + 6, 3, cat="cuda_driver"), of_cupti("k", 90 * place)))))
            self.assertEqual(len(self.found(path)), size)
            steps.append(0)
            self.db.set_progress_handler(lambda: steps.append(steps.pop() + 1), 100)
            self.found(path)
            self.db.set_progress_handler(None, 0)
        self.assertGreater(steps[0], 100)
        self.assertLess(steps[1], 5 * steps[0])

    @alone
    @slow
    def test_deep_stacks_take_no_longer_than_shallow_ones_with_as_many_operators(self):
        works = []
        for depth, launches in ((100, 1600), (1600, 100)):
            operators = [event(f"aten::operator_{at}", at, 20_000 - at) for at in range(depth)]
            path = write(f"{depth}.json", document(*operators, *(one for place in range(launches) for one in (
                launch(2000 + 10 * place, 5, place + 1), of_cupti("k", 10 * place)))))
            works.append(lambda path=path: self.found(path))
            self.assertEqual({tuple(row[5]) for row in self.parsed(works[-1]())},
                             {tuple(each["name"] for each in operators)})
        shallow, deep = fastest(*works, times=3)
        self.assertLess(deep, 2 * shallow * SLACK)

    def test_a_trace_without_ranges_has_no_rows(self):
        self.assertEqual(self.found(GPU), [])


if __name__ == "__main__":
    unittest.main()
