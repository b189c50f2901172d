#!/usr/bin/python3
"""How often a simple program finds the planted change of a pair of traces from trace_brief alone.

    usage: score_brief.py PLANTED [CAUSES]

PLANTED is a folder of recordings with one planted change each (PLANTED below). CAUSES is a folder of simulated pairs,
ID/control and ID/test, with result.json: a list of {id, control_ms, ranks, causes: [{kind, rank, ok}], truth:
[{effect_ms}]}, where ok is a pattern for names of the cause.

The program reports the first cause of the brief and each line of work. It is right if one of these names the planted
change, or the largest of several, with its class and on its rank. Causes or work in a pair without an effect are false.
It prints the missed pairs and the pairs with false reports, then both rates.
"""
import json
import os
import re
import sys

from support import connect

# folder: names that count. In the last pair, rank 1 sleeps in each step, between aten::add and aten::layer_norm of its
# forward, as its trace shows; its loader takes 0.3 ms.
PLANTED = {
    "slow_loader": "DataLoader", "unfused_attn": "matmul|bmm|masked_fill|softmax",
    "python_loop": "scaled_dot_product_attention|slice|select", "item_sync": "item|_local_scalar_dense",
    "grad_hook": "clone|clamp_|nan_to_num", "float64_all": "double|float64", "clip": "linalg_vector_norm|mul_",
    "double_forward": "aten::linear|scaled_dot_product_attention|gelu|forward", "anomaly": "isnan|is_any_true",
    "same": None, "gloo_rank1_sleeps_60ms": "DistributedDataParallel.forward"}
CLASSES = {"kernel": "compute", "unfused": "compute", "added kernel": "compute", "copies": "memory", "network": "comm",
           "host delay": "idle", "dataloader": "idle"}
LEAST = 0.005  # share of the step: a smaller effect counts as none


def said(brief):
    """(text, class, rank) of the program's reports for a brief."""
    lines = brief["causes"][:1] + brief["work"]
    return [(f"{each.get('name', '')} | {'copies: ' * (each.get('class') == 'memory')}{each['words']}",
             each.get("class"), each.get("rank")) for each in lines]


def is_named(lines, pattern, kind=None, rank=None):
    wanted = CLASSES.get(kind)
    return any(re.search(pattern, text) and of_rank == rank
               and (wanted is None or class_ is None or class_.startswith(wanted)) for text, class_, of_rank in lines)


def planted_pairs(folder):
    """(name, control, test, (pattern, kind, rank) or None) for recordings."""
    for name, pattern in PLANTED.items():
        is_job = name.startswith("gloo")
        control = "gloo_control" if is_job else f"{name}/control"
        yield (name, os.path.join(folder, control), os.path.join(folder, name if is_job else f"{name}/test"),
               pattern and (pattern, None, 1 if is_job else None))


def simulated_pairs(folder):
    with open(os.path.join(folder, "result.json"), encoding="utf-8") as file:
        for pair in json.load(file):
            real = [(abs(truth["effect_ms"]), cause) for truth, cause in zip(pair["truth"], pair["causes"])
                    if abs(truth["effect_ms"]) >= LEAST * pair["control_ms"]]
            cause = max(real, key=lambda each: each[0])[1] if real else None
            sides = (os.path.join(folder, pair["id"], side) for side in ("control", "test"))
            yield (pair["id"], *sides, cause and (cause["ok"], cause["kind"],
                                                  cause["rank"] if pair["ranks"] > 1 else None))


def score(pairs):
    """The names of pairs with an effect and without, and of missed or false ones among them."""
    db = connect()
    effects, misses, others, false = [], [], [], []
    for name, control, test, planted in pairs:
        [[text]] = db.execute("SELECT json FROM trace_brief(?, ?)", (control, test)).fetchall()
        lines = said(json.loads(text))
        (effects if planted else others).append(name)
        if planted and not is_named(lines, *planted):
            misses.append(name)
        if not planted and lines:
            false.append(name)
    return effects, misses, others, false


if __name__ == "__main__":
    found = list(planted_pairs(sys.argv[1]))
    if len(sys.argv) > 2:
        found += simulated_pairs(sys.argv[2])
    effects, misses, others, false = score(found)
    print("missed:", ", ".join(misses) or "none")
    print("false:", ", ".join(false) or "none")
    print(f"{len(effects) - len(misses)} of {len(effects)} pairs with an effect are named,"
          f" {len(false)} of {len(others)} without one have a cause")
