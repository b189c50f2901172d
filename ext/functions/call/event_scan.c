#include "event_scan.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "loading/annotations.h"
#include "file/order.h"

enum { ROUND = 1 << 13 /* rows skipped between two checks for an interrupt */ };

/* A file in the scan. */
struct event_part {
    size_t member;
    const struct columns *columns;
    const uint32_t *rows;        /* row numbers in scan order; NULL: file order */
    size_t at, end;              /* remaining rows, [at, end); taken from the end if descending */
    int64_t low, high;           /* ns: inclusive bounds on ts */
    int64_t limit;               /* ns: the limit in T13 */
    bool every;                  /* row_wanted() is true for every row */
    unsigned char *names_wanted; /* by name id: bits of name_use; NULL: all are wanted */
    const struct steps *steps;   /* steps of the member */
    unsigned char *steps_wanted; /* by index of steps->iterations; NULL: all are wanted */
};

enum name_use { USE_NAME = 1, USE_CAT = 2 };

struct event_scan {
    struct row_scan base; /* must be first */
    struct args_reader args;
    struct event_part *parts; /* a heap: the first part has the next row */
    size_t part_count;
    bool begun;
    int64_t passed;             /* rows skipped; see ROUND */
    struct event_filter filter; /* its terms are valid only in event_scan_begin() */
    unsigned names_used;        /* bits of name_use in the filter */
    int order;                  /* sort column, an event_column, or -1 */
    bool descending;
};

static const struct event_rows *rows_of(const struct event_scan *scan)
{
    return (const struct event_rows *)scan->base.rows;
}

static const struct trace_member *member_of(const struct event_scan *scan, size_t member)
{
    return &rows_of(scan)->opened.trace.members[member];
}

/* Returns the origin of time of a member's rank in ns. */
static int64_t origin_of(const struct event_scan *scan, size_t member)
{
    return rows_of(scan)->opened.trace.origins[member_of(scan, member)->rank_index];
}

struct args_reader *event_scan_args(struct row_scan *scan)
{
    return &((struct event_scan *)scan)->args;
}

static void clear_part(struct event_part *part)
{
    memory_free(part->names_wanted);
    memory_free(part->steps_wanted);
}

/* Clears the filter, the parts and the order, but keeps the open reader of args. */
static void forget_scan(struct event_scan *scan)
{
    event_filter_clear(&scan->filter);
    for (size_t i = 0; i < scan->part_count; i++)
        clear_part(&scan->parts[i]);
    memory_free(scan->parts);
    *scan = (struct event_scan){.base = scan->base, .args = scan->args};
}

void event_scan_end(struct row_scan *base)
{
    struct event_scan *scan = (struct event_scan *)base;
    forget_scan(scan);
    args_close(&scan->args);
    memory_free(scan);
}

/* Converts a bound on ts to ns, widened by the rounding error of a double. Without a term, or
** where an int64_t might overflow, there is no bound. */
static int64_t bound_in_ns(int64_t origin, const struct term *term, int direction)
{
    double ns = term ? sqlite3_value_double(term->value) * 1000 : INFINITY;
    ns += direction * (2 + fabs(ns) * 1e-12);
    if (!(fabs(ns) < 9e18))
        return direction < 0 ? INT64_MIN : INT64_MAX;
    wide_time sum = (wide_time)origin + (int64_t)ns;
    return sum < INT64_MIN ? INT64_MIN : sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
}

/* Marks the names of a file that a term lists. If the file has none of them, the part is empty. */
static int mark_names(struct event_part *part, const struct names *names, const struct term *term,
                      enum name_use use)
{
    struct term_values values = {.term = term};
    const char *text;
    bool any = false;
    int code;
    if (!part->names_wanted && !(part->names_wanted = memory_zeroed(names->count, 1)))
        return SQLITE_NOMEM;
    while ((code = term_next_text(&values, &text)) == SQLITE_ROW) {
        uint32_t id = names_find(names, text, (size_t)sqlite3_value_bytes(values.value));
        if (id != NAME_NONE)
            part->names_wanted[id] |= (unsigned char)use;
        any = any || id != NAME_NONE;
    }
    if (!any)
        part->end = part->at;
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* Sets `*has` to whether a term on `file` lists this path. Returns a SQLite result code. */
static int has_path(const struct term *term, const char *path, bool *has)
{
    struct term_values values = {.term = term};
    const char *text;
    int code;
    for (*has = false; (code = term_next_text(&values, &text)) == SQLITE_ROW;)
        *has = *has || strcmp(text, path) == 0;
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* Chooses the order of a part's rows. A term `name = ...` also narrows them to rows of this
** name. */
static int take_order(const struct event_scan *scan, struct event_part *part,
                      struct trace_file *file, struct failure *failure)
{
    const struct stopper *stopper = &rows_of(scan)->connection->cache.stopper;
    bool one_name = scan->filter.name && scan->filter.name->op == '=' &&
                    (scan->order < 0 || scan->order == EVENTS_NAME);
    enum order order = scan->order == EVENTS_TS    ? ORDER_TS
                       : scan->order == EVENTS_DUR ? ORDER_DUR
                                                   : ORDER_NAME;
    if (scan->order < 0 && !one_name)
        return SQLITE_OK;
    part->rows = order_rows(file, order, stopper, failure);
    if (!part->rows)
        return SQLITE_ERROR;
    if (!one_name)
        return SQLITE_OK;
    const char *text = (const char *)sqlite3_value_text(scan->filter.name->value);
    size_t length = (size_t)sqlite3_value_bytes(scan->filter.name->value);
    uint32_t name = text ? names_find(&file->names, text, length) : NAME_NONE;
    part->end = part->at;
    if (name != NAME_NONE)
        order_of_name(file, part->rows, name, &part->at, &part->end);
    return SQLITE_OK;
}

/* Returns how many rows of a file have an event number below `number`. */
static size_t events_before(const struct columns *columns, int64_t number)
{
    size_t row = 0;
    LOWER_BOUND(row, columns->count, columns->event[row] < number);
    return row;
}

/* Whether row_wanted() is true for every row of a part. */
static bool wants_every_row(const struct event_scan *scan, const struct event_part *part,
                            const struct trace_file *file)
{
    const struct event_filter *filter = &scan->filter;
    bool phases = true;
    for (int c = 0; c < 256; c++)
        phases = phases && (filter->phases[c] || !file->phases[c]);
    return phases && filter->kinds == ~0u && part->low == INT64_MIN && part->high == INT64_MAX &&
           !filter->name && !filter->cat && !filter->iterations.given && !filter->streams.given &&
           !filter->numbers.given && !rows_of(scan)->limits;
}

static int make_part(struct event_scan *scan, size_t member, struct event_part *part,
                     struct failure *failure)
{
    struct trace_file *file = member_of(scan, member)->file;
    int64_t origin = origin_of(scan, member);
    int code = SQLITE_OK;
    *part = (struct event_part){.member = member,
                                .columns = &file->columns,
                                .steps = member_of(scan, member)->steps,
                                .end = file->columns.count,
                                .low = bound_in_ns(origin, scan->filter.low, -1),
                                .high = bound_in_ns(origin, scan->filter.high, 1),
                                .limit = INT64_MAX};
    part->every = wants_every_row(scan, part, file);
    if (rows_of(scan)->limits)
        part->limit = rows_of(scan)->limits[member_of(scan, member)->rank_index];
    if (scan->filter.iterations.given) {
        part->steps_wanted = memory_zeroed(part->steps->iteration_count, 1);
        if (!part->steps_wanted)
            return SQLITE_NOMEM;
        for (uint32_t i = 0; i < part->steps->iteration_count; i++)
            part->steps_wanted[i] = integers_have(&scan->filter.iterations,
                                                  member_iteration(member_of(scan, member), i));
    }
    if (scan->order < 0 && scan->filter.numbers.given) {
        part->at = events_before(part->columns, scan->filter.numbers.items[0]);
        int64_t last = scan->filter.numbers.items[scan->filter.numbers.count - 1];
        part->end = events_before(part->columns, last < INT64_MAX ? last + 1 : last);
    } else {
        code = take_order(scan, part, file, failure);
    }
    if (code == SQLITE_OK && scan->filter.name)
        code = mark_names(part, &file->names, scan->filter.name, USE_NAME);
    if (code == SQLITE_OK && scan->filter.cat)
        code = mark_names(part, &file->names, scan->filter.cat, USE_CAT);
    return code;
}

static bool id_wanted(const struct event_scan *scan, const struct event_part *part, uint32_t id,
                      enum name_use use)
{
    return !(scan->names_used & use) || (id != NAME_NONE && part->names_wanted[id] & use);
}

/* T4, T13: whether analyses count a row. Device work and syncs have the time of their launch, if
** there is one. */
static bool row_analysed(const struct event_scan *scan, const struct event_part *part, size_t row)
{
    const struct columns *columns = part->columns;
    size_t by = row;
    if (!row_counts(columns, row) || part->limit == INT64_MAX)
        return row_counts(columns, row);
    if (columns->kind[row] == KIND_ANNOTATION)
        by = annotation_by(member_of(scan, part->member)->file, (uint32_t)row);
    else if (kind_is_device(columns->kind[row]) && columns->link[row] != ROW_NONE)
        by = columns->link[row];
    return columns->ts[by] < part->limit;
}

static bool row_wanted(const struct event_scan *scan, const struct event_part *part, size_t row)
{
    const struct columns *columns = part->columns;
    const struct place *place = row_place(columns, row);
    return scan->filter.phases[place->phase] && scan->filter.kinds >> columns->kind[row] & 1 &&
           columns->ts[row] >= part->low && columns->ts[row] <= part->high &&
           id_wanted(scan, part, columns->name[row], USE_NAME) &&
           id_wanted(scan, part, place->cat, USE_CAT) &&
           (!part->steps_wanted || (step_of(part->steps, row) != STEP_NONE &&
                                    part->steps_wanted[step_of(part->steps, row)])) &&
           (!rows_of(scan)->limits ||
            (columns->ts[row] != NUMBER_NONE && row_analysed(scan, part, row))) &&
           integers_have(&scan->filter.streams, place->stream) &&
           integers_have(&scan->filter.numbers, columns->event[row]);
}

/* Returns the next row of a part, which must not be empty. */
static size_t next_row(const struct event_scan *scan, const struct event_part *part)
{
    size_t i = scan->descending ? part->end - 1 : part->at;
    return part->rows ? part->rows[i] : i;
}

static void drop_row(const struct event_scan *scan, struct event_part *part)
{
    if (scan->descending)
        part->end--;
    else
        part->at++;
}

/* Drops rows until the next row of the part is wanted. */
static int settle_part(struct event_scan *scan, struct event_part *part, struct failure *failure)
{
    for (; part->at < part->end && !row_wanted(scan, part, next_row(scan, part));
         drop_row(scan, part))
        if (++scan->passed % ROUND == 0 &&
            connection_interrupted(rows_of(scan)->connection, failure))
            return SQLITE_INTERRUPT;
    return SQLITE_OK;
}

/* Returns the sort key of a row in the order of ts or dur. A missing time sorts first. */
static wide_time order_time(const struct event_scan *scan, const struct event_part *part,
                            size_t row)
{
    bool ts = scan->order == EVENTS_TS;
    int64_t time = ts ? part->columns->ts[row] : part->columns->dur[row];
    int64_t origin = ts ? origin_of(scan, part->member) : 0;
    if (time == NUMBER_NONE || origin == NUMBER_NONE)
        return (wide_time)INT64_MIN * 4;
    return (wide_time)time - origin;
}

static const struct name *event_name(const struct event_scan *scan, const struct event_part *part,
                                     size_t row)
{
    uint32_t id = part->columns->name[row];
    return id == NAME_NONE ? NULL : &member_of(scan, part->member)->file->names.items[id];
}

/* Whether the next row of `a` comes before the next row of `b`; ties: the earlier file first. */
static bool comes_first(const struct event_scan *scan, const struct event_part *a,
                        const struct event_part *b)
{
    int order = 0;
    if (scan->order == EVENTS_NAME) {
        const struct name *x = event_name(scan, a, next_row(scan, a));
        const struct name *y = event_name(scan, b, next_row(scan, b));
        order = x && y ? name_compare(x, y) : (x != NULL) - (y != NULL);
    } else if (scan->order >= 0) {
        wide_time x = order_time(scan, a, next_row(scan, a));
        wide_time y = order_time(scan, b, next_row(scan, b));
        order = COMPARE(x, y);
    }
    if (order != 0)
        return scan->descending ? order > 0 : order < 0;
    return a->member < b->member;
}

/* Restores the heap below index `i`. */
static void sink_part(struct event_scan *scan, size_t i)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child + 1 < scan->part_count &&
            comes_first(scan, &scan->parts[child + 1], &scan->parts[child]))
            child++;
        if (child >= scan->part_count || !comes_first(scan, &scan->parts[child], &scan->parts[i]))
            return;
        struct event_part part = scan->parts[i];
        scan->parts[i] = scan->parts[child];
        scan->parts[child] = part;
        i = child;
    }
}

static void remove_part(struct event_scan *scan, size_t i)
{
    clear_part(&scan->parts[i]);
    scan->parts[i] = scan->parts[--scan->part_count];
}

/* Adds a part for a file if the file has a wanted row. */
static int add_part(struct event_scan *scan, size_t member, struct failure *failure)
{
    const char *path = member_of(scan, member)->file->shown;
    bool wanted = true;
    int code = scan->filter.file ? has_path(scan->filter.file, path, &wanted) : SQLITE_OK;
    if (code != SQLITE_OK || !wanted)
        return code;
    struct event_part *part = &scan->parts[scan->part_count++];
    code = make_part(scan, member, part, failure);
    if (code == SQLITE_OK)
        code = settle_part(scan, part, failure);
    if (code == SQLITE_OK && part->at == part->end)
        remove_part(scan, scan->part_count - 1);
    return code;
}

static int make_parts(struct event_scan *scan, struct failure *failure)
{
    size_t count = rows_of(scan)->opened.trace.count;
    int code = SQLITE_OK;
    scan->parts = memory_zeroed(count, sizeof *scan->parts);
    if (!scan->parts)
        return SQLITE_NOMEM;
    for (size_t i = 0; i < count && !scan->filter.nothing && code == SQLITE_OK; i++)
        if (member_of(scan, i)->chosen &&
            integers_have(&scan->filter.ranks, member_of(scan, i)->rank))
            code = add_part(scan, i, failure);
    for (size_t i = scan->part_count; i-- > 0;)
        sink_part(scan, i);
    return code;
}

int event_scan_begin(struct rows *rows, const struct wish *wish, struct row_scan **base,
                     struct failure *failure)
{
    struct event_scan *scan = *base ? (struct event_scan *)*base : memory_zeroed(1, sizeof *scan);
    int code = SQLITE_OK;
    if (!scan)
        return SQLITE_NOMEM;
    *base = &scan->base;
    forget_scan(scan);
    struct event_filter *filter = &scan->filter;
    scan->base.rows = rows;
    scan->order = wish->order;
    scan->descending = wish->descending;
    filter->kinds = ~0u;
    memcpy(filter->phases, rows_of(scan)->phases, sizeof filter->phases);
    for (int i = 0; i < wish->term_count && code == SQLITE_OK; i++)
        code = event_filter_take(filter, &wish->terms[i]);
    if (code != SQLITE_OK)
        return code;
    scan->names_used = (filter->name ? USE_NAME : 0u) | (filter->cat ? USE_CAT : 0u);
    code = make_parts(scan, failure);
    filter->name = filter->cat = filter->file = filter->low = filter->high = NULL;
    return code;
}

int event_scan_next(struct row_scan *base, struct position *position, bool *end,
                    struct failure *failure)
{
    struct event_scan *scan = (struct event_scan *)base;
    if (scan->begun) {
        drop_row(scan, scan->parts);
        int code = scan->parts->every ? SQLITE_OK : settle_part(scan, scan->parts, failure);
        if (code != SQLITE_OK)
            return code;
        bool over = scan->parts->at == scan->parts->end;
        if (over)
            remove_part(scan, 0);
        if (scan->part_count > 1 && (over || scan->order >= 0))
            sink_part(scan, 0);
    }
    scan->begun = true;
    *end = scan->part_count == 0;
    if (*end)
        return SQLITE_OK;
    size_t row = next_row(scan, scan->parts), member = scan->parts->member;
    *position = (struct position){.row = (int64_t)(rows_of(scan)->first[member] + row),
                                  .part = member,
                                  .part_row = (int64_t)row};
    return SQLITE_OK;
}
