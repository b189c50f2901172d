"""memory_timeline reads what torch.profiler's export_memory_timeline writes as *.raw.json.gz, against an independent
reader.
"""
import gzip
import json
import os
import random
import unittest

from made import InFolder, write
from support import EXAMPLES

CATEGORIES = ("parameter", "optimizer_state", "input", "temporary", "activation", "gradient", "autograd_detail",
              "unknown")
RECORDED = os.path.join(EXAMPLES, "recorded")
COLUMNS = ", ".join(("ts", "ts_ns", "total", *CATEGORIES))


def points(entries):
    """The rows, computed like in HTA's memory_analysis.py: one per change of the time."""
    made, first = [], min((entry[0] for entry in entries if entry[0] > 0), default=None)
    for time, _, size, category in entries:
        if not made or made[-1][0] != time:
            made.append((time, list(made[-1][1]) if made else [0] * len(CATEGORIES)))
        made[-1][1][category] += size
    made = [(first if time < 0 else time, sizes) for time, sizes in made]
    return [(None if first is None else (time - first) / 1000, time, sum(sizes), *sizes) for time, sizes in made]


def random_entries(rng):
    """Existing memory, then blocks that come, go, and change their category."""
    made = [[-1, 1, rng.randrange(1, 10_000), rng.randrange(8)] for _ in range(rng.randrange(4))]
    time = 1_795_408_154_000_000_000
    for _ in range(rng.randrange(40)):
        time += rng.choice((0, 0, 1, 999, 123_456))
        size, category = rng.randrange(1, 2 ** 40), rng.randrange(8)
        made += rng.choice(([[time, 2, size, category]], [[time, 4, -size, category]],
                            [[time, 3, -size, category], [time, 3, size, rng.randrange(8)]]))
    return made


class Timeline(InFolder):
    def timeline(self, path):
        return self.db.execute(f"SELECT {COLUMNS} FROM memory_timeline(?)", (path,)).fetchall()

    def test_random_lists_are_as_htas_reading_has_them(self):
        rng, count = random.Random(1), 0
        for number in range(60):
            entries = random_entries(rng)
            text = json.dumps(entries, indent=rng.choice((None, 2)),
                              separators=rng.choice((None, (",", ":"), (" , ", " : "))))
            found = self.timeline(write(f"{number}.raw.json{rng.choice(('', '.gz'))}", text))
            self.assertEqual(found, points(entries), entries)
            count += len(found)
        self.assertGreater(count, 500)

    def test_the_recorded_one(self):
        path = os.path.join(RECORDED, "memory.raw.json.gz")
        with gzip.open(path) as file:
            entries = json.load(file)
        found = self.timeline(path)
        self.assertEqual(found, points(entries))
        self.assertEqual(found[0][2], found[0][3])      # before the first step, only parameters exist
        self.assertTrue(all(row[2] == sum(row[3:]) for row in found))
        # momentum, since the first step
        self.assertEqual((found[0][4], found[-1][4]), (0, 4 * (64 * 256 + 256 + 256 * 16 + 16)))
        begin, end = self.db.execute("SELECT min(ts_ns), max(ts_ns + coalesce(dur_ns, 0)) FROM trace_events(?)",
                                     (os.path.join(RECORDED, "trace.json.gz"),)).fetchone()
        self.assertTrue(begin <= found[0][1] and found[-1][1] <= end)      # one clock

    def test_memory_from_before_has_the_first_time(self):
        for entries, times in (([[-1, 1, 5, 0], [-1, 1, 7, 1], [20, 2, 1, 2], [10, 2, 1, 2]], [10, 20, 10]),
                               ([[-1, 1, 5, 0]], [None])):
            found = self.timeline(write("memory.json", json.dumps(entries)))
            self.assertEqual([row[1] for row in found], times)
        self.assertEqual(found, [(None, None, 5, 5, *[0] * 7)])

    def test_an_empty_list_has_no_rows(self):
        self.assertEqual(self.timeline(write("memory.json", " [ ] \n")), [])

    def test_several_files_are_each_by_itself(self):
        for rank in (1, 0):
            write(f"run/mem_rank{rank}.raw.json.gz", [[100, 2, 10 + rank, 0], [200, 4, -10, 0]])
        write("other.raw.json", [[5, 2, 1, 7]])
        sql = "SELECT file, rank, ts, total FROM memory_timeline(?)"
        of_run = [("run/mem_rank0.raw.json.gz", 0, 0.0, 10), ("run/mem_rank0.raw.json.gz", 0, 0.1, 0),
                  ("run/mem_rank1.raw.json.gz", 1, 0.0, 11), ("run/mem_rank1.raw.json.gz", 1, 0.1, 1)]
        other = ("other.raw.json", None, 0.0, 1)
        for path, rows in (("run", of_run), ("run/*0.raw.json.gz", of_run[:2]),
                           ('["other.raw.json", "run"]', [other, *of_run])):
            self.assertEqual(self.db.execute(sql, (path,)).fetchall(), rows)
        self.assertEqual(self.db.execute("SELECT count(*) FROM memory_timeline(NULL)").fetchall(), [(0,)])

    def test_a_file_that_has_changed_is_read_again(self):
        for size in (1, 2):
            self.assertEqual(self.timeline(write("memory.json", [[5, 2, size, 0]]))[0][2], size)

    def test_what_is_not_a_timeline(self):
        entry, place = "not an entry [time, action, bytes, category] of a memory timeline", "'memory.json': "
        for text, error in (("[[1, 2, 3, 0], [1, 2, 3]]", f"{place}{entry} at byte 16"),
                            ("[[1, 2, 3, 8]]", f"{place}{entry} at byte 2"),
                            ("[[1, 2, 3, -1]]", f"{place}{entry} at byte 2"),
                            ("[[1, 2, 3.5, 0]]", f"{place}{entry} at byte 2"),
                            ("[[1, 2, 3, 0, 4]]", f"{place}{entry} at byte 2"), ("[7]", f"{place}{entry} at byte 2"),
                            ('[{"a": 1}]', f"{place}{entry} at byte 2"), ('["a"]', f"{place}{entry} at byte 2"),
                            ("[[1, 2, 3, 9223372036854775808]]", f"{place}{entry} at byte 2"),
                            ("[[[1, 2], [3, 4]], [5]]", f"{place}{entry} at byte 2"),
                            ("[[1, 2, 9223372036854775807, 0], [2, 2, 1, 1]]",
                             f"{place}a sum of bytes beyond 64 bits at byte 34"),
                            ('{"traceEvents": []}', f"{place}not a memory timeline: name a *.raw.json.gz of"
                                                    f" export_memory_timeline()")):
            write("memory.json", text)
            self.assert_error(f"memory_timeline: {error}", "SELECT * FROM memory_timeline('memory.json')")


if __name__ == "__main__":
    unittest.main()
