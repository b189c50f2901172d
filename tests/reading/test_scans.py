"""Scans of trace_events: with any filters and orders during reading, the rows equal those that SQLite itself would
choose and sort. The reference is the same query on plain tables without an index, with the same declared types, filled
beforehand with everything: `copy_x` stands for the call in SOURCES, and `copies` for trace_events without arguments.
Operators, affinities and collations are SQLite's own on both sides.

    SEED    begins another series of generated queries (default 1); a failure gives the number of its query
    SLACK   multiplies the time limits                 (default 1)
"""
import math
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter

from made import ABSENT, InFolder, document, event, step, write
from support import ROOT, alone, connect, slowest

SEED = os.environ.get("SEED") or "1"
SLACK = float(os.environ.get("SLACK") or 1)
FIRST, MORE = range(150), range(150, 10000)  # for the random queries
DISTINCT = sqlite3.sqlite_version_info >= (3, 52)

SOURCES = {"copy_a": "trace_events('a')", "copy_all": "trace_events('a', NULL, NULL, 'all')",
           "copy_odd": "trace_events('odd', NULL, NULL, 'all')", "copy_base": "base"}
USED = ("rank", "iteration", "device", "cat", "name", "stream", "ph", "event", "ts")  # columns with terms that are used
SERVED = ("ts", "dur", "name")  # columns of orders that are provided

NAMES = ("op1", "op1", "OP1", "Op1", "op1 ", "op1  ", " op1", "op2", "op", "", " ", "7", "07", "7.0", " 7 ", "0.5",
         "1.0e+300", "1e300", "9223372036854775807", "\u00e9", "\u00c9", "\u0170op1", "\uff4f", "\U0001f600",
         "op\0x", "NULL", "cpu_op", 5, None, ABSENT)
CATEGORIES = ("cpu_op", "cpu_op", "CPU_OP", "cpu_op ", "kernel", "kernel", "gpu_memcpy", "cuda_runtime", "cuda_runtime",
              "gpu_user_annotation", "Trace", "7", "07", "op1", "", ABSENT)
STARTS = (0, 1, 2, 2, 2.5, 2.5, 7, 10, 10, 0.001, 12.345, "12.345", 25, 30, 35.5, 42, 100.0005, -3, -0.25, "x", ABSENT)
LENGTHS = (0, 1, 1, 2, 5, 5, 0.001, 7, 7.5, "3.5", 12.345, -1, None, ABSENT)
THREADS = (1, 1, 1, "1", 7, "7", "007", 1.5, "stream 7", ABSENT)
LARGE = 2 ** 63 - 1024  # also a REAL
STREAMS = (0, 7, 7, -1, 2 ** 32 + 7, LARGE, -LARGE, "7", None, ABSENT)
# In nanoseconds above 53 bits, where several times are one REAL, and their difference exceeds 64.
FAR = ("9007199254740.992", "9007199254740.993", "9007199254740.994", "9223372036854775.5", "-9223372036854775.5",
       "-9007199254740.993", 0, 0.001, 1234.567, "9.2e15", "-9.2e15", 4e15)
COARSE = (0, "5000000000000000.3", "5000000000000000.4", "4999999999999999.7", "5000000000000001", "5000000000000001.2")

ANYTHING = (None, None, 0, 1, -1, 7, 0.0, -0.0, 0.5, 7.0, 9e18, -9e18, 2 ** 63 - 1, -2 ** 63, 2.0 ** 63, 1e300, -1e300,
            math.inf, -math.inf, 2 ** 32, 2 ** 32 + 7, "", " ", "7", " 7 ", "7.0", "0x7", "1e300", "op1", "no such",
            "X", "CPU", "op%", "OP_", "op*", "7%", b"", b"7", b"op1")
COMPARED = ("{c} = {o}", "{c} == {o}", "{o} = {c}", "{c} <> {o}", "{c} != {o}", "{c} < {o}", "{c} <= {o}", "{c} > {o}",
            "{c} >= {o}", "{o} < {c}", "{o} >= {c}", "{c} IS {o}", "{c} IS NOT {o}", "{c} IS NULL", "{c} IS NOT NULL",
            "{c} IN ({o})", "{c} IN ({o}, {p}, {q})", "{c} IN ()", "{c} NOT IN ({o}, {p})", "{c} IN (SELECT {o})",
            "{c} IN (SELECT v FROM {t})", "{c} NOT IN (SELECT v FROM {t} WHERE v IS NOT NULL)",
            "{c} BETWEEN {o} AND {p}", "{c} NOT BETWEEN {o} AND {p}", "{c} LIKE {o}", "{c} GLOB {o}", "{c}",
            "{c} = {d}", "({c}, {d}) = ({o}, {p})", "({c}, {d}) > ({o}, {p})", "({c}, {d}) <= ({o}, {p})",
            "({c}, {d}) IN (VALUES ({o}, {p}), ({q}, {p}))")

# {s}, {u}: sources; {w}: WHERE; {x}, {y}: terms on e, f; {t}: a table of operands; {c}, {d}: columns; {op}: an operator
GROUPED = (  # query, its order, the places of the columns that order it
    *[(f"SELECT e.name, count(*), min(e.ts), max(e.dur) FROM {{s}} AS e {{w}} GROUP BY e.name {more}", order, places)
      for more in ("", "HAVING count(*) > 1", "HAVING max(e.ts) > 7")
      for order, places in (("", ()), ("ORDER BY e.name", (0,)), ("ORDER BY e.name DESC", (0,)),
                            ("ORDER BY e.name DESC NULLS FIRST", (0,)), ("ORDER BY 2 DESC, 1", (1, 0)))],
    *[(f"SELECT DISTINCT e.{column} FROM {{s}} AS e {{w}}", order.format(column), (0,) * bool(order))
      for column in ("name", "ts", "dur", "cat") for order in ("", "ORDER BY e.{}", "ORDER BY e.{} DESC")],
    ("SELECT e.name, e.cat, count(*) FROM {s} AS e {w} GROUP BY e.name, e.cat", "ORDER BY e.name DESC", (0,)),
    ("SELECT DISTINCT e.name, e.ts FROM {s} AS e {w}", "ORDER BY e.ts", (1,)),
    ("SELECT DISTINCT e.name, e.cat FROM {s} AS e {w}", "", ()),
    ("SELECT DISTINCT e.name FROM {s} AS e {w}", "ORDER BY e.ts IS NULL", ()),
    ("SELECT e.ts, count(*) FROM {s} AS e {w} GROUP BY e.ts", "ORDER BY e.ts DESC", (0,)),
    ("SELECT e.{c}, count(*) FROM {s} AS e {w} GROUP BY e.{c}", "ORDER BY e.{c}", (0,)),
    ("SELECT lower(e.name), count(*) FROM {s} AS e {w} GROUP BY e.name COLLATE NOCASE", "", ()),
    ("SELECT count(*) FROM (SELECT DISTINCT e.name COLLATE RTRIM FROM {s} AS e {w})", "", ()),
    ("SELECT count(*), count(e.name), count(DISTINCT e.name), count(DISTINCT e.ts) FROM {s} AS e {w}", "", ()),
    *[(f"SELECT {value} FROM {{s}} AS e {{w}}", "", ())
      for value in ("min(e.ts)", "max(e.ts)", "min(e.dur)", "max(e.dur)", "min(e.name)", "max(e.name)", "min(e.{c})",
                    "min(e.ts), max(e.ts)", "min(e.name COLLATE NOCASE) = 'op1'", "max(e.event), count(*)")],
    ("SELECT e.name, (SELECT count(*) FROM {u} AS f WHERE f.name = e.name AND {y}) FROM {s} AS e {w} GROUP BY e.name",
     "ORDER BY e.name DESC", (0,)))
JOINED = (
    "SELECT e.event, f.event, e.file FROM {s} AS e JOIN {s} AS f ON f.event = e.link AND f.file = e.file {w}",
    "SELECT e.event, f.rowid FROM {s} AS e LEFT JOIN {u} AS f ON f.event = e.link AND f.file = e.file AND {y} {w}",
    "SELECT e.event, count(f.event), max(f.ts) FROM {s} AS e, {u} AS f WHERE {x} AND {y} AND f.ts >= e.ts"
    " AND f.ts < e.ts + e.dur GROUP BY e.rowid",
    "SELECT e.event, count(*) FROM {s} AS e CROSS JOIN {u} AS f WHERE {x} AND f.{c} {op} e.{d} GROUP BY e.rowid",
    "SELECT w.rowid, e.rowid, e.{c} FROM {t} AS w JOIN {s} AS e ON e.{c} {op} w.v {w}",
    "SELECT w.rowid, e.rowid, e.{c} FROM {t} AS w CROSS JOIN {s} AS e ON w.v {op} e.{c} AND {x}",
    "SELECT w.rowid, e.rowid FROM {t} AS w CROSS JOIN {s} AS e WHERE e.ts BETWEEN w.v AND w.v + 5",
    "SELECT w.rowid, e.rowid, e.name FROM {t} AS w LEFT JOIN {s} AS e ON e.{c} = w.v AND {x}",
    "SELECT v.column1, e.rowid FROM (VALUES ('op1'), ('op1'), ('7'), (7), (NULL), ('OP1')) AS v"
    " JOIN {s} AS e ON e.name = v.column1 {w}",
    "SELECT w.rowid, w.v, (SELECT max(e.ts) FROM {s} AS e WHERE e.{c} = w.v AND {x}) FROM {t} AS w",
    "SELECT w.rowid, (SELECT e.dur FROM {s} AS e WHERE e.{c} = w.v ORDER BY e.dur DESC LIMIT 1) FROM {t} AS w",
    "SELECT w.rowid FROM {t} AS w WHERE EXISTS (SELECT 1 FROM {s} AS e WHERE e.{c} {op} w.v AND {x})",
    "SELECT e.rowid, e.{c} FROM {s} AS e WHERE e.name IN (SELECT f.name FROM {u} AS f WHERE {y}) AND {x}",
    "SELECT e.rowid, e.{c} FROM {s} AS e WHERE e.{c} NOT IN (SELECT f.{c} FROM {u} AS f WHERE {y} AND f.{c} NOTNULL)",
    "SELECT e.rowid FROM {s} AS e WHERE e.ts = (SELECT min(f.ts) FROM {u} AS f WHERE {y})",
    "SELECT e.name, e.ts FROM {s} AS e {w} UNION SELECT f.name, f.ts FROM {u} AS f WHERE {y}",
    "SELECT e.name FROM {s} AS e {w} UNION ALL SELECT f.name FROM {u} AS f WHERE {y}",
    "SELECT e.name, e.{c} FROM {s} AS e {w} EXCEPT SELECT f.name, f.{c} FROM {u} AS f WHERE {y}",
    "SELECT e.{c} FROM {s} AS e {w} INTERSECT SELECT f.{d} FROM {u} AS f WHERE {y}",
    "SELECT e.ts, row_number() OVER (ORDER BY e.ts) FROM {s} AS e {w}",
    "SELECT e.dur, row_number() OVER (ORDER BY e.dur DESC) FROM {s} AS e {w}",
    "SELECT e.rowid, rank() OVER (PARTITION BY e.name ORDER BY e.ts DESC), lag(e.ts) OVER (ORDER BY e.ts) IS NULL AND 0"
    " FROM {s} AS e {w}",
    "SELECT e.name, count(*) OVER (PARTITION BY e.name) FROM {s} AS e {w}",
    "WITH x AS (SELECT * FROM {s} AS e {w}) SELECT name, count(*) FROM x GROUP BY name",
    "SELECT x.name FROM (SELECT * FROM {s} AS e {w} ORDER BY e.ts DESC) AS x WHERE x.ts > 2")
NAMED = (  # arguments by name
    "e.trace = 'a' AND e.phases IS NULL AND {x}",
    "e.trace IN ('a', 'odd') AND e.phases = 'all' AND {x}",
    "((e.trace = 'a' AND e.phases IS NULL) OR (e.trace = 'odd' AND e.phases = 'all')) AND {x}",
    "e.trace = 'odd' AND e.phases = 'all' AND e.{c} IN (SELECT v FROM {t})",
    "e.trace = 'a' AND e.phases = 'all' AND e.trace > '' AND {x}")


def trace(rng, count, starts=STARTS, phases="XXXXXXXXBBEEiIMCsf", **keys):
    """A trace with this many random events, and five steps."""
    made = [step(0, 0, 10), step(7, 10, 20), step(2 ** 31, 30, 5), step(2 ** 32 + 7, 35, 5), step(LARGE, 40, 5)]
    for _ in range(count):
        arguments = {"stream": rng.choice(STREAMS), "correlation": rng.choice((ABSENT, 0, 1, 2, 3, 4, 5))}
        made.append(event(rng.choice(NAMES), rng.choice(starts), rng.choice(LENGTHS), cat=rng.choice(CATEGORIES),
                          ph=rng.choice(phases), pid=rng.choice((1, 1, THREADS[3])), tid=rng.choice(THREADS),
                          args={key: value for key, value in arguments.items() if value is not ABSENT}))
    rng.shuffle(made)
    return document(*made, **keys)


def near(value):
    """Operands around a value of a column: the value, its neighbours, and the same in other types and notations."""
    if value is None:
        return []
    if isinstance(value, str):
        return [value, value, value.swapcase(), value + " ", " " + value, value[:-1], value[:2] + "%", value[:1] + "*",
                value.encode()] + ([float(value)] if re.fullmatch(r" *[0-9.e+]*[0-9] *", value) else [])
    made = [value, value, float(value), math.trunc(value), str(value), f" {value} ", f"0{value}", f"{value}.0",
            f"{value}x", str(value).encode(), value + 0.5, value + 1, -value, value + 2 ** 32,
            math.nextafter(value, math.inf), math.nextafter(value, -math.inf)]
    return [float(one) if isinstance(one, int) and abs(one) >= 2 ** 63 else one for one in made]


def literal(value):
    """A value in SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return repr(value).replace("inf", "9e999")


class Traces(InFolder):
    """Traces of several files and ranks, and copies of their content as plain tables."""

    encoding = "UTF-8"

    def setUp(self):
        super().setUp()
        self.db.execute(f"PRAGMA encoding = '{self.encoding}'")
        rng = random.Random(SEED)
        for name in ("rank0", "rank1_first", "rank1_second", "rank12"):
            write(f"a/{name}.json", trace(rng, 30))
        write("a/elsewhere.json", trace(rng, 10, distributedInfo={"rank": 2 ** 32 + 1}))
        write("a/rank3.json", document())
        write("a/rank4.json", trace(rng, 10, starts=(ABSENT,), phases="iM"))
        write("odd/rank0.json", trace(rng, 25, starts=FAR))
        write("odd/rank7.json", trace(rng, 25, baseTimeNanoseconds=1700000000000000123))
        write("odd/elsewhere.json", trace(rng, 15, starts=COARSE, distributedInfo={"rank": LARGE}))
        self.db.execute("CREATE VIRTUAL TABLE temp.base USING trace_events('odd', NULL, NULL, 'Xi')")
        declared = self.rows("SELECT name, type, hidden FROM pragma_table_xinfo('trace_events')")
        self.columns = [name for name, _, hidden in declared if not hidden]
        names = ", ".join(name for name, _, _ in declared)
        types = ", ".join(f"{name} {kind}" for name, kind, _ in declared)
        self.db.execute(f"CREATE TEMP TABLE copies({types})")
        for copy, source in SOURCES.items():
            self.db.execute(f"CREATE TEMP TABLE {copy}({types})")
            self.db.execute(f"INSERT INTO {copy}(rowid, {names}) SELECT rowid, {names} FROM {source}")
            if source != "base":
                self.db.execute(f"INSERT INTO copies(rowid, {names}) SELECT rowid, * FROM {copy}")
        self.values = {name: [value for value, in self.rows(f"SELECT DISTINCT {name} FROM copies")]
                       for name in ("rowid", *self.columns)}
        for number, kind in enumerate(("", "TEXT", "INTEGER", "REAL")):
            operands = [rng.choice(near(rng.choice(self.values[column])) or ANYTHING) for column in (*USED, "dur")]
            self.db.execute(f"CREATE TEMP TABLE operands{number}(v {kind})")
            for value in operands + rng.sample(ANYTHING, 12) + ["op1", "7", "07", 7, 2.5]:
                self.db.execute(f"INSERT INTO operands{number} VALUES (?)", (value,))

    def differences(self, query, order="", limit="", places=(), values=()):
        """Faults in the rows of a query, or ''. `places` has the columns that order the rows. Where a limit allows a
        choice, rows must be among those without it.
        """
        on_copies = f"{query} {order} {limit}"
        sql = re.sub(r"\bcop(y_[a-z]+|ies)\b", lambda copy: SOURCES.get(copy[0], "trace_events"), on_copies)
        self.assertNotEqual(sql, on_copies)
        found, wanted = self.read(sql, values), self.read(on_copies, values)
        self.found += bool(found)
        keys, right = ([[row[place] for place in places] for row in rows] for rows in (found, wanted))
        if len(found) != len(wanted) or keys != right:
            at = next((i for i, (one, other) in enumerate(zip(keys, right)) if one != other), len(found))
            return (f"\n{sql}\n{values}\n{len(found)} rows, {len(wanted)} wanted\nfrom {at}: {found[at:at + 5]}\n"
                    f"wanted: {wanted[at:at + 5]}")
        if limit:
            wanted = self.read(query, values)
        wrong = Counter(found) - Counter(wanted)
        return f"\n{sql}\n{values}\nwrong: {list(wrong)[:5]}\nof: {wanted[:100]}" if wrong else ""

    def read(self, sql, values):
        """Rows as texts, in which 1 and 1.0 differ."""
        return [tuple(map(repr, row)) for row in self.db.execute(sql, values)]

    found = 0  # queries with rows

    def assert_same(self, query, order="", limit="", places=(), values=()):
        self.assertEqual(self.differences(query, order, limit, places, values), "")


class Maker:
    """Makes one random query; `values` has its parameters. It avoids cases where SQLite's own tables give different
    results with and without an index: a text that equals a number, and is ordered or grouped as a constant, and COLLATE
    in the subquery of an IN.
    """

    def __init__(self, number, case, ordered=True):
        self.rng = random.Random(f"{SEED} {number}")
        self.case = case
        self.values = {}
        self.types = ("TEXT", "BLOB") if ordered else ("TEXT", "BLOB", "INTEGER", "REAL", "NUMERIC")

    def source(self):
        return self.rng.choice(tuple(SOURCES))

    def column(self):
        return self.rng.choice(self.rng.choice((USED, USED, SERVED, ("ts", "name"), self.case.columns, ("rowid",))))

    def operand(self, column):
        """A literal or a parameter, plain or in an expression."""
        rng = self.rng
        value = rng.choice(near(rng.choice(self.case.values[column])) or ANYTHING if rng.random() < 0.7 else ANYTHING)
        text = literal(value)
        if rng.random() < 0.2 or "\0" in text:
            text = f":v{len(self.values)}"
            self.values[text[1:]] = value
        return rng.choice((*("{}",) * 12, f"CAST({{}} AS {rng.choice(self.types)})", "(SELECT {})", "+{}",
                           "{} COLLATE BINARY", "{} COLLATE NOCASE", "{} COLLATE RTRIM")).format(text)

    def term(self, alias="e", column=None, operator=None):
        rng = self.rng
        column, other = column or self.column(), self.column()
        dressed = rng.choice((*("{}.{}",) * 16, "{}.{} COLLATE BINARY", "{}.{} COLLATE NOCASE", "{}.{} COLLATE RTRIM",
                              "+{}.{}"))
        operator = operator or rng.choice(COMPARED)
        operands = [self.operand(column) for _ in range(3)]
        if "(SELECT" in operator or "(VALUES" in operator:
            operands = [operand.split(" COLLATE")[0] for operand in operands]
        return operator.format(c=dressed.format(alias, column), d=f"{alias}.{other}", t=f"operands{rng.randrange(4)}",
                               o=operands[0], p=operands[1], q=operands[2])

    def where(self, alias="e"):
        """One term, or several; often two of one column."""
        column = self.column()
        terms = [self.term(alias, column), self.term(alias, self.rng.choice((column, None))), self.term(alias)]
        shape = self.rng.choice(("({0})", "({0})", "({0} AND {1})", "({0} OR {1})", "(({0} OR {1}) AND {2})",
                                 "(NOT ({0}))", "({0} AND {1} AND {2})", "(({0} AND {1}) OR {2})"))
        if "{0} OR {1}" in shape:
            # SQLite turns `a COLLATE NOCASE = x OR a = y` into a BINARY IN: a plain table with an index on it loses
            # rows, too.
            terms[:2] = [re.sub(r" COLLATE \w+", "", each) for each in terms[:2]]
        return shape.format(*terms)

    def order(self):
        """ORDER BY, and the expressions for its keys, in which values that a collation treats as equal are equal."""
        terms, keys = [], []
        for _ in range(self.rng.choice((1, 1, 1, 2, 3))):
            column = self.rng.choice((*SERVED, *SERVED, self.column(), "rowid"))
            expression, key = self.rng.choice((("e.{}", "e.{}"),) * 6 + (
                ("e.{} COLLATE BINARY", "e.{}"), ("e.{} COLLATE NOCASE", "lower(e.{})"), ("+e.{}", "e.{}")))
            if "lower" in key and column not in ("name", "cat", "ph", "file", "device"):
                expression = key = "e.{}"
            terms.append((expression + self.rng.choice((" ASC", " DESC", "", " DESC")) + self.rng.choice(
                ("", "", "", " NULLS FIRST", " NULLS LAST"))).format(column))
            keys.append(key.format(column))
        return "ORDER BY " + ", ".join(terms), keys

    def limit(self):
        return self.rng.choice(("", f"LIMIT {self.rng.randrange(12)}", f"LIMIT {self.rng.choice((1, 5, -1))} OFFSET 3"))

    def fill(self, template):
        rng = self.rng
        return template.format(
            s=self.source(), u=self.source(), x=self.where(), y=self.where("f"), c=self.column(), d=self.column(),
            t=f"operands{rng.randrange(4)}", op=rng.choice(("=", "=", "IS", "<", "<=", ">", ">=", "<>")),
            w=rng.choice(("", f"WHERE {self.where()}")))

    def query(self):
        """The arguments of differences()."""
        rng = self.rng
        shape = rng.random()
        if shape < 0.15:
            return self.fill(rng.choice(JOINED)), "", "", (), self.values
        if shape < 0.4:
            template, order, places = rng.choice(GROUPED)
            query, order = self.fill(f"{template}\1{order}").split("\1")
            return query, order, self.limit(), places, self.values
        columns = [f"e.{self.column()}" for _ in range(rng.randrange(1, 4))]
        if rng.random() < 0.1:
            columns = [f"e.{name}" for name in ("rowid", *self.case.columns)]
        if shape < 0.47:
            query = self.fill(f"SELECT {', '.join(columns)} FROM copies AS e WHERE {rng.choice(NAMED)}")
            return query, "", self.limit(), (), self.values
        order, keys = self.order() if rng.random() < 0.7 else ("", [])
        query = self.fill(f"SELECT {', '.join(columns + keys)} FROM {{s}} AS e {{w}}")
        return query, order, self.limit(), range(len(columns), len(columns) + len(keys)), self.values


class Scans(Traces):
    def test_copies(self):
        """The copies equal the functions' rows, including types, and contain hard cases for terms and orders."""
        self.assertGreater(set(self.columns), {*USED, *SERVED})
        for copy in SOURCES:
            self.assert_same(f"SELECT rowid, {', '.join(self.columns)}, trace, phases FROM {copy}")
            self.assertEqual(self.value(f"SELECT count(DISTINCT rowid) = count(*) FROM {copy}"), 1)
        for column in ("iteration", "cat", "name", "ts", "dur", "stream", "link"):
            self.assertIn(None, self.values[column])
        for column, least in (("rank", 7), ("iteration", 5), ("ts", 30), ("name", 20), ("stream", 5), ("ph", 8)):
            self.assertGreaterEqual(len(self.values[column]), least, column)
        self.assertGreater(len(self.rows("SELECT DISTINCT rank, ts, ts_ns FROM copy_odd")),
                           len(self.rows("SELECT DISTINCT rank, ts FROM copy_odd")))

    def generate_terms(self, numbers):
        """Every operator on every column, with operands of all kinds."""
        pairs = [(column, operator) for column in ("rowid", *self.columns) for operator in COMPARED]
        self.generate("term", numbers, pairs, 0.5, False, lambda maker, pair: (
            f"SELECT e.rowid FROM {maker.source()} AS e WHERE {maker.term('e', *pair)}", "", "", (), maker.values))

    def test_generated_terms(self):
        self.generate_terms(FIRST)

    @slowest
    def test_more_generated_terms(self):
        self.generate_terms(MORE)

    def generate_queries(self, numbers):
        self.generate("query", numbers, [None], 0.4, True, lambda maker, _: maker.query())

    def test_generated_queries(self):
        self.generate_queries(FIRST)

    @slowest
    def test_more_generated_queries(self):
        self.generate_queries(MORE)

    def generate(self, kind, numbers, choices, least, ordered, make):
        """Asserts that at least this share of the queries has rows."""
        total, wrong = len(numbers), []
        random.Random(f"{SEED} {kind}").shuffle(choices)
        for number in numbers:
            maker = Maker(f"{kind} {number}", self, ordered)
            difference = self.differences(*make(maker, choices[number % len(choices)]))
            if difference:
                wrong.append(f"SEED={SEED}, {kind} {number}:{difference}")
        if wrong:
            self.fail(f"{len(wrong)} of {total} are wrong, the first:\n{wrong[0]}")
        self.assertGreater(self.found, total * least)

    def test_values_and_their_neighbours(self):
        self.compare_values(97)

    @slowest
    def test_more_values_and_their_neighbours(self):
        self.compare_values(3)

    def compare_values(self, every):
        """The smallest, the largest and some more of each column."""
        for column in USED:
            values = sorted(value for value in self.values[column] if value is not None)
            for value in {values[0], values[-1], *values[1:-1][::every]}:
                for operator in ("=", "<=", ">=") if column == "ts" else ("=", "IN"):
                    right = "(:x, :y)" if operator == "IN" else ":x"
                    for operand in {repr(operand): operand for operand in near(value)}.values():
                        for copy in ("copy_all", "copy_base"):
                            self.assert_same(f"SELECT rowid FROM {copy} WHERE {column} {operator} {right}",
                                             values={"x": operand, "y": value if operator == "IN" else None})

    def test_collations(self):
        for column, collation, value in (
                ("name", "NOCASE", "oP1"), ("name", "RTRIM", "op1   "), ("name", "BINARY", "op1"), ("rank", "RTRIM", 1),
                ("cat", "NOCASE", "Kernel"), ("cat", "RTRIM", "op1 "), ("ph", "NOCASE", "x"),
                ("device", "NOCASE", "Gpu"), ("device", "RTRIM", "GPU ")):
            for term in ("{0} = :x COLLATE {1}", "{0} COLLATE {1} = :x", "{0} COLLATE {1} IN (:x, 'none')",
                         "{0} IS :x COLLATE {1}", "({0}, event) = (:x COLLATE {1}, event)", ":x = {0} COLLATE {1}",
                         "{0} COLLATE {1} IN (SELECT :x)", "{0} = :x COLLATE {1} AND {0} IS NOT :x"):
                query = f"SELECT rowid, {column} FROM copy_all WHERE {term.format(column, collation)}"
                self.assert_same(query, values={"x": value})
                self.assert_same(query, "ORDER BY name DESC", values={"x": value})

    def test_text_that_is_compared_as_a_number(self):
        """A text column is compared with operands of numeric affinity, even if their value is a text."""
        self.db.executescript("""
            CREATE TEMP TABLE integers(v INTEGER); INSERT INTO integers VALUES (5), ('abc'), (7);
            CREATE TEMP TABLE texts(v); INSERT INTO texts VALUES ('07'), ('7'), (' 7'), (7), ('7.0'), ('op1');""")
        for either in ("SELECT v FROM integers", "SELECT v FROM texts",
                       "SELECT v FROM integers UNION ALL SELECT v FROM texts",
                       "SELECT v FROM texts UNION ALL SELECT v FROM integers",
                       "SELECT CAST(5 AS REAL) AS v UNION ALL SELECT '07' UNION ALL SELECT 'op1'"):
            for column in ("name", "cat", "ph", "device", "rank", "iteration", "stream", "event", "ts"):
                self.assert_same(f"SELECT w.v, e.rowid FROM ({either}) AS w CROSS JOIN copy_a AS e ON e.{column} = w.v")
                self.assert_same(f"SELECT rowid FROM copy_a WHERE {column} IN ({either})")

    def test_s05_rowid_whatever_is_filtered_and_ordered(self):
        for copy, source in SOURCES.items():
            every = dict(self.rows(f"SELECT file || ' ' || event, rowid FROM {source}"))
            for where in ("1", "rank = 1", "name = 'op1'", "name IN ('op1', '7')", "ts > 2", "ts BETWEEN 1 AND 10",
                          "event IN (1, 5, 9)", "cat = 'kernel'", "device = 'GPU'", "ph = 'X'", "stream = 7",
                          "iteration = 7", "rank = 1 AND name = 'op1' AND ts >= 0", "rank = 0 OR name = 'op1'"):
                for order in ("", *(f"ORDER BY {name} {way}" for name in SERVED for way in ("ASC", "DESC"))):
                    sql = f"SELECT file || ' ' || event, rowid FROM {source} WHERE {where} {order}"
                    found = self.rows(sql)
                    self.assertLessEqual(set(found), set(every.items()), sql)
                    self.assertEqual(len(found), self.value(f"SELECT count(*) FROM {copy} WHERE {where}"), sql)
            for rowid in list(every.values())[::9]:
                self.assertEqual(self.rows(f"SELECT rowid FROM {source} WHERE rowid = ?", rowid), [(rowid,)])

    def test_s05_or_neither_doubles_nor_loses(self):
        for either in ("name = 'op1' OR rank = 1", "name = 'op1' OR name = '7' OR ts = 2.5",
                       "ts < 2 OR ts > 7 OR ts IS NULL",
                       "(name = 'op1' AND rank = 0) OR (ts > 2 AND rank = 0) OR event = 3",
                       "rank IN (0, 1) OR name IN ('op1', 'op2')", "stream = 7 OR device = 'GPU' OR cat = 'kernel'"):
            for copy in SOURCES:
                self.assert_same(f"SELECT rowid, rank, name, ts, file, event FROM {copy} WHERE {either}")
                self.assert_same(f"SELECT rowid, ts FROM {copy} WHERE {either}", "ORDER BY ts DESC", "", (1,))
        for one, other in (("name = 'op1'", "name = 'op1'"), ("rank = 1", "ts < 5"), ("event IN (1, 2)", "ts > 1e9")):
            self.assert_same(f"SELECT rowid, name FROM copies WHERE (trace = 'a' AND phases IS NULL AND {one})"
                             f" OR (trace = 'odd' AND phases = 'all' AND {other}) OR (trace = 'a' AND phases = 'all')")

    def test_group_by_name_order_by_name_desc(self):
        """SQLite requests groups and this direction at the same time."""
        for where in ("1", "rank = 1", "name IN ('op1', 'op2', '7')", "ts > 2"):
            for query in ("SELECT name, count(*) FROM copy_a WHERE {} GROUP BY name",
                          "SELECT name, max(ts) FROM copy_all WHERE {} GROUP BY name HAVING count(*) > 1",
                          "SELECT DISTINCT name FROM copy_a WHERE {}"):
                for way in ("", "ASC", "DESC", "ASC NULLS LAST", "DESC NULLS FIRST"):
                    for limit in ("", "LIMIT 2"):
                        self.assert_same(query.format(where), f"ORDER BY name {way}", limit, (0,))
        write("t.json", document(*(event(name, 1, 1) for name in ("b", "", "a", "b", None, "\u00e9", "B", "a "))))
        for query in ("SELECT name FROM {} GROUP BY name", "SELECT DISTINCT name FROM {}"):
            query = query.format("trace_events('t.json')")
            self.assertEqual([name for name, in self.rows(f"{query} ORDER BY name DESC")],
                             ["\u00e9", "b", "a ", "a", "B", "", None])

    def test_orders_of_every_column(self):
        """Every column can be an order, also columns that are not kept in memory."""
        for name in SERVED:
            place = self.columns.index(name)
            for way in ("ASC", "DESC"):
                for copy in SOURCES:
                    query, order = f"SELECT {', '.join(self.columns)} FROM {copy}", f"ORDER BY {name} {way}"
                    self.assert_same(query, order, "", (place,))
                    self.assert_same(f"{query} WHERE rank = 1", order, "LIMIT 7", (place,))

    def test_smallest_and_largest(self):
        """SQLite turns min and max into an order and a limit of 1."""
        for column in (*SERVED, "ts_ns", "event", "iteration"):
            for where in ("1", "rank = 1", "rank = 4", "name = 'op1'", "name = 'none'", "ts > 7", f"{column} IS NULL"):
                for function in ("min", "max"):
                    for copy in SOURCES:
                        one = f"SELECT {function}({column}) FROM {copy} WHERE {where}"
                        self.assert_same(one)
                        self.assert_same(f"SELECT {column}, ({one}), count(*) FROM {copy} GROUP BY 1")

    def test_two_cursors_with_filters_of_their_own(self):
        self.assert_same("SELECT e.rowid, f.rowid FROM copy_a AS e CROSS JOIN copy_a AS f WHERE e.name = 'op1'"
                         " AND f.name = 'op2' AND e.rank = f.rank")
        self.assert_same("SELECT e.ts, f.name FROM copy_a AS e CROSS JOIN copy_a AS f WHERE e.rank = 0 AND f.rank = 1",
                         "ORDER BY e.ts DESC, f.name", "", (0, 1))
        filters = ("name = 'op1'", "rank = 1", "ts > 2 ORDER BY ts DESC", "1 ORDER BY name", "event < 9 ORDER BY dur")
        queries = [f"SELECT rowid, name FROM trace_events('a') WHERE {where}" for where in filters]
        wanted = [self.rows(query) for query in queries]
        cursors = [self.db.execute(query) for query in queries]
        found = [[] for _ in filters]
        for _ in range(max(map(len, wanted))):
            for rows, cursor in zip(found, cursors):
                rows += cursor.fetchmany(1)
        self.assertEqual(found, wanted)
        self.assertGreater(sum(map(bool, wanted)), 3)

    def test_a_statement_with_other_values(self):
        """A prepared statement works with other filter values, including another type, NULL, and a value that matches
        nothing.
        """
        for term, tuples in (("name = :x", ("op1", "op2", None, "op1", 7, "no such", "7", b"op1", "op1")),
                             ("rank = :x", (0, 1, "1", 1.5, None, 12, "x", 2 ** 32 + 1, 1.0)),
                             ("ts >= :x", (0, 1e300, -1e300, "7", "x", None, 2.5, 2 ** 63 - 1)),
                             ("ts BETWEEN :x AND 10", (0, None, 10, 11, "2")), ("iteration = :x", (7, 8, None, "7")),
                             ("name IN (:x, 'op2')", ("op1", None, "op2", "OP1")),
                             ("event = :x", (3, "3", -1, 2 ** 32 + 3, 3.5))):
            for value in tuples:
                query, given = f"SELECT ts, rowid FROM copy_a WHERE {term}", {"x": value}
                self.assert_same(query, values=given)
                self.assert_same(query, "ORDER BY ts DESC", "", (0,), given)


class InUtf16(Scans):
    """In a UTF-16 database, SQLite compares bytes of UTF-16, so names have another order."""

    encoding = "UTF-16le"

    def test_encoding(self):
        self.assertEqual(self.value("PRAGMA encoding"), self.encoding)

    def test_names_are_ordered_as_in_a_table(self):
        """Names are ordered like in a table. The encoding of an empty database can be set repeatedly, but SQLite does
        not recompile statements then, so no statement is used twice.
        """
        names = ["a\u0101", "ab", "\u0100", "\uff01", "\U0001f600", "b", "", None]
        write("t.json", document(*(event(name, number, 1) for number, name in enumerate(names))))
        db = connect()
        query = "SELECT name FROM trace_events('t.json') WHERE name <> '' ORDER BY name {} /* {} */"
        for encoding in ("UTF-8", "UTF-16be", "UTF-16le"):
            db.execute(f"PRAGMA encoding = '{encoding}'")
            for way in ("", "DESC"):
                wanted = sorted(filter(None, names), key=lambda name: name.encode(encoding), reverse=bool(way))
                found = [name for name, in db.execute(query.format(way, encoding))]
                self.assertEqual(found, wanted, encoding)

    def test_a_host_may_forbid_to_ask_for_the_encoding(self):
        query = "SELECT max(name) FROM copy_a"
        wanted = self.read(query, ())
        self.db.set_authorizer(lambda action, *_: action == sqlite3.SQLITE_PRAGMA)
        self.assertEqual(self.read(query.replace("copy_a", SOURCES["copy_a"]), ()), wanted)


class Sorters(Traces):
    """SQLite's query plans."""

    def plan(self, sql):
        return [row[3] for row in self.rows(f"EXPLAIN QUERY PLAN {sql}")]

    def assert_no_sorter(self, query, order="", at_all=True):
        """Asserts that there is no sorter and that rows are right; the first column is the order. For some queries
        SQLite sorts in spite of an order.
        """
        for where in ("1", "rank = 0", "name IN ('op1', '7', 'op2')", "rank = 1 AND ts > 2"):
            placed = query.format(where)
            plan = self.plan(f"{placed} {order}".replace("copy_a", SOURCES["copy_a"]))
            with self.subTest(f"{placed} {order}"):
                self.assertEqual([line for line in plan if "TEMP B-TREE" in line and at_all], [])
                self.assert_same(placed, order, "", (0,) * bool(order))

    def test_orders(self):
        for name in SERVED:
            for way in ("", "ASC", "DESC"):
                self.assert_no_sorter(f"SELECT {name}, rank, event FROM copy_a WHERE {{}}", f"ORDER BY {name} {way}")

    def test_groups(self):
        for order in ("", "ORDER BY name", "ORDER BY name DESC"):
            self.assert_no_sorter("SELECT name, count(*), max(dur) FROM copy_a WHERE {} GROUP BY name", order)

    def test_distinct(self):
        """DISTINCT needs no sorter. SQLite 3.38 and 3.40 do not use a virtual table's order for it, except as a
        group.
        """
        self.assert_no_sorter("SELECT DISTINCT name FROM copy_a WHERE {}", "ORDER BY name")
        for order in ("", "ORDER BY name DESC"):
            self.assert_no_sorter("SELECT DISTINCT name FROM copy_a WHERE {}", order, DISTINCT)

    def test_a_sorter_where_there_must_be_one(self):
        for order in ("name COLLATE NOCASE", "+ts", "ts NULLS LAST", "abs(dur)"):
            plan = self.plan(f"SELECT ts FROM trace_events('a') ORDER BY {order}")
            self.assertIn("USE TEMP B-TREE FOR ORDER BY", plan)


PEAK = """
import re, sys
sys.path.insert(0, sys.argv[1])
from support import connect
connect().execute("SELECT count(*) FROM trace_events(?)", sys.argv[2:]).fetchone()
print(re.search(r"VmHWM:\\s*([0-9]+) kB", open("/proc/self/status").read())[1])
"""


@slowest
@alone
class Speed(unittest.TestCase):
    """After a million events are read once, small answers come immediately."""

    COUNT, BLOCK = 1_000_000, 20_000
    LONGEST = 0.02  # s, the best of 5

    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.path = os.path.join(place.name, "million.json")
        cls.small = write(os.path.join(place.name, "small.json"), document(event("op", 1, 1)))
        with open(cls.path, "w") as file:
            file.write('{"traceEvents":[\n')
            for first in range(0, cls.COUNT, cls.BLOCK):
                file.write("".join(map(cls.line, range(first, first + cls.BLOCK))))
            file.write('{"ph":"M","name":"end","pid":1}]}')
        cls.db = connect()
        cls.addClassCleanup(cls.db.close)

    @staticmethod
    def start(number):
        return 10 * (number ^ 5)  # the file is not in time order

    @staticmethod
    def length(number):
        return number * 7919 % 999983 / 1e3  # almost all differ

    @classmethod
    def line(cls, number):
        name = {1: "rare", 501: "rarer"}.get(number % 1000, f"aten::operator_{number % 997}")
        return (f'{{"ph":"X","cat":"cpu_op","name":"{name}","pid":1,"tid":{number % 128},"ts":{cls.start(number)},'
                f'"dur":{cls.length(number)}}},\n')

    def assert_fast(self, rest, wanted):
        """The event numbers, at most a thousand."""
        times = []
        for _ in range(6):
            begin = time.perf_counter()
            rows = self.db.execute(f"SELECT event, name, ts, dur FROM trace_events(?) {rest}", (self.path,)).fetchall()
            times.append(time.perf_counter() - begin)
        found = [row[0] for row in rows]
        self.assertEqual(found if "ORDER" in rest else sorted(found), wanted, rest)
        self.assertLess(min(times[1:]), self.LONGEST * SLACK, f"{rest}: {[round(t, 4) for t in times]}")

    def test_name(self):
        self.assert_fast("WHERE name = 'rare'", list(range(1, self.COUNT, 1000)))

    def test_rank_and_names(self):
        self.assert_fast(f"WHERE rank = 0 AND name IN ('rare', 'rarer') AND event < {self.COUNT // 2}",
                         list(range(1, self.COUNT // 2, 500)))

    def test_event(self):
        self.assert_fast("WHERE event = 12345", [12345])

    def test_between(self):
        first = self.COUNT // 2
        self.assert_fast(f"WHERE ts BETWEEN {10 * first} AND {10 * (first + 999)}", list(range(first, first + 1000)))

    def test_order_by_ts(self):
        wanted = sorted(range(self.COUNT), key=self.start)
        self.assert_fast("ORDER BY ts LIMIT 1000", wanted[:1000])
        self.assert_fast("ORDER BY ts DESC LIMIT 1000", wanted[:-1001:-1])

    def test_order_by_dur(self):
        wanted = sorted(range(self.COUNT), key=self.length)
        self.assert_fast("ORDER BY dur DESC LIMIT 1000", wanted[:-1001:-1])

    def test_memory(self):
        """Memory is at most 64 bytes per event."""
        program = [sys.executable, "-c", PEAK, os.path.join(ROOT, "tests")]
        small, large = (int(subprocess.check_output([*program, path])) for path in (self.small, self.path))
        self.assertLessEqual((large - small) * 1024, 64 * self.COUNT)


if __name__ == "__main__":
    unittest.main()
