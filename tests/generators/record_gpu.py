"""Records real runs on one GPU with and without one cause of extra time, in turns.

    python record_gpu.py FOLDER [EXPERIMENT ...] [--runs 5]

FOLDER/EXPERIMENT/{control,test}/RUN/rankR.json.gz are the traces. FOLDER/runs.csv gets a row per run and rank:
`untraced_ms` is the mean step without the profiler, by the host's clock between two waits for the device. It needs
PyTorch and a GPU with CUDA. Two ranks, over gloo, share the GPU.

The model trains on generated batches. `large` keeps the device busy, so the host runs ahead; in `small` the device
waits for the host.
"""
import argparse
import csv
import gc
import os
import socket
import subprocess
import sys
import time

UNTRACED, WARM, RECORDED = 12, 3, 7
SIZES = {"large": (4, 1024, 4096, 2), "small": (8, 128, 512, 2)}  # sequences, their length, width, layers

# experiment: ranks, size, and the additions in test
EXPERIMENTS = {
    "attention": (1, "large", "softmax written out where control has scaled_dot_product_attention"),
    "copies": (1, "large", "each layer clones its input four times"),
    "sort": (1, "large", "sorts 64,000,000 numbers where control sorts 1,000,000"),
    "float32": (1, "large", "computes in float32 where control has bfloat16"),
    "width": (1, "large", "the wide layers are 5 times as wide as the others where those of control are 4 times"),
    "checks": (1, "large", "each layer asks the device whether its output is finite"),
    "pageable": (1, "large", "batches lie in memory that is not pinned"),
    "prefetch": (1, "large", "copies a batch when it is needed, where control does a step earlier, on another stream"),
    "checkpoint": (1, "large", "computes the activations of each layer again in the backward pass"),
    "neighbour": (1, "large", "another process multiplies on the same GPU"),
    "hidden": (1, "large", "the host sleeps 3 ms between forward and backward, while the device is busy"),
    "sleep": (1, "small", "the host sleeps 3 ms between forward and backward"),
    "loop": (1, "small", "a Python loop of 40 operators in the forward pass"),
    "optimizer": (1, "small", "AdamW without fused=True"),
    "loader": (1, "small", "the dataset, in the main process, computes 5 ms per batch"),
    "graphed": (1, "small", "none: forward and backward are CUDA graphs where control runs operator by operator"),
    "compiled": (1, "large", "none: the model is compiled where control runs operator by operator"),
    "rank_loader": (2, "small", "the dataset of rank 1 sleeps 30 ms per batch"),
    "rank_sort": (2, "small", "rank 1 sorts 64,000,000 numbers on the device where control sorts 1,000,000"),
}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("folder")
    arguments.add_argument("experiments", nargs="*")
    arguments.add_argument("--runs", type=int, default=5)
    arguments = arguments.parse_intermixed_args()
    os.makedirs(arguments.folder, exist_ok=True)
    chosen = arguments.experiments or list(EXPERIMENTS)
    for ranks in (1, 2):
        names = [name for name in chosen if EXPERIMENTS[name][0] == ranks]
        if names:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = str(free.getsockname()[1])
            started = [subprocess.Popen([sys.executable, __file__, "--rank", str(rank), str(ranks), port,
                                         arguments.folder, str(arguments.runs), *names]) for rank in range(ranks)]
            if any([process.wait() for process in started]):
                sys.exit("record_gpu.py: a rank has failed")


def one_rank(rank, ranks, port, folder, runs, *names):
    """The process of a rank: all runs of the experiments."""
    import torch
    if ranks > 1:
        torch.distributed.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=ranks)
    with open(f"{folder}/runs{rank if rank else ''}.csv", "a", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        if not file.tell():
            table.writerow(["experiment", "side", "run", "rank", "untraced_ms"])
        for run in range(1, runs + 1):
            for name in names:
                for side in ("control", "test") if run % 2 else ("test", "control"):
                    goal = f"{folder}/{name}/{side}/{run:02}"
                    os.makedirs(goal, exist_ok=True)
                    neighbour = start_neighbour() if name == "neighbour" and side == "test" else None
                    path = f"{goal}/rank{rank}.json.gz"
                    untraced = train(torch, rank, ranks, name, side == "test", path)
                    if neighbour:
                        neighbour.kill()
                        neighbour.wait()
                    row = [name, side, f"{run:02}", rank, f"{untraced:.3f}"]
                    table.writerow(row)
                    print(*row, flush=True)
                    file.flush()
                    gc.collect()
                    torch.cuda.empty_cache()


def start_neighbour():
    """A process that multiplies on the GPU until it is killed."""
    started = subprocess.Popen([sys.executable, __file__, "--neighbour"], stdout=subprocess.PIPE)
    started.stdout.readline()
    return started


def neighbour():
    import torch
    one = torch.rand(2048, 2048, device="cuda")
    for number in range(1 << 62):
        one.mm(one)
        if number % 50 == 49:
            torch.cuda.synchronize()
        if number == 99:
            print("ready", flush=True)


def model_of(torch, name, planted, size):
    from torch.nn import functional
    sequences, length, width, layers = SIZES[size]
    wide = 5 if name == "width" and planted else 4

    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.project, self.back = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)

        def forward(self, x):
            shape = (x.shape[0], length, 3, width // 64, 64)
            q, k, v = self.project(x).view(shape).permute(2, 0, 3, 1, 4)
            if name == "attention" and planted:
                x = torch.softmax(q @ k.transpose(-2, -1) / 8, -1) @ v
            else:
                x = functional.scaled_dot_product_attention(q, k, v)
            return self.back(x.transpose(1, 2).reshape(-1, length, width))

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.before, self.between = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
            self.attention = Attention()
            self.mlp = torch.nn.Sequential(torch.nn.Linear(width, wide * width), torch.nn.GELU(),
                                           torch.nn.Linear(wide * width, width))

        def forward(self, x):
            if name == "copies" and planted:
                for _ in range(4):
                    x = x.clone()
            x = x + self.attention(self.before(x))
            x = x + self.mlp(self.between(x))
            if name == "checks" and planted and not torch.isfinite(x).all().item():
                raise ValueError("the output of a layer is not finite")
            return x

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList(Layer() for _ in range(layers))

        def forward(self, x):
            for layer in self.layers:
                if name == "checkpoint" and planted:
                    x = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)
                else:
                    x = layer(x)
            return x

    return Model().cuda()


def train(torch, rank, ranks, name, planted, path):
    """Trains and records; returns the mean step without the profiler, in ms."""
    from torch.profiler import ProfilerActivity, profile, record_function, schedule
    size = EXPERIMENTS[name][1]
    sequences, length, width, _ = SIZES[size]
    batch = torch.rand(sequences, length, width)
    if name != "pageable" or not planted:
        batch = batch.pin_memory()

    class Batches(torch.utils.data.Dataset):
        def __len__(self):
            return UNTRACED + WARM + RECORDED + 1

        def __getitem__(self, index):
            if name == "loader" and planted:
                end = time.perf_counter() + .005
                while time.perf_counter() < end:
                    pass
            if name == "rank_loader" and planted and rank == 1:
                time.sleep(.03)
            return batch

    torch.manual_seed(0)
    model = model_of(torch, name, planted, size)
    fused = not (name == "optimizer" and planted)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=fused, foreach=None if fused else False)
    numbers = torch.rand(64_000_000 if planted and rank == ranks - 1 else 1_000_000, device="cuda")
    small = torch.rand(128, 512, device="cuda")
    if name == "graphed" and planted:
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
            model = torch.cuda.make_graphed_callables(model, (batch.cuda().requires_grad_(),))
    if name == "compiled" and planted:
        model = torch.compile(model)
    if ranks > 1:
        model = torch.nn.parallel.DistributedDataParallel(model)

    ahead, stream = [], torch.cuda.Stream()

    def copied(batch):
        if name != "prefetch" or planted:
            return batch.cuda(non_blocking=True)
        with torch.cuda.stream(stream):
            ahead.append((batch.cuda(non_blocking=True), stream.record_event()))
        batch, event = ahead.pop(0) if len(ahead) > 1 else ahead[0]
        torch.cuda.current_stream().wait_event(event)
        batch.record_stream(torch.cuda.current_stream())
        return batch

    def step(batch):
        batch = copied(batch)
        with record_function("forward"), torch.autocast("cuda", torch.bfloat16, enabled=not (
                name == "float32" and planted), cache_enabled=name != "graphed"):
            if name.endswith("sort"):
                batch = batch + numbers.sort().values[0]
            if name == "loop" and planted:
                some = small
                for _ in range(20):
                    some = some * 1.01 + .01
                batch = batch + some
            loss = model(batch).float().square().mean()
        if name in ("sleep", "hidden") and planted:
            time.sleep(.003)
        with record_function("backward"):
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    batches = iter(torch.utils.data.DataLoader(Batches(), batch_size=None))
    for number in range(UNTRACED):
        if number == 2:
            torch.cuda.synchronize()
            start = time.perf_counter()
        step(next(batches))
    torch.cuda.synchronize()
    untraced = (time.perf_counter() - start) / (UNTRACED - 2) * 1000
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True,
                 schedule=schedule(wait=0, warmup=WARM, active=RECORDED, repeat=1),
                 experimental_config=torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)) as profiler:
        for _ in range(WARM + RECORDED):
            step(next(batches))
            profiler.step()
    profiler.export_chrome_trace(path)
    return untraced


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rank"]:
        one_rank(*map(int, sys.argv[2:4]), sys.argv[4], sys.argv[5], int(sys.argv[6]), *sys.argv[7:])
    elif sys.argv[1:] == ["--neighbour"]:
        neighbour()
    else:
        main()
