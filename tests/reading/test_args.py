"""The column args of trace_events (T6): an object in strict JSON, unchanged from the file, repaired after small faults,
and NULL after large ones. Each rule has cases made by hand; whole files are compared with Python's json, and random
texts with an independent implementation.
"""
import gzip
import itertools
import json
import os
import random
import re
import sqlite3
import threading
import time
import timeit

import oracle
from made import ABSENT, InFolder, document, event, kernel, launch, write
from support import alone, bytes_read, connect, corpus, slow, slowest
from test_oracle import SHIPPED, files_below

MANY = 5_000_000  # characters of a document that takes a while to read
SHORT, LONG = range(MANY), range(MANY, 10 ** 12)
MENDED, LEFT_OUT = "args mended: not strict JSON", "args left out: not a JSON object"
BAD_UTF8 = (b"\xff", b"\x80", b"\xc3", b"\xc0\x80", b"\xe2\x82", b"\xe0\x9f\xbf", b"\xed\xa0\x80", b"\xed\xbf",
            b"\xf0\x9f\x98", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf5\x80", b"\xfc\x80\x80", b"\xe2\xff\xac")
WORDS = (b"inf", b"-inf", b"nan", b"-nan", b"NaN", b"Infinity", b"-Infinity", b"N/A", b"01", b"-01", b"0x1F", b"None",
         b"True", b"TRUE", b"nulll", b"tru", b"undefined", b"-", b"+1", b"1.", b".5", b"1e", b"1e+", b"1.5.2", b"--1",
         b"1_000", b"1.5us", b"ncclFloat32", b"-nan(0x8)", b"a\\b", b"<x>", b"\xc3\xa9", b"\xff\xfe", b"\x7f")
STRICT_WORD = re.compile(rb"true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
TOKEN = re.compile(rb'(?P<string>"(?:[^"\\]|\\.)*")|(?P<mark>[][{},:]|[ \t\r\n]+)|(?P<word>[^]["{},:\0- ]+)', re.DOTALL)


def undone(escape):
    """T6.2: an escape for an ASCII character that strings may contain becomes that character."""
    said = json.loads(f'"{escape}"')
    return said if " " <= said <= "\x7f" and said not in '"\\' else escape


def mended_string(string):
    text = string.decode("utf-8", "replace")
    text = re.sub(r'\\(["\\/bfnrt]|u[0-9A-Fa-f]{4})|\\',
                  lambda found: undone(found[0]) if found[1] else "\\\\", text)
    return re.sub(r"[\0-\x1f]", lambda found: f"\\u{ord(found[0]):04x}", text)


def strictly(text, first=False):
    """The value that Python's json reads from strict JSON, with the last or the first value of a repeated key."""
    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")
    hook = (lambda pairs: dict(reversed(pairs))) if first else None
    return json.loads(text, parse_constant=refuse, object_pairs_hook=hook)


def expected(raw):
    """The expected args for the bytes in the file, and the expected problems: everything is repaired word by word, and
    Python's json judges the result.
    """
    made, at = "", 0
    while token := TOKEN.match(raw, at):
        at, string, word = token.end(), token["string"], token["word"]
        known = not word or STRICT_WORD.fullmatch(word)
        made += mended_string(string) if string else token[0].decode() if known else "null"
    try:
        if at == len(raw) and isinstance(strictly(made), dict):
            same = re.sub(rb'\\(["\\/bfnrt]|u[0-9A-Fa-f]{4})', lambda found: undone(found[0].decode()).encode(), raw)
            return made, None if made.encode() == same else MENDED
    except ValueError:
        pass
    return None, LEFT_OUT


def with_args(name, raw, **fields):
    """An event, as bytes, with these bytes as args."""
    return json.dumps(event(name, 5, 1, **fields)).encode()[:-1] + b', "args": ' + raw + b', "id": "after"}'


class Args(InFolder):
    def put(self, content, ending=".json"):
        return write(f"{time.monotonic_ns()}{ending}", content)  # a new file name

    def said(self, path, db=None):
        """Problems with args in trace_files: {what: (count, first byte)} of the only file."""
        (problems,), = (db or self.db).execute("SELECT problems FROM trace_files(?)", (path,)).fetchall()
        return {problem["what"]: (problem["count"], problem["first_byte"]) for problem in json.loads(problems)
                if problem["what"].startswith("args ")}

    def assert_args(self, raw, wanted, what=None):
        """Asserts the args of an event between two others."""
        start = b'{"traceEvents": [' + with_args("one", b'{"n": 1}') + b", "
        path = self.put(start + with_args("it", raw) + b", " + with_args("three", b'{"n": 3}') + b"]}")
        with self.subTest(raw[:60]):
            rows = self.rows("SELECT name, args, args IS NULL OR json_valid(args) FROM trace_events(?)", path)
            self.assertEqual(rows, [("one", '{"n": 1}', 1), ("it", wanted, 1), ("three", '{"n": 3}', 1)])
            self.assertEqual(self.said(path), {what: (1, len(start) + 1)} if what else {})


class Texts(Args):
    """One args object at a time."""

    def test_kept_as_it_is(self):
        for text in ('{}', '{ }', '{"a":1}', '{ "a" :\t1 ,\r\n "b":[ 1 , 2 ]\n}', '{"": {"": [[], {}, ""]}}',
                    '{"a": 1e999, "b": -0, "c": -0.0e-0, "d": 1E+5, "e": 123456789012345678901234567890, "f": 0.10}',
                    '{"a": true, "b": false, "c": null}', '{"a": "inf, nan: 01 [ } { ]"}', r'{"a": "\"}\\"}',
                    r'{"\"": "\\\"\b\f\n\r\t\u00e9\u00E9\uD83D\uDE00"}', r'{"a": "\u0000", "\u0000": 1}',
                    r'{"a": "\ud800", "\udc00\ud800": "\ud800x"}', '{"a": "\x7f\u2028\u2029\ufeff\ufffd\uffff"}',
                    '{"\u00e9\u77e9\U0001f600": "\U0010ffff\u0080\u07ff\u0800"}', '{"a": 1, "a": 2}'):
            self.assert_args(text.encode(), text)

    def test_an_escape_of_what_needs_none_is_undone(self):
        """SQLite before 3.42 finds no key that has an escape, and some writers escape every slash, so needless escapes
        are undone.
        """
        self.assert_args(rb'{"graph\u0020\u0069d": "\u007e\u0022\\u0041\u001f"}',
                         r'{"graph id": "~\u0022\\u0041\u001f"}')
        self.assert_args(rb'{"memory bandwidth (GB\/s)": "\\/\/\\\/"}', r'{"memory bandwidth (GB/s)": "\\//\\/"}')

    def test_mended(self):
        """Bare words, control characters, backslashes outside escapes, and bytes that are not UTF-8 are repaired."""
        for word in WORDS:
            raw = b'{ "a" :[1,%b , %b],"b":%b\n}' % (word, word, word)
            self.assert_args(raw, '{ "a" :[1,null , null],"b":null\n}', MENDED)
        for byte in range(32):
            raw = b'{"a%cb": "%c\\n%c\x7f"}' % (byte, byte, byte)
            self.assert_args(raw, raw.decode().replace(chr(byte), f"\\u{byte:04x}"), MENDED)
        for raw, wanted in (
                (rb"\q", r"\\q"), (rb"\x41", r"\\x41"), (rb"\N", r"\\N"), (rb"\U0041", r"\\U0041"), (rb"\'", r"\\'"),
                (rb"\0", r"\\0"), (rb"\ ", r"\\ "), (rb"\u", r"\\u"), (rb"\u00e", r"\\u00e"), (rb"\u 041", r"\\u 041"),
                (rb"\u\u0041", r"\\uA"), (rb"\u00eg\u00e9", r"\\u00eg\u00e9"), (rb"\u00\"", r"\\u00\""),
                (rb"C:\work\new\py", r"C:\\work\new\\py"), (rb"\\\q\\", r"\\\\q\\"), (b"\\\n", r"\\\u000a"),
                (b"\\\xff", "\\\\\ufffd"), ("\\\u00e9".encode(), "\\\\\u00e9")):
            self.assert_args(b'{"%b": [{"b": "%b"}]}' % (raw, raw), '{"%s": [{"b": "%s"}]}' % (wanted, wanted), MENDED)
        for bad in BAD_UTF8:
            for raw in (bad, b"x" + bad + b"y", bad + bad, bad + b"\\n", "\u00e9".encode() + bad):
                wanted = raw.decode("utf-8", "replace")
                self.assert_args(b'{"a": "%b", "%b": 1}' % (raw, raw), f'{{"a": "{wanted}", "{wanted}": 1}}', MENDED)
        named = (with_args("NAME", b'{"a": "%b"}' % bad).replace(b"NAME", bad) for bad in BAD_UTF8)
        path = self.put(b"[" + b",".join(named) + b"]")
        self.assertEqual(self.value("SELECT sum(name = args ->> '$.a') FROM trace_events(?)", path), len(BAD_UTF8))

    def test_left_out(self):
        for raw in (b"null", b'"text"', b"[1]", b"3", b"true", b'"{}"', b"[]", b"inf", b"[{}]", b"{,}", b"{1}",
                    b'{"a" 1}', b'{"a"}', b'{"a":}', b'{"a"::1}', b"{:1}", b"{:}", b'{"a":1:2}', b'{"a","b"}', b"{a:2}",
                    b'{"a":1 "b":2}', b'{"a":1,,"b":2}', b'{"a":1,}', b'{,"a":1}', b'{"a":{,}}', b"{1:2}", b"{null:2}",
                    b'{"a":[1 2]}', b'{"a":[1,,2]}', b'{"a":[1,]}', b'{"a":[,1]}', b'{"a":[,]}', b'{"a":["b":1]}',
                    b'{"a":[1}}', b'{"a":{"b":1]}', b'{"a":{1}}', b'{"a":"b""c"}', b'{"a":1 inf}', b'{"a":inf inf}',
                    b'{"a":inf"b"}', b'{"a":"b" inf}', b'{"a":{}{}}', b'{"a":[]1}', b'{"a":1 /**/}', b'{"a":/**/ 1}',
                    b'{"a":1\x0b}', b'{"a":\x0c1}', b'{\0"a":1}', b'{"a":\x01}', b'{\x1f}', b'{"\n\\q\xff":[inf,]}'):
            self.assert_args(raw, None, LEFT_OUT)

    def test_depth(self):
        def nested(levels, left="[", inside="", right="]"):
            return '{"a":' + left * (levels - 1) + inside + right * (levels - 1) + "}"
        for parts in (("[", "", "]"), ("[", "1", "]"), ('{"a":', "1", "}"), ("[", '"[{"', "]")):
            self.assert_args(nested(1000, *parts).encode(), nested(1000, *parts))
            self.assert_args(nested(1001, *parts).encode(), None, LEFT_OUT)
            self.assert_args(nested(50_000, *parts).encode(), None, LEFT_OUT)
        wide = nested(999, inside="[],{}," * 2000 + "[1]")
        self.assert_args(wide.encode(), wide)
        self.assert_args(nested(1000, inside="nan").encode(), nested(1000, inside="null"), MENDED)
        self.assert_args(nested(1000, inside="1,[]").encode(), None, LEFT_OUT)

    def test_long_texts(self):
        for size in (10_000, 65_536, 2 ** 20):
            text = '{"%s":%s"%s"}' % ("\u00e9" * (size // 2), " " * size, "k" * size)
            self.assert_args(text.encode(), text)
            for one, mended in ((b"\1", "\\u0001"), (b"\xff", "\ufffd"), (b"\\q", "\\\\q")):
                self.assert_args(b'{"a": "%b%b"}' % (b"k" * size, one), f'{{"a": "{"k" * size}{mended}"}}', MENDED)
                self.assert_args(b'{"a": "%b"}' % (one * size), f'{{"a": "{mended * size}"}}', MENDED)
            self.assert_args(b'{"a": ' + b"n" * size + b"}", '{"a": null}', MENDED)
            self.assert_args(b'{"a": "' + b"k" * size + b'",}', None, LEFT_OUT)


class Events(Args):
    """Which args belong to an event, and how problems are counted: once per event, on the connection that has read its
    args.
    """

    MADE = (with_args("good", b"{}"), with_args("mended", b'{"a": nan}'), with_args("bad", b"{,}"),
            b'{"ph": "B", "tid": 9, "ts": 1, "args": 5}', b'{"ph": "E", "tid": 9, "ts": 2, "args": 6}',
            b'{"ph": "X", "ts": 1}', with_args("null", b"null"), with_args("mark", b"[]", ph="i"),
            with_args("\u00e9", b'{"a": "\\q"}', cat="\u00e9"), with_args("mended", b'{"\t": 1}'))
    TEXT = b'{"x": "\xc3\xa9", "traceEvents": [' + b",\n".join(MADE) + b"]}"

    def args(self, *events, phases=None):
        """The args of each event, and their problems."""
        texts = (made if isinstance(made, bytes) else json.dumps(made).encode() for made in events)
        path = self.put(b"[" + b", ".join(texts) + b"]")
        rows = self.rows("SELECT args FROM trace_events(?, NULL, NULL, ?)", path, phases)
        return [args for args, in rows], self.said(path)

    def test_where_args_stand(self):
        nested = event("op", 1, 1, other={"args": {"n": 1}}, text='"args": {"n": 1}', Args={"n": 1}, ARGS={}, arg={})
        self.assertEqual(self.args(event("op", 1, 1), nested, event("args", 1, 1, cat="args")), ([None] * 3, {}))
        fields = [b'"ph":"X"', b'"name":"op"', b'"ts":1', b'"\\u0061rg\\u0073"\n:\t{"a" :1}']
        events = [b"{ " + b" ,\n".join(order) + b" }" for order in itertools.permutations(fields)]
        self.assertEqual(self.args(*events), (['{"a" :1}'] * 24, {}))
        columns = [row[0] for row in self.db.execute("SELECT * FROM trace_events(NULL)").description]
        self.assertEqual(columns[columns.index("ph"):][:3], ["ph", "args", "file"])

    def test_args_given_twice(self):
        for first, wanted, what in ((b'{"n": 1}', '{"n": 1}', None), (b"null", None, LEFT_OUT), (b"{}", "{}", None),
                                    (b"{,}", None, LEFT_OUT), (b'{"n": inf}', '{"n": null}', MENDED)):
            for second in (b'{"n": 2}', b"5", b'{"n": nan}', b"{,}"):
                twice = b'{"ph": "X", "ts": 1, "dur": 1, "args": %b, "x": 1, "args" :%b}' % (first, second)
                self.assertEqual(self.args(b"{}", twice), ([wanted], {what: (1, 6)} if what else {}))

    def test_begin_and_end(self):
        begin, end = {"ph": "B", "name": "b", "tid": 1, "ts": 1}, {"ph": "E", "tid": 1, "ts": 2}
        one, two = {**begin, "args": {"n": 1}}, {**end, "args": {"n": 2}}
        for events, wanted in (((one, two), '{"n": 1}'), ((two, one), '{"n": 1}'), ((one,), '{"n": 1}'),
                               ((begin, two), None), ((begin, {**two, "args": 5}), None)):
            self.assertEqual(self.args(*events), ([wanted], {}))
            self.assertEqual(self.args(*events, phases="all"), ([wanted], {}))
        self.assertEqual(self.args(end, {**one, "args": 5}), ([None], {LEFT_OUT: (1, len(json.dumps(end)) + 4)}))

    def test_other_phases(self):
        events = [{"ph": ph, "name": "e", "ts": 1, "dur": 1, "id": 1, "args": {"n": ph}} for ph in "XiIMCbnesftPOND"]
        texts = [json.dumps(made["args"]) for made in events]
        for phases, wanted in (("all", texts), (None, texts[:1]), ("Mf", [texts[3], texts[9]])):
            self.assertEqual(self.args(*events, phases=phases), (wanted, {}))

    def test_after_damage(self):
        """Each event has its own args, whatever stands between events."""
        damages = (b'{"ph": "X", "ts": :, "args": {"name": "no"}}', b"garbage", b"5", b'{"args": {"name": "no"}', b"]}",
                   b"}", b'{"name": "no', b'{"name": "no", "args": {"a": [1}}', b"\xff\0", b"[[{", b'{"args": 5}')
        events = [with_args(f"op{n}", b'{"name": "op%d", "pad": "%b"}' % (n, b"y" * n * n)) for n in range(40)]
        for damage, glue in itertools.product(damages, (b", ", b"\n")):
            path = self.put(glue.join((b"[" + b",\n".join(events[:20]), damage, b",\n".join(events[20:]) + b"]")))
            with self.subTest(damage, glue=glue):
                rows = self.rows("SELECT name, args FROM trace_events(?)", path)
                self.assertEqual([name for name, _ in rows][:20], [f"op{n}" for n in range(20)])
                for name, args in rows:
                    self.assertEqual(args, f'{{"name": "{name}", "pad": "{"y" * int(name[2:]) ** 2}"}}')
                self.assertEqual(self.said(path), {})
        self.assertEqual(len(rows), 40)

    def counts(self, left_out, later=1):
        mended_at, left_out_at = (self.TEXT.index(self.MADE[number]) + later for number in (1, 2))
        return {MENDED: (3, mended_at), LEFT_OUT: (left_out, left_out_at)}

    def test_once(self):
        for path in (write("t.json", self.TEXT), write("t.json.gz", self.TEXT)):
            for sql, said in (
                    ("SELECT name FROM trace_events(?)", {}), ("SELECT args FROM trace_events(?) WHERE ts > 9", {}),
                    ("SELECT args FROM trace_events(?) WHERE event = 9", {MENDED: (1, self.TEXT.rindex(b'{"ph"') + 1)}),
                    ("SELECT args, args FROM trace_events(?) ORDER BY event DESC", self.counts(3)),
                    ("SELECT 1 FROM trace_events(?) WHERE args > ''", self.counts(3)),
                    ("SELECT a.args, b.args FROM trace_events(?1) AS a, trace_events(?1) AS b", self.counts(3)),
                    ("SELECT args FROM trace_events(?, NULL, NULL, 'all')", self.counts(3)),
                    ("SELECT args FROM trace_events(?, NULL, NULL, 'i')", self.counts(3))): # only X and B events count
                with self.subTest(sql):
                    self.rows(sql, path)
                    self.assertEqual(self.said(path), said)
            self.assertEqual(self.said(path, connect()), {})

    def test_each_file_its_own(self):
        write("d/a.json", self.TEXT)
        write("d/b.json.gz", b" " * 100_000 + self.TEXT)
        self.rows("SELECT args FROM trace_events('d')")
        self.assertEqual(self.said("d/a.json"), self.counts(3))
        self.assertEqual(self.said("d/b.json.gz"), self.counts(3, later=100_001))
        write("d/a.json", b"[" + self.MADE[1] + b"]")
        for said in ({}, {MENDED: (1, 2)}):
            self.assertEqual(self.said("d/a.json"), said)
            self.rows("SELECT args FROM trace_events('d')")


class Access(Args):
    """Queries that read args in any order, some or all, once or repeatedly."""

    def setUp(self):
        super().setUp()
        rng, self.wanted = random.Random(7), {}
        for rank, path in enumerate(("d/rank0.json", "d/rank1.json.gz")):
            made = [{"n": n, "rank": rank, "pad": "p" * rng.randint(0, 500)} if n % 10 else ABSENT for n in range(3000)]
            write(path, document(*[event(f"op{n % 50}", rng.randint(0, 10 ** 6), rng.randint(1, 9000), args=args)
                                   for n, args in enumerate(made)]))
            self.wanted.update({(path, n): json.dumps(args) if n % 10 else None for n, args in enumerate(made)})
        self.db.execute("CREATE VIRTUAL TABLE temp.base USING trace_events('d')")
        self.db.execute("CREATE TABLE kept AS SELECT * FROM base")

    def assert_right(self, rows, count):
        self.assertEqual([row for row in rows if row[2] != self.wanted[row[:2]]][:1], [])
        self.assertEqual((len(rows), len(set(rows))), (count, count))

    def test_queries(self):
        columns = "SELECT file, event, args FROM"
        for sql, count in (
                ("", 6000), ("ORDER BY ts", 6000), ("ORDER BY ts DESC", 6000), ("ORDER BY name, ts", 6000),
                ("ORDER BY dur DESC", 6000), ("ORDER BY event DESC, file", 6000), ("ORDER BY args", 6000),
                ("WHERE name = 'op7'", 120), ("WHERE name = 'op7' ORDER BY dur DESC LIMIT 9", 9), ("LIMIT 1", 1),
                ("WHERE event % 97 = 0", 62), ("WHERE event = 2999", 2), ("WHERE event IN (5, 2000, 7) ORDER BY ts", 6),
                ("LIMIT 10 OFFSET 5990", 10), ("WHERE args IS NULL", 600), ("WHERE rank = 1 AND args <> ''", 2700),
                ("WHERE args LIKE '{\"n\": 77_,%'", 18), ("WHERE args ->> '$.n' = 123 AND rank = 0", 1),
                ("WHERE json_extract(args, '$.rank') <> rank", 0), ("WHERE ts < 0 AND args <> ''", 0),
                ("GROUP BY args HAVING args > ''", 5400), ("WHERE iif(rank, event > 9, event = 1)", 2991),
                (f"WHERE rank = 0 UNION ALL {columns} base WHERE rank = 1", 6000), (f"{columns} kept", 6000),
                (f"{columns} trace_events('[\"d/rank1.json.gz\", \"d/rank0.json\"]')", 6000),
                (f"WITH e AS MATERIALIZED ({columns} base) {columns} e ORDER BY event", 6000),
                ("SELECT file, event, max(args) OVER (PARTITION BY file, event) FROM base", 6000),
                ("SELECT k.file, k.event, b.args FROM kept AS k, base AS b"
                 " WHERE k.event = b.event AND k.file = b.file AND k.event % 500 = 1", 12)):
            with self.subTest(sql):
                whole = sql if sql.startswith(("SELECT", "WITH")) else f"{columns} trace_events('d') {sql}"
                self.assert_right(self.rows(whole), count)
        for where, count in (("args LIKE '%\"n\": 77_,%'", 18), ("args ->> '$.n' < 30 AND name <> 'op7'", 52),
                             ("args IS NULL", 600), ("name = 'op7' AND args LIKE '%: 7,%'", 2)):
            self.assertEqual(self.value(f"SELECT count(*) FROM base WHERE {where}"), count, where)

    def test_cursors(self):
        """Several cursors, and one statement run again, to its end or not, get the right args."""
        tails = ("", "ORDER BY ts", "WHERE rank = 1", "WHERE name < 'op3'")
        cursors = [self.db.execute(f"SELECT file, event, args FROM base {tail}") for tail in tails]
        rows = [[] for _ in tails]
        while any(batches := [cursor.fetchmany(number * 3 + 1) for number, cursor in enumerate(cursors)]):
            rows = [kept + batch for kept, batch in zip(rows, batches)]
        for kept, count in zip(rows, (6000, 6000, 3000, 2760)):
            self.assert_right(kept, count)
        for fetched in (6000, 10, 2500, 1, 6000):
            self.assert_right(self.db.execute("SELECT file, event, args FROM base").fetchmany(fetched), fetched)

    def test_both_sides_of_a_link(self):
        events = [part for n in range(1, 101) for part in (launch(n * 10, 2, n), kernel("k", 5000 - n * 9, 3, n))]
        wanted = [(f'{{"correlation": {n}, "stream": 7}}', f'{{"correlation": {n}}}') for n in range(1, 101)]
        path, both = self.put(document(*events)), ("trace_events(?1) AS work", "trace_events(?1) AS call")
        for first, second in (both, both[::-1]):
            sql = f"SELECT work.args, call.args FROM {first} CROSS JOIN {second} WHERE call.event = work.link"
            self.assertEqual(sorted(self.rows(sql + " AND work.device = 'GPU'", path)), sorted(wanted))


class Scattered(Args):
    """Args in the order of a query, for which no file is read more than twice."""

    RAWS = (b'{"n": %d}', b'{"n": nan, "m": %d}', b'{,%d}', b'{"pad": "' + b"p" * 3000 + b'", "n": %d}', b'"%d"', b"",
            b'{"\xff\n": [%d, "\\/"]}', b"[%d]", b'{"a": {"b": "%d"}}')
    JOIN = """
        SELECT p.event, e.args FROM picks AS p CROSS JOIN trace_events(?) AS e
        WHERE e.event = p.event AND e.file = p.file"""

    def setUp(self):
        super().setUp()
        self.db.execute("CREATE TABLE picks(number INTEGER PRIMARY KEY, file, event)")

    def make(self, count, seed):
        """A trace as bytes, and the raw args of its events."""
        rng = random.Random(seed)
        raws = [rng.choice(self.RAWS) for _ in range(count)]
        raws = [raw % n if b"%d" in raw else raw for n, raw in enumerate(raws)]
        events = [with_args(f"op{n % 9}", raw) if raw else b'{"ph": "X", "name": "bare", "ts": 1, "dur": 1}'
                  for n, raw in enumerate(raws)]
        return b'{"traceEvents": [' + b",\n".join(events) + b"]}", raws

    def pick(self, events, count, seed=3):
        """Random events as (file, event) in random order, some repeated."""
        picks = random.Random(seed).choices(events, k=count)
        self.db.execute("DELETE FROM picks")
        self.db.executemany("INSERT INTO picks(file, event) VALUES(?, ?)", picks)
        return picks

    def assert_scattered(self, trace, picks, raws):
        """Asserts that rows are right and that no file was read more than twice."""
        paths = {path for path, _ in picks}
        size = sum(map(os.path.getsize, paths))
        self.value("SELECT count(*) FROM trace_events(?)", trace)
        before = bytes_read()
        rows = self.rows(self.JOIN, trace)
        self.assertLess(bytes_read() - before, 2 * size + 100_000)
        self.assertEqual(rows, [(event, expected(raws[path][event])[0] if raws[path][event] else None)
                                for path, event in picks])
        said = {}
        for path, event in set(picks):
            what = expected(raws[path][event])[1] if raws[path][event] else None
            if what:
                said[what] = said.get(what, 0) + 1
        counted = {}
        for path in paths:
            for what, (count, _) in self.said(path).items():
                counted[what] = counted.get(what, 0) + count
        self.assertEqual(counted, said)

    def test_one_file(self):
        text, raws = self.make(1575, 1)
        for name in ("t.json", "t.json.gz", "members.json.gz"):
            write(name, text)
            if name == "members.json.gz":
                with open(name, "wb") as file:
                    for at in range(0, len(text), 70_000):
                        file.write(gzip.compress(text[at:at + 70_000]))
            with self.subTest(name):
                self.assert_scattered(name, self.pick([(name, n) for n in range(1575)], 400), {name: raws})

    def test_damaged(self):
        """Damage in the gzip data, or in an event in the middle, does not spoil other args."""
        text, raws = self.make(1575, 2)
        whole = gzip.compress(text)
        cut, hurt, stray = whole[:len(whole) // 2], bytearray(whole), bytearray(text)
        hurt[-2000] ^= 0x55
        stray[text.index(b'"args"', len(text) // 2) - 2] = 0xff
        for name, content in (("cut.json.gz", cut), ("hurt.json.gz", hurt), ("stray.json", stray)):
            write(name[:-3] if name.endswith(".gz") else name, bytes(content))
            if name.endswith(".gz"):
                os.rename(name[:-3], name)
            plain = dict(self.rows("SELECT event, args FROM trace_events(?)", name))
            self.assertGreater(len(plain), 500)
            picks = self.pick([(name, n) for n in plain], 400)
            with self.subTest(name):
                self.assertEqual(self.rows(self.JOIN, name), [(event, plain[event]) for _, event in picks])

    def test_files_in_turn(self):
        """When rows alternate between 16 files, each file is read up to one place and then once as a whole."""
        raws, picks = {}, []
        for rank in range(16):
            text, raws[f"d/rank{rank}.json"] = self.make(200, rank)
            write(f"d/rank{rank}.json", text)
        events = [(path, n) for path in raws for n in range(200)]
        self.assert_scattered("d", self.pick(events, 2000), raws)
        picks = sorted(events, key=lambda event: event[1])
        self.db.execute("DELETE FROM picks")
        self.db.executemany("INSERT INTO picks(file, event) VALUES(?, ?)", picks)
        self.assert_scattered("d", picks, raws)

    def test_in_the_order_of_the_file(self):
        """In file order one pass is enough, also for the second of two cursors."""
        text, raws = self.make(1575, 4)
        path = write("t.json", text)
        self.db.executemany("INSERT INTO picks(file, event) VALUES(?, ?)", [(path, n) for n in range(0, 1575, 7)])
        self.value("SELECT count(*) FROM trace_events(?)", path)
        for sql, most in ((self.JOIN, 1), ("SELECT a.args FROM trace_events(?) AS a", 1),
                          ("SELECT a.args, b.args FROM trace_events(?1) AS a CROSS JOIN trace_events(?1) AS b"
                           " WHERE b.event = a.event", 2)):
            with self.subTest(sql):
                before = bytes_read()
                self.rows(sql, path)
                self.assertLess(bytes_read() - before, most * len(text) + 100_000)

    def test_changed(self):
        """A changed file is an error where it must be read again; args already in memory stay."""
        text, raws = self.make(1575, 5)
        other = text.replace(b"op", b"po")
        self.db.executemany("INSERT INTO picks(event) VALUES(?)", [(1500,), (10,), (1200,), (20,)])
        sql = "SELECT e.args FROM picks AS p CROSS JOIN trace_events(?) AS e WHERE e.event = p.event"
        changes = {"in place": lambda path: write(path, other), "shorter": lambda path: os.truncate(path, 999),
                   "replaced": lambda path: (os.rename(path, f"old {path}"), write(path, other)), "removed": os.remove,
                   "touched": lambda path: os.utime(path, ns=(1, 1))}
        for (how, change), after in itertools.product(changes.items(), (0, 1)):
            path = write(f"{how}{after}.json", text)
            with self.subTest(how, after=after):
                time.sleep(0.02)
                cursor = self.db.execute(sql, (path,))  # it computes the first row; fetching one row computes the next
                rows = [row for row, in itertools.islice(cursor, after)]
                change(path)
                if after == 0:
                    with self.assertRaisesRegex(sqlite3.Error, "has changed while it was read|No such file"):
                        cursor.fetchall()
                else:
                    rows += [row for row, in cursor]
                wanted = [expected(raws[n])[0] if raws[n] else None for n in (1500, 10, 1200, 20)]
                self.assertEqual(rows, wanted[:len(rows)])

    @slowest
    @alone
    def test_time(self):
        """300 events of 34.8 MB take 0.3 s, and all kernel launches, in any order, take the time of two passes."""
        path = corpus("hta", "trace_diff", "control")
        slack = float(os.environ.get("SLACK") or 1)
        events = self.rows("SELECT file, event FROM trace_events(?)", path)
        launches = self.rows("SELECT file, link FROM trace_events(?) WHERE device = 'GPU' AND link >= 0", path)

        def seconds(sql):
            return min(timeit.repeat(lambda: self.rows(sql, path), repeat=3, number=1))
        self.pick(events, 300)
        self.assertLess(seconds(self.JOIN), 0.3 * slack)
        self.pick(launches, len(launches))
        self.assertLess(seconds(self.JOIN), 2 * seconds("SELECT sum(length(args)) FROM trace_events(?)"))


class Changed(Args):
    """When a file changes between the reading of its events and of their args, the result is the right args or an
    error.
    """

    PADS = [random.Random(number).randbytes(150).hex() for number in range(6000)]

    def fill(self, path, key, count):
        """Writes a trace in place; returns its args."""
        texts = [f'{{"{key}": {number}, "pad": "{pad}"}}' for number, pad in enumerate(self.PADS[:count])]
        write(path, "[" + ",\n".join(f'{{"ph":"X","name":"op","ts":1,"dur":1,"args":{args}}}' for args in texts) + "]")
        return texts

    def change(self, how, path, count):
        before = os.stat(path)
        time.sleep(0.02)
        if how == "half":
            os.truncate(path, before.st_size // 2)
        elif how == "removed":
            os.remove(path)
        elif how == "replaced":
            self.fill("new" + path, "m", count)
            os.replace("new" + path, path)
        elif how != "touched":
            self.fill(path, "longer" if how == "longer" else "m", count)
        if how in ("touched", "mtime kept"):
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + (how == "touched")))

    @slow
    def test_changes(self):
        """A change is noticed before any args are read, if made in place, and while they are read."""
        hows = ("other", "longer", "mtime kept", "touched", "half", "replaced", "removed")
        whens = (("iif(event > 5, args, '')", 4, 10), ("args", 1, 6000))
        for how, ending, (column, after, count) in itertools.product(hows, (".json", ".json.gz"), whens):
            path, rows, error = how + ending, [], None
            texts = self.fill(path, "n", count)
            with self.subTest(path, after=after):
                try:
                    for row in self.db.execute(f"SELECT event, {column} FROM trace_events(?)", (path,)):
                        rows.append(row)
                        if len(rows) == after:
                            self.change(how, path, count)
                except sqlite3.Error as raised:
                    error = str(raised)
                self.assertEqual([row for row in rows if row[1] not in ("", texts[row[0]])][:1], [])
                if error is None:
                    self.assertEqual(len(rows), count)
                    self.assertTrue(after == 1 or how in ("replaced", "removed"), "it goes unnoticed")
                elif how != "removed" or error != f"trace_events: cannot read '{path}': No such file or directory":
                    self.assertEqual(error, f"trace_events: '{path}' has changed while it was"
                                            f" read: run the query again")
                texts = self.fill(path, "after", 5)
                self.assertEqual(self.value("SELECT args FROM trace_events(?) WHERE event = 3", path), texts[3])


@slowest
@alone
class Long(Args):
    """With much to read, the first row comes immediately, and an interrupt works within 100 ms."""

    QUERIES = ("SELECT sum(length(args)) FROM trace_events('big.json.gz')",
               "SELECT args FROM trace_events('big.json.gz') WHERE name = 'last'",
               "SELECT max(args ->> '$.note') FROM trace_events('big.json.gz')",
               "SELECT e.args FROM (VALUES (9), (5)) AS p CROSS JOIN trace_events('big.json.gz') AS e"
               " WHERE e.event = p.column1")
    FIRST = "SELECT args FROM trace_events('big.json.gz') LIMIT 1"

    def setUp(self):
        super().setUp()
        note = b'{"Input Dims": [[32, 64], [64, 128]], "note": "' + b"k" * 200 + b'", "stream": 7}'
        block = gzip.compress((with_args("op", note) + b",\n") * 3000, 6)
        with open("big.json.gz", "wb") as file:
            file.write(gzip.compress(b"[") + block * 300 + gzip.compress(with_args("last", b"{}") + b"]"))
        self.value("SELECT count(*) FROM trace_events('big.json.gz')")

    def test_first_row(self):
        first, whole = (min(timeit.repeat(lambda sql=sql: self.rows(sql), repeat=3, number=1))
                        for sql in (self.FIRST, self.QUERIES[0]))
        self.assertLess(first, whole / 10)

    def test_interrupt(self):
        whole = {sql: min(timeit.repeat(lambda sql=sql: self.rows(sql), repeat=2, number=1)) for sql in self.QUERIES}
        for sql, (part, operations) in itertools.product(self.QUERIES, ((0.1, 0), (0.5, 0), (0.3, 1), (0.3, 1000))):
            with self.subTest(sql, part=part, operations=operations):
                delay = part * whole[sql]
                wished = time.monotonic() + delay
                if operations:
                    self.db.set_progress_handler(lambda at=wished: time.monotonic() > at, operations)
                else:
                    threading.Timer(delay, self.db.interrupt).start()
                with self.assertRaisesRegex(sqlite3.OperationalError, "^interrupted$"):
                    self.rows(sql)
                self.assertLess(time.monotonic() - wished, 0.1 * float(os.environ.get("SLACK") or 1))
                self.db.set_progress_handler(None, 0)
                self.assertEqual(self.value(self.FIRST)[:20], '{"Input Dims": [[32,')


class Chance(Args):
    """Random texts, valid or faulty, against expected()."""

    GOOD = (b"a", b"key", b" ", b"}", b"[", b",", b":", b"{", b"'", b"\\\"", b"\\\\", b"\\n", b"\\u0041", b"\\ud800",
            b"\\/", b"\x7f", *(text.encode() for text in ("\u00e9", "\u2028", "\ufffd", "\U0001f600")))
    BAD = (b"\0", b"\n", b"\t", b"\x1f", b"\\q", b"\\x41", b"\\u12", b"\\uD83", b"\\U", b"\\\n", b"\\\xe9", *BAD_UTF8)
    SCALARS = (b"0", b"-1.5e-7", b"12345678901234567890", b"1e999", b"true", b"false", b"null")

    def text(self, rng, mends, breaks, depth=0):
        """A value; `mends` and `breaks` are the rates of faults that can and cannot be repaired."""
        def pick(often, good, bad):
            return rng.choice(bad if rng.random() < often else good)

        def mark(byte):
            spaces = (pick(breaks, (b"", b"", b" ", b"\n\t", b"\r\n  "), (b"\x0b", b"\0", b"\x1f")) for _ in range(2))
            return pick(breaks, (byte,), (byte * 2, b" ", b"1", b",", b":")).join(spaces)

        def string():
            return b'"' + b"".join(pick(mends, self.GOOD, self.BAD) for _ in range(rng.randint(0, 8))) + b'"'
        kind = rng.randint(0 if depth < 5 else 2, 6) if depth else 0  # an object, an array, a string, another scalar
        if kind > 1:
            return string() if kind < 4 else pick(mends, self.SCALARS, WORDS)
        items = []
        for _ in range(rng.randint(0, 4)):
            key = b"" if kind else pick(breaks / 3, (string(),), WORDS) + mark(b":")
            items.append((mark(b",") if items else b"") + key + self.text(rng, mends, breaks, depth + 1))
        made = b"".join(items) + pick(breaks / 2, (b"", b" "), (b",", b"\x01"))
        return b"[ " + made + b"]" if kind else b"{" + made + b"}"

    def test_chance(self):
        for seed in range(3):
            rng, made, places = random.Random(seed), b"[", []
            rates = rng.choices(((0, 0), (0.1, 0), (0.3, 0), (0.1, 0.03), (0, 0.05)), k=300)
            raws = [self.text(rng, *rate) for rate in rates]
            for number, raw in enumerate(raws):
                places.append(len(made) + 1)
                pad = "z" * rng.randrange(1 if number % 10 else 70_000)
                made += with_args(f"op{number}", raw, pad=pad) + b",\n"
            path = self.put(made[:-2] + b"]", (".json", ".json.gz")[seed % 2])
            rows = self.rows("SELECT args, args IS NULL OR json_valid(args), name FROM trace_events(?)", path)
            self.assertEqual([row[2] for row in rows], [f"op{number}" for number in range(300)])
            found = {None: [], MENDED: [], LEFT_OUT: []}
            for row, raw, place in zip(rows, raws, places):
                text, what = expected(raw)
                found[what].append(place)
                with self.subTest(raw, seed=seed):
                    self.assertEqual(row[:2], (text, 1))
            self.assertGreater(min(map(len, found.values())), 30)
            self.assertEqual(self.said(path), {what: (len(at), at[0]) for what, at in found.items() if what})


class Files(Args):
    """Whole files that ship, and whole files of the corpus."""

    WITH_ARGS = """
        SELECT count(*), max(ts_ns), count(args ->> '$."Input Dims"') < 0, count(json_extract(args, '$.stream')) < 0,
               coalesce(sum(args IS NOT NULL AND json_valid(args) = 0), 0),
               count(iif(json_type(args, '$.stream') = 'integer' AND args ->> '$.stream' IS NOT stream, 1, NULL)),
               count(iif(json_type(args, '$.correlation') = 'integer'
                         AND args ->> '$.correlation' IS NOT correlation, 1, NULL))
        FROM trace_events(?)"""

    def outcome(self, sql, path):
        try:
            return self.rows(sql, path)
        except sqlite3.Error as error:
            return str(error)

    def compare(self, path, text, events):
        """Args equal the value that Python's json reads at the event's place, and keep their order in the file."""
        rows, at = self.rows("SELECT event, args FROM trace_events(?, NULL, NULL, 'all')", path), 0
        found = strictly("[" + ",".join(args or "null" for _, args in rows) + "]", first=len(text) < MANY)
        for (number, args), read in zip(rows, found):
            wanted = events[number].get("args")
            if read != (wanted if isinstance(wanted, dict) else None):
                self.fail(f"event {number} has {args!r}, expected {wanted!r}")
            at = text.find(args or "", at) + len(args or "")
            self.assertGreaterEqual(at, len(args or ""), f"event {number}: what it has does not stand there")
        self.assertNotIn(MENDED, self.said(path))
        return True

    def check(self, folders, lengths):
        """The number of files that are strict JSON and were compared."""
        strict = 0
        for path in itertools.chain(*map(files_below, folders)):
            if path.endswith((".sqlite", ".db")):  # for args of databases see test_nsys and others
                continue
            try:
                text = oracle.read_text(path)
                events = oracle.events_of(strictly(text, first=len(text) < MANY))
            except (ValueError, RecursionError):
                text, events = "", None
            if len(text) in lengths:
                with self.subTest(path):
                    plain = self.outcome("SELECT count(*), max(ts_ns), 0, 0, 0, 0, 0 FROM trace_events(?)", path)
                    self.assertEqual(self.outcome(self.WITH_ARGS, path), plain)
                    strict += events is not None and self.compare(path, text, events)
        return strict

    @slow
    def test_shipped(self):
        self.assertGreaterEqual(self.check(SHIPPED, SHORT) + self.check(SHIPPED, LONG), 8)

    @slow
    def test_corpus(self):
        self.assertGreaterEqual(self.check([corpus()], SHORT), 120)

    @slowest
    def test_long_files_of_the_corpus(self):
        self.assertGreaterEqual(self.check([corpus()], LONG), 10)
