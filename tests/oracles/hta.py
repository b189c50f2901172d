"""HTA's analyses in plain Python, with its defects corrected one by one.

    trace = load("runs/a", right)           # for `right`, see hta_load.py
    temporal_breakdown(trace)               # a list of rows: {column: value}

Transcriptions of the computations of HolisticTraceAnalysis' TraceAnalysis, for tests. With an empty `right`, the rows
are HTA's own, with HTA's column names, and an exception of HTA is an exception here. With all of RIGHT, the rows are
those expected of tracediff. Times are microseconds in double precision, each divided once from integer nanoseconds;
None is SQL's NULL. Tests may compare rows in any order.
"""
import bisect
import re
import statistics
from collections import Counter, defaultdict
from fractions import Fraction

import oracle
import oracle_names
# noqa: F401, load is for modules that import this one
from hta_load import MICROSECOND, UNROUNDED, in_numpy_order, is_hta_device, key, load
from hta_stacks import Tree

COMPUTATION, COMMUNICATION, MEMORY, OTHER = "COMPUTATION", "COMMUNICATION", "MEMORY", "OTHER"
IDLE_CATEGORIES = {"kernel", "Kernel", "gpu_memset", "Memset", "gpu_memcpy", "Memcpy", "mtia_ccp_events"}
GPU_ANNOTATION = "gpu_user_annotation"
MTIA_LAUNCH = "runFunction - job_prep_and_submit_for_execution"
QUEUE_LAUNCHES = {
    "cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx", "cudaMemcpyAsync",
    "cudaMemsetAsync", "hipLaunchKernel", "hipExtModuleLaunchKernel", "hipMemcpyAsync", "hipMemsetAsync",
    "hipMemcpyWithStream", MTIA_LAUNCH}
KERNEL_LAUNCHES = {"cudaLaunchKernel", "cudaLaunchKernelExC", MTIA_LAUNCH}
MEMORY_LAUNCHES = {"cudaMemcpyAsync", "cudaMemsetAsync"}

# HTA's name patterns, anchored at the start of the name
HTA_LAUNCHES = re.compile(r"cuda.*LaunchKernel|cuLaunchKernel|runFunction")
HTA_COMMUNICATION = re.compile(r"nccl|hip|hccl|.*ncclKernel")
HTA_MEMORY = re.compile(r"(hip)?Memcpy|(hip)?Memset|dma")
HTA_NO_COMPUTATION = re.compile(
    r"nccl|hip|hccl|Stream Wait Event|runFunction|job_exe|packet|pe_exe|cpum_exe_subgraph|"
    r"collective_subgraph_execution|cuda.*LaunchKernel|.*(Memcpy|Memset|dma|Sync)")


# ---- numbers --------------------------------------------------------------

def us(ns):
    return None if ns is None else float(Fraction(ns, MICROSECOND))


def ratio(part, whole):
    return part / whole if whole else None


def percentage(part, whole):
    return None if not whole else 100 * (part / whole)


def rounded(value, digits, right):
    """Rounded to these decimals like in numpy."""
    if value is None or UNROUNDED in right:
        return value
    return round(value * 10 ** digits) / 10 ** digits


def quantile(ordered, share):
    """Interpolates linearly between order statistics."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def describe(values):
    """count, mean, std, min, 25%, 50%, 75%, max."""
    ordered = sorted(values)
    row = dict.fromkeys(("count", "mean", "std", "min", "25%", "50%", "75%", "max"))
    row["count"] = len(ordered)
    if ordered:
        row.update({"mean": float(statistics.mean(map(Fraction, ordered))), "min": float(ordered[0]),
                    "25%": float(quantile(ordered, 0.25)), "50%": float(quantile(ordered, 0.5)),
                    "75%": float(quantile(ordered, 0.75)), "max": float(ordered[-1])})
    if len(ordered) > 1:
        row["std"] = float(statistics.stdev(ordered))
    return row


# ---- rows -----------------------------------------------------------------

def choose(trace, ranks, by_default=None):
    """The selected ranks; by default the given ones, otherwise all."""
    if ranks == "all" or ranks is None and (by_default is None or "D17" in trace.right):
        ranks = sorted(trace.ranks)
    elif ranks is None:
        ranks = by_default
    if not set(ranks) <= set(trace.ranks):
        raise ValueError(ranks)
    return [trace.ranks[rank] for rank in ranks]


def is_work(row, right):
    """Whether the row counts as busy time of the device."""
    if "D24" in right and oracle.is_sync(row):
        return False
    if "D23" in right:
        return row.device == "GPU" and row.cat != GPU_ANNOTATION
    return row.stream is not None


def work_of(rank, right):
    return [row for row in rank.rows if is_work(row, right)]


def device_of(row, right):
    return row.pid if "D43" in right and row.cat is not None else None


def by_device(rows, right):
    """The rows of each device."""
    found = defaultdict(list)
    for row in rows:
        found[device_of(row, right)].append(row)
    return list(found.values())


def kernel_type(row, right):
    if oracle.is_sync(row) and "D27" in right:
        return OTHER
    if "D26" in right:
        cat = row.cat if row.cat in oracle_names.WORK or row.cat is None else "kernel"
        known = oracle_names.kernel_type(row.name, cat)
        if known in (MEMORY, COMMUNICATION):
            return known
    elif HTA_COMMUNICATION.match(row.name):
        return COMMUNICATION
    elif HTA_MEMORY.match(row.name):
        return MEMORY
    return OTHER if "D27" not in right and HTA_NO_COMPUTATION.match(row.name) else COMPUTATION


def launch_of(row, rank, right):
    """The launch of a device event, if it exists and is analysed."""
    launch = row.link
    if launch is None or key(launch) not in rank.kept or "D6" not in right and launch.event == 0:
        return None
    return launch


def merged(rows):
    """The union of the rows' intervals: [[start, end]] in order."""
    union = []
    for row in sorted(rows, key=lambda row: row.ts_ns):
        if union and row.ts_ns <= union[-1][1]:
            union[-1][1] = max(union[-1][1], row.end_ns)
        else:
            union.append([row.ts_ns, row.end_ns])
    return union


def length(intervals):
    return sum(end - start for start, end in intervals)


def lengths_by_set(sides, unit=1):
    """{bits of the running sides: length} from each side's merged intervals; each stretch is cut to whole units."""
    changes = []
    for bit, intervals in enumerate(sides):
        changes += [(start, 1 << bit) for start, _ in intervals] + [(end, -1 << bit) for _, end in intervals]
    changes.sort(key=lambda change: change[0])
    running, lengths = 0, Counter()
    for (time, change), (after, _) in zip(changes, changes[1:]):
        running += change
        if running > 0:
            lengths[running] += (after - time) // unit * unit
    return lengths


# ---- breakdowns of time ---------------------------------------------------

def temporal_breakdown(trace, ranks=None):
    right, result = trace.right, []
    for rank in choose(trace, ranks):
        devices = by_device(work_of(rank, right), right)
        if not devices and "D39" not in right:
            raise IndexError(f"rank {rank.rank} has no device work")
        for work in devices:
            union = merged(work)
            total = union[-1][1] - union[0][0]
            idle = total - length(union)
            compute = length(merged(row for row in work if kernel_type(row, right) == COMPUTATION))
            rest = total - compute - idle
            assert idle <= total and compute <= total and rest >= 0
            row = {"rank": rank.rank, "idle_time(us)": us(idle), "compute_time(us)": us(compute),
                   "non_compute_time(us)": us(rest), "kernel_time(us)": us(total)}
            for name, part in (("idle", idle), ("compute", compute), ("non_compute", rest)):
                row[f"{name}_time_pctg"] = rounded(percentage(part, total), 2, right)
            result.append(row)
    return result


def comm_comp_overlap(trace, ranks=None):
    right, result = trace.right, []
    for rank in choose(trace, ranks):
        for work in by_device(work_of(rank, right), right) or [[]] * ("D39" not in right):
            communication, computation = (merged(row for row in work if kernel_type(row, right) == wanted)
                                          for wanted in (COMMUNICATION, COMPUTATION))
            both = lengths_by_set([communication, computation])[3]
            result.append({"rank": rank.rank, "comp_comm_overlap_pctg":
                           rounded(percentage(both, length(communication)), 2, right)})
    return result


def idle_time_breakdown(trace, ranks=None, consecutive_kernel_delay=30):
    return [row for row, _ in idle_times(trace, ranks, consecutive_kernel_delay)]


def idle_interval_stats(trace, ranks=None, consecutive_kernel_delay=30):
    """HTA's second table: statistics of the intervals of each idle category."""
    result = []
    for row, gaps in idle_times(trace, ranks, consecutive_kernel_delay):
        described = describe([Fraction(gap, MICROSECOND) for gap in gaps])
        if "D25" not in trace.right:
            described = {name: rounded(value, 2, trace.right) for name, value in described.items()}
        result.append({"idle_category": row["idle_category"], "rank": row["rank"], "stream": row["stream"],
                       **described})
    return result


def idle_times(trace, ranks, consecutive_kernel_delay):
    """(row, idle times) of each rank, stream and category."""
    right, result = trace.right, []
    delay = consecutive_kernel_delay * MICROSECOND
    for rank in choose(trace, ranks, [0]):
        streams = defaultdict(list)
        for row in rank.rows:
            if row.stream is not None and (is_work(row, right | {"D24"}) if "D23" in right
                                           else row.cat in IDLE_CATEGORIES):
                streams[row.stream, device_of(row, right)].append(row)
        if not streams and "D39" not in right:
            raise ValueError(f"rank {rank.rank} has no device work")
        for (stream, _), rows in streams.items():
            if "D25" in right:
                times = {"host_wait": [], "kernel_wait": [], "other": []}
                def place(row):
                    call = launch_of(row, rank, right)
                    return row.ts_ns, call is not None, 0 if call is None else call.end_ns
                parts = split_gaps(sorted(rows, key=place), delay, rank, right)
            else:
                times = {}
                parts = whole_gaps(in_numpy_order(rows, lambda row: row.ts_ns), delay, rank, right)
            for category, gap in parts:
                times.setdefault(category, []).extend([] if gap is None else [gap])
            total = sum(map(sum, times.values()))
            for category, gaps in times.items():
                row = {"rank": rank.rank, "stream": stream, "idle_category": category,
                       "idle_time": us(sum(gaps)), "idle_time_ratio": ratio(sum(gaps), total)}
                if "D25" not in right:
                    row.update((name, rounded(row[name], 2, right)) for name in ("idle_time", "idle_time_ratio"))
                result.append((row, gaps))
    return result


def whole_gaps(rows, delay, rank, right):
    """HTA's (category, gap) of each event of a stream: its gap begins where the event before it ends."""
    end = None
    for row in rows:
        gap = None if end is None else row.ts_ns - end
        launch = start_of_launch(row, rank, right)
        if gap is not None and launch is not None and launch > end:
            yield "host_wait", gap
        else:
            yield "kernel_wait" if gap is not None and gap < delay else "other", gap
        end = row.end_ns


def start_of_launch(row, rank, right):
    """Without a link, HTA takes event 0 (D6)."""
    launch = launch_of(row, rank, right)
    if launch is None and "D6" not in right and row.correlation is not None:
        if row.link is None or row.link.event == 0:
            launch = next((other for other in rank.rows if other.event == 0), None)
    return None if launch is None else launch.ts_ns


def split_gaps(rows, delay, rank, right):
    """(category, part) for each gap of a stream: up to the end of the launch, and the rest."""
    reached = rows[0].end_ns
    for row in rows[1:]:
        gap = row.ts_ns - reached
        if gap > 0:
            launch, waited = launch_of(row, rank, right), 0
            if launch is not None and launch.end_ns > reached:
                waited = min(launch.end_ns - reached, gap)
                yield "host_wait", waited
            if gap > waited:
                yield "kernel_wait" if gap - waited < delay else "other", gap - waited
        reached = max(reached, row.end_ns)


# ---- breakdowns by kernel -------------------------------------------------

def types_listed(include_memory_kernels):
    return [COMPUTATION, COMMUNICATION] + [MEMORY] * bool(include_memory_kernels)


def gpu_kernel_type_breakdown(trace, ranks=None, include_memory_kernels=True):
    """Leaves out sets of length 0, which HTA lists or not depending on its sort."""
    right, lengths = trace.right, Counter()
    types = types_listed(include_memory_kernels)
    for rank in choose(trace, ranks):
        work = work_of(rank, right)
        lengths.update(lengths_by_set([merged(row for row in work if kernel_type(row, right) == wanted)
                                       for wanted in types], 1 if "D40" in right else MICROSECOND))
    total = sum(lengths.values())
    return [{"kernel_type": " overlapping ".join(name for bit, name in enumerate(types) if running >> bit & 1),
             "sum": us(sum_), "percentage": rounded(percentage(sum_, total), 1, right)}
            for running, sum_ in lengths.items() if sum_]


def gpu_kernel_breakdown(trace, ranks=None, duration_ratio=0.8, num_kernels=10, include_memory_kernels=True):
    right, result = trace.right, []
    for rank in choose(trace, ranks):
        for wanted in types_listed(include_memory_kernels):
            rows = [row for row in work_of(rank, right) if kernel_type(row, right) == wanted]
            for row in by_name(rows, duration_ratio, num_kernels, right):
                result.append({**row, "kernel_type": wanted, "rank": rank.rank})
    return result


def gpu_user_annotation_breakdown(trace, ranks=None, use_gpu_annotation=True, duration_ratio=0.8, num_kernels=1000):
    """Leaves out HTA's allowlist_patterns. Returns None if no event has such a category."""
    right, result = trace.right, []
    category = GPU_ANNOTATION if use_gpu_annotation else "user_annotation"
    if "D39" not in right and not any(row.cat == category for rank in trace.ranks.values() for row in rank.every):
        return None
    for rank in choose(trace, ranks):
        rows = [row for row in rank.rows if row.cat == category]
        for row in by_name(rows, duration_ratio, num_kernels, right):
            result.append({**row, "rank": rank.rank})
    return result


def gpu_kernels_with_user_annotations(trace, ranks=None):
    """None if no device has annotations."""
    right, result = trace.right, []
    if "D39" not in right and not any(row.cat == GPU_ANNOTATION for rank in trace.ranks.values() for row in rank.every):
        return None
    for rank in choose(trace, ranks, [0]):
        kernels = work_of(rank, right) if "D11" in right else [row for row in rank.rows if is_hta_device(row)]
        of_rows = rank.every if "D41" in right else rank.rows
        annotations = [row for row in of_rows if row.cat == GPU_ANNOTATION]
        if "D31" not in right and any(row.end_ns < row.ts_ns for row in kernels + annotations):
            raise ValueError("an interval of negative length")
        found = (annotations_around if "D31" in right else annotations_anywhere)(kernels, annotations)
        result += [{"rank": rank.rank, "index": row.event, "ts": us(row.ts_ns), "dur": us(row.dur_ns), "pid": row.pid,
                    "tid": row.tid, "stream": row.stream, "s_name": row.name, "s_user_annotation": name}
                   for row, name in zip(kernels, found)]
    return result


def annotations_anywhere(kernels, annotations):
    """HTA's choice: the shortest annotation that overlaps the kernel on its pid and tid, or another kernel with the
    same interval.
    """
    ordered = in_numpy_order(annotations[::-1], lambda row: row.dur_ns)[::-1]
    threads, names = list(dict.fromkeys((row.pid, row.tid) for row in ordered)), {}
    for thread in threads:
        for annotation in ordered:
            if (annotation.pid, annotation.tid) == thread:
                names.update(((row.ts_ns, row.end_ns), annotation.name) for row in kernels
                             if (row.pid, row.tid) == thread
                             and annotation.ts_ns < row.end_ns and row.ts_ns < annotation.end_ns)
    return [names.get((row.ts_ns, row.end_ns)) for row in kernels]


def annotations_around(kernels, annotations):
    """The innermost annotation on the kernel's pid and tid that contains its start."""
    for row in kernels:
        around = [other for other in annotations if (other.file, other.pid, other.tid) == (row.file, row.pid, row.tid)
                  and other.ts_ns <= row.ts_ns < other.end_ns]
        yield max(around, key=lambda other: (other.ts_ns, -other.dur_ns, other.event)).name if around else None


def by_name(rows, duration_ratio, num_kernels, right):
    """Statistics of the durations by name; beyond num_kernels names, the smaller ones become one row, others."""
    durations = defaultdict(list)
    for row in rows:
        durations[row.name].append(row.dur_ns)
    if len(durations) > num_kernels:
        durations = (collapsed if "D8" in right else collapsed_sums)(durations, duration_ratio, num_kernels)
    return [statistics_row(name, durations[name]) for name in sorted(durations)]


def collapsed(durations, duration_ratio, num_kernels):
    total, before, result = sum(map(sum, durations.values())), 0, defaultdict(list)
    names = sorted(durations, key=lambda name: (-sum(durations[name]), name))
    for place, name in enumerate(names):
        kept = place < num_kernels and before < duration_ratio * total
        result[name if kept else "others"] += durations[name]
        before += sum(durations[name])
    return result


def collapsed_sums(durations, duration_ratio, num_kernels):
    """HTA's version: per name only the sum remains, and the ratio is a quantile of the running sum."""
    names = sorted(durations, reverse=True)
    names = in_numpy_order(names, lambda name: sum(durations[name]))[::-1]
    running, cumulated, result = 0, [], defaultdict(list)
    for name in names:
        running += sum(durations[name])
        cumulated.append(running)
    limit = quantile(sorted(cumulated), duration_ratio)
    for place, name in enumerate(names):
        total = sum(durations[name])    # below 0, which HTA assumes is impossible, where D4 made durations of -1
        kept = total < 0 or place < num_kernels and cumulated[place] <= limit
        result[name if kept else "others"].append(total)
    return result


def statistics_row(name, durations):
    return {"name": name, "sum (us)": us(sum(durations)), "max (us)": us(max(durations)),
            "min (us)": us(min(durations)), "mean (us)": us(Fraction(sum(durations), len(durations))),
            "stddev": float(statistics.stdev(map(Fraction, durations))) / MICROSECOND if len(durations) > 1 else 0.0}


# ---- bandwidth ------------------------------------------------------------

def bandwidth_label(row, right):
    if row.name.startswith("Memset") or "D28" in right and row.cat in ("gpu_memset", "Memset"):
        return "Memset"
    return row.name[:11] if row.name.startswith("Memcpy") else "Memcpy Unknown"


def bandwidth_points(trace, ranks):
    """(rank, row, ts in ns, running sum) of each start and end, by label."""
    right = trace.right
    for rank in choose(trace, ranks, [0]):
        rows = [row for row in work_of(rank, right) if kernel_type(row, right) == MEMORY]
        ends = [(row, row.ts_ns + MICROSECOND if row.dur_ns == 0 else row.end_ns, -1) for row in rows]
        points = [(row, row.ts_ns, 1) for row in rows] + ends
        if "D28" in right:
            points.sort(key=lambda point: (point[1], point[2], point[2] * point[0].bandwidth))
        else:
            points = in_numpy_order(points, lambda point: point[1])
        running = defaultdict(Fraction if "D28" in right else float)
        for row, ts, sign in points:
            label = bandwidth_label(row, right)
            running[label] += sign * (Fraction if "D28" in right else float)(row.bandwidth)
            yield rank, row, label, ts, running[label]


def memory_bw_time_series(trace, ranks=None):
    return [{"rank": rank.rank, "ts": us(ts), "pid": row.pid, "name": label, "memory_bw_gbps": float(value)}
            for rank, row, label, ts, value in bandwidth_points(trace, ranks)]


def memory_bw_summary(trace, ranks=None):
    values, seen = defaultdict(list), False
    for rank, _, label, _, value in bandwidth_points(trace, ranks):
        seen = True
        if value > 0:
            values[rank.rank, label].append(value)
    if not seen and "D39" not in trace.right:
        return None
    return [{"rank": rank, "name": label,
             **{f"memory_bw_gbps_{name}": value for name, value in describe(found).items()}}
            for (rank, label), found in values.items()]


# ---- queues and launches --------------------------------------------------

def queue_points(rank, right):
    """(stream, event, pid, tid, ts in ns, length) in the order of the points of each stream."""
    if "D29" in right:
        changes = []
        for row in work_of(rank, right):
            launch = launch_of(row, rank, right)
            if launch is not None and row.stream is not None:
                changes += [(launch, row, launch.ts_ns, 1), (row, row, max(row.ts_ns, launch.ts_ns), -1)]
        changes.sort(key=lambda change: (change[2], -change[3]))
    else:
        launches = [row for row in rank.rows if row.name in QUEUE_LAUNCHES and row.link is not None
                    and ("D6" in right or row.link.event > 0)]
        wanted, work = {row.correlation for row in launches}, defaultdict(list)
        for row in work_of(rank, right):
            if row.correlation in wanted:
                work[row.correlation].append(row)
        changes = [(launch, row, launch.ts_ns, 1) for launch in launches for row in work[launch.correlation]]
        unmatched = sum(not work[launch.correlation] for launch in launches)
        starts = [(row, row, row.ts_ns, -1) for row in work_of(rank, right) if row.correlation in wanted]
        assert len(changes) + unmatched == len(starts)
        changes = in_numpy_order(changes + starts, lambda change: change[2])
    lengths = Counter()
    for event, row, ts, change in changes:
        queue = row.stream, row.pid if "D43" in right else None
        lengths[queue] += change
        yield *queue, event.event, row.pid, row.tid, ts, lengths[queue]


def queue_length_time_series(trace, ranks=None):
    return [{"rank": rank.rank, "index": event, "ts": us(ts), "pid": pid, "tid": tid, "stream": stream,
             "queue_length": queued}
            for rank in choose(trace, ranks, [0])
            for stream, _, event, pid, tid, ts, queued in queue_points(rank, trace.right)]


def queue_length_summary(trace, ranks=None):
    values = defaultdict(list)
    for row in queue_length_time_series(trace, ranks):
        values[row["rank"], row["stream"], row["pid"] if "D43" in trace.right else None].append(row["queue_length"])
    if not values and "D39" not in trace.right:
        return None
    return [{"rank": rank, "stream": stream,
             **{f"queue_length_{name}": value for name, value in describe(found).items()}}
            for (rank, stream, _), found in values.items()]


def trace_with_counters(trace, ranks=None):
    """The events that generate_trace_with_counters adds to the traces, except that ts counts like in the series."""
    made = [{"pid": row["pid"], "ts": row["ts"], "args": {"Queue Length": row["queue_length"]}, "ph": "C",
             "name": "Queue Length", "id": row["stream"]} for row in queue_length_time_series(trace, ranks)]
    return made + [{"pid": row["pid"], "ts": row["ts"], "args": {"Memcpy BW": row["memory_bw_gbps"]}, "ph": "C",
                    "name": row["name"], "id": None} for row in memory_bw_time_series(trace, ranks)]


def is_kernel_launch(row, right):
    if "D42" in right:
        return oracle.is_call(row) and re.search("Launch.*Kernel", row.name) is not None
    return row.cat.startswith("cuda_runtime") and row.name.startswith("cudaLaunchKernel")


def cupti_counters(trace, ranks=None):
    """get_cupti_counter_data_with_operators, except for the counters, which it passes through."""
    right, result = trace.right, []
    for rank in choose(trace, ranks, [0]):
        rows = {key(row): row for row in sorted(rank.every if "D42" in right else rank.rows, key=lambda row: row.ts_ns)}
        tree = Tree(rank, right)
        ranges = [row for row in rows.values() if row.cat == "cuda_profiler_range"]
        launches = {place: row for place, row in rows.items() if is_kernel_launch(row, right)}
        if "D42" in right:
            launches = {place: row for place, row in launches.items() if tree.parents.get(place) not in launches}
        if "D42" not in right and len(ranges) != len(launches):
            continue
        paired = launches.values() if len(ranges) == len(launches) else [None] * len(ranges)
        for row, launch in zip(ranges, paired):
            path = () if launch is None else reversed(list(tree.path(key(launch))))
            stack = [rows[place].name for place in path if rows[place].cat in ("cpu_op", "Operator")]
            if "D42" not in right or key(launch or row) in rank.kept:
                result.append({"rank": rank.rank, "name": row.name, "op_stack": None if launch is None else stack,
                               "top_op": stack[0] if stack or "D42" not in right else None, "op": stack[-1] if stack
                               else None})
    return result


def time_spent_blocked_on_full_queue(trace, ranks=None, max_queue_length=1024):
    right, result = trace.right, []
    for rank in choose(trace, ranks, [0]):
        points = defaultdict(list)
        for stream, device, _, _, _, ts, queued in queue_points(rank, right):
            points[stream, device].append((ts, queued))
        starts = [row.ts_ns for row in rank.rows]
        blocked = []
        for (stream, _), series in sorted(points.items(), key=lambda item: (item[0][0], str(item[0][1]))):
            if any(queued >= max_queue_length for _, queued in series):
                full = sum(after - ts for (ts, queued), (after, _) in zip(series, series[1:])
                           if queued >= max_queue_length)
                blocked.append({"rank": rank.rank, "stream": stream, "duration_at_max_queue_length": us(full),
                                "relative_duration_at_max_queue_length": ratio(full, max(starts) - min(starts))})
        result += blocked if "D9" in right else blocked[-1:]
    return result


def cuda_kernel_launch_stats(trace, ranks=None, include_memory_events=True):
    right, result = trace.right, []
    for rank in choose(trace, ranks, [0]):
        work = work_of(rank, right)
        if "D29" in right:
            pairs = [(launch_of(row, rank, right), row) for row in work
                     if include_memory_events or kernel_type(row, right) != MEMORY]
            pairs = [(call, row) for call, row in pairs if call is not None]
        else:
            names = KERNEL_LAUNCHES | (MEMORY_LAUNCHES if include_memory_events else set())
            wanted = {row.correlation for row in rank.rows if row.name in names}
            if "D11" in right:
                wanted.discard(None)
            launched = defaultdict(list)
            for row in work:
                launched[row.correlation].append(row)
            pairs = [(call, row) for call in rank.rows if call.stream is None and call.correlation in wanted
                     for row in launched[call.correlation]]
        for call, row in pairs:
            result.append({"rank": rank.rank, "correlation": row.correlation, "cpu_duration": us(call.dur_ns),
                           "gpu_duration": us(row.dur_ns),
                           "launch_delay": us(max(0, row.ts_ns - call.ts_ns - call.dur_ns))})
    return result


# ---- ranks ----------------------------------------------------------------

def iterations_of(rank):
    """{event: iteration} by HTA's numbering: the last step in the file that contains the start."""
    steps = [(row, int(number[1])) for row in rank.every if (number := re.match(r"ProfilerStep\s*#\s*(\d+)", row.name))]
    host = {key(row): next((number for step, number in reversed(steps) if step.ts_ns <= row.ts_ns < step.end_ns), -1)
            for row in rank.every if row.stream is None}
    launches = ((row, launch_of(row, rank, ())) for row in rank.rows if row.stream is not None and row.stream > 0)
    return {**host, **{key(row): -1 if launch is None else host.get(key(launch), -1) for row, launch in launches}}


def potential_stragglers(trace, num_candidates=2):
    """The ranks that most often begin a certain communication kernel late, by HTA's method only (D33)."""
    rows = {}
    for rank in trace.ranks.values():
        iterations = iterations_of(rank)
        rows[rank.rank] = [(row, iterations[key(row)]) for row in rank.rows if key(row) in iterations]
    steps = {iteration for of_rank in rows.values() for row, iteration in of_rank
             if row.name.startswith("ProfilerStep")}
    if not steps:
        raise ValueError("there are no steps")
    rows = {rank: [(row, iteration) for row, iteration in of_rank if iteration in steps]
            for rank, of_rank in rows.items()}
    every = [row for of_rank in rows.values() for row, _ in of_rank]
    first = min(row.ts_ns for row in every)
    mean = (max(row.ts_ns + row.dur_ns for row in every) - first) / len(steps)
    kernels = {(row.stream, row.name, iteration, rank): row for rank, of_rank in rows.items()
               for row, iteration in of_rank
               if row.name.startswith("ncclKernel") and row.stream is not None and row.stream > 0 and iteration > 0
               and row.dur_ns >= 0.01 * mean}
    spreads = defaultdict(list)
    for stream, name, iteration in dict.fromkeys(place[:3] for place in kernels):
        durations = [kernels[stream, name, iteration, rank].dur_ns / mean for rank in rows
                     if (stream, name, iteration, rank) in kernels]
        if len(durations) > 1:
            spreads[stream, name].append(statistics.stdev(durations))
    if not spreads:
        raise ValueError("no kernel of communication is on several ranks")
    chosen, flags = max(spreads, key=lambda place: statistics.mean(spreads[place])), Counter()
    for iteration in {place[2] for place in kernels if place[:2] == chosen}:
        starts = {rank: (row.ts_ns - first) / mean for (*place, rank), row in kernels.items()
                  if tuple(place) == (*chosen, iteration)}
        least = sorted(starts.values(), reverse=True)[num_candidates - 1]
        flags.update(rank for rank, start in starts.items() if start >= least)
    return [{"rank": rank} for rank, _ in flags.most_common(num_candidates)]


# ---- operators ------------------------------------------------------------

def aten_op_kernels_and_delay(trace, ranks=None, include_memory_events=False):
    right, result, found = trace.right, [], {}
    for rank in choose(trace, ranks, [0]):
        if "D32" in right:
            found = {}
        launches = (rule_operators if "D32" in right else hta_operators)(rank, right, include_memory_events)
        for place, (operator, call, row) in enumerate(launches):
            instance = (operator.file,
                        operator.event) if "D32" in right else (operator.tid, operator.name, operator.ts_ns)
            found.setdefault(instance, []).append((operator, call, row))
        if not found and "D32" not in right:
            raise KeyError("thread_id")
        delays = defaultdict(list)
        for kernels in found.values():
            operator, call, row = kernels[0]
            delays[operator.name, " -> ".join(row.name for _, _, row in kernels)].append(
                (call.ts_ns - operator.ts_ns, row.ts_ns - call.ts_ns))
        for (name, sequence), pairs in delays.items():
            means = [us(Fraction(sum(values), len(pairs))) for values in zip(*pairs)]
            if "D32" not in right:
                means = [rounded(value, 3, right) for value in means]
            result.append({"rank": rank.rank, "aten_op_name": name, "kernel_sequence": sequence,
                           "occurrence_count": len(pairs), "avg_aten_op_launch_delay": means[0],
                           "avg_runtime_delay": means[1]})
    return result


def holding(rows):
    """A function of (start, end): the rows that contain both, latest start first."""
    ordered, reached = sorted(rows, key=lambda row: row.ts_ns), []
    for row in ordered:
        reached.append(max(row.end_ns, reached[-1]) if reached else row.end_ns)
    starts = [row.ts_ns for row in ordered]

    def find(start, end):
        place = bisect.bisect_right(starts, start) - 1
        while place >= 0 and reached[place] >= end:
            if ordered[place].end_ns >= end:
                yield ordered[place]
            place -= 1
    return find


def hta_operators(rank, right, _):
    """(operator, launch, kernel) for each launch inside an ATen operator of any thread; the one that starts last
    counts.
    """
    places = {key(row): place for place, row in enumerate(rank.rows)}
    find = holding(row for row in rank.rows if row.name.startswith("aten::"))
    kernels = defaultdict(list)
    for row in rank.rows:
        launch = launch_of(row, rank, right)
        if row.stream is not None and launch is not None:
            kernels[key(launch)].append(row)
    for call in rank.rows:
        if HTA_LAUNCHES.match(call.name):
            around = list(find(call.ts_ns, call.end_ns))
            if around:
                around.sort(key=lambda row: places[key(row)])
                row, = kernels[key(call)]
                yield in_numpy_order(around[::-1], lambda row: row.ts_ns)[::-1][0], call, row


def rule_operators(rank, right, include_memory_events):
    """The same for the innermost operator on the launch's thread, in the order of the rule."""
    threads, result = defaultdict(list), []
    for row in rank.every:
        if row.cat in oracle.OPERATORS and row.dur_ns > 0:
            threads[row.file, row.pid, row.tid].append(row)
    threads = {thread: holding(rows) for thread, rows in threads.items()}
    for row in work_of(rank, right):
        call = launch_of(row, rank, right)
        if call is not None and (include_memory_events or kernel_type(row, right) != MEMORY):
            find = threads.get((call.file, call.pid, call.tid), lambda start, end: ())
            around = list(find(call.ts_ns, call.ts_ns + 1))
            operator = max(around, key=lambda row: (row.ts_ns, -row.dur_ns, row.event), default=None)
            if operator is not None and operator.name.startswith("aten::"):
                result.append((operator, call, row))
    return sorted(result, key=lambda each: (each[1].ts_ns, each[2].ts_ns, each[2].name))


# ---- sequences ------------------------------------------------------------

def frequent_cuda_kernel_sequences(trace, operator_name, ranks=None, min_pattern_len=3):
    """All patterns, without HTA's overlaid trace."""
    right, result = trace.right, []
    for rank in choose(trace, ranks, [0]):
        if right not in rank.trees:
            rank.trees[right] = Tree(rank, right)
        sequences = rule_sequences if "D30" in right else hta_sequences
        found = defaultdict(lambda: [0, 0, 0])
        for root, kernels in sequences(rank, rank.trees[right], operator_name, min_pattern_len, right):
            sums = found["|".join([root.name, *(row.name for row in kernels)])]
            for place, value in enumerate((1, sum(row.dur_ns for row in kernels), root.dur_ns)):
                sums[place] += value
        result += [{"rank": rank.rank, "pattern": pattern, "count": count, "GPU kernel duration (us)": us(device),
                    "CPU op duration (us)": us(host)} for pattern, (count, device, host) in found.items()]
    return result


def hta_sequences(rank, tree, operator_name, min_pattern_len, right):
    """(root, kernels) for the shallowest events with that name, of any kind."""
    rows = {key(row): row for row in rank.rows}
    candidates = [row for row in rank.rows if operator_name in row.name]
    shallowest = min((tree.depth(key(row)) for row in candidates), default=-1)
    for root in candidates:
        if shallowest >= 0 and tree.depth(key(root)) == shallowest:
            below = [event for _, event in tree.below(key(root))]
            below = list(set(list(set(below))))  # a set's order, after which HTA sorts by ts, twice
            subtree = [rows[root.file, event] for event in below]
            kernels = [row for row in in_numpy_order(subtree, lambda row: row.ts_ns) if is_work(row, right)]
            if len(kernels) >= min_pattern_len:
                yield root, in_numpy_order(kernels, lambda row: row.ts_ns)


def rule_sequences(rank, tree, operator_name, min_pattern_len, right):
    """(root, kernels) for the outermost host events with that name, except calls."""
    roots = {key(row): row for row in rank.rows
             if row.device == "CPU" and not oracle.is_call(row) and operator_name in row.name}
    kernels = {event: [] for event in roots if not any(above in roots for above in list(tree.path(event))[1:])}
    for row in work_of(rank, right):
        launch = launch_of(row, rank, right)
        if launch is not None and ("D5" in right or row.stream is not None and row.stream > 0):
            above = [event for event in tree.path(key(launch)) if event in kernels]
            if above:
                kernels[above[-1]].append(row)
    for event, launched in kernels.items():
        if len(launched) >= min_pattern_len:
            yield roots[event], sorted(launched, key=lambda row: (row.ts_ns, row.name))
