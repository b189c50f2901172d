#include "json_array.h"

#include "text/scan.h"

bool json_type_is_strict(void)
{
    return sqlite3_libversion_number() < 3042000;
}

/* `->` turns JSON5 into strict JSON without spaces. */
static const char array_sql[] = "SELECT ?1 -> '$' WHERE json_type(?1) = 'array'";
static const char element_sql[] = "SELECT json_type(?1), ?1 ->> '$'";

/* Opens the argument if it is an array. SQLITE_OK even if it is not, or an error. */
static int open_array(struct call *call, int argument, struct json_array *array)
{
    sqlite3 *db = call->connection->db;
    int code = sqlite3_prepare_v2(db, array_sql, -1, &array->array, NULL);
    if (code != SQLITE_OK)
        return code;
    if (array->given)
        sqlite3_bind_text(array->array, 1, array->given, -1, SQLITE_STATIC);
    else
        sqlite3_bind_value(array->array, 1, call->values[argument]);
    code = sqlite3_step(array->array);
    if (code == SQLITE_ERROR || code == SQLITE_DONE)
        return SQLITE_OK; /* malformed JSON, or not an array */
    if (code != SQLITE_ROW)
        return code;
    if (sqlite3_column_type(array->array, 0) ==
        SQLITE_NULL) /* an authorizer returned SQLITE_IGNORE */
        return SQLITE_OK;
    const char *text = (const char *)sqlite3_column_text(array->array, 0);
    if (!text)
        return SQLITE_NOMEM;
    array->end = text + sqlite3_column_bytes(array->array, 0);
    array->next = text + (*text == '[');
    return SQLITE_OK;
}

/* Moves to the next element: SQLITE_ROW, SQLITE_DONE at the end, or an error. */
static int step_element(struct call *call, struct json_array *array)
{
    const char *from = array->next;
    if (!from || from >= array->end || *from == ']')
        return SQLITE_DONE;
    const char *after = scan_strict_end(from, array->end);
    int code = array->element
                   ? sqlite3_reset(array->element)
                   : sqlite3_prepare_v2(call->connection->db, array->sql ? array->sql : element_sql,
                                        -1, &array->element, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_bind_text(array->element, 1, from, (int)(after - from), SQLITE_STATIC);
    array->next = after + (after < array->end);
    return code == SQLITE_OK ? sqlite3_step(array->element) : code;
}

const char *json_array_next(struct call *call, int argument, struct json_array *array)
{
    const char *type = NULL;
    int code = array->array ? SQLITE_OK : open_array(call, argument, array);
    if (code == SQLITE_OK && call->failure.code == FAILURE_NONE)
        code = step_element(call, array);
    if (call_check(call, code, "cannot read a JSON array: ") && code == SQLITE_ROW) {
        array->count++;
        array->value = sqlite3_column_value(array->element, 1);
        type = (const char *)sqlite3_column_text(array->element, 0);
        if (!type && sqlite3_column_type(array->element, 0) != SQLITE_NULL)
            failure_memory(&call->failure);
    }
    if (!type) {
        sqlite3_finalize(array->array);
        sqlite3_finalize(array->element);
    }
    return type;
}
