#include "owners.h"

#include <string.h>

#include "base/memory.h"
#include "file/spans.h"

/* operators that launched a piece of device work; cached with the file */
struct work_op {
    uint32_t row, op, top_op; /* labels of the launch at these levels: rows, or ROW_NONE */
};

struct work_ops {
    struct derived derived; /* must be first */
    const struct steps *steps;
    struct work_op *items; /* in file order */
    size_t count;
};

static void free_work_ops(struct derived *derived)
{
    struct work_ops *ops = (struct work_ops *)derived;
    memory_free(ops->items);
    memory_free(ops);
}

static const struct work_ops *find_work_ops(const struct trace_file *file,
                                            const struct steps *steps)
{
    for (struct derived *at = file->derived; at; at = at->next) {
        const struct work_ops *ops = (const struct work_ops *)at;
        if (at->free == free_work_ops && ops->steps == steps)
            return ops;
    }
    return NULL;
}

static bool is_work(const struct columns *columns, size_t row)
{
    return columns->kind[row] == KIND_WORK && row_counts(columns, row);
}

static bool is_wanted(const struct trace_member *member, const unsigned char *chosen, size_t row)
{
    const struct columns *columns = &member->file->columns;
    uint32_t iteration = step_of(member->steps, row);
    return is_work(columns, row) && (!chosen || (iteration != STEP_NONE && chosen[iteration]));
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
    if (!labels_make(&labels, member->file, member->steps, levels, threads, NULL, stopper, failure))
        return false;
    bool done = true;
    for (size_t i = 0; i < owners->count && done; i++) {
        struct owner *owner = &owners->items[i];
        uint32_t launch = columns->link[owner->row];
        done = stopper_goes_on(stopper, i, failure);
        if (launch == ROW_NONE)
            continue;
        struct thread_labels *thread = &labels.threads[row_place(columns, launch)->track];
        memcpy(owner->label, labels_at(thread, columns->ts[launch])->label, sizeof owner->label);
    }
    done = done && graph_names_make(&owners->graphs, of, &labels, levels, stopper, failure);
    labels_clear(&labels);
    return done;
}

/* Uses the operators cached with the file. False if there are none or other labels are wanted. */
static bool take_kept_ops(struct owners *owners, const struct graph_member *of, unsigned levels)
{
    const struct work_ops *kept = find_work_ops(of->member->file, of->member->steps);
    if (!kept || levels & ~(1u << LEVEL_OP | 1u << LEVEL_TOP_OP) || of->captures)
        return false;
    for (size_t i = 0, j = 0; i < owners->count; i++) {
        while (kept->items[j].row != owners->items[i].row)
            j++;
        if (levels & 1u << LEVEL_OP)
            owners->items[i].label[LEVEL_OP] = kept->items[j].op;
        if (levels & 1u << LEVEL_TOP_OP)
            owners->items[i].label[LEVEL_TOP_OP] = kept->items[j].top_op;
    }
    return true;
}

static bool is_gpu_annotation(void *file, size_t row)
{
    const struct columns *columns = &((const struct trace_file *)file)->columns;
    return columns->kind[row] == KIND_ANNOTATION && row_counts(columns, row) &&
           columns->dur[row] > 0;
}

/* Sets the annotation of each piece of work from its track's line, at the start of the work. */
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
    if (done && labels && !take_kept_ops(owners, of, labels))
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

/* Adds a row of work. False if its launch has no labels. */
static bool add_work_op(struct work_ops *ops, const struct columns *columns, uint32_t row,
                struct labels *labels)
{
    uint32_t launch = columns->link[row];
    struct work_op *of = &ops->items[ops->count++];
    *of = (struct work_op){row, ROW_NONE, ROW_NONE};
    if (launch != ROW_NONE) {
        struct thread_labels *thread = &labels->threads[row_place(columns, launch)->track];
        if (!thread->items)
            return false;
        const uint32_t *label = labels_at(thread, columns->ts[launch])->label;
        of->op = label[LEVEL_OP];
        of->top_op = label[LEVEL_TOP_OP];
    }
    return true;
}

bool owners_keep_ops(struct trace_file *file, const struct steps *steps, struct labels *labels,
                   const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &file->columns;
    size_t count = 0;
    bool whole = true, done = true;
    if ((steps != &file->profiler_steps && steps != file->known_steps) ||
        find_work_ops(file, steps))
        return true;
    struct work_ops *ops = memory_zeroed(1, sizeof *ops);
    for (size_t row = 0; row < columns->count; row++)
        count += is_work(columns, row);
    if (ops)
        ops->items = memory_items(count, sizeof *ops->items);
    for (size_t row = 0; ops && ops->items && row < columns->count && whole && done; row++) {
        if (is_work(columns, row))
            whole = add_work_op(ops, columns, (uint32_t)row, labels);
        done = stopper_goes_on(stopper, row, failure);
    }
    if (!ops || !ops->items || !whole || !done) {
        if (ops)
            free_work_ops(&ops->derived);
        return done;
    }
    ops->steps = steps;
    ops->derived = (struct derived){.next = file->derived,
                                    .memory = sizeof *ops + count * sizeof *ops->items,
                                    .free = free_work_ops};
    file->derived = &ops->derived;
    return true;
}
