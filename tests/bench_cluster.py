#!/usr/bin/python3
"""What examples/cluster costs: a rank's shard, and the merge of many; and by that, of 10,000 ranks.

usage: bench_cluster.py [MEGABYTES [RANKS]]     default: 35 MB of JSON a rank, two runs of 500 ranks

The traces of one rank are generated as in `make bench`, and 100 collectives a step are added to their shards. The shards
of the other ranks are copies with another rank: to make them would cost what the first cost.
"""
import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SHARDS = os.path.join(os.path.dirname(HERE), "examples", "cluster", "shards.py")
AIM = 10_000


def measure(*command):
    """CPU seconds, elapsed seconds, and the peak in MB, of a process."""
    begin = time.monotonic()
    process = subprocess.Popen([sys.executable, SHARDS, *command], stdout=subprocess.DEVNULL)
    _, status, after = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 3):  # 3: ranks of the world are missing
        sys.exit(f"{' '.join(command)} failed")
    return after.ru_utime + after.ru_stime, time.monotonic() - begin, after.ru_maxrss / 1024


def renumber(shard, rank):
    with contextlib.closing(sqlite3.connect(shard)) as db:
        db.execute("PRAGMA synchronous = OFF")
        for table in ("files", "steps", "ops", "step_time", "collective_parts"):
            db.execute(f"UPDATE {table} SET rank = ?", (rank,))
        db.execute("UPDATE files SET start_ns = start_ns + ?, file = file || ?", (rank, rank))
        db.execute("UPDATE inputs SET file = file || ?", (rank,))
        db.commit()


def main(megabytes="35", ranks="500"):
    with tempfile.TemporaryDirectory() as folder:
        shards, costs = os.path.join(folder, "shards"), []
        for side in ("control", "test"):
            trace = os.path.join(folder, side, "rank0.json.gz")
            os.mkdir(os.path.dirname(trace))
            subprocess.run([sys.executable, os.path.join(HERE, "generate_bench.py"), trace, megabytes, "kineto", side], check=True,
                           stdout=subprocess.DEVNULL)
            costs.append(measure("make", side, shards, trace))
            first = os.path.join(shards, side, "rank0.json.gz.db")
            with contextlib.closing(sqlite3.connect(first)) as db:
                db.execute("""WITH RECURSIVE n(value) AS (VALUES (1) UNION ALL SELECT value + 1 FROM n WHERE value < 100)
                              INSERT INTO collective_parts
                              SELECT side, rank, iteration, 'default_pg', 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL', value,
                                     ts_ns + value, 1000
                              FROM steps CROSS JOIN n""")
                db.commit()
                rows = {table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                        for table in ("ops", "step_time", "collective_parts")}
            for rank in range(1, int(ranks)):
                shutil.copy(first, os.path.join(shards, side, f"rank{rank}.db"))
                renumber(os.path.join(shards, side, f"rank{rank}.db"), rank)
        size, packed = os.path.getsize(first), os.path.getsize(trace)
        merged = os.path.join(folder, "merged.db")
        cpu, elapsed, peak = measure("merge", "--elsewhere", merged, shards)
        per_rank, per_merge, database = sum(cost[0] for cost in costs), cpu / int(ranks), os.path.getsize(merged)
        print(f"a rank: {megabytes} MB of JSON a side, {packed / 1e6:.1f} MB on disk; rows of its shard: {rows}")
        print(f"shards: {per_rank:.2f} CPU s a rank (both sides), {max(cost[2] for cost in costs):.0f} MB of memory, "
              f"{size / 1e3:.0f} kB each")
        print(f"merge of {ranks} ranks, both sides: {cpu:.1f} CPU s, {elapsed:.1f} s, {peak:.0f} MB of memory; "
              f"database {database / 1e6:.0f} MB")
        times = AIM / int(ranks)
        print(f"extrapolated to {AIM:,} ranks: {AIM * per_rank / 3600:.1f} CPU hours of shards, {AIM * 2 * size / 1e9:.1f} GB of shards, "
              f"{AIM * per_merge / 60:.0f} CPU minutes of merging, a database of {database * times / 1e9:.1f} GB")


if __name__ == "__main__":
    main(*sys.argv[1:])
