/*
** Arranges a figure after its last row: counts values of histograms, puts rows into their order.
*/
#include "figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "points.h"
#include "waterfall.h"

/* The lower bounds, in us, of the bins from BIN_FIRST to BIN_LARGE. They are literals, not
** computed, so that each equals the double that a parser makes of the same decimals. */
static const double ends[] = {
    0.5, 1,   2,   5,   10,  20,  50,  100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4,
    5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 2e7, 5e7, 1e8, 2e8, 5e8, 1e9,
};

/* Bins of a histogram of times:
** 1. one for negative values, one for 0, one for values below 0.5 us, one for 1e9 us and more;
** 2. between them three for each decade: 1 to 2, 2 to 5, 5 to 10. A bin includes its lower bound,
**    not its upper bound. */
enum {
    BIN_NEGATIVE,
    BIN_ZERO,
    BIN_TINY,
    BIN_FIRST,
    BIN_LARGE = BIN_FIRST + sizeof ends / sizeof *ends - 1,
    BINS
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

static void write_time(struct writer *to, double time, bool with_unit)
{
    struct scale scale = scale_of(UNIT_TIME, time);
    write_number(to, time / scale.divisor);
    if (with_unit)
        write_string(to, scale.unit);
}

/* 0 µs, below 0.5 µs, 1–2 µs, 0.5–1 ms: of two units each has its own. */
static void bin_name(struct writer *to, int bin)
{
    if (bin == BIN_NEGATIVE || bin == BIN_ZERO) {
        write_string(to, bin == BIN_ZERO ? "0 µs" : "below 0 µs");
        return;
    }
    if (bin == BIN_TINY || bin == BIN_LARGE) {
        write_string(to, bin == BIN_TINY ? "below " : "from ");
        write_time(to, bin == BIN_TINY ? ends[0] : ends[BIN_LARGE - BIN_FIRST], true);
        return;
    }
    double from = ends[bin - BIN_FIRST], end = ends[bin + 1 - BIN_FIRST];
    bool same = scale_of(UNIT_TIME, from).divisor == scale_of(UNIT_TIME, end).divisor;
    write_time(to, from, !same);
    write_string(to, "–");
    write_time(to, end, true);
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
    size_t rows = last < first ? 0 : (size_t)(last - first + 1);
    if (!MEMORY_GROW(figure->rows, figure->row_capacity, rows))
        return false;
    for (int i = 0; i < figure->series_count; i++)
        if (!MEMORY_GROW(figure->series[i].y, figure->series[i].y_capacity, rows))
            return false;
    for (int bin = first; bin <= last; bin++) {
        struct text_span name = {figure->names.length, 0};
        bin_name(&figure->names, bin);
        name.length = figure->names.length - name.at;
        for (int i = 0; i < figure->series_count; i++)
            figure->series[i].y[figure->series[i].count++] = (double)counts[i][bin];
        figure->rows[figure->row_count++] = (struct chart_row){name, name.length};
    }
    return !figure->names.failed;
}

/* Makes hidden and not hidden of the percent that is hidden, unless times were given. */
static void arrange_overlap(struct figure *figure)
{
    enum { PERCENT, HIDDEN, EXPOSED };
    struct series *series = figure->series;
    bool times = false;
    if (figure->series_count == 0)
        return;
    for (size_t row = 0; row < figure->row_count; row++)
        times = times || !isnan(series[HIDDEN].y[row]) || !isnan(series[EXPOSED].y[row]);
    for (size_t row = 0; row < figure->row_count && !times; row++) {
        series[HIDDEN].y[row] = series[PERCENT].y[row];
        series[EXPOSED].y[row] = 100 - series[PERCENT].y[row];
    }
    figure->unit = times ? UNIT_TIME : UNIT_PERCENT;
    memory_free(series[PERCENT].y);
    series[PERCENT] = series[HIDDEN];
    series[HIDDEN] = series[EXPOSED];
    figure->series_count = 2;
}

/* Where a row goes: a smaller group first, then a greater number, then the order given. */
struct chart_place {
    double group, number;
    size_t row;
};

static int compare_places(const void *a, const void *b)
{
    const struct chart_place *one = a, *other = b;
    if (one->group != other->group)
        return one->group < other->group ? -1 : 1;
    if (one->number != other->number)
        return one->number > other->number ? -1 : 1;
    return one->row < other->row ? -1 : one->row > other->row;
}

static struct text_span first_of(const struct figure *figure, size_t row)
{
    return (struct text_span){figure->rows[row].name.at, figure->rows[row].first};
}

/* The first row with the first text of a row. */
static size_t first_row(const struct figure *figure, size_t row)
{
    size_t i = 0;
    while (!figure_same(figure, first_of(figure, i), first_of(figure, row)))
        i++;
    return i;
}

static bool is_text(const struct figure *figure, struct text_span span, const char *text)
{
    return span.length == strlen(text) && memcmp(figure_text(figure, span), text, span.length) == 0;
}

static bool is_control(const struct figure *figure, size_t row)
{
    static const char side[] = ", control";
    struct text_span name = figure->rows[row].name;
    size_t first = figure->rows[row].first;
    return is_text(figure, (struct text_span){name.at + first, name.length - first}, side);
}

/* Whether each rank is in control and in test. */
static bool sides_match(const struct figure *figure)
{
    for (size_t row = 0; row < figure->row_count; row++) {
        size_t other = 0;
        while (other < figure->row_count &&
               (is_control(figure, other) == is_control(figure, row) ||
                !figure_same(figure, first_of(figure, other), first_of(figure, row))))
            other++;
        if (other == figure->row_count)
            return false;
    }
    return true;
}

static struct chart_place place_of(const struct figure *figure, size_t row, bool match)
{
    struct chart_place place = {.row = row};
    switch (figure->chart->order) {
    case ORDER_GIVEN:
        break;
    case ORDER_SIDES:
        place.group = match ? (double)first_row(figure, row) : !is_control(figure, row);
        place.number = match && is_control(figure, row);
        break;
    case ORDER_BASE:
        place.group = (double)first_row(figure, row);
        place.number = figure->series[0].y[row];
        break;
    case ORDER_SUM:
        place.group = is_text(figure, figure->rows[row].name, "others");
        place.number = figure->chart->kind == CHART_RANGES ? figure->series[0].y[row]
                                                           : figure_sum(figure, row);
        break;
    }
    place.number = isnan(place.number) ? 0 : place.number;
    return place;
}

/* Brings the rows into their order. False if out of memory. */
static bool order_rows(struct figure *figure)
{
    size_t count = figure->row_count;
    if (figure->chart->order == ORDER_GIVEN || count == 0)
        return true;
    struct chart_place *places = memory_zeroed(count, sizeof *places);
    struct chart_row *rows = memory_zeroed(count, sizeof *rows);
    double *numbers = memory_zeroed(count, sizeof *numbers);
    bool made = places && rows && numbers;
    bool match = made && figure->chart->order == ORDER_SIDES && sides_match(figure);
    for (size_t i = 0; i < count && made; i++)
        places[i] = place_of(figure, i, match);
    if (made) {
        qsort(places, count, sizeof *places, compare_places);
        for (size_t i = 0; i < count; i++)
            rows[i] = figure->rows[places[i].row];
        memcpy(figure->rows, rows, count * sizeof *rows);
    }
    for (int s = 0; s < figure->series_count && made; s++) {
        for (size_t i = 0; i < count; i++)
            numbers[i] = figure->series[s].y[places[i].row];
        memcpy(figure->series[s].y, numbers, count * sizeof *numbers);
    }
    memory_free(places);
    memory_free(rows);
    memory_free(numbers);
    return made;
}

/* Brings the bars of a lane into the order of their starts, of those that start together the longer
** one first. A bar that lies within another one is then drawn after it, and seen. False if out of
** memory. */
static bool order_bars(struct series *lane)
{
    struct bar {
        struct chart_place place; /* first, for compare_places() */
        struct point_label label;
    } *bars = NULL;
    if (lane->count == 0)
        return true;
    bars = memory_zeroed(lane->count, sizeof *bars);
    if (!bars)
        return false;
    for (size_t i = 0; i < lane->count; i++)
        bars[i] = (struct bar){{lane->x[i], lane->y[i], i}, lane->labels[i]};
    qsort(bars, lane->count, sizeof *bars, compare_places);
    for (size_t i = 0; i < lane->count; i++) {
        lane->x[i] = bars[i].place.group;
        lane->y[i] = bars[i].place.number;
        lane->labels[i] = bars[i].label;
    }
    memory_free(bars);
    return true;
}

/* Removes the base if no row has one. */
static void drop_empty_base(struct figure *figure)
{
    struct series *base = &figure->series[0];
    for (size_t row = 0; row < figure->row_count; row++)
        if (!isnan(base->y[row]))
            return;
    memory_free(base->y);
    figure->series_count--;
    memmove(base, base + 1, (size_t)figure->series_count * sizeof *base);
}

bool figure_finish(struct figure *figure, const struct stopper *stopper, struct failure *failure)
{
    bool made = true;
    if (figure->failed || figure->title.failed)
        return false;
    if (figure->chart->kind == CHART_HISTOGRAMS)
        return count_values(figure);
    if (figure->chart->kind == CHART_WATERFALL)
        return waterfall_make(figure);
    if (figure_has_points(figure))
        made = points_make(figure, stopper, failure);
    for (int i = 0; i < figure->series_count && made && figure->chart->kind == CHART_TIMELINE; i++)
        made = order_bars(&figure->series[i]);
    if (figure->chart->kind == CHART_OVERLAP)
        arrange_overlap(figure);
    made = made && order_rows(figure);
    if (figure->chart->order == ORDER_BASE && figure->series_count > 0)
        drop_empty_base(figure);
    return made;
}
