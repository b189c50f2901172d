#include "cause_parts.h"

#include <string.h>

#include "text/ascii.h"
#include "base/memory.h"
#include "base/sort.h"

int cause_name_order(const struct causes *causes, uint32_t a, uint32_t b)
{
    if (a == b || a == NAME_NONE || b == NAME_NONE)
        return COMPARE(a != NAME_NONE, b != NAME_NONE);
    return name_compare(&causes->names.items[a], &causes->names.items[b]);
}

static bool adopt(struct causes *causes, const struct name *name, uint32_t *id)
{
    *id = name ? names_adopt(&causes->names, name) : NAME_NONE;
    return !name || *id != NAME_NONE;
}

static bool starts(const struct name *name, const char *with)
{
    return name && begins(name->text, name->text + name->length, with);
}

static bool is_loader(const struct name *annotation)
{
    return starts(annotation, "enumerate(DataLoader)");
}

static enum stage stage_of(const struct name *annotation, const struct name *top_op)
{
    if (starts(annotation, "Optimizer."))
        return STAGE_OPTIMIZER;
    if (is_loader(annotation))
        return STAGE_LOADER;
    return top_op && name_is_backward(top_op) ? STAGE_BACKWARD : STAGE_FORWARD;
}

static const struct name *name_at(const struct cause_side *side, uint32_t id)
{
    return id == NAME_NONE ? NULL : &side->names->items[id];
}

/* Returns the id of a part's name on its side (L2.1). */
static uint32_t name_of(const struct cause_side *side, const struct attributed *row)
{
    uint32_t top_name = top_name_of(row);
    switch (row->step_class) {
    case CLASS_COMM:
        return row->name[LEVEL_KERNEL];
    case CLASS_IDLE_CALL:
    case CLASS_IDLE_LAUNCH:
    case CLASS_IDLE_UNRECORDED:
    case CLASS_CALL:
    case CLASS_UNRECORDED:
        return row->name[LEVEL_OP];
    case CLASS_COMPUTE:
    case CLASS_MEMORY:
        return top_name == NAME_NONE ? row->name[LEVEL_KERNEL] : top_name;
    default:
        return is_loader(name_at(side, row->name[LEVEL_ANNOTATION])) ? row->name[LEVEL_ANNOTATION]
                                                                    : top_name;
    }
}

/* Writes a name with `cudaX` for each word `hipX` (L2.1). `text` has room for the result. */
static size_t write_as_cuda(const struct name *name, char *text)
{
    const char *p = name->text, *end = p + name->length;
    char *to = text;
    while (p < end)
        if (is_of_runtime(p, end, "hip") && (p == name->text || p[-1] == ' ')) {
            memcpy(to, "cuda", 4);
            to += 4;
            p += 3;
        } else {
            *to++ = *p++;
        }
    return (size_t)(to - text);
}

static bool adopt_name(struct causes *causes, const struct name *name, bool as_cuda, char *text,
                       uint32_t *id)
{
    if (!as_cuda || !name)
        return adopt(causes, name, id);
    *id = names_intern(&causes->names, text, write_as_cuda(name, text));
    return *id != NAME_NONE;
}

/* L2.3: finds the host's area. `text` has room for it. */
static bool late_area_of(struct causes *causes, const struct cause_side *side,
                         const struct families *families, const struct attributed *row,
                         struct cause_place *place, char *text)
{
    static const char backward[] = "backward";
    const struct name *area = area_of(side->names, row);
    bool is_backward = area && area->length == sizeof backward - 1 && starts(area, backward);
    if (row->name[LEVEL_ANNOTATION] == NAME_NONE && !is_backward)
        return true;
    size_t length = family_write(families, area, text);
    place->late_area = names_intern(&causes->names, text, length);
    return place->late_area != NAME_NONE;
}

/* Makes the place of a row. `text` has room for its area and its name. */
static bool place_of(struct causes *causes, const struct cause_side *side,
                     const struct families *families, bool as_cuda, const struct attributed *row,
                     struct cause_place *place, char *text)
{
    *place = (struct cause_place){.step_class = row->step_class,
                                  .family = NAME_NONE,
                                  .area = NAME_NONE,
                                  .late_area = NAME_NONE,
                                  .op = NAME_NONE,
                                  .unit = NAME_NONE,
                                  .stage = STAGE_NONE};
    if (!adopt_name(causes, name_at(side, name_of(side, row)), as_cuda, text, &place->name))
        return false;
    if (!class_has_areas(row->step_class)) {
        place->stage = stage_of(name_at(side, row->name[LEVEL_ANNOTATION]),
                                name_at(side, row->name[LEVEL_TOP_OP]));
        return !class_is_late(row->step_class) ||
               late_area_of(causes, side, families, row, place, text);
    }
    const struct name *area = area_of(side->names, row);
    if (!area)
        return true;
    size_t length = family_write(families, area, text);
    place->family = names_intern(&causes->names, text, length);
    return place->family != NAME_NONE && adopt(causes, area, &place->area);
}

size_t cause_text_room(const struct cause_side *side)
{
    return names_longest(side->names) * 4 / 3 + sizeof "backward";
}

static bool add_side(struct cause_parts *parts, struct causes *causes,
                     const struct cause_side *sides, const struct families *families, int number,
                     const struct stopper *stopper, struct failure *failure)
{
    const struct cause_side *side = &sides[number];
    char *text = memory_allocate(cause_text_room(side));
    bool done = text;
    causes->windows[number] = (int64_t)side->total->steps;
    for (size_t i = 0; i < side->total->count && done; i++) {
        const struct attributed *row = &side->total->rows[i];
        struct cause_place place;
        if (!stopper_goes_on(stopper, i, failure))
            break;
        bool works = class_has_areas(row->step_class);
        if (row->time <= 0 && !(works && row->kernels > 0))
            continue;
        bool as_cuda = causes->drains->as_cuda[number];
        done = place_of(causes, side, families, as_cuda, row, &place, text) &&
               (row->step_class != CLASS_COMPUTE ||
                adopt(causes, name_at(side, row->name[LEVEL_OP]), &place.op)) &&
               adopt_name(causes, name_at(side, row->name[works ? LEVEL_KERNEL : LEVEL_OP]),
                          as_cuda, text, &place.unit) &&
               MEMORY_GROW(parts->places, parts->place_capacity, parts->place_count + 1);
        if (done) {
            place.time[number] = row->time;
            place.drained[number] = row->drained ? row->time : 0;
            place.kernels[number] = row->kernels;
            parts->places[parts->place_count++] = place;
        }
    }
    memory_free(text);
    return done ? failure->code == FAILURE_NONE : failure_memory(failure);
}

int cause_part_order(const struct cause_place *x, const struct cause_place *y)
{
    int order = COMPARE(x->step_class, y->step_class);
    order = order ? order : COMPARE(x->family, y->family);
    return order ? order : COMPARE(x->name, y->name);
}

static int place_order(const void *a, const void *b)
{
    const struct cause_place *x = a, *y = b;
    int order = cause_part_order(x, y);
    order = order ? order : COMPARE(x->area, y->area);
    order = order ? order : COMPARE(x->late_area, y->late_area);
    order = order ? order : COMPARE(x->op, y->op);
    order = order ? order : COMPARE(x->unit, y->unit);
    return order ? order : COMPARE(x->stage, y->stage);
}

/* Adds up equal places. */
static void join_places(struct cause_parts *parts)
{
    size_t kept = 0;
    for (size_t i = 0; i < parts->place_count; i++) {
        struct cause_place *last = &parts->places[kept - (kept > 0)];
        if (kept > 0 && place_order(last, &parts->places[i]) == 0) {
            for (int side = 0; side < 2; side++) {
                last->time[side] += parts->places[i].time[side];
                last->drained[side] += parts->places[i].drained[side];
                last->kernels[side] += parts->places[i].kernels[side];
            }
            last->moved |= parts->places[i].moved;
            last->shifted += parts->places[i].shifted;
            last->received += parts->places[i].received;
        } else {
            parts->places[kept++] = parts->places[i];
        }
    }
    parts->place_count = kept;
}

bool cause_places_join(struct cause_parts *parts, const struct stopper *stopper,
                       struct failure *failure)
{
    if (!sort_items(parts->places, parts->place_count, sizeof *parts->places, place_order, stopper,
                    failure))
        return false;
    join_places(parts);
    return true;
}

/* Sets the sums of a part from its places. */
static void sum_up(const struct causes *causes, const struct cause_parts *parts,
                   struct cause_part *part)
{
    wide_time of_stage[STAGE_NONE + 1] = {0};
    for (size_t i = part->first; i < part->first + part->count; i++) {
        const struct cause_place *place = &parts->places[i];
        of_stage[place->stage] +=
            place->time[0] * causes->windows[1] + place->time[1] * causes->windows[0];
        part->moved |= place->moved;
        part->shifted += place->shifted;
        part->received += place->received;
        for (int side = 0; side < 2; side++) {
            part->time[side] += place->time[side];
            part->drained[side] += place->drained[side];
        }
    }
    for (int side = 0; side < 2; side++)
        if (part->drained[side] > part->time[side])
            part->drained[side] = part->time[side]; /* the rest is time that moved */
    part->stage = STAGE_NONE;
    for (enum stage stage = STAGE_BACKWARD; stage < STAGE_NONE; stage++)
        if (of_stage[stage] > of_stage[part->stage])
            part->stage = stage;
    part->diff = part->time[1] * causes->windows[0] - part->time[0] * causes->windows[1];
}

bool cause_parts_build(struct cause_parts *parts, const struct causes *causes,
                       const struct stopper *stopper, struct failure *failure)
{
    bool done = cause_places_join(parts, stopper, failure);
    if (done) {
        memory_free(parts->items);
        parts->items = memory_items(parts->place_count, sizeof *parts->items);
        done = parts->items || failure_memory(failure);
    }
    parts->count = 0;
    for (size_t i = 0; i < parts->place_count && done;) {
        struct cause_part *part = &parts->items[parts->count++];
        *part = (struct cause_part){.first = i};
        while (i < parts->place_count &&
               cause_part_order(&parts->places[part->first], &parts->places[i]) == 0)
            i++;
        part->count = i - part->first;
        sum_up(causes, parts, part);
        if (part->time[0] == 0 && part->time[1] == 0)
            parts->count--; /* only moved time or hidden work */
    }
    if (!done)
        cause_parts_clear(parts);
    return done;
}

bool cause_parts_find(struct cause_parts *parts, struct causes *causes,
                      const struct cause_side *sides, const struct families *families,
                      const struct stopper *stopper, struct failure *failure)
{
    *parts = (struct cause_parts){.places = NULL};
    bool done = true;
    for (int i = 0; i < 2 && done; i++)
        done = add_side(parts, causes, sides, families, i, stopper, failure);
    if (!done)
        cause_parts_clear(parts);
    return done;
}

bool cause_part_is_drained(const struct causes *causes, const struct cause_part *part)
{
    int side = part->diff > 0;
    return causes->drains->name != NAME_NONE && part->diff != 0 &&
           2 * part->drained[side] * causes->windows[1 - side] >= wide_size(part->diff);
}

void cause_place_same(const struct cause_parts *parts, struct cause_place *place)
{
    uint32_t *const ids[] = {&place->name, &place->unit, &place->family};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (*ids[i] < parts->same_count)
            *ids[i] = parts->same[*ids[i]];
}

/* Returns the index of a place's part; `count` if there is none. */
static size_t part_at(const struct cause_parts *parts, const struct cause_place *place)
{
    size_t i = 0;
    LOWER_BOUND(i, parts->count,
                cause_part_order(&parts->places[parts->items[i].first], place) < 0);
    bool found =
        i < parts->count && cause_part_order(&parts->places[parts->items[i].first], place) == 0;
    return found ? i : parts->count;
}

bool cause_parts_locate(const struct cause_parts *parts, struct causes *causes,
                        const struct cause_side *side, const struct families *families, int number,
                        const struct attributed *row, char *text, size_t *part)
{
    struct cause_place place;
    if (!place_of(causes, side, families, causes->drains->as_cuda[number], row, &place, text))
        return false;
    cause_place_same(parts, &place);
    *part = parts->count;
    if (place.late_area != NAME_NONE) {
        struct cause_place in_area = place;
        in_area.family = place.late_area;
        *part = part_at(parts, &in_area);
    }
    if (*part == parts->count)
        *part = part_at(parts, &place);
    return true;
}

void cause_parts_join(const struct causes *causes, struct cause *to, const struct cause *from)
{
    size_t last = from->parts;
    while (last > 0 && causes->parts->items[last - 1].next > 0)
        last = causes->parts->items[last - 1].next;
    if (last == 0)
        return;
    causes->parts->items[last - 1].next = to->parts;
    to->parts = from->parts;
}

void cause_parts_clear(struct cause_parts *parts)
{
    memory_free(parts->places);
    memory_free(parts->items);
    memory_free(parts->late_areas);
    memory_free(parts->same);
    *parts = (struct cause_parts){.places = NULL};
}
