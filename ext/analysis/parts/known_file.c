#include "known_file.h"

#include <stdatomic.h>

#include "base/memory.h"
#include "base/sort.h"
#include "analysis/sums/owners.h"
#include "file/order.h"
#include "replays.h"

static atomic_size_t files_made;

/* Adds the threads of launches to the threads that need labels. */
static bool want_launches(const struct columns *columns, bool *wanted,
                          const struct stopper *stopper, struct failure *failure)
{
    for (size_t row = 0; row < columns->count; row++) {
        if (busy_takes(columns, row) && columns->link[row] != ROW_NONE)
            wanted[row_place(columns, columns->link[row])->track] = true;
        if (!stopper_goes_on(stopper, row, failure))
            return false;
    }
    return true;
}

/* Finds the names of work in graphs. */
static bool make_graphs(struct known_file *known, const struct graph_member *of,
                        const struct stopper *stopper, struct failure *failure)
{
    if (!graph_names_make(&known->graphs, of, &known->labels, ALL_LABELS, stopper, failure))
        return false;
    known->graph_ids = memory_items(known->graphs.texts.count, sizeof *known->graph_ids);
    for (size_t i = 0; known->graph_ids && i < known->graphs.texts.count; i++)
        known->graph_ids[i] = NOT_KNOWN;
    return known->graph_ids || failure_memory(failure);
}

static bool make_ids(struct known_file *known, const struct names *names, struct failure *failure)
{
    known->ids = memory_items(names->count, sizeof *known->ids);
    known->scratch = memory_allocate(2 * (names_longest(names) + 1) + GAP_TEXT);
    if (!known->ids || !known->scratch)
        return failure_memory(failure);
    for (size_t i = 0; i < names->count; i++)
        known->ids[i] = NOT_KNOWN;
    return true;
}

/* L9: finds, for each work, the computation launched first among this work and all later work. */
static bool find_launched(struct known_file *known, const struct columns *columns,
                          const struct stopper *stopper, struct failure *failure)
{
    const struct busy *busy = &known->busy;
    uint32_t first = ROW_NONE;
    known->first_launched = memory_items(busy->work_count, sizeof *known->first_launched);
    if (!known->first_launched)
        return failure_memory(failure);
    for (size_t i = busy->work_count; i-- > 0;) {
        const struct busy_work *work = &busy->work[i];
        uint32_t launch = work->type == KERNEL_COMPUTATION ? columns->link[work->row] : ROW_NONE;
        if (!stopper_goes_on(stopper, i, failure))
            return false;
        if (launch != ROW_NONE &&
            (first == ROW_NONE || columns->ts[launch] <= columns->ts[columns->link[first]]))
            first = work->row;
        known->first_launched[i] = first;
    }
    return true;
}

/* CL12: finds the compile regions except runtime ones. */
static bool find_compiled(struct known_file *known, const struct trace_file *file,
                          const struct stopper *stopper, struct failure *failure)
{
    struct compile_regions *regions = &known->compiled;
    size_t kept = 0;
    if (!compile_regions_find(regions, file, stopper, failure))
        return false;
    for (size_t i = 0; i < regions->count; i++)
        if (regions->items[i].part != COMPILE_RUNTIME)
            regions->items[kept++] = regions->items[i];
    regions->count = kept;
    return true;
}

bool known_names_make(struct known_file *known, const struct graph_member *of, bool *wanted,
                      const struct stopper *stopper, struct failure *failure)
{
    const struct trace_member *member = of->member;
    struct trace_file *file = member->file;
    known->has_work = busy_any(&file->columns);
    known->made = want_launches(&file->columns, wanted, stopper, failure) &&
                  make_ids(known, &file->names, failure) &&
                  order_rows(file, ORDER_SPANS, stopper, failure) &&
                  labels_make(&known->labels, file, member->steps,
                              ALL_LABELS | LABEL_GAPS | LABEL_FRAMES, wanted, member->unshared,
                              stopper, failure) &&
                  find_compiled(known, file, stopper, failure) &&
                  (!known->has_work || make_graphs(known, of, stopper, failure));
    if (!known->made)
        known_file_clear(known);
    return known->made;
}

/* A18: lists the host callbacks in graphs. */
static bool list_host_nodes(struct known_file *known, const struct trace_file *file,
                            const struct stopper *stopper, struct failure *failure)
{
    static const char category[] = "graph_host_node";
    const struct columns *columns = &file->columns;
    uint32_t id = names_find(&file->names, category, sizeof category - 1);
    for (size_t row = 0; id != NAME_NONE && row < columns->count; row++) {
        if (!stopper_goes_on(stopper, row, failure))
            return false;
        if (row_place(columns, row)->cat != id || columns->ts[row] == NUMBER_NONE ||
            columns->dur[row] <= 0)
            continue;
        if (!MEMORY_GROW(known->host_nodes, known->host_node_capacity,
                         known->host_node_count + 1))
            return failure_memory(failure);
        known->host_nodes[known->host_node_count++] =
            (struct host_node){columns->ts[row], columns->ts[row] + columns->dur[row],
                               (uint32_t)row};
    }
    return sort_numbered(known->host_nodes, known->host_node_count, sizeof *known->host_nodes,
                         stopper, failure);
}

bool known_file_make(struct known_file *known, const struct graph_member *of, bool *wanted,
                     const struct stopper *stopper, struct failure *failure)
{
    const struct trace_member *member = of->member;
    struct trace_file *file = member->file;
    bool done =
        known_names_make(known, of, wanted, stopper, failure) &&
        busy_make(&known->busy, file, stopper, failure) &&
        find_launched(known, &file->columns, stopper, failure) &&
        list_host_nodes(known, file, stopper, failure) &&
        (!known->has_work || replays_find(&known->lost, file, stopper, failure)) &&
        (!known->has_work || known->graphs.texts.count > 0 || of->captures ||
         member->unshared_key ||
         owners_keep_ops(file, member->steps, &known->labels, stopper, failure));
    if (!done)
        known_file_clear(known);
    atomic_fetch_add_explicit(&files_made, done, memory_order_relaxed);
    return done;
}

size_t known_files_made(void)
{
    return atomic_load_explicit(&files_made, memory_order_relaxed);
}

void known_file_clear(struct known_file *known)
{
    graph_names_clear(&known->graphs);
    memory_free(known->graph_ids);
    memory_free(known->ids);
    memory_free(known->scratch);
    intervals_clear(&known->lost);
    labels_clear(&known->labels);
    busy_clear(&known->busy);
    compile_regions_clear(&known->compiled);
    memory_free(known->first_launched);
    memory_free(known->host_nodes);
    *known = (struct known_file){.made = false};
}
