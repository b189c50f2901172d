#include "cause_members.h"

#include "base/memory.h"
#include "base/sort.h"

uint32_t *causes_of_parts(const struct causes *causes)
{
    const struct cause_part *parts = causes->parts->items;
    uint32_t *of = memory_filled(causes->parts->count + 1, sizeof *of);
    for (size_t i = 0; of && i < causes->count; i++)
        for (size_t part = causes->items[i].parts; part > 0; part = parts[part - 1].next)
            of[part - 1] = (uint32_t)i;
    return of;
}

static int member_order(const void *a, const void *b)
{
    const struct cause_member *x = a, *y = b;
    int order = COMPARE(x->cause, y->cause);
    order = order ? order : COMPARE(x->part, y->part);
    order = order ? order : COMPARE(x->area, y->area);
    return order ? order : COMPARE(x->kernel, y->kernel);
}

/* Adds up members with equal keys. */
static void join(struct cause_members *members)
{
    size_t kept = 0;
    for (size_t i = 0; i < members->count; i++) {
        struct cause_member *last = &members->items[kept - (kept > 0)];
        if (kept == 0 || member_order(last, &members->items[i]) != 0) {
            members->items[kept++] = members->items[i];
            continue;
        }
        for (int side = 0; side < 2; side++) {
            last->time[side] += members->items[i].time[side];
            last->kernels[side] += members->items[i].kernels[side];
        }
    }
    members->count = kept;
}

bool cause_members_find(struct cause_members *members, const struct causes *causes,
                        const struct stopper *stopper, struct failure *failure)
{
    const struct cause_parts *parts = causes->parts;
    uint32_t *cause_of = causes_of_parts(causes);
    *members = (struct cause_members){memory_items(parts->place_count, sizeof *members->items), 0};
    bool done = (cause_of && members->items) || failure_memory(failure);
    for (size_t i = 0; done && i < parts->count; i++) {
        const struct cause_part *part = &parts->items[i];
        for (size_t j = part->first; j < part->first + part->count; j++) {
            const struct cause_place *place = &parts->places[j];
            bool works = class_has_areas(place->step_class);
            if (cause_of[i] == UINT32_MAX || place->time[0] + place->time[1] + place->kernels[0] +
                                                     place->kernels[1] == 0)
                continue;
            members->items[members->count++] = (struct cause_member){
                .cause = cause_of[i],
                .part = i,
                .area = place->area,
                .kernel = works ? place->unit : NAME_NONE,
                .time = {place->time[0], place->time[1]},
                .kernels = {place->kernels[0], place->kernels[1]}};
        }
    }
    memory_free(cause_of);
    done = done && sort_items(members->items, members->count, sizeof *members->items, member_order,
                              stopper, failure);
    if (done)
        join(members);
    else
        cause_members_clear(members);
    return done;
}

void cause_members_clear(struct cause_members *members)
{
    memory_free(members->items);
    *members = (struct cause_members){.items = NULL};
}
