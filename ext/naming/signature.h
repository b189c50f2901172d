/*
** Reads a C++ signature in pieces, without the text in brackets:
** 1. template arguments and parameters are left out, with their brackets
** 2. the brackets of `operator()`, `operator<`, `operator->` and the like are not brackets
** 3. `(anonymous namespace)` outside brackets is a piece of its own
** 4. `->` does not close a bracket; outside brackets, after a `)`, it begins the trailing return
**    type, which is left out to the end
** 5. `>` directly inside parentheses is `greater than`
** 6. a bracket that closes nothing is left out; one that closes an outer bracket also closes
**    those inside it
*/
#ifndef TRACEDIFF_SIGNATURE_H
#define TRACEDIFF_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Initialise with {.start = name, .next = name, .end = name + length}. A copy is an independent
** reader. */
struct signature {
    const char *start, *next, *end;
    uint64_t angles; /* open brackets, a bit each, the innermost lowest; 1 means `<` */
    int depth;
    bool closed; /* a `)` closed the outermost bracket */
};

struct signature_piece {
    const char *text;
    size_t length;
    bool anonymous; /* `(anonymous namespace)` */
};

/* Gives the next piece, which is not empty; false at the end. All pieces together take time
** proportional to the length of the name. */
bool signature_next(struct signature *signature, struct signature_piece *piece);

/* Whether the word `operator` ends at `end`, not as the end of a longer word. */
bool signature_is_operator(const char *start, const char *end);

#endif
