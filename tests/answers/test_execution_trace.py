"""execution_trace: the nodes of both schemas that PyTorch's observer writes, against an independent reading."""
import gzip
import json
import os
import random
import unittest

from made import InFolder, write
from support import EXAMPLES

RECORDED = os.path.join(EXAMPLES, "recorded")
FILE, TRACE = (os.path.join(RECORDED, name) for name in ("execution_trace.json.gz", "trace.json.gz"))
NUMBERS, TEXTS = ("rf_id", "seq_id", "scope", "tid", "fw_parent",
                  "fw_tid"), ("op_schema", "kernel_backend", "kernel_file")
LISTS = [(part, kind) for part in ("inputs", "outputs") for kind in ("values", "shapes", "types", "strides")]
NAMES = [part if kind == "values" else f"{part[:-1]}_{kind}" for part, kind in LISTS]
COLUMNS = ("node", "parent", "name", *NUMBERS, *TEXTS, *NAMES, "attrs")


def expected(node):
    """The row of a node, with lists in Python's notation."""
    attrs = {each["name"]: each["value"] for each in reversed(node.get("attrs", []))}
    known = {**attrs, **{key: value for key, value in node.items() if key not in ("attrs", "inputs", "outputs")}}
    row = {"node": node["id"], "parent": node.get("parent", node.get("ctrl_deps")), "name": node.get("name"),
           "attrs": node.get("attrs")}
    row["parent"] = None if row["parent"] == row["node"] else row["parent"]
    for key in NUMBERS:
        value = known.get(key)
        absent = value is None or (value < 0 if key == "seq_id" else value == 0 and key not in ("scope", "tid"))
        row[key] = None if absent else value
    row.update({key: known.get(key) or None for key in TEXTS})
    for (part, kind), name in zip(LISTS, NAMES):
        inside = node.get(part)
        row[name] = inside.get(kind) if isinstance(inside, dict) else inside if kind == "values" else node.get(name)
    return row


def random_node(rng, number, old):
    values = {"rf_id": rng.randrange(3) * number, "fw_parent": rng.randrange(2), "seq_id": rng.randrange(-1, 3),
              "scope": rng.choice((0, 1, 7)),
              "tid": rng.randrange(3), "fw_tid": rng.randrange(2),
              "op_schema": rng.choice(("", "aten::x(Tensor a) -> Tensor", 'f(str="\\n\u00e4")'))}
    lists = {name: [rng.choice((1, "<None>", [[1, 2], "Tensor(float)"], 0.5, None)) for _ in range(rng.randrange(3))]
             for name in NAMES}
    made = {"id": number, "name": rng.choice(("aten::x", "## a ##", 'with "quotes" \u00e4\n', "")) or "y"}
    if old:
        made.update({**values, "parent": rng.randrange(1, number + 1),
                     **{name: lists[name] for name in NAMES if "strides" not in name}})
    else:
        made.update({"ctrl_deps": rng.randrange(1, number + 1), "attrs": [
            {"name": key, "type": "x", "value": value}
            for key, value in rng.sample(list(values.items()), rng.randrange(len(values) + 1))]})
        made["attrs"] += [{"name": "kernel_backend", "type": "string", "value": "triton"},
                          {"name": "pg_name", "type": "string", "value": "0"}]
        strides = rng.random() < 0.5
        for part in ("inputs", "outputs"):
            made[part] = {kind: lists[name] for (of, kind), name in zip(LISTS, NAMES) if of == part
                          and (strides or kind != "strides")}
    items = list(made.items())
    rng.shuffle(items)
    return dict(items)


class Nodes(InFolder):
    maxDiff = 3000

    def nodes(self, path):
        made = []
        for row in self.db.execute(f"SELECT {', '.join(COLUMNS)} FROM execution_trace(?)", (path,)):
            row = dict(zip(COLUMNS, row))
            row.update({name: row[name] and json.loads(row[name]) for name in (*NAMES, "attrs")})
            made.append(row)
        return made

    def test_random_nodes_of_both_schemas(self):
        rng = random.Random(2)
        for number in range(40):
            nodes = [random_node(rng, place, rng.random() < 0.5) for place in range(1, rng.randrange(2, 12))]
            members = [("schema", "1.0.1"), ("pid", 7), ("nodes", nodes), ("finish_ts", 9)]
            rng.shuffle(members)
            path = write(f"{number}.json{rng.choice(('', '.gz'))}",
                         json.dumps(dict(members), indent=rng.choice((None, 1)), ensure_ascii=rng.random() < 0.5))
            found, wanted = self.nodes(path), [expected(node) for node in nodes]
            self.assertEqual(found, [{key: row[key] for key in COLUMNS} for row in wanted])

    def test_the_recorded_one_and_its_trace(self):
        with gzip.open(FILE) as file:
            nodes = json.load(file)["nodes"]
        found = self.nodes(FILE)
        self.assertEqual(found, [{key: expected(node)[key] for key in COLUMNS} for node in nodes])
        by_id = {row["node"]: row for row in found}
        self.assertEqual([row["name"] for row in found if row["parent"] is None],
                         ["[pytorch|profiler|execution_trace|process]"])
        self.assertTrue(all(row["parent"] in by_id for row in found if row["parent"] is not None))
        joined = self.db.execute(
            "SELECT event.name, node.name, around.name, above.name FROM trace_events(?1) AS event"
            " JOIN execution_trace(?2) AS node ON node.rf_id = event.args ->> '$.\"Record function id\"'"
            " LEFT JOIN execution_trace(?2) AS above ON above.node = node.parent"
            " LEFT JOIN trace_events(?1) AS around ON around.event = event.parent"
            " AND around.cat IN ('cpu_op', 'user_annotation')"
            " WHERE event.cat IN ('cpu_op', 'user_annotation')", (TRACE, FILE)).fetchall()
        self.assertEqual(len(joined), sum(row["rf_id"] is not None for row in found))
        self.assertGreater(len(joined), 200)
        for name, node, around, above in joined:       # the same tree, which has no profiler step
            self.assertEqual(name, node)
            if around is not None and not around.startswith("ProfilerStep") and not above.startswith("[pytorch"):
                self.assertEqual(around, above)

    def test_what_is_there_for_nothing_is_null(self):
        write("et.json", {"nodes": [{"id": 1, "ctrl_deps": 1},
                                    {"id": 2, "parent": 1, "rf_id": 0, "seq_id": -1, "scope": 0, "tid": 0, "fw_tid": 0,
                                                                 "fw_parent": 0, "op_schema": ""}]})
        nothing = dict.fromkeys(COLUMNS)
        self.assertEqual(self.nodes("et.json"),
                         [{**nothing, "node": 1}, {**nothing, "node": 2, "parent": 1, "scope": 0, "tid": 0}])

    def test_values_that_json_lacks_become_null(self):
        """Values that JSON lacks become NULL, like in args (T6), so a query over inputs does not stop at them."""
        write("et.json", '{"nodes": [{"id": 1, "name": "a\\qb", "inputs": [inf, nan, -inf, 1.5], "rf_id": 1e3, "tid":'
                         ' 18446744073709551615}]}')
        self.assertEqual(self.db.execute("SELECT name, inputs, inputs ->> '$[3]', rf_id, tid"
                                         " FROM execution_trace('et.json')").fetchall(),
                         [("a\\qb", "[null, null, null, 1.5]", 1.5, None, None)])

    def test_of_members_and_attrs_the_first_counts(self):
        write("et.json", '{"nodes": [{"id": 1, "id": 2, "rf_id": 3, "attrs": [{"name": "rf_id", "value": 4}, {"name":'
                         ' "tid", "value": 5},'
                         ' {"name": "tid", "value": 6}, 7, {"value": 8}, {"name": "scope"}]}], "nodes": [{"id": 9}]}')
        self.assertEqual(self.db.execute("SELECT node, rf_id, tid, scope FROM execution_trace('et.json')").fetchall(),
                         [(1, 3, 5, None)])

    def test_ranks_are_those_of_the_names(self):
        for rank in (1, 0):
            write(f"run/et_rank{rank}.json", {"nodes": [{"id": 5 + rank}]})
        self.assertEqual(self.db.execute("SELECT file, rank, node FROM execution_trace('run')").fetchall(),
                         [("run/et_rank0.json", 0, 5), ("run/et_rank1.json", 1, 6)])

    def test_what_is_not_a_node(self):
        for node in ("7", '"a"', "[1]", "{}", '{"name": "a"}', '{"id": "7"}', '{"id": 1.5}', '{"id": 1, 2}',
                     '{"id": 1,}'):
            write("et.json", f'{{"nodes": [{{"id": 1}}, {node}]}}')
            self.assert_error("execution_trace: 'et.json': not a node of an execution trace at byte 23",
                              "SELECT * FROM execution_trace('et.json')")


if __name__ == "__main__":
    unittest.main()
