#include "compared_ranks.h"

#include "base/memory.h"
#include "functions/call/step_parts.h"

/* Makes a job of the common ranks or, if a side has no others, of all ranks. */
static bool choose_job(struct call *call, const struct common_ranks *common, int side,
                       struct selection *ranks)
{
    *ranks = (struct selection){.kind = SELECT_ALL, .job = true};
    ranks->values = memory_zeroed(common->taken, sizeof *ranks->values);
    if (!ranks->values)
        return failure_memory(&call->failure);
    for (size_t i = 0; i < common->count; i++) {
        const struct common_rank *rank = &common->items[i];
        if (rank->why == LEFT_NOT)
            ranks->values[ranks->count++] = rank->rank;
        else if (rank->why != LEFT_ALONE || rank->side == side)
            ranks->kind = SELECT_LIST;
    }
    return true;
}

/* Lists the ranks of a side one by one. */
static bool list_each(struct call *call, const struct selection *chosen,
                      const struct common_ranks *common, int side, struct selection *each)
{
    if (!chosen->job)
        return selection_copy(each, chosen) || failure_memory(&call->failure);
    *each = (struct selection){.kind = chosen->kind};
    each->values = memory_zeroed(common->count, sizeof *each->values);
    if (!each->values)
        return failure_memory(&call->failure);
    for (size_t i = 0; i < common->count; i++) {
        const struct common_rank *rank = &common->items[i];
        if (!rank->there[side] || (chosen->kind == SELECT_LIST &&
                                   !has_integer(chosen->values, chosen->count, rank->rank)))
            continue;
        if (rank->with_steps[side])
            each->values[each->count++] = rank->rank;
        else
            each->kind = SELECT_LIST;
    }
    return true;
}

/* Q1.6: if nothing ties the ranks of a job, replaces the job by one rank. */
static bool choose_own(struct call *call, enum step_clock clock, const struct gate_limits *limits,
                       struct compared_ranks *compared)
{
    if (!compared->chosen[0].job || !compared->chosen[1].job)
        return true;
    if (!own_ranks_find(call, compared->each, clock, limits, &compared->own))
        return false;
    for (int i = 0; i < 2 && compared->own.there; i++) {
        const struct selection rank = {
            .kind = SELECT_LIST, .values = &compared->own.rank, .count = 1};
        selection_clear(&compared->chosen[i]);
        compared->of_own[i] = compared->each[i];
        compared->each[i] = (struct selection){.kind = SELECT_DEFAULT};
        if (!selection_copy(&compared->chosen[i], &rank) ||
            !selection_copy(&compared->each[i], &rank))
            return failure_memory(&call->failure);
        compared->ranks = NUMBER_NONE;
    }
    return true;
}

/* Replaces a place such as 'tp=0,pp=1' by the ranks at it. */
static bool list_place(struct call *call, int side, struct selection *ranks)
{
    static const char *const subjects[] = {"control", "test"};
    const struct selection all = {.kind = SELECT_ALL};
    const struct call_trace_request request = {.side = side,
                                               .use = TRACE_FOR_EVENTS,
                                               .subject = subjects[side],
                                               .quoted = true,
                                               .ranks = ranks,
                                               .iterations = &all};
    struct call_trace opened;
    if (ranks->kind != SELECT_AT)
        return true;
    if (!call_trace_open(call, &request, &opened))
        return false;
    const struct trace *trace = &opened.trace;
    bool done = memory_assign(&ranks->values, memory_items(trace->count, sizeof *ranks->values)) ||
                failure_memory(&call->failure);
    for (size_t i = 0; done && i < trace->count; i++)
        if (trace->members[i].chosen)
            ranks->values[ranks->count++] = trace->members[i].rank;
    ranks->count = sort_integers(ranks->values, ranks->count);
    ranks->kind = SELECT_LIST;
    call_trace_close(&opened);
    return done;
}

bool compared_ranks_find(struct call *call, enum step_clock clock,
                         const struct gate_limits *limits, struct compared_ranks *compared)
{
    struct common_ranks common = {.count = 0};
    struct selection *chosen = compared->chosen;
    *compared = (struct compared_ranks){.chosen = {{.kind = SELECT_DEFAULT}}, .ranks = NUMBER_NONE};
    bool done = argument_selection(call, argument_of(call, NAMES_RANKS, 0), &chosen[0]) &&
                argument_selection(call, argument_of(call, NAMES_RANKS, 1), &chosen[1]) &&
                list_place(call, 0, &chosen[0]) && list_place(call, 1, &chosen[1]);
    bool given = chosen[0].kind != SELECT_DEFAULT || chosen[1].kind != SELECT_DEFAULT;
    if (done && (!given || chosen[0].job || chosen[1].job))
        done = call_common_ranks(call, &common);
    for (int i = 0; i < 2 && done && !given && common.taken > 1; i++)
        done = choose_job(call, &common, i, &chosen[i]);
    for (int i = 0; i < 2 && done; i++) {
        int64_t own = (int64_t)(chosen[i].count > 0 ? chosen[i].count : common.count);
        done = list_each(call, &chosen[i], &common, i, &compared->each[i]);
        if (chosen[i].job && own > compared->ranks)
            compared->ranks = own;
    }
    if (!given && common.taken > 1) {
        compared->left_out = common;
        common = (struct common_ranks){.count = 0};
    }
    common_ranks_clear(&common);
    return done && ((given && !limits) || choose_own(call, clock, limits, compared));
}

void compared_ranks_clear(struct compared_ranks *compared)
{
    for (int i = 0; i < 2; i++) {
        selection_clear(&compared->chosen[i]);
        selection_clear(&compared->each[i]);
        selection_clear(&compared->of_own[i]);
    }
    common_ranks_clear(&compared->left_out);
}

bool compared_sides_open(struct call *call, enum step_clock clock, struct call_trace *opened)
{
    struct compared_ranks compared;
    bool done = compared_ranks_find(call, clock, NULL, &compared);
    const struct call_sides_request request = {
        .ranks = {&compared.chosen[0], &compared.chosen[1]}};
    for (int i = 0; i < 2; i++)
        opened[i] = (struct call_trace){.trace = {.count = 0}};
    done = done && call_sides_open_as(call, &request, opened);
    compared_ranks_clear(&compared);
    return done;
}

int call_causes_produce(struct call *call, int clock, call_causes_rows *add_rows,
                        struct rows **rows)
{
    struct call_trace opened[2] = {{.trace = {.count = 0}}, {.trace = {.count = 0}}};
    struct call_causes found = {.opened = NULL};
    struct result *result = result_new(call->function->column_count);
    struct call_causes_request request = {.shown = 0};
    double shown = 0;
    if (argument_step_clock(call, clock, &request.clock) &&
        argument_real(call, clock + 1, &shown) &&
        compared_sides_open(call, request.clock, opened)) {
        request.shown = (size_t)shown;
        if (call_causes_find(call, &request, opened, &found))
            add_rows(call, result, &found);
        call_causes_close(&found);
    }
    for (int i = 0; i < 2; i++)
        call_trace_close(&opened[i]);
    return result_finish(result, call_code(call), rows);
}
