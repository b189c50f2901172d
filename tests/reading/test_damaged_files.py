"""Files and file systems with every kind of damage give rows or one error, never a crash, and never block.

damaged_files.tsv has the outcome of every file of the corpus of bad files, with paths below bad/:

    rank, rows    of trace_files and trace_events; rank is empty where there is none, `error` where trace_files fails,
                  too, and `*` where the list is too long
    diff          number of rows of trace_diff(path, path)
    message       the text of each `error`, without the function's name before it; `*` is any byte. trace_files gives
                  it as the first problem
    problems      the other problems, by file: what, count, first byte
    values        name, ts_ns and dur_ns of each row, if there are few
"""
import csv
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
import unittest
import zlib

from made import InFolder, document, event, run, step, write, write_big
from support import EXTENSION, ROOT, alone, can_be_a_name, connect, corpus, names_of_bytes, series, slow

TABLE = os.path.join(ROOT, "tests", "damaged_files.tsv")
LINKS = {"loop_a.json", "loop_b.json", "loop_self.json", "dangling.json", "link_ok.json", "loopdir", "to_dir.json"}
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")
NOBODY = 65534


def child(code, *arguments, user=None, timeout=120):
    """Runs Python in another process with db connected; returns its output and its peak memory in MB."""
    start = f"""
import os, sqlite3, sys, threading, time
db = sqlite3.connect(":memory:", check_same_thread=False)
db.enable_load_extension(True)
db.execute("SELECT load_extension(?)", ({EXTENSION!r},))
"""
    if user is not None:
        start += f"os.setgroups([]); os.setgid({user}); os.setuid({user})\n"
    end = "\nwith open('/proc/self/status') as status:\n    print(status.read().split('VmHWM:')[1].split()[0])\n"
    done = subprocess.run([sys.executable, "-c", start + code + end, *arguments], capture_output=True, text=True,
                          timeout=timeout, check=False)
    if done.returncode:
        raise AssertionError(f"exit status {done.returncode}:\n{done.stdout}{done.stderr}")
    *printed, memory = done.stdout.splitlines()
    return "\n".join(printed), int(memory) / 1024


def table():
    with open(TABLE, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE, restval=""))


class Bad(InFolder):
    """The table. Files that git cannot store are made here: links, a FIFO, an empty directory, modes."""

    def setUp(self):
        source = corpus("bad")
        super().setUp()
        os.chdir(shutil.copytree(source, "bad", symlinks=True))
        for folder, folders, files in os.walk("."):
            for name in folders:
                os.chmod(os.path.join(folder, name), 0o755)
            for name in files:
                if not os.path.islink(os.path.join(folder, name)):
                    os.chmod(os.path.join(folder, name), 0o644)
        os.chmod(".", 0o755)
        for name in LINKS:
            if not os.path.islink(name):
                with open(name, encoding="utf-8") as file:
                    target = file.read()
                os.remove(name)
                os.symlink(target, name)
        os.makedirs("directory.json", exist_ok=True)
        if not os.path.exists("fifo.json"):
            os.mkfifo("fifo.json")
        os.chmod("unreadable.json", 0)

    def outcome(self, function, sql, *arguments):
        """The rows, or the message after the function's name."""
        try:
            return self.rows(sql, *arguments)
        except sqlite3.Error as error:
            name, message = str(error).split(": ", 1)
            self.assertEqual(name, function)
            return message

    def check(self, row):
        path, message = row["path"], row["message"]
        pattern = re.compile(re.escape(message).replace(r"byte\ \*", r"byte \d+"), re.DOTALL)

        def assert_outcome(expected, function, sql, *arguments):
            got = self.outcome(function, sql, *arguments)
            if expected == "error":
                self.assertIsInstance(got, str, f"{function} gave rows")
                self.assertTrue(pattern.fullmatch(got), got)
            else:
                self.assertNotIsInstance(got, str, function)
                self.assertEqual(len(got), int(expected), function)
            return got

        assert_outcome(row["diff"], "trace_diff", "SELECT * FROM trace_diff(?1, ?1, NULL, NULL, 'first', 'first')"
                       " WHERE use_short_name = 0", path)
        rows = assert_outcome(row["rows"], "trace_events",
                              "SELECT name, ts_ns, dur_ns FROM trace_events(?) ORDER BY event", path)
        if row["values"]:
            self.assertEqual([list(values) for values in rows], json.loads(row["values"]))
        sql = "SELECT rank, rows, problems FROM trace_files(?) ORDER BY file"
        if row["rank"] == "error":
            assert_outcome("error", "trace_files", sql, path)
        elif row["rank"] != "*":
            self.check_files(row, self.outcome("trace_files", sql, path))

    def check_files(self, row, files):
        self.assertNotIsInstance(files, str)
        if os.path.isfile(row["path"]):
            (rank, _, _), = files
            self.assertEqual(str("" if rank is None else rank), row["rank"])
        found = [problem for _, _, problems in files for problem in json.loads(problems)]
        expected = json.loads(row["problems"] or "[]")
        if row["message"] and len(files) == 1:
            what, byte = re.fullmatch(r"(?:'.*'(?:: | is ))?(.*?)(?: at byte (\d+|\*))?", row["message"],
                                      re.DOTALL).groups()
            if byte == "*":
                byte = found[0]["first_byte"]
                self.assertIsInstance(byte, int)
            expected.insert(0, [what if row["message"][0] == "'" else row["message"], 1, byte and int(byte)])
        self.assertEqual([[problem["what"], problem["count"], problem["first_byte"]] for problem in found], expected)
        self.assertEqual(sum(rows for _, rows, _ in files), 0 if row["rows"] == "error" else int(row["rows"]))

    def test_table(self):
        for row in table():
            if row["path"] != "unreadable.json" or os.geteuid():
                with self.subTest(row["path"]):
                    self.check(row)

    def test_table_has_every_file(self):
        found = {os.path.relpath(os.path.join(folder, name)) for folder, _, files in os.walk(".") for name in files}
        listed = [row["path"] for row in table()]
        self.assertEqual(sorted(found - set(listed)), ["README.md"])
        self.assertEqual(len(listed), len(set(listed)))
        self.assertEqual([path for path in listed if not os.path.lexists(path)], [])

    def test_the_whole_directory(self):
        os.chmod("unreadable.json", 0o644)
        files = {path: (rows, json.loads(problems)) for path, rows, problems in
                 self.rows("SELECT file, rows, problems FROM trace_files('.')")}
        for row in table():
            path = os.path.join(".", row["path"])
            if path in files and row["path"] not in ("unreadable.json", "to_dir.json"):
                with self.subTest(path):
                    self.assertEqual(files[path][0], int(row["rows"]) if row["rows"] != "error" else 0)
                    self.assertTrue(files[path][1] or not row["message"])
        self.assertNotIn("./directory.json", files)
        self.assertNotIn("./no_extension", files)
        for name in [*LINKS - {"link_ok.json", "loopdir", "to_dir.json"}, "fifo.json"]:
            os.remove(name)
        self.assertEqual(self.rows("SELECT file, count(*) FROM trace_events('.') GROUP BY file ORDER BY file"),
                         [(path, rows) for path, (rows, _) in sorted(files.items()) if rows])


class FileSystem(InFolder):
    def test_fifo(self):
        """Opening a FIFO for reading would wait for a writer, so it is refused."""
        write("d/a.json", run())
        os.mkfifo("x.json")
        os.mkfifo("d/x.json")
        os.mkfifo("d/y.json.gz")
        started = time.monotonic()
        for path, named in (("x.json", "x.json"), ("x*", "x.json"), ('["x.json"]', "x.json"), ("d", "d/x.json")):
            for function in ("trace_events", "trace_ops", "trace_steps"):
                self.assert_error(f"{function}: cannot read '{named}': not a regular file",
                                  f"SELECT * FROM {function}(?)", path)
        self.assertEqual(self.rows("SELECT file, rows FROM trace_files('d')"),
                         [("d/a.json", 16), ("d/x.json", 0), ("d/y.json.gz", 0)])
        self.assertLess(time.monotonic() - started, 60)  # there is no writer; on a busy machine

    def test_unreadable_to_another_user(self):
        if os.geteuid():
            self.skipTest("only root can be another user")
        write("d/a.json", run())
        write("d/b.json", run())
        os.chmod("d", 0o755)
        os.chmod("d/b.json", 0)
        folder = os.path.dirname(os.path.abspath(EXTENSION))
        try:
            printed, _ = child("""
for path in ("d/a.json", "d/b.json", "d"):
    for function in ("trace_events", "trace_files"):
        try:
            print(path, db.execute(f"SELECT * FROM {function}(?)", (path,)).fetchall() != [])
        except sqlite3.Error as error:
            print(path, error)
""", user=NOBODY)
        except AssertionError as error:
            if "PermissionError" in str(error) or not os.access(folder, os.X_OK):
                self.skipTest("root, and cannot be another user")
            raise
        denied = "trace_events: cannot read 'd/b.json': Permission denied"
        self.assertEqual(printed.splitlines(), ["d/a.json True", "d/a.json True", f"d/b.json {denied}",
                                                "d/b.json True", f"d {denied}", "d True"])

    def test_links(self):
        write("d/a.json", run())
        os.symlink("a.json", "d/whole.json")
        os.symlink(".", "d/itself.json")
        os.symlink("../d", "d/again")
        write("other/rank7.json", run())
        os.symlink("../other", "d/other.json")
        os.symlink("other", "link")
        self.assertEqual(self.rows("SELECT file, count(*) FROM trace_events('d') GROUP BY file"),
                         [("d/a.json", 16), ("d/whole.json", 16)])
        self.assertEqual(self.rows("SELECT file, rank FROM trace_files('link')"), [("link/rank7.json", 7)])
        self.assertEqual(self.rows("SELECT file, rank FROM trace_files('d/other.json')"),
                         [("d/other.json/rank7.json", 7)])
        self.assertEqual(self.rows("SELECT file FROM trace_files('d/itself.json/itself.json/again')"),
                         [("d/itself.json/itself.json/again/a.json",), ("d/itself.json/itself.json/again/whole.json",)])
        for target, why in (("gone.json", "No such file or directory"),
                            ("loop.json", "Too many levels of symbolic links"), ("a.json/b", "Not a directory")):
            os.symlink(target, "d/loop.json")
            for path in ("d", "d/loop.json", "d/l*"):
                with self.subTest(target, path=path):
                    self.assert_error(f"trace_events: cannot read 'd/loop.json': {why}",
                                      "SELECT * FROM trace_events(?)", path)
            (problems,), = self.rows("SELECT problems FROM trace_files('d') WHERE file = 'd/loop.json'")
            self.assertEqual(json.loads(problems)[0]["what"], f"cannot read 'd/loop.json': {why}")
            os.remove("d/loop.json")

    @slow
    def test_many_files(self):
        for rank in range(10_000):
            write(f"d/rank{rank}.json", document(step(0, 0, 10), event("op", 1, rank % 5)))
        started = time.monotonic()
        printed, memory = child("""
for sql in ("SELECT count(*), sum(dur_ns) FROM trace_events('d')",
            "SELECT count(*), sum(rows) FROM trace_files('d')",
            "SELECT count(DISTINCT rank), sum(counts) FROM trace_ops('d', 'all', 'all')",
            "SELECT count(*), sum(control_counts) FROM trace_diff('d', 'd', 'all', 'all')"):
    print(*db.execute(sql).fetchone())
""")
        self.assertEqual(printed.splitlines(), ["20000 120000000", "10000 20000", "10000 20000", "2 20000"])
        self.assertLess(time.monotonic() - started, 20)
        if not SANITIZED:
            self.assertLess(memory, 100)


class Names(InFolder):
    def test_long_names_of_events(self):
        """Names of 5,000 bytes are read, with or without escapes, also across the chunks of the reader."""
        names = [f"{letter * 4990}{number:05}{end}" for number in range(60)
                 for letter, end in (("k", "bytes"), ("\t", "x"), ("é", "\U0001f600"))]
        events = [event(name, number, 1) for number, name in enumerate(names)]
        write("a.json", document(*events))
        write("b.json", json.dumps(document(*events), ensure_ascii=False))
        for path in ("a.json", "b.json"):
            self.assertEqual([name for name, in self.rows("SELECT name FROM trace_events(?) ORDER BY ts", path)], names)
        self.assertEqual(self.rows("SELECT name, diff_counts FROM trace_diff('a.json', 'b.json') ORDER BY name"),
                         [(name, 0) for name in sorted(names)])

    def test_long_names_of_files(self):
        for letter in filter(can_be_a_name, ("n", "'", '"', "\n", "%", "\\", "é")):
            name = letter * ((255 - 5) // len(letter.encode())) + ".json"
            path = write(f"d/{name}", run())
            with self.subTest(letter):
                for named in (path, "d"):
                    self.assertEqual(self.rows("SELECT DISTINCT file FROM trace_events(?)", named), [(path,)])
                write(path, "")
                self.assert_error(f"trace_events: '{path}': empty", "SELECT * FROM trace_events(?)", path)
                (problems,), = self.rows("SELECT problems FROM trace_files(?)", path)
                self.assertEqual(json.loads(problems), [{"what": "empty", "count": 1, "first_byte": None}])
            os.remove(path)

    @names_of_bytes
    def test_names_of_files_that_are_no_text(self):
        """T19: a file name that is not UTF-8 works. The column file has U+FFFD for it, and errors print it
        unchanged.
        """
        self.db.text_factory = bytes
        odd = b"\xff'\xe2\x82\"\n\xc0.json"
        write("d/a.json", run())
        os.rename(b"d/a.json", b"d/" + odd)
        path = b"d/" + odd
        shown = path.decode("utf-8", "replace").encode()
        for named in (b"d", path):
            self.assertEqual(self.rows("SELECT DISTINCT file FROM trace_events(CAST(? AS TEXT))", named), [(shown,)])
        self.assertEqual(self.rows("SELECT file FROM trace_files('d')"), [(shown,)])
        for content, function in (("", "trace_events"), ('{"traceEvents": [', "trace_diff")):
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
            arguments = "?1, ?1" if function == "trace_diff" else "?1"
            with self.assertRaisesRegex(sqlite3.OperationalError, f"(?s)^{function}: '.*': (empty|the document is)"):
                self.rows(f"SELECT * FROM {function}({arguments})", "d")
            (valid,), = self.rows("SELECT json_valid(problems) FROM trace_files('d')")
            self.assertEqual(valid, 1)


def members(path, start, filler, total, end=b""):
    """A gzip file of at least `total` bytes, which repeats one byte between its start and its end."""
    def member(data):
        packer = zlib.compressobj(9, wbits=31)
        return packer.compress(data) + packer.flush()
    size = 10 ** 7
    with open(path, "wb") as file:
        file.write(member(start))
        file.write(member(filler * size) * (total // size))
        file.write(member(end) if end else b"")
    return path


INTERRUPTED = """
took = []
for attempt in range(2):
    def interrupt():
        global asked
        time.sleep(0.5)
        asked = time.monotonic()
        db.interrupt()
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        db.execute("SELECT count(*) FROM trace_events('bomb.json.gz')").fetchall()
        print("read it all")
    except sqlite3.OperationalError as error:
        took.append(time.monotonic() - asked)
        print(error)
    thread.join()
print(f"{min(took, default=9):.3f}")
"""


@slow
@alone
class Bombs(InFolder):
    """10 MB of gzip that unpack to 10 GB of JSON or packets take a second."""

    def assert_bounded(self, start, filler):
        members("bomb.json.gz", start, filler, 10 ** 10)
        printed, memory = child(INTERRUPTED)
        *answers, took = printed.splitlines()
        self.assertEqual(answers, ["interrupted"] * 2)
        self.assertLess(float(took), 1 if SANITIZED else 0.1)
        if not SANITIZED:
            self.assertLess(memory, 200)

    def test_spaces(self):
        self.assert_bounded(b'{"traceEvents": [', b" ")

    def test_string(self):
        self.assert_bounded(b'{"traceEvents": [{"ph": "X", "name": "', b"k")

    def test_brackets(self):
        self.assert_bounded(b"", b"[")
        self.assert_bounded(b'{"traceEvents": [{"ph": "X", "args": ', b"[")

    def test_escapes(self):
        self.assert_bounded(b'{"traceEvents": [{"ph": "X", "name": "', b"\\")

    def test_key(self):
        self.assert_bounded(b'{"', b"k")

    def test_no_json(self):
        self.assert_bounded(b'{"traceEvents": [', b"x")
        self.assert_bounded(b'{"traceEvents": [', b"{")
        self.assert_bounded(b'{"traceEvents": [', b",")

    def test_packets_of_perfetto(self):
        clears_and_names = b"\n\x0f\x50\x01\x68\x01\x62\x09\x12\x07\x08\x01\x12\x03abc"
        for filler in (b"\n\0", clears_and_names):
            self.assert_bounded(b"\n\x02\x40\x01", filler)

    def test_what_follows_is_read(self):
        """In a string of 100 MB, 16 MiB are kept; then reading continues."""
        after = json.dumps(event("after", 1, 2)).encode()
        for start, filler, end in ((b'{"traceEvents": [{"ph": "X", "name": "', b"k", b'"}, ' + after + b"]}"),
                                   (b'{"a": "', b"k", b'", "traceEvents": [' + after + b"]}"),
                                   (b'{"traceEvents": [', b" ", after + b"]}")):
            with self.subTest(start):
                path = members("long.json.gz", start, filler, 10 ** 8, end)
                printed, memory = child("""
print(*db.execute("SELECT count(*), substr(max(name), 1, 9) FROM trace_events('long.json.gz')").fetchone())
print(db.execute("SELECT problems FROM trace_files('long.json.gz')").fetchone()[0])
""")
                found, problems = printed.splitlines()
                self.assertEqual(found, "1 after")
                self.assertEqual([(problem["what"], problem["count"]) for problem in json.loads(problems)],
                                 [] if filler == b" " else [("value skipped: longer than 16 MiB", 1)]
                                 + [("cut", 1)] * start.startswith(b'{"traceEvents": [{'))  # an event (I9)
                if not SANITIZED:
                    self.assertLess(memory, 200)
                os.remove(path)


class Changing(InFolder):
    """Files that change while they are read give rows or one error, and the next query sees the new content."""

    def setUp(self):
        super().setUp()
        self.line = json.dumps(event("op", 1, 2)).encode() + b",\n"
        self.fresh = json.dumps(document(event("fresh", 1, 2))).encode()

    def big(self, path, megabytes=series(24, 64)):
        if path.endswith(".gz"):
            return write_big(path, 2 * megabytes)
        return write(path, b'{"traceEvents": [\n' + self.line * (megabytes * 2 ** 20 // len(self.line)) + b"{}]}")

    def read_while(self, path, change):
        """Reads repeatedly while `change` runs; returns every answer."""
        answers = []
        changed = threading.Event()

        def changing():
            time.sleep(0.05)
            try:
                change()
            finally:
                changed.set()
        thread = threading.Thread(target=changing)
        thread.start()
        try:
            while not changed.is_set():
                for function, rows in (("trace_events", "count(*)"), ("trace_ops", "sum(counts)")):
                    try:
                        answers.append(self.value(f"SELECT {rows} FROM {function}(?)", path))
                    except sqlite3.OperationalError as error:
                        self.assertRegex(str(error), f"^{function}: [^:]*'{re.escape(path)}'[^:]*(: .*)?$")
                        answers.append(str(error))
        finally:
            thread.join()
        self.assertTrue(answers)
        with open(path, "wb") as file:
            file.write(self.fresh)
        self.assertEqual(self.rows("SELECT name FROM trace_events(?)", path), [("fresh",)])
        return answers

    def test_shrinks(self):
        for path in ("a.json", "a.json.gz"):
            size = os.path.getsize(self.big(path))

            def shrink(path=path, size=size):
                for part in range(9, -1, -1):
                    os.truncate(path, size * part // 10)
                    time.sleep(0.02)
            with self.subTest(path):
                self.read_while(path, shrink)

    @slow
    def test_grows(self):
        for path in ("a.json", "a.json.gz"):
            self.big(path)

            def grow(path=path):
                with open(path, "ab") as file:
                    for _ in range(10):
                        file.write(self.line * 10_000)
                        file.flush()
                        time.sleep(0.02)
            with self.subTest(path):
                self.read_while(path, grow)

    @slow
    def test_is_replaced(self):
        for path in ("a.json", "a.json.gz"):
            self.big(path)
            self.big("other" + path, 32)
            whole = {self.value("SELECT count(*) FROM trace_events(?)", name) for name in (path, "other" + path)}

            os.link(path, "whole" + path)

            def replace(path=path):
                for turn in range(10):
                    os.link(("other", "whole")[turn % 2] + path, "new")
                    os.replace("new", path)
                    time.sleep(0.02)
            with self.subTest(path):
                answers = self.read_while(path, replace)
                self.assertLessEqual(set(answers), whole)

    def test_is_overwritten(self):
        """A file that is overwritten in place with another document gives rows or one error."""
        for path in ("a.json", "a.json.gz"):
            size = os.path.getsize(self.big(path))
            noise = os.urandom(2 ** 16)

            def overwrite(path=path, size=size, noise=noise):
                with open(path, "r+b", buffering=0) as file:
                    for part in range(10):
                        file.seek(size * part // 10)
                        file.write(noise)
                        time.sleep(0.01)
            with self.subTest(path):
                self.read_while(path, overwrite)

    def test_next_query_sees_what_is_there(self):
        """The next query sees the new content, however soon it comes, and with an unchanged size."""
        for turn in range(200):
            write("a.json", json.dumps(document(event(f"op{turn:03}", 1, 2))))
            self.assertEqual(self.rows("SELECT name FROM trace_events('a.json')"), [(f"op{turn:03}",)])


if __name__ == "__main__":
    unittest.main()
