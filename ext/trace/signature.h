/*
** A C++ signature without what stands in brackets, in pieces:
** 1. template arguments and parameters are left out, with their brackets
** 2. the brackets of `operator()`, `operator<`, `operator->` and their like are none
** 3. `(anonymous namespace)` outside of brackets is a piece of its own
** 4. `->` closes nothing; outside of brackets, after a `)`, it begins the trailing
**    return type, which is left out to the end
** 5. `>` right inside of parentheses is `greater than`
** 6. a bracket that closes none is left out; one that closes an outer bracket closes
**    those inside of it, too
*/
#ifndef TRACEDIFF_SIGNATURE_H
#define TRACEDIFF_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* To begin: {.start = name, .next = name, .end = name + length}. A copy goes on alone. */
struct signature {
    const char *start, *next, *end;
    uint64_t angles; /* the brackets that are open: a bit 1 for `<`, the innermost lowest */
    int depth;
    bool closed; /* a `)` closed the outermost bracket */
};

struct signature_piece {
    const char *text;
    size_t length;
    bool anonymous; /* `(anonymous namespace)` */
};

/* The next piece, which is not empty; false at the end. All pieces together take time
** in proportion to the name. */
bool signature_next(struct signature *signature, struct signature_piece *piece);

/* Whether `operator` ends at `end`, and no longer word does. */
bool signature_is_operator(const char *start, const char *end);

#endif
