#include "metadata_json.h"

SQLITE_EXTENSION_INIT3

int metadata_step(sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    bool fatal = code == SQLITE_NOMEM || code == SQLITE_INTERRUPT;
    return code == SQLITE_ROW || fatal ? code : SQLITE_DONE;
}

void metadata_value(struct result *result, sqlite3_stmt *statement, int column)
{
    sqlite3_value *value = sqlite3_column_value(statement, column);
    if (sqlite3_value_type(value) != SQLITE_TEXT) {
        result_value(result, value);
        return;
    }
    const char *text = (const char *)sqlite3_value_text(value);
    if (text)
        result_repaired(result, text, (size_t)sqlite3_value_bytes(value));
    else
        result_lost(result);
}
