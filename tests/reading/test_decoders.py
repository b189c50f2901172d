"""Every gzip decoder gives the same rows: zlib, the reference, and ISA-L where it is installed. A process chooses its
decoder once, so each decoder has its own process.
"""
import glob
import os
import random
import subprocess
import sys
import unittest

from made import InFolder, document, event, run, write
from support import EXTENSION, ROOT, corpus, series, slow

SAMPLE = series(20, 150)  # bits in the middle of a file
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from support import connect
db = connect()
for path in sys.stdin.read().splitlines():
    for sql in ("SELECT * FROM trace_files(?)", "SELECT *, args FROM trace_events(?, NULL, NULL, 'all')",
                "SELECT * FROM trace_ops(?, 'all', 'all')"):
        try:
            rows = db.execute(sql, (path,)).fetchall()
        except Exception as error:
            rows = error
        print(path, repr(rows))
"""


def answers(decoder, paths):
    """The output of a process for each query, one line each."""
    environment = {**os.environ, "TRACEDIFF": EXTENSION, "TRACEDIFF_DECODER": decoder}
    done = subprocess.run([sys.executable, "-c", PROGRAM, os.path.join(ROOT, "tests")], env=environment, check=True,
                          input="\n".join(paths), stdout=subprocess.PIPE, encoding="utf-8", errors="surrogateescape")
    return done.stdout.splitlines()


def write_bytes(path, content):
    with open(path, "wb") as file:
        file.write(content)


class Decoders(InFolder):
    def setUp(self):
        super().setUp()
        if "ISA-L" not in self.value("SELECT tracediff_debug()"):
            self.skipTest("libisal.so.2 cannot be loaded")

    def assert_alike(self, paths):
        one, other = answers("zlib", paths), answers("", paths)
        self.assertEqual(len(one), 3 * len(paths))
        for left, right in zip(one, other):
            self.assertEqual(left, right)
        return one

    def test_the_environment_chooses(self):
        program = f"import sys; sys.path.insert(0, {ROOT + '/tests'!r}); from support import connect; " \
                  "print(connect().execute('SELECT tracediff_debug()').fetchone()[0])"
        said = subprocess.check_output([sys.executable, "-c", program], encoding="utf-8",
                                       env={**os.environ, "TRACEDIFF": EXTENSION, "TRACEDIFF_DECODER": "zlib"})
        self.assertIn("gzip by zlib", said)

    def test_whole_files(self):
        write("small.json.gz", run())
        write_bytes("nothing.json.gz", b"")
        write("many.json.gz", document(*(event(f"op{i * 7919 % 1000003}", i, 1) for i in range(series(10000, 50000)))))
        with open("small.json.gz", "rb") as one, open("members.json.gz", "wb") as several:
            whole = one.read()
            write("start.json.gz", '{"traceEvents": [')
            write("end.json.gz", '{"ph":"X","name":"a","ts":1,"dur":2}]}')
            for part in ("start", "end"):
                with open(f"{part}.json.gz", "rb") as member:
                    several.write(member.read())
            several.write(bytes(1000))
        for number, tail in enumerate((b"x", b"\x1fmore", b"\x1f\x8b", b"\x1f\x8b\x09more", whole[:15],
                                       bytes(9) + b"x")):
            write_bytes(f"tail{number}.json.gz", whole + tail)
        said = self.assert_alike(sorted(glob.glob("*.gz")))
        self.assertTrue("op7919" in "".join(said))

    def test_any_bit_is_wrong(self):
        """Any wrong bit gives the same result, also in the header, whose flags describe its fields."""
        rng = random.Random(1)
        write("whole.json.gz", run(extra=("gone",)))
        with open("whole.json.gz", "rb") as file:
            whole = file.read()
        for bit in sorted({*range(16, 96), *range(8 * len(whole) - 64, 8 * len(whole)),
                           *rng.sample(range(96, 8 * len(whole)), SAMPLE)}):
            broken = bytearray(whole)
            broken[bit // 8] ^= 1 << bit % 8
            write_bytes(f"bit{bit}.json.gz", broken)
        for cut in range(2, len(whole), 11):
            write_bytes(f"cut{cut}.json.gz", whole[:cut])
        said = "".join(self.assert_alike(sorted(glob.glob("*[0-9].json.gz"))))
        for what in ("the gzip data is damaged", "the gzip data is truncated"):
            self.assertTrue(what in said, what)

    @slow
    def test_the_corpus(self):
        paths = sorted(glob.glob(os.path.join(corpus("bad"), "*.gz")))
        self.assertGreater(len(paths), 10)
        self.assert_alike(paths)


if __name__ == "__main__":
    unittest.main()
