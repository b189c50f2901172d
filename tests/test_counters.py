"""Counters: those that trace_counter_events adds to a trace."""
import csv
import glob
import json
import os
import re
import unittest

from made import InFolder, document, event, kernel, launch, write
from support import EXAMPLES, ROOT, connect, corpus, golden

GPU = os.path.join(EXAMPLES, "gpu", "test")


def recipe(trace, ranks):
    """The query of HTA.md that writes a trace with counters, without the writing."""
    with open(os.path.join(ROOT, "sql", "HTA.md"), encoding="utf-8") as file:
        block = next(block for block in re.findall(r"```sql\n(.*?)```", file.read(), re.S) if "trace_counter_events" in block)
    sql = re.sub(r"writefile\('[^']*', (.*)\) > 0 AS written", r"\1 AS text", block, flags=re.S)
    assert sql != block
    return sql.replace("'examples/gpu/test'", f"'{trace}'").replace(", 0)", f", {ranks})")


class OfSeries(InFolder):
    def assert_of_series(self, trace, call=""):
        found = self.db.execute(f"SELECT rank, ph, name, stream, pid, ts, args FROM trace_counter_events(?{call})", (trace,)).fetchall()
        wanted = [(rank, "C", "Queue Length", stream, pid, ts, {"Queue Length": length}) for rank, stream, pid, ts, length in
                  self.db.execute(f"SELECT rank, stream, pid, ts, queue_length FROM queue_length_time_series(?{call})", (trace,))]
        wanted += [(rank, "C", name, None, pid, ts, {"Memcpy BW": gbps}) for rank, name, pid, ts, gbps in
                   self.db.execute(f"SELECT rank, name, pid, ts, memory_bw_gbps FROM memory_bw_time_series(?{call})", (trace,))]
        found = [(*row[:-1], json.loads(row[-1])) for row in found]
        self.assertEqual([row[:-1] for row in found], [row[:-1] for row in sorted(wanted, key=lambda row: row[0])])
        for row, other in zip(found, sorted(wanted, key=lambda row: row[0])):
            (key, value), = row[-1].items()
            self.assertAlmostEqual(value, other[-1][key], 9)
        return len(found)

    def test_every_row_is_one_of_the_series_in_its_place(self):
        for call in ("", ", 0", ", '[1,0]'", ", NULL, 1"):
            self.assertGreater(self.assert_of_series(GPU, call), 100)

    def test_points_at_one_time_stay_in_order(self):
        """Two launches and a beginning at 10: 1, 2, 1 and not 0, 1, 2."""
        events = [launch(10, 1, 1), launch(10, 1, 2), kernel("k", 10, 5, 1), kernel("k", 20, 5, 2)]
        for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
            write("trace.json", document(*(events[i] for i in order)))
            self.assertEqual(self.db.execute("SELECT args ->> '$.\"Queue Length\"' FROM trace_counter_events('trace.json')").fetchall(),
                             [(1,), (2,), (1,), (0,)])
            self.assert_of_series("trace.json")


class Golden(unittest.TestCase):
    @staticmethod
    def last(rows):
        """The last value at each time: HTA leaves open which of several comes last."""
        return {row[:-1]: row[-1] for row in rows}

    def compare(self, folder, path):
        """What only tracediff has, and what only HTA has."""
        trace, db = corpus("hta", *path.split("/")), connect()
        origins = dict(db.execute("SELECT rank, min(ts_ns - CAST(round(ts * 1000) AS INTEGER)) FROM trace_events(?)"
                                  " WHERE ts IS NOT NULL GROUP BY rank", (trace,)))
        found = self.last((name, number, pid, (origins[rank] + round(ts * 1000)) / 1000, round(value, 6))
                          for rank, name, number, pid, ts, value in db.execute(
                              "SELECT rank, name, stream, pid, ts, coalesce(args ->> '$.\"Queue Length\"', args ->> '$.\"Memcpy BW\"')"
                              " FROM trace_counter_events(?)", (trace,)))
        with open(golden(folder, "generate_trace_with_counters.csv"), newline="", encoding="utf-8") as file:
            expected = self.last((row["name"], int(float(row["id"])) if row["id"] else None, int(row["pid"]), float(row["ts"]),
                                  round(next(iter(json.loads(row["args"]).values())), 6)) for row in csv.DictReader(file))
        self.assertGreater(len(expected), 1)
        return set(found.items()) - set(expected.items()), set(expected.items()) - set(found.items())

    def test_are_htas_where_no_difference_is(self):
        for folder, path in (("critical_path_simple_add", "critical_path/simple_add"), ("trace_filter_2ranks", "trace_filter")):
            self.assertEqual(self.compare(folder, path), (set(), set()))

    def test_copies_without_a_launch_are_only_here(self):
        """D41: and nothing else is."""
        for side in ("base", "test"):
            more, fewer = self.compare(f"trace_compare_{side}", f"trace_compare/{side}")
            self.assertEqual({key[0] for key, _ in more}, {"Memcpy HtoD", "Memcpy DtoD", "Memset"})
            self.assertEqual(fewer, set())


class WithCounters(InFolder):
    """The trace that the query of HTA.md writes."""

    COLUMNS = "cat, name, pid, tid, ts, dur, iteration, device"

    def round_trip(self, trace, rank):
        text, = self.db.execute(recipe(trace, rank)).fetchone()
        made = json.loads(text)["traceEvents"]
        write("written.json", text)
        both = [self.db.execute(f"SELECT {self.COLUMNS}, args FROM trace_events(?, NULL, ?) ORDER BY ts, cat, name, dur", call).fetchall()
                for call in ((trace, rank), ("written.json", None))]
        return made, both

    def test_has_the_events_the_links_and_the_counters(self):
        for trace, rank in [(GPU, 1), *((path, 0) for path in glob.glob(os.path.join(EXAMPLES, "serving", "test", "*")))]:
            made, (before, after) = self.round_trip(trace, rank)
            self.assertGreater(len(before), 50)
            self.assertEqual([row[:-1] for row in after], [row[:-1] for row in before])
            for old, new in zip(before, after):
                self.assertEqual(json.loads(new[-1] or "{}"), json.loads(old[-1] or "{}"))
            counters = self.db.execute(f"SELECT name, stream, pid, ts, args FROM trace_counter_events(?, {rank})", (trace,)).fetchall()
            self.assertGreater(len(counters), 10)
            self.assertEqual([(each["name"], each.get("id"), each["pid"], each["ts"], each["args"]) for each in made
                              if each["ph"] == "C"], [(*row[:-1], json.loads(row[-1])) for row in counters])
            self.assertFalse([each for each in made if None in each.values()])
            starts = {(each["ph"], each["id"], each["ts"]) for each in made if each["ph"] in "sf"}
            linked = self.db.execute(f"SELECT device, correlation, ts FROM trace_events(?, NULL, {rank}) WHERE link IS NOT NULL", (trace,))
            self.assertEqual(starts, {("s" if device == "CPU" else "f", correlation, ts) for device, correlation, ts in linked})

    def test_what_is_null_is_left_out(self):
        """An event without a category and args, one that was a B and an E, and an instant."""
        write("trace.json", document({"ph": "X", "name": "x", "pid": 1, "tid": 1, "ts": 5, "dur": 1},
                                     {"ph": "B", "name": "b", "pid": 1, "tid": 1, "ts": 7}, {"ph": "i", "name": "i", "pid": 1, "tid": 1, "ts": 8},
                                     {"ph": "E", "pid": 1, "tid": 1, "ts": 9}, event("op", 11, 1, args={"a": [None]})))
        text, = self.db.execute(recipe("trace.json", 0)).fetchone()
        self.assertEqual(json.loads(text)["traceEvents"], [
            {"ph": "X", "name": "x", "pid": 1, "tid": 1, "ts": 0.0, "dur": 1.0},
            {"ph": "X", "name": "b", "pid": 1, "tid": 1, "ts": 2.0, "dur": 2.0}, {"ph": "i", "name": "i", "pid": 1, "tid": 1, "ts": 3.0},
            {"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": 6.0, "dur": 1.0, "args": {"a": [None]}}])


if __name__ == "__main__":
    unittest.main()
