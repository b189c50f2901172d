#include "late_areas.h"

#include "base/memory.h"
#include "base/sort.h"

/* The late time of a part in an area, or of a whole area, in ns times the windows of the other
** side. */
struct late_time {
    const struct causes *causes;
    uint32_t area; /* id in causes.names; NAME_NONE: outside of areas */
    size_t part;
    wide_time time[2];
    wide_time largest; /* areas only: largest |difference| of a part in it */
    wide_time all;     /* areas only: time of both sides, including device work */
};

static wide_time difference(const struct late_time *of)
{
    return of->time[1] - of->time[0];
}

static int part_order(const void *a, const void *b)
{
    const struct late_time *x = a, *y = b;
    int order = COMPARE(x->area, y->area);
    return order ? order : COMPARE(x->part, y->part);
}

/* Largest differences first. */
static int area_order(const void *a, const void *b)
{
    const struct late_time *x = a, *y = b;
    int order = COMPARE(wide_size(difference(y)), wide_size(difference(x)));
    return order ? order : cause_name_order(x->causes, x->area, y->area);
}

/* Collects the times of parts by area, and returns their number. */
static size_t collect(const struct cause_parts *parts, const struct causes *causes,
                      struct late_time *times)
{
    size_t count = 0;
    for (size_t i = 0; i < parts->count; i++) {
        const struct cause_part *part = &parts->items[i];
        if (!class_is_late(parts->places[part->first].step_class) ||
            cause_part_is_drained(causes, part))
            continue;
        for (size_t j = part->first; j < part->first + part->count; j++) {
            const struct cause_place *place = &parts->places[j];
            times[count++] = (struct late_time){.causes = causes,
                                                .area = place->late_area,
                                                .part = i,
                                                .time = {place->time[0] * causes->windows[1],
                                                         place->time[1] * causes->windows[0]}};
        }
    }
    return count;
}

/* Adds up sorted times by part, then by area. Returns the number of areas. */
static size_t add_up(struct late_time *times, size_t count)
{
    size_t areas = 0;
    for (size_t i = 0; i < count;) {
        struct late_time area = times[i], part = times[i];
        part.time[0] = part.time[1] = 0;
        area.time[0] = area.time[1] = 0;
        for (; i < count && times[i].area == area.area; i++) {
            if (times[i].part != part.part)
                part = (struct late_time){.part = times[i].part};
            for (int side = 0; side < 2; side++) {
                part.time[side] += times[i].time[side];
                area.time[side] += times[i].time[side];
            }
            bool last = i + 1 == count || part_order(&times[i], &times[i + 1]) != 0;
            if (last && wide_size(difference(&part)) > area.largest)
                area.largest = wide_size(difference(&part));
        }
        times[areas++] = area;
    }
    return areas;
}

/* Adds the device work of each area to its late time. Returns the total time of all places, or a
** negative number on failure. */
static wide_time add_work(const struct cause_parts *parts, const struct causes *causes,
                          struct late_time *areas, size_t count, struct failure *failure)
{
    wide_time whole = 0, *of_family = memory_zeroed(causes->names.count + 1, sizeof *of_family);
    if (!of_family) {
        failure_memory(failure);
        return -1;
    }
    for (size_t i = 0; i < parts->place_count; i++) {
        const struct cause_place *place = &parts->places[i];
        wide_time both =
            place->time[0] * causes->windows[1] + place->time[1] * causes->windows[0];
        whole += both;
        if (place->family != NAME_NONE)
            of_family[place->family] += both;
    }
    for (size_t i = 0; i < count; i++) {
        areas[i].all = areas[i].time[0] + areas[i].time[1];
        if (areas[i].area != NAME_NONE)
            areas[i].all += of_family[areas[i].area];
    }
    memory_free(of_family);
    return whole;
}

/* Moves the areas that stand out to the front of `areas`, which are sorted. Returns their
** number. */
static size_t choose(struct late_time *areas, size_t count, wide_time whole, wide_time delta)
{
    wide_time left = 0;
    size_t chosen = 0;
    for (size_t i = 0; i < count; i++)
        left += wide_size(difference(&areas[i]));
    for (size_t i = 0; i < count; i++) {
        const struct late_time area = areas[i];
        wide_time size = wide_size(difference(&area));
        /* in floating point because products of such sums overflow */
        bool stands_out = (double)size * (double)whole >= 2 * (double)left * (double)area.all;
        if (area.area == NAME_NONE || size == 0 || 2 * size < left || 20 * size < delta ||
            !stands_out)
            break;
        if (2 * area.largest < size)
            areas[chosen++] = area;
        left -= size;
        whole -= area.all;
    }
    return chosen;
}

/* Splits parts, so that each chosen area has parts of its own. */
static bool split(struct cause_parts *parts, const struct causes *causes,
                  const struct late_time *areas, size_t count, const struct stopper *stopper,
                  struct failure *failure)
{
    parts->late_areas = memory_items(count, sizeof *parts->late_areas);
    if (!parts->late_areas) {
        cause_parts_clear(parts);
        return failure_memory(failure);
    }
    parts->late_area_count = count;
    for (size_t i = 0; i < count; i++)
        parts->late_areas[i] = areas[i].area;
    for (size_t i = 0; i < parts->count; i++) {
        const struct cause_part *part = &parts->items[i];
        struct cause_place *places = &parts->places[part->first];
        if (!class_is_late(places->step_class) || cause_part_is_drained(causes, part))
            continue;
        for (size_t j = 0; j < part->count; j++)
            for (size_t k = 0; k < count; k++)
                if (places[j].late_area == areas[k].area)
                    places[j].family = areas[k].area;
    }
    return cause_parts_build(parts, causes, stopper, failure);
}

bool late_areas_find(struct cause_parts *parts, const struct causes *causes,
                     const struct stopper *stopper, struct failure *failure)
{
    struct late_time *times = memory_items(parts->place_count, sizeof *times);
    wide_time delta = 0;
    for (size_t i = 0; i < parts->count; i++)
        delta += parts->items[i].diff;
    size_t count = times ? collect(parts, causes, times) : 0;
    bool done = times ? sort_items(times, count, sizeof *times, part_order, stopper, failure)
                      : failure_memory(failure);
    count = done ? add_up(times, count) : 0;
    done = done && sort_items(times, count, sizeof *times, area_order, stopper, failure);
    wide_time whole = done ? add_work(parts, causes, times, count, failure) : -1;
    done = whole >= 0;
    size_t chosen = done ? choose(times, count, whole, wide_size(delta)) : 0;
    if (!done)
        cause_parts_clear(parts);
    else if (chosen > 0)
        done = split(parts, causes, times, chosen, stopper, failure);
    memory_free(times);
    return done;
}
