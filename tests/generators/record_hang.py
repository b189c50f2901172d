"""One rank of a job of CPU ranks whose last all_reduce hangs: record_hang.py RANK RANKS FOLDER MISSING. It writes the
dump of PyTorch's flight recorder, as FOLDER/pickle/trace_RANK and FOLDER/json/trace_RANK.json. Rank MISSING does not
call the last all_reduce; -1: all ranks call it, and it ends. Set TORCH_FR_BUFFER_SIZE.
"""
import os
import sys
import time
from datetime import timedelta


def write(path, content):
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def main(rank, ranks, folder, missing):
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=f"file://{os.path.abspath(folder)}/store", rank=rank,
                            world_size=ranks, timeout=timedelta(seconds=60))
    ones = torch.ones(8)
    for _ in range(3):
        dist.all_reduce(ones)
    halves = [dist.new_group(list(half)) for half in (range(ranks // 2), range(ranks // 2, ranks))]
    dist.broadcast(ones, rank // (ranks // 2) * (ranks // 2), group=halves[rank // (ranks // 2)])
    work = dist.all_reduce(ones, async_op=True) if rank != missing else None
    if missing < 0:
        work.wait()
    write(os.path.join(folder, f"ready_{rank}"), b"")
    while len([name for name in os.listdir(folder) if name.startswith("ready_")]) < ranks:
        time.sleep(0.05)
    time.sleep(0.5)
    recorder = torch._C._distributed_c10d
    write(os.path.join(folder, "pickle", f"trace_{rank}"), recorder._dump_fr_trace())
    write(os.path.join(folder, "json", f"trace_{rank}.json"), recorder._dump_fr_trace_json())
    write(os.path.join(folder, f"done_{rank}"), b"")
    while len([name for name in os.listdir(folder) if name.startswith("done_")]) < ranks:
        time.sleep(0.05)
    os._exit(0)  # the all_reduce that hangs is not awaited


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
