"""An independent reader of rocprofv3's JSON, by rules R10 to R14. It shares names with oracle_rocpd.

    trace = read_trace("908_results.json.gz")
"""
import gzip
import json

import oracle
from oracle_nsys import Part, Row, bandwidth, emitted, is_operator, object_of, quoted
from oracle_rocpd import COPIES, Process, category, lower

CALLS = ("hip_api", "hsa_api", "marker_api", "rccl_api", "rocdecode_api", "rocjpeg_api")


def whole(value):
    return oracle.int64(value) if isinstance(value, int) and not isinstance(value, bool) else None


def member(value, *keys):
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def item(list_, index):
    return list_[index] if isinstance(list_, list) and index is not None and 0 <= index < len(list_) else None


def text(value):
    return value if isinstance(value, str) else None


class Tool:
    """The output of one process."""

    def __init__(self, document):
        self.document = document
        self.pid = whole(member(document, "metadata", "pid"))
        self.kinds = member(document, "strings", "buffer_records") or []
        self.agents = {member(agent, "id", "handle"): agent for agent in reversed(document.get("agents", []))}
        self.kernels, self.markers = {}, {}
        for symbol in document.get("kernel_symbols", []):
            names = [text(symbol.get(key)) for key in ("formatted_kernel_name", "demangled_kernel_name", "kernel_name")]
            self.kernels.setdefault(symbol.get("kernel_id"), next((name for name in names if name is not None), None))
        for marker in member(document, "strings", "marker_api") or []:
            if text(marker.get("value")) is not None:
                self.markers.setdefault(marker.get("key"), marker["value"])

    def agent(self, handle):
        agent = self.agents.get(whole(handle))
        index = member(agent, "logical_node_type_id")
        return whole(member(agent, "gpu_index") if index is None else index), member(agent, "type") == 2

    def fill(self, part):
        number, texts = 0, {}
        for key, records in self.document.get("buffer_records", {}).items():
            for record in records:
                row = Row(part.path, number, "X", None, None, None, None, None, None, None, None)
                number += 1
                row.ts_ns, end = whole(member(record, "start_timestamp")), whole(member(record, "end_timestamp"))
                row.dur_ns = None if None in (row.ts_ns, end) or end < row.ts_ns else oracle.int64(end - row.ts_ns)
                row.correlation = whole(member(record, "correlation_id", "internal"))
                kind = item(self.kinds, whole(member(record, "kind")))
                operation = text(item(member(kind, "operations"), whole(member(record, "operation"))))
                if key == "kernel_dispatch":
                    self.dispatch(row, record)
                elif key == "memory_copy":
                    self.copy(row, record, operation)
                elif key not in CALLS or not self.call(row, record, kind, operation, texts):
                    continue
                part.rows.append(row)
        Process.name_steps(part.rows, texts)
        timed = [row for row in part.rows if row.ts_ns is not None]
        part.first_ns = min((row.ts_ns for row in timed), default=None)
        part.last_ns = max((row.ts_ns + (row.dur_ns or 0) for row in timed), default=None)
        part.events = number

    def call(self, row, record, kind, operation, texts):
        of = text(member(kind, "kind"))
        of = of if of is None else lower(of)
        row.pid, row.tid, row.name, row.cat = self.pid, whole(member(record, "thread_id")), operation, category(of)
        message = self.markers.get(row.correlation)
        if of is not None and of.startswith(("hip_", "hsa_")):
            row.args = object_of([("correlation", row.correlation)])
            return True
        if of is not None and of.startswith(("marker_core", "marker_api")) and message is not None:
            row.name, match = emitted(message)
            row.cat = "cpu_op" if is_operator(row.name, match) else "user_annotation"
            row.args = match and object_of([("Record function id", match["id"]), ("Sequence number", match["seq"]),
                                            ("Input Dims", match["sizes"] and match["sizes"].replace(" ", ""))])
            texts[row.event] = message
        row.correlation = None
        return of is None or not of.startswith("kfd_")

    def head(self, row, record, device, queue):
        row.device, row.pid = "GPU", device
        row.tid = row.stream = whole(member(record, "stream_id", "handle"))
        return [("device", device), ("stream", row.stream), ("queue", whole(queue)), ("correlation", row.correlation)]

    def dispatch(self, row, record):
        info = member(record, "dispatch_info")
        row.cat, row.name = "kernel", self.kernels.get(whole(member(info, "kernel_id")))
        device, _ = self.agent(member(info, "agent_id", "handle"))
        head = self.head(row, record, device, member(info, "queue_id", "handle"))
        block, items = ([whole(member(info, size, axis)) for axis in "xyz"] for size in ("workgroup_size", "grid_size"))
        block = None if None in block or min(block) <= 0 else block
        grid = None if block is None or None in items or min(items) < 0 else [a // b for a, b in zip(items, block)]
        row.args = object_of([*head, ("grid", grid), ("block", block)])

    def copy(self, row, record, operation):
        row.cat, row.name = "gpu_memcpy", COPIES.get(operation, operation)
        to, is_gpu = self.agent(member(record, "dst_agent_id", "handle"))
        device = to if is_gpu else self.agent(member(record, "src_agent_id", "handle"))[0]
        size = whole(member(record, "bytes"))
        row.args = object_of([*self.head(row, record, device, None), ("bytes", size),
                              ("memory bandwidth (GB/s)", bandwidth(size, row.dur_ns))])


def read_trace(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        document = json.loads(file.read())
    part = Part(path, None, rank=None, named=True)
    Tool(document["rocprofiler-sdk-tool"][0]).fill(part)
    return oracle.finish([part])
