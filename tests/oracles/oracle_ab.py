"""An independent implementation of the rules of trace_ab (V1 to V12), with runs as the unit, or steps where there are
too few runs.

It computes distributions in other ways than the extension: the incomplete beta function by its continued fraction, the
noncentral t by the trapezoidal rule, quantiles by bisection.

    ab(runs_of("runs/a*"), runs_of("runs/b*"))      # [Row], in the order of trace_ab
    judge([read(paths) ...], [...])                 # the same for values that were read or generated

Values are microseconds, and exact fractions where they were read; None is SQL's NULL.
"""
import bisect
import functools
import glob
import json
import math
import os
import re
import statistics
from collections import Counter, defaultdict, namedtuple
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import oracle
import oracle_marks
import oracle_names
import oracle_stacks
import oracle_steps

Row = namedtuple("Row", "name device unit control_n test_n control_steps test_steps control_mean test_mean diff"
                        " diff_pct "
                        "ci_low ci_high detectable p_value q_value verdict gate runs_needed note")
SIDES = ("control", "test")
STEP = ("step", "step")  # device and name in the row of the steps
OTHER_KERNELS = "autotuning may pick other kernels from run to run"
NOT_EVERY_STEP = "not in every step: means over steps"
AGAIN = ("running the same program again may differ too. Record 3 or more runs per side, "
          "interleaved.")
ASK_BY_RUN = "steps of one run are not independent: ask by run"
MOST_RUNS = 1000


# ---- distributions -----------------------------------------------------------

def tenths(percent):
    """SQLite's %+.1f: ties are rounded away from 0."""
    return f"{Decimal(repr(percent)).quantize(Decimal('0.1'), ROUND_HALF_UP):+}"


def beta_fraction(a, b, x):
    """The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's method."""
    tiny, c, d = 1e-300, 1.0, 1 / (1 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, 10_000):
        for numerator in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                          -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d, c = 1 / (1 + numerator * d or tiny), 1 + numerator / c or tiny
            result *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    return result


def incomplete_beta(a, b, x, rest):
    """I_x(a, b), where rest is 1 - x."""
    if x <= 0 or rest <= 0:
        return float(rest <= 0)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest))
    if x < (a + 1) / (a + b + 2):
        return front * beta_fraction(a, b, x) / a
    return 1 - front * beta_fraction(b, a, rest) / b


def upper_tail(t, df):
    """P(T > t) of Student's t."""
    square = t * t
    if math.isinf(square):
        return float(t < 0)
    half = incomplete_beta(df / 2, 0.5, df / (df + square), square / (df + square)) / 2
    return half if t >= 0 else 1 - half


def solve(function, low, high):
    """Where a falling function crosses zero."""
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return middle


@functools.lru_cache(maxsize=None)
def exceeded(p, df):
    """The t that is exceeded with probability p < 0.5."""
    high = 1.0
    while upper_tail(high, df) > p:
        high *= 2
    return solve(lambda t: upper_tail(t, df) - p, 0.0, high)


@functools.lru_cache(maxsize=None)
def nodes(df):
    """[(s, weight)] for s = sqrt(chi squared / df). In log(s) the density is smooth and falls quickly on both sides, so
    the trapezoidal rule is exact to the last digits.
    """
    constant = math.log(2) + df / 2 * math.log(df / 2) - math.lgamma(df / 2)
    step = 1 / 64 / math.sqrt(max(1, df / 8))
    made = [(math.exp(u), step * math.exp(constant + df * u - df * math.exp(2 * u) / 2))
            for u in (at * step for at in range(-math.ceil(45 / step / max(1, math.sqrt(df))), math.ceil(4 / step)))]
    return [(s, weight) for s, weight in made if weight > 1e-30]


def noncentral_tail(t, df, ncp):
    """P(T > t) of the noncentral t, where T is (Z + ncp) / s."""
    return math.fsum(weight * math.erfc((t * s - ncp) / math.sqrt(2)) / 2 for s, weight in nodes(df))


@functools.lru_cache(maxsize=None)
def needed_ncp(df, power=0.8, level=0.05):
    """The noncentrality at which a two-sided test has this `power` on the side of the difference."""
    t = exceeded(level / 2, df)
    return solve(lambda ncp: power - noncentral_tail(t, df, ncp), 0.0, 10 * t + 10)


def benjamini_hochberg(ps):
    order = sorted(range(len(ps)), key=lambda at: ps[at], reverse=True)
    result, least = [1.0] * len(ps), 1.0
    for passed, at in enumerate(order):
        least = min(least, ps[at] * len(ps) / (len(ps) - passed))
        result[at] = least
    return result


def holm(ps, level):
    """Which hypotheses are rejected."""
    result = [False] * len(ps)
    for passed, at in enumerate(sorted(range(len(ps)), key=lambda at: ps[at])):
        if ps[at] > level / (len(ps) - passed):
            break
        result[at] = True
    return result


# ---- two samples of steps ----------------------------------------------------

@functools.lru_cache(maxsize=None)
def orders(n, m):
    """The number of orders of n and m values for each U, by the number of partitions."""
    if n == 0 or m == 0:
        return [1]
    with_last, without = orders(n - 1, m), orders(n, m - 1)  # whether the last value is in the first sample
    return [(with_last[u - m] if 0 <= u - m < len(with_last) else 0) + (without[u] if u < len(without) else 0)
            for u in range(n * m + 1)]


def shift(control, test):
    """(shift, low, high, level) of Hodges and Lehmann, like R's wilcox.test(test, control)."""
    n, m = len(control), len(test)
    differences = sorted(y - x for x in control for y in test)
    middle = statistics.median(differences)
    level = min(0.95, 1 - 2 / math.comb(n + m, n))
    if n < 50 and m < 50 and len(set(control + test)) == n + m:
        below, rank = 0, 0
        counts = orders(n, m)
        while 40 * (below + counts[rank]) < math.comb(n + m, n):
            below += counts[rank]
            rank += 1
        rank = max(rank, 1)
        return middle, differences[rank - 1], differences[n * m - rank], level
    ends = [crossing(sorted(control), sorted(test), differences, z) for z in (1, -1)]
    return middle, *ends, level


def crossing(control, test, differences, sign):
    """The difference d where the ranks of test - d stop being far above control's (sign 1), or begin to be far below
    (-1).
    """
    z = sign * statistics.NormalDist().inv_cdf(0.975)
    places = sorted(set(differences))
    between = [places[0], *((a + b) / 2 for a, b in zip(places, places[1:])), places[-1]]

    def excess(d):
        return standard_u(control, [y - d for y in test]) - z

    if len(places) == 1 or excess(places[0]) <= 0:
        return places[0]
    if excess(places[-1]) >= 0:
        return places[-1]
    low, high = 0, len(places)  # excess(between[at]) falls with at
    while low + 1 < high:
        at = (low + high) // 2
        low, high = (at, high) if at < len(places) and excess(between[at]) > 0 else (low, at)
    return places[low]


def standard_u(control, test):
    """U minus its mean, divided by its standard deviation, corrected for ties and continuity."""
    n, m = len(control), len(test)
    u = sum(bisect.bisect_left(control, y) + Fraction(bisect.bisect_right(control, y) - bisect.bisect_left(control, y),
                                                      2)
            for y in test)
    off = u - Fraction(n * m, 2)
    off -= Fraction((off > 0) - (off < 0), 2)
    counts = defaultdict(int)
    for value in control + test:
        counts[value] += 1
    ties = sum(count ** 3 - count for count in counts.values())
    variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)))
    return float(off) / math.sqrt(variance) if variance > 0 else 0.0


def mean_ranks(values):
    order = sorted(values)
    return [Fraction(bisect.bisect_left(order, value) + bisect.bisect_right(order, value) + 1, 2) for value in values]


def autocorrelation(runs):
    """Lag-1 autocorrelation of the ranks of the steps in each run; runs are lists in the order of the steps."""
    above, below = Fraction(0), Fraction(0)
    for values in runs:
        ranks = mean_ranks(values)
        middle = sum(ranks) / len(ranks)
        above += sum((a - middle) * (b - middle) for a, b in zip(ranks, ranks[1:]))
        below += sum((a - middle) ** 2 for a in ranks)
    return above / below if below else Fraction(0)


# ---- a run -------------------------------------------------------------------

@dataclass
class Run:
    """steps: their number; values: {(device, name): a value per step, where the run has it}; start: ns since 1970, or
    None for an unknown clock; files: the selected oracle.Files.
    """
    steps: int
    values: dict = field(default_factory=dict)
    start: int = None
    files: list = field(default_factory=list)


def runs_of(text, runs="auto"):
    """[files of a run]"""
    def entry(one):
        found = sorted(glob.glob(one)) if glob.has_magic(one) and not os.path.exists(one) else [one]
        if found and all(map(os.path.isdir, found)):
            return [oracle.list_directory(folder) for folder in found]
        return [found]

    try:
        array = json.loads(text)
    except ValueError:
        array = None
    made = [files for one in array for files in entry(one)] if isinstance(array, list) else entry(text)
    if runs != "file":
        return made
    return [[file] for file in {(at.st_dev, at.st_ino): file for files in reversed(made) for file in reversed(files)
                                for at in [os.stat(file)]}.values()][::-1]  # a file under two paths counts once


def short_name(name):
    """trace_short_name, for names without nested brackets."""
    return re.sub(r"^void |<[^<>]*>|(?<! )\([^()]*\)", "", name)


def spelt(name, use_short_name):
    return (str, short_name, oracle_names.stable_name)[use_short_name](name)


def read(paths, ranks=None, iterations="steady", device_type="ALL", use_short_name=2, measure="self", steps=None):
    """The Run made of some files."""
    trace = oracle.read_files(paths, in_directory=True, steps=steps)
    chosen = oracle.choose_ranks(trace, ranks)
    files = [file for file in trace.files if file.rank in chosen]
    pairs = oracle.choose_steps(files, iterations)
    rank_of = {file.path: file.rank for file in files}
    places = oracle_stacks.stacks(trace.rows)
    sums = defaultdict(lambda: defaultdict(Fraction))  # per row, by step and rank
    is_wanted = oracle.of_device(device_type)
    for row in (row for file in files for row in file.rows):
        if not oracle.is_counted(row) or not is_wanted(row):
            continue
        if pairs is not None and (row.file, row.iteration) not in pairs:
            continue
        if measure == "count":
            value = 1
        elif measure == "total" or row.device == "GPU":
            value = Fraction(row.dur_ns, 1000)
        else:
            value = Fraction(places[row.file, row.event].self_ns or 0, 1000)
        sums[row.device, spelt(row.name, use_short_name)][row.iteration, rank_of[row.file]] += value
    if device_type == "ALL":
        for file in (file for file in files if file.steps):
            for window in oracle_steps.windows_of(file, "device"):
                if pairs is None or (file.path, window.iteration) in pairs:
                    sums[STEP][window.iteration, file.rank] += Fraction(window.end - window.start, 1000)
    if pairs is None:  # one value
        count = oracle.select(trace, ranks, iterations, device_type)[1]
        numbers, values = [None], {key: [sum(by.values()) / count] for key, by in sums.items()}
    else:
        having = defaultdict(set)  # the ranks that have a step
        for path, number in pairs:
            having[number].add(rank_of[path])
        numbers = sorted(having)
        values = {key: [sum(by[number, rank] for rank in having[number]) / len(having[number]) for number in numbers]
                  for key, by in sums.items()}
    starts = [file.first_ns for file in files if file.base_ns and file.first_ns is not None]
    return Run(len(numbers), values, min(starts) if len(starts) == len(files) else None, files)


# ---- the columns of a row ----------------------------------------------------

@dataclass
class Tested:
    """Logarithms of the runs' values: difference and pooled sd."""
    n: int
    m: int
    difference: float
    sd: float

    @property
    def df(self):
        return self.n + self.m - 2

    @property
    def error(self):
        return self.sd * math.sqrt(1 / self.n + 1 / self.m)

    def tail(self, at):
        """P(T > t) for the difference above `at`."""
        if self.sd == 0:
            return 0.5 if self.difference == at else float(self.difference < at)
        return upper_tail((self.difference - at) / self.error, self.df)


def tested(control, test):
    logs = [[math.log(value) for value in side] for side in (control, test)]
    means = [math.fsum(side) / len(side) for side in logs]
    df = len(control) + len(test) - 2
    if all(len(set(side)) == 1 for side in (control, test)):
        return Tested(len(control), len(test), 0.0 if control[0] == test[0] else means[1] - means[0], 0.0)
    squares = math.fsum((x - mean) ** 2 for side, mean in zip(logs, means) for x in side)
    return Tested(len(control), len(test), means[1] - means[0], math.sqrt(squares / df))


def geometric(values):
    values = [float(value) for value in values if value > 0]
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if values else 0.0


def percent(log_ratio):
    return 100 * math.expm1(log_ratio)


def matching(key, names):
    if names is None:
        return True
    try:
        array = json.loads(names)
    except ValueError:
        array = None
    patterns = array if isinstance(array, list) and all(isinstance(each, str) for each in array) else [names]
    return any(oracle_marks.matches(pattern, key[1]) for pattern in patterns)


def judge(control, test, by_unit="auto", measure="self", min_effect=0.05, names=None, min_diff=0.0):
    """The rows for these Runs."""
    sides = (control, test)
    counts = tuple(map(len, sides))
    by_run = by_unit == "run" or (by_unit == "auto" and sum(counts) - 2 >= 3)
    keys = [key for key in sorted({key for side in sides for run in side for key in run.values})
            if matching(key, names)]
    made = []
    for key in keys:
        row = {"name": key[1], "device": key[0], "unit": "run" if by_run else "step",
               "control_n": sum(key in run.values for run in control), "test_n": sum(key in run.values for run in test),
               "control_steps": sum(run.steps for run in control), "test_steps": sum(run.steps for run in test)}
        found = (of_runs if by_run else of_steps)(key, sides, row, min_effect, min_diff, measure)
        made.append((row, found))
    multiple(made, min_effect, min_diff, measure)
    if by_run and (first := came_first(sides)):
        for row, _ in made:
            row["note"].append(first)
    if pair := copies(control + test):
        for row, _ in made:
            row.update(verdict="~", gate="inconclusive", runs_needed=None,
                       note=[f"'{pair[0]}' and '{pair[1]}' are one recording, not two runs", *row["note"]])
    rows = [Row(**{**dict.fromkeys(Row._fields), **row, "note": "; ".join(row["note"]) or None}) for row, _ in made]
    return sorted(rows, key=lambda row: (row.device != "step", -abs(row.diff), row.device, row.name))


def run_values(key, sides):
    """([values of the runs that have it] per side, whether they are means)"""
    having = [[run.values[key] for run in side if key in run.values] for side in sides]
    medians = [[statistics.median(steps) for steps in side] for side in having]
    if all(value > 0 for side in medians for value in side):
        return medians, False
    return [[sum(steps) / len(steps) for steps in side] for side in having], True


def in_both(key, row, values):
    """Whether a run of each side has the operator; otherwise the columns that rows of both units share."""
    row["note"] = []
    if all(values):
        return True
    row["verdict"] = "deleted" if values[0] else "added"
    if key[0] == "GPU":
        row["note"].append(OTHER_KERNELS)
    return False


def rounding(key, values, measure):
    """The standard deviation of logarithms due to rounding."""
    if measure == "count" and key[0] != "step":
        return 0.0
    unit = 1 if all(Fraction(value) * 16 % 1 == 0 for side in values for value in side) else 0.001
    return unit / math.sqrt(12 * geometric(values[0]) * geometric(values[1]))


def disagree(row, mean_pct, min_effect):
    return abs(mean_pct) > 100 * min_effect >= abs(row["diff_pct"])


def of_runs(key, sides, row, min_effect, min_diff, measure):
    """Fills a row whose unit is the run; returns the Tested, if there was a test."""
    values, means = run_values(key, sides)
    row["control_mean"], row["test_mean"] = map(geometric, values)
    row["diff"] = row["test_mean"] - row["control_mean"]
    row["diff_pct"] = 100 * row["diff"] / row["control_mean"] if row["control_mean"] else None
    both = in_both(key, row, values)
    if both and sum(map(len, sides)) == 2:
        row["verdict"] = "too few"
    notes = row["note"]
    for name, side, own in zip(SIDES, sides, values):
        if own and len(own) < len(side):
            notes.append(f"in {len(own)} of {len(side)} runs of {name}")
            row.setdefault("verdict", "~")
    for name, side, own in zip(SIDES, sides, values):
        if zeros := sum(value == 0 for value in own):
            notes.append(f"no time in {zeros} of {len(side)} runs of {name}")
            row.setdefault("verdict", "~")
    if means:
        notes.append(NOT_EVERY_STEP)
    if not both or "verdict" in row:
        return None
    found = tested(*values)
    found.sd = max(found.sd, rounding(key, values, measure))
    averages = [geometric([sum(map(Fraction, run.values[key])) / len(run.values[key]) for run in side])
                for side in sides]
    row["mean_pct"] = 100 * (averages[1] / averages[0] - 1)
    if disagree(row, row["mean_pct"], min_effect):
        notes.append(f"means over steps differ by {tenths(row['mean_pct'])} %")
    for name, side in zip(SIDES, sides):
        if len(side) < 3:
            notes.append(f"{len(side)} {'run' if len(side) == 1 else 'runs'} of {name}: if its runs differ more than"
                         f" the others,"
                         " p is too small")
    if found.sd == 0:
        row["p_value"] = float(found.difference == 0)
        half = row["detectable"] = 0.0
    else:
        row["p_value"] = 2 * upper_tail(abs(found.difference) / found.error, found.df)
        half = exceeded(0.025, found.df) * found.error
        row["detectable"] = percent(needed_ncp(found.df) * found.error)
    row["ci_low"], row["ci_high"] = percent(found.difference - half), percent(found.difference + half)
    return found


def of_steps(key, sides, row, min_effect, min_diff, _):
    """Fills a row whose unit is the step."""
    counts = tuple(map(len, sides))
    steps = [[run.values.get(key, [0] * run.steps) for run in side] for side in sides]
    samples = [[value for run in side for value in run] for side in steps]
    means = [sum(map(Fraction, side)) / len(side) for side in samples]
    row["control_mean"], row["test_mean"], row["diff"] = *map(float, means), float(means[1] - means[0])
    both = in_both(key, row, run_values(key, sides)[0])
    fill_steps(key, sides, row, samples, steps, both, min_effect, min_diff)
    few = "one run per side: " if counts == (1, 1) else f"too few runs ({counts[0]} against {counts[1]}): "
    row["note"].append(ASK_BY_RUN if sum(counts) - 2 >= 3 else
                       few + ("these recordings differ; " if "here" in row["verdict"] else "") + AGAIN)
    row["runs_needed"] = None if sum(counts) - 2 >= 3 else 3


def fill_steps(key, sides, row, samples, steps, both, min_effect, min_diff):
    middle, low, high, level = shift(*samples)
    row["diff_pct"] = percent_of(middle if both else row["diff"], row["control_mean"])
    if not both:
        return
    if row["control_mean"] and disagree(row, 100 * row["diff"] / row["control_mean"], min_effect):
        row["note"].append(f"means over steps differ by {tenths(100 * row['diff'] / row['control_mean'])} %")
    if row["control_mean"] == 0 or level < 0.95:
        row["verdict"] = "~" if row["control_mean"] == 0 else "too few"
        return
    r = max(0.0, *(float(autocorrelation(side)) for side in steps))
    wider = math.sqrt((1 + r) / (1 - r))
    row["ci_low"] = percent_of(middle - (middle - low) * wider, row["control_mean"])
    row["ci_high"] = percent_of(middle + (high - middle) * wider, row["control_mean"])
    row["verdict"] = "~"
    if row["ci_low"] > 100 * min_effect and middle >= min_diff:
        row["verdict"] = "slower here"
    elif row["ci_high"] < -100 * min_effect and -middle >= min_diff:
        row["verdict"] = "faster here"


def percent_of(value, whole):
    return 100 * float(value) / whole if whole else None


def multiple(made, min_effect, min_diff, measure):
    """Columns that depend on all rows: q, verdicts of runs, the gate, runs_needed."""
    with_p = [(row, found) for row, found in made if row.get("p_value") is not None]
    for (row, _), q in zip(with_p, benjamini_hochberg([row["p_value"] for row, _ in with_p])):
        row["q_value"] = q
        row["verdict"] = verdict(row, min_effect, min_diff)
        if row["verdict"] == "same" and disagree(row, row["mean_pct"], min_effect):
            row["verdict"] = "~"

    def floor(row):
        return math.log1p(max(min_effect, min_diff / row["control_mean"]))

    slower = holm([found.tail(floor(row)) for row, found in with_p], 0.025)
    faster = [1 - found.tail(floor(row)) <= 0.025
              and not (disagree(row, row["mean_pct"], min_effect) and row["mean_pct"] > 0)
              for row, found in with_p]
    gates = {id(row): "slower" if up else "not slower" if down else "inconclusive"
             for (row, _), up, down in zip(with_p, slower, faster)}
    for row, found in made:
        row["gate"] = gates.get(id(row), "inconclusive")
        if row["unit"] == "step":
            continue
        if row["verdict"] == "added":
            row["gate"] = "slower" if row["test_mean"] > 0 and row["test_mean"] >= min_diff else "not slower"
        elif row["verdict"] == "deleted":
            row["gate"] = "not slower"
        elif found is not None and found.sd == 0:
            row["gate"] = "slower" if found.difference > floor(row) else "not slower"
        if row["gate"] == "inconclusive" and found is not None and not (
                disagree(row, row["mean_pct"], min_effect) and row["mean_pct"] > 0):
            row["runs_needed"] = runs_needed(found, floor(row), len(with_p) if found.difference > floor(row) else 1)
    for row, _ in made:
        row.pop("mean_pct", None)
        if measure == "count" and row["device"] != "step":
            row["verdict"] = row["verdict"].replace("slower", "more").replace("faster", "fewer")


def verdict(row, min_effect, min_diff):
    if row["q_value"] <= 0.05 and row["diff_pct"] >= 100 * min_effect and row["diff"] >= min_diff:
        return "slower"
    if row["q_value"] <= 0.05 and -row["diff_pct"] >= 100 * min_effect and -row["diff"] >= min_diff:
        return "faster"
    if (row["ci_low"] >= -100 * min_effect and row["ci_high"] <= 100 * min_effect
            and row["detectable"] <= 100 * min_effect):
        return "same"
    return "~"


def runs_needed(found, at, k):
    """The smallest n from 3 to 1000 that decides. The required difference falls with n."""
    def short(n):
        return ((exceeded(0.025 / k, 2 * n - 2) + exceeded(0.2, 2 * n - 2)) * found.sd * math.sqrt(2 / n)
                > abs(found.difference - at))

    low, high = 2, MOST_RUNS
    if short(high):
        return None
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if short(middle) else (low, middle)
    return high


def events_of(file):
    return Counter((row.name, row.ts_ns, row.dur_ns) for row in file.rows)


def copies(runs):
    """V11: the paths of the first two files of different runs with the same events, or None."""
    earlier = []
    for run in runs:
        for file in run.files:
            for other in earlier:
                if file.rows and events_of(file) == events_of(other):
                    return other.path, file.path
        earlier += run.files
    return None


def came_first(sides):
    starts = [[run.start for run in side] for side in sides]
    if any(start is None for side in starts for start in side):
        return None
    for name, first, then in ((*SIDES[:1], *starts), (SIDES[1], starts[1], starts[0])):
        if max(first) < min(then):
            return f"all runs of {name} came first: a drift of the machine looks like a difference"
    return None


def ab(control, test, ranks=None, iterations="steady", device_type="ALL", use_short_name=2, runs="auto", by_unit="auto",
       measure="self", min_effect=0.05, names=None, min_diff=0.0, steps=None):
    """The rows of trace_ab(control, test, ...)."""
    sides = [[read(files, ranks, iterations, device_type, use_short_name, measure, steps)
              for files in runs_of(text, runs)]
             for text in (control, test)]
    if len({frozenset(file.rank for file in run.files) for side in sides for run in side}) > 1:
        raise oracle.Refused("ranks differ")  # V10
    if not all(any(run.values for run in side) for side in sides):
        raise oracle.Refused("nothing to compare")
    return judge(*sides, by_unit, measure, min_effect, names, min_diff)
