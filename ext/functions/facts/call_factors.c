#include "call_factors.h"

#include "analysis/steps/attribute.h"
#include "base/memory.h"
#include "work_sums.h"

/* Finds the parts of the chosen steps of both sides, as paths. */
static bool find_parts(struct call *call, const struct call_trace *opened,
                       struct attribution **attributions, struct attributed_step *totals)
{
    static const struct attribution_request request = {.level = LEVEL_COUNT,
                                                       .clock = CLOCK_DEVICE};
    bool done = true;
    for (int side = 0; side < 2 && done; side++) {
        attributions[side] = attribution_new(&opened[side].trace, &opened[side].steps, &request,
                                             call_stopper(call), &call->failure);
        done = attributions[side] &&
               attribution_total(attributions[side], &totals[side], &call->failure);
    }
    return done;
}

bool call_clock_factor_find(struct call *call, const struct call_trace *opened,
                            const struct keyed *sums, struct common_factor *found)
{
    struct attribution *attributions[2] = {NULL, NULL};
    struct attributed_step totals[2] = {{.count = 0}, {.count = 0}};
    static const struct device_wish wish = {.grids = true};
    struct keyed own = {.width = 0};
    bool done = (sums || device_sums_find(call, opened, &wish, &own)) &&
                find_parts(call, opened, attributions, totals);
    if (done) {
        const struct cause_side sides[2] = {{&totals[0], attribution_names(attributions[0])},
                                            {&totals[1], attribution_names(attributions[1])}};
        done = clock_factor_find(found, sums ? sums : &own, sides, call_stopper(call),
                                 &call->failure);
    }
    if (done && !sums)
        common_factor_clear(found);
    for (int side = 0; side < 2; side++) {
        attribution_free(attributions[side]);
        memory_free(totals[side].rows);
    }
    keyed_clear(&own);
    return done;
}

bool call_host_factor_find(struct call *call, const struct call_trace *opened,
                           const struct keyed *sums, struct common_factor *found)
{
    const int64_t steps[2] = {opened[0].steps.steps, opened[1].steps.steps};
    struct keyed own = {.width = 0};
    bool done = (sums || host_sums_find(call, opened, &own)) &&
                host_factor_find(found, sums ? sums : &own, steps, call_stopper(call),
                                 &call->failure);
    if (done && !sums)
        common_factor_clear(found);
    keyed_clear(&own);
    return done;
}
