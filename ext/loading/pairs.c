#include "pairs.h"

#include "base/memory.h"

#define NOBODY UINT32_MAX

/* An open B, in the lists of its thread and of its name. Indices are edge numbers. */
struct open_begin {
    uint32_t outer, inner; /* neighbours in the thread's list */
    uint32_t outer_of_name;
};

static int edge_order(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    int order = COMPARE(x->track, y->track);
    return order ? order : COMPARE(x->ts, y->ts);
}

struct begin_stack {
    struct open_begin *open; /* by index of the edge */
    uint32_t *inner_of_name; /* by name id + 1; index 0 is for events without a name */
    uint32_t innermost;
};

static void push(struct begin_stack *stack, const struct edge *edges, uint32_t i)
{
    uint32_t *of_name = &stack->inner_of_name[edges[i].name + 1];
    stack->open[i] = (struct open_begin){stack->innermost, NOBODY, *of_name};
    if (stack->innermost != NOBODY)
        stack->open[stack->innermost].inner = i;
    stack->innermost = i;
    *of_name = i;
}

static void take_out(struct begin_stack *stack, const struct edge *edges, uint32_t i)
{
    struct open_begin *open = &stack->open[i];
    if (open->inner == NOBODY)
        stack->innermost = open->outer;
    else
        stack->open[open->inner].outer = open->outer;
    if (open->outer != NOBODY)
        stack->open[open->outer].inner = open->inner;
    stack->inner_of_name[edges[i].name + 1] = open->outer_of_name;
}

bool pairs_find(struct trace_file *file, struct edge *edges, size_t count,
                const struct stopper *stopper, struct failure *failure)
{
    if (count == 0)
        return true;
    struct begin_stack stack = {memory_zeroed(count, sizeof *stack.open),
                                memory_filled(file->names.count + 1, sizeof(uint32_t)), NOBODY};
    bool done = (stack.open && stack.inner_of_name) || failure_memory(failure);
    done = done && sort_items(edges, count, sizeof *edges, edge_order, stopper, failure);
    for (size_t i = 0; done && i <= count; i++) {
        done = stopper_goes_on(stopper, i, failure);
        /* events still open at the end of a thread stay unpaired */
        if (i == count || (i > 0 && edges[i].track != edges[i - 1].track))
            while (stack.innermost != NOBODY) {
                problem_add(&file->problems, PROBLEM_BEGIN_WITHOUT_END,
                            edges[stack.innermost].byte);
                take_out(&stack, edges, stack.innermost);
            }
        if (i == count)
            break;
        struct edge *edge = &edges[i];
        bool begin = edge->row != ROW_NONE;
        if (edge->ts == NUMBER_NONE) {
            problem_add(&file->problems,
                        begin ? PROBLEM_BEGIN_WITHOUT_END : PROBLEM_END_WITHOUT_BEGIN, edge->byte);
            continue;
        }
        if (begin) {
            push(&stack, edges, (uint32_t)i);
            continue;
        }
        uint32_t closed =
            edge->name == NAME_NONE ? stack.innermost : stack.inner_of_name[edge->name + 1];
        if (closed == NOBODY) {
            problem_add(&file->problems, PROBLEM_END_WITHOUT_BEGIN, edge->byte);
            continue;
        }
        int64_t dur;
        if (__builtin_sub_overflow(edge->ts, edges[closed].ts, &dur))
            problem_add(&file->problems, PROBLEM_TIME, edge->byte);
        else
            file->columns.dur[edges[closed].row] = dur;
        edge->own_span = edge->own_span || edges[closed].own_span;
        take_out(&stack, edges, closed);
    }
    memory_free(stack.open);
    memory_free(stack.inner_of_name);
    return done;
}
