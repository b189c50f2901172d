#include "sim_threads.h"

#include "base/memory.h"
#include "sim_points.h"

/* E7.2: true if a row is an annotation, or a call that polls for the end of device work. */
static bool is_idle(const struct trace_file *file, size_t row)
{
    static const char *const polls[] = {"EventQuery", "StreamQuery", "StreamGetCaptureInfo",
                                        "StreamIsCapturing"};
    const struct columns *columns = &file->columns;
    const struct name *name = &file->names.items[columns->name[row]];
    if (row_is(file, row, CATEGORY_USER_ANNOTATION))
        return !begins(name->text, name->text + name->length, "gloo:");
    if (columns->kind[row] != KIND_CALL && columns->kind[row] != KIND_DRIVER_CALL)
        return false;
    for (size_t i = 0; i < sizeof polls / sizeof *polls; i++)
        if (name_contains(name, polls[i]))
            return true;
    return false;
}

bool sim_threads_make(struct sim_threads *threads, const struct trace_member *member, size_t index,
                      const struct job_rank *rank, size_t streams, const struct stopper *stopper,
                      struct failure *failure)
{
    const struct trace_file *file = member->file;
    size_t count = file->tracks.count;
    *threads = (struct sim_threads){.latest = TRACK_NONE, .main = TRACK_NONE};
    threads->items = memory_zeroed(count + 1, sizeof *threads->items);
    threads->count = count;
    threads->awaited = memory_zeroed(streams + 1, sizeof *threads->awaited);
    bool done = (threads->items && threads->awaited) || failure_memory(failure);
    for (size_t i = 0; done && i < count; i++)
        threads->items[i] =
            (struct sim_thread){UINT32_MAX, 0, TRACK_NONE, TRACK_NONE, true, false};
    for (size_t row = 0; done && row < file->columns.count; row++) {
        struct sim_thread *thread = &threads->items[row_place(&file->columns, row)->track];
        if (thread->polls && sim_takes_host(&file->columns, row) && !is_idle(file, row))
            thread->polls = false;
        done = stopper_goes_on(stopper, row, failure);
    }
    for (size_t i = 0; done && i < rank->window_count && threads->main == TRACK_NONE; i++)
        if (rank->windows[i].member == index)
            threads->main = rank->windows[i].window.track;
    return done;
}

static void leave(struct sim_threads *threads, struct sim_thread *thread)
{
    if (thread->before != TRACK_NONE)
        threads->items[thread->before].after = thread->after;
    if (thread->after != TRACK_NONE)
        threads->items[thread->after].before = thread->before;
    else
        threads->latest = thread->before;
    thread->quiet = false;
}

void sim_threads_pass(struct sim_threads *threads, uint32_t track, uint32_t node, bool quiet)
{
    struct sim_thread *thread = &threads->items[track];
    if (thread->quiet)
        leave(threads, thread);
    thread->last = node;
    if (!quiet || thread->polls)
        return;
    thread->before = threads->latest;
    thread->after = TRACK_NONE;
    thread->quiet = true;
    if (threads->latest != TRACK_NONE)
        threads->items[threads->latest].after = track;
    threads->latest = track;
}

void sim_threads_forget(struct sim_threads *threads)
{
    threads->latest = TRACK_NONE;
    for (size_t i = 0; i < threads->count; i++) {
        struct sim_thread *thread = &threads->items[i];
        thread->last = UINT32_MAX;
        thread->before = thread->after = TRACK_NONE;
        thread->quiet = false;
    }
}

uint32_t sim_threads_quiet(const struct sim_threads *threads, const struct sim_thread *but)
{
    uint32_t track = threads->latest;
    if (track != TRACK_NONE && &threads->items[track] == but)
        track = but->before;
    return track == TRACK_NONE ? UINT32_MAX : threads->items[track].last;
}

uint32_t sim_threads_main(const struct sim_threads *threads, const struct sim_thread *but)
{
    return threads->main == TRACK_NONE || &threads->items[threads->main] == but
               ? UINT32_MAX
               : threads->items[threads->main].last;
}

void sim_threads_clear(struct sim_threads *threads)
{
    memory_free(threads->items);
    memory_free(threads->awaited);
    *threads = (struct sim_threads){.items = NULL};
}
