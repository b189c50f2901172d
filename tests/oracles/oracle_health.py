"""An independent implementation of I1 to I5 and I8: odd times and work without a launch, queue by queue.

    mend(file)      fixes the times of its rows, before they are linked
    place(file)     file.placed: {event: the launch event that gives its step}, for work without a launch
    waits(file)     the start of the first launch that had not run when the recording ended, or None
"""
from bisect import bisect_right
from collections import defaultdict

import oracle_names

QUEUED = ("kernel", "Kernel", "gpu_memcpy", "gpu_memset", "Memcpy", "Memset")
US, SECOND = 1000, 10 ** 9


def many(count, total):
    return count >= 3 and 100 * count > total


def end_of(row):
    return row.ts_ns + row.dur_ns


def in_queue(row):
    return row.cat in QUEUED and row.ts_ns is not None and row.dur_ns is not None


def untimed(file):
    """I3"""
    at_zero = [row for row in file.rows if row.ts_ns == file.base_ns and row.cat != "Trace"]
    if len(at_zero) >= 2 and all(row.dur_ns == 0 for row in at_zero):
        for row in at_zero:
            row.ts_ns = row.dur_ns = None


def key_of(row):
    """Equal for work of one launch."""
    return row.correlation if row.correlation and row.correlation > 0 else (row.event,)


def too_long(queue, most):
    """I1.1, on the work of a queue by start."""
    found, together = [], []  # together: work that starts with the last row
    earliest = {}  # by key: the end of later work; the two earliest
    for row in reversed(queue):
        if together and together[0].ts_ns > row.ts_ns:
            for other in together:
                key = key_of(other)
                earliest[key] = min(end_of(other), earliest.get(key, end_of(other)))
            earliest = dict(sorted(earliest.items(), key=lambda item: item[1])[:2])
            together = []
        ends = [end for key, end in earliest.items() if key != key_of(row)]
        if not row.communicates and ends and end_of(row) > min(ends) + most:
            found.append(row)
        else:
            together.append(row)
    return found


def span(file):
    """T2"""
    timed = [row for row in file.rows if row.ts_ns is not None and row.cat != "Trace"]
    file.first_ns = min([row.ts_ns for row in timed] + file.edges, default=None)
    file.last_ns = max([row.ts_ns + (row.dur_ns or 0) for row in timed] + file.edges, default=None)


def mend(file, is_device_work):
    """Corrects times."""
    before = [(row.ts_ns, row.dur_ns) for row in file.rows]
    untimed(file)
    if [(row.ts_ns, row.dur_ns) for row in file.rows] != before:
        span(file)
    timed = [row for row in file.rows if row.ts_ns is not None and row.cat != "Trace"]
    beyond, queues = set(), defaultdict(list)
    if timed and file.first_ns is not None:
        end = max([row.ts_ns for row in timed] + ([file.window_end_ns] if file.window_end_ns is not None else []))
        beyond = {row.event for row in timed if row.dur_ns is not None and
                  end_of(row) - end > max(60 * SECOND, end - file.first_ns)}
    for row in filter(in_queue, file.rows):
        row.communicates = row.name is not None and oracle_names.kernel_type(row.name, row.cat) == "COMMUNICATION"
        queues[row.pid, row.tid, row.context].append(row)
    odd = set(beyond)
    for queue in queues.values():
        queue.sort(key=lambda row: (row.ts_ns, row.event))
        found = too_long(queue, 100 * US)
        if many(len(found), len(queue)):
            found = too_long(queue, SECOND)
        odd |= {row.event for row in found}
    lasts = defaultdict(list)
    for row in file.rows:
        if is_device_work(row) and row.dur_ns is not None and row.event not in odd and row.name is not None:
            lasts[row.name].append(row.dur_ns)
    for row in file.rows:
        if row.event in odd:
            times = sorted(lasts[row.name]) if is_device_work(row) else []
            row.dur_ns = times[(len(times) - 1) // 2] if times else None
    for queue in queues.values():
        starts = [row.ts_ns for row in queue]
        for row in queue:
            if row.event in odd:
                following = starts[bisect_right(starts, row.ts_ns):]
                row.dur_ns = min((dur for dur in (row.dur_ns, following[0] - row.ts_ns if following else None)
                                  if dur is not None), default=None)
    if odd:
        span(file)


def place(file, is_device_work):
    """I8"""
    linked, first = defaultdict(list), {}
    for row in file.rows:
        if is_device_work(row) and row.link is not None and row.ts_ns is not None:
            linked[row.pid].append((row.ts_ns, row.event, row.link))
            track = row.pid, row.tid
            first[track] = min(first.get(track, row.ts_ns), row.ts_ns)
    for row in file.rows:
        if row.cat not in QUEUED or row.link is not None or (row.correlation or 0) > 0 or row.ts_ns is None or \
                row.ts_ns < first.get((row.pid, row.tid), row.ts_ns):
            continue
        file.told_no_launch.append(row)
        before = [one for one in linked[row.pid] if one[0] < row.ts_ns]
        if before:
            file.placed[row.event] = max(before)[2]


def kind_of(row, is_call):
    name = row.name or ""
    if not is_call(row) or row.cat == "cann_runtime":
        return None
    if "GraphLaunch" in name:
        return "graph"
    return "kernel" if "KernelLaunch" in name or "Kernel" in name.partition("Launch")[2] else None


def captures(file, is_call):
    threads = defaultdict(list)
    for row in file.rows:
        if is_call(row) and row.cat != "cann_runtime" and row.ts_ns is not None and row.name is not None:
            if "StreamBeginCapture" in row.name or "StreamEndCapture" in row.name:
                threads[row.pid, row.tid].append((row.ts_ns, -(row.dur_ns or 0), row.event, row))
    for rows in threads.values():
        opened = None
        for *_, row in sorted(rows, key=lambda one: one[:3]):
            if "StreamBeginCapture" in row.name:
                opened = row.ts_ns if opened is None else opened
            elif opened is not None:
                yield opened, row.ts_ns + (row.dur_ns or 0)
                opened = None
        if opened is not None:
            yield opened, float("inf")


def waits(file, is_call):
    """I4, I5: after place()."""
    device = {row.correlation for row in file.rows if row.device == "GPU" and (row.correlation or 0) > 0}
    open_at, threads, launches = list(captures(file, is_call)), defaultdict(list), []
    for row in file.rows:
        if kind_of(row, is_call) and row.ts_ns is not None and not any(a <= row.ts_ns < b for a, b in open_at):
            threads[row.pid, row.tid].append(row)
    for track, calls in threads.items():
        calls.sort(key=lambda row: (row.ts_ns, -(row.dur_ns or 0), row.event))
        groups = []
        for row in calls:
            if groups and row.ts_ns < groups[-1][0].ts_ns + (groups[-1][0].dur_ns or 0):
                groups[-1].append(row)
            else:
                groups.append([row])
        for group in groups:
            ran = any(row.link is not None or row.correlation in device for row in group)
            if ran or any((row.correlation or 0) > 0 for row in group):
                launches.append((track, kind_of(group[0], is_call), group[0], ran))
    lost = [launch for launch in launches if not launch[3]]
    if sum(row.cat in ("kernel", "Kernel") for row in file.told_no_launch) >= len(lost):
        return None
    found = []
    for of in {launch[:2] for launch in launches}:
        own = [launch for launch in launches if launch[:2] == of]
        ran = [place for place, launch in enumerate(own) if launch[3]]
        found += [row.ts_ns for _, _, row, _ in own[ran[-1] + 1:]] if ran else []
    return min(found, default=None)
