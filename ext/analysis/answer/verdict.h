/*
** Whether a step is slower or faster in test, beside how much steps vary (C2 to C5).
*/
#ifndef TRACEDIFF_VERDICT_H
#define TRACEDIFF_VERDICT_H

#include "pair.h"

enum verdict_is { VERDICT_NOTHING, VERDICT_SAME, VERDICT_UNCLEAR, VERDICT_SLOWER, VERDICT_FASTER };

/* Of which steps a verdict of slower or faster is. */
enum verdict_of { OF_STEPS, OF_SOME_STEPS, OF_LIKE_SIZES, OF_SOME_SIZES, OF_COMPILING };

struct pair_verdict {
    enum verdict_is is;
    enum verdict_of of;
    int64_t slow; /* of test's steps those that are longer than all of control's (C4) */
};

/* The verdict of a pair; `same`: every part takes the same time. */
bool verdict_find(struct pair_verdict *verdict, const struct pair *pair, bool same,
                  const struct stopper *stopper, struct failure *failure);

static inline bool verdict_is_clear(const struct pair_verdict *verdict)
{
    return verdict->is >= VERDICT_SLOWER;
}

/* Whether all steps of a side are longer than all of the other one. */
bool pair_is_apart(const struct pair *pair);

#endif
