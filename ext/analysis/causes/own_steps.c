#include "own_steps.h"

#include <math.h>

#include "base/integers.h"
#include "base/memory.h"
#include "base/sort.h"

/* Lists the steps that any rank of a side has. */
static bool list_numbers(struct own_steps *steps, int side, const struct cause_ranks *of)
{
    size_t count = attribution_count(of->attribution);
    int64_t *numbers = steps->numbers[side] = memory_items(count, sizeof *numbers);
    for (size_t i = 0; numbers && i < count; i++)
        numbers[i] = attribution_iteration(of->attribution, i);
    steps->count[side] = numbers ? sort_integers(numbers, count) : 0;
    return numbers;
}

/* Selects communication, and causes with at least 1 % of all changes. */
static bool is_looked_at(const struct causes *causes, size_t cause, wide_time changes)
{
    return causes->items[cause].step_class == CLASS_COMM ||
           100 * wide_size(causes->items[cause].diff) >= changes;
}

bool own_steps_make(struct own_steps *steps, const struct causes *causes,
                    const struct cause_ranks *sides)
{
    wide_time changes = 0;
    *steps = (struct own_steps){.place = memory_items(causes->count, sizeof *steps->place)};
    for (size_t i = 0; i < causes->count; i++)
        changes += wide_size(causes->items[i].diff);
    for (size_t i = 0; steps->place && i < causes->count; i++)
        steps->place[i] = is_looked_at(causes, i, changes) ? steps->width++ : SIZE_MAX;
    bool done = steps->place;
    for (int side = 0; side < 2 && done; side++) {
        done = list_numbers(steps, side, &sides[side]);
        size_t count = steps->count[side] * steps->width;
        struct own_step *items = steps->items[side] = memory_items(count, sizeof *items);
        done = done && items;
        for (size_t i = 0; done && i < count; i++)
            items[i] = (struct own_step){.least = INT64_MAX};
    }
    return done;
}

void own_steps_add(struct own_steps *steps, const struct causes *causes, int side, int64_t number,
                   size_t slot, const wide_time *time)
{
    size_t at = 0;
    LOWER_BOUND(at, steps->count[side], steps->numbers[side][at] < number);
    for (size_t i = 0; i < causes->count; i++) {
        if (steps->place[i] == SIZE_MAX || time[i] <= 0)
            continue;
        struct own_step *step = &steps->items[side][at * steps->width + steps->place[i]];
        int64_t own = (int64_t)time[i];
        if (own > step->most) {
            step->most = own;
            step->top = (uint32_t)slot;
        }
        step->least = own < step->least ? own : step->least;
    }
}

/* Returns the mean per step of a side in ns; NAN with `least` if no step has the cause. */
static double mean(const struct own_steps *steps, size_t cause, int side, bool least)
{
    double sum = 0;
    bool any = false;
    for (size_t i = 0; i < steps->count[side]; i++) {
        const struct own_step *step = &steps->items[side][i * steps->width + steps->place[cause]];
        if (step->most == 0)
            continue;
        sum += (double)(least ? step->least : step->most);
        any = true;
    }
    return any || !least ? sum / (double)steps->count[side] : NAN;
}

double own_steps_most(const struct own_steps *steps, size_t cause)
{
    return steps->place[cause] == SIZE_MAX
               ? NAN
               : mean(steps, cause, 1, false) - mean(steps, cause, 0, false);
}

double own_steps_least(const struct own_steps *steps, size_t cause)
{
    return steps->place[cause] == SIZE_MAX
               ? NAN
               : mean(steps, cause, 1, true) - mean(steps, cause, 0, true);
}

bool own_steps_change(const struct own_steps *steps, size_t cause, int side)
{
    double middle = (mean(steps, cause, 0, false) + mean(steps, cause, 1, false)) / 2;
    size_t above = 0;
    uint32_t first = 0;
    bool change = false;
    for (size_t i = 0; i < steps->count[side]; i++) {
        const struct own_step *step = &steps->items[side][i * steps->width + steps->place[cause]];
        if (!((double)step->most > middle))
            continue;
        first = above++ == 0 ? step->top : first;
        change |= step->top != first;
    }
    return change;
}

void own_steps_clear(struct own_steps *steps)
{
    memory_free(steps->place);
    for (int side = 0; side < 2; side++) {
        memory_free(steps->numbers[side]);
        memory_free(steps->items[side]);
    }
}
