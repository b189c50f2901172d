#include "long_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "thresholds.h"

/* A part of an outlier or of the longest step. */
struct long_part {
    const struct pair_step *step;
    struct attributed part;
    wide_time surplus; /* ns times the number of steps: time above the mean of all steps */
};

/* C6.1: whether the longest kept step of a side is long. */
static bool is_long(const struct pair *pair, int side)
{
    const struct pair_side *of = &pair->sides[side];
    return pair->strata_count == 1 && of->windows > 1 && of->high > LONG_RATIO * of->median;
}

bool pair_has_long_step(const struct pair *pair, int side)
{
    return pair->sides[side].left_out > 0 || is_long(pair, side);
}

void side_parts_begin(struct side_parts *parts, const struct pair *pair, int side,
                      const int64_t *ranks)
{
    const struct pair_side *of = &pair->sides[side];
    *parts = (struct side_parts){.pair = pair, .side = side, .ranks = ranks};
    for (size_t i = 0; i < of->count && is_long(pair, side); i++)
        if (!of->steps[i].is_out && of->steps[i].ns > parts->longest)
            parts->longest = of->steps[i].ns;
}

static int iteration_order(const void *a, const void *b)
{
    const int64_t *iteration = a;
    const struct pair_step *step = b;
    return COMPARE(*iteration, step->iteration);
}

bool side_parts_add(struct side_parts *parts, const struct attributed_step *step)
{
    const struct pair_side *side = &parts->pair->sides[parts->side];
    const struct pair_step *of =
        bsearch(&step->iteration, side->steps, side->count, sizeof *side->steps, iteration_order);
    bool wanted = of && (of->is_out || (parts->longest > 0 && of->ns == parts->longest));
    for (size_t i = 0; i < step->count; i++) {
        if (!parts_add(&parts->table, &parts->sum, &step->rows[i]) ||
            !MEMORY_GROW(parts->items, parts->capacity, parts->count + 1))
            return false;
        if (wanted)
            parts->items[parts->count++] = (struct long_part){of, step->rows[i], 0};
    }
    return true;
}

static int part_order(const void *a, const void *b)
{
    const struct attributed *x = a, *y = b;
    int order = COMPARE(x->step_class, y->step_class);
    order = order ? order : COMPARE(x->rank, y->rank);
    return order ? order : COMPARE(x->name[0], y->name[0]);
}

/* Keeps the parts of all ranks of one step together. */
static int step_order(const void *a, const void *b)
{
    const struct long_part *x = a, *y = b;
    return COMPARE(x->step->iteration, y->step->iteration);
}

/* Orders parts by rank, class and name. */
static int text_order(const struct side_parts *parts, const struct names *names,
                      const struct attributed *x, const struct attributed *y)
{
    int order = COMPARE(parts->ranks[x->rank], parts->ranks[y->rank]);
    if (order == 0 && x->step_class != y->step_class) {
        if (x->step_class == CLASS_NONE || y->step_class == CLASS_NONE)
            return x->step_class == CLASS_NONE ? -1 : 1;
        order = strcmp(step_class_name(x->step_class), step_class_name(y->step_class));
    }
    if (order != 0 || x->name[0] == y->name[0])
        return order;
    if (x->name[0] == NAME_NONE || y->name[0] == NAME_NONE)
        return x->name[0] == NAME_NONE ? -1 : 1;
    return name_compare(&names->items[x->name[0]], &names->items[y->name[0]]);
}

/* Adds a step with the part that exceeds its mean most. */
static bool add_step(struct long_steps *steps, const struct side_parts *parts,
                     const struct long_part *most, const struct names *names)
{
    const struct pair *pair = parts->pair;
    const struct pair_side *side = &pair->sides[parts->side];
    double kept = (double)side->windows / (double)side->ranks;
    double ms = quotient(most->step->ns, side->ranks) / 1e6, more = side->high - side->median;
    uint32_t name = most->part.name[0];
    struct long_step step = {.side = parts->side,
                             .iteration = most->step->iteration,
                             .is_out = most->step->is_out,
                             .length = ms,
                             .ratio = ms / side->median,
                             .rank = parts->ranks[most->part.rank],
                             .step_class = most->part.step_class,
                             .name = NAME_NONE};
    double others = step.is_out ? kept + (double)side->left_out : kept - 1;
    step.ms = others > 0 ? (parts->side ? 1 : -1) * (ms - side->mean) / others : NAN;
    step.is_much = more >= LONG_PART * (double)side->windows * fabs(pair_diff(pair)) &&
                   more > LONG_BESIDE * (side->median - side->low);
    if (name != NAME_NONE &&
        (step.name = names_adopt(&steps->names, &names->items[name])) == NAME_NONE)
        return false;
    if (!MEMORY_GROW(steps->items, steps->capacity, steps->count + 1))
        return false;
    steps->items[steps->count++] = step;
    return true;
}

bool long_steps_add(struct long_steps *steps, struct side_parts *parts, const struct names *names,
                    const struct stopper *stopper, struct failure *failure)
{
    const struct pair_side *side = &parts->pair->sides[parts->side];
    bool done =
        sort_items(parts->sum.rows, parts->sum.count, sizeof *parts->sum.rows, part_order, stopper,
                   failure) &&
        sort_items(parts->items, parts->count, sizeof *parts->items, step_order, stopper, failure);
    for (size_t i = 0, from = 0; done && i < parts->count; from = i) {
        const struct long_part *most = &parts->items[i];
        for (; i < parts->count && parts->items[i].step == parts->items[from].step; i++) {
            struct long_part *item = &parts->items[i];
            const struct attributed *sum =
                bsearch(&item->part, parts->sum.rows, parts->sum.count, sizeof *sum, part_order);
            item->surplus = item->part.time * (wide_time)side->count - (sum ? sum->time : 0);
            if (item->surplus > most->surplus ||
                (item->surplus == most->surplus &&
                 text_order(parts, names, &item->part, &most->part) < 0))
                most = item;
        }
        done = add_step(steps, parts, most, names) || failure_memory(failure);
    }
    return done;
}

void side_parts_clear(struct side_parts *parts)
{
    table_clear(&parts->table);
    memory_free(parts->sum.rows);
    memory_free(parts->items);
}

void long_steps_clear(struct long_steps *steps)
{
    names_clear(&steps->names);
    memory_free(steps->items);
    *steps = (struct long_steps){.count = 0};
}
