"""A query on a file of any format except Kineto's JSON ends within 100 ms of an interrupt, while it reads rows or args,
and the connection still works. (For JSON see test_sqlite, for args of JSON test_args, for bombs test_damaged_files.)
"""

import gzip
import json
import os
import random
import sqlite3
import threading
import time
import unittest

import generate_hangs
import generate_nsys
import generate_rocpd
import generate_rocprof
from generate_xplane import field
from made import InFolder
from support import DATA, alone, connect, slowest

LONGEST = 0.1 * float(os.environ.get("SLACK") or 1)  # s from the interrupt to the end


def many_packets(path):
    """A window of PyTorch, repeated."""
    with gzip.open(os.path.join(DATA, "pftrace", "test.pftrace")) as file:
        block = gzip.compress(file.read() * 20, 1)
    with open(path, "wb") as file:
        file.write(block * 25)


def many_xla_events(path):
    event = field(4, [field(1, 1), field(2, 5000), field(3, 700), field(4, [field(1, 1), field(4, 7)])])
    names = [field(number, [field(1, 1), field(2, [field(1, 1), field(2, "name")])]) for number in (4, 5)]
    line = field(3, [field(1, 1), field(2, "python"), event * 200_000])
    with open(path, "wb") as file:
        file.write(field(1, [field(1, 1), field(2, "/host:CPU"), line, *names]))


def many_records(path):
    document = generate_rocprof.generate(random.Random(5), tidy=True)
    records = document["rocprofiler-sdk-tool"][0]["buffer_records"]
    records["kernel_dispatch"] = ["DISPATCHES"]
    record = generate_rocprof.Made(random.Random(5), tidy=True).record("kernel_dispatch", 3)
    text = json.dumps(document).replace('"DISPATCHES"', ",\n".join([json.dumps(record)] * 80_000))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def many_dispatches(path):
    tables = generate_rocpd.generate(random.Random(1), processes=1, tidy=True, schema="4.0")
    generate_nsys.write(path, tables)
    name = next(name for name in tables if "kernel_dispatch" in name)
    with sqlite3.connect(path) as db:
        columns = [row[1] for row in db.execute(f'PRAGMA table_info("{name}")') if row[1] != "id"]
        count = db.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
        db.execute(
            f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {100_000 // count}) "
            f'INSERT INTO "{name}" ({", ".join(columns)}) SELECT {", ".join("t." + each for each in columns)} '
            f'FROM n CROSS JOIN "{name}" AS t'
        )
    db.close()


@slowest
@alone
class Stopping(InFolder):
    ROWS = "SELECT count(*) FROM trace_events(?)"
    ARGS = "SELECT sum(length(args)) FROM trace_events(?)"

    def wait(self, db, sql, path, delay):
        """Seconds from the interrupt to the end of the query, or None if it had finished."""
        wished = []

        def interrupt():
            wished.append(time.monotonic())
            db.interrupt()

        timer = threading.Timer(delay, interrupt)
        timer.start()
        try:
            db.execute(sql, (path,)).fetchall()
            return None
        except sqlite3.OperationalError as error:
            self.assertEqual(str(error), "interrupted")
            return time.monotonic() - wished[0]
        finally:
            timer.cancel()
            timer.join()

    def assert_stops(self, sql, path, known):
        """Checks three moments, with the better of two tries at each. `known`: the file was read before."""

        def connected():
            db = connect()
            if known:
                db.execute(self.ROWS, (path,)).fetchall()
            return db

        whole, stopped = float("inf"), 0
        for _ in range(2):
            db = connected()
            start = time.monotonic()
            db.execute(sql, (path,)).fetchall()
            whole = min(whole, time.monotonic() - start)
        for part in (0.1, 0.4, 0.8):
            waits = [self.wait(db if known else connected(), sql, path, part * whole) for _ in range(2)]
            waits = [wait for wait in waits if wait is not None]
            stopped += len(waits)
            self.assertLess(min(waits, default=0), LONGEST, (sql, part))
        self.assertGreater(stopped, 2)
        self.assertGreater(db.execute(sql, (path,)).fetchone()[0], 75_000)

    def test_stops(self):
        for name, make in (
            ("many.pftrace", many_packets),
            ("many.xplane.pb", many_xla_events),
            ("many_results.json", many_records),
            ("many.db", many_dispatches),
        ):
            make(name)
            with self.subTest(name):
                self.assert_stops(self.ROWS, name, known=False)
            with self.subTest(name, args=True):
                self.assert_stops(self.ARGS, name, known=True)
            os.remove(name)

    def test_dumps_of_a_job(self):
        generate_hangs.large("job", 128, 2000)
        self.assert_stops("SELECT count(*) FROM fr_entries(?)", "job", known=False)
        self.assert_stops("SELECT count(*) * 100000 FROM hang_summary(?)", "job", known=False)


if __name__ == "__main__":
    unittest.main()
