"""The parts of steps are computed once and kept with their files. Earlier queries must not change an answer, and a
repeated query must cost nothing. The reference is the same query on a new connection.
"""
import os
import random
import re
import sqlite3
import threading
import unittest

from generate_job import write_job
from made import InFolder, document, event, kernel, launch, run, step, write
from support import EXAMPLES, connect, series

SEED = os.environ.get("SEED") or "1"
SEQUENCES = series(1, 60)
LEVELS = ("op", "top_op", "module", "annotation", "kernel")


def question(rng, one, other):
    """A query for the parts of one trace or of two."""
    ranks, iterations = rng.choice(("NULL", "'all'", "'job'", "'job'")), rng.choice(("NULL", "'all'", "1"))
    clock, steps = rng.choice(("NULL", "NULL", "'host'")), rng.choice(("NULL", "NULL", "'profiler'", "'ProfilerStep*'"))
    sides = f"'{one}', '{other}', {ranks}, {ranks}, {iterations}, {iterations}"
    return rng.choice((
        f"SELECT * FROM trace_step_time('{one}', {ranks}, {iterations},"
        f" '{rng.choice(LEVELS)}', {clock}, NULL, {steps})",
        f"SELECT * FROM trace_step_path('{one}', {ranks}, {iterations}, {clock}, '{rng.choice(('step', 'trace'))}',"
        f" {steps})",
        f"SELECT * FROM trace_step_path('{one}', {ranks}, {iterations}, {clock}) LIMIT 3",
        f"SELECT * FROM trace_step_diff({sides}, '{rng.choice(LEVELS)}', {clock}, {steps})",
        f"SELECT * FROM trace_step_causes({sides}, {clock}, {steps})",
        f"SELECT * FROM trace_tree_diff({sides}, {clock}, {steps})",
        f"SELECT * FROM trace_verdict({sides}, {clock}, {steps})",
        f"SELECT event, op, shapes FROM trace_kernel_owners('{one}', {ranks}, {iterations}, NULL, {steps})"))


def answer(db, sql):
    try:
        return db.execute(sql).fetchall()
    except sqlite3.OperationalError as error:
        return str(error)


def fresh(sql):
    """The answer on a new connection."""
    db = connect()
    rows = answer(db, sql)
    db.close()
    return rows


def attributed(db):
    return int(re.search(r"files attributed: (\d+)$", db.execute("SELECT tracediff_debug()").fetchone()[0])[1])


class Kept(InFolder):
    def write(self, number):
        for side in "ab":
            write_job(side, f"{SEED} {number} {side}", most=3)

    def test_in_any_order(self):
        for number in range(SEQUENCES):
            rng = random.Random(f"{SEED} order {number}")
            self.write(number)
            db = connect()
            for _ in range(10):
                sql = question(rng, *rng.choice(("ab", "ba", "aa")))
                self.assertEqual(answer(db, sql), fresh(sql), (number, sql))
            db.close()

    def test_files_that_change(self):
        for number in range(SEQUENCES):
            rng = random.Random(f"{SEED} change {number}")
            self.write(number)
            db = connect()
            asked = [question(rng, "a", "b") for _ in range(3)]
            for turn in range(3):
                for sql in asked:
                    self.assertEqual(answer(db, sql), fresh(sql), (number, turn, sql))
                path = f"a/{rng.choice(os.listdir('a'))}"
                rank = os.listdir("a").index(os.path.basename(path))
                write(path, {**run(4, rng.randrange(2, 5)), "distributedInfo": {"rank": rank}})
            db.close()

    def test_statements_that_are_read_in_turn(self):
        for number in range(SEQUENCES):
            rng = random.Random(f"{SEED} turns {number}")
            self.write(number)
            db = connect()
            asked = [f"SELECT * FROM trace_step_{rng.choice(('path', 'time'))}('a', '{rng.choice(('all', 'job'))}',"
                     f" 'all')"
                     for _ in range(4)]
            cursors, found = [db.execute(sql) for sql in asked], [[] for _ in asked]
            for _ in range(30):
                at = rng.randrange(len(asked))
                found[at] += cursors[at].fetchmany(rng.randrange(1, 20))
            for sql, cursor, rows in zip(asked, cursors, found):
                self.assertEqual(rows + cursor.fetchall(), fresh(sql), (number, sql))
            db.close()

    def test_connections_of_several_threads(self):
        self.write(0)
        rng = random.Random(f"{SEED} threads")
        asked = [question(rng, "a", "b") for _ in range(6)]
        expected, found = [fresh(sql) for sql in asked], {}

        def ask(thread):
            db = connect()
            found[thread] = [answer(db, sql) for sql in asked + asked]
            db.close()

        threads = [threading.Thread(target=ask, args=(thread,)) for thread in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for thread in range(3):
            self.assertEqual(found[thread], expected + expected)

    def large(self, name, ranks=1):
        """Steps of many operators with different names."""
        for rank in range(ranks):
            events = []
            for number in range(3):
                at = 100_000 * number
                events.append(step(number, at, 90_000))
                for i in range(1000):
                    start = at + 20 * i
                    events += [event(f"op{number} {i}", start, 15), launch(start + 1, 2, 10_000 * number + i),
                               kernel(f"kernel {i % 7}", start + 5, 12 + rank, 10_000 * number + i)]
            write(f"{name}/{rank}.json", {"distributedInfo": {"rank": rank}, **document(*events)})

    def test_more_parts_than_are_kept(self):
        """A part takes 64 bytes and an event 8. With three events per part, most parts are computed again."""
        self.large("a", 2)
        for sql in ("SELECT * FROM trace_step_time('a', 'all', 'all')",
                    "SELECT * FROM trace_step_path('a', 'job', 'all')",
                    "SELECT * FROM trace_step_path('a', 'all', 'all', NULL, 'trace')",
                    "SELECT * FROM trace_step_time('a')"):
            expected = fresh(sql)
            for _ in range(2):
                self.assertEqual(answer(self.db, sql), expected)

    def test_an_interrupt(self):
        self.large("a")
        sql = "SELECT * FROM trace_step_path('a', NULL, 'all')"
        expected, stopped = fresh(sql), 0
        for polls in range(0, 12, 2):
            db, left = connect(), [polls]
            db.execute("SELECT count(*) FROM trace_files('a')").fetchall()

            def stop(left=left):
                left[0] -= 1
                return left[0] < 0

            db.set_progress_handler(stop, 1)
            stopped += answer(db, sql) == "interrupted"
            db.set_progress_handler(None, 0)
            self.assertEqual(answer(db, sql), expected, polls)
            db.close()
        self.assertGreater(stopped, 1)


class Once(unittest.TestCase):
    """Counts how often the time of a file is attributed."""

    def assert_attributed(self, most, *statements):
        db = connect()
        before = attributed(db)
        for sql in statements:
            db.execute(sql).fetchall()
        self.assertLessEqual(attributed(db) - before, most, statements)
        db.close()

    def test_a_summary_and_a_page(self):
        """The page shows both ranks, and for rank 0 also the steps that are not steady. Gains name the lags."""
        sides = f"'{EXAMPLES}/gpu/control', '{EXAMPLES}/gpu/test'"
        for gains in 0, 1:
            for most, function in (2, "trace_summary"), (6, "trace_diff_report"):
                self.assert_attributed(most + 2 * gains,
                                       f"SELECT * FROM {function}({sides}, 0, 0) WHERE gains = {gains}")

    def test_a_job(self):
        """For a job, each rank is attributed once, and so is the path over all ranks; gains name the lags."""
        sides = f"'{EXAMPLES}/gpu/control', '{EXAMPLES}/gpu/test'"
        for gains in 0, 1:
            self.assert_attributed(8 + 2 * gains,
                                   f"SELECT * FROM trace_summary({sides}, 'job', 'job') WHERE gains = {gains}")

    def test_levels_and_clocks(self):
        trace = f"'{EXAMPLES}/gpu/control'"
        self.assert_attributed(1, *(f"SELECT * FROM trace_step_time({trace}, 0, 'all', '{level}')" for level in LEVELS),
                               f"SELECT * FROM trace_step_path({trace}, 0, 'all')",
                               f"SELECT * FROM trace_step_path({trace}, 0, 11)")
        self.assert_attributed(2, *(f"SELECT * FROM trace_step_time({trace}, 0, 'all', 'op', '{clock}')"
                                    for clock in ("device", "host") * 3))


if __name__ == "__main__":
    unittest.main()
