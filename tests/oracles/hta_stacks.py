"""HTA's call stacks in plain Python, and those of rule T5 as a replacement.

    tree = Tree(rank, right)                # for a rank of hta_load.load
    tree.path(key(row))                     # the event and its ancestors
    tree.below(key(row))                    # the event and everything below it, including device events

HolisticTraceAnalysis' newer CallGraph builds this for its kernel sequences. With D30 in `right`, T5 gives the parents
of all events instead.
"""
import functools
from collections import defaultdict

import oracle_stacks
from hta_load import in_numpy_order, key


def sorts_before(x, y):
    """HTA's order of the ends (event, dur, kind, time) of a thread's intervals; kind is -1 for a start."""
    (x_event, x_dur, x_kind, x_time), (y_event, y_dur, y_kind, y_time) = x, y
    if x_time != y_time:
        return x_time < y_time
    if x_event == y_event:
        return x_kind == -1
    if x_dur == 0 or y_dur == 0:
        if x_dur < 0 or y_dur < 0:
            raise ValueError("an interval of negative length")
        if x_dur > 0 or y_dur > 0:
            return y_kind == 1 if x_dur == 0 else x_kind == -1
        if x_kind != y_kind:
            return x_kind == -1
    elif x_kind != y_kind:
        return x_kind == 1
    elif x_dur != y_dur:
        return (x_dur > y_dur) == (x_kind == -1)
    return (x_event < y_event) == (x_kind == -1)


def host_threads(rows):
    """{(file, pid, tid): rows} for the threads that HTA treats as host threads."""
    threads = defaultdict(list)
    for row in rows:
        if row.pid is not None and row.tid is not None:
            threads[row.file, row.pid, row.tid].append(row)
    return {(file, pid, tid): threads[file, pid, tid]
            for file, pid, tid in sorted(threads, key=lambda thread: [(isinstance(part, str), part) for part in thread])
            if pid != 0 and tid != 0
            and not all(row.stream is not None and row.stream > 0 for row in threads[file, pid, tid])}


def hta_parents(rows, right):
    """{event: parent} for host threads and the device events launched from them."""
    parents = {}
    for thread, members in host_threads(rows).items():
        host = {row.event: row for row in members if row.stream is None}
        ends = ([(row.event, row.dur_ns, -1, row.ts_ns) for row in host.values()]
                + [(row.event, row.dur_ns, 1, row.end_ns) for row in host.values()])
        ends = in_numpy_order(ends, lambda end: end[3])
        ends.sort(key=functools.cmp_to_key(lambda x, y: -1 if sorts_before(x, y) else 1))
        if not all(map(sorts_before, ends, ends[1:])):
            raise SystemError("the ends of the intervals cannot be sorted")
        opened = []
        for event, _, kind, _ in ends:
            if kind == -1:
                parents[key(host[event])] = opened[-1] if opened else root_of(thread, right)
                opened.append(key(host[event]))
            elif opened:
                opened.pop()
    for row in rows:
        if row.stream is not None and (row.stream > 0 or "D5" in right) and row.link is not None:
            if (row.link.event > 0 or "D6" in right) and key(row.link) in parents:
                parents.setdefault(key(row), key(row.link))
    return parents


def root_of(thread, right):
    """The parent of a thread's top events; HTA ignores the process."""
    return ("", *thread) if "D30" in right else ("", -abs(thread[2]))


def rule_parents(rows, right):
    """{event: parent} by T5."""
    threads = {key(row): root_of((row.file, row.pid, row.tid), right) for row in rows}
    return {event: threads[event] if place.parent is None else (event[0], place.parent)
            for event, place in oracle_stacks.stacks(rows).items()}


def hang_backward(rows, parents, right):
    """Attaches the top events of autograd's thread to the backward annotations, or to the steps, of the main thread."""
    labelled = []
    for thread, members in host_threads(rows).items():
        if any(row.name.startswith("ProfilerStep#") for row in members):
            labelled.append(("main", thread, members))
        elif any("autograd::" in row.name for row in members):
            labelled.append(("bwd", thread, members))
    if len(labelled) != 2:
        return
    (_, backward, _), (_, _, members) = sorted(labelled, key=lambda item: item[0])
    places = ([row for row in members if row.name.startswith("## backward ##")]
              or [row for row in members if row.name.startswith("ProfilerStep#")])
    root, kept = root_of(backward, right), {key(row): row for row in rows}
    for place in places:
        if key(place) not in parents:
            raise ValueError(f"event {place.event} is in no call stack")
        top = [event for event in kept if parents.get(event) == root]
        hung = [event for event in top
                if kept[event].ts_ns >= place.ts_ns and kept[event].raw_end_ns <= place.raw_end_ns]
        if key(place) in hung:
            raise RecursionError(f"event {place.event} is below itself")
        # HTA's order below the new parent is the iteration order of Python's sets
        there = {event for event, parent in parents.items() if parent == key(place)}
        hung = set(list({event for _, event in hung})).intersection({event for _, event in kept})
        for event in hung - {event for _, event in there}:
            del parents[place.file, event]
            parents[place.file, event] = key(place)
        if hung and len(hung) == len(top):  # HTA continues with the thread to which the last ones are now attached
            root = key(place)
            while root in parents:
                root = parents[root]


class Tree:
    """The call stacks of a rank."""

    def __init__(self, rank, right):
        self.parents = rule_parents(rank.every, right) if "D30" in right else hta_parents(rank.rows, right)
        if "backward" not in right:
            hang_backward(rank.rows, self.parents, right)
        self.children, self.depths = defaultdict(list), {}
        for event, parent in self.parents.items():
            self.children[parent].append(event)

    def path(self, event):
        """The event and its ancestors."""
        while event in self.parents:
            yield event
            event = self.parents[event]

    def depth(self, event):
        if event not in self.parents:
            return -1
        if event not in self.depths:
            self.depths[event] = self.depth(self.parents[event]) + 1
        return self.depths[event]

    def below(self, event):
        """The event and everything below it, parents first."""
        found, waiting = [], [event]
        while waiting:
            found.append(waiting.pop())
            waiting += reversed(self.children.get(found[-1], ()))
        return found
