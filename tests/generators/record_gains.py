"""Records real runs with and without one cause of extra time, in turns: the true gain of undoing it.

    python record_gains.py FOLDER [EXPERIMENT ...] [--runs 5]

FOLDER/EXPERIMENT/{control,test}/RUN/rankR.json.gz are the traces. FOLDER/runs.csv gets a row per run and rank: the
median, the lowest and the highest of its steps, without the first and the last, in ms. It needs PyTorch on a CPU, and
two processors. A run has a process per rank; rank R's runs on processor R alone, with one thread for its operators.

`delay_pct` is the share of the time in which the rank's main thread was ready but did not run, because its processor
had other work (Linux's schedstat). Each run keeps its first recording with at most MOST_DELAY on every rank, or else
the one with the least of TRIES. So steps play no part in the choice. The threads of gloo share the processor with the
main thread, and have priority (SCHED_FIFO, for root only); otherwise they would wait for the next tick, 4 ms.
"""
import argparse
import csv
import gzip
import json
import os
import socket
import statistics
import subprocess
import sys
import time

STEPS = {"wait": 3, "warmup": 2, "active": 5}
MOST_DELAY, TRIES = 1, 30
SIZES = {1: (128, 384), 2: (256, 96)}  # by ranks: rows and columns of a batch

# experiment: ranks, and the additions in test
EXPERIMENTS = {
    "operator": (1, "sorts 120,000 numbers where control sorts 20,000"),
    "loop": (1, "a Python loop of 40 operators in the forward pass"),
    "heads": (1, "a loop over 64 heads where control has one batched product"),
    "sleep": (1, "the host sleeps 3 ms between forward and backward"),
    "loader": (1, "the dataset, in the main process, computes 3 ms per batch"),
    "rank_operator": (2, "rank 1 sorts 240,000 numbers where control sorts 20,000"),
    "rank_loader": (2, "the dataset of rank 1 sleeps 15 ms per batch"),
    "hidden": (2, "rank 1 has the loop of 40 operators; rank 0 sleeps 20 ms per batch, on both sides"),
    "transfer": (2, "all_reduce of 1,200,000 numbers where control has 50,000"),
}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("folder")
    arguments.add_argument("experiments", nargs="*")
    arguments.add_argument("--runs", type=int, default=5)
    arguments = arguments.parse_intermixed_args()
    os.makedirs(arguments.folder, exist_ok=True)
    with open(f"{arguments.folder}/runs.csv", "a", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        if not file.tell():
            table.writerow(["experiment", "side", "run", "rank", "tries", "delay_pct", "step_ms", "lowest_ms",
                            "highest_ms"])
        for run in range(1, arguments.runs + 1):
            for experiment in arguments.experiments or EXPERIMENTS:
                for side in ("control", "test") if run % 2 else ("test", "control"):
                    table.writerows(record(experiment, side, f"{run:02}", arguments.folder))
                    file.flush()


def record(experiment, side, run, folder):
    """Records one run; returns its rows."""
    goal = f"{folder}/{experiment}/{side}/{run}"
    os.makedirs(goal, exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks = range(EXPERIMENTS[experiment][0])
    started = [subprocess.Popen([sys.executable, __file__, "--rank", str(rank), experiment, side, goal, str(port)],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for rank in ranks]
    rows = []
    for rank, process in zip(ranks, started):
        tries, delay = process.communicate()[0].split()
        steps = step_lengths(f"{goal}/rank{rank}.json.gz")
        rows.append([experiment, side, run, rank, int(tries), f"{float(delay):.2f}"] + [
            f"{figure:.3f}" for figure in (statistics.median(steps), min(steps), max(steps))])
    print(*rows, sep="\n", flush=True)
    return rows


def step_lengths(path):
    """The steps of a trace without the first and the last, in ms."""
    with gzip.open(path) as file:
        events = json.load(file)["traceEvents"]
    steps = sorted((event["ts"], event["dur"]) for event in events
                   if event.get("ph") == "X" and event["name"].startswith("ProfilerStep"))
    return [duration / 1000 for _, duration in steps[1:-1]]


def one_rank(rank, experiment, side, folder, port):
    """The process of a rank; prints the number of recordings and the delay of the kept one."""
    import torch
    ranks = EXPERIMENTS[experiment][0]
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[rank]})
    torch.set_num_threads(1)
    if ranks > 1:
        torch.distributed.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=ranks)
    path, kept = f"{folder}/rank{rank}.json.gz", None
    for thread in map(int, os.listdir("/proc/self/task")):
        if thread != os.getpid():
            os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(1))
    for tries in range(1, TRIES + 1):
        delay = train(torch, rank, ranks, experiment, side == "test", f"{folder}/try{rank}.json.gz")
        most = delay
        if ranks > 1:
            delays = [torch.zeros(1) for _ in range(ranks)]
            torch.distributed.all_gather(delays, torch.tensor([float(delay)]))
            most = max(float(value) for value in delays)
        if kept is None or most < kept[0]:
            os.replace(f"{folder}/try{rank}.json.gz", path)
            kept = most, delay
        if most <= MOST_DELAY:
            break
    if os.path.exists(f"{folder}/try{rank}.json.gz"):
        os.unlink(f"{folder}/try{rank}.json.gz")
    print(tries, kept[1], flush=True)
    os._exit(0)  # the libraries' work at exit is not needed


def train(torch, rank, ranks, experiment, planted, path):
    """Makes one recording; returns its delay in percent."""
    from torch.profiler import ProfilerActivity, profile, schedule
    rows, width = SIZES[ranks]

    class Batches(torch.utils.data.Dataset):
        def __len__(self):
            return sum(STEPS.values())

        def __getitem__(self, index):
            if experiment == "loader" and planted:
                sum(range(150_000))
            if experiment == "rank_loader" and planted and rank == 1:
                time.sleep(.015)
            if experiment == "hidden" and rank == 0:
                time.sleep(.020)
            return torch.full((rows, width), float(index % 7))

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            many = 120_000 if experiment == "operator" else 240_000 if rank == 1 else 20_000
            self.numbers = torch.rand(many if planted else 20_000)
            self.heads = torch.rand(64, width // 64, width // 64)
            self.wide = torch.rand(4 * rows, width)
            self.layers = torch.nn.Sequential(
                torch.nn.Linear(width, 2 * width, False), torch.nn.GELU(), torch.nn.Linear(2 * width, width, False),
                torch.nn.LayerNorm(width, elementwise_affine=False), torch.nn.Linear(width, width, False))

        def forward(self, batch):
            if experiment in ("operator", "rank_operator"):
                batch = batch + self.numbers.sort().values[0]
            if planted and (experiment == "loop" or experiment == "hidden" and rank == 1):
                wide = self.wide
                for _ in range(20):
                    wide = wide * 1.01 + .01
                batch = batch + wide[:rows]
            if experiment == "heads":
                heads = batch.view(rows, 64, -1).transpose(0, 1)
                if planted:
                    heads = torch.stack([heads[i] @ self.heads[i] for i in range(64)])
                else:
                    heads = heads @ self.heads
                batch = heads.transpose(0, 1).reshape(rows, width)
            return self.layers(batch)

    torch.manual_seed(0)
    model = Model()
    if ranks > 1:
        model = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=.05)
    batches = torch.utils.data.DataLoader(Batches(), batch_size=None)
    optimizer = torch.optim.SGD(model.parameters(), lr=.01)
    numbers = torch.rand(1_200_000 if planted else 50_000)
    delay = {}
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(**STEPS)) as profiler:
        for step, batch in enumerate(batches):
            loss = model(batch).square().mean()
            if experiment == "sleep" and planted:
                time.sleep(.003)
            loss.backward()
            if experiment == "transfer":
                torch.distributed.all_reduce(numbers)
                numbers /= ranks
            optimizer.step()
            optimizer.zero_grad()
            if step in (STEPS["wait"] + STEPS["warmup"], sum(STEPS.values()) - 2):
                delay[step] = ready_and_total()
            profiler.step()
    profiler.export_chrome_trace(path)
    (waited, start), (waited_after, end) = delay.values()
    return 100 * (waited_after - waited) / (end - start)


def ready_and_total():
    """How long this thread was ready without running, and the total time, in ns."""
    with open("/proc/thread-self/schedstat") as file:
        return int(file.read().split()[1]), time.monotonic_ns()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rank"]:
        one_rank(int(sys.argv[2]), *sys.argv[3:])
    else:
        main()
