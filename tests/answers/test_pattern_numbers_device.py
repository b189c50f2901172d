"""Patterns of sql/patterns/device: both directions, near misses, and both sides of each number (pattern_facts)."""
import unittest

from made import document, event, kernel, launch, step
from pattern_facts import ANY, SILENT, Asking, Case, Said
from support import slow

OTHER = ("kernel SET {0}t = {1} WHERE {0} = 1;"
         " INSERT INTO kernel(op, name, {0}, {0}t) VALUES ('aten::mm', 'other', 1, {2})")
TO_DEVICE = {"class": "memory", "kind": "changed"}


def convolutions(last, channels=2, dims=4, every=50):
    """A trace of steps with convolutions, of which this many are channels-last."""
    of_last, of_first = ([16, 1, 8, 2], [16, 8, 4, 1]) if dims == 4 else ([16, 1, 8], [16, 8, 1])
    shape = [8, channels, 4, 4][:dims]
    events = []
    for number in range(3):
        at = 10000 * number
        events.append(step(number, at, 9999))
        for place in range(every):
            strides = [of_last if place < last else of_first, [48, 16, 4, 1]]
            events.append(event("aten::convolution", at + 10 * place, 5, args={
                "Input Dims": [shape, [8, 3, 4, 4]], "Input Strides": strides}))
    return document(*events)


def ran(of_steps, names="k"):
    """A trace of steps with us of kernels by name; each step begins and ends with the trace."""
    events, work = [], 0
    for number, kernels in enumerate(of_steps):
        at = 100000 * number
        events.append(step(number, at, 99999))
        for place, us in enumerate(kernels):
            work += 1
            events += [launch(at + 2 * place, 1, work), kernel(f"{names}{place}", at + 5000 * place + 100, us, work)]
    return document(*events)


def shared(late, of=10, base=100, control=()):
    """Control and test with one kernel per step, in which test, or control, is late by this many us."""
    def side(more):
        return ran([[base + us] for us in (*more, *[0] * (of - len(more)))])
    return side(control), side(late)


def few(runs):
    """Five kernels that run in each of three steps, or in this many steps of test, late by 1 ms twice."""
    return ran([[100] * 5] * 3), ran([[1100] * 5] * 2 + [[100] * 5] * (runs - 2))


def rated(*us, kinds="float", sizes=(1024, 1024), device="NVIDIA H200", operators=("aten::mul", "aten::mm")):
    """A trace of steps with operators on square matrices; each runs for this many us on the device."""
    events, work = [], 0
    for number in range(3):
        at = 10000 * number
        events.append(step(number, at, 9999))
        for place, (name, size, each) in enumerate(zip(operators, sizes, us)):
            work += 1
            args = {"Input Dims": [[size, size]] * 2, "Input type": [kinds] * 2}
            events += [event(name, at + 100 * place, 50, args=args), launch(at + 100 * place + 10, 5, work),
                       kernel("k", at + 1000 * place + 200, each, work)]
    return document(*events, deviceProperties=[{"id": 0, "name": device}])


CASES = {
    "allocator": Case(
        Said("device memory is allocated more often: 0 -> 4 calls per step, 0.0 -> 3.0 ms", "sizes vary", [1]),
        Said("device memory is allocated less often: 4 -> 0 calls per step, 3.0 -> 0.0 ms", None, [1]),
        {"op SET name = 'cudaFree', t = 1": Said(advice="memory is full"),
         "op SET t = 0.48": SILENT, "op SET t = 0.52": ANY,
         "op SET c = 10, t = 11.8": SILENT, "op SET c = 10, t = 12.2": ANY,
         "op SET tt = 190": SILENT, "op SET tt = 210": ANY,
         "pair SET control_of_host = 1": SILENT, "pair SET test_of_host = 1": SILENT},
        op=[("cudaMalloc", 0, 4, 0, 3000)], cause=[{"name": "cudaMalloc"}, {"name": "aten::mm"}]),
    "attention_backend": Case(
        Said("attention runs by cudnn where control runs flash, 1 per step", "sdpa_kernel", [1]),
        Said("attention runs by flash where control runs cudnn, 1 per step", "sdpa_kernel", [1]),
        {"op SET c = 0.5 * c, t = 0.5 * t": "attention runs by cudnn where control runs flash, 0.5 per step",
         "op SET t = 2 * t": SILENT},
        op=[("aten::_scaled_dot_product_flash_attention", 1, 0), ("aten::_scaled_dot_product_cudnn_attention", 0, 1)],
        cause=[{}, {}], cause_op=[(1, "aten::_scaled_dot_product_cudnn_attention"), (2, "aten::mm")]),
    "cpu_or_gpu": Case(
        Said("test has no work on a device, control has", "model.to", [1, 2]),
        Said("control has no work on a device, test has", "model.to", [1, 2]),
        {"pair SET control_of_host = 1": SILENT}, pair={"test_of_host": 1}, cause=[{}, {}]),
    "cuda_graphs": Case(
        Said("CUDA graphs are replayed: 1 per step, other launches 10 -> 7", None, [1, 2]),
        Said("CUDA graphs are not replayed any more: 1 -> 0 per step, launches 7 -> 10", "reduce-overhead", [1, 2]),
        {"op SET t = 7.9 WHERE name = 'cudaLaunchKernel'": ANY,
         "op SET t = 8.1 WHERE name = 'cudaLaunchKernel'": SILENT,
         "op SET c = 1 WHERE name = 'cudaGraphLaunch'": SILENT},
        op=[("cudaGraphLaunch", 0, 1), ("cudaLaunchKernel", 10, 7)],
        cause=[{"kind": "host late"}, {"kind": "queued"}, {"kind": "changed"}]),
    "gpu_clock": Case(
        Said("all kernels take 1.10 times as long, as with another clock", "nvidia-smi", [1]),
        Said("all kernels take 0.91 times as long, as with another clock", "nvidia-smi", [1]),
        {"clock SET rank = 0; cause SET rank = id; INSERT INTO clock VALUES (1, 'no change', 1.0)":
             Said("on rank 0 all kernels take 1.10 times as long, as with another clock", owns=[]),
         "clock SET rank = 1; cause SET rank = id; INSERT INTO clock VALUES (0, 'no change', 1.0)":
             Said("on rank 1 all kernels take 1.10 times as long, as with another clock", owns=[1]),
         "INSERT INTO clock VALUES (1, 'no change', 1.0), (2, 'one factor', 1.1)": SILENT,
         "INSERT INTO clock VALUES (2, 'one factor', 1.2)":
             "all kernels take 1.15 times as long, as with another clock",
         "clock SET factor = 3.4": ANY, "clock SET factor = 3.6": SILENT,
         "clock SET outcome = 'no common factor'": SILENT, "pair SET is_sure = 0": SILENT,
         "pair SET other_device = 1": SILENT},
        clock=[(None, "one factor", 1.1)],
        cause=[{"class": "compute"}, {"class": "compute", "added": 1}, {"class": "comm", "removed": 1}, {}]),
    "gpu_shared": [Case(
        Said("the GPU is shared: kernels are interrupted 1.0 times per step, 1.0 ms each", "nvidia-smi", [1, 2]),
        Said("the GPU was shared: kernels were interrupted 1.0 times per step, 1.0 ms each", "record control",
             [1, 2, 4]),
        {"pair SET alike = 0.91": ANY, "pair SET alike = 0.89": SILENT,
         "kernel SET tt = 1540": ANY, "kernel SET tt = 1460": SILENT,
         "kernel SET name = 'ncclAllReduce'": SILENT, "clock SET outcome = 'no change'": SILENT,
         "pair SET is_clear = 0": SILENT,
         "cause SET diff_time = -0.5 WHERE id = 2": ([1], [1, 4])},
        shared([1000] * 10), pair={"gap": 5000}, clock=[(None, "no common factor", None)],
        kernel=[(None, None, "k0", "COMPUTATION", None, None, 1, 1, 1000, 2000)],
        cause=[{"class": "compute"}, {"class": "memory", "diff_time": 0.5}, {}, {"class": "comm", "diff_time": 0}]),
        Case(ANY, ANY, [
            (shared([1000] * 9), SILENT),
            (few(3), ANY), (few(2), SILENT),
            (shared([510] * 10), ANY), (shared([490] * 10), SILENT),
            (shared([1020] * 10, base=2000), ANY), (shared([980] * 10, base=2000), SILENT),
            (shared([1000] * 11, of=12, control=[0] * 11 + [1000]), ANY),
            (shared([1000] * 10, of=12, control=[0] * 11 + [1000]), SILENT),
            (shared([1000] * 5 + [1200] * 5),
             "the GPU is shared: kernels are interrupted 1.0 times per step, 1.1 ms each"),
            (shared([1000] * 8 + [760] + [2000] * 3, of=12), ANY),
            (shared([1000] * 8 + [740] + [2000] * 3, of=12), SILENT),
            (shared([1000] * 8 + [1240] + [2000] * 3, of=12), ANY),
            (shared([1000] * 8 + [1260] + [2000] * 3, of=12), SILENT),
            (shared([1000] * 7 + [2000] * 3), SILENT)],
            shared([1000] * 10), clock=[(None, "no common factor", None)],
            kernel=[(None, None, "k0", "COMPUTATION", None, None, 1, 1, 1000, 2000)])],
    "kernel_rate": Case(
        Said("aten::mul 1258 -> 629.1 GB/s (26 -> 13 % of the peak)", "memory layout", []),
        Said("aten::mul 629.1 -> 1258 GB/s (13 -> 26 % of the peak)", "memory layout", []),
        [("cause SET diff_time = 890", SILENT), ("cause SET diff_time = 910", ANY),
         ("cause SET added = 1 WHERE class = 'compute'", SILENT),
         ("cause SET removed = 1 WHERE class = 'compute'", SILENT),
         ("cause SET class = 'memory'", SILENT), ("pair SET is_clear = 0", SILENT),
         ("pair SET other_device = 1", SILENT), ("cause_op SET name = 'aten::div'", SILENT),
         ("kernel SET tt = 1240", ANY), ("kernel SET tt = 1260", SILENT),
         ("kernel SET tt = 2000, t = 2", ANY), ("kernel SET tt = 2000, type = 'MEMORY'", ANY),
         ("kernel SET tt = 2000, top_op = 'aten::mul'", ANY), ("DELETE FROM kernel", ANY),
         ((rated(10, 99), rated(12.4, 99)), SILENT), ((rated(10, 99), rated(12.6, 99)), ANY),
         ((rated(10, 99), rated(20, 99, kinds="c10::Half")), SILENT),
         ((rated(10, 99), rated(20, 99, sizes=(2048, 1024))), SILENT),
         ((rated(10, 99), rated(20, 99, 20, operators=("aten::mul", "aten::mm", "aten::mul"),
                                sizes=(1024, 1024, 1024))), SILENT),
         ((rated(10, 99, kinds="list"), rated(20, 99, kinds="list")), SILENT),
         ((rated(10, 99, device="one"), rated(20, 99, device="one")), "aten::mul 1258 -> 629.1 GB/s"),
         ((rated(10, 99), rated(20, 44)), Said("aten::mm 21.69 -> 48.81 TFLOP/s (32 -> 73 % of the peak)", ANY, [])),
         ((rated(20, 99, device="one"), rated(20, 44, device="one")), "aten::mm 21.69 -> 48.81 TFLOP/s"),
         ((rated(20, 1, sizes=(1024, 32)), rated(20, 2, sizes=(1024, 32))),
          "aten::mm 12.29 -> 6.144 GB/s (0 -> 0 % of the peak)")],
        (rated(10, 99), rated(20, 99)), pair={"gap": 9000},
        kernel=[("aten::add", "aten::add", "k", "COMPUTATION", None, None, 1, 1, 1000, 1000)],
        cause=[{"class": "compute"}, {"class": "compute"}, {}],
        cause_op=[(1, "aten::mul"), (2, "aten::mm"), (3, "aten::mul")]),
    "memory_format": [Case(
        Said("convolutions change the layout more often: 0 -> 2 times per step, 0.00 -> 2.00 ms", "channels_last", [1]),
        Said("convolutions change the layout less often: 2 -> 0 times per step, 2.00 -> 0.00 ms", "channels_last", [1]),
        {"kernel SET t = 1": ANY, "kernel SET t = 0.9": SILENT,
         "kernel SET c = 10, t = 15.2": ANY, "kernel SET c = 10, t = 14.8": SILENT,
         "kernel SET tt = 105": ANY, "kernel SET tt = 95": SILENT, "pair SET other_device = 1": SILENT,
         "kernel SET op = 'aten::mm'": SILENT},
        kernel=[(None, "aten::cudnn_convolution", "nchwToNhwcKernel", "COMPUTATION", None, None, 0, 2, 0, 2000)],
        cause=[{"class": "compute"}, {"class": "compute"}], cause_op=[(1, "aten::conv2d"), (2, "aten::mm")]),
        Case(
        Said("convolutions compute in channels_last, where control has NCHW", None, [1]),
        Said("convolutions compute in NCHW, where control has channels_last", "channels_last", [1]),
        [((convolutions(0), convolutions(42)), ANY), ((convolutions(0), convolutions(38)), SILENT),
         ((convolutions(0, channels=1), convolutions(50, channels=1)), SILENT),
         ((convolutions(0, dims=3), convolutions(50, dims=3)), SILENT),
         ("op SET t = 51", SILENT), ("pair SET of_host = 0", SILENT)],
        (convolutions(0), convolutions(50)), pair={"of_host": 1}, op=[("aten::convolution", 50, 50)],
        cause=[{}, {}], cause_op=[(1, "aten::batch_norm"), (2, "aten::mm")])],
    "other_gpu": Case(
        Said("other device: A -> B", "compare on one device", [1]),
        Said("other device: B -> A", "compare on one device", [1]),
        {"pair SET alike = 0.52": [1], "pair SET alike = 0.48": ([], []), "note SET same = 1": SILENT,
         "note SET test_value = ''": SILENT, "note SET item = 'count'": SILENT},
        note=[("device", "name", "A", "B", 0)], cause=[{"class": "compute"}, {"class": "idle_host"}]),
    "other_kernels": Case(
        Said("other kernels compute the same aten::mm, of 1 shapes: 1.00 -> 2.00 ms", "versions of CUDA", [1]),
        Said("other kernels compute the same aten::mm, of 1 shapes: 2.00 -> 1.00 ms", "versions of CUDA", [1]),
        {"kernel SET c = 1 WHERE c = 0": SILENT, "kernel SET c = 3 WHERE c = 2": SILENT,
         "kernel SET shapes = NULL": SILENT,
         "cause SET diff_time = 1950": [1], "cause SET diff_time = 2050": ([], []),
         "kernel SET tt = 1210 WHERE t = 2": ANY, "kernel SET tt = 1190 WHERE t = 2": SILENT,
         "pair SET other_device = 1": SILENT},
        kernel=[("aten::mm", "aten::mm", name, "COMPUTATION", "[[8,8]]", "[]", c, t, 500 * c, 1000 * t)
                for name, c, t in (("a", 2, 0), ("b", 0, 2))],
        cause=[{"class": "compute"}, {"class": "compute"}], cause_op=[(1, "aten::mm"), (2, "aten::bmm")]),
    "pageable": Case(
        Said("copies from the host are no longer pinned: 1.00 -> 3.00 ms", "pin_memory", [1]),
        Said("copies from the host are pinned now: 3.00 -> 1.00 ms", None, [1]),
        {"op SET c = c / 4.0, t = t / 4.0": (
            Said("copies from the host are no longer pinned: 1.00 -> 3.00 ms", "pin_memory"),
            Said("copies from the host are pinned now: 3.00 -> 1.00 ms", None)),
         "op SET c = c + 1, t = t + 1 WHERE name GLOB '*Pinned*'": SILENT,
         "op SET t = 1 WHERE name GLOB '*Pageable*'": SILENT},
        op=[("Memcpy HtoD (Pinned -> Device)", 2, 0, 1000, 0), ("Memcpy HtoD (Pageable -> Device)", 0, 2, 0, 3000)],
        cause=[TO_DEVICE, TO_DEVICE], cause_op=[(1, "aten::to"), (2, "aten::mm")]),
    "prefetch": Case(
        Said("the copy to the device is not hidden any more: 0.40 ms", "a stream of its own", [1]),
        Said("the copy to the device is hidden now: 0.40 ms on a stream of its own", None, [1]),
        {"INSERT INTO stream VALUES ('k2', 'COMPUTATION', 20, 1, 1, 520, 520)": ANY,
         "INSERT INTO stream VALUES ('k2', 'COMPUTATION', 20, 1, 1, 600, 600)": SILENT,
         "stream SET tt = 330 WHERE tt = 400": ANY, "stream SET tt = 310 WHERE tt = 400": SILENT,
         "stream SET tt = 490 WHERE tt = 400": ANY, "stream SET tt = 510 WHERE tt = 400": SILENT,
         "cause SET diff_time = 125": ANY, "cause SET diff_time = 115": SILENT,
         "pair SET control_ms = 39, test_ms = 39": ANY, "pair SET control_ms = 41, test_ms = 41": SILENT,
         "stream SET c = 1, t = 2 WHERE tt = 400; stream SET c = 2, t = 1 WHERE ct = 400": SILENT,
         "stream SET stream = 20 WHERE tt = 400": SILENT},
        stream=[("k", "COMPUTATION", 7, 5, 5, 5000, 5000), ("Memcpy HtoD", "MEMORY", 20, 1, 0, 400, 0),
                ("Memcpy HtoD", "MEMORY", 7, 0, 1, 0, 400)],
        cause=[{**TO_DEVICE, "diff_time": 300}], cause_op=[(1, "aten::copy_")]),
    "synchronization": Case(
        Said("the host waits for the device more often: 0 -> 2 per step (aten::item 0 -> 2)", "avoid .item()", [1, 3]),
        Said("the host waits for the device less often: 2 -> 0 per step (aten::item 2 -> 0)", "avoid .item()", [1, 3]),
        {"op SET t = 0.52 WHERE name GLOB 'cuda*'": ANY, "op SET t = 0.48 WHERE name GLOB 'cuda*'": SILENT,
         "op SET c = 10, t = 12.2 WHERE name GLOB 'cuda*'": ANY,
         "op SET c = 10, t = 11.8 WHERE name GLOB 'cuda*'": SILENT,
         "cause SET diff_time = 21 WHERE id = 1": ANY, "cause SET diff_time = 19 WHERE id = 1": SILENT,
         "DELETE FROM cause WHERE id <> 3; pair SET control_ms = 0.1, test_ms = 0.1": ANY,
         "DELETE FROM cause WHERE id <> 2; pair SET control_ms = 0.1, test_ms = 0.1": SILENT,
         "cause SET kind = 'changed'": SILENT, "pair SET control_of_host = 1": SILENT,
         "pair SET test_of_host = 1": SILENT},
        op=[("cudaStreamSynchronize", 0, 2), ("aten::item", 0, 2), ("aten::to", 0, 1)],
        cause=[{"kind": "synchronized", "diff_time": us} for us in (500, -0.5, 0.5)]),
    "tf32": Case(
        Said("matrix products of float32 do not use TF32 any more", "matmul_precision", [1]),
        Said("matrix products of float32 use TF32 now", "10 bits", [1]),
        {OTHER.format("c", 620, 380): ANY, OTHER.format("c", 580, 420): SILENT,
         OTHER.format("t", 620, 380): ANY, OTHER.format("t", 580, 420): SILENT,
         "kernel SET types = '[\"float\",\"c10::Half\"]'": SILENT, "pair SET other_device = 1": SILENT,
         "kernel SET op = 'aten::add'": SILENT},
        kernel=[("aten::mm", "aten::mm", name, "COMPUTATION", "[]", '["int","float"]', c, t, 1000 * c, 1000 * t)
                for name, c, t in (("ampere_tf32_s1688gemm", 1, 0), ("ampere_sgemm", 0, 1))],
        cause=[{"class": "compute"}, {"class": "compute"}], cause_op=[(1, "aten::mm"), (2, "aten::add")]),
}


class OfDevice(Asking):
    FOLDER = "device"
    CASES = CASES

    def test_both_sides_of_each_number(self):
        self.check()

    @slow
    def test_each_number_matters(self):
        self.check_numbers()


if __name__ == "__main__":
    unittest.main()
