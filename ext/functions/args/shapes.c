#include "shapes.h"

#include <string.h>

#include "base/memory.h"
#include "text/ascii.h"
#include "text/scan.h"
#include "text/text.h"
#include "trace/args.h"

enum { MOST_VALUE_READERS = 13 };

/* A value in the args of operators, while it is read. */
struct value_reader {
    const char *key;
    uint32_t *values; /* by row; NULL: not requested */
    bool wanted;      /* requested for the current row */
    sqlite3 *db;
    sqlite3_stmt *statement; /* NULL: not needed so far */
    char *text; /* buffer for the last array */
    size_t capacity;
};

static int prepare(struct value_reader *reader)
{
    static const char sql[] = "SELECT ?1 ->> ?2"; /* json_valid() would hide that memory ran out */
    int code = sqlite3_prepare_v2(reader->db, sql, -1, &reader->statement, NULL);
    char *path = sqlite3_mprintf("$.\"%s\"", reader->key);
    if (code == SQLITE_OK)
        code = path ? sqlite3_bind_text(reader->statement, 2, path, -1, SQLITE_TRANSIENT)
                    : SQLITE_NOMEM;
    sqlite3_free(path);
    return code;
}

size_t shapes_write_string(const unsigned char *text, size_t length, char *to)
{
    static const char letters[] = "btn\0fr"; /* starting at character 8 */
    char *at = to;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = text[i];
        char letter = c >= 8 && c < 14 ? letters[c - 8] : 0;
        if (c < ' ' && !letter) {
            sqlite3_snprintf(7, at, "\\u%04x", c);
            at += 6;
            continue;
        }
        if (letter || c == '"' || c == '\\')
            *at++ = '\\';
        *at++ = letter ? letter : (char)c;
    }
    return (size_t)(at - to);
}

/* Writes dense, strict JSON whose equal strings have equal bytes, however they were escaped.
** Returns its length, which does not grow. `scratch` has room for 3 times `length`. */
static size_t write_alike(const char *json, size_t length, char *to, unsigned char *scratch)
{
    struct problems unused = {0};
    size_t written = 0;
    for (size_t i = 0; i < length; i++) {
        to[written++] = json[i];
        if (json[i] != '"')
            continue;
        size_t begin = ++i;
        while (json[i] != '"')
            i += json[i] == '\\' ? 2 : 1;
        size_t decoded =
            text_decode((const unsigned char *)json + begin, i - begin, scratch, &unused, 0);
        written += shapes_write_string(scratch, decoded, to + written);
        to[written++] = '"';
    }
    return written;
}

/* Lets SQLite read the value in args, and sets `*value` to its id. */
static int ask_json(struct value_reader *reader, const unsigned char *args, size_t length,
                    struct names *names, uint32_t *value)
{
    int code = reader->statement ? SQLITE_OK : prepare(reader);
    sqlite3_stmt *statement = reader->statement;
    if (code != SQLITE_OK)
        return code;
    sqlite3_reset(statement);
    code =
        sqlite3_bind_text64(statement, 1, (const char *)args, length, SQLITE_STATIC, SQLITE_UTF8);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code == SQLITE_ERROR) /* nested deeper than SQLite allows */
        return SQLITE_OK;
    if (code != SQLITE_ROW)
        return code;
    if (sqlite3_column_type(statement, 0) == SQLITE_NULL)
        return SQLITE_OK;
    const char *text = (const char *)sqlite3_column_text(statement, 0);
    if (!text)
        return SQLITE_NOMEM;
    size_t written = (size_t)sqlite3_column_bytes(statement, 0);
    if (*text == '[' && memchr(text, '\\', written)) {
        if (!MEMORY_GROW(reader->text, reader->capacity, 4 * written))
            return SQLITE_NOMEM;
        unsigned char *scratch = (unsigned char *)reader->text + written;
        written = write_alike(text, written, reader->text, scratch);
        text = reader->text;
    }
    *value = names_intern(names, text, written);
    return *value == NAME_NONE ? SQLITE_NOMEM : SQLITE_OK;
}

/* Whether a token is an integer in the form that SQLite writes. */
static bool is_integer(const struct token *token)
{
    enum { MOST_DIGITS = 18 };
    size_t sign = token->length > 1 && token->at[0] == '-', i = sign;
    while (i < token->length && is_digit(token->at[i]))
        i++;
    return token->kind == TOKEN_BARE && i == token->length && i - sign <= MOST_DIGITS &&
           (token->at[sign] != '0' || token->length == 1);
}

/* Writes JSON in the form that SQLite returns: the contents of a string, other values without white
** space. Returns its length. Strings must not have escapes. */
static size_t write_dense(const struct token *json, char *to)
{
    size_t length = 0;
    bool in_string = json->kind == TOKEN_TEXT;
    for (size_t i = 0; i < json->length; i++) {
        unsigned char c = json->at[i];
        in_string ^= c == '"';
        to[length] = (char)c;
        length += c > ' ' || in_string;
    }
    return length;
}

/* Sets the values of a row from its args, which are strict JSON. Arrays, plain strings and integers
** are converted here, in SQLite's format. SQLite converts the rest; it is slower because it parses
** all args for each value. */
static int find_values(struct value_reader *readers, int count, size_t row,
                       const unsigned char *args, size_t length, struct names *names)
{
    const struct token object = {args, length, TOKEN_NESTED};
    const char *keys[MOST_VALUE_READERS];
    struct token found[MOST_VALUE_READERS];
    bool plain = !memchr(args, '\\', length);
    int code = SQLITE_OK, wanted = 0;
    for (int i = 0; i < count; i++)
        if (readers[i].wanted)
            keys[wanted++] = readers[i].key;
    if (plain)
        scan_members(&object, keys, (size_t)wanted, found);
    const struct token *token = found;
    for (int i = 0; i < count && code == SQLITE_OK; i++) {
        struct value_reader *reader = &readers[i];
        if (!reader->wanted)
            continue;
        const struct token *value = token++;
        if (plain && value->kind == TOKEN_NONE)
            continue;
        if (!plain || !(value->kind == TOKEN_NESTED || value->kind == TOKEN_TEXT ||
                        is_integer(value))) {
            code = ask_json(reader, args, length, names, &reader->values[row]);
            continue;
        }
        if (MEMORY_GROW(reader->text, reader->capacity, value->length + 1))
            reader->values[row] =
                names_intern(names, reader->text, write_dense(value, reader->text));
        code = reader->values[row] == NAME_NONE ? SQLITE_NOMEM : SQLITE_OK;
    }
    return code;
}

/* Whether the args of a row are requested. Resets its values to NAME_NONE until they are read. */
static bool want_row(struct value_reader *readers, int count, size_t row)
{
    bool any = false;
    for (int i = 0; i < count; i++) {
        readers[i].wanted = readers[i].values && readers[i].values[row] != NAME_NONE;
        any = any || readers[i].wanted;
        if (readers[i].values)
            readers[i].values[row] = NAME_NONE;
    }
    return any;
}

/* Reads the values of args in all rows that a reader requests. */
static bool read_values(struct call *call, struct trace_file *file, struct value_reader *readers,
                        int count, struct names *names)
{
    const struct stopper *stopper = call_stopper(call);
    struct args_reader args = {.file = NULL};
    bool done = true;
    int code = SQLITE_OK;
    for (int i = 0; i < count; i++)
        readers[i].db = call->connection->db;
    for (size_t row = 0; row < file->columns.count && code == SQLITE_OK && done; row++) {
        const unsigned char *text = NULL;
        size_t length;
        if (want_row(readers, count, row))
            done = args_read(&args, file, row, stopper, &text, &length, &call->failure);
        if (done && text)
            code = find_values(readers, count, row, text, length, names);
    }
    char *what = sqlite3_mprintf("cannot read the args of '%s': ", file->path);
    done = call_check(call, what ? code : SQLITE_NOMEM, what) && done;
    sqlite3_free(what);
    args_close(&args);
    for (int i = 0; i < count; i++) {
        sqlite3_finalize(readers[i].statement);
        memory_free(readers[i].text);
    }
    return done;
}

bool shapes_read(struct call *call, struct trace_file *file, uint32_t *shapes, uint32_t *types,
                 struct names *names)
{
    struct value_reader readers[] = {{.key = "Input Dims", .values = shapes},
                                     {.key = "Input type", .values = types}};
    for (size_t row = 0; row < file->columns.count; row++) {
        if (!row_is(file, row, CATEGORY_OPERATOR))
            shapes[row] = NAME_NONE;
        if (types)
            types[row] = shapes[row];
    }
    return read_values(call, file, readers, COUNT_OF(readers), names);
}

bool args_values_read(struct call *call, struct trace_file *file, const char *const *keys,
                      uint32_t *const *values, int count, struct names *names)
{
    struct value_reader readers[MOST_VALUE_READERS] = {{.key = NULL}};
    for (int i = 0; i < count; i++)
        readers[i] = (struct value_reader){.key = keys[i], .values = values[i]};
    return read_values(call, file, readers, count, names);
}

bool arg_read(struct call *call, struct trace_file *file, const char *key, uint32_t *values,
              struct names *names)
{
    return args_values_read(call, file, &key, &values, 1, names);
}
