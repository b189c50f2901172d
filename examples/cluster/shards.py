#!/usr/bin/python3
"""Summaries of traces: a small database (a shard) for each file, and all shards merged into one database.

usage: shards.py make control|test SHARDS TRACE...       writes a shard of each file, unless it is there
       shards.py merge [--elsewhere] DATABASE SHARDS...  merges all shards in these folders
       shards.py ask DATABASE SHARDS TRACE...            asks each file what the path of the job does in it
       shards.py add DATABASE SHARDS...                  adds the answers to the database

Shards, answers and merged databases are written aside, and renamed when they are whole. SHARDS gets a folder for each
side. A shard is merged only if its file is as it was; --elsewhere, if the files lie on other machines, does not look.
The exit status is 3 if the database is there but lacks ranks or files: a line says which. Answers are added all or
none.
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

# What a merged database asks of files (trace_job_parts), and what the answer of a file has.
ASKED = "SELECT side, file, size, mtime_ns, made_by, stretches FROM job_asked JOIN inputs USING (side, file)"
ANSWER = """CREATE TABLE asked (side, file, size, mtime_ns, made_by, stretches);
            CREATE TABLE answers (side, rank, iteration, class, name, time_ns);"""

# What a shard was made of. state: the file's size and mtime_ns, None and None if there was none. left_out: it has no
# rows.
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
    return f"file:{urllib.parse.quote(os.path.abspath(path))}?mode=ro&immutable=1"


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
                f"{inputs.file}, of which it was made, is gone: delete the shard, or merge with --elsewhere if the file"
                " lies on another machine")
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
            # Nobody sees them before all is whole: they need no journal. Sorts are made of pieces of cache_size, kB.
            for name in ("main", "aside"):
                db.executescript(f"""PRAGMA {name}.journal_mode = OFF; PRAGMA {name}.synchronous = OFF;
                                     PRAGMA {name}.cache_size = -250000;""")
            db.executescript("""CREATE TABLE aside.job_rows AS SELECT * FROM main.job_rows;
                                DROP TABLE main.job_rows;""")
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
                          VALUES ('content', 'summaries of PyTorch profiler traces, merged by tracediff'),
                            ('layout', '1'),
                            ('created_utc', strftime('%Y-%m-%dT%H:%M:%SZ', 'now')), ('tracediff', tracediff_version()),
                            ('sqlite', sqlite_version()), ('shards', ?)""", (len(shards) - len(lines),))
            db.executescript(read(HERE, "finish.sql").replace("-- With shared/collectives\n",
                                                              read(ROOT, "sql", "shared", "collectives.sql")))
            for side in SIDES:
                lines += missing(db, side)
            check_sides(db, folders, lines)
            for name in ("diffs.sql", "views.sql"):
                db.executescript(read(DATABASE, name))
    return len(shards), lines


def check_merged(database):
    with contextlib.suppress(sqlite3.DatabaseError):
        with contextlib.closing(sqlite3.connect(read_only(database), uri=True)) as db:
            db.execute(ASKED)
            return
    raise ValueError(f"{database} is not a merged database: 'shards.py merge' writes it")


def asked_files(database):
    """The files that the paths of the jobs go over."""
    with contextlib.closing(sqlite3.connect(read_only(database), uri=True)) as db:
        return [file for file, in db.execute("SELECT DISTINCT file FROM job_asked ORDER BY file")]


def ask(database, trace, folder):
    """Asks a file what the path of the job does in it. Returns 'made', 'kept', 'not on the path', or what is wrong."""
    check_merged(database)
    trace, state, said = os.path.abspath(trace), state_of(trace), "not on the path"
    with contextlib.closing(sqlite3.connect(read_only(database), uri=True)) as db:
        asked = db.execute(f"{ASKED} WHERE file = ?", (trace,)).fetchall()
    for side, _, *its_state, made_by, stretches in asked:  # of both sides, if it is compared with itself
        if state != tuple(its_state):
            return f"not as {database} knows it: make its shard and merge again"
        answer = os.path.join(folder, side, os.path.basename(trace) + ".answer")
        key = side, trace, *state, made_by, stretches
        if key == answered(answer):
            said = "kept" if said != "made" else said
            continue
        with contextlib.closing(connect(":memory:")) as db:
            if db.execute("SELECT tracediff_version()").fetchone() != (made_by,):
                return f"{database} was made by tracediff {made_by}, which is not this one: make and merge again"
            db.executescript(ANSWER)
            db.execute("INSERT INTO asked VALUES (?, ?, ?, ?, ?, ?)", key)
            try:
                db.execute("INSERT INTO answers SELECT ?, rank, iteration, class, name, time_ns"
                           " FROM trace_job_parts(?, ?)",
                           (side, json.dumps([trace]), stretches))
            except sqlite3.OperationalError as error:
                return str(error)
            with replacing(answer) as new:
                db.execute("VACUUM INTO ?", (new,))
        said = "made"
    return said


def answered(answer):
    """What was asked, in the columns of ASKED; None if the answer is not there, or not whole."""
    with contextlib.suppress(sqlite3.DatabaseError):
        with contextlib.closing(sqlite3.connect(read_only(answer), uri=True)) as db:
            if db.execute("PRAGMA quick_check(1)").fetchone() == ("ok",):
                return db.execute("SELECT * FROM asked").fetchone()
    return None


def add(database, folders):
    """Adds the answers in these folders, or ends the program if one that the database asks for is not there."""
    check_merged(database)
    answers, others, lines = {}, {}, []
    for path in sorted(path for folder in folders
                       for path in glob.glob(os.path.join(glob.escape(folder), "**", "*.answer"), recursive=True)):
        key = answered(path)
        if not key:
            lines.append(f"{path}: not a whole answer")
            continue
        answers.setdefault(key, path)
        others.setdefault(key[:2], path)
    with contextlib.closing(connect(database)) as db:
        db.execute("CREATE TEMP TABLE answers (side, rank, iteration, class, name, time_ns)")
        asked, lacking = db.execute(f"{ASKED} ORDER BY side, file").fetchall(), []
        for key in asked:
            if key not in answers:
                side, file, *_ = key
                lacking.append(f"{others[key[:2]]}: not what {database} asks of {file}: ask it again"
                               if key[:2] in others else
                               f"{side}: no answer of {file}: 'shards.py ask' asks it")
                continue
            db.execute("ATTACH ? AS answer", (read_only(answers[key]),))
            db.execute("INSERT INTO temp.answers SELECT * FROM answer.answers")
            db.execute("DETACH answer")
        if lacking:
            sys.exit("\n".join(lines + lacking))
        script = read(HERE, "path.sql").replace("-- diffs.sql\n", read(DATABASE, "diffs.sql"))
        db.executescript(f"BEGIN; {script} COMMIT;")
    return len(asked)


def check_sides(db, folders, lines):
    """Ends the program where a side has no file: its diff would be empty, as if nothing differed."""
    there = {side for side, in db.execute("SELECT side FROM files"
                                          " WHERE (side, file) NOT IN (SELECT side, file FROM left_out)")}
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
    elif command == "add" and others:
        print(f"added {add(target, others)} answers to {target}")
    elif command == "ask" and len(others) > 1:
        folder, *traces = others
        failed = False
        for trace in traces:
            said = ask(target, trace, folder)
            failed = failed or said not in ("made", "kept", "not on the path")
            print(f"{said}: {trace}", flush=True)
        sys.exit(failed)
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
