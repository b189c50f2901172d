"""Jobs that hang (FR1 to FR24): recorded rows, generated jobs with a known fault and missing dumps, and each rule by
small changes of one job.
"""
import contextlib
import json
import os
import pickle
import random
import shutil
import sqlite3
import subprocess
import time

from generate_hangs import CANNOT_BE_TOLD, TIMEOUT_MS, hung_job, large, write
from made import InFolder, write as write_file
from support import EXAMPLES, ROOT, alone, golden, outside, series, slowest

CASES = os.path.abspath(os.path.join(os.environ.get("GOLDEN", ""), "..", "cases", "hangs"))  # next to their rows
FUNCTIONS = ("fr_dumps", "fr_entries", "fr_groups", "hang_ranks", "hang_summary")
KINDS = {"never called": "not called", "never called p2p": "not called", "device stuck": "device stuck",
         "not started": "not started", "other op": "mismatch", "other size": "mismatch", "other dtype": "mismatch"}


def case(name):
    """The dumps of a recorded answer."""
    folder, _, rest = name.partition("_")
    return os.path.join(CASES, *{"nvrx": ("public", rest), "gloo": ("gloo", rest)}.get(folder, (name,)))


class Recorded(InFolder):
    def test_all_rows(self):
        compared = 0
        for file in sorted(os.listdir(golden("hangs", "."))):
            name, ending = os.path.splitext(file)
            if ending != ".txt" or not os.path.isdir(case(name)):
                continue
            with open(golden("hangs", file), encoding="utf-8") as lines:
                parts = lines.read().split("-- ")[1:]
            for part in parts:
                function, columns, *rows = part.splitlines()
                columns = ", ".join(f'"{column}"' for column in columns.split("|"))
                found = self.rows(f"SELECT {columns} FROM {function}(?)", case(name))
                with self.subTest(name, function=function):
                    compared += 1
                    self.assertEqual(["|".join("" if value is None else str(value) for value in row) for row in found],
                                     rows)
        self.assertGreater(compared, 100)


class Hangs(InFolder):
    def culprits(self, folder):
        return dict(self.rows("SELECT rank, culprit FROM hang_ranks(?) WHERE culprit IS NOT NULL", folder))

    def texts(self, folder):
        return [text for text, in self.rows("SELECT text FROM hang_summary(?)", folder)]

    def code(self, folder):
        return self.value("SELECT code FROM hang_summary(?)", folder)


class Made(Hangs):
    """Whatever dumps are missing, no innocent rank is named, and the right one is named where the dumps show it."""

    def ask(self, job, files, removed):
        names = self.rng.sample(files, removed) if removed < len(files) else []
        for name in names:
            os.rename(os.path.join("job", name), name)
        found = self.culprits("job")
        with self.subTest(job.seed, fault=job.fault, rank=job.culprit, removed=names):
            self.assertLessEqual(set(found), set() if job.fault in CANNOT_BE_TOLD else {job.culprit})
        for name in names:
            os.rename(name, os.path.join("job", name))
        ranks = {int(name.split("_")[-1].split(".")[0]) for name in names}
        if job.told and job.plain() and not ranks & job.needed():
            self.asked[removed] += 1
            self.right[removed] += found == {job.culprit: KINDS[job.fault]}

    def run_jobs(self, seeds):
        self.asked, self.right = [0, 0, 0], [0, 0, 0]
        for seed in seeds:
            self.rng, job = random.Random(seed), hung_job(seed)
            job.seed = seed
            shutil.rmtree("job", ignore_errors=True)
            write(job.dumps, "job", as_json=seed % 5 == 0)
            for removed in (0, 1, 1, 2, 2):
                self.ask(job, sorted(os.listdir("job")), removed)
        self.assertGreater(self.asked[0], len(seeds) / 4)
        self.assertEqual(self.right[0], self.asked[0])
        for removed in (1, 2):
            self.assertGreaterEqual(self.right[removed], 0.86 * self.asked[removed], (self.right, self.asked))

    def test_jobs(self):
        self.run_jobs(range(1000, 1000 + series(40, 1000)))


def call(record, op="all_reduce", state="completed", **fields):
    """An entry of the default group, whose calls are numbered in order."""
    created = 1_790_000_000_000_000_000 + record * 1_000_000
    done = state == "completed"
    return {"record_id": record, "pg_id": 0, "process_group": ("0", "default_pg"), "collective_seq_id": record + 1,
            "p2p_seq_id": 0, "op_id": record + 1, "profiling_name": f"nccl:{op}", "time_created_ns": created,
            "input_sizes": [[8]], "input_dtypes": ["Float"], "output_sizes": [[8]], "output_dtypes": ["Float"],
            "state": state, "time_discovered_started_ns": None,
            "time_discovered_completed_ns": created + 500 if done else None, "retired": done, "timeout_ms": TIMEOUT_MS,
            "is_p2p": False, "thread_name": "python", "frames": [], **fields}


def dump(entries, ranks=(0, 1), **keys):
    done = max([entry["collective_seq_id"] for entry in entries if entry["state"] == "completed"], default=-1)
    return {"version": "2.10", "entries": entries,
            "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(ranks))}},
            "pg_status": {"0": {"last_enqueued_collective": len(entries), "last_started_collective": -1,
                                "last_completed_collective": done}}, **keys}


class Rules(Hangs):
    """Two or more ranks: all have completed one collective, and rank 0 waits in the second."""

    def job(self, *dumps):
        shutil.rmtree("job", ignore_errors=True)
        write(dict(enumerate(dumps)), "job")
        return "job"

    def waiting(self, **fields):
        return dump([call(0), call(1, state="scheduled", **fields)])

    def p2p(self, record, op, seq, state="completed", **fields):
        return call(record, op, state, is_p2p=True, p2p_seq_id=seq, collective_seq_id=0, **fields)

    def test_i1_what_is_a_dump(self):
        folder = self.job(self.waiting(), dump([call(0)]))
        for name, content in (("a_rank_7.json", b'{"traceEvents": []}'), ("b", b"\x80"), ("c_1.json", b"{"),
                              ("d_2", b"\x80\2cos\nsystem\n."), ("e", b"text"), ("f_rank_3", b'{"entries": [1]}')):
            write_file(f"{folder}/{name}", content)
        os.mkdir(f"{folder}/g_rank_4")
        problems = self.rows("SELECT file, rank, used, problems FROM fr_dumps(?) WHERE problems NOT NULL", folder)
        self.assertEqual(problems,
                         [("b", None, 0, "cannot be read: not a pickle of protocols 2 to 5"),
                          ("c_1.json", 1, 0, "cannot be read: the document is truncated at byte 2"),
                          ("d_2", 2, 0, "cannot be read: class os.system is not allowed"),
                          ("f_rank_3", 3, 0, "cannot be read: an entry is not a dictionary")])
        self.assertEqual(self.culprits(folder), {1: "not called"})
        for text, path in (("cannot read 'none': No such file or directory", "none"),
                           ("cannot read 'f': Not a directory", "f"),
                           ("no file in 'empty' is a dump of PyTorch's flight recorder", "empty"),
                           ("no dump in 'bad' can be read; the first, rank_0, cannot be read: not a pickle of protocols"
                            " 2 to 5", "bad")):
            os.makedirs("empty", exist_ok=True)
            write_file("f", b"")
            write_file("bad/rank_0", b"\x80")
            for function in FUNCTIONS:
                self.assert_error(f"{function}: {text}", f"SELECT * FROM {function}(?)", path)

    def test_i1_a_damaged_entry(self):
        whole = dump([call(0)])
        for key in ("record_id", "process_group", "profiling_name", "time_created_ns", "state"):
            for wrong in (None, -1, []):
                bad = dump([{**call(0), key: wrong}])
                folder = self.job(self.waiting(), whole, bad)
                with self.subTest(key, wrong=wrong):
                    self.assertEqual(self.rows("SELECT rank FROM fr_dumps(?) WHERE problems LIKE 'cannot be read: %'",
                                               folder), [(2,)])
        for key in ("entries", "pg_config", "pg_status"):
            self.job(whole, {**whole, key: 7 if key != "pg_status" else {"0": 7}})
            self.assertEqual(self.value("SELECT count(*) FROM fr_dumps('job') WHERE used"), 1, key)

    def test_i1_truncated_anywhere(self):
        folder = self.job(self.waiting(), dump([call(0)]))
        for name in ("job/nccl_trace_rank_1", "job/rank_1.json"):
            content = (pickle.dumps(dump([call(0)]), 2) if "json" not in name
                       else json.dumps(dump([call(0)])).encode())
            for length in range(2, len(content) - 1, 7):
                shutil.rmtree("job")
                self.job(self.waiting())
                write_file(name, content[:length])
                with self.subTest(name, length=length):
                    self.assertEqual(self.rows("SELECT used, problems LIKE 'cannot be read: %truncated%'"
                                               " FROM fr_dumps('job') WHERE rank = 1"), [(0, 1)])
                    self.assertEqual(self.culprits(folder), {})

    def test_i2_rank_of_the_name(self):
        os.mkdir("job")
        names = {"_dump_12": 12, "rank3.pickle": 3, "x.7.pkl.gz": 7, "snapshot.pickle": None, "dump_9.json.txt": 9}
        for name in names:
            write_file(f"job/{name}", pickle.dumps(dump([])))
        self.assertEqual(dict(self.rows("SELECT file, rank FROM fr_dumps('job')")), names)

    def test_i3_status(self):
        late = call(2)["time_created_ns"] + TIMEOUT_MS * 1_000_000
        entries = [call(0), call(1, state="scheduled"), call(2, time_discovered_completed_ns=late),
                   call(3, time_discovered_completed_ns=late + 1_000_001), call(4, state="started", retired=True),
                   call(5, state="scheduled", retired=True, profiling_name="gloo:all_reduce")]
        self.job(dump(entries))
        self.assertEqual([status for status, in self.rows("SELECT status FROM fr_entries('job')")],
                         ["completed", "pending", "completed", "timed out", "timed out", "completed"])
        self.assertEqual(self.rows("SELECT entries, pending, timed_out FROM fr_dumps('job')"), [(6, 3, 2)])

    def test_i4_batches(self):
        part = {"input_sizes": [], "input_dtypes": []}
        for closing, status in (("completed", "completed"), ("scheduled", "pending")):
            self.job(dump([self.p2p(0, "send 0->1", 1, "scheduled"), self.p2p(1, "recv 0<-1", 1, "scheduled"),
                           self.p2p(2, "coalesced", 1, closing, **part), self.p2p(3, "send 0->1", 2, "scheduled"),
                           self.p2p(4, "recv 0<-1", 2, "scheduled"), self.p2p(5, "send 0->1", 3, "scheduled"),
                           call(6, "x_coalesced", closing, **part)]))
            self.assertEqual(self.rows("SELECT batch, status FROM fr_entries('job')"),
                             [(2, status)] * 3 + [(None, "completed")] * 2 + [(None, "pending"), (6, status)])

    def active(self, *entries, called=5, completed=4):
        return dump(list(entries), pg_status={"0": {"last_enqueued_collective": called, "last_started_collective": -1,
                                                    "last_completed_collective": completed}})

    def test_i5_only_active_entries(self):
        self.job(self.active(call(4, state="scheduled")), self.active(called=4))
        self.assertEqual(self.rows("SELECT active_only, lost FROM fr_dumps('job')"), [(1, 0), (1, 0)])
        self.assertEqual(self.culprits("job"), {1: "not called"})
        # a doubtful send is not at the head, and its rank gets no blame
        batch = [self.p2p(0, "send 1->0", 1, "scheduled"), self.p2p(1, "recv 1<-0", 1, "scheduled")]
        self.job(self.active(call(4, state="scheduled")), self.active(*batch, self.p2p(3, "send 1->0", 2, "scheduled"),
                                                                      called=4))
        self.assertEqual(self.rows("SELECT state, culprit FROM hang_ranks('job') WHERE rank = 1"), [("idle", None)])
        self.assertEqual(self.code("job"), "unknown")
        # nor is the order of its calls blamed
        groups = {name: {"name": name, "desc": f"G{name}", "ranks": "[0, 1, 2]"} for name in "01"}
        first, second = (call(4 + i, state="scheduled", process_group=(str(i), f"G{i}"), pg_id=i, collective_seq_id=5)
                         for i in range(2))
        doubt = [{**entry, "process_group": ("2", "PP"), "pg_id": 2} for entry in batch + [
            self.p2p(3, "send 1->0", 2, "scheduled")]]
        for entries, culprits in (([second], {2: "order"}), ([*doubt, second], {})):
            self.job(*(self.active(*each, called=5) | {"pg_config": groups} for each in ([first], [first], entries)))
            self.assertEqual(self.culprits("job"), culprits)

    def test_i6_lost(self):
        self.job(dump([call(3), call(4, state="scheduled")]), dump([call(3)]))
        self.assertEqual(self.rows("SELECT lost FROM fr_dumps('job')"), [(3,), (3,)])
        self.assertEqual(self.culprits("job"), {1: "not called"})
        status = {"0": {"last_enqueued_collective": 5, "last_completed_collective": 2}}
        self.job(dump([call(3, state="scheduled"), call(4, state="scheduled")], pg_status=status), dump([call(3)]))
        self.assertEqual(self.rows("SELECT state FROM hang_ranks('job')"), [("overwritten",), ("idle",)])
        status["0"]["last_completed_collective"] = 3
        self.job(dump([call(3, state="scheduled"), call(4, state="scheduled")], pg_status=status), dump([call(3)]))
        self.assertEqual(self.rows("SELECT state FROM hang_ranks('job')"), [("device stuck",), ("idle",)])

    def test_i7_status_of_groups(self):
        config = {name: {"name": name, "desc": f"group {name}", "ranks": "[0, 1]"} for name in ("0", "11", "3")}
        status = {str(i): {"last_enqueued_collective": str(10 * i), "last_completed_collective": str(10 * i)}
                  for i in range(3)}
        asked = "SELECT name, last_called_seq FROM fr_groups('job') WHERE rank = 0"
        self.job(dump([], pg_config=config, pg_status=status))
        self.assertEqual(self.rows(asked), [("0", 0), ("3", 10), ("11", 20)])
        contradicts = call(0, process_group=("3", "group 3"), pg_id=2)
        self.job(dump([contradicts], pg_config=config, pg_status=status))
        self.assertEqual(self.rows(asked), [("0", None), ("3", 20), ("11", None)])
        self.job(dump([], pg_config=config, pg_status={"0": status["0"]}))
        self.assertEqual(self.rows(asked), [("0", None), ("3", None), ("11", None)])
        self.job(dump([self.p2p(0, "send 0->1", 1, process_group=("3", "group 3"), pg_id=1)], pg_config=config,
                      pg_status=status))
        self.assertEqual(self.rows(asked), [("0", 0), ("3", 0), ("11", 20)])

    def test_i8_several_dumps_of_a_rank(self):
        self.job(self.waiting(), dump([call(0)]))
        write({1: dump([call(0), call(1)])}, "job", as_json=True)
        self.assertEqual(self.rows("SELECT file, used, problems FROM fr_dumps('job') WHERE rank = 1"),
                         [("nccl_trace_rank_1", 0, "not used: rank 1 has nccl_trace_rank_1.json"),
                          ("nccl_trace_rank_1.json", 1, None)])
        write({1: dump([call(0)])}, "job", as_json=True)
        self.assertEqual(self.value("SELECT file FROM fr_dumps('job') WHERE used AND rank = 1"), "nccl_trace_rank_1")

    def test_i9_members(self):
        self.job(dump([call(0)], ranks=(0, 1, 2)), dump([call(0)], ranks=(0, 1, 2)))
        self.assertEqual(self.rows("SELECT rank, dump FROM fr_groups('job')"), [(0, 1), (1, 1), (2, 0)])
        self.assertEqual(self.rows("SELECT state FROM hang_ranks('job') WHERE rank = 2"), [("no dump",)])
        other = call(1, process_group=("5", "TP"), collective_seq_id=1)
        self.job(dump([call(0), other], pg_config={}), dump([call(0)], pg_config={}), dump([call(0), other],
                                                                                           pg_config={}))
        self.assertEqual(self.rows("SELECT name, ranks, members_known FROM fr_groups('job') WHERE rank = 0"),
                         [("0", "[0, 1, 2]", 1), ("5", "[0, 2]", 0)])

    def test_i10_what_a_member_is(self):
        config = dump([])["pg_config"]
        ready = dump([], pg_status={})
        for other, state, waits_for in ((ready, "idle", "1"), ({**ready, "pg_config": {}}, "idle", "1"),
                                        (self.active(called=1, completed=1), "idle", "1"),
                                        (dump([call(1)]), "idle", None)):
            self.job(self.waiting(), {**other, "pg_config": other["pg_config"] or {"9": {**config["0"], "name": "9"}}})
            with self.subTest(other):
                self.assertEqual(self.rows("SELECT state FROM hang_ranks('job') WHERE rank = 1"), [(state,)])
                self.assertEqual(self.value("SELECT waits_for FROM hang_ranks('job')"), waits_for)

    def test_i11_heads(self):
        self.job(dump([call(0), call(1, state="scheduled"), call(2, state="scheduled")], ranks=(0, 1, 2)),
                 dump([call(0), call(1, state="scheduled")], ranks=(0, 1, 2)), dump([call(0)], ranks=(0, 1, 2)))
        self.assertEqual(self.rows("SELECT seq, waits_for, root FROM hang_ranks('job')"),
                         [(2, "2", "2"), (2, "2", "2"), (None, None, None)])
        # behind: rank 1 is in another group
        groups = {"0": dump([])["pg_config"]["0"], "5": {"name": "5", "desc": "TP", "ranks": "[1, 2]"}}
        first = call(1, state="scheduled", process_group=("5", "TP"), collective_seq_id=1, pg_id=1)
        self.job(dump([call(0), call(1, state="scheduled")]),
                 dump([call(0), first, call(2, state="scheduled", collective_seq_id=2)], pg_config=groups),
                 dump([], pg_config={"5": groups["5"]}))
        self.assertEqual(self.rows("SELECT waits_for, root FROM hang_ranks('job')"),
                         [("1", "2"), ("2", "2"), (None, None)])

    def test_i12_old_dumps(self):
        for op, state in (("all_reduce", "old dump"), ("_all_gather_base", "old dump"), ("broadcast", "idle"),
                          ("reduce_scatter_tensor_coalesced", "old dump"), ("barrier", "old dump")):
            self.job(dump([call(0), call(1, op)]), dump([call(0)]))
            with self.subTest(op):
                self.assertEqual(self.rows("SELECT state FROM hang_ranks('job') WHERE rank = 1"), [(state,)])
        self.job(dump([call(0), call(1)]), dump([call(0)]))
        self.assertEqual(self.texts("job"), ["No hang is shown: the dumps were taken at different times.",
                                             "Caution: rank 1 dumped before rank 0 completed seq 2 of default_pg"
                                             " [0, 1]."])

    def test_i13_calls_that_differ(self):
        three = (0, 1, 2)

        def of(**fields):
            return dump([call(0), call(1, **{"op": "all_reduce", "state": "scheduled", **fields})], ranks=three)

        for fields, what in (({"op": "broadcast"}, "called broadcast, the others all_reduce"),
                             ({"input_sizes": [[4, 3]]}, "called all_reduce with other sizes than the others"),
                             ({"input_dtypes": ["Half"]}, "called all_reduce with another dtype than the others")):
            self.job(of(), of(), of(**fields))
            self.assertEqual(self.culprits("job"), {2: "mismatch"})
            self.assertEqual(self.texts("job")[0], f"Wait: rank 2 {what}; 2 of 3 ranks wait.")
            self.job(of(), of(**fields), dump([call(0)], ranks=three))  # one against one, out of three
            self.assertEqual((self.culprits("job"), self.code("job")), ({}, "mismatch_one_of"))
        self.job(of(), of(input_sizes=[[2, 4]]), of(output_sizes=[[1]]))
        self.assertEqual(self.code("job"), "all_in")
        scatter = {"op": "scatter", "input_sizes": []}
        self.job(of(**{**scatter, "input_sizes": [[8], [8], [8]]}), of(**scatter), of(**scatter))
        self.assertEqual(self.code("job"), "all_in")
        uneven = {"op": "all_to_all"}
        self.job(of(**uneven, input_sizes=[[4]]), of(**uneven, output_sizes=[[4]]), of(**uneven))
        self.assertEqual(self.code("job"), "all_in")
        self.job(of(**uneven, input_sizes=[[4]]), of(**uneven), of(**uneven))
        self.assertEqual((self.code("job"), self.culprits("job")), ("mismatch_one_of", {}))
        self.assertIn("All inputs have 20 elements, all outputs 24: all_to_all, seq 2, default_pg [0-2].",
                      self.texts("job"))

    def test_i14_sends_and_recvs(self):
        sends = [self.p2p(0, "send 0->1", 1), self.p2p(1, "send 0->1", 2, "scheduled")]
        self.job(dump(sends), dump([self.p2p(0, "recv 1<-0", 1)]))
        self.assertEqual(self.culprits("job"), {1: "not called"})
        self.assertIn("Rank 1 did not call recv 1<-0, default_pg [0, 1].", self.texts("job"))
        self.job(dump(sends), dump([self.p2p(1, "recv 1<-0", 1)]))  # one was overwritten
        self.assertEqual((self.culprits("job"), self.code("job")), ({}, "unknown"))
        self.job(dump(sends), dump([self.p2p(0, "recv 1<-0", 1), self.p2p(1, "recv 1<-0", 2, "scheduled")]))
        self.assertEqual((self.culprits("job"), self.code("job")), ({}, "all_in"))
        self.job(dump(sends), dump([self.p2p(0, "recv 1<-0", 1), self.p2p(1, "recv 1<-0", 2, "scheduled",
                                                                          output_sizes=[[9]])]))
        self.assertEqual((self.culprits("job"), self.code("job")), ({}, "mismatch_one_of"))
        self.assertIn("Rank 0: 8 elements; rank 1: 9 elements: send 0->1, default_pg [0, 1].", self.texts("job"))

    def test_i15_stuck_on_the_device(self):
        three = (0, 1, 2)
        waiting, done = (dump([call(0), call(1, state=state)], ranks=three) for state in ("scheduled", "completed"))
        self.job(done, done, waiting)
        self.assertEqual(self.culprits("job"), {2: "device stuck"})
        self.job(done, waiting, waiting)
        self.assertEqual((self.culprits("job"), self.code("job")), ({}, "device_one_of"))
        cast = [dump([call(0), call(1, "broadcast", state)], ranks=three) for state in ("completed", "scheduled")]
        self.job(cast[0], cast[1], cast[1])
        self.assertEqual((self.culprits("job"), self.code("job")), ({}, "all_in"))
        self.job(cast[0], cast[0], cast[1])
        self.assertEqual(self.culprits("job"), {2: "device stuck"})

    def test_i16_not_started(self):
        def of(state, started=1):
            return dump([call(0, time_discovered_started_ns=started), call(1, state=state)], ranks=(0, 1, 2))

        self.job(of("started"), of("started"), of("scheduled"))
        self.assertEqual(self.culprits("job"), {2: "not started"})
        self.job(of("started"), of("started"), of("scheduled", None))
        self.assertEqual((self.culprits("job"), self.code("job")), ({}, "all_in"))
        self.job(of("scheduled"), of("scheduled"), of("scheduled"))
        self.assertEqual((self.culprits("job"), self.code("job")), ({}, "all_in"))

    def test_i17_roots(self):
        self.job(self.waiting(profiling_name="gloo:all_reduce"), dump([call(0)]))
        self.assertEqual((self.culprits("job"), self.code("job")), ({}, "gloo"))
        self.job(self.waiting())
        self.assertEqual((self.culprits("job"), self.code("job")), ({}, "no_dump"))

        def of(*names):
            both = {name: {"name": name, "desc": f"G{name}", "ranks": "[0, 1, 2]"} for name in "01"}
            return dump([call(i, process_group=(name, f"G{name}"), pg_id=int(name), collective_seq_id=1,
                              state="scheduled") for i, name in enumerate(names)], pg_config=both, pg_status={})

        self.job(of("0"), of("0"), of("1"))
        self.assertEqual(self.culprits("job"), {2: "order"})
        self.assertEqual(self.texts("job")[0],
                         "Wait: rank 2 waits in all_reduce, the others in all_reduce; 2 of 3 ranks wait.")
        two = [{**each, "pg_config": {name: {"name": name, "desc": "", "ranks": "[0, 1]"} for name in "01"}}
               for each in (of("0"), of("1"))]
        self.job(*two)
        self.assertEqual((self.culprits("job"), self.code("job")), ({}, "deadlock"))

    def test_i18_where(self):
        frames = [{"filename": "/venv/torch/distributed/c.py", "line": 1, "name": "f"},
                  {"filename": "/job/train.py", "line": 2, "name": "step"}, {"filename": "x", "line": 3, "name": "g"}]
        self.job(self.waiting(frames=frames), dump([call(0, frames=frames[1:])]))
        self.assertEqual(self.rows("SELECT at FROM hang_ranks('job')"), [("train.py:2 step",)] * 2)
        self.assertEqual(self.value("SELECT frames FROM fr_entries('job') WHERE at NOT NULL"),
                         '["/venv/torch/distributed/c.py:1 f","/job/train.py:2 step","x:3 g"]')
        self.assertIn("Rank 1 called last all_reduce at train.py:2 step.", self.texts("job"))

    def many(self, count, missing):
        """Dumps of this many ranks, some of which did not call the second operation."""
        ranks = range(count)
        for rank in ranks:
            entries = [call(0)] if rank in missing else [call(0), call(1, state="scheduled")]
            write({rank: dump(entries, ranks=ranks)}, "job")

    def test_i19_ranges(self):
        self.many(16, range(0, 14, 2))
        self.assertIn("Ranks 0, 2, 4, 6, 8, ... (7) did not call all_reduce, seq 2 (its last: 1), default_pg [0-15].",
                      self.texts("job"))
        self.assertEqual(self.texts("job")[0], "Wait: ranks 0, 2, 4, 6, 8, ... (7) have not called what others wait in;"
                                               " 9 of 16 ranks wait.")
        self.assertEqual(self.value("SELECT waits_for FROM hang_ranks('job') WHERE rank = 15"), "0, 2, 4, 6, 8, 10, 12")

    def test_i20_to_i23_lines(self):
        self.many(4, [2])
        os.remove("job/nccl_trace_rank_3")
        self.assertEqual(self.rows("SELECT kind, code, rank, text FROM hang_summary('job')"), [
            ("verdict", "not_called", 2, "Wait: rank 2 has not called all_reduce; 2 of 4 ranks wait."),
            ("cause", "not_called", 2, "Rank 2 did not call all_reduce, seq 2 (its last: 1), default_pg [0-3]."),
            ("cause", "no_dump", 3, "Rank 3 has no dump; ranks 0, 1 wait in all_reduce, seq 2, default_pg [0-3]."),
            ("waiting", None, 0, "Ranks 0, 1 wait in all_reduce, default_pg [0-3]."),
            ("caution", "no_dump", None, "Caution: no dump of rank 3: whether it is stuck cannot be told."),
            ("caution", "not_timed_out", None,
             "Caution: nothing has timed out: if the dumps were taken on demand, the job may only be slow.")])

    def test_i24_twelve_lines(self):
        for pair in range(20):  # 20 groups, each with one rank that has not called
            group = {"0": {"name": str(pair), "desc": "x" * 60, "ranks": str([2 * pair, 2 * pair + 1])}}
            for rank in (2 * pair, 2 * pair + 1):
                entries = [call(0, process_group=(str(pair), "x" * 60))] if rank % 2 == 0 else []
                write({rank: dump([{**entry, "state": "scheduled", "retired": True} for entry in entries],
                                  pg_config=group)}, "job")
        lines = self.rows("SELECT kind, text, words FROM hang_summary('job')")
        self.assertEqual(len(lines), 12)
        self.assertEqual([kind for kind, _, _ in lines], ["verdict"] + ["cause"] * 7 + ["waiting"] * 4)
        self.assertEqual(lines[7][1], "14 more causes: see hang_ranks.")
        for _, text, words in lines:
            self.assertEqual(text, words if len(words) <= 100 else words[:97] + "...")
        self.assertTrue(any(len(words) > 100 for _, _, words in lines))


class SameAnswers(Hangs):
    """Changes that must not matter."""

    def answers(self):
        return [self.rows(f"SELECT * FROM {function}('job')") for function in FUNCTIONS[1:]]

    def test_formats_and_orders(self):
        for seed in range(2000, 2006):
            job = hung_job(seed)
            for dump in job.dumps.values():
                for entry in dump["entries"]:
                    entry["duration_ms"] = random.Random(entry["record_id"]).random()
            shutil.rmtree("job", ignore_errors=True)
            write(job.dumps, "job")
            before = self.answers()
            shuffled = {}
            for rank, dump in job.dumps.items():
                rng = random.Random(rank)
                entries = [dict(rng.sample(list(entry.items()), len(entry))) for entry in dump["entries"]]
                shuffled[rank] = dict(rng.sample(list({**dump, "entries": rng.sample(entries, len(entries)),
                                                       "unknown": [{"a": 1.5}]}.items()), len(dump) + 1))
            shutil.rmtree("job")
            write(shuffled, "job", as_json=seed % 2 == 0)
            names = sorted(os.listdir("job"))
            for name in names[::2]:
                os.rename(f"job/{name}", f"job/{name.replace('nccl_trace', 'a')}")
            with self.subTest(seed):
                self.assertEqual(*([sorted(map(repr, rows)) for rows in answers]
                                   for answers in (self.answers(), before)))

    def test_the_example_is_what_the_generator_makes(self):
        write(hung_job(2589).dumps, "made")
        for name in os.listdir("made"):
            with open(f"made/{name}", "rb") as new, open(os.path.join(EXAMPLES, "hangs", "never_called", name),
                                                         "rb") as old:
                self.assertEqual(pickle.load(new), pickle.load(old), name)


class Hostile(Hangs):
    def test_bytes_that_are_changed(self):
        """Changed bytes give rows or one error."""
        rng = random.Random(7)
        job = hung_job(2001)
        for i in range(series(60, 600)):
            shutil.rmtree("job", ignore_errors=True)
            write(job.dumps, "job", as_json=i % 3 == 0)
            for name in rng.sample(os.listdir("job"), 2):
                with open(f"job/{name}", "r+b") as file:
                    content = bytearray(file.read())
                    for _ in range(rng.choice((1, 2, 20))):
                        content[rng.randrange(1, len(content))] = rng.randrange(256)
                    file.seek(0)
                    file.write(content)
            for function in FUNCTIONS:
                with contextlib.suppress(sqlite3.OperationalError):
                    self.rows(f"SELECT * FROM {function}('job')")

    def test_odd_values(self):
        huge = 1 << 62
        for fields in ({"collective_seq_id": huge}, {"profiling_name": "nccl:send 99999999999999->"},
                       {"profiling_name": ""}, {"input_sizes": [[huge, huge], 7, []]}, {"frames": [{}]},
                       {"timeout_ms": huge, "time_discovered_completed_ns": huge}, {"process_group": ("", "")},
                       {"process_group": ("\0\n\x1b[31m", "\u202e"), "profiling_name": "a:\x1b\n"}):
            for ranks in ((0, 1), (), (0, 99999999)):
                entry = call(1, **{"state": "scheduled", **fields})
                shutil.rmtree("job", ignore_errors=True)
                write({0: dump([call(0), entry], ranks=ranks), 1: dump([call(0)], ranks=ranks)}, "job")
                with self.subTest(fields, ranks=ranks):
                    for function in FUNCTIONS:
                        self.rows(f"SELECT * FROM {function}('job')")
                    self.assertTrue(all(text.isprintable() for text in self.texts("job")))

    def test_a_rank_of_a_name_makes_no_large_group(self):
        write({0: dump([call(0)], pg_config={}), 99999999: dump([call(0)], pg_config={})}, "job")
        self.assertEqual(self.value("SELECT count(*) FROM fr_groups('job')"), 2)


@slowest
class Live(Hangs):
    """Dumps that PyTorch writes for CPU ranks, where TORCH is a virtual environment with it."""

    def record(self, ranks, missing):
        python = outside("TORCH", "bin", "python")
        for name in ("job", "job/pickle", "job/json"):
            os.mkdir(name)
        running = [subprocess.Popen(
            [python, os.path.join(ROOT, "tests", "generators", "record_hang.py"), str(rank), str(ranks), "job",
             str(missing)], env={**os.environ, "TORCH_FR_BUFFER_SIZE": "2000", "OMP_NUM_THREADS": "1"},
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for rank in range(ranks)]
        for each in running:  # a rank waits for the others, even if they fail
            self.addCleanup(each.kill)
        for rank, each in enumerate(running):
            with self.subTest(rank=rank):
                _, errors = each.communicate(timeout=300)
                self.assertEqual(each.returncode, 0, errors)

    def test_a_rank_that_does_not_call(self):
        self.record(4, 2)
        for dumps in ("job/pickle", "job/json"):
            with self.subTest(dumps):
                self.assertEqual(self.code(dumps), "gloo")  # named, but no culprit: it may have failed
                self.assertIn("Rank 2 did not call all_reduce, seq 4 (its last: 3), default_pg [0-3].",
                              self.texts(dumps))
                self.assertEqual(self.culprits(dumps), {})
                self.assertEqual(self.rows("SELECT rank, waits_for FROM hang_ranks(?)", dumps),
                                 [(rank, None if rank == 2 else "2") for rank in range(4)])
                self.assertEqual(self.rows("SELECT rank, problems FROM fr_dumps(?)", dumps),
                                 [(rank, None) for rank in range(4)])
                self.assertEqual(self.rows("SELECT rank, count(*) FROM fr_entries(?) GROUP BY rank", dumps),
                                 [(rank, 4 if rank == 2 else 5) for rank in range(4)])

    def test_a_job_that_does_not_hang(self):
        self.record(2, -1)
        for dumps in ("job/pickle", "job/json"):
            with self.subTest(dumps):
                self.assertEqual(self.culprits(dumps), {})
                self.assertEqual(self.value("SELECT count(*) FROM hang_ranks(?) WHERE state = 'waits'", dumps), 0)


@alone
class Cost(Hangs):
    @slowest
    def test_1024_dumps(self):
        large("job", 1024, 2000)
        begun = time.process_time()
        self.assertEqual(self.culprits("job"), {512: "not called"})
        self.assertLess(time.process_time() - begun, 8)

    def test_16_dumps(self):
        write(hung_job(1).dumps, "warm")
        self.texts("warm")
        large("job", 16, 20)
        begun = time.process_time()
        self.texts("job")
        self.assertLess(time.process_time() - begun, 0.1)
