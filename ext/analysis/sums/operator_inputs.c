#include "operator_inputs.h"

#include <string.h>

#include "text/ascii.h"

/* Torch's scalar types (c10/core/ScalarType.h) by their names in caffe2::TypeMeta. */
static const struct element {
    const char *type;
    int64_t size;
} elements[] = {
    {"float", 4},
    {"double", 8},
    {"c10::BFloat16", 2},
    {"c10::Half", 2},
    {"int", 4},
    {"long", 8},
    {"long int", 8},
    {"long long", 8},
    {"short", 2},
    {"short int", 2},
    {"unsigned char", 1},
    {"signed char", 1},
    {"char", 1},
    {"bool", 1},
    {"unsigned short", 2},
    {"unsigned int", 4},
    {"unsigned long", 8},
    {"short unsigned int", 2},
    {"long unsigned int", 8},
    {"c10::Float8_e4m3fn", 1},
    {"c10::Float8_e5m2", 1},
    {"c10::Float8_e4m3fnuz", 1},
    {"c10::Float8_e5m2fnuz", 1},
    {"c10::complex<c10::Half>", 4},
    {"c10::complex<float>", 8},
    {"c10::complex<double>", 16},
};

int64_t number_times(int64_t a, int64_t b)
{
    int64_t product;
    if (a == NUMBER_NONE || b == NUMBER_NONE || __builtin_mul_overflow(a, b, &product))
        return NUMBER_NONE;
    return product;
}

int64_t number_plus(int64_t a, int64_t b)
{
    int64_t sum;
    if (a == NUMBER_NONE || b == NUMBER_NONE || __builtin_add_overflow(a, b, &sum))
        return NUMBER_NONE;
    return sum;
}

/* Reads digits. Returns the byte after them, or NULL. */
static const char *read_number(const char *at, int64_t *number)
{
    *number = 0;
    if (!is_digit(*at))
        return NULL;
    for (; is_digit(*at); at++) {
        *number = number_plus(number_times(*number, 10), *at - '0');
        if (*number == NUMBER_NONE)
            return NULL;
    }
    return at;
}

/* Reads a shape or list of shapes from its opening bracket. Returns the byte after it, or NULL. */
static const char *read_shape(const char *at, struct input *input)
{
    int depth = 0;
    bool flat = true;
    input->rank = 0;
    do {
        int64_t number;
        if (*at == '[') {
            flat = flat && depth == 0;
            depth++;
            at++;
        } else if (*at == ']') {
            depth--;
            at++;
        } else if (*at == ',') {
            at++;
        } else {
            at = read_number(at, &number);
            if (!at)
                return NULL;
            if (flat && input->rank < MOST_DIMS)
                input->dims[input->rank++] = number;
            else
                flat = false;
        }
    } while (depth > 0);
    if (!flat)
        input->rank = -1;
    return at;
}

static bool read_dims(struct inputs *inputs, const char *at)
{
    if (!at || *at++ != '[')
        return false;
    while (*at == '[') {
        struct input other = {.rank = 0};
        at = read_shape(at, inputs->count < MOST_INPUTS ? &inputs->items[inputs->count] : &other);
        if (!at)
            return false;
        inputs->count += inputs->count < MOST_INPUTS;
        at += *at == ',';
    }
    return strcmp(at, "]") == 0;
}

/* Finds the next string of a list. Returns the byte after its closing quote, or NULL. */
static const char *read_string(const char *at, const char **text, size_t *length)
{
    if (*at != '"')
        return NULL;
    *text = at + 1;
    *length = strcspn(*text, "\"\\");
    at += 1 + *length;
    return *at == '"' ? at + 1 : NULL;
}

static void read_types(struct inputs *inputs, const char *at)
{
    const char *text;
    size_t length;
    int i = 0;
    for (at += *at == '['; i < inputs->count && (at = read_string(at, &text, &length)); i++) {
        struct input *input = &inputs->items[i];
        input->typed = true;
        for (size_t k = 0; k < sizeof elements / sizeof *elements; k++)
            if (strlen(elements[k].type) == length && memcmp(elements[k].type, text, length) == 0)
                input->size = elements[k].size;
        at += *at == ',';
    }
}

static void read_values(struct inputs *inputs, const char *at)
{
    int i = 0;
    struct input *items = inputs->items;
    for (at += *at == '['; i < inputs->count; i++) {
        at = read_string(at, &items[i].value, &items[i].length);
        if (!at) {
            items[i].value = NULL;
            return;
        }
        at += *at == ',';
    }
}

bool inputs_read(struct inputs *inputs, const char *dims, const char *types, const char *concrete)
{
    *inputs = (struct inputs){.count = 0};
    if (!read_dims(inputs, dims))
        return false;
    if (types)
        read_types(inputs, types);
    if (concrete)
        read_values(inputs, concrete);
    return true;
}

bool input_integers(const struct input *input, int64_t *values, int count)
{
    const char *at = input->value, *end = at ? at + input->length : NULL;
    int found = 0;
    bool list = at && at < end && *at == '[';
    for (at += list; at && at < end && *at != ']'; found++) {
        if (found == count || !(at = read_number(at, &values[found])))
            return false;
        at += at < end && *at == ',';
        at += at < end && *at == ' ';
    }
    for (int i = 1; found == 1 && i < count; i++)
        values[i] = values[0];
    return found > 0 && (found == 1 || found == count) && at + list == end;
}

bool input_flags(const struct input *input, bool *values, int count)
{
    const char *at = input->value, *end = at ? at + input->length : NULL;
    if (!at || (count > 1 && *at++ != '['))
        return false;
    for (int i = 0; i < count; i++) {
        values[i] = begins(at, end, "True");
        if (!values[i] && !begins(at, end, "False"))
            return false;
        at += values[i] ? 4 : 5;
        if (i + 1 < count && !begins(at, end, ", "))
            return false;
        at += i + 1 < count ? 2 : 0;
    }
    return at + (count > 1) == end;
}

int64_t input_product(const struct input *input, int from, int to)
{
    int64_t product = 1;
    for (int i = from; i < to; i++)
        if (input->dims[i] == 0)
            return 0;
    for (int i = from; i < to; i++)
        product = number_times(product, input->dims[i]);
    return product;
}

int64_t input_elements(const struct input *input)
{
    return input->rank < 0 ? NUMBER_NONE : input_product(input, 0, input->rank);
}

int64_t input_bytes(const struct input *input)
{
    return input->size ? number_times(input_elements(input), input->size) : NUMBER_NONE;
}
