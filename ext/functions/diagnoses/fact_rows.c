#include "fact_rows.h"

#include <math.h>
#include <string.h>

#include "file/columns.h"

void fact_rows_begin(struct fact_rows *rows, sqlite3 *db, const char *table, int columns)
{
    static const char values[] = "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?";
    *rows = (struct fact_rows){.column = 1};
    char *sql = sqlite3_mprintf("INSERT INTO \"%w\" VALUES (%.*s)", table, 2 * columns - 1, values);
    rows->code = sql ? sqlite3_prepare_v2(db, sql, -1, &rows->insert, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
}

int fact_rows_end(struct fact_rows *rows)
{
    sqlite3_finalize(rows->insert);
    rows->insert = NULL;
    return rows->code;
}

static void keep(struct fact_rows *rows, int code)
{
    rows->column++;
    if (rows->code == SQLITE_OK)
        rows->code = code;
}

void fact_text(struct fact_rows *rows, const char *text, size_t length)
{
    keep(rows, text && rows->code == SQLITE_OK
                   ? sqlite3_bind_text64(rows->insert, rows->column, text, length, SQLITE_STATIC,
                                         SQLITE_UTF8)
                   : SQLITE_OK);
}

void fact_string(struct fact_rows *rows, const char *text)
{
    fact_text(rows, text, text ? strlen(text) : 0);
}

void fact_name(struct fact_rows *rows, const struct names *names, uint32_t id)
{
    const struct name *name = id == NAME_NONE ? NULL : &names->items[id];
    fact_text(rows, name ? name->text : NULL, name ? name->length : 0);
}

void fact_integer(struct fact_rows *rows, int64_t value)
{
    keep(rows, value != NUMBER_NONE && rows->code == SQLITE_OK
                   ? sqlite3_bind_int64(rows->insert, rows->column, value)
                   : SQLITE_OK);
}

void fact_real(struct fact_rows *rows, double value)
{
    keep(rows, !isnan(value) && rows->code == SQLITE_OK
                   ? sqlite3_bind_double(rows->insert, rows->column, value)
                   : SQLITE_OK);
}

void fact_row(struct fact_rows *rows)
{
    if (rows->code == SQLITE_OK) {
        sqlite3_step(rows->insert);
        rows->code = sqlite3_reset(rows->insert);
        sqlite3_clear_bindings(rows->insert);
    }
    rows->column = 1;
}
