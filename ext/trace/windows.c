#include "windows.h"

#include "../reader/memory.h"
#include "busy.h"
#include "labels.h"

/* The thread with most operators; of several, the one that has its first one first in the
** file. False when there is no memory. */
static bool busiest_thread(const struct trace_file *file, uint32_t *track)
{
    const struct columns *columns = &file->columns;
    struct label_categories categories = label_categories_of(file);
    size_t *operators = memory_zeroed(file->tracks.count, sizeof *operators), most = 0;
    if (!operators)
        return false;
    for (size_t row = 0; row < columns->count; row++)
        if (label_is_operator(&categories, columns->cat[row])) {
            size_t count = ++operators[columns->track[row]];
            most = count > most ? count : most;
        }
    *track = TRACK_NONE;
    for (size_t row = 0; row < columns->count && *track == TRACK_NONE && most > 0; row++)
        if (label_is_operator(&categories, columns->cat[row]) &&
            operators[columns->track[row]] == most)
            *track = columns->track[row];
    memory_free(operators);
    return true;
}

static int window_order(const void *a, const void *b)
{
    const struct window *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->iteration < y->iteration ? -1 : x->iteration > y->iteration;
}

/* The host's steps, by their start: events of one number are one. `spare` has room for
** the place of each number. */
static bool collect(struct windows *windows, const struct trace_file *file, size_t *spare,
                    const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &file->columns;
    for (size_t i = 0; i < file->iteration_count; i++)
        spare[i] = SIZE_MAX;
    for (size_t i = 0; i < file->step_count; i++) {
        const struct profiler_step *step = &file->steps[i];
        if (spare[step->iteration] == SIZE_MAX) {
            spare[step->iteration] = windows->count;
            windows->items[windows->count++] =
                (struct window){step->start, step->end, file->iterations[step->iteration],
                                step->iteration, columns->track[step->row]};
            continue;
        }
        struct window *window = &windows->items[spare[step->iteration]];
        if (step->start < window->start) {
            window->start = step->start;
            window->track = columns->track[step->row];
        }
        window->end = step->end > window->end ? step->end : window->end;
    }
    return sort_items(windows->items, windows->count, sizeof *windows->items, window_order, stopper,
                      failure);
}

/* From the host's clock to the device's; `ends` has room for the latest end of each
** number. */
static void to_device_clock(struct windows *windows, const struct trace_file *file, int64_t *ends)
{
    const struct columns *columns = &file->columns;
    for (size_t i = 0; i < file->iteration_count; i++)
        ends[i] = NUMBER_NONE;
    for (size_t row = 0; row < columns->count; row++) {
        if (!busy_takes(columns, row) || columns->iteration[row] == STEP_NONE)
            continue;
        int64_t *end = &ends[columns->iteration[row]];
        if (*end == NUMBER_NONE || busy_end(columns, row) > *end)
            *end = busy_end(columns, row);
    }
    if (windows->count == 1) {
        int64_t end = ends[windows->items[0].step];
        if (end != NUMBER_NONE && end > windows->items[0].end)
            windows->items[0].end = end;
        return;
    }
    int64_t reach = INT64_MIN;
    for (size_t i = 0; i < windows->count; i++) {
        struct window *window = &windows->items[i];
        window->start = reach;
        if (ends[window->step] != NUMBER_NONE)
            window->end = ends[window->step];
        if (window->end < reach)
            window->end = reach;
        reach = window->end;
    }
    for (size_t i = 1; i < windows->count; i++)
        windows->items[i - 1] = windows->items[i];
    windows->count--;
}

/* A file without steps: one window, if it has any event. */
static bool take_whole(struct windows *windows, const struct trace_file *file,
                       struct failure *failure)
{
    uint32_t track;
    if (!busiest_thread(file, &track))
        return failure_memory(failure);
    windows->items[0] = (struct window){file->first, file->last, NUMBER_NONE, STEP_NONE, track};
    windows->count = file->first != NUMBER_NONE && file->last != NUMBER_NONE;
    return true;
}

bool windows_make(struct windows *windows, const struct trace_file *file, bool device_clock,
                  const struct stopper *stopper, struct failure *failure)
{
    *windows = (struct windows){memory_zeroed(file->step_count + 1, sizeof *windows->items), 0};
    size_t *spare = memory_zeroed(file->iteration_count, sizeof *spare);
    int64_t *ends = memory_zeroed(file->iteration_count, sizeof *ends);
    bool done = windows->items && spare && ends;
    if (!done)
        failure_memory(failure);
    else if (file->step_count == 0)
        done = take_whole(windows, file, failure);
    else
        done = collect(windows, file, spare, stopper, failure);
    if (done && file->step_count > 0 && device_clock)
        to_device_clock(windows, file, ends);
    memory_free(spare);
    memory_free(ends);
    if (!done)
        windows_clear(windows);
    return done;
}

void windows_clear(struct windows *windows)
{
    memory_free(windows->items);
    *windows = (struct windows){NULL, 0};
}
