#include "captured.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

enum edge_call { LAUNCH_OTHER, LAUNCH_BEGIN, LAUNCH_END, LAUNCH_KERNEL };

/* A call, or an instant of it. */
struct launch_edge {
    uint32_t track;
    int64_t start, end; /* ns */
    enum edge_call call;
};

static enum edge_call call_of(const struct name *name)
{
    if (name_contains(name, "StreamBeginCapture"))
        return LAUNCH_BEGIN;
    if (name_contains(name, "StreamEndCapture"))
        return LAUNCH_END;
    const char *launch = strstr(name->text, "Launch");
    return launch && (strstr(launch, "Kernel") || name_contains(name, "KernelLaunch") ||
                      name_contains(name, "GraphLaunch"))
               ? LAUNCH_KERNEL
               : LAUNCH_OTHER;
}

static int thread_order(const void *a, const void *b)
{
    const struct launch_edge *x = a, *y = b;
    int order = COMPARE(x->track, y->track);
    order = order ? order : COMPARE(x->start, y->start);
    return order ? order : COMPARE(y->end, x->end);
}

static int instant_order(const void *a, const void *b)
{
    const struct launch_edge *x = a, *y = b;
    int order = COMPARE(x->start, y->start);
    return order ? order : COMPARE(x->call, y->call);
}

/* Whether a capture begins in a file. */
static bool has_captures(const struct trace_file *file)
{
    for (size_t id = 0; id < file->names.count; id++)
        if (call_of(&file->names.items[id]) == LAUNCH_BEGIN)
            return true;
    return false;
}

/* Collects the calls of a file; NULL on failure. */
static struct launch_edge *collect(const struct trace_file *file, size_t *count,
                                   const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &file->columns;
    unsigned char *calls = memory_zeroed(file->names.count + 1, 1);
    struct launch_edge *edges = NULL;
    size_t capacity = 0;
    bool done = (calls && MEMORY_GROW(edges, capacity, 1)) || failure_memory(failure);
    *count = 0;
    for (size_t id = 0; done && id < file->names.count; id++) {
        calls[id] = (unsigned char)call_of(&file->names.items[id]);
        done = stopper_goes_on(stopper, id, failure);
    }
    for (size_t row = 0; done && row < columns->count; row++) {
        enum kind kind = columns->kind[row];
        uint32_t name = columns->name[row];
        done = stopper_goes_on(stopper, row, failure);
        if ((kind != KIND_CALL && kind != KIND_DRIVER_CALL) || name == NAME_NONE ||
            columns->ts[row] == NUMBER_NONE || calls[name] == LAUNCH_OTHER)
            continue;
        if (!MEMORY_GROW(edges, capacity, *count + 1))
            done = failure_memory(failure);
        else
            edges[(*count)++] = (struct launch_edge){
                row_place(columns, row)->track, columns->ts[row],
                columns->ts[row] + (columns->dur[row] > 0 ? columns->dur[row] : 0),
                (enum edge_call)calls[name]};
    }
    memory_free(calls);
    if (done)
        return edges;
    memory_free(edges);
    return NULL;
}

/* Leaves out launches inside others, and begins and ends that open or close nothing. Returns how
** many edges are left. */
static size_t keep_outer(struct launch_edge *edges, size_t count)
{
    size_t kept = 0;
    uint32_t track = UINT32_MAX;
    int64_t until = INT64_MIN;
    bool open = false;
    for (size_t i = 0; i < count; i++) {
        struct launch_edge edge = edges[i];
        if (edge.track != track) {
            track = edge.track;
            until = INT64_MIN;
            open = false;
        }
        if (edge.call == LAUNCH_KERNEL ? edge.start < until : (edge.call == LAUNCH_BEGIN) == open)
            continue;
        if (edge.call == LAUNCH_KERNEL)
            until = edge.end;
        else
            open = edge.call == LAUNCH_BEGIN;
        edges[kept++] = edge;
    }
    return kept;
}

bool launches_count(struct trace_file *file, const struct stopper *stopper, struct failure *failure)
{
    size_t count, open = 0;
    if (file->launches_known || !has_captures(file)) {
        file->launches_known = true;
        return true;
    }
    struct launch_edge *edges = collect(file, &count, stopper, failure);
    bool done = edges && sort_items(edges, count, sizeof *edges, thread_order, stopper, failure);
    if (done) {
        count = keep_outer(edges, count);
        done = sort_items(edges, count, sizeof *edges, instant_order, stopper, failure);
    }
    file->launches = file->captured = 0;
    for (size_t i = 0; done && i < count; i++) {
        open += edges[i].call == LAUNCH_BEGIN;
        open -= edges[i].call == LAUNCH_END;
        file->launches += edges[i].call == LAUNCH_KERNEL;
        file->captured += edges[i].call == LAUNCH_KERNEL && open > 0;
    }
    file->launches_known = done;
    memory_free(edges);
    return done;
}
