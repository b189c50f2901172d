"""Patterns of sql/patterns on facts made by hand (DG1): the rows of facts.sql's tables that make a pattern match, and a
change of one row that stops it. Each number in a pattern has cases on both sides: Asking.survivors changes the numbers
one at a time, and finds the changes that no case detects.
"""
import glob
import hashlib
import json
import os
import re
import sqlite3

from made import InFolder, write

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAIR = {"control_ms": 10, "test_ms": 10, "gap": 0, "control_steps": 3, "test_steps": 3, "strata": 1, "is_job": 0,
        "control_of_host": 0, "test_of_host": 0, "of_host": 0, "is_clear": 1, "is_sure": 1, "other_device": 0,
        "control_left_out": 0, "test_left_out": 0, "control_rank": None, "test_rank": None, "alike": 1, "within": 1,
        "even": 1}
CAUSE = {"kind": "changed", "class": "host", "area": None, "name": None, "added": 0, "removed": 0, "control_time": 0,
         "test_time": 1000, "diff_time": 1000, "rank": None, "text": "a cause", "is_again": 0}
COLUMNS = {"op": "name, c, t, ct, tt", "host": "area, top_op, name, c, t", "stream": "name, type, stream, c, t, ct, tt",
           "kernel": "top_op, op, name, type, shapes, types, c, t, ct, tt", "clock": "rank, outcome, factor",
           "launched": "name, shapes, types, c, t, ct, tt, size, dims", "cause_op": "id, name",
           "note": "topic, item, control_value, test_value, same"}
COUNTED = "c = t, t = c, ct = tt, tt = ct"
SWAP = [*(f"UPDATE {table} SET {COUNTED}" for table in ("op", "launched", "kernel", "stream")),
        "UPDATE host SET c = t, t = c", "UPDATE clock SET factor = 1 / factor",
        "UPDATE cause SET added = removed, removed = added, control_time = test_time, test_time = control_time,"
        " diff_time = -diff_time", "UPDATE note SET control_value = test_value, test_value = control_value",
        "UPDATE pair SET gap = -gap, " + ", ".join(
            f"{side}_{column} = {other}_{column}" for side, other in (("control", "test"), ("test", "control"))
            for column in ("ms", "steps", "of_host", "left_out", "rank"))]
REAL = [*(f"UPDATE {table} SET c = 1.0 * c, t = 1.0 * t, ct = 1.0 * ct, tt = 1.0 * tt"
          for table in ("op", "launched", "kernel", "stream")), "UPDATE host SET c = 1.0 * c, t = 1.0 * t",
        "UPDATE launched SET size = 1.0 * size",
        "UPDATE cause SET control_time = 1.0 * control_time, test_time = 1.0 * test_time, diff_time = 1.0 * diff_time",
        "UPDATE pair SET control_ms = 1.0 * control_ms, test_ms = 1.0 * test_ms, gap = 1.0 * gap"]
OTHER = {f"{side}{of}": f"{other}{of}" for side, other in (("control", "test"), ("test", "control"))
         for of in ("", "_rank", "_iteration")}
SILENT = None
ANY = object()
TOKEN = re.compile(r"--[^\n]*|'\$[^']*\[\d+\]'|'(?:[^']|'')*'|(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
PLACE = re.compile(r"GROUP BY (?:\d, )*$")  # for a column
UNREAD = re.compile(r"SELECT \d+\s+FROM")


class Said:
    """The expected result of a pattern: a sentence, a part of the advice (None: none) and the causes that it covers;
    ANY for each that does not matter.
    """

    def __init__(self, sentence=ANY, advice=ANY, owns=ANY):
        self.sentence, self.advice, self.owns = sentence, advice, owns

    def fits(self, rows):
        sentences, advice = {row[0] for row in rows}, rows and rows[0][1]
        return (bool(rows) if self.sentence is ANY else sentences == {self.sentence}) and (
            self.advice is ANY or (advice is None) == (self.advice is None) and (self.advice or "") in (advice or "")
        ) and (self.owns is ANY or sorted({row[2] for row in rows if row[2]}) == self.owns)


def said(of):
    """A sentence, or the causes."""
    return of if isinstance(of, Said) else Said(of) if isinstance(of, str) else Said(owns=of) if isinstance(
        of, list) else Said()


class Case:
    """Facts, the pattern's result for them, its result for the swapped pair, and changes with their results.

    A change is SQL without UPDATE, facts that replace others, or traces, for patterns that call functions. A result is
    SILENT, ANY, a sentence, a list of causes, Said, or two of these, for the pair and the swapped one. A single result
    applies to the pair; the swapped one may then have any result, or none after SILENT. given: arguments of the call.
    """

    def __init__(self, forward, back, changes, traces=None, given=(), **facts):
        self.forward, self.back, self.changes, self.traces, self.facts = forward, back, changes, traces, facts
        self.given = dict(given)

    def asked(self):
        """(change, facts, SQL, traces, whether swapped, expected result)"""
        changes = [("", (self.forward, self.back)),
                   *(self.changes.items() if isinstance(self.changes, dict) else self.changes)]
        for number, (change, expected) in enumerate(changes):
            facts = {**self.facts, **change} if isinstance(change, dict) else self.facts
            traces = change if isinstance(change, tuple) else self.traces
            sql = change if isinstance(change, str) else ""
            both = expected if isinstance(expected, tuple) else (expected, expected and ANY)
            for back, each in enumerate(both):
                yield sql or number, facts, sql, traces, bool(back), SILENT if each is SILENT else said(each)


def changed(number):
    """A tenth less and more, for an integer at least one."""
    if "." in number:
        return [repr(float(number) * factor) for factor in (0.9, 1.1)]
    step = max(1, round(int(number) / 10))
    return [str(int(number) - step), str(int(number) + step)]


def numbers(text):
    """(start, end, number) for the numbers of a query, except column positions, the 1 of SELECT 1 FROM, and numbers in
    texts other than JSON paths.
    """
    for found in TOKEN.finditer(text):
        if found[0].startswith("'$"):
            yield from ((found.start() + each.start(1), found.start() + each.end(1), each[1])
                        for each in re.finditer(r"\[(\d+)\]", found[0]))
        elif found[0][0].isdigit() and not (PLACE.search(text[:found.start()])
                                            or UNREAD.match(text, max(0, found.start() - 7))):
            yield found.start(), found.end(), found[0]


class Asking(InFolder):
    """Runs the patterns of a folder of sql/patterns. CASES: {name: Case or a list of them}; EQUAL: {name: {a part of a
    line of its query: why another number there changes no answer}}
    """

    FOLDER, CASES, EQUAL = None, {}, {}

    def setUp(self):
        super().setUp()
        self.db.isolation_level = None
        self.texts = {}
        for folder in ("diagnoses", os.path.join("patterns", self.FOLDER)):
            for path in glob.glob(os.path.join(ROOT, "sql", folder, "*.sql")):
                with open(path, encoding="utf-8") as file:
                    self.texts[os.path.basename(path)[:-4]] = file.read()

    def fill(self, facts):
        for table, rows in facts.items():
            if table == "pair":
                continue
            for place, row in enumerate(rows, 1):
                if table == "cause":
                    row = {"id": place, **CAUSE, **row}
                    names, values = ", ".join(row), tuple(row.values())
                else:
                    names, values = COLUMNS[table], row
                if table == "op":  # without times, ms equal executions
                    values = row if len(row) == 5 else (*row, row[1] * 1000, row[2] * 1000)
                    names, values = names + ", device", (*values, "CPU")
                if table == "launched":
                    names, values = names + ", id0, id1, id2, id3", (*values, 0, place, 0, 0)
                self.db.execute(f"INSERT INTO {table}({names}) VALUES ({', '.join('?' * len(values))})", values)

    def run_all(self, name):
        for statement in re.sub(r"--[^\n]*", "", self.texts[name]).split(";"):
            self.db.execute(statement)

    def open(self, facts, sql, back):
        """Creates the tables in a transaction."""
        self.run_all("facts")
        pair = {**PAIR, **facts.get("pair", {})}
        self.db.execute(f"INSERT INTO pair({', '.join(pair)}) VALUES ({', '.join('?' * len(pair))})",
                        tuple(pair.values()))
        self.fill(facts)
        for statement in filter(None, sql.split("; ")):
            self.db.execute(statement if statement.startswith(("INSERT", "DELETE")) else "UPDATE " + statement)
        for statement in REAL + SWAP * back:
            self.db.execute(statement)
        self.assertEqual(self.rows("SELECT name FROM op WHERE name <> trace_stable_name(name)"), [])
        alike = self.rows("SELECT alike, within, even FROM pair")[0]
        self.run_all("derived")
        self.db.execute("UPDATE pair SET alike = ?, within = ?, even = ?", alike)

    def arguments(self, traces, given, back):
        """The arguments of the call. A trace is a document or, for a job, a list of them."""
        made = []
        for trace in traces or ():
            text = json.dumps(trace)
            path = hashlib.md5(text.encode()).hexdigest()
            if isinstance(trace, list):
                for rank, each in enumerate(trace):
                    write(f"{path}/rank{rank}.json", each)
            elif not os.path.exists(path + ".json"):
                write(path + ".json", text)
            made.append(path if isinstance(trace, list) else path + ".json")
        control, test = made or (None, None)
        found = {"control": control, "test": test, **dict.fromkeys((
            "control_rank", "test_rank", "control_iteration", "test_iteration", "clock", "steps")), **given}
        return {key: found[OTHER.get(key, key)] for key in found} if back else found

    def questions(self, name):
        """Opens the facts of each query of a pattern, one after another: (change, arguments, expected result)."""
        cases = self.CASES[name]
        for case in cases if isinstance(cases, list) else [cases]:
            for change, facts, sql, traces, back, expected in case.asked():
                self.open(facts, sql, back)
                yield (change, "swapped" if back else ""), self.arguments(traces, case.given, back), expected
                self.db.execute("ROLLBACK")

    def said(self, text, given):
        return [row for row in self.db.execute(text, given) if row[0] is not None]

    def survivors(self, name):
        """The changes of a pattern's numbers that no case detects."""
        text = self.texts[name]
        left = {(text[:start].count("\n") + 1, start, number, value): text[:start] + value + text[end:]
                for start, end, number in numbers(text) for value in changed(number)}
        for _, given, expected in self.questions(name):
            for key in list(left):
                try:
                    rows = self.said(left[key], given)
                    noticed = bool(rows) if expected is SILENT else not expected.fits(rows)
                except sqlite3.Error:
                    noticed = True
                if noticed:
                    del left[key]
        return [f"{text.splitlines()[line - 1].strip()}: {number} -> {value}"
                for line, _, number, value in left]

    def check(self):
        """Asserts that each pattern has cases, and a near miss."""
        self.assertEqual({*self.CASES, "facts", "derived"}, set(self.texts))
        for name in self.CASES:
            near = 0
            for change, given, expected in self.questions(name):
                with self.subTest(name, change=change):
                    rows = self.said(self.texts[name], given)
                    if expected is SILENT:
                        near += 1
                        self.assertEqual(rows, [])
                    else:
                        self.assertTrue(expected.fits(rows), (rows, vars(expected)))
            self.assertGreater(near, 0, name)

    def check_numbers(self):
        """Asserts that a case detects each change, except for EQUAL."""
        for name in self.CASES:
            left = self.survivors(name)
            with self.subTest(name):
                equal = self.EQUAL.get(name, {})
                self.assertEqual([line for line in left if not any(part in line for part in equal)], [])
                self.assertEqual([part for part in equal if not any(part in line for line in left)], [])
