"""Progress of a load: one line on stderr, if it is a terminal or if requested."""
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from made import write_big
from support import EXAMPLES, EXTENSION, alone, connect, slow

LINE = re.compile(r"tracediff: read (\d+) of (\d+) files?, (\d+) % *")
COUNT = "SELECT sum(events) FROM trace_files('{}')"


def shell(sql):
    return ["sqlite3", "-cmd", f".load {EXTENSION}", ":memory:", sql]


class Silent(unittest.TestCase):
    def test_a_short_load(self):
        for progress in ("0", "1", "", "x"):
            done = subprocess.run(shell(COUNT.format(os.path.join(EXAMPLES, "gpu", "test"))), capture_output=True,
                                  check=True, env={**os.environ, "TRACEDIFF_PROGRESS": progress})
            self.assertEqual(done.stderr, b"")


@slow
@alone
class Progress(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Two files that take longer than a second to read."""
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.folder, megabytes, took = place.name, 40, 0.17
        while took < 1.5:
            megabytes = int(megabytes * max(1.7 / took, 1.2))
            for rank in range(2):
                write_big(os.path.join(cls.folder, f"rank{rank}.json.gz"), megabytes, phase="N")
            start = time.monotonic()
            cls.answer = str(connect().execute(COUNT.format(cls.folder)).fetchone()[0])
            took = time.monotonic() - start

    def assert_lines(self, written, seconds):
        """Asserts a single line, rewritten in place and erased, at most ten times a second, with numbers that never
        fall.
        """
        start, *lines, blank, end = written.split("\r")
        self.assertEqual((start, blank.strip(" "), end), ("", "", ""))
        self.assertGreater(len(lines), 1)
        self.assertLess(len(lines), 10 * seconds)
        numbers = []
        for line in lines:
            self.assertLess(len(line), 80)
            self.assertLessEqual(len(line), len(blank))
            numbers.append([int(number) for number in LINE.fullmatch(line).groups()])
        self.assertEqual(sorted(numbers), numbers)
        self.assertEqual({files for _, files, _ in numbers}, {2})
        self.assertLessEqual(numbers[-1][-1], 100)
        self.assertGreater(numbers[-1][-1], numbers[0][-1])

    def run_shell(self, **environment):
        start = time.monotonic()
        done = subprocess.run(shell(COUNT.format(self.folder)), capture_output=True, check=True,
                              env={**os.environ, **environment})
        self.assertEqual(done.stdout.decode(), self.answer + "\n")
        return done.stderr.decode(), time.monotonic() - start

    def run_in_terminal(self, sql, interrupt_after=None, **environment):
        """The shell's output to a terminal on stderr."""
        ours, theirs = pty.openpty()
        start, written = time.monotonic(), b""
        process = subprocess.Popen(shell(sql), stdout=subprocess.PIPE, stderr=theirs, text=True,
                                   env={**os.environ, **environment})
        os.close(theirs)
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the terminal is closed
                break
            written += part
            if interrupt_after and interrupt_after in written:
                process.send_signal(signal.SIGINT)
                interrupt_after = None
        os.close(ours)
        answer = process.stdout.read()
        process.stdout.close()
        process.wait()
        return written.decode(), answer, time.monotonic() - start

    def test_not_to_a_file_unless_asked(self):
        self.assertEqual(self.run_shell()[0], "")
        self.assertEqual(self.run_shell(TRACEDIFF_PROGRESS="0")[0], "")
        self.assert_lines(*self.run_shell(TRACEDIFF_PROGRESS="1"))

    def test_to_a_terminal(self):
        written, answer, took = self.run_in_terminal(COUNT.format(self.folder))
        self.assertEqual(answer, self.answer + "\n")
        self.assert_lines(written, took)
        self.assertEqual(self.run_in_terminal(COUNT.format(self.folder), TRACEDIFF_PROGRESS="0")[0], "")

    def test_one_processor(self):
        processors = os.sched_getaffinity(0)
        os.sched_setaffinity(0, sorted(processors)[:1])
        try:
            self.assert_lines(*self.run_shell(TRACEDIFF_PROGRESS="1"))
        finally:
            os.sched_setaffinity(0, processors)

    def test_an_interrupt_leaves_no_line(self):
        written, _, _ = self.run_in_terminal(COUNT.format(self.folder), b"%")
        self.assertRegex(written, r"%.*\r +\r[^\r]*interrupted[^\r]*\r\n$")

    def test_two_threads_do_not_write_at_once(self):
        code = f"""if True:
            import sqlite3, threading
            def count():
                db = sqlite3.connect(":memory:")
                db.enable_load_extension(True)
                db.execute("SELECT load_extension(?)", ({EXTENSION!r},))
                db.execute({COUNT.format(self.folder)!r}).fetchall()
            threads = [threading.Thread(target=count) for _ in range(2)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
        """
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True,
                              env={**os.environ, "TRACEDIFF_PROGRESS": "1"})
        for part in re.split(r"(?<=\r) +\r", done.stderr.decode()):  # between two erasures
            numbers = [[int(number) for number in found] for found in LINE.findall(part)]
            self.assertEqual(sorted(numbers), numbers)


if __name__ == "__main__":
    unittest.main()
