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

static bool adopt(struct causes *causes, const struct name *name, uint32_t *id)
{
    *id = name ? names_adopt(&causes->names, name) : NAME_NONE;
    return !name || *id != NAME_NONE;
}

/* Adds a row of a side. `text` has room for its names. */
static bool add_row(struct cause_members *members, struct causes *causes, const uint32_t *cause_of,
                    const struct cause_side *side, const struct families *families, int number,
                    const struct attributed *row, char *text)
{
    struct cause_member member = {.area = NAME_NONE, .kernel = NAME_NONE};
    const struct names *names = side->names;
    if (row->step_class == CLASS_NONE)
        return true;
    if (!cause_parts_locate(causes->parts, causes, side, families, number, row, text,
                            &member.part))
        return false;
    if (member.part == causes->parts->count || cause_of[member.part] == UINT32_MAX)
        return true;
    member.cause = cause_of[member.part];
    if (class_has_areas(row->step_class)) {
        uint32_t kernel = row->name[LEVEL_KERNEL];
        if (!adopt(causes, area_of(names, row), &member.area) ||
            !adopt(causes, kernel == NAME_NONE ? NULL : &names->items[kernel], &member.kernel))
            return false;
    }
    member.time[number] = row->time;
    member.kernels[number] = row->kernels;
    if (!MEMORY_GROW(members->items, members->capacity, members->count + 1))
        return false;
    members->items[members->count++] = member;
    return true;
}

static int member_order(const void *a, const void *b)
{
    const struct cause_member *x = a, *y = b;
    int order = COMPARE(x->cause, y->cause);
    order = order ? order : COMPARE(x->part, y->part);
    order = order ? order : COMPARE(x->area, y->area);
    return order ? order : COMPARE(x->kernel, y->kernel);
}

/* Adds up those that are the same. */
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

bool cause_members_find(struct cause_members *members, struct causes *causes,
                        const struct cause_side *sides, const struct families *families,
                        const struct stopper *stopper, struct failure *failure)
{
    uint32_t *cause_of = causes_of_parts(causes);
    bool done = cause_of || failure_memory(failure);
    *members = (struct cause_members){.items = NULL};
    for (int number = 0; number < 2; number++) {
        const struct cause_side *side = &sides[number];
        char *text = done ? memory_allocate(cause_text_room(side)) : NULL;
        done = done && (text || failure_memory(failure));
        for (size_t i = 0; done && i < side->total->count; i++)
            done = stopper_goes_on(stopper, i, failure) &&
                   (add_row(members, causes, cause_of, side, families, number,
                            &side->total->rows[i], text) ||
                    failure_memory(failure));
        memory_free(text);
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
