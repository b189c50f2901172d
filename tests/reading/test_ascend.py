"""Databases of torch_npu's profiler (H1 to H7): against the rows that belong to one, and the oracle (oracle_ascend.py)
on random ones (generate_ascend.py).

    SEED    begins another series of databases (default 1)
"""
import json
import os
import random
import sqlite3
import unittest

import generate_ascend
import oracle_ascend
from generate_ascend import START, write
from made import InFolder
from support import DATA, connect, series
from test_nsys import as_csv
from test_rocpd import COLUMNS, ROWS, AgainstOracle

SEED = int(os.environ.get("SEED") or 1)
SAMPLE = os.path.join(DATA, "ascend", "ascend_pytorch_profiler_5")


class Sample(unittest.TestCase):
    """The database that was made for the rules gives its recorded rows."""

    def expected(self):
        with open(SAMPLE + ".expected.csv", encoding="utf-8") as file:
            return file.read()

    def test_rows_of_the_sample(self):
        rows = connect().execute(f"SELECT {COLUMNS} FROM trace_events(?) ORDER BY event", (SAMPLE + ".db",))
        self.assertEqual(as_csv(COLUMNS, rows), self.expected())

    def test_the_oracle_gives_the_rows_of_the_sample(self):
        rows = oracle_ascend.read_trace(SAMPLE + ".db").rows
        self.assertEqual(as_csv(COLUMNS, [[getattr(row, column) for column in COLUMNS.split(", ")] for row in rows]),
                         self.expected())

    def test_answers(self):
        """Answers from the recorded rows are equal."""
        db = connect()
        owners = db.execute("SELECT op, name, kernel_type, count(*) FROM trace_kernel_owners(?, 'all', 'all')"
                            " GROUP BY 1, 2 ORDER BY 1, 2", (SAMPLE + ".db",)).fetchall()
        self.assertEqual(owners, [("aten::add", "aclnnadd_Kernel", "COMPUTATION", 2),
                                  ("aten::mm", "aclnnmm_Kernel", "COMPUTATION", 2),
                                  ("c10d::allreduce_", "hcom_allReduce__868_0_1", "COMMUNICATION", 2)])
        self.assertEqual(db.execute("SELECT class, sum(time_ns) FROM trace_step_time(?, 'all', 'all') GROUP BY 1 HAVING"
                                    " class IN ('comm', 'compute')", (SAMPLE + ".db",)).fetchall(),
                         [("comm", 200001), ("compute", 160004)])


class Random(InFolder, AgainstOracle):
    def test_databases(self):
        rows = linked = 0
        for seed in range(SEED * 10_000, SEED * 10_000 + series(25, 200)):
            rng = random.Random(seed)
            name = rng.choice(("ascend_pytorch_profiler_3.db", "rank2.db", "msprof_20250101123045.db", "7.ascend"))
            os.mkdir(f"{seed}")
            path = write(f"{seed}/{name}", generate_ascend.generate(rng))
            trace = oracle_ascend.read_trace(path)
            with self.subTest(seed=seed):
                self.compare(self.db, path, trace)
            rows, linked = rows + len(trace.rows), linked + sum(row.link is not None for row in trace.rows)
        self.assertGreater(rows, 500)
        self.assertGreater(linked, 100)


class Rules(InFolder):
    def made(self, name="x.db", **tables):
        """A database of these rows; STRING_IDS has each text value."""
        made = generate_ascend.Made(random.Random(1), tidy=True)
        for table, rows in tables.items():
            for row in rows:
                made.add(table, **{column: made.string(value) if isinstance(value, str) and not column.endswith("Ns")
                                   else value
                                   for column, value in row.items()})
        return write(name, {table: made.tables[table] for table in ("STRING_IDS", "PYTORCH_API", *tables)})

    def rank(self, path):
        return self.value("SELECT rank FROM trace_files(?)", path)

    def args(self, shapes, dtypes=None):
        path = self.made(PYTORCH_API=[{"startNs": "1", "endNs": "2", "type": 50001, "inputShapes": shapes,
                                       "inputDtypes": dtypes}])
        args = self.value("SELECT args FROM trace_events(?)", path)
        return args and json.loads(args)

    def test_rank(self):
        """H2: the rank comes from RANK_DEVICE_MAP, otherwise from the name of the file."""
        self.assertEqual(self.rank(self.made("ascend_pytorch_profiler_3.db", RANK_DEVICE_MAP=[{"rankId": 5}])), 5)
        self.assertEqual(self.rank(self.made("ascend_pytorch_profiler_3.db", RANK_DEVICE_MAP=[{"rankId": -1}])), 3)
        self.assertEqual(self.rank(self.made("ascend_pytorch_profiler_3.db")), 3)
        self.assertEqual(self.rank(self.made("rank4.sqlite")), 4)
        self.assertEqual(self.rank(self.made("msprof_20250101123045.db")), 0)

    def test_shapes(self):
        """H3: shapes become dims in JSON, and invalid shapes become NULL."""
        for shapes, dims in (("64,32;;", [[64, 32], [], []]), ("64,32;\r\n32;\r\n", [[64, 32], [32], []]), ("7", [[7]]),
                             ("", [[]]), (" 1,2 ; 3 ", [[1, 2], [3]])):
            with self.subTest(shapes):
                self.assertEqual(self.args(shapes), {"Input Dims": dims})
        for shapes in ("a", "1,", "[[1]]", "1;x", "-1", "1, 2"):
            with self.subTest(shapes):
                self.assertEqual(self.args(shapes), None)
        self.assertEqual(self.args(None, 'float;\r\nc10::Half;\r\n;a "b"'),
                         {"Input type": ["float", "c10::Half", "", 'a "b"']})

    def test_mixed_kernels_count_once(self):
        """H5: a TASK row without a row of COMPUTE_TASK_INFO belongs to the same kernel, so mixed kernels count once."""
        task = {"startNs": 10, "endNs": 20, "deviceId": 0, "streamId": 2, "connectionId": 7}
        path = self.made(TASK=[{**task, "globalTaskId": 1, "taskType": "MIX_AIV"},
                               {**task, "globalTaskId": 2, "taskType": "AI_CORE"},
                               {**task, "globalTaskId": 3, "taskType": "MEMCPY_ASYNC"}],
                         COMPUTE_TASK_INFO=[{"globalTaskId": 1, "name": "mixed"}])
        self.assertEqual(self.rows("SELECT event, cat, name, trace_kernel_type(name, cat) FROM trace_events(?)", path),
                         [(0, "kernel", "mixed", "COMPUTATION"), (2, "gpu_memcpy", "MEMCPY_ASYNC", "MEMORY")])

    def linked(self, dequeues, launch=(100, 110), thread=8):
        """The event that a kernel links to. Its launch is event 0, after the events that go onto the queue and come off
        it.
        """
        api = [{"startNs": str(number), "endNs": str(number + 1), "globalTid": 5, "connectionId": number, "type": 50002,
                "name": "Enqueue"} for number in range(len(dequeues))]
        api += [{"startNs": str(start), "endNs": str(end), "globalTid": 8, "connectionId": number, "type": 50002,
                 "name": "Dequeue@f"} for number, (start, end) in enumerate(dequeues)]
        path = self.made(
            PYTORCH_API=api, CONNECTION_IDS=[{"id": number, "connectionId": 900 + number}
                                             for number in range(len(dequeues))],
            CANN_API=[{"startNs": launch[0], "endNs": launch[1], "type": 10000, "globalTid": thread, "connectionId": 7,
                       "name": "launch"}],
            TASK=[{"startNs": 500, "endNs": 600, "connectionId": 7, "globalTaskId": 1}],
            COMPUTE_TASK_INFO=[{"globalTaskId": 1, "name": "kernel"}])
        link = self.value("SELECT link FROM trace_events(?) WHERE cat = 'kernel'", path)
        return link if link < len(dequeues) else "launch"

    def test_links_through_the_queue(self):
        """H6: the innermost event that contains the launch."""
        self.assertEqual(self.linked([(90, 120)]), 0)
        self.assertEqual(self.linked([(100, 110)]), 0)
        self.assertEqual(self.linked([(90, 120), (95, 115)]), 1)
        self.assertEqual(self.linked([(90, 120), (95, 105)]), 0)
        self.assertEqual(self.linked([(90, 130), (95, 120), (99, 109), (0, 10)]), 1)
        self.assertEqual(self.linked([(90, 109)]), "launch")
        self.assertEqual(self.linked([(101, 120)]), "launch")
        self.assertEqual(self.linked([(90, 120)], thread=9), "launch")
        self.assertEqual(self.linked([]), "launch")

    def test_numbers_of_the_queue_are_not_those_of_launches(self):
        """H6: queue numbers count separately from launches and can be equal to theirs."""
        path = self.made(
            PYTORCH_API=[{"startNs": "10", "endNs": "20", "globalTid": 5, "connectionId": 1, "type": 50002,
                          "name": "Enqueue"},
                         {"startNs": "90", "endNs": "120", "globalTid": 8, "connectionId": 1, "type": 50002,
                          "name": "Dequeue@f"}],
            CONNECTION_IDS=[{"id": 1, "connectionId": 900}],
            CANN_API=[{"startNs": start, "endNs": start + 5, "type": 10000, "globalTid": 8, "connectionId": number,
                       "name": "launch"} for start, number in ((100, 7), (130, 900))],
            TASK=[{"startNs": 500, "endNs": 600, "connectionId": 7, "globalTaskId": 1}],
            COMPUTE_TASK_INFO=[{"globalTaskId": 1, "name": "kernel"}])
        self.assertEqual(self.rows("SELECT event, link FROM trace_events(?) WHERE link IS NOT NULL", path),
                         [(0, 4), (4, 0)])

    def test_steps_of_the_table(self):
        """H7: the table gives steps only if no operator is a step."""
        operator = {"startNs": "5", "endNs": "6", "globalTid": 8, "type": 50001}
        steps = [{"id": number, "startNs": 100 * number, "endNs": 100 * number + 90} for number in (3, 4)]
        path = self.made(PYTORCH_API=[{**operator, "name": "aten::mm"}], STEP_TIME=steps)
        self.assertEqual(self.rows("SELECT iteration, ts_ns, dur_ns FROM trace_steps(?)", path),
                         [(3, 300, 90), (4, 400, 90)])
        path = self.made(PYTORCH_API=[{**operator, "name": "ProfilerStep#9"}], STEP_TIME=steps)
        self.assertEqual(self.rows("SELECT iteration FROM trace_steps(?)", path), [(9,)])

    def test_required_columns(self):
        """A file without a start column counts as damaged."""
        for table in ("PYTORCH_API", "CANN_API", "TASK", "COMMUNICATION_OP"):
            tables = generate_ascend.generate(random.Random(1), tidy=True, events=8)
            del tables[table].columns["startNs"]
            path = write("x.db", tables)
            with self.subTest(table), self.assertRaisesRegex(sqlite3.Error,
                                                             f"'x.db': table {table} has no column startNs"):
                self.rows("SELECT * FROM trace_diff(?1, ?1)", path)


if __name__ == "__main__":
    unittest.main()
