/*
** The top-level members of a trace file besides traceEvents, kept as text of at most 1 MiB. The
** members that the reader needs are also parsed.
*/
#ifndef TRACEDIFF_METADATA_H
#define TRACEDIFF_METADATA_H

#include "base/failure.h"
#include "text/problems.h"
#include "text/scan.h"

struct metadata {
    int64_t rank; /* distributedInfo.rank; -1 if missing */
    int64_t base; /* baseTimeNanoseconds, ns; 0 if missing */
    bool has_base;
    bool base_seen; /* baseTimeNanoseconds exists, with any value */
    char *text; /* all members as a JSON object, without needless escapes; NUL-terminated, owned;
                ** may be NULL */
    size_t length, capacity;
    bool left_out; /* a member was left out because of its length */
};

/* Adds a member. False if out of memory. */
bool metadata_take(struct metadata *metadata, const struct token *key, const struct token *value,
                   struct problems *problems, struct failure *failure);

#endif
