#include "replays.h"

#include <string.h>

#include "base/memory.h"
#include "busy.h"
#include "analysis/sums/graphs.h"

/* Device work with its launch. */
struct launched {
    int64_t launch; /* ns: start of the launch call */
    int64_t first; /* ns: start of the work; later the earliest among this and all later launches */
};

/* A call that launches a graph. */
struct graph {
    int64_t correlation;
    uint32_t row;
    bool recorded; /* whether device work is linked to it */
};

static int launched_order(const void *a, const void *b)
{
    const struct launched *x = a, *y = b;
    return COMPARE(x->launch, y->launch);
}

/* By correlation, recorded launches first. */
static int graph_order(const void *a, const void *b)
{
    const struct graph *x = a, *y = b;
    int order = COMPARE(x->correlation, y->correlation);
    return order ? order : COMPARE(y->recorded, x->recorded);
}

/* Returns the graph launches of a file in file order; NULL on failure. */
static struct graph *find_graphs(const struct trace_file *file, size_t *count,
                                 const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &file->columns;
    bool *is_graph = memory_zeroed(file->names.count + 1, sizeof *is_graph);
    struct graph *graphs = NULL;
    size_t capacity = 0;
    bool done = (is_graph && MEMORY_GROW(graphs, capacity, 1)) || failure_memory(failure);
    for (size_t i = 0; done && i < file->names.count; i++) {
        is_graph[i] = is_graph_launch(&file->names.items[i]);
        done = stopper_goes_on(stopper, i, failure);
    }
    *count = 0;
    for (size_t row = 0; done && row < columns->count; row++) {
        enum kind kind = columns->kind[row];
        done = stopper_goes_on(stopper, row, failure);
        if ((kind != KIND_CALL && kind != KIND_DRIVER_CALL) || columns->name[row] == NAME_NONE ||
            columns->ts[row] == NUMBER_NONE || !is_graph[columns->name[row]])
            continue;
        if (!MEMORY_GROW(graphs, capacity, *count + 1))
            done = failure_memory(failure);
        else
            graphs[(*count)++] = (struct graph){columns->correlation[row], (uint32_t)row,
                                                columns->link[row] != ROW_NONE};
    }
    memory_free(is_graph);
    if (done)
        return graphs;
    memory_free(graphs);
    return NULL;
}

/* Drops the graph launches whose kernels were recorded. */
static size_t keep_lost(struct graph *graphs, size_t count)
{
    size_t kept = 0;
    bool recorded = false;
    for (size_t i = 0; i < count; i++) {
        bool same = i > 0 && graphs[i].correlation == graphs[i - 1].correlation;
        recorded = graphs[i].recorded || (same && recorded);
        if (!recorded)
            graphs[kept++] = graphs[i];
    }
    return kept;
}

/* Returns the device work that has a launch, in launch order; NULL on failure. */
static struct launched *find_launched(const struct trace_file *file, size_t *count,
                                      const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &file->columns;
    struct launched *launched = NULL;
    size_t capacity = 0;
    bool done = MEMORY_GROW(launched, capacity, 1) || failure_memory(failure);
    *count = 0;
    for (size_t row = 0; done && row < columns->count; row++) {
        done = stopper_goes_on(stopper, row, failure);
        if (!busy_takes(columns, row) || columns->link[row] == ROW_NONE)
            continue;
        if (!MEMORY_GROW(launched, capacity, *count + 1))
            done = failure_memory(failure);
        else
            launched[(*count)++] = (struct launched){.launch = columns->ts[columns->link[row]],
                                                     .first = columns->ts[row]};
    }
    if (!done ||
        !sort_items(launched, *count, sizeof *launched, launched_order, stopper, failure)) {
        memory_free(launched);
        return NULL;
    }
    for (size_t i = *count; i-- > 1;)
        if (launched[i].first < launched[i - 1].first)
            launched[i - 1].first = launched[i].first;
    return launched;
}

/* Returns the earliest start of work launched after an instant; INT64_MAX if there is none. */
static int64_t first_after(const struct launched *launched, size_t count, int64_t instant)
{
    size_t i = 0;
    LOWER_BOUND(i, count, launched[i].launch <= instant);
    return i < count ? launched[i].first : INT64_MAX;
}

bool replays_find(struct intervals *lost, const struct trace_file *file,
                  const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &file->columns;
    size_t count = 0, launched_count = 0;
    struct launched *launched = NULL;
    *lost = (struct intervals){.count = 0};
    struct graph *graphs = find_graphs(file, &count, stopper, failure);
    bool done = graphs && sort_items(graphs, count, sizeof *graphs, graph_order, stopper, failure);
    count = done ? keep_lost(graphs, count) : 0;
    if (count > 0)
        done = (launched = find_launched(file, &launched_count, stopper, failure)) != NULL;
    for (size_t i = 0; done && i < count; i++) {
        int64_t start = columns->ts[graphs[i].row], dur = columns->dur[graphs[i].row];
        int64_t end = dur > 0 ? start + dur : start;
        int64_t until = first_after(launched, launched_count, start);
        if (!stopper_goes_on(stopper, i, failure))
            done = false;
        else if (end < until && !intervals_add(lost, end, until))
            done = failure_memory(failure);
    }
    done = done && intervals_merge(lost, stopper, failure);
    memory_free(graphs);
    memory_free(launched);
    if (!done)
        intervals_clear(lost);
    return done;
}
