"""trace_health finds what was planted in recordings of GPUs, and nothing in the unchanged recordings."""
import gzip
import json
import os
import random
import unittest

from made import InFolder, write
from support import EXAMPLES, corpus, found_below, series

CODES = "SELECT \"check\", severity, count, event FROM trace_health('t.json')"
BLOCK = 8192  # bytes that a program writes in one call
WORK = ("kernel", "gpu_memcpy", "gpu_memset")


def recorded():
    """Ten recordings of three steps or more whose kernels are launched individually, or the first of these; one is from
    the corpus, if that is available.
    """
    paths = [path for path in found_below(os.path.join(EXAMPLES, "h200"), "*", "*", "rank0.json.gz")
             if not {"graphs", "capture"} & set(path.split(os.sep))]
    try:
        paths.insert(0, *found_below(corpus("hta", "trace_diff", "control"), "*.json.gz"))
    except unittest.SkipTest:
        pass
    return paths[:series(3, 10)]


def queue_of(one):
    return one["pid"], one["tid"], one["args"].get("context")


def is_kernel(one):
    return one.get("cat") == "kernel" and one["ph"] == "X"


class Planted(InFolder):
    def each(self, plant, check, severity, after=lambda: None):
        """Plants a fault in each recording, and looks for it. `plant` changes the events and returns them."""
        count = 0
        for place, path in enumerate(recorded()):
            with gzip.open(path, "rt", encoding="utf-8") as file:
                whole = json.load(file)
            whole["traceEvents"] = plant(whole["traceEvents"], random.Random(place))
            write("t.json", whole)
            with self.subTest(path):
                self.assertIn((check, severity), [row[:2] for row in self.rows(CODES)])
                after()
            count += 1
        self.assertEqual(count, series(3, 10))

    def test_unchanged(self):
        for path in recorded():
            with self.subTest(path):
                self.assertEqual(self.rows("SELECT * FROM trace_health(?) WHERE severity <> 'note'", path), [])

    def test_dropped(self):
        def plant(events, rng):
            kernels = [i for i, one in enumerate(events) if is_kernel(one)]
            gone = set(rng.sample(kernels, len(kernels) // 20))
            return [one for i, one in enumerate(events) if i not in gone]
        self.each(plant, "kernels lost", "incomplete")

    def test_untimed(self):
        def plant(events, rng):
            kernels = [one for one in events if is_kernel(one)]
            for one in rng.sample(kernels, len(kernels) // 20):
                one["ts"] = one["dur"] = 0
            return events
        self.each(plant, "no time", "incomplete")

    def test_too_long(self):
        """A kernel that is too long is a note, because the time of all kernels is nearly unchanged."""
        def plant(events, rng):
            last, self.before = {}, sum(one["dur"] for one in events if is_kernel(one))
            for one in events:
                if one.get("cat") in WORK:
                    last[queue_of(one)] = max(last.get(queue_of(one), 0), one["ts"])
            long = rng.choice([one for one in events if is_kernel(one) and "nccl" not in one["name"]
                               and one["ts"] < last[queue_of(one)]])
            long["dur"] *= 1000000
            return events

        def after():
            time = self.value("SELECT sum(dur) FROM trace_events('t.json') WHERE cat = 'kernel'")
            self.assertAlmostEqual(time, self.before, delta=self.before / 100)
        self.each(plant, "too long", "note", after)

    def test_a_step_dropped(self):
        def plant(events, rng):
            steps = sorted((one for one in events if one.get("name", "").startswith("ProfilerStep")
                            and one.get("cat") == "user_annotation"), key=lambda one: one["ts"])
            step = rng.choice(steps[1:-1])
            end = step["ts"] + step["dur"]
            launches = {one["args"]["correlation"] for one in events if "correlation" in (one.get("args") or {})
                        and one.get("cat", "").startswith("cuda_") and step["ts"] <= one["ts"] < end}
            return [one for one in events if not is_kernel(one) or one["args"]["correlation"] not in launches]
        self.each(plant, "kernels lost", "incomplete")

    def test_one_burst(self):
        """All work in one burst is found: it is a hundred times as fast, and runs at the end."""
        def plant(events, rng):
            work = [one for one in events if one.get("cat") in WORK]
            first, end = min(one["ts"] for one in work), max(one["ts"] for one in events if "ts" in one)
            for one in work:
                one["ts"], one["dur"] = end + (one["ts"] - first) / 100, one["dur"] / 100
            return events
        self.each(plant, "out of step", "wrong")

    def test_two_writers(self):
        """Two files written into one in blocks are found."""
        paths = recorded()
        texts = []
        for path in paths:
            with gzip.open(path) as file:
                texts.append(file.read())
        for i, text in enumerate(texts):
            other = texts[(i + 1) % len(texts)]
            blocks = [one[at:at + BLOCK] for at in range(0, max(len(text), len(other)), BLOCK) for one in (text, other)]
            write("t.json", b"".join(blocks))
            with self.subTest(paths[i]):
                self.assertIn(("cut", "incomplete"), [row[:2] for row in self.rows(CODES)])


if __name__ == "__main__":
    unittest.main()
