/*
** Goes through a JSON document value by value, whatever its size: objects and arrays are entered,
** and only values that are wanted are read into memory.
**
** 1. Brackets nest up to WALK_DEPTH deep in what is entered or passed over, and up to any depth in
**    a value that is taken.
** 2. A value, or a part of one that is passed over, is at most 16 MiB long; otherwise the document
**    is damaged there, as it is where it is not JSON or ends too early.
*/
#ifndef TRACEDIFF_JSON_WALK_H
#define TRACEDIFF_JSON_WALK_H

#include "excerpt.h"
#include "text/scan.h"

enum { WALK_DEPTH = 64 };

struct json_walk {
    const char *path; /* borrowed, like the stopper's argument */
    struct excerpt in;
    unsigned char closes[WALK_DEPTH]; /* of what was entered */
    size_t depth;
    bool first;   /* nothing of what was entered last has been met */
    bool pending; /* a value is neither taken nor entered yet */
    bool damaged;
    struct failure trouble;
    unsigned char *key; /* of the value that was met last, as it is written; NULL: in an array */
    size_t key_length, key_capacity;
    enum token_kind key_kind;
    int64_t byte; /* from 1, of that value */
};

enum walked {
    WALK_VALUE,
    WALK_END,     /* of what was entered last, which is left; or of the document */
    WALK_DAMAGED, /* walk->trouble says where */
    WALK_FAILED
};

/* False on failure. */
bool json_walk_open(struct json_walk *walk, const char *path, bool by_zlib,
                    const struct stopper *stopper, struct failure *failure);

void json_walk_close(struct json_walk *walk);

/* Goes to the next value of what was entered last, at first to the document itself. */
enum walked json_walk_next(struct json_walk *walk, struct failure *failure);

/* Whether the value that was met last has a key. */
bool json_walk_key_is(const struct json_walk *walk, const char *key);

/* Enters that value. WALK_END: it is neither an object nor an array; or not `open`, `{` or `[`. */
enum walked json_walk_enter(struct json_walk *walk, unsigned char open, struct failure *failure);

/* Reads that value; it is valid until the next call. */
enum walked json_walk_take(struct json_walk *walk, struct token *value, struct failure *failure);

#endif
