"""Ranks of files that do not contain their rank: T7.3 to T7.8, T8.2."""
import json
import os
import random
import sqlite3
import unittest

from made import InFolder, document, event, kernel, launch, step, write


class Ranks(InFolder):

    def ranks(self, path="d", columns="file, rank"):
        """Rows of trace_files, with file names instead of paths."""
        return [(os.path.basename(file), *rest) for file, *rest in self.rows(
            f"SELECT {columns} FROM trace_files(?)", path)]


class Names(Ranks):
    """T7.3: ranks from names."""

    def test_digits_are_numbers(self):
        names = ["9", "09", "9-DP-11", "17-DP-.a", "17-DP-2", "17-DP-02", "17-DP-2a", "17-DP-9", "17-DP-10-3",
                 "17-DP-0010-12", "17-DP-10", "18446744073709551616", "18446744073709551617", "a-", "a", "a1"]
        right = ["9-DP-11.json", "09.json", "9.json", "17-DP-.a.json", "17-DP-02.json", "17-DP-2.json", "17-DP-2a.json",
                 "17-DP-9.json", "17-DP-10-3.json", "17-DP-0010-12.json", "17-DP-10.json", "18446744073709551616.json",
                 "18446744073709551617.json", "a-.json", "a.json", "a1.json"]
        random.Random(3).shuffle(names)
        for name in names:
            write(f"d/{name}.json", document(event("op", 1, 2)))
        self.assertEqual(self.ranks(), [(name, rank) for rank, name in enumerate(right)])

    def test_paths_of_a_list(self):
        paths = [write(f"n{folder}/x.json", document(event("op", 1, 2))) for folder in (10, 9, 100)]
        self.assertEqual(self.rows("SELECT file, rank FROM trace_files(?)", json.dumps(paths)),
                         [("n9/x.json", 0), ("n10/x.json", 1), ("n100/x.json", 2)])

    def test_twelve_files_are_paired_by_number(self):
        for side in ("control", "test"):
            for number in range(12):
                slower = 40 if side == "test" and number == 10 else 0
                write(f"{side}/17.5-DP-{number}.json", document(*[each for at in range(4) for each in (
                    step(at, 1000 * at, 900), launch(1000 * at + 10, 5, at + 1),
                    kernel("k", 1000 * at + 20, 100 + slower, at + 1))]))
        for rank, longer in ((0, 0), (2, 0), (10, 40), (11, 0)):
            self.assertEqual(self.value("SELECT round(sum(diff_time)) FROM trace_step_diff('control', 'test', ?, ?)"
                                        " WHERE class = 'compute'", rank, rank), longer)



def stages(start, numbers, dur=100, kernels="gemm", pid=1, device=0, first=1, name="ProfilerStep#{}"):
    """Events of steps of 1000 us, each with a launch and its kernel."""
    events = []
    for at, number in enumerate(numbers):
        ts = start + 1000 * at
        events += [event(name.format(number), ts, 900, cat="user_annotation", pid=pid),
                   event("aten::mm", ts + 5, 50, pid=pid), launch(ts + 10, 5, first + at, pid=pid),
                   {**kernel(kernels, ts + 20, dur, first + at), "pid": device}]
    return events


class Cycles(Ranks):
    """T7.4, T8.2: files of one process, by the numbers in their names."""

    def test_numbers_in_names(self):
        for names, ranks in (
                (("17.5-TP-0-DECODE.json", "17.5-TP-0-EXTEND.json"), [0, 0]),
                (("17.5-TP-0.json", "17.5-TP-00.json"), [0, 0]),
                (("17-TP-0-a.json", "17-TP-1-a.json", "18-TP-0-a.json", "18-TP-1-a.json"), [0, 1, 0, 1]),
                (("17-TP-0-PP-1-a.json", "17-TP-0-PP-2-a.json", "18-TP-0-PP-1-a.json"), [0, 1, 0]),
                (("17-TP-0-DP-0-EP-3.json", "17-TP-0-EP-3-DP-0.json"), [0, 0]),
                (("17-TP-0-a.json", "17-TP-0-DP-0-a.json"), [1, 0]),
                (("17_TP-0-a.json", "17_TP-0-b.json"), [0, 1]),
                (("17-tp-0-a.json", "17-TP-0-b.json"), [0, 0]),
                (("17-CP-0-a.json", "17-CP-0-b.json"), [0, 1]),
                (("17-TP-0-a.1.pt.trace.json", "18-TP-0-a.2.pt.trace.json"), [0, 0])):
            for shift in (0, -10 ** 6):
                paths = [write(f"n{len(ranks)}/{name}", document(*stages(shift + 10 ** 5 * at, (1, 2, 3))))
                         for at, name in enumerate(names)]
                with self.subTest(names=names):
                    found = dict(self.rows("SELECT file, rank FROM trace_files(?)", json.dumps(paths)))
                    self.assertEqual([found[path] for path in paths], ranks)
                    if set(ranks) == {0}:
                        self.assertEqual(self.rows("SELECT iteration FROM trace_steps(?) ORDER BY ts",
                                                   json.dumps(paths)),
                                         [(number,) for number in range(1, 3 * len(paths) + 1)])

    def test_folders(self):
        paths = [write(f"{folder}/1-TP-0-a.json", document(*stages(10 ** 5 * at, (1, 2))))
                 for at, folder in enumerate("ab")]
        self.assertEqual(self.rows("SELECT rank FROM trace_files(?)", json.dumps(paths)), [(0,), (1,)])

    def test_times_tell_ranks(self):
        """Times decide the ranks, whatever names and folders are, and whichever rank is read first."""
        for late, ranks in ((4999, [0, 1]), (5000, [0, 0])):
            write("d/x-TP-0-b.json", document(*stages(0, range(1, 6)), event("end", 4999, 1)))
            write("d/x-TP-0-a.json", document(*stages(late, range(1, 6))))
            with self.subTest(late=late):
                self.assertEqual([rank for _, rank in self.ranks()], ranks)
                self.assertEqual(self.value("SELECT count(*) FROM trace_events('d', 0) WHERE name = 'gemm'"),
                                 10 if ranks == [0, 0] else 5)

    def test_a_file_without_steps_is_a_step(self):
        for at, steps in ((0, (1, 2, 3)), (10 ** 5, ()), (2 * 10 ** 5, (1, 2))):
            warm = [] if steps else [event("work", at + 5, 300), *stages(at + 10, (7,), name="warm")]
            write(f"d/h_1.{at}.pt.trace.json", document(*stages(at, steps), *warm))
        self.assertEqual(self.rows("SELECT iteration, name FROM trace_steps('d') ORDER BY ts"),
                         [(1, "ProfilerStep#1"), (2, "ProfilerStep#2"), (3, "ProfilerStep#3"), (4, "warm"),
                          (5, "ProfilerStep#1"), (6, "ProfilerStep#2")])
        self.assertEqual(self.value("SELECT count(*) FROM trace_step_time('d') WHERE iterations = 4"
                                    " AND class = 'compute'"), 1)
        self.assert_error("trace_steps: 'd/h_1.0.pt.trace.json' and 'd/h_1.100000.pt.trace.json' are both of rank 0,"
                          " but the first has no steps: leave one of them out",
                          "SELECT * FROM trace_steps('d') WHERE steps = 'warm'")

    def test_files_without_any_steps(self):
        """Files without steps count as one step each."""
        for side, dur in (("control", 100), ("test", 160)):
            for at in range(2):
                write(f"{side}/h_1.{at}.pt.trace.json", document(*stages(10 ** 5 * at, (1,), dur, name="x{}")))
        self.assertEqual(self.value("SELECT sum(diff_time) FROM trace_step_diff('control', 'test')"
                                    " WHERE class = 'compute'"), 60.0)


class Labels(Ranks):
    """T7.6: ranks in one file."""

    LABELS = ("TP00-PP00", "TP00-PP01")

    def merged(self, path, durations, labels=None, seed=None, **keys):
        """A file in which all labels share their correlations, in some order."""
        events = []
        for label, dur in zip(labels or self.LABELS, durations):
            events.append(stages(len(label), range(1, 6), dur, f"k_{label}", f"[{label}] 1000", f"[{label}] 0"))
        events = [each for group in zip(*events) for each in group]
        if seed is not None:
            random.Random(seed).shuffle(events)
        return write(path, document(*events, **keys))

    def test_each_label_has_its_own_correlations(self):
        for seed in (None, 1, 2):
            for keys in ({}, {"distributedInfo": {"rank": 3, "world_size": 2}}):
                for name in ("merged-1.json", "rank7.json", "merged.json.gz"):
                    path = self.merged(f"d{seed}/{name}", (100, 180), seed=seed, **keys)
                    with self.subTest(seed=seed, keys=keys, name=name):
                        self.check(path)

    def check(self, path):
        self.assertEqual(
            self.rows("SELECT rank, rank_source, label, tp, pp, dp, steps FROM trace_files(?)", path),
            [(0, "order", "TP00-PP00", 0, 0, None, 5), (1, "order", "TP00-PP01", 0, 1, None, 5)])
        for rank, label in enumerate(self.LABELS):
            self.assertEqual(
                self.rows("SELECT DISTINCT rank, name, pid FROM trace_events(?, ?) WHERE device = 'GPU'", path, rank),
                [(rank, f"k_{label}", f"[{label}] 0")])
        self.assertEqual(self.rows("SELECT count(*), sum(substr(c.pid, 1, 11) = substr(e.pid, 1, 11))"
                                   " FROM trace_events(?1, 'all') AS e JOIN trace_events(?1, 'all') AS c"
                                   " ON c.rank = e.rank AND c.event = e.link WHERE e.device = 'GPU'", path), [(10, 10)])

    def test_as_in_files_of_their_own(self):
        labels = ("TP2", "TP10", "TP0")
        self.merged("merged/m.json", (10, 20, 30), labels, 5)
        for label, dur in zip(labels, (10, 20, 30)):
            self.merged(f"apart/x-{label}.json", (dur,), (label,))
        for function in ("trace_ops", "trace_step_time", "trace_diff"):
            arguments = "'{0}', 'all'" if function != "trace_diff" else "'{0}', '{0}', 2, 1"
            columns = ", ".join(name for name, in self.rows(
                "SELECT name FROM tracediff_columns(?) WHERE kind = 'column' AND name <> 'file'", function))
            merged, apart = (self.rows(f"SELECT {columns} FROM {function}({arguments.format(folder)})")
                             for folder in ("merged", "apart"))
            self.assertEqual(sorted(merged, key=repr), sorted(apart, key=repr), function)

    def test_events_without_a_label(self):
        events = [event("op", 1, 2, pid=f"[{label}] 1") for label in ("b", "a")]
        write("d/m.json", document(event("own", 1, 2, pid=4), *events, event("none", 5, 1, pid=None)))
        self.assertEqual(self.rows("SELECT rank, name FROM trace_events('d', 'all') ORDER BY 1, 2"),
                         [(0, "none"), (0, "op"), (0, "own"), (1, "op")])

    def test_what_is_no_label(self):
        for pids in (("[a] 1", "[a] 2"), ("[a]1", "[b]1"), ("[] 1", "[b] 1"), ("[a", "[b"), ("x [a] 1", "x [b] 1"),
                     ("[a] 1", 5), ("[a]", "[b]")):
            write("d/m.json", document(*[event("op", 1, 2, pid=pid) for pid in pids]))
            self.assertEqual(self.ranks(columns="file, rank, label"), [("m.json", 0, None)], pids)

    def test_ranks_are_asked_for_one_by_one(self):
        self.merged("d/a.json", (100, 180))
        write("d/rank0.json", document(*stages(0, (1, 2))))
        os.rename("d/rank0.json", "rank0.json")  # otherwise the file would be a copy
        self.merged("d/b.json", (50, 60, 70), ("x", "y", "z"), distributedInfo={"rank": 0, "world_size": 1})
        for rank in (4, 0, 2, 3, 1):
            self.assertEqual(self.rows("SELECT DISTINCT name FROM trace_events('d', ?) WHERE device = 'GPU'", rank),
                             [("k_" + ("TP00-PP00", "TP00-PP01", "x", "y", "z")[rank],)])
        self.assertEqual(self.value("SELECT count(DISTINCT rank) FROM trace_events('d', 'all')"), 5)

    def test_a_part_of_a_cut_file(self):
        whole = json.dumps(document(*(each for label in "ab" for each in stages(
            0, (1, 2), pid=f"[{label}] 1", device=f"[{label}] 0"))))
        write("m.json", whole[:-30])
        for rank in (0, 1):
            with self.assertRaisesRegex(Exception, "truncated"):
                self.rows("SELECT * FROM trace_diff('m.json', 'm.json', ?, ?)", rank, rank)
        self.assertEqual(self.value("SELECT count(*) FROM trace_events('m.json', 0)"), 8)

    def test_metadata_after_a_first_event_that_cannot_be_read(self):
        """If the first event cannot be read, the search for a label continues to the end of the document."""
        with open("a.json", "w") as file:
            file.write('{"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},'
                       ' "baseTimeNanoseconds": 1700000000000000000, "deviceProperties": [{"id": 0}],'
                       ' "traceEvents": [{"ph": "X", "name": "ate"x": n}], "traceName": "t", "displayTimeUnit": "ms"}')
        write("b.json", document(event("aten::mm", 1, 1), distributedInfo={"rank": 0, "world_size": 8}))
        self.assertEqual(self.rows("SELECT name FROM trace_ops('.') WHERE ranks = 0"), [("aten::mm",)])

    def test_args(self):
        events = [event("op", at, 2, pid=f"[{'ab'[at % 2]}] 1", args={"Input Dims": [[at]]}) for at in range(50)]
        write("m.json", document(*events))
        for rank in (1, 0):
            self.assertEqual(self.rows("SELECT args ->> '$.\"Input Dims\"[0][0]' FROM trace_events('m.json', ?)"
                                       " ORDER BY ts DESC", rank),
                             [(at,) for at in range(49, -1, -1) if at % 2 == rank])


def capture(launches, captured, start=0, correlation=1):
    """Launches, of which the first are captured."""
    calls = [event("cudaStreamBeginCapture", start, 5, cat="cuda_runtime")]
    for number in range(launches):
        at = start + 10 + 10 * number + (20 if number >= captured else 0)
        calls.append(launch(at, 5, correlation + number))
        calls.append(event("cuLaunchKernel", at + 1, 2, cat="cuda_driver"))  # included in the launch
    calls.append(event("cudaStreamEndCapture", start + 10 * captured + 15, 5, cat="cuda_runtime"))
    return calls


class Copies(Ranks):
    """T7.8: copies."""

    def rest(self, path="d"):
        return self.ranks(path, "file, rank, rank_source")

    def test_a_file_of_labels_beside_files_of_one_rank(self):
        labels = Labels("test_args")
        labels.merged("d/merged-17.json", (5, 5), ("TP0", "TP1"))
        self.assertEqual(self.rest(), [("merged-17.json", 0, "order"), ("merged-17.json", 1, "order")])
        for rank in range(2):
            write(f"d/17-TP-{rank}.json", document(*stages(0, (1, 2))))
        for _ in range(2):  # read and kept
            self.assertEqual(self.rest(), [("17-TP-0.json", 0, "order"), ("17-TP-1.json", 1, "order"),
                                           ("merged-17.json", None, "copy"), ("merged-17.json", None, "copy")])
            self.assertEqual(self.rows("SELECT DISTINCT rank, file FROM trace_events('d', 'all')"),
                             [(0, "d/17-TP-0.json"), (1, "d/17-TP-1.json")])
        self.assertEqual(self.rest("d/merged*"), [("merged-17.json", 0, "order"), ("merged-17.json", 1, "order")])

    def test_nine_tenths_of_the_launches(self):
        for launches, captured, is_copy in ((10, 10, True), (10, 9, True), (10, 8, False), (50, 45, True),
                                            (50, 44, False), (1, 1, True), (1, 0, False), (9, 8, False)):
            for name in ("a.json", "x-TP-0.json", "zz.json"):
                write(f"d/{name}", document(*capture(launches, captured)))
                write("d/m-TP-0.json", document(*stages(10 ** 6, (1, 2, 3))))
                with self.subTest(launches=launches, captured=captured, name=name):
                    found = dict((file, rank) for file, rank, _ in self.rest())
                    self.assertEqual(found[name] is None, is_copy)
                    self.assertEqual(sorted(found.values(), key=str),
                                     [0, None] if is_copy else [0, 1] if name[0] != "x" else [0, 0])
                os.remove(f"d/{name}")

    def test_another_thread_captures(self):
        calls = capture(10, 10)
        for each in calls[1:-1]:
            each["tid"] = 5
        write("d/a.json", document(*calls))
        write("d/b.json", document(*stages(0, (1, 2))))
        self.assertEqual(self.rest(), [("a.json", None, "copy"), ("b.json", 0, "order")])

    def test_captures_alone(self):
        for name in "ab":
            write(f"d/{name}.json", document(*capture(10, 10, 100000 * "ab".index(name))))
        self.assertEqual(self.rest(), [("a.json", 0, "order"), ("b.json", 1, "order")])
        self.assertEqual(self.rest("d/a.json"), [("a.json", 0, "order")])

    def test_a_rank_that_the_file_says(self):
        """A file that contains its rank is read when that rank is selected."""
        told = {"distributedInfo": {"rank": 0, "world_size": 1}}
        write("d/a.json", document(*capture(10, 10), **told))
        write("d/b.json", document(*stages(0, (1, 2)), **told))
        for _ in range(2):
            self.assertEqual(self.rows("SELECT DISTINCT file FROM trace_events('d', 0)"), [("d/b.json",)])
            self.assertEqual(self.rows("SELECT iteration FROM trace_steps('d')"), [(1,), (2,)])

    def test_the_capture_that_is_given(self):
        write("d/a.json", document(*capture(1, 1), event("aten::mm", 5, 200)))
        graph = [event(f"ProfilerStep#{at}", 1000 * at, 900, cat="user_annotation") for at in range(3)]
        for at in range(3):
            graph += [event("cudaGraphLaunch", 1000 * at + 5, 3, cat="cuda_runtime", args={"correlation": 50 + at}),
                      kernel("gemm", 1000 * at + 10, 100, 50 + at)]
        write("d/b.json", document(*graph))
        self.assertEqual(self.rows("SELECT DISTINCT name FROM trace_step_time('d') WHERE capture = 'd'"
                                   " AND class = 'compute'"), [("aten::mm",)])


class Replicas(Ranks):
    """T7.5: replicas."""

    def write(self, replica, rank, start=0, told=True, dur=100, tail=".1750.pt.trace.json"):
        keys = {"distributedInfo": {"rank": rank, "world_size": 1}} if told else {}
        return write(f"d/dp{replica}_pp0_tp{rank}_dcp0_ep0_rank{rank}{tail}", document(
            *stages(start, range(1, 6), dur, f"k{replica}"), **keys))

    def test_ranks(self):
        for told in (True, False):
            for replica in (0, 1, 2, 10):
                self.write(replica, 0, told=told, dur=100 + replica)
            self.assertEqual(self.ranks(columns="file, rank, rank_source, dp"),
                             [(f"dp{n}_pp0_tp0_dcp0_ep0_rank0.1750.pt.trace.json", n, "replica", n)
                              for n in (0, 1, 2, 10)])
            for replica in (10, 0, 2):  # the first query, and further ones
                self.assertEqual(self.rows("SELECT DISTINCT name FROM trace_events('d', ?) WHERE device = 'GPU'",
                                           replica), [(f"k{replica}",)])

    def test_a_rank_is_asked_for_first(self):
        for replica in (0, 1):
            self.write(replica, 0)
        self.assertEqual(self.rows("SELECT DISTINCT name FROM trace_events('d', 1) WHERE device = 'GPU'"), [("k1",)])
        self.assert_error("trace_ops: the trace has no rank 2 (ranks: 0, 1)", "SELECT * FROM trace_ops('d', 2)")

    def test_replicas_of_several_ranks(self):
        for replica in (0, 1):
            for rank in (0, 1):
                self.write(replica, rank)
        self.assertEqual(self.ranks(columns="file, rank, tp, dp"), [
            (f"dp{replica}_pp0_tp{rank}_dcp0_ep0_rank{rank}.1750.pt.trace.json", 2 * replica + rank, rank, replica)
            for replica in (0, 1) for rank in (0, 1)])

    def test_are_chosen_by_their_place(self):
        """T7.7: ranks can be selected by their place, wherever ranks are selected."""
        for replica in (0, 1):
            for rank in (0, 1):
                self.write(replica, rank)
        for place, ranks in (("dp=1", [2, 3]), ("tp=0", [0, 2]), (" TP=0 , dp=1 ", [2]), ("pp=0", [0, 1, 2, 3]),
                             ("tp=0,pp=0,dp=0,ep=0", [0]), ("dp=01", [2, 3])):
            for function in ("trace_events('d', '{}')", "trace_ops('d', '{}')", "trace_step_time('d', 'job {}')",
                             "trace_step_time('d', '{}')"):
                with self.subTest(place=place, function=function):
                    found = [rank for rank, in self.rows("SELECT DISTINCT rank FROM "
                                                         + function.format(place) + " ORDER BY 1")]
                    self.assertEqual(found, ranks[:1] if "job" in function else ranks)
        self.assertEqual(self.rows("SELECT control_chosen, test_chosen, control_ranks FROM"
                                   " trace_compared_ranks('d', 'd', 'tp=0', 'job dp=1')"),
                         [("[0,2]", "job [2,3]", "[0,2]")])
        self.assertEqual(self.rows("SELECT text FROM trace_summary('d', 'd', 'dp=1,tp=1', 'dp=1,tp=0') WHERE line = 2"),
                         self.rows("SELECT text FROM trace_summary('d', 'd', 3, 2) WHERE line = 2"))
        there = "tp: 0, 1; pp: 0; dp: 0, 1; ep: 0"
        self.assert_error(f"trace_ops: the trace has no rank at tp=7 ({there})", "SELECT * FROM trace_ops('d', 'tp=7')")
        self.assert_error(f"trace_summary: 'd' has no rank at tp=1,dp=2 ({there})",
                          "SELECT * FROM trace_summary('d', 'd', 0, 'dp=2,tp=1')")
        for wrong in ("tp=", "tp=-1", "tp=0,", "tp=0,tp=1", "xp=0", "tp 0", "tp=0;pp=0", "job tp",
                      "tp=99999999999999999999"):
            with self.assertRaisesRegex(sqlite3.Error, "must be an integer"):
                self.rows("SELECT * FROM trace_step_time('d', ?)", wrong)
        write("plain.json", document(event("x", 0, 1)))
        self.assert_error("trace_ops: the trace has no rank at tp=0 (no name or label of a file tells tp, pp, dp or"
                          " ep)",
                          "SELECT * FROM trace_ops('plain.json', 'tp=0')")
        write("many.json", document(*[event("x", 0, 1, pid=f"[TP{n:04}] 1") for n in range(300)]))
        with self.assertRaisesRegex(sqlite3.Error, r"at tp=999 \(tp: 0, 1, .*, [.]{3}\)$"):
            self.rows("SELECT * FROM trace_ops('many.json', 'tp=999')")
        self.assertEqual(self.rows("SELECT DISTINCT rank FROM trace_ops('many.json', 'tp=299')"), [(299,)])

    def test_nothing_ties_replicas(self):
        """Q2, Q3.4: replicas never share a collective, even with equal group names; ranks within a replica do."""
        def collectives(rank):
            return [{**kernel("ncclDevKernel_AllReduce", 1000 * at + 300 + rank, 50, 90 + at), "args": {
                "correlation": 90 + at, "stream": 7, "Process Group Name": "tp"}} for at in range(5)]

        for replica in (0, 1):
            for rank in (0, 1):
                launches = [launch(1000 * at + 20, 1, 90 + at) for at in range(5)]
                write(f"d/dp{replica}_rank{rank}.json", document(*stages(0, range(5)), *collectives(rank), *launches))
        self.assertEqual(self.rows("SELECT DISTINCT rank, offset_ns FROM trace_job_clocks('d', 'all', 'all')"),
                         [(0, 0), (1, 1000), (2, None), (3, None)])
        for replica in (0, 1):
            for rank in (0, 1):
                os.rename(f"d/dp{replica}_rank{rank}.json", f"d/rank{2 * replica + rank}.json")
        self.assertEqual(self.rows("SELECT DISTINCT rank, offset_ns FROM trace_job_clocks('d', 'all', 'all')"),
                         [(0, 0), (1, 1000), (2, 0), (3, 1000)])

    def test_what_is_no_replica(self):
        self.write(0, 0)
        self.write(1, 0, 10 ** 6)  # at a different time
        self.assertEqual([rank for _, rank in self.ranks()], [0, 0])
        self.write(1, 1)           # of another rank
        os.remove("d/dp1_pp0_tp0_dcp0_ep0_rank0.1750.pt.trace.json")
        self.assertEqual([rank for _, rank in self.ranks()], [0, 1])
        os.remove("d/dp1_pp0_tp1_dcp0_ep0_rank1.1750.pt.trace.json")
        self.write(0, 0, 50, tail=".9.pt.trace.json")  # of the same replica
        self.assertEqual([rank for _, rank in self.ranks()], [0, 0])


class Coordinates(Ranks):
    """T7.7: coordinates."""

    def test_names(self):
        for name, *right in (("17.5-TP-0-PP-1-DP-2-EP-3", 0, 1, 2, 3), ("dp0_pp1_tp02_dcp7_ep3_rank0", 2, 1, 0, 3),
                             ("TP_4", 4, None, None, None), ("http-2-step3-rep4", None, None, None, None),
                             ("tp1-tp2", 2, None, None, None), ("tp-pp--1dp", None, None, None, None),
                             ("tp99999999999999999999", None, None, None, None), ("17tp3", 3, None, None, None)):
            write(f"tp5/{name}.json", document(event("op", 1, 2)))
            self.assertEqual(self.rows("SELECT tp, pp, dp, ep FROM trace_files(?)", f"tp5/{name}.json"),
                             [tuple(right)], name)

    def test_ranks_by_them(self):
        for number in range(12):
            write(f"d/17-TP-{number % 4}-PP-{number // 4}.json", document(*stages(0, (1, 2), kernels=f"k{number}")))
        self.assertEqual(self.rows(
            "SELECT DISTINCT name FROM trace_events WHERE trace = 'd' AND device = 'GPU' AND ranks ="
            " (SELECT json_group_array(rank) FROM trace_files('d') WHERE tp = 3 AND pp > 0)"
            " ORDER BY 1"), [("k11",), ("k7",)])

if __name__ == "__main__":
    unittest.main()
