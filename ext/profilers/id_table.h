/*
** Tables of integers by id, for joins in memory.
*/
#ifndef TRACEDIFF_ID_TABLE_H
#define TRACEDIFF_ID_TABLE_H

#include "profiler.h"

enum { ID_VALUES = 3 /* at most */ };

struct id_row {
    int64_t id, values[ID_VALUES]; /* NUMBER_NONE: none */
};

/* A zeroed struct is an empty table. */
struct id_table {
    struct id_row *rows; /* by id after ids_order(); equal ids in the order added */
    size_t count, capacity;
};

/* Adds a row, unless its id is NUMBER_NONE. False if out of memory. */
bool ids_add(struct id_table *ids, const struct id_row *row, struct failure *failure);

bool ids_order(struct id_table *ids, const struct stopper *stopper, struct failure *failure);

/* Reads a table (NULL: no table). `columns` are the id and the values, ended by NULL. False on
** failure, or with trouble. */
bool ids_read(struct id_table *ids, struct database_read *read, struct readonly_table *table,
              const char *const *columns);

/* Finds the first row with an id; NULL if there is none. */
const struct id_row *ids_find(const struct id_table *ids, int64_t id);

/* A value of the first row with an id, or NUMBER_NONE. */
int64_t ids_value(const struct id_table *ids, int64_t id, int value);

void ids_clear(struct id_table *ids);

#endif
