"""An independent reader of XLA profiles, by rules Y1 to Y6.

It parses protobuf's wire format without generated code. It writes the profile in XLA's JSON format, with the content
that XLA's own JSON leaves out, so that oracle.py can make rows of it.

    document = as_document(open("host.xplane.pb", "rb").read())     # strict JSON, except for Numbers
    trace = read_trace("host.xplane.pb")                            # like oracle.read_trace()
"""
import gzip
import json
import struct
from decimal import Decimal

import oracle
from oracle import Number

KINDS = {0: "varint", 1: "fixed64", 2: "bytes", 5: "fixed32"}
PLACEHOLDER = {"ph": "C", "name": "no row"}  # not an event
DEVICES = ("/device:GPU:", "/device:TPU:", "/device:CUSTOM:")


class Broken(ValueError):
    """Bytes that are not a message; `fields` are the fields before the damage."""


def varint(data, at):
    value = 0
    for shift in range(0, 70, 7):
        if at == len(data):
            raise Broken("cut")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            if value >> 64:
                raise Broken("more than 64 bits")
            return value, at
    raise Broken("more than 10 bytes")


def fields(data):
    """(number, type, value) of a message; raises Broken at damage."""
    at, groups = 0, []
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if not 1 <= number < 1 << 29:
            raise Broken("field number")
        if kind == 3:
            groups.append(number)
            if len(groups) > 64:
                raise Broken("groups")
            continue
        if kind == 4:
            if not groups or groups.pop() != number:
                raise Broken("group")
            continue
        if kind == 0:
            value, at = varint(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            if len(data) - at < size:
                raise Broken("cut")
            value, at = data[at:at + size], at + size
        elif kind == 2:
            size, at = varint(data, at)
            if size > len(data) - at:
                raise Broken("cut")
            value, at = data[at:at + size], at + size
        else:
            raise Broken("type")
        if not groups:
            yield number, KINDS[kind], value
    if groups:
        raise Broken("group")


def whole_fields(data):
    """The fields up to the damage, and whether there is any."""
    found = []
    try:
        for field in fields(data):
            found.append(field)
    except Broken:
        return found, True
    return found, False


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def last(found, number, kind, default):
    return next((value for n, k, value in reversed(found) if n == number and k == kind), default)


def utf8(data):
    return data.decode("utf-8", "replace")


def entry(data):
    """(key, value) of an entry of a map."""
    found, _ = whole_fields(data)
    return signed(last(found, 1, "varint", 0)), last(found, 2, "bytes", b"")


class Plane:
    def __init__(self, data):
        self.stat_names, self.event_names, self.lines, self.id, self.name, self.stats = {}, {}, [], 0, None, []
        for number, kind, value in fields(data):
            if (number, kind) == (1, "varint"):
                self.id = signed(value)
            elif (number, kind) == (2, "bytes"):
                self.name = self.name or utf8(value)
            elif (number, kind) == (3, "bytes"):
                self.lines.append(Line(value))
            elif (number, kind) == (4, "bytes"):
                key, message = entry(value)
                self.event_names[key] = whole_fields(message)[0]
            elif (number, kind) == (5, "bytes"):
                key, message = entry(value)
                self.stat_names[key] = utf8(last(whole_fields(message)[0], 2, "bytes", b""))
            elif (number, kind) == (6, "bytes"):
                self.stats.append(value)
        self.name = self.name or ""

    def stat(self, data):
        """(key, value) of a stat; None if unknown."""
        found, _ = whole_fields(data)
        key = self.stat_names.get(signed(last(found, 1, "varint", 0)))
        value = None
        for number, kind, written in found:
            if (number, kind) == (2, "fixed64"):
                value = struct.unpack("<d", written)[0]
            elif (number, kind) == (3, "varint"):
                value = written
            elif (number, kind) == (4, "varint"):
                value = signed(written)
            elif (number, kind) == (5, "bytes"):
                value = utf8(written)
            elif (number, kind) == (6, "bytes"):
                value = None
            elif (number, kind) == (7, "varint"):
                value = self.stat_names.get(signed(written))
        return key, value

    def stats_of(self, found, number):
        return [self.stat(value) for n, kind, value in found if (n, kind) == (number, "bytes")]

    def event(self, line, data):
        """The event in JSON form."""
        found, broken = whole_fields(data)
        if broken:
            return None
        number = [(n, value) for n, kind, value in found if kind == "varint" and n in (2, 5)]
        if number and number[-1][0] == 5:
            return None
        name_of = self.event_names.get(signed(last(found, 1, "varint", 0)))
        stats = [] if name_of is None else self.stats_of(name_of, 5)
        args = {}
        for key, value in stats + self.stats_of(found, 4):
            if key is not None and value is not None:
                args[key] = value
        event = {"ph": "X", "args": args, "ts": time(line.timestamp * 1000 + signed(last(found, 2, "varint", 0))),
                 "dur": time(signed(last(found, 3, "varint", 0)))}
        if name_of is not None:
            event["name"] = utf8(last(name_of, 4, "bytes", b"") or last(name_of, 2, "bytes", b""))
        steps = [value for key, value in stats + self.stats_of(found, 4)
                 if key == "step_name" and isinstance(value, str)]
        if steps:
            event["name"] = steps[-1]
        return event


class Line:
    def __init__(self, data):
        found = list(fields(data))
        self.timestamp = signed(last(found, 3, "varint", 0))
        self.tid = (last(found, 10, "varint", 0) or last(found, 1, "varint", 0)) % (1 << 32)
        self.name = utf8(last(found, 11, "bytes", b"") or last(found, 2, "bytes", b""))
        self.events = [value for number, kind, value in found if (number, kind) == (4, "bytes")]


def time(picoseconds):
    """us in JSON notation, with all digits."""
    return Number(format(Decimal(picoseconds).scaleb(-6), "f"))


def planes_of(data):
    """The whole planes, and the first host name."""
    planes, host = [], None
    try:
        for number, kind, value in fields(data):
            if (number, kind) == (1, "bytes"):
                planes.append(Plane(value))
            elif (number, kind) == (4, "bytes"):
                host = host or utf8(value)
    except Broken:
        pass
    return planes, host


def chosen(planes):
    """(pid, plane) for planes whose events become rows."""
    device = next((each for each in DEVICES if any(plane.name.startswith(each) for plane in planes)), None)
    return [(701, plane) for plane in planes if plane.name == "/host:CPU"] + [
        (1 + plane.id, plane) for plane in planes if device and plane.name.startswith(device)]


def read_bytes(path):
    with open(path, "rb") as file:
        data = file.read()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def as_document(data):
    planes, _ = planes_of(data)
    events, names = [], []
    for pid, plane in chosen(planes):
        names.append({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": plane.name}})
        for line in plane.lines:
            names.append({"ph": "M", "name": "thread_name", "pid": pid, "tid": line.tid, "args": {"name": line.name}})
            for each in line.events:
                event = plane.event(line, each)
                events.append(PLACEHOLDER if event is None else {**event, "pid": pid, "tid": line.tid})
    document = {"traceEvents": events + names}
    for plane in planes:
        for key, value in (plane.stat(stat) for stat in plane.stats):
            if plane.name == "Task Environment" and key == "profile_start_time" and isinstance(value, int):
                document["baseTimeNanoseconds"] = value
    return document


def with_numbers(value):
    """Every number as a Number, like in oracle.py."""
    if isinstance(value, dict):
        return {key: with_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [with_numbers(item) for item in value]
    return Number(json.dumps(value)) if isinstance(value, (int, float)) else value


def as_json(value):
    """The document as JSON."""
    if isinstance(value, Number):
        return value.text
    if isinstance(value, dict):
        return "{" + ",".join(json.dumps(key) + ":" + as_json(item) for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(as_json, value)) + "]"
    return json.dumps(value)


def read_trace(path):
    file = oracle.File(path, with_numbers(as_document(read_bytes(path))))
    oracle.read_rows(file)
    return oracle.finish([file])
