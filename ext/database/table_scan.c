#include "table_scan.h"

#include <string.h>

#include "text/number.h"
#include "file/columns.h"

bool scan_open(struct table_scan *scan, struct readonly *readonly, struct readonly_table *table,
               const char *const *columns, const char *only, struct failure *failure)
{
    scan->readonly = readonly;
    scan->name = table->name;
    scan->filtered = only != NULL;
    if (!readonly_columns(readonly, table, failure))
        return false;
    scan->rowid_name = table->rowid;
    if (!scan->rowid_name)
        return readonly_damaged(readonly, "its columns hide its rowid", table->name, failure);
    sqlite3_str *sql = sqlite3_str_new(readonly->db);
    sqlite3_str_appendf(sql, "SELECT %s", scan->rowid_name);
    for (scan->columns = 0; columns[scan->columns]; scan->columns++) {
        const char *name = readonly_column(table, columns[scan->columns]);
        if (name)
            sqlite3_str_appendf(sql, ", \"%w\"", name);
        else
            sqlite3_str_appendall(sql, ", NULL");
    }
    sqlite3_str_appendf(sql, " FROM main.\"%w\" NOT INDEXED WHERE %s >= ?1", table->name,
                        scan->rowid_name);
    if (only)
        sqlite3_str_appendf(sql, " AND (?2 OR %s)", only);
    sqlite3_str_appendf(sql, " ORDER BY %s", scan->rowid_name);
    char *text = sqlite3_str_finish(sql);
    int code =
        text ? sqlite3_prepare_v2(readonly->db, text, -1, &scan->statement, NULL) : SQLITE_NOMEM;
    sqlite3_free(text);
    if (!readonly_check(readonly, code, table->name, failure))
        return false;
    scan_seek(scan, INT64_MIN);
    return true;
}

void scan_seek(struct table_scan *scan, int64_t rowid)
{
    sqlite3_reset(scan->statement);
    sqlite3_bind_int64(scan->statement, 1, rowid);
    scan->lowest = rowid;
    scan->ended = false;
}

/* Takes the rowid of the next row. In a tree that has a page twice rows come again; they might come
** for ever. */
static bool take_rowid(struct table_scan *scan, int64_t rowid, struct failure *failure)
{
    if (rowid < scan->lowest)
        return readonly_damaged(scan->readonly, "its rows are not in order", scan->name, failure);
    scan->rowid = rowid;
    scan->ended = rowid == INT64_MAX;
    scan->lowest = scan->ended ? rowid : rowid + 1;
    return true;
}

/* Finds the row that is too long, and goes to after it. */
static bool pass_long(struct table_scan *scan, struct failure *failure)
{
    struct readonly *readonly = scan->readonly;
    int code = SQLITE_OK;
    if (!scan->next) {
        char *sql = sqlite3_mprintf(
            "SELECT %s FROM main.\"%w\" NOT INDEXED WHERE %s >= ?1 ORDER BY %s LIMIT 1",
            scan->rowid_name, scan->name, scan->rowid_name, scan->rowid_name);
        code = sql ? sqlite3_prepare_v2(readonly->db, sql, -1, &scan->next, NULL) : SQLITE_NOMEM;
        sqlite3_free(sql);
    }
    if (code == SQLITE_OK) {
        sqlite3_bind_int64(scan->next, 1, scan->lowest);
        code = sqlite3_step(scan->next);
    }
    int64_t rowid = code == SQLITE_ROW ? sqlite3_column_int64(scan->next, 0) : 0;
    bool row = readonly_check(readonly, code, scan->name, failure) && code == SQLITE_ROW;
    sqlite3_reset(scan->next);
    if (!row || !take_rowid(scan, rowid, failure))
        return false;
    if (!scan->ended)
        scan_seek(scan, scan->lowest);
    return true;
}

enum scanned scan_next(struct table_scan *scan, struct failure *failure)
{
    int code = scan->ended ? SQLITE_DONE : sqlite3_step(scan->statement);
    if (code == SQLITE_TOOBIG && scan->filtered) {
        /* Which row it is cannot be found without reading it: from here on no row is left out. */
        scan->filtered = false;
        scan_seek(scan, scan->lowest);
        sqlite3_bind_int(scan->statement, 2, 1);
        code = sqlite3_step(scan->statement);
    }
    if (code == SQLITE_ROW) {
        if (take_rowid(scan, sqlite3_column_int64(scan->statement, 0), failure))
            return SCANNED_ROW;
    } else if (code == SQLITE_TOOBIG) {
        sqlite3_reset(scan->statement);
        if (pass_long(scan, failure))
            return SCANNED_LONG;
    } else {
        readonly_check(scan->readonly, code, scan->name, failure);
    }
    return failure->code == FAILURE_NONE ? SCANNED_END : SCANNED_FAILED;
}

void scan_close(struct table_scan *scan)
{
    sqlite3_finalize(scan->statement);
    sqlite3_finalize(scan->next);
    *scan = (struct table_scan){.statement = NULL};
}

/* A value is asked for once: sqlite3_column_int64() and the like would cost as much each time. */
static sqlite3_value *value_of(const struct table_scan *scan, int column)
{
    return sqlite3_column_value(scan->statement, column + 1);
}

bool scan_is_null(const struct table_scan *scan, int column)
{
    return sqlite3_value_type(value_of(scan, column)) == SQLITE_NULL;
}

int64_t scan_integer(const struct table_scan *scan, int column)
{
    sqlite3_value *value = value_of(scan, column);
    int64_t integer = NUMBER_NONE;
    size_t length;
    if (sqlite3_value_type(value) == SQLITE_INTEGER)
        return sqlite3_value_int64(value);
    const unsigned char *text = scan_text(scan, column, &length);
    if (text)
        number_integer(text, length, &integer);
    return integer;
}

const unsigned char *scan_text(const struct table_scan *scan, int column, size_t *length)
{
    sqlite3_value *value = value_of(scan, column);
    const unsigned char *text =
        sqlite3_value_type(value) == SQLITE_TEXT ? sqlite3_value_text(value) : NULL;
    *length = text ? (size_t)sqlite3_value_bytes(value) : 0;
    return text;
}
