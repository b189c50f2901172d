"""Generated jobs: ranks that compute, launch and wait for each other in collectives, on different clocks.

    write_job("runs/a", seed)                 # a folder with a file per rank
    write_ranks("runs/a", events_of_ranks)    # the same from lists of events by rank
"""
import os
import random

from made import document, event, kernel, step, write

KINDS = ("AllReduce", "all_gather", "ReduceScatter", "Broadcast", "SendRecv")
MOST_RANKS = 16


def us(ns):
    return round(ns / 1000, 3)


class Clock:
    """The clock of a rank: ns ahead, and its drift in parts per million."""

    def __init__(self, ahead=0, drift=0):
        self.ahead, self.drift = ahead, drift

    def __call__(self, ns):
        return ns + self.ahead + ns * self.drift // 10 ** 6


class Recorder:
    """Records a rank, in ns of true time."""

    def __init__(self, clock=Clock()):
        self.clock, self.events, self.correlation = clock, [], 0

    def add(self, make, start, end, *arguments, **fields):
        start, end = self.clock(start), self.clock(end)
        self.events.append(make(*arguments[:1], us(start), us(end - start), *arguments[1:], **fields))

    def step(self, number, start, end):
        self.add(step, start, end, number)

    def host(self, name, start, end, **fields):
        self.add(event, start, end, name, **fields)

    def work(self, name, launched, start, end, stream=7, args=None):
        """Device work, with a launch that ends at its launch time."""
        self.correlation += 1
        self.host("cudaLaunchKernel", launched - 1000, launched, cat="cuda_runtime",
                  args={"correlation": self.correlation})
        self.add(kernel, start, end, name, self.correlation, stream)
        self.events[-1]["args"].update(args or {})


class Rank:
    """A running rank: when its host and its streams are free."""

    def __init__(self, recorder):
        self.recorder = recorder
        self.host, self.streams, self.number = 0, {}, 0

    def launch(self, name, length):
        """The host runs an operator that launches at its end."""
        self.recorder.host(name, self.host, self.host + length)
        self.host += length
        return self.host - 200


def collective(rng, ranks, kind, transfer, stream, sync, args):
    """Ranks, the root first, run a collective."""
    launched = {rank: rank.launch(f"nccl:{kind}", 1500) for rank in ranks}
    starts = {rank: rng.randrange(300) + max(launched[rank] + 500, rank.streams.get(stream, 0),
                                             rank.streams.get(7, 0) if sync else 0) for rank in ranks}
    root = ranks[0]
    for rank in ranks:
        if kind == "Broadcast":
            ended = max(starts[rank], starts[root]) + transfer
        else:
            ended = max(starts.values()) + transfer
        rank.recorder.work(f"ncclDevKernel_{kind}_Sum_f32_RING_LL", launched[rank], starts[rank], ended, stream, args)
        rank.streams[stream] = ended
        if sync:
            rank.streams[7] = ended


def simulate(rng, ranks, steps, groups, whole):
    """Runs a program on all ranks. In a whole job, all wait for all at the end of each step."""
    program = [("collective", 0, 0, "AllReduce", True, 20)] * whole
    for _ in range(rng.randrange(3, 12)):
        what = rng.choice(("compute", "compute", "host", "collective", "collective", "collective"))
        program.insert(0, (what, rng.randrange(1000), rng.randrange(len(groups)), rng.choice(KINDS), rng.random() < 0.7,
                           rng.choice((20, 20, 21))))
    for number in range(steps):
        begun = {rank: rank.host for rank in ranks}
        for what, name, group, kind, sync, stream in program:
            if what == "collective":
                for members in groups[group]:
                    args = {"Process Group Name": str(group),
                            "Process Group Ranks": str([rank.number for rank in members])}
                    for _ in range(rng.choice((1, 1, 2))):
                        collective(rng, members, kind, rng.randrange(3000, 40000), stream, sync, args)
                continue
            for rank in ranks:
                if what == "host":
                    rank.host += rng.choice((0, 0, rng.randrange(60000)))
                    continue
                launched = rank.launch(f"aten::op{name % 7}", rng.randrange(2000, 6000))
                start = max(launched + 700, rank.streams.get(7, 0))
                rank.streams[7] = start + rng.randrange(1000, 50000)
                rank.recorder.work(f"kernel{name % 5}", launched, start, rank.streams[7])
        for rank in ranks:
            if rng.random() < 0.5:
                rank.host = max(rank.host, rank.streams.get(7, 0))
            rank.recorder.step(number, begun[rank], rank.host)


def host_collective(rng, ranks, kind, transfer, style, args, waits, whole):
    """Ranks, the root first, run a collective on a separate thread, and may wait for its end."""
    begun = {rank: rank.host for rank in ranks}
    starts, worker = {}, rng.choice((2, 2, 3))
    for rank in ranks:
        rank.recorder.host(f"c10d::{kind}_", rank.host, rank.host + rng.randrange(500, 9000))
        rank.host += rng.randrange(300, 6000)
        starts[rank] = max(rank.host + rng.choice((0, rng.randrange(3000), rng.randrange(30000))),
                           rank.streams.get(worker, 0))
    for rank in ranks:
        over = max((starts[rank], starts[ranks[0]]) if kind == "broadcast" else starts.values()) + transfer
        shown = max(starts[rank] + 1, over + rng.choice((0, 0, rng.randrange(3000), rng.randrange(40000))))
        if style == "record_param_comms":
            told = {"Collective name": kind, **args}
            rank.recorder.host(style, begun[rank], shown if waits else rank.host, args=told if whole
                               or rng.random() < 0.9 else args)
        else:
            rank.recorder.host(f"{style}:{kind}", starts[rank], shown, cat="user_annotation", tid=worker, args=args)
        rank.streams[worker] = shown
        if waits:
            rank.host = max(rank.host, over + rng.choice((0, rng.randrange(1000), rng.randrange(20000))))


def simulate_host(rng, ranks, steps, groups, whole):
    """The same on hosts without devices. Threads are in operators, calls, annotations, frames or nothing."""
    style = rng.choice(("gloo", "gloo", "mpi", "record_param_comms", "record_param_comms", "nccl"))
    program = [("collective", "", 0, "all_reduce", True, True)] * whole
    for _ in range(rng.randrange(3, 14)):
        what = rng.choice(("op", "op", "nothing", "loader", "hook", "call", "frame", "collective", "collective",
                           "collective"))
        program.insert(0, (what, rng.randrange(5), rng.randrange(len(groups)),
                           rng.choice(("all_reduce", "all_reduce", "all_gather", "broadcast", "barrier", "send",
                                       "recv")),
                           rng.random() < 0.7, whole or rng.random() < 0.7))
    for number in range(steps):
        begun = {rank: rank.host for rank in ranks}
        for what, name, group, kind, waits, told in program:
            if what == "collective":
                for members in groups[group]:
                    args = {"Process Group Name": str(group),
                            "Process Group Ranks": str([rank.number for rank in members])}
                    host_collective(rng, members, kind, rng.randrange(1000, 40000), style, args if told else {}, waits,
                                    whole)
                continue
            for rank in ranks:
                start, long = rank.host, rng.choice((rng.randrange(500, 5000), rng.randrange(60000)))
                rank.host += long
                if what == "op":
                    rank.recorder.host(f"aten::op{name}", start, rank.host)
                elif what == "loader":
                    rank.recorder.host("loader", start, rank.host, cat="user_annotation")
                elif what == "hook":
                    rank.recorder.host("autograd::engine::evaluate_function: Op", start, rank.host)
                    rank.recorder.host("OpBackward0", start + long // 3, start + long // 2)
                elif what == "call":
                    rank.recorder.host("cudaSynchronize", start, rank.host, cat="cuda_runtime")
                elif what == "frame":
                    rank.recorder.host(f"train.py({name}): run", start, rank.host + 20000, cat="python_function")
        for rank in ranks:
            rank.recorder.step(number, begun[rank], rank.host)
            rank.host += rng.choice((0, rng.randrange(3000)))


def divided(rng, ranks):
    """Groups of ranks: a list of lists with each rank at most once."""
    count = len(ranks)
    groups = [[ranks]]
    if count > 1:
        width = rng.randrange(1, count + 1)
        groups.append([ranks[i:i + width] for i in range(0, count, width)])
        groups.append([ranks[i::width] for i in range(width)])
        groups.append([[a, b] for a, b in zip(ranks, ranks[1:])])  # a pipeline
    return groups


def shake(rng, made):
    """Moves work to impossible places: two at once on a stream, waits for later work, waits in pieces."""
    for events in made.values():
        for each in events:
            if each["cat"] == "user_annotation" and ":" in each["name"] and rng.random() < 0.3:
                each["ts"] = round(each["ts"] + rng.randrange(-30, 30), 3)
                each["dur"] = rng.choice((each["dur"], 0, 2, 60, rng.randrange(0, 80)))
            elif each["cat"] == "kernel" and rng.random() < 0.3:
                each["ts"] = round(each["ts"] + rng.randrange(-30, 30), 3)
                each["dur"] = rng.choice((each["dur"], 2, 9, 60, rng.randrange(0, 80)))
            elif each["cat"] == "kernel" and rng.random() < 0.1:
                each["args"]["stream"] = each["tid"] = rng.choice((7, 20, 21))


def is_collective(each):
    return each["name"].startswith(("nccl", "gloo:", "mpi:", "record_param_comms"))


def made_job(seed, most=MOST_RANKS, whole=False, on_host=False):
    """{rank: events}; unless the job must be whole, some ranks, steps and collectives are lost."""
    rng = random.Random(seed)
    count = rng.choice((1, 2, 2, 3, 4, 5, 8, most))
    ranks = [Rank(Recorder(Clock(rng.randrange(-10 ** 7, 10 ** 7), rng.randrange(-50, 51))))
             for _ in range(min(count, most))]
    for number, rank in enumerate(ranks):
        rank.number = number
        rank.host = 2 * 10 ** 7 + rng.randrange(30000)
    (simulate_host if on_host else simulate)(rng, ranks, rng.randrange(1, 4), divided(rng, ranks), whole)
    made = {rank.number: rank.recorder.events for rank in ranks}
    if whole:
        return made
    if rng.random() < 0.3:
        shake(rng, made)
    for number in list(made):
        if len(made) > 1 and rng.random() < 0.1:
            del made[number]
        elif rng.random() < 0.1:
            lost = [each for each in made[number] if is_collective(each)]
            if lost:
                made[number].remove(rng.choice(lost))
        elif rng.random() < 0.1:
            steps = [each for each in made[number] if each["name"].startswith("ProfilerStep")]
            if len(steps) > 1:
                until = min(each["ts"] for each in steps[1:])
                made[number] = [each for each in made[number] if each["ts"] >= until]
        elif rng.random() < 0.05 and len(made) > 1:
            made[number] = [{**each, "name": "renumbered" if each["name"] == "ProfilerStep#0" else each["name"]}
                            for each in made[number]]
    return made


def write_ranks(folder, ranks):
    for number, events in ranks.items():
        write(os.path.join(folder, f"rank{number}.json"), document(*events, distributedInfo={"rank": number}))
    return folder


def write_job(folder, seed, **given):
    return write_ranks(folder, made_job(seed, **given))
