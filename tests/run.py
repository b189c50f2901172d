#!/usr/bin/python3
"""Runs the tests: tests/test_*.py, each test method one test.

usage: run.py [-t] [-v] [NAME ...]      NAME: test_diff, test_diff.Case, ...

-t  ends with the tests that took longest: processor seconds, their children's included

Ends with the line `N passed, N failed, N skipped`; what was skipped, and why,
is listed above it by name. Exit status 1 if anything failed.
"""
import os
import resource
import sys
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
LONGEST = 40


def processor_seconds():
    return sum(used.ru_utime + used.ru_stime
               for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


class Counting(unittest.TextTestResult):
    passed = 0
    started = 0

    def __init__(self, *arguments, **keys):
        super().__init__(*arguments, **keys)
        self.seconds = []

    def startTest(self, test):
        self.started = processor_seconds()
        super().startTest(test)

    def stopTest(self, test):
        super().stopTest(test)
        self.seconds.append((processor_seconds() - self.started, test.id()))

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


def list_skipped(result, left_out):
    reasons = {}
    for test, reason in result.skipped:
        reasons.setdefault(reason, []).append(getattr(test, "test_case", test).id())
    for reason, names in sorted(reasons.items()):
        print(f"skipped, {reason}: {len(names)}")
        print(textwrap.fill(" ".join(sorted(set(names))), 118, initial_indent="  ", subsequent_indent="  ",
                            break_long_words=False, break_on_hyphens=False))
    if left_out in reasons:
        print(f"The {len(reasons[left_out])} slow tests run in `make check`, with all else that CI runs; `make test SLOW=run` is "
              "every test.")


def main(arguments):
    sys.path.insert(0, HERE)
    from support import LEFT_OUT, SHORTENED  # which tells where the extension is
    names = [a for a in arguments if a not in ("-t", "-v")]
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(names) if names else loader.discover(HERE, "test_*.py")
    runner = unittest.TextTestRunner(stream=sys.stdout, verbosity=2 if "-v" in arguments else 1, resultclass=Counting)
    result = runner.run(suite)
    if "-t" in arguments:
        for seconds, name in sorted(result.seconds, reverse=True)[:LONGEST]:
            print(f"{seconds:7.2f} s  {name}")
    list_skipped(result, LEFT_OUT)
    if SHORTENED:
        print(f"Random series that `make check` runs at full length: {' '.join(sorted(SHORTENED))}")
    failed = len({getattr(t, "test_case", t).id() for t, _ in result.failures + result.errors})
    failed += len(result.unexpectedSuccesses)
    print(f"{result.passed} passed, {failed} failed, {len(result.skipped)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
