#include "busy.h"

#include "base/memory.h"

enum { TYPES = KERNEL_NONE };

/* The time that work of one type owns, as ascending intervals without overlap. */
struct type_line {
    struct busy_work *items;
    size_t count, next;
};

struct busy_builder {
    const struct trace_file *file;
    const struct stopper *stopper;
    struct failure *failure;
    struct busy_work *work; /* by start, then file order */
    size_t count;
    struct type_line lines[TYPES];
};

bool busy_any(const struct columns *columns)
{
    size_t row = columns_find(columns, 0, KIND_WORK);
    while (row < columns->count && !busy_takes(columns, row))
        row = columns_find(columns, row + 1, KIND_WORK);
    return row < columns->count;
}

static int work_order(const void *a, const void *b)
{
    const struct busy_work *x = a, *y = b;
    return COMPARE(x->start, y->start);
}

static bool collect_work(struct busy_builder *builder)
{
    const struct columns *columns = &builder->file->columns;
    size_t count = 0;
    for (size_t row = 0; row < columns->count; row++)
        count += busy_takes(columns, row);
    builder->work = memory_items(count, sizeof *builder->work);
    struct row_types types = {NULL};
    bool done = builder->work || failure_memory(builder->failure);
    for (size_t row = 0; done && row < columns->count; row++) {
        done = stopper_goes_on(builder->stopper, row, builder->failure);
        if (!busy_takes(columns, row))
            continue;
        builder->work[builder->count++] =
            (struct busy_work){.start = columns->ts[row],
                               .end = busy_end(columns, row),
                               .row = (uint32_t)row,
                               .type = row_types_find(&types, builder->file, row)};
    }
    row_types_clear(&types);
    return done && sort_items(builder->work, builder->count, sizeof *builder->work, work_order,
                              builder->stopper, builder->failure);
}

/* A3.1 within one type: in order of their starts, each event owns its time after the end of all
** earlier events. */
static bool make_lines(struct busy_builder *builder)
{
    size_t counts[TYPES] = {0};
    int64_t reach[TYPES] = {INT64_MIN, INT64_MIN, INT64_MIN};
    for (size_t i = 0; i < builder->count; i++)
        counts[builder->work[i].type]++;
    for (int type = 0; type < TYPES; type++) {
        struct type_line *line = &builder->lines[type];
        line->items = memory_items(counts[type], sizeof *line->items);
        if (!line->items)
            return failure_memory(builder->failure);
    }
    for (size_t i = 0; i < builder->count; i++) {
        struct busy_work work = builder->work[i];
        struct type_line *line = &builder->lines[work.type];
        if (!stopper_goes_on(builder->stopper, i, builder->failure))
            return false;
        if (work.end <= reach[work.type])
            continue;
        if (work.start < reach[work.type])
            work.start = reach[work.type];
        reach[work.type] = work.end;
        line->items[line->count++] = work;
    }
    return true;
}

/* Applies A3 and A5 across types, in one sweep. */
static bool put_together(struct busy_builder *builder, struct busy *busy)
{
    size_t next = 0; /* first work that starts at the current time or later */
    int64_t now = INT64_MIN;
    busy->items = memory_items(2 * builder->count + 2, sizeof *busy->items);
    if (!busy->items)
        return failure_memory(builder->failure);
    for (size_t step = 0;; step++) {
        const struct busy_work *owner = NULL;
        int64_t until = INT64_MAX;
        if (!stopper_goes_on(builder->stopper, step, builder->failure))
            return false;
        for (int type = 0; type < TYPES && !owner; type++) {
            struct type_line *line = &builder->lines[type];
            while (line->next < line->count && line->items[line->next].end <= now)
                line->next++;
            if (line->next == line->count)
                continue;
            const struct busy_work *first = &line->items[line->next];
            int64_t change = first->start <= now ? first->end : first->start;
            owner = first->start <= now ? first : NULL;
            until = change < until ? change : until;
        }
        while (next < builder->count && builder->work[next].start < now)
            next++;
        struct busy_stretch stretch = {now, ROW_NONE, KERNEL_NONE};
        if (owner) {
            stretch.row = owner->row;
            stretch.type = owner->type;
        } else if (next < builder->count) {
            stretch.row = builder->work[next].row;
        }
        const struct busy_stretch *last = busy->count > 0 ? &busy->items[busy->count - 1] : NULL;
        if (!last || last->row != stretch.row || last->type != stretch.type)
            busy->items[busy->count++] = stretch;
        if (until == INT64_MAX)
            return true;
        now = until;
    }
}

bool busy_make(struct busy *busy, const struct trace_file *file, const struct stopper *stopper,
               struct failure *failure)
{
    struct busy_builder builder = {.file = file, .stopper = stopper, .failure = failure};
    *busy = (struct busy){.count = 0};
    bool done = collect_work(&builder) && make_lines(&builder) && put_together(&builder, busy);
    busy->work = builder.work;
    busy->work_count = builder.count;
    for (int type = 0; type < TYPES; type++)
        memory_free(builder.lines[type].items);
    if (!done)
        busy_clear(busy);
    return done;
}

void busy_clear(struct busy *busy)
{
    memory_free(busy->items);
    memory_free(busy->work);
    *busy = (struct busy){.count = 0};
}
