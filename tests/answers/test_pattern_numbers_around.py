"""Patterns of sql/patterns/around: both directions, near misses, and both sides of each number (pattern_facts)."""
import unittest

from made import document, event, kernel, launch, step
from pattern_facts import ANY, SILENT, Asking, Case, Said
from support import slow
from test_thresholds import recorded, served

SINGLE = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
WORKERS = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"
BROADCAST = "ncclDevKernel_Broadcast_RING_LL(x)"
SENT = "gloo:all_reduce runs {} -> {} times per step"


def operators(times):
    """A trace of four operators, slower than elsewhere by this factor."""
    return recorded(*[[(f"aten::op{number}", 10 * times, [[8]]) for number in range(4)]] * 3)


def loading(*of_steps):
    return recorded(*[[(SINGLE, ms), ("op", 10)] for ms in of_steps])


def requests(*sizes, longer=0):
    """A trace of a server: steps of 8 requests take 10 ms, steps of 32 requests 30 ms."""
    return served(*[(size, [("op", (10 if size == 8 else 30) + longer)]) for size in sizes] * 4)


def job(*times, alone=0, more=0):
    """Two ranks. Collectives take this multiple of 1 ms in a step, and double in the next one. There are also
    collectives of the first rank alone, and more of both.
    """
    ranks = []
    for rank in range(2):
        events, work = [], 0
        for number in range(4):
            at = 1000000 * number
            events.append(step(number, at, 999999))
            for place, us in enumerate([1000 * (1 + number % 2) * each for each in times]
                                       + [500] * (more + (alone if rank == 0 else 0))):
                work += 1
                start, name = at + 20000 * place, ALL_REDUCE if place < len(times) else BROADCAST
                events += [event("c10d::allreduce_", start, 100), launch(start + 5, 5, work),
                           kernel(name, start + 500, us, work, stream=20)]
        ranks.append({**document(*events), "distributedInfo": {"rank": rank, "world_size": 2}})
    return ranks


def sent(control, test):
    """Collectives with these sequence numbers."""
    return {"launched": [("gloo:all_reduce", size, "[]", float(control == size), float(test == size), 1, 1, size, "[]")
                         for size in {control, test}]}


def ran(c, t, **facts):
    return {"op": [("gloo:all_reduce", c, t), ("nccl:all_gather", 1, 1)], **facts}


CASES = {
    "collectives": Case(
        Said(SENT.format(2, 6), "no_sync", [1]), Said(SENT.format(6, 2), "no_sync", [1]),
        [(ran(2, 2), SILENT), (ran(2, 2.5), SILENT),
         (ran(2, 2, **sent(1000, 1010.5)), "gloo:all_reduce sends other sizes, with 1.01 times as many numbers"),
         (ran(2, 2, **sent(1000, 1009.5)), SILENT),
         (ran(2, 6, **sent(1000, 1009.5)), SENT.format(2, 6)),
         (ran(2, 6, **sent(1, 2)), SENT.format(2, 6) + ", with 2 times as many numbers"),
         (ran(2, 6, launched=sent(0, 1000)["launched"][1:]), SENT.format(2, 6))],
        op=[("gloo:all_reduce", 2, 6), ("nccl:all_gather", 1, 2)], cause=[{"kind": "communication"}, {}]),
    "dataloader": Case(
        Said("the step waits for the DataLoader, which loads in this process: 1.0 -> 3.0 ms", "num_workers=4", [1, 2]),
        Said("the step waits less for the DataLoader: 3.0 -> 1.0 ms", None, [1, 2]),
        {f"op SET name = '{WORKERS}'":
             Said("the step waits for the DataLoader: its workers do not keep up: 1.0 -> 3.0 ms", "more num_workers"),
         "cause SET rank = 1": (
             "the step waits for the DataLoader, which loads in this process: 1.0 -> 3.0 ms, on rank 1",
             "the step waits less for the DataLoader: 3.0 -> 1.0 ms, on rank 1"),
         "cause SET test_time = 1510 WHERE id = 1": ANY, "cause SET test_time = 1490 WHERE id = 1": SILENT,
         "cause SET control_time = 10000, test_time = 13400 WHERE id = 1": ANY,
         "cause SET control_time = 10000, test_time = 13250 WHERE id = 1": SILENT,
         "pair SET control_steps = 2": ANY, "pair SET control_steps = 1, is_sure = 0": SILENT,
         "pair SET control_steps = 1": SILENT,
         "pair SET is_sure = 0; cause SET test_time = 5100 WHERE id = 1": ANY,
         "pair SET is_sure = 0; cause SET test_time = 4900 WHERE id = 1": SILENT},
        (loading(1, 2, 3), loading(4, 5, 6)), op=[(SINGLE, 1, 1)],
        cause=[{"name": SINGLE, "control_time": 1000, "test_time": 3000, "diff_time": 2000},
               {"name": SINGLE, "control_time": 500, "test_time": 500, "diff_time": 0}, {}]),
    "dataloader_workers": Case(
        Said("the DataLoader has no worker processes any more: 1.0 -> 3.0 ms", "num_workers=4", [1]),
        Said("the DataLoader has worker processes now: 3.0 -> 1.0 ms", None, [1]),
        {f"op SET c = 1 WHERE name = '{SINGLE}'": SILENT, f"DELETE FROM op WHERE name = '{WORKERS}'": SILENT},
        op=[(SINGLE, 0, 1), (WORKERS, 1, 0)], cause=[{"name": SINGLE, "control_time": 1000, "test_time": 3000}, {}]),
    "host_slower": Case(
        Said("the host is 1.30 times as slow throughout", "another CPU", [1, 2]),
        Said("the host is 1.30 times as fast throughout", "another CPU", [1, 2]),
        [("pair SET alike = 0.82", ANY), ("pair SET alike = 0.78", SILENT),
         ("cause SET diff_time = 2080 WHERE id = 1", ANY), ("cause SET diff_time = 1920 WHERE id = 1", SILENT),
         ("pair SET of_host = 1", SILENT), ("pair SET other_device = 1", SILENT), ("pair SET is_sure = 0", SILENT),
         ((operators(1), operators(1.1)), SILENT)],
        (operators(1), operators(1.3)), pair={"gap": 4000},
        cause=[{"kind": kind, "diff_time": us} for kind, us in (
            ("host late", 3000), ("queued", 0.5), ("not recorded", -0.5), ("changed", 1000))]),
    "nccl_kernel": Case(
        Said("NCCL kernels: AllReduce_RING -> AllReduce_TREE", "NCCL_ALGO", [1]),
        Said("NCCL kernels: AllReduce_TREE -> AllReduce_RING", "NCCL_ALGO", [1]),
        {"kernel SET c = 0, t = 0": SILENT, "kernel SET c = 1, t = 1": SILENT, "kernel SET t = 2 WHERE t = 1": SILENT},
        kernel=[(None, None, f"ncclDevKernel_AllReduce_{kind}", "COMMUNICATION", None, None, c, t, 1, 1)
                for kind, c, t in (("RING", 1, 0), ("TREE", 0, 1))], cause=[{"kind": "communication"}, {}]),
    "network": Case(
        Said("the same collectives transfer 1.40 times as long on all ranks", "NCCL_DEBUG", [1]),
        Said("the same collectives transfer 1.40 times as fast on all ranks", "NCCL_DEBUG", [1]),
        [((job(1), job(1.17)), ANY), ((job(1), job(1.13)), SILENT),
         ((job(*[1] * 20), job(*[1.4] * 17, 1, 1, 1)), ANY), ((job(*[1] * 20), job(*[1.4] * 15, *[1] * 5)), SILENT),
         ((job(1, 1), job(1.4, 1.4, alone=1)), ANY), ((job(1, 1), job(1.4, 1.4, more=1)), SILENT),
         ("pair SET alike = 0.82", ANY), ("pair SET alike = 0.78", SILENT), ("pair SET gap = 9500", ANY),
         ("pair SET gap = 10500", SILENT), ("pair SET is_sure = 0", SILENT), ("pair SET is_job = 0", SILENT),
         ("INSERT INTO clock VALUES (0, 'one factor', 1.1)", SILENT)],
        (job(1, 1), job(1.4, 1.4)), pair={"is_job": 1, "gap": 2000}, cause=[{"kind": "communication"}, {}]),
    "profiler": Case(
        Said("the profiler records more in test: with_stack", "the same options", []),
        Said("the profiler records more in control: with_stack", "the same options", []),
        {"note SET control_value = 1": SILENT, "note SET test_value = 0": SILENT, "note SET item = 'schedule'": SILENT,
         "note SET topic = 'device'": SILENT},
        note=[("options", "with_stack", None, 1, 0)]),
    "serving_mix": Case(
        Said("the requests are others: their mix makes +3.333 ms per step", "steps of one phase", []),
        Said("the requests are others: their mix makes -3.333 ms per step", "steps of one phase", []),
        [((requests(8, 32), requests(8, 32, 32, longer=3.08)), ANY),
         ((requests(8, 32), requests(8, 32, 32, longer=3.61)), SILENT),
         ("pair SET control_ms = 325, test_ms = 325", ANY), ("pair SET control_ms = 342, test_ms = 342", SILENT),
         ("pair SET strata = 1", SILENT), ("pair SET alike = 0.82", ANY), ("pair SET alike = 0.78", SILENT)],
        (requests(8, 32), requests(8, 32, 32)), pair={"strata": 2, "control_ms": 20, "test_ms": 20}),
    "straggler": Case(
        Said("rank 1 holds up the job: a::b", "look at rank 1: its data", [1, 2]),
        Said("rank 1 held up the job in control: a::b", "look at rank 1: its data", [1, 2]),
        {"pair SET gap = 1; cause SET diff_time = 0.001 * diff_time": (
            "rank 1 holds up the job: a::b", "rank 1 held up the job in control: a::b"),
         "DELETE FROM cause WHERE id > 1; cause SET diff_time = 520": ANY,
         "DELETE FROM cause WHERE id > 1; cause SET diff_time = 480": SILENT,
         "DELETE FROM cause WHERE id > 1; cause SET diff_time = 1230": ANY,
         "DELETE FROM cause WHERE id > 1; cause SET diff_time = 1270": SILENT,
         "pair SET alike = 0.96": ANY, "pair SET alike = 0.94": SILENT, "pair SET is_sure = 0": SILENT,
         "cause SET rank = NULL": SILENT},
        pair={"gap": 1000}, cause=[{"rank": rank, "diff_time": us, "text": text} for rank, us, text in (
            (1, 500, "a::b, only on rank 1"), (1, 300, "c::d, only on rank 1"), (0, 600, "e::f, only on rank 0"),
            (None, 200, "g::h"))]),
    "unrecorded": Case(
        Said("the host does something not recorded, 1.0 -> 3.0 ms: between a and b", "with_stack=True", [1]),
        Said("the host does something not recorded, 3.0 -> 1.0 ms: between a and b", "with_stack=True", [1]),
        {"cause SET diff_time = 820": ANY, "cause SET diff_time = 780": SILENT,
         "pair SET gap = 1000; cause SET diff_time = 510": ANY,
         "pair SET gap = 1000; cause SET diff_time = 490": SILENT,
         "cause SET added = 1": SILENT, "cause SET removed = 1": SILENT, "cause SET name = 'a'": SILENT,
         "cause SET kind = 'host late'": SILENT, "pair SET is_sure = 0": SILENT},
        pair={"gap": 4000}, cause=[{"kind": "not recorded", "name": "between a and b", "control_time": 1000,
                                    "test_time": 3000, "diff_time": 2000}]),
}


class Around(Asking):
    FOLDER = "around"
    CASES = CASES

    def test_both_sides_of_each_number(self):
        self.check()

    @slow
    def test_each_number_matters(self):
        self.check_numbers()


if __name__ == "__main__":
    unittest.main()
