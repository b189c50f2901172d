#include "factors.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "thresholds.h"

enum { SHOWN_KEYS = 5 }; /* all keys but the types of a kernel */

struct finding {
    struct common_factor *found;
    const struct keyed *sums;
    bool kernels;                  /* kernels, else operators */
    int keys[FACTOR_KEYS];         /* keys of the items; -1: unused */
    int kind_key;                  /* a row counts if this key has a value of `kinds` */
    uint32_t kinds[2];
    int64_t steps[2];
    size_t count;                  /* number of items */
    wide_time all[2], compared[2]; /* ns in all steps, of all items and of the compared ones */
    const struct stopper *stopper;
    struct failure *failure;
};

static int name_order(const struct name *a, const struct name *b)
{
    return a == b ? 0 : a && b ? name_compare(a, b) : COMPARE(a != NULL, b != NULL);
}

/* Orders items by their first keys. */
static int order_by(const struct factor_item *a, const struct factor_item *b, int count)
{
    int order = 0;
    for (int i = 0; i < count && order == 0; i++)
        order = name_order(a->keys[i], b->keys[i]);
    return order;
}

static int key_order(const void *a, const void *b)
{
    return order_by(a, b, FACTOR_KEYS);
}

static int time_order(const void *a, const void *b)
{
    const struct factor_item *x = a, *y = b;
    return COMPARE(y->weight, x->weight);
}

static int factor_order(const void *a, const void *b)
{
    const struct factor_item *x = a, *y = b;
    return COMPARE(x->factor, y->factor);
}

static int rest_order(const void *a, const void *b)
{
    const struct factor_item *x = a, *y = b;
    int order = COMPARE(y->beyond, x->beyond);
    order = order ? order : COMPARE(fabs(y->times.rest), fabs(x->times.rest));
    order = order ? order : order_by(a, b, SHOWN_KEYS);
    order = order ? order : COMPARE(x->factor, y->factor);
    return order ? order : COMPARE(y->times.control, x->times.control);
}

static bool sort(struct finding *finding, int (*order)(const void *, const void *))
{
    return sort_items(finding->found->items, finding->count, sizeof *finding->found->items, order,
                      finding->stopper, finding->failure);
}

/* Returns the value of a key, or NULL for none. */
static const struct name *value_of(const struct finding *finding, size_t row, int key)
{
    uint32_t id = key < 0 ? NAME_NONE : work_key(finding->sums, row, key);
    return id == NAME_NONE ? NULL : &finding->sums->names.items[id];
}

static bool is_of_kind(const struct finding *finding, size_t row)
{
    uint32_t kind = work_key(finding->sums, row, finding->kind_key);
    return kind != NAME_NONE && (kind == finding->kinds[0] || kind == finding->kinds[1]);
}

/* Returns the number of kernels or of host events; the other one is 0. */
static int64_t count_of(const struct keyed_sums *sums)
{
    return sums->kernels + sums->events;
}

/* Whether both sides recorded a key. For kernels, any device work counts. */
static bool is_recorded(const struct finding *finding, int key)
{
    bool recorded[2] = {false, false};
    for (size_t row = 0; row < finding->sums->count; row++)
        if (value_of(finding, row, key) && (finding->kernels || is_of_kind(finding, row)))
            for (int side = 0; side < 2; side++)
                recorded[side] |= count_of(&finding->sums->sums[row][side]) > 0;
    return recorded[0] && recorded[1];
}

/* Groups the rows with equal keys into items, in the order of the keys. */
static bool list_items(struct finding *finding)
{
    struct factor_item *items = finding->found->items =
        memory_items(finding->sums->count, sizeof *items);
    size_t count = 0;
    if (!items)
        return failure_memory(finding->failure);
    for (size_t row = 0; row < finding->sums->count; row++) {
        struct factor_item *item = &items[finding->count];
        if (!is_of_kind(finding, row))
            continue;
        *item = (struct factor_item){.beyond = false};
        for (int i = 0; i < FACTOR_KEYS; i++)
            item->keys[i] = value_of(finding, row, finding->keys[i]);
        for (int side = 0; side < 2; side++) {
            const struct keyed_sums *sums = &finding->sums->sums[row][side];
            item->runs[side] = count_of(sums);
            item->time[side] = sums->device_time + sums->self_time;
            finding->all[side] += item->time[side];
        }
        finding->count++;
    }
    if (!sort(finding, key_order))
        return false;
    for (size_t i = 0; i < finding->count; i++)
        if (count == 0 || key_order(&items[count - 1], &items[i]) != 0) {
            items[count++] = items[i];
        } else {
            for (int side = 0; side < 2; side++) {
                items[count - 1].runs[side] += items[i].runs[side];
                items[count - 1].time[side] += items[i].time[side];
            }
        }
    finding->count = count;
    return true;
}

/* Keeps the items that take time and execute equally often per step on both sides. */
static void compare_items(struct finding *finding)
{
    struct common_factor *found = finding->found;
    const int64_t *steps = finding->steps;
    for (size_t i = 0; i < finding->count; i++) {
        struct factor_item *item = &found->items[found->compared];
        *item = found->items[i];
        if (item->time[0] <= 0 || item->time[1] <= 0 ||
            (wide_time)item->runs[0] * steps[1] != (wide_time)item->runs[1] * steps[0])
            continue;
        item->factor = (double)item->time[1] * (double)item->runs[0] /
                       ((double)item->time[0] * (double)item->runs[1]);
        item->counts = (double)item->runs[0] / (double)steps[0];
        item->weight = item->time[0] * steps[1] + item->time[1] * steps[0];
        for (int side = 0; side < 2; side++)
            finding->compared[side] += item->time[side];
        found->compared++;
    }
    finding->count = found->compared;
}

/* X1.2, with the longest items first. Weights above the cap get the cap. All weights are multiplied
** so that they stay integers. */
static void cap_weights(struct finding *finding)
{
    struct factor_item *items = finding->found->items;
    wide_time rest = 0, parts = FACTOR_PARTS;
    size_t longest = 0;
    for (size_t i = 0; i < finding->count; i++)
        rest += items[i].weight;
    for (; longest < finding->count && items[longest].weight * parts > rest; longest++, parts--)
        rest -= items[longest].weight;
    for (size_t i = 0; i < finding->count; i++)
        items[i].weight = longest == finding->count ? 1
                          : i < longest             ? rest
                                                    : items[i].weight * parts;
}

/* Returns the first factor at which the weights reach 1 / parts of the total; `last`: counted from
** the highest factor. */
static double quantile(const struct finding *finding, wide_time parts, bool last)
{
    const struct factor_item *items = finding->found->items;
    wide_time whole = 0, sum = 0;
    size_t i = 0;
    for (size_t each = 0; each < finding->count; each++)
        whole += items[each].weight;
    while (parts * (sum += items[last ? finding->count - 1 - i : i].weight) < whole)
        i++;
    return items[last ? finding->count - 1 - i : i].factor;
}

/* X1: finds the common factor of the compared items. */
static bool find_common(struct finding *finding)
{
    struct common_factor *found = finding->found;
    compare_items(finding);
    if (finding->count == 0)
        return true;
    if (!sort(finding, time_order))
        return false;
    cap_weights(finding);
    if (!sort(finding, factor_order))
        return false;
    found->factor = sqrt(quantile(finding, 2, false) * quantile(finding, 2, true));
    found->away = fmax(found->factor, 1 / found->factor);
    found->low = quantile(finding, 4, false);
    found->high = quantile(finding, 4, true);
    return true;
}

/* Whether an item has the factor within a tolerance. */
static bool is_at(const struct factor_item *item, double factor, double tolerance)
{
    return fmax(item->factor / factor, factor / item->factor) <= 1 + tolerance;
}

/* X3.1: returns the tolerance around the common factor. */
static double tolerance_of(const struct common_factor *found)
{
    return found->away < CLOCK_LEAST_AWAY
               ? CLOCK_TOLERANCE
               : fmin(CLOCK_TOLERANCE, (found->away - 1) / CLOCK_TOLERANCE_PARTS);
}

/* Counts the kernels that agree with the factor. `device`: ns of all device work. */
static void count_agreeing(struct finding *finding, const double *device)
{
    struct common_factor *found = finding->found;
    double tolerance = tolerance_of(found), time = 0, all = 0;
    wide_time whole = 0, agreeing = 0;
    for (size_t i = 0; i < finding->count; i++) {
        const struct factor_item *item = &found->items[i];
        whole += item->weight;
        if (!is_at(item, found->factor, tolerance))
            continue;
        agreeing += item->weight;
        found->agreeing++;
        for (int side = 0; side < 2; side++)
            time += (double)item->time[side] / (double)finding->steps[side];
    }
    found->agreement = (double)agreeing / (double)whole;
    for (int side = 0; side < 2; side++)
        all += device[side] / (double)finding->steps[side];
    found->share = all > 0 ? time / all : 0;
}

/* X3.2, L7.4: decides whether one factor fits the items. */
static enum factor_outcome judge(const struct finding *finding)
{
    const struct common_factor *found = finding->found;
    bool few = finding->count < FACTOR_LEAST, away = found->away >= HOST_LEAST_AWAY;
    for (int side = 0; side < 2; side++)
        few |= (double)finding->compared[side] < FACTOR_LEAST_TIME * (double)finding->all[side];
    if (few)
        return FACTOR_TOO_FEW;
    if (finding->kernels)
        return found->agreeing < FACTOR_LEAST || found->agreement < CLOCK_LEAST_AGREE
                   ? FACTOR_DIFFERS
               : found->away < CLOCK_LEAST_AWAY ? FACTOR_NO_CHANGE
                                                : FACTOR_ONE;
    if (away && found->high / found->low < found->away)
        return FACTOR_ONE;
    if (away || (found->low <= 1 / HOST_LEAST_AWAY && found->high >= HOST_LEAST_AWAY))
        return FACTOR_DIFFERS;
    return FACTOR_NO_CHANGE;
}

/* Converts times to us. `unit`: number of the input's units per us. */
static struct factor_times times_of(const double *step, double explained, double unit)
{
    double diff = step[1] - step[0];
    return (struct factor_times){step[0] / unit, step[1] / unit, diff / unit, explained / unit,
                                 (diff - explained) / unit};
}

/* Splits the differences of the items, the step and the rest into the part that the common factor
** explains and the remainder. */
static bool explain(struct finding *finding, const double *whole, const double *other, double unit)
{
    struct common_factor *found = finding->found;
    bool one = found->outcome == FACTOR_ONE;
    double factor = one ? found->factor : 1, explained = 0;
    double tolerance = one ? tolerance_of(found) : CLOCK_TOLERANCE;
    for (size_t i = 0; i < finding->count; i++) {
        struct factor_item *item = &found->items[i];
        double own = item->step[0] * (factor - 1);
        item->times = times_of(item->step, own, unit);
        item->beyond = finding->kernels && !is_at(item, factor, tolerance);
        explained += own;
    }
    found->whole = times_of(whole, explained, unit);
    found->other = times_of(other, 0, unit);
    return sort(finding, rest_order);
}

/* Compares an item with an operator and a kernel name. */
static int place_order(const struct factor_item *item, const struct name *op,
                       const struct name *name)
{
    int order = name_order(item->keys[0], op);
    return order ? order : name_order(item->keys[1], name);
}

/* Adds a part of the step to the first item with its operator and kernel name. */
static void add_part(struct finding *finding, const struct cause_side *from, int side,
                     const struct attributed *part)
{
    struct factor_item *items = finding->found->items;
    const struct name *names[2] = {NULL, NULL};
    const uint32_t ids[] = {part->name[LEVEL_OP], part->name[LEVEL_KERNEL]};
    size_t i = 0;
    for (int name = 0; name < 2; name++)
        if (ids[name] != NAME_NONE)
            names[name] = &from->names->items[ids[name]];
    LOWER_BOUND(i, finding->count, place_order(&items[i], names[0], names[1]) < 0);
    if (i < finding->count && place_order(&items[i], names[0], names[1]) == 0)
        items[i].step[side] += (double)part->time;
}

/* X4.4: distributes the time of the first item of each operator and name among its items. */
static void divide_parts(struct finding *finding, int side)
{
    struct factor_item *items = finding->found->items;
    for (size_t first = 0, end; first < finding->count; first = end) {
        const struct name *const *keys = items[first].keys;
        double time = items[first].step[side], sum = 0;
        for (end = first; end < finding->count && place_order(&items[end], keys[0], keys[1]) == 0;
             end++)
            sum += (double)items[end].time[side];
        for (size_t i = first; i < end && sum > 0; i++)
            items[i].step[side] = time * (double)items[i].time[side] / sum /
                                  (double)finding->steps[side];
    }
}

/* Finds the time of each kernel in the step, and of the whole step, in ns per step. */
static bool place_kernels(struct finding *finding, const struct cause_side *sides, double *whole)
{
    for (int side = 0; side < 2; side++) {
        const struct attributed_step *total = sides[side].total;
        for (size_t i = 0; i < total->count; i++) {
            if (!stopper_goes_on(finding->stopper, i, finding->failure))
                return false;
            whole[side] += (double)total->rows[i].time;
            if (total->rows[i].step_class == CLASS_COMPUTE)
                add_part(finding, &sides[side], side, &total->rows[i]);
        }
        whole[side] /= (double)finding->steps[side];
        divide_parts(finding, side);
    }
    return true;
}

static bool find_clock(struct finding *finding, const struct cause_side *sides)
{
    struct common_factor *found = finding->found;
    double device[2] = {0, 0}, whole[2] = {0, 0}, other[2];
    if (!is_recorded(finding, DEVICE_SHAPES))
        finding->keys[4] = finding->keys[5] = -1;
    if (!list_items(finding) || !place_kernels(finding, sides, whole) || !find_common(finding))
        return false;
    for (int side = 0; side < 2; side++) {
        for (size_t row = 0; row < finding->sums->count; row++)
            device[side] += (double)finding->sums->sums[row][side].device_time;
        other[side] = whole[side];
        for (size_t i = 0; i < finding->count; i++)
            other[side] -= found->items[i].step[side];
    }
    count_agreeing(finding, device);
    found->outcome = judge(finding);
    return explain(finding, whole, other, 1000);
}

/* L7.5: returns the part of the difference beyond the load, in us per step. */
static double beyond(const struct common_factor *found)
{
    double control = found->other.control, diff = found->other.diff;
    double least = control * (fmin(found->low, 1) - 1);
    return diff - fmax(least, fmin(control * (fmax(found->high, 1) - 1), diff));
}

static bool find_host(struct finding *finding)
{
    struct common_factor *found = finding->found;
    const int64_t *steps = finding->steps;
    double whole[2], compared[2], other[2];
    for (int i = 1; i < 3; i++)
        if (!is_recorded(finding, finding->keys[i]))
            finding->keys[i] = -1;
    if (!list_items(finding))
        return false;
    if (finding->count == 0)
        return true;
    if (!find_common(finding))
        return false;
    for (int side = 0; side < 2; side++) {
        wide_time rest = finding->all[side] - finding->compared[side];
        whole[side] = mean_microseconds(finding->all[side], steps[side]);
        compared[side] = mean_microseconds(finding->compared[side], steps[side]);
        other[side] = mean_microseconds(rest, steps[side]);
        for (size_t i = 0; i < finding->count; i++)
            found->items[i].step[side] = mean_microseconds(found->items[i].time[side], steps[side]);
    }
    found->share = (compared[0] + compared[1]) / (whole[0] + whole[1]);
    found->outcome = judge(finding);
    if (!explain(finding, whole, other, 1))
        return false;
    if (finding->count > 0)
        found->beyond = beyond(found);
    return true;
}

static const struct common_factor nothing = {
    .factor = NAN, .away = NAN, .low = NAN, .high = NAN, .beyond = NAN};

bool clock_factor_find(struct common_factor *found, const struct keyed *sums,
                       const struct cause_side sides[2], const struct stopper *stopper,
                       struct failure *failure)
{
    const char *computes = kernel_type_name(KERNEL_COMPUTATION);
    uint32_t kind = names_find(&sums->names, computes, strlen(computes));
    struct finding finding = {
        .found = found,
        .sums = sums,
        .kernels = true,
        .keys = {DEVICE_OP, DEVICE_KERNEL, DEVICE_GRID, DEVICE_BLOCK, DEVICE_SHAPES, DEVICE_TYPES},
        .kind_key = DEVICE_KERNEL_TYPE,
        .kinds = {kind, kind},
        .steps = {(int64_t)sides[0].total->steps, (int64_t)sides[1].total->steps},
        .stopper = stopper,
        .failure = failure};
    *found = nothing;
    bool timed = sides[0].total->count > 0 && sides[1].total->count > 0;
    bool done = !timed || find_clock(&finding, sides);
    if (!done)
        common_factor_clear(found);
    return done;
}

bool host_factor_find(struct common_factor *found, const struct keyed *sums,
                      const int64_t steps[2], const struct stopper *stopper,
                      struct failure *failure)
{
    struct finding finding = {
        .found = found,
        .sums = sums,
        .keys = {HOST_NAME, HOST_SHAPES, HOST_TYPES, -1, -1, -1},
        .kind_key = HOST_CAT,
        .kinds = {names_find(&sums->names, "cpu_op", 6), names_find(&sums->names, "Operator", 8)},
        .steps = {steps[0], steps[1]},
        .stopper = stopper,
        .failure = failure};
    *found = nothing;
    bool done = find_host(&finding);
    if (!done)
        common_factor_clear(found);
    return done;
}

void common_factor_clear(struct common_factor *found)
{
    memory_free(found->items);
    found->items = NULL;
}
