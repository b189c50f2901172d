/*
** Aggregates over events. All are plain aggregates; none is a window function (S21).
**
** 1. A row with a NULL is left out. Without rows, a length is 0 and a quantile is NULL. A
**    standard deviation of fewer than two values is NULL.
** 2. Errors are: an argument that is not a number, a negative duration, a side that is not
**    0 or 1, a q outside 0 to 1, a count below the number of rows, and a q or a count that
**    differs between rows.
** 3. Lengths of integers are exact integers, or an error if they exceed 64 bits. Lengths of
**    reals are exact to a millionth of their unit.
** 4. Quantiles and standard deviations overflow only if the result itself overflows.
** 5. SQLite asks for the result of a group even after an error in one of its rows.
*/
#include <math.h>

#include "analysis/sums/intervals.h"
#include "analysis/causes/only_rank.h"
#include "analysis/samples/statistics.h"
#include "base/memory.h"
#include "sqlite/connection.h"
#include "aggregates.h"
#include "change_points.h"
#include "comparisons.h"
#include "job_schedule_rows.h"

enum { FRACTIONS = 1000000 }; /* times are integers in 1/FRACTIONS of their unit */

/* State of an aggregate for one group. */
struct statistics {
    const char *name; /* name of the aggregate */
    bool common;      /* the result is the common time of both sides */
    struct intervals side[2];
    bool real; /* at least one time was not an integer */
    double *values;
    size_t count, capacity;
    double q;
    double total;       /* number of values, with or without a row; 0: not given */
    wide_number origin; /* first value; `mean` counts from it, so equal values deviate by 0 */
    wide_number mean, squares;
};

/* Whether no argument is NULL (rule 1) and all are numbers (rule 2). */
static bool has_numbers(sqlite3_context *context, const char *name, int count,
                        sqlite3_value **values)
{
    for (int i = 0; i < count; i++)
        if (sqlite3_value_type(values[i]) == SQLITE_NULL)
            return false;
    for (int i = 0; i < count; i++) {
        int type = sqlite3_value_type(values[i]);
        if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
            continue;
        function_fail(context, name, "arguments must be numbers");
        return false;
    }
    return true;
}

/* Converts a time to fractions; false if it is too large. */
static bool take_time(struct statistics *group, sqlite3_value *value, wide_time *time)
{
    if (sqlite3_value_type(value) == SQLITE_INTEGER) {
        *time = (wide_time)sqlite3_value_int64(value) * FRACTIONS;
        return true;
    }
    double fractions = sqlite3_value_double(value) * FRACTIONS;
    group->real = true;
    if (!(fabs(fractions) < 1e36))
        return false;
    double whole = nearbyint(fractions);
    *time = (wide_time)whole;
    return true;
}

static void put_length(sqlite3_context *context, const struct statistics *group)
{
    wide_time length = group->common ? intervals_common(&group->side[0], &group->side[1])
                                     : intervals_length(&group->side[0]);
    if (group->real)
        sqlite3_result_double(context, (double)length / FRACTIONS);
    else if (length / FRACTIONS > INT64_MAX) {
        function_fail(context, group->name, "the length is beyond 64 bits");
        sqlite3_result_error_code(context, ERROR_OVERFLOW);
    } else
        sqlite3_result_int64(context, (sqlite3_int64)(length / FRACTIONS));
}

/* Returns the group of a row; NULL if the row is left out, or after an error. */
static struct statistics *group_of(sqlite3_context *context, const char *name, int count,
                                   sqlite3_value **values)
{
    if (!has_numbers(context, name, count, values))
        return NULL;
    struct statistics *group = sqlite3_aggregate_context(context, sizeof *group);
    if (group)
        group->name = name;
    else
        sqlite3_result_error_nomem(context);
    return group;
}

static void add_interval(sqlite3_context *context, struct statistics *group, sqlite3_value **values,
                         int side)
{
    wide_time start, length;
    if (!take_time(group, values[0], &start) || !take_time(group, values[1], &length))
        function_fail(context, group->name, "ts and dur must be less than 1e30");
    else if (length < 0)
        function_fail(context, group->name, "dur must not be negative");
    else if (!intervals_add(&group->side[side], start, start + length))
        sqlite3_result_error_nomem(context);
}

static void clear_statistics(struct statistics *group)
{
    intervals_clear(&group->side[0]);
    intervals_clear(&group->side[1]);
    memory_free(group->values);
}

static void lengthFinal(sqlite3_context *context)
{
    struct connection *connection = sqlite3_user_data(context);
    const struct stopper *stopper = &connection->cache.stopper;
    struct statistics *group = sqlite3_aggregate_context(context, 0);
    struct failure failure = {0};
    if (!group) {
        sqlite3_result_int64(context, 0);
        return;
    }
    connection_begin_work(connection);
    bool merged = intervals_merge(&group->side[0], stopper, &failure) &&
                  intervals_merge(&group->side[1], stopper, &failure);
    if (function_end_work(context, connection, merged, &failure))
        put_length(context, group);
    clear_statistics(group);
}

static const char busy_time[] = "trace_busy_time", overlap_time[] = "trace_overlap_time",
                  quantile[] = "trace_quantile", stddev[] = "trace_stddev";

static void busyTimeStep(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct statistics *group = group_of(context, busy_time, count, values);
    if (group)
        add_interval(context, group, values, 0);
}

static void overlapTimeStep(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct statistics *group = group_of(context, overlap_time, count, values);
    double side = sqlite3_value_double(values[2]);
    if (!group)
        return;
    group->common = true;
    if (side == 0 || side == 1)
        add_interval(context, group, values, (int)side);
    else
        function_fail(context, overlap_time, "side must be 0 or 1");
}

static void quantileStep(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct statistics *group = group_of(context, quantile, count, values);
    double q = sqlite3_value_double(values[1]);
    if (!group)
        return;
    if (!(q >= 0 && q <= 1))
        function_fail(context, quantile, "q must be from 0 to 1");
    else if (group->count > 0 && q != group->q)
        function_fail(context, quantile, "q must be the same in every row");
    else if (!MEMORY_GROW(group->values, group->capacity, group->count + 1))
        sqlite3_result_error_nomem(context);
    else {
        group->values[group->count++] = sqlite3_value_double(values[0]);
        group->q = q;
    }
}

static int number_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void quantileFinal(sqlite3_context *context)
{
    struct statistics *group = sqlite3_aggregate_context(context, 0);
    struct connection *connection = sqlite3_user_data(context);
    struct failure failure = {0};
    if (!group || group->count == 0)
        return;
    connection_begin_work(connection);
    bool sorted = sort_items(group->values, group->count, sizeof(double), number_order,
                             &connection->cache.stopper, &failure);
    if (function_end_work(context, connection, sorted, &failure)) {
        double position = group->q * (double)(group->count - 1);
        size_t below = (size_t)position, above = below + (below + 1 < group->count);
        double low = group->values[below], high = group->values[above];
        wide_number part = position - (double)below;
        sqlite3_result_double(context, part > 0 && low < high
                                           ? (double)(low + ((wide_number)high - low) * part)
                                           : low);
    }
    clear_statistics(group);
}

static wide_number take_number(sqlite3_value *value)
{
    return sqlite3_value_type(value) == SQLITE_INTEGER ? (wide_number)sqlite3_value_int64(value)
                                                       : (wide_number)sqlite3_value_double(value);
}

/* Adds a value by Welford's online algorithm. */
static void stddevStep(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct statistics *group = group_of(context, stddev, count, values);
    double total = count > 1 ? sqlite3_value_double(values[1]) : 0;
    if (!group)
        return;
    if (count > 1 && !(total > (double)group->count)) {
        function_fail(context, stddev, "count must be at least the number of rows");
        return;
    }
    if (group->count > 0 && total != group->total) {
        function_fail(context, stddev, "count must be the same in every row");
        return;
    }
    if (group->count == 0)
        group->origin = take_number(values[0]);
    group->total = total;
    wide_number value = take_number(values[0]) - group->origin;
    wide_number difference = value - group->mean;
    group->mean += difference / (wide_number)++group->count;
    group->squares += difference * (value - group->mean);
}

/* Combines two groups: the rows, and the values without a row, which are all 0. */
static void stddevFinal(sqlite3_context *context)
{
    const struct statistics *group = sqlite3_aggregate_context(context, 0);
    if (!group || group->count == 0)
        return;
    wide_number rows = (wide_number)group->count;
    wide_number total = group->total > 0 ? (wide_number)group->total : rows;
    wide_number mean = group->origin + group->mean;
    wide_number squares = group->squares + mean * mean * ((total - rows) * rows / total);
    if (total > 1)
        sqlite3_result_double(context, (double)sqrtl(squares / (total - 1)));
}

static const char only_rank[] = "trace_only_rank";

/* Each rank's own difference, and the whole difference (of the last row). */
struct rank_group {
    struct only_rank ranks;
    double whole;
};

static void onlyRankStep(sqlite3_context *context, int count, sqlite3_value **values)
{
    if (!has_numbers(context, only_rank, count, values))
        return;
    struct rank_group *group = sqlite3_aggregate_context(context, sizeof *group);
    double whole = sqlite3_value_double(values[2]);
    if (!group)
        sqlite3_result_error_nomem(context);
    else if (group->ranks.ranks > 0 && whole != group->whole)
        function_fail(context, only_rank, "diff must be the same in every row");
    else {
        group->whole = whole;
        only_rank_add(&group->ranks, sqlite3_value_int64(values[0]),
                      sqlite3_value_double(values[1]) * (whole < 0 ? -1 : 1));
    }
}

static void onlyRankFinal(sqlite3_context *context)
{
    const struct rank_group *group = sqlite3_aggregate_context(context, 0);
    int64_t rank = group ? only_rank_find(&group->ranks, fabs(group->whole)) : NUMBER_NONE;
    if (rank != NUMBER_NONE)
        sqlite3_result_int64(context, rank);
}

/* Columns of trace_job_ranks. */
#define JOB_ROW_ARGUMENTS                                                                 \
    {"kind", TAKES_TEXT, true, "kind of the row in trace_job_ranks"},                     \
        {"rank", TAKES_INTEGER, true, "rank"},                                            \
        {"file", TAKES_TEXT, true,                                                        \
         "path, or another text that tells apart and orders the files of a rank"},        \
        {"iteration", TAKES_INTEGER, true, "number of the step, or NULL"},                \
        {"start_ns", TAKES_INTEGER, true, "ns, absolute"},                                \
        {"end_ns", TAKES_INTEGER, true, "ns, absolute"},                                  \
        {"event", TAKES_INTEGER, true, "event of the collective, or of the exposed one"}, \
        {"queued_behind", TAKES_INTEGER, true,                                            \
         "event of the collective that it was queued behind, or NULL"},                   \
        {"process_group", TAKES_TEXT, true, "process group of the collective"},           \
        {"process_group_ranks", TAKES_TEXT, true, "ranks of the process group, or NULL"}, \
        {"name", TAKES_TEXT, true, "name of the collective"},                             \
        {"waits_for_all", TAKES_INTEGER, true,                                            \
         "1 if every rank waits for all others in it, else 0"}

const struct function aggregates[] = {
    {.name = busy_time,
     .family = FAMILY_HELPERS,
     .question = "How long does anything run, overlaps counted once?",
     .text = "the length of the union of intervals: the time in which at least one of them runs",
     .arguments = {{"ts", TAKES_ANY, true, "start of an interval, in any unit"},
                   {"dur", TAKES_ANY, true, "length of the interval, in the same unit"}},
     .step = busyTimeStep,
     .final = lengthFinal},
    {.name = overlap_time,
     .family = FAMILY_HELPERS,
     .question = "How long do two sides run at the same time?",
     .text = "the time in which intervals of both sides run",
     .arguments = {{"ts", TAKES_ANY, true, "start of an interval, in any unit"},
                   {"dur", TAKES_ANY, true, "length of the interval, in the same unit"},
                   {"side", TAKES_INTEGER, true, "side of the interval, 0 or 1"}},
     .step = overlapTimeStep,
     .final = lengthFinal},
    {.name = quantile,
     .family = FAMILY_HELPERS,
     .question = "What is the median, or another quantile?",
     .text = "a quantile, interpolated between the two nearest values",
     .arguments = {{"x", TAKES_ANY, true, "value"},
                   {"q", TAKES_REAL, true,
                    "0 for the smallest value to 1 for the largest; 0.5 is the median"}},
     .step = quantileStep,
     .final = quantileFinal},
    {.name = stddev,
     .family = FAMILY_HELPERS,
     .question = "How much do values vary: their standard deviation?",
     .text = "the standard deviation of a sample; NULL for fewer than two values",
     .arguments = {{"x", TAKES_ANY, true, "value"},
                   {"count", TAKES_INTEGER, false,
                    "number of values, if zeros have no row; default the number of rows"}},
     .step = stddevStep,
     .final = stddevFinal},
    {.name = only_rank,
     .family = FAMILY_RANKS_AND_THE_JOB,
     .question = "Given differences by rank: which one rank explains them?",
     .text =
         "the only rank of a job whose own steps differ as the job's path does; NULL: several "
         "ranks or none",
     .arguments = {{"rank", TAKES_INTEGER, true, "rank"},
                   {"own", TAKES_REAL, true, "difference of the rank's own steps, in any unit"},
                   {"diff", TAKES_REAL, true,
                    "difference of the path, in the same unit and the same in every row"}},
     .step = onlyRankStep,
     .final = onlyRankFinal},
    {.name = mann_whitney_name,
     .family = FAMILY_IS_IT_REAL,
     .question = "Do two samples differ, whatever their distribution?",
     .text =
         "the Mann-Whitney U test: a JSON object of u, p, control_n, test_n and exact. u counts "
         "the pairs in which test is greater; ties count half. With fewer than 50 values on each "
         "side, p is exact and exact is true. Otherwise p comes from a normal approximation with "
         "tie correction. u and p are null if a side has no value",
     .arguments = SAMPLES,
     .step = mannWhitneyStep,
     .final = mannWhitneyFinal},
    {.name = shift_name,
     .family = FAMILY_IS_IT_REAL,
     .question = "By how much do two samples differ, and within which bounds?",
     .text =
         "the Hodges-Lehmann estimate of how far test is above control: a JSON object of shift "
         "(the median of all differences), low and high (its confidence interval), level (0.95, "
         "less with very few values), control_n and test_n. The first four are null if a side has "
         "no value",
     .arguments = SAMPLES,
     .step = shiftStep,
     .final = shiftFinal},
    {.name = t_test_name,
     .family = FAMILY_IS_IT_REAL,
     .question = "Do the means of two samples differ?",
     .text =
         "Student's t-test: a JSON object of t, df, p, diff (test minus control), low and high (95 "
         "% confidence interval), control_mean, test_mean, control_n, test_n and welch, an object "
         "with t, df, p, low and high of Welch's test. These five are null if each side's values "
         "are all equal or too few: Student's test needs one value per side and three in all, "
         "Welch's two per side. diff and the means are null without values",
     .arguments = SAMPLES,
     .step = tTestStep,
     .final = tTestFinal},
    {.name = change_points_name,
     .family = FAMILY_IS_IT_REAL,
     .question = "Since when is it slower, in a history of runs?",
     .text =
         "the positions at which the mean of a series changes: a JSON array of one object per "
         "change, with position (the first after the change), previous (the last before it), index "
         "(number of positions before it), before and after (means up to the neighbouring "
         "changes), diff, diff_pct (percent of before; null if that is 0), p, before_n and "
         "after_n. A change needs two values, so a single outlier is none. Values of one position "
         "are averaged",
     .arguments = {{"x", TAKES_REAL, true, "value, in any unit; infinity is an error"},
                   {"position", TAKES_ANY, true,
                    "number or text to order by, such as a date; texts come after numbers"},
                   {"significance", TAKES_REAL, false,
                    "a change needs a p below this. p is of Student's t-test at the best of many "
                    "places, so this is a threshold, not a false-positive rate; default 0.001"},
                   {"min_pct", TAKES_REAL, false,
                    "smallest change, in percent of the smaller mean; default 0"},
                   {"window", TAKES_INTEGER, false,
                    "number of values that are searched together, at least 4; default 50"}},
     .step = changePointsStep,
     .final = changePointsFinal},
    {.name = job_schedule_name,
     .family = FAMILY_RANKS_AND_THE_JOB,
     .question = "Merged rows of many machines: who held up the job, and when?",
     .text =
         "the path of a job, from rows of trace_job_ranks that may come from many machines: a JSON "
         "array with one object per stretch on one rank within one of its steps, by time. seq, "
         "iteration, rank, ts_ns, dur_ns, waiting_rank, collective, process_group, queued, "
         "not_matched and not_tied are as in trace_job_path. own_iteration is the rank's own step, "
         "own_ts_ns the start on the rank's own clock, and event the event of the collective in "
         "`queued`",
     .arguments = {JOB_ROW_ARGUMENTS},
     .step = jobScheduleStep,
     .final = jobScheduleFinal},
    {.name = job_offsets_name,
     .family = FAMILY_RANKS_AND_THE_JOB,
     .question = "Merged rows of many machines: how far are clocks apart?",
     .text =
         "clock offsets between the ranks of a job, from rows of trace_job_ranks ('exposed' and "
         "'host_wait' are not needed): a JSON array with one object per step and rank; rank, "
         "iteration and offset_ns are as in trace_job_clocks",
     .arguments = {JOB_ROW_ARGUMENTS},
     .step = jobOffsetsStep,
     .final = jobOffsetsFinal},
};
const int aggregate_count = COUNT_OF(aggregates);
