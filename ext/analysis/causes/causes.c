#include "causes.h"

#include "base/memory.h"
#include "base/sort.h"
#include "cause_merges.h"
#include "cause_parts.h"
#include "cause_ranks.h"
#include "late_areas.h"
#include "moved_time.h"
#include "recomputed.h"

/* The state of the search. */
struct finder {
    struct causes *causes;
    struct cause_parts *parts; /* the same as causes->parts */
    const struct stopper *stopper;
    struct failure *failure;
};

static const struct cause_place *place_of(const struct finder *finder,
                                          const struct cause_part *part)
{
    return &finder->parts->places[part->first];
}

static bool same_group(const struct finder *finder, const struct cause_part *a,
                       const struct cause_part *b)
{
    const struct cause_place *x = place_of(finder, a), *y = place_of(finder, b);
    return x->step_class == y->step_class && x->family == y->family;
}

/* Returns the index of the late area (L2.3) around a part; the number of late areas if there is
** none. */
static size_t late_area_of(const struct finder *finder, const struct cause_part *part)
{
    const struct cause_place *place = place_of(finder, part);
    size_t i = class_is_late(place->step_class) ? 0 : finder->parts->late_area_count;
    while (i < finder->parts->late_area_count && finder->parts->late_areas[i] != place->family)
        i++;
    return i;
}

/* Returns the kind of a part unless it is replaced. */
static enum cause_kind kind_of_class(enum step_class step_class)
{
    switch (step_class) {
    case CLASS_COMM:
        return CAUSE_COMMUNICATION;
    case CLASS_IDLE_CALL:
    case CLASS_IDLE_HOST:
    case CLASS_IDLE_LAUNCH:
        return CAUSE_HOST_LATE;
    case CLASS_IDLE_WAIT:
        return CAUSE_QUEUED;
    case CLASS_IDLE_UNRECORDED:
    case CLASS_UNRECORDED:
        return CAUSE_NOT_RECORDED;
    default:
        return CAUSE_CHANGED;
    }
}

/* L2.2: marks replaced parts among the parts of one class of device work and one family. */
static void find_replaced(struct cause_part *parts, size_t count, const int64_t *windows,
                          wide_time delta)
{
    wide_time came = 0, went = 0, more = 0, less = 0;
    for (size_t i = 0; i < count; i++) {
        came += cause_part_came(&parts[i]) ? parts[i].diff : 0;
        went -= parts[i].time[1] == 0 ? parts[i].diff : 0;
    }
    int from = came > 0 && 100 * came >= delta ? 0 : went > 0 && 100 * went >= delta ? 1 : -1;
    for (int round = 0; round < 2 && from >= 0; round++)
        for (size_t i = 0; i < count; i++) {
            const wide_time *time = parts[i].time;
            int to = 1 - from;
            bool replaces = from == 0 ? cause_part_came(&parts[i]) : time[1] == 0;
            if (!replaces && 4 * time[to] * windows[from] >= 3 * time[from] * windows[to])
                continue; /* lost less than a quarter */
            if (round == 0) {
                more += parts[i].diff > 0 ? parts[i].diff : 0;
                less += parts[i].diff < 0 ? parts[i].diff : 0;
            } else if (more > 0 && less < 0) {
                parts[i].kind = CAUSE_REPLACED;
                parts[i].single = false;
            }
        }
}

/* L2.7: whether a part appeared or vanished outside of families: only its own name locates it in
** the program, or it is communication. */
static bool is_loose(const struct finder *finder, const struct cause_part *part,
                     enum step_class step_class)
{
    const struct cause_place *place = place_of(finder, part);
    return place->step_class == step_class && part->kind != CAUSE_REPLACED &&
           place->name != NAME_NONE &&
           (step_class == CLASS_COMM || place->family == place->name) &&
           (cause_part_came(part) || part->time[1] == 0);
}

/* L2.7: marks parts of a class that replaced others outside of families. */
static void find_loose(struct finder *finder, enum step_class step_class, wide_time delta)
{
    struct cause_part *parts = finder->parts->items;
    wide_time came = 0, went = 0;
    for (size_t i = 0; i < finder->parts->count; i++)
        if (is_loose(finder, &parts[i], step_class)) {
            came += parts[i].diff > 0 ? parts[i].diff : 0;
            went -= parts[i].diff < 0 ? parts[i].diff : 0;
        }
    if (came == 0 || went == 0 || 20 * came < delta || 20 * went < delta)
        return;
    for (size_t i = 0; i < finder->parts->count; i++)
        if (is_loose(finder, &parts[i], step_class)) {
            parts[i].kind = CAUSE_REPLACED;
            parts[i].single = false;
            parts[i].loose = true;
        }
}

/* L12.3: whether so much of a one-sided part moved that its name means little. */
static bool has_moved(const struct finder *finder, const struct cause_part *part)
{
    return part->moved && 10 * part->shifted * finder->causes->windows[1] > wide_size(part->diff);
}

/* Finds the kinds of all parts: L2.2 to L2.5, L8.4. */
static void find_kinds(struct finder *finder)
{
    struct cause_part *parts = finder->parts->items;
    size_t count = finder->parts->count;
    wide_time delta = 0, of_kind[CAUSE_MERGED] = {0};
    for (size_t i = 0; i < count; i++) {
        bool in_area = late_area_of(finder, &parts[i]) < finder->parts->late_area_count;
        parts[i].kind = !in_area && cause_part_is_drained(finder->causes, &parts[i])
                            ? CAUSE_SYNCHRONIZED
                            : kind_of_class(place_of(finder, &parts[i])->step_class);
        of_kind[parts[i].kind] += in_area ? 0 : parts[i].diff;
        delta += parts[i].diff;
    }
    finder->causes->diff = delta;
    delta = wide_size(delta);
    for (size_t i = 0; i < count; i++) {
        enum cause_kind kind = parts[i].kind;
        wide_time size = wide_size(parts[i].diff);
        parts[i].single = kind != CAUSE_QUEUED && kind != CAUSE_SYNCHRONIZED;
        if (kind == CAUSE_HOST_LATE || kind == CAUSE_NOT_RECORDED)
            parts[i].single = late_area_of(finder, &parts[i]) == finder->parts->late_area_count &&
                              place_of(finder, &parts[i])->name != NAME_NONE && size > 0 &&
                              (kind != CAUSE_NOT_RECORDED || !has_moved(finder, &parts[i])) &&
                              5 * size >= wide_size(of_kind[kind]) && 20 * size >= delta;
    }
    for (size_t i = 0, from = 0; i < count; from = i) {
        while (i < count && same_group(finder, &parts[from], &parts[i]))
            i++;
        enum step_class of = place_of(finder, &parts[from])->step_class;
        if (of == CLASS_COMPUTE || of == CLASS_MEMORY)
            find_replaced(&parts[from], i - from, finder->causes->windows, delta);
    }
    find_loose(finder, CLASS_COMPUTE, delta);
    find_loose(finder, CLASS_COMM, delta);
}

/* Whether a part belongs to a cause with several names. */
static bool belongs(const struct finder *finder, const struct cause_part *part,
                    const struct cause *cause)
{
    const struct cause_place *place = place_of(finder, part);
    return !part->single && !cause->single && part->kind == cause->kind &&
           (part->kind != CAUSE_REPLACED ||
            (place->step_class == cause->step_class && part->loose == cause->loose &&
             (part->loose || place->family == cause->family)));
}

static void add_part(const struct finder *finder, struct cause *cause,
                     const struct cause_part *part)
{
    if (cause->step_class != place_of(finder, part)->step_class)
        cause->step_class = CLASS_NONE;
    cause->names++;
    cause->added += cause_part_came(part);
    cause->removed += part->time[1] == 0;
    for (int side = 0; side < 2; side++)
        cause->time[side] += part->time[side];
    cause->diff += part->diff;
    cause->shifted += part->shifted * finder->causes->windows[1];
}

/* Makes a cause of each single part, and one of each group of other parts. */
static bool make_causes(struct finder *finder)
{
    struct causes *causes = finder->causes;
    size_t areas = finder->parts->late_area_count;
    /* by late area, then by kind: index of the last cause with several names, plus 1 */
    size_t *shared = memory_zeroed(areas + CAUSE_MERGED, sizeof *shared);
    bool done = shared;
    for (size_t i = 0; i < finder->parts->count && done; i++) {
        struct cause_part *part = &finder->parts->items[i];
        const struct cause_place *place = place_of(finder, part);
        size_t in = late_area_of(finder, part);
        size_t *last = &shared[in < areas ? in : areas + part->kind];
        if (*last == 0 || !belongs(finder, part, &causes->items[*last - 1])) {
            done = MEMORY_GROW(causes->items, causes->capacity, causes->count + 1);
            if (!done)
                break;
            causes->items[causes->count++] =
                (struct cause){.kind = part->kind,
                               .step_class = place->step_class,
                               .family = part->loose ? NAME_NONE : place->family,
                               .area = part->loose ? NAME_NONE : place->family,
                               .name = part->single ? place->name
                                       : in < areas ? place->family
                                                    : NAME_NONE,
                               .single = part->single,
                               .loose = part->loose,
                               .rank = NUMBER_NONE,
                               .stage = part->single ? part->stage : STAGE_NONE};
            if (!part->single)
                *last = causes->count;
        }
        part->cause = (part->single ? causes->count : *last) - 1;
        part->next = causes->items[part->cause].parts;
        causes->items[part->cause].parts = i + 1;
        add_part(finder, &causes->items[part->cause], part);
    }
    for (size_t i = 0; i < causes->count; i++)
        causes->items[i].changes = wide_size(causes->items[i].diff);
    memory_free(shared);
    return done || failure_memory(finder->failure);
}

/* Lists the replaced parts of each cause. */
static bool list_replaced(struct finder *finder)
{
    struct causes *causes = finder->causes;
    size_t count = 0;
    causes->replaced = memory_items(finder->parts->count + 1, sizeof *causes->replaced);
    for (size_t i = 0; causes->replaced && i < causes->count; i++) {
        struct cause *cause = &causes->items[i];
        cause->replaced_first = count;
        for (size_t p = cause->parts; cause->kind == CAUSE_REPLACED && p > 0;
             p = finder->parts->items[p - 1].next)
            causes->replaced[count++] = place_of(finder, &finder->parts->items[p - 1])->name;
        cause->replaced_count = count - cause->replaced_first;
    }
    return causes->replaced || failure_memory(finder->failure);
}

/* Names each replacement after its longest new part, or after its longest old part if it has no new
** one. */
static void name_replaced(struct finder *finder)
{
    const struct cause_part **best =
        memory_zeroed(finder->causes->count, sizeof *best); /* the chosen part by cause */
    if (!best) {
        failure_memory(finder->failure);
        return;
    }
    for (size_t i = 0; i < finder->parts->count; i++) {
        const struct cause_part *part = &finder->parts->items[i], **of = &best[part->cause];
        if (part->kind != CAUSE_REPLACED || (!cause_part_came(part) && part->time[1] > 0))
            continue;
        int order = -1;
        if (*of) {
            order = COMPARE(cause_part_came(*of), cause_part_came(part));
            order = order ? order
                          : COMPARE((*of)->time[0] + (*of)->time[1], part->time[0] + part->time[1]);
            order = order ? order
                          : -cause_name_order(finder->causes, place_of(finder, *of)->name,
                                              place_of(finder, part)->name);
        }
        if (order < 0)
            *of = part;
    }
    for (size_t i = 0; i < finder->causes->count; i++)
        if (best[i])
            finder->causes->items[i].name = place_of(finder, best[i])->name;
    memory_free(best);
}

/* Names synchronization causes after the operator that waits longest. */
static bool name_synchronized(struct finder *finder)
{
    struct causes *causes = finder->causes;
    const struct drains *drains = causes->drains;
    for (size_t i = 0; i < causes->count; i++)
        if (causes->items[i].kind == CAUSE_SYNCHRONIZED) {
            causes->items[i].name =
                names_adopt(&causes->names, &drains->names.items[drains->name]);
            if (causes->items[i].name == NAME_NONE)
                return failure_memory(finder->failure);
        }
    return true;
}

/* The difference of a cause in one area. */
struct area_diff {
    const struct causes *causes;
    size_t cause;
    uint32_t area;
    wide_time diff;
};

static int area_order(const void *a, const void *b)
{
    const struct area_diff *x = a, *y = b;
    int order = COMPARE(x->cause, y->cause);
    return order ? order : COMPARE(x->area, y->area);
}

/* Largest differences first. */
static int spread_order(const void *a, const void *b)
{
    const struct area_diff *x = a, *y = b;
    int order = COMPARE(x->cause, y->cause);
    order = order ? order : COMPARE(wide_size(y->diff), wide_size(x->diff));
    return order ? order : cause_name_order(x->causes, x->area, y->area);
}

/* Returns the differences of all causes by area, sorted by cause and area. */
static struct area_diff *collect_areas(struct finder *finder, size_t *count)
{
    const struct causes *causes = finder->causes;
    struct area_diff *items = memory_items(finder->parts->place_count, sizeof *items);
    size_t found = 0;
    *count = 0;
    if (!items) {
        failure_memory(finder->failure);
        return NULL;
    }
    for (size_t i = 0; i < finder->parts->count; i++) {
        const struct cause_part *part = &finder->parts->items[i];
        for (size_t j = part->first; j < part->first + part->count; j++) {
            const struct cause_place *place = &finder->parts->places[j];
            if (place->area != NAME_NONE && place->time[0] + place->time[1] > 0)
                items[found++] = (struct area_diff){
                    causes, part->cause, place->area,
                    place->time[1] * causes->windows[0] - place->time[0] * causes->windows[1]};
        }
    }
    if (!sort_items(items, found, sizeof *items, area_order, finder->stopper, finder->failure)) {
        memory_free(items);
        return NULL;
    }
    for (size_t i = 0; i < found; i++)
        if (*count > 0 && area_order(&items[*count - 1], &items[i]) == 0)
            items[*count - 1].diff += items[i].diff;
        else
            items[(*count)++] = items[i];
    return items;
}

/* L2.6 for the areas of one cause, sorted by spread_order(). */
static void find_only_in(struct causes *causes, const struct area_diff *areas, size_t count)
{
    struct cause *cause = &causes->items[areas->cause];
    wide_time all = 0, held = 0;
    size_t needed = 0;
    cause->instances = (int64_t)count;
    if (count == 1)
        cause->area = areas->area;
    for (size_t i = 0; i < count; i++)
        all += wide_size(areas[i].diff);
    while (needed < count && 5 * held < 4 * all)
        held += wide_size(areas[needed++].diff);
    if (count == 1 || all == 0 || (needed > 1 && 10 * needed >= count))
        return;
    for (size_t i = 0; i < needed; i++)
        causes->only_in[cause->only_first + i] = areas[i].area;
    cause->only_count = needed;
}

/* L2.6: finds the areas that explain most of each cause. */
static bool find_areas(struct finder *finder)
{
    struct causes *causes = finder->causes;
    size_t count;
    struct area_diff *areas = collect_areas(finder, &count);
    if (!areas)
        return false;
    causes->only_in = memory_items(count, sizeof *causes->only_in);
    bool done = causes->only_in
                    ? sort_items(areas, count, sizeof *areas, spread_order, finder->stopper,
                                 finder->failure)
                    : failure_memory(finder->failure);
    for (size_t i = 0, from = 0; done && i < count; from = i) {
        while (i < count && areas[i].cause == areas[from].cause)
            i++;
        causes->items[areas[from].cause].only_first = from;
        find_only_in(causes, &areas[from], i - from);
    }
    memory_free(areas);
    return done;
}

bool causes_find(struct causes *causes, const struct cause_side *sides,
                 const struct families *families, const struct drains *drains,
                 const struct cause_ranks *ranks, size_t shown,
                 const struct stopper *stopper, struct failure *failure)
{
    struct finder finder = {.causes = causes, .stopper = stopper, .failure = failure};
    *causes = (struct causes){.drains = drains};
    finder.parts = causes->parts = memory_zeroed(1, sizeof *causes->parts);
    bool done = (finder.parts || failure_memory(failure)) &&
                cause_parts_find(finder.parts, causes, sides, families, stopper, failure) &&
                moved_time_same_names(finder.parts, causes, failure) &&
                moved_time_settle(finder.parts, causes, stopper, failure) &&
                cause_parts_build(finder.parts, causes, stopper, failure) &&
                late_areas_find(finder.parts, causes, stopper, failure);
    if (done) {
        find_kinds(&finder);
        done = make_causes(&finder) && list_replaced(&finder);
    }
    if (done) {
        name_replaced(&finder);
        done = failure->code == FAILURE_NONE && name_synchronized(&finder) && find_areas(&finder) &&
               recomputed_find(causes, stopper, failure) &&
               (!ranks ||
                cause_ranks_find(causes, finder.parts, families, ranks, stopper, failure)) &&
               causes_merge(causes, shown, stopper, failure);
    }
    if (!done)
        causes_clear(causes);
    return done;
}

void causes_clear(struct causes *causes)
{
    if (causes->parts)
        cause_parts_clear(causes->parts);
    memory_free(causes->parts);
    names_clear(&causes->names);
    memory_free(causes->items);
    memory_free(causes->only_in);
    memory_free(causes->replaced);
    memory_free(causes->recomputed);
    memory_free(causes->ranks);
    *causes = (struct causes){.items = NULL};
}
