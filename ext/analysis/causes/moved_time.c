#include "moved_time.h"

#include "analysis/names/same_names.h"
#include "base/memory.h"
#include "base/sort.h"

/* The places among which time may move. */
enum pool {
    POOL_OWN,  /* places of one class and one kernel or innermost operator */
    POOL_REST, /* gaps, queued time, and host events of one side only */
    POOL_NONE  /* time stays in its place */
};

struct settling {
    struct cause_parts *parts;
    const struct causes *causes;
    unsigned char *sides; /* by class and unit id: bit 0 if control has it, bit 1 if test has it */
};

/* A place in a group. */
struct grouped {
    const struct settling *settling;
    size_t place;
    enum pool pool;
};

/* The places of one part in a group. */
struct mover {
    const struct causes *causes;
    const struct cause_place *place; /* the first place */
    size_t first, count;             /* range in the grouped places */
    wide_time time[2], diff;         /* ns; diff: ns times the windows of both sides */
};

static wide_time difference(const struct causes *causes, const wide_time *time)
{
    return time[1] * causes->windows[0] - time[0] * causes->windows[1];
}

static unsigned char *sides_of(const struct settling *settling, const struct cause_place *place)
{
    return &settling->sides[place->unit * (size_t)CLASS_NONE + place->step_class];
}

static bool is_gap(enum step_class step_class)
{
    return step_class == CLASS_IDLE_UNRECORDED || step_class == CLASS_UNRECORDED;
}

/* L12.1: returns the pool of a place. */
static enum pool pool_of(const struct settling *settling, const struct cause_place *place)
{
    enum step_class class = place->step_class;
    bool host = class == CLASS_CALL || class == CLASS_HOST;
    if (class == CLASS_NONE)
        return POOL_NONE;
    if (is_gap(class) || class == CLASS_IDLE_WAIT)
        return POOL_REST;
    if (place->unit == NAME_NONE)
        return POOL_NONE;
    if (class_has_areas(class))
        return POOL_OWN;
    return *sides_of(settling, place) == 3 ? POOL_OWN : host ? POOL_NONE : POOL_REST;
}

static int group_order(const struct grouped *x, const struct grouped *y)
{
    const struct cause_place *a = &x->settling->parts->places[x->place];
    const struct cause_place *b = &y->settling->parts->places[y->place];
    int order = COMPARE(x->pool, y->pool);
    if (order || x->pool != POOL_OWN)
        return order;
    order = COMPARE(a->step_class, b->step_class);
    return order ? order : COMPARE(a->unit, b->unit);
}

static int grouped_order(const void *a, const void *b)
{
    const struct grouped *x = a, *y = b;
    const struct causes *causes = x->settling->causes;
    const struct cause_place *one = &x->settling->parts->places[x->place];
    const struct cause_place *other = &x->settling->parts->places[y->place];
    int order = group_order(x, y);
    order = order ? order : cause_part_order(one, other);
    order = order ? order
                  : COMPARE(wide_size(difference(causes, other->time)),
                            wide_size(difference(causes, one->time)));
    order = order ? order : cause_name_order(causes, one->area, other->area);
    order = order ? order : cause_name_order(causes, one->late_area, other->late_area);
    order = order ? order : cause_name_order(causes, one->op, other->op);
    order = order ? order : cause_name_order(causes, one->unit, other->unit);
    return order ? order : COMPARE(one->stage, other->stage);
}

/* Parts of one side only first, then the largest. */
static int mover_order(const void *a, const void *b)
{
    const struct mover *x = a, *y = b;
    bool one = x->time[0] > 0 && x->time[1] > 0, other = y->time[0] > 0 && y->time[1] > 0;
    int order = COMPARE(one, other);
    order = order ? order : COMPARE(wide_size(y->diff), wide_size(x->diff));
    order = order ? order : COMPARE(x->place->step_class, y->place->step_class);
    order = order ? order : cause_name_order(x->causes, x->place->name, y->place->name);
    return order ? order : cause_name_order(x->causes, x->place->family, y->place->family);
}

/* Takes control's time from a place or, without `take`, gives it, with its share of `kernels`. */
static void shift_place(struct cause_place *place, wide_time amount, bool take, bool one_sided,
                        int64_t *kernels, wide_time left)
{
    int64_t with = take ? (int64_t)(place->kernels[0] * amount / place->time[0])
                        : (int64_t)(*kernels * amount / left);
    place->time[0] += take ? -amount : amount;
    place->kernels[0] += take ? -with : with;
    *kernels += take ? with : -with;
    place->moved |= one_sided;
    place->shifted += amount;
    place->received += take ? -amount : amount;
}

/* Takes control's time from the places of a mover that lost it or, without `take`, gives it to the
** places that gained it, largest change first. A remainder of the division goes to the first place
** with room. */
static void shift(const struct settling *settling, const struct grouped *grouped,
                  const struct mover *mover, wide_time amount, bool take, int64_t *kernels)
{
    bool one_sided = mover->time[0] == 0 || mover->time[1] == 0;
    for (int round = 0; round < 2; round++)
        for (size_t i = mover->first; i < mover->first + mover->count && amount > 0; i++) {
            struct cause_place *place = &settling->parts->places[grouped[i].place];
            wide_time diff = difference(settling->causes, place->time);
            wide_time room = round == 1 ? (take ? place->time[0] : amount)
                             : take == (diff < 0)
                                 ? wide_size(diff) / settling->causes->windows[1]
                                 : 0;
            wide_time part = room < amount ? room : amount;
            if (part == 0)
                continue;
            shift_place(place, part, take, one_sided, kernels, amount);
            amount -= part;
        }
}

/* Moves the largest possible amount from a mover that lost time to one that gained it. */
static void shift_between(const struct settling *settling, const struct grouped *grouped,
                          struct mover *from, struct mover *to)
{
    wide_time most = -from->diff < to->diff ? -from->diff : to->diff;
    wide_time amount = most / settling->causes->windows[1];
    int64_t kernels = 0;
    shift(settling, grouped, from, amount, true, &kernels);
    shift(settling, grouped, to, amount, false, &kernels);
    from->diff += amount * settling->causes->windows[1];
    to->diff -= amount * settling->causes->windows[1];
}

/* Moves the lost time of a group to the movers that gained time. */
static void settle(const struct settling *settling, const struct grouped *grouped,
                   struct mover *movers, size_t count)
{
    size_t loser = 0, gainer = 0;
    while (true) {
        while (loser < count && movers[loser].diff > -settling->causes->windows[1])
            loser++;
        while (gainer < count && movers[gainer].diff < settling->causes->windows[1])
            gainer++;
        if (loser == count || gainer == count)
            return;
        shift_between(settling, grouped, &movers[loser], &movers[gainer]);
    }
}

/* Gaps first. */
static int gap_order(const void *a, const void *b)
{
    const struct mover *x = a, *y = b;
    int order = COMPARE(is_gap(y->place->step_class), is_gap(x->place->step_class));
    return order ? order : mover_order(a, b);
}

/* Settles a group. In POOL_REST, gaps settle among themselves first (L12.2). */
static bool settle_group(const struct settling *settling, const struct grouped *grouped,
                         struct mover *movers, size_t count, bool rest,
                         const struct stopper *stopper, struct failure *failure)
{
    size_t gaps = 0;
    if (rest && !sort_items(movers, count, sizeof *movers, gap_order, stopper, failure))
        return false;
    while (rest && gaps < count && is_gap(movers[gaps].place->step_class))
        gaps++;
    settle(settling, grouped, movers, gaps);
    if (!sort_items(movers, count, sizeof *movers, mover_order, stopper, failure))
        return false;
    settle(settling, grouped, movers, count);
    return true;
}

/* Adds up the places of a part in a group, from `*i` on. Sets `*i` to their end. */
static struct mover take_mover(const struct settling *settling, const struct grouped *grouped,
                               size_t count, size_t *i)
{
    const struct cause_place *places = settling->parts->places;
    size_t first = *i;
    struct mover mover = {
        .causes = settling->causes, .place = &places[grouped[first].place], .first = first};
    for (; *i < count && group_order(&grouped[first], &grouped[*i]) == 0 &&
           cause_part_order(mover.place, &places[grouped[*i].place]) == 0;
         ++*i) {
        const wide_time *time = places[grouped[*i].place].time;
        for (int side = 0; side < 2; side++)
            mover.time[side] += time[side];
        mover.diff += difference(settling->causes, time);
    }
    mover.count = *i - first;
    return mover;
}

static bool settle_groups(const struct settling *settling, const struct grouped *grouped,
                          size_t count, const struct stopper *stopper, struct failure *failure)
{
    struct mover *movers = memory_items(count, sizeof *movers);
    bool done = movers || failure_memory(failure);
    for (size_t i = 0; i < count && done;) {
        size_t first = i, found = 0;
        while (i < count && group_order(&grouped[first], &grouped[i]) == 0)
            movers[found++] = take_mover(settling, grouped, count, &i);
        enum pool pool = grouped[first].pool;
        done = pool == POOL_NONE || settle_group(settling, grouped, movers, found,
                                                 pool == POOL_REST, stopper, failure);
    }
    memory_free(movers);
    return done;
}

/* Whether an event of this name is next to a gap (A5.4). */
static bool is_beside(const struct name *gap, const struct name *name)
{
    static const char *const froms[] = {"between ", "after ", "before "};
    const char *text = gap->text, *end = text + gap->length;
    for (size_t i = 0; i < sizeof froms / sizeof *froms; i++) {
        if (!begins(text, end, froms[i]))
            continue;
        const char *first = text + strlen(froms[i]);
        if ((size_t)(end - first) < name->length)
            return false;
        const char *last = end - name->length;
        bool starts = memcmp(first, name->text, name->length) == 0;
        bool stops = memcmp(last, name->text, name->length) == 0;
        return i > 0 ? starts && stops && first == last
                     : (starts && begins(first + name->length, end, " and ")) ||
                           (stops && ends(first, last, " and "));
    }
    return false;
}

/* Parts with a difference that remains after settle_groups(). */
struct leftovers {
    struct mover *items;
    size_t count;
};

/* Adds a part if it is a gap of one side (`gaps`) or time of the host in an event. */
static void add_left(const struct settling *settling, const struct grouped *grouped,
                     const struct mover *mover, bool gaps, struct leftovers *left)
{
    const struct cause_place *place = mover->place;
    bool wanted = place->name != NAME_NONE && grouped[mover->first].pool != POOL_NONE &&
                  (gaps ? is_gap(place->step_class) : class_is_late(place->step_class));
    wide_time recorded = 0;
    for (size_t i = mover->first; i < mover->first + mover->count; i++) {
        const struct cause_place *own = &settling->parts->places[grouped[i].place];
        recorded += own->time[0] - own->received;
    }
    if (wanted && (!gaps || recorded == 0 || mover->time[1] == 0) &&
        wide_size(mover->diff) >= settling->causes->windows[1])
        left->items[left->count++] = *mover;
}

/* Lists the remaining parts, largest first. */
static bool list_left(const struct settling *settling, const struct grouped *grouped, size_t count,
                      bool gaps, struct leftovers *left, const struct stopper *stopper,
                      struct failure *failure)
{
    *left = (struct leftovers){.items = memory_items(count, sizeof *left->items)};
    if (!left->items)
        return failure_memory(failure);
    for (size_t i = 0; i < count;) {
        const struct mover mover = take_mover(settling, grouped, count, &i);
        add_left(settling, grouped, &mover, gaps, left);
    }
    return sort_items(left->items, left->count, sizeof *left->items, mover_order, stopper,
                      failure);
}

/* Moves the rest of one-sided gaps between them and the events next to them (L12.5). */
static bool settle_beside(const struct settling *settling, const struct grouped *grouped,
                          size_t count, const struct stopper *stopper, struct failure *failure)
{
    const struct names *names = &settling->causes->names;
    struct leftovers gaps = {.count = 0}, late = {.count = 0};
    bool done = list_left(settling, grouped, count, true, &gaps, stopper, failure) &&
                list_left(settling, grouped, count, false, &late, stopper, failure);
    for (size_t i = 0; done && i < gaps.count; i++)
        for (size_t j = 0; done && j < late.count && gaps.items[i].diff != 0; j++) {
            struct mover *gap = &gaps.items[i], *event = &late.items[j];
            struct mover *from = gap->diff < 0 ? gap : event, *to = gap->diff < 0 ? event : gap;
            done = stopper_goes_on(stopper, i * late.count + j, failure);
            if (-from->diff >= settling->causes->windows[1] &&
                to->diff >= settling->causes->windows[1] &&
                is_beside(&names->items[gap->place->name], &names->items[event->place->name]))
                shift_between(settling, grouped, from, to);
        }
    memory_free(gaps.items);
    memory_free(late.items);
    return done;
}

bool moved_time_settle(struct cause_parts *parts, const struct causes *causes,
                       const struct stopper *stopper, struct failure *failure)
{
    struct settling settling = {.parts = parts, .causes = causes};
    if (causes->windows[0] == 0 || causes->windows[1] == 0)
        return true;
    if (!cause_places_join(parts, stopper, failure))
        return false;
    size_t count = parts->place_count;
    struct grouped *grouped = memory_items(count, sizeof *grouped);
    settling.sides = memory_zeroed((causes->names.count + 1) * CLASS_NONE, 1);
    bool done = (grouped && settling.sides) || failure_memory(failure);
    for (size_t i = 0; i < count && done; i++)
        for (int side = 0; side < 2; side++)
            if (parts->places[i].unit != NAME_NONE && parts->places[i].time[side] > 0)
                *sides_of(&settling, &parts->places[i]) |= (unsigned char)(1 << side);
    for (size_t i = 0; i < count && done; i++)
        grouped[i] = (struct grouped){&settling, i, pool_of(&settling, &parts->places[i])};
    done = done && sort_items(grouped, count, sizeof *grouped, grouped_order, stopper, failure) &&
           settle_groups(&settling, grouped, count, stopper, failure) &&
           settle_beside(&settling, grouped, count, stopper, failure);
    memory_free(grouped);
    memory_free(settling.sides);
    return done;
}

bool moved_time_same_names(struct cause_parts *parts, struct causes *causes,
                           struct failure *failure)
{
    size_t count = causes->names.count;
    unsigned char *sides = memory_zeroed(count + 1, 1); /* by id: bits of the sides */
    for (size_t i = 0; sides && i < parts->place_count; i++) {
        const struct cause_place *place = &parts->places[i];
        const uint32_t ids[] = {place->name, place->unit, place->family};
        for (size_t j = 0; j < sizeof ids / sizeof *ids; j++)
            for (int side = 0; side < 2; side++)
                if (ids[j] != NAME_NONE && (place->time[side] > 0 || place->kernels[side] > 0))
                    sides[ids[j]] |= (unsigned char)(1 << side);
    }
    parts->same = sides ? same_names_make(&causes->names, sides, failure) : NULL;
    parts->same_count = count;
    for (size_t i = 0; i < parts->place_count && parts->same; i++)
        cause_place_same(parts, &parts->places[i]);
    bool done = sides || failure_memory(failure);
    memory_free(sides);
    return done && parts->same;
}
