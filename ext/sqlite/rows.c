#include "rows.h"

#include <string.h>

#include "base/memory.h"
#include "text/text.h"

enum { TEXT_BLOCK = 16 * 1024 };

struct result_cell {
    int type;        /* SQLITE_INTEGER ... SQLITE_NULL */
    uint32_t length; /* bytes of a text or blob */
    union {
        int64_t integer;
        double real;
        const char *text;
    } value;
};

struct text_block {
    struct text_block *next;
    size_t used, size;
    char bytes[];
};

struct result {
    struct rows rows; /* must be first */
    int columns;
    bool no_memory;
    struct result_cell *cells;
    size_t count, capacity;
    struct text_block *texts;
};

static int result_column(struct rows *rows, struct row_scan *scan, const struct position *position,
                         int column, sqlite3_context *context, struct failure *failure)
{
    const struct result *result = (const struct result *)rows;
    (void)scan;
    (void)failure;
    const struct result_cell *cell = &result->cells[position->row * result->columns + column];
    switch (cell->type) {
    case SQLITE_INTEGER:
        sqlite3_result_int64(context, cell->value.integer);
        break;
    case SQLITE_FLOAT:
        sqlite3_result_double(context, cell->value.real);
        break;
    case SQLITE_TEXT:
        sqlite3_result_text64(context, cell->value.text, cell->length, SQLITE_TRANSIENT,
                              SQLITE_UTF8);
        break;
    case SQLITE_BLOB:
        sqlite3_result_blob64(context, cell->value.text, cell->length, SQLITE_TRANSIENT);
        break;
    default:
        sqlite3_result_null(context);
    }
    return SQLITE_OK;
}

static void result_destroy(struct rows *rows)
{
    struct result *result = (struct result *)rows;
    for (struct text_block *block = result->texts; block;) {
        struct text_block *next = block->next;
        memory_free(block);
        block = next;
    }
    memory_free(result->cells);
    memory_free(result);
}

static const struct rows_methods result_methods = {.column = result_column,
                                                   .destroy = result_destroy};

struct result *result_new(int columns)
{
    struct result *result = memory_zeroed(1, sizeof *result);
    if (!result)
        return NULL;
    result->rows.methods = &result_methods;
    result->columns = columns;
    return result;
}

static void add_cell(struct result *result, struct result_cell cell)
{
    if (!result || result->no_memory)
        return;
    if (!MEMORY_GROW(result->cells, result->capacity, result->count + 1)) {
        result->no_memory = true;
        return;
    }
    result->cells[result->count++] = cell;
}

/* A copy that the result owns; NULL if out of memory. */
static const char *keep_bytes(struct result *result, const void *bytes, size_t length)
{
    struct text_block *block = result->texts;
    if (!block || block->size - block->used < length) {
        size_t size = length > TEXT_BLOCK ? length : TEXT_BLOCK;
        block = memory_allocate(sizeof *block + size);
        if (!block) {
            result->no_memory = true;
            return NULL;
        }
        *block = (struct text_block){.next = result->texts, .size = size};
        result->texts = block;
        result->rows.memory += size;
    }
    char *to = block->bytes + block->used;
    if (length > 0)
        memcpy(to, bytes, length);
    block->used += length;
    return to;
}

static void add_bytes(struct result *result, int type, const void *bytes, size_t length)
{
    if (!result || result->no_memory)
        return;
    const char *kept = keep_bytes(result, bytes, length);
    add_cell(result, (struct result_cell){type, (uint32_t)length, {.text = kept}});
}

void result_null(struct result *result)
{
    add_cell(result, (struct result_cell){.type = SQLITE_NULL});
}

void result_nulls(struct result *result, int count)
{
    while (count-- > 0)
        result_null(result);
}

void result_integer(struct result *result, int64_t value)
{
    add_cell(result, (struct result_cell){SQLITE_INTEGER, 0, {.integer = value}});
}

void result_number(struct result *result, int64_t value)
{
    if (value == NUMBER_NONE)
        result_null(result);
    else
        result_integer(result, value);
}

void result_real(struct result *result, double value)
{
    add_cell(result, (struct result_cell){SQLITE_FLOAT, 0, {.real = value}});
}

void result_text(struct result *result, const char *text, size_t length)
{
    if (text)
        add_bytes(result, SQLITE_TEXT, text, length);
    else
        result_null(result);
}

void result_string(struct result *result, const char *text)
{
    result_text(result, text, text ? strlen(text) : 0);
}

void result_repaired(struct result *result, const char *text, size_t length)
{
    char *repaired = text_repaired(text, &length);
    if (repaired)
        result_text(result, repaired, length);
    else
        result_lost(result);
    memory_free(repaired);
}

void result_named(struct result *result, const struct name *name)
{
    result_text(result, name ? name->text : NULL, name ? name->length : 0);
}

void result_name(struct result *result, const struct names *names, uint32_t id)
{
    result_named(result, id == NAME_NONE ? NULL : &names->items[id]);
}

void result_value(struct result *result, sqlite3_value *value, bool repair)
{
    const void *bytes;
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        result_integer(result, sqlite3_value_int64(value));
        break;
    case SQLITE_FLOAT:
        result_real(result, sqlite3_value_double(value));
        break;
    case SQLITE_TEXT:
        bytes = sqlite3_value_text(value);
        if (!bytes)
            result_lost(result);
        else
            (repair ? result_repaired : result_text)(result, bytes,
                                                     (size_t)sqlite3_value_bytes(value));
        break;
    case SQLITE_BLOB:
        bytes = sqlite3_value_blob(value);
        add_bytes(result, SQLITE_BLOB, bytes, (size_t)sqlite3_value_bytes(value));
        break;
    default:
        result_null(result);
    }
}

void result_lost(struct result *result)
{
    if (result)
        result->no_memory = true;
}

int result_finish(struct result *result, int code, struct rows **rows)
{
    if (code == SQLITE_OK && (!result || result->no_memory))
        code = SQLITE_NOMEM;
    if (code == SQLITE_OK) {
        result->rows.count = (int64_t)(result->count / (size_t)result->columns);
        result->rows.memory += result->capacity * sizeof *result->cells;
        *rows = &result->rows;
    } else if (result) {
        result_destroy(&result->rows);
    }
    return code;
}
