"""Generated traces that no profiler would write, but that are close to truncated recordings, other programs and broken
clocks: begins without ends and ends without begins, events without a duration or a time, copies named like collectives,
threads without operators, one step or none, times at both ends of 64 bits, and file names in another order than their
ranks.

    write_odd("runs/a", seed)                   # a job of one to three ranks, with a few events each
    write_odd_pair("runs/a", "runs/b", seed)    # the same with a few changes
    write_steps("a.json", 30000)                # this many steps, each with an operator and a kernel
"""
import json
import os
import random

FAR = 2 ** 63 // 1000  # us
NAMES = ("aten::mm", "aten::add", "x", "fwd", "nccl:all_reduce", "gloo:broadcast", "nn.Module: Linear_0",
         "train.py(3): main", "autograd::engine::evaluate_function: MmBackward0", "DataLoader")
CALLS = ("cudaLaunchKernel", "cudaMemcpyAsync", "cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaGraphLaunch",
         "cudaStreamWaitEvent", "cudaEventRecord", "cuLaunchKernel")
WORK = ("gemm", "ncclDevKernel_AllReduce_Sum_f32", "ncclX", "ncclDevKernel_SendRecv", "Memcpy HtoD", "add")
HOST_CATEGORIES = ("cpu_op", "cpu_op", "user_annotation", "python_function", "cuda_runtime", None, "other")
DEVICE_CATEGORIES = ("kernel", "kernel", "kernel", "gpu_memcpy", "gpu_memset", "cuda_sync", "gpu_user_annotation")


class Odd:
    """The events of a rank."""

    def __init__(self, rng, far):
        self.rng, self.far, self.events, self.correlation = rng, far, [], 0

    def instant(self):
        small = self.rng.choice((self.rng.randrange(200), self.rng.randrange(2000) / 8))
        if self.rng.random() < self.far:
            return self.rng.choice((FAR - small, small - FAR, -small, 10 ** 15 + small))
        return small

    def length(self):
        if self.rng.random() < self.far:
            return self.rng.choice((FAR, FAR // 2, -5, 2 * FAR))
        return self.rng.choice((0, 1, self.rng.randrange(60), self.rng.randrange(400) / 8))

    def add(self, name, cat, pid, tid, ts=None, **fields):
        made = {"ph": self.rng.choice("XXXXXXXXXBEi"), "name": name, "cat": cat, "pid": pid, "tid": tid,
                "ts": self.instant() if ts is None else ts, "dur": self.length(), **fields}
        for key, chance in (("dur", 0.1), ("ts", 0.02), ("name", 0.02), ("tid", 0.02)):
            if self.rng.random() < chance:
                del made[key]
        if made["ph"] != "X":
            made.pop("dur", None)
        if cat is None:
            del made["cat"]
        self.events.append(made)

    def add_work(self, correlation):
        name = self.rng.choice(WORK)
        args = {"correlation": correlation, "stream": self.rng.choice((7, 20)), "device": 0,
                "wait_on_stream": self.rng.choice((7, 20, -1)), "wait_on_cuda_event_record_corr_id": correlation - 1}
        if "nccl" in name and self.rng.random() < 0.5:
            args.update({"Collective name": "allreduce", "Process Group Name": "1", "Process Group Ranks": "[0, 1]",
                         "Group size": 2, "In msg nelems": 8, "dtype": "Float"})
        self.add(name, self.rng.choice(DEVICE_CATEGORIES), 0, args["stream"], args=args)

    def add_one(self):
        kind, thread = self.rng.random(), self.rng.choice((1, 1, 1, 2, 3))
        if kind < 0.4:
            self.add(self.rng.choice(NAMES), self.rng.choice(HOST_CATEGORIES), 1, thread,
                     args={"External id": self.rng.randrange(9), "Input Dims": [[2, 3], []]})
            return
        self.correlation += self.rng.choice((1, 1, 1, 0))
        self.add(self.rng.choice(CALLS), self.rng.choice(("cuda_runtime", "cuda_runtime", "cuda_driver")), 1, thread,
                 args={"correlation": self.correlation, "External id": self.rng.randrange(9)})
        for _ in range(self.rng.choice((0, 1, 1, 1, 3))):
            self.add_work(self.rng.choice((self.correlation, self.correlation, 99)))

    def add_steps(self, count):
        for number in range(count):
            step = self.rng.choice((number, number, number, 2))
            self.add(f"ProfilerStep#{step}", self.rng.choice(("user_annotation", "user_annotation", "cpu_op")), 1, 1,
                     ts=50 * number if self.rng.random() > self.far else None)


def odd_events(rng):
    odd = Odd(rng, rng.choice((0, 0, 0, 0.05, 0.3)))
    odd.add_steps(rng.choice((0, 0, 1, 1, 3, 4)))
    for _ in range(rng.choice((0, 1, 3, 10, 25))):
        odd.add_one()
    return odd.events


def changed(rng, events):
    """Removes some events, or changes their times."""
    made = [dict(event) for event in events if rng.random() < 0.95]
    for event in made:
        if "dur" in event and rng.random() < 0.3:
            event["dur"] = rng.choice((event["dur"] + 7, 40))
    return made


def write_rank(folder, name, rank, world, events):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"{name}.json"), "w", encoding="utf-8") as file:
        json.dump({"distributedInfo": {"rank": rank, "world_size": world}, "traceEvents": events}, file)


def write_odd_pair(control, test, seed):
    rng = random.Random(seed)
    world = rng.choice((1, 1, 2, 2, 3))
    names = rng.sample("abcdef", world)
    for rank in range(world):
        events = odd_events(rng)
        write_rank(control, names[rank], rank, world, events)
        if test:
            write_rank(test, names[-1 - rank], rank, world,
                       changed(rng, events) if rng.random() < 0.8 else odd_events(rng))


def write_odd(folder, seed):
    write_odd_pair(folder, None, seed)


def write_steps(path, count, slower=1):
    """Every third kernel takes `slower` times as long."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"traceEvents": [')
        for i in range(count):
            at, dur = 100 * i, 60 * slower if i % 3 == 0 else 60
            file.write(
                ("," if i else "") + f'{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{i}","ts":{at},"dur":99,'
                f'"pid":1,"tid":1}},{{"ph":"X","cat":"cpu_op","name":"aten::mm","ts":{at + 1},"dur":20,"pid":1,'
                f'"tid":1}},{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","ts":{at + 2},"dur":1,"pid":1,'
                f'"tid":1,"args":{{"correlation":{i + 1}}}}},{{"ph":"X","cat":"kernel","name":"gemm","ts":{at + 10},'
                f'"dur":{dur},"pid":0,"tid":7,"args":{{"correlation":{i + 1},"stream":7}}}}')
        file.write("]}")
