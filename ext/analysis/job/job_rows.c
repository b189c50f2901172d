#include "job_rows.h"

#include <string.h>

#include "base/memory.h"

/* While rows are added, `member` of windows and collectives and `chain` of parts hold the id of the
** file in `files`. Collectives are identified by their event, in `row`, `before` and `owner`. */

/* Finds the rank of a row, or adds it; NULL if out of memory. */
static struct job_rank *rank_of_row(struct job_rows *rows, int64_t number)
{
    struct job *job = &rows->job;
    size_t i = 0, count = job->rank_count;
    if (rows->last < count && rows->numbers[rows->last] == number)
        return &job->ranks[rows->last];
    LOWER_BOUND(i, count, rows->numbers[i] < number);
    rows->last = i;
    if (i < count && rows->numbers[i] == number)
        return &job->ranks[i];
    if (!MEMORY_GROW(rows->numbers, rows->number_capacity, count + 1) ||
        !MEMORY_GROW(job->ranks, rows->rank_capacity, count + 1))
        return NULL;
    memmove(rows->numbers + i + 1, rows->numbers + i, (count - i) * sizeof *rows->numbers);
    memmove(job->ranks + i + 1, job->ranks + i, (count - i) * sizeof *job->ranks);
    rows->numbers[i] = number;
    job->ranks[i] = (struct job_rank){.rank = 0};
    job->rank_count++;
    return &job->ranks[i];
}

static bool add_window(struct job_rank *rank, uint32_t file, const struct job_row *row)
{
    if (row->start == NUMBER_NONE)
        return true; /* a file without events */
    if (!MEMORY_GROW(rank->windows, rank->window_capacity, rank->window_count + 1))
        return false;
    uint32_t step = row->iteration == NUMBER_NONE ? STEP_NONE : 0;
    rank->windows[rank->window_count++] =
        (struct job_window){{row->start, row->end, row->iteration, step, TRACK_NONE}, file};
    return true;
}

static uint32_t intern(struct names *names, struct job_text text)
{
    return names_intern(names, text.bytes ? text.bytes : "", text.length);
}

static bool add_collective(struct job_rank *rank, uint32_t file, const struct job_row *row,
                           struct names *texts)
{
    struct job_collective collective = {
        .start = row->start,
        .end = row->end,
        .step = row->iteration,
        .group = intern(texts, row->group.bytes ? row->group : row->name),
        .ranks = row->ranks.bytes ? intern(texts, row->ranks) : NAME_NONE,
        .name = intern(texts, row->name),
        .match = JOB_NONE,
        .before = row->queued_behind == NUMBER_NONE ? JOB_NONE : (uint32_t)row->queued_behind,
        .row = (uint32_t)row->event,
        .member = file,
        .by_all = row->waits_for_all,
        .on_host = row->kind == JOB_ROW_HOST_COLLECTIVE,
        .outside = !row->group.bytes};
    if (collective.group == NAME_NONE || collective.name == NAME_NONE ||
        (row->ranks.bytes && collective.ranks == NAME_NONE) ||
        !MEMORY_GROW(rank->collectives, rank->collective_capacity, rank->collective_count + 1))
        return false;
    rank->collectives[rank->collective_count++] = collective;
    return true;
}

static bool add_part(struct job_rank *rank, uint32_t file, const struct job_row *row)
{
    if (!MEMORY_GROW(rank->parts, rank->part_capacity, rank->part_count + 1))
        return false;
    uint32_t owner = row->kind == JOB_ROW_HOST_WAIT ? JOB_NONE : (uint32_t)row->event;
    rank->parts[rank->part_count++] = (struct job_part){row->start, row->end, owner, file};
    return true;
}

bool job_rows_add(struct job_rows *rows, const struct job_row *row, struct failure *failure)
{
    uint32_t file = intern(&rows->files, row->file);
    struct job_rank *rank = file == NAME_NONE ? NULL : rank_of_row(rows, row->rank);
    bool done = rank != NULL;
    if (done && row->kind == JOB_ROW_STEP)
        done = add_window(rank, file, row);
    else if (done && (row->kind == JOB_ROW_COLLECTIVE || row->kind == JOB_ROW_HOST_COLLECTIVE))
        done = add_collective(rank, file, row, &rows->job.texts);
    else if (done)
        done = add_part(rank, file, row);
    return done || failure_memory(failure);
}

static int file_order(const void *a, const void *b)
{
    return name_compare(*(const struct name *const *)a, *(const struct name *const *)b);
}

/* Returns the position of each file, by id, in the order of file names, which is the order of a
** trace's members. NULL on failure. */
static uint32_t *order_files(const struct names *files, const struct stopper *stopper,
                             struct failure *failure)
{
    uint32_t *places = memory_zeroed(files->count, sizeof *places);
    const struct name **sorted = memory_zeroed(files->count, sizeof *sorted);
    bool done = (places && sorted) || failure_memory(failure);
    for (size_t i = 0; done && i < files->count; i++)
        sorted[i] = &files->items[i];
    done = done && sort_items(sorted, files->count, sizeof *sorted, file_order, stopper, failure);
    for (size_t i = 0; done && i < files->count; i++)
        places[sorted[i] - files->items] = (uint32_t)i;
    memory_free(sorted);
    if (done)
        return places;
    memory_free(places);
    return NULL;
}

static int collective_order(const void *a, const void *b)
{
    const struct job_collective *x = a, *y = b;
    int order = COMPARE(x->member, y->member);
    return order ? order : COMPARE(x->row, y->row);
}

/* Returns the index of a collective by its file and event, or JOB_NONE. */
static uint32_t find_collective(const struct job_rank *rank, uint32_t member, uint32_t event)
{
    const struct job_collective *items = rank->collectives, key = {.member = member, .row = event};
    size_t i = 0;
    LOWER_BOUND(i, rank->collective_count, collective_order(&items[i], &key) < 0);
    return i < rank->collective_count && collective_order(&items[i], &key) == 0 ? (uint32_t)i
                                                                                : JOB_NONE;
}

static bool refuse(const char *what, int64_t rank, int64_t number, struct failure *failure)
{
    return failure_set(failure, FAILURE_REQUEST, what, (long long)rank, (long long)number);
}

/* Sorts the collectives and resolves which collective each is queued behind. */
static bool link_collectives(struct job_rank *rank, int64_t number, const struct stopper *stopper,
                             struct failure *failure)
{
    static const char
        twice[] = "rank %lld has event %lld of one file twice",
        lacks[] = "rank %lld has a collective queued behind event %lld, which is not there",
        late[] = "rank %lld has a collective queued behind event %lld, which is not before it";
    if (!sort_items(rank->collectives, rank->collective_count, sizeof *rank->collectives,
                    collective_order, stopper, failure))
        return false;
    for (size_t i = 0; i < rank->collective_count; i++) {
        struct job_collective *item = &rank->collectives[i];
        uint32_t before = item->before;
        if (i > 0 && collective_order(item - 1, item) == 0)
            return refuse(twice, number, item->row, failure);
        if (before == JOB_NONE)
            continue;
        item->before = find_collective(rank, item->member, before);
        if (item->before == JOB_NONE)
            return refuse(lacks, number, before, failure);
        const struct job_collective *other = &rank->collectives[item->before];
        if (other->start >= item->start || (wide_time)other->end - item->start > JOB_ROUNDING)
            return refuse(late, number, before, failure); /* following the queue might never end */
        if (!stopper_goes_on(stopper, i, failure))
            return false;
    }
    return true;
}

/* Checks that the file of every collective has a step. */
static bool check_files(const struct job_rank *rank, int64_t number, size_t files,
                        struct failure *failure)
{
    bool *has = memory_zeroed(files + 1, sizeof *has);
    bool done = has || failure_memory(failure);
    for (size_t i = 0; done && i < rank->window_count; i++)
        has[rank->windows[i].member] = true;
    for (size_t i = 0; done && i < rank->collective_count; i++)
        done = has[rank->collectives[i].member] ||
               refuse("rank %lld has event %lld of a file without a step", number,
                      rank->collectives[i].row, failure);
    memory_free(has);
    return done;
}

/* Finds the owners of parts, and cuts parts to the windows of their own files. Another file of the
** rank may have the window there. */
static bool place_parts(struct job_rank *rank, int64_t number, const struct stopper *stopper,
                        struct failure *failure)
{
    const struct span_line *line = &rank->line;
    struct job_part *parts = rank->parts, *kept = NULL;
    size_t count = rank->part_count, used = 0, room = 0, next = 0;
    bool done = sort_items(parts, count, sizeof *parts, job_part_order, stopper, failure);
    for (size_t i = 0; done && i < count; i++) {
        bool waits = parts[i].owner == JOB_NONE;
        uint32_t owner =
            waits ? JOB_NONE : find_collective(rank, parts[i].chain, parts[i].owner);
        done = waits || owner != JOB_NONE ||
               refuse("rank %lld is exposed to event %lld, which is not there", number,
                      parts[i].owner, failure);
        LOWER_BOUND(next, line->count, line->items[next].start <= parts[i].start);
        for (size_t at = next - 1; done && at < line->count && line->items[at].start < parts[i].end;
             at++) {
            uint32_t window = line->items[at].row;
            int64_t start = line->items[at].start, end = parts[i].end;
            done = stopper_goes_on(stopper, i + at, failure);
            if (!done || window == JOB_NONE || rank->windows[window].member != parts[i].chain)
                continue; /* the line ends outside of all windows */
            end = line->items[at + 1].start < end ? line->items[at + 1].start : end;
            start = start > parts[i].start ? start : parts[i].start;
            done = MEMORY_GROW(kept, room, used + 1) || failure_memory(failure);
            if (done)
                kept[used++] = (struct job_part){start, end, owner, 0};
        }
        next--;
    }
    memory_free(parts);
    rank->parts = kept;
    rank->part_count = used;
    rank->part_capacity = room;
    return done;
}

static int iteration_order(const void *a, const void *b)
{
    return COMPARE(((const struct job_window *)a)->window.iteration,
                   ((const struct job_window *)b)->window.iteration);
}

/* Checks that no step occurs twice. */
static bool check_windows(struct job_rank *rank, int64_t number, const struct stopper *stopper,
                          struct failure *failure)
{
    struct job_window *windows = rank->windows;
    if (!sort_items(windows, rank->window_count, sizeof *windows, iteration_order, stopper,
                    failure))
        return false;
    for (size_t i = 1; i < rank->window_count; i++) {
        int64_t iteration = windows[i].window.iteration;
        if (iteration == windows[i - 1].window.iteration)
            return refuse(iteration == NUMBER_NONE ? "rank %lld has two files without steps"
                                                   : "rank %lld has step %lld twice",
                          number, iteration, failure);
    }
    return true;
}

static bool finish_rank(struct job_rows *rows, size_t index, const uint32_t *places,
                        const struct stopper *stopper, struct failure *failure)
{
    struct job_rank *rank = &rows->job.ranks[index];
    int64_t number = rows->numbers[index];
    rank->rank = index;
    for (size_t i = 0; i < rank->window_count; i++)
        rank->windows[i].member = places[rank->windows[i].member];
    for (size_t i = 0; i < rank->part_count; i++)
        rank->parts[i].chain = places[rank->parts[i].chain];
    bool steps = rank->window_count > 0 && rank->windows[0].window.step != STEP_NONE;
    for (size_t i = 0; i < rank->collective_count; i++) {
        struct job_collective *collective = &rank->collectives[i];
        collective->member = places[collective->member];
        collective->outside =
            collective->outside || (steps && collective->step == NUMBER_NONE);
    }
    if (rows->job.rank_count == 1)
        rank->collective_count = rank->part_count = 0; /* Q1.3 */
    return check_windows(rank, number, stopper, failure) &&
           link_collectives(rank, number, stopper, failure) &&
           check_files(rank, number, rows->files.count, failure) &&
           job_rank_line(rank, stopper, failure) && place_parts(rank, number, stopper, failure) &&
           job_rank_finish(rank, &rows->job.texts, stopper, failure);
}

/* Removes ranks without steps if other ranks have steps (Q1.2). */
static void keep_ranks(struct job_rows *rows)
{
    struct job *job = &rows->job;
    size_t kept = 0, with_steps = 0;
    for (size_t i = 0; i < job->rank_count; i++)
        with_steps +=
            job->ranks[i].window_count > 0 && job->ranks[i].windows[0].window.step != STEP_NONE;
    for (size_t i = 0; i < job->rank_count; i++) {
        if (with_steps > 0 && (job->ranks[i].window_count == 0 ||
                               job->ranks[i].windows[0].window.step == STEP_NONE)) {
            job_rank_clear(&job->ranks[i]);
            continue;
        }
        job->ranks[kept] = job->ranks[i];
        rows->numbers[kept++] = rows->numbers[i];
    }
    job->rank_count = kept;
}

bool job_rows_finish(struct job_rows *rows, const struct stopper *stopper, struct failure *failure)
{
    uint32_t *places = order_files(&rows->files, stopper, failure);
    bool done = places != NULL;
    rows->job.stopper = stopper;
    if (done)
        keep_ranks(rows);
    for (size_t i = 0; done && i < rows->job.rank_count; i++)
        done = finish_rank(rows, i, places, stopper, failure);
    memory_free(places);
    return done && job_match(&rows->job, failure);
}

void job_rows_clear(struct job_rows *rows)
{
    job_clear(&rows->job);
    memory_free(rows->numbers);
    names_clear(&rows->files);
    *rows = (struct job_rows){.numbers = NULL};
}
