#!/usr/bin/env python3
"""Two runs of many ranks, summarised on a Dask cluster and merged into one database.

usage: dask_ranks.py CONTROL TEST SHARDS DATABASE [SCHEDULER | WORKERS]

CONTROL and TEST are directories of traces. SHARDS is a folder for the shards: what is there and whole is kept, so the
same line goes on where a run was stopped. SCHEDULER is the address of a Dask scheduler, such as tcp://host:8786, whose
workers see these paths and this checkout; WORKERS, the number of processes on this machine (default: its processors).
"""
import glob
import os
import sys
import time

from dask.distributed import Client, as_completed

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
import shards  # noqa: E402


def work(here, name, *arguments):
    """Runs a function of shards.py on a worker."""
    if here not in sys.path:
        sys.path.insert(0, here)
    import shards  # pylint: disable=import-outside-toplevel,redefined-outer-name,reimported
    return getattr(shards, name)(*arguments)


def run_all(client, name, traces, columns):
    """Runs shards.make or shards.ask for each trace. Returns the number of each outcome; says how far it is."""
    # A worker that dies is started again, and its jobs go to others; a job whose worker dies four times is given up.
    futures = client.map(work, [HERE] * len(traces), [name] * len(traces), *columns, pure=False, retries=2)
    names = dict(zip(futures, traces))
    counts, said = {"made": 0, "kept": 0, "left out": 0}, 0
    for done, (future, result) in enumerate(as_completed(names, with_results=True, raise_errors=False), 1):
        if future.status != "finished":
            result = result[1]
        if result not in counts:
            print(f"{names[future]}: {result}", file=sys.stderr)
            result = "left out"
        counts[result] += 1
        if time.monotonic() > said + 5 or done == len(traces):
            said = time.monotonic()
            print(f"{name}: {done} of {len(traces)} files: " + ", ".join(f"{n} {what}" for what, n in counts.items()),
                  flush=True)
    return counts


def files(run):
    return [path for pattern in ("*.json", "*.gz")
            for path in sorted(glob.glob(os.path.join(glob.escape(run), pattern)))]


def main(control, test, folder, database, workers=str(os.cpu_count())):
    jobs = [(side, os.path.abspath(path)) for side, run in zip(shards.SIDES, (control, test)) for path in files(run)]
    if {side for side, _ in jobs} != set(shards.SIDES):
        sys.exit(f"no *.json or *.gz in {control} or in {test}")
    folder, shared = os.path.abspath(folder), os.path.abspath(database)
    local = {"n_workers": int(workers), "threads_per_worker": 1, "dashboard_address": None} if workers.isdigit() else {}
    with Client(**local) if local else Client(workers) as client:
        sides, traces = zip(*jobs)
        counts = run_all(client, "make", traces, (sides, traces, [folder] * len(jobs)))
        status = shards.report(database, *shards.merge(database, [folder]))
        traces = shards.asked_files(database)
        run_all(client, "ask", traces, ([shared] * len(traces), traces, [folder] * len(traces)))
    print(f"added {shards.add(database, [folder])} answers to {database}")
    return 3 if counts["left out"] else status


if __name__ == "__main__":
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("stopped: the same line goes on from here")
