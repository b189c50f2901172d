"""An independent implementation of the rules about names: K1 to K4 (ext/file/kernel_type.h), stable names
(ext/naming/short_name.h) and names of steps (ext/naming/step_form.h).

It uses regular expressions on text, one per rule.

    kernel_type("ncclDevKernel_AllReduce", "kernel")    # "COMMUNICATION"
    stable_name("a.py(12): f")                          # "a.py: f"
    step_phase("step[DECODE bs=4]")                     # "decode"; None for other names
    stratum(step_form("step[DECODE bs=9]"))             # "decode 10"
"""
import functools
import re
from collections import namedtuple

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
    """The part outside brackets; `operator<` and similar names are not brackets, and `->` after a `)` ends it."""
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
    if name.startswith(("__amd_rocclr_copyBuffer", "__amd_rocclr_fillBuffer")):
        return "MEMORY"
    if re.search("[nrh]ccl", name, re.IGNORECASE | re.ASCII):
        return "COMMUNICATION"
    return ("COMMUNICATION" if COMMUNICATION.search(head(name)) and not COMPUTATION.search(head(name)) else
            "COMPUTATION")


FIELD = r" [A-Za-z0-9_]+=(\[[^\]]*\](\.\.\.\+[0-9]+)?|[^ \[\]]+)"
COUNTS = [re.compile(pattern) for pattern in (
    r"execute_context_(?P<c>[0-9]+)\((?P<t>[0-9]+)(_[0-9]+)?\)_generation_(?P<g>[0-9]+)\((?P<u>[0-9]+)(_[0-9]+)?\)",
    r"execute_[0-9]+_context_(?P<c>[0-9]+)\(sq(?P<t>[0-9]+)sk[0-9]+sqsq[0-9]+sqsk[0-9]+\)"
    r"_generation_(?P<g>[0-9]+)\(sq(?P<u>[0-9]+)sk[0-9]+sqsq[0-9]+sqsk[0-9]+\)",
    r"execute_new_(?P<c>[0-9]+)_cached_(?P<g>[0-9]+)",
    r"\[Executor\] _forward_step( [0-9]+)?: (?P<c>[0-9]+) ctx reqs, ((?P<t>[0-9]+) ctx tokens, )?"
    r"(?P<g>[0-9]+) gen reqs")]
MODE = re.compile(rf"step\[([A-Z0-9_]+)(?P<rest>({FIELD})*)\]")
BATCH = re.compile(rf"(eager_|dummy_)?(decode|prefill)\[bs=(?P<b>[0-9]+)(/(?P<p>[0-9]+))? tok=(?P<t>[0-9]+)"
                   rf"(?P<rest>({FIELD})*)\]")
DIFFUSION = re.compile(r"execute_diffusion_(?P<b>[0-9]+)_(?P<w>[0-9]+)x(?P<h>[0-9]+)")
MODES = {"EXTEND": "prefill", "PREFILL": "prefill", "SPLIT_PREFILL": "prefill", "DLLM_EXTEND": "prefill",
         "TARGET_VERIFY": "verify", "DRAFT_EXTEND": "draft", "DRAFT_EXTEND_V2": "draft"}
BY_BATCH = ("decode", "verify", "draft", "idle")  # phases whose size is the batch (T22.3)

Form = namedtuple("Form", "phase batch padded tokens")


def whole(digits):
    """A number that fits 64 bits, else None."""
    return int(digits) if digits is not None and int(digits) < 2**63 else None


def total(*parts):
    """The sum of the known values; None if there are none, or beyond 64 bits."""
    parts = [int(part) for part in parts if part is not None]
    return whole(sum(parts)) if parts else None


def fields(rest):
    """[(key, digits)] for ` KEY=VALUE ...` with a numeric value."""
    pairs = [field[0][1:].split("=", 1) for field in re.finditer(FIELD, rest)]
    return [(key, value) for key, value in pairs if re.fullmatch("[0-9]+", value)]


@functools.lru_cache(maxsize=10_000)
def step_form(name):
    """The step's form from its name, by the table of forms; None for other names."""
    for pattern in COUNTS:
        if counts := pattern.fullmatch(name):
            found = counts.groupdict()
            context, generation = int(found["c"]) > 0, int(found["g"]) > 0
            phase = "mixed" if context and generation else "prefill" if context else "decode" if generation else "idle"
            after = found.get("u", found["g"])  # each generates one token, unless the name gives another number
            tokens = total(found["t"], after) if found.get("t") is not None else None
            return Form(phase, total(found["c"], found["g"]), None, tokens)
    if mode := MODE.fullmatch(name):
        phase = MODES.get(mode[1], mode[1].lower())
        said = {key: value for key, value in reversed(fields(mode["rest"])) if whole(value) is not None}
        tokens = total(said.get("c_sq"), said.get("g_sq"))
        if "c_sq" not in said and "g_sq" not in said:
            tokens = whole(said.get("toks", said.get("bs") if phase == "decode" else None))
        return Form(phase, whole(said.get("bs")), None, tokens)
    if batch := BATCH.fullmatch(name):
        if batch[1] == "dummy_":
            phase = "idle"
        elif batch[2] == "prefill":
            phase = "prefill"
        else:
            mixed = any(key == "p" and int(value) > 0 for key, value in fields(batch["rest"]))
            phase = "mixed" if mixed else "decode"
        return Form(phase, whole(batch["b"]), whole(batch["p"]), whole(batch["t"]))
    if image := DIFFUSION.fullmatch(name):
        return Form("diffusion", whole(image["b"]), None, total(int(image["w"]) * int(image["h"])))
    return None


def step_phase(name):
    form = step_form(name)
    return form and form.phase


def bucket(size):
    """The number rounded up to three significant bits."""
    unit = 1 << max(size.bit_length() - 3, 0)
    return -(-size // unit) * unit


def stratum(form):
    """The group of steps that are compared with each other; None without a phase."""
    if form is None:
        return None
    wide = (form.padded, form.batch) if form.phase in BY_BATCH else (form.tokens, form.batch)
    size = next((each for each in wide if each is not None), None)
    return form.phase if size is None else f"{form.phase} {bucket(size)}"


STABLE = [(re.compile(pattern, re.DOTALL), replacement) for pattern, replacement in (
    (r" at 0x[0-9a-fA-F]*", ""),
    (r"\([0-9]+\): ", ": "),
    (r"\A(ProfilerStep) ?#[0-9]+\Z", r"\1"),
    (r", (op_id|seq|stashed seq|stashed tid|sizes|input_op_ids|trace_id) = .*", ""),
    (r"\A((graph_[0-9]+_)?(triton_[a-z]+_fused|cpp_fused).*)_[0-9]+\Z", r"\1"),
    (r"\A(## Call CompiledFxGraph) f[a-z2-7]{51}( ##)\Z", r"\1\2"),
    (r"\A(Torch-Compiled Region: [0-9]+)/[0-9]+(_[0-9]+)?\Z", r"\1"),
    (r"\A((?!\.py: ).)*[/\\][a-z2-7]{2}[/\\]c[a-z2-7]{50,51}(?=\.py: )", "inductor"),
    (r" of pybind11_builtins\.pybind11_detail_function_record_[A-Za-z0-9_]* object", ""))]


@functools.lru_cache(maxsize=10_000)
def stable_name(name):
    for pattern, replacement in STABLE:
        name = pattern.sub(replacement, name)
    phase = step_phase(name)
    return name if phase is None else "step: " + phase
