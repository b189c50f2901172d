/*
** The queries of a brief, with the arguments of its call (Z6).
*/
#ifndef TRACEDIFF_BRIEF_QUERIES_H
#define TRACEDIFF_BRIEF_QUERIES_H

#include "chart/writer.h"
#include "functions/facts/call_pair.h"

enum { BRIEF_ARGUMENTS = 14 };

struct brief_queries {
    const struct argument *names;
    char *arguments[BRIEF_ARGUMENTS]; /* in SQL */
    char *chosen; /* ranks and steps, for functions that do not take 'job'; NULL: too long */
    bool is_long; /* the list of steps is too long: `chosen` has all that were asked for */
};

/* On failure, fills call->failure; to be closed then, too. */
bool brief_queries_find(struct call *call, const struct call_pair *pair,
                        struct brief_queries *queries);

/* Writes SQL. For `:NAME` it has that argument; for `:given` all of them, for `:judged` those of
** trace_verdict, for `:sides` the first two, for `:six` the first six, and for `:chosen` these.
** NULLs at the end of a list are left out. */
void brief_query_write(const struct brief_queries *queries, struct writer *to, const char *sql);

/* Writes a text as a literal. */
void brief_text_write(struct writer *to, const char *text, size_t length);

void brief_queries_close(struct brief_queries *queries);

#endif
