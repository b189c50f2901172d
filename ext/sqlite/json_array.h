/*
** The elements of an argument that is a JSON array, in time proportional to it. Scalar
** functions do it: a table of the user's could hide json_each (S11).
*/
#ifndef TRACEDIFF_JSON_ARRAY_H
#define TRACEDIFF_JSON_ARRAY_H

#include "table_function.h"

/* A zeroed struct is before the first element. */
struct json_array {
    sqlite3_stmt *array, *element; /* array holds the text */
    const char *next, *end;        /* of the text; NULL if the argument is not an array */
    int64_t count;                 /* elements so far */
};

/* The type of the next element, as json_type() has it; NULL at the end, and on failure. */
const char *json_array_next(struct call *call, int argument, struct json_array *array);

/* The value of that element. */
sqlite3_value *json_array_value(const struct json_array *array);

void json_array_close(struct json_array *array);

/* From a key or a value of strict JSON to the `,`, `:`, `}` or `]` that follows it, or to
** the end. */
const char *json_value_end(const char *p, const char *end);

#endif
