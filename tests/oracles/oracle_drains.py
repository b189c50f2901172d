"""An independent implementation of rule L8: the cost of synchronisation, and the parts that it covers. It is word for
word and slow.

    side = Side(read_trace("runs/a"), ranks="all", wanted="steady")
    synchronized(side, other)               # (name, ns of control, ns of test), or None

Times are integer nanoseconds.
"""
import re
from collections import Counter, defaultdict
from fractions import Fraction

import oracle
import oracle_steps
from oracle_moved import settle
from oracle_steps import COPIES_THAT_WAIT, end, innerness, stable, thread_of


class Side:
    """A side with its ranks, selected steps, waits, and parts of idle time."""

    def __init__(self, trace, ranks="all", wanted="steady", clock="device"):
        self.ranks = oracle.choose_ranks(trace, ranks)
        self.files = [File(file) for file in trace.files if file.rank in self.ranks]
        pairs = oracle.choose_steps([each.file for each in self.files], wanted)
        for each in self.files:
            each.choose(None if pairs is None else {number for path, number in pairs if path == each.file.path}, clock)
        self.steps = sum(len(each.windows) for each in self.files)

    def counts(self, rank=None):
        """{operator: [its waits in each selected step]}, for a rank or for all; operators without a wait have 0 in
        each.
        """
        files = [each for each in self.files if rank in (None, each.file.rank)]
        found = Counter((each.file.path, wait.iteration, name) for each in files for wait, name in each.waits
                        if wait.iteration in each.chosen)
        steps = {(each.file.path, number) for each in files for number in each.chosen}
        result = defaultdict(lambda: [0] * len(steps))
        for name in {name for _, _, name in found}:
            result[name] = [found[path, number, name] for path, number in steps]
        return result

    def lengths(self, often):
        """{operator: ns of its waits in the selected steps}, for operators that synchronise more often on a rank."""
        result = Counter()
        for each in self.files:
            for wait, name in each.waits:
                if wait.iteration in each.chosen and name in often[each.file.rank]:
                    result[name] += wait.dur_ns
        return result


class File:
    def __init__(self, file):
        self.file, self.attributed = file, oracle_steps.Attributed(file)

    def choose(self, chosen, clock):
        """The waits and the windows. `chosen` has numbers of steps, or is None for all; a file without steps is one
        step.
        """
        numbers = {step.iteration for step in self.file.steps} or {None}
        self.chosen = numbers if chosen is None or numbers == {None} else chosen
        self.windows = [window for window in oracle_steps.windows_of(self.file, clock)
                        if window.iteration in self.chosen]
        waits = [row for row in self.file.rows if is_wait(row)]
        self.waits = [(row, self.operator(row)) for row in waits if not any(around(other, row) for other in waits)]

    def rename(self, renamed):
        """Changes the names of waits and parts."""
        self.renamed = renamed
        self.waits = [(wait, renamed(name) if name == stable(wait.name) else name) for wait, name in self.waits]

    def operator(self, wait):
        """L8.1"""
        marks = {step.event for step in self.file.steps}
        runs = [row for row in self.file.rows if row.cat in oracle_steps.OPERATORS and oracle.is_counted(row)
                and around(row, wait) and row.event not in marks and not oracle.is_step(row)]
        aten = [row for row in runs if row.name.startswith("aten::")]
        return stable(min(aten or runs, key=innerness, default=wait).name)

    def drained(self, names):
        """L8.3: [(start, end)] of the time without computation and copies that the waits of these operators cost."""
        work, waits = self.attributed.work, [wait for wait, name in self.waits if name in names]
        instants = sorted({instant for row in self.file.rows if row.ts_ns is not None
                           for instant in (row.ts_ns, row.ts_ns + (row.dur_ns or 0))})
        result, lead = [], 0
        for start, until in zip(instants, instants[1:] + [instants[-1]]):
            if any(end(wait) == start and name not in names for wait, name in self.waits):
                lead = 0
            lead += sum(wait.dur_ns for wait in waits if end(wait) == start)
            running = {oracle_steps.kind(row) for row in work if row.ts_ns <= start < end(row)}
            if running and (running - {"COMMUNICATION", "MEMORY"} or running == {"MEMORY"}):
                continue
            runs = any(wait.ts_ns <= start < end(wait) for wait in waits)
            reached = until if runs else min(until, start + lead)
            lead = max(lead - (until - start), 0)
            if reached > start:
                result.append((start, reached))
        return result

    def parts(self, drained):
        """({(class, name, op): ns}, {(class, name, op): drained ns}) for the idle time of the steps."""
        parts, costs = Counter(), Counter()
        for window in self.windows:
            instants = self.attributed.changes(window)
            for start, until in zip(instants, instants[1:]):
                part, name = self.attributed.at(window, start, "top_name")
                op = self.attributed.at(window, start, "op")[1]
                late = self.attributed.late(window, start) if part == "comm" else None
                if late:  # L9
                    part, name = self.attributed.host(late, start, "top_name")
                    op = self.attributed.host(late, start, "op")[1]
                part = part, self.renamed(name), self.renamed(op)
                if part[0].startswith("idle_"):
                    parts[part] += until - start
                    costs[part] += sum(max(0, min(until, last) - max(start, first)) for first, last in drained)
        return parts, costs


def is_wait(row):
    return (oracle.is_call(row) and oracle.is_counted(row) and row.ts_ns is not None and row.dur_ns > 0
            and ("Synchronize" in row.name or row.name in COPIES_THAT_WAIT))


def around(outer, inner):
    """T5: further out on its thread, and contains its start."""
    return (thread_of(outer) == thread_of(inner) and outer.ts_ns is not None and innerness(outer) < innerness(inner)
            and outer.ts_ns <= inner.ts_ns < end(outer))


def more_often(side, other):
    """L8.2: {rank: the operators that synchronise more often on `side`}."""
    result = {}
    for rank in side.ranks:
        counts, others = [each.counts(rank if side.ranks == other.ranks else None) for each in (side, other)]
        result[rank] = {name for name in list(counts) if min(counts[name]) > max(others[name])}
    return result


def runtimes(side):
    """Which of HIP and CUDA a side uses."""
    found = (re.match("(hip|cuda)[A-Z]", row.name or "") for each in side.files for row in each.file.rows
             if oracle.is_call(row))
    return {match[1] for match in found if match}


def as_cuda(side, other):
    """L2.1: the function that maps the names of a side."""
    if (runtimes(side), runtimes(other)) != ({"hip"}, {"cuda"}):
        return lambda name: name
    return lambda name: name and re.sub(r"(?<!\S)hip(?=[A-Z])", "cuda", name)


def settled(parts, costs, steps):
    """Both sides by (class, name), after L12."""
    times = {place: [parts[side][place] for side in range(2)] for place in parts[0].keys() | parts[1].keys()}
    settle(times, steps, lambda place: (*place[:2], None), lambda place: (place[0], place[2]), lambda place: 0)
    kept, lost = [Counter(), Counter()], [Counter(), Counter()]
    for place, pair in times.items():
        for side in range(2):
            kept[side][place[:2]] += pair[side]
            lost[side][place[:2]] += costs[side][place]
    return kept, [Counter({part: min(ns, kept[side][part]) for part, ns in lost[side].items()}) for side in range(2)]


def synchronized(control, test):
    """L8.4: (name, ns of control, ns of test) for the cause, or None."""
    for side, other in ((control, test), (test, control)):
        renamed = as_cuda(side, other)
        for each in side.files:
            each.rename(renamed)
    names = [more_often(control, test), more_often(test, control)]
    sides = [[each.parts(each.drained(often[each.file.rank])) for each in side.files]
             for side, often in zip((control, test), names)]
    parts = [sum((part for part, _ in side), Counter()) for side in sides]
    costs = [sum((cost for _, cost in side), Counter()) for side in sides]
    parts, costs = settled(parts, costs, [control.steps, test.steps])
    found = set()
    for part in parts[0].keys() | parts[1].keys():
        means = [Fraction(parts[0][part], control.steps), Fraction(parts[1][part], test.steps)]
        for side, steps in enumerate((control.steps, test.steps)):
            longer = means[side] - means[1 - side]
            if longer > 0 and 2 * Fraction(costs[side][part], steps) >= longer:
                found.add(part)
    if not found:
        return None
    lengths = Counter()
    for side, often in zip((control, test), names):
        for name, length in side.lengths(often).items():
            lengths[name] += Fraction(length, side.steps)
    name = min(name for name in lengths if lengths[name] == max(lengths.values()))
    return name, sum(parts[0][part] for part in found), sum(parts[1][part] for part in found)
