"""The cost of Nsight Systems databases, compared with SQLite's own reading of the same columns."""
import math
import os
import shutil
import sqlite3
import time
import unittest

from made import InFolder
from support import DATA, alone, connect, corpus, slowest

SLACK = float(os.environ.get("SLACK") or 1)
DEVICE = "start, end, deviceId, streamId, contextId, correlationId, globalPid"
TABLES = {
    "NVTX_EVENTS": "start, end, eventType, text, textId, globalTid, domainId",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start, end, eventClass, nameId, globalTid, correlationId",
    "CUPTI_ACTIVITY_KIND_KERNEL": f"{DEVICE}, demangledName, shortName, mangledName",
    "CUPTI_ACTIVITY_KIND_MEMCPY": f"{DEVICE}, copyKind, srcKind, dstKind",
    "CUPTI_ACTIVITY_KIND_MEMSET": DEVICE,
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": DEVICE,
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": f"{DEVICE}, syncType",
}
COUNT = "SELECT count(*), count(link), sum(dur_ns) FROM trace_events(?, NULL, NULL, 'all')"


def grow(path, times):
    """Repeats the events of a database, one copy after the other in time and with new correlations."""
    db = sqlite3.connect(path)
    for table in TABLES:
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        if not columns:
            continue
        moved = {"start": "start + n * 300000000", "end": '"end" + n * 300000000',
                 "correlationId": "correlationId + n * 10000000"}
        values = ", ".join(moved.get(column, f'"{column}"') for column in columns)
        db.execute(f"WITH RECURSIVE copy(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copy WHERE n < {times - 1}) "
                   f"INSERT INTO {table} SELECT {values} FROM copy CROSS JOIN (SELECT * FROM {table} LIMIT -1)")
    db.commit()
    db.close()


def read(path):
    """SQLite's cost of stepping through the columns that rows need, without passing them on."""
    db = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    for table, columns in TABLES.items():
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
            counted = ", ".join(f'count("{column}")' for column in columns.split(", "))
            db.execute(f"SELECT {counted} FROM {table} NOT INDEXED").fetchall()
    db.close()


def ask(sql, *values):
    db = connect()
    rows = db.execute(sql, values).fetchall()
    db.close()
    return rows


def fastest(*works, times=5):
    """The CPU time of each, in turns, so that other load slows both."""
    best = [math.inf] * len(works)
    for _ in range(times):
        for i, work in enumerate(works):
            began = time.process_time()
            work()
            best[i] = min(best[i], time.process_time() - began)
    return best


class Cost(InFolder):
    @alone
    @slowest
    def test_linear(self):
        """Four times the events take at most five times the CPU time, and all are there."""
        works, rows = [], []
        for times in (500, 2000):
            path = f"{times}.sqlite"
            shutil.copy(os.path.join(DATA, "nsys", "nsys_rules_two.sqlite"), path)
            grow(path, times)
            works.append(lambda path=path: ask(COUNT, path))
            rows.append(ask(COUNT, path)[0][0])
        self.assertEqual(rows[1], 4 * rows[0])
        small, large = fastest(*works, times=3)
        self.assertLess(large, (5 * small + 0.05) * SLACK)

    @alone
    @slowest
    def test_of_a_diff(self):
        """trace_diff of two exports with 61,111 events in total takes at most 6.8 times as long as SQLite's reading of
        their columns, 0.15 s of CPU time against 0.022 s.
        """
        sides = corpus("nsys", "mfu_2gpu_before.sqlite"), corpus("nsys", "mfu_2gpu_after.sqlite")
        unit, diff = fastest(lambda: [read(side) for side in sides],
                             lambda: ask("SELECT sum(diff_duration) FROM trace_diff(?, ?)", *sides), times=7)
        self.assertLess(diff, 6.8 * unit * SLACK)

    @alone
    @slowest
    def test_of_events(self):
        """Reading all events of an export of a million takes at most four times as long as SQLite's reading of the
        columns.
        """
        shutil.copy(corpus("nsys", "mfu_2gpu_before.sqlite"), "large.sqlite")
        os.chmod("large.sqlite", 0o644)
        grow("large.sqlite", 31)
        self.assertEqual(ask(COUNT, "large.sqlite")[0][0], 999719)
        unit, events = fastest(lambda: read("large.sqlite"), lambda: ask(COUNT, "large.sqlite"), times=3)
        self.assertLess(events, 4 * unit * SLACK)


if __name__ == "__main__":
    unittest.main()
