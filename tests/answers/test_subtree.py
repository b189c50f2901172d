"""trace_subtree: against the call stacks and links of the oracles, with every event's kernels collected one by one."""
import os
import time
import unittest

import oracle
import oracle_stacks
from made import InFolder, document, event, kernel, launch, step, write
from support import EXAMPLES, alone, connect, fine_clock, series
from test_step_time import random_trace

TEST = os.path.join(EXAMPLES, "gpu", "test")
COLUMNS = ("event", "parent", "depth", "device", "cat", "name", "ts", "dur", "num_kernels", "kernel_dur_sum",
           "first_kernel_start", "last_kernel_end", "kernel_span")


def parents(file):
    """{event: parent} for all events of trees; None at the top."""
    rows = {row.event: row for row in file.rows}
    found = {event: place.parent for (_, event), place in oracle_stacks.stacks(file.rows).items()
             if rows[event].device == "CPU" and oracle_stacks.takes_part(rows[event])}
    found.update((row.event, row.link) for row in file.rows if oracle.is_device_work(row) and row.link in found
                 and row.ts_ns is not None)
    return found


def us(ns):
    return None if ns is None else ns / 1000


def expected(file, roots=None):
    """{event: the remaining columns} for the trees of these events."""
    rows, above = {row.event: row for row in file.rows}, parents(file)

    def path(event):
        while event is not None:
            yield event
            event = above[event]

    listed = {event: [at for at in path(event) if roots is None or at in roots] for event in above}
    found = {}
    for event, inside in listed.items():
        if inside:
            way = list(path(event))
            way = way[:way.index(inside[-1])] if roots is not None else way[:-1]
            row = rows[event]
            works = [rows[other] for other in above if event in path(other) and oracle.is_device_work(rows[other])
                     and oracle.is_counted(rows[other])]
            first = min((work.ts_ns for work in works), default=None)
            last = max((work.ts_ns + work.dur_ns for work in works), default=None)
            found[event] = (above[event] if way else None, len(way), row.device, row.cat, row.name,
                            us(row.ts_relative_ns), us(row.dur_ns), len(works), us(sum(work.dur_ns for work in works)),
                            us(None if first is None else first - row.ts_ns + row.ts_relative_ns),
                            us(None if first is None else last - row.ts_ns + row.ts_relative_ns),
                            us(None if first is None else last - first))
    return found


class Subtree(InFolder):
    def read(self, path, root=None, ranks=None):
        rows = self.rows(f"SELECT {', '.join(COLUMNS)} FROM trace_subtree(?, ?, ?)", path, ranks, root)
        found = {row[0]: row[1:] for row in rows}
        self.assertEqual(len(found), len(rows))
        return found

    def test_random_traces(self):
        for seed in range(series(60, 150)):
            path = write(f"{seed % 8}.json", random_trace(seed))
            file = oracle.read_trace(path).files[0]
            with self.subTest(seed):
                self.assertEqual(self.read(path), expected(file))
                some = [row.event for row in file.rows if (row.event + seed) % 3 == 0][:4]
                for roots in (some[:1], some):
                    if roots:
                        self.assertEqual(self.read(path, str(roots)), expected(file, roots), roots)

    def test_an_event_is_followed_by_what_is_below_it(self):
        path, last = [], None
        rows = self.rows("SELECT event, parent, depth, ts, num_kernels, kernel_dur_sum, device"
                         " FROM trace_subtree(?, 'all')"
                         " WHERE rank = 1", TEST)
        self.assertGreater(len(rows), 1000)
        for number, parent, depth, *_ in rows:
            del path[depth:]
            self.assertEqual((parent, depth), (path[-1] if path else None, len(path)))
            path.append(number)
        for number, _, _, _, kernels, dur, device in rows:
            below = [row for row in rows if row[1] == number]
            if device == "CPU":
                self.assertEqual((kernels, round(dur, 6)),
                                 (sum(row[4] for row in below), round(sum(row[5] for row in below), 6)))
            self.assertEqual([row[3] for row in below], sorted(row[3] for row in below))

    def test_kernels_are_those_of_their_owners(self):
        """Each kernel is below its owner: all launched device work is below one root."""
        self.assertEqual(self.rows("SELECT sum(num_kernels), round(sum(kernel_dur_sum), 3) FROM trace_subtree(?)"
                                   " WHERE parent IS NULL",
                                   TEST),
                         self.rows("SELECT count(*), round(sum(dur), 3) FROM trace_kernel_owners(?, 0, 'all')"
                                   " WHERE launch IS NOT NULL", TEST))

    def test_by_hand(self):
        write("a/rank0.json", document(step(1, 0, 100), event("f", 10, 50), event("g", 20, 20), launch(25, 5, 1),
                                       kernel("k", 70, 10, 1), kernel("l", 75, 20, 1, 20), launch(45, 5, 2),
                                       kernel("m", 90, 1, 2),
                                       kernel("without a launch", 95, 1, 9)))
        write("a/rank1.json", document(event("other", 0, 5)))
        self.assertEqual(self.rows("SELECT event, parent, depth, name, num_kernels, kernel_dur_sum, first_kernel_start,"
                                   " last_kernel_end, kernel_span FROM trace_subtree('a', NULL, 1)"),
                         [(1, None, 0, "f", 3, 31, 70, 95, 25), (2, 1, 1, "g", 2, 30, 70, 95, 25),
                          (3, 2, 2, "cudaLaunchKernel", 2, 30, 70, 95, 25), (4, 3, 3, "k", 1, 10, 70, 80, 10),
                          (5, 3, 3, "l", 1, 20, 75, 95, 20), (6, 1, 1, "cudaLaunchKernel", 1, 1, 90, 91, 1),
                          (7, 6, 2, "m", 1, 1, 90, 91, 1)])
        self.assertEqual(self.rows("SELECT rank, event, num_kernels, kernel_dur_sum, kernel_span"
                                   " FROM trace_subtree('a', 'all', 0)"
                                   " WHERE depth = 0"), [(0, 0, 3, 31, 25), (1, 0, 0, 0, None)])
        self.assertEqual(list(self.read("a", "[3, 1, 7]")), [1, 2, 3, 4, 5, 6, 7])  # the others are below the first
        self.assertEqual(self.read("a", 8), {})
        self.assertEqual(self.rows("SELECT * FROM trace_subtree(NULL)"), [])
        self.assert_error("trace_subtree: the trace has no event 9", "SELECT * FROM trace_subtree('a', NULL, '[1, 9]')")
        self.assert_error("trace_subtree: root must be an integer, a JSON array of integers or 'all', not 'f'; the"
                          " arguments are trace, ranks, root",
                          "SELECT * FROM trace_subtree('a', NULL, 'f')")
        self.assert_error("trace_subtree: the trace has no rank 7 (ranks: 0, 1)",
                          "SELECT * FROM trace_subtree('a', 7, 1)")

    def seconds(self, sql, path, *arguments, expected):
        """The better CPU time of two on new connections that have read the events."""
        took = []
        for _ in range(2):
            db = connect()
            db.execute("SELECT count(*) FROM trace_events(?)", (path,)).fetchall()
            begin = time.process_time()
            self.assertEqual(db.execute(sql, (path, *arguments)).fetchall(), [expected])
            took.append(time.process_time() - begin)
            db.close()
        return min(took)

    @alone
    @fine_clock
    def test_deep_stacks_take_no_longer(self):
        took = []
        for size in (10_000, 40_000):
            path = write(f"{size}.json", document(*(event("f", place, 4 * size - 2 * place) for place in range(size)),
                                                  launch(size, 1, 1), kernel("k", 9 * size, 5, 1)))
            took.append(self.seconds("SELECT count(*), sum(num_kernels), max(depth) FROM trace_subtree(?)", path,
                                     expected=(size + 2, size + 2, size + 1)))
        self.assertLess(took[1], 10 * took[0] + 0.01)

    @alone
    @fine_clock
    def test_many_roots_below_a_deep_stack(self):
        took = []
        for size in (3000, 12_000):
            path = write(f"{size}.json", document(*(event("f", place, 10 * size - 2 * place) for place in range(size)),
                                                  *(event("leaf", size + 3 * place, 1) for place in range(size))))
            roots = str(list(range(size, 2 * size)))
            took.append(self.seconds("SELECT count(*), max(depth) FROM trace_subtree(?, NULL, ?)", path, roots,
                                     expected=(size, 0)))
        self.assertLess(took[1], 8 * took[0] + 0.01)


if __name__ == "__main__":
    unittest.main()
