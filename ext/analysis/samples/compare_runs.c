#include "compare_runs.h"

#include <math.h>

#include "base/memory.h"
#include "distributions.h"
#include "power.h"
#include "statistics.h"

/* state while operators are compared */
struct comparing {
    const struct runs *runs;
    const struct comparison_request *request;
    size_t side_runs[2];
    double *dense;         /* values of one run's steps, 0 where missing */
    double *ordered;       /* the same values, sorted */
    double *medians;       /* by run; 0 also if the run lacks the operator */
    double *means;         /* by run, likewise */
    bool *there;           /* by run: whether it has the operator */
    long double shift;     /* power_shift() for all runs; 0: not computed yet */
    struct power power[2]; /* for one tested row; for all tested rows together */
    const struct stopper *stopper;
    struct failure *failure;
};

enum run_unit runs_unit(const struct runs *runs)
{
    return runs->count >= 5 ? UNIT_RUN : UNIT_STEP;
}

static int real_order(const void *a, const void *b)
{
    return COMPARE(*(const double *)a, *(const double *)b);
}

/* Fills `dense` with one run's values, which begin at index `from`. Returns the end of its
** values. */
static size_t spread_run(const struct comparing *it, size_t from, uint32_t op, uint32_t run)
{
    const struct runs *runs = it->runs;
    for (size_t i = 0; i < runs->items[run].steps; i++)
        it->dense[i] = 0;
    for (; from < runs->value_count && runs->values[from].op == op && runs->values[from].run == run;
         from++)
        it->dense[runs->values[from].step] = runs->values[from].value;
    return from;
}

/* Finds the median and the mean of each run. */
static bool summarise_runs(const struct comparing *it, size_t from, uint32_t op)
{
    for (uint32_t run = 0; run < it->runs->count; run++) {
        size_t steps = it->runs->items[run].steps, end = spread_run(it, from, op, run);
        long double sum = 0;
        it->there[run] = end > from;
        it->medians[run] = it->means[run] = 0;
        from = end;
        if (!it->there[run])
            continue;
        for (size_t i = 0; i < steps; i++) {
            it->ordered[i] = it->dense[i];
            sum += it->dense[i];
        }
        if (!sort_items(it->ordered, steps, sizeof *it->ordered, real_order, it->stopper,
                        it->failure))
            return false;
        it->medians[run] = (it->ordered[(steps - 1) / 2] + it->ordered[steps / 2]) / 2;
        it->means[run] = (double)(sum / (long double)steps);
    }
    return true;
}

/* Takes the logarithm of value / `unit` for each run of a side with a value above 0. */
static bool take_logarithms(const struct comparing *it, int side, const double *values, double unit,
                            struct sample *sample, struct compared *found)
{
    for (size_t run = 0; run < it->runs->count; run++) {
        if (it->runs->items[run].side != side || !it->there[run])
            continue;
        found->runs[side]++;
        found->zeros[side] += values[run] <= 0;
        if (values[run] > 0 && !sample_add(sample, logl((long double)values[run] / unit)))
            return failure_memory(it->failure);
    }
    return sample_sort(sample, it->stopper, it->failure);
}

static bool is_tested(const struct compared *row)
{
    return !isnan(row->p);
}

static double percent_of(long double logarithm)
{
    return (double)(100 * expm1l(logarithm));
}

/* Returns the probability of a greater t (V8). */
static double upper_tail(long double t, long double df)
{
    long double tails = student_tails(t, df) / 2;
    return (double)(t > 0 ? tails : 1 - tails);
}

bool means_disagree(const struct compared *row, double min_effect)
{
    return fabs(row->mean_percent) > 100 * min_effect && fabs(row->percent) <= 100 * min_effect;
}

/* Returns the deviation of logarithms that rounding causes (V4): to us if all values are multiples
** of 1/16 us, otherwise to ns. */
static double rounding_of(const struct comparing *it, const double *values,
                          const struct compared *found)
{
    double unit = 1;
    if (it->request->counts && found->op != OP_STEP)
        return 0;
    for (size_t run = 0; run < it->runs->count; run++)
        if (fmod(values[run], 1.0 / 16) != 0) /* no median, or mean over 8 ranks, of whole us */
            unit = 0.001;
    return unit / sqrt(12 * found->mean[0] * found->mean[1]);
}

/* Tests an operator that all runs of both sides have (V4, V5) and prepares V8. */
static void test_logarithms(struct comparing *it, const struct t_tests *tests, double rounding,
                            struct compared *found)
{
    size_t n = found->runs[0], m = found->runs[1];
    long double df = (long double)(n + m) - 2;
    long double reach = sqrtl(1 / (long double)n + 1 / (long double)m);
    found->log_diff = tests->diff;
    found->deviation = fmax(tests->deviation, rounding);
    found->percent = percent_of(tests->diff);
    if (df < 1)
        return;
    if (!(found->deviation > 0)) {
        bool slower = found->log_diff > found->log_floor;
        found->low = found->high = found->percent;
        found->detectable = 0;
        found->p = found->log_diff == 0;
        found->p_slower = !slower;
        found->p_not_slower = slower;
        return;
    }
    long double error = found->deviation * reach, half = student_beyond(0.05L, df) * error;
    found->low = percent_of(found->log_diff - half);
    found->high = percent_of(found->log_diff + half);
    found->p = (double)student_tails(found->log_diff / error, df);
    it->shift = it->shift > 0 ? it->shift : power_shift(n + m - 2);
    found->detectable = percent_of(it->shift * error);
    found->p_slower = upper_tail((found->log_diff - found->log_floor) / error, df);
    found->p_not_slower = upper_tail((found->log_floor - found->log_diff) / error, df);
}

/* Returns the floor of V8 as the logarithm of a ratio. */
static double floor_of(const struct comparing *it, double control_mean)
{
    double by_diff = control_mean > 0 ? it->request->min_diff / control_mean : 0;
    return log1p(fmax(it->request->min_effect, by_diff));
}

/* Returns the difference, in percent, between the means over the steps of all runs. */
static double mean_percent(const struct comparing *it)
{
    long double logarithms[2] = {0, 0};
    for (size_t run = 0; run < it->runs->count; run++)
        logarithms[it->runs->items[run].side] += logl(it->means[run]);
    return percent_of(logarithms[1] / (long double)it->side_runs[1] -
                      logarithms[0] / (long double)it->side_runs[0]);
}

static bool compare_by_run(struct comparing *it, size_t from, struct compared *found)
{
    struct sample sides[2] = {{.count = 0}, {.count = 0}};
    struct t_tests tests = {0};
    bool done = summarise_runs(it, from, found->op);
    const double *values = it->medians;
    double unit = 0; /* any of the values, so that the logarithms of equal ones are 0 */
    found->every_step = true;
    for (size_t run = 0; done && run < it->runs->count; run++)
        if (it->there[run] && it->medians[run] <= 0) {
            found->every_step = false;
            values = it->means;
        }
    for (size_t run = 0; done && run < it->runs->count && unit <= 0; run++)
        unit = values[run];
    for (int side = 0; done && side < 2; side++)
        done = take_logarithms(it, side, values, unit, &sides[side], found);
    done = done && t_tests(&sides[0], &sides[1], &tests, it->stopper, it->failure);
    if (done) {
        found->mean[0] = sides[0].count ? unit * (double)expl(tests.control_mean) : 0;
        found->mean[1] = sides[1].count ? unit * (double)expl(tests.test_mean) : 0;
        found->log_floor = floor_of(it, found->mean[0]);
        if (sides[0].count == it->side_runs[0] && sides[1].count == it->side_runs[1])
            test_logarithms(it, &tests, rounding_of(it, values, found), found);
        else if (sides[0].count > 0)
            found->percent = 100 * (found->mean[1] - found->mean[0]) / found->mean[0];
    }
    if (done && is_tested(found))
        found->mean_percent = mean_percent(it);
    sample_clear(&sides[0]);
    sample_clear(&sides[1]);
    return done;
}

struct ranked {
    double value;
    size_t at;
};

static int ranked_order(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    int order = COMPARE(x->value, y->value);
    return order ? order : COMPARE(x->at, y->at);
}

/* Replaces values by their ranks. Equal values get their mean rank. */
static bool rank_values(const struct comparing *it, double *values, size_t count)
{
    struct ranked *order = memory_zeroed(count, sizeof *order);
    for (size_t i = 0; order && i < count; i++)
        order[i] = (struct ranked){values[i], i};
    bool done =
        order ? sort_items(order, count, sizeof *order, ranked_order, it->stopper, it->failure)
              : failure_memory(it->failure);
    for (size_t i = 0, end; done && i < count; i = end) {
        for (end = i; end < count && order[end].value == order[i].value;)
            end++;
        for (size_t k = i; k < end; k++)
            values[order[k].at] = (double)(i + end - 1) / 2;
    }
    memory_free(order);
    return done;
}

/* Adds one run's contribution to the lag-1 autocorrelation of ranks (V6). Replaces the values. */
static bool add_correlation(const struct comparing *it, double *values, size_t count,
                            long double *products, long double *squares)
{
    double mean = ((double)count - 1) / 2;
    if (!rank_values(it, values, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        *squares += (values[i] - mean) * (values[i] - mean);
        *products += i > 0 ? (values[i] - mean) * (values[i - 1] - mean) : 0;
    }
    return true;
}

/* Collects the steps of all runs as one sample per side. `*widening` is the factor of V6. */
static bool take_steps(const struct comparing *it, size_t from, struct compared *found,
                       struct sample *sides, double *widening)
{
    long double products[2] = {0, 0}, squares[2] = {0, 0}, sums[2] = {0, 0}, most = 0;
    for (uint32_t run = 0; run < it->runs->count; run++) {
        int side = it->runs->items[run].side;
        size_t steps = it->runs->items[run].steps, end = spread_run(it, from, found->op, run);
        found->runs[side] += end > from;
        from = end;
        for (size_t i = 0; i < steps; i++) {
            sums[side] += it->dense[i];
            if (!sample_add(&sides[side], it->dense[i]))
                return failure_memory(it->failure);
        }
        if (!add_correlation(it, it->dense, steps, &products[side], &squares[side]))
            return false;
    }
    for (int side = 0; side < 2; side++) {
        long double r = squares[side] > 0 ? products[side] / squares[side] : 0;
        most = r > most ? r : most;
        found->mean[side] =
            sides[side].count ? (double)(sums[side] / (long double)sides[side].count) : 0;
        if (!sample_sort(&sides[side], it->stopper, it->failure))
            return false;
    }
    *widening = (double)sqrtl((1 + most) / (1 - most));
    return true;
}

static bool compare_by_step(const struct comparing *it, size_t from, struct compared *found)
{
    struct sample sides[2] = {{.count = 0}, {.count = 0}};
    struct shift shift;
    double widening = 1, effect = 100 * it->request->min_effect, least = it->request->min_diff;
    bool done = take_steps(it, from, found, sides, &widening);
    found->every_step = true;
    if (done && found->runs[0] > 0 && found->runs[1] > 0 && found->mean[0] > 0) {
        done = shift_between(&sides[0], &sides[1], &shift, it->stopper, it->failure);
        double unit = 100 / found->mean[0];
        found->percent = unit * shift.shift;
        found->mean_percent = unit * (found->mean[1] - found->mean[0]);
        if (shift.level >= 0.95) {
            found->low = unit * (shift.shift - widening * (shift.shift - shift.low));
            found->high = unit * (shift.shift + widening * (shift.high - shift.shift));
            if (found->low > effect && shift.shift >= least)
                found->verdict = VERDICT_SLOWER_HERE;
            else if (found->high < -effect && -shift.shift >= least)
                found->verdict = VERDICT_FASTER_HERE;
        } else {
            found->verdict = VERDICT_TOO_FEW;
        }
    }
    sample_clear(&sides[0]);
    sample_clear(&sides[1]);
    return done;
}

static bool add_comparison(struct comparing *it, struct comparisons *found, size_t from)
{
    struct compared next = {.op = it->runs->values[from].op,
                            .percent = NAN,
                            .low = NAN,
                            .high = NAN,
                            .detectable = NAN,
                            .p = NAN,
                            .q = NAN,
                            .runs_needed = NUMBER_NONE};
    bool done = it->request->unit == UNIT_RUN ? compare_by_run(it, from, &next)
                                              : compare_by_step(it, from, &next);
    if (!done || !stopper_ask(it->stopper, it->failure)) /* loops over few steps do not ask */
        return false;
    if (next.runs[0] == 0 || next.runs[1] == 0)
        next.verdict = next.runs[0] ? VERDICT_DELETED : VERDICT_ADDED;
    if (next.verdict == VERDICT_DELETED && next.mean[0] > 0)
        next.percent = -100;
    if (!MEMORY_GROW(found->items, found->capacity, found->count + 1))
        return failure_memory(it->failure);
    found->items[found->count++] = next;
    return true;
}

/* p-value of a row */
struct tested {
    double p;
    struct compared *row;
};

static int tested_order(const void *a, const void *b)
{
    return COMPARE(((const struct tested *)a)->p, ((const struct tested *)b)->p);
}

/* Sets Benjamini and Hochberg's q-values (V5). p-values must ascend. */
static void adjust(const struct tested *tested, size_t count)
{
    double least = 1;
    for (size_t i = count; i-- > 0;) {
        least = fmin(least, tested[i].p * (double)count / (double)(i + 1));
        tested[i].row->q = least;
    }
}

/* Applies Holm's procedure to one side of a 95 % interval (V8). p-values must ascend. */
static void find_slower(const struct tested *tested, size_t count)
{
    for (size_t i = 0; i < count && tested[i].p <= 0.025 / (double)(count - i); i++)
        tested[i].row->gate = GATE_SLOWER;
}

/* Decides 'not slower', or how many runs are needed (V8), after find_slower(). */
static void find_not_slower(struct comparing *it, size_t tested, struct compared *row)
{
    bool above = row->log_diff > row->log_floor;
    if (row->gate == GATE_SLOWER)
        return;
    if (means_disagree(row, it->request->min_effect) && row->mean_percent > 0)
        return; /* more runs would not decide */
    if (row->p_not_slower <= 0.025)
        row->gate = GATE_NOT_SLOWER;
    else
        row->runs_needed = power_runs(&it->power[above], above ? tested : 1, row->deviation,
                                      fabs(row->log_diff - row->log_floor));
}

/* Sets everything that depends on all tested rows (V5, V8). */
static bool adjust_all(struct comparing *it, struct comparisons *found)
{
    struct tested *tested = memory_zeroed(found->count, sizeof *tested);
    bool done = tested || failure_memory(it->failure);
    size_t count = 0;
    for (int slower = 0; done && slower < 2; slower++) {
        count = 0;
        for (size_t i = 0; i < found->count; i++) {
            struct compared *row = &found->items[i];
            if (is_tested(row))
                tested[count++] = (struct tested){slower ? row->p_slower : row->p, row};
        }
        done = sort_items(tested, count, sizeof *tested, tested_order, it->stopper, it->failure);
        if (done)
            (slower ? find_slower : adjust)(tested, count);
    }
    memory_free(tested);
    for (size_t i = 0; done && i < found->count; i++) {
        if (is_tested(&found->items[i]))
            find_not_slower(it, count, &found->items[i]);
        done = stopper_goes_on(it->stopper, i, it->failure);
    }
    return done;
}

/* Sets verdicts (V7), gates of added and deleted operators (V8), and the effect of copies (V11). */
static void judge(const struct comparing *it, struct compared *row)
{
    double effect = 100 * it->request->min_effect, diff = row->mean[1] - row->mean[0];
    if (it->request->copied) {
        row->verdict = VERDICT_UNKNOWN;
        row->gate = GATE_INCONCLUSIVE;
        row->runs_needed = NUMBER_NONE;
        return;
    }
    if (it->request->unit == UNIT_STEP)
        row->runs_needed = runs_unit(it->runs) == UNIT_STEP ? 3 : NUMBER_NONE;
    else if (row->verdict == VERDICT_ADDED)
        row->gate = row->mean[1] >= it->request->min_diff ? GATE_SLOWER : GATE_NOT_SLOWER;
    else if (row->verdict == VERDICT_DELETED)
        row->gate = GATE_NOT_SLOWER;
    else if (is_tested(row) && row->q <= 0.05 && row->percent >= effect &&
             diff >= it->request->min_diff)
        row->verdict = VERDICT_SLOWER;
    else if (is_tested(row) && row->q <= 0.05 && -row->percent >= effect &&
             -diff >= it->request->min_diff)
        row->verdict = VERDICT_FASTER;
    else if (row->low >= -effect && row->high <= effect && row->detectable <= effect &&
             !means_disagree(row, it->request->min_effect))
        row->verdict = VERDICT_SAME;
    else if (it->side_runs[0] + it->side_runs[1] < 3)
        row->verdict = VERDICT_TOO_FEW;
}

bool compare_runs(const struct runs *runs, const struct comparison_request *request,
                  struct comparisons *found, const struct stopper *stopper, struct failure *failure)
{
    struct comparing it = {
        .runs = runs, .request = request, .stopper = stopper, .failure = failure};
    size_t most = 0;
    for (size_t i = 0; i < runs->count; i++) {
        it.side_runs[runs->items[i].side]++;
        most = runs->items[i].steps > most ? runs->items[i].steps : most;
    }
    it.dense = memory_zeroed(most, sizeof *it.dense);
    it.ordered = memory_zeroed(most, sizeof *it.ordered);
    it.medians = memory_zeroed(runs->count, sizeof *it.medians);
    it.means = memory_zeroed(runs->count, sizeof *it.means);
    it.there = memory_zeroed(runs->count, sizeof *it.there);
    bool done =
        (it.dense && it.ordered && it.medians && it.means && it.there) || failure_memory(failure);
    for (size_t i = 0; done && i < runs->value_count;) {
        uint32_t op = runs->values[i].op;
        done = add_comparison(&it, found, i);
        while (i < runs->value_count && runs->values[i].op == op)
            i++;
    }
    done = done && adjust_all(&it, found);
    for (size_t i = 0; done && i < found->count; i++)
        judge(&it, &found->items[i]);
    memory_free(it.dense);
    memory_free(it.ordered);
    memory_free(it.medians);
    memory_free(it.means);
    memory_free(it.there);
    return done;
}

void comparisons_clear(struct comparisons *comparisons)
{
    memory_free(comparisons->items);
    *comparisons = (struct comparisons){.count = 0};
}
