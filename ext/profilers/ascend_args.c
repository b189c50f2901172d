#include "ascend.h"

#include <string.h>

#include "text/ascii.h"

/* A part of a list, up to a semicolon, without surrounding white space. */
struct part {
    const unsigned char *at;
    size_t length;
};

static bool is_space(int c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Advances to the next part of a list; false after the last. `*rest` starts at the beginning of the
** list, and is NULL after the last part. */
static bool next_part(const unsigned char **rest, const unsigned char *end, struct part *part)
{
    if (!*rest)
        return false;
    const unsigned char *start = *rest;
    const unsigned char *stop = memchr(start, ';', (size_t)(end - start));
    *rest = stop ? stop + 1 : NULL;
    stop = stop ? stop : end;
    while (start < stop && is_space(*start))
        start++;
    while (start < stop && is_space(stop[-1]))
        stop--;
    *part = (struct part){start, (size_t)(stop - start)};
    return true;
}

/* Whether a part is empty, or integers separated by commas. */
static bool is_shape(const struct part *part)
{
    bool digit = false;
    for (size_t i = 0; i < part->length; i++) {
        if (!is_digit(part->at[i]) && (part->at[i] != ',' || !digit))
            return false;
        digit = is_digit(part->at[i]);
    }
    return digit || part->length == 0;
}

/* Whether a text is a list of shapes such as `64,32;;`. */
static bool is_shapes(const unsigned char *text, size_t length)
{
    const unsigned char *rest = text;
    struct part part;
    while (next_part(&rest, text + length, &part))
        if (!is_shape(&part))
            return false;
    return text != NULL;
}

/* Writes a list of shapes, `64,32;;` as [[64,32],[],[]]. */
static void write_shapes(const unsigned char *text, size_t length, sqlite3_str *json)
{
    const unsigned char *rest = text;
    struct part part;
    args_raw(json, "Input Dims", "[", 1);
    for (bool first = true; next_part(&rest, text + length, &part); first = false) {
        sqlite3_str_appendall(json, first ? "[" : ",[");
        sqlite3_str_append(json, (const char *)part.at, (int)part.length);
        sqlite3_str_appendchar(json, 1, ']');
    }
    sqlite3_str_appendchar(json, 1, ']');
}

static bool write_types(const unsigned char *text, size_t length, sqlite3_str *json,
                        struct failure *failure)
{
    const unsigned char *end = text + length, *rest = text;
    struct part part;
    args_raw(json, "Input type", "[", 1);
    for (bool first = true; next_part(&rest, end, &part); first = false) {
        if (!first)
            sqlite3_str_appendchar(json, 1, ',');
        if (!args_quoted(json, part.at, part.length, failure))
            return false;
    }
    sqlite3_str_appendchar(json, 1, ']');
    return true;
}

/* Writes shapes and types of inputs. If only the second string has shapes, they are swapped
** (H3). */
static bool write_inputs(struct database_read *read, int64_t shapes, int64_t types,
                         sqlite3_str *json)
{
    struct string_table *strings = &((struct ascend *)read->state)->strings;
    const unsigned char *text;
    size_t length;
    if (!strings_find(strings, shapes, &text, &length, read->failure))
        return false;
    if (text && !is_shapes(text, length)) {
        if (!strings_find(strings, types, &text, &length, read->failure))
            return false;
        if (is_shapes(text, length))
            types = shapes;
        else
            text = NULL;
    }
    if (text)
        write_shapes(text, length, json);
    return strings_find(strings, types, &text, &length, read->failure) &&
           (!text || write_types(text, length, json, read->failure));
}

static bool write_api(struct database_read *read, const struct table_scan *scan, sqlite3_str *json)
{
    int64_t sequence = scan_integer(scan, API_ARGS_SEQUENCE);
    if (sequence >= 0) {
        args_integer(json, "Sequence number", sequence);
        args_integer(json, "Fwd thread id", scan_integer(scan, API_ARGS_FORWARD));
    }
    return write_inputs(read, scan_integer(scan, API_ARGS_SHAPES),
                        scan_integer(scan, API_ARGS_TYPES), json);
}

bool ascend_args(struct database_read *read, const struct trace_file *file, size_t row, int kind,
                 const struct table_scan *scan, sqlite3_str *json)
{
    if (kind == ASCEND_API && !write_api(read, scan, json))
        return false;
    if (kind == ASCEND_TASK || kind == ASCEND_COLLECTIVE)
        args_device(json, file, row);
    args_integer(json, "correlation", file->columns.correlation[row]);
    return true;
}
