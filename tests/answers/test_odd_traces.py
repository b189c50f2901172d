"""Traces that nobody would plan: every table function of a trace gives rows or one clear error, and neither crashes nor
hangs. The functions come from tracediff_columns, so new ones are covered automatically. `make check` runs this under
AddressSanitizer.

  SEED    begins another series of traces (default 1)
"""
import os
import random
import sqlite3
import time

from generate_odd import write_odd_pair, write_steps
from made import InFolder
from support import alone, series, slow, slowest
from test_metamorphic import functions, paths, random_call, statement

SEED = int(os.environ.get("SEED") or 1)
SLACK = float(os.environ.get("SLACK") or 1)
MOST = 2  # CPU seconds for a query on a few events
FEW, MANY = 7500, 30000
LONGEST_ERROR = 1000  # bytes, including the paths


class Odd(InFolder):
    def ask(self, name, call):
        """The error, or None for rows."""
        start, error = time.process_time(), None
        try:
            for _ in self.db.execute(statement(name, call)):
                pass
        except sqlite3.Error as raised:
            error = str(raised)
        self.assertLess(time.process_time() - start, MOST * SLACK, (name, call))
        return error

    def ask_all(self, seed, calls):
        """Calls every function with its defaults and with random arguments. Returns how many gave rows."""
        write_odd_pair(f"{seed}/control", f"{seed}/test", seed)
        rng, given = random.Random(seed), 0
        here = {"control": f"{seed}/control", "test": f"{seed}/test"}
        for name in functions():
            for number in range(calls):
                call = {**paths(name, here), **random_call(rng, name, 0.3 * (number > 0))}
                error = self.ask(name, call)
                given += error is None
                if error is not None:
                    self.assertTrue(error.startswith(f"{name}: "), (seed, call, error))
                    self.assertNotRegex(error, "out of memory|internal|malformed|constraint", (seed, name, call))
                    self.assertLess(len(error.encode()), LONGEST_ERROR, (seed, name, call))
        return given

    def test_random_traces(self):
        count = series(5, 60)
        given = sum(self.ask_all(SEED * 1000 + number, 1) for number in range(count))
        self.assertGreater(given, count * len(functions()) / 2)

    @slow
    def test_random_arguments(self):
        for number in range(series(10, 40)):
            self.ask_all(SEED * 1000 + 500 + number, 3)


class ManySteps(InFolder):
    @slowest
    @alone
    def test_time_in_proportion_to_steps(self):
        for count in (FEW, MANY):
            write_steps(f"{count}/control.json", count)
            write_steps(f"{count}/test.json", count, 1.3)
        for name in functions():
            seconds = []
            for count in (FEW, MANY):
                here = {side: f"{count}/{side}.json" for side in ("control", "test")}
                call = {**paths(name, here), **random_call(random.Random(1), name, 0)}
                start = time.process_time()
                self.db.execute(statement(name, call)).fetchall()
                seconds.append(time.process_time() - start)
            with self.subTest(name):
                self.assertLess(seconds[1], 8 * seconds[0] + 0.1, f"{MANY // FEW} times the steps")
