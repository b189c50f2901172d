/*
** The facts that patterns query, as tables of a separate database.
*/
#ifndef TRACEDIFF_DIAGNOSIS_FACTS_H
#define TRACEDIFF_DIAGNOSIS_FACTS_H

#include "functions/facts/answer_facts.h"
#include "sqlite/api.h"

/* Whether the traces can be compared and their difference is clear. */
static inline bool facts_are_clear(const struct answer_facts *facts)
{
    return facts->judged != JUDGED_CANNOT && verdict_is_clear(&facts->pair.verdict);
}

/* Opens an in-memory database with all functions and the facts of a pair that can be compared,
** before causes are merged. The caller closes it, even on failure. On failure, fills
** call->failure. */
bool diagnosis_facts_open(struct answer_facts *facts, sqlite3 **db);

/* The tables and views, from sql/diagnoses/, embedded by the build. */
extern const char diagnoses_facts_sql[];
extern const char diagnoses_derived_sql[];

#endif
