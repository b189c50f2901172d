"""A second reading of the rules about names: of K1 to K4 (ext/trace/kernel_type.h), of stable names
(ext/trace/short_name.h) and of the names of steps (ext/trace/step_form.h).

Regular expressions, one a rule, on text; independent of the extension.

    kernel_type("ncclDevKernel_AllReduce", "kernel")    # "COMMUNICATION"
    stable_name("a.py(12): f")                          # "a.py: f"
    step_phase("step[DECODE bs=4]")                     # "decode"; None for other names
"""
import functools
import re

WORK = {"kernel", "Kernel", "gpu_memcpy", "gpu_memset", "Memcpy", "Memset", "mtia_ccp_events"}
MTIA_SYNC = {"event_wait", "event_record"}
COMMUNICATION = re.compile("|".join((
    r"(?<![a-z])(all_?reduce|all_?gather|all_?to_?all|all2all|reduce_?scatter)",
    r"All[Rr]educe|All[Gg]ather|All[Tt]o[Aa]ll|All2[Aa]ll|Reduce[Ss]catter",
    r"cross_device_(reduce|store)|quick_?reduce|(?<![a-z])multimem_",
    r"A2A(Prepare)?(Dispatch|Combine)|(?<![a-z])a2a_(dispatch|combine|send|recv)",
    r"ep::int(ra|er)node[A-Za-z0-9_]*::|ep[0-9]+int(ra|er)node",
    r"Ep(Dispatch|Combine)[A-Z]|(?<![a-z])pplx::",
    r"nvshmem|rocshmem|ishmem|symmetric_memory|(?<![a-z])(put|wait)_signal_kernel",
    r"msccl|oneccl|userbuffers|(?<![a-z])hcom_",
    r"(?<![a-z])(all-(reduce|gather|to-all)|reduce-scatter|collective-(permute|broadcast))")))
COMPUTATION = re.compile(
    r"(?i:(warp|block|thread|group|wave|cta|quad|lane)_?all_?reduce)|(?i:(?<!fb)gemm|matmul)"
    r"|(?<![A-Za-z])mm(?![A-Za-z])")


def head(name):
    """The part outside of brackets; `operator<` and its like are none, and `->` after a `)` ends it."""
    if name.startswith("_Z"):
        return name
    kept, opened, closed, at = [], [], False, 0
    while at < len(name):
        character = name[at]
        operator = re.compile(r"(?<![A-Za-z0-9_])operator(\(\)|<=>|<<=|>>=|<<|>>|<=|>=|->|<|>)").match(name, at)
        arrow = name.startswith("->", at)
        if operator:
            kept.append("" if opened else operator[0])
            at = operator.end()
            continue
        if not opened and name.startswith("(anonymous namespace)", at):
            at += len("(anonymous namespace)")
            at += 2 * name.startswith("::", at)
            continue
        if arrow and not opened and closed:
            break
        if arrow:
            kept.append("" if opened else "-")
            at += 1
        elif character in "<(":
            opened.append(character)
        elif character in ">)":
            opening = "<" if character == ">" else "("
            if opening in opened and not (character == ">" and opened[-1] == "("):
                while opened.pop() != opening:
                    pass
                closed |= not opened and character == ")"
        elif not opened:
            kept.append(character)
        at += 1
    return "".join(kept)


@functools.lru_cache(maxsize=10_000)
def kernel_type(name, cat=None):
    if cat is None and re.match(r"(hip)?Memcpy|(hip)?Memset|dma|CopyDeviceTo|CopyHostTo|MEMCPY_ASYNC", name):
        return "MEMORY"
    if cat in ("gpu_memcpy", "gpu_memset", "Memcpy", "Memset"):
        return "MEMORY"
    if cat is not None and cat not in WORK:
        return None
    if cat == "mtia_ccp_events" and name in MTIA_SYNC:
        return None
    if cat == "mtia_ccp_events" and name.startswith("dma"):
        return "MEMORY"
    if re.search("[nrh]ccl", name, re.IGNORECASE | re.ASCII):
        return "COMMUNICATION"
    return ("COMMUNICATION" if COMMUNICATION.search(head(name)) and not COMPUTATION.search(head(name)) else
            "COMPUTATION")


FIELD = r" [A-Za-z0-9_]+=(\[[^\]]*\](\.\.\.\+[0-9]+)?|[^ \[\]]+)"
COUNTS = [re.compile(pattern) for pattern in (
    r"execute_context_(?P<c>[0-9]+)\([0-9]+(_[0-9]+)?\)_generation_(?P<g>[0-9]+)\([0-9]+(_[0-9]+)?\)",
    r"execute_[0-9]+_context_(?P<c>[0-9]+)\(sq[0-9]+sk[0-9]+sqsq[0-9]+sqsk[0-9]+\)"
    r"_generation_(?P<g>[0-9]+)\(sq[0-9]+sk[0-9]+sqsq[0-9]+sqsk[0-9]+\)",
    r"execute_new_(?P<c>[0-9]+)_cached_(?P<g>[0-9]+)",
    r"\[Executor\] _forward_step( [0-9]+)?: (?P<c>[0-9]+) ctx reqs, ([0-9]+ ctx tokens, )?(?P<g>[0-9]+) gen reqs")]
MODE = re.compile(rf"step\[([A-Z0-9_]+)({FIELD})*\]")
BATCH = re.compile(rf"(eager_|dummy_)?(decode|prefill)\[bs=[0-9]+(/[0-9]+)? tok=[0-9]+(?P<rest>({FIELD})*)\]")
MODES = {"EXTEND": "prefill", "PREFILL": "prefill", "SPLIT_PREFILL": "prefill", "DLLM_EXTEND": "prefill",
         "TARGET_VERIFY": "verify", "DRAFT_EXTEND": "draft", "DRAFT_EXTEND_V2": "draft"}


def step_phase(name):
    for pattern in COUNTS:
        if counts := pattern.fullmatch(name):
            context, generation = int(counts["c"]) > 0, int(counts["g"]) > 0
            return "mixed" if context and generation else "prefill" if context else "decode" if generation else "idle"
    if mode := MODE.fullmatch(name):
        return MODES.get(mode[1], mode[1].lower())
    if batch := BATCH.fullmatch(name):
        if batch[1] == "dummy_":
            return "idle"
        mixed = any(int(number) > 0 for number in re.findall(r" p=([0-9]+)(?= |$)", batch["rest"]))
        return "prefill" if batch[2] == "prefill" else "mixed" if mixed else "decode"
    return "diffusion" if re.fullmatch(r"execute_diffusion_[0-9]+_[0-9]+x[0-9]+", name) else None


STABLE = [(re.compile(pattern, re.DOTALL), replacement) for pattern, replacement in (
    (r" at 0x[0-9a-fA-F]*", ""),
    (r"\([0-9]+\): ", ": "),
    (r"\A(ProfilerStep) ?#[0-9]+\Z", r"\1"),
    (r", (op_id|seq|stashed seq|stashed tid|sizes|input_op_ids|trace_id) = .*", ""),
    (r"\A((graph_[0-9]+_)?(triton_[a-z]+_fused|cpp_fused).*)_[0-9]+\Z", r"\1"),
    (r"\A(## Call CompiledFxGraph) f[a-z2-7]{51}( ##)\Z", r"\1\2"),
    (r"\A(Torch-Compiled Region: [0-9]+)/[0-9]+(_[0-9]+)?\Z", r"\1"),
    (r"\A((?!\.py: ).)*/[a-z2-7]{2}/c[a-z2-7]{50,51}(?=\.py: )", "inductor"),
    (r" of pybind11_builtins\.pybind11_detail_function_record_[A-Za-z0-9_]* object", ""))]


def stable_name(name):
    for pattern, replacement in STABLE:
        name = pattern.sub(replacement, name)
    phase = step_phase(name)
    return name if phase is None else "step: " + phase
