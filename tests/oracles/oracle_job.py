"""An independent implementation of the path of a job, Q1 to Q6, Q8 and Q10, on top of oracle_steps.py.

It is word for word and slow: for every instant of every rank it knows the part. Use it only for few events.

    job = Job(read_trace("runs/a"), "device")
    job.schedule                     # [Stretch], from the end of the last window back
    job.parts("op", chosen)          # Counter of ns by (iteration, rank, class, name)
    only_ranks(control, test, "op")  # {(class, name): the rank of Q8} of two jobs, all steps

Times are integer nanoseconds; None is SQL's NULL.
"""
import gzip
import json
import re
from bisect import bisect_left
from collections import Counter, defaultdict, namedtuple
from dataclasses import dataclass
from fractions import Fraction

import oracle
import oracle_steps
from oracle_steps import end, kind, stable, takes_part, thread_of

CLOSE, ROUNDED = 10_000, 1_000  # ns
FOR_ALL = ("allreduce", "allgather", "reducescatter", "alltoall")
ON_HOST, ON_DEVICE = re.compile("(gloo|mpi|ucc):"), re.compile("(nccl|xccl|hccl):")
MAY_WAIT = re.compile("_?c10d|autograd::engine::|record_param_comms|(gloo|mpi|ucc|nccl|xccl|hccl):")

# A rank's time without changes; only class comm has an `owner`; whether the thread may wait (Q10.3)
Piece = namedtuple("Piece", "start end window file class_ owner waits")
# A part of the path on a rank, on the reference's clock; `queued` is the collective P of Q5.4
Stretch = namedtuple("Stretch", "window start end rank offset queued waiting awaited")


@dataclass(eq=False)
class Collective:
    rank: int
    file: object
    row: object
    step: int
    group: tuple           # None: cannot be matched (Q10.2)
    name: str              # stable
    for_all: bool
    on_host: bool = False
    key: tuple = None      # on all ranks of the collective; None: not matched
    before: object = None  # the collective of Q5.4

    @property
    def start(self):
        return self.row.ts_ns

    @property
    def end(self):
        return end(self.row)


def args_of(file):
    with (gzip.open if file.path.endswith(".gz") else open)(file.path, "rt", encoding="utf-8") as text:
        read = json.load(text)
    events = read["traceEvents"] if isinstance(read, dict) else read
    return lambda row: events[row.event].get("args") or {}


def is_for_all(name):
    return any(word in name.lower().replace("_", "") for word in FOR_ALL)


def group_of(told):
    """W1: the process group in args, or None."""
    name = next((told[key] for key in ("Process Group Name", "Process Group Description", "Process Group Ranks")
                 if told.get(key) is not None), None)
    return None if name is None else (name, told.get("Process Group Ranks"))


class Rank:
    """What the oracle knows about a rank."""

    def __init__(self, number, files, clock):
        self.number = number
        self.attributed = {id(file): oracle_steps.Attributed(file) for file in files}
        self.windows = [(window, file) for file in files for window in oracle_steps.windows_of(file, clock)]
        self.windows.sort(key=lambda each: (each[0].start, each[0].iteration or 0))
        self.collectives = [each for file in files for each in
                            (self.collectives_of if self.attributed[id(file)].work else self.host_collectives)(file)]
        self.pieces = list(self.all_pieces())
        self.ends = [piece.end for piece in self.pieces]
        self.parts = self.joined(lambda a,
                                 b: (a.class_, a.owner, a.window, a.waits) == (b.class_, b.owner, b.window, b.waits))
        self.runs = self.joined(lambda a, b: True, [piece for piece in self.pieces if piece.class_ == "comm"])
        self.waits = self.joined(lambda a, b: a.window == b.window, [piece for piece in self.pieces if piece.waits])

    def collectives_of(self, file):
        args, found = args_of(file), {}
        work = [row for row in file.rows if oracle.is_device_work(row) and takes_part(row)]
        for row in file.rows:
            if not (oracle.is_device_work(row) and oracle.is_counted(row) and row.ts_ns is not None
                    and kind(row) == "COMMUNICATION"):
                continue
            group = group_of(args(row)) or (stable(row.name), None)
            found[row.event] = Collective(self.number, file, row, row.iteration, group, stable(row.name),
                                          is_for_all(row.name))
        for each in found.values():
            earlier = [row for row in work if thread_of(row) == thread_of(each.row) and row.ts_ns < each.start
                       and end(row) <= each.start + ROUNDED]
            last = max(earlier, default=None, key=lambda row: (end(row), row.ts_ns, row.event))
            if last and each.start - end(last) <= CLOSE:
                each.before = found.get(last.event)
        return found.values()

    def host_collectives(self, file):
        """Q10.1 and Q10.2"""
        args, found = args_of(file), []
        events = [row for row in file.rows if row.cat in ("user_annotation", "cpu_op", "Operator") and row.name]
        named = [row for row in events if ON_HOST.match(row.name)]
        if not named and not any(ON_DEVICE.match(row.name) for row in events):
            named = [row for row in events if row.name.startswith("record_param_comms")
                     and args(row).get("Collective name") is not None]
        for row in named:
            if not takes_part(row):
                continue
            name = args(row).get("Collective name")
            for_all = is_for_all(name or row.name) or "barrier" in (name or row.name)
            name = name or stable(row.name)
            group = group_of(args(row)) or (None if "send" in name or "recv" in name else (name, None))
            found.append(Collective(self.number, file, row, row.iteration, group, name, for_all, on_host=True))
        return found

    @staticmethod
    def may_wait(attributed, thread, instant):
        """Q10.3"""
        if attributed.work or thread is None:
            return False
        holding = attributed.holding(thread, instant)
        operators = [row for row in holding if row.cat in oracle_steps.OPERATORS]
        if holding and oracle.is_call(max(holding, key=oracle_steps.innerness)):
            return False
        return not operators or bool(MAY_WAIT.match(max(operators, key=oracle_steps.innerness).name))

    def all_pieces(self):
        borders = sorted({at for window, _ in self.windows for at in (window.start, window.end)})
        changes = defaultdict(set)
        for window, file in self.windows:
            changes[id(file)].update(self.attributed[id(file)].changes(window) if window.start < window.end else ())
        for start, until in zip(borders, borders[1:]):
            holding = [each for each in self.windows if each[0].start <= start < each[0].end]
            if not holding:
                continue
            window, file = max(holding, key=lambda each: (each[0].start, -each[0].end, each[0].iteration or 0))
            attributed = self.attributed[id(file)]
            inside = sorted(at for at in changes[id(file)] | {start, until} if start <= at <= until)
            for a, b in zip(inside, inside[1:]):
                class_ = attributed.at(window, a, "op")[0]
                owner = min((row for row in attributed.work if row.ts_ns <= a < end(row)
                             and kind(row) == "COMMUNICATION"),
                            key=lambda row: (row.ts_ns, row.event)).event if class_ == "comm" else None
                yield Piece(a, b, window, file, class_, owner, self.may_wait(attributed, window.thread, a))

    def joined(self, alike, pieces=None):
        """[(start, end)] of equal pieces that follow each other without a gap."""
        found, pieces = [], self.pieces if pieces is None else pieces
        for last, piece in zip([None, *pieces], pieces):
            if last and last.end == piece.start and alike(last, piece):
                found[-1] = found[-1][0], piece.end
            else:
                found.append((piece.start, piece.end))
        return found

    def piece_before(self, t):
        """The piece that contains the instant before t."""
        i = bisect_left(self.ends, t)
        return self.pieces[i] if i < len(self.pieces) and self.pieces[i].start < t else None

    @staticmethod
    def around(stretches, t):
        return next((start, until) for start, until in stretches if start < t <= until)


class Job:
    def __init__(self, trace, clock):
        files = [file for file in trace.files if file.steps] or trace.files  # Q1.2
        self.stepped = any(file.steps for file in files)
        by_rank = defaultdict(list)
        for file in files:
            by_rank[file.rank].append(file)
        self.ranks = {number: Rank(number, by_rank[number], clock) for number in sorted(by_rank)}
        self.reference = min(self.ranks)
        self.matched = defaultdict(dict)  # {key: {rank: Collective}}
        self.match()
        self.not_matched = (sum(each.key is None for rank in self.ranks.values() for each in rank.collectives)
                            if len(self.ranks) > 1 else 0)
        self.for_all = {key: of[min(of)].for_all for key, of in self.matched.items()}
        self.schedule, self.tied, self.own_starts = [], {self.reference}, 0
        self.follow()

    # ---- Q2 ---------------------------------------------------------------

    def match(self):
        groups = defaultdict(lambda: defaultdict(list))
        for number, rank in self.ranks.items():
            for each in rank.collectives:
                if each.group and (each.step is not None or not self.stepped):
                    groups[each.step, each.group][number].append(each)
        for group, of_ranks in groups.items():
            if len({len(found) for found in of_ranks.values()}) > 1:
                continue
            for number, found in of_ranks.items():
                found.sort(key=lambda each: (each.start, each.end, each.name))
                for seq, each in enumerate(found):
                    each.key = (*group, seq)
                    self.matched[each.key][number] = each

    # ---- Q3 ---------------------------------------------------------------

    def search(self, keys):
        """{rank: offset} for the ranks reached through these collectives."""
        offset, order = {self.reference: 0}, [self.reference]
        for a in order:
            for b in self.ranks:
                later = sorted(self.matched[key][b].end - self.matched[key][a].end for key in keys
                               if {a, b} <= self.matched[key].keys())
                if b not in offset and later:
                    offset[b] = offset[a] + later[(len(later) - 1) // 2]
                    order.append(b)
        return offset

    def offsets(self, step):
        found = {}
        for keys in (list(self.matched), [key for key in self.matched if key[0] == step]):
            found = {**found, **self.search(keys)}
            found = {**found, **self.search([key for key in keys if self.for_all[key]])}
        return found

    # ---- Q4 and Q5 --------------------------------------------------------

    def last_start(self, collective, offset):
        """(instant, collective) of the rank that started it last, among those that started before its end, or None."""
        if collective.key is None:
            return None
        ended = collective.end - offset[collective.rank]
        any_ = collective.on_host and self.for_all[collective.key]  # Q10.5
        starts = [(each.start - offset[number], -number, each) for number, each in self.matched[collective.key].items()
                  if number in offset and (any_ or each.start - offset[number] < ended)]
        if not starts:
            return None
        start, _, last = max(starts, key=lambda each: each[:2])
        return start, last

    def awaited(self, rank, t):
        """X of Q5.2, for the instant before t; None if the part is on the path."""
        start, until = Rank.around(rank.runs, t)
        found = [each for each in rank.collectives if each.start < t and until - CLOSE <= each.end <= until + ROUNDED]
        piece = rank.piece_before(t)
        owner = next(each for each in rank.collectives if each.row.event == piece.owner and each.file is piece.file)
        if found:
            best = max((each.start, each.end) for each in found)
            x = [each for each in found if (each.start, each.end) == best][-1]
            return owner if x.before is owner else x
        if any(each.before is owner for each in rank.collectives):
            return owner
        cut = any(owner.end - ROUNDED <= other <= owner.end + CLOSE and other != until for _, other in rank.runs)
        return owner if cut and until - start > CLOSE else None

    def awaited_on_host(self, rank, t, begin):
        """X of Q10.4, for the instant before t in a wait."""
        found = [each for each in rank.collectives if each.start < t and 2 * abs(each.end - t) <= t - begin]
        return min(reversed(found), default=None, key=lambda each: (abs(each.end - t), -each.start, -each.end))

    def follow(self):
        number, t, visited, at = self.reference, None, set(), None
        came = None, None
        for window, _ in reversed(self.ranks[self.reference].windows):
            if window.end <= window.start:
                continue
            offset = self.offsets(window.iteration)
            self.tied |= offset.keys()
            t = window.end
            if t != at:
                visited, at = {number}, t

            def back(until, queued=None):
                """Puts the time until then on the path, as far as it is in the window."""
                nonlocal t, visited, at, came
                until = max(until, window.start)
                if until < t:
                    self.schedule.append(Stretch(window, until, t, number, offset[number], queued, *came))
                    t, came = until, (None, None)
                    visited, at = {number}, t

            while t > window.start:
                rank = self.ranks[number]
                own = t + offset[number]
                piece = rank.piece_before(own)
                if piece is None:  # Q5.6
                    between, came = number, (None, None)
                    number = self.reference
                    visited.add(number)
                    ended = [window_.end for window_, _ in rank.windows if window_.start < window_.end < own]
                    if ended:
                        back(max(ended) - offset[between])
                        number = between
                        visited.add(number)
                    continue
                if piece.waits and len(self.ranks) > 1:  # Q10.5, Q1.3
                    begin = Rank.around(rank.waits, own)[0]
                    x = self.awaited_on_host(rank, own, begin)
                    last, begin = x and self.last_start(x, offset), begin - offset[number]
                    if not last or (last[0] >= t and last[1].rank in visited):
                        back(begin)
                        continue
                    self.own_starts += last[1].rank == number and last[0] >= begin
                    back(max(x.end - offset[number], last[0], begin))
                    back(max(last[0], begin), x)
                    if t <= last[0] and last[1].rank != number:
                        came, number = (number, x), last[1].rank
                        visited.add(number)
                    continue
                begin = Rank.around(rank.parts, own)[0] - offset[number]
                x = self.awaited(rank, own) if piece.class_ == "comm" else None
                last = x and self.last_start(x, offset)
                if not last or last[1].rank == number or last[0] < begin or (last[0] >= t and last[1].rank in visited):
                    back(begin)
                    continue
                back(last[0])
                if t > last[0]:  # it was before the window
                    continue
                came = number, x
                number = last[1].rank
                visited.add(number)
                x = last[1]
                while x.before and x.before.key is not None:  # Q5.4
                    p = x.before
                    last = self.last_start(p, offset)
                    if not last or (last[0] >= t and last[1].rank != number and last[1].rank in visited):
                        break
                    back(last[0], p)
                    if t > last[0]:
                        break
                    if last[1].rank != number:
                        came = number, p
                        number = last[1].rank
                        visited.add(number)
                    x = last[1]

    # ---- Q6 ---------------------------------------------------------------

    def parts(self, level, chosen):
        """Counter of ns by (iteration, rank, class, name) in the selected windows; None selects all."""
        found = Counter()
        for window, _ in self.ranks[self.reference].windows:
            if window.start >= window.end and (chosen is None or window.iteration in chosen):
                found[window.iteration, self.reference, None, None] = 0
        for stretch in self.schedule:
            iteration = stretch.window.iteration
            if chosen is not None and iteration not in chosen:
                continue
            if stretch.queued:
                name = stable(stretch.queued.row.name)
                found[iteration, stretch.rank, "comm", name] += stretch.end - stretch.start
                continue
            rank = self.ranks[stretch.rank]
            for piece in rank.pieces:
                start = max(piece.start - stretch.offset, stretch.start)
                until = min(piece.end - stretch.offset, stretch.end)
                if start < until:
                    window = stretch.window if stretch.rank == self.reference else piece.window
                    named = rank.attributed[id(piece.file)].at(window, piece.start, level)
                    found[(iteration, stretch.rank, *named)] += until - start
        return found

    # ---- Q8 ---------------------------------------------------------------

    def own(self, number, level):
        """{(class, name): ns per step} in the rank's own steps."""
        rank, found = self.ranks[number], Counter()
        for window, file in rank.windows:
            attributed = rank.attributed[id(file)]
            at = sorted({window.start, window.end, *attributed.changes(window)}) if window.start < window.end else []
            for start, until in zip(at, at[1:]):
                if window.start <= start < window.end:
                    found[attributed.at(window, start, level)] += until - start
        return {part: Fraction(ns, len(rank.windows)) for part, ns in found.items()}

    def mean(self, level):
        """{(class, name): ns per step} on the path."""
        found = Counter()
        for (_, _, *part), ns in self.parts(level, None).items():
            found[tuple(part)] += ns
        return {part: Fraction(ns, len(self.ranks[self.reference].windows)) for part, ns in found.items()}


def only_rank(whole, own):
    """The rank of Q8 for a difference, by the own differences of the ranks; `?` if rounding could decide it."""
    if len(own) < 2 or whole == 0:
        return None
    signed = {rank: each if whole > 0 else -each for rank, each in own.items()}
    rank = max(signed, key=signed.get)
    first, second, others = signed.pop(rank), max(0, *signed.values()), sum(signed.values())
    if first > 0 and any(abs(part) < Fraction(1, 10 ** 6) for part in (
            2 * first - abs(whole), 2 * second - first, 4 * others - first)):
        return "?"
    return rank if first > 0 and 2 * first >= abs(whole) and 2 * second < first and 4 * others < first else None


def only_ranks(control, test, level):
    shared = control.ranks.keys() & test.ranks.keys()
    means, owns = (control.mean(level), test.mean(level)), {rank: (control.own(rank, level), test.own(rank, level))
                                                            for rank in shared}

    def difference(sides, part):
        return sides[1].get(part, 0) - sides[0].get(part, 0)
    return {part: only_rank(difference(means, part), {rank: difference(own, part) for rank, own in owns.items()})
            if part[0] != "comm" else None for part in means[0].keys() | means[1].keys() if part[0]}
