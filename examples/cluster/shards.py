#!/usr/bin/python3
"""Summaries of traces: a small database (a shard) for each file, and all shards merged into one database.

usage: shards.py make control|test SHARDS TRACE...       writes a shard of each file, unless it is there
       shards.py merge [--elsewhere] DATABASE SHARDS...  merges all shards in these folders

Both write aside, and rename what is whole. SHARDS gets a folder for each side. A shard is merged only if its file is as it
was; --elsewhere, if the files lie on other machines, does not look. The exit status is 3 if the database is there but lacks
ranks or files: a line says which.
"""
import collections
import contextlib
import glob
import json
import os
import sqlite3
import sys
import tempfile
import urllib.parse

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
EXTENSION = os.environ.get("TRACEDIFF") or os.path.join(ROOT, "dist", "tracediff.so")
DATABASE = os.path.join(ROOT, "sql", "database")
SIDES = ("control", "test")

# What a shard was made of. state: the file's size and mtime_ns, None and None if there was none. left_out: it has no rows.
Inputs = collections.namedtuple("Inputs", "side file state made_by left_out")


def connect(path):
    db = sqlite3.connect(path, isolation_level=None, uri=True)
    if not hasattr(db, "enable_load_extension"):
        raise RuntimeError(f"the sqlite3 of {sys.executable} loads no extensions: use another Python, such as Debian's")
    db.enable_load_extension(True)
    db.execute("SELECT load_extension(?)", (EXTENSION,))
    db.enable_load_extension(False)
    return db


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def read_only(path):
    """A database that nobody changes: SQLite takes no locks, which network file systems may lack."""
    return f"file:{urllib.parse.quote(os.path.abspath(path))}?immutable=1"


@contextlib.contextmanager
def replacing(path):
    """A path beside this one, which replaces it if nothing fails. What a killed process leaves is .NAME.part."""
    folder, name = os.path.split(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{name}.", suffix=".part", dir=folder) as aside:
        new = os.path.join(aside, name)
        yield new
        with open(new, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(new, path)


def state_of(trace):
    """What tells whether a file has changed."""
    try:
        found = os.stat(trace)
        return found.st_size, found.st_mtime_ns
    except OSError:
        return None, None


def inputs_of(shard):
    with contextlib.closing(sqlite3.connect(read_only(shard), uri=True)) as db:
        found, = db.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise sqlite3.DatabaseError(found)
        found = db.execute("""SELECT side, file, size, mtime_ns, made_by, EXISTS (SELECT 1 FROM left_out)
                              FROM inputs""").fetchone()
        if not found:
            raise sqlite3.DatabaseError("inputs is empty")
        side, file, size, mtime_ns, made_by, left_out = found
        return Inputs(side, file, (size, mtime_ns), made_by, left_out)


def inputs_there(shard):
    """The inputs of a shard, if it is there and whole."""
    with contextlib.suppress(sqlite3.DatabaseError):
        return inputs_of(shard) if os.path.exists(shard) else None


def prepare(path):
    """A connection with empty tables, and the version of the extension."""
    db = connect(path)
    db.executescript(read(DATABASE, "tables.sql") + read(HERE, "tables.sql"))
    return db, db.execute("SELECT tracediff_version()").fetchone()[0]


def make(side, trace, folder):
    """Makes the shard of a file. Returns 'made', 'kept', or why the file is left out."""
    shard = os.path.join(folder, side, os.path.basename(trace) + ".db")
    trace, state, there = os.path.abspath(trace), state_of(trace), inputs_there(shard)
    if there and there.file != trace and os.path.exists(there.file):
        raise ValueError(f"{shard} is the shard of {there.file}: give {trace} another folder of shards")
    db, version = prepare(":memory:")
    with contextlib.closing(db):
        if there == Inputs(side, trace, state, version, False):
            return "kept"
        path, rank, problem = json.dumps([trace]), None, None
        db.execute("CREATE TEMP TABLE input AS SELECT ? AS side, ? AS path, 0 AS with_args", (side, path))
        try:
            rank, source = db.execute("SELECT rank, rank_source FROM trace_files(?)", (path,)).fetchone()
            if source == "order":
                problem = "its rank is neither in the file nor in its name"
            else:
                db.executescript(f"BEGIN; {read(DATABASE, 'summaries.sql')} {read(HERE, 'shard.sql')} COMMIT;")
        except sqlite3.OperationalError as error:
            problem = str(error)
            if not problem.startswith("trace_"):  # then it is not about the file
                raise
            db.execute("ROLLBACK") if db.in_transaction else None
        if problem:
            db.execute("INSERT INTO left_out VALUES (?, ?, ?, ?)", (side, trace, rank, problem))
        db.execute("INSERT INTO inputs VALUES (?, ?, ?, ?, ?)", (side, trace, *state, version))
        with replacing(shard) as new:
            db.execute("VACUUM INTO ?", (new,))
    return problem or "made"


def why_not(shard, version, merged, elsewhere):
    """Why a shard cannot be merged, or None; '' if the same is merged already. Adds it to `merged`."""
    try:
        inputs = inputs_of(shard)
    except sqlite3.DatabaseError as error:
        return f"not a whole shard ({error}): make it again"
    if inputs.made_by != version:
        return f"made by tracediff {inputs.made_by}, not {version}: make it again"
    state = inputs.state if elsewhere else state_of(inputs.file)
    if state != inputs.state:
        return (f"{inputs.file} has changed: make it again" if state != (None, None) else
                f"{inputs.file}, of which it was made, is gone: delete the shard, or merge with --elsewhere if the file lies on"
                " another machine")
    other, other_state = merged.setdefault((inputs.side, inputs.file, inputs.left_out), (shard, inputs.state))
    if other_state != inputs.state:
        return f"{inputs.file} was not the same for {other}: delete the older shard"
    return None if other == shard else ""


def merge(database, folders, elsewhere=False):
    """Merges all shards below these folders. Returns how many there were, and what is missing, in lines."""
    shards = sorted({os.path.normpath(path) for folder in folders
                     for path in glob.glob(os.path.join(glob.escape(folder), "**", "*.db"), recursive=True)})
    if not shards:
        sys.exit(f"no shards in {', '.join(folders)}: 'shards.py make' writes them")
    check_target(database)
    add = f"BEGIN; {read(HERE, 'merge.sql')} COMMIT;"
    lines, merged = [], {}
    with replacing(database) as new:
        db, version = prepare(new)
        with contextlib.closing(db):
            db.execute("ATTACH ? AS aside", (new + ".aside",))
            for name in ("main", "aside"):  # nobody sees them before all is whole: they need no journal
                db.executescript(f"""PRAGMA {name}.journal_mode = OFF; PRAGMA {name}.synchronous = OFF;
                                     PRAGMA {name}.cache_size = -250000;""")  # kB: sorts are made of pieces of this size
            db.executescript("""CREATE TABLE aside.collective_parts AS SELECT * FROM main.collective_parts;
                                DROP TABLE main.collective_parts; DROP TABLE main.inputs;""")
            for shard in shards:  # one at a time: SQLite attaches at most 10
                reason = why_not(shard, version, merged, elsewhere)
                if reason:
                    lines.append(f"{shard}: {reason}")
                if reason is not None:
                    continue
                db.execute("ATTACH ? AS shard", (read_only(shard),))
                db.executescript(add)
                db.execute("DETACH shard")
            db.execute("""INSERT INTO about
                          VALUES ('content', 'summaries of PyTorch profiler traces, merged by tracediff'), ('layout', '1'),
                            ('created_utc', strftime('%Y-%m-%dT%H:%M:%SZ', 'now')), ('tracediff', tracediff_version()),
                            ('sqlite', sqlite_version()), ('shards', ?)""", (len(shards) - len(lines),))
            db.executescript(read(HERE, "finish.sql"))
            for side in SIDES:
                lines += missing(db, side)
            check_sides(db, folders, lines)
            for name in ("diffs.sql", "views.sql"):
                db.executescript(read(DATABASE, name))
    return len(shards), lines


def check_sides(db, folders, lines):
    """Ends the program where a side has no file: its diff would be empty, as if nothing differed."""
    there = {side for side, in db.execute("SELECT side FROM files WHERE (side, file) NOT IN (SELECT side, file FROM left_out)")}
    for side in SIDES:
        if side not in there:
            lines.append(f"no rows of {side} in {', '.join(folders)}: 'shards.py make {side}' writes its shards")
            sys.exit("\n".join(lines))


def check_target(database):
    """Ends the program where a database cannot be replaced."""
    if os.path.isdir(database):
        sys.exit(f"{database} is a directory: name the database to write, then the folders of shards")
    for left in (database + "-wal", database + "-journal"):  # SQLite would apply them to the new file
        if os.path.exists(left) and os.path.getsize(left):
            sys.exit(f"{left} says that a program is writing to {database}: close it first")
    if os.path.exists(database) and os.path.getsize(database):
        with open(database, "rb") as file:
            if file.read(16) != b"SQLite format 3\0":
                sys.exit(f"{database} exists and is not a database: it stays as it is")


def missing(db, side):
    """Lines about the ranks of a side that are missing, and the first 20 files that were left out."""
    runs = []
    for rank, in db.execute("SELECT rank FROM missing_ranks WHERE side = ?", (side,)):
        if runs and runs[-1][1] == rank - 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    if runs:
        yield f"{side}: no rows of ranks " + ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
    for file, reason in db.execute("SELECT file, reason FROM left_out WHERE side = ? ORDER BY file LIMIT 20", (side,)):
        yield f"{side}: {file}: {reason}"


def report(database, count, lines):
    """Says what was merged and what is missing. Returns the exit status: 3 if something is."""
    print("".join(f"{line}\n" for line in lines), end="", file=sys.stderr)
    print(f"merged {count} shards into {database}")
    return 3 if lines else 0


def main(command, *arguments):
    elsewhere = command == "merge" and arguments[:1] == ("--elsewhere",)
    target, *others = arguments[elsewhere:] or [""]
    if command == "merge" and others:
        sys.exit(report(target, *merge(target, others, elsewhere)))
    elif command == "make" and target in SIDES and len(others) > 1:
        folder, *traces = others
        for trace in traces:
            print(f"{make(target, trace, folder)}: {trace}", flush=True)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:] or [""])
    except ValueError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
