"""An independent implementation of the attribution of step time, A1 to A12.

It is word for word and slow: between any two neighbouring starts or ends of events, it looks up the part of the
instant. Use it only for few events.

    attribute(read_trace("runs/a").files[0], "device", None)    # {level: {(iteration, class, name): ns}}
    windows(steps, ends, "device", (first, last), thread)       # [Window]

Times are integer nanoseconds; None is SQL's NULL.
"""
import operator
import re
from collections import Counter, defaultdict, namedtuple

import oracle
from oracle_names import kernel_type, stable_name

LEVELS = ("op", "top_op", "module", "annotation", "kernel")
CLASSES = {"COMPUTATION": "compute", "COMMUNICATION": "comm", "MEMORY": "memory"}
OPERATORS = ("cpu_op", "Operator")

LONGEST_WAIT = 1_000_000  # ns

Window = namedtuple("Window", "iteration start end thread")


def end(row):
    return row.ts_ns + row.dur_ns


def thread_of(row):
    return row.pid, row.tid


def takes_part(row):
    return oracle.is_counted(row) and row.ts_ns is not None and row.dur_ns > 0


def stable(name):
    return None if name is None else stable_name(name)


def kind(work):
    """trace_kernel_type of device work with a category."""
    return kernel_type(work.name, work.cat)


# ---- A2 -------------------------------------------------------------------

def backlog(rows):
    """Device work from before the recording: without a link, and before the first linked work on its (pid, tid)."""
    linked = defaultdict(list)
    for row in rows:
        if oracle.is_device_work(row) and row.link is not None and row.ts_ns is not None:
            linked[thread_of(row)].append(row.ts_ns)
    return [row for row in rows if oracle.is_device_work(row) and row.link is None and row.ts_ns is not None
            and linked[thread_of(row)] and row.ts_ns < min(linked[thread_of(row)])]


def windows(steps, ends, clock, span, busiest, backlog):
    """The windows of a file. steps are (number, start, end, thread); ends is {number: latest end of device work}, or
    None without device work; span is the first and the last instant of any event; busiest is the thread to use without
    steps; backlog is (start, end) of work launched before the recording.
    """
    if not steps:
        return [] if None in span else [Window(None, *span, busiest)]
    by_number = defaultdict(list)
    for step in steps:
        by_number[step[0]].append(step)
    host = []
    for number, group in by_number.items():
        first = min(group, key=lambda step: step[1])
        host.append(Window(number, first[1], max(step[2] for step in group), first[3]))
    host.sort(key=lambda window: (window.start, window.iteration))
    if clock == "host" or ends is None:
        return host
    first = host[0]
    first_end = ends.get(first.iteration, first.end)
    reached = max([first.start] + [end for start, end in backlog if start < first_end])
    if len(host) == 1 and reached == first.start:
        return [first._replace(end=max(first.end, first_end))]
    result = []
    for window in host:
        reach = max(reached, ends.get(window.iteration, window.end))
        result.append(window._replace(start=reached, end=reach))
        reached = reach
    return result


def windows_of(file, clock):
    work = [row for row in file.rows if oracle.is_device_work(row) and takes_part(row)]
    ends = {}
    for row in work:
        ends[row.iteration] = max(ends.get(row.iteration, end(row)), end(row))
    threads = {row.event: thread_of(row) for row in file.rows}
    steps = [(step.iteration, step.ts_ns, step.end_ns, threads[step.event]) for step in file.steps]
    operators = Counter(thread_of(row) for row in file.rows if row.cat in OPERATORS) or Counter(
        thread_of(row) for row in file.rows if row.cat == "user_annotation")
    busiest = max(operators, key=operators.get) if operators else None
    return windows(steps, ends if work else None, clock, (file.first_ns, file.last_ns), busiest,
                   [(row.ts_ns, end(row)) for row in backlog(file.rows) if takes_part(row)])


# ---- A11 ------------------------------------------------------------------

def innerness(row):
    return row.ts_ns, -row.dur_ns, row.event


def label(holding, level):
    """A thread's name at an instant, from the host events that contain it."""
    found = labelling(holding, level)
    return stable(found.name) if found else None


def labelling(holding, level):
    """The event that has the name."""
    events = [row for row in holding if not oracle.is_call(row)]
    operators = [row for row in events if row.cat in OPERATORS]
    outermost = [min(group, key=innerness) for group in (operators, events) if group]
    innermost = [max(group, key=innerness) for group in (operators, events) if group]
    if level == "annotation":
        found = [max(group, key=innerness) for group in
                 ([row for row in events if row.cat == "user_annotation"],) if group]
    elif level == "module":
        modules = [row for row in events if row.name.startswith("nn.Module: ")]
        found = [max(modules, key=innerness)] if modules else outermost
    else:
        found = outermost if level == "top_op" else innermost
    return found[0] if found else None


def of_xla(work, launch):
    """A17: {level: label} for device work; {} without information from XLA."""
    if work.hlo_op is None or work.correlation is None or launch is None:
        return {}
    graph = oracle.is_call(launch) and "GraphLaunch" in (launch.name or "")
    name = re.sub(r"(?<=.)([._][0-9]+)+\Z", "", stable(work.name if graph else work.hlo_op), flags=re.DOTALL)
    found = {"op": name, "top_op": name, "top_name": name}
    if work.hlo_module is not None:
        found["module"] = stable(work.hlo_module)
    return found


def is_frame(row):
    """L4"""
    return row.cat == "python_function" and not row.name.startswith("nn.Module: ")


def is_own_frame(row):
    """Whether a frame is outside PyTorch and the standard library, by the paths in the test's names."""
    path = re.match(r"([^<(][^(]*)\([0-9]+\): .", row.name)
    return is_frame(row) and path is not None and re.split(r"[/.]",
                                                           path[1])[0] not in ("torch", "threading", "contextlib")


# ---- A3 to A9 -------------------------------------------------------------

COPIES_THAT_WAIT = ("cudaMemcpy", "hipMemcpy", "hipMemcpyWithStream")


class Attributed:
    """A file whose instants can be looked up."""

    def __init__(self, file):
        self.rows = {row.event: row for row in file.rows}
        self.work = [row for row in file.rows if oracle.is_device_work(row) and takes_part(row)]
        self.lost = self.replays_not_recorded(file)
        self.steps = file.steps
        steps = {row.event for row in file.rows if oracle.is_step(row)}
        if not self.steps_are_work(file):
            steps |= {step.event for step in file.steps}
        self.threads = defaultdict(list)
        for row in file.rows:
            if row.device == "CPU" and takes_part(row) and row.event not in steps:
                self.threads[thread_of(row)].append(row)

    @staticmethod
    def steps_are_work(file):
        """A11.1: the steps of a pattern all have one name, and no other event on their threads starts inside them."""
        marks = [mark.row for mark in file.step_marks]
        return (file.by_pattern and len(marks) > 1 and len({row.name for row in marks}) == 1 and not any(
            row.device == "CPU" and takes_part(row) and row.event != mark.event and thread_of(row) == thread_of(mark)
            and mark.ts_ns <= row.ts_ns < end(mark) for mark in marks for row in file.rows))

    def replays_not_recorded(self, file):
        """A4: (start, end) for each graph launch without kernels; end is None if it never ends."""
        graphs = [row for row in file.rows if oracle.is_call(row) and "GraphLaunch" in (row.name or "")
                  and row.ts_ns is not None]
        recorded = {row.correlation for row in graphs if row.link is not None}
        lost = []
        for graph in graphs:
            if graph.link is not None or graph.correlation in recorded:
                continue
            after = [row.ts_ns for row in self.work if row.link is not None and self.rows[row.link].ts_ns > graph.ts_ns]
            lost.append((graph.ts_ns + (graph.dur_ns or 0), min(after, default=None)))
        return lost

    def holding(self, thread, instant):
        return [row for row in self.threads.get(thread, ()) if row.ts_ns <= instant < end(row)]

    def step_at(self, instant):
        """T11.1: the number of the step that contains an instant."""
        holding = [step for step in self.steps if step.ts_ns <= instant < step.end_ns]
        return max(holding, key=lambda step: (step.ts_ns, step.event)).iteration if holding else None

    def gap(self, thread, instant):
        """A5.4: the name of an instant at which a thread is in no event."""
        step = self.step_at(instant)
        if self.steps and step is None:
            return None
        around = [row for row in self.threads.get(thread, ())
                  if (not self.steps or row.iteration == step) and not is_frame(row)]
        before = max((row for row in around if end(row) <= instant), default=None,
                     key=lambda row: (end(row), *map(operator.neg, innerness(row))))
        after = min((row for row in around if row.ts_ns > instant), default=None, key=innerness)
        if before and after:
            return f"between {stable(before.name)} and {stable(after.name)}"
        return f"before {stable(after.name)}" if after else f"after {stable(before.name)}" if before else None

    def function(self, thread, holding):
        """L4.5: the function among the events that contain an instant, when the thread is only in frames."""
        found = min((row for row in holding if is_own_frame(row) and self.is_within_gap(thread, row)), default=None,
                    key=innerness)
        return found and re.sub(r"^(?:[^(]*/)?([^(/]*)\([0-9]+\)", r"\1", found.name)

    def is_within_gap(self, thread, frame):
        others = [row for row in self.threads[thread] if not is_frame(row)]
        bounds = [bound for step in self.steps for bound in (step.ts_ns, step.end_ns)]
        return (not any(row.ts_ns < end(frame) and frame.ts_ns < end(row) for row in others)
                and len({self.step_at(instant) for instant in (frame.ts_ns, *(
                    bound for bound in bounds if frame.ts_ns < bound < end(frame)))}) == 1)

    def host(self, threads, instant, level):
        """A5: the first thread with a recorded event decides; the host's step thread is last."""
        classes = ("idle_call", "idle_host", "idle_unrecorded") if self.work else ("call", "host", "unrecorded")
        for thread in threads:
            holding = self.holding(thread, instant)
            if holding:
                inner = max(holding, key=innerness)
                if oracle.is_call(inner):
                    return classes[0], stable(inner.name)
                return classes[1], self.label(holding, level, lambda: self.function(thread, holding)
                                              or self.gap(thread, instant))
        return classes[2], self.gap(threads[-1], instant)

    def label(self, holding, level, otherwise=lambda: None, work=None):
        """L4 with level 'top_name', where `work` is the name in case 3 and `otherwise` gives cases 5 and 6."""
        found = label(holding, "top_op" if level == "top_name" else level)
        if level != "top_name" or not found or labelling(holding, "top_op").cat != "python_function":
            return found
        modules = [row for row in holding if row.name.startswith("nn.Module: ") and not oracle.is_call(row)]
        own = [row for row in holding if is_own_frame(row)]
        if label(holding, "annotation"):
            return label(holding, "annotation")
        if not modules:
            others = [row for row in holding if not is_frame(row)]
            return work or (stable(max(others, key=innerness).name) if others else otherwise() or "Python")
        module = max(modules, key=innerness)
        name = re.sub(r"_[0-9]+\Z", "", module.name[len("nn.Module: "):])
        inner = max(own, key=innerness, default=None)
        return f"{name}.{inner.name.split('): ', 1)[1]}" if inner and innerness(inner) > innerness(module) else name

    def of_launch(self, launch, level, work=None):
        return self.label(self.holding(thread_of(launch), launch.ts_ns), level, work=work) if launch else None

    def of_work(self, work, level):
        told = of_xla(work, self.rows.get(work.link))
        if level in told:
            return told[level]
        found = self.of_launch(self.rows[work.link], level, stable(work.name))
        return stable(work.name) if level == "top_name" and found is None else found

    def idle(self, window, instant, level):
        """A4 to A7, for an instant without device work."""
        if any(start <= instant and (until is None or instant < until) for start, until in self.lost):
            return "idle_unrecorded", None
        coming = [row for row in self.work if row.ts_ns > instant]
        next_ = min(coming, key=lambda row: (row.ts_ns, row.event), default=None)
        launch = self.rows.get(next_.link) if coming else None
        if launch is None or launch.ts_ns >= window.end:
            return self.host([window.thread], instant, level)
        if instant < launch.ts_ns:
            return self.host([thread_of(launch), window.thread], instant, level)
        launched = launch.ts_ns + (launch.dur_ns or 0)
        if instant < launched:
            return "idle_launch", stable(launch.name)
        free = max([launched] + [end(row) for row in self.work if row.ts_ns < next_.ts_ns])
        if next_.ts_ns - free > LONGEST_WAIT:
            return "idle_unrecorded", None
        return "idle_wait", self.of_launch(launch, level)

    def at(self, window, instant, level):
        """(class, name) for an instant."""
        running = [row for row in self.work if row.ts_ns <= instant < end(row)]
        for type_, class_ in CLASSES.items():
            owners = [row for row in running if kind(row) == type_]
            if owners:
                owner = min(owners, key=lambda row: (row.ts_ns, row.event))
                if class_ == "comm" or level == "kernel" or owner.link is None:
                    return class_, stable(owner.name)
                return class_, self.of_work(owner, level)
        if not self.work:
            return self.host([window.thread], instant, level)
        return self.idle(window, instant, level)

    def area(self, work):
        """A12.7"""
        launch = self.rows.get(work.link)
        holding = self.holding(thread_of(launch), launch.ts_ns) if launch else []
        module, top_op = label(holding, "module"), label(holding, "top_op") or ""
        backward = (top_op.startswith(("autograd::engine", "torch::autograd::AccumulateGrad"))
                    or re.search("Backward[0-9]?$", top_op))
        return (label(holding, "annotation") or (module if module and module.startswith("nn.Module: ") else None)
                or ("backward" if backward else self.of_work(work, "top_name") if launch else None))

    def late(self, window, instant):
        """L9: the threads, of which the first active one names the wait of the device at an instant of class comm; None
        if the host is not late.
        """
        launches = [(self.rows[row.link].ts_ns, row.ts_ns, row.event, self.rows[row.link]) for row in self.work
                    if row.ts_ns > instant and kind(row) == "COMPUTATION" and row.link is not None]
        launch = min(launches, default=None, key=lambda each: each[:3])
        if launch is None or launch[0] <= instant:
            return None
        threads = [thread_of(launch[3]), window.thread]
        inner = next((max(self.holding(thread, instant), key=innerness) for thread in threads
                      if self.holding(thread, instant)), None)
        if inner and oracle.is_call(inner) and ("Synchronize" in inner.name or inner.name in COPIES_THAT_WAIT):
            return None
        return threads[launch[0] >= window.end:]

    def changes(self, window):
        """The instants of a window at which anything can change, and its end."""
        instants = {window.start, window.end}
        for row in self.rows.values():
            if row.ts_ns is not None:
                instants |= {row.ts_ns, row.ts_ns + (row.dur_ns or 0)}
        return sorted(instant for instant in instants if window.start <= instant <= window.end)


def attribute(file, clock, chosen, attributed=None, levels=LEVELS):
    """{level: Counter of ns by (iteration, class, name)} for the windows of the selected steps; None selects all."""
    result = {level: Counter() for level in levels}
    attributed = attributed or Attributed(file)
    for window in windows_of(file, clock):
        if chosen is not None and window.iteration not in chosen:
            continue
        for level in levels:
            if window.start >= window.end:
                result[level][window.iteration, None, None] = 0
                continue
            instants = attributed.changes(window)
            for start, until in zip(instants, instants[1:]):
                result[level][window.iteration, *attributed.at(window, start, level)] += until - start
    return result
