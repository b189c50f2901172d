"""Patterns of sql/patterns/program: both directions, near misses, and both sides of each number (pattern_facts)."""
import unittest

from made import document, event, step
from pattern_facts import ANY, SILENT, Asking, Case, Said
from support import slow

ENGINE = "autograd::engine::evaluate_function: "
FORWARD = ("addmm", "native_layer_norm", "gelu", "convolution", "embedding", "silu", "relu", "_log_softmax")
BACKWARD = ("Addmm", "NativeLayerNorm", "Gelu", "Convolution", "Embedding", "Silu", "Relu", "LogSoftmax")


def passes(*forward, backward=((1, 1),) * 8):
    """Operators of the forward pass and their backward, by counts."""
    return [*((f"aten::{name}", *counts) for name, counts in zip(FORWARD, forward)),
            *((f"{name}Backward0", *counts) for name, counts in zip(BACKWARD, backward))]


def tensors(*ops):
    """Operators that run once; each is (name, dims and size in control, in test, us)."""
    rows = []
    for name, (dims, size), (other_dims, other), us in ops:
        rows += [(name, dims, "[]", 1, 0, us, 0, size, dims), (name, other_dims, "[]", 0, 1, 0, us, other, other_dims)]
    return rows


def grown(*ratios, us=100):
    """Operators, by the growth of their tensors; only the first has as many dims on both sides."""
    return tensors(*((f"aten::op{place:03}", ("[100]", 100), (f"[{100 * ratio:g}]" if place == 0 else "[1,1]",
                                                              round(100 * ratio, 6)), us)
                     for place, ratio in enumerate(ratios)))


def growth(*ratios, us=100, beside=None):
    """The facts of these operators, and of an unchanged one that takes this many us."""
    return {"launched": grown(*ratios, us=us) + (
        tensors(("aten::other", ("[9,9,9]", 100), ("[9,9,9]", 100), beside)) if beside else [])}


def saving(*of_steps, names=("aten::add", "aten::save", "aten::write")):
    """A trace whose steps are (us, count of each operator), between two steps that are not compared."""
    events = []
    for number, (us, *counts) in enumerate(((1000, 1), *of_steps, (1000, 1))):
        at = 100000 * number
        events.append(step(number, at, us))
        runs = [name for name, times in zip(names, counts) for _ in range(times)]
        events += [event(name, at + 10 * place, 5) for place, name in enumerate(runs)]
    return document(*events)


USUAL = [(1000, 1)] * 4
STEADY = saving(*USUAL, (1000, 1))
AGAIN = [(None, ENGINE + "GeluBackward0", name, 0, 1) for name in ("aten::linear", "aten::layer_norm")]
LOOP = [("aten::add", 30, 36), ("aten::mul", 20, 27), ("aten::div", 10, 13)]

CASES = {
    "anomaly": Case(
        Said("autograd's anomaly mode is on: 10 checks for NaN per step", "set_detect_anomaly", [1, 2]),
        Said("autograd's anomaly mode is off: it checked for NaN 10 times per step", None, [1, 2]),
        {"host SET t = 1 WHERE top_op GLOB '*Part0Backward*'": SILENT,
         "host SET c = 1 WHERE top_op GLOB '*Part0Backward*'": SILENT,
         "host SET top_op = replace(top_op, 'Part0', 'Part1'), t = 2.5": SILENT,
         "host SET top_op = replace(top_op, 'Backward0', 'Hook')": SILENT,
         "op SET t = 14": ANY, "op SET t = 14.5": SILENT},
        op=[("aten::isnan", 0, 10)], cause=[{"kind": "synchronized"}, {"name": ENGINE + "Part0Backward0"}, {}],
        host=[(None, f"{ENGINE}Part{place}Backward0", "aten::isnan", 0, 2) for place in range(5)]),
    "attention": Case(
        Said("attention is no longer fused (flash): written-out softmax, 1 per step", "scaled_dot_product_attention",
             [1]),
        Said("attention is fused now (flash), not written-out softmax, 1 per step", "scaled_dot_product_attention",
             [1]),
        {"op SET c = 0.5 * c, t = 0.5 * t": (
            "attention is no longer fused (flash): written-out softmax, 0.5 per step",
            "attention is fused now (flash), not written-out softmax, 0.5 per step"),
         "op SET t = 1 WHERE name = 'aten::bmm'": SILENT, "op SET t = 2 WHERE name = 'aten::_softmax'": SILENT},
        op=[("aten::_scaled_dot_product_flash_attention", 1, 0), ("aten::_softmax", 0, 1), ("aten::bmm", 0, 2),
            ("aten::gelu", 1, 2)],
        cause=[{}, {}], cause_op=[(1, "aten::bmm"), (2, "aten::gelu")]),
    "checkpointing": [Case(
        Said("activation checkpointing is on: backward computes activations again (4 regions)", "fewer layers", [1]),
        Said("activation checkpointing is off: backward computes nothing again (4 regions)", "more memory", [1]),
        {"op SET c = 1": ("backward computes activations of more regions again: 1 -> 4",
                          "backward computes activations of fewer regions again: 4 -> 1"),
         "op SET c = 10, t = 12.2": ANY, "op SET c = 10, t = 11.8": SILENT, "op SET c = 1, t = 1.1": SILENT,
         "op SET t = 0": SILENT},
        op=[("CheckpointFunction", 0, 4)], cause=[{"is_again": 1}, {}]),
        Case(
        Said("activation checkpointing is on: backward computes activations again", "fewer layers", [1]),
        Said("activation checkpointing is off: backward computes nothing again", "more memory", [1]),
        {"host SET t = 0.25": ("activation checkpointing is on: backward computes activations again",
                               "activation checkpointing is off: backward computes nothing again"),
         "DELETE FROM host WHERE name = 'aten::linear'": SILENT,
         "host SET c = 1, t = 2 WHERE name = 'aten::linear'": SILENT,
         "host SET top_op = 'aten::linear'": SILENT},
        host=AGAIN, cause=[{"name": ENGINE + "GeluBackward0"}, {}])],
    "clip": [Case(
        Said("gradients are clipped by their norm, parameter by parameter: 4 norms per step", "foreach=True", [1]),
        Said("gradients are not clipped by their norm any more", None, [1]),
        {"op SET t = 3 WHERE name GLOB '*norm'": SILENT, "op SET c = 1 WHERE name = 'aten::clamp'": SILENT,
         "op SET name = 'aten::_foreach_norm', t = 1 WHERE name GLOB '*norm'": (
             Said("gradients are clipped by their norm", None), ANY),
         "op SET c = 1, t = 0 WHERE name GLOB '*norm';"
         " INSERT INTO op VALUES ('aten::_foreach_norm', 'CPU', 0, 1, 0, 1)": SILENT},
        op=[("aten::linalg_vector_norm", 0, 4), ("aten::clamp", 0, 1)], cause=[{}, {}],
        cause_op=[(1, "aten::mul_"), (2, "aten::mul")]),
        Case(
        Said("clipping of gradients loops over parameters: 1 norms per step", "foreach=True", [1]),
        Said("clipping of gradients uses foreach now", None, [1]),
        {"op SET c = 0, t = 0 WHERE name = 'aten::clamp'": SILENT,
         "op SET t = 0 WHERE name GLOB '*vector_norm'": SILENT,
         "op SET t = 1 WHERE name GLOB '*foreach_norm'": SILENT},
        op=[("aten::linalg_vector_norm", 0, 1), ("aten::_foreach_norm", 1, 0), ("aten::clamp", 1, 1)],
        cause=[{}], cause_op=[(1, "aten::_foreach_norm")])],
    "compile": Case(
        Said("the model is compiled: its kernels are those of torch.compile", None, [1, 2, 3]),
        Said("the model is not compiled any more", "graph_breaks", [1, 2, 3]),
        {"op SET c = 1 WHERE name GLOB 'Torch*'": SILENT},
        op=[("Torch-Compiled Region: 0", 0, 1), ("aten::mm", 1, 0), ("aten::add", 0, 1)],
        cause=[{}, {"added": 1}, {}, {}, {"area": "Optimizer.step#A", "added": 1}],
        cause_op=[(1, "CompiledFunction"), (3, "aten::mm"), (4, "aten::add")]),
    "forward_twice": Case(
        Said("the forward pass runs 2 times as often, backward as often as before", "torch.no_grad", [1]),
        Said("the forward pass ran 2 times as often, backward as often as now", "torch.no_grad", [1]),
        {"op SET t = 1 WHERE name = 'aten::gelu'": SILENT, "op SET t = 1.5 * c WHERE t = 2": SILENT,
         "op SET t = 0 WHERE t = 2": SILENT, "op SET c = 0, t = 0 WHERE name GLOB '*Backward0'": SILENT,
         "op SET t = 2 WHERE name GLOB '*Backward0'": SILENT,
         "op SET t = 2 * t WHERE name IN ('aten::convolution'); op SET t = 3 WHERE t = 1 AND name GLOB 'aten::*u';"
         " op SET t = 3 WHERE name = 'aten::embedding'":
             "the forward pass runs 2 times as often, backward as often as before",
         "INSERT INTO op VALUES ('CheckpointFunction', 'CPU', 0, 1, 0, 1)": SILENT,
         f"INSERT INTO host VALUES (NULL, '{ENGINE}A', 'aten::linear', 0, 1)": SILENT},
        op=[*passes(*[(1, 2)] * 3, *[(1, 1)] * 5), ("aten::add", 1, 1)], cause=[{}, {}],
        cause_op=[(1, "aten::addmm"), (2, "aten::add")]),
    "grad_hooks": Case(
        Said("hooks on gradients run more operators: aten::nan_to_num 0 -> 8", "one hook for all", [1]),
        Said("hooks on gradients run fewer operators: aten::nan_to_num 8 -> 0", None, [1]),
        {"host SET t = 7": SILENT, "host SET c = 1, t = 10": SILENT, "host SET name = 'aten::copy_'": SILENT,
         "host SET top_op = 'aten::linear'": SILENT,
         f"INSERT INTO host VALUES (NULL, '{ENGINE}AccumulateGrad', 'aten::clamp', 0, 9)":
             "hooks on gradients run more operators: aten::clamp 0 -> 9",
         f"INSERT INTO host VALUES (NULL, '{ENGINE}AccumulateGrad', 'aten::clamp', 8, 0)": SILENT,
         f"host SET t = 9; INSERT INTO host VALUES (NULL, '{ENGINE}AccumulateGrad', 'aten::clamp', 10, 0)": (
             "hooks on gradients run fewer operators: aten::clamp 10 -> 0",
             "hooks on gradients run more operators: aten::clamp 0 -> 10")},
        host=[(None, ENGINE + "AccumulateGrad", "aten::nan_to_num", 0, 8)],
        cause=[{"name": ENGINE + "AccumulateGrad"}, {}]),
    "graph_breaks": Case(
        Said("torch.compile runs 3 regions per step, where control runs 1: graph breaks?", "graph_breaks", [1]),
        Said("torch.compile runs 1 regions per step, where control runs 3: graph breaks?", None, [1]),
        {"op SET t = 0.9 WHERE c = 0": SILENT, "op SET c = 1 WHERE c = 0": SILENT, "op SET c = 0": SILENT},
        op=[(f"Torch-Compiled Region: {number}", number == 0, 1) for number in range(3)],
        cause=[{"name": "TorchDynamo Cache Lookup"}, {}]),
    "items": Case(
        Said("numbers read from tensors per step: 0 -> 8 (aten::a 0 -> 8, aten::b 0 -> 8)", "every 100 steps", [1]),
        Said("numbers read from tensors per step: 8 -> 0 (aten::a 8 -> 0, aten::b 8 -> 0)", "every 100 steps", [1]),
        {"op SET t = 7": SILENT, "op SET c = 100, t = 152": ANY, "op SET c = 100, t = 148": SILENT,
         "INSERT INTO op VALUES ('aten::isnan', 'CPU', 0, 10, 0, 1)": SILENT,
         "INSERT INTO op VALUES ('aten::isnan', 'CPU', 0, 9, 0, 1)": ANY,
         "INSERT INTO op VALUES ('aten::isnan', 'CPU', 1, 12, 0, 1)": ANY,
         "INSERT INTO host VALUES ('Optimizer.step#A', NULL, 'aten::item', 0, 1)": SILENT,
         "pair SET of_host = 0": SILENT},
        pair={"of_host": 1}, op=[("aten::item", 0, 8), ("aten::a", 0, 8), ("aten::b", 0, 8), ("aten::c", 0, 8)],
        cause=[{}, {}], cause_op=[(1, "aten::item"), (2, "aten::d")]),
    "micro_batches": Case(
        Said("gradient accumulation: forward and backward run 4 times per step for 1", "time of a sample", [1]),
        Said("gradient accumulation: forward and backward run 1 times per step for 4", "time of a sample", [1]),
        {"op SET t = 1 WHERE name IN ('aten::gelu', 'GeluBackward0')": SILENT,
         "op SET t = 1.5 * c WHERE t = 4": SILENT, "op SET c = 2 * c, t = 2 * t": SILENT,
         "op SET t = 1 WHERE name GLOB '*Backward0'": SILENT, "op SET t = 0 WHERE t = 4": SILENT,
         "op SET t = 4 WHERE name GLOB '*onvolution*'; op SET t = 2 WHERE t = 1 AND name NOT GLOB 'Optimizer*'":
             "gradient accumulation: forward and backward run 4 times per step for 1",
         "op SET t = 2 WHERE name GLOB 'Optimizer*'": SILENT,
         "pair SET alike = 0.82": ANY, "pair SET alike = 0.78": SILENT},
        op=[*passes(*[(1, 4)] * 3, *[(1, 1)] * 5, backward=[(1, 4)] * 3 + [(1, 1)] * 5),
            ("Optimizer.step#A.step", 1, 1)], cause=[{}, {"area": "Optimizer.step#A.step"}]),
    "more_operators": Case(
        Said("60 -> 76 operators per step (aten::mul 20 -> 27, aten::add 30 -> 36)", "torch.compile", [1, 4, 5]),
        Said("76 -> 60 operators per step (aten::mul 27 -> 20, aten::add 36 -> 30)", None, [1, 4, 5]),
        {"op SET t = 26 WHERE name = 'aten::mul'": SILENT, "op SET t = t + 0.5 WHERE name = 'aten::mul'": SILENT,
         "op SET c = 10 * c, t = 10 * c; op SET c = 600, t = 822 WHERE name = 'aten::mul'": ANY,
         "op SET c = 10 * c, t = 10 * c; op SET c = 600, t = 778 WHERE name = 'aten::mul'": SILENT,
         "op SET t = 10 WHERE name = 'aten::div'; op SET t = 109.5 WHERE name = 'aten::mul';"
         " op SET name = 'aten::select', t = 40.5 WHERE name = 'aten::add'": (Said(
             "60 -> 160 operators per step, a loop over slices (aten::mul 20 -> 109.5, aten::select 30 -> 40.5)",
             "torch.vmap"), ANY),
         "op SET t = 10 WHERE name = 'aten::div'; op SET t = 110.5 WHERE name = 'aten::mul';"
         " op SET name = 'aten::select', t = 39.5 WHERE name = 'aten::add'": (Said(
             "60 -> 160 operators per step (aten::mul 20 -> 110.5, aten::select 30 -> 39.5)", "torch.compile"), ANY),
         "pair SET alike = 0.82": ANY, "pair SET alike = 0.78": SILENT},
        op=LOOP, host=[(None, "aten::big", "aten::add", 0, 8), (None, "aten::small", "aten::add", 0, 7)],
        cause=[{}, {"diff_time": -0.5}, {}, {"diff_time": 0.5}, {"name": "aten::big"}, {"name": "aten::small"}],
        cause_op=[(1, "aten::add"), (2, "aten::add"), (3, "aten::gelu"), (4, "aten::mul")]),
    "optimizer": Case(
        Said("A.step is fused, control's uses foreach", None, [1, 2]),
        Said("A.step uses foreach, control's is fused", "fused=True", [1, 2]),
        {"host SET c = 0": SILENT, "host SET name = 'aten::_fused_b_' WHERE c = 1": SILENT,
         "host SET t = 2 WHERE t = 1": "A.step is fused, control's uses foreach: 1 -> 2 operators",
         "host SET name = 'aten::add_' WHERE c = 1": "A.step is fused, control's loops over parameters"},
        host=[("Optimizer.step#A.step", None, "aten::_fused_a_", 0, 1),
              ("Optimizer.step#A.step", None, "aten::_foreach_add_", 1, 0)],
        cause=[{"area": "Optimizer.step#A.step"}, {"name": "Optimizer.step#A.step"}, {}]),
    "other_optimizer": Case(
        Said("the optimizer is B.step, where control's is A.step", "compare the learning", [1, 2]),
        Said("the optimizer is A.step, where control's is B.step", "compare the learning", [1, 2]),
        {"op SET c = 1": SILENT, "op SET t = 1": SILENT, "op SET t = c": SILENT},
        op=[("Optimizer.step#A.step", 1, 0), ("Optimizer.step#B.step", 0, 1)],
        cause=[{"area": "Optimizer.step#A.step"}, {"name": "Optimizer.step#B.step"}, {}]),
    "precision": Case(
        Said("matmuls and convolutions compute in float64, control's in float32", "float64 leaks", [1]),
        Said("matmuls and convolutions compute in float32, control's in float64", None, [1]),
        {"launched SET tt = 820 WHERE t = 1; INSERT INTO launched SELECT * FROM launched WHERE c = 1;"
         " launched SET ct = 0, tt = 180 WHERE rowid = 3": ANY,
         "launched SET tt = 780 WHERE t = 1; INSERT INTO launched SELECT * FROM launched WHERE c = 1;"
         " launched SET ct = 0, tt = 220 WHERE rowid = 3": SILENT,
         "launched SET types = replace(types, 'double', 'c10::Half')": (
             Said("matmuls and convolutions compute in float16, control's in float32", None),
             Said("matmuls and convolutions compute in float32, control's in float16", "autocast")),
         "launched SET types = replace(types, 'float', 'c10::BFloat16'); launched SET types = replace(types, 'double',"
         " 'c10::Half')": Said("matmuls and convolutions compute in float16, control's in bfloat16", None),
         "launched SET types = '[\"int\",\"' || trim(types, '[\"]') || '\"]'": ANY,
         "launched SET name = 'aten::add'": SILENT, "launched SET types = '[\"float\"]'": SILENT},
        launched=[("aten::mm", "[]", '["float"]', 1, 0, 1000, 0, 1, "[]"),
                  ("aten::mm", "[]", '["double"]', 0, 1, 0, 1000, 1, "[]")],
        cause=[{"class": "compute"}, {"area": "Optimizer.step#A.step"}]),
    "quantised": Case(
        Said("weights are quantised: 1 quantized::linear_dynamic per step", "accuracy", [1]),
        Said("weights are not quantised any more: 1 quantized::linear_dynamic per step gone", "as control does", [1]),
        {"op SET c = 2 WHERE c = 1": SILENT, "op SET c = 1, t = 2 WHERE t = 1": SILENT, "op SET t = c": SILENT},
        op=[("quantized::linear_dynamic", 0, 1), ("aten::linear", 1, 0)], cause=[{}, {}],
        cause_op=[(1, "aten::linear"), (2, "aten::add")]),
    "recompile": Case(
        Said("torch.compile compiles again in these steps: 20 ms per step", "TORCH_LOGS", [1, 3]),
        Said("torch.compile compiled in the steps of control: 20 ms per step", "record control later", [1, 3]),
        {"op SET tt = 510": ANY, "op SET tt = 490": SILENT, "op SET ct = 1000, tt = 3100": ANY,
         "op SET ct = 1000, tt = 2900": SILENT, "op SET name = 'TorchDynamo Cache Lookup'": SILENT},
        op=[("dynamo", 0, 1, 0, 20000)],
        cause=[{"name": "dynamo"}, {"name": "dynamo", "diff_time": -0.5}, {"name": "compile_fx", "diff_time": 0.5},
               {}]),
    "sizes": Case(
        Said("tensors are 2 times as large: [4,16] -> [8,16]", "sample or token", [1]),
        Said("tensors are 0.5 times as large: [8,16] -> [4,16]", "sample or token", [1]),
        [(growth(2, 2, 2, 2), SILENT), (growth(2, 2, 2, 2, 2), ANY),
         (growth(*[1.5] * 8, 3, 3), ANY), (growth(*[2] * 8, 0.5, 0.5), SILENT),
         (growth(2.06, 2, 2, 2.1, 2.1, 2.1), "tensors are 2.08 times as large: [100] -> [206]"),
         (growth(*[2] * 15, us=29, beside=15 * 71), SILENT),
         (growth(2, 2, 2, 2, 1.00105), ANY), (growth(2, 2, 2, 2, 1.00095), SILENT),
         (growth(1.92, 2, 2, 2, 2), ANY), (growth(1.88, 2, 2, 2, 2), SILENT),
         (growth(2.08, 2, 2, 2, 2), ANY), (growth(2.12, 2, 2, 2, 2), SILENT),
         (growth(*[2] * 6, us=31, beside=6 * 69), ANY), (growth(*[2] * 6, us=29, beside=6 * 71), SILENT),
         (growth(*[2] * 20, us=10, beside=20 * 90), ANY), (growth(*[2] * 19, us=10, beside=19 * 90), SILENT),
         (growth(*[2] * 10, 0.5), ANY), (growth(*[2] * 9, 0.5), SILENT),
         (growth(*[0.5] * 10, 2), ANY), (growth(*[0.5] * 9, 2), SILENT),
         (growth(*[1.12] * 5), ANY), (growth(*[1.08] * 5), SILENT),
         (growth(*[0.88] * 5), ANY), (growth(*[0.92] * 5), SILENT),
         ("pair SET alike = 0.82", ANY), ("pair SET alike = 0.78", SILENT), ("pair SET even = 0.61", ANY),
         ("pair SET even = 0.59", SILENT), ("pair SET strata = 2", SILENT)],
        launched=tensors(*(("aten::" + name, (f"[4,{place}]", 4 * place), (f"[8,{place}]", 8 * place), 100)
                           for name, place in (("a", 8), ("b", 9), ("c", 10), ("d", 11), ("linear", 16)))),
        cause=[{"class": "compute"}, {"area": "Optimizer.step#A.step"}]),
    "some_steps": [Case(
        Said("1 of 5 steps run more operators: aten::save, 1 times", "less often", []),
        Said("1 of 5 steps of control run more operators: aten::save, 1 times", "less often", []),
        [((STEADY, saving(*USUAL[:3], *[(5000, 1, 1)] * 2)), ANY),
         ((STEADY, saving(*USUAL[:3], *[(5000, 1, 1)] * 3)), SILENT),
         ((STEADY, saving(*USUAL, (1230, 1, 1))), ANY), ((STEADY, saving(*USUAL, (1170, 1, 1))), SILENT),
         ((STEADY, saving(*USUAL, (5000, 1, 1, 1))), "1 of 5 steps run more operators: aten::save, 1 times"),
         ((STEADY, saving(*USUAL, (5000, 3))), "1 of 5 steps run more operators: aten::add, 2 times"),
         ((STEADY, saving(*USUAL, (5000, 1, 1), names=("aten::add", "compile_file"))), SILENT),
         ("pair SET test_left_out = 0", SILENT), ("op SET c = 0.2, t = 1.2", ANY),
         ("INSERT INTO op VALUES ('aten::save', 'CPU', 0, 0.2, 0, 1)", ANY),
         ("INSERT INTO op VALUES ('aten::save', 'CPU', 0.5, 0.5, 0, 1)", SILENT),
         ("pair SET test_left_out = 0; INSERT INTO op VALUES ('aten::save', 'CPU', 0, 0.2, 0, 1)", ANY)],
        (STEADY, saving(*USUAL, (5000, 1, 1))), pair={"test_left_out": 1}, op=[("aten::add", 1, 1)]),
        Case(
        SILENT, SILENT, {}, (STEADY, saving(*USUAL, (5000, 1, 1))), pair={"test_left_out": 1}, op=[("aten::add", 1, 1)],
        given={"test_iteration": 3})],
}
EQUAL = {"anomaly": {"CASE WHEN d > 0": "there are ten checks or more"},
         "more_operators": {"HAVING sum(under.t - under.c) * (n.t - n.c) > 0": "at least 8 by 16"},
         "some_steps": {"UNION ALL SELECT 0, control_rank": "what is not 1 is control"}}


class OfProgram(Asking):
    FOLDER = "program"
    CASES = CASES
    EQUAL = EQUAL

    def test_both_sides_of_each_number(self):
        self.check()

    @slow
    def test_each_number_matters(self):
        self.check_numbers()


if __name__ == "__main__":
    unittest.main()
