"""An independent implementation of rules F1 to F6: FLOPs and bytes of device work, from the raw JSON.

It finds positions by the parameter names of native_functions.yaml, and the outputs of convolutions by counting where
the weight fits.

    Work(oracle.read_trace("runs/a").files[0]).shares      # {event: (flops, bytes)}

A number is an int, or None if unknown.
"""
import bisect
import itertools
import json
import math
from collections import defaultdict

import oracle
import oracle_stacks
import oracle_steps

SIZES = {"float": 4, "double": 8, "c10::BFloat16": 2, "c10::Half": 2, "int": 4, "long": 8, "long int": 8, "short": 2,
         "unsigned char": 1, "signed char": 1, "bool": 1, "c10::Float8_e4m3fn": 1, "c10::complex<float>": 8}
MATRICES = {"mm": "a b", "bmm": "a b", "addmm": "self a b", "baddbmm": "self a b", "_addmm_activation": "self a b",
            "_scaled_mm": "a b", "_int_mm": "a b"}
PLAIN = "x w bias stride padding dilation groups"
TRANSPOSED = "x w bias stride padding output_padding groups dilation"
GENERAL = "x w bias stride padding dilation transposed output_padding groups"
CONVOLUTIONS = {
    "conv1d": PLAIN, "conv2d": PLAIN, "conv3d": PLAIN, "cudnn_convolution_relu": PLAIN,
    "conv_transpose1d": TRANSPOSED, "conv_transpose2d": TRANSPOSED, "conv_transpose3d": TRANSPOSED,
    "convolution": GENERAL, "_convolution": GENERAL, "convolution_overrideable": GENERAL,
    "cudnn_convolution": "x w padding stride dilation groups",
    "cudnn_convolution_transpose": "x w padding output_padding stride dilation groups",
    "miopen_convolution": "x w bias padding stride dilation groups",
    "miopen_depthwise_convolution": "x w bias padding stride dilation groups",
    "miopen_convolution_transpose": "x w bias padding output_padding stride dilation groups"}
BACKWARD = "gradient x w bias_sizes stride padding dilation transposed output_padding groups output_mask"
ATTENTION = {
    **{f"_scaled_dot_product_{kind}": "q k v" for kind in
       ("flash_attention", "efficient_attention", "cudnn_attention", "fused_attention_overrideable")},
    **{f"_scaled_dot_product_{kind}_backward": "gradient q k v" for kind in
       ("flash_attention", "efficient_attention", "cudnn_attention", "fused_attention_overrideable")},
    "_flash_attention_forward": "q k v lengths", "_efficient_attention_forward": "q k v bias lengths",
    "_cudnn_attention_forward": "q k v bias lengths",
    "_flash_attention_backward": "gradient q k v out logsumexp lengths",
    "_efficient_attention_backward": "gradient q k v bias out lengths"}
SEQUENCE_FIRST = ("_flash_attention_forward", "_efficient_attention_forward", "_flash_attention_backward",
                  "_efficient_attention_backward")
UNARY = ("abs neg exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan tanh sigmoid logit erf erfc"
         " ceil"
         " floor round trunc sign relu gelu silu mish elu leaky_relu hardtanh hardswish hardsigmoid softplus threshold"
         " bitwise_not _softmax _log_softmax logical_not isnan isinf isfinite").split()
BINARY = ("add sub rsub mul div pow maximum minimum fmod remainder floor_divide atan2 bitwise_and bitwise_or"
          " bitwise_xor"
          " masked_fill clamp_min clamp_max threshold_backward gelu_backward silu_backward mish_backward tanh_backward"
          " sigmoid_backward leaky_relu_backward hardtanh_backward hardswish_backward hardsigmoid_backward"
          " softplus_backward _softmax_backward_data _log_softmax_backward_data eq ne lt le gt ge logical_and"
          " logical_or"
          " logical_xor").split()
TERNARY = "addcmul addcdiv lerp where clamp".split()
OPERANDS = {**dict.fromkeys(UNARY, 1), **dict.fromkeys(BINARY, 2), **dict.fromkeys(TERNARY, 3)}
COMPARISONS = ("logical_not isnan isinf isfinite eq ne lt le gt ge logical_and logical_or logical_xor").split()
OTHERS = "linear convolution_backward copy fill zero native_layer_norm".split()
MOST = 2 ** 63


class Unknown(Exception):
    """The trace lacks the information."""


def known(number):
    if number is None or number >= MOST:
        raise Unknown
    return number


def formula(name):
    """The operator for a name, and whether it is in place; None without a formula."""
    if not name or not name.startswith("aten::"):
        return None
    base = name[len("aten::"):]
    in_place = base.endswith("_")
    base = base[:-1] if in_place else base
    has = base in MATRICES or base in CONVOLUTIONS or base in ATTENTION or base in OPERANDS or base in OTHERS
    return (base, in_place) if has else None


def has_flops(base):
    return base in MATRICES or base in CONVOLUTIONS or base in ATTENTION or base in ("linear", "convolution_backward")


class Input:
    def __init__(self, dims, kind, value):
        self.nested = any(isinstance(dim, list) for dim in dims)
        if self.nested or len(dims) > 8:
            self.nested, dims = True, []
        self.dims, self.size, self.value = dims, SIZES.get(kind), value

    @property
    def is_tensor(self):
        return bool(self.nested or self.dims or self.size)

    def bytes(self, elements=None):
        if self.nested or self.size is None:
            raise Unknown
        return (math.prod(self.dims) if elements is None else elements) * self.size

    def integers(self, count):
        """'[1, 2]', or '[1]' or '1' for all dimensions"""
        try:
            found = json.loads(self.value or "")
        except ValueError:
            raise Unknown from None
        found = found if isinstance(found, list) else [found]
        if any(type(number) is not int or number < 0 for number in found) or len(found) not in (1, count):
            raise Unknown
        return found * count if len(found) == 1 else found

    def flags(self):
        try:
            found = json.loads((self.value or "").replace("True", "true").replace("False", "false"))
        except ValueError:
            raise Unknown from None
        return found


class Call:
    """The inputs of an operator."""

    def __init__(self, args):
        dims, kinds, values = (args.get(key) for key in ("Input Dims", "Input type", "Concrete Inputs"))
        if not isinstance(dims, list) or not all(isinstance(each, list) for each in dims):
            raise Unknown
        for flat in dims:
            for number in sum((each if isinstance(each, list) else [each] for each in flat), []):
                if type(number) is not int or number < 0:
                    raise Unknown
        kinds, values = ([each if isinstance(each, str) else None for each in many] if isinstance(many, list) else []
                         for many in (kinds, values))
        fill = [None] * len(dims)
        self.inputs = [Input(*each) for each in zip(dims, kinds + fill, values + fill)][:16]

    def __getitem__(self, place):
        if place >= len(self.inputs):
            raise Unknown
        return self.inputs[place]

    def optional(self, place):
        """The bytes of a bias that may be missing."""
        there = place < len(self.inputs) and self.inputs[place].is_tensor
        return self.inputs[place].bytes() if there else 0

    def named(self, names):
        return {name: place for place, name in enumerate(names.split())}


def both(flops, count):
    """flops, and the bytes from `count`"""
    try:
        flops = known(flops())
    except Unknown:
        flops = None
    try:
        return flops, known(count())
    except Unknown:
        return flops, None


def work(name, args):
    """(flops, bytes) of an operator"""
    try:
        base, in_place = formula(name)
        call = Call(args)
        if base in MATRICES:
            return matrices(base, call)
        if base in CONVOLUTIONS:
            return convolution(base, call)
        if base in ATTENTION:
            return attention(base, call)
        if base in OPERANDS:
            return both(lambda: None, lambda: elementwise(base, in_place, call))
        return {"linear": linear, "convolution_backward": convolution_backward,
                "native_layer_norm": lambda call: both(lambda: None, lambda: call[0].bytes() * 2 + call.optional(2)
                                                       + call.optional(3)),
                "copy": lambda call: both(lambda: None, lambda: call[0].bytes() + call[1].bytes()),
                "fill": lambda call: both(lambda: None, lambda: call[0].bytes()),
                "zero": lambda call: both(lambda: None, lambda: call[0].bytes())}[base](call)
    except Unknown:
        return None, None


def matrices(base, call):
    at = call.named(MATRICES[base])
    a, b = call[at["a"]], call[at["b"]]
    like = len(a.dims) == len(b.dims) and a.dims[:-2] == b.dims[:-2] and a.dims[-1] == b.dims[-2]
    if len(a.dims) not in (2, 3) or not like:
        raise Unknown
    *out, k = a.dims
    out.append(b.dims[-1])

    def count():
        if base in ("_scaled_mm", "_int_mm"):
            raise Unknown
        return a.bytes() + b.bytes() + a.bytes(math.prod(out)) + (call.optional(0) if "self" in at else 0)
    return both(lambda: 2 * math.prod(out) * k, count)


def linear(call):
    x, w = call[0], call[1]
    if not x.dims or len(w.dims) != 2 or x.dims[-1] != w.dims[1]:
        raise Unknown
    out = math.prod(x.dims[:-1]) * w.dims[0]
    return both(lambda: 2 * out * w.dims[1], lambda: x.bytes() + w.bytes() + call.optional(2) + x.bytes(out))


def is_transposed(base, at, call):
    if "transposed" not in at:
        return "transpose" in base
    found = call[at["transposed"]].flags()
    if not isinstance(found, bool):
        raise Unknown
    return found


def convolution(base, call):
    at = call.named(CONVOLUTIONS[base])
    x, w = call[0], call[1]
    if len(x.dims) < 3 or len(x.dims) != len(w.dims):
        raise Unknown
    spatial = len(x.dims) - 2
    transposed = is_transposed(base, at, call)

    def read(name, otherwise):
        return call[at[name]].integers(spatial) if name in at else [otherwise] * spatial

    def output():
        """The output's dims"""
        out = []
        extra = read("output_padding", 0) if transposed else [0] * spatial
        for size, reach, stride, padding, dilation, more in zip(x.dims[2:], w.dims[2:], read("stride", 1),
                                                                read("padding", 0), read("dilation", 1), extra):
            if reach < 1 or stride < 1:
                raise Unknown
            if transposed:
                last = (size - 1) * stride + dilation * (reach - 1) + more - 2 * padding
                if size < 1 or last < -1:
                    raise Unknown
                out.append(last + 1)
            else:
                fits = size + 2 * padding - (dilation * (reach - 1) + 1)
                if fits < 0:
                    raise Unknown
                out.append(len(range(0, fits + 1, stride)))
        groups = call[at["groups"]].integers(1)[0] if transposed else None
        return [x.dims[0], w.dims[1] * groups if transposed else w.dims[0], *out]

    return both(lambda: 2 * x.dims[0] * math.prod(x.dims[2:] if transposed else output()[2:]) * math.prod(w.dims),
                lambda: x.bytes() + w.bytes() + (call.optional(at["bias"]) if "bias" in at else 0)
                + x.bytes(math.prod(output())))


def convolution_backward(call):
    at = call.named(BACKWARD)
    gradient, x, w = (call[at[name]] for name in ("gradient", "x", "w"))
    mask = call[at["output_mask"]].flags()
    if not isinstance(mask, list) or len(mask) != 3 or not all(isinstance(flag, bool) for flag in mask) or not (
            len(gradient.dims) == len(x.dims) == len(w.dims) > 2):
        raise Unknown
    over = x if is_transposed("", at, call) else gradient
    count = sum(mask[:2])
    return both(lambda: count * 2 * x.dims[0] * math.prod(over.dims[2:]) * math.prod(w.dims),
                lambda: gradient.bytes() + count * (x.bytes() + w.bytes()))


def attention(base, call):
    at = call.named(ATTENTION[base])
    q, k, v = (call[at[name]] for name in "qkv")
    if not len(q.dims) == len(k.dims) == len(v.dims) == 4:
        raise Unknown
    if "lengths" in at and at["lengths"] < len(call.inputs) and (call[at["lengths"]].dims
                                                                 or call[at["lengths"]].nested):
        raise Unknown

    def shape(each):
        batch, one, other, size = each.dims
        return (batch, other, one, size) if base in SEQUENCE_FIRST else (batch, one, other, size)
    (batch, heads, rows, depth), (k_batch, _, k_rows, k_depth), (_, _, v_rows, v_depth) = shape(q), shape(k), shape(v)
    if batch != k_batch or depth != k_depth or k_rows != v_rows:
        raise Unknown
    scores = 2 * batch * heads * rows * k_rows * depth  # q k, as many times as they are multiplied
    values = 2 * batch * heads * rows * k_rows * v_depth
    backward = base.endswith("backward")
    return both(lambda: 3 * scores + 2 * values if backward else scores + values,
                lambda: (2 if backward else 1) * (q.bytes() + k.bytes() + v.bytes()
                                                  + q.bytes(batch * heads * rows * v_depth)))


def elementwise(base, in_place, call):
    operands = call.inputs[:OPERANDS[base]]
    read = sum(each.bytes() for each in operands if each.is_tensor)
    if in_place:
        return read + call[0].bytes()
    if not any(each.is_tensor for each in operands):
        raise Unknown
    out = []
    for dims in [each.dims for each in operands]:
        long, short = sorted((out, dims), key=len, reverse=True)
        short = [1] * (len(long) - len(short)) + short
        if any(a != b and 1 not in (a, b) for a, b in zip(long, short)):
            raise Unknown
        out = [b if a == 1 else a for a, b in zip(long, short)]
    if base in COMPARISONS:
        return read + math.prod(out)
    tensors = [each for each in operands if each.is_tensor]
    return read + math.prod(out) * max(each.size for each in [one for one in tensors if one.dims] or tensors)


class Work:
    """The shares of the device work of a file."""

    def __init__(self, file):
        self.rows = {row.event: row for row in file.rows}
        self.events = oracle.events_of(json.loads(oracle.read_text(file.path)))
        self.places = oracle_stacks.stacks(file.rows)
        self.operators = defaultdict(list)
        for row in oracle_steps.Attributed(file).threads.values():
            ordered = sorted((each for each in row if each.cat in oracle.OPERATORS), key=lambda each: each.ts_ns)
            ends = itertools.accumulate((each.ts_ns + each.dur_ns for each in ordered), max)  # so far
            self.operators[oracle_steps.thread_of(row[0])] = [each.ts_ns for each in ordered], ordered, list(ends)
        owned = defaultdict(list)
        for row in file.rows:
            owner = self.owner(file, row)
            if owner is not None:
                owned[owner].append(row)
        divided = set()
        for event in owned:  # F2.2
            if has_flops(formula(self.rows[event].name)[0]):
                divided |= set(self.around(event)[1:])
        self.work = {event: work(self.rows[event].name, self.events[event].get("args", {})) for event in owned
                     if event not in divided}
        self.shares = {}
        for event, total in self.work.items():
            self.shares.update(divide(total, owned[event]))

    def around(self, event):
        """The operators with a formula, from an event outwards."""
        found = []
        while event is not None:
            row = self.rows[event]
            if row.cat in oracle.OPERATORS and formula(row.name):
                found.append(event)
            event = self.places[row.file, event].parent
        return found

    def holding(self, thread, instant):
        starts, rows, ends = self.operators.get(thread, ([], [], []))
        at, found = bisect.bisect_right(starts, instant), []
        while at > 0 and ends[at - 1] > instant:
            at -= 1
            if rows[at].ts_ns + rows[at].dur_ns > instant:
                found.append(rows[at])
        return found

    def owner(self, file, row):
        """F2.1"""
        launch = self.rows.get(row.link)
        if not oracle.is_device_work(row) or not oracle.is_counted(row) or launch is None:
            return None
        operators = self.holding(oracle_steps.thread_of(launch), launch.ts_ns)
        if not operators:
            return None
        return next(iter(self.around(max(operators, key=oracle_steps.innerness).event)), None)


def divide(total, rows):
    """F3"""
    rows = sorted(rows, key=lambda row: (row.ts_ns is not None, row.ts_ns, row.dur_ns, (row.name or "").encode(),
                                         row.event))
    lengths = [row.dur_ns for row in rows]
    if not any(lengths):
        lengths[0] = 1
    shares, done = {}, 0
    for row, length in zip(rows, lengths):
        shares[row.event] = tuple(None if whole is None else whole * (done + length) // sum(lengths)
                                  - whole * done // sum(lengths) for whole in total)
        done += length
    return shares


def of_the_profiler(base, dims, stride=None, padding=None, dilation=None, groups=1):
    """F4.2: the result of computeFlops() in torch/csrc/profiler/util.cpp for the same inputs."""
    if base == "conv2d":
        (batch, channels, high, wide), (out, _, *reach) = dims
        places = [(size + 2 * pad - dil * (each - 1) - 1) // step + 1
                  for size, pad, dil, each, step in zip((high, wide), padding, dilation, reach, stride)]
        return 2 * batch * math.prod(places) * math.prod(reach) * channels * out // groups
    a, b = dims[-2:]
    shared = a[-1] * (a[0] if base in ("bmm", "baddbmm") else 1)
    return 2 * (math.prod(a) // shared) * math.prod(b) if math.prod(a) else 0
