"""An independent implementation of the simulation, E1 to E8: the dependencies between events, and the resulting length
of steps.

It reads the rules P6, P7.1, Q2, Q3 and Q10 itself or in oracle_path.py and oracle_job.py, but searches by bisection, so
it can also take traces with many events.

    [model] = models([read_trace("runs/a")])
    model.check()                       # E1: the recorded times
    model.lengths(model.run())          # {(file, window): ns} for the steps of the reference
    changed = Changed(model)            # E8
    changed.change({"what": "device", "op": "aten::mm", "factor": 0.5})
    changed.lengths()

Times are integer nanoseconds. A point is its place in the order of E1.1, so an edge leads forward.
"""
import re
from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import floor

import oracle
import oracle_job
import oracle_steps
from oracle_steps import OPERATORS, end, innerness, kind, takes_part, thread_of

IDLE, HANDOVER, LEAST_IDLE = 30_000, 1_000_000, 10_000  # E7
LEAST_SYNC = 3_000  # E4
LONG_LAUNCH = 100_000  # E3.6
LATENCY, GAP = 5_000, (1_000, 2_000)  # E3: without any; without any, and at most
NCCL_OWN = 10_000  # E6.1
HOST, DEVICE, TRANSFER, LAUNCH = "host", "device", "transfer", "launch"
STREAM, SYNC, THREAD, WAIT, COPY = "stream", "sync", "thread", "wait", "copy"
POLLS = ("EventQuery", "StreamQuery", "StreamGetCaptureInfo", "StreamIsCapturing")


class Edge:
    """`to` is at least `lag` after `from_`. For a collective, the lag is its transfer, and `more` is added for the
    clocks and the last start.
    """
    __slots__ = ("from_", "to", "lag", "kind", "more")

    def __init__(self, from_, to, lag, kind, more=0):
        self.from_, self.to, self.lag, self.kind, self.more = from_, to, lag, kind, more


def tenth(values, otherwise):
    """E3.3"""
    return sorted(values)[len(values) // 10] if values else otherwise


def named(row, *words):
    return oracle.is_call(row) and any(word in row.name for word in words)


class RankTies(oracle_job.Rank):
    """The windows and collectives of a rank, without its path."""

    def __init__(self, number, files):
        self.number = number
        self.attributed = {id(file): oracle_steps.Attributed(file) for file in files}
        self.windows = [(window, file) for file in files for window in oracle_steps.windows_of(file, "device")]
        self.windows.sort(key=lambda each: (each[0].start, each[0].iteration or 0))
        self.collectives = []
        for file in files:
            works = self.attributed[id(file)].work
            self.collectives += self.device_collectives(file) if works else self.host_collectives(file)

    def device_collectives(self, file):
        """W1"""
        args = oracle_job.args_of(file)
        for row in file.rows:
            if (oracle.is_device_work(row) and oracle.is_counted(row) and row.ts_ns is not None
                    and kind(row) == "COMMUNICATION"):
                name = oracle_steps.stable(row.name)
                group = oracle_job.group_of(args(row)) or (name, None)
                yield oracle_job.Collective(self.number, file, row, row.iteration, group, name,
                                            oracle_job.is_for_all(row.name))


class Ties(oracle_job.Job):
    """Q1 to Q3: which events are one collective, and how far ahead each clock is."""

    def __init__(self, trace):
        self.files = [file for file in trace.files if file.steps] or trace.files
        self.stepped = any(file.steps for file in self.files)
        by_rank = defaultdict(list)
        for file in self.files:
            by_rank[file.rank].append(file)
        self.ranks = {number: RankTies(number, by_rank[number]) for number in sorted(by_rank)}
        self.reference = min(self.ranks)
        self.matched = defaultdict(dict)
        self.match()
        self.for_all = {key: of[min(of)].for_all for key, of in self.matched.items()}
        self.found = {}

    def offset(self, rank, step):
        """How far ahead the rank's clock is in a step."""
        if len(self.ranks) == 1:
            return 0
        if step not in self.found:
            keys = [key for key in self.matched if key[0] == step and self.for_all[key]]
            own, of_all = self.offsets(step), {**self.search(list(self.matched)),
                                               **self.search([key for key in self.matched if self.for_all[key]])}
            apart = [sum(not self.is_shared(key, offsets) for key in keys) for offsets in (own, of_all)]
            self.found[step] = of_all if apart[1] < apart[0] else own
        return self.found[step].get(rank, 0)

    def is_shared(self, key, offsets):
        """Whether the ranks share an instant of a collective."""
        of = self.matched[key].items()
        return (max(each.start - offsets.get(rank, 0) for rank, each in of)
                <= min(each.end - offsets.get(rank, 0) for rank, each in of))


class Clock:
    """The time of a rank on the reference's clock, to order points by."""

    def __init__(self, ties, rank):
        self.starts, self.offsets, self.least = [], [], []
        windows = ties.ranks[rank].windows if len(ties.ranks) > 1 else ()
        for window, _ in windows:
            self.starts.append(window.start)
            self.offsets.append(ties.offset(rank, window.iteration))
        for i, start in enumerate(self.starts):
            least = start - self.offsets[i - 1] if i else None
            self.least.append(least if not self.least or self.least[-1] is None else max(least, self.least[-1]))

    def time(self, own):
        if not self.starts:
            return own
        i = max(0, bisect_right(self.starts, own) - 1)
        time = own - self.offsets[i]
        return time if self.least[i] is None else max(time, self.least[i])


class Works:
    """The device work of a file: by stream, by launch, and with its waiters."""

    def __init__(self, file):
        self.file = file
        self.rows = {row.event: row for row in file.rows}
        self.all = [row for row in file.rows if oracle.is_device_work(row) and takes_part(row)]
        self.args = oracle_job.args_of(file)
        self.by_end, self.of_launch = defaultdict(list), defaultdict(list)
        self.queued, self.by_launch = defaultdict(list), defaultdict(list)  # in launch order
        self.of_stream = defaultdict(list)  # the same, by (pid, stream)
        self.all_ended, self.waiting = {}, {}
        self.early, first = {}, {}  # P6.3
        for work in sorted(self.all, key=self.lateness, reverse=True):
            after = first.get(thread_of(work), float("inf"))
            if work.link is None:
                self.early[work.event] = min(work.ts_ns, after)
            else:
                first[thread_of(work)] = min(self.launched(work), after)
        for work in self.all:
            self.by_end[thread_of(work)].append(self.lateness(work))
            if work.link is not None:
                self.of_launch[work.link].append(self.lateness(work))
            self.queued[thread_of(work)].append(self.queue_order(work))
            self.of_stream[work.pid, work.stream].append(self.queue_order(work))
        for lists in (self.by_end, self.of_launch, self.queued, self.of_stream):
            for each in lists.values():
                each.sort()
        self.syncs = defaultdict(list)
        for row in file.rows:
            if row.cat == "cuda_sync" and row.link is not None:
                self.syncs[row.link].append(row)
        self.records = {}
        for row in file.rows:
            if named(row, "EventRecord") and row.ts_ns is not None:
                self.records.setdefault(row.correlation, row)

    @staticmethod
    def lateness(work):
        return end(work), work.ts_ns, work.event

    def launched(self, work):
        return self.early[work.event] if work.link is None else self.rows[work.link].ts_ns

    def queue_order(self, work):
        return self.launched(work), work.ts_ns, work.event

    def before(self, work):
        """P4.1"""
        found = []
        for each in (self.by_end[thread_of(work)], self.of_launch.get(work.link, ())):
            i = bisect_right(each, (work.ts_ns, float("inf")))
            found += each[i - 1:i]
        return self.rows[max(found)[2]] if found else None

    def told(self, call):
        """P6.1: (sync event, stream, limit)"""
        for sync in self.syncs[call.event]:
            args = self.args(sync)
            stream = args.get("wait_on_stream")
            if stream is None or stream < 0 or named(call, "Synchronize") and sync.name != "Event Sync":
                continue
            record = self.records.get(args.get("wait_on_cuda_event_record_corr_id"))
            yield sync, stream, call.ts_ns if record is None else record.ts_ns

    def last_before(self, queue, limit):
        """The last work in a queue launched before an instant."""
        i = bisect_left(queue, (limit,))
        return self.rows[queue[i - 1][2]] if i else None

    def first_from(self, queue, instant):
        i = bisect_left(queue, (instant,))
        return self.rows[queue[i][2]] if i < len(queue) else None

    # ---- E6 ---------------------------------------------------------------

    def sites(self):
        """(site, waiting work, queue of the awaited work, its last place there, the place that had ended) for waits
        without a sync event; a site is (rank, thread, k, stream, other stream).
        """
        launches = defaultdict(list)
        for event, works in self.of_launch.items():
            row = self.rows[event]
            launches[thread_of(row)].append((row.ts_ns, event, min((work[1], work[2]) for work in works)[1]))
        for each in launches.values():
            each.sort()
        counts = Counter()
        for call in sorted((row for row in self.file.rows if named(row, "StreamWaitEvent") and row.ts_ns is not None),
                           key=lambda row: (row.ts_ns, row.event)):
            mine = launches[thread_of(call)]
            i = bisect_left(mine, (call.ts_ns,))
            if i == len(mine) or call.event in self.of_launch or any(True for _ in self.told(call)):
                continue
            before = self.rows[mine[i - 1][1]] if i else None
            if before and kind(self.rows[mine[i - 1][2]]) == "COMMUNICATION" and call.ts_ns - end(before) < NCCL_OWN:
                continue
            if kind(self.rows[mine[i][2]]) == "COMMUNICATION" and self.waits_again(call, mine[i][0]):
                i = next((j for j in range(i, len(mine)) if kind(self.rows[mine[j][2]]) != "COMMUNICATION"), i)
            step = call.iteration, thread_of(call)
            counts[step] += 1
            stream = thread_of(self.rows[mine[i][2]])
            waiting = self.first_from(self.queued[stream], call.ts_ns)
            for other, queue in self.queued.items():
                if other == stream or other[0] != stream[0]:
                    continue
                last = bisect_left(queue, (call.ts_ns,)) - 1
                place = self.ended(other, waiting.ts_ns, last)
                if place >= 0:
                    yield (self.file.rank, step[1], counts[step], stream, other), waiting, queue, last, place

    def waits_again(self, call, until):
        """Whether another wait without a sync event follows a call before an instant."""
        key = thread_of(call)
        if key not in self.waiting:
            self.waiting[key] = sorted(
                (row.ts_ns, row.event) for row in self.file.rows
                if thread_of(row) == key and named(row, "StreamWaitEvent") and row.ts_ns is not None
                and row.event not in self.of_launch and not any(True for _ in self.told(row)))
        return any((call.ts_ns, call.event) < each and each[0] <= until for each in self.waiting[key])

    def ended(self, stream, instant, last):
        """The last place in a queue, up to `last`, where all work so far had ended."""
        if stream not in self.all_ended:
            ends = (end(self.rows[event]) for _, _, event in self.queued[stream])
            self.all_ended[stream] = list(accumulate(ends, max))
        return min(last, bisect_right(self.all_ended[stream], instant) - 1)

    def waits(self, most_back):
        """{event: [work]}: the work of other streams that work waits for; `most_back` is by site."""
        found = defaultdict(list)

        def add(waiting, awaited):
            if end(awaited) <= waiting.ts_ns and awaited not in found[waiting.event]:  # E6.4
                found[waiting.event].append(awaited)
        for call in self.file.rows:
            if not named(call, "StreamWaitEvent") or call.ts_ns is None:
                continue
            for sync, stream, limit in self.told(call):
                waiting = self.first_from(self.queued.get(thread_of(sync), ()), call.ts_ns)
                awaited = self.last_before(self.of_stream.get((sync.pid, stream), ()), limit)
                if waiting is not None and awaited is not None:
                    add(waiting, awaited)
        for site, waiting, queue, last, _ in self.sites():
            if last >= most_back[site]:
                add(waiting, self.rows[queue[last - most_back[site]][2]])
        return found

    # ---- E4 ---------------------------------------------------------------

    def awaited(self, call):
        """[work] that a call waits for, whether or not it had ended."""
        if not named(call, "Synchronize"):
            copy = self.rows.get(call.link) if named(call, "Memcpy") else None
            waits = copy is not None and oracle.is_device_work(copy) and takes_part(copy) and (
                call.name in ("cudaMemcpy", "hipMemcpy", "hipMemcpyWithStream") or "ageable" in copy.name)
            return [copy] if waits else []
        queues, limit = list(self.queued.values()), call.ts_ns
        known = named(call, "DeviceSynchronize", "CtxSynchronize")
        told = {sync.event: (sync.pid, stream, limit) for sync, stream, limit in self.told(call)}
        for sync in self.syncs[call.event]:  # P7.1: the first one that names a stream
            if sync.event in told:
                pid, stream, limit = told[sync.event]
                own = [[each for each in queue if self.rows[each[2]].pid == pid and self.rows[each[2]].stream == stream]
                       for queue in queues]
                queues, known = [queue for queue in own if queue], True
                break
            if thread_of(sync) in self.queued:
                queues, known = [self.queued[thread_of(sync)]], True
                break
        found = []
        ran = [self.lateness(self.rows[each[2]]) for queue in queues for each in queue[:bisect_left(queue, (limit,))]
               if call.ts_ns < end(self.rows[each[2]]) <= end(call)]
        if ran:
            found.append(self.rows[max(ran)[2]])
        for queue in queues if known else ():
            last = self.last_before(queue, limit)
            if last is not None and last not in found:
                found.append(last)
        return found


class Thread:
    """The points of a host thread in order: (time, place, row, 0 begin or 1 end)."""

    def __init__(self, rows):
        points = []
        for row in rows:
            points.append(((row.ts_ns, 1, -row.dur_ns, row.event, 0), row, 0))
            points.append(((end(row), 0, -row.ts_ns, -row.event, 0) if row.dur_ns else
                           (row.ts_ns, 1, 0, row.event, 1), row, 1))
        points.sort(key=lambda point: point[0])
        self.points = [(key[0], row, is_end) for key, row, is_end in points]
        self.polls = all(self.idles(row) for row in rows)

    @staticmethod
    def idles(row):
        """E7.1"""
        return named(row, *POLLS) or row.cat == "user_annotation" and not row.name.startswith("gloo:")

    def calls_around(self):
        """{event of a call: whether another call of the thread continues when it ends}"""
        open_, found = 0, {}
        for _, row, is_end in self.points:
            if oracle.is_call(row):
                open_ += -1 if is_end else 1
                found[row.event] = open_ > 0
        return found


class Model:
    def __init__(self, trace, most_back):
        self.ties = Ties(trace)
        self.works = trace.works
        self.files = self.ties.files
        self.file_of = {id(file): file for file in self.files}
        self.at, self.into, self.dropped = [], [], 0
        self.begin, self.end = {}, {}  # {(file, event): point}
        self.awaited = {}  # {point: the collective that its thread waited for}
        self.copied = {}  # {end of a call that ends before its copy (E4.3): the copy}
        self.met = {}  # {key of a collective: whether its ranks wait for each other}
        self.threads = {id(file): self.threads_of(file) for file in self.files}
        self.order_points()
        for file in self.files:
            self.connect_device(file, self.works[id(file)].waits(most_back))
            self.connect_host(file)
        self.connect_collectives()
        self.row_of = {}  # {point: (file, row, whether it is the end)}
        for is_end, points in enumerate((self.begin, self.end)):
            for (key, event), point in points.items():
                self.row_of[point] = self.file_of[key], self.works[key].rows[event], bool(is_end)

    # ---- E1 ---------------------------------------------------------------

    @staticmethod
    def threads_of(file):
        rows = {}
        for row in file.rows:
            rows.setdefault(thread_of(row), [])
            if row.device == "CPU" and oracle.is_counted(row) and row.ts_ns is not None:
                rows[thread_of(row)].append(row)
        threads = [(thread, Thread(found)) for thread, found in rows.items() if found]
        return dict(sorted(threads, key=lambda each: (each[1].points[0][0], each[1].points[0][1].event)))

    def order_points(self):
        points = []
        for member, file in enumerate(self.files):
            clock = Clock(self.ties, file.rank)
            places = (place for thread in self.threads[id(file)].values() for place in thread.points)
            for sequence, (time, row, is_end) in enumerate(places):
                points.append((clock.time(time), member, time, 1, sequence, is_end, row.event))
            for work in self.works[id(file)].all:
                points.append((clock.time(work.ts_ns), member, work.ts_ns, 2, work.event, 0, work.event))
                points.append((clock.time(end(work)), member, end(work), 0, work.event, 1, work.event))
        points.sort()
        for _, member, time, _, _, is_end, event in points:
            (self.end if is_end else self.begin)[id(self.files[member]), event] = len(self.at)
            self.at.append(time)
            self.into.append([])

    def add(self, to, from_, lag, kind, more=0):
        """E1.4"""
        if from_ >= to:
            self.dropped += 1
        else:
            self.into[to].append(Edge(from_, to, lag, kind, more))

    # ---- E3, E6 -----------------------------------------------------------

    def connect_device(self, file, waits):
        works, key = self.works[id(file)], id(file)
        before = {work.event: works.before(work) for work in works.all}
        launch = {work.event: works.rows[work.link] for work in works.all if (key, work.link) in self.begin}
        latencies = [work.ts_ns - launch[work.event].ts_ns for work in works.all if work.event in launch
                     and work.ts_ns >= launch[work.event].ts_ns
                     and (before[work.event] is None or end(before[work.event]) <= launch[work.event].ts_ns)]
        latency = tenth(latencies, LATENCY)
        gaps = [work.ts_ns - end(before[work.event]) for work in works.all
                if work.event in launch and before[work.event]
                and end(before[work.event]) > launch[work.event].ts_ns + 2 * latency]
        gap = min(tenth(gaps, GAP[0]), GAP[1])
        for work in works.all:
            to, found = self.begin[key, work.event], []
            if work.event in launch:
                found.append((self.begin[key, work.link], latency, LAUNCH))
            awaited = sorted(waits[work.event], key=lambda each: (end(each), each.ts_ns, each.event))
            for each in [before[work.event]] * (before[work.event] is not None) + awaited:
                found.append((self.end[key, each.event], gap, STREAM))
            self.dropped += sum(from_ > to for from_, _, _ in found)
            found = [each for each in found if each[0] < to]
            above = [self.at[to] - self.at[from_] - floor for from_, floor, _ in found]
            binds = above.index(min(above)) if found else None
            if found and found[0][2] == LAUNCH and above[binds] > LONG_LAUNCH:  # E3.6
                if end(launch[work.event]) - self.at[found[binds][0]] > LONG_LAUNCH:
                    binds = 0
            for i, (from_, floor, kind_) in enumerate(found):
                distance = self.at[to] - self.at[from_]
                self.add(to, from_, distance if i == binds else min(floor, distance), kind_)
            self.add(self.end[key, work.event], to, work.dur_ns, TRANSFER if kind(work) == "COMMUNICATION" else DEVICE)

    # ---- E2, E4, E7 -------------------------------------------------------

    def point(self, key, row, is_end):
        return (self.end if is_end else self.begin)[key, row.event]

    def connect_host(self, file):
        key, works, threads = id(file), self.works[id(file)], self.threads[id(file)]
        rank = self.ties.ranks[file.rank]
        main = next((window.thread for window, of in rank.windows if of is file), None)
        collectives = {each.row.event: each for each in rank.collectives if each.on_host and each.file is file}
        waits = host_waits(rank, file, list(collectives.values())) if collectives else {}
        quiet = {}  # {thread: ([point], [whether it became quiet there])}
        for thread, of in threads.items():
            if thread == main or not of.polls:
                quiet[thread] = self.quiet_points(key, of)
        for thread, of in threads.items():
            inside, last = of.calls_around(), None
            for time, row, is_end in of.points:
                to = (self.end if is_end else self.begin)[key, row.event]
                if last is not None:
                    self.add(to, last, self.at[to] - self.at[last], HOST)
                collective, of_main = collectives.get(row.event), None
                if collective and not is_end and thread != main:
                    of_main = self.point_before(quiet.get(main), to, False)
                if of_main is not None:  # E7.2
                    self.add(to, of_main, self.at[to] - self.at[of_main], THREAD)
                    for edge in self.into[to]:
                        edge.lag = 0 if edge.from_ < max(of_main, -1 if last is None else last) else edge.lag
                elif is_end and oracle.is_call(row):
                    if not inside[row.event]:
                        self.connect_call(to, row, works, key)
                elif last is not None and (thread, time) in waits and self.at[to] - self.at[last] > IDLE:  # E7.3
                    self.floor_own(to, LEAST_IDLE)
                    awaited = waits[thread, time]
                    self.awaited[to] = awaited
                    if not self.meet(to, awaited, WAIT):
                        start = self.begin[key, awaited.row.event]
                        self.add(to, start, self.at[to] - self.at[start], WAIT)
                elif thread == main and self.silent_wait(works, to, last):  # E4.6
                    self.floor_own(to, LEAST_IDLE)
                    awaited = self.end[key, self.silent_wait(works, to, last).event]
                    self.add(to, awaited, self.at[to] - self.at[awaited], SYNC)
                elif not of.polls and (last is None or self.at[to] - self.at[last] > IDLE):
                    self.hand_over(to, last, thread, {each: points for each, points in quiet.items()
                                                      if not threads[each].polls})
                last = to

    def silent_wait(self, works, to, last):
        """E4.6: the work that ended last before a point, if the steps' thread waited for it."""
        told = any(row.hlo_op is not None if row.correlation is not None else
                   row.step_num is not None and row.step_num >= 0 for row in works.file.rows)
        if not told or last is None or self.at[to] - self.at[last] <= IDLE:
            return None
        ended = [work for work in works.all if end(work) <= self.at[to]]
        work = max(ended, key=lambda work: (end(work), work.ts_ns, work.event), default=None)
        holds = work is not None and end(work) > self.at[last] and self.at[to] - end(work) <= HANDOVER
        return work if holds else None

    def quiet_points(self, key, thread):
        points = [(self.end if is_end else self.begin)[key, row.event] for _, row, is_end in thread.points]
        return points, [self.at[later] - self.at[point] > IDLE for point, later in zip(points, points[1:])] + [True]

    @staticmethod
    def point_before(points, to, must_be_quiet=True):
        """The last point of a thread before another point."""
        if points is None:
            return None
        i = bisect_left(points[0], to) - 1
        return points[0][i] if i >= 0 and (points[1][i] or not must_be_quiet) else None

    def floor_own(self, to, least):
        for edge in self.into[to]:
            edge.lag = min(edge.lag, least)

    def connect_call(self, to, call, works, key):
        """E4"""
        held = [self.end[key, work.event] for work in works.awaited(call)]
        if held and not named(call, "Synchronize"):
            copy = works.awaited(call)[0]
            from_, begin = self.begin[key, copy.event], self.begin[key, call.event]
            if from_ < to < held[0]:
                self.copied[to] = copy
                self.into[to] = [Edge(begin, to, min(LEAST_SYNC, self.at[to] - self.at[begin]), HOST)]
                self.add(to, from_, self.at[to] - self.at[from_], COPY)
                return
        self.dropped += sum(from_ > to for from_ in held)
        held = [from_ for from_ in held if from_ < to]
        latest = max((self.at[from_] for from_ in held), default=None)
        if held and latest > call.ts_ns:
            begin = self.begin[key, call.event]
            self.into[to] = [Edge(begin, to, min(LEAST_SYNC, self.at[to] - self.at[begin]), HOST)]
            for from_ in held:
                self.add(to, from_, self.at[to] - latest, SYNC)
        else:
            for from_ in held:
                self.add(to, from_, min(LEAST_SYNC, self.at[to] - self.at[from_]), SYNC)

    def hand_over(self, to, last, thread, quiet):
        """E7"""
        found = [self.point_before(points, to) for other, points in quiet.items() if other != thread]
        from_ = max((point for point in found if point is not None), default=None)
        if from_ is None or self.at[to] - self.at[from_] > HANDOVER:
            return
        if last is not None and self.at[from_] <= self.at[last]:
            return
        self.floor_own(to, LEAST_IDLE)
        self.add(to, from_, self.at[to] - self.at[from_], THREAD)

    # ---- E5 ---------------------------------------------------------------

    def connect_collectives(self):
        for key, of in self.ties.matched.items():
            if self.is_met(key):
                for each in of.values():
                    to = self.end.get((id(each.file), each.row.event))
                    if to is not None:
                        kept, self.into[to] = self.into[to], []
                        if not self.meet(to, each, TRANSFER):
                            self.into[to] = kept
                if self.ties.for_all[key]:
                    keys = [(id(each.file), each.row.event) for each in of.values()]
                    first_end = min((self.end[each] for each in keys if each in self.end), default=0)
                    self.dropped += sum(self.begin.get(each, 0) > first_end for each in keys)

    def is_met(self, key):
        """Whether the ranks of the collective wait for each other."""
        if key not in self.met:
            of, step = self.ties.matched[key], key[0]
            self.met[key] = len(of) > 1 and (not self.ties.for_all[key] or self.ties.is_shared(
                key, {rank: self.ties.offset(rank, step) for rank in of}))
        return self.met[key]

    def meet(self, to, collective, kind_):
        """Puts the point after the last start of the collective; returns whether it does."""
        if collective.key is None or not self.is_met(collective.key):
            return False
        of = self.ties.matched[collective.key]
        starts = {self.begin[id(each.file), each.row.event]: each.start - self.ties.offset(rank, each.step)
                  for rank, each in of.items() if (id(each.file), each.row.event) in self.begin}
        offset = self.ties.offset(collective.rank, collective.step)
        before = {start: time for start, time in starts.items() if start < to}
        lag = self.at[to] - offset - max(before.values(), default=0)
        if not before or lag < 0:
            self.dropped += bool(before)
            return False
        for start, time in before.items():
            self.add(to, start, lag, kind_, offset + time - self.at[start])
        return True

    # ---- steps ------------------------------------------------------------

    def run(self, into=None):
        new = []
        for point, edges in enumerate(into or self.into):
            new.append(max((new[edge.from_] + edge.lag + edge.more for edge in edges), default=self.at[point]))
        return new

    def check(self):
        new = self.run()
        assert new == self.at, next((i, new[i], self.at[i]) for i in range(len(new)) if new[i] != self.at[i])

    def lengths(self, new):
        """[(file, iteration, ns)] for the steps of the reference (E1.5)."""
        return [(file.path, window.iteration, max(0, window.end - window.start))
                for file in self.files if file.rank == self.ties.reference for window in self.windows(file, new)]

    def windows(self, file, new, put_back=()):
        """`put_back`: (step, end) of device work that the file lacks (E9.3)."""
        key, works = id(file), self.works[id(file)].all

        def time(points, row, otherwise):
            point = points.get((key, row))
            return otherwise if point is None else new[point]
        begins = sorted((step.ts_ns, step.event) for step in file.steps)
        steps = []
        for step in file.steps:
            # a step by annotation ends at the start of the next one
            after = next((event for ts, event in begins if ts == step.end_ns and event != step.event), None)
            own = step.end_ns == step.ts_ns + step.dur_ns and not file.annotated
            own = own or after is None
            stop = time(self.end, step.event, step.end_ns) if own else time(self.begin, after, step.end_ns)
            steps.append((step.iteration, time(self.begin, step.event, step.ts_ns), stop, None))
        ends = {}
        for work in works:
            later = new[self.end[key, work.event]]
            ends[work.iteration] = max(ends.get(work.iteration, later), later)
        for step, later in put_back:
            ends[step] = max(ends.get(step, later), later)
        backlog = [(work.ts_ns, new[self.end[key, work.event]]) for work in oracle_steps.backlog(file.rows)
                   if takes_part(work)]
        points = [point for (of, _), point in self.end.items() if of == key]
        last = max([new[point] for point in points] + [at for _, at in put_back], default=0)
        later = last - max((self.at[point] for point in points), default=0)
        span = file.first_ns, file.last_ns and file.last_ns + later
        return oracle_steps.windows(steps, ends if works else None, "device", span, None, backlog)


# ---- E8 -------------------------------------------------------------------

LEVELS = ("name", "op", "top_op", "module", "annotation")
CLASS_OF = {"COMPUTATION": "compute", "COMMUNICATION": "comm", "MEMORY": "memory"}


def is_like(name, pattern):
    """SQL's LIKE."""
    parts = (".*" if each == "%" else "." if each == "_" else re.escape(each) for each in pattern)
    return name is not None and re.fullmatch("".join(parts), name, re.IGNORECASE | re.DOTALL) is not None


def times(time, factor):
    return floor(time * Fraction(factor) + Fraction(1, 2))


class Lag:
    """A changeable lag: an edge, or all edges at the end of a collective."""

    def __init__(self, model, edges, what):
        self.model, self.edges, self.what, self.to = model, edges, what, edges[0].to
        self.file, self.row, _ = model.row_of[self.to]
        self.step = self.row.iteration
        if edges[0].kind == WAIT:
            self.row = model.awaited[self.to].row
        if edges[0].kind == COPY:
            self.row = model.copied[self.to]
        self.attributed = model.ties.ranks[self.file.rank].attributed[id(self.file)]

    @cached_property
    def holding(self):
        """The events that give its labels."""
        row = self.row
        if self.what == HOST:
            return self.attributed.holding(thread_of(row), self.model.at[self.edges[0].from_])
        launch = row if row.device == "CPU" else self.attributed.rows.get(row.link)
        return self.attributed.holding(thread_of(launch), launch.ts_ns) if launch else []

    @property
    def inside(self):
        """The host's current call, or its label."""
        inner = max(self.holding, key=innerness, default=None)
        return inner if inner is None or oracle.is_call(inner) else oracle_steps.labelling(self.holding, "op")

    @property
    def class_(self):
        if self.what == HOST:
            return "unrecorded" if self.inside is None else "call" if oracle.is_call(self.inside) else "host"
        return CLASS_OF[kind(self.row)] if self.row.device == "GPU" else "comm"

    def label(self, level):
        """The event that labels a level."""
        return self.inside if level == "name" else oracle_steps.labelling(self.holding, level)

    @property
    def is_replayed(self):
        """A14.1"""
        launch = self.attributed.rows.get(self.row.link) if self.row.device == "GPU" else None
        return (launch is not None and named(launch, "GraphLaunch") and kind(self.row) != "COMMUNICATION"
                and not any(row.cat in OPERATORS for row in self.holding))

    def named(self, level):
        told = oracle_steps.of_xla(self.row, self.attributed.rows.get(self.row.link)) if self.what == DEVICE else {}
        if level in told:
            return told[level]
        if level == "op" and self.what != HOST and self.is_replayed and (told or not self.row.hlo_op):
            return f"graph: {oracle_steps.stable(self.row.name)}"
        if level != "name":
            found = self.label(level)
            name = found and found.name
        elif self.what == HOST:
            instant = self.model.at[self.edges[0].from_]
            name = self.inside.name if self.inside else self.attributed.gap(thread_of(self.row), instant)
        else:
            name = self.row.name
        return oracle_steps.stable(name)

    def is_selected(self, change):
        return (self.what == change["what"] and change.get("rank", self.file.rank) == self.file.rank
                and ("step" not in change or change["step"] == self.step)
                and ("class" not in change or change["class"] == self.class_)
                and all(is_like(self.named(level), change[level]) for level in LEVELS if level in change))


class Changed:
    """The lags of a model, with changes applied."""

    def __init__(self, model):
        self.model = model
        self.into = [[Edge(edge.from_, edge.to, edge.lag, edge.kind, edge.more) for edge in edges]
                     for edges in model.into]
        self.lags = []
        for edges in self.into:
            for what in (HOST, DEVICE, LAUNCH):
                self.lags += [Lag(model, [edge], what) for edge in edges
                              if edge.kind == what and (what != HOST or edge.lag)]
            self.lags += [Lag(model, [edge], DEVICE) for edge in edges if edge.kind == COPY]
            for each in (TRANSFER, WAIT):
                transfer = [edge for edge in edges if edge.kind == each]
                self.lags += [Lag(model, transfer, TRANSFER)] if transfer else []
        self.gone = set()

    def change(self, change):
        selected = [lag for lag in self.lags if lag.is_selected(change)]
        level = next((level for level in LEVELS if level in change), None)
        runs = defaultdict(list)
        for lag in selected:
            event = None
            if change["what"] == HOST and ("set_us" in change or "add_us" in change) and level:
                event = lag.label(level)
            runs[id(lag) if event is None else (id(lag.file), event.event)].append(lag)
        for run in runs.values():
            if "remove" in change:
                self.remove(run[0])
            else:
                self.change_run(run, change)
        return len(selected)

    def change_run(self, run, change):
        """Makes the run take this long in total, with each lag scaled in proportion."""
        old = [0 if id(lag.edges[0]) in self.gone else lag.edges[0].lag for lag in run]
        whole, passed, before = sum(old), 0, 0
        if "factor" in change:
            now = times(whole, change["factor"])
        elif "set_us" in change:
            now = times(1000, change["set_us"])
        else:
            ns = times(1000, abs(change["add_us"]))
            now = whole + ns if change["add_us"] > 0 else max(0, whole - ns)
        for i, lag in enumerate(run):
            passed += old[i]
            upto = now if i + 1 == len(run) else passed * now // max(whole, 1)
            for edge in lag.edges:
                edge.lag = upto - before
            before = upto

    def remove(self, lag):
        for edge in lag.edges:
            edge.lag = 0
        if lag.edges[0].kind in (WAIT, COPY):
            self.gone |= {id(edge) for edge in lag.edges}
            return
        if lag.what == HOST:
            self.gone |= {id(edge) for edge in self.into[lag.to] if edge.kind in (SYNC, COPY)}
            return
        self.gone |= {id(edge) for to in self.model.copied if self.model.copied[to] is lag.row
                      for edge in self.into[to] if edge.kind == COPY}
        key = id(lag.file), lag.row.event
        begin = self.model.begin[key]
        if lag.what == TRANSFER:
            self.gone |= {id(edge) for edge in lag.edges if edge.from_ != begin}
        streams = any(edge.kind == STREAM for edge in self.into[begin])
        for edge in self.into[begin]:
            if edge.kind == LAUNCH and streams:
                self.gone.add(id(edge))
            elif edge.kind in (LAUNCH, STREAM):
                edge.lag = 0

    def lengths(self):
        into = [[edge for edge in edges if id(edge) not in self.gone] for edges in self.into]
        return self.model.lengths(self.model.run(into))


def host_waits(rank, file, collectives):
    """Q10.3 and Q10.4: {(thread, end of a wait): the awaited collective}"""
    attributed, found = rank.attributed[id(file)], {}
    borders = sorted({at for window, _ in rank.windows for at in (window.start, window.end)})
    stretches = []  # (window, start, end) for the instants of a window
    for start, until in zip(borders, borders[1:]):
        holding = [each for each in rank.windows if each[0].start <= start < each[0].end]
        if holding:
            window, of = max(holding, key=lambda each: (each[0].start, -each[0].end, each[0].iteration or 0))
            if of is file and window.thread is not None:
                if stretches and stretches[-1][0] == window and stretches[-1][2] == start:
                    start = stretches.pop()[1]
                stretches.append((window, start, until))
    changes = {thread: may_wait_changes(rows) for thread, rows in attributed.threads.items()}
    for window, start, until in stretches:
        times, waits = changes.get(window.thread, ([], []))
        i, begin = bisect_right(times, start), start
        waiting = waits[i - 1] if i else True
        for at, next_ in [*zip(times[i:bisect_left(times, until)], waits[i:]), (until, None)]:
            if waiting and not next_:
                x = awaited(collectives, at, begin)
                if x is not None:
                    found[window.thread, at] = x
            if next_ and not waiting:
                begin = at
            waiting = next_
    return found


def may_wait_changes(rows):
    """([instant], [whether the thread may wait from that instant])"""
    points = sorted([(row.ts_ns, 1, row.event, row) for row in rows] + [(end(row), 0, row.event, row) for row in rows],
                    key=lambda point: point[:3])
    times, waits, holding, operators = [], [], [], []
    for at, is_begin, _, row in points:
        for open_ in [holding] + [operators] * (row.cat in OPERATORS):
            key = (*innerness(row), oracle.is_call(row), row.name)
            insort(open_, key) if is_begin else open_.remove(key)
        waiting = not operators or bool(oracle_job.MAY_WAIT.match(operators[-1][4]))
        waiting = waiting and not (holding and holding[-1][3])
        if times and times[-1] == at:
            waits[-1] = waiting
        else:
            times.append(at)
            waits.append(waiting)
    return times, waits


def awaited(collectives, t, begin):
    """Q10.4"""
    near = [each for each in collectives if each.start < t and 2 * abs(each.end - t) <= t - begin]
    return min(reversed(near), default=None, key=lambda each: (abs(each.end - t), -each.start, -each.end))


def models(traces):
    """The models of traces, which share the results of E6.3."""
    most_back = Counter()
    for trace in traces:
        trace.works = {id(file): Works(file) for file in trace.files}
        for works in trace.works.values():
            for site, _, _, last, place in works.sites():
                most_back[site] = max(most_back[site], last - place)
    return [Model(trace, most_back) for trace in traces]
