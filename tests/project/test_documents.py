"""Documents are correct: every query in them runs and prints the output shown, examples/ run, and the reference equals
tracediff_help (test_help.py). For rules and links see test_citations.py.
"""
import glob
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import test_damaged_files
from support import EXTENSION, ROOT, connect, corpus, golden, queries, query_statements, slow

MARK = "@@@@"


def shell(script, folder=ROOT):
    """Runs a script in the sqlite3 shell with the extension under test."""
    script = script.replace("./dist/tracediff", EXTENSION)
    done = subprocess.run(["sqlite3", "-batch", ":memory:"], input=script, cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
    return done.stdout


def sh(line):
    """Runs a document's line in a shell with the extension under test."""
    return subprocess.run(["sh", "-c", line.replace("./dist/tracediff", EXTENSION)], cwd=ROOT, text=True,
                          capture_output=True)


def read(*parts):
    with open(os.path.join(ROOT, *parts), encoding="utf-8") as file:
        return file.read()


def unless_the_shell_prints(script, printed, reason):
    try:
        return unittest.skipUnless(shell(script) == printed, reason)
    except unittest.SkipTest as needed:
        return unittest.skip(str(needed))


# Shells from 3.52 on draw other boxes, and one built for another SQLite does not run.
RUNS = unless_the_shell_prints("SELECT 1;\n", "1\n", "no sqlite3 shell that runs with this SQLite")
DRAWS = unless_the_shell_prints(".mode box\nSELECT 1 AS ab;\n", "┌────┐\n│ ab │\n├────┤\n│ 1  │\n└────┘\n",
                                "no sqlite3 shell that draws boxes as in the documents")
DOCUMENTS = sorted(os.path.relpath(os.path.join(folder, name), ROOT)
                   for folder in (ROOT, *(os.path.join(ROOT, part) for part in ("examples", "ext", "sql", "tests")))
                   for name in os.listdir(folder) if name.endswith(".md"))


class Documents(unittest.TestCase):
    # an SQL block, and the output block if one follows
    EXAMPLE = re.compile(r"```sql\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.S)

    def examples(self):
        for document in DOCUMENTS:
            for sql, printed in self.EXAMPLE.findall(read(document)):
                yield document, sql, printed

    @DRAWS
    def test_queries_print_what_the_document_shows(self):
        """Each document is one session. A query without printed output has rows."""
        os.makedirs(os.path.join(ROOT, "build"), exist_ok=True)
        sessions = 0
        for document in DOCUMENTS:
            examples = self.EXAMPLE.findall(read(document))
            printed = shell("".join(f"{sql}.print {MARK}\n" for sql, _ in examples)).split(MARK + "\n")
            sessions += len(examples) > 1
            for (sql, expected), found in zip(examples, printed):
                with self.subTest(document, sql=sql):
                    if expected or sql.startswith("."):
                        self.assertEqual(found, expected)
                    else:
                        self.assertNotRegex(found, r"(?m)^(Parse|Runtime)? ?[Ee]rror")
                        self.assertEqual(len(re.findall("┌.*┐\n│.*│\n├.*┤\n│", found)), len(re.findall(r";\n", sql)),
                                         found)
        self.assertGreaterEqual(sessions, 3)

    def test_queries_are_shown_with_their_output_but_for_those_of_hta(self):
        for document, sql, printed in self.examples():
            if not sql.startswith("."):
                self.assertEqual(bool(printed), document != os.path.join("sql", "HTA.md"), sql)

    def test_examples_name_their_columns_and_fit_a_terminal(self):
        for document, sql, printed in self.examples():
            with self.subTest(document, sql=sql):
                shown = re.sub(r"CREATE TABLE (?:.|\n)*?;|\bFROM \(SELECT (?:.|\n)*?\)\n", "", sql)
                self.assertNotRegex(shown, r"SELECT \*")
                self.assertLessEqual(max(map(len, (sql + printed).splitlines())), 120)
                self.assertNotRegex(printed, r"\d\.\d{4}")
                for header in re.findall(r"┐\n│(.*)│\n", printed):
                    self.assertNotRegex(header, r"[(*]")

    @RUNS
    def test_tour_has_the_same_statements(self):
        tour = read("examples", "tour.sql")
        for document, sql, _ in self.examples():
            if document.endswith("README.md"):
                self.assertIn(sql, tour)

    @slow
    @RUNS
    def test_tour_runs(self):
        self.assertNotRegex(shell(read("examples", "tour.sql")), r"(?m)^(Parse|Runtime)? ?[Ee]rror")

    @RUNS
    def test_commands_of_the_shell_run(self):
        lines = re.findall(r"(?m)^    (sqlite3 -cmd .*)$", read("examples", "README.md"))
        self.assertGreater(len(lines), 0)
        for line in lines:
            self.assertRegex(sh(line).stdout, r"\Atest is slower here: ", line)

    @RUNS
    def test_safe_shell_cannot_write_run_or_load(self):
        line, = re.findall(r"(?m)^    (sqlite3 -cmd .* -safe :memory:) ", read("examples", "README.md"))
        for asked in ("SELECT writefile('x', '')", ".shell true", ".output x", "ATTACH 'x' AS x",
                      "SELECT load_extension('x')", ".load x"):
            done = sh(f'{line} "{asked}"')
            self.assertIn(" in safe mode", done.stdout + done.stderr, asked)

    def test_the_skill_for_agents(self):
        """The skill for agents is short, because every conversation that uses it reads it."""
        skill, page = read("examples", "skill", "tracediff", "SKILL.md"), read("examples", "agents.md")
        self.assertRegex(skill, r"\A---\nname: tracediff\ndescription: [^\n]{100,1000}\n---\n\n# ")
        self.assertLess(len(skill), 6000)  # under 2,500 tokens of 2.4 characters each
        self.assertNotIn("](", skill)  # a link from there leads elsewhere
        (sql, printed), = re.findall(r"(?s)```sql\n(.*?)```\n\n```text\n(.*?)```\n", skill)
        self.assertEqual(shell(".load ./dist/tracediff\n.headers on\n" + sql), printed)
        configuration, = map(json.loads, re.findall(r"```json\n(.*?)```\n", page, re.S))
        self.assertEqual(configuration["mcpServers"]["tracediff"]["args"][0], "mcp")

    def test_python_compiles(self):
        blocks = [(document, code) for document in DOCUMENTS
                  for code in re.findall(r"```python\n(.*?)```\n", read(document), re.S)]
        self.assertGreater(len(blocks), 0)
        for document, code in blocks:
            compile(code, document, "exec")

    def test_every_target_is_in_make_help(self):
        targets = subprocess.run(["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True)
        for document in DOCUMENTS:
            for target in re.findall(r"(?m)(?:`|^    |[A-Z]+=\S+ )make ([a-z0-9-]+)", read(document)):
                with self.subTest(document, target=target):
                    self.assertRegex(targets.stdout, rf"(?m)^  make {target}\s")

    def test_every_test_file_that_is_named_is_there(self):
        named = set(re.findall(r"`(test_[a-z_]+)`", read("tests", "README.md")))
        files = {os.path.basename(path)[:-3] for path in glob.glob(os.path.join(ROOT, "tests", "*", "test_*.py"))}
        self.assertGreater(len(named), 10)
        self.assertEqual(named - files, set())

    def test_bad_files_are_counted(self):
        self.assertIn(f"a table of {len(test_damaged_files.table())} files, nearly all of them bad,",
                      read("tests", "README.md"))


class Words(unittest.TestCase):
    """Each term of CONTRIBUTING.md has one meaning."""

    def rows(self):
        table = read("CONTRIBUTING.md").split("### One word, one meaning")[1]
        return re.findall(r"(?m)^\| (?!word|-)([^|]+) \| ([^|]+) \| ([^|]*)\|$", table)

    def test_are_few_and_listed_once(self):
        words = [word for names, _, _ in self.rows() for word in names.split(", ")]
        self.assertLessEqual(len(self.rows()), 25)
        self.assertGreater(len(words), 15)
        self.assertEqual(len(words), len(set(words)))

    def test_are_not_used_for_something_else(self):
        """The terms are not used for anything else in documents or in help, which is also the reference."""
        texts = {document: " ".join(read(document).split()) for document in DOCUMENTS
                 if document not in ("CONTRIBUTING.md", "CHANGELOG.md")}
        others = [other for _, _, others in self.rows() for other in re.findall("`([^`]+)`", others)]
        self.assertGreater(len(others), 5)
        for other in others:
            with self.subTest(other):
                self.assertEqual([document for document, text in texts.items() if other in text], [])


class CallsOfHta(unittest.TestCase):
    def test_are_all_answered(self):
        """Each of HTA's calls with recorded output has a query, or is listed in a row without one."""
        text = read("sql", "HTA.md")
        calls = {match[0] for folder, _, names in os.walk(golden()) for name in names
                 if (match := re.match(r"(get|generate)_[a-z_]+|critical_path", name))}
        self.assertGreater(len(calls), 15)
        self.assertEqual(re.findall(r"(?m)^.*\| *\|.*$", text), [])  # a row without a query
        for call in calls:
            self.assertRegex(text, rf"`{call}\w*[`(]")


class Readme(unittest.TestCase):
    def test_is_read_at_a_sitting(self):
        self.assertLessEqual(len(read("README.md").splitlines()), 120)

    def test_answers_first(self):
        """The first screen has the answer after a single command, and then the parts of a step."""
        text = read("README.md")
        loading, answer, step = re.findall(r"(?m)^(?:\.load.*|SELECT(?:.*\n)*?.*;)$", text)
        self.assertEqual(loading, ".load ./dist/tracediff")
        self.assertIn("FROM trace_summary(", answer)
        self.assertLess(text.index("make demo"), text.index(loading))
        self.assertLessEqual(len(text[:text.index("```text")].splitlines()), 15)
        self.assertIn("FROM trace_step_diff(", step)
        self.assertIn("abs(diff_within)", read("examples", "inference.md"))

    def test_no_query_passes_null_to_reach_an_argument(self):
        for query in re.findall(r"(?s)```sql\n(.*?)```", read("README.md")):
            self.assertNotIn("NULL", query)

    def test_every_function_has_a_line_and_a_page_in_the_reference(self):
        listed = set(re.findall(r"(?m)^\| .+\? \| \[`(\w+)`\]\(#\1\) \|$", read("sql", "REFERENCE.md")))
        functions = {name for name, in connect().execute("SELECT name FROM tracediff_help")}
        self.assertEqual(functions, listed)


class Reference(unittest.TestCase):
    def check(self, folder=os.path.join(ROOT, "sql")):
        return subprocess.run([sys.executable, os.path.join(folder, "reference.py"), "--check"], capture_output=True,
                              text=True, env={**os.environ, "TRACEDIFF": EXTENSION})

    def test_is_what_the_help_says(self):
        done = self.check()
        self.assertEqual((done.returncode, done.stderr), (0, ""), "run `make reference`")

    def test_of_another_version_is_found_out(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("reference.py", "REFERENCE.md"):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(read("sql", name).replace("us, test minus control", "us, control minus test"))
            done = self.check(folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("run `make reference`", done.stderr)

    def test_has_a_page_for_every_function(self):
        text = read("sql", "REFERENCE.md")
        for function, in connect().execute("SELECT name FROM tracediff_help"):
            self.assertIn(f"\n### {function}\n\n```text\n{function}, ", text)


class Queries(unittest.TestCase):
    """The files of sql/: their heads describe the functions, and running them alone gives the same."""

    PAIR = {side: os.path.join(ROOT, "examples", "gpu", side) for side in ("control", "test")}
    ARGUMENTS = {**PAIR, "trace": PAIR["test"], "operator_name": "aten::linear", "min_pattern_len": 1,
                 "max_queue_length": 2, "name": "NVIDIA H200"}
    TRACES = {"cupti_counters": os.path.join(ROOT, "examples", "counters")}
    SNAPSHOTS = {side: os.path.join(ROOT, "examples", "memory", f"training_{tokens}.pickle.gz")
                 for side, tokens in (("control", 128), ("test", 512))}

    def setUp(self):
        self.db = connect()
        self.files = {}
        for name, path in queries().items():
            with open(path, encoding="utf-8") as file:
                self.files[name] = file.read()

    def test_file_equals_function(self):
        for name, path in queries().items():
            text, = query_statements(path)
            parameters = dict.fromkeys(re.findall(r":([a-z_]+)", text))
            given = {key: value for key, value in self.ARGUMENTS.items() if key in parameters}
            if name in self.TRACES:
                given["trace"] = self.TRACES[name]
            if name in ("memory_diff", "memory_summary"):
                given.update(self.SNAPSHOTS)
            by_file = self.db.execute(text, {**parameters, **given})
            by_function = self.db.execute(
                f"SELECT * FROM {name} WHERE {' AND '.join(f'{key} = :{key}' for key in given)}", given)
            with self.subTest(name):
                self.assertEqual([column[0] for column in by_file.description],
                                 [column[0] for column in by_function.description])
                rows = by_file.fetchall()
                self.assertEqual(rows, by_function.fetchall())
                self.assertGreater(len(rows), 0)

    def test_having_follows_group_by(self):
        """SQLite before 3.39 refuses HAVING without GROUP BY. (`make sqlites` runs all queries there.)"""
        for path in sorted(glob.glob(os.path.join(ROOT, "sql", "*", "*.sql"))):
            with self.subTest(path):
                text = re.sub(r"--.*|'[^']*'", "", read(path))
                for before in re.split(r"\bHAVING\b", text)[:-1]:
                    last = before[max(before.rfind("SELECT"), before.rfind("GROUP BY")):]
                    self.assertTrue(last.startswith("GROUP BY"), last)

    # The help's names for the words of heads that say more than a type.
    TYPES = {"trace": "TEXT", "ranks": "any", "iterations": "any", "steps": "TEXT", "capture": "TEXT"}

    def test_head_is_the_manual(self):
        for name, text in self.files.items():
            head = text[:text.index("\n", text.rindex("\n--"))]
            head = re.sub(r"\n--        +", " ", head).splitlines()  # multi-line descriptions
            found = {"argument": [], "column": []}
            part = None
            for line in head[1:]:
                part = {"-- Parameters": "argument", "-- Columns": "column"}.get(line, part)
                entry = re.fullmatch(r"--   :?(\w+)"
                                     r" +(TEXT|INTEGER|REAL|any|0[|]1|INTEGER>=0|REAL>=0|REAL0[.][.]1|TEXT\[\]"
                                     r"|trace|ranks|ranks[|]job|ranks[|]worst|iterations|steps|capture)"
                                     r" +(required )?(.*)", line)
                part = part if entry or line in ("--", "-- Parameters", "-- Columns") else None
                if part and entry:
                    type_ = self.TYPES.get(entry[2].split("|")[0], entry[2])
                    found[part].append((entry[1], type_, entry[4].strip()))
            listed = {"argument": [], "column": []}
            for part, column, type_, text_ in self.db.execute(
                    "SELECT kind, name, coalesce(type, 'any'), description || coalesce('; default ' || default_value,"
                    " '')"
                    " FROM tracediff_columns(?)", (name,)):
                listed[part].append((column, type_, text_))
            with self.subTest(name):
                self.assertEqual(found, listed)
                self.assertEqual([column for column, _, _ in found["column"]],
                                 [row[1] for row in self.db.execute(f"PRAGMA table_info({name})")])
                self.assertRegex(text, "-- Grain: ")
                self.assertRegex(text, "-- (Rules:|Differs from HTA: |Order: )")


class Stories(unittest.TestCase):
    """The sessions of examples/ agree with their real traces."""

    def tell(self, name, control, test, *parts):
        told = shell(f".load ./dist/tracediff\n.parameter set :control \"'{control}'\"\n"
                     f".parameter set :test \"'{test}'\"\n.read examples/{name}.sql\n")
        self.assertNotRegex(told, r"(?m)^(Parse|Runtime)? ?[Ee]rror")
        for part in parts:
            self.assertRegex(told, part)
        return told

    NAMES = ("torch_compile", "dataloader_workers", "other_hardware")

    def test_say_where_their_traces_are(self):
        for name in self.NAMES:
            with open(os.path.join(ROOT, "examples", f"{name}.sql"), encoding="utf-8") as file:
                text = file.read()
            self.assertRegex(text, r"-- .*https://github\.com/\w")
            self.assertRegex(text, r"\(commit [0-9a-f]{7,}\)")

    @DRAWS
    def test_are_told_from_the_data(self):
        """The text depends on the data: with control and test swapped, the first sentence changes, and no other
        sentence stays except questions.
        """
        sides = [os.path.join(ROOT, "examples", "gpu", side) for side in ("control", "test")]
        for name in self.NAMES:
            with self.subTest(name):
                told, exchanged = ([line for line in self.tell(name, *pair).splitlines() if "│" not in line
                                    and "─" not in line]
                                   for pair in (sides, sides[::-1]))
                first, mirrored = (re.findall(r"[+-]?\d+\.\d", lines[0]) for lines in (told, exchanged))
                self.assertEqual(len(first), 3)
                self.assertEqual([mirrored[1], mirrored[0], -float(mirrored[2])], [first[0], first[1], float(first[2])])
                for line in set(told) & set(exchanged):
                    self.assertNotRegex(line, r"\d", name)

    @DRAWS
    def test_torch_compile(self):
        self.tell("torch_compile", corpus("hta", "trace_diff", "control"), corpus("hta", "trace_diff", "test"),
                  r"compute +│ 47.3 +│ 85.9 +│ 38.5 ", r"memory +│ 3.3 +│ 16.3 +│ 13.0 ",
                  r"idle_host +│ 7.5 +│ 0.1 +│ -7.4 ",
                  r"CompiledFunctionBackward +│ 0.0 +│ 28.3 ",
                  r"aten::copy_ +│ 67.0 +│ 865.0 +│ 17.1 +│ 74.0 +│ -56.8 ")

    @DRAWS
    def test_dataloader_workers(self):
        self.tell("dataloader_workers", corpus("kineto", "resnet50_workers_0"), corpus("kineto", "resnet50_workers_4"),
                  r"idle_host +│ 71.6 +│ 22.8 +│ -48.8 ", r"compute +│ 98.6 +│ 99.0 ", r"by \+5\.5 ms: alone")

    @DRAWS
    def test_other_hardware(self):
        folder = corpus("tracelens")
        self.tell("other_hardware", f"{folder}/h100/facebook_timesformer*", f"{folder}/mi300/facebook_timesformer*",
                  r"takes 382.5 ms in control and 390.7 ms in test, \+8.1 ms", r"compute +│ 154.9 +│ 118.8 +│ -36.1 ",
                  r"37632,64,8\]\] +│ 12.0 +│ 12.0 +│ 13.2 ")


class Hosts(unittest.TestCase):
    def test_python_example_runs(self):
        done = subprocess.run([sys.executable, os.path.join(ROOT, "examples", "host.py")], capture_output=True,
                              text=True, env={**os.environ, "TRACEDIFF": EXTENSION})
        self.assertEqual(done.stderr, "")
        self.assertEqual(len(done.stdout.splitlines()), 5)

    @DRAWS
    def test_demo_gives_the_answer(self):
        """The demo prints the lines of trace_summary, whose ms add up, and the changed kernels; no step counts as an
        operator.
        """
        with open(os.path.join(ROOT, "examples", "demo.sql"), encoding="utf-8") as file:
            printed = shell(f".load ./dist/tracediff\n{file.read()}")
        self.assertNotRegex(printed, r"[Ee]rror|ProfilerStep")
        self.assertLessEqual(max(map(len, printed.splitlines())), 120)
        difference, = map(float, re.findall(r"ms per step, ([+\d.]+) ms", printed))
        parts = [float(number) for number in re.findall(r"(?m)^ +([+-][\d.]+) ms", printed)]
        self.assertEqual(len(parts), 7)
        self.assertAlmostEqual(sum(parts), difference, delta=0.0005 * len(parts))
        for planted in ("nccl:all_reduce", "EmbeddingBackward0 (backward), only on rank 1", "AdamW.step is fused",
                        "aten::layer_norm", "aten::clone", "Memcpy DtoD"):
            self.assertIn(planted, printed)

    @RUNS
    def test_install_makes_the_bare_name_load(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["make", "-o", "all", "install", f"DESTDIR={folder}", f"DIST={os.path.dirname(EXTENSION)}"],
                           cwd=ROOT, check=True, capture_output=True, env={**os.environ, "LD_PRELOAD": ""})
            path = ":".join(filter(None, (f"{folder}/usr/local/lib", os.environ.get("LD_LIBRARY_PATH"))))
            done = subprocess.run(["sqlite3", ":memory:", ".load tracediff", "SELECT tracediff_version()"], text=True,
                                  capture_output=True, cwd="/", env={**os.environ, "LD_LIBRARY_PATH": path})
        self.assertRegex(done.stdout, r"^v\d+\.\d+\.\d+\n$", done.stderr)

    def test_generated_examples_are_current(self):
        for name in ("generate_gpu_pair.py", "generate_memory_pair.py"):
            done = subprocess.run([sys.executable, os.path.join(ROOT, "tests", "generators", name), "--check"],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
