"""An independent reader of TORCH_TRACE logs by rules CL2 to CL9: rows of compile_records, compile_events and
compilations, for logs of one process.
"""
import hashlib
import json
import re
from datetime import datetime
from decimal import Decimal

PREFIX = re.compile(rb"[VIWEC](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{6}) +(\d+) [^:]*:(\d+)\] ")
ENVELOPE = {"rank", "compiled_autograd_id", "frame_id", "frame_compile_id", "attempt", "stack", "has_payload",
            "subgraph_name"}
BEGINS = {"dynamo": "forward", "entire_frame_compile": "forward", "entire_backward_compile": "backward"}
PHASES = {"dynamo": 0, "entire_frame_compile": 0, "entire_backward_compile": 0, "backend_compile": 1,
          "create_aot_dispatcher_function": 1, "inductor_compile": 2, "code_gen": 3}
NAMES = ("dynamo", "aot", "inductor", "codegen")


def strict(text):
    try:
        return json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError):
        return None


def records(content):
    """(line, prefix, envelope, payload, damaged)"""
    lines = content.split(b"\n")
    lines = lines[:-1] if not lines[-1] else lines
    if lines and lines[0].endswith(b"\r"):
        lines = [line[:-1] if line.endswith(b"\r") else line for line in lines]
    found, current = [], None
    for number, line in enumerate(lines, 1):
        if line.startswith(b"\t"):
            if current:
                current[3].append(line[1:])
        elif line:
            current = None
            prefix = PREFIX.match(line)
            try:
                datetime(2000, int(prefix[1]), int(prefix[2]), int(prefix[3]), int(prefix[4]), int(prefix[5]))
                envelope = strict(line[prefix.end():].decode(errors="replace"))
            except (TypeError, ValueError):
                continue
            if isinstance(envelope, dict):
                current = [number, prefix, envelope, []]
                found.append(current)
    for number, prefix, envelope, payload in found:
        wanted = envelope.get("has_payload") is not None
        text = b"\n".join(payload) if wanted and payload else None
        damaged = text is not None and hashlib.md5(text).hexdigest() != envelope["has_payload"]
        yield number, prefix, envelope, text, damaged


def identity(envelope):
    parts = [f"!{envelope['compiled_autograd_id']}"] if "compiled_autograd_id" in envelope else []
    if "frame_id" in envelope and "frame_compile_id" in envelope:
        parts.append(f"{envelope['frame_id']}/{envelope['frame_compile_id']}")
    return "/".join(parts) or None


def ns(seconds):
    return None if seconds is None else round(seconds * 10**9)


class Reading:
    def __init__(self, content):
        self.records, self.spans, self.compilations = [], [], []
        self.open, self.latest, self.last_ns = [], {}, None
        for number, prefix, envelope, payload, damaged in records(content):
            kind = next((key for key in envelope if key not in ENVELOPE), None)
            self.records.append((number, kind, identity(envelope), envelope.get("attempt"),
                                 None if payload is None else payload.decode(errors="replace"), int(damaged)))
            self.take(number, kind, envelope, None if payload is None else payload.decode(errors="replace"))
        self.end()

    def begin(self, key, by):
        last = self.latest.get(key)
        if last and by not in last["by"] and (by == "metrics" or not last["done"]):
            last["by"].add(by)
            return last
        made = {"id": key[0], "part": key[1], "nth": last["nth"] + 1 if last else 1, "by": {by}, "done": False,
                "root": None, "metrics": None, "attempts": 1, "aot": 0, "fx": 0,
                "recompile": int(int(key[0].rpartition("/")[2].lstrip("!")) > 0 and "/" in key[0])}
        self.latest[key] = made
        self.compilations.append(made)
        return made

    def current(self, key):
        root = self.open[0].get("compilation") if self.open else None
        return root if root and root["id"] == key else self.latest.get((key, "forward"))

    def take(self, line, kind, envelope, payload):
        key, value = identity(envelope), envelope.get(kind)
        if kind == "chromium_event":
            self.event(line, envelope, key, strict(payload or "-"))
        elif kind == "artifact" and isinstance(value, dict):
            name = str(value.get("name"))
            if name == "recompile_reasons" and key:
                self.begin((key, "forward"), "reasons")["recompile"] = 1
            for index, cache in (("aot", "aotautograd_cache_"), ("fx", "fx_graph_cache_")):
                state = ("", "hit", "bypass", "miss").index(name[len(cache):]) if name in (
                    cache + "hit", cache + "bypass", cache + "miss") else 0
                if state and self.current(key):
                    self.current(key)[index] = max(state, self.current(key)[index])
        elif kind == "dynamo_start" and key and not envelope.get("attempt"):
            self.begin((key, "forward"), "start")
        elif kind in ("compilation_metrics", "bwd_compilation_metrics") and key and isinstance(value, dict):
            part = "backward" if kind.startswith("bwd") else "forward"
            self.begin((key, part), "metrics")["metrics"] = value
        if key and self.current(key):
            self.current(key)["attempts"] = max(self.current(key)["attempts"], envelope.get("attempt", 0) + 1)

    def event(self, line, envelope, key, event):
        if not isinstance(event, dict) or not isinstance(event.get("name"), str) or not isinstance(
                event.get("ts"), (int, Decimal)) or len(str(event.get("ph", ""))) != 1:
            return
        ts = round(event["ts"] * 1000)
        self.last_ns = max(ts, self.last_ns or ts)
        if event["ph"] == "E":
            like = [span for span in self.open if span["name"] == event["name"]]
            like = [span for span in like if span["id"] == key] or like
            if like:
                like[-1]["dur"] = max(0, ts - like[-1]["ts"])
                self.open.remove(like[-1])
                if like[-1].get("compilation"):
                    like[-1]["compilation"]["done"] = True
            return
        around = self.open[-1] if self.open else None
        phase = around["phase"] if around else None
        if phase != 3:
            phase = PHASES.get(event["name"], phase)
        span = {"line": line, "id": key, "attempt": envelope.get("attempt", 0), "name": event["name"], "ts": ts,
                "dur": None if event["ph"] == "B" else 0, "around": around, "phase": phase, "depth": len(self.open)}
        self.spans.append(span)
        if event["ph"] == "B":
            self.open.append(span)
            if not around and event["name"] in BEGINS and key:
                span["compilation"] = self.begin((key, BEGINS[event["name"]]), "span")
                span["compilation"]["root"] = span

    def end(self):
        for span in self.spans:
            span["self"], around = span["dur"], span["around"]
            if around and span["dur"] is not None and around["dur"] is not None and span["ts"] >= around["ts"]:
                inside = min(span["ts"] + span["dur"], around["ts"] + around["dur"]) - span["ts"]
                span["self"] = min(max(inside, 0), around["self"])
                around["self"] -= span["self"]
        for made in self.compilations:
            made["source"], made["start"], made["dur"], made["phases"] = self.times(made)

    def times(self, made):
        root, metrics = made["root"], made["metrics"] or {}
        if root and root["dur"] is not None:
            phases = [0] * 4
            for span in self.spans:
                chain = span
                while chain["around"] and chain["dur"] is not None:
                    chain = chain["around"]
                if chain is root and span["phase"] is not None:
                    phases[span["phase"]] += span["self"]
            return "events", root["ts"], root["dur"], phases
        if metrics.get("entire_frame_compile_time_s") is not None:
            entire, backend, inductor, codegen = (ns(metrics[key]) for key in (
                "entire_frame_compile_time_s", "backend_compile_time_s", "inductor_compile_time_s", "code_gen_time_s"))
            codegen = codegen or 0
            inductor = codegen if inductor is None else inductor
            backend = inductor if backend is None else backend
            return "metrics", ns(metrics["start_time"]), entire, [entire - backend, backend - inductor,
                                                                  inductor - codegen, codegen]
        if root:
            return "open", root["ts"], self.last_ns - root["ts"], [None] * 4
        return None, None, None, [None] * 4  # in its records, which this does not read

    def events_rows(self):
        return [(span["line"], span["id"], span["attempt"], span["depth"], span["name"],
                 None if span["phase"] is None else NAMES[span["phase"]], span["ts"], span["dur"], span["self"])
                for span in self.spans]

    def compilation_rows(self):
        states = (None, "hit", "bypass", "miss")
        for made in self.compilations:
            aot, fx = made["aot"], made["fx"]
            yield (made["id"], made["nth"], made["part"], made["attempts"], made["source"],
                   made["start"], made["dur"], *made["phases"],
                   states[1 if aot == 1 and fx < 2 else fx or aot], made["recompile"])
