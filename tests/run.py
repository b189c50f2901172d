#!/usr/bin/python3
"""Runs the tests, test_*.py in the folders of tests/; each test method is one test.

    usage: run.py [-s] [-t] [-v] [NAME ...] [-x NAME ...]      NAME: test_diff, test_diff.Case, ...

    -s  only tests marked as slow
    -x  without the tests of the names after it
    -t  ends with the longest tests: CPU seconds, including child processes
    -v  prints a line per test

There is one process per processor. Each runs a slow test, or all other tests of a class, and then the next. Tests that
measure (`support.alone`) run last, in one process. A process that dies fails its current test, and another one runs the
rest of the class.

The last line is `N passed, N failed, N skipped`, with `, N waiting` if tests failed that are marked as expected to fail
(`unittest.expectedFailure`), because they wait for a feature. Such a test fails if it passes, or if it ends with an
error instead of an assertion. build/skipped.txt lists the skipped tests with the reasons. Exit status 1 means that a
test failed.

Without slow tests, files are in memory, in /dev/shm, because creating and deleting thousands of them on a disk takes a
tenth of the CPU time. TMPDIR selects another folder.
"""
import contextlib
import gc
import glob
import itertools
import multiprocessing
import multiprocessing.connection
import os
import re
import signal
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = os.path.join(os.path.dirname(HERE), "build", "skipped.txt")
MEMORY = "/dev/shm"
ROOM = 2 ** 30  # bytes: twenty times the peak of the quick tests
LONGEST = 40
PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
PROCESSES = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")


def processor_seconds():
    return sum(os.times()[:4])


def name_of(test):
    """The name of a test, also for a subtest."""
    return getattr(test, "test_case", test).id()


def name_to_load(test):
    """The name for loading it in a process; for a module that cannot be loaded, the module's, so that it also fails
    there.
    """
    return re.sub(r"^unittest\.loader\.\w+\.", "", test.id())


class Telling(unittest.TestResult):
    """Sends the outcome of each test: whether it passed, whether it failed as expected, its failures, the reasons for
    skipping, and seconds.
    """

    def __init__(self, pipe):
        super().__init__()
        self.pipe, self.passed, self.waits, self.began = pipe, False, False, 0

    def startTest(self, test):
        super().startTest(test)
        self.passed, self.waits, self.began = False, False, processor_seconds()

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed = True

    def addExpectedFailure(self, test, err):
        """Accepts only assertions: an error, such as a missing column, would hide that nothing is tested."""
        if issubclass(err[0], AssertionError):
            self.waits = True
        else:
            self.addError(test, err)

    def addUnexpectedSuccess(self, test):
        self.failures.append((test, "unexpected success"))

    def stopTest(self, test):
        super().stopTest(test)
        self.tell(test.id(), processor_seconds() - self.began)

    def tell(self, name, seconds=None):
        failed = [(name_of(test), f"{test}\n{text}") for test, text in self.failures + self.errors]
        skipped = [(name_of(test), reason) for test, reason in self.skipped]
        self.pipe.send((name, self.passed, self.waits, failed, skipped, seconds))
        self.failures.clear(), self.errors.clear(), self.skipped.clear()


def work(pipe, units):
    """The work of a process: runs the units, lists of test names, whose numbers it receives."""
    import support  # noqa: F401  tests import modules that it replaces on other platforms
    gc.freeze()
    gc.disable()  # otherwise half of the oracles' time goes to collections that find nothing
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    while (asked := pipe.recv()) is not None:
        number, first = asked
        result = Telling(pipe)
        unittest.defaultTestLoader.loadTestsFromNames(units[number][first:]).run(result)
        result.passed = result.waits = False
        result.tell(None)  # failed or skipped outside its tests
        gc.collect(0)  # in the objects made since


class Worker:
    """A process with its unit, by number, and the first unfinished test of that."""

    def __init__(self, units):
        self.pipe, end = PROCESSES.Pipe()
        self.process = PROCESSES.Process(target=work, args=(end, units), daemon=True)
        self.process.start()
        end.close()
        self.number, self.first = None, 0

    def run(self, number, first):
        self.number, self.first = number, first
        self.send((number, first))

    def send(self, message):
        with contextlib.suppress(BrokenPipeError):  # reading detects if it is dead
            self.pipe.send(message)


class Run:
    def __init__(self, verbose):
        self.verbose, self.passed, self.waiting = verbose, 0, 0
        self.failed, self.skipped, self.seconds = [], [], []  # (name, text), (name, reason), (seconds, name)

    def ended(self, name, passed, waits, failed, skipped, seconds):
        self.passed += passed
        self.waiting += waits
        self.failed += failed
        self.skipped += skipped
        if seconds is not None:
            self.seconds.append((seconds, name))
        how = "FAILED" if failed else "skipped" if skipped else "waiting" if waits else "ok"
        if name or failed or skipped:
            line = f"{name or (failed + skipped)[0][0]} ... {how}\n"
            print(line if self.verbose else how[0].replace("o", "."), end="", flush=True)

    def run(self, units, processes):
        """Runs the units, lists of tests, in this order, distributed over this many processes."""
        units = [list(map(name_to_load, unit)) for unit in units]
        waiting = [(number, 0) for number in range(len(units))][::-1]
        workers = []
        while waiting or workers:
            while waiting and len(workers) < processes:
                workers.append(Worker(units))
                workers[-1].run(*waiting.pop())
            pipes = {worker.pipe: worker for worker in workers}
            for pipe in multiprocessing.connection.wait(pipes):
                worker = pipes[pipe]
                try:
                    name, *outcome = pipe.recv()
                except (EOFError, ConnectionResetError):
                    worker.process.join()
                    workers.remove(worker)
                    waiting += self.died(worker, units)
                    continue
                self.ended(name, *outcome)
                worker.first += name is not None
                if name is None and waiting:
                    worker.run(*waiting.pop())
                elif name is None:
                    worker.number = None
                    worker.send(None)

    def died(self, worker, units):
        """A process has ended, normally or not, and its current test has failed. Returns the rest of its unit."""
        status = worker.process.exitcode
        why = f"the process ended with {f'signal {-status}' if status < 0 else f'status {status}'}"
        if worker.number is None:
            if status != 0:
                self.ended(None, False, False, [("run.py", f"run.py: {why} after its last test")], [], None)
            return []
        names = units[worker.number]
        name = names[min(worker.first, len(names) - 1)]  # the last one if it had finished
        self.ended(name, False, False, [(name, f"{name}: {why}")], [], None)
        return [(worker.number, worker.first + 1)] if worker.first + 1 < len(names) else []


def tests_of(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from tests_of(item)
        else:
            yield item


def all_names():
    return sorted(os.path.basename(path)[:-3] for path in glob.glob(os.path.join(HERE, "*", "test_*.py")))


def has_mark(mark, test):
    return True in (getattr(test, mark, None), getattr(getattr(test, test._testMethodName), mark, None))


def units_of(tests):
    """The tests of each class, which a process runs without a break."""
    return [list(group) for _, group in itertools.groupby(tests, type)]


def memory():
    """The folder for files in memory, if tests can write and run files there, or None."""
    if not (hasattr(os, "statvfs") and os.access(MEMORY, os.W_OK)):
        return None
    system = os.statvfs(MEMORY)
    fits = system.f_bavail * system.f_frsize >= ROOM and not system.f_flag & os.ST_NOEXEC
    return MEMORY if fits else None


def list_skipped(skipped, left_out, shortened):
    """Writes the file of skipped tests; prints its path, and the tests that `make check` adds."""
    reasons = {}
    for name, reason in skipped:
        reasons.setdefault(reason, []).append(name)
    os.makedirs(os.path.dirname(SKIPPED), exist_ok=True)
    with open(SKIPPED, "w", encoding="utf-8") as file:
        for reason, names in sorted(reasons.items()):
            print(f"{reason}: {len(names)}", *(f"  {name}" for name in sorted(set(names))), sep="\n", file=file)
        if shortened:
            print("Random series that `make check` runs at full length:", *sorted(shortened), file=file)
    if skipped or shortened:
        slow = f", {len(reasons[left_out])} of them slow; `make check` runs these" if left_out in reasons else ""
        print(f"{os.path.relpath(SKIPPED)} names the {len(skipped)} skipped tests{slow}")


def main(arguments):
    sys.path[:0] = [HERE, *sorted(glob.glob(os.path.join(HERE, "*", "")))]
    from support import LEFT_OUT, SHORTENED, SLOW  # it contains the path of the extension
    at = arguments.index("-x") if "-x" in arguments else len(arguments)
    arguments, without = arguments[:at], arguments[at + 1:]
    names = [a for a in arguments if a not in ("-s", "-t", "-v")]
    loader = unittest.defaultTestLoader
    tests = list(tests_of(loader.loadTestsFromNames(names or all_names())))
    if without:
        loader = unittest.TestLoader()
        excluded = {test.id() for test in tests_of(loader.loadTestsFromNames(without))}
        if loader.errors:
            sys.exit(loader.errors[0])
        tests = [test for test in tests if test.id() not in excluded]
    if "-s" in arguments:
        tests = [test for test in tests if has_mark("slow", test)]
    alone = units_of(test for test in tests if has_mark("alone", test))
    single = [[test] for test in tests if has_mark("slow", test) and not has_mark("alone", test)]
    others = units_of(test for test in tests if not has_mark("slow", test) and not has_mark("alone", test))
    began, run = time.monotonic(), Run("-v" in arguments)
    folder = None if SLOW == "run" or "TMPDIR" in os.environ else memory()
    with tempfile.TemporaryDirectory(prefix="tracediff", dir=folder, ignore_cleanup_errors=os.name == "nt") as place:
        os.chmod(place, 0o755)
        os.environ["TMPDIR"] = tempfile.tempdir = place
        run.run(single + others, PROCESSORS)
        run.run(alone, 1)
    print(f"\n{len(tests)} tests in {time.monotonic() - began:.0f} s")
    for _, text in run.failed:
        print(f"{'=' * 70}\nFAILED: {text.rstrip()}")
    if "-t" in arguments:
        for seconds, name in sorted(run.seconds, reverse=True)[:LONGEST]:
            print(f"{seconds:7.2f} s  {name}")
    if without:
        print(f"Left out: {len(excluded)} tests of {' '.join(without)}")
    list_skipped(run.skipped, LEFT_OUT, SHORTENED)
    failed = len({name for name, _ in run.failed})
    print(f"{run.passed} passed, {failed} failed, {len(run.skipped)} skipped"
          + (f", {run.waiting} waiting" if run.waiting else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
