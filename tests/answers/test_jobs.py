"""Jobs of several ranks that once had a wrong answer, each with its planted cause, and generated jobs for the rules
that resulted (such as W9, W10, A18 and L2.7). The first do not ship.
"""
import json
import os
import random
import shutil
import unittest

from made import InFolder, document, event, kernel, launch, step, write
from support import corpus, instructions, series, slowest

ON = "on changing ranks"


class Found(InFolder):
    """Cases of ../cases/found/jobs by name."""

    def ask(self, name):
        path = corpus("..", "cases", "found", "jobs", name)
        with open(os.path.join(path, "truth.json"), encoding="utf-8") as file:
            self.effect = json.load(file).get("effect_ms")
        self.sides = os.path.join(path, "control"), os.path.join(path, "test")
        rows = self.rows("SELECT kind, code, class, name, rank, diff_ms, gain_ms, text FROM trace_summary(?, ?)"
                         " ORDER BY line", *self.sides)
        self.verdict = rows[0][-1]
        self.cautions = [row[-1] for row in rows if row[0] == "caution"]
        self.causes = [row[1:] for row in rows if row[0] in ("cause", "diagnosis")]
        return self.causes[0]

    def check_gain(self, *causes):
        """Checks that differences and gains of these causes both add up to the effect."""
        for column in (4, 5):
            self.assertAlmostEqual(sum(cause[column] for cause in causes) / self.effect, 1, delta=0.05)

    def test_random_loader_blames_network(self):
        kind, _, _, rank, *_, text = first = self.ask("random_loader_blames_network")
        self.assertEqual((kind, rank), ("host late", None))
        self.assertIn("DataLoader", text)
        self.assertIn(ON, text)
        self.check_gain(first)

    def test_moving_kernel_blames_network(self):
        self.ask("moving_kernel_blames_network")
        backward, forward = self.causes
        self.assertIn("ScaledDotProductFlashAttentionBackward0", backward[2])
        self.assertEqual(forward[2], "aten::scaled_dot_product_attention")
        for *_, text in self.causes:
            self.assertIn(ON, text)
        self.check_gain(backward, forward)

    def test_moe_imbalance_blames_network(self):
        self.ask("moe_imbalance_blames_network")
        self.assertIn("GroupedMmBackward0", self.causes[0][2])
        self.assertEqual(self.causes[1][2], "aten::_grouped_mm")
        self.assertEqual({kind for kind, *_ in self.causes}, {"changed"})

    def test_only_on_rank_false(self):
        *_, rank, _, _, text = first = self.ask("only_on_rank_false")
        self.assertIsNone(rank)
        self.assertIn(ON, text)
        self.check_gain(first)

    def test_half_of_ranks_not_named(self):
        *_, text = first = self.ask("half_of_ranks_not_named")
        self.assertIn("DataLoader", text)
        self.assertIn("only on ranks 2 and 3", text)
        self.check_gain(first)

    def test_nccl_rename(self):
        kind, _, _, rank, *_ = first = self.ask("nccl_rename")
        self.assertEqual((kind, rank), ("host late", 1))
        self.assertNotIn("communication", {kind for kind, *_ in self.causes})
        self.check_gain(first)

    def test_nccl_algorithm(self):
        *_, text = first = self.ask("nccl_algorithm")
        self.assertIn("NCCL kernels: AllReduce_Sum_bf16_RING_LL -> AllReduce_Sum_bf16_TREE_SIMPLE", text)
        self.assertNotIn("communication", {kind for kind, *_ in self.causes})
        self.check_gain(first)

    def test_some_steps_verdict(self):
        self.ask("some_steps_verdict")
        self.assertTrue(self.verdict.startswith("test is slower here in 3 of 6 steps"), self.verdict)

    def test_load_makes_too_much(self):
        self.ask("load_makes_too_much")
        self.assertEqual(self.cautions[0], "caution: rank 1: the host is 2.2 times as slow throughout: machine load?;"
                                           " makes +0.611 ms")

    def test_pp_middle_stage(self):
        """Q2.5: in a pipeline, sends and receives are matched by the host's calls."""
        self.ask("pp_middle_stage")
        flash = [cause for cause in self.causes if "lash" in (cause[2] or "") or "dot_product" in (cause[2] or "")]
        self.assertEqual(self.causes[0], flash[0])
        self.assertEqual([rank for _, _, _, rank, *_ in flash], [1, 1])

    def test_pp_first_stage_gain(self):
        self.ask("pp_first_stage_gain")
        self.assertEqual([rank for _, _, _, rank, *_ in self.causes[:2]], [0, 0])
        self.check_gain(*self.causes[:2])

    def test_gpu_clock_early(self):
        kind, _, _, rank, _, gain, _ = self.ask("gpu_clock_early")
        self.assertEqual((kind, rank, gain), ("host late", 1, None))
        self.assertIn("caution: gains are not known: 16 of 288 device events begin before their launch in test",
                      self.cautions)

    def test_no_metadata_gain(self):
        kind, _, _, rank, _, gain, _ = self.ask("no_metadata_gain")
        self.assertEqual((kind, rank, gain), ("host late", 3, None))
        self.assertTrue(self.cautions[-1].startswith("caution: gains are not known: "), self.cautions)

    def test_unfused_optimizer_queued(self):
        """C16.6: the line with the known change leads."""
        kind, _, _, _, diff, gain, text = self.ask("unfused_optimizer_queued")
        self.assertEqual(kind, "replaced")
        self.assertLess(diff, 0)
        self.assertAlmostEqual(gain / self.effect, 1, delta=0.1)
        self.assertIn("aten::mul_ and 6 more replace 7", text)

    def test_replaced_without_area(self):
        *_, text = first = self.ask("replaced_without_area")
        self.assertIn("attention is no longer fused", text)
        self.check_gain(first)
        self.assertEqual(self.value("SELECT text FROM trace_step_causes(?, ?) WHERE kind = 'replaced'", *self.sides),
                         "aten::matmul and 1 more replace aten::scaled_dot_product_attention")

    def test_overlap_1ns(self):
        self.ask("overlap_1ns")
        gelu = next(cause for cause in self.causes if cause[2] == "aten::gelu")
        self.assertAlmostEqual(gelu[5], 0.2897, places=3)

    def test_gloo_barrier_wrong_rank(self):
        """L13: only test has the annotation `logging`, so it names nothing."""
        *_, rank, _, _, text = first = self.ask("gloo_barrier_wrong_rank")
        self.assertEqual(rank, 1)
        self.assertIn("between aten::item and c10d::barrier", text)
        self.check_gain(first)

    def test_slow_nic_not_named(self):
        kind, *_, text = first = self.ask("slow_nic_not_named")
        self.assertEqual(kind, "communication")
        self.assertIn("nccl:all_reduce exposed: 2.0 times as long", text)
        self.assertEqual(self.cautions[-1], "caution: groups with ranks 1 and 3 have 0.4 times the bandwidth, others"
                                            " 1.0: look at their links")
        self.check_gain(first)

    def test_words_of_the_algorithm(self):
        self.ask("nccl_algorithm")
        self.assertEqual(self.value("SELECT text FROM trace_step_causes(?, ?) WHERE class = 'comm'", *self.sides),
                         "nccl:all_reduce exposed: RING_LL -> TREE_SIMPLE, 1.6 times as long")


KERNELS = {"all_reduce": "AllReduce_Sum_f32_RING_LL", "all_gather": "AllGather_RING_LL", "all_to_all": "SendRecv",
           "reduce_scatter": "ReduceScatter_Sum_f32_RING_LL"}


class Made(InFolder):
    def side(self, folder, calls, elements, us, collective="all_reduce", ranks=2, kernel_name=None, channels=8,
             pairs=None):
        """Ranks that compute for 300 us per step and then communicate, all with all. With `pairs`, neighbours
        communicate first; it gives us per pair.
        """
        name = f"ncclDevKernel_{kernel_name or KERNELS[collective]}"
        for rank in range(ranks):
            events, at, number = [], 100, 1
            for iteration in range(6):
                begin = 50 * iteration  # the host is far ahead
                events += [step(iteration, begin, 45), event("aten::mm", begin + 1, 4, cat="cpu_op"),
                           launch(begin + 2, 2, number), kernel("gemm", at, 300, number)]
                at, number = at + 300, number + 1
                groups = [("0", list(range(ranks)), us)] * calls
                if pairs:
                    groups.insert(0, (str(1 + rank // 2), [rank - rank % 2, rank - rank % 2 + 1], pairs[rank // 2]))
                for group, members, dur in groups:
                    begin += 4
                    late = max(pairs) - pairs[rank // 2] if pairs and group == "0" and number % (calls + 2) == 0 else 0
                    events += [launch(begin + 2, 2, number), kernel(name, at - late, dur + late, number, 20)]
                    events[-1]["args"].update({
                        "Collective name": collective, "In msg nelems": elements, "Out msg nelems": elements,
                        "dtype": "Float", "Group size": len(members), "Process Group Name": group,
                        "Process Group Ranks": str(members), "grid": [channels, 1, 1]})
                    at, number = at + (dur if group == "0" else max(pairs)), number + 1
            write(f"{folder}/rank{rank}.json", document(*events, distributedInfo={"rank": rank}))


class Rates(Made):
    """W9: bytes, bandwidth and calls."""

    def first(self):
        self.split = self.rows("SELECT calls_time, bytes_time, bandwidth_time, overlap_time, diff_time"
                               " FROM trace_step_causes('a', 'b') ORDER BY cause")[0]
        self.assertAlmostEqual(sum(self.split[:4]), self.split[4])
        words = self.value("SELECT text FROM trace_step_causes('a', 'b') ORDER BY cause")
        return words.partition(": ")[2]

    def test_bytes_and_bandwidth_of_collectives(self):
        for collective in KERNELS:
            with self.subTest(collective):
                self.side("a", 2, 10 ** 6, 100, collective)
                self.side("b", 2, 2 * 10 ** 6, 200, collective)
                self.assertEqual(self.first(), "2.0 times the bytes (8.0 -> 16.0 MB per step)")
                self.side("b", 2, 10 ** 6, 200, collective)
                self.assertRegex(self.first(), r"0\.50 times the bandwidth \(\S+ -> \S+ GB/s\), same bytes")

    def test_calls(self):
        self.side("a", 2, 10 ** 6, 100)
        self.side("b", 4, 500000, 100)
        self.assertEqual(self.first(), "2 -> 4 calls per step, same bytes")
        self.side("b", 1, 10 ** 6, 100)
        self.assertEqual(self.first(), "0.50 times the bytes (8.00 -> 4.00 MB per step), 2 -> 1 calls")

    def test_another_algorithm(self):
        self.side("a", 2, 10 ** 6, 100)
        self.side("b", 2, 10 ** 6, 160, kernel_name="AllReduce_Sum_f32_TREE_LL")
        self.assertEqual(self.first(), "RING_LL -> TREE_LL, 40.0 -> 25.0 GB/s, same bytes")
        self.side("b", 2, 10 ** 6, 160, channels=2)
        self.assertEqual(self.first(), "8 -> 2 channels, 40.0 -> 25.0 GB/s, same bytes")

    def links(self, pairs, us=100):
        """The caution of W10, when pairs of ranks take this many us instead of 100, and all together take this many
        instead of 100.
        """
        self.side("a", 1, 10 ** 6, 100, ranks=2 * len(pairs), pairs=[100] * len(pairs))
        self.side("b", 1, 10 ** 6, us, ranks=2 * len(pairs), pairs=pairs)
        return self.rows("SELECT words FROM trace_summary('a', 'b') WHERE code = 'links'")

    def test_slow_links(self):
        """W10: a caution names slow links."""
        self.assertEqual(self.links([100, 250]), [("groups with ranks 2 and 3 have 0.4 times the bandwidth, others 1.0:"
                                                   " look at their links",)])
        self.assertEqual(self.links([200, 200], 200), [("all 3 process groups have 0.5 times the bandwidth: the whole"
                                                        " network is slower",)])
        self.assertEqual(self.links([200, 400], 300), [])  # different
        self.assertEqual(self.links([100, 100, 200, 200]), [])  # no common rank

    def test_four_fifths_are_kept(self):
        for us, lost in ((125, False), (126, True)):
            self.assertEqual(bool(self.links([100, us])), lost)

    def test_same_from_one_percent_down(self):
        self.side("a", 1, 10 ** 6, 100)
        for elements, same in ((1010000, True), (1010001, False)):
            self.side("b", 1, elements, 200)
            self.assertEqual(self.first().endswith(", same bytes"), same)

    def network(self, folder, rng, partitions, slow=None):
        """A job whose ranks communicate in one group per partition. Calls take 100 us, but 250 us in the groups of a
        slow rank, except in the first partition, which is within a node.
        """
        ranks = sum(map(len, partitions[0]))
        ready, events = [400] * ranks, [[] for _ in range(ranks)]
        numbers = [1] * ranks
        for iteration in range(4):
            for rank in range(ranks):
                numbers[rank] += 1
                host, dur = 50 * iteration, 300 + rng.randrange(3)
                events[rank] += [step(iteration, host, 45), launch(host + 2, 1, numbers[rank]),
                                 kernel("gemm", ready[rank], dur, numbers[rank])]
                ready[rank] += dur
            for place, groups in enumerate(partitions):
                for group, members in enumerate(groups):
                    late = 150 if place > 0 and slow in members else 0
                    end = max(ready[rank] for rank in members) + 98 + rng.randrange(5) + late
                    for rank in members:
                        numbers[rank] += 1
                        name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
                        events[rank] += [launch(50 * iteration + 4 + 4 * place, 1, numbers[rank]),
                                         kernel(name, ready[rank], end - ready[rank], numbers[rank], 20)]
                        events[rank][-1]["args"].update({
                            "Collective name": "all_reduce", "In msg nelems": 10 ** 6, "Out msg nelems": 10 ** 6,
                            "dtype": "Float", "Group size": len(members), "Process Group Name": f"{place}_{group}",
                            "Process Group Ranks": str(members)})
                        ready[rank] = end
        for rank in range(ranks):
            write(f"{folder}/rank{rank}.json", document(*events[rank], distributedInfo={"rank": rank}))

    def test_slow_links_of_random_jobs(self):
        """In random jobs of 8 to 64 ranks with up to six groups each, the slow rank is named; without one, no rank
        is.
        """
        for seed in range(series(2, 20)):
            rng = random.Random(seed)
            ranks = rng.choice((8, 16) if seed < 2 else (8, 16, 32, 64))
            sizes = [rng.choice([size for size in (2, 4, 8, 16) if size < ranks]) for _ in range(rng.randrange(2, 7))]
            partitions = []
            for place, size in enumerate(sizes):
                order = list(range(ranks))
                if place:
                    rng.shuffle(order)
                partitions.append([sorted(order[i:i + size]) for i in range(0, ranks, size)])
            slow = rng.randrange(ranks)
            control, test = f"a{seed}", f"b{seed}"
            self.network(control, rng, partitions)
            for which in (slow, None):
                self.network(test, rng, partitions, which)
                found = [words for words, in self.rows(
                    "SELECT words FROM trace_summary(?, ?) WHERE code = 'links'", control, test)]
                with self.subTest(seed=seed, ranks=ranks, sizes=sizes, slow=which):
                    if which is None:
                        self.assertEqual(found, [])
                    else:
                        self.assertRegex("".join(found), rf"^groups with ranks? (.* )?{slow}\b.* have 0.4 times|"
                                                         r"^process group 1_\d+ with \d+ ranks has 0.4 times")


    @slowest
    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_cost_is_linear_in_ranks(self):
        """Twice the ranks take at most 2.2 times the instructions. A file takes at most 10 calls of stat."""
        cost = []
        for ranks in (64, 128):
            groups = [[list(range(i, i + 8)) for i in range(0, ranks, 8)], [list(range(i, ranks, 8)) for i in range(8)]]
            for side, slow in (("a", None), ("b", 3)):
                self.network(f"{ranks}/{side}", random.Random(1), groups, slow)
            count, calls = instructions(f"SELECT * FROM trace_summary('{ranks}/a', '{ranks}/b')")
            cost.append((count, sum("stat" in call for call in calls)))
        (few, few_stats), (many, many_stats) = cost
        self.assertLess(many, 2.2 * few)
        self.assertGreaterEqual(many_stats - few_stats, 2 * 64)  # they are counted
        self.assertLessEqual(many_stats - few_stats, 10 * 2 * 64)


class HostNodes(InFolder):
    """A18: a callback of the host in a graph delays the device."""

    def side(self, path, us):
        events = []
        for number in range(5):
            at = (230 + us) * number
            events += [step(number, at, 20), event("cudaGraphLaunch", at + 5, 10, cat="cuda_runtime",
                                                    args={"correlation": 1 + number}),
                       kernel("a", at + 20, 100, 1 + number), kernel("b", at + 124 + us, 100, 1 + number),
                       event("HostNode: cb", at + 122, us, cat="graph_host_node", pid=0, tid=7)]
        write(path, document(*events))

    def test_is_a_cause(self):
        for path, us in (("a.json", 50), ("b.json", 250)):
            self.side(path, us)
        self.assertEqual(self.rows("SELECT code, class, name, round(diff_ms, 6), gain_ms, words FROM"
                                   " trace_summary('a.json', 'b.json') WHERE kind = 'cause' LIMIT 1"), [
            ("host late", "idle_host", "HostNode: cb", 0.2, None, "waiting for HostNode: cb")])

    def test_only_while_it_runs(self):
        self.side("a.json", 50)
        self.assertEqual(self.rows("SELECT class, time_ns FROM trace_step_time('a.json') WHERE iteration = 2"
                                   " AND class IN ('idle_host', 'idle_wait') AND name IS NOT NULL ORDER BY 1"),
                         [("idle_host", 50000)])


class Replaced(Made):
    """L2.7: replaced work."""

    def test_collectives_that_take_over_from_another(self):
        self.side("a", 1, 10 ** 6, 200)
        self.side("b", 2, 10 ** 6, 150)
        for rank in range(2):
            path = f"b/rank{rank}.json"
            with open(path, encoding="utf-8") as file:
                trace = json.load(file)
            names = ["ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", "ncclDevKernel_AllGather_RING_LL"]
            for number, each in enumerate(each for each in trace["traceEvents"] if each["name"].startswith("nccl")):
                each["name"] = names[number % 2]
            write(path, trace)
        self.assertEqual(self.rows("SELECT code, round(diff_ms, 6), words FROM trace_summary('a', 'b')"
                                   " WHERE kind = 'cause'"),
                         [("replaced", 0.1, "ncclDevKernel_AllGather_RING_LL and 1 more replace"
                                            " ncclDevKernel_AllReduce_Sum_f32_RING_LL")])
