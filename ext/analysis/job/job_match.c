#include "job_match.h"

#include "base/memory.h"

/* a collective with the keys that it is matched by */
struct match_candidate {
    int64_t step, replica;
    uint32_t group, ranks, seq;
    struct job_member member;
};

/* Returns the index in `by_step` of the first collective outside of steps. These never match. */
static size_t inside_count(const struct job_rank *rank)
{
    size_t count = 0;
    LOWER_BOUND(count, rank->collective_count, !rank->collectives[rank->by_step[count]].outside);
    return count;
}

static int group_order(const void *a, const void *b)
{
    const struct match_candidate *x = a, *y = b;
    int order = COMPARE(x->step, y->step);
    order = order ? order : COMPARE(x->replica, y->replica);
    order = order ? order : COMPARE(x->group, y->group);
    return order ? order : COMPARE(x->ranks, y->ranks);
}

static int candidate_order(const void *a, const void *b)
{
    const struct match_candidate *x = a, *y = b;
    int order = group_order(a, b);
    order = order ? order : COMPARE(x->seq, y->seq);
    return order ? order : COMPARE(x->member.rank, y->member.rank);
}

/* Adds a match of `count` candidates with the same seq. */
static void add_match(struct job *job, const struct match_candidate *items, size_t count)
{
    struct job_match *match = &job->matches[job->match_count];
    *match = (struct job_match){job->member_count, (uint32_t)count, false};
    for (size_t i = 0; i < count; i++) {
        const struct job_member *member = &items[i].member;
        struct job_collective *collective =
            &job->ranks[member->rank].collectives[member->collective];
        collective->match = (uint32_t)job->match_count;
        match->by_all = i == 0 ? collective->by_all : match->by_all;
        job->members[job->member_count++] = *member;
    }
    job->match_count++;
}

/* Adds the matches of one group in one step, unless ranks have unequal numbers of them (Q2.3). */
static void match_group(struct job *job, const struct match_candidate *items, size_t count)
{
    size_t ranks = 0, like_first = 0;
    while (ranks < count && items[ranks].seq == 0)
        ranks++;
    while (like_first < count && items[like_first].seq == like_first / ranks &&
           items[like_first].member.rank == items[like_first % ranks].member.rank)
        like_first++;
    if (like_first < count || count % ranks != 0) {
        job->not_matched += count;
        job->unequal += count;
        return;
    }
    for (size_t i = 0; i < count; i += ranks)
        add_match(job, items + i, ranks);
}

static bool match_candidates(struct job *job, struct match_candidate *items, size_t count,
                             struct failure *failure)
{
    job->members = memory_items(count, sizeof *job->members);
    job->matches = memory_items(count, sizeof *job->matches);
    if (!job->members || !job->matches)
        return failure_memory(failure);
    if (!sort_items(items, count, sizeof *items, candidate_order, job->stopper, failure))
        return false;
    for (size_t first = 0, next = 0; first < count; first = next) {
        while (next < count && group_order(&items[first], &items[next]) == 0)
            if (!stopper_goes_on(job->stopper, next++, failure))
                return false;
        match_group(job, items + first, next - first);
    }
    return true;
}

bool job_match(struct job *job, struct failure *failure)
{
    size_t count = 0, used = 0;
    for (size_t r = 0; r < job->rank_count; r++)
        count += inside_count(&job->ranks[r]);
    struct match_candidate *items = memory_zeroed(count, sizeof *items);
    if (!items)
        return failure_memory(failure);
    for (size_t r = 0; r < job->rank_count; r++) {
        const struct job_rank *rank = &job->ranks[r];
        size_t inside = inside_count(rank);
        for (size_t i = 0; i < inside; i++) {
            const struct job_collective *collective = &rank->collectives[rank->by_step[i]];
            items[used++] = (struct match_candidate){collective->step,
                                                     rank->replica,
                                                     collective->group,
                                                     collective->ranks,
                                                     collective->seq,
                                                     {(uint32_t)r, rank->by_step[i]}};
        }
        job->not_matched += rank->collective_count - inside;
    }
    bool done = match_candidates(job, items, count, failure);
    memory_free(items);
    return done;
}

bool job_make(struct job *job, const struct trace *trace, bool device_clock, bool always,
              const struct stopper *stopper, struct failure *failure)
{
    const struct trace_member *reference = trace_reference(trace);
    size_t count = 0;
    *job = (struct job){.trace = trace, .stopper = stopper};
    job->ranks = memory_zeroed(trace->rank_count, sizeof *job->ranks);
    size_t *members = memory_zeroed(trace->rank_count, sizeof *members);
    int64_t *replicas = memory_zeroed(trace->rank_count, sizeof *replicas);
    bool done = (job->ranks && members && replicas) || failure_memory(failure);
    for (size_t i = 0; done && i < trace->count; i++) { /* Q1.2 */
        const struct trace_member *member = &trace->members[i];
        if (member->chosen && (member->steps->count > 0) == (reference->steps->count > 0))
            count += members[member->rank_index]++ == 0;
        replicas[member->rank_index] = member->replica;
    }
    for (size_t r = 0; done && r < trace->rank_count; r++) {
        if (members[r] == 0)
            continue;
        done = job_rank_make(&job->ranks[job->rank_count], trace, r, device_clock,
                             count == 1 && !always, &job->texts, stopper, failure);
        job->ranks[job->rank_count].replica = replicas[r];
        job->rank_count += done;
    }
    memory_free(members);
    memory_free(replicas);
    done = done && job_match(job, failure);
    if (!done)
        job_clear(job);
    return done;
}

int64_t *job_list_steps(const struct job *job, const struct step_choice *choice, size_t *count)
{
    bool everything = !choice || choice->everything;
    const struct job_rank *reference = job->ranks;
    size_t windows = job->rank_count > 0 ? reference->window_count : 0, most = windows + 1;
    for (size_t r = 0; r < job->rank_count; r++)
        most += job->ranks[r].collective_count;
    int64_t *steps = memory_zeroed(most, sizeof *steps);
    *count = 0;
    for (size_t i = 0; steps && i < windows; i++) {
        const struct job_window *of = &reference->windows[i];
        if (everything || choice->chosen[of->member][of->window.step])
            steps[(*count)++] = of->window.iteration;
    }
    if (!steps || !everything || job->rank_count == 0)
        return steps;
    steps[(*count)++] = NUMBER_NONE;
    for (size_t r = 0; r < job->rank_count; r++)
        for (size_t i = 0; i < job->ranks[r].collective_count; i++)
            steps[(*count)++] = job->ranks[r].collectives[i].step;
    *count = sort_integers(steps, *count);
    return steps;
}

void job_clear(struct job *job)
{
    for (size_t r = 0; job->ranks && r < job->rank_count; r++)
        job_rank_clear(&job->ranks[r]);
    memory_free(job->ranks);
    memory_free(job->members);
    memory_free(job->matches);
    names_clear(&job->texts);
    *job = (struct job){.trace = NULL};
}
