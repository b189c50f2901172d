/*
** Iterates over the elements of an argument that is a JSON array, in linear time. It uses only
** SQLite's scalar functions, because a user's table could hide json_each (S11).
*/
#ifndef TRACEDIFF_JSON_ARRAY_H
#define TRACEDIFF_JSON_ARRAY_H

#include "table_function.h"

/* A zeroed struct is positioned before the first element. */
struct json_array {
    sqlite3_stmt *array, *element; /* `array` owns the text */
    const char *next, *end;        /* the rest of the text; NULL if the argument is not an array */
    int64_t count;                 /* elements so far */
};

/* Moves to the next element. Returns its type as json_type() gives it; NULL at the end, and on
** failure. */
const char *json_array_next(struct call *call, int argument, struct json_array *array);

/* The value of the current element; valid until json_array_next(). */
sqlite3_value *json_array_value(const struct json_array *array);

void json_array_close(struct json_array *array);

/* The end of a key or value of strict JSON that begins at `p`: the `,`, `:`, `}` or `]` after it,
** or `end`. */
const char *json_value_end(const char *p, const char *end);

#endif
