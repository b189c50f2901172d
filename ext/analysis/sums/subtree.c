#include "subtree.h"

#include "base/memory.h"
#include "file/order.h"
#include "file/stacks.h"

struct pending {
    uint32_t row, parent;
};

struct builder {
    struct trace_file *file;
    const struct stopper *stopper;
    struct failure *failure;
    uint32_t *first, *children; /* by row: where its children begin; they are ordered by start */
    struct pending *waiting;
    size_t waiting_count;
};

/* Returns whether a row is a host event in a call stack, or launched device work with a start. */
static bool is_in_tree(const struct trace_file *file, size_t row)
{
    const struct columns *columns = &file->columns;
    if (columns->kind[row] == KIND_WORK)
        return columns->link[row] != ROW_NONE && columns->ts[row] != NUMBER_NONE;
    return !kind_is_device(columns->kind[row]) && file->stacks.depth[row] != DEPTH_NONE;
}

static uint32_t parent_of(const struct trace_file *file, size_t row)
{
    return file->columns.kind[row] == KIND_WORK ? file->columns.link[row]
                                                : file->stacks.parent[row];
}

uint32_t subtree_root(const struct trace_file *file, int64_t event)
{
    const struct columns *columns = &file->columns;
    size_t row = 0;
    LOWER_BOUND(row, columns->count, columns->event[row] < event);
    return row < columns->count && columns->event[row] == event ? (uint32_t)row : ROW_NONE;
}

/* Sorts rows by their parent. */
static bool find_children(struct builder *builder)
{
    struct trace_file *file = builder->file;
    size_t count = file->columns.count;
    const uint32_t *ordered = order_rows(file, ORDER_TS, builder->stopper, builder->failure);
    if (!ordered)
        return false;
    builder->first = memory_zeroed(count + 2, sizeof *builder->first);
    builder->children = memory_items(count, sizeof *builder->children);
    builder->waiting = memory_items(count, sizeof *builder->waiting);
    if (!builder->first || !builder->children || !builder->waiting)
        return failure_memory(builder->failure);
    /* first[row + 1] is the index for the row's next child and, once all are placed, their end */
    for (size_t row = 0; row < count; row++)
        if (is_in_tree(file, row) && parent_of(file, row) != ROW_NONE)
            builder->first[parent_of(file, row) + 2]++;
    for (size_t row = 0; row <= count; row++)
        builder->first[row + 1] += builder->first[row];
    for (size_t i = 0; i < count; i++) {
        uint32_t row = ordered[i];
        if (!stopper_goes_on(builder->stopper, i, builder->failure))
            return false;
        if (is_in_tree(file, row) && parent_of(file, row) != ROW_NONE)
            builder->children[builder->first[parent_of(file, row) + 1]++] = row;
    }
    return true;
}

/* state of a row while roots are chosen */
enum { ROW_UNKNOWN, ROW_ROOT, ROW_BELOW /* below a root */, ROW_FREE /* not below a root */ };

/* Returns whether a row is below a root. Remembers the answer for the rows above it, so no row is
** visited twice. */
static bool is_below(const struct trace_file *file, unsigned char *state, uint32_t row)
{
    uint32_t end = parent_of(file, row);
    while (end != ROW_NONE && state[end] == ROW_UNKNOWN)
        end = parent_of(file, end);
    bool below = end != ROW_NONE && state[end] != ROW_FREE;
    for (uint32_t at = parent_of(file, row); at != end; at = parent_of(file, at))
        state[at] = below ? ROW_BELOW : ROW_FREE;
    return below;
}

/* Pushes the roots in reverse order, so that the walk begins with the first. */
static bool choose_roots(struct builder *builder, const int64_t *roots, size_t root_count)
{
    struct trace_file *file = builder->file;
    if (!roots) {
        const uint32_t *ordered = order_rows(file, ORDER_TS, builder->stopper, builder->failure);
        for (size_t i = file->columns.count; i-- > 0;)
            if (is_in_tree(file, ordered[i]) && parent_of(file, ordered[i]) == ROW_NONE)
                builder->waiting[builder->waiting_count++] =
                    (struct pending){ordered[i], NODE_NONE};
        return true;
    }
    unsigned char *state = memory_zeroed(file->columns.count + 1, sizeof *state);
    if (!state)
        return failure_memory(builder->failure);
    for (size_t i = 0; i < root_count; i++) {
        uint32_t row = subtree_root(file, roots[i]);
        if (row != ROW_NONE && is_in_tree(file, row))
            state[row] = ROW_ROOT;
    }
    for (size_t i = root_count; i-- > 0;) {
        uint32_t row = subtree_root(file, roots[i]);
        if (row != ROW_NONE && state[row] == ROW_ROOT && !is_below(file, state, row))
            builder->waiting[builder->waiting_count++] = (struct pending){row, NODE_NONE};
    }
    memory_free(state);
    return true;
}

/* Lists nodes, each followed by everything below it. */
static bool walk(struct builder *builder, struct subtree *tree)
{
    const struct columns *columns = &builder->file->columns;
    while (builder->waiting_count > 0) {
        struct pending next = builder->waiting[--builder->waiting_count];
        uint32_t row = next.row, node = (uint32_t)tree->count;
        bool works = columns->kind[row] == KIND_WORK && row_counts(columns, row);
        if (!stopper_goes_on(builder->stopper, tree->count, builder->failure))
            return false;
        tree->nodes[tree->count++] = (struct subtree_node){
            .row = row,
            .parent = next.parent,
            .depth = next.parent == NODE_NONE ? 0 : tree->nodes[next.parent].depth + 1,
            .kernels = works,
            .time = works ? columns->dur[row] : 0,
            .first = works ? columns->ts[row] : NUMBER_NONE,
            .last = works ? columns->ts[row] + columns->dur[row] : NUMBER_NONE};
        for (uint32_t child = builder->first[row + 1]; child-- > builder->first[row];)
            builder->waiting[builder->waiting_count++] =
                (struct pending){builder->children[child], node};
    }
    return true;
}

/* Adds each node's sums to its parent. */
static void add_up(struct subtree *tree)
{
    for (size_t i = tree->count; i-- > 0;) {
        const struct subtree_node *node = &tree->nodes[i];
        if (node->parent == NODE_NONE || node->kernels == 0)
            continue;
        struct subtree_node *above = &tree->nodes[node->parent];
        if (above->kernels == 0 || node->first < above->first)
            above->first = node->first;
        if (above->kernels == 0 || node->last > above->last)
            above->last = node->last;
        above->kernels += node->kernels;
        above->time += node->time;
    }
}

bool subtree_list(struct subtree *tree, struct trace_file *file, const int64_t *roots,
                  size_t root_count, const struct stopper *stopper, struct failure *failure)
{
    struct builder builder = {.file = file, .stopper = stopper, .failure = failure};
    *tree = (struct subtree){memory_items(file->columns.count, sizeof *tree->nodes), 0};
    bool done = (tree->nodes || failure_memory(failure)) && stacks_find(file, stopper, failure) &&
                find_children(&builder) && choose_roots(&builder, roots, root_count) &&
                walk(&builder, tree);
    if (done)
        add_up(tree);
    memory_free(builder.first);
    memory_free(builder.children);
    memory_free(builder.waiting);
    return done;
}

void subtree_clear(struct subtree *tree)
{
    memory_free(tree->nodes);
    *tree = (struct subtree){NULL, 0};
}
