#include "call_pair.h"

#include "base/memory.h"

/* Whether every part of the requested steps takes the same time on both sides. */
static bool is_same(struct call *call, const struct call_pair *pair, bool *same)
{
    const struct call_causes_request request = {.clock = pair->clock};
    struct call_causes found = {.opened = NULL};
    *same = pair_is_equal(&pair->pair);
    if (!*same)
        return true;
    bool done = call_causes_find(call, &request, pair->asked, &found);
    for (size_t i = 0; done && i < found.causes.count; i++)
        *same = *same && found.causes.items[i].diff == 0;
    call_causes_close(&found);
    return done;
}

/* Lists the kept steps, if any step is left out. */
static bool list_kept(struct call_pair *pair, int side)
{
    const struct pair_side *of = &pair->pair.sides[side];
    struct selection *kept = &pair->kept[side];
    if (of->left_out == 0)
        return true;
    *kept = (struct selection){.kind = SELECT_LIST};
    if (!memory_assign(&kept->values, memory_items(of->count, sizeof *kept->values)))
        return false;
    for (size_t i = 0; i < of->count; i++)
        if (!of->steps[i].is_out)
            kept->values[kept->count++] = of->steps[i].iteration;
    pair->iterations[side] = kept;
    return true;
}

bool call_pair_open(struct call *call, enum step_clock clock, const struct gate_limits *limits,
                    struct call_pair *pair)
{
    bool same;
    *pair = (struct call_pair){.clock = clock};
    if (!compared_ranks_find(call, clock, limits, &pair->ranks))
        return false;
    const struct call_sides_request request = {
        .ranks = {&pair->ranks.chosen[0], &pair->ranks.chosen[1]}, .quoted = true};
    pair->is_job = pair->ranks.chosen[0].job && pair->ranks.chosen[1].job;
    pair->open = call_sides_open_as(call, &request, pair->asked);
    bool done = pair->open && pair_steps_add(call, pair->asked, clock, &pair->pair, NULL, 1);
    done = done && is_same(call, pair, &same) &&
           verdict_find(&pair->verdict, &pair->pair, same, call_stopper(call), &call->failure);
    for (int side = 0; done && side < 2; side++)
        done = list_kept(pair, side) || failure_memory(&call->failure);
    return done;
}

void call_pair_close(struct call_pair *pair)
{
    for (int side = 0; side < 2; side++) {
        if (pair->open)
            call_trace_close(&pair->asked[side]);
        selection_clear(&pair->kept[side]);
    }
    pair_clear(&pair->pair);
    compared_ranks_clear(&pair->ranks);
    *pair = (struct call_pair){.open = false};
}
