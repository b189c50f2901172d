"""Random documents in the format of rocprofv3 with `--output-format json`, valid and invalid.

    document = generate(random.Random(7))
    /usr/bin/python3 tests/generators/generate_rocprof.py 7 x_results.json
"""
import json
import random
import sys

from generate_nsys import IDS, INPUTS, NO_STEPS, OPERATORS, SEQUENCES, SIZES, STEPS
from generate_rocpd import COPIES

KINDS = (("NONE", ()), ("HSA_CORE_API", ("hsa_init", "hsa_queue_create")), ("HIP_RUNTIME_API", ("hipLaunchKernel",
         "hipMemcpyAsync")), ("MARKER_CORE_API", ("roctxMarkA", "roctxRangePushA")), ("MARKER_CONTROL_API", ("pause",)),
         ("RCCL_API", ("ncclAllReduce",)), ("KERNEL_DISPATCH", ("NONE", "ENQUEUE", "COMPLETE")),
         ("MEMORY_COPY", COPIES), ("KFD_EVENTS", ("x",)), ("hip_compiler_api", ("__hipPop",)))
ARRAYS = ("kernel_dispatch", "hip_api", "hsa_api", "marker_api", "rccl_api", "memory_copy", "memory_allocation",
          "scratch_memory", "rocdecode_api", "pc_sample_host_trap")
OF_ARRAY = {"hip_api": (2, 9), "hsa_api": (1,), "marker_api": (3, 3, 4), "rccl_api": (5,), "rocdecode_api": (8, 0)}
ODD = (None, "7", 1.5, -1, 2**63, True, [], {}, {"handle": "x"}, 10**30)


class Made:
    def __init__(self, rng, tidy=False):
        self.rng, self.odd = rng, 0 if tidy else rng.choice((0, 0, 0.01, 0.05))
        self.markers = []

    def value(self, value):
        if self.odd and self.rng.random() < self.odd:
            return self.rng.choice(ODD)
        return value

    def record(self, key, correlation):
        rng = self.rng
        at = rng.randrange(5000)
        kind = rng.choice(OF_ARRAY.get(key, (6,)))
        record = {"size": 8, "kind": kind, "operation": rng.randrange(2), "thread_id": rng.choice((908, 909)),
                  "correlation_id": {"internal": correlation, "external": 0}, "start_timestamp": at,
                  "end_timestamp": at + rng.choice((0, 5, 300))}
        handles = [{"handle": handle} for handle in (37944, 37945, 37946)]
        if key == "kernel_dispatch":
            sizes = [{axis: self.value(rng.choice((1, 64, 256))) for axis in "xyz"} for _ in range(2)]
            record["dispatch_info"] = {"agent_id": self.value(handles[1]), "queue_id": {"handle": rng.randrange(3)},
                                       "kernel_id": self.value(rng.randrange(5)), "workgroup_size": sizes[0],
                                       "grid_size": self.value(sizes[1])}
        if key == "memory_copy":
            record.update(kind=7, operation=rng.randrange(len(COPIES)), dst_agent_id=self.value(rng.choice(handles)),
                          src_agent_id=self.value(rng.choice(handles)), bytes=self.value(rng.choice((0, 7, 65536))))
        if key in ("kernel_dispatch", "memory_copy"):
            record["stream_id"] = self.value({"handle": rng.randrange(3)})
        if key == "marker_api" and rng.random() < 0.9:
            text = rng.choice(STEPS).format(correlation) if rng.random() < 0.3 else rng.choice(OPERATORS) + "".join(
                map(rng.choice, (SEQUENCES, IDS, SIZES, INPUTS)))
            text = rng.choice((text, text, rng.choice(NO_STEPS)))
            self.markers.append({"key": correlation, "value": self.value(text)})
        return self.value({name: self.value(value) for name, value in record.items()})

    def grow(self):
        rng = self.rng
        arrays = {key: [self.record(key, rng.randrange(1, 30)) for _ in range(rng.randrange(12))] for key in ARRAYS}
        symbols = [{"kernel_id": number, "kernel_name": f"_Zk{number}.kd", "formatted_kernel_name": f"k{number}(int)",
                    "demangled_kernel_name": f"k{number}(int) [clone .kd]"} for number in range(4)]
        del symbols[3]["formatted_kernel_name"]
        tool = {"metadata": {"node": {"hostname": "caf\u00e9"}, "pid": self.value(908), "command": ["x", {"y": [1]}]},
                "agents": [{"id": {"handle": 37944 + number}, "type": type_, "logical_node_type_id": self.value(index)}
                           for number, type_, index in ((0, 1, 0), (1, 2, 0), (2, 2, 1))],
                "counters": [], "strings": {
                    "callback_records": [], "buffer_records": [{"kind": kind, "operations": list(operations)}
                                                               for kind, operations in KINDS],
                    "marker_api": self.markers, "correlation_id": {"external": []}},
                "code_objects": [{"uri": "x" * 99}], "kernel_symbols": symbols, "host_functions": [], "summary": [],
                "callback_records": {"counter_collection": [{"a": [[1]]}]}, "buffer_records": arrays}
        return {"rocprofiler-sdk-tool": [tool]}


def generate(rng, **settings):
    return Made(rng, **settings).grow()


if __name__ == "__main__":
    with open(sys.argv[2], "w", encoding="utf-8") as made:
        json.dump(generate(random.Random(int(sys.argv[1]))), made)
