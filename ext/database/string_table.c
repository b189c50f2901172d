#include "string_table.h"

#include "base/memory.h"
#include "file/columns.h"
#include "base/hash.h"
#include "base/sort.h"

enum { COLUMN_ID, COLUMN_TEXT };

static uint64_t hash_of(int64_t id, int how)
{
    return hash_mixed((uint64_t)id ^ hash_key(), HASH_ODD + (unsigned)how);
}

static uint64_t hash_of_use(const void *strings, uint32_t i)
{
    const struct string_use *use = &((const struct string_table *)strings)->uses[i];
    return hash_of(use->id, use->how);
}

struct use_key {
    const struct string_table *strings;
    int64_t id;
    int how;
};

static bool is_use(const void *key, uint32_t i)
{
    const struct use_key *of = key;
    return of->strings->uses[i].id == of->id && of->strings->uses[i].how == of->how;
}

bool strings_open(struct string_table *strings, struct readonly *readonly,
                  struct readonly_table *table, const char *id, const char *text,
                  struct failure *failure)
{
    const char *const columns[] = {id, text, NULL};
    if (!table)
        return true;
    if (!scan_open(&strings->scan, readonly, table, columns, NULL, failure))
        return false;
    strings->keyed = table->key && sqlite3_stricmp(table->key, id) == 0;
    return true;
}

static int place_order(const void *a, const void *b)
{
    const struct string_place *x = a, *y = b;
    return COMPARE(x->id, y->id);
}

/* Finds the row of each id in one pass: the ids are not the rowids. Of doubles the first counts. */
static bool find_places(struct string_table *strings, struct failure *failure)
{
    struct table_scan *scan = &strings->scan;
    enum scanned scanned;
    scan_seek(scan, INT64_MIN);
    while ((scanned = scan_next(scan, failure)) == SCANNED_ROW || scanned == SCANNED_LONG) {
        int64_t id = scanned == SCANNED_ROW ? scan_integer(scan, COLUMN_ID) : NUMBER_NONE;
        if (id == NUMBER_NONE)
            continue;
        if (!MEMORY_GROW(strings->places, strings->place_capacity, strings->place_count + 1))
            return failure_memory(failure);
        strings->places[strings->place_count++] = (struct string_place){id, scan->rowid};
    }
    strings->placed = true;
    return scanned == SCANNED_END && scan->readonly->trouble.code == FAILURE_NONE &&
           sort_items(strings->places, strings->place_count, sizeof *strings->places, place_order,
                      &scan->readonly->stopper, failure);
}

/* Reads the text at a rowid, if there is a row with this id. */
static bool read_at(struct string_table *strings, int64_t rowid, int64_t id,
                    const unsigned char **text, size_t *length, struct failure *failure)
{
    struct table_scan *scan = &strings->scan;
    scan_seek(scan, rowid);
    enum scanned scanned = scan_next(scan, failure);
    if (scanned == SCANNED_ROW && scan->rowid == rowid && scan_integer(scan, COLUMN_ID) == id)
        *text = scan_text(scan, COLUMN_TEXT, length);
    return scanned != SCANNED_FAILED && scan->readonly->trouble.code == FAILURE_NONE;
}

bool strings_find(struct string_table *strings, int64_t id, const unsigned char **text,
                  size_t *length, struct failure *failure)
{
    *text = NULL;
    *length = 0;
    if (!strings->scan.statement || id == NUMBER_NONE)
        return true;
    if (strings->keyed)
        return read_at(strings, id, id, text, length, failure);
    if (!strings->placed && !find_places(strings, failure))
        return false;
    size_t i = 0;
    LOWER_BOUND(i, strings->place_count, strings->places[i].id < id);
    if (i == strings->place_count || strings->places[i].id != id)
        return true;
    return read_at(strings, strings->places[i].rowid, id, text, length, failure);
}

const struct string_use *strings_use(struct string_table *strings, int64_t id, int how,
                                     string_maker *make, void *owner, struct failure *failure)
{
    struct use_key key = {strings, id, how};
    if (!MEMORY_GROW(strings->uses, strings->use_capacity, strings->use_count + 1) ||
        !table_reserve(&strings->table, strings->use_count, hash_of_use, strings)) {
        failure_memory(failure);
        return NULL;
    }
    uint32_t *slot = table_slot(&strings->table, hash_of(id, how), is_use, &key);
    if (*slot)
        return &strings->uses[*slot - 1];
    const unsigned char *text;
    size_t length;
    struct string_use *use = &strings->uses[strings->use_count];
    *use = (struct string_use){.id = id, .how = how, .name = NAME_NONE};
    if (!strings_find(strings, id, &text, &length, failure) ||
        !make(owner, use, text, length, failure))
        return NULL;
    *slot = (uint32_t)++strings->use_count;
    return use;
}

void strings_close(struct string_table *strings)
{
    scan_close(&strings->scan);
    memory_free(strings->places);
    memory_free(strings->uses);
    table_clear(&strings->table);
    *strings = (struct string_table){.places = NULL};
}
