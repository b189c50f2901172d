#include "pair_steps.h"

#include <string.h>

#include "base/integers.h"
#include "base/memory.h"
#include "base/sort.h"
#include "functions/call/step_text.h"
#include "naming/step_form.h"

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

/* Destination for step times. */
struct lengths {
    struct pair *pairs;
    const int64_t *ranks; /* ranks of the pairs; NULL: there is one pair */
    size_t count;
    const struct call_trace *opened;
    int side;
};

/* Returns the pair of a rank; NULL: none. */
static struct pair *pair_of(const struct lengths *lengths, int64_t rank)
{
    size_t at = 0;
    if (!lengths->ranks)
        return lengths->pairs;
    LOWER_BOUND(at, lengths->count, lengths->ranks[at] < rank);
    return at < lengths->count && lengths->ranks[at] == rank ? &lengths->pairs[at] : NULL;
}

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
    struct pair *pair = pair_of(lengths, window.rank);
    if (!pair)
        return true;
    if (step->form && step_form_read(step->form->text, step->form->length, &form) &&
        !(stratum = step_stratum(&form)))
        return false;
    window.stratum = stratum ? stratum : "";
    window.stratum_length = strlen(window.stratum);
    bool done = pair_add(pair, lengths->side, &window);
    sqlite3_free(stratum);
    return done;
}

/* Sets `*all` to whether the call lists steps by number, or requests all (C1). */
static bool asks_for_all(struct call *call, int side, bool *all)
{
    struct selection iterations;
    bool done = argument_selection(call, argument_of(call, NAMES_ITERATIONS, side), &iterations);
    *all = iterations.kind == SELECT_ALL || iterations.kind == SELECT_LIST;
    selection_clear(&iterations);
    return done;
}

bool pair_steps_add(struct call *call, const struct call_trace *opened, enum step_clock clock,
                    struct pair *pairs, const int64_t *ranks, size_t count)
{
    bool all[2], done = true;
    for (int side = 0; done && side < 2; side++) {
        struct lengths lengths = {pairs, ranks, count, &opened[side], side};
        struct steps_walk steps = {.take = add_length, .to = &lengths};
        done = steps_walk_take(call, &opened[side], LEVEL_ANNOTATION, clock, &steps) &&
               asks_for_all(call, side, &all[side]);
        steps_walk_close(&steps);
    }
    for (size_t i = 0; done && i < count; i++)
        done = pair_finish(&pairs[i], all, call_stopper(call), &call->failure);
    return done;
}
