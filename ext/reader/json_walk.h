/*
** Iterates over the values of a JSON document of any size. The caller enters objects and arrays,
** and takes the values that it wants into memory.
**
** 1. Brackets nest up to WALK_DEPTH deep in entered or skipped values, and up to any depth in a
**    taken value.
** 2. Values, and parts of skipped values, are at most 16 MiB long. A longer one damages the
**    document at that place, like invalid JSON or an early end.
*/
#ifndef TRACEDIFF_JSON_WALK_H
#define TRACEDIFF_JSON_WALK_H

#include "excerpt.h"
#include "text/scan.h"

enum { WALK_DEPTH = 64 };

struct json_walk {
    const char *path; /* borrowed, like the stopper's argument */
    struct excerpt in;
    unsigned char closes[WALK_DEPTH]; /* closing brackets of the entered values */
    size_t depth;
    bool first;   /* nothing in the innermost entered value has been read */
    bool pending; /* the current value is neither taken nor entered */
    bool damaged;
    struct failure trouble;
    unsigned char *key; /* raw key of the current value; NULL in an array */
    size_t key_length, key_capacity;
    enum token_kind key_kind;
    int64_t byte; /* offset of the current value, from 1 */
};

enum walked {
    WALK_VALUE,
    WALK_END,     /* end of the innermost entered value, which is left; or of the document */
    WALK_DAMAGED, /* walk->trouble has the place */
    WALK_FAILED
};

/* Opens a file. False on failure. */
bool json_walk_open(struct json_walk *walk, const char *path, bool by_zlib,
                    const struct stopper *stopper, struct failure *failure);

void json_walk_close(struct json_walk *walk);

/* Advances to the next value in the innermost entered value; initially to the document itself. */
enum walked json_walk_next(struct json_walk *walk, struct failure *failure);

/* Whether the current value has a key. */
bool json_walk_key_is(const struct json_walk *walk, const char *key);

/* Enters the current value. WALK_END unless it begins with `open`, `{` or `[`. */
enum walked json_walk_enter(struct json_walk *walk, unsigned char open, struct failure *failure);

/* Takes the current value, valid until the next call. */
enum walked json_walk_take(struct json_walk *walk, struct token *value, struct failure *failure);

#endif
