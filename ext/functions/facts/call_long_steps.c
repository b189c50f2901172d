#include "call_long_steps.h"

static bool take_parts(void *to, const struct attributed_step *step)
{
    return side_parts_add(to, step);
}

bool call_long_steps_find(struct call *call, struct call_pair *pair, struct long_steps *found)
{
    for (int side = 0; side < 2; side++) {
        const struct call_trace *asked = &pair->asked[side];
        struct side_parts parts;
        if (!pair_has_long_step(&pair->pair, side))
            continue;
        side_parts_begin(&parts, &pair->pair, side, asked->trace.ranks);
        struct steps_walk steps = {.take = take_parts, .to = &parts};
        bool done = steps_walk_take(call, asked, LEVEL_TOP_OP, pair->clock, &steps) &&
                    long_steps_add(found, &parts, attribution_names(steps.attribution),
                                   call_stopper(call), &call->failure);
        steps_walk_close(&steps);
        side_parts_clear(&parts);
        if (!done)
            return false;
    }
    return true;
}
