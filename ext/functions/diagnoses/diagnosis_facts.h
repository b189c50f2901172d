/*
** What patterns may ask, as tables of a database of its own.
*/
#ifndef TRACEDIFF_DIAGNOSIS_FACTS_H
#define TRACEDIFF_DIAGNOSIS_FACTS_H

#include "functions/facts/answer_facts.h"
#include "sqlite/api.h"

/* Whether the difference is clear, of traces that can be compared. */
static inline bool facts_are_clear(const struct answer_facts *facts)
{
    return facts->judged != JUDGED_CANNOT && verdict_is_clear(&facts->pair.verdict);
}

/* Opens a database in memory with the facts of a pair that has something to compare, whose causes
** are not merged yet, and with all functions. The caller closes it, on failure, too. On failure,
** fills call->failure. */
bool diagnosis_facts_open(struct answer_facts *facts, sqlite3 **db);

/* The tables, and what follows from them: sql/diagnoses/, embedded by the build. */
extern const char diagnoses_facts_sql[];
extern const char diagnoses_derived_sql[];

#endif
