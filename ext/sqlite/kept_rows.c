#include "kept_rows.h"

#include <string.h>

#include "base/memory.h"

#define UNUSED_MEMORY ((size_t)64 << 20)

/* A rowid is the number of a tuple of arguments, counted from 1, followed by 40 bits of row
** number. */
enum { ROW_BITS = 40, MOST_TUPLES = (1 << (63 - ROW_BITS)) - 1 };

/* The arguments of a call as bytes. Keys are equal if and only if the arguments are. */
static char *tuple_key(const struct call *call, size_t *length)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendchar(text, 1, '.'); /* sqlite3_str_finish() returns NULL for an empty text */
    for (int i = 0; i < call->function->argument_count; i++) {
        sqlite3_value *value = call->values[i];
        int type = value ? sqlite3_value_type(value) : SQLITE_NULL;
        sqlite3_int64 integer = 0;
        double real;
        sqlite3_str_appendchar(text, 1, (char)type);
        if (type == SQLITE_INTEGER) {
            integer = sqlite3_value_int64(value);
        } else if (type == SQLITE_FLOAT) {
            real = sqlite3_value_double(value);
            memcpy(&integer, &real, sizeof integer);
        } else if (type != SQLITE_NULL) {
            const void *bytes = type == SQLITE_TEXT ? (const void *)sqlite3_value_text(value)
                                                    : sqlite3_value_blob(value);
            integer = sqlite3_value_bytes(value);
            if (bytes)
                sqlite3_str_append(text, bytes, (int)integer);
        }
        sqlite3_str_append(text, (const char *)&integer, sizeof integer);
    }
    *length = (size_t)sqlite3_str_length(text);
    return sqlite3_str_finish(text);
}

uint32_t kept_tuple(struct kept *kept, const struct call *call)
{
    size_t length, known = kept->tuples.count;
    if (known >= MOST_TUPLES || !MEMORY_GROW(kept->by_tuple, kept->capacity, known + 1))
        return NAME_NONE;
    char *key = tuple_key(call, &length);
    uint32_t tuple = key ? names_intern(&kept->tuples, key, length) : NAME_NONE;
    sqlite3_free(key);
    if (tuple == known)
        kept->by_tuple[tuple] = NULL;
    return tuple;
}

static void free_rows(struct kept *kept, struct kept_rows *rows)
{
    if (kept->by_tuple[rows->tuple] == rows)
        kept->by_tuple[rows->tuple] = NULL;
    rows->rows->methods->destroy(rows->rows);
    memory_free(rows);
}

static void take_from_unused(struct kept *kept, struct kept_rows *rows)
{
    *(rows->newer ? &rows->newer->older : &kept->newest) = rows->older;
    *(rows->older ? &rows->older->newer : &kept->oldest) = rows->newer;
    rows->newer = rows->older = NULL;
    kept->unused_memory -= rows->rows->memory;
}

static void add_to_unused(struct kept *kept, struct kept_rows *rows)
{
    rows->older = kept->newest;
    *(kept->newest ? &kept->newest->newer : &kept->oldest) = rows;
    kept->newest = rows;
    kept->unused_memory += rows->rows->memory;
}

void kept_trim(struct kept *kept, bool all)
{
    while (kept->oldest && (all || kept->unused_memory > UNUSED_MEMORY)) {
        struct kept_rows *oldest = kept->oldest;
        take_from_unused(kept, oldest);
        free_rows(kept, oldest);
    }
}

struct kept_rows *kept_find(const struct kept *kept, uint32_t tuple, const struct call *call)
{
    struct kept_rows *found = kept->by_tuple[tuple];
    return found && (found->columns & call->columns) == call->columns ? found : NULL;
}

bool kept_add(struct kept *kept, uint32_t tuple, const struct call *call, struct rows *rows)
{
    struct kept_rows *made = memory_zeroed(1, sizeof *made), *replaced = kept->by_tuple[tuple];
    if (!made || kept_find(kept, tuple, call)) {
        rows->methods->destroy(rows);
        memory_free(made);
        return made != NULL;
    }
    *made = (struct kept_rows){.rows = rows, .columns = call->columns, .tuple = tuple};
    kept->by_tuple[tuple] = made;
    add_to_unused(kept, made);
    if (replaced && replaced->cursors == 0) {
        take_from_unused(kept, replaced);
        free_rows(kept, replaced);
    }
    return true;
}

void kept_enter(struct kept *kept, struct kept_rows *rows)
{
    if (rows->cursors++ == 0)
        take_from_unused(kept, rows);
}

void kept_leave(struct kept *kept, struct kept_rows *rows)
{
    if (--rows->cursors > 0)
        return;
    if (kept->by_tuple[rows->tuple] == rows)
        add_to_unused(kept, rows);
    else
        free_rows(kept, rows);
}

int64_t kept_rowid(const struct kept_rows *rows, int64_t row)
{
    return ((int64_t)rows->tuple + 1) << ROW_BITS | row;
}

void kept_clear(struct kept *kept)
{
    kept_trim(kept, true);
    names_clear(&kept->tuples);
    memory_free(kept->by_tuple);
}
