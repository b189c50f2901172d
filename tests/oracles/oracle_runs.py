"""An independent implementation of rules L5 and C20: operators that run more or less often, and operators whose kernels
run in graphs. It is word for word and slow, and shares only events, steps and stable names.
"""
import itertools
import statistics
from collections import Counter, defaultdict, namedtuple

from oracle_moved import same_names

Row = namedtuple("Row", "start end event thread window key file link")  # end: negative, so that outer rows come first
Work = namedtuple("Work", "kernel window dur around launched_in graph")  # around: operators, from outer to inner


def running(rows):
    """{row: the outer rows on its thread that contain its start, outermost first}"""
    found, threads = {}, defaultdict(list)
    for row in sorted(rows):
        threads[row.thread] = [each for each in threads[row.thread] if -each.end > row.start]
        found[row] = list(threads[row.thread])
        threads[row.thread].append(row)
    return found


def inside(rows, covering):
    return {row for row, outer in running(rows).items() if any(covering(each, row) for each in outer)}


class Side:
    """The runs of a trace that count, its device work and its windows."""

    def __init__(self, db, trace, ranks, iterations):
        self.windows = set(db.execute("SELECT DISTINCT rank, iteration FROM trace_step_time(?, ?, ?, 'annotation')",
                                      (trace, ranks, iterations)))
        rows = db.execute("SELECT ts_ns, -ts_ns - coalesce(dur_ns, 0), event, file || ' ' || pid || ' ' || tid, file,"
                          " rank, iteration,"
                          " CASE WHEN cat IN ('cpu_op', 'Operator') THEN 'operator'"
                          "  WHEN trace_kernel_type(name, cat) IS NOT NULL THEN 'kernel' ELSE 'call' END,"
                          " trace_stable_name(name), dur_ns IS NOT NULL AND name IS NOT NULL, link"
                          " FROM trace_events(?, coalesce(?, ?)) WHERE ts_ns IS NOT NULL",
                          (trace, ranks, min((rank for rank, _ in self.windows), default=None))).fetchall()
        graphs = {(row[4], row[2]) for row in rows if row[7] == "call" and "GraphLaunch" in (row[8] or "")}
        made = [Row(*row[:4], row[5:7], row[7:9], row[4], row[10]) for row in rows
                if row[5:7] in self.windows and (row[9] or row[7] == "call")]
        operators = [row for row in made if row.key[0] == "operator"]
        nested = inside(operators, lambda outer, inner: outer.key == inner.key)
        self.runs = [row for row in operators if row not in nested]
        calls = [row for row in made if row.key[0] == "call" and row.link is not None]
        around = running(operators + calls)
        launched_in = {(row.file, row.event): (row, [each for each in (*outer, row) if each.key[0] == "operator"])
                       for row, outer in around.items()}
        self.work, self.outside = [], []
        for row in made:
            if row.key[0] == "kernel":
                _, operators = launched_in.get((row.file, row.link), (None, []))
                self.work.append(Work(row.key[1], row.window, -row.end - row.start,
                                      [each for each in operators if each not in nested], bool(operators),
                                      (row.file, row.link) if (row.file, row.link) in graphs else None))
                if not operators:
                    self.outside.append(row)

    def rename(self, same, kind):
        def renamed(row):
            return row._replace(key=(kind, same.get(row.key[1], row.key[1]))) if row.key[0] == kind else row
        self.runs, self.outside = [renamed(row) for row in self.runs], [renamed(row) for row in self.outside]
        self.work = [each._replace(around=[renamed(row) for row in each.around]) for each in self.work]
        if kind == "kernel":
            self.work = [each._replace(kernel=same.get(each.kernel, each.kernel)) for each in self.work]


def sides_of(db, control, test, same_device, ranks=None, iterations=None):
    """Both sides, with the equivalents of their names."""
    sides = [Side(db, trace, ranks, iterations) for trace in (control, test)]
    for kind in ("operator", "kernel"):
        has = defaultdict(set)
        for number, side in enumerate(sides):
            for name in [row.key[1] for row in side.runs] if kind == "operator" else [run.kernel for run in side.work]:
                has[name].add(number)
        for side in sides:
            side.rename(same_names(has), kind)
    for side in sides:
        if same_device:
            side.runs += side.outside
        else:
            side.work = []
    return sides


def ranges(keys_of, sides):
    """{key: the sorted counts in all windows, of both sides}; keys_of(side) yields (key, window)."""
    counts = [Counter(keys_of(side)) for side in sides]
    return {key: tuple(sorted(counts[i][key, window] for window in sides[i].windows) for i in (0, 1))
            for key in {key for each in counts for key, _ in each}}


def changed(sides, left_out=((), ())):
    found = ranges(lambda side: [(row.key, row.window) for row in side.runs if row not in left_out[sides.index(side)]],
                   sides)
    return {key: (mine, theirs) for key, (mine, theirs) in found.items()
            if mine[-1] < theirs[0] or theirs[-1] < mine[0]}


def to_graphs(sides, number):
    """{kernel: how often a step of side `number` launches it eagerly while the other side uses a graph}"""
    alone, replayed = (ranges(lambda side: [(run.kernel, run.window) for run in side.work if bool(run.graph) == graph],
                              sides) for graph in (False, True))
    found = {}
    for kernel in alone.keys() & replayed.keys():
        left = alone[kernel][number][0] - alone[kernel][1 - number][-1]
        came = replayed[kernel][1 - number][0] - replayed[kernel][number][-1]
        if min(left, came) > 0:
            found[kernel] = min(left, came)
    return found


def graph_change(sides):
    """(operators, whether test runs them in graphs, graph launches per step), or None if there are none."""
    found = []
    for number in range(2):
        moved = to_graphs(sides, number)
        operators = ranges(lambda side: [(0, row.window) for row in {
            run.around[-1] for run in side.work if run.kernel in moved and not run.graph and run.around}], sides)
        launches = ranges(lambda side: [(0, window) for _, window in {
            (run.graph, run.window) for run in side.work if run.kernel in moved and run.graph}], sides)
        if moved and operators:
            count = min(operators[0][number][0] - operators[0][1 - number][-1], sum(moved.values()))
            if count > 0:
                found.append((count, number == 0, statistics.median(launches[0][1 - number])))
    if len(found) == 2 and found[0][0] == found[1][0]:
        return None
    return max(found, default=None)


def given(sides, keys):
    """The keys whose device time mostly moved to or from others (L5.7), and those for which graphs took it."""
    moved = to_graphs(sides, 0).keys() | to_graphs(sides, 1).keys()
    everywhere, times, own = Counter(), Counter(), defaultdict(Counter)
    for number, side in enumerate(sides):
        for run in side.work:
            everywhere[run.kernel, number] += 1
            times[run.kernel] += run.dur
            for key in [row.key for row in run.around] if run.launched_in else [("kernel", run.kernel)]:
                own[key][run.kernel, number] += 1
    windows = [len(side.windows) for side in sides]
    found, in_graphs = set(), set()
    for key in keys:
        total = mine = graphs = 0
        for kernel in {kernel for kernel, _ in own[key]}:
            mean = times[kernel] // (everywhere[kernel, 0] + everywhere[kernel, 1])
            more = own[key][kernel, 1] * windows[0] - own[key][kernel, 0] * windows[1]
            others = everywhere[kernel, 1] * windows[0] - everywhere[kernel, 0] * windows[1] - more
            total += abs(more) * mean
            if more * others < 0:
                mine += min(abs(more), abs(others)) * mean
                graphs += min(abs(more), abs(others)) * mean * (kernel in moved)
        if total and 2 * mine >= total:
            found.add(key)
        if total and 2 * graphs >= total:
            in_graphs.add(key)
    return found, in_graphs


def expected(db, control, test, same_device, ranks=None, iterations=None):
    """The rows of trace_work_diff, with durations to 4 decimals."""
    sides = sides_of(db, control, test, same_device, ranks, iterations)
    if not sides[0].windows or not sides[1].windows:
        return []
    every = changed(sides)
    left_out, in_graphs = given(sides, every)
    every = {key: counts for key, counts in every.items() if key not in left_out}
    kept = changed(sides, [inside([row for row in side.runs if row.key[0] == "operator" and
                                   (row.key in every or row.key in in_graphs)], lambda outer, inner: True)
                           for side in sides])
    lengths, rows = defaultdict(list), []
    for row in itertools.chain(*(side.runs for side in sides)):
        lengths[row.key].append(-row.end - row.start)
    unit = "per trace" if all(step is None for side in sides for _, step in side.windows) else "per step"
    for kind, name in every.keys() & kept.keys():
        counts = every[kind, name]
        medians = [statistics.median(each) for each in counts]
        duration = statistics.median(lengths[kind, name]) / 1000
        size = abs(medians[1] - medians[0]) * duration
        said = [f"{median:g}" for median in medians]
        change = (f"new, {said[1]}" if counts[0][-1] == 0 else f"gone, {said[0]}" if counts[1][-1] == 0
                  else " -> ".join(said))
        label, = db.execute("SELECT trace_label(?)", (name,)).fetchone()
        rows.append((name, kind, *medians, counts[0][0], counts[0][-1], counts[1][0], counts[1][-1], round(duration, 4),
                     round(size, 4), f"{label} {change} {unit}"))
    return sorted(rows, key=lambda row: (-row[9], row[1] == "kernel", row[0]))
