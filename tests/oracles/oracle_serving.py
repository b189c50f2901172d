"""An independent implementation of the rules about serving traces: like with like (A13) and replayed graphs (A14 to
A16). oracle_marks.py has steps by annotation (T20 to T22), oracle.py has T23, and oracle_names.py the names of steps.

    trace = oracle.read_trace("runs/a")
    Replayed(trace.files[0])                            # an oracle_steps.Attributed that knows graphs
    Replayed(trace.files[0], captures(read_trace("capture")))   # and captures
    diff(side(trace, "steady"), side(other, "steady"))  # {(class, name): DiffRow}, exact
    graph_diff(replays_of(trace), replays_of(other))    # [GraphRow]

Times are integer nanoseconds or fractions of them; None is SQL's NULL. It is slow.
"""
from collections import Counter, defaultdict, namedtuple
from fractions import Fraction

import oracle
import oracle_steps
from oracle_steps import OPERATORS, end, kind, label, stable, takes_part, thread_of

Replay = namedtuple("Replay", "file launch work")  # work in the order of A14.2
Capture = namedtuple("Capture", "names labels rank", defaults=(None,))  # for each launch, a name, and a label by level


# ---- A14 ------------------------------------------------------------------

def in_replay(row):
    """A14.2: the order of device work in a replay."""
    return row.node is None, row.node or 0, row.ts_ns is None, row.ts_ns or 0, row.event


def replays(file):
    """The replays of a file, by the start of the launch."""
    launched, rows = defaultdict(list), {row.event: row for row in file.rows}
    for row in file.rows:
        if oracle.is_device_work(row) and oracle.is_counted(row) and row.link is not None:
            launched[row.link].append(row)
    found = [Replay(file, rows[event], sorted(work, key=in_replay)) for event, work in launched.items()
             if oracle.is_call(rows[event]) and "GraphLaunch" in (rows[event].name or "")]
    return sorted(found, key=lambda replay: (replay.launch.ts_ns, replay.launch.event))


def sequence(replay):
    return tuple(stable(row.name) for row in replay.work)


class Replayed(oracle_steps.Attributed):
    """A file in which replayed work has its own name, or the owner from a capture."""

    def __init__(self, file, captured=None):
        super().__init__(file)
        self.replays = replays(file)
        self.position = {row.event: position for replay in self.replays for position, row in enumerate(replay.work)}
        own = [capture for capture in captured or () if capture.rank == file.rank]
        self.owners = owners(self.replays, own or captured) if captured is not None else {}

    def of_work(self, work, level):
        if work.event in self.owners and not work.hlo_op:
            return self.owners[work.event][level]
        launch = self.rows[work.link]
        if level in oracle_steps.of_xla(work, launch):
            return super().of_work(work, level)
        in_operator = any(row.cat in OPERATORS for row in self.holding(thread_of(launch), launch.ts_ns))
        if level == "op" and work.event in self.position and not in_operator and kind(work) != "COMMUNICATION":
            return "graph: " + stable(work.name)
        return super().of_work(work, level)

    def owner(self, work, level):
        """The column of trace_kernel_owners."""
        return None if work.link is None else self.of_work(work, level)


# ---- A15 ------------------------------------------------------------------

def name_captured(call):
    """[name of the work that a call captures, possibly None], or [] if it captures none."""
    name = call.name or ""
    if "Memcpy" in name or "Memset" in name:
        return ["Memcpy" if "Memcpy" in name else "Memset"]
    return [call.kernel] if "Launch" in name and "Kernel" in name else []


def captures(trace):
    """The captured sequences of a trace: by file, then by the start of the capture."""
    found = [capture._replace(rank=file.rank) for file in trace.files for capture in captures_of(file)]
    if not found:
        raise oracle.Refused("nothing is captured")
    return found


def without_inner(calls):
    """Calls without those that start inside another capturing call, because the runtime's calls contain the
    driver's.
    """
    def inside(call, other):
        return (other is not call and name_captured(other) and other.dur_ns is not None
                and (other.ts_ns, -other.dur_ns, other.event) < (call.ts_ns, -(call.dur_ns or 0), call.event)
                and call.ts_ns < end(other))

    return [call for call in calls if not any(inside(call, other) for other in calls)]


def captures_of(file):
    attributed, threads, found = oracle_steps.Attributed(file), defaultdict(list), []
    for row in file.rows:
        if oracle.is_call(row) and row.ts_ns is not None:
            threads[thread_of(row)].append(row)
    for calls in threads.values():
        begin, inside = None, []
        for call in sorted(without_inner(calls), key=lambda row: (row.ts_ns, row.event)):
            if "StreamBeginCapture" in (call.name or ""):
                begin, inside = call, []
            elif "StreamEndCapture" in (call.name or "") and begin is not None:
                found.append((begin, Capture(
                    [name for each in inside for name in name_captured(each)],
                    [{level: label(attributed.holding(thread_of(each), each.ts_ns), level)
                      for level in oracle_steps.LEVELS} for each in inside if name_captured(each)])))
                begin = None
            else:
                inside.append(call)
    return [capture for _, capture in sorted(found, key=lambda pair: (pair[0].ts_ns, pair[0].event))]


def name_replayed(work):
    for category, name in (("memcpy", "Memcpy"), ("memset", "Memset")):
        if work.cat is not None and work.cat.lower().endswith(category):
            return name
    return work.name


def match(names, capture):
    """The launches that captured the names, or None."""
    if None in capture.names:
        same = len(names) == len(capture.names) and all(
            there is None or there == name for name, there in zip(names, capture.names))
        return list(range(len(names))) if same else None
    found, at = [], 0
    for name in names:
        while at < len(capture.names) and capture.names[at] != name:
            at += 1
        if at == len(capture.names):
            return None
        found.append(at)
        at += 1
    return found


def owners(of_file, captured):
    """{event: {level: label}} for the work of replays that match a capture."""
    result, seen = {}, Counter()
    for replay in of_file:
        names = tuple(map(name_replayed, replay.work))
        matching = [(capture, found) for capture in captured if (found := match(names, capture)) is not None]
        equal = [pair for pair in matching if len(pair[0].names) == len(names)]
        matching = equal or matching
        if matching:
            capture, found = matching[seen[names] % len(matching)]
            seen[names] += 1
            result.update((row.event, capture.labels[at]) for row, at in zip(replay.work, found))
    return result


# ---- A13 ------------------------------------------------------------------

DiffRow = namedtuple("DiffRow", "control test diff within mix")


def parts(trace, ranks=None, wanted="steady", level="op", clock="device", captured=None):
    """[(rank, step, stratum, {(class, name): ns})] for the selected windows of a trace."""
    chosen = oracle.choose_ranks(trace, ranks)
    files = [file for file in trace.files if file.rank in chosen]
    pairs = oracle.choose_steps(files, wanted)
    result = []
    for file in files:
        strata = {number: step.stratum for number, step in oracle.first_of(file).items()}
        numbers = None if pairs is None else {number for path, number in pairs if path == file.path}
        windows = defaultdict(dict)
        attributed = oracle_steps.attribute(file, clock, numbers, Replayed(file, captured), (level,))
        for (number, class_, name), time in attributed[level].items():
            windows[number][class_, name] = time
        result += [(file.rank, number, strata.get(number), windows[number]) for number in windows]
    return result


def side(*arguments, **others):
    """[(stratum, {(class, name): ns})] for the same windows."""
    return [part[2:] for part in parts(*arguments, **others)]


def diff(control, test):
    """{(class, name): DiffRow} for two sides, in ns per window."""
    counts = [Counter(stratum for stratum, _ in windows) for windows in (control, test)]
    sums = [defaultdict(Counter), defaultdict(Counter)]
    for windows, by_row in zip((control, test), sums):
        for stratum, times in windows:
            for row, time in times.items():
                by_row[row][stratum] += time
    return {row: diff_row(counts, [by_row[row] for by_row in sums]) for row in sums[0].keys() | sums[1].keys()}


def diff_row(counts, times):
    within = mix = Fraction(0)
    for stratum in counts[0].keys() | counts[1].keys():
        (p0, p1) = (Fraction(side[stratum], sum(side.values())) for side in counts)
        (m0, m1) = (Fraction(time[stratum], side[stratum]) if side[stratum] else 0
                    for time, side in zip(times, counts))
        if p0 and p1:
            within += (m1 - m0) * (p0 + p1) / 2
            mix += (p1 - p0) * (m0 + m1) / 2
        else:
            mix += p1 * m1 - p0 * m0
    before, after = (Fraction(sum(time.values()), sum(side.values())) for time, side in zip(times, counts))
    assert within + mix == after - before  # A13.2
    return DiffRow(before, after, after - before, within, mix)


# ---- A16 ------------------------------------------------------------------

GraphRow = namedtuple("GraphRow", "graph control_position test_position name change control_time test_time diff_time")


def replays_of(trace, ranks=None, wanted="steady"):
    """{sequence: [replay]} for the replays launched in the selected steps."""
    chosen = oracle.choose_ranks(trace, ranks)
    files = [file for file in trace.files if file.rank in chosen]
    pairs = oracle.choose_steps(files, wanted)
    result = defaultdict(list)
    for file in files:
        for replay in replays(file):
            if pairs is None or (file.path, replay.launch.iteration) in pairs:
                result[sequence(replay)].append(replay)
    return result


def total(group):
    return sum(row.dur_ns or 0 for replay in group for row in replay.work)


def pairs_of(control, test):
    """[(sequence or None, sequence or None)]: equal sequences first, then the others by total time."""
    def by_time(side, names):
        return sorted(names, key=lambda name: (-total(side[name]), order(side[name])))

    equal = control.keys() & test.keys()
    left, right = (by_time(side, side.keys() - equal) for side in (control, test))
    longer = max(len(left), len(right))
    left, right = ([*names, *[None] * (longer - len(names))] for names in (left, right))
    found = [(name, name) for name in equal] + list(zip(left, right))

    def times(pair):
        sides = [side[name] for side, name in ((control, pair[0]), (test, pair[1])) if name is not None]
        return -sum(map(total, sides)), pair[0] is None, order(sides[0])

    return sorted(found, key=times)


def order(group):
    """The launch time of the first replay of a sequence."""
    return min((replay.launch.ts_ns, replay.file.path, replay.launch.event) for replay in group)


def aligned(left, right):
    """[(position or None, position or None)] by a longest common subsequence, deletions first."""
    longest = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in reversed(range(len(left))):
        for j in reversed(range(len(right))):
            longest[i][j] = (longest[i + 1][j + 1] + 1 if left[i] == right[j]
                             else max(longest[i + 1][j], longest[i][j + 1]))
    i = j = 0
    found = []
    while i < len(left) or j < len(right):
        if i < len(left) and j < len(right) and left[i] == right[j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif i < len(left) and (j == len(right) or longest[i + 1][j] >= longest[i][j + 1]):
            found.append((i, None))
            i += 1
        else:
            found.append((None, j))
            j += 1
    return found


def mean(group, position):
    if position is None:
        return Fraction(0)
    return Fraction(sum(replay.work[position].dur_ns or 0 for replay in group), len(group))


def graph_diff(control, test):
    """The rows of trace_graph_diff, from the results of replays_of for each side."""
    result = []
    for graph, (left, right) in enumerate(pairs_of(control, test)):
        for i, j in aligned(left or (), right or ()):
            before, after = mean(control.get(left), i), mean(test.get(right), j)
            change = "added" if i is None else "deleted" if j is None else "same"
            result.append(GraphRow(graph, i, j, left[i] if j is None else right[j], change, before, after,
                                   after - before))
    return result
