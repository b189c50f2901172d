/*
** Strings that a database keeps in a table of their own, by id (G7).
*/
#ifndef TRACEDIFF_STRING_TABLE_H
#define TRACEDIFF_STRING_TABLE_H

#include "base/table.h"
#include "table_scan.h"

/* What a string was made into, once for each use that is made of it. */
struct string_use {
    int64_t id;
    int how;       /* which use; the owner's number */
    uint32_t name; /* id of a name of the file, or NAME_NONE */
    int what;      /* the owner's */
};

struct string_table {
    struct table_scan scan; /* without a statement if there is no such table */
    struct string_place {
        int64_t id, rowid;
    } * places; /* by id, if the ids are not rowids */
    size_t place_count, place_capacity;
    bool placed;
    bool keyed; /* the ids are the rowids */
    struct string_use *uses;
    size_t use_count, use_capacity;
    struct table table; /* finds uses */
};

/* Makes the use of a text; NULL: the id is unknown, or its value is not text. False on failure. */
typedef bool string_maker(void *owner, struct string_use *use, const unsigned char *text,
                          size_t length, struct failure *failure);

/* Opens a table; NULL: there is none, so that every id is unknown. Its id and text are the columns
** of those names. False on failure, or with trouble. */
bool strings_open(struct string_table *strings, struct readonly *readonly,
                  struct readonly_table *table, const char *id, const char *text,
                  struct failure *failure);

/* The use of an id; the first time, `make` makes it. It is valid until the next call. NULL on
** failure, or with trouble. */
const struct string_use *strings_use(struct string_table *strings, int64_t id, int how,
                                     string_maker *make, void *owner, struct failure *failure);

/* The text of an id, valid until the next call; NULL and 0 if it is unknown or no text. False on
** failure, or with trouble. */
bool strings_find(struct string_table *strings, int64_t id, const unsigned char **text,
                  size_t *length, struct failure *failure);

/* Does nothing to a zeroed struct. */
void strings_close(struct string_table *strings);

#endif
