"""Patterns of sql/patterns (DG1) on a generated program: each pattern matches its pair, matches the swapped pair in the
other direction, and stays silent on a near miss that is one below its number.
"""
import unittest

from made import InFolder, document, event, kernel, launch, step, write
from test_thresholds import served

ENGINE = "autograd::engine::evaluate_function: "


def call(name, *inside, times=1, us=20, **fields):
    """A call with nested calls; a list stands for equal ones."""
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
    """The backward pass, in which one function recomputes these."""
    return FORWARD + backward("AddmmBackward0", *map(call, names)) + BACKWARD[1:] + FUSED


def checked(times):
    """A NaN check in each function of the engine, and more checks in the first one."""
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


def program(of_step, steps=5, **keys):
    """A trace of steps, with keys of the document; the first and the last step are not compared. An operator with a
    kernel, by name and us, ends after it.
    """
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
            events.extend([launch(end, 2, correlation), kernel(work[0], end + 5, work[1], correlation)])
            end += 7 + work[1]
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
    return document(*events, **keys)


def products(name, us, types=("float", "float")):
    """Matrix products by a kernel."""
    return BASE + [one for size in (8, 16) for one in call("aten::mm", kernel=(name, us), args={
        "Input Dims": [[size, size]] * 2, "Input type": list(types)})]


def kernels(*us):
    return BASE + [one for place, each in enumerate(us) for one in call("aten::relu", kernel=(f"kernel{place}", each))]


def on_host(us):
    """Operators of this length, with a small kernel each."""
    return [one for each in BASE[:8] for one in call(each[0], us=us, kernel=(each[0], 5), args={"Input Dims": [[8]]})]


def asked(*sizes, longer=1):
    """A server's trace with the sizes of requests."""
    return served(*[(size, [(name, longer * size / 8) for name, *_ in FORWARD]) for size in sizes] * 8)


def job(us, ranks=2):
    """The traces of ranks with collectives of this many us."""
    of_step = BASE + call("c10d::allreduce_", kernel=("ncclDevKernel_AllReduce_RING_LL", us), times=5)
    return [program(of_step, distributedInfo={"rank": rank, "world_size": ranks}) for rank in range(ranks)]


# {pattern: (control, test, near test, sentence)}
CHANGES = {
    "optimizer": (BASE, MODEL + optimizer(call("aten::_foreach_add_"), call("aten::_foreach_mul_")),
                  MODEL + optimizer(call("aten::_fused_adamw_", times=2)),
                  "AdamW.step uses foreach, control's is fused: 1 -> 2 operators"),
    "other_optimizer": (BASE, MODEL + optimizer(call("aten::_fused_adamw_"), name="SGD"), MODEL + FUSED,
                        "the optimizer is SGD.step, where control's is AdamW.step"),
    "checkpointing": (BASE, again("aten::linear", "aten::layer_norm"), again("aten::linear"),
                      "activation checkpointing is on: backward computes activations again"),
    "attention": (BASE + call("aten::_scaled_dot_product_flash_attention"),
                  BASE + calls("aten::_softmax", "aten::bmm", "aten::bmm"), BASE + calls("aten::_softmax", "aten::bmm"),
                  "attention is no longer fused (flash): written-out softmax, 1 per step"),
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
                  "matmuls and convolutions compute in float64, control's in float32"),
    "cpu_or_gpu": (BASE, BASE + call("aten::relu", kernel=("relu", 5)), BASE + call("aten::relu"),
                   "control has no work on a device, test has"),
    "allocator": (kernels(5), kernels(5) + call("cudaMalloc", times=4, us=10, cat="cuda_runtime"),
                  kernels(5) + call("cudaMalloc", times=4, us=1, cat="cuda_runtime"),
                  "device memory is allocated more often: 0 -> 4 calls per step, 0.0 -> 0.0 ms"),
    "cuda_graphs": (kernels(*[5] * 10), kernels(*[5] * 7) + call("cudaGraphLaunch", cat="cuda_runtime"),
                    kernels(*[5] * 8) + call("cudaGraphLaunch", cat="cuda_runtime"),
                    "CUDA graphs are replayed: 1 per step, other launches 10 -> 7"),
    "gpu_clock": (kernels(*[200] * 5), kernels(*[220] * 5), kernels(200, 205, 220, 230, 240),
                  "all kernels take 1.10 times as long, as with another clock"),
    "host_slower": (on_host(40), on_host(56), on_host(40)[:4] + on_host(80)[4:],
                    "the host is 1.31 times as slow throughout"),
    "kernel_rate": (products("gemm", 100), products("gemm", 130), products("gemm", 120),
                    "aten::mm 4.608e-05 -> 3.545e-05 TFLOP/s"),
    "nccl_kernel": (kernels(5) + call("c10d::allreduce_", kernel=("ncclDevKernel_AllReduce_RING_LL", 50)),
                    kernels(5) + call("c10d::allreduce_", kernel=("ncclDevKernel_AllReduce_TREE_LL", 50)),
                    kernels(5) + call("c10d::allreduce_", kernel=("ncclDevKernel_AllReduce_RING_LL", 70)),
                    "NCCL kernels: AllReduce_RING_LL -> AllReduce_TREE_LL"),
    "network": (job(100), job(150), job(110), "the same collectives transfer 1.50 times as long on all ranks"),
    "profiler": (program(BASE), program(BASE, with_stack=1), program(BASE, record_shapes=1),
                 "the profiler records more in test: with_stack"),
    "serving_mix": (asked(8, 32), asked(8, 32, 32), asked(8, 32, longer=1.2),
                    "the requests are others: their mix makes +4.500 ms per step"),
    "other_gpu": (program(kernels(5), deviceProperties=[{"id": 0, "name": "A"}]),
                  program(kernels(5), deviceProperties=[{"id": 0, "name": "B"}]), program(kernels(5)),
                  "other device: A -> B"),
    "other_kernels": (products("gemm_64", 100), products("gemm_128", 120), products("gemm_64", 120),
                      "other kernels compute the same aten::mm, of 2 shapes: 0.20 -> 0.24 ms"),
    "tf32": (products("ampere_sgemm", 100), products("tf32_s1688gemm", 60), products("ampere_sgemm_64", 60),
             "matrix products of float32 use TF32 now"),
}

class Made(InFolder):
    def said(self, *sides):
        """The sentences. Sides are the calls of a step, documents or, for a job, lists of them."""
        for path, side in zip("ab", sides):
            if isinstance(side, list) and isinstance(side[0], tuple):
                side = program(side)
            for rank, each in enumerate(side if isinstance(side, list) else [side]):
                write(f"{path}/{rank}.json", each)
        return dict(self.rows("SELECT pattern, sentence FROM trace_diagnoses('a', 'b') WHERE pattern IS NOT NULL"))

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
