#include "compared_ranks.h"

#include "base/memory.h"

/* Chooses the job of the ranks that are taken or, if a side has no others, of all. */
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

bool compared_ranks_find(struct call *call, struct compared_ranks *compared)
{
    struct common_ranks common = {.count = 0};
    struct selection *chosen = compared->chosen;
    *compared = (struct compared_ranks){.chosen = {{.kind = SELECT_DEFAULT}}, .ranks = NUMBER_NONE};
    bool done = argument_selection(call, argument_of(call, NAMES_RANKS, 0), &chosen[0]) &&
                argument_selection(call, argument_of(call, NAMES_RANKS, 1), &chosen[1]);
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
    return done;
}

bool compared_ranks_split(struct compared_ranks *compared, struct failure *failure)
{
    compared->ranks = NUMBER_NONE;
    for (int i = 0; i < 2; i++) {
        selection_clear(&compared->chosen[i]);
        if (!selection_copy(&compared->chosen[i], &compared->each[i]))
            return failure_memory(failure);
    }
    return true;
}

void compared_ranks_clear(struct compared_ranks *compared)
{
    for (int i = 0; i < 2; i++) {
        selection_clear(&compared->chosen[i]);
        selection_clear(&compared->each[i]);
    }
    common_ranks_clear(&compared->left_out);
}
