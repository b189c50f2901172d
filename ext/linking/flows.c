#include "flows.h"

#include "base/memory.h"
#include "link.h"

static int flow_order(const void *a, const void *b)
{
    const struct flow *x = a, *y = b;
    int order = COMPARE(x->end, y->end);
    order = order ? order : COMPARE(x->track, y->track);
    order = order ? order : COMPARE(x->ts, y->ts);
    return order ? order : COMPARE(x->order, y->order);
}

static bool same_place(const struct flow *flow, const struct flow *other)
{
    return flow->end == other->end && flow->track == other->track && flow->ts == other->ts;
}

/* Finds the first flow that begins (or ends) on the track and at the start of a row, or NULL. */
static struct flow *flow_at(const struct trace_file *file, struct flow *flows, size_t count,
                            size_t row, bool end)
{
    struct flow key = {.track = row_place(&file->columns, row)->track, .end = end};
    size_t first = 0;
    if (file->columns.ts[row] == NUMBER_NONE ||
        __builtin_sub_overflow(file->columns.ts[row], file->base, &key.ts))
        return NULL;
    LOWER_BOUND(first, count, flow_order(&flows[first], &key) < 0);
    return first < count && same_place(&flows[first], &key) ? &flows[first] : NULL;
}

/* Returns the duration in ns. Call stacks, too, take a missing duration for 0. */
static int64_t length_of(const struct columns *columns, size_t row)
{
    return columns->dur[row] == NUMBER_NONE ? 0 : columns->dur[row];
}

/* Finds the innermost operator that starts where flows begin (T5.2) and stores it in the first flow
** of that place. */
static bool find_operators(const struct trace_file *file, struct flow *flows, size_t count,
                           const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &file->columns;
    for (size_t row = 0; row < columns->count; row++) {
        if (!stopper_goes_on(stopper, row, failure))
            return false;
        struct flow *flow =
            row_is(file, row, CATEGORY_OPERATOR) ? flow_at(file, flows, count, row, false) : NULL;
        if (flow &&
            (flow->row == ROW_NONE || length_of(columns, row) <= length_of(columns, flow->row)))
            flow->row = (uint32_t)row;
    }
    return true;
}

/* Finds the operator in which one of the flows that end at the same place began, and stores it in
** the first flow of that place. `begins` is indexed by flow id. */
static bool find_begins(struct flow *flows, size_t count, const struct flow **begins,
                        const struct stopper *stopper, struct failure *failure)
{
    struct flow *first = flows;
    for (size_t i = 0; i < count; i++) {
        struct flow *flow = &flows[i];
        if (!stopper_goes_on(stopper, i, failure))
            return false;
        if (!same_place(flow, first))
            first = flow;
        const struct flow **begin = &begins[flow->id];
        if (flow->end) {
            if (first->row == ROW_NONE && *begin)
                first->row = (*begin)->row;
        } else {
            flow->row = first->row;
            if (flow->row != ROW_NONE && (!*begin || flow->order < (*begin)->order))
                *begin = flow;
        }
    }
    return true;
}

bool flows_follow(struct trace_file *file, struct flow *flows, size_t count,
                  const struct stopper *stopper, struct failure *failure)
{
    struct columns *columns = &file->columns;
    if (count == 0)
        return true;
    const struct flow **begins = memory_zeroed(count, sizeof *begins);
    bool done = (begins || failure_memory(failure)) &&
                sort_items(flows, count, sizeof *flows, flow_order, stopper, failure) &&
                find_operators(file, flows, count, stopper, failure) &&
                find_begins(flows, count, begins, stopper, failure);
    for (size_t row = 0; done && row < columns->count; row++) {
        done = stopper_goes_on(stopper, row, failure);
        if (!kind_is_device(columns->kind[row]) || columns->link[row] != ROW_NONE)
            continue;
        const struct flow *flow = flow_at(file, flows, count, row, true);
        if (flow && flow->row != ROW_NONE)
            link_rows(columns, (uint32_t)row, flow->row);
    }
    memory_free(begins);
    return done;
}
