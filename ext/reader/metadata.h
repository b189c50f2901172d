/*
** The top-level members of a trace file besides traceEvents. They are kept as text, at most 1
** MiB; those that the reader needs are also read.
*/
#ifndef TRACEDIFF_METADATA_H
#define TRACEDIFF_METADATA_H

#include "base/failure.h"
#include "text/problems.h"
#include "text/scan.h"

struct metadata {
    int64_t rank; /* distributedInfo.rank; -1 if there is none */
    int64_t base; /* baseTimeNanoseconds, ns; 0 if there is none */
    bool has_base;
    bool base_seen; /* baseTimeNanoseconds was present, whatever its value */
    char *text; /* all members as a JSON object, as written but for escapes that need not be;
                ** NUL-terminated, owned; may be NULL */
    size_t length, capacity;
    bool left_out; /* some of it was left out because of its length */
};

/* Adds a member. False if out of memory. */
bool metadata_take(struct metadata *metadata, const struct token *key, const struct token *value,
                   struct problems *problems, struct failure *failure);

#endif
