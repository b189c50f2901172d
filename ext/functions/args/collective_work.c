#include "collective_work.h"

#include <string.h>

#include "analysis/sums/operator_inputs.h"

/* Returns the bytes of an element of a type (c10/core/ScalarType.h); NUMBER_NONE: unknown. */
static int64_t size_of(const struct name *dtype)
{
    static const struct {
        const char *name;
        int64_t size;
    } types[] = {
        {"Float", 4},         {"BFloat16", 2},       {"Half", 2},           {"Double", 8},
        {"Byte", 1},          {"Char", 1},           {"Bool", 1},           {"Short", 2},
        {"Int", 4},           {"Long", 8},           {"UInt16", 2},         {"UInt32", 4},
        {"UInt64", 8},        {"ComplexHalf", 4},    {"ComplexFloat", 8},   {"ComplexDouble", 16},
        {"Float8_e4m3fn", 1}, {"Float8_e4m3fnuz", 1}, {"Float8_e5m2", 1},   {"Float8_e5m2fnuz", 1},
        {"Float8_e8m0fnu", 1}, {"QInt8", 1},         {"QUInt8", 1},         {"QInt32", 4},
    };
    for (size_t i = 0; dtype && i < sizeof types / sizeof *types; i++)
        if (strcmp(dtype->text, types[i].name) == 0)
            return types[i].size;
    return NUMBER_NONE;
}

int64_t collective_bytes(enum collective collective, int64_t in, int64_t out,
                         const struct name *dtype)
{
    int64_t elements = NUMBER_NONE;
    switch (collective) {
    case ALL_REDUCE:
    case REDUCE_SCATTER:
    case BROADCAST:
    case REDUCE:
    case SEND:
        elements = in;
        break;
    case ALL_GATHER:
    case RECV:
        elements = out;
        break;
    case ALL_TO_ALL:
    case GATHER:
    case SCATTER:
        if (in != NUMBER_NONE && out != NUMBER_NONE)
            elements = in > out ? in : out;
        break;
    default:
        break;
    }
    return elements < 0 ? NUMBER_NONE : number_times(elements, size_of(dtype));
}
