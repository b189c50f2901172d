#include "brief_claims.h"

#include <math.h>
#include <string.h>

#include "analysis/answer/thresholds.h"
#include "base/memory.h"
#include "base/sort.h"

/* The time of a cause in one step of a rank or of a job. */
struct claim_step {
    size_t line;
    int64_t iteration;
    wide_time time; /* ns */
};

/* ms of a cause in the shortest and in the longest step of a side. */
struct claim_span {
    double low, high;
};

/* State while the steps of both sides are read. */
struct claims {
    struct answer *answer;
    const bool *asked; /* by line: whether its spans are needed */
    const struct steps_walk *steps;
    struct claim_step *items;
    size_t count, capacity;
    struct claim_span spans[2][MOST_LINES + 1]; /* by side */
};

static bool is_part_of(const struct claims *claims, const struct attributed *part,
                       const struct answer_line *line)
{
    const struct names *names = attribution_names(claims->steps->attribution);
    return part->step_class != CLASS_NONE && part->name[0] != NAME_NONE &&
           strcmp(step_class_name(part->step_class), line->step_class) == 0 &&
           name_compare(&names->items[part->name[0]],
                        &claims->answer->causes.texts.items[line->name]) == 0;
}

/* Adds the time of each cause in a step, even if it is 0. */
static bool take_step(void *to, const struct attributed_step *step)
{
    struct claims *claims = to;
    for (size_t line = 0; line < claims->answer->line_count; line++) {
        wide_time time = 0;
        if (!claims->asked[line])
            continue;
        for (size_t i = 0; i < step->count; i++)
            if (is_part_of(claims, &step->rows[i], &claims->answer->lines[line]))
                time += step->rows[i].time;
        if (!MEMORY_GROW(claims->items, claims->capacity, claims->count + 1))
            return false;
        claims->items[claims->count++] = (struct claim_step){line, step->iteration, time};
    }
    return true;
}

static int claim_step_order(const void *a, const void *b)
{
    const struct claim_step *x = a, *y = b;
    return x->line != y->line ? COMPARE(x->line, y->line) : COMPARE(x->iteration, y->iteration);
}

/* Finds the spans of a side from its steps, for all ranks together. */
static bool find_spans(struct claims *claims, int side)
{
    struct call *call = claims->answer->facts.call;
    if (!sort_items(claims->items, claims->count, sizeof *claims->items, claim_step_order,
                    call_stopper(call), &call->failure))
        return false;
    for (size_t i = 0, end; i < claims->count; i = end) {
        const struct claim_step *first = &claims->items[i];
        struct claim_span *span = &claims->spans[side][first->line];
        wide_time time = 0;
        for (end = i; end < claims->count && claim_step_order(&claims->items[end], first) == 0;)
            time += claims->items[end++].time;
        bool is_new = i == 0 || claims->items[i - 1].line != first->line;
        double ms = (double)time / 1e6;
        span->low = is_new || ms < span->low ? ms : span->low;
        span->high = is_new || ms > span->high ? ms : span->high;
    }
    return true;
}

static bool look_at_steps(struct claims *claims)
{
    struct answer_facts *facts = &claims->answer->facts;
    bool done = facts_kept(facts);
    for (int side = 0; done && side < 2; side++) {
        struct steps_walk steps = {.take = take_step, .to = claims};
        claims->steps = &steps;
        claims->count = 0;
        done = steps_walk_take(facts->call, &facts->kept[side], LEVEL_TOP_OP, facts->pair.clock,
                               &steps) &&
               find_spans(claims, side);
        steps_walk_close(&steps);
    }
    return done;
}

/* Finds the range of factors by which load scales host time (L7.5): 1 without a caution about
** load. */
static bool find_load(struct answer *answer, struct claim_span *load)
{
    struct answer_facts *facts = &answer->facts;
    struct common_factor host = {.outcome = FACTOR_NOTHING};
    bool loaded = false;
    *load = (struct claim_span){1, 1};
    for (size_t i = 0; i < answer->cautions.chosen.count; i++)
        loaded = loaded || answer->cautions.chosen.items[i].code == CAUTION_LOAD;
    if (!loaded)
        return true;
    if (!facts_each(facts) || !call_host_factor_find(facts->call, facts->each, NULL, &host))
        return false;
    if (host.outcome != FACTOR_NOTHING && host.compared > 0)
        *load = (struct claim_span){fmin(host.low, 1), fmax(host.high, 1)};
    return true;
}

/* Whether a cause takes longer in each step of one side than in all of the other, by more than the
** range of the other side. */
static bool is_apart(const struct claims *claims, size_t line, const struct claim_span *load)
{
    const struct answer_line *of = &claims->answer->lines[line];
    struct claim_span control = claims->spans[0][line], test = claims->spans[1][line];
    if (strcmp(of->step_class, step_class_name(CLASS_HOST)) == 0 &&
        !name_is_loader(&claims->answer->causes.texts.items[of->name])) {
        control.low *= load->low;
        control.high *= load->high;
    }
    return test.low > 2 * control.high - control.low || control.low > 2 * test.high - test.low;
}

/* Whether the difference of a cause is large enough for it to be individually significant. */
static bool may_be_clear(const struct answer *answer, const struct answer_line *line)
{
    const struct pair_side *sides = answer->facts.pair.pair.sides;
    return line->kind == LINE_CAUSE && line->step_class && line->name != NAME_NONE &&
           sides[0].windows >= CLAIM_STEPS && sides[1].windows >= CLAIM_STEPS &&
           fabs(line->diff_ms) >= CLAIM_PART * sides[0].mean;
}

bool brief_claims_find(struct answer *answer, bool *claimed)
{
    struct claims claims = {.answer = answer, .asked = claimed};
    struct claim_span load;
    bool clear = answer->facts.judged == JUDGED_CLEAR, any = false;
    for (size_t i = 0; i < answer->line_count; i++) {
        const struct answer_line *line = &answer->lines[i];
        claimed[i] = clear ? line->kind == LINE_CAUSE : may_be_clear(answer, line);
        any = any || claimed[i];
    }
    if (clear || !any)
        return true;
    if (answer->facts.pair.pair.strata_count > 1) {
        memset(claimed, 0, answer->line_count * sizeof *claimed);
        return true;
    }
    bool done = look_at_steps(&claims) && find_load(answer, &load);
    for (size_t i = 0; done && i < answer->line_count; i++)
        claimed[i] = claimed[i] && is_apart(&claims, i, &load);
    memory_free(claims.items);
    return done;
}
