#include "function.h"

#include <stdarg.h>

#include "connection.h"

int function_arguments(const struct function *function, int *required)
{
    int count = 0;
    for (*required = 0; count < MOST_FUNCTION_ARGUMENTS && function->arguments[count].name; count++)
        *required += function->arguments[count].required;
    return count;
}

void function_fail(sqlite3_context *context, const char *name, const char *format, ...)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    va_list values;
    va_start(values, format);
    sqlite3_str_appendf(text, "%s: ", name);
    sqlite3_str_vappendf(text, format, values);
    va_end(values);
    char *message = sqlite3_str_finish(text);
    if (message)
        sqlite3_result_error(context, message, -1);
    else
        sqlite3_result_error_nomem(context);
    sqlite3_free(message);
}

bool function_end_work(sqlite3_context *context, struct connection *connection, bool done,
                       struct failure *failure)
{
    connection_end_work(connection);
    if (!done)
        sqlite3_result_error_code(context, failure->code == FAILURE_INTERRUPTED ? SQLITE_INTERRUPT
                                                                                : SQLITE_NOMEM);
    failure_clear(failure);
    return done;
}
