"""Traces without steps: which range can be compared instead (C22), and ranges as evidence of the host's work (A5,
A11).
"""
import json

from made import InFolder, document, event, kernel, launch, write

LINES = "SELECT text FROM trace_summary('a.json', 'b.json') WHERE {}"


def ranges(*rounds, **fields):
    """Rounds of consecutive ranges; a range is (name, us), a pause (None, us)."""
    events, at = [], 0
    for each in rounds:
        for name, us in each:
            if name:
                events.append(event(name, at, us, **{"cat": "user_annotation", **fields}))
            at += us
    return events


def frames(count, forward="forward", us=100, others=()):
    return ranges(*[[("reader", 20), (forward, us), *others, (None, 40)]] * count)


class Asking(InFolder):
    def sides(self, control, test):
        for path, events in (("a.json", control), ("b.json", test)):
            write(path, document(*events))

    def lines(self, where="1", **arguments):
        where += "".join(f" AND {name} = {value}" for name, value in arguments.items())
        return [text for text, in self.rows(LINES.format(where))]

    def suggested(self, control, test, **arguments):
        """The text of the caution."""
        self.sides(control, test)
        found = self.lines("code = 'range'", **arguments)
        self.assertLessEqual(len(found), 1)
        return found[0].removeprefix("caution: ") if found else None

    def range(self, control, test):
        """The range that the caution names, whose query works."""
        said = self.suggested(control, test)
        if said is None:
            return None
        pattern = said[said.index("steps = '") + 9:-1]
        lines = self.lines("kind IN ('verdict', 'coverage')", steps=f"'{pattern}'")
        self.assertIn(" per step, ", lines[0])
        return pattern


class Repeats(Asking):
    """C22: repeated ranges."""

    def test_a_range_of_both(self):
        control, test = frames(30, "transformer", 200), frames(10, "poolformer", 1)
        self.assertEqual(self.suggested(control, test),
                         "`reader` runs 30 and 10 times: compare one run of it with steps = 'reader'")
        self.sides(control, test)
        self.assertEqual(self.lines("kind = 'cause'", steps="'reader'")[0].split()[-2:], ["host", "transformer"])

    def test_not_where_there_are_steps(self):
        control, test = frames(30), frames(10)
        self.assertIsNotNone(self.suggested(control, test))
        self.assertIsNone(self.suggested(control, test, steps="'forward'"))
        self.assertIsNone(self.suggested(control, test, steps="'profiler'"))
        marks = [event(f"ProfilerStep#{number}", 1000 * number, 900, cat="user_annotation") for number in range(4)]
        self.assertIsNone(self.suggested(control + marks, test + marks))
        self.assertIsNone(self.suggested(control + marks, test))
        self.assertIsNone(self.suggested(control, control))  # no difference

    def test_five_runs(self):
        self.assertEqual(self.range(frames(5), frames(6)), "reader")
        self.assertIsNone(self.range(frames(4), frames(6)))
        self.assertIsNone(self.range(frames(6), frames(4)))

    def test_half_of_the_trace(self):
        """A range must cover half of the trace, from the start of its first run to the end of its last: 10 runs of 100
        every 200 us cover 1,900 of 3,790.
        """
        for other, expected in ((1790, "loop"), (1810, None)):
            control, test = (ranges(*[[("loop", 100), (None, 100)]] * 10, [("other", us)]) for us in (other, 10))
            self.assertEqual(self.range(control, test), expected)
            self.assertEqual(self.range(test, control), expected)

    def test_the_outermost(self):
        def nested(count):
            return [each for number in range(count) for each in (
                event("outer", 100 * number, 90, cat="user_annotation"),
                event("inner", 100 * number + 60, 20, cat="user_annotation"))]
        self.assertEqual(self.range(nested(10), nested(20)), "outer")
        control, test = ([event("main", 0, 100 * count, cat="user_annotation"), *nested(count)] for count in (10, 20))
        self.assertEqual(self.range(control, test), "outer")

    def test_the_one_that_a_round_begins_with(self):
        """The range that begins a round is suggested: more time passes before it than before the others, or for equal
        pauses it takes longer.
        """
        for pauses, expected in (((40, 0, 0), "a"), ((0, 40, 0), "b"), ((0, 0, 40), "c"), ((0, 0, 0), "c")):
            control, test = (ranges(*[[each for name, us, pause in zip("abc", (10, 20, 30), pauses)
                                       for each in ((None, pause), (name, us))]] * count) for count in (6, 9))
            self.assertEqual(self.range(control, test), expected, pauses)

    def test_runs_that_overlap(self):
        """Nested or overlapping runs of one name are not steps; runs of several threads may overlap."""
        inner = [event("reader", 160 * number + 5, 5, cat="user_annotation") for number in range(10)]
        self.assertEqual(self.range(frames(10) + inner, frames(6)), "forward")
        other = [{**each, "tid": 2, "ts": each["ts"] + 10} for each in frames(10)[::2]]
        self.assertEqual(self.range(frames(12) + other, frames(6)), "reader")

    def test_only_annotations(self):
        for name, fields in (("op", {"cat": "cpu_op"}), ("nccl:all_reduce", {}), ("gloo:all_reduce", {})):
            self.assertIsNone(self.range(*(ranges(*[[(name, 90)]] * count, **fields) for count in (10, 5))), name)

    def test_with_device_work(self):
        def both(count):
            return [each for number, at in enumerate(range(0, 160 * count, 160)) for each in (
                launch(at + 30, 5, number + 1), kernel("gemm", at + 40, 60, number + 1))] + frames(count)
        self.assertEqual(self.range(both(10), both(5)), "reader")

    def test_names_that_are_no_patterns(self):
        for name in ("50%", "it's", "[1]", "auto", "two\nlines", "caf\u00e9", ""):
            self.assertIsNone(self.range(ranges(*[[(name, 90)]] * 10), ranges(*[[(name, 90)]] * 5)), name)
        self.assertEqual(self.range(ranges(*[[("a_b", 90)]] * 10), ranges(*[[("a_b", 90)]] * 5)), "a_b")

    def test_long_names(self):
        """A name of more than 30 characters is given by its first 30, if no other name begins with them."""
        loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
        shown = "x" * 15
        for name, said in ((shown, f"`{shown}` runs 10 and 5 times: compare one run of it with steps = '{shown}'"),
                           ("x" * 16, f"compare one of 10 and 5 runs with steps = '{'x' * 16}'"),
                           ("x" * 30, f"compare one of 10 and 5 runs with steps = '{'x' * 30}'"),
                           ("x" * 31, f"compare one of 10 and 5 runs with steps = '{'x' * 30}%'"),
                           (loader, f"compare one of 10 and 5 runs with steps = '{loader[:30]}%'")):
            control, test = (ranges(*[[(name, 90)]] * count) for count in (10, 5))
            self.assertEqual(self.suggested(control, test), said)
            self.assertEqual(self.range(control, test), said[said.index("steps = '") + 9:-1])
        other = ranges([(loader[:30] + "other", 10)])
        self.assertIsNone(self.range(control + other, test))

    def test_of_a_job(self):
        """In a job, the lowest rank answers for all."""
        for side, count in (("a", 10), ("b", 5)):
            for rank in range(2):
                write(f"{side}/rank{rank}.json", document(*frames(count)))
        self.assertEqual(self.rows("SELECT words FROM trace_summary('a', 'b') WHERE code = 'range'"),
                         [("`reader` runs 10 and 5 times: compare one run of it with steps = 'reader'",)])

    def test_the_brief_has_it(self):
        self.sides(frames(10), frames(5))
        brief = json.loads(self.value("SELECT json FROM trace_brief('a.json', 'b.json')"))
        self.assertEqual([each["words"] for each in brief["cautions"]],
                         ["`reader` runs 10 and 5 times: compare one run of it with steps = 'reader'"])


class Ranges(Asking):
    """Time in a range is recorded time."""

    def parts(self, *events, **arguments):
        where = "".join(f" AND {name} = {value}" for name, value in arguments.items())
        write("t.json", document(*events))
        return dict(self.rows(f"SELECT class || ' ' || coalesce(name, ''), sum(time) FROM trace_step_time('t.json')"
                              f" WHERE iterations = 'all'{where} GROUP BY 1"))

    def test_without_operators(self):
        """A5.3: without operators, the thread with the most annotations shows the host's work."""
        self.assertEqual(self.parts(*frames(2)), {"host reader": 40, "host forward": 200,
                                                  "unrecorded between forward and reader": 40})
        other = event("other", 0, 280, cat="user_annotation", tid=2)
        self.assertEqual(self.parts(other, *frames(2))["host forward"], 200)
        self.assertEqual(self.parts(*frames(2), event("op", 0, 280, tid=2)), {"host op": 280})

    def test_between_ranges(self):
        """Gaps between ranges with several names do not count as unrecorded time."""
        def rounds(us):
            return ranges(*[[each for name in "abcdef" for each in ((name, 10 * us), (None, us))]] * 5)
        self.sides(rounds(1), rounds(2))
        self.assertEqual([line for line in self.lines() if "between recorded" in line],
                         ["  +0.029 ms    9 %  not recorded   between recorded events"])

    def test_a_range_that_is_the_step(self):
        """A11.1: a range that is the step is work, if nothing else starts in it."""
        self.assertEqual(self.parts(*frames(3), steps="'reader'"),
                         {"host reader": 60, "host forward": 200, "unrecorded after forward": 80})

    def test_a_range_that_encloses_is_not(self):
        op = event("op", 5, 10)
        self.assertEqual(self.parts(*frames(3), op, steps="'reader'").get("host reader"), None)
        for names in (("s1", "s2", "s3"), ("s1",)):
            steps = ranges(*[[(name, 100)] for name in names])
            self.assertEqual(self.parts(*steps, steps="'s%'"), {"unrecorded ": 100 * len(names)}, names)
        elsewhere = event("op", 5, 10, tid=2)
        self.assertEqual(self.parts(*frames(3), elsewhere, steps="'reader'").get("host reader"), 60)
