#include "call_cautions.h"

#include <math.h>
#include <string.h>

#include "analysis/answer/thresholds.h"
#include "base/memory.h"
#include "base/sort.h"
#include "text/ascii.h"

/* State of the search for cautions. Times are ms per step. */
struct caution_finder {
    struct answer_facts *facts;
    struct call_cautions *found;
    double diff;
    double late;     /* increase of the device's waits for the host */
    double waiting;  /* these waits on the side with less of them */
    double largest;  /* the largest single cause, with the sign of the difference */
    double *path[2]; /* by unit: computation of its rank on the path of the job */
};

static struct caution *add(struct caution_finder *finder, enum caution_code code,
                           enum severity severity, size_t place)
{
    struct caution *caution = caution_add(&finder->found->chosen, code, severity, place);
    if (caution)
        caution->whole = finder->diff;
    else
        failure_memory(&finder->facts->call->failure);
    return caution;
}

/* Finds the device's waits for the host, and the largest cause. */
static bool find_waiting(struct caution_finder *finder)
{
    struct answer_facts *facts = finder->facts;
    wide_time late = 0, waits[2] = {0, 0}, largest = 0;
    if (facts->pair.pair.strata_count != 1 || !facts_differ(facts))
        return true;
    if (!facts_causes(facts))
        return false;
    const struct causes *causes = &facts->causes.causes;
    double windows[2] = {(double)causes->windows[0], (double)causes->windows[1]};
    for (size_t i = 0; i < causes->count; i++) {
        const struct cause *cause = &causes->items[i];
        wide_time same = finder->diff < 0 ? -cause->diff : cause->diff;
        largest = i == 0 || same > largest ? same : largest;
        if (cause->kind != CAUSE_HOST_LATE && cause->kind != CAUSE_QUEUED &&
            cause->kind != CAUSE_NOT_RECORDED)
            continue;
        late += cause->diff;
        for (int side = 0; side < 2; side++)
            waits[side] += cause->time[side];
    }
    finder->late = (double)late / windows[0] / windows[1] / 1e6;
    finder->largest = (double)largest / windows[0] / windows[1] / 1e6;
    finder->waiting = fmin((double)waits[0] / windows[0], (double)waits[1] / windows[1]) / 1e6;
    return true;
}

/* Whether a check is a caution: it makes the traces not comparable, or is a note worth a caution.
** If the traces cannot be compared, the cautions are the other defects of the recordings (C24). */
static bool is_caution(const struct caution_finder *finder, const struct check *check)
{
    const struct checks *checks = &finder->facts->checks;
    bool cannot = finder->facts->judged == JUDGED_CANNOT;
    if (check->code > CHECK_HEALTH)
        return check->matters == MATTERS_YES && !cannot;
    return check->is_said || (cannot && check->matters != MATTERS_NO &&
                              check != checks_worst_finding(checks));
}

/* Whether the verdict already says that a step compiles (CL13). */
static bool is_explained(const struct caution_finder *finder, const struct long_step *step)
{
    const struct call_pair *pair = &finder->facts->pair;
    const struct pair_side *side = &pair->pair.sides[step->side];
    for (size_t i = 0; pair->verdict.of == OF_COMPILING && i < side->count; i++)
        if (side->steps[i].iteration == step->iteration)
            return pair_step_compiles(&side->steps[i]);
    return false;
}

/* Adds the checks that make the traces not comparable. */
static bool add_checks(struct caution_finder *finder)
{
    const struct checks *checks = &finder->facts->checks;
    const struct long_steps *steps = &finder->found->long_steps;
    for (size_t i = 0; i < checks->count; i++) {
        const struct check *check = &checks->items[i];
        enum severity severity = check->is_said               ? SEVERE_NOTE
                                 : check->code <= CHECK_MEMORY ? SEVERE_DEVICE
                                 : check->code == CHECK_RANKS ? SEVERE_OTHER_RANKS
                                 : check->code == CHECK_FLOATS || check->code == CHECK_RETYPED
                                     ? SEVERE_KIND
                                     : SEVERE_CHECK;
        struct caution *caution = NULL;
        bool explained = false;
        if (!is_caution(finder, check))
            continue;
        for (size_t j = 0; check->code == CHECK_LONG_STEP && j < steps->count; j++) {
            if (steps->items[j].is_out || steps->items[j].side != check->side)
                continue;
            explained = is_explained(finder, &steps->items[j]);
            if (explained)
                continue;
            if (!(caution = add(finder, CAUTION_LONG_STEP, severity, i)))
                return false;
            caution->of = j;
            caution->ms = steps->items[j].ms;
            caution->rank = steps->items[j].rank;
        }
        if (caution || explained)
            continue;
        if (!(caution = add(finder, CAUTION_CHECK, severity, i)))
            return false;
        caution->of = i;
        if (check->code == CHECK_RETYPED)
            caution->ms = check->diff / 1000;
    }
    return true;
}

/* Adds the caution that only one side has a dispatch mode, which runs Python in each operator. */
static bool add_mode(struct caution_finder *finder)
{
    struct answer_facts *facts = finder->facts;
    if (facts->pair.pair.strata_count != 1)
        return true;
    if (!facts_work(facts))
        return false;
    for (size_t i = 0; i < facts->work.count; i++) {
        const struct run_change *change = &facts->work.items[i];
        const struct name *name = &facts->work.names.items[change->name];
        if ((change->high[0] > 0 && change->high[1] > 0) ||
            !ends(name->text, name->text + name->length, "DispatchMode"))
            continue;
        struct caution *caution = add(finder, CAUTION_MODE, SEVERE_KIND, 0);
        if (caution)
            caution->of = i;
        return caution;
    }
    return true;
}

/* C12: adds the caution that the profiler changes the difference. */
static bool add_overhead(struct caution_finder *finder, double untraced)
{
    double diff = finder->diff;
    if (untraced * diff <= 0 || fabs(untraced) >= OVERHEAD_RATIO * fabs(diff) ||
        fabs(diff) >= OVERHEAD_RATIO * fabs(untraced))
        return add(finder, CAUTION_OVERHEAD, SEVERE_OVERHEAD, 0);
    return true;
}

/* Sums up the computation of each rank on the path of a job. */
struct path_sum {
    const struct caution_finder *finder;
    const struct call_trace *opened;
    double *of_unit;
};

static bool take_path(void *to, const struct attributed_step *step)
{
    const struct path_sum *sum = to;
    const struct answer_facts *facts = sum->finder->facts;
    for (size_t i = 0; i < step->count; i++) {
        const struct attributed *part = &step->rows[i];
        if (part->step_class != CLASS_COMPUTE && part->step_class != CLASS_HOST &&
            part->step_class != CLASS_CALL)
            continue;
        int64_t rank = sum->opened->trace.ranks[part->rank];
        size_t unit = 0;
        LOWER_BOUND(unit, facts->unit_count, facts->units[unit].rank < rank);
        if (unit < facts->unit_count && facts->units[unit].rank == rank)
            sum->of_unit[unit] += (double)part->time / 1e6;
    }
    return true;
}

static bool find_path(struct caution_finder *finder)
{
    struct answer_facts *facts = finder->facts;
    if (finder->path[0])
        return true;
    bool done = facts_kept(facts);
    for (int side = 0; done && side < 2; side++) {
        finder->path[side] = memory_zeroed(facts->unit_count, sizeof *finder->path[side]);
        struct path_sum sum = {finder, &facts->kept[side], finder->path[side]};
        struct steps_walk steps = {.take = take_path, .to = &sum};
        done = (finder->path[side] || failure_memory(&facts->call->failure)) &&
               steps_walk_take(facts->call, &facts->kept[side], LEVEL_ANNOTATION, facts->pair.clock,
                               &steps);
        steps_walk_close(&steps);
        for (size_t i = 0; done && i < facts->unit_count; i++)
            finder->path[side][i] /= (double)facts->pair.pair.sides[side].windows;
    }
    return done;
}

/* Returns a factor's effect on a rank's computation on the path (L11.1). */
static double of_path(const struct caution_finder *finder, size_t unit, double factor)
{
    return factor > 1 ? finder->path[1][unit] * (1 - 1 / factor)
                      : finder->path[0][unit] * (factor - 1);
}

/* Returns the caution for a factor (up or down), which several units share; NULL on failure. */
static struct caution *add_factor(struct caution_finder *finder, enum caution_code code,
                                  size_t unit, double factor, struct caution *earlier)
{
    bool clock = code == CAUTION_CLOCK;
    if (!earlier) {
        earlier = add(finder, code, clock ? SEVERE_CLOCK : SEVERE_LOAD, 1 + (factor > 1));
        if (!earlier)
            return NULL;
        earlier->of = unit;
        earlier->rank = finder->facts->units[unit].rank;
    }
    earlier->parts++;
    return earlier;
}

/* Whether a unit has one factor of all kernels that deserves a caution. */
static bool has_clock(const struct caution_finder *finder, const struct answer_unit *unit)
{
    return unit->clock.outcome == FACTOR_ONE &&
           (finder->facts->pair.is_job ||
            (unit->clock.whole.diff != 0 &&
             unit->clock.whole.explained / unit->clock.whole.diff >= CLOCK_PART));
}

/* Finds the factors of kernels, if there may be any. */
static bool find_clocks(struct answer_facts *facts)
{
    bool may = facts_may_have_clock(facts, &facts->checks), done = true;
    for (size_t i = 0; done && may && i < facts->unit_count; i++)
        done = facts_clock(facts, &facts->units[i]);
    return done;
}

/* Adds the caution that kernels are slower or faster by one factor. */
static bool add_clocks(struct caution_finder *finder)
{
    struct answer_facts *facts = finder->facts;
    bool is_job = facts->pair.is_job;
    size_t first[2] = {SIZE_MAX, SIZE_MAX};
    if (!facts_may_have_clock(facts, &facts->checks))
        return true;
    for (size_t i = 0; i < facts->unit_count; i++) {
        struct answer_unit *unit = &facts->units[i];
        if (!has_clock(finder, unit))
            continue;
        double factor = unit->clock.factor;
        size_t *at = &first[factor > 1];
        struct caution *caution =
            add_factor(finder, CAUTION_CLOCK, i, factor,
                       *at < SIZE_MAX ? &finder->found->chosen.items[*at] : NULL);
        if (!caution || (is_job && !find_path(finder)))
            return false;
        *at = (size_t)(caution - finder->found->chosen.items);
        double ms = is_job ? of_path(finder, i, factor) : unit->clock.whole.explained / 1000;
        caution->ms = caution->parts > 1 ? caution->ms + ms : ms;
        caution->factor += factor; /* a sum, and later the mean */
    }
    for (int slower = 0; slower < 2; slower++)
        if (first[slower] < SIZE_MAX) {
            struct caution *caution = &finder->found->chosen.items[first[slower]];
            caution->factor = is_job && caution->parts < facts->pair.ranks.ranks
                                  ? facts->units[caution->of].clock.factor
                                  : caution->factor / (double)caution->parts;
        }
    return true;
}

/* Returns the effect of one host factor on the device's waits (L11.2); NAN: it does not lengthen
** them. */
static double of_waits(const struct caution_finder *finder, const struct common_factor *host)
{
    double factor = host->factor;
    if ((factor > 1) != (finder->late > 0))
        return NAN;
    double ms = fmax(finder->waiting * (host->away - 1), fabs(host->whole.explained) / 1000);
    return fmin(fabs(finder->late), ms) * (factor > 1 ? 1 : -1);
}

/* Whether to check the host load of ranks. */
static bool asks_for_hosts(const struct caution_finder *finder)
{
    const struct answer_facts *facts = finder->facts;
    const struct pair_side *sides = facts->pair.pair.sides;
    if (facts->pair.pair.strata_count != 1 || !facts_differ(facts))
        return false;
    if (sides[0].of_host && sides[1].of_host)
        return facts->pair.is_job && !facts->load.one_factor;
    return finder->late / finder->diff >= MOST_OF_DIFFERENCE;
}

/* Adds the host's load: for the ranks with one factor, else for all ranks together. */
static bool add_loads(struct caution_finder *finder)
{
    struct answer_facts *facts = finder->facts;
    bool of_host = facts->pair.pair.sides[1].of_host, any = false;
    size_t first[2] = {SIZE_MAX, SIZE_MAX}, known[2] = {0, 0};
    for (size_t i = 0; asks_for_hosts(finder) && i < facts->unit_count; i++) {
        struct answer_unit *unit = &facts->units[i];
        if (!facts_host(facts, unit))
            return false;
        if (unit->host.outcome != FACTOR_ONE)
            continue;
        double factor = unit->host.factor;
        size_t *at = &first[factor > 1];
        struct caution *caution =
            add_factor(finder, CAUTION_LOAD, i, factor,
                       *at < SIZE_MAX ? &finder->found->chosen.items[*at] : NULL);
        if (!caution || (facts->pair.is_job && of_host && !find_path(finder)))
            return false;
        *at = (size_t)(caution - finder->found->chosen.items);
        caution->of_load = any = true;
        caution->is_said = facts->load.there;
        caution->is_vague |= !of_host && unit->host.high - unit->host.low >
                                             LOAD_SPREAD * fabs(factor - 1);
        double ms = !of_host             ? of_waits(finder, &unit->host)
                    : facts->pair.is_job ? of_path(finder, i, factor)
                                         : 0;
        if (!isnan(ms))
            caution->ms = known[factor > 1]++ ? caution->ms + ms : ms;
    }
    for (int slower = 0; slower < 2 && !of_host; slower++)
        if (first[slower] < SIZE_MAX && known[slower] > 0)
            finder->found->chosen.items[first[slower]].ms /= (double)known[slower];
    if (any || !facts->load.there)
        return true;
    struct caution *caution = add(finder, CAUTION_LOAD, SEVERE_LOAD, 0);
    if (caution && facts->load.one_factor)
        caution->ms = facts->load.ms;
    return caution;
}

/* Returns the longest step relative to the median, among the excluded or the other steps; SIZE_MAX:
** none. */
static size_t find_longest(const struct long_steps *steps, bool out)
{
    size_t longest = SIZE_MAX;
    for (size_t i = 0; i < steps->count; i++)
        if (steps->items[i].is_out == out &&
            (longest == SIZE_MAX || steps->items[i].ratio > steps->items[longest].ratio))
            longest = i;
    return longest;
}

/* Whether a check already reports a long step of a side. */
static bool is_checked(const struct checks *checks, int side)
{
    for (size_t i = 0; i < checks->count; i++)
        if (checks->items[i].code == CHECK_LONG_STEP && checks->items[i].side == side)
            return true;
    return false;
}

/* Adds the outliers, and names the longest. */
static bool add_outliers(struct caution_finder *finder)
{
    const struct long_steps *steps = &finder->found->long_steps;
    size_t longest = find_longest(steps, true);
    double all = 0;
    if (longest == SIZE_MAX)
        return true;
    const struct long_step *step = &steps->items[longest];
    struct caution *caution = add(finder, CAUTION_OUTLIER, SEVERE_OUTLIER, (size_t)step->side);
    if (!caution)
        return false;
    for (size_t i = 0; i < steps->count; i++) {
        caution->parts += steps->items[i].is_out && steps->items[i].side == step->side;
        caution->others += steps->items[i].is_out && steps->items[i].side != step->side;
        all += steps->items[i].is_out && !isnan(steps->items[i].ms) ? steps->items[i].ms : 0;
    }
    caution->of = longest;
    caution->rank = step->rank;
    caution->ms = judged_is_told(finder->facts->judged) ? NAN : all;
    caution->whole = finder->diff + all;
    return true;
}

/* Adds long steps that are kept and matter to the verdict. */
static bool add_long_steps(struct caution_finder *finder)
{
    const struct long_steps *steps = &finder->found->long_steps;
    for (size_t i = 0; i < steps->count; i++) {
        const struct long_step *step = &steps->items[i];
        if (step->is_out || !step->is_much || is_explained(finder, step) ||
            is_checked(&finder->facts->checks, step->side))
            continue;
        struct caution *caution =
            add(finder, CAUTION_LONG_STEP, SEVERE_LONG_STEP, (size_t)step->side);
        if (!caution)
            return false;
        caution->of = i;
        caution->parts = 1;
        caution->rank = step->rank;
        caution->ms = step->ms;
    }
    return true;
}

/* Returns the file of the lowest compared rank of a side; NULL: none. */
static const struct trace_file *first_file(const struct trace *trace)
{
    const struct trace_member *lowest = NULL;
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_member *member = &trace->members[i];
        if (member->chosen && (!lowest || member->rank < lowest->rank))
            lowest = member;
    }
    return lowest ? lowest->file : NULL;
}

/* C22: adds the caution that a range repeats in whole traces, unless the call chooses the events
** that are steps. */
static bool add_repeat(struct caution_finder *finder)
{
    struct answer_facts *facts = finder->facts;
    struct call *call = facts->call;
    struct repeat *repeat = &finder->found->repeat;
    sqlite3_value *steps = call->values[argument_of(call, NAMES_STEPS, 0)];
    if (!pair_is_whole(&facts->pair.pair) || facts->judged == JUDGED_SAME ||
        (steps && sqlite3_value_type(steps) != SQLITE_NULL))
        return true;
    if (!facts_each(facts))
        return false;
    const struct trace_file *files[2] = {first_file(&facts->each[0].trace),
                                         first_file(&facts->each[1].trace)};
    return !files[0] || !files[1] ||
           (repeat_find(repeat, files, call_stopper(call), &call->failure) &&
            (!repeat->name || add(finder, CAUTION_REPEAT, SEVERE_REPEAT, 0)));
}

bool call_cautions_find(struct answer_facts *facts, double untraced, struct call_cautions *found)
{
    struct caution_finder finder = {
        .facts = facts, .found = found, .diff = pair_diff(&facts->pair.pair)};
    struct cautions_request request = {.control_ms = facts->pair.pair.sides[0].mean,
                                       .is_clear = facts->judged == JUDGED_CLEAR,
                                       .tells_load =
                                           facts->judged >= JUDGED_LOAD && facts->load.there};
    *found = (struct call_cautions){.chosen = {.count = 0}};
    bool done = facts_checks(facts) && find_clocks(facts) &&
                call_long_steps_find(facts->call, &facts->pair, &found->long_steps) &&
                find_waiting(&finder) && add_checks(&finder) && add_mode(&finder) &&
                add_overhead(&finder, untraced) && add_loads(&finder) && add_clocks(&finder) &&
                (facts->pair.ranks.left_out.count == facts->pair.ranks.left_out.taken ||
                 add(&finder, CAUTION_RANKS, SEVERE_LEFT_OUT, 0)) &&
                add_outliers(&finder) && add_long_steps(&finder) && add_repeat(&finder);
    request.largest = finder.largest;
    for (size_t i = 0; done && i < found->chosen.count; i++)
        request.is_severe = request.is_severe || found->chosen.items[i].severity == SEVERE_DEVICE;
    if (done)
        cautions_choose(&found->chosen, &request);
    for (int side = 0; side < 2; side++)
        memory_free(finder.path[side]);
    return done;
}

bool call_findings_find(struct answer_facts *facts, struct call_cautions *found)
{
    struct caution_finder finder = {.facts = facts, .found = found};
    const struct cautions_request request = {.is_severe = true};
    *found = (struct call_cautions){.chosen = {.count = 0}};
    bool done = facts_checks(facts) && add_checks(&finder);
    if (done)
        cautions_choose(&found->chosen, &request);
    return done;
}

void call_cautions_close(struct call_cautions *found)
{
    cautions_clear(&found->chosen);
    long_steps_clear(&found->long_steps);
}
