#include "points.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

enum {
    MOST_POINTS = 8000, /* of all lines together */
    POINTS_OF_A_BUCKET = 4,
    MOST_AREAS = 8
};

/* Of the key '', of all keys after the 7th, and of the sum. */
static const struct chart_column area_column = {.role = CHART_VALUE, .title = "(empty)"};
static const struct chart_column rest_column = {.role = CHART_VALUE, .colour = GREY};
static const struct chart_column sum_column = {.role = CHART_VALUE, .colour = TEST_INK};

/* The bucket of a point. `width` is 0 if buckets have equally many points. */
static size_t bucket_of(const double *x, size_t i, size_t count, size_t buckets, double width)
{
    if (width == 0)
        return (size_t)((double)i / (double)count * (double)buckets);
    size_t bucket = (size_t)((x[i] - x[0]) / width);
    return bucket < buckets ? bucket : buckets - 1;
}

/* Reduces the points of a line, of so many, without changing how it looks: x and y, in place.
** Returns how many are left.
** 1. The line is cut into buckets of equal width. If its x decreases anywhere, the buckets have
**    equally many points instead.
** 2. Each bucket keeps its first, lowest, highest and last point, of equal ones the earliest, in
**    their order. So no extreme is lost, and steps stay where they are. */
static size_t thin(double *x, double *y, size_t count, size_t lines)
{
    size_t buckets = MOST_POINTS / POINTS_OF_A_BUCKET / lines;
    if (count <= POINTS_OF_A_BUCKET * buckets)
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

/* Keeps the points at which a value rises. */
static size_t rises(double *x, double *y, size_t count)
{
    size_t kept = 0;
    double before = 0;
    for (size_t i = 0; i < count; i++) {
        double value = y[i];
        if (value > before) {
            x[kept] = x[i];
            y[kept++] = value;
        }
        before = value;
    }
    return kept;
}

/* Moves all points so that the first one, or the first mark, is at 0. */
static void shift_points(struct figure *figure)
{
    double origin = INFINITY;
    for (int i = 0; i < figure->series_count; i++)
        for (size_t at = 0; at < figure->series[i].count; at++)
            origin = fmin(origin, figure->series[i].x[at]);
    for (size_t i = 0; i < figure->mark_count; i++)
        origin = fmin(origin, figure->marks[i]);
    for (size_t i = 0; i < figure->mark_count; i++)
        figure->marks[i] -= origin;
    for (int i = 0; i < figure->series_count; i++)
        for (size_t at = 0; at < figure->series[i].count; at++)
            figure->series[i].x[at] -= origin;
}

/* Thins lines if there are too many points. */
static void thin_points(struct figure *figure)
{
    figure->seen = 0;
    for (int i = 0; i < figure->series_count; i++) {
        struct series *series = &figure->series[i];
        if (figure->chart->kind == CHART_DOTS)
            series->count = rises(series->x, series->y, series->count);
        figure->seen += (int64_t)series->count;
    }
    for (int i = 0; i < figure->series_count; i++) {
        struct series *series = &figure->series[i];
        if (figure->seen > MOST_POINTS)
            series->count = thin(series->x, series->y, series->count, (size_t)figure->series_count);
        figure->kept += (int64_t)series->count;
    }
}

static int change_order(const void *a, const void *b)
{
    const struct area_change *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Orders the changes; those before all get a place 1 before the first of the others. */
static bool order_changes(struct stacked_areas *areas, const struct stopper *stopper,
                          struct failure *failure)
{
    size_t before = 0;
    if (!sort_items(areas->changes, areas->count, sizeof *areas->changes, change_order, stopper,
                    failure))
        return false;
    while (before < areas->count && isinf(areas->changes[before].at))
        before++;
    for (size_t i = 0; i < before; i++)
        areas->changes[i].at = before < areas->count ? areas->changes[before].at - 1 : -1;
    return true;
}

/* Fills the points. */
static bool find_points(const struct stacked_areas *areas, double *x, double *y, size_t *points,
                        const struct stopper *stopper, struct failure *failure)
{
    size_t count = 0;
    double sum = 0;
    for (size_t i = 0; i < areas->count; i++) {
        if (!stopper_goes_on(stopper, i, failure))
            return false;
        sum += areas->changes[i].value;
        count += count == 0 || x[count - 1] != areas->changes[i].at;
        x[count - 1] = areas->changes[i].at;
        y[count - 1] = sum;
    }
    *points = count;
    return true;
}

/* A key, and its value at the peak. */
struct area_key {
    double value;
    const struct name *name;
    uint32_t id;
};

static int key_order(const void *a, const void *b)
{
    const struct area_key *x = a, *y = b;
    return x->value > y->value ? -1 : x->value < y->value ? 1 : name_compare(x->name, y->name);
}

/* Adds a series, whose title is at the end of the names from `at` on. */
static void add_series(struct figure *figure, const struct chart_column *column, size_t at)
{
    figure->series[figure->series_count++] =
        (struct series){.column = column, .title = {at, figure->names.length - at}};
}

/* Adds the series of a key. A long title is cut: a page's table repeats it for each point. */
static void add_area(struct figure *figure, const struct name *key)
{
    enum { MOST_TITLE = 100 };
    size_t at = figure->names.length, length = key->length;
    if (length > MOST_TITLE)
        for (length = MOST_TITLE; length > 0 && ((unsigned char)key->text[length] & 0xc0) == 0x80;)
            length--;
    write_bytes(&figure->names, key->text, length);
    write_string(&figure->names, length < key->length ? "…" : "");
    add_series(figure, &area_column, at);
}

/* Adds that of all other keys. */
static void add_rest(struct figure *figure, int64_t count)
{
    size_t at = figure->names.length;
    write_integer(&figure->names, count);
    write_string(&figure->names, " others");
    add_series(figure, &rest_column, at);
}

/* Adds the areas, and finds that of each key. */
static bool choose_areas(struct figure *figure, double peak, int *area_of,
                         const struct stopper *stopper, struct failure *failure)
{
    struct stacked_areas *areas = &figure->areas;
    size_t count = areas->keys.count;
    struct area_key *keys = memory_zeroed(count, sizeof *keys);
    if (!keys)
        return false;
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct area_key){.name = &areas->keys.items[i], .id = (uint32_t)i};
    for (size_t i = 0; i < areas->count && areas->changes[i].at <= peak; i++)
        keys[areas->changes[i].key].value += areas->changes[i].value;
    bool sorted = sort_items(keys, count, sizeof *keys, key_order, stopper, failure);
    for (size_t i = 0; i < count && sorted; i++) {
        area_of[keys[i].id] = i < MOST_AREAS ? (int)i : MOST_AREAS - 1;
        if (i < MOST_AREAS - 1 || count == MOST_AREAS)
            add_area(figure, keys[i].name);
        else if (i == MOST_AREAS - 1)
            add_rest(figure, (int64_t)(count - i));
    }
    memory_free(keys);
    return sorted;
}

/* Adds the series of the sum, whose name says how much it is at the peak. */
static void add_sum(struct figure *figure, double most)
{
    size_t at = figure->names.length;
    struct scale scale = scale_of(figure->unit, most);
    write_string(&figure->names, "all, ");
    write_amount(&figure->names, most / scale.divisor, 3);
    write_string(&figure->names, scale.unit);
    write_string(&figure->names, " at the peak");
    add_series(figure, &sum_column, at);
}

static bool push_point(struct series *series, double x, double y)
{
    if (!MEMORY_GROW(series->x, series->x_capacity, series->count + 1) ||
        !MEMORY_GROW(series->y, series->y_capacity, series->count + 1))
        return false;
    series->x[series->count] = x;
    series->y[series->count++] = y;
    return true;
}

/* Gives all series the points at the positions x. */
static bool fill_series(struct figure *figure, const int *area_of, const double *x, size_t count,
                        const struct stopper *stopper, struct failure *failure)
{
    const struct stacked_areas *areas = &figure->areas;
    double sums[MOST_AREAS + 1] = {0};
    int all = figure->series_count - 1;
    size_t i = 0;
    for (size_t point = 0; point < count; point++) {
        for (; i < areas->count && areas->changes[i].at <= x[point]; i++) {
            if (!stopper_goes_on(stopper, i, failure))
                return false;
            sums[area_of[areas->changes[i].key]] += areas->changes[i].value;
            sums[all] += areas->changes[i].value;
        }
        for (int s = 0; s < figure->series_count; s++)
            if (!push_point(&figure->series[s], x[point], sums[s]))
                return false;
    }
    return !figure->names.failed;
}

/* As make_areas(), with room for the points and for the areas of keys. */
static bool make_with(struct figure *figure, double *x, double *y, int *area_of,
                      const struct stopper *stopper, struct failure *failure)
{
    size_t count, peak = 0;
    if (!find_points(&figure->areas, x, y, &count, stopper, failure))
        return false;
    for (size_t i = 1; i < count; i++)
        peak = y[i] > y[peak] ? i : peak;
    if (!choose_areas(figure, x[peak], area_of, stopper, failure) ||
        !MEMORY_GROW(figure->marks, figure->mark_capacity, 1))
        return false;
    add_sum(figure, y[peak]);
    figure->marks[figure->mark_count++] = x[peak];
    figure->seen = (int64_t)count;
    figure->kept = (int64_t)thin(x, y, count, (size_t)figure->series_count);
    return fill_series(figure, area_of, x, (size_t)figure->kept, stopper, failure);
}

/* Makes areas of the changes. */
static bool make_areas(struct figure *figure, const struct stopper *stopper,
                       struct failure *failure)
{
    size_t count = figure->areas.count;
    if (count == 0)
        return true;
    if (!order_changes(&figure->areas, stopper, failure))
        return false;
    double *x = memory_zeroed(count, sizeof *x), *y = memory_zeroed(count, sizeof *y);
    int *area_of = memory_zeroed(figure->areas.keys.count, sizeof *area_of);
    bool made = x && y && area_of && make_with(figure, x, y, area_of, stopper, failure);
    memory_free(x);
    memory_free(y);
    memory_free(area_of);
    return made;
}

bool points_make(struct figure *figure, const struct stopper *stopper, struct failure *failure)
{
    if (figure->chart->kind == CHART_AREAS)
        return make_areas(figure, stopper, failure);
    if (!figure->chart->at)
        shift_points(figure);
    if (figure->chart->kind != CHART_TIMELINE)
        thin_points(figure);
    return true;
}
