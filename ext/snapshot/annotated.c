#include "annotated.h"

#include "base/memory.h"
#include "text/number.h"
#include "base/sort.h"

/* The START or END of an annotation. */
struct bound {
    int64_t time;
    size_t annotation; /* file position of its START */
    size_t below;      /* previous open annotation of the same name: its index plus 1 */
    bool ends;
    uint32_t name;
};

struct bounds {
    struct bound *items;
    size_t count, capacity;
    size_t *open; /* by name: the latest annotation without an END, its index plus 1; 0: none */
};

/* At equal times, beginnings come first. The times of ENDs were moved 1 us later (rule 2). */
static int bound_order(const void *a, const void *b)
{
    const struct bound *x = a, *y = b;
    int order = COMPARE(x->time, y->time);
    order = order ? order : COMPARE(x->ends, y->ends);
    return order ? order : COMPARE(x->annotation, y->annotation);
}

/* Applies rule 1. */
static bool take_annotation(struct bounds *bounds, struct bound bound, struct failure *failure)
{
    size_t *open = &bounds->open[bound.name];
    if (!MEMORY_GROW(bounds->items, bounds->capacity, bounds->count + 2))
        return failure_memory(failure);
    if (!bound.ends) {
        bound.below = *open;
        bounds->items[bounds->count++] = bound;
        *open = bounds->count;
        return true;
    }
    if (*open > 0) {
        bound.annotation = bounds->items[*open - 1].annotation;
        *open = bounds->items[*open - 1].below;
    } else {
        bounds->items[bounds->count++] =
            (struct bound){.time = INT64_MIN, .annotation = bound.annotation, .name = bound.name};
    }
    bound.time += bound.time < INT64_MAX;
    bounds->items[bounds->count++] = bound;
    return true;
}

/* Reads the annotations of a device. */
static bool find_bounds(struct snapshot *snapshot, const struct memory_device *device,
                        struct bounds *bounds, const struct stopper *stopper,
                        struct failure *failure)
{
    const struct values *values = &snapshot->pickle.values;
    struct value_walk walk = values_walk(
        values, values_field(values, snapshot->pickle.root, KEY_EXTERNAL_ANNOTATIONS));
    size_t number = 0;
    pickled item;
    while ((item = walk_next(&walk)) != 0) {
        pickled stage = values_field(values, item, KEY_STAGE);
        pickled name = values_field(values, item, KEY_NAME);
        struct bound bound = {.ends = stage == pickled_of(PICKLED_TEXT, WORD_END),
                              .annotation = number,
                              .name = pickled_id(name)};
        int64_t number_of_device;
        if (!stopper_goes_on(stopper, number++, failure))
            return false;
        if ((bound.ends || stage == pickled_of(PICKLED_TEXT, WORD_START)) &&
            pickled_kind(name) == PICKLED_TEXT &&
            values_number(values, values_field(values, item, KEY_DEVICE), &number_of_device) &&
            number_of_device == device->number &&
            values_number(values, values_field(values, item, KEY_TIME_US), &bound.time) &&
            (!snapshot_count(snapshot, failure) || !take_annotation(bounds, bound, failure)))
            return false;
    }
    return true;
}

/* Turns sorted bounds into changes. `closed` is indexed by annotation. */
static bool make_changes(struct memory_device *device, const struct bounds *bounds, bool *closed,
                         struct failure *failure)
{
    size_t *stack = memory_zeroed(bounds->count, sizeof *stack), depth = 0;
    device->changes = memory_zeroed(bounds->count, sizeof *device->changes);
    if (!stack || !device->changes) {
        memory_free(stack);
        return failure_memory(failure);
    }
    for (size_t i = 0; i < bounds->count; i++) {
        const struct bound *bound = &bounds->items[i];
        if (bound->ends)
            closed[bound->annotation] = true;
        else
            stack[depth++] = i;
        while (depth > 0 && closed[bounds->items[stack[depth - 1]].annotation])
            depth--;
        device->changes[device->change_count++] = (struct annotation_change){
            bound->time, depth > 0 ? bounds->items[stack[depth - 1]].name : NAME_NONE};
    }
    memory_free(stack);
    return true;
}

bool annotated_find(struct snapshot *snapshot, struct memory_device *device,
                    const struct stopper *stopper, struct failure *failure)
{
    const struct values *values = &snapshot->pickle.values;
    struct value_walk walk = values_walk(
        values, values_field(values, snapshot->pickle.root, KEY_EXTERNAL_ANNOTATIONS));
    struct bounds bounds = {.count = 0};
    size_t count = 0;
    while (walk_next(&walk) != 0)
        count++;
    if (count == 0 || device->event_count == 0)
        return true;
    bool *closed = memory_zeroed(count, sizeof *closed);
    bounds.open = memory_zeroed(values->texts.count, sizeof *bounds.open);
    bool done = (bounds.open && closed) || failure_memory(failure);
    done = done && find_bounds(snapshot, device, &bounds, stopper, failure) &&
           sort_items(bounds.items, bounds.count, sizeof *bounds.items, bound_order, stopper,
                      failure) &&
           make_changes(device, &bounds, closed, failure);
    memory_free(closed);
    memory_free(bounds.open);
    memory_free(bounds.items);
    return done;
}

uint32_t allocation_annotation(const struct snapshot *snapshot, const struct memory_device *device,
                               const struct memory_allocation *allocation)
{
    size_t i = 0;
    int64_t time = allocation->begin == 0
                       ? NUMBER_NONE
                       : event_time(snapshot, device, (int64_t)allocation->begin - 1);
    if (time == NUMBER_NONE)
        return NAME_NONE;
    LOWER_BOUND(i, device->change_count, device->changes[i].time <= time);
    return i > 0 ? device->changes[i - 1].name : NAME_NONE;
}
