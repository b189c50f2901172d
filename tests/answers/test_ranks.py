"""The cost of every function grows at most linearly with the number of ranks."""
import glob
import gzip
import os
import re
import tempfile
import time
import unittest

from support import EXAMPLES, alone, connect, slowest
from test_analyses import ANALYSES

FEW, MANY = 25, 100
MOST = 6  # limit on the ratio of CPU time for four times the ranks
TRACE = ("trace_files", "trace_steps", "trace_metadata", "trace_events", "trace_ops", "trace_step_time",
         "trace_step_path", "trace_job_path", "trace_job_clocks", "trace_job_ranks", "trace_kernel_owners",
         "trace_collectives", "critical_path",
         "potential_stragglers", "trace_subtree", "trace_backward", "trace_validation", *ANALYSES)
PAIR = ("trace_diff", "trace_diff_by", "trace_step_diff", "critical_path_diff", "trace_step_causes", "trace_work_diff",
        "trace_tree_diff", "trace_compared_ranks",
        "trace_summary", "trace_brief", "trace_comparability", "trace_clock_factor", "trace_host_factor",
        "compare_traces", "ops_diff", "top_count_increases",
        "top_duration_changes")
GIVEN = {"keys": "'op,shapes'", "operator_name": "'aten::'", "min_pattern_len": "1", "max_queue_length": "2",
         "control": "'{0}/control'", "test": "'{0}/test'", "trace": "'{0}/control'"}


def renumbered(folder, ranks):
    """examples/gpu with this many ranks."""
    for side in ("control", "test"):
        os.makedirs(os.path.join(folder, side))
        texts = []
        for path in sorted(glob.glob(os.path.join(EXAMPLES, "gpu", side, "*.gz"))):
            with gzip.open(path) as file:
                texts.append(file.read())
        for rank in range(ranks):
            with open(os.path.join(folder, side, f"rank{rank}.json"), "wb") as file:
                file.write(re.sub(rb'"rank": \d+', b'"rank": %d' % rank, texts[rank % len(texts)], count=1))


@slowest
@alone
class Ranks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.db = connect()
        cls.addClassCleanup(cls.db.close)
        cls.folders = [os.path.join(place.name, str(ranks)) for ranks in (FEW, MANY)]
        for folder, ranks in zip(cls.folders, (FEW, MANY)):
            renumbered(folder, ranks)

    def call(self, name, folder):
        """A call for all ranks and all steps."""
        arguments = [row[0] for row in self.db.execute(
            "SELECT name FROM tracediff_columns(?) WHERE kind = 'argument'", (name,))]
        values = {each: "'all'" for each in arguments if "rank" in each or "iteration" in each}
        values.update((each, GIVEN[each].format(folder)) for each in arguments if each in GIVEN)
        return f"SELECT * FROM {name} WHERE " + " AND ".join(f"{each} = {value}" for each, value in values.items())

    def seconds(self, sql, enough=0):
        """CPU seconds: the best of 3 after the trace has been read, or the first that is low enough."""
        best = 9e9
        for _ in range(3):
            begin = time.process_time()
            rows = sum(1 for _ in self.db.execute(sql))
            best = min(best, time.process_time() - begin)
            self.assertGreater(rows, 0, sql)
            if best < enough:
                break
        return best

    def test_the_path_of_a_job_is_linear(self):
        for name in ("trace_step_time", "trace_step_path"):
            few, many = (self.call(name, folder).replace("ranks = 'all'", "ranks = 'job'") for folder in self.folders)
            self.assertLess(self.seconds(many), MOST * self.seconds(few) + 0.005, name)

    def test_diffs_of_jobs_are_linear(self):
        for name in ("trace_step_diff", "trace_step_causes", "trace_tree_diff", "trace_verdict"):
            few, many = (self.call(name, folder).replace("_rank = 'all'", "_rank = 'job'") for folder in self.folders)
            self.assertIn("'job'", few)
            self.assertLess(self.seconds(many), MOST * self.seconds(few) + 0.005, name)

    def test_linear(self):
        for name in (*TRACE, *PAIR):
            with self.subTest(name):
                few = self.seconds(self.call(name, self.folders[0]))
                most = MOST * few + 0.005
                self.assertLess(self.seconds(self.call(name, self.folders[1]), most), most,
                                f"{few:.4f} s for {FEW} ranks")


if __name__ == "__main__":
    unittest.main()
