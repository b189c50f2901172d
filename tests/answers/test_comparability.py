"""trace_comparability: its rows against the JSON itself, with one change at a time, and the functions that quote it."""
import glob
import gzip
import json
import os
import re
import sqlite3
import unittest

from made import InFolder, document, event, kernel, launch, run, step, write
from support import EXAMPLES, corpus, series, slow

GPU = tuple(os.path.join(EXAMPLES, "gpu", side) for side in ("control", "test"))
OPTIONS = ("profile_memory", "record_shapes", "with_flops", "with_modules", "with_stack")
DEVICE = {"id": 0, "name": "A100", "totalGlobalMem": 80 << 30, "numSms": 108}


def head_of(path):
    """The keys of a file except its events; for a folder, the keys of its first file."""
    path = sorted(glob.glob(os.path.join(path, "*.gz")))[0] if os.path.isdir(path) else path
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        content = json.load(file)
    return {key: value for key, value in content.items() if key != "traceEvents"}


def of_head(head):
    """{(topic, item): value} from a head."""
    made = {("versions", key): value for key, value in head.items() if "version" in key.lower() or key == "schema"}
    made.update({("options", key): head[key] for key in OPTIONS if key in head})
    if "schemaVersion" in head:
        made["profiler", "name"] = "PyTorch (Kineto)"
    info, devices = head.get("distributedInfo", {}), head.get("deviceProperties", [])
    made.update({("versions", "nccl_version"): info[key] for key in ("nccl_version",) if key in info})
    if "backend" in info:
        made["ranks", "backend"] = info["backend"]
    if devices:
        made.update({("device", "name"): devices[0]["name"], ("device", "number"): len(devices)})
        made.update({("device", item): devices[0][key] for item, key in (
            ("multiprocessors", "numSms"), ("memory", "totalGlobalMem")) if key in devices[0]})
    return made


class Rows(InFolder):
    def found(self, *arguments):
        """{(topic, item): [(control, test, same, matters, why)]}, after the checks that hold for any pair."""
        marks = ", ".join("?" * len(arguments))
        rows = self.rows("SELECT line, topic, item, control_value, test_value, same, matters, why"
                         f" FROM trace_comparability({marks})", *arguments)
        self.assertEqual([row[0] for row in rows], list(range(1, len(rows) + 1)))
        made = {}
        for _, topic, item, control, test, same, matters, why in rows:
            self.assertFalse(control is None and test is None)
            self.assertIn(matters, ("yes", "maybe", "no"))
            self.assertTrue(why and not why.endswith("."), why)
            if control is None or test is None:
                self.assertIsNone(same)
            elif (topic, item) not in (("shapes", "copies to the device"), ("shapes", "operators"),
                                       ("ranks", "compared")):
                self.assertEqual(same, control == test, (topic, item))
            if matters == "yes":
                self.assertLessEqual(len(why), 91, why)
            made.setdefault((topic, item), []).append((control, test, same, matters, why))
        return made

    def matters(self, *arguments):
        """{'topic item': why} for the rows that matter ('yes')."""
        return {f"{topic} {item}": rows[0][-1] for (topic, item), rows in self.found(*arguments).items()
                if rows[0][3] == "yes"}

    def pair(self, control, test, **events):
        for side, head in (("a", control), ("b", test)):
            content = run(**events)
            write(f"{side}.json", {"schemaVersion": 1, **head, "traceEvents": content["traceEvents"]})
        return self.found("a.json", "b.json")

    def check_heads(self, control, test):
        wanted = [of_head(head_of(side)) for side in (control, test)]
        found = self.found(control, test)
        for topic, item in found:
            if topic in ("versions", "options", "profiler", "device") and item != "work":
                self.assertTrue((topic, item) in wanted[0] or (topic, item) in wanted[1], (topic, item))
        for key in {**wanted[0], **wanted[1]}:
            with self.subTest(key):
                (mine, theirs, _, matters, _), = found[key]
                self.assertEqual((mine, theirs), (wanted[0].get(key), wanted[1].get(key)))
                if mine == theirs:
                    self.assertEqual(matters, "no")
                elif key in (("device", "name"), ("options", "with_stack"), ("options", "profile_memory")):
                    self.assertEqual(matters, "maybe" if None in (mine, theirs) else "yes")

    def test_heads_of_examples(self):
        for pair in (GPU, [os.path.join(EXAMPLES, "cpu", side) for side in ("control", "test")],
                     (GPU[0], os.path.join(EXAMPLES, "serving", "test"))):
            self.check_heads(*pair)

    @slow
    def test_heads_of_real_traces(self):
        for control, test in (("hta/trace_diff/control", "hta/trace_diff/test"),
                              ("hta/triton_example", "hta/amd_trace"),
                              ("own/torch/control", "own/torch/stack/test"),
                              ("tracelens/h100/gaunernst_bert-small-uncased"
                               "__1016001.json.gz", "tracelens/mi300/gaunernst_bert-small-uncased__1016001.json.gz")):
            self.check_heads(corpus(*control.split("/")), corpus(*test.split("/")))
            self.check_heads(corpus(*test.split("/")), corpus(*control.split("/")))

    def test_one_thing_at_a_time(self):
        """A change in the head changes its own row and no other."""
        head = {"deviceProperties": [DEVICE],
                "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1, "nccl_version": "2.2"},
                "with_stack": 0, "profile_memory": 0, "record_shapes": 1, "cuda_runtime_version": 12040,
                "torch_version": "2.9"}
        same = self.pair(head, head)
        self.assertEqual({row[3] for rows in same.values() for row in rows if row[1:3] != (1, None)} - {"yes"}, {"no"})
        self.assertEqual([rows[0][-1] for rows in same.values() if rows[0][3] == "yes"],
                         ["only 1 step of 3 per side is steady: too few to tell how much steps vary"])
        for change, key, matters in (
                ({"deviceProperties": [{**DEVICE, "name": "H100"}]}, ("device", "name"), "yes"),
                ({"deviceProperties": [{**DEVICE, "numSms": 54}]}, ("device", "multiprocessors"), "maybe"),
                ({"deviceProperties": [DEVICE, DEVICE]}, ("device", "number"), "no"),
                ({"with_stack": 1}, ("options", "with_stack"), "yes"),
                ({"profile_memory": 1}, ("options", "profile_memory"), "yes"),
                ({"record_shapes": 0}, ("options", "record_shapes"), "maybe"),
                ({"cuda_runtime_version": 12060}, ("versions", "cuda_runtime_version"), "maybe"),
                ({"torch_version": "2.10"}, ("versions", "torch_version"), "maybe"),
                ({"schemaVersion": 2}, ("versions", "schemaVersion"), "maybe"),
                ({"distributedInfo": {**head["distributedInfo"], "nccl_version": "2.3"}}, ("versions", "nccl_version"),
                 "maybe"),
                ({"distributedInfo": {**head["distributedInfo"], "backend": "gloo"}}, ("ranks", "backend"), "maybe"),
                ({"unrelated": 5, "traceName": "x"}, None, None)):
            with self.subTest(change):
                found = self.pair(head, {**head, **change})
                different = {key for key, rows in found.items() if rows[0][2] == 0}
                self.assertEqual(different, {key} - {None})
                if key:
                    self.assertEqual(found[key][0][3], matters)
                self.assertEqual(set(found), set(same))

    def test_hostile_heads(self):
        for value in ("text", '{"a', [], {}, None, 7, [None], [[1]], ["x"], {"nccl_version": ["a", {"b": 1}]},
                      "x" * 5000):
            self.pair({"deviceProperties": value, "distributedInfo": value, "with_stack": value, "a version": value},
                      {})

    def test_ranks(self):
        def ranks(folder, numbers, world):
            for number in numbers:
                write(f"{folder}/{number}.json",
                      {"distributedInfo": {"rank": number, "world_size": world}, **run(steps=5)})
        for folder, numbers, world in (("one", (0,), 8), ("two", (0, 1), 2), ("others", (2, 3), 4),
                                       ("all", range(4), 4)):
            ranks(folder, numbers, world)
        everything = ("all", "all")
        for pair, given, value, why in (
                (("one", "one"), (), ("rank 0 of 8", "rank 0 of 8"), None),
                (("one", "two"), (), ("rank 0 of 8", "rank 0 of 2"), "rank 0 of 8 is compared with rank 0 of 2"),
                (("all", "all"), (1, 2), ("rank 1 of 4", "rank 2 of 4"), "rank 1 of 4 is compared with rank 2 of 4"),
                (("two", "all"), everything, ("2 ranks (0-1) of 2", "4 ranks (0-3) of 4"),
                 "2 ranks (0-1) of 2 are compared with 4 ranks (0-3) of 4"),
                (("all", "all"), everything, ("4 ranks (0-3) of 4",) * 2, None)):
            with self.subTest(pair, given=given):
                found = self.found(*pair, *given)
                self.assertEqual(found["ranks", "compared"][0][:2], value)
                self.assertEqual(self.matters(*pair, *given).get("ranks compared"), why)
        self.assertEqual(self.found("all", "others", "[0,1]", "[2,3]")["ranks", "compared"][0][3], "maybe")
        self.assertEqual(self.found("others", "all", "all", "[2,3]")["ranks", "recorded"][0][:4],
                         ("2 of 4", "4 of 4", 0, "yes"))

    def test_modules(self):
        """A11.4: the level 'module' finds operators where there are none, and the row, the summary and the report name
        the side.
        """
        write("plain.json", run(5))
        content = run(5)
        content["traceEvents"] += [event("nn.Module: Linear_0", 1000 * number + 5, 300, cat="python_function")
                                   for number in range(5)]
        write("modules.json", content)
        for control, test, has, matters, why, where in (
                ("plain", "modules", (0, 1), "yes", "only test has modules: of control, level 'module' gives operators",
                 "control"),
                ("modules", "plain", (1, 0), "yes", "only control has modules: of test, level 'module' gives operators",
                 "test"),
                ("plain", "plain", (0, 0), "no", "neither has modules: level 'module' gives operators",
                 "control and in test"),
                ("modules", "modules", (1, 1), "no", "both have modules", None)):
            with self.subTest(control=control, test=test):
                sides = f"{control}.json", f"{test}.json"
                self.assertEqual(self.found(*sides)["modules", "recorded"],
                                 [(*has, int(has[0] == has[1]), matters, why)])
                for side, of_module in zip(sides, has):
                    named, top = ({name for name, in self.rows("SELECT name FROM trace_step_time(?) WHERE level = ?",
                                                               side, level)}
                                  for level in ("module", "top_op"))
                    self.assertEqual((named == top, "nn.Module: Linear_0" in named), (not of_module, bool(of_module)))
                said = self.rows("SELECT text FROM trace_summary(?, ?) WHERE text LIKE '%modules%'", *sides)
                self.assertEqual(said, [(f"caution: {why}",)] if matters == "yes" else [])
                note = f"no modules were recorded in {where}: there, names are those of operators."
                for level in ("module", "op"):
                    html = self.value("SELECT html FROM trace_diff_report(?, ?) WHERE level = ?", *sides, level)
                    self.assertEqual(note in html, level == "module" and where is not None)
                    self.assertEqual("no modules were recorded" in html, note in html)
                    self.assertEqual(why[0].upper() + why[1:].replace("'", "&#39;") + "." in html, matters == "yes")

    def test_steps_of_many_ranks_are_still_few(self):
        """Eight ranks with one step each are still too few steps to show how much steps vary."""
        for number in range(8):
            write(f"a/{number}.json", {"distributedInfo": {"rank": number, "world_size": 8}, **run(steps=1)})
        self.assertEqual([row[-1] for row in self.found("a", "a", "all", "all")["steps", "few"]],
                         ["1 step per side: too few to tell how much steps vary"])

    def test_few_steps_of_either_side(self):
        for count in (3, 4, 5):
            write(f"{count}.json", run(count))
        for control, test, values, why in ((3, 3, (1, 1), "only 1 step of 3 per side is steady"),
                                           (4, 4, (2, 2), "2 steps per side"),
                                           (3, 4, (1, 2), "'steady' leaves control 1 step of 3, test 2"),
                                           (4, 3, (2, 1), "control has 2 steps, test 1"),
                                           (3, 5, (1, None), "'steady' leaves control 1 step of 3"),
                                           (5, 4, (None, 2), "test has 2 steps")):
            found = self.found(f"{control}.json", f"{test}.json")["steps", "few"]
            self.assertEqual([(row[0], row[1], *row[3:]) for row in found],
                             [(*values, "yes", f"{why}: too few to tell how much steps vary")])
        self.assertNotIn(("steps", "few"), self.found("5.json", "5.json"))

    def test_phases(self):
        found = self.found(*(os.path.join(EXAMPLES, "serving", side) for side in ("control", "test")))
        self.assertEqual(found["steps", "phases"][0][:4],
                         ("decode 83 %, prefill 17 %", "decode 88 %, mixed 5 %, prefill 7 %", 0, "maybe"))

    def test_shapes_and_types_of_large_operators(self):
        def trace(shapes, types):
            events = []
            for number in range(3):
                events.append(step(number, 1000 * number, 900))
                for place in range(7):
                    at, work = 1000 * number + 100 * place, 100 * number + place + 1
                    events += [event(f"aten::op{place}", at, 50, args={"Input Dims": shapes, "Input type": types}),
                               launch(at + 10, 5, work), kernel(f"k{place}", at + 20, 10 + place, work)]
            return document(*events)
        write("a.json", trace([[8, 8]], ["float"]))
        write("b.json", trace([[8, 9]], ["c10::Half"]))
        found = self.found("a.json", "b.json")
        large = [f"aten::op{place}" for place in range(2, 7)]
        self.assertEqual([item for topic, item in found if topic == "shapes"], ["operators", *large])
        self.assertEqual([item for topic, item in found if topic == "types"], ["floats", *large])
        self.assertEqual(found["shapes", "aten::op6"][0][:4], ("[[8,8]]", "[[8,9]]", 0, "maybe"))
        self.assertEqual(found["types", "aten::op6"][0][:4], ('["float"]', '["c10::Half"]', 0, "maybe"))
        self.assertEqual({topic for topic, _ in self.found("a.json", "b.json", *5 * [None], 0)} & {"shapes", "types"},
                         set())

    def test_profilers_and_resolution(self):
        content = run()
        write("a.json", {"schemaVersion": 1, **content})
        write("b.json", content)
        for each in content["traceEvents"]:
            each["dur"] += 0.125
        write("c.json", {"viztracer_metadata": {"version": "1"}, **content})
        self.assertEqual(self.found("a.json", "b.json")["profiler", "name"][0][:4],
                         ("PyTorch (Kineto)", None, None, "maybe"))
        found = self.found("a.json", "c.json")
        self.assertEqual(found["profiler", "name"][0][3:], ("yes", "profilers differ: PyTorch (Kineto) / VizTracer"))
        self.assertEqual(found["time", "resolution"][0][:4], ("us", "ns", 0, "maybe"))

    def test_ranks_that_are_not_asked_for_are_not_checked(self):
        """T8, T12: ranks outside the selection are not checked, and their times do not set the resolution of the
        others.
        """
        content = run()
        for folder in ("a", "b"):
            write(f"{folder}/rank0.json", content)
        for each in content["traceEvents"]:
            each["dur"] += 0.125
        write("b/one_rank1.json", content)
        write("b/two_rank1.json", content)
        self.assertEqual(self.found("a", "b")["time", "resolution"][0][:4], ("us", "us", 1, "no"))
        self.assertTrue(self.rows("SELECT text FROM trace_summary('a', 'b')"))
        write("b/two_rank1.json", {"traceEvents": [event("aten::mm", 0, 5)]})
        os.remove("b/one_rank1.json")
        self.assertTrue(self.rows("SELECT text FROM trace_summary('a', 'b')"))
        self.assert_error("trace_comparability: rank 1 of 'b' has no steps ('b/two_rank1.json'), but rank 0 has: "
                          "choose ranks that have steps, or iterations 'all'",
                          "SELECT * FROM trace_comparability('a', 'b', 0, 'all')")

    def test_no_events(self):
        """Without events nothing is compared, and trace_summary reports this in the same words."""
        write("none.json", document())
        write("some.json", document(step(1, 0, 100), event("op", 1, 5)))
        for control, test, of_control, of_test in (("none.json", "some.json", 0, 1), ("some.json", "none.json", 1, 0),
                                                   ("none.json", "none.json", 0, 0)):
            (found,) = self.found(control, test)["steps", "number"]
            self.assertEqual((found[0] > 0, found[1] > 0, found[3]), (of_control, of_test, "yes"))
            self.assertEqual(self.rows("SELECT text FROM trace_summary(?, ?)", control, test), [(found[4],)])

    def test_wrong_shapes(self):
        write("a.json", document(*run()))
        for wrong in ("x", -1, 0.5):
            with self.assertRaisesRegex(sqlite3.OperationalError,
                                        "^trace_comparability: shapes must be an integer of 0 or more"):
                self.rows("SELECT 1 FROM trace_comparability('a.json', 'a.json') WHERE shapes = ?", wrong)


class Scale(Rows):
    """J4: tensors that are N times as large, for host operators and for operators that launch work."""

    @staticmethod
    def trace(operators, launches):
        """Three steps of operators of 50 us each: (name, shapes)."""
        events = []
        for number in range(3):
            at = 10000 * number
            events.append(step(number, at, 9900))
            for place, (name, shapes) in enumerate(operators):
                start, work = at + 60 * place, 100 * number + place + 1
                events.append(event(name, start, 50, args={"Input Dims": shapes, "Input type": ["float"]}))
                if launches:
                    events += [launch(start + 5, 2, work), kernel("k", start + 10, 30, work)]
        return document(*events)

    def why(self, control, test, launches=(False, False)):
        """The row of all operators; without names there is one operator per list of shapes."""
        for path, operators, of_device in zip(("a.json", "b.json"), (control, test), launches):
            write(path, self.trace([each if isinstance(each, tuple) else ("aten::op", each) for each in operators],
                                   of_device))
        (*_, matters, why), = self.found("a.json", "b.json").get(("shapes", "operators"), [(None, None)])
        return why if matters == "yes" else matters

    def test_one_dimension_of_each_input(self):
        for control, test, there, back in (
                ([[4, 1024], [1024, 64]], [[32, 1024], [1024, 64]], "8 times as large: [4,1024] -> [32,1024]",
                 "1/8 as large: [32,1024] -> [4,1024]"),
                ([[7, 3], [2, 4, 5], [], [9]], [[7, 3], [2, 6, 5], [], [9]], "1.5 times as large: [2,4,5] -> [2,6,5]",
                 "0.6667 times as large: [2,6,5] -> [2,4,5]"),
                ([[10, 2], [3, 10]], [[30, 2], [3, 30]], "3 times as large: [10,2] -> [30,2]",
                 "1/3 as large: [30,2] -> [10,2]"),
                ([[[4, 2], [4, 3]], []], [[[8, 2], [4, 3]], []], "2 times as large: [4,2] -> [8,2]",
                 "1/2 as large: [8,2] -> [4,2]"),
                ([[1]], [[12345678]], "12345678 times as large: [1] -> [12345678]",
                 "1/12345678 as large: [12345678] -> [1]")):
            for launches in ((False, False), (True, True), (True, False)):
                with self.subTest(control, launches=launches):
                    self.assertEqual(self.why([control], [test], launches), f"tensors are {there}")
                    self.assertEqual(self.why([test], [control], launches), f"tensors are {back}")

    OTHER = "shapes differ for 100 % of the time of common operators: same model?"

    def test_what_is_not_n_times_as_large(self):
        for control, test in (([[4, 4]], [[8, 8]]), ([[4], [4]], [[8], [12]]), ([[0]], [[4]]), ([[4]], [[0]]),
                              ([[4]], [[8, 1]]), ([[4]], [[8], []]), ([[4], []], [[8]]), ([[-4]], [[4]]),
                              ([[1]], [[10 ** 19]]), ([[[4, 2]]], [[[4, 2], [4, 2]]])):
            with self.subTest(control, test=test):
                self.assertEqual(self.why([control], [test]), self.OTHER)

    def test_a_list_is_of_one_pair(self):
        self.assertEqual(self.why([[[4, 6]]], [[[8, 6]], [[4, 12]]]), self.OTHER)
        self.assertEqual(self.why([[[4, 6]], [[6, 6]]], [[[8, 6]], [[6, 12]]]),
                         "tensors are 2 times as large: [4,6] -> [8,6]")

    def test_lists_are_of_one_operator(self):
        self.assertEqual(self.why([("aten::a", [[4]]), ("aten::b", [[3]])], [("aten::a", [[6]]), ("aten::b", [[8]])]),
                         self.OTHER)

    def test_most_of_them_have_it(self):
        """One operator in ten has another scale; operators on one side only do not count."""
        sides = [[(f"aten::op{place}", [[by if place else 5, 3]]) for place in range(10)] for by in (4, 16)]
        sides[1][0] = ("aten::op0", [[15, 3]])
        self.assertEqual(self.why(sides[0] + [("aten::c", [[7]])] * 9, sides[1] + [("aten::t", [[7]])] * 9),
                         "tensors are 4 times as large: [4,3] -> [16,3]")

    def test_dims_too_long_for_a_line(self):
        """Dimensions too long for a line are skipped if other inputs can be shown."""
        long = [[[by, *[1234] * 5]] for by in (8, 16)]
        self.assertEqual(self.why(*[[each] for each in long]), "tensors are 2 times as large")
        self.assertEqual(self.why([long[0], [[3]]], [long[1], [[6]]]), "tensors are 2 times as large: [3] -> [6]")

    def test_shapes_of_both_sides(self):
        """When shapes agree for 90 % of the time, nothing matters."""
        same = [("aten::same", [[5]])] * 30
        self.assertEqual(self.why([*same, [[4]]], [*same, [[8]]]), "no")

    def test_no_shapes(self):
        write("a.json", document(step(0, 0, 100), event("aten::op", 0, 50)))
        self.assertNotIn("shapes", {topic for topic, _ in self.found("a.json", "a.json")})
        self.why([[[4]]], [[[8]]])
        self.assertNotIn("shapes", {topic for topic, _ in self.found("a.json", "b.json", *5 * [None], 0)})


class Quoted(InFolder):
    PAIRS = (GPU, GPU[::-1], (GPU[0], os.path.join(EXAMPLES, "cpu", "test")),
             (os.path.join(EXAMPLES, "cpu", "test"), GPU[0]),
             tuple(os.path.join(EXAMPLES, "serving", side) for side in ("control", "test")))

    def test_by_the_summary(self):
        """The summary quotes the first four rows that matter as cautions, and prints a long step with the digits of the
        difference.
        """
        for pair in self.PAIRS[::series(2, 1)]:
            for given in ((), ("all", "all"), (0, 0, "all", "all"),
                          (None, None, 12 if "gpu" in pair[0] else None, None)):
                if given and given[-2] == 12 and "cpu" in pair[0] + pair[1]:
                    continue
                marks = "".join(", ?" for _ in given)
                try:
                    said = [text for text, in self.rows(f"SELECT text FROM trace_summary(?, ?{marks})"
                                                        f" WHERE kind = 'caution' AND gains = 0",
                                                        *pair, *given)]
                    matter = self.rows(f"SELECT item, why FROM trace_comparability(?, ?{marks}) WHERE matters = 'yes'",
                                       *pair, *given)
                except Exception as error:  # a step that one side lacks
                    self.assertIn("has no step", str(error))
                    continue
                with self.subTest(pair, given=given):
                    if "one side" in {item for item, _ in matter}:  # the verdict covers it: no caution (C24)
                        self.assertEqual(said, [])
                        continue
                    if said and re.match(r"caution: step \d+ of ",
                                         said[-1]) and "longest" not in {item for item, _ in matter}:
                        said.pop()  # a caution that explains much of the difference
                    self.assertEqual(len(said), min(4, len(matter)))
                    for text, (item, why) in zip(said, matter):
                        self.assertTrue(item == "longest" and re.match(r"caution: (a step|step \d+) of ", text)
                                        or text == "caution: " + why,
                                        (text, why))

    def test_by_the_report(self):
        """The report warns of each row that matters, except shapes and types."""
        write("a.json", {"schemaVersion": 1, "with_stack": 0, "deviceProperties": [DEVICE],
                         "distributedInfo": {"rank": 0, "world_size": 2}, "cuda_runtime_version": 1, **run()})
        write("b.json", {"schemaVersion": 1, "with_stack": 1, "deviceProperties": [{**DEVICE, "name": "H100"}],
                         "distributedInfo": {"rank": 1, "world_size": 4}, "cuda_runtime_version": 2, **run(slower=2)})
        html = self.value("SELECT html FROM trace_diff_report('a.json', 'b.json')")
        for text in ("Different devices.", "A100 / H100.", "Different ranks.",
                     "Control’s rank 0 of 2 is compared with test’s rank 1 of 4.",
                     "Ranks missing.", "Few steps.", "Recorded in another way.", "with_stack differs: 0 / 1",
                     "cuda_runtime_version differs: 1 / 2"):
            self.assertIn(text, html)


if __name__ == "__main__":
    unittest.main()
