"""Arguments of all functions have one order and one name each (sql/README.md, Arguments), and an error names that
order.
"""
import unittest

from made import InFolder, document, event, step, write
from support import connect

TRACES = ("trace", "control", "test", "snapshot", "dumps", "log")
RANKS = ("ranks", "control_rank", "test_rank")
ITERATIONS = ("iterations", "control_iteration", "test_iteration", "include_last_profiler_step")


def lists(db):
    """{table function: [(argument, required, description)]}"""
    found = {}
    for function, *argument in db.execute(
            "SELECT function, name, required, description || coalesce('; default ' || default_value, '')"
            " FROM tracediff_columns"
            " WHERE kind = 'argument' AND function IN (SELECT function FROM tracediff_columns WHERE kind = 'column')"):
        found.setdefault(function, []).append(argument)
    return found


def place(name, required):
    """The position of an argument, by the cases of the rule."""
    if name in TRACES and required:
        return 0
    if required or name == "keys":
        return 1 + (name == "keys")
    return 3 if name in RANKS else 4 if name in ITERATIONS else 6 if name == "steps" else 5


class Order(unittest.TestCase):
    def setUp(self):
        self.db = connect()
        self.addCleanup(self.db.close)
        self.lists = lists(self.db)
        for reads_no_trace in ("tracediff_help", "tracediff_columns", "trace_device_peaks"):
            del self.lists[reads_no_trace]

    def test_of_every_function(self):
        for function, arguments in self.lists.items():
            with self.subTest(function):
                names = [name for name, *_ in arguments]
                places = [place(name, required) for name, required, _ in arguments]
                self.assertEqual(places, sorted(places), names)
                traces = [name for name, at in zip(names, places) if at == 0]
                self.assertIn(traces, (["trace"], ["snapshot"], ["dumps"], ["log"], ["control", "test"]))
                for one, other in (("control", "test"), ("control_rank", "test_rank"),
                                   ("control_iteration", "test_iteration")):
                    if other in names:
                        self.assertEqual(names.index(one) + 1, names.index(other), names)

    def test_own_ones_have_one_order_in_all_functions(self):
        """A function's own arguments follow one order in all functions: one list of all names is in the order of each
        of them.
        """
        after = {}
        for arguments in self.lists.values():
            own = [name for name, required, _ in arguments if place(name, required) == 5]
            for at, name in enumerate(own):
                after.setdefault(name, set()).update(own[at + 1:])
        while after:
            last = {name for name, others in after.items() if not others & after.keys()}
            self.assertTrue(last, after)
            for name in last:
                del after[name]


class Errors(InFolder):
    """An argument in an older order gives an error."""

    def test_a_call_in_the_old_order_names_the_new_one(self):
        write("t.json", document(step(0, 0, 10), event("op", 1, 5), step(1, 10, 10), event("op", 12, 5)))
        sides = "'t.json', 't.json', 0, 0, 'all', 'all'"
        for call, said in (
                ("trace_events('t.json', 'XB')",
                 "ranks must be an integer, a JSON array of integers or 'all', not 'XB'"),
                ("trace_job_path('t.json', 'steady')", "ranks must be an integer, a JSON array of integers, 'all' or"
                                                       " 'job', not 'steady'"),
                ("trace_step_time('t.json', 0, 'all', 'op', 'device', 'op%')",
                 "cannot read 'op%': No such file or directory"),
                ("trace_step_diff(" + sides + ", 'op', 'device', 'op%')",
                 "cannot read 'op%': No such file or directory"),
                ("trace_step_diff(" + sides + ", 'op', 'device', 'none*')", "no file matches 'none*'"),
                ("trace_kernel_owners('t.json', 0, 'all', 'op%')", "cannot read 'op%': No such file or directory"),
                ("trace_step_causes(" + sides + ", 'host', 'op%', 3)",
                 "shown must be an integer of 0 or more, not 'op%'"),
                ("trace_summary(" + sides + ", 'host', 'auto', 8, 9)",
                 "control_untraced must be a number of 0 or more, not 'auto'"),
                ("critical_path('t.json', 0, 'all', 'host', 'auto', 1)", "off_path must be 0 or 1, not 'auto'"),
                ("potential_stragglers('t.json', 'all', 'steady', 'auto')",
                 "cannot read 'auto': No such file or directory"),
                ("frequent_cuda_kernel_sequences('t.json', 0, 0, 'aten::')",
                 "operator_name must be a part of a name, or a GLOB pattern, not 0")):
            function = call[:call.index("(")]
            with self.subTest(call):
                self.assert_error(f"{function}: {said}{self.order(function)}", f"SELECT * FROM {call}")

    def test_of_a_function_written_in_sql_it_is_its_own(self):
        """The error of a function written in SQL names its own order, not the order of the function that it calls."""
        write("t.json", document(event("op", 1, 5)))
        self.assert_error("trace_collectives: ranks must be an integer, a JSON array of integers or 'all', not 'x y'"
                          "; the arguments are trace, ranks, iterations, steps",
                          "SELECT * FROM trace_collectives('t.json', 'x y')")

    def test_not_if_it_was_given_by_name(self):
        write("t.json", document(event("op", 1, 5)))
        self.assert_error("trace_events: phases must be phase letters such as 'XB' or 'iI', or 'all', not '?'",
                          "SELECT * FROM trace_events('t.json') WHERE phases = '?'")

    def test_of_create_virtual_table(self):
        write("t.json", document(event("op", 1, 5)))
        self.db.execute("CREATE VIRTUAL TABLE temp.made USING trace_events('t.json', 'XB')")
        self.assert_error("trace_events: ranks must be an integer, a JSON array of integers or 'all', not 'XB'"
                          + self.order("trace_events"), "SELECT * FROM made")
        for call, said in (("memory_timeline(path = 'a')", "memory_timeline: unknown argument 'path'; it takes trace"),
                           ("memory_peak('a', by = 'op')",
                            "memory_peak: unknown argument 'by'; it takes snapshot, keys, ranks")):
            self.assert_error(said, "CREATE VIRTUAL TABLE temp.t USING " + call)


class First(InFolder):
    """'first' is the lowest step, which is the default of HTA's diffs."""

    def setUp(self):
        super().setUp()
        for name, offset in (("a.json", 0), ("b.json", 1)):
            write(name, document(*[one for number in range(4, 0, -1) for one in (
                step(number, 100 * number, 50), event("op at 0x1", 100 * number + 10, number + offset))],
                event("outside", 600, 7)))

    def test_of_a_trace(self):
        for asked in ("'first'", "'FIRST'", "1"):
            self.assertEqual(self.rows(f"SELECT iteration, total_duration FROM trace_ops('a.json', 0, {asked})"
                                       f" WHERE name = 'op at 0x1'"), [(1, 1)])
        self.assertEqual(self.rows("SELECT iteration FROM trace_ops('a.json') WHERE name = 'op at 0x1'"), [(2,), (3,)])

    def test_defaults_of_diffs(self):
        for function, key in (("trace_diff", ""), ("trace_diff_by", ", 'name'")):
            def ask(terms=""):
                return sorted(self.rows(f"SELECT * FROM {function}('a.json', 'b.json'{key}) WHERE 1" + terms), key=repr)
            steady = " AND control_iteration = 'steady' AND test_iteration = 'steady'"
            first = steady.replace("steady", "first")
            self.assertEqual(ask(), ask(steady + " AND use_short_name = 2"))
            self.assertNotEqual(ask(), ask(first))
        for function in ("compare_traces", "ops_diff", "top_count_increases", "top_duration_changes"):
            def ask(terms=""):
                return self.rows(f"SELECT * FROM {function}('a.json', 'b.json') WHERE 1" + terms)
            self.assertEqual(ask(), ask(first + " AND use_short_name = 0"))
            if function != "top_count_increases":
                self.assertNotEqual(ask(), ask(steady))
                self.assertNotEqual(ask(), ask(first + " AND use_short_name = 2"))

    def test_without_steps_it_is_the_whole_trace(self):
        write("c.json", document(event("op", 1, 5), event("op", 12, 5)))
        self.assertEqual(self.rows("SELECT iteration, name, counts FROM trace_ops('c.json', 0, 'first')"),
                         [(None, "op", 2)])

    def test_of_a_serving_framework_it_is_the_whole_trace(self):
        """T23.3: for a serving framework 'first' is the whole trace, unless a pattern names the steps."""
        write("d.json", document(*[one for number in range(4) for one in (
            event("step[DECODE bs=3]", 100 * number, 50, cat="user_annotation"), event("op", 100 * number + 10, 5))]))
        for steps, found in (("NULL", [(None, 4)]), ("'step[%'", [(0, 1)])):
            self.assertEqual(self.rows("SELECT iteration, counts FROM trace_ops('d.json', 0, 'first')"
                                       " WHERE name = 'op' AND steps IS "
                                       + steps), found)
        self.assertEqual(self.rows("SELECT sum(time_ns) FROM trace_step_time('d.json', 0, 'first', NULL, 'host')"),
                         self.rows("SELECT sum(time_ns) FROM trace_step_time('d.json', 0, 'first', NULL, 'host')"
                                   " WHERE steps = 'profiler'"))


if __name__ == "__main__":
    unittest.main()
