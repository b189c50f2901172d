"""XLA profiles, *.xplane.pb (Y1 to Y6): three real ones against the oracle and against JSON of the same runs, random
ones (generate_xplane.py) against the oracle (oracle_xplane.py), and hostile ones.

    SEED    begins another series of profiles (default 1)
"""
import gzip
import json
import os
import random
import resource
import sqlite3
import time
import unittest
from collections import Counter

import generate_xplane
import oracle
import oracle_serving
import oracle_steps
import oracle_xplane
from generate_xplane import field
from made import InFolder, write
from support import DATA, EXAMPLES, corpus, series, slow

SEED = int(os.environ.get("SEED") or 1)
COLUMNS = "event, rank, device, ph, cat, name, pid, tid, ts_ns, dur_ns, stream, correlation, link"
ROWS = f"SELECT {COLUMNS}, iteration, args FROM trace_events(?) ORDER BY event"
PLAIN = f"SELECT {COLUMNS} FROM trace_events(?) ORDER BY event"
# file, its JSON in the corpus, rows, device rows, links, sums of ns: of the host and of the device
REAL = (("tw003", "conv_minimal_08", 3650, 235, 1911823171, 28137077),
        ("chi-mi300x-013.ord.vultr.cpe.ice.amd.com", "conv_minimal_legacy", 6024, 78, 30816778947, 4475521),
        ("934987a2fc2f", None, 1992, 150, 9774483803, 12133585))


def spelt(value):
    """Args with each number as text, like in XLA's JSON."""
    return {key: item if isinstance(item, str) else str(item) for key, item in value.items()}


class AgainstOracle(InFolder):
    maxDiff = 2000

    def compare(self, path):
        """The rows of a file equal the oracle's, and so do the rows of the JSON that the oracle makes of it."""
        data = oracle_xplane.read_bytes(path)
        document = oracle_xplane.as_document(data)
        rows = oracle_xplane.read_trace(path).rows
        expected = [tuple(getattr(row, column) for column in f"{COLUMNS}, iteration".split(", ")) for row in rows]
        found = self.rows(ROWS, path)
        for row, wanted in zip(found, expected):
            self.assertEqual(row[:-1], wanted)
        self.assertEqual(len(found), len(expected))
        for row in found:
            args = document["traceEvents"][row[0]]["args"] or None
            self.assertEqual(row[-1] and json.loads(row[-1]), args, row)
        as_json = write("as.json", oracle_xplane.as_json(document))
        self.assertEqual(self.rows(PLAIN, as_json), [row[:-2] for row in found])
        return found


class Real(AgainstOracle):
    """Recordings of JAX on MI300X and MI355X."""

    def test_every_event(self):
        for name, _, count, work, of_host, of_device in REAL:
            path = corpus("jax", name + ".xplane.pb")
            with self.subTest(name):
                self.assertEqual(len(self.compare(path)), count)
                self.assertEqual(self.rows("SELECT sum(dur_ns), count(link) FROM trace_events(?) WHERE device = 'GPU'",
                                           path), [(of_device, work)])
                self.assertEqual(self.value("SELECT sum(dur_ns) FROM trace_events(?) WHERE device = 'CPU'", path),
                                 of_host)
                self.assertEqual(self.value("SELECT problems FROM trace_files(?)", path), "[]")
                self.assertEqual(self.value("SELECT value FROM trace_metadata(?) WHERE key = 'hostname'", path), name)

    def test_events_of_the_json(self):
        """Events equal the JSON's, where times are the profile's without the start, and args are texts."""
        for name, json_name, count, *_ in REAL[:2]:
            path, other = corpus("jax", name + ".xplane.pb"), corpus("jax", json_name + ".trace.json.gz")
            columns = "name, device, ts_ns - start_ns, dur_ns, pid, tid, stream, correlation"
            of = "FROM trace_events(?1), (SELECT start_ns FROM trace_files(?1)) ORDER BY 1, 3, 4, 5, 6, 8"
            found, expected = (self.rows(f"SELECT {columns} {of}", each) for each in (path, other))
            with self.subTest(name):
                self.assertEqual(len(found), count)
                self.assertEqual(found, expected)
                links = ("SELECT a.name, a.ts - b.ts, b.name FROM trace_events(?1) AS a JOIN trace_events(?1) AS b"
                         " ON b.event = a.link WHERE a.device = 'GPU' ORDER BY 1, 2, 3")
                self.assertEqual(self.rows(links, path), self.rows(links, other))
                args = [sorted(json.dumps(spelt(json.loads(args)), sort_keys=True) for args, in self.rows(
                    "SELECT args FROM trace_events(?) WHERE device = 'GPU'", each)) for each in (path, other)]
                self.assertEqual(*args)

    def test_diff_with_the_json(self):
        """A diff of the profile with the JSON is empty."""
        path, other = corpus("jax", "tw003.xplane.pb"), corpus("jax", "conv_minimal_08.trace.json.gz")
        self.assertEqual(self.rows("SELECT name FROM trace_diff(?, ?) WHERE diff_counts <> 0 OR diff_duration <> 0",
                                   path, other), [])

    def test_cut(self):
        """Y5: complete planes of a cut file stay, and a diff reports where the file ends."""
        for name, *_ in REAL:
            with open(corpus("jax", name + ".xplane.pb"), "rb") as file:
                data = file.read()
            for part in (0.3, 0.9, 0.999):
                path = write("cut.xplane.pb", data[:int(len(data) * part)])
                with self.subTest(name, part=part):
                    self.compare(path)
                    with self.assertRaisesRegex(sqlite3.Error, "the file ends within a field that begins at byte"):
                        self.rows("SELECT * FROM trace_diff(?1, ?1)", path)


class Recorded(AgainstOracle):
    """A training loop of JAX 0.11 on an H200 within jax.profiler.StepTraceAnnotation; test sorts in the forward pass.
    tests/data/jax has XLA's JSON of the same profiles.
    """
    SIDES = [os.path.join(EXAMPLES, "jax", side) for side in ("control", "test")]
    JSON = [os.path.join(DATA, "jax", f"{side}.trace.json.gz") for side in ("control", "test")]

    def test_every_event(self):
        for side, count in zip(self.SIDES, (527, 560)):
            self.assertEqual(len(self.compare(os.path.join(side, "vm.xplane.pb.gz"))), count)
            self.assertEqual(self.value("SELECT problems FROM trace_files(?)", side), "[]")

    def test_events_of_the_json(self):
        """Events equal the JSON's, which leaves out XLA's internal ones."""
        columns = "SELECT name, device, ts_ns - start_ns, dur_ns, pid, tid, stream, correlation, iteration"
        for side, other in zip(self.SIDES, self.JSON):
            found, expected = (Counter(self.rows(
                f"{columns} FROM trace_events(?1), (SELECT start_ns FROM trace_files(?1))", path))
                for path in (side, other))
            self.assertEqual(expected - found, Counter())
            self.assertEqual({row[0] for row in found - expected}, {"MemoryAllocation", "MemoryDeallocation"})

    def test_steps(self):
        for path in self.SIDES + self.JSON:
            self.assertEqual(self.rows("SELECT iteration, name FROM trace_steps(?)", path),
                             [(i, "train") for i in range(6)])

    def test_where_the_time_goes(self):
        """A17 and T11: every instant of a step is attributed equally, at every level, for both files."""
        for path, read in ((os.path.join(self.SIDES[1], "vm.xplane.pb.gz"), oracle_xplane.read_trace),
                           (self.JSON[0], oracle.read_trace)):
            [file] = read(path).files
            expected = oracle_steps.attribute(file, "device", {3}, oracle_serving.Replayed(file))
            for level in oracle_steps.LEVELS:
                found = Counter()
                for iteration, class_, name, time in self.rows(
                        "SELECT iteration, class, name, time FROM trace_step_time(?, NULL, 3, ?)", path, level):
                    found[iteration, class_, name] += round(time * 1000)
                self.assertEqual(found, expected[level], (path, level))

    def test_what_is_slower(self):
        """The answers equal the JSON's. Sorting takes 0.44 ms per step. With all causes undone, a step of test is as
        long as one of control (E4.6).
        """
        for query in ("SELECT * FROM trace_step_diff(?, ?)", "SELECT * FROM trace_work_diff(?, ?)",
                      "SELECT * FROM trace_step_causes(?, ?)",
                      "SELECT * FROM trace_diff_by(?, ?, 'op,top_op,module') WHERE device_type = 'GPU'"):
            self.assertEqual(self.rows(query, *self.SIDES), self.rows(query, *self.JSON))
        self.assertEqual(self.rows("SELECT class, name, diff_time FROM trace_step_diff(?, ?) LIMIT 1", *self.SIDES),
                         [("compute", "sort", 441.04275)])
        for sides in (self.SIDES, self.JSON):
            undone = self.value("SELECT min(cumulative) FROM trace_undo(?, ?)", *sides)
            control = self.value("SELECT sum(time) / 4 FROM trace_step_time(?)", sides[0])
            self.assertLess(abs(undone / control - 1), 0.02)


class Random(AgainstOracle):
    def test_profiles(self):
        rows = 0
        for seed in range(SEED * 10_000, SEED * 10_000 + series(40, 1000)):
            rng = random.Random(seed)
            data = generate_xplane.generate(rng, tidy=rng.random() < 0.2)
            path = write(rng.choice(("x.xplane.pb", "host.pb", "x.xplane.pb.gz")), data)
            with self.subTest(seed=seed):
                rows += len(self.compare(path))
        self.assertGreater(rows, series(1000, 20000))

    def test_cut_anywhere(self):
        for seed in range(SEED, SEED + series(2, 20)):
            data = generate_xplane.generate(random.Random(seed))
            first = data.index(b"/host:metadata") + len("/host:metadata")
            for end in range(first, len(data), series(97, 7)):
                path = write("cut.xplane.pb", data[:end])
                with self.subTest(seed=seed, end=end):
                    self.compare(path)


class Rules(InFolder):
    def made(self, *planes, name="x.xplane.pb", more=b""):
        return write(name, b"".join(field(1, list(plane)) for plane in planes) + more)

    def plane(self, name, *events, line="Stream #1", names=("a", "b", "c"), number=0):
        return [field(1, number), field(2, name), field(3, [field(1, 5), field(2, line), field(3, 100), *events]),
                *(field(4, [field(1, i), field(2, [field(2, each)])]) for i, each in enumerate(names, 1))]

    def problems(self, path):
        return {problem["what"]: problem["count"]
                for problem in json.loads(self.value("SELECT problems FROM trace_files(?)", path))}

    def event(self, name, offset, duration, *more):
        return field(4, [field(1, name), field(2, offset), field(3, duration), *more])

    def test_planes(self):
        """Y2: planes are GPUs, otherwise TPUs, otherwise others; the host is first."""
        event = self.event(1, 0, 1000)
        host, gpu, tpu, custom = (self.plane(name, event, names=(name,)) for name in (
            "/host:CPU", "/device:GPU:0", "/device:TPU:0", "/device:CUSTOM:x"))
        other = self.plane("/host:metadata", event, names=("metadata",))
        for planes, names in (((tpu, custom, gpu, host), ["/host:CPU", "/device:GPU:0"]),
                              ((custom, other, tpu, host), ["/host:CPU", "/device:TPU:0"]),
                              ((other, custom), ["/device:CUSTOM:x"]), ((other, host), ["/host:CPU"]), ((other,), []),
                              ((host, host), ["/host:CPU", "/host:CPU"])):
            path = self.made(*planes)
            with self.subTest(names):
                self.assertEqual(self.rows("SELECT name FROM trace_events(?) ORDER BY event", path),
                                 [(name,) for name in names])

    def test_times(self):
        """Y3: times are rounded to ns, half to even, from ns of the line and ps of the event."""
        events = [self.event(1, offset, duration) for offset, duration in (
            (0, 0), (499, 500), (500, 501), (1500, 1500), (2500, 2500), (-1500, 7), (10**15, 10**15))]
        path = self.made(self.plane("/host:CPU", *events))
        self.assertEqual(self.rows("SELECT ts_ns - 100, dur_ns FROM trace_events(?) ORDER BY event", path),
                         [(0, 0), (0, 0), (0, 1), (2, 2), (2, 2), (-2, 0), (10**12, 10**12)])

    def test_times_that_are_none(self):
        line = field(3, [field(1, 5), field(3, 2**63 - 1), self.event(1, 2**63 - 1, 5), self.event(1, 0, -5000),
                         self.event(1, 0, 5000)])
        path = self.made([field(2, "/host:CPU"), line, field(4, [field(1, 1), field(2, [field(2, "a")])])])
        self.assertEqual(self.rows("SELECT ts_ns, dur_ns FROM trace_events(?) ORDER BY event", path),
                         [(None, 0), (2**63 - 1, None), (2**63 - 1, None)])
        self.assertEqual(self.problems(path), {"ts or dur is not a time": 1, "negative dur": 1,
                                               "ts + dur is beyond 64 bits": 1})

    def test_broken_events(self):
        """Y4: an event that is not protobuf is skipped and counted, and later ones are there."""
        for bad in (b"\x08" + b"\x80" * 10 + b"\x01", b"\x12\x7f", b"\x07", b"\x00\x01", b"\x0b", b"\x0c", b"\x09\0",
                    b"\x0b" * 65 + b"\x0c" * 65, b"\x08"):
            path = self.made(self.plane("/host:CPU", self.event(1, 0, 1000), field(4, bad), self.event(2, 0, 1000)))
            with self.subTest(bad):
                self.assertEqual(self.rows("SELECT event, name FROM trace_events(?) ORDER BY event", path),
                                 [(0, "a"), (2, "b")])
                self.assertEqual(self.problems(path), {"event skipped: not protobuf": 1})

    def test_wrong_types_are_unknown_fields(self):
        event = field(4, [field(1, "a"), field(2, 1.0), field(3, "x"), field(4, 5), field(1, 2),
                          field(77, [field(1, 1)])])
        path = self.made(self.plane("/host:CPU", event), [field(1, "x"), field(2, 7), field(3, 7), field(4, 7)],
                         more=field(4, 5) + field(99, "x"))
        self.assertEqual(self.rows("SELECT name, ts_ns, dur_ns FROM trace_events(?)", path), [("b", 100, 0)])

    def test_counts_are_no_rows(self):
        """Y3: an event with num_occurrences stands for many, and is not a row."""
        count = field(4, [field(1, 1), field(5, 7), field(3, 9)])
        path = self.made(self.plane("/host:CPU", count, self.event(2, 0, 1)))
        self.assertEqual(self.rows("SELECT event, name FROM trace_events(?)", path), [(1, "b")])
        self.assertEqual(self.rows("SELECT rows, events FROM trace_files(?)", path), [(1, 2)])

    def test_unknown_names(self):
        path = self.made(self.plane("/host:CPU", self.event(9, 0, 1000), self.event(-1, 0, 1000)))
        self.assertEqual(self.rows("SELECT name, dur_ns FROM trace_events(?)", path), 2 * [(None, 1)])
        self.assertEqual(self.problems(path), {"name is not text": 2})

    def test_what_is_no_profile(self):
        for name, data in (("a.xplane.pb", b"\n\x05hello"), ("b.xplane.pb", b""), ("c.xplane.pb", b"\n" * 100),
                           ("d.xplane.pb", b"{}"), ("e.xplane.pb", field(1, [field(2, "/hos:CPU")])),
                           ("f.xplane.pb", field(1, [field(2, "/host:CPU")])[:3])):
            write("of_files/" + name, data)
            with self.subTest(name), self.assertRaisesRegex(sqlite3.Error, "trace_events: 'of_files/[a-f]"):
                self.rows("SELECT * FROM trace_events(?)", "of_files/" + name)
        self.made(self.plane("/host:CPU", self.event(1, 0, 1000)), name="of_files/g.xplane.pb")
        self.assertEqual(self.rows("SELECT name FROM trace_events('of_files')"), [("a",)])

    def test_json_beside_the_profile(self):
        """Y1: in a directory with both, the profile is read and the JSON made of it is not."""
        path = self.made(self.plane("/host:CPU", self.event(1, 0, 1000)), name="run/host1.xplane.pb")
        for name in ("host1", "host2"):
            write(f"run/{name}.trace.json.gz", oracle_xplane.as_json(oracle_xplane.as_document(
                oracle_xplane.read_bytes(path))))
        self.assertEqual([os.path.basename(file) for file, in self.rows("SELECT file FROM trace_files('run')")],
                         ["host1.xplane.pb", "host2.trace.json.gz"])
        self.assertEqual(len(self.rows("SELECT * FROM trace_files('run/host1.trace.json.gz')")), 1)

    def test_jobs_by_the_time_of_day(self):
        """Y5: jobs are aligned by the time of day."""
        def environment(start):
            return [field(2, "Task Environment"), field(6, [field(1, 4), field(3, start)]),
                    field(5, [field(1, 4), field(2, [field(2, "profile_start_time")])])]
        for rank, start in ((0, 10**18), (1, 10**18 + 50)):
            self.made(self.plane("/host:CPU", self.event(1, 0, 1000)), environment(start),
                      name=f"j/rank{rank}.xplane.pb")
        self.assertEqual(self.rows("SELECT rank, ts_ns FROM trace_events('j') ORDER BY rank"),
                         [(0, 10**18 + 100), (1, 10**18 + 150)])


class Hostile(InFolder):
    """Any bytes give rows or one error, in bounded time and memory."""

    def read(self, path):
        for sql in ("SELECT count(*), sum(dur_ns), sum(length(args)) FROM trace_events(?)",
                    "SELECT * FROM trace_diff(?1, ?1)", "SELECT * FROM trace_files(?)"):
            try:
                self.rows(sql, path)
            except sqlite3.Error as error:
                self.assertRegex(str(error), "^trace_(events|diff|files): ")

    def test_changed_bytes(self):
        for seed in range(SEED * 1000, SEED * 1000 + series(150, 20_000)):
            rng = random.Random(seed)
            data = bytearray(generate_xplane.generate(random.Random(seed % 10)))
            for _ in range(rng.choice((1, 1, 2, 10))):
                at = rng.randrange(len(data))
                how = rng.randrange(4)
                if how == 0:
                    data[at] = rng.choice((0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)))
                elif how == 1:
                    del data[at:at + rng.choice((1, 2, 100))]
                elif how == 2:
                    data[at:at] = data[rng.randrange(len(data)):][:rng.choice((1, 5, 300))]
                else:
                    data[at:at] = b"\xff" * rng.choice((1, 10, 11))
            with self.subTest(seed=seed):
                self.read(write("x.xplane.pb", bytes(data)))

    def bounded(self, path, megabytes=400, seconds=5):
        before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        self.read(path)
        self.assertLess(time.process_time() - start, seconds * float(os.environ.get("SLACK") or 1))
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, megabytes * 1024)

    def test_bombs(self):
        """Many tiny lines, planes and names, one long text that many stats name, and gzip of all that, stay within the
        limits.
        """
        stat = field(5, [field(1, 1), field(2, [field(2, "k" * 10**6)])])
        many = b"".join(field(5, [field(1, i), field(2, [field(2, f"k{i}")])]) for i in range(2, 2000))
        stats = b"".join(field(4, [field(1, i), field(7, 1)]) for i in range(2, 2000))
        event = field(4, [field(1, 1), field(2, 1), stats])
        named = [field(2, "/host:CPU"), field(3, [field(3, 1), *3 * [event]]), stat, many]
        long = field(3, [field(4, b"\x0a" + b"\0" * 17 * 2**20)])
        for name, data in (("lines", field(1, [field(2, "/host:CPU"), field(3, b"") * 10**6])),
                           ("planes", field(1, [field(2, "/host:CPU")]) + field(1, b"") * 10**6),
                           ("names", field(1, [field(2, "/host:CPU"), field(4, b"") * 10**6, field(5, b"") * 10**6])),
                           ("texts", field(1, named)),
                           ("long", field(1, [field(2, "/host:CPU"), long])),
                           ("nested", field(1, [field(2, "/host:CPU"), b"\x1b" * 10**6]))):
            with self.subTest(name):
                self.bounded(write(name + ".xplane.pb", data))

    def test_stats_of_a_name_are_read_once(self):
        """Stats of a name are read once, not again for each of 20,000 events, which would be 400 million stats. The
        last value of a key counts, in the place of the first.
        """
        count = 20_000
        stats = [field(5, [field(1, 1 + i % 2), field(4, i)]) for i in range(count)]
        names = [field(5, [field(1, i), field(2, [field(2, name)])]) for i, name in ((1, "a"), (2, "b"), (3, "c"))]
        own = field(4, [field(1, 2), field(4, 7)]) + field(4, [field(1, 3), field(4, 8)])
        line = field(3, [field(4, [field(1, 1), field(2, 1000 * i), own * (i == 5)]) for i in range(count)])
        path = write("x.xplane.pb", field(1, [field(2, "/host:CPU"), line, *names,
                                              field(4, [field(1, 1), field(2, [field(2, "k"), *stats])])]))
        start = time.process_time()
        self.assertEqual(self.rows("SELECT args, count(*) FROM trace_events(?) GROUP BY args ORDER BY 2", path),
                         [(f'{{"a":{count - 2},"b":7,"c":8}}', 1), (f'{{"a":{count - 2},"b":{count - 1}}}', count - 1)])
        self.assertLess(time.process_time() - start, 3 * float(os.environ.get("SLACK") or 1))

    @slow
    def test_more_names_than_memory(self):
        """300 MB of names, packed into less than 1 MB, count as damage."""
        entry = field(4, [field(1, 1), field(2, [field(2, b"n" * 10**6)])])
        plane = [field(2, "/host:CPU"), *300 * [entry]]
        path = write("x.xplane.pb", gzip.compress(field(1, plane), 1))
        with self.assertRaisesRegex(sqlite3.Error, "more than 256 MiB of names"):
            self.rows("SELECT * FROM trace_diff(?1, ?1)", path)
        self.assertEqual(self.value("SELECT count(*) FROM trace_events(?)", path), 0)


if __name__ == "__main__":
    unittest.main()
