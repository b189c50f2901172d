"""Random serving traces: steps with and without known forms, replayed graphs, and a trace of their captures.

    made = generate(random.Random(7))
    made.files                  # {file name: document}, for one or two ranks
    made.capture                # the same for a trace in which the graphs are captured
    made.write("some/folder")   # both, in `trace` and `capture`; returns the two paths

A trace has up to about 200 events at few distinct times, so common starts, common ends and cuts are frequent.
"""
import os
from dataclasses import dataclass

from made import ABSENT, document, event, write

HOST, DEVICE = 1, 0
MODES = ("EXTEND", "PREFILL", "SPLIT_PREFILL", "DLLM_EXTEND", "DECODE", "MIXED", "IDLE", "TARGET_VERIFY",
         "DRAFT_EXTEND", "DRAFT_EXTEND_V2", "VERIFY", "DRAFT", "OTHER_2", "DECODE", "DECODE", "EXTEND")
NO_FORMS = ("execute_model", "gpu_model_runner: forward", "step[decode bs=3]", "draft[0/3 bs=8]", "capture_32_FULL",
            "execute_context_1(2)", "xstep[DECODE]", "step[DECODE] ", "scheduler.run_batch 2")
OUTER = ("scheduler.run_batch", "scheduler.run_batch", "loop", "Loop_1", "ProfilerStep", "nn.Module: Engine_0")
KERNELS = ("gemm", "void attention<128>(Params)", "triton_poi_fused_add_3", "triton_poi_fused_add_4", "relu")
COMM, COPY, FILL = "ncclAllReduce", "Memcpy DtoD (Device -> Device)", "Memset (Device)"
OPERATORS = ("aten::mm", "aten::addmm", "vllm::attention")
STEPS = (None, "auto", "profiler", "execute_%", "EXECUTE_%", "step[%", "%[%", "%", "loop%", "scheduler.run_batch",
         "ProfilerStep%", "loop", '["execute_%", "step[%"]', '["loop", "Loop__", "dec%"]', "[]", '["execute_%", 1]',
         "aten::%", "nn.Module%", "cuda%", "nothing")


def spelt(nanoseconds):
    """The time in us."""
    sign, nanoseconds = "-" * (nanoseconds < 0), abs(nanoseconds)
    return f"{sign}{nanoseconds // 1000}.{nanoseconds % 1000:03}"


def size(rng):
    return rng.choice((0, 1, 1, 2, 3, 8, 9, 31, 32, 33, 57, 64, 65, 100, 2048, 14721))


def form(rng):
    """The name of a step in one of the forms."""
    def some(text):
        return text if rng.random() < .5 else ""

    c, g, t, u = (size(rng) for _ in range(4))
    c, g = rng.choice(((c, g), (0, g), (0, g), (c, 0)))
    kind = rng.randrange(8)
    if kind < 2:
        return f"execute_context_{c}({t}{some('_788544')})_generation_{g}({u}{some('_12')})"
    if kind == 2:
        return f"execute_{t + u}_context_{c}(sq{t}sk{t}sqsq{t}sqsk{t})_generation_{g}(sq{u}sk{u}sqsq{u}sqsk{u})"
    if kind == 3:
        return f"execute_new_{c}_cached_{g}"
    if kind == 4:
        fields = [f"bs={g}", f"toks={t}", f"c_sq={c}", f"g_sq={u}", "ctx=[1, 2]...+3", "p=x"]
        said = [field for field in fields if rng.random() < .4]
        return f"step[{' '.join([rng.choice(MODES), *said])}]"
    if kind == 5:
        batch = f"{g}/{g + size(rng)}" if rng.random() < .4 else g
        return (rng.choice(("", "", "eager_", "dummy_")) + rng.choice(("prefill", "decode", "decode"))
                + f"[bs={batch} tok={t}{some(f' p={c}')}{some(f' d={g}')}{some(' ctx=[4, 5]')}]")
    if kind == 6:
        return f"[Executor] _forward_step{some(' 60000')}: {c} ctx reqs, {some(f'{t} ctx tokens, ')}{g} gen reqs"
    return f"execute_diffusion_{g}_{t}x{u}"


@dataclass
class Made:
    files: dict
    capture: dict

    def write(self, folder):
        for inside, files in (("trace", self.files), ("capture", self.capture)):
            for name, content in files.items():
                write(os.path.join(folder, inside, name), content)
        return os.path.join(folder, "trace"), os.path.join(folder, "capture")


class Maker:
    """Adds the events of a file; times are units of `unit` ns."""

    def __init__(self, rng, start, unit, graphs):
        self.rng, self.start, self.unit, self.graphs = rng, start, unit, graphs
        self.events, self.correlation, self.at = [], 0, start
        self.names = rng.choice((1, 1, 1, 4))  # kinds of names in a file
        self.pool = [form(rng) for _ in range(self.names)]
        self.style = rng.choice(("plain", "plain", "nested", "nested", "outer", "none"))

    def add(self, name, at, dur, cat, **fields):
        dur = dur if dur is ABSENT else spelt(dur * self.unit)
        self.events.append(event(name, spelt(at * self.unit), dur, cat=cat, **fields))

    def instant(self, slack=4):
        return self.rng.randrange(self.start - slack, max(self.at, self.start) + slack + 1)

    def number(self):
        self.correlation += 1
        return self.correlation

    # ---- the host's steps

    def annotate(self, name, at, dur, tid=1, cat=None):
        rng = self.rng
        cat = cat or rng.choice(("user_annotation",) * 4 + ("cpu_op", "Operator", "python_function"))
        external = rng.randrange(1, 6)
        self.add(name, at, dur, cat, tid=tid, args={"External id": external})
        if cat == "user_annotation" and rng.random() < .2:
            self.add(name, at + rng.randrange(4), rng.choice((0, 2, 5)), "gpu_user_annotation", pid=DEVICE, tid=7,
                     args={"External id": external})

    def name(self):
        rng = self.rng
        if self.style == "none":
            return rng.choice(NO_FORMS)
        return rng.choice(self.pool) if rng.random() < .6 else form(rng)

    def step(self):
        """A step, and the work launched in it and after it."""
        rng = self.rng
        length = rng.choice((2, 4, 4, 6, 9))
        name = rng.choice(OUTER) if self.style == "outer" else self.name()
        self.annotate(name, self.at, length if rng.random() < .95 else rng.choice((0, ABSENT)), cat=rng.choice(
            (None, "user_annotation", "user_annotation")))
        if self.style in ("nested", "outer") or rng.random() < .2:
            inner = rng.choice((self.name(), form(rng), "scheduler.run_batch", rng.choice(NO_FORMS)))
            after = rng.choice((0, 0, 1, 2))
            self.annotate(inner, self.at + after, rng.choice((length - after, length, 1, 1, 3)))
        for _ in range(rng.choice((0, 1, 1, 2))):
            self.call(self.at + rng.randrange(length + 2))
        self.at += length + rng.choice((0, 0, 1, 3))

    def profiler_steps(self):
        rng = self.rng
        at, number = self.start + rng.choice((-2, 0, 1)), rng.randrange(3)
        for _ in range(rng.choice((1, 1, 2, 3, 6))):
            dur = rng.choice((0, 3, 6, 12, 40))
            self.annotate(f"ProfilerStep#{number}", at, dur, tid=rng.choice((1, 1, 2)), cat="user_annotation")
            number += rng.choice((0, 1, 1, 1, 1))
            at += dur

    # ---- launches

    def work(self, name, at, dur, correlation, **args):
        cat = {COPY: "gpu_memcpy", FILL: "gpu_memset"}.get(name, "kernel")
        self.add(name, at, dur, cat, pid=DEVICE, tid=self.rng.choice((7, 7, 8)),
                 args={"correlation": correlation, **args})

    def call(self, at, tid=1):
        """A launch in an operator, a frame, a module or nothing."""
        rng = self.rng
        around = rng.random()
        if around < .4:
            self.add(rng.choice(OPERATORS), at, 3, rng.choice(("cpu_op", "cpu_op", "Operator")), tid=tid)
        elif around < .6:
            self.add(rng.choice(("f.py(12): replay", "nn.Module: Layer_0")), at, 3, "python_function", tid=tid)
        elif around < .7:
            self.annotate("region", at, 3, tid)
        at += rng.choice((0, 1))
        if rng.random() < .5:
            return self.graph(at, tid)
        correlation = self.number()
        self.add("cudaLaunchKernel", at, 1, rng.choice(("cuda_runtime", "cuda_runtime", "cuda_driver")), tid=tid,
                 args={"correlation": correlation})
        return self.work(rng.choice((*KERNELS, COMM, COPY)), at + rng.choice((0, 1, 3)), rng.choice((1, 2, 4)),
                         correlation)

    def graph(self, at, tid):
        """A graph launch; all its kernels, the first one or none were recorded."""
        rng, correlation = self.rng, self.number()
        self.add(rng.choice(("cudaGraphLaunch", "hipGraphLaunch", "cuGraphLaunch")), at, rng.choice((0, 1, 2)),
                 rng.choice(("cuda_runtime", "hip_runtime", "cuda_driver")), tid=tid, args={"correlation": correlation})
        if rng.random() < .1:
            self.add("cuGraphLaunch", at, 1, "cuda_driver", tid=tid, args={"correlation": correlation})
        if rng.random() < .2:
            return
        names = rng.choice(self.graphs)
        names = names if rng.random() < .7 else names[:rng.randrange(len(names)) + 1]
        nodes, begun = rng.choice((None, "order", "order", "mixed")), at + rng.choice((0, 1, 2))
        order = list(range(len(names)))
        if rng.random() < .3:
            rng.shuffle(order)  # streams of a graph run concurrently
        for place in order:
            known = nodes == "order" or nodes == "mixed" and rng.random() < .5
            self.work(names[place], begun, rng.choice((0, 1, 1, 2)), correlation,
                      **({"graph node id": 2**32 + place} if known else {}))
            begun += rng.choice((0, 1, 1, 2))
        if rng.random() < .1:
            self.add("Stream Wait", begun, 1, "cuda_sync", pid=DEVICE, tid=7, args={"correlation": correlation})

    def noise(self):
        """Events that can be anywhere: annotations of this thread and of others, backlog, work without a launch."""
        rng = self.rng
        for _ in range(rng.choice((0, 0, 1, 2))):
            self.annotate(self.name(), self.instant(), rng.choice((0, 1, 5, 12)))
        for _ in range(rng.choice((0, 0, 1, 3, 5, 7))):
            self.annotate(self.name(), self.instant(), rng.choice((1, 2, 5)), tid=2)
        for _ in range(rng.choice((0, 0, 2))):
            cat = rng.choice(("user_annotation", "cuda_runtime", "Trace", ABSENT))
            self.annotate(rng.choice((form(rng), "loop", "cudaFoo", "ProfilerStep#1")), self.instant(), 4,
                          tid=rng.choice((1, 2, 3)), cat=cat)
        for _ in range(rng.choice((0, 0, 1, 3))):
            self.call(self.instant(), rng.choice((1, 2)))
        for _ in range(rng.choice((0, 0, 1, 2))):
            self.work("gemm", self.start + rng.randrange(-8, 6), rng.choice((1, 4)), 10**6)


def serving_file(rng, start, unit, graphs):
    """(events, earliest start of the next file)"""
    maker = Maker(rng, start, unit, graphs)
    for _ in range(rng.choice((0, 1, 2, 3, 3, 4, 5, 6))):
        maker.step()
    if rng.random() < .35:
        maker.profiler_steps()
    maker.noise()
    if rng.random() < .3:
        rng.shuffle(maker.events)
    if not maker.events:
        maker.add("aten::mm", start, 1, "cpu_op")
    return maker.events, maker.at + rng.choice((0, 5, 12, -4))


def captured(rng, graphs, unit):
    """The document of a trace in which graphs are captured, with or without their kernels' names."""
    maker, named, at = Maker(rng, 0, unit, graphs), rng.choice((True, True, True, False, None)), 0

    def called(name, kernel=ABSENT, tid=1, cat="hip_runtime", dur=2):
        maker.add(name, at, dur, cat, tid=tid, args={"correlation": maker.number()} | (
            {} if kernel is ABSENT or named is False or (named is None and rng.random() < .3) else {"kernel": kernel}))

    def around(name, cat, dur):
        maker.add(name, at, dur, cat)

    for names in [rng.choice(graphs) for _ in range(rng.choice((1, 2, 3, 5)))]:
        if rng.random() < .5:
            around(rng.choice(("capture_32_FULL", form(rng))), "user_annotation", 60)
        called(rng.choice(("hipStreamBeginCapture", "cudaStreamBeginCapture_v10000")))
        at += 2
        for name in (*names, *rng.choice(((), (), ("gemm",), (COPY,)))):
            where = rng.random()
            if where < .6:
                around(rng.choice(OPERATORS), "cpu_op", 5)
            if where < .3:
                around(rng.choice(("nn.Module: Layer_1", "model.py(3): forward")), "python_function", 6)
            at += 1
            if rng.random() < .2:
                called("hipLaunchKernel", "relu", tid=2)
            if rng.random() < .2:
                called(rng.choice(("hipGetDevice", "hipGraphLaunch")), dur=0)
            if name in (COPY, FILL):
                called("hipMemcpyAsync" if name == COPY else "hipMemsetAsync")
            else:
                called(rng.choice(("hipLaunchKernel", "hipExtModuleLaunchKernel", "cuLaunchKernelEx")), name,
                       cat=rng.choice(("hip_runtime", "cuda_driver")))
                if rng.random() < .1:
                    called("cuLaunchKernel", name, cat="cuda_driver", dur=1)
            at += rng.choice((3, 5))
        if rng.random() < .9:
            called(rng.choice(("hipStreamEndCapture", "cudaStreamEndCapture")))
        at += rng.choice((3, 50))
    return document(*maker.events)


def generate(rng):
    unit = rng.choice((1, 1, 1000, 200_000))
    graphs = [[rng.choice((*KERNELS, COMM, COPY, FILL)) for _ in range(rng.choice((1, 2, 3, 5)))]
              for _ in range(rng.choice((1, 2, 3)))]
    if rng.random() < .5:
        graphs.append(graphs[0] + ["gemm"])
    files, base = {}, rng.choice((0, 10**18))
    for rank in rng.choice(((0,), (0,), (0,), (0, 3))):
        at = rng.randrange(10)
        for cycle in range(rng.choice((1, 1, 1, 1, 2, 3))):
            events, at = serving_file(rng, at, unit, graphs)
            name = f"{rng.choice('abc')}{cycle}_rank{rank}.json"
            files[name] = document(*events, baseTimeNanoseconds=base)
    return Made(files, {f"rank{rank}.json": captured(rng, graphs, unit) for rank in rng.choice(((0,), (0,), (0, 1)))})
