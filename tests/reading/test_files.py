"""Paths, and content besides events: one file under several paths, paths that are not UTF-8, metadata (T18)."""
import json
import os
import random
import time
import unittest

from made import InFolder, document, event, kernel, launch, run, step, write
from support import names_of_bytes

AGAIN = "file given more than once: read once"
STRICT = "metadata left out: not strict JSON, or nested too deep"


class Twice(InFolder):
    """A file given twice in one argument is read once."""

    def setUp(self):
        super().setUp()
        write("d/rank0.json", run())
        write("d/rank1.json", run(2))
        write("e/rank0.json", run())
        os.symlink("rank0.json", "d/rank7.json")      # with another base name it is another file
        os.symlink("d", "way")                         # another way to the same files
        os.mkdir("hard")
        os.link("d/rank1.json", "hard/rank1.json")     # the same inode

    def again(self, *paths):
        """{path: number of repetitions} for each file of an argument."""
        found = {}
        for file, problems in self.rows("SELECT file, problems FROM trace_files(?)", json.dumps(paths)):
            found[file] = sum(problem["count"] for problem in json.loads(problems) if problem["what"] == AGAIN)
            self.assertTrue(all(problem["first_byte"] is None for problem in json.loads(problems)))
        return found

    def test_paths_of_one_file(self):
        self.assertEqual(self.again("d/rank0.json", "./d/rank0.json"), {"./d/rank0.json": 1})
        self.assertEqual(self.again("d/rank0.json", "d/rank0.json", "d//rank0.json", "way/rank0.json"),
                         {"d//rank0.json": 3})
        self.assertEqual(self.again("hard/rank1.json", "d/rank1.json"), {"d/rank1.json": 1})
        self.assertEqual(self.again("d", "d/rank1.json"), {"d/rank0.json": 0, "d/rank1.json": 1, "d/rank7.json": 0})
        self.assertEqual(self.again("d", "way"), {"d/rank0.json": 1, "d/rank1.json": 1, "d/rank7.json": 1})
        self.assertEqual(self.again("d/rank0.json", "e/rank0.json"), {"d/rank0.json": 0, "e/rank0.json": 0})
        self.assertEqual(self.again("d/rank0.json", "d/rank7.json"), {"d/rank0.json": 0, "d/rank7.json": 0})

    def test_every_function_reads_it_once(self):
        once = self.db.execute("SELECT count(*) FROM trace_events('d/rank0.json')").fetchone()
        for paths in (["d/rank0.json", "./d/rank0.json"], ["way/rank0.json", "d/rank0.json", "d/rank0.json"]):
            for _ in range(2):  # read and kept
                self.assertEqual(self.rows("SELECT count(*) FROM trace_events(?)", json.dumps(paths))[0], once)
                for function in ("trace_ops", "trace_steps", "trace_step_time", "temporal_breakdown", "trace_metadata"):
                    columns = ", ".join(name for name, in self.rows(
                        "SELECT name FROM tracediff_columns(?) WHERE kind = 'column' AND name <> 'file'", function))
                    self.assertEqual(self.rows(f"SELECT {columns} FROM {function}(?)", json.dumps(paths)),
                                     self.rows(f"SELECT {columns} FROM {function}('d/rank0.json')"), function)
            self.assertEqual(self.rows("SELECT * FROM trace_diff(?, 'd/rank0.json')", json.dumps(paths)),
                             self.rows("SELECT * FROM trace_diff('d/rank0.json', 'd/rank0.json')"))

    def test_arrays_of_odd_paths(self):
        names = ["a,b.json", "c]d.json", 'e"f.json', "g\\h.json", "[i{.json", "\u00e9:}.json", "'.json"]
        for name in names:
            write(f"odd/{name}", run())
        paths = sorted(f"odd/{name}" for name in names)
        for text in (json.dumps(paths), json.dumps(paths, indent=2), json.dumps(paths, ensure_ascii=False)):
            self.assertEqual(self.rows("SELECT file FROM trace_files(?)", text), [(path,) for path in paths])

    def test_many_paths(self):
        """Many paths take proportional time."""
        started = time.process_time()
        self.assertEqual(self.again(*["d/rank0.json"] * 20_000), {"d/rank0.json": 19_999})
        os.makedirs("many")
        for number in range(2000):
            write(f"many/rank{number}.json", run())
        self.assertEqual(sum(self.again("many", "./many", "many/../many").values()), 4000)
        self.assertLess(time.process_time() - started, 15)

    def test_named_once_it_must_be_a_trace(self):
        write("d/notes.json", "{}")
        self.assertEqual(self.value("SELECT count(*) FROM trace_files('d')"), 4)
        self.assertGreater(self.value("SELECT count(*) FROM trace_events('d')"), 0)
        for paths in (["d", "way/notes.json"], ["way/notes.json", "d"], ["d", "d/notes.json"]):
            self.assert_error("trace_events: 'd/notes.json': not a trace: it has no list traceEvents",
                              "SELECT count(*) FROM trace_events(?)", json.dumps(paths))

    def test_files_that_cannot_be_read(self):
        os.symlink("nowhere", "d/gone.json")
        self.assertEqual(self.again("d/gone.json", "./d/gone.json", "d/rank0.json", "./d/rank0.json"),
                         {"./d/gone.json": 0, "d/gone.json": 0, "./d/rank0.json": 1})

    def test_random_lists(self):
        """Random lists agree with realpath and base name."""
        chance = random.Random(5)
        known = [f"{way}{name}" for way in ("d/", "./d/", "way/", "way/../d/", "hard/", "e/", "./e/../d/")
                 for name in ("rank0.json", "rank1.json", "rank7.json") if os.path.exists(way + name)]
        for _ in range(60):
            paths = chance.choices(known, k=chance.randint(1, 9))
            groups = {}
            for path in sorted(paths):
                groups.setdefault((os.stat(path).st_ino, os.path.basename(path)), []).append(path)
            self.assertEqual(self.again(*paths), {group[0]: len(group) - 1 for group in groups.values()}, paths)


@names_of_bytes
class NotUtf8(InFolder):
    """The column `file` is valid text in SQLite, and equal wherever a file is named."""

    NAMES = [b"rank0 \xff.json", b"rank1 \xc3.json", b"rank2 \xed\xa0\x80 caf\xe9.json", "rank3 é.json".encode()]

    def setUp(self):
        super().setUp()
        for number, name in enumerate(self.NAMES):
            path = os.path.join(b"d", name)
            write("d/made", document(step(0, 0, 50), event("op", 1, 20), launch(2, 3, 1),
                                     kernel(f"k{number}", 30, 5, 1)))
            os.rename(b"d/made", path)
        os.symlink(b"nowhere", b"d/gone \xfe.json")

    def test_every_column_of_a_file(self):
        shown = sorted(os.path.join(b"d", name).decode(errors="replace") for name in self.NAMES)
        for sql in ("SELECT DISTINCT file FROM trace_steps('d')",
                    "SELECT DISTINCT file FROM trace_kernel_owners('d', 'all')",
                    "SELECT DISTINCT file FROM trace_metadata('d')", "SELECT DISTINCT file FROM trace_events('d')"):
            self.assertLessEqual({file for file, in self.rows(sql.replace("'d'", "'d/rank*'"))}, set(shown), sql)
        self.assertEqual(sorted(file for file, in self.rows("SELECT file FROM trace_files('d')")),
                         sorted(shown + ["d/gone \ufffd.json"]))

    def test_joins(self):
        joined = self.rows("SELECT work.name, work.file FROM trace_events('d/rank*') AS work"
                           " JOIN trace_events('d/rank*') AS call"
                           " ON call.file = work.file AND call.event = work.link WHERE work.device = 'GPU' ORDER BY 1")
        self.assertEqual([name for name, _ in joined], ["k0", "k1", "k2", "k3"])
        for name, file in joined:
            self.assertEqual(self.rows("SELECT name FROM trace_events('d/rank*') WHERE file = ? AND device = 'GPU'",
                                       file),
                             [(name,)])
        self.assertEqual(self.value("SELECT count(*) FROM trace_files('d') AS f"
                                    " JOIN trace_events('d/rank*') AS e USING (file)"),
                         16)
        self.assertEqual(self.value("SELECT count(*) FROM trace_kernel_owners('d/rank*', 'all', 'all') AS o"
                                    " JOIN trace_events('d/rank*') AS e USING (file, event)"), 4)


class Processes(InFolder):
    """T7.4, T8.2: files of one process are one rank, recorded several times."""

    def cycle(self, path, first, start, steps=3, **keys):
        """A file of a profiling cycle, with `steps` steps of 100 us from `start` on."""
        made = [each for number in range(steps) for each in (
            step(first + number, start + 100 * number, 100), event("op", start + 100 * number + 10, 50))]
        return write(path, document(*made, **keys))

    def ranks(self, path="d", columns="rank, rank_source"):
        return self.rows(f"SELECT {columns} FROM trace_files(?)", path)

    def test_names(self):
        for names, ranks in (
                (("h_1.5.pt.trace.json", "h_1.7.pt.trace.json.gz"), [0, 0]),
                (("h_1.5.pt.trace.json", "h_1.6.other.json", "h_1.7.pt.trace.json"), [0, 1, 0]),
                (("a.b_c_1.5.pt.trace.json", "a.b_c_1.7.pt.trace.json"), [0, 0]),
                (("h_1.5.pt.trace.json", "h_2.7.pt.trace.json"), [0, 1]),
                (("g_1.5.pt.trace.json", "h_1.7.pt.trace.json"), [0, 1]),
                (("h_1.5.pt.trace.json", "h_12.7.pt.trace.json"), [0, 1]),
                (("h.5.pt.trace.json", "h.7.pt.trace.json"), [0, 0]),
                ((".5.pt.trace.json", ".7.pt.trace.json"), [0, 1]),
                (("h_1.a.pt.trace.json", "h_1.b.pt.trace.json"), [0, 1]),
                (("h_.5.pt.trace.json", "h_.7.pt.trace.json"), [0, 0]),
                (("h_1.5.json", "h_1.7.json"), [0, 1]),
                (("h_1/5.pt.trace.json", "h_1/7.pt.trace.json"), [0, 1])):
            paths = [self.cycle(f"n{len(ranks)}/{name}", 1, 1000 * at) for at, name in enumerate(names)]
            with self.subTest(names=names):
                self.assertEqual([rank for rank, _ in self.ranks(json.dumps(paths))], ranks)

    def test_folders(self):
        paths = [self.cycle(f"{folder}/h_1.5.pt.trace.json", 1, 0) for folder in "ab"]
        self.assertEqual(self.ranks(json.dumps(paths)), [(0, "order"), (1, "order")])

    def test_ranks_that_are_told(self):
        for rank in (0, 3):
            self.cycle(f"d/h_1.{rank}.pt.trace.json", 1, 0, distributedInfo={"rank": rank, "world_size": 4})
        self.cycle("d/h_1.8.pt.trace.json", 1, 0)
        self.cycle("d/h_1.9.pt.trace.json", 6, 1000)
        self.assertEqual(self.ranks(), [(0, "distributedInfo"), (3, "distributedInfo"), (1, "process"), (1, "process")])

    def test_a_rank_that_is_recorded_twice(self):
        for side, longer in (("control", 0), ("test", 20)):
            for cycle in range(2):
                write(f"{side}/host_851.{cycle}.pt.trace.json", document(*[each for number in range(3) for each in (
                    step(5 * cycle + number, 1000 * cycle + 200 * number, 100 + longer),
                    event("op", 1000 * cycle + 200 * number, 50))]))
        self.assertEqual(self.rows("SELECT control_steps, control_ranks, test_ranks, test_ms, verdict"
                                   " FROM trace_verdict('control', 'test')"), [(2, 1, 1, 0.12, "slower here")])
        self.assertEqual(self.rows("SELECT text FROM trace_summary('control', 'test') WHERE kind = 'coverage'"), [
            ("2 steps of 0.100 ms, 2 of 0.120: all longer; rank 0; one recording per side: see trace_ab",)])

    def test_numbers_go_on(self):
        self.cycle("d/h_1.9.pt.trace.json", 1, 0)
        self.cycle("d/h_1.10.pt.trace.json", 1, 1000)
        self.cycle("d/h_1.11.pt.trace.json", 3, 2000, 2)
        self.cycle("d/h_1.12.pt.trace.json", 20, 3000)
        self.assertEqual(self.ranks(columns="first_step, last_step"), [(1, 3), (4, 6), (7, 8), (20, 22)])
        self.assertEqual(self.rows("SELECT iteration FROM trace_steps('d') ORDER BY ts"),
                         [(number,) for number in (1, 2, 3, 4, 5, 6, 7, 8, 20, 21, 22)])
        self.assertEqual(self.rows("SELECT DISTINCT iteration FROM trace_step_time('d') WHERE iterations = 'all'"),
                         [(number,) for number in (1, 2, 3, 4, 5, 6, 7, 8, 20, 21, 22)])

    def test_numbers_that_cannot_go_on(self):
        self.cycle("d/h_1.1.pt.trace.json", 2**63 - 1, 0, 1)
        self.cycle("d/h_1.2.pt.trace.json", 2**63 - 1, 1000, 1)
        self.assert_error("trace_steps: 'd/h_1.1.pt.trace.json' and 'd/h_1.2.pt.trace.json' are both of rank 0, and"
                          f" step {2**63 - 1} is in both: leave one of them out", "SELECT * FROM trace_steps('d')")

    def test_files_that_overlap(self):
        self.cycle("d/h_1.1.pt.trace.json", 1, 0)
        self.cycle("d/h_1.2.pt.trace.json", 1, 299)
        self.cycle("d/h_1.3.pt.trace.json", 1, 900)
        self.assertEqual(self.ranks(), [(0, "order"), (1, "order"), (2, "order")])
        self.cycle("d/h_1.2.pt.trace.json", 1, 300)
        self.assertEqual(self.ranks(), [(0, "process")] * 3)


class Metadata(InFolder):
    """T18: metadata."""

    def metadata(self, path="t.json"):
        return self.rows("SELECT key, value FROM trace_metadata(?)", path)

    def problems(self, path="t.json"):
        return {problem["what"] for problem in json.loads(self.value("SELECT problems FROM trace_files(?)", path))}

    def test_values_are_what_sqlite_makes_of_them(self):
        values = [1, -5, 1.5, True, False, None, "", "text", 'a "q" \\ \n é \u2028 🙂', [], {}, [1, [2, {"a": "]}"}]],
                  {"a": {"b": [",", ":", "{"]}, "c": 'x"y'}, 2**62, "1", "true", "null", '{"a": 1}']
        keys = [f"key{number}" for number in range(len(values))] + ['a"b', "a,b:c{}[]", "", "é", "\\"]
        content = dict(zip(keys, values * 2))
        for text in (json.dumps({**content, "traceEvents": []}), json.dumps({**content, "traceEvents": []}, indent=2),
                     json.dumps({"traceEvents": [event("x", 1, 2)], **content}, ensure_ascii=False)):
            write("t.json", text)
            expected = [(key, self.value("SELECT ? ->> '$'", json.dumps(value, ensure_ascii=False)))
                        for key, value in content.items()]
            self.assertEqual(self.metadata(), expected)
            self.assertEqual(self.rows("SELECT typeof(value) FROM trace_metadata('t.json')"),
                             self.rows("SELECT typeof(value) FROM json_each(?)", json.dumps(content)))
        self.assertEqual(self.problems(), set())

    def test_rank_and_file(self):
        write("d/rank3.json", document(schemaVersion=1))
        write("d/x.json.gz", document(distributedInfo={"rank": 5}, traceName="x"))
        write("d/notes.json", {"note": "not a trace"})
        write("d/empty.json", "")
        write("d/list.json", [event("x", 1, 2)])
        self.assertEqual(self.rows("SELECT * FROM trace_metadata('d')"), [
            ("d/rank3.json", 3, "schemaVersion", 1),
            ("d/x.json.gz", 5, "distributedInfo", '{"rank":5}'), ("d/x.json.gz", 5, "traceName", "x")])
        self.assert_error("trace_metadata: cannot read 'none': No such file or directory",
                          "SELECT * FROM trace_metadata('none')")
        self.assert_error("trace_metadata: 'd/notes.json': not a trace: it has no list traceEvents",
                          "SELECT * FROM trace_metadata('d/notes.json')")
        os.symlink("nowhere", "d/gone.json")
        self.assert_error("trace_metadata: cannot read 'd/gone.json': No such file or directory",
                          "SELECT * FROM trace_metadata('d')")

    def test_what_is_not_strict(self):
        write("t.json", '{"a": 1, "b": nope, "c": {"x": [1, nope]}, "d": "q\\x", "f": "ok", "traceEvents": []}')
        self.assertEqual(self.metadata(), [("a", 1), ("f", "ok")])
        self.assertEqual(self.problems() - {"args mended: not strict JSON"}, {STRICT})
        deep = "[" * 3000 + "]" * 3000
        write("t.json", f'{{"a": 1, "deep": {deep}, "z": 2, "traceEvents": []}}')
        self.assertEqual(self.metadata(), [("a", 1), ("z", 2)])
        self.assertEqual(self.problems(), {STRICT})
        write("t.json", '{"a": 1, "a": 2, "\\u0061": 3, "traceEvents": []}')
        self.assertEqual(self.metadata(), [("a", 1)])
        write("t.json", b'{"a": "\xff\xfe", "b\xff": 1, "traceEvents": []}')
        self.assertEqual(self.metadata(), [("a", "\ufffd\ufffd"), ("b\ufffd", 1)])

    def test_a_table_of_the_user_hides_nothing(self):
        write("t.json", document(schemaVersion=1))
        self.db.execute("CREATE TABLE json_each(x)")
        self.assertEqual(self.metadata(), [("schemaVersion", 1)])

    def test_trace_files_has_no_metadata(self):
        write("t.json", document(secret="s"))
        self.assert_error("no such column: metadata", "SELECT metadata FROM trace_files('t.json')")
        self.assertNotIn("s", self.rows("SELECT * FROM trace_files('t.json')")[0])


if __name__ == "__main__":
    unittest.main()
