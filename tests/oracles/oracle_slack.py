"""Rule P9 by brute force: makes one part of a step longer and replays the step from its start.

Nodes are device work and every UNIT of every thread. Their dependencies follow the rules P4 to P8 in oracle_path.py.
Use it only for few events, with times that are multiples of UNIT.

    replay = Replay(oracle_path.Graph(file, events, "device"), window)
    replay.moves(("work", 7), 5000)            # whether the step ends later if event 7 takes 5 us longer
    replay.moves(("thread", thread, 8000), 1)  # or a thread 1 ns more for its UNIT that ends at 8 us
"""
from functools import lru_cache

import oracle
from oracle_path import UNIT, named
from oracle_steps import OPERATORS, end, innerness, thread_of


class Replay:
    def __init__(self, graph, window):
        self.graph, self.window = graph, window
        self.order, self.known = [], {}  # nodes in dependency order; {node: index}
        self.works = [work for work in graph.work if window.start < end(work) <= window.end]
        self.handed = lru_cache(None)(graph.other_thread)
        self.ends = [self.node(("work", work.event)) for work in self.works] if graph.device else []
        if not any(end(work) == window.end for work in self.works if graph.device):
            self.ends.append(self.node(("thread", window.thread, window.end)))
        self.ends = [each for each in self.ends if each is not None]

    def node(self, key):
        """The index of a node; None at or before the start of the step."""
        kind, *what = key
        at = end(self.graph.rows[what[0]]) if kind == "work" else what[1]
        if at <= self.window.start:
            return None
        if key not in self.known:
            ready, causes = self.work(*what) if kind == "work" else self.point(*what)
            causes = [(self.node(cause), when) for cause, when in causes]
            self.known[key] = len(self.order)
            self.order.append((at, ready, [cause for cause in causes if cause[0] is not None]))
        return self.known[key]

    def work(self, event):
        """(the instant until which work X waits, [(node, when it arrived)])"""
        graph, work = self.graph, self.graph.rows[event]
        found, ready, is_thread = graph.cause(work)
        waits = list(graph.stream_waits(work))
        causes = [(("work", other.event), end(other)) for other in graph.work if end(other) <= work.ts_ns
                  and (thread_of(other) == thread_of(work) or other in waits
                       or work.link is not None and other.link == work.link)]
        launch = graph.rows.get(work.link)
        if is_thread:
            causes.append((("thread", found or self.window.thread, ready), ready))
        elif launch is not None:
            came = launch.ts_ns + (launch.dur_ns or 0)
            came = came if came <= work.ts_ns else launch.ts_ns
            causes.append((("thread", thread_of(launch), came), came))
        return (ready, causes) if work.ts_ns > self.window.start else (ready, [])

    def stretch(self, thread, instant):
        holding = self.graph.holding(thread, instant)
        events = [row for row in holding if not oracle.is_call(row)]
        labels = [row for row in events if row.cat in OPERATORS] or events
        return max(holding, key=innerness, default=None), max(labels, key=innerness, default=None)

    def start(self, thread, instant):
        """The start of the stretch that contains an instant, at the earliest that of all events."""
        start, stretch = instant, self.stretch(thread, instant)
        while start > self.graph.first and self.stretch(thread, start - UNIT) == stretch:
            start -= UNIT
        return start

    def point(self, thread, at):
        graph, before = self.graph, at - UNIT
        if thread is None or not graph.at_work(thread, before):
            start = graph.first if thread is None else self.start(thread, before)
            other, when = self.handed(start, at)
            if other is not None:
                return when, [(("thread", other, when), when)] + [(("thread", thread, start), start)] * bool(thread)
            return before, [(("thread", thread, before), before)]
        call = graph.label(thread, before)
        if not oracle.is_call(call):
            return before, [(("thread", thread, before), before)]
        work, start = graph.awaited(call, at), self.start(thread, before)
        ready = start if work is None else min(end(work), at)
        if work is not None and end(work) > at:  # P7.3
            return ready, [(("work", work.event), ready), (("thread", thread, start), start)]
        causes = [(("work", other.event), end(other)) for other in graph.works_of_call(call)
                  if end(other) <= (call.ts_ns if work is None else ready)]
        if not named(call, "Synchronize"):
            causes = [] if work is None else causes
        if work is not None and ready == at:
            return ready, causes + [(("thread", thread, start), start)]
        # the thread's own time follows its awaited work with the same delay
        return ready, causes + [(("thread", thread, before), ready)]

    def moves(self, key, longer):
        """Whether the step ends later if one node takes this many ns longer."""
        key, late = self.known.get(key), []
        for number, (_, ready, causes) in enumerate(self.order):
            delay = max([when + late[cause] - ready for cause, when in causes], default=0)
            late.append(max(delay, 0) + (longer if number == key else 0))
        return any(self.order[number][0] + late[number] > self.window.end for number in self.ends)
