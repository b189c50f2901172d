/*
** Diagnoses: the causes of a difference as the change that a person made (DG1 to DG6).
*/
#ifndef TRACEDIFF_DIAGNOSES_H
#define TRACEDIFF_DIAGNOSES_H

#include "functions/facts/answer_facts.h"
#include "own_patterns.h"

/* Texts are ids in diagnoses.texts. */
struct diagnosis {
    uint32_t pattern, sentence, advice; /* advice: NAME_NONE, none */
    int place;       /* the rank of the pattern */
    bool is_guess;   /* it rests on time (DG4) */
    bool is_error;   /* the pattern failed; the sentence says why */
    size_t causes;   /* that it owns */
    wide_time diff;  /* of these, as in struct cause */
    double ms, share; /* no number: it owns none, or the difference is not clear */
    int64_t rank;    /* of a job, the only one that its causes are of; NUMBER_NONE */
};

struct diagnoses {
    struct names texts;
    struct diagnosis *items; /* the largest first, those without a time last, then by rank */
    size_t count, capacity;
    size_t *owners; /* by cause: the index of its diagnosis, SIZE_MAX: it has none */
    size_t cause_count;
    double ms, share; /* what no diagnosis names; no number: the difference is not clear */
};

/* Finds the diagnoses of a pair that has something to compare, whose causes are not merged yet.
** `more`: patterns of the user. On failure, fills call->failure; to be cleared then,
** too. */
bool diagnoses_find(struct answer_facts *facts, const struct own_patterns *more,
                    struct diagnoses *found);

void diagnoses_clear(struct diagnoses *found);

#endif
