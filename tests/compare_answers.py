#!/usr/bin/python3
"""Compares the answers of two builds: all columns of the answer's functions, and the report, over a thousand pairs of
traces.

    usage: compare_answers.py OLD.so NEW.so [--jobs N] [--only PATTERN] [--functions a,b] [--quick] [--shown N]

    --jobs N         number of processors (default 2)
    --only PATTERN   pairs whose label matches this regular expression; --list prints the labels
    --functions a,b  only these functions
    --quick          about 60 pairs, in less than a minute
    --shown N        number of differences of a kind to print in full (default 1)
    --keep FOLDER    keeps the generated pairs there, each in the folder of its label

Pairs come from examples/, the folders in CORPUS (every trace beside itself, and beside the next one), PAIRS (folders,
separated by colons, in which a folder has `control` and others beside it), and generate_answers.py.

Columns, types, texts and errors must be equal, except for columns after OLD's; REALs may differ by a relative 1e-9.
JSON is compared by value; the report by element, and its embedded data by value. A process that dies, or exceeds the
time limit of a query, counts as another answer. Each build is loaded in its own processes. INTENDED lists the intended
differences; others give exit status 1. It ends with the CPU seconds of each function.
"""
import argparse
import collections
import contextlib
import difflib
import glob
import html.parser
import itertools
import json
import os
import pickle
import queue
import re
import selectors
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path[:0] = sorted(glob.glob(os.path.join(HERE, "*", "")))

# (function, column or a function of the difference, reason). Columns are written like in the list of differences:
# `text`, `json.causes[].words`, `html/pre`; '*' stands for any function or column.
INTENDED = [
    ("trace_comparability", lambda it: it.column in ("control_value", "test_value") and it.new == f"1-{it.old}",
     "steps 1 to 12 were said to be 12"),
    ("trace_comparability", lambda it: it.kind == "error" and "must be the path of" in it.new,
     "a path that is none is named by its side"),
    ("trace_comparability", lambda it: str(it.new).startswith("neither has device work") and it.old.startswith("both "),
     "steps of no length do not show device work"),
    ("trace_comparability", lambda it: it.pair.endswith("/dist_rank_null.json"),
     "a world size that is text counts as its number"),
    ("trace_comparability", lambda it: (it.pair, it.new) == ("random/training/0", "[[8],[]]"),
     "of shapes with one time, the first by name: sums of REALs told them apart"),
    ("trace_brief", lambda it: it.column == "json.left_out" and it.kind == "order of keys",
     "what is left out first comes first"),
    ("trace_brief", lambda it: re.search(r"'\[[\d,]{49,}\]'", str(it.old)) and ", NULL, NULL, " in str(it.new),
     "steps that are too long for queries on one side are so, too (Z7.2)"),
    ("trace_summary", lambda it: it.column in ("gain_ms", "hidden_by") and it.old is None
     or it.column == "text" and "undone" in str(it.new) and "undone" not in str(it.old),
     "gains were lost in a join of REALs"),
    ("trace_summary", lambda it: it.column in ("text", "words", "code", "diff_ms", "share", "(rows)") and re.search(
        "load|DispatchMode", f"{it.old} {it.new}"),
     "what is said beside another load of the host (C7.3); modes (C8.2)"),
    ("*", lambda it: it.column in ("control_of_host", "test_of_host") and it.old is None,
     "steps of no length have no host"),
    ("trace_verdict", "(columns)", "what the report asks, after the other columns"),
    ("trace_diff_report", lambda it: it.column in ("html/h1", "html/p") and re.match(
        "(No clear difference|Beside the load)", it.old or ""), "beside a load the page says what trace_summary says"),
    ("trace_diff_report", lambda it: it.column == "html/p" and "It is in no number" in (it.new or ""),
     "a step of several ranks takes their mean, not their sum"),
    ("trace_diff_report", "html/causes/small", "shares, where the verdict beside a load is clear"),
    ("trace_diff_report", "html/causes/pre", "the statement of a cause gives its parts, which add up to it"),
    ("trace_diff_report", lambda it: it.column == "html/causes/p" and re.search(
        "ollectives .*: 0", it.old or ""), "collectives of the host are counted, or not said"),
    ("trace_diff_report", lambda it: it.column in ("html/causes/p", "html/causes/div") and re.match(
        r"\s*$|<p>|Net of|Mostly at|(As many )?[Kk]ernels|Copies|Matrix|Another variant", it.new or it.old),
     "parts are those of the causes: of waits in an area, of synchronization, of what is merged by a part of the step"),
    ("trace_diff_report", lambda it: it.column == "html/causes/p" and "transfer takes" in (it.new or ""),
     "collectives of the host are waited for"),
    ("trace_diff_report", lambda it: it.column.startswith("html/ranks/"), "the same"),
    ("trace_diff_report", lambda it: (it.column, it.old) == ("html/where/span", "host"),
     "the tag of a cause is that of trace_summary"),
    ("trace_diff_report", lambda it: "names" in it.column and re.search(r"[\0-\x08\x0b-\x1f]", str(it.old)),
     "control characters are no text"),
]

FUNCTIONS = ("trace_verdict", "trace_comparability", "trace_clock_factor", "trace_host_factor", "trace_summary",
             "trace_brief", "trace_diff_report")
READING = "(reading)"  # the first query of each pair, whose cost is not the answer's
LONGEST = float(os.environ.get("SLACK") or 1) * 120  # time limit of a query, in seconds
TOLERANCE = 1e-9
NEAR_ZERO = 1e-9  # for units with up to 9 digits: rounding of sums in another order
DIED = "a process that died"


# ---- queries
# ------------------------------------------------------------------------------------------------------------

# Arguments for every pair, and for pairs of examples; by name, if a function has such an argument.
PLAIN = [{}]
SHORT = [{}, {"gains": 0}, {"control_rank": "all", "test_rank": "all"},
         {"control_iteration": "all", "test_iteration": "all"}, {"clock": "host"}]
RANKS = [{"control_rank": a, "test_rank": b} for a, b in (
    ("job", "job"), (0, 0), ("all", "all"), ("[0,1]", "[0,1]"), (1, 1), (0, 1), ("[1]", None), ("job", None),
    (99, 0), ("none", 0), ("[]", "[]"), (-1, None), (0.5, 0.5), ("[0,99]", None))]
ITERATIONS = [{"control_iteration": a, "test_iteration": b} for a, b in (
    ("all", "all"), ("first", "first"), ("steady", "all"), (1, 1), (2, 2), (11, 11), (11, 12),
    ("[11,12,13]", "[12,13,14]"), ("decode", "decode"), ("prefill", "prefill"), (12345, None), ("nonsense", None),
    ("[]", None))]
OTHERS = [{"clock": "host"}, {"clock": "device"}, {"clock": "wrong"}, {"gains": 0}, {"gains": 2}, {"shapes": 0},
          {"control_untraced": 3, "test_untraced": 4}, {"control_untraced": 4.5, "test_untraced": 3},
          {"control_untraced": 10, "test_untraced": 10.001}, {"control_untraced": 5}, {"control_untraced": -1},
          {"level": "kernel"}, {"level": "module"}, {"level": "annotation"}, {"level": "wrong"}]
STEPS = [{"steps": each} for each in (
    "auto", "profiler", "aten::%", "enumerate%", '["ProfilerStep%", "nn.Module: %"]', "nothing", "[]",
    '["execute_%", 1]')]
TOGETHER = [{"control_rank": "all", "test_rank": "all", "control_iteration": "all", "test_iteration": "all"},
            {"control_rank": 0, "test_rank": 0, "control_iteration": "all", "test_iteration": "all", "clock": "host"},
            {"control_rank": "all", "test_rank": "all", "clock": "host", "gains": 0},
            {"control_rank": 0, "test_rank": 0, "steps": "aten::%", "clock": "host"},
            {"control_iteration": "first", "test_iteration": "first", "control_untraced": 1, "test_untraced": 2}]
HALF = SHORT + RANKS[1:5] + ITERATIONS[1:6] + OTHERS[5:7] + STEPS[2:4] + TOGETHER[:2]
ALL = PLAIN + RANKS + ITERATIONS + OTHERS + STEPS + TOGETHER
# For few pairs: each column alone, and queries that stop early or run beside another.
NARROWLY = ("examples/gpu", "examples/serving", "examples/gains/loop", "examples/gains/rank_operator")
NARROW = ("SELECT {column} FROM {call}", "SELECT count(*) FROM {call}", "SELECT * FROM {call} LIMIT 1",
          "SELECT a.*, b.* FROM {call} AS a JOIN {call} AS b ON a.rowid = b.rowid")
QUICK = re.compile(
    r"^examples/(gpu|gains/(loop|loader|rank_operator)|serving|h200/graphs/context|gloo/two/loader)(/swapped)?$"
    r"|^missing/[0259]$|^hostile/(quotes|newline|nul|long|rank)/(operator|one_rank)$|^hostile/alike1/replaced$"
    r"|^odd/(steps/0|device/01|load_1.3/device_1.07|head/(device|options)|all)|^planted/(0|2|4|8|1[02])$"
    r"|^random/[a-z_]+/0$|^corpus/(bad/d[ei]|catapult/f)")
QUICK_VARIANTS = SHORT + [{"control_rank": 0, "test_rank": 0}, {"control_untraced": 3, "test_untraced": 4},
                          {"steps": "nothing"}, {"control_rank": 99}]


class Pair:
    def __init__(self, label, control, test, variants, narrow=False):
        self.label, self.control, self.test, self.variants, self.narrow = label, control, test, variants, narrow


def beside(root):
    """(label, control, test) for every folder with `control` below, and its neighbours; also for files."""
    for folder, folders, files in sorted(os.walk(root)):
        of_files = [[file for file in sorted(files) if file.startswith(f"{side}.")] for side in ("control", "test")]
        control = "control" if "control" in folders else next(iter(of_files[0]), None)
        if control:
            for other in sorted(folders) + of_files[1]:
                if other != control:
                    of = os.path.relpath(folder, root)
                    yield (of if other.split(".")[0] == "test" else f"{of}/{other}", os.path.join(folder, control),
                           os.path.join(folder, other))


def pairs_of_examples():
    # like in the documents: relative to the root, which is the current folder
    for label, control, test in beside("examples"):
        label = f"examples/{label}"
        in_full = re.match(r"examples/(gpu|serving|gains/(loop|hidden)|gloo/two|h200/graphs)", label)
        yield Pair(label, control, test, ALL if in_full else HALF, narrow=label in NARROWLY)
        yield Pair(f"{label}/swapped", test, control, SHORT)
        yield Pair(f"{label}/same", control, control, SHORT)
        yield Pair(f"{label}/same_test", test, test, PLAIN)
    runs = [f"examples/runs/{side}/0{number}" for side in ("control", "test") for number in range(1, 6)]
    runs += sorted(glob.glob("examples/joins/runs/*"))
    for control, test in itertools.pairwise(runs):
        yield Pair(f"{test}/next", control, test, SHORT)
    gpu, rank = "examples/gpu/test", "examples/gpu/control/rank0.pt.trace.json.gz"
    for name, control, test in (
            ("files", rank, rank.replace("rank0", "rank1")), ("rank", rank, gpu),
            ("pattern", "examples/gpu/control/*.gz", "examples/gpu/test/*.gz"),
            ("of_others", "examples/cpu/control", gpu),
            ("counters", "examples/counters", gpu), ("recorded", "examples/recorded/trace.json.gz", rank),
            ("serving", "examples/serving/control", gpu),
            ("capture", "examples/serving/capture", "examples/serving/test")):
        yield Pair(f"examples/mixed/{name}", control, test, SHORT + RANKS)
    memory = {"control_memory": "examples/memory/gpu/control", "test_memory": "examples/memory/gpu/test"}
    yield Pair("examples/memory", "examples/gpu/control", "examples/gpu/test", [
        memory, {**memory, "gains": 0}, {"control_memory": memory["control_memory"]},
        {**memory, "test_memory": "missing"}])


def pairs_with_errors():
    good = "examples/gpu/control"
    for number, (control, test) in enumerate((
            (good, "missing"), ("missing", good), ("missing", "missing"), (good, ""), ("", good), (good, None),
            (None, None), (good, "examples"), (good, "README.md"), (good, "examples/memory/gpu/control"), (good, 7),
            (b"x\0y", good), (good, "examples/gpu/*"), ("no\nsuch '%s'", good), (good, "x" * 5000))):
        yield Pair(f"missing/{number}", control, test, SHORT[:3])


def is_trace(path):
    return re.search(r"\.(json|json\.gz|gz|pftrace|perfetto-trace|db|sqlite|pb|pickle)$", path) is not None


def pairs_of_corpus():
    """Each trace beside itself and the next one in its folder; bad ones beside a good one, on either side."""
    root = os.environ.get("CORPUS")
    if not root:
        return
    good = "examples/gpu/control"
    for folder, folders, files in sorted(os.walk(root)):
        of = os.path.relpath(folder, root)
        paths = [os.path.join(folder, file) for file in sorted(files) if is_trace(file)]
        if of.split(os.sep)[0] == "bad":
            for number, path in enumerate(paths):
                if "bomb" in path or os.path.getsize(path) > 10 ** 6:
                    continue
                label = f"corpus/{os.path.relpath(path, root)}"
                yield Pair(label, path, paths[(number + 1) % len(paths)], SHORT if number % 4 == 0 else PLAIN)
                yield Pair(f"{label}/good", *((good, path) if number % 2 else (path, good)), PLAIN)
            continue
        for path, after in zip(paths, paths[1:] + paths[:1]):
            is_big = os.path.getsize(path) > 2 * 10 ** 6
            label = f"corpus/{os.path.relpath(path, root)}"
            yield Pair(label, path, after, PLAIN if is_big else SHORT)
            if after != path:
                yield Pair(f"{label}/same", path, path, PLAIN)
    for label, control, test in beside(root):
        big = sum(os.path.getsize(os.path.join(top, file)) for each in (control, test)
                  for top, _, files in os.walk(each) for file in files) > 2 * 10 ** 6
        yield Pair(f"corpus/{label}/folders", control, test, PLAIN if big else SHORT + RANKS[:6] + OTHERS[:4])
        yield Pair(f"corpus/{label}/folders_swapped", test, control, PLAIN)


def pairs_of_folders():
    for number, root in enumerate(filter(None, os.environ.get("PAIRS", "").split(os.pathsep))):
        for label, control, test in beside(root):
            label = f"pairs{number}/{label}"
            yield Pair(label, control, test, SHORT)
            yield Pair(f"{label}/swapped", test, control, PLAIN)


def all_pairs(folder, wanted, is_quick):
    from generate_answers import write_pairs
    for pair in itertools.chain(pairs_of_examples(), pairs_with_errors(), pairs_of_folders(), pairs_of_corpus()):
        if wanted(pair.label):
            yield pair
    for number, (label, control, test) in enumerate(write_pairs(folder, 2 if is_quick else 40, wanted)):
        small = PLAIN if label.startswith(("hostile", "random/numbers")) else SHORT
        yield Pair(label, control, test, small + (RANKS[:3] if number % 7 == 0 else []))
        if number % 5 == 0:
            yield Pair(f"{label}/swapped", test, control, PLAIN)


# ---- a build in its own process
# ------------------------------------------------------------------------------------------

def send(pipe, message):
    content = pickle.dumps(message)
    pipe.write(struct.pack("<Q", len(content)) + content)
    pipe.flush()


def receive(pipe):
    size = pipe.read(8)
    if len(size) < 8:
        return None
    size, = struct.unpack("<Q", size)
    content = pipe.read(size)
    return pickle.loads(content) if len(content) == size else None


def work(extension):
    """The work of a process: answers statements with (columns, rows, error, CPU seconds)."""
    db = sqlite3.connect(":memory:")
    db.text_factory = lambda content: content.decode("utf-8", "surrogateescape")
    db.enable_load_extension(True)
    db.execute("SELECT load_extension(?, 'sqlite3_tracediff_init')", (extension,))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while (asked := receive(sys.stdin.buffer)) is not None:
        began, columns, rows, error = time.process_time(), [], [], None
        try:
            cursor = db.execute(*asked)
            columns = [column[0] for column in cursor.description]
            rows = cursor.fetchall()
        except sqlite3.Error as raised:
            error = f"{type(raised).__name__}: {raised}"
        except UnicodeError as raised:
            error = f"not sent: {raised}"
        send(answers, (columns, rows, error, time.process_time() - began))


class Build:
    """A process that has loaded a build; it is replaced if it dies."""

    def __init__(self, extension):
        self.extension, self.process = extension, None

    def start(self):
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--work", self.extension],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ask(self, sql, values):
        if not self.process:
            self.start()
        try:
            send(self.process.stdin, (sql, values))
        except BrokenPipeError:
            return self.died(self.process.wait())
        with selectors.DefaultSelector() as waiting:
            waiting.register(self.process.stdout, selectors.EVENT_READ)
            if not waiting.select(LONGEST):
                self.process.kill()
                self.process.wait()
                return self.died(f"it was stopped after {LONGEST:.0f} s")
        answer = receive(self.process.stdout)
        return self.died(self.process.wait()) if answer is None else answer

    def died(self, how):
        self.end()
        return [], [], f"{DIED}: {how}", 0.0

    def end(self):
        if self.process:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait()
        self.process = None


# ---- comparing -------------------------------------------------------------------------------------------------------

def kind_of(old, new):
    """The kind of difference between two values, or None."""
    if old is None or new is None:
        return None if old is new else "NULL before" if old is None else "NULL now"
    if type(old) is not type(new):
        return f"{type(old).__name__} -> {type(new).__name__}"
    if isinstance(old, float):
        if old == new or abs(old - new) <= TOLERANCE * max(abs(old), abs(new)) or (old != old and new != new):
            return None
        return "near 0" if max(abs(old), abs(new)) < NEAR_ZERO else "number"
    if old == new:
        return None
    if isinstance(old, str) and re.sub(r"[\d.,]+", "#", old) == re.sub(r"[\d.,]+", "#", new):
        return "numbers in text"
    return "text" if isinstance(old, str) else "number"


def differing(old, new, path):
    """(path, kind, old, new) for each difference between two values of JSON."""
    if isinstance(old, dict) and isinstance(new, dict):
        if list(old) != list(new):
            yield (path, "order of keys" if set(old) == set(new) else "keys", list(old), list(new))
        for key in old:
            if key in new:
                yield from differing(old[key], new[key], f"{path}.{key}")
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield path, "length", len(old), len(new)
        for number, (a, b) in enumerate(zip(old, new)):
            yield from differing(a, b, f"{path}[{number}]")
    elif kind := kind_of(old, new):
        yield path, kind, old, new


def differing_json(old, new, path):
    try:
        values = json.loads(old), json.loads(new)
    except ValueError:
        yield path, "not JSON", old, new
        return
    found = list(differing(*values, path))
    yield from found
    if not found and re.sub(r"-?[\d.]+([eE][-+]?\d+)?", "#", old) != re.sub(r"-?[\d.]+([eE][-+]?\d+)?", "#", new):
        yield path, "layout", old, new


class Page(html.parser.HTMLParser):
    """A page as lists of (element, content): texts, attributes and embedded JSON, without styles and code."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.within, self.parts, self.data, self.section = [], [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "input", "br", "link"):
            self.within.append((tag, dict(attrs)))
        if tag in ("h2", "section") and dict(attrs).get("id"):
            self.section = dict(attrs)["id"].replace("tracediff-", "") + "/"
        for name, value in attrs:
            self.parts.append((f"html/{self.section}{tag}@{name}", value or ""))
        self.parts.append((f"html/{self.section}{tag}", f"<{tag}>"))

    def handle_endtag(self, tag):
        if self.within and self.within[-1][0] == tag:
            self.within.pop()

    def handle_data(self, data):
        tag, attributes = self.within[-1] if self.within else ("", {})
        if tag == "script" and attributes.get("type") == "application/json":
            self.data.append(data)
        elif tag not in ("script", "style"):
            self.parts.append((f"html/{self.section}{tag}", data))


def differing_pages(old, new):
    """Differences by element, in page order; repeated content is reported once."""
    old, new = Page(old), Page(new)
    if len(old.data) != len(new.data):
        yield "html/data", "length", len(old.data), len(new.data)
    for number, (a, b) in enumerate(zip(old.data, new.data)):
        if a != b:
            yield from differing_json(a, b, f"html/data[{number}]")
    if old.parts == new.parts:
        return
    if len(old.parts) == len(new.parts) and all(a[0] == b[0] for a, b in zip(old.parts, new.parts)):
        changes = [(at, at + 1, at, at + 1) for at, (a, b) in enumerate(zip(old.parts, new.parts)) if a != b]
    else:
        changes = [change[1:] for change in difflib.SequenceMatcher(None, old.parts, new.parts, False).get_opcodes()
                   if change[0] != "equal"]
    for a, until_a, b, until_b in changes:
        for was, now in itertools.zip_longest(old.parts[a:until_a], new.parts[b:until_b]):
            if was and now and was[0] == now[0]:
                if was[1] != now[1]:
                    yield was[0], kind_of(was[1], now[1]), was[1], now[1]
            else:
                if was:
                    yield was[0], "gone", was[1], None
                if now:
                    yield now[0], "new", None, now[1]


def aligned(rows, new_rows):
    """Pairs of row numbers that are about the same, by their texts, and the unpaired numbers on either side."""
    def texts(row):
        return tuple(re.sub(r"[\d.,+-]+", "#", value) for value in row if isinstance(value, str))

    blocks = difflib.SequenceMatcher(None, list(map(texts, rows)), list(map(texts, new_rows)), False)
    pairs = [(a + n, b + n) for a, b, size in blocks.get_matching_blocks() for n in range(size)]
    return (pairs, sorted(set(range(len(rows))) - {a for a, _ in pairs}),
            sorted(set(range(len(new_rows))) - {b for _, b in pairs}))


def differences(old, new):
    """(row, column, kind, old, new) of two answers."""
    columns, rows, error, _ = old
    new_columns, new_rows, new_error, _ = new
    if error != new_error:
        died = DIED in (error or "") or DIED in (new_error or "")
        yield 0, "(error)", "a process dies" if died else "error" if error and new_error else \
            "error now" if new_error else "error before", error, new_error
        return
    if columns != new_columns:
        yield 0, "(columns)", "columns", columns, new_columns
        if new_columns[:len(columns)] != columns:
            return
        new_rows = [row[:len(columns)] for row in new_rows]  # columns were added at the end
    if rows != new_rows and sorted(map(repr, rows)) == sorted(map(repr, new_rows)):
        number = next(number for number, (a, b) in enumerate(zip(rows, new_rows)) if a != b)
        yield number, "(rows)", "order of rows", rows[number], new_rows[number]
        return
    numbers = range(len(rows))
    if len(rows) != len(new_rows):
        yield 0, "(rows)", "number of rows", len(rows), len(new_rows)
        numbers, lone, new_lone = aligned(rows, new_rows)
        yield from ((number, "(rows)", "row gone", rows[number], None) for number in lone)
        yield from ((number, "(rows)", "row new", None, new_rows[number]) for number in new_lone)
        rows, new_rows = ([of[each[side]] for each in numbers] for side, of in enumerate((rows, new_rows)))
        numbers = [number for number, _ in numbers]
    for number, a, b in zip(numbers, rows, new_rows):
        for column, was, now in zip(columns, a, b):
            if was == now and type(was) is type(now):
                continue
            if column in ("json", "html") and isinstance(was, str) and isinstance(now, str):
                for path, *rest in differing_json(was, now, column) if column == "json" else differing_pages(was, now):
                    yield number, path, *rest
            elif kind := kind_of(was, now):
                yield number, column, kind, was, now


# ---- querying both
# -------------------------------------------------------------------------------------------------------

class Difference:
    def __init__(self, pair, function, given, row, column, kind, old, new):
        self.pair, self.function, self.given, self.row = pair, function, given, row
        self.column, self.kind, self.old, self.new = column, kind, old, new
        self.why = next((why for of_function, of, why in INTENDED if of_function in ("*", function)
                         and (of(self) if callable(of) else of in ("*", self.group[1]))), None)

    @property
    def group(self):
        return self.function, re.sub(r"\[\d+\]", "[]", self.column), self.kind

    def print(self):
        print(f"  {self.pair}  {self.function}{self.given or ''}  row {self.row}  {self.column}: {self.kind}")
        for word, value in (("old", self.old), ("new", self.new)):
            text = value if isinstance(value, str) else repr(value)
            print(f"    {word}  {ascii(text)[1:-1] if not text.isprintable() else text}"[:500])


class Comparison:
    def __init__(self, old, new, functions, arguments, shown):
        self.paths, self.functions, self.arguments, self.shown = (old, new), functions, arguments, shown
        self.lock = threading.Lock()
        self.seconds = {name: [0.0, 0.0] for name in (READING, *functions)}
        self.seconds_of = collections.Counter()  # by kind of pair
        self.asked, self.pairs, self.both_died, self.broken = 0, 0, [], None
        self.groups = collections.defaultdict(list)

    def both(self, builds, pair, name, sql, values, given):
        answers = [build.ask(sql, values) for build in builds]
        with self.lock:
            for side, answer in enumerate(answers):
                self.seconds[name][side] += answer[3]
                self.seconds_of[pair.label.split("/")[0]] += answer[3]
            if name == READING:
                return
            self.asked += 1
            if DIED in (answers[0][2] or "") and DIED in (answers[1][2] or ""):
                self.both_died.append((pair.label, name, given))
            for found in differences(*answers):
                difference = Difference(pair.label, name, given, *found)
                group = self.groups[difference.group]
                group.append(difference)
                if len(group) <= self.shown and not difference.why:
                    difference.print()

    def ask(self, builds, pair):
        sides = (pair.control, pair.test)
        self.both(builds, pair, READING, "SELECT count(*) FROM trace_step_diff(?, ?, 'all', 'all')", sides, None)
        done = set()
        for given in pair.variants:
            for name in self.functions:
                known = {key: value for key, value in given.items() if key in self.arguments[name]}
                key = (name, tuple(known.items()))
                if key not in done and (known or not given):
                    done.add(key)
                    where = " AND ".join(f"{argument} = ?" for argument in known)
                    self.both(builds, pair, name, f"SELECT * FROM {name}(?, ?)" + (f" WHERE {where}" if known else ""),
                              (*sides, *known.values()), known)
        for name in self.functions if pair.narrow else ():
            quoted = ", ".join("'" + side.replace("'", "''") + "'" for side in sides)
            for form in NARROW:
                for column in self.arguments[name, "columns"] if "{column}" in form else ("",):
                    sql = form.format(call=f"{name}({quoted})", column=column)
                    self.both(builds, pair, name, sql, (), sql)

    def run(self, pairs, jobs):
        waiting = queue.Queue(4 * jobs)

        def take():
            builds = [Build(path) for path in self.paths]
            while (pair := waiting.get()) is not None:
                try:
                    self.ask(builds, pair)
                except Exception:  # in this program; other pairs continue
                    self.broken = f"{pair.label}: {traceback.format_exc()}"
                with self.lock:
                    self.pairs += 1
                    if self.pairs % 50 == 0 or sys.stderr.isatty():
                        print(f"\r{self.pairs} pairs, {self.asked} questions, {len(self.groups)} kinds of differences",
                              end="" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)
            for build in builds:
                build.end()

        threads = [threading.Thread(target=take, daemon=True) for _ in range(jobs)]
        for thread in threads:
            thread.start()
        try:
            for pair in pairs:
                waiting.put(pair)
        except Exception:  # a generator failed; existing pairs count
            self.broken = traceback.format_exc()
        for _ in threads:
            waiting.put(None)
        for thread in threads:
            thread.join()

    def conclude(self):
        """Prints the kinds of differences and the times. Returns whether all differences are intended."""
        print(f"{self.pairs} pairs, {self.asked} questions to each build")
        for label, name, given in self.both_died:
            print(f"neither build answers: {label}  {name}{given}")
        for intended in (False, True):
            groups = {key: [each for each in group if bool(each.why) == intended] for key, group in self.groups.items()}
            groups = {key: group for key, group in groups.items() if group}
            print("intended:" if intended else "differences:", "" if groups else "none")
            for (function, column, kind), group in sorted(groups.items(), key=lambda item: -len(item[1])):
                of = len({each.pair for each in group})
                print(f"  {len(group):6} in {of:4} pairs  {function}  {column}  {kind}"
                      + (f"  ({group[0].why})" if intended else f"  as {group[0].pair}"))
        print(f"CPU seconds{'':19}{'old':>9}{'new':>9}")
        for name, (old, new) in self.seconds.items():
            print(f"  {name:26} {old:9.2f}{new:9.2f}" + (f"  x {new / old:.2f}" if old > 0.005 else ""))
        print("of the pairs of", ", ".join(f"{name} {seconds:.0f}" for name, seconds in self.seconds_of.items()))
        if self.broken:
            print(f"not compared: {self.broken}")
        return not self.broken and all(each.why for group in self.groups.values() for each in group)


def described(extension, functions):
    """The arguments of each function, and its columns."""
    build = Build(extension)
    made = {}
    for name in functions:
        _, rows, error, _ = build.ask("SELECT name, kind FROM tracediff_columns(?)", (name,))
        if error or not rows:
            sys.exit(f"{extension}: {error or 'no function ' + name}")
        made[name] = [column for column, kind in rows if kind == "argument"]
        made[name, "columns"] = [column for column, kind in rows if kind != "argument"]
    build.end()
    return made


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("old"), parser.add_argument("new")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--functions", default=",".join(FUNCTIONS))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--shown", type=int, default=1)
    parser.add_argument("--keep")
    given = parser.parse_args()
    old, new, functions = os.path.abspath(given.old), os.path.abspath(given.new), given.functions.split(",")
    keep = given.keep and os.path.abspath(given.keep)
    for variable in ("CORPUS", "PAIRS"):
        if os.environ.get(variable):
            os.environ[variable] = os.pathsep.join(map(os.path.abspath, os.environ[variable].split(os.pathsep)))
    os.chdir(ROOT)
    with contextlib.ExitStack() as stack:
        memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
        folder = keep or stack.enter_context(tempfile.TemporaryDirectory(dir=memory))
        def wanted(label):
            return re.search(given.only, label) and (not given.quick or QUICK.search(label))

        pairs = all_pairs(folder, wanted, given.quick)
        if given.list:
            return print(*(pair.label for pair in pairs), sep="\n")
        arguments, of_new = described(old, functions), described(new, functions)
        if any(of_new[key][:len(names)] != names for key, names in arguments.items()):  # more may follow
            sys.exit("the builds differ in arguments or columns: compare tracediff_columns first")
        comparison = Comparison(old, new, functions, arguments, given.shown)
        if given.quick:
            pairs = (Pair(pair.label, pair.control, pair.test, QUICK_VARIANTS if pair.narrow else pair.variants[:3])
                     for pair in pairs)
        comparison.run(pairs, given.jobs)
        sys.exit(not comparison.conclude())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2])
    else:
        main()
