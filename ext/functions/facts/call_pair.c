#include "call_pair.h"

#include <string.h>

#include "base/memory.h"
#include "functions/call/step_text.h"

bool steps_walk_take(struct call *call, const struct call_trace *opened, enum label_level level,
                     enum step_clock clock, struct steps_walk *steps)
{
    const struct attribution_request request = {.level = level, .clock = clock, .job = opened->job};
    struct attributed_step step = {.count = 0};
    steps->attribution = attribution_new(&opened->trace, &opened->steps, &request,
                                         call_stopper(call), &call->failure);
    bool done = steps->attribution;
    for (size_t i = 0; done && i < attribution_count(steps->attribution); i++)
        done = attribution_step(steps->attribution, i, &step, &call->failure) &&
               (step.count == 0 || steps->take(steps->to, &step) || failure_memory(&call->failure));
    memory_free(step.rows);
    return done;
}

void steps_walk_close(struct steps_walk *steps)
{
    attribution_free(steps->attribution);
    steps->attribution = NULL;
}

/* Where steps go. */
struct lengths {
    struct pair *pair;
    const struct call_trace *opened;
    int side;
};

/* Adds a step of a rank or of a job. */
static bool add_length(void *to, const struct attributed_step *step)
{
    const struct lengths *lengths = to;
    struct pair_window window = {.iteration = step->iteration, .rank = INT64_MAX};
    struct step_form form;
    char *stratum = NULL;
    for (size_t i = 0; i < step->count; i++) {
        const struct attributed *part = &step->rows[i];
        int64_t rank = lengths->opened->trace.ranks[part->rank];
        bool silent = part->step_class == CLASS_IDLE_UNRECORDED ||
                      part->step_class == CLASS_UNRECORDED;
        window.ns += part->time;
        window.silent += silent ? part->time : 0;
        window.compiling += part->step_class == CLASS_COMPILE ? part->time : 0;
        window.rank = rank < window.rank ? rank : window.rank;
        window.of_host = window.of_host || part->step_class == CLASS_CALL ||
                         part->step_class == CLASS_HOST || part->step_class == CLASS_UNRECORDED;
    }
    if (step->form && step_form_read(step->form->text, step->form->length, &form) &&
        !(stratum = step_stratum(&form)))
        return false;
    window.stratum = stratum ? stratum : "";
    window.stratum_length = strlen(window.stratum);
    bool done = pair_add(lengths->pair, lengths->side, &window);
    sqlite3_free(stratum);
    return done;
}

/* Whether steps were asked for one by one, or all (C1). */
static bool asks_for_all(struct call *call, int side, bool *all)
{
    struct selection iterations;
    bool done = argument_selection(call, argument_of(call, NAMES_ITERATIONS, side), &iterations);
    *all = iterations.kind == SELECT_ALL || iterations.kind == SELECT_LIST;
    selection_clear(&iterations);
    return done;
}

/* Whether every part of the steps that were asked for takes the same time on both sides. */
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

/* Lists the steps that are kept, if any is not. */
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

bool call_pair_open(struct call *call, enum step_clock clock, bool one_by_one,
                    struct call_pair *pair)
{
    bool all[2], same;
    *pair = (struct call_pair){.clock = clock};
    if (!compared_ranks_find(call, &pair->ranks) ||
        (one_by_one && !compared_ranks_split(&pair->ranks, &call->failure)))
        return false;
    const struct call_sides_request request = {
        .ranks = {&pair->ranks.chosen[0], &pair->ranks.chosen[1]}, .quoted = true};
    pair->is_job = pair->ranks.chosen[0].job && pair->ranks.chosen[1].job;
    pair->open = call_sides_open_as(call, &request, pair->asked);
    bool done = pair->open;
    for (int side = 0; done && side < 2; side++) {
        struct lengths lengths = {&pair->pair, &pair->asked[side], side};
        struct steps_walk steps = {.take = add_length, .to = &lengths};
        done = steps_walk_take(call, &pair->asked[side], LEVEL_ANNOTATION, clock, &steps) &&
               asks_for_all(call, side, &all[side]);
        steps_walk_close(&steps);
    }
    done = done && pair_finish(&pair->pair, all, call_stopper(call), &call->failure) &&
           is_same(call, pair, &same) &&
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
