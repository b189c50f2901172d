/*
** tracediff_help: every function with its arguments and columns, or the page of one function:
** its usage, arguments, columns and an example that runs.
*/
#include <stdarg.h>
#include <string.h>

#include "sqlite/arguments.h"
#include "sqlite/nearest.h"
#include "examples.h"
#include "registry.h"

enum { WIDTH = 110 }; /* characters of a page's line; only a longer word exceeds it */

enum { HELP_ABOUT };

static const struct argument arguments_of_help[] = {
    {"about", "TEXT", false, "a function's name, for its page; default every function"},
};

static const struct table_column columns_of_help[] = {
    {"function", "TEXT", "name of the function"},
    {"kind", "TEXT", "table, scalar or aggregate"},
    {"part", "TEXT", "function, argument or column; on a page also usage, example and source"},
    {"position", "INTEGER", "of the argument or column, from 1"},
    {"name", "TEXT", "of the argument or column"},
    {"type", "TEXT", "declared type"},
    {"required", "INTEGER", "of an argument: 1 if it cannot be left out"},
    {"description", "TEXT", "what it is"},
    {"line", "INTEGER", "number of the page's line, from 1; NULL without a page"},
    {"text", "TEXT", "the page's line; NULL without a page"},
};

/* The description of a function of any kind. */
struct help_entry {
    const char *name, *kind, *type, *text;
    const struct argument *arguments;
    int argument_count;
    const struct table_column *columns;
    int column_count;
    const char *source;
    struct function function; /* the pointers above point into it, unless it is a table function */
};

/* The ith function of all kinds; false after the last. */
static bool help_entry_at(int i, struct help_entry *entry)
{
    const struct table_function *table = table_function_at(i);
    struct function *function = &entry->function;
    int tables = 0, required;
    memset(entry, 0, sizeof *entry);
    if (table) {
        *entry = (struct help_entry){.name = table->name,
                                     .kind = "table",
                                     .text = table->text,
                                     .arguments = table->arguments,
                                     .argument_count = table->argument_count,
                                     .columns = table->columns,
                                     .column_count = table->column_count,
                                     .source = table->source};
        return true;
    }
    while (table_function_at(tables))
        tables++;
    if (!function_at(i - tables, function))
        return false;
    entry->name = function->name;
    entry->kind = function->step ? "aggregate" : "scalar";
    entry->type = function->type;
    entry->text = function->text;
    entry->arguments = function->arguments;
    entry->argument_count = function_arguments(function, &required);
    return true;
}

/* The rows that are being made. */
struct help {
    struct result *result;
    const struct help_entry *entry;
    int64_t line; /* last line of the page so far; 0: no page is made */
};

/* The content of a row. Position 0: the row describes no argument or column. */
struct help_row {
    const char *part;
    int position;
    const char *name, *type, *description;
    const bool *required; /* NULL unless it is an argument */
};

/* Adds a row. `line` is its line of the page; NULL: none. */
static void add_help(struct help *help, const struct help_row *row, const char *line)
{
    struct result *result = help->result;
    result_string(result, help->entry->name);
    result_string(result, help->entry->kind);
    result_string(result, row->part);
    result_number(result, row->position > 0 ? row->position : NUMBER_NONE);
    result_string(result, row->name);
    result_string(result, row->type && row->type[0] ? row->type : NULL);
    result_number(result, row->required ? *row->required : NUMBER_NONE);
    result_string(result, row->description);
    help->line += line != NULL;
    result_number(result, line ? help->line : NUMBER_NONE);
    result_string(result, line);
}

/* Adds a line of the page that describes no argument or column. */
static void add_line(struct help *help, const char *part, const char *line)
{
    add_help(help, &(struct help_row){.part = part}, line);
}

/* A formatted text, to be freed with sqlite3_free(). If out of memory, marks the result as
** failed and returns NULL. */
static char *formatted(struct help *help, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *text = sqlite3_vmprintf(format, values);
    va_end(values);
    if (!text)
        result_lost(help->result);
    return text;
}

/* How many bytes of a text fit into `room`: all, or up to a space. The first word always
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

/* Adds a row whose line is a prefix and a text. Further lines of the text are indented by the
** prefix. Frees the prefix; NULL means out of memory. */
static void add_wrapped(struct help *help, const struct help_row *row, char *prefix,
                        const char *text)
{
    int indent = prefix ? (int)strlen(prefix) : 0;
    struct help_row more = {.part = row->part};
    for (bool first = true; prefix && (first || *text); first = false) {
        size_t fits = fitting(text, (size_t)(WIDTH - indent));
        char *line = formatted(help, "%s%*s%.*s", first ? prefix : "", first ? 0 : indent, "",
                               (int)fits, text);
        add_help(help, first ? row : &more, line);
        sqlite3_free(line);
        text += fits;
        text += strspn(text, " ");
    }
    sqlite3_free(prefix);
}

/* Adds the usage line; optional arguments are in brackets. */
static void add_usage(struct help *help)
{
    const struct help_entry *entry = help->entry;
    sqlite3_str *text = sqlite3_str_new(NULL);
    bool inside = false, table = strcmp(entry->kind, "table") == 0;
    sqlite3_str_appendf(text, "%s(", entry->name);
    for (int i = 0; i < entry->argument_count; i++) {
        bool optional = !entry->arguments[i].required;
        sqlite3_str_appendf(text, "%s%s%s%s", inside && !optional ? "]" : "",
                            !inside && optional ? (i ? " [" : "[") : "", i ? ", " : "",
                            entry->arguments[i].name);
        inside = optional;
    }
    sqlite3_str_appendf(text, "%s)", inside ? "]" : "");
    char *call = sqlite3_str_finish(text);
    if (call)
        add_wrapped(help, &(struct help_row){.part = "usage"},
                    formatted(help, table ? "  SELECT * FROM " : "  SELECT "), call);
    else
        result_lost(help->result);
    sqlite3_free(call);
}

static struct help_row argument_row(const struct help_entry *entry, int i)
{
    const struct argument *it = &entry->arguments[i];
    return (struct help_row){.part = "argument",
                             .position = i + 1,
                             .name = it->name,
                             .type = it->type,
                             .description = it->text,
                             .required = &it->required};
}

static struct help_row column_row(const struct help_entry *entry, int i)
{
    const struct table_column *it = &entry->columns[i];
    return (struct help_row){.part = "column",
                             .position = i + 1,
                             .name = it->name,
                             .type = it->type,
                             .description = it->text};
}

/* Adds a row for each argument or column. On a page, its line has name, type and description. */
static void add_list(struct help *help, const char *heading, int count,
                     struct help_row (*row_at)(const struct help_entry *entry, int i))
{
    int width = 0;
    if (help->line > 0 && count > 0)
        add_line(help, NULL, heading);
    for (int i = 0; i < count; i++) {
        int length = (int)strlen(row_at(help->entry, i).name);
        width = length > width ? length : width;
    }
    for (int i = 0; i < count; i++) {
        struct help_row row = row_at(help->entry, i);
        if (help->line > 0)
            add_wrapped(help, &row,
                        formatted(help, "  %-*s  %-7s  %s", width, row.name,
                                  row.type[0] ? row.type : "any",
                                  row.required && *row.required ? "required; " : ""),
                        row.description);
        else
            add_help(help, &row, NULL);
    }
}

static void add_lists(struct help *help)
{
    add_list(help, "Arguments:", help->entry->argument_count, argument_row);
    add_list(help, "Columns:", help->entry->column_count, column_row);
}

static void add_example(struct help *help)
{
    const char *sql = example_of(help->entry->name);
    if (sql)
        add_line(help, NULL, "Example, in the directory of tracediff:");
    while (sql && *sql) {
        size_t length = strcspn(sql, "\n");
        char *line = formatted(help, "  %.*s", (int)length, sql);
        add_line(help, "example", line);
        sqlite3_free(line);
        sql += length + (sql[length] != 0);
    }
}

/* The row that describes the function itself. */
static struct help_row function_row(const struct help_entry *entry)
{
    return (struct help_row){.part = "function", .type = entry->type, .description = entry->text};
}

static void add_page(struct help *help)
{
    const struct help_entry *entry = help->entry;
    struct help_row row = function_row(entry);
    bool table = strcmp(entry->kind, "table") == 0;
    add_wrapped(help, &row,
                formatted(help, "%s, %s: ", entry->name, table ? "table function" : entry->kind),
                entry->text);
    add_usage(help);
    add_lists(help);
    if (entry->source) { /* before the example, which users paste up to the end of the page */
        char *source = formatted(help, "Source, with its rules: %s", entry->source);
        add_line(help, "source", source);
        sqlite3_free(source);
    }
    add_example(help);
}

/* Makes the page of a function; false if no function has that name. */
static bool find_page(struct help *help, const char *name, struct nearest *nearest)
{
    struct help_entry entry;
    help->entry = &entry;
    for (int i = 0; help_entry_at(i, &entry); i++) {
        if (sqlite3_stricmp(entry.name, name) == 0) {
            add_page(help);
            return true;
        }
        nearest_offer(nearest, entry.name);
    }
    return false;
}

static void list_all(struct help *help)
{
    struct help_entry entry;
    help->entry = &entry;
    for (int i = 0; help_entry_at(i, &entry); i++) {
        struct help_row row = function_row(&entry);
        add_help(help, &row, NULL);
        add_lists(help);
    }
}

static int help_produce(struct call *call, struct rows **rows)
{
    struct help help = {.result = result_new(call->function->column_count)};
    const char *about;
    bool valid = argument_name(call, HELP_ABOUT, "the name of a function", &about);
    struct nearest nearest = {.word = about, .length = about ? strlen(about) : 0};
    if (valid && !about)
        list_all(&help);
    else if (valid && !find_page(&help, about, &nearest))
        failure_set(&call->failure, FAILURE_REQUEST, "there is no function '%s'; %s%s%s", about,
                    nearest.name ? "did you mean '"
                                 : "SELECT DISTINCT function FROM tracediff_help",
                    nearest.name ? nearest.name : " lists them", nearest.name ? "'?" : "");
    return result_finish(help.result, call_code(call), rows);
}

const struct table_function tracediff_help_function = {
    .name = "tracediff_help",
    .text = "every function with its arguments and columns, or the help page of one",
    COLUMNS(columns_of_help),
    ARGUMENTS(arguments_of_help),
    .reads_files = false,
    .produce = help_produce,
};
