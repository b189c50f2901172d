"""Hostile pickles give rows or one error in bounded memory, and never run code."""
import gzip
import os
import pickle
import pickletools
import random
import resource
import sqlite3
import struct
import time

from generate_memory import snapshot
from made import InFolder, write
from oracle_memory import devices, load
from support import corpus, series, slow, slowest

class AnyOpcodes:
    """Pickles a value with random opcodes that produce it, and with some that leave the stack unchanged."""

    def __init__(self, rng):
        self.rng, self.out, self.memo, self.taken, self.kept = rng, bytearray(b"\x80\4"), {}, set(), []

    def pickle(self, value):
        self.put(value)
        return bytes(self.out) + b"."

    def noise(self):
        if self.rng.random() < 0.1:
            self.out += self.rng.choice([b"\x890", b"(0", b"(1", b"(NK\1(\x881" + b"1", b"K\1" + b"20" + b"0",
                                         b"\x80\5", b"\x95" + bytes(8), b"]0", b"}0",
                                         b"C\3abc0", b"G" + bytes(8) + b"0", b"B\2\0\0\0ab0", b"\x8e\1\0\0\0\0\0\0\0a0",
                                         b"(K\1\x910", b"\x8f(N\x900"])

    def put(self, value):
        self.noise()
        if id(value) in self.memo and self.rng.random() < 0.8:
            place = self.memo[id(value)]
            short = place < 256 and self.rng.random() < 0.7
            self.out += b"h" + bytes([place]) if short else b"j" + struct.pack("<I", place)
            return
        if isinstance(value, (dict, list, tuple)):
            self.container(value)
        else:
            self.atom(value)
        if isinstance(value, (str, dict, list)) and self.rng.random() < 0.7:
            self.remember(value)
        self.noise()

    def remember(self, value):
        """Uses MEMOIZE, whose index is the size of the memo, or an index of its own."""
        place = len(self.taken)
        if self.rng.random() < 0.5 or place < 20:
            self.out += b"\x94"
        else:
            place = self.rng.randrange(2 * place)
            self.out += b"q" + bytes([place]) if place < 256 else b"r" + struct.pack("<I", place)
        self.memo = {one: at for one, at in self.memo.items() if at != place}
        self.memo[id(value)] = place
        self.taken.add(place)
        self.kept.append(value)

    def atom(self, value):
        if value is None or isinstance(value, bool):
            self.out += b"N" if value is None else b"\x88" if value else b"\x89"
        elif isinstance(value, int):
            self.out += self.rng.choice([
                *([b"K" + struct.pack("<B", value)] if 0 <= value < 2 ** 8 else []),
                *([b"M" + struct.pack("<H", value)] if 0 <= value < 2 ** 16 else []),
                *([b"J" + struct.pack("<i", value)] if -2 ** 31 <= value < 2 ** 31 else []),
                b"\x8a\x08" + struct.pack("<q", value),
                b"\x8b\x08\0\0\0" + struct.pack("<q", value),
                pickle.encode_long(value).join((b"\x8a" + bytes([len(pickle.encode_long(value))]), b""))])
        else:
            text = value.encode()
            self.out += self.rng.choice([*([b"\x8c" + bytes([len(text)]), b"U" + bytes([len(text)])] if len(text) < 256
                                           else []),
                                         b"X" + struct.pack("<I", len(text)), b"\x8d" + struct.pack("<Q", len(text)),
                                         b"T" + struct.pack("<I", len(text))]) + text

    def container(self, value):
        short = len(value) <= 3 and isinstance(value, tuple) and self.rng.random() < 0.7
        items = [(item,) for item in value] if not isinstance(value, dict) else list(value.items())
        if isinstance(value, tuple) or self.rng.random() < 0.3:  # all above a mark, or a fixed number
            self.out += b"" if short else b"("
            for item in items:
                for part in item:
                    self.put(part)
            self.out += b")\x85\x86\x87"[len(value):len(value)
                                         + 1] if short else {dict: b"d", list: b"l", tuple: b"t"}[type(value)]
            return
        one, many = (b"s", b"u") if isinstance(value, dict) else (b"a", b"e")
        self.out += b"}" if isinstance(value, dict) else b"]"
        while items:
            count = self.rng.choice([1, self.rng.randrange(0, 6), len(items)])
            alone = count == 1 and self.rng.random() < 0.5
            self.out += b"" if alone else b"("
            for item in items[:count]:
                for part in item:
                    self.put(part)
            self.out += one if alone else many
            del items[:count]


OPCODES = {op.name: op for op in pickletools.opcodes}
RUNS = {"GLOBAL": b"os\nsystem\n", "STACK_GLOBAL": b"", "REDUCE": b"", "BUILD": b"", "INST": b"os\nsystem\n",
        "OBJ": b"", "NEWOBJ": b"",
        "NEWOBJ_EX": b"", "EXT1": b"\1", "EXT2": b"\1\0", "EXT4": b"\1\0\0\0", "PERSID": b"x\n", "BINPERSID": b""}
OLD = {"INT": b"1\n", "LONG": b"1L\n", "FLOAT": b"1\n", "STRING": b"'a'\n", "UNICODE": b"a\n", "GET": b"0\n",
       "PUT": b"0\n"}
SMALL = {"segments": [{"device": 0, "address": 4096, "total_size": 1024, "is_expandable": True,
                       "segment_pool_id": (0, 0), "blocks": [
             {"address": 4096, "size": 512, "requested_size": 7, "state": "active_allocated",
              "frames": [{"name": "f", "filename": "a.py", "line": 1}]}]}],
         "device_traces": [[{"action": "alloc", "addr": 4096, "size": 7, "stream": 0, "time_us": 2 ** 50, "frames": []},
                            {"action": "oom", "device_free": 1, "size": 3.5, "stream": -1, "time_us": None}]],
         "external_annotations": [{"stage": "START", "name": "a", "device": 0, "time_us": 1}]}
SQL = ("SELECT count(*), sum(allocated), group_concat(frames) FROM memory_events('x.pickle')",
       "SELECT count(*), group_concat(place), group_concat(annotation) FROM memory_allocations('x.pickle')",
       "SELECT count(*), group_concat(pool) FROM memory_segments('x.pickle')",
       "SELECT sum(bytes) FROM memory_peak('x.pickle', 'annotation,place')")


class Hostile(InFolder):
    def read(self, content, sql=SQL):
        """The rows, or the text of the error."""
        write("x.pickle", content)
        answers = []
        for query in sql:
            try:
                answers.append(self.rows(query))
            except sqlite3.OperationalError as error:
                answers.append(str(error).split(": ", 1)[1])
        return answers

    def assert_refused(self, content, message):
        got = self.read(content, SQL[:1])[0]
        self.assertEqual(got, f"'x.pickle'{message}")

    def test_what_would_run_code_is_refused_at_every_place(self):
        whole = pickle.dumps(SMALL, protocol=4)
        places = [place for _, _, place in pickletools.genops(whole)][1:]
        for name, argument in {**RUNS, **OLD}.items():
            for place in places:
                content = whole[:place] + OPCODES[name].code.encode("latin-1") + argument + whole[place:]
                what = (f"this pickle would run code: opcode {name}" if name in RUNS
                        else f"{name} is an opcode of protocol 0")
                self.assert_refused(content, f": {what} at byte {place + 1}")

    def test_a_pickle_that_runs_something(self):
        class Runs:
            def __reduce__(self):
                return os.mkdir, ("made",)
        for protocol in (2, 3, 4, 5):
            self.read(pickle.dumps({**SMALL, "x": Runs()}, protocol=protocol))
            self.assertIn("would run code", self.read(pickle.dumps(Runs(), protocol=protocol))[0])
        self.assertFalse(os.path.exists("made"))

    def test_what_is_no_opcode(self):
        known = {op.code for op in pickletools.opcodes}
        for code in range(256):
            if chr(code) not in known:
                self.assert_refused(b"\x80\4" + bytes([code]), ": not an opcode of a pickle at byte 3")

    def test_cycles(self):
        filled = ": a container is filled after it was put into another one, as in a cycle at byte {}"
        self.assert_refused(b"\x80\4]\x94h\0a.", filled.format(7))
        self.assert_refused(b"\x80\4]\x94(h\0h\0e.", filled.format(10))
        self.assert_refused(b"\x80\4]\x94h\0\x85a.", filled.format(8))
        self.assert_refused(b"\x80\4}\x94K\1h\0s.", filled.format(9))
        self.assert_refused(b"\x80\4]\x94]\x94h\0ah\1a.", filled.format(9 + 3))
        self.assert_refused(b"\x80\4\x8f\x94(h\0\x90.", filled.format(8))

    def test_depth(self):
        depth = 10 ** 6
        self.assertIn("not a snapshot", self.read(b"\x80\4" + b"]" * depth + b"a" * (depth - 1) + b".")[0])
        self.assert_refused(b"\x80\4" + b"(" * depth + b".", ": nested deeper than 1,000 levels at byte 1003")
        self.assertIn("not a snapshot", self.read(b"\x80\4)" + b"\x85" * depth + b".")[0])

    def test_stack_memo_and_lengths(self):
        for content, message in (
                (b"\x80\4.", "the stack of the pickle is empty at byte 3"),
                (b"\x80\4a.", "the stack of the pickle is empty at byte 3"),
                (b"\x80\4]a.", "the stack of the pickle is empty at byte 4"),
                (b"\x80\4t.", "the stack of the pickle has no mark at byte 3"),
                (b"\x80\4](K\1a.", "the stack of the pickle is empty at byte 7"),
                (b"\x80\4h\0.", "the memo does not have what is asked for at byte 3"),
                (b"\x80\4N" + b"r" + struct.pack("<I", 10 ** 8) + b".", "an index of the memo is too large at byte 4"),
                (b"\x80\4N" + b"r" + struct.pack("<I", 2 ** 32 - 1) + b".",
                 "an index of the memo is too large at byte 4"),
                (b"\x80\4\x8d" + struct.pack("<Q", 2 ** 63) + b"abc.", "a text of more than 16 MiB at byte 3"),
                (b"\x80\4\x8d" + struct.pack("<Q", 2 ** 64 - 1) + b"abc.", "a text of more than 16 MiB at byte 3"),
                (b"\x80\4X" + struct.pack("<I", 1000) + b"abc.", "the pickle is truncated at byte 12"),
                (b"\x80\4\x8e" + struct.pack("<Q", 2 ** 63) + b"abc.", "the pickle is truncated at byte 16"),
                (b"\x80\4\x8b" + struct.pack("<I", 2 ** 31) + b"abc.", "the pickle is truncated at byte 12"),
                (b"\x80\4}(NNNu.", "a key of a dict has no value at byte 8"),
                (b"\x80\4}]Ns.", "a key of a dict is a container at byte 6"),
                (b"\x80\4]NNs.", "values are added to what is not a container for them at byte 6"),
                (b"\x80\4}Na.", "values are added to what is not a container for them at byte 5"),
                (b"\x80\4\x80\6N.", "not a protocol of 2 to 5 at byte 3")):
            if message:
                self.assert_refused(content, ": " + message)
        self.assert_refused(b"\x80\4" + b"N" * 5000000 + b".",
                            ": more than 4,194,304 values on the stack of the pickle at byte 4194307")
        self.assert_refused(b"\x80\1N.", " is not a pickle: name a file of torch.cuda.memory._dump_snapshot()")
        self.assert_refused(b"", " is not a pickle: name a file of torch.cuda.memory._dump_snapshot()")

    @slow
    def test_memory_is_bounded(self):
        """Bombs of 256 MB in a few hundred kB are refused as too large for the bytes read, or left out."""
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for piece in (b"]0", b"}0", b"\x880", b"K\1\x94" + b"0", b"C\xff" + b"a" * 255 + b"0"):
            part = gzip.compress(piece * (2 ** 24 // len(piece)), 9)
            with open("x.pickle", "wb") as file:
                file.write(gzip.compress(b"\x80\4") + part * 16 + gzip.compress(b"N."))
            with self.assertRaises(sqlite3.OperationalError):
                self.rows("SELECT * FROM memory_events('x.pickle')")
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 1024 * 1024)

    def test_a_dict_of_many_pieces_is_looked_up_at_once(self):
        """Looking up a dict of many pieces is fast: 30,000 opcodes fill an event, which is 30,000 times in its list.
        The last value of a key counts.
        """
        def text(word):
            return b"\x8c" + bytes([len(word)]) + word.encode()

        def made(count):
            fields = b"".join(text(key) + value + b"s" for key, value in (
                ("action", text("alloc")), ("addr", b"K\1"), ("size", b"K\2"), ("frames", b"]"), ("size", b"K\3")))
            event = b"}" + fields + b"K\1K\1s" * count
            return (b"\x80\4}" + b"K\1K\1s" * count + b"(" + text("segments") + b"]" + text("device_traces")
                    + b"]](" + event + b"q\0" + b"h\0" * count + b"eau.")
        start = time.process_time()
        self.assertEqual(self.read(made(30000), ["SELECT count(*), sum(size) FROM memory_events('x.pickle')"]),
                         [[(30001, 3 * 30001)]])
        self.assertLess(time.process_time() - start, 2 * float(os.environ.get("SLACK") or 1))

    def test_memory_of_gzip_is_bounded_by_the_file(self):
        """120 MB of one event in 120 kB of gzip take memory by the size of the file."""
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        head = pickle.dumps({"segments": [], "device_traces": []}, protocol=4)
        begin = head[:head.index(b"device_traces") + 13] + b"\x94]]"
        with open("x.pickle", "wb") as file:
            file.write(gzip.compress(begin + b"}r\xe8\3\0\0a"))
            file.write(gzip.compress(b"(" + b"j\xe8\3\0\0" * 4000000 + b"e") * 6 + gzip.compress(b"au."))
        with self.assertRaisesRegex(sqlite3.OperationalError, "too many values for a file of this size"):
            self.rows("SELECT * FROM memory_events('x.pickle')")
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 200 * 1024)

    @slow
    def test_frames_that_share_a_long_text(self):
        """Labels of 40,000 frames with a shared long text take neither time nor memory by the product of both."""
        before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        for length, error in ((10_000, "labels of frames are more than 64 MiB"), (10_000_000, None)):
            text = "a" * length
            frames = [{"name": text, "filename": "a.py", "line": line} for line in range(40_000)]
            event = {"action": "alloc", "addr": 1, "size": 1, "frames": frames}
            content = pickle.dumps({"segments": [], "device_traces": [[{**event, "addr": i} for i in range(50)]]})
            for sql in ("SELECT DISTINCT place FROM memory_allocations('x.pickle')",
                        "SELECT place FROM memory_peak('x.pickle', 'place') WHERE place NOT NULL"):
                self.assertEqual(self.read(content, [sql]), [error or [("a.py:0 ",)]])
            self.assertEqual(self.read(content, ["SELECT count(frames), count(*) FROM memory_events('x.pickle')"]),
                             [[(0, 50)]])
        self.assertLess(time.process_time() - start, 20 * float(os.environ.get("SLACK") or 1))
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 400 * 1024)

    def test_a_pool_of_all_segments(self):
        """The tuple that is the pool of each segment is printed up to the limit of an id."""
        pool = tuple(range(100_000))
        segments = [{"device": 0, "address": i, "total_size": 1, "segment_pool_id": pool, "blocks": []}
                    for i in range(2000)]
        self.assertEqual(self.read(pickle.dumps({"segments": segments, "device_traces": []}),
                                   ["SELECT DISTINCT pool FROM memory_segments('x.pickle')"]),
                         [[("[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]",)]])

    def test_lists_that_are_shared(self):
        """A list in several places is read at each, but in total no more often than a file of this size could have
        items.
        """
        block = {"size": 512, "requested_size": 7, "state": "active_allocated"}
        event, annotation = {"action": "alloc", "addr": 5,
                             "size": 7}, {"stage": "START", "name": "a", "device": 0, "time_us": 1}
        blocks, events = [block] * 1000, [event] * 20000

        def made(segments, traces, annotations=()):
            return pickle.dumps({"segments": [{"device": 0, "address": i * 10 ** 6, "total_size": 1, "blocks": blocks}
                                              for i in range(segments)],
                                 "device_traces": [events] * traces, "external_annotations": [annotation] * annotations
                                 if annotations else []})
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for content in (made(5000, 0), made(0, 120), made(500, 30), made(0, 1, 2_500_000)):
            self.assert_refused(content, ": more events, segments, blocks or annotations than a file of its size has")
        for content in (made(500, 0), made(0, 30), made(0, 1, 500_000)):
            self.assertIsInstance(self.read(content, SQL[-1:])[0], list)
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 400 * 1024)

    def test_truncated_anywhere(self):
        for protocol in (2, 4):
            whole = pickle.dumps(SMALL, protocol=protocol)
            for length in range(2, len(whole)):
                self.assert_refused(whole[:length], f": the pickle is truncated at byte {length + 1}")
        packed = gzip.compress(whole)
        for length in range(20, len(packed)):
            self.assertIn("truncated", self.read(packed[:length], SQL[:1])[0])

    def agree(self, content):
        """Devices and peaks equal the results of Python's own unpickler, if both read the file."""
        got, = self.read(content, ["SELECT device, events, allocations, peak_bytes, peak_event, peak_reserved,"
                                   " end_bytes FROM memory_files('x.pickle', 0)"
                                   " WHERE device IS NOT NULL"])
        try:
            known = [(n, len(d.events), len(d.allocations), d.peak_bytes, d.peak_event, d.reserved(d.peak_event),
                      d.end_bytes)
                     for n, d in devices(load(content)).items()]
        except Exception:
            return False
        if isinstance(got, list) and max([0] + [n for n, *_ in known]) < 128:
            self.assertEqual(got, known, content)
        return isinstance(got, list)

    def test_random_changes(self):
        """Random changes of bits, bytes and pieces, several at once, give rows or one error."""
        rng, read = random.Random(3), 0
        bases = [pickle.dumps(made, protocol=protocol) for made in (SMALL, snapshot(2), snapshot(5))
                 for protocol in (2, 4, 5)]
        for _ in range(series(250, 20000)):
            content = bytearray(rng.choice(bases))
            for _ in range(rng.choice([1, 1, 2, 3])):
                at = rng.randrange(2, len(content))
                piece = [bytes([content[at] ^ 1 << rng.randrange(8)]), bytes([rng.randrange(256)]), b"",
                         content[at:at + 1]
                         + bytes(rng.choices(b"(tl])d}eusaNKJM012q\x94h\x85\x86\x87\x88\x8a\x8c\x8f\x90\x91",
                                             k=rng.randrange(1, 5))),
                         content[rng.randrange(2, len(content)):][:rng.randrange(60)]]
                content[at:at + 1] = rng.choice(piece)
            read += self.agree(bytes(content))
        self.assertGreater(read, 5)
        self.assertEqual(os.listdir("."), ["x.pickle"])

    def test_opcodes_chosen_at_random(self):
        """The content of a pickle does not depend on the opcodes that produce it."""
        for seed in range(series(12, 300)):
            made = snapshot(seed)
            wanted = self.read(pickle.dumps(made))
            for _ in range(2):
                content = AnyOpcodes(random.Random(seed)).pickle(made)
                self.assertEqual(load(content), made)
                self.assertEqual(self.read(content), wanted, seed)

    def test_a_bit_flipped_anywhere(self):
        whole = pickle.dumps(SMALL, protocol=4)
        read = 0
        for at in range(2, len(whole)):
            for bit in range(8) if series(0, 1) else (at % 8,):
                read += self.agree(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1:])
        self.assertGreater(read, 10)

    def sweep(self, step):
        """A real file, with a bit flipped or cut off at each of some bytes, gives rows or one error."""
        with open(corpus("memory", "expandable", "snapshot.pickle"), "rb") as file:
            whole = file.read()
        for at in range(2, len(whole), step):
            got = self.read(whole[:at] + bytes([whole[at] ^ 1 << at // step % 8]) + whole[at + 1:], SQL[-1:])[0]
            self.assertTrue(isinstance(got, list) or "x.pickle" in got, got)
            self.assert_refused(whole[:at], f": the pickle is truncated at byte {at + 1}")
        self.assertEqual(os.listdir("."), ["x.pickle"])

    def test_some_bytes_of_a_real_file(self):
        self.sweep(series(1801, 37))

    @slowest
    def test_all_bytes_of_a_real_file(self):
        self.sweep(1)

    def test_a_snapshot_in_other_opcodes(self):
        """A snapshot in other opcodes gives the same rows: tuples for lists, one item at a time, keys twice, no frames,
        a memo by PUT.
        """
        made = snapshot(1)
        wanted = self.read(pickle.dumps(made, protocol=4))
        pickler = pickle._Pickler
        for protocol in (2, 3, 4, 5):
            self.assertEqual(self.read(pickle.dumps(made, protocol=protocol)), wanted)
        with open("y.pickle", "wb") as file:
            python = pickler(file, protocol=4)
            python._BATCHSIZE = 1  # APPEND and SETITEM
            python.dump(made)
        with open("y.pickle", "rb") as file:
            self.assertEqual(self.read(file.read()), wanted)
        self.assertEqual(self.read(pickletools.optimize(pickle.dumps(made, protocol=4))), wanted)
        tuples = {**made, "device_traces": tuple(tuple(events) for events in made["device_traces"]),
                  "segments": tuple(made["segments"])}
        self.assertEqual(self.read(pickle.dumps(tuples, protocol=4)), wanted)

    def test_large_integers_and_texts(self):
        text = "é" * 300000
        made = {"segments": [], "device_traces": [[
            {"action": text, "addr": 2 ** 63 - 1, "size": 1 - 2 ** 63, "stream": 2 ** 59, "time_us": -2 ** 59 - 1},
            {"action": "x\0y", "addr": 2 ** 63, "size": 2 ** 200, "stream": True, "time_us": 1.5}]]}
        self.read(pickle.dumps(made))
        self.assertEqual(self.rows("SELECT action, addr, size, stream, time_us FROM memory_events('x.pickle')"),
                         [(text, 2 ** 63 - 1, 1 - 2 ** 63, 2 ** 59, -2 ** 59 - 1), ("x\0y", None, None, None, None)])
        content = pickle.dumps({"segments": [], "device_traces": [[{"action": "ab"}]]},
                               protocol=4).replace(b"ab", b"\xff\xfe")
        self.read(content)
        self.assertEqual(self.rows("SELECT action FROM memory_events('x.pickle')"), [("\ufffd\ufffd",)])
