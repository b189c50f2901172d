#!/usr/bin/env python3
"""Generates a trace of a given size, for `make bench`, in the format of PyTorch's profiler (Kineto).

    usage: generate_bench.py PATH MEGABYTES [STYLE [RUN [SEED]]]

PATH ends in .json or .json.gz. It prints the content of the trace as JSON, which is tracediff's expected answer.

A trace has 6 steps of random operators. Each writes nested operators, and kernels or copies with their launches and
flows; times, ids, shapes and grids have random digits. The runs `control` and `test` differ in one operator.

STYLE is the notation of the same events:
    kineto    like Kineto
    line      on one line
    pretty    a line per value
    shuffled  the keys of each event in random order
    escaped   with escapes in each name
    tids      kineto, but each host event has a random tid
"""
import gzip
import json
import random
import re
import sys

STEPS, GROUP_BYTES, ORDERS = 6, 2380, 8     # a step consists of groups of about this many bytes in the style kineto
PID, TID, STREAM, START = 3113936, 3126441, 7, 1_661_203_462_598_509_000

# Operators, from the outermost to the innermost, and how many kernels they launch.
GROUPS = [
    (["aten::linear", "aten::t", "aten::transpose", "aten::as_strided", "aten::addmm"], 1),
    (["aten::matmul", "aten::expand", "aten::view", "aten::bmm"], 1),
    (["aten::layer_norm", "aten::native_layer_norm", "aten::empty"], 1),
    (["aten::to", "aten::_to_copy", "aten::empty_strided", "aten::copy_"], 1),
    (["aten::dropout", "aten::native_dropout", "aten::empty_like"], 1),
    (["aten::embedding", "aten::reshape", "aten::index_select"], 1),
    (["aten::contiguous", "aten::clone", "aten::copy_"], 1),
    (["aten::softmax", "aten::_softmax"], 1),
    (["aten::cat", "aten::narrow", "aten::slice"], 1),
    (["aten::add_"], 1), (["aten::mul"], 1), (["aten::sum", "aten::fill_"], 2), (["aten::div_"], 1),
    (["aten::split", "aten::narrow", "aten::as_strided"], 0), (["aten::detach", "detach"], 0),
    (["autograd::engine::evaluate_function: AddmmBackward0", "AddmmBackward0", "aten::t", "aten::mm"], 2),
    (["autograd::engine::evaluate_function: MulBackward0", "MulBackward0", "aten::mul"], 1),
    (["autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", "torch::autograd::AccumulateGrad",
      "aten::add_"], 1),
    (["Optimizer.step#AdamW.step", "aten::_foreach_add_", "aten::_foreach_addcdiv_"], 2),
]
REPLACED = {"control": (["aten::gelu"], 1), "test": (["aten::silu"], 1)}
ARRAY = "at::detail::Array<char*, %d> >(int, at::native::%s, at::detail::Array<char*, %d>)"
KERNELS = [
    *(f"void at::native::vectorized_elementwise_kernel<4, at::native::{functor}, {ARRAY % (count, functor, count)}"
      for functor in ("CUDAFunctor_add<float>", "BinaryFunctor<float, float, float, MulFunctor<float> >",
                      "FillFunctor<float>", "(anonymous namespace)::launch_clamp_scalar(at::TensorIteratorBase&)")
      for count in (2, 3)),
    *(f"ampere_sgemm_{tile}_{layout}" for tile in ("128x64", "64x32_sliced1x4", "32x128")
      for layout in ("tn", "nt", "nn")),
    *(f"void cutlass::Kernel<{gemm}>({gemm}::Params)"
      for gemm in ("cutlass_80_tensorop_s1688gemm_64x64_32x4_nt_align4",
                   "cutlass_80_simt_sgemm_128x128_8x5_nn_align1")),
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, "
    "at::native::sum_functor<float, float, float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, "
    "unsigned int, float, 4> >",
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, float, float const*)",
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<4>, "
    "AddcdivFunctor<float> >(int)",
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 9, false, false>(float*, float const*, "
    "int, int)",
    "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
]
COPY = "Memcpy HtoD (Pinned -> Device)"

# --- Notation of events ------------------------------------------------------


def field(name):
    """A value that differs between events; fields become %(name)s."""
    return f"\1{name}"


def event(cat, name, args, pid=PID):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": field("tid"), "ts": field("ts"),
            "dur": field("dur"), "args": args}


def flow(phase, pid, *more):
    return {"ph": phase, "id": field("id"), "pid": pid, "tid": field("tid"), "ts": field("ts"), "cat": "ac2g",
            "name": "ac2g", **dict(more)}


def operator(name):
    cat = "user_annotation" if "#" in name else "cpu_op"
    return event(cat, name, {
        "External id": field("id"), "Record function id": 0, "Sequence number": field("sequence"),
        "Fwd thread id": 0, "Concrete Inputs": ["", "", ""], "Input type": ["float", "float", "Scalar"],
        "Input Strides": field("strides"), "Input Dims": field("dims"), "Ev Idx": field("index")})


def call(name, cbid):
    return event("cuda_runtime", name, {"External id": field("id"), "cbid": cbid, "correlation": field("id")})


def device_event(name):
    args = {"External id": field("id"), "queued": 0, "device": 0, "context": 1, "stream": STREAM,
            "correlation": field("id")}
    if name == COPY:
        more = {"bytes": field("bytes"), "memory bandwidth (GB/s)": field("real")}
        return event("gpu_memcpy", name, {**args, **more}, pid=0)
    more = {"registers per thread": field("registers"), "shared memory": 16384, "blocks per SM": field("real"),
            "warps per SM": field("real"), "grid": field("grid"), "block": [128, 1, 1],
            "est. achieved occupancy %": 38}
    return event("kernel", name, {**args, **more}, pid=0)


def as_kineto(item):
    """One event over several lines; args of device events and calls over several, too."""
    def pairs(of, *keys):
        return ", ".join(f"{json.dumps(key)}: {json.dumps(of[key])}" for key in keys if key in of)
    if "args" not in item:
        return "  {\n    %s,\n    %s\n  }" % (
            pairs(item, "ph", "id", "pid", "tid", "ts"), pairs(item, "cat", "name", "bp"))
    args, text = item["args"], ""
    for key in args:
        on_new_line = "correlation" in args and key not in ("device", "context", "correlation")
        text += (",\n      " if on_new_line else ", ") * bool(text) + pairs(args, key)
    return "  {\n    %s,\n    %s,\n    \"args\": {\n      %s\n    }\n  }" % (
        pairs(item, "ph", "cat", "name", "pid", "tid"), pairs(item, "ts", "dur"), text)


def escape(text):
    """The same string in JSON, with escapes for its first character and others."""
    return f"\\u{ord(text[0]):04x}" + text[1:].replace("/", "\\/").replace(":", "\\u003a").replace("<", "\\u003C")


def shuffled(item, rng):
    """The keys of the event and of its args in random order."""
    items = [(key, shuffled(value, rng) if key == "args" else value) for key, value in item.items()]
    rng.shuffle(items)
    return dict(items)


def templates(item, style):
    """Formats for an event: one, or several to choose from at random."""
    rng = random.Random(json.dumps(item))
    texts = []
    for _ in range(ORDERS if style == "shuffled" else 1):
        if style == "line":
            text = json.dumps(item, separators=(",", ":"))
        elif style == "pretty":
            text = json.dumps(item, indent=2)
        elif style == "shuffled":
            text = json.dumps(shuffled(item, rng))
        else:
            text = as_kineto(item)
        if style == "escaped":
            text = text.replace(json.dumps(item["name"]), f'"{escape(item["name"])}"')
        texts.append(re.sub(r'"\\u0001(\w+)"', r"%(\1)s", text.replace("%", "%%")))
    return texts


# --- Content ------------------------------------------------------------------


def us(ns):
    return f"{ns // 1000}.{ns % 1000:03}"


class Trace:
    def __init__(self, write, style, run, seed):
        self.write, self.style = write, style
        self.rng = random.Random(f"{seed} {run}")       # the content does not depend on the style
        self.other = random.Random(seed)
        self.groups = [*GROUPS, REPLACED[run]]
        self.known = {}             # templates by kind of event
        self.first = True           # no event yet
        self.names, self.first_names, self.events, self.rows, self.ns = set(), set(), 0, 0, 0
        self.now, self.next_id, self.index = START, 1, 0

    def format(self, make, *arguments, tid=TID, **values):
        """The text of an event, after a comma."""
        key = (make, arguments)
        if key not in self.known:
            self.known[key] = templates(make(*arguments), self.style)
        texts = self.known[key]
        if self.style == "tids" and tid == TID:
            tid = self.other.randrange(1 << 31)
        values["tid"] = tid
        self.events += 1
        comma = "" if self.first else "," if self.style == "line" else ",\n"
        self.first = False
        return comma + (texts[0] if len(texts) == 1 else self.other.choice(texts)) % values

    def row(self, make, name, *more, ts, ns, **values):
        """The text of an X event, which is counted."""
        self.rows += 1
        self.ns += ns
        self.names.add(name)
        return self.format(make, name, *more, ts=us(ts), dur=us(ns), **values)

    def group(self, device):
        """Operators, written out; their launches and device work are appended to `device`."""
        digits, (names, launches) = self.rng.random, self.rng.choice(self.groups)
        start, ns = self.now, 8_000 + int(40_000 * digits())
        for depth, name in enumerate(names):
            a, b = 1 + int(512 * digits()), 1 + int(4096 * digits())
            self.index += 1
            self.write(self.row(
                operator, name, ts=start + 700 * depth, ns=ns - 1_300 * depth, id=self.next_id + self.index,
                sequence=450_000 + self.index // 3, index=self.index, dims=f"[[{a}, {b}], [{b}, {a}], []]",
                strides=f"[[{b}, 1], [{a}, 1], []]"))
        for launch in range(launches):
            name, call_name, cbid = COPY, "cudaMemcpyAsync", 41
            if names[0] != "aten::to":
                name, call_name, cbid = KERNELS[int(len(KERNELS) * digits() ** 2)], "cudaLaunchKernel", 211
            number, called = self.next_id, start + 3_000 * (launch + 1)
            self.next_id += 1 + int(4 * digits())
            later = called + 5_000 + int(30_000 * digits())
            device.append(self.row(
                device_event, name, tid=STREAM, ts=later, ns=900 + int(90_000 * digits() ** 3), id=number,
                real=f"{30 * digits():.6f}", registers=16 + int(200 * digits()), bytes=int(1e6 * digits()),
                grid=f"[{1 + int(4000 * digits())}, {1 + int(9 * digits())}, 1]"))
            device.append(self.format(flow, "f", 0, ("bp", "e"), tid=STREAM, ts=us(later), id=number))
            device.append(self.row(call, call_name, cbid, ts=called, ns=3_000 + int(4_000 * digits()), id=number))
            device.append(self.format(flow, "s", PID, ts=us(called), id=number))
        self.now += ns + int(9_000 * digits())

    def step(self, number, groups):
        device, start = [], self.now
        for _ in range(groups):
            self.group(device)
        self.now += 1_000_000
        self.write(self.row(operator, f"ProfilerStep#{number}", ts=start, ns=self.now - 1 - start, id=0, sequence=0,
                            index=0, dims="[]", strides="[]"))
        self.write("".join(device))
        self.first_names = self.first_names or set(self.names)


class Counted:
    """Writes text to a file and counts its bytes."""

    def __init__(self, file):
        self.file, self.bytes = file, 0

    def __call__(self, text):
        data = text.encode()
        self.bytes += len(data)
        self.file.write(data)


def generate(path, megabytes, style="kineto", run="control", seed=1):
    with open(path, "wb") as raw:
        file = gzip.GzipFile("", "wb", 6, raw, 0) if path.endswith(".gz") else raw
        write = Counted(file)
        space = "" if style == "line" else "\n"
        rank = int(re.search(r"rank(\d+)|$", path)[1] or 0)
        rank = int(re.search(r"rank(\d+)|$", path)[1] or 0)
        head = ['"schemaVersion": 1', f'"distributedInfo": {{"backend": "nccl", "rank": {rank}, "world_size": 16}}',
                '"traceEvents": [']
        write("{" + space + f",{space}".join(head) + space)
        trace = Trace(write, style, run, seed)
        for step in range(STEPS):
            trace.step(step, max(1, round(megabytes * 1e6 / GROUP_BYTES / STEPS)))
        write(f"{space}]}}{space}")
        if file is not raw:
            file.close()
    return {"bytes": write.bytes, "events": trace.events, "rows": trace.rows, "ns": trace.ns,
            "names": sorted(trace.names), "first_names": sorted(trace.first_names)}


def main(path, megabytes, *options):
    print(json.dumps(generate(path, float(megabytes), *options)))


if __name__ == "__main__":
    main(*sys.argv[1:])
