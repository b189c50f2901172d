#include "cause_rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "naming/collective_name.h"

enum { MOST_RATED_RANKS = 16 }; /* ranks of a group to read; they resemble each other */

/* Writes the operation of a kernel, because a cause may cover several names of it (L12.4). */
static size_t does(const struct name *name, char *text)
{
    size_t length = collective_write(name, text);
    if (length == 0 && name->length < COLLECTIVE_ROOM)
        memcpy(text, name->text, length = name->length);
    return length;
}

static bool is_same(const struct name *a, const struct name *b, bool exact)
{
    char one[COLLECTIVE_ROOM], other[COLLECTIVE_ROOM];
    if (exact)
        return name_compare(a, b) == 0;
    size_t length = does(a, one);
    return length > 0 && length == does(b, other) && memcmp(one, other, length) == 0;
}

static void add(struct cause_split *split, const struct collective_rate *rate, bool first)
{
    int side = rate->side;
    split->calls[side] += rate->calls;
    split->ns[side] += rate->ns;
    split->bytes[side] += rate->bytes;
    split->gbs[side] += rate->bytes * rate->bus;
    split->with_waits |= rate->with_waits;
    if (first || split->algorithm[side] == rate->algorithm)
        split->algorithm[side] = rate->algorithm;
    else
        split->algorithm[side] = NAME_NONE;
    split->protocol[side] =
        first || split->protocol[side] == rate->protocol ? rate->protocol : NAME_NONE;
    split->channels[side] = first || split->channels[side] == rate->channels ? rate->channels : 0;
}

bool collective_rate_has(const struct cause_rates *rates, const struct collective_rate *rate,
                         long rank)
{
    const char *at = rate->ranks == NAME_NONE ? "" : rates->names.items[rate->ranks].text;
    char *end;
    for (; *at == '[' || *at == ','; at = end)
        if (strtol(at + 1, &end, 10) == rank)
            return true;
    return false;
}

/* Sums up a cause's collectives on one rank. Returns whether both sides have any. */
static bool sum_up(struct cause_split *split, const struct name *name,
                   const struct cause_rates *rates, long rank, bool exact)
{
    *split = (struct cause_split){.with_waits = false};
    for (size_t i = 0; i < rates->count; i++) {
        const struct collective_rate *rate = &rates->items[i];
        if (collective_rate_has(rates, rate, rank) &&
            is_same(name, &rates->names.items[rate->name], exact))
            add(split, rate, split->calls[rate->side] == 0);
    }
    for (int side = 0; side < 2; side++) {
        split->gbs[side] /= split->ns[side];
        split->calls[side] /= rates->steps[side];
        split->ns[side] /= rates->steps[side];
        split->bytes[side] /= rates->steps[side];
    }
    return split->calls[0] > 0 && split->calls[1] > 0 && split->ns[0] > 0 && split->ns[1] > 0;
}

/* Returns control's collectives whose transfers differ most from the same group's in test; NULL if
** control has none of the name. */
static const struct collective_rate *find_group(const struct name *name,
                                                const struct cause_rates *rates, bool exact)
{
    const struct collective_rate *found = NULL;
    double most = -1;
    for (size_t i = 0; i < rates->count; i++) {
        const struct collective_rate *rate = &rates->items[i];
        if (rate->side == 1 || !is_same(name, &rates->names.items[rate->name], exact))
            continue;
        double differs = 0;
        for (size_t j = 0; j < rates->count; j++) {
            const struct collective_rate *other = &rates->items[j];
            if (other->side == 1 && other->group == rate->group && other->ranks == rate->ranks &&
                is_same(name, &rates->names.items[other->name], exact))
                differs = fabs(other->ns / rates->steps[1] - rate->ns / rates->steps[0]);
        }
        if (differs > most) {
            most = differs;
            found = rate;
        }
    }
    return found;
}

/* Finds the rank of that group whose transfers explain a cause best. */
static bool find_rank(struct cause_split *best, const struct name *name, double whole,
                      const struct cause_rates *rates, bool exact)
{
    const struct collective_rate *rate = find_group(name, rates, exact);
    const char *at =
        !rate || rate->ranks == NAME_NONE ? "" : rates->names.items[rate->ranks].text;
    bool found = false;
    char *end;
    for (int i = 0; i < MOST_RATED_RANKS && (*at == '[' || *at == ','); i++, at = end) {
        struct cause_split split;
        if (!sum_up(&split, name, rates, strtol(at + 1, &end, 10), exact))
            continue;
        split.by_overlap = whole - (split.ns[1] - split.ns[0]);
        if (!found || fabs(split.by_overlap) < fabs(best->by_overlap))
            *best = split;
        found = true;
    }
    return found;
}

bool cause_split_find(struct cause_split *split, const struct causes *causes,
                      const struct cause *cause, const struct cause_rates *rates)
{
    if (cause->step_class != CLASS_COMM || cause->name == NAME_NONE)
        return false;
    const struct name *name = &causes->names.items[cause->name];
    double whole = (double)cause->diff / (double)causes->windows[0] / (double)causes->windows[1];
    if (!find_rank(split, name, whole, rates, true) &&
        !find_rank(split, name, whole, rates, false))
        return false;
    const double *calls = split->calls, *ns = split->ns, *bytes = split->bytes;
    double at_calls = ns[0] * calls[1] / calls[0];
    double at_bytes = bytes[0] > 0 && bytes[1] >= 0 ? ns[0] * bytes[1] / bytes[0] : NAN;
    split->by_calls = at_calls - ns[0];
    split->by_bytes = at_bytes - at_calls;
    split->by_bandwidth = ns[1] - (isnan(at_bytes) ? at_calls : at_bytes);
    return true;
}

bool cause_split_is_overlap(const struct cause_split *split)
{
    double by_bytes = isnan(split->by_bytes) ? 0 : split->by_bytes;
    return fabs(split->by_overlap) >
           fmax(fabs(split->by_calls + by_bytes), fabs(split->by_bandwidth));
}

bool cause_rates_wanted(const struct causes *causes)
{
    wide_time all = 0, most = 0;
    for (size_t i = 0; i < causes->count; i++) {
        const struct cause *cause = &causes->items[i];
        wide_time size = wide_size(cause->diff);
        all += size;
        if (cause->step_class == CLASS_COMM && cause->name != NAME_NONE && size > most)
            most = size;
    }
    return most > 0 && 100 * most >= all;
}

void cause_rates_clear(struct cause_rates *rates)
{
    names_clear(&rates->names);
    memory_free(rates->items);
    *rates = (struct cause_rates){.items = NULL};
}
