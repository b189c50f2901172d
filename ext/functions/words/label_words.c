#include "label_words.h"

#include <stdarg.h>

#include "base/memory.h"
#include "naming/label.h"
#include "sqlite/api.h"

void write_label_of_name(struct writer *text, const struct name *name)
{
    size_t room = (size_t)name->length + LABEL_ROOM;
    char *to = memory_allocate(2 * room);
    if (to)
        write_bytes(text, to, label_write(name->text, name->length, to + room, to));
    else
        text->failed = true;
    memory_free(to);
}

void write_format(struct writer *text, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *written = sqlite3_vmprintf(format, values);
    va_end(values);
    if (written)
        write_string(text, written);
    else
        text->failed = true;
    sqlite3_free(written);
}
