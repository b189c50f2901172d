"""An independent and plain reader of Perfetto traces, by the rules U1 to U12, from the bytes."""

import gzip
import json
import math
import struct

CLEARED, NEEDS_STATE = 1, 2
NEVER = -1 << 63  # for an event without a time
PHASES = {1: "X", 2: "E", 3: "i", 4: "C"}
CATEGORIES = {
    "Memcpy": "gpu_memcpy",
    "Memset": "gpu_memset",
    "Annotation": "gpu_user_annotation",
    "EventRecord": "graph_event_node",
    "HostNode": "graph_host_node",
}


class Broken(Exception):
    pass


def varint(data, at):
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise Broken
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            if value >= 1 << 64:
                raise Broken
            return value, at
    raise Broken


def fields(data):
    """(number, value) of a message: integers, bytes, or the raw 8 and 4 bytes of fixed sizes."""
    at, found = 0, []
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if not 1 <= key >> 3 < 1 << 29 or kind not in (0, 1, 2, 5):
            raise Broken
        if kind == 0:
            value, at = varint(data, at)
        else:
            length = {1: 8, 5: 4}.get(kind)
            if kind == 2:
                length, at = varint(data, at)
            value, at = data[at : at + length], at + length
            if at > len(data):
                raise Broken
        found.append((key >> 3, value))
    return found


def first(message, number, other=None):
    return next((value for key, value in message if key == number), other)


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def text(value):
    return value.decode("utf-8", "replace")


def packed(value):
    """The integers of a repeated field, packed or not."""
    found, at = [], 0
    while isinstance(value, bytes) and at < len(value):
        number, at = varint(value, at)
        found.append(number)
    return found if isinstance(value, bytes) else [value]


class Sequence:
    def __init__(self, number):
        self.id = number
        self.texts, self.lost, self.clock, self.track, self.clocks, self.back = {}, True, 6, None, {}, False


class Trace:
    """The rows of a trace as dicts, in file order."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        self.sequences, self.tracks, self.rows, self.edges = {}, {}, [], []
        self.clocks, self.base, self.events, self.gpus = {}, None, 0, {}
        for number, value in fields(data):
            if number == 1:
                self.packet(value)
        self.pair()
        for row in self.rows:
            if row["ph"] == "C" and not isinstance(row["track"], tuple):
                row["name"] = self.tracks.get(row["track"], {}).get("name")
            row["pid"], row["tid"] = self.place(row.pop("track"))
            if row["ts"] is not None:
                row["ts"] += self.base or 0
        self.mend()

    def mend(self):
        """I2, as far as packets allow: an event that ends too long after all others begin has no duration of its
        own.
        """
        timed = [row for row in self.rows if row["ph"] in "XB" and row["ts"] is not None]
        starts = [row["ts"] for row in timed]
        for row in timed:
            after = row["ts"] + (row["dur"] or 0) - max(starts)
            if after > max(60 * 10**9, max(starts) - min(starts)):
                row["dur"], row["mended"] = None, True

    def packet(self, data):
        event, self.events = self.events, self.events + 1
        try:
            message = fields(data)
        except Broken:
            return
        sequence = self.sequences.setdefault(first(message, 10, 0), Sequence(first(message, 10, 0)))
        flags = first(message, 13, 0)
        if first(message, 42, 0):
            sequence.lost = True
        if flags & CLEARED:
            sequence.texts, sequence.lost, sequence.clock, sequence.track = {}, False, 6, None
        defaults = first(message, 59)
        if defaults is not None:
            sequence.clock = first(fields(defaults), 58, 6)
            sequence.track = first(fields(first(fields(defaults), 11, b"")), 11)
        if first(message, 6) is not None:
            self.snapshot(sequence, fields(first(message, 6)))
        for kind, entry in fields(first(message, 12, b"")):
            entry = fields(entry)
            sequence.texts[kind, first(entry, 1, 0)] = text(first(entry, 2, b""))
        ts = first(message, 8)
        if ts is not None:
            ts = self.time(sequence, first(message, 58, sequence.clock), ts)
        if sequence.lost and flags & NEEDS_STATE:
            return
        for number, value in message:
            if number == 60:
                self.describe(fields(value))
            elif number == 11:
                self.track_event(event, sequence, ts, fields(value))
            elif number == 53:
                self.stage(event, sequence, ts, fields(value))

    def snapshot(self, sequence, message):
        shown = {first(clock, 1): clock for clock in (fields(value) for key, value in message if key == 1)}
        now = (
            first(shown[6], 2)
            if 6 in shown
            else next(
                (at(first(clock, 2)) for key, clock in shown.items() for at in [self.clocks.get(key)] if at), None
            )
        )
        if now is None:
            return
        for key, clock in shown.items():
            start, unit, state = first(clock, 2, 0), first(clock, 4, 1) or 1, [0]

            def at(value, start=start, unit=unit, state=state, sums=first(clock, 3, 0)):
                if sums:
                    state[0] += value
                    return now + state[0] * unit
                return now + (value - start) * unit

            (sequence.clocks if 64 <= key < 128 else self.clocks)[key] = at
        if 1 in shown and self.base is None:
            self.base = first(shown[1], 2) - now

    def time(self, sequence, clock, value):
        if clock == 6:
            return value
        at = (sequence.clocks if 64 <= clock < 128 else self.clocks).get(clock)
        return at(value) if at else None

    def describe(self, message):
        track = self.tracks.setdefault(first(message, 1, 0), {})
        if first(message, 5):
            track["parent"] = first(message, 5)
        for number, key in ((3, "process"), (4, "thread")):
            if first(message, number) is not None:
                owner = fields(first(message, number))
                track[key] = (first(owner, 1, 0), first(owner, 2))
                if key == "thread" and first(owner, 5) is not None:
                    track["name"] = text(first(owner, 5))
        if first(message, 2) is not None:
            track["name"] = text(first(message, 2))

    def place(self, track):
        """U7, U9.2"""
        if isinstance(track, tuple):
            return track
        own, of = self.tracks.get(track, {}), self.tracks.get(track)
        while of is not None and "thread" not in of and "process" not in of:
            of = self.tracks.get(of.get("parent"))
        pid = None if of is None else (of.get("thread") or of.get("process"))[0]
        if "thread" in own:
            return pid, own["thread"][1]
        return pid, None if "process" in own else own.get("name", track)

    def annotation(self, sequence, message):
        name = first(message, 10)
        name = sequence.texts.get((3, first(message, 1)), "") if name is None else text(name)
        return name, self.value(sequence, message)

    def value(self, sequence, message):
        for key, value in message:
            if key == 2:
                return bool(value)
            if key in (3, 7):
                return value
            if key == 4:
                return signed(value)
            if key == 5:
                (number,) = struct.unpack("<d", value)
                return (
                    number
                    if math.isfinite(number)
                    else "NaN" if math.isnan(number) else f"{'-' * (number < 0)}Infinity"
                )
            if key == 6:
                return text(value)
            if key == 9:
                return json.loads(value)
            if key == 17:
                return sequence.texts[29, value]
            if key == 11:
                return dict(self.annotation(sequence, fields(each)) for number, each in message if number == 11)
            if key == 12:
                return [self.value(sequence, fields(each)) for number, each in message if number == 12]
        return []

    def track_event(self, event, sequence, ts, message):
        phase = PHASES.get(first(message, 9))
        track = first(message, 11, sequence.track) or (None, sequence.id)
        if phase == "E":
            self.edges.append((track, ts, sequence, None))
        if phase in (None, "E"):
            return
        categories = []
        for key, value in message:
            if key == 22:
                categories.append(text(value))
            elif key == 3:
                categories += [sequence.texts.get((1, iid)) for iid in packed(value)]
        name = (
            text(first(message, 23)) if first(message, 23) is not None else sequence.texts.get((2, first(message, 10)))
        )
        if phase == "C":
            name = None
        args = dict(self.annotation(sequence, fields(value)) for key, value in message if key == 4)
        if not categories and "cuda_sync_kind" in args:
            categories = ["cuda_sync"]
        stream, correlation = (
            args[key] if type(args.get(key)) is int and args[key] < 1 << 63 else None
            for key in ("stream", "correlation")
        )
        if phase == "C":
            args = {"": signed(first(message, 30))}
        self.rows.append(
            {
                "event": event,
                "ph": phase,
                "name": name,
                "cat": ",".join(filter(None, categories)) or None,
                "ts": ts,
                "dur": None,
                "track": track,
                "stream": stream,
                "correlation": correlation,
                "args": args or None,
            }
        )
        if phase == "X":
            self.edges.append((track, ts, sequence, self.rows[-1]))

    def stage(self, event, sequence, ts, message):
        queue, stage = (sequence.texts.get((24, first(message, number))) for number in (13, 14))
        name = sequence.texts.get((2, first(message, 20)), stage)
        number = queue[1 : queue.index("]")] if queue and queue[0] == "[" and "]" in queue else ""
        tid = int(number) if number.isdigit() else queue
        extra = {
            text(first(datum, 1)): text(first(datum, 2))
            for datum in (fields(value) for key, value in message if key == 6)
        }
        self.rows.append(
            {
                "event": event,
                "ph": "X",
                "name": name,
                "cat": CATEGORIES.get(stage, "kernel"),
                "ts": ts,
                "dur": first(message, 2),
                "track": (first(message, 11, 0), tid),
                "stream": tid if number.isdigit() else None,
                "correlation": None,
                "args": extra or None,
            }
        )

    def pair(self):
        """U6"""
        blocks, last = {}, {}  # by track
        for track, ts, sequence, row in self.edges:
            ts = NEVER if ts is None else ts
            found = blocks.setdefault(track, [])
            if not found or row is not None and found[-1]["ends"]:
                if found:
                    found[-1]["so"] = all(owner.back for owner in found[-1]["owners"])
                found.append({"begins": [], "ends": [], "owners": set(), "back": False, "so": None})
            block, before = found[-1], last.get(track)
            back = before is not None and ts < before[0]
            block["back"] |= back and bool(block["owners"])
            if back and before[1] is sequence:
                sequence.back = True
            last[track] = (ts, sequence)
            block["owners"].add(sequence)
            block["ends" if row is None else "begins"].append((ts, row))
        for found in blocks.values():
            left = []
            for block in found:
                begins, ends = block["begins"], block["ends"]
                starts, stops = [ts for ts, _ in begins], [ts for ts, _ in ends]
                whole = (
                    0 < len(begins) == len(ends)
                    and len(block["owners"]) == 1
                    and NEVER not in starts + stops
                    and all(start <= stop for start, stop in zip(starts, stops))
                )
                crosses = whole and starts[0] < starts[-1] < stops[0] < stops[-1]
                so = all(owner.back for owner in block["owners"]) if block["so"] is None else block["so"]
                if whole and (block["back"] or (so and not crosses)):
                    for (start, row), (stop, _) in zip(begins, ends):
                        row["dur"] = stop - start
                else:
                    left += begins + ends
            stack = []
            for ts, row in sorted((edge for edge in left if edge[0] != NEVER), key=lambda edge: edge[0]):
                if row is not None:
                    stack.append((ts, row))
                elif stack:
                    start, open_row = stack.pop()
                    open_row["dur"] = ts - start
