"""Random traces in Kineto's format, and many ways to write the same trace.

    traces.generate(rng)                    {file name: File}, everything that a training run on a few ranks records
    traces.read(folder)                     the same from a folder of traces
    traces.save(files, folder, Style(rng))  writes the files; Style's changes must not matter

Times are integer nanoseconds here (`ts` and `dur` of an event; absent values, and values that are not integers, are
written unchanged); in a file they are decimal microseconds.
"""
import functools
import gzip
import json
import os
import re
from decimal import ROUND_HALF_EVEN, Decimal

from made import write

HOST, FORWARD, BACKWARD, LOADER = 1000, 1001, 1002, 1003  # process, and its threads
STREAMS = (7, 20, 24)
COMM = 20
NAMES = ("aten::mm", "aten::linear", "aten::addmm", "aten::copy_", "aten::add_", "aten::native_layer_norm",
         "autograd::engine::evaluate_function: MmBackward0", "Optimizer.step#SGD.step")
FRAMES = ("train.py(10): main", "torch/nn/modules/linear.py(114): forward", "<built-in function linear>",
          "nn.Module: Linear_0", "nn.Module: Linear_1", "nn.Module: Block_0")
KERNELS = ("void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, at::detail::Array<char*,"
           " 3> >(int, at::native::AddFunctor<float>)", "ampere_sgemm_128x64_tn",
           "void cutlass::Kernel<cutlass_80>(Params)",
           "triton_poi_fused_add_0", "caf\u00e9 \"quoted\" \\ kernel", "\u6838 \U0001f600")
COLLECTIVES = ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ncclKernel_AllGather_RING")
COPIES = ("Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pageable)", "Memcpy DtoD (Device -> Device)")
TIMES = ("ts", "dur")
UNKNOWN = ('{"ts": 1, "args": {"stream": 5}, "ph": "M"}', '["]", {"}": "{"}]', "null", "-1e9", '"\\"traceEvents\\""')
SHAPES = ("[[8, 512], [512, 64]]", "[[8], []]", "[]")


class File:
    """base is baseTimeNanoseconds or None, head has the other top-level keys, events the elements of traceEvents."""

    def __init__(self, events, head=None, base=None):
        self.events, self.head, self.base = events, dict(head or {}), base

    def changed(self, alter, **keys):
        """A copy with `alter(copy of an event)` for each event."""
        return File([alter(copied(event)) for event in self.events], keys.get("head", self.head),
                    keys.get("base", self.base))


def copied(event):
    if not isinstance(event, dict):
        return event
    made = dict(event)
    if isinstance(made.get("args"), dict):
        made["args"] = dict(made["args"])
    return made


# ---- one rank at random ----------------------------------------------------------------------------------------------

class Rank:
    """Generates one rank: the host's clock advances, and the device follows."""

    def __init__(self, rng, rank, grid, unit):
        self.rng, self.rank, self.grid, self.unit = rng, rank, grid, unit
        self.events, self.correlation, self.external = [], 100 * rank, 0
        self.free = {stream: 0 for stream in STREAMS}  # when each stream is idle

    def span(self, most):
        """A random length of up to `most` units, on the grid."""
        return self.rng.randrange(1, 1 + most * self.unit // self.grid) * self.grid

    def add(self, name, start, dur, cat, pid=HOST, tid=FORWARD, args=None, **others):
        event = {"ph": "X", "cat": cat, "name": name, "pid": pid + self.rank * (pid == HOST), "tid": tid, "ts": start,
                 "dur": dur, **others}
        if args is not None:
            event["args"] = args
        self.events.append(event)
        return event

    def work(self, name, start, dur, cat, stream, correlation=None, **args):
        if correlation is not None:
            args = {"correlation": correlation, **args}
        return self.add(name, start, dur, cat, self.rank, stream,
                        {"External id": self.external, "device": self.rank, "stream": stream, **args})

    def enqueue(self, name, called, dur, cat, stream, correlation, **args):
        """Device work as early as its stream is free; rarely on top of other work."""
        start = max(called + self.span(6), self.free[stream] + self.rng.choice((0, 0, self.span(3))))
        if self.rng.random() < 0.05:
            start = called + self.span(4)
        self.free[stream] = max(self.free[stream], start + dur)
        return self.work(name, start, dur, cat, stream, correlation, **args)

    def launch(self, at, thread):
        """A call and the work that it launches; returns its end."""
        kind, self.correlation = self.rng.random(), self.correlation + 1
        dur, stream, number = self.span(8), self.rng.choice(STREAMS), self.correlation
        call, cat = "cudaLaunchKernel", "cuda_runtime"
        if kind < 0.15:
            call = self.rng.choice(("cudaMemcpyAsync", "cudaMemsetAsync"))
            copy = call == "cudaMemcpyAsync"
            self.enqueue(self.rng.choice(COPIES) if copy else "Memset (Device)", at, self.span(20),
                         "gpu_memcpy" if copy else "gpu_memset", stream, number,
                         **{"bytes": 4096, "memory bandwidth (GB/s)": self.rng.choice((0.5, 12.25, 300))})
        elif kind < 0.25:
            call = "cudaGraphLaunch"
            for _ in range(self.rng.randrange(5)):
                self.enqueue(self.rng.choice(KERNELS), at, self.span(10), "kernel", self.rng.choice(STREAMS), number,
                             **{"graph id": 1})
        elif kind < 0.32:
            call = "cudaStreamSynchronize"
            wait = max(self.free[stream] - at, dur)
            self.work("Stream Sync", at + 1, wait, "cuda_sync", stream, number)
            dur = wait + self.span(2)
        elif kind < 0.36:
            pass  # its work was not recorded
        else:
            if kind < 0.5:
                call, cat = "cuLaunchKernel", "cuda_driver"
            self.enqueue(self.rng.choice(KERNELS), at, self.span(30), "kernel", stream, number)
        self.add(call, at, dur, cat, tid=thread, args={"External id": self.external, "correlation": number})
        return at + dur

    def operators(self, at, thread, depth, count):
        """Adjacent events from `at`, with nested ones; returns their end."""
        for _ in range(count):
            at += self.rng.choice((0, self.span(2)))
            if depth == 0 or self.rng.random() < 0.35:
                at = self.launch(at, thread) if self.rng.random() < 0.7 else self.leaf(at, thread)
                continue
            self.external += 1
            event = self.add(*self.named(), tid=thread, args={"External id": self.external})
            if event["cat"] == "cpu_op":
                event["args"]["Input Dims"] = json.loads(self.rng.choice(SHAPES))
            first = len(self.events)
            end = self.operators(at + self.rng.choice((0, self.span(2))), thread, depth - 1, self.rng.randrange(1, 4))
            event["ts"], event["dur"] = at, end - at + self.rng.choice((0, self.span(3)))
            if event["cat"] == "user_annotation":
                self.mirror(event, self.events[first:])
            at = event["ts"] + event["dur"]
        return at

    def named(self):
        """Name, start, duration and category of an event whose time is still unknown."""
        kind = self.rng.random()
        if kind < 0.25:
            return self.rng.choice(FRAMES), 0, 0, "python_function"
        if kind < 0.4:
            return self.rng.choice(("## forward ##", "loss", "caf\u00e9")), 0, 0, "user_annotation"
        return self.rng.choice(NAMES), 0, 0, "cpu_op"

    def leaf(self, at, thread):
        dur = self.span(15)
        self.add(self.rng.choice(NAMES), at, dur, "cpu_op", tid=thread)
        return at + dur

    def mirror(self, annotation, inside):
        """A device annotation around the work launched inside."""
        work = [event for event in inside if event["cat"] in ("kernel", "gpu_memcpy", "gpu_memset")]
        if work and self.rng.random() < 0.7:
            start = min(event["ts"] for event in work)
            end = max(event["ts"] + event["dur"] for event in work)
            self.work(annotation["name"], start, end - start, "gpu_user_annotation", work[0]["tid"])
            self.events[-1]["args"]["External id"] = annotation["args"]["External id"]

    def collective(self, at, number):
        """The nth collective of this rank, which runs on all ranks at once."""
        self.correlation += 1
        group = ({"Process Group Name": "0"}, {"Process Group Description": "default_pg"}, {},
                 {"Process Group Name": "1", "Process Group Ranks": "[0, 1]"})[number % 4]
        self.enqueue(COLLECTIVES[number % 2], at, 60 * self.unit + self.span(9), "kernel", COMM, self.correlation,
                     **group)
        self.add("cudaLaunchKernelExC", at, self.span(4), "cuda_runtime", args={"correlation": self.correlation})

    def step(self, number, at):
        start = at
        self.external += 1
        at = self.operators(at + self.rng.choice((0, self.span(5))), FORWARD, 3, self.rng.randrange(2, 6))
        at = max(at, start + 500 * self.unit)
        for each in range(2):
            at += self.span(5)
            self.collective(at, 3 * number + each)
            at += 90 * self.unit + self.span(5)
        if self.rng.random() < 0.7:
            at = max(at, self.operators(start + self.span(20), BACKWARD, 2, 3))
        if self.rng.random() < 0.4:
            self.add("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", start, self.span(30),
                     "user_annotation", tid=LOADER)
        self.add(f"ProfilerStep#{number}", start, at - start, "user_annotation",
                 args={"External id": self.external, "Record function id": 0})
        if self.rng.random() < 0.3:
            self.add(f"ProfilerStep#{number}", start + self.unit, at - start, "gpu_user_annotation", self.rank, 7,
                     {"stream": 7})
        return at


def oddities(rng, rank, span):
    """Events that a careful reader leaves out of sums: without a name, a time, a duration or a category."""
    at = lambda: rng.randrange(span)
    base = {"ph": "X", "cat": "cpu_op", "pid": HOST + rank, "tid": FORWARD}
    kernel = {"ph": "X", "cat": "kernel", "pid": rank, "tid": 7, "args": {"stream": 7}}
    return [{**base, "ts": at(), "dur": 1000}, {**base, "name": None, "ts": at(), "dur": 1000},
            {**base, "name": "without a duration", "ts": at()}, {**base, "name": "negative", "ts": at(), "dur": -5000},
            {**base, "name": "without a time", "dur": 7000}, {**base, "name": "text", "ts": "soon", "dur": 7000},
            {**base, "name": "B alone", "ph": "B", "ts": at()}, {**base, "name": "no category", "cat": None, "ts": at(),
                                                              "dur": 3000},
            {**kernel, "ts": at(), "dur": 2000}, {**kernel, "name": "kernel without a duration", "ts": at()},
            {"ph": "X", "name": "in a process of the device", "pid": 90 + rank, "tid": 3, "ts": at(), "dur": 2000,
             "args": {"stream": 3}},
            {"ph": "i", "name": "instant", "s": "t", "pid": HOST + rank, "tid": FORWARD, "ts": at()},
            {"ph": "C", "name": "counter", "pid": HOST + rank, "ts": at(), "args": {"value": 3}},
            {"ph": "s", "id": 5, "cat": "ac2g", "name": "ac2g", "pid": HOST + rank, "tid": FORWARD, "ts": at()},
            {"ph": "f", "id": 5, "cat": "ac2g", "name": "ac2g", "pid": rank, "tid": 7, "ts": at(), "bp": "e"}]


def generate(rng, ranks=2, steps=4, first=0, odd=True, grid=None, unit=1000):
    """A run with this many ranks. Times are on a grid of ns; a coarse one makes ties. Lengths consist of `unit` ns, and
    a step takes about 700 units. `odd` adds events that a careful reader leaves out of sums.
    """
    grid = grid or rng.choice((1, 1, 1000))
    made = {}
    for rank in range(ranks):
        grown, at = Rank(rng, rank, grid, unit), 20 * unit
        backlog = [grown.work(rng.choice(KERNELS), at + n * 4 * unit, grown.span(3), "kernel", 7,
                              rng.choice((None, 0, 90000 + n))) for n in range(rng.randrange(3))]
        grown.free[7] = at + 4 * len(backlog) * unit
        for number in range(first, first + steps):
            at = grown.step(number, at) + rng.choice((0, grown.span(10)))
        if rng.random() < 0.7:
            at = grown.operators(at + unit, FORWARD, 1, 2)
        span = {"cat": "Trace", "ph": "X", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler"}
        grown.events.append({**span, "ts": 0, "dur": at + 100 * unit})
        if odd:
            grown.events += oddities(rng, rank, at)
        names = [{"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "ts": 0, "args": {"name": name}}
                 for pid, name in ((HOST + rank, "python"), (rank, f"GPU {rank}"), (90 + rank, "/device:GPU:0"))]
        made[f"rank{rank}.json"] = File(
            names + grown.events,
            {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "A100"}],
             "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": ranks}},
            rng.choice((None, 0, 1_700_000_000_000_000_000)) if grid == 1 else 1_700_000_000_000_000_000)
    return made


# ---- reading and writing folders
# --------------------------------------------------------------------------------------

def nanoseconds(value):
    """T1, for usual traces."""
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        return int((Decimal(value) * 1000).quantize(0, ROUND_HALF_EVEN))
    return value


def read(folder):
    made = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            content = file.read()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        head = json.loads(content.decode(errors="replace"), parse_float=Decimal, strict=False)
        events = head.pop("traceEvents")
        for event in events:
            event.update({key: nanoseconds(event[key]) for key in ("ts", "dur") if key in event})
        made[re.sub(r"\.gz$", "", name)] = File(events, head, head.pop("baseTimeNanoseconds", None))
    return made


@functools.lru_cache(maxsize=4096)
def plain_text(value):
    return json.dumps(value, ensure_ascii=False)


def escaped(rng, text, often=0.25):
    """JSON text with escapes in this share of its strings, including keys, phases and times."""
    def character(found):
        if found[0][0] == "\\" or rng.random() < 0.7:
            return found[0]
        if found[0] == "/" and rng.random() < 0.5:
            return "\\/"
        units = found[0].encode("utf-16-be")
        return "".join(f"\\u{units[i:i + 2].hex()}" for i in range(0, len(units), 2))

    def string(found):
        return re.sub(r'\\u....|\\.|[^"]', character, found[0]) if rng.random() < often else found[0]
    return re.sub(r'"(?:[^"\\]|\\.)*"', string, text)


class Style:
    """How a trace is written: plainly, or with variations that must not matter."""

    def __init__(self, rng=None, indent=None, keys=False, escapes=False, numbers=False, unknown=False, last=False):
        self.rng, self.indent, self.keys, self.escapes = rng, indent, keys, escapes
        self.numbers, self.unknown, self.last = numbers, unknown, last

    def time(self, value):
        """Integer nanoseconds as microseconds."""
        sign, whole, rest = "-" * (value < 0), abs(value) // 1000, abs(value) % 1000
        plain = f"{sign}{whole}.{rest:03d}" if rest else f"{sign}{whole}"
        if not self.numbers:
            return plain
        if value == 0:
            return self.rng.choice(("0", "-0.0", '"0"', "0e9"))
        digits = str(abs(value))
        return self.rng.choice((plain, f'"{plain}"', f"{sign}{whole}.{rest:03d}000", f"{sign}{digits}e-3",
                                f"{sign}{digits[0]}.{digits[1:] or 0}E{len(digits) - 4:+}", f"{sign}{digits}0.0e-4"))

    def pairs(self, value, others=()):
        pairs = [(plain_text(key), self.value(each)) for key, each in value.items()] + list(others)
        if self.keys:
            self.rng.shuffle(pairs)
        space = " " if self.indent else ""
        return "{" + f",{space}".join(f"{key}:{space}{each}" for key, each in pairs) + "}"

    def value(self, value):
        if isinstance(value, str):
            return plain_text(value)
        if type(value) in (int, Decimal):
            return str(value)
        if isinstance(value, dict):
            return self.pairs(value)
        if isinstance(value, list):
            return "[" + ", ".join(self.value(each) for each in value) + "]"
        return json.dumps(value)

    def event(self, event):
        if not isinstance(event, dict):
            return self.value(event)
        times = [(plain_text(key), self.time(event[key])) for key in TIMES if isinstance(event.get(key), int)]
        rest = {key: value for key, value in event.items() if key not in TIMES or not isinstance(value, int)}
        unknown = [(f'"{name}"', self.rng.choice(UNKNOWN)) for name in ("Ts", "arg", "name ", "traceEvents", "rank", "")
                   if self.rng.random() < 0.3] if self.unknown else []
        if rest.get("ph") == "M":
            times += [(plain_text(key), json.dumps(rest.pop(key))) for key in list(rest)]
        if "ph" in rest:
            times.append(('"ph"', plain_text(rest.pop("ph"))))
        return self.pairs(rest, times + unknown)

    def document(self, file):
        head = [(key, self.value(value)) for key, value in file.head.items()]
        if file.base is not None:
            head.append(("baseTimeNanoseconds", str(file.base)))
        if self.unknown:
            head += [("ranks", "[9, 9]"), ("TraceEvents", "[]"),
                     ("nested", '{"traceEvents": [{"ph": "X", "name": "no event", "ts": 1, "dur": 1}],'
                                ' "rank": 9, "baseTimeNanoseconds": 5}')]
        if self.keys:
            self.rng.shuffle(head)
        between = ",\n" + " " * (self.indent or 0)
        pairs = [f"{plain_text(key)}: {value}" for key, value in head]
        events = '"traceEvents": [\n' + between.join(map(self.event, file.events)) + "\n]"
        pairs.insert(0 if self.last else len(pairs), events)
        made = "{" + ",\n".join(pairs) + "}"
        if self.escapes:
            made = escaped(self.rng, made)
        return re.sub(r"\n", "\r\n\t" if self.indent else "\n", made)


def save(files, folder, style=None, suffix="", members=1):
    """Writes files into a folder; `suffix` '.gz' compresses them into this many members."""
    style = style or Style()
    for name, file in files.items():
        content = file if isinstance(file, (bytes, str)) else style.document(file)
        path = os.path.join(folder, name + suffix)
        if members > 1:
            content = content.encode()
            size = len(content) // members + 1
            os.makedirs(folder, exist_ok=True)
            with open(path, "wb") as out:
                for at in range(0, len(content), size):
                    out.write(gzip.compress(content[at:at + size], 1))
        else:
            write(path, content)
    return folder
