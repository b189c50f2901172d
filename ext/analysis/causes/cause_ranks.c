#include "cause_ranks.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "only_rank.h"
#include "own_steps.h"

/* Q8.5: a cause changes ranks if its mean over ranks is below this part of its maximum. */
#define CHANGING_RANKS 0.6

/* The times of causes in the own steps of ranks, for ranks of both sides. */
struct own_times {
    int64_t *ranks; /* ascending */
    size_t count;
    int64_t (*windows)[2]; /* number by rank and side */
    wide_time (*time)[2];  /* ns, by rank, cause and side */
    struct own_steps steps;
};

static bool own_times_make(struct own_times *own, const struct causes *causes,
                           const struct cause_ranks *sides)
{
    const struct trace *control = sides[0].trace, *test = sides[1].trace;
    *own = (struct own_times){.ranks = memory_items(control->rank_count, sizeof *own->ranks)};
    for (size_t i = 0, j = 0; own->ranks && i < control->rank_count; i++) {
        while (j < test->rank_count && test->ranks[j] < control->ranks[i])
            j++;
        if (j < test->rank_count && test->ranks[j] == control->ranks[i])
            own->ranks[own->count++] = control->ranks[i];
    }
    own->windows = memory_zeroed(own->count, sizeof *own->windows);
    own->time = memory_zeroed(own->count * causes->count, sizeof *own->time);
    return own_steps_make(&own->steps, causes, sides) && own->ranks && own->windows && own->time;
}

static void own_times_clear(struct own_times *own)
{
    memory_free(own->ranks);
    memory_free(own->windows);
    memory_free(own->time);
    own_steps_clear(&own->steps);
}

/* Adds the steps of all ranks of a side. */
static bool add_side(struct own_times *own, struct causes *causes, const struct cause_parts *parts,
                     const struct families *families, const struct cause_ranks *of, int number,
                     struct failure *failure)
{
    struct attributed_step step = {.rows = NULL};
    char *text = NULL;
    wide_time *now = memory_items(causes->count, sizeof *now); /* by cause, in the current step */
    bool done = now || failure_memory(failure);
    for (size_t i = 0; i < attribution_count(of->attribution) && done; i++) {
        size_t slot = 0;
        done = attribution_step(of->attribution, i, &step, failure);
        if (!done || step.count == 0)
            continue;
        int64_t rank = of->trace->ranks[step.rows[0].rank];
        LOWER_BOUND(slot, own->count, own->ranks[slot] < rank);
        if (slot == own->count || own->ranks[slot] != rank)
            continue;
        const struct cause_side side = {&step, attribution_names(of->attribution)};
        done = memory_assign(&text, memory_resize(text, cause_text_room(&side))) ||
               failure_memory(failure);
        own->windows[slot][number]++;
        memset(now, 0, causes->count * sizeof *now);
        for (size_t j = 0; j < step.count && done; j++) {
            size_t part;
            if (step.rows[j].time <= 0)
                continue;
            done = cause_parts_locate(parts, causes, &side, families, number, &step.rows[j], text,
                                      &part) ||
                   failure_memory(failure);
            if (done && part < parts->count)
                now[parts->items[part].cause] += step.rows[j].time;
        }
        for (size_t j = 0; j < causes->count; j++)
            own->time[slot * causes->count + j][number] += now[j];
        own_steps_add(&own->steps, causes, number, step.iteration, slot, now);
    }
    memory_free(now);
    memory_free(text);
    memory_free(step.rows);
    return done;
}

/* Applies the moves on the path to the own steps of ranks (Q8.4). */
static void settle_own(struct own_times *own, const struct causes *causes,
                       const struct cause_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        for (size_t slot = 0; slot < own->count && parts->items[i].received != 0; slot++) {
            wide_time *time = own->time[slot * causes->count + parts->items[i].cause];
            if (time[0] + time[1] != 0)
                time[0] += parts->items[i].received * own->windows[slot][0] / causes->windows[0];
        }
}

/* Returns the difference in the own steps of a rank, test minus control, in ns per step. */
static double own_difference(const struct own_times *own, size_t slot, const wide_time *time)
{
    const int64_t *windows = own->windows[slot];
    return (double)time[1] / (double)windows[1] - (double)time[0] / (double)windows[0];
}

/* Whether fewer than two ranks have a cause in their own steps. */
static bool is_alone(const struct own_times *own, const struct causes *causes, size_t index)
{
    size_t ranks = 0;
    for (size_t slot = 0; slot < own->count; slot++) {
        const wide_time *time = own->time[slot * causes->count + index];
        ranks += own->windows[slot][0] > 0 && own->windows[slot][1] > 0 && time[0] + time[1] != 0;
    }
    return ranks < 2;
}

/* Q9.1: whether communication is elsewhere: it grew by less than half of `whole` on the rank with
** the least of it in each step. That rank does not wait. */
static bool is_elsewhere(const struct own_times *own, const struct causes *causes, size_t index,
                         double whole)
{
    double sign = whole < 0 ? -1 : 1;
    return !is_alone(own, causes, index) &&
           2 * sign * own_steps_least(&own->steps, index) < sign * whole;
}

/* Q8.5: whether a cause changes ranks from step to step: its mean over ranks is far below its mean
** on the rank with the most of it in each step. */
static bool is_changing(const struct own_times *own, size_t index, double sign, double together)
{
    double most = sign * own_steps_most(&own->steps, index);
    return most > 0 && CHANGING_RANKS * most > together / (double)own->count &&
           own_steps_change(&own->steps, index, sign > 0);
}

/* Q8.6: finds the ranks that alone differ like the path, if they are at most half of all. */
static bool find_ranks(const struct own_times *own, struct causes *causes, size_t index,
                       double whole)
{
    struct cause *cause = &causes->items[index];
    double sign = whole < 0 ? -1 : 1, least = INFINITY, next = 0, others = 0;
    cause->ranks_first = causes->rank_count;
    for (size_t slot = 0; slot < own->count; slot++) {
        const wide_time *time = own->time[slot * causes->count + index];
        if (own->windows[slot][0] == 0 || own->windows[slot][1] == 0)
            continue;
        double differs = sign * own_difference(own, slot, time);
        if (2 * differs < sign * whole) {
            next = fmax(next, differs);
            others += differs;
            continue;
        }
        if (!MEMORY_GROW(causes->ranks, causes->rank_capacity, causes->rank_count + 1))
            return false;
        causes->ranks[causes->rank_count++] = own->ranks[slot];
        least = fmin(least, differs);
    }
    cause->ranks_count = causes->rank_count - cause->ranks_first;
    if (cause->ranks_count < 2 || 2 * cause->ranks_count > own->count || 2 * next >= least ||
        4 * others >= least) {
        causes->rank_count = cause->ranks_first;
        cause->ranks_count = 0;
    }
    return true;
}

/* Q8 and Q9: finds the ranks of a cause, and whether it only moved on the path. False if out of
** memory. */
static bool find_rank(const struct own_times *own, struct causes *causes, size_t index,
                      bool *is_moved)
{
    struct cause *cause = &causes->items[index];
    struct only_rank only = {.ranks = 0};
    double whole = (double)cause->diff / (double)causes->windows[0] / (double)causes->windows[1];
    double sign = whole < 0 ? -1 : 1;
    for (size_t slot = 0; slot < own->count; slot++) {
        const wide_time *time = own->time[slot * causes->count + index];
        if (own->windows[slot][0] > 0 && own->windows[slot][1] > 0)
            only_rank_add(&only, own->ranks[slot], sign * own_difference(own, slot, time));
    }
    *is_moved = false;
    if (whole == 0 || only.ranks < 2)
        return true;
    if (cause->step_class == CLASS_COMM) {
        *is_moved = is_elsewhere(own, causes, index, whole);
        return true;
    }
    double most = sign * own_steps_most(&own->steps, index);
    bool supported = only_rank_supports(&only, sign * whole);
    *is_moved = !supported && !(2 * most >= sign * whole);
    cause->rank = only_rank_find(&only, sign * whole);
    if (cause->rank != NUMBER_NONE)
        return true;
    cause->changing = 2 * most >= sign * whole && is_changing(own, index, sign, only.sum);
    return cause->changing || !supported || find_ranks(own, causes, index, whole);
}

/* Names moved time after communication that differs by half of its net on each rank that has it
** (Q9). */
static void name_moved(const struct own_times *own, const struct causes *causes,
                       const bool *is_moved, struct cause *moved)
{
    double net = (double)moved->diff / (double)causes->windows[0] / (double)causes->windows[1];
    double most = 0, sign = net < 0 ? -1 : 1;
    for (size_t i = 0; i < causes->count; i++) {
        const struct cause *cause = &causes->items[i];
        double least = sign * own_steps_least(&own->steps, i);
        if (!is_moved[i] || cause->step_class != CLASS_COMM || is_alone(own, causes, i) ||
            is_elsewhere(own, causes, i, net) || !(least > most))
            continue;
        most = least;
        moved->kind = CAUSE_COMMUNICATION;
        moved->step_class = CLASS_COMM;
        moved->family = cause->family;
        moved->area = cause->area;
        moved->name = cause->name;
    }
}

/* Q9.3: if moved causes explain half of the difference and hardly cancel, the path did not move. It
** has more of them, on varying ranks. Communication remains moved, because it may be a wait. */
static void keep_unmoved(struct causes *causes, bool *is_moved)
{
    wide_time more = 0, less = 0;
    for (size_t i = 0; i < causes->count; i++) {
        more += is_moved[i] && causes->items[i].diff > 0 ? causes->items[i].diff : 0;
        less -= is_moved[i] && causes->items[i].diff < 0 ? causes->items[i].diff : 0;
    }
    bool longer = causes->diff > 0;
    wide_time net = longer ? more - less : less - more;
    if (4 * (longer ? less : more) > (longer ? more : less) || 2 * net < wide_size(causes->diff))
        return;
    for (size_t i = 0; i < causes->count; i++) {
        struct cause *cause = &causes->items[i];
        if (is_moved[i] && cause->step_class != CLASS_COMM && longer == (cause->diff > 0)) {
            is_moved[i] = false;
            cause->changing = true;
        }
    }
}

/* Adds a cause to the cause of moved time. */
static void add_moved(const struct causes *causes, struct cause *moved, const struct cause *cause)
{
    cause_parts_join(causes, moved, cause);
    moved->names += cause->names;
    moved->added += cause->added;
    moved->removed += cause->removed;
    for (int side = 0; side < 2; side++)
        moved->time[side] += cause->time[side];
    moved->diff += cause->diff;
    moved->changes = wide_size(moved->diff);
}

bool cause_ranks_find(struct causes *causes, const struct cause_parts *parts,
                      const struct families *families, const struct cause_ranks *sides,
                      const struct stopper *stopper, struct failure *failure)
{
    struct own_times own;
    bool done = own_times_make(&own, causes, sides) || failure_memory(failure);
    for (int i = 0; i < 2 && done && own.count > 1; i++)
        done = add_side(&own, causes, parts, families, &sides[i], i, failure);
    if (done && own.count > 1 && causes->windows[0] > 0)
        settle_own(&own, causes, parts);
    size_t kept = 0, count = causes->count;
    struct cause moved = {.kind = CAUSE_MOVED,
                          .step_class = CLASS_NONE,
                          .family = NAME_NONE,
                          .area = NAME_NONE,
                          .name = NAME_NONE,
                          .stage = STAGE_NONE,
                          .rank = NUMBER_NONE};
    bool *is_moved = memory_zeroed(count, sizeof *is_moved);
    done = done && (is_moved || failure_memory(failure));
    for (size_t i = 0; i < count && done; i++) {
        done = stopper_goes_on(stopper, i, failure) &&
               (find_rank(&own, causes, i, &is_moved[i]) || failure_memory(failure));
    }
    if (done)
        keep_unmoved(causes, is_moved);
    for (size_t i = 0; i < count && done; i++)
        if (is_moved[i])
            add_moved(causes, &moved, &causes->items[i]);
    if (done)
        name_moved(&own, causes, is_moved, &moved);
    for (size_t i = 0; i < count && done; i++)
        if (!is_moved[i])
            causes->items[kept++] = causes->items[i];
    if (done && moved.names > 0)
        causes->items[kept++] = moved;
    causes->count = done ? kept : count;
    memory_free(is_moved);
    own_times_clear(&own);
    return done;
}
