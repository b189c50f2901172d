/*
** Sources of the formulas.
** 1. FLOPs follow torch/utils/flop_counter.py, and computeFlops() in torch/csrc/profiler/util.cpp
**    for its matrix products and conv2d.
** 2. Positions of inputs follow aten/src/ATen/native/native_functions.yaml.
*/
#include "operator_work.h"

#include <string.h>

#include "text/ascii.h"
#include "operator_inputs.h"

enum formula_kind {
    MATRICES, /* a[m,k] b[k,n], or batches of them */
    LINEAR,   /* x[...,k] w[n,k] bias */
    CONVOLUTION,
    CONVOLUTION_BACKWARD,
    ATTENTION,          /* q, k, v */
    ATTENTION_BACKWARD, /* gradient of the output, q, k, v */
    ELEMENTWISE,        /* on the `first` first inputs */
    COMPARISON,         /* elementwise, with an output of one byte per element */
    LAYER_NORM,         /* x, dims, weight, bias */
    COPY,
    FILL
};

/* positions of a convolution's arguments; 0: it has no such argument */
struct arguments {
    int bias, stride, padding, dilation, transposed, output_padding, groups;
    bool always_transposed;
};

static const struct arguments plain = {.bias = 2, .stride = 3, .padding = 4, .dilation = 5},
                              general = {.bias = 2,
                                         .stride = 3,
                                         .padding = 4,
                                         .dilation = 5,
                                         .transposed = 6,
                                         .output_padding = 7,
                                         .groups = 8},
                              backward = {.transposed = 7},
                              transposed = {.bias = 2,
                                            .stride = 3,
                                            .padding = 4,
                                            .output_padding = 5,
                                            .groups = 6,
                                            .dilation = 7,
                                            .always_transposed = true},
                              cudnn = {.padding = 2, .stride = 3, .dilation = 4},
                              cudnn_transposed = {.padding = 2,
                                                  .output_padding = 3,
                                                  .stride = 4,
                                                  .dilation = 5,
                                                  .groups = 6,
                                                  .always_transposed = true},
                              miopen = {.bias = 2, .padding = 3, .stride = 4, .dilation = 5},
                              miopen_transposed = {.bias = 2,
                                                   .padding = 3,
                                                   .output_padding = 4,
                                                   .stride = 5,
                                                   .dilation = 6,
                                                   .groups = 7,
                                                   .always_transposed = true};

struct formula_entry {
    const char *names; /* separated by blanks, without aten:: and a final `_` */
    enum formula_kind kind;
    int first;       /* first operand; elementwise: number of operands */
    int lengths;     /* attention: input that is set if sequences differ in length */
    bool heads_last; /* attention: [batch, sequence, heads, size], not heads first */
    bool unlike;     /* matrices: the output's type is unknown */
    const struct arguments *arguments;
};

static const struct formula_entry entries[] = {
    {"mm bmm", MATRICES, .first = 0},
    {"addmm baddbmm _addmm_activation", MATRICES, .first = 1},
    {"_scaled_mm _int_mm", MATRICES, .unlike = true},
    {"linear", LINEAR, .first = 0},
    {"conv1d conv2d conv3d cudnn_convolution_relu", CONVOLUTION, .arguments = &plain},
    {"conv_transpose1d conv_transpose2d conv_transpose3d", CONVOLUTION, .arguments = &transposed},
    {"convolution _convolution convolution_overrideable", CONVOLUTION, .arguments = &general},
    {"cudnn_convolution", CONVOLUTION, .arguments = &cudnn},
    {"cudnn_convolution_transpose", CONVOLUTION, .arguments = &cudnn_transposed},
    {"miopen_convolution miopen_depthwise_convolution", CONVOLUTION, .arguments = &miopen},
    {"miopen_convolution_transpose", CONVOLUTION, .arguments = &miopen_transposed},
    {"convolution_backward", CONVOLUTION_BACKWARD, .arguments = &backward},
    {"_scaled_dot_product_flash_attention _scaled_dot_product_efficient_attention"
     " _scaled_dot_product_cudnn_attention _scaled_dot_product_fused_attention_overrideable",
     ATTENTION, .first = 0},
    {"_scaled_dot_product_flash_attention_backward _scaled_dot_product_efficient_attention_backward"
     " _scaled_dot_product_cudnn_attention_backward"
     " _scaled_dot_product_fused_attention_overrideable_backward",
     ATTENTION_BACKWARD, .first = 1},
    {"_flash_attention_forward", ATTENTION, .lengths = 3, .heads_last = true},
    {"_efficient_attention_forward", ATTENTION, .lengths = 4, .heads_last = true},
    {"_cudnn_attention_forward", ATTENTION, .lengths = 4},
    {"_flash_attention_backward _efficient_attention_backward", ATTENTION_BACKWARD, .first = 1,
     .lengths = 6, .heads_last = true},
    {"native_layer_norm", LAYER_NORM, .first = 0},
    {"copy", COPY, .first = 0},
    {"fill zero", FILL, .first = 0},
    {"abs neg exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan tanh sigmoid"
     " logit erf erfc ceil floor round trunc sign relu gelu silu mish elu leaky_relu hardtanh"
     " hardswish hardsigmoid softplus threshold bitwise_not _softmax _log_softmax",
     ELEMENTWISE, .first = 1},
    {"add sub rsub mul div pow maximum minimum fmod remainder floor_divide atan2 bitwise_and"
     " bitwise_or bitwise_xor masked_fill clamp_min clamp_max threshold_backward gelu_backward"
     " silu_backward mish_backward tanh_backward sigmoid_backward"
     " leaky_relu_backward hardtanh_backward hardswish_backward hardsigmoid_backward"
     " softplus_backward _softmax_backward_data _log_softmax_backward_data",
     ELEMENTWISE, .first = 2},
    {"addcmul addcdiv lerp where clamp", ELEMENTWISE, .first = 3},
    {"logical_not isnan isinf isfinite", COMPARISON, .first = 1},
    {"eq ne lt le gt ge logical_and logical_or logical_xor", COMPARISON, .first = 2},
};

static bool has_word(const char *words, const char *word, size_t length)
{
    for (const char *at = words; *at; at += *at == ' ') {
        size_t end = strcspn(at, " ");
        if (end == length && memcmp(at, word, length) == 0)
            return true;
        at += end;
    }
    return false;
}

struct formula formula_find(const struct name *name)
{
    static const char space[] = "aten::";
    struct formula none = {NULL, false};
    if (!begins(name->text, name->text + name->length, space))
        return none;
    const char *base = name->text + strlen(space);
    size_t length = strlen(base);
    bool in_place = length > 0 && base[length - 1] == '_';
    length -= in_place;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (has_word(entries[i].names, base, length))
            return (struct formula){&entries[i], in_place};
    return none;
}

bool formula_has_flops(const struct formula *formula)
{
    return formula->entry && formula->entry->kind <= ATTENTION_BACKWARD;
}

static const struct work unknown = {NUMBER_NONE, NUMBER_NONE};

/* Returns elements times element size; NUMBER_NONE if the size is unknown. */
static int64_t bytes_of(int64_t elements, const struct input *typed)
{
    return typed->size ? number_times(elements, typed->size) : NUMBER_NONE;
}

/* Returns the bytes of an optional input such as a bias. A number or None has 0. */
static int64_t optional_bytes(const struct inputs *inputs, int i)
{
    const struct input *input = &inputs->items[i];
    bool tensor = i < inputs->count && (input->rank != 0 || input->size > 0);
    return tensor ? input_bytes(input) : 0;
}

static struct work matrices_work(const struct formula_entry *entry, const struct inputs *inputs)
{
    const struct input *a = &inputs->items[entry->first], *b = a + 1;
    int batch = a->rank == 3;
    if (a->rank < 2 || a->rank > 3 || a->rank != b->rank || a->dims[batch + 1] != b->dims[batch] ||
        (batch && a->dims[0] != b->dims[0]))
        return unknown;
    int64_t out = number_times(input_product(a, 0, batch + 1), b->dims[batch + 1]);
    int64_t read = number_plus(input_bytes(a), input_bytes(b));
    if (entry->first > 0)
        read = number_plus(read, optional_bytes(inputs, 0));
    return (struct work){number_times(2, number_times(out, b->dims[batch])),
                         entry->unlike ? NUMBER_NONE : number_plus(read, bytes_of(out, a))};
}

static struct work linear_work(const struct inputs *inputs)
{
    const struct input *x = &inputs->items[0], *w = x + 1;
    if (x->rank < 1 || w->rank != 2 || x->dims[x->rank - 1] != w->dims[1])
        return unknown;
    int64_t out = number_times(input_product(x, 0, x->rank - 1), w->dims[0]);
    int64_t read =
        number_plus(number_plus(input_bytes(x), input_bytes(w)), optional_bytes(inputs, 2));
    return (struct work){number_times(2, number_times(out, w->dims[1])),
                         number_plus(read, bytes_of(out, x))};
}

/* Reads `spatial` integers, an argument of a convolution. */
static bool read_argument(const struct inputs *inputs, int i, int64_t *values, int spatial,
                          int64_t otherwise)
{
    for (int k = 0; k < spatial; k++)
        values[k] = otherwise;
    return i == 0 || (i < inputs->count && input_integers(&inputs->items[i], values, spatial));
}

/* Returns the elements in one channel of one output of a convolution. */
static int64_t output_area(const struct formula_entry *entry, const struct inputs *inputs,
                           bool is_transposed)
{
    const struct arguments *at = entry->arguments;
    const struct input *x = &inputs->items[0], *w = x + 1;
    int spatial = x->rank - 2;
    int64_t stride[MOST_DIMS], padding[MOST_DIMS], dilation[MOST_DIMS], extra[MOST_DIMS], area = 1;
    if (!read_argument(inputs, at->stride, stride, spatial, 1) ||
        !read_argument(inputs, at->padding, padding, spatial, 0) ||
        !read_argument(inputs, at->dilation, dilation, spatial, 1) ||
        !read_argument(inputs, is_transposed ? at->output_padding : 0, extra, spatial, 0))
        return NUMBER_NONE;
    for (int i = 0; i < spatial; i++) {
        int64_t in = x->dims[i + 2], reach = number_times(dilation[i], w->dims[i + 2] - 1), out;
        int64_t pads = number_times(2, padding[i]);
        if (w->dims[i + 2] < 1 || stride[i] < 1 || reach == NUMBER_NONE || pads == NUMBER_NONE)
            return NUMBER_NONE;
        if (is_transposed) {
            int64_t grown = in > 0 ? number_times(in - 1, stride[i]) : NUMBER_NONE;
            out = number_plus(number_plus(grown, reach), number_plus(extra[i], 1));
            out = out == NUMBER_NONE ? -1 : out - pads;
        } else {
            int64_t padded = number_plus(in, pads);
            out = padded == NUMBER_NONE ? -1 : padded - reach - 1;
            out = out < 0 ? -1 : out / stride[i] + 1;
        }
        area = out < 0 ? NUMBER_NONE : number_times(area, out);
    }
    return area;
}

static bool read_transposed(const struct arguments *at, const struct inputs *inputs, bool *value)
{
    *value = at->always_transposed;
    return at->transposed == 0 || (at->transposed < inputs->count &&
                                   input_flags(&inputs->items[at->transposed], value, 1));
}

/* Returns 2 * batch * elements per channel * elements of the weight. */
static int64_t convolution_flops(int64_t batch, int64_t area, const struct input *w)
{
    return number_times(2, number_times(number_times(batch, area), input_elements(w)));
}

/* Returns the output channels. A transposed convolution has w[c_in, c_out / groups, ...]. */
static int64_t output_channels(const struct formula_entry *entry, const struct inputs *inputs,
                               bool is_transposed)
{
    const struct input *w = &inputs->items[1];
    int64_t groups;
    if (!is_transposed)
        return w->dims[0];
    return read_argument(inputs, entry->arguments->groups, &groups, 1, 1)
               ? number_times(w->dims[1], groups)
               : NUMBER_NONE;
}

static struct work convolution_work(const struct formula_entry *entry, const struct inputs *inputs)
{
    const struct input *x = &inputs->items[0], *w = x + 1;
    bool is_transposed;
    if (x->rank < 3 || x->rank != w->rank ||
        !read_transposed(entry->arguments, inputs, &is_transposed))
        return unknown;
    int64_t area = output_area(entry, inputs, is_transposed);
    int64_t out =
        number_times(number_times(x->dims[0], area), output_channels(entry, inputs, is_transposed));
    int64_t bytes = number_plus(number_plus(input_bytes(x), input_bytes(w)), bytes_of(out, x));
    if (entry->arguments->bias)
        bytes = number_plus(bytes, optional_bytes(inputs, entry->arguments->bias));
    if (is_transposed)
        area = input_product(x, 2, x->rank);
    return (struct work){convolution_flops(x->dims[0], area, w), bytes};
}

/* Each requested gradient takes as much work as the forward pass. */
static struct work convolution_backward_work(const struct formula_entry *entry,
                                             const struct inputs *inputs)
{
    const struct input *gradient = &inputs->items[0], *x = gradient + 1, *w = x + 1;
    const struct input *mask = &inputs->items[10], *over;
    bool is_transposed, wanted[3];
    if (gradient->rank < 3 || gradient->rank != x->rank || x->rank != w->rank ||
        inputs->count < 11 || !input_flags(mask, wanted, 3) ||
        !read_transposed(entry->arguments, inputs, &is_transposed))
        return unknown;
    over = is_transposed ? x : gradient;
    int64_t one = convolution_flops(x->dims[0], input_product(over, 2, over->rank), w);
    int64_t both = number_plus(input_bytes(x), input_bytes(w));
    return (struct work){
        number_times(wanted[0] + wanted[1], one),
        number_plus(input_bytes(gradient), number_times(wanted[0] + wanted[1], both))};
}

static struct work attention_work(const struct formula_entry *entry, const struct inputs *inputs)
{
    const struct input *q = &inputs->items[entry->first], *k = q + 1, *v = q + 2;
    const struct input *lengths = &inputs->items[entry->lengths];
    int heads = entry->heads_last ? 2 : 1, sequence = 3 - heads;
    if (q->rank != 4 || k->rank != 4 || v->rank != 4 || q->dims[3] != k->dims[3] ||
        q->dims[0] != k->dims[0] || k->dims[sequence] != v->dims[sequence] ||
        (entry->lengths && entry->lengths < inputs->count && lengths->rank != 0))
        return unknown;
    bool is_backward = entry->kind == ATTENTION_BACKWARD;
    int64_t rows = number_times(number_times(q->dims[0], q->dims[heads]), q->dims[sequence]);
    int64_t depth = number_plus(number_times(is_backward ? 3 : 1, q->dims[3]),
                                number_times(is_backward ? 2 : 1, v->dims[3]));
    int64_t bytes = number_plus(input_bytes(q), number_plus(input_bytes(k), input_bytes(v)));
    bytes = number_plus(bytes, bytes_of(number_times(rows, v->dims[3]), q));
    return (struct work){
        number_times(2, number_times(number_times(rows, k->dims[sequence]), depth)),
        number_times(is_backward ? 2 : 1, bytes)};
}

/* Returns the number of elements of the broadcast shape. NUMBER_NONE: the shapes do not match, or
** no operand is a tensor. */
static int64_t broadcast_elements(const struct input *operands, int count)
{
    struct input out = {.rank = 0};
    bool tensor = false;
    for (int i = 0; i < count; i++) {
        const struct input *input = &operands[i];
        tensor = tensor || input->rank > 0 || input->size > 0;
        for (int k = 1; k <= input->rank; k++) { /* starts from the last dim */
            int64_t dim = input->dims[input->rank - k];
            if (k > out.rank)
                out.dims[MOST_DIMS - ++out.rank] = dim;
            int64_t *other = &out.dims[MOST_DIMS - k];
            if (dim != *other && dim != 1 && *other != 1)
                return NUMBER_NONE;
            *other = *other == 1 ? dim : *other;
        }
    }
    return tensor ? input_product(&out, MOST_DIMS - out.rank, MOST_DIMS) : NUMBER_NONE;
}

static struct work elementwise_work(const struct formula *formula, const struct inputs *inputs)
{
    const struct formula_entry *entry = formula->entry;
    int count = inputs->count < entry->first ? inputs->count : entry->first;
    int64_t read = 0, written;
    struct input widest = {.rank = 0};
    for (int i = 0; i < count; i++) {
        const struct input *input = &inputs->items[i];
        bool goes_before =
            (input->rank > 0) == (widest.rank > 0) ? input->size > widest.size : input->rank > 0;
        read = number_plus(read, optional_bytes(inputs, i));
        widest = goes_before ? *input : widest;
    }
    if (formula->in_place)
        written = count > 0 ? input_bytes(&inputs->items[0]) : NUMBER_NONE;
    else if (entry->kind == COMPARISON)
        written = broadcast_elements(inputs->items, count);
    else
        written = bytes_of(broadcast_elements(inputs->items, count), &widest);
    return (struct work){NUMBER_NONE, number_plus(read, written)};
}

/* Leaves out the mean and the deviation of each row. */
static int64_t layer_norm_bytes(const struct inputs *inputs)
{
    int64_t both = number_times(2, input_bytes(&inputs->items[0]));
    return number_plus(both, number_plus(optional_bytes(inputs, 2), optional_bytes(inputs, 3)));
}

struct work formula_work(const struct formula *formula, const char *dims, const char *types,
                         const char *concrete)
{
    const struct formula_entry *entry = formula->entry;
    struct inputs inputs;
    if (!entry || !inputs_read(&inputs, dims, types, concrete))
        return unknown;
    switch (entry->kind) {
    case MATRICES:
        return inputs.count > entry->first + 1 ? matrices_work(entry, &inputs) : unknown;
    case LINEAR:
        return inputs.count > 1 ? linear_work(&inputs) : unknown;
    case CONVOLUTION:
        return inputs.count > 1 ? convolution_work(entry, &inputs) : unknown;
    case CONVOLUTION_BACKWARD:
        return convolution_backward_work(entry, &inputs);
    case ATTENTION:
    case ATTENTION_BACKWARD:
        return inputs.count > entry->first + 2 ? attention_work(entry, &inputs) : unknown;
    case ELEMENTWISE:
    case COMPARISON:
        return elementwise_work(formula, &inputs);
    case LAYER_NORM:
        return (struct work){NUMBER_NONE,
                             inputs.count > 0 ? layer_norm_bytes(&inputs) : NUMBER_NONE};
    case COPY:
        return (struct work){NUMBER_NONE, inputs.count > 1
                                              ? number_plus(input_bytes(&inputs.items[0]),
                                                            input_bytes(&inputs.items[1]))
                                              : NUMBER_NONE};
    case FILL:
        return (struct work){NUMBER_NONE,
                             inputs.count > 0 ? input_bytes(&inputs.items[0]) : NUMBER_NONE};
    }
    return unknown;
}
