/*
** The text of a gate's outcome and reason.
*/
#ifndef TRACEDIFF_GATE_WORDS_H
#define TRACEDIFF_GATE_WORDS_H

#include "analysis/answer/checks.h"
#include "analysis/answer/gate.h"
#include "chart/writer.h"
#include "trace/common_ranks.h"

/* Facts that reasons mention. */
struct gate_facts {
    const struct pair *pair;
    const struct pair_verdict *verdict;
    enum judged judged;
    const struct common_ranks *ranks; /* needed for GATE_RANKS */
    const struct checks *checks;      /* needed for GATE_HEALTH, GATE_WORLD and GATE_DEVICE */
};

/* Returns pass, fail or not known. */
const char *gate_words(enum gate_outcome outcome);

/* Returns steps, ranks, ...; NULL without a reason. */
const char *gate_code(enum gate_reason reason);

void write_gate_reason(struct writer *text, enum gate_reason reason,
                       const struct gate_facts *facts);

#endif
