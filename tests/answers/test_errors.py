"""Everything that can be wrong with a trace or a query, with the whole text of each message. After each error the
connection still works (InFolder.assert_error).
"""
import bz2
import contextlib
import gzip
import io
import json
import lzma
import os
import pickle
import re
import shutil
import sqlite3
import tarfile
import unittest
import zipfile

from made import ABSENT, InFolder, document, event, kernel, launch, run, step, write
from support import can_be_a_name, connect, corpus

TRACE_FUNCTIONS = ("trace_events", "trace_files", "trace_steps", "trace_ops")
DIFF_FUNCTIONS = ("trace_diff", "ops_diff", "compare_traces", "top_count_increases", "top_duration_changes")
NO_FILES = ("there is no *.json, *.gz, *.sqlite, *.sqlite3, *.db, *.xplane.pb, *.pftrace or *.perfetto-trace"
            " file")
TRACE = "the path of a directory or a file, a pattern, or a JSON array of these"
ENDS = "the document is truncated at byte"


@contextlib.contextmanager
def another_user():
    """Root may read everything, so this becomes another user for a while."""
    if os.geteuid() != 0:
        yield
        return
    try:
        os.seteuid(65534)
    except OSError as error:
        raise unittest.SkipTest("root, and cannot be another user") from error
    try:
        yield
    finally:
        os.seteuid(0)


class Errors(InFolder):
    def setUp(self):
        super().setUp()
        write("good/rank0.json", run())

    def assert_trace_error(self, message, path, functions=TRACE_FUNCTIONS + DIFF_FUNCTIONS):
        """Asserts the message, after the function's name, for every function that takes a trace, and for a diff on
        either side.
        """
        for function in functions:
            with self.subTest(path, function=function):
                if function in TRACE_FUNCTIONS:
                    self.assert_error(f"{function}: {message}", f"SELECT * FROM {function}(?)", path)
                else:
                    self.assert_error(f"{function}: {message}", f"SELECT * FROM {function}('good', ?)", path)
                    self.assert_error(f"{function}: {message}", f"SELECT * FROM {function}(?, 'good')", path)

    def files(self, path, columns="file, rank, rows"):
        return self.rows(f"SELECT {columns} FROM trace_files(?)", path)

    def problems(self, path):
        """{problem: (count, first byte)} of the only file."""
        (problems,), = self.files(path, "problems")
        return {problem["what"]: (problem["count"], problem["first_byte"]) for problem in json.loads(problems)}


class Paths(Errors):
    """Arguments that name no trace."""

    def test_missing(self):
        self.assert_trace_error("cannot read 'nope': No such file or directory", "nope")
        self.assert_trace_error("cannot read 'no/pe.json': No such file or directory", "no/pe.json")
        write("a.json", run())
        for path in ("a.json/b", "a.json/b/c"):
            self.assert_trace_error(f"cannot read '{path}': Not a directory", path)
        self.assert_trace_error("cannot read 'nope': No such file or directory", '["a.json","nope"]')
        name = "n" * 300
        self.assert_trace_error(f"cannot read '{name}': File name too long", name)
        self.assert_trace_error(f"cannot read 'nope/{name}': No such file or directory", f"nope/{name}")

    def test_empty_text(self):
        self.assert_trace_error("the trace is an empty text: name a directory, a file or a pattern", "")

    def test_empty_directory(self):
        os.mkdir("d")
        self.assert_trace_error(f"no trace in 'd': {NO_FILES}", "d")
        for name in ("a.txt", ".hidden.json", "a.json.tmp", "json", "a.json~"):
            write(f"d/{name}", run())
        os.mkdir("d/sub.json")
        write("d/sub.json/a.json", run())
        below = f"{NO_FILES}; did you mean 'd/*/*.json*', or one of its folders?"
        self.assert_trace_error(f"no trace in 'd': {below}", "d")
        self.assert_trace_error(f"no trace in 'd/': {below}", "d/")

    def test_rank_folders_suggest_the_pattern_that_works(self):
        """The error for rank folders suggests the narrowest pattern that works, because each match must be a trace."""
        for traces, others, tail in (
                (("rank0/a.json", "rank1/a.json.gz"), (), "*/*.json*"),
                (("rank0/a.pt.trace.json.gz", "rank1/b.pt.trace.json"), ("rank0/settings.json",), "*/*.pt.trace.json*"),
                (("rank0/a.gz",), ("rank0/a.txt",), "*/*.gz"),
                (("plugins/profile/a.pt.trace.json",), ("plugins/profile/b.json",), "*/*/*.pt.trace.json*"),
                (("node0/rank0/a.json", "node0/rank1/a.json.gz"), (), "*/*/*.json*")):
            for file in traces:
                write(f"runs/{file}", run())
            for file in others:
                write(f"runs/{file}", {"not": "a trace"})
            with self.subTest(tail):
                self.assert_trace_error(f"no trace in 'runs': {NO_FILES}; did you mean 'runs/{tail}', or one of its"
                                        f" folders?", "runs")
                self.assertEqual([file for file, in self.rows("SELECT file FROM trace_files(?) ORDER BY file",
                                                              f"runs/{tail}")],
                                 [f"runs/{file}" for file in traces])
            shutil.rmtree("runs")
        write("runs/rank0/a.json", run())
        self.assert_trace_error("'run*' matches directories, but no file; did you mean 'run*/*/*.json*'?", "run*")
        self.assert_trace_error("'runs/*' matches directories, but no file; did you mean 'runs/*/*.json*'?", "runs/*")

    def test_urls(self):
        local = "copy the files to this machine first"
        for url, why in (("file:///data/a.json", "give the path '/data/a.json'"),
                         ("file://runs", "give the path 'runs'"),
                         ("s3://bucket/runs/*.json", local), ("https://host/a.json", local), ("gs://b", local)):
            self.assert_trace_error(f"'{url}' is a URL: {why}", url)
        if can_be_a_name("odd:"):
            write("odd:/x.json", run())
            self.assertEqual(self.files("odd://x.json"), [("odd://x.json", 0, 16)])

    def test_directory_without_a_trace(self):
        functions = TRACE_FUNCTIONS[:1] + TRACE_FUNCTIONS[2:] + DIFF_FUNCTIONS
        write("d/a.json", "hello")
        write("d/b.json", '{"a": 1}')
        self.assert_trace_error("none of the 2 files is a trace; the first: 'd/a.json': not JSON at byte 1", "d",
                                functions)
        self.assertEqual(self.files("d"), [("d/a.json", None, 0), ("d/b.json", None, 0)])

    def test_pattern(self):
        self.assert_trace_error("no file matches 'rank*.json'", "rank*.json")
        self.assert_trace_error("no file matches 'a[.json'", "a[.json")
        os.mkdir("d1")
        self.assert_trace_error("'d*' matches directories, but no file", "d*")
        write("d2", run())
        self.assertEqual(self.files("d*"), [("d2", 0, 16)])

    def test_json_array(self):
        write("a.json", run())
        write("d/b.json", run())
        self.assertEqual(self.files('["a.json", "d"]'), [("a.json", 0, 16), ("d/b.json", 1, 16)])
        self.assertEqual(self.files('["d", "d/b.json", "d*/*"]'), [("d/b.json", 0, 16)])
        for array in ('["a.json", 1]', '[["a.json"]]', '[{}]', '["a.json", null]', '[null]', '[true]'):
            for function in TRACE_FUNCTIONS:
                with self.subTest(array, function=function):
                    self.assert_error(f"{function}: trace must be {TRACE}, not '{array}'",
                                      f"SELECT * FROM {function}(?)", array)
        self.assert_error("trace_events: the trace is an empty text: name a directory, a file or a pattern",
                          "SELECT * FROM trace_events('[\"\"]')")

    def test_empty_json_array(self):
        for function in TRACE_FUNCTIONS:
            self.assert_error(f"{function}: trace must be {TRACE}, not '[]'", f"SELECT * FROM {function}('[]')")

    def test_home(self):
        before = os.environ.get("HOME")
        self.addCleanup(lambda: os.environ.update(HOME=before) if before else os.environ.pop("HOME", None))
        os.environ["HOME"] = self.folder
        write("a.json", run())
        self.assertEqual(self.files("~/a.json"), [(f"{self.folder}/a.json", 0, 16)])
        self.assertEqual(self.files("~/*.json"), [(f"{self.folder}/a.json", 0, 16)])
        self.assert_trace_error(f"cannot read '{self.folder}/b.json': No such file or directory", "~/b.json")
        self.assert_trace_error("cannot read '~root/a.json': No such file or directory", "~root/a.json")

    def test_odd_names(self):
        for name in ("with space.json", "it's.json", 'say "x".json', "a*b?.json", "[x].json", "a[1-2].json",
                     "back\\slash.json",
                     "näme.json", "new\nline.json", "100%s.json", "-.json", "d [x]*/a'b.json.gz", "~/x.json"):
            with self.subTest(name):
                if not all(map(can_be_a_name, name.split("/"))):
                    continue
                path = f"odd/{name}"
                write(path, run())
                self.assertEqual(self.files(path), [(path, 0, 16)])
                self.assertEqual(self.files(os.path.dirname(path) + "/" + os.path.basename(path)), [(path, 0, 16)])
                os.remove(path)
                plain = not set(name) & set("*?[")
                gone = "cannot read '%s': No such file or directory" if plain else "no file matches '%s'"
                self.assert_trace_error(gone % path, path, ("trace_files", "trace_diff"))
        for name in filter(can_be_a_name, ("[d]", "[d]*")):
            write(f"{name}/a.json", run())
            self.assertEqual(self.files(name), [(f"{name}/a.json", 0, 16)])

    def test_unreadable(self):
        write("d/a.json", run())
        write("d/b.json", run())
        os.chmod("d/b.json", 0)
        os.mkdir("closed")
        os.chmod("closed", 0)
        with another_user():
            for path in ("d", "d/b.json", "d/*"):
                functions = ("trace_events", "trace_steps", "trace_ops", *DIFF_FUNCTIONS)
                self.assert_trace_error("cannot read 'd/b.json': Permission denied", path, functions)
            self.assert_error("trace_files: cannot read 'closed': Permission denied",
                              "SELECT * FROM trace_files('closed')")
            self.assertEqual(self.files("d", "file, rows, problems"), [
                ("d/a.json", 16, "[]"),
                ("d/b.json", 0,
                 '[{"what":"cannot read \'d/b.json\': Permission denied","count":1,"first_byte":null}]')])
        os.chmod("closed", 0o755)

    def test_no_regular_file(self):
        os.mkfifo("pipe.json")
        self.assert_trace_error("cannot read 'pipe.json': not a regular file", "pipe.json",
                                ("trace_events", "trace_diff"))
        self.assert_trace_error("cannot read '/dev/null': not a regular file", "/dev/null", ("trace_ops",))
        os.symlink("gone", "link.json")
        self.assert_trace_error("cannot read 'link.json': No such file or directory", "link.json",
                                ("trace_events", "trace_diff"))
        self.assertEqual([row[2] for row in self.files(".")], [0, 0])


class Arguments(Errors):
    """Arguments that do not exist in the trace or make no sense."""

    def setUp(self):
        super().setUp()
        for rank in (0, 3):
            write(f"d/rank{rank}.json", run(steps=4))
        write("plain.json", document(event("op", 1, 1)))

    def test_trace_of_another_type(self):
        for value, shown in ((5, "5"), (1.5, "1.5"), (b"d", "X'64'")):
            for function in TRACE_FUNCTIONS:
                self.assert_error(f"{function}: trace must be {TRACE}, not {shown}", f"SELECT * FROM {function}(?)",
                                  value)
            for function in DIFF_FUNCTIONS:
                self.assert_error(f"{function}: control must be {TRACE}, not {shown}",
                                  f"SELECT * FROM {function}(?, 'd')", value)
                self.assert_error(f"{function}: test must be {TRACE}, not {shown}{self.order(function)}",
                                  f"SELECT * FROM {function}('d', ?)",
                                  value)

    def test_missing_arguments(self):
        for function in DIFF_FUNCTIONS:
            self.assert_error(f"{function}: first argument (control) is missing", f"SELECT * FROM {function}")
            self.assert_error(f"{function}: second argument (test) is missing", f"SELECT * FROM {function}('d')")

    def test_too_many_arguments(self):
        self.assert_error("too many arguments on trace_files() - max 1", "SELECT * FROM trace_files('d', 1)")
        self.assert_error("too many arguments on ops_diff() - max 9",
                          "SELECT * FROM ops_diff('d', 'd', 0, 0, 0, 0, 'ALL', 0, 'auto', 0)")

    def test_selections_of_another_type_or_value(self):
        ranks = "an integer, a JSON array of integers or 'all'"
        steps = "an integer, a JSON array of integers, 'all', 'steady', 'first' or a phase of steps"
        order = self.order("trace_ops")
        refused = ((0.5, "0.5"), ("0.0", "'0.0'"), ("0x", "'0x'"), (" 0", "' 0'"), (1e300, "1.0e+300"), ("", "''"),
                   ("every step", "'every step'"), ("[]", "'[]'"), ("[0", "'[0'"),
                   ("{}", "'{}'"),
                   ("[0.5]", "'[0.5]'"), ('["0"]', "'[\"0\"]'"), ("[null]", "'[null]'"), ("[[0]]", "'[[0]]'"),
                   ("[true]", "'[true]'"),
                   ("[9223372036854775808]", "'[9223372036854775808]'"), (b"0", "X'30'"), ("it's", "'it''s'"))
        for value, shown in refused:
            with self.subTest(value):
                self.assert_error(f"trace_ops: ranks must be {ranks}, not {shown}{order}",
                                  "SELECT * FROM trace_ops('d', ?)",
                                  value)
                self.assert_error(f"trace_ops: iterations must be {steps}, not {shown}{order}",
                                  "SELECT * FROM trace_ops('d', 0, ?)", value)
                for name, kind in (("control_rank", ranks), ("test_rank", ranks), ("control_iteration", steps),
                                   ("test_iteration", steps)):
                    for function in DIFF_FUNCTIONS:
                        self.assert_error(f"{function}: {name} must be {kind}, not {shown}"
                                          f"{self.order(function) if name == 'control_rank' else ''}",
                                          f"SELECT * FROM {function}('d', 'd') WHERE {name} = ?", value)
        self.assert_error("trace_ops: rank 0 of the trace has no steady step of phase 'every' (phases: none; other"
                          " words are"
                          " 'all', 'steady' and 'first')", "SELECT * FROM trace_ops('d', 0, 'every')")
        self.assert_error(f"trace_ops: ranks must be {ranks}, not 'steady'{order}",
                          "SELECT * FROM trace_ops('d', 'steady')")
        self.assert_error(f"trace_ops: ranks must be {ranks}, not '{'x' * 199}...{order}",
                          "SELECT * FROM trace_ops('d', ?)",
                          "x" * 1000)
        for good in ("ALL", "Steady", "[1]", "[1,2,1]", 1, 1.0, "1"):
            self.assertTrue(self.rows("SELECT * FROM trace_ops('d', 'All', ?)", good), good)

    def test_a_selection_is_named_as_its_function_names_it(self):
        """An error names a selection by the argument of the called function, even if a function written in SQL passes
        it on under another name.
        """
        functions = self.rows("SELECT DISTINCT function, description LIKE '%''job''%' FROM tracediff_columns"
                              " WHERE kind = 'argument' AND name = 'control_rank'")
        self.assertGreater(len(functions), 8)
        for function, of_jobs in functions:
            keys = {"trace_diff_by": " AND keys = 'op'", "trace_gate": " AND limit_percent = 5"}.get(function, "")
            for side in ("control", "test"):
                for name, kind in (("rank", "'all' or 'job'" if of_jobs else "'all'"),
                                   ("iteration", "'all', 'steady', 'first' or a phase of steps")):
                    integers = "an integer, a JSON array of integers" + (" or " if kind == "'all'" else ", ")
                    follows = (side, name) == ("control", "rank")  # the given value, maybe passed by position
                    self.assert_error(f"{function}: {side}_{name} must be {integers}{kind}, not 'x y'"
                                      f"{self.order(function) if follows else ''}",
                                      f"SELECT * FROM {function}('d', 'd') WHERE {side}_{name} = 'x y'{keys}")

    def test_a_rank_or_step_as_text_or_with_a_point_is_the_integer(self):
        """A rank or a step is accepted as text or with a decimal point, because some hosts pass numbers that way."""
        for function, first in (("trace_ops", "'d'"), ("trace_diff", "'d', 'd'")):
            rank, step = ("ranks", "iterations") if first == "'d'" else ("test_rank", "test_iteration")
            wanted = self.rows(f"SELECT * FROM {function}({first}) WHERE {rank} = 3 AND {step} = 1")
            self.assertTrue(wanted)
            for value in (3.0, "3"):
                for number in (1.0, "1"):
                    self.assertEqual(self.rows(f"SELECT * FROM {function}({first}) WHERE {rank} = ? AND {step} = ?",
                                               value, number), wanted, (value, number))
        self.assertEqual(self.rows("SELECT DISTINCT rank FROM trace_ops('d', '0')"), [(0,)])
        self.assertEqual(self.rows("SELECT DISTINCT rank FROM trace_ops('d', 0.0)"), [(0,)])

    def test_ranks_that_may_be_a_job(self):
        """An argument whose description allows a job accepts one; the description is only shown, and the declaration
        decides.
        """
        arguments = self.rows("SELECT function, name, description LIKE '%''job''%', description LIKE '%''worst''%'"
                              " FROM tracediff_columns WHERE kind = 'argument' AND (name = 'ranks'"
                              " OR name = 'control_rank' AND description LIKE '%JSON array%')")
        self.assertEqual({(job, worst) for _, _, job, worst in arguments}, {(0, 0), (1, 0), (0, 1)})
        for function, name, job, worst in arguments:
            needed = self.rows("SELECT name FROM tracediff_columns(?) WHERE kind = 'argument' AND required", function)
            given = {"operator_name": "op", "changes": "[]", "schedule": "[]", "keys": "op", "limit_percent": 5}
            first = " AND ".join(f"{each} = '{given.get(each, 'd')}'" for each, in needed)
            sql = f"SELECT * FROM {function} WHERE {first} AND {name} = ?"
            ends = ", 'all' or 'job'" if job else ", 'all' or 'worst'" if worst else " or 'all'"
            with self.subTest(function):
                with self.assertRaises(sqlite3.Error) as refused:
                    self.rows(sql, "nothing")
                self.assertIn(f"must be an integer, a JSON array of integers{ends}, not 'nothing'",
                              str(refused.exception))

    def test_numbers_of_the_analyses(self):
        """Numbers of the analyses are accepted in any type that a host passes; anything else is refused."""
        kinds = {"0|1": ("0 or 1", (0, 1), (-1, 2, 0.5, "no", "", b"1")),
                 "INTEGER>=0": ("an integer of 0 or more", (0, 2), (-1, 0.5, "x", "2.0", 1e300, b"1")),
                 "REAL>=0": ("a number of 0 or more", (0, 0.5), (-0.5, "x", "1e", b"1")),
                 "REAL0..1": ("a number from 0 to 1", (0, 0.5, 1), (-1, 1.5, "30", "x", b"1"))}
        arguments = self.rows("SELECT function, name, type FROM tracediff_columns WHERE kind = 'argument'"
                              " AND type IN (SELECT value FROM json_each(?))", json.dumps(list(kinds)))
        self.assertEqual({kind for _, _, kind in arguments}, set(kinds))
        for function, name, kind in arguments:
            needed = self.rows("SELECT name FROM tracediff_columns(?) WHERE kind = 'argument' AND required", function)
            given = {"operator_name": "op", "limit_percent": 5}
            first = " AND ".join(f"{each} = '{given.get(each, 'd')}'" for each, in needed if each != name)
            expected, good, bad = kinds[kind]
            sql = f"SELECT * FROM {function} WHERE {first} AND {name} = ?"
            for value in good:
                wanted = self.rows(sql, value)
                for same in (float(value), str(value)):
                    self.assertEqual(self.rows(sql, same), wanted, (sql, same))
                self.assertEqual(self.rows(sql.replace("*", f"typeof({name})") + " LIMIT 1", str(value)),
                                 [("text",)][:len(wanted)])
            for value in bad:
                shown = self.value("SELECT quote(?)", value)
                follows = self.order(function) if (name,) in needed else ""
                self.assert_error(f"{function}: {name} must be {expected}, not {shown}{follows}", sql, value)
        for bad in ("{}", "no", "[1]", '["a", null]', "[[", 7):
            shown = self.value("SELECT quote(?)", bad)
            self.assert_error("gpu_user_annotation_breakdown: allowlist_patterns must be a JSON array of texts,"
                              f" not {shown}",
                              "SELECT * FROM gpu_user_annotation_breakdown('d') WHERE allowlist_patterns = ?", bad)
        for good in ("[]", '["a*", "b"]', None):
            self.rows("SELECT * FROM gpu_user_annotation_breakdown('d', NULL, 0, 0, 0.5, 1, ?)", good)

    def test_switches_that_hosts_give_as_reals_or_texts(self):
        for value in (1, 1.0, "1"):
            self.assertEqual(self.rows("SELECT * FROM trace_diff('d', 'd') WHERE use_short_name = ?", value),
                             self.rows("SELECT * FROM trace_diff('d', 'd') WHERE use_short_name = 1"))
        for value, shown in ((3, "3"), (0.5, "0.5"), ("short", "'short'")):
            self.assert_error("trace_diff: use_short_name must be 0 (the full name), 1 (the short name) or 2 (the"
                              " stable"
                              f" name), not {shown}", "SELECT * FROM trace_diff('d', 'd') WHERE use_short_name = ?",
                              value)

    def test_ranks_and_steps_that_are_not_there(self):
        for value, named in ((7, 7), ("[0,7,8]", 7), (-1, -1)):
            self.assert_error(f"trace_ops: the trace has no rank {named} (ranks: 0, 3)",
                              "SELECT * FROM trace_ops('d', ?)", value)
            self.assert_error(f"trace_ops: the trace has no step {named} (steps: 0, 1, 2, 3)",
                              "SELECT * FROM trace_ops('d', 0, ?)", value)
        for function in DIFF_FUNCTIONS:
            for side in ("control", "test"):
                for name, what in (("rank", "rank 7 (ranks: 0, 3)"), ("iteration", "step 7 (steps: 0, 1, 2, 3)")):
                    self.assert_error(f"{function}: {side} has no {what}",
                                      f"SELECT * FROM {function}('d', 'd') WHERE {side}_{name} = 7")
        self.assert_error("trace_ops: the trace has no step 0: it has no steps",
                          "SELECT * FROM trace_ops('plain.json', 0, 0)")
        write("many.json", run(steps=300))
        with self.assertRaisesRegex(sqlite3.OperationalError,
                                    r"^trace_ops: the trace has no step 300 \(steps: 0, 1, [0-9, ]*, \.\.\.\)$"):
            self.rows("SELECT * FROM trace_ops('many.json', 0, 300)")

    def test_device_type(self):
        for value, shown in (("TPU", "'TPU'"), ("", "''"), (0, "0"), (1.0, "1.0"), (b"CPU", "X'435055'")):
            for function in ("trace_ops", *DIFF_FUNCTIONS):
                first = "'d'" if function == "trace_ops" else "'d', 'd'"
                self.assert_error(f"{function}: device_type must be 'ALL', 'CPU' or 'GPU', not {shown}",
                                  f"SELECT * FROM {function}({first}) WHERE device_type = ?", value)

    def test_phases(self):
        for value, shown in ((1, "1"), ("", "''"), ("X B", "'X B'"), ("X\u00e9", "'X\u00e9'"), (b"X", "X'58'")):
            self.assert_error(f"trace_events: phases must be phase letters such as 'XB' or 'iI', or 'all', not"
                              f" {shown}{self.order('trace_events')}",
                              "SELECT * FROM trace_events('d', NULL, NULL, ?)", value)
        self.assertEqual(self.rows("SELECT count(*) FROM trace_events('plain.json', NULL, NULL, 'iM')"), [(0,)])

    def test_operator_name(self):
        for function in ("trace_events", "frequent_cuda_kernel_sequences"):
            for value, shown in ((7, "7"), (b"op", "X'6F70'")):
                expected = f"{function}: operator_name must be a part of a name, or a GLOB pattern, not {shown}"
                expected += self.order(function) if function == "frequent_cuda_kernel_sequences" else ""
                self.assert_error(expected, f"SELECT * FROM {function}('d') WHERE operator_name = ?", value)

    def test_creating(self):
        literal = "must be a number or a text in single quotes, not"
        for arguments, message in (
                ("d", f"argument 1 (trace) {literal} d"),
                ('"d"', f'argument 1 (trace) {literal} "d"'),
                ("'d' || 'e'", f"argument 1 (trace) {literal} 'd' || 'e'"),
                ("'d', 0, (SELECT 1)", f"argument 3 (iterations) {literal} (SELECT 1)"),
                ("trace = d", f"argument 1 (trace) {literal} d"),
                ("'d', 1.2.3", f"argument 2 (ranks) {literal} 1.2.3"),
                ("'d', x'00'", f"argument 2 (ranks) {literal} x'00'"),
                ("'d', 0, 0, 'ALL', 'auto', 6", "it takes 5 arguments, not 6")):
            self.assert_error(f"trace_ops: {message}", f"CREATE VIRTUAL TABLE temp.x USING trace_ops({arguments})")
        self.assert_error("no such table: x", "SELECT * FROM x")

    def test_creating_with_an_unknown_name(self):
        for name, nearest in (("rank", "ranks"), ("Rnks", "ranks"), ("iteration", "iterations"),
                              ("device", "device_type"),
                              ("tarce", "trace")):
            self.assert_error(f"trace_ops: unknown argument '{name}'; did you mean '{nearest}'?",
                              f"CREATE VIRTUAL TABLE temp.x USING trace_ops('d', {name} = 0)")
        self.assert_error("trace_diff: unknown argument 'short_name'; did you mean 'use_short_name'?",
                          "CREATE VIRTUAL TABLE temp.x USING trace_diff(short_name = 1)")
        self.assert_error("trace_step_time: unknown argument 'cl'; did you mean 'clock'?",
                          "CREATE VIRTUAL TABLE temp.x USING trace_step_time('d', cl = 'host')")
        for name in ("q", "x" * 80, "colour"):
            self.assert_error(f"trace_ops: unknown argument '{name}'; it takes trace, ranks, iterations, device_type,"
                              f" steps",
                              f"CREATE VIRTUAL TABLE temp.x USING trace_ops('d', {name} = 0)")

    def test_an_argument_that_is_only_compared(self):
        """An argument that is only compared may be NULL: a gate with names LIKE 'step' must not pass because there are
        no rows.
        """
        for term, name in (("names LIKE 'step'", "names"), ("names GLOB 's*'", "names"), ("names <> 'step'", "names"),
                           ("min_effect < 0.1", "min_effect"), ("ranks BETWEEN 0 AND 1", "ranks"),
                           ("'a' < names", "names")):
            self.assert_error(f"trace_ab: {name} is an argument, not a column: write {name} = VALUE",
                              f"SELECT * FROM trace_ab('d', 'd') WHERE {term}")
        self.assert_error("idle_time_breakdown: ranks is an argument, not a column: write ranks = VALUE",
                          "SELECT * FROM idle_time_breakdown('d') WHERE ranks >= 0")
        self.rows("CREATE VIRTUAL TABLE temp.base USING trace_events('d')")
        for given in ("trace_steps('d') WHERE trace LIKE 'd%'", "trace_steps WHERE trace = 'd' AND trace < 'e'",
                      "trace_events('d', 0) WHERE (ranks >= 0 OR rank = 0) AND ranks < 1",
                      "trace_events('d') WHERE ranks IS NULL", "temp.base WHERE trace LIKE '%'"):
            self.rows(f"SELECT * FROM {given}")


class NoTrace(Errors):
    """T16: a file that is not a trace."""

    FILES = (("", "empty"), ("   ", "empty"), ("hello", "not JSON at byte 1"), ("\n 5", "not JSON at byte 3"),
             ("{x}", "not JSON at byte 2"),
             ("{'a': 1}", "not JSON at byte 2"), ('{"a" 1}', "not a trace: it has no list traceEvents"),
             ("{}", "not a trace: it has no list traceEvents"),
             ('{"traceEvents": 5}', "not a trace: it has no list traceEvents"),
             ("[1, 2]", "not a trace: its array has no events"),
             ('{"a": {"traceEvents": []}}', "not a trace: it has no list traceEvents"),
             (b"\xff\xfe{\0}\0", "not UTF-8 but UTF-16 or binary at byte 1"),
             (b"\0\0", "not UTF-8 but UTF-16 or binary at byte 1"),
             (b"\x80", "not JSON at byte 1"), (b"PK", "not JSON at byte 1"))

    def test_an_execution_trace(self):
        nodes = ", ".join('{"id": %d, "name": "aten::mm", "attrs": []}' % number for number in range(500000))
        for number, content in enumerate((
                '{"schema": "1.0.1", "pid": 7, "nodes": [{"id": 1}], "finish_ts": 9}', '{"nodes": []}',
                '{"schema": "1.1.1-chakra.0.0.4", "nodes": [%s]}' % nodes,  # longer than any value that is kept
                '{"schema": "1.1.1-chakra.0.0.4", "nodes": [{"id": 1}')):   # not terminated
            path = write(f"et{number}.json", content)
            self.assert_error(f"trace_events: '{path}' is an Execution Trace: execution_trace() reads it",
                              f"SELECT * FROM trace_events('{path}')")
        write("beside/et.json", '{"nodes": []}')
        write("beside/a.json", document(event("op", 1, 2), nodes=[]))
        self.assertEqual(self.rows("SELECT rank FROM trace_files('beside')"), [(0,), (None,)])

    def test_named(self):
        for number, (content, what) in enumerate(self.FILES):
            path = write(f"{number}.json", content)
            functions = ("trace_events", "trace_steps", "trace_ops", "trace_diff", "ops_diff")
            self.assert_trace_error(f"'{path}': {what}", path, functions)
            self.assert_trace_error(f"'{path}': {what}", f"{path[:-4]}*", ("trace_events", "trace_diff"))
            self.assertEqual(self.files(path), [(path, None, 0)])
            self.assertEqual(list(self.problems(path))[0], what.split(" at byte")[0])

    def test_other_kinds_of_files_are_named(self):
        packed, pickled = io.BytesIO(), {"segments": []}
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add("good", "traces")
        zipped = io.BytesIO()
        with zipfile.ZipFile(zipped, "w") as archive:
            archive.writestr("a.json", "{}")
        database = sqlite3.connect("a.db")
        database.execute("CREATE TABLE t(x)")
        database.commit()
        database.close()
        with open("a.db", "rb") as file:
            kinds = [(file.read(), "a SQLite database: unpack it first, with gunzip")]
        pickle_kind = ("a Python pickle: export a trace as JSON, with export_chrome_trace(); a snapshot of"
                       " torch.cuda.memory is for"
                       " memory_summary() and memory_diff()")
        kinds += [(pickle.dumps(pickled, protocol), pickle_kind) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
        kinds += [(zipped.getvalue(), "a zip archive: unpack it first"),
                  (packed.getvalue(), "a tar archive: unpack it first"),
                  (lzma.compress(b"{}"), "compressed with xz: unpack it first, with unxz"),
                  (bz2.compress(b"{}"), "compressed with bzip2: unpack it first, with bunzip2"),
                  (b"\x28\xb5\x2f\xfd\x04\x00", "compressed with zstd: unpack it first, with unzstd"),
                  (gzip.compress(gzip.compress(b"{}")), "compressed with gzip twice: unpack it once, with gunzip")]
        for number, (content, what) in enumerate(kinds):
            for name, data in ((f"{number}.json", content), (f"{number}.json.gz", gzip.compress(content))):
                if what.endswith(("twice: unpack it once, with gunzip", "database: unpack it first, with gunzip")):
                    if name.endswith(".gz") == ("twice" in what):
                        continue
                with open(name, "wb") as file:
                    file.write(data)
                self.assert_trace_error(f"'{name}' is {what}", name, ("trace_events", "trace_ops", "trace_diff"))
                self.assertEqual(self.files(name), [(name, None, 0)])
                self.assertEqual(self.problems(name), {what: (1, None)})

    def test_in_a_directory(self):
        for number, (content, _) in enumerate(self.FILES):
            write(f"d/{number:02}.json", content)
        write("d/trace.json", run())
        self.assertEqual(self.rows("SELECT file, count(*), rank FROM trace_events('d') GROUP BY 1"),
                         [("d/trace.json", 16, 0)])
        self.assertEqual(self.rows("SELECT DISTINCT diff_counts FROM trace_diff('d', 'd/trace.json')"), [(0,)])
        self.assertEqual(self.value("SELECT count(*) FROM trace_files('d') WHERE rank IS NULL AND rows = 0"),
                         len(self.FILES))

    def test_empty_lists_are_traces(self):
        for number, content in enumerate(("[]", '{"traceEvents": []}', "[")):
            path = write(f"{number}.json", content)
            self.assertEqual(self.files(path, "rank, rows, problems"), [(0, 0, "[]")])
            for function in ("trace_events", "trace_steps", "trace_ops"):
                self.assertEqual(self.rows(f"SELECT * FROM {function}(?)", path), [])
            self.assertEqual(self.rows("SELECT * FROM trace_diff(?1, ?1)", path), [])


class Damage(Errors):
    """T15: a partly readable file answers for its events, and comparisons refuse it."""

    def assert_damaged(self, path, message, at_least):
        rows = self.value("SELECT count(*) FROM trace_events(?)", path)
        self.assertGreaterEqual(rows, at_least)
        self.assertEqual(self.files(path), [(path, 0, rows)])
        what, byte = re.fullmatch(r"'.*': (.*) at byte (\d+)", message).groups()
        found = self.problems(path)
        found.pop("empty steps", None)  # their work would come after the damage
        self.assertEqual(found, {what: (1, int(byte))})
        self.assertEqual(self.value("SELECT sum(counts) FROM trace_ops(?, 0, 'all')", path) or 0, rows)
        self.assertLessEqual(len(self.rows("SELECT * FROM trace_steps(?)", path)), rows)
        self.assert_trace_error(message, path, DIFF_FUNCTIONS)

    def test_truncated(self):
        whole = json.dumps(run())
        for keep, rows in ((len(whole) - 1, 16), (len(whole) - 2, 16), (len(whole) - 5, 15), (len(whole) // 2, 7),
                           (20, 0), (1, 0)):
            path = write("t.json", whole[:keep])
            self.assert_damaged(path, f"'t.json': {ENDS} {keep + 1}", rows)

    def test_truncated_array_is_whole(self):
        whole = json.dumps(run()["traceEvents"])
        for tail in ("]", ",", ", ", "\n"):
            write("t.json", whole[:-1] + tail)
            self.assertEqual(self.value("SELECT count(*) FROM trace_events('t.json')"), 16)
            self.assertEqual(self.rows("SELECT DISTINCT diff_counts FROM trace_diff('t.json', 't.json')"), [(0,)])
        write("t.json", whole[:-5])
        self.assert_damaged("t.json", f"'t.json': {ENDS} {len(whole) - 4}", 15)

    def test_truncated_gzip(self):
        packed = gzip.compress(json.dumps(run(steps=500)).encode())
        for keep in (len(packed) - 1, len(packed) - 8, len(packed) // 2, 20, 5):
            with open("t.json.gz", "wb") as file:
                file.write(packed[:keep])
            with self.subTest(keep):
                self.assert_damaged("t.json.gz",
                                    f"'t.json.gz': the gzip data is truncated at byte {keep + 1}",
                                    2500 if keep > len(packed) - 9 else 0)

    def test_damaged_gzip(self):
        packed = bytearray(gzip.compress(json.dumps(run(steps=500)).encode()))
        packed[-6] ^= 1  # the checksum
        with open("t.json.gz", "wb") as file:
            file.write(packed)
        with self.assertRaisesRegex(sqlite3.OperationalError,
                                    r"^trace_diff: 't.json.gz': the gzip data is damaged at byte \d+$"):
            self.rows("SELECT * FROM trace_diff('t.json.gz', 't.json.gz')")
        self.assertEqual(self.value("SELECT count(*) FROM trace_events('t.json.gz')"), 2501)
        with open("t.json.gz", "wb") as file:
            file.write(b"\x1f\x8b" + b"\xff" * 50)
        with self.assertRaisesRegex(sqlite3.OperationalError,
                                    r"^trace_diff: 't.json.gz': the gzip data is damaged at byte \d+$"):
            self.rows("SELECT * FROM trace_diff('t.json.gz', 't.json.gz')")
        self.assertEqual(self.rows("SELECT * FROM trace_events('t.json.gz')"), [])

    def test_only_what_is_asked_for_is_refused(self):
        write("d/rank0.json", run())
        write("d/rank1.json", json.dumps(run())[:-1])
        size = os.path.getsize("d/rank1.json")
        self.assertTrue(self.rows("SELECT * FROM trace_diff('d', 'd', 0, 0)"))
        self.assert_error(f"trace_diff: 'd/rank1.json': {ENDS} {size + 1}", "SELECT * FROM trace_diff('d', 'd', 0, 1)")
        self.assert_error(f"trace_diff: 'd/rank1.json': {ENDS} {size + 1}",
                          "SELECT * FROM trace_diff('d', 'd', 'all', 0)")


class Problems(Errors):
    """T14: odd content that was read anyway, or skipped."""

    def assert_problem(self, what, text, rows, **expected):
        """A document with a problem at the marker @@, which is removed."""
        first = text.index("@@") + 1 if "@@" in text else None
        path = write("t.json", text.replace("@@", ""))
        with self.subTest(what):
            cut = {"cut": (1, None)} if expected.pop("cut", 0) else {}  # I9
            self.assertEqual(self.problems(path), {what: (expected.pop("count", 1), first), **cut})
            self.assertEqual(self.rows("SELECT rows, skipped FROM trace_files(?)", path),
                             [(rows, expected.pop("skipped", 0))])
            self.assertEqual(self.value("SELECT count(*) FROM trace_events(?)", path), rows)
            self.rows("SELECT * FROM trace_diff(?1, ?1)", path)

    def test_each_kind(self):
        good = json.dumps(event("op", 1, 2))

        def odd(name="op", ts=1, dur=2, **fields):
            return "@@" + json.dumps(event(name, ts, dur, **fields))
        trace = '{"traceEvents": [' + good + ", %s, " + good + "]}"
        self.assert_problem("event skipped: not JSON", trace % '{"ph": "X", "ts": @@:}', 2, skipped=1, cut=1)
        self.assert_problem("event skipped: not an object", trace % "@@5", 2, skipped=1)
        self.assert_problem("comma missing or doubled", trace % f"{good} @@{good}", 4)
        self.assert_problem("comma missing or doubled", trace % f"@@, {good}", 3)
        self.assert_problem("event skipped: ph is not one letter", trace % odd(ph="XX"), 2, skipped=1)
        self.assert_problem("ts or dur is not a time", trace % odd(ts="soon"), 3)
        self.assert_problem("X without dur", trace % odd(dur=ABSENT), 3)
        self.assert_problem("negative dur", trace % odd(dur=-1), 3)
        self.assert_problem("name is not text", trace % odd(name=5), 3)
        self.assert_problem("E without a B", trace % odd(ph="E", dur=ABSENT), 2)
        self.assert_problem("B without an E", trace % odd(ph="B", dur=ABSENT), 3)
        self.assert_problem("unknown escape: kept as written", trace % ("@@" + good.replace('"op"', r'"o\p"')), 3)
        self.assert_problem("raw control character in a string", trace % ("@@" + good.replace('"op"', '"o\tp"')), 3)
        self.assert_problem("not Unicode: replaced by U+FFFD", trace % ("@@" + good.replace('"op"', r'"\ud800"')), 3)
        self.assert_problem("key given twice: the first counts", trace % ("@@" + good[:-1] + ', "name": "other"}'), 3)
        self.assert_problem("key given twice: the first counts",
                            f'{{"traceEvents": [{good}], @@"traceEvents": [{good}]}}', 1, cut=1)
        self.assert_problem("metadata skipped: not JSON", f'{{"b": 1, "a": @@:, "traceEvents": [{good}]}}', 1)
        self.assert_problem("bytes after the document", trace % good + " @@more", 3)
        self.assert_problem("metadata left out: longer than 1 MiB",
                            f'{{"a": "{"x" * 2 ** 21}", "traceEvents": [{good}]}}', 1)
        self.assert_problem("byte order mark", "@@\ufeff" + trace % good, 3)

    def test_after_the_gzip_data(self):
        write("t.json.gz", run())
        with open("t.json.gz", "ab") as file:
            file.write(b"more")
        self.assertEqual(self.problems("t.json.gz"), {"bytes after the gzip data": (1, None)})

    def test_not_utf8(self):
        write("t.json", json.dumps(document(event("op", 1, 2))).encode().replace(b'"op"', b'"\xff\xfe"'))
        self.assertEqual(self.problems("t.json"), {"not Unicode: replaced by U+FFFD": (2, 18)})
        self.assertEqual(self.value("SELECT name FROM trace_events('t.json')"), "\ufffd\ufffd")

    def test_device_work_without_a_launch(self):
        write("t.json", document(kernel("k", 1, 2.5, 1), kernel("k", 5, 1, 2), event("op", 1, 2)))
        self.assertEqual(self.files("t.json", "problems"), [
            ('[{"what":"device work without a launch","count":2,"first_byte":null,"us":3.500}]',)])

    def test_device_work_launched_before_the_recording(self):
        """Device work without a launch that starts before the first launched work of its stream was launched before the
        recording; the rest is another problem.
        """
        write("t.json", document(
            kernel("k", 1, 2.5, 1), kernel("k", 4, 1.001, 2), launch(3, 1, 5), kernel("k", 6, 1, 5),
            kernel("k", 8, 4, 3), kernel("k", 1, 8, 4, stream=8), event("op", 1, 2)))
        self.assertEqual(self.files("t.json", "problems"), [
            ('[{"what":"device work launched before the recording","count":2,"first_byte":null,"us":3.501},'
             '{"what":"device work without a launch","count":2,"first_byte":null,"us":12.000}]',)])

    def test_device_work_of_real_traces_launched_before_the_recording(self):
        for path, count in ((("hta", "trace_diff", "test"), 614), (("param",), 64)):
            self.assertEqual(self.rows("SELECT problem ->> 'what', problem ->> 'count' FROM (SELECT value AS problem"
                                       " FROM trace_files(?), json_each(problems))", corpus(*path)),
                             [("device work launched before the recording", count)])

    def test_metadata_that_is_not_strict(self):
        """In metadata, a value that is not JSON is counted as a problem, and the others are kept."""
        write("t.json", '{"distributedInfo": {"rank": 3, "world_size": 4}, "bandwidth": NaN, "traceEvents": []}')
        (rank, size, problems), = self.files("t.json", "rank, world_size, problems")
        self.assertEqual(rank, 3)
        self.assertTrue(size == 4 or problems != "[]", (size, problems))

    def test_problems_are_json_whatever_the_name(self):
        for name in filter(can_be_a_name, ('a "b"\\\n\té.json', "a 'b' é.json")):
            path = write(name, "hello")
            self.assertEqual(list(self.problems(path)), ["not JSON"])


class Ranks(Errors):
    """Ranks follow T7 and T8."""

    def test_sources(self):
        numbered = {"rank0.json": 0, "my_rank-12.json": 12, "RANK_3.json.gz": 3, "rank1_rank2.json": 2,
                    "a.rank04.json": 4, "0rank5.json": 5}
        for name in numbered:
            write(f"d/{name}", run())
        for name in ("crank77.json", "z.json", "rank.json", "ranks99.json"):
            write(f"d/{name}", run())
        write("d/rank0 but 8.json", {**run(), "distributedInfo": {"rank": 8}})
        write("d/early.json", {"distributedInfo": {"rank": 9, "world_size": 16, "backend": "nccl"}, **run()})
        found = {os.path.basename(path): rest
                 for path, *rest in self.files("d", "file, rank, rank_source, world_size, backend")}
        for name, rank in numbered.items():
            self.assertEqual(found.pop(name), [rank, "name", None, None], name)
        self.assertEqual(found.pop("rank0 but 8.json"), [8, "distributedInfo", None, None])
        self.assertEqual(found.pop("early.json"), [9, "distributedInfo", 16, "nccl"])
        self.assertEqual(found, {"crank77.json": [1, "order", None, None], "rank.json": [6, "order", None, None],
                                 "ranks99.json": [7, "order", None, None], "z.json": [10, "order", None, None]})
        self.assertEqual(self.rows("SELECT DISTINCT rank FROM trace_ops('d', 'all') ORDER BY 1"),
                         [(rank,) for rank in range(13)
                                                                                                   if rank != 11])

    def test_a_rank_after_the_events(self):
        """With the rank after the events, the heads of files do not show which file has the selected rank."""
        for name, rank in (("a", 3), ("b", 1), ("c", 2)):
            write(f"d/{name}.json", {"traceEvents": [event(f"op {rank}", 1, 1)], "distributedInfo": {"rank": rank}})
        for ranks, found in ((None, [1]), (3, [3]), ("[2, 3]", [2, 3]), ("all", [1, 2, 3]), (1, [1])):
            with self.subTest(ranks):
                self.db = connect()
                self.assertEqual(self.rows("SELECT rank, name FROM trace_ops('d', ?) ORDER BY rank", ranks),
                                 [(rank, f"op {rank}") for rank in found])

    def test_rank_in_the_file_is_an_integer(self):
        for value in ("1", 1.0, -1, None, [1], 2 ** 70):
            write("rank5.json", document(event("op", 1, 1), distributedInfo={"rank": value}))
            self.assertEqual(self.files("rank5.json", "rank, rank_source"), [(5, "name")], value)

    def refused(self, message):
        functions = ("trace_steps", "trace_ops", *DIFF_FUNCTIONS)
        self.assert_trace_error(f"{message}: leave one of them out", "d", functions)
        self.assertEqual(len(self.rows("SELECT DISTINCT file FROM trace_events('d')")), 2)
        self.assertEqual([row[1] for row in self.files("d")], [0, 0])

    def test_two_files_of_a_rank(self):
        write("d/a_rank0.json", run())
        write("d/b_rank0.json", run())
        self.refused("'d/a_rank0.json' and 'd/b_rank0.json' are both of rank 0, and step 0 is in both")
        write("d/b_rank0.json", document(step(9, 0, 1), step(2, 5, 1)))
        self.refused("'d/a_rank0.json' and 'd/b_rank0.json' are both of rank 0, and step 2 is in both")
        write("d/b_rank0.json", document(event("op", 1, 1)))
        self.refused("'d/b_rank0.json' and 'd/a_rank0.json' are both of rank 0, but the first has no steps")
        write("d/b_rank0.json", document(step(9, 0, 1), event("op", 0, 1)))
        self.assertEqual(self.rows("SELECT rank, group_concat(iteration) FROM trace_steps('d')"), [(0, "0,1,2,9")])
        self.assertTrue(self.rows("SELECT * FROM trace_diff('d', 'd', 0, 0, 'all', 'all')"))


if __name__ == "__main__":
    unittest.main()
