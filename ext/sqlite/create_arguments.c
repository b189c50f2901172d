#include "create_arguments.h"

#include "text/ascii.h"
#include "nearest.h"

/* Evaluates one SQL literal by running it as SQL. Refuses everything that is not a quoted text,
** a number or NULL, so that no other SQL can run. */
static int literal_value(sqlite3 *db, const char *text, sqlite3_value **value)
{
    size_t length = strlen(text);
    bool quoted = length >= 2 && text[0] == '\'' && text[length - 1] == '\'';
    if (quoted) { /* every quote inside must be doubled */
        for (size_t i = 1; i + 1 < length; i++)
            if (text[i] == '\'' && (i + 2 >= length || text[++i] != '\''))
                return SQLITE_ERROR;
    } else if (sqlite3_stricmp(text, "NULL") != 0) {
        size_t i = text[0] == '-' || text[0] == '+';
        if (text[i] == 0 || text[i + strspn(text + i, "0123456789.")] != 0)
            return SQLITE_ERROR;
    }
    char *sql = sqlite3_mprintf("SELECT %s", text);
    if (!sql)
        return SQLITE_NOMEM;
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    sqlite3_free(sql);
    if (code != SQLITE_OK)
        return code;
    if (sqlite3_step(statement) == SQLITE_ROW) {
        *value = sqlite3_value_dup(sqlite3_column_value(statement, 0));
        code = *value ? SQLITE_OK : SQLITE_NOMEM;
    }
    int finalized = sqlite3_finalize(statement);
    return code ? code : finalized;
}

/* The index of the argument that a text of the form `name = ...` names; -1: none. Moves `*text`
** past the `=`. */
static int named_argument(const struct table_function *function, const char **text)
{
    for (int i = 0; i < function->argument_count; i++) {
        size_t length = strlen(function->arguments[i].name);
        const char *p = *text + length;
        if (sqlite3_strnicmp(*text, function->arguments[i].name, (int)length) != 0)
            continue;
        p += strspn(p, " \t\r\n");
        if (*p != '=')
            continue;
        p++;
        *text = p + strspn(p, " \t\r\n");
        return i;
    }
    return -1;
}

/* The length of the name if a text begins with any `name =`, known or not; else 0. */
static size_t name_length(const char *text)
{
    const char *p = text;
    while (is_letter(*p) || *p == '_')
        p++;
    return p[strspn(p, " \t\r\n")] == '=' ? (size_t)(p - text) : 0;
}

/* The error for an argument that the function does not have. */
static char *unknown_argument(const struct table_function *function, const char *name,
                              size_t length)
{
    struct nearest nearest = {name, length, NULL, 0};
    sqlite3_str *text = sqlite3_str_new(NULL);
    for (int i = 0; i < function->argument_count; i++)
        nearest_offer(&nearest, function->arguments[i].name);
    sqlite3_str_appendf(text, "%s: unknown argument '%.*s'; ", function->name, (int)length, name);
    if (nearest.name)
        sqlite3_str_appendf(text, "did you mean '%s'?", nearest.name);
    else
        sqlite3_str_appendall(text,
                              function->argument_count ? "it takes " : "it takes no arguments");
    for (int i = 0; !nearest.name && i < function->argument_count; i++)
        sqlite3_str_appendf(text, "%s%s", i ? ", " : "", function->arguments[i].name);
    return sqlite3_str_finish(text);
}

static int say_error(char **error, char *message)
{
    *error = message;
    return message ? SQLITE_ERROR : SQLITE_NOMEM;
}

int arguments_of_create(sqlite3 *db, const struct table_function *function, int count,
                        const char *const *texts, sqlite3_value **values, char **error)
{
    unsigned given = 0;
    for (int i = 0; i < count; i++) {
        const char *text = texts[i] + strspn(texts[i], " \t\r\n");
        int argument = named_argument(function, &text);
        if (argument < 0 && name_length(text) > 0)
            return say_error(error, unknown_argument(function, text, name_length(text)));
        if (argument < 0)
            argument = i;
        if (argument >= function->argument_count)
            return say_error(error,
                             sqlite3_mprintf("%s: it takes %d argument%s, not %d", function->name,
                                             function->argument_count,
                                             function->argument_count == 1 ? "" : "s", count));
        if (given >> argument & 1)
            return say_error(error,
                             sqlite3_mprintf("%s: argument %s is given twice", function->name,
                                             function->arguments[argument].name));
        given |= 1u << argument;
        int code = literal_value(db, text, &values[argument]);
        if (code != SQLITE_OK && code != SQLITE_NOMEM)
            *error = sqlite3_mprintf("%s: argument %d (%s) must be a number or a text in single "
                                     "quotes, not %s",
                                     function->name, argument + 1,
                                     function->arguments[argument].name, text);
        if (code != SQLITE_OK)
            return code;
        if (sqlite3_value_type(values[argument]) == SQLITE_NULL) {
            sqlite3_value_free(values[argument]);
            values[argument] = NULL;
        }
    }
    return SQLITE_OK;
}
