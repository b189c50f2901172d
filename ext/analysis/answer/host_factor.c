#include "host_factor.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "thresholds.h"

/* The order of an operator's keys. */
enum { BY_NAME, BY_SHAPES, BY_TYPES };

/* L7.1. */
static bool find_operators(const struct keyed *sums, const int64_t *steps, struct things *things,
                           const struct stopper *stopper, struct failure *failure)
{
    struct things_request request = {
        .sums = sums,
        .keys = {HOST_NAME, HOST_SHAPES, HOST_TYPES, -1, -1, -1},
        .kind_key = HOST_CAT,
        .kinds = {names_find(&sums->names, "cpu_op", strlen("cpu_op")),
                  names_find(&sums->names, "Operator", strlen("Operator"))},
        .steps = {steps[0], steps[1]}};
    for (int key = BY_SHAPES; key <= BY_TYPES; key++)
        if (!key_recorded(&request, true, request.keys[key]))
            request.keys[key] = -1;
    return things_find(&request, things, stopper, failure);
}

/* L7.4; the time of the operators that are compared, and that of all, us a step. */
static enum factor_outcome judge(const struct host_factor *host, const double *compared,
                                 const double *all)
{
    const struct common_factor *common = &host->common;
    bool away = common->away >= HOST_LEAST_AWAY;
    if (host->operators < FACTOR_LEAST || compared[0] < FACTOR_LEAST_TIME * all[0] ||
        compared[1] < FACTOR_LEAST_TIME * all[1])
        return FACTOR_TOO_FEW;
    if (away && common->high / common->low < common->away)
        return FACTOR_ONE;
    if (away || (common->low <= 1 / HOST_LEAST_AWAY && common->high >= HOST_LEAST_AWAY))
        return FACTOR_DIFFERS;
    return FACTOR_NO_CHANGE;
}

static struct factor_times times_of(double control, double test, double explained)
{
    return (struct factor_times){control, test, test - control, explained,
                                 test - control - explained};
}

/* L7.5. */
static double beyond(const struct host_factor *host)
{
    double control = host->other.control, diff = host->other.diff;
    double least = control * (fmin(host->common.low, 1) - 1);
    double most = control * (fmax(host->common.high, 1) - 1);
    return diff - fmax(least, fmin(most, diff));
}

static int operator_order(const void *a, const void *b)
{
    const struct host_operator *x = a, *y = b;
    int order = factor_times_order(&x->times, &y->times);
    order = order ? order : factor_name_order(x->name, y->name);
    order = order ? order : factor_name_order(x->shapes, y->shapes);
    return order ? order : factor_name_order(x->types, y->types);
}

static bool list_operators(struct host_factor *host, const struct keyed *sums,
                           const struct things *things, double factor,
                           const struct stopper *stopper, struct failure *failure)
{
    size_t count = 0;
    host->items = memory_items(host->operators, sizeof *host->items);
    if (!host->items)
        return failure_memory(failure);
    for (size_t i = 0; i < things->count; i++) {
        const struct thing *thing = &things->items[i];
        if (!thing->compared)
            continue;
        double control = mean_microseconds(thing->time[0], things->steps[0]);
        double test = mean_microseconds(thing->time[1], things->steps[1]);
        host->items[count++] = (struct host_operator){
            .name = factor_name(sums, thing->keys[BY_NAME]),
            .shapes = factor_name(sums, thing->keys[BY_SHAPES]),
            .types = factor_name(sums, thing->keys[BY_TYPES]),
            .counts = (double)thing->counts[0] / (double)things->steps[0],
            .factor = thing->factor,
            .times = times_of(control, test, control * (factor - 1))};
    }
    return sort_items(host->items, count, sizeof *host->items, operator_order, stopper, failure);
}

/* Finds the factor of the operators, and their times. */
static bool find_factor(struct host_factor *host, const struct keyed *sums,
                        const struct things *things, const struct stopper *stopper,
                        struct failure *failure)
{
    wide_time compared[2] = {0, 0}, all[2] = {0, 0};
    double of_compared[2], of_all[2];
    for (size_t i = 0; i < things->count; i++)
        for (int side = 0; side < 2; side++) {
            all[side] += things->items[i].time[side];
            compared[side] += things->items[i].compared ? things->items[i].time[side] : 0;
        }
    for (int side = 0; side < 2; side++) {
        of_compared[side] = mean_microseconds(compared[side], things->steps[side]);
        of_all[side] = mean_microseconds(all[side], things->steps[side]);
    }
    host->operators = things->compared;
    if (host->operators > 0) {
        struct weighed *weighed = common_factor_find(things, &host->common, stopper, failure);
        if (!weighed)
            return false;
        memory_free(weighed);
    }
    host->outcome = judge(host, of_compared, of_all);
    double factor = host->outcome == FACTOR_ONE ? host->common.factor : 1;
    host->timed = all[0] + all[1] > 0;
    if (host->timed)
        host->share = (of_compared[0] + of_compared[1]) / (of_all[0] + of_all[1]);
    host->host = times_of(of_all[0], of_all[1], of_compared[0] * (factor - 1));
    host->other =
        times_of(mean_microseconds(all[0] - compared[0], things->steps[0]),
                 mean_microseconds(all[1] - compared[1], things->steps[1]), 0);
    if (host->operators > 0)
        host->beyond = beyond(host);
    return list_operators(host, sums, things, factor, stopper, failure);
}

bool host_factor_find(struct host_factor *host, const struct keyed *sums, const int64_t steps[2],
                      const struct stopper *stopper, struct failure *failure)
{
    struct things things;
    *host = (struct host_factor){.outcome = FACTOR_NOTHING};
    if (!find_operators(sums, steps, &things, stopper, failure))
        return false;
    bool done = things.count == 0 || find_factor(host, sums, &things, stopper, failure);
    things_clear(&things);
    if (!done)
        host_factor_clear(host);
    return done;
}

void host_factor_clear(struct host_factor *host)
{
    memory_free(host->items);
    host->items = NULL;
}
