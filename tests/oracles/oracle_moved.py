"""An independent implementation of rules L9, L12 and L13: communication that hides a late host, time that only moved
between names, and labels of one side. It is word for word and slow.
"""
import glob
import gzip
import json
import os
import re
import shutil
from collections import Counter, defaultdict, namedtuple

from oracle_steps import label, stable

DEVICE = ("compute", "comm", "memory")
CLASSES = ("compute", "comm", "memory", "idle_call", "idle_host", "idle_unrecorded", "idle_launch", "idle_wait", "call",
           "host", "unrecorded")
GAPS = ("idle_unrecorded", "unrecorded")


def key(name):
    """Orders NULL first."""
    return name is not None, (name or "").encode()


HASH = r"_(?!(?:b?f(?:8|16|32|64))+$)(?=[a-f]*[0-9])[0-9a-f]{8,}"


def unnumbered(name):
    """L12.4: the name without numbers and hashes at the end, and whether it had a hash."""
    hashed = False
    while True:
        if found := re.fullmatch(rf"(.*?[^_:/.#])[_:/.#]*{HASH}", name, re.S):
            hashed = True
        else:
            found = re.fullmatch(r"(.*?[^_:/.#])(?:[_:/.#]+|[_:/.#]*: )[0-9]+", name, re.S)
        if not found:
            return name, hashed
        name = found[1]


def same_names(sides):
    """{name: the equivalent name} from {name: {side}}."""
    shorts, both, kept = {name: unnumbered(name) for name in sides}, defaultdict(set), set()
    for name, (short, _) in shorts.items():
        if len(sides[name]) == 2 and short != name:
            kept.add(short)
        else:
            both[short] |= sides[name]
    return {name: short for name, (short, hashed) in shorts.items()
            if short != name and len(sides[name]) == 1
            and (both[short] == {0, 1} or hashed and short not in kept)}


def unit(class_, name, sides):
    """L12.1: the unit in which a time is compared; None: it stays."""
    if class_ is None:
        return None
    if class_ in (*GAPS, "idle_wait"):
        return ()
    if name is None:
        return None
    if class_ in DEVICE or sides[class_, name] == {0, 1}:
        return class_, name
    return None if class_ in ("call", "host") else ()


def settle(times, windows, part_of, unit_of, order):
    """Moves the times of {place: [ns of control, ns of test]} in place (L12.2, L12.3). part_of(place) is (class, name,
    family), unit_of(place) is (class, name), and order(place) breaks ties between places of a part with equal
    differences. Returns the time that moved from or to each place.
    """
    def diff(pair):
        return pair[1] * windows[0] - pair[0] * windows[1]
    shifted, recorded = Counter(), {place: pair[0] for place, pair in times.items()}
    if not all(windows):
        return shifted
    sides = defaultdict(set)
    for place, pair in times.items():
        sides[unit_of(place)] |= {side for side in range(2) if pair[side] > 0}
    units = defaultdict(lambda: defaultdict(list))
    for place in times:
        units[unit(*unit_of(place), sides)][part_of(place)].append(place)
    units.pop(None, None)
    for parts in units.values():
        movers = []
        for part, places in parts.items():
            both = [sum(times[place][side] for place in places) for side in range(2)]
            places.sort(key=lambda place: (-abs(diff(times[place])), order(place)))
            movers.append([diff(both), part, places, all(both)])
        for round in range(2):  # gaps alone first
            movers.sort(key=lambda mover: (mover[3], -abs(mover[0]), CLASSES.index(mover[1][0]),
                                           *map(key, mover[1][1:])))
            taking = [mover for mover in movers if round or mover[1][0] in GAPS]
            lost = [mover for mover in taking if mover[0] <= -windows[1]]
            gained = [mover for mover in taking if mover[0] >= windows[1]]
            while lost and gained:
                amount = min(-lost[0][0], gained[0][0]) // windows[1]
                shift(times, shifted, lost[0][2], amount, -1, diff, windows)
                shift(times, shifted, gained[0][2], amount, 1, diff, windows)
                lost[0][0] += amount * windows[1]
                gained[0][0] -= amount * windows[1]
                lost = lost[lost[0][0] > -windows[1]:]
                gained = gained[gained[0][0] < windows[1]:]
    gaps, late = [], []  # the rest of gaps on one side, and of host time (L12.5)
    for parts in units.values():
        for part, places in parts.items():
            both = [sum(times[place][side] for place in places) for side in range(2)]
            mover = [diff(both), part, places, all(both)]
            if part[1] is None or abs(mover[0]) < windows[1]:
                continue
            if part[0] in ("idle_call", "idle_host", "idle_launch"):
                late.append(mover)
            elif part[0] in GAPS and (not both[1] or not sum(map(recorded.get, places))):
                gaps.append(mover)
    for movers in (gaps, late):
        movers.sort(key=lambda mover: (mover[3], -abs(mover[0]), CLASSES.index(mover[1][0]), *map(key, mover[1][1:])))
    for gap in gaps:
        for event in late:
            lost, gained = (gap, event) if gap[0] < 0 else (event, gap)
            if is_beside(gap[1][1], event[1][1]) and -lost[0] >= windows[1] and gained[0] >= windows[1]:
                amount = min(-lost[0], gained[0]) // windows[1]
                shift(times, shifted, lost[2], amount, -1, diff, windows)
                shift(times, shifted, gained[2], amount, 1, diff, windows)
                lost[0] += amount * windows[1]
                gained[0] -= amount * windows[1]
    return shifted


def is_beside(gap, name):
    """Whether a gap (A5.4) is directly before or after an event of this name."""
    return gap in (f"after {name}", f"before {name}") or gap.startswith("between ") and (
        gap.startswith(f"between {name} and ") or gap.endswith(f" and {name}"))


def shift(times, shifted, places, amount, sign, diff, windows):
    for rest in (False, True):
        for place in places:
            room = max(sign * diff(times[place]), 0) // windows[1]
            if rest:
                room = times[place][0] if sign < 0 else amount
            part = min(room, amount)
            times[place][0] += sign * part
            shifted[place] += part
            amount -= part


def label_of(event):
    """L13.2: a label of a document in comparable form, or None if the event is no label."""
    if event.get("cat") == "python_function" and not event["name"].startswith("nn.Module: "):
        return "python"
    if event.get("cat") not in ("user_annotation", "python_function"):
        return None
    name = event["name"]
    if name.startswith(("Optimizer.", "enumerate(DataLoader)")):
        name = name.split("#")[0]
    return re.sub("[0-9]+", "#", name)


def drop_unshared(documents):
    """Both documents without the labels of one side only (L13)."""
    def works(event):
        return event.get("cat") in ("cpu_op", "Operator", "kernel", "gpu_memcpy", "gpu_memset")
    events = [document["traceEvents"] for document in documents]
    if not all(any(map(works, each)) for each in events):
        return documents
    shared = set.intersection(*({label_of(event) for event in each} for each in events))
    return [{**document, "traceEvents": [event for event in document["traceEvents"]
                                         if label_of(event) in (None, *shared)
                                         or event["name"].startswith("ProfilerStep")]}
            for document in documents]


def ends(event):
    """Two events of length 0; the window without steps still covers all events (A2.5)."""
    return [{**event, "dur": 0}, {**event, "ts": event["ts"] + event["dur"], "dur": 0}]


def plain_sides(*sides):
    """Writes the two traces without the labels of one side (L13) to the current folder; returns the new paths."""
    for number in range(2):
        shutil.rmtree(f"plain{number}", ignore_errors=True)
    paths = [sorted(glob.glob(f"{side}/*")) if os.path.isdir(side) else [side] for side in sides]
    read = [[json.loads((gzip.open if path.endswith(".gz") else open)(path, "rb").read()) for path in of]
            for of in paths]
    joined = [{"traceEvents": [event for document in of for event in document["traceEvents"]]} for of in read]
    kept = [{id(event) for event in document["traceEvents"]} for document in drop_unshared(joined)]
    for number, side in enumerate(sides):
        for path, content in zip(paths[number], read[number]):
            content["traceEvents"] = [part for event in content["traceEvents"]
                                      for part in ([event] if id(event) in kept[number] else ends(event))]
            os.makedirs(f"plain{number}", exist_ok=True)
            with (gzip.open if path.endswith(".gz") else open)(f"plain{number}/{os.path.basename(path)}", "wt") as file:
                json.dump(content, file)
    return [f"plain{number}" if os.path.isdir(side) else f"plain{number}/{os.path.basename(side)}"
            for number, side in enumerate(sides)]


def drop_labels(attributed, plain):
    """Removes labels that are not in the files of plain_sides() from a file of oracle_steps.Attributed."""
    labels = ("user_annotation", "python_function")
    kept = {(row.cat, row.name) for file in plain for row in file.rows if row.dur_ns}
    for rows in attributed.threads.values():
        rows[:] = [row for row in rows if row.cat not in labels or (row.cat, row.name) in kept]


BACKWARD = r"autograd::engine|torch::autograd::AccumulateGrad|.*Backward[0-9]?\Z"


def late_parts(attributed, threads, owner, instant):
    """(the communication part that loses an instant by L9, the host part that gains it), as (class, annotation, area,
    top_op, top_name, op, kernel).
    """
    holding = next(filter(None, (attributed.holding(thread, instant) for thread in threads)), [])
    class_, op = attributed.host(threads, instant, "op")
    annotation, top_name = label(holding, "annotation"), attributed.host(threads, instant, "top_name")[1]
    module = label(holding, "module") or ""
    backward = re.match(BACKWARD, top_name or "") and not module.startswith("nn.Module: ")
    return (("comm", None, attributed.area(owner), None, None, None, stable(owner.name)),
            (class_, annotation, annotation or ("backward" if backward else None), label(holding, "top_op"), top_name,
             op, None))


def late_rows(side, late, rows):
    """Rows for settled() from {part: ns}; `rows` of that side give the families of areas."""
    families = {row[4]: row[5] for row in rows if row[0] == side}
    for (class_, annotation, area, *names), ns in late.items():
        family = area and families.get(area, re.sub(r"(?<=\.)[0-9]+(?=\.)", "*", area))
        yield (side, None, class_, annotation, area, family, *names, ns)


# {place: [ns of control, ns of test]} and the same before moving; the moved time by place; {name: its equivalent}
Settled = namedtuple("Settled", "times before windows shifted same")


def settled(rows):
    """Settled, from rows (side, steps, class, annotation, area, family, top_op, top_name, op, kernel, ns). A place is
    (class, family, name, area, late area, op, unit, stage).
    """
    families, times, windows = {row[5] for row in rows}, defaultdict(lambda: [0, 0]), [0, 0]
    for side, steps, class_, annotation, area, family, top_op, top_name, op, kernel, ns in rows:
        windows[side] = max(windows[side], steps or 0)
        if class_ is None:
            continue
        star = area and area.rstrip("0123456789") + "*"
        family = star if star in families else family
        late = class_ in ("idle_call", "idle_host", "idle_launch") and (annotation is not None or area == "backward")
        device, loader = class_ in DEVICE, (annotation or "").startswith("enumerate(DataLoader)")
        stage = (None if device else "optimizer" if (annotation or "").startswith("Optimizer.") else
                 "loader" if loader else "backward" if re.match(BACKWARD, top_op or "", re.S) else "forward")
        name = (kernel if class_ == "comm" else op if class_ in (*GAPS, "idle_call", "idle_launch", "call") else
                (kernel if top_name is None else top_name) if device else annotation if loader else top_name)
        times[class_, family if device else None, name, area if device else None, family if late else None,
              op if class_ == "compute" else None, kernel if device else op, stage][side] += ns
    times = {place: pair for place, pair in times.items() if any(pair)}
    sides = defaultdict(set)
    for place, pair in times.items():
        for name in {place[1], place[2], place[6]} - {None}:
            sides[name] |= {side for side in range(2) if pair[side] > 0}
    same, joined = same_names(sides), defaultdict(lambda: [0, 0])
    for place, pair in times.items():
        renamed = tuple(same.get(name, name) if i in (1, 2, 6) else name for i, name in enumerate(place))
        joined[renamed] = [a + b for a, b in zip(joined[renamed], pair)]
    before = {place: list(pair) for place, pair in joined.items()}
    shifted = settle(
        joined, windows, lambda place: (place[0], place[2], place[1]), lambda place: (place[0], place[6]),
        lambda place: (*map(key, place[3:7]), place[7] or "z"))
    return Settled(joined, before, windows, shifted, same)


def placed(rows):
    """[(side, steps, class, ns, of_device, area, late_area, family, stage, name, whether too much moved for the name to
    be meaningful (L12.3), ns of control before L12)]
    """
    joined, before, windows, shifted, _ = settled(rows)
    parts = defaultdict(lambda: [0, 0, 0, 0])  # before moving, moved, and the rest of the difference
    for place, pair in before.items():
        control, test = joined[place]
        of, diff = parts[place[0], place[1], place[2]], test * windows[0] - control * windows[1]
        of[:] = map(sum, zip(of, (*pair, shifted[place] * windows[1], diff)))
    result = [(side, windows[side], None, None, 0, None, None, None, None, None, 0, 0) for side in range(2)]
    for place, pair in joined.items():
        class_, family, name, area, late_area, _, _, stage = place
        first, second, moved, left = parts[class_, family, name]
        for side in range(2):
            recorded = 0 if side else before[place][0]
            if pair[side] or recorded:
                result.append((side, windows[side], class_, pair[side], class_ in DEVICE, area, late_area, family,
                               stage, name, 10 * moved > abs(left) and not (first and second), recorded))
    return result
