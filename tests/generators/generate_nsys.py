"""Random databases in the format of `nsys export --type sqlite`, valid and invalid.

    write(path, generate(random.Random(7)))     a database of SQLite
    /usr/bin/python3 tests/generators/generate_nsys.py 7 run.sqlite

A database is {name: Table}; a test's changes (order of tables, ids of strings) apply to that.
"""
import os
import random
import sqlite3
import sys
from dataclasses import dataclass, field

KIND = "CUPTI_ACTIVITY_KIND_"
DEVICE = ("start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid")
COLUMNS = {
    "StringIds": ("id", "value"),
    "META_DATA_EXPORT": ("name", "value"),
    "TARGET_INFO_SESSION_START_TIME": ("utcEpochNs", "utcTime", "localTime"),
    KIND + "RUNTIME": ("start", "end", "eventClass", "globalTid", "correlationId", "nameId", "returnValue",
                       "callchainId"),
    KIND + "KERNEL": (*DEVICE, "demangledName", "shortName", "mangledName", "registersPerThread", "gridX", "gridY",
                      "gridZ", "blockX", "blockY", "blockZ", "staticSharedMemory", "dynamicSharedMemory",
                      "graphNodeId"),
    KIND + "MEMCPY": (*DEVICE, "bytes", "copyKind", "srcKind", "dstKind", "graphNodeId"),
    KIND + "MEMSET": (*DEVICE, "value", "bytes", "graphNodeId"),
    KIND + "GRAPH_TRACE": (*DEVICE, "graphId", "graphExecId"),
    KIND + "SYNCHRONIZATION": (*DEVICE, "syncType", "eventId"),
    "NVTX_EVENTS": ("start", "end", "eventType", "rangeId", "text", "globalTid", "endGlobalTid", "textId", "domainId"),
    "MPI_RANKS": ("globalTid", "rank")}
REQUIRED = {"start", "demangledName"}
OF_TEXT = {"value", "name", "utcTime", "localTime", "text"}

CALLS = ("cudaLaunchKernel_v7000", "cudaMemcpyAsync_v3020", "cuLaunchKernel", "cuLaunchKernelEx", "cudaLaunchKernel",
         "cudaStreamGetCaptureInfo_v2_v11030", "cuMemcpyHtoDAsync_v2", "cudaGraphLaunch_v10000",
         "cudaLaunchKernel_v123", "cudaLaunchKernel_v123456", "_v7000", "cu", "cudart", "cuda_v7000_", "cuXx_v10000")
KERNELS = ("void at::native::<unnamed>::f<(int)4>(T1)", "void <unnamed>::g<<unnamed>::h>(int)", "gemm", "triton_poi_0",
           "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)", "<unnamed", "")
COPIES = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 1, 2, 8)
STEPS = ("ProfilerStep#{}", "step {}", "train_step_{}", "training_step: {}", "iteration {}", "iter{}", "Step: {}",
         "ITERATION#{}", "step=-_:# {}", "step {}, op_id = 5", "iter-{}", "profilerstep {}")
NO_STEPS = ("step", "step ", "step 1 of 3", "a step 1", "step 1.5", "step\t1", "steps 1", "iterations 2", "iter 1\n",
            "step 0x1", "trainstep 1", "step \u0663")
OPERATORS = ("aten::mm", "aten::add", "torch::autograd::AccumulateGrad", "MmBackward0", "FSDP::forward (a, seq = 1)",
             "detach", "detach_", "record_param_comms", "Aten::mm", "nccl:all_reduce", "_c10d::x", "a2::b", "2a::b",
             "a, b", "x::", "Module, op_id", "", "caf\u00e9", 'a "b" \\ c\t', "nn.Module: Linear_0")
# Texts of DLProf, and near misses.
MARKERS = ("{'traceMarker': ['net.py:42', '/lib/linear.py:103'], 'funcStack': '/<module>/Net::forward/linear(3)'}",
           "{'traceMarker': ['net.py:42', '/lib/linear.py:103']}", "{'traceMarker': '//Net::forward/relu'}",
           "{'traceMarker': []}", "{'traceMarker': ['a'], 'funcStack': '/(4)'}",
           "{'traceMarker': ['a'], 'funcStack': '/x",
           "{'traceMarker': ['a'], 'funcStack': '/x/'}", "{'traceMarker': ['a'], 'funcStack': '/f(x)'}",
           "{'mod': 'torch.nn.functional', 'op': 'relu', 'args': [{'name': '', 'shape': (32, 84)}]}",
           "{'mod': 'Tensor', 'op': 'uniform_(12)', 'args': []}", "{'mod': 'torch', 'ops': 'x'}", "{'model': 'x'}")
SEQUENCES = (", seq = 7", ", seq = 0", ", seq = 123456789012", "")
IDS = (", op_id = 12", ", op_id = 0", "", "")
SIZES = (", sizes = [[8, 512], [512, 16]]", ", sizes = [[], [3]]", ", sizes = [[]]", ", sizes = [[1], [2], []]", "", "")
INPUTS = (", input_op_ids = [(3,0)]", ", input_op_ids = [(3,0), (12,1)]", "", "")
# Texts that emit_nvtx could write, and near misses.
ALMOST = (", seq = ", ", seq = x", ", seq= 7", ",seq = 7", ", seq = 7 ", ", op_id = 1, seq = 2", ", seq = 1, seq = 2",
          ", seq = -1", ", op_id = 1.5", ", sizes = [8, 512]", ", sizes = [[8, 512]", ", sizes = [[a]]",
          ", sizes = [[8, 512]]]", ", input_op_ids = [3,0]", ", input_op_ids = [(3)]", ", op_id = 1, ", ", seq = 1,",
          ", sizes = [[08]]", ", sizes = [[-1]]", ", sizes = [[1],[2,3]]", ", sizes = [[[1]], []]", ", sizes = []",
          ", sizes = [[1,  2]]", ", sizes = [[1, ]]", ", sizes = [[1] ]", ", sizes = [[-]]", ", sizes = 7",
          ", sizes = [-0]", ", input_op_ids = []", ", input_op_ids = [(3, 0),(1,2)]", ", input_op_ids = [(3,0),]",
          ", seq = 007", ", op_id = 123456789012345678901234567890", ", seq = 1, b, op_id = 2",
          ", sizes = [[1]], op_id = 3", ", op_id = 3, sizes = [[1]]x")
ODD = (None, None, 0, -1, 1, 5.0, 5.5, "12", " 12", "12 ", "-3", "+3", "0x10", "12x", "", "007", b"12", b"", b"\xff",
       2 ** 63 - 1, 1 - 2 ** 63, 2 ** 63 - 5, str(2 ** 63), "9223372036854775807", "1e3", 4294967295, 1e300, "\u0663")
NOT_UTF8 = (b"a\xffb", b"\xc3", b"\xed\xa0\x80x", b"\xf0\x9f\x98", b"ok \xe2\x82\xac \x80")


class Bytes(bytes):
    """A TEXT with these bytes, which need not be UTF-8."""


@dataclass
class Table:
    columns: dict                               # {name: declared type}
    rows: list = field(default_factory=list)    # [(rowid or None, {column: value})]
    more: str = ""                              # constraints or other text after the columns


class Made:
    """Builds one database."""

    def __init__(self, rng, steps=None, tidy=False, events=20):
        self.rng, self.steps, self.tidy, self.most = rng, steps, tidy, events
        self.tables = {name: Table({column: "TEXT" if column in OF_TEXT else "INTEGER" for column in columns})
                       for name, columns in COLUMNS.items()}
        self.strings = {}
        self.odd = 0 if tidy else rng.choice((0, 0, 0.01, 0.05))

    def chance(self, probability):
        return self.rng.random() < probability

    def add(self, table, **values):
        columns = self.tables[table].columns
        self.tables[table].rows.append((None, {column: values.get(column) for column in columns}))

    def string(self, text):
        """The id of a text."""
        if text not in self.strings:
            self.strings[text] = 3 * len(self.strings) + 1
        return self.strings[text] if self.tidy or self.chance(0.97) else self.rng.choice((99_999, None, -5))

    # ---- records of a process ----

    def processes(self):
        """[(process, kind)]: workers have device work, hosts only calls, loaders only ranges."""
        rng = self.rng
        kinds = ["worker"] * rng.choice((0, 1, 1, 1, 2, 2, 3)) + ["host"] * rng.choice((0, 0, 1, 2))
        kinds += ["loader"] * rng.choice((0, 0, 1, 2))
        rng.shuffle(kinds)
        vm = rng.choice((0, 1 << 24, 1 << 32, 127 << 32))
        return [(vm | pid, kind) for pid, kind in zip(rng.sample(range(400, 440), len(kinds)), kinds)]

    def text(self):
        rng = self.rng
        name = rng.choice(OPERATORS)
        kind = rng.random()
        if kind < 0.35:
            return name
        if kind < 0.4:
            return rng.choice(MARKERS)
        if kind < 0.8:
            return name + "".join(map(rng.choice, (SEQUENCES, IDS, SIZES, INPUTS)))
        almost = name + rng.choice(ALMOST) + rng.choice(("", "", rng.choice(SEQUENCES), rng.choice(IDS)))
        if kind < 0.95:
            return almost
        at = rng.randrange(len(almost) + 1)
        return almost[:at] + rng.choice((",", " ", "[", "]", "7", "=", "(")) + almost[at + rng.randrange(2):]

    def named(self, text):
        """As text, as textId, or as both, where textId wins."""
        as_id = self.rng.choice((False, False, True))
        text_id = self.string(text) if as_id or self.chance(0.05) else None
        if not self.tidy and self.chance(0.03):
            text = self.rng.choice((Bytes(self.rng.choice(NOT_UTF8)), b"blob", 12, 1.5, None))
        return {"text": None if as_id and not self.chance(0.05) else text, "textId": text_id}

    def range(self, thread, start, length, text, type_=None, **values):
        type_ = type_ or self.rng.choice((59, 59, 59, 60))
        end = None if type_ == 34 or self.chance(0.03) else start + length
        self.add("NVTX_EVENTS", start=start, end=end, eventType=type_, globalTid=thread, **self.named(text), **values)

    def host(self, process, kind):
        """Nested ranges and marks on two threads."""
        rng = self.rng
        threads = [process << 24 | tid for tid in ((process & 0xffffff), 7001)]
        forms = rng.sample(STEPS, rng.choice((1, 1, 2)))
        for number in range(rng.choice((0, 0, 3, 4)) if self.steps is None else self.steps):
            self.range(threads[0], 1000 * number + rng.choice((0, 0, 10)), 990, rng.choice(forms).format(number + 3))
        for thread in threads:
            for _ in range(rng.randrange(self.most)):
                at = rng.randrange(4000)
                domain = rng.choice((None, None, 0, 0, 1, 2))
                self.range(thread, at, rng.choice((0, 1, 10, 300, 1000)), self.text(), domainId=domain)
            for _ in range(rng.choice((0, 0, 1, 3))):
                self.range(thread, rng.randrange(4000), 0, rng.choice((self.text(), "step 4")), type_=34)
        if self.chance(0.3):
            self.range(threads[0], 0, 10, rng.choice(NO_STEPS))
        for _ in range(rng.choice((0, 0, 1, 2))):
            self.range(threads[0], 0, 0, rng.choice(("Domain", "Other", "MyDomain, seq = 1")), type_=75,
                       domainId=rng.choice((0, 1, 2, 3)))
        for type_ in rng.choices((33, 70, 76, 0, 58), k=rng.choice((0, 0, 2))):
            self.range(threads[0], rng.randrange(4000), 5, self.text(), type_=type_)

    def call(self, thread, start, length, name, correlation, event_class=None, **values):
        if event_class is None:
            event_class = self.rng.choice((0, 0, 1, 13, 26, 2))
        self.add(KIND + "RUNTIME", start=start, end=start + length, eventClass=event_class, globalTid=thread,
                 correlationId=correlation, nameId=self.string(name), **{"returnValue": self.rng.choice((0, 0, 2)),
                                                                          **values})

    def work(self, process, device, context, start, length, correlation):
        rng = self.rng
        common = {"start": start, "end": start + length, "deviceId": device, "contextId": context,
                  "streamId": rng.choice((7, 7, 13, 20)), "correlationId": correlation, "globalPid": process << 24}
        node = rng.choice((None, None, None, 5))
        kind = rng.choice(("KERNEL", "KERNEL", "KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE", "SYNCHRONIZATION"))
        if kind == "KERNEL":
            axes = {side + axis: rng.choice((1, 2, 64)) for side in ("grid", "block") for axis in "XYZ"}
            common.update(axes, demangledName=self.string(rng.choice(KERNELS)), shortName=self.string("short"),
                          mangledName=self.string("_Z1fv"), registersPerThread=32, staticSharedMemory=16,
                          dynamicSharedMemory=rng.choice((0, 1024)), graphNodeId=node)
        elif kind == "MEMCPY":
            kinds = (None, None) if self.chance(0.2) else (rng.randrange(-1, 9), rng.randrange(-1, 9))
            common.update(bytes=rng.choice((0, 1, 4096, 3 ** 20)), copyKind=rng.choice(COPIES), srcKind=kinds[0],
                          dstKind=kinds[1], graphNodeId=node)
        elif kind == "MEMSET":
            common.update(bytes=rng.choice((0, 7, 2 ** 40)), value=0, graphNodeId=node)
        elif kind == "GRAPH_TRACE":
            common.update(graphId=rng.choice((None, 3)), graphExecId=4)
        else:
            common.update(syncType=rng.randrange(0, 6), streamId=rng.choice((7, 4294967295)), eventId=0,
                          deviceId=rng.choice((0, device)), contextId=rng.choice((context, context, 99)))
        if self.chance(0.03):
            common.update(start=0, end=0)
        self.add(KIND + kind, **common)

    def launches(self, process, kind, device):
        """Calls with ids that all processes count from 1, and their work."""
        rng, thread = self.rng, process << 24 | (process & 0xffffff)
        for correlation in range(1, 1 + rng.randrange(1, self.most)):
            at = rng.randrange(4000)
            if self.chance(0.95):
                name = rng.choice(CALLS)
                self.call(thread, at, rng.choice((5, 50)), name, correlation if self.chance(0.95) else None)
                if self.chance(0.2):  # the driver's inside the runtime's, or a call with a recorded call stack
                    self.call(thread, at + 1, 3, "cuLaunchKernel", correlation, rng.choice((1, 67, 68, 69)))
            for _ in range(rng.choice((0, 1, 1, 1, 2)) if kind == "worker" else 0):
                device_of, context = device if self.chance(0.95) else (device[0] + 1, 9)
                self.work(process, device_of, context, at + rng.randrange(-5, 500), rng.choice((0, 1, 30, 400)),
                          correlation if self.chance(0.93) else rng.choice((None, 0, 77)))

    # ---- the whole database ----

    def grow(self):
        rng = self.rng
        processes = self.processes()
        hidden = self.chance(0.3)  # CUDA_VISIBLE_DEVICES: each process has one device, 0
        for number, (process, kind) in enumerate(processes):
            if self.chance(0.9) or kind == "loader":
                self.host(process, kind)
            if kind != "loader":
                self.launches(process, kind, (0 if hidden else rng.choice((0, 1, number)), 1 + number))
        workers = [process for process, _ in processes]
        if self.chance(0.3):
            for process in workers if self.chance(0.5) else workers[:1]:
                self.range(process << 24 | 7, 0, 0, f"MPI Rank {rng.choice((workers.index(process) + 4, 4))}", type_=39)
        if self.chance(0.3):
            for process in rng.sample(workers, rng.randrange(len(workers) + 1)):
                self.add("MPI_RANKS", globalTid=process << 24 | 7, rank=9 - workers.index(process))
        else:
            del self.tables["MPI_RANKS"]
        self.session()
        for name, table in self.tables.items():
            if name != "StringIds":
                rng.shuffle(table.rows)
                self.alter(table)
        self.make_strings()
        for name in list(self.tables):
            if not self.tidy:
                self.rename(name)
        return self.tables

    def session(self):
        rng = self.rng
        if self.chance(0.9):
            self.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=rng.choice(
                (1_700_000_000_000_000_000, 1_700_000_000_000_000_000, 17, 2 ** 63 - 3000)))
        self.add("META_DATA_EXPORT", name="EXPORT_PARAM_TIME_NORMALIZE",
                 value=rng.choice(("false", "false", "false", "true", "TRUE", None)))
        self.add("META_DATA_EXPORT", name="EXPORT_SCHEMA_VERSION", value="3.25.0")

    def make_strings(self):
        rng, table = self.rng, self.tables["StringIds"]
        for text, number in self.strings.items():
            if self.tidy or not self.chance(0.02):
                value = text if self.tidy or not self.chance(0.03) else rng.choice(
                    (None, b"blob", 5, Bytes(rng.choice(NOT_UTF8)), ""))
                table.rows.append((None, {"id": number, "value": value}))
        if self.tidy or self.chance(0.7):
            table.columns["id"] = "INTEGER NOT NULL PRIMARY KEY"
        else:
            rng.shuffle(table.rows)
            if table.rows and self.chance(0.5):  # a repeated id
                table.rows.append((None, {**rng.choice(table.rows)[1], "value": "second"}))
            self.alter(table)

    def alter(self, table):
        """Odd values, other declared types, missing columns, and gaps between rowids."""
        rng = self.rng
        if self.tidy:
            return
        for _, values in table.rows:
            for column in values:
                if self.chance(self.odd):
                    values[column] = rng.choice(ODD)
        for column in list(table.columns):
            if self.chance(0.03):
                table.columns[column] = rng.choice(("", "TEXT", "REAL", "BLOB", "NUMERIC"))
            if self.chance(0.03) and column not in REQUIRED and len(table.columns) > 1:
                del table.columns[column]
        if self.chance(0.3):
            ids = rng.sample(range(-50, 10 * len(table.rows) + 5), len(table.rows))
            table.rows = [(rowid, values) for rowid, (_, values) in zip(ids, table.rows)]

    def rename(self, name):
        """A missing table, or a later version of one (N1)."""
        if name == "StringIds":
            return
        if self.chance(0.06):
            del self.tables[name]
        elif name == "META_DATA_EXPORT":
            if self.chance(0.1):
                self.tables["EXPORT_META_DATA"] = self.tables.pop(name)
        elif name.startswith((KIND, "NVTX")) and self.chance(0.15):
            table = self.tables.pop(name)
            self.tables[f"{name}_V{self.rng.choice((2, 3, 10))}"] = table
            if self.chance(0.4):
                self.tables[name + "_V1"] = Table(dict(table.columns), table.rows[:1])
            if self.chance(0.2):
                self.tables[name] = Table(dict(table.columns), table.rows[:3])


def generate(rng, **settings):
    return Made(rng, **settings).grow()


def write(path, tables, encoding="UTF-8", page_size=4096, wal=False, views=()):
    """Writes the tables in order, replacing an existing file. Returns the path."""
    if os.path.exists(path):
        os.remove(path)
    db = sqlite3.connect(path)
    db.executescript(f"PRAGMA encoding = '{encoding}'; PRAGMA page_size = {page_size};"
                     f"PRAGMA journal_mode = {'WAL' if wal else 'OFF'}; PRAGMA synchronous = OFF;")
    with db:
        for name, table in tables.items():
            columns = ", ".join(f'"{column}" {type_}' for column, type_ in table.columns.items())
            db.execute(f'CREATE TABLE "{name}" ({columns}) {table.more}')
            for rowid, values in table.rows:
                insert(db, name, rowid, {column: values.get(column) for column in table.columns})
        for view in views:
            db.execute(view)
    db.close()
    return path


def insert(db, table, rowid, values):
    names, marks = [f'"{column}"' for column in values], []
    for value in values.values():
        marks.append("CAST(? AS TEXT)" if isinstance(value, Bytes) else "?")
    given = [bytes(value) if isinstance(value, Bytes) else value for value in values.values()]
    if rowid is not None:
        names, marks, given = ["rowid", *names], ["?", *marks], [rowid, *given]
    if not names:
        return db.execute(f'INSERT INTO "{table}" DEFAULT VALUES')
    return db.execute(f'INSERT INTO "{table}" ({", ".join(names)}) VALUES ({", ".join(marks)})', given)


if __name__ == "__main__":
    write(sys.argv[2], generate(random.Random(int(sys.argv[1]))))
