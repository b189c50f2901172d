/*
** What a brief asks of both traces beside the answer.
*/
#ifndef TRACEDIFF_BRIEF_FACTS_H
#define TRACEDIFF_BRIEF_FACTS_H

#include "brief_evidence.h"
#include "functions/answer/call_answer.h"

struct brief_facts {
    double silent[2]; /* by side: the part of a step in which nothing is recorded of the host */
    int64_t matter, may_matter; /* checks */
    bool has_shapes, has_stacks, lacks_ranks;
    struct answer_facts *of; /* whose checks, work and device work queries ask for */
    /* private */
    struct answer_facts asked; /* of all steps that were asked for (Z7) */
    struct keyed device;
    const struct keyed *own;
};

/* `all`: queries ask for all steps that the call asks for. On failure, fills call->failure; to be
** closed then, too. */
bool brief_facts_find(struct answer *answer, bool all, struct brief_facts *facts);

/* As device_evidence_find(), of the steps that queries ask for. */
bool brief_device_find(struct brief_facts *facts, int key,
                       const struct name *name, struct evidence *evidence, bool *found);

void brief_facts_close(struct brief_facts *facts);

#endif
