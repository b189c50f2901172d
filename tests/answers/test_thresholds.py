"""The thresholds of the verdict and of its lines (C1 to C19, C22, L11), each from just below and just above."""
import unittest

from made import InFolder, document, event, kernel, launch, step, write

SHAPES = [[8]]
# Two traces with other ranks and devices give two cautions.
DIFFERENT = [{"distributedInfo": {"rank": side, "world_size": 2}, "deviceProperties": [{"id": 0, "name": str(side)}]}
             for side in range(2)]
UNTRACED = {"control_untraced": 1, "test_untraced": 1000}  # arguments under which the profiler distorts a difference


def add_parts(events, at, parts):
    """Adds the events of a step and returns its end. Parts are (name, ms, shapes of inputs), or one number of ms; a
    part without a recorded event has the name None.
    """
    for name, ms, *shapes in parts if isinstance(parts, list) else [("op", parts)]:
        if name:
            args = {"args": {"Input Dims": shapes[0], "Input type": ["float"]}} if shapes else {}
            events.append(event(name, at, round(1000 * ms, 3), **args))
        at = round(at + 1000 * ms, 3)
    return at


def recorded(*steps, **keys):
    """A trace of a host; a step is a list of parts."""
    events, at = [], 0
    for number, parts in enumerate((1, *steps, 1)):
        begin, at = at, add_parts(events, at, parts)
        events.append(step(number, begin, round(at - begin, 3)))
    return document(*events, **keys)


def served(*steps, **keys):
    """A trace of a server; a step is (requests, parts)."""
    events, at = [], 0
    for requests, parts in ((1, 1), *steps, (1, 1)):
        begin, at = at, add_parts(events, at, parts)
        events.append(event(f"execute_context_0(0)_generation_{requests}({requests})", begin, round(at - begin, 3),
                            cat="user_annotation"))
    return document(*events, **keys)


class Asking(InFolder):
    def sides(self, control, test, write_as=recorded):
        """Writes both sides; a side is a list of steps."""
        for path, steps in (("a.json", control), ("b.json", test)):
            write(path, write_as(*steps))

    def verdict(self, control, test, columns="verdict"):
        self.sides(control, test)
        return self.rows(f"SELECT {columns} FROM trace_verdict('a.json', 'b.json')")[0]

    def lines(self, columns, where="1", **arguments):
        """Rows of trace_summary; for a single column, its values."""
        where += "".join(f" AND {name} = {value}" for name, value in arguments.items())
        found = self.rows(f"SELECT {columns} FROM trace_summary('a.json', 'b.json') WHERE {where}")
        return found if "," in columns else [value for value, in found]

    def first(self, column):
        return self.lines(column)[0]

    def cautions(self, control, test, column="code", **arguments):
        self.sides(control, test)
        return self.lines(column, "kind = 'caution'", **arguments)


class Outliers(Asking):
    """C1: outliers."""

    def left_out(self, *steps):
        return self.verdict([10] * 4, steps, "json_array_length(test_left_out)")[0]

    def test_of_four_steps(self):
        self.assertEqual(self.left_out(10, 11, 900), None)
        self.assertEqual(self.left_out(10, 11, 10, 900), 1)

    def test_five_deviations(self):
        self.assertEqual(self.left_out(6, 8, 10, 12, 19.9), None)
        self.assertEqual(self.left_out(6, 8, 10, 12, 20.1), 1)

    def test_half_more_than_the_median(self):
        self.assertEqual(self.left_out(10, 10, 10, 10, 14.9), None)
        self.assertEqual(self.left_out(10, 10, 10, 10, 15.1), 1)

    def test_a_tenth_of_the_steps(self):
        for steps, most in ((29, 2), (30, 3)):
            self.assertEqual(self.left_out(*[10] * (steps - 5), *[90] * 5), most)


class Verdict(Asking):
    """C2 to C4: the verdict."""

    def in_some(self, control, test):
        return self.verdict(control, test)[0] == "slower in some steps"

    def test_half_a_percent(self):
        for ms, verdict in ((1004.9, "no clear difference"), (1005.1, "slower here")):
            self.assertEqual(self.verdict([1000] * 3, [ms] * 3), (verdict,))
        self.assertEqual(self.verdict([1000] * 3, [995.1] * 3), ("no clear difference",))
        self.assertEqual(self.verdict([1000] * 3, [994.9] * 3), ("faster here",))

    def test_five_percent_of_a_whole_trace(self):
        write("a.json", document(event("op", 0, 1000)))
        for us, verdict in ((1049, "no clear difference"), (1051, "slower here"), (951, "no clear difference"),
                            (949, "faster here")):
            write("b.json", document(event("op", 0, us)))
            self.assertEqual(self.value("SELECT verdict FROM trace_verdict('a.json', 'b.json')"), verdict)

    def test_four_steps_a_side(self):
        for control, test, some in ((4, 4, True), (3, 4, False), (4, 3, False)):
            self.assertEqual(self.in_some((10, 11, 10, 11)[:control], (14, 10, 14, 10)[:test]), some)

    def test_two_steps(self):
        self.assertEqual([self.in_some((10, 11, 10, 11), (10, 14, 10, last)) for last in (10, 14)], [False, True])

    def test_a_quarter_to_three_quarters(self):
        for steps, slow, some in ((16, 3, False), (8, 2, True), (8, 6, True), (16, 13, False)):
            self.assertEqual(self.in_some((10, 11) * 4, [10] * (steps - slow) + [14] * slow), some)

    def test_two_percent(self):
        for ms, slow in ((1019, 0), (1021, 2)):
            self.assertEqual(self.verdict([1000] * 4, (1000, ms, 1000, ms), "slow_steps"), (slow,))

    def test_a_step_as_fast_as_in_control(self):
        """C4.2: if all steps are longer than control's longest, test is slower, unless some are far longer."""
        for least, slow, some in ((11, 14, True), (11.1, 14, False), (11.1, 18, True)):
            self.assertEqual(self.in_some((10, 11, 10, 11), (least, slow, 11.5, slow)), some)

    def test_half_more_than_the_others(self):
        self.assertFalse(self.in_some((10, 11, 10, 11), (10, 17.9, 12, 17.9)))
        self.assertTrue(self.in_some((10, 11, 10, 11), (10, 18.1, 12, 18.1)))


class Sizes(Asking):
    """C5: sizes."""

    def of_size(self, control, test, others=10):
        """The verdict on steps of one size, next to unchanged steps of another size."""
        self.sides([(8, ms) for ms in control] + [(32, 50)] * 10, [(8, ms) for ms in test] + [(32, 50)] * others,
                   served)
        return self.value("SELECT verdict FROM trace_verdict('a.json', 'b.json')")

    def test_eight_steps_a_side(self):
        self.assertEqual(self.of_size([10] * 8, [12] * 8), "slower at some sizes")
        self.assertEqual(self.of_size([10] * 7, [12] * 8), "no clear difference")
        self.assertEqual(self.of_size([10] * 8, [12] * 7), "no clear difference")

    def test_half_a_percent(self):
        for ms, slower, faster in ((1004.9, *["no clear difference"] * 2),
                                   (1005.1, "slower at some sizes", "faster at some sizes")):
            self.assertEqual(self.of_size([1000] * 8, [ms] * 8), slower)
            self.assertEqual(self.of_size([ms] * 8, [1000] * 8), faster)

    def test_nine_of_ten_pairs(self):
        """The threshold is nine of ten pairs, in both directions."""
        for test, slower, faster in (([12] * 9 + [9], "slower at some sizes", "faster at some sizes"),
                                     ([12] * 17 + [10] + [9] * 2, *["no clear difference"] * 2)):
            self.assertEqual(self.of_size([10] * 10, test), slower)
            self.assertEqual(self.of_size(test, [10] * 10), faster)

    def test_three_quarters_of_the_steps(self):
        for slow, verdict in ((29, "slower at some sizes"), (30, "slower at like sizes")):
            self.assertEqual(self.of_size([10] * 10, [12] * slow), verdict)


class LongSteps(Asking):
    """C6, and L11.6 for a long step."""

    def has_long(self, *steps):
        return self.cautions([100] * 4, steps) == ["long_step"]

    def makes(self, *steps):
        """Whether it explains most of the difference."""
        [ms] = self.cautions([100] * 4, steps, "diff_ms", code="'steps'") + self.lines(
            "diff_ms", "kind = 'caution' AND code = 'long_step'")
        return ms is not None

    def test_a_twentieth_more_than_the_median(self):
        self.assertFalse(self.has_long(100, 100, 100, 104.9))
        self.assertTrue(self.has_long(100, 100, 100, 105.1))

    def test_a_quarter_of_the_difference(self):
        self.assertFalse(self.has_long(110, 110, 110, 123.2))
        self.assertTrue(self.has_long(110, 110, 110, 123.5))

    def test_five_times_as_far_as_the_shortest(self):
        self.assertFalse(self.has_long(98, 100, 100, 109.9))
        self.assertTrue(self.has_long(98, 100, 100, 110.1))

    def test_half_of_the_difference(self):
        """The threshold is half of the difference: a step that is 40 longer adds 10."""
        for more, makes in ((9.9, True), (10.1, False)):
            self.assertEqual(self.makes(*[100 + more] * 3, 140 + more), makes)

    def test_a_twentieth_of_the_step(self):
        """The threshold is a twentieth of the step, for an unclear difference."""
        for more, makes in ((19.6, False), (20.4, True)):
            self.assertEqual(self.makes(100, 100, 100, 100 + more), makes)


class Load(Asking):
    """C7: load slows all operators by 1.3."""

    def judged(self, control, test):
        """Code and text of the verdict; both sides have four more operators."""
        self.sides(*([[*((f"aten::op{number}", ms, SHAPES) for number in range(4)), *more]] * 4
                     for ms, more in ((100, control), (130, test))))
        return self.lines("code, words")[0]

    def test_half_of_the_difference_is_waits(self):
        for gap, code in ((619, "unknown"), (621, "slower")):
            self.assertEqual(self.judged([(None, 500)], [(None, gap)])[0], code)

    def test_load_leaves_a_quarter(self):
        """Load must leave a quarter: it explains 120 of 160."""
        for gap, code in ((39.9, "unknown"), (40.1, "slower")):
            self.assertEqual(self.judged([], [(None, gap)])[0], code)

    def test_half_of_the_difference_is_beyond_load(self):
        """Half of the difference must exceed load: 130 of aten::sort could be load, but 150 of 300 could not."""
        for ms, words in ((279, "test is slower, as load explains"), (281, "test does different work")):
            self.assertEqual(self.judged([(None, 400), ("aten::sort", 100, [[8]])],
                                         [(None, 400), ("aten::sort", ms, [[9]])]), ("unknown", words))


class Cautions(Asking):
    """C8, C12 and C15: cautions."""

    def test_three(self):
        """Three cautions are shown, the worst of four; the fourth is a long step."""
        write("a.json", recorded(*[10] * 3, **DIFFERENT[0]))
        write("b.json", recorded(*([("op", ms), ("a::DispatchMode", 1)] for ms in (10, 10, 13)), **DIFFERENT[1]))
        self.assertEqual(self.value("SELECT count(*) FROM trace_comparability('a.json', 'b.json')"
                                    " WHERE item = 'longest' AND matters = 'yes'"), 1)
        self.assertEqual(self.lines("code", "kind = 'caution'"), ["device", "modes", "ranks"])

    def test_half_of_the_difference_is_of_one_factor_of_kernels(self):
        """A clock factor explains half of the difference, 80, besides the host's work between kernels."""
        for other, codes in ((79, ["clock"]), (81, [])):
            for path, us, gap in (("a.json", 100, 0), ("b.json", 120, other)):
                events, at = [], 0
                for number in range(5):
                    events += [step(number, at, 140 + 4 * us + gap), event("aten::sort", at, 100 + gap)]
                    at += 100 + gap
                    for place in range(4):
                        work = 10 * number + place + 1
                        events += [event(f"aten::op{place}", at + 2, 5), launch(at + 3, 2, work),
                                   kernel(f"kernel{place}", at + 10, us, work)]
                        at += 10 + us
                write(path, document(*events))
            self.assertEqual(self.lines("code", "kind = 'caution'"), codes)

    def test_twice_the_difference_without_the_profiler(self):
        self.sides([10] * 3, [14] * 3)
        for test_untraced, codes in ((9.9, ["overhead"]), (10.1, []), (15.9, []), (16.1, ["overhead"])):
            self.assertEqual(self.lines("code", "kind = 'caution'", control_untraced=8, test_untraced=test_untraced),
                             codes)

    def test_four_ranks_are_named(self):
        for others, named in ((4, "ranks 2, 3, 4 and 5"), (5, "5 ranks")):
            for side in range(2):
                for rank in range(2 if side else 2 + others):
                    write(f"{others}/{side}/{rank}.json", recorded(*[10 + side] * 3, distributedInfo={
                        "rank": rank, "world_size": 8}))
            said = self.rows("SELECT words FROM trace_summary(?, ?) WHERE code = 'ranks'", f"{others}/0", f"{others}/1")
            self.assertIn((f"left out of the job: {named} (only in control)",), said)


class Lines(Asking):
    """C9 and C10: lines."""

    def worked(self, *new, keys=({}, {})):
        """Steps of 100 in control, and of 150 in test, which also runs other operators."""
        write("a.json", recorded(*[[("op", 100)]] * 3, **keys[0]))
        write("b.json", recorded(*[[("op", 150), *((name, 0.001) for name in new)]] * 3, **keys[1]))

    def test_twelve(self):
        """An answer has at most twelve lines, one of which is for the rest."""
        for causes, lines in ((9, 11), (10, 12), (15, 12)):
            self.sides(*([[(f"op{number}", ms, SHAPES) for number in range(causes)]] * 3 for ms in (100, 110)))
            self.assertEqual(len(self.lines("kind")), lines)

    def test_three_of_work(self):
        self.worked("new1", "new2", "new3", "new4", "new5")
        self.assertEqual(self.lines("name", "kind = 'work'"), ["new1", "new2", "new3"])

    def test_six_before_causes(self):
        """At most six lines precede causes, and work gets the remaining ones."""
        self.worked("new1", "new2", "new3", keys=DIFFERENT)
        for asked, heads, work in (({}, 4, 2), (UNTRACED, 6, 0)):
            found = self.lines("kind", **asked)
            self.assertEqual((found.index("cause"), found.count("work")), (heads, work))

    def test_six_with_other_sizes(self):
        """With other sizes, the least severe caution gives way, so there are twelve lines."""
        for path, factor, keys in zip(("a.json", "b.json"), (1, 1.1), DIFFERENT):
            parts = [(f"op{number}", 10 * factor) for number in range(8)]
            write(path, served(*[(8, parts), (32, parts * 2)] * 3, **keys))
        found = self.lines("kind, code", **UNTRACED)
        self.assertEqual([kind for kind, _ in found], ["verdict", "coverage", "mix", "untraced", *["caution"] * 2,
                                                       *["cause"] * 5, "rest"])
        self.assertEqual([code for kind, code in found if kind == "caution"], ["device", "overhead"])

    def test_one_percent_of_the_difference(self):
        for ms, names in ((0.99, ["op1"]), (1.01, ["op1", "op2"])):
            self.sides([[("op1", 100), ("op2", 100)]] * 3, [[("op1", 200 - ms), ("op2", 100 + ms)]] * 3)
            self.assertEqual(self.lines("name", "kind = 'cause'"), names)

    def test_three_quarters_of_all_changes(self):
        """Causes stop at three quarters of all changes: nine lines explain 900."""
        for less, told in ((24.9, False), (25.1, True)):
            changes = [100 * (-1) ** number for number in range(9)] + [less * (-1) ** number for number in range(12)]
            self.sides([[(f"op{number:02}", 1000, SHAPES) for number in range(21)]] * 3,
                       [[(f"op{number:02}", 1000 + ms, SHAPES) for number, ms in enumerate(changes)]] * 3)
            [text] = self.lines("text", "kind = 'rest'")
            self.assertEqual(" and " in text, told, text)


class Amounts(Asking):
    """C13: amounts."""

    def test_seconds(self):
        for ms, unit in ((9999, "ms"), (10001, "s")):
            self.sides([1000] * 3, [ms] * 3)
            self.assertIn(f" {unit} per step", self.first("text"))

    def test_three_digits(self):
        for more, text in ((0.9994, "+0.999 ms"), (0.9996, "+1.00 ms"), (9.994, "+9.99 ms"), (9.996, "+10.0 ms"),
                           (99.94, "+99.9 ms"), (99.96, "+100 ms")):
            self.sides([100] * 3, [100 + more] * 3)
            self.assertIn(text, self.first("text"))

    def test_digits_of_a_step_that_differs_by_less_than_half_a_percent(self):
        for more, text in ((0.499, "100 -> 100 ms per step"), (0.501, "100.000 -> 100.501 ms per step")):
            self.sides([100] * 3, [100 + more] * 3)
            self.assertIn(text, self.first("text"))

    def test_a_hundredth_has_digits_of_its_own(self):
        for ms, text, steps in ((101, "10.00 -> 0.10 s per step", "3 of 0.10:"),
                                (99, "10.00 s -> 99.0 ms per step", "3 of 99.0 ms:"),
                                (0.0256, "10.0 s -> 25.6 us per step", "3 of 25.6 us:")):
            self.sides([10000] * 3, [ms] * 3)
            self.assertIn(": " + text, self.first("text"))
            self.assertIn(steps, self.lines("text")[1])
        self.sides([500000] * 3, [3200] * 3)
        self.assertIn(": 500 -> 3.20 s per step", self.first("text"))
        self.sides([0.0256] * 3, [12] * 3)
        self.assertIn(": 25.6 us -> 12.0 ms per step", self.first("text"))

    def test_two_digits_of_percents(self):
        for more, text in ((0.994, "(+0.99 %)"), (0.996, "(+1.0 %)"), (9.94, "(+9.9 %)"), (9.96, "(+10 %)")):
            self.sides([100] * 3, [100 + more] * 3)
            self.assertIn(text, self.first("text"))

    def test_two_digits_of_times(self):
        for ratio, text in ((9.94, "9.9"), (9.96, "10")):
            [words] = self.cautions([100] * 4, (100, 100, 100, 100, 100 * ratio), "words")
            self.assertIn(f": {text} times as long", words)

    def test_ten_times(self):
        for ms, text in ((10.994, "(+999 %)"), (10.996, "(x 11)")):
            self.sides([1] * 3, [ms] * 3)
            self.assertIn(text, self.first("text"))

    def test_shares_of_ten_times_the_difference(self):
        for ms, share in ((99.9, "999 %"), (100.1, "")):
            self.sides([[("op1", 1000), ("op2", 1000)]] * 3, [[("op1", 1000 + ms), ("op2", 1010 - ms)]] * 3)
            text = self.lines("text", "name = 'op1'")[0]
            self.assertEqual(text[11:19].strip(), share)


class Texts(Asking):
    """C13.3: texts."""

    def of_cause(self, name):
        """The line of a cause, which has room for 65 characters."""
        self.sides([[(name, 100)]] * 3, [[(name, 150)]] * 3)
        [text] = self.lines("text", "kind = 'cause'")
        return text[35:]

    def test_a_hundred_characters(self):
        for length in (65, 66):
            name = "x" * length
            self.assertEqual(self.of_cause(name), name if length == 65 else "x" * 62 + "...")

    def test_a_word_that_takes_thirty_of_them(self):
        """A word of thirty characters or more is cut inside."""
        for before, said in ((34, "x" * 34 + " " + "y" * 27 + "..."), (35, "x" * 35 + "...")):
            self.assertEqual(self.of_cause("x" * before + " " + "y" * 60), said)


class Replaced(InFolder):
    """C13.5: replaced operators."""

    def lines(self, name, others=2):
        """Operators of one area that one operator of test replaces."""
        for side, new in (("a", 0), ("b", 1)):
            events = []
            for number in range(3):
                at, names = 1000 * number, [name] if new else [f"aten::old{i}" for i in range(others)]
                events += [step(number, at, 1000), event("work", at + 5, 90, cat="user_annotation")]
                for place, each in enumerate(names):
                    own = 10 * number + place
                    events += [event(each, at + 10 + 20 * place, 10), launch(at + 12 + 20 * place, 2, own),
                               kernel(f"k_{each}", at + 100 + 200 * place, 100 + 300 * new, own)]
            write(f"{side}.json", document(*events))
        return [text for text, in self.rows("SELECT text FROM trace_summary('a.json', 'b.json') WHERE gains = 0"
                                            " AND code = 'replaced'")]

    def test_one_is_named(self):
        self.assertIn("aten::new replaces aten::old0", self.lines("aten::new", 1)[0])

    def test_the_name_is_cut_before_the_noun(self):
        for length, end in ((44, "n" * 44), (45, "n" * 41 + "...")):
            text = self.lines("n" * length)[0]
            self.assertTrue(text.endswith(f"  {end} replaces 2 operators"), text)
            self.assertLessEqual(len(text), 100)

    def test_the_name_is_cut_before_a_gain(self):
        """Another kernel runs beside these, so the line ends with a gain, and the name is cut before it."""
        beginning = "n" * 12 + "... and 1 more replace 9 operators; a fix saves 70 ms"
        for side, of, us, beside in (("a", [f"old{i}" for i in range(16)], 180000, 90000),
                                     ("b", ["n" * 20, "m" * 20], 360000, 291000)):
            events = []
            for number in range(3):
                at, each = (640 + us) * number, us // len(of)
                events += [step(number, at, 640 + us), event("work", at + 5, 590, cat="user_annotation"),
                           event("aten::add", at + 570, 9), launch(at + 572, 2, 20 * number),
                           kernel("add", at + 601, beside, 20 * number, 8),
                           event("cudaDeviceSynchronize", at + 598, us + 5, cat="cuda_runtime")]
                for place, name in enumerate(of, 1):
                    own = 20 * number + place
                    events += [event(name, at + 20 * place, 15), launch(at + 20 * place + 1, 2, own),
                               kernel(f"k_{name}", at + 600 + each * (place - 1), each, own)]
            write(f"{side}.json", document(*events))
        [(text,)] = self.rows("SELECT text FROM trace_summary('a.json', 'b.json') WHERE code = 'replaced'")
        self.assertIn("compute        " + beginning, text)


class Gains(Asking):
    """C16: a kernel beside another one that hides its gain."""

    @staticmethod
    def beside(first, second, before):
        """Steps with these kernels in us: two at once, after another one."""
        events = []
        for number in range(5):
            at, work = (500 + first + before) * number, 3 * number
            events += [step(number, at, 500 + first + before),
                       event("aten::sort", at + 5, 10), launch(at + 6, 2, work), kernel("sort", at + 40, before, work),
                       event("aten::mm", at + 16, 10), launch(at + 17, 2, work + 1),
                       kernel("gemm", at + 40 + before, first, work + 1),
                       event("aten::add", at + 27, 10), launch(at + 28, 2, work + 2),
                       kernel("add", at + 40 + before, second, work + 2, 8),
                       event("cudaDeviceSynchronize", at + 50, before + first - 5, cat="cuda_runtime")]
        return document(*events)

    def gain(self, control, test):
        """(cause, gain, whether the line has it) for aten::mm."""
        write("a.json", self.beside(*control))
        write("b.json", self.beside(*test))
        [found] = self.lines("round(diff_ms, 6), round(gain_ms, 6), text LIKE '%; a fix saves %'", "name = 'aten::mm'")
        return found

    def test_a_tenth_of_the_cause(self):
        self.assertEqual(self.gain((100, 90, 50), (200, 109, 50)), (0.1, 0.091, 0))
        self.assertEqual(self.gain((100, 90, 50), (200, 111, 50)), (0.1, 0.089, 1))

    def test_two_units_of_the_last_decimal(self):
        """The threshold is two units of the last decimal, for steps that differ by 2 ms."""
        self.assertEqual(self.gain((100, 90, 50), (200, 119, 2050)), (0.1, 0.081, 0))
        self.assertEqual(self.gain((100, 90, 50), (200, 121, 2050)), (0.1, 0.079, 1))


if __name__ == "__main__":
    unittest.main()
