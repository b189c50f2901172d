"""Calls that load or set something up because they come first (C21): how they are recognised, how they are reported,
and changes that must not matter.
"""
import random
import unittest

from made import InFolder, document, event, kernel, step, write

ROWS = """SELECT item, control_value, test_value, matters, why FROM trace_comparability('a.json', 'b.json')
    WHERE topic = 'warmup'"""
SAID = "SELECT text FROM trace_summary('a.json', 'b.json') WHERE code = 'warmup'"


def program(*calls, at=0, rest=0, busy=0):
    """Events of calls in operators, one after the other: (us, kernel, name, operator), of which trailing fields may be
    left out. A kernel begins at the end of its launch. `busy` is the share of each call over 500 us in which another
    stream runs. The host does something else for `rest` us.
    """
    events, first = [], 1000 * int(at)
    for number, (us, work, *more) in enumerate(calls, first + 1):
        name, operator = (*more, *("cudaLaunchKernel", "aten::mm")[len(more):])
        events.append(event(operator, at, us + 4))
        events.append(event(name, at + 2, us, cat="cuda_runtime", args={"correlation": number}))
        if work:
            events.append(kernel(work, at + 2 + us, 1, number))
        if busy and us > 500:
            events.append(kernel("other", at + 2, busy * us, 0, stream=8))
        at += us + 5
    return [*events, event("rest", at, rest + 1)]


def warm(kernels=8, *first):
    """Launches of loaded kernels, after their first launches."""
    return [*first, *[(10, f"k{number}") for number in range(kernels)] * 2]


class Asking(InFolder):
    def sides(self, control, test):
        for path, events in (("a.json", control), ("b.json", test)):
            write(path, document(*events))

    def items(self, test, control=None):
        """{item: (us of its calls in test, whether it matters)}"""
        self.sides(control or program(*warm()), test)
        return {item: (us, matters) for item, _, us, matters, _ in self.rows(ROWS)}

    def counts(self, *calls, **how):
        """Whether any call counts as warm-up."""
        return bool(self.items(program(*calls, **how)))


class Cases(Asking):
    def test_first_launches(self):
        test = program(*[(10_000, f"k{number}") for number in range(5)], *warm())
        self.assertEqual(self.items(test), {"launches": (50_000, "yes")})
        text = "5 first launches take 50.0 ms in {}: kernels load; record after a warm-up"
        self.assertEqual(self.rows(SAID), [("caution: " + text.format("test"),)])
        self.sides(test, program(*warm()))
        self.assertEqual(self.rows(SAID), [("caution: " + text.format("control"),)])
        self.assertIn('"warmup"', self.value("SELECT json FROM trace_brief('a.json', 'b.json')"))

    def test_one_launch(self):
        self.items(program((600_000, "k0"), *warm()))
        self.assertEqual(self.rows(SAID), [(
            "caution: 1 first launch takes 600 ms in test: kernels load; record after a warm-up",)])

    def test_both_sides(self):
        self.sides(program((200_000, "k0"), *warm()), program((12_000_000, "k0"), (1500, "k1"), *warm()))
        self.assertEqual(self.rows(SAID), [(
            "caution: first launches take 0.2 s in control, 12.0 in test: kernels load; record after a warm-up",)])

    def test_one_item_matters(self):
        test = program((3000, "k0"), (9000, None, "cudaMalloc"), *[(10, None, "cudaMalloc")] * 4, *warm())
        self.assertEqual(self.items(test), {"launches": (3000, "maybe"), "memory": (9000, "yes")})

    def test_equal_sides_differ_in_nothing(self):
        slow = program((200_000, "k0"), *warm())
        self.assertEqual(self.items(slow, slow), {"launches": (200_000, "maybe")})
        self.assertEqual(self.rows(SAID), [])

    def test_the_second_of_a_kernel_but_not_the_third(self):
        """The second call of a kernel can be warm-up, the third cannot. Launches count by kernel, whatever launches it;
        a call without device work counts by name and operator.
        """
        self.assertTrue(self.counts((10, "k0"), (5000, "k0"), *warm()))
        self.assertFalse(self.counts((10, "k0"), (10, "k0"), (5000, "k0"), *warm()))
        self.assertFalse(self.counts((10, "k0"), (10, "k0", "cudaLaunchKernelExC"), (5000, "k0"), *warm()))
        self.assertTrue(self.counts((10, "k0"), (10, "k0"), (5000, "new"), *warm()))
        plain = [(10, None, "cudaFuncSetAttribute")] * 3
        self.assertFalse(self.counts(*plain, (5000, None, "cudaFuncSetAttribute")))
        self.assertTrue(self.counts(*plain, (5000, None, "cudaFuncSetAttribute", "aten::bmm")))

    def test_items(self):
        for name, item in (("cudaMalloc", "memory"), ("cudaFree", "memory"), ("hipHostMalloc", "memory"),
                           ("cudaFuncSetAttribute", "calls"), ("cudaGraphLaunch", "launches")):
            calls = [(5000, None, name), *[(10, None, name)] * 3]
            self.assertEqual(self.items(program(*calls)), {item: (5000, "yes")}, name)

    def test_what_loads_needs_no_other_calls(self):
        for name, item in (("cuModuleLoadData", "modules"), ("cuLibraryLoadData", "modules"),
                           ("hipModuleLoad", "modules"), ("cudnnCreate", "libraries"),
                           ("cublasCreate_v2", "libraries")):
            self.assertEqual(self.items(program((5000, None, name))), {item: (5000, "yes")}, name)
            self.assertFalse(self.counts((900, None, name)))

    def test_waits_and_copies(self):
        for name in ("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaMemcpy", "cudaMemcpyAsync"):
            self.assertFalse(self.counts((5000, None, name), *[(10, None, name)] * 5), name)

    def test_what_runs_in_a_first_call(self):
        outer = program((50_000, "k0"), *warm())
        inner = event("cuModuleLoadData", 100, 40_000, cat="cuda_driver")
        self.assertEqual(self.items([*outer, inner]), {"launches": (50_000, "yes")})

    def test_without_device_work(self):
        calls = [(5000, None), *[(10, None)] * 5]
        self.assertEqual(self.items(program(*calls), program((10, None))), {"launches": (5000, "yes")})

    def test_steps_that_are_not_compared(self):
        """Only calls in the compared steps count; the first and the last step are not steady."""
        for slow, found in ((0, {}), (2, {"launches": (50_000, "yes")})):
            sides = []
            for takes in (10, 50_000):
                events, at = [], 0
                for number in range(6):
                    calls = program((takes if number == slow else 10, f"new{number}"), *warm(), at=at, rest=500)
                    end = max(each["ts"] + each["dur"] for each in calls) + 10
                    events += [*calls, step(number, at, end - at)]
                    at = end
                sides.append(events)
            self.assertEqual(self.items(sides[1], sides[0]), found, slow)

    def test_the_rank_on_which_they_take_longest(self):
        for side, slow in (("a.json", (10, 10)), ("b.json", (20_000, 50_000))):
            for rank, us in enumerate(slow):
                write(f"{side}/{rank}.json", document(
                    *program((us, "k0"), *warm()), distributedInfo={"rank": rank, "world_size": 2}))
        ranks = self.rows(ROWS.replace("'b.json')", "'b.json', 'all', 'all')"))
        self.assertEqual([row[:4] for row in ranks], [("launches", 0, 50_000, "yes")])


class Limits(Asking):
    """The thresholds, each from just below and just above."""

    def test_a_millisecond(self):
        self.assertFalse(self.counts((999, "k0"), *warm()))
        self.assertTrue(self.counts((1001, "k0"), *warm()))

    def test_ten_times_the_median(self):
        others = [(500, f"k{number}") for number in range(8)]
        self.assertFalse(self.counts((4990, "new"), *others))
        self.assertTrue(self.counts((5010, "new"), *others))

    def test_four_calls(self):
        self.assertFalse(self.counts((5000, "k0"), *[(10, "k1")] * 2))
        self.assertTrue(self.counts((5000, "k0"), *[(10, "k1")] * 3))

    def test_a_tenth_without_device_work(self):
        self.assertFalse(self.counts((5000, "k0"), *warm(), busy=0.91))
        self.assertTrue(self.counts((5000, "k0"), *warm(), busy=0.89))

    def test_a_tenth_of_the_difference(self):
        for us, matters in ((4990, "maybe"), (5010, "yes")):
            test = program((us, "k0"), *warm(), rest=50_000 - us)
            self.assertEqual(self.items(test)["launches"], (us, matters))

    def test_one_percent_of_the_step(self):
        """The threshold is one percent of the step. The difference is nearly 0, because the host does less of something
        else in test.
        """
        for us, matters in ((4900, "maybe"), (5010, "yes")):
            test = program((us, "k0"), *warm(), rest=495_000 - us)
            self.assertEqual(self.items(test, program(*warm(), rest=495_000))["launches"], (us, matters))


class Same(Asking):
    """Changes that must not matter."""
    CALLS = [(5000, "k0"), (7000, "k1"), (3000, None, "cudaMalloc"), *[(10, None, "cudaMalloc")] * 4, *warm()]

    def found(self, change):
        sides = [[dict(each) for each in side] for side in (program(*warm()), program(*self.CALLS))]
        for side in sides:
            change(side)
        self.sides(*sides)
        return self.rows(ROWS), self.rows(SAID)

    def test_changes(self):
        def shift(events):
            for each in events:
                each["ts"] += 123_456

        def relabel(events):
            for each in events:
                if each["cat"] in ("kernel", "cpu_op"):
                    each["name"] = f"other_{each['name']}"

        def renumber(events):
            for each in events:
                if each.get("args"):
                    each["args"] = {**each["args"], "correlation": each["args"]["correlation"] + 77}
                each.update(pid=each["pid"] + 5, tid=each["tid"] + 3)

        plain = self.found(lambda events: None)
        self.assertEqual([row[0] for row in plain[0]], ["launches", "memory"])
        for change in (shift, random.Random(1).shuffle, relabel, renumber,
                       lambda events: events.append(event("train", 0, 10_000, cat="user_annotation"))):
            self.assertEqual(self.found(change), plain)


if __name__ == "__main__":
    unittest.main()
