"""Generated jobs for simulation: streams that wait for each other, calls that wait for work, threads that alternate,
and ranks that meet in collectives. The recording shows each dependency or leaves it out, and some times contradict each
other.

    write_gains("runs/a", seed)
    write_gains_pair("runs/a", "runs/b", seed)    # the same program, which is slower somewhere in the second one
    write_gains_pair("runs/a", "runs/b", seed, other=True)    # and also runs other operators
"""
import random

from generate_job import Clock, Recorder, us, write_ranks

STREAMS = (7, 20, 21)
COMM = 20
RUNTIME = "cuda_runtime"


class Rank:
    def __init__(self, rng, number, clock, odd):
        self.rng, self.number, self.odd = rng, number, odd
        self.recorder = Recorder(clock)
        self.now = 10 ** 7 + rng.randrange(20000)
        self.free = {}      # when each stream is idle
        self.waits = {}     # the earliest start of a stream's next work
        self.thread = 1
        self.recorded = None  # (correlation, stream) of the latest event

    def span(self, most):
        return self.rng.choice((0, self.rng.randrange(most), self.rng.randrange(most)))

    def host(self, name, start, end, cat="cpu_op", **fields):
        self.recorder.host(name, start, end, cat=cat, tid=self.thread, **fields)

    def call(self, name, length, **args):
        """Adds a call; returns its correlation."""
        self.recorder.correlation += 1
        start, self.now = self.now, self.now + length
        self.host(name, start, self.now, cat=RUNTIME, args={"correlation": self.recorder.correlation, **args})
        return self.recorder.correlation

    def work(self, name, stream, length, correlation, launched, cat="kernel", args=None):
        start = max(launched + 500 + self.span(3000), self.free.get(stream, 0) + self.span(2500),
                    self.waits.pop(stream, 0) + self.span(1500))
        if self.rng.random() < self.odd:
            start = max(0, start + self.rng.randrange(-8000, 8000))
        end = start + length
        self.free[stream] = max(end, self.free.get(stream, 0))
        begin, stop = self.recorder.clock(start), self.recorder.clock(end)
        self.recorder.events.append({
            "ph": "X", "cat": cat, "name": name, "pid": 0, "tid": stream, "ts": us(begin), "dur": us(stop - begin),
            "args": {"correlation": correlation, "stream": stream, **(args or {})}})
        return start, end

    def sync(self, name, correlation, stream, **args):
        self.recorder.add(self.sync_event, self.now, self.now + 1, name, stream, correlation, args)

    @staticmethod
    def sync_event(name, ts, dur, stream, correlation, args):
        return {"ph": "X", "cat": "cuda_sync", "name": name, "pid": 0, "tid": stream, "ts": ts, "dur": dur,
                "args": {"correlation": correlation, "stream": stream, **args}}

    # ---- actions of a program
    # -----------------------------------------------------------------------------------------

    def operator(self, name, stream, length, depth):
        start = self.now
        self.now += 500 + self.span(4000)
        if depth:
            self.operator(f"{name}_inner", stream, length, depth - 1)
        launched, takes = self.now, 300 + self.span(3000)
        if name == "op3":  # the kernel is loaded first
            takes *= 100
            launched += takes - 2000
        correlation = self.call("cudaLaunchKernel", takes)
        if self.rng.random() > self.odd / 2:
            self.work(f"kernel_{name}", stream, length, correlation, launched)
        self.now += self.span(3000)
        self.host(f"aten::{name}", start, self.now)
        self.now += self.rng.choice((0, self.span(2000), self.span(60000)))

    def graph(self, length):
        launched = self.now
        correlation = self.call("cudaGraphLaunch", 3000)
        for i in range(3):
            self.work(f"graph{i}", self.rng.choice(STREAMS[:2]), length // 3 + 1, correlation, launched)

    def event_wait(self, first, second, told):
        """Makes stream `second` wait for the current work of `first`."""
        record = self.call("cudaEventRecord", 200)
        correlation = self.call("cudaStreamWaitEvent", 200)
        self.waits[second] = max(self.waits.get(second, 0), self.free.get(first, 0))
        if told:
            self.sync("Stream Wait Event", correlation, second, wait_on_stream=first,
                      **({"wait_on_cuda_event_record_corr_id": record} if self.rng.random() < 0.8 else {}))

    def synchronize(self, kind, stream, told):
        start = self.now
        until = max(self.free.values(), default=0) if kind == "Device" else self.free.get(stream, 0)
        length = max(self.rng.randrange(1, 4000), until - start + self.span(6000))
        inner = kind == "Device" and self.rng.random() < 0.3
        correlation = self.call(f"cuda{kind}Synchronize", length)
        if inner:
            self.host("cuCtxSynchronize", start + 1, self.now, cat="cuda_driver", args={})
        if told:
            self.sync(*(("Event Sync", correlation, -1) if kind == "Event" else ("Stream Sync", correlation, stream)),
                      **({"wait_on_stream": stream} if kind == "Event" else {}))

    def copy(self, pageable, stream, length):
        launched = self.now
        correlation = self.call("cudaMemcpyAsync", 0)
        call = self.recorder.events[-1]
        memory, reads = "Pageable" if pageable else "Pinned", correlation % 2
        name = f"Memcpy HtoD ({memory} -> Device)" if reads else f"Memcpy DtoH (Device -> {memory})"
        start, end = self.work(name, stream, length, correlation, launched, cat="gpu_memcpy")
        until = end + self.span(4000) if pageable else launched + 1500
        if pageable and reads:  # read before it is complete
            until = start + length * 7 // 8
        self.now = max(launched + 500, until)
        call["dur"] = us(self.recorder.clock(self.now) - self.recorder.clock(launched))

    def backward(self, stream, length):
        """Runs work on another thread, while this one waits."""
        self.now, own = self.now + self.span(40000), self.thread
        self.thread = 2
        for _ in range(self.rng.randrange(1, 3)):
            self.operator("back", stream, length, 0)
        self.thread = own
        self.now += self.span(20000)

    def poll(self):
        own, now, self.thread = self.thread, self.now, 3
        for _ in range(3):
            self.call("cudaEventQuery", 100)
            self.now += 40000
        self.thread, self.now = own, now


def collective(rng, ranks, kind, stream, transfer, wait):
    begun = {}
    for rank in ranks:
        launched, start = rank.now, rank.now
        rank.now += 500
        correlation = rank.call("cudaLaunchKernelExC", 500 + rank.span(1000))
        if wait:
            rank.event_wait(7, stream, False)  # NCCL's own
        at = max(launched + 700, rank.free.get(stream, 0), rank.waits.pop(stream, 0)) + rank.span(2000)
        begun[rank] = at, correlation
        rank.now += rank.span(1000)
        rank.host(f"nccl:{kind}", start, rank.now, cat="user_annotation")
    last = max(at for at, _ in begun.values()) if kind != "Broadcast" else begun[ranks[0]][0]
    for rank, (at, correlation) in begun.items():
        end = max(at, last) + transfer + rank.span(500)
        if rng.random() < rank.odd / 2:
            end = at + max(1, end - at + rng.randrange(-20000, 5000))
        begin, stop = rank.recorder.clock(at), rank.recorder.clock(end)
        rank.recorder.events.append({
            "ph": "X", "cat": "kernel", "name": f"ncclDevKernel_{kind}_Sum_f32_RING_LL", "pid": 0, "tid": stream,
            "ts": us(begin), "dur": us(stop - begin),
            "args": {"correlation": correlation, "stream": stream, "Process Group Name": "0",
                     "Process Group Ranks": str([each.number for each in ranks])}})
        rank.free[stream] = max(rank.free.get(stream, 0), end)


def program_of(rng, ranks):
    """[(action, arguments, length)]"""
    program = []
    for i in range(rng.randrange(3, 12)):
        stream, told = rng.choice((7, 7, 7, 20, 21)), rng.random() < 0.5
        program.append(rng.choice((
            ("operator", (f"op{i % 4}", stream), True), ("operator", (f"op{i % 4}", stream), True),
            ("operator", ("mm", 7), True),
            ("event_wait", (*rng.sample(STREAMS, 2), told), False), ("event_wait", (7, 20, told), False),
            ("synchronize", (rng.choice(("Stream", "Device", "Event")), stream, told), False),
            ("copy", (rng.random() < 0.6, stream), True), ("backward", (stream,), True), ("graph", (), True),
            ("poll", (), False),
            ("collective", (rng.choice(("AllReduce", "AllReduce", "Broadcast")), COMM), True),
            ("collective", ("AllReduce", COMM), True))))
    if ranks > 1:
        program.append(("collective", ("AllReduce", COMM), True))
    return program


def run(rng, program, lengths, count, steps, clocks, odd):
    ranks = [Rank(rng, number, Clock(*clocks[number]), odd) for number in range(count)]
    for number in range(steps):
        begun = [rank.now for rank in ranks]
        for place, (what, given, sized) in enumerate(program):
            if what == "collective":
                collective(rng, ranks, *given, lengths[place], rng.random() < 0.5)
                continue
            for rank in ranks:
                length = max(1, lengths[place] + rng.randrange(-500, 500))
                if what == "operator":
                    rank.operator(*given, length, place % 3)
                else:
                    getattr(rank, what)(*given, *([length] if sized else []))
        for rank, start in zip(ranks, begun):
            if rng.random() < 0.3:
                rank.synchronize("Device", 7, False)
            rank.recorder.step(number, start, rank.now)
            rank.now += rank.span(5000)
    return {rank.number: rank.recorder.events for rank in ranks}


def shaken(rng, events):
    """Makes some host events overlap, and some have no length."""
    for each in events:
        if each["cat"] in ("cpu_op", RUNTIME) and rng.random() < 0.05:
            each["dur"] = rng.choice((0, us(rng.randrange(50000))))
    return events


def other_program(rng, program, lengths):
    """Adds or removes operators."""
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(program) + 1)
        if rng.random() < 0.5 or len(program) < 3:
            program.insert(at, ("operator", (f"op{rng.randrange(6)}", rng.choice((7, 7, 20))), True))
            lengths.insert(at, rng.randrange(1000, 60000))
        elif program[at - 1][0] == "operator":
            del program[at - 1], lengths[at - 1]


def write_gains_pair(control, test, seed, slower=True, other=False, steps=None):
    rng = random.Random(seed)
    count, odd = rng.choice((1, 1, 2, 2, 3)), rng.choice((0, 0, 0.05, 0.2))
    program, few = program_of(rng, count), rng.choice((1, 3, 4))
    lengths = [rng.randrange(1000, 60000) for _ in program]
    clocks = [(rng.randrange(-10 ** 6, 10 ** 6), rng.randrange(-50, 51)) for _ in range(count)]
    shakes = rng.random() < 0.3
    for folder in filter(None, (control, test)):
        if folder == test and slower:
            lengths[rng.randrange(len(lengths))] += rng.randrange(5000, 80000)
        if folder == test and other:
            other_program(random.Random(-seed), program, lengths)
        made = run(rng, program, lengths, count, steps or few, clocks, odd)
        write_ranks(folder, {number: shaken(rng, events) if shakes else events for number, events in made.items()})


def write_gains(folder, seed):
    write_gains_pair(folder, None, seed)
