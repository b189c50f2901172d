#include "job_schedule.h"

#include <string.h>

#include "base/memory.h"

/* a collective on one rank */
struct job_event {
    uint32_t rank, collective;
};

static const struct job_event no_event = {JOB_NONE, JOB_NONE};

struct job_walk {
    const struct job *job;
    struct job_clocks clocks;
    struct job_schedule *to;
    struct failure *failure;
    uint32_t window;      /* index of the reference's window */
    uint32_t rank;        /* current rank of the path */
    int64_t at;           /* current time, on the clock of the reference */
    struct job_event why; /* collective in which the previous rank waited for this one */
    uint64_t *visited;    /* by rank: the last visit of an instant there (Q5.5) */
    uint64_t visit;       /* number of the current instant */
    size_t steps;         /* for the stopper */
};

static const struct job_collective *collective_of(const struct job_walk *walk,
                                                  struct job_event event)
{
    return &walk->job->ranks[event.rank].collectives[event.collective];
}

/* Converts a rank's own time to the clock of the reference. */
static wide_time shared(const struct job_walk *walk, uint32_t rank, int64_t own)
{
    return own - walk->clocks.offset[rank];
}

/* Moves back in time on the same rank, to the start of the window at most. */
static bool stay(struct job_walk *walk, wide_time until, uint32_t queued)
{
    struct job_schedule *to = walk->to;
    int64_t start = walk->job->ranks[0].windows[walk->window].window.start;
    if (until >= walk->at || start >= walk->at)
        return true;
    start = until > start ? (int64_t)until : start;
    struct job_stretch *last = to->count > 0 ? &to->items[to->count - 1] : NULL;
    bool same = last && last->window == walk->window && last->rank == walk->rank &&
                last->start == walk->at && last->queued == queued && queued == JOB_NONE &&
                walk->why.rank == JOB_NONE;
    if (!same && !MEMORY_GROW(to->items, to->capacity, to->count + 1))
        return failure_memory(walk->failure);
    if (!same)
        to->items[to->count++] = (struct job_stretch){.end = walk->at,
                                                      .rank = walk->rank,
                                                      .window = walk->window,
                                                      .queued = queued,
                                                      .waiting = walk->why.rank,
                                                      .awaited = walk->why.collective};
    last = &to->items[to->count - 1];
    last->start = start;
    last->own_start = (int64_t)(start + walk->clocks.offset[walk->rank]);
    walk->at = start;
    walk->why = no_event;
    walk->visited[walk->rank] = ++walk->visit;
    return true;
}

/* Moves to another rank at the same instant. */
static void hop(struct job_walk *walk, uint32_t rank, struct job_event why)
{
    walk->rank = rank;
    walk->why = why;
    walk->visited[rank] = walk->visit;
}

/* Finds the collective that ends with a chain and started before an instant. Among several, the
** last to start counts (Q5.2). */
static bool ends_with_chain(struct job_walk *walk, const struct job_chain *chain, int64_t at,
                          struct job_event *event)
{
    const struct job_rank *rank = &walk->job->ranks[walk->rank];
    const struct job_collective *found = NULL;
    wide_time earliest = (wide_time)chain->end - JOB_SLACK;
    wide_time latest = (wide_time)chain->end + JOB_ROUNDING;
    size_t i = 0;
    LOWER_BOUND(i, rank->host_first, rank->collectives[rank->by_end[i]].end < earliest);
    *event = no_event;
    for (; i < rank->host_first; i++) {
        const struct job_collective *collective = &rank->collectives[rank->by_end[i]];
        if (collective->end > latest)
            break;
        if (!stopper_goes_on(walk->job->stopper, walk->steps++, walk->failure))
            return false;
        if (collective->start >= at || (found && collective->start < found->start))
            continue;
        found = collective;
        *event = (struct job_event){walk->rank, rank->by_end[i]};
    }
    return true;
}

/* Returns whether the rank waits for the owner of a part: another collective is queued behind it,
** or another chain ends with it (Q5.2). */
static bool is_awaited(const struct job_rank *rank, const struct job_part *part)
{
    const struct job_chain *chain = &rank->chains[part->chain];
    wide_time end = rank->collectives[part->owner].end;
    size_t i = 0;
    if (rank->collectives[part->owner].followed)
        return true;
    if ((wide_time)chain->end - chain->start <= JOB_SLACK)
        return false;
    LOWER_BOUND(i, rank->chain_count, rank->chains[i].end < end - JOB_ROUNDING);
    i += i == part->chain;
    return i < rank->chain_count && rank->chains[i].end - end <= JOB_SLACK;
}

/* Finds the last rank to start a collective before it ended on the rank of `event`. JOB_NONE: it is
** not matched, or no rank did. `*when` is the start on the clock of the reference. */
static uint32_t last_to_start(const struct job_walk *walk, struct job_event event, wide_time *when,
                              struct job_event *its)
{
    const struct job *job = walk->job;
    const struct job_collective *collective = collective_of(walk, event);
    uint32_t last = JOB_NONE;
    if (collective->match == JOB_NONE)
        return last;
    const struct job_match *match = &job->matches[collective->match];
    wide_time end = shared(walk, event.rank, collective->end);
    bool any = collective->on_host && match->by_all; /* Q10.5 */
    for (size_t i = match->first; i < match->first + match->count; i++) {
        const struct job_member *member = &job->members[i];
        struct job_event other = {member->rank, member->collective};
        wide_time start = shared(walk, member->rank, collective_of(walk, other)->start);
        if (!walk->clocks.tied[member->rank] || (start >= end && !any) ||
            (last != JOB_NONE && start <= *when))
            continue;
        last = member->rank;
        *when = start;
        *its = other;
    }
    return last;
}

/* Follows the queue (Q5.4): while the collective that led the path to a rank was queued behind
** another one, the path goes on with that one. */
static bool follow_queue(struct job_walk *walk, struct job_event on)
{
    for (;;) {
        uint32_t before = collective_of(walk, on)->before;
        struct job_event queue = {on.rank, before}, its;
        wide_time when;
        if (before == JOB_NONE)
            return true;
        uint32_t last = last_to_start(walk, queue, &when, &its);
        if (last == JOB_NONE ||
            (when >= walk->at && last != walk->rank && walk->visited[last] == walk->visit))
            return true;
        if (!stopper_goes_on(walk->job->stopper, walk->steps++, walk->failure) ||
            !stay(walk, when, before))
            return false;
        if (walk->at > when)
            return true; /* `when` is before the window */
        if (last != walk->rank)
            hop(walk, last, queue);
        on = its;
    }
}

/* Handles a part of class comm (Q5.2): moves back through it, or to the rank that it waits for. */
static bool pass_part(struct job_walk *walk, const struct job_part *part, int64_t own)
{
    const struct job_rank *rank = &walk->job->ranks[walk->rank];
    struct job_event awaited, its;
    wide_time when, begin = shared(walk, walk->rank, part->start);
    if (!ends_with_chain(walk, &rank->chains[part->chain], own, &awaited))
        return false;
    if (awaited.rank == JOB_NONE ? is_awaited(rank, part)
                                 : collective_of(walk, awaited)->before == part->owner)
        awaited = (struct job_event){walk->rank, part->owner};
    uint32_t last = awaited.rank == JOB_NONE ? JOB_NONE : last_to_start(walk, awaited, &when, &its);
    if (last == JOB_NONE || last == walk->rank || when < begin ||
        (when >= walk->at && walk->visited[last] == walk->visit))
        return stay(walk, begin, JOB_NONE);
    if (!stay(walk, when, JOB_NONE))
        return false;
    if (walk->at > when)
        return true; /* `when` is before the window */
    hop(walk, last, awaited);
    return follow_queue(walk, its);
}

/* Handles a wait (Q10.5): moves back through it, through the transfer that the thread waits for, or
** to the rank that is late to it. */
static bool pass_wait(struct job_walk *walk, const struct job_part *wait, int64_t own)
{
    const struct job_rank *rank = &walk->job->ranks[walk->rank];
    struct job_event awaited, its;
    wide_time when, begin = shared(walk, walk->rank, wait->start);
    if (!job_rank_awaited(rank, wait, own, &walk->steps, &awaited.collective, walk->job->stopper,
                          walk->failure))
        return false;
    awaited.rank = awaited.collective == JOB_NONE ? JOB_NONE : walk->rank;
    uint32_t last = awaited.rank == JOB_NONE ? JOB_NONE : last_to_start(walk, awaited, &when, &its);
    if (last == JOB_NONE || (when >= walk->at && walk->visited[last] == walk->visit))
        return stay(walk, begin, JOB_NONE);
    wide_time until = when > begin ? when : begin;
    wide_time end = shared(walk, walk->rank, collective_of(walk, awaited)->end);
    if (!stay(walk, end > until ? end : until, JOB_NONE) || !stay(walk, until, awaited.collective))
        return false;
    if (walk->at <= when && last != walk->rank)
        hop(walk, last, awaited);
    return true;
}

/* Moves the path back from the current point, inside the reference's window. */
static bool pass(struct job_walk *walk)
{
    const struct job_rank *rank = &walk->job->ranks[walk->rank];
    wide_time own = walk->at + walk->clocks.offset[walk->rank];
    int64_t from = INT64_MIN;
    uint32_t window =
        own > INT64_MIN && own <= INT64_MAX ? job_rank_window(rank, (int64_t)own, &from) : JOB_NONE;
    if (window == JOB_NONE) { /* Q5.6 */
        uint32_t between = walk->rank;
        hop(walk, 0, no_event);
        if (from == INT64_MIN)
            return true;
        if (!stay(walk, shared(walk, between, from), JOB_NONE))
            return false;
        hop(walk, between, no_event);
        return true;
    }
    size_t before = job_rank_parts(rank, (int64_t)own);
    const struct job_part *part = before > 0 ? &rank->parts[before - 1] : NULL;
    if (part && part->end >= own)
        return part->owner == JOB_NONE ? pass_wait(walk, part, (int64_t)own)
                                       : pass_part(walk, part, (int64_t)own);
    if (part && part->end > from)
        from = part->end;
    return stay(walk, shared(walk, walk->rank, from), JOB_NONE);
}

/* Walks back through one window of the reference. */
static bool walk_window(struct job_walk *walk)
{
    const struct window *window = &walk->job->ranks[0].windows[walk->window].window;
    if (window->end <= window->start)
        return true;
    if (walk->at != window->end) {
        walk->at = window->end;
        walk->visited[walk->rank] = ++walk->visit;
    }
    if (!job_clocks_find(&walk->clocks, window->iteration, walk->failure))
        return false;
    while (walk->at > window->start)
        if (!stopper_goes_on(walk->job->stopper, walk->steps++, walk->failure) || !pass(walk))
            return false;
    return true;
}

bool job_schedule_make(struct job_schedule *schedule, const struct job *job,
                       struct failure *failure)
{
    struct job_walk walk = {.job = job, .to = schedule, .failure = failure, .why = no_event};
    *schedule = (struct job_schedule){.count = 0};
    walk.visited = memory_zeroed(job->rank_count, sizeof *walk.visited);
    bool done =
        walk.visited ? job_clocks_make(&walk.clocks, job, failure) : failure_memory(failure);
    if (done)
        walk.visited[0] = walk.visit = 1;
    size_t windows = job->rank_count > 0 ? job->ranks[0].window_count : 0;
    for (size_t i = windows; done && i-- > 0;) {
        walk.window = (uint32_t)i;
        done = walk_window(&walk);
    }
    for (size_t r = 0; done && walk.clocks.search > 0 && r < job->rank_count; r++)
        schedule->not_tied += !walk.clocks.tied[r];
    job_clocks_clear(&walk.clocks);
    memory_free(walk.visited);
    if (!done)
        job_schedule_clear(schedule);
    return done;
}

bool job_stretch_piece(const struct job *job, const struct job_stretch *stretch,
                       struct job_piece *piece)
{
    const struct job_rank *rank = &job->ranks[stretch->rank];
    const struct job_window *window = rank->windows;
    int64_t from = stretch->own_start, since = from;
    int64_t to = piece->window ? piece->start : from + (stretch->end - stretch->start);
    if (to <= from)
        return false;
    if (stretch->queued != JOB_NONE) {
        while (window->member != rank->collectives[stretch->queued].member)
            window++; /* found: the collective's file has a window */
    } else if (stretch->rank == 0) {
        window += stretch->window;
    } else {
        window += job_rank_window(rank, to, &since);
    }
    *piece = (struct job_piece){window, since > from ? since : from, to};
    return true;
}

void job_schedule_clear(struct job_schedule *schedule)
{
    memory_free(schedule->items);
    *schedule = (struct job_schedule){.count = 0};
}
