/*
** tracediff_help: every function with its arguments and columns, or the page of one: how it
** is called, what it takes and gives, and an example that runs.
*/
#include <string.h>

#include "../sqlite/arguments.h"
#include "../sqlite/nearest.h"
#include "../sqlite/registry.h"
#include "examples.h"

SQLITE_EXTENSION_INIT3

enum { WIDTH = 110 }; /* characters of a page's line, words that are longer apart */

static const struct argument arguments_of_help[] = {
    {"about", "TEXT", false, "a function's name, for its page; default every function"},
};

static const struct column columns_of_help[] = {
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

/* A function of any kind, as the help sees it. */
struct entry {
    const char *name, *kind, *type, *text;
    const struct argument *arguments;
    int argument_count;
    const struct column *columns;
    int column_count;
    bool is_sql;
    struct function chart; /* holds what the other pointers lead to, if it is a chart's */
};

static int count_arguments(const struct function *function)
{
    int count = 0;
    while (count < MOST_FUNCTION_ARGUMENTS && function->arguments[count].name)
        count++;
    return count;
}

static void take_function(struct entry *entry, const struct function *function, const char *kind)
{
    entry->name = function->name;
    entry->kind = kind;
    entry->type = function->type;
    entry->text = function->text;
    entry->arguments = function->arguments;
    entry->argument_count = count_arguments(function);
}

/* The function of a number, of all kinds; false after the last. */
static bool entry_at(int i, struct entry *entry)
{
    const struct table_function *table = table_function_at(i);
    int tables = 0;
    memset(entry, 0, sizeof *entry);
    if (table) {
        *entry = (struct entry){.name = table->name,
                                .kind = "table",
                                .text = table->text,
                                .arguments = table->arguments,
                                .argument_count = table->argument_count,
                                .columns = table->columns,
                                .column_count = table->column_count,
                                .is_sql = table->sql != NULL};
        return true;
    }
    while (table_function_at(tables))
        tables++;
    i -= tables;
    if (i < scalar_count) {
        take_function(entry, &scalars[i], "scalar");
    } else if (i - scalar_count < aggregate_count) {
        take_function(entry, &aggregates[i - scalar_count], "aggregate");
    } else {
        if (!chart_function_at(i - scalar_count - aggregate_count, &entry->chart))
            return false;
        take_function(entry, &entry->chart, "aggregate");
    }
    return true;
}

/* Rows being made. */
struct help {
    struct result *result;
    const struct entry *entry;
    int64_t line; /* of the page; 0: none is made */
    bool no_memory;
};

/* What a row says of a function; position 0 is the function itself. */
struct part {
    const char *part;
    int position;
    const char *name, *type, *description;
    const bool *required; /* of arguments */
};

/* Adds a row, with a line of the page if there is one. */
static void add_row(struct help *help, const struct part *part, const char *text)
{
    struct result *result = help->result;
    result_string(result, help->entry->name);
    result_string(result, help->entry->kind);
    result_string(result, part->part);
    result_integer_if(result, part->position, part->position > 0);
    result_string(result, part->name);
    result_string(result, part->type && part->type[0] ? part->type : NULL);
    result_integer_if(result, part->required && *part->required, part->required != NULL);
    result_string(result, part->description);
    help->line += text != NULL;
    result_integer_if(result, help->line, text != NULL);
    result_string(result, text);
}

/* A line that is only a line. */
static void add_line(struct help *help, const char *part, const char *text)
{
    add_row(help, &(struct part){.part = part}, text);
}

/* The bytes of a text that fit into some characters: up to a space, or the first word. */
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

/* Adds a row whose line is a prefix and a text, which goes on below itself. */
static void add_wrapped(struct help *help, const struct part *part, const char *prefix,
                        const char *text)
{
    int indent = (int)strlen(prefix);
    struct part more = {.part = part->part};
    for (bool first = true; first || *text; first = false) {
        size_t fits = fitting(text, (size_t)(WIDTH - indent));
        char *line = sqlite3_mprintf("%s%*s%.*s", first ? prefix : "", first ? 0 : indent, "",
                                     (int)fits, text);
        help->no_memory = help->no_memory || !line;
        if (line)
            add_row(help, first ? part : &more, line);
        sqlite3_free(line);
        text += fits;
        text += strspn(text, " ");
    }
}

/* How a function is called: what may be left out stands in brackets. */
static void add_usage(struct help *help)
{
    const struct entry *entry = help->entry;
    sqlite3_str *text = sqlite3_str_new(NULL);
    bool inside = false;
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
    help->no_memory = help->no_memory || !call;
    if (call)
        add_wrapped(help, &(struct part){.part = "usage"},
                    strcmp(entry->kind, "table") == 0 ? "  SELECT * FROM " : "  SELECT ", call);
    sqlite3_free(call);
}

/* A list of arguments or columns: name, type and what it is, one below the other. */
static void add_entry(struct help *help, const struct part *part, int width)
{
    const char *type = part->type && part->type[0] ? part->type : "any";
    char *prefix = sqlite3_mprintf("  %-*s  %-7s  %s", width, part->name, type,
                                   part->required && *part->required ? "required; " : "");
    help->no_memory = help->no_memory || !prefix;
    if (prefix)
        add_wrapped(help, part, prefix, part->description);
    sqlite3_free(prefix);
}

static void add_arguments(struct help *help)
{
    const struct entry *entry = help->entry;
    int width = 0;
    for (int i = 0; i < entry->argument_count; i++)
        width = (int)strlen(entry->arguments[i].name) > width
                    ? (int)strlen(entry->arguments[i].name)
                    : width;
    if (help->line > 0 && entry->argument_count > 0)
        add_line(help, NULL, "Arguments:");
    for (int i = 0; i < entry->argument_count; i++) {
        const struct argument *it = &entry->arguments[i];
        struct part part = {"argument", i + 1, it->name, it->type, it->text, &it->required};
        if (help->line > 0)
            add_entry(help, &part, width);
        else
            add_row(help, &part, NULL);
    }
}

static void add_columns(struct help *help)
{
    const struct entry *entry = help->entry;
    int width = 0;
    for (int i = 0; i < entry->column_count; i++)
        width = (int)strlen(entry->columns[i].name) > width ? (int)strlen(entry->columns[i].name)
                                                            : width;
    if (help->line > 0 && entry->column_count > 0)
        add_line(help, NULL, "Columns:");
    for (int i = 0; i < entry->column_count; i++) {
        const struct column *it = &entry->columns[i];
        struct part part = {"column", i + 1, it->name, it->type, it->text, NULL};
        if (help->line > 0)
            add_entry(help, &part, width);
        else
            add_row(help, &part, NULL);
    }
}

static void add_example(struct help *help)
{
    const char *sql = example_of(help->entry->name);
    if (sql)
        add_line(help, NULL, "Example, in the directory of tracediff:");
    while (sql && *sql) {
        size_t length = strcspn(sql, "\n");
        char *line = sqlite3_mprintf("  %.*s", (int)length, sql);
        help->no_memory = help->no_memory || !line;
        if (line)
            add_line(help, "example", line);
        sqlite3_free(line);
        sql += length + (sql[length] != 0);
    }
}

static void add_page(struct help *help)
{
    const struct entry *entry = help->entry;
    struct part part = {"function", 0, NULL, entry->type, entry->text, NULL};
    char *prefix =
        sqlite3_mprintf("%s, %s: ", entry->name,
                        strcmp(entry->kind, "table") == 0 ? "table function" : entry->kind);
    help->no_memory = help->no_memory || !prefix;
    if (prefix)
        add_wrapped(help, &part, prefix, entry->text);
    sqlite3_free(prefix);
    add_usage(help);
    add_arguments(help);
    add_columns(help);
    if (entry->is_sql) { /* before the example, which is pasted to its end */
        char *source = sqlite3_mprintf("Source, with its rules: sql/%s.sql", entry->name);
        help->no_memory = help->no_memory || !source;
        if (source)
            add_line(help, "source", source);
        sqlite3_free(source);
    }
    add_example(help);
}

/* The page of a function; false if there is none of that name. */
static bool find_page(struct help *help, const char *name, struct nearest *nearest)
{
    struct entry entry;
    help->entry = &entry;
    for (int i = 0; entry_at(i, &entry); i++) {
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
    struct entry entry;
    help->entry = &entry;
    for (int i = 0; entry_at(i, &entry); i++) {
        struct part part = {"function", 0, NULL, entry.type, entry.text, NULL};
        add_row(help, &part, NULL);
        add_arguments(help);
        add_columns(help);
    }
}

static int help_produce(struct call *call, struct rows **rows)
{
    struct help help = {.result = result_new(call->function->column_count)};
    const char *about;
    if (!argument_name(call, 0, "the name of a function", &about)) {
        result_free(help.result);
        return SQLITE_ERROR;
    }
    struct nearest nearest = {about, about ? strlen(about) : 0, NULL, 0};
    if (!about) {
        list_all(&help);
    } else if (!find_page(&help, about, &nearest)) {
        failure_set(&call->failure, FAILURE_REQUEST, "there is no function '%s'; %s%s%s", about,
                    nearest.name ? "did you mean '"
                                 : "SELECT DISTINCT function FROM tracediff_help",
                    nearest.name ? nearest.name : " lists them", nearest.name ? "'?" : "");
        result_free(help.result);
        return SQLITE_ERROR;
    }
    *rows = result_finish(help.result);
    if (*rows && help.no_memory) {
        (*rows)->methods->destroy(*rows);
        *rows = NULL;
    }
    return *rows ? SQLITE_OK : SQLITE_NOMEM;
}

const struct table_function tracediff_help_function = {
    .name = "tracediff_help",
    .text = "every function with its arguments and columns, or the page of one",
    .columns = columns_of_help,
    .column_count = COUNT_OF(columns_of_help),
    .arguments = arguments_of_help,
    .argument_count = COUNT_OF(arguments_of_help),
    .reads_files = false,
    .produce = help_produce,
};
