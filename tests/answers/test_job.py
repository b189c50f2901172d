"""The path of a job (Q1 to Q10): trace_job_path, and the ranks 'job' of trace_step_time and trace_step_path. They are
compared with recorded answers (GOLDEN) and with the rules word for word (oracle_job.py) on random jobs, under changes
that must not matter, and on jobs made by hand.
"""
import csv
import glob
import itertools
import json
import os
import random
import re
import shutil
import sqlite3
from collections import Counter, defaultdict
from fractions import Fraction

import oracle
import oracle_job
import test_tree_diff
from generate_job import Clock, Recorder, made_job, write_job, write_ranks
from made import InFolder, document, event, kernel, launch, step, write, write_halves
from support import EXAMPLES, corpus, golden, series
from test_step_time import GAPS, LEVELS

CLOCKS = ("device", "host")
SIDES = ("control", "test")
PARTS = "SELECT iteration, rank, class, name, time_ns FROM trace_step_time(?, 'job', ?, ?, ?)"
SCHEDULE = ("SELECT iteration, rank, ts_ns, dur_ns, waiting_rank, collective, queued"
            " FROM trace_job_path(?, NULL, 'all')"
            " ORDER BY iteration, seq")


class Golden(InFolder):
    """golden/job: ns by iteration, rank, class and name; its gaps have no names."""

    def check(self, name, path, iterations):
        with open(golden("job", f"{name}.csv"), newline="", encoding="utf-8") as lines:
            expected = {(int(row["iteration"]), int(row["rank"]), row["class"],
                         row["name"] or None): int(row["time_ns"])
                        for row in csv.DictReader(lines)}
        found = Counter()
        for iteration, rank, class_, name, time_ns in self.rows(PARTS, path, iterations, "op", "device"):
            found[iteration, rank, class_, None if class_ in GAPS else name] += time_ns
        self.assertEqual(found, expected)

    def test_shipped(self):
        for side in ("control", "test"):
            self.check(f"gpu_{side}", os.path.join(EXAMPLES, "gpu", side), "steady")

    def test_a_real_trace(self):
        self.check("param", corpus("param"), "all")


class Random(InFolder):
    """C and the oracle give the same ns on random jobs."""

    COUNT = int(os.environ.get("RANDOM_TRACES") or series(40, 600))

    def check(self, trace, clock):
        job = oracle_job.Job(trace, clock)
        level = LEVELS[len(job.schedule) % len(LEVELS)]
        rows = self.rows(PARTS, "job", "all", level, clock)
        self.assertEqual({row[:4]: row[4] for row in rows}, job.parts(level, None))
        length = Counter()
        for row in rows:
            length[row[0]] += row[4]
        self.assertEqual(length, {window.iteration: max(0, window.end - window.start)
                                  for window, _ in job.ranks[job.reference].windows})
        return job

    def test_random_jobs(self):
        self.check_jobs(self.COUNT, False, ("hops", "queued", "not matched", "not tied"))

    def test_random_jobs_without_device_work(self):
        self.check_jobs(self.COUNT, True, ("hops", "stays", "not matched", "not tied"))

    def check_jobs(self, count, on_host, enough):
        seen = Counter()
        for seed in range(count):
            shutil.rmtree("job", ignore_errors=True)
            write_job("job", seed, on_host=on_host)
            with self.subTest(seed=seed):
                trace = oracle.read_trace("job")
                self.check(trace, "host")
                job = self.check(trace, "device")
                self.check_schedule(job)
                self.check_paths()
                self.check_collectives(job)
                seen["hops"] += sum(stretch.waiting is not None for stretch in job.schedule)
                seen["queued"] += sum(stretch.queued is not None for stretch in job.schedule)
                seen["stays"] += job.own_starts
                seen["not matched"] += job.not_matched > 0
                seen["not tied"] += len(job.tied) < len(job.ranks)
        for what in enough:
            self.assertGreater(seen[what], count // 20, what)

    def check_schedule(self, job):
        """Compares the rows of trace_job_path, after joining stretches on one rank."""
        found, counts = [], self.rows("SELECT DISTINCT not_matched, not_tied FROM trace_job_path('job', NULL, 'all')")
        for iteration, rank, ts, dur, waiting, collective, queued in self.rows(SCHEDULE, "job"):
            if dur:
                found.append((iteration, rank, ts, ts + dur, waiting, collective, queued))
        expected = []
        for stretch in reversed(job.schedule):
            made = (stretch.window.iteration, stretch.rank, stretch.start, stretch.end, stretch.waiting,
                    stretch.awaited and stretch.awaited.name, stretch.queued and stretch.queued.name)
            last = expected[-1] if expected else None
            if last and last[:2] == made[:2] and last[3] == made[2] and last[4] is None and not (last[6] or made[6]):
                made = (*last[:3], *made[3:])
                expected.pop()
            expected.append(made)
        self.assertEqual(found, expected)
        self.assertEqual(counts, [(job.not_matched, len(job.ranks) - len(job.tied))])

    def check_collectives(self, job):
        """Checks the offsets of trace_job_clocks (Q3), and the times of trace_collectives on one clock (W2 to W4)."""
        steps = {each.step for rank in job.ranks.values() for each in rank.collectives} if len(job.ranks) > 1 else set()
        steps |= {window.iteration for window, _ in job.ranks[job.reference].windows} | {None}
        offsets = {step: job.offsets(step) for step in steps}
        self.assertEqual({row[:2]: row[2]
                          for row in self.rows("SELECT iteration, rank, offset_ns"
                                               " FROM trace_job_clocks('job', NULL, 'all')")},
                         {(step, rank): found.get(rank) for step, found in offsets.items() for rank in job.ranks})
        if self.value("SELECT min(steps) FROM trace_files('job')") > 0:
            self.assertEqual(self.rows("SELECT DISTINCT iteration FROM trace_job_clocks('job')"),
                             self.rows("SELECT DISTINCT iteration FROM trace_step_time('job', 'job')"))
        if self.value("SELECT count(DISTINCT rank) FROM trace_files('job')") > len(job.ranks):
            return  # the others have no steps
        matched = defaultdict(list)
        by_device = any(not each.on_host for rank in job.ranks.values() for each in rank.collectives)
        for number, rank in job.ranks.items():
            seen, busy = Counter(), None
            for each in sorted(rank.collectives, key=lambda each: (each.start, each.end, each.name)):
                matches = each.group and (each.step is not None or not job.stepped)
                if each.on_host == by_device or (each.on_host and not matches):
                    continue
                key = each.step, each.group[0]
                offset = offsets[each.step].get(number, 0)
                covered = max(0, (busy or each.start) - each.start) if each.on_host else 0
                matched[*key, seen[key]].append((number, each.start - offset, each.end - offset, covered))
                busy = max(busy or each.end, each.end)
                seen[key] += 1
        expected = {}
        for key, each in matched.items():
            lengths, ends = [end - start for _, start, end, _ in each], [end for _, _, end, _ in each]
            spread, transfer = max(ends) - min(ends), min(lengths)
            wait = max(0, max(length - transfer - covered for length, (*_, covered) in zip(lengths, each)))
            most = transfer if by_device else max(transfer, wait // 2)
            last = -max((start, -rank) for rank, start, *_ in each)[1] if len(each) > 1 and spread <= most else None
            expected[key] = len(each), transfer / 1000, wait / 1000, last, spread / 1000
        self.assertEqual({row[:3]: row[3:] for row in self.rows(
            "SELECT iteration, process_group, seq, rank_count, transfer, max_wait, last_rank, spread_end"
            " FROM trace_collectives('job', 'all', 'all')")}, expected)

    def check_paths(self):
        """Checks that trace_step_path divides the same time; its sums over the trace have no ranks."""
        classes = ("SELECT {}, class, sum(time_ns) FROM trace_step_{}(?, 'job', 'all'{})"
                   " WHERE time_ns > 0 OR class IS NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3")
        self.assertEqual(self.rows(classes.format("iteration, rank", "path", ""), "job"),
                         self.rows(classes.format("iteration, rank", "time", ""), "job"))
        self.assertEqual(
            self.rows(classes.format("rank, iteration", "path", ", NULL, 'trace'"), "job"),
            self.rows("SELECT NULL, NULL, class, sum(time_ns) FROM trace_step_time('job', 'job', 'all')"
                      " WHERE time_ns > 0 OR class IS NULL GROUP BY class ORDER BY class"))


ROW = ("kind, rank, file, iteration, start_ns, end_ns, event, queued_behind, process_group, process_group_ranks, name,"
       " waits_for_all")
AGGREGATES = ("trace_job_schedule", "trace_job_offsets")
SCHEDULED = ("iteration, seq, rank, ts_ns, dur_ns, waiting_rank, collective, process_group, queued, not_matched,"
             " not_tied")


class Apart(InFolder):
    """Q7.3: jobs whose files are queried one by one give the rows of one process, to the ns."""

    COUNT = series(20, 400)

    def schedule(self, paths, order="random()"):
        """trace_job_schedule on the rows of all files, in any order."""
        self.db.execute("DROP TABLE IF EXISTS temp.said")
        self.db.execute("CREATE TEMP TABLE said AS SELECT * FROM trace_job_ranks('none') WHERE 0")
        for path in paths:
            self.db.execute("INSERT INTO temp.said SELECT * FROM trace_job_ranks(?)", (path,))
        return self.value(f"SELECT trace_job_schedule({ROW}) FROM (SELECT * FROM temp.said ORDER BY {order})")

    def path_of(self, schedule):
        """The rows of trace_job_path, after joining stretches that the rank's steps divide."""
        rows = []
        for row in json.loads(schedule):
            row = tuple(row[name] for name in SCHEDULED.split(", "))
            if rows and rows[-1][:3] == row[:3]:
                row = (*row[:3], rows[-1][3], rows[-1][4] + row[4], *row[5:])
                rows.pop()
            rows.append(row)
        return rows

    def check(self, folder):
        paths = sorted(glob.glob(os.path.join(folder, "*")))
        schedule = self.schedule(paths)
        self.assertEqual(self.path_of(schedule),
                         self.rows(f"SELECT {SCHEDULED} FROM trace_job_path(?, NULL, 'all')", folder))
        offsets = self.value(f"SELECT trace_job_offsets({ROW}) FROM (SELECT * FROM temp.said"
                             f" WHERE kind NOT IN ('exposed', 'host_wait') ORDER BY random())")
        self.assertEqual([tuple(each.values()) for each in json.loads(offsets)],
                         self.rows("SELECT rank, iteration, offset_ns FROM trace_job_clocks(?, 'all', 'all')", folder))
        stretches, found, level = json.loads(schedule), Counter(), random.choice(LEVELS)
        for path in paths:
            rank, = {row[0] for row in self.rows("SELECT rank FROM trace_files(?)", path)}
            numbers = {row[0] for row in self.rows("SELECT iteration FROM trace_steps(?)", path)} or {None}
            asked = [each for each in stretches if each["rank"] == rank and each["own_iteration"] in numbers]
            random.shuffle(asked)
            for stretch, *row, ns in self.rows("SELECT * FROM trace_job_parts(?, ?, ?)", path, json.dumps(asked),
                                               level):
                self.assertEqual(row[:2], [asked[stretch]["rank"], asked[stretch]["iteration"]])
                found[tuple(row)] += ns
        expected = {row[:4]: row[4] for row in self.rows(
            "SELECT rank, iteration, class, name, time_ns FROM trace_step_time(?, 'job', 'all', ?)", folder, level)}
        self.assertEqual(found, expected)
        return len(stretches) - len(self.path_of(schedule))

    def test_random_jobs(self):
        cut = 0
        for seed in range(self.COUNT):
            with self.subTest(seed=seed):
                random.seed(seed)
                shutil.rmtree("job", ignore_errors=True)
                write_job("job", 10 ** 7 + seed, on_host=seed % 3 == 2)
                cut += self.check("job")
        self.assertGreater(cut, self.COUNT // 10)

    def test_ranks_of_several_files(self):
        """When the cycles of a rank have steps that overlap in time, the one that starts last counts."""
        for seed in range(self.COUNT // 2):
            with self.subTest(seed=seed):
                random.seed(seed)
                shutil.rmtree("job", ignore_errors=True)
                for number, events in made_job(10 ** 8 + seed, on_host=seed % 3 == 2).items():
                    ahead, more = random.choice((0, 0, 60, 500)), random.random() < 0.5
                    write(f"job/{random.choice('ab')}{number} 0.json",
                          document(*events, distributedInfo={"rank": number}))
                    again = [{**each, "ts": round(each["ts"] + ahead, 3),
                              "name": re.sub("ProfilerStep#", "ProfilerStep#1", each["name"])} for each in events]
                    if more and any(each["name"].startswith("ProfilerStep#") for each in events):
                        write(f"job/{random.choice('ab')}{number} 1.json",
                              document(*again, distributedInfo={"rank": number}))
                self.check("job")

    def test_a_shipped_job(self):
        for side in ("control", "test"):
            self.check(os.path.join(EXAMPLES, "gpu", side))

    def test_traces_without_steps_and_files_without_events(self):
        for number, name in ((1, "a"), (2, "b"), (5, "c")):
            write(f"job/{name}.json",
                  document(*[] if number == 5 else [event("op", 1 + number, 5)], distributedInfo={"rank": number}))
        self.check("job")
        self.assertEqual(json.loads(self.schedule(["job/c.json"])), [])

    def test_ranks_without_steps_are_left_out(self):
        """Q1.2: ranks without steps are left out."""
        write("job/a.json", document(event("op", 1, 5), distributedInfo={"rank": 0}))
        write("job/b.json", document(step(4, 0, 10), event("op", 1, 5), distributedInfo={"rank": 1}))
        self.assertEqual(self.path_of(self.schedule(["job/a.json", "job/b.json"])),
                         self.rows(f"SELECT {SCHEDULED} FROM trace_job_path('job', NULL, 'all')"))

    def test_no_rows(self):
        for function in AGGREGATES:
            self.assertEqual(self.value(f"SELECT {function}({', '.join(['NULL'] * 12)}) WHERE 0"), "[]")

    def test_rows_that_are_wrong(self):
        step_row = ["step", 0, "a", 3, 0, 100, *[None] * 6]
        collective = ["collective", 0, "a", 3, 10, 20, 0, None, "0", None, "ncclAllReduce", 1]
        exposed = ["exposed", 0, "a", None, 10, 20, 0, *[None] * 5]
        other = ["step", 1, *step_row[2:]]

        def changed(row, place, value):
            return [*row[:place], value, *row[place + 1:]]

        kinds = "kind must be 'step', 'collective', 'exposed', 'host_collective' or 'host_wait'"
        numbers = "event and queued_behind must be whole numbers from 0, below 2^32 - 1"
        for said, *rows in (
                (kinds, changed(step_row, 0, "steps")), (kinds, changed(step_row, 0, None)),
                (kinds, changed(step_row, 0, 1)),
                ("rank must be an integer", changed(step_row, 1, "0")),
                ("rank must be an integer", changed(step_row, 1, None)),
                ("file must be a text", changed(step_row, 2, None)),
                ("iteration must be an integer or NULL", changed(step_row, 3, 1.5)),
                ("start_ns must be an integer", changed(collective, 4, None)),
                ("end_ns must be an integer", changed(exposed, 5, "x")),
                ("start_ns must not be after end_ns", changed(collective, 5, 9)),
                ("start_ns must not be after end_ns", changed(step_row, 5, None)),
                ("start_ns and end_ns are more than 2^63 ns apart",
                 [*step_row[:4], -2 ** 63 + 1, 2 ** 63 - 1, *step_row[6:]]),
                (numbers, changed(collective, 6, -1)), (numbers, changed(exposed, 6, 2 ** 32 - 1)),
                (numbers, changed(collective, 7, -1)),
                (numbers, changed(collective, 6, None)), ("process_group must be a text", changed(collective, 8, None)),
                ("process_group_ranks must be a text or NULL", changed(collective, 9, 1)),
                ("name must be a text", changed(collective, 10, None)),
                ("waits_for_all must be 0 or 1", changed(collective, 11, None)),
                ("rank 0 has event 0 of one file twice", other, step_row, collective, collective),
                ("rank 0 has a collective queued behind event 7, which is not there", other, step_row,
                 changed(collective, 7, 7)),
                ("rank 0 has a collective queued behind event 0, which is not before it", other, step_row,
                 changed(collective, 7, 0)),
                ("rank 0 has a collective queued behind event 1, which is not before it", other, step_row,
                 changed(changed(changed(collective, 4, 20), 6, 1), 7, 1)),
                ("rank 0 has event 0 of a file without a step", other, step_row, changed(collective, 2, "b")),
                ("rank 0 is exposed to event 0, which is not there", other, step_row, exposed),
                ("rank 0 has step 3 twice", other, step_row, changed(step_row, 2, "b")),
                ("rank 0 has two files without steps", changed(step_row, 3, None),
                 changed(changed(step_row, 3, None), 2, "b"))):
            wrong = "SELECT {}({}) FROM (VALUES {})"
            for function, given in itertools.product(
                    # SQLite continues after an error
                    AGGREGATES, (rows, rows[::-1], [*rows, exposed] if len(rows) == 1 else rows)):
                with self.subTest(said):
                    self.assert_error(f"{function}: {said}", wrong.format(
                        function, ", ".join(f"column{i + 1}" for i in range(12)),
                        ", ".join(["(" + ", ".join("?" * 12) + ")"] * len(given))),
                        *(value for row in given for value in row))

    def test_a_schedule_that_does_not_fit(self):
        write("a/rank0.json", document(step(4, 0, 10), event("op", 1, 5)))
        whole = {"rank": 0, "own_ts_ns": 0, "dur_ns": 10, "iteration": 4, "own_iteration": 4, "event": None}
        for schedule in ("", "{}", "x", "[1]", "[null]", *(json.dumps([{**whole, key: value}]) for key, value in (
                ("rank", None), ("rank", "0"), ("own_ts_ns", 1.5), ("dur_ns", -1), ("own_ts_ns", 2 ** 63 - 1),
                ("event", "x")))):
            with self.subTest(schedule):
                self.assert_error("trace_job_parts: schedule must be a JSON array of objects of trace_job_schedule:"
                                  " see [0]",
                                  "SELECT * FROM trace_job_parts('a', ?)", schedule)
        for said, key, value in (("such rank", "rank", 1), ("such step of the rank", "own_iteration", 5),
                                 ("such step of the rank", "own_iteration", None),
                                 ("such collective of the rank", "event", 0)):
            self.assert_error(f"trace_job_parts: schedule [1]: the trace has no {said}",
                              "SELECT * FROM trace_job_parts('a', ?)", json.dumps([whole, {**whole, key: value}]))


class Same(InFolder):
    """Changes that must not matter, on jobs without lost work."""

    COUNT = series(25, 150)

    def jobs(self, on_host=(False, True)):
        for seed in range(self.COUNT):
            for each in on_host:
                made = made_job(10 ** 6 + seed, 6, whole=True, on_host=each)
                if len(made) > 1:
                    with self.subTest(seed=seed, on_host=each):
                        yield random.Random(seed), made

    def asked(self, made):
        shutil.rmtree("job", ignore_errors=True)
        write_ranks("job", made)
        return (sorted(self.rows(PARTS, "job", "all", "op", "device"), key=str),
                self.rows(SCHEDULE, "job"))

    def test_the_numbers_of_ranks_other_than_the_lowest(self):
        for rng, made in self.jobs():
            parts, schedule = self.asked(made)
            if self.started_at_once():
                continue
            others = list(made)[1:]
            new = {0: 0, None: None, **dict(zip(others, rng.sample(range(1, 100), len(others))))}
            renamed = self.asked({new[number]: events for number, events in made.items()})
            self.assertEqual(renamed[0], sorted(((i, new[rank], *rest) for i, rank, *rest in parts), key=str))
            self.assertEqual(renamed[1], [(i, new[rank], ts, dur, new[waiting], *rest)
                                          for i, rank, ts, dur, waiting, *rest in schedule])

    def started_at_once(self):
        """Whether two ranks start a collective at the same ns; the lower one then counts as last (Q5.3)."""
        job = oracle_job.Job(oracle.read_trace("job"), "device")
        for window, _ in job.ranks[job.reference].windows:
            offset = job.offsets(window.iteration)
            for of in job.matched.values():
                starts = [each.start - offset[number] for number, each in of.items() if number in offset]
                if len(set(starts)) < len(starts):
                    return True
        return False

    def test_the_clock_of_a_rank_other_than_the_lowest(self):
        for rng, made in self.jobs():
            number = rng.choice(list(made)[1:])
            ahead = rng.randrange(-10 ** 4, 10 ** 6)
            shifted = {**made, number: [{**each, "ts": round(each["ts"] + ahead, 3)} for each in made[number]]}
            collectives = "SELECT * FROM trace_collectives('job', 'all', 'all')"
            before, waits = self.asked(made), self.rows(collectives)
            self.assertEqual(self.asked(shifted), before)
            self.assertEqual(self.rows(collectives), waits)

    @staticmethod
    def waiting(events):
        """A rank that reaches each collective of these events first and computes nothing; None if there are other
        collectives.
        """
        if any(each.get("args", {}).get("Process Group Name", "0") != "0" for each in events):
            return None
        return [{**each, "ts": round(each["ts"] - 1000, 3), "dur": round(each["dur"] + 1000, 3)}
                if each["name"].startswith("nccl") else each
                for each in events if each["cat"] != "kernel" or each["name"].startswith("nccl")]

    def test_a_rank_that_waits_everywhere(self):
        """A highest rank that waits in every collective and computes nothing changes no row."""
        for _, made in self.jobs():
            waits = self.waiting(made[0])
            if waits:
                self.assertEqual(self.asked({**made, 50: waits}), self.asked(made))

    def compared(self, control, test):
        """The default diff of two jobs as (rank of) rows, and the text of the summary."""
        for side, made in zip(SIDES, (control, test)):
            shutil.rmtree(side, ignore_errors=True)
            write_ranks(side, made)
        *rows, = self.rows("SELECT class, name, diff_time, only_rank FROM trace_step_diff('control', 'test', NULL,"
                           " NULL, 'all', 'all')")
        return [row[:3] for row in rows], [row[3] for row in rows], self.rows(
            "SELECT text FROM trace_summary('control', 'test', NULL, NULL, 'all', 'all')"
            " WHERE kind IN ('verdict', 'cause') AND rank IS NULL")

    def test_diffs_by_default(self):
        """None of these changes matters to a diff of two jobs."""
        asked = 0
        for rng, made in self.jobs():
            slow = rng.choice(list(made))
            test = {rank: [{**each, "dur": round(each["dur"] * 1.5, 3)} if rank == slow and each["name"] == "kernel0"
                           else each
                           for each in events] for rank, events in made.items()}
            self.asked(made)
            if asked > self.COUNT // 3 or self.started_at_once():
                continue
            asked += 1
            parts, ranks, causes = self.compared(made, test)
            number = rng.choice(list(made)[1:])
            ahead = rng.randrange(-10 ** 4, 10 ** 6)
            shifted = {**test, number: [{**each, "ts": round(each["ts"] + ahead, 3)} for each in test[number]]}
            self.assertEqual(self.compared(made, shifted), (parts, ranks, causes))
            new = {0: 0, None: None, **dict(zip(list(made)[1:], rng.sample(range(1, 100), len(made) - 1)))}
            self.assertEqual(self.compared(*({new[rank]: events for rank, events in side.items()}
                                             for side in (made, test))),
                             (parts, [new[rank] for rank in ranks], causes))
            waits = self.waiting(made[0])
            if waits:  # its own steps have no device work
                self.assertEqual(self.compared({**made, 50: waits}, {**test, 50: waits})[0], parts)
        self.assertGreater(asked, self.COUNT // 6)

    def test_one_rank(self):
        for _, made in self.jobs():
            write_ranks("one", {0: made[0]})
            for clock in CLOCKS:
                for iterations in ("all", "steady"):
                    self.assertEqual(self.rows(PARTS, "one", iterations, "op", clock),
                                     self.rows(PARTS.replace("'job'", "'all'"), "one", iterations, "op", clock))
            shutil.rmtree("one")
        for path in (corpus("kineto", "resnet50_workers_0"), corpus("hta", "trace_diff", "control")):
            for per in ("step", "trace"):
                query = f"SELECT * FROM trace_step_path(?, {{}}, NULL, NULL, '{per}')"
                self.assertEqual(self.rows(query.format("'job'"), path), self.rows(query.format("NULL"), path))


class Sums(InFolder):
    def test_parts_of_real_jobs_add_up_to_the_steps_of_the_lowest_rank(self):
        for parts in (("param",), ("hta", "trace_filter"), ("nsys", "mfu_2gpu_before.sqlite"),
                      ("nsys", "mfu_2gpu_after.sqlite"), ("own", "torch", "test"), ("bad", "missing_rank")):
            for clock in CLOCKS:
                sums = "SELECT iteration, sum(time_ns) FROM trace_step_time(?, {}, 'all', 'op', ?) GROUP BY 1"
                lowest, = self.rows("SELECT min(rank), count(DISTINCT rank) > 1 FROM trace_files(?)", corpus(*parts))
                self.assertEqual(lowest, (0, 1))
                self.assertEqual(self.rows(sums.format("'job'"), corpus(*parts), clock),
                                 self.rows(sums.format(0), corpus(*parts), clock), (parts, clock))


class Made(InFolder):
    """Jobs made by hand; times are us of true time, and each rank has its clock."""

    @staticmethod
    def put(folder, programs, steps):
        """Programs by rank: (ahead, [(name, start, end, stream, group, launched), ...]), where trailing fields may be
        missing.
        """
        ranks = {}
        for number, (ahead, works) in enumerate(programs):
            ranks[number] = rank = Recorder(Clock(1000 * ahead))
            for name, start, end, stream, group, launched in works:
                rank.work(name, 1000 * launched, 1000 * start, 1000 * end, stream,
                          {"Process Group Name": group} if group else None)
            for iteration, (start, end) in enumerate(steps):
                if any(start <= work[5] < end for work in works):
                    rank.step(iteration, 1000 * start, 1000 * end)
        write_ranks(folder, {number: rank.events for number, rank in ranks.items()})

    def job(self, *programs, steps=((0, 200),)):
        self.put("job", programs, steps)
        found = {}
        for iteration, rank, class_, name, ns in self.rows(PARTS, "job", "all", "kernel", "device"):
            if class_ in ("compute", "comm"):
                found.setdefault(iteration, []).append((rank, name, ns / 1000))
        schedule = self.rows("SELECT rank, dur, waiting_rank, collective, queued"
                             " FROM trace_job_path('job', NULL, 'all')"
                             " ORDER BY iteration, seq")
        return {iteration: sorted(parts) for iteration, parts in found.items()}, schedule

    @staticmethod
    def compute(start, end, name="gemm", launched=2):
        return name, start, end, 7, None, launched

    @staticmethod
    def comm(start, end, name="ncclAllReduce", group="0", stream=20, launched=2):
        return name, start, end, stream, group, launched

    def test_the_rank_that_comes_last_is_on_the_path(self):
        """The rank that arrives last is on the path: rank 1 computes longer, and its clock is ahead."""
        parts, schedule = self.job((0, [self.compute(10, 60), self.comm(60, 120)]),
                                   (5000, [self.compute(10, 100), self.comm(100, 120)]), steps=((0, 120),))
        self.assertEqual(parts, {0: [(0, "ncclAllReduce", 20.0), (1, "gemm", 90.0)]})
        self.assertEqual(schedule, [(1, 100.0, 0, "ncclAllReduce", None), (0, 20.0, None, None, None)])

    def test_a_pipeline_of_send_and_receive(self):
        """In a pipeline of three stages, forward and backward, the path goes back through each stage."""
        def send(start, end, pair):
            return self.comm(start, end, "ncclDevKernel_SendRecv", pair, 21)

        def receive(start, end, pair):
            return self.comm(start, end, "ncclDevKernel_SendRecv", pair, 22)

        parts, schedule = self.job(
            (0, [self.compute(10, 40, "f0"), send(40, 50, "0-1"), receive(55, 180, "0-1"),
                 self.compute(180, 200, "b0")]),
            (-7, [receive(5, 50, "0-1"), self.compute(50, 80, "f1"), send(80, 90, "1-2"), receive(95, 140, "1-2"),
                  self.compute(140, 170, "b1"), send(170, 180, "0-1")]),
            (900, [receive(5, 90, "1-2"), self.compute(90, 130, "fb2"), send(130, 140, "1-2")]))
        name = "ncclDevKernel_SendRecv"
        self.assertEqual(parts, {0: [(0, "b0", 20.0), (0, "f0", 30.0), (0, name, 10.0), (1, "b1", 30.0),
                                     (1, "f1", 30.0),
                                     (1, name, 20.0), (2, "fb2", 40.0), (2, name, 10.0)]})
        self.assertEqual([(rank, waiting) for rank, _, waiting, _, _ in schedule],
                         [(0, 1), (1, 2), (2, 1), (1, 0), (0, None)])

    def test_a_broadcast_that_is_over_on_its_root(self):
        """Rank 1 joins a broadcast that has ended on its root, rank 0, which waits for nobody."""
        parts, schedule = self.job(
            (0, [self.comm(20, 30, "ncclBroadcast"), self.compute(30, 100), self.comm(100, 110)]),
            (0, [self.compute(10, 60), self.comm(60, 65, "ncclBroadcast"), self.comm(70, 110)]), steps=((0, 110),))
        self.assertEqual(parts, {0: [(0, "gemm", 70.0), (0, "ncclAllReduce", 10.0), (0, "ncclBroadcast", 10.0)]})
        self.assertEqual(schedule, [(0, 110.0, None, None, None)])

    def test_a_broadcast_that_waits_for_its_root(self):
        parts, _ = self.job(
            (0, [self.comm(20, 70, "ncclBroadcast"), self.compute(70, 100), self.comm(100, 110)]),
            (0, [self.compute(10, 60), self.comm(60, 70, "ncclBroadcast"), self.comm(90, 110)]), steps=((0, 110),))
        self.assertEqual(parts, {0: [(0, "gemm", 30.0), (0, "ncclAllReduce", 10.0), (0, "ncclBroadcast", 10.0),
                                     (1, "gemm", 50.0)]})

    def test_a_queued_collective_is_late_because_of_the_one_before(self):
        """A queued collective is late because of the one before: rank 1 computes all the time, and its all-reduce
        begins when the previous all-gather ends, which rank 2 began last.
        """
        parts, schedule = self.job(
            (0, [self.comm(40, 100, group="0-1")]),
            (3, [self.compute(10, 95), self.comm(50, 90, "ncclAllGather", "1-2"), self.comm(90, 100, group="0-1")]),
            (-3, [self.compute(10, 80, "slow"), self.comm(80, 90, "ncclAllGather", "1-2")]), steps=((0, 100),))
        self.assertEqual(parts, {0: [(0, "ncclAllReduce", 10.0), (1, "ncclAllGather", 10.0), (2, "slow", 70.0)]})
        self.assertEqual(schedule, [(2, 80.0, 1, "ncclAllGather", None), (1, 10.0, 0, "ncclAllReduce", "ncclAllGather"),
                                    (0, 10.0, None, None, None)])

    def test_a_wait_in_a_collective_that_another_one_follows(self):
        """Rank 1 is late to the first collective. The second one waits for nobody, because all ranks start it when the
        first one ends.
        """
        last = self.comm(100, 120, "ncclAllGather")
        parts, schedule = self.job((0, [self.compute(10, 30), self.comm(30, 100), last]),
                                   (0, [self.compute(10, 90), self.comm(90, 100), last]), steps=((0, 120),))
        self.assertEqual(parts, {0: [(0, "ncclAllGather", 20.0), (0, "ncclAllReduce", 10.0), (1, "gemm", 80.0)]})
        self.assertEqual(schedule, [(1, 90.0, 0, "ncclAllReduce", None), (0, 30.0, None, None, None)])

    def test_a_rank_that_was_recorded_from_a_later_step_on(self):
        """Before a rank's recording starts, the path follows the reference; from then on it includes the others."""
        early = [self.compute(110, 120, launched=102), self.comm(120, 180, launched=102)]
        parts, schedule = self.job(
            (0, [self.compute(10, 30), self.comm(30, 60), *early]),
            (0, [self.compute(10, 50), self.comm(50, 60), *early]),
            (70, [self.compute(110, 170, launched=102), self.comm(170, 180, launched=102)]),
            steps=((0, 100), (100, 200)))
        self.assertEqual(parts, {0: [(0, "ncclAllReduce", 10.0), (1, "gemm", 40.0)],
                                 1: [(0, "ncclAllReduce", 10.0), (2, "gemm", 60.0)]})
        self.assertEqual(schedule, [(1, 50.0, 0, "ncclAllReduce", None), (0, 10.0, None, None, None),
                                    (0, 40.0, None, None, None), (2, 70.0, 0, "ncclAllReduce", None),
                                    (0, 10.0, None, None, None)])

    def test_a_wait_that_small_kernels_cut(self):
        """Small kernels do not end a wait: rank 0 waits from 20 to 120 with a kernel in between, and rank 1 arrives at
        110.
        """
        parts, _ = self.job(
            (0, [self.comm(20, 120), self.compute(60, 63, "small")]),
            (0, [self.compute(10, 110), self.comm(110, 120)]), steps=((0, 120),))
        self.assertEqual(parts, {0: [(0, "ncclAllReduce", 10.0), (1, "gemm", 100.0)]})

    def test_times_are_rounded(self):
        """A kernel or collective that waits for a collective can seem to start up to 1 us before the collective ends,
        by rounding.
        """
        for early, waits in ((0.001, True), (1, True), (1.001, False)):
            for after in (self.compute(120 - early, 150), self.comm(120 - early, 150, "ncclAllGather")):
                parts, _ = self.job((0, [self.compute(10, 30), self.comm(30, 120), after]),
                                    (0, [self.compute(10, 110), self.comm(110, 120), after]), steps=((0, 150),))
                self.assertEqual((1, "gemm", 100.0) in parts[0], waits, (early, after))

    def test_groups_of_one_name_are_told_apart_by_their_ranks(self):
        """Two pairs of ranks with groups of one name are distinguished by their ranks; by name alone, all would seem to
        wait for rank 3.
        """
        ranks = {}
        for number, computes in enumerate((60, 40, 20, 90)):
            ranks[number] = rank = Recorder()
            pair = [0, 1] if number < 2 else [2, 3]
            args = {"Process Group Name": "pair", "Process Group Ranks": str(pair)}
            rank.work("gemm", 2000, 10000, 1000 * computes)
            rank.work("ncclAllReduce", 2000, 1000 * computes, 100000, 20, args)
            rank.step(0, 0, 100000)
        write_ranks("job", {number: rank.events for number, rank in ranks.items()})
        self.assertEqual(self.rows("SELECT DISTINCT rank, not_tied FROM trace_job_path('job', NULL, 'all')"), [(0, 2)])

    def test_a_lost_collective(self):
        """When a collective is lost, its group is not matched in that step on both ranks, and everything else is."""
        work = [self.compute(10, 20), self.comm(20, 30), self.comm(40, 50), self.comm(60, 100, group="1")]
        parts, _ = self.job((0, work), (0, [self.compute(10, 90), work[1], self.comm(90, 100, group="1")]),
                            steps=((0, 100),))
        self.assertEqual(parts, {0: [(0, "ncclAllReduce", 10.0), (1, "gemm", 80.0)]})
        self.assertEqual(self.value("SELECT DISTINCT not_matched FROM trace_job_path('job', NULL, 'all')"), 3)


class OnHosts(InFolder):
    """Q10: jobs without device work, made by hand; times are us of true time, and the step is [0, 200)."""

    def job(self, *programs):
        """Programs by rank: [(name, start, end) or (name, start, end, fields), ...]. gloo runs on thread 2."""
        ranks = {}
        for number, events in enumerate(programs):
            ranks[number] = [step(0, 0, 200)]
            for name, start, end, *fields in events:
                fields = fields[0] if fields else {"tid": 2,
                                                   "cat": "user_annotation"} if name.startswith("gloo:") else {}
                ranks[number].append(event(name, start, end - start, **fields))
        write_ranks("job", ranks)
        self.counts, = self.rows("SELECT DISTINCT not_matched, not_tied FROM trace_job_path('job', NULL, 'all')")
        found = []
        for row in self.rows("SELECT rank, dur, waiting_rank, collective FROM trace_job_path('job', NULL, 'all')"
                             " ORDER BY seq"):
            if found and found[-1][0] == row[0] and found[-1][2] is None:
                row = (row[0], found.pop()[1] + row[1], *row[2:])  # a transfer has its own row
            found.append(row)
        return found

    OTHERS = [("gloo:all_reduce", 195, 196), ("gloo:all_reduce", 197, 198)]  # hidden by work; used for the clocks
    LATE = [("slow", 10, 90), ("c10d::allreduce_", 90, 91), ("gloo:all_reduce", 92, 100), ("next", 102, 200), *OTHERS]
    HOPS = [(1, 92.0, 0, "gloo:all_reduce"), (0, 108.0, None, None)]
    STAYS = [(0, 200.0, None, None)]

    def waiting(self, ends=100, goes_on=101, within=()):
        """A rank that waits from 21 on and sees the collective end at `ends`."""
        return [("op", 10, 20), ("c10d::allreduce_", 20, 21), ("gloo:all_reduce", 22, ends), *within,
                ("next", goes_on, 200),
                *self.OTHERS]

    def test_a_thread_that_waits_for_what_another_one_runs(self):
        self.assertEqual(self.job(self.waiting(), self.LATE), self.HOPS)
        self.assertEqual(self.counts, (0, 0))
        self.assertEqual(self.rows("SELECT rank, class, name, time FROM trace_step_time('job', 'job', 'all')"
                                   " ORDER BY rank, time DESC"),
                         [(0, "host", "next", 99.0), (0, "comm", "gloo:all_reduce", 8.0),
                          (0, "unrecorded", "between c10d::allreduce_ and next", 1.0), (1, "host", "slow", 80.0),
                          (1, "unrecorded", "before slow", 10.0),
                          (1, "host", "c10d::allreduce_", 1.0),
                          (1, "unrecorded", "between c10d::allreduce_ and next", 1.0)])

    def test_threads_that_go_on_late_and_ends_that_are_recorded_late(self):
        for ends, goes_on, expected in ((100, 139, self.HOPS), (140, 101, self.HOPS), (100, 190, self.STAYS),
                                        (142, 101, self.STAYS)):
            found = self.job(self.waiting(ends, goes_on), self.LATE)
            self.assertEqual(found, expected, (ends, goes_on))

    def test_the_transfer_is_communication(self):
        """The transfer lasts from the last start, or from the start of the wait, to the end; later work of the thread
        is not communication.
        """
        def reduces(since, ends, goes_on):
            return [("op", 10, 40), ("gloo:all_reduce", since, ends), ("next", goes_on, 200), *self.OTHERS]
        for first, second, expected in ((reduces(22, 100, 130), self.LATE, 8.0), (reduces(22, 100, 130), None, 60.0),
                                        (reduces(50, 100, 130), None, 50.0), (reduces(50, 140, 130), None, 80.0),
                                        (reduces(22, 60, 130), None, None)):
            self.job(first, second or first)
            self.assertEqual(dict(self.rows("SELECT name, time FROM trace_step_time('job', 'job', 'all')"
                                            " WHERE class = 'comm'")).get("gloo:all_reduce"), expected)

    def test_what_a_thread_may_be_in_while_it_waits(self):
        for name, fields, waits in (
                ("_c10d_functional::wait_tensor", {}, True), ("autograd::engine::evaluate_function: X", {}, True),
                ("train.py(3): step", {"cat": "python_function"}, True), ("reduce", {"cat": "user_annotation"}, True),
                ("aten::mm", {}, False), ("cudaDeviceSynchronize", {"cat": "cuda_runtime"}, False)):
            found = self.job(self.waiting(within=[(name, 21, 101, fields)]), self.LATE)
            self.assertEqual(found, self.HOPS if waits else self.STAYS, name)

    def test_a_collective_on_the_thread_of_the_step(self):
        def mpi(start):
            return "mpi:all_reduce", start, 100, {"cat": "user_annotation"}
        self.assertEqual(self.job([("op", 10, 20), mpi(20), ("next", 101, 200)],
                                  [("slow", 10, 90), mpi(92), ("next", 102, 200)]),
                         [(1, 92.0, 0, "mpi:all_reduce"), (0, 108.0, None, None)])

    def test_nobody_waits_for_what_work_hides(self):
        """Nobody waits for a collective that work hides: the all-reduce ends within an operator, and the gaps before it
        are short.
        """
        hidden = [("gloo:all_reduce", 22, 100), *((f"op{i}", 22 + 10 * i, 30 + 10 * i) for i in range(16)),
                  *self.OTHERS]
        self.assertEqual(self.job(hidden, self.LATE), self.STAYS)

    def test_of_two_ends_that_are_as_near_the_later_start_counts(self):
        for second, waits_for in ((("gloo:all_gather", 23, 111), 2), (("gloo:all_gather", 21, 111), 1)):
            found = self.job([("op", 10, 20), ("gloo:all_reduce", 22, 91), second, ("next", 101, 200)],
                             [("op", 10, 80), ("gloo:all_reduce", 80, 91), ("gloo:all_gather", 60, 111),
                              ("next", 120, 200)],
                             [("op", 10, 80), ("gloo:all_reduce", 60, 91), ("gloo:all_gather", 85, 111),
                              ("next", 120, 200)])
            self.assertEqual([rank for rank, *_ in found][-2:], [waits_for, 0])

    def test_a_collective_that_was_queued_behind_another(self):
        """One gap covers two queued collectives: rank 0 starts the second one last, because it waited for the first."""
        queued = [("op", 10, 20), ("gloo:all_reduce", 22, 100), ("gloo:all_reduce", 100.5, 120), ("next", 121, 200)]
        late = [("slow", 10, 80), ("gloo:all_reduce", 81, 100), ("gloo:all_reduce", 82, 120), ("next", 121, 200)]
        self.assertEqual(self.job(queued, late), [(1, 81.0, 0, "gloo:all_reduce"), (0, 119.0, None, None)])

    def test_a_clock_that_is_not_exact(self):
        """By the other ranks' ends, rank 1 started 12 us after the end on rank 0, so rank 0 would not have waited for
        it. In an all-reduce it did wait; a broadcast can be over on its root.
        """
        others = [(name, start - 20, end - 20) for name, start, end in self.OTHERS]
        for kind, expected in (("all_reduce",
                                [(0, 20.0, None, None), (1, 81.0, 0, "gloo:all_reduce"), (0, 99.0, None, None)]),
                               ("broadcast", self.STAYS)):
            found = self.job(*([(name.replace("all_reduce", kind), start, end) for name, start, end in events[:-2]]
                               + ends
                               for events, ends in ((self.waiting(), self.OTHERS), (self.LATE, others))))
            self.assertEqual(found, expected, kind)

    def test_a_rank_that_was_late_in_the_step_before(self):
        """Rank 1 sleeps at the end of step 0. Its steps are 2 us apart, which is typical of profilers."""
        ranks = {}
        for number, length in ((0, 100), (1, 170)):
            ranks[number] = [step(0, 0, length), step(1, length + 2, 298 - length), step(2, 302, 98)]
            for start, end in ((50, 60), (220, 280), (350, 360)) if number else ((50, 60), (140, 280), (350, 360)):
                ranks[number] += [event("c10d::allreduce_", start - 2, 1),
                                  event("gloo:all_reduce", start, end - start, tid=2, cat="user_annotation")]
                ranks[number].append(event("aten::div_", end + 1, 1))
        ranks[1].append(event("aten::sort", 70, 95))
        write_ranks("job", ranks)
        self.assertEqual(self.rows("SELECT rank, ts, dur, waiting_rank, queued FROM trace_job_path('job', NULL, 'all')"
                                   " WHERE iteration = 1 ORDER BY seq"),
                         [(1, 102.0, 68.0, None, None), (0, 170.0, 2.0, None, None), (1, 172.0, 48.0, 0, None),
                          (0, 220.0, 60.0, None, "gloo:all_reduce"), (0, 280.0, 20.0, None, None)])
        self.assertEqual(self.rows("SELECT rank, sum(time) FROM trace_step_time('job', 'job', 'all')"
                                   " WHERE name = 'aten::sort' GROUP BY rank"), [(1, 93.0)])

    def test_collectives_that_only_args_describe(self):
        def described(start, **args):
            return ("record_param_comms", start, 100, {"args": args})
        for args, expected in (({"Collective name": "allreduce"}, "allreduce"),
                               ({"Collective name": "allreduce", "Process Group Name": "0"}, "allreduce"), ({}, None)):
            found = self.job([("op", 10, 20), described(21, **args), ("next", 101, 200)],
                             [("slow", 10, 90), described(92, **args), ("next", 102, 200)])
            self.assertEqual(found, [(1, 92.0, 0, expected), (0, 108.0, None, None)] if expected else self.STAYS)
        nccl = [("nccl:all_reduce", 20, 21, {"cat": "user_annotation"}), ("op", 10, 20),
                described(21, **{"Collective name": "allreduce"}), ("next", 101, 200)]
        self.assertEqual(self.job(nccl, self.LATE), self.STAYS)

    def test_sends_are_not_matched_without_a_group(self):
        self.assertEqual(self.job([("gloo:recv", 21, 100), ("next", 101, 200)],
                                  [("slow", 10, 90), ("gloo:send", 92, 100)]),
                         self.STAYS)
        self.assertEqual(self.counts, (2, 1))


class Recorded(InFolder):
    """examples/gloo: recordings with one change planted in one rank, on a machine with other load."""

    def test_the_first_cause_is_the_planted_one_and_its_rank(self):
        for world, test, name, rank in (("two", "loader", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                                         1),
                                        ("three", "loader",
                                         "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1),
                                        ("three", "operator", "aten::sort", 2)):
            sides = [os.path.join(EXAMPLES, "gloo", world, side) for side in ("control", test)]
            found = self.rows("SELECT class, name, rank, diff_ms > 60 FROM trace_summary(?, ?) WHERE kind = 'cause'"
                              " AND diagnoses = 0 LIMIT 1", *sides)
            self.assertEqual(found, [("host", name, rank, 1)], (world, test))

    def test_ranks_wait_for_the_rank_in_which_it_is_planted(self):
        """In every step, ranks wait for the rank with the planted change, for its full time, and nothing stays
        unmatched.
        """
        for world, test, rank in (("two", "loader", 1), ("three", "loader", 1), ("three", "operator", 2)):
            found = self.rows("SELECT iteration, sum(dur) FILTER (WHERE rank = ?2) > 60000, max(not_matched),"
                              " max(not_tied)"
                              " FROM trace_job_path(?1, NULL, 'all') GROUP BY 1",
                              os.path.join(EXAMPLES, "gloo", world, test), rank)
            self.assertEqual([row[1:] for row in found], 7 * [(1, 0, 0)], (world, test))


class Answers(InFolder):
    """The first cause of two jobs, one of which has a slower rank, is the slower work with its rank."""

    put, compute, comm = map(staticmethod, (Made.put, Made.compute, Made.comm))

    def answer(self, program, slower, end, steps=None):
        """The causes of 1 us or more, and the row of trace_collectives about the awaited rank."""
        for side, by in (("control", 0), ("test", slower)):
            self.put(side, program(by), steps(by) if steps else ((0, end + by),))
        causes = self.rows("SELECT name, round(diff_time, 3), rank FROM trace_step_causes('control', 'test')"
                           " WHERE abs(diff_time) >= 1")
        first = self.rows("SELECT name, rank, round(1000 * diff_ms, 3) FROM trace_summary('control', 'test')"
                          " WHERE kind = 'cause' ORDER BY line LIMIT 1")
        self.assertEqual(first, [(name, rank, diff) for name, diff, rank in causes[:1]])
        parts = self.rows("SELECT name, round(diff_time, 3), only_rank FROM trace_step_diff('control', 'test', NULL,"
                          " NULL, NULL, NULL,"
                          " 'kernel') WHERE abs(diff_time) >= 1")
        self.assertEqual(parts, causes)
        return causes

    def test_a_stage_of_a_pipeline(self):
        """In a pipeline of three stages the last one is slower, so the first two receive later."""
        def move(start, end, pair, stream):
            return self.comm(start, end, "ncclDevKernel_SendRecv", pair, stream)

        def program(by):
            return ((0, [self.compute(10, 40, "f0"), move(40, 50, "0-1", 21), move(55, 180 + by, "0-1", 22),
                         self.compute(180 + by, 200 + by, "b0")]),
                    (-7, [move(5, 50, "0-1", 22), self.compute(50, 80, "f1"), move(80, 90, "1-2", 21),
                          move(95, 140 + by, "1-2", 22), self.compute(140 + by, 170 + by, "b1"),
                          move(170 + by, 180 + by, "0-1", 21)]),
                    (900, [move(5, 90, "1-2", 22), self.compute(90, 130 + by, "fb2"),
                           move(130 + by, 140 + by, "1-2", 21)]))
        self.assertEqual(self.answer(program, 25, 200), [("fb2", 25, 2)])

    def test_a_broadcast_that_is_over_on_its_root(self):
        """Rank 1 is late to a broadcast and makes nobody wait; rank 0 is slower after it."""
        def program(by):
            return ((0, [self.comm(20, 30, "ncclBroadcast"), self.compute(30, 100 + by),
                         self.comm(100 + by, 110 + by)]),
                    (40, [self.compute(10, 60, "other"), self.comm(60, 65, "ncclBroadcast"), self.comm(70, 110 + by)]))
        self.assertEqual(self.answer(program, 15, 110), [("gemm", 15, 0)])

    def test_a_queue_of_collectives(self):
        """Rank 2 is slower. Rank 0 waits for rank 1, which is late because of the previous collective in its queue."""
        def program(by):
            return ((0, [self.comm(40, 100 + by, group="0-1")]),
                    (3, [self.compute(10, 95), self.comm(50, 90 + by, "ncclAllGather", "1-2"),
                         self.comm(90 + by, 100 + by, group="0-1")]),
                    (-3, [self.compute(10, 80 + by, "slow"), self.comm(80 + by, 90 + by, "ncclAllGather", "1-2")]))
        self.assertEqual(self.answer(program, 30, 100), [("slow", 30, 2)])

    def kinds(self, program, slower, end):
        for side, by in (("control", 0), ("test", slower)):
            self.put(side, program(by), ((0, end + by),))
        return self.rows("SELECT kind, name, round(diff_time, 3), rank FROM trace_step_causes('control', 'test')"
                         " WHERE abs(diff_time) >= 1")

    def test_a_rank_that_is_late_while_others_hide_the_start(self):
        """Rank 1 is late to the all-reduce. Rank 0 computes until 100 and then waits longer, while rank 1 does not
        wait. The transfer takes as long as before, so no cause is communication.
        """
        def program(by):
            return ((0, [self.compute(10, 50), self.comm(50, 130 + by), self.compute(50, 100, "other")]),
                    (0, [self.compute(10, 60 + by), self.comm(60 + by, 130 + by),
                         self.compute(60 + by, 100 + by, "other")]))
        self.assertEqual(self.kinds(program, 20, 130), [("moved", None, 20, None)])

    def test_a_transfer_that_is_longer_on_all_ranks(self):
        def program(by):
            return ((0, [self.compute(10, 50), self.comm(50, 130 + by), self.compute(50, 100, "other")]),
                    (0, [self.compute(10, 60), self.comm(60, 130 + by), self.compute(60, 100, "other")]))
        self.assertEqual(self.kinds(program, 20, 130), [("communication", "ncclAllReduce", 20, None)])

    def test_a_rank_that_was_recorded_from_a_later_step_on(self):
        """The rank's recorded step is the second one. It is slower only there, so per step the difference halves."""
        def program(by):
            early = [self.compute(110, 120, launched=102), self.comm(120, 180 + by, launched=102)]
            return ((0, [self.compute(10, 30), self.comm(30, 60), *early]),
                    (0, [self.compute(10, 50), self.comm(50, 60), *early]),
                    (70, [self.compute(110, 170 + by, "slow", 102), self.comm(170 + by, 180 + by, launched=102)]))
        self.assertEqual(self.answer(program, 40, None, lambda by: ((0, 100), (100, 200 + by))), [("slow", 20, 2)])


class Asked(InFolder):
    """Arguments and errors."""

    def test_the_steps_are_those_of_the_reference(self):
        for rank, number in ((0, 3), (1, 4)):
            write(f"a/rank{rank}.json", document(step(number, 0, 10), event("op", 1, 5)))
        for function in ("trace_job_path('a', NULL, 4)", "trace_step_time('a', 'job', 4)",
                         "trace_step_path('a', 'job', 4)"):
            name, subject = function.split("(")[0], "the trace" if "job_path" in function else "'a'"
            self.assert_error(f"{name}: {subject} has no step 4 (steps: 3)", f"SELECT * FROM {function}")

    def test_ranks_without_steps(self):
        write("a/rank0.json", document(event("op", 1, 5)))
        write("a/rank1.json", document(step(4, 0, 10), event("op", 1, 5)))
        self.assert_error("trace_job_path: rank 0 of the trace has no steps ('a/rank0.json'), but rank 1 has: choose"
                          " ranks "
                          "that have steps, or iterations 'all'", "SELECT * FROM trace_job_path('a')")
        self.assertEqual(self.rows("SELECT iteration, rank, dur FROM trace_job_path('a', NULL, 'all')"), [(4, 1, 10.0)])
        self.assertEqual(self.rows("SELECT iteration, rank, dur FROM trace_job_path('a', 1)"), [(4, 1, 10.0)])
        self.assert_error("trace_job_path: the trace has no rank 2 (ranks: 0, 1)",
                          "SELECT * FROM trace_job_path('a', 'job [1,2]')")
        self.assertEqual(self.rows("SELECT rank, sum(time) FROM trace_step_time('a', 'job', 'all') GROUP BY 1"),
                         [(1, 10.0)])

    def test_a_trace_without_steps(self):
        write("a/rank0.json", document(event("op", 1, 5)))
        self.assertEqual(self.rows("SELECT iteration, rank, dur FROM trace_job_path('a')"), [(None, 0, 5.0)])

    def test_a_step_of_no_length(self):
        write("a/rank0.json", document(step(4, 5, 0)))
        self.assertEqual(self.rows("SELECT iteration, seq, rank, dur FROM trace_job_path('a', NULL, 'all')"),
                         [(4, 0, 0, 0.0)])
        self.assertEqual(self.rows("SELECT iteration, rank, class, time FROM trace_step_time('a', 'job', 'all')"),
                         [(4, 0, None, 0.0)])

    def test_clocks_at_the_ends_of_all_time(self):
        far = 9223372036854000
        for number, at, waits in ((0, -far, 60), (1, far, 10), (2, 0, 30)):
            write(f"a/rank{number}.json", document(
                step(0, at, 100), launch(at + 1, 1, 1), launch(at + 2, 1, 2), kernel("gemm", at + 10, 80 - waits, 1),
                kernel("ncclAllReduce", at + 90 - waits, waits, 2, 20)))
        self.assertEqual(self.rows("SELECT rank, dur, waiting_rank FROM trace_job_path('a', NULL, 'all') ORDER BY seq"),
                         [(1, 80.0, 0), (0, 20.0, None)])
        self.assertEqual(self.value("SELECT sum(time) FROM trace_step_time('a', 'job', 'all')"), 100)

    def test_a_step_beyond_64_bits(self):
        for rank in (0, 1):
            write(f"a/rank{rank}.json", document(event("op", -5, 1), event("op", 9223372036854775, 0.1),
                                                 distributedInfo={"rank": rank, "world_size": 2}))
        for call in "trace_job_path('a')", "trace_undo('a', 'a')":
            self.assert_error(f"{call.split('(')[0]}: 'a/rank0.json': a part of a step is beyond 64 bits of"
                              " nanoseconds", f"SELECT * FROM {call}")

    def test_copies_that_are_named_like_collectives(self):
        """Copies with the name of a collective, or before one, are not collectives; other work with such a name is
        one.
        """
        for rank in (0, 1):
            write(f"a/rank{rank}.json", document(
                step(0, 0, 100), *(launch(number, 1, number) for number in (1, 2, 3)),
                {**kernel("ncclDevKernel_AllReduce_Sum", 1, 3, 1, 20), "cat": "gpu_memcpy"},
                kernel("ncclDevKernel_AllReduce_Sum", 20 + 20 * rank, 50 - 20 * rank, 2, 20),
                {**kernel("ncclX", 90, 5, 3, 20), "cat": "gpu_memset"},
                distributedInfo={"rank": rank, "world_size": 2}))
        self.assertEqual(self.rows("SELECT rank, dur, waiting_rank, collective, not_matched FROM trace_job_path('a')"
                                   " ORDER BY seq DESC"),
                         [(0, 60, None, None, 0), (1, 40, 0, "ncclDevKernel_AllReduce_Sum", 0)])

    def test_a_rank_that_cannot_be_read(self):
        write("a/rank0.json", document(step(4, 0, 10)))
        write("a/rank1.json", '{"traceEvents": [{"ph": "X", "name": "cut"')
        for function in ("trace_job_path('a')", "trace_step_time('a', 'job')"):
            with self.assertRaisesRegex(Exception, "a/rank1.json"):
                self.rows(f"SELECT * FROM {function}")

    def test_words(self):
        write("a/rank0.json", document(step(4, 0, 10)))
        self.assertEqual(self.value("SELECT count(*) FROM trace_step_time('a', 'JOB')"), 1)
        self.assert_error("trace_step_time: ranks must be an integer, a JSON array of integers, 'all' or 'job', not"
                          " 'jobs'"
                          + self.order("trace_step_time"),
                          "SELECT * FROM trace_step_time('a', 'jobs')")
        self.assert_error("trace_ops: ranks must be an integer, a JSON array of integers or 'all', not 'job'"
                          + self.order("trace_ops"),
                          "SELECT * FROM trace_ops('a', 'job')")

    def test_the_cause_is_on_the_path_and_not_the_wait_for_it(self):
        """examples/gpu: causes are the planted work on rank 1 and the transfer, not the wait of rank 0 for both."""
        found = Counter()
        for sign, side in ((-1, "control"), (1, "test")):
            for name, ns in self.rows("SELECT name, sum(time_ns) / 4 FROM trace_step_time(?, 'job') GROUP BY name",
                                      os.path.join(EXAMPLES, "gpu", side)):
                found[name and name.split("_Sum")[0]] += sign * ns
        self.assertEqual([found["aten::embedding_dense_backward"], found["ncclDevKernel_AllReduce"]], [120000, 180000])


JOB_FUNCTIONS = ("trace_step_diff", "trace_step_causes", "trace_tree_diff", "trace_verdict", "trace_summary")


class Default(InFolder):
    """Q1.4: the default ranks of a comparison of two traces."""

    def put(self, side, rank, *events, cut=False, part=""):
        path = f"{side}/rank{rank}{part}.json"
        write(path, document(*events, distributedInfo={"rank": rank}))
        if cut:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            write(path, text[:-25])

    def steps(self, *numbers, slower=1):
        return [each for number in numbers for each in (
            step(number, 1000 * number, 900), event("op", 1000 * number + 10, 100 * slower),
            launch(1000 * number + 20, 5, number + 1), kernel("gemm", 1000 * number + 300, 200 * slower, number + 1),
            *self.collective(1000 * number + 800))]

    @staticmethod
    def collective(at):
        """A collective that ties the ranks together."""
        return [launch(at, 5, 10 ** 6 + at), kernel("ncclAllReduce", at + 10, 20, 10 ** 6 + at, 20)]

    def both(self, ranks):
        for side, slower in zip(SIDES, (1, 2)):
            for rank in ranks:
                self.put(side, rank, *self.steps(0, 1, 2, slower=slower))

    def taken(self, *given):
        marks = ", ?" * len(given)
        return self.rows(f"SELECT control_chosen, test_chosen, ranks, why"
                         f" FROM trace_compared_ranks('control', 'test'{marks})",
                         *given)[0]

    def check(self, control, test, *given):
        """Checks that every function without ranks gives the result for these ranks."""
        marks = ", ?" * len(given)
        for function in JOB_FUNCTIONS:
            found = self.rows(f"SELECT * FROM {function}('control', 'test', NULL, NULL{marks})", *given)
            asked = self.rows(f"SELECT * FROM {function}('control', 'test', ?, ?{marks})", control, test, *given)
            if function == "trace_summary":  # it lists left-out ranks, and differences of ranks without a job
                found, asked = ([row[5:9] for row in rows if row[1] == "verdict"] for rows in (found, asked))
            if function == "trace_verdict":
                found, asked = ([row[:25] for row in rows] for rows in (found, asked))
            self.assertTrue(found)
            self.assertEqual(found, asked, function)

    def cautions(self):
        return [text for text, in self.rows("SELECT text FROM trace_summary('control', 'test')"
                                            " WHERE text LIKE '%left out of%'")]

    def test_several_ranks_on_both_sides(self):
        self.both((0, 1, 5))
        self.assertEqual(self.taken(), ("job", "job", 3, None))
        self.check("job", "job")
        self.assertEqual(self.cautions(), [])
        self.assertEqual(self.taken(0), (0, None, None, None))
        self.assertEqual(self.taken(None, "all"), (None, "all", None, None))
        self.assertEqual(self.taken("JOB", "job [5, 0]"), ("job", "job [0,5]", 3, None))

    def test_one_rank(self):
        """The job of one rank is the lowest rank, whatever the other side has."""
        self.both((0,))
        self.assertEqual(self.taken(), (None, None, None, None))
        self.check(0, 0)
        self.put("test", 1, *self.steps(0, 1, 2))
        self.assertEqual(self.taken(), (None, None, None, None))
        self.check(0, 0)

    def test_other_ranks_on_the_sides(self):
        self.both((1, 2, 4))
        self.put("control", 0, *self.steps(0, 1, 2))
        self.put("control", 3, *self.steps(0, 1, 2))
        self.put("test", 7, *self.steps(0, 1, 2))
        why = "left out of the job: ranks 0 and 3 (only in control), rank 7 (only in test)"
        self.assertEqual(self.taken(), ("job [1,2,4]", "job [1,2,4]", 3, why))
        self.check("job [1,2,4]", "job [1,2,4]")
        self.assertEqual(self.cautions(), ["caution: " + why])
        os.remove("test/rank7.json")
        self.assertEqual(self.taken()[:2], ("job [1,2,4]", "job"))
        for rank in range(10, 14):
            self.put("control", rank, *self.steps(0, 1, 2))
        self.assertEqual(self.taken()[3], "left out of the job: 6 ranks (only in control)")

    def test_no_rank_in_common(self):
        for rank in (0, 1):
            self.put("control", rank, *self.steps(0, 1, 2))
            self.put("test", rank + 2, *self.steps(0, 1, 2))
        self.assertEqual(self.taken(), (None, None, None, None))
        self.check(0, 2)

    def bad(self, number, why):
        """Rank `number` of test's four ranks is bad: by default it is left out, and in an explicit job it is an
        error.
        """
        others = [rank for rank in range(4) if rank != number]
        job = f"job {str(others).replace(' ', '')}"
        self.assertEqual(self.taken(), (job, job, 3, f"left out of the job: rank {number} ({why})"))
        self.check(job, job)
        self.assertEqual(self.cautions(), [f"caution: left out of the job: rank {number} ({why})"])
        for function in JOB_FUNCTIONS:
            with self.assertRaisesRegex(sqlite3.Error, f"test.*rank{number}"):
                self.rows(f"SELECT * FROM {function}('control', 'test', 'job', 'job')")

    def test_a_rank_that_is_incomplete(self):
        for number in (0, 2):
            self.both(range(4))
            self.put("test", number, *self.steps(0, 1, 2), cut=True)
            self.bad(number, "incomplete in test")

    def test_a_rank_whose_files_are_not_cycles(self):
        self.both(range(4))
        self.put("test", 3, *self.steps(2, 4), part=".b")
        self.bad(3, "steps in two files of test")
        self.put("test", 3, event("op", 9000, 5), part=".b")
        self.bad(3, "steps in two files of test")

    def test_a_rank_without_steps(self):
        for number in (0, 3):
            self.both(range(4))
            self.put("test", number, event("op", 10, 100))
            self.bad(number, "no steps in test")

    def test_no_rank_has_steps(self):
        """T12.3: when no rank has steps, each is taken whole, also beside a trace with steps."""
        for rank in range(3):
            self.put("control", rank, event("op", 10, 100), *self.collective(50))
            self.put("test", rank, event("op", 10, 120), *self.collective(50))
        self.assertEqual(self.taken(), ("job", "job", 3, None))
        self.check("job", "job")
        for rank in range(3):
            self.put("test", rank, *self.steps(0, 1, 2))
        self.assertEqual(self.taken(), ("job", "job", 3, None))
        self.check("job", "job")

    def test_fewer_than_two_are_left(self):
        self.both((0, 1))
        self.put("test", 1, *self.steps(0, 1, 2), cut=True)
        self.assertEqual(self.taken(), (None, None, None, None))
        self.check(0, 0)
        self.put("test", 0, *self.steps(0, 1, 2), cut=True)
        for function in JOB_FUNCTIONS:
            with self.assertRaisesRegex(sqlite3.Error, "test/rank0.json"):
                self.rows(f"SELECT * FROM {function}('control', 'test')")

    def phased(self, side, rank, *phases, slower=1):
        """Steps of a server, with their phase."""
        names = {"prefill": "execute_context_1(64)_generation_0(0)", "decode": "execute_context_0(0)_generation_8(8)"}
        events = []
        for number, phase in enumerate(phases):
            at = 1000 * number
            events += [event(names[phase], at, 900, cat="user_annotation"), event("op", at + 10, 100 * slower),
                       launch(at + 20, 5, number + 1), kernel("gemm", at + 300, 200 * slower, number + 1),
                       *self.collective(at + 800)]
        self.put(side, rank, *events)

    def test_phases(self):
        for side, slower in zip(SIDES, (1, 2)):
            for rank in range(4):
                self.phased(side, rank, *("prefill", "decode", "prefill", "decode", "decode")[:5 if rank < 3 else 3],
                            slower=slower)
        self.assertEqual(self.taken(), ("job", "job", 4, None))
        self.check("job", "job", "decode", "decode")
        self.phased("test", 3, *["prefill"] * 4)
        job, why = "job [0,1,2]", "left out of the job: rank 3 (no such phase in test)"
        self.assertEqual(self.taken(None, None, "decode", "decode"), (job, job, 3, why))
        self.check(job, job, "decode", "decode")
        self.assertEqual(self.taken(None, None, "decode", "all"), ("job", "job", 4, None))
        self.assertEqual(self.rows("SELECT trace_short_name(name), control_steps, test_steps"
                                   " FROM trace_step_diff('control', 'test',"
                                   " NULL, NULL, 'decode', 'decode') WHERE class = 'compute'"), [("op", 2, 2)])

    def test_a_phase_that_a_rank_of_an_explicit_job_lacks(self):
        """The steps of an explicit job are those of the reference, even if a rank lacks a phase; only differences per
        rank use the rank's own steps.
        """
        for side, slower in zip(SIDES, (1, 2)):
            self.phased(side, 0, *["prefill", "decode"] * 3, slower=1)
            self.phased(side, 1, *["prefill", "decode"] * 3, slower=slower)
            self.phased(side, 2, *["prefill"] * 6)
        for function in JOB_FUNCTIONS[:4]:
            self.assertTrue(self.rows(f"SELECT * FROM {function}('control', 'test', 'job', 'job', 'decode', 'decode')"),
                            function)
        self.assert_error("trace_step_causes: rank 0 of control has no steady step of phase 'idle' (phases: prefill,"
                          " decode)",
                          "SELECT * FROM trace_step_causes('control', 'test', 'job', 'job', 'idle', 'idle')")

    def test_that_nothing_ties(self):
        """Q1.6: ranks that no collective ties together are each compared with themselves, also if some of them are
        tied.
        """
        def put(*by_rank, tied=0):
            for side in (0, 1):
                shutil.rmtree(SIDES[side], ignore_errors=True)
                for rank, times in enumerate(by_rank):
                    length = times[side] + 100
                    self.put(SIDES[side], rank, *[one for at in range(0, 6 * length, length) for one in (
                        step(at // length, at, length), launch(at + 5, 5, at + 1),
                        kernel("gemm", at + 10, times[side], at + 1),
                        *(self.collective(at + 800) if rank < tied else ()))])
        put((900, 900), (900, 960), (900, 840), (900, 980), (900, 980))
        self.assertEqual(self.taken(), (3, 3, None, None))
        self.check(3, 3)
        self.assertEqual(self.rows("SELECT text FROM trace_summary('control', 'test') LIMIT 2"), [
            ("rank 3: test is slower here: 1.000 -> 1.080 ms per step, +0.080 ms (+8.0 %)",),
            ("each of 5 ranks is compared with itself: 3 slower, 1 faster, 1 equal",)])
        self.assertEqual(self.value("SELECT words FROM trace_summary('control', 'test')"),
                         "rank 3: test is slower here")
        self.assertEqual(self.taken("job", "job"), ("job", "job", 5, None))
        put((900, 900), (900, 900), (900, 800), tied=2)
        self.assertEqual(self.taken()[:3], (2, 2, None))
        put((900, 900), (900, 901), (900, 900), tied=0)
        self.assertEqual(self.rows("SELECT text FROM trace_summary('control', 'test') LIMIT 2"), [
            ("rank 1: no clear difference: 1.00 -> 1.00 ms per step, 0 ms",),
            ("each of 3 ranks is compared with itself: 2 equal, 1 not clear",)])
        put((900, 900), (900, 900), (900, 980), tied=3)
        self.assertEqual(self.taken(), ("job", "job", 3, None))

    def test_files_that_are_not_traces(self):
        self.both((0, 1))
        write("control/notes.json", "{}")
        self.assertEqual(self.taken(), ("job", "job", 2, None))
        self.check("job", "job")

    def test_errors_are_those_of_the_function(self):
        self.both((0, 1))
        self.assert_error("trace_compared_ranks: control_rank must be an integer, a JSON array of integers, 'all' or"
                          " 'job', not 'x'"
                          + self.order("trace_compared_ranks"),
                          "SELECT * FROM trace_compared_ranks('control', 'test', 'x')")
        for wrong in ("job0", "job []", "job [0", "job [0.5]", "jobs"):
            self.assert_error("trace_step_time: ranks must be an integer, a JSON array of integers, 'all' or 'job',"
                              f" not '{wrong}'{self.order('trace_step_time')}",
                              "SELECT * FROM trace_step_time('control', ?)", wrong)
        self.assert_error("trace_step_time: 'control' has no rank 7 (ranks: 0, 1)",
                          "SELECT * FROM trace_step_time('control', 'job [0,7]')")
        os.remove("test/rank1.json")
        os.symlink("nowhere", "test/rank1.json")
        for function in JOB_FUNCTIONS:
            with self.assertRaisesRegex(sqlite3.Error, f"^{function}: .*test/rank1.json"):
                self.rows(f"SELECT * FROM {function}('control', 'test')")

    def test_a_job_of_some_ranks(self):
        """A job of some ranks equals the job of a folder with only these ranks."""
        for seed in range(series(10, 60)):
            made = made_job(2 * 10 ** 6 + seed, 6, whole=True)
            some = sorted(random.Random(seed).sample(list(made), min(len(made), 2 + seed % 3)))
            write_ranks("job", made)
            write_ranks("some", {rank: made[rank] for rank in some})
            self.assertEqual(self.rows(PARTS.replace("'job'", f"'job {some}'"), "job", "all", "op", "device"),
                             self.rows(PARTS, "some", "all", "op", "device"), seed)
            whole = self.rows("SELECT * FROM trace_job_path('some', NULL, 'all')")
            for ranks in (f"job {some}", f"{some}"):
                self.assertEqual(self.rows("SELECT * FROM trace_job_path('job', ?, 'all')", ranks), whole,
                                 (seed, ranks))
            shutil.rmtree("job")
            shutil.rmtree("some")


class OnlyRank(InFolder):
    """Q8: the only rank of a row of a diff."""

    COUNT = series(12, 150)

    def pairs(self):
        """Jobs of one program in which a kernel takes longer, on one rank or on all."""
        for seed in range(self.COUNT):
            rng = random.Random(f"only rank {seed}")
            made = made_job(3 * 10 ** 6 + seed, 4, whole=True)
            ranks = [rank for rank in made if rng.random() < 0.4] or [rng.choice(list(made))]
            slow = {f"kernel{rng.randrange(5)}", "kernel0"}
            test = {rank: [{**each, "dur": round(each["dur"] * 1.5, 3)} if rank in ranks and each["name"] in slow
                           else each
                           for each in events] for rank, events in made.items()}
            if seed % 4 == 0 and len(test) > 1:
                test.pop(max(test))  # 'job' is selected anyway
            for side, events in (("control", made), ("test", test)):
                shutil.rmtree(side, ignore_errors=True)
                write_ranks(side, events)
            yield seed

    def test_parts(self):
        seen = Counter()
        for seed in self.pairs():
            clock, level = CLOCKS[seed % 3 == 1], LEVELS[seed % len(LEVELS)]
            expected = oracle_job.only_ranks(*(oracle_job.Job(oracle.read_trace(side), clock) for side in SIDES), level)
            found = {tuple(row[:2]): row[2] for row in self.rows(
                "SELECT class, name, only_rank FROM trace_step_diff('control', 'test', 'job', 'job', 'all', 'all', ?,"
                " ?)", level, clock)}
            with self.subTest(seed=seed):
                self.assertEqual(found.keys(), expected.keys())
                for part, rank in expected.items():
                    if rank != "?":
                        self.assertEqual(found[part], rank, part)
                    seen["rank" if rank not in (None, "?") else rank] += 1
        self.assertGreater(seen["rank"], self.COUNT // 6)
        self.assertGreater(seen[None], self.COUNT)

    def test_nodes_of_the_tree(self):
        given = "{0}, {0}, 'all', 'all', NULL"
        seen = 0
        for seed in self.pairs():
            whole, count = test_tree_diff.oracle(self.db, SIDES, given.format("'job'"))
            own = {}
            for rank in sorted(set.intersection(*({rank for rank, in self.rows("SELECT rank FROM trace_files(?)", side)}
                                                  for side in SIDES))):
                nodes, steps = test_tree_diff.oracle(self.db, SIDES, given.format(rank))
                own[rank] = {node[0]: Fraction(node[3][1], steps[1]) - Fraction(node[3][0], steps[0]) for node in nodes}
            rows = test_tree_diff.tree(self.db, SIDES, given.format("'job'"))
            with self.subTest(seed=seed):
                self.assertEqual([row.frames for row in rows], [node[0] for node in whole])
                for row, (frames, class_, _, ns, *_) in zip(rows, whole):
                    diff = Fraction(ns[1], count[1]) - Fraction(ns[0], count[0])
                    rank = None if class_ == "comm" else oracle_job.only_rank(
                        diff, {rank: nodes.get(frames, 0) for rank, nodes in own.items()})
                    if rank != "?":
                        self.assertEqual(row.only_rank, rank, frames)
                    seen += rank not in (None, "?")
        self.assertGreater(seen, self.COUNT * 3 // 4)

    def test_a_rank_with_exactly_half_of_it(self):
        """A rank with exactly half of a difference is handled exactly: integers are summed, so no rounding decides."""
        write_halves()
        found = self.rows("SELECT name, only_rank FROM trace_step_diff('control', 'test') WHERE class = 'compute'"
                          " ORDER BY name")
        self.assertEqual(found, [(f"k{number:02}", None) for number in range(21)])
        self.assertEqual(self.rows("SELECT DISTINCT only_rank FROM trace_tree_diff('control', 'test')"
                                   " WHERE name LIKE 'k%'"), [(None,)])

    def test_an_operator_with_another_name_in_test(self):
        """Q8.4: an operator has another name in test, but the same kernel, which takes 30 us longer on rank 1 only; the
        other rank waits for it.
        """
        def work(number, operator, us):
            at, end = 2000 * number, 2000 * number + 400
            return [step(number, at, 1990), event(operator, at + 10, 30), launch(at + 15, 5, 2 * number),
                    kernel("sgemm", at + 30, us, 2 * number), event("nccl:all_reduce", at + 50, 20),
                    launch(at + 55, 5, 2 * number + 1),
                    kernel("ncclAllReduce", at + 30 + us, end - at - 30 - us, 2 * number + 1, 20),
                    event("cudaDeviceSynchronize", at + 80, end - at - 80, cat="cuda_runtime")]
        for side, operator, more in (("a", "aten::mm", 0), ("b", "aten::linear", 30)):
            for rank in range(2):
                write(f"{side}/rank{rank}.json", document(
                    *(each for number in range(5) for each in work(number, operator, 100 + more * rank)),
                    distributedInfo={"rank": rank, "world_size": 2}))
        for sides, diff in (("ab", 30), ("ba", -30)):
            self.assertEqual(self.rows("SELECT kind, rank, diff_time FROM trace_step_causes(?, ?, 'job', 'job')"
                                       " WHERE class = 'compute' AND diff_time <> 0", *sides), [("changed", 1, diff)])

    def test_a_queue_of_kernels_that_went(self):
        """Q8.4: the launch latency behind a kernel that only control has moves to test's kernel."""
        pair = [os.path.join(EXAMPLES, "gpu", side) for side in SIDES]
        for sides, diff in ((pair, -4.4), (pair[::-1], 4.4)):
            self.assertEqual(self.rows("SELECT kind, round(diff_time, 6) FROM trace_step_causes(?, ?, 'job', 'job')"
                                       " WHERE kind IN ('queued', 'moved')", *sides), [("queued", diff)])

    def test_it_is_null_but_for_jobs(self):
        pair = [os.path.join(EXAMPLES, "gpu", side) for side in SIDES]
        for function in ("trace_step_diff", "trace_tree_diff"):
            query = f"SELECT count(*), count(only_rank) > 0 FROM {function}(?, ?{{}})"
            self.assertEqual([self.rows(query.format(given), *pair)[0][1]
                              for given in ("", ", 'job', 'job'", ", 0, 0", ", 'all', 'all'", ", 'job', 0",
                                            ", 'job [1]', 'job [1]'")],
                             [1, 1, 0, 0, 0, 0])

    def test_the_planted_rank(self):
        pair = [os.path.join(EXAMPLES, "gpu", side) for side in SIDES]
        self.assertEqual(self.rows("SELECT name FROM trace_step_diff(?, ?) WHERE only_rank = 1 AND abs(diff_time) > 1",
                                   *pair),
                         [("aten::embedding_dense_backward",)])

    def test_it_is_the_rank_of_causes(self):
        """Causes have the only rank, even for parts that are individual causes."""
        pair = [os.path.join(EXAMPLES, "gpu", side) for side in SIDES]
        parts = dict(self.rows("SELECT class || ' ' || name, only_rank"
                               " FROM trace_step_diff(?, ?, NULL, NULL, NULL, NULL, 'top_op')", *pair))
        for part, rank in self.rows("SELECT class || ' ' || name, rank FROM trace_step_causes(?, ?)"
                                    " WHERE kind = 'changed' AND abs(diff_time) > 90", *pair):
            self.assertEqual(parts[part], rank, part)
