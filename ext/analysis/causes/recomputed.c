#include "recomputed.h"

#include "base/memory.h"
#include "base/sort.h"
#include "cause_parts.h"
#include "text/ascii.h"

/* The time of an operator in a cause, in ns times the windows of the other side. */
struct inner {
    const struct causes *causes;
    uint32_t op;
    wide_time time[2];
};

static int op_order(const void *a, const void *b)
{
    const struct inner *x = a, *y = b;
    return COMPARE(x->op, y->op);
}

/* Longest first. */
static int time_order(const void *a, const void *b)
{
    const struct inner *x = a, *y = b;
    int order = COMPARE(y->time[0] + y->time[1], x->time[0] + x->time[1]);
    return order ? order : cause_name_order(x->causes, x->op, y->op);
}

static bool is_backward(const struct causes *causes, uint32_t name)
{
    return name != NAME_NONE && name_is_backward(&causes->names.items[name]);
}

static bool is_optimizer(const struct causes *causes, uint32_t area)
{
    const struct name *name = area == NAME_NONE ? NULL : &causes->names.items[area];
    return name && begins(name->text, name->text + name->length, "Optimizer.");
}

/* Returns by operator: bit 0 if control computes it in the forward pass, bit 1 if test does. */
static unsigned char *find_forward(const struct causes *causes)
{
    const struct cause_parts *parts = causes->parts;
    unsigned char *forward = memory_zeroed(causes->names.count + 1, sizeof *forward);
    for (size_t i = 0; forward && i < parts->place_count; i++) {
        const struct cause_place *place = &parts->places[i];
        if (place->step_class != CLASS_COMPUTE || place->op == NAME_NONE ||
            is_backward(causes, place->name) || is_optimizer(causes, place->area))
            continue;
        for (int side = 0; side < 2; side++)
            if (place->time[side] > 0)
                forward[place->op] |= (unsigned char)(1 << side);
    }
    return forward;
}

/* Collects the times of the operators in a cause, and returns their number. */
static size_t collect(const struct causes *causes, const struct cause *cause, struct inner *items)
{
    const struct cause_parts *parts = causes->parts;
    size_t count = 0;
    for (size_t of = cause->parts; of > 0; of = parts->items[of - 1].next) {
        const struct cause_part *part = &parts->items[of - 1];
        for (size_t i = part->first; i < part->first + part->count; i++) {
            const struct cause_place *place = &parts->places[i];
            if (place->time[0] + place->time[1] == 0)
                continue;
            items[count++] = (struct inner){.causes = causes,
                                            .op = place->op,
                                            .time = {place->time[0] * causes->windows[1],
                                                     place->time[1] * causes->windows[0]}};
        }
    }
    return count;
}

/* Adds up sorted times by operator, and returns their number. */
static size_t add_up(struct inner *items, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept > 0 && items[kept - 1].op == items[i].op)
            for (int side = 0; side < 2; side++)
                items[kept - 1].time[side] += items[i].time[side];
        else
            items[kept++] = items[i];
    return kept;
}

/* Keeps the forward operators that the shorter side does not compute in the cause. Returns their
** number; 0 if they are too few, or explain too little of it. */
static size_t keep(const struct cause *cause, const unsigned char *forward, struct inner *items,
                   size_t count)
{
    int shorter = cause->diff > 0 ? 0 : 1;
    wide_time sum = 0;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (items[i].op != NAME_NONE && forward[items[i].op] == 3 && items[i].time[shorter] == 0) {
            sum += items[i].time[1 - shorter];
            items[kept++] = items[i];
        }
    return kept >= 2 && 2 * sum >= wide_size(cause->diff) ? kept : 0;
}

bool recomputed_find(struct causes *causes, const struct stopper *stopper,
                     struct failure *failure)
{
    size_t places = causes->parts->place_count, found = 0;
    unsigned char *forward = find_forward(causes);
    struct inner *items = memory_items(places, sizeof *items);
    causes->recomputed = memory_items(places, sizeof *causes->recomputed);
    bool done = (forward && items && causes->recomputed) || failure_memory(failure);
    for (size_t i = 0; i < causes->count && done; i++) {
        struct cause *cause = &causes->items[i];
        if ((cause->kind != CAUSE_CHANGED && cause->kind != CAUSE_REPLACED) ||
            cause->step_class != CLASS_COMPUTE || cause->diff == 0 ||
            !is_backward(causes, cause->name))
            continue;
        size_t count = collect(causes, cause, items);
        done = sort_items(items, count, sizeof *items, op_order, stopper, failure);
        count = done ? keep(cause, forward, items, add_up(items, count)) : 0;
        done = done && sort_items(items, count, sizeof *items, time_order, stopper, failure);
        cause->recomputed_first = found;
        cause->recomputed_count = done ? count : 0;
        for (size_t j = 0; j < cause->recomputed_count; j++)
            causes->recomputed[found++] = items[j].op;
    }
    memory_free(forward);
    memory_free(items);
    return done;
}
