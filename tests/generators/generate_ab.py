#!/usr/bin/python3
"""Families of runs for trace_ab: runs of one program on two sides, with a run effect and with planted changes.

    family = Family(random.Random(1), Plan(runs=(3, 3), effect=0.01))
    family.write("folder")          # folder/control-0/rank0.json ...: a directory per run, a file per rank
    family.sides()                  # the same times without files: [[{(device, name): [us of each step]}]]

An operator's time in a step is base * exp(run effect + noise). The steps of a run share the run effect, and all its
operators share a part of it. The noise within a run is autocorrelated, with a normal, heavy-tailed or skewed
distribution.

    python3 tests/generators/generate_ab.py FOLDER [SEED]       # writes one family
    python3 tests/generators/generate_ab.py --table [FAMILIES]  # false alarms and power by oracle_ab.py
"""
import json
import math
import os
import random
import sys
from dataclasses import dataclass, field, replace

START = 1_700_000_000_000_000_000  # ns since 1970
BETWEEN = 60_000_000_000  # ns between the starts of two consecutive runs
HOST, DEVICE, STREAM = 100, 0, 7
LAUNCH = "cudaLaunchKernel"
TAILS = ("normal", "student", "lognormal")
PLANTED = 3  # the kernel to change, if any
STEP_NAME = "ProfilerStep#"


@dataclass
class Plan:
    runs: tuple = (3, 3)
    operators: int = 8  # on the host; each launches a kernel
    ranks: int = 1
    steps: int = 6
    effect: float = 0.01  # standard deviation between runs, on logarithms
    common: float = 0.5  # share of its variance that all operators of a run have in common
    noise: float = 0.02  # standard deviation between steps
    correlation: float = 0.5  # between the noise of consecutive steps
    tails: str = "normal"  # distribution of the noise: one of TAILS; student has 3 degrees of freedom
    run_tails: str = "normal"  # distribution of the run effect
    planted: dict = field(default_factory=dict)  # {number of a kernel: factor in test}
    interleaved: bool = True


def kernel(at):
    """The name of the nth kernel, without a number, because stable names drop numbers."""
    return f"kernel_of_{chr(97 + at % 26)}{chr(97 + at // 26) * (at // 26 > 0)}"


def unit_variance(rng, tails):
    if tails == "student":
        return rng.gauss(0, 1) / math.sqrt(rng.gammavariate(1.5, 2))  # t / sqrt(3), its deviation
    if tails == "lognormal":
        return (math.exp(rng.gauss(0, 1)) - math.exp(0.5)) / math.sqrt((math.e - 1) * math.e)
    return rng.gauss(0, 1)


class Family:
    def __init__(self, rng, plan):
        self.rng, self.plan = rng, plan
        # us: host, device
        self.bases = [(rng.randrange(20, 400), rng.randrange(10, 2000)) for _ in range(plan.operators)]
        order = [(side, run) for run in range(max(plan.runs)) for side in (0, 1) if run < plan.runs[side]]
        if not plan.interleaved:
            order.sort()
        self.starts = {each: START + at * BETWEEN for at, each in enumerate(order)}
        self.runs = [[self.run(side) for _ in range(count)] for side, count in enumerate(plan.runs)]

    def run(self, side):
        """[[(us of host, us of device) per operator] per step] per rank"""
        plan, rng = self.plan, self.rng
        shared = math.sqrt(plan.common) * unit_variance(rng, plan.run_tails)
        own = math.sqrt(1 - plan.common)
        series = []
        for at, bases in enumerate(self.bases):
            for base, factor in zip(bases, (1, plan.planted.get(at, 1) if side else 1)):
                luck = plan.effect * (shared + own * unit_variance(rng, plan.run_tails))
                series.append([self.steps(base * factor * math.exp(luck)) for _ in range(plan.ranks)])
        return [[[tuple(series[2 * at + device][rank][step] for device in (0, 1)) for at in range(plan.operators)]
                 for step in range(plan.steps)] for rank in range(plan.ranks)]

    def steps(self, level):
        """The duration of each step, in integer ns."""
        plan, state, made = self.plan, unit_variance(self.rng, self.plan.tails), []
        for _ in range(plan.steps):
            made.append(max(1, round(1000 * level * math.exp(plan.noise * state))))
            new = math.sqrt(1 - plan.correlation ** 2) * unit_variance(self.rng, plan.tails)
            state = plan.correlation * state + new
        return made

    def sides(self):
        """trace_ab's input from rank 0 in the steady steps: us of each step, for each run."""
        def of(run):
            ends = self.ends(run[0])
            values = {("step", "step"): [(end - before) / 1000 for before, end in zip(ends, ends[1:-1])]}
            for step in run[0][1:-1]:
                values.setdefault(("CPU", STEP_NAME[:-1]), []).append(10.0)
                values.setdefault(("CPU", LAUNCH), []).append(5.0 * len(step))
                for at, (own, work) in enumerate(step):
                    values.setdefault(("CPU", f"aten::op{at}"), []).append(own / 1000)
                    values.setdefault(("GPU", kernel(at)), []).append(work / 1000)
            return values
        return [[of(run) for run in side] for side in self.runs]

    @staticmethod
    def ends(steps):
        """The end of the last work in each step, in ns, like in document()."""
        now, free, ends = 0, 0, []
        for step in steps:
            now += 5000
            for own, work in step:
                free = max(free, now + 4000) + work
                now += own + 5000
            now += 6000
            ends.append(free)
        return ends

    def write(self, folder):
        """Writes folder/control-0/rank0.json ...; returns the patterns of both sides."""
        for side, name in enumerate(("control", "test")):
            for at, run in enumerate(self.runs[side]):
                place = os.path.join(folder, f"{name}-{at}")
                os.makedirs(place, exist_ok=True)
                for rank, steps in enumerate(run):
                    with open(os.path.join(place, f"rank{rank}.json"), "w", encoding="ascii") as file:
                        file.write(self.document(steps, self.starts[side, at]))
        return os.path.join(folder, "control-*"), os.path.join(folder, "test-*")

    @staticmethod
    def document(steps, start):
        events, now, free, correlation = [], 0, 0, 0

        def add(cat, name, pid, tid, ts, dur, args=""):
            events.append(f'{{"ph":"X","cat":"{cat}","name":"{name}","pid":{pid},"tid":{tid},'
                          f'"ts":{ts // 1000}.{ts % 1000:03d},"dur":{dur // 1000}.{dur % 1000:03d}{args}}}')

        for number, step in enumerate(steps):
            begin = now
            now += 5000
            for at, (own, work) in enumerate(step):
                correlation += 1
                args = f',"args":{{"correlation":{correlation},"stream":{STREAM}}}'
                add("cpu_op", f"aten::op{at}", HOST, HOST, now, own + 5000)
                add("cuda_runtime", LAUNCH, HOST, HOST, now + min(1000, own), 5000, args)
                free = max(free, now + 4000)
                add("kernel", kernel(at), DEVICE, STREAM, free, work, args)
                free += work
                now += own + 5000
            now += 5000
            add("user_annotation", f"{STEP_NAME}{number}", HOST, HOST, begin, now - begin)
            now += 1000
        return f'{{"baseTimeNanoseconds":{start},"traceEvents":[\n' + ",\n".join(events) + "]}"


# ---- runs with everything that a reader must handle ----

NAMES = ("aten::mm", "aten::add", "loss", "a.py(12): f", "a.py(30): f", "step", "Optimizer.step#SGD.step")
KERNELS = ("void gemm<float, 4>(int)", "gemm", "void gemm<float, 8>(int)", "triton_poi_fused_add_0",
           "triton_poi_fused_add_1",
           "Memcpy HtoD (Pinned -> Device)")
PRESENCE = ("always",) * 5 + ("some steps", "few steps", "some runs", "control", "test", "zero", "zero runs",
                              "constant")


class Mixed:
    """Small families with hard cases: operators in some runs or steps only, zero times, ranks, odd events, clocks."""

    def __init__(self, rng, runs=None):
        self.rng = rng
        shape = rng.random()
        self.counts = runs or ((rng.randrange(1, 3), rng.randrange(1, 3)) if shape < 0.3 else
                               (rng.randrange(1, 6), rng.randrange(1, 6)))
        self.ranks, self.ordered = rng.choice((1, 1, 2, 3)), rng.choice((None, None, 0, 1))
        self.clock = rng.choice((START, START, START, 0, None))
        self.most_steps = rng.choice((1, 3, 4, 6, 6, 9))
        self.without_steps = rng.random() < 0.08
        self.grid = rng.choice((1, 1, 1000))
        self.host = [(name, rng.choice(PRESENCE), rng.randrange(2, 60) * 1000) for name in
                     rng.sample(NAMES, rng.randrange(2, 6))]
        self.device = [(name, rng.choice(PRESENCE), rng.randrange(2, 90) * 1000) for name in
                       rng.sample(KERNELS, rng.randrange(2, 5))]
        if self.device:  # steps without device work would make the recording incomparable (I6)
            self.device[0] = (self.device[0][0], "always", self.device[0][2])
        self.noise, self.effect, self.slower = rng.choice((0.3, 0.02, 0.003)), rng.choice((0.03, 0.005)), rng.choice(
            (1, 1.08, 1.5, 0.7))
        self.runs = [[self.run(side, at) for at in range(count)] for side, count in enumerate(self.counts)]

    def run(self, side, at):
        """{file name: document}"""
        rng = self.rng
        steps = self.most_steps if rng.random() < 0.7 else rng.randrange(1, 9)
        position = side == self.ordered if self.ordered is not None else rng.random()
        start = None if self.clock is None else self.clock and self.clock + int(
            (position * 8 + rng.random() * 0.9) * BETWEEN)
        luck = {each[0]: math.exp(self.effect * rng.gauss(0, 1)) for each in self.host + self.device}
        absent = {each[0] for each in self.host + self.device if self.misses(each[1], side)}
        # kernels without a duration would make the recording incomparable (I3)
        copies = [each for each in self.device if each[0].startswith("Memcpy")]
        zero = {each[0] for each in self.host + copies if each[1] == "zero" or (
            each[1] == "zero runs" and rng.random() < 0.5)}
        first = rng.randrange(3)
        return {f"rank{rank}.json": self.file(side, steps - (rank > 0 and steps > 1 and rng.random() < 0.2), start,
                                              luck,
                                              absent, zero, first)
                for rank in range(self.ranks)}

    def misses(self, presence, side):
        return (presence == "control" and side == 1) or (presence == "test" and side == 0) or (
            presence == "some runs" and self.rng.random() < 0.4)

    def lasts(self, each, side, luck, zero):
        name, presence, base = each
        if name in zero:
            return 0
        if presence == "constant":
            return base
        factor = luck[name] * math.exp(self.noise * self.rng.gauss(0, 1))
        if each in (self.host[0], self.device[0]) and side:
            factor *= self.slower
        return max(1, round(base * factor / self.grid)) * self.grid

    def file(self, side, steps, start, luck, absent, zero, first):
        rng, now, correlation = self.rng, self.rng.randrange(1_000_000), 0
        events, free = [], 0

        def add(cat, name, pid, tid, ts, dur, **args):
            event = {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts / 1000, "dur": dur / 1000}
            events.append({**event, "args": args} if args else event)

        def present(each):
            return each[0] not in absent and rng.random() < {"some steps": 0.7, "few steps": 0.3}.get(each[1], 1)

        for number in range(first, first + steps):
            begin, now = now, now + 1000
            for each in filter(present, self.host):
                inner, dur = rng.choice((0, 1000)) * (each[0] not in zero), self.lasts(each, side, luck, zero)
                add("cpu_op", each[0], HOST, HOST, now, dur + inner)
                if inner:
                    add("cpu_op", "aten::empty", HOST, HOST, now, inner)
                now += dur + inner + 500
            for each in filter(present, self.device):
                correlation, free = correlation + 1, max(free, now + 500)
                add("cuda_runtime", LAUNCH, HOST, HOST, now, 2000, correlation=correlation)
                work = self.lasts(each, side, luck, zero)
                cat = "gpu_memcpy" if each[0].startswith("Memcpy") else "kernel"
                add(cat, each[0], DEVICE, STREAM, free, work, correlation=correlation, stream=STREAM)
                now, free = now + 2500, free + work
            if rng.random() < 0.2:
                add("gpu_user_annotation", "## forward ##", DEVICE, STREAM, now, 1500, stream=STREAM)
                add("cuda_sync", "Stream Sync", DEVICE, STREAM, now, 700, stream=STREAM, correlation=correlation)
            now += 1000
            if not self.without_steps:
                add("user_annotation", f"{STEP_NAME}{number}", HOST, HOST, begin, now - begin)
            now += rng.choice((0, 700))
            if rng.random() < 0.1:
                add("cpu_op", "aten::mm", HOST, HOST, now + 10, 300)  # between two steps
                now += 400
        if not events:
            add("cpu_op", "aten::mm", HOST, HOST, now, 300)
        rng.shuffle(events)
        clock = {} if start is None else {"baseTimeNanoseconds": start}
        return {**clock, "traceEvents": events}

    def write(self, folder):
        """Writes folder/control-0/rank0.json ...; returns the patterns of both sides."""
        for name, side in zip(("control", "test"), self.runs):
            for at, run in enumerate(side):
                os.makedirs(place := os.path.join(folder, f"{name}-{at}"), exist_ok=True)
                for file_name, document in run.items():
                    with open(os.path.join(place, file_name), "w", encoding="ascii") as file:
                        json.dump(document, file)
        return os.path.join(folder, "control-*"), os.path.join(folder, "test-*")


# ---- rates ----

CONFIGURATIONS = [(operators, effect, runs) for operators in (8, 40) for effect in (0.01, 0.03) for runs in (3, 5)]


def judged(family, oracle_ab, **options):
    sides = [[oracle_ab.Run(family.plan.steps - 2, values, START) for values in side] for side in family.sides()]
    return oracle_ab.judge(*sides, **options)


def rates(families, plan, seed):
    """(share of rows at p <= 0.05, share of families with a verdict, power for 5 and for 10 percent, median
    detectable)
    """
    import oracle_ab
    rows = alarms = spoilt = 0
    found, detectable = [], []
    for at in range(families):
        made = judged(Family(random.Random(seed + at), plan), oracle_ab)
        varied = [row for row in made if row.detectable]
        rows += len(varied)
        alarms += sum(row.p_value <= 0.05 for row in varied)
        spoilt += any(row.verdict in ("slower", "faster") for row in made)
        detectable += [row.detectable for row in varied]
    for factor in (1.05, 1.1):
        found.append(sum(row.verdict == "slower" for at in range(families) for row in judged(
            Family(random.Random(seed + at), replace(plan, planted={PLANTED: factor})), oracle_ab)
            if row.name == kernel(PLANTED)))
    return alarms / rows, spoilt / families, *(each / families
                                               for each in found), sorted(detectable)[len(detectable) // 2]


def table(families):
    print("| operators | between runs | runs per side | rows at p <= 0.05 | families with a verdict | finds 5 % | finds"
          " 10 % "
          "| median `detectable` |\n|---:|---:|---:|---:|---:|---:|---:|---:|")
    for at, (operators, effect, runs) in enumerate(CONFIGURATIONS):
        rows, spoilt, five, ten, detectable = rates(
            families, Plan((runs, runs), operators=operators, effect=effect, tails="student"), at * 1_000_000)
        print(f"| {2 * operators} | {100 * effect:.0f} % | {runs} | {100 * rows:.1f} % | {100 * spoilt:.1f} % "
              f"| {100 * five:.0f} % | {100 * ten:.0f} % | {detectable:.1f} % |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--table"]:
        table(int((sys.argv[2:] or ["1000"])[0]))
    else:
        print(*Family(random.Random(int((sys.argv[2:] or ["1"])[0])), Plan()).write(sys.argv[1]), sep="\n")
