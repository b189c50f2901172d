#include "job_clocks.h"

#include <string.h>

#include "base/memory.h"

/* difference between the ends of one collective on the clocks of two ranks */
struct clock_sample {
    wide_time later; /* ns: end on `rank` minus end on the rank that the search comes from */
    uint32_t rank;
};

bool job_clocks_make(struct job_clocks *clocks, const struct job *job, struct failure *failure)
{
    size_t ranks = job->rank_count;
    *clocks = (struct job_clocks){.job = job};
    clocks->offset = memory_zeroed(ranks, sizeof *clocks->offset);
    clocks->of_all = memory_zeroed(ranks, sizeof *clocks->of_all);
    clocks->other = memory_zeroed(ranks, sizeof *clocks->other);
    clocks->tied = memory_zeroed(ranks, sizeof *clocks->tied);
    clocks->tied_of_all = memory_zeroed(ranks, sizeof *clocks->tied_of_all);
    clocks->tied_by_other = memory_zeroed(ranks, sizeof *clocks->tied_by_other);
    clocks->queue = memory_zeroed(ranks, sizeof *clocks->queue);
    clocks->met = memory_zeroed(job->match_count, sizeof *clocks->met);
    if (clocks->offset && clocks->of_all && clocks->other && clocks->tied && clocks->tied_of_all &&
        clocks->tied_by_other && clocks->queue && clocks->met)
        return true;
    job_clocks_clear(clocks);
    return failure_memory(failure);
}

static int sample_order(const void *a, const void *b)
{
    const struct clock_sample *x = a, *y = b;
    int order = COMPARE(x->rank, y->rank);
    return order ? order : COMPARE(x->later, y->later);
}

/* Adds samples for untied ranks from the matched collectives of rank `from`. A search meets every
** match once, because afterwards all its ranks are tied. */
static bool add_samples(struct job_clocks *clocks, uint32_t from, const int64_t *step, bool by_all,
                        const bool *tied, size_t *count, struct failure *failure)
{
    const struct job *job = clocks->job;
    const struct job_rank *rank = &job->ranks[from];
    size_t i = 0;
    *count = 0;
    if (step)
        LOWER_BOUND(i, rank->collective_count,
                    !rank->collectives[rank->by_step[i]].outside &&
                        rank->collectives[rank->by_step[i]].step < *step);
    for (; i < rank->collective_count; i++) {
        const struct job_collective *own = &rank->collectives[rank->by_step[i]];
        if (own->outside || (step && own->step != *step))
            break;
        if (own->match == JOB_NONE || clocks->met[own->match] == clocks->search ||
            (by_all && !job->matches[own->match].by_all) ||
            (own->on_host && rank->host_first > 0)) /* Q10.6 */
            continue;
        const struct job_match *match = &job->matches[own->match];
        clocks->met[own->match] = clocks->search;
        if (!MEMORY_GROW(clocks->samples, clocks->sample_capacity, *count + match->count))
            return failure_memory(failure);
        for (size_t m = match->first; m < match->first + match->count; m++) {
            const struct job_member *member = &job->members[m];
            int64_t end = job->ranks[member->rank].collectives[member->collective].end;
            if (!stopper_goes_on(job->stopper, m, failure))
                return false;
            if (!tied[member->rank])
                clocks->samples[(*count)++] =
                    (struct clock_sample){(wide_time)end - own->end, member->rank};
        }
    }
    return true;
}

/* Finds offsets from the matches of one step, or of all steps if `step` is NULL (Q3.1, Q3.2). */
static bool search(struct job_clocks *clocks, const int64_t *step, bool by_all, wide_time *offset,
                   bool *tied, struct failure *failure)
{
    size_t first = 0, found = 1;
    memset(tied, 0, clocks->job->rank_count * sizeof *tied);
    clocks->search++;
    clocks->queue[0] = 0;
    offset[0] = 0;
    tied[0] = true;
    while (first < found) {
        uint32_t from = clocks->queue[first++];
        size_t count;
        if (!add_samples(clocks, from, step, by_all, tied, &count, failure) ||
            !sort_items(clocks->samples, count, sizeof *clocks->samples, sample_order,
                        clocks->job->stopper, failure))
            return false;
        for (size_t i = 0, next; i < count; i = next) {
            uint32_t rank = clocks->samples[i].rank;
            for (next = i + 1; next < count && clocks->samples[next].rank == rank;)
                next++;
            offset[rank] = offset[from] + clocks->samples[i + (next - i - 1) / 2].later;
            tied[rank] = true;
            clocks->queue[found++] = rank;
        }
    }
    return true;
}

/* Copies another search's offsets to untied ranks. Returns whether all ranks are tied now. */
static bool fill_in(const struct job_clocks *clocks, wide_time *offset, bool *tied,
                    const wide_time *other, const bool *tied_by_other)
{
    bool all = true;
    for (size_t r = 0; r < clocks->job->rank_count; r++) {
        if (!tied[r] && tied_by_other[r]) {
            offset[r] = other[r];
            tied[r] = true;
        }
        all = all && tied[r];
    }
    return all;
}

/* Runs both searches of Q3.3, over one step or all. Sets `*all` if every rank is tied. */
static bool search_both(struct job_clocks *clocks, const int64_t *step, wide_time *offset,
                        bool *tied, bool *all, struct failure *failure)
{
    if (!search(clocks, step, true, offset, tied, failure))
        return false;
    *all = fill_in(clocks, offset, tied, offset, tied);
    if (*all)
        return true;
    if (!search(clocks, step, false, clocks->other, clocks->tied_by_other, failure))
        return false;
    *all = fill_in(clocks, offset, tied, clocks->other, clocks->tied_by_other);
    return true;
}

/* Finds the offsets over all steps, on first use. */
static bool find_all(struct job_clocks *clocks, struct failure *failure)
{
    bool all;
    if (!clocks->has_all &&
        !search_both(clocks, NULL, clocks->of_all, clocks->tied_of_all, &all, failure))
        return false;
    clocks->has_all = true;
    return true;
}

bool job_clocks_find(struct job_clocks *clocks, int64_t step, struct failure *failure)
{
    bool all;
    if (!search_both(clocks, &step, clocks->offset, clocks->tied, &all, failure))
        return false;
    if (all)
        return true;
    if (!find_all(clocks, failure))
        return false;
    fill_in(clocks, clocks->offset, clocks->tied, clocks->of_all, clocks->tied_of_all);
    return true;
}

bool job_clocks_find_all(struct job_clocks *clocks, struct failure *failure)
{
    size_t ranks = clocks->job->rank_count;
    if (!find_all(clocks, failure))
        return false;
    memcpy(clocks->offset, clocks->of_all, ranks * sizeof *clocks->offset);
    memcpy(clocks->tied, clocks->tied_of_all, ranks * sizeof *clocks->tied);
    return true;
}

int64_t job_clocks_offset(const struct job_clocks *clocks, size_t rank)
{
    wide_time offset = clocks->offset[rank];
    bool told = clocks->tied[rank] && offset >= -INT64_MAX && offset <= INT64_MAX;
    return told ? (int64_t)offset : NUMBER_NONE;
}

void job_clocks_clear(struct job_clocks *clocks)
{
    memory_free(clocks->offset);
    memory_free(clocks->of_all);
    memory_free(clocks->other);
    memory_free(clocks->tied);
    memory_free(clocks->tied_of_all);
    memory_free(clocks->tied_by_other);
    memory_free(clocks->queue);
    memory_free(clocks->met);
    memory_free(clocks->samples);
    *clocks = (struct job_clocks){.job = NULL};
}

bool job_untied(const struct trace *trace, bool device_clock, int64_t *ranks, int64_t *untied,
                const struct stopper *stopper, struct failure *failure)
{
    struct job job = {.match_count = 0};
    struct job_clocks clocks = {.job = NULL};
    *ranks = *untied = 0;
    if (!trace_reference(trace))
        return true;
    bool done = job_make(&job, trace, device_clock, false, stopper, failure) &&
                job_clocks_make(&clocks, &job, failure) && job_clocks_find_all(&clocks, failure);
    for (size_t i = 0; done && i < job.rank_count; i++)
        *untied += !clocks.tied[i];
    *ranks = (int64_t)job.rank_count;
    job_clocks_clear(&clocks);
    job_clear(&job);
    return done;
}
