"""Steps by annotation (T20 to T23), their phases and strata, and comparing like with like (A13): recorded answers
(GOLDEN), and a named case for each rule. test_serving_oracle has random traces, test_replays replayed graphs.
"""
import csv
import json
import math
import os
import unittest
from collections import Counter, defaultdict
from fractions import Fraction

from made import ABSENT, InFolder, document, event, kernel, launch, step, write
from support import EXAMPLES, connect, corpus, golden, slow

FORMS = "name, phase, batch_size, padded_size, tokens, stratum"
STEPS = f"SELECT iteration, ts, dur, {FORMS} FROM trace_steps(?, ?) ORDER BY rank, iteration"
ITERATED = ("iterations", "control_iteration", "test_iteration")
PAIRS = (("hta/trace_diff/control", "hta/trace_diff/test"), ("kineto/resnet50_workers_0", "kineto/resnet50_workers_4"),
         ("own/torch/control", "own/torch/test"), ("serving/control", "serving/test"),
         ("serving/cut.json.gz", "serving/test"), ("own/torch/control", "serving/control"))


def note(name, ts, dur, **fields):
    return event(name, ts, dur, **{"cat": "user_annotation", **fields})


def decode(size, ts, dur, **fields):
    return note(f"step[DECODE bs={size}]", ts, dur, **fields)


def read_golden(name):
    with open(golden("serving", name), newline="", encoding="utf-8") as lines:
        return [{key: value or None for key, value in row.items()} for row in csv.DictReader(lines)]


def corpus_of(trace):
    """The path of the trace that a golden file names."""
    if trace.startswith("made/"):
        return corpus("serving", *(["cut.json.gz"] if trace == "made/cut" else trace.split("/")[1:]))
    if trace == "param/worker1":
        return os.path.join(corpus("param"), "worker1_*")
    if trace.endswith("/bert"):
        return os.path.join(corpus(trace[:-len("/bert")]), "gaunernst*")
    return corpus(*trace.split("/"))


class Golden(InFolder):
    """Files golden/serving/*.csv match to the nanosecond."""

    def test_parse(self):
        """Every name is parsed as a step of its own."""
        rows = read_golden("parse.csv")
        self.assertGreater(len(rows), 40)
        write("a.json", document(*(note(row["name"], 10 * at, 5) for at, row in enumerate(rows))))
        found = self.rows(STEPS, "a.json", "%")
        self.assertEqual([tuple(None if value is None else str(value) for value in row[3:]) for row in found],
                         [tuple(row.values()) for row in rows])

    def test_only_the_forms_are_known(self):
        rows = read_golden("parse.csv")
        known = [row["name"] for row in rows if row["phase"] or row["name"] == "scheduler.run_batch"]
        write("a.json", document(*(note(row["name"], 10 * at, 5) for at, row in enumerate(rows))))
        self.assertEqual([row[3] for row in self.rows(STEPS, "a.json", None)], known)

    def test_bucket(self):
        rows = read_golden("bucket.csv")
        self.assertGreater(len(rows), 80)
        write("a.json", document(*(decode(row["x"], 10 * at, 5) for at, row in enumerate(rows))))
        self.assertEqual([row[3:] for row in self.rows(STEPS, "a.json", None)],
                         [(f"step[DECODE bs={row['x']}]", "decode", int(row["x"]), None, int(row["x"]),
                           f"decode {row['bucket']}") for row in rows])

    def test_steps(self):
        traces, checked = defaultdict(list), 0
        for row in read_golden("steps.csv"):
            traces[row["trace"], row["steps"]].append(row)
        for (trace, steps), rows in traces.items():
            path = corpus_of(trace)
            with self.subTest(trace, steps=steps):
                found = self.rows(f"SELECT iteration, {FORMS}, ts_ns, ts_ns + dur_ns FROM trace_steps(?, ?)"
                                  " ORDER BY ts_ns", path, steps)
                self.assertEqual([tuple(None if value is None else str(value) for value in row) for row in found],
                                 [tuple(row.values())[2:11] for row in rows])
                for clock, start, end in (("device", "window_start_ns", "window_end_ns"),
                                          ("host", "start_ns", "end_ns")):
                    lengths = self.rows("SELECT iteration, sum(time_ns), min(stratum) FROM"
                                        " trace_step_time(?, NULL, 'all', NULL, ?, NULL, ?) GROUP BY 1", path, clock,
                                        steps)
                    self.assertEqual(lengths, [(int(row["number"]), int(row[end]) - int(row[start]), row["stratum"])
                                               for row in rows])
                work = dict(self.rows("SELECT iteration, count(*) FROM trace_kernel_owners(?, NULL, 'all', NULL, ?)"
                                      " WHERE dur > 0 GROUP BY 1", path, steps))
                self.assertEqual([work.get(int(row["number"]), 0) for row in rows],
                                 [int(row["device_work"]) for row in rows])
                checked += 1
        self.assertEqual(checked, 12)

    def test_step_time(self):
        """By trace and level, the sum and the 25 largest parts over the steady steps match."""
        expected, checked = defaultdict(list), 0
        for row in read_golden("step_time.csv"):
            expected[row["trace"], row["level"]].append((row["class"], row["name"], int(row["time_ns"])))
        for (trace, level), rows in expected.items():
            with self.subTest(trace, level=level):
                found = self.rows("SELECT class, name, sum(time_ns) AS ns FROM trace_step_time(?, NULL, NULL, ?)"
                                  " GROUP BY 1, 2 ORDER BY ns DESC", corpus_of(trace), level)
                self.assertEqual((None, None, sum(row[2] for row in found)), rows[0])
                self.assertEqual(Counter(row[2] for row in found[:25]), Counter(row[2] for row in rows[1:]))
                least = min(row[2] for row in rows[1:])
                self.assertEqual({row for row in found if row[2] > least}, {row for row in rows[1:] if row[2] > least})
                checked += 1
        self.assertEqual(checked, 16)

    def test_replays(self):
        expected, checked = defaultdict(list), 0
        for row in read_golden("replays.csv"):
            expected[row["trace"]].append((int(row["launch_event"]), int(row["kernels"]), int(row["time_ns"]),
                                           row["first"], row["last"]))
        for trace, rows in expected.items():
            with self.subTest(trace):
                found = self.rows("""
                    WITH work AS (SELECT file, launch, name, dur, graph_position,
                                         max(graph_position) OVER (PARTITION BY file, launch) AS last
                                  FROM trace_kernel_owners(?, 'all', 'all') WHERE graph_position IS NOT NULL)
                    SELECT launch, count(DISTINCT graph_position), CAST(round(sum(work.dur) * 1000) AS INTEGER),
                           substr(max(name) FILTER (WHERE graph_position = 0), 1, 80),
                           substr(max(name) FILTER (WHERE graph_position = last), 1, 80)
                    FROM work GROUP BY file, launch""", corpus_of(trace))
                self.assertEqual(set(found), set(rows))
                self.assertEqual(len(found), len(rows))
                checked += 1
        self.assertEqual(checked, 4)

    def test_made_diff(self):
        """The rationals match exactly."""
        expected = defaultdict(dict)
        for row in read_golden("made_diff.csv"):
            values = [Fraction(row[key]) for key in ("control_ns", "test_ns", "diff_within_ns", "diff_mix_ns")]
            expected[row["iterations"]][row["class"], row["name"]] = values
        control, test = corpus_of("made/control"), corpus_of("made/test")
        for iterations, parts in expected.items():
            rows = self.rows("SELECT class, name, control_ns, control_steps, test_ns, test_steps, diff_within,"
                             " diff_mix, diff_time FROM trace_step_diff(?, ?, NULL, NULL, ?, ?)", control, test,
                             iterations, iterations)
            with self.subTest(iterations):
                self.assertEqual({row[:2] for row in rows}, set(parts))
                self.assertEqual(len(rows), len(parts))
                for class_, name, control_ns, control_steps, test_ns, test_steps, within, mix, change in rows:
                    wanted = parts[class_, name]
                    self.assertEqual([Fraction(control_ns, control_steps), Fraction(test_ns, test_steps)], wanted[:2])
                    for found, exact in zip((within, mix, change), (*wanted[2:], wanted[1] - wanted[0])):
                        self.assertAlmostEqual(found, float(exact / 1000), delta=1e-6)

    def test_the_example_of_the_rules(self):
        """The planted change is found: attention of decode 32 takes 10 us more in each of 3 layers."""
        rows = self.rows("SELECT name, control_time, test_time, diff_time, diff_within, diff_mix"
                         " FROM trace_step_diff(?, ?)", corpus_of("made/control"), corpus_of("made/test"))
        self.assertEqual([round(sum(row[at] for row in rows), 3) for at in range(1, 6)],
                         [977.167, 974.814, -2.353, 13.217, -15.57])
        within = {row[0]: row[4] for row in rows if abs(row[4]) > 1e-9}
        self.assertEqual(list(within), ["graph: void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128> >"
                                        "(Flash_fwd_params)"])
        self.assertAlmostEqual(sum(within.values()), 30 * (20 / 36 + 14 / 43) / 2, delta=1e-9)


class Steps(InFolder):
    """Which events are steps: T20 and T21."""

    def steps(self, *events, steps=None):
        write("a.json", document(*events))
        return [(row[0], row[3]) for row in self.rows(STEPS, "a.json", steps)]

    def test_more_annotations_than_profiler_steps(self):
        profiler, three = [step(7, 0, 50), step(8, 50, 50)], [decode(size, 10 + 20 * size, 10) for size in (1, 2, 3)]
        named = [(size, f"step[DECODE bs={size + 1}]") for size in range(3)]
        self.assertEqual(self.steps(*profiler, *three), named)
        self.assertEqual(self.steps(*profiler, *three, steps="auto"), named)
        both = [(7, "ProfilerStep#7"), (8, "ProfilerStep#8")]
        self.assertEqual(self.steps(*profiler, *three, steps="profiler"), both)
        self.assertEqual(self.steps(*three, steps="profiler"), [])
        self.assertEqual(self.steps(*profiler, *three[:2]), both)

    def test_profiler_steps_of_one_number_count_once(self):
        twice = [step(7, 0, 50), step(7, 60, 50)]
        self.assertEqual(self.steps(*twice, decode(1, 0, 5), decode(2, 10, 5)),
                         [(0, "step[DECODE bs=1]"), (1, "step[DECODE bs=2]")])

    def test_annotations_are_counted_without_inner_ones_and_other_threads(self):
        inner = [decode(1, 0, 50), decode(2, 5, 5), decode(3, 15, 5), decode(4, 10, 5, tid=2)]
        self.assertEqual(self.steps(step(7, 0, 50), *inner), [(7, "ProfilerStep#7")])

    def test_categories(self):
        for cat in ("user_annotation", "cpu_op", "Operator"):
            self.assertEqual(len(self.steps(decode(1, 0, 5, cat=cat))), 1, cat)
        for cat in ("python_function", "gpu_user_annotation", "kernel", "cuda_runtime", "Trace", ABSENT):
            self.assertEqual(self.steps(decode(1, 0, 5, cat=cat), event("a", 0, 9)), [], cat)

    def test_a_batch_of_the_scheduler_is_known(self):
        self.assertEqual(self.steps(note("scheduler.run_batch", 0, 9), decode(1, 2, 5)), [(0, "scheduler.run_batch")])
        self.assertEqual(self.steps(note("Scheduler.run_batch", 0, 9)), [])

    def test_a_step_has_a_duration(self):
        self.assertEqual(self.steps(decode(1, 0, 0), decode(2, 5, ABSENT), decode(3, 9, 1)), [(0, "step[DECODE bs=3]")])

    def test_the_outermost_wins(self):
        self.assertEqual(self.steps(decode(1, 10, 5), decode(2, 10, 9), decode(3, 19, 1)),
                         [(0, "step[DECODE bs=2]"), (1, "step[DECODE bs=3]")])
        self.assertEqual(self.steps(decode(1, 10, 5), decode(2, 10, 5)), [(0, "step[DECODE bs=1]")])

    def test_inside_one_that_is_no_step_itself(self):
        chain = [decode(1, 0, 10), decode(2, 5, 10), decode(3, 12, 10), decode(4, 22, 1)]
        self.assertEqual(self.steps(*chain), [(0, "step[DECODE bs=1]"), (1, "step[DECODE bs=4]")])

    def test_of_several_threads_the_one_with_most(self):
        other = [decode(1, 0, 5, tid=2), decode(2, 10, 5, tid=2)]
        self.assertEqual(self.steps(*other, decode(3, 1, 2), decode(4, 3, 2), decode(5, 5, 2)),
                         [(number, f"step[DECODE bs={number + 3}]") for number in range(3)])
        nested = [decode(3, 1, 9), decode(4, 3, 2), decode(5, 5, 2)]
        self.assertEqual(self.steps(*other, *nested)[0], (0, "step[DECODE bs=1]"))

    def test_of_threads_with_as_many_the_one_that_starts_first(self):
        for after, first in ((1, 1), (0, 2), (-1, 2)):
            self.assertEqual(self.steps(decode(2, after, 5, tid=2), decode(1, 0, 5)), [(0, f"step[DECODE bs={first}]")])

    def test_processes_are_threads_too(self):
        self.assertEqual(self.steps(decode(1, 0, 5), decode(2, 1, 5, pid=2), decode(3, 7, 5, pid=2)),
                         [(0, "step[DECODE bs=2]"), (1, "step[DECODE bs=3]")])

    def test_a_pattern_takes_any_host_event_but_calls(self):
        events = [event("run_a", 0, 5, cat="python_function"), event("run_b", 10, 5, cat=ABSENT),
                  event("run_c", 20, 5, cat="cuda_runtime"), event("run_d", 30, 5, cat="Trace"),
                  event("run_e", 40, 5, cat="kernel"), event("RUN_F", 50, 5), event("run", 60, 5),
                  event("run_g", 70, 0), event("nn.Module: run_h", 80, 5, cat="python_function")]
        self.assertEqual(self.steps(*events, steps="run_%"), [(0, "run_a"), (1, "run_b"), (2, "RUN_F")])
        self.assertEqual(self.steps(*events, steps="%run__"), [(0, "run_a"), (1, "run_b"), (2, "RUN_F"),
                                                              (3, "nn.Module: run_h")])

    def test_brackets_are_no_pattern(self):
        events = [note("step[DECODE bs=1]", 0, 5), note("stepD", 10, 5), note("step[other", 20, 5)]
        self.assertEqual(self.steps(*events, steps="step[%"), [(0, "step[DECODE bs=1]"), (1, "step[other")])

    def test_several_patterns(self):
        events = [note("execute_a", 0, 5), note("step[b", 10, 5), note("c", 20, 5)]
        self.assertEqual(self.steps(*events, steps='["execute_%","step[%"]'), [(0, "execute_a"), (1, "step[b")])
        self.assertEqual(self.steps(*events, steps='["c"]'), [(0, "c")])
        self.assertEqual(self.steps(*events, steps=' [ "c" ] '), [(0, "c")])

    def test_a_text_that_is_no_array_of_texts_is_a_pattern(self):
        texts = ('["a", 1]', '{"a": 1}', '["a"', '"a"')
        events = [note(text, 10 * at, 5) for at, text in enumerate(("a", *texts))]
        for text in texts:
            self.assertEqual([name for _, name in self.steps(*events, steps=text)], [text])

    def test_profiler_steps_by_pattern_are_numbered_anew(self):
        self.assertEqual(self.steps(step(7, 0, 5), step(9, 10, 5), steps="ProfilerStep%"),
                         [(0, "ProfilerStep#7"), (1, "ProfilerStep#9")])

    def test_no_step_matches(self):
        write("run/rank1.json", document(note("loop", 0, 5)))
        write("run/rank0.json", document(step(7, 0, 5)))
        self.assertEqual(self.rows("SELECT rank, name FROM trace_steps('run', 'loop')"), [(1, "loop")])
        for steps in ("nothing", "[]"):
            self.assert_error(f"trace_steps: the trace has no step: no host event has a name like '{steps}' (argument"
                              f" steps)",
                              "SELECT * FROM trace_steps('run', ?)", steps)
            self.assertEqual(self.value("SELECT count(*) FROM trace_events('run') WHERE steps = ?", steps), 2)
        self.assert_error("trace_step_time: 'run' has no step: no host event has a name like 'loop' (argument steps)",
                          "SELECT * FROM trace_step_time('run') WHERE steps = 'loop'")

    def test_a_pattern_has_at_most_1000_bytes(self):
        """A pattern has at most 1000 bytes, because matching takes the product of its length and the name's, and cannot
        be interrupted.
        """
        write("a.json", document(note("a" * 1001, 0, 5)))
        self.assertEqual(self.value("SELECT count(*) FROM trace_steps('a.json', ?)", "%" + "a" * 999), 1)
        for steps in ("a" * 1001, json.dumps(["x", "a" * 1001])):
            self.assert_error("trace_steps: a pattern of steps has at most 1000 bytes, not 1001",
                              "SELECT * FROM trace_steps('a.json', ?)", steps)

    def test_values_that_are_no_pattern(self):
        write("a.json", document(note("loop", 0, 5)))
        for value, shown in (("", "''"), (5, "5"), (b"\0", "X'00'")):
            self.assert_error("trace_steps: steps must be 'auto', 'profiler', a LIKE pattern or a JSON array of"
                              f" patterns, not {shown}; the arguments are trace, steps",
                              "SELECT * FROM trace_steps('a.json', ?)", value)

    def test_numbers_are_by_start(self):
        self.assertEqual(self.steps(decode(1, 20, 5), decode(2, 0, 5), decode(3, 10, 5)),
                         [(0, "step[DECODE bs=2]"), (1, "step[DECODE bs=3]"), (2, "step[DECODE bs=1]")])

    def write(self, **files):
        for name, events in files.items():
            write(f"run/{name}_rank0.json", document(*events, baseTimeNanoseconds=0))

    def files(self, **files):
        self.write(**files)
        return [(row[0], row[3]) for row in self.rows(STEPS, "run", None)]

    def test_numbers_go_on_over_the_files_of_a_rank(self):
        self.assertEqual(self.files(a=[decode(1, 100, 5), decode(2, 110, 5)], b=[decode(3, 0, 5), decode(4, 10, 90)],
                                    c=[decode(5, 200, 1)]),
                         [(0, "step[DECODE bs=3]"), (1, "step[DECODE bs=4]"), (2, "step[DECODE bs=1]"),
                          (3, "step[DECODE bs=2]"), (4, "step[DECODE bs=5]")])
        found = self.rows("SELECT iteration FROM trace_events('run') ORDER BY file, event")
        self.assertEqual([row[0] for row in found], [2, 3, 0, 1, 4])

    def test_each_rank_counts_for_itself(self):
        for rank in (0, 1):
            write(f"run/rank{rank}.json", document(decode(1, 10 * rank, 5), decode(2, 10 * rank + 5, 5)))
        self.assertEqual(self.rows("SELECT rank, iteration FROM trace_steps('run') ORDER BY 1, 2"),
                         [(0, 0), (0, 1), (1, 0), (1, 1)])

    def test_files_of_a_rank_that_overlap_are_an_error(self):
        self.write(a=[decode(1, 0, 5), decode(2, 10, 5)], b=[decode(3, 14, 5)])
        for function in ("trace_steps", "trace_step_time", "trace_kernel_owners"):
            self.assert_error(f"{function}: 'run/a_rank0.json' and 'run/b_rank0.json' are both of rank 0, and their"
                              " steps overlap in time: leave one of them out", f"SELECT * FROM {function}('run')")
        self.assertEqual(self.value("SELECT count(*) FROM trace_events('run')"), 3)
        self.assertEqual(self.value("SELECT count(*) FROM trace_files('run')"), 2)

    def test_a_file_of_a_rank_without_steps_is_an_error(self):
        self.write(a=[decode(1, 0, 5)], b=[event("x", 10, 5)])
        self.assert_error("trace_steps: 'run/b_rank0.json' and 'run/a_rank0.json' are both of rank 0, but the first has"
                          " no steps: leave one of them out", "SELECT * FROM trace_steps('run')")


class Reach(InFolder):
    """The extent of a step: T20.6, and T11 to T13."""

    EVENTS = (event("before", 0, 5), decode(1, 10, 10), launch(12, 1, 1), kernel("k1", 40, 10, 1),
              event("sample", 25, 3), launch(26, 1, 2), kernel("k2", 55, 5, 2), decode(1, 30, 10), launch(32, 1, 3),
              kernel("k3", 60, 5, 3), decode(2, 50, 10), launch(52, 1, 4), kernel("k4", 70, 5, 4),
              event("after", 60, 5), launch(61, 1, 5), kernel("k5", 80, 5, 5),
              note("step[DECODE bs=1]", 40, 3, cat="gpu_user_annotation", pid=0, tid=7))

    def setUp(self):
        super().setUp()
        write("a.json", document(*self.EVENTS))

    def test_a_step_reaches_to_the_next(self):
        found = dict(self.rows("SELECT name, iteration FROM trace_events('a.json') WHERE cat IN ('cpu_op', 'kernel')"))
        self.assertEqual(found, {"before": None, "k1": 0, "sample": 0, "k2": 0, "k3": 1, "k4": 2, "after": None,
                                 "k5": None})

    def test_its_duration_is_the_event_s(self):
        self.assertEqual(self.rows("SELECT iteration, ts, dur, ts_ns, dur_ns FROM trace_steps('a.json')"),
                         [(0, 10, 10, 10_000, 10_000), (1, 30, 10, 30_000, 10_000), (2, 50, 10, 50_000, 10_000)])

    def test_an_annotation_of_the_device(self):
        """Without an External id, a device annotation is in the step of the work that starts in it."""
        self.assertEqual(self.rows("SELECT iteration FROM trace_events('a.json') WHERE cat = 'gpu_user_annotation'"),
                         [(0,)])

    def test_an_annotation_of_the_device_that_is_named_for_a_profiler_step(self):
        """The number of a device annotation named after a profiler step is not one of these steps."""
        write("a.json", document(*self.EVENTS, note("ProfilerStep#0", 60, 5, cat="gpu_user_annotation", pid=0, tid=7)))
        named = "SELECT iteration FROM trace_events('a.json') WHERE name = 'ProfilerStep#0'"
        self.assertEqual(self.rows(named), [(1,)])
        self.assertEqual(self.rows(f"{named} AND steps = 'profiler'"), [(0,)])

    def windows(self, clock):
        return self.rows("SELECT iteration, sum(time) FROM trace_step_time('a.json', NULL, 'all', NULL, ?) GROUP BY 1",
                         clock)

    def test_windows(self):
        self.assertEqual(self.windows("device"), [(0, 50), (1, 5), (2, 10)])
        self.assertEqual(self.windows("host"), [(0, 20), (1, 20), (2, 10)])

    def test_the_step_is_no_label(self):
        owner = "SELECT name, op, annotation FROM trace_kernel_owners('a.json', 0, 'all') WHERE name IN ('k1', 'k2')"
        self.assertEqual(self.rows(owner), [("k1", None, None), ("k2", "sample", None)])
        self.assertEqual(self.rows(f"{owner} AND steps = 'profiler'"),
                         [("k1", "step: decode", "step: decode"), ("k2", "sample", None)])

    def test_steady(self):
        self.assertEqual(self.rows("SELECT DISTINCT iteration FROM trace_step_time('a.json')"), [(1,)])
        self.assertEqual(self.rows("SELECT DISTINCT iteration FROM trace_ops('a.json', 0, 'steady')"), [(1,)])
        self.assertEqual(self.rows("SELECT DISTINCT iteration FROM trace_ops('a.json', 0, 2)"), [(2,)])

    def test_the_first_step_is_of_the_profiler(self):
        """By default, like in HTA's diffs, the first step is the profiler's."""
        for query in ("SELECT sum(counts) FROM trace_ops('a.json', 0, 'first'",
                      "SELECT sum(control_counts) FROM trace_diff('a.json', 'a.json', 0, 0, 'first', 'first'",
                      "SELECT sum(control_counts) FROM compare_traces('a.json', 'a.json'"):
            self.assertEqual(self.value(f"{query})"), 17, query)
            self.assertEqual(self.value(f"{query}) WHERE steps = 'auto'"), 17, query)
            self.assertLess(self.value(f"{query}) WHERE steps = 'step[%'"), 17, query)
        kernels = "SELECT sum(control_kernels) FROM trace_diff_by('a.json', 'a.json', 'kernel', 0, 0, 'first', 'first')"
        self.assertEqual(self.value(kernels), 5)
        self.assertEqual(self.value(f"{kernels} WHERE steps = 'auto'"), 5)
        self.assertEqual(self.value(f"{kernels} WHERE steps = 'step[%'"), 2)

    def test_the_first_step_with_both_kinds_of_steps(self):
        write("a.json", document(step(4, 0, 30), step(5, 30, 90), *self.EVENTS))
        self.assertEqual(self.rows("SELECT iteration, sum(counts) FROM trace_ops('a.json', 0, 'first', 'GPU')"
                                   " GROUP BY 1"),
                         [(4, 2)])
        self.assertEqual(self.rows("SELECT iteration, sum(counts) FROM trace_ops('a.json', 0, 0, 'GPU') GROUP BY 1"),
                         [(0, 2)])

    def test_analyses_know_profiler_steps_only(self):
        """Analyses know only profiler steps, so T13 leaves nothing out."""
        self.assertEqual(self.value("SELECT count(*) FROM cuda_kernel_launch_stats('a.json')"), 5)

    def test_every_function_with_iterations_has_the_argument(self):
        arguments = defaultdict(list)
        for function, name in self.rows("SELECT function, name FROM tracediff_columns WHERE kind = 'argument'"
                                        " ORDER BY function, position"):
            arguments[function].append(name)
        found = {function: names for function, names in arguments.items() if set(ITERATED) & set(names)}
        self.assertGreater(len(found), 9)
        for function in (*found, "trace_steps", "trace_events"):
            self.assertEqual(arguments[function][-1], "steps", function)


class Phases(InFolder):
    """The work of a step: T22 and T23."""

    def forms(self, *events, steps=None):
        write("a.json", document(*events))
        return [row[4:] for row in self.rows(STEPS, "a.json", steps)]

    def test_of_the_first_annotation_inside(self):
        inner = [note("execute_context_1(7)_generation_2(2)", 3, 2), decode(9, 2, 9), decode(4, 6, 1)]
        self.assertEqual(self.forms(note("scheduler.run_batch", 0, 10), *inner), [("decode", 9, None, 9, "decode 10")])
        self.assertEqual(self.forms(note("loop", 0, 10), *inner, steps="loop"), [("decode", 9, None, 9, "decode 10")])
        self.assertEqual(self.forms(step(5, 0, 10), decode(9, 2, 9)), [("decode", 9, None, 9, "decode 10")])

    def test_its_own_name_first(self):
        self.assertEqual(self.forms(decode(9, 0, 10), note("execute_context_1(7)_generation_2(2)", 3, 2)),
                         [("decode", 9, None, 9, "decode 10")])

    def test_inside_is_within_the_annotation_on_its_thread(self):
        loop = [note("loop", 0, 10), note("loop", 20, 10)]
        for inner, known in ((decode(1, 0, 10), True), (decode(1, 9, 50), True), (decode(1, 10, 5), False),
                             (decode(1, 5, 5, tid=2), False), (decode(1, 5, 0), False), (decode(1, 0, 11), False),
                             (decode(1, 5, 1, cat="python_function"), False)):
            self.assertEqual(self.forms(*loop, inner, steps="loop")[0][0], "decode" if known else None, inner)

    def test_an_annotation_without_a_form_is_passed_over(self):
        self.assertEqual(self.forms(note("loop", 0, 10), note("scheduler.run_batch", 1, 8), decode(9, 2, 5),
                                    steps="loop"), [("decode", 9, None, 9, "decode 10")])

    def test_sizes_of_strata(self):
        for name, stratum in (("decode[bs=9/15 tok=30]", "decode 16"), ("dummy_decode[bs=9/15 tok=30]", "idle 16"),
                              ("step[TARGET_VERIFY bs=9 toks=30]", "verify 10"),
                              ("step[DRAFT_EXTEND toks=30]", "draft"),
                              ("step[VERIFY bs=4 toks=40]", "verify 4"), ("step[DRAFT bs=4 toks=40]", "draft 4"),
                              ("step[IDLE bs=0 toks=40]", "idle 0"), ("step[DECODE bs=4 toks=40]", "decode 4"),
                              ("step[EXTEND bs=9]", "prefill 10"), ("step[EXTEND toks=30]", "prefill 32"),
                              ("step[NEW_MODE]", "new_mode"), ("decode[bs=9/15 tok=30 p=1]", "mixed 32"),
                              ("execute_diffusion_2_9x1", "diffusion 10")):
            self.assertEqual(self.forms(note(name, 0, 5))[0][-1], stratum, name)

    def made(self, folder, *ranks):
        """Steps by rank: 'p' prefill, 'd' decode, anything else without a phase."""
        names = {"p": "step[PREFILL bs=1 toks=8]", "d": "step[DECODE bs=4]", ".": "scheduler.run_batch"}
        for rank, steps in enumerate(ranks):
            write(f"{folder}/rank{rank}.json", document(
                *(note(names[each], 10 * at, 5) for at, each in enumerate(steps)),
                *(event("op", 10 * at + 1, 1) for at in range(len(steps)))))
        return folder

    CHOSEN = "SELECT DISTINCT rank, iteration FROM trace_step_time(?, ?, ?) ORDER BY 1, 2"

    def chosen(self, trace, iterations, ranks=None):
        return self.rows(self.CHOSEN, trace, ranks, iterations)

    def test_steps_of_a_phase_are_steady_ones(self):
        made = self.made("a", "dpddpd")
        self.assertEqual(self.chosen(made, "decode"), [(0, 2), (0, 3)])
        self.assertEqual(self.chosen(made, "prefill"), [(0, 1), (0, 4)])
        self.assertEqual(self.rows("SELECT DISTINCT iteration FROM trace_ops('a', 0, 'prefill')"), [(1,), (4,)])
        steps = "SELECT DISTINCT control_steps, test_steps FROM trace_step_diff('a', 'a', 0, 0, 'decode', 'all')"
        self.assertEqual(self.rows(steps), [(2, 6)])
        self.assertEqual(self.chosen(self.made("b", "dp"), "decode"), [(0, 0)])

    def test_steps_of_a_stratum(self):
        write("a.json", document(*(decode(size, 10 * at, 5) for at, size in enumerate((9, 9, 32, 10, 29, 10)))))
        self.assertEqual(self.chosen("a.json", "decode 10"), [(0, 1), (0, 3)])
        self.assertEqual(self.chosen("a.json", "decode 32"), [(0, 2), (0, 4)])

    def test_every_rank_has_a_step_of_the_phase(self):
        made = self.made("a", "dpdpd", "ddpd")
        self.assertEqual(self.chosen(made, "decode", "all"), [(0, 2), (1, 1)])
        made = self.made("a", "dpdpd", "dpppd")
        self.assert_error("trace_step_time: rank 1 of 'a' has no steady step of phase 'decode' (phases: decode,"
                          " prefill)", self.CHOSEN, made, "all", "decode")
        self.assertEqual(self.chosen(made, "decode"), [(0, 2)])

    def test_a_side_without_the_phase(self):
        self.made("a", "dpdpd")
        self.made("b", "dpppd")
        self.assert_error("trace_step_diff: rank 0 of 'b' has no steady step of phase 'decode' (phases: decode,"
                          " prefill)", "SELECT * FROM trace_step_diff('a', 'b', 0, 0, 'decode', 'decode')")

    def test_no_phase_at_all(self):
        for made in (self.made("a", "..."), write("b.json", document(event("op", 1, 5)))):
            self.assert_error(f"trace_step_time: rank 0 of '{made}' has no steady step of phase 'decode' (phases: none;"
                              " other words are 'all', 'steady' and 'first')", self.CHOSEN, made, None, "decode")

    def test_exact_sizes(self):
        write("a.json", document(*(decode(size, 10 * at, 5) for at, size in enumerate((1, 32, 31, 32, 2)))))
        self.assertEqual(self.rows("SELECT DISTINCT iteration FROM trace_step_time('a.json') WHERE iterations ="
                                   " (SELECT json_group_array(iteration) FROM trace_steps('a.json')"
                                   " WHERE phase = 'decode' AND batch_size = 32)"), [(1,), (3,)])


class LikeWithLike(InFolder):
    """A13: strata are compared separately."""

    def side(self, name, *steps):
        """Consecutive steps of (size, time of kernel `a`, time of kernel `b`); a size of None has no phase."""
        events, at, number = [], 0, 0
        for size, *times in steps:
            events.append(note("scheduler.run_batch", at, 10) if size is None else decode(size, at, 10))
            start = at
            for kind, time in zip("ab", times):
                number += 1
                events += [launch(start, 1, number), kernel(kind, at + 2, time, number)]
                at += time
            at += 20
        return write(name, document(*events))

    def parts(self, control, test, iterations="all"):
        rows = self.rows("SELECT class, name, control_time, test_time, diff_time, diff_within, diff_mix"
                         " FROM trace_step_diff(?, ?, 0, 0, ?, ?, 'kernel')", control, test, iterations, iterations)
        for row in rows:
            self.assertAlmostEqual(row[5] + row[6], row[4], delta=1e-6)
        return {row[1]: row[2:] for row in rows if row[0] == "compute"}

    def test_more_large_steps_are_mix(self):
        control = self.side("a.json", (4, 10), (4, 10), (8, 30))
        test = self.side("b.json", (4, 10), (8, 30), (8, 30))
        self.assertEqual([round(value, 6) for value in self.parts(control, test)["a"][2:]], [6.666667, 0, 6.666667])

    def test_slower_at_the_same_sizes_is_within(self):
        control = self.side("a.json", (4, 10), (4, 10), (8, 30), (8, 30))
        test = self.side("b.json", (4, 14), (8, 30), (8, 30), (4, 14))
        self.assertEqual(self.parts(control, test)["a"][2:], (2, 2, 0))

    def test_a_stratum_of_one_side_is_mix(self):
        control, test = self.side("a.json", (4, 10), (4, 10)), self.side("b.json", (4, 12), (64, 50))
        self.assertEqual(self.parts(control, test)["a"], (10, 31, 21, 1.5, 19.5))
        self.assertEqual(self.parts(test, control)["a"], (31, 10, -21, -1.5, -19.5))

    def test_no_common_stratum(self):
        control, test = self.side("a.json", (4, 10), (4, 10)), self.side("b.json", (64, 50))
        self.assertEqual(self.parts(control, test)["a"], (10, 50, 40, 0, 40))

    def test_sizes_of_one_bucket_are_alike(self):
        control, test = self.side("a.json", (29, 10), (32, 20)), self.side("b.json", (30, 25))
        self.assertEqual(self.parts(control, test)["a"], (15, 25, 10, 10, 0))

    def test_steps_without_a_phase_are_one_stratum(self):
        control, test = self.side("a.json", (None, 10), (None, 20)), self.side("b.json", (None, 25))
        self.assertEqual(self.parts(control, test)["a"], (15, 25, 10, 10, 0))

    def test_a_part_of_one_side(self):
        control, test = self.side("a.json", (4, 10), (8, 30)), self.side("b.json", (4, 10, 6), (4, 10, 6), (8, 30, 9))
        parts = self.parts(control, test)
        self.assertEqual([round(value, 6) for value in parts["b"]],
                         [0, 7, 7, round(6 * (1 / 2 + 2 / 3) / 2 + 9 * (1 / 2 + 1 / 3) / 2, 6),
                          round(3 * 1 / 6 - 4.5 * 1 / 6, 6)])

    def test_a_side_without_events_has_no_times_and_no_differences(self):
        empty = write("empty.json", document())
        for steps in (((4, 10),), ((4, 10), (8, 30)), ((None, 10), (8, 30))):
            of_control, of_test = (self.rows(
                "SELECT control_time, test_time, diff_time, diff_within, diff_mix, control_steps, test_steps"
                " FROM trace_step_diff(?, ?, NULL, NULL, 'all', 'all') WHERE class = 'compute'", *sides)
                for sides in ((self.side("a.json", *steps), empty), (empty, self.side("a.json", *steps))))
            mean = sum(time for _, time in steps) / len(steps)
            self.assertEqual(of_control, [(mean, None, None, None, None, len(steps), None)])
            self.assertEqual(of_test, [(None, mean, None, None, None, None, len(steps))])

    def test_strata_of_several_ranks_are_one(self):
        for side, times in (("a", ((4, 10), (8, 30))), ("b", ((8, 40), (4, 20)))):
            for rank, each in enumerate(times):
                self.side(f"{side}/rank{rank}.json", each)
        rows = self.rows("SELECT diff_time, diff_within, diff_mix FROM trace_step_diff('a', 'b', 'all', 'all', 'all',"
                         " 'all', 'kernel') WHERE class = 'compute'")
        self.assertEqual(rows, [(10, 10, 0)])

    def test_the_order_stays(self):
        rows = self.rows("SELECT abs(diff_time) FROM trace_step_diff(?, ?)",
                         self.side("a.json", (4, 10, 3), (8, 30, 9)),
                         self.side("b.json", (4, 10, 9), (4, 10, 9), (8, 40, 9)))
        self.assertEqual(rows, sorted(rows, reverse=True))

    def test_the_stratum_of_a_step(self):
        self.side("a.json", (4, 10), (None, 10), (9, 10))
        self.assertEqual(self.rows("SELECT DISTINCT iteration, stratum FROM trace_step_time('a.json', 0, 'all')"),
                         [(0, "decode 4"), (1, None), (2, "decode 10")])

    def test_a_profiler_step_that_comes_twice(self):
        """For a repeated profiler step, the event that starts first gives the phase."""
        write("a.json", document(step(1, 20, 10), decode(8, 22, 5), step(1, 0, 10), decode(4, 2, 5)))
        self.assertEqual(self.rows("SELECT DISTINCT stratum FROM trace_step_time('a.json', 0, 'all')"
                                   " WHERE steps = 'profiler'"), [("decode 4",)])


class AddsUp(unittest.TestCase):
    """A13.2 holds for every pair."""

    def check(self, control, test, iterations, level, clock):
        rows = connect().execute(
            "SELECT diff_time, diff_within, diff_mix, control_time, test_time, control_steps, test_steps"
            " FROM trace_step_diff(?, ?, 'all', 'all', ?, ?, ?, ?)",
            (control, test, iterations, iterations, level, clock)).fetchall()
        most = 1e-9 * max(sum(row[3] for row in rows), sum(row[4] for row in rows))
        self.assertTrue(rows)
        for change, within, mix, *_ in rows:
            self.assertLessEqual(abs(within + mix - change), most)
        self.assertLessEqual(abs(math.fsum(row[1] + row[2] - row[0] for row in rows)), most)
        return rows

    def test_examples(self):
        for name in ("gpu", "cpu"):
            pair = (os.path.join(EXAMPLES, name, side) for side in ("control", "test"))
            for row in self.check(*pair, "steady", "op", "device"):
                self.assertAlmostEqual(row[1], row[0], delta=1e-9)  # steps without a phase
                self.assertAlmostEqual(row[2], 0, delta=1e-9)

    @slow
    def test_every_pair(self):
        for pair in PAIRS:
            paths = [corpus(*path.split("/")) for path in pair]
            for iterations in ("steady", "all"):
                for level, clock in (("op", "device"), ("kernel", "host"), ("module", "device")):
                    with self.subTest(pair, iterations=iterations, level=level):
                        self.check(*paths, iterations, level, clock)


if __name__ == "__main__":
    unittest.main()
