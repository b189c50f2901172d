#include "comparisons.h"

#include <math.h>
#include <string.h>

#include "analysis/samples/statistics.h"
#include "chart/writer.h"
#include "base/memory.h"
#include "sqlite/connection.h"
#include "aggregates.h"

const char mann_whitney_name[] = "trace_mannwhitney", shift_name[] = "trace_shift",
           t_test_name[] = "trace_ttest";

/* State for one group. */
struct comparison {
    struct sample sides[2]; /* control, test */
};

/* Returns the side that a value names, or -1. Sets `*failed` if out of memory. */
static int side_of(sqlite3_value *value, bool *failed)
{
    int type = sqlite3_value_type(value);
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
        double side = sqlite3_value_double(value);
        return side == 0 ? 0 : side == 1 ? 1 : -1;
    }
    if (type != SQLITE_TEXT)
        return -1;
    const char *text = (const char *)sqlite3_value_text(value);
    *failed = !text;
    return !text ? -1 : strcmp(text, "control") == 0 ? 0 : strcmp(text, "test") == 0 ? 1 : -1;
}

static void take_row(sqlite3_context *context, const char *name, sqlite3_value **values)
{
    int type = sqlite3_value_type(values[0]);
    bool failed = false;
    if (type == SQLITE_NULL || sqlite3_value_type(values[1]) == SQLITE_NULL)
        return;
    int side = side_of(values[1], &failed);
    if (failed)
        sqlite3_result_error_nomem(context);
    else if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
        function_fail(context, name, "x must be a number");
    else if (!isfinite(sqlite3_value_double(values[0])))
        function_fail(context, name, "x must be finite: leave out such rows");
    else if (side < 0)
        function_fail(context, name, "side must be 0 or 'control', or 1 or 'test'");
    else {
        struct comparison *group = sqlite3_aggregate_context(context, sizeof *group);
        wide_number value = type == SQLITE_INTEGER ? (wide_number)sqlite3_value_int64(values[0])
                                                   : (wide_number)sqlite3_value_double(values[0]);
        value = value == 0 ? 0 : value; /* not -0 */
        if (!group || !sample_add(&group->sides[side], value))
            sqlite3_result_error_nomem(context);
    }
}

void mannWhitneyStep(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    take_row(context, mann_whitney_name, values);
}

void shiftStep(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    take_row(context, shift_name, values);
}

void tTestStep(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    take_row(context, t_test_name, values);
}

static void put_counts(struct writer *to, const struct comparison *it)
{
    write_key(to, ", ", "control_n");
    write_integer(to, (int64_t)it->sides[0].count);
    write_key(to, ", ", "test_n");
    write_integer(to, (int64_t)it->sides[1].count);
}

/* Writes the JSON object of a comparison, whose samples are sorted. False on failure. */
typedef bool write_comparison(const struct comparison *it, struct writer *to,
                              const struct stopper *stopper, struct failure *failure);

static bool put_mann_whitney(const struct comparison *it, struct writer *to,
                             const struct stopper *stopper, struct failure *failure)
{
    bool known = it->sides[0].count > 0 && it->sides[1].count > 0;
    struct mann_whitney found = {0};
    if (known && !mann_whitney(&it->sides[0], &it->sides[1], &found, stopper, failure))
        return false;
    write_real_member(to, "{", "u", known, found.u);
    write_real_member(to, ", ", "p", known, found.p);
    put_counts(to, it);
    write_key(to, ", ", "exact");
    write_string(to, !known ? "null}" : found.exact ? "true}" : "false}");
    return true;
}

static bool put_shift(const struct comparison *it, struct writer *to, const struct stopper *stopper,
                      struct failure *failure)
{
    bool known = it->sides[0].count > 0 && it->sides[1].count > 0;
    struct shift found = {0};
    if (known && !shift_between(&it->sides[0], &it->sides[1], &found, stopper, failure))
        return false;
    write_real_member(to, "{", "shift", known, found.shift);
    write_real_member(to, ", ", "low", known, found.low);
    write_real_member(to, ", ", "high", known, found.high);
    write_real_member(to, ", ", "level", known, found.level);
    put_counts(to, it);
    write_string(to, "}");
    return true;
}

static bool put_t_tests(const struct comparison *it, struct writer *to,
                        const struct stopper *stopper, struct failure *failure)
{
    bool control = it->sides[0].count > 0, test = it->sides[1].count > 0;
    struct t_tests found;
    if (!t_tests(&it->sides[0], &it->sides[1], &found, stopper, failure))
        return false;
    const struct t_test *student = &found.pooled, *welch = &found.welch;
    write_real_member(to, "{", "t", student->known, student->t);
    write_real_member(to, ", ", "df", student->known, student->df);
    write_real_member(to, ", ", "p", student->known, student->p);
    write_real_member(to, ", ", "diff", control && test, found.diff);
    write_real_member(to, ", ", "low", student->known, student->low);
    write_real_member(to, ", ", "high", student->known, student->high);
    write_real_member(to, ", ", "control_mean", control, found.control_mean);
    write_real_member(to, ", ", "test_mean", test, found.test_mean);
    put_counts(to, it);
    write_key(to, ", ", "welch");
    write_real_member(to, "{", "t", welch->known, welch->t);
    write_real_member(to, ", ", "df", welch->known, welch->df);
    write_real_member(to, ", ", "p", welch->known, welch->p);
    write_real_member(to, ", ", "low", welch->known, welch->low);
    write_real_member(to, ", ", "high", welch->known, welch->high);
    write_string(to, "}}");
    return true;
}

static void finish(sqlite3_context *context, write_comparison *put)
{
    struct connection *connection = sqlite3_user_data(context);
    const struct stopper *stopper = &connection->cache.stopper;
    struct comparison *group = sqlite3_aggregate_context(context, 0), none = {0};
    struct writer text = {0};
    struct failure failure = {0};
    if (!group)
        group = &none;
    connection_begin_work(connection);
    bool done = sample_sort(&group->sides[0], stopper, &failure) &&
                sample_sort(&group->sides[1], stopper, &failure) &&
                put(group, &text, stopper, &failure);
    done = done && (!text.failed || failure_memory(&failure));
    if (function_end_work(context, connection, done, &failure))
        sqlite3_result_text64(context, text.bytes, text.length, memory_free, SQLITE_UTF8);
    else
        writer_clear(&text);
    sample_clear(&group->sides[0]);
    sample_clear(&group->sides[1]);
}

void mannWhitneyFinal(sqlite3_context *context)
{
    finish(context, put_mann_whitney);
}

void shiftFinal(sqlite3_context *context)
{
    finish(context, put_shift);
}

void tTestFinal(sqlite3_context *context)
{
    finish(context, put_t_tests);
}
