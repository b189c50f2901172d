"""critical_path: against its rules word for word (oracle_path.py) on small random traces, by what must hold on every
trace there is, and on steps made by hand.
"""
import os
import random
from collections import Counter

import oracle
import oracle_path
import oracle_serving
from made import InFolder, document, event, kernel, launch, step, write
from support import EXAMPLES, corpus, series, slowest

CLOCKS = ("device", "host")
KINDS = ("host", "launch", "queue", "kernel", "sync", "wait")
CALLS = ["cudaLaunchKernel"] * 4 + ["cudaGraphLaunch", "cudaMemcpyAsync", "cudaMalloc", "cudaStreamSynchronize",
                                    "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaStreamWaitEvent",
                                    "cudaStreamWaitEvent", "cudaEventRecordWithFlags"]
SYNCS = {"cudaStreamSynchronize": "Stream Sync", "cudaDeviceSynchronize": "Context Sync",
         "cudaEventSynchronize": "Event Sync", "cudaStreamWaitEvent": "Stream Wait Event"}


def random_trace(seed):
    """A small trace of some 60 us: host threads whose calls and operators may overlap, streams, graphs, syncs with and
    without their sync events, waits of streams with and without what they wait for; work may start before its launch."""
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
            add("gpu_memcpy", "Memcpy", at + rng.randrange(3), rng.choice([1, 2, 5]), **work)
            dur = rng.choice([1, 6, 9])
        elif name in SYNCS and rng.random() < .6:
            dur = rng.choice([1, 6, 15])
            if rng.random() < .7:
                work["args"]["wait_on_stream"] = rng.randrange(streams)
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


class Rules(InFolder):
    COUNT = int(os.environ.get("RANDOM_TRACES") or series(150, 1500))
    ROWS = "SELECT iteration, seq, kind, event, ts_ns, dur_ns FROM critical_path(?, 0, 'all', ?)"

    def test_random_traces(self):
        seen = Counter()
        for seed in range(self.COUNT):
            trace = random_trace(seed)
            path = write(f"{seed % 8}.json", trace)
            file = oracle.read_trace(path).files[0]
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


class Everywhere(InFolder):
    def check(self, path):
        """The parts of a step follow each other, and add up to what trace_step_time gives."""
        for clock in CLOCKS:
            lengths = dict(((rank, iteration), time) for rank, iteration, time in self.rows(
                "SELECT rank, iteration, sum(time_ns) FROM trace_step_time(?, 'all', 'all', 'op', ?) GROUP BY 1, 2",
                path, clock))
            reached, sums = {}, Counter()
            for rank, iteration, seq, start, dur in self.rows(
                    "SELECT rank, iteration, seq, ts_ns, dur_ns FROM critical_path(?, 'all', 'all', ?)", path, clock):
                self.assertEqual(reached.get((rank, iteration), (0, start)), (seq, start))
                reached[rank, iteration] = seq + 1, None if start is None else start + dur
                sums[rank, iteration] += dur
            self.assertEqual(sums, lengths, (path, clock))

    def test_examples(self):
        for folder in ("gpu", "cpu"):
            for side in ("control", "test"):
                self.check(os.path.join(EXAMPLES, folder, side))

    @slowest
    def test_real_traces(self):
        for path in (("hta", "trace_diff", "control"), ("hta", "trace_diff", "test"), ("hta", "amd_trace"),
                     ("hta", "cpu_only"), ("hta", "critical_path", "simple_add"), ("kineto", "resnet50_workers_0")):
            self.check(corpus(*path))
