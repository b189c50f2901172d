"""examples/cluster: ranks that are summarised one by one and merged give the rows of one process that reads them all,
also if a worker is killed, a run is stopped and resumed, or a file is damaged. It runs on Dask, and on Slurm where that
starts.
"""
import collections
import contextlib
import getpass
import glob
import json
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

from generate_job import made_job, write_job, write_ranks
from made import document, event, kernel, launch, step, write, write_halves
from support import EXAMPLES, EXTENSION, ROOT, connect, series, slow, slowest
from test_documents import RUNS, read

CLUSTER = os.path.join(EXAMPLES, "cluster")
sys.path.insert(0, CLUSTER)
import shards  # noqa: E402  pylint: disable=wrong-import-position

shards.EXTENSION = EXTENSION
SHARDS = os.path.join(CLUSTER, "shards.py")
VENV = os.path.join(ROOT, "build", "hosts", "venv")
DASK = (os.path.join(VENV, "bin", "python"), os.path.join(CLUSTER, "dask_ranks.py"))
SLURM = ("munged", "slurmctld", "slurmd", "sbatch")
RANKS = 256

# A table of the merged database, and the call with the same rows.
SAME = {
    "SELECT rank, iteration, device, cat, name, short_name, counts, total_ns / 1000.0, self_ns / 1000.0,"
    " total_ns / (1000.0 * counts), min_ns / 1000.0, max_ns / 1000.0 FROM ops WHERE side = '{side}'":
        "SELECT * FROM trace_ops('{trace}', 'all', 'all')",
    "SELECT rank, iteration, class, name, time, time_ns, stratum FROM step_time WHERE side = '{side}'":
        "SELECT * FROM trace_step_time('{trace}', 'all', 'all')",
    "SELECT rank, iteration, class, name, time, time_ns, stratum FROM step_time WHERE side = '{side}' AND is_steady":
        "SELECT * FROM trace_step_time('{trace}', 'all')",
    "SELECT rank, iteration, ts, dur, file, ts_ns, dur_ns, name, phase, batch_size, padded_size, tokens, stratum"
    " FROM steps WHERE side = '{side}'":
        "SELECT * FROM trace_steps('{trace}')",
    "SELECT iteration, process_group, name, seq, rank_count, transfer, max_wait, last_rank, spread_end"
    " FROM collectives WHERE side = '{side}'":
        "SELECT iteration, process_group, name, seq, rank_count, transfer, max_wait, last_rank, spread_end"
        " FROM trace_collectives('{trace}', 'all', 'all')",
    "SELECT iteration, seq, rank, ts, dur, waiting_rank, collective, process_group, queued, ts_ns, dur_ns,"
    " not_matched, not_tied"
    " FROM job_path WHERE side = '{side}'": "SELECT * FROM trace_job_path('{trace}', NULL, 'all')",
    "SELECT iteration, seq, rank, ts_ns FROM job_path WHERE side = '{side}' AND is_steady":
        "SELECT iteration, seq, rank, ts_ns FROM trace_job_path('{trace}')",
    "SELECT rank, iteration, class, name, time, time_ns, stratum FROM job_step_time WHERE side = '{side}'":
        "SELECT * FROM trace_step_time('{trace}', 'job', 'all')",
    "SELECT rank, iteration, class, name, time, time_ns, stratum FROM job_step_time"
    " WHERE side = '{side}' AND is_steady":
        "SELECT * FROM trace_step_time('{trace}', 'job')",
    "SELECT * FROM job_step_diff": "SELECT * FROM trace_step_diff('{control}', '{test}', 'job', 'job')",
    "SELECT * FROM diff": "SELECT * FROM trace_diff('{control}', '{test}', 'all', 'all', 'steady', 'steady', 'ALL', 0)",
    "SELECT * FROM step_diff": "SELECT * FROM trace_step_diff('{control}', '{test}', 'all', 'all')",
}


def rank_trace(chance, rank, ranks, steps=4, first=0, slower=0):
    """A small trace with operators, kernels, and collectives of two process groups, in steps of different lengths."""
    at, correlation, events = 1000 * first, 100 * first, []
    for number in range(first, first + steps):
        length = chance.randint(700, 900)
        events.append(step(number, at, length))
        for index in range(3):
            correlation += 1
            begin = at + 100 * index + chance.randint(5, 30)
            name = chance.choice(("gemm", "softmax<float>(int)", f"only_on_{rank}"))
            events += [event(f"aten::op{index}", begin, 60), launch(begin + 3, 4, correlation),
                       kernel(name, begin + 20 + chance.random(), 40 + slower + chance.random(), correlation)]
        for index in range(4):
            correlation += 1
            begin = at + 400 + 70 * index
            work = kernel(f"ncclDevKernel_AllReduce_{chance.choice('ab')}", begin + 10 + chance.randint(0, 4),
                          40 + chance.randint(0, 3), correlation, 20)
            work["args"]["Process Group Name"] = ("all", f"pair{rank // 2}")[index % 2]
            events += [launch(begin, 4, correlation), work]
        at += 1000 + chance.choice((0, 0, 0, 0, 50))  # unaligned clocks
    events += [event("outside", at + 10, 7), launch(at + 11, 2, 9999),
               kernel("ncclDevKernel_Broadcast", at + 20, 5, 9999, 20)]
    return document(*events, baseTimeNanoseconds=10 ** 18 + rank // 2,
                    distributedInfo={"rank": rank, "world_size": ranks, "backend": "nccl"})


def write_runs(folder, ranks, seed=1):
    chance = random.Random(seed)
    for side in ("control", "test"):
        for rank in range(ranks):
            write(os.path.join(folder, side, f"rank{rank}.json"),
                  rank_trace(chance, rank, ranks, slower=5 * (side == "test")))


def environment(**more):
    return {**os.environ, "TRACEDIFF": EXTENSION, **more}


class InRuns(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = os.path.realpath(place.name)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def run_shards(self, *arguments, status=0):
        done = subprocess.run([sys.executable, SHARDS, *arguments], env=environment(), cwd=self.folder, text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout, done.stderr

    def make(self, side, *paths, into="shards"):
        return self.run_shards("make", side, self.path(into), *sorted(paths))[0].splitlines()

    def make_both(self):
        return [line for side in ("control", "test") for line in self.make(side, *glob.glob(self.path(side, "*")))]

    def merge(self, *folders, missing=False):
        return self.run_shards("merge", self.path("merged.db"), *(folders or ["shards"]), status=3 if missing else 0)

    def content(self, path):
        with open(self.path(path), "rb") as file:
            return file.read()

    def query(self, sql, database="merged.db"):
        with contextlib.closing(sqlite3.connect(self.path(database))) as db:
            return db.execute(sql).fetchall()

    def files_merged(self):
        """The files that one process must read, by side."""
        return {side: json.dumps([file for file, in self.query(
            f"SELECT file FROM files WHERE side = '{side}' EXCEPT SELECT file FROM left_out WHERE side = '{side}'")])
                for side in shards.SIDES}

    def assert_same(self, control=None, test=None, database="merged.db", may_be_empty=False):
        """Asserts that the merged database has the rows of one process, including the job's path, which needs the files
        on it.
        """
        for file, in self.query("SELECT DISTINCT file FROM job_asked", database):
            shards.ask(self.path(database), file, self.path("answers", str(random.randrange(3))))
        shards.add(self.path(database), [self.path("answers")])
        traces = {"control": control or self.path("control"), "test": test or self.path("test")}
        with contextlib.closing(connect()) as db:
            for merged, call in SAME.items():
                for side, trace in traces.items() if "{side}" in merged else ((None, None),):
                    expected = db.execute(call.format(side=side, trace=trace, **traces)).fetchall()
                    found = self.query(merged.format(side=side), database)
                    self.assertGreater(len(expected), -may_be_empty, call)
                    self.assertEqual(collections.Counter(found), collections.Counter(expected), merged)
                    if side is None:
                        self.assertEqual(found, expected, merged)  # in order


class Merged(InRuns):
    def test_a_few_ranks(self):
        write_runs(self.folder, 5)
        self.assertEqual({line.split(":")[0] for line in self.make_both()}, {"made"})
        self.assertEqual(self.merge(), (f"merged 10 shards into {self.path('merged.db')}\n", ""))
        self.assert_same()

    def test_the_example(self):
        for side in ("control", "test"):
            self.make(side, *glob.glob(os.path.join(EXAMPLES, "gpu", side, "*")))
        self.merge()
        self.assert_same(os.path.join(EXAMPLES, "gpu", "control"), os.path.join(EXAMPLES, "gpu", "test"))

    def test_collectives_of_hosts(self):
        """Collectives of gloo overlap; in test, rank 0 runs some on a device, so only these count (W1). Rank 1 has
        cycles in two files.
        """
        for side in shards.SIDES:
            for rank, first in ((0, 0), (0, 4), (1, 0), (1, 4)):
                events = []
                for number in range(first, first + 3):
                    at, late = 1000 * number + 7 * rank, 100 * (rank != number % 2)
                    events += [step(number, at, 900), event("aten::mm", at + 5, 60 + late)]
                    if side == "test" and rank == 0:
                        events += [launch(at + 70, 5, number + 1),
                                   kernel("ncclDevKernel_AllReduce_Sum", at + 80, 50, number + 1)]
                        continue
                    events += [event(f"gloo:{name}", at + begin + late, end - begin - late, cat="user_annotation",
                                     tid=2) for name, begin, end in (("all_reduce", 100, 300), ("broadcast", 110, 400))]
                write(self.path(side, f"rank{rank} {first}.json"),
                      document(*events, distributedInfo={"rank": rank, "world_size": 2}))
        self.make_both()
        self.assertEqual(self.merge()[1], "")
        self.assert_same()
        self.assertEqual(self.query("SELECT side, name, count(*), rank_count, min(transfer), max(max_wait),"
                                    " count(DISTINCT last_rank) FROM collectives GROUP BY side, name"),
                         [("control", "gloo:all_reduce", 6, 2, 100, 100, 2),
                          ("control", "gloo:broadcast", 6, 2, 190, 0, 2),
                          ("test", "ncclDevKernel_AllReduce_Sum", 6, 1, 50, 0, 0)])

    def test_a_rank_with_exactly_half_of_a_difference(self):
        with contextlib.chdir(self.folder):
            write_halves()
        self.make_both()
        self.merge()
        self.assert_same()
        self.assertEqual(self.query("SELECT DISTINCT only_rank FROM job_step_diff WHERE class = 'compute'"), [(None,)])

    def test_cycles_of_a_rank_in_several_shards(self):
        write_runs(self.folder, 3)
        chance = random.Random(2)
        for rank, first in ((1, 20), (1, 40), (2, 30)):
            write(self.path("test", f"rank{rank} from {first}.json"), rank_trace(chance, rank, 3, steps=3, first=first))
        self.make_both()
        self.assertEqual(self.merge()[1], "")
        self.assert_same()

    def test_traces_without_steps(self):
        for side in ("control", "test"):
            for rank in range(3):
                made = rank_trace(random.Random(rank), rank, 3, slower=len(side))
                made["traceEvents"] = [each for each in made["traceEvents"]
                                       if not each["name"].startswith("ProfilerStep")]
                write(self.path(side, f"{rank}.json"), made)
        self.make_both()
        self.assertEqual(self.merge()[1], "")
        without_steps = {merged: call for merged, call in SAME.items() if "FROM steps" not in merged}
        with unittest.mock.patch.dict(SAME, without_steps, clear=True):
            self.assert_same()

    def test_a_shard_counts_once(self):
        """A shard that was made twice, under two names in two folders, counts once."""
        write_runs(self.folder, 3)
        self.make_both()
        shutil.copytree(self.path("shards"), self.path("again"))
        shutil.copy(self.path("shards", "test", "rank1.json.db"), self.path("shards", "test", "copy.db"))
        self.make("test", *glob.glob(self.path("test", "*")), into="third")
        self.assertEqual(self.merge("again", "shards", "./third", "third/test")[1], "")
        self.assert_same()

    def test_a_file_in_two_places_is_two_files(self):
        """A file in two places is two files, like in one process (T8)."""
        write_runs(self.folder, 2)
        os.mkdir(self.path("links"))
        for copy, name in ((shutil.copy, "copy"), (os.symlink, "link")):
            copy(self.path("test", "rank0.json"), self.path("links", name + ".json"))
            self.make_both()
            self.make("test", self.path("links", name + ".json"))
            said = self.merge(missing=True)[1].replace(self.folder + "/", "")
            self.assertIn(f"test: links/{name}.json: step 0 is also in test/rank0.json\n", said)
            self.assertIn(f"test: test/rank0.json: step 0 is also in links/{name}.json\n", said)
            shutil.rmtree(self.path("shards"))


def without_steps(trace):
    return {**trace, "traceEvents": [each for each in trace["traceEvents"]
                                     if not each["name"].startswith("ProfilerStep")]}


class Random(InRuns):
    """Random jobs with shards in random folders give the rows of one process, or both refuse and name the files."""

    COUNT = series(20, 100)

    def write_side(self, chance, side, ranks):
        """Ranks with one or several files, some of which are not cycles of one run (T8), or have no steps (T12)."""
        odd, bare = chance.random() < 0.3, chance.random() < 0.2
        for rank in range(ranks):
            trace = rank_trace(chance, rank, ranks, steps=chance.randint(1, 4))
            files = [trace]
            if chance.random() < 0.4 and (odd or not bare):
                files.append(rank_trace(chance, rank, ranks, steps=3, first=3 if odd and chance.random() < 0.3 else 20))
            if odd and chance.random() < 0.3:
                files.append(chance.choice((trace, without_steps(trace), {**trace, "traceEvents": []})))
            if odd and chance.random() < 0.1:
                files = files[-1:]
            for number, content in enumerate(files):
                write(self.path(side, f"rank{rank} {number}.json"), without_steps(content) if bare else content)

    def disturb(self, chance, shards):
        """Disturbs the shards after they are made, by trace. Returns the expected message of the merge, or None."""
        trace, shard = chance.choice(sorted(shards.items()))
        what = chance.choice(("nothing", "gone", "changed", "copied", "linked", "cut"))
        if what == "gone":
            os.unlink(trace)
            return f"{shard}: {trace}, of which it was made, is gone"
        if what == "changed":
            os.utime(trace, ns=(0, 0))
            return f"{shard}: {trace} has changed"
        if what == "cut":
            os.truncate(shard, chance.randrange(os.path.getsize(shard)))
            return f"{shard}: not a whole shard"
        if what == "copied":
            shutil.copy(shard, self.path("shards", "again.db"))
        elif what == "linked":
            os.symlink(os.path.dirname(shard), self.path("shards", "link"))
        return None

    def refused(self):
        """The reason why one process refuses the job, or None."""
        with contextlib.closing(connect()) as db:
            try:
                for call in ("trace_diff('{0}', '{1}', 'all', 'all', 'steady', 'steady', 'ALL', 0)",
                             "trace_step_diff('{0}', '{1}', 'all', 'all')"):
                    db.execute("SELECT count(*) FROM "
                               + call.format(self.path("control"), self.path("test"))).fetchall()
            except sqlite3.OperationalError as error:
                return str(error)
        return None

    def merge_here(self):
        """Merges in this process, which is faster; returns status and messages."""
        try:
            lines = shards.merge(self.path("merged.db"), [self.path("shards")])[1]
            return 3 if lines else 0, "\n".join(lines)
        except SystemExit as end:
            return 1, end.code

    @slow
    def test_random_jobs(self):
        seen = collections.Counter()
        for seed in range(self.COUNT):
            with self.subTest(seed), tempfile.TemporaryDirectory() as place:
                self.folder = os.path.realpath(place)
                chance, made = random.Random(seed), {}
                ranks = chance.randint(1, 3)
                for side in ("control", "test"):
                    self.write_side(chance, side, ranks)
                    for trace in sorted(glob.glob(self.path(side, "*"))):
                        folder = self.path("shards", str(chance.randrange(3)))
                        shards.make(side, trace, folder)
                        made[trace] = os.path.join(folder, side, os.path.basename(trace) + ".db")
                refused, expected = self.refused(), self.disturb(chance, made)
                status, said = self.merge_here()
                self.assertEqual(status != 0, bool(refused or expected), (refused, expected, said))
                self.assertIn(expected or "", said)
                for path in re.findall(r"'([^']+/rank[^']+)'", "" if expected else refused or ""):
                    self.assertIn(path, said)
                if status != 1:
                    self.assert_same(**self.files_merged(), may_be_empty=True)
                seen[status] += 1
        self.assertEqual(set(seen), {0, 1, 3}, seen)


class Jobs(InRuns):
    """Ranks that wait for each other, on different clocks, with shards and answers in random folders."""

    COUNT = series(4, 60)

    def make_here(self, chance):
        for side in shards.SIDES:
            for trace in sorted(glob.glob(self.path(side, "*"))):
                shards.make(side, trace, self.path("shards", str(chance.randrange(3))))
        return shards.merge(self.path("merged.db"), [self.path("shards")])[1]

    def test_random_jobs(self):
        waits, on_path, files = 0, 0, 0
        for seed in range(self.COUNT):
            with self.subTest(seed), tempfile.TemporaryDirectory() as place:
                self.folder, chance = os.path.realpath(place), random.Random(seed)
                for number, side in enumerate(shards.SIDES):
                    write_job(self.path(side), 1000 * seed + number, most=16 if seed % 4 == 0 else 5,
                              on_host=seed % 4 == 3)
                self.make_here(chance)
                self.assert_same(**self.files_merged(), may_be_empty=True)
                waits += self.query("SELECT count(waiting_rank) FROM job_path")[0][0]
                on_path += self.query("SELECT count(*) FROM job_asked")[0][0]
                files += self.query("SELECT count(*) FROM files")[0][0]
        self.assertGreater(waits, self.COUNT)
        self.assertLess(on_path, files)

    def test_answers_that_are_missing_or_of_something_else(self):
        """If answers are missing or belong to something else, each is named and nothing is added."""
        for number, side in enumerate(shards.SIDES):
            write_ranks(self.path(side), made_job(8 + number, whole=True))
        self.make_here(random.Random(1))
        asked = self.query("SELECT side, file, stretches FROM job_asked ORDER BY side, file")
        self.assertGreater(len(asked), 2)
        answers = [self.path("shards", side, os.path.basename(file) + ".answer") for side, file, _ in asked]
        printed = self.run_shards("ask", "merged.db", "shards", *sorted(glob.glob(self.path("*", "rank*.json"))))[0]
        self.assertEqual(sorted(line for line in printed.splitlines() if line.startswith("made")),
                         sorted(f"made: {file}" for _, file, _ in asked))
        self.assertEqual(sum(line.startswith("not on the path: ") for line in printed.splitlines()),
                         len(printed.splitlines()) - len(asked))
        again = self.run_shards("ask", "merged.db", "shards", *(file for _, file, _ in asked))[0]
        self.assertEqual({line.split(":")[0] for line in again.splitlines()}, {"kept"})
        whole = self.content("merged.db")

        def refused(said):
            self.assertEqual(self.run_shards("add", "merged.db", "shards", status=1)[1].replace(self.folder + "/", ""),
                             said)
            self.assertEqual(self.content("merged.db"), whole)

        first, second = (file.replace(self.folder + "/", "") for _, file, _ in asked[:2])
        os.rename(answers[0], self.path("kept"))
        refused(f"control: no answer of {first}: 'shards.py ask' asks it\n")
        os.truncate(answers[1], 5000)
        refused(f"shards/{second}.answer: not a whole answer\ncontrol: no answer of {first}: 'shards.py ask' asks it\n"
                f"control: no answer of {second}: 'shards.py ask' asks it\n")
        self.run_shards("ask", "merged.db", "shards", asked[1][1])
        os.rename(self.path("kept"), answers[0])
        for column in ("stretches", "made_by", "mtime_ns"):
            with contextlib.closing(sqlite3.connect(answers[0])) as db:
                db.execute(f"UPDATE asked SET {column} = 1")
                db.commit()
            refused(f"shards/{first}.answer: not what merged.db asks of {first}: ask it again\n")
            self.run_shards("ask", "merged.db", "shards", asked[0][1])
        self.assertEqual(self.run_shards("add", "merged.db", "shards"),
                         (f"added {len(asked)} answers to merged.db\n", ""))
        self.assertEqual(self.run_shards("add", "merged.db", "shards"),
                         (f"added {len(asked)} answers to merged.db\n", ""))
        self.assert_same()
        for answer in answers:
            os.unlink(answer)
        os.utime(asked[0][1], ns=(0, 0))
        os.unlink(asked[1][1])
        printed = self.run_shards("ask", "merged.db", "shards", *(file for _, file, _ in asked), status=1)[0]
        wrong = "not as merged.db knows it: make its shard and merge again: "
        self.assertEqual(printed.splitlines(),
                         [wrong + asked[0][1], wrong + asked[1][1], *(f"made: {file}" for _, file, _ in asked[2:])])

    def test_a_database_of_another_version(self):
        write_runs(self.folder, 1)
        self.make_here(random.Random(1))
        with contextlib.closing(sqlite3.connect(self.path("merged.db"))) as db:
            db.execute("UPDATE inputs SET made_by = 'v0'")
            db.commit()
        said = self.run_shards("ask", "merged.db", "shards", self.path("test", "rank0.json"), status=1)[0]
        self.assertEqual(said, "merged.db was made by tracediff v0, which is not this one: make and merge again: "
                               f"{self.path('test', 'rank0.json')}\n")

    def test_without_a_merged_database(self):
        for arguments in (("ask", "merged.db", "shards", "a.json"), ("add", "merged.db", "shards")):
            self.assertEqual(self.run_shards(*arguments, status=1)[1],
                             "merged.db is not a merged database: 'shards.py merge' writes it\n")
            self.assertFalse(os.path.exists(self.path("merged.db")))


class Page(InRuns):
    """The steps of examples/cluster/README.md."""

    @RUNS
    def test_commands_print_what_it_shows(self):
        os.symlink(EXAMPLES, self.path("examples"))
        blocks = re.findall(r"```sh\n(.*?)```\n\n```text\n(.*?)```\n", read("examples", "cluster", "README.md"), re.S)
        self.assertGreater(len(blocks), 0)
        for commands, expected in blocks:
            done = subprocess.run(["sh", "-euc", commands.replace("/usr/bin/python3", sys.executable)],
                                  env=environment(), cwd=self.folder,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            self.assertEqual(done.stdout, expected)


@slow
class Missing(InRuns):
    def test_files_that_are_damaged_missing_or_nobodys(self):
        write_runs(self.folder, 6)
        whole = self.path("whole")
        shutil.copytree(self.path("test"), whole)
        for rank in (1, 2, 4):
            os.remove(os.path.join(whole, f"rank{rank}.json"))
        with open(self.path("test", "rank1.json"), "rb+") as file:
            file.truncate(3000)
        with open(self.path("test", "rank4.json"), "wb"):
            pass
        write(self.path("test", "nobody.json"), document(event("op", 1, 2)))
        lines = self.make("test", self.path("test", "rank2.json"), self.path("test", "nobody.json"))
        self.assertEqual(lines[0], f"its rank is neither in the file nor in its name:"
                                   f" {self.path('test', 'nobody.json')}")
        os.remove(self.path("test", "rank2.json"))
        self.make("test", self.path("test", "rank2.json"))
        self.make_both()
        said = self.merge(missing=True)[1].replace(self.folder + "/", "")
        self.assertRegex(said, r"""^test: no rows of ranks 1-2, 4
test: test/nobody.json: its rank is neither in the file nor in its name
test: test/rank1.json: trace_step_time: '.*test/rank1.json': the document is truncated at byte 3001
test: test/rank2.json: trace_files: cannot read '.*test/rank2.json': No such file or directory
test: test/rank4.json: trace_\w+: '.*test/rank4.json': empty
$""")
        self.assertEqual(self.query("SELECT side, rank FROM missing_ranks"), [("test", 1), ("test", 2), ("test", 4)])
        self.assertEqual(self.query("SELECT count(*) FROM files WHERE problems LIKE '%truncated%'"), [(1,)])
        shutil.move(self.path("test"), self.path("bad"))
        shutil.move(whole, self.path("test"))
        self.assert_same()

    def test_what_was_left_out_is_tried_again(self):
        write_runs(self.folder, 2)
        good = self.path("test", "rank1.json")
        shutil.move(good, self.path("good"))
        self.make("test", good)
        shutil.move(self.path("good"), good)
        self.assertEqual(collections.Counter(line.split(":")[0] for line in self.make_both()), {"made": 4})
        self.assertEqual({line.split(":")[0] for line in self.make_both()}, {"kept"})
        self.merge()
        self.assert_same()

    def test_a_changed_file_is_read_again(self):
        write_runs(self.folder, 2)
        self.make_both()
        write(self.path("test", "rank1.json"), rank_trace(random.Random(7), 1, 2, slower=50))
        self.assertEqual(collections.Counter(line.split(":")[0] for line in self.make_both()), {"kept": 3, "made": 1})
        self.merge()
        self.assert_same()

    def test_ranks_that_do_not_hold_together(self):
        """T8 and T12: nothing of such ranks counts."""
        write_runs(self.folder, 5)
        write(self.path("test", "again.json"), rank_trace(random.Random(3), 1, 5, first=3))
        write(self.path("test", "rank3.json"), document(event("op", 1, 2)))
        self.make_both()
        said = self.merge(missing=True)[1].replace(self.folder + "/", "")
        self.assertEqual(said, """test: no rows of ranks 1, 3
test: test/again.json: step 3 is also in test/rank1.json
test: test/rank1.json: step 3 is also in test/again.json
test: test/rank3.json: it has no steps, but other files of its side have
""")
        for name in ("again", "rank1", "rank3"):
            os.remove(self.path("test", f"{name}.json"))
        self.assert_same()

    def test_a_shard_that_is_no_database_or_of_another_version(self):
        write_runs(self.folder, 3)
        self.make_both()
        with open(self.path("shards", "test", "rank1.json.db"), "rb+") as file:
            file.truncate(5000)
        with open(self.path("shards", "test", "rank0.json.db"), "wb"):
            pass
        with contextlib.closing(sqlite3.connect(self.path("shards", "control", "rank2.json.db"))) as db:
            db.execute("UPDATE inputs SET made_by = 'v0'")
            db.commit()
        said = self.merge(missing=True)[1].replace(self.folder + "/", "")
        self.assertRegex(said, r"^shards/control/rank2.json.db: made by tracediff v0, not v[0-9.]+: make it again\n"
                               r"shards/test/rank0.json.db: not a whole shard \(no such table: inputs\): make it"
                               r" again\n"
                               r"shards/test/rank1.json.db: not a whole shard \(.+\): make it again\n"
                               r"control: no rows of ranks 2\ntest: no rows of ranks 0-1\n$")
        self.assertEqual(collections.Counter(line.split(":")[0] for line in self.make_both()), {"kept": 3, "made": 3})
        self.merge()
        self.assert_same()

    def test_several_files_of_a_rank_without_steps(self):
        """T8: a rank has several files without steps."""
        for side in ("control", "test"):
            for number in range(2):
                write(self.path(side, f"{number}.json"), without_steps(rank_trace(random.Random(number), number, 2)))
        write(self.path("test", "more.json"), without_steps(rank_trace(random.Random(3), 1, 2)))
        self.make_both()
        said = self.merge(missing=True)[1].replace(self.folder + "/", "")
        self.assertEqual(said, """test: no rows of ranks 1
test: test/1.json: it has no steps, and test/more.json is also of rank 1
test: test/more.json: it has no steps, and test/1.json is also of rank 1
""")

    def test_a_shard_of_a_file_that_is_gone_or_has_changed(self):
        write_runs(self.folder, 4)
        self.make_both()
        os.unlink(self.path("test", "rank3.json"))
        write(self.path("control", "rank1.json"), rank_trace(random.Random(7), 1, 4, slower=50))
        said = self.merge(missing=True)[1].replace(self.folder + "/", "")
        self.assertEqual(said, """shards/control/rank1.json.db: control/rank1.json has changed: make it again
shards/test/rank3.json.db: test/rank3.json, of which it was made, is gone: delete the shard, or merge with \
--elsewhere if the file lies on another machine
control: no rows of ranks 1
test: no rows of ranks 3
""")

    def test_files_that_lie_elsewhere(self):
        write_runs(self.folder, 2)
        self.make_both()
        for side in ("control", "test"):
            shutil.move(self.path(side), self.path(f"{side} there"))
        self.run_shards("merge", "--elsewhere", "merged.db", "shards")
        for side in ("control", "test"):
            shutil.move(self.path(f"{side} there"), self.path(side))
        self.assert_same()

    def test_shards_of_two_states_of_a_file(self):
        """With shards of two states of a file, files elsewhere cannot show which state is theirs."""
        write_runs(self.folder, 2)
        self.make_both()
        write(self.path("test", "rank1.json"), rank_trace(random.Random(7), 1, 2, first=30))
        self.make("test", self.path("test", "rank1.json"), into="later")
        said = self.run_shards("merge", "--elsewhere", "merged.db", "shards", "later",
                               status=3)[1].replace(self.folder + "/", "")
        self.assertEqual(said, "shards/test/rank1.json.db: test/rank1.json was not the same for"
                               " later/test/rank1.json.db: delete the"
                               " older shard\n")

    def test_files_of_one_name_need_folders_of_their_own(self):
        write_runs(self.folder, 1)
        self.make_both()
        other = write(self.path("other", "rank0.json"), rank_trace(random.Random(7), 0, 1, first=30))
        shard, first = self.path("shards", "test", "rank0.json.db"), self.path("test", "rank0.json")
        said = f"{shard} is the shard of {first}: give {other} another folder of shards\n"
        self.assertEqual(self.run_shards("make", "test", self.path("shards"), other, status=1)[1], said)
        os.unlink(first)
        self.assertEqual(self.make("test", other), [f"made: {other}"])

    def test_a_side_without_rows(self):
        """A side without rows is refused, because its diff would be empty, as if nothing differed."""
        write_runs(self.folder, 2)
        self.make("control", *glob.glob(self.path("control", "*")))
        said = "no rows of test in shards: 'shards.py make test' writes its shards\n"
        self.assertEqual(self.run_shards("merge", "merged.db", "shards", status=1)[1], said)
        self.assertFalse(os.path.exists(self.path("merged.db")))
        self.make_both()
        shutil.rmtree(self.path("control"))
        said = self.run_shards("merge", "merged.db", "shards", status=1)[1].splitlines()
        self.assertIn("control/rank0.json, of which it was made, is gone", said[0])
        self.assertEqual(said[-1], "no rows of control in shards: 'shards.py make control' writes its shards")
        self.assertFalse(os.path.exists(self.path("merged.db")))

    def test_no_shards(self):
        os.mkdir(self.path("empty"))
        self.assertEqual(self.run_shards("merge", "other.db", "empty", status=1)[1],
                         "no shards in empty: 'shards.py make' writes them\n")
        self.assertFalse(os.path.exists(self.path("other.db")))

    def test_what_is_no_database_is_not_replaced(self):
        write_runs(self.folder, 1)
        self.make_both()
        write(self.path("notes"), "of mine")
        self.merge()
        write(self.path("merged.db-wal"), "frames")
        for target, said in ((".", ". is a directory: name the database to write, then the folders of shards\n"),
                             ("notes", "notes exists and is not a database: it stays as it is\n"),
                             ("merged.db",
                              "merged.db-wal says that a program is writing to merged.db: close it first\n")):
            self.assertEqual(self.run_shards("merge", target, "shards", status=1)[1], said)

    def test_wrong_arguments(self):
        for arguments in ((), ("merge",), ("merge", "a.db"), ("merge", "--elsewhere", "a.db"),
                          ("make", "left", "shards", "a.json"), ("make", "test", "shards"), ("ask", "a.db", "shards"),
                          ("add", "a.db"), ("-h",)):
            self.assertIn("usage: shards.py", self.run_shards(*arguments, status=1)[1])


class Killed(InRuns):
    """kill -9 leaves the old file or the new one, and leftovers are never read as a shard."""

    AT = """
import os, signal, sys
sys.path.insert(0, sys.argv.pop(1))
import shards
place, name = sys.argv.pop(1).split(".")
real = getattr(getattr(shards, place), name)
def killed(*arguments, **options):
    {} and real(*arguments, **options)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(getattr(shards, place), name, killed)
shards.main(*sys.argv[1:])
"""

    def kill(self, moment, after, *arguments):
        done = subprocess.run([sys.executable, "-c", self.AT.format(after), CLUSTER, moment, *arguments],
                              env=environment(),
                              cwd=self.folder, capture_output=True, check=False)
        self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)

    @slow
    def test_at_each_step_of_writing(self):
        write_runs(self.folder, 2)
        self.make_both()
        self.merge()
        trace, shard, merged = self.path("test", "rank1.json"), self.path("shards", "test",
                                                                          "rank1.json.db"), self.path("merged.db")
        write(trace, rank_trace(random.Random(7), 1, 2, slower=50))
        old, old_merged = self.content(shard), self.content(merged)
        for moment, after in (("json.dumps", True), ("os.fsync", False), ("os.fsync", True), ("os.replace", False)):
            self.kill(moment, after, "make", "test", "shards", trace)
            self.assertEqual(self.content(shard), old)
        for moment, after in (("os.fsync", False), ("os.replace", False)):
            self.kill(moment, after, "merge", merged, "shards")
            self.assertEqual(self.content(merged), old_merged)
        self.kill("os.replace", True, "make", "test", "shards", trace)
        self.assertEqual(self.make("test", trace), [f"kept: {trace}"])
        self.kill("os.replace", True, "merge", merged, "shards")
        self.assert_same()
        self.assertEqual(self.merge()[1], "")
        self.assert_same()

    @slowest
    def test_at_any_moment(self):
        write_runs(self.folder, 2)
        trace, shard = self.path("test", "rank1.json"), self.path("shards", "test", "rank1.json.db")
        chance, ended = random.Random(4), collections.Counter()
        for turn in range(24):
            write(trace, rank_trace(chance, 1, 2, slower=turn))
            running = subprocess.Popen([sys.executable, SHARDS, "make", "test", "shards", trace], env=environment(),
                                       cwd=self.folder,
                                       stdout=subprocess.DEVNULL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(chance.uniform(0.03, 0.25))
            running.kill()
            ended[running.wait()] += 1
            if os.path.exists(shard):
                self.assertEqual(self.query("PRAGMA integrity_check", shard), [("ok",)])
                self.assertEqual(self.query("SELECT count(*), (SELECT count(*) FROM inputs) FROM files", shard),
                                 [(1, 1)])
        self.make_both()
        self.merge()
        self.assert_same()


def children(pid):
    """The worker processes of a process."""
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError):
            with open(path, encoding="utf-8", errors="replace") as file:
                if int(file.read().rsplit(")", 1)[1].split()[1]) != pid:
                    continue
            with open(os.path.join(os.path.dirname(path), "cmdline"), "rb") as file:
                if b"spawn_main" in file.read():
                    yield int(path.split("/")[2])


@slowest
@unittest.skipUnless(glob.glob(os.path.join(VENV, "lib", "python*", "site-packages", "distributed")),
                     "no Dask in build/hosts/venv: run `make setup-hosts`")
class Dask(InRuns):
    def start(self):
        return subprocess.Popen([*DASK, "control", "test", "shards", "merged.db", "2"],
                                env=environment(), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True,
                                start_new_session=True)

    def wait_for(self, running, count):
        """Waits for this many shards."""
        end = time.monotonic() + 60
        while sum(len(files) for _, _, files in os.walk(self.path("shards"))) < count:
            self.assertIsNone(running.poll(), running.poll() is not None and running.stdout.read())
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def test_256_ranks_of_which_a_run_is_stopped_and_a_worker_killed(self):
        write_runs(self.folder, RANKS)
        first = self.start()
        try:
            self.wait_for(first, RANKS // 2)
        finally:
            os.killpg(first.pid, signal.SIGKILL)
            first.communicate()
        made = len(glob.glob(self.path("shards", "*", "*.db")))
        self.assertLess(made, 2 * RANKS)
        second = self.start()
        try:
            self.wait_for(second, RANKS)
            workers = set(children(second.pid))
            self.assertEqual(len(workers), 2)
            os.kill(min(workers), signal.SIGKILL)
            printed = second.communicate(timeout=100)[0]
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(second.pid, signal.SIGKILL)
        self.assertEqual(second.returncode, 0, printed)
        self.assertIn(f"merged {2 * RANKS} shards into merged.db\n", printed)
        kept, = re.findall(rf"\nmake: {2 * RANKS} of {2 * RANKS} files: [0-9]+ made, ([0-9]+) kept, (?=0 left out\n)",
                           printed)
        self.assertGreaterEqual(int(kept), made)
        asked, = self.query("SELECT count(*) FROM job_asked")[0]
        self.assertIn(f"\nask: {asked} of {asked} files: {asked} made, 0 kept, 0 left out\nadded {asked} answers to ",
                      printed)
        self.assertGreater(self.query("SELECT count(*) FROM job_step_diff")[0][0], 0)
        self.assert_same()

    def test_wrong_arguments(self):
        done = subprocess.run([*DASK, "a"], env=environment(), capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, "usage: dask_ranks.py" in done.stderr), (1, True))
        os.mkdir(self.path("control"))
        done = self.start()
        self.assertEqual(done.communicate()[0], "no *.json or *.gz in control or in test\n")


SLURM_CONF = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@slowest
class Slurm(InRuns):
    """A Slurm cluster of one node on loopback, only for this test."""

    def setUp(self):
        super().setUp()
        missing = [name for name in SLURM if not shutil.which(name)]
        if missing:
            self.skipTest(f"no {missing[0]}: run `make setup-hosts`")
        place = tempfile.TemporaryDirectory(prefix="slurm")  # a short path, because a socket's has at most 107 bytes
        self.addCleanup(place.cleanup)
        self.slurm = place.name
        for name in ("state", "spool"):
            os.mkdir(os.path.join(self.slurm, name))
        conf, key = (os.path.join(self.slurm, name) for name in ("slurm.conf", "munge.key"))
        write(conf, SLURM_CONF.format(folder=self.slurm, host=socket.gethostname().split(".")[0],
                                      user=getpass.getuser(),
                                      ports=free_ports(2)))
        write(key, os.urandom(1024))
        os.chmod(key, 0o600)
        self.environment = environment(SLURM_CONF=conf, PYTHON=sys.executable)
        self.run_daemon("munged", "--foreground", "--force", "--num-threads=2", f"--key-file={key}",
                        *(f"--{what}={self.slurm}/munge.{what.split('-')[0]}"
                          for what in ("socket", "pid-file", "log-file", "seed-file")))
        self.wait_for(lambda: os.path.exists(os.path.join(self.slurm, "munge.socket")))
        self.run_daemon("slurmctld", "-D")
        self.run_daemon("slurmd", "-D")
        self.wait_for(lambda: "idle" in self.ask("sinfo", "-h", "-o", "%T"))

    def run_daemon(self, *command):
        """Runs a daemon that ends with the test, even if that is killed."""
        with open(os.path.join(self.slurm, command[0]), "wb") as file:
            running = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], env=self.environment, stdout=file,
                                       stderr=file)
        self.addCleanup(running.wait)
        self.addCleanup(running.terminate)

    def ask(self, *command):
        return subprocess.run(command, env=self.environment, cwd=self.folder, capture_output=True, text=True,
                              check=False).stdout

    def wait_for(self, ready, seconds=15):
        end = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > end:
                said = [line for name in SLURM[:3] for line in self.said(name) if "error" in line or "fatal" in line]
                self.skipTest(f"Slurm does not start here: {(said or ['no daemon says why'])[-1]}")
            time.sleep(0.05)

    def said(self, name):
        with contextlib.suppress(FileNotFoundError):
            with open(os.path.join(self.slurm, name), encoding="utf-8", errors="replace") as file:
                return file.read().splitlines()
        return []

    def submit(self):
        """The output of the merge and of the last job, once no job is left, and the output of the first array."""
        printed = self.ask(os.path.join(CLUSTER, "slurm_array.sh"), "control", "test", "shards", "merged.db", "4")
        log = self.path("shards", "log")
        jobs = re.fullmatch(rf"jobs (\d+) to (\d+): job (\d+) writes {self.path('merged.db')}, job (\d+) adds the path"
                            rf" of the job: "
                            rf"see {log}/\3.txt and \4.txt\n", printed).groups()
        end = time.monotonic() + 90
        while self.ask("squeue", "-h").strip() or not os.path.exists(f"{log}/{jobs[3]}.txt"):
            self.assertLess(time.monotonic(), end, self.ask("squeue"))
            time.sleep(0.1)
        merged, added, *made = map(shards.read,
                                   (f"{log}/{jobs[2]}.txt", f"{log}/{jobs[3]}.txt", *glob.glob(f"{log}/{jobs[0]}_*")))
        return merged, added, "".join(made)

    @staticmethod
    def counted(made):
        return made.count("made: "), made.count("kept: ")

    def test_an_array_of_which_a_task_is_killed_and_the_same_line_again(self):
        write_runs(self.folder, 32)
        killed = write(self.path("killed"), f'#!/bin/sh\n[ "${{SLURM_ARRAY_TASK_ID:-}}" != 1 ] || kill -9 $$\nexec'
                                            f' {sys.executable} "$@"\n')
        os.chmod(killed, 0o755)
        self.environment["PYTHON"] = killed
        merged, added, made = self.submit()
        self.assertEqual(self.counted(made), (48, 0))
        left = [rank for rank in range(32) if not os.path.exists(self.path("shards", "test", f"rank{rank}.json.db"))]
        self.assertEqual(len(left), 8)
        self.assertEqual(self.query("SELECT rank FROM missing_ranks WHERE side = 'test'"), [(rank,) for rank in left])
        self.assertIn("merged 48 shards into", merged)
        self.assertIn("test: no rows of ranks ", merged)
        self.assertRegex(added, "^added [0-9]+ answers to ")
        self.environment["PYTHON"] = sys.executable
        merged, added, made = self.submit()
        self.assertEqual(merged, f"merged 64 shards into {self.path('merged.db')}\n")
        self.assertEqual(self.counted(made), (16, 48))
        asked, = self.query("SELECT count(*) FROM job_asked")[0]
        self.assertEqual(added, f"added {asked} answers to {self.path('merged.db')}\n")
        self.assertGreater(self.query("SELECT count(*) FROM job_step_diff")[0][0], 0)
        self.assert_same()


if __name__ == "__main__":
    unittest.main()
