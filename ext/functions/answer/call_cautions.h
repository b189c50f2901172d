/*
** The cautions of an answer (C8), found from its facts.
*/
#ifndef TRACEDIFF_CALL_CAUTIONS_H
#define TRACEDIFF_CALL_CAUTIONS_H

#include "analysis/answer/cautions.h"
#include "analysis/answer/repeats.h"
#include "functions/facts/answer_facts.h"
#include "functions/facts/call_long_steps.h"

struct call_cautions {
    struct cautions chosen;
    struct long_steps long_steps;
    struct repeat repeat; /* borrowed from the files of the facts */
};

/* Finds the cautions of a pair that has steps to compare. `untraced` is the difference in ms
** without the profiler, or NAN. On failure, fills call->failure. Close them in this case, too. */
bool call_cautions_find(struct answer_facts *facts, double untraced, struct call_cautions *found);

/* The same for traces that cannot be compared: the other defects of the recordings (C24). */
bool call_findings_find(struct answer_facts *facts, struct call_cautions *found);

void call_cautions_close(struct call_cautions *found);

#endif
