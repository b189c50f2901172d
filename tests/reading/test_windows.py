"""Files on Windows: open in other programs, with long paths, and with UTF-16 names. Python for Windows runs these
tests, also under wine: `make suite-windows`.
"""
import contextlib
import ctypes
import os
import shutil
import sqlite3
import subprocess
import sys
import unittest

from made import InFolder, document, event, run, write
from support import DATA

ROWS = "SELECT count(*) FROM trace_events(?)"
FILES = "SELECT file, events FROM trace_files(?) ORDER BY file"
WRITER = """
import sys
with open(sys.argv[1], "ab") as file:
    print("open", flush=True)
    sys.stdin.readline()
"""
READ, WRITE, NOBODY = 1, 2, 0  # sharing modes of an open file


def opened(path, share):
    """A file that another program has open with these sharing modes; yields a handle to close."""
    create = ctypes.windll.kernel32.CreateFileW
    create.restype, create.argtypes = ctypes.c_void_p, [ctypes.c_wchar_p, *[ctypes.c_uint32] * 2, ctypes.c_void_p,
                                                        *[ctypes.c_uint32] * 2, ctypes.c_void_p]
    handle = create(path, 0x80000000, share, None, 3, 0, None)
    if handle == ctypes.c_void_p(-1).value:
        raise ctypes.WinError()
    return handle


def close(handle):
    ctypes.windll.kernel32.CloseHandle(ctypes.c_void_p(handle))


@unittest.skipUnless(os.name == "nt", "needs Windows")
class Shared(InFolder):
    def test_a_file_that_another_program_writes(self):
        write("x.json", run())
        with subprocess.Popen([sys.executable, "-c", WRITER, "x.json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as writer:
            self.assertEqual(writer.stdout.readline(), "open\n")
            self.assertEqual(self.value(ROWS, "x.json"), 16)
            writer.communicate("\n")

    def test_a_file_that_others_may_only_read(self):
        write("x.json", run())
        handle = opened("x.json", READ)
        self.addCleanup(close, handle)
        self.assertEqual(self.value(ROWS, "x.json"), 16)

    def test_a_file_that_no_other_program_may_open(self):
        write("d/x.json", run())
        write("d/y.json", run())
        handle = opened("d/x.json", NOBODY)
        self.addCleanup(close, handle)
        for trace in ("d/x.json", "d"):
            self.assert_error("trace_events: cannot read 'd/x.json': Permission denied", ROWS, trace)
        self.assertEqual(self.rows("SELECT file, events FROM trace_files('d') ORDER BY file"),
                         [("d/x.json", 0), ("d/y.json", 16)])

    def test_a_file_is_moved_and_removed_while_it_is_read(self):
        """A file can be moved and removed during reading; args are read from the file again, row by row."""
        for change in (os.remove, lambda path: os.rename(path, "moved.json")):
            path = write("x.json", document(*(event("op", i, 1, args={"n": i}) for i in range(2000))))
            rows = self.db.execute("SELECT args FROM trace_events(?)", (path,))
            self.assertEqual(next(rows), ('{"n": 0}',))
            change(path)
            with contextlib.suppress(sqlite3.Error):  # the file is gone
                self.assertLess(len(rows.fetchall()), 2000)
            self.assertFalse(os.path.exists(path))
        self.assertEqual(self.value(ROWS, "moved.json"), 2000)

    def test_nothing_stays_open(self):
        """Nothing stays open: Windows cannot remove a folder that contains an open file."""
        write("d/x.json", run())
        write("d/y.json.gz", run())
        shutil.copy(os.path.join(DATA, "rocpd", "rocpd_v3.db"), "d/z.db")
        for sql in (FILES, "SELECT count(args) FROM trace_events(?)"):
            for trace in ("d/x.json", "d/y.json.gz", "d/z.db"):
                self.rows(sql, trace)
        shutil.rmtree("d")
        self.assertFalse(os.path.exists("d"))


@unittest.skipUnless(os.name == "nt", "needs Windows")
class Paths(InFolder):
    def test_characters_beyond_16_bits(self):
        for name in ("\N{MUSICAL SYMBOL G CLEF}.json", "a \N{FIRE} \N{OK HAND SIGN}.json", "\uffff\U0010ffff.json"):
            write(f"d/{name}", run())
            for trace in (f"d/{name}", "d", "d/*.json", f"d/{'?' * (len(name) - 5)}.json", f"D/{name[0]}*.JSON"):
                with self.subTest(trace):
                    self.assertEqual([os.path.basename(file) for file, _ in self.rows(FILES, trace)], [name])
            os.remove(f"d/{name}")

    def test_long_paths(self):
        """Paths longer than 260 characters work: absolute, relative, with `..`, and as a pattern."""
        deep = "\\".join(["a-directory-with-a-name-that-is-rather-long"] * 8)
        marked = f"\\\\?\\{self.folder}\\{deep}"
        os.makedirs(marked)
        self.addCleanup(shutil.rmtree, f"\\\\?\\{self.folder}\\{deep.split(chr(92))[0]}")
        write(f"{marked}\\x.json", run())
        for trace in (deep, f"{deep}\\x.json", f"{self.folder}\\{deep}\\x.json", f"{deep}\\*.json", f"{marked}\\x.json",
                      deep.replace("\\", "/"), f"{deep}\\..\\{deep.split(chr(92))[-1]}\\x.json"):
            with self.subTest(trace):
                (file, events), = self.rows(FILES, trace)
                self.assertEqual((file[-6:], events), ("x.json", 16))

    def test_drives_and_roots(self):
        write("x.json", run())
        drive, below = os.path.splitdrive(os.path.abspath("x.json"))
        for trace in ("x.json", f"{drive}x.json", f"{drive}{below}", f"{drive.lower()}{below}", below,
                      below.replace("\\", "/"), f"\\\\?\\{drive}{below}", ".\\.\\x.json", "X.JSON"):
            with self.subTest(trace):
                self.assertEqual(self.rows(FILES, trace), [(trace, 16)])
        self.assert_error("trace_events: cannot read '\\\\nobody\\share\\x.json': No such file or directory", ROWS,
                          "\\\\nobody\\share\\x.json")

    def test_bytes_are_read_as_they_are(self):
        """Bytes are read unchanged, not in text mode: a byte 26 does not end a file, and each \r counts."""
        for name in ("x.json", "x.json.gz"):
            write(name, '{"traceEvents": [\r\n' + ",\r\n".join(
                f'{{"ph": "X", "name": "op\x1a", "ts": {i}, "dur": 1, "pid": 1, "tid": 1}}'
                for i in range(9)) + "\r\n]}")
            self.assertEqual(self.rows(FILES, name), [(name, 9)])
            write(name, '{\r\n"traceEvents":\r\n [}')
            self.assertEqual(self.rows("SELECT problems ->> '$[0].first_byte' FROM trace_files(?)", name), [(23,)])


if __name__ == "__main__":
    unittest.main()
