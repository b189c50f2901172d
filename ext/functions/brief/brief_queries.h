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
    char *arguments[BRIEF_ARGUMENTS]; /* as SQL literals or parameters */
    char *chosen; /* ranks and steps, for functions that do not take 'job'; NULL: too long */
    bool is_long; /* the list of steps is too long, so `chosen` has all requested steps */
};

/* On failure, fills call->failure. Close the queries in this case, too. */
bool brief_queries_find(struct call *call, const struct call_pair *pair,
                        struct brief_queries *queries);

/* Writes SQL, and replaces placeholders by arguments: `:NAME` by this one, `:given` by all,
** `:judged` by the arguments of trace_verdict, `:sides` by the first two, `:six` by the first six,
** and `:chosen` by the ranks and steps. NULLs at the end of a list are left out. */
void brief_query_write(const struct brief_queries *queries, struct writer *to, const char *sql);

/* Writes a text as an SQL literal. */
void brief_text_write(struct writer *to, const char *text, size_t length);

void brief_queries_close(struct brief_queries *queries);

#endif
