/*
** Diagnoses: the changes that a person made, recognized from the causes of a difference (DG1 to
** DG6).
*/
#ifndef TRACEDIFF_DIAGNOSES_H
#define TRACEDIFF_DIAGNOSES_H

#include "functions/facts/answer_facts.h"
#include "own_patterns.h"

/* Texts are ids in diagnoses.texts. */
struct diagnosis {
    uint32_t pattern, sentence, advice; /* advice: NAME_NONE: none */
    int place;       /* rank of the pattern */
    bool is_guess;   /* it rests on times (DG4) */
    bool is_error;   /* the pattern failed; the sentence has the error */
    size_t causes;   /* number of causes that it owns */
    wide_time diff;  /* sum of these causes, in the unit of struct cause */
    double ms, share; /* NAN: it owns no causes, or the difference is not clear */
    int64_t rank;    /* in a job: the only rank of its causes, or NUMBER_NONE */
};

struct diagnoses {
    struct names texts;
    struct diagnosis *items; /* largest first, then diagnoses without a time, then by rank */
    size_t count, capacity;
    size_t *owners; /* by cause: index of its diagnosis; SIZE_MAX: none */
    size_t cause_count;
    double ms, share; /* unexplained part; NAN: the difference is not clear */
};

/* Finds the diagnoses of a pair that can be compared, before causes are merged. `more` has the
** user's patterns. On failure, fills call->failure. Clear them in this case, too. */
bool diagnoses_find(struct answer_facts *facts, const struct own_patterns *more,
                    struct diagnoses *found);

void diagnoses_clear(struct diagnoses *found);

#endif
