"""Shares of a device's peak (F9), and the table of peaks."""
import random
import unittest

import oracle
import oracle_work
from made import InFolder, document, event, kernel, launch, write
from support import series
from test_work import random_call

H200 = {"float64": 66.9, "float32": 66.9, "tf32": 494.7, "float16": 989.4, "bfloat16": 989.4, "float8": 1978.9,
        "int8": 1978.9, "memory": 4800}
TYPES = {"float": "float32", "double": "float64", "c10::Half": "float16", "c10::BFloat16": "bfloat16",
         "c10::Float8_e4m3fn": "float8", "signed char": "int8"}
SHARES = "control_flops_pct, control_gbs_pct, control_bound"


def on(device, *events):
    """A trace of devices with these names."""
    names = [device] if isinstance(device, str) else device
    return document(*events, deviceProperties=[{"id": number, "name": name} for number, name in enumerate(names)])


def product(name, types="c10::BFloat16", size=1024, dur=10, work="gemm", at=0, correlation=1):
    """A square matrix product, or another operator of two matrices, and its kernel."""
    args = {"Input Dims": [[size, size], [size, size]], "Input type": [types, types]}
    return [event(name, at, 50, args=args), launch(at + 10, 5, correlation), kernel(work, at + 100, dur, correlation)]


class Table(InFolder):
    def test_rows_are_of_one_device_and_type(self):
        rows = self.rows("SELECT device, type, peak, unit, source FROM trace_device_peaks")
        self.assertEqual(len({row[:2] for row in rows}), len(rows))
        self.assertEqual({row[1] for row in rows}, set(H200))
        for device, type_, peak, unit, source in rows:
            self.assertEqual(unit, "GB/s" if type_ == "memory" else "TFLOP/s")
            self.assertTrue(peak > 0 and source, device)

    def test_peaks_of_narrower_types_are_not_lower(self):
        for device, in self.rows("SELECT DISTINCT device FROM trace_device_peaks"):
            peaks = dict(self.rows("SELECT type, peak FROM trace_device_peaks WHERE device = ?", device))
            order = [peaks[each] for each in ("float64", "float32", "tf32", "bfloat16", "float16", "float8", "int8")
                     if each in peaks]
            self.assertEqual(order, sorted(order), device)

    def test_names_are_those_of_traces(self):
        for name, memory in (("NVIDIA H200", 4800), ("NVIDIA H100 80GB HBM3", 3350), ("NVIDIA A100-SXM4-80GB", 2039),
                             ("A100-SXM4-40GB", 1555), ("Tesla V100-SXM2-32GB", 900), ("NVIDIA L40", 864),
                             ("AMD Instinct MI300X", 5300), ("NVIDIA GeForce RTX 4090", 1008), ("Tesla T4", 320)):
            found = self.rows("SELECT peak FROM trace_device_peaks(?) WHERE type = 'memory'", name)
            self.assertEqual(found, [(memory,)])

    def test_a_part_of_a_device_and_others_are_not_known(self):
        for name in ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "NVIDIA GeForce RTX 4090 D", "AMD Radeon Graphics", "L4", ""):
            self.assertEqual(self.rows("SELECT * FROM trace_device_peaks(?)", name), [], name)


class Shares(InFolder):
    def shares(self, *events, device="NVIDIA H200", keys="op"):
        write("a.json", on(device, *events))
        rows = self.rows(f"SELECT {SHARES} FROM trace_diff_by('a.json', 'a.json', ?, 0, 0, 'all', 'all', 'GPU')", keys)
        return rows[0] if len(rows) == 1 else rows

    def expect(self, found, flops, gbs, bound):
        for ours, theirs in zip(found, (flops, gbs)):
            self.assertEqual(ours is None, theirs is None)
            self.assertAlmostEqual(ours or 0, theirs or 0, places=9)
        self.assertEqual(found[2], bound)

    def test_by_arithmetic(self):
        """The shares follow from arithmetic: 2 * 1024^3 FLOPs and 3 * 1024^2 * 2 bytes in 10 us."""
        self.expect(self.shares(*product("aten::mm")), 2 * 1024 ** 3 / 10e-6 / 989.4e12 * 100,
                    6 * 1024 ** 2 / 10e-6 / 4800e9 * 100, "compute")

    def test_types_have_their_peaks(self):
        """F9.1: each type has its own peak."""
        for types, peak in TYPES.items():
            flops = self.shares(*product("aten::mm", types))[0]
            self.assertAlmostEqual(flops, 2 * 1024 ** 3 / 10e-6 / (H200[peak] * 1e12) * 100, msg=types)
        self.assertIsNone(self.shares(*product("aten::mm", "long int"))[0])

    def test_only_names_of_kernels_show_tf32(self):
        """F9.2: only names of kernels show TF32."""
        rate = 2 * 1024 ** 3 / 10e-6 / 1e12 * 100
        for name, peak in (("ampere_sgemm_128x64_nn", "float32"), ("sm80_xmma_gemm_f32f32_tf32f32_f32_nn", "tf32"),
                           ("cutlass_80_tensorop_s1688gemm_128x128_nn", "tf32"), ("nvjet_sss_128x64", "float32"),
                           ("cutlass_80_simt_sgemm_128x128", "float32"), ("sm90_TF32TF32F32", "tf32")):
            share = self.shares(*product("aten::mm", "float", work=name))[0]
            self.assertAlmostEqual(share, rate / H200[peak], msg=name)
        half = self.shares(*product("aten::mm", "c10::Half", work="turing_fp16_tensorop_s1688gemm_fp16_tf32"))[0]
        self.assertAlmostEqual(half, rate / H200["float16"])

    def test_the_larger_time_at_the_peak_bounds(self):
        """F9.3: the larger time at the peak is the bound; a small matrix takes longer to read than to multiply."""
        self.assertEqual(self.shares(*product("aten::mm", size=64))[2], "memory")
        self.assertEqual(self.shares(*product("aten::add"))[::2], (None, "memory"))
        self.assertEqual(self.shares(*product("aten::_scaled_mm", "c10::Float8_e4m3fn"))[1:], (None, None))
        self.assertEqual(self.shares(*product("aten::sort")), (None, None, None))

    def test_times_at_the_peak_add_up(self):
        """Times at the peak of several types in one row add up, without types that have no peak."""
        events = product("aten::mm") + product("aten::mm", "float", dur=30, at=500, correlation=2)
        flops = 2 * 1024 ** 3 * (1 / 989.4 + 1 / 66.9) / 1e6
        known = self.shares(*events)
        self.assertAlmostEqual(known[0], flops / 40 * 100)
        self.assertEqual(known[2], "compute")
        events += product("aten::mm", "long int", at=1000, correlation=3)
        unknown = self.shares(*events)
        self.assertAlmostEqual(unknown[0], known[0])
        self.assertEqual(unknown[2], None)

    def test_devices_that_are_not_known_give_null(self):
        for device in ("AMD Radeon Graphics", ["NVIDIA H200", "Tesla T4"], [], [None], ["NVIDIA H200", None]):
            self.assertEqual(self.shares(*product("aten::mm"), device=device), (None, None, None), device)
        write("b.json", document(*product("aten::mm")))
        self.assertEqual(self.rows("SELECT control_flops_pct, control_tflops > 0 FROM"
                                   " trace_diff_by('b.json', 'b.json', 'op', 0, 0, 'all', 'all', 'GPU')"), [(None, 1)])

    def test_equal_names_are_one_device(self):
        one = self.shares(*product("aten::mm"))
        self.assertEqual(self.shares(*product("aten::mm"), device=["NVIDIA H200"] * 8), one)

    def test_networks_and_the_bus_of_the_host_have_no_peak(self):
        """F9.1: networks and the host's bus have no peak."""
        args = {"Collective name": "allreduce", "In msg nelems": 4096, "Out msg nelems": 4096, "Group size": 2,
                "dtype": "Float"}
        reduce = kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 100, 10, 1)
        reduce["args"].update(args)
        self.assertEqual(self.shares(launch(10, 5, 1), reduce), (None, None, None))
        self.assertEqual(self.value("SELECT control_gbs > 0 FROM trace_diff_by('a.json', 'a.json', 'op')"
                                    " WHERE control_bytes"), 1)
        for name, known in (("Memcpy HtoD (Pageable -> Device)", False), ("Memcpy DtoH (Device -> Pinned)", False),
                            ("Memcpy DtoD (Device -> Device)", True)):
            share = self.shares(*product("aten::copy_", work=name))
            self.assertEqual(share[1] is not None, known, name)
        events = product("aten::copy_", work="Memcpy DtoD (Device -> Device)")
        alone = self.shares(*events)
        events += product("aten::copy_", work="Memcpy HtoD (Pageable -> Device)", at=500, dur=900, correlation=2)
        self.assertEqual(self.shares(*events), alone)

    def test_a_temp_table_takes_the_place(self):
        before = self.shares(*product("aten::mm"))
        self.db.execute("CREATE TABLE trace_device_peaks AS SELECT '%H200' AS device, 'bfloat16' AS type, 1 AS peak")
        self.assertEqual(self.shares(*product("aten::mm")), before)  # only one of the user
        self.db.execute("DROP TABLE trace_device_peaks")
        self.db.execute("CREATE TEMP TABLE trace_device_peaks AS SELECT * FROM trace_device_peaks")
        self.assertEqual(self.shares(*product("aten::mm")), before)
        self.db.execute("INSERT INTO trace_device_peaks VALUES ('%H200', 'bfloat16', 494.7, 'TFLOP/s', 'mine')")
        self.assertAlmostEqual(self.shares(*product("aten::mm"))[0], 2 * before[0])
        self.db.execute("INSERT INTO trace_device_peaks VALUES ('My device', 'memory', 1, 'GB/s', 'mine')")
        self.assertEqual(self.shares(*product("aten::mm"), device="My device")[::2], (None, None))
        self.assertAlmostEqual(self.shares(*product("aten::add"), device="My device")[1],
                               6 * 1024 ** 2 / 10e-6 / 1e9 * 100)
        self.db.execute("DROP TABLE temp.trace_device_peaks")
        self.assertEqual(self.shares(*product("aten::mm")), before)
        self.db.execute("CREATE TEMP TABLE trace_device_peaks (x)")
        self.assertEqual(self.shares(*product("aten::mm")), before)  # another kind of table

    def test_sides_have_their_own_devices(self):
        for name, device in (("a.json", "NVIDIA H200"), ("b.json", "NVIDIA A100-SXM4-80GB")):
            write(name, on(device, *product("aten::mm")))
        (control, test), = self.rows("SELECT control_flops_pct, test_flops_pct FROM trace_diff_by('a.json', 'b.json',"
                                     " 'op', 0, 0, 'all', 'all', 'GPU')")
        self.assertAlmostEqual(test / control, 989.4 / 312)

    def test_random_operators(self):
        """Random operators agree with oracle_work.py, and peaks with the types that it reads."""
        for seed in range(series(20, 200)):
            rng, events = random.Random(seed), []
            for number in range(rng.randrange(1, 20)):
                name, args = random_call(rng)
                events += [event(name, 1000 * number, 500, args=args), launch(1000 * number + 10, 5, number),
                           kernel(rng.choice(("gemm", "tf32_gemm")), 1000 * number + 600, rng.randrange(1, 90), number)]
            path = write(f"{seed}.json", on("NVIDIA H200", *events))
            file = oracle.read_trace(path).files[0]
            of = {}
            for place, (flops, amount) in oracle_work.Work(file).shares.items():
                operator, work = events[place - 2], events[place]
                types = operator["args"].get("Input type") or []
                type_ = next((TYPES[each] for each in types if each in TYPES), None)
                type_ = "tf32" if type_ == "float32" and "tf32" in work["name"] else type_
                sums = of.setdefault(operator["name"], [0, 0, 0, 0])
                if flops is not None and type_:
                    sums[0] += flops / (H200[type_] * 1e6)
                    sums[1] += work["dur"]
                if amount is not None:
                    sums[2] += amount / (H200["memory"] * 1e3)
                    sums[3] += work["dur"]
            for name, flops, gbs in self.rows(
                    "SELECT op, control_flops_pct, control_gbs_pct FROM trace_diff_by(?, ?, 'op', 0, 0, 'all', 'all',"
                    " 'GPU')", path, path):
                ideal_flops, flops_time, ideal_gbs, gbs_time = of.get(name, (0, 0, 0, 0))
                for ours, ideal, time in ((flops, ideal_flops, flops_time), (gbs, ideal_gbs, gbs_time)):
                    expected = 100 * ideal / time if time else None
                    self.assertEqual(ours is None, expected is None, (seed, name))
                    self.assertAlmostEqual(ours or 0, expected or 0, msg=(seed, name))


if __name__ == "__main__":
    unittest.main()
