"""Damaged and hostile database files (G1 to G7): damage, bombs, neighbouring files, paths that are not files, and
concurrent use of the file by hosts and other programs.
"""
import contextlib
import os
import random
import shutil
import socket
import sqlite3
import struct
import subprocess
import sys
import textwrap
import threading
import time
import unittest

from made import InFolder, run, write
from made_database import (EVENTS, KERNEL, ODD, STRINGS, TABLES, add_pages, changed, export, next_page, opened, page,
                           root_of, untouched, varint, write_page)
from support import DATA, EXTENSION, ROOT, alone, can_be_a_name, connect, names_of_bytes, series, slow, slowest
from test_damaged_files import SANITIZED, child
from test_hostile_databases import DIFF, FILES, MOST, ROWS, Databases, make_many_tables

NEEDS_SQLITE = unittest.skipIf(os.name == "nt", "needs libsqlite3.so.0")
SLACK = float(os.environ.get("SLACK") or 1)
COUNT = "SELECT count(*) FROM trace_events(?)"
# A column named like the rowid that takes a second to compute.
COMPUTED = ("rowid INTEGER AS (start + 0 * length("
            "replace(hex(zeroblob(200000)), hex(zeroblob(80000)) || '1', '')))")


@contextlib.contextmanager
def meanwhile(*statements, path="x.db"):
    """Another process changes a database and keeps it open until the end."""
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent("""
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1], isolation_level=None)
            for statement in sys.argv[2:]:
                db.execute(statement).fetchall()
            print("done", flush=True)
            sys.stdin.read()
            db.close()
            """), path, *statements], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline().strip() == b"done"
        try:
            yield
        finally:
            process.stdin.close()
            process.wait()


class Beside(Databases):
    """G2: -wal and -journal files."""

    def changes_in(self, name, shown="x.db"):
        return f"cannot read '{shown}': it has changes in '{name}' that are not in it yet"

    def test_what_may_lie_beside(self):
        for tail, content in (("-wal", b""), ("-journal", b""), ("-shm", b"x" * 32768), ("-wal2", b"x"),
                              ("-mj123", b"x")):
            for pragmas in ((), ("journal_mode = WAL",)):
                export("x.db", pragmas=pragmas)
                write("x.db" + tail, content)
                with self.subTest(tail, pragmas=pragmas):
                    self.assertEqual(self.read("x.db"), self.clean)
                os.remove("x.db" + tail)

    def test_changes_that_are_not_in_it(self):
        for tail in ("-wal", "-journal"):
            for content in (b"x", bytes(4096), b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(504)):
                for pragmas in ((), ("journal_mode = WAL",)):
                    export("x.db", pragmas=pragmas)
                    write("x.db" + tail, content)
                    with self.subTest(tail, pragmas=pragmas):
                        self.assertEqual(self.error("x.db"), self.changes_in("x.db" + tail))
                    os.remove("x.db" + tail)

    def test_a_live_wal(self):
        """Rows in a WAL are not missed silently, even through links."""
        export("x.db", pragmas=["journal_mode = WAL"])
        os.mkdir("links")
        os.symlink("../x.db", "links/y.db")
        os.symlink("links", "again")
        with meanwhile(f"INSERT INTO {KERNEL} SELECT * FROM {KERNEL}"):
            self.assertEqual(self.error("x.db"), self.changes_in("x.db-wal"))
            for path in ("links/y.db", "again/y.db"):
                self.assertRegex(self.error(path), rf"^cannot read '{path}': it has changes in '.*x.db-wal' that")
        self.assertEqual(len(self.read("x.db")), 40)
        with meanwhile(f"INSERT INTO {KERNEL} SELECT * FROM {KERNEL}", "PRAGMA wal_checkpoint(TRUNCATE)"):
            self.assertEqual(len(self.read("x.db")), 56)

    def test_a_wal_made_after_the_first_question(self):
        export("x.db", pragmas=["journal_mode = WAL"])
        self.assertEqual(len(self.rows(ROWS, "x.db")), 32)
        with meanwhile(f"DELETE FROM {KERNEL}"):
            self.assertEqual(self.error("x.db"), self.changes_in("x.db-wal"))
        self.assertEqual(len(self.rows(ROWS, "x.db")), 24)

    def test_a_writer_that_was_killed(self):
        """With a hot journal, the pages in the file belong to no complete transaction."""
        child(f"""
import sys
sys.path.insert(0, {os.path.join(ROOT, 'tests')!r})
writer = sqlite3.connect("clean.db")
writer.execute("PRAGMA cache_size = 1")
writer.execute("CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)"
               " SELECT i FROM n")
writer.execute("BEGIN")
writer.execute("UPDATE t SET i = -i")
writer.execute("DELETE FROM StringIds")
import shutil
shutil.copyfile("clean.db", "x.db")
shutil.copyfile("clean.db-journal", "x.db-journal")
""")
        self.assertGreater(os.path.getsize("x.db-journal"), 512)
        self.assertEqual(self.error("x.db"), self.changes_in("x.db-journal"))

    def test_what_lies_beside_is_no_file(self):
        for make in (os.mkfifo, os.mkdir, lambda path: os.symlink("nowhere", path),
                     lambda path: os.symlink("/dev/zero", path)):
            for tail in ("-wal", "-journal", "-shm"):
                for pragmas in ((), ("journal_mode = WAL",)):
                    export("x.db", pragmas=pragmas)
                    make("x.db" + tail)
                    self.read("x.db")
                    (os.rmdir if make is os.mkdir else os.remove)("x.db" + tail)

    def test_a_folder_that_cannot_be_written(self):
        export("d/x.db".replace("d/", ""), pragmas=["journal_mode = WAL"])
        os.mkdir("d")
        os.rename("x.db", "d/x.db")
        os.chmod("d/x.db", 0o444)
        os.chmod("d", 0o555)
        try:
            self.assertEqual(self.read("d/x.db"), self.clean)
        finally:
            os.chmod("d", 0o755)


class Paths(Databases):
    NAMES = ["a?b.db", "a#b.db", "a%b.db", "a%3fb.db", "a;b.db", "a b.db", "a\nb.db", "a&mode=rwc.db", "x.db?mode=rwc",
             "x.db?vfs=none",
             "x.db?immutable=0", "é.db", "file:x.db", "file:x.db?mode=memory&cache=shared", ":memory:", "a'b.db",
             'a"b.db', "a\\b.db",
             "-x.db", "a=b.db", "a+b.db", "a*b.db", "a[b].db", "%00.db", "%", "%2", "\x7f.db", "\x01.db", "x.sqlite3",
             "x.sqlite",
             "x.SQLITE", "x.json", "x.gz", "x", "n" * 250 + ".db", "rank3.db"]

    def test_names(self):
        with open("clean.db", "rb") as file:
            content = file.read()
        for name in filter(can_be_a_name, self.NAMES):
            with open(name, "wb") as file:
                file.write(content)
            for path in (name, os.path.abspath(name), ".//" + name):
                with self.subTest(path):
                    answers = self.ask(self.db, path, (ROWS, FILES))
                    self.assertEqual([row[0] for row in answers[0]], [row[0] for row in self.clean])
                    self.assertEqual(answers[0][0][1], 3 if "rank3" in name else 0)
            os.remove(name)
        self.assertEqual(os.listdir("."), ["clean.db"])

    @names_of_bytes
    def test_names_that_are_no_text(self):
        for name in (b"\xff.db", b"a\xc0\x80b.db", b"\xed\xa0\x80?.db"):
            shutil.copyfile("clean.db", name)
            with untouched(self):
                self.assertEqual(self.db.execute("SELECT count(*) FROM trace_events(CAST(? AS TEXT))",
                                                 (name,)).fetchall(), [(32,)])

    def test_from_another_folder(self):
        os.mkdir("d")
        shutil.copyfile("clean.db", "d/x.db")
        with opened("d/x.db") as db:
            db.execute(f"DELETE FROM {KERNEL}")
        shutil.copyfile("clean.db", "x.db")
        first = len(self.rows(ROWS, "x.db"))
        os.chdir("d")
        self.assertEqual((first, len(self.rows(ROWS, "x.db")), len(self.rows(ROWS, "../x.db"))), (32, 24, 32))
        cursor = self.db.execute("SELECT args FROM trace_events('../x.db')")
        cursor.fetchone()
        os.chdir("..")
        try:  # the path means another file now: an error, or the original file
            self.assertEqual(len(cursor.fetchall()), 31)
        except sqlite3.Error as error:
            self.assertIn("'../x.db'", str(error))

    @unittest.skipIf(os.name == "nt", "needs a current folder with a long path")  # for others see test_windows
    def test_deep_folders(self):
        """Paths longer than SQLite's limit for file names give rows, or an error that names the file."""
        here, name = os.getcwd(), "f" * 200
        for depth in range(1, 6):
            os.mkdir(name)
            shutil.copyfile(os.path.join(here, "clean.db"), os.path.join(name, "x.db"))
            os.chdir(name)
            path = "/".join([name] * depth) + "/x.db"
            for asked in ("x.db", os.path.abspath("x.db")):
                with self.subTest(depth=depth, path=asked[:9]):
                    answer, = self.ask(self.db, asked, (COUNT,))
                    self.assertTrue(answer == [(32,)] or len(os.path.abspath("x.db")) > 500, answer)
        os.chdir(here)
        self.ask(self.db, path, (COUNT,))

    def test_what_is_not_a_file(self):
        os.mkfifo("fifo.db")
        os.mkfifo("fifo.sqlite")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("socket.db")
        os.symlink("/dev/zero", "zero.db")
        os.symlink("/dev/null", "null.sqlite3")
        os.symlink("/proc/self/mem", "mem.db")
        os.symlink("fifo.db", "link.db")
        os.symlink("loop.db", "loop.db")
        os.symlink("nowhere", "dangling.db")
        os.mkdir("folder.db")
        os.mkdir("full.sqlite")
        shutil.copyfile("clean.db", "full.sqlite/x.sqlite")
        started = time.monotonic()
        for path in ("fifo.db", "fifo.sqlite", "socket.db", "zero.db", "null.sqlite3", "link.db"):
            self.assertEqual(self.error(path), f"cannot read '{path}': not a regular file")
        for path in ("mem.db", "loop.db", "dangling.db", "folder.db"):
            self.assertIsInstance(self.read(path), str)
        self.assertEqual(self.read("full.sqlite"), self.clean)
        self.assertLess(time.monotonic() - started, 60)

    def test_folders(self):
        """T16: databases that are not traces are skipped; unreadable files are reported."""
        os.mkdir("d")
        shutil.copyfile("clean.db", "d/a.db")
        with opened("d/b.db") as db:
            db.execute("CREATE TABLE t(a)")
        write("d/c.json", run())
        write("d/d.sqlite", b"")
        write("d/e.db", b"no database")
        with untouched(self):
            self.assertEqual(self.rows("SELECT file, count(*) FROM trace_events('d') GROUP BY file"),
                             [("d/a.db", 32), ("d/c.json", 16)])
        os.mkfifo("d/f.db")
        with untouched(self):
            answer = self.outcome(self.db, "SELECT count(*) FROM trace_events(?)", "d")
        self.assertEqual(answer, "trace_events: cannot read 'd/f.db': not a regular file")


class Damage(Databases):
    """Missing and changed bytes."""

    def check(self, path, what):
        """Rows or an error, equal twice and on another connection."""
        with self.subTest(what):
            answers = self.ask(self.db, path, (ROWS, FILES))
            self.assertEqual(self.ask(self.db, path, (ROWS, FILES)), answers)
            self.ask(self.db, path, (DIFF,))
            return answers[0]

    def put(self, content):
        with open("x.db", "wb") as file:
            file.write(content)
        return "x.db"

    def small(self, steps=20, page_size=512):
        export("small.db", steps, [f"page_size = {page_size}"])
        with open("small.db", "rb") as file:
            return file.read()

    def test_cut(self):
        """G6: a database that lost a page or more gives nothing, or its complete part."""
        content = self.small()
        whole = self.rows(ROWS, "small.db")
        rng, length = random.Random(1), len(content)
        cuts = [*range(0, length, 512), *(n - 1 for n in range(512, length, 512 * 4)),
                *rng.sample(range(length), series(20, 500))]
        for cut in cuts:
            answer = self.check(self.put(content[:cut]), f"cut at {cut}")
            if isinstance(answer, list):
                self.assertLessEqual(len(answer), len(whole))

    def flips(self, content, rng):
        """Some changed bytes: bits anywhere, or numbers at the start of pages, where the trees are."""
        made = bytearray(content)
        for _ in range(rng.choice((1, 1, 1, 2, 8))):
            how = rng.randrange(5)
            if how == 0:
                at = rng.randrange(len(made))
                made[at] ^= 1 << rng.randrange(8)
            elif how == 1:
                at = 512 * rng.randrange(len(made) // 512) + rng.randrange(40)
                made[at] = rng.choice((0, 1, 2, 5, 10, 13, 127, 128, 255, rng.randrange(256)))
            elif how == 2:  # a page in place of another
                a, b = (512 * rng.randrange(len(made) // 512) for _ in range(2))
                made[a:a + 512] = made[b:b + 512]
            elif how == 3:
                at = rng.randrange(len(made) - 4)
                made[at:at + 4] = struct.pack(">I",
                                              rng.choice((0, 1, 2, 3, len(made) // 512, 2 ** 31, 2 ** 32 - 1,
                                                          rng.randrange(60))))
            else:
                at = rng.randrange(len(made))
                made[at:at + 32] = rng.randbytes(len(made[at:at + 32]))
        return bytes(made)

    def test_changed(self):
        content = self.small()
        for seed in range(series(60, 1500)):
            self.check(self.put(self.flips(content, random.Random(seed))), f"seed {seed}")

    def test_databases_of_other_profilers(self):
        """Databases of other profilers with changed bytes and values give rows or an error."""
        for parts in (("nsys", "nsys_rules_mpi.sqlite"), ("nsys", "nsys_rules_two.sqlite"), ("rocpd", "rocpd_v3.db"),
                      ("ascend", "ascend_pytorch_profiler_5.db")):
            with open(os.path.join(DATA, *parts), "rb") as file:
                content = file.read()
            for seed in range(series(4, 100)):
                rng = random.Random(seed)
                self.check(self.put(self.flips(content, rng)), (parts, seed))
                self.put(content)
                self.change_values(rng)
                self.check("x.db", (parts, seed, "values"))

    @staticmethod
    def change_values(rng):
        """Odd values in some rows of some columns of every table, except values that the schema refuses."""
        with opened("x.db") as db:
            for table, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE"
                                     " 'sqlite%'").fetchall():
                columns = [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]
                for column in rng.sample(columns, min(len(columns), rng.choice((0, 1, 1, 3)))):
                    with contextlib.suppress(sqlite3.Error):
                        db.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE rowid % ? = 0',
                                   (rng.choice(ODD[:-4]), rng.randint(1, 5)))

    @slow
    def test_every_bit_of_the_schema(self):
        content = self.small(2, 4096)
        for at in range(0, 4096):
            if content[at]:
                self.check(self.put(content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1:]), f"byte {at}")

    def test_pages_of_other_kinds(self):
        """The root of each table becomes each kind of page, empty, noise, and its own child."""
        rng = random.Random(1)
        for table in list(TABLES)[::series(3, 1)]:
            number = root_of("clean.db", table)
            at = 4096 * (number - 1)
            for kind in (0, 2, 5, 10, 13, 255):
                for count in (None, 0, 1, 65535):
                    new = bytes([kind]) if count is None else struct.pack(">BHH", kind, 0, count)
                    self.check(changed("clean.db", "x.db", (at, new)), (table, kind, count))
            for content in (bytes(4096), rng.randbytes(4096), b"\r" + rng.randbytes(4095), page(5, [], right=number),
                            page(5, [struct.pack(">I", number) + varint(5)] * 300, right=number),
                            page(5, [struct.pack(">I", 1) + varint(5)], right=1),
                            page(5, [struct.pack(">I", 2 ** 32 - 1) + varint(5)], right=2 ** 32 - 1),
                            page(5, [], right=999)):
                self.check(changed("clean.db", "x.db", (at, content)), (table, content[:20]))


BOUNDED = """
import threading, time
path, sql = sys.argv[1:3]
started = time.process_time()
try:
    print(repr(db.execute(sql, (path,)).fetchall()[:3])[:300])
except sqlite3.Error as error:
    print(error)
print(f"{time.process_time() - started:.3f}")
"""


class Bombs(InFolder):
    """Small files that cause much work, and a large one."""

    def bounded(self, path, seconds, megabytes, sql=COUNT):
        """The output of another process within these limits, the first of which is CPU time."""
        with untouched(self):
            printed, memory = child(BOUNDED, path, sql)
        *printed, took = printed.splitlines()
        if not SANITIZED:
            self.assertLess(memory, megabytes)
            self.assertLess(float(took), seconds * SLACK)
        return "\n".join(printed)

    def test_pages_that_are_read_again_and_again(self):
        """A tree whose branches are all one page has 300 to the third power leaves of 8 rows."""
        export("x.db")
        leaf, first = root_of("x.db", KERNEL), next_page("x.db")
        content = open("x.db", "rb").read()[4096 * (leaf - 1):4096 * leaf]

        def branches(child_page):
            return page(5, [struct.pack(">I", child_page) + varint(9)] * 300, right=child_page)
        add_pages("x.db", [content, branches(first), branches(first + 1)])
        write_page("x.db", leaf, branches(first + 2))
        self.bounded("x.db", 2, 100)

    def cells(self, length, tail, rows):
        """Rows (NULL, text) with a text of `length` bytes that continues on a page."""
        kind = varint(2 * length + 13)
        head = varint(2 + len(kind)) + b"\0" + kind
        payload = len(head) + length
        local = 489 + (payload - 489) % 4092
        local = local if local <= 4061 else 489
        for row in rows:
            text = b"%08d" % row + b"x" * (local - len(head) - 8)
            yield varint(payload) + varint(row) + head + text + struct.pack(">I", tail)

    def strings(self, path, length, count, size=None):
        """An export whose string table has this many rows, all with one circular chain of pages."""
        export(path)
        root, first = root_of(path, STRINGS), next_page(path)
        cells = list(self.cells(length, first, range(1, count + 1)))
        per_page = 4000 // (len(cells[0]) + 2)
        leaves = [page(13, cells[at:at + per_page]) for at in range(0, count, per_page)]
        circle = struct.pack(">I", first) + b"y" * 4092
        add_pages(path, [circle, *leaves])
        branches = [struct.pack(">I", first + 1 + n) + varint(min(count, per_page * (n + 1)))
                    for n in range(len(leaves))]
        self.assertLess(len(branches), 300)
        write_page(path, root, page(5, branches[:-1], right=first + len(leaves)))
        if size:
            os.truncate(path, size)
            with open(path, "r+b") as file:
                file.seek(28)
                file.write(struct.pack(">I", size // 4096))

    def test_texts_that_share_their_pages(self):
        """300 kB of pages give 2 GB of texts of 4 MiB each, in a sparse file."""
        self.strings("x.db", 4 * 2 ** 20, 500, 5 * 2 ** 20)
        with opened("x.db") as db:
            db.execute(f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500) INSERT INTO {KERNEL}"
                       " SELECT 5000000 + i, 5000000 + i, 0, 1, 7, 0, 500 << 24, i, 3 FROM n")
        self.bounded("x.db", 5, 200)

    def test_many_texts_longer_than_the_limit(self):
        """G5: texts longer than the limit are skipped without being read."""
        self.strings("x.db", MOST + 100, 2000, 20 * 2 ** 20)
        self.assertEqual(self.bounded("x.db", 3, 100), "[(32,)]")

    def test_a_text_of_a_gigabyte(self):
        for table, column in ((STRINGS, "value"), ("NVTX_EVENTS", "text")):
            export("x.db")
            if table == STRINGS:
                self.strings("x.db", 2 ** 30, 5, 2 ** 30 + 2 ** 20)
            else:
                with opened("x.db") as db:
                    db.execute("UPDATE NVTX_EVENTS SET text = CAST(zeroblob(20000000) AS TEXT) WHERE rowid = 3")
            with self.subTest(table, column=column):
                printed = self.bounded("x.db", 3, 100)
                self.assertEqual(printed, "[(32,)]" if table == STRINGS else "[(31,)]")

    @slow
    def test_sizes_that_the_header_asks_for(self):
        """The size of SQLite's cache is not taken from the header of the file."""
        self.fill_strings("x.db", 300_000)
        with open("x.db", "r+b") as file:
            file.seek(48)
            file.write(struct.pack(">I", 2 ** 31 - 1))
        self.assertEqual(self.bounded("x.db", 3, 120), "[(32,)]")

    @slow
    def test_many_of_everything(self):
        """Work grows with the rows, however many processes, threads, devices, contexts, streams and domains they
        name.
        """
        count = 5000
        for table, columns in ((KERNEL, "globalPid = (500 + rowid) << 24"), (KERNEL, "deviceId = rowid"),
                               (KERNEL, "contextId = rowid, streamId = rowid"),
                               (KERNEL, "globalPid = (rowid % 1000) << 24"),
                               ("NVTX_EVENTS", "globalTid = rowid << 24 | rowid"),
                               ("NVTX_EVENTS", "domainId = rowid / 2,"
                                " eventType = CASE rowid % 2 WHEN 0 THEN 75 ELSE 59 END"),
                               ("NVTX_EVENTS", "text = 'step ' || rowid"), ("NVTX_EVENTS", "end = NULL"),
                               ("CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid = (rowid << 24) | rowid"),
                               ("META_DATA_EXPORT", "name = rowid")):
            export("x.db")
            with opened("x.db") as db:
                db.execute(f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?) INSERT INTO"
                           f" {table}"
                           f" SELECT t.* FROM n CROSS JOIN (SELECT * FROM {table} LIMIT 1) AS t", (count,))
                db.execute(f"UPDATE {table} SET {columns}")
            for sql in (COUNT, "SELECT sum(length(args)) FROM trace_events(?)"):
                with self.subTest(columns, sql=sql):
                    self.bounded("x.db", 4, 150, sql)

    @slow
    def test_many_tables(self):
        make_many_tables("x.db", f"{KERNEL}_V", TABLES[KERNEL], 20_000)
        self.bounded("x.db", 4, 200)

    def test_texts_of_metadata_that_share_their_pages(self):
        self.strings("x.db", 2 ** 20, 500, 2 * 2 ** 20)
        with opened("x.db") as db:
            db.execute("PRAGMA writable_schema = ON")
            db.execute("UPDATE sqlite_master SET rootpage = ? WHERE name = 'META_DATA_EXPORT'",
                       (root_of("x.db", STRINGS),))
        self.bounded("x.db", 5, 100, "SELECT length(value) FROM trace_metadata(?)")

    @slow
    @alone
    def test_a_schema_that_does_not_end(self):
        """A schema that never ends can be interrupted: its only table has an index without a text, whose row is read
        repeatedly.
        """
        with opened("x.db") as db:
            db.execute("CREATE TABLE StringIds (a UNIQUE)")
        with open("x.db", "rb") as file:
            head = file.read()[:100]
        table = "table", "StringIds", "StringIds", 2, "CREATE TABLE StringIds (a UNIQUE)"
        index = "index", "sqlite_autoindex_StringIds_1", "StringIds", 3, None

        def cell(number, values):
            kinds, body = b"", b""
            for value in values:
                kinds += bytes([0 if value is None else 1 if isinstance(value, int) else 13 + 2 * len(value)])
                body += b"" if value is None else bytes([value]) if isinstance(value, int) else value.encode()
            return varint(1 + len(kinds) + len(body)) + varint(number) + bytes([1 + len(kinds)]) + kinds + body
        first = next_page("x.db")
        branch = [page(13, [cell(2, index)] * 30)] + [page(5, [struct.pack(">I", first + n) + varint(2)] * 300,
                                                           right=first + n)
                                                     for n in range(4)] + [page(13, [cell(1, table)])]
        add_pages("x.db", branch)
        top = page(5, [struct.pack(">I", first + 5) + varint(1)], 4096 - 100, right=first + 4)
        moved = bytearray(top)  # offsets in a page count from its start, also on the first page
        moved[5:7] = struct.pack(">H", struct.unpack(">H", top[5:7])[0] + 100)
        moved[12:14] = struct.pack(">H", struct.unpack(">H", top[12:14])[0] + 100)
        head = head[:28] + struct.pack(">I", os.path.getsize("x.db") // 4096) + head[32:]
        write_page("x.db", 1, head + bytes(moved))
        for sql in (COUNT, "SELECT * FROM trace_files(?)"):
            late = self.late("x.db", sql, 0.3)
            self.assertTrue(late is None or late < 0.1 * SLACK, late)

    @staticmethod
    def fill_strings(path, count, kernels=0, **options):
        export(path, **options)
        with opened(path) as db:
            db.execute("WITH RECURSIVE n(i) AS (SELECT 6 UNION ALL SELECT i + 1 FROM n LIMIT ?) INSERT INTO StringIds"
                       " SELECT i, 'a kernel ' || i FROM n", (count,))
            if kernels:
                db.execute(f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?) INSERT INTO"
                           f" {KERNEL}"
                           " SELECT 5000000 + 10 * i, 5000000 + 10 * i + 9, 0, 1, 7, 0, 500 << 24, 6 + i % 1000, 3"
                           " FROM n", (kernels,))

    @staticmethod
    def compute(path):
        """Tables of events get the column. INSERT computes it, so rows are inserted before."""
        with opened(path) as db:
            for table in EVENTS:
                db.execute(f"ALTER TABLE {table} ADD COLUMN {COMPUTED}")

    @slow
    def test_ten_million_strings(self):
        self.fill_strings("x.db", 10 ** 7)
        size = os.path.getsize("x.db") / 2 ** 20
        self.assertEqual(self.bounded("x.db", 20, 2 * size + 100), "[(32,)]")

    def test_generated_columns_that_take_long(self):
        """G3: slow generated columns are not computed, because SQLite's functions cannot be interrupted."""
        export("x.db")
        self.compute("x.db")
        self.assertEqual(self.bounded("x.db", 1, 100), "[(32,)]")

    def late(self, path, sql, delay):
        """Seconds from the interrupt to the end, or None if the query was done before."""
        db, wished = connect(), []

        def stop():
            wished.append(time.monotonic())
            db.interrupt()
        timer = threading.Timer(delay, stop)
        timer.start()
        try:
            db.execute(sql, (path,)).fetchall()
            return None
        except sqlite3.OperationalError as error:
            ended = time.monotonic()
            self.assertEqual(str(error), "interrupted")
            return ended - wished[0]
        finally:
            timer.cancel()
            timer.join()
            db.close()

    @slowest
    @alone
    def test_interrupts(self):
        """An interrupt works at any moment: while strings, rows or args are read, and after that."""
        self.fill_strings("x.db", 10 ** 5, 3 * 10 ** 5)
        self.compute("x.db")
        for sql in (COUNT, "SELECT sum(length(args)) FROM trace_events(?)", "SELECT count(*) FROM trace_files(?)",
                    "SELECT count(*) FROM trace_diff(?1, ?1)"):
            started = time.monotonic()
            connect().execute(sql, ("x.db",)).fetchall()
            whole = time.monotonic() - started
            with self.subTest(sql), untouched(self):
                late = [self.late("x.db", sql, whole * part / 6) for part in range(1, 6)]
                found = [seconds for seconds in late if seconds is not None]
                self.assertGreaterEqual(len(found), 2)
                self.assertLess(max(found), 0.1 * SLACK)

    @slowest
    @alone
    def test_a_progress_handler(self):
        self.fill_strings("x.db", 10 ** 6, 3 * 10 ** 5)
        started = time.monotonic()
        connect().execute(COUNT, ("x.db",)).fetchall()
        share = (time.monotonic() - started) / 3
        for operations in (1, 100, 1000):
            db, wished, started = connect(), [], time.monotonic()

            def handler(wished=wished, started=started):
                if time.monotonic() - started > share:
                    wished.append(time.monotonic())
                return bool(wished)
            db.set_progress_handler(handler, operations)
            with self.assertRaisesRegex(sqlite3.OperationalError, "^interrupted$"):
                db.execute(COUNT, ("x.db",)).fetchall()
            self.assertLess(time.monotonic() - wished[0], 0.1 * SLACK)
            db.close()


class Changes(Databases):
    """A file that is replaced or written to during reading."""

    def test_replaced_between_two_questions(self):
        shutil.copyfile("clean.db", "x.db")
        self.assertEqual(len(self.rows(ROWS, "x.db")), 32)
        with opened("x.db") as db:
            db.execute(f"DELETE FROM {KERNEL} WHERE rowid > 4")
        self.assertEqual(len(self.rows(ROWS, "x.db")), 28)
        shutil.copyfile("clean.db", "y.db")
        os.replace("y.db", "x.db")
        self.assertEqual(self.rows(ROWS, "x.db"), self.clean)
        with open("x.db", "ab") as file:
            file.write(bytes(4096))
        self.assertEqual(self.rows(ROWS, "x.db"), self.clean)
        write("x.db", run())
        self.assertEqual(len(self.rows("SELECT * FROM trace_events('x.db')")), 16)

    def test_changed_before_args_are_read(self):
        def drop():
            with opened("x.db") as db:
                db.execute(f"DELETE FROM {KERNEL} WHERE rowid < 3")

        def replace():
            shutil.copyfile("clean.db", "y.db")
            os.replace("y.db", "x.db")

        for change in (drop, replace, lambda: os.truncate("x.db", 4096), lambda: os.remove("x.db"),
                       lambda: write("x.db", "[]"),
                       lambda: (os.remove("x.db"), os.mkfifo("x.db")), lambda: (os.remove("x.db"), os.mkdir("x.db")),
                       lambda: write("x.db-wal", "x")):
            for sql in ("SELECT event, args FROM trace_events('x.db') ORDER BY event",
                        "SELECT e.event, e.args FROM (SELECT value FROM json_each('[27, 9, 26, 8, 20]')) AS p"
                        " CROSS JOIN trace_events('x.db') AS e ON e.event = p.value"):
                for fetched in (0, 1, 12):
                    shutil.copyfile("clean.db", "x.db")
                    self.rows("SELECT count(*) FROM trace_events('x.db')")
                    whole = self.rows(sql)
                    cursor = self.db.execute(sql)
                    got = [cursor.fetchone() for _ in range(min(fetched, len(whole)))]
                    change()
                    with self.subTest(sql, fetched=fetched):
                        try:
                            self.assertEqual(got + cursor.fetchall(), whole)
                        except sqlite3.OperationalError as error:
                            self.assertRegex(str(error), r"^trace_events: .*'x\.db'")
                    cursor.close()
                    for path in ("x.db", "x.db-wal"):
                        if os.path.isdir(path):
                            os.rmdir(path)
                        elif os.path.lexists(path):
                            os.remove(path)

    @slow
    def test_written_all_the_time(self):
        """While another process writes, the result is the rows of one moment, or an error."""
        export("x.db", 200)
        writer = subprocess.Popen([sys.executable, "-c", textwrap.dedent(f"""
            import sqlite3, time
            db = sqlite3.connect("x.db", isolation_level=None)
            until = time.monotonic() + 4
            while time.monotonic() < until:
                db.execute("UPDATE {KERNEL} SET start = start + 1, end = end + 1")
            """)])
        counted = {"rows": 0, "errors": 0}
        while writer.poll() is None:
            try:
                rows = self.rows("SELECT ts_ns % 10, event, args FROM trace_events('x.db') WHERE cat = 'kernel'"
                                 " ORDER BY event")
                self.assertEqual((len(rows), len({row[0] for row in rows})), (400, 1))
                counted["rows"] += 1
            except sqlite3.OperationalError as error:
                self.assertRegex(str(error), r"'x\.db'")
                counted["errors"] += 1
        self.assertEqual(writer.returncode, 0)
        self.assertGreater(sum(counted.values()), 10)

    def test_locked_by_another_process(self):
        with meanwhile("BEGIN EXCLUSIVE", path="clean.db"):
            took = []
            for _ in range(3):
                started = time.monotonic()
                self.assertEqual(self.read("clean.db"), self.clean)
                took.append(time.monotonic() - started)
            self.assertLess(min(took), 2 * SLACK)


ANOTHER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=0)
try:
    db.execute("BEGIN IMMEDIATE")
    print("written")
except sqlite3.OperationalError as error:
    print(error)
"""


class Hosts(Databases):
    """The calling connection and its process."""

    def another(self, path):
        """The answer of another process that tries to write."""
        return subprocess.run([sys.executable, "-c", ANOTHER, path], capture_output=True, text=True,
                              check=True).stdout.strip()

    def test_locks_of_the_host(self):
        """The host's locks stay, although POSIX drops all locks of a process on a file when it closes any of its
        descriptors.
        """
        shutil.copyfile("clean.db", "x.db")
        host = sqlite3.connect("x.db", isolation_level=None)
        host.execute("BEGIN IMMEDIATE")
        self.assertEqual(self.another("x.db"), "database is locked")
        for sql in (ROWS, FILES, DIFF):
            self.outcome(self.db, sql, "x.db")
            self.assertEqual(self.another("x.db"), "database is locked", sql)
        self.outcome(self.db, "SELECT * FROM trace_files(?)", ".")
        self.assertEqual(self.another("x.db"), "database is locked")
        host.execute("COMMIT")
        self.assertEqual(self.another("x.db"), "written")
        host.close()

    def test_locks_on_a_host_database_among_traces(self):
        """The host's locks stay when its own database is in the folder of the traces."""
        os.mkdir("d")
        write("d/a.json", run())
        for name in ("results.db", "results.sqlite", "results.sqlite3"):
            host = connect(os.path.join("d", name))
            if name != "results.sqlite3":  # it is empty then
                host.execute("CREATE TABLE r(a)")
                host.commit()
            host.execute("BEGIN IMMEDIATE")
            host.execute("SELECT count(*) FROM trace_files('d')").fetchall()
            with self.subTest(name):
                self.assertEqual(self.another(os.path.join("d", name)), "database is locked")
            host.rollback()
            host.close()
            os.remove(os.path.join("d", name))

    def test_attached_to_the_host(self):
        shutil.copyfile("clean.db", "x.db")
        self.db.execute("ATTACH 'x.db' AS same")
        self.assertEqual(self.rows(ROWS, "x.db"), self.clean)
        self.db.isolation_level = None
        self.db.execute("BEGIN IMMEDIATE")
        self.assertEqual(self.rows(ROWS, "x.db"), self.clean)
        self.db.execute(f"DELETE FROM same.{KERNEL}")
        answer = self.outcome(self.db, ROWS, "x.db")
        if isinstance(answer, list):
            self.assertEqual(answer, self.clean)
        self.db.execute("COMMIT")
        self.assertEqual(len(self.rows(ROWS, "x.db")), 24)
        self.db.execute(f"INSERT INTO same.{STRINGS} SELECT event + 1000, name FROM trace_events('clean.db') WHERE"
                        f" name IS NOT NULL")
        self.assertEqual(self.db.execute("SELECT count(*) FROM same.StringIds").fetchone(), (37,))
        self.assertEqual(len(self.rows(ROWS, "x.db")), 24)

    def test_a_host_in_wal_mode(self):
        host = connect(export("x.db", pragmas=["journal_mode = WAL"]))
        host.isolation_level = None
        host.execute("BEGIN IMMEDIATE")
        host.execute("UPDATE META_DATA_EXPORT SET value = 'x'")
        answer = self.outcome(host, ROWS, "x.db")
        self.assertTrue(answer == self.clean or "x.db-wal" in answer)
        host.execute("COMMIT")
        self.assertIn("'x.db-wal'", self.outcome(host, ROWS, "x.db"))
        host.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self.assertEqual(self.outcome(host, ROWS, "x.db"), self.clean)
        host.close()

    def test_state_of_the_host(self):
        """Functions, authorizer, progress handler, limits and settings of the host are unchanged."""
        db, called, asked, steps = connect(), [], [], []
        db.execute("CREATE TABLE t(a)")
        db.execute("INSERT INTO t VALUES (1), (2), (3)")
        db.commit()
        for name in ("abs", "load_extension", "made_up", "randomblob", "length", "upper"):
            db.create_function(name, -1, lambda *values, name=name: called.append(name), deterministic=True)
        db.create_collation("nowhere", lambda a, b: called.append("nowhere") or 0)
        settings = ("foreign_keys", "recursive_triggers", "trusted_schema", "query_only", "cache_size", "mmap_size",
                    "temp_store",
                    "synchronous", "journal_mode", "locking_mode", "busy_timeout", "cell_size_check",
                    "soft_heap_limit", "hard_heap_limit",
                    "secure_delete", "threads", "max_page_count")

        def state():
            limits = [db.getlimit(number) for number in range(12)] if hasattr(db, "getlimit") else []
            return ([db.execute(f"PRAGMA {name}").fetchall() for name in settings], limits, db.total_changes,
                    db.in_transaction,
                    db.execute("SELECT changes(), last_insert_rowid()").fetchall(),
                    db.execute("PRAGMA database_list").fetchall())
        before = state()
        open_cursor = db.execute("SELECT a FROM t")
        self.assertEqual(open_cursor.fetchone(), (1,))
        db.set_authorizer(lambda *action: asked.append(action) or sqlite3.SQLITE_OK)
        db.set_progress_handler(lambda: steps.append(1) and 0, 10)
        self.assertEqual(db.execute(ROWS, ("clean.db",)).fetchall(), self.clean)
        self.assertTrue(steps)
        self.assertFalse([action for action in asked if any(table in action for table in TABLES)])
        self.assertIsInstance(self.outcome(db, ROWS, "gone.db"), str)
        self.assertEqual(open_cursor.fetchall(), [(2,), (3,)])
        db.set_authorizer(None)
        db.set_progress_handler(None, 0)
        self.assertEqual(state(), before)
        self.assertEqual(called, [])
        db.close()

    def test_limits_of_the_host(self):
        """The limits of the calling connection do not apply to the file's."""
        if not hasattr(sqlite3.Connection, "setlimit"):
            self.skipTest("this Python cannot set limits")
        for category in range(12):
            for limit in (0, 1, 10, 100):
                db = connect()
                before = db.setlimit(category, limit)
                answer = self.outcome(db, ROWS, "clean.db")
                with self.subTest(category, limit=limit):
                    self.assertTrue(answer == self.clean or isinstance(answer, str))
                    db.setlimit(category, before)
                    self.assertEqual(db.execute(ROWS, ("clean.db",)).fetchall(), self.clean)
                db.close()

    def test_within_a_transaction_and_a_savepoint(self):
        db = connect("host.db")
        db.isolation_level = None
        db.execute("CREATE TABLE kept(name, ns)")
        db.execute("BEGIN")
        db.execute("SAVEPOINT s")
        db.execute("INSERT INTO kept SELECT name, dur_ns FROM trace_events('clean.db') WHERE device = 'GPU'")
        db.execute("ROLLBACK TO s")
        db.execute("INSERT INTO kept SELECT name, dur_ns FROM trace_events('clean.db') WHERE cat = 'kernel'")
        db.execute("COMMIT")
        self.assertEqual(db.execute("SELECT count(*) FROM kept").fetchone(), (8,))
        db.execute("CREATE TABLE log(a)")
        db.execute("CREATE TRIGGER tr AFTER INSERT ON kept BEGIN INSERT INTO log VALUES (new.name); END")
        db.execute("INSERT INTO kept SELECT name, dur_ns FROM trace_events('clean.db') WHERE cat = 'kernel'")
        self.assertEqual(db.execute("SELECT count(*) FROM log").fetchone(), (8,))
        db.execute("CREATE TRIGGER bad AFTER INSERT ON log BEGIN INSERT INTO kept SELECT name, 1 FROM"
                   " trace_events('clean.db'); END")
        with self.assertRaisesRegex(sqlite3.OperationalError, "unsafe use of virtual table"):
            db.execute("INSERT INTO log VALUES (1)")
        db.close()

    def test_two_databases_and_twice_the_same(self):
        shutil.copyfile("clean.db", "y.db")
        with opened("y.db") as db:
            db.execute(f"UPDATE {KERNEL} SET end = end + 1000")
        os.link("clean.db", "hard.db")
        os.symlink("clean.db", "soft.db")
        self.assertEqual(self.rows("SELECT sum(diff_duration) > 0, count(*) FROM trace_diff('clean.db', 'y.db',"
                                   " 'all', 'all', 'all', 'all')")
                         [0][0], 1)
        for other in ("clean.db", "./clean.db", "hard.db", "soft.db"):
            self.assertEqual(self.rows("SELECT sum(abs(diff_counts)) + sum(abs(diff_duration)) FROM"
                                       " trace_diff('clean.db', ?, 'all', 'all', 'all', 'all')", other), [(0,)])
        rows = self.rows("SELECT a.args, b.args FROM trace_events('clean.db') AS a JOIN trace_events('y.db') AS b"
                         " USING (event)")
        self.assertEqual(len(rows), 32)
        self.assertEqual([a for a, b in rows], [b for a, b in rows])

    def test_threads(self):
        """Threads with one connection each can read the same file."""
        wrong = []

        def work():
            for _ in range(10):
                db = connect()
                if db.execute(ROWS, ("clean.db",)).fetchall() != self.clean:
                    wrong.append(1)
                db.close()
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    @NEEDS_SQLITE
    def test_little_memory(self):
        """With a memory limit for the process, the result is rows, or out of memory."""
        printed, _ = child("""
import ctypes
lite = ctypes.CDLL("libsqlite3.so.0")
lite.sqlite3_hard_heap_limit64.argtypes = [ctypes.c_int64]
lite.sqlite3_memory_used.restype = ctypes.c_int64
right, outcomes = db.execute(sys.argv[1], ("clean.db",)).fetchall(), set()
for more in range(0, 600_000, 7919):
    db.close()
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.execute("SELECT load_extension(?)", (sys.argv[2],))
    lite.sqlite3_hard_heap_limit64(lite.sqlite3_memory_used() + more)
    try:
        outcomes.add("right" if db.execute(sys.argv[1], ("clean.db",)).fetchall() == right else f"wrong {more}")
    except MemoryError:
        outcomes.add("no memory")
    except sqlite3.Error as error:
        outcomes.add(f"no memory" if "out of memory" in str(error) else f"{error} {more}")
    lite.sqlite3_hard_heap_limit64(0)
    outcomes.add("right" if db.execute(sys.argv[1], ("clean.db",)).fetchall() == right else f"wrong after {more}")
print(sorted(outcomes))
""", ROWS, EXTENSION)
        self.assertEqual(printed, "['no memory', 'right']")

    @unittest.skipUnless(hasattr(sqlite3, "enable_shared_cache"), "needs a Python that can share caches")
    def test_a_shared_cache(self):
        """A host's shared cache is not used for files that are read."""
        printed, _ = child("""
import warnings
warnings.simplefilter("ignore")
sqlite3.enable_shared_cache(True)
host = sqlite3.connect("clean.db", isolation_level=None)
host.execute("BEGIN IMMEDIATE")
host.execute("SELECT * FROM StringIds").fetchall()
print(db.execute("SELECT count(*) FROM trace_events('clean.db')").fetchall())
host.execute("CREATE TEMP TABLE t(a)")
host.execute("COMMIT")
print(db.execute("SELECT count(*) FROM trace_events('clean.db')").fetchall())
""")
        self.assertEqual(printed.splitlines(), ["[(32,)]"] * 2)

    AUTOMATIC = """
import ctypes
lite = ctypes.CDLL("libsqlite3.so.0")
kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
called, opened = [], []

@function
def called_back(context, count, values):
    called.append(1)
    lite.sqlite3_result_int(ctypes.c_void_p(context), 1)

@kind
def on_open(db, message, api):
    opened.append(db)
    lite.sqlite3_create_function(ctypes.c_void_p(db), b"made_up", -1, 0x800 | 1, None, called_back, None, None)
    return result

how, path = sys.argv[1:3]
result = 1 if how == "fails" else 0
if how == "itself":
    lite.sqlite3_auto_extension(ctypes.CDLL(EXTENSION).sqlite3_tracediff_init)
else:
    lite.sqlite3_auto_extension(on_open)
for _ in range(2):
    try:
        print(*db.execute("SELECT count(*), sum(length(args)) FROM trace_events(?)", (path,)).fetchone())
    except sqlite3.Error as error:
        print(error)
print(len(called), len(opened) > 0)
lite.sqlite3_reset_auto_extension()
"""

    @NEEDS_SQLITE
    def test_automatic_extensions(self):
        """Functions that a host adds to every connection are not called by a file, and its extensions may fail."""
        path = shutil.copyfile("clean.db", "x.db")
        with opened(path) as db:
            db.create_function("made_up", -1, lambda *_: 1, deterministic=True)
            db.execute(f"CREATE INDEX i ON {KERNEL}(made_up(start)) WHERE made_up(end)")
            db.execute(f"ALTER TABLE {KERNEL} ADD COLUMN graphNodeId INTEGER AS (made_up(start))")
            db.execute(f"ALTER TABLE {KERNEL} ADD COLUMN gridX INTEGER CHECK (made_up(gridX))")
            db.execute("CREATE VIEW CUPTI_ACTIVITY_KIND_MEMSET AS SELECT made_up() AS start, 1 AS end")
        code = f"EXTENSION = {EXTENSION!r}\n" + self.AUTOMATIC
        right = f"32 {sum(len(row[-1] or '') for row in self.clean)}"
        for how in ("works", "itself", "fails"):
            with self.subTest(how):
                printed, _ = child(code, how, path)
                *answers, calls = printed.splitlines()
                self.assertEqual(calls, f"0 {how != 'itself'}")
                if how == "fails":
                    self.assertRegex(answers[0], r"^trace_events: cannot read 'x\.db'")
                else:  # a schema that needs an unsafe function counts as damage
                    self.assertEqual(answers, [right if how == "itself" else "0 None"] * 2)


if __name__ == "__main__":
    unittest.main()
