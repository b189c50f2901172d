"""Pairs of jobs where one thing differs, with the truth from the same seed: data-parallel ones, sharded ones (FSDP),
ones with experts, and pipelines.

    truth = write_pair(folder, seed)          # folder/control and folder/test, a file per rank
    truth.kind, truth.name, truth.rank        # KINDS or "nothing"; the operator; None: all ranks

Each rank loads a batch, launches forward and backward of some layers, reduces the gradients of each layer while the
next one computes, and waits at the end of the step. Sharded layers are gathered before they compute, and their
gradients are scattered; layers of experts exchange tokens before and after. All times have a jitter of 1 % and clocks
are apart.
"""
import os
import random
from collections import namedtuple

from generate_job import Clock, Rank, Recorder, write_ranks

Truth = namedtuple("Truth", "kind name rank")
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
KINDS = ("compute", "one compute", "moving compute", "loader", "one loader", "network", "new operator", "host")
STEPS = 12
COLLECTIVES = {"all_reduce": ("allreduce", "AllReduce_Sum_f32_RING_LL"),
               "all_gather": ("_allgather_base", "AllGather_RING_LL"),
               "reduce_scatter": ("_reduce_scatter_base", "ReduceScatter_Sum_f32_RING_LL"),
               "all_to_all": ("all_to_allv", "SendRecv")}
STYLES = {"ddp": "all_reduce", "fsdp": "all_gather", "experts": "all_to_all"}  # a slow network slows this collective


class Program:
    """What each rank runs per step; lengths in ns."""

    def __init__(self, rng, style="ddp"):
        self.style = style
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
    reduced = COLLECTIVES[STYLES[program.style]][1].partition("_")[0]
    name = {"compute": f"aten::op{layer}", "loader": "DataLoader", "network": reduced, "new": "aten::extra",
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

    def collective(step, name, waits):
        """All ranks; waits: their next kernels wait for it."""
        what, work = COLLECTIVES[name]
        for rank in running:
            call(rank, "cudaEventRecord")
            call(rank, "cudaStreamWaitEvent")
        launched = {rank: rank.launch(f"nccl:{what}", 4_000) for rank in running}
        starts = {rank: max(launched[rank] + 3_000, rank.streams[7], rank.streams.get(20, 0)) for rank in running}
        slower = longer("network", 0, 0, step, moves) // program.layers if name == STYLES[program.style] else 0
        ended = max(starts.values()) + jitter(program.reduce + slower)
        program.sequence += 1
        for rank in running:
            args = {"Process Group Name": "0", "Process Group Ranks": str(list(range(ranks))), "dtype": "Float",
                    "Collective name": what, "In msg nelems": 1 << 20, "Out msg nelems": 1 << 20,
                    "Group size": ranks, "seq": program.sequence}
            rank.recorder.work(f"ncclDevKernel_{work}", launched[rank], starts[rank], ended, 20, args)
            rank.streams[20] = ended
            call(rank, "cudaEventRecord")
            if waits:
                rank.host += 20_000
                call(rank, "cudaStreamWaitEvent")
                rank.streams[7] = max(rank.streams[7], ended)

    def around(step, first):
        """The collectives before (first) and after the layer computes, in each direction."""
        if program.style == "experts" or (program.style == "fsdp" and first):
            collective(step, STYLES[program.style], True)

    program.sequence = 0
    for step in range(STEPS):
        begun = {rank: rank.host for rank in running}
        for rank in running:
            length = jitter(program.loader + longer("loader", 0, rank.number, step, moves))
            rank.recorder.host(LOADER, rank.host, rank.host + length, cat="user_annotation")
            rank.host += length
        for layer, length in enumerate(program.forward):
            around(step, True)
            for rank in running:
                compute(rank, step, f"aten::op{layer}", length, layer)
            around(step, False)
        for rank in running:
            if longer("new", 0, rank.number, step, moves):
                compute(rank, step, "aten::extra", 0, 0, "new")
        for layer in reversed(range(program.layers)):
            around(step, True)
            for rank in running:
                compute(rank, step, f"aten::back{layer}", program.backward[layer], layer, "backward")
            around(step, False)
            collective(step, "reduce_scatter" if program.style == "fsdp" else "all_reduce", False)
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


class Stage(Rank):
    """A rank of a pipeline: its program, and how far it has come."""

    def __init__(self, rng, number, program):
        super().__init__(Recorder(Clock(rng.randrange(-2_000_000, 2_000_000))))
        self.number, self.program, self.place, self.ready = number, program, 0, None

    def call(self, name):
        self.recorder.host(name, self.host, self.host + 800, cat="cuda_runtime")
        self.host += 1_000

    def compute(self, name, length):
        launched = self.launch(name, 6_000)
        start = max(launched + 3_000, self.streams[7] + 1_000)
        self.streams[7] = start + length
        self.recorder.work(name.replace("aten::", "kernel_"), launched, start, self.streams[7])

    def transfer(self, name, peer):
        """Launches a send or a receive; its kernel starts when the stream that computes is done."""
        begun = self.host
        self.call("cudaEventRecord")
        self.call("cudaStreamWaitEvent")
        launched = self.launch(f"nccl:{name}", 4_000)
        self.recorder.host("record_param_comms", begun - 1_000, self.host + 500, args={
            "Collective name": name, "Process Group Name": "7", "Process Group Ranks": "[0, 1, 2, 3]",
            "Dst Rank": peer, "Src Rank": peer})
        self.host += 1_000
        self.ready = launched, max(launched + 3_000, self.streams[7] + 1_000, self.streams.get(26, 0) + 1_000)

    def end_transfer(self, ended):
        self.recorder.work("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", *self.ready, ended, 26)
        self.streams[26] = ended
        self.streams[7] = max(self.streams[7], ended)
        self.host += 20_000
        self.call("cudaStreamWaitEvent")
        self.ready = None


def run_pipeline(rng, lengths, batches, slow):
    """The events of each stage: forward of all batches, then backward. slow: (stage, operator) -> ns."""
    last, layers = len(lengths) - 1, range(len(lengths[0]))

    def program(stage):
        for way, before, after in (("op", stage - 1, stage + 1), ("back", stage + 1, stage - 1)):
            for _ in range(batches):
                if 0 <= before <= last:
                    yield "recv", before
                for layer in layers:
                    yield f"aten::{way}{layer}", (1 + (way == "back")) * lengths[stage][layer] + slow.get(
                        (stage, f"aten::{way}{layer}"), 0)
                if 0 <= after <= last:
                    yield "send", after
        yield "aten::optimizer", 60_000

    stages = [Stage(rng, number, list(program(number))) for number in range(last + 1)]
    for stage in stages:
        stage.host = stage.streams[7] = 10_000_000 + rng.randrange(50_000)
    for step in range(STEPS):
        begun = [stage.host for stage in stages]
        for stage in stages:
            stage.place = 0
        while any(stage.place < len(stage.program) for stage in stages):
            for stage in stages:
                while stage.place < len(stage.program) and not stage.ready:
                    what, value = stage.program[stage.place]
                    if what in ("send", "recv"):
                        stage.transfer(what, value)
                    else:
                        stage.compute(what, int(value * rng.gauss(1, 0.01)))
                        stage.place += 1
            for stage in stages:
                peer = stage.ready and stages[stage.program[stage.place][1]]
                if peer and peer.ready and peer.program[peer.place][1] == stage.number:
                    ended = max(stage.ready[1], peer.ready[1]) + int(30_000 * rng.gauss(1, 0.01))
                    for each in (stage, peer):
                        each.end_transfer(ended)
                        each.place += 1
        for stage, at in zip(stages, begun):
            waited = stage.streams[7] + 5_000
            stage.recorder.host("cudaDeviceSynchronize", stage.host, waited, cat="cuda_runtime")
            stage.host = waited + 2_000
            stage.recorder.step(step, at, stage.host)
    return {stage.number: stage.recorder.events for stage in stages}


def write_pipeline(folder, seed):
    """A pair of pipelines where one operator of one stage takes longer in test; returns the truth."""
    rng = random.Random(seed)
    stages, layers, batches = rng.choice((2, 3, 4)), rng.randrange(2, 4), rng.choice((4, 6))
    common = [rng.randrange(80_000, 200_000) for _ in range(layers)]
    slow = rng.randrange(stages), f"aten::{rng.choice(('op', 'back'))}{rng.randrange(layers)}"
    for side, longer in (("control", {}), ("test", {slow: int(sum(common) * rng.uniform(0.4, 1))})):
        write_ranks(os.path.join(folder, side), run_pipeline(rng, [common] * stages, batches, longer))
    return Truth("stage", slow[1], slow[0])


def write_pair(folder, seed, kind=None, style="ddp"):
    rng = random.Random(seed)
    ranks, program = rng.choice((2, 2, 4, 8)), Program(rng, style)
    kind = kind or rng.choice(KINDS)
    truth, longer = (Truth("nothing", None, None), None) if kind == "nothing" else plant(rng, program, kind, ranks)
    for side, changed in (("control", None), ("test", longer)):
        write_ranks(os.path.join(folder, side), run(rng, program, ranks, changed or (lambda *_: 0)))
    return truth
