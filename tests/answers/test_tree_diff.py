"""trace_tree_diff: against the tree that Python builds from trace_step_path, by sums that hold for any pair, the
planted changes of examples/gpu, hostile names, and its paths as folded stacks.
"""
import itertools
import os
import random
import re
import unittest
from collections import defaultdict

import traces
from generate_gpu_pair import BEHIND, CHUNKS, EXPOSED, FOREACH, FUSED, LATER, LAYERS, NEXT_BATCH, SLOWER
from made import InFolder, document, event, kernel, launch, step, write
from support import EXAMPLES, connect, corpus, series, slowest

GPU, CPU = ([os.path.join(EXAMPLES, folder, side) for side in ("control", "test")] for folder in ("gpu", "cpu"))
GIVEN = ("NULL, NULL, NULL, NULL, NULL", "'all', 'all', 'all', 'all', NULL", "NULL, NULL, 'all', NULL, 'host'")
COLUMNS = ("path depth name class side control_time test_time diff_time control_self_time test_self_time diff_self_time"
           " control_ns test_ns control_self_ns test_self_ns control_kernels test_kernels only_rank").split()
FOLDED = re.compile(r"(.*)\s+?(\d+(?:\.\d*)?)")  # a line of a folded stack, in the format of flamegraph.pl


class Row(dict):
    """A row of the tree by column names; frames is its path as names."""
    __getattr__ = dict.__getitem__

    @property
    def frames(self):
        return tuple(re.sub("%(25|3B|0A)", lambda code: chr(int(code[1], 16)), frame) for frame in self.path.split(";"))


def tree(db, sides, given=GIVEN[0]):
    cursor = db.execute(f"SELECT * FROM trace_tree_diff(?, ?, {given})", sides)
    assert [column[0] for column in cursor.description] == COLUMNS
    return [Row(zip(COLUMNS, row)) for row in cursor]


# ---- the rules, implemented again --------------------------------------------

def area(annotation, module, top_op):
    if annotation is not None:
        return annotation
    if (module or "").lower().startswith("nn.module"):
        return module
    backward = re.fullmatch("(?i:autograd::engine.*|torch::autograd::AccumulateGrad.*)|.*Backward[0-9]?", top_op or "",
                            re.S)
    return "backward" if backward else top_op


def levels(class_, annotation, module, top_op, op, short, instances, family):
    """The levels, and which of them is an area of a family."""
    if class_ is None:
        return [], None
    if class_.startswith("idle"):
        return ["device idle", class_, top_op, op], None
    if class_ == "unrecorded":
        return [class_, op], None
    own = area(annotation, module, top_op)
    if len(instances[family]) > 1:
        return [family, top_op, own, op, short], 2
    return [own, top_op, op, short], None


def frames_of(part, instances):
    made, above = ["step"], None
    names, instance = levels(*part[:-1], instances, part[-1])
    for at, name in enumerate(names):
        if name is None or (name in (above, made[-1]) and len(made) > 1):
            continue
        made.append(name)
        if at != instance:
            above = name
    return tuple(made)


def asked(db, sides, given):
    """The arguments; without ranks, 'job' if both sides have several (Q1.4), because all of these pairs can be
    compared.
    """
    control_rank, test_rank, *rest = given.split(", ")
    several = all(db.execute("SELECT count(DISTINCT rank) > 1 FROM trace_files(?)", (side,)).fetchone()[0]
                  for side in sides)
    if (control_rank, test_rank) == ("NULL", "NULL") and several:
        return "'job'", "'job'", *rest
    return control_rank, test_rank, *rest


def oracle(db, sides, given):
    """[(frames, class, side, ns, own ns and kernels of both sides)] in order, and the steps of both sides."""
    ns, own, kernels, classes, has = (defaultdict(lambda: [0, 0]) for _ in range(3)), {}, {}, {}, {}
    ns, own, kernels = ns
    classes, has, steps, instances, rows = defaultdict(set), defaultdict(set), (set(), set()), defaultdict(set), []
    control_rank, test_rank, control_iteration, test_iteration, clock = asked(db, sides, given)
    for side, (path, rank, iteration) in enumerate(zip(sides, (control_rank, test_rank),
                                                       (control_iteration, test_iteration))):
        for rank, iteration, class_, *names, top_op, time_ns, count in db.execute(
                "SELECT rank, iteration, class, annotation, module, top_name, op, trace_short_name(kernel), family,"
                " top_op, time_ns,"
                f" kernels FROM trace_step_path(?, {rank}, {iteration}, {clock})", (path,)):
            steps[side].add((rank if "'job'" != control_rank else None, iteration))
            if names[2] != top_op and class_ not in ("idle_call", "idle_launch", "idle_unrecorded", "call",
                                                     "unrecorded"):
                names[3] = None  # L4: no operator around it
            if class_ is not None and class_ != "unrecorded" and not class_.startswith("idle"):
                instances[names[-1]].add(area(*names[:3]))
            rows.append((side, (class_, *names), time_ns, count))
    for side, part, time_ns, count in rows:
        frames = frames_of(part, instances)
        own[frames][side] += time_ns
        for depth in range(len(frames)):
            node = frames[:depth + 1]
            ns[node][side] += time_ns
            kernels[node][side] += count
            classes[node].add(part[0])
            has[node].add(side)
    count = [len(each) for each in steps]

    def walk(node):
        only = classes[node] - {None}
        yield (node, only.pop() if len(only) == 1 else None,
               "both" if len(has[node]) > 1 else ("control", "test")[has[node].pop()], ns[node], own[node],
               kernels[node])
        below = [each for each in ns if each[:-1] == node]
        below.sort(key=lambda each: (-(ns[each][0] * count[1] + ns[each][1] * count[0]), each[-1]))
        for each in below:
            yield from walk(each)
    return list(walk(("step",))), count


class AnyPair(unittest.TestCase):
    def check(self, db, sides, given):
        rows = tree(db, sides, given)
        expected, (control_steps, test_steps) = oracle(db, sides, given)
        self.assertEqual([(row.frames, row["class"], row.side, [row.control_ns, row.test_ns],
                           [row.control_self_ns, row.test_self_ns],
                           [round(row.control_kernels * control_steps), round(row.test_kernels * test_steps)])
                          for row in rows], expected)
        for row in rows:
            self.assertEqual((row.depth, row.name), (len(row.frames) - 1, row.frames[-1]))
            for part in ("", "_self"):
                control_ns, test_ns = row[f"control{part}_ns"], row[f"test{part}_ns"]
                self.assertEqual(row[f"control{part}_time"], control_ns / (1000 * control_steps))
                self.assertEqual(row[f"test{part}_time"], test_ns / (1000 * test_steps))
                self.assertAlmostEqual(row[f"diff{part}_time"], row[f"test{part}_time"] - row[f"control{part}_time"],
                                       delta=1e-6 * max(1, abs(row[f"diff{part}_time"])))
        self.check_sums(db, sides, given, rows)
        back = tree(db, sides[::-1], ", ".join(given.split(", ")[at] for at in (1, 0, 3, 2, 4)))
        self.assertEqual([self.turned(row) for row in rows], back)

    def check_sums(self, db, sides, given, rows):
        """Checks that a row is the sum of itself and its children, and that all rows add up to the step of
        trace_step_diff.
        """
        below, parents = defaultdict(lambda: [0, 0]), []
        for row in rows:
            del parents[row.depth:]
            if parents:
                self.assertEqual(row.frames[:-1], parents[-1])
            parents.append(row.frames)
            for side, ns in enumerate((row.control_ns, row.test_ns)):
                below[row.frames[:-1]][side] += ns
        for row in rows:
            self.assertEqual([row.control_self_ns + below[row.frames][0], row.test_self_ns + below[row.frames][1]],
                             [row.control_ns, row.test_ns])
        sums = [sum(row[f"{side}_self_ns"] for row in rows) for side in ("control", "test")]
        control_rank, test_rank, control_iteration, test_iteration, clock = asked(db, sides, given)
        whole = db.execute("SELECT total(control_ns), total(test_ns), total(diff_time) FROM trace_step_diff(?, ?,"
                           f" {control_rank}, {test_rank}, {control_iteration}, {test_iteration}, NULL, {clock})",
                           sides).fetchone()
        time = [db.execute(f"SELECT total(time_ns) FROM trace_step_time(?, {rank}, {iteration}, NULL, {clock})",
                           (path,)).fetchone()[0]
                for path, rank, iteration in zip(sides, (control_rank, test_rank), (control_iteration, test_iteration))]
        self.assertEqual((rows[0].control_ns, rows[0].test_ns), whole[:2])
        self.assertEqual([rows[0].control_ns, rows[0].test_ns], time)
        self.assertEqual(sums, time)
        self.assertAlmostEqual(rows[0].diff_time, whole[2], delta=1e-6 * max(1, abs(whole[2])))

    OTHER = {"control": "test", "test": "control", "both": "both"}

    def turned(self, row):
        """The row with test and control swapped."""
        made = {}
        for column in COLUMNS:
            other = re.sub("^(control|test)_", lambda side: self.OTHER[side[1]] + "_", column)
            made[column] = -row[other] + 0.0 if column.startswith("diff_") else row[other]
        return {**made, "side": self.OTHER[row.side]}

    def test_examples(self):
        db = connect()
        for sides in (GPU, (GPU[0], CPU[1]), CPU, (GPU[1], GPU[1]))[:series(2, 4)]:
            for given in GIVEN:
                with self.subTest(sides, given=given):
                    self.check(db, sides, given)

    @slowest
    def test_real_traces(self):
        db = connect()
        for control, test in ((("hta", "trace_diff", "control"), ("hta", "trace_diff", "test")),
                              (("kineto", "resnet50_workers_0"), ("kineto", "resnet50_workers_4")),
                              (("hta", "trace_compare", "base"), ("hta", "trace_compare", "test")),
                              (("hta", "amd_trace"), ("hta", "triton_example")),
                              (("hta", "critical_path", "simple_add"), ("hta", "cpu_only")),
                              (("own", "torch", "control"), ("own", "torch", "test"))):
            for given in GIVEN:
                with self.subTest((control, test), given=given):
                    self.check(db, (corpus(*control), corpus(*test)), given)

    def test_same_trace_twice(self):
        db = connect()
        for path in (*GPU, *CPU):
            for row in tree(db, (path, path), GIVEN[1]):
                self.assertEqual((row.side, row.diff_time, row.diff_self_time), ("both", 0, 0))
                self.assertEqual(row.control_kernels, row.test_kernels)


class RandomPairs(InFolder, AnyPair):
    test_examples = test_real_traces = test_same_trace_twice = None

    def test_random_pairs(self):
        for seed in range(series(2, 20)):
            rng = random.Random(f"tree {seed}")
            for side in ("control", "test"):
                traces.save(traces.generate(rng, ranks=2, steps=rng.choice((1, 2, 4)), odd=seed % 2 == 0),
                            f"{seed}/{side}")
            for given in GIVEN:
                with self.subTest(seed, given=given):
                    self.check(self.db, (f"{seed}/control", f"{seed}/test"), given)


# ---- planted changes ---------------------------------------------------------

class Planted(unittest.TestCase):
    def test_differences_are_at_their_paths(self):
        """The leaves have the planted differences in us, without the 1.1 us between two kernels. The path is on rank 1
        where the steps end; 0.4 us of it is in another window.
        """
        rows = [row for row in tree(connect(), GPU) if row.diff_self_time and row["class"] != "idle_wait"]
        forward, optimizer = ("step", "DistributedDataParallel.forward"), ("step", "Optimizer.step#AdamW.step")
        self.assertEqual({row.frames[:4]: (row.side, round(row.diff_self_time),
                                           row.test_kernels - row.control_kernels) for row in rows}, {
            (*forward, "aten::layer_norm", "aten::native_layer_norm"): ("both", LAYERS * SLOWER / 1000, 0),
            (*forward, "aten::clone", "aten::copy_"): ("both", 96, LAYERS),
            ("step", "backward", "autograd::engine::evaluate_function: EmbeddingBackward0",
             "aten::embedding_dense_backward"):
               ("both", BEHIND / 1000, 0),
            ("step", "device idle", "idle_host", NEXT_BATCH): ("both", LATER / 1000, 0),
            ("step", "nccl:all_reduce", "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
             "record_param_comms"): ("both", EXPOSED / 1000, 0),
            **{(*optimizer, name, "at::native::(anonymous namespace)::multi_tensor_apply_kernel"):
               ("control", -CHUNKS * ns / 1000, -CHUNKS) for name, ns in FOREACH.items()},
            **{(*optimizer, name, "at::native::(anonymous namespace)::multi_tensor_apply_kernel"):
               ("test", CHUNKS * ns / 1000, CHUNKS) for name, ns in FUSED.items()}})

    def test_kernels_of_the_step_are_its_device_work(self):
        db = connect()
        for sides in (GPU, GPU[::-1]):
            root = tree(db, sides)[0]
            for path, kernels in zip(sides, (root.control_kernels, root.test_kernels)):
                self.assertEqual(db.execute("SELECT count(*) / 4.0 FROM trace_kernel_owners(?)", (path,)).fetchone(),
                                 (kernels,))  # of rank 0; the path has as many


# ---- traces made by hand -----------------------------------------------------

class Made(InFolder):
    """Times are us."""

    def tree(self, control, test=None, given="NULL, NULL, 'all', 'all'"):
        write("control/a.json", document(*control))
        write("test/a.json", document(*(test or control)))
        return tree(self.db, ("control", "test"), given)

    def shape(self, *arguments, **keywords):
        return [(*row.frames[1:], row.control_self_time) for row in self.tree(*arguments, **keywords)]

    def test_levels(self):
        work = [event("forward", 5, 60, cat="user_annotation"), event("aten::linear", 10, 50),
                event("aten::mm", 15, 40),
                launch(20, 5, 1), kernel("void gemm<float>(int)", 100, 50, 1)]
        found = dict((row[:-1], row[-1]) for row in self.shape([step(0, 0, 100), *work]))
        self.assertEqual(found["forward", "aten::linear", "aten::mm", "gemm"], 50)
        self.assertEqual(found["device idle", "idle_wait", "aten::linear", "aten::mm"], 75)
        self.assertEqual(found["device idle", "idle_launch", "aten::linear", "cudaLaunchKernel"], 5)
        self.assertEqual(found["device idle", "idle_host", "forward"], 5)
        self.assertEqual(found["device idle", "idle_unrecorded", "before forward"], 5)

    def test_areas(self):
        for around, expected in (
                ([event("fwd", 5, 60, cat="user_annotation"), event("nn.Module: Net", 6, 50, cat="python_function")],
                 "fwd"),
                ([event("nn.Module: Net", 6, 50, cat="python_function")], "nn.Module: Net"),
                ([event("autograd::engine::evaluate_function: MmBackward0", 6, 50)], "backward"),
                ([event("MmBackward0", 6, 50)], "backward"), ([event("MmBackward", 6, 50)], "backward"),
                ([event("torch::autograd::AccumulateGrad", 6, 50)], "backward"),
                ([event("MmBackward00", 6, 50)], "MmBackward00"), ([event("aten::linear", 6, 50)], "aten::linear"),
                ([], "mm")):
            rows = self.tree([step(0, 0, 100), *around, event("mm", 15, 10), launch(20, 2, 1), kernel("k", 30, 50, 1)])
            with self.subTest(around):
                self.assertEqual({row.frames[1] for row in rows if row["class"] == "compute" and row.depth}, {expected})

    def test_levels_that_are_equal_are_one(self):
        """Equal levels are joined: nested operators with one name, and a kernel named like its operator."""
        rows = self.tree([step(0, 0, 100), event("mm", 10, 50), event("mm", 15, 40), launch(20, 5, 1),
                          kernel("mm", 50, 50, 1)])
        self.assertEqual([row.frames for row in rows if row["class"] == "compute"], [("step", "mm")])

    def test_work_without_a_launch_is_directly_below_the_step(self):
        rows = self.tree([step(0, 0, 100), event("mm", 10, 5), kernel("void k<1>()", 20, 30, 0)])
        self.assertEqual([(row.frames, row.control_ns, row.control_kernels) for row in rows
                          if row["class"] == "compute"],
                         [(("step", "k"), 30000, 1)])

    def test_a_trace_without_device_work(self):
        rows = self.shape([step(0, 0, 100), event("fwd", 10, 60, cat="user_annotation"), event("mm", 20, 40),
                           event("add", 30, 10)])
        self.assertEqual(rows, [(0,), ("fwd", 20), ("fwd", "mm", 30), ("fwd", "mm", "add", 10), ("unrecorded", 0),
                                ("unrecorded", "after fwd", 30), ("unrecorded", "before fwd", 10)])

    def test_a_trace_without_steps_is_one_window_a_file(self):
        rows = self.tree([event("mm", 20, 40)],
                         [step(0, 0, 30), event("mm", 10, 10), step(1, 30, 30), event("mm", 50, 10)])
        self.assertEqual([(row.frames, row.side, row.control_time, row.test_time) for row in rows],
                         [(("step",), "both", 40, 30), (("step", "mm"), "both", 40, 10),
                          (("step", "unrecorded"), "test", 0, 20),
                          (("step", "unrecorded", "before mm"), "test", 0, 15),
                          (("step", "unrecorded", "after mm"), "test", 0, 5)])

    def test_a_step_of_no_length(self):
        rows = self.tree([step(0, 0, 0)], [step(0, 0, 10), step(1, 10, 0)])
        self.assertEqual([(row.path, row["class"], row.side, row.control_time, row.test_time) for row in rows],
                         [("step", "unrecorded", "both", 0, 5), ("step;unrecorded", "unrecorded", "test", 0, 5)])

    def test_a_hidden_kernel_is_on_both_sides(self):
        """A kernel that is hidden on one side is in the tree on both: in control it runs beside another, in test it is
        exposed.
        """
        host = [step(0, 0, 100), event("a", 10, 10), launch(12, 2, 1), event("b", 20, 10), launch(22, 2, 2)]
        rows = self.tree([*host, kernel("slow", 30, 60, 1), kernel("quick", 40, 20, 2, stream=8)],
                         [*host, kernel("slow", 30, 60, 1), kernel("quick", 90, 20, 2, stream=8)])
        found = {row.path: (row.side, row.control_time, row.test_time, row.control_kernels, row.test_kernels)
                 for row in rows}
        self.assertEqual(found["step;b;quick"], ("both", 0, 20, 1, 1))
        self.assertEqual(found["step;a;slow"], ("both", 60, 60, 1, 1))
        self.assertEqual(found["step"][3:], (2, 2))

    def test_a_kernel_that_is_hidden_throughout(self):
        host = [step(0, 0, 100), event("a", 10, 10), launch(12, 2, 1), event("b", 20, 10), launch(22, 2, 2)]
        slow = kernel("slow", 30, 60, 1)
        rows = self.tree([*host, slow, kernel("quick", 40, 20, 2, stream=8)], [*host, slow])
        found = {row.path: (row.side, row.control_ns, row.control_kernels) for row in rows}
        self.assertEqual(found["step;b;quick"], ("control", 0, 1))

    def test_line_numbers_and_addresses_do_not_tell_names_apart(self):
        sides = ([step(0, 0, 100), event(f"train.py({line}): f", 10, 50, cat="python_function"),
                  event(f"<object at 0x7f{line}>", 20, 20, cat="python_function")] for line in (12, 13))
        self.assertEqual({row.side for row in self.tree(*sides)}, {"both"})

    def test_means_of_other_numbers_of_steps(self):
        """Means over 1 step and over 3 steps, in ns, are divided only once."""
        control = [step(0, 0, 10), event("a", 0, 10)]
        test = [each for at in range(3) for each in (step(at, 10 * at, 10), event("a", 10 * at, 10 if at else 9.999))]
        row = self.tree(control, test)[1]
        self.assertEqual((row.path, row.control_ns, row.test_ns, row.control_time, row.test_time),
                         ("step;a", 10000, 29999, 10, 29999 / 3000))
        self.assertEqual(row.diff_time, (29999 - 3 * 10000) / 3000)

    def test_siblings_are_in_order_of_time_then_name(self):
        names = ["b", "a", "B", "\u00e9", "long"]
        events = [event(name, 10 * at, 10 if name != "long" else 20) for at, name in enumerate(names)]
        rows = self.tree([step(0, 0, 60), *events])
        self.assertEqual([row.name for row in rows], ["step", "long", "B", "a", "b", "\u00e9"])


HOSTILE = ("a;b", "a%3Bb", "a", "b", "%", "%25", ";", "", " ", "x 7", "7", "line\nfeed", "\n", "tab\there", 'say "hi"',
           "back\\slash",
           "'; DROP TABLE t; --", "<b>&amp;</b>", "step", "device idle", "idle_wait", "\u6838 \U0001f600", "a;b;",
           "100%", "%s %d")


class Names(InFolder):
    """Different names give different paths, and a path can be split into its names."""

    def setUp(self):
        super().setUp()
        pairs = list(itertools.product(HOSTILE, HOSTILE))
        events, at, number = [step(0, 0, 20 * len(pairs) + 100)], 0, 0
        for outer, inner in pairs:
            number += 1
            events += [event(outer, at, 18), event(inner, at + 2, 10), launch(at + 4, 2, number),
                       kernel(f"k{number % 3};", at + 8, 12, number)]
            at += 20
        write("control/a.json", document(*events))
        write("test/a.json", document(*events[:len(events) // 2]))
        self.pairs, self.tree = pairs, tree(self.db, ("control", "test"), "NULL, NULL, 'all', 'all'")

    def test_paths_are_their_names(self):
        found = {row.frames[1:3] for row in self.tree if row["class"] == "compute" and row.name.startswith("k")}
        self.assertEqual({frames for frames in found if len(frames) > 1 and frames[1] in HOSTILE},
                         {pair for pair in self.pairs if pair[0] != pair[1]})
        self.assertEqual(len({row.path for row in self.tree}), len(self.tree))
        for row in self.tree:
            self.assertEqual((row.depth, row.name), (len(row.frames) - 1, row.frames[-1]))
            self.assertNotIn("\n", row.path)

    def test_each_line_of_folded_stacks_is_a_row(self):
        lines = self.rows("SELECT printf('%s %.0f %.0f', path, 1000 * control_self_time, 1000 * test_self_time)"
                          " FROM trace_tree_diff('control', 'test', NULL, NULL, 'all', 'all')"
                          " WHERE control_self_ns + test_self_ns > 0")
        found = {}
        for line, in lines:
            rest, test = FOLDED.fullmatch(line).groups()
            stack, control = FOLDED.fullmatch(rest).groups()
            found[stack] = int(control), int(test)
        self.assertEqual(len(found), len(lines))
        self.assertEqual(found, {row.path: (row.control_self_ns, row.test_self_ns) for row in self.tree
                                 if row.control_self_ns + row.test_self_ns})


class FoldedStacks(unittest.TestCase):
    def test_of_either_side_sum_to_the_step(self):
        db = connect()
        for sides in (GPU, CPU):
            root, *_ = tree(db, sides)
            for side in ("control", "test"):
                lines = db.execute(f"SELECT printf('%s %.0f', path, 1000 * {side}_self_time) FROM trace_tree_diff(?, ?)"
                                   f" WHERE {side}_self_ns > 0", sides).fetchall()
                found = [FOLDED.fullmatch(line) for line, in lines]
                self.assertAlmostEqual(sum(int(line[2]) for line in found), 1000 * root[f"{side}_time"],
                                       delta=len(found))
                self.assertEqual({line[1].split(";")[0] for line in found}, {"step"})


ARGUMENTS = (("'a.json'", "second argument (test) is missing"),
             ("'a.json', 'b.json'", "cannot read 'b.json': No such file or directory"),
             ("'a.json', 'a.json', 7", "'a.json' has no rank 7 (ranks: 0)"),
             ("'a.json', 'a.json', 0, 0, 5", "'a.json' has no step 5 (steps: 0)"),
             ("'a.json', 'a.json', 0, 0, 0, 0, 'gpu'", "clock must be 'device' or 'host', not 'gpu'; the arguments are"
                                                       " control, test, control_rank, test_rank, control_iteration,"
              " test_iteration, clock, steps"))


class Arguments(InFolder):
    def test_errors(self):
        write("a.json", document(step(0, 0, 10), event("a", 0, 5)))
        for arguments, said in ARGUMENTS:
            self.assert_error(f"trace_tree_diff: {said}", f"SELECT * FROM trace_tree_diff({arguments})")

    def test_null(self):
        write("a.json", document(step(0, 0, 10)))
        self.assertEqual(self.rows("SELECT * FROM trace_tree_diff(NULL, 'a.json')"), [])


if __name__ == "__main__":
    unittest.main()
