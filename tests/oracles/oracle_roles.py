"""An independent implementation of the roles of events, from categories and the names of processes and threads (T9,
T10), and of profiler steps (T11).
"""
import functools
import re

STEP_NAME = re.compile(r"ProfilerStep ?#([0-9]+)")
GPU_PROCESSES = ("/device:GPU", "GPU ")
XLA_PROCESSES = (*GPU_PROCESSES, "/device:TPU", "/device:CUSTOM")
ASCEND_PROCESSES = ("Ascend Hardware", "Overlap Analysis", "Communication", "HCCL")
XLA_OPS = ("XLA Ops", "Sparse Core Ops")


def is_known(process):
    """Whether the name of a process is listed in T9.2, or is XLA's host (T10.1)."""
    return process.startswith((*XLA_PROCESSES, "/host:")) or process in ASCEND_PROCESSES


def works(process, names, names_in_process):
    """Whether a device's thread runs its work (T9.5, T9.6)."""
    if process in ASCEND_PROCESSES:
        return process == "Ascend Hardware" or (
            process in ("Communication", "HCCL") and any("Communication" in name for name in names))

    def any_stream(among):
        return any(name.startswith("Stream #") for name in among)

    def any_ops(among):
        return any(name in XLA_OPS for name in among)

    if any_stream(names_in_process):
        return any_stream(names)
    if any_ops(names_in_process):
        return any_ops(names)
    return process.startswith(GPU_PROCESSES)


def int64(value):
    return int(value) if value is not None and -2**63 <= value < 2**63 else None


def is_call(row):  # T10
    if row.cat is None:
        return row.device == "CPU" and row.correlation is not None and (row.process or "").startswith("/host:")
    return row.cat in ("cuda_driver", "Runtime") or row.cat.endswith("_runtime")


@functools.lru_cache(maxsize=10_000)
def number_in(name):
    match = STEP_NAME.fullmatch(name)
    return int64(int(match[1])) if match else None


def step_number(row):
    told = (row.device == "CPU" and row.cat is None and row.name is not None and row.correlation is None
            and (row.process or "").startswith("/host:") and row.step_num is not None and row.step_num >= 0)
    return row.step_num if told else number_in(row.name or "")


def is_step(row):  # T11
    return row.device == "CPU" and step_number(row) is not None and row.ts_ns is not None and row.dur_ns is not None


def is_counted(row):  # T4
    return row.dur_ns is not None and row.name is not None and row.cat != "Trace"
