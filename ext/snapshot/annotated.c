#include "annotated.h"

#include "base/memory.h"
#include "text/number.h"
#include "base/sort.h"

/* The beginning or end of an annotation. */
struct edge {
    int64_t time;
    size_t annotation; /* its place in the file; that of its beginning */
    size_t below;      /* the open annotation of the same name before this one: its index plus 1 */
    bool ends;
    uint32_t name;
};

struct edges {
    struct edge *items;
    size_t count, capacity;
    size_t *open; /* by name: the last one that no END has closed, its index plus 1; 0: there is none */
};

/* At one time, what begins comes first: an end is a us later than it says (rule 2). */
static int edge_order(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    int order = COMPARE(x->time, y->time);
    order = order ? order : COMPARE(x->ends, y->ends);
    return order ? order : COMPARE(x->annotation, y->annotation);
}

/* Rule 1. */
static bool take_annotation(struct edges *edges, struct edge edge, struct failure *failure)
{
    size_t *open = &edges->open[edge.name];
    if (!MEMORY_GROW(edges->items, edges->capacity, edges->count + 2))
        return failure_memory(failure);
    if (!edge.ends) {
        edge.below = *open;
        edges->items[edges->count++] = edge;
        *open = edges->count;
        return true;
    }
    if (*open > 0) {
        edge.annotation = edges->items[*open - 1].annotation;
        *open = edges->items[*open - 1].below;
    } else {
        edges->items[edges->count++] =
            (struct edge){.time = INT64_MIN, .annotation = edge.annotation, .name = edge.name};
    }
    edge.time += edge.time < INT64_MAX;
    edges->items[edges->count++] = edge;
    return true;
}

/* Reads the annotations of a device. */
static bool find_edges(const struct snapshot *snapshot, const struct memory_device *device,
                       struct edges *edges, const struct stopper *stopper,
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
        struct edge edge = {.ends = stage == pickled_of(PICKLED_TEXT, WORD_END),
                            .annotation = number,
                            .name = pickled_id(name)};
        int64_t number_of_device;
        if (!stopper_goes_on(stopper, number++, failure))
            return false;
        if ((edge.ends || stage == pickled_of(PICKLED_TEXT, WORD_START)) &&
            pickled_kind(name) == PICKLED_TEXT &&
            values_number(values, values_field(values, item, KEY_DEVICE), &number_of_device) &&
            number_of_device == device->number &&
            values_number(values, values_field(values, item, KEY_TIME_US), &edge.time) &&
            !take_annotation(edges, edge, failure))
            return false;
    }
    return true;
}

/* Makes changes of edges that are in order. `closed` is by annotation. */
static bool make_changes(struct memory_device *device, const struct edges *edges, bool *closed,
                         struct failure *failure)
{
    size_t *stack = memory_zeroed(edges->count, sizeof *stack), depth = 0;
    device->changes = memory_zeroed(edges->count, sizeof *device->changes);
    if (!stack || !device->changes) {
        memory_free(stack);
        return failure_memory(failure);
    }
    for (size_t i = 0; i < edges->count; i++) {
        const struct edge *edge = &edges->items[i];
        if (edge->ends)
            closed[edge->annotation] = true;
        else
            stack[depth++] = i;
        while (depth > 0 && closed[edges->items[stack[depth - 1]].annotation])
            depth--;
        device->changes[device->change_count++] = (struct annotation_change){
            edge->time, depth > 0 ? edges->items[stack[depth - 1]].name : NAME_NONE};
    }
    memory_free(stack);
    return true;
}

bool annotated_find(const struct snapshot *snapshot, struct memory_device *device,
                    const struct stopper *stopper, struct failure *failure)
{
    const struct values *values = &snapshot->pickle.values;
    struct value_walk walk = values_walk(
        values, values_field(values, snapshot->pickle.root, KEY_EXTERNAL_ANNOTATIONS));
    struct edges edges = {.count = 0};
    size_t count = 0;
    while (walk_next(&walk) != 0)
        count++;
    if (count == 0 || device->event_count == 0)
        return true;
    bool *closed = memory_zeroed(count, sizeof *closed);
    edges.open = memory_zeroed(values->texts.count, sizeof *edges.open);
    bool done = (edges.open && closed) || failure_memory(failure);
    done = done && find_edges(snapshot, device, &edges, stopper, failure) &&
           sort_items(edges.items, edges.count, sizeof *edges.items, edge_order, stopper,
                      failure) &&
           make_changes(device, &edges, closed, failure);
    memory_free(closed);
    memory_free(edges.open);
    memory_free(edges.items);
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
