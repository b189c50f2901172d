"""The examples of RULES.md are correct: each test builds the small trace of an example and queries it.

Only rules whose example has few events are covered. Times are us, like there.
"""
import json
import re
import unittest

import made
from made import ABSENT, document, event, kernel, launch, step, write
from support import names_of_bytes
from test_documents import read


def call(name, ts, dur, correlation, **fields):
    return event(name, ts, dur, cat="cuda_runtime", args={"correlation": correlation}, **fields)


def reduce(ts, dur, correlation):
    return event("ncclAllReduce", ts, dur, cat="kernel", pid=0, tid=20,
                 args={"correlation": correlation, "stream": 20, "Process Group Name": "0"})


def replayed(*names):
    return document(step(1, 0, 100), call("cudaGraphLaunch", 0, 5, 9),
                    *[kernel(name, 10 + 10 * i, 10, 9) for i, name in enumerate(names)])


class Examples(unittest.TestCase):
    def test_each_rule_has_one(self):
        rules = re.findall(r"(?ms)^\* \*\*([A-Z]+\d+)\*\* (.*?)(?=^[*#]|\Z)", read("sql", "RULES.md"))
        self.assertGreater(len(rules), 140)
        self.assertEqual([name for name, text in rules if not re.search(r"(?m)^  Example[:,] ", text)], [])


class Made(made.InFolder):
    def trace(self, *events, name="t.json"):
        return write(name, document(*events))

    def parts(self, *events):
        """{(class, name): us} of all steps of a trace."""
        return {row[:2]: row[2] for row in self.rows(
            "SELECT class, name, sum(time) FROM trace_step_time(?) WHERE iterations = 'all' GROUP BY 1, 2",
            self.trace(*events))}

    def path(self, *events, off_path=0):
        return self.rows("SELECT kind, name, ts, ts + dur, slack FROM critical_path(?)"
                         " WHERE iterations = 'all' AND off_path = ?", self.trace(*events), off_path)

    def problems(self, path):
        return [(problem["what"], problem["first_byte"])
                for problem in json.loads(self.value("SELECT problems FROM trace_files(?)", path))]


class Verdicts(Made):
    def verdict(self, control, test, columns="verdict"):
        for name, lengths in (("control", control), ("test", test)):
            ends = [sum(lengths[:number]) for number in range(len(lengths) + 1)]
            self.trace(*(step(number, start, length) for number, (start, length) in enumerate(zip(ends, lengths))),
                       event("op", 0, ends[-1]), name=f"{name}.json")
        self.found, = self.rows(f"SELECT {columns} FROM trace_verdict('control.json', 'test.json', NULL, NULL,"
                                " 'steady', 'steady')")
        return self.found[0] if len(self.found) == 1 else self.found

    @staticmethod
    def steady(*lengths):
        """Adds a first and a last step."""
        return [10, *lengths, 10]

    def test_c1(self):
        self.assertEqual(self.verdict(self.steady(10, 11, 10, 11, 30), self.steady(10, 11, 10, 11),
                                      "control_left_out, test_left_out"), ("[5]", None))

    def test_c2(self):
        self.assertEqual(self.verdict(self.steady(10, 11, 12), self.steady(13, 14, 15)), "slower here")
        self.assertEqual(self.verdict(self.steady(10, 11, 12), self.steady(11, 12, 13)), "no clear difference")

    def test_c4(self):
        self.assertEqual(self.verdict(self.steady(10, 10, 11, 10), self.steady(10, 30, 10, 30),
                                      "verdict, slow_steps"), ("slower in some steps", 2))


class Files(Made):
    def test_t7(self):
        for name in ("rank1", "a", "b"):
            write(f"t/{name}.json", document(event("x", 0, 1)))
        self.assertEqual(self.rows("SELECT substr(file, 3), rank FROM trace_files('t') ORDER BY 2"),
                         [("a.json", 0), ("rank1.json", 1), ("b.json", 2)])
        self.assertEqual(self.value("SELECT rank FROM trace_files(?)",
                                    write("frank3.json", document(event("x", 0, 1)))), 0)
        for at, name in enumerate(("42.1700", "42.1703", "43.1700")):
            write(f"hosts/host_{name}.pt.trace.json", document(event("x", at, 1)))
        self.assertEqual(self.rows("SELECT rank, rank_source FROM trace_files('hosts')"),
                         [(0, "process"), (0, "process"), (1, "order")])
        for at, name in enumerate(("DECODE", "EXTEND")):
            write(f"stages/17-TP-0-{name}.json", document(event("x", at, 1)))
            write(f"replicas/dp{at}_tp0_rank0.json", document(event("x", 0, 1)))
        self.assertEqual(self.rows("SELECT rank FROM trace_files('stages')"), [(0,), (0,)])
        self.assertEqual(self.rows("SELECT rank FROM trace_files('replicas')"), [(0,), (1,)])
        write("labels/merged.json", document(*[event("x", 0, 1, pid=f"[TP0{rank}] 5") for rank in (1, 0)]))
        self.assertEqual(self.rows("SELECT rank, label FROM trace_files('labels')"), [(0, "TP00"), (1, "TP01")])
        write("labels/17-TP-0.json", document(event("x", 0, 1)))
        self.assertEqual(self.rows("SELECT rank FROM trace_files('labels')"), [(0,), (None,), (None,)])

    def test_t8(self):
        for name, first in (("a", 5), ("b", 20)):
            write(f"t/rank0_{name}.json",
                  document(*[step(number, 100 * number, 90) for number in range(first, first + 6)]))
        self.assertEqual(self.value("SELECT count(*) FROM trace_steps('t') WHERE rank = 0"), 12)

    def test_t14(self):
        good, bad = '{"ph":"X","name":"a","ts":1,"dur":1}', '{"ph":oops}'
        path = write("t.json", f"[{good}, {bad}, {good}]")
        self.assertEqual(self.value("SELECT rows FROM trace_files(?)", path), 2)
        (_, byte), = self.problems(path)
        self.assertEqual(byte, len(f"[{good}, {{"))

    def test_t16(self):
        write("t/rank0.json", document(event("x", 0, 1)))
        write("t/settings.json", "{}")
        self.assertEqual(self.value("SELECT count(*) FROM trace_events('t')"), 1)
        self.assert_error("trace_events: 't/settings.json': not a trace: it has no list traceEvents",
                          "SELECT * FROM trace_events('t/*.json')")

    def test_t18(self):
        path = write("t.json", '{"schemaVersion": 1, "with_flops": true, "x": NaN, "traceEvents": []}')
        self.assertEqual(self.rows("SELECT key, value FROM trace_metadata(?)", path),
                         [("schemaVersion", 1), ("with_flops", 1)])
        self.assertEqual(len(self.problems(path)), 1)

    @names_of_bytes
    def test_t19(self):
        with open(b"run-\xe9.json", "w") as file:
            json.dump([event("x", 0, 1)], file)
        self.assertEqual(self.rows("SELECT file, rows FROM trace_files('run-*.json')"), [("run-\ufffd.json", 1)])


class Events(Made):
    def test_t1(self):
        path = write("t.json", '{"baseTimeNanoseconds":1000,"traceEvents":[%s]}' % ",".join(
            '{"ph":"X","name":"a","ts":%s,"dur":1}' % ts for ts in ('2.5', '"25e-1"', '0.0005', '"soon"')))
        self.assertEqual(self.rows("SELECT ts_ns FROM trace_events(?)", path), [(3500,), (3500,), (1000,), (None,)])
        self.assertEqual(len(self.problems(path)), 1)

    def test_t2(self):
        for name, start, steps in (("rank0_a", 700, 1), ("rank0_b", 900, 2), ("rank1", 800, 1)):
            write(f"t/{name}.json", document(step(steps, start, 5), event(f"late in {name}", 950, 1)))
        self.assertEqual(self.rows("SELECT name, ts FROM trace_events('t') WHERE name LIKE 'late %'"),
                         [("late in rank0_a", 250), ("late in rank0_b", 250), ("late in rank1", 150)])

    def test_t3(self):
        path = self.trace(*[{"ph": phase, "pid": 1, "tid": 1, "ts": ts, **({"name": name} if name else {})}
                            for phase, name, ts in (("B", "a", 10), ("B", "b", 20), ("E", "a", 30), ("E", None, 40))])
        self.assertEqual(self.rows("SELECT name, ts_ns / 1000, dur FROM trace_events(?)", path),
                         [("a", 10, 20), ("b", 20, 20)])

    def test_t4(self):
        path = self.trace({"ph": "X", "name": "mm", "ts": 5})
        self.assertEqual(self.rows("SELECT name, dur FROM trace_events(?)", path), [("mm", None)])
        self.assertEqual(self.rows("SELECT name FROM trace_ops(?)", path), [])

    def test_t5(self):
        path = self.trace(event("linear", 0, 100), event("addmm", 20, 40), event("late", 90, 30))
        self.assertEqual(self.rows("SELECT name, parent, self_dur FROM trace_events(?)", path),
                         [("linear", None, 50), ("addmm", 0, 40), ("late", 0, 30)])

    def test_t6(self):
        path = write("t.json", '[{"ph":"X","name":"mm","ts":5,"dur":1,"args": {"stream": 7, "rate": inf}}]')
        self.assertEqual(self.value("SELECT args FROM trace_events(?)", path), '{"stream": 7, "rate": null}')
        self.assertEqual(len(self.problems(path)), 1)

    def test_t17(self):
        path = write("t.json", r'[{"\u0074s": 5, "ph": "\u0058", "name": "a", "name": "b", "dur": 1}]')
        self.assertEqual(self.rows("SELECT name, ts_ns FROM trace_events(?)", path), [("a", 5000)])

    def test_t9(self):
        names = [{"ph": "M", "name": f"{what}_name", "pid": 9, "tid": tid, "args": {"name": name}}
                 for what, tid, name in (
            ("process", 0, "/device:TPU:0"), ("thread", 1, "XLA Modules"), ("thread", 2, "XLA Ops"))]
        path = self.trace(*names, *[event(name, 0, 9, pid=9, tid=tid, cat=ABSENT)
                                    for name, tid in (("module", 1), ("op", 2))],
                          event("kernel", 0, 9, cat="kernel", args={"stream": 0}),
                          event("call", 0, 9, cat="cuda_runtime", args={"stream": 3}))
        self.assertEqual(self.rows("SELECT name, device, cat FROM trace_events(?)", path), [
            ("module", "GPU", "gpu_user_annotation"), ("op", "GPU", None), ("kernel", "GPU", "kernel"),
            ("call", "CPU", "cuda_runtime")])

    def test_t10(self):
        path = self.trace(call("cudaLaunchKernel", 0, 10, 5), {**call("cuLaunchKernel", 2, 5, 5), "cat": "cuda_driver"},
                          kernel("k", 20, 5, 5))
        self.assertEqual(self.value("SELECT link FROM trace_events(?) WHERE name = 'k'", path), 0)


class Steps(Made):
    def test_t11(self):
        path = self.trace(step(3, 0, 100), step(4, 100, 100), launch(95, 3, 1), kernel("k", 130, 20, 1),
                          event("h", 100, 5))
        self.assertEqual(dict(self.rows("SELECT name, iteration FROM trace_events(?) WHERE name IN ('k', 'h')", path)),
                         {"k": 3, "h": 4})

    def test_t13(self):
        path = self.trace(step(1, 0, 400), step(2, 500, 100), launch(490, 2, 1), kernel("yes", 510, 10, 1),
                          launch(505, 2, 2), kernel("no", 530, 10, 2))
        self.assertEqual(self.rows("SELECT name FROM trace_events(?) WHERE include_last_profiler_step = 0"
                                   " AND device = 'GPU'", path), [("yes",)])

    def test_t20(self):
        path = self.trace(*[event(f"execute_new_{i}", ts, dur, cat="user_annotation")
                            for i, ts, dur in ((1, 0, 40), (2, 100, 50))],
                          launch(60, 3, 1), kernel("k", 70, 20, 1))
        self.assertEqual(self.value("SELECT iteration FROM trace_events(?) WHERE name = 'k' AND steps = 'execute_%'",
                                    path), 0)

    def test_t22_and_t23(self):
        path = self.trace(*[event("step[EXTEND bs=1 toks=9]" if i % 2 else "step[DECODE bs=33]", 100 * i, 50,
                                  cat="user_annotation")
                            for i in range(10)])
        self.assertEqual(self.rows("SELECT phase, batch_size, stratum FROM trace_steps(?) LIMIT 1", path),
                         [("decode", 33, "decode 40")])
        self.assertEqual(self.rows("SELECT DISTINCT iteration FROM trace_step_time(?) WHERE iterations = 'decode'",
                                   path),
                         [(2,), (4,), (6,), (8,)])

    def test_k(self):
        for name, cat, expected in (("Memcpy HtoD (Host -> Device)", None, "MEMORY"),
                                    ("Memcpy HtoD (Host -> Device)", "kernel", "COMPUTATION"),
                                    ("blockAllReduceKernel", None, "COMPUTATION"),
                                    ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", None, "COMMUNICATION"),
                                    ("ampere_sgemm_128x64_nt", "kernel", "COMPUTATION")):
            self.assertEqual(self.value("SELECT trace_kernel_type(?, ?)", name, cat), expected)


class Attribution(Made):
    def test_a2(self):
        path = self.trace(step(1, 0, 100), step(2, 100, 100), launch(50, 3, 1), kernel("k", 60, 70, 1),
                          launch(150, 3, 2),
                          kernel("k", 200, 40, 2))
        self.assertEqual(self.value("SELECT sum(time) FROM trace_step_time(?) WHERE iterations = 2", path), 110)

    def test_a3(self):
        self.assertEqual(self.parts(step(1, 0, 99), launch(0, 0, 1), kernel("all_reduce", 0, 100, 1, 20),
                                    event("aten::mm", 2, 5),
                                    launch(3, 1, 2), kernel("gemm", 30, 30, 2)),
                         {("comm", "all_reduce"): 70, ("compute", "aten::mm"): 30})

    def test_a4(self):
        parts = self.parts(step(1, 0, 100), call("cudaGraphLaunch", 10, 5, 9), launch(40, 3, 1), kernel("k", 50, 50, 1))
        self.assertEqual(parts["idle_unrecorded", None], 35)

    def test_a5(self):
        parts = self.parts(step(1, 0, 200), launch(0, 1, 1), kernel("k", 1, 99, 1), event("aten::copy_", 90, 30),
                           launch(140, 3, 2), kernel("k", 150, 50, 2))
        self.assertEqual(parts["idle_host", "aten::copy_"], 20)
        self.assertEqual(parts["idle_unrecorded", "between aten::copy_ and cudaLaunchKernel"], 20)

    def test_a6(self):
        parts = self.parts(step(1, 100, 100), event("aten::mm", 140, 10), launch(140, 5, 1), kernel("k", 150, 50, 1))
        self.assertEqual(parts["idle_launch", "cudaLaunchKernel"], 5)
        self.assertEqual(parts["idle_wait", "aten::mm"], 5)

    def test_a8(self):
        parts = self.parts(step(1, 0, 100), event("aten::addmm", 20, 70))
        self.assertEqual(parts.pop(("host", "aten::addmm")), 70)
        self.assertEqual({of for of, _ in parts}, {"unrecorded"})
        self.assertEqual(sum(parts.values()), 30)

    def test_a9(self):
        self.assertEqual(self.value("SELECT trace_stable_name('aten::mm, seq = 5')"), "aten::mm")

    def test_a11_and_a12(self):
        path = self.trace(step(1, 0, 100), event("forward", 0, 90, cat="user_annotation"),
                          event("aten::linear", 10, 60),
                          event("aten::addmm", 20, 40), launch(30, 5, 1), kernel("ampere_sgemm_128x64_nt", 40, 60, 1))
        self.assertEqual(self.rows("SELECT annotation, module, top_op, op, kernel, area FROM trace_step_path(?)"
                                   " WHERE iterations = 'all' AND class = 'compute'", path),
                         [("forward", "aten::linear", "aten::linear", "aten::addmm", "ampere_sgemm_128x64_nt",
                           "forward")])

    def test_a14(self):
        path = write("t.json", replayed("a", "b", "a"))
        self.assertEqual(self.rows("SELECT op, graph_position FROM trace_kernel_owners(?) WHERE iterations = 'all'",
                                   path),
                         [("graph: a", 0), ("graph: b", 1), ("graph: a", 2)])

    def test_a16(self):
        sides = write("control.json", replayed("a", "b", "c")), write("test.json", replayed("a", "x", "c"))
        self.assertEqual(self.rows("SELECT change, name FROM trace_graph_diff(?, ?) WHERE control_iteration = 'all'"
                                   " AND test_iteration = 'all'", *sides),
                         [("same", "a"), ("deleted", "b"), ("added", "x"), ("same", "c")])

    def test_l5(self):
        def calls(*counts):
            return [made for number, count in enumerate(counts) for made in (step(number, 1000 * number, 900), *[
                event(name, 1000 * number + 20 * i + at, 10 - at) for i in range(count)
                for name, at in (("aten::clone", 0), ("aten::copy_", 2))])]
        eight = self.trace(*calls(8, 8, 8, 8, 8), name="test.json")
        sql = "SELECT name, control_low, control_high, test_counts FROM trace_work_diff(?, ?)"
        self.assertEqual(self.rows(sql, self.trace(*calls(4, 4, 5, 4, 4)), eight), [("aten::clone", 4, 5, 8)])
        self.assertEqual(self.rows(sql, self.trace(*calls(4, 4, 8, 4, 4)), eight), [])


class Path(Made):
    def test_p1(self):
        self.assertEqual([row[:2] for row in self.path(step(1, 1000, 100), event("aten::mm", 1000, 30),
                                                       launch(1030, 5, 1),
                                                       kernel("k", 1040, 60, 1))],
                         [("host", "aten::mm"), ("launch", "cudaLaunchKernel"), ("queue", "k"), ("kernel", "k")])

    def test_p3(self):
        self.assertEqual(self.path(step(1, 1000, 50), launch(1000, 5, 1), kernel("a", 1040, 60, 1, 7),
                                   launch(1010, 5, 2),
                                   kernel("b", 1060, 40, 2, 8))[-1][:2], ("kernel", "b"))

    def test_p4(self):
        for end, before in ((90, "cudaLaunchKernel"), (95, "a")):
            path = self.path(step(1, 0, 97), launch(0, 5, 1), kernel("a", 10, end - 10, 1), launch(90, 5, 2),
                             kernel("x", 100, 50, 2))
            self.assertEqual([name for _, name, *_ in path[-3:]], [before, "x", "x"])

    def test_p5(self):
        self.assertEqual([row[:4] for row in self.path(step(1, 0, 97), launch(90, 13, 2), kernel("x", 100, 50, 2))[1:]],
                         [("launch", "cudaLaunchKernel", 90, 100), ("kernel", "x", 100, 150)])

    def test_p6(self):
        told = {"correlation": 6, "stream": 8, "wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 5}
        path = self.path(step(1, 0, 40), launch(0, 2, 1), kernel("before", 5, 60, 1, 7),
                         call("cudaEventRecord", 10, 2, 5),
                         launch(13, 2, 3), kernel("after", 66, 3, 3, 7), call("cudaStreamWaitEvent", 20, 2, 6),
                         event("Stream Wait Event", 22, 0, cat="cuda_sync", pid=0, tid=8, args=told), launch(30, 3, 7),
                         kernel("x", 70, 100, 7, 8))
        self.assertEqual([row[:2] for row in path[-3:]], [("kernel", "before"), ("queue", "x"), ("kernel", "x")])

    def test_p7(self):
        for end, start in ((180, 180), (40, 50)):
            path = self.path(step(1, 0, 220), launch(0, 2, 1), kernel("k", 10, end - 10, 1),
                             call("cudaStreamSynchronize", 50, 150, 2),
                             launch(205, 2, 3), kernel("z", 210, 10, 3))
            self.assertIn(("sync", "cudaStreamSynchronize", start, 200, 0), path)
        for memory, end in (("Pageable", 200), ("Pinned", None)):
            copy = {**kernel(f"Memcpy HtoD ({memory} -> Device)", 80, 130, 1), "cat": "gpu_memcpy"}
            path = self.path(step(1, 0, 240), call("cudaMemcpyAsync", 50, 150, 1), copy, launch(225, 2, 3),
                             kernel("z", 230, 10, 3))
            self.assertEqual([row[3] for row in path if row[:2] == ("kernel", copy["name"])], [end] * (end == 200))

    def test_p8(self):
        path = self.path(step(1, 0, 110), event("backward", 0, 100, cat="python_function"), event("bw", 20, 75, tid=2),
                         launch(25, 3, 1, tid=2), kernel("k", 30, 10, 1), launch(101, 2, 3), kernel("z", 104, 10, 3))
        self.assertEqual([row[:4] for row in path[3:5]], [("host", "bw", 28, 95), ("wait", "backward", 95, 100)])

    def test_p9(self):
        path = self.path(step(1, 0, 110), launch(0, 2, 1), kernel("a", 10, 80, 1, 7), launch(4, 2, 2),
                         kernel("b", 10, 90, 2, 8),
                         call("cudaStreamWaitEvent", 20, 2, 6), launch(30, 2, 3), kernel("x", 105, 20, 3, 8),
                         off_path=1)
        self.assertIn(("kernel", "a", 10, 90, 10), path)


class Jobs(Made):
    def collectives(self, folder, *ranks):
        """A trace whose ranks are lists of (start, end) of all-reduces."""
        for rank, spans in enumerate(ranks):
            write(f"{folder}/rank{rank}.json",
                  document(step(1, 0, 2000), *[made for i, (start, end) in enumerate(spans) for made in (
                launch(1 + i, 1, i + 1), reduce(start, end - start, i + 1))]))
        return folder

    def test_w3_and_w4(self):
        sql = "SELECT transfer, max_wait, last_rank FROM trace_collectives(?) WHERE iterations = 'all'"
        tied = [(1000, 1010), (1100, 1110)]
        together = self.collectives("a", *[[(start, 180), *tied] for start in (100, 150, 125)])
        self.assertEqual(self.rows(sql, together)[0], (30, 50, 1))
        apart = self.collectives("b", *[[span, *tied] for span in ((100, 110), (150, 180), (125, 180))])
        self.assertEqual(self.rows(sql, apart)[0][::2], (10, None))

    def test_w1_w3_and_w4_of_the_host(self):
        sql = "SELECT seq, transfer, max_wait, last_rank FROM trace_collectives(?) WHERE iterations = 'all'"

        def of_host(folder, *ranks, name="gloo:all_reduce", tied=()):
            for rank, spans in enumerate(ranks):
                write(f"{folder}/rank{rank}.json", document(step(1, 0, 2000), event("op", 0, 2000), *(
                    event(name, start, end - start, cat="user_annotation", tid=2)
                    for start, end in spans), *tied))
            return folder
        self.assertEqual(self.rows(sql, of_host("a", [(0, 100), (10, 130)], [(80, 100), (100, 130)])),
                         [(0, 20, 80, 1), (1, 30, 0, 1)])
        for folder, end, last in (("b", 148, None), ("c", 147, 1)):  # half of 95 is 47.5
            trace = of_host(folder, [(0, 100)], [(end - 5, end)], name="gloo:broadcast",
                            tied=[event("gloo:all_reduce", 1000, 10)])
            self.assertEqual(self.rows(sql + " AND name = 'gloo:broadcast'", trace), [(0, 5, 95, last)])

    def test_q3(self):
        trace = self.collectives("t", *[[(end - 20, end) for end in ends]
                                        for ends in ((100, 200, 300), (1102, 1201, 1309))])
        self.assertEqual(self.rows("SELECT offset FROM trace_job_clocks(?) WHERE iterations = 1", trace),
                         [(0,), (1002,)])

    def test_q5(self):
        write("t/rank0.json", document(step(1, 0, 100), launch(10, 2, 1), reduce(100, 80, 1)))
        write("t/rank1.json", document(step(1, 0, 100), event("aten::mm", 0, 40), launch(5, 2, 2), launch(10, 2, 1),
                                       kernel("gemm", 10, 140, 2), reduce(150, 30, 1)))
        self.assertEqual(self.rows("SELECT rank, ts, ts + dur, waiting_rank FROM trace_job_path(?)"
                                   " WHERE iterations = 'all'", "t"),
                         [(1, 0, 150, 0), (0, 150, 180, None)])


class Keys(Made):
    def by(self, keys, columns, *events):
        path = self.trace(*events)
        return {key: tuple(values) for key, *values in self.rows(
            f"SELECT key, {columns} FROM trace_diff_by(:1, :1) WHERE keys = '{keys}' AND control_iteration = 'all'"
            " AND test_iteration = 'all'", path)}

    def test_b3(self):
        sums = self.by("op", "control_events, control_self_time, control_host_time", step(1, 0, 100),
                       event("aten::mm", 0, 50),
                       launch(20, 10, 1), kernel("k", 60, 5, 1))
        self.assertEqual(sums["aten::mm"], (2, 50, 50))

    def test_b5_and_b6(self):
        events = [step(1, 0, 200)]
        for i in range(2):
            events.append(event("aten::addmm", 50 * i, 40))
            for j, name in enumerate("abc"):
                events += [launch(50 * i + 1 + 10 * j, 5, 3 * i + j + 1),
                           kernel(name, 60 + 10 * (3 * i + j), 5, 3 * i + j + 1)]
        columns = "control_counts, control_kernels"
        self.assertEqual(self.by("op", columns, *events)["aten::addmm"], (2, 6))
        self.assertEqual(self.by("op,kernel", columns, *events)["aten::addmm | a"], (2, 2))
        self.assertEqual(self.by("kernel", columns, *events)["a"], (2, 2))

    def work(self, *events):
        return self.rows("SELECT flops, bytes FROM trace_kernel_owners(?) WHERE iterations = 'all'",
                         self.trace(step(1, 0, 1000), *events))

    @staticmethod
    def operator(name, ts, dur, dims, types):
        return event(name, ts, dur, args={"Input Dims": dims, **({"Input type": types} if types else {})})

    def test_f1_and_f4(self):
        launched = launch(5, 2, 1), kernel("k", 30, 10, 1)
        dims, types = [[64, 32], [32, 16]], ["float", "float"]
        self.assertEqual(self.work(event("aten::mm", 0, 20), *launched), [(None, None)])
        self.assertEqual(self.work(self.operator("aten::mm", 0, 20, dims, None), *launched), [(65536, None)])
        self.assertEqual(self.work(self.operator("aten::mm", 0, 20, dims, types), *launched), [(65536, 14336)])

    def test_f2(self):
        self.assertEqual(self.work(
            self.operator("aten::linear", 0, 50, [[64, 32], [16, 32], []], ["float", "float", ""]),
            self.operator("aten::addmm", 5, 20, [[64, 16], [64, 32], [32, 16]], ["float"] * 3),
            launch(10, 2, 1), kernel("a", 30, 10, 1), launch(40, 2, 2), kernel("b", 60, 10, 2)),
            [(65536, 18432), (None, None)])

    def test_f3(self):
        self.assertEqual([flops for flops, _ in self.work(
            self.operator("aten::mm", 0, 20, [[5, 10], [10, 1]], ["float", "float"]),
            *[launch(3 * i, 2, i) for i in (1, 2, 3)], *[kernel("k", 30 + 10 * i, 10, i) for i in (1, 2, 3)])],
            [33, 33, 34])

    def test_f5(self):
        self.assertEqual(self.work(self.operator("aten::add", 0, 20, [[8, 1], [1, 4]], ["float", "c10::BFloat16"]),
                                   launch(3, 2, 1), kernel("k", 30, 10, 1)), [(None, 168)])
