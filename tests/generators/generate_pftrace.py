#!/usr/bin/env python3
"""Writes windows of PyTorch's profiler backend as JSON and as .pftrace, with PyTorch 2.15 itself:
torch.profiler._cuspy.trace. It needs no GPU.

    PYTHON tests/generators/generate_pftrace.py            writes tests/data/pftrace again
    PYTHON tests/generators/generate_pftrace.py FOLDER N   writes N random windows there
    PYTHON tests/generators/generate_pftrace.py --large FOLDER EVENTS

PYTHON must have torch 2.15 and cupti-python 13.4. A window consists of CUPTI's columns and, for the host, of Kineto's
JSON.
"""

import gzip
import json
import os
import random
import sys

import numpy as np
from torch.profiler._cuspy import trace

HERE = os.path.dirname(os.path.abspath(__file__))
BASE = 7889238 * 226 * 1_000_000_000  # ns, with Kineto's rounding
LAUNCH, COPY, SET, GRAPH, SYNC, WAIT, GET = 211, 41, 51, 311, 131, 147, 16  # cbids of the runtime
HOST = 4242  # pid

KERNELS = [
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<4>, "
    "ForeachAddcmulFunctor<float> >(int)",
    "ampere_sgemm_128x64_tn",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "triton_poi_fused_é_\"quoted\"_0",
    "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<4, float, float, float, "
    "LogSoftMaxBackwardEpilogue>(float*, float const*, int)",
]


class Window:
    """A recorded window, in order; `random` decides everything."""

    def __init__(self, seed, steps=4, operators=6, devices=1, graphs=True, cross=True, threads=2):
        self.random = random.Random(seed)
        self.now = BASE + 1_000_000_000 + self.random.randrange(1_000_000_000)
        self.devices, self.graphs, self.cross = devices, graphs, cross
        self.correlation, self.external, self.event_index = 100, 0, 0
        self.events, self.columns = [], {}
        self.free = {}  # by (device, stream): when its launched work is done
        self.annotations, self.dependencies = {}, {}
        for thread in range(threads):
            self.events.append(
                {
                    "ph": "M",
                    "name": "thread_name",
                    "ts": 0,
                    "pid": HOST,
                    "tid": HOST + thread,
                    "args": {"name": f"thread {HOST + thread} (python)"},
                }
            )
        self.events.append(
            {"ph": "M", "name": "process_name", "ts": 0, "pid": HOST, "tid": 0, "args": {"name": "python"}}
        )
        for step in range(steps):
            self.step(step, operators, threads)

    def put(self, kind, **values):
        rows = self.columns.setdefault(kind, {})
        for key, value in values.items():
            rows.setdefault(key, []).append(value)

    def host(self, cat, name, start, end, tid=HOST, **args):
        self.events.append(
            {
                "ph": "X",
                "cat": cat,
                "name": name,
                "pid": HOST,
                "tid": tid,
                "ts": (start - BASE) / 1000.0,
                "dur": (end - start) / 1000.0,
                "args": args,
            }
        )

    def call(self, cbid, correlation, length, tid):
        start = self.now
        self.now += length
        self.put(
            "cuda_runtime",
            start_ns=start,
            end_ns=self.now,
            cbid=cbid,
            process_id=HOST,
            thread_id=tid,
            correlation_id=correlation,
        )
        self.put(
            "external_correlation", correlation_id=correlation, external_id=self.external, user_external_id=self.region
        )
        return start

    def place(self, device, stream, length):
        """The time at which work launched now runs; some overlaps earlier work on its stream."""
        begin = max(self.now + self.random.randrange(2000, 9000), self.free.get((device, stream), 0))
        if self.cross and self.random.random() < 0.1:
            begin -= self.random.randrange(1, 40)
        elif self.random.random() < 0.2:
            begin += self.random.randrange(0, 5000)
        self.free[device, stream] = begin + length
        return begin, begin + length

    def work(self, kind, correlation, device, stream, graph=0, node=0, lane=None, **values):
        length = self.random.choice([0, 1, 700, 5000, 20000, self.random.randrange(60000)])
        start, end = self.place(device, stream if lane is None else lane, length)
        self.put(
            kind,
            start_ns=start,
            end_ns=end,
            device_id=device,
            context_id=1 + device,
            stream_id=stream,
            correlation_id=correlation,
            graph_id=graph,
            graph_node_id=node,
            logical_lane=stream if lane is None else lane,
            lane_name=None if lane is None else f"lane {lane}",
            annotation=None,
            channel=3,
            channel_type=1,
            **values,
        )

    def kernel(self, correlation, device, stream, name, metadata=None, **graph):
        self.work(
            "kernel",
            correlation,
            device,
            stream,
            name=name,
            grid_x=self.random.randrange(1, 4000),
            grid_y=1,
            grid_z=2,
            block_x=128,
            block_y=2,
            block_z=1,
            registers_per_thread=self.random.randrange(16, 255),
            static_shared_memory=0,
            dynamic_shared_memory=self.random.choice([0, 16384]),
            priority=self.random.choice([0, -5]),
            queued=0,
            metadata=metadata,
            **graph,
        )

    def step(self, number, operators, threads):
        start, index = self.now, len(self.events)
        self.external += 1
        outer = self.region = self.external
        name = f"ProfilerStep#{number + 3}"
        self.annotations[outer] = name
        for _ in range(operators):
            self.now += self.random.choice([0, 1, self.random.randrange(500, 20000)])
            self.operator(self.random.randrange(threads) if self.random.random() < 0.3 else 0)
            self.region = outer
        if self.graphs:
            self.graph()
        self.sync()
        self.now += self.random.randrange(3000)
        self.event_index += 1
        self.events.insert(index, {})
        self.host("user_annotation", name, start, self.now, **{"External id": outer, "Ev Idx": self.event_index})
        self.events[index] = self.events.pop()
        self.put(
            "pm_sampling",
            start_ns=self.now,
            device_id=0,
            **{"sm__cycles_active.avg.pct_of_peak_sustained_elapsed": self.random.random() * 100, "odd__metric": 1.0},
        )
        self.put("environment", start_ns=self.now, device_id=0, environment_kind=3, data=250_000 | 300_000 << 32)
        self.put("environment", start_ns=self.now, device_id=0, environment_kind=1, data=1410 + number | 1215 << 32)

    def frames(self, tid):
        """Adjacent Python frames, some without length."""
        for depth in range(self.random.randrange(4)):
            length = self.random.choice([0, 0, 1, 300])
            self.host(
                "python_function",
                f"train.py({depth}): step",
                self.now,
                self.now + length,
                tid,
                **{"Python id": depth, "Python parent id": None},
            )
            if self.random.random() < 0.3:
                self.host("python_function", "<built-in>", self.now, self.now + length // 2, tid)
            self.now += length

    def operator(self, thread):
        tid, start, index = HOST + thread, self.now, len(self.events)
        self.external += 1
        own = self.external
        self.event_index += 1
        choice = self.random.random()
        device = self.random.randrange(self.devices)
        args = {"External id": own, "Record function id": 0, "Ev Idx": self.event_index}
        self.now += self.random.choice([0, self.random.randrange(1, 3000)])
        self.frames(tid)
        self.correlation += 1
        if choice < 0.55:
            name = self.random.choice(["aten::add", "aten::mm", "aten::flash"])
            args.update(
                {
                    "Input Dims": [[64, 32], [], [8]],
                    "Input type": ["float", "Scalar", "c10::BFloat16"],
                    "Input Strides": [[32, 1], [], [1]],
                    "Concrete Inputs": ["", "1.5", ""],
                    "Sequence number": self.random.randrange(99),
                    "Fwd thread id": 0,
                }
            )
            self.call(LAUNCH, self.correlation, self.random.randrange(1000, 6000), tid)
            self.kernel(self.correlation, device, 7, self.random.choice(KERNELS[:2] + KERNELS[3:]))
        elif choice < 0.7:
            name = "aten::copy_"
            args.update({"Input Dims": [], "odd": {"deep": [1, -2, [True, False, None, 0.25, "é\u0001"]], "zero": 0}})
            self.call(COPY, self.correlation, 2000, tid)
            self.work(
                "gpu_memcpy",
                self.correlation,
                device,
                7,
                bytes=self.random.randrange(1 << 30),
                copy_kind=self.random.choice([1, 2, 8]),
                src_kind=3,
                dst_kind=2,
                flags=0,
            )
        elif choice < 0.8:
            name = "aten::zero_"
            self.call(SET, self.correlation, 1500, tid)
            self.work("gpu_memset", self.correlation, device, 7, bytes=512, value=0, memory_kind=3, flags=0)
        elif choice < 0.95:
            name = "nccl:all_reduce"
            about = {
                "Collective name": "allreduce",
                "dtype": "BFloat16",
                "In msg nelems": 1 << 20,
                "Out msg nelems": 1 << 20,
                "Group size": 2,
                "Process Group Name": "0",
                "Process Group Description": "default_pg",
                "Process Group Ranks": "[0, 1]",
            }
            self.annotations[own] = name
            self.region = own
            args.update(about)
            self.call(LAUNCH, self.correlation, 3000, tid)
            self.kernel(self.correlation, device, 20, KERNELS[2], metadata=json.dumps(about))
        else:
            name = "aten::item"
            self.call(GET, self.correlation, 300, tid)
            self.call(LAUNCH, self.correlation + 1, 2500, tid)
            self.correlation += 1
            if self.random.random() < 0.5:  # otherwise its kernel was not recorded
                self.kernel(self.correlation, device, 7, KERNELS[4])
        self.now += self.random.randrange(0, 2000)
        cat = "user_annotation" if name.startswith("nccl") else "cpu_op"
        self.events.insert(index, {})
        self.host(cat, name, start, self.now, tid, **args)
        self.events[index] = self.events.pop()

    def graph(self):
        self.correlation += 1
        self.external += 1
        self.call(GRAPH, self.correlation, 4000, HOST)
        nodes = [(9 << 32) + i for i in range(1, 5)]
        for i, node in enumerate(nodes):
            lane = 500 + i % 2 if i else None
            self.kernel(self.correlation, 0, 7, KERNELS[i % 2], graph=9, node=node, lane=lane)
            if i:
                self.dependencies[node] = [nodes[i - 1]]
        self.work("graph_event_node", self.correlation, 0, 7, graph=9, node=(9 << 32) + 5)
        self.work(
            "graph_host_node",
            self.correlation,
            0,
            7,
            graph=9,
            node=(9 << 32) + 6,
            process_id=HOST,
            thread_id=HOST,
            host_fn=self.random.choice(["done", None]),
            host_fn_addr=4096,
        )

    def sync(self):
        self.correlation += 1
        start = self.call(SYNC, self.correlation, 8000, HOST)
        for kind, stream in ((3, 7), (self.random.choice([1, 2]), 7), (4, 0xFFFFFFFF)):
            self.put(
                "cuda_sync",
                start_ns=start + 100 * kind,
                end_ns=start + 100 * kind + 50,
                sync_type=kind,
                context_id=1,
                stream_id=stream,
                correlation_id=self.correlation,
                cuda_event_id=7,
                cuda_event_sync_id=0,
            )
        self.put("overhead", name="Buffer Flush", start_ns=start, end_ns=start + 10)

    def window(self):
        columns = {}
        for kind, rows in self.columns.items():
            columns[kind] = {
                key: np.array(
                    values,
                    dtype=(
                        np.float64
                        if isinstance(values[0], float)
                        else object if not isinstance(values[0], int) else np.uint64 if key == "data" else np.int64
                    ),
                )
                for key, values in rows.items()
            }
            for key in ("name", "metadata", "annotation", "lane_name", "host_fn"):
                if key in rows:
                    columns[kind][key] = np.array(rows[key] + [""], dtype=object)[:-1]
        return {
            "columns": columns,
            "thread_resource_map": {},
            "graph_deps": self.dependencies,
            "user_annotations": self.annotations,
        }

    def write(self, path):
        """Writes path.json.gz and path.pftrace."""
        host = path + ".host"
        with open(host, "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "baseTimeNanoseconds": BASE, "traceEvents": self.events}, file)
        trace.merge_trace_window_into_chrome_trace(host, path + ".pftrace", self.window())
        trace.merge_trace_window_into_chrome_trace(host, path + ".json.gz", self.window(), trace_name="window")
        os.remove(host)


def same_bytes(path):
    """gzip without its time stamp."""
    with gzip.open(path) as file:
        data = file.read()
    with open(path, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
        packed.write(data)


def main(arguments):
    if arguments[:1] == ["--large"]:
        steps = int(arguments[2]) // 140  # a step has about 140 events
        Window(1, steps=max(steps, 1), operators=45).write(os.path.join(arguments[1], "large"))
        return
    folder = arguments[0] if arguments else os.path.join(os.path.dirname(HERE), "data", "pftrace")
    os.makedirs(folder, exist_ok=True)
    if arguments:
        for seed in range(int(arguments[1])):
            pick = random.Random(seed)
            Window(
                seed,
                steps=pick.randrange(1, 6),
                operators=pick.randrange(1, 12),
                devices=pick.choice([1, 1, 2]),
                graphs=pick.random() < 0.7,
                cross=pick.random() < 0.7,
                threads=pick.choice([1, 2, 3]),
            ).write(os.path.join(folder, f"window{seed}"))
        return
    for name, seed, options in (
        ("control", 11, {}),
        ("test", 12, {"operators": 9}),
        ("two_devices", 13, {"devices": 2}),
        ("serial", 14, {"cross": False, "graphs": False, "threads": 1}),
    ):
        Window(seed, **options).write(os.path.join(folder, name))
        same_bytes(os.path.join(folder, name + ".json.gz"))


if __name__ == "__main__":
    main(sys.argv[1:])
