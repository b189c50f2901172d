"""A small export of Nsight Systems for tests, database pages as bytes, and the state of a folder before and after
reading.
"""
import contextlib
import ctypes
import os
import shutil
import sqlite3
import struct

TABLES = {
    "StringIds": "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL",
    "META_DATA_EXPORT": "name TEXT NOT NULL, value TEXT",
    "TARGET_INFO_SESSION_START_TIME": "utcEpochNs INTEGER, utcTime TEXT, localTime TEXT",
    "NVTX_EVENTS": "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER,"
                   " color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId"
                   " INTEGER",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,"
                                   " globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL,"
                                   " returnValue INTEGER NOT NULL, callchainId INTEGER",
    "CUPTI_ACTIVITY_KIND_KERNEL": "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,"
                                  " contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER,"
                                  " globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,"
                                  " contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER,"
                                  " globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL,"
                                  " srcKind INTEGER, dstKind INTEGER"}
SOURCES = [name for name in TABLES if name not in ("META_DATA_EXPORT", "TARGET_INFO_SESSION_START_TIME")]
KERNEL, STRINGS = "CUPTI_ACTIVITY_KIND_KERNEL", "StringIds"
EVENTS = [name for name in SOURCES if name != STRINGS]
PROCESS = 500 << 24
NAMES = ["cudaLaunchKernel_v7000", "void gemm<float>(int)", "relu", "aten::mm, seq = 7, op_id = 3",
         "cudaMemcpyAsync_v3020"]


# Unexpected values for a column.
ODD = [-2 ** 63, 2 ** 63 - 1, -1, 0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 + 1, 1.5, -1e300, float("inf"), None, "",
       "12", "-12", " 12", "12 ", "+12", "0x10", "1e3", "012", "9223372036854775807", "9223372036854775808",
       "-9223372036854775808", "-9223372036854775809", "1" * 1000, "x", "a\0b", "\udc80", b"", b"12", b"\xff" * 9]


@contextlib.contextmanager
def opened(path):
    """A connection that is closed at the end, and commits if nothing failed."""
    db = sqlite3.connect(path)
    try:
        db.execute("PRAGMA synchronous = OFF")
        with db:
            yield db
    finally:
        db.close()


def rows_of(table, steps):
    """The rows of a table: each step has an operator that launches two kernels and a copy."""
    thread = PROCESS | 501
    for step in range(steps):
        at, correlation = 1_000_000 * step, 10 * step
        if table == "NVTX_EVENTS":
            yield from ((at, at + 900_000, 59, None, 0, None, f"step {step}", thread, None, None, 0),
                        (at + 100, at + 500_000, 59, None, 0, None, None, thread, None, 4, 0))
        elif table == "CUPTI_ACTIVITY_KIND_RUNTIME":
            yield from ((at + 1000 * (i + 1), at + 1000 * (i + 1) + 500, 0, thread, correlation + i, 1 if i < 3 else 5,
                         0, None)
                        for i in range(1, 4))
        elif table == KERNEL:
            yield from ((at + 10_000 * (i + 1), at + 10_000 * (i + 1) + 7000, 0, 1, 7, correlation + i, PROCESS, 1 + i,
                         3)
                        for i in range(1, 3))
        elif table == "CUPTI_ACTIVITY_KIND_MEMCPY":
            yield (at + 50_000, at + 60_000, 0, 1, 7, correlation + 3, PROCESS, 4096, 1, 0, 2)
    if table == STRINGS:
        yield from enumerate(NAMES, 1)
    elif table == "META_DATA_EXPORT":
        yield "EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"
    elif table == "TARGET_INFO_SESSION_START_TIME":
        yield 1_700_000_000_000_000_000, None, None


def fill(db, steps=4, tables=tuple(TABLES), columns=None):
    """Creates the tables; `columns` replaces the columns of some, whose rows are then given by name."""
    for table in tables:
        db.execute(f'CREATE TABLE "{table}" ({(columns or {}).get(table, TABLES[table])})')
        insert(db, table, rows_of(table, steps))


def insert(db, table, rows):
    names = [column.split()[0] for column in TABLES[table].split(", ")]
    db.executemany(f'INSERT INTO "{table}" ({", ".join(names)}) VALUES ({", ".join("?" * len(names))})', rows)


def export(path, steps=4, pragmas=(), **options):
    """Writes an export. Returns the path."""
    if os.path.lexists(path):
        os.remove(path)
    db = sqlite3.connect(path)
    for pragma in pragmas:
        db.execute(f"PRAGMA {pragma}").fetchall()
    with db:
        fill(db, steps, **options)
    db.close()
    return path


def edited(source, path, *statements):
    """A copy of a database after some statements, which can also edit the schema table. Returns the path."""
    shutil.copyfile(source, path)
    db = sqlite3.connect(path)
    db.create_function("made_up", -1, lambda *_: 1, deterministic=True)
    db.execute("PRAGMA writable_schema = ON")
    with db:
        for statement in statements:
            db.execute(statement)
    db.close()
    return path


def changed(source, path, *changes):
    """A copy of a file with changed bytes: (position, bytes). Returns the path."""
    with open(source, "rb") as file:
        content = bytearray(file.read())
    for at, new in changes:
        content[at:at + len(new)] = new
    with open(path, "wb") as file:
        file.write(content)
    return path


def root_of(path, table):
    with opened(path) as db:
        return db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]


def varint(number):
    groups = [number & 127]
    while number := number >> 7:
        groups.append(number & 127 | 128)
    return bytes(groups[::-1])


def page(kind, cells, size=4096, right=None):
    """A page of a tree: 13 is a leaf of a table, 5 an interior page, whose last child is `right`."""
    head = 12 if right else 8
    content, pointers, at = bytearray(size), b"", size
    for cell in cells:
        at -= len(cell)
        content[at:at + len(cell)] = cell
        pointers += struct.pack(">H", at)
    content[:head] = struct.pack(">BHHHB", kind, 0, len(cells), at % 65536, 0) + (struct.pack(">I", right)
                                                                                  if right else b"")
    content[head:head + len(pointers)] = pointers
    assert head + len(pointers) <= at, "too many cells"
    return bytes(content)


def add_pages(path, pages):
    """Appends pages to a database and updates its header. The first page has the number from `next_page`."""
    with open(path, "r+b") as file:
        file.seek(0, os.SEEK_END)
        file.write(b"".join(pages))
        count = file.tell() // 4096
        file.seek(28)
        file.write(struct.pack(">I", count))
        return count


def next_page(path):
    return os.path.getsize(path) // 4096 + 1


def write_page(path, number, content):
    with open(path, "r+b") as file:
        file.seek((number - 1) * len(content))
        file.write(content)


# What a reader must leave unchanged.

MASK = {"attributes": 0x4, "closed after writing": 0x8, "modified": 0x2, "created": 0x100, "deleted": 0x200,
        "moved away": 0x40, "moved here": 0x80, "deleted itself": 0x400, "moved itself": 0x800}
LIBC = ctypes.CDLL(None, use_errno=True)


class Watch:
    """Watches the files of a folder with inotify."""

    def __init__(self, folder):
        self.file = LIBC.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.file < 0 or LIBC.inotify_add_watch(self.file, os.fsencode(folder), sum(MASK.values())) < 0:
            raise OSError(ctypes.get_errno(), "inotify")

    def seen(self):
        try:
            events = os.read(self.file, 1 << 20)
        except BlockingIOError:
            return []
        found = []
        while events:
            _, mask, _, length = struct.unpack_from("iIII", events)
            name = events[16:16 + length].rstrip(b"\0")
            found += [(name, what) for what, bit in MASK.items() if mask & bit]
            events = events[16 + length:]
        return found

    def close(self):
        os.close(self.file)


class NoWatch:
    """The same for Windows, where it does nothing."""

    def seen(self):
        return []

    def close(self):
        pass


def listing(folder):
    """Everything about the files below a folder except their access times."""
    found = {}
    for where, folders, files in os.walk(os.fsencode(folder)):
        for path in [where, *(os.path.join(where, name) for name in folders + files)]:
            status = os.lstat(path)
            found[path] = (status.st_mode, status.st_ino, status.st_nlink, status.st_size,
                           getattr(status, "st_blocks", None), status.st_mtime_ns, status.st_ctime_ns)
    return found


def open_files():
    found = {}
    for number in os.listdir("/proc/self/fd") if os.name != "nt" else ():
        with contextlib.suppress(OSError):
            found[number] = os.readlink(f"/proc/self/fd/{number}")
    return {number: name for number, name in found.items() if not name.startswith("/proc/")}


def threads():
    return len(os.listdir("/proc/self/task")) if os.name != "nt" else None


@contextlib.contextmanager
def untouched(test, folder="."):
    """Asserts that nothing in a folder is created, changed or deleted in the meantime, and that no file or thread stays
    open.
    """
    watch = Watch(folder) if os.name != "nt" else NoWatch()
    before, files, count = listing(folder), open_files(), threads()
    try:
        yield
        test.assertEqual(watch.seen(), [])
        test.assertEqual(listing(folder), before)
        test.assertEqual(open_files(), files)
        test.assertEqual(threads(), count)
    finally:
        watch.close()
