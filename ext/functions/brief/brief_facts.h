/*
** Facts about both traces that a brief needs in addition to the answer.
*/
#ifndef TRACEDIFF_BRIEF_FACTS_H
#define TRACEDIFF_BRIEF_FACTS_H

#include "brief_evidence.h"
#include "functions/answer/call_answer.h"

struct brief_facts {
    double silent[2]; /* by side: fraction of a step without recorded host events */
    int64_t matter, may_matter; /* numbers of checks */
    bool has_shapes, has_stacks, lacks_ranks;
    struct answer_facts *of; /* source of the checks, work and device work in queries */
    /* private */
    struct answer_facts asked; /* with all requested steps (Z7) */
    struct keyed device;
    const struct keyed *own;
};

/* `all`: queries cover all steps that the call requests. On failure, fills call->failure. Close the
** facts in this case, too. */
bool brief_facts_find(struct answer *answer, bool all, struct brief_facts *facts);

/* Like device_evidence_find(), in the steps that queries cover. */
bool brief_device_find(struct brief_facts *facts, int key,
                       const struct name *name, struct evidence *evidence, bool *found);

void brief_facts_close(struct brief_facts *facts);

#endif
