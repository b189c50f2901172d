#include "figure.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum {
    MOST_COST = 800 * 1000, /* bytes that rows may take in a page */
    ROW_COST = 220,         /* bytes of a row without its name */
    NUMBER_COST = 60,       /* bytes of a number, in the figure and in its table */
    MOST_MARKS = 500,
};

static const char fold[] = " overlapping ";

void figure_begin(struct figure *figure, const struct chart *chart)
{
    *figure = (struct figure){.chart = chart, .unit = chart->unit};
}

void figure_clear(struct figure *figure)
{
    for (int i = 0; i < figure->series_count; i++) {
        memory_free(figure->series[i].x);
        memory_free(figure->series[i].y);
        memory_free(figure->series[i].labels);
    }
    memory_free(figure->rows);
    memory_free(figure->marks);
    names_clear(&figure->areas.keys);
    memory_free(figure->areas.changes);
    writer_clear(&figure->names);
    writer_clear(&figure->title);
    *figure = (struct figure){0};
}

/* The part of a text that belongs to a name or to a series. */
static struct chart_cell part_of(const struct chart_cell *cell, enum chart_role role, bool name)
{
    struct chart_cell part = *cell;
    if (role != CHART_FOLDED || !part.text)
        return part;
    for (size_t i = 0; i + sizeof fold - 1 <= cell->length; i++)
        if (memcmp(cell->text + i, fold, sizeof fold - 1) == 0) {
            part.text += name ? 0 : i + 1;
            part.length = name ? i : cell->length - i - 1;
            return part;
        }
    return name ? part : (struct chart_cell){.text = "alone", .length = 5};
}

/* Appends the joined texts of a name, or of a series; false if one is missing that must be there.
** `*first` is the length of the first one, which may be shortened; of a tag alone 0. */
static bool join_texts(struct figure *figure, const struct chart_cell *cells, bool name,
                       struct text_span *span, size_t *first)
{
    const char *tag = NULL;
    size_t tag_length = 0;
    bool found = false;
    span->at = figure->names.length;
    *first = 0;
    for (int i = 0; i < MOST_CHART_COLUMNS; i++) {
        const struct chart_column *column = &figure->chart->columns[i];
        enum chart_role role = column->role;
        if (!(role == CHART_FOLDED || (!name && role == CHART_SERIES) ||
              (name && (role == CHART_NAME || role == CHART_DETAIL || role == CHART_TAG))))
            continue;
        struct chart_cell cell = part_of(&cells[i], role, name);
        if (!cell.text && (role == CHART_DETAIL || role == CHART_TAG))
            continue;
        if (!cell.text) {
            figure->names.length = span->at;
            return false;
        }
        if (role == CHART_TAG) {
            tag = cell.text;
            tag_length = cell.length;
            continue;
        }
        if (figure->names.length > span->at)
            write_string(&figure->names, ", ");
        if (column->title)
            write_string(&figure->names, column->title);
        write_bytes(&figure->names, cell.text, cell.length);
        found = true;
        if (*first == 0)
            *first = figure->names.length - span->at;
    }
    if (tag) {
        write_string(&figure->names, found ? " [" : "");
        write_bytes(&figure->names, tag, tag_length);
        write_string(&figure->names, found ? "]" : "");
    }
    span->length = figure->names.length - span->at;
    return found || tag;
}

bool figure_same(const struct figure *figure, struct text_span a, struct text_span b)
{
    return a.length == b.length &&
           (a.length == 0 ||
            memcmp(figure->names.bytes + a.at, figure->names.bytes + b.at, a.length) == 0);
}

/* Adds a series, with a gap in each row so far; NULL if there are too many, or out of memory. */
static struct series *add_series(struct figure *figure, const struct chart_column *column,
                                 struct text_span title)
{
    if (figure->series_count == MOST_SERIES) {
        figure->too_many = true;
        return NULL;
    }
    struct series *series = &figure->series[figure->series_count];
    *series = (struct series){.column = column, .title = title};
    if (!MEMORY_GROW(series->y, series->y_capacity, figure->row_count)) {
        figure->failed = true;
        return NULL;
    }
    for (; series->count < figure->row_count; series->count++)
        series->y[series->count] = NAN;
    figure->series_count++;
    return series;
}

/* Finds or adds the series of a title, which is at the end of the names. */
static struct series *series_named(struct figure *figure, const struct chart_column *column,
                                   struct text_span title)
{
    for (int i = 0; i < figure->series_count; i++) {
        if (!figure_same(figure, figure->series[i].title, title))
            continue;
        figure->names.length = title.at;
        return &figure->series[i];
    }
    return add_series(figure, column, title);
}

/* Numbers from 1e19 on are not times of a trace, and would make a figure of digits. */
static bool is_shown(double number)
{
    return fabs(number) < 1e19;
}

static void push_value(struct figure *figure, struct series *series, double y)
{
    if (MEMORY_GROW(series->y, series->y_capacity, series->count + 1))
        series->y[series->count++] = is_shown(y) ? y : NAN;
    else
        figure->failed = true;
}

/* Estimates the bytes of a row in a page. Its name is once in the table, and in the hover text of
** each series. */
static size_t cost_of(const struct figure *figure, struct text_span name)
{
    size_t cost = 0, series = (size_t)figure->series_count;
    for (size_t i = 0; i < name.length; i++) {
        unsigned char c = (unsigned char)figure->names.bytes[name.at + i];
        bool escaped = c < ' ' || strchr("<>&\"'\\", c) || c >= 0x80;
        cost +=
            (escaped ? 6 : 1) + (i < HOVER_WIDTH * HOVER_LINES ? (escaped ? 9 : 1) * series : 0);
    }
    return cost + ROW_COST + NUMBER_COST * series;
}

/* Begins a row; false if it is only counted, or out of memory. */
static bool begin_row(struct figure *figure, struct text_span name, size_t first)
{
    figure->seen++;
    size_t cost = cost_of(figure, name);
    if (figure->cost + cost > MOST_COST) {
        figure->cost = MOST_COST;
        figure->names.length = name.at;
        return false;
    }
    if (!MEMORY_GROW(figure->rows, figure->row_capacity, figure->row_count + 1)) {
        figure->failed = true;
        return false;
    }
    figure->cost += cost;
    figure->kept++;
    figure->rows[figure->row_count++] = (struct chart_row){name, first};
    return true;
}

static bool has_difference(const struct figure *figure)
{
    return figure->chart->kind == CHART_PAIRS || figure->chart->kind == CHART_WATERFALL;
}

/* Adds a series for each column of values, and one for their difference. */
static void add_column_series(struct figure *figure)
{
    static const struct chart_column difference = {.title = "difference"};
    for (int i = 0; i < MOST_CHART_COLUMNS; i++)
        if (figure->chart->columns[i].role >= CHART_VALUE)
            add_series(figure, &figure->chart->columns[i], (struct text_span){0});
    if (has_difference(figure))
        add_series(figure, &difference, (struct text_span){0});
}

/* The row of a name, which is at the end of the names and is removed there; 0: none, else its
** number from 1 on. */
static size_t row_named(struct figure *figure, struct text_span name)
{
    size_t row = figure->row_count;
    while (row > 0 && !figure_same(figure, figure->rows[row - 1].name, name))
        row--;
    if (row > 0)
        figure->names.length = name.at;
    return row;
}

/* Merges the last row into an earlier one of its name. The numbers of events are sums divided by
** means. */
static void merge_range(struct figure *figure, size_t into)
{
    size_t row = figure->series[0].count - 1;
    double *sum = figure->series[0].y, *high = figure->series[1].y, *low = figure->series[2].y;
    double *mean = figure->series[3].y, count = sum[into] / mean[into] + sum[row] / mean[row];
    sum[into] += sum[row];
    high[into] = fmax(high[into], high[row]);
    low[into] = fmin(low[into], low[row]);
    mean[into] = isfinite(sum[into] / count) ? sum[into] / count : NAN;
    for (int i = 0; i < figure->series_count; i++)
        figure->series[i].count--;
}

/* Adds a row in which each number belongs to a series of its own. */
static void add_wide(struct figure *figure, const struct chart_cell *cells)
{
    struct text_span name = {0};
    size_t first = 0, into = 0;
    if (figure->series_count == 0)
        add_column_series(figure);
    if (figure->failed)
        return;
    if (figure->chart->kind != CHART_HISTOGRAMS) {
        if (!join_texts(figure, cells, true, &name, &first) || figure->names.failed)
            return;
        into = figure->chart->kind == CHART_RANGES ? row_named(figure, name) : 0;
        if (into == 0 && !begin_row(figure, name, first))
            return;
    }
    int at = 0;
    for (int i = 0; i < MOST_CHART_COLUMNS; i++)
        if (figure->chart->columns[i].role >= CHART_VALUE)
            push_value(figure, &figure->series[at++], cells[i].number);
    if (has_difference(figure) && !figure->failed) {
        size_t row = figure->row_count - 1;
        push_value(figure, &figure->series[at],
                   figure->series[1].y[row] - figure->series[0].y[row]);
    }
    if (into > 0 && !figure->failed)
        merge_range(figure, into - 1);
}

static int column_of(const struct chart *chart, enum chart_role role)
{
    for (int i = 0; i < MOST_CHART_COLUMNS; i++)
        if (chart->columns[i].role == role)
            return i;
    return -1;
}

/* Adds a row with one number, which belongs to the series that its texts name. */
static void add_long(struct figure *figure, const struct chart_cell *cells)
{
    int value = column_of(figure->chart, CHART_VALUE), base = column_of(figure->chart, CHART_BASE);
    struct text_span name, title;
    size_t first, row, ignored;
    if (!join_texts(figure, cells, true, &name, &first))
        return;
    row = row_named(figure, name);
    if (!join_texts(figure, cells, false, &title, &ignored)) {
        figure->names.length = row > 0 ? figure->names.length : name.at;
        return;
    }
    if (base >= 0 && figure->series_count == 0)
        add_series(figure, &figure->chart->columns[base], (struct text_span){0});
    struct series *series = series_named(figure, &figure->chart->columns[value], title);
    if (!series || figure->names.failed)
        return;
    if (row == 0) {
        if (!begin_row(figure, name, first))
            return;
        row = figure->row_count;
        for (int i = 0; i < figure->series_count; i++)
            push_value(figure, &figure->series[i], NAN);
    }
    if (!figure->failed && is_shown(cells[value].number))
        series->y[row - 1] = cells[value].number;
    if (!figure->failed && base >= 0 && is_shown(cells[base].number))
        figure->series[0].y[row - 1] = cells[base].number;
}

static void add_mark(struct figure *figure, double at)
{
    size_t i = figure->mark_count;
    while (i > 0 && figure->marks[i - 1] != at)
        i--;
    if (i > 0 || !is_shown(at) || (figure->chart->at && at < 0) ||
        figure->mark_count == MOST_MARKS)
        return;
    if (MEMORY_GROW(figure->marks, figure->mark_capacity, figure->mark_count + 1))
        figure->marks[figure->mark_count++] = at;
    else
        figure->failed = true;
}

/* Whether there is room for an event of a timeline, whose name is at the end of the names. */
static bool has_room(struct figure *figure, struct text_span name)
{
    size_t cost = cost_of(figure, name) + NUMBER_COST;
    if (figure->cost + cost > MOST_COST) {
        figure->cost = MOST_COST;
        figure->names.length = name.at;
        figure->seen++;
        return false;
    }
    figure->cost += cost;
    return true;
}

/* Whether there are several columns of values. */
static bool has_values(const struct chart *chart)
{
    return chart->columns[column_of(chart, CHART_VALUE) + 1].role == CHART_VALUE;
}

/* Adds the point of a column of values. Where there are several, series are named after them,
** too. */
static void add_point(struct figure *figure, const struct chart_cell *cells, int value)
{
    int at = column_of(figure->chart, CHART_AT);
    bool timeline = figure->chart->kind == CHART_TIMELINE;
    double on = timeline ? cells[column_of(figure->chart, CHART_ON)].number : NAN;
    struct text_span title, name = {figure->names.length, 0};
    size_t ignored;
    if (!is_shown(cells[at].number) || !is_shown(cells[value].number) ||
        (timeline && (!join_texts(figure, cells, true, &name, &ignored) || figure->names.failed ||
                      !has_room(figure, name))))
        return;
    if (!join_texts(figure, cells, false, &title, &ignored)) {
        figure->names.length = name.at;
        return;
    }
    if (has_values(figure->chart)) {
        write_string(&figure->names, ", ");
        write_string(&figure->names, figure->chart->columns[value].title);
        title.length = figure->names.length - title.at;
    }
    struct series *series = series_named(figure, &figure->chart->columns[value], title);
    if (!series || figure->names.failed)
        return;
    if (!MEMORY_GROW(series->x, series->x_capacity, series->count + 1)) {
        figure->failed = true;
        return;
    }
    if (timeline && !MEMORY_GROW(series->labels, series->label_capacity, series->count + 1)) {
        figure->failed = true;
        return;
    }
    if (timeline)
        series->labels[series->count] = (struct point_label){name, on != 0 && !isnan(on), on == 0};
    series->x[series->count] = cells[at].number;
    push_value(figure, series, cells[value].number);
    add_mark(figure, cells[column_of(figure->chart, CHART_MARK)].number);
    figure->seen++;
    figure->kept += timeline;
    figure->has_pale = figure->has_pale || on == 0;
}

/* Keeps a text of CHART_ONLY of the first row; of later rows, says whether it is the same. */
static bool is_same(struct figure *figure, int column, const struct chart_cell *cell)
{
    struct text_span *kept = &figure->areas.only[column];
    size_t length = cell->text ? cell->length : 0;
    if (figure->areas.rows > 0)
        return kept->length == length &&
               (length == 0 || memcmp(figure_text(figure, *kept), cell->text, length) == 0);
    *kept = (struct text_span){figure->names.length, length};
    if (length > 0)
        write_bytes(&figure->names, cell->text, length);
    return true;
}

static void add_change(struct figure *figure, double at, double value, uint32_t key)
{
    struct stacked_areas *areas = &figure->areas;
    if (MEMORY_GROW(areas->changes, areas->capacity, areas->count + 1))
        areas->changes[areas->count++] = (struct area_change){at, value, key};
    else
        figure->failed = true;
}

/* Adds what a row of CHART_AREAS changes. A row without a key is `(none)`; one that ends before it
** begins is left out. */
static void add_changes(struct figure *figure, const struct chart_cell *cells)
{
    struct chart_cell key = {.text = "(none)", .length = 6};
    double from = NAN, to = NAN, value = NAN;
    for (int i = 0; i < MOST_CHART_COLUMNS; i++) {
        enum chart_role role = figure->chart->columns[i].role;
        if (role == CHART_ONLY && !is_same(figure, i, &cells[i]))
            figure->mixed = figure->chart->columns[i].name;
        key = role == CHART_SERIES && cells[i].text ? cells[i] : key;
        from = role == CHART_FROM ? cells[i].number : from;
        to = role == CHART_TO ? cells[i].number : to;
        value = role == CHART_VALUE ? cells[i].number : value;
    }
    figure->areas.rows++;
    if (figure->mixed || !isfinite(value) || isinf(from) || isinf(to) || to < from)
        return;
    uint32_t id = names_intern(&figure->areas.keys, key.text, key.length);
    figure->failed = figure->failed || id == NAME_NONE;
    if (!figure->failed)
        add_change(figure, isnan(from) ? -INFINITY : from, value, id);
    if (!figure->failed && !isnan(to))
        add_change(figure, to, -value, id);
}

bool figure_has_points(const struct figure *figure)
{
    enum chart_kind kind = figure->chart->kind;
    return kind == CHART_LINES || kind == CHART_AREAS || kind == CHART_DOTS ||
           kind == CHART_TIMELINE;
}

bool figure_is_stack(const struct figure *figure)
{
    return figure->chart->kind == CHART_STACK || figure->chart->kind == CHART_OVERLAP;
}

double figure_sum(const struct figure *figure, size_t row)
{
    double sum = 0;
    for (int i = 0; i < figure->series_count; i++)
        sum += isnan(figure->series[i].y[row]) ? 0 : figure->series[i].y[row];
    return sum;
}

double figure_total(const struct figure *figure, int series)
{
    double sum = 0;
    for (size_t row = 0; row < figure->row_count; row++)
        sum += isnan(figure->series[series].y[row]) ? 0 : figure->series[series].y[row];
    return sum;
}

void figure_add(struct figure *figure, const struct chart_cell *cells)
{
    if (figure->failed || figure->too_many || figure->mixed)
        return;
    if (figure->chart->kind == CHART_AREAS)
        add_changes(figure, cells);
    else if (figure_has_points(figure))
        for (int i = column_of(figure->chart, CHART_VALUE);
             figure->chart->columns[i].role == CHART_VALUE; i++)
            add_point(figure, cells, i);
    else if (column_of(figure->chart, CHART_SERIES) >= 0 ||
             column_of(figure->chart, CHART_FOLDED) >= 0)
        add_long(figure, cells);
    else
        add_wide(figure, cells);
    figure->failed = figure->failed || figure->names.failed;
}

const char *figure_text(const struct figure *figure, struct text_span span)
{
    return span.length > 0 ? figure->names.bytes + span.at : "";
}

const char *figure_series(const struct figure *figure, int i, size_t *length)
{
    const struct series *series = &figure->series[i];
    if (series->title.length > 0) {
        *length = series->title.length;
        return figure_text(figure, series->title);
    }
    *length = strlen(series->column->title);
    return series->column->title;
}

void figure_title(const struct figure *figure, struct writer *to)
{
    if (figure->title.length > 0)
        write_bytes(to, figure->title.bytes, figure->title.length);
    else
        write_string(to, figure->chart->title);
    if (figure->kept >= figure->seen)
        return;
    bool lines = figure_has_points(figure) && figure->chart->kind != CHART_TIMELINE;
    write_string(to, lines ? " (" : " (the first ");
    write_grouped(to, figure->kept);
    write_string(to, " of ");
    write_grouped(to, figure->seen);
    write_string(to, lines ? " points, extremes kept)" : " rows)");
}

/* The greatest size of a number, or of a difference, of series that share an axis. */
static double greatest_of(const struct figure *figure, int from, int to)
{
    double greatest = 0;
    for (int i = from; i < to; i++)
        for (size_t at = 0; at < figure->series[i].count; at++)
            if (fabs(figure->series[i].y[at]) > greatest)
                greatest = fabs(figure->series[i].y[at]);
    return greatest;
}

struct scale scale_of(enum chart_unit unit, double greatest)
{
    static const char *const texts[] = {
        [UNIT_COUNT] = "", [UNIT_BANDWIDTH] = " GB/s", [UNIT_PERCENT] = " %"};
    if (unit == UNIT_BYTES)
        return greatest < 1e6   ? (struct scale){.divisor = 1e3, .unit = " kB"}
               : greatest < 1e9 ? (struct scale){.divisor = 1e6, .unit = " MB"}
                                : (struct scale){.divisor = 1e9, .unit = " GB"};
    if (unit != UNIT_TIME)
        return (struct scale){.divisor = 1, .unit = texts[unit]};
    if (greatest < 1e3)
        return (struct scale){.divisor = 1, .unit = " µs"};
    return greatest < 1e7 ? (struct scale){.divisor = 1e3, .unit = " ms"}
                          : (struct scale){.divisor = 1e6, .unit = " s"};
}

int brief_of(double greatest)
{
    int decimals = 0;
    for (; decimals < 3 && greatest > 0 && greatest < 100; decimals++)
        greatest *= 10;
    return decimals;
}

struct scale figure_scale(const struct figure *figure, int series)
{
    int from = 0, to = figure->series_count;
    if (figure->chart->kind == CHART_RANGES) {
        from = series > 0;
        to = series > 0 ? to : 1;
    }
    double greatest = greatest_of(figure, from, to);
    if (figure->chart->kind == CHART_RANGES && series > 0)
        greatest = greatest_of(figure, to - 1, to); /* the means */
    struct scale scale = scale_of(figure->unit, greatest);
    for (int i = from; i < to; i++)
        for (size_t at = 0; at < figure->series[i].count && scale.decimals < 3; at++)
            if (!isnan(figure->series[i].y[at])) {
                int needed = decimals_of(figure->series[i].y[at] / scale.divisor, 3);
                scale.decimals = needed > scale.decimals ? needed : scale.decimals;
            }
    double reference = has_difference(figure) ? greatest_of(figure, to - 1, to) : greatest;
    int brief = brief_of((reference > 0 ? reference : greatest) / scale.divisor);
    scale.brief = brief < scale.decimals ? brief : scale.decimals;
    return scale;
}

struct scale figure_time_scale(const struct figure *figure)
{
    double greatest = 0;
    for (int i = 0; i < figure->series_count; i++)
        for (size_t at = 0; at < figure->series[i].count; at++)
            greatest = fmax(greatest, figure->series[i].x[at]);
    struct scale scale = scale_of(figure->chart->at ? UNIT_COUNT : UNIT_TIME, greatest);
    scale.decimals = figure->chart->at ? 0 : 3;
    return scale;
}
