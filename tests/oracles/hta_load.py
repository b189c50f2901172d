"""HTA's loading of traces in plain Python, with its defects corrected one by one.

    load("runs/a")                          # like HTA, with all defects
    load("runs/a", right={"D2", "D4"})      # with these two corrected
    load("runs/a", right=RIGHT)             # like tracediff

The steps of HolisticTraceAnalysis' TraceAnalysis before it analyses: read, round, link launches and device events,
align, leave out the last step. The documentation numbers the defects; SWITCHES gives the right behaviour for each. T1
to T17 are tracediff's own rules, most of which oracle.py implements.

Times are integer nanoseconds, also where they are whole microseconds. None replaces HTA's -1 for no stream and no
correlation.
"""
import functools
import math
import os
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from decimal import Decimal

import oracle

SWITCHES = {
    "D1": "the end of an event is aligned as its start is",
    "D2": "one launch a device event (T10's choice), and a device event stays once",
    "D3": "an end does not overflow",
    "D4": "times are exact",
    "D5": "stream 0 is a stream (call stacks)",
    "D6": "event 0 is an event, and no link is no link",
    "D7": "steps are host events",
    "D8": "kernel statistics are over events, duration_ratio is a share",
    "D9": "blocked time per stream",
    "D10": "ranks by T7, several files of a rank are all read",
    "D11": "links from calls to device events by category, correlation > 0",
    "D12": "the last step of each rank by itself (T13)",
    "D15": "steps are named ProfilerStep#N or ProfilerStep #N, and nothing else ends the loading",
    "D16": "a name that is not text does not end the loading",
    "D17": "all ranks by default",
    "D23": "device events by category, not by stream",
    "D24": "syncs are not busy time",
    "D25": "idle time from the latest end so far, split at the end of the launch",
    "D26": "communication and memory by category, then name, in any spelling",
    "D27": "no kernel is of type OTHER",
    "D28": "bandwidths are exact sums, ends before starts, labels by category",
    "D29": "queues and launch statistics of every launch, by link, launches before starts",
    "D30": "outermost host operators, by the call stacks of T5",
    "D31": "a kernel has the annotation of its own stream that holds its start",
    "D32": "the operator of a launch is the innermost one on its thread, of its rank",
    "D39": "a rank without device work has no row, and does not end the analysis",
    "D40": "stretches of the kernel type table are not cut to whole microseconds",
    "D41": "without a launch, device work is cut with the last step by its own start; T11 places its annotations",
    "D42": "ranges of CUPTI are paired with all launches before the last step is left out; else they have no operators",
    "D43": "each device of a rank is analysed by itself",
    "T2": "times count from the start of each rank, baseTimeNanoseconds included",
    "rows": "events by T3 and T4: also B with E and without category, not of negative duration",
    "backward": "the backward thread is not hung into the forward one",
}
RIGHT = frozenset(SWITCHES)
# The switches that change rows_of_ranks.
LOADING = frozenset({"D1", "D2", "D3", "D4", "D7", "D10", "D11", "D12", "D15", "D16", "D41", "T2", "rows"})
UNROUNDED = "unrounded"  # in `right`: rounds no column to decimals; not part of RIGHT

MICROSECOND = 1000
SYNCS = {"Event Sync", "Context Sync"}
BANDWIDTH = "memory bandwidth (GB/s)"


@dataclass(slots=True)
class Row(oracle.Event):
    """An event that is used; `link` is the Row of its launch, or of the last device event that it launched."""
    bandwidth: Decimal = Decimal(0)
    end_ns: int = None      # computed by the analyses from the aligned start
    raw_end_ns: int = None  # before the alignment


@dataclass
class Source:
    """A file, read once; `right` decides how it is loaded."""
    file: oracle.File
    rank_in_text: int
    kept: list = field(default_factory=list)     # HTA's choice of events
    counted: list = field(default_factory=list)  # T3's and T4's choice
    coarse: dict = field(default_factory=dict)   # {event: (ts, dur) with HTA's rounding}, empty without rounding
    whole: bool = False                          # every event has an integer ts and dur
    args: bool = False                           # some event has args


@dataclass
class Rank:
    rank: int
    rows: list                                   # the analysed rows in HTA's order, with duplicates twice
    every: list                                  # before the last step is left out
    trees: dict = field(default_factory=dict)

    @functools.cached_property
    def kept(self):
        return {key(row) for row in self.rows}


@dataclass
class Trace:
    right: frozenset
    ranks: dict  # {rank: Rank}


def key(row):
    return row.file, row.event


def numpy_order(values):
    """The positions of the values in ascending order; ties have the order of numpy's quicksort of positions."""
    order = list(range(len(values)))
    waiting = [(0, len(values) - 1, 2 * len(values).bit_length() - 2)] if values else []
    while waiting:
        left, right, depth = waiting.pop()
        if depth < 0:
            order[left:right + 1] = heap_order(values, order[left:right + 1])
            continue
        while right - left > 15:
            middle = left + (right - left >> 1)
            for high, low in ((middle, left), (right, middle), (middle, left)):
                if values[order[high]] < values[order[low]]:
                    order[high], order[low] = order[low], order[high]
            pivot = values[order[middle]]
            i, j = left, right - 1
            order[middle], order[j] = order[j], order[middle]
            while True:
                i += 1
                while values[order[i]] < pivot:
                    i += 1
                j -= 1
                while pivot < values[order[j]]:
                    j -= 1
                if i >= j:
                    break
                order[i], order[j] = order[j], order[i]
            order[i], order[right - 1] = order[right - 1], order[i]
            depth -= 1
            if i - left < right - i:
                waiting.append((i + 1, right, depth))
                right = i - 1
            else:
                waiting.append((left, i - 1, depth))
                left = i + 1
        order[left:right + 1] = sorted(order[left:right + 1], key=values.__getitem__)
    return order


def heap_order(values, order):
    """The positions sorted by numpy's heap sort, which its quicksort falls back to at a certain depth."""
    def sift(place, moved, size):
        below = 2 * place
        while below <= size:
            if below < size and values[heap[below]] < values[heap[below + 1]]:
                below += 1
            if not values[moved] < values[heap[below]]:
                break
            heap[place] = heap[below]
            place, below = below, 2 * below
        heap[place] = moved

    heap = [None, *order]
    for place in range(len(order) // 2, 0, -1):
        sift(place, heap[place], len(order))
    for size in range(len(order) - 1, 0, -1):
        moved, heap[size + 1] = heap[size + 1], heap[1]
        sift(1, moved, size)
    return heap[1:]


def in_numpy_order(rows, value):
    return [rows[place] for place in numpy_order([value(row) for row in rows])]


# ---- files ----------------------------------------------------------------

def sources(path):
    """The files of a directory, a file, or a list of files."""
    if isinstance(path, str):
        path = oracle.list_directory(path) if os.path.isdir(path) else [path]
    found = []
    for name in path:
        status = os.stat(name)
        source = read_source(name, status.st_mtime_ns, status.st_size)
        if source is not None:
            found.append(source)
    oracle.assign_ranks([source.file for source in found])
    return found


def is_whole(value):
    return isinstance(value, oracle.Number) and oracle.integer(value) is not None


def as_float(value):
    return float(value.text) if isinstance(value, oracle.Number) else math.nan


def stream_number(value):
    """A number, or a numeric text, truncated to an integer."""
    try:
        number = int(float(value.text if isinstance(value, oracle.Number) else value))
    except (TypeError, ValueError, OverflowError):
        return None
    return None if number == -1 else number


def correlation_number(value):
    number = oracle.integer(value)
    return None if number == -1 else number


def bandwidth_of(args):
    value = args.get(BANDWIDTH)
    return Decimal(value.text) if isinstance(value, oracle.Number) else Decimal(0)


def coarse_times(element):
    """HTA's (ts, dur) of an event in a trace with nanoseconds: the start rounded up, the end down, in double
    precision.
    """
    start, length = as_float(element.get("ts")), as_float(element.get("dur"))
    if math.isnan(start) or math.isnan(length):
        return None
    end, start = math.floor(start + length), math.ceil(start)
    return start * MICROSECOND, (end - start) * MICROSECOND


@functools.lru_cache(maxsize=16)
def read_source(path, _mtime, _size):
    """The file, or None if it is not a trace."""
    document = oracle.read_document(path)
    events = oracle.events_of(document)
    if events is None:
        return None
    found = re.search(r'"rank":[^\S\n]+(\d+)', oracle.read_text(path))
    file = oracle.File(path, document)
    oracle.read_rows(file)
    source = Source(file, int(found[1]) if found else 0)
    elements = {position: element for position, element in enumerate(events) if isinstance(element, dict)}
    read = {row.event: row for row in file.rows}
    rounded = not all(is_whole(element.get("ts")) for element in elements.values())
    source.whole = not rounded and all(is_whole(element.get("dur")) for element in elements.values())
    source.args = any(isinstance(element.get("args"), dict) for element in elements.values())
    for position, element in elements.items():
        is_kept = element.get("dur") is not None and element.get("cat") not in (None, "Trace")
        if is_kept:
            source.kept.append(kept_row(file, position, element, read.get(position)))
        if rounded and (is_kept or position in read):
            times = coarse_times(element)
            if times:
                source.coarse[position] = times
    for row in file.rows:
        if oracle.is_counted(row) and row.ts_ns is not None:
            args = elements[row.event].get("args")
            source.counted.append(Row(
                file.path, row.event, row.ph, row.cat, row.name, row.ts_ns - file.base_ns, row.dur_ns, row.pid,
                row.tid, row.stream, row.correlation, row.device, external=row.external, process=row.process,
                bandwidth=bandwidth_of(args) if isinstance(args, dict) else Decimal(0)))
    info = document.get("distributedInfo") if isinstance(document, dict) else None
    file.document, file.rows = {"distributedInfo": info}, []  # enough to tell ranks apart
    return source


def kept_row(file, position, element, read):
    """An event that HTA keeps: it has a dur and a category, in any phase."""
    args = element.get("args") if isinstance(element.get("args"), dict) else {}
    if read is not None and read.ts_ns is not None:
        ts = read.ts_ns - file.base_ns
    else:
        ts = oracle.nanoseconds(element.get("ts"))
    dur = read.dur_ns if read is not None and read.ph == "X" else None
    if dur is None:
        dur = oracle.nanoseconds(element.get("dur"))
    cat = oracle.text(element.get("cat"))
    return Row(file.path, position, element.get("ph"), cat, oracle.text(element.get("name")), ts, dur,
               oracle.identifier(element.get("pid")), oracle.identifier(element.get("tid")),
               stream_number(args.get("stream")), correlation_number(args.get("correlation")),
               "GPU" if cat in oracle.GPU_CATEGORIES else "CPU", bandwidth=bandwidth_of(args))


# ---- rows -----------------------------------------------------------------

def fresh_rows(source, right):
    """Copies of the file's rows with their times, not yet aligned."""
    if "rows" not in right:
        if source.kept and not source.args:
            raise KeyError("stream")
        if "D16" not in right and any(row.name is None for row in source.kept):
            raise ValueError("a name is not text")
    base = source.file.base_ns if "T2" in right else 0
    coarse = {} if "D4" in right else source.coarse
    rows = []
    for row in source.counted if "rows" in right else source.kept:
        ts, dur = coarse.get(row.event, (row.ts_ns, row.dur_ns))
        if ts is not None and dur is not None and row.name is not None:
            rows.append(Row(row.file, row.event, row.ph, row.cat, row.name, ts + base, dur, row.pid, row.tid,
                            row.stream, row.correlation, row.device, bandwidth=row.bandwidth,
                            external=row.external, process=row.process))
    width = integer_width(rows) if source.whole and not {"D3", "T2"} & right else None
    for row in rows:
        row.raw_end_ns = overflowed(row.ts_ns + row.dur_ns, width)
    return rows, width


def integer_width(rows):
    """Bits of the narrow integers in which HTA adds ts and dur."""
    values = [row.ts_ns // MICROSECOND for row in rows] + [row.dur_ns // MICROSECOND for row in rows] or [0]
    for bits in (8, 16, 32):
        if -2 ** (bits - 1) <= min(values) and max(values) < 2 ** (bits - 1):
            return bits
    return 64


def overflowed(time, width):
    if width is None:
        return time
    half = 2 ** (width - 1)
    return ((time // MICROSECOND + half) % (2 * half) - half) * MICROSECOND


def is_hta_device(row):
    """The device side of a link and of the filter, by HTA's definition."""
    return (row.stream is not None and row.stream >= 0 and row.correlation is not None and row.correlation >= 0
            or row.name in SYNCS)


def link(rows, right):
    """Sets the launch of each device event, and the last device event of each launch."""
    calls, launched = defaultdict(list), defaultdict(list)
    for row in rows:
        if "D11" in right:
            side = calls if oracle.is_call(row) else launched if row.device == "GPU" else None
            if side is not None and row.correlation is not None and row.correlation > 0:
                side[row.correlation].append(row)
        elif row.correlation is not None:
            (launched if is_hta_device(row) else calls)[row.correlation].append(row)
    for correlation, events in launched.items():
        candidates = calls.get(correlation)
        if candidates:
            for row in events:
                row.link = oracle.launch_of(row, candidates) if "D2" in right else candidates[-1]
            for call in candidates:
                call.link = events[-1]


# ---- alignment and the last step ------------------------------------------

def align(rows_of, widths, firsts, right):
    """Times from the start of all ranks, or by T2 for each rank."""
    starts = {rank: min((row.ts_ns for row in rows), default=0) for rank, rows in rows_of.items()}
    if "T2" in right and "D4" in right:
        starts.update(firsts)
    first = min((starts[rank] for rank, rows in rows_of.items() if rows), default=0)
    for rank, rows in rows_of.items():
        origin = starts[rank] if "T2" in right else first
        for row in rows:
            row.ts_ns -= origin
            row.end_ns = overflowed(row.ts_ns + row.dur_ns, widths[rank])


def check_step_names(rows):
    for name in {row.name for row in rows}:
        if name.startswith("ProfilerStep") and not re.match(r"ProfilerStep\s*#\s*(\d+)", name):
            raise AssertionError(f"no step: {name}")


def is_step(row, right):
    if "D7" in right and row.device != "CPU":
        return False
    if "D15" in right:
        return oracle.step_number(row) is not None
    return re.match(r"ProfilerStep#\d+", row.name) is not None


def is_mtia(document, rows):
    info, names = document["distributedInfo"], {row.name for row in rows}
    if isinstance(info, dict) and "mtia:hccl" in str(info.get("backend")):
        return True
    return (not names & {"cudaLaunchKernel", "hipLaunchKernel"}
            and "runFunction - job_prep_and_submit_for_execution" in names)


def is_launched(row, right):
    """Whether the filter keeps the row because of its launch instead of its own start."""
    if "D11" in right:
        return row.device == "GPU" and row.cat != "gpu_user_annotation"
    return is_hta_device(row)


def without_last_step(rows, right, include_last):
    """The analysed rows of a rank, device events first."""
    host = [row for row in rows if not is_launched(row, right)]
    if not host:
        return rows
    goes_by = {}
    for file in {row.file for row in rows} if "D41" in right else ():
        of_file = [row for row in rows if row.file == file]
        goes_by.update({(file, event): row for event, row in
                        oracle.annotation_events(of_file, lambda row: row.link).items()})
    steps = [row for row in host if is_step(row, right)]
    if include_last:
        last = max(row.end_ns if "D1" in right else row.raw_end_ns for row in steps or host) + 1
    else:
        last = max(row.ts_ns for row in steps) if steps else min(row.ts_ns for row in host)
    host = [row for row in host if goes_by.get(key(row), row).ts_ns < last]
    device = [row for row in rows if is_launched(row, right)]
    if "D2" in right:
        kept, uncorrelated = {key(row) for row in host}, any(row.correlation is None for row in host)
        device = [row for row in device if (
            key(row.link) in kept if row.link is not None else row.ts_ns < last if "D41" in right
            else "D11" not in right and row.correlation is None and uncorrelated)]
    else:
        times = Counter((row.file, row.correlation) for row in host if "D11" not in right
                        or oracle.is_call(row) and row.correlation is not None and row.correlation > 0)
        alone = {key(row) for row in device if "D41" in right and row.link is None and row.ts_ns < last}
        device = [row for row in device
                  for _ in range(1 if key(row) in alone else times[row.file, row.correlation])]
    return device + host


def load(path, right=frozenset(), include_last=False, rows_of=None):
    """The trace of a directory, a file or a list of files, ready for the analyses; `rows_of` may cache some."""
    right = frozenset(right)
    assert right <= RIGHT | {UNROUNDED}, right - RIGHT
    rows = (rows_of or rows_of_ranks)(path, right & LOADING, include_last)
    return Trace(right, {rank: Rank(rank, *of_rank) for rank, of_rank in rows.items()})


def rows_of_ranks(path, right, include_last):
    """{rank: (analysed rows, all rows)}; only the part of `right` in LOADING matters."""
    of_rank = {}
    for source in sources(path):
        if "D10" in right:
            of_rank.setdefault(source.file.rank, []).append(source)
        else:
            of_rank[source.rank_in_text] = [source]
    rows_of, widths, firsts = {}, {}, {}
    for rank in sorted(of_rank):
        rows = rows_of[rank] = []
        for source in of_rank[rank]:
            found, widths[rank] = fresh_rows(source, right)
            link(found, right)
            rows += found
        if "D15" not in right:
            check_step_names(rows)
        begun = [source.file.first_ns for source in of_rank[rank] if source.file.first_ns is not None]
        if begun:
            firsts[rank] = min(begun)
    if "rows" not in right:
        rows_of = {rank: rows for rank, rows in rows_of.items() if rows}
    align(rows_of, widths, firsts, right)
    names = {rank: {oracle.step_number(row) if "D15" in right else row.name for row in rows if is_step(row, right)}
             for rank, rows in rows_of.items()}
    ranks = {}
    for rank, rows in rows_of.items():
        steps = names[rank] if "D12" in right else set().union(*names.values())
        if len(steps) >= 2 and "D12" not in right:
            first = min(rows_of)
            if is_mtia(of_rank[first][0].file.document, rows_of[first]):
                raise NotImplementedError("HTA filters MTIA traces by other rules")
        kept = rows if len(steps) < 2 else without_last_step(rows, right, include_last)
        ranks[rank] = kept, rows
    return ranks
