"""An independent implementation of the rules for reading and comparing traces (T1 to T23, I1 to I9).

It is plain and slow, shares no code with the extension, and gives the expected results of the tests. The code cites
each rule where it applies. It reads only strict JSON; damaged documents (T14, T15) are out of scope.

    trace = read_trace("runs/a")            # a directory or a file
    trace.rows                              # the rows of trace_events
    trace.steps                             # the rows of trace_steps
    summary(trace, "all", "all")            # the rows of trace_ops
    trace_diff(read_trace("runs/a"), read_trace("runs/b"))

Times are integer nanoseconds; None is SQL's NULL.
"""
import copy
import fnmatch
import functools
import gzip
import json
import ntpath
import os
import posixpath
import re
import zlib
from collections import defaultdict, namedtuple
from dataclasses import dataclass, field
from decimal import Context, Decimal, MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN
from fractions import Fraction
from typing import NamedTuple

import oracle_health
import oracle_marks
from oracle_names import MTIA_SYNC
from oracle_roles import int64, is_call, is_counted, is_known, is_step, step_number, works

OPERATORS = ("cpu_op", "Operator")
GPU_CATEGORIES = {"kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "cuda_sync", "mtia_ccp_events",
                  "Kernel", "Memcpy", "Memset"}
WORK_CATEGORIES = {"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"}
INTEGER = re.compile(r"-?[0-9]+")
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
EXACT = Context(prec=10_000, Emax=MAX_EMAX, Emin=MIN_EMIN)


class NotStrict(ValueError):
    """The file is not one strict JSON document, so the oracle does not apply."""


class NotATrace(ValueError):
    """The document contains no events (T16)."""


class Refused(ValueError):
    """The rules require an error."""


class Number(NamedTuple):
    """A JSON number in its original notation."""
    text: str


@dataclass(slots=True)
class Event:
    """A row of trace_events; dur_ns of a B is filled in by its E."""
    file: str
    event: int
    ph: str
    cat: str
    name: str
    ts_ns: int
    dur_ns: int
    pid: object
    tid: object
    stream: int
    correlation: int
    device: str = "CPU"
    link: int = None
    iteration: int = None
    rank: int = None
    ts_relative_ns: int = None
    external: int = None  # args["External id"]
    node: int = None  # args["graph node id"]
    of_async: object = None  # the id of an async event (T3.5)
    kernel: str = None  # args.kernel
    process: str = None  # the name of its process, for the rules that need it
    step_num: int = None  # args.step_num, hlo_op and hlo_module, of an event without a category
    hlo_op: str = None
    hlo_module: str = None
    context: int = None  # args.context, and whether it is communication, for I1
    communicates: bool = False


# end_ns is the end of its reach, which the event itself may lack (T20)
Step = namedtuple("Step", "rank iteration file event ts_ns dur_ns ts_relative_ns end_ns name phase batch_size "
                          "padded_size tokens stratum")


@dataclass
class File:
    path: str
    document: object
    base_ns: int = 0
    rows: list = field(default_factory=list)
    first_ns: int = None
    last_ns: int = None
    rank: int = None
    step_marks: list = field(default_factory=list)
    annotated: bool = False  # the steps are annotations
    by_pattern: bool = False  # a pattern gives the steps
    steps: list = field(default_factory=list)
    flows: list = field(default_factory=list)
    named: bool = True  # its name may contain its rank
    window_end_ns: int = None  # I2
    edges: list = field(default_factory=list)  # the times of E events, which have no row
    placed: dict = field(default_factory=dict)  # I8: {event: the launch event that gives its step}
    told_no_launch: list = field(default_factory=list)
    waits_from_ns: int = None  # I5

    @functools.cached_property
    def counted(self):
        """The rows that count; called once all rows are there."""
        return [row for row in self.rows if is_counted(row)]


@dataclass
class Trace:
    files: list
    argument: str = None  # `steps`

    @property
    def rows(self):
        return [row for file in self.files for row in file.rows]

    @property
    def steps(self):
        return [step for file in self.files for step in file.steps]

    @property
    def ranks(self):
        return sorted({file.rank for file in self.files})


# ---- documents ------------------------------------------------------------

def read_text(path):
    """The file's text: gzip by its magic bytes, UTF-8 with or without a BOM."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        return data.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise NotStrict(f"{path}: {error}") from error


def read_document(path, only_looked_at=False):
    """The document. The quick mode only inspects it, with texts for numbers and without T17."""
    def first_wins(pairs):  # T17
        kept = dict(pairs)
        if len(kept) == len(pairs):
            return kept
        kept = {}
        for key, value in pairs:
            kept.setdefault(key, value)
        return kept

    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")

    number, pairs = (str, None) if only_looked_at else (Number, first_wins)
    try:
        return json.loads(read_text(path), parse_int=number, parse_float=number, parse_constant=refuse,
                          object_pairs_hook=pairs)
    except (ValueError, RecursionError) as error:
        raise NotStrict(f"{path}: {error}") from error


def events_of(document):
    """The array of events, or None if the document is not a trace (T16)."""
    events = document.get("traceEvents") if isinstance(document, dict) else document
    if not isinstance(events, list):
        return None
    is_trace = isinstance(document, dict) or not events or any(isinstance(event, dict) for event in events)
    return events if is_trace else None


# ---- values ---------------------------------------------------------------

def nanoseconds(value, unit=1000):
    """A time in units of `unit` ns, from its digits, rounded half to even (T1)."""
    spelt = value.text if isinstance(value, Number) else value
    match = NUMBER.fullmatch(spelt) if isinstance(spelt, str) else None
    if match is None:
        return None
    if unit == 1000 and match[2] and len(match[2]) == 4 and not match[3]:  # Kineto's notation, which needs no decimals
        return int64(int(spelt.replace(".", "")))
    exact = EXACT.multiply(EXACT.create_decimal(spelt), Decimal(unit))
    return int64(exact.to_integral_value(ROUND_HALF_EVEN, EXACT))


def plus(a, b):
    return None if a is None or b is None else int64(a + b)


def integer(value):
    if isinstance(value, Number) and INTEGER.fullmatch(value.text):
        return int64(int(value.text))
    return None


def integer_or_text(value):
    return integer(Number(value) if isinstance(value, str) else value)


def text(value):
    """A string, with U+FFFD for each half of a broken surrogate pair."""
    if not isinstance(value, str):
        return None
    if value.isascii():
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def identifier(value):
    """pid or tid: an integer, or the text in the file."""
    if isinstance(value, Number):
        whole = integer(value)
        return value.text if whole is None else whole
    return text(value)


# ---- events of a file -----------------------------------------------------

def read_rows(file):
    """Fills file.rows (T1, T3, T4, T9), file.first_ns (T2) and file.last_ns, the latest end."""
    if isinstance(file.document, dict):
        file.base_ns = nanoseconds(file.document.get("baseTimeNanoseconds"), unit=1) or 0
    elements = [(position, element) for position, element in enumerate(events_of(file.document))
                if isinstance(element, dict)]
    ends = []
    file.is_async = not any(element.get("ph") in ("X", "B", "E") for _, element in elements)  # T3.5
    for position, element in elements:
        ph = element.get("ph")
        if ph not in (("b", "e") if file.is_async else ("X", "B", "E")):
            continue
        args = element.get("args") if isinstance(element.get("args"), dict) else {}
        time = nanoseconds(element.get("ts"))
        row = Event(
            file=file.path, event=position, ph=ph,
            cat=text(element.get("cat")), name=text(element.get("name")),
            ts_ns=plus(file.base_ns, time),
            dur_ns=nanoseconds(element.get("dur")) if ph == "X" else None,
            pid=identifier(element.get("pid")), tid=identifier(element.get("tid")),
            stream=integer(args.get("stream")), correlation=integer(args.get("correlation")),
            external=integer(args.get("External id")), node=integer(args.get("graph node id")),
            kernel=text(args.get("kernel")), context=integer(args.get("context")))
        if row.cat is None and row.stream is None:  # T9.8
            row.stream = integer_or_text(args.get("Stream Id"))
        if row.cat is None and row.correlation is None:  # T10.6
            row.correlation = integer_or_text(args.get("correlation_id"))
        if row.cat is None:  # T11, A17
            row.step_num = integer_or_text(args.get("step_num"))
            row.hlo_op, row.hlo_module = text(args.get("hlo_op")), text(args.get("hlo_module"))
        if row.dur_ns is not None and row.dur_ns < 0:  # T4
            row.dur_ns = None
        if time is not None and row.dur_ns is not None:  # T1.4
            end = plus(time, row.dur_ns)
            row.dur_ns = None if None in (row.ts_ns, end, plus(file.base_ns, end)) else row.dur_ns
        if file.is_async:
            row.of_async = str(element.get("id"))
        (ends if ph in ("E", "e") else file.rows).append(row)
    closed = close(file.rows, ends)
    own_span = {begin.event for begin in file.rows if begin.cat == "Trace"}
    timed = [row for row in file.rows + ends if row.ts_ns is not None and row.cat != "Trace"
             and closed.get(row.event) not in own_span]
    file.edges = [row.ts_ns for row in timed if row.ph in ("E", "e")]
    windows = [plus(file.base_ns, nanoseconds(element.get("ts"))) for _, element in elements
               if element.get("ph") == "i" and element.get("name") == "Record Window End"]
    file.window_end_ns = windows[-1] if windows else None
    file.first_ns = min((row.ts_ns for row in timed), default=None)
    ends = [int64(row.ts_ns + (row.dur_ns or 0)) if row.ph == "X" else row.ts_ns for row in timed]
    file.last_ns = max((row.ts_ns if end is None else end for row, end in zip(timed, ends)), default=None)
    devices(file.rows, elements)
    file.flows = flows(file, elements)


def close(rows, ends):
    """Gives each B the duration to its E (T3); returns {E: B} by event."""
    closed = {}
    open_on = defaultdict(list)
    begins = [row for row in rows if row.ph in ("B", "b")]
    in_order = sorted((row for row in begins + ends if row.ts_ns is not None), key=lambda row: (row.ts_ns, row.event))
    for row in in_order:
        stack = open_on[(row.pid, row.cat, row.of_async) if row.ph in ("b", "e") else (row.pid, row.tid)]
        if row.ph in ("B", "b"):
            stack.append(row)
            continue
        candidates = [begin for begin in stack if row.name is None or begin.name == row.name]
        if candidates:
            begin = candidates[-1]
            begin.dur_ns = int64(row.ts_ns - begin.ts_ns)  # T1.3
            closed[row.event] = begin.event
            stack[:] = [other for other in stack if other is not begin]
    return closed


def names_of(elements, kind):
    """{pid: [name]} or {(pid, tid): [name]} from metadata events `process_name` or `thread_name`."""
    names = defaultdict(list)
    for _, element in elements:
        args = element.get("args")
        if element.get("ph") == "M" and element.get("name") == kind and isinstance(args, dict):
            pid, tid = identifier(element.get("pid")), identifier(element.get("tid"))
            if isinstance(args.get("name"), str):
                names[pid if kind == "process_name" else (pid, tid)].append(args["name"])
    return names


def devices(rows, elements):
    """CPU or GPU by category; without a category by the names of processes and threads (T9)."""
    processes, threads = names_of(elements, "process_name"), names_of(elements, "thread_name")
    of_process = defaultdict(list)
    for (pid, _), names in threads.items():
        of_process[pid] += names
    for row in rows:
        row.process = next(filter(is_known, processes[row.pid]), None)
        if row.cat is not None:
            row.device = "GPU" if row.cat in GPU_CATEGORIES else "CPU"
            if row.stream is None and isinstance(row.tid, int) and row.cat in WORK_CATEGORIES:  # T9.8
                row.stream = row.tid
        elif row.process is not None and not row.process.startswith("/host:"):
            row.device = "GPU"
            if row.stream is None and isinstance(row.tid, int):  # T9.8
                row.stream = row.tid
            if not works(row.process, threads[row.pid, row.tid], of_process[row.pid]):  # T9.7
                row.cat, row.external = "gpu_user_annotation", None


def flows(file, elements):
    """[(place of the f, place of its s)] in the order of the f events; a place is (pid, tid, ts) (T10.7)."""
    if not any("Ascend Hardware" in names for names in names_of(elements, "process_name").values()):
        return []
    ends, begins = [], defaultdict(list)
    for _, element in elements:
        if element.get("ph") not in ("s", "f") or element.get("cat") != "async_npu":
            continue
        ts = plus(file.base_ns, nanoseconds(element.get("ts")))
        key = element.get("id")
        key = key.text if isinstance(key, Number) else text(key)
        place = identifier(element.get("pid")), identifier(element.get("tid")), ts
        if ts is None or key is None:
            continue
        if element["ph"] == "s":
            begins[key].append(place)
        else:
            ends.append((place, key))
    return [(place, begin) for place, key in ends for begin in begins[key]]


def is_sync(row):  # T9
    return row.cat == "cuda_sync" or (row.cat == "mtia_ccp_events" and row.name in MTIA_SYNC)


def is_device_work(row):  # T9
    return row.device == "GPU" and row.cat != "gpu_user_annotation" and not is_sync(row)


def link(rows, flows=()):
    """Links launches to the device events that they launched (T10)."""
    calls = defaultdict(list)
    for row in rows:
        if is_call(row) and row.correlation is not None and row.correlation > 0 and row.ts_ns is not None:
            calls[row.correlation].append(row)
    operators = defaultdict(list)
    for row in rows:
        if row.cat in OPERATORS:
            operators[row.pid, row.tid, row.ts_ns].append(row)
    launched = defaultdict(list)
    for row in rows:
        if row.device != "GPU":
            continue
        if calls.get(row.correlation):
            row.link = launch_of(row, calls[row.correlation]).event
        else:  # T10.7
            around = next((operators[begin] for end, begin in flows
                           if end == (row.pid, row.tid, row.ts_ns) and operators[begin]), None)
            if around is None:
                continue
            row.link = min(around, key=lambda operator: (operator.dur_ns or 0, -operator.event)).event
        launched[row.link].append(row)
    for row in rows:
        if row.event in launched:
            first = min(launched[row.event], key=lambda work: (work.ts_ns is None, work.ts_ns, work.event))
            row.link = first.event


def launch_of(row, calls):
    runtime = [call for call in calls if call.cat not in ("cuda_driver", "cann_runtime")]
    calls = runtime or calls
    before = [call for call in calls if row.ts_ns is not None and call.ts_ns <= row.ts_ns]
    if before:
        return max(before, key=lambda call: (call.ts_ns, call.event))
    return min(calls, key=lambda call: (call.ts_ns, -call.event))


def annotation_events(rows, launch, numbered=True):
    """{event: row}: the row in its file that gives each device annotation its step, possibly the annotation itself
    (T11). `launch` gives the row of the launch of device work, or None. Without `numbered`, names give no step; this
    applies where steps are annotations.
    """
    steps, host, work, result = {}, defaultdict(list), defaultdict(list), {}
    for row in sorted((row for row in rows if row.ts_ns is not None), key=lambda row: (row.ts_ns, row.event)):
        if is_step(row):
            steps.setdefault(step_number(row), row)
        if row.cat == "user_annotation" and row.external is not None and row.name is not None:
            host[row.external, row.name].append(row)
        if is_device_work(row) and launch(row) is not None:
            work[row.pid, row.tid].append(row)
    for row in rows:
        if row.cat != "gpu_user_annotation":
            continue
        named, of_host = step_number(row) if numbered else None, host[row.external, row.name]
        within = [] if row.ts_ns is None else [
            other for other in work[row.pid, row.tid] if row.ts_ns <= other.ts_ns < row.ts_ns + (row.dur_ns or 0)]
        if named is not None:
            result[row.event] = steps.get(named, row)
        elif len(of_host) == 1:
            result[row.event] = of_host[0]
        else:
            result[row.event] = launch(within[0]) if within else row
    return result


def iterations(file):
    """Fills file.steps and the iteration of every row, from file.step_marks (T11)."""
    rows, marks = file.rows, file.step_marks
    file.steps = [Step(mark.row.rank, mark.number, mark.row.file, mark.row.event, mark.row.ts_ns, mark.row.dur_ns,
                       mark.row.ts_relative_ns, mark.end_ns, mark.row.name, *mark[3:]) for mark in marks]

    def step_at(instant):
        holding = [mark for mark in marks if instant is not None and mark.row.ts_ns <= instant < mark.end_ns]
        return max(holding, key=lambda mark: (mark.row.ts_ns, mark.row.event)).number if holding else None

    at = {row.event: row for row in rows}
    annotations = annotation_events(rows, lambda row: at.get(row.link), not file.annotated)
    for row in rows:
        row.iteration = None
        if row.device == "CPU":
            row.iteration = step_at(row.ts_ns)
        elif row.cat == "gpu_user_annotation":
            named = None if file.annotated else step_number(row)
            row.iteration = named if named is not None else step_at(annotations[row.event].ts_ns)
        elif row.link is not None or row.event in file.placed:
            row.iteration = step_at(at[file.placed.get(row.event, row.link)].ts_ns)


# ---- files of a trace -----------------------------------------------------

def joined(directory, name):
    """On Windows, joins with a backslash only if the last separator in the directory is one."""
    windows = os.sep == "\\" and directory.rfind("\\") > directory.rfind("/")
    return (ntpath if windows else posixpath).join(directory, name)


def list_directory(path):
    names = [name for name in os.listdir(path)
             if any(fnmatch.fnmatchcase(name, pattern) for pattern in ("*.json", "*.json.gz", "*.gz"))
             and not name.startswith(".")
             and not fnmatch.fnmatchcase(name, "dedicated_log_torch_trace_*.log.gz")]  # CL1
    return [joined(path, name) for name in sorted(names, key=order_of_names)]


def order_of_names(name):
    """Digits compare as numbers (T7.3)."""
    name = os.fsencode(name)
    return [(ord("0"), int(part)) if part.isdigit() else (ord(part), 0)
            for part in re.findall(rb"[0-9]+|[^0-9]", name)], name


def rank_in_document(document):
    info = document.get("distributedInfo") if isinstance(document, dict) else None
    rank = integer(info.get("rank")) if isinstance(info, dict) else None
    return rank if rank is not None and rank >= 0 else None


def rank_in_name(path):
    found = re.findall(r"(?<![^\W\d_])rank[-_]?([0-9]+)", os.path.basename(path), re.IGNORECASE)
    return int(found[-1]) if found else None


def assign_ranks(files):
    """From the document, otherwise from the name, otherwise the remaining numbers (T7)."""
    for file in files:
        if file.rank is None:
            file.rank = rank_in_document(file.document)
        if file.rank is None and file.named:
            file.rank = rank_in_name(file.path)
    taken = {file.rank for file in files}
    unranked = sorted((file for file in files if file.rank is None), key=lambda file: order_of_names(file.path))
    free = (number for number in range(len(taken) + len(files)) if number not in taken)
    for file in unranked:
        file.rank = next(free)


def read_trace(path, steps=None):
    """The trace of a directory, or of a file; `steps` is the argument, or None."""
    if not os.path.isdir(path):
        return read_files([path], steps=steps)
    return read_files(list_directory(path), in_directory=True, steps=steps)


def read_files(paths, in_directory=False, steps=None):
    files = []
    for path in paths:
        try:
            files.append(read_file(path))
        except NotATrace:
            if not in_directory:  # T16
                raise
    return finish(files, steps)


def read_file(path):
    document = read_document(path)
    if events_of(document) is None:
        raise NotATrace(path)
    file = File(path, document, rank=rank_in_document(document))
    read_rows(file)
    file.document = None
    return file


def finish(files, steps=None):
    """The trace of files with their rows."""
    if not files:
        raise NotATrace("no trace at all")
    assign_ranks(files)
    for file in files:
        oracle_health.mend(file, is_device_work)
    origins = defaultdict(list)
    for file in files:
        if file.first_ns is not None:
            origins[file.rank].append(file.first_ns)
    for file in files:
        for row in file.rows:
            row.rank = file.rank
            if row.ts_ns is not None and origins[file.rank]:
                row.ts_relative_ns = row.ts_ns - min(origins[file.rank])  # T2
        link(file.rows, file.flows)
        oracle_health.place(file, is_device_work)
        file.waits_from_ns = oracle_health.waits(file, is_call)
    trace = Trace(files)
    take_steps(trace, steps)
    return trace


def take_steps(trace, steps):
    """Finds the steps of a trace again, with another argument `steps`."""
    trace.argument = steps
    oracle_marks.number(trace.files, steps or "auto")
    for file in trace.files:
        iterations(file)


def check_ranks(trace, ranks):
    """Several files of a rank must be its profiling cycles (T8), and a pattern must match somewhere."""
    by_pattern = trace.argument is not None and oracle_marks.patterns(trace.argument) is not None
    if by_pattern and not any(file.steps for file in trace.files if file.rank in ranks):
        raise Refused("no host event is like the pattern")
    for rank in ranks:
        files = [file for file in trace.files if file.rank == rank]
        numbers = [number for file in files for number in {step.iteration for step in file.steps}]
        if len(files) > 1 and (len(set(numbers)) < len(numbers) or not all(file.steps for file in files)):
            raise Refused(f"rank {rank} is in {' and '.join(file.path for file in files)}")
        if both := oracle_marks.overlapping(files):  # T21
            raise Refused(f"rank {rank}: {both[0].path} and {both[1].path} overlap")


# ---- selection ------------------------------------------------------------

def choose_ranks(trace, ranks):
    if ranks == "all":
        chosen = trace.ranks
    elif ranks is None:
        chosen = trace.ranks[:1]
    else:
        chosen = sorted({ranks} if isinstance(ranks, int) else set(ranks))
    if not set(chosen) <= set(trace.ranks):
        raise Refused(f"no rank {chosen} (ranks: {trace.ranks})")
    check_ranks(trace, chosen)
    return chosen


def choose_steps(files, wanted):
    """The selected (file, step) pairs, or None for every event, inside a step or not."""
    wanted = "steady" if wanted is None else wanted
    present = {file.path: {step.iteration for step in file.steps} for file in files}
    everywhere = set().union(*present.values())
    if wanted != "all" and everywhere and not all(present.values()):  # T12
        raise Refused(f"no steps in {[path for path, steps in present.items() if not steps]}")
    if wanted == "all" or (wanted in ("first", "steady") and not everywhere):
        return None
    steady = {(path, step) for path, steps in present.items()
              for step in (steps if len(steps) < 3 else steps - {min(steps), max(steps)})}
    for file in files:  # I5
        late = {(file.path, step.iteration) for step in file.steps
                if file.waits_from_ns is not None and step.end_ns > file.waits_from_ns}
        own = {one for one in steady if one[0] == file.path}
        steady -= late if own - late else set()
    if wanted == "steady":  # T12
        return steady
    if wanted == "first":
        wanted = min(everywhere)
    if isinstance(wanted, str):  # T23
        return of_phase(files, steady, wanted)
    wanted = {wanted} if isinstance(wanted, int) else set(wanted)
    if not wanted <= everywhere:
        raise Refused(f"no iteration {wanted} (iterations: {sorted(everywhere)})")
    return {(path, step) for path, steps in present.items() for step in steps & wanted}


def of_phase(files, steady, phase):
    """The steady steps of a phase or a stratum; each rank must have one."""
    found = {(path, number) for file in files for path, number in steady
             if path == file.path and phase in (first_of(file)[number].phase, first_of(file)[number].stratum)}
    for rank in {file.rank for file in files}:
        paths = {file.path for file in files if file.rank == rank}
        if not any(path in paths for path, _ in found):
            phases = {first_of(file)[number].phase for file in files for path, number in steady
                      if path == file.path and file.rank == rank} - {None}
            raise Refused(f"rank {rank} has no step of phase {phase} (phases: {sorted(phases)})")
    return found


def first_of(file):
    """{number: the step that gives its phase}: the event that starts first."""
    return {step.iteration: step for step in sorted(file.steps, key=lambda step: (step.ts_ns, step.event),
                                                    reverse=True)}


def of_device(device_type):  # T9
    """Whether a row belongs to it."""
    return {"ALL": lambda row: True, "CPU": lambda row: row.device == "CPU",
            "GPU": is_device_work}[(device_type or "ALL").upper()]


def select(trace, ranks=None, wanted=None, device_type="ALL"):
    """The selected rows, and the number of steps that 'per step' divides by (T12)."""
    if wanted == "first" and trace.argument in (None, "auto") and any(file.annotated for file in trace.files):  # T23
        trace = copy.deepcopy(trace)
        take_steps(trace, "profiler")
    chosen = choose_ranks(trace, ranks)
    files = [file for file in trace.files if file.rank in chosen]
    pairs = choose_steps(files, wanted)
    rows = [row for file in files for row in file.counted if pairs is None or (row.file, row.iteration) in pairs]
    rows = list(filter(of_device(device_type), rows))
    rank_of = {file.path: file.rank for file in files}
    if pairs is not None:
        return rows, len({(rank_of[path], step) for path, step in pairs})
    steps = {(file.rank, step.iteration) for file in files for step in file.steps}
    without = [file for file in files if not file.steps and file.first_ns is not None]
    return rows, max(len(steps) + len(without), 1)


# ---- results --------------------------------------------------------------

OpsRow = namedtuple("OpsRow", "rank iteration device cat name counts total_ns mean_ns min_ns max_ns")


def summary(trace, ranks=None, wanted=None, device_type="ALL"):
    """The rows of trace_ops, unordered."""
    groups = defaultdict(list)
    for row in select(trace, ranks, wanted, device_type)[0]:
        groups[row.rank, row.iteration, row.device, row.cat, row.name].append(row.dur_ns)
    return [OpsRow(*key, len(durations), sum(durations), Fraction(sum(durations), len(durations)),
                   min(durations), max(durations)) for key, durations in groups.items()]


DiffRow = namedtuple("DiffRow", "name control_counts test_counts control_ns test_ns diff_counts diff_ns "
                                "counts_change_categories counts_change device diff_duration_pct "
                                "control_counts_per_step test_counts_per_step control_ns_per_step test_ns_per_step "
                                "diff_ns_per_step")


def counts_change(control, test):
    if control == 0 or test == 0:
        return "added" if control == 0 else "deleted"
    return "increased" if test > control else "decreased" if test < control else "same"


def hta_change(word):
    """HTA's word for a counts_change."""
    return "unchanged" if word == "same" else word


def trace_diff(control, test, control_rank=None, test_rank=None, control_iteration=None, test_iteration=None,
               device_type="ALL"):
    """{name: DiffRow}: the summaries of both sides, joined on the name."""
    control_rows, control_steps = select(control, control_rank, control_iteration, device_type)
    test_rows, test_steps = select(test, test_rank, test_iteration, device_type)
    sides = [by_name(control_rows), by_name(test_rows)]
    devices = defaultdict(set)
    for row in control_rows + test_rows:
        devices[row.name].add(row.device)
    result = {}
    for name in sides[0].keys() | sides[1].keys():
        (counts0, total0), (counts1, total1) = (side.get(name, (0, 0)) for side in sides)
        per_step0, per_step1 = Fraction(total0, control_steps), Fraction(total1, test_steps)
        result[name] = DiffRow(
            name, counts0, counts1, total0, total1, counts1 - counts0, total1 - total0,
            "+" if counts1 > counts0 else "-" if counts1 < counts0 else "=", counts_change(counts0, counts1),
            "both" if len(devices[name]) > 1 else min(devices[name]),
            Fraction(100 * (total1 - total0), total0) if total0 else None,
            Fraction(counts0, control_steps), Fraction(counts1, test_steps), per_step0, per_step1,
            per_step1 - per_step0)
    return result


def by_name(rows):
    """{name: (counts, total_ns)}"""
    sums = defaultdict(lambda: (0, 0))
    for row in rows:
        counts, total = sums[row.name]
        sums[row.name] = counts + 1, total + row.dur_ns
    return dict(sums)
