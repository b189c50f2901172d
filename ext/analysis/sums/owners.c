#include "owners.h"

#include <string.h>

#include "base/memory.h"
#include "file/spans.h"

static bool is_wanted(const struct trace_member *member, const unsigned char *chosen, size_t row)
{
    const struct columns *columns = &member->file->columns;
    uint32_t iteration = step_of(member->steps, row);
    return columns->kind[row] == KIND_WORK && row_counts(columns, row) &&
           (!chosen || (iteration != STEP_NONE && chosen[iteration]));
}

static bool collect_owners(struct owners *owners, const struct trace_member *member,
                           const unsigned char *chosen, bool *threads,
                           const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &member->file->columns;
    size_t count = 0;
    for (size_t row = 0; row < columns->count; row++)
        count += is_wanted(member, chosen, row);
    owners->items = memory_items(count, sizeof *owners->items);
    if (!owners->items)
        return failure_memory(failure);
    for (size_t row = 0; row < columns->count; row++) {
        if (!stopper_goes_on(stopper, row, failure))
            return false;
        if (!is_wanted(member, chosen, row))
            continue;
        struct owner *owner = &owners->items[owners->count++];
        owner->row = (uint32_t)row;
        for (int level = 0; level < LABEL_LEVELS; level++)
            owner->label[level] = ROW_NONE;
        owner->gpu_annotation = ROW_NONE;
        if (columns->link[row] != ROW_NONE)
            threads[row_place(columns, columns->link[row])->track] = true;
    }
    return true;
}

static bool label_owners(struct owners *owners, const struct graph_member *of, unsigned levels,
                         const bool *threads, const struct stopper *stopper,
                         struct failure *failure)
{
    const struct trace_member *member = of->member;
    const struct columns *columns = &member->file->columns;
    struct labels labels;
    if (!labels_make(&labels, member->file, member->steps, levels, threads, stopper, failure))
        return false;
    bool done = true;
    for (size_t i = 0; i < owners->count && done; i++) {
        struct owner *owner = &owners->items[i];
        uint32_t launch = columns->link[owner->row];
        done = stopper_goes_on(stopper, i, failure);
        if (launch == ROW_NONE)
            continue;
        struct thread_labels *thread = &labels.threads[row_place(columns, launch)->track];
        memcpy(owner->label, thread->items[labels_find(thread, columns->ts[launch])].label,
               sizeof owner->label);
    }
    done = done && graph_names_make(&owners->graphs, of, &labels, levels, stopper, failure);
    labels_clear(&labels);
    return done;
}

static bool is_gpu_annotation(void *file, size_t row)
{
    const struct columns *columns = &((const struct trace_file *)file)->columns;
    return columns->kind[row] == KIND_ANNOTATION && row_counts(columns, row) &&
           columns->dur[row] > 0;
}

/* Gives work the annotation that a line of its track has at its start. */
static bool annotate_owners(struct owners *owners, const struct columns *columns,
                            const struct span_line *lines, const struct stopper *stopper,
                            struct failure *failure)
{
    for (size_t i = 0; i < owners->count; i++) {
        struct owner *owner = &owners->items[i];
        const struct span_line *line = &lines[row_place(columns, owner->row)->track];
        int64_t ts = columns->ts[owner->row];
        size_t low = 0;
        if (!stopper_goes_on(stopper, i, failure))
            return false;
        if (ts == NUMBER_NONE)
            continue;
        LOWER_BOUND(low, line->count, line->items[low].start <= ts);
        if (low > 0)
            owner->gpu_annotation = line->items[low - 1].row;
    }
    return true;
}

static bool find_gpu_annotations(struct owners *owners, struct trace_file *file,
                                 const struct stopper *stopper, struct failure *failure)
{
    struct spans spans;
    size_t tracks = file->tracks.count;
    if (!spans_make(&spans, file, is_gpu_annotation, file, stopper, failure)) {
        spans_clear(&spans);
        return false;
    }
    size_t count = spans.first[tracks];
    struct span_line *lines = memory_zeroed(tracks + 1, sizeof *lines);
    struct span_change *changes = memory_items(2 * count + tracks + 1, sizeof *changes);
    bool done = (lines && changes) || failure_memory(failure);
    for (size_t track = 0; done && track < tracks; track++) {
        size_t first = spans.first[track];
        lines[track].items = changes + 2 * first + track;
        done = span_line_innermost(&lines[track], spans.items + first,
                                   spans.first[track + 1] - first, stopper, failure);
    }
    done = done && annotate_owners(owners, &file->columns, lines, stopper, failure);
    memory_free(lines);
    memory_free(changes);
    spans_clear(&spans);
    return done;
}

bool owners_find(struct owners *owners, const struct graph_member *of, const unsigned char *chosen,
                 unsigned levels, const struct stopper *stopper, struct failure *failure)
{
    const struct trace_member *member = of->member;
    bool *threads = memory_zeroed(member->file->tracks.count, sizeof *threads);
    *owners = (struct owners){.count = 0};
    bool done = threads ? collect_owners(owners, member, chosen, threads, stopper, failure)
                        : failure_memory(failure);
    unsigned labels = levels & (OWNER_GPU_ANNOTATION - 1);
    if (done && labels)
        done = label_owners(owners, of, labels, threads, stopper, failure);
    if (done && levels & OWNER_GPU_ANNOTATION)
        done = find_gpu_annotations(owners, member->file, stopper, failure);
    memory_free(threads);
    if (!done)
        owners_clear(owners);
    return done;
}

void owners_clear(struct owners *owners)
{
    memory_free(owners->items);
    graph_names_clear(&owners->graphs);
    *owners = (struct owners){.count = 0};
}
