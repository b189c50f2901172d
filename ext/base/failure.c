#include "failure.h"

#include <stdarg.h>
#include <stdio.h>

#include "memory.h"

bool failure_set(struct failure *failure, enum failure_code code, const char *format, ...)
{
    if (failure->code != FAILURE_NONE)
        return false;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        return failure_memory(failure);
    char *text = memory_allocate((size_t)length + 1);
    if (!text)
        return failure_memory(failure);
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    failure->code = code;
    failure->text = text;
    return false;
}

bool failure_at(struct failure *failure, enum failure_code code, const char *path, const char *what,
                long long byte)
{
    if (failure->code != FAILURE_NONE)
        return false;
    if (byte > 0)
        failure_set(failure, code, "'%s': %s at byte %lld", path, what, byte);
    else
        failure_set(failure, code, "'%s': %s", path, what);
    failure->what = what;
    failure->byte = byte;
    return false;
}

bool failure_memory(struct failure *failure)
{
    if (failure->code == FAILURE_NONE)
        failure->code = FAILURE_MEMORY;
    return false;
}

void failure_clear(struct failure *failure)
{
    memory_free(failure->text);
    *failure = (struct failure){FAILURE_NONE, NULL, NULL, 0};
}

bool failure_copy(struct failure *to, const struct failure *from)
{
    return from->text ? failure_set(to, from->code, "%s", from->text) : failure_memory(to);
}

void failure_move(struct failure *to, struct failure *from)
{
    if (to->code == FAILURE_NONE) {
        *to = *from;
        *from = (struct failure){FAILURE_NONE, NULL, NULL, 0};
    } else {
        failure_clear(from);
    }
}
