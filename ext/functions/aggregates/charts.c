#include "charts.h"

#include <math.h>
#include <string.h>

#include "chart/page.h"
#include "base/memory.h"

struct chart_group {
    bool begun, alone; /* alone: format 'plotly', the figure without a page */
    bool failed;       /* an error was reported, but SQLite still asks for the result */
    struct figure figure;
};

/* Counts the required columns; optional ones follow them. */
static int count_columns(const struct chart *chart)
{
    int count = 0;
    while (chart->columns[count].role != CHART_NONE && !chart->columns[count].optional)
        count++;
    return count;
}

/* Reads title and format. On failure, reports the error and returns false. */
static bool begin_chart(sqlite3_context *context, struct chart_group *group,
                        const struct chart *chart, int count, sqlite3_value **values)
{
    if (count > 1 && sqlite3_value_type(values[1]) != SQLITE_NULL) {
        const char *format = (const char *)sqlite3_value_text(values[1]);
        if (!format) {
            sqlite3_result_error_nomem(context);
            return false;
        }
        group->alone = strcmp(format, "plotly") == 0;
        if (!group->alone && strcmp(format, "html") != 0) {
            function_fail(context, chart->function, "format must be 'html' or 'plotly'");
            return false;
        }
    }
    figure_begin(&group->figure, chart);
    group->begun = true;
    if (count > 0 && sqlite3_value_type(values[0]) != SQLITE_NULL) {
        const char *title = (const char *)sqlite3_value_text(values[0]);
        if (title)
            write_bytes(&group->figure.title, title, (size_t)sqlite3_value_bytes(values[0]));
        else
            group->figure.failed = true;
    }
    return true;
}

static bool role_is_text(enum chart_role role)
{
    return role < CHART_AT;
}

/* Converts a row's value to a cell, which is valid as long as the value. Returns SQLITE_OK,
** SQLITE_NOMEM, or SQLITE_MISMATCH if the column needs a number. */
static int take_cell(const struct chart *chart, int column, sqlite3_value *value,
                     struct chart_cell *cell)
{
    int type = sqlite3_value_type(value);
    enum chart_role role = chart->columns[column].role;
    *cell = (struct chart_cell){.number = NAN};
    if (type == SQLITE_NULL)
        return SQLITE_OK;
    if (role_is_text(role)) {
        cell->text = (const char *)sqlite3_value_text(value);
        cell->length = (size_t)sqlite3_value_bytes(value);
        return cell->text ? SQLITE_OK : SQLITE_NOMEM;
    }
    cell->number = sqlite3_value_double(value);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT ? SQLITE_OK : SQLITE_MISMATCH;
}

/* Adds a row. On failure, reports the error and returns false. */
static bool add_chart_row(sqlite3_context *context, struct chart_group *group,
                          const struct chart *chart, int count, sqlite3_value **values)
{
    struct chart_cell cells[MOST_CHART_COLUMNS];
    for (int i = 0; i < MOST_CHART_COLUMNS; i++)
        cells[i] = (struct chart_cell){.number = NAN};
    for (int i = 0; chart->columns[i].role != CHART_NONE; i++) {
        int at = chart->columns[i].optional ? i + 2 : i; /* after title and format */
        int code = at < count ? take_cell(chart, i, values[at], &cells[i]) : SQLITE_OK;
        if (code == SQLITE_MISMATCH)
            function_fail(context, chart->function, "%s must be a number", chart->columns[i].name);
        else if (code != SQLITE_OK)
            sqlite3_result_error_nomem(context);
        if (code != SQLITE_OK)
            return false;
    }
    figure_add(&group->figure, cells);
    if (group->figure.too_many)
        function_fail(context, chart->function, "more than 64 series: select fewer");
    else if (group->figure.mixed)
        function_fail(context, chart->function, "%s must be the same in every row: select one",
                      group->figure.mixed);
    else if (group->figure.failed)
        sqlite3_result_error_nomem(context);
    return !group->figure.too_many && !group->figure.mixed && !group->figure.failed;
}

static void chartStep(sqlite3_context *context, int count, sqlite3_value **values)
{
    const struct chart *chart = ((struct function_data *)sqlite3_user_data(context))->data;
    struct chart_group *group = sqlite3_aggregate_context(context, sizeof *group);
    int columns = count_columns(chart);
    if (!group) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (!group->begun)
        group->failed = !begin_chart(context, group, chart, count - columns, values + columns);
    if (!group->failed)
        group->failed = !add_chart_row(context, group, chart, count, values);
}

static bool write_page(struct figure *figure, struct writer *page)
{
    struct writer title = {0};
    figure_title(figure, &title);
    if (!title.failed) {
        page_begin(page, title.bytes, title.length);
        page_figure(page, figure);
        page_end(page);
    }
    bool written = !title.failed && !page->failed;
    writer_clear(&title);
    return written;
}

static void chartFinal(sqlite3_context *context)
{
    struct chart_group *group = sqlite3_aggregate_context(context, 0);
    const struct function_data *data = sqlite3_user_data(context);
    struct failure failure = {0};
    struct writer result = {0};
    if (!group)
        return;
    if (!group->begun || group->failed) {
        figure_clear(&group->figure);
        return;
    }
    connection_begin_work(data->connection);
    bool made = figure_finish(&group->figure, &data->connection->cache.stopper, &failure);
    if (made && group->alone)
        figure_write(&group->figure, &result);
    else if (made)
        made = write_page(&group->figure, &result);
    made = (made && !result.failed) || failure_memory(&failure);
    if (function_end_work(context, data->connection, made, &failure))
        sqlite3_result_text64(context, result.bytes, result.length, memory_free, SQLITE_UTF8);
    else
        writer_clear(&result);
    figure_clear(&group->figure);
}

bool chart_function_at(int i, struct function *function)
{
    if (i >= chart_count)
        return false;
    const struct chart *chart = &charts[i];
    *function = (struct function){.name = chart->function,
                                  .family = FAMILY_CHARTS,
                                  .question = chart->question,
                                  .text = chart->text,
                                  .step = chartStep,
                                  .final = chartFinal,
                                  .data = chart};
    int at = 0, required = count_columns(chart);
    for (int c = 0; c == required || chart->columns[c].role != CHART_NONE; c++) {
        const struct chart_column *column = &chart->columns[c];
        if (c == required) {
            function->arguments[at++] = (struct argument){
                "title", TAKES_TEXT, false,
                    "title of the figure; default a description of the figure"};
            function->arguments[at++] = (struct argument){
                "format", TAKES_TEXT, false,
                "'html' for a page, 'plotly' for the figure as JSON; default 'html'"};
        }
        if (column->role == CHART_NONE)
            break;
        function->arguments[at++] =
            (struct argument){column->name, role_is_text(column->role) ? TAKES_ANY : TAKES_REAL,
                              !column->optional, column->text};
    }
    return true;
}
