#include "comparisons.h"

#include <math.h>
#include <string.h>

#include "../analysis/statistics.h"
#include "../chart/writer.h"
#include "../reader/memory.h"
#include "../sqlite/database.h"
#include "../sqlite/registry.h"

const char mann_whitney_name[] = "trace_mannwhitney", shift_name[] = "trace_shift",
           t_test_name[] = "trace_ttest";

/* The state for one group. */
struct comparison {
    struct sample sides[2]; /* control, test */
};

/* Which side a value names, or -1. `*failed`: out of memory. */
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

/* Writes a member of a JSON object. `start` comes before its key: "{" or ", ". */
static void put_key(struct writer *to, const char *start, const char *key)
{
    write_string(to, start);
    write_json_string(to, key);
    write_string(to, ": ");
}

static void put_real(struct writer *to, const char *start, const char *key, bool known, double real)
{
    put_key(to, start, key);
    if (known)
        write_real(to, real);
    else
        write_string(to, "null");
}

static void put_counts(struct writer *to, const struct comparison *it)
{
    put_key(to, ", ", "control_n");
    write_integer(to, (int64_t)it->sides[0].count);
    put_key(to, ", ", "test_n");
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
    put_real(to, "{", "u", known, found.u);
    put_real(to, ", ", "p", known, found.p);
    put_counts(to, it);
    put_key(to, ", ", "exact");
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
    put_real(to, "{", "shift", known, found.shift);
    put_real(to, ", ", "low", known, found.low);
    put_real(to, ", ", "high", known, found.high);
    put_real(to, ", ", "level", known, found.level);
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
    put_real(to, "{", "t", student->known, student->t);
    put_real(to, ", ", "df", student->known, student->df);
    put_real(to, ", ", "p", student->known, student->p);
    put_real(to, ", ", "diff", control && test, found.diff);
    put_real(to, ", ", "low", student->known, student->low);
    put_real(to, ", ", "high", student->known, student->high);
    put_real(to, ", ", "control_mean", control, found.control_mean);
    put_real(to, ", ", "test_mean", test, found.test_mean);
    put_counts(to, it);
    put_key(to, ", ", "welch");
    put_real(to, "{", "t", welch->known, welch->t);
    put_real(to, ", ", "df", welch->known, welch->df);
    put_real(to, ", ", "p", welch->known, welch->p);
    put_real(to, ", ", "low", welch->known, welch->low);
    put_real(to, ", ", "high", welch->known, welch->high);
    write_string(to, "}}");
    return true;
}

static void finish(sqlite3_context *context, write_comparison *put)
{
    struct database *database = sqlite3_user_data(context);
    const struct stopper *stopper = &database->cache.stopper;
    struct comparison *group = sqlite3_aggregate_context(context, 0), none = {0};
    struct writer text = {0};
    struct failure failure = {0};
    if (!group)
        group = &none;
    database_begin_work(database);
    bool done = sample_sort(&group->sides[0], stopper, &failure) &&
                sample_sort(&group->sides[1], stopper, &failure) &&
                put(group, &text, stopper, &failure);
    done = done && (!text.failed || failure_memory(&failure));
    if (function_end_work(context, database, done, &failure))
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
