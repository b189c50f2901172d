"""An independent reader of Nsight Systems databases, by rules G1 to G11 and N1 to N13.

It is plain and slow: it reads each table into memory with Python's sqlite3. The rows are oracle.py's, so all oracles
accept them.

    trace = read_trace("run.sqlite")        # or a directory, also with traces in JSON
    trace.files                             # a File per part (G11) and per trace in JSON
    trace.files[0].rows                     # the rows of trace_events; .marks are those of phase i
    path_of(row.file)                       # row.file also distinguishes the parts of a file

Times are integer nanoseconds; None is SQL's NULL.
"""
import contextlib
import json
import os
import re
import sqlite3
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from urllib.parse import quote

import oracle
from oracle import int64, plus

MAGIC = b"SQLite format 3\0"
LONGEST = 16 * 2 ** 20  # bytes of a row (G5)
KIND = "CUPTI_ACTIVITY_KIND_"
NVTX, RUNTIME, KERNEL, MEMCPY, MEMSET, GRAPH, SYNC = TABLES = (
    "NVTX_EVENTS", *(KIND + kind for kind in (
        "RUNTIME", "KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE", "SYNCHRONIZATION")))  # N1
HOST, WORK = (NVTX, RUNTIME), (KERNEL, MEMCPY, MEMSET, GRAPH)
DEVICE = ("start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid")
COLUMNS = {
    NVTX: ("start", "end", "eventType", "text", "textId", "globalTid", "domainId"),
    RUNTIME: ("start", "end", "eventClass", "globalTid", "correlationId", "nameId", "returnValue"),
    KERNEL: (*DEVICE, "demangledName", "shortName", "mangledName", "registersPerThread", "staticSharedMemory",
             "dynamicSharedMemory", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "graphNodeId"),
    MEMCPY: (*DEVICE, "bytes", "copyKind", "srcKind", "dstKind", "graphNodeId"),
    MEMSET: (*DEVICE, "bytes", "graphNodeId"),
    GRAPH: (*DEVICE, "graphId", "graphExecId"),
    SYNC: (*DEVICE, "syncType")}

STEP_WORDS = ("ProfilerStep", "step", "train_step", "training_step", "iteration", "iter")  # N10
DIRECTIONS = dict(enumerate("HtoD DtoH HtoA AtoH AtoA AtoD DtoA DtoD HtoH PtoP".split(), 1))  # N12
UNIFIED = {11: "HtoD", 12: "DtoH", 13: "DtoD"}
PLACES = ("Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static")
NOT_A_TIME = -2 ** 63  # the one integer that the extension reads as NULL
DOUBLES = (67, 68, 69)  # N8
SYNCS = {1: "Event Sync", 2: "Stream Wait Event", 3: "Stream Sync", 4: "Context Sync"}  # N11

# N7: PyTorch's emit_nvtx writes this after the name. Sizes are also parsed as JSON.
PAIR = r"\([0-9]+, ?[0-9]+\)"
EMITTED = re.compile(
    r"(?:, seq = (?P<seq>[0-9]+))?(?:, op_id = (?P<id>[0-9]+))?(?:, sizes = (?P<sizes>\[[-0-9, \[\]]*\]))?"
    rf"(?:, input_op_ids = \[(?:{PAIR}(?:, ?{PAIR})*)?\])?", re.ASCII)


class Damaged(ValueError):
    """A required column is missing (G8)."""


@dataclass(slots=True)
class Row(oracle.Event):
    args: str = None


@dataclass
class Part(oracle.File):
    process: int = None
    marks: list = field(default_factory=list)
    events: int = 0  # from its tables (G9), with or without rows; the first part also has rows without a part
    skipped: int = 0
    problems: Counter = field(default_factory=Counter)  # values in tables; other tests cover other values


@dataclass
class Record:
    """A row of a table: its values by column, and what its ids stand for by the rules."""
    table: str
    event: int
    values: dict
    process: int = None


# ---- the database (G1 to G8) ----------------------------------------------

def is_database(path):
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


class Database:
    def __init__(self, path):
        self.path = path
        self.db = sqlite3.connect(f"file:{quote(os.fsencode(path))}?mode=ro&immutable=1", uri=True)
        self.db.text_factory = lambda data: data.decode("utf-8", "replace")
        self.db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
        self.names = {name for name, in self.db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")}

    def close(self):
        self.db.close()

    def table(self, name):
        """The table's name in this file (N1), or None."""
        versions = [(int(match[1]), other) for other in self.names
                    if (match := re.fullmatch(re.escape(name) + "_V([0-9]+)", other))]
        return name if name in self.names else max(versions)[1] if versions else None

    def is_nsys(self):
        return "StringIds" in self.names and any(map(self.table, TABLES)) or bool(
            {"META_DATA_EXPORT", "EXPORT_META_DATA"} & self.names)

    def columns(self, table):
        return [row[1] for row in self.db.execute(f'PRAGMA table_xinfo("{table}")') if row[6] == 0]

    def require(self, name, columns):
        """Requires one of the columns (G8, N2)."""
        table = self.table(name)
        if table is not None and not set(columns) & set(self.columns(table)):
            raise Damaged(f"table {table} has no column {columns[0]}")

    def read(self, name, columns):
        """A dict per row by rowid, or None for a row that is too long (G5)."""
        table = self.table(name)
        if table is None:
            return
        present = self.columns(table)
        selected = ", ".join(f'"{column}"' if column in present else "NULL" for column in columns)
        for rowid, in self.db.execute(f'SELECT rowid FROM "{table}" ORDER BY rowid').fetchall():
            try:
                values = self.db.execute(f'SELECT {selected} FROM "{table}" WHERE rowid = ?', (rowid,)).fetchone()
                yield dict(zip(columns, values))
            except (sqlite3.DataError, sqlite3.OperationalError) as error:
                if "too big" not in str(error):
                    raise
                yield None


def whole(value):
    """An integer, or a numeric text (G8)."""
    if isinstance(value, str):
        return int64(int(value)) if re.fullmatch("-?(0|[1-9][0-9]*)", value, re.ASCII) else None
    return value if isinstance(value, int) else None


def text(value):
    return value if isinstance(value, str) else None


# ---- names (N7, N8, N12) --------------------------------------------------

def emitted(name):
    """(NAME, match) for a text from emit_nvtx, otherwise (text, None)."""
    for comma in re.finditer(", ", name):
        match = EMITTED.fullmatch(name, comma.start())
        if match and (match["sizes"] is None or is_list(match["sizes"])):
            return name[:comma.start()], match
    return name, None


def marker(name):
    """The name of a marker of DLProf (N7.4), or None."""
    for pattern in (r"\{'mod': '.*?', 'op': '([^']*)'.*", r"\{'traceMarker': .*?'funcStack': '([^']*)'.*",
                    r"\{'traceMarker': [^']*(?:'[^']*'[^']*)*'([^']*)'[^']*"):
        match = re.fullmatch(pattern, name, re.DOTALL)
        if match:
            return re.sub(r"(?<=.)\([0-9]+\)\Z", "", match[1].split("/")[-1], flags=re.DOTALL) or None
    return None


def is_list(sizes):
    """Whether it is a list of lists and integers, with or without a space after each comma."""
    try:
        json.loads(sizes)
    except ValueError:
        return False
    return re.search(r" (?<!, )|\[ |- |, (?![-0-9\[])", sizes) is None


def is_operator(name, match):
    return match is not None and (match["seq"] is not None or name in ("record_param_comms", "detach", "detach_")
                                  or re.match("[a-z_][a-z0-9_]*::", name, re.ASCII) is not None)


def call_name(name):
    return name and re.sub(r"_v[0-9]{4,5}\Z", "", name, flags=re.ASCII)


def call_category(event_class, name):
    if event_class in (1, 13) or event_class != 0 and re.match("cu[A-Z]", name or ""):
        return "cuda_driver"
    return "cuda_runtime"


def copy_name(kind, source, target):
    if kind in UNIFIED:
        return f"Memcpy {UNIFIED[kind]} (Unified)"
    if kind not in DIRECTIONS:
        return "Memcpy <unknown>"
    if source is None and target is None:
        return f"Memcpy {DIRECTIONS[kind]}"
    places = [PLACES[place] if place in range(len(PLACES)) else "Unknown" for place in (source, target)]
    return f"Memcpy {DIRECTIONS[kind]} ({places[0]} -> {places[1]})"


# ---- args (G10, N13) ------------------------------------------------------

def object_of(pairs):
    """A JSON object of the values that are not NULL; a str is JSON already."""
    made = [f"{json.dumps(key)}:{value if isinstance(value, str) else json.dumps(value, separators=(',', ':'))}"
            for key, value in pairs if value is not None]
    return "{" + ",".join(made) + "}" if made else None


def quoted(value):
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else value


def triple(values, name):
    axes = [whole(values[name + axis]) for axis in "XYZ"]
    return None if None in axes else axes


def bandwidth(size, dur_ns):
    if size is None or not dur_ns:
        return None
    rate = float(size) / float(dur_ns)
    return sqlite3.connect(":memory:").execute("SELECT printf('%!.15g', ?)", (rate,)).fetchone()[0]


def device_args(record, row, device):
    values = {key: whole(value) for key, value in record.values.items()}
    yield "device", device
    yield "context", values["contextId"]
    yield "stream", row.stream
    yield "correlation", values["correlationId"]
    if record.table == KERNEL:
        yield "registers per thread", values["registersPerThread"]
        parts = [values[key] for key in ("staticSharedMemory", "dynamicSharedMemory") if values[key] is not None]
        yield "shared memory", int64(sum(parts)) if parts else None
        yield "grid", triple(record.values, "grid")
        yield "block", triple(record.values, "block")
    if record.table in (MEMCPY, MEMSET):
        yield "bytes", values["bytes"]
        yield "memory bandwidth (GB/s)", bandwidth(values["bytes"], row.dur_ns)
    if record.table in (KERNEL, MEMCPY, MEMSET):
        yield "graph node id", values["graphNodeId"]
    if record.table == GRAPH:
        yield "graph id", values["graphId"]
        yield "graph exec id", values["graphExecId"]


# ---- parts (N3 to N6) -----------------------------------------------------

class Export:
    """The common source of all parts of a database."""

    def __init__(self, db):
        self.db = db
        if not self.db.is_nsys():
            raise oracle.NotATrace(db.path)
        self.strings = {}
        for row in self.db.read("StringIds", ("id", "value")):
            if row and whole(row["id"]) is not None:
                self.strings.setdefault(whole(row["id"]), text(row["value"]))
        self.records, self.events, self.too_long = [], 0, 0
        for table in TABLES:
            self.db.require(table, ("start",))
            if table == KERNEL:
                self.db.require(table, ("demangledName", "shortName"))
            for values in self.db.read(table, COLUMNS[table]):
                if values is not None:
                    self.records.append(Record(table, self.events, values))
                self.too_long += values is None
                self.events += 1
        self.base_ns = self.base()
        self.processes()
        self.domains = {}
        for record in self.of(NVTX):
            if whole(record.values["eventType"]) == 75 and self.text_of(record) is not None:
                self.domains.setdefault((record.process, whole(record.values["domainId"])), self.text_of(record))

    def of(self, *tables):
        return [record for record in self.records if record.table in tables]

    def string(self, value):
        return self.strings.get(whole(value))

    def text_of(self, record):
        """The text of an NVTX event (N7)."""
        own = text(record.values["text"])
        return self.string(record.values["textId"]) if own is None else own

    def base(self):  # N6
        for name in ("META_DATA_EXPORT", "EXPORT_META_DATA"):
            for row in self.db.read(name, ("name", "value")):
                if [str(value).lower() for value in (row or {}).values()] == ["export_param_time_normalize", "true"]:
                    return 0
        starts = [whole(row["utcEpochNs"]) for row in self.db.read("TARGET_INFO_SESSION_START_TIME", ("utcEpochNs",))
                  if row]
        return next((start for start in starts if start is not None), 0)

    def processes(self):  # N3
        for record in self.records:
            number = whole(record.values["globalTid" if record.table in HOST else "globalPid"])
            record.process = None if number is None else number >> 24
        hosts = {record.process for record in self.of(*HOST)} - {None}
        self.only = next(iter(hosts)) if len(hosts) == 1 else 0
        for record in self.records:
            if record.process is None:
                record.process = self.only

    def part_processes(self):  # N4
        for tables in (WORK, (RUNTIME,), (NVTX,)):
            devices = defaultdict(set)
            for record in self.of(*tables):
                devices[record.process].add(whole(record.values.get("deviceId")))
            if devices:
                first = {process: min(found - {None}, default=2 ** 63) for process, found in devices.items()}
                return sorted(first, key=lambda process: (first[process], process))
        return [None]

    def known_ranks(self):
        """{process: rank} (N5)"""
        ranks = {}
        for row in self.db.read("MPI_RANKS", ("globalTid", "rank")):
            tid, rank = (whole(row[key]) for key in ("globalTid", "rank")) if row else (None, None)
            if rank is not None and rank >= 0:
                ranks.setdefault(self.only if tid is None else tid >> 24, rank)
        for record in self.of(NVTX):
            name = self.text_of(record) or ""
            rank = whole(name.removeprefix("MPI Rank "))
            if whole(record.values["eventType"]) == 39 and name.startswith("MPI Rank ") and rank is not None \
                    and rank >= 0:
                ranks.setdefault(record.process, rank)
        return ranks

    def parts(self):
        processes, ranks = self.part_processes(), self.known_ranks()
        known = all(process in ranks for process in processes) and \
            len({ranks[process] for process in processes}) == len(processes)
        for number, process in enumerate(processes):
            part = Part(f"{self.db.path}\0{number:06}", None, self.base_ns, named=len(processes) == 1, process=process,
                        rank=ranks[process] if known else None)
            records = [record for record in self.records if len(processes) == 1 or record.process == process]
            part.events = len(records)
            if number == 0:
                others = sum(record.process not in processes for record in self.records) if len(processes) > 1 else 0
                part.events, part.skipped = part.events + others + self.too_long, self.too_long
                part.problems["event of a process without device work"] = others  # N4
            self.fill(part, records)
            yield part

    # ---- rows ----

    def fill(self, part, records):
        devices = {}  # for each context (N11)
        for record in records:
            if record.table in WORK and whole(record.values["deviceId"]) is not None:
                devices.setdefault(whole(record.values["contextId"]), whole(record.values["deviceId"]))
        devices.pop(None, None)
        rows = []
        for record in records:
            row = self.row(part, record, devices)
            if row is not None:
                rows.append(row)
        self.name_steps(records, rows)
        part.problems["B without an E"] = sum(row.ph == "B" for row in rows)
        part.problems["name is not text"] = sum(row.ph != "i" and row.name is None for row in rows)
        part.rows = rows
        timed = [row for row in rows if row.ts_ns is not None and row.ph != "i"]
        part.first_ns = min((row.ts_ns for row in timed), default=None)
        part.last_ns = max((row.ts_ns + (row.dur_ns or 0) for row in timed), default=None)

    def row(self, part, record, devices):
        make = {NVTX: self.range, RUNTIME: self.call}.get(record.table)
        row = Row(part.path, record.event, "X", None, None, None, None, None, None, None, None)
        self.set_times(record, row, part.problems)
        if make:
            tid = whole(record.values["globalTid"])
            row.pid, row.tid = record.process & 0xffffff, None if tid is None else tid & 0xffffff
            return make(record, row, part)
        return self.device_row(record, row, part, devices)

    def set_times(self, record, row, problems):
        start, end = whole(record.values["start"]), whole(record.values["end"])
        if record.table not in HOST and start == end == 0:  # N6
            problems["device work that was not timed"] += 1
            return
        row.ts_ns = plus(self.base_ns, start)
        if row.ts_ns == NOT_A_TIME:
            row.ts_ns = None
        row.dur_ns = None if None in (start, end) or end < start else int64(end - start)  # G8
        is_row = record.table != NVTX or whole(record.values["eventType"]) in (59, 60)
        is_row = is_row and (record.table != RUNTIME or whole(record.values["eventClass"]) not in DOUBLES)
        problems["negative dur"] += is_row and None not in (start, end) and end < start
        if None in (row.ts_ns, plus(row.ts_ns, row.dur_ns)):  # T1.4
            row.dur_ns = None

    def range(self, record, row, part):  # N7
        type_ = whole(record.values["eventType"])
        if type_ not in (34, 59, 60):
            return None
        if type_ == 34:
            row.ph, row.dur_ns = "i", None
        elif record.values["end"] is None:
            row.ph = "B"
        full, match = self.text_of(record), None
        if full is not None:
            row.name, match = emitted(full) if marker(full) is None else (marker(full), None)
        row.cat = "cpu_op" if is_operator(row.name, match) else "user_annotation"
        row.args = object_of(self.range_args(record, match))
        if full is not None and marker(full) is not None:
            row.args = self.with_text(row.args, full)
        return row

    def range_args(self, record, match):
        if match:
            for key, group in (("Record function id", "id"), ("Sequence number", "seq")):
                yield key, match[group] and (match[group].lstrip("0") or "0")
            yield "Input Dims", match["sizes"] and match["sizes"].replace(" ", "")
        domain = whole(record.values["domainId"])
        name = self.domains.get((record.process, domain))
        yield "domain", None if not domain else domain if name is None else quoted(name)

    def call(self, record, row, part):  # N8
        event_class = whole(record.values["eventClass"])
        if event_class in DOUBLES:
            return None
        row.name = call_name(self.string(record.values["nameId"]))
        row.cat = call_category(event_class, row.name)
        correlation = whole(record.values["correlationId"])
        row.correlation = correlation if part.process == record.process else None  # N9
        returned = whole(record.values["returnValue"])
        row.args = object_of([("correlation", correlation), ("return value", returned or None)])
        return row

    def device_row(self, record, row, part, devices):  # N11, N12
        values = record.values
        device, stream = whole(values["deviceId"]), whole(values["streamId"])
        head = ()
        if record.table == KERNEL:
            names = [self.string(values[key]) for key in ("demangledName", "shortName", "mangledName")]
            row.name = next((name for name in names if name is not None), None)
            row.name = row.name and row.name.replace("<unnamed>", "(anonymous namespace)")
            row.cat = "kernel"
        elif record.table == MEMCPY:
            row.cat = "gpu_memcpy"
            row.name = copy_name(*(whole(values[key]) for key in ("copyKind", "srcKind", "dstKind")))
        elif record.table == MEMSET:
            row.cat, row.name = "gpu_memset", "Memset (Device)"
        elif record.table == GRAPH:
            row.cat, row.name = "kernel", "CUDA graph"
        else:
            row.cat, row.name = "cuda_sync", SYNCS.get(whole(values["syncType"]), "Unknown Sync")
            device = devices.get(whole(values["contextId"]), device)
            stream = -1 if stream == 4294967295 else stream
            head = [("cuda_sync_kind", quoted(row.name))]
        row.device = "GPU"
        row.pid, row.tid, row.stream = device, stream, stream
        row.correlation = whole(values["correlationId"]) if part.process == record.process else None
        row.args = object_of([*head, *device_args(record, row, device)])
        return row

    def name_steps(self, records, rows):  # N10
        texts = {record.event: self.text_of(record) for record in records if record.table == NVTX}
        ranges = [row for row in rows if row.event in texts and row.ph != "i" and row.name is not None]
        for word in STEP_WORDS:
            matches = [(row, re.fullmatch(word + "[ _:=#-]*([0-9]+)", row.name, re.ASCII | re.IGNORECASE))
                       for row in ranges]
            matches = [(row, int(match[1])) for row, match in matches if match and int64(int(match[1])) is not None]
            for row, number in matches:
                row.name, row.cat = f"ProfilerStep#{number}", "user_annotation"
                row.args = self.with_text(row.args, texts[row.event])
            if matches:
                return

    @staticmethod
    def with_text(args, full):
        last = object_of([("nvtx", quoted(full))])
        return last if args is None else args[:-1] + "," + last[1:]


# ---- traces ---------------------------------------------------------------

def path_of(file):
    return file.split("\0")[0]


def list_directory(path):
    """The files of a directory that are read (G1)."""
    names = [name for name in os.listdir(path) if name.endswith((".sqlite", ".sqlite3", ".db")) and name[0] != "."]
    return sorted({*oracle.list_directory(path), *(oracle.joined(path, name) for name in names)}, key=os.fsencode)


def read_trace(path):
    """The trace of a directory or a file; in a directory, other databases are skipped (T16)."""
    paths = list_directory(path) if os.path.isdir(path) else [path]
    files = []
    for each in paths:
        try:
            if is_database(each):
                with contextlib.closing(Database(each)) as db:
                    files += Export(db).parts()
            else:
                files.append(oracle.read_file(each))
        except oracle.NotATrace:
            if each == path:
                raise
    trace = oracle.finish(files)
    for part in files:
        part.marks = [row for row in part.rows if row.ph == "i"]
        part.rows = [row for row in part.rows if row.ph != "i"]
    return trace
