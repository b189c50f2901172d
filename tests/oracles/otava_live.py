"""Runs Apache Otava itself for test_changes.py, with the Python of build/hosts/otava.

Reads a JSON list of [series, window, significance, min_pct, right]; `right` has the letters of the differences in
ext/analysis/samples/changes.h to correct. Prints a list of [index, before, after, p] for each.
"""
import json
import os
import sys
import warnings

sys.path.remove(os.path.dirname(os.path.abspath(__file__)))
warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
from otava import analysis  # noqa: E402
from otava.change_point_divisive import calculator, detector  # noqa: E402
from scipy.stats import ttest_ind_from_stats  # noqa: E402

RIGHT = set()
STRICT = [False]                # rule 3 applies only to the second pass
Tester, Detector, Calculator = (analysis.TTestSignificanceTester, detector.ChangePointDetector,
                                calculator.PairDistanceCalculator)
COMPARE, DETECT, ENERGIES, MERGE = Tester.compare, Detector.get_change_points, Calculator._get_Q_vals, analysis.merge


def energies(self, start, end):
    """A: pieces of one value are excluded."""
    found = ENERGIES(self, start, end)
    if "A" in RIGHT:
        found[0, :] = 0
        np.fill_diagonal(found, 0)
    return found


def p_of(left, right):
    """B: squares are divided by n - 1."""
    if not len(left) or not len(right) or len(left) + len(right) < 3:
        return 1.0
    by = [np.std(side, ddof=int("B" in RIGHT and len(side) > 1)) for side in (left, right)]
    if by == [0, 0]:
        return float(np.mean(left) == np.mean(right))
    return ttest_ind_from_stats(np.mean(left), by[0], len(left), np.mean(right), by[1], len(right)).pvalue


def compare(self, left, right):
    stats = COMPARE(self, left, right)
    if "B" in RIGHT:
        stats.pvalue = p_of(left, right)
    if "C" in RIGHT and STRICT[0]:
        up = np.mean(right) > np.mean(left)
        first = sorted(left)[1:] if up else sorted(left)[:-1]
        second = sorted(right)[:-1] if up else sorted(right)[1:]
        stats.pvalue = max(stats.pvalue, p_of(first, right), p_of(left, second))
    return stats


def detect(self, series, start=None, end=None):
    """D: each piece is split separately."""
    if "D" not in RIGHT:
        return DETECT(self, series, start, end)
    values = np.array(series[start:end], dtype=np.float64)
    calculate, found, pieces = self.calculator(values), [], [slice(0, len(values))]
    while pieces:
        piece = pieces.pop()
        if piece.stop - piece.start < 2:
            continue
        candidate = calculate.get_candidate_change_point(piece)
        point = self.tester.change_point(candidate, values, [piece]) if candidate.qhat > 0 else None
        if point and self.tester.is_significant(point):
            found.append(point)
            pieces += [slice(piece.start, point.index), slice(point.index, piece.stop)]
    found.sort(key=lambda point: point.index)
    for point in found:
        point.index += start
    return found


def merge(points, series, significance, magnitude):
    """E: after each dropped point, everything is computed again."""
    STRICT[0], tester = True, Tester(significance)
    try:
        while "E" in RIGHT or "C" in RIGHT:
            pieces = tester.get_intervals(points)
            points = [tester.change_point(point.to_candidate(), series, pieces) for point in points]
            if "E" not in RIGHT or not points:
                break
            drop = max(points, key=lambda point: point.stats.pvalue)
            if drop.stats.pvalue < significance:
                drop = min(points, key=lambda point: point.stats.change_magnitude())
                if drop.stats.change_magnitude() > magnitude or magnitude == 0:
                    return points
            points.remove(drop)
        return MERGE(points, series, significance, magnitude)
    finally:
        STRICT[0] = False


Tester.compare, Detector.get_change_points, Calculator._get_Q_vals, analysis.merge = compare, detect, energies, merge
answers = []
for values, window, level, percent, right in json.load(sys.stdin):
    RIGHT.clear()
    RIGHT.update(right)
    changes = analysis.compute_change_points(values, window, level, percent / 100)[0]
    answers.append([[int(change.index), change.stats.mean_1, change.stats.mean_2, float(change.stats.pvalue)]
                    for change in changes])
json.dump(answers, sys.stdout)
