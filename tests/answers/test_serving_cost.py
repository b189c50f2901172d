"""The cost of steps by annotation and of replayed graphs, against the same trace with profiler steps."""
import gzip
import os
import unittest

from made import InFolder
from support import alone, slowest
from test_nsys_cost import ask, fastest

SLACK = float(os.environ.get("SLACK") or 1)
KERNELS = 50  # per step
LINE = ('{{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{},"dur":{},'
        '"args":{{"correlation":{},"stream":7}}}},\n')
TIMES = "SELECT count(*), sum(time_ns) FROM trace_step_time(?)"


def write(path, steps, by_annotation):
    """Half of the steps launch their kernels; the others replay a graph."""
    lines, number = [], 0
    for step in range(steps):
        at = step * 150
        lines.append(LINE.format("user_annotation", f"execute_context_0(0)_generation_{30 + step % 3}(30)", 1, 1, at,
                                 40, 0)
                     if by_annotation else LINE.format("user_annotation", f"ProfilerStep#{step}", 1, 1, at, 150, 0))
        if step % 2:
            number += 1
            lines.append(LINE.format("cuda_runtime", "cudaGraphLaunch", 1, 1, at + 5, 5, number))
        for i in range(KERNELS):
            if step % 2 == 0:
                number += 1
                lines.append(LINE.format("cpu_op", f"aten::op{i % 17}", 1, 1, at + 5 + i * 0.5, 0.4, 0))
                lines.append(LINE.format("cuda_runtime", "cudaLaunchKernel", 1, 1, at + 5.1 + i * 0.5, 0.2, number))
            lines.append(LINE.format("kernel", f"kernel_{i % 17}", 0, 7, at + 12 + 2 * i, 1.5, number))
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write('{"traceEvents": [' + "".join(lines).rstrip(",\n") + "]}")


class Cost(InFolder):
    @alone
    @slowest
    def test_of_steps_by_annotation(self):
        """trace_step_time on 5,000 steps by annotation with 250,000 kernels takes at most twice as long as on profiler
        steps.
        """
        write("a.json.gz", 5_000, True)
        write("p.json.gz", 5_000, False)
        self.assertEqual(ask("SELECT count(*), max(iteration), min(stratum) FROM trace_step_time(?, 0, 'all')"
                             " WHERE class = 'compute'"
                             " AND name LIKE 'graph:%'", "a.json.gz")[0][1:], (4_999, "decode 32"))
        annotated, profiled = fastest(lambda: ask(TIMES, "a.json.gz"), lambda: ask(TIMES, "p.json.gz"), times=2)
        self.assertLess(annotated, 2 * profiled * SLACK)

    @alone
    @slowest
    def test_linear(self):
        """Four times the steps take at most five times as long, for step times, diffs, owners with positions, and graph
        diffs.
        """
        for steps in (1000, 4000):
            write(f"{steps}.json.gz", steps, True)
        for sql in (TIMES, "SELECT count(*) FROM trace_step_diff(?1, ?1)",
                    "SELECT count(graph_position) FROM trace_kernel_owners(?)",
                    "SELECT count(*) FROM trace_graph_diff(?1, ?1)",
                    "SELECT count(*) FROM trace_events(?) WHERE steps = 'execute%' AND iteration = 7"):
            with self.subTest(sql):
                small, large = fastest(lambda sql=sql: ask(sql, "1000.json.gz"),
                                       lambda sql=sql: ask(sql, "4000.json.gz"), times=3)
                self.assertLess(large, (5 * small + 0.05) * SLACK)


if __name__ == "__main__":
    unittest.main()
