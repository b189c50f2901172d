"""Times at the edge of 64 bits: every function gives the right number, or an error that names the function and the
trace.
"""
import json
import math
import random
import re
import unittest

import oracle
from made import ABSENT, InFolder, document, event, kernel, launch, step, write
from support import slow

MOST, LEAST = 2**63 - 1, -2**63 + 1
FAR = MOST // 1000  # us
ENDLESS = "ts + dur is beyond 64 bits"
# The allowed messages; each follows the function's name.
SAID = re.compile(r"a sum is beyond 64 bits \((trace 't'|control 't', test 't')\)"
                  r"|'t/[^']*': a part of (a step is beyond 64 bits of nanoseconds|all steps is beyond 64 bits)"
                  r"|a cause takes more than 64 bits of nanoseconds|the changes move events beyond 64 bits of"
                  r" nanoseconds"
                  r"|(a step would|the steps) take more than 64 bits of nanoseconds")


def us(ns):
    """Nanoseconds in the notation of a trace."""
    sign = "-" if ns < 0 else ""
    return f"{sign}{abs(ns) // 1000}.{abs(ns) % 1000:03}"


def at(name, start, dur, **fields):
    return {**event(name, us(start), us(dur)), **fields}


def edge(phase, name, ts, thread=1):
    return event(name, us(ts), ABSENT, ph=phase, tid=thread)


class Ends(InFolder):
    """T1: ts_ns + dur_ns fits into 64 bits."""

    def problems(self):
        found = json.loads(self.value("SELECT problems FROM trace_files('t.json')"))
        return {problem["what"]: (problem["count"], problem["first_byte"]) for problem in found}

    def events(self):
        return self.rows("SELECT name, ts_ns, dur_ns, ts_ns + dur_ns, typeof(ts_ns + dur_ns)"
                         " FROM trace_events('t.json')")

    def test_an_end_beyond_64_bits_is_no_duration(self):
        write("t.json", document(at("fits", MOST - 5, 5), at("one more", MOST - 5, 6), at("whole", 0, MOST),
                                 at("huge", MOST, MOST), at("early", LEAST, MOST)))
        self.assertEqual(self.events(), [
            ("fits", MOST - 5, 5, MOST, "integer"), ("one more", MOST - 5, None, None, "null"),
            ("whole", 0, MOST, MOST, "integer"), ("huge", MOST, None, None, "null"),
            ("early", LEAST, MOST, 0, "integer")])
        with open("t.json", encoding="ascii") as file:
            byte = file.read().index('{"ph": "X", "cat": "cpu_op", "name": "one more"') + 1
        self.assertEqual(self.problems(), {ENDLESS: (2, byte)})
        self.assertEqual(self.rows("SELECT name, total_duration FROM trace_ops('t.json') ORDER BY 1"),
                         [("early", MOST / 1000), ("fits", 0.005), ("whole", MOST / 1000)])

    def test_the_base_counts(self):
        write("t.json", document(at("fits", 5, 5), at("one more", 5, 6), at("late", 11, 0), at("early", -9, 3),
                                 edge("B", "open", 3), edge("E", "open", 30), edge("B", "shut", 3),
                                 edge("E", "shut", 4),
                                 baseTimeNanoseconds=MOST - 10))
        self.assertEqual(self.events(), [
            ("fits", MOST - 5, 5, MOST, "integer"), ("one more", MOST - 5, None, None, "null"),
            ("late", None, None, None, "null"), ("early", MOST - 19, 3, MOST - 16, "integer"),
            ("open", MOST - 7, None, None, "null"), ("shut", MOST - 7, 1, MOST - 6, "integer")])
        self.assertEqual(self.problems(), {ENDLESS: (2, None), "ts or dur is not a time": (1, None)})
        self.assertEqual(self.rows("SELECT start_ns, end_ns FROM trace_files('t.json')"), [(MOST - 19, MOST)])

    def test_the_smallest_integer_is_no_origin(self):
        """-2^63 stands for NULL, so an event that the base moves there has no time, and times count from another
        event.
        """
        write("t.json", document(at("none", -1, 5), at("first", 3, 5), at("next", 7, 5),
                                 baseTimeNanoseconds=-2 ** 63 + 1))
        self.assertEqual(self.rows("SELECT name, ts_ns, ts FROM trace_events('t.json')"), [
            ("none", None, None), ("first", -2 ** 63 + 4, 0), ("next", -2 ** 63 + 8, 0.004)])

    def test_an_end_is_the_origin_although_the_base_takes_the_time_of_another_event(self):
        """T2: an E without a row can be the origin; events of category Trace do not count."""
        own = {**edge("B", "own", -5, 3), "cat": "Trace"}
        write("t.json", document(edge("E", "nothing", 2), at("first", 5, 3), at("late", 11, 0), own,
                                 edge("E", "own", -3, 3),
                                 edge("E", "late", 12), baseTimeNanoseconds=MOST - 10))
        self.assertEqual(self.rows("SELECT name, ts_ns, ts FROM trace_events('t.json')"), [
            ("first", MOST - 5, 0.003), ("late", None, None), ("own", MOST - 15, -0.007)])
        self.assertEqual(self.rows("SELECT start_ns, end_ns FROM trace_files('t.json')"), [(MOST - 8, MOST - 2)])

    def test_a_step_has_no_ts_without_an_origin(self):
        """T2: a step has no ts without an origin, and events of category Trace do not count."""
        write("t.json", document({**step(5, 2, 7), "cat": "Trace"}))
        self.assertEqual(self.rows("SELECT ts_ns, dur_ns, ts, dur FROM trace_steps('t.json')"), [(2000, 7000, None, 7)])

    def test_times_from_2_53_ns_on_are_rounded_once(self):
        """From 2^53 ns on, ts, dur, and the sums and means of trace_ops and trace_diff are rounded once to the nearest
        double, like Python's quotients.
        """
        chance = random.Random(53)
        limits = (2**53, 2**54, 2**60, 1000 * 2**53, MOST)
        near = [ns for limit in limits for ns in range(limit - 2000, min(limit + 2000, MOST), 125)]
        times = near + [chance.randrange(2**53, MOST) for _ in range(3000)]
        late = at("late", MOST, 0)  # so that nothing ends after the recording (I2)
        write("t.json", document(*(at("op", ns - MOST, MOST - ns) for ns in times), *(at("op", 0, ns) for ns in times),
                                 late))
        first, total, counts = min(times), sum(times) + sum(MOST - ns for ns in times), 2 * len(times)
        self.assertEqual(self.rows("SELECT ts, dur FROM trace_events('t.json') ORDER BY event"), [
            *(((ns - first) / 1000, (MOST - ns) / 1000) for ns in times),
            *(((MOST - first) / 1000, ns / 1000) for ns in times), ((2 * MOST - first) / 1000, 0)])
        self.assertEqual(self.rows("SELECT total_duration, mean_duration FROM trace_ops('t.json') WHERE name = 'op'"), [
            (total / 1000, total / (1000 * counts))])
        write("u.json", document(*(at("op", 0, ns) for ns in times), late))
        self.assertEqual(self.rows("SELECT diff_duration FROM trace_diff('t.json', 'u.json') WHERE name = 'op'"), [
            ((sum(times) - total) / 1000,)])

    def test_begins_and_ends(self):
        for base in (0, -7, 7):
            write("t.json", document(edge("B", "b", LEAST + 10), edge("E", "b", MOST - 10),
                                     edge("B", "c", MOST - 12, 2), edge("E", "c", MOST - 10, 2),
                                     baseTimeNanoseconds=base))
            self.assertEqual(self.rows("SELECT name, ts_ns, dur_ns FROM trace_events('t.json')"),
                             [("b", LEAST + 10 + base, None), ("c", MOST - 12 + base, 2)])


class Everywhere(InFolder):
    """Random traces with times from limit to limit, every function and analysis, and the oracle where it applies."""

    def random_trace(self, chance):
        far = chance.choice((MOST, MOST // 2, MOST // 3, 2**53, 10**18, 10**6))

        def instant():
            return chance.choice((chance.randint(-far, far), chance.randint(0, 10**6), far - chance.randint(0, 10**4)))

        def length():
            return chance.choice((chance.randint(0, far), chance.randint(0, 1000), far))

        events = []
        for number in range(chance.choice((0, 2, 4))):
            events.append(at(f"ProfilerStep#{number}", instant(), length(), cat="user_annotation"))
        for number in range(1, chance.randint(2, 12)):
            start = instant()
            events += [at("aten::op", start, length(), args={"External id": number}),
                       at("cudaLaunchKernel", start, chance.choice((5, length())), cat="cuda_runtime",
                          args={"correlation": number}),
                       at(chance.choice(("gemm", "ncclDevKernel_AllReduce", "Memcpy HtoD")), instant(), length(), tid=7,
                          pid=0,
                          cat=chance.choice(("kernel", "gpu_memcpy")),
                          args={"correlation": number, "stream": 7, "memory bandwidth (GB/s)": 1e6})]
        for number in range(chance.choice((0, 0, 3))):
            events += [edge("B", f"span {number}", instant(), 2), edge("E", f"span {number}", instant(), 2)]
        base = chance.choice((0, 0, far, -far, 10**6))
        return document(*events, distributedInfo={"rank": 0}, baseTimeNanoseconds=base)

    def queries(self):
        required = {"trace": "'t'", "control": "'t'", "test": "'t'", "keys": "'op'", "operator_name": "'op'",
                    "schedule": "'[]'", "limit_percent": "5",
                    "changes": """'[{"what": "device", "factor": 1000000}, {"what": "host", "add_us": 1e9}]'"""}
        functions = {}
        for function, kind, name, needed in self.rows(
                "SELECT function, kind, name, required FROM tracediff_columns WHERE function IN"
                " (SELECT function FROM tracediff_columns WHERE kind = 'column') ORDER BY function, position"):
            arguments = functions.setdefault(function, {})
            if kind == "argument":
                arguments[name] = required.get(name) if needed else "NULL"
        for function, arguments in functions.items():
            # functions that read no trace
            if re.match("tracediff_|memory_(?!bw)|execution_trace|fr_|hang_|trace_device_peaks|compilations"
                        "|compile_(?!steps)", function):
                continue
            yield function, f"SELECT * FROM {function}({', '.join(arguments.values())})"
            wide = {**arguments, **{name: "'all'" for name in arguments if re.search("iteration|rank", name)}}
            if "include_last_profiler_step" in wide:
                wide["include_last_profiler_step"] = "1"
            yield function, f"SELECT * FROM {function}({', '.join(wide.values())})"

    @slow
    def test_every_function_of_random_extreme_traces(self):
        chance = random.Random(7)
        queries = list(self.queries())
        self.assertGreater(len(queries), 40)
        errors = 0
        for _ in range(25):
            write("t/rank0.json", self.random_trace(chance))
            for function, sql in queries:
                try:
                    cursor = self.db.execute(sql)
                    columns = [column[0] for column in cursor.description]
                    rows = cursor.fetchall()
                except Exception as error:  # noqa: the message is tested
                    self.assertTrue(str(error).startswith(f"{function}: "), (sql, error))
                    self.assertRegex(str(error)[len(function) + 2:], SAID, sql)
                    errors += 1
                    continue
                for row in rows:
                    for column, value in zip(columns, row):
                        if column.endswith("_ns"):
                            self.assertIsInstance(value, (int, type(None)), (sql, column))
                        if isinstance(value, float):
                            self.assertTrue(math.isfinite(value), (sql, column))
        self.assertGreater(errors, 10)

    def test_sums_are_exact_or_errors(self):
        """Times and totals are exact or errors, by the oracle's integers. Python also rounds the quotient of two
        integers once.
        """
        chance = random.Random(8)
        for _ in range(40):
            write("t/rank0.json", self.random_trace(chance))
            read = oracle.read_trace("t")
            expected = {(row.iteration, row.device, row.cat, row.name): row.total_ns
                        for row in oracle.summary(read, "all", "all")}
            found = {row[:-1]: row[-1] for row in self.rows(
                "SELECT iteration, device, cat, name, total_duration FROM trace_ops('t', 'all', 'all')")}
            self.assertEqual(found, {key: total / 1000 for key, total in expected.items()})
            self.assertEqual(self.rows("SELECT event, ts_ns, dur_ns, ts, dur FROM trace_events('t') ORDER BY event"), [
                (row.event, row.ts_ns, row.dur_ns,
                 *(None if ns is None else ns / 1000 for ns in (row.ts_relative_ns, row.dur_ns)))
                for row in read.rows])
            self.assertEqual(self.rows("SELECT start_ns, end_ns FROM trace_files('t')"),
                             [(file.first_ns, file.last_ns) for file in read.files])

    def test_what_is_said(self):
        write("t/rank0.json", document(step(0, 0, 10), step(1, 10, 10), at("late", MOST, 0), *(
            one for number in (1, 2) for one in (
                launch(number, 1, number), {**kernel("k", 0, us(MOST - 10**6), number), "tid": number}))))
        for function, arguments in (("gpu_kernel_breakdown", "'t', NULL, 1"),
                                    ("gpu_kernel_breakdown", "'t', NULL, 1, NULL")):
            self.assert_error(f"{function}: a sum is beyond 64 bits (trace 't')",
                              f"SELECT * FROM {function}({arguments})")
        write("t/rank0.json", document(step(0, 0, 10), step(1, 10, 10), at("late", MOST, 0), *(
            one for number, start in ((1, -MOST), (2, 10**6)) for one in (
                launch(number, 1, number), kernel("k", us(start), us(MOST - 10**6), number)))))
        for function in ("temporal_breakdown", "gpu_kernel_type_breakdown"):  # raised by trace_busy_time()
            self.assert_error(f"{function}: a sum is beyond 64 bits (trace 't')",
                              f"SELECT * FROM {function}('t', NULL, 1)")


if __name__ == "__main__":
    unittest.main()
