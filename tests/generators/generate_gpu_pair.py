#!/usr/bin/env python3
"""Generates examples/gpu: two training runs on two GPUs, with known differences.

    generate_gpu_pair.py [OUTDIR]            writes OUTDIR/{control,test}/rank{0,1}.pt.trace.json.gz
    generate_gpu_pair.py --check [OUTDIR]    exits with 1 if the files there differ

OUTDIR is examples/gpu by default. The files are not recordings, and their metadata says so. A small simulator runs a
training loop (DataLoader, forward, backward with two all-reduces, AdamW, loss.item()) on a host thread, an autograd
thread and three streams of each rank. The result has the format of PyTorch's profiler (Kineto). Steps are #10 to #15;
in #10 the DataLoader's workers start.

All times are integer nanoseconds. Their noise depends only on the place in the program, and planted work has none. So
control and test differ exactly by the planted changes, to the nanosecond.

Planted in test, per step (PLANTED has the rows, with counts and nanoseconds):

    1. layer_norm's kernel takes 40 us longer, in each of 4 layers                  +160 us
    2. AdamW(foreach=True) becomes AdamW(fused=True): 1 operator for 5              -168 us
    3. each of the 4 layers clones its activation twice, not once                    +96 us
    4. the DataLoader gives the batch later, while the device idles                 +300 us
    5. the second all-reduce transfers longer, with nothing to hide it              +180 us
    6. rank 1's embedding_dense_backward takes longer, and rank 0 waits for rank 1
       in that all-reduce: compute on rank 1, communication on rank 0               +120 us

With 2 and 3 come 1.1 us between each added or removed kernel and the one before it, -4.4 us. The total is +683.6 us.
From the first linear to loss.item() the host is ahead of the device, so its work there costs no step time.
"""
import argparse
import collections
import contextlib
import dataclasses
import decimal
import gzip
import itertools
import json
import os
import random
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUNS, RANKS, STEPS = ("control", "test"), (0, 1), range(10, 16)
LAYERS, CHUNKS = 4, 2

# --- Planted changes ----------------------------------------------------------

SLOWER, LATER, EXPOSED, BEHIND = 40_000, 300_000, 180_000, 120_000      # 1, 4, 5 and 6 above
CLONE, GAP = 24_000, 1_100          # a copy of an activation; from a kernel to the next on a busy stream
FOREACH = {"aten::_foreach_mul_": 24_000, "aten::_foreach_lerp_": 36_000, "aten::_foreach_addcmul_": 36_000,
           "aten::_foreach_sqrt": 24_000, "aten::_foreach_addcdiv_": 48_000}
FUSED = {"aten::_fused_adamw_": 84_000}         # operator: duration of each of its CHUNKS kernels
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
NEXT_BATCH = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"


def plant(what, class_, name, control_count, test_count, ns_per_step, ranks=RANKS):
    return {"what": what, "ranks": list(ranks), "class": class_, "name": name,
            "control_count": control_count, "test_count": test_count, "ns_per_step": ns_per_step}


# All different rows of trace_step_diff, level 'op', clock 'device'; parts of one class and name add up. Counts are per
# step: of device work in the class, or waiting (idle_wait); of host events (idle_host).
PLANTED = [
    plant("slower kernel", "compute", "aten::native_layer_norm", LAYERS, LAYERS, LAYERS * SLOWER),
    *(plant("operator replaced", "compute", name, CHUNKS, 0, -CHUNKS * ns) for name, ns in FOREACH.items()),
    *(plant("operator replaced", "compute", name, 0, CHUNKS, CHUNKS * ns) for name, ns in FUSED.items()),
    *(plant("operator replaced", "idle_wait", name, CHUNKS, 0, -CHUNKS * GAP) for name in FOREACH),
    *(plant("operator replaced", "idle_wait", name, 0, CHUNKS, CHUNKS * GAP) for name in FUSED),
    plant("more copies", "memory", "aten::copy_", 2 + LAYERS, 2 + 2 * LAYERS, LAYERS * CLONE),
    plant("more copies", "idle_wait", "aten::copy_", 2 + LAYERS, 2 + 2 * LAYERS, LAYERS * GAP),
    plant("late batch", "idle_host", NEXT_BATCH, 1, 1, LATER),
    plant("longer transfer", "comm", ALL_REDUCE, 2, 2, EXPOSED),
    plant("late rank", "compute", "aten::embedding_dense_backward", 1, 1, BEHIND, ranks=[1]),
    plant("late rank", "comm", ALL_REDUCE, 2, 2, BEHIND, ranks=[0]),
]
# The different rows of trace_collectives: the second all-reduce of every step. Rank 1 is its last rank in both runs.
PLANTED_COLLECTIVES = [{"what": "longer transfer, late rank", "seq": 1, "last_rank": 1,
                        "transfer_ns": EXPOSED, "max_wait_ns": BEHIND}]

# --- Work of a step -----------------------------------------------------------

COMPUTE, NCCL, COPIES = 7, 20, 24       # streams
WIDTH, TOKENS, VOCABULARY, MULTIPROCESSORS = 1024, 8 * 512, 4096, 108
IDS, X, ROWS, COLUMNS, VECTOR = [8, 512], [8, 512, WIDTH], [TOKENS, WIDTH], [WIDTH, TOKENS], [WIDTH]    # shapes
SQUARE, TABLE, PARAMETERS = [WIDTH, WIDTH], [VOCABULARY, WIDTH], [WIDTH * (VOCABULARY + LAYERS * (WIDTH + 3))]
BUCKET = [PARAMETERS[0] // 2]
COLLECTIVE = '"Collective name": "allreduce", "In msg nelems": %d, "Out msg nelems": %d, "Group size": 2, ' \
    '"dtype": "Float", "In split size": "[]", "Out split size": "[]", "Process Group Name": "0", ' \
    '"Process Group Description": "default_pg", "Process Group Ranks": "[0, 1]"' % tuple(BUCKET * 2)
AT = "void at::native::(anonymous namespace)::"
ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, at::native::%s, std::array<char*, 2ul> >(int)"
SOFTMAX = AT + "cunn_SoftMax{0}<4, float, float, float, LogSoftMax{0}Epilogue>(float*, float const*, int)"
FOREACH_KERNEL = AT + "multi_tensor_apply_kernel<TensorListMetadata<4>, %sFunctor<float> >(int)"

# ns is an operator's own time on the host. Device work takes ns, with noise; planted work has no noise.
Op = collections.namedtuple("Op", "name dims inside grad ns cat args", defaults=((), (), None, 3_000, "cpu_op", ""))
Grad = collections.namedtuple("Grad", "name inside hook", defaults=((),))       # backward work of an operator
Work = collections.namedtuple("Work", "cat name ns planted call stream bytes details")
Wait = collections.namedtuple("Wait", "waiting stream")


def kernel(name, ns, blocks, threads=128, planted=0):
    per_sm = blocks / MULTIPROCESSORS
    details = f'"registers per thread": 32,      "shared memory": 0,      "blocks per SM": {per_sm:.6f},      ' \
              f'"warps per SM": {per_sm * threads / 32:.6f},      "grid": [{blocks}, 1, 1],      ' \
              f'"block": [{threads}, 1, 1],      "est. achieved occupancy %": {min(int(per_sm * threads / 20.48), 100)}'
    if name == ALL_REDUCE:
        return Work("kernel", name, ns, planted, "cudaLaunchKernelExC", NCCL, None, details + ", " + COLLECTIVE)
    return Work("kernel", name, ns, planted, "cudaLaunchKernel", COMPUTE, None, details)


def memory(name, ns, size, stream=COMPUTE, planted=0):
    cat, call = ("gpu_memset", "cudaMemsetAsync") if name == "Memset (Device)" else ("gpu_memcpy", "cudaMemcpyAsync")
    return Work(cat, name, ns, planted, call, stream, size, None)


def annotation(name, *inside, ns=3_000):
    return Op(name, (), inside, ns=ns, cat="user_annotation")


def accumulate(planted):
    """AccumulateGrad, with DistributedDataParallel's hook on the last gradient of a bucket."""
    reduce = annotation("nccl:all_reduce", Wait(NCCL, COMPUTE), kernel(ALL_REDUCE, 310_000, 24, 544, planted), ns=6_000)
    comms = Op("record_param_comms", [BUCKET], [reduce], args=COLLECTIVE + ", ")
    return Grad("torch::autograd::AccumulateGrad", [], [Op("c10d::allreduce_", [BUCKET], [comms], ns=8_000)])


def batch_ops():
    copy = memory("Memcpy HtoD (Pinned -> Device)", 3_400, 8 * TOKENS, COPIES)
    to = Op("aten::to", [IDS], [Op("aten::_to_copy", [IDS], [Op("aten::copy_", [IDS, IDS], [copy])])])
    return [to, to, Wait(COMPUTE, COPIES), annotation("Optimizer.zero_grad#AdamW.zero_grad", ns=9_000)]


def embedding_op(test, rank):
    lookup = AT + "indexSelectLargeIndex<float, long, unsigned int, 2, 2, -2, true>(float*, float const*, long const*)"
    add_up = AT + "compute_grad_weight<float, long>(long*, float*, long*)"
    ns = (72_000, 131_000)[rank]            # rank 1's batches repeat more tokens
    backward = Op("aten::embedding_dense_backward", [X, IDS], [
        memory("Memset (Device)", 3_100, 4 * VOCABULARY * WIDTH),
        kernel(add_up, ns, 2048, planted=test * rank * BEHIND)])
    select = Op("aten::index_select", [TABLE, [], [TOKENS]], [kernel(lookup, 23_800, 864)])
    return Op("aten::embedding", [TABLE, IDS], [select],
              [Grad("EmbeddingBackward0", [backward]), accumulate(test * EXPOSED)])


def linear_op(hook):
    backward = [
        Op("aten::mm", [ROWS, SQUARE], [kernel("ampere_sgemm_128x64_nn", 88_000, 512)]),
        Op("aten::mm", [COLUMNS, ROWS], [kernel("ampere_sgemm_128x64_nt", 91_000, 128)]),
        Op("aten::sum", [ROWS], [kernel("void at::native::reduce_kernel<128, 4, ReduceOp<float> >(int)", 21_000, 512)])]
    return Op("aten::linear", [X, SQUARE, VECTOR], [
        Op("aten::t", [SQUARE], ns=1_800),
        Op("aten::addmm", [VECTOR, ROWS, SQUARE], [kernel("ampere_sgemm_128x64_tn", 86_000, 512)],
           [Grad("AddmmBackward0", backward), *hook])])


def gelu_op():
    backward = Op("aten::gelu_backward", [X, X], [kernel(ELEMENTWISE % "GeluBackwardCUDAKernelImpl", 36_300, 8192)])
    return Op("aten::gelu", [X], [kernel(ELEMENTWISE % "GeluCUDAKernelImpl", 24_500, 8192)],
              [Grad("GeluBackward0", [backward])])


def clone_op():
    copy = memory("Memcpy DtoD (Device -> Device)", 0, 4 * TOKENS * WIDTH, planted=CLONE)
    return Op("aten::clone", [X], [Op("aten::copy_", [X, X], [copy])], [Grad("CloneBackward0", [])])


def layer_norm_op(test):
    backward = Op("aten::native_layer_norm_backward", [X, X, [], VECTOR], [
        kernel(AT + "layer_norm_grad_input_kernel_vectorized<float, float>(float*, int)", 33_700, TOKENS),
        kernel(AT + "GammaBetaBackwardCUDAKernelTemplate<float, float>(float*, int)", 18_300, 32)])
    normalize = kernel(AT + "vectorized_layer_norm_kernel<float, float>(int)", 22_200, TOKENS, planted=test * SLOWER)
    return Op("aten::layer_norm", [X, [], VECTOR, VECTOR], [
        Op("aten::native_layer_norm", [X, [], VECTOR, VECTOR], [normalize],
           [Grad("NativeLayerNormBackward0", [backward])])])


def loss_op():
    backward = Op("aten::_log_softmax_backward_data", [ROWS, ROWS], [
        kernel(SOFTMAX.format("Backward"), 47_000, TOKENS, 1024)])
    return Op("aten::cross_entropy_loss", [ROWS, [TOKENS]], [
        Op("aten::_log_softmax", [ROWS], [kernel(SOFTMAX.format("Forward"), 32_000, TOKENS, 1024)],
           [Grad("LogSoftmaxBackward0", [backward])])])


def forward_ops(test, rank):
    """Gradients of the later half of the layers are reduced while backward computes the others."""
    ops = [embedding_op(test, rank)]
    for layer in range(LAYERS):
        hook = [accumulate(0)] if layer == LAYERS // 2 else []
        ops += [linear_op(hook), gelu_op(), *[clone_op()] * (2 if test else 1), layer_norm_op(test)]
    return [annotation("DistributedDataParallel.forward", *ops), loss_op()]


def optimizer_op(name, ns):
    functor = name[len("aten::_"):].title().replace("_", "")
    return Op(name, [PARAMETERS] * 4, [kernel(FOREACH_KERNEL % functor, 0, 320, 512, planted=ns)] * CHUNKS)


def optimizer_ops(test):
    operators = itertools.starmap(optimizer_op, (FUSED if test else FOREACH).items())
    return [annotation("Optimizer.step#AdamW.step", *operators)]


# --- The simulator --------------------------------------------------------

HOST_NOISE, DEVICE_NOISE = 0.15, 0.01
LATENCY = 2_600             # from the end of a launch to the start on an idle stream
CALLS = {"cudaLaunchKernel": (211, 5_200), "cudaLaunchKernelExC": (430, 7_900), "cudaMemcpyAsync": (41, 7_400),
         "cudaMemsetAsync": (51, 3_600), "cudaStreamWaitEvent": (147, 1_300), "cudaEventRecord": (135, 1_100),
         "cudaStreamSynchronize": (131, 4_000), "cudaDeviceSynchronize": (165, 5_000)}      # name: cbid, duration


def noisy(place, ns, share):
    """ns, changed by up to this share, always equally for a place in the program."""
    return int(ns) + int(share * ns * (2 * random.Random(place).random() - 1))


@dataclasses.dataclass(eq=False)
class Event:
    """An event of the file. args follow "External id"; flow is (name, phase, id)."""
    cat: str
    name: str
    pid: int
    tid: int
    start: int
    end: int
    external: int
    args: str
    flow: tuple = None


@dataclasses.dataclass(eq=False)
class Task(Event):
    """Work in a stream: it starts `gap` after its predecessor, but not before its launch has reached the device."""
    length: int = 0
    gap: int = 0
    earliest: int = 0
    follows: list = ()
    annotation: Event = None


class Rank:
    """A process with its GPU, and all recorded events."""

    def __init__(self, run_name, rank):
        self.run_name, self.rank, self.test = run_name, rank, run_name == "test"
        self.pid = 4120 + 967 * self.test + rank
        self.host, self.device = [], []         # events: operators and annotations; calls and their effects
        self.queue = collections.deque()        # tasks to run; by stream: the last task, and the tasks to wait for:
        self.last, self.waits = collections.defaultdict(list), collections.defaultdict(list)
        self.correlations, self.sequences, self.tape = itertools.count(7301), itertools.count(411), []
        self.main, self.autograd = Thread(self, self.pid), Thread(self, self.pid + 62)

    def run_to_collective(self):
        """Runs the queued tasks before the next collective, and returns that."""
        while self.queue:
            task = self.queue.popleft()
            task.start = max(max((other.end for other in task.follows), default=0) + task.gap, task.earliest)
            if task.name == ALL_REDUCE:
                return task
            task.end = task.start + task.length


def settle(ranks):
    """Runs all queued work on the devices. A collective transfers once the last rank has arrived."""
    while any(rank.queue for rank in ranks):
        tasks = [task for task in [rank.run_to_collective() for rank in ranks] if task]
        for task in tasks:
            task.end = max(other.start for other in tasks) + task.length


class Thread:
    """A host thread: its clock, its place in the program, its open events, and its actions."""

    def __init__(self, rank, tid):
        self.rank, self.tid, self.now, self.open, self.place, self.seen = rank, tid, 0, [], "", collections.Counter()

    def enter(self, step, now):
        self.place, self.now = f"{self.rank.rank}/{step}/{self.tid - self.rank.pid}", now

    def inside(self, name):
        """The place where this name begins: that of the n-th of this name here."""
        self.seen[self.place, name] += 1
        return f"{self.place}/{name}.{self.seen[self.place, name]}"

    def spend(self, place, ns):
        self.now += noisy(place, ns, HOST_NOISE)

    def innermost(self, cat):
        return next((event for event in reversed(self.open) if event.cat == cat), None)

    @contextlib.contextmanager
    def span(self, op, args=""):
        """An event around its body; it takes ns itself, two thirds of that before the body."""
        outer, self.place, number = self.place, self.inside(op.name), len(self.rank.host)
        self.spend(self.place, 300 if self.innermost("cpu_op") else 3_500)
        args = f'"Record function id": 0, {args}{op.args}{inputs_text(op.dims)}"Ev Idx": {number}'
        event = Event(op.cat, op.name, self.rank.pid, self.tid, self.now, 0, number + 1, args)
        self.rank.host.append(event)
        self.open.append(event)
        self.spend(self.place + "<", op.ns * 2 / 3)
        yield event
        self.spend(self.place + ">", op.ns / 3)
        self.open.pop()
        event.end, self.place = self.now, outer

    def run(self, ops):
        """Runs operators and launches work. Work with a gradient goes on the tape."""
        for item in ops:
            if isinstance(item, Work):
                self.launch(item)
            elif isinstance(item, Wait):
                self.make_wait(*item)
            else:
                sequence = next(self.rank.sequences) if item.grad else None
                args = f'"Sequence number": {sequence}, "Fwd thread id": 0, ' if item.grad else ""
                with self.span(item, args) as event:
                    self.run(item.inside)
                if item.grad:
                    self.rank.tape.append((item.grad, event, sequence))

    def backward(self):
        """Runs the tape, last entry first. Operators that add to a parameter's gradient have no sequence number."""
        for grads, forward, sequence in reversed(self.rank.tape):
            for grad in grads:
                args = f'"Sequence number": {sequence}, "Fwd thread id": 1, ' if grad is grads[0] else ""
                with self.span(Op("autograd::engine::evaluate_function: " + grad.name, ns=1_600), args):
                    with self.span(Op(grad.name, ns=1_400), args) as event:
                        self.run(grad.inside)
                    self.run(grad.hook)
                if grad is grads[0]:
                    forward.flow, event.flow = ("fwdbwd", "s", sequence), ("fwdbwd", "f", sequence)
        self.rank.tape.clear()
        self.make_wait(COMPUTE, NCCL)

    def call(self, name):
        """A runtime call. Kineto starts a flow at each launch or wait, and ends one at the other calls."""
        (cbid, ns), place, correlation = CALLS[name], self.inside(name), next(self.rank.correlations)
        self.spend(place + "<", 250)
        start, operator = self.now, self.innermost("cpu_op")
        self.spend(place, ns)
        flow = ("ac2g", "f" if name == "cudaEventRecord" else "s", correlation)
        self.rank.device.append(Event("cuda_runtime", name, self.rank.pid, self.tid, start, self.now, operator and
                                      operator.external, f'      "cbid": {cbid}, "correlation": {correlation}', flow))
        return self.rank.device[-1]

    def launch(self, work):
        rank, place, call = self.rank, self.inside(work.name), self.call(work.call)
        length = noisy(place, work.ns, DEVICE_NOISE) + work.planted
        details = work.details or f'"bytes": {work.bytes}, "memory bandwidth (GB/s)": {work.bytes / length}'
        queued = '"queued": 0, ' if work.cat == "kernel" else ""
        args = f'      {queued}"device": {rank.rank}, "context": 1,      "stream": {work.stream}, ' \
               f'"correlation": {call.flow[2]},      {details}'
        task = Task(work.cat, work.name, rank.rank, work.stream, 0, 0, call.external, args, ("ac2g", "f", call.flow[2]),
                    length=length, gap=noisy(place + "<", GAP, HOST_NOISE if work.ns else 0),
                    earliest=call.end + noisy(place + ">", LATENCY, HOST_NOISE),
                    follows=rank.waits.pop(work.stream, []) + rank.last[work.stream],
                    annotation=self.innermost("user_annotation"))
        rank.last[work.stream] = [task]
        rank.queue.append(task)
        rank.device.insert(-1, task)            # CUPTI reports a call's effect before the call

    def make_wait(self, waiting, stream):
        """Makes a stream wait for another one's current work."""
        record, call = self.call("cudaEventRecord"), self.call("cudaStreamWaitEvent")
        self.rank.waits[waiting] += self.rank.last[stream]
        wait_on = f'      "wait_on_stream": {stream},      "wait_on_cuda_event_record_corr_id": {record.flow[2]},' \
                  f'      "wait_on_cuda_event_id": {stream},'
        self.synchronized(call, "Stream Wait Event", waiting, wait_on)

    def synchronize(self, name, kind, stream):
        """Waits until the device is idle. A generator, which continues once the devices are settled."""
        call = self.call(name)
        yield
        self.now = max([self.now] + [task.end for tasks in self.rank.last.values() for task in tasks])
        self.spend(self.inside("return"), 2_800)
        call.end = self.now
        self.synchronized(call, kind, stream)

    def synchronized(self, call, kind, stream, wait_on=""):
        """CUPTI's events for a synchronising call."""
        args = f'      "cuda_sync_kind": "{kind}",{wait_on}      "stream": {stream % 2 ** 32}, ' \
               f'"correlation": {call.flow[2]},      "device": {self.rank.rank}, "context": 1'
        self.rank.device.insert(-1, Event("cuda_sync", kind, self.rank.rank, abs(stream), call.start + 300,
                                          call.end - 200, call.external, args, ("ac2g", "f", call.flow[2])))


def train(rank, start):
    """The training loop of a rank; it yields where the host waits for the device."""
    main, autograd, main.now = rank.main, rank.autograd, start
    forward, optimizer = forward_ops(rank.test, rank.rank), optimizer_ops(rank.test)
    for step in STEPS:
        main.enter(step, main.now)
        with main.span(annotation(f"ProfilerStep#{step}")):
            with main.span(annotation(NEXT_BATCH, ns=240_000)):
                main.now += (step == STEPS[0]) * 3_917_260 + rank.test * LATER
            main.run(batch_ops() + forward)
            autograd.enter(step, main.now + 41_000)
            autograd.backward()
            main.now = autograd.now + 23_000
            main.run(optimizer)
            with main.span(Op("aten::item", [[]])), main.span(Op("aten::_local_scalar_dense", [[]])):
                main.launch(memory("Memcpy DtoH (Device -> Pinned)", 1_900, 4))
                yield from main.synchronize("cudaStreamSynchronize", "Stream Sync", COMPUTE)
    main.now += 90_000
    yield from main.synchronize("cudaDeviceSynchronize", "Context Sync", -1)


def simulate(run_name):
    """Both ranks of a run; each continues once both have reached their waits."""
    ranks = [Rank(run_name, rank) for rank in RANKS]
    start = 4_203_669_604_000_000 + (run_name == "test") * 2_218_450_113_902
    for _ in itertools.zip_longest(*(train(rank, start + 7_311 * rank.rank) for rank in ranks)):
        settle(ranks)
    return ranks


# --- The file, in Kineto's format ---------------------------------------------

DEVICE = """
    {
      "id": %d, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85051572224,
      "computeMajor": 8, "computeMinor": 0,
      "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048,
      "regsPerBlock": 65536, "warpSize": 32,
      "sharedMemPerBlock": 49152, "numSms": 108
    , "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 166912, "sharedMemPerMultiprocessor": 167936
    }"""
FILE = """
{
  "schemaVersion": 1,
  "deviceProperties": [%(devices)s
  ],
  "generated_by": "tests/generators/generate_gpu_pair.py (not a recording)",
  "record_shapes": 1,
  "with_stack": 0,
  "with_flops": 0,
  "with_modules": 0,
  "profile_memory": 0,
  "distributedInfo": {"backend": "nccl", "rank": %(rank)d, "world_size": 2, "pg_count": 1, "pg_config": [{"pg_name": \
"0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "pg_size": 2, "ranks": [0, 1]}], "nccl_version": "2.21.5"},
  "traceEvents": [%(events)s
  ],
  "traceName": "%(name)s",
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1749600000000000000
}
"""


def inputs_text(dims):
    if not dims:
        return ""
    strides = [[dim[-1] ** i if i < 2 else dim[-1] * dim[-2] for i in reversed(range(len(dim)))] for dim in dims]
    texts = map(json.dumps, ([""] * len(dims), ["float"] * len(dims), strides, dims))
    return '"Concrete Inputs": %s, "Input type": %s, "Input Strides": %s, "Input Dims": %s, ' % tuple(texts)


def us(ns):
    return decimal.Decimal(ns).scaleb(-3)


def text(*lines, args=None):
    """An event: the keys of each line, and the text of args."""
    texts = [", ".join(f'"{key}": {json.dumps(value) if isinstance(value, str) else value}'
                       for key, value in line.items()) for line in lines]
    if args is not None:
        texts.append(f'"args": {{\n      {args}\n    }}')
    return "\n  {\n    " + ",\n    ".join(texts) + "\n  }"


def event_texts(event):
    """An event, and the end of its flow."""
    args = ",".join([f'"External id": {event.external}'] * bool(event.external) + [event.args] * bool(event.args))
    yield text(dict(ph="X", cat=event.cat, name=event.name, pid=event.pid, tid=event.tid),
               dict(ts=us(event.start), dur=us(event.end - event.start)), args=args)
    if event.flow:
        name, phase, number = event.flow
        yield text(dict(ph=phase, id=number, pid=event.pid, tid=event.tid, ts=us(event.start)),
                   dict(cat=name, name=name, **({"bp": "e"} if phase == "f" else {})))


def gpu_annotations(rank):
    """Repeats each annotation on every stream with work launched in it, from 1 ns before to 1 ns after that work."""
    groups = collections.defaultdict(list)
    for task in rank.device:
        if isinstance(task, Task) and task.annotation:
            groups[task.annotation, task.tid].append(task)
    for (annotation, stream), tasks in groups.items():
        yield Event("gpu_user_annotation", annotation.name, rank.rank, stream, tasks[0].start - 1, tasks[-1].end + 1,
                    annotation.external, "")


def metadata_text(name, ts, pid, tid, key, value):
    return text(dict(name=name, ph="M", ts=ts, pid=pid, tid=tid), args=f'"{key}": {json.dumps(value)}')


def closing_texts(rank, start, end):
    """Names and order of processes, streams and threads; the profiler's own events."""
    for pid, label, index in (rank.pid, "CPU", rank.pid), *((gpu, f"GPU {gpu}", 5000000 + gpu) for gpu in RANKS):
        for key, value in ("name", "python3"), ("labels", label), ("sort_index", index):
            yield metadata_text("process_" + key, start, pid, 0, key, value)
    for pid, tid, name in (*((rank.rank, stream, f"stream {stream} ") for stream in (COMPUTE, NCCL, COPIES)),
                           (rank.pid, rank.main.tid, f"thread {rank.main.tid} (python3)"),
                           (rank.pid, rank.autograd.tid, f"thread {rank.autograd.tid} (pt_autograd_0)")):
        yield metadata_text("thread_name", start, pid, tid, "name", name)
        yield metadata_text("thread_sort_index", start, pid, tid, "sort_index", tid)
    yield text(dict(ph="X", cat="Trace", ts=start, dur=end - start), dict(pid="Spans", tid="PyTorch Profiler"),
               dict(name="PyTorch Profiler (0)"), args='"Op count": 0')
    yield text(dict(name="process_sort_index", ph="M", ts=start), dict(pid="Spans", tid=0),
               args='"sort_index": 536870912')
    yield text(dict(name="Iteration Start: PyTorch Profiler", ph="i", s="g"),
               dict(pid="Traces", tid="Trace PyTorch Profiler", ts=start))
    yield text(dict(name="Record Window End", ph="i", s="g"), dict(pid="", tid="", ts=end))


def generate():
    """The name in the folder and the text of each file."""
    for rank in itertools.chain(*map(simulate, RUNS)):
        name = f"{rank.run_name}/rank{rank.rank}.pt.trace.json"
        events = itertools.chain(rank.host, rank.device, gpu_annotations(rank))
        closing = closing_texts(rank, us(rank.host[0].start - 161_204), us(rank.main.now + 3_310_745))
        yield name + ".gz", FILE % {
            "devices": ",".join(DEVICE % gpu for gpu in RANKS), "rank": rank.rank, "name": name,
            "events": ",".join(itertools.chain(*map(event_texts, events), closing))}


# --- The command ----------------------------------------------------------

def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(gzip.compress(data, 9, mtime=0))


def holds(path, data):
    try:
        with gzip.open(path) as file:
            return file.read() == data
    except (OSError, EOFError):
        return False


def main():
    parser = argparse.ArgumentParser(description="Generate a pair of GPU traces with known differences.")
    parser.add_argument("outdir", nargs="?", default=os.path.join(ROOT, "examples", "gpu"))
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the files are not these")
    options = parser.parse_args()
    files = {os.path.join(options.outdir, name): content.encode() for name, content in generate()}
    if not options.check:
        for path, data in files.items():
            write(path, data)
    elif stale := [path for path, data in files.items() if not holds(path, data)]:
        sys.exit("not what generate_gpu_pair.py makes: " + ", ".join(stale))


if __name__ == "__main__":
    main()
