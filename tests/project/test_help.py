"""tracediff_help and tracediff_columns describe the functions: one row each, with a question and a page, and one row
per argument and column.
"""
import os
import re
import sqlite3
import unittest

from support import ROOT, connect, queries
from test_documents import DRAWS, MARK, RUNS, shell


def registered(db):
    """(function, whether it is a table function) for all functions in SQLite."""
    return {(name, True) for name, in db.execute("SELECT name FROM pragma_module_list WHERE name NOT LIKE '%:%'")} \
        | {(name, False) for name, in db.execute("SELECT name FROM pragma_function_list")}


class InHelp(unittest.TestCase):
    def setUp(self):
        self.db = connect()
        self.addCleanup(self.db.close)

    def rows(self, sql, *values):
        return self.db.execute(sql, values).fetchall()


class Functions(InHelp):
    def test_are_those_of_the_extension_a_row_each(self):
        plain = sqlite3.connect(":memory:")
        ours = registered(self.db) - registered(plain)
        plain.close()
        listed = self.rows("SELECT name FROM tracediff_help")
        self.assertEqual(len(listed), len(ours))
        self.assertEqual({name for name, in listed}, {name for name, _ in ours})
        self.assertEqual(set(self.rows("SELECT DISTINCT function FROM tracediff_columns WHERE kind = 'column'")),
                         {(name,) for name, is_table in ours if is_table})

    def test_come_by_family_the_answer_first(self):
        """Functions are grouped by family, the answer first, with few enough families to read at a glance."""
        families = [family for family, in self.rows("SELECT family FROM tracediff_help")]
        pieces = [family for before, family in zip([None, *families], families) if family != before]
        self.assertEqual(len(pieces), len(set(pieces)))
        self.assertLessEqual(len(pieces), 13)
        self.assertEqual(self.rows("SELECT family, name FROM tracediff_help LIMIT 1"),
                         [("the answer", "trace_summary")])

    def test_answer_a_question_each(self):
        """Each function has its own question, short enough for a line of the shell's box."""
        questions = [question for question, in self.rows("SELECT question FROM tracediff_help")]
        self.assertEqual(len(set(questions)), len(questions))
        for question in questions:
            self.assertRegex(question, r"\A[A-Z].*[^ ]\?\Z")
            self.assertLessEqual(len(question), 60, question)

    def test_written_in_sql_are_the_files(self):
        """Functions written in SQL have the family and question of their files' heads."""
        listed = {name: (family, question) for name, family, question in
                  self.rows("SELECT name, family, question FROM tracediff_help WHERE written_in = 'SQL'")}
        self.assertEqual(set(listed), set(queries()))
        for name, path in queries().items():
            with open(path, encoding="utf-8") as file:
                head = [line for line in file if not line.startswith("--   ")]
            family, question = listed[name]
            self.assertEqual(head[1:3], [f"-- Family: {family}\n", f"-- Question: {question}\n"], name)
        self.assertEqual(self.rows("SELECT DISTINCT written_in FROM tracediff_help ORDER BY 1"), [("C",), ("SQL",)])

    def test_of_a_name(self):
        self.assertEqual(self.rows("SELECT * FROM tracediff_help(NULL)"), self.rows("SELECT * FROM tracediff_help"))
        for name in ("trace_diff", "trace_label"):
            self.assertEqual(self.rows("SELECT name FROM tracediff_help(?)", name), [(name,)])
        for function in ("tracediff_help", "tracediff_columns"):
            self.assertEqual(self.rows(f"SELECT * FROM {function}('TRACE_Diff')"),
                             self.rows(f"SELECT * FROM {function} WHERE about = 'trace_diff'"))

    def test_of_an_unknown_name(self):
        for function in ("tracediff_help", "tracediff_columns"):
            for name, said in (("trace_dif", "did you mean 'trace_diff'?"),
                               ("trace_step", "did you mean 'trace_steps'?"),
                               ("visualise_step_diff", "did you mean 'visualize_step_diff'?"),
                               ("idle_time", "did you mean 'idle_time_breakdown'?"),
                               ("zzz", "SELECT name FROM tracediff_help lists them"),
                               ("", "SELECT name FROM tracediff_help lists them")):
                with self.assertRaises(sqlite3.OperationalError) as raised:
                    self.rows(f"SELECT * FROM {function}(?)", name)
                self.assertEqual(str(raised.exception), f"{function}: there is no function '{name}'; {said}")
            for value, shown in ((5, "5"), (b"x", "X'78'"), (1.5, "1.5")):
                with self.assertRaises(sqlite3.OperationalError) as raised:
                    self.rows(f"SELECT * FROM {function}(?)", value)
                self.assertEqual(str(raised.exception),
                                 f"{function}: about must be the name of a function, not {shown}")


class Pages(InHelp):
    """The hidden column text has a page."""

    def pages(self):
        return self.rows("SELECT name, text FROM tracediff_help")

    def items(self, function, kind):
        return self.rows("SELECT name, type, required, default_value, description FROM tracediff_columns(?)"
                         " WHERE kind = ?", function, kind)

    def test_are_left_out_by_an_asterisk(self):
        self.assertEqual([column[0] for column in self.db.execute("SELECT * FROM tracediff_help").description],
                         ["family", "question", "name", "written_in"])
        (page,), = self.rows("SELECT text FROM tracediff_help('trace_diff')")
        self.assertEqual(self.rows("SELECT text FROM tracediff_help WHERE name = 'trace_diff'"), [(page,)])
        self.assertEqual(self.rows("SELECT name FROM tracediff_help WHERE text = ?", page), [("trace_diff",)])
        self.assertEqual(self.rows("SELECT name FROM tracediff_help WHERE text LIKE '%critical_path(trace%'"),
                         [("critical_path",)])

    @RUNS
    def test_are_printed_by_the_shell_without_empty_lines(self):
        for about in ("", "('trace_diff')"):
            printed = shell(f".load ./dist/tracediff\nSELECT text FROM tracediff_help{about};\n")
            self.assertRegex(printed, r"(?m)^trace_diff, table function: ")
            self.assertEqual([line for line in printed.splitlines() if not line.strip()], [])
        self.assertEqual(printed, self.rows("SELECT text FROM tracediff_help('trace_diff')")[0][0] + "\n")

    @staticmethod
    def arguments_of(called):
        """(whether it is in brackets, name) for each argument between the parentheses of a usage."""
        inside = False
        for mark, name in re.findall(r"([\[\]])|(\w+)", called):
            inside = mark == "[" if mark else inside
            if name:
                yield inside, name

    def test_say_what_the_lists_say(self):
        for function, page in self.pages():
            whole = " ".join(page.split())
            with self.subTest(function):
                self.assertLessEqual(max(map(len, page.splitlines())), 116)
                for kind, heading in (("argument", "Arguments:"), ("column", "Columns:")):
                    listed = self.items(function, kind)
                    self.assertEqual(f"\n{heading}\n" in page, bool(listed))
                    names = re.findall(r"(?m)^  (\w+) ", page.split(f"\n{heading}\n")[1]) if listed else []
                    self.assertEqual(names[:len(listed)], [name for name, *_ in listed])
                    for name, type_, required, value, text in listed:
                        text = ("required; " if required else "") + text + (f"; default {value}" if value else "")
                        self.assertIn(f"{name} {type_ or 'any'} {' '.join(text.split())}", whole)
                usage, = re.findall(rf"(?s)\n  SELECT (?:\* FROM )?{function}\((.*?)\)(?=\n\S)", page)
                self.assertEqual([(name, not bracket) for bracket, name in self.arguments_of(usage)],
                                 [(name, bool(required))
                                  for name, _, required, _, _ in self.items(function, "argument")])

    def test_name_the_file_of_a_query(self):
        for function, page in self.pages():
            path = queries().get(function)
            self.assertEqual(re.findall(r"(?m)^Source, with its rules: (.*)$", page),
                             [os.path.relpath(path, ROOT).replace(os.sep, "/")] if path else [])

    @DRAWS
    def test_end_in_an_example_that_runs_and_fits_a_terminal(self):
        """Each page ends with an example that runs and fits a terminal; its columns are named, and no number has
        meaningless digits.
        """
        os.makedirs(os.path.join(ROOT, "build"), exist_ok=True)
        examples = {function: page.split("\nExample, in the directory of tracediff:\n")[1]
                    for function, page in self.pages()}
        script = "".join(f"{sql}\n.print {MARK}\n" for sql in examples.values())
        printed = shell(f".load ./dist/tracediff\n.mode box\n{script}").split(MARK + "\n")
        self.assertEqual(len(printed), len(examples) + 1)
        for (function, sql), table in zip(examples.items(), printed):
            with self.subTest(function):
                self.assertRegex(sql, rf"\b{function}\(")
                lines = table.splitlines()
                self.assertGreaterEqual(len(lines), 5, table)  # a row
                self.assertNotRegex(table, r"[Ee]rror")
                self.assertLessEqual(max(map(len, lines)), 120)
                self.assertNotRegex(lines[1], r"[(*]")
                self.assertNotRegex(table, r"\d\.\d{6}")


class Columns(InHelp):
    """Arguments and columns have one row each."""

    def test_are_those_of_the_tables(self):
        for function, in self.rows("SELECT DISTINCT function FROM tracediff_columns WHERE kind = 'column'"):
            found = {"argument": [], "column": []}
            for name, type_, hidden in self.rows(
                    "SELECT name, type, hidden FROM pragma_table_xinfo(?) ORDER BY cid", function):
                hidden = hidden and (function, name) != ("tracediff_help", "text")
                found["argument" if hidden else "column"].append((name, type_))
            with self.subTest(function):
                for kind, listed in found.items():
                    rows = self.rows("SELECT position, name, coalesce(type, '') FROM tracediff_columns(?)"
                                     " WHERE kind = ?", function, kind)
                    self.assertEqual([position for position, *_ in rows], list(range(1, len(rows) + 1)))
                    self.assertEqual([name for _, name, _ in rows], [name for name, _ in listed])
                    if kind == "column":
                        self.assertEqual([type_ for *_, type_ in rows], [type_ for _, type_ in listed])

    def test_are_in_the_order_of_the_help(self):
        order = [name for name, in self.rows("SELECT name FROM tracediff_help")]
        found = [name for name, in self.rows("SELECT function FROM tracediff_columns")]
        self.assertEqual([name for name in order if name in found], list(dict.fromkeys(found)))

    def test_are_described(self):
        self.assertEqual(self.rows("SELECT function, name FROM tracediff_columns"
                                   " WHERE coalesce(description, '') = ''"), [])

    def test_say_rules_in_words(self):
        """Help describes rules in words: codes such as T9 are for documents and comments, because a shell user cannot
        follow them.
        """
        texts = self.rows("SELECT name, text FROM tracediff_help") \
            + self.rows("SELECT name, question FROM tracediff_help") \
            + self.rows("SELECT function || '.' || name, description FROM tracediff_columns")
        found = {(name, code) for name, text in texts
                 for code in re.findall(r"\b[A-Z]\d{1,2}(?:\.\d+)?\b", text)}
        self.assertEqual(found, set())

    def test_of_optional_arguments_the_default_is_known(self):
        """The default of each optional argument is known, unless it equals the previous argument, of the other side."""
        self.assertEqual(self.rows(
            "SELECT function, name FROM tracediff_columns WHERE kind = 'argument' AND NOT required"
            " AND default_value IS NULL AND description NOT LIKE 'the same %'"
            " AND function IN (SELECT function FROM tracediff_columns WHERE kind = 'column')"), [])
        self.assertEqual(self.rows(
            "SELECT default_value, description FROM tracediff_columns('time_spent_blocked_on_full_queue')"
            " WHERE name = 'max_queue_length'"), [("1024", "launches that a queue takes")])
        self.assertEqual(self.rows("SELECT function, name, description FROM tracediff_columns"
                                   " WHERE kind = 'argument' AND description LIKE '%default%'"), [])

    def test_only_arguments_can_be_required_or_have_a_default(self):
        self.assertEqual(self.rows("SELECT DISTINCT kind, required IS NULL FROM tracediff_columns ORDER BY 1"),
                         [("argument", 0), ("column", 1)])
        self.assertEqual(self.rows("SELECT * FROM tracediff_columns"
                                   " WHERE default_value <> '' AND (kind = 'column' OR required)"), [])


if __name__ == "__main__":
    unittest.main()
