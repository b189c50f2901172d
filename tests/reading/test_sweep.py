"""One small trace, cut at every byte and with every byte changed: complete events stay, and lost ones are reported."""
import gzip
import json
import os
import sqlite3
import unittest

from made import InFolder, event, kernel, launch, step, write
from support import series, slow

METADATA = "SELECT key, value FROM trace_metadata(?)"
SQL = "SELECT cat, name, ts_ns, dur_ns, pid, tid, event FROM trace_events(?) WHERE ph = 'X' ORDER BY event"


def begin(name, ts, tid=1):
    return {"ph": "B", "cat": "c", "name": name, "pid": 1, "tid": tid, "ts": ts}


def end(ts, tid=1, **fields):
    return {"ph": "E", "pid": 1, "tid": tid, "ts": ts, **fields}


EVENTS = [
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python {1} [2]"}},
    step(1, 0, 900), event("aten::mm", 10, 20.125, args={"External id": 1, "Input Dims": [[2, 3], [3, 4]]}),
    event('say "x", \\ [y] {z}: \t\n', 40, 5, args={"note": 'a "quoted" } ] , text', "none": None, "no": {}}),
    begin("outer", 100), begin("inn\u00e9r \U0001f600", 110), event("in between", 115, 1, cat="c,d"), end(120),
    launch(130, 4, 7), kernel("void gemm<float, 4>(int*)", 150, 60.001, 7), end(190, name="outer"),
    event("kept: } , {", 200, 7, args={"stack": ["a.py(1): f", "b.py(2): g"]}),
    {"ph": "i", "name": "mark", "pid": 1, "tid": 1, "ts": 210, "s": "t"},
    event("", 220, 0, tid="a thread"), begin("last", 300), step(2, 1000, 900), end(1100),
    event("\u77e9\u9635", 1010, 3), event("the end", 1020, 1e3, args={})]
HEAD = '{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "a {b}"}], "traceEvents": ['
TAIL = '], "distributedInfo": {"rank": 0, "world_size": 1}, "traceName": "x.json"}'


def text(head=HEAD, tail=TAIL):
    """The document, and where its events begin and end."""
    made, places = head, []
    for number, item in enumerate(EVENTS):
        made += ",\n" if number else ""
        at = len(made.encode())
        made += json.dumps(item, ensure_ascii=number % 2 == 0)
        places.append((at, len(made.encode())))
    return (made + tail).encode(), places


class Sweep(InFolder):
    def put(self, content):
        """Writes a new file each time."""
        if hasattr(self, "path"):
            os.remove(self.path)
        self.number = getattr(self, "number", 0) + 1
        self.path = f"{self.number}.json"
        with open(self.path, "wb") as file:
            file.write(content)
        return self.path

    def answer(self, sql, path):
        """The rows, or None after an error that names the file."""
        try:
            return self.rows(sql, path)
        except sqlite3.Error as error:
            self.assertIn(f"'{path}'", str(error))
            return None


@slow
class Cut(Sweep):
    def sweep(self, content, whole, places=None, is_whole=lambda kept: False):
        """`places`: the positions of events in an uncompressed document."""
        metadata = self.rows(METADATA, self.path)
        for kept in range(len(content)):
            path = self.put(content[:kept])
            rows = self.answer(SQL, path)
            if rows is None:
                self.assertLess(kept, 2)
                continue
            if rows != whole[:len(rows)]:
                self.assertEqual(rows, whole[:len(rows)], kept)
            said = self.answer(METADATA, path)
            if said != metadata[:len(said)]:
                self.assertEqual(said, metadata[:len(said)], kept)
            if places:
                done = [row for row in whole if places[row[-1]][1] <= kept]
                if rows != done:
                    self.assertEqual(rows, done, kept)
            same = self.answer("SELECT * FROM trace_diff(?1, ?1)", path)
            if (same is not None) != is_whole(kept):
                self.fail(f"cut at {kept}: {same}")

    def whole(self, content):
        rows = self.answer(SQL, self.put(content))
        self.assertEqual([row[-1] for row in rows],
                         [number for number, item in enumerate(EVENTS) if item["ph"] == "X"])
        self.assertEqual([row[1] for row in rows], [item["name"] for item in EVENTS if item["ph"] == "X"])
        self.assertIsNotNone(self.answer("SELECT * FROM trace_diff(?1, ?1)", self.path))
        return rows

    def test_object(self):
        content, places = text()
        self.sweep(content, self.whole(content), places)

    def test_array(self):
        """A bare array needs no closing bracket: it is complete wherever an event is."""
        content, places = text("[", "]")
        inside = {kept for start, stop in places for kept in range(start + 1, stop)}
        self.sweep(content, self.whole(content), places, lambda kept: kept > 0 and kept not in inside)

    def test_gzip(self):
        content, _ = text()
        packed = gzip.compress(content, mtime=0)
        self.sweep(packed, self.whole(packed))

    def test_gzip_members(self):
        """Between two gzip members, only the document shows that another one is missing."""
        content, _ = text()
        packed = b"".join(gzip.compress(content[at:at + 500], mtime=0) for at in range(0, len(content), 500))
        self.sweep(packed, self.whole(packed))


@slow
class Changed(Sweep):
    """A changed byte in an event, or between two, may lose that event and one on each side. A bracket there may lose
    more, because it can close the list of events; comparisons are then refused. No row is lost silently, except by its
    own phase.
    """

    def sweep(self, change, bracket=False, turn=0, turns=1):
        """Every byte, or one in this many."""
        content, places = text()
        whole = self.rows(SQL, self.put(content))
        metadata = self.rows(METADATA, self.path)
        phases = [start + content[start:stop].index(b'"ph": "') + 7 for start, stop in places]
        wrong = []
        for at, byte in enumerate(content):
            changed = change(byte)
            if changed == byte or at % turns != turn % turns:
                continue
            path = self.put(content[:at] + bytes([changed]) + content[at + 1:])
            rows = self.answer(SQL, path)
            if rows is None or len(rows) < len(whole) and at not in phases:
                self.assert_said(path, at, changed)
            found = self.answer(METADATA, path)
            if found is None or found != metadata and len(HEAD) <= at < places[-1][1]:
                self.assert_said(path, at, changed)
            if rows is None or at < len(HEAD) or at >= places[-1][1]:
                continue  # around the events: all of them, or fewer with a problem
            left = {row[:-1] for row in rows}
            near = [number for number, (start, stop) in enumerate(places) if start - 2 <= at < stop + 2]
            far = [row[-1] for row in whole if row[:-1] not in left and not near[0] - 1 <= row[-1] <= near[-1] + 1]
            if far and not (bracket and self.answer("SELECT * FROM trace_diff(?1, ?1)", path) is None):
                wrong.append(f"byte {at} became {chr(changed)!r}, in event {near}: {far} are lost")
        self.assertEqual(wrong, [])

    def assert_said(self, path, at, changed):
        (problems,), = self.rows("SELECT problems FROM trace_files(?)", path)
        self.assertNotEqual(problems, "[]", f"byte {at} became {chr(changed)!r}: lost in silence")

    def test_lowest_bit(self):
        self.sweep(lambda byte: byte ^ 1)

    def test_highest_bit(self):
        self.sweep(lambda byte: byte ^ 0x80)

    def test_nul(self):
        self.sweep(lambda byte: 0)

    def test_quote(self):
        self.sweep(lambda byte: ord('"'))

    def test_backslash(self):
        self.sweep(lambda byte: ord("\\"))

    def test_brackets(self):
        for turn, bracket in enumerate("{}[]"):
            with self.subTest(bracket):
                self.sweep(lambda byte, bracket=bracket: ord(bracket), True, turn, series(4, 1))

    def test_comma_and_colon(self):
        for turn, mark in enumerate(",:"):
            with self.subTest(mark):
                self.sweep(lambda byte, mark=mark: ord(mark), False, turn, series(2, 1))


if __name__ == "__main__":
    unittest.main()
