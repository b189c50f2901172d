"""Random databases of torch_npu's profiler (Ascend), valid and invalid.

    write(path, generate(random.Random(7)))     a database of SQLite
    /usr/bin/python3 tests/generators/generate_ascend.py 7 ascend_pytorch_profiler_0.db

A database is {name: Table}, like in generate_nsys, whose odd values it shares.
"""
import random
import sys

from generate_nsys import NOT_UTF8, Bytes, Table, write
from generate_rocpd import ODD

COLUMNS = {
    "STRING_IDS": ("id", "value"),
    "RANK_DEVICE_MAP": ("rankId", "deviceId"),
    "META_DATA": ("name", "value"),
    "PYTORCH_API": ("startNs", "endNs", "globalTid", "connectionId", "name", "sequenceNumber", "fwdThreadId",
                    "inputDtypes",
                    "inputShapes", "callchainId", "type"),
    "CONNECTION_IDS": ("id", "connectionId"),
    "CANN_API": ("startNs", "endNs", "type", "globalTid", "connectionId", "name"),
    "TASK": ("startNs", "endNs", "deviceId", "connectionId", "globalTaskId", "globalPid", "taskType", "contextId",
             "streamId",
             "taskId", "modelId"),
    "COMPUTE_TASK_INFO": ("name", "globalTaskId", "blockDim", "opType"),
    "COMMUNICATION_OP": ("opName", "startNs", "endNs", "connectionId", "groupName", "opId", "deviceId"),
    "STEP_TIME": ("id", "startNs", "endNs")}
OF_TEXT = {"value", "startNs of PYTORCH_API", "endNs of PYTORCH_API"}
KEPT = {"startNs", "globalTaskId"}

OPERATORS = ("aten::mm", "aten::add", "c10d::allreduce_", "ProfilerStep", "caf\u00e9", "")
SHAPES = ("64,32;;", "64,32;\r\n32,64;\r\n;\r\n", "", ";", "1", "64,;", "a", "1;2;3", " 4,5 ;\t6\n", "[[1]]", "-1",
          "1.5;2", "1,,2")
DTYPES = ("float;\r\nfloat;\r\nScalar", "c10::Half", "", ";", 'q"uote;\\;caf\u00e9', "long int;None")
SOME = (None, None, 0, 1, 7, 4294967295, -1)
START = 1_704_161_511_420_306_491


class Made:
    """Builds one database; `tidy` leaves out everything that the profiler would not write."""

    def __init__(self, rng, events=20, tidy=False):
        self.rng, self.tidy, self.most = rng, tidy, events
        self.odd = 0 if tidy else rng.choice((0, 0, 0.01, 0.04))
        self.tables = {name: Table({column: "TEXT" if {column, f"{column} of {name}"} & OF_TEXT else "INTEGER"
                                    for column in columns}) for name, columns in COLUMNS.items()}
        self.strings = {}
        self.process, self.main, self.queue = 437675 << 32, 437675, 439084
        self.tasks = 0

    def chance(self, probability):
        return self.rng.random() < probability

    def add(self, table, **values):
        columns = self.tables[table].columns
        self.tables[table].rows.append((None, {column: values.get(column) for column in columns}))

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = 268435456 + len(self.strings) if self.chance(0.5) else 2 + len(self.strings)
            self.add("STRING_IDS", id=self.strings[text], value=text)
        return self.strings[text] if self.tidy or self.chance(0.97) else self.rng.choice((99_999, None, -5))

    def api(self, at, length, tid, type_, name, connection=None, **values):
        self.add("PYTORCH_API", startNs=str(START + at), endNs=str(START + at + length), globalTid=self.process | tid,
                 connectionId=connection, name=self.string(name), type=type_, **values)

    def cann(self, at, length, tid, type_, name, connection):
        self.add("CANN_API", startNs=START + at, endNs=START + at + length, type=type_, globalTid=self.process | tid,
                 connectionId=connection, name=self.string(name))

    def task(self, at, length, connection, type_="KERNEL_AICORE", name=None):
        self.tasks += 1
        self.add("TASK", startNs=START + at, endNs=START + at + length, deviceId=self.rng.choice((0, 0, 1)),
                 connectionId=connection, globalTaskId=self.tasks, globalPid=437675, taskType=self.string(type_),
                 streamId=self.rng.choice((2, 3)))
        if name is not None:
            self.add("COMPUTE_TASK_INFO", name=self.string(name), globalTaskId=self.tasks)

    def operator(self, number, at):
        """An operator, its queue entry, and the work when that is taken off the queue."""
        rng, name = self.rng, self.rng.choice(OPERATORS)
        sequence = rng.choice((-1, -1, 0, 7, None))
        self.api(at, 300, self.main, 50001, name, 3 * number, sequenceNumber=sequence,
                 fwdThreadId=rng.choice((0, 1, None)),
                 **dict(zip(rng.choice((("inputShapes", "inputDtypes"), ("inputDtypes", "inputShapes"))),
                            (self.string(rng.choice(SHAPES)), self.string(rng.choice(DTYPES))))))
        self.add("CONNECTION_IDS", id=3 * number, connectionId=10 + number)
        queued, connection = 3 * number + 1, 10 + 2 * number
        if self.tidy or self.chance(0.8):
            if self.tidy or self.chance(0.9):
                self.add("CONNECTION_IDS", id=queued, connectionId=9000 + number)
            self.api(at + 20, 30, self.main, 50002, rng.choice(("Enqueue", "Enqueue@f")), queued)
            length = rng.choice((400, 400, 30))
            self.api(at + 60, length, self.queue, 50002, f"Dequeue@{name}", queued)
            if not self.tidy and self.chance(0.2):  # one inside another, or begun in it
                self.add("CONNECTION_IDS", id=queued + 1000, connectionId=9500 + number)
                self.api(at + rng.choice((60, 65)), rng.choice((30, 200, length)), self.queue, 50002, "Dequeue@inner",
                         queued + 1000)
        tid = self.queue if self.chance(0.9) else self.main
        if self.tidy or self.chance(0.9):
            self.cann(at + 70, rng.choice((10, 10, 25, 500)), tid, 10000, "launch", connection)
        if self.chance(0.5):
            self.cann(at + 71, 5, tid, rng.choice((5000, 20000, 10000)),
                      rng.choice(("KernelLaunch", "aclrtMemcpyAsync")),
                      rng.choice((connection, connection + 1, -1)))
        if not self.tidy and self.chance(0.1):  # a repeated number
            self.cann(at + 600, 5, tid, 10000, "launch", connection)
        kind = rng.random()
        connection = connection if self.tidy or self.chance(0.93) else rng.choice((-1, 4294967295, None, 0, 777))
        begin, length = at + 100 + rng.randrange(-50, 300), rng.choice((0, 1, 200, 400))
        if kind < 0.5:
            self.task(begin, length, connection, name=f"{name}_Kernel")
        elif kind < 0.7:  # a mixed kernel appears twice
            self.task(begin, length, connection, "MIX_AIV", f"{name}_Mixed")
            self.task(begin, length + 5, connection, "AI_CORE")
        elif kind < 0.85:
            self.task(begin, length, connection, rng.choice(("MEMCPY_ASYNC", "MEMCPY_ASYNC", "EVENT_WAIT")))
        else:
            self.add("COMMUNICATION_OP", opName=self.string(f"hcom_allReduce__868_{number}_1"), startNs=START + begin,
                     endNs=START + begin + length, connectionId=connection, opId=number, deviceId=rng.choice((None, 1)))

    def grow(self):
        rng = self.rng
        for step in range(rng.choice((0, 0, 3, 4))):
            plain = self.tidy or self.chance(0.9)
            name = f"ProfilerStep#{step}" if plain else rng.choice(("ProfilerStep #7", "ProfilerStep#x"))
            self.api(1000 * step, 950, self.main, 50001, name)
        for number in range(rng.randrange(1, self.most)):
            self.operator(number, rng.randrange(4000))
        for _ in range(0 if self.tidy else rng.randrange(4)):
            self.api(rng.randrange(4000), 5, rng.choice((self.main, self.queue)),
                     rng.choice((50001, 50002, 50003, 50004, 1, None)),
                     rng.choice(("torch/nn.py(3): forward", "mark", "Other", "ProfilerStep#9", "Enqueue")),
                     rng.choice(SOME))
        for number in range(rng.choice((0, 3))):
            self.add("STEP_TIME", id=rng.choice((number, number, None, -1)) if not self.tidy else number,
                     startNs=START + 1000 * number, endNs=START + 1000 * number + 990)
        for _ in range(rng.choice((0, 1, 1, 2))):
            self.add("RANK_DEVICE_MAP", rankId=rng.choice((5, 0, -1)), deviceId=rng.choice((1, None)))
        self.add("META_DATA", name="SCHEMA_VERSION", value="1.1.0")
        if self.chance(0.5):
            del self.tables["COMMUNICATION_OP"].columns["deviceId"]
        if not self.tidy:
            for name in list(self.tables):
                rng.shuffle(self.tables[name].rows)
                self.alter(self.tables[name])
                if self.chance(0.03) and name not in ("STRING_IDS", "PYTORCH_API", "TASK"):
                    del self.tables[name]
        return self.tables

    def alter(self, table):
        """Odd values, other declared types, missing columns, and gaps between rowids."""
        rng = self.rng
        for _, values in table.rows:
            for column in values:
                if self.chance(self.odd):
                    values[column] = Bytes(rng.choice(NOT_UTF8)) if self.chance(0.2) else rng.choice(ODD)
        for column in list(table.columns):
            if self.chance(0.03):
                table.columns[column] = rng.choice(("", "TEXT", "REAL", "BLOB", "NUMERIC"))
            if self.chance(0.02) and column not in KEPT and len(table.columns) > 1:
                del table.columns[column]
        if self.chance(0.3):
            ids = rng.sample(range(-50, 10 * len(table.rows) + 5), len(table.rows))
            table.rows = [(rowid, values) for rowid, (_, values) in zip(ids, table.rows)]


def generate(rng, **settings):
    return Made(rng, **settings).grow()


if __name__ == "__main__":
    write(sys.argv[2], generate(random.Random(int(sys.argv[1]))))
