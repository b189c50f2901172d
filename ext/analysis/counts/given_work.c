#include "given_work.h"

#include "base/memory.h"
#include "base/wide.h"

/* L5.7: an operator has no row if other operators took over this part of its changed device
** time. */
#define GIVEN_PART 0.5

/* The executions of a kernel on both sides; arrays are by side. */
struct kernel_runs {
    uint32_t kernel;
    size_t first[2], count[2]; /* range in side_runs.work, by window */
};

/* By kernel, then by window. */
static int work_order(const void *a, const void *b)
{
    const struct device_run *x = a, *y = b;
    int order = COMPARE(x->kernel, y->kernel);
    return order ? order : COMPARE(x->window, y->window);
}

bool given_work_sort(struct side_runs *sides, const struct stopper *stopper,
                     struct failure *failure)
{
    for (int side = 0; side < 2; side++)
        if (!sort_items(sides[side].work, sides[side].work_count, sizeof *sides[side].work,
                        work_order, stopper, failure))
            return false;
    return true;
}

/* Moves to the next kernel; a zeroed struct starts at the first. False: there is none. */
static bool next_kernel(struct kernel_runs *runs, const struct side_runs *sides)
{
    runs->kernel = NAME_NONE;
    for (int i = 0; i < 2; i++) {
        runs->first[i] += runs->count[i];
        runs->count[i] = 0;
        if (runs->first[i] < sides[i].work_count &&
            sides[i].work[runs->first[i]].kernel < runs->kernel)
            runs->kernel = sides[i].work[runs->first[i]].kernel;
    }
    for (int i = 0; i < 2; i++)
        while (runs->first[i] + runs->count[i] < sides[i].work_count &&
               sides[i].work[runs->first[i] + runs->count[i]].kernel == runs->kernel)
            runs->count[i]++;
    return runs->kernel != NAME_NONE;
}

/* The minimum and maximum per step. */
struct count_range {
    uint32_t low, high;
};

/* Adds the count of one step to a range. `windows`: number of steps added before. */
static void widen(struct count_range *range, uint32_t count, size_t windows)
{
    range->low = windows == 0 || count < range->low ? count : range->low;
    range->high = count > range->high ? count : range->high;
}

/* Returns how many more executions each step of `more` has at least, compared to `less`. */
static uint32_t surely_more(const struct count_range *more, const struct count_range *less)
{
    return more->low > less->high ? more->low - less->high : 0;
}

/* Finds how often the steps of a side launch a kernel outside of graphs and in graphs. */
static void find_ranges(const struct side_runs *side, size_t first, size_t count,
                        struct count_range *alone, struct count_range *replayed)
{
    const struct device_run *work = side->work;
    size_t seen = 0;
    *alone = *replayed = (struct count_range){0, 0};
    for (size_t i = first; i < first + count; seen++) {
        uint32_t window = work[i].window, counts[2] = {0, 0};
        for (; i < first + count && work[i].window == window; i++)
            counts[work[i].replay != REPLAY_NONE]++;
        widen(alone, counts[0], seen);
        widen(replayed, counts[1], seen);
    }
    if (seen < side->windows)
        alone->low = replayed->low = 0;
}

/* Returns how many launches of a kernel per step one side has outside of graphs, and the other side
** in graphs. */
static uint32_t goes_to_graphs(const struct kernel_runs *runs, const struct side_runs *sides,
                               int from)
{
    struct count_range alone[2], replayed[2];
    for (int i = 0; i < 2; i++)
        find_ranges(&sides[i], runs->first[i], runs->count[i], &alone[i], &replayed[i]);
    uint32_t left = surely_more(&alone[from], &alone[!from]);
    uint32_t came = surely_more(&replayed[!from], &replayed[from]);
    return left < came ? left : came;
}

/* Marks the kernels with such launches by name id, and returns the total of these launches per
** step. */
static uint32_t find_moved(bool *moved, const struct side_runs *sides, int from)
{
    struct kernel_runs runs = {.count = {0}};
    uint32_t sum = 0;
    while (next_kernel(&runs, sides)) {
        uint32_t own = goes_to_graphs(&runs, sides, from);
        moved[runs.kernel] = own > 0;
        sum += own;
    }
    return sum;
}

/* Counts in side->counts, by step, the operators around launches of moved kernels or, with
** `graphs`, the graph launches that run them. `seen` has room for each operator or graph launch. */
static void count_launches(const struct side_runs *side, const bool *moved, bool graphs, bool *seen)
{
    for (size_t i = 0; i < side->work_count; i++) {
        const struct device_run *run = &side->work[i];
        uint32_t of = graphs ? run->replay : run->around;
        if (!moved[run->kernel] || of >= (graphs ? side->replays : side->count) ||
            (!graphs && run->replay != REPLAY_NONE) || seen[of])
            continue;
        seen[of] = true;
        side->counts[graphs ? run->window : side->items[of].window]++;
    }
}

static int count_order(const void *a, const void *b)
{
    return COMPARE(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* Finds the range and the median of the counts of count_launches(). */
static bool measure_launches(const struct side_runs *side, const bool *moved, bool graphs,
                             struct count_range *range, double *median,
                             const struct stopper *stopper, struct failure *failure)
{
    uint32_t windows = side->windows;
    bool *seen = memory_zeroed(graphs ? side->replays : side->count, sizeof *seen);
    bool done = seen || failure_memory(failure);
    if (done)
        count_launches(side, moved, graphs, seen);
    done = done &&
           sort_items(side->counts, windows, sizeof *side->counts, count_order, stopper, failure);
    *range = (struct count_range){side->counts[0], side->counts[windows - 1]};
    *median = ((double)side->counts[(windows - 1) / 2] + (double)side->counts[windows / 2]) / 2;
    for (uint32_t i = 0; i < windows; i++)
        side->counts[i] = 0;
    memory_free(seen);
    return done;
}

bool given_work_to_graphs(struct graph_change *change, size_t names, const struct side_runs *sides,
                          const struct stopper *stopper, struct failure *failure)
{
    bool *moved = memory_zeroed(names + 1, sizeof *moved);
    bool done = moved || failure_memory(failure);
    *change = (struct graph_change){.operators = 0};
    for (int from = 0; done && from < 2; from++) {
        struct count_range own, other, launches;
        double median;
        uint32_t most = find_moved(moved, sides, from);
        if (most == 0)
            continue;
        done = measure_launches(&sides[from], moved, false, &own, &median, stopper, failure) &&
               measure_launches(&sides[!from], moved, false, &other, &median, stopper, failure) &&
               measure_launches(&sides[!from], moved, true, &launches, &median, stopper, failure);
        if (!done)
            break;
        uint32_t operators = surely_more(&own, &other);
        operators = operators < most ? operators : most;
        if (operators == change->operators)
            change->operators = 0;
        else if (operators > change->operators)
            *change =
                (struct graph_change){operators, from == 0, median, sides[!from].graph_api};
    }
    memory_free(moved);
    return done;
}

/* A launch of a kernel on one side, in a subject that changed. */
struct share {
    subject of;
    uint32_t kernel, side;
};

struct given_shares {
    struct share *items;
    size_t count, capacity;
};

static int share_order(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    int order = COMPARE(x->of, y->of);
    return order ? order : COMPARE(x->kernel, y->kernel);
}

static bool add_share(struct given_shares *shares, const bool *changed, subject of, uint32_t kernel,
                      uint32_t side)
{
    if (!changed[of])
        return true;
    if (!MEMORY_GROW(shares->items, shares->capacity, shares->count + 1))
        return false;
    shares->items[shares->count++] = (struct share){of, kernel, side};
    return true;
}

static bool add_shares(struct given_shares *shares, const bool *changed,
                       const struct side_runs *sides, const struct stopper *stopper,
                       struct failure *failure)
{
    bool done = true;
    for (uint32_t side = 0; side < 2; side++)
        for (size_t i = 0; done && i < sides[side].work_count; i++) {
            const struct device_run *run = &sides[side].work[i];
            const struct execution *items = sides[side].items;
            done = stopper_goes_on(stopper, i, failure);
            if (done && run->around == EXECUTION_NONE)
                done = add_share(shares, changed, 2 * run->kernel + 1, run->kernel, side) ||
                       failure_memory(failure);
            for (uint32_t at = run->around; done && at < sides[side].count; at = items[at].around)
                if (items[at].start + items[at].dur > run->launched)
                    done = add_share(shares, changed, items[at].of, run->kernel, side) ||
                           failure_memory(failure);
        }
    return done;
}

/* Sums of a kernel over all operators. */
struct kernel_sums {
    int64_t counts[2];
    int64_t mean; /* ns: mean duration on both sides */
    bool moved;   /* moved into graphs, or out of them */
};

static struct kernel_sums *sum_kernels(size_t names, const struct side_runs *sides)
{
    struct kernel_sums *sums = memory_zeroed(names + 1, sizeof *sums);
    struct kernel_runs runs = {.count = {0}};
    while (sums && next_kernel(&runs, sides)) {
        wide_time time = 0;
        for (int side = 0; side < 2; side++)
            for (size_t i = 0; i < runs.count[side]; i++)
                time += sides[side].work[runs.first[side] + i].dur;
        struct kernel_sums *own = &sums[runs.kernel];
        for (int side = 0; side < 2; side++)
            own->counts[side] = (int64_t)runs.count[side];
        own->mean = (int64_t)(time / (own->counts[0] + own->counts[1]));
        own->moved = goes_to_graphs(&runs, sides, 0) > 0 || goes_to_graphs(&runs, sides, 1) > 0;
    }
    return sums;
}

/* Returns how much more often something executes in test, times the steps of both sides. */
static wide_time more_often(const int64_t *counts, const struct side_runs *sides)
{
    return (wide_time)counts[1] * sides[0].windows - (wide_time)counts[0] * sides[1].windows;
}

bool given_work_leave_out(bool *changed, bool *in_graphs, size_t names,
                          const struct side_runs *sides, const struct stopper *stopper,
                          struct failure *failure)
{
    struct given_shares shares = {.items = NULL};
    struct kernel_sums *sums = sum_kernels(names, sides);
    bool done = (sums || failure_memory(failure)) &&
                add_shares(&shares, changed, sides, stopper, failure) &&
                sort_items(shares.items, shares.count, sizeof *shares.items, share_order, stopper,
                           failure);
    for (size_t i = 0; done && i < shares.count;) {
        wide_time all = 0, given = 0, graphs = 0;
        subject of = shares.items[i].of;
        while (i < shares.count && shares.items[i].of == of) {
            const struct kernel_sums *kernel = &sums[shares.items[i].kernel];
            int64_t counts[2] = {0, 0};
            for (size_t first = i; i < shares.count && shares.items[i].of == of &&
                                   shares.items[i].kernel == shares.items[first].kernel;
                 i++)
                counts[shares.items[i].side]++;
            wide_time own = more_often(counts, sides);
            wide_time others = more_often(kernel->counts, sides) - own, less = wide_size(own);
            less = wide_size(others) < less ? wide_size(others) : less;
            all += wide_size(own) * kernel->mean;
            given += (own < 0) != (others < 0) ? less * kernel->mean : 0;
            graphs += (own < 0) != (others < 0) && kernel->moved ? less * kernel->mean : 0;
        }
        changed[of] = all == 0 || (double)given < GIVEN_PART * (double)all;
        in_graphs[of] = all > 0 && (double)graphs >= GIVEN_PART * (double)all;
    }
    memory_free(shares.items);
    memory_free(sums);
    return done;
}
