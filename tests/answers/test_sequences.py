"""Many queries on one connection: earlier queries must not change an answer. The reference is the same query on a new
connection. Functions with columns that are computed on demand are queried for all sets of these columns, in joins with
themselves, with more rows than are kept, and from several statements at once.

  SEED    begins another series of queries (default 1); a failure names the query
  SLACK   multiplies the time limits (default 1)
"""
import itertools
import json
import os
import pickle
import random
import time
import unittest

from generate_memory import snapshot
from made import InFolder, document, event, run, write
from support import EXAMPLES, alone, connect, series, slow

SEED = os.environ.get("SEED") or "1"
SLACK = float(os.environ.get("SLACK") or 1)
SEQUENCES = series(5, 40)

# Columns that are computed on demand, others of the function, and its arguments.
FUNCTIONS = {
    "trace_ops": (("self_duration", "short_name"), ("rank", "name", "total_duration"),
                  [f"'{trace}', 'all', {steps}" for trace in "ab" for steps in ("'all'", "1", "'steady'")]),
    "trace_kernel_owners": (("op", "top_op", "module", "annotation", "shapes"), ("file", "event", "name"),
                            ["'a'", "'b'", "'a', 0, 1", "'b', 'all', 'all'"]),
    "trace_diff": (("diff_self_duration",), ("name", "diff_duration"),
                   ["'a', 'b'", "'b', 'a', 0, 0, 'all', 'all'", "'a', 'a'"]),
    "trace_events": (("parent", "depth", "self_dur", "args"), ("file", "event", "name"),
                     ["'a'", "'b'", "'a', 0, NULL, 'all'", "'b', 0, NULL, 'X'"]),
    "memory_events": (("allocated", "reserved", "frames"), ("rank", "size", "event"),
                      ["'m'", "'n'", "'m', 1", "'m', 'worst'"]),
    "memory_allocations": (("op", "place", "phase", "annotation"), ("rank", "bytes", "alloc_event"),
                           ["'m'", "'n'", "'m', 'worst'"]),
}


class Sequences(InFolder):
    def setUp(self):
        super().setUp()
        for trace, slower in (("a", 1), ("b", 2)):
            for rank in (0, 1):
                write(f"{trace}/rank{rank}.json", run(slower=slower, extra=("extra",) * (rank + 1)))
        for trace, seed in (("m", 2), ("n", 5)):
            for rank in (0, 1):
                write(f"{trace}/rank{rank}.pickle", pickle.dumps(snapshot(seed + 10 * rank)))
        self.known = {}

    def on_its_own(self, sql):
        """The rows of a query on a new connection."""
        if sql not in self.known:
            db = connect()
            self.known[sql] = db.execute(sql).fetchall()
            db.close()
        return self.known[sql]

    def assert_as_alone(self, sql, db=None):
        self.assertEqual((db or self.db).execute(sql).fetchall(), self.on_its_own(sql), sql)

    def question(self, rng, function):
        demanded, plain, calls = FUNCTIONS[function]

        def some():
            names = rng.sample(demanded, rng.randrange(len(demanded) + 1)) + rng.sample(plain, 1)
            return rng.sample(names, len(names))

        call = f"{function}({rng.choice(calls)})"
        shape = rng.randrange(5)
        if shape == 0:
            return f"SELECT {', '.join(f'count({name})' for name in some())} FROM {call}"
        if shape == 1:
            key = plain[-1]
            one, other = (", ".join(f"{alias}.{name}" for name in some()) for alias in "xy")
            return (f"SELECT {one}, {other} FROM {call} AS x JOIN {call} AS y ON x.{key} = y.{key}"
                    " ORDER BY x.rowid, y.rowid")
        if shape == 2:
            return f"SELECT {', '.join(some())} FROM {call} LIMIT {rng.randrange(4)}"
        if shape == 3:
            other = rng.choice(calls)
            return (f"SELECT {', '.join(some())}, (SELECT count({rng.choice(demanded)}) FROM {function}({other}))"
                    f" FROM {call}")
        return f"SELECT {', '.join(some())} FROM {call}"

    def test_columns_on_demand_after_a_query_without_them(self):
        """The first query's rows are gone when the second one needs more columns at once, and fewer."""
        for function, (demanded, plain, calls) in FUNCTIONS.items():
            call, key = f"{function}({calls[0]})", plain[-1]
            for one, other in itertools.permutations((*demanded, plain[0]), 2):
                self.assert_as_alone(f"SELECT count({one}) FROM {call}")
                self.assert_as_alone(f"SELECT count(x.{key}), count(y.{other}), count(y.{one}), count(x.{one})"
                                     f" FROM {call} AS x JOIN {call} AS y ON x.{key} = y.{key}")

    def test_owners_joined_with_themselves(self):
        call = f"trace_kernel_owners('{EXAMPLES}/gpu/control')"
        self.assertEqual(self.rows(f"SELECT count(op) FROM {call}"), [(240,)])
        self.assertEqual(self.rows(f"SELECT count(*), count(b.op) FROM {call} AS a"
                                   f" JOIN {call} AS b USING (file, event)"),
                         [(240, 240)])

    def test_random_sequences(self):
        for number in range(SEQUENCES):
            rng = random.Random(f"{SEED} {number}")
            db = connect()
            for _ in range(30):
                sql = self.question(rng, rng.choice(tuple(FUNCTIONS)))
                with self.subTest(sequence=number):
                    self.assert_as_alone(sql, db)
            db.close()

    def test_statements_that_are_read_in_turn(self):
        for number in range(SEQUENCES):
            rng = random.Random(f"{SEED} turns {number}")
            db = connect()
            function = rng.choice(tuple(FUNCTIONS))
            queries = [self.question(rng, function) for _ in range(4)]
            cursors, found = [], [[] for _ in queries]
            for _ in range(200):
                if len(cursors) < len(queries) and rng.random() < 0.2:
                    cursors.append(db.execute(queries[len(cursors)]))
                for at, cursor in enumerate(cursors):
                    found[at] += cursor.fetchmany(rng.randrange(1, 4))
            for query, cursor, rows in zip(queries, cursors, found):
                self.assertEqual(rows + cursor.fetchall(), self.on_its_own(query), (number, query))
            self.assertEqual(len(cursors), len(queries))
            db.close()

    def test_more_rows_than_are_kept(self):
        """64 MiB of rows are kept besides those in use, and larger results are still right."""
        text = json.dumps(document(*(event(f"op{number % 97}", number, 1) for number in range(30000)),
                                   event("last", 10 ** 6, 1)))
        for number in range(8):
            write(f"big{number}.json", text.replace("last", f"last{number}"))
        sql = ("SELECT path.value, (SELECT sum(event) FROM trace_events(path.value)),"
               " (SELECT count(depth) + sum(self_dur > 0) FROM trace_events(path.value))"
               " FROM json_each(?) AS path")
        paths = [f'big{number}.json' for number in range(8)]
        for _ in range(2):
            order = '["' + '","'.join(paths + paths[::-1]) + '"]'
            rows = self.rows(sql, order)
            self.assertEqual([row[0] for row in rows], paths + paths[::-1])
            self.assertEqual({row[1:] for row in rows}, {(450015000, 60002)})

    @slow
    @alone
    def test_many_arguments_are_found_as_quickly_as_few(self):
        def seconds(count):
            self.db.execute("DROP TABLE IF EXISTS steps")
            self.db.execute("CREATE TEMP TABLE steps(iterations)")
            self.db.executemany("INSERT INTO steps VALUES (?)",
                                ((f"[1{format(i, 'b').replace('0', ' ').replace('1', chr(9))}]",)
                                 for i in range(count)))
            begin = time.process_time()
            found = self.value("SELECT sum(counts) FROM steps, trace_ops('a', 0, steps.iterations, 'GPU')")
            self.assertEqual(found, count)
            return time.process_time() - begin

        few = min(seconds(2000) for _ in range(3))
        self.assertLess(seconds(32000), 2 * 16 * few * SLACK)


class Files(InFolder):
    """State from earlier files must not change how the next one is read."""
    COLUMNS = "event, name, cat, ph, ts_ns, dur_ns, stream, correlation, pid, tid, args"
    NAMES = ["gemm<4>", "gemm<5>", "relu", "caf\u00e9", 'say "x"', "", "copy_" + "x" * 40 + "_a",
             "copy_" + "x" * 40 + "_b"]

    def make(self, rng, path):
        """Shuffled names, so that each gets another number, and layouts that some files share."""
        names, indent = rng.sample(self.NAMES, len(self.NAMES)), rng.choice((None, None, 1))
        events = []
        for i in range(rng.randrange(40, 200)):
            name = rng.choice(names[:rng.randrange(1, len(names) + 1)])
            args = rng.choice(({"correlation": i, "stream": rng.randrange(2)}, {"External id": i},
                               {"k": [i, rng.choice("ab")]}))
            made = {"ph": rng.choice("XXXXsBE"), "cat": rng.choice(("cpu_op", "kernel", "cuda_runtime")), "name": name,
                    "pid": 1, "tid": rng.randrange(3), "ts": 10 * i + rng.random(), "dur": rng.randrange(9),
                    "args": args}
            if rng.random() < 0.1:
                made = dict(rng.sample(list(made.items()), len(made)))
            events.append(made)
        write(path, json.dumps(document(*events), indent=indent))

    def test_read_after_others(self):
        for number in range(SEQUENCES):
            rng = random.Random(f"{SEED}/files/{number}")
            files = [f"run{number}/{i:02}.json" for i in range(12)]
            for file in files:
                self.make(rng, file)
            for phases in ("X", "Xs"):
                together = {}
                for file, *row in self.rows(f"SELECT file, {self.COLUMNS} FROM trace_events(?, NULL, NULL, ?)",
                                            f"run{number}", phases):
                    together.setdefault(file, []).append(tuple(row))
                self.assertEqual(sorted(together), files)
                for file in files:
                    db = connect()
                    own = db.execute(f"SELECT {self.COLUMNS} FROM trace_events(?, NULL, NULL, ?)",
                                     (file, phases)).fetchall()
                    db.close()
                    self.assertEqual(together[file], own, (number, file, phases))


if __name__ == "__main__":
    unittest.main()
