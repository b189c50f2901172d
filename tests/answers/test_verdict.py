"""trace_verdict: medians, outliers and noise, and how trace_summary reports them."""
from made import InFolder, document, event, step, write

VERDICT = "SELECT {} FROM trace_verdict('a.json', 'b.json')"


def trace(*lengths, pause=None):
    """Steps of these lengths (ms), each with one operator, between two steps of 1 ms; length above `pause` is a
    pause.
    """
    events, at = [], 0
    for number, length in enumerate((1, *lengths, 1)):
        work = length if pause is None or length <= pause else pause
        events += [step(number, 1000 * at, 1000 * length), event("op", 1000 * at, 1000 * work)]
        if work < length:
            events.append(event("collect", 1000 * (at + work), 1000 * (length - work)))
        at += length
    return document(*events)


class Verdict(InFolder):
    def verdict(self, control, test, columns="verdict", **options):
        write("a.json", trace(*control, **options))
        write("b.json", trace(*test, **options))
        return self.rows(VERDICT.format(columns))[0]

    def test_one_recording_is_slower_here(self):
        self.assertEqual(self.verdict((10, 11, 10), (14, 15, 14)), ("slower here",))
        self.assertEqual(self.verdict((14, 15, 14), (10, 11, 10)), ("faster here",))

    def test_what_the_summary_makes_of_it(self):
        """The summary reports the verdict in its own words, and formats its times."""
        for control, test, judged, apart, unit, digits in (
                ((10, 11, 10), (14, 15, 14), "slower", 1, "ms", 2), ((14, 15, 14), (10, 11, 10), "faster", 1, "ms", 2),
                ((10, 14, 12), (11, 14, 13), "unclear", 0, "ms", 3), ((10, 11, 12), (10, 11, 12), "same", 0, "ms", 1),
                ((9000, 9000, 9000), (12000, 12000, 12000), "slower", 1, "s", 2)):
            found = self.verdict(control, test, "judged, is_apart, unit, digits, load, judgement")
            self.assertEqual(found[:5], (judged, apart, unit, digits, None))
            self.assertEqual(self.rows("SELECT words FROM trace_summary('a.json', 'b.json') LIMIT 1"), [found[5:]])
        write("a.json", document())
        self.assertEqual(self.rows(VERDICT.format("judged, judgement, unit, digits, is_apart")),
                         [("nothing", "nothing to compare", "ms", 3, None)])

    def test_what_varies_more_is_no_clear_difference(self):
        self.assertEqual(self.verdict((10, 14, 12), (11, 14, 13)), ("no clear difference",))
        self.assertEqual(self.verdict((1000, 1000, 1000), (1004, 1004, 1004)), ("no clear difference",))
        self.assertEqual(self.verdict((10, 11, 12), (10, 11, 12)), ("no difference",))

    def test_medians_decide_where_means_say_otherwise(self):
        """Medians decide even if means disagree; three steps are too few for an outlier."""
        self.assertEqual(self.verdict((10, 10, 10), (9, 9, 20), "verdict, diff_ms > 0"), ("no clear difference", 1))

    def test_outliers_are_left_out(self):
        """Rule 1: steps beyond five deviations and half of the median are left out, up to a tenth of the steps, at
        least one.
        """
        columns = "verdict, test_left_out, test_iterations, round(test_ms, 3), test_steps, control_left_out"
        self.assertEqual(self.verdict((10, 11, 10, 11), (10, 2000, 11, 10, 11), columns),
                         ("no clear difference", "[2]", "[1,3,4,5]", 10.5, 4, None))
        # only the longest one
        self.assertEqual(self.verdict((10, 11, 10, 11), (10, 900, 11, 800, 11), columns)[1], "[2]")
        # not beyond half of the median
        self.assertEqual(self.verdict((10, 11, 10, 11), (10, 14, 11, 10, 11), columns)[1], None)
        # not beyond five deviations
        self.assertEqual(self.verdict((10, 11, 10, 11), (8, 16, 11, 14, 12), columns)[1], None)
        self.assertEqual(self.verdict((10, 11, 10, 11), (10, 900, 11), columns)[1], None)         # out of three steps
        twenty = tuple(10 + number % 2 for number in range(20))
        self.assertEqual(self.verdict(twenty, (*twenty[:18], 500, 600), columns)[1], "[19,20]")

    def test_what_fills_long_steps(self):
        """trace_long_steps explains the steps that are left out, and the longest other step if it is long."""
        columns = "side, iteration, is_left_out, round(ms, 3), round(median_ms, 3), rank, class, name"
        self.verdict((10, 11, 10, 11), (10, 2000, 11, 13, 11), pause=12)
        self.assertEqual(self.rows(f"SELECT {columns} FROM trace_long_steps('a.json', 'b.json')"),
                         [("test", 2, 1, 2000, 11, 0, "host", "collect"), ("test", 4, 0, 13, 11, 0, "host", "op")])
        self.verdict((10, 300, 10, 10, 10), (10, 10, 10, 10), pause=12)
        self.assertEqual(self.rows(f"SELECT {columns} FROM trace_long_steps('a.json', 'b.json')"),
                         [("control", 2, 1, 300, 10, 0, "host", "collect")])
        self.assertEqual(self.rows("SELECT side FROM trace_long_steps('b.json', 'b.json')"), [])

    def test_steps_that_are_asked_for_are_kept(self):
        write("a.json", trace(10, 11, 10, 11))
        write("b.json", trace(10, 2000, 11, 10, 11))
        for iterations in ("'all'", "'[1,2,3,4,5]'", "2"):
            self.assertEqual(self.rows("SELECT test_left_out FROM trace_verdict('a.json', 'b.json', NULL, NULL,"
                                       " 'steady',"
                                       f" {iterations})"), [(None,)])

    def test_the_iterations_give_the_same_sums(self):
        _, (given, ms) = self.verdict((10, 11, 10, 11),
                                      (10, 2000, 11, 10, 11)), self.rows(VERDICT.format("test_iterations, test_ms"))[0]
        self.assertEqual(self.rows("SELECT sum(test_time) / 1000 FROM trace_step_diff('a.json', 'b.json', NULL, NULL,"
                                   " NULL, ?)", given),
                         [(ms,)])

    def test_the_summary_names_what_is_left_out(self):
        write("a.json", trace(10, 11, 10, 11))
        write("b.json", trace(10, 2000, 11, 10, 11, pause=12))
        lines = [text for text, in self.rows("SELECT text FROM trace_summary('a.json', 'b.json')")]
        self.assertIn("caution: step 2 of test is left out: 190 times as long; more of collect; would add +397.9 ms",
                      lines)
        self.assertTrue(lines[0].startswith("no clear difference: 10.5 -> 10.5 ms per step"), lines[0])

    def test_what_is_left_out_would_add_to_the_mean(self):
        """L11.5: the two steps that are left out would add to the mean."""
        twenty = tuple(10 + number % 2 for number in range(20))
        write("a.json", trace(*twenty))
        write("b.json", trace(*twenty[:18], 500, 600, pause=12))
        self.assertAlmostEqual(self.value("SELECT diff_ms FROM trace_summary('a.json', 'b.json')"
                                          " WHERE code = 'outlier'"), (18 * 10.5 + 1100) / 20 - 10.5)

    def test_slower_in_some_steps(self):
        """Rule 4: slower in some steps."""
        columns = "verdict, slow_steps"
        self.assertEqual(self.verdict((10, 11, 10, 11), (10, 14, 10, 14), columns), ("slower in some steps", 2))
        self.assertEqual(self.verdict((10, 11, 10, 11), (10, 14, 10, 10), columns), ("no clear difference", 1))
        self.assertEqual(self.verdict((1000, 1001, 1000, 1001), (1000, 1030, 1000, 1030), columns)[0],
                         "slower in some steps")
        self.assertEqual(self.verdict((1000, 1001, 1000, 1001), (1000, 1020, 1000, 1020), columns),
                         ("no clear difference", 0))
        # one lies in between; or the increase is less than the range of control
        self.assertEqual(self.verdict((10, 11, 10, 11), (10, 14, 12, 14), columns)[0], "no clear difference")
        self.assertEqual(self.verdict((10, 11, 10, 11), (10, 14, 11.9, 14), columns)[0], "slower in some steps")
        self.assertEqual(self.verdict((10, 12, 10, 11), (10, 13, 10, 13), columns)[0], "no clear difference")
        self.verdict((10, 11, 10, 11), (10, 14, 10, 14))
        self.assertTrue(self.value("SELECT text FROM trace_summary('a.json', 'b.json')").startswith(
            "test is slower here in 2 of 4 steps: "))

    def sizes(self, control, test, columns="verdict"):
        """Steps of a server: (requests, ms) each."""
        for path, steps in (("a.json", control), ("b.json", test)):
            events, at = [], 0
            for number, (requests, length) in enumerate(((1, 1), *steps, (1, 1))):
                name = f"execute_context_0(0)_generation_{requests}({requests})"
                events += [event(name, 1000 * at, 1000 * length, cat="user_annotation"),
                           event("op", 1000 * at, 1000 * length)]
                at += length
            write(path, document(*events))
        return self.rows(VERDICT.format(columns))[0]

    def test_sizes_decide_where_steps_have_several(self):
        """Rule 5: sizes decide where steps have several."""
        both = [(8, 10 + n % 3 / 10) for n in range(9)] + [(32, 20 + n % 5) for n in range(12)]

        def changed(size, more, also=()):
            return [(n, ms + more * (n == size)) for n, ms in both] + list(also)
        self.assertEqual(self.sizes(both, changed(8, 0.3)), ("slower at some sizes",))
        self.assertEqual(self.sizes(changed(8, 0.3), both), ("faster at some sizes",))
        self.assertEqual(self.sizes(both, [(n, ms + 5) for n, ms in both]), ("slower at like sizes",))
        self.assertEqual(self.sizes(both, changed(8, 0.3, both[9:] * 3)), ("slower at some sizes",))
        # less than 0.5 %; not nine of ten pairs; one size is slower and another faster
        for other in (changed(8, 0.04), changed(8, 0.1), [(n, ms + (1 if n == 8 else -8)) for n, ms in both]):
            self.assertEqual(self.sizes(both, other), ("no clear difference",))
        # seven steps of a size per side are too few
        few = [(n, ms + 5 * (n == 8)) for n, ms in both if n == 32] + [(8, 15)] * 7
        self.assertEqual(self.sizes(both, few), ("no clear difference",))

    def test_no_percentage_of_thousands(self):
        write("a.json", trace(1, 1, 1))
        write("b.json", trace(1100, 1100, 1100))
        self.assertEqual(self.value("SELECT text FROM trace_summary('a.json', 'b.json')"),
                         "test is slower here: 1.00 -> 1100 ms per step, +1099 ms (x 1,100)")

    def test_times_without_the_profiler(self):
        write("a.json", trace(10, 11, 10))
        write("b.json", trace(14, 15, 14))

        def lines(*untraced):
            return [text for text, in self.rows("SELECT text FROM trace_summary('a.json', 'b.json', NULL, NULL, NULL,"
                                                " NULL, NULL,"
                                                " ?, ?) WHERE kind = 'untraced' OR text LIKE '%profiler%'", *untraced)]
        self.assertEqual(lines(8, 11), ["untraced: 8.00 -> 11.00 ms per step, +3.00 ms; traced +4.00 ms"])
        self.assertEqual(lines(8, None), [])
        for untraced in ((8, 7), (8, 9), (8, 17)):  # the opposite direction, half, twice
            self.assertEqual(lines(*untraced)[1:], [
                f"caution: the profiler changes the difference: without it {untraced[1] - untraced[0]:+.2f} ms"])


class Job(InFolder):
    """C15: whose answer it is."""

    def asked(self):
        return self.value("SELECT text FROM trace_summary('a', 'b') WHERE kind = 'coverage'").split("; ")[1]

    def test_whose_answer_it_is(self):
        info = {"backend": "nccl", "world_size": 2}
        for side, slower in (("a", 0), ("b", 2)):
            for rank in (0, 1):
                write(f"{side}/{rank}.json", {**trace(10 + slower, 11, 10), "distributedInfo": {**info, "rank": rank}})
        self.assertEqual(self.asked(), "rank 0")  # without common collectives
        self.assertEqual(self.rows("SELECT text FROM trace_summary('a', 'b') WHERE kind = 'ranks'"), [
            ("each of 2 ranks is compared with itself: 2 not clear",)])
        whole = {**trace(12, 11, 10), "distributedInfo": {**info, "rank": 1}}
        write("b/1.json", document(event("op", 0, 5), distributedInfo={**info, "rank": 1}))
        self.assertEqual(self.asked(), "rank 0")  # a rank without steps
        write("b/1.json", str(whole).replace("'", '"')[:-30])
        self.assertEqual(self.asked(), "rank 0")  # a truncated file
        write("b/1.json", {**whole, "distributedInfo": {**info, "rank": 3}})
        self.assertEqual(self.asked(), "rank 0")  # other ranks
