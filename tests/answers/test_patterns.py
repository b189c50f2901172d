"""Patterns of sql/patterns (DG1) on a made program: what each says of a pair, that it speaks of the swapped pair, too,
and a near miss of which it says nothing: one less than its number asks for."""
import unittest

from made import InFolder, document, event, kernel, launch, step, write

ENGINE = "autograd::engine::evaluate_function: "


def call(name, *inside, times=1, us=20, **fields):
    """A call, with others inside; a list of equal ones."""
    return [(name, [one for each in inside for one in each], us, fields)] * times


def backward(name, *inside):
    return call(ENGINE + name, call(name, *inside))


def calls(*names):
    return [one for name in names for one in call(name)]


def optimizer(*inside, name="AdamW"):
    return call(f"Optimizer.step#{name}.step", *inside, cat="user_annotation")


FORWARD = calls("aten::embedding", "aten::addmm", "aten::native_layer_norm", "aten::gelu", "aten::add", "aten::view",
                "aten::mul", "aten::div", "aten::cat")
BACKWARD = [one for name in ("Embedding", "Addmm", "NativeLayerNorm", "Gelu", "Add")
            for one in backward(name + "Backward0", call("aten::mm"), call("aten::sum"))]
FUSED = optimizer(call("aten::_fused_adamw_"))
MODEL = FORWARD + BACKWARD
BASE = MODEL + FUSED
LINEAR = call("aten::linear", times=6)


def again(*names):
    """The backward pass, of which one function computes these again."""
    return FORWARD + backward("AddmmBackward0", *map(call, names)) + BACKWARD[1:] + FUSED


def checked(times):
    """A check for NaN in each function of the engine, and more in the first one."""
    functions = [ENGINE + name + "Backward0" for name in ("Embedding", "Addmm", "NativeLayerNorm", "Gelu", "Add")]
    return FORWARD + [one for place, name in enumerate(functions)
                      for one in call(name, call("aten::isnan", times=times - 4 if place == 0 else 1))] + FUSED


def norms(times):
    return BASE + call("aten::linalg_vector_norm", times=times) + call("aten::clamp")


def hooks(times):
    return BASE + call(ENGINE + "torch::autograd::AccumulateGrad", call("aten::nan_to_num", times=times))


def region(*numbers):
    return BASE + [one for number in numbers for one in call(f"Torch-Compiled Region: {number}/0")]


def sized(size, kind="float"):
    def shaped(name):
        return call(name, args={"Input Dims": [[size, 64], [64, 64]], "Input type": [kind, kind]})
    return [one for name in ("aten::addmm", "aten::mm", "aten::gelu", "aten::add", "aten::sum", "aten::mean")
            for one in shaped(name)] + FUSED


# {pattern: (control, test, near test, what is said)}
CHANGES = {
    "optimizer": (BASE, MODEL + optimizer(call("aten::_foreach_add_"), call("aten::_foreach_mul_")),
                  MODEL + optimizer(call("aten::_fused_adamw_", times=2)),
                  "AdamW.step uses foreach, where control's is fused: 1 -> 2 operators"),
    "other_optimizer": (BASE, MODEL + optimizer(call("aten::_fused_adamw_"), name="SGD"), MODEL + FUSED,
                        "the optimizer is SGD.step, where control's is AdamW.step"),
    "checkpointing": (BASE, again("aten::linear", "aten::layer_norm"), again("aten::linear"),
                      "activation checkpointing is on: backward computes activations again"),
    "attention": (BASE + call("aten::_scaled_dot_product_flash_attention"),
                  BASE + calls("aten::_softmax", "aten::bmm", "aten::bmm"), BASE + calls("aten::_softmax", "aten::bmm"),
                  "attention is not fused any more: softmax for fused (flash), 1 per step"),
    "attention_backend": (BASE + call("aten::_scaled_dot_product_flash_attention", times=2),
                          BASE + call("aten::_scaled_dot_product_cudnn_attention", times=2),
                          BASE + call("aten::_scaled_dot_product_cudnn_attention"),
                          "attention runs by cudnn where control runs flash, 2 per step"),
    "anomaly": (BASE, checked(10), checked(9), "autograd's anomaly mode is on: 10 checks for NaN per step"),
    "clip": (BASE, norms(4), norms(3), "gradients are clipped by their norm, parameter by parameter: 4 norms per step"),
    "grad_hooks": (BASE, hooks(8), hooks(7), "hooks on gradients run more operators: aten::nan_to_num 0 -> 8"),
    "items": (BASE, BASE + call("aten::item", times=8), BASE + call("aten::item", times=7),
              "numbers read from tensors per step: 0 -> 8"),
    "forward_twice": (BASE, FORWARD + BASE, FORWARD[:2] + BASE,
                      "the forward pass runs 2 times as often, backward as often as before"),
    "micro_batches": (BASE, MODEL * 3 + BASE, FORWARD[1:3] * 3 + BACKWARD[1:3] * 3 + BASE,
                      "gradient accumulation: forward and backward run 4 times per step for 1"),
    "more_operators": (BASE, BASE + call("aten::add", times=16), BASE + call("aten::add", times=15),
                       "20 -> 36 operators per step (aten::add 1 -> 17)"),
    "dataloader_workers": (BASE + call("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"),
                           BASE + call("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
                           BASE + call("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", us=30),
                           "the DataLoader has no worker processes any more: 0.0 -> 0.0 ms"),
    "recompile": (BASE, BASE + call("dynamo", us=60), BASE + call("dynamo", us=20),
                  "torch.compile compiles again in these steps: 0 ms per step"),
    "compile": (BASE, region(0), BASE, "the model is compiled: its kernels are those of torch.compile"),
    "graph_breaks": (region(0), region(0, 1, 2), region(0, 0),
                     "torch.compile runs 3 regions per step, where control runs 1: graph breaks?"),
    "quantised": (BASE + LINEAR, BASE + call("quantized::linear_dynamic", times=6),
                  BASE + call("quantized::linear_dynamic", times=5),
                  "weights are quantised: 6 quantized::linear_dynamic per step"),
    "collectives": (BASE + call("gloo:all_reduce", times=2, cat="user_annotation"),
                    BASE + call("gloo:all_reduce", times=6, cat="user_annotation"),
                    BASE + call("gloo:all_reduce", times=2, us=40, cat="user_annotation"),
                    "gloo:all_reduce runs 2 -> 6 times per step"),
    "sizes": (sized(32), sized(64), sized(35), "tensors are 2 times as large: [32,64] -> [64,64]"),
    "precision": (sized(32), sized(32, "double"), sized(32),
                  "products and convolutions compute in float64, where control has float32"),
    "cpu_or_gpu": (BASE, BASE + call("aten::relu", kernel="relu"), BASE + call("aten::relu"),
                   "control has no work on a device, test has"),
}

def program(of_step, steps=5):
    """A trace of steps, of which the first and the last are not compared."""
    events, correlation = [], 0

    def place(made, at):
        nonlocal correlation
        name, inside, us, fields = made
        end = at + 1
        for each in inside:
            end = place(each, end)
        fields = dict(fields)
        work = fields.pop("kernel", None)
        if work:
            correlation += 1
            events.extend([launch(end, 2, correlation), kernel(work, end + 5, 5, correlation)])
            end += 12
        end += us
        events.append(event(name, at, end - at, **fields))
        return end + 1

    at = 0
    for number in range(steps + 2):
        first, start = len(events), at
        for made in of_step:
            at = place(made, at)
        events.insert(first, step(number, start, at - start))
        at += 1
    return document(*events)


class Made(InFolder):
    def said(self, control, test):
        write("a.json", program(control))
        write("b.json", program(test))
        return dict(self.rows("SELECT pattern, sentence FROM trace_diagnoses('a.json', 'b.json')"
                              " WHERE pattern IS NOT NULL"))

    def test_what_is_changed(self):
        for pattern, (control, test, near, sentence) in CHANGES.items():
            with self.subTest(pattern):
                self.assertEqual(self.said(control, test).get(pattern), sentence)
            with self.subTest(pattern, swapped=True):
                back = self.said(test, control).get(pattern)
                self.assertIsNotNone(back)
                self.assertNotEqual(back, sentence)
            with self.subTest(pattern, near=True):
                self.assertNotIn(pattern, self.said(control, near))
            with self.subTest(pattern, same=True):
                self.assertEqual(self.said(test, test), {})


if __name__ == "__main__":
    unittest.main()
