"""The gain of a fix, against an independent implementation of E1 to E9 (oracle_gains.py, oracle_undo.py), on random
jobs and on traces that do not ship. Without changes, every time equals the recorded one. With changes, every step has
the oracle's length to the ns; gains and undone parts are equal, too.
"""
import glob
import json
import os
import random
import shutil
from collections import Counter

import oracle
import oracle_gains
import oracle_undo
import traces
from generate_gains import write_gains, write_gains_pair
from generate_job import write_job
from generate_waits import write_pair
from made import InFolder, document, event, kernel, launch, step, write
from oracle_moved import drop_labels, late_rows, plain_sides, settled
from support import DATA, EXAMPLES, corpus, found_below, series, slow, slowest

LENGTHS = "SELECT iteration, recorded_ns, simulated_ns, dropped FROM trace_what_if(?, ?, 'all', 'all')"
GAINS = """SELECT what, class, name, rank,
    CAST(round(time * 1e3 * (SELECT count(*) FROM trace_what_if(?1, '[]', 'all', ?2))) AS INTEGER),
    path_ns, gain_half_ns, gain_none_ns FROM trace_gains(?1, 'all', ?2, ?3)"""
LEVELS = ("op", "top_op", "module", "annotation", "kernel")
# communication by name that also has other parts (Q9.2)
NETS = "SELECT count(*) FROM trace_step_causes(?, ?) WHERE kind = 'communication' AND names > 1"
UNDONE = """SELECT kind, class, area, name, rank, gain_alone_ns, cumulative_ns,
    CAST(round(gain_half * 1e3 * (SELECT count(*) FROM trace_what_if(?2, '[]'))) AS INTEGER) FROM trace_undo(?1, ?2)
    WHERE kind IS NOT NULL"""
CAUSES = "SELECT kind, class, area, name, rank, replaced, diff_time FROM trace_step_causes(?, ?, ?, ?)"
PARTS = """SELECT step_count, class, annotation, area, family, top_op, top_name, op, kernel, time_ns
    FROM trace_step_path(?, ?, NULL, 'device', 'trace') WHERE time_ns > 0"""
FACTORS, SET, ADD = (0, 0.3, 0.5, 1.7, 2), (0, 5, 12.5), (-10, -3.3, 5, 40)


def write_traces(folder, seed):
    rng = random.Random(seed)
    traces.save(traces.generate(rng, ranks=rng.choice((1, 2))), folder, traces.Style(random.Random(0)))


def random_change(rng, lag):
    """A change that selects the lag, possibly with others."""
    how = rng.choice(("factor", "factor", "set_us", "add_us", "factor" if lag.what == "launch" else "remove"))
    amounts = {"factor": rng.choice(FACTORS), "set_us": rng.choice(SET), "add_us": rng.choice(ADD), "remove": True}
    change = {"what": lag.what, how: amounts[how]}
    if rng.random() < 0.3:
        change["class"] = lag.class_
    for level in oracle_gains.LEVELS:
        name = lag.named(level)
        if name and rng.random() < 0.4:
            change[level] = name if rng.random() < 0.7 else f"{name[:3]}%"
    if rng.random() < 0.2:
        change["rank"] = lag.file.rank
    if rng.random() < 0.2 and lag.step is not None:
        change["step"] = lag.step
    return change


class Random(InFolder):
    COUNT = int(os.environ.get("RANDOM_TRACES") or series(8, 400))

    def check(self, model, changes):
        """Returns whether a step changes."""
        changed = oracle_gains.Changed(model)
        for change in changes:
            self.assertGreater(changed.change(change), 0)
        recorded = model.lengths(model.at)
        expected = [(iteration, length, now, model.dropped)
                    for (_, iteration, length), (_, _, now) in zip(recorded, changed.lengths())]
        found = self.rows(LENGTHS, "job", json.dumps(changes))
        self.assertEqual(sorted(found, key=repr), sorted(expected, key=repr), changes)
        return any(length != now for _, length, now, _ in expected)

    def check_gains(self, trace, model, seed):
        """Compares all steps or, every other time, one step that all ranks have."""
        numbers = {number for number, in self.rows("SELECT iteration FROM trace_what_if('job', '[]', 'all', 'all')")}
        common = set.intersection(*({step.iteration for step in file.steps} for file in trace.files))
        wanted = sorted(common)[seed // 2 % len(common)] if seed % 2 and common else "all"
        level = LEVELS[seed % len(LEVELS)]
        expected = oracle_undo.gains(model, level, numbers if wanted == "all" else {wanted})
        found = {tuple(key): row for *key, time, path, half, none in self.rows(GAINS, "job", wanted, level)
                 for row in [[time, path, half, none]]}
        rest = found.pop((None,) * 4)
        self.assertEqual(rest[1], expected.pop(None)[1])
        self.assertEqual(found, expected)

    def series(self, write_made, enough=()):
        """Traces of all seeds, with three changes each."""
        seen = Counter()
        for seed in range(self.COUNT):
            shutil.rmtree("job", ignore_errors=True)
            os.mkdir("job")
            write_made("job", seed)
            with self.subTest(seed=seed):
                rng = random.Random(seed)
                trace = oracle.read_trace("job")
                [model] = oracle_gains.models([trace])
                model.check()
                self.check(model, [])
                self.check_gains(trace, model, seed)
                lags = oracle_gains.Changed(model).lags
                for count in (1, 1, 3) if lags else ():
                    seen["moved"] += self.check(model, [random_change(rng, rng.choice(lags)) for _ in range(count)])
                for kind in {edge.kind for edges in model.into for edge in edges}:
                    seen[kind] += 1
                seen["dropped"] += model.dropped > 0
        for what in ("moved", *enough):
            self.assertGreater(seen[what], self.COUNT // 20, what)

    def test_streams_that_wait_and_ranks_that_meet(self):
        self.series(write_gains, ("host", "device", "transfer", "launch", "stream", "sync", "thread"))

    def test_ranks_that_meet(self):
        self.series(lambda folder, seed: write_job(folder, seed, most=4), ("transfer", "dropped"))

    def test_ranks_that_meet_without_device_work(self):
        self.series(lambda folder, seed: write_job(folder, seed, most=4, on_host=True), ("transfer", "thread"))

    def test_calls_that_wait(self):
        self.series(lambda folder, seed: write_pair(folder, "other", seed), ("sync",))

    def test_traces_of_all_kinds(self):
        self.series(write_traces, ("sync", "transfer"))


class Undone(InFolder):
    """Causes are undone alone and one after the other."""
    COUNT = int(os.environ.get("RANDOM_TRACES") or series(16, 400))

    def family(self, area, family, families):
        """L1.3"""
        star = (area or "").rstrip("0123456789") + "*"
        return star if area and star in families else family

    def read(self, *sides):
        """(causes, oracle_moved.Settled, {area: family}, models, chosen steps) of a pair."""
        several = all(self.value("SELECT count(DISTINCT rank) > 1 FROM trace_files(?)", side) for side in sides)
        ranks = "job" if several else None
        chosen = [{number for number, in self.rows("SELECT DISTINCT iteration FROM trace_what_if(?, '[]')", side)}
                  for side in sides]
        plain = plain_sides(*sides)
        read = [oracle.read_trace(side) for side in plain]
        rows = [(number, *row) for number, side in enumerate(plain) for row in self.rows(PARTS, side, ranks)]
        for number, trace in enumerate(read):
            late = oracle_undo.late_on_path(trace, chosen[number])
            rows += list(late_rows(number, late, rows))
        families = {row[5] for row in rows}
        family_of = {area: self.family(area, family, families) for _, _, class_, _, area, family, *_ in rows
                     if class_ in ("compute", "comm", "memory") or class_.startswith("idle_")}
        steps = self.value("SELECT count(*) FROM trace_what_if(?, '[]')", sides[1])
        causes = [oracle_undo.Cause(kind, class_, {area, family_of.get(area, area)}, name, rank, replaced,
                                    diff * 1000 * steps)
                  for kind, class_, area, name, rank, replaced, diff in self.rows(CAUSES, *sides, ranks, ranks)]
        models = oracle_gains.models([oracle.read_trace(side) for side in sides])
        for model, trace in zip(models, read):
            for rank in model.ties.ranks.values():
                for attributed in rank.attributed.values():
                    drop_labels(attributed, trace.files)
        return causes, settled(rows), family_of, models, chosen

    def check(self, *sides):
        """[(kind, gain)], or None if the causes do not identify their events."""
        causes, moved, family_of, models, chosen = self.read(*sides)
        if not oracle_undo.is_told(causes) or self.value(NETS, *sides):
            return None
        reading = oracle_undo.Undone(*models, chosen, causes, moved, family_of)
        for i, cause in enumerate(causes):
            if cause.kind not in ("synchronized", "moved"):
                self.assertAlmostEqual(float(reading.diffs[i]) * len(chosen[1]), cause.diff, delta=0.01)
        self.untold += len(reading.untold)
        undone = reading.rows()
        found = self.rows(UNDONE, *sides)
        self.assertEqual([row[5:] for row in found], [(gain, after, half) for _, gain, after, half in undone])
        self.assertEqual([(row[0], row[1], row[3], row[4]) for row in found],
                         [(causes[i].kind, causes[i].class_, causes[i].name, causes[i].rank) for i, *_ in undone])
        self.check_hiders(reading, undone, sides)
        return [(causes[i].kind, gain) for i, gain, *_ in undone]

    def check_hiders(self, reading, undone, sides):
        """E9.9"""
        rows = self.rows("SELECT diff_time, hidden_by, hidden_rank FROM trace_undo(?, ?) WHERE kind IS NOT NULL",
                         *sides)
        steps = self.value("SELECT count(*) FROM trace_what_if(?, '[]')", sides[1])
        for (i, gain, *_), (diff, name, rank) in zip(undone, rows):
            missing = round(diff * 1000 * steps) - (gain or 0)
            if gain is None or diff <= 0 or 10 * gain >= 9 * diff * 1000 * steps:
                self.assertEqual((name, rank), (None, None))
                continue
            expected = reading.hider(i, missing)
            self.hiders[expected is not False, name is not None] += 1
            if expected is not False:
                several = len(reading.test.ties.ranks) > 1
                name_, rank_ = expected or (None, None)
                self.assertEqual((name, rank), (name_, rank_ if several else None), (sides, i, missing))

    def setUp(self):
        super().setUp()
        self.hiders, self.untold = Counter(), 0

    def series(self, enough, **how):
        seen = Counter()
        for seed in range(self.COUNT):
            shutil.rmtree("pair", ignore_errors=True)
            write_gains_pair("pair/a", "pair/b", seed, **how)
            with self.subTest(seed=seed):
                rows = self.check("pair/a", "pair/b")
                seen["told"] += rows is not None
                for kind, gain in rows or ():
                    seen[kind] += bool(gain)
        self.assertGreater(seen["told"], self.COUNT // 3)
        self.assertGreaterEqual(self.hiders[True, True], self.COUNT // 40)
        self.assertGreater(self.untold, self.COUNT // 40)
        for kind in enough:
            self.assertGreater(seen[kind], self.COUNT // 40, kind)

    def test_an_area_in_which_the_host_is_late(self):
        """In an annotation, the host runs operators that control lacks, and others for longer; launches belong to
        it.
        """
        for side, optimizer in (("a", [("fused", 20), ("add", 9)]), ("b", [("fused", 30), ("add", 16), *(
                (name, 20) for name in ("mul", "div", "sqrt", "lerp", "norm")), ("add", 16)])):
            events, at, number = [], 0, 0
            for iteration in range(4):
                first = at
                for annotation, operators in (("forward", [("mm", 20)] * 4 + [("add", 9)]), ("opt", optimizer)):
                    begin = at
                    for name, us in operators:
                        number += 1
                        events += [event(name, at, us + 2), launch(at + us, 2, number),
                                   kernel(f"k_{name}", at + us + 2, 1, number)]
                        at += us + 2
                    events.append(event(annotation, begin, at - begin, cat="user_annotation"))
                events += [event("cudaDeviceSynchronize", at, 4, cat="cuda_runtime"),
                           step(iteration, first, at + 5 - first)]
                at += 6
            write(f"pair/{side}/a.json", document(*events))
        self.assertIn(("host late", 266000), self.check("pair/a", "pair/b"))

    def test_slower_pairs(self):
        self.series(("changed", "host late", "queued", "communication"))

    def test_pairs_of_other_programs(self):
        self.series(("changed", "host late", "queued", "communication"), other=True)

    def test_what_communication_hides(self):
        """L9: an all-reduce runs from 25 to 125. In test the host sleeps until 95 instead of 35, then launches a kernel
        that ends at 180. Undone, the host is as late as in control, and the step ends with the all-reduce.
        """
        for side, sleep in (("pair/a", 0), ("pair/b", 60)):
            write(f"{side}/t.json", document(
                step(0, 0, 110), event("aten::mm", 10, 8), launch(12, 2, 1), kernel("gemm", 15, 10, 1),
                event("nccl:all_reduce", 18, 6), launch(20, 2, 2), kernel("ncclAllReduce", 25, 100, 2, 20),
                event("aten::sort", 30, 5 + sleep), event("aten::add", 35 + sleep, 8), launch(37 + sleep, 2, 3),
                kernel("add", 40 + sleep, 80, 3)))
        gains = self.check("pair/a", "pair/b")
        self.assertEqual(gains[0], ("host late", 55_000))

    @slow
    def test_examples(self):
        sides = [os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test")]
        jax = [os.path.join(DATA, "jax", f"{side}.trace.json.gz") for side in ("control", "test")]
        self.assertGreater(sum(abs(gain or 0) for _, gain in self.check(*jax)), 900_000)
        for pair in (sides, sides[::-1]):
            self.assertGreater(sum(abs(gain or 0) for _, gain in self.check(*pair)), 900_000)


class Cases(InFolder):
    """Single rules, on examples made by hand."""

    def simulated(self, changes, *events):
        write("trace.json", document(*events))
        return self.value("SELECT simulated_ns / 1e3 FROM trace_what_if('trace.json', ?, 'all', 'all')",
                          json.dumps(changes))

    def test_a_thread_that_waits_for_gloo(self):
        """E7.4, E7.5 and E8.1: the waiting thread sees a transfer of 390 us after the start at 120."""
        trace = (step(1, 0, 600), event("c10d::allreduce_", 100, 10),
                 event("gloo:all_reduce", 120, 380, cat="user_annotation", tid=2), event("after", 510, 20))
        for change, expected in (({"factor": 0.5}, 405), ({"set_us": 100}, 310), ({"remove": True}, 210),
                                 ({"add_us": 7}, 607)):
            with self.subTest(change):
                self.assertEqual(self.simulated([{"what": "transfer", **change}], *trace), expected)
        self.assertEqual(self.simulated([{"what": "host", "op": "c10d%", "add_us": 5}], *trace), 605)  # later start

    def test_what_a_stream_had_not_ended(self):
        """E6.3: b, launched after a, does not count as ended while a runs, so nothing waits for it."""
        def trace(end_of_a):
            return (step(1, 0, 20), launch(2, 1, 1), kernel("a", 10, end_of_a - 10, 1), launch(4, 1, 2),
                    kernel("b", 20, 10, 2), event("cudaStreamWaitEvent", 6, 1, cat="cuda_runtime"), launch(8, 1, 3),
                    kernel("x", 50, 100, 3, 20))
        longer = [{"what": "device", "name": "b", "add_us": 40}]
        self.assertEqual(self.simulated(longer, *trace(90)), 150)
        self.assertGreater(self.simulated(longer, *trace(15)), 170)

    def test_a_clock_that_stands_still(self):
        """E1.5: rank 1 ends the second collective 40 us late, so its clock seems 40 us ahead from 980 on. Later starts
        collapse to one time by the reference clock and keep their order.
        """
        for rank, late in enumerate((0, 40)):
            events = [step(1, 0, 500), launch(10, 1, 1), kernel("nccl_AllReduce", 20, 960, 1, 20),
                      step(2, 981, 500), launch(982, 1, 2), kernel("small", 985, 5, 2), launch(992, 1, 3),
                      kernel("nccl_AllReduce", 1000, 960 + late, 3, 20)]
            write(f"job/rank{rank}.json", document(*events, distributedInfo={"rank": rank}))
        self.assertEqual([row[1:] for row in self.rows(LENGTHS, "job", "[]")], [(980_000, 980_000, 0)] * 2)
        longer = [{"what": "device", "name": "small", "rank": 1, "add_us": 3}]
        self.assertEqual([row[2] for row in self.rows(LENGTHS, "job", json.dumps(longer))], [980_000] * 2)


class Recorded(InFolder):
    """Traces as profilers write them, with changes of all device work or of all host time, of a rank or a step."""

    def check(self, path):
        [model] = oracle_gains.models([oracle.read_trace(path)])
        model.check()
        number = next((step.iteration for file in model.files for step in file.steps), None)
        for change in ({"what": "device", "factor": 0.5}, {"what": "host", "factor": 0.5},
                       {"what": "transfer", "factor": 0.1}, {"what": "launch", "add_us": 3},
                       {"what": "device", "remove": True, "rank": model.ties.reference},
                       {"what": "host", "add_us": -5, "step": number}):
            changed = oracle_gains.Changed(model)
            if change.get("step", 0) is None or not changed.change(change):
                continue
            with self.subTest(path=path, change=change):
                self.assertEqual(sorted(self.rows(LENGTHS, path, json.dumps([change])), key=repr),
                                 sorted(((iteration, length, now, model.dropped) for (_, iteration, length), (_, _, now)
                                         in zip(model.lengths(model.at), changed.lengths())), key=repr))

    def test_examples(self):
        self.check(os.path.join(EXAMPLES, "gpu", "test"))
        self.check(os.path.join(DATA, "jax", "test.trace.json.gz"))

    @slow
    def test_more_examples(self):
        for path in (*glob.glob(os.path.join(EXAMPLES, "gloo", "*", "*")), os.path.join(EXAMPLES, "serving", "test"),
                     os.path.join(EXAMPLES, "recorded", "trace.json.gz")):
            self.check(path)

    @slowest
    def test_traces_that_do_not_ship(self):
        for parts in (("kineto", "resnet50_workers_0"), ("kineto", "resnet50_workers_4"), ("param",),
                      ("own", "torch", "tiny", "test"), ("hta", "trace_diff", "control")):
            self.check(corpus(*parts))


@slow
class EveryTime(InFolder):
    """E1 on every available trace: the call checks all times, and fails if one differs from the recorded one."""

    def test_every_trace(self):
        """Single files, and folders of several ranks as jobs."""
        files = jobs = 0
        for path in found_below(corpus(), "**"):
            folder = os.path.isdir(path)
            if not folder and not path.endswith((".json", ".json.gz", ".db", ".sqlite", ".pb")):
                continue
            try:
                ranks = self.value("SELECT count(DISTINCT rank) FROM trace_files(?) WHERE events > 0", path)
            except self.db.OperationalError:  # nothing to read
                continue
            if ranks < (2 if folder else 1):
                continue
            with self.subTest(path=path):
                try:
                    rows = self.rows(LENGTHS, path, "[]")
                except self.db.OperationalError as error:
                    self.assertNotIn("this is an error of tracediff", str(error))
                    continue
                files, jobs = files + (not folder), jobs + folder
                self.assertEqual([recorded for _, recorded, *_ in rows], [simulated for _, _, simulated, _ in rows])
        self.assertGreater(files, 200)
        self.assertGreater(jobs, 10)
