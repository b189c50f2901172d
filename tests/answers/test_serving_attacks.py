"""Steps by annotation and replayed graphs, attacked from outside with odd arguments, missing data, and unrelated
content.
"""
import json
import sqlite3
import unittest

from made import ABSENT, InFolder, document, event, kernel, launch, step, write
from test_serving import decode, note

WORK = ("SELECT iteration, class, name, time FROM trace_step_time('a.json', 0, 'all', 'top_op', NULL, NULL, ?)"
        " ORDER BY 1, 2, 3")


def call(name, ts, **fields):
    return event(name, ts, 1, cat="hip_runtime", **fields)


def captured(*names, at=0):
    """The capture of operators that launch a kernel each."""
    events = [call("hipStreamBeginCapture", at)]
    for name in names:
        at += 10
        events += [event(f"aten::{name}", at, 8), call("hipModuleLaunchKernel", at + 2, args={"kernel": name})]
    return [*events, call("hipStreamEndCapture", at + 10)]


def replay(*names, **fields):
    """A step that replays a graph; `fields` replace fields of its second kernel."""
    events = [decode(1, 0, 1000),
              event("hipGraphLaunch", 10, 2, cat="hip_runtime", args={"correlation": 1}),
              *(kernel(name, 20 + 5 * at, 3, 1) for at, name in enumerate(names))]
    events[3] = {key: value for key, value in {**events[3], **fields}.items() if value is not ABSENT}
    return document(*events)


class CapturesInPart(InFolder):
    """T15 for the trace in argument `capture`: a partly read file would give other owners."""

    def check(self, path, what):
        """Checks that the file gives the same error as a separate trace."""
        with self.assertRaisesRegex(sqlite3.Error, what) as raised:
            self.rows("SELECT * FROM trace_kernel_owners(?)", path)
        message = str(raised.exception).removeprefix("trace_kernel_owners")
        write("a.json", replay("a", "b"))
        for query in ("trace_kernel_owners('a.json') WHERE capture = ?", "trace_step_time('a.json') WHERE capture = ?",
                      "trace_step_diff('a.json', 'a.json') WHERE control_capture = ?",
                      "trace_step_diff('a.json', 'a.json') WHERE test_capture = ?"):
            self.assert_error(query.split("(")[0] + message, f"SELECT * FROM {query}", path)

    def test_a_truncated_capture(self):
        text = json.dumps(document(*captured("a", "b"), *captured("a", "b", at=100)))
        write("capture.json", text[:-10])
        self.check("capture.json", "the document is truncated at byte")

    def test_a_truncated_gzip_file(self):
        write("whole.json.gz", document(*captured("a", "b")))
        with open("whole.json.gz", "rb") as file:
            content = file.read()
        write("capture.json", content[:-20])
        self.check("capture.json", "the gzip data is truncated at byte")


class Errors(InFolder):
    def test_the_capture_of_a_side_is_named(self):
        write("a.json", replay("a", "b"))
        for argument in ("control_capture", "test_capture"):
            for value in (5, "", "[]"):
                with self.assertRaisesRegex(sqlite3.Error, argument, msg=repr(value)):
                    self.rows(f"SELECT * FROM trace_step_diff('a.json', 'a.json') WHERE {argument} = ?", value)

    def test_an_empty_capture_is_named(self):
        write("a.json", replay("a", "b"))
        for function in ("trace_kernel_owners", "trace_step_time"):
            with self.assertRaisesRegex(sqlite3.Error, "capture"):
                self.rows(f"SELECT * FROM {function}('a.json') WHERE capture = ''")


    def test_a_list_of_phases_that_is_cut_says_so(self):
        write("a.json", document(*(note(f"step[M_{at} bs=1]", 10 * at, 5) for at in range(3000))))
        with self.assertRaisesRegex(sqlite3.Error, r"\.\.\.\)$"):
            self.rows("SELECT * FROM trace_step_time('a.json', 0, 'decode')")

    def test_a_phase_too_long_to_show_is_not_none(self):
        write("a.json", document(note("step[" + "A" * 60000 + "]", 0, 5)))
        with self.assertRaisesRegex(sqlite3.Error, r"phases: (?!none)"):
            self.rows("SELECT * FROM trace_step_time('a.json', 0, 'prefill')")


class Ranks(InFolder):
    def test_the_report_of_a_phase_that_another_rank_lacks(self):
        """T23: only selected ranks need steps of the phase, also in the report."""
        for rank, made in ((0, decode(4, 0, 50)), (1, note("step[EXTEND bs=1 toks=9]", 0, 50))):
            steps = [{**made, "ts": 100 * number} for number in range(4)]
            work = [each for number in range(4) for each in (launch(100 * number + 2, 3, number + 1),
                                                             kernel("gemm", 100 * number + 10, 20, number + 1))]
            write(f"run/{rank}.json", document(*steps, *work, distributedInfo={"rank": rank}))
        for function in ("trace_summary", "trace_step_causes", "trace_tree_diff", "trace_diff_report"):
            for ranks in (None, 0):
                count = self.value(f"SELECT count(*) FROM {function}('run', 'run', ?1, ?1, 'decode', 'decode')", ranks)
                self.assertGreater(count, 0, function)


    def test_each_rank_takes_the_captures_of_its_own(self):
        """A15.3: a rank of a trace with its own captures uses no other captures."""
        for rank in (0, 1):
            captures = [{**each, "name": f"aten::{rank}"} if each["name"] == "aten::a" else each
                        for each in captured("a")]
            write(f"capture/{rank}.json", document(*captures, distributedInfo={"rank": rank}))
            graphs = [(event("hipGraphLaunch", 100 * at, 2, cat="hip_runtime", args={"correlation": at + 1}),
                       kernel("a", 100 * at + 10, 5, at + 1)) for at in range(3)]
            write(f"run/{rank}.json", document(*sum(graphs, ()), distributedInfo={"rank": rank}))
        self.assertEqual(self.rows("SELECT DISTINCT rank, op FROM trace_kernel_owners('run', 'all', 'all')"
                                   " WHERE capture = 'capture' ORDER BY 1, 2"), [(0, "aten::0"), (1, "aten::1")])


class Labels(InFolder):
    def test_a_profiler_step_around_steps_by_annotation_is_no_label(self):
        """A11.1: a profiler step around steps by annotation is never a label, whichever steps are selected."""
        made = [decode(1, 100, 50), decode(1, 200, 50)]
        for number in (1, 2):
            made += [launch(100 * number + 10, 3, number), kernel("gemm", 100 * number + 20, 20, number)]
        for steps in (None, "step[%"):
            write("a.json", document(*made))
            expected = self.rows(WORK, steps)
            write("a.json", document(*made, step(7, 90, 500)))
            self.assertEqual(self.rows(WORK, steps), expected)


class Left(InFolder):
    """T4: work without a name or a duration is in no diff."""

    def changes(self, **fields):
        write("a.json", replay("a", "b", "c", **fields))
        write("b.json", replay("a", "b", "c"))
        return self.rows("SELECT name, change FROM trace_graph_diff('a.json', 'b.json')")

    def test_a_graph_with_work_without_a_name(self):
        for name in (ABSENT, 5):
            self.assertEqual(self.changes(name=name), [("a", "same"), ("b", "added"), ("c", "same")])

    def test_a_graph_with_work_without_a_duration(self):
        for duration in (ABSENT, -1):
            self.assertEqual(self.changes(dur=duration), [("a", "same"), ("b", "added"), ("c", "same")])


class LastStep(InFolder):
    def test_a_pattern_does_not_change_what_an_analysis_counts(self):
        """In T13, steps are ProfilerSteps, whatever `steps` names (T23), so a pattern does not change what an analysis
        counts.
        """
        write("a.json", document(*(each for at in range(4) for each in (decode(3, 100 * at, 50),
                                                                       event("x", 100 * at + 5, 5)))))
        counted = "SELECT count(*) FROM trace_events('a.json') WHERE include_last_profiler_step = 0 AND steps = ?"
        for steps in (None, "auto", "step[%"):
            self.assertEqual(self.value(counted, steps), 8)


if __name__ == "__main__":
    unittest.main()
