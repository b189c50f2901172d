"""Files with a JSON list (list.h), memory timelines and execution traces, are read completely or not at all."""
import gzip
import json
import random
import unittest

from made import InFolder, write


class Lists(InFolder):
    """Both functions read such lists, so the same checks apply to both."""

    def error(self, function, data, name="list.json"):
        write(name, data)
        try:
            return len(self.db.execute(f"SELECT * FROM {function}('{name}')").fetchall())
        except Exception as error:
            return str(error).removeprefix(f"{function}: '{name}': ")

    def test_a_document_cut_anywhere_gives_no_rows(self):
        for function, text in (("memory_timeline", "[[1, 2, 3, 0] , [2, 4, -3, 0]]"),
                               ("execution_trace", '{"schema": "1.0.1", "a": [{}], "nodes": [{"id": 1}, {"id": 2}],'
                                                   ' "b": 1}')):
            self.assertEqual(self.error(function, text), 2)
            for end in range(len(text)):
                self.assertEqual(self.error(function, text[:end]), f"the document is truncated at byte {end + 1}",
                                 text[:end])

    def test_gzip_that_is_cut_or_changed_gives_no_rows(self):
        rng = random.Random(3)
        packed = gzip.compress(json.dumps([[at, 2, rng.randrange(2 ** 40), 0] for at in range(1, 300)]).encode(),
                               mtime=0)
        self.assertEqual(self.error("memory_timeline", packed, "list.json.gz".replace(".gz", "")), 299)
        for end in range(20, len(packed), 97):
            self.assertRegex(self.error("memory_timeline", packed[:end]), "^truncated gzip|^the gzip|gzip")
        for at in rng.sample(range(20, len(packed)), 40):
            self.assertIsInstance(self.error("memory_timeline", packed[:at] + bytes([packed[at] ^ 0x55])
                                             + packed[at + 1:]), str)

    def test_every_byte_changed_is_an_error_or_rows(self):
        for function, text in (("memory_timeline", b"[[1, 2, 3, 0], [2, 4, -3, 0]]"),
                               ("execution_trace", b'{"nodes": [{"id": 1, "attrs": [{"name": "rf_id", "value": 2}]}],'
                                                   b' "b": 1}')):
            for at in range(len(text)):
                for byte in b'"{[],\\\xff1':
                    found = self.error(function, text[:at] + bytes([byte]) + text[at + 1:])
                    self.assertTrue(isinstance(found, int) or found, (at, byte))

    def test_what_is_not_json(self):
        for text, error in (("x", "not JSON at byte 1"), ("[[1,2,3,0],]", "not JSON at byte 12"),
                            ("[,[1,2,3,0]]", "not JSON at byte 2"),
                            ("[[1,2,3,0] [1,2,3,0]]", "not JSON at byte 12"), ("[[1,2,3,0]] x", "not JSON at byte 13"),
                            ("", "the document is truncated at byte 1"), ("7", "not JSON at byte 1"),
                            ('"a"', "not JSON at byte 1")):
            self.assertEqual(self.error("memory_timeline", text), error, text)
        not_one = "not an Execution Trace, an object with a list nodes: name a file of ExecutionTraceObserver"
        for text, error in (('{"nodes" [1]}', "not JSON at byte 10"), ('{"a": 1 "nodes": []}', "not JSON at byte 9"),
                            ("{1: 2}", "not JSON at byte 2"),
                            ('{"nodes": []} {}', "not JSON at byte 15"), ('{"nodes": {}}', not_one),
                            ("{}", not_one), ("[]", not_one)):
            self.assertEqual(self.error("execution_trace", text), error, text)
        self.assertEqual(self.error("memory_timeline", b"PK\x03\x04" + bytes(600)),
                         "memory_timeline: 'list.json' is a zip archive: unpack it first")

    def test_a_value_longer_than_16_mib(self):
        self.assertEqual(self.error("memory_timeline", "[[1, 2, 3, 0], [1, 2," + " " * (17 * 2 ** 20) + "3, 0]]"),
                         "a value longer than 16 MiB at byte 16")

    def test_a_list_of_many_chunks(self):
        entries = [[at, 2, 1, at % 8] for at in range(1, 60_000)]
        self.assertEqual(self.error("memory_timeline", entries), len(entries))
        self.assertEqual(self.db.execute("SELECT max(total), max(unknown)"
                                         " FROM memory_timeline('list.json')").fetchone(), (59_999, 7_500))

    def test_files_that_are_not_there(self):
        for function in ("memory_timeline", "execution_trace"):
            with self.assertRaisesRegex(Exception, f"^{function}: .*'nothing.json'"):
                self.db.execute(f"SELECT * FROM {function}('nothing.json')").fetchall()
            self.assert_error(f"{function}: trace must be the path of a directory or a file, a pattern, or a JSON"
                              f" array of these, not 7",
                              f"SELECT * FROM {function}(7)")


if __name__ == "__main__":
    unittest.main()
