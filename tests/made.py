"""Small traces made for a test, and a test case that runs in their folder."""
import gzip
import json
import os
import random
import sqlite3
import tempfile
import unittest

from support import connect

ABSENT = object()


def event(name, ts, dur, **fields):
    """An X event of thread 1 of process 1; fields replace the defaults, or remove one with ABSENT."""
    made = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, **fields}
    return {key: value for key, value in made.items() if value is not ABSENT}


def step(number, ts, dur):
    return event(f"ProfilerStep#{number}", ts, dur, cat="user_annotation")


def launch(ts, dur, correlation, **fields):
    return event("cudaLaunchKernel", ts, dur, cat="cuda_runtime", args={"correlation": correlation}, **fields)


def kernel(name, ts, dur, correlation, stream=7):
    return event(name, ts, dur, cat="kernel", pid=0, tid=stream, args={"correlation": correlation, "stream": stream})


def document(*events, **keys):
    """A trace; `keys` come before its events."""
    return {**keys, "traceEvents": list(events)}


def run(steps=3, slower=1, extra=()):
    """A trace of a few steps, each with two operators, one of which launches a kernel, and another operator after
    them.
    """
    events = []
    for number in range(steps):
        at = 1000 * number
        events += [step(number, at, 900), event("op1", at + 10, 100 * slower), event("op2", at + 400, 50 + number),
                   launch(at + 20, 5, number + 1), kernel("gemm", at + 300, 200 * slower, number + 1)]
        events += [event(name, at + 600, 10) for name in extra]
    return document(*events, event("end", 1000 * steps, 5))


def write_halves(names=20, steps=3):
    """Jobs `control` and `test` of two ranks, where all wait for the second. In steady steps each kernel takes longer
    in test, on rank 0 by exactly half as much as on rank 1 (Q8.1), in different pieces per step.
    """
    chance, durations = random.Random(1), {}  # ns by side and rank, for the kernels of a step
    for number in range(names):
        control, test = ([chance.randrange(20000, 40000) for _ in range(steps)] for _ in range(2))
        test[0] += max(0, sum(control) - sum(test)) + 3000
        more = sum(test) - sum(control)
        late = [chance.randrange(60000, 80000) for _ in range(steps)]
        later = [late[0] + 2 * more - (steps - 1) * (more // steps), *(each + more // steps for each in late[1:])]
        for key, each in ((("control", 0), control), (("test", 0), test), (("control", 1), late), (("test", 1), later)):
            durations.setdefault(key, []).append(each)
    for (side, rank), of_names in durations.items():
        events, others = [], [1000 + 60000 * rank] * names
        for place, of_step in enumerate((others, *zip(*of_names), others)):
            start, end = 10 ** 7 * place, 10 ** 7 * place + 1000
            events.append(step(place, start / 1000, 9000))
            for number, dur in enumerate((1000, *of_step, None)):
                name, dur = (f"k{number:02}", dur) if dur else ("ncclAllReduce", start + 4 * 10 ** 6 - end)
                events += [event(name, (start + number) / 1000, 0.001),
                           launch((start + number) / 1000, 0.001, names * 100 * place + number),
                           kernel(name, end / 1000, dur / 1000, names * 100 * place + number)]
                end += dur
        write(f"{side}/rank{rank}.json", {**document(*events), "distributedInfo": {"rank": rank, "world_size": 2}})


def write(path, content):
    """Writes bytes, text or a document, with gzip if the name says so. Returns the path."""
    if not isinstance(content, (bytes, str)):
        content = json.dumps(content)
    if isinstance(content, str):
        content = content.encode()
    if os.path.dirname(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with (gzip.open if path.endswith(".gz") else open)(path, "wb") as file:
        file.write(content)
    return path


def write_big(path, megabytes, phase="X"):
    """A gzip file of many members that is small on disk and long to read. Returns its path."""
    line = json.dumps({**event("op", 1, 2), "ph": phase}).encode() + b",\n"
    count = 2 ** 20 // len(line)
    parts = [gzip.compress(b'{"traceEvents": [\n'), *[gzip.compress(line * count)] * megabytes,
             gzip.compress(json.dumps(event("last", 1, 2)).encode() + b"]}")]
    with open(path, "wb") as file:
        file.write(b"".join(parts))
    return path


class InFolder(unittest.TestCase):
    """Each test has a connection, and its own folder as the current one."""

    def setUp(self):
        place = tempfile.TemporaryDirectory(ignore_cleanup_errors=os.name == "nt")  # which keeps open files
        self.addCleanup(place.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(place.name)
        os.chmod(place.name, 0o755)
        self.folder = place.name
        self.db = connect()
        self.addCleanup(self.db.close)

    def rows(self, sql, *arguments):
        return self.db.execute(sql, arguments).fetchall()

    def value(self, sql, *arguments):
        return self.rows(sql, *arguments)[0][0]

    def order(self, function):
        """The end of an error about an argument that may have been passed by position."""
        return "; the arguments are " + ", ".join(name for name, in self.rows(
            "SELECT name FROM tracediff_columns(?) WHERE kind = 'argument'", function))

    def assert_error(self, message, sql, *arguments):
        """Asserts the whole message, and that the connection still works."""
        with self.assertRaises(sqlite3.Error, msg=sql) as raised:
            self.rows(sql, *arguments)
        self.assertEqual(str(raised.exception), message, sql)
        self.assertEqual(self.value("SELECT tracediff_version() LIKE 'v%'"), 1)
