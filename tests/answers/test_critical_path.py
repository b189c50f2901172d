"""critical_path (P1 to P9): against its rules word for word (oracle_path.py) on small random traces, by invariants on
every available trace, on steps made by hand, and beside HTA's, whose rules hta_path.py transcribes.
"""
import csv
import os
import random
from collections import Counter

import hta_load
import hta_path
import oracle
import oracle_path
import oracle_serving
import oracle_slack
from made import InFolder, document, event, kernel, launch, step, write
from support import EXAMPLES, alone, corpus, golden, series, slow, slowest
from test_nsys_cost import SLACK, ask, fastest

CLOCKS = ("device", "host")
KINDS = ("host", "launch", "queue", "kernel", "sync", "wait")
CALLS = ["cudaLaunchKernel"] * 4 + ["cudaGraphLaunch", "cudaMemcpyAsync", "cudaMalloc", "cudaStreamSynchronize",
                                    "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaStreamWaitEvent",
                                    "cudaStreamWaitEvent", "cudaEventRecordWithFlags"]
SYNCS = {"cudaStreamSynchronize": "Stream Sync", "cudaDeviceSynchronize": "Context Sync",
         "cudaEventSynchronize": "Event Sync", "cudaStreamWaitEvent": "Stream Wait Event"}


def random_trace(seed):
    """A small trace of about 60 us: host threads whose calls and operators may overlap, streams, graphs,
    synchronisations, and streams that wait, with and without their sync events and details. Work may start before its
    launch.
    """
    rng = random.Random(seed)
    events, length = [], rng.choice([20, 40, 80])
    threads, streams = rng.choice([1, 2, 3]), rng.choice([1, 2, 3])
    correlations = [rng.randrange(1, 60) for _ in range(rng.choice([3, 30]))]

    def add(cat, name, at, dur, **fields):
        events.append(event(name, at, dur, cat=cat, **fields))

    for _ in range(rng.choice([0, 3, 8])):
        add(rng.choice(["cpu_op", "cpu_op", "user_annotation", "python_function"]), rng.choice("abcd"),
            rng.randrange(length), rng.choice([0, 1, 4, 9, 20]), tid=rng.randrange(threads))
    for _ in range(rng.choice([0, 1, 4, 9, 14])):
        name, correlation, at = rng.choice(CALLS), rng.choice(correlations), rng.randrange(length)
        dur, stream = rng.choice([0, 1, 2, 3, 9]), rng.randrange(streams)
        work = {"pid": rng.choice([0, 0, 0, 9]), "tid": stream, "args": {"correlation": correlation, "stream": stream}}
        if name in ("cudaLaunchKernel", "cudaGraphLaunch"):
            for _ in range(1 if name == "cudaLaunchKernel" else rng.randrange(4)):
                work["tid"] = work["args"]["stream"] = stream = rng.randrange(streams)
                add("kernel", "gemm", at + rng.randrange(-1, 12), rng.choice([0, 1, 4, 8]),
                    **{**work, "args": dict(work["args"])})
        elif name == "cudaMemcpyAsync":
            kind = "Memcpy HtoD (Pageable -> Device)" if correlation % 2 else "Memcpy"
            add("gpu_memcpy", kind, at + rng.randrange(-2, 3), rng.choice([1, 2, 5]), **work)
            dur = rng.choice([1, 6, 9])
        elif name in SYNCS and rng.random() < .6:
            dur = rng.choice([1, 6, 15])
            if rng.random() < .7:
                work["args"]["wait_on_stream"] = rng.choice([-1, *range(streams)])
                if rng.random() < .6:
                    work["args"]["wait_on_cuda_event_record_corr_id"] = rng.choice(correlations)
            add("cuda_sync", SYNCS[name], at, dur, **work)
        add(rng.choice(["cuda_runtime", "cuda_runtime", "cuda_driver"]), name, at, dur, tid=rng.randrange(threads),
            args={"correlation": correlation})
    for _ in range(rng.choice([0, 0, 2])):
        add("kernel", "backlog", rng.randrange(-9, 20), rng.choice([1, 6]), pid=0, tid=rng.randrange(streams),
            args={"stream": 1})
    at = rng.randrange(10)
    for number in range(rng.choice([0, 1, 2, 3])):
        dur = rng.choice([0, 8, 25])
        add("user_annotation", f"ProfilerStep#{number}", at, dur, tid=rng.randrange(threads))
        at += dur + rng.choice([0, 2, -1])
    rng.shuffle(events)
    return document(*events)


def random_files(count):
    """Yields, per seed, a random trace, its path, and the oracle's reading of it."""
    for seed in range(count):
        trace = random_trace(seed)
        path = write(f"{seed % 8}.json", trace)
        yield seed, trace, path, oracle.read_trace(path).files[0]


class Rules(InFolder):
    COUNT = int(os.environ.get("RANDOM_TRACES") or series(60, 1500))
    ROWS = "SELECT iteration, seq, kind, event, ts_ns, dur_ns FROM critical_path(?, 0, 'all', ?)"

    def test_random_traces(self):
        seen = Counter()
        for seed, trace, path, file in random_files(self.COUNT):
            for clock in CLOCKS:
                expected, found = oracle_path.paths(file, trace["traceEvents"], clock), {}
                for iteration, seq, kind, number, start, dur in self.rows(self.ROWS, path, clock):
                    parts = found.setdefault(iteration, [])
                    self.assertEqual(seq, len(parts), seed)
                    if kind:
                        parts.append((kind, number, start, start + dur))
                    seen[kind] += 1
                with self.subTest(seed=seed, clock=clock):
                    self.assertEqual({step: oracle_path.joined(parts) for step, parts in found.items()}, expected)
        self.assertEqual(set(seen), {None, *KINDS})
        self.assertGreater(min(seen.values()), self.COUNT // 10, seen)


class Slack(InFolder):
    """P9: work off the path can take longer by its slack, and not by 1 ns more; work on the path has no slack."""
    COUNT = int(os.environ.get("RANDOM_TRACES") or series(60, 750))
    ROWS = ("SELECT iteration, seq, kind, event, ts_ns, ts_ns + dur_ns, slack_ns, slack"
            " FROM critical_path(?, 0, 'all', ?, 1)")

    def check(self, file, graph, window, rows):
        replay, path, off = oracle_slack.Replay(graph, window), set(), Counter()
        for seq, kind, number, start, stop, slack in rows:
            row, thread = file[number], oracle_path.thread_of(file[number])
            instants = range(start + oracle_path.UNIT, stop + 1, oracle_path.UNIT)
            keys = [("work", number)] if kind == "kernel" else [("thread", thread, each) for each in instants]
            (path if seq is not None else off).update(keys)
            for key in keys[-1:] if seq is not None else [keys[0], keys[-1]]:
                self.assertFalse(slack is not None and replay.moves(key, slack), (row, start, slack))
                self.assertEqual(replay.moves(key, 10 ** 9 if slack is None else slack + 1), slack is not None,
                                 (row, start, slack))
            yield kind, seq is not None, slack is not None and (slack > 0) + 1
        self.assertEqual(set(off.values()) - {1}, set())
        self.assertEqual(path & set(off), set())
        # everything is there except the time that a call waits for device work
        for work in replay.works:
            self.assertIn(("work", work.event), path | set(off))
        for thread in graph.threads:
            for at in range(window.start + oracle_path.UNIT, window.end + 1, oracle_path.UNIT):
                if graph.at_work(thread, at - oracle_path.UNIT) and ("thread", thread, at) not in path | set(off):
                    call = graph.label(thread, at - oracle_path.UNIT)
                    self.assertTrue(oracle.is_call(call) and graph.awaited(call, oracle_path.end(call)), (thread, at))

    def test_random_traces(self):
        seen = Counter()
        for seed, trace, path, file in random_files(self.COUNT):
            rows = {row.event: row for row in file.rows}
            for clock in CLOCKS:
                graph, found = oracle_path.Graph(file, trace["traceEvents"], clock), {}
                for iteration, seq, kind, number, start, stop, slack, us in self.rows(self.ROWS, path, clock):
                    self.assertEqual(us, slack if slack is None else slack / 1000)
                    self.assertTrue(seq is None or slack == 0)
                    if kind not in (None, "queue", "wait") and number is not None \
                            and (kind == "kernel" or graph.at_work(oracle_path.thread_of(rows[number]), stop - 1)):
                        found.setdefault(iteration, []).append((seq, kind, number, start, stop, slack))
                for window in graph.windows:
                    with self.subTest(seed=seed, clock=clock, iteration=window.iteration):
                        seen.update(self.check(rows, graph, window, found.get(window.iteration, [])))
        kinds = {(kind, False, slack) for kind in ("host", "launch", "kernel", "sync") for slack in (False, 2)}
        self.assertEqual(kinds - set(seen), set(), seen)


class Everywhere(InFolder):
    def check(self, path):
        """Checks that the parts of a step follow each other and add up to trace_step_time."""
        for clock in CLOCKS:
            lengths = dict(((rank, iteration), time) for rank, iteration, time in self.rows(
                "SELECT rank, iteration, sum(time_ns) FROM trace_step_time(?, 'all', 'all', 'op', ?) GROUP BY 1, 2",
                path, clock))
            reached, sums = {}, Counter()
            for rank, iteration, seq, start, dur in self.rows(
                    "SELECT rank, iteration, seq, ts_ns, dur_ns FROM critical_path(?, 'all', 'all', ?)", path, clock):
                if reached.get((rank, iteration), (0, start)) != (seq, start):
                    self.fail(f"{path} {clock}: {seq} of {rank, iteration} starts at {start}, not after the one before")
                reached[rank, iteration] = seq + 1, None if start is None else start + dur
                sums[rank, iteration] += dur
            self.assertEqual(sums, lengths, (path, clock))
            with_off = "SELECT * FROM critical_path(?, 'all', 'all', ?, 1) WHERE "
            self.assertEqual(self.rows(with_off + "seq NOT NULL AND slack_ns = 0", path, clock),
                             self.rows("SELECT * FROM critical_path(?, 'all', 'all', ?)", path, clock))
            self.assertEqual([], self.rows(with_off + "seq IS NULL AND (slack_ns < 0 OR dur_ns <= 0 OR kind IS NULL"
                                           " OR kind IN ('queue', 'wait'))", path, clock))

    def test_examples(self):
        for folder, side in (("gpu", "test"), ("cpu", "control"), ("gpu", "control"), ("cpu", "test"))[:series(2, 4)]:
            self.check(os.path.join(EXAMPLES, folder, side))

    @slowest
    def test_real_traces(self):
        for path in (("hta", "trace_diff", "control"), ("hta", "trace_diff", "test"), ("hta", "amd_trace"),
                     ("hta", "cpu_only"), ("hta", "critical_path", "simple_add"), ("kineto", "resnet50_workers_0")):
            self.check(corpus(*path))


def call(name, ts, dur, correlation=None, **fields):
    return event(name, ts, dur, cat="cuda_runtime", args={"correlation": correlation} if correlation else {}, **fields)


def sync(name, ts, dur, correlation, stream, **args):
    return event(name, ts, dur, cat="cuda_sync", pid=0, tid=stream,
                 args={"correlation": correlation, "stream": stream, **args})


class Made(InFolder):
    """Steps of 100 us, made by hand; a part is (kind, name, us)."""

    def path(self, *events, clock="device"):
        write("made.json", document(step(1, 0, 100), *events))
        return self.rows("SELECT kind, name, cast(dur AS INTEGER) FROM critical_path('made.json', 0, 'all', ?)", clock)

    def test_a_kernel_that_waits_for_its_launch(self):
        self.assertEqual(self.path(event("op", 10, 20), launch(12, 8, 1), kernel("gemm", 25, 90, 1)), [
            ("host", None, 10), ("host", "op", 2), ("launch", "cudaLaunchKernel", 8), ("queue", "gemm", 5),
            ("kernel", "gemm", 90)])

    def test_a_kernel_that_starts_before_its_launch_returns(self):
        self.assertEqual(self.path(event("op", 10, 20), launch(12, 8, 1), kernel("gemm", 17, 90, 1)), [
            ("host", None, 10), ("host", "op", 2), ("launch", "cudaLaunchKernel", 5), ("kernel", "gemm", 90)])

    def test_a_kernel_that_waits_for_its_stream(self):
        """With two launches before the first kernel starts, a kernel waits for its stream; HTA connects neither
        (D36).
        """
        self.assertEqual(self.path(launch(2, 2, 1), launch(5, 2, 2), kernel("a", 10, 40, 1), kernel("b", 51, 60, 2)), [
            ("host", None, 2), ("launch", "cudaLaunchKernel", 2), ("queue", "a", 6), ("kernel", "a", 40),
            ("queue", "b", 1), ("kernel", "b", 60)])

    def test_the_nodes_of_a_graph(self):
        """The nodes of a graph wait for each other, on any stream."""
        graph = call("cudaGraphLaunch", 2, 2, 1)
        nodes = [kernel("a", 10, 40, 1, 7), kernel("b", 12, 30, 1, 8), kernel("c", 50, 60, 1, 8)]
        self.assertEqual(self.path(graph, *nodes),
                         [("host", None, 2), ("launch", "cudaGraphLaunch", 2), ("queue", "a", 6), ("kernel", "a", 40),
                          ("kernel", "c", 60)])

    def test_a_stream_that_waits_for_another(self):
        """The trace names the stream that is waited for (P6.1), or only says that the stream waits (P6.2)."""
        events = [launch(2, 2, 1), kernel("gemm", 10, 40, 1, 7), launch(5, 1, 2), kernel("late", 12, 42, 2, 9),
                  call("cudaEventRecord", 7, 1, 3), call("cudaStreamWaitEvent", 10, 1, 4), launch(12, 2, 5),
                  kernel("nccl", 55, 50, 5, 20)]
        start = [("host", None, 2), ("launch", "cudaLaunchKernel", 2)]
        self.assertEqual(self.path(*events), [
            *start, ("host", None, 1), ("launch", "cudaLaunchKernel", 1), ("queue", "late", 6), ("kernel", "late", 42),
            ("queue", "nccl", 1), ("kernel", "nccl", 50)])
        told = sync("Stream Wait Event", 10, 1, 4, 20, wait_on_stream=7, wait_on_cuda_event_record_corr_id=3)
        self.assertEqual(self.path(*events, told), [
            *start, ("queue", "gemm", 6), ("kernel", "gemm", 40), ("queue", "nccl", 5), ("kernel", "nccl", 50)])
        del events[5]  # without the wait
        self.assertEqual(self.path(*events)[-3:], [
            ("launch", "cudaLaunchKernel", 2), ("queue", "nccl", 41), ("kernel", "nccl", 50)])

    def test_a_stream_that_waits_for_two_others(self):
        """A stream that waits for two others depends on the one that ends last, in either order of the waits."""
        def waits(at, number, stream):
            return [call("cudaStreamWaitEvent", at, 1, number),
                    sync("Stream Wait Event", at, 1, number, 20, wait_on_stream=stream)]

        events = [launch(2, 1, 1), kernel("short", 10, 30, 1, 7), launch(5, 1, 2), kernel("long", 12, 42, 2, 9),
                  launch(14, 1, 5), kernel("nccl", 55, 50, 5, 20)]
        for streams in ((7, 9), (9, 7)):
            told = [each for i, stream in enumerate(streams) for each in waits(8 + 2 * i, 10 + i, stream)]
            self.assertEqual(self.path(*events, *told)[-3:],
                             [("kernel", "long", 42), ("queue", "nccl", 1), ("kernel", "nccl", 50)])

    def test_a_stream_that_waits_for_another_twice(self):
        """The later of two waits for the same stream covers the earlier one, in either order of writing; other streams
        change nothing.
        """
        waits = [event for at, number in ((4, 10), (8, 11)) for event in (
            call("cudaStreamWaitEvent", at, 1, number), sync("Stream Wait Event", at, 1, number, 20, wait_on_stream=7))]
        waits += [call("cudaStreamWaitEvent", 10, 1, 12), sync("Stream Wait Event", 10, 1, 12, 20, wait_on_stream=9)]
        events = [launch(2, 1, 1), kernel("early", 10, 20, 1, 7), launch(6, 1, 2), kernel("late", 31, 20, 2, 7),
                  launch(14, 1, 5), kernel("nccl", 55, 50, 5, 20)]
        for told in (waits, waits[::-1]):
            self.assertEqual(self.path(*events, *told)[-3:],
                             [("kernel", "late", 20), ("queue", "nccl", 4), ("kernel", "nccl", 50)])

    def test_what_was_recorded_before_is_not_waited_for(self):
        """A stream that waits for an event does not wait for work that was launched after the event was recorded."""
        told = sync("Stream Wait Event", 10, 1, 4, 20, wait_on_stream=7, wait_on_cuda_event_record_corr_id=3)
        self.assertEqual(self.path(
            call("cudaEventRecord", 1, 1, 3), launch(2, 2, 1), kernel("gemm", 10, 40, 1, 7),
            call("cudaStreamWaitEvent", 10, 1, 4), told, launch(12, 2, 5), kernel("nccl", 55, 50, 5, 20))[-2:],
            [("queue", "nccl", 41), ("kernel", "nccl", 50)])

    def test_a_synchronisation_that_waits(self):
        events = [launch(2, 2, 1), kernel("gemm", 10, 40, 1), call("cudaDeviceSynchronize", 5, 50, 9),
                  launch(60, 2, 2), kernel("relu", 65, 50, 2)]
        expected = [("host", None, 2), ("launch", "cudaLaunchKernel", 2), ("queue", "gemm", 6), ("kernel", "gemm", 40),
                    ("sync", "cudaDeviceSynchronize", 5), ("host", None, 5), ("launch", "cudaLaunchKernel", 2),
                    ("queue", "relu", 3), ("kernel", "relu", 50)]
        self.assertEqual(self.path(*events), expected)
        # of one stream; the others do not matter, if the trace names it
        other = [launch(1, 1, 3), kernel("other", 10, 42, 3, 20)]
        self.assertEqual(self.path(*events, *other)[3:5],
                         [("kernel", "other", 42), ("sync", "cudaDeviceSynchronize", 3)])
        self.assertEqual(self.path(*events, *other, sync("Stream Sync", 5, 49, 9, 7))[-8:],
                         expected[-8:])

    def test_a_synchronisation_that_does_not_wait(self):
        before = [launch(1, 1, 8), kernel("before", 2, 3, 8)]
        meanwhile = [launch(7, 1, 8, tid=2), kernel("meanwhile", 8, 3, 8)]
        later = [launch(4, 1, 8), kernel("later", 9, 7, 8)]
        for events in ([], before, meanwhile, later):
            found = self.path(*events, call("cudaDeviceSynchronize", 5, 10, 9), launch(60, 2, 2),
                              kernel("relu", 65, 50, 2))
            self.assertIn(("sync", "cudaDeviceSynchronize", 10), found)

    def test_copies(self):
        """A copy whose call returns after its end blocks the host; another one does not."""
        copy = event("Memcpy DtoH", 30, 10, cat="gpu_memcpy", pid=0, tid=7, args={"correlation": 2, "stream": 7})
        waited = [("queue", "Memcpy DtoH", 5), ("kernel", "Memcpy DtoH", 10), ("sync", "cudaMemcpyAsync", 5)]
        for dur, expected in ((40, waited), (3, [("launch", "cudaMemcpyAsync", 3)])):
            found = self.path(launch(1, 1, 1), kernel("gemm", 4, 21, 1), call("cudaMemcpyAsync", 5, dur, 2), copy,
                              launch(60, 2, 3), kernel("relu", 65, 50, 3))
            self.assertEqual(found[found.index(expected[0]):][:len(expected)], expected)

    def test_backward(self):
        """The autograd thread waits for the thread of the step, and the other way round."""
        self.assertEqual(self.path(
            event("forward", 5, 20), launch(8, 1, 1), kernel("a", 12, 3, 1),
            event("backward", 30, 20, tid=2), launch(35, 1, 2, tid=2), kernel("b", 40, 3, 2),
            event("train.py: backward", 26, 29, cat="python_function"), event("optimizer", 60, 20), launch(65, 1, 3),
            kernel("c", 70, 40, 3)), [
            ("host", None, 5), ("host", "forward", 3), ("launch", "cudaLaunchKernel", 1), ("host", "forward", 16),
            ("wait", None, 5), ("host", "backward", 5), ("launch", "cudaLaunchKernel", 1), ("host", "backward", 14),
            ("wait", "train.py: backward", 5), ("host", None, 5), ("host", "optimizer", 5),
            ("launch", "cudaLaunchKernel", 1), ("queue", "c", 4), ("kernel", "c", 40)])

    def test_the_clock_of_the_host(self):
        self.assertEqual(self.path(event("op", 10, 20), launch(12, 8, 1), kernel("gemm", 25, 90, 1), clock="host"), [
            ("host", None, 10), ("host", "op", 2), ("launch", "cudaLaunchKernel", 8), ("host", "op", 10),
            ("host", None, 70)])

    def test_a_trace_without_device_work(self):
        self.assertEqual(self.path(event("op", 10, 20), call("cudaMalloc", 15, 5)), [
            ("host", None, 10), ("host", "op", 5), ("host", "cudaMalloc", 5), ("host", "op", 10),
            ("host", None, 70)])

    def off(self, *events, clock="device"):
        write("made.json", document(step(1, 0, 100), *events))
        return self.rows("SELECT kind, name, cast(ts AS INTEGER), cast(dur AS INTEGER), cast(slack AS INTEGER)"
                         " FROM critical_path('made.json', 0, 'all', ?, 1) WHERE seq IS NULL", clock)

    def test_the_slack_of_a_copy_beside_kernels(self):
        """A stream waits for two others. The one that ends first could end with the other, and its launch could come as
        much later. After the last launch, nothing in the step waits for the host.
        """
        self.assertEqual(self.off(
            launch(2, 1, 1), kernel("long", 5, 45, 1, 7), launch(5, 2, 2), kernel("short", 10, 20, 2, 9),
            call("cudaStreamWaitEvent", 10, 1, 4), launch(12, 2, 5), kernel("nccl", 52, 60, 5, 20),
            event("op", 20, 9)), [
            ("launch", "cudaLaunchKernel", 5, 2, 20), ("host", "cudaStreamWaitEvent", 10, 1, 36),
            ("kernel", "short", 10, 20, 20), ("launch", "cudaLaunchKernel", 12, 2, 36),
            ("host", "op", 20, 9, None)])

    def test_errors(self):
        write("a.json", document(step(1, 0, 100), step(2, 100, 50)))
        self.assert_error("critical_path: off_path must be 0 or 1, not 2" + self.order("critical_path"),
                          "SELECT * FROM critical_path('a.json', 0, 'all', NULL, 2)")
        self.assert_error("critical_path: clock must be 'device' or 'host', not 'both'" + self.order("critical_path"),
                          "SELECT * FROM critical_path('a.json', 0, 'all', 'both')")
        self.assert_error("critical_path_diff: 'a.json' has no rank 3 (ranks: 0)",
                          "SELECT * FROM critical_path_diff('a.json', 'a.json', 3)")
        self.assert_error("critical_path_diff: second argument (test) is missing",
                          "SELECT * FROM critical_path_diff('a.json')")


class Sums(InFolder):
    """critical_path_diff equals critical_path added up in Python."""

    PAIR = [os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test")]

    def sums(self, trace, arguments):
        """{(kind, name): [ns, parts]}, and the number of paths"""
        sums, steps = {}, set()
        for rank, iteration, kind, name, dur in self.rows(
                "SELECT rank, iteration, kind, trace_stable_name(name), dur_ns"
                f" FROM critical_path(?, {arguments})", trace):
            steps.add((rank, iteration))
            if kind:
                row = sums.setdefault((kind, name), [0, 0])
                row[0] += dur
                row[1] += 1
        return sums, len(steps)

    def test_critical_path_diff_subtracts_the_sums(self):
        for arguments in ("NULL, NULL", "'all', 'all'", "0, 12", "'all', 'all', 'host'"):
            sides = [self.sums(path, arguments) for path in self.PAIR]
            rank, iteration, *clock = (value.strip() for value in arguments.split(","))
            found = self.rows("SELECT kind, name, control_ns, test_ns, control_parts, test_parts, diff_time, change,"
                              " control_steps, test_steps FROM critical_path_diff(?, ?,"
                              f" {', '.join([rank, rank, iteration, iteration, *clock])})", *self.PAIR)
            self.assertEqual({row[:2] for row in found}, set(sides[0][0]) | set(sides[1][0]))
            total = 0
            for kind, name, *ns, control, test, diff, change, control_steps, test_steps in found:
                key, parts = (kind, name), (control * control_steps, test * test_steps)
                self.assertEqual([control_steps, test_steps], [side[1] for side in sides])
                self.assertEqual(list(zip(ns, map(round, parts))), [tuple(side[0].get(key, (0, 0))) for side in sides])
                exact = ns[1] / test_steps - ns[0] / control_steps
                self.assertAlmostEqual(diff, exact / 1000, places=6)
                self.assertEqual(change, "added" if key not in sides[0][0] else "deleted" if key not in sides[1][0]
                                 else "increased" if exact > 0 else "decreased" if exact < 0 else "same")
                total += exact
            step = self.rows("SELECT sum(diff_time) FROM trace_step_diff(?, ?, ?, ?, ?, ?, 'op', ?)", *self.PAIR,
                             *(None if value == "NULL" else value.strip("'")
                               for value in (rank, rank, iteration, iteration, *(clock or ["NULL"]))))
            self.assertAlmostEqual(total / 1000, step[0][0], places=6)

    def test_what_is_planted(self):
        """The longest rows of examples/gpu are the planted changes of generate_gpu_pair.py that lie on the path."""
        found = self.rows("SELECT kind, trace_short_name(name), round(diff_time, 1) FROM critical_path_diff(?, ?)",
                          *self.PAIR)
        self.assertEqual(found[:5], [
            ("host", "enumerate#_MultiProcessingDataLoaderIter.__next__", 300.0),
            ("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 300.0),
            ("kernel", "at::native::(anonymous namespace)::multi_tensor_apply_kernel", 168.0),
            ("kernel", "at::native::(anonymous namespace)::vectorized_layer_norm_kernel", 160.0),
            ("kernel", "Memcpy DtoD (Device -> Device)", 96.0)])
        self.assertAlmostEqual(sum(row[2] for row in found), 683.6)


class Overlapping(InFolder):
    """n steps that overlap by the host's clock have n^2 parts, which are found as they are read."""

    @slow
    def test_rows_are_the_same_whenever_they_are_read(self):
        """Rows do not depend on the order of reading: with rows that are too large to keep, two cursors side by side,
        two cycles of a rank, and two ranks.
        """
        for rank, cycle in ((0, 0), (0, 1), (1, 0)):
            write(f"runs/rank{rank}.{cycle}.json", document(
                *(step(1000 * cycle + i, i, 3000) for i in range(150)),
                *(event(f"op{rank}{cycle}{i}", 400 + i, .5) for i in range(1000))))
        sql = "SELECT rowid, rank, iteration, seq, event, ts FROM critical_path('runs', 'all', 'all', 'host')"
        first = self.rows(sql)
        self.assertEqual(len(first), 450 * 2001)
        self.assertEqual([row[0] - first[0][0] for row in first[::1000]], list(range(0, len(first), 1000)))
        keys = [row[1:4] for row in first]
        self.assertEqual(keys, sorted(keys))
        one, two = (self.db.execute(sql) for _ in range(2))
        self.assertEqual(one.fetchmany(1000), first[:1000])
        self.assertTrue(all(two.fetchone() == row for row in first))
        self.assertEqual(one.fetchall(), first[1000:])


def table(name):
    with open(golden("critical_path_simple_add", f"critical_path_1.{name}.csv"), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Hta(InFolder):
    """critical_path_analysis of the whole trace simple_add: HTA's own output, and the differences (D36)."""

    def setUp(self):
        super().setUp()
        self.path = corpus("hta", "critical_path", "simple_add")
        self.graph = hta_path.Graph(hta_load.load(self.path))

    def test_golden(self):
        graph = self.graph
        self.assertEqual([(node.event, node.time, str(node.is_start), str(node.is_blocking)) for node in graph.nodes],
                         [(int(row["ev_idx"]), float(row["ts"]), row["is_start"], row["is_blocking"])
                          for row in table("nodes")])
        edges = {(int(row["begin"]), int(row["end"])): (
            row["type"].removeprefix("critical_path_"), float(row["weight"]),
            int(row["event_idx"].removesuffix(".0")) if row["event_idx"] else None) for row in table("edges")}
        self.assertEqual(graph.edges, edges)
        self.assertEqual(graph.path, [int(row["node"]) for row in table("path")])
        summary = {row["bound_by"]: float(row["duration_pct"]) for row in table("summary")}
        self.assertEqual(graph.summary().keys(), summary.keys())
        for bound, percent in graph.summary().items():
            self.assertAlmostEqual(percent, summary[bound], places=9)
        breakdown = Counter((row["event_idx"].removesuffix(".0"), float(row["duration"]), row["bound_by"])
                            for row in table("breakdown"))
        self.assertEqual(breakdown, Counter(("" if event is None else str(event), weight, bound)
                                            for event, weight, bound in graph.breakdown()))

    def test_what_is_different(self):
        """HTA's path is shorter than the time that it explains. Kernels at its end had ended before the synchronisation
        began, so nothing waited for them. All other device work is the same.
        """
        graph, rows = self.graph, self.graph.rows
        edges = [(edge, graph.edges[edge]) for edge in zip(graph.path, graph.path[1:])]
        lost = Counter()
        for (begin, end), (kind, weight, _) in edges:
            lost[kind] += graph.nodes[end].time - graph.nodes[begin].time - weight
        span = graph.nodes[graph.path[-1]].time - graph.nodes[graph.path[0]].time
        self.assertEqual((sum(weight for _, (_, weight, _) in edges), span), (41435012, 41577653))
        self.assertEqual(+lost, {"dependency": 142220, "sync_dependency": 361, "operator": 60})
        theirs = {event for _, (kind, _, event) in edges if kind == "operator" and rows[event].stream is not None}
        ours = {event for event, in self.rows("SELECT event FROM critical_path(?) WHERE kind = 'kernel'", self.path)}
        self.assertEqual(ours - theirs, set())
        self.assertEqual(len(ours), 16)
        syncs = [row for row in rows.values() if row.name == "cudaDeviceSynchronize"]
        for event in theirs - ours:
            self.assertEqual([row for row in syncs if row.ts_ns < rows[event].end_ns < row.end_ns], [])

    def test_a_burst(self):
        """With two launches before the first kernel starts, HTA's path begins on the device."""
        write("t/rank0.json", document(
            event("op", 0, 100), launch(5, 10, 1), launch(50, 10, 2), kernel("a", 61, 99, 1), kernel("b", 161, 250, 2),
            call("cudaDeviceSynchronize", 110, 310, 3), sync("Context Sync", 110, 305, 3, 7)))
        graph = hta_path.Graph(hta_load.load("t"))
        self.assertEqual(sum(graph.edges[edge][1] for edge in zip(graph.path, graph.path[1:])), 350)
        self.assertEqual(graph.rows[graph.nodes[graph.path[0]].event].name, "a")
        self.assertEqual(self.rows("SELECT kind, name, cast(dur AS INTEGER) FROM critical_path('t')"), [
            ("host", "op", 5), ("launch", "cudaLaunchKernel", 10), ("queue", "a", 46), ("kernel", "a", 99),
            ("queue", "b", 1), ("kernel", "b", 250), ("sync", "cudaDeviceSynchronize", 9)])


LINE = ('{{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{},"dur":{},'
        '"args":{{"correlation":{},"stream":{}}}}},\n')


def write_many(path, count, shape):
    """Writes operators with a launch each: streams that wait for each other, a synchronisation per launch, two threads
    in turn, kernels long after their launches, all in one synchronisation while another thread launches, or after waits
    for streams whose work was not launched before.
    """
    lines = [LINE.format("user_annotation", "ProfilerStep#1", 1, 1, 0, 10 * count + 10, 0, -1)]
    if shape == "inside":
        lines.append(LINE.format("cuda_runtime", "cudaStreamSynchronize", 1, 1, 0, 10 * count, 0, -1))
    for i in range(count if shape == "told" else 0):
        at = i / count
        lines.append(LINE.format("cuda_runtime", "cudaStreamWaitEvent", 1, 1, at, 0, count + i + 2, -1))
        lines.append(LINE.format("cuda_sync", "Stream Wait Event", 0, 20, at, 0, count + i + 2, 20).replace(
            "}}", f',"wait_on_stream":{7 + i % 100 * i}}}}}'))
    for i in range(count):
        at, thread = 10 * i + (shape == "told"), 1 + (shape == "threads" and i % 2)
        stream, dur = 20 if shape == "waits" and i % 2 else 7, {"waits": 14, "late": 9.5}.get(shape, 1.5)
        lines.append(LINE.format("cpu_op", f"aten::op{i % 17}", 1, thread, at, 9, 0, -1))
        if shape == "waits":
            lines.append(LINE.format("cuda_runtime", "cudaStreamWaitEvent", 1, 1, at + 1, 1, 0, -1))
        launcher, start = 2 if shape == "inside" else thread, at + (2000 if shape == "late" else 7)
        lines.append(LINE.format("cuda_runtime", "cudaLaunchKernel", 1, launcher, at + 3, 3, i + 1, -1))
        lines.append(LINE.format("kernel", f"k{i % 13}", 0, stream, start, dur, i + 1, stream))
        if shape == "syncs":
            lines.append(LINE.format("cuda_runtime", "cudaStreamSynchronize", 1, 1, at + 6.5, 3, 0, -1))
    if shape == "told":
        lines.append(LINE.format("cuda_runtime", "cudaLaunchKernel", 1, 1, 10 * count + 1, 3, count + 1, -1))
        lines.append(LINE.format("kernel", "last", 0, 20, 10 * count + 7, 9, count + 1, 20))
    write(path, '{"traceEvents": [' + "".join(lines).rstrip(",\n") + "]}")


class Cost(InFolder):
    @alone
    def test_many_steps_without_device_work(self):
        """With many steps without device work, four times the steps take at most eight times the CPU time, not sixteen
        times.
        """
        for count in (3000, 12_000):
            write(f"{count}.json", document(*(step(number, 100 * number, 100) for number in range(count)), *(
                event("op", 20 * place, 9) for place in range(4 * count))))
        sql = "SELECT count(DISTINCT iteration) FROM critical_path(?, NULL, 'all')"
        small, large = fastest(*(lambda path=path: ask(sql, path) for path in ("3000.json", "12000.json")), times=2)
        self.assertLess(large, (8 * small + 0.02) * SLACK)

    @alone
    @slowest
    def test_linear(self):
        """Four times the events take at most five times the CPU time."""
        for shape in ("plain", "waits", "syncs", "threads", "late", "inside", "told"):
            for count in (5000, 20_000):
                write_many(f"{count}.json", count, shape)
            for off in (0, 1):
                sql = f"SELECT count(*), sum(dur_ns) FROM critical_path(?, NULL, NULL, NULL, {off})"
                with self.subTest(shape, off=off):
                    small, large = fastest(*(lambda path=path: ask(sql, path) for path in ("5000.json", "20000.json")),
                                           times=3)
                    self.assertLess(large, (5 * small + 0.02) * SLACK)
