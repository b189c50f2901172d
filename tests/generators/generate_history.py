#!/usr/bin/env python3
"""Generates the data of examples/history.md: step and operator times of 60 runs.

    generate_history.py [FILE]            writes FILE, by default examples/history/runs.csv
    generate_history.py --check [FILE]    exits with 1 if it differs

Nothing is recorded. There is one run per day, with a row per operator, and one for the step, which is their sum. An
operator's time in a run is its value in OPERATORS, times the run's noise of 0.3 %, times its own noise of 1 % (standard
deviations). Planted:

    1. 2025-03-16, d1b0e54: aten::native_layer_norm takes 10 % longer; 2025-04-03, 2c9a7f3 repairs it
    2. 2025-03-25, 77e4a10: aten::_fused_adamw_ takes 5 % less
    3. 2025-04-12, b3305cd: aten::mm takes 2 % longer
    4. 2025-03-29: everything takes 8 % longer, in this run only
"""
import argparse
import csv
import datetime
import io
import os
import random
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FIRST, RUNS = datetime.date(2025, 3, 1), 60
OPERATORS = {"aten::mm": 110.0, "aten::addmm": 60.0, "aten::_fused_adamw_": 18.0, "aten::native_layer_norm": 12.0}  # ms
# name, date, revision, factor from then on
PLANTED = [("aten::native_layer_norm", "2025-03-16", "d1b0e54", 1.10),
           ("aten::_fused_adamw_", "2025-03-25", "77e4a10", 0.95),
           ("aten::native_layer_norm", "2025-04-03", "2c9a7f3", 1 / 1.10), ("aten::mm", "2025-04-12", "b3305cd", 1.02)]
SLOW_RUN, SLOWER = "2025-03-29", 1.08
HEADER = ["date", "revision", "name", "ms"]


def history():
    """The rows of the file."""
    rng, revisions = random.Random(60), {date: revision for _, date, revision, _ in PLANTED}
    for day in range(RUNS):
        date = (FIRST + datetime.timedelta(day)).isoformat()
        revision = revisions.get(date) or f"{rng.randrange(16 ** 7):07x}"
        luck = rng.gauss(1, 0.003) * (SLOWER if date == SLOW_RUN else 1)
        step = 0
        for name, ms in OPERATORS.items():
            for operator, since, _, factor in PLANTED:
                ms *= factor if operator == name and date >= since else 1
            ms = round(ms * luck * rng.gauss(1, 0.01), 3)
            step += ms
            yield [date, revision, name, f"{ms:.3f}"]
        yield [date, revision, "step", f"{step:.3f}"]


def text():
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(history())
    return file.getvalue()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("file", nargs="?", default=os.path.join(ROOT, "examples", "history", "runs.csv"))
    options = parser.parse_args()
    if options.check:
        with open(options.file, encoding="utf-8") as file:
            same = file.read() == text()
        print("as generated" if same else f"{options.file}: run {os.path.basename(__file__)}")
        return 0 if same else 1
    with open(options.file, "w", encoding="utf-8") as file:
        file.write(text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
