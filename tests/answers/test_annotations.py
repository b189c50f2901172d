"""The step of an annotation on the device (T11), and the work that analyses leave out with the last step (T13):
examples made by hand, and random traces against the rules word for word.
"""
import unittest

import oracle
from made import ABSENT, InFolder, document, event, kernel, launch, step, write
from support import corpus, series
from test_step_time import random_trace

STEPS = [step(number, 100 * number, 100) for number in (1, 2, 3)]


def annotation(name, ts, dur, external=ABSENT, **fields):
    """A device annotation, on the stream of kernel()."""
    args = {} if external is ABSENT else {"External id": external}
    return event(name, ts, dur, cat="gpu_user_annotation", **{"pid": 0, "tid": 7, "args": args, **fields})


def host(name, ts, external, **fields):
    return event(name, ts, 10, **{"cat": "user_annotation", "args": {"External id": external}, **fields})


class Annotations(InFolder):
    def step_of(self, *events):
        """The step of the only device annotation, and whether an analysis counts it."""
        write("trace.json", document(*STEPS, *events))
        iteration = self.value("SELECT iteration FROM trace_events('trace.json') WHERE cat = 'gpu_user_annotation'")
        counted = self.value("SELECT count(*) FROM trace_events('trace.json', 'all', 0)"
                             " WHERE cat = 'gpu_user_annotation'")
        self.assertEqual(self.value("SELECT coalesce(sum(count(*)) OVER (), 0) FROM"
                                    " gpu_user_annotation_breakdown('trace.json')"), counted)
        return iteration, counted

    def test_the_step_it_names(self):
        """The step that the annotation names comes first; the last step is cut by the host's step."""
        other = host("ProfilerStep#2", 150, 5)
        self.assertEqual(self.step_of(annotation("ProfilerStep#2", 320, 50, 5), other), (2, 1))
        self.assertEqual(self.step_of(annotation("ProfilerStep#3", 290, 50)), (3, 0))
        self.assertEqual(self.step_of(annotation("ProfilerStep#9", 290, 50)), (9, 1))  # a step that does not exist

    def test_the_step_of_the_host_s_annotation(self):
        work = [launch(120, 5, 1), kernel("k", 320, 5, 1)]
        self.assertEqual(self.step_of(annotation("a", 320, 50, 5), host("a", 250, 5), *work), (2, 1))
        self.assertEqual(self.step_of(annotation("a", 250, 50, 5), host("a", 350, 5)), (3, 0))
        self.assertEqual(self.step_of(annotation("a", 250, 50, 5), host("a", 50, 5)), (None, 1))  # in no step
        for other in (host("a", 350, 6), host("b", 350, 5), host("a", 350, "5"), host("a", 350, ABSENT, args={}),
                      host("a", 350, 5, cat="cpu_op"), host("a", ABSENT, 5)):
            self.assertEqual(self.step_of(annotation("a", 320, 50, 5), other, *work), (1, 1), other)

    def test_two_annotations_of_the_host_say_nothing(self):
        self.assertEqual(self.step_of(annotation("a", 250, 50, 5), host("a", 350, 5), host("a", 120, 5)), (2, 1))

    def test_the_step_of_the_first_work_within_it(self):
        """Otherwise it is in the step of the first work within it: by start, then file, on its (pid, tid), with a
        launch.
        """
        work = [launch(110, 5, 1), launch(210, 5, 2), kernel("k2", 330, 5, 2), kernel("k1", 330, 5, 1)]
        self.assertEqual(self.step_of(annotation("a", 320, 50), *work), (2, 1))
        self.assertEqual(self.step_of(annotation("a", 330, 1), *work), (2, 1))
        for ts, dur in ((331, 50), (320, 10), (330, 0)):
            self.assertEqual(self.step_of(annotation("a", ts, dur), *work), (3, 0), (ts, dur))
        self.assertEqual(self.step_of(annotation("a", 320, 50, tid=8), *work), (3, 0))
        self.assertEqual(self.step_of(annotation("a", 320, 50), kernel("old", 325, 1, 9), *work), (2, 1))
        self.assertEqual(self.step_of(annotation("a", 280, 50), launch(300, 1, 4), kernel("k", 310, 1, 4)), (3, 0))

    def test_the_step_at_its_own_start(self):
        self.assertEqual(self.step_of(annotation("a", 250, 50)), (2, 1))
        self.assertEqual(self.step_of(annotation("a", 300, 50, 5)), (3, 0))
        self.assertEqual(self.step_of(annotation("a", 500, 50, 5)), (None, 0))

    def test_real_traces(self):
        """In real traces each has the External id and the name of one host annotation."""
        for parts in (("hta", "amd_trace"), ("tracelens", "h100"), ("tracelens", "mi300"),
                      ("tracelens", "torch_compile_triton")):
            pairs = self.rows("""
                WITH event AS MATERIALIZED (
                  SELECT file, iteration, cat, name, args ->> '$."External id"' AS external FROM trace_events(?)
                  WHERE cat IN ('user_annotation', 'gpu_user_annotation'))
                SELECT work.iteration IS host.iteration OR work.name LIKE 'ProfilerStep%'
                FROM event AS work
                JOIN event AS host ON host.file = work.file AND host.external = work.external AND host.name = work.name
                WHERE work.cat = 'gpu_user_annotation' AND host.cat = 'user_annotation'""", corpus(*parts))
            self.assertEqual(set(pairs), {(1,)}, parts)


def analysed(file, include):
    """The events that an analysis includes (T13)."""
    if len({step.iteration for step in file.steps}) < 2:
        return [row for row in file.rows if oracle.is_counted(row)]
    at = {row.event: row for row in file.rows}
    placed_by = oracle.annotation_events(file.rows, lambda row: at.get(row.link))
    for row in file.rows:
        if row.device == "GPU" and row.cat != "gpu_user_annotation":
            placed_by[row.event] = at.get(row.link, row)
    last = max(step.ts_ns + step.dur_ns + 1 if include else step.ts_ns for step in file.steps)
    return [row for row in file.rows if oracle.is_counted(row) and placed_by.get(row.event, row).ts_ns < last]


class LastStep(InFolder):
    def test_random_traces(self):
        counted = {}
        count = series(100, 300)
        for seed in range(count):
            path = write(f"{seed % 4}.json", random_trace(seed))
            for include in (0, 1):
                rows = analysed(oracle.read_trace(path).files[0], include)
                found = self.rows("SELECT event FROM trace_events(?, 0, ?) ORDER BY event", path, include)
                self.assertEqual([event for event, in found], sorted(row.event for row in rows), (seed, include))
                counted[seed, include] = len(rows)
        self.assertGreater(sum(counted[seed, 0] < counted[seed, 1] for seed in range(count)), count // 3)

    def test_work_without_a_launch_is_cut_by_its_own_start(self):
        """Work without a recorded launch is cut by its own start; a rank with one step is whole."""
        work = [kernel("old", 90, 10, 9), launch(110, 5, 1), kernel("k", 310, 10, 1), kernel("lost", 120, 10, 8),
                kernel("late", 350, 10, 7)]
        write("three.json", document(*STEPS, *work))
        write("one.json", document(STEPS[2], *work))
        names = "SELECT group_concat(name) FROM (SELECT name FROM gpu_kernel_breakdown(?) ORDER BY name)"
        self.assertEqual(self.value(names, "three.json"), "k,lost,old")
        self.assertEqual(self.value(names, "one.json"), "k,late,lost,old")

    def test_busy_time_of_a_real_trace(self):
        """busy time of a real trace, in us: 614 events were launched before the recording."""
        self.assertEqual(self.rows("SELECT kernel_time, compute_time + non_compute_time FROM temporal_breakdown(?)",
                                   corpus("hta", "trace_diff", "test")), [(629096, 606582)])


if __name__ == "__main__":
    unittest.main()
