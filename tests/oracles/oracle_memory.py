"""An independent implementation of the rules M1 to M11, from a snapshot's dict to allocations, peaks and their parts.
It is slow and plain on purpose.
"""
import io
import pickle
import re

MINOR = re.compile(r"(empty|new_empty|resize|set_)(_.*)?")


class Plain(pickle._Unpickler):  # the C version prints problems to stderr
    """Reads data, and imports nothing."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"{module}.{name}")

    def persistent_load(self, pid):
        raise pickle.UnpicklingError(pid)


def load(content):
    return Plain(io.BytesIO(content)).load()


def labels(frames):
    """op, top_op, node, function, place and phase (M8, M9)."""
    if not frames:
        return None, None, None, None, None, "unknown"
    ops = [m[1] for f in frames for m in [re.search(r"at::_ops::(\w+)::(?:call|redispatch)\(", f["name"])] if m]
    major = [op for op in ops if not MINOR.fullmatch(op)]
    nodes = [m[1] for f in frames for m in [re.search(r"torch::autograd::(?:generated::)?(\w+)::apply\(", f["name"])]
             if m]
    python = [f for f in frames if f["filename"].endswith(".py") or f["filename"].startswith("<")]
    users = [f for f in python if not f["filename"].startswith("<")
             and not re.search(r"(^|[/\\])(site-packages|dist-packages|torch)[/\\]|[/\\]lib[/\\]python[\d.]+[/\\]"
                               r"|^[A-Za-z]:[/\\](.*[/\\])?[Ll]ib[/\\](contextlib|threading)\b", f["filename"])]
    frame = (users or python or [None])[0]
    function = place = None
    if frame:
        file = "/".join(re.split(r"[/\\]", frame["filename"])[-2:])
        function, place = f"{file} {frame['name']}", f"{file}:{frame['line']} {frame['name']}"
    if any("torch::autograd::Engine::" in f["name"] for f in frames):
        phase = "backward"
    elif any(re.search(r"(^|[/\\])torch[/\\]optim[/\\][^/\\]+$", f["filename"]) for f in python):
        phase = "optimizer"
    else:
        phase = "forward"
    return ("aten::" + (major or ops)[0] if ops else None, "aten::" + ops[-1] if ops else None, nodes[0] if nodes
            else None,
            function, place, phase)


def annotation(spans, time):
    """The name of the span around a time, the one that began last."""
    around = [(start, i, name) for i, (start, end, name) in enumerate(spans) if start <= time <= end]
    return max(around)[2] if around else None


def spans_of(snapshot, device):
    spans, open_ones = [], []
    for a in snapshot.get("external_annotations", []):
        if a["device"] != device:
            continue
        if a["stage"] == "START":
            open_ones.append(len(spans))
            spans.append([a["time_us"], float("inf"), a["name"]])
            continue
        same = [i for i in open_ones if spans[i][2] == a["name"]]
        if same:
            spans[same[-1]][1] = a["time_us"]
            open_ones.remove(same[-1])
        else:
            spans.append([float("-inf"), a["time_us"], a["name"]])
    return spans


class Device:
    """A device with its allocations as dicts, its peak, and its reserved memory."""

    def __init__(self, snapshot, number):
        traces = snapshot["device_traces"]
        self.events = traces[number] if number < len(traces) else []
        self.segments = [s for s in snapshot["segments"] if s["device"] == number]
        self.spans = spans_of(snapshot, number)
        self.problems = {}
        self.allocations = []
        self.find_allocations()
        self.find_peak()

    def problem(self, what):
        self.problems[what] = self.problems.get(what, 0) + 1

    def add(self, addr, size, begin, end, frames):
        self.allocations.append({"addr": addr, "bytes": size, "begin": begin, "end": end, "frames": frames})
        return self.allocations[-1]

    def find_allocations(self):
        open_ones = {}
        for i, e in enumerate(self.events):
            if e["action"] == "alloc":
                if e["addr"] in open_ones:
                    open_ones.pop(e["addr"])["end"] = i
                    self.problem("alloc at an address that is in use")
                open_ones[e["addr"]] = self.add(e["addr"], e["size"], i, None, e.get("frames"))
            elif e["action"] == "free_completed":
                if e["addr"] in open_ones:
                    open_ones.pop(e["addr"])["end"] = i
                else:
                    self.add(e["addr"], e["size"], None, i, None)
        seen = set()
        for s in self.segments:
            at = s["address"]
            for b in s["blocks"]:
                at = b.get("address", at)
                if b["state"].startswith("active"):
                    if at in seen:
                        self.problem("second block at an address")
                    elif at not in open_ones:
                        self.add(at, b["requested_size"], None, None, b.get("frames"))
                    elif open_ones[at]["bytes"] != b["requested_size"]:
                        self.problem("block of another size than its alloc")
                    seen.add(at)
                at += b["size"]
        for addr in open_ones:
            if addr not in seen:
                self.problem("allocation that is open at the end without a block")

    def alive(self, event):
        return [a for a in self.allocations
                if (a["begin"] is None or a["begin"] <= event) and (a["end"] is None or a["end"] > event)]

    def allocated(self):
        """Bytes before the first event, and after each event."""
        deltas = [0] * (len(self.events) + 1)
        for a in self.allocations:
            deltas[0 if a["begin"] is None else a["begin"] + 1] += a["bytes"]
            if a["end"] is not None:
                deltas[a["end"] + 1] -= a["bytes"]
        for i in range(1, len(deltas)):
            deltas[i] += deltas[i - 1]
        return deltas

    def reserved(self, event):
        since = sum(e["size"] * {"segment_alloc": 1, "segment_map": 1, "segment_free": -1,
                                 "segment_unmap": -1}.get(e["action"], 0)
                    for e in self.events[event + 1:])
        return sum(s["total_size"] for s in self.segments) - since

    def find_peak(self):
        sums = self.allocated()
        self.peak_bytes = max(sums)
        self.peak_event = sums.index(self.peak_bytes) - 1
        self.end_bytes = sums[-1]

    def label(self, a):
        op, top_op, node, function, place, phase = labels(a["frames"])
        name = None
        if a["begin"] is None:
            phase = "before"
        elif "time_us" in self.events[a["begin"]]:
            name = annotation(self.spans, self.events[a["begin"]]["time_us"])
        return {"op": op, "top_op": top_op, "node": node, "function": function, "place": place, "phase": phase,
                "annotation": name}

    def parts(self, by):
        """Bytes and blocks at the peak by the values of keys."""
        made = {}
        for a in self.alive(self.peak_event):
            label = self.label(a)
            key = tuple(label[k] for k in by)
            size, blocks = made.get(key, (0, 0))
            made[key] = size + a["bytes"], blocks + 1
        return made


def devices(snapshot):
    numbers = {i for i, d in enumerate(snapshot["device_traces"]) if d} | {s["device"] for s in snapshot["segments"]}
    return {number: Device(snapshot, number) for number in sorted(numbers)}


def nearest(numerator, denominator):
    """A quotient rounded to the nearest integer, with halves away from 0."""
    sign = -1 if numerator < 0 else 1
    return sign * ((2 * abs(numerator) + denominator) // (2 * denominator))


def diff(control, test):
    """Rows of M10 for the parts of two devices."""
    made = {}
    for key in {**control, **test}:
        (b1, n1), (b2, n2) = control.get(key, (0, 0)), test.get(key, (0, 0))
        blocks = nearest((n2 - n1) * b1, n1) if n1 and n2 else b2 - b1
        made[key] = b1, b2, b2 - b1, n1, n2, blocks, b2 - b1 - blocks
    return made
