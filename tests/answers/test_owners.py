"""trace_kernel_owners and trace_collectives: against rule A11 word for word (oracle_steps.py) on random traces, against
the args of events, against the planted changes of examples/gpu, and on traces made by hand.
"""
import json
import os
import random
import re
import sqlite3
import unittest
from collections import defaultdict

import generate_gpu_pair
import oracle
import oracle_steps
from made import InFolder, document, event, kernel, launch, step, write
from support import EXAMPLES, connect, corpus, series
from test_step_time import random_trace

CONTROL, TEST = (os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test"))
LEVELS = ("op", "top_op", "module", "annotation")
ALL_REDUCE = "ncclDevKernel_AllReduce"


def in_graph(file, attributed, work):
    """A14.1: the name of compute and memory in a replay whose launch is in no operator; None for other work."""
    launch = attributed.rows.get(work.link)
    if launch is None or not oracle.is_call(launch) or "GraphLaunch" not in (launch.name or "") or (
            oracle_steps.kind(work) == "COMMUNICATION"):
        return None
    around = [row for row in file.rows if row.cat in oracle.OPERATORS and oracle.is_counted(row)
              and row.ts_ns is not None
              and (row.pid, row.tid) == (launch.pid, launch.tid) and row.ts_ns <= launch.ts_ns < row.ts_ns + row.dur_ns
              and row.dur_ns > 0]
    return None if around else "graph: " + oracle_steps.stable(work.name)


def op_event(file, attributed, work):
    """The event of op; NULL where a graph gives op."""
    launch = attributed.rows.get(work.link)
    if launch is None or in_graph(file, attributed, work):
        return None
    found = oracle_steps.labelling(attributed.holding(oracle_steps.thread_of(launch), launch.ts_ns), "op")
    return found.event if found else None


def gpu_annotation(work, annotations):
    """The name of the innermost annotation on its pid and tid that contains its start."""
    around = [row for row in annotations if (row.pid, row.tid) == (work.pid, work.tid) and work.ts_ns is not None
              and row.ts_ns <= work.ts_ns < oracle_steps.end(row)]
    return max(around, key=oracle_steps.innerness).name if around else None


class Owners(InFolder):
    def test_random_traces(self):
        for seed in range(1000, series(1070, 1200)):
            path = write(f"{seed % 4}.json", random_trace(seed))
            file = oracle.read_trace(path).files[0]
            attributed = oracle_steps.Attributed(file)
            expected = [
                (row.rank, row.iteration, row.file, row.event, oracle_steps.stable(row.name), row.cat,
                 oracle_steps.kind(row), row.stream, row.ts_relative_ns / 1000, row.dur_ns / 1000, row.link,
                 *(in_graph(file, attributed, row) if level == "op" and in_graph(file, attributed, row) else
                   attributed.of_launch(attributed.rows.get(row.link), level) for level in LEVELS))
                for row in file.rows if oracle.is_device_work(row) and oracle.is_counted(row)]
            with self.subTest(seed=seed):
                found = self.rows("SELECT rank, iteration, file, event, name, cat, kernel_type, stream, ts, dur,"
                                  " launch, op, top_op, module, annotation FROM trace_kernel_owners(?, 0, 'all')", path)
                self.assertEqual(found, expected)
                annotations = [row for row in file.rows if row.cat == "gpu_user_annotation" and oracle.is_counted(row)
                               and row.ts_ns is not None]
                self.assertEqual(
                    self.rows("SELECT event, gpu_annotation, op_event FROM trace_kernel_owners(?, 0, 'all')", path),
                    [(row[3], gpu_annotation(attributed.rows[row[3]], annotations),
                      op_event(file, attributed, attributed.rows[row[3]])) for row in expected])
                for level in LEVELS:  # a single one is found another way
                    alone = self.rows(f"SELECT event, {level} FROM trace_kernel_owners(?, 0, 'all')", path)
                    self.assertEqual(alone, [(row[3], row[11 + LEVELS.index(level)]) for row in expected])

    def test_shapes_are_those_of_the_operator_around_the_launch(self):
        db = connect()
        found = db.execute("SELECT event, op, shapes, types FROM trace_kernel_owners(?)", (TEST,)).fetchall()
        self.assertGreater(len(found), 100)
        around = {}
        for number, parent, cat, dims, name, types in db.execute(
                "SELECT event, parent, cat, args ->> '$.\"Input Dims\"', name, args ->> '$.\"Input type\"'"
                " FROM trace_events(?, 0)", (TEST,)):
            around[number] = parent, cat, dims, name, types
        launches = dict(db.execute("SELECT event, launch FROM trace_kernel_owners(?)", (TEST,)))
        for number, op, shapes, types in found:
            at = around[launches[number]][0]
            while around[at][1] != "cpu_op":
                at = around[at][0]
            self.assertEqual((op, shapes, types), (around[at][3], around[at][2], around[at][4]))
        self.assertIn(("[[8,512,1024]]", '["float"]'), {row[2:] for row in found})

    def test_selection(self):
        db = connect()
        count = "SELECT count(*), min(rank), max(rank), min(iteration), max(iteration)" \
                " FROM trace_kernel_owners(?, ?, ?)"
        work, = db.execute("SELECT count(*) FROM trace_events(?) WHERE device = 'GPU'"
                           " AND trace_kernel_type(name, cat) IS NOT NULL", (TEST,)).fetchone()
        self.assertEqual(db.execute(count, (TEST, "all", "all")).fetchone(), (work, 0, 1, 10, 15))
        self.assertEqual(db.execute(count, (TEST, None, None)).fetchone()[1:], (0, 0, 11, 14))
        self.assertEqual(db.execute(count, (TEST, 1, "[12,13]")).fetchone()[1:], (1, 1, 12, 13))
        self.assert_error("trace_kernel_owners: the trace has no rank 7 (ranks: 0, 1)",
                          "SELECT * FROM trace_kernel_owners(?, 7)", TEST)
        self.assert_error("trace_kernel_owners: the trace has no step 9 (steps: 10, 11, 12, 13, 14, 15)",
                          "SELECT * FROM trace_kernel_owners(?, 0, 9)", TEST)

    def test_work_without_an_owner(self):
        write("trace.json", document(kernel("k", 5, 0, 9), launch(1, 1, 3), kernel("l", 6, 1, 3),
                                     event("f", 20, 5, cat="python_function", args={"Input Dims": [[1]]}),
                                     launch(21, 1, 4), kernel("m", 30, 1, 4)))
        self.assertEqual(self.rows("SELECT name, dur, launch, op, top_op, module, annotation, shapes, iteration"
                                   " FROM trace_kernel_owners('trace.json')"),
                         [("k", 0, None, None, None, None, None, None, None),
                          ("l", 1, 1, None, None, None, None, None, None),
                          ("m", 1, 4, "f", "f", "f", None, None, None)])

    def test_a_launch_without_a_name(self):
        """Every function agrees that a launch without a name launches work and has no name."""
        events = [step(1, 0, 100), event("a", 0, 50), event(None, 10, 10, cat="cuda_runtime", args={"correlation": 1}),
                  kernel("k", 40, 20, 1), event(None, 60, 5), kernel(None, 70, 5, 1)]
        write("trace.json", document(*events, step(2, 100, 100)))
        self.assertEqual(self.rows("SELECT name, launch, op, top_op, module, annotation, shapes"
                                   " FROM trace_kernel_owners('trace.json', 0, 'all')"),
                         [("k", 2, "a", "a", "a", None, None)])
        for key in ("op", "top_op", "module", "name,kernel", "annotation,shapes,stream,cat,kernel_type"):
            self.assertEqual(self.value("SELECT sum(control_device_time)"
                                        " FROM trace_diff_by('trace.json', 'trace.json', ?)"
                                        " WHERE control_iteration = 'all'", key), 10)
        for order in ("name", "name DESC", "ts", "dur", "event"):
            self.assertEqual(self.value(f"SELECT count(*) FROM (SELECT * FROM trace_events('trace.json')"
                                        f" ORDER BY {order})"
                                        " WHERE name IS NULL"), 3)
        self.assertEqual(self.rows("SELECT event FROM trace_events('trace.json') WHERE name = 'k'"), [(3,)])
        functions = self.rows("SELECT DISTINCT function FROM tracediff_columns WHERE kind = 'column'")
        asked = 0
        for function, in functions:
            required = [name for name, in self.rows(
                "SELECT name FROM tracediff_columns(?) WHERE kind = 'argument' AND required", function)]
            values = {"limit_percent": 5, "keys": "op", "operator_name": "a", "changes": "[]",
                      "schedule": '[{"rank": 0, "iteration": 1, "own_iteration": 1, "own_ts_ns": 0, "dur_ns": 0}]'}
            # which read no trace
            others = ("execution_trace", "trace_device_peaks", "memory_", "tracediff_", "fr_", "hang_", "compil")
            if not function.startswith(others):
                self.rows(f"SELECT * FROM {function} WHERE {' AND '.join(f'{name} = ?' for name in required)}",
                          *(values.get(name, "trace.json") for name in required))
                asked += 1
        self.assertGreater(asked, 25)

    def test_odd_shapes(self):
        for dims, expected in (([], "[]"), ([[2, 3], []], "[[2,3],[]]"), ("x", "x"), (None, None)):
            write("trace.json", document(event("a", 0, 10, args={"Input Dims": dims}), launch(1, 1, 1),
                                         kernel("k", 6, 1, 1), launch(2, 1, 2), kernel("l", 8, 1, 2)))
            self.assertEqual(self.rows("SELECT shapes FROM trace_kernel_owners('trace.json')"), [(expected,)] * 2)
        values = ["[[1,2]]", "[[1, 2]]", "[ [1,2]]", "[]", "[ ]", '["a\\u0041", "]"]', '{"Input Dims": [3]}', "[[1,2]]",
                  "null", '"null"', "3", '"[]"', "true", "[[1,NaN]]"]
        keys = ['"Input Dims"', '"Input\\u0020Dims"', '"x": {"Input Dims": [9]}, "Input Dims"', '"Input type"',
                '"x": "\\"Input Dims\\": [8],", "Input Dims"', '"Input Dims": [7], "Input Dims"', '"input dims"']
        events = [[f'{{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": {at}, "dur": 9, "args": {{'
                   f'{key}: {value}, "Input type": {value}}}}}', json.dumps(launch(at + 1, 1, at)),
                   json.dumps(kernel("k", at + 9, 1, at))]
                  for at, (key, value) in enumerate(((key, value) for value in values for key in keys), 1)]
        for number, each in enumerate(events):
            each[:] = [re.sub(r'"ts": (\d+)', lambda ts: f'"ts": {int(ts[1]) + 20 * number}', text) for text in each]
        write("trace.json", '{"traceEvents": [' + ",\n".join(sum(events, [])) + "]}")
        expected = self.rows("SELECT CAST(args ->> '$.\"Input Dims\"' AS TEXT), CAST(args ->> '$.\"Input type\"' AS"
                             " TEXT)"
                             " FROM trace_events('trace.json') WHERE cat = 'cpu_op'")
        expected = [tuple(json.dumps(json.loads(value), separators=(",", ":")) if value and "\\" in value else value
                          for value in row) for row in expected]  # however strings are escaped
        self.assertIn(('["aA","]"]',) * 2, expected)
        self.assertEqual(self.rows("SELECT shapes, types FROM trace_kernel_owners('trace.json')"), expected)
        self.assertEqual(self.rows("SELECT shapes FROM trace_kernel_owners('trace.json')"),
                         [row[:1] for row in expected])
        self.assertGreater(len(set(expected)), 15)
        write("trace.json", json.dumps(document(event("a", 0, 10, args={"Input Dims": [[float("nan")]]}),
                                                launch(1, 1, 1), kernel("k", 6, 1, 1))))
        self.assertEqual(self.rows("SELECT op, shapes FROM trace_kernel_owners('trace.json')"), [("a", "[[null]]")])


    def test_types_however_they_are_escaped(self):
        rng = random.Random(5)
        letters = "aZ\"\\/\b\t\n\v\f\r\x01\x1f\x7f é中🙂\u2028[],{}"

        def escaped(letter):
            return "".join(f"\\u{unit:04x}" for unit in memoryview(letter.encode("utf-16-le")).cast("H"))

        def written(text):
            return "".join(escaped(letter) if letter < " " or letter in "\"\\" or rng.random() < 0.5 else letter
                           for letter in text)

        lists = [["".join(rng.choices(letters, k=rng.randrange(9))) for _ in range(rng.randrange(1, 5))]
                 for _ in range(200)]
        events = [json.dumps(step(1, 0, 100000))]
        for number, texts in enumerate(lists):
            values = ", ".join(f'"{written(text)}"' for text in texts)
            events += [f'{{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": {20 * number}, "dur": 9,'
                       f' "args": '
                       f'{{"Input type": [{values}]}}}}', json.dumps(launch(20 * number + 1, 1, number + 1)),
                       json.dumps(kernel("k", 20 * number + 9, 1, number + 1))]
        write("trace.json", '{"traceEvents": [' + ",\n".join(events) + "]}")
        found = [types for types, in self.rows("SELECT types FROM trace_kernel_owners('trace.json', 0, 'all')"
                                               " ORDER BY ts")]
        self.assertEqual([json.loads(types) for types in found], lists)
        self.assertEqual(found, [self.value("SELECT json_group_array(value) FROM json_each(?)", json.dumps(texts))
                                 for texts in lists])


class Collectives(InFolder):
    def read(self, trace, *arguments):
        """{(iteration, group, seq): the remaining columns as a dictionary}"""
        cursor = self.db.execute(
            "SELECT iteration, process_group, seq, name, rank_count, transfer, max_wait, last_rank, spread_end"
            f" FROM trace_collectives(?{', ?' * len(arguments)})", (trace, *arguments))
        columns = [column[0] for column in cursor.description]
        rows = [dict(zip(columns, row)) for row in cursor]
        return {(row.pop("iteration"), row.pop("process_group"), row.pop("seq")): row for row in rows}

    def test_the_collective_that_was_planted_is_found(self):
        planted, = generate_gpu_pair.PLANTED_COLLECTIVES
        control, test = self.read(CONTROL), self.read(TEST)
        self.assertEqual(list(test), [(number, "0", seq) for number in range(11, 15) for seq in (0, 1)])
        self.assertEqual(list(control), list(test))
        for key, row in test.items():
            if key[2] != planted["seq"]:
                self.assertEqual(row, control[key])
                continue
            for column in ("transfer", "max_wait"):
                self.assertEqual(round(1000 * (row[column] - control[key][column])), planted[f"{column}_ns"])
            self.assertEqual((row["rank_count"], row["last_rank"], control[key]["last_rank"]),
                             (2, planted["last_rank"], planted["last_rank"]))
            self.assertTrue(row["name"].startswith(ALL_REDUCE))

    def test_who_waits_in_a_real_job(self):
        """In a real job, rank 1 spends 5.5 ms more in a SendRecv, because it came early and waited for rank 0."""
        row = max(self.read(corpus("param")).values(), key=lambda row: row["max_wait"])
        self.assertIn("SendRecv", row["name"])
        self.assertEqual((row["transfer"], row["max_wait"], row["last_rank"]), (2146, 5489, 0))

    @staticmethod
    def collective(name, ts, dur, correlation, group=None, **args):
        made = kernel(name, ts, dur, correlation, 20)
        made["args"].update({"Process Group Name": group} if group else {}, **args)
        return made

    def write_ranks(self, *ranks):
        """Each rank is a list of collectives that are launched in step 1."""
        for number, collectives in enumerate(ranks):
            write(f"runs/rank{number}.json", document(
                step(1, 0, 100), *(launch(i, 1, i + 1) for i in range(len(collectives))), *collectives))

    def test_groups_and_places(self):
        c = self.collective
        self.write_ranks([c("ncclA", 200, 50, 1, "tp"), c("ncclB", 300, 10, 2, "dp"), c("ncclA", 400, 10, 3, "tp")],
                         [c("ncclC", 230, 20, 2, "tp"), c("ncclA", 395, 15, 3, "tp"), c("RCCLx", 296, 14, 1, "dp")])
        self.assertEqual(self.read("runs"), {
            (1, "dp", 0): {"name": "ncclB", "rank_count": 2, "transfer": 10, "max_wait": 4, "last_rank": 0,
                           "spread_end": 0},
            (1, "tp", 0): {"name": "ncclA", "rank_count": 2, "transfer": 20, "max_wait": 30, "last_rank": 1,
                           "spread_end": 0},
            (1, "tp", 1): {"name": "ncclA", "rank_count": 2, "transfer": 10, "max_wait": 5, "last_rank": 0,
                           "spread_end": 0}})
        self.assertEqual({key: row["rank_count"] for key, row in self.read("runs", 1, "all").items()},
                         {(1, "dp", 0): 1, (1, "tp", 0): 1, (1, "tp", 1): 1})

    def test_clocks_that_are_not_aligned(self):
        """Clocks are aligned by the median of the ends: rank 1 is 10 us ahead."""
        c = self.collective
        self.write_ranks([c("nccl", at, 10, number) for number, at in enumerate((200, 300, 400, 500), 1)],
                         [c("nccl", at, 10, number) for number, at in enumerate((210, 311, 410, 525), 1)])
        self.assertEqual([(row["last_rank"], row["spread_end"]) for row in self.read("runs").values()],
                         [(0, 0), (1, 1), (0, 0), (None, 15)])

    def test_the_root_of_a_broadcast_that_is_over_early(self):
        """Nobody waits for a rank that joins a broadcast after its end."""
        c = self.collective
        self.write_ranks([c("ncclBroadcast", 200, 10, 1), c("ncclAllReduce", 300, 20, 2)],
                         [c("ncclBroadcast", 1230, 10, 1), c("ncclAllReduce", 1310, 10, 2)])
        self.assertEqual([(row["name"], row["last_rank"], row["spread_end"]) for row in self.read("runs").values()],
                         [("ncclAllReduce", 1, 0), ("ncclBroadcast", None, 30)])

    def test_ranks_that_nothing_ties(self):
        """Ranks without common collectives are compared by their own clocks, and nobody is last if the ends are far
        apart.
        """
        c = self.collective
        self.write_ranks([c("nccl", 200, 10, 1, "a")], [c("nccl", 205, 10, 1, "b")],
                         [c("nccl", 202, 13, 1, "b"), c("nccl", 300, 50, 2, "c")], [c("nccl", 400, 10, 1, "c")])
        self.assertEqual({key: (row["last_rank"], row["spread_end"]) for key, row in self.read("runs").items()},
                         {(1, "a", 0): (None, 0), (1, "b", 0): (1, 0), (1, "c", 0): (None, 60)})
        self.assertEqual(self.rows("SELECT DISTINCT rank, offset_ns FROM trace_job_clocks('runs', NULL, 'all')"
                                   " ORDER BY 1"),
                         [(0, 0), (1, None), (2, None), (3, None)])

    def test_one_rank_waits_for_nobody(self):
        self.write_ranks([self.collective("nccl", 200, 10, 1)])
        self.assertEqual(self.read("runs"), {(1, "nccl", 0): {
            "name": "nccl", "rank_count": 1, "transfer": 10, "max_wait": 0, "last_rank": None, "spread_end": 0}})

    def test_names_of_groups(self):
        c = self.collective
        self.write_ranks([c("nccl1", 200, 10, 1, **{"Process Group Description": "d", "Process Group Ranks": "[0]"}),
                          c("nccl2", 300, 10, 2, **{"Process Group Ranks": "[0, 1]"}), c("nccl3", 400, 10, 3),
                          kernel("gemm", 500, 10, 4)])
        self.assertEqual(list(self.read("runs")), [(1, "[0, 1]", 0), (1, "d", 0), (1, "nccl3", 0)])

    def test_errors(self):
        self.assert_error("trace_collectives: the trace has no rank 7 (ranks: 0, 1)",
                          "SELECT * FROM trace_collectives(?, 7)", TEST)
        self.assertEqual(self.rows("SELECT * FROM trace_collectives(NULL)"), [])


class Stragglers(InFolder):
    """Compares each rank with the others, like trace_step_diff with one trace on both sides."""

    def read(self, trace, *arguments):
        """{rank: ((times_last, wait_caused), [(class, name, diff_time, time, others_time)])}"""
        found = {}
        for rank, last, wait, *part in self.rows(
                "SELECT rank, times_last, wait_caused, class, name, diff_time, time, others_time"
                f" FROM potential_stragglers(?{', ?' * len(arguments)})", trace, *arguments):
            self.assertEqual(found.setdefault(rank, ((last, wait), []))[0], (last, wait))
            found[rank][1].append(tuple(part))
        return found

    def ranks(self, trace, iterations):
        return [rank for rank, in self.rows("SELECT DISTINCT rank FROM trace_step_time(?, 'all', ?)", trace,
                                            iterations)]

    def waits(self, trace, iterations):
        """{rank: [us for which the others wait for it]}"""
        found = defaultdict(list)
        for last, wait in self.rows("SELECT last_rank, max_wait FROM trace_collectives(?, NULL, ?)", trace, iterations):
            found[last].append(wait)
        return found

    def check(self, trace, iterations=None):
        found = self.read(trace, None, iterations)
        ranks, every = self.ranks(trace, iterations), self.waits(trace, iterations)
        self.assertEqual(set(found), {rank for rank in ranks if sum(every[rank]) > 0} if len(ranks) > 1 else set())
        for rank, (late, parts) in found.items():
            waits = every[rank]
            self.assertEqual(late[0], len(waits))
            self.assertAlmostEqual(late[1], sum(waits), 6)
            others = json.dumps([other for other in ranks if other != rank])
            expected = self.rows("SELECT class, name, diff_time, test_time, control_time"
                                 " FROM trace_step_diff(?1, ?1, ?2, ?3,"
                                 " ?4, ?4)", trace, others, rank, iterations)
            for part in parts:
                if part[:2] not in {row[:2] for row in expected}:
                    self.assertEqual(part[2:], (0, 0, 0))
                    expected.append(part)
            order = [repr(part[:2]) for part in sorted(parts, key=repr)]
            self.assertEqual(order, [repr(row[:2]) for row in sorted(expected, key=repr)])
            for part, row in zip(sorted(parts, key=repr), sorted(expected, key=repr)):
                for value, wanted in zip(part[2:], row[2:]):
                    self.assertAlmostEqual(value, wanted, 6)
            self.assertEqual([part[2] for part in parts], sorted((part[2] for part in parts), reverse=True))
        self.assertEqual([late[1] for late, _ in found.values()],
                         sorted((late[1] for late, _ in found.values()), reverse=True))
        return found

    def test_is_a_diff_of_ranks(self):
        for iterations in (None, "all", 12):
            found = self.check(TEST, iterations)
            self.assertEqual(list(found)[0], 1)
            self.assertEqual(found[1][1][0][:2], ("compute", "aten::embedding_dense_backward"))

    @staticmethod
    def write_ranks(folder, chance):
        """Random ranks whose collectives end together: a late rank makes the others wait."""
        steps = range(1, chance.randint(2, 5))
        for rank in range(chance.choice((1, 2, 3, 4))):
            events, correlation = [], 0
            for number in steps:
                at = 1000 * number
                events.append(step(number, at, chance.randint(800, 950)))
                for index in range(5):
                    correlation, begin, late = (correlation + 1, at + 150 * index + chance.randint(1, 30),
                                                chance.randint(0, 5 * rank))
                    name, start, end = chance.choice(("gemm", "add")), begin + 20, begin + chance.randint(21, 99)
                    if index % 2:
                        name, start, end = "ncclA", at + 150 * index + 40 + late, at + 150 * index + 100
                    events += [event(f"aten::{chance.choice('ab')}", begin, 30), launch(begin + 2, 2, correlation),
                               kernel(name, start, end - start, correlation)]
            write(f"{folder}/rank{rank}.json", document(*events))

    def test_random_ranks(self):
        checked = 0
        for seed in range(30):
            self.write_ranks(seed, random.Random(seed))
            with self.subTest(seed):
                checked += len(self.check(str(seed), "all"))
        self.assertGreater(checked, 20)

    def check_control(self, trace, control, iterations):
        """Checks the rows of the trace, and control's own differences and waits of these ranks."""
        sql = ("SELECT rank, times_last, wait_caused, class, name, time, others_time, diff_time"
               " FROM potential_stragglers(?, NULL, ?)")
        alone, rows = self.rows(sql, trace,
                                iterations), self.rows(sql + " WHERE control = ?", trace, iterations, control)
        self.assertEqual([row for row in rows if row in set(alone)], alone)
        self.assertLessEqual({row[5:] for row in set(rows) - set(alone)}, {(0, 0, 0)})  # present in control only
        ranks, every = self.ranks(control, iterations), self.waits(control, iterations)
        steps = {side: dict(self.rows("SELECT rank, count(DISTINCT coalesce(iteration, -1))"
                                      " FROM trace_step_time(?, 'all', ?)"
                                      " GROUP BY rank", side, iterations)) for side in (trace, control)}
        for rank in {row[0] for row in rows}:
            found = self.rows("SELECT class, name, control_diff_time, control_wait_caused"
                              " FROM potential_stragglers(?, NULL, ?)"
                              " WHERE control = ? AND rank = ?", trace, iterations, control, rank)
            others = [other for other in ranks if other != rank]
            if rank not in ranks or not others:
                self.assertEqual({row[2:] for row in found}, {(None, None)})
                continue
            wanted = dict(((row[0], row[1]), row[2]) for row in self.rows(
                "SELECT class, name, diff_time FROM trace_step_diff(?1, ?1, ?2, ?3, ?4, ?4)", control,
                json.dumps(others), rank, iterations))
            self.assertLessEqual(set(wanted), {row[:2] for row in found})
            for *part, diff, wait in found:
                self.assertAlmostEqual(diff, wanted.get(tuple(part), 0), 6)
                self.assertAlmostEqual(wait, sum(every[rank]) * steps[trace][rank] / steps[control][rank], 6)
        return len(rows)

    def test_random_ranks_with_a_control(self):
        self.write_ranks("0", random.Random(0))
        checked = 0
        for seed in range(1, 30):
            self.write_ranks(seed, random.Random(seed))
            with self.subTest(seed):
                checked += self.check_control(str(seed), str(seed - 1), "all")
        self.assertGreater(checked, 100)

    def test_a_rank_that_became_slower(self):
        """A planted change of 120 us per step (generate_gpu_pair.py, 6), for which rank 0 waits, shows on its rank,
        which was slower before, too.
        """
        self.check_control(TEST, CONTROL, None)
        self.check_control(CONTROL, TEST, 12)
        row = self.rows("SELECT rank, class, name, diff_time - control_diff_time, wait_caused - control_wait_caused,"
                        " control_diff_time"
                        " FROM potential_stragglers(?) WHERE control = ? LIMIT 1", TEST, CONTROL)[0]
        self.assertEqual(row[:3], (1, "compute", "aten::embedding_dense_backward"))
        for value, wanted in zip(row[3:], (120, 4 * 120, 58.654)):
            self.assertAlmostEqual(value, wanted, 6)
        for one in (TEST, CONTROL):  # a rank that was always slower
            self.assertEqual({row for row in self.rows("SELECT diff_time = control_diff_time, wait_caused ="
                                                       " control_wait_caused"
                                                       " FROM potential_stragglers(?1) WHERE control = ?1", one)},
                                                       {(1, 1)})

    def test_nobody_waits(self):
        """Nobody waits for a root on the host that is over early, or when all start together."""
        for rank, length in enumerate((900, 100)):
            write(f"host/rank{rank}.json", document(
                step(1, 0, 1000), event("gloo:broadcast", 10, length), event("gloo:all_reduce", 950, 10)))
            write(f"together/rank{rank}.json", document(
                step(1, 0, 1000), event("load", 0, length / 100), launch(20, 1, 1), kernel("ncclA", 30, 10, 1)))
        for trace in ("host", "together"):
            for control in ("host", "together"):
                self.assertEqual(self.rows("SELECT * FROM potential_stragglers(?) WHERE control = ?", trace, control),
                                 [])
            self.assertEqual(self.rows("SELECT * FROM potential_stragglers(?)", trace), [])

    def test_who_sleeps_in_a_recorded_pair(self):
        """Rank 1 sleeps in the forward pass, and rank 0 waits for it in gloo."""
        row, = self.rows("SELECT rank, times_last, name, round(diff_time / 1000) FROM potential_stragglers(?) LIMIT 1",
                         corpus("own", "torch_planted", "gloo_rank1_sleeps_60ms"))
        self.assertEqual(row, (1, 8, "DistributedDataParallel.forward", 60))

    def test_recorded_jobs_of_gloo(self):
        """Recorded jobs of gloo show the rank with the planted change, and the change."""
        for trace, rank, name, times in (("two/loader", 1, "enumerate(DataLoader)%__next__", 10),
                                         ("three/loader", 1, "enumerate(DataLoader)%__next__", 10),
                                         ("three/operator", 2, "aten::sort", 8)):
            found = self.rows("SELECT rank, name LIKE ?, diff_time > 50000, times_last >= ?"
                              " FROM potential_stragglers(?) LIMIT 1", name, times,
                              os.path.join(EXAMPLES, "gloo", trace))
            self.assertEqual(found, [(rank, 1, 1, 1)], trace)

    def test_a_host_that_sleeps(self):
        """Rank 1 sleeps for 1 ms in each step, and rank 0 waits for it in gloo, on another thread. In control both
        start together.
        """
        for side, late in (("control", 0), ("test", 1000)):
            for rank in range(2):
                events, at = [], 0
                for number in range(6):
                    start, end = 140 + late * rank, late + 500
                    events += [step(number, at, end + 100), event("aten::linear", at + start - 130, 100),
                               event("gloo:all_reduce", at + start, end - start, cat="user_annotation", tid=2),
                               event("aten::add_", at + end + 10, 50)]
                    at += end + 101
                write(f"{side}/rank{rank}.json", document(*events, distributedInfo={"rank": rank, "world_size": 2}))
        self.assertEqual(self.rows("SELECT DISTINCT name, seq, rank_count, transfer, max_wait, last_rank, spread_end"
                                   " FROM trace_collectives('test')"), [("gloo:all_reduce", 0, 2, 360, 1000, 1, 0)])
        self.assertEqual(self.rows("SELECT rank, times_last, wait_caused, diff_time, control_diff_time"
                                   " FROM potential_stragglers('test') WHERE control = 'control' AND diff_time > 0"),
                         [(1, 4, 4000, 1000, 0)])
        self.assertEqual(self.rows("SELECT * FROM potential_stragglers('control')"), [])
        for iterations, steps in (("'all'", [0, 1, 2, 3, 4, 5]), ("'first'", [0]), ("NULL", [1, 2, 3, 4])):
            self.assertEqual([number for number, in self.rows(
                f"SELECT iteration FROM trace_collectives('test', NULL, {iterations})")], steps)

    def test_what_makes_a_rank_late(self):
        """Rank 1 waits 40 us longer for its data, and rank 0 as long for rank 1, so the data makes rank 1 late."""
        for rank, (wait, start) in enumerate(((10, 30), (50, 70))):
            write(f"runs/rank{rank}.json", document(
                step(1, 0, 150), event("load", 0, wait), launch(wait, 1, 1), kernel("ncclA", start, 120 - start, 1)))
        found = self.check("runs", "all")
        self.assertEqual([(rank, late) for rank, (late, _) in found.items()], [(1, (1, 40))])
        self.assertEqual([part[:3] for part in found[1][1] if part[2]],
                         [("idle_host", "load", 40), ("comm", "ncclA", -40)])

    def test_one_rank_and_errors(self):
        self.assertEqual(self.rows("SELECT * FROM potential_stragglers(?, 0)", TEST), [])
        self.assertEqual(self.rows("SELECT * FROM potential_stragglers(NULL)"), [])
        self.assert_error(f"potential_stragglers: '{TEST}' has no rank 7 (ranks: 0, 1)",
                          "SELECT * FROM potential_stragglers(?, 7)", TEST)
        sql = "SELECT * FROM potential_stragglers(?) WHERE "
        for term, said in (("control = 7", "control must be the path of a directory or a file, a pattern, or a JSON"
                                           " array of these, not 7"),
                           ("control = 'none'", "cannot read 'none': No such file or directory"),
                           (f"control = '{CONTROL}' AND control_iterations = 7",
                            f"'{CONTROL}' has no step 7 (steps: 10, 11, 12, 13, 14, 15)"),
                           ("control_iterations = '?'", "control_iterations must be an integer, a JSON array of"
                                                        " integers, 'all', 'steady', 'first'"
                                                        " or a phase of steps, not '?'")):
            self.assert_error(f"potential_stragglers: {said}", sql + term, TEST)


if __name__ == "__main__":
    unittest.main()
