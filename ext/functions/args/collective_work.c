#include "collective_work.h"

#include <string.h>

#include "analysis/sums/operator_inputs.h"
#include "text/ascii.h"

/* By collective: its name, and the same as names of args and of kernels have it, without `_` and in
** small letters. Those that are part of another one's come after it. */
static const struct {
    const char *name, *word;
} known[COLLECTIVES] = {
    [ALL_REDUCE] = {"all_reduce", "allreduce"},
    [ALL_GATHER] = {"all_gather", "allgather"},
    [REDUCE_SCATTER] = {"reduce_scatter", "reducescatter"},
    [ALL_TO_ALL] = {"all_to_all", "alltoall"},
    [SEND_RECV] = {"send_recv", "sendrecv"},
    [BROADCAST] = {"broadcast", "broadcast"},
    [BARRIER] = {"barrier", "barrier"},
    [GATHER] = {"gather", "gather"},
    [SCATTER] = {"scatter", "scatter"},
    [REDUCE] = {"reduce", "reduce"},
    [SEND] = {"send", "send"},
    [RECV] = {"recv", "recv"},
};

const char *collective_name(enum collective collective)
{
    return known[collective].name;
}

/* Whether a name has a word, in any case of letters and with `_` or `-` anywhere. */
static bool has_word(const struct name *name, const char *word)
{
    for (size_t from = 0; from < name->length; from++) {
        const char *at = word;
        for (size_t i = from; i < name->length && *at; i++) {
            if (name->text[i] == '_' || name->text[i] == '-')
                continue;
            if (small((unsigned char)name->text[i]) != *at)
                break;
            at++;
        }
        if (!*at)
            return true;
    }
    return false;
}

enum collective collective_of_args(const struct name *name)
{
    for (int i = ALL_REDUCE; i < COLLECTIVES; i++)
        if (has_word(name, known[i].word))
            return (enum collective)i;
    return COLLECTIVE_NONE;
}

enum collective collective_of_kernel(const struct name *name)
{
    for (int i = ALL_REDUCE; i <= BROADCAST; i++)
        if (has_word(name, known[i].word))
            return (enum collective)i;
    if (has_word(name, "crossdevicereduce"))
        return ALL_REDUCE;
    return has_word(name, "ncclreduce") || has_word(name, "kernelreduce") ? REDUCE
                                                                          : COLLECTIVE_NONE;
}

bool collective_may(enum collective kernel, enum collective collective)
{
    bool by_pairs = collective == SEND || collective == RECV || collective == ALL_TO_ALL ||
                    collective == GATHER || collective == SCATTER;
    return collective != COLLECTIVE_NONE &&
           (kernel == COLLECTIVE_NONE || kernel == collective || (kernel == SEND_RECV && by_pairs));
}

/* The bytes of an element of a type (c10/core/ScalarType.h); NUMBER_NONE: not known. */
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

/* Whether a name has a part between `_`, or at its end or before `(`. */
static bool has_part(const struct name *name, const char *part)
{
    size_t length = strlen(part);
    for (const char *at = name->text; (at = strstr(at, part)); at++)
        if (at > name->text && at[-1] == '_' && memchr("_(<", at[length], 4)) /* with the NUL */
            return true;
    return false;
}

const char *collective_algorithm(const struct name *name)
{
    static const char *const all[] = {"COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS_TREE", "NVLS",
                                      "PAT",            "RING",          "TREE"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (has_part(name, all[i]))
            return all[i];
    return NULL;
}

const char *collective_protocol(const struct name *name)
{
    static const char *const all[] = {"LL128", "LL", "SIMPLE"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (has_part(name, all[i]))
            return all[i];
    return NULL;
}
