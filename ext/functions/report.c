/*
** trace_diff_report: one page about two traces. Its figures are the files of sql/report/. Below
** each figure is the statement that makes this figure alone, ready to run.
*/
#include <string.h>

#include "../chart/page.h"
#include "call_trace.h"

static const struct column columns_of_report[] = {
    {"html", "TEXT", "the page"},
};

static const struct argument arguments_of_report[] = {{CONTROL_ARGUMENT}, {TEST_ARGUMENT}};

static const char title[] = "What changed from control to test";

static const struct chart *chart_of(const char *function)
{
    for (int i = 0; i < chart_count; i++)
        if (strcmp(charts[i].function, function) == 0)
            return &charts[i];
    return NULL;
}

static int take_figure_row(void *to, sqlite3_stmt *row)
{
    struct figure *figure = to;
    struct chart_cell cells[MOST_CHART_COLUMNS];
    int count = sqlite3_column_count(row);
    chart_cells_clear(cells);
    for (int i = 0; i < count && i < MOST_CHART_COLUMNS; i++) {
        int code = chart_cell_take(figure->chart, i, sqlite3_column_value(row, i), &cells[i]);
        if (code != SQLITE_OK)
            return code;
    }
    figure_add(figure, cells);
    return figure->failed ? SQLITE_NOMEM : SQLITE_OK;
}

/* The text of an argument; NULL if out of memory. */
static const char *trace_text(struct call *call, int i)
{
    return (const char *)sqlite3_value_text(call->values[i]);
}

/* The index of the argument whose name begins a text; -1: none. */
static int argument_at(const char *text)
{
    for (int i = 0; i < COUNT_OF(arguments_of_report); i++)
        if (strncmp(text, arguments_of_report[i].name, strlen(arguments_of_report[i].name)) == 0)
            return i;
    return -1;
}

/* Appends a query, with its parameters replaced by literals. */
static void append_literal_query(sqlite3_str *text, struct call *call, const char *sql)
{
    for (; *sql; sql++) {
        int i = *sql == ':' ? argument_at(sql + 1) : -1;
        if (i < 0) {
            sqlite3_str_appendchar(text, 1, *sql);
            continue;
        }
        sqlite3_str_appendf(text, "%Q", trace_text(call, i));
        sql += strlen(arguments_of_report[i].name);
    }
}

/* The statement that makes this figure alone. */
static char *figure_statement(struct call *call, const struct report_figure *it)
{
    const struct chart *chart = chart_of(it->function);
    sqlite3_str *text = sqlite3_str_new(call->database->db);
    sqlite3_str_appendf(text, "SELECT %s(", it->function);
    for (int i = 0; chart->columns[i].role != CHART_NONE && !chart->columns[i].optional; i++)
        sqlite3_str_appendf(text, "%s, ", chart->columns[i].name);
    sqlite3_str_appendf(text, "%Q) FROM (\n", it->heading);
    append_literal_query(text, call, it->shown);
    sqlite3_str_appendall(text, ");");
    return sqlite3_str_finish(text);
}

static int add_figure(struct call *call, const struct report_figure *it, struct writer *page)
{
    struct figure figure;
    figure_begin(&figure, chart_of(it->function));
    write_string(&figure.title, it->heading);
    int code = sql_run(call, it->sql, take_figure_row, &figure);
    char *shown = code == SQLITE_OK ? figure_statement(call, it) : NULL;
    if (code == SQLITE_OK && (!shown || !figure_finish(&figure)))
        code = SQLITE_NOMEM;
    if (code == SQLITE_OK)
        page_figure(page, &figure, it->heading, shown);
    sqlite3_free(shown);
    figure_clear(&figure);
    return code;
}

static void write_traces(struct call *call, struct writer *page)
{
    write_string(page, "<dl>");
    for (int i = 0; i < COUNT_OF(arguments_of_report); i++) {
        const char *text = trace_text(call, i);
        write_string(page, "<dt>");
        write_string(page, arguments_of_report[i].name);
        write_string(page, "</dt><dd>");
        if (text)
            write_html(page, text, strlen(text));
        else
            page->failed = true;
        write_string(page, "</dd>");
    }
    write_string(page, "</dl>\n<p>All ranks; of each the steps but the first and the last, where "
                       "an analysis does not say otherwise. Differences are test minus "
                       "control.</p>\n");
}

static int report_produce(struct call *call, struct rows **rows)
{
    struct writer page = {0};
    int code = sql_enter(call);
    if (code != SQLITE_OK)
        return code;
    page_begin(&page, title, sizeof title - 1);
    write_traces(call, &page);
    for (int i = 0; i < report_figure_count && code == SQLITE_OK; i++)
        code = add_figure(call, &report_figures[i], &page);
    page_end(&page);
    sql_leave(call);
    struct result *result = result_new(COUNT_OF(columns_of_report));
    if (page.failed)
        result_lost(result);
    else
        result_text(result, page.bytes, page.length);
    writer_clear(&page);
    return result_finish(result, code, rows);
}

const struct table_function trace_diff_report_function = {
    .name = "trace_diff_report",
    .text = "an HTML page about what changed from control to test",
    COLUMNS(columns_of_report),
    ARGUMENTS(arguments_of_report),
    .reads_files = true,
    .typical_rows = 1,
    .produce = report_produce,
};
