"""Random TORCH_TRACE logs, with everything that PyTorch writes and many invalid records.

    generate_compile.py FILE MEGABYTES [SEED] writes a log of that size
"""
import hashlib
import json
import random
import sys
from datetime import datetime, timedelta, timezone

START_US = 1_790_000_000_000_000  # span ends stay within one year
PHASES = ("entire_frame_compile", "backend_compile", "inductor_compile", "code_gen", "bytecode_tracing", "gc")
REASONS = ("0/0: L['k'] == 7   # return x + k  # /job/src/prog.py:31 in many\nUser stack trace:",
           "0/0: tensor 'L['x']' size mismatch at index 0. expected 64, actual 80",
           "0/1: ___check_obj_id(L['act'].__code__, 140296414507728), type=<class 'code'>  # a  # b.py:20 in inner",
           "0/0: len(L['args'][0]) == 1")


class Log:
    """Records as bytes; each advances the clock."""

    def __init__(self, seed, pid=4711, offset_s=0):
        self.random, self.pid, self.offset, self.us = random.Random(seed), pid, offset_s, START_US
        self.parts = []

    def record(self, envelope, payload=None, digest=None):
        self.us += self.random.randrange(1, 3000)
        local = datetime.fromtimestamp(self.us // 1_000_000, timezone.utc) + timedelta(
            seconds=self.offset, milliseconds=self.us // 1000 % 1000)
        if payload is not None:
            envelope = {**envelope, "has_payload": digest or hashlib.md5(payload.encode()).hexdigest()}
        line = f"V{local:%m%d %H:%M:%S}.{local.microsecond:06} {self.pid} torch/a.py:7] {json.dumps(envelope)}\n"
        self.parts.append((line + ("" if payload is None else "\t" + payload.replace("\n", "\n\t") + "\n")).encode())

    def event(self, identity, name, phase, **more):
        ts = self.us + self.random.randrange(10) / 10
        event = {"name": name, "ts": ts, "ph": phase, "cat": "dynamo_timed", **more}
        self.record({"chromium_event": {}, **identity}, json.dumps(event, indent=0))

    def artifact(self, identity, name, payload):
        self.record({"artifact": {"name": name, "encoding": "string"}, **identity}, payload)

    def spans(self, identity, depth=0):
        """Nested spans, some of which do not end, or end twice."""
        for _ in range(self.random.randrange(3)):
            name = self.random.choice(PHASES)
            self.event(identity, name, "B")
            if depth < 4:
                self.spans(identity, depth + 1)
            if self.random.random() < 0.1:
                self.event(identity, "fx_graph_cache_hit", "i")
            for _ in range(self.random.choices((1, 0, 2), (30, 1, 1))[0]):
                self.event(identity, name, "E")

    def compilation(self, frame, number):
        draw = self.random
        identity = {"frame_id": frame, "frame_compile_id": number, "attempt": 0}
        if draw.random() < 0.1:
            identity["compiled_autograd_id"] = 3
        root = draw.choices(("dynamo", "entire_frame_compile", "entire_backward_compile", "tune", None),
                            (8, 2, 2, 1, 2))[0]
        begun = self.us
        if root:
            self.event(identity, root, "B")
        if draw.random() < 0.4:
            reasons = draw.sample(REASONS, draw.randrange(1, 3))
            self.artifact(identity, "recompile_reasons",
                          json.dumps(reasons, indent=0) if draw.random() < 0.5 else reasons[0])
        for attempt in range(draw.choice((1, 1, 2))):
            identity["attempt"] = attempt
            stack = [{"line": draw.randrange(99), "name": f"f{i}", "filename": draw.randrange(4)}
                     for i in range(draw.randrange(4))]
            if draw.random() < 0.8:
                self.record({"dynamo_start": {"stack": stack}, **identity})
            self.spans(identity)
        for cache in ("aotautograd_cache", "fx_graph_cache"):
            if draw.random() < 0.5:
                self.artifact(identity, f"{cache}_{draw.choice(('hit', 'miss', 'bypass'))}", "{}")
        if draw.random() < 0.8:
            entire = (self.us - begun) / 1e6
            times = sorted((draw.random() * entire for _ in range(3)), reverse=True)
            known = draw.randrange(4)
            metrics = {"start_time": begun / 1e6, "entire_frame_compile_time_s": round(entire, 6),
                       **{key: round(time, 6) if i < known else None for i, (key, time) in enumerate(zip(
                           ("backend_compile_time_s", "inductor_compile_time_s", "code_gen_time_s"), times))},
                       "co_name": draw.choice(("inner", None)), "co_filename": "/job/src/prog.py", "co_firstlineno": 5,
                       "fail_type": draw.choice((None, None, "Unsupported")),
                       "fail_reason": draw.choice((None, "a\n b")),
                       "restart_reasons": draw.choice(([], ["why"])), "guard_count": draw.randrange(9)}
            kind = "bwd_compilation_metrics" if root == "entire_backward_compile" else "compilation_metrics"
            self.record({kind: metrics, **identity})
        if root and draw.random() < 0.9:
            self.event(identity, root, "E")

    def damage(self):
        """Loses, duplicates, cuts and mixes records."""
        draw = self.random
        for _ in range(draw.randrange(1, 4)):
            at = draw.randrange(len(self.parts))
            part = self.parts[at]
            cut = draw.randrange(len(part) + 1)
            self.parts[at] = draw.choice((b"", part * 2, part[:cut] + b"\n", part[:cut] + b"\0" + part[cut:],
                                          b"\n" + part, b"\tleft over\n" + part, part.replace(b"{", b"{{", 1),
                                          b"noise\n" + part))


def random_log(seed, damaged=False):
    """The bytes of a log."""
    draw = random.Random(seed)
    log = Log(seed, draw.choice((77, 4711, 139764991069056)), draw.choice((0, 7200, -19800)))
    for number, name in enumerate(("/job/src/prog.py", "/usr/lib/python3.11/site-packages/torch/x.py", "<string>",
                                   "/a.py")):
        log.record({"str": [name, number]})
    if draw.random() < 0.5:
        log.artifact({}, "torch_version", '{"pytorch_version": "2.15.0"}')
    for _ in range(draw.randrange(1, 6)):
        log.compilation(draw.randrange(3), draw.randrange(3))
    if damaged:
        log.damage()
    content = b"".join(log.parts)
    if damaged and draw.random() < 0.3:
        content = content[:draw.randrange(len(content))]
    return content.replace(b"\n", b"\r\n") if draw.random() < 0.1 else content


def large(path, megabytes, seed=1):
    log = Log(seed)
    for frame in range(20):
        for number in range(5):
            log.compilation(frame, number)
            log.artifact({"frame_id": frame, "frame_compile_id": number}, "graph", "def f():\n  return 1\n" * 3000)
    content, size = b"".join(log.parts), megabytes * 1_000_000
    with open(path, "wb") as file:
        while file.tell() < size:
            file.write(content)


if __name__ == "__main__":
    large(sys.argv[1], int(sys.argv[2]), *map(int, sys.argv[3:]))
