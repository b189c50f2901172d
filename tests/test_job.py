"""The path of a job (rules Q): trace_job_path, and the ranks 'job' of trace_step_time and trace_step_path. Against
recorded answers (GOLDEN), against the rules word for word (oracle_job.py) on random jobs, by what must not matter, and
on jobs made by hand.
"""
import csv
import os
import random
import shutil
from collections import Counter

import oracle
import oracle_job
from generate_job import Clock, Recorder, made_job, write_job, write_ranks
from made import InFolder, document, event, kernel, launch, step, write
from support import EXAMPLES, corpus, golden, series
from test_step_time import GAPS, LEVELS

CLOCKS = ("device", "host")
PARTS = "SELECT iteration, rank, class, name, time_ns FROM trace_step_time(?, 'job', ?, ?, ?)"
SCHEDULE = ("SELECT iteration, rank, ts_ns, dur_ns, waiting_rank, collective, queued FROM trace_job_path(?, 'all')"
            " ORDER BY iteration, seq")


class Golden(InFolder):
    """golden/job: ns by iteration, rank, class and name; gaps have no names in them."""

    def check(self, name, path, iterations):
        with open(golden("job", f"{name}.csv"), newline="", encoding="utf-8") as lines:
            expected = {(int(row["iteration"]), int(row["rank"]), row["class"], row["name"] or None): int(row["time_ns"])
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
    """Random jobs: C and the oracle give the same to the ns."""

    COUNT = int(os.environ.get("RANDOM_TRACES") or series(60, 600))

    def check(self, clock):
        job = oracle_job.Job(oracle.read_trace("job"), clock)
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
        seen = Counter()
        for seed in range(self.COUNT):
            shutil.rmtree("job", ignore_errors=True)
            write_job("job", seed)
            with self.subTest(seed=seed):
                self.check("host")
                job = self.check("device")
                self.check_schedule(job)
                self.check_paths()
                seen["hops"] += sum(stretch.waiting is not None for stretch in job.schedule)
                seen["queued"] += sum(stretch.queued is not None for stretch in job.schedule)
                seen["not matched"] += job.not_matched > 0
                seen["not tied"] += len(job.tied) < len(job.ranks)
        for what in ("hops", "queued", "not matched", "not tied"):
            self.assertGreater(seen[what], self.COUNT // 20, what)

    def check_schedule(self, job):
        """The rows of trace_job_path, where the path stays on its rank joined."""
        found, counts = [], self.rows("SELECT DISTINCT not_matched, not_tied FROM trace_job_path('job', 'all')")
        for iteration, rank, ts, dur, waiting, collective, queued in self.rows(SCHEDULE, "job"):
            if dur:
                found.append((iteration, rank, ts, ts + dur, waiting, collective, queued))
        expected = []
        for stretch in reversed(job.schedule):
            made = (stretch.window.iteration, stretch.rank, stretch.start, stretch.end, stretch.waiting,
                    stretch.awaited and oracle_job.stable(stretch.awaited.row.name),
                    stretch.queued and oracle_job.stable(stretch.queued.row.name))
            last = expected[-1] if expected else None
            if last and last[:2] == made[:2] and last[3] == made[2] and last[4] is None and not (last[6] or made[6]):
                made = (*last[:3], *made[3:])
                expected.pop()
            expected.append(made)
        self.assertEqual(found, expected)
        self.assertEqual(counts, [(job.not_matched, len(job.ranks) - len(job.tied))])

    def check_paths(self):
        """trace_step_path cuts the same time; its sums over the trace have no ranks."""
        classes = ("SELECT {}, class, sum(time_ns) FROM trace_step_{}(?, 'job', 'all'{})"
                   " WHERE time_ns > 0 OR class IS NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3")
        self.assertEqual(self.rows(classes.format("iteration, rank", "path", ""), "job"),
                         self.rows(classes.format("iteration, rank", "time", ""), "job"))
        self.assertEqual(
            self.rows(classes.format("rank, iteration", "path", ", NULL, 'trace'"), "job"),
            self.rows("SELECT NULL, NULL, class, sum(time_ns) FROM trace_step_time('job', 'job', 'all')"
                      " WHERE time_ns > 0 OR class IS NULL GROUP BY class ORDER BY class"))


class Same(InFolder):
    """What must not matter: jobs in which nothing is lost."""

    COUNT = series(25, 150)

    def jobs(self):
        for seed in range(self.COUNT):
            made = made_job(10 ** 6 + seed, 6, whole=True)
            if len(made) > 1:
                with self.subTest(seed=seed):
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
        """Whether two ranks start a collective at the same ns: then the lower one is taken to be the last (Q5.3)."""
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
            shifted = [{**each, "ts": round(each["ts"] + ahead, 3)} for each in made[number]]
            self.assertEqual(self.asked({**made, number: shifted}), self.asked(made))

    def test_a_rank_that_waits_everywhere(self):
        """The highest one; it is there before the lowest one."""
        for _, made in self.jobs():
            if any("Process Group Name" in each.get("args", {}) and each["args"]["Process Group Name"] != "0"
                   for each in made[0]):
                continue
            waits = []
            for each in made[0]:
                if each["cat"] == "kernel" and each["name"].startswith("nccl"):
                    waits.append({**each, "ts": round(each["ts"] - 1000, 3), "dur": round(each["dur"] + 1000, 3)})
                elif each["cat"] != "kernel":
                    waits.append(each)
            self.assertEqual(self.asked({**made, 50: waits}), self.asked(made))

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
    """Jobs made by hand; times are us of the true time, with a clock for each rank."""

    def job(self, *programs, steps=((0, 200),)):
        """Programs by rank: (ahead, [(name, start, end, stream, group, launched), ...] or fewer of these)."""
        ranks = {}
        for number, (ahead, works) in enumerate(programs):
            ranks[number] = rank = Recorder(Clock(1000 * ahead))
            for name, start, end, stream, group, launched in works:
                rank.work(name, 1000 * launched, 1000 * start, 1000 * end, stream,
                          {"Process Group Name": group} if group else None)
            for iteration, (start, end) in enumerate(steps):
                if any(start <= work[5] < end for work in works):
                    rank.step(iteration, 1000 * start, 1000 * end)
        write_ranks("job", {number: rank.events for number, rank in ranks.items()})
        found = {}
        for iteration, rank, class_, name, ns in self.rows(PARTS, "job", "all", "kernel", "device"):
            if class_ in ("compute", "comm"):
                found.setdefault(iteration, []).append((rank, name, ns / 1000))
        schedule = self.rows("SELECT rank, dur, waiting_rank, collective, queued FROM trace_job_path('job', 'all')"
                             " ORDER BY iteration, seq")
        return {iteration: sorted(parts) for iteration, parts in found.items()}, schedule

    @staticmethod
    def compute(start, end, name="gemm", launched=2):
        return name, start, end, 7, None, launched

    @staticmethod
    def comm(start, end, name="ncclAllReduce", group="0", stream=20, launched=2):
        return name, start, end, stream, group, launched

    def test_the_rank_that_comes_last_is_on_the_path(self):
        """Rank 1 computes longer; its clock is ahead."""
        parts, schedule = self.job((0, [self.compute(10, 60), self.comm(60, 120)]),
                                   (5000, [self.compute(10, 100), self.comm(100, 120)]), steps=((0, 120),))
        self.assertEqual(parts, {0: [(0, "ncclAllReduce", 20.0), (1, "gemm", 90.0)]})
        self.assertEqual(schedule, [(1, 100.0, 0, "ncclAllReduce", None), (0, 20.0, None, None, None)])

    def test_a_pipeline_of_send_and_receive(self):
        """Three stages, forward and backward: the path goes back through each."""
        def send(start, end, pair):
            return self.comm(start, end, "ncclDevKernel_SendRecv", pair, 21)

        def receive(start, end, pair):
            return self.comm(start, end, "ncclDevKernel_SendRecv", pair, 22)

        parts, schedule = self.job(
            (0, [self.compute(10, 40, "f0"), send(40, 50, "0-1"), receive(55, 180, "0-1"), self.compute(180, 200, "b0")]),
            (-7, [receive(5, 50, "0-1"), self.compute(50, 80, "f1"), send(80, 90, "1-2"), receive(95, 140, "1-2"),
                  self.compute(140, 170, "b1"), send(170, 180, "0-1")]),
            (900, [receive(5, 90, "1-2"), self.compute(90, 130, "fb2"), send(130, 140, "1-2")]))
        name = "ncclDevKernel_SendRecv"
        self.assertEqual(parts, {0: [(0, "b0", 20.0), (0, "f0", 30.0), (0, name, 10.0), (1, "b1", 30.0), (1, "f1", 30.0),
                                     (1, name, 20.0), (2, "fb2", 40.0), (2, name, 10.0)]})
        self.assertEqual([(rank, waiting) for rank, _, waiting, _, _ in schedule],
                         [(0, 1), (1, 2), (2, 1), (1, 0), (0, None)])

    def test_a_broadcast_that_is_over_on_its_root(self):
        """Rank 1 joins it when it has ended on rank 0, which waits for nobody."""
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
        """Rank 1 computes all the time; its all-reduce begins when the all-gather before it ends, which rank 2 began last."""
        parts, schedule = self.job(
            (0, [self.comm(40, 100, group="0-1")]),
            (3, [self.compute(10, 95), self.comm(50, 90, "ncclAllGather", "1-2"), self.comm(90, 100, group="0-1")]),
            (-3, [self.compute(10, 80, "slow"), self.comm(80, 90, "ncclAllGather", "1-2")]), steps=((0, 100),))
        self.assertEqual(parts, {0: [(0, "ncclAllReduce", 10.0), (1, "ncclAllGather", 10.0), (2, "slow", 70.0)]})
        self.assertEqual(schedule, [(2, 80.0, 1, "ncclAllGather", None), (1, 10.0, 0, "ncclAllReduce", "ncclAllGather"),
                                    (0, 10.0, None, None, None)])

    def test_a_rank_that_was_recorded_from_a_later_step_on(self):
        """Before that the path goes on with the reference, and from there with others."""
        early = [self.compute(110, 120, launched=102), self.comm(120, 180, launched=102)]
        parts, schedule = self.job(
            (0, [self.compute(10, 30), self.comm(30, 60), *early]), (0, [self.compute(10, 50), self.comm(50, 60), *early]),
            (70, [self.compute(110, 170, launched=102), self.comm(170, 180, launched=102)]), steps=((0, 100), (100, 200)))
        self.assertEqual(parts, {0: [(0, "ncclAllReduce", 10.0), (1, "gemm", 40.0)],
                                 1: [(0, "ncclAllReduce", 10.0), (2, "gemm", 60.0)]})
        self.assertEqual(schedule, [(1, 50.0, 0, "ncclAllReduce", None), (0, 10.0, None, None, None),
                                    (0, 40.0, None, None, None), (2, 70.0, 0, "ncclAllReduce", None),
                                    (0, 10.0, None, None, None)])

    def test_a_wait_that_small_kernels_cut(self):
        """Rank 0 waits from 20 to 120 with a kernel in between; rank 1 comes at 110."""
        parts, _ = self.job(
            (0, [self.comm(20, 120), self.compute(60, 63, "small")]),
            (0, [self.compute(10, 110), self.comm(110, 120)]), steps=((0, 120),))
        self.assertEqual(parts, {0: [(0, "ncclAllReduce", 10.0), (1, "gemm", 100.0)]})

    def test_groups_of_one_name_are_told_apart_by_their_ranks(self):
        """Two pairs with groups of the same name: matched by it, all would seem to wait for rank 3."""
        ranks = {}
        for number, computes in enumerate((60, 40, 20, 90)):
            ranks[number] = rank = Recorder()
            pair = [0, 1] if number < 2 else [2, 3]
            args = {"Process Group Name": "pair", "Process Group Ranks": str(pair)}
            rank.work("gemm", 2000, 10000, 1000 * computes)
            rank.work("ncclAllReduce", 2000, 1000 * computes, 100000, 20, args)
            rank.step(0, 0, 100000)
        write_ranks("job", {number: rank.events for number, rank in ranks.items()})
        self.assertEqual(self.rows("SELECT DISTINCT rank, not_tied FROM trace_job_path('job', 'all')"), [(0, 2)])

    def test_a_lost_collective(self):
        """The group of the step is not matched, on both ranks; the rest is."""
        work = [self.compute(10, 20), self.comm(20, 30), self.comm(40, 50), self.comm(60, 100, group="1")]
        parts, _ = self.job((0, work), (0, [self.compute(10, 90), work[1], self.comm(90, 100, group="1")]),
                            steps=((0, 100),))
        self.assertEqual(parts, {0: [(0, "ncclAllReduce", 10.0), (1, "gemm", 80.0)]})
        self.assertEqual(self.value("SELECT DISTINCT not_matched FROM trace_job_path('job', 'all')"), 3)


class Asked(InFolder):
    """Arguments and errors."""

    def test_the_steps_are_those_of_the_reference(self):
        for rank, number in ((0, 3), (1, 4)):
            write(f"a/rank{rank}.json", document(step(number, 0, 10), event("op", 1, 5)))
        for function in ("trace_job_path('a', 4)", "trace_step_time('a', 'job', 4)", "trace_step_path('a', 'job', 4)"):
            name, subject = function.split("(")[0], "the trace" if "job_path" in function else "'a'"
            self.assert_error(f"{name}: {subject} has no step 4 (steps: 3)", f"SELECT * FROM {function}")

    def test_ranks_without_steps(self):
        write("a/rank0.json", document(event("op", 1, 5)))
        write("a/rank1.json", document(step(4, 0, 10), event("op", 1, 5)))
        self.assert_error("trace_job_path: rank 0 of the trace has no steps ('a/rank0.json'), but rank 1 has: choose ranks "
                          "that have steps, or iterations 'all'", "SELECT * FROM trace_job_path('a')")
        self.assertEqual(self.rows("SELECT iteration, rank, dur FROM trace_job_path('a', 'all')"), [(4, 1, 10.0)])
        self.assertEqual(self.rows("SELECT rank, sum(time) FROM trace_step_time('a', 'job', 'all') GROUP BY 1"), [(1, 10.0)])

    def test_a_trace_without_steps(self):
        write("a/rank0.json", document(event("op", 1, 5)))
        self.assertEqual(self.rows("SELECT iteration, rank, dur FROM trace_job_path('a')"), [(None, 0, 5.0)])

    def test_a_step_of_no_length(self):
        write("a/rank0.json", document(step(4, 5, 0)))
        self.assertEqual(self.rows("SELECT iteration, seq, rank, dur FROM trace_job_path('a', 'all')"), [(4, 0, 0, 0.0)])
        self.assertEqual(self.rows("SELECT iteration, rank, class, time FROM trace_step_time('a', 'job', 'all')"),
                         [(4, 0, None, 0.0)])

    def test_clocks_at_the_ends_of_all_time(self):
        far = 9223372036854000
        for number, at, waits in ((0, -far, 60), (1, far, 10), (2, 0, 30)):
            write(f"a/rank{number}.json", document(
                step(0, at, 100), launch(at + 1, 1, 1), launch(at + 2, 1, 2), kernel("gemm", at + 10, 80 - waits, 1),
                kernel("ncclAllReduce", at + 90 - waits, waits, 2, 20)))
        self.assertEqual(self.rows("SELECT rank, dur, waiting_rank FROM trace_job_path('a', 'all') ORDER BY seq"),
                         [(1, 80.0, 0), (0, 20.0, None)])
        self.assertEqual(self.value("SELECT sum(time) FROM trace_step_time('a', 'job', 'all')"), 100)

    def test_a_rank_that_cannot_be_read(self):
        write("a/rank0.json", document(step(4, 0, 10)))
        write("a/rank1.json", '{"traceEvents": [{"ph": "X", "name": "cut"')
        for function in ("trace_job_path('a')", "trace_step_time('a', 'job')"):
            with self.assertRaisesRegex(Exception, "a/rank1.json"):
                self.rows(f"SELECT * FROM {function}")

    def test_words(self):
        write("a/rank0.json", document(step(4, 0, 10)))
        self.assertEqual(self.value("SELECT count(*) FROM trace_step_time('a', 'JOB')"), 1)
        self.assert_error("trace_step_time: ranks must be an integer, a JSON array of integers, 'all' or 'job', not 'jobs'",
                          "SELECT * FROM trace_step_time('a', 'jobs')")
        self.assert_error("trace_ops: ranks must be an integer, a JSON array of integers or 'all', not 'job'",
                          "SELECT * FROM trace_ops('a', 'job')")

    def test_the_cause_is_on_the_path_and_not_the_wait_for_it(self):
        """examples/gpu: what is planted on rank 1, and the transfer, not the wait of rank 0 for both."""
        found = Counter()
        for sign, side in ((-1, "control"), (1, "test")):
            for name, ns in self.rows("SELECT name, sum(time_ns) / 4 FROM trace_step_time(?, 'job') GROUP BY name",
                                      os.path.join(EXAMPLES, "gpu", side)):
                found[name and name.split("_Sum")[0]] += sign * ns
        self.assertEqual([found["aten::embedding_dense_backward"], found["ncclDevKernel_AllReduce"]], [120000, 180000])
