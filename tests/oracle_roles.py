"""A second reading of what the names of processes and threads say of their events (T9)."""
GPU_PROCESSES = ("/device:GPU", "GPU ")
XLA_PROCESSES = (*GPU_PROCESSES, "/device:TPU", "/device:CUSTOM")
ASCEND_PROCESSES = ("Ascend Hardware", "Overlap Analysis", "Communication", "HCCL")
XLA_OPS = ("XLA Ops", "Sparse Core Ops")


def is_known(process):
    """Whether the name of a process is one of those of T9.2, or of XLA's host (T10.1)."""
    return process.startswith((*XLA_PROCESSES, "/host:")) or process in ASCEND_PROCESSES


def works(process, names, names_in_process):
    """Whether a thread of a device does its work (T9.5, T9.6)."""
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
