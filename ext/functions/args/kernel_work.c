#include "kernel_work.h"

#include "analysis/sums/owners.h"
#include "shares.h"
#include "base/memory.h"
#include "base/sort.h"
#include "file/stacks.h"
#include "base/wide.h"
#include "shapes.h"

#define NO_OWNER (ROW_NONE - 1)

/* Device work and the operator that owns it. */
struct owned {
    const struct trace_file *file;
    uint32_t op, row;
};

struct kernel_work {
    struct call *call;
    const struct stopper *stopper;
    struct trace_file *file;
    struct owners owners;
    struct formula *formulas; /* by name id */
    uint32_t *nearest; /* by row: the innermost operator with a formula at or around the row;
                       ** NO_OWNER: none; ROW_NONE: unknown so far */
    uint32_t *path;    /* rows whose `nearest` is unknown so far */
    size_t path_capacity;
    bool *divided; /* by row: an operator inside it has FLOPs */
    struct owned *items;
    size_t count;
    uint32_t *args[WORK_ARGS]; /* by row: ids in `texts` */
    const struct names *texts;
    struct work *work;
};

static bool prepare(struct kernel_work *builder)
{
    const struct trace_file *file = builder->file;
    size_t count = file->columns.count;
    builder->formulas = memory_zeroed(file->names.count, sizeof *builder->formulas);
    builder->nearest = memory_filled(count, sizeof *builder->nearest);
    builder->divided = memory_zeroed(count, sizeof *builder->divided);
    builder->items = memory_items(builder->owners.count, sizeof *builder->items);
    builder->work = memory_items(count, sizeof *builder->work);
    bool done = builder->formulas && builder->nearest && builder->divided && builder->items &&
                builder->work;
    for (int i = 0; i < WORK_ARGS; i++)
        done = memory_assign(&builder->args[i], memory_filled(count, sizeof *builder->args[i])) &&
               done;
    if (!done)
        return failure_memory(&builder->call->failure);
    for (size_t i = 0; i < file->names.count; i++)
        builder->formulas[i] = formula_find(&file->names.items[i]);
    for (size_t row = 0; row < count; row++)
        builder->work[row] = (struct work){NUMBER_NONE, NUMBER_NONE};
    return true;
}

/* Returns the formula of a row; NULL: no operator, or without a formula. */
static const struct formula *formula_of(const struct kernel_work *builder, uint32_t row)
{
    uint32_t name = builder->file->columns.name[row];
    bool found = name != NAME_NONE && builder->formulas[name].entry &&
                 row_is(builder->file, row, CATEGORY_OPERATOR);
    return found ? &builder->formulas[name] : NULL;
}

/* Finds the nearest operator with a formula for a row, and for the rows on the way to it. */
static bool find_nearest(struct kernel_work *builder, uint32_t row, uint32_t *found)
{
    const uint32_t *parents = builder->file->stacks.parent;
    size_t length = 0;
    while (row != ROW_NONE && builder->nearest[row] == ROW_NONE && !formula_of(builder, row)) {
        if (!MEMORY_GROW(builder->path, builder->path_capacity, length + 1))
            return failure_memory(&builder->call->failure);
        builder->path[length++] = row;
        row = parents[row];
        if (!stopper_goes_on(builder->stopper, length, &builder->call->failure))
            return false;
    }
    *found = row == ROW_NONE                     ? NO_OWNER
             : builder->nearest[row] != ROW_NONE ? builder->nearest[row]
                                                 : row;
    if (row != ROW_NONE)
        builder->nearest[row] = *found;
    while (length > 0)
        builder->nearest[builder->path[--length]] = *found;
    return true;
}

/* F2.2: marks the operators around one that has FLOPs. */
static bool divide_around(struct kernel_work *builder, uint32_t op)
{
    const uint32_t *parents = builder->file->stacks.parent;
    for (op = parents[op]; op != ROW_NONE; op = parents[op]) {
        if (!find_nearest(builder, op, &op))
            return false;
        if (op == NO_OWNER || builder->divided[op])
            break;
        builder->divided[op] = true;
    }
    return true;
}

/* F2: finds the operators that own device work. */
static bool find_owned(struct kernel_work *builder)
{
    for (size_t i = 0; i < builder->owners.count; i++) {
        const struct owner *owner = &builder->owners.items[i];
        uint32_t op = owner->label[LEVEL_OP];
        if (!stopper_goes_on(builder->stopper, i, &builder->call->failure))
            return false;
        if (op == ROW_NONE ||
            graph_name(&builder->owners.graphs, LEVEL_OP, owner->row) != GRAPH_LABEL)
            continue;
        if (!find_nearest(builder, op, &op))
            return false;
        if (op == NO_OWNER)
            continue;
        if (formula_has_flops(formula_of(builder, op)) && !divide_around(builder, op))
            return false;
        builder->items[builder->count++] = (struct owned){builder->file, op, owner->row};
    }
    return true;
}

/* Orders by operator, then by time. */
static int owned_order(const void *a, const void *b)
{
    const struct owned *x = a, *y = b;
    const struct columns *columns = &x->file->columns;
    int order = COMPARE(x->op, y->op);
    order = order ? order : COMPARE(columns->ts[x->row], columns->ts[y->row]);
    order = order ? order : COMPARE(columns->dur[x->row], columns->dur[y->row]);
    uint32_t x_name = columns->name[x->row], y_name = columns->name[y->row];
    if (order == 0 && x_name != y_name && x_name != NAME_NONE && y_name != NAME_NONE)
        order = name_compare(&x->file->names.items[x_name], &x->file->names.items[y_name]);
    return order ? order : COMPARE(x->row, y->row);
}

/* F3: divides the work of an operator among its device work. */
static void divide(struct kernel_work *builder, const struct owned *items, size_t count,
                   const struct work *work)
{
    const int64_t *dur = builder->file->columns.dur;
    wide_time total = 0;
    struct shares shares;
    for (size_t i = 0; i < count; i++)
        total += dur[items[i].row];
    shares_begin(&shares, total);
    for (size_t i = 0; i < count; i++) {
        int64_t own = dur[items[i].row];
        builder->work[items[i].row] = (struct work){shares_of(&shares, own, work->flops),
                                                    shares_of(&shares, own, work->bytes)};
        shares_next(&shares, own);
    }
}

/* Returns a text of args; NULL: none. */
static const char *text_of(const struct kernel_work *builder, enum work_arg arg, uint32_t op)
{
    uint32_t id = builder->args[arg][op];
    return id == NAME_NONE ? NULL : builder->texts->items[id].text;
}

/* Computes the work of each operator that owns device work. It is unknown without dims, which are
** not read for operators whose work is divided. */
static bool compute(struct kernel_work *builder)
{
    const struct owned *items = builder->items;
    for (size_t i = 0, end; i < builder->count; i = end) {
        uint32_t op = items[i].op;
        for (end = i; end < builder->count && items[end].op == op; end++)
            if (!stopper_goes_on(builder->stopper, end, &builder->call->failure))
                return false;
        struct work work = formula_work(
            formula_of(builder, op), text_of(builder, WORK_SHAPES, op),
            text_of(builder, WORK_TYPES, op), text_of(builder, WORK_VALUES, op));
        divide(builder, items + i, end - i, &work);
    }
    return true;
}

/* Finds the operators whose args are needed. */
static bool begin(struct kernel_work *builder, const struct trace_member *member)
{
    struct failure *failure = &builder->call->failure;
    if (!stacks_find(builder->file, builder->stopper, failure) ||
        !owners_find(&builder->owners, &(struct graph_member){.member = member}, NULL,
                     1u << LEVEL_OP, builder->stopper, failure) ||
        !prepare(builder) || !find_owned(builder) ||
        !sort_items(builder->items, builder->count, sizeof *builder->items, owned_order,
                    builder->stopper, failure))
        return false;
    for (size_t i = 0; i < builder->count; i++)
        for (int arg = 0; arg < WORK_ARGS && !builder->divided[builder->items[i].op]; arg++)
            builder->args[arg][builder->items[i].op] = 0;
    return true;
}

const char *const kernel_work_keys[WORK_ARGS] = {
    [WORK_SHAPES] = "Input Dims", [WORK_TYPES] = "Input type", [WORK_VALUES] = "Concrete Inputs"};

struct kernel_work *kernel_work_begin(struct call *call, const struct trace_member *member)
{
    struct kernel_work *builder = memory_zeroed(1, sizeof *builder);
    if (!builder) {
        failure_memory(&call->failure);
        return NULL;
    }
    *builder = (struct kernel_work){
        .call = call, .stopper = call_stopper(call), .file = member->file};
    if (begin(builder, member))
        return builder;
    kernel_work_free(builder);
    return NULL;
}

uint32_t *const *kernel_work_args(const struct kernel_work *work)
{
    return work->args;
}

struct work *kernel_work_end(struct kernel_work *work, const struct names *texts)
{
    struct work *found = NULL;
    work->texts = texts;
    if (compute(work)) {
        found = work->work;
        work->work = NULL;
    }
    return found;
}

uint32_t kernel_work_owned(const struct kernel_work *work, size_t i, const struct name **types)
{
    if (i >= work->count)
        return ROW_NONE;
    uint32_t id = work->args[WORK_TYPES][work->items[i].op];
    *types = id == NAME_NONE ? NULL : &work->texts->items[id];
    return work->items[i].row;
}

void kernel_work_free(struct kernel_work *work)
{
    if (!work)
        return;
    owners_clear(&work->owners);
    memory_free(work->formulas);
    memory_free(work->nearest);
    memory_free(work->path);
    memory_free(work->divided);
    memory_free(work->items);
    for (int i = 0; i < WORK_ARGS; i++)
        memory_free(work->args[i]);
    memory_free(work->work);
    memory_free(work);
}

struct work *kernel_work_find(struct call *call, const struct trace_member *member)
{
    struct names texts = {0};
    struct kernel_work *work = kernel_work_begin(call, member);
    struct work *found = NULL;
    if (work &&
        args_values_read(call, member->file, kernel_work_keys, work->args, WORK_ARGS, &texts))
        found = kernel_work_end(work, &texts);
    kernel_work_free(work);
    names_clear(&texts);
    return found;
}
