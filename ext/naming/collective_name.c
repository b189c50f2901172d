#include "collective_name.h"

#include <stdio.h>
#include <string.h>

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

bool collective_is_by_all(const struct name *name)
{
    return has_word(name, known[ALL_REDUCE].word) || has_word(name, known[ALL_GATHER].word) ||
           has_word(name, known[REDUCE_SCATTER].word) || has_word(name, known[ALL_TO_ALL].word);
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

/* The first of some words that is a part of a name between `_`, with what it means. */
static const char *part_of(const struct name *name, const char *const (*all)[2], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (has_part(name, all[i][0]))
            return all[i][1];
    return "";
}

size_t collective_write(const struct name *kernel, char *text)
{
    static const char *const reductions[][2] = {
        {"Sum", "_sum"},   {"sum", "_sum"},         {"Prod", "_prod"},
        {"Max", "_max"},   {"Min", "_min"},         {"MinMax", "_minmax"},
        {"PreMulSum", "_premulsum"}, {"SumPostDiv", "_sumpostdiv"},
    };
    static const char *const types[][2] = {
        {"bfloat16", "_bf16"}, {"bf16", "_bf16"},   {"half", "_f16"},     {"f16", "_f16"},
        {"float", "_f32"},     {"f32", "_f32"},     {"double", "_f64"},   {"f64", "_f64"},
        {"int8_t", "_i8"},     {"i8", "_i8"},       {"uint8_t", "_u8"},   {"u8", "_u8"},
        {"int", "_i32"},       {"i32", "_i32"},     {"uint32_t", "_u32"}, {"u32", "_u32"},
        {"int64_t", "_i64"},   {"i64", "_i64"},     {"uint64_t", "_u64"}, {"u64", "_u64"},
    };
    enum collective does = collective_of_kernel(kernel);
    const char *end = kernel->text + kernel->length;
    bool is_kernel = begins(kernel->text, end, "nccl") && strstr(kernel->text, "Kernel");
    if (does == COLLECTIVE_NONE || !is_kernel)
        return 0;
    bool reduces = does == ALL_REDUCE || does == REDUCE_SCATTER || does == REDUCE;
    return (size_t)snprintf(
        text, COLLECTIVE_ROOM, "%s%s%s", collective_name(does),
        reduces ? part_of(kernel, reductions, sizeof reductions / sizeof *reductions) : "",
        reduces ? part_of(kernel, types, sizeof types / sizeof *types) : "");
}
