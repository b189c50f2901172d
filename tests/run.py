#!/usr/bin/python3
"""Runs the tests: tests/test_*.py, each test method one test.

usage: run.py [-v] [NAME ...]      NAME: test_diff, test_diff.Case, ...

Ends with the line `N passed, N failed, N skipped`; what was skipped, and why,
is listed above it. Exit status 1 if anything failed.
"""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


class Counting(unittest.TextTestResult):
    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


def main(arguments):
    sys.path.insert(0, HERE)
    verbose = "-v" in arguments
    names = [a for a in arguments if a != "-v"]
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(names) if names else loader.discover(HERE, "test_*.py")
    runner = unittest.TextTestRunner(stream=sys.stdout, verbosity=2 if verbose else 1, resultclass=Counting)
    result = runner.run(suite)
    reasons = {}
    for test, reason in result.skipped:
        reasons.setdefault(reason, []).append(str(test))
    for reason, tests in sorted(reasons.items()):
        print(f"skipped, {reason}: {len(tests)}")
    failed = len({getattr(t, "test_case", t).id() for t, _ in result.failures + result.errors})
    failed += len(result.unexpectedSuccesses)
    print(f"{result.passed} passed, {failed} failed, {len(result.skipped)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
