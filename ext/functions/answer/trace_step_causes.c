/*
** trace_step_causes: the causes of the difference between the steps of two traces. They add up to
** it.
*/
#include <math.h>

#include "functions/call/call_causes.h"
#include "functions/call/step_parts.h"
#include "functions/facts/call_rates.h"
#include "functions/facts/compared_ranks.h"
#include "functions/words/cause_words.h"

static const struct table_column columns_of_step_causes[] = {
    {"kind", "TEXT",
     "'changed', 'replaced', 'communication', 'host late', 'queued', 'synchronized', 'not "
     "recorded', 'moved' (to another rank) or 'merged' (several small causes)"},
    {"class", "TEXT", "as in trace_step_time; NULL if its parts have several classes"},
    {"area", "TEXT",
     "part of the program (see trace_step_path); if there are several, their family"},
    {"name", "TEXT",
     "operator or kernel; for 'replaced' the longest new one, else the longest old one; NULL: "
     "several"},
    {"added", "INTEGER", "number of names that only test has"},
    {"removed", "INTEGER", "number of names that only control has"},
    {"names", "INTEGER", "number of names in total"},
    {"control_time", "REAL", "us per step in control"},
    {"test_time", "REAL", "us per step in test"},
    {"diff_time", "REAL", "us per step, test minus control"},
    {"control_ns", "INTEGER", "ns, control_time summed over all steps of control"},
    {"test_ns", "INTEGER", "ns, test_time summed over all steps of test"},
    {"share", "REAL",
     "diff_time as a share of the whole difference, 1 for all of it; NULL if that is 0"},
    {"instances", "INTEGER", "number of areas of its family that have it; 0 without an area"},
    {"only_in", "TEXT",
     "JSON array of the few areas with 80 % of it; NULL: it is spread over more areas"},
    {"changes", "REAL",
     "us per step, |diff_time|; if merged, the sum of |diff_time| of its causes"},
    {"rank", "INTEGER",
     "for a job, the only rank whose own steps differ in this; NULL: several ranks, or "
     "communication"},
    {"text", "TEXT", "the cause in words, with names as trace_label gives them"},
    {"replaced", "TEXT", "JSON array of the names that 'replaced' sums up; NULL for other kinds"},
    {"recomputed", "TEXT",
     "JSON array of forward operators that only the longer side runs again in this cause; NULL: "
     "none"},
    {"cause", "INTEGER", "number of the cause, from 1, largest |diff_time| first"},
    {"ranks", "TEXT",
     "JSON array of several ranks whose own steps differ in this while the others do not; NULL "
     "otherwise"},
    {"changing", "INTEGER", "1 if it is on another rank in other steps, else 0"},
    {"calls_time", "REAL",
     "us per step due to more or fewer calls of a collective; NULL, like the next columns, for "
     "other causes or if not known"},
    {"bytes_time", "REAL",
     "us per step due to more or fewer bytes per call, at control's bandwidth"},
    {"bandwidth_time", "REAL",
     "us per step due to another bandwidth; due to longer transfers if bytes are not known"},
    {"overlap_time", "REAL",
     "us per step due to less or more overlap: the rest. The four add up to diff_time"},
    {"control_calls", "REAL", "calls per step and rank in control"},
    {"test_calls", "REAL", "calls per step and rank in test"},
    {"control_bytes", "REAL", "bytes per step and rank in control"},
    {"test_bytes", "REAL", "bytes per step and rank in test"},
    {"control_gbs", "REAL", "GB/s in control: busbw_gbs of trace_collectives"},
    {"test_gbs", "REAL", "GB/s in test: busbw_gbs of trace_collectives"},
};

enum { CAUSES_CLOCK = 6 };

static const struct argument arguments_of_step_causes[] = {
    {CONTROL_ARGUMENT},
    {TEST_ARGUMENT},
    SELECTIONS_OF_JOB,
    {STEP_CLOCK_ARGUMENT},
    {CAUSES_SHOWN_ARGUMENT},
    {STEPS_ARGUMENT},
};

/* Writes names as a JSON array, or nothing if there are none. */
static void write_names(struct cause_words *words, const uint32_t *ids, size_t count)
{
    struct writer *text = &words->text;
    for (size_t i = 0; i < count; i++) {
        write_string(text, i ? "," : "[");
        if (ids[i] == NAME_NONE)
            write_string(text, "null");
        else
            write_json(text, words->causes->names.items[ids[i]].text,
                       words->causes->names.items[ids[i]].length);
    }
    if (count)
        write_string(text, "]");
}

/* Adds us per step; NULL if a side has no events. */
static void result_difference(struct result *result, wide_time diff, double windows)
{
    if (windows > 0)
        result_real(result, (double)diff / windows);
    else
        result_null(result);
}

/* Adds a number, or NULL for NAN. */
static void result_known(struct result *result, double value)
{
    if (isnan(value))
        result_null(result);
    else
        result_real(result, value);
}

/* W9 */
static void add_split(struct result *result, const struct cause_words *words,
                      const struct cause *cause)
{
    struct cause_split of;
    bool known = cause_split_find(&of, words->causes, cause, words->rates);
    const double us[] = {of.by_calls, of.by_bytes, of.by_bandwidth, of.by_overlap};
    const double *const pairs[] = {of.calls, of.bytes, of.gbs};
    for (size_t i = 0; i < 4; i++)
        result_known(result, known ? us[i] / 1000 : NAN);
    for (size_t i = 0; i < 3; i++)
        for (int side = 0; side < 2; side++)
            result_known(result, known ? pairs[i][side] : NAN);
}

static void add_row(struct result *result, struct cause_words *words, const struct cause *cause)
{
    const struct causes *causes = words->causes;
    double windows = 1000.0 * (double)causes->windows[0] * (double)causes->windows[1];
    result_string(result, cause_kind_name(cause->kind));
    result_string(result, step_class_name(cause->step_class));
    result_name(result, &causes->names, cause->area);
    result_name(result, &causes->names, cause->name);
    result_integer(result, cause->added);
    result_integer(result, cause->removed);
    result_integer(result, cause->names);
    for (int side = 0; side < 2; side++)
        if (causes->windows[side] > 0)
            result_real(result, mean_microseconds(cause->time[side], causes->windows[side]));
        else
            result_null(result);
    result_difference(result, cause->diff, windows);
    for (int side = 0; side < 2; side++)
        result_integer(result, (int64_t)cause->time[side]);
    if (causes->diff == 0)
        result_null(result);
    else
        result_real(result, (double)cause->diff / (double)causes->diff + 0.0);
    result_integer(result, cause->instances);
    write_names(words, causes->only_in + cause->only_first, cause->only_count);
    cause_words_add(words, result);
    result_difference(result, cause->changes, windows);
    result_number(result, cause->rank);
    cause_words_write(words, cause);
    cause_words_add(words, result);
    write_names(words, causes->replaced + cause->replaced_first, cause->replaced_count);
    cause_words_add(words, result);
    write_names(words, causes->recomputed + cause->recomputed_first, cause->recomputed_count);
    cause_words_add(words, result);
    result_integer(result, cause - causes->items + 1);
    for (size_t i = 0; i < cause->ranks_count; i++) {
        write_string(&words->text, i ? "," : "[");
        write_integer(&words->text, causes->ranks[cause->ranks_first + i]);
    }
    if (cause->ranks_count)
        write_string(&words->text, "]");
    cause_words_add(words, result);
    result_integer(result, cause->changing);
    add_split(result, words, cause);
}

static void add_rows(struct call *call, struct result *result, struct call_causes *found)
{
    const struct causes *causes = &found->causes;
    struct cause_words words;
    bool done = call_rates_find(call, found);
    done = (cause_words_begin(&words, found) && done) || failure_memory(&call->failure);
    for (size_t i = 0; i < causes->count && done; i++) {
        const struct cause *cause = &causes->items[i];
        done = (cause->time[0] <= INT64_MAX && cause->time[1] <= INT64_MAX) ||
               failure_set(&call->failure, FAILURE_REQUEST,
                           "a cause takes more than 64 bits of nanoseconds");
        if (done)
            add_row(result, &words, cause);
    }
    cause_words_end(&words);
}

static int step_causes_produce(struct call *call, struct rows **rows)
{
    return call_causes_produce(call, CAUSES_CLOCK, add_rows, rows);
}

const struct table_function trace_step_causes_function = {
    .name = "trace_step_causes",
    .family = FAMILY_THE_ANSWER,
    .question = "Which causes add up to the difference of a step?",
    .text =
        "why a step takes longer or shorter in another trace: causes that add up to the difference",
    COLUMNS(columns_of_step_causes),
    ARGUMENTS(arguments_of_step_causes),
    .produce = step_causes_produce,
};
