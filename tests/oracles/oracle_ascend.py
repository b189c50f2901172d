"""An independent implementation of the rules for databases of torch_npu's profiler, Ascend (H1 to H7).

It shares the reading of databases with oracle_nsys.

    trace = read_trace("ascend_pytorch_profiler_0.db")
    trace.files[0].rows                     # the rows of trace_events
"""
import json
import os
import re

import oracle
from oracle import plus
from oracle_nsys import Database, Part, Row, object_of, quoted, text, whole

API, CANN, TASK, COLLECTIVE, STEPS = TABLES = ("PYTORCH_API", "CANN_API", "TASK", "COMMUNICATION_OP", "STEP_TIME")
COLUMNS = {
    API: ("startNs", "endNs", "globalTid", "connectionId", "name", "sequenceNumber", "fwdThreadId", "inputDtypes",
          "inputShapes", "type"),
    CANN: ("startNs", "endNs", "type", "globalTid", "connectionId", "name"),
    TASK: ("startNs", "endNs", "deviceId", "connectionId", "globalTaskId", "taskType", "streamId"),
    COLLECTIVE: ("opName", "startNs", "endNs", "connectionId", "deviceId"),
    STEPS: ("id", "startNs", "endNs")}
OPERATOR, QUEUE, PYTHON, MARK = 50001, 50002, 50003, 50004
NODE = 10000
NO_CONNECTION = (-1, 4294967295)


def is_ascend(db):
    return "STRING_IDS" in db.names and bool({API, TASK} & db.names)


def split(values):
    return None if values is None else [value.strip(" \t\r\n") for value in values.split(";")]


def dims(shapes):
    """`64,32;;` as JSON, or None."""
    parts = split(shapes)
    if parts is None or not all(re.fullmatch("([0-9]+(,[0-9]+)*)?", part) for part in parts):
        return None
    return "[" + ",".join(f"[{part}]" for part in parts) + "]"


def types(dtypes):
    parts = split(dtypes)
    return None if parts is None else json.dumps(parts, separators=(",", ":"), ensure_ascii=False)


class Profile:
    def __init__(self, path):
        self.db = Database(path)
        if not is_ascend(self.db):
            raise oracle.NotATrace(path)
        self.path = path
        self.strings = {}
        for row in self.db.read("STRING_IDS", ("id", "value")):
            if row and whole(row["id"]) is not None:
                self.strings.setdefault(whole(row["id"]), text(row["value"]))
        self.numbers = self.by("CONNECTION_IDS", "id", "connectionId")
        self.kernels = self.by("COMPUTE_TASK_INFO", "globalTaskId", "name")
        self.rank, self.device = self.rank_and_device()
        self.dequeues, self.launches, self.host = [], {}, (None, None)

    def by(self, table, key, value):
        """{key: value} of a table; the first one counts."""
        result = {}
        for row in self.db.read(table, (key, value)):
            if row and whole(row[key]) is not None:
                result.setdefault(whole(row[key]), whole(row[value]))
        return result

    def rank_and_device(self):
        for row in self.db.read("RANK_DEVICE_MAP", ("rankId", "deviceId")):
            rank = whole(row["rankId"]) if row else None
            if rank is not None and rank >= 0:
                return rank, whole(row["deviceId"])
        devices = (whole(row["deviceId"]) for row in self.db.read("RANK_DEVICE_MAP", ("deviceId",)) if row)
        digits = re.search(r"([0-9]+)\.db\Z", os.path.basename(self.path), re.ASCII)
        return int(digits[1]) if digits and len(digits[1]) < 10 else None, next(
            (device for device in devices if device is not None), None)

    def string(self, value):
        return self.strings.get(whole(value))

    def part(self):
        part = Part(f"{self.path}\0{0:06}", None, rank=self.rank)
        number = 0
        for table in TABLES:
            if table == TASK:
                self.pair()
            if table == STEPS:
                self.has_steps = any(row.device == "CPU" and oracle.step_number(row) is not None for row in part.rows)
            self.db.require(table, ("startNs",))
            make = {API: self.api, CANN: self.cann, TASK: self.task, COLLECTIVE: self.collective,
                    STEPS: self.step}[table]
            for values in self.db.read(table, COLUMNS[table]):
                row = Row(part.path, number, "X", None, None, None, None, None, None, None, None)
                number += 1
                if values is None:
                    continue
                self.set_times(row, values)
                if make(row, values) is not False:
                    part.rows.append(row)
        timed = [row for row in part.rows if row.ts_ns is not None]
        part.first_ns = min((row.ts_ns for row in timed), default=None)
        part.last_ns = max((row.ts_ns + (row.dur_ns or 0) for row in timed), default=None)
        part.events = number
        return part

    @staticmethod
    def set_times(row, values):  # G8
        row.ts_ns, end = whole(values["startNs"]), whole(values["endNs"])
        row.dur_ns = None if None in (row.ts_ns, end) or end < row.ts_ns else oracle.int64(end - row.ts_ns)
        if row.ts_ns is not None and plus(row.ts_ns, row.dur_ns) is None:
            row.dur_ns = None

    @staticmethod
    def set_thread(row, values):
        thread = whole(values["globalTid"])
        if thread is not None:
            row.pid, row.tid = thread >> 32 & 0xffffffff, thread & 0xffffffff

    def api(self, row, values):
        self.set_thread(row, values)
        row.name, type_ = self.string(values["name"]), whole(values["type"])
        number = self.numbers.get(whole(values["connectionId"]))
        name = row.name or ""
        row.cat = {OPERATOR: "cpu_op", QUEUE: "queue", PYTHON: "python_function", MARK: "user_annotation"}.get(type_)
        if type_ == OPERATOR:
            if self.host == (None, None):
                self.host = row.pid, row.tid
            if oracle.step_number(row) is not None:
                row.cat = "user_annotation"
        if type_ == QUEUE and name.startswith("Enqueue"):
            row.cat, row.correlation = "enqueue_runtime", number
        if type_ == QUEUE and name.startswith("Dequeue"):
            row.cat = "dequeue"
            self.dequeues.append((row, number))
        sequence = whole(values["sequenceNumber"])
        sequence = None if sequence is None or sequence < 0 else sequence
        shapes, dtypes = (self.string(values[column]) for column in ("inputShapes", "inputDtypes"))
        if shapes is not None and dims(shapes) is None and dims(dtypes) is not None:
            shapes, dtypes = dtypes, shapes
        row.args = object_of([("Sequence number", sequence),
                              ("Fwd thread id", None if sequence is None else whole(values["fwdThreadId"])),
                              ("Input Dims", dims(shapes)), ("Input type", types(dtypes)),
                              ("correlation", row.correlation)])

    def cann(self, row, values):
        self.set_thread(row, values)
        row.name, row.cat = self.string(values["name"]), "cann"
        connection = whole(values["connectionId"])
        connection = None if connection in NO_CONNECTION else connection
        if whole(values["type"]) == NODE and row.name == "launch":
            row.cat, row.correlation = "cann_runtime", connection
            row.args = object_of([("correlation", connection)])
        if connection is not None:
            before = self.launches.get(connection)
            if before is None or before.cat == "cann" and row.cat == "cann_runtime":
                self.launches[connection] = row

    def pair(self):
        """{connectionId: correlation} for work that was launched while a call was taken off the queue."""
        self.correlations = {}
        for connection, launch in self.launches.items():
            if launch.ts_ns is None:
                continue
            end = launch.ts_ns + (launch.dur_ns or 0)
            within = [(row.ts_ns, -row.dur_ns, row.event, number) for row, number in self.dequeues
                      if (row.pid, row.tid) == (launch.pid, launch.tid) != (None, None) and row.ts_ns is not None
                      and row.dur_ns is not None
                      and row.ts_ns <= launch.ts_ns and end <= row.ts_ns + row.dur_ns]
            if within and max(within)[3] is not None:
                self.correlations[connection] = max(within)[3]

    def of_device(self, row, values, device):
        connection = whole(values["connectionId"])
        connection = None if connection in NO_CONNECTION else connection
        row.device, row.pid = "GPU", device
        row.correlation = self.correlations.get(connection, connection)
        row.args = object_of([("device", device), ("stream", row.stream), ("correlation", row.correlation)])

    def task(self, row, values):
        task = whole(values["globalTaskId"])
        if task in self.kernels:
            row.cat, row.name = "kernel", self.string(self.kernels[task])
        elif self.string(values["taskType"]) == "MEMCPY_ASYNC":
            row.cat, row.name = "gpu_memcpy", "MEMCPY_ASYNC"
        else:
            return False
        row.tid = row.stream = whole(values["streamId"])
        self.of_device(row, values, whole(values["deviceId"]))
        return True

    def collective(self, row, values):
        row.cat, row.name, row.tid = "kernel", self.string(values["opName"]), "Communication"
        device = whole(values["deviceId"])
        self.of_device(row, values, self.device if device is None else device)

    def step(self, row, values):
        if self.has_steps:
            return False
        number = whole(values["id"])
        row.cat, row.name = "user_annotation", None if number is None else f"ProfilerStep#{number}"
        row.pid, row.tid = self.host
        return True


def read_trace(path):
    return oracle.finish([Profile(path).part()])
