"""Snapshots of PyTorch's allocator (M1 to M11): recorded answers, the oracle on random snapshots, files and ranks, and
errors.
"""
import csv
import gzip
import json
import os
import pickle
import random
import shutil
import sqlite3

from generate_memory import snapshot, write
from generate_memory_pair import LOGGED, X
from made import InFolder, write as write_file
from oracle_memory import devices, diff
from support import EXAMPLES, bytes_read, corpus, golden, series

ALL = ["expandable", "forward", "forward_mixed", "inference_1024", "old_layout", "training_128", "training_512"]
KEYS = ["phase", "annotation", "function", "place", "op", "top_op", "node"]


def shown(rows):
    return sorted(tuple("" if value is None else str(value) for value in row) for row in rows)


class Memory(InFolder):
    def dump(self, path, made, protocol=4):
        return write_file(path, pickle.dumps(made, protocol=protocol))


class Recorded(Memory):
    """The recorded answers for real snapshots."""

    def compare(self, file, sql, *arguments):
        with open(golden("memory", file), encoding="utf-8") as lines:
            head, *rows = csv.reader(lines)
        self.assertEqual(shown(self.rows(sql.format(", ".join(head)), *arguments)), sorted(map(tuple, rows)), file)

    def test_peaks_and_their_parts(self):
        for name in ALL:
            path = corpus("memory", name)
            parts = "SELECT {} FROM memory_peak(?, ?) WHERE phase <> 'cached and rounded'"
            self.compare(f"{name}.parts.csv", parts, path, "phase,function,op")
            self.compare(f"{name}.parts2.csv", parts, path, "phase,top_op,node,place")
            self.compare(f"{name}.peak.csv", "SELECT {} FROM (SELECT *, peak_blocks AS blocks, peak_reserved AS"
                                             " reserved_bytes FROM memory_files(?))",
                         path)
            self.assertEqual(self.value("SELECT problems FROM memory_files(?)", path), "[]")

    def test_differences(self):
        for control, test, name in (("training_128", "training_512", "training"),
                                    ("forward", "forward_mixed", "mixed")):
            self.compare(f"{name}.diff.csv", "SELECT {} FROM memory_diff(?, ?) WHERE phase <> 'cached and rounded'",
                         corpus("memory", control), corpus("memory", test))

    def test_why_autocast_takes_more(self):
        lines = self.rows("SELECT kind, text, diff_bytes FROM memory_summary(?, ?)", corpus("memory", "forward"),
                          corpus("memory", "forward_mixed"))
        self.assertLessEqual(len(lines), 12)
        self.assertEqual(lines[0], ("verdict", "the peak is higher: 19.35 -> 23.87 GB, +4.52 GB (+23.4 %)", 4520809472))
        self.assertEqual(lines[2][1:], ("    +7.35 GB  forward  cs336_basics/transformer.py forward  aten::_to_copy",
                                        7354864640))
        self.assertEqual(sum(d for kind, _, d in lines if kind in ("cause", "rest")), 4520809472)
        self.assertEqual(lines[-1][1], "reserved at the peak: 19.67 -> 24.25 GB")


class BesideATrace(Memory):
    """examples/memory/gpu has snapshots of the runs in examples/gpu, on the same clock (generate_memory_pair.py)."""

    def test_the_operator_at_the_time_of_an_allocation_is_that_of_its_frames(self):
        """Joined by time, the innermost operator of the trace around each alloc is the one in its frames."""
        for side in ("control", "test"):
            for rank in (0, 1):
                trace, path = (os.path.join(EXAMPLES, *parts, side) for parts in (("gpu",), ("memory", "gpu")))
                joined = self.rows(
                    "SELECT a.op, e.name, max(e.ts_ns) FROM memory_allocations(?, ?) AS a CROSS"
                    " JOIN trace_events(?, ?) AS e"
                    " WHERE e.cat = 'cpu_op' AND e.name LIKE 'aten::%' AND 1000 * a.alloc_us + 999 >= e.ts_ns"
                    " AND 1000 * a.alloc_us <= e.ts_ns + e.dur_ns"
                    " GROUP BY a.alloc_event", path, rank, trace, rank)
                self.assertEqual([op for op, *_ in joined], [name for _, name, _ in joined])
                self.assertEqual(len(joined),
                                 self.value("SELECT count(alloc_event) FROM memory_allocations(?, ?)", path, rank))

    def test_what_is_planted(self):
        sides = [os.path.join(EXAMPLES, "memory", "gpu", side) for side in ("control", "test")]
        self.assertEqual(self.rows("SELECT phase, function, op, diff_bytes, diff_from_blocks FROM memory_diff(?, ?)"
                                   " WHERE diff_bytes <> 0"
                                   " AND phase <> 'cached and rounded'", *sides),
                         [("forward", "model/layers.py forward", "aten::clone", 4 * X, 4 * X)])
        for side in sides:
            self.assertEqual(self.rows("SELECT DISTINCT problems FROM memory_files(?)", side), [("[]",)])
            self.assertEqual(self.rows("SELECT annotation FROM memory_allocations(?, 0)"
                                       " WHERE op = 'aten::_log_softmax' AND at_peak", side), [(LOGGED,)])


class Oracle(Memory):
    """Random snapshots against an independent implementation of the rules."""

    def compare_device(self, number, device, path):
        one = "FROM memory_files(?) WHERE device = ?"
        got = self.rows("SELECT events, allocations, peak_bytes, peak_event, peak_blocks, peak_reserved, end_bytes,"
                        " end_reserved, peak_us, problems "
                        + one, path, number)
        peak = device.peak_event
        self.assertEqual(len(got), 1)
        self.assertEqual(got[0][:-1], (
            len(device.events), len(device.allocations), device.peak_bytes, peak, len(device.alive(peak)),
            device.reserved(peak),
            device.end_bytes, device.reserved(len(device.events)), device.events[peak].get("time_us") if peak >= 0
            else None))
        self.assertEqual({p["what"]: p["count"] for p in json.loads(got[0][-1])}, device.problems)
        sums = device.allocated()
        self.assertEqual(self.rows("SELECT event, action, addr, size, time_us, allocated, reserved, frames"
                                   " FROM memory_events(?) WHERE device = ?"
                                   " ORDER BY event", path, number),
                         [(i, e["action"], e["addr"], e["size"], e.get("time_us"), sums[i + 1], device.reserved(i),
                           json.dumps([{k: f[k] for k in ("name", "filename", "line")} for f in e["frames"]],
                                      separators=(",", ":"))
                           .replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026") if e.get("frames")
                           else None)
                          for i, e in enumerate(device.events)])
        alive = {id(a) for a in device.alive(peak)}
        wanted = []
        for a in device.allocations:
            times = [None if a[k] is None else device.events[a[k]].get("time_us") for k in ("begin", "end")]
            label = device.label(a)
            wanted.append((a["addr"], a["bytes"], a["begin"], a["end"], *times, times[1] - times[0] if None not in times
                           else None,
                           int(id(a) in alive), *[label[k] for k in KEYS]))
        self.assertEqual(shown(self.rows("SELECT addr, bytes, alloc_event, free_event, alloc_us, free_us, lifetime_us,"
                                         " at_peak, "
                                         + ", ".join(KEYS) + " FROM memory_allocations(?) WHERE device = ?", path,
                                         number)), shown(wanted))

    def compare_parts(self, number, device, path, by):
        rows = self.rows("SELECT " + ", ".join(KEYS) + ", bytes, blocks FROM memory_peak(?, ?) WHERE device = ?", path,
                         ",".join(by), number)
        parts = device.parts(by)
        wanted = [tuple(key[by.index(k)] if k in by else None for k in KEYS) + value for key, value in parts.items()]
        rest = device.reserved(device.peak_event) - device.peak_bytes
        self.assertEqual(rows[-1], ("cached and rounded", None, None, None, None, None, None, rest, 0))
        self.assertEqual(shown(rows[:-1]), shown(wanted))
        self.assertEqual(sum(row[-2] for row in rows), device.reserved(device.peak_event))

    def test_random_snapshots(self):
        for seed in range(series(25, 1500)):
            rng = random.Random(seed)
            made = snapshot(seed)
            write("rank0.pickle", made, rng)
            known = devices(made)
            with self.subTest(seed=seed):
                self.assertEqual(sorted(row[0] for row
                                        in self.rows("SELECT device FROM memory_files('rank0.pickle')"
                                                     " WHERE device IS NOT NULL")),
                                 list(known))
                for number, device in known.items():
                    self.compare_device(number, device, "rank0.pickle")
                    self.compare_parts(number, device, "rank0.pickle", rng.sample(KEYS, rng.randrange(1, 8)))

    def test_random_differences(self):
        for seed in range(series(10, 500)):
            control, test = snapshot(2 * seed), snapshot(2 * seed + 1)
            self.dump("control.pickle", control)
            self.dump("test.pickle", test)
            a, b = list(devices(control).values()), list(devices(test).values())
            by = ["phase", "function", "op"]
            rows = self.rows("SELECT phase, function, op, control_bytes, test_bytes, diff_bytes, control_blocks,"
                             " test_blocks, diff_from_blocks,"
                             " diff_from_size FROM memory_diff('control.pickle', 'test.pickle')")
            wanted = []
            for i in range(max(len(a), len(b))):
                one, other = (x[i].parts(by) if i < len(x) else {} for x in (a, b))
                wanted += [key + value for key, value in diff(one, other).items()]
                rest = [x[i].reserved(x[i].peak_event) - x[i].peak_bytes if i < len(x) else 0 for x in (a, b)]
                wanted.append(("cached and rounded", None, None, *rest, rest[1] - rest[0], 0, 0, rest[1] - rest[0], 0))
            with self.subTest(seed=seed):
                self.assertEqual(shown(rows), shown(wanted))
                lines = self.rows("SELECT kind, text, diff_bytes FROM memory_summary('control.pickle', 'test.pickle')")
                self.assertLessEqual(len(lines), 12)
                self.assertTrue(all(len(text) <= 100 for _, text, _ in lines), lines)
                if lines[0][1].endswith("is not known"):  # without events
                    self.assertIn(0, [len(max(x, key=lambda device: device.peak_bytes).events) for x in (a, b) if x])
                    self.assertEqual({kind for kind, _, _ in lines}, {"verdict", "caution"})
                    continue
                self.assertEqual(lines[0][2],
                                 max([0] + [x.peak_bytes for x in b]) - max([0] + [x.peak_bytes for x in a]))
                self.assertEqual(sum(d for kind, _, d in lines if kind in ("cause", "rest")), lines[0][2])


class Summary(Memory):
    """The lines of memory_summary."""

    def sized(self, size, device=0):
        return {"segments": [], "device_traces": [[]] * device
                + [[{"action": "alloc", "addr": 1, "size": size, "stream": 0}]]}

    def verdict(self, ranks="NULL"):
        return self.rows(f"SELECT control_bytes, test_bytes, diff_bytes FROM memory_summary('a', 'b', {ranks})"
                         f" WHERE kind = 'verdict'")

    def test_a_long_cause_ends_where_a_word_ends(self):
        for name, end in (("run_" * 40, "run..."), ("word " * 40, "word..."), ("x" * 200, "xxx...")):
            trace = self.sized(50_000)
            trace["device_traces"][0][0]["frames"] = [{"filename": "model.py", "line": 1, "name": name}]
            self.dump("b/rank0.pickle", trace)
            self.dump("a/rank0.pickle", self.sized(0))
            (text,), = self.rows("SELECT text FROM memory_summary('a', 'b') WHERE kind = 'cause'")
            with self.subTest(name=name):
                self.assertLessEqual(len(text), 100)
                self.assertTrue(text.endswith(end), text)

    def test_a_side_without_a_device(self):
        self.dump("a/rank0.pickle", {"segments": [], "device_traces": [[], []]})
        self.dump("b/rank0.pickle", self.sized(50_000))
        lines = [
            ("verdict", "the peak is higher: 0.00 -> 0.05 MB, +0.05 MB", 0, 50_000, 50_000),
            ("peak", "it is before the first event of 0 in control, in unknown after event 0 of 1 in test", None, None,
             None),
            ("cause", "    +0.05 MB  unknown", 0, 50_000, 50_000),
            ("caution", "caution: no events in control: call torch.cuda.memory._record_memory_history() before the run",
             None, None, None),
            ("caution", "caution: no frames in test: record with context='all'", None, None, None),
            ("caution", "caution: the peak is before the first event in control, in unknown in test", None, None, None),
            ("reserved", "reserved at the peak: at least 0.00 -> 0.00 GB", 0, 50_000, 50_000)]
        summary = "SELECT kind, text, control_bytes, test_bytes, diff_bytes FROM memory_summary({}, {})"
        self.assertEqual(self.rows(summary.format("'a'", "'b'")), lines)
        self.assertEqual(self.rows(summary.format("'b'", "'a'"))[0],
                         ("verdict", "the peak is lower: 0.05 -> 0.00 MB, -0.05 MB (-100.0 %)", 50_000, 0, -50_000))
        self.assertEqual(self.rows(summary.format("'a'", "'a'"))[0],
                         ("verdict", "the peak is the same: 0.00 MB", 0, 0, 0))

    def test_amounts_that_megabytes_would_not_show(self):
        """Small amounts are in kB or bytes, next to large ones in MB or GB."""
        for side, sizes in (("a", (50_000, 2_000_000_000)), ("b", (50_003, 2_004_000_000)),
                            ("c", (54_000, 2_000_000_000))):
            for number, size in enumerate(sizes):
                self.dump(f"{side}/{number}.pickle", self.sized(size))
        for control, test, rank, said in (
                ("a", "b", 0, ["the peak is higher: 0.05 -> 0.05 MB, +3 B (+0.0 %)", "       +3 B  unknown"]),
                ("a", "c", 0, ["the peak is higher: 0.05 -> 0.05 MB, +4.00 kB (+8.0 %)", "    +4.00 kB  unknown"]),
                ("b", "a", 1, ["the peak is lower: 2.00 -> 2.00 GB, -4.00 MB (-0.2 %)", "    -4.00 MB  unknown"])):
            self.assertEqual(self.rows("SELECT text FROM memory_summary(?, ?, ?) WHERE kind IN ('verdict', 'cause')",
                                       control, test, rank), [(text,) for text in said])

    def test_a_file_that_contradicts_itself(self):
        self.dump("a/rank0.pickle", self.sized(7))
        self.assertEqual(self.rows("SELECT text FROM memory_summary('a', 'a') WHERE text LIKE '%problems%'"),
                         [("caution: a file contradicts itself: see the problems in memory_files",)])

    def test_a_peak_that_is_not_known(self):
        """A snapshot with segments but no events gives the memory at the end, but no peak."""
        ended = {"device_traces": [], "segments": [{"device": 0, "address": 512, "total_size": 512, "blocks": [
            {"address": 512, "size": 512, "requested_size": 50, "state": "active_allocated"}]}]}
        self.dump("a/rank0.pickle", self.sized(7))
        self.dump("b/rank0.pickle", ended)
        columns = "SELECT kind, text, control_bytes, test_bytes, diff_bytes FROM memory_summary('{}', '{}')"
        no_events = "caution: no events in {}: call torch.cuda.memory._record_memory_history() before the run"
        for control, test, what, side, sizes in (("a", "b", "test", "test", (7, None, None)),
                                                 ("b", "a", "control", "control", (None, 7, None)),
                                                 ("b", "b", "control and of test", "both", (None, None, None))):
            self.assertEqual(self.rows(columns.format(control, test))[:2], [
                ("verdict", f"the peak of {what} is not known", *sizes),
                ("caution", no_events.format(side), None, None, None)])
        self.assertEqual(self.rows("SELECT count(*) FROM memory_summary('a', 'b')"
                                   " WHERE kind IN ('peak', 'cause', 'rest', 'reserved')"), [(0,)])

    def test_pinned_memory_of_the_host(self):
        """M3.4: pinned host memory is device -1, next to the devices; its events are in one list or several."""
        def pinned(size, several):
            events = [{"action": "alloc", "addr": 64, "size": size, "time_us": 5},
                      {"action": "free_completed", "addr": 64, "size": size},
                      {"action": "alloc", "addr": 64, "size": 20}]
            return {**self.sized(7), "host_traces": [events[:1], events[1:]] if several else events,
                    "host_segments": [{"address": 64, "total_size": 100, "active_size": 20, "blocks": []},
                                      {"address": 900, "total_size": 100, "active_size": 30},
                                      {"address": 1900, "total_size": 100, "active_size": 0}]}
        for several in (True, False):
            self.dump("a/rank0.pickle", pinned(2_000_000, several))
            self.assertEqual(self.rows("SELECT device, events, allocations, peak_bytes, peak_event, end_bytes,"
                                       " end_reserved, problems FROM memory_files('a')")[1:],
                             [(-1, 3, 3, 2_000_030, 0, 50, 300, "[]")])
        self.dump("b/rank0.pickle", self.sized(7))
        host = "SELECT text, diff_bytes FROM memory_summary('{}', '{}') WHERE kind IN ('verdict', 'host')"
        self.assertEqual(self.rows(host.format("a", "b")), [
            self.rows(host.format("b", "b"))[0],
            ("pinned memory of the host at its peak: 2.00 -> 0.00 MB, -2.00 MB (-100.0 %)", -2_000_030)])
        self.assertEqual(self.rows(host.format("a", "a"))[1:], [
            ("pinned memory of the host at its peak: 2.00 -> 2.00 MB, +0.00 MB (+0.0 %)", 0)])
        self.assertEqual(self.rows("SELECT device, phase, control_bytes, test_bytes FROM memory_diff('b', 'a', 'phase')"
                                   " WHERE phase <> 'cached and rounded'"),
                         [(-1, "unknown", 0, 2_000_000), (-1, "before", 0, 30), (0, "unknown", 7, 7)])
        # of two ranks, the one whose device has the highest peak is the worst
        self.dump("a/rank1.pickle", self.sized(8))
        self.assertEqual(self.rows("SELECT DISTINCT rank FROM memory_peak('a', 'phase', 'worst')"), [(1,)])
        self.dump("c/rank0.pickle", {"segments": [], "device_traces": [], **{
            key: value for key, value in pinned(9, False).items() if key.startswith("host")}})
        self.assertEqual(self.rows("SELECT device, peak_bytes FROM memory_files('c')"), [(-1, 50)])
        for bad in ([{"addr": 5, "action": "alloc"}], [5], [[5]]):
            self.dump("d.pickle", {**self.sized(7), "host_traces": bad})
            with self.assertRaises(sqlite3.Error):
                self.rows("SELECT * FROM memory_peak('d.pickle')")

    def test_ranks_by_their_place(self):
        for rank in (0, 1):
            self.dump(f"a/tp{rank}_pp0_rank{rank}.pickle", self.sized(7 + rank))
        self.assertEqual(self.rows("SELECT rank, peak_bytes FROM memory_files('a', 'tp=1,pp=0')"), [(1, 8)])
        with self.assertRaisesRegex(sqlite3.Error, r"^memory_files: 'a' has no rank at tp=2 \(tp: 0, 1; pp: 0\)"):
            self.rows("SELECT * FROM memory_files('a', 'tp=2')")

    def test_keys_that_are_not_read(self):
        self.dump("a/rank0.pickle", {**self.sized(7), "allocator_settings": {}, "external_annotations": [],
                                     "new 'key'": 5, "other": []})
        self.assertEqual(json.loads(self.rows("SELECT problems FROM memory_files('a')")[0][0])[1:], [
            {"what": "key 'new 'key'' is not read", "count": 1}, {"what": "key 'other' is not read", "count": 1}])
        self.assertEqual(self.rows("SELECT text FROM memory_summary('a', 'a') WHERE text LIKE '%problems%'"),
                         [("caution: a file has keys that are not read: see the problems in memory_files",)])

    def test_an_empty_lowest_rank_is_not_replaced_by_another(self):
        self.dump("a/rank0.pickle", {"segments": [], "device_traces": []})
        self.dump("a/rank1.pickle", self.sized(7))
        self.dump("b/rank0.pickle", self.sized(5))
        self.assertEqual(self.verdict(), [(0, 5, 5)])
        self.assertEqual(self.rows("SELECT sum(control_bytes), sum(test_bytes) FROM memory_diff('a', 'b', 'phase')"
                                   " WHERE phase = 'unknown'"), [(0, 5)])

    def test_ranks(self):
        for side, sizes in (("a", {0: 5, 4: 9, 11: 9}), ("b", {0: 1, 4: 20, 12: 40})):
            for rank, size in sizes.items():
                self.dump(f"{side}/rank{rank}.pickle", self.sized(size, device=rank % 3))
        self.assertEqual(self.verdict(), [(5, 1, -4)])
        self.assertEqual(self.verdict("4"), [(9, 20, 11)])
        self.assertEqual(self.verdict("'[0, 4]'"), [(9, 20, 11)])
        self.assertEqual(self.verdict("'worst'"), [(9, 40, 31)])
        self.assertEqual(self.verdict("'all'"), [(9, 40, 31)])
        self.assertEqual(self.rows("SELECT kind, diff_bytes FROM memory_summary('a', 'b', 'worst') WHERE diff_bytes"
                                   " AND kind <> 'reserved'"),
                         [("verdict", 31), ("cause", 31)])
        self.assertEqual(self.rows("SELECT text FROM memory_summary('a', 'b', 'worst') WHERE text LIKE '%rank%'"),
                         [("caution: rank 4 of control is compared with rank 12 of test",)])
        self.assert_error("memory_summary: 'a' has no rank 12 (ranks: 0, 4, 11)",
                          "SELECT * FROM memory_summary('a', 'b', 12)")

    def test_what_is_reserved(self):
        """Reserved memory counts at the peak, also where a part of it was freed; without recorded segments it is
        computed from the peak. The answer never claims that a run fits, because no snapshot has the device's memory
        size.
        """
        def run(reserved, asked):
            segment = {"action": "segment_alloc", "addr": 1, "size": reserved, "stream": 0}
            return {"segments": [], "device_traces": [[
                *([segment] if reserved else []), {"action": "alloc", "addr": 1, "size": asked, "stream": 0},
                {"action": "free_completed", "addr": 1, "size": asked, "stream": 0},
                *([{**segment, "action": "segment_free"}] if reserved else [])]]}
        gb = 10 ** 9
        for control, test, said in (
                ((70 * gb, 60 * gb), (80 * gb, 60 * gb), "70.00 -> 80.00 GB"),
                ((90 * gb, 60 * gb), (91 * gb, 61 * gb), "90.00 -> 91.00 GB"),
                ((90 * gb, 60 * gb), (0, 61 * gb), "at least 90.00 -> 61.00 GB")):
            self.dump("a/rank0.pickle", run(*control))
            self.dump("b/rank0.pickle", run(*test))
            self.assertEqual(self.rows("SELECT text, control_bytes, test_bytes FROM memory_summary('a', 'b')"
                                       " WHERE kind = 'reserved'"),
                             [("reserved at the peak: " + said, max(control), max(test))])

    def test_more_parts(self):
        """The maximum number of causes can be chosen. Lines always add up in bytes and blocks, and causes are rows of
        memory_diff.
        """
        for seed in range(series(3, 100)):
            self.dump("a/rank0.pickle", snapshot(2 * seed))
            self.dump("b/rank0.pickle", snapshot(2 * seed + 1))
            shown = []
            for parts in (0, 1, 5, 1000):
                lines = self.rows(f"SELECT kind, diff_bytes, control_bytes, test_bytes, control_blocks, test_blocks"
                                  f" FROM memory_summary('a', 'b', NULL, {parts})"
                                  " WHERE kind IN ('verdict', 'cause', 'rest')")
                self.assertEqual(sum(line[1] for line in lines[1:]), lines[0][1])
                self.assertLessEqual([kind for kind, *_ in lines].count("cause"), parts)
                shown.append(tuple(sum(line[i] or 0 for line in lines[1:]) for i in range(1, 6)))
            self.assertEqual(len(set(shown)), 1)

    def test_cautions(self):
        """Each caution names its problem, and at most the first three are shown."""
        frames = [{"name": "f", "filename": "a.py", "line": 1}]
        engine = [{"name": "torch::autograd::Engine::run()", "filename": "??", "line": 0}]

        def block(address, size):
            return {"device": 0, "address": address, "total_size": 512, "blocks": [
                {"address": address, "size": 512, "requested_size": size, "state": "active_allocated"}]}

        def events(count, size=5, frames=frames, device=0):
            """One allocation that stays, with its block, and others that are freed."""
            first = {"action": "alloc", "addr": 512, "size": size, "frames": frames}
            return {"segments": [{**block(512, size), "device": device}],
                    "device_traces": [[]] * device
                    + [[first, *[{"action": "oom", "addr": 0, "size": 0}] * (count - 1)]]}
        plain = events(3)
        old = {**plain, "segments": [*plain["segments"], block(1024, 6)]}
        lost = {**plain, "segments": [*plain["segments"], block(1024, 4)]}
        lost["segments"][1]["blocks"][0]["frames"] = frames
        full = "events are lost from the ring in {}: record with a larger max_entries"
        for control, test, said in (
                (plain, plain, []),
                (plain, {"segments": [], "device_traces": [[]]},
                 ["no events in test: call torch.cuda.memory._record_memory_history() before the run",
                                                                   "the peak is in forward in control, before the"
                                                                   " first event in test"]),
                ({"segments": [block(512, 5)], "device_traces": [[]]},) * 2 + ([
                    "no events in both: call torch.cuda.memory._record_memory_history() before the run"],),
                (lost, plain, [full.format("control")]),
                (plain, lost, [full.format("test")]),
                (lost, lost, [full.format("both")]),
                (events(1000), events(2000), []),  # whole thousands tell nothing
                (plain, events(3, frames=None),
                 ["no frames in test: record with context='all'",
                  "the peak is in forward in control, in unknown in test"]),
                (plain, events(3, frames=[]),
                 ["no frames in test: record with context='all'",
                  "the peak is in forward in control, in unknown in test"]),
                (plain, old, ["0 % of control\'s peak was allocated before the recording began, 55 % of test\'s"]),
                (plain, events(3, frames=engine), ["the peak is in forward in control, in backward in test"]),
                (plain, events(3, device=2), []),
                ({**plain, "segments": []}, plain, ["a file contradicts itself: see the problems in memory_files"]),
                (plain, {"segments": [*plain["segments"], {**block(512, 9), "device": 3}],
                         "device_traces": [*plain["device_traces"], [], [],
                                           [{**plain["device_traces"][0][0], "size": 9}]]},
                 ["only device 0 and 3, with the highest peak, is compared: there are 1 and 2"]),
                ({**lost, "device_traces": events(3, frames=None)["device_traces"]},
                 {**old, "segments": [*old["segments"], block(2048, 60)]},
                 [full.format("control"), "no frames in control: record with context='all'",
                  "44 % of control\'s peak was allocated before the recording began, 93 % of test\'s"])):
            self.dump("a/rank0.pickle", control)
            self.dump("b/rank0.pickle", test)
            lines = self.rows("SELECT kind, text FROM memory_summary('a', 'b')")
            self.assertEqual([text for kind, text in lines if kind == "caution"], ["caution: " + text for text in said])
            self.assertLessEqual(len(lines), 12)

    def test_the_worst_of_ranks_without_a_device(self):
        for rank in (3, 5):
            self.dump(f"a/rank{rank}.pickle", {"segments": [], "device_traces": [[]]})
        self.dump("b/rank0.pickle", self.sized(5))
        self.assertEqual(self.rows("SELECT * FROM memory_peak('a', NULL, 'worst')"), [])
        self.assertEqual(self.verdict("'worst'"), [(0, 5, 5)])
        self.assertEqual(self.rows("SELECT rank, device FROM memory_files('a', 'worst')"), [(3, None)])

    def test_ranks_that_were_not_asked_for_need_not_be_readable(self):
        self.dump("a/rank0.pickle", self.sized(5))
        write_file("a/rank1.pickle", b"\x80\x04")
        self.assertEqual(self.rows("SELECT diff_bytes FROM memory_summary('a', 'a') WHERE kind = 'verdict'"), [(0,)])
        for function in ("memory_events", "memory_allocations", "memory_segments", "memory_peak", "memory_files"):
            self.rows(f"SELECT * FROM {function}('a') WHERE ranks = 0")
            self.assert_error(f"{function}: 'a/rank1.pickle': the pickle is truncated at byte 3",
                              f"SELECT * FROM {function}('a') WHERE ranks = 'worst'")


class Moved(Memory):
    """Blocks with another name in test (M11)."""

    def compared(self, control, test):
        """The causes of two sides, each [(count, size, op or None)] in the forward pass; None means before the first
        event.
        """
        for side, blocks in (("a", control), ("b", test)):
            events, old, address = [], [], 0
            for count, size, op in blocks:
                for _ in range(count):
                    address += 1 << 30
                    if op is None:
                        old.append({"device": 0, "address": address, "total_size": size, "blocks": [
                            {"address": address, "size": size, "requested_size": size, "state": "active_allocated"}]})
                    else:
                        events.append({"action": "alloc", "addr": address, "size": size, "frames": [
                            {"name": f"at::_ops::{op}::call(", "filename": "??", "line": 0}]})
            self.dump(f"{side}/rank0.pickle", {"segments": old, "device_traces": [events]})
        lines = self.rows("SELECT kind, phase, op, control_blocks, test_blocks, control_bytes, test_bytes, diff_bytes"
                          " FROM memory_summary('a', 'b') WHERE kind IN ('verdict', 'cause', 'rest')")
        self.assertEqual(sum(line[-1] for line in lines[1:]), lines[0][-1])
        return [line[1:] for line in lines[1:]]

    def test_equal_sizes_under_other_names_are_no_difference(self):
        self.assertEqual(self.compared([(192, 1000, "bmm"), (7, 50, "mm")], [(192, 1000, "_to_copy"), (7, 50, "mm")]),
                         [])
        self.assertEqual(self.compared([(192, 1000, "bmm")], [(200, 1000, "_to_copy")]),
                         [("forward", "aten::_to_copy", 192, 200, 192000, 200000, 8000)])
        self.assertEqual(self.compared([(200, 1000, "bmm")], [(192, 1000, "_to_copy")]),
                         [("forward", "aten::bmm", 8, 0, 8000, 0, -8000)])

    def test_other_sizes_are_a_difference(self):
        self.assertEqual(self.compared([(4, 1000, "bmm")], [(4, 500, "_to_copy")]),
                         [("forward", "aten::bmm", 4, 0, 4000, 0, -4000),
                          ("forward", "aten::_to_copy", 0, 4, 0, 2000, 2000)])

    def test_blocks_that_changed_their_size_did_not_move(self):
        """Blocks that changed their size did not move: a name with as many blocks as before gave none away, although
        others have more of that size.
        """
        self.assertEqual(self.compared([(10, 1000, "mul"), (10, 500, "bmm")], [(10, 500, "mul")]),
                         [("forward", "aten::bmm", 10, 0, 5000, 0, -5000),
                          ("forward", "aten::mul", 10, 10, 10000, 5000, -5000)])
        self.assertEqual(self.compared([(10, 1000, "mul"), (10, 500, "bmm")], [(12, 500, "mul")]),
                         [("forward", "aten::mul", 12, 12, 11000, 6000, -5000),
                          ("forward", "aten::bmm", 8, 0, 4000, 0, -4000)])

    def test_what_was_there_before_may_be_of_any_phase(self):
        self.assertEqual(self.compared([(5, 1000, None), (1, 9, "mul")], [(5, 1000, "mm"), (1, 9, "mul")]), [])
        self.assertEqual(self.compared([(5, 1000, None), (2, 1000, "mm")], [(8, 1000, "addmm")]),
                         [("forward", "aten::addmm", 7, 8, 7000, 8000, 1000)])

    def test_the_phase_before_in_words(self):
        self.compared([(1, 5000, None), (1, 9, "mm")], [(1, 90000, None), (1, 9, "mm")])
        self.assertEqual(self.rows("SELECT text FROM memory_summary('a', 'b') WHERE kind = 'cause'"),
                         [("    +0.09 MB  allocated before the recording began",)])


class Windows(Memory):
    """Windows paths give the same answer as Linux paths."""

    @staticmethod
    def recorded(root, separator, sizes):
        """Blocks that PyTorch, the standard library and an optimizer allocate for a model."""
        def stack(*frames):
            return [{"filename": root + file.replace("/", separator), "name": name, "line": line}
                    for file, name, line in (*frames, ("proj/train.py", "main", 9))]
        stacks = [stack(("ENV/site-packages/torch/functional.py", "einsum", 373), ("proj/model.py", "attention", 42)),
                  stack(("ENV/contextlib.py", "inner", 81), ("proj/lib/data.py", "load", 5)),
                  stack(("ENV/site-packages/torch/optim/adam.py", "step", 7)),
                  stack(("ENV/site-packages/einx/api.py", "inner", 3), ("proj/torchless.py", "rearrange", 8))]
        library = "env/lib/python3.11" if separator == "/" else "env\\Lib"
        for frames in stacks:
            for frame in frames:
                frame["filename"] = frame["filename"].replace("ENV", library)
        return {"segments": [], "device_traces": [[
            {"action": "alloc", "addr": i << 21, "size": size << 12, "stream": 0, "frames": frames}
            for i, (size, frames) in enumerate(zip(sizes, stacks))]]}

    def test_functions_are_those_of_linux(self):
        answers = []
        for system, root, separator in (("linux", "/home/u/", "/"), ("windows", "C:\\Users\\u\\", "\\")):
            for side, sizes in (("a", (5, 6, 7, 8)), ("b", (9, 8, 17, 11))):
                self.dump(f"{system}/{side}.pickle", self.recorded(root, separator, sizes))
            answers.append([self.rows(f"SELECT * FROM {function}('{system}/a.pickle', '{system}/b.pickle')")
                            for function in ("memory_summary", "memory_diff")])
            answers[-1].append(self.rows("SELECT DISTINCT phase, place FROM memory_peak(?, 'phase,place')",
                                         f"{system}/a.pickle"))
        self.assertEqual(*answers)
        self.assertEqual(sorted(row for row in answers[1][-1] if row[1]),
                         [("forward", "lib/data.py:5 load"), ("forward", "proj/model.py:42 attention"),
                          ("forward", "proj/torchless.py:8 rearrange"), ("optimizer", "proj/train.py:9 main")])


class Files(Memory):
    """Which files are read, and their ranks."""

    def setUp(self):
        super().setUp()
        self.one = {"segments": [], "device_traces": [[{"action": "alloc", "addr": 1, "size": 10}]]}

    def sized(self, size):
        return {"segments": [], "device_traces": [[{"action": "alloc", "addr": 1, "size": size, "stream": 0}]]}

    def test_they_are_read_once_and_not_as_traces(self):
        paths = [self.dump(f"{side}.pickle", self.sized(5) | {"padding": "x" * 200_000}) for side in "ab"]
        before = bytes_read()
        self.rows("SELECT * FROM memory_diff(?, ?)", *paths)
        self.assertLess(bytes_read() - before, sum(map(os.path.getsize, paths)) + 4096)

    def test_a_directory_lists_snapshots_alone(self):
        for rank, name in enumerate(("rank0.pickle", "rank1.pkl", "rank2.PICKLE", "rank3.pickle.gz")):
            self.dump("run/" + name, self.sized(rank + 1))
        for name in ("trace.json", "other.gz", "rank4.json.gz", ".rank5.pickle"):
            write_file("run/" + name, "{}")
        write_file("run/rank6.pickle", "not a pickle")
        self.dump("run/rank7.pkl", [1, 2])
        self.assertEqual(self.rows("SELECT DISTINCT rank, peak_bytes FROM memory_files('run') WHERE device IS NOT NULL"
                                   " ORDER BY 1"),
                         [(0, 1), (1, 2), (2, 3), (3, 4)])
        self.assertEqual(self.rows("SELECT rank, size FROM memory_events('run')"), [(0, 1), (1, 2), (2, 3), (3, 4)])

    def test_ranks(self):
        for rank, size in ((3, 5), (4, 9), (11, 9)):
            self.dump(f"a/rank{rank}.pickle", self.sized(size))
        peak = "SELECT rank, bytes FROM memory_peak('a', 'phase', {}) WHERE phase = 'unknown'"
        self.assertEqual(self.rows(peak.format("NULL")), [(3, 5)])
        self.assertEqual(self.rows(peak.format("'all'")), [(3, 5), (4, 9), (11, 9)])
        self.assertEqual(self.rows(peak.format("'worst'")), [(4, 9)])
        self.assertEqual(self.rows(peak.format("'[11, 3]'")), [(3, 5), (11, 9)])
        self.assert_error("memory_peak: 'a' has no rank 7 (ranks: 3, 4, 11)", peak.format("7"))
        self.assert_error("memory_peak: ranks must be an integer, a JSON array of integers, 'all' or 'worst', not"
                          " 'best'"
                          "; the arguments are snapshot, keys, ranks", peak.format("'best'"))
        self.dump("b/rank3.pickle", self.sized(6))
        diff = "SELECT rank, control_bytes, test_bytes FROM memory_diff('a', 'b', 'phase', {}) WHERE phase = 'unknown'"
        self.assertEqual(self.rows(diff.format("NULL")), [(3, 5, 6)])
        self.assertEqual(self.rows(diff.format("'worst'")), [(None, 9, 6)])
        self.assertEqual(self.rows(diff.format("'all'")), [(3, 5, 6), (4, 9, 0), (11, 9, 0)])

    def test_two_snapshots_of_a_rank(self):
        for name in ("rank0_a.pickle", "rank0_b.pickle"):
            self.dump("a/" + name, self.sized(1))
        self.assert_error("memory_peak: rank 0 has several snapshots, 'a/rank0_b.pickle' is one of them: name one",
                          "SELECT * FROM memory_peak('a')")
        self.assertEqual(len(self.rows("SELECT * FROM memory_events('a')")), 2)

    def test_ranks_of_rows(self):
        for rank, size in ((1, 5), (2, 70), (3, 9)):
            self.dump(f"a/rank{rank}.pickle",
                      {**self.sized(size), "segments": [{"device": 0, "address": 1, "total_size": size}]})
        for function in ("memory_events", "memory_allocations", "memory_segments", "memory_files"):
            for ranks, expected in (("NULL", [1, 2, 3]), ("'all'", [1, 2, 3]), ("'worst'", [2]), ("3", [3]),
                                    ("'[3, 1]'", [1, 3])):
                self.assertEqual([rank for rank, in self.rows(f"SELECT rank FROM {function}('a', {ranks})")], expected,
                                 (function, ranks))
            self.assert_error(f"{function}: 'a' has no rank 4 (ranks: 1, 2, 3)", f"SELECT * FROM {function}('a', 4)")

    def test_a_changed_file_is_read_again(self):
        self.dump("rank0.pickle", self.sized(1))
        self.assertEqual(self.value("SELECT peak_bytes FROM memory_files('rank0.pickle')"), 1)
        self.dump("rank0.pickle", self.sized(234567))
        self.assertEqual(self.value("SELECT peak_bytes FROM memory_files('rank0.pickle')"), 234567)

    def test_errors(self):
        os.mkdir("empty")
        write_file("x.pickle", "{}")
        self.dump("list.pickle", [1])
        self.dump("dict.pickle", {"segments": []})
        self.dump("item.pickle", {"segments": [], "device_traces": [[1]]})
        self.dump("size.pickle", {"segments": [], "device_traces": [[{"action": "alloc", "addr": 1}]]})
        self.dump("minus.pickle", {"segments": [], "device_traces": [[{"action": "alloc", "addr": 1, "size": -1}]]})
        self.dump("huge.pickle", {"segments": [], "device_traces": [[{"action": "alloc", "addr": 1, "size": 2 ** 63}]]})
        self.dump("sum.pickle", {"segments": [],
                                 "device_traces": [[{"action": "alloc", "addr": i, "size": 2 ** 62}
                                                    for i in range(3)]]})
        self.dump("device.pickle", {"segments": [{"device": 5000}], "device_traces": []})
        not_one = "is a pickle, but not a snapshot of PyTorch's allocator: "
        size = "event 0 of device 0 has no 'size' that is an integer of 0 or more"
        for path, message in (
                ("empty", "no snapshot in 'empty': there is no *.pickle, *.pickle.gz or *.pkl file, as"
                          " torch.cuda.memory._dump_snapshot() writes"),
                ("none.pickle", "cannot read 'none.pickle': No such file or directory"),
                ("x.pickle", "'x.pickle' is JSON, as a trace is, and not a pickle: name a file of"
                             " torch.cuda.memory._dump_snapshot()"),
                ("list.pickle", f"'list.pickle' {not_one}it is not a dict"),
                ("dict.pickle", f"'dict.pickle' {not_one}it has no list 'device_traces'"),
                ("item.pickle", f"'item.pickle' {not_one}an event is not a dict"),
                ("size.pickle", f"'size.pickle': {size}"), ("minus.pickle", f"'minus.pickle': {size}"),
                ("huge.pickle", f"'huge.pickle': {size}"),
                ("sum.pickle", "'sum.pickle': a sum of bytes is beyond 64 bits"),
                ("device.pickle", f"'device.pickle' {not_one}the number of a device is not from 0 to 127")):
            self.assert_error("memory_events: " + message, "SELECT * FROM memory_events(?)", path)
        self.assertEqual(json.loads(self.value("SELECT problems FROM memory_files('sum.pickle')")),
                         [{"what": "'sum.pickle': a sum of bytes is beyond 64 bits", "count": 1}])
        self.assert_error("memory_summary: 'sum.pickle': a sum of bytes is beyond 64 bits",
                          "SELECT * FROM memory_summary('sum.pickle', 'sum.pickle')")
        self.assert_error("memory_peak: keys must be one or more of phase, annotation, function, place, op, top_op and"
                          " node, each once, separated"
                          " by commas, not 'file'; the arguments are snapshot, keys, ranks",
                          "SELECT * FROM memory_peak('sum.pickle', 'file')")

    def test_errors_of_two_sides(self):
        """An error on either side, or of a function that reads traces, names the argument, the finding and the
        remedy.
        """
        self.dump("good/rank0.pickle", self.sized(5))
        self.dump("bad/rank3.pickle", [1])
        self.dump("bad/rank4.pickle", "text")
        write_file("text/rank0.pickle", "a text")
        write_file("trace.json.gz", '\n {"traceEvents": []}')
        write_file("traces/rank0.json", '{"traceEvents": []}')
        write_file("list.json", "[]")
        self.dump("plain/rank0.gz", self.sized(5))
        sqlite = sqlite3.connect("profile.sqlite")
        sqlite.execute("CREATE TABLE t(x)")
        sqlite.commit()
        sqlite.close()
        dump = "name a file of torch.cuda.memory._dump_snapshot()"
        not_one = "is a pickle, but not a snapshot of PyTorch's allocator: it is not a dict"
        for path, message in (
                ("trace.json.gz", f"'trace.json.gz' is JSON, as a trace is, and not a pickle: {dump}"),
                ("list.json", f"'list.json' is JSON, as a trace is, and not a pickle: {dump}"),
                ("profile.sqlite", f"'profile.sqlite' is a SQLite database and not a pickle: {dump}"),
                ("traces", "no snapshot in 'traces': there is no *.pickle, *.pickle.gz or *.pkl file, as"
                           " torch.cuda.memory._dump_snapshot() writes"),
                ("none", "cannot read 'none': No such file or directory"), ("no*", "no file matches 'no*'"),
                ("", "the snapshot is an empty text: name a directory, a file or a pattern"),
                ("text", f"none of the files is a snapshot; the first: 'text/rank0.pickle' is not a pickle: {dump}"),
                ("bad", f"none of the files is a snapshot; the first: 'bad/rank3.pickle' {not_one}"),
                ("bad/rank4.pickle", f"'bad/rank4.pickle' {not_one}"), ("bad/*", f"'bad/rank3.pickle' {not_one}")):
            for function in ("memory_diff", "memory_summary"):
                self.assert_error(f"{function}: {message}", f"SELECT * FROM {function}('good', ?)", path)
                self.assert_error(f"{function}: {message}", f"SELECT * FROM {function}(?, 'good')", path)
        for by in ("phase,file", "", "phase,phase", "phase;op", "all", 1):
            self.assert_error("memory_diff: keys must be one or more of phase, annotation, function, place, op, top_op"
                              " and node, each once, separated"
                              f" by commas, not {by!r}; the arguments are control, test, keys, ranks",
                              "SELECT * FROM memory_diff('good', 'good', ?)", by)
        self.dump("other/rank2.pickle", self.sized(5))
        self.dump("other/rank5.pickle",
                  {"segments": [], "device_traces": [[{"action": "alloc", "addr": 1, "size": -1}]]})
        wrong = "'other/rank5.pickle': event 0 of device 0 has no 'size' that is an integer of 0 or more"
        self.assertEqual(self.rows("SELECT rank, peak_bytes, problems LIKE '%5.pickle%' FROM memory_files('other')"),
                         [(2, 5, 0), (5, None, 1)])
        self.assertEqual(self.rows("SELECT rank, peak_bytes FROM memory_files('other', 2)"), [(2, 5)])
        self.assert_error(f"memory_files: {wrong}", "SELECT * FROM memory_files('other', 5)")
        self.assert_error(f"memory_summary: {wrong}", "SELECT * FROM memory_summary('good', 'other', 'worst')")
        self.assert_error("memory_diff: 'other' has no rank 0 (ranks: 2, 5)",
                          "SELECT * FROM memory_diff('good', 'other', NULL, 0)")
        self.assert_error("memory_summary: 'good' has no rank 2 (ranks: 0)",
                          "SELECT * FROM memory_summary('good', 'other', 2)")
        self.assertEqual([json.loads(row[0])[0]["what"]
                          for row in self.rows("SELECT problems FROM memory_files('bad') ORDER BY rank")],
                         [f"'bad/rank{rank}.pickle' {not_one}" for rank in (3, 4)])
        shutil.copy("plain/rank0.gz", "rank0.pickle.gz")
        for path in ("good/rank0.pickle", "rank0.pickle.gz", "plain"):
            found = "plain/rank0.gz" if path == "plain" else path
            for function in ("trace_diff", "trace_summary", "trace_step_causes"):
                self.assert_error(f"{function}: '{found}' is a Python pickle: export a trace as JSON, with"
                                  f" export_chrome_trace(); a snapshot of"
                                  " torch.cuda.memory is for memory_summary() and memory_diff()",
                                  f"SELECT * FROM {function}(?, 'traces')", path)

    def test_problems(self):
        block = {"address": 1, "size": 512, "requested_size": 7, "state": "active_allocated"}
        segment = {"device": 0, "address": 1, "total_size": 1024, "blocks": [block, {**block}]}
        events = [{"action": "alloc", "addr": a, "size": 5} for a in (1, 1, 2)]
        self.dump("x.pickle", {"segments": [segment], "device_traces": [events]})
        self.assertEqual({p["what"]: p["count"]
                          for p in json.loads(self.value("SELECT problems FROM memory_files('x.pickle')"))},
                         {"alloc at an address that is in use": 1, "block of another size than its alloc": 1,
                          "allocation that is open at the end without a block": 1, "second block at an address": 1})

    def test_a_gzipped_one_is_the_same(self):
        for name in ("training_128",):
            shutil.copy(corpus("memory", name, "snapshot.pickle"), "rank0.pickle")
            with open("rank0.pickle", "rb") as plain, gzip.open("rank1.pickle.gz", "wb") as packed:
                packed.write(plain.read())
            self.assertEqual(*(self.rows("SELECT phase, op, bytes FROM memory_peak('.', 'phase,op', ?)", rank)
                               for rank in (0, 1)))
