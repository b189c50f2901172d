"""An independent implementation of rules W5 to W8, collectives of the device, on the raw JSON.

The extension reads stacks and launches by columns; here everything is searched in lists.

    collectives(document)     # {event: Collective} for kernels with `nccl` in the name
"""
import collections
import re
from fractions import Fraction

SIZES = {"Float": 4, "BFloat16": 2, "Half": 2, "Double": 8, "Byte": 1, "Char": 1, "Bool": 1, "Short": 2, "Int": 4,
         "Long": 8, "ComplexFloat": 8, "ComplexDouble": 16, "Float8_e4m3fn": 1, "Float8_e5m2": 1}
KINDS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send_recv", "broadcast", "barrier", "gather",
         "scatter", "reduce", "send", "recv")  # the first one whose letters are in a name
BY_PAIRS = ("send", "recv", "all_to_all", "gather", "scatter")
ELEMENTS = {**dict.fromkeys(("all_reduce", "reduce_scatter", "broadcast", "reduce", "send"), lambda i, o: i),
            **dict.fromkeys(("all_gather", "recv"), lambda i, o: o),
            **dict.fromkeys(("all_to_all", "gather", "scatter"),
                            lambda i, o: None if i is None or o is None else max(i, o))}
Collective = collections.namedtuple("Collective", "collective process_group group_size dtype bytes algorithm protocol"
                                                  " channels")


def letters(name):
    return re.sub("[_-]", "", name).lower()


def kind_of(name):
    return next((kind for kind in KINDS if letters(kind) in letters(name)), None)


def kind_of_kernel(name):
    kind = kind_of(name)
    return kind if kind in KINDS[:6] or (kind == "reduce" and "Kernel_Reduce_" in name) else None


def bytes_of(args):
    kind = kind_of(args["Collective name"])
    elements = ELEMENTS.get(kind, lambda i, o: None)(args.get("In msg nelems"), args.get("Out msg nelems"))
    size = SIZES.get(args.get("dtype"))
    return None if elements is None or size is None or elements < 0 or elements * size >= 2 ** 63 else elements * size


def told(args):
    return kind_of(args["Collective name"]), args.get("dtype"), args.get("Group size"), bytes_of(args)


def same(values):
    return values[0] if len(set(values)) == 1 else None


def told_of_group(kernel, calls):
    all_told = [told(call["args"]) for call in calls]
    all_told = [each for each in all_told if each[0] and (
        kernel is None or kernel == each[0] or (kernel == "send_recv" and each[0] in BY_PAIRS))]
    if not all_told:
        return None
    kinds, dtypes, sizes, amounts = zip(*all_told)
    total = None if None in amounts else sum(amounts)
    return same(kinds) or kernel, same(dtypes), same(sizes), total


def collectives(document):
    events = [{"args": {}, **each, "event": number} for number, each in enumerate(document["traceEvents"])
              if each.get("ph") == "X"]
    hosts = [each for each in events if each["cat"] in ("cpu_op", "user_annotation", "cuda_runtime")]
    works = [each for each in events if each["cat"] in ("kernel", "gpu_memcpy", "gpu_memset")]
    launches = {each["args"]["correlation"]: each for each in hosts if "correlation" in each["args"]}
    launch_of = {each["event"]: launches.get(each["args"].get("correlation")) for each in works}
    launched = [each for each in launch_of.values() if each]
    found, by_call = {}, collections.defaultdict(list)
    for work in works:
        if "nccl" not in work["name"]:
            continue
        launch, kernel, args = launch_of[work["event"]], kind_of_kernel(work["name"]), work["args"]
        around = [each for each in hosts if launch and each["name"].startswith("record_param_comms")
                  and each["tid"] == launch["tid"]
                  and each["ts"] <= launch["ts"] and launch["ts"] + launch["dur"] <= each["ts"] + each["dur"]]
        call = max(around, key=lambda each: each["ts"]) if around else None
        group = next((args[key] for key in ("Process Group Name", "Process Group Description", "Process Group Ranks")
                      if key in args), None)
        says = None
        if call and "Collective name" in call["args"]:
            says = told(call["args"])
        elif "Collective name" in args:
            says = told(args)
        elif launch and not call and group is None and launched.count(launch) == 1:
            before = [each["ts"] for each in launched if each["tid"] == launch["tid"] and each["ts"] < launch["ts"]]
            says = told_of_group(kernel, [
                each for each in hosts if each["name"].startswith("record_param_comms")
                and each["tid"] == launch["tid"] and max(before, default=0) <= each["ts"] < launch["ts"]
                and "Collective name" in each["args"]])
        kind, dtype, size, amount = says or (kernel, None, None, None)
        parts = re.split(r"[_(<]", re.sub("COLLNET_", "COLLNET-", re.sub("NVLS_TREE", "NVLS-TREE", work["name"])))
        algorithm = next((part.replace("-", "_") for part in parts[1:] if part in (
            "RING", "TREE", "NVLS", "NVLS-TREE", "COLLNET-DIRECT", "COLLNET-CHAIN", "PAT")), None)
        protocol = next((part for part in parts[1:] if part in ("LL", "LL128", "SIMPLE")), None)
        found[work["event"]] = Collective(kind, group, size, dtype, amount, algorithm, protocol,
                                          (args.get("grid") or [None])[0])
        if call:
            by_call[call["event"]].append(work)
    for several in by_call.values():  # W6.4
        several.sort(key=lambda each: (each["ts"], each["dur"]))
        total, done = sum(each["dur"] for each in several), 0
        for work in several:
            own = found[work["event"]]
            if own.bytes is not None and total:
                share = own.bytes * (done + work["dur"]) // total - own.bytes * done // total
                found[work["event"]] = own._replace(bytes=share)
            done += work["dur"]
    return found


def rates(kind, amount, transfer, size):
    """W7: algbw and busbw, from us."""
    if amount is None or not transfer:
        return None, None
    rate = Fraction(amount) / Fraction(transfer) / 1000
    if kind not in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "gather", "scatter"):
        return float(rate), float(rate)
    if not size:
        return float(rate), None
    return float(rate), float(rate * Fraction(size - 1, size) * (2 if kind == "all_reduce" else 1))
