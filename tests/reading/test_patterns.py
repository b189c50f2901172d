"""Path patterns match like the C library's glob(), which is called here for comparison; and UTF-8 characters."""
import ctypes
import itertools
import os
import posixpath
import random
import re
import sqlite3
import threading
import time

from made import InFolder, document, event, write
from support import can_be_a_name, names_of_bytes, series


class Found(ctypes.Structure):
    """glob_t."""
    _fields_ = [("count", ctypes.c_size_t), ("paths", ctypes.POINTER(ctypes.c_char_p)), ("rest", ctypes.c_char * 128)]


SLACK = float(os.environ.get("SLACK") or 1)
LIBC = ctypes.CDLL(None)
GLOB_ERR, GLOB_NOSORT = 1, 4


def by_libc(pattern):
    """The paths, sorted, or None if a directory cannot be read."""
    found = Found()
    code = LIBC.glob(pattern.encode(), GLOB_ERR | GLOB_NOSORT, None, ctypes.byref(found))
    paths = sorted(found.paths[i].decode() for i in range(found.count)) if code == 0 else []
    LIBC.globfree(ctypes.byref(found))
    return None if code == 2 else paths


class Patterns(InFolder):
    PIECES = ["*", "?", "a", "b", "c", "/", "[ab]", "[!a]", "[^b]", "[a-c]", "[]a]", "[a", "]", "\\a", "\\*", "\\[",
              ".", "-", "[[:alpha:]]", "[[:digit:]-]", "[a\\-c]", "[b-]", "**", "//", "ab", "1", "d", "d/", "*/"]
    NAMES = ["a", "b", "ab", "abc", "c1", ".a", "a*", "[a", "a]", "-", "b-", "\\a", "1", "a.b", "?"]

    def found(self, pattern):
        """The extension's result for a pattern: the paths of its files, or nothing."""
        try:
            return [path for path, in self.db.execute("SELECT file FROM trace_files(?) ORDER BY file", (pattern,))]
        except Exception as error:
            text = str(error)
            if "cannot read" in text:
                return None
            self.assertRegex(text, "no file matches|matches directories, but no file", pattern)
            return []

    @staticmethod
    def is_something(path):
        """Whether it is not a pattern: a file has this name, or a file is in place of a directory of it."""
        try:
            os.stat(path)
        except FileNotFoundError:
            return os.path.islink(path)
        except OSError:
            pass
        return True

    def test_random_patterns(self):
        chance = random.Random(7)
        trace = document(event("op", 0, 1))
        folders = ("d", "d/ab", "a.d", ".h", "[d]", "c")
        for folder, name in itertools.product(("", *folders), filter(can_be_a_name, self.NAMES)):
            path = posixpath.join(folder, name)
            if path not in folders:
                write(path, trace)
        os.symlink("nowhere", "ac")
        tried = 0
        for _ in range(series(400, 20000)):
            pattern = "".join(chance.choice(self.PIECES) for _ in range(chance.randrange(1, 6)))
            special = set(re.sub(r"\\.", "", pattern)) & set("*?[")
            if "//" in f"/{pattern}/" or not special or self.is_something(pattern):
                continue  # for a slash at the end, glob() also gives files
            expected = by_libc(pattern)
            if expected is not None and any(os.path.islink(path) for path in expected):
                continue  # it cannot be read
            if expected is not None:
                expected = sorted({path for path in expected if not os.path.isdir(path)})
            with self.subTest(pattern):
                self.assertEqual(self.found(pattern), expected)
            tried += bool(expected)
        self.assertGreater(tried, 50)

    def test_names_that_lead_back_search_a_directory_once(self):
        """A directory under several names is searched once, not 17 ^ 12 times. If a file has several paths, the first
        by glob()'s order counts.
        """
        for number in range(17):
            write(f"{number:02}/{number}.json", document(event("op", 0, 1)))
        start = time.process_time()
        self.assertEqual(self.found("*/../" * 12 + "01/*.json"), ["00/../" * 12 + "01/1.json"])
        self.assertEqual(self.found("*/../" * 12 + "*/[23].json"),
                         ["00/../" * 12 + f"0{number}/{number}.json" for number in (2, 3)])
        self.assertEqual(self.found("*/" + ".*/../" * 12 + "*/nothing.json"), [])
        self.assertLess(time.process_time() - start, 5 * SLACK)

    def test_an_interrupt_ends_a_search(self):
        """An interrupt ends a search through links to the directory itself: 10 ^ 8 paths, none of which matches."""
        for number in range(10):
            os.symlink(".", f"link{number}")
        for sql in ("SELECT * FROM trace_files(?1)", "SELECT * FROM trace_diff(?1, ?1)",
                    "SELECT * FROM memory_events(?1)", "SELECT * FROM trace_ab(?1, ?1)"):
            timer = threading.Timer(0.2, self.db.interrupt)
            timer.start()
            start = time.process_time()
            with self.assertRaisesRegex(sqlite3.OperationalError, "interrupted"):
                self.rows(sql, "*/" * 8 + "nothing")
            timer.join()
            self.assertLess(time.process_time() - start, 2 * SLACK, sql)

    def test_a_character_is_one_of_utf8(self):
        for name in ("ä.json", "ab.json", "✓.json", "x.json"):
            write(name, document(event("op", 0, 1)))
        self.assertEqual(self.found("?.json"), ["x.json", "ä.json", "✓.json"])
        self.assertEqual(self.found("[à-ÿ].json"), ["ä.json"])
        self.assertEqual(self.found("[!a-z].json"), ["ä.json", "✓.json"])

    @names_of_bytes
    def test_a_byte_that_is_not_utf8_is_a_character(self):
        write("x.json", document(event("op", 0, 1)))
        for name in (b"\xff.json", b"\xe2\x9c.json"):
            os.link(b"x.json", name)
        count = "SELECT count(*) FROM trace_files(?)"
        self.assertEqual([self.db.execute(count, (pattern,)).fetchone()[0] for pattern in ("?.json", "??.json")],
                         [2, 1])
