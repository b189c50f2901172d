#include "factors.h"

#include <math.h>

#include "base/memory.h"
#include "base/sort.h"
#include "thresholds.h"

static bool is_of_kind(const struct things_request *request, size_t row)
{
    uint32_t kind = work_key(request->sums, row, request->kind_key);
    return kind != NAME_NONE && (kind == request->kinds[0] || kind == request->kinds[1]);
}

bool key_recorded(const struct things_request *request, bool of_kind, int key)
{
    const struct keyed *sums = request->sums;
    bool recorded[2] = {false, false};
    for (size_t row = 0; row < sums->count; row++)
        for (int side = 0; side < 2; side++)
            recorded[side] =
                recorded[side] || (work_key(sums, row, key) != NAME_NONE &&
                                   sums->sums[row][side].kernels + sums->sums[row][side].events > 0 &&
                                   (!of_kind || is_of_kind(request, row)));
    return recorded[0] && recorded[1];
}

static int thing_order(const void *a, const void *b)
{
    const struct thing *x = a, *y = b;
    int order = 0;
    for (int key = 0; key < THING_KEYS && order == 0; key++)
        order = COMPARE(x->keys[key], y->keys[key]);
    return order;
}

/* A row of sums as a thing. */
static struct thing thing_of_row(const struct things_request *request, size_t row)
{
    struct thing thing = {.compared = false};
    for (int key = 0; key < THING_KEYS; key++)
        thing.keys[key] = request->keys[key] < 0
                              ? NAME_NONE
                              : work_key(request->sums, row, request->keys[key]);
    for (int side = 0; side < 2; side++) { /* of the host there is no device time, nor the reverse */
        const struct keyed_sums *sums = &request->sums->sums[row][side];
        thing.counts[side] = sums->kernels + sums->events;
        thing.time[side] = sums->device_time + sums->self_time;
    }
    return thing;
}

/* Makes one of neighbours with the same keys. */
static void merge(struct things *things)
{
    size_t count = 0;
    for (size_t i = 0; i < things->count; i++) {
        const struct thing *thing = &things->items[i];
        if (count == 0 || thing_order(&things->items[count - 1], thing) != 0) {
            things->items[count++] = *thing;
            continue;
        }
        for (int side = 0; side < 2; side++) {
            things->items[count - 1].counts[side] += thing->counts[side];
            things->items[count - 1].time[side] += thing->time[side];
        }
    }
    things->count = count;
}

static void compare(struct things *things)
{
    for (size_t i = 0; i < things->count; i++) {
        struct thing *thing = &things->items[i];
        const double times[2] = {(double)thing->time[0], (double)thing->time[1]};
        thing->compared =
            thing->time[0] > 0 && thing->time[1] > 0 &&
            (wide_time)thing->counts[0] * things->steps[1] ==
                (wide_time)thing->counts[1] * things->steps[0];
        things->compared += thing->compared;
        if (thing->compared)
            thing->factor = times[1] * (double)thing->counts[0] /
                            (times[0] * (double)thing->counts[1]);
    }
}

bool things_find(const struct things_request *request, struct things *things,
                 const struct stopper *stopper, struct failure *failure)
{
    *things = (struct things){.steps = {request->steps[0], request->steps[1]}};
    things->items = memory_items(request->sums->count, sizeof *things->items);
    if (!things->items)
        return failure_memory(failure);
    for (size_t row = 0; row < request->sums->count; row++)
        if (is_of_kind(request, row))
            things->items[things->count++] = thing_of_row(request, row);
    if (!sort_items(things->items, things->count, sizeof *things->items, thing_order, stopper,
                    failure)) {
        things_clear(things);
        return false;
    }
    merge(things);
    compare(things);
    return true;
}

void things_clear(struct things *things)
{
    memory_free(things->items);
    *things = (struct things){.count = 0};
}

static int weight_order(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    return COMPARE(y->weight, x->weight);
}

static int factor_order(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    return COMPARE(x->factor, y->factor);
}

/* X1.2: makes weights of times, which are sorted, the longest first. What is too long has what is
** left for each of the parts. */
static void cap(struct weighed *items, size_t count)
{
    wide_time rest = 0, parts = FACTOR_PARTS;
    size_t longest = 0;
    for (size_t i = 0; i < count; i++)
        rest += items[i].weight;
    for (; longest < count && items[longest].weight * parts > rest; longest++, parts--)
        rest -= items[longest].weight;
    for (size_t i = 0; i < count; i++) /* times `parts`, so that it stays whole */
        items[i].weight = longest == count ? 1 : i < longest ? rest : items[i].weight * parts;
}

/* The lowest factor that, with those before it from one end, has a part of the weight. */
static double quantile(const struct weighed *items, size_t count, wide_time parts, bool from_end)
{
    wide_time whole = 0, sum = 0;
    size_t i = 0;
    for (size_t each = 0; each < count; each++)
        whole += items[each].weight;
    for (; i < count; i++) {
        sum += items[from_end ? count - 1 - i : i].weight;
        if (parts * sum >= whole)
            break;
    }
    return items[from_end ? count - 1 - i : i].factor;
}

struct weighed *common_factor_find(const struct things *things, struct common_factor *common,
                                   const struct stopper *stopper, struct failure *failure)
{
    size_t count = 0;
    struct weighed *items = memory_items(things->compared, sizeof *items);
    for (size_t i = 0; items && i < things->count; i++) {
        const struct thing *thing = &things->items[i];
        if (thing->compared)
            items[count++] = (struct weighed){
                thing->factor, thing->time[0] * things->steps[1] + thing->time[1] * things->steps[0]};
    }
    bool done = (items || failure_memory(failure)) &&
                sort_items(items, count, sizeof *items, weight_order, stopper, failure);
    if (done) {
        cap(items, count);
        done = sort_items(items, count, sizeof *items, factor_order, stopper, failure);
    }
    if (!done) {
        memory_free(items);
        return NULL;
    }
    common->factor =
        sqrt(quantile(items, count, 2, false) * quantile(items, count, 2, true));
    common->away = fmax(common->factor, 1 / common->factor);
    common->low = quantile(items, count, 4, false);
    common->high = quantile(items, count, 4, true);
    return items;
}

int factor_times_order(const struct factor_times *a, const struct factor_times *b)
{
    return COMPARE(fabs(b->rest), fabs(a->rest));
}

int factor_name_order(const struct name *a, const struct name *b)
{
    return a && b ? name_compare(a, b) : COMPARE(a != NULL, b != NULL);
}
