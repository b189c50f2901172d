"""Random databases of rocprofv3 (schemas 3, 4.0 and 4.1), valid and invalid.

    write(path, generate(random.Random(7)))     a database of SQLite; schema="4.0" gives the same rows in its tables
    /usr/bin/python3 tests/generators/generate_rocpd.py 7 results.db

A database is {name: Table}, like in generate_nsys, whose odd values and emit_nvtx texts it shares.
"""
import json
import random
import sys

import generate_nsys
from generate_nsys import IDS, INPUTS, NO_STEPS, NOT_UTF8, OPERATORS, SEQUENCES, SIZES, STEPS, Bytes, Table, write

ODD = [value for value in generate_nsys.ODD if value != "007"]  # the extension reads numbers in JSON notation

AXES = ("x", "y", "z")
COMMON = ("id", "guid", "nid", "pid", "tid")
COLUMNS = {
    "rocpd_metadata": ("id", "tag", "value"),
    "rocpd_string": ("id", "guid", "string"),
    "rocpd_info_process": ("id", "guid", "nid", "ppid", "pid", "command", "environment", "extdata"),
    "rocpd_info_thread": ("id", "guid", "nid", "ppid", "pid", "tid", "name"),
    "rocpd_info_agent": ("id", "guid", "nid", "pid", "type", "absolute_index", "type_index", "name"),
    "rocpd_info_kernel_symbol": ("id", "guid", "nid", "pid", "code_object_id", "kernel_name", "display_name"),
    "rocpd_track": ("id", "guid", "nid", "pid", "tid", "name_id"),
    "rocpd_event": ("id", "guid", "category_id", "stack_id", "parent_stack_id", "correlation_id", "extdata"),
    "rocpd_region": (*COMMON, "start", "end", "name_id", "event_id", "extdata"),
    "rocpd_sample": ("id", "guid", "track_id", "timestamp", "event_id"),
    "rocpd_kernel_dispatch": (*COMMON, "agent_id", "kernel_id", "dispatch_id", "queue_id", "stream_id", "start", "end",
                              *(f"workgroup_size_{axis}" for axis in AXES), *(f"grid_size_{axis}" for axis in AXES),
                              "region_name_id", "event_id"),
    "rocpd_memory_copy": (*COMMON, "start", "end", "name_id", "dst_agent_id", "src_agent_id", "size", "queue_id",
                          "stream_id", "event_id")}
TRACKED = ("rocpd_region", "rocpd_kernel_dispatch", "rocpd_memory_copy")  # which have a track since schema 4
PLACES = ("agent_id", "queue_id", "stream_id")
COLUMNS_4 = {  # in tables that schema 4 adds or changes
    "rocpd_info_category": ("id", "guid", "name", "extdata"),
    "rocpd_timestamp": ("id", "guid", "value", "phase", "track_id"),
    "rocpd_track": ("id", "guid", "nid", "ppid", "pid", "tid", *PLACES, "name_id")}
CATEGORIES_4 = {"HIP": "hip_api", "HSA": "hsa_api", "MARKER": "marker_api"}  # prefix of their names in schema 3
OF_TEXT = {"tag", "value", "guid", "string", "command", "environment", "extdata", "name", "type", "kernel_name",
           "display_name"}
KEPT = {"start", "timestamp", "pid", "id", "start_id", "timestamp_id"}  # a file without them is damaged

CALLS = {"HIP_RUNTIME_API_EXT": ("hipLaunchKernel", "hipMemcpyAsync", "hipGraphLaunch"),
         "HIP_COMPILER_API_EXT": ("__hipPushCallConfiguration",),
         "HSA_CORE_API": ("hsa_signal_wait_scacquire", "hsa_queue_create"), "HSA_AMD_EXT_API": ("hsa_amd_memory_copy",)}
OTHERS = ("RCCL_API", "OMPT", "MARKER_CONTROL_API", "MARKER_NAME_API", "KFD_EVENT_QUEUE", "KFD_PAGE_FAULT",
          "ROCDECODE_API",
          "Mixed_Case", "caf\u00c9_API", "HIP", "", "MARKER", "KFD")
COPIES = tuple(f"MEMORY_COPY_{a}_TO_{b}" for a in ("HOST", "DEVICE")
               for b in ("HOST", "DEVICE")) + ("MEMORY_COPY_NONE", "")
KERNELS = (("_Z4gemmPf.kd", "gemm(float*)"), ("_Z1f.kd", None), ("k.kd", ""), (None, None),
           ("_Z20ncclDevKernel_Genericv.kd", "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"))
ENVIRONMENTS = ({"RANK": "3"}, {"RANK": 2}, {"RANK": "-1", "PMI_RANK": "4"}, {"RANK": "x", "PMIX_RANK": "1"}, {},
                {"OMPI_COMM_WORLD_RANK": "6", "PMI_RANK": "5"}, {"HOME": "/root", "rank": "9"}, {"RANK": None},
                {"RANK": True},
                {"RANK": [1]}, {"RANK": 1.5}, {"RANK": " 1"}, {"R\u00c4NK": "1", "RANK": "8"}, [], "RANK")


class Process:
    """The tables of one process; `tidy` leaves out everything that rocprofv3 would not write."""

    def __init__(self, rng, suffix, events=20, tidy=False, schema=None):
        self.rng, self.suffix, self.tidy, self.most = rng, suffix, tidy, events
        self.schema = schema or rng.choice(("3", "3", "4.0", "4.1"))
        self.odd = 0 if tidy else rng.choice((0, 0, 0.01, 0.04))
        self.tables = {name: Table({column: "TEXT" if column in OF_TEXT else "BIGINT" for column in columns})
                       for name, columns in COLUMNS.items()}
        for table in self.tables.values():
            table.columns["id"] = "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT"
        self.strings = {}

    def chance(self, probability):
        return self.rng.random() < probability

    def add(self, table, **values):
        table = self.tables[table]
        table.rows.append((None, {column: values.get(column) for column in table.columns}))
        values.setdefault("id", len(table.rows))
        table.rows[-1][1]["id"] = values["id"]
        return values["id"] if self.tidy or self.chance(0.98) else self.rng.choice((99_999, None, -5))

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = self.add("rocpd_string", string=text)
        return self.strings[text]

    def event(self, category, correlation, extdata=None):
        return self.add("rocpd_event", category_id=self.string(category), stack_id=correlation,
                        parent_stack_id=correlation,
                        correlation_id=0, extdata="{}" if extdata is None else extdata)

    def region(self, at, length, category, name, correlation=None, extdata=None):
        self.add("rocpd_region", nid=1, pid=self.pid, tid=self.rng.choice(self.tids), start=at, end=at + length,
                 name_id=self.string(name), event_id=self.event(category, correlation, extdata))

    def marker(self, at, length, message):
        extdata = json.dumps({"message": message}, ensure_ascii=self.chance(0.5))
        if not self.tidy and self.chance(0.05):
            extdata = self.rng.choice((extdata[:-1], "{}", "[]", "null", '{"message": 5}', '{"a": {"message": "b"}}',
                                       "",
                                       '{"a":[1,{"b":"}"}],"message":"last"}'))
        self.region(at, length, self.rng.choice(("MARKER_CORE_RANGE_API", "MARKER_CORE_API")), "roctxThreadRangeA",
                    self.rng.randrange(1, 9), extdata)

    def work(self, at, correlation):
        rng = self.rng
        common = {"nid": 1, "pid": self.pid, "tid": self.tids[0], "start": at, "end": at + rng.choice((0, 1, 30, 400)),
                  "queue_id": rng.choice((None, 0, 1)), "stream_id": rng.choice((0, 1, 2))}
        if self.chance(0.7):
            sizes = {f"workgroup_size_{axis}": rng.choice((1, 64, 256)) for axis in AXES}
            sizes.update((f"grid_size_{axis}", rng.choice((1, 64, 1000, 65536))) for axis in AXES)
            if not self.tidy and self.chance(0.1):
                sizes[rng.choice(list(sizes))] = rng.choice((0, None, -1))
            self.add("rocpd_kernel_dispatch", **common, **sizes, agent_id=rng.choice(self.agents),
                     kernel_id=rng.choice(self.kernels), event_id=self.event("KERNEL_DISPATCH", correlation))
        else:
            self.add("rocpd_memory_copy", **common, name_id=self.string(rng.choice(COPIES)),
                     size=rng.choice((0, 7, 65536)),
                     dst_agent_id=rng.choice((*self.agents, None)), src_agent_id=rng.choice((*self.agents, None)),
                     event_id=self.event("MEMORY_COPY", correlation))

    def who(self):
        rng = self.rng
        self.pid = self.add("rocpd_info_process", id=rng.choice((4242, 1)), pid=rng.choice((4242, 4243)), nid=1,
                            environment=json.dumps(rng.choice(ENVIRONMENTS)))
        self.tids = [self.add("rocpd_info_thread", id=tid, pid=self.pid, tid=tid + rng.choice((0, 7)))
                     for tid in (4242, 4300)]
        self.agents = [self.add("rocpd_info_agent", id=number, type=type_, type_index=index, pid=self.pid)
                       for number, type_, index in ((0, "CPU", 0), (2, "GPU", 0), (3, "GPU", 1))]
        self.kernels = [self.add("rocpd_info_kernel_symbol", kernel_name=mangled, display_name=name, pid=self.pid)
                        for mangled, name in KERNELS]
        if self.tidy:
            self.agents, self.kernels = self.agents[1:], self.kernels[:1]

    def what(self):
        rng = self.rng
        forms = rng.sample(STEPS, rng.choice((1, 1, 2)))
        for number in range(rng.choice((0, 3, 4))):
            self.marker(1000 * number, 990, rng.choice(forms).format(number + 3))
        for _ in range(rng.randrange(self.most)):
            text = rng.choice(OPERATORS) + "".join(map(rng.choice, (SEQUENCES, IDS, SIZES, INPUTS)))
            self.marker(rng.randrange(4000), rng.choice((0, 10, 300)), rng.choice((text, text, rng.choice(NO_STEPS))))
        for correlation in range(1, 1 + rng.randrange(1, self.most)):
            at = rng.randrange(4000)
            category = rng.choice(list(CALLS))
            if self.chance(0.95):
                self.region(at, rng.choice((5, 50)), category, rng.choice(CALLS[category]), correlation)
            for _ in range(rng.choice((0, 1, 1, 2))):
                self.work(at + rng.randrange(-5, 500), correlation if self.chance(0.93) else rng.choice((None, 0, 77)))
        if not self.tidy:
            for category in rng.choices(OTHERS, k=rng.randrange(6)):
                self.region(rng.randrange(4000), 5, category, "other", rng.choice((None, 3)))
            track = self.add("rocpd_track", pid=self.pid, tid=self.tids[0], name_id=self.string("GPU busy"))
            for category in rng.choices((*OTHERS, "COUNTER"), k=rng.randrange(4)):
                self.add("rocpd_sample", track_id=track, timestamp=rng.randrange(4000),
                         event_id=self.event(category, None))

    # ---- the same in schema 4's tables ----

    def upgrade(self):
        for name, columns in COLUMNS_4.items():
            table = Table({column: "TEXT" if column in OF_TEXT else "INTEGER" for column in columns})
            table.rows = self.tables[name].rows if name in self.tables else []
            self.tables[name] = table
        self.tables["rocpd_sample"].columns["name_id"] = "INTEGER"
        self.categories, self.track_ids, self.values = {}, {}, []
        for _, values in self.tables["rocpd_event"].rows:
            values["category_id"] = self.category(values["category_id"])
        for name in TRACKED:
            table = self.tables[name]
            gone = ("nid", "pid", "tid", *PLACES)
            for _, values in table.rows:
                values["track_id"] = self.track({column: values.pop(column, None) for column in gone})
            self.replace(table, [column for column in gone if column in table.columns], "track_id")
        if self.schema == "4.0":
            for name in (*TRACKED, "rocpd_sample"):
                for column in ("start", "end", "timestamp"):
                    self.timestamps(self.tables[name], column)

    def replace(self, table, gone, *new):
        for column in gone:
            del table.columns[column]
        table.columns.update((column, "INTEGER") for column in new)

    def category(self, string):
        """The id of the category with the name of a string; its names have any case."""
        names = {number: text for text, number in self.strings.items()}
        if string not in names:
            return string
        text = names[string]
        if text not in self.categories:
            name = CATEGORIES_4.get(text.split("_")[0], text) if "_" in text else text
            self.categories[text] = self.add("rocpd_info_category", id=2 * len(self.categories),
                                             name=self.rng.choice((name, name, name.upper())))
        return self.categories[text]

    def track(self, values):
        key = tuple(values.items())
        if key not in self.track_ids:
            self.track_ids[key] = self.add("rocpd_track", id=100 + len(self.track_ids), **values)
        return self.track_ids[key]

    def timestamps(self, table, column):
        if column not in table.columns:
            return
        for _, values in table.rows:
            value = values.pop(column)
            self.values.append(value)
            values[column + "_id"] = self.add("rocpd_timestamp", id=len(self.values), value=value)
        self.replace(table, [column], column + "_id")

    def alter(self, table):
        """Odd values, other declared types, and missing columns."""
        rng = self.rng
        for _, values in table.rows:
            for column in values:
                if column != "id" and self.chance(self.odd):
                    values[column] = Bytes(rng.choice(NOT_UTF8)) if self.chance(0.2) else rng.choice(ODD)
        for column in list(table.columns):
            if self.chance(0.03) and column != "id":
                table.columns[column] = rng.choice(("", "TEXT", "REAL", "BLOB", "NUMERIC"))
            if self.chance(0.02) and column not in KEPT and len(table.columns) > 1:
                del table.columns[column]

    def grow(self):
        self.who()
        self.what()
        version = self.schema if self.tidy else self.rng.choice((self.schema, self.schema + ".0.0", None))
        if self.schema != "3":
            self.upgrade()
        if version:
            self.add("rocpd_metadata", tag="schema_version", value=version)
        if not self.tidy:
            for name in list(self.tables):
                if name != "rocpd_metadata":
                    self.alter(self.tables[name])
                if self.chance(0.02) and name not in ("rocpd_string", "rocpd_region"):
                    del self.tables[name]
        return {f"{name}_{self.suffix}": table for name, table in self.tables.items()}


def guid(rng):
    return "_".join("%0*x" % (digits, rng.getrandbits(4 * digits)) for digits in (8, 4, 4, 4, 12))


def generate(rng, processes=None, **settings):
    """The tables of some processes."""
    tables = {}
    for _ in range(processes or rng.choice((1, 1, 1, 2, 3))):
        tables.update(Process(rng, guid(rng), **settings).grow())
    return tables


def views(tables):
    """The plain names, like rocprofv3's (R1); the view of dispatches differs on purpose."""
    plain = {name[:-37]: name for name in tables}
    return [f'CREATE VIEW "{view}" AS SELECT ' + ("1 AS id, 0 AS start" if view == "rocpd_kernel_dispatch"
                                                  else f'* FROM "{table}"')
            for view, table in plain.items()]


if __name__ == "__main__":
    made = generate(random.Random(int(sys.argv[1])))
    write(sys.argv[2], made, views=views(made))
