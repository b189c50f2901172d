"""An independent implementation of the rules of the critical path, P1 to P8.

It is word for word and slow: for each instant it examines all events. Use it only for few events, with times that are
multiples of UNIT.

    paths(read_trace("runs/a").files[0], document["traceEvents"], "device")
    # {iteration: [(kind, event, start, end)]}, joined

Times are integer nanoseconds; None is SQL's NULL.
"""
from collections import defaultdict

import oracle
import oracle_steps
from oracle_steps import OPERATORS, end, innerness, thread_of

UNIT = 1000  # ns


def named(row, word):
    return oracle.is_call(row) and word in (row.name or "")


def joined(parts):
    """Joins consecutive parts of one kind and event."""
    result = []
    for kind, event, start, stop in parts:
        if result and result[-1][:2] == (kind, event) and result[-1][3] == start:
            start = result.pop()[2]
        result.append((kind, event, start, stop))
    return result


class Graph:
    def __init__(self, file, events, clock):
        self.file, self.events = file, events
        self.at_instants = oracle_steps.Attributed(file)
        self.rows = self.at_instants.rows
        self.work = self.at_instants.work
        self.windows = oracle_steps.windows_of(file, clock)
        threads = {thread_of(self.rows[work.link]) for work in self.work if work.link is not None}
        threads |= {window.thread for window in self.windows if window.thread is not None}
        first = defaultdict(lambda: len(self.rows))
        for row in file.rows:
            first[thread_of(row)] = min(first[thread_of(row)], row.event)
        self.threads = sorted(threads, key=lambda thread: first[thread])  # P2
        self.first = min([row.ts_ns for row in file.rows if row.ts_ns is not None], default=0) - UNIT
        self.device = bool(self.work) and clock == "device"

    # P3, ties
    @staticmethod
    def lateness(work):
        return end(work), work.ts_ns, work.event

    def latest(self, works):
        return max(works, key=self.lateness, default=None)

    def launched(self, work):
        if work.link is not None:
            return self.rows[work.link].ts_ns
        after = [self.rows[other.link].ts_ns for other in self.work if thread_of(other) == thread_of(work)
                 and other.link is not None and self.lateness(other) > self.lateness(work)]
        return min([work.ts_ns, *after])  # P6.3

    def launches(self):
        return {work.link for work in self.work}

    def holding(self, thread, instant):
        return self.at_instants.holding(thread, instant)

    def at_work(self, thread, instant):
        inside = self.label(thread, instant)
        return inside is not None and (oracle.is_call(inside) or inside.cat in OPERATORS)

    def label(self, thread, instant):
        """The event that gives the name: the innermost call, otherwise operator, otherwise event."""
        holding = self.holding(thread, instant)
        if not holding:
            return None
        inner = max(holding, key=innerness)
        if oracle.is_call(inner):
            return inner
        events = [row for row in holding if not oracle.is_call(row)]
        return max([row for row in events if row.cat in OPERATORS] or events, key=innerness)

    # P6.1
    def told(self, call):
        """(sync event, stream, limit) from a call's sync event with args."""
        for sync in self.file.rows:
            if sync.cat == "cuda_sync" and sync.link == call.event:
                args = self.events[sync.event].get("args") or {}
                if args.get("wait_on_stream", -1) < 0 or named(call, "Synchronize") and sync.name != "Event Sync":
                    continue
                limit = call.ts_ns
                number = args.get("wait_on_cuda_event_record_corr_id")
                records = [record for record in self.file.rows if number is not None
                           and named(record, "EventRecord") and record.correlation == number]
                if records:
                    limit = records[0].ts_ns
                yield sync, args["wait_on_stream"], limit

    def stream_waits(self, work):
        """The work of other streams that `work` waits for."""
        for call in self.file.rows:
            if not named(call, "StreamWaitEvent"):
                continue
            told = list(self.told(call))
            for sync, stream, limit in told:
                mine = [other for other in self.work if thread_of(other) == thread_of(sync)
                        and self.launched(other) >= call.ts_ns]
                if mine and min(mine, key=lambda other: (self.launched(other), other.ts_ns, other.event)) is work:
                    yield from (other for other in self.work if other.stream == stream and other.pid == sync.pid
                                and self.launched(other) < limit)
            if not told and work.link is not None and call.event not in self.launches():
                order = lambda row: (row.ts_ns, row.event in self.launches(), row.event)
                launch = self.rows[work.link]
                between = [row for row in self.file.rows if row.ts_ns is not None and thread_of(row) == thread_of(call)
                           and order(call) < order(row) < order(launch)
                           and (row.event in self.launches() or named(row, "StreamWaitEvent")
                                and not list(self.told(row)))]
                if thread_of(launch) == thread_of(call) and order(call) < order(launch) and not between:
                    yield from (other for other in self.work if other.pid == work.pid
                                and thread_of(other) != thread_of(work) and self.launched(other) < call.ts_ns)

    # P4, P5
    def cause(self, work):
        """(work or thread, the time at which the path continues there, whether it is a thread)"""
        start, found = work.ts_ns, None
        before = [other for other in self.work if end(other) <= start]
        found = self.latest(other for other in before if thread_of(other) == thread_of(work)
                            or work.link is not None and other.link == work.link)
        waited = self.latest(other for other in self.stream_waits(work) if end(other) <= start)
        if waited and (not found or end(waited) > end(found)):
            found = waited
        launch = self.rows.get(work.link)
        if launch is not None:
            returned = launch.ts_ns + (launch.dur_ns or 0)
            came = returned if returned <= start else launch.ts_ns
            if not found or came > end(found):
                return thread_of(launch), min(returned, start), True
        return (found, end(found), False) if found else (None, start, True)

    # P7.1
    def works_of_call(self, call):
        """All work that a call waits for."""
        if named(call, "Synchronize"):
            works = [work for work in self.work if self.launched(work) < call.ts_ns]
            told = {sync.event: (sync.pid, stream, limit) for sync, stream, limit in self.told(call)}
            for sync in self.file.rows:  # the first one that names a stream
                if sync.cat != "cuda_sync" or sync.link != call.event:
                    continue
                if sync.event in told:
                    pid, stream, limit = told[sync.event]
                    works = [work for work in self.work if work.stream == stream and work.pid == pid
                             and self.launched(work) < limit]
                    break
                if any(thread_of(work) == thread_of(sync) for work in self.work):
                    works = [work for work in works if thread_of(work) == thread_of(sync)]
                    break
        elif named(call, "Memcpy"):
            works = [work for work in self.work if work.event == call.link]
        else:
            works = []
        return works

    def awaited(self, call, upto):
        return self.latest(work for work in self.works_of_call(call) if call.ts_ns < end(work) <= upto
                           or self.runs_on(call, work, upto))

    @staticmethod
    def runs_on(call, work, upto):
        """P7.3"""
        return ("ageable" in work.name and not named(call, "Synchronize")
                and call.ts_ns < work.ts_ns < upto < end(work))

    # P8
    def other_thread(self, after, upto):
        """(thread, instant) that was active last, after one instant and before another."""
        instant = upto
        while instant > after:
            active = []
            for thread in self.threads:
                if self.at_work(thread, instant - UNIT):
                    start, stop = instant - UNIT, instant
                    while self.at_work(thread, start - UNIT):
                        start -= UNIT
                    while self.at_work(thread, stop):
                        stop += UNIT
                    active.append((start, -stop, self.threads.index(thread)))
            if active:
                return self.threads[max(active)[2]], instant
            instant -= UNIT
        return None, after

    def path(self, window):
        parts, now, thread = [], window.end, window.thread
        ends = [work for work in self.work if end(work) == window.end] if self.device else []
        work = self.latest(ends)  # P3

        def back(kind, row, to):
            nonlocal now
            parts.append((kind, None if row is None else row.event, max(to, window.start), now))
            now = to

        while now > window.start:
            if work is not None:
                current = work
                back("kernel", work, work.ts_ns)
                goes_on, when, is_thread = self.cause(work)
                back("queue", work, when)
                work, thread = (None, goes_on or window.thread) if is_thread else (goes_on, None)
                assert current is not work
                continue
            inside = self.label(thread, now - UNIT)
            start = now - UNIT
            if not self.at_work(thread, start):
                while start > self.first and not self.at_work(thread, start - UNIT) \
                        and self.label(thread, start - UNIT) is inside:
                    start -= UNIT
                other, when = self.other_thread(start, now)
                if other is None:
                    back("host", inside, start)
                else:
                    back("wait", inside, when)
                    thread = other
            elif oracle.is_call(inside):
                work = self.awaited(inside, now)
                if work is not None:
                    back("sync", inside, min(end(work), now))
                    continue
                kind = "sync" if named(inside, "Synchronize") else \
                    "launch" if inside.event in self.launches() else "host"
                back(kind, inside, start)
            else:
                back("host", inside, start)
        return joined(part for part in reversed(parts) if part[2] < part[3])


def paths(file, events, clock):
    """`events` are the document's traceEvents."""
    graph = Graph(file, events, clock)
    return {window.iteration: graph.path(window) for window in graph.windows}
