/*
** Reads the elements of a JSON array, in linear time. Only scalar functions of SQLite are used,
** because a user's table could hide json_each (S11).
*/
#ifndef TRACEDIFF_JSON_ARRAY_H
#define TRACEDIFF_JSON_ARRAY_H

#include "table_function.h"

/* Zeroed but for `given` and `sql`, it is before the first element. */
struct json_array {
    const char *given;             /* the text to read; NULL: that of the argument */
    const char *sql;               /* what `element` is, of its text; NULL: its type, and value */
    sqlite3_stmt *array, *element; /* `array` owns the text */
    const char *next, *end;        /* the rest of the text; NULL if the argument is not an array */
    sqlite3_value *value;          /* of the current element */
    int64_t count;                 /* elements so far */
};

/* Moves to the next element. Returns its type as json_type() gives it. NULL at the end, and once
** the call has failed; the array is then closed. */
const char *json_array_next(struct call *call, int argument, struct json_array *array);

/* Whether json_type() takes strict JSON only: since 3.42, it takes JSON5, and json_valid() is to be
** asked, too. That of earlier versions returns 0 if out of memory. */
bool json_type_is_strict(void);

#endif
