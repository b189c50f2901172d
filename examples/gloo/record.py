"""Record the same training with several processes over gloo, on the CPU of one machine, and with one thing planted.

    python record.py WORLD PLANT FOLDER

PLANT is 'control', 'loader' (the dataset of rank 1 sleeps, 80 ms per batch) or 'operator' (the model of rank 2 sorts
300,000 numbers, which takes some 30 ms on an idle processor). FOLDER gets a file for each rank.
"""
import os
import socket
import sys
import time

import torch
from torch.distributed import destroy_process_group, init_process_group
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, schedule
from torch.utils.data import DataLoader, Dataset

BATCH, STEPS = 8, {"wait": 2, "warmup": 2, "active": 7}


class Items(Dataset):
    def __init__(self, pause):
        self.pause = pause

    def __len__(self):
        return BATCH * sum(STEPS.values())

    def __getitem__(self, index):
        time.sleep(self.pause)
        return torch.full((64,), float(index % 7))


class Model(torch.nn.Module):
    def __init__(self, sorted_count):
        super().__init__()
        self.numbers = torch.rand(sorted_count)
        self.layers = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256),
                                          torch.nn.ReLU(), torch.nn.Linear(256, 16))

    def forward(self, batch):
        return self.layers(batch + self.numbers.sort().values[0])


def train(rank, world, plant, folder, port):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=world)
    batches = DataLoader(Items(0.01 if plant == "loader" and rank == 1 else 0), BATCH)
    model = DistributedDataParallel(Model(300_000 if plant == "operator" and rank == 2 else 8), bucket_cap_mb=0.1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(**STEPS), record_shapes=True,
                 on_trace_ready=lambda done: done.export_chrome_trace(f"{folder}/rank{rank}.json.gz")) as profiler:
        for batch in batches:
            loss = model(batch).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()
    destroy_process_group()


def main(world, plant, folder):
    os.makedirs(folder, exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(train, (world, plant, folder, port), world)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
