"""An independent implementation of the rules for finding steps: T11, T20 to T22.

    number(files, "auto")       # fills step_marks of each file: its steps, with their numbers and phases
    matches("step[%", "step[DECODE bs=4]")

A file here is any object with path, rank and rows. Times are integer nanoseconds; None is SQL's NULL.
"""
import json
import re
from collections import defaultdict, namedtuple

from oracle_names import step_form, stratum
from oracle_roles import is_call, is_counted, is_step, step_number

KNOWN_CATEGORIES = ("user_annotation", "cpu_op", "Operator")

# A step: its event, its number, the end of its reach (T20.6), and its phase (T22).
Mark = namedtuple("Mark", "row number end_ns phase batch_size padded_size tokens stratum")


def end(row):
    return row.ts_ns + row.dur_ns


def innerness(row):
    """Greater for the inner of two events (T5)."""
    return row.ts_ns, -row.dur_ns, row.event


def matches(pattern, name):
    """SQLite's LIKE: `%` matches any text, `_` any character, and ASCII letters match in either case."""
    regex = "".join({"%": ".*", "_": "."}.get(character, re.escape(character)) for character in pattern)
    return re.fullmatch(regex, name, re.DOTALL | re.IGNORECASE | re.ASCII) is not None


def patterns(steps):
    """The patterns in the argument; None for 'auto' and 'profiler'."""
    if steps in ("auto", "profiler"):
        return None
    try:
        array = json.loads(steps)
    except ValueError:
        array = None
    texts = isinstance(array, list) and all(isinstance(each, str) for each in array)
    return array if texts else [steps]


# ---- T20.2 to T20.5 -------------------------------------------------------

def may_be_step(row):
    return row.device == "CPU" and is_counted(row) and row.ts_ns is not None and row.dur_ns > 0


def is_known(row):
    """A known annotation (T20.2)."""
    return (may_be_step(row) and row.cat in KNOWN_CATEGORIES
            and (row.name == "scheduler.run_batch" or step_form(row.name) is not None))


def is_like(row, texts):
    return may_be_step(row) and not is_call(row) and any(matches(text, row.name) for text in texts)


def outermost(candidates):
    """Candidates that do not start inside another one on their thread, which need not be a step (T20.4)."""
    def inside(row, other):
        return innerness(other) < innerness(row) and other.ts_ns <= row.ts_ns < end(other)

    return [row for row in candidates if not any(inside(row, other) for other in candidates)]


def one_thread(candidates):
    """The steps among the candidates, by start (T20.5)."""
    threads = defaultdict(list)
    for row in candidates:
        threads[row.pid, row.tid].append(row)
    found = [sorted(outermost(members), key=innerness) for members in threads.values()]
    return min(found, key=lambda steps: (-len(steps), steps[0].ts_ns, steps[0].event), default=[])


def annotated(rows, steps):
    """The steps of a file by annotation; None if they are its ProfilerSteps (T20.2)."""
    if steps == "profiler":
        return None
    texts = patterns(steps)
    if texts is not None:
        return one_thread([row for row in rows if is_like(row, texts)])
    known = one_thread([row for row in rows if is_known(row)])
    return known if len(known) > len({step_number(row) for row in rows if is_step(row)}) else None


# ---- T22 ------------------------------------------------------------------

def with_forms(rows):
    """The known annotations with a form."""
    return [row for row in rows if is_known(row) and step_form(row.name) is not None]


def form_of(step, formed):
    """The form of its name, otherwise of the first known annotation that starts inside it on its thread."""
    inside = [row for row in formed if (row.pid, row.tid) == (step.pid, step.tid)
              and innerness(step) < innerness(row) and row.ts_ns < end(step)]
    first = min(inside, key=innerness, default=None)
    return step_form(step.name) or (first and step_form(first.name))


def mark(step, number, end_ns, formed):
    form = form_of(step, formed)
    return Mark(step, number, end_ns, *(form or (None,) * 4), stratum(form))


# ---- T20.6, T21 -----------------------------------------------------------

def number(files, steps):
    """Fills file.step_marks, file.annotated (whether its steps are annotations, if it has any) and file.by_pattern."""
    by_rank = defaultdict(list)
    for file in files:
        found = annotated(file.rows, steps)
        file.annotated = found is not None
        file.by_pattern = patterns(steps) is not None
        if found:
            by_rank[file.rank].append((file, found))
        elif found is None:
            formed = with_forms(file.rows)
            file.step_marks = [mark(row, step_number(row), end(row), formed) for row in file.rows if is_step(row)]
        else:
            file.step_marks = []
    for group in by_rank.values():
        group.sort(key=lambda pair: (pair[1][0].ts_ns, pair[0].path))
        following = 0
        for file, found in group:
            ends = [row.ts_ns for row in found[1:]] + [end(found[-1])]
            formed = with_forms(file.rows)
            file.step_marks = [mark(row, following + index, end_ns, formed)
                               for index, (row, end_ns) in enumerate(zip(found, ends))]
            following += len(found)


def overlapping(files):
    """The first two files of a rank whose steps by annotation overlap in time, or None (T21)."""
    group = sorted((file for file in files if file.annotated and file.step_marks),
                   key=lambda file: (file.step_marks[0].row.ts_ns, file.path))
    for file, after in zip(group, group[1:]):
        if after.step_marks[0].row.ts_ns < end(file.step_marks[-1].row):
            return file, after
    return None
