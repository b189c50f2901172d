"""trace_gate decides whether a change may be merged, by the cases of O1 to O3."""
from made import InFolder, document, event, kernel, launch, step, write

PASS, FAIL = ("pass", 0, None, None), ("fail", 1, None, None)


def unknown(code, reason):
    return "not known", 2, code, reason


MEAN = unknown("mean", "only the mean is above")
MEDIAN = unknown("median", "only the median is above")
UNCLEAR = unknown("unclear", "the difference is not clear")


class Gate(InFolder):
    def trace(self, path, *lengths, rank=0, world=None, device=None, extra=()):
        """Steps of these lengths in us, which their kernels fill."""
        events, at = [], 0
        for number, length in enumerate(lengths, 1):
            events += [step(number, at, length), event("op", at, length / 2), launch(at, length / 8, number),
                       kernel("gemm", at, length, number)]
            at += length
        keys = {"deviceProperties": [{"id": 0, "name": device}]} if device else {}
        if rank or world:
            keys["distributedInfo"] = {"rank": rank, **({"world_size": world} if world else {})}
        write(f"{path}/rank{rank}.json", document(*events, *extra, **keys))

    def host(self, path, *lengths):
        """The same steps on a host without a device."""
        events, at = [], 0
        for number, length in enumerate(lengths, 1):
            events += [step(number, at, length), event("op", at, length)]
            at += length
        write(f"{path}/rank0.json", document(*events))

    def gate(self, percent, control="a", test="b", columns="outcome, status, code, reason", **arguments):
        terms = " AND ".join(f"{name} = :{name}" for name in arguments) or "1"
        row, = self.db.execute(f"SELECT {columns} FROM trace_gate(:a, :b, :p) WHERE {terms}",
                               {"a": control, "b": test, "p": percent, **arguments})
        return row


class Limits(Gate):
    def pair(self, control, test):
        self.trace("a", *control)
        self.trace("b", *test)

    def test_what_equals_the_limit_is_within_it(self):
        for more, percent, expected in ((100, 10, PASS), (100.001, 10, FAIL), (99.999, 10, PASS), (70, 7, PASS),
                                        (70.001, 7, FAIL), (290, 29, PASS), (0, 0, PASS), (0.001, 0, UNCLEAR),
                                        (-300, 0, PASS), (100, 1e300, PASS), (570, 57, PASS)):
            with self.subTest(more=more, percent=percent):
                self.pair([1000] * 6, [1000 + more] * 6)
                self.assertEqual(self.gate(percent), expected)

    def test_a_billionth_of_the_step_is_the_limit(self):
        """The limit is a billionth of the step, a ns for 1 s; doubles are exact to a millionth of that."""
        second = 1e6
        for more, expected in ((0.001, PASS), (0.002, FAIL)):
            self.pair([second] * 6, [1.1 * second + more] * 6)
            self.assertEqual(self.gate(10), expected, more)

    def test_both_limits_count(self):
        self.pair([1000] * 6, [1100] * 6)
        for percent, least, expected in ((9, 0.09, FAIL), (10, 0.09, PASS), (9, 0.11, PASS), (0, 0, FAIL),
                                         (9.5, 1, PASS), (9, 0.1, PASS), (9, 0.099999, FAIL), (9, None, FAIL)):
            self.assertEqual(self.gate(percent, least_ms=least), expected, (percent, least))

    def test_one_of_mean_and_median_decides_nothing(self):
        self.pair([1000] * 6, [1000, 1400, 1000, 1000, 1000, 1000])
        self.assertEqual(self.gate(10), PASS)
        self.assertEqual(self.gate(9), MEAN)
        self.assertEqual(self.gate(5, least_ms=0.05), MEAN)
        self.assertEqual(self.gate(5, least_ms=0.1), PASS)
        self.pair([1000] * 6, [1100, 700, 1100, 1100, 1100, 1000])
        self.assertEqual(self.gate(9), MEDIAN)
        self.assertEqual(self.gate(10), PASS)

    def test_what_is_not_clear_fails_nothing(self):
        self.pair([1000, 1000, 1400, 1000, 1200, 1000], [1000, 1100, 1400, 1200, 1300, 1000])
        self.assertEqual(self.gate(1), UNCLEAR)
        self.assertEqual(self.gate(14), PASS)  # by 8.7 and 13.6 %
        self.pair([1000] * 6, [1004] * 6)
        self.assertEqual(self.gate(0.3), UNCLEAR)
        self.pair([1000] * 6, [1006] * 6)
        self.assertEqual(self.gate(0.3), FAIL)

    def test_numbers_are_those_of_the_verdict(self):
        self.pair([1000, 1010, 1000, 1030], [1200, 1210, 1220, 1250])
        found = self.gate(5, columns="control_ms, test_ms, mean_percent, median_percent, ranks")
        expected, = self.rows(
            "SELECT control_ms, test_ms, 100 * (test_ms - control_ms) / control_ms,"
            " 100 * (test_median_ms - control_median_ms) / control_median_ms, NULL FROM trace_verdict('a', 'b')")
        self.assertEqual(found, expected)

    def test_steps_that_are_asked_for(self):
        self.pair([1000] * 6, [1000, 1300, 1300, 1000, 1000, 1000])
        for steps, expected in (("[4,5]", PASS), ("[2,3]", FAIL), (2, FAIL)):
            self.assertEqual(self.gate(5, control_iteration=steps, test_iteration=steps), expected, steps)

    def test_steps_of_the_host(self):
        for path, more in (("a", 1), ("b", 2)):
            events = []
            for number in range(6):
                at = 1000 * number
                events += [step(number, at, 500 * more), event("op", at, 500 * more), launch(at, 5, number),
                           kernel("gemm", at, 900, number)]
            write(f"{path}/rank0.json", document(*events))
        self.assertEqual(self.gate(5), PASS)
        self.assertEqual(self.gate(5, clock="host"), FAIL)

    def test_wrong_limits(self):
        self.pair([1000] * 4, [1000] * 4)
        for call, said in (("('a', 'b', -1)", "limit_percent must be a number of 0 or more, not -1"),
                           ("('a', 'b', '5%')", "limit_percent must be a number of 0 or more, not '5%'"),
                           ("('a', 'b', 5, 0, 0, 1, 1, 'device', -1)",
                            "least_ms must be a number of 0 or more, not -1")):
            self.assert_error(f"trace_gate: {said}{self.order('trace_gate')}", f"SELECT * FROM trace_gate{call}")
        self.assertEqual(self.rows("SELECT * FROM trace_gate('a', 'b', NULL)"), [])


class Load(Gate):
    """Load on hosts without a device."""

    def trace(self, path, factors, more=(), often=1):  # pylint: disable=arguments-differ
        """Six steps of twelve operators, each longer by its factor, then others."""
        events, at = [], 0
        for number in range(6):
            begins = at
            for op, factor in enumerate(factors):
                for _ in range(often if op == 0 else 1):
                    length = (20 + 3 * op + number % 2) * factor
                    events.append(event(f"aten::op{op}", at + 1, length))
                    at += length + 2
            for name, length in more:
                events.append(event(name, at + 1, length))
                at += length + 2
            events.append(step(number, begins, at - begins))
        write(f"{path}/rank0.json", document(*events))

    def test_that_explains_the_difference(self):
        self.trace("a", [1] * 12)
        self.trace("b", [4] * 12)
        self.assertEqual(self.gate(5), unknown("load", "another load of the host explains the difference"))
        self.assertEqual(self.gate(300), PASS)
        self.assertEqual(self.gate(5, "b", "a"), PASS)

    def test_beside_other_work(self):
        self.trace("a", [1] * 12)
        self.trace("b", [4] * 12, often=2)
        self.assertEqual(self.gate(5), unknown("load", "test does different work, under another load of the host"))

    def test_that_leaves_most_of_it(self):
        self.trace("a", [1] * 12)
        self.trace("b", [1.2] * 12, more=[("aten::new", 3000)])
        self.assertEqual(self.gate(5), FAIL)


class Sizes(Gate):
    def test_longer_steps_that_are_faster_at_like_sizes(self):
        """Test's steps are longer because more of them are large, but steps of similar size are faster."""
        for path, sizes, lengths in (("a", [8] * 12 + [32] * 9, {8: 10, 32: 20}),
                                     ("b", [8] * 9 + [32] * 30, {8: 9, 32: 18})):
            events, at = [], 0
            for number, size in enumerate((1, *sizes, 1)):
                name, length = f"execute_context_0(0)_generation_{size}({size})", lengths.get(size, 1)
                events += [event(name, at, 1000 * length, cat="user_annotation"), event("op", at, 1000 * length)]
                at += 1000 * length
            write(f"{path}/rank0.json", document(*events))
        self.assertEqual(self.gate(5), unknown("unclear", "the difference is not clear: test is faster at like sizes"))


class Ranks(Gate):
    def collective(self, path, length, rank, late):
        """Six steps that end in an all-reduce of both ranks; the kernels of the late rank take longest."""
        events = []
        for number in range(6):
            at = (late + 100) * number
            args = {"correlation": 2 * number + 1, "stream": 7}
            events += [step(number, at, late + 90), event("op", at, 20), launch(at + 20, 5, 2 * number),
                       kernel("gemm", at + 30, length, 2 * number), launch(at + 40, 5, 2 * number + 1),
                       event("ncclAllReduce", at + 30 + length, late - length + 10, cat="kernel", pid=0, tid=7,
                             args=args)]
        write(f"{path}/rank{rank}.json", document(*events, distributedInfo={"rank": rank, "world_size": 2}))

    def test_of_a_job_are_on_its_path(self):
        for path, late in (("a", 2000), ("b", 3050)):
            self.collective(path, 1000, 0, late)
            self.collective(path, late, 1, late)
        self.assertEqual(self.gate(5, columns="outcome, ranks, round(mean_percent, 6)"), ("fail", None, 50))
        self.assertEqual(self.gate(5, control_rank=0, test_rank=0, columns="outcome, ranks"), ("fail", None))

    def test_that_nothing_ties_are_compared_each_with_itself(self):
        """O2: ranks without a common collective are each compared with themselves, because a path would leave out rank
        1. One slower rank is enough, even if another is faster by more.
        """
        def sides(*by_rank):
            for rank, (control, test) in enumerate(by_rank):
                self.trace("a", *control, rank=rank, world=len(by_rank))
                self.trace("b", *test, rank=rank, world=len(by_rank))
        columns = "outcome, ranks, control_ms, test_ms, round(mean_percent, 9), reason"
        even = [1000] * 5
        sides((even, even), (even, [1300] * 5))
        slower = ("fail", "[1]", 1, 1.3, 30, None)
        self.assertEqual(self.gate(5, columns=columns), slower)
        self.assertEqual(self.gate(40, columns=columns), ("pass", "[1]", 1, 1.3, 30, None))
        self.assertEqual(self.gate(5, control_rank="job", test_rank="job", columns=columns), slower)
        self.assertEqual(self.rows("SELECT judgement FROM trace_verdict('a', 'b')"), [("rank 1: test is slower here",)])
        sides((even, [500] * 5), (even, [1300] * 5), (even, even))
        self.assertEqual(self.gate(5, columns=columns), slower)
        self.assertEqual(self.rows("SELECT judgement FROM trace_verdict('a', 'b')"), [("rank 0: test is faster here",)])
        # an unclear rank precedes the ranks that pass
        sides((even, even), (even, [1000, 1000, 1200, 1400, 1400]))
        self.assertEqual(self.gate(5, columns="outcome, ranks, reason"), (
            "not known", "[1]", "rank 1: the difference is not clear"))

    def test_without_steps_are_left_out_of_those(self):
        for path, slow in (("a", 1000), ("b", 1300)):
            self.trace(path, *[1000] * 5, world=3)
            self.trace(path, *[slow] * 5, rank=1, world=3)
            write(f"{path}/rank2.json", document(event("op", 0, 9), distributedInfo={"rank": 2, "world_size": 3}))
        self.assertEqual(self.gate(5, columns="outcome, ranks"), ("fail", "[1]"))

    def test_that_are_given_are_compared_as_they_are(self):
        self.trace("a", *[1000] * 5)
        self.trace("b", *[1100] * 5, rank=1)
        self.assertEqual(self.gate(3, control_rank=0, test_rank=1), FAIL)
        self.assertEqual(self.gate(30, control_rank=0, test_rank=1), PASS)
        # a single rank is not several
        self.trace("a", *[1000] * 5)
        self.trace("c", *[1004] * 5)
        self.assertEqual(self.gate(0.1, test="c", control_rank="all", test_rank="all"), UNCLEAR)


class NotComparable(Gate):
    NUMBERS = "mean_percent, median_percent"

    def assert_cannot(self, code, reason, *pair, **arguments):
        self.assertEqual(self.gate(1e9, *pair, **arguments), unknown(code, reason))
        self.assertEqual(self.gate(1e9, *pair, columns=self.NUMBERS, **arguments), (None, None))

    def setUp(self):
        super().setUp()
        self.trace("a", *[1000] * 5, world=1, device="A")

    def test_steps(self):
        write("no/rank0.json", document(event("op", 0, 10)))
        write("empty/rank0.json", document())
        write("zero/rank0.json", document(*(step(n, n, 0) for n in range(4)), event("op", 0, 10)))
        self.host("half", *[0.001] * 6)
        record = "has no steps: record it with profiler.step()"
        self.assert_cannot("steps", f"test {record}", "a", "no")
        self.assert_cannot("steps", f"control {record}", "no", "a")
        self.assert_cannot("steps", f"control {record}", "no", "no")
        self.assert_cannot("steps", "test has no events", "a", "empty")
        self.assert_cannot("steps", "steps of control have no length", "zero", "a")
        self.assertEqual(self.gate(5, "a", "no", "control_ms, test_ms"), (1, None))
        self.assertEqual(self.gate(5, "half", "half"), PASS)

    def test_ranks(self):
        self.trace("two", *[1000] * 5)
        self.trace("two", *[1000] * 5, rank=1)
        self.trace("one", *[1000] * 5, rank=1)
        for rank in range(7):
            self.trace("many", *[1000] * 5, rank=rank)
        self.assert_cannot("ranks", "other ranks: rank 1 only in test", "a", "two")
        self.assert_cannot("ranks", "other ranks: rank 0 only in control, rank 1 only in test", "a", "one")
        self.assert_cannot("ranks", "other ranks: 5 ranks only in control", "many", "two")
        self.assert_cannot("ranks", "other ranks: 6 ranks only in control", "many", "one")

    def test_world(self):
        self.trace("eight", *[1000] * 5, world=8, device="A")
        self.trace("unknown", *[1000] * 5)
        self.assert_cannot("world", "other world sizes: 1 in control, 8 in test", "a", "eight")
        self.assert_cannot("world", "other world sizes: 8 in control, 1 in test", "eight", "a", control_rank=0,
                           test_rank=0)
        self.assertEqual(self.gate(5, "a", "unknown"), PASS)

    def test_work(self):
        self.host("host", *[1000] * 6)
        self.assert_cannot("health", "test has no device work, control has", "a", "host")
        self.assert_cannot("health", "control has no device work, test has", "host", "a")
        self.assert_cannot("work", "only control has device work", "a", "host", clock="host")
        self.assert_cannot("work", "only test has device work", "host", "a", clock="host")
        self.assertEqual(self.gate(5, "host", "host"), PASS)

    def test_device(self):
        self.trace("b", *[1000] * 5, device="B")
        self.trace("shown", *[1000] * 5, device="B\u202e")
        self.trace("unknown", *[1000] * 5)
        self.assert_cannot("device", "other devices: A in control, B in test", "a", "b")
        self.assert_cannot("device", "other devices: B in control, A in test", "b", "a")
        self.assert_cannot("device", "other devices: A in control, B\ufffd in test", "a", "shown")
        self.assertEqual(self.gate(5, "a", "unknown"), PASS)

    def test_the_first_is_said(self):
        """The first reason is printed: steps, ranks, world sizes, device work, devices."""
        write("all/rank1.json", document(event("op", 0, 10), distributedInfo={"rank": 1, "world_size": 2}))
        self.assert_cannot("steps", "test has no steps: record it with profiler.step()", "a", "all")
        self.trace("next", *[1000] * 5, rank=1, world=2, device="B")
        self.assert_cannot("ranks", "other ranks: rank 0 only in control, rank 1 only in test", "a", "next")
        self.assert_cannot("world", "other world sizes: 1 in control, 2 in test", "a", "next", control_rank=0,
                           test_rank=1)
        write("host/rank0.json", document(*(step(n, 1000 * n, 990) for n in range(5)),
                                          deviceProperties=[{"id": 0, "name": "B"}]))
        self.assert_cannot("work", "only control has device work", "a", "host", clock="host")
