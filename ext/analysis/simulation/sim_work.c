#include "sim_work.h"

#include "base/memory.h"
#include "base/wide.h"
#include "file/kernel_type.h"
#include "analysis/parts/busy.h"

enum {
    LEAST_LATENCY = 5000, /* ns, if a file shows none (E3.2) */
    LEAST_GAP = 1000,     /* ns, if a file shows none (E3.3) */
    MOST_GAP = 2000,
    OWN_WAIT = 10000 /* ns: a wait within this time of a collective's launch belongs to it (E6.4) */
};

static const struct path_work *work_at(const struct sim_work *work, size_t i)
{
    return &work->path.work[i];
}

static bool find_before(struct sim_work *work)
{
    size_t count = work->path.work_count;
    work->before = memory_filled(count, sizeof *work->before);
    if (!work->before)
        return failure_memory(work->failure);
    for (size_t i = 0; i < count; i++) {
        size_t before = path_work_before(&work->path, work_at(work, i));
        if (before != WORK_NONE)
            work->before[i] = (uint32_t)before;
        if (!stopper_goes_on(work->stopper, i, work->failure))
            return false;
    }
    return true;
}

/* Finds the lower 10th percentile of times (E3.4); `otherwise` if there are none. */
static bool find_tenth(struct sim_work *work, int64_t *times, size_t count, int64_t otherwise,
                       int64_t *tenth)
{
    *tenth = otherwise;
    if (count == 0)
        return true;
    bool done = sort_numbered(times, count, sizeof *times, work->stopper, work->failure);
    *tenth = times[count / 10];
    return done;
}

static int64_t shorter_of(wide_time time, int64_t most)
{
    return time < most ? (int64_t)time : most;
}

/* Finds the floors of launches and gaps (E3.2, E3.3). */
static bool find_floors(struct sim_work *work)
{
    size_t count = 0;
    int64_t *times = memory_items(work->path.work_count, sizeof *times);
    bool done = times || failure_memory(work->failure);
    for (size_t i = 0; done && i < work->path.work_count; i++) {
        const struct path_work *of = work_at(work, i);
        uint32_t before = work->before[i];
        wide_time latency = (wide_time)of->start - of->launched;
        if (of->launch != ROW_NONE && latency >= 0 && latency <= INT64_MAX &&
            (before == SIM_NO_WORK || work_at(work, before)->end <= of->launched))
            times[count++] = (int64_t)latency;
    }
    done = done && find_tenth(work, times, count, LEAST_LATENCY, &work->latency);
    count = 0;
    for (size_t i = 0; done && i < work->path.work_count; i++) {
        const struct path_work *of = work_at(work, i);
        uint32_t before = work->before[i];
        if (of->launch != ROW_NONE && before != SIM_NO_WORK &&
            (wide_time)work_at(work, before)->end - of->launched > 2 * (wide_time)work->latency)
            times[count++] =
                shorter_of((wide_time)of->start - work_at(work, before)->end, MOST_GAP);
    }
    done = done && find_tenth(work, times, count, LEAST_GAP, &work->gap);
    memory_free(times);
    return done;
}

static int launched_order(const void *a, const void *b)
{
    const struct sim_launched *x = a, *y = b;
    int order = COMPARE(x->track, y->track);
    order = order ? order : COMPARE(x->launched, y->launched);
    order = order ? order : COMPARE(x->start, y->start);
    return order ? order : COMPARE(x->work, y->work);
}

static bool list_launched(struct sim_work *work)
{
    size_t count = work->path.work_count;
    work->launched = memory_items(count, sizeof *work->launched);
    work->firsts = memory_zeroed(work->member->file->tracks.count + 2, sizeof *work->firsts);
    if (!work->launched || !work->firsts)
        return failure_memory(work->failure);
    for (size_t i = 0; i < count; i++) { /* mostly sorted already */
        uint32_t index = work->path.by_track[i];
        const struct path_work *of = work_at(work, index);
        work->launched[i] =
            (struct sim_launched){of->launched, of->start, of->end, of->track, index};
    }
    if (!sort_items(work->launched, count, sizeof *work->launched, launched_order, work->stopper,
                    work->failure))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct sim_launched *of = &work->launched[i];
        if (i == 0 || of->track != of[-1].track)
            work->firsts[work->track_count++] = i;
        else if (of->ended < of[-1].ended)
            of->ended = of[-1].ended;
    }
    work->firsts[work->track_count] = count;
    return true;
}

/* Returns the index in `launched` after the ith track's work launched before a limit. */
static size_t launched_before(const struct sim_work *work, size_t i, int64_t limit)
{
    size_t end = work->firsts[i];
    LOWER_BOUND(end, work->firsts[i + 1], work->launched[end].launched < limit);
    return end;
}

uint32_t sim_work_last(const struct sim_work *work, size_t i, int64_t limit)
{
    size_t end = launched_before(work, i, limit);
    return end > work->firsts[i] ? work->launched[end - 1].work : SIM_NO_WORK;
}

static uint32_t row_of_track(const struct sim_work *work, size_t i)
{
    return work_at(work, work->launched[work->firsts[i]].work)->row;
}

bool sim_work_is_of(const struct sim_work *work, size_t i, const struct path_source *source)
{
    const struct columns *columns = &work->member->file->columns;
    return path_place_is_of(&work->path, source, row_place(columns, row_of_track(work, i)));
}

static bool add_wait(struct sim_work *work, uint32_t waits, uint32_t on)
{
    if (on == SIM_NO_WORK || work_at(work, on)->end > work_at(work, waits)->start)
        return true;
    if (!MEMORY_GROW(work->waits, work->wait_capacity, work->wait_count + 1))
        return failure_memory(work->failure);
    work->waits[work->wait_count++] = (struct sim_wait){waits, on};
    return true;
}

/* E6.1: adds the waits from sync events. */
static bool add_told(struct sim_work *work)
{
    const struct path_graph *path = &work->path;
    for (size_t i = 0; i < path->wait_count; i++) {
        const struct path_wait *wait = &path->waits[i];
        if (!stopper_goes_on(work->stopper, i, work->failure))
            return false;
        if (wait->host || wait->source.among != AMONG_STREAM)
            continue;
        uint32_t waits = (uint32_t)path_work_of(path, wait->row);
        for (size_t track = 0; track < work->track_count; track++)
            if (sim_work_is_of(work, track, &wait->source) &&
                !add_wait(work, waits, sim_work_last(work, track, wait->source.limit)))
                return false;
    }
    return true;
}

/* A launch, or a wait without a sync event. */
struct waiting_call {
    uint32_t track;
    int64_t start;
    uint32_t row;
    bool waits;
};

static int call_order(const void *a, const void *b)
{
    const struct waiting_call *x = a, *y = b;
    int order = COMPARE(x->track, y->track);
    order = order ? order : COMPARE(x->start, y->start);
    order = order ? order : COMPARE(y->waits, x->waits);
    return order ? order : COMPARE(x->row, y->row);
}

/* True if the first device event linked to a call is device work. */
static bool launches_work(const struct sim_work *work, size_t row)
{
    return work->path.launches[row] &&
           busy_takes(&work->member->file->columns, work->member->file->columns.link[row]);
}

/* Lists the launches, and the waits without sync events. Returns NULL on failure. */
static struct waiting_call *list_calls(struct sim_work *work, const struct path_syncs *syncs,
                                      size_t *count, size_t *wait_count)
{
    const struct columns *columns = &work->member->file->columns;
    bool *told = memory_zeroed(columns->count + 1, sizeof *told), done = told != NULL;
    size_t most = 0;
    *count = *wait_count = 0;
    for (size_t i = 0; done && i < syncs->count; i++)
        told[columns->link[syncs->items[i].row]] = true;
    for (size_t row = 0; done && row < columns->count; row++) {
        bool waits = !told[row] && path_call_flags(&work->path, row) & NAMED_WAIT &&
                     !work->path.launches[row];
        *wait_count += waits;
        told[row] = waits;
        most += waits || launches_work(work, row);
    }
    struct waiting_call *calls = done ? memory_zeroed(most, sizeof *calls) : NULL;
    if (!calls)
        failure_memory(work->failure);
    for (size_t row = 0; calls && *wait_count > 0 && row < columns->count; row++)
        if (told[row] || launches_work(work, row))
            calls[(*count)++] = (struct waiting_call){row_place(columns, row)->track,
                                                     columns->ts[row], (uint32_t)row, told[row]};
    memory_free(told);
    if (calls && sort_items(calls, *count, sizeof *calls, call_order, work->stopper, work->failure))
        return calls;
    memory_free(calls);
    return NULL;
}

static int64_t stream_of_track(const struct sim_work *work, size_t i)
{
    return row_place(&work->member->file->columns, row_of_track(work, i))->stream;
}

/* Returns the index of the track of device work. */
static size_t track_of(const struct sim_work *work, size_t of)
{
    uint32_t track = work_at(work, of)->track;
    size_t i = 0;
    LOWER_BOUND(i, work->track_count, work->launched[work->firsts[i]].track < track);
    return i;
}

/* Adds the sites of a wait. `next` is the row of the work of the thread's next launch. */
static bool add_sites(struct sim_work *work, struct sim_sites *sites,
                      const struct waiting_call *call, uint32_t next, uint32_t thread,
                      uint32_t number)
{
    size_t stream = track_of(work, path_work_of(&work->path, next));
    size_t first = launched_before(work, stream, call->start);
    if (first == work->firsts[stream + 1])
        return true;
    uint32_t waits = work->launched[first].work; /* usually the next launch's */
    const struct path_source others = {.among = AMONG_OTHERS, .track = work_at(work, waits)->track};
    for (size_t i = 0; i < work->track_count; i++) {
        size_t last = launched_before(work, i, call->start), ended = work->firsts[i];
        if (!sim_work_is_of(work, i, &others))
            continue;
        LOWER_BOUND(ended, last, work->launched[ended].ended <= work_at(work, waits)->start);
        if (ended == work->firsts[i])
            continue;
        struct sim_untold untold = {.site = {.rank = work->member->rank,
                                             .stream = stream_of_track(work, stream),
                                             .other = stream_of_track(work, i),
                                             .thread = thread,
                                             .number = number,
                                             .back = last - ended},
                                    .work = waits,
                                    .last = last - 1,
                                    .first = work->firsts[i]};
        if (!MEMORY_GROW(work->untold, work->untold_capacity, work->untold_count + 1))
            return failure_memory(work->failure);
        work->untold[work->untold_count++] = untold;
        if (!sim_sites_add(sites, &untold.site, work->failure))
            return false;
    }
    return true;
}

static bool is_collective(const struct sim_work *work, const struct waiting_call *launch)
{
    const struct trace_file *file = work->member->file;
    return kernel_types_row(NULL, file, file->columns.link[launch->row]) == KERNEL_COMMUNICATION;
}

/* E6.4: true if a wait right after a collective's launch belongs to the collective. */
static bool is_own_wait(const struct sim_work *work, const struct waiting_call *call,
                        const struct waiting_call *launch)
{
    const struct columns *columns = &work->member->file->columns;
    int64_t dur = columns->dur[launch->row];
    return launch->track == call->track &&
           (wide_time)call->start - launch->start - (dur == NUMBER_NONE ? 0 : dur) < OWN_WAIT &&
           is_collective(work, launch);
}

/* E6.2: returns the launch after a wait. If a collective is next, and another wait comes before it,
** that is the next launch of other work. `*from` is where a later search resumes. */
static size_t launch_after(const struct sim_work *work, const struct waiting_call *calls,
                           size_t count, size_t wait, size_t next, size_t *from)
{
    uint32_t track = calls[wait].track;
    size_t i = *from > next ? *from : next;
    if (next == wait + 1 || !is_collective(work, &calls[next]))
        return next;
    while (i < count && calls[i].track == track &&
           (calls[i].waits || is_collective(work, &calls[i])))
        i++;
    *from = i;
    return i < count && calls[i].track == track ? i : next;
}

/* A waiting thread and its first wait. */
struct waiting_thread {
    int64_t start;
    uint32_t row, track;
};

static int waiting_order(const void *a, const void *b)
{
    const struct waiting_thread *x = a, *y = b;
    int order = COMPARE(x->start, y->start);
    return order ? order : COMPARE(x->row, y->row);
}

/* Numbers the waiting threads, by track, in the order of their first waits. Returns NULL on
** failure. */
static uint32_t *number_threads(struct sim_work *work, const struct waiting_call *calls,
                                size_t count)
{
    size_t tracks = work->member->file->tracks.count, found = 0;
    struct waiting_thread *threads = memory_zeroed(tracks, sizeof *threads);
    uint32_t *numbers = memory_zeroed(tracks, sizeof *numbers);
    bool done = (threads && numbers) || failure_memory(work->failure);
    for (size_t i = 0; done && i < count; i++)
        if (calls[i].waits && (found == 0 || threads[found - 1].track != calls[i].track))
            threads[found++] =
                (struct waiting_thread){calls[i].start, calls[i].row, calls[i].track};
    done = done && sort_items(threads, found, sizeof *threads, waiting_order, work->stopper,
                              work->failure);
    for (size_t i = 0; done && i < found; i++)
        numbers[threads[i].track] = (uint32_t)i;
    memory_free(threads);
    if (done)
        return numbers;
    memory_free(numbers);
    return NULL;
}

/* E6.2: adds the sites of waits without sync events. `numbers` has room for one entry per step, and
** one more. */
static bool add_all_sites(struct sim_work *work, struct sim_sites *sites,
                          const struct waiting_call *calls, size_t count, const uint32_t *threads,
                          uint32_t *numbers)
{
    const struct columns *columns = &work->member->file->columns;
    size_t next = 0, after = 0, launch = SIZE_MAX, steps = work->member->steps->iteration_count;
    uint32_t track = TRACK_NONE;
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        const struct waiting_call *call = &calls[i];
        done = stopper_goes_on(work->stopper, i, work->failure);
        launch = call->waits ? launch : i;
        if (!call->waits)
            continue;
        for (next = next > i ? next : i; next < count && calls[next].waits; next++)
            ;
        if (next == count || calls[next].track != call->track ||
            (launch != SIZE_MAX && is_own_wait(work, call, &calls[launch])))
            continue;
        for (size_t s = 0; call->track != track && s <= steps; s++)
            numbers[s] = 0;
        track = call->track;
        uint32_t step = step_of(work->member->steps, call->row);
        uint32_t *number = &numbers[step == STEP_NONE ? steps : step];
        size_t waiting = launch_after(work, calls, count, i, next, &after);
        done = done && add_sites(work, sites, call, columns->link[calls[waiting].row],
                                 threads[track], (*number)++);
    }
    return done;
}

static bool find_untold(struct sim_work *work, const struct path_syncs *syncs,
                        struct sim_sites *sites)
{
    size_t count, wait_count;
    struct waiting_call *calls = list_calls(work, syncs, &count, &wait_count);
    uint32_t *threads = calls ? number_threads(work, calls, count) : NULL;
    uint32_t *numbers = memory_zeroed(work->member->steps->iteration_count + 1, sizeof *numbers);
    bool done = threads && (numbers || failure_memory(work->failure)) &&
                add_all_sites(work, sites, calls, count, threads, numbers);
    memory_free(calls);
    memory_free(threads);
    memory_free(numbers);
    return done;
}

bool sim_work_make(struct sim_work *work, const struct trace_member *member,
                   const struct path_syncs *syncs, struct sim_sites *sites,
                   const struct stopper *stopper, struct failure *failure)
{
    *work = (struct sim_work){.member = member, .stopper = stopper, .failure = failure};
    return path_graph_make_work(&work->path, member->file, syncs, stopper, failure) &&
           find_before(work) && find_floors(work) && list_launched(work) &&
           find_untold(work, syncs, sites);
}

static int wait_order(const void *a, const void *b)
{
    const struct sim_wait *x = a, *y = b;
    int order = COMPARE(x->work, y->work);
    return order ? order : COMPARE(x->on, y->on);
}

bool sim_work_find_waits(struct sim_work *work, const struct sim_sites *sites)
{
    size_t kept = 0;
    bool done = add_told(work);
    for (size_t i = 0; done && i < work->untold_count; i++) {
        const struct sim_untold *untold = &work->untold[i];
        uint64_t back = sim_sites_back(sites, &untold->site);
        if (untold->last - untold->first >= back)
            done = add_wait(work, untold->work, work->launched[untold->last - back].work);
        done = done && stopper_goes_on(work->stopper, i, work->failure);
    }
    done = done && sort_items(work->waits, work->wait_count, sizeof *work->waits, wait_order,
                              work->stopper, work->failure);
    for (size_t i = 0; done && i < work->wait_count; i++)
        if (kept == 0 || wait_order(&work->waits[kept - 1], &work->waits[i]) != 0)
            work->waits[kept++] = work->waits[i];
    work->wait_count = done ? kept : work->wait_count;
    return done;
}

size_t sim_work_waits(const struct sim_work *work, size_t of, size_t *count)
{
    size_t first = 0, end;
    LOWER_BOUND(first, work->wait_count, work->waits[first].work < of);
    for (end = first; end < work->wait_count && work->waits[end].work == of; end++)
        ;
    *count = end - first;
    return first;
}

void sim_work_clear(struct sim_work *work)
{
    path_graph_clear(&work->path);
    memory_free(work->before);
    memory_free(work->launched);
    memory_free(work->firsts);
    memory_free(work->untold);
    memory_free(work->waits);
    *work = (struct sim_work){.member = NULL};
}
