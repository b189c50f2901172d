#include "ascend.h"

#include "base/memory.h"
#include "base/sort.h"

/* By thread and time; at equal starts, dequeued calls before calls of CANN, outer before inner. */
static int time_order(const void *a, const void *b)
{
    const struct ascend_span *x = a, *y = b;
    int order = COMPARE(x->thread, y->thread);
    order = order ? order : COMPARE(x->start, y->start);
    order = order ? order : COMPARE(x->of_cann, y->of_cann);
    order = order ? order : COMPARE(y->end, x->end);
    return order ? order : COMPARE(x->order, y->order);
}

/* Calls of CANN last, by connection; within a connection, the call that counts comes first. */
static int connection_order(const void *a, const void *b)
{
    const struct ascend_span *x = a, *y = b;
    int order = COMPARE(x->of_cann, y->of_cann);
    order = order ? order : COMPARE(x->connection, y->connection);
    order = order ? order : COMPARE(y->launch, x->launch);
    return order ? order : COMPARE(x->order, y->order);
}

/* Gives each call of CANN the number of its innermost outer call. `open` has room for all spans. */
static bool find_numbers(const struct ascend *ascend, const struct ascend_span **open,
                         const struct stopper *stopper, struct failure *failure)
{
    size_t depth = 0;
    for (size_t i = 0; i < ascend->span_count; i++) {
        struct ascend_span *span = &ascend->spans[i];
        size_t inner = 0;
        if (!stopper_goes_on(stopper, i, failure))
            return false;
        if (i > 0 && span->thread != span[-1].thread)
            depth = 0;
        if (span->of_cann) {
            LOWER_BOUND(inner, depth, open[inner]->end >= span->end);
            span->number = inner > 0 ? open[inner - 1]->number : NUMBER_NONE;
            continue;
        }
        while (depth > 0 &&
               open[depth - 1]->end <= span->end) /* encloses nothing that this span does not */
            depth--;
        open[depth++] = span;
    }
    return true;
}

bool ascend_pair(struct database_read *read)
{
    struct ascend *ascend = read->state;
    const struct stopper *stopper = &read->readonly->stopper;
    struct ascend_span *spans = ascend->spans;
    size_t count = ascend->span_count;
    ascend->paired = true;
    if (count == 0)
        return true;
    const struct ascend_span **open = memory_items(count, sizeof *open);
    bool done = (open || failure_memory(read->failure)) &&
                sort_items(spans, count, sizeof *spans, time_order, stopper, read->failure) &&
                find_numbers(ascend, open, stopper, read->failure) &&
                sort_items(spans, count, sizeof *spans, connection_order, stopper, read->failure);
    memory_free(open);
    for (size_t i = 0; done && i < count; i++) {
        struct id_row row = {.id = spans[i].connection, .values = {spans[i].number}};
        bool first = i == 0 || !spans[i - 1].of_cann || spans[i - 1].connection != row.id;
        if (spans[i].of_cann && first && spans[i].number != NUMBER_NONE)
            done = ids_add(&ascend->correlations, &row, read->failure);
    }
    return done;
}
