#include "cause_ranks.h"

#include <math.h>

#include "base/memory.h"
#include "base/sort.h"
#include "only_rank.h"

/* The times of causes in the own steps of ranks that both sides have. */
struct own_times {
    int64_t *ranks; /* ascending */
    size_t count;
    int64_t (*windows)[2]; /* by rank and side */
    wide_time (*time)[2];  /* ns, by rank, cause and side */
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
    return own->ranks && own->windows && own->time;
}

static void own_times_clear(struct own_times *own)
{
    memory_free(own->ranks);
    memory_free(own->windows);
    memory_free(own->time);
}

/* Adds the steps of all ranks of a side. */
static bool add_side(struct own_times *own, struct causes *causes, const struct cause_parts *parts,
                     const struct families *families, const struct cause_ranks *of, int number,
                     struct failure *failure)
{
    struct attributed_step step = {.rows = NULL};
    char *text = NULL;
    bool done = true;
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
        for (size_t j = 0; j < step.count && done; j++) {
            size_t part;
            if (step.rows[j].time <= 0)
                continue;
            done = cause_parts_locate(parts, causes, &side, families, number, &step.rows[j], text,
                                      &part) ||
                   failure_memory(failure);
            if (done && part < parts->count)
                own->time[slot * causes->count + parts->items[part].cause][number] +=
                    step.rows[j].time;
        }
    }
    memory_free(text);
    memory_free(step.rows);
    return done;
}

/* Moves in the own steps of ranks what moved on the path (Q8.4). */
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

/* ns per step, test minus control, in the own steps of a rank. */
static double own_difference(const struct own_times *own, size_t slot, const wide_time *time)
{
    const int64_t *windows = own->windows[slot];
    return (double)time[1] / (double)windows[1] - (double)time[0] / (double)windows[0];
}

/* The least own difference of the ranks that have a cause at all, by the sign of `sign`. An own
** time of communication contains waits, but for the rank that the others wait for. NAN: fewer than
** two have it. */
static double least_own(const struct own_times *own, const struct causes *causes, size_t index,
                        double sign)
{
    double least = INFINITY;
    size_t ranks = 0;
    for (size_t slot = 0; slot < own->count; slot++) {
        const wide_time *time = own->time[slot * causes->count + index];
        if (own->windows[slot][0] == 0 || own->windows[slot][1] == 0 || time[0] + time[1] == 0)
            continue;
        least = fmin(least, sign * own_difference(own, slot, time));
        ranks++;
    }
    return ranks < 2 ? NAN : least;
}

/* Whether communication is no more on one of its ranks by half of `whole` (Q9). */
static bool is_elsewhere(const struct own_times *own, const struct causes *causes, size_t index,
                         double whole)
{
    double sign = whole < 0 ? -1 : 1;
    return 2 * least_own(own, causes, index, sign) < sign * whole;
}

/* Q8 and Q9: finds the only rank of a cause. Returns whether the path only moved. */
static bool find_rank(const struct own_times *own, const struct causes *causes, size_t index)
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
    if (whole == 0 || only.ranks < 2)
        return false;
    if (cause->step_class == CLASS_COMM)
        return is_elsewhere(own, causes, index, whole);
    cause->rank = only_rank_find(&only, sign * whole);
    return !only_rank_supports(&only, sign * whole);
}

/* What moved is communication, if that differs by half of its net on each rank that has it (Q9). */
static void name_moved(const struct own_times *own, const struct causes *causes,
                       const bool *is_moved, struct cause *moved)
{
    double net = (double)moved->diff / (double)causes->windows[0] / (double)causes->windows[1];
    double most = 0, sign = net < 0 ? -1 : 1;
    for (size_t i = 0; i < causes->count; i++) {
        const struct cause *cause = &causes->items[i];
        if (!is_moved[i] || cause->step_class != CLASS_COMM || is_elsewhere(own, causes, i, net) ||
            !(least_own(own, causes, i, sign) > most))
            continue;
        most = least_own(own, causes, i, sign);
        moved->kind = CAUSE_COMMUNICATION;
        moved->step_class = CLASS_COMM;
        moved->family = cause->family;
        moved->area = cause->area;
        moved->name = cause->name;
    }
}

/* Adds a cause to that of what moved, which is the first of them. */
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
        done = stopper_goes_on(stopper, i, failure);
        is_moved[i] = find_rank(&own, causes, i);
    }
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
