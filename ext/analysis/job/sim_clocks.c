#include "sim_clocks.h"

#include "base/memory.h"

/* a window of one rank */
struct rank_window {
    int64_t iteration;
    uint32_t rank, window;
};

static int window_order(const void *a, const void *b)
{
    const struct rank_window *x = a, *y = b;
    int order = COMPARE(x->iteration, y->iteration);
    order = order ? order : COMPARE(x->rank, y->rank);
    return order ? order : COMPARE(x->window, y->window);
}

/* Lists the windows of all ranks by step. NULL on failure. */
static struct rank_window *list_windows(const struct job *job, size_t *count,
                                        struct failure *failure)
{
    *count = 0;
    for (size_t r = 0; r < job->rank_count; r++)
        *count += job->ranks[r].window_count;
    struct rank_window *items = memory_zeroed(*count, sizeof *items), *next = items;
    if (!items) {
        failure_memory(failure);
        return NULL;
    }
    for (size_t r = 0; r < job->rank_count; r++)
        for (size_t i = 0; i < job->ranks[r].window_count; i++)
            *next++ = (struct rank_window){job->ranks[r].windows[i].window.iteration, (uint32_t)r,
                                           (uint32_t)i};
    if (sort_items(items, *count, sizeof *items, window_order, job->stopper, failure))
        return items;
    memory_free(items);
    return NULL;
}

static int64_t clamp(wide_time time)
{
    return time > INT64_MAX ? INT64_MAX : time < INT64_MIN ? INT64_MIN : (int64_t)time;
}

/* Makes a clock's times ascend, and lets its first piece begin before all events. */
static void finish_clock(struct sim_clock *clock)
{
    struct sim_piece *pieces = clock->pieces;
    if (clock->count == 0)
        pieces[clock->count++].offset = 0;
    pieces[0].start = pieces[0].least = INT64_MIN;
    for (size_t i = 1; i < clock->count; i++) {
        int64_t least = clamp((wide_time)pieces[i].start - pieces[i - 1].offset);
        pieces[i].least = least > pieces[i - 1].least ? least : pieces[i - 1].least;
    }
}

static int64_t step_of_match(const struct job *job, size_t match)
{
    const struct job_member *member = &job->members[job->matches[match].first];
    return job->ranks[member->rank].collectives[member->collective].step;
}

/* the windows and matches of one step */
struct clock_step {
    int64_t step;
    const struct rank_window *windows;
    size_t window_count, first_match, match_count;
};

static int64_t offset_of(const struct job_clocks *found, size_t rank)
{
    int64_t offset = job_clocks_offset(found, rank);
    return offset == NUMBER_NONE ? 0 : offset;
}

/* Copies the offsets that were found to the windows and matches of a step. */
static void take_offsets(struct sim_clocks *clocks, const struct job_clocks *found,
                         const struct clock_step *of)
{
    const struct job *job = found->job;
    for (size_t i = 0; i < of->window_count; i++)
        clocks->ranks[of->windows[i].rank].pieces[of->windows[i].window].offset =
            offset_of(found, of->windows[i].rank);
    for (size_t i = of->first_match; i < of->first_match + of->match_count; i++) {
        const struct job_match *match = &job->matches[i];
        for (size_t m = match->first; m < match->first + match->count; m++)
            clocks->offsets[m] = offset_of(found, job->members[m].rank);
    }
}

bool sim_clocks_meet(const struct sim_clocks *clocks, const struct job *job, size_t number)
{
    const struct job_match *match = &job->matches[number];
    wide_time latest = 0, earliest = 0;
    for (size_t m = match->first; m < match->first + match->count; m++) {
        const struct job_collective *of =
            &job->ranks[job->members[m].rank].collectives[job->members[m].collective];
        wide_time start = (wide_time)of->start - clocks->offsets[m];
        wide_time end = (wide_time)of->end - clocks->offsets[m];
        latest = m == match->first || start > latest ? start : latest;
        earliest = m == match->first || end < earliest ? end : earliest;
    }
    return latest <= earliest;
}

/* Counts a step's collectives in which all ranks wait for all, but that have no common instant. */
static size_t count_apart(const struct sim_clocks *clocks, const struct job *job,
                          const struct clock_step *of)
{
    size_t count = 0;
    for (size_t i = of->first_match; i < of->first_match + of->match_count; i++)
        count += job->matches[i].by_all && !sim_clocks_meet(clocks, job, i);
    return count;
}

/* Finds the offsets of a step: its own, or the offsets over all steps if these leave fewer
** collectives without a common instant. */
static bool find_step(struct sim_clocks *clocks, struct job_clocks *found,
                      const struct clock_step *of, struct failure *failure)
{
    if (!job_clocks_find(found, of->step, failure))
        return false;
    take_offsets(clocks, found, of);
    size_t apart = count_apart(clocks, found->job, of);
    if (apart == 0)
        return true;
    if (!job_clocks_find_all(found, failure))
        return false;
    take_offsets(clocks, found, of);
    if (count_apart(clocks, found->job, of) < apart)
        return true;
    if (!job_clocks_find(found, of->step, failure))
        return false;
    take_offsets(clocks, found, of);
    return true;
}

static bool find_offsets(struct sim_clocks *clocks, const struct job *job,
                         const struct rank_window *windows, size_t window_count,
                         struct failure *failure)
{
    struct job_clocks found;
    size_t count = 0, window = 0, match = 0;
    bool done = job_clocks_make(&found, job, failure);
    if (!done)
        return false;
    while (done && (window < window_count || match < job->match_count)) {
        bool has_window = window < window_count, has_match = match < job->match_count;
        int64_t step = has_window ? windows[window].iteration : step_of_match(job, match);
        if (has_match && step_of_match(job, match) < step)
            step = step_of_match(job, match);
        struct clock_step of = {step, windows + window, 0, match, 0};
        for (; window < window_count && windows[window].iteration == step; window++)
            of.window_count++;
        for (; match < job->match_count && step_of_match(job, match) == step; match++)
            of.match_count++;
        done = find_step(clocks, &found, &of, failure) &&
               stopper_goes_on(job->stopper, count++, failure);
    }
    job_clocks_clear(&found);
    return done;
}

bool sim_clocks_make(struct sim_clocks *clocks, const struct job *job, struct failure *failure)
{
    size_t count;
    *clocks = (struct sim_clocks){.count = job->rank_count};
    struct rank_window *windows = list_windows(job, &count, failure);
    clocks->ranks = memory_zeroed(job->rank_count, sizeof *clocks->ranks);
    clocks->offsets = memory_zeroed(job->member_count, sizeof *clocks->offsets);
    bool done = windows && ((clocks->ranks && clocks->offsets) || failure_memory(failure));
    for (size_t r = 0; done && r < job->rank_count; r++) {
        const struct job_rank *rank = &job->ranks[r];
        struct sim_clock *clock = &clocks->ranks[r];
        clock->pieces = memory_zeroed(rank->window_count + 1, sizeof *clock->pieces);
        done = clock->pieces || failure_memory(failure);
        for (; done && job->rank_count > 1 && clock->count < rank->window_count; clock->count++)
            clock->pieces[clock->count].start = rank->windows[clock->count].window.start;
    }
    if (done && job->rank_count > 1)
        done = find_offsets(clocks, job, windows, count, failure);
    for (size_t r = 0; done && r < job->rank_count; r++)
        finish_clock(&clocks->ranks[r]);
    memory_free(windows);
    if (!done)
        sim_clocks_clear(clocks);
    return done;
}

int64_t sim_clock_time(const struct sim_clock *clock, int64_t own)
{
    size_t i = 1;
    if (clock->count == 1 && clock->pieces->offset == 0) /* a job with one rank */
        return own;
    LOWER_BOUND(i, clock->count, clock->pieces[i].start <= own);
    const struct sim_piece *piece = &clock->pieces[i - 1];
    int64_t time = clamp((wide_time)own - piece->offset);
    return time > piece->least ? time : piece->least;
}

void sim_clocks_clear(struct sim_clocks *clocks)
{
    for (size_t r = 0; clocks->ranks && r < clocks->count; r++)
        memory_free(clocks->ranks[r].pieces);
    memory_free(clocks->ranks);
    memory_free(clocks->offsets);
    *clocks = (struct sim_clocks){.count = 0};
}
