#include "figure.h"

#include <math.h>
#include <string.h>

#include "../reader/memory.h"
#include "waterfall.h"

enum {
    MOST_COST = 800 * 1000, /* bytes that rows may take in a page */
    ROW_COST = 160,         /* bytes of a row without its name */
    NUMBER_COST = 50,       /* bytes of a number, in the figure and in its table */
    MOST_POINTS = 8000,     /* of all lines together */
    POINTS_OF_A_BUCKET = 4,
};

/* Bins of a histogram of times:
** 1. one for negative values, one for 0, one for values below 0.001, one for 1e9 and more;
** 2. from 0.001 to 1e9, three for each decade: 1 to 2, 2 to 5, 5 to 10. A bin includes its lower
**    bound, not its upper bound. */
enum {
    BIN_NEGATIVE,
    BIN_ZERO,
    BIN_TINY, /* positive, below the first decade */
    BIN_FIRST,
    BIN_DECADES = 12,
    BIN_LARGE = BIN_FIRST + 3 * BIN_DECADES, /* from the end of the last decade on */
    BINS
};

void figure_begin(struct figure *figure, const struct chart *chart)
{
    *figure = (struct figure){.chart = chart};
}

void figure_clear(struct figure *figure)
{
    for (int i = 0; i < figure->series_count; i++) {
        memory_free(figure->series[i].x);
        memory_free(figure->series[i].y);
    }
    memory_free(figure->rows);
    writer_clear(&figure->names);
    writer_clear(&figure->title);
    *figure = (struct figure){0};
}

/* Appends the joined texts of a role to the names; false if a text is missing. */
static bool join_texts(struct figure *figure, const struct chart_cell *cells, enum chart_role role,
                       struct text_span *span)
{
    span->at = figure->names.length;
    for (int i = 0; i < MOST_CHART_COLUMNS; i++) {
        const struct chart_column *column = &figure->chart->columns[i];
        if (column->role != role && !(role == CHART_NAME && column->role == CHART_DETAIL))
            continue;
        if (!cells[i].text && column->role == CHART_DETAIL)
            continue;
        if (!cells[i].text) {
            figure->names.length = span->at;
            return false;
        }
        if (figure->names.length > span->at)
            write_string(&figure->names, column->role == CHART_DETAIL ? ": " : ", ");
        if (column->title)
            write_string(&figure->names, column->title);
        write_bytes(&figure->names, cells[i].text, cells[i].length);
    }
    span->length = figure->names.length - span->at;
    return true;
}

static bool same_text(const struct figure *figure, struct text_span a, struct text_span b)
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
        if (!same_text(figure, figure->series[i].title, title))
            continue;
        figure->names.length = title.at;
        return &figure->series[i];
    }
    return add_series(figure, column, title);
}

static void push_value(struct figure *figure, struct series *series, double y)
{
    if (MEMORY_GROW(series->y, series->y_capacity, series->count + 1))
        series->y[series->count++] = isfinite(y) ? y : NAN;
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
static bool begin_row(struct figure *figure, struct text_span name)
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
    figure->rows[figure->row_count++] = name;
    return true;
}

/* Adds a series for each column of values, and one for their difference. */
static void add_column_series(struct figure *figure)
{
    static const struct chart_column difference = {CHART_VALUE, "difference", "test minus control",
                                                   "difference", PURPLE};
    for (int i = 0; i < MOST_CHART_COLUMNS; i++)
        if (figure->chart->columns[i].role >= CHART_VALUE)
            add_series(figure, &figure->chart->columns[i], (struct text_span){0});
    if (figure->chart->difference)
        add_series(figure, &difference, (struct text_span){0});
}

/* Adds a row in which each number belongs to a series of its own. */
static void add_wide(struct figure *figure, const struct chart_cell *cells)
{
    struct text_span name = {0};
    if (figure->series_count == 0)
        add_column_series(figure);
    if (figure->failed)
        return;
    if (figure->chart->kind != CHART_HISTOGRAMS &&
        (!join_texts(figure, cells, CHART_NAME, &name) || figure->names.failed ||
         !begin_row(figure, name)))
        return;
    int at = 0;
    for (int i = 0; i < MOST_CHART_COLUMNS; i++)
        if (figure->chart->columns[i].role >= CHART_VALUE)
            push_value(figure, &figure->series[at++], cells[i].number);
    if (figure->chart->difference && !figure->failed) {
        size_t row = figure->row_count - 1;
        push_value(figure, &figure->series[at],
                   figure->series[1].y[row] - figure->series[0].y[row]);
    }
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
    int value = column_of(figure->chart, CHART_VALUE);
    struct text_span name, title;
    size_t row = 0;
    if (!join_texts(figure, cells, CHART_NAME, &name))
        return;
    for (row = figure->row_count; row > 0 && !same_text(figure, figure->rows[row - 1], name);)
        row--;
    if (row > 0)
        figure->names.length = name.at;
    if (!join_texts(figure, cells, CHART_SERIES, &title)) {
        figure->names.length = name.at;
        return;
    }
    struct series *series = series_named(figure, &figure->chart->columns[value], title);
    if (!series || figure->names.failed)
        return;
    if (row == 0) {
        if (!begin_row(figure, name))
            return;
        row = figure->row_count;
        for (int i = 0; i < figure->series_count; i++)
            push_value(figure, &figure->series[i], NAN);
    }
    if (!figure->failed && isfinite(cells[value].number))
        series->y[row - 1] = cells[value].number;
}

static void add_point(struct figure *figure, const struct chart_cell *cells)
{
    int at = column_of(figure->chart, CHART_AT), value = column_of(figure->chart, CHART_VALUE);
    struct text_span title;
    if (!isfinite(cells[at].number) || !isfinite(cells[value].number) ||
        !join_texts(figure, cells, CHART_SERIES, &title))
        return;
    struct series *series = series_named(figure, &figure->chart->columns[value], title);
    if (!series || figure->names.failed)
        return;
    if (!MEMORY_GROW(series->x, series->x_capacity, series->count + 1)) {
        figure->failed = true;
        return;
    }
    series->x[series->count] = cells[at].number;
    push_value(figure, series, cells[value].number);
    figure->seen++;
}

void figure_add(struct figure *figure, const struct chart_cell *cells)
{
    if (figure->failed || figure->too_many)
        return;
    if (figure->chart->kind == CHART_LINES)
        add_point(figure, cells);
    else if (column_of(figure->chart, CHART_SERIES) >= 0)
        add_long(figure, cells);
    else
        add_wide(figure, cells);
    figure->failed = figure->failed || figure->names.failed;
}

/* The lower bounds of the bins from BIN_FIRST to BIN_LARGE. They are literals, not computed, so
** that each equals the double that a parser makes of the same decimals. */
static const double ends[] = {
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1,   2,   5,   10,
    20,    50,    100,   200,  500,  1e3,  2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5,
    5e5,   1e6,   2e6,   5e6,  1e7,  2e7,  5e7, 1e8, 2e8, 5e8, 1e9,
};

static int bin_of(double value)
{
    if (value <= 0)
        return value < 0 ? BIN_NEGATIVE : BIN_ZERO;
    int bin = BIN_TINY;
    while (bin < BIN_LARGE && value >= ends[bin + 1 - BIN_FIRST])
        bin++;
    return bin;
}

static void write_end(struct writer *to, double end)
{
    if (end < 1)
        write_number(to, end);
    else
        write_grouped(to, (int64_t)end);
}

static void bin_name(struct writer *to, int bin)
{
    if (bin == BIN_NEGATIVE || bin == BIN_ZERO) {
        write_string(to, bin == BIN_ZERO ? "0 µs" : "below 0 µs");
        return;
    }
    if (bin == BIN_TINY) {
        write_string(to, "below ");
    } else {
        write_end(to, ends[bin - BIN_FIRST]);
        write_string(to, bin == BIN_LARGE ? " µs or more" : " to ");
    }
    if (bin == BIN_LARGE)
        return;
    write_end(to, ends[bin + 1 - BIN_FIRST]);
    write_string(to, " µs");
}

/* Replaces values with counts: a row for each bin from the first to the last that is not empty. */
static bool count_values(struct figure *figure)
{
    int first = BINS, last = -1;
    int64_t counts[MOST_SERIES][BINS] = {{0}};
    for (int i = 0; i < figure->series_count; i++) {
        struct series *series = &figure->series[i];
        for (size_t row = 0; row < series->count; row++) {
            if (isnan(series->y[row]))
                continue;
            int bin = bin_of(series->y[row]);
            counts[i][bin]++;
            first = bin < first ? bin : first;
            last = bin > last ? bin : last;
        }
        series->count = 0;
    }
    for (int bin = first; bin <= last && !figure->failed; bin++) {
        struct text_span name = {figure->names.length, 0};
        bin_name(&figure->names, bin);
        name.length = figure->names.length - name.at;
        if (figure->names.failed || !begin_row(figure, name))
            return false;
        for (int i = 0; i < figure->series_count; i++)
            push_value(figure, &figure->series[i], (double)counts[i][bin]);
    }
    return !figure->failed;
}

/* The bucket of a point. `width` is 0 if buckets have equally many points. */
static size_t bucket_of(const double *x, size_t i, size_t count, size_t buckets, double width)
{
    if (width == 0)
        return (size_t)((double)i / (double)count * (double)buckets);
    size_t bucket = (size_t)((x[i] - x[0]) / width);
    return bucket < buckets ? bucket : buckets - 1;
}

/* Reduces the points of a long line without changing how it looks. Thins in place. Returns how
** many points are left, at most four per bucket.
** 1. The line is cut into buckets of equal width. If its x decreases anywhere, the buckets have
**    equally many points instead.
** 2. Each bucket keeps its first, lowest, highest and last point, in their order. So no extreme is
**    lost, and steps stay where they are. */
static size_t thin(double *x, double *y, size_t count, size_t buckets)
{
    if (count <= 4 * buckets)
        return count;
    double first = x[0], width = (x[count - 1] - first) / (double)buckets;
    for (size_t i = 1; i < count && width > 0; i++)
        if (x[i] < x[i - 1])
            width = 0;
    if (!(width > 0))
        width = 0;
    size_t kept = 0;
    for (size_t begin = 0, end; begin < count; begin = end) {
        size_t bucket = bucket_of(x, begin, count, buckets, width), low = begin, high = begin;
        for (end = begin + 1; end < count && bucket_of(x, end, count, buckets, width) == bucket;
             end++) {
            low = y[end] < y[low] ? end : low;
            high = y[end] > y[high] ? end : high;
        }
        size_t points[] = {begin, low < high ? low : high, low < high ? high : low, end - 1};
        for (int i = 0; i < 4; i++) {
            if (i > 0 && points[i] == points[i - 1])
                continue;
            x[kept] = x[points[i]];
            y[kept++] = y[points[i]];
        }
    }
    return kept;
}

bool figure_finish(struct figure *figure)
{
    if (figure->failed || figure->title.failed)
        return false;
    if (figure->chart->kind == CHART_HISTOGRAMS)
        return count_values(figure);
    if (figure->chart->kind == CHART_WATERFALL)
        return waterfall_make(figure);
    if (figure->chart->kind != CHART_LINES)
        return true;
    size_t buckets = MOST_POINTS / POINTS_OF_A_BUCKET;
    buckets /= figure->series_count > 0 ? (size_t)figure->series_count : 1;
    for (int i = 0; i < figure->series_count; i++) {
        struct series *series = &figure->series[i];
        series->count = thin(series->x, series->y, series->count, buckets);
        figure->kept += (int64_t)series->count;
    }
    return true;
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
    bool lines = figure->chart->kind == CHART_LINES;
    write_string(to, lines ? " (" : " (the first ");
    write_grouped(to, figure->kept);
    write_string(to, " of ");
    write_grouped(to, figure->seen);
    write_string(to, lines ? " points, extremes kept)" : " rows)");
}
