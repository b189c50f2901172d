"""Pairs of data-parallel jobs where one thing differs, with the truth from the same seed.

    truth = write_pair(folder, seed)          # folder/control and folder/test, a file per rank
    truth.kind, truth.name, truth.rank        # KINDS or "nothing"; the operator; None: all ranks

Each rank loads a batch, launches forward and backward of some layers, reduces the gradients of each layer while the
next one computes, and waits at the end of the step. All times have a jitter of 1 % and clocks are apart.
"""
import os
import random
from collections import namedtuple

from generate_job import Clock, Rank, Recorder, write_ranks

Truth = namedtuple("Truth", "kind name rank")
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
KINDS = ("compute", "one compute", "moving compute", "loader", "one loader", "network", "new operator", "host")
STEPS = 12


class Program:
    """What each rank runs per step; lengths in ns."""

    def __init__(self, rng):
        self.layers = rng.randrange(3, 6)
        self.forward = [rng.randrange(150_000, 400_000) for _ in range(self.layers)]
        self.backward = [2 * length for length in self.forward]
        self.reduce = rng.randrange(80_000, 160_000)
        self.loader = rng.randrange(20_000, 60_000)
        self.steps = sum(self.forward) + sum(self.backward) + self.reduce


def plant(rng, program, kind, ranks):
    """The truth, and how much longer what takes: (what, layer, rank or None) -> ns in a step."""
    more = int(program.steps * rng.uniform(0.08, 0.3))
    layer = 0 if kind == "host" else rng.randrange(program.layers)  # the device runs out of work only there
    rank = rng.randrange(ranks) if kind.startswith("one") else None
    what = kind.rsplit(" ", maxsplit=1)[-1] if kind != "new operator" else "new"
    name = {"compute": f"aten::op{layer}", "loader": "DataLoader", "network": "AllReduce", "new": "aten::extra",
            "host": "aten::op0"}[what]

    def longer(asked, at, number, step, moves):
        if asked != what or (what in ("compute", "host") and at != layer):
            return 0
        if kind.startswith("moving"):
            return more if number == moves[step] else 0
        return more if rank in (None, number) else 0
    return Truth(kind, name, rank), longer


def run(rng, program, ranks, longer):
    """The events of each rank."""
    running = [Rank(Recorder(Clock(rng.randrange(-2_000_000, 2_000_000)))) for _ in range(ranks)]
    moves = rng.sample([step % ranks for step in range(STEPS)], STEPS)
    for number, rank in enumerate(running):
        rank.host = rank.streams[7] = 10_000_000 + rng.randrange(50_000)
        rank.number = number

    def jitter(length):
        return int(length * rng.gauss(1, 0.01))

    def compute(rank, step, name, length, layer, what="compute"):
        rank.host += longer("host", layer, rank.number, step, moves) if name.startswith("aten::op") else 0
        launched = rank.launch(name, 6_000)
        start = max(launched + 3_000, rank.streams[7] + 1_000)
        rank.streams[7] = start + jitter(length + longer(what, layer, rank.number, step, moves))
        rank.recorder.work(name.replace("aten::", "kernel_"), launched, start, rank.streams[7])

    def call(rank, name):
        rank.recorder.host(name, rank.host, rank.host + 800, cat="cuda_runtime")
        rank.host += 1_000

    def reduce(step, index):
        for rank in running:
            call(rank, "cudaEventRecord")
            call(rank, "cudaStreamWaitEvent")
        launched = {rank: rank.launch("nccl:all_reduce", 4_000) for rank in running}
        starts = {rank: max(launched[rank] + 3_000, rank.streams[7], rank.streams.get(20, 0)) for rank in running}
        ended = max(starts.values()) + jitter(program.reduce + longer("network", 0, 0, step, moves) // program.layers)
        for rank in running:
            args = {"Process Group Name": "0", "Process Group Ranks": str(list(range(ranks))), "dtype": "Float",
                    "Collective name": "allreduce", "In msg nelems": 1 << 20, "Out msg nelems": 1 << 20,
                    "Group size": ranks, "seq": step * program.layers + index}
            rank.recorder.work("ncclDevKernel_AllReduce_Sum_f32_RING_LL", launched[rank], starts[rank], ended, 20, args)
            rank.streams[20] = ended
            call(rank, "cudaEventRecord")

    for step in range(STEPS):
        begun = {rank: rank.host for rank in running}
        for rank in running:
            length = jitter(program.loader + longer("loader", 0, rank.number, step, moves))
            rank.recorder.host(LOADER, rank.host, rank.host + length, cat="user_annotation")
            rank.host += length
            for layer, length in enumerate(program.forward):
                compute(rank, step, f"aten::op{layer}", length, layer)
            if longer("new", 0, rank.number, step, moves):
                compute(rank, step, "aten::extra", 0, 0, "new")
        for index, layer in enumerate(reversed(range(program.layers))):
            for rank in running:
                compute(rank, step, f"aten::back{layer}", program.backward[layer], layer, "backward")
            reduce(step, index)
        for rank in running:
            rank.host += 20_000
            for _ in range(program.layers):
                call(rank, "cudaStreamWaitEvent")
            rank.streams[7] = max(rank.streams[7], rank.streams[20])
            compute(rank, step, "aten::optimizer", 60_000, 0, "optimizer")
            waited = rank.streams[7] + 5_000
            rank.recorder.host("cudaDeviceSynchronize", rank.host, waited, cat="cuda_runtime")
            rank.host = waited + 2_000
            rank.recorder.step(step, begun[rank], rank.host)
    return {rank.number: rank.recorder.events for rank in running}


def write_pair(folder, seed, kind=None):
    rng = random.Random(seed)
    ranks, program = rng.choice((2, 2, 4, 8)), Program(rng)
    kind = kind or rng.choice(KINDS)
    truth, longer = (Truth("nothing", None, None), None) if kind == "nothing" else plant(rng, program, kind, ranks)
    for side, changed in (("control", None), ("test", longer)):
        write_ranks(os.path.join(folder, side), run(rng, program, ranks, changed or (lambda *_: 0)))
    return truth
