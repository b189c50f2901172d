#include "id_table.h"

#include "base/memory.h"
#include "base/sort.h"

bool ids_add(struct id_table *ids, const struct id_row *row, struct failure *failure)
{
    if (row->id == NUMBER_NONE)
        return true;
    if (!MEMORY_GROW(ids->rows, ids->capacity, ids->count + 1))
        return failure_memory(failure);
    ids->rows[ids->count++] = *row;
    return true;
}

static int id_order(const void *a, const void *b)
{
    const struct id_row *x = a, *y = b;
    return COMPARE(x->id, y->id);
}

bool ids_order(struct id_table *ids, const struct stopper *stopper, struct failure *failure)
{
    return sort_items(ids->rows, ids->count, sizeof *ids->rows, id_order, stopper, failure);
}

bool ids_read(struct id_table *ids, struct database_read *read, struct readonly_table *table,
              const char *const *columns)
{
    struct table_scan scan = {.statement = NULL};
    enum scanned scanned = SCANNED_FAILED;
    if (!table)
        return true;
    bool done = scan_open(&scan, read->readonly, table, columns, NULL, read->failure);
    while (done && ((scanned = scan_next(&scan, read->failure)) == SCANNED_ROW ||
                    scanned == SCANNED_LONG)) {
        struct id_row row = {.id = NUMBER_NONE};
        if (scanned == SCANNED_LONG)
            continue;
        row.id = scan_integer(&scan, 0);
        for (int i = 0; i < ID_VALUES; i++)
            row.values[i] = i + 1 < scan.columns ? scan_integer(&scan, i + 1) : NUMBER_NONE;
        done = ids_add(ids, &row, read->failure);
    }
    scan_close(&scan);
    return done && scanned == SCANNED_END && read->readonly->trouble.code == FAILURE_NONE &&
           ids_order(ids, &read->readonly->stopper, read->failure);
}

const struct id_row *ids_find(const struct id_table *ids, int64_t id)
{
    const struct id_row *rows = ids->rows;
    size_t i = 0;
    if (ids->count == 0 || id < rows[0].id)
        return NULL;
    uint64_t guess = (uint64_t)id - (uint64_t)rows[0].id; /* most ids are consecutive */
    if (guess < ids->count && rows[guess].id == id && (guess == 0 || rows[guess - 1].id != id))
        return &rows[guess];
    LOWER_BOUND(i, ids->count, rows[i].id < id);
    return i < ids->count && rows[i].id == id ? &rows[i] : NULL;
}

int64_t ids_value(const struct id_table *ids, int64_t id, int value)
{
    const struct id_row *row = id == NUMBER_NONE ? NULL : ids_find(ids, id);
    return row ? row->values[value] : NUMBER_NONE;
}

void ids_clear(struct id_table *ids)
{
    memory_free(ids->rows);
    *ids = (struct id_table){.rows = NULL};
}
