"""An independent reader of rocprofv3 databases, by rules R1 to R9.

It shares the reading of databases and of emit_nvtx texts with oracle_nsys.

    trace = read_trace("results.db")        # a File per process
    trace.files[0].rows                     # the rows of trace_events; .marks are those of phase i
"""
import contextlib
import json
import re

import oracle
from oracle import plus
from oracle_nsys import (Database, Part, Row, STEP_WORDS, bandwidth, emitted, is_operator, object_of, quoted,
                         text, whole)

REGION, DISPATCH, COPY, SAMPLE = TABLES = ("rocpd_region", "rocpd_kernel_dispatch", "rocpd_memory_copy", "rocpd_sample")
AXES = ("x", "y", "z")
NEW = ("track_id", "start_id", "end_id")  # in schema 4
COLUMNS = {
    REGION: ("start", "end", "pid", "tid", "name_id", "event_id", *NEW),
    DISPATCH: (*NEW, "start", "end", "agent_id", "kernel_id", "queue_id", "stream_id", "event_id",
               *(f"{size}_size_{axis}" for size in ("grid", "workgroup") for axis in AXES)),
    COPY: (*NEW, "start", "end", "name_id", "dst_agent_id", "src_agent_id", "size", "queue_id", "stream_id",
           "event_id"),
    SAMPLE: ("timestamp", "timestamp_id", "track_id", "name_id", "event_id")}
RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")  # R4
PLACES = {"HOST": ("H", "Host"), "DEVICE": ("D", "Device")}
COPIES = {f"MEMORY_COPY_{a}_TO_{b}": f"Memcpy {PLACES[a][0]}to{PLACES[b][0]} ({PLACES[a][1]} -> {PLACES[b][1]})"
          for a in PLACES for b in PLACES}  # R7


class Unknown(ValueError):
    """An unsupported schema (R1)."""


def member(document, key):
    """A member of a JSON object in text form, or None."""
    try:
        object_ = json.loads(document)
    except (TypeError, ValueError, RecursionError):
        return None
    return object_.get(key) if isinstance(object_, dict) else None


def rank_of(environment):
    for key in RANKS:
        rank = member(environment, key)
        rank = None if isinstance(rank, bool) else whole(rank)
        if rank is not None and rank >= 0:
            return rank
    return None


def lower(name):
    return name.translate({ord(letter): ord(letter) + 32 for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"})


def category(name):
    """The category of a region or a sample: the lower-case name of its event's category (R5)."""
    for begin, result in (("hip_", "cuda_runtime"), ("hsa_", "cuda_driver"), ("marker_", "user_annotation")):
        if name is not None and name.startswith(begin):
            return result
    return name


def step_number(word, name):  # N10
    match = name and re.fullmatch(word + "[ _:=#-]*([0-9]+)", name, re.ASCII | re.IGNORECASE)
    return match[1] if match else None


class Process:
    """The tables with one suffix."""

    def __init__(self, db, suffix):
        self.db, self.suffix = db, suffix
        self.check()
        self.strings = {key: text(row["string"]) for key, row in self.by_id("string", "string")}
        self.pids, self.rank = {}, None
        for key, row in self.by_id("info_process", "pid", "environment"):
            self.pids[key] = whole(row["pid"])
            self.rank = rank_of(row["environment"]) if self.rank is None else self.rank
        self.tids = {key: whole(row["tid"]) for key, row in self.by_id("info_thread", "tid")}
        self.agents = dict(self.by_id("info_agent", "type", "type_index"))
        self.kernels = {key: text(row["kernel_name"]) if text(row["display_name"]) is None
                        else text(row["display_name"])
                        for key, row in self.by_id("info_kernel_symbol", "display_name", "kernel_name")}
        self.events = dict(self.by_id("event", "category_id", "stack_id", "extdata"))
        self.tracks = dict(self.by_id("track", "pid", "tid", "name_id", "agent_id", "queue_id", "stream_id"))
        self.timestamps = {key: whole(row["value"]) for key, row in self.by_id("timestamp", "value")}
        named = self.db.table(self.name("rocpd_info_category")) is not None
        self.categories = {key: text(row["name"]) for key, row in self.by_id("info_category", "name")
                           } if named else self.strings

    def name(self, table):
        return f"{table}_{self.suffix}"

    def check(self):
        """Refuses other schemas (R1)."""
        versions = [text(row["value"]) for row in self.db.read(self.name("rocpd_metadata"), ("tag", "value"))
                    if row and row["tag"] == "schema_version"]
        if versions and versions[0] is not None and versions[0].split(".")[0] not in ("3", "4"):
            raise Unknown(f"rocpd schema {versions[0].split('.')[0]} is not known")

    def by_id(self, table, *columns):
        """(id, values) of the rows of a table (R2)."""
        seen = set()
        for row in self.db.read(self.name("rocpd_" + table), ("id", *columns)):
            key = whole(row["id"]) if row else None
            if key is not None and key not in seen:
                seen.add(key)
                yield key, row

    def string(self, value):
        return self.strings.get(whole(value))

    def event(self, values):
        """(lower-case category, correlation, message) of a row's event."""
        event = self.events.get(whole(values["event_id"]))
        if event is None:
            return None, None, None
        of = self.categories.get(whole(event["category_id"]))
        return of if of is None else lower(of), whole(event["stack_id"]), text(member(event["extdata"], "message"))

    def device(self, agent):
        return whole(agent["type_index"]) if agent else None

    def fill(self, part, first_event):
        """Adds the rows of the part; returns the number of the next event (G9)."""
        number, texts = first_event, {}
        for table in TABLES:
            required = "timestamp" if table == SAMPLE else "start"
            self.db.require(self.name(table), (required, required + "_id"))
            make = {REGION: self.region, DISPATCH: self.dispatch, COPY: self.copy, SAMPLE: self.sample}[table]
            for values in self.db.read(self.name(table), COLUMNS[table]):
                row = Row(part.path, number, "X", None, None, None, None, None, None, None, None)
                number += 1
                if values is None:
                    continue
                self.fill_in(values)
                self.set_times(row, values, required)
                if make(row, values, texts) is not False:
                    part.rows.append(row)
        self.name_steps(part.rows, texts)
        timed = [row for row in part.rows if row.ts_ns is not None and row.ph != "i"]
        part.first_ns = min((row.ts_ns for row in timed), default=None)
        part.last_ns = max((row.ts_ns + (row.dur_ns or 0) for row in timed), default=None)
        part.events = number - first_event
        return number

    def fill_in(self, values):
        """Adds the columns that schema 4 has in other tables (R9)."""
        for column in ("start", "end", "timestamp"):
            if column + "_id" in values and whole(values[column]) is None:
                values[column] = self.timestamps.get(whole(values[column + "_id"]))
        track = self.tracks.get(whole(values["track_id"]), {}) if "track_id" in values else {}
        for column, value in track.items():
            if column in values and whole(values[column]) is None and (column != "name_id" or "timestamp" in values):
                values[column] = value

    @staticmethod
    def set_times(row, values, column):  # R3, G8
        row.ts_ns, end = whole(values[column]), whole(values.get("end"))
        row.dur_ns = None if None in (row.ts_ns, end) or end < row.ts_ns else oracle.int64(end - row.ts_ns)
        if row.ts_ns is not None and plus(row.ts_ns, row.dur_ns) is None:
            row.dur_ns = None

    def region(self, row, values, texts):  # R5
        of, correlation, message = self.event(values)
        if of is not None and of.startswith("kfd_"):
            return False
        row.cat, row.name = category(of), self.string(values["name_id"])
        row.pid, row.tid = self.pids.get(whole(values["pid"])), self.tids.get(whole(values["tid"]))
        if of is not None and of.startswith(("hip_", "hsa_")):
            row.correlation = correlation
            row.args = object_of([("correlation", correlation)])
        elif of is not None and of.startswith(("marker_core", "marker_api")) and message is not None:
            row.name, match = emitted(message)
            row.cat = "cpu_op" if is_operator(row.name, match) else "user_annotation"
            row.args = match and object_of([("Record function id", match["id"]), ("Sequence number", match["seq"]),
                                            ("Input Dims", match["sizes"] and match["sizes"].replace(" ", ""))])
            texts[row.event] = message
        return True

    def head(self, row, values, agent):
        """The columns that dispatches and copies share."""
        row.device, row.pid = "GPU", self.device(agent)
        row.tid = row.stream = whole(values["stream_id"])
        row.correlation = self.event(values)[1]
        return [("device", row.pid), ("stream", row.stream), ("queue", whole(values["queue_id"])),
                ("correlation", row.correlation)]

    def dispatch(self, row, values, texts):  # R6
        row.cat, row.name = "kernel", self.kernels.get(whole(values["kernel_id"]))
        head = self.head(row, values, self.agents.get(whole(values["agent_id"])))
        block = [whole(values[f"workgroup_size_{axis}"]) for axis in AXES]
        items = [whole(values[f"grid_size_{axis}"]) for axis in AXES]
        block = None if None in block or min(block) <= 0 else block
        grid = None if block is None or None in items or min(items) < 0 else [a // b for a, b in zip(items, block)]
        row.args = object_of([*head, ("grid", grid), ("block", block)])

    def copy(self, row, values, texts):  # R7
        name = self.string(values["name_id"])
        row.cat, row.name = "gpu_memcpy", COPIES.get(name, name)
        target, source = (self.agents.get(whole(values[key])) for key in ("dst_agent_id", "src_agent_id"))
        head = self.head(row, values, target if target and target["type"] == "GPU" else source)
        size = whole(values["size"])
        row.args = object_of([*head, ("bytes", size), ("memory bandwidth (GB/s)", bandwidth(size, row.dur_ns))])

    def sample(self, row, values, texts):
        of = self.event(values)[0]
        if of is not None and of.startswith("kfd_"):
            return False
        track = self.tracks.get(whole(values["track_id"]))
        row.ph, row.cat, row.dur_ns, row.name = "i", category(of), None, self.string(values["name_id"])
        if track:
            row.pid, row.tid = self.pids.get(whole(track["pid"])), self.tids.get(whole(track["tid"]))
        return True

    @staticmethod
    def name_steps(rows, texts):  # N10
        ranges = [row for row in rows if row.event in texts]
        for word in STEP_WORDS:
            steps = [(row, number) for row in ranges if (number := step_number(word, row.name)) is not None]
            for row, number in steps:
                row.name, row.cat = f"ProfilerStep#{number}", "user_annotation"
                last = object_of([("nvtx", quoted(texts[row.event]))])
                row.args = last if row.args is None else row.args[:-1] + "," + last[1:]
            if steps:
                return


def is_rocpd(db):
    return bool(any(name.startswith("rocpd_string_") for name in db.names) and suffixes(db))


def suffixes(db):
    """The parts, in order (R1)."""
    found = {name[len(table) + 1:] for table in (REGION, DISPATCH) for name in db.names if name.startswith(table + "_")}
    return sorted(found, key=str.encode)


def parts(path):
    with contextlib.closing(Database(path)) as db:
        if not is_rocpd(db):
            raise oracle.NotATrace(path)
        processes = [Process(db, suffix) for suffix in suffixes(db)]
        first_event, result = 0, []
        for number, process in enumerate(processes):
            part = Part(f"{path}\0{number:06}", None, rank=process.rank, named=len(processes) == 1)
            first_event = process.fill(part, first_event)
            result.append(part)
    return result


def read_trace(path):
    files = parts(path)
    trace = oracle.finish(files)
    for part in files:
        part.marks = [row for row in part.rows if row.ph == "i"]
        part.rows = [row for row in part.rows if row.ph != "i"]
    return trace
