"""Pairs of traces for comparing two builds: hostile names, incomplete traces, random pairs of all generators.

    for label, control, test in write_pairs("some/folder"): ...

Pairs are written below the folder. A label begins with its kind: hostile, odd, planted, random.
"""
import os
import random

import generate_gains
import generate_job
import generate_odd
import generate_serving
import generate_waits
import test_mostly
import traces
from made import document, event, write

HOSTILE = {
    "quotes": "it's \"quoted\" `so`", "backslash": "C:\\new\\table\\", "newline": "first\nsecond\r\n\tthird",
    "bidi": "abc\u202edcba\u2066\u200f", "percent": "100%s %d %.*f %%", "rank": "aten::add, only on rank 1",
    "copies": "copies: mine", "before": "before backward", "between": "between aten::mm and aten::add",
    "long": "a_very_long_name_" * 40, "long_words": "many words in a name " * 20, "wide": "\u4e2d\u6587" * 80,
    "nul": "before\0after", "emoji": "\U0001f600 \U0001f469\u200d\U0001f4bb", "empty": "", "blank": " ",
    "control": "bell\a esc\x1b[31m", "surrogate": "half \ud83d", "json": '["a", {"b": null}]',
    "sql": "'); DROP TABLE t; --",
    "html": "</script><b>&lt;i&gt;", "undone": "x; a fix saves 0.010 ms, hidden by y", "like": "a_b%c", "number": "123",
    "step": "ProfilerStep#2", "hash": "worker#3", "template": "void f<int, g<(h)1>>(int)", "colons": "::a::b::",
    "arrow": "4 -> 8 per step", "caution": "caution: work: rest", "null": "NULL",
    "unicode": "e\u0301\u00e9 \u00df\u0130",
    "replacement": "\ufffd\ufeff", "separator": "a\u2028b\u2029c", "backward": "MulBackward0", "phase": "decode"}
# two names that look alike
ALIKE = [("aten::mm", "autograd::engine::evaluate_function: aten::mm"), ("MulBackward0", "autograd::engine::"
         "evaluate_function: MulBackward0"), ("f<int>", "f<float>"), ("void f(int)", "f(int)"),
         ("triton_poi_fused_add_3", "triton_poi_fused_add_4"), ("a.py(10): f", "a.py(20): f"),
         ("enumerate(DataLoader)#A.__next__", "enumerate(DataLoader)#B.__next__"), ("op\0a", "op\0b"),
         ("x" * 300 + "a", "x" * 300 + "b")]


class Program:
    """A training rank: the host runs ahead, and two streams run their work in order. Times are us."""

    def __init__(self, chance, rank=0):
        self.chance, self.rank, self.events = chance, rank, []
        self.now, self.free, self.correlation = 1000.0, {7: 0.0, 20: 0.0}, 1000 * rank

    def noisy(self, us):
        return round(us * self.chance.uniform(0.99, 1.01), 3)

    def add(self, name, start, end, cat="cpu_op", tid=1, **args):
        self.events.append(event(name, round(start, 3), round(end - start, 3), cat=cat, tid=tid, args=args))

    def launched(self, name, dur, cat="kernel", stream=7, **args):
        self.correlation += 1
        start = self.now
        self.now += self.noisy(4)
        self.add("cudaLaunchKernel" if cat == "kernel" else "cudaMemcpyAsync", start, self.now, "cuda_runtime",
                 correlation=self.correlation)
        begin = max(self.free[stream], self.now + 2)
        self.free[stream] = begin + self.noisy(dur)
        self.events.append(event(name, round(begin, 3), round(self.free[stream] - begin, 3), cat=cat, pid=0, tid=stream,
                                 args={"correlation": self.correlation, "stream": stream, "device": 0, **args}))

    def operator(self, name, kernel=None, dur=30, times=1, host=10, tid=1, **work):
        for _ in range(times):
            start = self.now
            self.now += self.noisy(host) / 2
            if kernel is not None:
                self.launched(kernel, dur, **work)
            self.now += self.noisy(host) / 2
            self.add(name, start, self.now, tid=tid, **{"Input Dims": [[8, 16]], "Input type": ["float"]})

    def wait(self, name, call="cudaStreamSynchronize"):
        start = self.now
        self.now = max(self.now + 1, max(self.free.values()))
        self.add(call, start + 0.5, self.now, "cuda_runtime", stream=7)
        self.now += 1
        self.add(name, start, self.now)


# Roles of the name in test's additional work.
ROLES = ("kernel", "operator", "new", "gone", "count", "gap", "sync", "loader", "copies", "annotation", "frame", "comm",
         "one_rank", "replaced", "backward", "outlier")
NAMED = ("operator", "one_rank", "new", "gone", "count", "copies", "outlier")  # the operator with the name


def program(seed, role, name, other, is_test, rank=0, ranks=1, steps=5, slow=2.0):
    """The events of a rank. In test, `role` gives the difference; `name` is the hostile name, next to `other`."""
    one = Program(random.Random(f"{seed}{is_test}{rank}"), rank)
    more = is_test and (role != "one_rank" or rank == ranks - 1)

    def times(of, usual=1):
        return usual * slow if more and role in of else usual

    for number in range(steps):
        one.free = {stream: max(free, one.now) for stream, free in one.free.items()}
        begin = one.now
        start = one.now
        one.now += one.noisy(30) * times(("loader",)) + (300 if more and role == "loader" else 0)
        one.add(f"enumerate(DataLoader)#{name if role == 'loader' else '_Iter'}.__next__", start, one.now,
                "user_annotation")
        forward = one.now
        one.operator("aten::mm", "sgemm_128", 60)
        middle = one.now
        if role != "new" or more:
            if role != "gone" or not more:
                one.operator(name if role in NAMED else other, name if role == "kernel" else "elementwise_kernel",
                             40 * times(("kernel", "operator", "one_rank", "annotation", "frame")),
                             times=3 if more and role == "count" else 1,
                             **({"cat": "gpu_memcpy", "bytes": 4096} if role == "copies"
                                else {"grid": [8, 1, 1], "block": [128, 1, 1]}))
        one.add(name if role == "frame" else "model.py(10): block", middle - 0.1, one.now + 0.1, "python_function",
                **{"Python id": number * 2 + 1})
        if role in ("annotation", "frame"):
            one.add(name if role == "annotation" else "forward", forward - 0.2, one.now + 0.2, "user_annotation")
        if more and role == "copies":
            one.operator(name, "Memcpy DtoD (Device -> Device)", 50, times=2, cat="gpu_memcpy", bytes=4096)
        if more and role == "gap":
            one.now = max(one.free.values()) + 250
        if more and role == "outlier" and number == 2:
            one.now += 4000
        one.operator(name if role == "gap" else "aten::relu", "vectorized_kernel", 25)
        if role == "sync" and is_test:
            one.wait(name)
        if role == "replaced":
            for each in ((name,) if is_test else (other, "aten::mul", "aten::add")):
                one.operator(each, "fused" if is_test else "pointwise", 45 if is_test else 30)
        backward = name if role == "backward" else "MmBackward0"
        one.operator(f"autograd::engine::evaluate_function: {backward}", "sgemm_64", 50 * times(("backward",)), tid=2)
        if ranks > 1:
            one.operator("nccl:all_reduce" if role != "comm" else name, "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                         35 * times(("comm",)), stream=20)
        one.operator("Optimizer.step#SGD.step", "adam_kernel", 20)
        one.wait("aten::item", "cudaDeviceSynchronize")
        one.now += 5
        one.add(f"ProfilerStep#{number}", begin, one.now, "user_annotation")
        one.now += 3
    return one.events


def write_program(folder, seed, role, name, other, is_test, ranks=1, steps=5, slow=2.0):
    for rank in range(ranks):
        events = program(seed, role, name, other, is_test, rank, ranks, steps, slow)
        write(os.path.join(folder, f"rank{rank}.json"), document(
            *events, deviceProperties=[{"id": 0, "name": "made", "numSms": 8}],
            distributedInfo={"rank": rank, "world_size": ranks, "backend": "nccl"}))


def hostile_pairs(folder):
    """Each hostile name in each role, alternating between one rank and two."""
    for place, (of_name, name) in enumerate(HOSTILE.items()):
        for number, role in enumerate(ROLES):
            ranks = 2 if role in ("one_rank", "comm") or (place + number) % 3 == 0 else 1
            yield f"hostile/{of_name}/{role}", dict(role=role, name=name, other="aten::softmax", ranks=ranks,
                                                    slow=(2.0, 1.06, 12.0)[(place + number) % 3])
    for place, (name, other) in enumerate(ALIKE):
        for role in ("operator", "kernel", "replaced", "count", "copies", "loader", "new", "gap"):
            yield f"hostile/alike{place}/{role}", dict(role=role, name=name, other=other, ranks=1 + place % 2)


def without(kind):
    """A change to the events of a side."""
    on_device = ("kernel", "gpu_memcpy")
    return {
        "steps": lambda events: [each for each in events if not each["name"].startswith("ProfilerStep")],
        "device": lambda events: [each for each in events if each["cat"] not in on_device],
        "host": lambda events: [each for each in events if each["cat"] in on_device],
        "operators": lambda events: [each for each in events if each["cat"] != "cpu_op"],
        "launches": lambda events: [each for each in events if each["cat"] != "cuda_runtime"],
        "args": lambda events: [{key: value for key, value in each.items() if key != "args"} for each in events],
        "all": lambda events: [],
        "durations": lambda events: [{**each, "dur": 0} for each in events],
        "nothing": lambda events: events,
        "loaded": lambda events: [{**each, "dur": each["dur"] * 1.6} if each["cat"] == "cpu_op" else each
                                  for each in events],
        "double": lambda events: [{**each, "args": {**each["args"], "Input type": ["double"]}}
                                  if "Input type" in each.get("args", {}) else each for each in events],
        "larger": lambda events: [{**each, "args": {**each["args"], "Input Dims": [[64, 16]]}}
                                  if "Input Dims" in each.get("args", {}) else each for each in events]}[kind]


def stretched(events, host=1.0, device=1.0):
    """Scales host operators, one after another, by a factor, and device work by another."""
    made, moved = [], 0.0
    for each in sorted(events, key=lambda event: event["ts"]):
        factor = device if each["cat"] in ("kernel", "gpu_memcpy") else host
        made.append({**each, "ts": round(each["ts"] * host, 3), "dur": round(each["dur"] * factor + moved, 3)})
    return made


def write_events(folder, events, rank=0, **head):
    usual = {"deviceProperties": [{"id": 0, "name": "made"}], "distributedInfo": {"rank": rank}}
    write(os.path.join(folder, f"rank{rank}.json"), document(*events, **{**usual, **head}))


def odd_pairs(folder):
    """Incomplete traces, on one side and on both, and other devices, options and lengths."""
    usual = [program("odd", "operator", "mine", "aten::softmax", side) for side in (False, True)]
    for kind in ("steps", "device", "host", "operators", "launches", "args", "all", "durations", "nothing", "loaded",
                 "double", "larger"):
        for sides in ((0,), (1,), (0, 1)):
            place = os.path.join(folder, "odd", kind, "".join(map(str, sides)))
            for side, word in enumerate(("control", "test")):
                write_events(os.path.join(place, word), without(kind)(usual[side]) if side in sides else usual[side])
            yield f"odd/{kind}/{''.join(map(str, sides))}", place
    for count in ((1, 1), (1, 5), (2, 2), (3, 3), (4, 4), (5, 12), (40, 40)):
        place = os.path.join(folder, "odd", "steps", "%d_%d" % count)
        for side, word in enumerate(("control", "test")):
            write_events(os.path.join(place, word),
                         program("steps", "operator", "mine", "other", side, steps=count[side]))
        yield "odd/steps/%d_%d" % count, place
    for host in (0.5, 0.9, 1.05, 1.3, 2.0):
        for kind in ("nothing", "device"):
            for device in (1.0, 1.07, 1.5):
                place = os.path.join(folder, "odd", f"load_{host}", f"{kind}_{device}")
                write_events(os.path.join(place, "control"), without(kind)(usual[0]))
                write_events(os.path.join(place, "test"), stretched(without(kind)(usual[0]), host, device))
                yield f"odd/load_{host}/{kind}_{device}", place
    heads = {"device": {"deviceProperties": [{"id": 0, "name": "another"}]}, "no_device": {"deviceProperties": []},
             "options": {"with_stack": 1, "profile_memory": 1, "record_shapes": 1},
             "versions": {"schemaVersion": 2, "torch_version": "2.9", "cuda_driver_version": 12040},
             "world": {"distributedInfo": {"rank": 0, "world_size": 8}}, "rank": {"distributedInfo": {"rank": 3}}}
    for name, head in heads.items():
        place = os.path.join(folder, "odd", "head", name)
        for side, word in enumerate(("control", "test")):
            write_events(os.path.join(place, word), usual[side], **(head if side else {}))
        yield f"odd/head/{name}", place


class Numbers:
    """The numbers that decide an answer: duration, count and size of operators and kernels, number of steps, pauses.
    All are drawn close to where the answer changes.
    """

    def __init__(self, rng):
        self.rng, self.forms = rng, rng.choice((1, 1, 1, 2, 4))
        factors = (1, 1, 1.004, 1.006, 1.018, 1.022, 1.06, 1.14, 1.17, 1.3, 0.8)
        self.device, self.host = (rng.choice(factors) for _ in range(2))
        self.changes, self.slow_forms = rng.choice((0, 0.1, 0.4)), rng.choice((1, 1, 2, 3))
        self.noise, self.jitter = rng.choice((0, 0.01, 0.04, 0.06, 0.3)), rng.choice((0, 0, 0.002, 0.01, 0.05))
        self.gap, self.has_device = rng.choice((1, 5, 60)), rng.random() < 0.8
        least = rng.choice((3, 30))
        self.operators = [self.operator(f"mine::op{number}", least) for number in range(rng.choice((2, 3, 4, 6, 10)))]
        self.steps = [rng.choice((2, 3, 4, 5, 8, 9, 12, 21, 45)) * (1 + self.forms // 2) for _ in range(2)]
        self.pauses = [[(rng.randrange(steps), rng.choice((0.06, 0.16, 0.3, 0.45, 0.55, 0.65, 1.2, 4)))
                        for _ in range(rng.choice((0, 0, 1, 1, 2, 5, 7)))] for steps in self.steps]
        self.wobble, self.slow_part = rng.choice((0, 0, 0.004, 0.03, 0.22)), rng.choice((0, 0, 0, 0.15, 0.3, 0.5, 0.8))
        self.slow_ratio = rng.choice((1.018, 1.1, 1.4, 1.6, 2))

    def operator(self, name, least):
        rng = self.rng
        us, host, count = least * rng.choice((1, 2, 4, 10)), rng.choice((5, 12, 40)), rng.choice((1, 1, 2))
        usual = {"name": name, "kernel": "k" + name, "us": us, "host": host, "count": count, "shapes": [[8, 16]],
                 "types": ["float"], "grid": [8, 1, 1]}
        other = {**usual, "us": us * self.device * self.noisy(self.noise),
                 "host": host * self.host * self.noisy(self.noise)}
        change = rng.choice(("count", "shapes", "types", "grid", "kernel", "none", "host", "us"))
        if rng.random() < self.changes:
            other[change] = {"count": count + 1, "shapes": [[9, 16]], "types": ["double"], "grid": [16, 1, 1],
                             "kernel": "another", "host": host * 1.6, "us": us * 1.6}.get(change)
            other = None if change == "none" else other
        return usual, other

    def noisy(self, part):
        return 1 + self.rng.uniform(-part, part)

    def events(self, side):
        made, now, free, correlation, whole = [], 1000.0, 0.0, 0, []
        for number in range(self.steps[side]):
            form, begin = self.rng.randrange(self.forms), now
            of_step = self.noisy(self.wobble) * (self.slow_ratio if side and self.rng.random() < self.slow_part else 1)
            slower = self.device if side and self.forms > 1 and form < self.slow_forms else 1
            for each in filter(None, (operator[side] for operator in self.operators)):
                for _ in range(each["count"]):
                    start, length = now, each["host"] * self.noisy(self.jitter) * of_step + 4
                    now += length
                    made.append(event(each["name"], round(start, 3), round(length, 3),
                                      args={"Input Dims": each["shapes"], "Input type": each["types"]}))
                    if self.has_device:
                        correlation += 1
                        made.append(event("cudaLaunchKernel", round(start + 1, 3), 2, cat="cuda_runtime",
                                          args={"correlation": correlation}))
                        free = max(free, start + 4)
                        dur = each["us"] * (1 + form) * slower * self.noisy(self.jitter) * of_step
                        made.append(event(
                            each["kernel"], round(free, 3), round(dur, 3), cat="kernel", pid=0, tid=7,
                            args={"correlation": correlation, "stream": 7, "grid": each["grid"], "block": [128, 1, 1]}))
                        free += dur
                    now += self.gap
            now = max(now, free if self.has_device else 0)
            whole.append(now - begin)
            for pause in (part for place, part in self.pauses[side] if place == number):
                now += whole[0] * pause
            name = f"ProfilerStep#{number}"
            if self.forms > 1:
                name = f"execute_context_0(0)_generation_{form + 1}({form + 1})"
            made.append(event(name, round(begin, 3), round(now - begin + 0.5, 3), cat="user_annotation"))
            now += 1
        return made


def numbers_pairs(folder, count):
    for seed in range(count):
        place = os.path.join(folder, "random", "numbers", str(seed))
        numbers = Numbers(random.Random(f"numbers{seed}"))
        for side, word in enumerate(("control", "test")):
            write_events(os.path.join(place, word), numbers.events(side))
        yield f"random/numbers/{seed}", place


def random_pairs(folder, count):
    for seed in range(count):
        for name in ("waits", "gains", "gains_other", "job", "serving", "training", "unplanned"):
            place = os.path.join(folder, "random", name, str(seed))
            sides = [os.path.join(place, side) for side in ("control", "test")]
            rng = random.Random(f"{name}{seed}")
            if name == "waits":
                generate_waits.write_pair(*sides, seed)
            elif name.startswith("gains"):
                generate_gains.write_gains_pair(*sides, seed, other=name == "gains_other")
            elif name == "job":
                for number, side in enumerate(sides):
                    generate_job.write_job(side, seed + number * (seed % 2) * 1000, most=4, on_host=seed % 3 == 0)
            elif name == "unplanned":
                generate_odd.write_odd_pair(*sides, seed)
            elif name == "serving":
                for side in sides:
                    for file, content in generate_serving.generate(rng).files.items():
                        write(os.path.join(side, file), content)
            else:
                ranks, steps = rng.choice((1, 2)), rng.choice((1, 3, 4))
                for side in sides:
                    traces.save(traces.generate(rng, ranks=ranks, steps=steps, odd=seed % 2 == 0), side,
                                traces.Style(random.Random(0)))
            yield f"random/{name}/{seed}", place


def planted_pairs(folder):
    """The pairs of test_mostly: a clock, load, types, pauses, and combinations."""
    each = [(control, test) for control, test, *_ in test_mostly.CASES] + [(same, same) for same in test_mostly.SAME]
    for number, (control, test) in enumerate(each):
        place = os.path.join(folder, "planted", str(number))
        test_mostly.record(os.path.join(place, "control"), f"c{number}", **control)
        test_mostly.record(os.path.join(place, "test"), f"t{number}", **test)
        yield f"planted/{number}", place


def write_pairs(folder, series=40, wanted=lambda label: True):
    """Yields (label, control, test) of each pair, written below the folder. Pairs with unwanted labels are skipped."""
    for number, (label, how) in enumerate(hostile_pairs(folder)):
        if wanted(label):
            place = os.path.join(folder, *label.split("/"))
            for side, word in enumerate(("control", "test")):
                write_program(os.path.join(place, word), number, is_test=bool(side), **how)
            yield label, *(os.path.join(place, word) for word in ("control", "test"))
    for pairs in (odd_pairs(folder), planted_pairs(folder), numbers_pairs(folder, 10 * series),
                  random_pairs(folder, series)):
        for label, place in pairs:
            if wanted(label):
                yield label, *(os.path.join(place, word) for word in ("control", "test"))
