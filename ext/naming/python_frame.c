#include "python_frame.h"

#include <string.h>

#include "python_path.h"
#include "text/ascii.h"

/* The `(LINE): ` of a frame; NULL if it is not there. */
static const char *find_line(const char *name, const char *end)
{
    for (const char *p = name; (p = memchr(p, '(', (size_t)(end - p))); p++) {
        const char *digits = p + 1;
        while (digits < end && is_digit(*digits))
            digits++;
        if (digits > p + 1 && begins(digits, end, "): "))
            return p;
    }
    return NULL;
}

bool frame_is_own(const char *name, size_t length, const char **function, size_t *function_length)
{
    const char *end = name + length, *line = find_line(name, end), *path = name;
    if (!line || *name == '<')
        return false;
    const char *installed = path_after(name, line, "site-packages");
    installed = installed ? installed : path_after(name, line, "dist-packages");
    if (installed)
        path = installed;
    else if (path_is_library(name, line))
        return false;
    if (path_is_module(path, line))
        return false;
    const char *after = line;
    while (*after != ' ')
        after++;
    *function = after + 1;
    *function_length = (size_t)(end - *function);
    return *function_length > 0;
}

size_t frame_function(char *to, const struct name *frame)
{
    const char *end = frame->text + frame->length, *line = find_line(frame->text, end);
    const char *file = line, *function = line;
    while (file > frame->text && !is_separator(file[-1]))
        file--;
    while (*function != ':')
        function++;
    size_t written = (size_t)(line - file), rest = (size_t)(end - function);
    memcpy(to, file, written);
    memcpy(to + written, function, rest);
    return written + rest;
}

size_t frame_method(char *to, const struct name *module, const struct name *frame)
{
    static const char prefix[] = "nn.Module: ";
    const char *function, *end = module->text + module->length, *digits = end;
    size_t length, start = sizeof prefix - 1;
    while (digits > module->text && is_digit(digits[-1]))
        digits--;
    if (digits < end && digits[-1] == '_')
        end = digits - 1;
    size_t written = (size_t)(end - module->text) - start;
    memcpy(to, module->text + start, written);
    if (!frame || !frame_is_own(frame->text, frame->length, &function, &length))
        return written;
    to[written++] = '.';
    memcpy(to + written, function, length);
    return written + length;
}
