"""The Python package in the layout of a wheel: the command tracediff, its shell, and connect()."""
import contextlib
import csv
import glob
import html
import io
import json
import os
import pty
import random
import re
import select
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import unittest.mock

import packed
from made import InFolder, event, kernel, launch, step, write
from support import EXAMPLES, EXTENSION, ROOT, connect, slow

GPU = tuple(os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test"))
HUNG = os.path.join(EXAMPLES, "hangs", "never_called")
MEMORY = tuple(os.path.join(EXAMPLES, "memory", "gpu", side, "rank0.pickle.gz") for side in ("control", "test"))
VENV = os.path.join(ROOT, "build", "hosts", "venv", "bin", "python")
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"

PLACE = tempfile.TemporaryDirectory()
packed.make(PLACE.name, EXTENSION)
sys.path.insert(0, PLACE.name)
import tracediff  # noqa: E402
import tracediff.command  # noqa: E402
import tracediff.shell  # noqa: E402
import tracediff.table  # noqa: E402


def run(*words):
    """Status, output and errors of the command."""
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        status = tracediff.command.main(list(words))
    return status, out.getvalue(), errors.getvalue()


def rows(sql, *values):
    cursor = connect().execute(sql, values)
    return [dict(zip([column[0] for column in cursor.description], row)) for row in cursor]


def lines(sql, *values):
    return "".join(f"{row['text']}\n" for row in rows(sql, *values))


class Command(unittest.TestCase):
    def assert_prints(self, words, expected, status=0):
        self.assertEqual(run(*words), (status, expected, ""))

    def assert_wrong(self, words, said):
        self.assertEqual(run(*words), (2, "", f"tracediff: {said}\n"))


class Summary(Command):
    def test_prints_the_lines_of_the_summary(self):
        self.assert_prints([*GPU, "--no-advice"], lines("SELECT text FROM trace_summary(?, ?)", *GPU))

    def test_prints_advice_below_what_was_changed(self):
        shown = run(*GPU)[1]
        self.assertIn("waiting for DataLoader next batch, from workers\n" + " " * 20
                      + "-> more num_workers, prefetch_factor; a faster dataset or storage\n  +0.180 ms", shown)
        self.assertEqual(shown.count("->  "), 0)

    def test_prints_the_lines_of_the_demo(self):
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            shown = re.search(r"```text\n(test is slower here.*?)```", file.read(), re.DOTALL)[1]
        self.assert_prints([*GPU, "--no-advice"], shown)

    @slow
    def test_options_are_the_arguments_of_their_names(self):
        for words, arguments in (
                (["--rank", "1"], {"control_rank": 1, "test_rank": 1}),
                (["--control-rank=1", "--test-rank=0"], {"control_rank": 1, "test_rank": 0}),
                (["--rank", "all"], {"control_rank": "all", "test_rank": "all"}),
                (["--rank", "[0, 1]"], {"control_rank": "[0, 1]", "test_rank": "[0, 1]"}),
                (["--iteration", "12"], {"control_iteration": 12, "test_iteration": 12}),
                (["--control-iteration", "first", "--test-iteration", "13"],
                 {"control_iteration": "first", "test_iteration": 13}),
                (["--clock", "host", "--rank=0"], {"clock": "host", "control_rank": 0, "test_rank": 0}),
                (["--steps", "ProfilerStep#1_"], {"steps": "ProfilerStep#1_"})):
            with self.subTest(words):
                terms = "".join(f" AND {name} = ?" for name in arguments)
                expected = rows(f"SELECT * FROM trace_summary(?, ?) WHERE 1{terms}", *GPU, *arguments.values())
                status, out, errors = run(*GPU, "--json", *words)
                self.assertEqual((status, errors), (0, ""))
                self.assertEqual(json.loads(out), expected)

    @slow
    def test_options_may_stand_anywhere(self):
        control, test = GPU
        expected = run(control, test, "--rank", "1")
        for words in (["--rank", "1", control, test], [control, "--rank=1", test], ["--rank=1", "--", control, test]):
            self.assertEqual(run(*words), expected)

    @slow
    def test_memory(self):
        expected = lines("SELECT text FROM memory_summary(?, ?)", *MEMORY)
        self.assert_prints(["--memory", *MEMORY], expected)
        self.assert_prints([*GPU, "--memory", *MEMORY], f"{run(*GPU)[1]}\n{expected}")
        self.assertEqual(json.loads(run("--memory", *MEMORY, "--json")[1]),
                         rows("SELECT * FROM memory_summary(?, ?)", *MEMORY))
        folders = [os.path.dirname(path) for path in MEMORY]
        self.assert_prints(["--rank", "worst", "--memory", *folders],
                           lines("SELECT text FROM memory_summary(?, ?, 'worst')", *folders))

    def test_hang(self):
        expected = lines("SELECT words AS text FROM hang_summary(?)", HUNG)
        self.assert_prints(["hang", HUNG], expected)
        self.assertEqual(json.loads(run("hang", HUNG, "--json")[1]), rows("SELECT * FROM hang_summary(?)", HUNG))

    def test_help_is_a_screen(self):
        status, out, errors = run("--help")
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(run("-h"), (0, out, ""))
        self.assertLessEqual(len(out.splitlines()), 24)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        for option in tracediff.command.VALUES + tracediff.command.FLAGS + tracediff.command.OTHERS:
            self.assertIn(option, out)

    def test_version(self):
        self.assert_prints(["--version"], f"tracediff {packed.VERSION}\n")
        self.assertEqual(f"v{tracediff.__version__}", connect().execute("SELECT tracediff_version()").fetchone()[0])


class Wrong(Command):
    def test_what_cannot_be_asked_is_said_in_a_line(self):
        see = "; see tracediff --help"
        for words, said in (
                ([], f"expected CONTROL and TEST, got none{see}"),
                (["a"], f"expected CONTROL and TEST, got one trace{see}"),
                (["a", "b", "c"], "expected CONTROL and TEST, got 3 traces: patterns such as 'a/*.json' need quotes"),
                (["a", "b", "--gat", "3"], "unknown option '--gat'; did you mean '--gate'?"),
                (["a", "b", "-x"], f"unknown option '-x'{see}"),
                (["a", "b", "--rank"], f"--rank needs a value{see}"),
                (["a", "b", "--rank", "--json"], f"--rank needs a value{see}"),
                (["a", "b", "--rank", "1", "--rank=2"], "--rank is given twice"),
                (["a", "b", "--json=1"], "--json takes no value after ="),
                (["--memory", "a"], f"--memory needs a value{see}"),
                (["--memory=a", "b"], "--memory takes no value after ="),
                (["--memory", "a", "b", "--gate", "3"], "--gate needs CONTROL and TEST"),
                (["--html", "x.html"], "--html needs CONTROL and TEST"),
                (["--html", "x.html", "--gate", "3", "--memory", "a", "b"], "--gate needs CONTROL and TEST"),
                (["--open", "a"], "--open needs CONTROL and TEST"),
                (["a", "b", "--json", "--csv"], "--json and --csv cannot be given together"),
                (["a", "b", "--sql", "SELECT 1", "--gate", "3"], "--sql and --gate cannot be given together"),
                (["a", "b", "--rank", "1", "--test-rank", "1"], "--rank and --test-rank cannot be given together"),
                (["a", "b", "--memory", "c", "d", "--csv"],
                 "--json and --csv print one table: give either traces or --memory"),
                (["a", "b", "--html", "b.json"], "--html: 'b.json' must end with .html; nothing was written"),
                (["a", "b", "--gate", "x"], "--gate: 'x' is not a percentage of 0 or more, such as 3%"),
                (["a", "b", "--gate", "-3%"], "--gate: '-3%' is not a percentage of 0 or more, such as 3%"),
                (["a", "b", "--gate", "nan"], "--gate: 'nan' is not a percentage of 0 or more, such as 3%"),
                (["a\udcff", "b"], "'a\\udcff' is not UTF-8: give it another name, or a pattern"),
                (["shell", "a", "b"], "shell: expected one DATABASE, got 2"),
                (["shell", "--x"], f"shell: unknown option '--x'{see}"),
                (["hang", "a", "b"], f"hang: expected one directory, got 2{see}"),
                (["hang", "a", "--rank", "1"], f"hang: --rank is not for this{see}"),
                (["hang", "/none"], "hang_summary: cannot read '/none': No such file or directory"),
                (["/none", "/none"], "trace_summary: cannot read '/none': No such file or directory"),
                (["/none", "/none", "--html", "x.html"],
                 "trace_diff_report: cannot read '/none': No such file or directory"),
                (["--memory", "/none", "/none"], "memory_summary: cannot read '/none': No such file or directory"),
                ([*GPU, "--rank", "7"], f"trace_summary: '{GPU[0]}' has no rank 7 (ranks: 0, 1)"),
                (["--sql", "SELEC"], 'near "SELEC": syntax error'),
                (["a", "--sql", "SELECT :test"], "--sql: the statement has :test, but no TEST was given"),
                (["--sql", "SELECT :control"], "--sql: the statement has :control, but no CONTROL was given"),
                (["a", "b", "--sql", "SELECT :tset"],
                 "--sql: the statement has :tset, but the names are :control, :test, :control_rank, :test_rank,"
                 " :control_iteration, :test_iteration, :clock, :steps, :control_memory, :test_memory"),
                (["--sql", "SELECT 1; SELECT 2"], "You can only execute one statement at a time.")):
            with self.subTest(words):
                self.assert_wrong(words, said)

    def test_errors_are_those_of_the_extension(self):
        for words, arguments in ((["--rank", "x"], "'x', 'x'"), (["--iteration", "x"], "NULL, NULL, 'x', 'x'"),
                                 (["--iteration", "99"], "NULL, NULL, 99, 99"), (["--clock", "x"], "0, 0, 1, 1, 'x'")):
            with self.subTest(words):
                with self.assertRaises(sqlite3.Error) as raised:
                    rows(f"SELECT * FROM trace_summary(?, ?, {arguments})", *GPU)
                words = words if words[0] != "--clock" else [*words, "--rank", "0", "--iteration", "1"]
                self.assert_wrong([*GPU, *words], str(raised.exception))


class Sql(Command):
    QUERY = "SELECT class, diff_time, NULL AS x FROM trace_step_diff(:control, :test) WHERE diff_time > 100 LIMIT 2"

    def test_prints_a_table(self):
        self.assert_prints([*GPU, "--sql", self.QUERY], textwrap.dedent("""\
            ┌───────────┬───────────┬───┐
            │ class     │ diff_time │ x │
            ├───────────┼───────────┼───┤
            │ idle_host │     300.0 │   │
            │ comm      │     180.0 │   │
            └───────────┴───────────┴───┘
            """))

    def test_one_column_is_lines_and_no_rows_are_nothing(self):
        self.assert_prints(["--sql", "SELECT text FROM tracediff_help('trace_diff')"],
                           lines("SELECT text FROM tracediff_help('trace_diff')"))
        self.assert_prints([*GPU, "--sql", "SELECT html FROM trace_diff_report(:control, :test)"],
                           connect().execute("SELECT html FROM trace_diff_report(?, ?)", GPU).fetchone()[0] + "\n")
        self.assert_prints(["--sql", "-- a comment\nSELECT 1"], "1\n")
        self.assert_prints(["--sql", "SELECT 1, 2 WHERE 0"], "")
        self.assert_prints(["--sql", "SELECT 1, 2 WHERE 0", "--json"], "[]\n")
        self.assert_prints(["--sql", "SELECT 1 AS a, 2 AS b WHERE 0", "--csv"], "a,b\n")

    def test_a_wide_value_goes_on_in_the_next_line(self):
        self.assert_prints(["--sql", f"SELECT '{'a' * 61}' AS a, '双\n1' AS b UNION ALL SELECT 1, x'00ff'"],
                           textwrap.dedent(f"""\
            ┌─{'─' * 60}─┬─────────┐
            │ a{' ' * 59} │ b       │
            ├─{'─' * 60}─┼─────────┤
            │ {'a' * 60} │ 双      │
            │ a{' ' * 59} │ 1       │
            ├─{'─' * 60}─┼─────────┤
            │ {' ' * 59}1 │ X'00ff' │
            └─{'─' * 60}─┴─────────┘
            """))

    def test_names_do_nothing_to_the_terminal(self):
        out = run("--sql", "SELECT char(27) || '[2J' || char(7, 155), 1 AS \"a\x1b\"")[1]
        self.assertEqual([letter for letter in out if not letter.isprintable() and letter != "\n"], [])
        self.assertIn("│ \\x1b[2J\\x07\\x9b ", out)
        turned = ["--sql", "SELECT 'a\u202eb\u2066c\u061cd' AS a"]
        self.assert_prints(turned, "a\\u202eb\\u2066c\\u061cd\n")
        self.assert_prints([*turned, "--json"], '[{"a": "a\\u202eb\\u2066c\\u061cd"}]\n')

    def test_json_and_csv_keep_every_value(self):
        """Python's own readers read random rows back unchanged."""
        chance = random.Random(1)
        letters = "a\"',;\\\n\r\t\x1b│é双😀 \u202e\x9b"
        made = [[chance.choice([None, chance.randrange(-2 ** 63, 2 ** 63), chance.uniform(-1e9, 1e9),
                                "".join(chance.choices(letters, k=chance.randrange(9)))]) for _ in range(3)]
                for _ in range(50)]
        sql = "SELECT value->>0 AS a, value->>1 AS \"b\"\"c\", value->>2 AS é FROM json_each(:control)"
        given = ["--sql", sql, json.dumps(made)]
        self.assertEqual([list(row.values()) for row in json.loads(run(*given, "--json")[1])], made)
        names, *found = csv.reader(io.StringIO(run(*given, "--csv")[1], newline=""))
        self.assertEqual(names, ["a", 'b"c', "é"])
        self.assertEqual(found, [["" if value is None else str(value) for value in row] for row in made])
        self.assert_prints(["--sql", "SELECT 9e999 AS a, x'00ff' AS b", "--json"], '[{"a": 9e999, "b": "00ff"}]\n')


class Pages(Command, InFolder):
    @slow
    def test_html_writes_the_report_and_nothing_else(self):
        for words, memory in (([], (None, None)), (["--memory", *MEMORY], MEMORY)):
            status, out, errors = run(*GPU, "--html", "report.html", *words)
            self.assertEqual((status, out, errors), (0, run(*GPU, *words)[1], ""))
            self.assertEqual(os.listdir("."), ["report.html"])
            with open("report.html", encoding="utf-8", newline="") as file:
                self.assertEqual(file.read(), connect().execute(
                    "SELECT html FROM trace_diff_report(?, ?) WHERE control_memory IS ? AND test_memory IS ?"
                    if memory[0] else "SELECT html FROM trace_diff_report(?, ?) WHERE ? IS ?",
                    (*GPU, *memory)).fetchone()[0])

    def test_html_of_snapshots_alone_is_a_picture_of_their_peaks(self):
        status, out, errors = run("--memory", *MEMORY, "--html", "memory.html")
        self.assertEqual((status, out, errors), (0, run("--memory", *MEMORY)[1], ""))
        with open("memory.html", encoding="utf-8", newline="") as file:
            self.assertEqual(file.read(), connect().execute(
                "SELECT visualize_memory_diff(phase, op, control_bytes, test_bytes, 'Memory at the peak, from control"
                " to test') FROM memory_diff(?, ?, 'phase,op') WHERE phase <> 'cached and rounded'",
                MEMORY).fetchone()[0])

    def test_a_page_that_cannot_be_written_is_said(self):
        status, _, errors = run(*GPU, "--html", "no/such/x.html")
        self.assertEqual((status, errors), (2, "tracediff: cannot write 'no/such/x.html': No such file or directory\n"))

    @slow
    def test_open_shows_the_page(self):
        opened = []
        with unittest.mock.patch("webbrowser.open", lambda url: opened.append(url) or True):
            self.assertEqual(run(*GPU, "--html", "a b.html", "--open")[0], 0)
            self.assertEqual(opened.pop(), f"file://{os.path.realpath('.')}/a%20b.html")
            self.assertEqual(run(*GPU, "--open")[0], 0)
        self.assertRegex(opened[0], r"^file:///.*/tracediff-\w+\.html$")
        self.addCleanup(os.remove, opened[0][7:])
        with open(opened[0][7:], encoding="utf-8") as one, open("a b.html", encoding="utf-8") as other:
            self.assertEqual(one.read(), other.read())
        with unittest.mock.patch("webbrowser.open", lambda url: False):
            status, _, errors = run(*GPU, "--html", "x.html", "--open")
        self.assertEqual((status, errors), (2, "tracediff: --open: there is no browser that can be started; the page is"
                                               " in 'x.html'\n"))

    @slow
    def test_without_a_page_nothing_is_written(self):
        for words in ([*GPU], [*GPU, "--gate", "3%"], [*GPU, "--json"], ["--memory", *MEMORY]):
            run(*words)
        self.assertEqual(os.listdir("."), [])


def sh_gate(control, test, percent):
    """The result of examples/joins/gate.sh: status, and the reason why sides cannot be compared, or the outcome and why
    it is unknown.
    """
    ran = subprocess.run(["sh", os.path.join(EXAMPLES, "joins", "gate.sh"), control, test, str(percent), "0"],
                         capture_output=True, text=True, check=False, env={**os.environ, "TRACEDIFF": EXTENSION})
    said = ran.stdout.splitlines()[0] if ran.stdout else ""
    return ran.returncode, re.sub(r"(pass|fail|not known): .* \(limits: [^()]*\)", r"\1", said)


class Steps(InFolder):
    def steps(self, path, lengths, rank=0, world=1, device="A100", name=None, first=0):
        """Steps of these lengths in us, filled by their kernels."""
        events, at = [], 0
        for number, length in enumerate(lengths):
            events += [step(first + number, at, length), event("aten::mm", at, 50), launch(at + 10, 5, number + 1),
                       kernel("gemm", at + 20, length - 20, number + 1)]
            at += length
        write(f"{path}/{name or f'rank{rank}'}.json",
              {"distributedInfo": {"rank": rank, "world_size": world}, "deviceProperties": [{"id": 0, "name": device}],
               "traceEvents": events})


class Runs(Command, Steps):
    """Several runs per side, which trace_ab compares."""

    def setUp(self):
        super().setUp()
        for number in range(5):
            self.steps(f"control/{number}", [1000 + number] * 6)
            self.steps(f"slower/{number}", [1100 + 2 * number] * 6)
            self.steps(f"little/{number}", [1020 + 12 * number] * 6)

    @staticmethod
    def array(side):
        return json.dumps([f"{side}/{number}" for number in range(5)])

    def test_are_compared_by_trace_ab(self):
        expected = textwrap.dedent("""\
            a step is slower: +10.2 % (+9.8 to +10.6 %); runs of control: 5, of test: 5
            ┌──────────────┬────────┬──────────────┬───────────┬──────────┬────────┬─────────┬─────────┐
            │ name         │ device │ control_mean │ test_mean │ diff_pct │ ci_low │ ci_high │ verdict │
            ├──────────────┼────────┼──────────────┼───────────┼──────────┼────────┼─────────┼─────────┤
            │ gemm         │ GPU    │        982.0 │    1084.0 │     10.4 │   10.0 │    10.8 │ slower  │
            │ ProfilerStep │ CPU    │        952.0 │    1054.0 │     10.7 │   10.3 │    11.1 │ slower  │
            └──────────────┴────────┴──────────────┴───────────┴──────────┴────────┴─────────┴─────────┘
            2 names do not differ, or that is not known
            """)
        for control, test in (("control/*", "slower/*"), ("control/*/*.json", "slower/?/rank0.json"),
                              (self.array("control"), self.array("slower")), ("control/*", self.array("slower")),
                              (f"{self.folder}/control/[0-9]", "./slower/*")):
            with self.subTest(control=control, test=test):
                self.assert_prints([control, test], expected)
        self.assertEqual(json.loads(run("control/*", "slower/*", "--json", "--rank", "0")[1]),
                         rows("SELECT * FROM trace_ab('control/*', 'slower/*')"))
        self.assert_prints(["control/*", "little/*"], (
            "it is not known whether a step differs: +4.2 % (+2.2 to +6.2 %); runs of control: 5, of test: 5\n"
            "44 runs per side would decide\n4 names do not differ, or that is not known\n"))
        self.assertTrue(run("control/*", "control/*")[1].startswith(
            "it is not known whether a step differs: +0.0 % (-0.2 to +0.2 %); runs of control: 5, of test: 5\n"))

    def test_files_of_one_folder(self):
        for number in range(5):
            self.steps("files", [1000 + number] * 6, name=f"run{number}")
        self.assertEqual(run("files/*.json", "slower/*")[1], run("control/*", "slower/*")[1])

    def test_several_ranks(self):
        """A pattern can name some of several ranks."""
        for number in range(5):
            for side, length in ("c", 1000), ("t", 1200):
                for rank in range(3):
                    self.steps(f"{side}[1]/{number}", [length + number + 10 * rank] * 6, rank=rank, world=3)
        for given in (("c[[]1]/*", "t[[]1]/*"), ("c[[]1]/*/rank[01].json", "t[[]1]/*/rank[01].json")):
            status, out, _ = run(*given, "--rank", "all", "--json")
            step = json.loads(out)[0]
            self.assertEqual((status, step["control_n"], step["test_n"], step["verdict"]), (0, 5, 5, "slower"))
            self.assertAlmostEqual(step["control_mean"], 1012 if given[0].endswith("/*") else 1007, delta=0.1)

    def test_one_run_a_side_is_summarised(self):
        """One run per side is summarised, also if its ranks or cycles are in separate folders; a pattern that matches
        one folder means this folder.
        """
        for side, length in ("a", 1000), ("b", 1200):
            self.steps(f"{side}/1", [length] * 6)
            self.steps(f"{side}/2", [length] * 6, rank=1)
            self.steps(f"{side}_cycles/1", [length] * 6)
            self.steps(f"{side}_cycles/2", [length] * 6, first=6, name="late")
        for given in (("a/*/*.json", "b/*/*.json"), ('["a/1", "a/2"]', '["b/1", "b/2"]'),
                      ("a/1/*", "b/1/*")):
            with self.subTest(given):
                self.assert_prints(given, lines("SELECT text FROM trace_summary(?, ?)", *given))
        self.assert_prints(["a/[1]", "b/[1]"], lines("SELECT text FROM trace_summary(?, ?)", "a/1", "b/1"))

    def test_gate(self):
        for control, test, percent, status, said in (
                ("control/*", "slower/*", "5%", 1, "fail: step +10.2 % (+9.8 to +10.6 %), limit +5 %"),
                ("control/*", "slower/*", "10.7", 0, "pass: step +10.2 % (+9.8 to +10.6 %), limit +10.7 %"),
                ("control/*", "slower/*", "10.5", 2, "not known: step +10.2 % (+9.8 to +10.6 %), limit +10.5 %: 11 runs"
                                                     " per side would decide"),
                ("slower/*", "control/*", "0", 0, "pass: step -9.2 % (-9.5 to -8.9 %), limit +0 %"),
                ("control/[01]", "slower/[01]", "5", 2,
                 "not known: step +10.0 % (+9.9 to +10.2 %), limit +5 %: 3 runs per side would decide")):
            with self.subTest(control=control, test=test, percent=percent):
                ended, out, errors = run(control, test, "--gate", percent)
                self.assertEqual((ended, out.splitlines()[-1], errors), (status, f"gate: {said}", ""))
        self.steps("other/1", [1000] * 6, device="H100")
        self.steps("other/2", [1001] * 6, device="H100")
        status, _, errors = run("control/*", "other/*", "--gate", "5%")
        self.assertEqual((status, errors), (
            2, "tracediff: --gate: cannot be compared: other devices: A100 in control, H100 in test\n"))

    def test_what_needs_one_run_is_said(self):
        for words, said in (
                (["--html", "x.html"], "--html needs one run per side: name one of each"),
                (["--open"], "--open needs one run per side: name one of each"),
                (["--clock", "host"], "--clock needs one run per side: name one of each"),
                (["--control-rank", "0"],
                 "--control-rank and --test-rank need one run per side; of several, give --rank"),
                (["--test-iteration", "0"],
                 "--control-iteration and --test-iteration need one run per side; of several, give --iteration"),
                (["--gate", "101%"], "--gate: of several runs, the limit is 100 % at most"),
                (["--rank", "7"], "trace_ab: 'control/0' has no rank 7 (ranks: 0)")):
            with self.subTest(words):
                self.assert_wrong(["control/*", "slower/*", *words], said)
        self.assertEqual(sorted(os.listdir(".")), ["control", "little", "slower"])


class Gate(Command, Steps):
    def gate(self, control, test, percent, *more):
        status, out, errors = run(control, test, "--gate", percent, *more)
        return status, errors.partition("--gate: ")[2].strip() if errors else out.splitlines()[-1]

    def test_says_whether_a_step_is_longer(self):
        control, test = GPU
        for given, expected in (
                ((control, test, "3%"), (1, "gate: fail: mean +22.4 %, median +22.4 %, limit +3 %")),
                ((control, test, "30"), (0, "gate: pass: mean +22.4 %, median +22.4 %, limit +30 %")),
                ((test, control, "2.5 %"), (0, "gate: pass: mean -18.3 %, median -18.3 %, limit +2.5 %")),
                ((control, control, "0"), (0, "gate: pass: mean +0.0 %, median +0.0 %, limit +0 %")),
                ((os.path.join(EXAMPLES, "cpu", "test"), test, "3"),
                 (2, "cannot be compared: control has no device work, test has"))):
            with self.subTest(given):
                self.assertEqual(self.gate(*given), expected)

    def test_decides_at_the_limit(self):
        """A value equal to the limit is within it, whatever a double rounds to; mean or median alone decides
        nothing.
        """
        self.steps("control", [1000] * 6)
        for lengths, percent, expected in (
                ([1100] * 6, "10", (0, "pass: mean +10.0 %, median +10.0 %, limit +10 %")),
                ([1100.1] * 6, "10", (1, "fail: mean +10.0 %, median +10.0 %, limit +10 %")),
                ([1099.9] * 6, "10", (0, "pass: mean +10.0 %, median +10.0 %, limit +10 %")),
                ([1070] * 6, "7", (0, "pass: mean +7.0 %, median +7.0 %, limit +7 %")),
                ([1000, 1400, 1000, 1000, 1000, 1000], "10", (0, "pass: mean +10.0 %, median +0.0 %, limit +10 %")),
                ([1000, 1400, 1000, 1000, 1000, 1000], "9",
                 (2, "not known: mean +10.0 %, median +0.0 %, limit +9 %: only the mean is above")),
                ([1100, 700, 1100, 1100, 1100, 1000], "9",
                 (2, "not known: mean +0.0 %, median +10.0 %, limit +9 %: only the median is above"))):
            with self.subTest(lengths=lengths, percent=percent):
                self.steps("test", lengths)
                self.assertEqual(self.gate("control", "test", percent), (expected[0], f"gate: {expected[1]}"))
                self.assertEqual(sh_gate("control", "test", percent),
                                 (expected[0], re.sub(": mean.* %", "", expected[1])))

    def load(self, path, factor):
        """Steps of the host that take this many times as long."""
        events, at = [], 0
        for number in range(6):
            begins = at
            for op in range(12):
                length = (20 + 3 * op + number % 2) * factor
                events.append(event(f"aten::op{op}", at + 1, length))
                at += length + 2
            events.append(step(number, begins, at - begins))
        write(f"{path}/rank0.json", {"traceEvents": events})

    def test_does_not_pass_what_is_longer_and_not_clear(self):
        """A gate does not pass steps that are longer but unclear, for example under other load."""
        load = "another load of the host explains the difference"
        self.load("control", 1)
        self.load("test", 4)
        self.assertEqual(json.loads(run("control", "test", "--json")[1])[0]["code"], "unknown")
        self.assertEqual(self.gate("control", "test", "5%"), (
            2, f"gate: not known: mean +284.6 %, median +284.6 %, limit +5 %: {load}"))
        self.assertEqual(sh_gate("control", "test", "5"), (2, f"not known: {load}"))
        self.assertEqual(self.gate("control", "test", "300")[0], 0)
        self.assertEqual(self.gate("test", "control", "5")[0], 0)
        status, out, errors = run("control", "test", "--gate", "5%", "--json")
        self.assertEqual((status, out, errors), (
            2, run("control", "test", "--json")[1], "tracediff: gate: not known: mean +284.6 %, median +284.6 %,"
                                                    f" limit +5 %: {load}\n"))

    @slow
    def test_prints_the_summary_first_and_no_word_beside_json(self):
        self.assertEqual(run(*GPU, "--gate", "3")[1].splitlines()[:-1], run(*GPU)[1].splitlines())
        self.assertEqual(run(*GPU, "--gate", "3", "--json"), (1, run(*GPU, "--json")[1], ""))

    def make_pairs(self):
        """Traces with differences in the features that gates check, each beside `control`."""
        even = [1000, 1004, 1001, 1003, 1002, 1000]
        self.steps("control", even)
        self.steps("slower", [length * 1.04 for length in even])
        self.steps("noisy", [1000, 1100, 1015, 1110, 990, 1000])
        self.steps("one", [1000, 1004, 3000, 1003, 1002, 1000])
        self.steps("some", [1000, 1004, 1200, 1203, 1002, 1000])
        self.steps("device", even, device="H100")
        self.steps("rank", even, rank=1)
        self.steps("world", even, world=2)
        write("none/rank0.json", {"traceEvents": [event("aten::mm", 1, 2)]})
        return "control slower noisy one some device rank world none".split()

    def test_ranks_that_are_given_may_differ(self):
        self.steps("a", [1000] * 5)
        self.steps("b", [1100] * 5, rank=1)
        self.assertEqual(self.gate("a", "b", "3"), (
            2, "cannot be compared: other ranks: rank 0 only in control, rank 1 only in test"))
        self.assertEqual(self.gate("a", "b", "3", "--control-rank", "0", "--test-rank", "1")[0], 1)
        self.assertEqual(self.gate("a", "b", "30", "--control-rank", "0", "--test-rank", "1")[0], 0)

    @slow
    def test_agrees_with_the_gate_of_the_examples(self):
        names = self.make_pairs()
        pairs = [(one, other) for one in ("control", "slower", "none") for other in names]
        pairs += [tuple(glob.glob(f"{EXAMPLES}/{folder}/{side}")[0] for side in ("control", "test"))
                  for folder in ("gpu", "cpu", "gains/loader", "gains/rank_operator", "gains/heads", "serving")]
        pairs += [(f"{EXAMPLES}/gloo/two/control", path) for path in glob.glob(f"{EXAMPLES}/gloo/two/*/")]
        pairs += [(f"{EXAMPLES}/runs/control/1", f"{EXAMPLES}/runs/test/2")]
        seen = set()
        for control, test in pairs:
            for percent in (0, 3, 20):
                with self.subTest(control=control, test=test, percent=percent):
                    expected = sh_gate(control, test, percent)
                    status, said = self.gate(control, test, str(percent))
                    said = re.sub(r"^gate: (.*): mean.* %", r"\1", said)
                    self.assertEqual((status, said if expected[1] else ""), expected)
                    seen.add((status, expected[1].partition(":")[2].partition(":")[0]))
        self.assertEqual({status for status, _ in seen}, {0, 1, 2})
        self.assertGreater(len(seen), 5)
        self.assertEqual([self.gate("control", name, "3")[0] for name in ("slower", "noisy", "one", "some")],
                         [1, 2, 0, 1])


class Connection(unittest.TestCase):
    def test_has_the_extension_and_no_leave_to_load_more(self):
        db = tracediff.connect()
        self.assertIsInstance(db, sqlite3.Connection)
        self.assertEqual(db.execute("SELECT tracediff_version()").fetchone(), (f"v{packed.VERSION}",))
        with self.assertRaisesRegex(sqlite3.OperationalError, "not authorized"):
            db.load_extension("x")

    def test_a_database_in_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.db")
            with contextlib.closing(tracediff.connect(path)) as db, db:
                db.execute("CREATE TABLE a AS SELECT count(*) AS n FROM trace_events(?)", GPU[:1])
            with contextlib.closing(sqlite3.connect(path)) as db:
                self.assertEqual(db.execute("SELECT n FROM a").fetchone(), (3150,))

    def test_page_shows_itself_in_a_sandbox(self):
        db = tracediff.connect()
        page = db.page("SELECT html FROM trace_diff_report(?, :test)", GPU)
        text, = db.execute("SELECT html FROM trace_diff_report(?, ?)", GPU).fetchone()
        self.assertEqual(page, text)
        self.assertIsInstance(page, tracediff.Page)
        self.assertEqual(repr(page), "<tracediff.Page: What changed from control to test>")
        shown = page._repr_html_()
        self.assertEqual(html.unescape(re.fullmatch(
            r'<iframe sandbox="allow-scripts allow-downloads" srcdoc="([^"<>]*)" width="100%" height="800"'
            r' style="border: 0"></iframe>', shown)[1]), text)

    def test_a_page_is_one_text_that_is_a_page(self):
        db = tracediff.connect()
        for sql in ("SELECT 1", "SELECT NULL", "SELECT '<p>'", "SELECT html, 1 FROM trace_diff_report(:c, :t)",
                    "SELECT html FROM trace_diff_report(:c, :t) WHERE 0", "CREATE TABLE x(a)"):
            with self.assertRaisesRegex(ValueError, r"^page: the statement must give one page, as SELECT html"):
                db.page(sql, dict(zip("ct", GPU)))
        with self.assertRaisesRegex(sqlite3.Error, "^trace_diff_report: cannot read '/none'"):
            db.page("SELECT html FROM trace_diff_report('/none', '/none')")

    def test_an_interrupt_stops_a_query(self):
        db = tracediff.connect()
        for sql in (ENDLESS, f"SELECT count(*) FROM trace_summary('{GPU[0]}', '{GPU[1]}'), ({ENDLESS})"):
            before = signal.signal(signal.SIGALRM, signal.default_int_handler)
            self.addCleanup(signal.signal, signal.SIGALRM, before)
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with self.assertRaisesRegex(sqlite3.OperationalError, "^interrupted$"):
                db.execute(sql).fetchall()

    def without(self, *modules):
        """The command's message in a Python without these modules."""
        code = ("import sys\nfor name in sys.argv[1].split(): sys.modules[name] = None\n"
                "from tracediff import command\nprint(command.main(['--sql', 'SELECT 1']))")
        return subprocess.run([sys.executable, "-c", code, " ".join(modules)], capture_output=True, text=True,
                              check=True, env={**os.environ, "PYTHONPATH": PLACE.name})

    @slow
    def test_a_python_that_cannot_load_says_what_can(self):
        ran = self.without("sqlite3", "apsw")
        self.assertEqual((ran.stdout, ran.stderr), ("2\n", "tracediff: tracediff.connect: the sqlite3 of this Python is"
                                                           f" missing. {tracediff.WAYS_OUT}\n"))


class Shell(Command):
    def read(self, text, *words):
        with unittest.mock.patch("sys.stdin", io.StringIO(text)):
            return run("shell", *words)

    def test_reads_statements(self):
        for text, expected in (
                ("SELECT 1", "1\n"), ("SELECT 1;SELECT 2;\n\n;", "1\n2\n"), ("", ""), ("-- none\n", ""),
                ("SELECT 'a;\nb' -- c;\n;SELECT /* ; */ 2;", "a;\nb\n2\n"),
                ("CREATE TABLE a(b); INSERT INTO a VALUES (3); SELECT * FROM a;", "3\n"),
                (".mode json\nSELECT 1 AS a;\n-- x\n.mode csv\nSELECT 1 AS a;\n.quit\nSELECT 2;", '[{"a": 1}]\na\n1\n'),
                ("SELECT text FROM tracediff_help('trace_ops');\n",
                 lines("SELECT text FROM tracediff_help('trace_ops')")),
                ("CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; SELECT 2; END;", None),
                (".help", tracediff.shell.HELP + "\n")):
            with self.subTest(text):
                status, out, errors = self.read(text)
                if expected is None:
                    self.assertEqual((status, out, errors), (2, "", "tracediff: no such table: main.a\n"))
                else:
                    self.assertEqual((status, out, errors), (0, expected, ""))

    def test_an_error_ends_it(self):
        self.assertEqual(self.read("SELECT 1; SELEC; SELECT 2;"), (2, "1\n", 'tracediff: near "SELEC": syntax error\n'))
        self.assertEqual(self.read(".mode x\n"), (2, "", "tracediff: unknown command '.mode x': .help lists them\n"))

    def test_a_database_keeps_what_is_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.db")
            self.assertEqual(self.read("CREATE TABLE a(b); INSERT INTO a VALUES (3);", path), (0, "", ""))
            self.assertEqual(self.read("SELECT b FROM a", path), (0, "3\n", ""))
            self.assertEqual(self.read("SELECT 1", folder), (2, "", "tracediff: unable to open database file\n"))


@slow
class Process(unittest.TestCase):
    """The command as a process, in Debian's Python and on apsw."""
    ENVIRONMENT = {**os.environ, "PYTHONPATH": PLACE.name}

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.commands = [([sys.executable, "-m", "tracediff"], self.ENVIRONMENT)]
        if os.path.exists(VENV):  # without sqlite3
            with open(os.path.join(place.name, "sqlite3.py"), "w", encoding="ascii") as file:
                file.write("raise ImportError('not here')\n")
            self.commands.append(([VENV, "-m", "tracediff"],
                                  {**os.environ, "PYTHONPATH": f"{place.name}:{PLACE.name}"}))

    def start(self, command, *words, **streams):
        words_of, environment = command
        return subprocess.Popen([*words_of, *words], env=environment, cwd="/", **{
            "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams})

    def run_all(self, *words, **streams):
        """The result of each command: status, output, errors."""
        ended = []
        for command in self.commands:
            with self.start(command, *words, **streams) as process:
                out, errors = process.communicate(timeout=60)
                ended.append((process.returncode, (out or b"").decode(), errors.decode()))
        return ended

    def test_says_the_same_everywhere(self):
        runs = [os.path.join(EXAMPLES, "runs", side, "*") for side in ("control", "test")]
        for words in ([*GPU, "--gate", "3%"], [*runs, "--gate", "3%"], ["/none", "/none"],
                      ["a", "--sql", "SELECT :test"],
                      ["--sql", "SELEC"], ["--sql", "SELECT 1 AS a, 2 AS b WHERE 0", "--csv"],
                      [*GPU, "--sql", Sql.QUERY], ["--sql", "SELECT 1 AS a, x'00' AS b, 0.1, 'é'", "--json"],
                      ["--sql", "CREATE TABLE a(b)"]):
            for ended in self.run_all(*words):
                self.assertEqual(ended, run(*words))
        for status, _, errors in self.run_all("--sql", "SELECT 1; SELECT 2"):
            self.assertEqual((status, errors), (2, "tracediff: You can only execute one statement at a time.\n"))

    def test_connections_of_apsw_have_pages_and_frames(self):
        if len(self.commands) < 2:
            self.skipTest("no apsw: run `make setup-hosts`")
        (python, *_), environment = self.commands[1]
        ran = subprocess.run([python, "-c", textwrap.dedent("""\
            import sys, tracediff
            db = tracediff.connect()
            print(type(db).__mro__[2])
            print(repr(db.page("SELECT html FROM trace_diff_report(:c, :t)", {"c": sys.argv[1], "t": sys.argv[2]})))
            print(*db.frame("SELECT 1 AS a, NULL AS b UNION ALL SELECT 2, 3").dtypes)
            print(*db.frame("SELECT 1 AS a, 2 AS b WHERE 0").columns)
            """), *GPU], env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(ran.stdout.splitlines(), [
            "<class 'apsw.Connection'>", "<tracediff.Page: What changed from control to test>",
            "int64 Int64", "a b"], ran.stderr)

    def test_ctrl_c_ends_it_quietly(self):
        for command in self.commands:
            for words in (["--sql", f"SELECT 1 UNION ALL SELECT * FROM ({ENDLESS})"], ["shell"]):
                with self.subTest(words), self.start(command, *words, stdin=subprocess.PIPE) as process:
                    if words == ["shell"]:
                        process.stdin.write(f"SELECT 1;\n{ENDLESS};\n".encode())
                        process.stdin.flush()
                        self.assertEqual(process.stdout.readline(), b"1\n")
                        time.sleep(0.3)
                    else:
                        while b"tracediff.so" not in self.maps(process.pid):
                            time.sleep(0.05)
                        time.sleep(0.3)
                    process.send_signal(signal.SIGINT)
                    _, errors = process.communicate(timeout=10)
                    self.assertEqual((process.returncode, errors), (-signal.SIGINT, b""))
        ran = subprocess.run(["sh", "-c", '"$@"; echo $?', "sh", sys.executable, "-c", textwrap.dedent("""\
            import os, signal, threading
            from tracediff import command
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
            import sys
            sys.argv[1:] = ["--sql", %r]
            command.program()""") % ENDLESS], env=self.ENVIRONMENT, capture_output=True, text=True, check=True)
        self.assertEqual((ran.stdout, ran.stderr), ("130\n", ""))

    @staticmethod
    def maps(process):
        with open(f"/proc/{process}/maps", "rb") as file:
            return file.read().replace(os.path.basename(EXTENSION).encode(), b"tracediff.so")

    def test_a_reader_that_has_gone_ends_it_quietly(self):
        many = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 300000) SELECT x FROM n"
        for command in self.commands:
            for words in (["--sql", many], [*GPU]):
                with self.start(command, *words) as process:
                    process.stdout.close() if words[0] != "--sql" else process.stdout.read(10)
                    process.stdout.close()
                    self.assertEqual(process.stderr.read(), b"")
                    self.assertEqual(process.wait(60), -signal.SIGPIPE)

    def test_a_disk_that_is_full_is_said(self):
        with open("/dev/full", "wb") as full:
            for status, _, errors in self.run_all(*GPU, stdout=full):
                self.assertEqual((status, errors), (2, "tracediff: No space left on device\n"))

    def test_streams_that_are_closed(self):
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            for words, status in ((GPU, 0), (("/none", "/none"), 2), (("shell",), 0)):
                ran = subprocess.run(["sh", "-c", f'"$@" {closed}', "sh", sys.executable, "-m", "tracediff", *words],
                                     env=self.ENVIRONMENT, capture_output=True, text=True, check=False,
                                     stdin=subprocess.DEVNULL)
                with self.subTest(closed=closed, words=words):
                    self.assertEqual(ran.returncode, status)
                    self.assertNotIn("Traceback", ran.stderr)

    def test_output_is_utf_8_whatever_the_locale(self):
        for command, environment in self.commands:
            for locale in ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
                           {"PYTHONIOENCODING": "ascii"}):
                there = {**environment, **locale}
                with self.start((command, there), "--sql", "SELECT 'é双' AS a, 1 AS b") as process:
                    out, errors = process.communicate(timeout=60)
                    self.assertEqual((process.returncode, errors), (0, b""))
                    self.assertIn("│ é双 │ 1 │", out.decode())

    def test_ctrl_c_stops_a_query_and_not_the_shell(self):
        for command, environment in self.commands:
            with self.subTest(command):
                pid, terminal = pty.fork()
                if pid == 0:
                    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored below a shell's `&`
                    os.execve(command[0], [*command, "shell"], {**environment, "TERM": "dumb"})
                self.addCleanup(os.close, terminal)
                self.said(terminal, "tracediff> ")
                at_prompt = True
                for typed, said in (("SELECT 1,\n", "...> "), ("\x03", "interrupted: .quit ends the shell"),
                                    ("SELECT 40 + 2;\n", "42"), (ENDLESS + ";\n", None),
                                    ("\x03", "interrupted: .quit ends the shell"), ("SELECT 40 + 3;\n", "43"),
                                    ("SELEC;\n", 'near "SELEC": syntax error'), (".x\n", "unknown command '.x'"),
                                    (".help\n", "Ctrl-C stops a query")):
                    os.write(terminal, typed.encode())
                    if said is None:
                        time.sleep(0.3)
                    else:
                        self.said(terminal, said, again=typed.encode() if at_prompt and typed == "\x03" else b"")
                        if "> " not in said:
                            self.said(terminal, "tracediff> ")
                    at_prompt = said is not None
                os.write(terminal, b"\x04")
                self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)

    def said(self, terminal, text, again=b""):
        """Waits for this output of the shell. On a busy machine, Python may lose a Ctrl-C between printing the prompt
        and waiting for the terminal, so it is typed again.
        """
        found, until = self.__dict__.setdefault("heard", ""), time.monotonic() + 20
        while text not in found:
            if select.select([terminal], [], [], 5)[0]:
                found += os.read(terminal, 65536).decode()
            else:
                self.assertLess(time.monotonic(), until, (text, found))
                os.write(terminal, again)
        self.heard = found[found.index(text) + len(text):]


if __name__ == "__main__":
    unittest.main()
