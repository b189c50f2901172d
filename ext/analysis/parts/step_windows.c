#include "step_windows.h"

#include "base/memory.h"
#include "linking/link.h"
#include "busy.h"

/* Finds the thread with the most events of a category; TRACK_NONE if there are none. In a tie, the
** thread with the earliest event in the file wins. */
static bool thread_with_most(const struct trace_file *file, enum category category, uint32_t *track,
                             const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &file->columns;
    size_t *counts = memory_zeroed(file->tracks.count, sizeof *counts), most = 0;
    bool done = counts || failure_memory(failure);
    for (size_t row = 0; done && row < columns->count; row++) {
        if (row_is(file, row, category)) {
            size_t count = ++counts[row_place(columns, row)->track];
            most = count > most ? count : most;
        }
        done = stopper_goes_on(stopper, row, failure);
    }
    *track = TRACK_NONE;
    for (size_t row = 0; done && row < columns->count && *track == TRACK_NONE && most > 0; row++) {
        uint32_t its_track = row_place(columns, row)->track;
        if (row_is(file, row, category) && counts[its_track] == most)
            *track = its_track;
        done = stopper_goes_on(stopper, row, failure);
    }
    memory_free(counts);
    return done;
}

/* Finds the host thread that stands for the host in a file without steps (A5.3). */
static bool busiest_thread(const struct trace_file *file, uint32_t *track,
                           const struct stopper *stopper, struct failure *failure)
{
    return thread_with_most(file, CATEGORY_OPERATOR, track, stopper, failure) &&
           (*track != TRACK_NONE ||
            thread_with_most(file, CATEGORY_USER_ANNOTATION, track, stopper, failure));
}

static int window_order(const void *a, const void *b)
{
    const struct window *x = a, *y = b;
    int order = COMPARE(x->start, y->start);
    return order ? order : COMPARE(x->iteration, y->iteration);
}

/* Collects the host's steps by start. Events with the same number form one step. `spare` has room
** for the index of each number. */
static bool collect_windows(struct windows *windows, const struct trace_member *member,
                            size_t *spare, const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &member->file->columns;
    const struct steps *steps = member->steps;
    for (size_t i = 0; i < steps->iteration_count; i++)
        spare[i] = SIZE_MAX;
    for (size_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        if (spare[step->iteration] == SIZE_MAX) {
            spare[step->iteration] = windows->count;
            windows->items[windows->count++] =
                (struct window){step->start, step->end, member_iteration(member, step->iteration),
                                step->iteration, row_place(columns, step->row)->track};
            continue;
        }
        struct window *window = &windows->items[spare[step->iteration]];
        if (step->start < window->start) {
            window->start = step->start;
            window->track = row_place(columns, step->row)->track;
        }
        window->end = step->end > window->end ? step->end : window->end;
    }
    return sort_items(windows->items, windows->count, sizeof *windows->items, window_order, stopper,
                      failure);
}

/* Finds the latest end of device work per number; NUMBER_NONE without device work. */
static bool find_ends(const struct trace_member *member, int64_t *ends,
                      const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &member->file->columns;
    for (size_t i = 0; i < member->steps->iteration_count; i++)
        ends[i] = NUMBER_NONE;
    for (size_t row = 0; row < columns->count; row++) {
        if (!stopper_goes_on(stopper, row, failure))
            return false;
        uint32_t step = step_of(member->steps, row);
        if (!busy_takes(columns, row) || step == STEP_NONE)
            continue;
        int64_t *end = &ends[step];
        if (*end == NUMBER_NONE || busy_end(columns, row) > *end)
            *end = busy_end(columns, row);
    }
    return true;
}

/* Moves `*reach` forward to the latest end of backlog that starts before `limit`. */
static bool pass_backlog(const struct trace_file *file, int64_t limit, int64_t *reach,
                         const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &file->columns;
    if (!links_have_backlog(file))
        return true;
    int64_t *first = links_first(file, stopper, failure);
    bool done = first != NULL;
    for (size_t row = 0; done && row < columns->count; row++) {
        if (link_is_backlog(columns, first, row) && busy_takes(columns, row) &&
            columns->ts[row] < limit && busy_end(columns, row) > *reach)
            *reach = busy_end(columns, row);
        done = stopper_goes_on(stopper, row, failure);
    }
    memory_free(first);
    return done;
}

/* Converts windows from the host's clock to the device's. There is at least one window. `ends` has
** room for the latest end of each number. */
static bool to_device_clock(struct windows *windows, const struct trace_member *member,
                            int64_t *ends, const struct stopper *stopper, struct failure *failure)
{
    const struct window *first = &windows->items[0];
    int64_t reach = first->start, own_end = first->end;
    if (!find_ends(member, ends, stopper, failure))
        return false;
    if (ends[first->step] != NUMBER_NONE)
        own_end = ends[first->step];
    if (!pass_backlog(member->file, own_end, &reach, stopper, failure))
        return false;
    bool whole = windows->count == 1 && reach == first->start; /* A2.3 */
    for (size_t i = 0; i < windows->count; i++) {
        struct window *window = &windows->items[i];
        int64_t end = ends[window->step];
        window->start = reach;
        if (end != NUMBER_NONE && (!whole || end > window->end))
            window->end = end;
        if (window->end < reach)
            window->end = reach;
        reach = window->end;
    }
    return true;
}

/* A file without steps is one window if it has any event. */
static bool take_whole(struct windows *windows, const struct trace_file *file,
                       const struct stopper *stopper, struct failure *failure)
{
    uint32_t track;
    if (!busiest_thread(file, &track, stopper, failure))
        return false;
    windows->items[0] = (struct window){file->first, file->last, NUMBER_NONE, STEP_NONE, track};
    windows->count = file->first != NUMBER_NONE && file->last != NUMBER_NONE;
    return true;
}

bool windows_make(struct windows *windows, const struct trace_member *member, bool device_clock,
                  const struct stopper *stopper, struct failure *failure)
{
    const struct steps *steps = member->steps;
    *windows = (struct windows){memory_zeroed(steps->count + 1, sizeof *windows->items), 0};
    size_t *spare = memory_zeroed(steps->iteration_count, sizeof *spare);
    int64_t *ends = memory_zeroed(steps->iteration_count, sizeof *ends);
    bool done = windows->items && spare && ends;
    if (!done)
        failure_memory(failure);
    else if (steps->count == 0)
        done = take_whole(windows, member->file, stopper, failure);
    else
        done = collect_windows(windows, member, spare, stopper, failure);
    if (done && steps->count > 0 && device_clock)
        done = to_device_clock(windows, member, ends, stopper, failure);
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
