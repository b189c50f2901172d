"""Failing memory, files and threads, and concurrent threads: runs the programs of tests/fault in a folder of small
traces. Each statement of fault.c is a test.

    FAULT  the folder of these programs   (default build/fault)
"""
import functools
import json
import os
import pickle
import random
import re
import shutil
import subprocess
import tempfile
import unittest

import generate_ascend
import generate_rocpd
import generate_rocprof
import generate_xplane
from generate_compile import random_log
from generate_hangs import hung_job, write as write_dumps
from generate_job import write_job
from generate_memory import snapshot
from made import document, event, kernel, launch, run, step, write
from made_database import KERNEL, PROCESS, export, opened
from support import DATA, EXTENSION, ROOT, alone, slow
from test_profilers_json import ascend

PROGRAMS = os.path.abspath(os.environ.get("FAULT") or os.path.join(ROOT, "build", "fault"))
with open(os.path.join(ROOT, "tests", "c", "fault", "fault.c"), encoding="utf-8") as source:
    STATEMENTS = re.findall(r'\{\.name = "(.*?)"', source.read())
LIMIT = 1500  # seconds, several times the usual duration


def rank(number, slower=1, extra=()):
    """A trace with every feature."""
    made = run(4, slower, extra)
    made["traceEvents"] += [
        kernel("ncclDevKernel_AllReduce", 1700, 20, 2, 20),
        event("aten::mm", 1015, 20, args={"Input Dims": [[2, 3], [3, 5]], "Input type": ["float", "float"],
                                          "Concrete Inputs": ["", ""]}),
        event("## forward ##", 1020, 50, cat="user_annotation", args={"External id": 7}),
        event("## forward ##", 1250, 90, cat="gpu_user_annotation", pid=0, tid=7, args={"External id": 7}),
        event("## backward ##", 2250, 90, cat="gpu_user_annotation", pid=0, tid=7),
        event("cudaGraphLaunch", 1600, 5, cat="cuda_runtime", args={"correlation": 99}),
        *(event("cudaDeviceSynchronize", 1000 * at + 700, 100, cat="cuda_runtime")
          for at in range(4 if slower > 1 else 0)),
        {"ph": "M", "name": "process_name", "pid": 9, "args": {"name": "GPU 0"}},
        {"ph": "B", "name": "span", "cat": "x", "pid": "p", "tid": "t", "ts": 1},
        {"ph": "B", "name": "span", "pid": "p", "tid": "t", "ts": 2},
        {"ph": "E", "name": "span", "pid": "p", "tid": "t", "ts": 3},
        {"ph": "E", "pid": "p", "tid": "t", "ts": 5},
        {"ph": "C", "name": "memory", "pid": 1, "ts": 5, "args": {"bytes": 7}},
        {"ph": "i", "name": "mark", "pid": 1, "ts": 6},
        {"ph": "X", "name": "on \u00e4 \"device\"\n", "pid": 9, "tid": 2, "ts": 7, "dur": 1}, 5]
    return document(*made["traceEvents"], schemaVersion=1, baseTimeNanoseconds=10 ** 18,
                    distributedInfo={"rank": number, "world_size": 2, "backend": "nccl"},
                    deviceProperties=[{"id": 0, "name": "GPU"}])


def syncs():
    """A stream waits for another one, with a sync event and without; the host waits for both."""
    def call(name, ts, dur, correlation):
        return event(name, ts, dur, cat="cuda_runtime", args={"correlation": correlation})

    return document(
        step(1, 0, 100), event("op", 1, 99), launch(2, 2, 1), kernel("gemm", 5, 20, 1),
        call("cudaEventRecord", 6, 1, 2), call("cudaStreamWaitEvent", 8, 1, 3),
        event("Stream Wait Event", 8, 1, cat="cuda_sync", pid=0, tid=20,
              args={"correlation": 3, "stream": 20, "wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 2}),
        launch(10, 2, 4), kernel("ncclAllReduce", 26, 20, 4, stream=20), call("cudaStreamWaitEvent", 13, 1, 5),
        launch(15, 2, 6), kernel("relu", 47, 20, 6), call("cudaDeviceSynchronize", 20, 50, 7),
        event("Context Sync", 20, 49, cat="cuda_sync", pid=0, tid=7, args={"correlation": 7, "stream": 7}),
        launch(72, 2, 8), kernel("relu", 80, 5, 8))


def odd():
    """Every finding of trace_health except the last."""
    return document(
        *(one for number in range(4) for at in (1000 * number + 10,) for one in (
            step(number, at, 900), launch(at, 5, number + 1), launch(at + 50, 5, number + 51),
            kernel("gemm", at + 100, 3e6 if number == 1 else 50, number + 1))),
        *(event("op", 0, 0) for _ in range(3)), event("op", 5, 1e12), kernel("ncclAllReduce", 2500, 20, 0, 20),
        *(event(f"cudaStream{what}Capture", 1000 * at, 1, cat="cuda_runtime", args={"correlation": 90 + at})
          for at, what in ((5, "Begin"), (6, "End"))))


def write_damaged(folder, whole):
    """A large file, truncated and with a changed byte in its middle."""
    os.mkdir(folder)
    with open(whole, "rb") as file:
        content = file.read()
    changed = bytearray(content)
    changed[len(content) // 2] ^= 16
    for name, damaged in (("cut", content[:-100]), ("changed", changed), ("tail", content + b"more")):
        with open(os.path.join(folder, f"{name}.json.gz"), "wb") as file:
            file.write(damaged)


def write_databases(folder, bad):
    """Exports of Nsight Systems: complete, with two processes, damaged, with values that are too long, and with other
    content.
    """
    os.mkdir(folder)
    for name, where in (("x.db", folder), ("y.db", folder), ("long.db", folder), ("two.sqlite", folder),
                        ("damaged.db", bad),
                        ("wal.db", bad)):
        export(os.path.join(where, name))
    write(os.path.join(folder, "rank7.json"), run())
    with opened(os.path.join(folder, "y.db")) as db:
        db.execute(f"UPDATE {KERNEL} SET end = end + 1000 WHERE rowid % 2")
    with opened(os.path.join(folder, "long.db")) as db:
        db.execute("UPDATE StringIds SET value = CAST(zeroblob(17000000) AS TEXT) WHERE id = 2")
        db.execute("UPDATE NVTX_EVENTS SET text = CAST(zeroblob(17000000) AS TEXT) WHERE rowid = 3")
    with opened(os.path.join(folder, "two.sqlite")) as db:
        db.execute(f"INSERT INTO {KERNEL} SELECT start, end, 1, contextId, streamId, correlationId,"
                   f" {PROCESS + (1 << 24)},"
                   f" demangledName, shortName FROM {KERNEL}")
    with opened(os.path.join(bad, "damaged.db")) as db:
        root, = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (KERNEL,)).fetchone()
        db.execute("CREATE TABLE unused(a)")
    with open(os.path.join(bad, "damaged.db"), "r+b") as file:
        file.seek(4096 * (root - 1) + 8)
        file.write(b"\xff" * 10)
    with opened(os.path.join(bad, "other.db")) as db:
        db.execute("CREATE TABLE notes(a)")
    write(os.path.join(bad, "wal.db-wal"), b"x" * 100)
    shutil.copytree(os.path.join(DATA, "rocpd"), os.path.join(folder, "others"))
    shutil.copytree(os.path.join(DATA, "ascend"), os.path.join(folder, "others"), dirs_exist_ok=True)


def write_traces(folder):
    """The traces that tests/c/fault/fault.c reads."""
    def place(name):
        return os.path.join(folder, name)
    escaped = {'"ts": 7': '"ts": "\\u0037"', '"backend"': '"\\u0062ackend"'}
    write(place("a/rank0.json"), re.sub("|".join(escaped), lambda found: escaped[found[0]], json.dumps(rank(0))))
    write(place("a/rank1.json.gz"), rank(1))
    write(place("a/notes.json"), {"no": "trace"})
    write(place("b/rank0.json"), rank(0, 2, ["op3"]))
    write(place("b/rank1.json.gz"), rank(1, 3, ["op3", "op4"]))
    write(place("ascend/trace_view.json"), ascend())
    write(place("syncs/rank0.json"), syncs())
    write(place("odd/odd.json"), odd())
    write_job(place("job"), 80)  # of four ranks, two without a clock
    write_job(place("host_job"), 8, on_host=True)  # like record_param_comms
    for number in range(2):  # without collectives
        write(place(f"untied/rank{number}.json"), {**run(), "distributedInfo": {"rank": number}})
    for number, name in enumerate(("mem_rank0.json", "mem_rank1.json.gz")):
        write(place(f"lists/{name}"), [[max(-1, at), 2, at * at + number, at % 8] for at in range(-3, 40)])
    nodes = [{"id": at, "name": 'a "name" ' * at, "ctrl_deps": 1, "inputs": {"values": [at], "shapes": [[at]]},
              "attrs": [{"name": "rf_id", "value": at}, {"name": "op_schema", "value": "x\n" * at}]}
              for at in range(1, 20)]
    write(place("lists/et.json"), {"schema": "1.1.1", "nodes": nodes})
    write(place("lists/bad.json"), {"nodes": [*nodes[:3], {}]})
    write(place("lists/cut.json"), "[[1, 2, 3, 4], [")
    write(place("snapshots/rank0.pickle"), pickle.dumps(snapshot(1)))
    write(place("snapshots/rank1.pickle.gz"), pickle.dumps(snapshot(6), protocol=2))
    write(place("no snapshots/rank0.pickle"), pickle.dumps([1]))
    write(place("pinned/dp0.pickle"), pickle.dumps({
        "segments": [], "device_traces": [], "new": 1,
        "host_segments": [{"address": 8, "total_size": 9, "active_size": 5}],
        "host_traces": [{"action": "alloc", "addr": 5, "size": 7}]}))
    write(place("snapshots/cut"), pickle.dumps(snapshot(6))[:-9])
    dumps = hung_job(21).dumps
    write_dumps({rank: dumps[rank] for rank in list(dumps)[:12]}, place("hangs"))
    write_dumps({rank: dumps[rank] for rank in list(dumps)[12:16]}, place("hangs"), as_json=True)
    write(place("hangs/rank_16"), pickle.dumps(dumps[16], protocol=2)[:-9])
    write(place("logs/dedicated_log_torch_trace_a.log"), random_log(5))
    write(place("logs/dedicated_log_torch_trace_b.log.gz"), random_log(7, damaged=True)[:3000])
    compiled = [*(event(f"ProfilerStep#{n}", 100 * n, 100, cat="user_annotation") for n in range(4)),
                event("dynamo", 110, 50),
                event("dynamo_data: compile_id=0/1", 111, 1), event("a (dynamo_timed)", 112, 5)]
    write(place("compiled/rank0.json"), document(*compiled))
    write(place("compiled/dedicated_log_torch_trace_rank_0_a.log"), random_log(9))
    steps = [event(f"ProfilerStep#{n}", 9000 * n, 9000, cat="user_annotation") for n in range(4)]
    write(place("compiled again/rank0.json"),
          document(*steps, event("dynamo", 9010, 5000), event("dynamo_data: compile_id=0/1", 9011, 1),
                   event("a (dynamo_timed)", 9012, 5)))
    write(place("bad/not.json"), "x")
    labelled = document(*(event("op", at, 2, pid=f"[TP{rank}] 1") for at in range(5) for rank in (1, 0)))
    for name in ("come", "labels"):
        write(place(f"{name}/merged.json"), labelled)
    write(place("come/capture.json"), capture())
    for number in range(2):
        write(place(f"come/dp{number}_rank0.json"), {"distributedInfo": {"rank": 0}, **run(2)})
        write(place(f"come/1-TP-7-{number}.json"), document(event("op", number, 1)))
    write(place("mixed/run/rank0.json"), run())
    write(place("mixed/rank0.json"), run())
    told = {"Collective name": "send", "In msg nelems": 8, "Out msg nelems": 8, "dtype": "Float", "Group size": 2,
            "Process Group Name": "pp"}
    alone = kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 60, 10, 2, 20)
    alone["args"].update(told, grid=[8, 1, 1])
    write(place("nccl/rank0.json"), document(
        event("record_param_comms", 10, 3, args=told), event("record_param_comms", 14, 3, args=told), launch(18, 2, 1),
        kernel("ncclDevKernel_SendRecv", 30, 20, 1, 20), event("record_param_comms", 40, 10, args=told),
        launch(42, 2, 2), alone,
        event("aten::mm", 50, 8, args={"Input Dims": [[2, 2]] * 2, "Input type": ["float"] * 2}),
        launch(52, 2, 3), kernel("gemm_tf32", 80, 5, 3), deviceProperties=[{"id": 0, "name": "NVIDIA H200"}]))
    write(place("bad/ends.json"), '{"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 1}')
    write(place("bad/good.json"), run())
    rng = random.Random(1)
    for number in range(2):  # more than 256 KiB of gzip, but few events
        write(place(f"large/rank{number}.json.gz"),
              document(*(event(rng.randbytes(396).hex(), i, 1) for i in range(780))))
    write_damaged(place("damaged"), place("large/rank0.json.gz"))
    with open(place("a/rank1.json.gz"), "rb") as whole, open(place("bad/cut.json.gz"), "wb") as cut:
        cut.write(whole.read(300))
    os.symlink("nothing", place("bad/dangling.json"))
    write_databases(place("db"), place("bad"))
    os.mkdir(place("other"))
    shutil.copy(os.path.join(DATA, "pftrace", "serial.pftrace"), place("other/window.gz"))
    generate_rocpd.write(place("other/rocpd.db"), generate_rocpd.generate(rng, processes=2, events=6))
    generate_ascend.write(place("other/ascend.db"), generate_ascend.generate(rng, events=6))
    write(place("other/x_results.json"), generate_rocprof.generate(rng, tidy=True))
    write(place("other/x.xplane.pb.gz"), generate_xplane.generate(random.Random(3), tidy=True))
    for side in ("control", "test"):
        write(place(f"serving/{side}.json"), serving(side == "test"))
    write(place("serving/capture.json"), capture())


def replayed(at, number, kernels):
    """A graph launch and its replayed work."""
    return [event("cudaGraphLaunch", at, 2, cat="cuda_runtime", args={"correlation": number}),
            *({**kernel(name, at + 5 + 3 * i, 2, number),
               "args": {"correlation": number, "stream": 7, "graph node id": 9 - i}}
              for i, name in enumerate(kernels))]


def serving(longer):
    """Steps by annotation in two phases, with replayed graphs."""
    events = []
    for i in range(5):
        phase = f"execute_context_{i % 2}({i % 2 * 9})_generation_{1 - i % 2}({1 - i % 2})"
        events += [event("scheduler.run_batch", 100 * i, 50, cat="user_annotation"),
                   event(phase, 100 * i + 1, 40, cat="user_annotation"), event("aten::mm", 100 * i + 60, 5),
                   launch(100 * i + 61, 1, 50 + i), kernel("gemm", 100 * i + 64, 5, 50 + i),
                   *replayed(100 * i + 5, 1 + i, ["gemm", "relu", "ncclAllReduce", *["add"] * longer])]
    return document(*events)


def capture():
    """The capture of these graphs."""
    events = [event("hipStreamBeginCapture", 1, 1, cat="cuda_runtime")]
    for i, name in enumerate(("add", "ncclAllReduce", "relu", "other", "gemm")):
        events += [event(f"aten::{name}", 10 * i + 5, 8), event("hipLaunchKernel", 10 * i + 6, 2, cat="cuda_runtime",
                                                                args={"kernel": name})]
    return document(*events, event("hipStreamEndCapture", 90, 1, cat="cuda_runtime"))


def write_many_events(folder):
    """Two ranks that take long to read, with every kind of event that is processed after reading."""
    for number in range(2):
        lines = []
        for i in range(20000):
            at = 37 * (i * 7919 % 20000)
            lines += [launch(at, 5, i + 1), kernel(f"kernel {i % 999}", at + 20, 9, i + 1)]
            if i % 5 == 0:
                lines += [{"ph": "B", "name": f"span {i % 7}", "pid": 1, "tid": 3, "ts": at},
                          {"ph": "E", "name": f"span {i % 7}", "pid": 1, "tid": 3, "ts": at + 30}]
            if i % 50 == 0:
                lines.append(step(i // 50, 37 * i, 37 * 50))
        write(os.path.join(folder, f"rank{number}.json.gz"), document(*lines * 2, distributedInfo={"rank": number}))
    export(os.path.join(folder, "..", "big.db"), 20000)


@functools.cache
def traces():
    """A folder with the input of the statements, which none of them changes; all tests of a process share it."""
    place = tempfile.TemporaryDirectory()
    write_traces(place.name)
    return place


class Fault(unittest.TestCase):
    def run_program(self, folder, name, *arguments, **environment):
        """The output of the program."""
        program = os.path.join(PROGRAMS, name)
        if not os.path.exists(program):
            self.skipTest("make fault has not been run")
        try:
            ended = subprocess.run([program, EXTENSION, *arguments], cwd=folder, timeout=LIMIT, check=False,
                                   env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired as late:
            self.fail(f"not done after {LIMIT} seconds\n{(late.output or b'').decode(errors='replace')}")
        printed = ended.stdout.decode(errors="replace")
        self.assertEqual(ended.returncode, 0, printed)
        return printed

    def test_there_are_statements(self):
        self.assertGreater(len(STATEMENTS), 50)

    @slow
    def test_below_roots(self):
        printed = self.run_program(traces().name, "fault", "trace_events, pattern", TRACEDIFF_ROOTS=".")
        self.assertRegex(printed, r"(?m)^[1-9]\d* points, 0 wrong$")

    @slow
    @alone
    def test_threads(self):
        with tempfile.TemporaryDirectory() as folder:
            write_traces(folder)
            write_many_events(os.path.join(folder, "big"))
            self.run_program(folder, "threads")


def one_statement(statement):
    def test(self):
        self.assertRegex(self.run_program(traces().name, "fault", statement), r"(?m)^[1-9]\d* points, 0 wrong$")
    return test


for name in STATEMENTS:
    setattr(Fault, f"test_{re.sub('[^a-z0-9]+', '_', name.lower())}", slow(one_statement(name)))
