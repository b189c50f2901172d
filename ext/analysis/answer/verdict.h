/*
** Whether steps of test are slower or faster than control's, given how much steps vary (C2 to C5).
*/
#ifndef TRACEDIFF_VERDICT_H
#define TRACEDIFF_VERDICT_H

#include "pair.h"

enum verdict_is { VERDICT_NOTHING, VERDICT_SAME, VERDICT_UNCLEAR, VERDICT_SLOWER, VERDICT_FASTER };

/* The steps or the effect that a verdict of slower or faster is about. */
enum verdict_of { OF_STEPS, OF_SOME_STEPS, OF_LIKE_SIZES, OF_SOME_SIZES, OF_COMPILING };

struct pair_verdict {
    enum verdict_is is;
    enum verdict_of of;
    int64_t slow; /* number of test's steps that are clearly longer than control's (C4) */
};

/* Finds the verdict of a pair; `same`: every part takes the same time. */
bool verdict_find(struct pair_verdict *verdict, const struct pair *pair, bool same,
                  const struct stopper *stopper, struct failure *failure);

static inline bool verdict_is_clear(const struct pair_verdict *verdict)
{
    return verdict->is >= VERDICT_SLOWER;
}

/* Whether all steps of one side are longer than all steps of the other. */
bool pair_is_apart(const struct pair *pair);

#endif
