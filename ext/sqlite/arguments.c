#include "arguments.h"

#include <math.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

#include "../reader/memory.h"
#include "../reader/number.h"
#include "nearest.h"

/* Evaluates one SQL literal. Anything that is no literal is refused before it
** could run: only quotes, digits and signs get this far. */
static int literal_value(sqlite3 *db, const char *text, sqlite3_value **value)
{
    size_t length = strlen(text);
    bool quoted = length >= 2 && text[0] == '\'' && text[length - 1] == '\'';
    if (quoted) { /* every quote inside is doubled */
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

/* The argument that `name = ...` at the beginning of a text names, and the text
** after it; -1 if it begins with no name. */
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

/* The length of the name if a text begins with any `name =`, else 0. */
static size_t name_length(const char *text)
{
    const char *p = text;
    while ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_')
        p++;
    return p[strspn(p, " \t\r\n")] == '=' ? (size_t)(p - text) : 0;
}

/* The error about an argument that a function does not have. */
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
        sqlite3_str_appendall(text, function->argument_count ? "it takes " : "it takes none");
    for (int i = 0; !nearest.name && i < function->argument_count; i++)
        sqlite3_str_appendf(text, "%s%s", i ? ", " : "", function->arguments[i].name);
    return sqlite3_str_finish(text);
}

int arguments_of_create(sqlite3 *db, const struct table_function *function, int count,
                        const char *const *texts, sqlite3_value **values, char **error)
{
    unsigned given = 0;
    for (int i = 0; i < count; i++) {
        const char *text = texts[i] + strspn(texts[i], " \t\r\n");
        int argument = named_argument(function, &text);
        if (argument < 0 && name_length(text) > 0) {
            *error = unknown_argument(function, text, name_length(text));
            return *error ? SQLITE_ERROR : SQLITE_NOMEM;
        }
        if (argument < 0)
            argument = i;
        if (argument >= function->argument_count) {
            *error = sqlite3_mprintf("%s: it takes %d argument%s, not %d", function->name,
                                     function->argument_count,
                                     function->argument_count == 1 ? "" : "s", count);
            return *error ? SQLITE_ERROR : SQLITE_NOMEM;
        }
        if (given >> argument & 1) {
            *error = sqlite3_mprintf("%s: argument %s is given twice", function->name,
                                     function->arguments[argument].name);
            return *error ? SQLITE_ERROR : SQLITE_NOMEM;
        }
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

/* The value as it would be written in SQL, for an error. */
static bool refuse(struct call *call, int argument, const char *expected)
{
    sqlite3_stmt *statement = NULL;
    const char *shown = NULL;
    if (sqlite3_prepare_v2(call->database->db,
                           "SELECT CASE WHEN length(q) > 200 THEN substr(q, 1, 200) || '...'"
                           " ELSE q END FROM (SELECT quote(?1) AS q)",
                           -1, &statement, NULL) == SQLITE_OK) {
        sqlite3_bind_value(statement, 1, call->values[argument]);
        if (sqlite3_step(statement) == SQLITE_ROW)
            shown = (const char *)sqlite3_column_text(statement, 0);
    }
    failure_set(&call->failure, FAILURE_REQUEST, "%s must be %s, not %s",
                call->function->arguments[argument].name, expected, shown ? shown : "this");
    sqlite3_finalize(statement);
    return false;
}

/* Walks over the elements of an argument that is a JSON array, in time proportional to it.
** Scalar functions do it: a table of the user's could hide json_each (S11). */
struct elements {
    sqlite3_stmt *array, *element; /* array holds the text; both NULL at first */
    const char *next, *end;        /* of the text; NULL if the argument is not an array */
    sqlite3_int64 count;           /* elements so far */
};

/* `->` makes strict JSON, without spaces, of what JSON5 allows. */
static const char array_sql[] = "SELECT ?1 -> '$' WHERE json_type(?1) = 'array'";
static const char element_sql[] = "SELECT json_type(?1), ?1 ->> '$'";
enum { ELEMENT_TYPE, ELEMENT_VALUE };

const char *json_value_end(const char *p, const char *end)
{
    for (int64_t depth = 0; p < end; p++) {
        if (*p == '"')
            for (p++; p < end && *p != '"'; p++)
                p += *p == '\\' && p + 1 < end;
        else if (depth == 0 && (*p == ',' || *p == ':' || *p == '}' || *p == ']'))
            return p;
        else
            depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
    }
    return end;
}

static void elements_close(struct elements *elements)
{
    sqlite3_finalize(elements->array);
    sqlite3_finalize(elements->element);
}

/* Whether an argument is an array: SQLITE_OK, or an error. */
static int open_array(struct call *call, int argument, struct elements *elements)
{
    sqlite3 *db = call->database->db;
    int code = sqlite3_prepare_v2(db, array_sql, -1, &elements->array, NULL);
    if (code != SQLITE_OK)
        return code;
    sqlite3_bind_value(elements->array, 1, call->values[argument]);
    code = sqlite3_step(elements->array);
    if (code == SQLITE_ERROR || code == SQLITE_DONE)
        return SQLITE_OK; /* malformed JSON, or another value */
    if (code != SQLITE_ROW)
        return code;
    if (sqlite3_column_type(elements->array, 0) == SQLITE_NULL) /* by an authorizer */
        return SQLITE_OK;
    const char *text = (const char *)sqlite3_column_text(elements->array, 0);
    if (!text)
        return SQLITE_NOMEM;
    elements->end = text + sqlite3_column_bytes(elements->array, 0);
    elements->next = text + (*text == '[');
    return SQLITE_OK;
}

/* Goes to the next element: SQLITE_ROW, SQLITE_DONE at the end, or an error. */
static int step_element(struct call *call, struct elements *elements)
{
    const char *from = elements->next;
    if (!from || from >= elements->end || *from == ']')
        return SQLITE_DONE;
    const char *after = json_value_end(from, elements->end);
    int code = elements->element ? sqlite3_reset(elements->element)
                                 : sqlite3_prepare_v2(call->database->db, element_sql, -1,
                                                      &elements->element, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_bind_text(elements->element, 1, from, (int)(after - from), SQLITE_STATIC);
    elements->next = after + (after < elements->end);
    return code == SQLITE_OK ? sqlite3_step(elements->element) : code;
}

/* The type of the next element, whose value is column ELEMENT_VALUE of elements->element;
** NULL at the end, and on failure. */
static const char *next_element(struct call *call, int argument, struct elements *elements)
{
    int code = elements->array ? SQLITE_OK : open_array(call, argument, elements);
    const char *type = NULL;
    if (code == SQLITE_OK)
        code = step_element(call, elements);
    if (code == SQLITE_ROW) {
        elements->count++;
        type = (const char *)sqlite3_column_text(elements->element, ELEMENT_TYPE);
    }
    bool lost = code == SQLITE_ROW && !type &&
                sqlite3_column_type(elements->element, ELEMENT_TYPE) != SQLITE_NULL;
    if (code == SQLITE_NOMEM || lost)
        failure_memory(&call->failure);
    else if (code == SQLITE_INTERRUPT)
        failure_set(&call->failure, FAILURE_INTERRUPTED, "interrupted");
    else if (code != SQLITE_ROW && code != SQLITE_DONE)
        failure_set(&call->failure, FAILURE_REQUEST, "cannot read a JSON array: %s",
                    sqlite3_errmsg(call->database->db));
    return type;
}

/* The text of an argument; NULL if it is no text, or holds a NUL. */
static const char *argument_text(struct call *call, int argument)
{
    sqlite3_value *value = call->values[argument];
    if (sqlite3_value_type(value) != SQLITE_TEXT)
        return NULL;
    const char *text = (const char *)sqlite3_value_text(value);
    if (!text)
        failure_memory(&call->failure);
    else if (strlen(text) != (size_t)sqlite3_value_bytes(value))
        return NULL;
    return text;
}

static const char trace_expected[] =
    "the path of a directory or a file, a pattern, or a JSON array of these";

/* Adds the texts of an argument that is a JSON array, if it is one. */
static bool add_elements(struct call *call, int argument, struct trace_paths *paths, size_t *count)
{
    struct elements elements = {.count = 0};
    const char *type;
    while ((type = next_element(call, argument, &elements)) != NULL) {
        const char *path = NULL;
        if (strcmp(type, "text") == 0) {
            path = (const char *)sqlite3_column_text(elements.element, ELEMENT_VALUE);
            if (!path)
                failure_memory(&call->failure);
            else if (strlen(path) != (size_t)sqlite3_column_bytes(elements.element, ELEMENT_VALUE))
                path = NULL;
        }
        if (call->failure.code != FAILURE_NONE || !(path ? paths_add(paths, path, &call->failure)
                                                         : refuse(call, argument, trace_expected)))
            break;
        ++*count;
    }
    if (elements.next && elements.count == 0)
        refuse(call, argument, trace_expected);
    elements_close(&elements);
    return call->failure.code == FAILURE_NONE;
}

bool argument_trace(struct call *call, int argument, struct trace_paths *paths)
{
    const char *text = argument_text(call, argument);
    size_t elements = 0;
    if (!text)
        return call->failure.code == FAILURE_NONE ? refuse(call, argument, trace_expected) : false;
    if (text[0] == '[' && !add_elements(call, argument, paths, &elements))
        return false;
    if (elements == 0 && !paths_add(paths, text, &call->failure))
        return false;
    paths_sort(paths);
    return paths->count > 0 || paths_none(text, &call->failure);
}

static bool add_value(struct call *call, struct selection *selection, size_t *capacity,
                      int64_t value)
{
    if (!MEMORY_GROW(selection->values, *capacity, selection->count + 1))
        return failure_memory(&call->failure);
    selection->values[selection->count++] = value;
    selection->kind = SELECT_LIST;
    return true;
}

/* Whether a value is an integer, also one that hosts hand over as 0.0 or '0'. */
static bool whole_number(sqlite3_value *value, sqlite3_int64 *number)
{
    int type = sqlite3_value_type(value);
    if (type == SQLITE_TEXT) {
        const unsigned char *text = sqlite3_value_text(value);
        int64_t found;
        bool whole = text && number_integer(text, (size_t)sqlite3_value_bytes(value), &found);
        *number = whole ? found : 0;
        return whole;
    }
    double real = sqlite3_value_double(value);
    *number = sqlite3_value_int64(value);
    return type == SQLITE_INTEGER ||
           (type == SQLITE_FLOAT && real >= -9e15 && real <= 9e15 && (double)*number == real);
}

bool argument_selection(struct call *call, int argument, bool steady, struct selection *selection)
{
    const char *expected = steady ? "an integer, a JSON array of integers, 'all' or 'steady'"
                                  : "an integer, a JSON array of integers or 'all'";
    sqlite3_value *value = call->values[argument];
    sqlite3_int64 number;
    size_t capacity = 0;
    *selection = (struct selection){SELECT_DEFAULT, NULL, 0};
    if (!value)
        return true;
    if (whole_number(value, &number))
        return add_value(call, selection, &capacity, number);
    const char *text = argument_text(call, argument);
    if (!text)
        return call->failure.code == FAILURE_NONE ? refuse(call, argument, expected) : false;
    if (sqlite3_stricmp(text, "all") == 0 || (steady && sqlite3_stricmp(text, "steady") == 0)) {
        selection->kind = sqlite3_stricmp(text, "all") == 0 ? SELECT_ALL : SELECT_STEADY;
        return true;
    }
    struct elements elements = {.count = 0};
    const char *type;
    while (call->failure.code == FAILURE_NONE &&
           (type = next_element(call, argument, &elements)) != NULL) {
        if (strcmp(type, "integer") != 0 ||
            sqlite3_column_type(elements.element, ELEMENT_VALUE) != SQLITE_INTEGER)
            refuse(call, argument, expected);
        else
            add_value(call, selection, &capacity,
                      sqlite3_column_int64(elements.element, ELEMENT_VALUE));
    }
    elements_close(&elements);
    if (call->failure.code == FAILURE_NONE && selection->count == 0)
        refuse(call, argument, expected);
    if (call->failure.code != FAILURE_NONE)
        return false;
    selection->count = sort_integers(selection->values, selection->count);
    return true;
}

bool argument_word(struct call *call, int argument, const char *const *words, int count,
                   const char *expected, int *chosen)
{
    *chosen = 0;
    if (!call->values[argument])
        return true;
    const char *text = argument_text(call, argument);
    for (int i = 0; text && i < count; i++)
        if (sqlite3_stricmp(text, words[i]) == 0) {
            *chosen = i;
            return true;
        }
    return call->failure.code == FAILURE_NONE ? refuse(call, argument, expected) : false;
}

bool argument_name(struct call *call, int argument, const char *expected, const char **name)
{
    *name = call->values[argument] ? argument_text(call, argument) : NULL;
    if (*name || !call->values[argument])
        return true;
    return call->failure.code == FAILURE_NONE ? refuse(call, argument, expected) : false;
}

/* The number of the word that a text is, up to its end or a comma, without spaces around;
** -1: none. `*rest` is what stands after it. */
static int next_word(const char *text, const char *const *words, int count, const char **rest)
{
    text += strspn(text, " ");
    size_t length = strcspn(text, ",");
    *rest = text + length;
    while (length > 0 && text[length - 1] == ' ')
        length--;
    for (int i = 0; i < count; i++)
        if (strlen(words[i]) == length && sqlite3_strnicmp(text, words[i], (int)length) == 0)
            return i;
    return -1;
}

bool argument_words(struct call *call, int argument, const char *const *words, int count,
                    const char *expected, int *chosen, size_t *chosen_count)
{
    const char *text = argument_text(call, argument);
    *chosen_count = 0;
    for (bool more = text != NULL; more; text += more) {
        int word = next_word(text, words, count, &text);
        bool twice = false;
        for (size_t i = 0; i < *chosen_count; i++)
            twice = twice || chosen[i] == word;
        if (word < 0 || twice)
            return refuse(call, argument, expected);
        chosen[(*chosen_count)++] = word;
        more = *text == ',';
    }
    return *chosen_count > 0 ||
           (call->failure.code == FAILURE_NONE ? refuse(call, argument, expected) : false);
}

bool argument_device_type(struct call *call, int argument, enum device_type *device_type)
{
    static const char *const names[] = {"ALL", "CPU", "GPU"};
    int chosen;
    bool done = argument_word(call, argument, names, 3, "'ALL', 'CPU' or 'GPU'", &chosen);
    *device_type = (enum device_type)chosen;
    return done;
}

/* The numbers that an argument may be, by the type it is declared with. */
static const struct number {
    const char *type, *expected;
    bool whole;
    double most; /* the least is 0 */
} numbers[] = {
    {"0|1", "0 or 1", true, 1},
    {"INTEGER>=0", "an integer from 0 on", true, INFINITY},
    {"REAL>=0", "a number from 0 on", false, INFINITY},
    {"REAL0..1", "a number from 0 to 1", false, 1},
};

static const struct number *number_of(const struct argument *argument)
{
    for (int i = 0; i < (int)(sizeof numbers / sizeof *numbers); i++)
        if (strcmp(argument->type, numbers[i].type) == 0)
            return &numbers[i];
    return NULL;
}

/* Whether an argument is a JSON array of texts. */
static bool check_texts(struct call *call, int argument)
{
    struct elements elements = {.count = 0};
    const char *type;
    sqlite3_int64 texts = 0;
    while (call->failure.code == FAILURE_NONE &&
           (type = next_element(call, argument, &elements)) != NULL)
        texts += strcmp(type, "text") == 0;
    elements_close(&elements);
    if (call->failure.code != FAILURE_NONE)
        return false;
    return (elements.next && texts == elements.count) ||
           refuse(call, argument, "a JSON array of texts");
}

int argument_bind(struct call *call, int argument, sqlite3_stmt *statement, int parameter)
{
    sqlite3_value *value = call->values[argument];
    const struct argument *declared = &call->function->arguments[argument];
    const struct number *number = number_of(declared);
    sqlite3_int64 integer;
    if (strcmp(declared->type, "TEXT[]") == 0 && !check_texts(call, argument))
        return SQLITE_ERROR;
    if (!number)
        return sqlite3_bind_value(statement, parameter, value);
    sqlite3_value *copy = sqlite3_value_dup(value); /* S3: the value itself is given back */
    if (!copy)
        return SQLITE_NOMEM;
    int type = sqlite3_value_numeric_type(copy), code = SQLITE_ERROR;
    double real = sqlite3_value_double(copy);
    bool fits = real >= 0 && real <= number->most;
    if (number->whole && whole_number(value, &integer) && fits)
        code = sqlite3_bind_int64(statement, parameter, integer);
    else if (!number->whole && (type == SQLITE_INTEGER || type == SQLITE_FLOAT) && fits)
        code = sqlite3_bind_double(statement, parameter, real);
    else
        refuse(call, argument, number->expected);
    sqlite3_value_free(copy);
    return code;
}

/* An integer from 0 to `most`. */
static bool small_number(struct call *call, int argument, int most, const char *expected,
                         int *number)
{
    sqlite3_value *value = call->values[argument];
    sqlite3_int64 found = 0;
    if (value && (!whole_number(value, &found) || found < 0 || found > most))
        return refuse(call, argument, expected);
    *number = (int)found;
    return true;
}

bool argument_use_short_name(struct call *call, int argument, int *use_short_name)
{
    return small_number(call, argument, 2,
                        "0 (the full name), 1 (the short name) or 2 (the stable name)",
                        use_short_name);
}

bool argument_last_step(struct call *call, int argument, bool *included, bool *given)
{
    int number = 0;
    bool valid =
        small_number(call, argument, 1, "0 (without the last step) or 1 (with it)", &number);
    *given = call->values[argument] != NULL;
    *included = number == 1;
    return valid;
}

bool argument_phases(struct call *call, int argument, bool *phases, bool *given)
{
    *given = call->values[argument] != NULL;
    memset(phases, 0, 256 * sizeof *phases);
    if (!*given) {
        phases['X'] = phases['B'] = true;
        return true;
    }
    const char *text = argument_text(call, argument);
    bool valid = text != NULL && text[0] != 0;
    if (valid && sqlite3_stricmp(text, "all") == 0) {
        memset(phases, 1, 256 * sizeof *phases);
        return true;
    }
    for (const char *p = text; valid && *p; p++) {
        valid = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                strchr("(),=", *p) != NULL; /* letters, and the marks of the format */
        phases[(unsigned char)*p] = true;
    }
    if (valid)
        return true;
    return call->failure.code == FAILURE_NONE
               ? refuse(call, argument, "phase letters such as 'XB' or 'iI', or 'all'")
               : false;
}
