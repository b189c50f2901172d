#!/usr/bin/env python3
"""Measures how fast tracediff reads generated traces, compared with other programs on the same files in the same run.

    usage: bench.py [SIZE [FOLDER]]      like `make bench`; FOLDER, build/bench by default, keeps the traces

SIZE is small (0.3 MB per file, only to check answers), medium (35 MB, one file of 350 MB, 16 files of 34 MB, an
allocator snapshot of 100 MB; the default) or large (also a file of 1 GB and a snapshot of 1 GB). With CORPUS set, it
also measures HTA's own sample pair.

tracediff runs in a new sqlite3 shell, including its start. Programs alternate, and the best run of each counts. Answers
are compared with the generator's counts. It fails if one is wrong, if a hard case takes more than 3 times the CPU time
of the same events in Kineto's format, or if a snapshot takes more than a fifth of the CPU time of Python's pickle.load,
or more than 1.5 times its bytes.

    x zcat, x igzip     CPU time of tracediff divided by the program's, which only decompresses
    x plain             CPU time divided by the case `plain`, with the same events
    B/event             bytes of peak memory per event in the files
    M instr.            millions of instructions, counted by valgrind where it is installed, up to 100 MB
"""
import collections
import concurrent.futures
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GENERATOR = os.path.join(ROOT, "tests", "generators", "generate_bench.py")
EXTENSION = os.path.abspath(os.environ.get("TRACEDIFF") or os.path.join(ROOT, "dist", "tracediff.so"))
AWKWARD = ("line", "pretty", "shuffled", "escaped", "tids")
SNAPSHOTS = os.path.join(ROOT, "tests", "generators", "generate_memory.py")
EVENTS = {"small": 3_000, "medium": 300_000, "large": 3_000_000}    # per snapshot, with 60 frames each
MOST = 3            # limit for a hard case, as a multiple of the CPU time of `plain`
COUNTED = 100e6     # bytes of JSON up to which instructions are counted
SIZES = {"small": (0.3, 1, 4, 0), "medium": (35, 350, 16, 0), "large": (35, 350, 16, 1000)}
DECOMPRESSORS = {"zcat": ["zcat"], "igzip": ["igzip", "-dc"], "libdeflate": ["libdeflate-gunzip", "-c"]}

# files: the facts of each file of the case; answer: the expected result of the query, or None.
Case = collections.namedtuple("Case", "name folders query answer files")
Cost = collections.namedtuple("Cost", "cpu wall peak output")     # s, s, bytes


def run(command):
    """The cost of a command, as a whole process, and sqlite3's output. The peak is at least this process's own, about
    14 MB.
    """
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE if command[0] == "sqlite3" else subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    output = process.stdout.read().decode() if process.stdout else ""
    errors = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        sys.exit(f"{' '.join(command)}\nfailed: {errors}")
    return Cost(usage.ru_utime + usage.ru_stime, time.monotonic() - start, usage.ru_maxrss * 1024, output.strip())


def generated(folder, *files):
    """The facts of traces, given as path in the folder and options; missing ones are generated."""
    def one(file):
        path, options = os.path.join(folder, file[0]), map(str, file[1:])
        if not os.path.exists(path + ".facts") or os.path.getmtime(path + ".facts") < os.path.getmtime(GENERATOR):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            command = [sys.executable, GENERATOR, path, *options]
            facts = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            with open(path + ".facts", "w", encoding="utf-8") as kept:
                kept.write(facts)
        with open(path + ".facts", encoding="utf-8") as kept:
            return {"path": path, **json.load(kept)}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, files))


def diff_case(name, control, test, files, answer):
    return Case(name, (control, test), f"SELECT count(*) FROM trace_diff('{control}', '{test}')"
                " WHERE control_iteration = 'first' AND test_iteration = 'first' AND use_short_name = 0", answer, files)


def ops_case(name, files):
    folder = os.path.dirname(files[0]["path"])
    names = len(set().union(*(file["names"] for file in files)))
    query = "SELECT count(DISTINCT name), sum(counts), CAST(round(1000 * sum(total_duration)) AS INTEGER) " \
        f"FROM trace_ops('{folder}', 'all', 'all')"
    answer = f"{names}|{sum(file['rows'] for file in files)}|{sum(file['ns'] for file in files)}"
    return Case(name, (folder,), query, answer, files)


def cases(size, folder):
    megabytes, big, many, huge = SIZES[size]
    pair = generated(folder, ("pair/control/rank0.json.gz", megabytes, "kineto", "control"),
                     ("pair/test/rank0.json.gz", megabytes, "kineto", "test", 2))
    yield diff_case("pair", *(os.path.dirname(file["path"]) for file in pair), pair,
                    str(len(set(pair[0]["first_names"]) | set(pair[1]["first_names"]))))
    sample = os.path.join(os.environ.get("CORPUS", ""), "hta", "trace_diff")
    if "CORPUS" in os.environ and os.path.isdir(sample) and size != "small":
        sides = [os.path.join(sample, side) for side in ("control", "test")]
        files = [facts_of(path) for side in sides for path in glob.glob(side + "/*.gz")]
        yield diff_case("HTA's pair", *sides, files, None)
    yield ops_case("one file", generated(folder, ("big/rank0.json.gz", big)))
    yield ops_case(f"{many} files", generated(
        folder, *((f"many/rank{rank}.json.gz", megabytes, "kineto", "control", rank) for rank in range(many))))
    if huge:
        yield ops_case("one file", generated(folder, ("huge/rank0.json.gz", huge)))
    yield ops_case("plain", pair[:1])
    for style in AWKWARD:
        yield ops_case(style, generated(folder, (f"{style}/rank0.json.gz", megabytes, style)))
    yield ops_case("not gzip", generated(folder, ("text/rank0.json", megabytes)))


def measure_snapshot(size, folder):
    """A row in the table of snapshots: tracediff and pickle.load, in turns. Exits if the peak is wrong, or if a limit
    is exceeded.
    """
    path = os.path.join(folder, "snapshot", "rank0.pickle")
    facts = path + ".facts"
    if not os.path.exists(facts) or os.path.getmtime(facts) < os.path.getmtime(SNAPSHOTS):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        made = subprocess.run([sys.executable, SNAPSHOTS, path, str(EVENTS[size]), "60"], check=True,
                              capture_output=True, text=True)
        with open(facts, "w", encoding="utf-8") as kept:
            kept.write(made.stdout)
    with open(facts, encoding="utf-8") as kept:
        peak = json.load(kept)["peak"]
    query = f"SELECT peak_bytes FROM memory_files('{path}')"
    costs = best({"tracediff": sqlite(query),
                  "python": [sys.executable, "-c", "import pickle, sys; pickle.load(open(sys.argv[1], 'rb'))", path]},
                 1 if size == "small" else 3)
    cpu, wall, memory, output = costs["tracediff"]
    if output != str(peak):
        sys.exit(f"{query}\ngave {output}, not {peak}")
    ratio, length = cpu / costs["python"].cpu, os.path.getsize(path)
    if size != "small" and (ratio > 0.2 or memory > 1.5 * max(length, 100e6)):
        sys.exit(f"a snapshot takes {ratio:.3f} of the CPU time of pickle.load, and {memory / length:.2f} times its"
                 f" bytes")
    return ["snapshot", ratio, cpu, wall, memory / 1e6, length / 1e6, EVENTS[size] / 1e3, costs["python"].cpu,
            costs["python"].peak / 1e6]


def facts_of(path):
    """Size and number of events of a trace that was not generated here."""
    answer = run(sqlite(f"SELECT json_size || ' ' || events FROM trace_files('{path}')")).output.split()
    return {"path": path, "bytes": int(answer[0]), "events": int(answer[1])}


def sqlite(sql):
    return ["sqlite3", "-cmd", f".load {EXTENSION}", ":memory:", sql]


def installed(programs):
    return {name: command for name, command in programs.items() if shutil.which(command[0])}


def best(programs, rounds):
    """The best CPU and wall time of each program over alternating runs."""
    costs = collections.defaultdict(list)
    for _ in range(rounds):
        for name, command in programs.items():
            costs[name].append(run(command))
    return {name: Cost(min(one.cpu for one in ran), min(one.wall for one in ran), max(one.peak for one in ran),
                       ran[0].output) for name, ran in costs.items()}


def instructions(command):
    """Millions of instructions, or None."""
    if not shutil.which("valgrind"):
        return None
    counter = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    done = subprocess.run([*counter, *command], capture_output=True, text=True, check=True)
    return int(re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)[1].replace(",", "")) / 1e6


def has_module(name):
    return subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True, check=False).returncode == 0


EACH = "SELECT value ->> 'name' name, count(*) n, sum(value ->> 'dur') us " \
    "FROM json_each(readfile('{}'), '$.traceEvents') WHERE value ->> 'ph' = 'X' GROUP BY 1"
UNNEST = "SELECT e.name, count(*) n, sum(e.dur) us FROM (SELECT unnest(traceEvents) e FROM read_json('{}', " \
    "maximum_object_size = 2000000000, " \
    "columns = {{traceEvents: 'STRUCT(ph VARCHAR, name VARCHAR, dur DOUBLE)[]'}})) " \
    "WHERE e.ph = 'X' GROUP BY 1"
BOTH = "SELECT count(*) FROM (SELECT name, sum(n), sum(us) FROM ({} UNION ALL {}) GROUP BY 1)"
HTA = "import sys; from hta.trace_diff import TraceDiff; print(len(TraceDiff.compare_traces(*sys.argv[1:])))"
PERFETTO = "SELECT name, count(*), sum(dur) FROM slice GROUP BY 1;\n"


def others(case, folder):
    """Programs that count the X events of each name in both sides of a pair, and sum their durations."""
    paths = [file["path"] for file in case.files]
    texts = [os.path.join(folder, f"pair{side}.json") for side in range(2)]     # SQLite's functions cannot read gzip
    for path, text in zip(paths, texts):
        with gzip.open(path) as packed, open(text, "wb") as file:
            shutil.copyfileobj(packed, file)
    programs = {"json_each of sqlite3": ["sqlite3", ":memory:", BOTH.format(*map(EACH.format, texts))]}
    question = BOTH.format(*map(UNNEST.format, paths))
    if shutil.which("duckdb"):
        programs["DuckDB"] = ["duckdb", ":memory:", question]
    elif has_module("duckdb"):
        programs["DuckDB"] = [sys.executable, "-c", f"import duckdb; print(duckdb.sql({question!r}).fetchall())"]
    if has_module("hta"):
        programs["HTA"] = [sys.executable, "-c", HTA, *case.folders]
    processor = shutil.which("trace_processor_shell") or shutil.which("trace_processor")
    if processor:
        query = os.path.join(folder, "perfetto.sql")
        with open(query, "w", encoding="utf-8") as file:
            file.write(PERFETTO)
        programs["trace_processor of Perfetto"] = [
            "sh", "-c", '"$1" -q "$2" "$3" && "$1" -q "$2" "$4"', "sh", processor, query, *paths]
    return programs


def figure(value):
    """About three digits."""
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:,.{3 if value < 1 else 2 if value < 10 else 0}f}"


def table(heads, rows):
    """Prints a table in Markdown."""
    rows = [heads, *([figure(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    rows.insert(1, ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])])
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(value.rjust(width) for value, width in zip(row[1:], widths[1:]))]
        print("|", " | ".join(cells), "|")
    print(flush=True)


def measure(case, size, plain_cpu):
    """A row of the table, and the CPU time."""
    print(f"measuring {case.name}", file=sys.stderr, flush=True)
    paths = [file["path"] for file in case.files]
    total, events = (sum(file[fact] for file in case.files) for fact in ("bytes", "events"))
    programs = {"tracediff": sqlite(case.query)}
    if paths[0].endswith(".gz"):
        programs.update({name: [*command, *paths] for name, command in installed(DECOMPRESSORS).items()})
    costs = best(programs, 1 if size == "small" else 5 if total < COUNTED else 3)
    cpu, wall, peak, output = costs["tracediff"]
    if case.answer not in (None, output):
        sys.exit(f"{case.name}: {case.query}\ngave {output}, not {case.answer}")
    ratios = [cpu / costs[name].cpu if name in costs else None for name in DECOMPRESSORS]
    counted = instructions(programs["tracediff"]) if total < COUNTED and size != "small" else None
    to_plain = cpu / plain_cpu if case.name in AWKWARD else None
    return [case.name, *ratios, to_plain, cpu, wall, peak / 1e6, total / 1e6, total / 1e6 / cpu, events / 1e3,
            peak / events, counted], cpu


def main(size="medium", folder=os.path.join(ROOT, "build", "bench")):
    rows, plain, pair, too_slow = [], None, None, []
    folder = os.path.join(os.path.abspath(folder), size)
    for case in cases(size, folder):
        row, cpu = measure(case, size, plain)
        rows.append(row)
        pair = pair or case
        plain = cpu if case.name == "plain" else plain
        if case.name in AWKWARD and cpu > MOST * plain:
            too_slow.append(case.name)
    print(f"{size}: tracediff in a new sqlite3 shell, {os.cpu_count()} processors; "
          f"{run(sqlite('SELECT tracediff_debug()')).output}\n")
    table(["case", *(f"x {name}" for name in DECOMPRESSORS), "x plain", "CPU s", "wall s", "peak MB", "MB of JSON",
           "MB/CPU s", "1000 events", "B/event", "M instr."], rows)
    print("measuring a snapshot", file=sys.stderr, flush=True)
    table(["case", "x pickle.load", "CPU s", "wall s", "peak MB", "MB", "1000 events", "its CPU s", "its peak MB"],
          [measure_snapshot(size, folder)])
    print("measuring other programs", file=sys.stderr, flush=True)
    costs = best({"tracediff": sqlite(pair.query), **others(pair, folder)}, 1)
    table(["the pair by", "x tracediff", "CPU s", "wall s", "peak MB"],
          [[name, cost.cpu / costs["tracediff"].cpu, cost.cpu, cost.wall, cost.peak / 1e6]
           for name, cost in costs.items()])
    if too_slow and size != "small":
        sys.exit(f"more than {MOST} times the CPU time of plain: {', '.join(too_slow)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
