"""Changes of a trace that must not matter, and relations between answers, for every table function that reads a trace
according to tracediff_columns. New functions are covered automatically; a new argument needs values here.

Traces are random ones (traces.py), examples/gpu and, with CORPUS, real ones. Each change gives the new files and says
how to translate the rows back: which labels, times and positions it moved. The result must equal the old rows.

  SEED    begins another series of traces and queries (default 1)
"""
import functools
import itertools
import json
import math
import os
import random
import re
import shutil
import sqlite3
import unittest
from collections import Counter, defaultdict

import traces
from made import ABSENT, InFolder, document, event, kernel, launch, step, write
from support import EXAMPLES, connect, corpus, series, slow, slowest
from traces import File, Style

SEED = int(os.environ.get("SEED") or 1)
SERIES = series(1, 3)  # random pairs of traces per test
CALLS = 1 if SERIES == 1 else 2  # random calls per function and change, besides one without optional arguments
PATHS = ("trace", "control", "test")
WITHOUT_TRACE = {"tracediff_help", "tracediff_columns", "memory_timeline", "execution_trace", "memory_files",
                 "memory_events", "memory_allocations",
                 # whose schedule belongs to one trace
                 "memory_segments", "memory_peak", "memory_diff", "memory_summary", "trace_job_parts",
                 "fr_dumps", "fr_entries", "fr_groups", "hang_ranks", "hang_summary",
                 "compilations", "compile_breaks", "compile_guards", "compile_events", "compile_ranks", "compile_files",
                 "compile_records", "compile_steps", "compile_diff"}

# Values for arguments; None is left out. Arguments without a default come first.
RANKS, ITERATIONS = (None, "all", 0, 1, "[0,1]"), (None, "all", "steady", "first", 1, "[1,2]")
VALUES = {
    "root": (None,), "phases": (None, "X", "all", "iB"), "ranks": RANKS, "control_rank": RANKS, "test_rank": RANKS,
    "iterations": ITERATIONS, "control_iteration": ITERATIONS, "test_iteration": ITERATIONS,
    "control_iterations": ITERATIONS,
    "device_type": (None, "CPU", "GPU"), "use_short_name": (None, 0, 1, 2),
    "per": (None, "trace"), "level": (None, "top_op", "module", "annotation", "kernel"), "clock": (None, "host"),
    "capture": (None,), "control_capture": (None,), "test_capture": (None,), "control_memory": (None,),
    "test_memory": (None,),
    "shapes": (None, 0, 1), "gains": (None, 0, 1), "diagnoses": (None, 0, 1), "patterns": (None,),
    "off_path": (None, 0, 1),
    **dict.fromkeys(("steps", "step_events"), (None, None, "profiler", "aten::%",
                                               '["ProfilerStep%", "nn.Module: %"]')),
    "keys": ("op", "op,shapes", "kernel", "module,annotation", "name,types", "stream,kernel_type", "cat,top_op"),
    "include_last_profiler_step": (None, 0, 1), "include_memory_events": (None, 0),
    "include_memory_kernels": (None, 0), "duration_ratio": (None, 0.3, 1), "num_kernels": (None, 1, 3),
    "use_gpu_annotation": (None, 0), "allowlist_patterns": (None, '["*ss", "#*"]'),
    "consecutive_kernel_delay": (None, 3), "max_queue_length": (None, 1, 2), "min_pattern_len": (None, 1, 2),
    "runs": (None, "auto"), "by_unit": (None, "run", "step"), "measure": (None, "total", "count"),
    "min_effect": (None, 0, 0.3), "names": (None, "aten::%", '["step", "%kernel%"]'), "min_diff": (None, 5),
    "operator_name": ("aten::", "linear", "autograd"), "shown": (None, 1, 4),
    "most": (None, 1, 3), "fallible": (None, 0, 1), "control_untraced": (None, 3),
    "control_log": (None, ""), "test_log": (None, ""),
    "test_untraced": (None, 4),
    "control_memory": (None,), "test_memory": (None,),
    "name": (None, "NVIDIA H200"), "limit_percent": (0, 5, 300), "least_ms": (None, 0.01),
    "changes": ("[]", '[{"what": "device", "factor": 0.5}]', '[{"what": "host", "op": "aten::%", "set_us": 5}]',
                '[{"what": "launch", "add_us": -3}, {"what": "device", "class": "memory", "remove": true}]')}
# columns that hold positions in traceEvents
EVENTS = {"queued_behind", "event", "parent", "link", "launch", "operator", "op_event", "fwd_event"}
ABSOLUTE = {"ts_ns", "start_ns", "end_ns", "start_unix_ns"}
TEXT = {"size", "json_size", "events"}     # columns about the text of the file, not about its content
SUMMARY = {"trace_summary", "trace_brief", "trace_comparability"}  # rounds, and reports problems of a trace
# built from other functions; half of the time would go to these
OF_OTHERS = {"trace_summary", "trace_brief", "trace_diff_report"}
# depend on what is new, or on what replaced what
DIRECTED = {"top_count_increases", "trace_step_causes", "trace_verdict", "trace_gate", "trace_work_diff",
            "trace_graph_diff", "trace_ab", "trace_clock_factor", "trace_host_factor", "trace_undo",
            "trace_cause_parts", "trace_long_steps", "trace_diagnoses", *SUMMARY}
OF_JOBS = {"trace_step_diff", "trace_step_causes", "trace_tree_diff", "trace_verdict", "trace_gate",
           "trace_compared_ranks", "trace_undo", "trace_cause_parts", "trace_long_steps", "trace_diagnoses",
           "trace_collective_rates"}  # without ranks
OF_ONE_JOB = {"trace_job_path", "trace_what_if", "trace_gains"}  # all selected ranks together
SIMULATED = {"trace_what_if", "trace_gains", "trace_undo"}  # with minimum times in us, rounded to ns
DIVIDED = {"trace_step_causes", "trace_cause_parts"}  # moved time is ns per step, times the number of steps (L12)
AGAINST_OTHERS = {"potential_stragglers", "trace_job_clocks"}  # compares each rank with the other selected ranks
OF_TEXT = {"trace_metadata"}               # like functions: keys, their order and the notation of values


class Missing(AssertionError):
    pass


@functools.lru_cache(maxsize=None)
def functions():
    """{name: ({argument: required}, (columns))} for every table function of a trace."""
    made = {}
    db = connect()
    for name, kind, each, required in db.execute("SELECT function, kind, name, required FROM tracediff_columns"
                                                 " ORDER BY rowid"):
        arguments, columns = made.setdefault(name, ({}, []))
        if kind == "argument":
            arguments[each] = bool(required)
        else:
            columns.append(each)
    db.close()
    return {name: (arguments, tuple(columns)) for name, (arguments, columns) in made.items()
            if columns and name not in WITHOUT_TRACE}


def random_call(rng, name, chance=0.35):
    """Random arguments besides the paths."""
    made = {}
    for argument, required in functions()[name][0].items():
        if argument in PATHS:
            continue
        if argument not in VALUES:
            raise Missing(f"{name}: VALUES has none for the argument {argument}")
        value = rng.choice(VALUES[argument]) if required or rng.random() < chance else None
        if value is not None:
            made[argument] = value
    return made


def statement(name, call, columns=None):
    """SQL for a call with named arguments."""
    terms = " AND ".join(f"{argument} = {quoted(value)}" for argument, value in call.items()) or "true"
    # check is a keyword; the example is the first in the file
    columns = columns or ['"check"' if column == "check" else column for column in functions()[name][1]
                          if name != "trace_health" or column not in ("event", "name", "ts_ns")]
    return f"SELECT {', '.join(columns)} FROM {name} WHERE {terms}"


def positional(name, call):
    """A call with its arguments in parentheses."""
    values = [quoted(call[each]) if each in call else "NULL" for each in functions()[name][0]]
    while values and values[-1] == "NULL":
        values.pop()
    return f"{name}({', '.join(values)})"


def quoted(value):
    return str(value) if isinstance(value, (int, float)) else "'" + value.replace("'", "''") + "'"


def ask(db, name, call, columns=None):
    """The rows as dicts, or the error."""
    try:
        cursor = db.execute(statement(name, call, columns))
        names = [column[0] for column in cursor.description]
        rows = [dict(zip(names, row)) for row in cursor]
        if name == "trace_brief":  # its queries contain the arguments
            rows = [{"json": re.sub(r'"sql":"([^"\\]|\\.)*"', "", row["json"])} for row in rows]
        if name == "trace_health":  # covers all ranks together, and names the lowest (I12)
            rows = [row for row in rows if row.get("check") != "not tied"]
        for row in rows if name == "trace_ab" else ():  # its note names the untrusted file (V13)
            row["note"] = re.sub("(?<=cannot be compared: )[^:]*: ", "", row.get("note") or "")
        return rows
    except sqlite3.Error as error:
        return str(error)


def has_left_out(name, found):
    """Whether a brief ran out of room: its queries quote the paths, and longer paths leave less room."""
    return (name == "trace_brief" and isinstance(found, list)
            and any('"left_out":{}' not in row["json"] for row in found))


def paths(name, here=()):
    """The paths of a call's traces in the folder of a variant."""
    here = dict(here)
    return {argument: here.get("test" if argument == "test" else "control", "test" if argument == "test" else "control")
            for argument in functions()[name][0] if argument in PATHS}


# ---- changes ---------------------------------------------------------------------------------------------------------

class Change:
    """A change of a trace, with the translation of new rows back to old ones."""

    def __init__(self, files, style=None, back=None, drop=(), ordered=True, skip=None, keep=None, where=None,
                 same_errors=True, **saving):
        self.files, self.style, self.back, self.drop = files, style, back or {}, set(drop)
        self.ordered, self.skip, self.keep, self.where, self.saving = ordered, skip, keep, where, saving
        self.same_errors = same_errors

    def original(self, rows):
        if isinstance(rows, str):
            return rows
        made = []
        for row in rows:
            if self.keep and not self.keep(row):
                continue
            made.append({column: self.back[column](value, row) if column in self.back and value is not None else value
                         for column, value in row.items()})
        return made


def event_back(moved):
    """{new file name: {new position: old}} as readers for the columns with positions."""
    def back(value, row):
        name = os.path.basename(row["file"]) if "file" in row else None
        return moved[re.sub(r"\.gz$", "", name)][value] if name else value
    return {column: back for column in EVENTS}


def each_event(files, alter):
    return {name: file.changed(alter) for name, file in files.items()}


def identity(rng, files):
    return Change(files)


def shifted(rng, files, by=None):
    by = by or rng.choice((1, -1)) * rng.choice((1, 999, 10 ** 6 + 1, 2 ** 53 + 1, 2 ** 61 + 12345))

    def alter(event):
        if isinstance(event.get("ts"), int):
            event["ts"] += by
        return event
    return Change(each_event(files, alter), back={column: lambda value, row: value - by for column in ABSOLUTE},
                  drop={"recorded on"}, skip=lambda name, call: name == "trace_ab")  # V9 uses the time of day


def based(rng, files):
    """Moves baseTimeNanoseconds, and ts in the opposite direction."""
    made = {}
    for name, file in files.items():
        by = rng.choice((1, 10 ** 9 + 1, 1_700_000_000_123_456_789, -12345))

        def alter(event, by=by):
            if isinstance(event.get("ts"), int):
                event["ts"] -= by
            return event
        made[name] = file.changed(alter, base=(file.base or 0) + by)
    return Change(made, drop={"start_unix_ns"})


def permuted(rng, files):
    """Reorders events, except those with equal ts: file order breaks ties (T3, T5, T10)."""
    made, moved = {}, {}
    for name, file in files.items():
        order = list(range(len(file.events)))
        rng.shuffle(order)
        slots = defaultdict(list)
        for at in order:
            slots[repr(file.events[at].get("ts"))].append(at)
        sorted_slots = {ts: iter(sorted(group)) for ts, group in slots.items()}
        order = [next(sorted_slots[repr(file.events[at].get("ts"))]) for at in order]
        made[name] = File([file.events[at] for at in order], file.head, file.base)
        moved[name] = dict(enumerate(order))
    return Change(made, back=event_back(moved), ordered=False)


def relabelled(rng, files, read, to, columns, skip=None):
    """`read(event)` gives the dict and its keys that hold a label; `to` renumbers labels one to one."""
    names = {}

    def alter(event):
        for place, key in read(event):
            if key in place and type(place[key]) in (int, str):
                place[key] = names.setdefault(place[key], to(len(names), place[key]))
        return event
    made = each_event(files, alter)
    back = {name: label for label, name in names.items()}
    return Change(made, back={column: lambda value, row: back[value] for column in columns}, ordered=False, skip=skip,
                  drop={"args"} if read(PROBE)[0][0] is not PROBE else ())


PROBE = {"args": {}}


def arguments_of(event):
    return event["args"] if isinstance(event.get("args"), dict) else {}


def of_args(*keys):
    return lambda event: [(arguments_of(event), key) for key in keys]


def pids(rng, files):
    spelling = rng.choice((lambda n, _: 5000 - 7 * n, lambda n, _: f"process {n}"))
    return relabelled(rng, files, lambda event: [(event, "pid")], spelling, ["pid"])


def tids(rng, files):
    spelling = rng.choice((lambda n, _: 5000 - 7 * n, lambda n, _: f"thread {n}"))
    return relabelled(rng, files, lambda event: [(event, "tid")], spelling, ["tid"])


def positive(step, start):
    """Labels above 0 become others above 0; all others stay."""
    return lambda n, value: start + step * n if isinstance(value, int) and value > 0 else value


def correlations(rng, files):
    return relabelled(rng, files, of_args("correlation", "wait_on_cuda_event_record_corr_id"),
                      rng.choice((positive(-1, 10 ** 6), positive(2 ** 33, 5))), ["correlation"])


def external_ids(rng, files):
    return relabelled(rng, files, of_args("External id"), positive(-3, 10 ** 7), [])


def streams(rng, files):
    def to(number, value):
        return value if isinstance(value, str) else 1000 - 7 * number if number else 0
    return relabelled(rng, files, of_args("stream", "wait_on_stream"), to, ["stream"],
                      # E6.3, E9.3: the same streams
                      skip=lambda name, call: "stream" in str(call.get("keys")) or name == "trace_undo"
                      or name in OF_OTHERS and call.get("gains") != 0)


def by_job(name, call):
    """Whether a call compares jobs by default (Q1.4)."""
    return name in OF_JOBS and "control_rank" not in call and "test_rank" not in call


def ranks_moved(rng, files):
    by = 17  # on both sides: work common to both ranks is compared (W9)
    made, names = {}, {}
    for name, file in files.items():
        if "distributedInfo" not in file.head:
            return None
        info = {**file.head["distributedInfo"], "rank": file.head["distributedInfo"]["rank"] + by}
        made[name] = File(file.events, {**file.head, "distributedInfo": info}, file.base)
    return Change(made, back={column: lambda value,
                              row: value - by for column in ("rank", "last_rank", "waiting_rank", "control_lowest",
                                                                              "test_lowest")},
                  skip=lambda name, call: any("rank" in each and call[each] != "all" for each in call)
                  or name.endswith("report") or name in SUMMARY  # which name ranks
                  # runs have the same ranks (V10); the rank of either side
                  or name in ("trace_ab", "trace_verdict", "trace_gate", "trace_undo")
                  or by_job(name, call))  # which covers ranks of both sides


def unrelated_rank(rng, files):
    """Adds a rank above the others when only those are selected."""
    more = traces.generate(random.Random(rng.random()), ranks=1, steps=2, first=40)
    file, = more.values()
    file.head["distributedInfo"]["rank"] = 77

    def skip(name, call):
        arguments, columns = functions()[name]
        asked = [call.get(each) for each in arguments if each in ("ranks", "control_rank", "test_rank")]
        everything = name in ALL_RANKS and None in asked
        return (name.endswith("report") or name in SUMMARY or "all" in asked or everything or name in OF_ONE_JOB
                or by_job(name, call))
    return Change({**files, "z_rank77.json": file}, skip=skip, same_errors=False,
                  keep=lambda row: row.get("rank") != 77)


def beside(rng, files):
    """T16: adds files that are not traces, are hidden, or are in a subfolder."""
    file = next(iter(files.values()))
    return Change({**files, "notes.json": '{"a": [1, 2, 3]}', "readme.txt": "text", ".hidden.json": "{",
                   "deeper/rank5.json": Style().document(file)},
                  keep=lambda row: not str(row.get("file")).endswith("notes.json"))


def compressed(rng, files):
    return Change(files, suffix=".gz", back={"file": lambda value, row: re.sub(r"\.gz$", "", value)})


def compressed_in_members(rng, files):
    return Change(files, suffix=".gz", members=rng.randrange(2, 9),
                  back={"file": lambda value, row: re.sub(r"\.gz$", "", value)})


def misnamed(rng, files):
    """Gives files wrong names; compression is detected by content."""
    return Change(files, members=2)


def indented(rng, files):
    return Change(files, Style(indent=rng.randrange(1, 9)))


def keys_in_another_order(rng, files):
    return Change(files, Style(rng, keys=True))


def unknown_keys(rng, files):
    return Change(files, Style(rng, unknown=True, last=rng.random() < 0.5))


def events_first(rng, files):
    """Moves the other keys behind traceEvents."""
    return Change(files, Style(last=True))


def escaped(rng, files):
    return Change(files, Style(rng, escapes=True))


def numbers_in_other_ways(rng, files):
    return Change(files, Style(rng, numbers=True))


def all_styles(rng, files):
    return Change(files, Style(rng, indent=2, keys=True, escapes=True, numbers=True, unknown=True), suffix=".gz",
                  members=3, back={"file": lambda value, row: re.sub(r"\.gz$", "", value)})


def renamed(rng, files):
    if not all("distributedInfo" in file.head for file in files.values()):
        return None
    order = list(files)
    rng.shuffle(order)
    names = {f"{number} caf\u00e9 '{chr(97 + number)}.json": name for number, name in enumerate(order)}

    def back(value, row):
        return os.path.join(os.path.dirname(value), names[os.path.basename(value)])
    return Change({new: files[old] for new, old in names.items()}, back={"file": back}, ordered=False)


def as_array(rng, files):
    order = list(files)
    rng.shuffle(order)
    return Change(files, where=lambda folder: json.dumps([f"{folder}/{name}" for name in order]), ordered=False,
                  # one run each
                  same_errors=False, skip=lambda name, call: name.endswith("report") or name == "trace_ab")


def as_pattern(rng, files):
    pattern = rng.choice(("{}/*", "{}/*.json", "{}/*.[j]son"))
    return Change(files, where=pattern.format, same_errors=False, skip=lambda name, call: name.endswith("report"))


def crossing(one, other):
    """Whether two spans share an end, or overlap without one containing the other."""
    (a, b), (c, d) = sorted((one, other))
    return a == c or b == d or b == c or a < c < b < d or a == b or c == d


def begins_and_ends(rng, files):
    """T3: writes X as B and E if the E can close no other B; an X that crosses an event of its name stays."""
    made, moved = {}, {}
    for name, file in files.items():
        groups = defaultdict(list)
        for at, event in enumerate(file.events):
            if event.get("ph") in ("X", "B") and type(event.get("ts")) is int and type(event.get("name")) is str:
                span = event["ts"], event["ts"] + max(event.get("dur", 0), 0)
                groups[repr((event.get("pid"), event.get("tid"), event["name"]))].append((at, span))
        chosen = set()
        for group in groups.values():
            plain = all(file.events[at]["ph"] == "X" and isinstance(file.events[at].get("dur"), int)
                        and file.events[at]["dur"] > 0 for at, _ in group)
            if plain and not any(crossing(one[1], other[1]) for one, other in itertools.combinations(group, 2)):
                chosen |= {at for at, _ in group if file.events[at].get("cat") != "Trace"}
        events, positions = [], {}
        for at, event in enumerate(file.events):
            positions[len(events)] = at
            if at in chosen:
                begin = {key: value for key, value in event.items() if key != "dur"}
                end = {key: event[key] for key in ("pid", "tid", "name") if key in event}
                events += [{**begin, "ph": "B"}, {**end, "ph": "E", "ts": event["ts"] + event["dur"]}]
            else:
                events.append(event)
        made[name], moved[name] = File(events, file.head, file.base), positions
    return Change(made, back=event_back(moved), drop={"ph"}, skip=lambda name, call: call.get("phases") in ("X", "iB"))


CHANGES = (identity, shifted, based, permuted, pids, tids, correlations, external_ids, streams, ranks_moved,
           unrelated_rank, beside, compressed, compressed_in_members, misnamed, indented, keys_in_another_order,
           unknown_keys, events_first, escaped, numbers_in_other_ways, all_styles, renamed, as_array, as_pattern,
           begins_and_ends)
ALL_RANKS = {"trace_events", "trace_collectives", "trace_job_clocks", "potential_stragglers", "trace_backward",
             "trace_validation"} | {
    name for name in functions() if "include_last_profiler_step" in functions()[name][0]}


# ---- comparison ------------------------------------------------------------------------------------------------------

def normal(row, drop):
    """A row of values to compare: JSON is parsed, and positions in the text are left out."""
    made = []
    for column, value in row.items():
        if column in TEXT or column in drop:
            continue
        if column == "problems" and value:
            value = json.dumps(sorted(((each.pop("first_byte", None), sorted(each.items()))[1]
                                       for each in json.loads(value)), key=repr))
        elif column == "args" and value:
            value = json.dumps(json.loads(value), sort_keys=True)
        elif column == "html":  # it contains the number of elements and bytes in the files
            *parts, end = re.split(r" events, [\d.]+ [kM]B in ", value)
            value = "".join(part.rstrip("0123456789,") for part in parts) + end
            if "recorded on" in drop:
                value = re.sub(r"(?s)<tr><th[^>]*>recorded on.*?</tr>\n?", "", value)
        made.append(value)
    return tuple(made)


def comparable(rows, change):
    if isinstance(rows, str):
        return re.sub(r"(at )?byte \d+", "byte", rows) if change.same_errors else "an error"
    made = [normal(row, change.drop) for row in rows]
    return made if change.ordered else sorted(made, key=repr)


def about(row):
    return repr([float(f"{value:.6g}") if isinstance(value, float) else value for value in row])


def near(one, other):
    """Whether rows differ at most in the last digits of REAL numbers, because sums of floats depend on their order."""
    return len(one) == len(other) and all(
        math.isclose(value, found, rel_tol=1e-10, abs_tol=1e-9) if isinstance(value, float) and isinstance(found, float)
        else value == found for value, found in zip(one, other))


def difference(wanted, found, exact=True):
    """The first rows that are on one side only, or None."""
    if wanted == found:
        return None
    if isinstance(wanted, str) or isinstance(found, str):
        return f"wanted {str(wanted)[:500]}\nfound  {str(found)[:500]}"
    if exact and sorted(wanted, key=repr) == sorted(found, key=repr):
        return "the same rows in another order"
    less, more = [], sorted(found, key=about)
    for row in sorted(wanted, key=about):
        same = next((other for other in more if (row == other if exact else near(row, other))), None)
        if same is None:
            less.append(row)
        else:
            more.remove(same)
    return "\n".join([f"{len(less)} and {len(more)} rows on one side only", *[f"wanted {row}" for row in less[:3]],
                      *[f"found  {row}" for row in more[:3]]]) if less or more else None


def pair(seed, **options):
    """Control and test: runs that are equal in part."""
    rng = random.Random(f"pair {seed}")
    options = {"ranks": rng.choice((1, 2, 2, 3)), "steps": rng.choice((1, 2, 4, 5)), "first": rng.choice((0, 1, 8)),
               "odd": rng.random() < 0.6, **options}
    control = traces.generate(rng, **options)
    return control, traces.generate(rng, **{**options, "ranks": rng.choice((options["ranks"], 1))})


def example():
    return tuple(traces.read(os.path.join(EXAMPLES, "gpu", side)) for side in ("control", "test"))


REAL = (("hta/trace_filter", "hta/trace_filter"), ("param", "param"), ("hta/amd_trace", "hta/triton_example"),
        ("hta/rank_unavailable", "hta/cpu_only"))


class Metamorphic(InFolder):
    """Applies each change to each function. All variants have the same folder names inside folders of their own, so
    paths in errors and pages are equal.
    """

    def save(self, place, change_of_sides):
        """Writes a folder again, with a new connection."""
        shutil.rmtree(place, ignore_errors=True)
        for side, change in change_of_sides.items():
            traces.save(change.files, os.path.join(place, side), change.style, **change.saving)
        if place in self.connections:
            self.connections[place].close()
        self.connections[place] = connect()

    def at(self, place, name, call):
        """The rows of a call in that folder."""
        os.chdir(os.path.join(self.folder, place))
        try:
            return ask(self.connections[place], name, call)
        finally:
            os.chdir(self.folder)

    def setUp(self):
        super().setUp()
        self.connections = {}
        self.addCleanup(lambda: [db.close() for db in self.connections.values()])

    def check(self, sides, rng, changes=CHANGES, calls=CALLS, names=None):
        """The differences of each change: [(change, function, call, difference)]"""
        self.save("before", {side: Change(files) for side, files in zip(("control", "test"), sides)})
        before, failures = {}, []
        for change in changes:
            made = {side: change(rng, files) for side, files in zip(("control", "test"), sides)}
            if None in made.values():
                continue
            self.save("after", made)
            control = made["control"]
            for name in names or functions():
                if name in OF_TEXT:
                    continue
                numbers = [rng.randint(0, calls)] if name in OF_OTHERS else range(calls + 1)
                for number in numbers:
                    call = random_call(rng, name, chance=0.35 if number else 0)
                    if any(each.skip and each.skip(name, call) for each in made.values()):
                        continue
                    key = repr((name, sorted(call.items())))
                    if key not in before:
                        before[key] = self.at("before", name, {**paths(name), **call})
                    where = {side: each.where(side) if each.where else side for side, each in made.items()}
                    found = self.at("after", name, {**paths(name, where), **call})
                    found = control.original(found)
                    if found == before[key] or control.where and has_left_out(name, found):
                        continue
                    failure = difference(comparable(before[key], control), comparable(found, control), control.ordered)
                    if failure:
                        failures.append((change.__name__, name, call, failure))
        return failures

    def assert_none(self, failures, what):
        if failures:
            by = Counter((change, name) for change, name, _, _ in failures)
            text = "\n".join(f"{change} changes {name}: {count} calls" for (change, name), count in by.items())
            change, name, call, failure = failures[0]
            self.fail(f"{what}\n{text}\nfor example {change}: {name} {call}\n{failure}")

    def test_random_traces(self):
        for number in range(SERIES):
            seed = 1000 * SEED + number
            with self.subTest(seed=seed):
                rng = random.Random(seed)
                changes = CHANGES if SERIES > 1 else rng.sample(CHANGES, 3)
                self.assert_none(self.check(pair(seed), rng, changes), f"seed {seed}")

    def test_examples(self):
        rng = random.Random(SEED)
        changes = CHANGES if SERIES > 1 else rng.sample(CHANGES, 1)
        self.assert_none(self.check(example(), rng, changes, calls=0), "examples/gpu")

    @slowest
    def test_real_traces(self):
        """With CORPUS, real traces, each with some changes chosen by SEED, give the same rows."""
        for folders in REAL if SERIES > 1 else REAL[1:3]:
            sides = [traces.read(corpus(*folder.split("/"))) for folder in folders]
            rng = random.Random(f"{SEED} {folders}")
            with self.subTest(folders):
                changes = rng.sample(CHANGES, 1 + SERIES)
                self.assert_none(self.check(sides, rng, changes, calls=SERIES - 1), folders)


# ---- relations -------------------------------------------------------------------------------------------------------

@functools.lru_cache(maxsize=None)
def described():
    """{(function, argument or column): description}"""
    db = connect()
    made = {(name, each): text for name, each, text in
            db.execute("SELECT function, name, description FROM tracediff_columns")}
    db.close()
    return made


def is_time(name, each):
    return re.match(r"(ms|us|ns)\b", described()[name, each]) is not None


class Relations(InFolder):
    """Relations between answers."""

    def series(self, **options):
        """Pairs of traces in folders control and test."""
        for number in range(SERIES):
            seed = 1000 * SEED + number
            sides = pair(seed, **options)
            for side, files in zip(("control", "test"), sides):
                shutil.rmtree(side, ignore_errors=True)
                traces.save(files, side)
            self.seed = seed
            yield random.Random(seed), sides

    def _formatMessage(self, message, standard):
        return f"{super()._formatMessage(message, standard)}\nseed {getattr(self, 'seed', None)}"

    def ask(self, name, call, columns=None, here=()):
        return ask(self.db, name, {**paths(name, here), **call}, columns)

    def assert_rows(self, wanted, found, what):
        """Asserts the same rows in any order; the last digits of REAL numbers do not count."""
        if not isinstance(wanted, str) and not isinstance(found, str):
            wanted, found = ([tuple(row[column] for column in sorted(row)) for row in rows] for rows in (wanted, found))
        self.assertIsNone(difference(wanted, found, exact=False), what)

    def test_times_scale(self):
        """When all times are k times as long, so are the answers, within the thresholds of the rules (at most 1 ms)."""
        for rng, sides in self.series(unit=20, grid=1, odd=False, ranks=2):
            factor = rng.choice((2, 3, 5))  # times baseTimeNanoseconds is below 2^63

            def alter(event):
                event.update({key: event[key] * factor for key in traces.TIMES if key in event})
                return event
            shutil.rmtree("scaled", ignore_errors=True)
            for side, files in zip(("control", "test"), sides):
                traces.save({name: file.changed(alter, base=file.base and file.base * factor)
                             for name, file in files.items()}, f"scaled/{side}")
            for name, (arguments, columns) in functions().items():
                compared = [column for column in columns if column not in TEXT | {"html", "problems", "file"}]
                if not compared or name in OF_TEXT | SUMMARY | SIMULATED | DIVIDED | {"trace_diagnoses"}:
                    continue
                for _ in range(CALLS + 1):
                    call = random_call(rng, name)
                    if call.get("measure") == "count":  # its columns are event numbers
                        del call["measure"]
                    scaled = {each: value * factor if is_time(name, each) else value for each, value in call.items()}
                    wanted = self.ask(name, call, compared)
                    found = self.ask(name, scaled, compared, {"control": "scaled/control", "test": "scaled/test"})
                    if isinstance(wanted, str):
                        self.assertEqual(wanted, str(found).replace("scaled/", ""))
                        continue
                    wanted = [{column: value * factor if is_time(name, column) and value is not None else value
                               for column, value in row.items()} for row in wanted]
                    self.assert_rows(wanted, found, (name, call, factor))

    OPPOSITE = {"added": "deleted", "deleted": "added", "increased": "decreased", "decreased": "increased", "+": "-",
                "-": "+", "control": "test", "test": "control"}

    def swapped(self, row):
        made = {}
        for column, value in row.items():
            other = re.sub("^(control|test)_", lambda side: "test_" if side[1] == "control" else "control_", column)
            if column.startswith("diff_") and isinstance(value, (int, float)):
                value = -value + 0.0 if isinstance(value, float) else -value
            elif column in ("change", "counts_change", "counts_change_categories", "side"):
                value = self.OPPOSITE.get(value, value)
            made[other] = value
        return made

    def test_a_number_as_text(self):
        """A numeric argument may be TEXT, as a shell or a table passes it: the same rows, or an error."""
        for rng, _ in self.series():
            for name, (arguments, columns) in functions().items():
                for argument in () if columns == ("html",) else arguments:
                    values = [value for value in VALUES.get(argument, ()) if isinstance(value, (int, float))]
                    for value in rng.sample(values, min(len(values), series(1, 100))):
                        call = {**random_call(rng, name, 0), argument: value}
                        wanted = self.ask(name, call)
                        found = self.ask(name, {**call, argument: str(value)})
                        if isinstance(found, list):
                            with self.subTest(name, **{argument: value}):
                                self.assert_rows(wanted, found, call)

    def test_sides_swapped(self):
        """Swapping the sides changes the sign of a difference."""
        for rng, _ in self.series():
            for name, (arguments, columns) in functions().items():
                compared = [column for column in columns if not column.endswith("_pct") and column != "html"]
                if "test" not in arguments or not compared or name in DIRECTED:
                    continue
                for _ in range(CALLS + 1):
                    call = random_call(rng, name)
                    other = {re.sub("^(control|test)_", lambda side: "test_" if side[1] == "control" else "control_",
                                    each): value for each, value in call.items()}
                    wanted = self.ask(name, call, compared)
                    found = self.ask(name, other, compared, {"control": "test", "test": "control"})
                    if isinstance(found, list):
                        found = [self.swapped(row) for row in found]
                    elif isinstance(wanted, str):
                        continue
                    self.assert_rows(wanted, found, (name, call))

    def test_a_side_with_itself(self):
        for rng, _ in self.series():
            for name, (arguments, columns) in functions().items():
                if "test" not in arguments or columns == ("html",):
                    continue
                for _ in range(CALLS + 1):
                    call = {re.sub("^test_", "control_", each): value for each, value in random_call(rng, name).items()}
                    call.update({re.sub("^control_", "test_", each): value for each, value in call.items()})
                    rows = self.ask(name, call, here={"test": "control"})
                    for row in rows if isinstance(rows, list) else ():
                        for column, value in row.items():
                            if column.startswith("diff_"):
                                self.assertIn(value, (0, None), (name, call, column, row))
                            elif column.startswith("control_") and row.get("same", 1) is not None:
                                self.assertEqual(value, row[column.replace("control_", "test_")], (name, call, row))

    def test_ranks_and_iterations_are_parts(self):
        """The result for all ranks or steps contains the result for each of them."""
        for rng, (control, _) in self.series():
            for name, (arguments, columns) in functions().items():
                for argument, column, kept in (("ranks", "rank", range(len(control))),
                                               ("iterations", "iteration", (0, 1, 2, 8, 9))):
                    if argument not in arguments or column not in columns or name in AGAINST_OTHERS:
                        continue
                    if name in OF_ONE_JOB and argument == "ranks":
                        continue
                    for _ in range(CALLS + 1):
                        call = random_call(rng, name)
                        if argument == "ranks" and call.get("iterations") in ("first", 1, "[1,2]"):
                            call.pop("iterations")  # another step, or an error, where a rank lacks them
                        call.pop(argument, None)
                        call.pop("per", None)  # sums over ranks and steps
                        every = self.ask(name, {**call, argument: "all"})
                        if isinstance(every, str):
                            continue
                        for value in kept:
                            part = self.ask(name, {**call, argument: value})
                            wanted = [row for row in every if row[column] == value]
                            if isinstance(part, str) and not wanted:
                                continue
                            self.assert_rows(wanted, part, (name, call, argument, value))

    def test_parts_of_a_step_sum_to_it(self):
        for rng, _ in self.series(odd=False):
            lengths = {(row["rank"], row["iteration"]): row["dur_ns"] for row in self.ask("trace_steps", {})}
            for clock in ("device", "host"):
                sums = []
                for level in ("op", "top_op", "module", "annotation", "kernel"):
                    rows = self.ask("trace_step_time", {"ranks": "all", "iterations": "all", "level": level,
                                                        "clock": clock})
                    made = Counter()
                    for row in rows:
                        self.assertGreaterEqual(row["time_ns"], 0)
                        self.assertEqual(row["time"], row["time_ns"] / 1000)
                        made[row["rank"], row["iteration"]] += row["time_ns"]
                    sums.append(made)
                    for step in ("all", "steady"):
                        call = {"control_iteration": step, "test_iteration": step, "level": level, "clock": clock,
                                "control_rank": "job", "test_rank": "job"}
                        for side, trace in (("control", "control"), ("test", "test")):
                            part = Counter()
                            for row in self.ask("trace_step_time",
                                                {"ranks": "job", "iterations": step, "level": level, "clock": clock},
                                                here={"control": trace}):
                                part[row["class"], row["name"]] += row["time_ns"]
                            found = {(row["class"], row["name"]): row[f"{side}_ns"]
                                     for row in self.ask("trace_step_diff", call) if row[f"{side}_ns"]}
                            self.assertEqual(found, +part, call)
                self.assertEqual(sums[1:], sums[:-1], clock)
                if clock == "host":
                    self.assertEqual(sums[0], lengths)

    def test_cycles(self):
        """In a run that is cut between two steps, each step is unchanged, in a file of its own."""
        for rng, (control, _) in self.series(odd=False, steps=4, first=0):
            made = {}
            for name, file in control.items():
                steps = {event["name"]: event["ts"] for event in file.events if event.get("cat") == "user_annotation"
                         and event["name"].startswith("ProfilerStep")}
                cut = steps["ProfilerStep#2"]
                launched = {arguments_of(event).get("correlation"): event["ts"] for event in file.events
                            if event.get("cat") in ("cuda_runtime", "cuda_driver")}
                halves = ([], [])
                for event in file.events:
                    begun = launched.get(arguments_of(event).get("correlation"), event["ts"])
                    number = re.search(r"ProfilerStep#(\d+)", event["name"])
                    halves[int(number[1]) > 1 if number else begun >= cut].append(event)
                for half, events in enumerate(halves):
                    made[name.replace(".", f".{half}.")] = File(events, file.head, file.base)
            shutil.rmtree("cycles", ignore_errors=True)
            traces.save(made, "cycles")
            ops = "rank", "iteration", "device", "cat", "name", "counts", "total_duration"
            for name, columns in (("trace_ops", ops),
                                  ("trace_kernel_owners", ("rank", "iteration", "name", "stream", "ts", "dur", "op")),
                                  ("trace_steps", ("rank", "iteration", "ts", "dur", "ts_ns"))):
                for steps in (0, 1, 2, 3, "[0,1,2,3]"):
                    call = {"ranks": "all", "iterations": steps} if name != "trace_steps" else {}
                    found = self.ask(name, call, columns, {"control": "cycles"})
                    self.assert_rows(self.ask(name, call, columns), found, (name, call))

    def test_summaries_are_of_their_series(self):
        """count, mean, min, max and mean_over_time summarise their series, where a point lasts until the next one in
        its line.
        """
        for rng, _ in self.series(ranks=2, steps=4):
            for summary, series, line, value in (
                    ("queue_length_summary", "queue_length_time_series", ("rank", "stream"), "queue_length"),
                    ("memory_bw_summary", "memory_bw_time_series", ("rank", "name"), "memory_bw_gbps")):
                points = defaultdict(list)
                for row in self.ask(series, {}):
                    points[tuple(row[each] for each in line)].append((row["ts"], row[value]))
                wanted = []
                for key, made in points.items():
                    lasting = [(number, after - ts, ts) for (ts, number), (after, _) in zip(made, made[1:])]
                    if value == "memory_bw_gbps":
                        made = [(ts, number) for ts, number in made if number > 0]
                        lasting = [each for each in lasting if each[0] > 0]
                    numbers = [number for _, number in made]
                    time = sum(each for _, each, _ in lasting)
                    if numbers:
                        over_time = sum(number * each for number, each, _ in lasting) / time if time else None
                        wanted.append({**dict(zip(line, key)), "count": len(numbers), "min": min(numbers),
                                       "max": max(numbers), "mean": sum(numbers) / len(numbers),
                                       "mean_over_time": over_time})
                found = self.ask(summary, {}, (*line, "count", "mean", "min", "max", "mean_over_time"))
                self.assert_rows(wanted, found, summary)

    def test_device_time_is_the_same_by_any_key(self):
        """Total device time is equal by any key; 'all' counts every event, inside a step or not, like in trace_diff and
        trace_kernel_owners.
        """
        for rng, _ in self.series(ranks=1, odd=False):
            for steps in ("steady", "all"):
                call = {"control_iteration": steps, "test_iteration": steps}
                wanted = [sum(row["dur"] for row in self.ask("trace_kernel_owners", {"iterations": steps},
                                                             here={"control": side})) for side in ("control", "test")]
                counts = [len(self.ask("trace_steps", {}, here={"control": side})) for side in ("control", "test")]
                if steps == "steady":
                    counts = [count - 2 if count > 2 else count for count in counts]
                for keys in VALUES["keys"]:
                    rows = self.ask("trace_diff_by", {**call, "keys": keys})
                    for side, time, count in zip(("control", "test"), wanted, counts):
                        found = sum(row[f"{side}_device_time"] for row in rows) * count
                        self.assertAlmostEqual(found, time, 6, (keys, steps, side))


# ---- sequences -------------------------------------------------------------------------------------------------------

QUERIES = series(70, 250)  # connections
SPELLINGS = ("{}", "{}", "{}", "./{}", "././{}", "{}/", '["{}"]', '[ "{}"]', "{}/*", "{}/rank*.json", "../{here}/{}")
SHAPES = ("SELECT {some} FROM {f}", "SELECT {some} FROM {f} WHERE {c} IS NOT NULL",
          "SELECT {some} FROM {f} WHERE {c} > 5",
          "SELECT {some} FROM {f} WHERE {c} = {v}", "SELECT {d}, count(*) FROM {f} GROUP BY {d}",
          "SELECT count(*) FROM {f}", "SELECT count({c}) FROM {f}", "SELECT count({c}), min({d}), max({d}) FROM {f}",
          "SELECT count(*), count(b.{c}), count(a.{d}) FROM {f} AS a JOIN {f} AS b ON a.{e} IS b.{e}",
          "SELECT count(*), count(b.{c}) FROM {f} AS a JOIN {f} AS b ON a.rowid = b.rowid",
          "SELECT a.{c}, b.{c}, b.{d} FROM {f} AS a JOIN {f} AS b ON a.rowid = b.rowid",
          "SELECT count(a.{c}), count(b.{d}) FROM {f} AS a LEFT JOIN {f} AS b ON a.{e} = b.{e} AND b.{c} IS NOT NULL",
          "SELECT count(*), count({d}) FROM {f} WHERE {c} IN (SELECT {c} FROM {f} WHERE {d} IS NOT NULL)",
          "SELECT * FROM (SELECT {some} FROM {f} ORDER BY {all} LIMIT 5)", "SELECT DISTINCT {c} FROM {f}",
          "SELECT a.n, b.n FROM (SELECT count({c}) AS n FROM {f}) AS a, (SELECT count({d}) AS n FROM {g}) AS b",
          "SELECT {some} FROM {f} UNION ALL SELECT {some} FROM {f}")
OPERANDS = ("0", "1", "7", "'GPU'", "'aten::mm'", "NULL", "2.5", "'compute'", "'op'")


class Sequences(InFolder):
    """Whatever queries a connection has run, and whichever are still open, each gives the result of a new
    connection.
    """

    def setUp(self):
        super().setUp()
        self.fresh = {}  # for the folders' current content: {SQL: rows}
        self.calls = []

    def fill(self, rng):
        """Puts new traces in some folders, in new files or over the old ones with another size."""
        self.fresh.clear()
        for side in ("control", "test"):
            made = traces.generate(rng, ranks=rng.choice((1, 2)), steps=rng.choice((1, 3, 4)), odd=rng.random() < 0.5)
            os.makedirs(side, exist_ok=True)
            before = {name: os.path.getsize(f"{side}/{name}") for name in os.listdir(side)}
            for name in before.keys() - made.keys():
                os.remove(f"{side}/{name}")
            traces.save(made, "next")
            for name in made:
                if name in before and before[name] != os.path.getsize(f"next/{name}") and rng.random() < 0.5:
                    shutil.copyfile(f"next/{name}", f"{side}/{name}")
                else:
                    os.replace(f"next/{name}", f"{side}/{name}")

    def call(self, rng):
        """A function with its arguments in parentheses, and its columns."""
        name = rng.choice([name for name in functions() if not name.endswith("report")])
        columns = functions()[name][1]
        call = random_call(rng, name, 0.4)
        here = os.path.basename(self.folder)
        spelling = {side: rng.choice(SPELLINGS).format(side, here=here) for side in ("control", "test")}
        call.update(paths(name, spelling))
        return positional(name, call), columns

    def query(self, rng):
        """Mostly a query of functions that were called before."""
        while len(self.calls) > 8:
            self.calls.pop(rng.randrange(len(self.calls)))
        self.calls.append(self.call(rng))
        (one, columns), (other, _) = rng.choice(self.calls), rng.choice(self.calls)
        shape = rng.choice(SHAPES)
        c, d, e = (rng.choice(columns) for _ in range(3))
        if "{g}" in shape:
            other, more = rng.choice(self.calls)
            d = rng.choice(more)
        return shape.format(f=one, g=other, c=c, d=d, e=e, v=rng.choice(OPERANDS),
                            some=", ".join(rng.sample(columns, rng.randrange(1, 1 + len(columns)))),
                            all=", ".join(columns))

    def on_its_own(self, sql):
        if sql not in self.fresh:
            db = connect()
            self.fresh[sql] = self.answer(db, sql)
            db.close()
        return self.fresh[sql]

    @staticmethod
    def answer(db, sql):
        try:
            return sorted(db.execute(sql).fetchall(), key=repr)
        except sqlite3.Error as error:
            return str(error)

    def side_by_side(self, rng, queries):
        """Steps their statements in turns, and sometimes closes one early."""
        open_ones, rows, errors = {}, defaultdict(list), {}
        for number, sql in enumerate(queries):
            try:
                open_ones[number] = self.db.execute(sql)
            except sqlite3.Error as error:
                errors[number] = str(error)
        partly = rng.choice((None, None, *open_ones))
        while open_ones:
            number = rng.choice(sorted(open_ones))
            try:
                made = open_ones[number].fetchmany(rng.choice((1, 1, 2, 40)))
            except sqlite3.Error as error:
                errors[number], made = str(error), []
            rows[number] += made
            if not made or number == partly and rng.random() < 0.2:
                open_ones.pop(number).close()
                if made:
                    rows.pop(number)
                    errors[number] = None
        return [errors[number] if number in errors else sorted(rows[number], key=repr)
                for number in range(len(queries))]

    def test_long_sequences(self):
        for number in range(SERIES):
            rng = random.Random(f"sequence {SEED} {number}")
            self.fill(rng)
            asked = []
            for at in range(QUERIES):
                if rng.random() < 0.01:
                    self.fill(rng)
                    asked.append("-- the files are rewritten")
                queries = [self.query(rng)]
                if rng.random() < 0.3 and asked:
                    queries = [rng.choice(asked[-20:])]
                if rng.random() < 0.2:
                    queries += [self.query(rng), queries[0]]
                queries = [sql for sql in queries if not sql.startswith("--")] or ["SELECT 1"]
                wanted = [self.on_its_own(sql) for sql in queries]
                found = [self.answer(self.db, queries[0])] if len(queries) == 1 else self.side_by_side(rng, queries)
                asked += queries
                for sql, one, other in zip(queries, wanted, found):
                    failure = other is not None and difference(one, other)
                    if failure:
                        self.fail(f"series {number}, after {len(asked)} queries: {sql}\n{failure}\nbefore: "
                                  + ";\n".join(asked[-6:]))
            self.db.close()
            self.db = connect()

    @slow
    def test_a_column_asked_for_later(self):
        """Rows that were computed for fewer columns are not reused for more."""
        self.fill(random.Random(SEED))
        for name, (arguments, columns) in functions().items():
            if columns == ("html",):
                continue
            call = {**paths(name), **random_call(random.Random(1), name, 0)}
            source = positional(name, call)
            for column in columns:
                column = f'"{column}"'  # check is a keyword
                db = connect()
                db.execute(f"SELECT count({column}) FROM {source}").fetchall()
                later = (f"SELECT count(*), count(b.{column}), count(DISTINCT b.{column}), max(b.{column})"
                         f" FROM {source} AS a JOIN {source} AS b ON a.rowid = b.rowid")
                found, wanted = self.answer(db, later), self.on_its_own(later)
                db.close()
                with self.subTest(name, column=column):
                    self.assertEqual(found, wanted)

    def test_arguments_one_after_another(self):
        """A function called with one set of arguments, then with another, on one connection, gives the right rows."""
        rng = random.Random(SEED)
        self.fill(rng)
        for name, (_, columns) in functions().items():
            if columns == ("html",):
                continue
            db = connect()
            calls = [random_call(rng, name, 0.6 * (at > 0)) for at in range(series(3, 16))]
            asked = [positional(name, {**paths(name), **call}) for call in calls]
            for at, call in enumerate(asked):
                sql = f"SELECT * FROM {call}"
                failure = difference(self.on_its_own(sql), self.answer(db, sql))
                if failure:
                    with self.subTest(name):
                        self.fail(f"{sql}\n{failure}\nafter {asked[:at]}")
                    break
            db.close()

    def test_phases_asked_for_later(self):
        """Files that were read without phases are read again when phases are needed, for any ranks."""
        for rank in (0, 1):
            write(f"a/rank{rank}.json", {"traceEvents": [{"ph": "X", "name": "op", "ts": 1, "dur": 1},
                                                         {"ph": "i", "name": "instant", "ts": 2}]})
        for before in ("trace_events('a')", "trace_events('a', 0)", "trace_steps('a')", "trace_files('a')"):
            for sql, count in (("trace_events('a', 0, NULL, 'all')", 2), ("trace_events('a', '[0,1]', NULL, 'i')", 2),
                               ("trace_events('a', NULL, NULL, 'all')", 4)):
                db = connect()
                db.execute(f"SELECT count(*) FROM {before}").fetchall()
                with self.subTest(sql, before=before):
                    self.assertEqual(db.execute(f"SELECT count(*) FROM {sql}").fetchall(), [(count,)])
                db.close()


class Ties(InFolder):
    """Cases that are rare in random traces."""

    def same(self, one, other, names=None, skip=()):
        """Two documents, as a.json and b.json, give the same rows of every function except positions and texts."""
        write("one/a.json", one)
        write("two/a.json", other)
        for name, (_, columns) in functions().items():
            if columns == ("html",) or name in skip or names and name not in names:
                continue
            call = random_call(random.Random(1), name, 0)
            rows = []
            for place in ("one", "two"):
                os.chdir(place)
                side = {"control": "a.json", "test": "a.json"}
                rows.append(ask(self.db, name, {**paths(name, side), **call}))
                os.chdir("..")
            rows = [comparable(made, Change({}, ordered=False, drop=EVENTS | {"ph", "args"})) for made in rows]
            with self.subTest(name):
                self.assertIsNone(difference(*rows, exact=False))

    def test_copies_that_end_together(self):
        copies = [event("Memcpy HtoD (a)", at, end - at, cat="gpu_memcpy", pid=0, tid=stream,
                        args={"stream": stream, "memory bandwidth (GB/s)": speed})
                  for at, end, stream, speed in ((1, 9, 7, 1), (2, 9, 8, 10), (3, 9, 9, 100), (5, 20, 10, 1000))]
        for order in ((1, 0, 2, 3), (3, 2, 1, 0), (2, 0, 1, 3)):
            self.same(document(*copies), document(*[copies[at] for at in order]))

    def test_profiler_span_as_begin_and_end(self):
        op = event("op", 100, 10)
        span = {"cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler"}
        whole = {"ph": "X", **span, "ts": 0, "dur": 1000}
        for end in ({"cat": "Trace"}, {}):
            begun = [{"ph": "B", **span, "ts": 0}, {"ph": "E", **{**span, "cat": None}, **end, "ts": 1000}]
            if not end:
                del begun[1]["cat"]
            self.same(document(op, whole), document(op, *begun))

    def test_events_without_a_time_count_nowhere(self):
        """Events without a time have rows and count as problems. They change no sum and no series, except sums of
        durations: a kernel is in the step of its launch (T11.2), and its duration is known.
        """
        timed = [step(0, 0, 100), step(1, 100, 100), step(2, 200, 100), event("op", 110, 50), launch(120, 5, 1),
                 kernel("gemm", 130, 20, 1), launch(140, 5, 2), kernel("gemm", 155, 20, 2)]
        copy = {"cat": "gpu_memcpy", "pid": 0, "tid": 7, "args": {"stream": 7, "memory bandwidth (GB/s)": 5}}
        for timeless in (event("op", ABSENT, 50), kernel("gemm", ABSENT, 20, 2), kernel("gemm", None, 20, 1),
                         launch(ABSENT, 5, 2), event("Memcpy HtoD (a)", ABSENT, 5, **copy)):
            timeless = {key: value for key, value in timeless.items() if value is not ABSENT}
            sums = (("trace_ops", "trace_diff", "trace_diff_by", "trace_clock_factor") if timeless["cat"] == "kernel"
                    else ())
            self.same(document(*timed), document(*timed, timeless),
                      skip=("trace_events", "trace_files", "trace_kernel_owners", "cuda_kernel_launch_stats",
                            "trace_ab", *sums, *SUMMARY))

    def test_a_file_given_twice(self):
        write("runs/a.json", document(step(0, 0, 10), event("op", 1, 5)))
        os.symlink("a.json", "runs/b.json")
        for name, (_, columns) in functions().items():
            if columns == ("html",) or "trace" not in functions()[name][0]:
                continue
            call = random_call(random.Random(1), name, 0)
            once = ask(self.db, name, {"trace": "runs/a.json", **call})
            for twice in ('["runs/a.json", "runs/a.json"]', '["runs/a.json", "./runs/a.json"]',
                          '["runs/a.json", "runs/a.*"]'):
                found = ask(self.db, name, {"trace": twice, **call})
                rows = [made if isinstance(made, str) else [normal(row, {"problems", "file"}) for row in made]
                        for made in (once, found)]
                with self.subTest(name, twice=twice):
                    self.assertIsNone(difference(*rows))


class Escapes(InFolder):
    """JSON escapes are decoded before any rule looks at the text."""

    def test_escapes_in_the_name_of_a_process(self):
        for name in ("/device:GPU:0", "GPU 0"):
            for spelt in (name, name.replace("/", "\\/"), name.replace("G", "\\u0047")):
                write("t.json", '{"traceEvents": [{"ph": "M", "name": "process_name", "pid": 5, "args": {"name": "'
                      + spelt + '"}}, {"ph": "X", "name": "work", "pid": 5, "tid": 1, "ts": 1, "dur": 1}]}')
                with self.subTest(spelt):
                    self.assertEqual(self.rows("SELECT device FROM trace_events('t.json')"), [("GPU",)])

    def test_escaped_slash_in_the_name_of_a_number(self):
        """Some JSON writers escape every slash, also in the name of a number."""
        for key in ("memory bandwidth (GB/s)", "memory bandwidth (GB\\/s)"):
            write("t.json", '{"traceEvents": [{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (a)", "pid": 0,'
                  f' "tid": 7, "ts": 1, "dur": 10, "args": {{"stream": 7, "{key}": 5.5}}}}]}}')
            found = self.rows("SELECT memory_bw_gbps FROM memory_bw_time_series('t.json')")
            self.assertEqual(found, [(5.5,), (0.0,)], key)


if __name__ == "__main__":
    unittest.main()
