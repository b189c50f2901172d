#include "clock_factor.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "thresholds.h"

/* The order of a kernel's keys. */
enum { BY_OP, BY_NAME, BY_GRID, BY_BLOCK, BY_SHAPES };

/* ns of all steps. */
struct both_sides {
    double time[2];
};

/* Kernels of one operator and name. */
struct kernel_place {
    uint32_t op, name;       /* ids in the names of the sums */
    struct both_sides sums;  /* of the kernels */
    struct both_sides parts; /* of the step: while they run (A3) */
};

struct clock_finding {
    struct clock_factor *clock;
    const struct keyed *sums;
    const struct cause_side *sides;
    struct things things; /* kernels that compute */
    struct kernel_place *places; /* by their ids */
    size_t place_count;
    struct both_sides all;        /* device work */
    struct both_sides computing;  /* the kernels that compute */
    double factor, tolerance; /* what a kernel may be beyond of: X4 */
    const struct stopper *stopper;
    struct failure *failure;
};

static void add_times(struct both_sides *to, const wide_time *time)
{
    for (int side = 0; side < 2; side++)
        to->time[side] += (double)time[side];
}

/* X2.1. */
static bool find_things(struct clock_finding *finding)
{
    const struct keyed *sums = finding->sums;
    const char *computes = kernel_type_name(KERNEL_COMPUTATION);
    uint32_t kind = names_find(&sums->names, computes, strlen(computes));
    struct things_request request = {
        .sums = sums,
        .keys = {DEVICE_OP, DEVICE_KERNEL, DEVICE_GRID, DEVICE_BLOCK, DEVICE_SHAPES, DEVICE_TYPES},
        .kind_key = DEVICE_KERNEL_TYPE,
        .kinds = {kind, kind},
        .steps = {(int64_t)finding->sides[0].total->steps,
                  (int64_t)finding->sides[1].total->steps}};
    if (!key_recorded(&request, false, DEVICE_SHAPES))
        request.keys[BY_SHAPES] = request.keys[BY_SHAPES + 1] = -1;
    for (size_t row = 0; row < sums->count; row++)
        for (int side = 0; side < 2; side++)
            finding->all.time[side] += (double)sums->sums[row][side].device_time;
    if (!things_find(&request, &finding->things, finding->stopper, finding->failure))
        return false;
    for (size_t i = 0; i < finding->things.count; i++)
        add_times(&finding->computing, finding->things.items[i].time);
    return true;
}

/* The place of an operator and a name; NULL: none. */
static struct kernel_place *find_place(const struct clock_finding *finding, uint32_t op, uint32_t name)
{
    const struct kernel_place *places = finding->places;
    size_t i = 0;
    LOWER_BOUND(i, finding->place_count,
                places[i].op < op || (places[i].op == op && places[i].name < name));
    bool found = i < finding->place_count && places[i].op == op && places[i].name == name;
    return found ? &finding->places[i] : NULL;
}

/* The id in the names of the sums of a name of a part; false: they do not have it. */
static bool find_id(const struct clock_finding *finding, int side, uint32_t id, uint32_t *found)
{
    *found = NAME_NONE;
    if (id == NAME_NONE)
        return true;
    const struct name *name = &finding->sides[side].names->items[id];
    *found = names_find(&finding->sums->names, name->text, name->length);
    return *found != NAME_NONE;
}

/* Sums up the kernels of each operator and name, and the parts of the step in which they run. */
static bool find_places(struct clock_finding *finding)
{
    const struct things *things = &finding->things;
    finding->places = memory_zeroed(things->count, sizeof *finding->places);
    if (!finding->places)
        return failure_memory(finding->failure);
    for (size_t i = 0; i < things->count; i++) {
        const uint32_t *keys = things->items[i].keys;
        struct kernel_place *place = &finding->places[finding->place_count];
        if (i == 0 || place[-1].op != keys[BY_OP] || place[-1].name != keys[BY_NAME]) {
            *place = (struct kernel_place){.op = keys[BY_OP], .name = keys[BY_NAME]};
            finding->place_count++;
        }
        add_times(&finding->places[finding->place_count - 1].sums, things->items[i].time);
    }
    for (int side = 0; side < 2; side++) {
        const struct attributed_step *total = finding->sides[side].total;
        for (size_t i = 0; i < total->count; i++) {
            const struct attributed *part = &total->rows[i];
            uint32_t op, name;
            if (!stopper_goes_on(finding->stopper, i, finding->failure))
                return false;
            if (part->step_class != CLASS_COMPUTE ||
                !find_id(finding, side, part->name[LEVEL_OP], &op) ||
                !find_id(finding, side, part->name[LEVEL_KERNEL], &name))
                continue;
            struct kernel_place *place = find_place(finding, op, name);
            if (place)
                place->parts.time[side] += (double)part->time;
        }
    }
    return true;
}

static double tolerance_of(const struct common_factor *common)
{
    return common->away < CLOCK_LEAST_AWAY
               ? CLOCK_TOLERANCE
               : fmin(CLOCK_TOLERANCE, (common->away - 1) / CLOCK_TOLERANCE_PARTS);
}

/* Counts the kernels that agree, by weight; X3.2. */
static void judge(struct clock_finding *finding, const struct weighed *weighed, double tolerance)
{
    struct clock_factor *clock = finding->clock;
    const struct things *things = &finding->things;
    const double steps[2] = {(double)things->steps[0], (double)things->steps[1]};
    const double *all = finding->all.time;
    struct both_sides compared = {{0, 0}};
    double time = 0;
    wide_time whole = 0, agreeing = 0;
    for (size_t i = 0; i < clock->kernels; i++) {
        whole += weighed[i].weight;
        if (factor_is_near(weighed[i].factor, clock->common.factor, tolerance))
            agreeing += weighed[i].weight;
    }
    for (size_t i = 0; i < things->count; i++) {
        const struct thing *thing = &things->items[i];
        if (!thing->compared)
            continue;
        add_times(&compared, thing->time);
        if (factor_is_near(thing->factor, clock->common.factor, tolerance)) {
            clock->agreeing++;
            time += (double)thing->time[0] / steps[0] + (double)thing->time[1] / steps[1];
        }
    }
    clock->agreement = (double)agreeing / (double)whole;
    clock->share = time / (all[0] / steps[0] + all[1] / steps[1]);
    bool few = clock->kernels < FACTOR_LEAST;
    for (int side = 0; side < 2; side++)
        few = few || compared.time[side] / finding->computing.time[side] < FACTOR_LEAST_TIME;
    if (few)
        clock->outcome = FACTOR_TOO_FEW;
    else if (clock->agreeing < FACTOR_LEAST || clock->agreement < CLOCK_LEAST_AGREE)
        clock->outcome = FACTOR_DIFFERS;
    else
        clock->outcome = clock->common.away < CLOCK_LEAST_AWAY ? FACTOR_NO_CHANGE : FACTOR_ONE;
}

static struct factor_times times_of(double control, double test, double explained)
{
    return (struct factor_times){control / 1000, test / 1000, (test - control) / 1000,
                                 explained / 1000, (test - control - explained) / 1000};
}

static int kernel_order(const void *a, const void *b)
{
    const struct clock_kernel *x = a, *y = b;
    int order = COMPARE(y->beyond, x->beyond);
    order = order ? order : factor_times_order(&x->times, &y->times);
    order = order ? order : factor_name_order(x->op, y->op);
    order = order ? order : factor_name_order(x->name, y->name);
    order = order ? order : factor_name_order(x->grid, y->grid);
    order = order ? order : factor_name_order(x->block, y->block);
    order = order ? order : factor_name_order(x->shapes, y->shapes);
    return order ? order : COMPARE(x->factor, y->factor);
}

/* The times of a kernel: its share of the parts of the step in which kernels of its operator and
** name run. `sums` gets them, and what is explained. */
static struct clock_kernel kernel_of(const struct clock_finding *finding, const struct thing *thing,
                                     double sums[3])
{
    const struct keyed *names = finding->sums;
    const struct kernel_place *place = find_place(finding, thing->keys[BY_OP], thing->keys[BY_NAME]);
    double time[3];
    for (int side = 0; side < 2; side++)
        time[side] = place->parts.time[side] * (double)thing->time[side] / place->sums.time[side] /
                     (double)finding->things.steps[side];
    time[2] = time[0] * (finding->factor - 1);
    for (int i = 0; i < 3; i++)
        sums[i] += time[i];
    return (struct clock_kernel){
        .op = factor_name(names, thing->keys[BY_OP]),
        .name = factor_name(names, thing->keys[BY_NAME]),
        .grid = factor_name(names, thing->keys[BY_GRID]),
        .block = factor_name(names, thing->keys[BY_BLOCK]),
        .shapes = factor_name(names, thing->keys[BY_SHAPES]),
        .counts = (double)thing->counts[0] / (double)finding->things.steps[0],
        .factor = thing->factor,
        .beyond = !factor_is_near(thing->factor, finding->factor, finding->tolerance),
        .times = times_of(time[0], time[1], time[2])};
}

/* X4. */
static bool find_times(struct clock_finding *finding)
{
    struct clock_factor *clock = finding->clock;
    const struct things *things = &finding->things;
    double step[2] = {0, 0}, sums[3] = {0, 0, 0};
    size_t count = 0;
    clock->items = memory_items(clock->kernels, sizeof *clock->items);
    if (!clock->items)
        return failure_memory(finding->failure);
    for (size_t i = 0; i < things->count; i++)
        if (things->items[i].compared)
            clock->items[count++] = kernel_of(finding, &things->items[i], sums);
    for (int side = 0; side < 2; side++) {
        const struct attributed_step *total = finding->sides[side].total;
        for (size_t i = 0; i < total->count; i++)
            step[side] += (double)total->rows[i].time;
        step[side] /= (double)things->steps[side];
    }
    clock->step = times_of(step[0], step[1], sums[2]);
    clock->other = times_of(step[0] - sums[0], step[1] - sums[1], 0);
    return sort_items(clock->items, count, sizeof *clock->items, kernel_order, finding->stopper,
                      finding->failure);
}

static bool find_common(struct clock_finding *finding)
{
    struct clock_factor *clock = finding->clock;
    clock->outcome = FACTOR_TOO_FEW;
    clock->kernels = finding->things.compared;
    finding->factor = 1;
    finding->tolerance = CLOCK_TOLERANCE;
    if (clock->kernels == 0)
        return true;
    struct weighed *weighed = common_factor_find(&finding->things, &clock->common,
                                                 finding->stopper, finding->failure);
    if (!weighed)
        return false;
    judge(finding, weighed, tolerance_of(&clock->common));
    if (clock->outcome == FACTOR_ONE) {
        finding->factor = clock->common.factor;
        finding->tolerance = tolerance_of(&clock->common);
    }
    memory_free(weighed);
    return true;
}

bool clock_factor_find(struct clock_factor *clock, const struct keyed *sums,
                       const struct cause_side sides[2], const struct stopper *stopper,
                       struct failure *failure)
{
    struct clock_finding finding = {.clock = clock,
                              .sums = sums,
                              .sides = sides,
                              .stopper = stopper,
                              .failure = failure};
    *clock = (struct clock_factor){.outcome = FACTOR_NOTHING};
    if (sides[0].total->count == 0 || sides[1].total->count == 0)
        return true;
    bool done = find_things(&finding) && find_places(&finding) && find_common(&finding) &&
                find_times(&finding);
    things_clear(&finding.things);
    memory_free(finding.places);
    if (!done)
        clock_factor_clear(clock);
    return done;
}

void clock_factor_clear(struct clock_factor *clock)
{
    memory_free(clock->items);
    clock->items = NULL;
}
