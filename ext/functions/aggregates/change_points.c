#include "change_points.h"

#include <math.h>
#include <string.h>

#include "analysis/samples/changes.h"
#include "chart/writer.h"
#include "base/memory.h"
#include "sqlite/connection.h"
#include "aggregates.h"

const char change_points_name[] = "trace_change_points";

struct point {
    wide_number x;
    int type; /* of the position: SQLITE_INTEGER, SQLITE_FLOAT or SQLITE_TEXT */
    int64_t integer;
    double real;
    char *text; /* owned; not NUL-terminated */
    size_t length;
};

/* State for one group. */
struct history {
    struct point *points; /* owned */
    size_t count, capacity;
    struct change_options options;
};

/* Reads an option that is given and is not NULL. */
static bool take_option(int count, sqlite3_value **values, int i, double *option)
{
    int type = i < count ? sqlite3_value_type(values[i]) : SQLITE_NULL;
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
        *option = sqlite3_value_double(values[i]);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT || type == SQLITE_NULL;
}

/* Returns an error message for invalid options; NULL if they are valid. */
static const char *take_options(int count, sqlite3_value **values, struct change_options *options)
{
    double significance = 0.001, min_pct = 0, window = 50;
    if (!take_option(count, values, 2, &significance) || !(significance > 0 && significance < 1))
        return "significance must be a number above 0 and below 1";
    if (!take_option(count, values, 3, &min_pct) || !(min_pct >= 0 && isfinite(min_pct)))
        return "min_pct must be a number, at least 0";
    if (!take_option(count, values, 4, &window) ||
        !(window >= 2 * LEAST_PIECE && window <= 1e9 && window == floor(window)))
        return "window must be a whole number from 4 to 1e9";
    *options = (struct change_options){significance, min_pct, (size_t)window};
    return NULL;
}

/* Reads a position, which must not be NULL. False if out of memory. */
static bool take_position(sqlite3_value *value, struct point *point)
{
    point->type = sqlite3_value_type(value);
    point->integer = sqlite3_value_int64(value);
    point->real = sqlite3_value_double(value);
    if (point->type != SQLITE_TEXT)
        return true;
    const unsigned char *text = sqlite3_value_text(value);
    point->length = (size_t)sqlite3_value_bytes(value);
    point->text = text ? memory_allocate(point->length + 1) : NULL;
    if (point->text)
        memcpy(point->text, text, point->length);
    return point->text;
}

static bool same_options(const struct change_options *a, const struct change_options *b)
{
    return a->significance == b->significance && a->min_pct == b->min_pct && a->window == b->window;
}

static void add_point(sqlite3_context *context, sqlite3_value **values,
                      const struct change_options *options)
{
    struct history *group = sqlite3_aggregate_context(context, sizeof *group);
    int type = sqlite3_value_type(values[0]);
    struct point point = {.x = type == SQLITE_INTEGER
                                   ? (wide_number)sqlite3_value_int64(values[0])
                                   : (wide_number)sqlite3_value_double(values[0])};
    if (!group || !MEMORY_GROW(group->points, group->capacity, group->count + 1))
        sqlite3_result_error_nomem(context);
    else if (group->count > 0 && !same_options(&group->options, options))
        function_fail(context, change_points_name,
                      "significance, min_pct and window must be the same in every row");
    else if (!take_position(values[1], &point))
        sqlite3_result_error_nomem(context);
    else {
        group->options = *options;
        group->points[group->count++] = point;
    }
}

void changePointsStep(sqlite3_context *context, int count, sqlite3_value **values)
{
    int type = sqlite3_value_type(values[0]), place = sqlite3_value_type(values[1]);
    struct change_options options;
    const char *wrong = take_options(count, values, &options);
    if (wrong)
        function_fail(context, change_points_name, "%s", wrong);
    else if (type == SQLITE_NULL || place == SQLITE_NULL)
        return;
    else if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
        function_fail(context, change_points_name, "x must be a number");
    else if (!isfinite(sqlite3_value_double(values[0])))
        function_fail(context, change_points_name, "x must be finite: leave out such rows");
    else if (place == SQLITE_BLOB)
        function_fail(context, change_points_name, "position must be a number or text");
    else
        add_point(context, values, &options);
}

static wide_number number_of(const struct point *point)
{
    return point->type == SQLITE_INTEGER ? (wide_number)point->integer : (wide_number)point->real;
}

/* Compares positions; equal numbers such as 1 and 1.0 give 0. */
static int position_order(const struct point *a, const struct point *b)
{
    if (!a->text || !b->text)
        return a->text ? 1 : b->text ? -1 : COMPARE(number_of(a), number_of(b));
    int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
    return order ? order : COMPARE(a->length, b->length);
}

/* Orders by position, its type and x, so that no result depends on the order of rows. */
static int point_order(const void *first, const void *second)
{
    const struct point *a = first, *b = second;
    int order = position_order(a, b);
    order = order ? order : COMPARE(a->type, b->type);
    return order ? order : COMPARE(a->x, b->x);
}

/* Merges the sorted points of each position into one value in `series`, and keeps its first
** point. */
static bool join_positions(struct history *group, struct sample *series,
                           const struct stopper *stopper, struct failure *failure)
{
    struct point *points = group->points;
    size_t count = group->count, kept = 0;
    for (size_t i = 0, next; i < count; i = next) {
        wide_number rest = 0;
        for (next = i; next < count && position_order(&points[i], &points[next]) == 0; next++) {
            rest += points[next].x - points[i].x;
            if (!stopper_goes_on(stopper, next, failure))
                return false;
        }
        if (!sample_add(series, points[i].x + rest / (wide_number)(next - i)))
            return failure_memory(failure);
        struct point point = points[kept];
        points[kept++] = points[i];
        points[i] = point; /* swapped, so that every text is still freed */
    }
    return true;
}

static void put_position(struct writer *to, const char *start, const char *key,
                         const struct point *point)
{
    write_key(to, start, key);
    if (point->type == SQLITE_TEXT)
        write_json(to, point->text, point->length);
    else if (point->type == SQLITE_INTEGER)
        write_integer(to, point->integer);
    else
        write_real(to, point->real);
}

static void put_count(struct writer *to, const char *key, size_t count)
{
    write_key(to, ", ", key);
    write_integer(to, (int64_t)count);
}

static void put_change(struct writer *to, const struct change *change, const struct point *points)
{
    bool whole = change->before != 0;
    put_position(to, "{", "position", &points[change->at]);
    put_position(to, ", ", "previous", &points[change->at - 1]);
    put_count(to, "index", change->at);
    write_real_member(to, ", ", "before", true, change->before);
    write_real_member(to, ", ", "after", true, change->after);
    write_real_member(to, ", ", "diff", true, change->diff);
    write_real_member(to, ", ", "diff_pct", whole,
                      whole ? 100 * (change->diff / fabs(change->before)) : 0);
    write_real_member(to, ", ", "p", true, change->p);
    put_count(to, "before_n", change->at - change->start);
    put_count(to, "after_n", change->end - change->at);
    write_string(to, "}");
}

static bool put_changes(struct history *group, struct writer *to, const struct stopper *stopper,
                        struct failure *failure)
{
    struct sample series = {0};
    struct changes changes = {0};
    bool done =
        sort_items(group->points, group->count, sizeof *group->points, point_order, stopper,
                   failure) &&
        join_positions(group, &series, stopper, failure) &&
        (series.count == 0 || find_changes(&series, &group->options, &changes, stopper, failure));
    write_string(to, "[");
    for (size_t i = 0; done && i < changes.count; i++) {
        write_string(to, i > 0 ? ", " : "");
        put_change(to, &changes.items[i], group->points);
    }
    write_string(to, "]");
    memory_free(changes.items);
    sample_clear(&series);
    return done && (!to->failed || failure_memory(failure));
}

void changePointsFinal(sqlite3_context *context)
{
    struct connection *connection = sqlite3_user_data(context);
    struct history *group = sqlite3_aggregate_context(context, 0), none = {0};
    struct writer text = {0};
    struct failure failure = {0};
    if (!group)
        group = &none;
    connection_begin_work(connection);
    bool done = put_changes(group, &text, &connection->cache.stopper, &failure);
    if (function_end_work(context, connection, done, &failure))
        sqlite3_result_text64(context, text.bytes, text.length, memory_free, SQLITE_UTF8);
    else
        writer_clear(&text);
    for (size_t i = 0; i < group->count; i++)
        memory_free(group->points[i].text);
    memory_free(group->points);
    memset(group, 0, sizeof *group);
}
