/*
** tracediff_help: every function, with the question that it answers and its page: usage, arguments,
** columns and an example that runs. tracediff_columns: the arguments and columns of functions.
**
** 1. Functions are in the order of their examples.
** 2. A description of an argument may end in `; default VALUE`, which becomes a column of its own.
*/
#include <stdarg.h>
#include <string.h>

#include "sqlite/arguments.h"
#include "sqlite/function.h"
#include "sqlite/nearest.h"
#include "examples.h"

enum { WIDTH = 110 }; /* characters of a page's line; only a longer word exceeds it */

enum { ABOUT };

static const struct argument arguments_of_help[] = {
    {"about", TAKES_TEXT, false, "name of a function; default every function"},
};

static const struct table_column columns_of_help[] = {
    {"family", "TEXT", "group of functions with one subject"},
    {"question", "TEXT", "a question that the function answers"},
    {"name", "TEXT", "name of the function"},
    {"written_in", "TEXT", "'C' or 'SQL'"},
};

static const struct table_column page_of_help = {
    "text", "TEXT", "help page: usage, arguments, columns and an example; SELECT * leaves it out"};

static const struct table_column columns_of_columns[] = {
    {"function", "TEXT", "name of the function"},
    {"kind", "TEXT", "'argument' or 'column'"},
    {"position", "INTEGER", "position among the arguments or columns, from 1"},
    {"name", "TEXT", "name of the argument or column"},
    {"type", "TEXT", "declared type; NULL: any"},
    {"required", "INTEGER", "1 if the argument is required, else 0; NULL for a column"},
    {"default_value", "TEXT", "value of an argument that is left out; NULL: required, or a column"},
    {"description", "TEXT", "meaning, unit, and when it is NULL"},
};

/* A function of any kind, with its example. */
struct help_entry {
    struct table_function is; /* for a scalar or an aggregate, a description without columns */
    const char *kind, *example;
    struct function function; /* `is` may point into it */
};

/* Finds the function of an example. False if there is none. */
static bool entry_of(const struct function_list *functions, const struct example *example,
                     struct help_entry *entry)
{
    const struct table_function *table;
    struct function *function = &entry->function;
    int required;
    entry->example = example->sql;
    entry->kind = "table function";
    for (int i = 0; (table = functions->table_function_at(i)) != NULL; i++) {
        entry->is = *table;
        if (strcmp(table->name, example->function) == 0)
            return true;
    }
    for (int i = 0; functions->function_at(i, function); i++) {
        entry->kind = function->step ? "aggregate" : "scalar";
        entry->is =
            (struct table_function){.name = function->name,
                                    .text = function->text,
                                    .family = function->family,
                                    .question = function->question,
                                    .arguments = function->arguments,
                                    .argument_count = function_arguments(function, &required)};
        if (strcmp(function->name, example->function) == 0)
            return true;
    }
    return false;
}

/* An argument or a column. */
struct help_item {
    const char *name, *type;
    bool required;
    const char *text;
};

/* Returns the ith argument or column of a function; a hidden column comes last. */
static struct help_item item_at(const struct table_function *function, bool argument, int i)
{
    if (argument) {
        const struct argument *of = &function->arguments[i];
        return (struct help_item){of->name, kind_facts[of->takes].type, of->required, of->text};
    }
    const struct table_column *it =
        i < function->column_count ? &function->columns[i] : function->hidden;
    return (struct help_item){it->name, it->type, false, it->text};
}

static int item_count(const struct table_function *function, bool argument)
{
    return argument ? function->argument_count
                    : function->column_count + (function->hidden != NULL);
}

/* Returns how many bytes of a text fit into `room`: all, or up to a space. The first word always
** fits. */
static size_t fitting(const char *text, size_t room)
{
    size_t length = strlen(text), end = 0;
    if (length <= room)
        return length;
    for (size_t i = 1; i < length && (i <= room || end == 0); i++)
        if (text[i] == ' ')
            end = i;
    return end ? end : length;
}

/* Adds a prefix and a text to a page. Further lines of the text are indented by the prefix. */
static void put_line(sqlite3_str *page, const char *text, const char *prefix, ...)
{
    va_list values;
    if (sqlite3_str_length(page) > 0)
        sqlite3_str_appendchar(page, 1, '\n');
    int start = sqlite3_str_length(page);
    va_start(values, prefix);
    sqlite3_str_vappendf(page, prefix, values);
    va_end(values);
    int indent = sqlite3_str_length(page) - start;
    for (bool first = true; first || *text; first = false) {
        size_t fits = fitting(text, (size_t)(WIDTH - indent));
        sqlite3_str_appendf(page, "%s%*s%.*s", first ? "" : "\n", first ? 0 : indent, "", (int)fits,
                            text);
        text += fits;
        text += strspn(text, " ");
    }
}

/* Adds the usage; optional arguments are in brackets. False if out of memory. */
static bool put_usage(sqlite3_str *page, const struct table_function *function)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    bool inside = false;
    sqlite3_str_appendf(text, "%s(", function->name);
    for (int i = 0; i < function->argument_count; i++) {
        bool optional = !function->arguments[i].required;
        sqlite3_str_appendf(text, "%s%s%s%s", inside && !optional ? "]" : "",
                            !inside && optional ? (i ? " [" : "[") : "", i ? ", " : "",
                            function->arguments[i].name);
        inside = optional;
    }
    sqlite3_str_appendf(text, "%s)", inside ? "]" : "");
    char *call = sqlite3_str_finish(text);
    if (call)
        put_line(page, call, function->columns ? "  SELECT * FROM " : "  SELECT ");
    sqlite3_free(call);
    return call != NULL;
}

static void put_items(sqlite3_str *page, const struct table_function *function, bool argument)
{
    int width = 0, count = item_count(function, argument);
    if (count > 0)
        put_line(page, argument ? "Arguments:" : "Columns:", "");
    for (int i = 0; i < count; i++) {
        int length = (int)strlen(item_at(function, argument, i).name);
        width = length > width ? length : width;
    }
    for (int i = 0; i < count; i++) {
        struct help_item it = item_at(function, argument, i);
        put_line(page, it.text, "  %-*s  %-7s  %s", width, it.name, it.type[0] ? it.type : "any",
                 it.required ? "required; " : "");
    }
}

static void add_help(struct result *result, const struct help_entry *entry)
{
    const struct table_function *function = &entry->is;
    sqlite3_str *page = sqlite3_str_new(NULL);
    put_line(page, function->text, "%s, %s: ", function->name, entry->kind);
    bool whole = put_usage(page, function);
    put_items(page, function, true);
    put_items(page, function, false);
    if (function->source) /* before the example, so that users can paste the rest of the page */
        put_line(page, function->source, "Source, with its rules: ");
    put_line(page, "Example, in the directory of tracediff:", "");
    for (const char *sql = entry->example; *sql; sql += strspn(sql, "\n")) {
        size_t length = strcspn(sql, "\n");
        sqlite3_str_appendf(page, "\n  %.*s", (int)length, sql);
        sql += length;
    }
    result_string(result, function->family);
    result_string(result, function->question);
    result_string(result, function->name);
    result_string(result, function->source ? "SQL" : "C");
    if (!whole || sqlite3_str_errcode(page) != SQLITE_OK)
        result_lost(result);
    char *text = sqlite3_str_finish(page);
    result_string(result, text);
    sqlite3_free(text);
}

/* Returns the start of `; default VALUE` at the end of a description, or its end if there is
** none. */
static const char *default_of(const char *text)
{
    static const char mark[] = "; default ";
    const char *found = text + strlen(text);
    for (const char *at = text; (at = strstr(at, mark)) != NULL; at += sizeof mark - 1)
        found = at;
    return found;
}

static void add_columns(struct result *result, const struct help_entry *entry)
{
    const struct table_function *function = &entry->is;
    for (int kind = 0; kind < 2; kind++) {
        bool argument = kind == 0;
        for (int i = 0; i < item_count(function, argument); i++) {
            struct help_item it = item_at(function, argument, i);
            const char *value = argument ? default_of(it.text) : it.text + strlen(it.text);
            result_string(result, function->name);
            result_string(result, argument ? "argument" : "column");
            result_integer(result, i + 1);
            result_string(result, it.name);
            result_string(result, it.type[0] ? it.type : NULL);
            result_number(result, argument ? it.required : NUMBER_NONE);
            result_string(result, *value ? value + strlen("; default ") : NULL);
            result_text(result, it.text, (size_t)(value - it.text));
        }
    }
}

/* Adds the rows of one function, or of all of them. */
static int produce(struct call *call, struct rows **rows, int columns,
                   void (*add)(struct result *result, const struct help_entry *entry))
{
    struct result *result = result_new(columns);
    const char *about;
    bool valid = argument_name(call, ABOUT, "the name of a function", &about), found = !about;
    struct nearest nearest = {.word = about, .length = about ? strlen(about) : 0};
    struct help_entry entry;
    for (int i = 0; valid && i < example_count; i++) {
        bool wanted = !about || sqlite3_stricmp(examples[i].function, about) == 0;
        if (about)
            nearest_offer(&nearest, examples[i].function);
        if (wanted && entry_of(call->connection->functions, &examples[i], &entry))
            add(result, &entry);
        found = found || wanted;
    }
    if (valid && !found)
        failure_set(&call->failure, FAILURE_REQUEST, "there is no function '%s'; %s%s%s", about,
                    nearest.name ? "did you mean '" : "SELECT name FROM tracediff_help",
                    nearest.name ? nearest.name : " lists them", nearest.name ? "'?" : "");
    return result_finish(result, call_code(call), rows);
}

static int help_produce(struct call *call, struct rows **rows)
{
    return produce(call, rows, COUNT_OF(columns_of_help) + 1, add_help);
}

static int columns_produce(struct call *call, struct rows **rows)
{
    return produce(call, rows, COUNT_OF(columns_of_columns), add_columns);
}

const struct table_function tracediff_help_function = {
    .name = "tracediff_help",
    .family = FAMILY_HELPERS,
    .question = "Which function answers, and (in `text`) how is it called?",
    .text = "every function with a question that it answers and its help page",
    COLUMNS(columns_of_help),
    ARGUMENTS(arguments_of_help),
    .hidden = &page_of_help,
    .reads_nothing = true,
    .typical_rows = 100,
    .produce = help_produce,
};

const struct table_function tracediff_columns_function = {
    .name = "tracediff_columns",
    .family = FAMILY_HELPERS,
    .question = "Which arguments and columns does a function have?",
    .text = "the arguments and columns of one function or of all, one row each",
    COLUMNS(columns_of_columns),
    ARGUMENTS(arguments_of_help),
    .reads_nothing = true,
    .produce = columns_produce,
};
