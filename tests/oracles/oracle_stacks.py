"""An independent implementation of call stacks (T5): parents and depths on a thread, and self times.

It does this twice: `defined` is the rule word for word and slow, and `swept` goes once through a thread. The tests
compare both.

    stacks(read_trace("runs/a").rows)       # {(file, event): Place}
    busy(rows)                              # {thread: ns}
    sums(trace, stacks(trace.rows), "all", "all")   # self times by the rows of trace_ops

A row is any object with file, event, cat, pid, tid, ts_ns and dur_ns. Times are integer nanoseconds; None is SQL's
NULL.
"""
from collections import Counter, defaultdict, namedtuple

import oracle

Place = namedtuple("Place", "parent depth self_ns")
NOWHERE = Place(None, None, None)


def takes_part(row):
    return row.ts_ns is not None and row.cat != "Trace"


def threads(rows):
    """{(file, pid, tid): the rows that count}"""
    result = defaultdict(list)
    for row in rows:
        if takes_part(row):
            result[row.file, row.pid, row.tid].append(row)
    return result


def end(row):
    """The first instant after the row."""
    return row.ts_ns + (row.dur_ns or 0)


def innerness(row):
    """Greater for the inner of two rows: later start, then shorter, then later in the file."""
    return row.ts_ns, -(row.dur_ns or 0), row.event


def defined(rows):
    """{event: Place} for one thread, word for word. It examines every instant, so times must be small."""
    def innermost(candidates):
        return max(candidates, key=innerness, default=None)

    own = Counter()
    instants = range(min(row.ts_ns for row in rows), max(end(row) for row in rows))
    for instant in instants:
        inner = innermost(row for row in rows if row.ts_ns <= instant < end(row))
        if inner is not None:
            own[inner.event] += 1
    places = {}
    for row in sorted(rows, key=innerness):
        parent = innermost(other for other in rows if other is not row and other.ts_ns <= row.ts_ns < end(other)
                           and innerness(other) < innerness(row))
        places[row.event] = Place(None if parent is None else parent.event,
                                  0 if parent is None else places[parent.event].depth + 1,
                                  None if row.dur_ns is None else own[row.event])
    return places


def swept(rows):
    """{event: Place} for one thread, from its outer rows to its inner ones.

    The open rows are in that order, so the last unfinished one is the innermost. A finished row below it stays until it
    reaches the end of the list.
    """
    parents, depths, own = {}, {}, Counter()
    opened, now = [], None  # (end, event)

    def run_to(instant):
        """Gives the time from now on to the innermost row; afterwards the last open row contains the instant."""
        nonlocal now
        while opened:
            until, event = opened[-1]
            stop = until if instant is None else min(until, instant)
            if stop > now:
                own[event] += stop - now
                now = stop
            if instant is not None and until > instant:
                break
            opened.pop()
        now = instant

    for row in sorted(rows, key=innerness):
        run_to(row.ts_ns)
        parents[row.event] = opened[-1][1] if opened else None
        depths[row.event] = depths[opened[-1][1]] + 1 if opened else 0
        if end(row) > row.ts_ns:
            opened.append((end(row), row.event))
    run_to(None)
    return {row.event: Place(parents[row.event], depths[row.event], None if row.dur_ns is None else own[row.event])
            for row in rows}


def stacks(rows, find=swept):
    """{(file, event): Place} of the rows of a trace."""
    places = {(row.file, row.event): NOWHERE for row in rows}
    for (file, _, _), thread in threads(rows).items():
        for event, place in find(thread).items():
            places[file, event] = place
    return places


def union(rows):
    """How long at least one of the rows lasts."""
    length, reached = 0, -2**63
    for start, stop in sorted((row.ts_ns, end(row)) for row in rows):
        length += max(0, stop - max(start, reached))
        reached = max(reached, stop)
    return length


def busy(rows):
    """{thread: the length of the union of its events}"""
    return {thread: union(members) for thread, members in threads(rows).items()}


def sums(trace, places, ranks=None, wanted=None, device_type="ALL"):
    """{key of a row of trace_ops: ns}"""
    result = Counter()
    for row in oracle.select(trace, ranks, wanted, device_type)[0]:
        result[row.rank, row.iteration, row.device, row.cat, row.name] += places[row.file, row.event].self_ns or 0
    return dict(result)


def differences(control, test, spell=str):
    """{name: ns} from the sums of two sides; `spell` maps equivalent names to one."""
    result = Counter()
    for sign, side in ((-1, control), (1, test)):
        for (*_, name), own in side.items():
            result[spell(name)] += sign * own
    return dict(result)
