"""Random XLA profiles (*.xplane.pb), valid and invalid.

    data = generate(random.Random(7))       the bytes
    /usr/bin/python3 tests/generators/generate_xplane.py 7 x.xplane.pb
"""
import random
import struct
import sys

KERNELS = ("loop_fusion.kd", "__amd_rocclr_copyBuffer.kd", "ncclDevKernel_AllReduce", "gemm", "caf\u00e9",
           b"bad\xff\xc3utf8", "")
CALLS = ("hipModuleLaunchKernel", "hipMemcpyAsync", "PjRt::Execute", "Wait", "$file.py:12 f")
STATS = ("correlation_id", "hlo_op", "hlo_module", "program_id", "flops", "bytes_accessed", "hlo_category", "step_name",
         "Stream Id", "step_num", "occupancy", "_pt", "jit_f", "fusion.1", "tf_op", "12", "x\"y\\\n")
LINES = ("Stream #1(Kernel)", "Stream #2", "XLA Ops", "XLA Modules", "Steps", "Framework Ops", "python", "")
PLANES = (("/host:CPU", "/device:GPU:0", "/device:GPU:1"), ("/device:TPU:0", "/host:CPU"), ("/host:CPU",),
          ("/device:CUSTOM:0", "/host:CPU"), ("/device:GPU:0", "/device:CUSTOM:0", "/host:CPU", "/host:CPU"))
ODD = (0, 1, -1, 2**31, 2**63 - 1, -2**63, 2**64 - 1, 500, 1500, 2500)


def varint(value):
    value %= 1 << 64
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    return bytes((*written, value))


def field(number, value):
    """A field: an int is a varint, a float is a fixed64; texts, bytes and lists of fields are bytes."""
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, list):
        value = b"".join(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


class Plane:
    def __init__(self, rng, name, number, tidy):
        self.rng, self.name, self.number, self.tidy = rng, name, number, tidy
        self.stats = {text: i for i, text in enumerate(STATS, 1)}
        texts = KERNELS[:4] if tidy else KERNELS
        self.events = dict(enumerate(texts if "device" in name else CALLS, 1))
        if not tidy and rng.random() < 0.3:
            self.events = {rng.choice((-key, key * 2**40, key)): text for key, text in self.events.items()}

    def chance(self, probability):
        return not self.tidy and self.rng.random() < probability

    def stat(self, key, value):
        if self.chance(0.03):
            return [field(1, self.stats[key]), *self.rng.choice(([], [field(2, 5)], [field(5, 7)], [field(6, b"\0")],
                                                                 [field(7, 999)], [b"\x1c\x08\x01\x1b"], [b"\xff" * 11],
                                                                 [field(8, "x"), field(4, -7)]))]
        number = {int: 4, float: 2, str: 5, bytes: 5}[type(value)]
        if isinstance(value, int) and self.rng.random() < 0.5:
            number = 3
        if value in self.stats:
            number, value = 7, self.stats[value]
        return [field(1, self.stats[key] if not self.chance(0.02) else 77), field(number, value)]

    def some_stats(self, correlation):
        rng = self.rng
        stats = [] if correlation is None else [("correlation_id", correlation)]
        if self.chance(0.05):
            stats = [("correlation_id", rng.choice(("12", "x", -1, 2**63 - 1, 1.5)))]
        stats += rng.choice(([], [("hlo_op", "fusion.1"), ("hlo_module", "jit_f"), ("program_id", 17)],
                             [("flops", 2**40), ("bytes_accessed", 4096), ("hlo_category", "fusion.1")],
                             [("occupancy", rng.choice((0.5, 1e300, -0.0, 3.0)))]))
        if correlation is None and rng.random() < 0.1:
            stats.append(("step_num", rng.choice((0, 3, "4", 5, -1, "x", 2**63 - 1, 1.5))))
        if self.chance(0.1):
            stats += rng.choice(([("step_name", "7")], [("Stream Id", "3")], [("Stream Id", 4)],
                                 [("hlo_op", "again")], [("x\"y\\\n", "\u0001\"\\")], [("_pt", b"\xc3(")],
                                 [("step_name", 5)]))
        return stats

    def event(self, offset, correlation):
        rng = self.rng
        name = rng.choice(list(self.events)) if not self.chance(0.02) else 12345
        parts = [field(1, name), field(2, offset if not self.chance(0.03) else rng.choice(ODD)),
                 field(3, rng.choice((0, 500, 1500, 2500, 10**6, 5 * 10**6)) if not self.chance(0.03)
                       else rng.choice(ODD))]
        parts += [field(4, self.stat(*stat)) for stat in self.some_stats(correlation)]
        if self.chance(0.03):
            parts.append(rng.choice((field(5, 3), field(9, "unknown"), field(2, b"text"), b"\x0b\x08\x01\x0c",
                                     b"\x7f", b"\x08" + b"\x80" * 10 + b"\x01", b"\x12\x7f", field(1, 1.0))))
        if self.chance(0.1):
            rng.shuffle(parts)
        return field(4, parts)

    def line(self, number, name, events):
        rng = self.rng
        start = rng.choice((0, 1000, 911061))
        parts = [field(1, number), field(2, name), field(3, start),
                 *(self.event(at, correlation) for at, correlation in events)]
        if self.chance(0.3):
            parts += rng.choice(([field(10, 2**40 + 7)], [field(10, 0)], [field(11, "Stream #9")], [field(11, "")],
                                 [field(9, 10**9)], [field(1, 2**63 + number)]))
        return field(3, parts)

    def event_name(self, key, text):
        message = [field(1, key), field(2, text)]
        if self.chance(0.2):
            message += self.rng.choice(([field(4, "shown")], [field(4, "")], [field(3, b"\0\1")],
                                        [field(5, self.stat("hlo_op", "jit_f"))],
                                        [field(5, self.stat("step_name", "of the name"))], [b"\x15\0"]))
        return field(4, [field(1, key), field(2, message)])

    def grow(self, lines):
        rng = self.rng
        names = rng.sample(LINES, len(lines)) if not self.tidy else LINES
        parts = [field(1, self.number)] if self.number else []
        parts.append(field(2, self.name))
        parts += [self.line(number, name, events) for (number, name), events in zip(enumerate(names, 1), lines)]
        if self.chance(0.2):
            parts.append(self.line(99, "Stream #99", []))
        parts += [self.event_name(key, text) for key, text in self.events.items()]
        parts += [field(5, [field(1, number), field(2, [field(1, number), field(2, text)])])
                  for text, number in self.stats.items()]
        if self.chance(0.1):
            parts.append(field(4, [field(1, 1), field(2, [field(2, "given twice")])]))
        return field(1, parts)


def generate(rng, tidy=False):
    """The bytes of a profile."""
    names = PLANES[0] if tidy else rng.choice(PLANES)
    work = [(rng.randrange(10**8), rng.choice((None, i))) for i in range(1, rng.randrange(2, 40))]
    programs = field(4, [field(1, 1), field(2, [field(5, [field(6, b"\0" * 99)])])])
    parts = [field(1, [field(2, "/host:metadata"), programs])]
    for number, name in enumerate(names):
        lines = [[] for _ in range(rng.randrange(1, 4))]
        for at, correlation in sorted(work, key=lambda each: each[0]):
            if "host" in name or number == 1 or rng.random() < 0.5:
                rng.choice(lines).append((at, correlation))
        parts.append(Plane(rng, name, number, tidy).grow(lines))
    if tidy or rng.random() < 0.7:
        parts.append(field(1, [field(2, "Task Environment"),
                               field(5, [field(1, 1), field(2, [field(1, 1), field(2, "profile_start_time")])]),
                               field(5, [field(1, 2), field(2, [field(1, 2), field(2, "profile_stop_time")])]),
                               field(6, [field(1, 1), field(3, 1771595639214724894)]),
                               field(6, [field(1, 2), field(3, 1771595639379041182)])]))
    if tidy or rng.random() < 0.5:
        parts.append(field(4, "host\"1\""))
    if not tidy and rng.random() < 0.2:
        parts.append(rng.choice((field(2, "an error"), field(3, "a warning"))))
    return b"".join(parts)


if __name__ == "__main__":
    with open(sys.argv[2], "wb") as made:
        made.write(generate(random.Random(int(sys.argv[1]))))
