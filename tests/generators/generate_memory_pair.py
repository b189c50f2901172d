#!/usr/bin/env python3
"""Generates examples/memory/gpu: snapshots of PyTorch's allocator for the runs in examples/gpu, on the same clock.

    generate_memory_pair.py [OUTDIR]            writes OUTDIR/{control,test}/rank{0,1}.pickle.gz
    generate_memory_pair.py --check [OUTDIR]    exits with 1 if the files there differ

OUTDIR is examples/memory/gpu by default. The files are not recordings. Each operator in examples/gpu that makes a
tensor allocates it while it runs: activations until backward has used them, gradients until zero_grad. Parameters, the
state of AdamW and the buckets of DistributedDataParallel exist before. In step 13 the program keeps the result of
log_softmax for its log, so the peak is in that step.

Planted in test: the model keeps the first of the two clones of each layer until backward is done, +4 activations of
16.8 MB at the peak, at the beginning of backward; and the fused AdamW has no temporary square roots, which do not exist
at the peak.
"""
import argparse
import collections
import gzip
import json
import os
import pickle
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TRACES = os.path.join(ROOT, "examples", "gpu")
RUNS, RANKS = ("control", "test"), (0, 1)
X = 4 * 8 * 512 * 1024              # bytes of an activation
PARAMETERS = 4 * 1024 * (4096 + 4 * (1024 + 3))
ROUND, SEGMENT = 512, 2 << 20       # sizes of blocks and of segments are multiples of these
BEFORE = [4 * 4096 * 1024, *[4 * 1024 * 1024, 4096, 4096, 4096] * 4] * 3 + [PARAMETERS // 2] * 2

Frame = collections.namedtuple("Frame", "name filename line")
MAIN = Frame("train", "/home/user/train.py", 42)
FORWARD = Frame("forward", "/home/user/model/layers.py", 17)
STEP = Frame("step", "/usr/lib/python3.11/site-packages/torch/optim/adamw.py", 243)
ENGINE = Frame("torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&)", "??", 0)

# Bytes allocated by each operator; the name of each block serves to free it.
MAKES = {"aten::_to_copy": {"ids": 8 * 8 * 512}, "aten::index_select": {"embedded": X}, "aten::addmm": {"linear": X},
         "aten::gelu": {"gelu": X},
         "aten::clone": {"clone": X},
         "aten::native_layer_norm": {"normal": X, "mean": 4 * 8 * 512, "rstd": 4 * 8 * 512},
         "aten::_log_softmax": {"logits": X}, "aten::_log_softmax_backward_data": {"grad": X},
         "aten::native_layer_norm_backward": {"grad": X, "weights": 4096, "biases": 4096},
         "aten::gelu_backward": {"grad": X},
         "aten::sum": {"biases": 4096}, "aten::embedding_dense_backward": {"table": 4 * 4096 * 1024},
         "aten::_foreach_sqrt": {"roots": PARAMETERS}}
# Blocks that backward has used up after an operator, in the latest layer, including the gradient before this one.
USES = {"aten::_log_softmax_backward_data": ["logits"],
        "aten::native_layer_norm_backward": ["grad", "clone", "mean", "rstd"],
        "aten::gelu_backward": ["grad", "linear"], "aten::sum": ["grad", "normal"],
        "aten::embedding_dense_backward": ["grad", "embedded"]}
UNTIL_ZERO_GRAD = ("weights", "biases", "table", "logits")
LOGGED = "ProfilerStep#13"


class Allocator:
    """Blocks of the requested size, rounded. A free block of that size is reused, otherwise a segment is added."""

    def __init__(self, rank):
        self.rank, self.events, self.annotations, self.segments, self.now = rank, [], [], [], 0
        self.free, self.base, self.frames = collections.defaultdict(list), 0x7f2000000000, {}

    def stack(self, frames):
        """A list of shared frames."""
        return [self.frames.setdefault(frame, dict(frame._asdict())) for frame in frames]

    def event(self, action, address, size, frames):
        self.events.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": self.now,
                            "frames": self.stack(frames)})

    def alloc(self, size, frames, recorded=True):
        rounded = -(-size // ROUND) * ROUND
        if not self.free[rounded]:
            total = -(-rounded // SEGMENT) * SEGMENT
            self.segments.append({"device": self.rank, "address": self.base, "total_size": total, "stream": 0,
                                  "segment_type": "large",
                                  "segment_pool_id": (0, 0), "is_expandable": False,
                                  "blocks": [{"address": self.base, "size": rounded, "requested_size": 0,
                                              "state": "inactive", "frames": []}]})
            if rounded < total:
                self.segments[-1]["blocks"].append({"address": self.base + rounded, "size": total - rounded,
                                                    "requested_size": 0, "state": "inactive",
                                                    "frames": []})
            if recorded:
                self.event("segment_alloc", self.base, total, frames)
            self.free[rounded].append(self.segments[-1]["blocks"][0])
            self.base += total
        block = self.free[rounded].pop()
        block.update(requested_size=size, state="active_allocated")
        if recorded:
            self.event("alloc", block["address"], size, frames)
            block["frames"] = self.events[-1]["frames"]
        return block

    def release(self, block, frames):
        for action in ("free_requested", "free_completed"):
            self.event(action, block["address"], block["requested_size"], frames)
        self.free[block["size"]].append(block)
        block.update(requested_size=0, state="inactive", frames=[])

    def snapshot(self):
        for segment in self.segments:
            active = [block for block in segment["blocks"] if block["state"] == "active_allocated"]
            segment["allocated_size"] = segment["active_size"] = sum(block["size"] for block in active)
            segment["requested_size"] = sum(block["requested_size"] for block in active)
        return {"segments": self.segments, "device_traces": [[]] * self.rank + [self.events],
                "external_annotations": self.annotations}


def operators(trace):
    """Begins and ends of host operators and annotations: ns, whether it is an end, the event."""
    edges = []
    for number, event in enumerate(trace["traceEvents"]):
        if event.get("cat") in ("cpu_op", "user_annotation"):
            begin = trace["baseTimeNanoseconds"] + round(1000 * event["ts"])
            edges += [(begin, 0, number, event), (begin + round(1000 * event["dur"]), 1, -number, event)]
    return [(ns, ends, event) for ns, ends, _, event in sorted(edges, key=lambda edge: edge[:3])]


def stack_of(open_ones, event):
    """The frames of an operator: the operators around it on its thread, innermost first, and Python."""
    around = [one for one in reversed(open_ones) if one["tid"] == event["tid"] and one["cat"] == "cpu_op"]
    names = [one["name"] for one in around]
    frames = [Frame(f"at::_ops::{name[6:]}::call(at::Tensor const&)", "??", 0) for name in names
              if name.startswith("aten::")]
    nodes = [Frame(f"torch::autograd::generated::{name}::apply(std::vector<at::Tensor>&&)", "??", 0) for name in names
             if name.endswith("Backward0")
             and "::" not in name]
    if nodes:
        return (*frames, *nodes, ENGINE)
    if any("foreach" in name for name in names):
        return (*frames, STEP, MAIN)
    return (*frames, FORWARD, MAIN) if any("forward" in one["name"] for one in open_ones) else (*frames, MAIN)


def simulate(run, rank):
    with gzip.open(os.path.join(TRACES, run, f"rank{rank}.pt.trace.json.gz")) as file:
        trace = json.load(file)
    allocator, alive, open_ones, frames = Allocator(rank), collections.defaultdict(list), [], (MAIN,)
    for size in BEFORE:
        allocator.alloc(size, (), recorded=False)
    for ns, ends, event in operators(trace):
        name, allocator.now = event["name"], max(allocator.now, ns // 1000)
        if event["cat"] == "user_annotation":
            allocator.annotations.append({"stage": "END" if ends else "START", "name": name, "device": rank,
                                          "time_us": ns // 1000})
        if not ends:
            open_ones.append(event)
            frames = stack_of(open_ones, event)
            freed = UNTIL_ZERO_GRAD if name.startswith("Optimizer.zero_grad") else ()
            logged = any(one["name"] == LOGGED for one in open_ones)
            used = {kind: len(alive[kind]) for kind in USES.get(name, ()) if kind != "logits" or not logged}
            makes = dict(MAKES.get(name, {}))
            if name == "aten::mm":      # for an activation's gradient, then for the weights'
                makes = {"grad": X} if event["args"]["Input Dims"][0][0] == 4096 else {"weights": 4 * 1024 * 1024}
                used = {"grad": len(alive["grad"])} if "grad" in makes else {}
            for kind, size in makes.items():
                alive[kind].append(allocator.alloc(size, frames))
            event["used"] = used
        else:
            open_ones.remove(event)
            for kind, count in event["used"].items():
                if count:
                    allocator.release(alive[kind].pop(count - 1), frames)
            freed = ("gelu",) if name == "aten::clone" else ("roots",) if name.startswith("Optimizer.step") else \
                ("ids", "grad", "clone", "normal") if name == "aten::embedding_dense_backward" else ()
        for kind in freed:
            while alive[kind]:
                allocator.release(alive[kind].pop(), frames)
    return allocator.snapshot()


def generate():
    """The name in the folder and the bytes of each file."""
    for run in RUNS:
        for rank in RANKS:
            yield f"{run}/rank{rank}.pickle.gz", pickle.dumps(simulate(run, rank), protocol=4)


def holds(path, data):
    try:
        with gzip.open(path) as file:
            return file.read() == data
    except (OSError, EOFError):
        return False


def main():
    parser = argparse.ArgumentParser(description="Generate snapshots of the allocator of the runs in examples/gpu.")
    parser.add_argument("outdir", nargs="?", default=os.path.join(ROOT, "examples", "memory", "gpu"))
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the files are not these")
    options = parser.parse_args()
    files = {os.path.join(options.outdir, name): content for name, content in generate()}
    if options.check:
        if stale := [path for path, data in files.items() if not holds(path, data)]:
            sys.exit("not what generate_memory_pair.py makes: " + ", ".join(stale))
        return
    for path, data in files.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(gzip.compress(data, 9, mtime=0))


if __name__ == "__main__":
    main()
