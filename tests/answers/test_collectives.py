"""Bytes and bandwidth of collectives (W5 to W8), compared with an independent reading of the JSON."""
import json
import random
import unittest

import oracle_collectives
from made import InFolder, document, event, kernel, launch, step, write
from support import series

OWN = "collective, process_group, group_size, dtype, collective_bytes, algorithm, protocol, channels"
NAMES = {"all_reduce": ("allreduce", "allreduce_coalesced"), "broadcast": ("broadcast", "_broadcast_oop"),
         "all_gather": ("_allgather_base", "allgather", "allgather_into_tensor_coalesced"),
         "reduce_scatter": ("_reduce_scatter_base", "reduce_scatter_tensor_coalesced"), "reduce": ("reduce",),
         "all_to_all": ("all_to_all", "all_to_allv"), "gather": ("gather",), "scatter": ("scatter",),
         "send": ("send",), "recv": ("recv",), "barrier": ("barrier",), None: ("wait",)}
KERNELS = {"all_reduce": "ncclDevKernel_AllReduce_Sum_f32_%s_%s(args)", "broadcast": "ncclDevKernel_Broadcast_%s_%s(a)",
           "all_gather": "ncclKernel_AllGather_%s_%s_Sum_int8_t(x)", "reduce": "ncclDevKernel_Reduce_Sum_f16_%s_%s",
           "reduce_scatter": "ncclDevKernel_ReduceScatter_Sum_bf16_%s_%s(a)", None: "ncclDevKernel_Generic_%s_%s"}
PAIRS = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
ALGORITHMS = ("RING", "TREE", "NVLS", "NVLS_TREE", "COLLNET_DIRECT", "COLLNET_CHAIN", "PAT")


def described(kind, elements=(1000, 1000), dtype="Float", group="0", ranks=(0, 1), name=None):
    """args in the format of PyTorch."""
    return {"Collective name": name or NAMES[kind][0], "In msg nelems": elements[0], "Out msg nelems": elements[1],
            "Group size": len(ranks), "dtype": dtype, "In split size": "[]", "Out split size": "[]",
            "Process Group Name": group, "Process Group Description": "default_pg",
            "Process Group Ranks": json.dumps(list(ranks))}


def called(at, correlation, args, host=True, own=True, dur=100, late=0,
           name="ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", grid=None):
    """A call, its launch and its kernel; args belong to the call, to the kernel, or to both."""
    work = kernel(name, at + 50 + late, dur, correlation, stream=20)
    work["args"].update(args if own else {}, **({"grid": grid} if grid else {}))
    return [event("record_param_comms", at, 20, args=args if host else {}), launch(at + 5, 5, correlation), work]


def rank(number, *events, ranks=2):
    return {**document(*events), "distributedInfo": {"rank": number, "world_size": ranks}}


class Attributed(InFolder):
    """Attributes of each kernel."""

    def owned(self, *events):
        write("a.json", document(*events))
        return self.rows(f"SELECT {OWN} FROM trace_kernel_owners('a.json') WHERE kernel_type = 'COMMUNICATION'")

    def bytes_of(self, *events):
        return [row[4] for row in self.owned(*events)]

    def test_bytes_are_those_of_each_kind(self):
        """W6.1 to W6.3: each kind of collective has its own bytes: the input of reduce_scatter, the output of
        all_gather, the larger of both for all_to_all.
        """
        of_kind = {"all_reduce": 8, "reduce_scatter": 8, "broadcast": 8, "reduce": 8, "send": 8, "all_gather": 20,
                   "recv": 20, "all_to_all": 20, "gather": 20, "scatter": 20, "barrier": None, None: None}
        for kind, expected in of_kind.items():
            for name in NAMES[kind]:
                (row,) = self.owned(*called(10, 1, described(kind, (4, 10), "Half", name=name)))
                self.assertEqual((row[0], row[4]), (kind, expected), name)

    def test_types_have_their_sizes(self):
        for dtype, size in oracle_collectives.SIZES.items():
            self.assertEqual(self.bytes_of(*called(10, 1, described("all_reduce", (3, 3), dtype))), [3 * size], dtype)

    def test_what_is_not_known_is_null(self):
        args = described("all_reduce")
        for key, value in (("dtype", "Float9"), ("dtype", None), ("In msg nelems", None), ("In msg nelems", -1),
                           ("In msg nelems", "many"), ("In msg nelems", 2 ** 62)):
            changed = {key_: each for key_, each in {**args, key: value}.items() if each is not None}
            self.assertEqual(self.bytes_of(*called(10, 1, changed)), [None], (key, value))

    def test_args_of_the_call_come_before_those_of_its_kernel(self):
        """W5.1, W5.2: args of the call take precedence over the args of its kernel."""
        events = called(10, 1, described("all_gather", (1, 2)))
        events[0]["args"] = described("all_reduce", (5, 5))
        self.assertEqual(self.owned(*events)[0][0], "all_reduce")
        del events[0]["args"]["Collective name"]
        self.assertEqual(self.owned(*events)[0][0], "all_gather")
        self.assertEqual(self.bytes_of(*called(10, 1, described("all_gather", (1, 2)), own=False)), [8])

    def test_a_group_of_calls_is_summed_up(self):
        """W5.3, W6.5: a group of calls is summed up: the sends and receives of one kernel; types and sizes only if they
        agree.
        """
        calls = [event("record_param_comms", 10, 5, args=described("send", (100, 0), "Half")),
                 event("record_param_comms", 20, 5, args=described("recv", (0, 30), "Half"))]
        group = [launch(30, 5, 9), kernel(PAIRS, 60, 50, 9)]
        self.assertEqual(self.owned(*calls, *group), [("send_recv", None, 2, "Half", 260, None, None, None)])
        calls[1]["args"].update({"dtype": "Float", "Group size": 4})
        self.assertEqual(self.owned(*calls, *group), [("send_recv", None, None, None, 320, None, None, None)])

    def test_calls_before_another_launch_are_of_no_group(self):
        calls = [event("record_param_comms", 10, 5, args=described("send", (100, 0)))]
        between = [launch(16, 2, 3), kernel("gemm", 40, 5, 3)]
        group = [launch(30, 5, 9), kernel(PAIRS, 60, 50, 9)]
        self.assertEqual(self.bytes_of(*calls, *group), [400])
        self.assertEqual(self.bytes_of(*calls, *between, *group), [None])
        elsewhere = [{**each, "tid": 2} for each in calls]
        self.assertEqual(self.bytes_of(*elsewhere, *group), [None])

    def test_a_kernel_takes_no_calls_that_it_cannot_do(self):
        calls = [event("record_param_comms", 10, 5, args=described("all_reduce"))]
        self.assertEqual(self.bytes_of(*calls, launch(30, 5, 9), kernel(PAIRS, 60, 50, 9)), [None])

    def test_a_graph_has_no_group(self):
        calls = [event("record_param_comms", 10, 5, args=described("send", (100, 0)))]
        graph = [launch(30, 5, 9), kernel(PAIRS, 60, 50, 9), kernel("gemm", 120, 50, 9)]
        self.assertEqual(self.bytes_of(*calls, *graph), [None])

    def test_kernels_of_one_call_share_its_bytes(self):
        """W6.4: kernels of one call share its bytes by duration, like in F3."""
        args = described("all_to_all", (25, 25))
        events = called(10, 1, args, dur=30) + [launch(20, 5, 2), kernel(PAIRS, 100, 10, 2)]
        events[-1]["args"].update(args)
        self.assertEqual(self.bytes_of(*events), [75, 25])

    def test_names_of_kernels_tell_the_rest(self):
        """Names of kernels give the rest (W8), also without args (W5)."""
        for name, expected in (
                ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", ("all_reduce", "RING", "LL")),
                ("ncclDevKernel_AllReduce_Sum_f32_TREE_LL128", ("all_reduce", "TREE", "LL128")),
                ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)", ("all_reduce", "RING", "LL")),
                ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)", ("send_recv", "RING", "SIMPLE")),
                ("ncclDevKernel_ReduceScatter_Sum_bf16_NVLS_TREE_SIMPLE", ("reduce_scatter", "NVLS_TREE", "SIMPLE")),
                ("ncclDevKernel_AllGather_COLLNET_DIRECT_SIMPLE", ("all_gather", "COLLNET_DIRECT", "SIMPLE")),
                ("ncclDevKernel_AllGather_PAT_SIMPLE", ("all_gather", "PAT", "SIMPLE")),
                ("ncclDevKernel_Reduce_Sum_f32_RING_LL", ("reduce", "RING", "LL")),
                ("ncclDevKernel_Generic(x)", (None, None, None)),
                ("void vllm::cross_device_reduce_2stage<half, 8>(x)", ("all_reduce", None, None))):
            (row,) = self.owned(*called(10, 1, {}, name=name, grid=[8, 1, 1]))
            self.assertEqual((row[0], *row[5:]), (*expected, 8), name)

    def test_compute_has_none_of_it(self):
        write("a.json", document(launch(5, 5, 1), kernel("gemm_SUM_RING_LL", 20, 10, 1)))
        self.assertEqual(self.rows(f"SELECT {OWN} FROM trace_kernel_owners('a.json')"), [(None,) * 8])


class Rates(InFolder):
    """Rates by trace_collectives."""

    def job(self, args, durations=(100, 40), ends=(0, 0), folder="job", size=2, **more):
        """Ranks whose kernels end together, except for `ends`."""
        for number, (dur, end) in enumerate(zip(durations, ends)):
            events = [step(3, 0, 900)] + called(10, 1, args, dur=dur, late=500 - dur + end, **more)
            write(f"{folder}/rank{number}.json", rank(number, *events, ranks=size))
        return self.rows("SELECT transfer, last_rank, bytes, group_size, dtype, algbw_gbs, busbw_gbs, with_waits,"
                         f" algorithm, protocol, channels FROM trace_collectives('{folder}')")

    def test_bandwidth_is_bytes_by_transfer(self):
        """W7: bandwidth is bytes divided by the transfer time of the rank that does not wait."""
        rows = self.job(described("all_reduce", (1000000, 1000000)), grid=[24, 1, 1])
        self.assertEqual(rows, [(40.0, 1, 4000000, 2, "Float", 100.0, 100.0, 0, "RING", "LL", 24)])

    def test_the_bus_carries_more_or_less(self):
        for kind, factor in (("all_reduce", 1.5), ("all_gather", 0.75), ("reduce_scatter", 0.75), ("all_to_all", 0.75),
                             ("gather", 0.75), ("scatter", 0.75), ("broadcast", 1), ("reduce", 1), ("send", 1)):
            (row,) = self.job(described(kind, (1000000, 1000000), ranks=range(4)))
            self.assertAlmostEqual(row[6] / row[5], factor, msg=kind)

    def test_nothing_is_said_of_ends_that_are_apart(self):
        """W7.1: when the ends are too far apart, last_rank is NULL. An all_reduce ties the clocks together."""
        for number, late in enumerate((0, 300)):
            write(f"job/rank{number}.json", rank(
                number, step(3, 0, 900), *called(10, 1, described("all_reduce")),
                *called(200, 2, described("broadcast"), late=late, name="ncclDevKernel_Broadcast_RING_LL")))
        self.assertEqual(self.rows("SELECT collective, bytes, last_rank, algbw_gbs, busbw_gbs, with_waits"
                                   " FROM trace_collectives('job')"),
                         [("all_reduce", 4000, 0, 0.04, 0.04, 0), ("broadcast", 4000, None, None, None, None)])

    def test_ranks_that_are_not_recorded_are_marked(self):
        """W7.2: ranks without a recording are marked."""
        args = described("all_reduce", (1000000, 1000000))
        self.job(args)
        alone = "SELECT algbw_gbs, with_waits FROM trace_collectives('job', 0)"
        self.assertEqual(self.rows(alone), [(40.0, 1)])
        (row,) = self.job(described("all_reduce", (1000000, 1000000), ranks=range(8)))
        self.assertEqual(row[7], 1)

    def test_more_bytes_and_less_bandwidth_are_told_apart(self):
        more, less = described("all_reduce", (2000, 2000)), described("all_reduce", (1000, 1000))
        self.job(less, folder="control")
        self.job(more, durations=(140, 80), folder="more")
        self.job(less, durations=(140, 80), folder="slow")
        seen = {name: self.rows(f"SELECT bytes, busbw_gbs FROM trace_collectives('{name}')")[0]
                for name in ("control", "more", "slow")}
        self.assertEqual(seen, {"control": (4000, 0.1), "more": (8000, 0.1), "slow": (4000, 0.05)})

    def test_the_largest_of_several_ranks_counts(self):
        """W6.6: with several ranks, the largest number of bytes counts."""
        for number, elements in enumerate((10, 30)):
            write(f"uneven/rank{number}.json", rank(number, step(3, 0, 900), *called(
                10, 1, described("all_to_all", (20, elements), name="all_to_allv"))))
        self.assertEqual(self.value("SELECT bytes FROM trace_collectives('uneven')"), 120)

    def test_old_traces_have_bytes_null(self):
        events = called(10, 1, {}, name="ncclKernel_AllReduce_RING_LL_Sum_float(x)")
        write("old.json", document(step(3, 0, 900), *events))
        self.assertEqual(self.rows("SELECT collective, bytes, algbw_gbs, with_waits, algorithm"
                                   " FROM trace_collectives('old.json')"), [("all_reduce", None, None, None, "RING")])


class Differences(InFolder):
    """F8: differences by trace_diff_by."""

    def made(self, name, *calls):
        events = [step(3, 0, 900)]
        for number, (args, dur) in enumerate(calls):
            events += called(10 + 100 * number, number + 1, args, dur=dur)
        write(name, document(*events, launch(800, 5, 99), kernel("gemm", 820, 10, 99)))
        return name

    def parts(self, control, test, keys="collective,process_group"):
        return self.rows("SELECT collective, process_group, control_bytes, test_bytes, control_gbs, test_gbs,"
                         " diff_device_time, diff_from_bytes, diff_from_gbs FROM trace_diff_by(?, ?, ?, NULL, NULL,"
                         " NULL, NULL, 'GPU') ORDER BY 1, 2", control, test, keys)

    def test_more_bytes_and_a_lower_rate_have_parts(self):
        control = self.made("control.json", (described("all_reduce", (16000, 16000)), 40))
        test = self.made("test.json", (described("all_reduce", (32000, 32000), name="allreduce_coalesced"), 90))
        self.assertEqual(self.parts(control, test), [
            (None, None, None, None, None, None, 0, None, None),
            ("all_reduce", "0", 64000, 128000, 1.6, 128 / 90, 50, 40, 10)])

    def test_groups_are_keys(self):
        of_group = [(described("all_gather", (10, 20), group=name), 10) for name in ("dp", "tp")]
        path = self.made("a.json", *of_group)
        self.assertEqual([row[1:3] for row in self.parts(path, path)][1:], [("dp", 80), ("tp", 80)])
        self.assertEqual([row[:3] for row in self.parts(path, path, "process_group")][1:],
                         [(None, "dp", 80), (None, "tp", 80)])

    def test_keys_alone_and_bytes_alone_agree(self):
        """Keys and bytes give the same numbers together and separately."""
        path = self.made("a.json", (described("all_to_all", (30, 20)), 10), (described("send", (3, 2)), 10))
        keys = self.rows("SELECT collective, control_kernels FROM trace_diff_by(?, ?, 'collective', NULL, NULL, NULL,"
                         " NULL, 'GPU') ORDER BY 1", path, path)
        self.assertEqual(keys, [(None, 1), ("all_to_all", 1), ("send", 1)])
        total = self.value("SELECT sum(control_bytes) FROM trace_diff_by(?, ?, 'kernel,grid,shapes', NULL, NULL, NULL,"
                           " NULL, 'GPU')", path, path)
        self.assertEqual(total, 132)

    def test_host_events_have_neither_key(self):
        path = self.made("a.json", (described("all_reduce"), 10))
        self.assertEqual(self.rows("SELECT collective, process_group FROM trace_diff_by(?, ?,"
                                   " 'collective,process_group', NULL, NULL, NULL, NULL, 'CPU')", path, path),
                         [(None, None)])


class Random(InFolder):
    """Random collectives of all kinds, against the oracle."""

    def made(self, chance, groups, skew):
        """Makes the events of a rank. `chance` is the same for all ranks; only `skew` differs."""
        events, at, correlation = [], 1000, 0
        for _ in range(chance.randrange(1, 12)):
            correlation += 1
            kind, group = chance.choice(tuple(NAMES)), chance.choice(groups)
            args = described(kind, (chance.randrange(10 ** 6), chance.randrange(10 ** 6)),
                             chance.choice((*oracle_collectives.SIZES, "Float9")), *group,
                             name=chance.choice(NAMES[kind]))
            for key in ("dtype", "In msg nelems", "Out msg nelems", "Group size", "Process Group Name",
                        "Process Group Description"):
                if chance.random() < 0.06:
                    del args[key]
            name = KERNELS.get(kind, PAIRS)
            name = name % (chance.choice(ALGORITHMS), chance.choice(("LL", "LL128", "SIMPLE"))) if "%" in name else name
            dur, shape = chance.randrange(1, 200), chance.random()
            grid = chance.choice((None, [chance.randrange(1, 33), 1, 1]))
            host, own = chance.choice(((True, True), (True, False), (False, True), (False, False)))
            if shape < 0.25:  # a group of calls, sometimes after other work
                calls = [event("record_param_comms", at + 10 * number, 5, args=described(
                    chance.choice(("send", "recv", kind)), (chance.randrange(999), chance.randrange(999)),
                    chance.choice(("Half", "Half", "Float")))) for number in range(chance.randrange(1, 4))]
                if chance.random() < 0.3:
                    calls += [launch(at + 17, 2, correlation), kernel("gemm", at + 45, 3, correlation)]
                    correlation += 1
                works = [kernel(chance.choice((PAIRS, name)), at + 60 + skew, dur, correlation, 20)]
                if chance.random() < 0.2:
                    works.append(kernel("gemm", at + 70 + dur + skew, 5, correlation, 20))
                events += [*calls, launch(at + 50, 4, correlation), *works]
            else:
                events += called(at, correlation, args, host, own, dur + skew % 7, skew, name, grid)
                if shape > 0.9:
                    correlation += 1
                    second = chance.randrange(1, 90)
                    events += called(at + 6, correlation, args, host, own, second, skew + dur + 10, name)[1:]
            if chance.random() < 0.3:
                correlation += 1
                events += [launch(at + 210, 3, correlation), kernel("gemm", at + 220, 9, correlation)]
            at += 1000
        return events

    def test_random_collectives(self):
        for seed in range(series(60, 600)):
            chance, ranks = random.Random(seed), random.Random(seed).randrange(1, 4)
            groups = [(name, range(chance.randrange(ranks, 9))) for name in ("0", "1", "tp")]
            state, documents = chance.getstate(), []
            for number in range(ranks):
                chance.setstate(state)
                documents.append(rank(number, *self.made(chance, groups, 13 * number), ranks=ranks))
                write(f"{seed}/rank{number}.json", documents[-1])
            told = [oracle_collectives.collectives(each) for each in documents]
            for number, expected in enumerate(told):
                rows = self.rows(f"SELECT event, {OWN} FROM trace_kernel_owners('{seed}', {number})"
                                 " WHERE kernel_type = 'COMMUNICATION'")
                self.assertEqual({row[0]: row[1:] for row in rows}, {
                    key: tuple(each) for key, each in expected.items()}, (seed, number))
            self.check_rates(seed, documents, told)
            self.check_sums(seed, told)

    def check_sums(self, seed, told):
        """F8: checks the sums by keys per rank, where each rank is a step."""
        expected = {}
        for each in (each for of_rank in told for each in of_rank.values()):
            total, kernels = expected.get((each.collective, each.process_group), (None, 0))
            total = total if each.bytes is None else (total or 0) + each.bytes
            expected[each.collective, each.process_group] = total, kernels + 1
        rows = self.rows("SELECT collective, process_group, test_bytes, test_kernels FROM trace_diff_by(?, ?,"
                         " 'collective,process_group,kernel_type', 'all', 'all', 'all', 'all', 'GPU')"
                         " WHERE kernel_type = 'COMMUNICATION'", str(seed), str(seed))
        self.assertEqual({row[:2]: row[2:] for row in rows}, {
            key: (None if total is None else total / len(told), kernels / len(told))
            for key, (total, kernels) in expected.items()}, seed)

    def check_rates(self, seed, documents, told):
        by_place = {}
        for number, (each, of_rank) in enumerate(zip(documents, told)):
            seqs = {}
            events = each["traceEvents"]
            for place in sorted(of_rank, key=lambda i: (events[i]["ts"], events[i]["dur"], events[i]["name"])):
                group = of_rank[place].process_group or self.value("SELECT trace_stable_name(?)", events[place]["name"])
                seq = seqs[group] = seqs.get(group, -1) + 1
                by_place.setdefault((group, seq), []).append((of_rank[place], events[place]["dur"], number))
        rows = self.rows("SELECT process_group, seq, rank_count, last_rank, collective, bytes, algbw_gbs, busbw_gbs,"
                         f" with_waits FROM trace_collectives('{seed}')")
        self.assertEqual({row[:2] for row in rows}, set(by_place), seed)
        for group, seq, count, last, kind, amount, algbw, busbw, waits in rows:
            several = by_place[group, seq]
            first = several[0][0]
            most = max((each.bytes for each, _, _ in several if each.bytes is not None), default=None)
            self.assertEqual((count, kind, amount), (len(several), first.collective, most), (seed, group, seq))
            expected = oracle_collectives.rates(kind, most, min(dur for _, dur, _ in several), first.group_size)
            if count > 1 and last is None:
                expected = None, None
            for ours, theirs in zip((algbw, busbw), expected):
                self.assertEqual(ours is None, theirs is None, (seed, group, seq))
                self.assertAlmostEqual(ours or 0, theirs or 0, places=9)
            self.assertEqual(waits, None if expected[0] is None else int(count < (first.group_size or 2)))


if __name__ == "__main__":
    unittest.main()
