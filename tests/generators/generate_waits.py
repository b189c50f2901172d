"""Random pairs of traces, in one of which the host waits for the device more often.

    write_pair("a", "b", seed)              # folders with a file per rank

A thread runs operators and waits, launches run ahead of the device, and streams run their work in order. Both sides run
the same program. Each has additional waits, in most or in all of its steps, and different times.
"""
import os
import random

from made import document, event, kernel, step, write

STREAMS = (7, 20)
RUNTIME, DRIVER = "cuda_runtime", "cuda_driver"
OPERATORS = ("aten::mm", "aten::add", "aten::linear", "mine::fused", "MulBackward0")
WAITS = ("item", "item", "copy", "to", "stream", "stream", "device", "event", "malloc", "backward", "annotated",
         "nothing",
         "unlike", "thread", "overlap")


def us(ns):
    return round(ns / 1000, 3)


class Host:
    """A running process; times are integer ns, multiples of `grid`."""

    def __init__(self, rng, grid, load):
        self.rng, self.grid, self.load = rng, grid, load
        self.now, self.thread, self.correlation = 1000 * grid, 1, 0
        self.free, self.events = dict.fromkeys(STREAMS, 0), []

    def span(self, most):
        return self.grid * self.rng.randint(1, most)

    def within(self, name, cat, body, *given, **fields):
        """An event around its body."""
        start = self.now
        self.now += self.rng.choice((0, self.span(300)))
        body(*given)
        self.now += self.rng.choice((0, self.span(300)))
        self.events.append(event(name, us(start), us(self.now - start), cat=cat, tid=self.thread, **fields))

    def launch(self, call="cudaLaunchKernel", name="gemm", stream=None, most=4000):
        """A call and the work that it launches."""
        stream = stream or self.rng.choice(STREAMS[:1] * 3 + STREAMS)
        self.correlation += 1
        length, ran = self.span(800), self.span(int(most * self.load))
        start = max(self.free[stream], self.now + length + self.span(500))
        self.free[stream] = start + ran
        self.events += [event(call, us(self.now), us(length), cat=RUNTIME, tid=self.thread,
                              args={"correlation": self.correlation}),
                        kernel(name, us(start), us(ran), self.correlation, stream)]
        self.now += length

    def wait(self, call="cudaStreamSynchronize", cat=RUNTIME, streams=STREAMS[:1], inside=None):
        start = self.now
        if inside:
            self.now += self.span(100)
            self.wait(inside, DRIVER, streams)
        self.now = max(self.now + self.span(200), *(self.free[stream] + self.span(100) for stream in streams))
        self.events.append(event(call, us(start), us(self.now - start), cat=cat, tid=self.thread))

    def item(self):
        self.launch("cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)", 7, 500)
        self.wait()

    def synchronize(self, kind):
        """One wait, in one of the ways that programs use."""
        if kind == "item":
            self.within("aten::item", "cpu_op", self.within, "aten::_local_scalar_dense", "cpu_op", self.item)
        elif kind == "copy":
            self.within("aten::copy_", "cpu_op", self.wait, "cudaMemcpy", RUNTIME, STREAMS[:1],
                        self.rng.choice((None, "cuStreamSynchronize")))
        elif kind == "to":
            self.within("mine::outer", "cpu_op", self.within, "aten::to", "cpu_op", self.within, "mine::inner",
                        "cpu_op", self.item)
        elif kind == "device":
            self.wait("cudaDeviceSynchronize", RUNTIME, STREAMS, self.rng.choice((None, None, "cuCtxSynchronize")))
        elif kind == "event":
            self.within("mine::event", "cpu_op", self.wait, "cudaEventSynchronize", RUNTIME, STREAMS[1:])
        elif kind == "malloc":
            self.within("cudaMalloc", RUNTIME, self.wait, "cudaDeviceSynchronize", RUNTIME, STREAMS)
        elif kind == "backward":
            self.within("autograd::engine::evaluate_function: X", "cpu_op", self.wait)
        elif kind == "annotated":
            self.within("loss", "user_annotation", self.wait)
        elif kind == "nothing":
            self.events.append(event("cudaStreamSynchronize", us(self.now), self.rng.choice((0, us(self.grid))),
                                     cat=RUNTIME))
            self.now += self.grid
        elif kind == "unlike":  # not waits, although they can take long
            self.wait(self.rng.choice(("cudaMemcpyAsync", "cudaEventQuery", "synchronize")))
        elif kind == "thread":
            self.beside(self.wait)
        elif kind == "overlap":  # events that end after their parents, and waits in them
            start, inner = self.now, self.now + self.span(300)
            self.now = inner + self.span(300)
            self.wait()
            names, ends = self.rng.sample(("aten::to", "aten::copy_", "mine::event", "cudaDeviceSynchronize"),
                                          2), (start, inner)
            for name, begin in zip(names, ends):
                end = self.rng.choice((begin, self.now)) + self.span(400)
                self.events.append(event(name, us(begin), us(end - begin), cat="cpu_op" if ":" in name else RUNTIME))
            self.now += self.span(800)
        else:
            self.wait()

    def beside(self, body, *given):
        """Does this on another thread while this one continues."""
        now, self.thread = self.now, 2
        body(*given)
        self.now, self.thread = now, 1

    def operator(self):
        def body():
            for _ in range(self.rng.choice((0, 1, 1, 2, 3))):
                self.launch()
                self.now += self.rng.choice((0, self.span(300)))
        self.within(self.rng.choice(OPERATORS), "cpu_op", body)
        self.now += self.rng.choice((0, 0, self.span(500)))


def run(rng, program, more, steps, mark, grid, load):
    """The events of a rank: `program` has the operators (None) and waits of each step, `more` the additional waits."""
    host = Host(rng, grid, load)
    for number in range(steps):
        start, todo = host.now, list(program)
        for kind, often in more:
            for _ in range(often if rng.random() < 0.95 else 0):
                todo.insert(rng.randrange(len(todo) + 1), kind)
        for kind in todo:
            host.operator() if kind is None else host.synchronize(kind)
        if mark == "operator":  # a known annotation (T20)
            host.events.append(event("scheduler.run_batch", us(start), us(host.now - start)))
        elif mark:
            host.events.append(step(number, us(start), us(host.now - start)))
        if rng.random() < 0.2:  # between two steps
            host.synchronize(rng.choice(WAITS))
        host.now += rng.choice((0, host.span(500)))
    rng.shuffle(host.events)
    return host.events


def write_pair(control, test, seed):
    rng = random.Random(seed)
    grid = rng.choice((1, 1, 500))
    ranks = [[0]] * 2 if rng.random() < 0.7 else rng.choice(([[0, 1]] * 2, [[0, 1], [0]], [[0], [1]]))
    load = rng.choice((0.2, 0.5, 1, 2))
    program = [None] * rng.randint(3, 6) + rng.choices(WAITS, k=rng.choice((0, 0, 1, 2)))
    rng.shuffle(program)
    more = [[], [(kind, rng.randint(1, 2)) for kind in rng.choices(WAITS, k=rng.choice((1, 1, 2)))]]
    if rng.random() < 0.2:
        more[0] = [(rng.choice(WAITS), 1)]
    if rng.random() < 0.3:
        more.reverse()
    hip = rng.choice((None, None, None, control, test))
    for path, numbers, waits in zip((control, test), ranks, more):
        mark = rng.choices((None, "profiler", "operator"), (1, 7, 2))[0]
        for rank in numbers:
            events = run(rng, program, waits if rank == 0 or rng.random() < 0.5 else [], rng.choice((1, 2, 3, 4)), mark,
                         grid, load)
            if path == hip:
                for each in events:
                    each["name"] = each["name"].replace("cuda", "hip")
            write(os.path.join(path, f"rank{rank}.json"), document(*events, distributedInfo={"rank": rank}))
