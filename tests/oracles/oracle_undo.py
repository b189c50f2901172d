"""An independent implementation of E8.5, E8.6 and E9, the results of trace_gains and trace_undo, on top of
oracle_gains.py.

    gains(model, "op", chosen)    # {(what, class, name, rank): [time, path, half, none]}, ns
    Undone(control, test, chosen, causes, settled, family_of).rows()
    # [(place of the cause, gain, cumulative, half)], ns

Causes come from trace_step_causes (L2: oracle_causes.sql), and parts from trace_step_path; late_on_path() and
oracle_moved.py change the parts that causes use (L9, L12). With a cause `synchronized` or `moved`, the parts behind the
rest of a kind are unknown: see is_told().
"""
import json
import re
from collections import Counter, defaultdict
from fractions import Fraction
from functools import cached_property

import oracle
import oracle_job
from oracle_gains import (COPY, DEVICE, GAP, HOST, LATENCY, LAUNCH, LONG_LAUNCH, STREAM, SYNC, THREAD, TRANSFER, WAIT,
                          Changed, Clock, Edge, Lag, tenth, times)
from oracle_moved import late_parts
from oracle_steps import OPERATORS, end, kind, of_xla, stable, thread_of

GONE = object()
OVERLAP = 10  # E8.5
DEVICE_CLASSES = ("compute", "comm", "memory")
BACKWARD = r"autograd::engine|torch::autograd::AccumulateGrad|.*Backward[0-9]?\Z"


# ---- E8.6 -----------------------------------------------------------------

def name_of(lag, level):
    """A12.4"""
    own = (lag.class_ in ("comm", "call", "unrecorded") or level == "kernel"
           or lag.what != HOST and lag.row.device == "GPU" and lag.row.link is None)
    return lag.named("name" if own else level)


def binding(model, point):
    """The binding edge; ties: the first one, for a collective the edge from the first start."""
    binds = [edge for edge in model.into[point] if model.at[edge.from_] + edge.lag + edge.more == model.at[point]]
    if binds and binds[0].kind in (TRANSFER, WAIT):
        return min((edge for edge in binds if edge.kind == binds[0].kind), key=lambda edge: edge.from_)
    return binds[0] if binds else None


def step_end(model, file, window):
    """The point at which a step ends, and the time after it."""
    key = id(file)
    works = [model.end[key, work.event] for work in model.works[key].all
             if window.iteration is None or work.iteration == window.iteration]
    if not file.steps:
        works += [point for (of, _), point in model.end.items() if of == key]
    last = max(works, default=None, key=lambda point: (model.at[point], -point))
    if last is not None and (model.at[last] == window.end or not file.steps):
        return last, window.end - model.at[last]
    begins = sorted((step.ts_ns, step.event) for step in file.steps)
    points = []
    for step in file.steps:
        if step.iteration == window.iteration:
            after = next((event for ts, event in begins if ts == step.end_ns and event != step.event), None)
            own = step.end_ns == step.ts_ns + step.dur_ns and not file.annotated or after is None
            points.append(model.end.get((key, step.event)) if own else model.begin.get((key, after)))
    points = [point for point in points if point is not None and model.at[point] == window.end]
    if points:
        return min(points), 0
    return last, 0


def paths(model, chosen):
    """[(edge, ns)] for the paths of the selected steps; edge None is the rest."""
    for window, file in model.ties.ranks[model.ties.reference].windows:
        if window.iteration not in chosen:
            continue
        left = max(0, window.end - window.start)
        point, rest = step_end(model, file, window) if left else (None, 0)
        rest = min(left, max(0, rest))
        yield None, rest
        left -= rest
        while left and point is not None:
            edge = binding(model, point)
            if edge is None:
                break
            yield edge, min(left, edge.lag)
            left -= min(left, edge.lag)
            point = edge.from_
        yield None, left


def gains(model, level, chosen):
    changed = Changed(model)
    chosen = set(chosen)
    groups, at = defaultdict(list), {}
    for lag in changed.lags:
        key = (lag.what, lag.class_, name_of(lag, level), None)
        groups[key].append(lag)
        if lag.what != TRANSFER and len(model.ties.ranks) > 1:
            groups["rank", None, None, lag.file.rank].append(lag)
    for rank in model.ties.ranks if len(model.ties.ranks) > 1 else ():
        groups["rank", None, None, rank] += []
    by_edge = defaultdict(list)  # a copied edge equals the model's edge with the same ends and kind
    for key, lags in groups.items():
        for lag in lags:
            for edge in lag.edges:
                by_edge[edge.from_, edge.to, edge.kind].append(key)
    path = Counter()
    for edge, ns in paths(model, chosen):
        for key in by_edge.get((edge.from_, edge.to, edge.kind), [None]) if edge else [None]:
            path[key] += ns

    def total(new):
        return sum(length for _, iteration, length in model.lengths(new) if iteration in chosen)
    recorded = total(model.at)
    result = {None: [None, path[None], None, None]}
    for key, lags in groups.items():
        found = []
        for factor in (0.5, 0):
            old = [(edge, edge.lag) for lag in lags for edge in lag.edges]
            for edge, ns in old:
                edge.lag = times(ns, factor)
            found.append(recorded - total(model.run(changed.into)))
            for edge, ns in old:
                edge.lag = ns
        time = sum(lag.edges[0].lag for lag in lags if lag.step in chosen and lag.edges[0].kind not in (WAIT, COPY))
        result[key] = [time, path[key], *found]
    return result


# ---- E8.5 -----------------------------------------------------------------

def aligned(a, b):
    """A16.3: [(place in a, place in b)] for equal elements."""
    most = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in reversed(range(len(a))):
        for j in reversed(range(len(b))):
            most[i][j] = most[i + 1][j + 1] + 1 if a[i] == b[j] else max(most[i + 1][j], most[i][j + 1])
    i, j, found = 0, 0, []
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif most[i + 1][j] >= most[i][j + 1]:
            i += 1
        else:
            j += 1
    return found


class Side:
    """A side by step: the events of each host thread, and the device work of each rank."""

    def __init__(self, model, chosen):
        self.model, self.steps = model, defaultdict(dict)  # {rank: {iteration: {lane: [row]}}}
        self.around, self.places = {}, {}
        for file in model.files:
            key, stepped = id(file), bool(file.steps)
            threads = model.threads[key]
            for thread in threads.values():
                open_ = []
                ends = {row.event: place for place, (_, row, is_end) in enumerate(thread.points) if is_end}
                for _, row, is_end in thread.points:
                    if is_end:
                        open_.remove(row)
                    else:
                        holder = next((each for each in reversed(open_) if ends[each.event] > ends[row.event]
                                       or end(each) - row.ts_ns > OVERLAP), None)
                        self.around[key, row.event] = [*self.around[key, holder.event], holder] if holder else []
                        open_.append(row)
            counts = Counter()
            for thread, of in threads.items():
                counts[thread] = sum(not is_end and (not stepped or row.iteration is not None)
                                     for _, row, is_end in of.points)
            rows = {row.event: row for row in file.rows}
            main = thread_of(rows[min(file.steps, key=lambda step: step.event).event]) if stepped else None
            order = sorted(threads, key=lambda thread: (thread != main, -counts[thread], *self.first(threads[thread],
                                                                                                   stepped)))
            by_step = defaultdict(lambda: defaultdict(list))
            for lane, thread in enumerate(order):
                for _, row, is_end in threads[thread].points:
                    if not is_end and (not stepped or row.iteration is not None):
                        by_step[row.iteration][lane].append(row)
            works = model.works[key]
            for work in sorted(works.all, key=lambda each: (rows.get(each.link, each).ts_ns, each.ts_ns, each.event)):
                if not stepped or work.iteration is not None:
                    by_step[work.iteration]["device"].append(work)
            for iteration, lanes in by_step.items():
                self.steps[file.rank][iteration] = {lane: (file, found) for lane, found in lanes.items()}
        self.chosen = chosen

    @staticmethod
    def first(thread, stepped):
        rows = [row for _, row, is_end in thread.points if not is_end and (not stepped or row.iteration is not None)]
        return min(((row.ts_ns, row.event) for row in rows), default=(float("inf"), 0))

    def operators(self, file, row):
        return [each for each in self.around[id(file), row.event] if each.cat in OPERATORS]

    def token(self, file, row):
        if row.device == "CPU":
            steps = {step.event for step in file.steps}
            operators = self.operators(file, row)
            return ("host", None if row.event in steps else stable(row.name),
                    *(stable(each.name) for each in (operators[-1:] + operators[:1])))
        launch = self.model.works[id(file)].rows.get(row.link)
        operators = self.operators(file, launch) if launch and (id(file), launch.event) in self.around else []
        type_ = kind(row)
        if type_ == "COMMUNICATION" or not operators:
            return type_, stable(row.name)
        return type_, stable(operators[-1].name), stable(operators[0].name)


class Pairs:
    """Equivalent events {(file, event) of test: (file, event) of control}, and the steps."""

    def __init__(self, control, test):
        self.of, self.back, self.steps = {}, {}, []
        alone = len(control.model.ties.ranks) == 1 and len(test.model.ties.ranks) == 1
        for rank, steps in test.steps.items():
            others = next(iter(control.steps.values()), {}) if alone else control.steps.get(rank, {})
            numbers, other = sorted(steps, key=repr_none), sorted(others, key=repr_none)
            if not other:
                continue
            mine, theirs = self.range_of(numbers, test.chosen), self.range_of(other, control.chosen)
            if theirs[0] == theirs[1]:
                continue
            for i, number in enumerate(numbers):
                if i < mine[0]:
                    j = theirs[0] - (mine[0] - i)
                    j = j if j >= 0 else theirs[0]
                elif i >= mine[1]:
                    j = theirs[1] + i - mine[1]
                    j = j if j < len(other) else theirs[1] - 1
                else:
                    j = theirs[0] + (i - mine[0]) % (theirs[1] - theirs[0])
                self.align(control, others[other[j]], test, steps[number])
                self.steps.append((rank, others[other[j]], steps[number]))

    @staticmethod
    def range_of(numbers, chosen):
        found = [i for i, number in enumerate(numbers) if number in chosen]
        return (min(found), max(found) + 1) if found else (0, len(numbers)) if chosen <= {None} else (0, 0)

    def align(self, control, theirs, test, mine):
        for lane, (file, rows) in mine.items():
            if lane not in theirs:
                continue
            other, twins = theirs[lane]
            for i, j in aligned([control.token(other, row) for row in twins], [test.token(file, row) for row in rows]):
                self.of[id(file), rows[j].event] = id(other), twins[i].event
                self.back[id(mine), id(other), twins[i].event] = id(file), rows[j].event


def repr_none(number):
    return -1 if number is None else number


# ---- E9 -------------------------------------------------------------------

def part_of_host(attributed, threads, instant):
    """(class, name) of a part named by the first thread with a recorded event (L2.1)."""
    class_, name = attributed.host(threads, instant, "top_name")
    held = next((found for found in (attributed.holding(each, instant) for each in threads) if found), [])
    annotation = attributed.label(held, "annotation") or ""
    loads = class_.removeprefix("idle_") == "host" and annotation.startswith("enumerate(DataLoader)")
    return class_, annotation if loads else name


def late_on_path(trace, steps):
    """L9 on the path of a job: {(class, annotation, area, top_op, top_name, op, kernel): ns} of communication, below
    0.
    """
    job, found = oracle_job.Job(trace, "device"), Counter()
    for stretch in job.schedule:
        if stretch.window.iteration not in steps or stretch.queued:
            continue
        rank = job.ranks[stretch.rank]
        for piece in rank.pieces:
            ns = min(piece.end - stretch.offset, stretch.end) - max(piece.start - stretch.offset, stretch.start)
            if piece.class_ != "comm" or ns <= 0:
                continue
            attributed = rank.attributed[id(piece.file)]
            window = stretch.window if stretch.rank == job.reference else piece.window
            threads = attributed.late(window, piece.start)
            if threads:
                hidden, late = late_parts(attributed, threads, attributed.rows[piece.owner], piece.start)
                found[hidden] -= ns
                found[late] += ns
    return found


def is_told(causes):
    """Whether the parts of each cause are known."""
    rest = any(cause.kind in ("host late", "not recorded", "queued") and (cause.name is None or cause.late_area)
               for cause in causes)
    return not rest or not any(cause.kind in ("synchronized", "moved") for cause in causes)


class Cause:
    """`families` are the area or the family in trace_step_causes, and the family of that. `replaced` is JSON, `diff` is
    ns in the selected steps.
    """

    def __init__(self, kind_, class_, families, name, rank, replaced, diff):
        self.diff = diff
        self.kind, self.class_, self.families, self.name, self.rank = kind_, class_, families, name, rank
        self.replaced = json.loads(replaced) if replaced else ()
        self.late_area = kind_ == "host late" and any(families)  # L2.3

    def has(self, class_, family, name):
        late = {"host late": ("idle_call", "idle_host", "idle_launch"),
                "not recorded": ("idle_unrecorded", "unrecorded")}
        if self.kind == "queued":
            return class_ == "idle_wait"
        if self.late_area:
            return class_ in late[self.kind] and family in self.families
        if self.kind in late:
            return class_ in late[self.kind] and (self.name is None or (class_, name) == (self.class_, self.name))
        if self.kind == "communication":
            return class_ == "comm" and name == self.name and family in self.families
        if self.kind == "replaced":
            nowhere = not any(self.families) and (class_ == "comm" or family == name)  # L2.7
            return class_ == self.class_ and (family in self.families or nowhere) and name in self.replaced
        return (self.kind == "changed" and class_ == self.class_ and name == self.name
                and (class_ not in ("compute", "memory") or family in self.families))


class Ghost:
    """Removed device work: at least `lag` after `host`, and at least `gap` after `before` (the end of work, or
    None).
    """

    def __init__(self, host, lag, before, gap, dur, file, step, owners):
        self.host, self.lag, self.before, self.gap, self.dur = host, lag, before, gap, dur
        self.file, self.step, self.owners = file, step, owners
        self.previous, self.position = None, max(host, -1 if before is None else before)


class Undone:
    """`causes` come from trace_step_causes, `settled` from oracle_moved.settled(), `family_of` maps areas."""

    def __init__(self, control, test, chosen, causes, settled, family_of):
        self.control, self.test, self.causes, self.family_of = control, test, causes, family_of
        self.same = settled.same
        self.add_up(settled)
        self.sides = Side(control, chosen[0]), Side(test, chosen[1])
        self.chosen = chosen
        self.pairs = Pairs(*self.sides)
        self.items = []      # (edge, change or GONE, owners)
        self.links = []      # (ghost, point, lag)
        self.ghosts = []
        self.into = [[Edge(edge.from_, edge.to, edge.lag, edge.kind, edge.more) for edge in edges]
                     for edges in test.into]
        self.work = [bool(any(control.works[id(file)].all for file in control.files)),
                     bool(any(test.works[id(file)].all for file in test.files))]
        self.raise_floors()
        for rank, theirs, mine in self.pairs.steps:
            self.share_threads(theirs, mine)
        for rank, theirs, mine in self.pairs.steps:
            self.undo_step(rank, theirs, mine)
        self.chain()

    # ---- the parts of causes ----

    def add_up(self, settled):
        """Sets `parts`, {(class, family or selected area, name)}, the exact `diffs` of causes, and `untold`: the causes
        left out by E9.11.
        """
        sums = defaultdict(lambda: [0, 0, 0])
        for place, pair in settled.times.items():
            class_, family, name, _, late_area, *_ = place
            if class_ not in DEVICE_CLASSES:
                family = late_area if self.is_chosen_area(class_, late_area) else None
            for i, ns in enumerate((*pair, settled.shifted[place])):
                sums[class_, family, name][i] += ns
        self.parts = {part for part, (first, second, _) in sums.items() if first or second}
        self.diffs, moved = Counter(), Counter()
        for part in self.parts:
            control, test, shifted = (ns * settled.windows[side] for ns, side in zip(sums[part], (1, 0, 1)))
            for i in self.causes_of(part):
                self.diffs[i] += Fraction(test - control, settled.windows[0] * settled.windows[1])
                moved[i] += Fraction(shifted, settled.windows[0] * settled.windows[1])
        self.untold = {i for i in moved if 10 * moved[i] > abs(self.diffs[i])}

    def is_chosen_area(self, class_, late_area):
        """L2.3"""
        return any(cause.late_area and late_area in cause.families for cause in self.causes
                   if class_ in ("idle_call", "idle_host", "idle_launch"))

    # ---- the causes of a lag ----

    def owners(self, side, edge, only=None):
        """The causes of a lag (E9.1) with these classes; None: the lag has no name, like a lag of 0 on the host."""
        model = (self.control, self.test)[side]
        if edge is None or edge.kind == HOST and edge.lag == 0:
            return None
        what = HOST if edge.kind == HOST else TRANSFER if edge.kind in (TRANSFER, WAIT) else edge.kind
        lag = Lag(model, [edge], what)
        attributed = lag.attributed
        if what == HOST:
            threads, instant = self.host_threads(lag), model.at[edge.from_]
            class_, name = part_of_host(attributed, threads, instant)
            class_ = class_.removeprefix("idle_")
            classes = [class_]
            if self.work[side]:
                classes = [f"idle_{class_}"] + ["idle_launch"] * (class_ == "call")
            if class_ == "unrecorded" and name is None:
                return []
            keys = [(each, self.late_area(attributed, threads, instant), name) for each in classes]
        elif what == LAUNCH:
            keys = [("idle_wait", None, attributed.of_launch(attributed.rows[lag.row.link], "top_name"))]
        else:
            class_, row = lag.class_, lag.row
            if class_ == "comm":
                keys = [("comm", self.family(lag), stable(row.name))]
            else:
                name = (attributed.of_work(row, "top_name") if row.link is not None else None) or stable(row.name)
                keys = [(class_, self.family(lag), name)]
        found = []
        for class_, family, name in keys:
            if only and class_ not in only:
                continue
            name = self.same.get(name, name)
            if class_ in DEVICE_CLASSES:
                parts = [(class_, self.same.get(family, family), name)]
            else:
                parts = [(class_, family, name), (class_, None, name)]
            for part in parts:
                if part in self.parts:
                    found += self.causes_of(part)
                    break
        return [i for i in found if self.causes[i].rank in (None, lag.file.rank) and i not in self.untold]

    @staticmethod
    def host_threads(lag):
        """The thread of a lag, and the thread of the steps, which gives the name while the other is in no event."""
        windows = lag.model.ties.ranks[lag.file.rank].windows
        main = next((window.thread for window, of in windows if of is lag.file), None)
        return [each for each in (thread_of(lag.row), main) if each is not None]

    def causes_of(self, key):
        """A part belongs to one cause: one with its own name, otherwise the rest."""
        found = [i for i, cause in enumerate(self.causes) if cause.has(*key)]
        own = [i for i in found if self.causes[i].name is not None and self.causes[i].kind != "queued"]
        replaced = [i for i in found if self.causes[i].kind == "replaced"]
        return (replaced or [i for i in own if self.causes[i].late_area] or own or found)[:1]

    def late_area(self, attributed, threads, instant):
        """L2.3"""
        held = next((found for found in (attributed.holding(each, instant) for each in threads) if found), [])
        annotation, module = attributed.label(held, "annotation"), attributed.label(held, "module") or ""
        if annotation:
            return self.family_of.get(annotation, annotation)
        named = attributed.host(threads, instant, "top_name")[1] or ""
        return "backward" if re.match(BACKWARD, named) and not module.startswith("nn.Module: ") else None

    def family(self, lag):
        """A12.7, A12.8"""
        labels = {level: lag.named(level) for level in ("annotation", "module", "top_op")}
        launch = lag.attributed.rows.get(lag.row.link)
        if launch is None:
            return self.family_of.get(None)
        if labels["annotation"]:
            area = labels["annotation"]
        elif (labels["module"] or "").startswith("nn.Module: "):
            area = labels["module"]
        elif re.match(BACKWARD, labels["top_op"] or ""):
            area = "backward"
        else:
            area = (of_xla(lag.row, launch).get("top_name")
                    or lag.attributed.of_launch(launch, "top_name", stable(lag.row.name)))
        return self.family_of.get(area, area)

    # ---- edges ----

    @staticmethod
    def edge(edges, *kinds):
        return next((edge for edge in edges if edge.kind in kinds), None)

    def edges_of(self, side, key):
        """(before the begin, before the end) for an event."""
        model = (self.control, self.test)[side]
        into = self.into if side else self.control.into
        return into[model.begin[key]], into[model.end[key]]

    def row(self, side, key):
        model = (self.control, self.test)[side]
        return model.works[key[0]].rows[key[1]]

    def raise_floors(self):
        """E9.6"""
        for mine, twin in self.pairs.of.items():
            device = self.row(1, mine).device == "GPU"
            begins, ends = self.edges_of(1, mine)
            others = self.edges_of(0, twin)
            for kind_ in (LAUNCH, STREAM) if device else (SYNC,):
                own = self.edge(begins if device else ends, kind_)
                other = self.edge(others[0 if device else 1], kind_)
                if own and other:
                    own.lag = max(own.lag, min(other.lag, self.test.at[own.to] - self.test.at[own.from_]))

    def share_threads(self, theirs, mine):
        """E9.6"""
        back = self.point_back(theirs, mine)
        for point in back:
            edge = self.edge(self.control.into[point], THREAD)
            if edge is None or edge.from_ not in back:
                continue
            to, from_ = back[point], back[edge.from_]
            if from_ >= to or self.edge(self.into[to], THREAD, WAIT):
                continue
            distance = self.test.at[to] - self.test.at[from_]
            self.into[to].append(Edge(from_, to, min(distance, edge.lag) if self.into[to] else distance, THREAD))

    def point_back(self, theirs, mine):
        """{point of control: point of test} for a step's host events on both sides."""
        found = {}
        for lane, (file, rows) in mine.items():
            for row in rows if lane != "device" else ():
                key = id(file), row.event
                if key in self.pairs.of:
                    twin = self.pairs.of[key]
                    for mine_, theirs_ in ((self.test.begin, self.control.begin), (self.test.end, self.control.end)):
                        found[theirs_[twin]] = mine_[key]
        return found

    # ---- steps ----

    def add(self, edge, change, owners):
        """An item, or None if nothing changes."""
        if edge is None or change == 0:
            return None
        self.items.append([edge, change, set(owners or ())])
        return self.items[-1]

    def undo_step(self, rank, theirs, mine):
        begin_item, end_item = {}, {}      # by event of test: the changes of its points
        own_items = defaultdict(list)      # all items for an event of test
        came, went = [], []                # (lane, event, cause)
        back = self.point_back(theirs, mine)
        for lane, (file, rows) in mine.items():
            for row in rows if lane != "device" else ():
                key = id(file), row.event
                twin = self.pairs.of.get(key)
                for is_end in (0, 1):
                    own = self.edge(self.edges_of(1, key)[is_end], HOST)
                    was = self.edge(self.edges_of(0, twin)[is_end], HOST) if twin else None
                    item = None
                    owners = self.owners(1, own)
                    if own and (was or not twin):
                        whose = owners if owners is not None else self.owners(0, was)
                        item = self.add(own, (was.lag if twin else 0) - own.lag, whose)
                        own_items[key] += [item] * (item is not None)
                    (end_item if is_end else begin_item)[key] = item
                    if twin:
                        own_items[key] += self.undo_wait(key, twin, is_end, owners)
                if not twin:
                    own = self.edge(self.edges_of(1, key)[1], HOST)
                    for edge in self.edges_of(1, key)[1]:
                        if edge.kind in (SYNC, COPY):
                            own_items[key].append(self.add(edge, GONE, self.owners(1, own)))
                    waits = self.edge(self.edges_of(1, key)[1], SYNC, COPY)
                    came += [(file, row, i) for i, cause in enumerate(self.causes) if waits
                             and cause.kind == "synchronized" and cause.rank in (None, rank)]
        extras = defaultdict(list)
        for lane, (other, rows) in theirs.items():
            if lane == "device":
                continue
            for row in rows:
                key = id(other), row.event
                for is_end, points in enumerate((self.control.begin, self.control.end)):
                    if points[key] in back:
                        continue
                    own = self.edge(self.edges_of(0, key)[is_end], HOST)
                    next_ = self.next_point(theirs, lane, points[key], back)
                    if own and next_ is not None:
                        use = self.edge(self.into[back[next_]], HOST)
                        extras[key].append(self.add(use, own.lag, self.owners(0, own)))
        for file, rows in [mine["device"]] if "device" in mine else ():
            for row in rows:
                first = len(self.items)
                self.undo_work(file, row, came)
                own_items[id(file), row.event] += self.items[first:]
        for other, rows in [theirs["device"]] if "device" in theirs else ():
            for row in rows:
                if (id(mine), id(other), row.event) not in self.pairs.back:
                    self.put_back(rank, theirs, mine, other, row, back, went)
        self.own_came(mine, came, begin_item, end_item, own_items)
        self.own_went(theirs, mine, went, begin_item, end_item, extras, back)

    def undo_wait(self, key, twin, is_end, owners):
        """E7.4: like in control; if control does not wait there, like the collective itself."""
        waits, was = self.edge_list(1, key, is_end, WAIT), self.edge_list(0, twin, is_end, WAIT)
        if not waits:
            return []
        own = waits[0].lag
        if not was:
            point = (self.test.end if is_end else self.test.begin)[key]
            of = key[0], self.test.awaited[point].row.event
            if of not in self.pairs.of:
                return []
            was = [edge for edge in self.edges_of(0, self.pairs.of[of])[1] if edge.kind in (TRANSFER, HOST)]
            other = [edge for edge in self.edges_of(1, of)[1] if edge.kind in (TRANSFER, HOST)]
            if not was or not other:
                return []
            own = other[0].lag
        return [self.add(edge, was[0].lag - own, owners) for edge in waits]

    def edge_list(self, side, key, is_end, kind_):
        return [edge for edge in self.edges_of(side, key)[is_end] if edge.kind == kind_]

    def lane_points(self, side, step, lane):
        """[(point, key, whether it is an end)] for a thread in a step, in order."""
        model = (self.control, self.test)[side]
        file, rows = step[lane]
        found = [(points[id(file), row.event], (id(file), row.event), is_end)
                 for row in rows for is_end, points in enumerate((model.begin, model.end))]
        return sorted(found)

    def next_point(self, theirs, lane, point, back):
        return next((each for each, _, _ in self.lane_points(0, theirs, lane) if each >= point and each in back), None)

    def last_point(self, theirs, lane, point, back):
        return next((each for each, _, _ in reversed(self.lane_points(0, theirs, lane))
                     if each <= point and each in back), None)

    def undo_work(self, file, row, came):
        key = id(file), row.event
        twin = self.pairs.of.get(key)
        begins, ends = self.edges_of(1, key)
        duration = [edge for edge in ends if edge.kind in (DEVICE, TRANSFER)]
        if not duration:
            return
        owners = self.owners(1, duration[0]) or []
        copy, was = self.copy_edge(1, key), self.copy_edge(0, twin) if twin else None
        if copy:
            self.add(copy, was.lag - copy.lag if was else GONE, owners)
        if twin:
            others = self.edges_of(0, twin)
            was = self.edge(others[1], DEVICE, TRANSFER)
            for edge in duration if was else ():
                self.add(edge, was.lag - edge.lag, owners)
            launch = self.edge(begins, LAUNCH)
            if launch:
                queued = self.owners(1, launch)
                for kind_ in (LAUNCH, STREAM):
                    own, was = self.edge(begins, kind_), self.edge(others[0], kind_)
                    runs = 0
                    if own and was and kind_ == LAUNCH:
                        both = [self.while_launching(0, twin, was), self.while_launching(1, key, own)]
                        runs = both[0] - both[1] if max(both) > LONG_LAUNCH else 0
                        self.add(own, runs, self.launching(key))
                    if own and was:
                        self.add(own, was.lag - own.lag - runs, queued)
            return
        # E8.4
        if duration[0].kind == TRANSFER and self.is_meeting(duration, key):
            for edge in duration:
                own = edge.from_ == self.test.begin[key]
                self.add(edge, -edge.lag if own else GONE, owners)
        else:
            self.add(duration[0], -duration[0].lag, owners)
        streams = any(edge.kind == STREAM for edge in begins)
        for edge in begins:
            runs = self.while_launching(1, key, edge) if edge.kind == LAUNCH else 0
            runs = runs if runs > LONG_LAUNCH else 0
            self.add(edge, -runs, [*owners, *self.launching(key)] if runs else [])
            if edge.kind == LAUNCH and streams:
                self.add(edge, GONE, owners)
            elif edge.kind in (LAUNCH, STREAM):
                self.add(edge, runs - edge.lag, owners)
        launch = self.test.works[key[0]].rows.get(row.link)
        if launch is not None and launch.iteration == row.iteration and (key[0], launch.event) in self.test.begin:
            for cause in owners:
                came.append((file, launch, cause))

    def launch_points(self, side, key):
        model, link = (self.control, self.test)[side], self.row(side, key).link
        return model.begin[key[0], link], model.end[key[0], link]

    def while_launching(self, side, key, edge):
        """The part of the lag from a launch to its work that passes during the launch (A6)."""
        begin, end_ = self.launch_points(side, key)
        at = (self.control, self.test)[side].at
        return min(edge.lag, at[end_] - at[begin])

    def launching(self, key):
        """The causes of the time in which work is being launched and the device waits for it (A6)."""
        end_ = self.launch_points(1, key)[1]
        return self.owners(1, self.edge(self.into[end_], HOST), ("idle_launch",)) or []

    def copy_edge(self, side, key):
        """E4.3"""
        model = (self.control, self.test)[side]
        call = key[0], self.row(side, key).link
        edge = self.edge(self.edges_of(side, call)[1], COPY) if call in model.end else None
        return edge if edge and edge.from_ == model.begin[key] else None

    def is_meeting(self, duration, key):
        return len(duration) > 1 or duration[0].from_ != self.test.begin[key]

    def tree(self, side, file, launch):
        """The outermost operator or call around a launch, or the launch itself, while the other side lacks it."""
        points_of = (self.control, self.test)[side]
        found = None
        for row in [launch, *reversed(self.sides[side].around[id(file), launch.event])]:
            key = id(file), row.event
            has = key in self.pairs.of if side else key in self.now_back
            ended = points_of.end[key] < points_of.begin[id(file), launch.event]  # T5.3
            if has or ended or row.iteration != launch.iteration or not (oracle.is_call(row) or row.cat in OPERATORS):
                break
            found = row
        return found

    @staticmethod
    def inside(rows, root):
        """Events that begin inside it, on its thread."""
        at = rows.index(root)
        return [root, *(row for row in rows[at + 1:] if row.ts_ns < end(root))]

    def own_came(self, mine, came, begin_item, end_item, own_items):
        for file, launch, cause in came:
            root = self.tree(1, file, launch)
            if root is None:
                continue
            lane = next(lane for lane, (_, rows) in mine.items() if lane != "device" and root in rows)
            inside = {(id(file), row.event) for row in self.inside(mine[lane][1], root)}
            if self.causes[cause].kind == "synchronized":
                works = self.test.works[id(file)]
                for _, event in list(inside):
                    inside |= {(id(file), each[2]) for each in works.of_launch.get(event, ())
                               if works.rows[each[2]].iteration == root.iteration}
            for key in inside - self.pairs.of.keys():
                for item in own_items[key]:
                    if item:
                        item[2].add(cause)
            after = [(key, is_end) for point, key, is_end in self.lane_points(1, mine, lane)
                     if point > self.test.end[id(file), root.event] and key not in inside]
            if after:
                key, is_end = after[0]
                item = (end_item if is_end else begin_item).get(key)
                if item:
                    item[2].add(cause)

    def own_went(self, theirs, mine, went, begin_item, end_item, extras, back):
        for other, launch, cause in went:
            self.now_back = {(id(other), row.event) for lane, (_, rows) in theirs.items() for row in rows
                             if (id(mine), id(other), row.event) in self.pairs.back}
            root = self.tree(0, other, launch)
            if root is None:
                continue
            lane = next(lane for lane, (_, rows) in theirs.items() if lane != "device" and root in rows)
            for row in self.inside(theirs[lane][1], root):
                for item in extras[id(other), row.event]:
                    if item:
                        item[2].add(cause)
            next_ = self.next_point(theirs, lane, self.control.end[id(other), root.event], back)
            if next_ is not None:
                key, is_end = next((key, is_end) for point, key, is_end in self.all_points(mine)
                                   if point == back[next_])
                item = (end_item if is_end else begin_item).get(key)
                if item:
                    item[2].add(cause)

    def all_points(self, mine):
        return [each for lane in mine if lane != "device" for each in self.lane_points(1, mine, lane)]

    def put_back(self, rank, theirs, mine, other, row, back, went):
        key = id(other), row.event
        launch = self.control.works[key[0]].rows.get(row.link)
        lane = next((lane for lane, (_, rows) in theirs.items() if lane != "device" and launch in rows), None)
        was = self.edge(self.edges_of(0, key)[1], DEVICE, TRANSFER)
        if launch is None or lane is None or was is None:
            return
        begin = self.control.begin[key[0], launch.event]
        last, next_ = self.last_point(theirs, lane, begin, back), self.next_point(theirs, lane, begin, back)
        file = next(file for file, _ in mine.values())
        works = self.test.works[id(file)]
        if last is None or not works.queued:
            return
        queue = next((queue for queue in works.queued.values() if works.rows[queue[0][2]].stream == row.stream), None)
        queue = queue or max(works.queued.values(), key=len)
        host = back[last]
        if next_ is None:
            before = works.last_before(queue, self.test.at[host] + 1)
        else:
            before = works.last_before(queue, self.test.at[back[next_]])
        latency, gap = self.floors[id(file)]
        owners = [i for i in self.owners(0, was) or [] if self.causes[i].rank in (None, file.rank)]
        ghost = Ghost(host, self.control.at[begin] - self.control.at[last] + latency,
                      None if before is None else self.test.end[id(file), before.event], gap, was.lag, file,
                      next(iter(mine.values()))[1][0].iteration, owners)
        self.ghosts.append(ghost)
        went += [(other, launch, cause) for cause in owners]

    @cached_property
    def floors(self):
        """E3.2 and E3.3 for test's files."""
        found = {}
        for file in self.test.files:
            works, key = self.test.works[id(file)], id(file)
            pairs = [(work, works.before(work), works.rows[work.link]) for work in works.all
                     if (key, work.link) in self.test.begin]
            latency = tenth([work.ts_ns - call.ts_ns for work, before, call in pairs
                             if work.ts_ns >= call.ts_ns and (before is None or end(before) <= call.ts_ns)], LATENCY)
            gaps = [work.ts_ns - end(before) for work, before, call in pairs
                    if before and end(before) > call.ts_ns + 2 * latency]
            found[key] = latency, min(tenth(gaps, GAP[0]), GAP[1])
        return found

    def chain(self):
        """Ghosts between the same two pieces of work form a chain; work that waits for the previous work waits for
        them.
        """
        chains = defaultdict(list)
        for ghost in self.ghosts:
            if ghost.before is not None:
                chains[id(ghost.file), ghost.before].append(ghost)
        for (_, before), ghosts in chains.items():
            for previous, ghost in zip(ghosts, ghosts[1:]):
                ghost.previous, ghost.position = previous, max(previous.position, ghost.position)
            for point, edges in enumerate(self.into):
                for edge in edges:
                    if edge.from_ != before or edge.kind not in (STREAM, SYNC):
                        continue
                    _, row, _ = self.test.row_of[point]
                    launched = self.test.works[id(ghosts[0].file)].launched(row) if row.device == "GPU" else row.ts_ns
                    after = [ghost for ghost in ghosts
                             if point > ghost.position and launched >= self.test.at[ghost.host]]
                    if after:
                        self.links.append((after[-1], edge))

    # ---- the gain ----

    def changed(self, causes, half=False):
        """({edge id: additional lag}, {edge id: it does not hold}); `half`: E9.8, where fractions of a ns count in no
        direction.
        """
        longer, gone = Counter(), set()
        for edge, change, owners in self.items:
            if owners & causes:
                if change is GONE:
                    gone.add(id(edge))
                else:
                    longer[id(edge)] += int(change / 2) if half else change
        return longer, gone

    def run(self, causes, half=False):
        longer, gone = self.changed(causes, half)
        order = [(point, 0, point) for point in range(len(self.into))]
        order += [(ghost.position, 1 + number, ghost) for number, ghost in enumerate(self.ghosts)]
        order.sort(key=lambda each: each[:2])
        new, ends = [], {}
        waits = defaultdict(list)
        for ghost, edge in self.links:
            each, active = ghost, False
            while each is not None:
                active, each = active or bool(set(each.owners) & causes), each.previous
            if active:
                waits[edge.to].append((ghost, edge))
        for _, _, what in order:
            if isinstance(what, Ghost):
                active = bool(set(what.owners) & causes)
                before = ends[what.previous] if what.previous else new[what.before] if what.before is not None else None
                if active:
                    begin = new[what.host] + what.lag
                    dur, gap = (what.dur // 2, what.gap // 2) if half else (what.dur, what.gap)
                    ends[what] = dur + (begin if before is None else max(begin, before + gap))
                else:
                    ends[what] = before if before is not None else new[what.host]
                continue
            edges = self.into[what]
            found = [new[edge.from_] + max(0, edge.lag + longer[id(edge)]) + edge.more for edge in edges
                     if id(edge) not in gone]
            slack = [ends[ghost] + edge.lag for ghost, edge in waits[what]]
            new.append(max(found + slack, default=self.test.at[what]))
        return new, ends

    def length(self, causes, half=False):
        new, ends = self.run(causes, half)
        model, whole = self.test, 0
        for file in model.files:
            if file.rank == model.ties.reference:
                put_back = [(ghost.step, ends[ghost]) for ghost in self.ghosts if ghost.file is file]
                whole += sum(max(0, window.end - window.start) for window in model.windows(file, new, put_back)
                             if window.iteration in self.chosen[1])
        return whole

    # ---- hidden gains ----

    @cached_property
    def groups(self):
        """{id of an edge: (whether it is on the host, name, rank)} for edges with names."""
        found = {}
        for edges in self.into:
            for edge in edges:
                what = {WAIT: TRANSFER, COPY: DEVICE}.get(edge.kind, edge.kind)
                if what not in (DEVICE, TRANSFER, LAUNCH, HOST) or what == HOST and not edge.lag:
                    continue
                lag = Lag(self.test, [edge], what)
                annotation = lag.named("annotation") if lag.class_ == "comm" else None
                if annotation and annotation.startswith(("nccl:", "gloo:")):
                    name = annotation
                elif what == HOST:
                    _, name = lag.attributed.host(self.host_threads(lag), self.test.at[edge.from_], "op")
                else:
                    name = name_of(lag, "op") or lag.named("name")
                found[id(edge)] = what in (HOST, LAUNCH), name, lag.file.rank
        return found

    @cached_property
    def recorded_path(self):
        """[(start, end, group)] for the recorded path of the selected steps, on the reference's clock; None if
        unknown.
        """
        found = self.path(set())
        return found and [(self.time(edge.to) - ns, self.time(edge.to), self.groups[id(edge)]) for edge, ns in found]

    def time(self, point):
        """E1.5"""
        file, _, _ = self.test.row_of[point]
        return self.clocks[file.rank].time(self.test.at[point])

    @cached_property
    def clocks(self):
        return {rank: Clock(self.test.ties, rank) for rank in self.test.ties.ranks}

    def end_of(self, of, window, new):
        """The point at which a step ends; None if unknown."""
        model, key = self.test, id(of)
        works = [model.end[key, work.event] for work in model.works[key].all if work.iteration == window.iteration]
        begins = sorted((step.ts_ns, step.event) for step in of.steps)
        host = []
        for step in of.steps:
            if step.iteration == window.iteration:
                after = next((event for ts, event in begins if ts == step.end_ns and event != step.event), None)
                own = step.end_ns == step.ts_ns + step.dur_ns and not of.annotated or after is None
                host.append(model.end.get((key, step.event)) if own else model.begin.get((key, after)))
        for points in (works, [point for point in host if point is not None]):
            last = max(points, default=None, key=lambda point: (new[point], -point))
            if last is not None and new[last] == window.end:
                return last
        return None

    def path(self, causes):
        """[(edge, ns)] with names on the path of the selected steps, with causes undone (E9.9.1); None if unknown."""
        new, _ = self.run(causes)
        longer, gone = self.changed(causes)
        model, found = self.test, []
        of = next(file for file in model.files if file.rank == model.ties.reference)
        for window in model.windows(of, new):
            if window.iteration not in self.chosen[1]:
                continue
            left = max(0, window.end - window.start)
            point = self.end_of(of, window, new)
            if left and point is None:
                return None
            while left and point is not None:
                binds = [edge for edge in self.into[point] if id(edge) not in gone and new[point] ==
                         new[edge.from_] + max(0, edge.lag + longer[id(edge)]) + edge.more]
                if not binds:
                    break
                edge = binds[0]
                if edge.kind in (TRANSFER, WAIT):
                    edge = min((each for each in binds if each.kind == edge.kind), key=lambda each: each.from_)
                ns = min(left, max(0, edge.lag + longer[id(edge)]))
                if id(edge) in self.groups:
                    found.append((edge, ns))
                left, point = left - ns, edge.from_
        return found

    @staticmethod
    def most_of(found, whole):
        """E9.9.1 and E9.9.3: (name, rank) if it is a quarter of the whole, otherwise None."""
        host = sum(ns for (is_host, _, _), ns in found.items() if is_host)
        work = max((ns for (is_host, _, _), ns in found.items() if not is_host), default=0)
        of_host = host > max(work, 0)
        most = max((ns for (is_host, _, _), ns in found.items() if is_host == of_host), default=0)
        if most <= 0 or 4 * (host if of_host else work) < whole:
            return None
        if of_host and 2 * most < host:
            return "the host", None
        best = min(((name is None, (name or "").encode(), rank), (name, rank))
                   for (is_host, name, rank), ns in found.items() if is_host == of_host and ns == most)[1]
        return best if best[0] else ("the host", None)

    def beside(self, cause):
        """E9.9.2: {group: ns} on the recorded path during the lags that the cause makes shorter."""
        shorter, own = set(), set()
        for edge, change, owners in self.items:
            group = self.groups.get(id(edge))
            if cause in owners and group and (change is GONE or change < 0):
                until = self.time(edge.to)
                shorter.add((until - edge.lag, until))
                own.add(group)
        merged = []
        for start, until in sorted(shorter):
            if merged and start <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], until)
            else:
                merged.append([start, until])
        found = Counter()
        for start, until, group in self.recorded_path:
            if group not in own:
                found[group] += sum(max(0, min(until, last) - max(start, first)) for first, last in merged)
        return +found

    def hider(self, cause, missing):
        """E9.9: (name, rank), or None if nothing hides it, or False if unknown."""
        if any(cause in ghost.owners for ghost in self.ghosts):
            return False
        undone, after = self.path({cause}), Counter()
        if undone is None or self.recorded_path is None:
            return False
        for edge, ns in undone:
            after[self.groups[id(edge)]] += ns
        for start, until, group in self.recorded_path:
            after[group] -= until - start
        found = self.most_of(after, missing)
        if found is None:
            beside = self.beside(cause)
            found = self.most_of(beside, sum(beside.values()))
        return found

    def is_told_by_work(self, cause):
        """E9.10"""
        of = self.causes[cause]
        if of.kind not in ("changed", "replaced", "communication") or of.class_ not in ("compute", "comm", "memory"):
            return True
        longer = {}  # {(rank, point): ns}
        for edge, change, owners in self.items:
            file, row, _ = self.test.row_of[edge.to]
            if cause in owners and edge.kind in (DEVICE, TRANSFER) and self.is_chosen(row.iteration):
                longer[file.rank, edge.to] = edge.lag if change is GONE else -change
        for ghost in self.ghosts:
            if cause in ghost.owners and self.is_chosen(ghost.step):
                longer[ghost.file.rank, ghost] = -ghost.dur
        ranks = Counter()
        for (rank, _), ns in longer.items():
            ranks[rank] += ns if of.diff > 0 else -ns
        return 10 * max(ranks.values(), default=0) >= round(abs(of.diff), 1)

    def is_chosen(self, iteration):
        return self.chosen[1] <= {None} or iteration in self.chosen[1]

    def rows(self):
        recorded = self.length(set())
        assert self.run(set())[0] == self.test.at
        found = []
        for i in range(len(self.causes)):
            known = any(item[2] & {i} for item in self.items) or any(i in ghost.owners for ghost in self.ghosts)
            known = known and self.is_told_by_work(i)
            found.append((i, recorded - self.length({i}) if known else None,
                          recorded - self.length({i}, half=True) if known else None))
        found.sort(key=lambda each: (each[1] is None, -(each[1] or 0), each[0]))
        taken, after, rows = set(), recorded, []
        for i, gain, half in found:
            taken.add(i)
            after = self.length(taken)
            rows.append((i, gain, after, half))
        return rows
