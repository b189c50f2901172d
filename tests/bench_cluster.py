#!/usr/bin/python3
"""The cost of examples/cluster: a rank's shard, the merge of many, and the job's path, extrapolated to 10,000 ranks.

    usage: bench_cluster.py [MEGABYTES [RANKS]]     default: 35 MB of JSON per rank, two runs of 500 ranks

The traces of one rank are generated like in `make bench`, and 100 collectives per step are added to their shards. The
shards of the other ranks are copies with another rank, whose collectives start at other times; creating them would cost
as much as the first. The path is queried in the first rank's file; the answers of the others are copies.
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
    if os.waitstatus_to_exitcode(status) not in (0, 3):  # 3: ranks of the job are missing
        sys.exit(f"{' '.join(command)} failed")
    return after.ru_utime + after.ru_stime, time.monotonic() - begin, after.ru_maxrss / 1024


def edit(path, *statements):
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA synchronous = OFF")
        for statement, *values in statements:
            db.execute(statement, values)
        db.commit()


def add_collectives(shard):
    """Adds exposed collectives that end at the same time on all ranks."""
    edit(shard, ("""WITH RECURSIVE n(value) AS (VALUES (1) UNION ALL SELECT value + 1 FROM n WHERE value < 100)
                    INSERT INTO job_rows
                    SELECT side, NULL, kinds.column1, rank, CASE kinds.column1 WHEN 'collective' THEN iteration END,
                           start_ns + (end_ns - start_ns) / 101 * value - 2000,
                           start_ns + (end_ns - start_ns) / 101 * value, 1000000 + 100 * iteration + value, NULL,
                           'default_pg', NULL, 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL', 1
                    FROM job_rows CROSS JOIN n CROSS JOIN (VALUES ('collective'), ('exposed')) AS kinds
                    WHERE kind = 'step'""",))


def renumber(shard, rank):
    edit(shard, *((f"UPDATE {table} SET rank = ?", rank)
                  for table in ("files", "steps", "ops", "step_time", "job_rows")),
         ("UPDATE files SET start_ns = start_ns + ?, file = file || ?", rank, rank or ""),
         ("UPDATE inputs SET file = file || ?", rank or ""), ("UPDATE steps SET file = file || ?", rank or ""),
         ("UPDATE job_rows SET start_ns = end_ns - 2000 - (? * 7919 + event * 104729) % 100003 WHERE event >= 1000000",
          rank))


def measure_path(folder, merged, traces, ranks):
    """Queries the first ranks, and adds all answers. Prints the cost."""
    shards, asks = os.path.join(folder, "shards"), [measure("ask", merged, os.path.join(folder, "shards"), trace)
                                                    for trace in traces]
    with contextlib.closing(sqlite3.connect(merged)) as db:
        asked = db.execute("SELECT side, file, size, mtime_ns, made_by, stretches FROM job_asked"
                           " JOIN inputs USING (side, file)").fetchall()
        steps, stretches = db.execute("SELECT count(DISTINCT side || iteration), count(*) FROM job_path").fetchone()
    for number, key in enumerate(asked):
        first = os.path.join(shards, key[0], "rank0.json.gz.answer")
        if key[1] not in traces:
            copy = os.path.join(shards, key[0], f"{number}.answer")
            shutil.copy(first, copy)
            edit(copy, ("DELETE FROM asked",), ("INSERT INTO asked VALUES (?, ?, ?, ?, ?, ?)", *key))
    added = measure("add", merged, shards)
    print(f"the path: {stretches} stretches in {steps} steps, on {len(asked)} of {2 * ranks} files; "
          f"{sum(cost[0] for cost in asks) / len(asks):.2f} CPU s a file that is asked,"
          f" {max(cost[2] for cost in asks):.0f} MB of memory; "
          f"to add the answers {added[0]:.1f} CPU s, {added[1]:.1f} s")
    return sum(cost[0] for cost in asks) / len(asks)


def main(megabytes="35", ranks="500"):
    with tempfile.TemporaryDirectory() as folder:
        shards, costs, traces = os.path.join(folder, "shards"), [], []
        for side in ("control", "test"):
            trace = os.path.join(folder, side, "rank0.json.gz")
            os.mkdir(os.path.dirname(trace))
            subprocess.run([sys.executable, os.path.join(HERE, "generate_bench.py"), trace, megabytes, "kineto", side],
                           check=True,
                           stdout=subprocess.DEVNULL)
            costs.append(measure("make", side, shards, trace))
            first = os.path.join(shards, side, "rank0.json.gz.db")
            add_collectives(first)
            traces.append(trace)
            with contextlib.closing(sqlite3.connect(first)) as db:
                rows = {table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                        for table in ("ops", "step_time", "job_rows")}
            for rank in range(1, int(ranks)):
                shutil.copy(first, os.path.join(shards, side, f"rank{rank}.db"))
                renumber(os.path.join(shards, side, f"rank{rank}.db"), rank)
            renumber(first, 0)
        size, packed = os.path.getsize(first), os.path.getsize(trace)
        merged = os.path.join(folder, "merged.db")
        cpu, elapsed, peak = measure("merge", "--elsewhere", merged, shards)
        per_rank, per_merge, database = sum(cost[0] for cost in costs), cpu / int(ranks), os.path.getsize(merged)
        print(f"a rank: {megabytes} MB of JSON a side, {packed / 1e6:.1f} MB on disk; rows of its shard: {rows}")
        print(f"shards: {per_rank:.2f} CPU s a rank (both sides), {max(cost[2] for cost in costs):.0f} MB of memory, "
              f"{size / 1e3:.0f} kB each")
        print(f"merge of {ranks} ranks, both sides: {cpu:.1f} CPU s, {elapsed:.1f} s, {peak:.0f} MB of memory; "
              f"database {database / 1e6:.0f} MB")
        per_ask = measure_path(folder, merged, traces, int(ranks))
        times = AIM / int(ranks)
        print(f"extrapolated to {AIM:,} ranks: {AIM * per_rank / 3600:.1f} CPU hours of shards,"
              f" {AIM * 2 * size / 1e9:.1f} GB of shards, "
              f"{AIM * per_merge / 60:.0f} CPU minutes of merging, a database of {database * times / 1e9:.1f} GB; "
              f"{2 * AIM * per_ask / 3600:.1f} CPU hours if the path asked every file")


if __name__ == "__main__":
    main(*sys.argv[1:])
