/*
** trace_ab: whether operators differ between several runs of control and of test.
*/
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/samples/compare_runs.h"
#include "base/memory.h"
#include "naming/short_name.h"
#include "functions/call/call_trace.h"
#include "functions/words/health_words.h"
#include "functions/words/label_words.h"

static const struct table_column columns_of_ab[] = {
    {"name", "TEXT",
     "name of the operator or kernel; 'step' for the steps themselves; for a job, only work on its "
     "path"},
    {"device", "TEXT", "'CPU', 'GPU' or 'step'"},
    {"unit", "TEXT",
     "'run' or 'step': one value of a sample is the mean of a run, or one step; see by_unit"},
    {"control_n", "INTEGER", "runs of control with this name"},
    {"test_n", "INTEGER", "the same for test"},
    {"control_steps", "INTEGER", "steps of all runs of control"},
    {"test_steps", "INTEGER", "the same for test"},
    {"control_mean", "REAL",
     "us per step, or events per step for measure 'count'; over runs, the geometric mean"},
    {"test_mean", "REAL", "us or events per step, the same for test"},
    {"diff", "REAL", "us per step or events per step, test minus control"},
    {"diff_pct", "REAL", "percent of control; if the unit is 'step', by the shift of trace_shift"},
    {"ci_low", "REAL", "percent, lower end of the 95 % confidence interval"},
    {"ci_high", "REAL", "percent, upper end of the 95 % confidence interval"},
    {"detectable", "REAL",
     "percent, the smallest change that this many runs would detect with probability 0.8 if only "
     "this name were tested"},
    {"p_value", "REAL", "p of Student's t-test; NULL if the unit is 'step'"},
    {"q_value", "REAL", "p_value corrected by Benjamini and Hochberg over the rows of the call"},
    {"verdict", "TEXT",
     "'slower', 'faster' or 'same'; '~' if not known; 'slower here' or 'faster here' if only these "
     "recordings differ; 'added', 'deleted' or 'too few'. For counts, 'more' and 'fewer'"},
    {"gate", "TEXT",
     "'slower', 'not slower' or 'inconclusive', judged against min_effect or min_diff, whichever "
     "is larger"},
    {"runs_needed", "INTEGER",
     "if inconclusive: runs per side that would decide with probability 0.8; NULL above 1000"},
    {"note", "TEXT", "what to keep in mind about this row"},
};

enum {
    AB_CONTROL,
    AB_TEST,
    AB_DEVICE_TYPE = 4,
    AB_USE_SHORT_NAME,
    AB_RUNS,
    AB_BY_UNIT,
    AB_MEASURE,
    AB_MIN_EFFECT,
    AB_NAMES,
    AB_MIN_DIFF
};

static const struct argument arguments_of_ab[] = {
    {"control", TAKES_TRACE, true,
     "baseline runs: a pattern of directories, or a JSON array of traces"},
    {"test", TAKES_TRACE, true, "the same for test"},
    {JOB_RANKS_ARGUMENT},
    {"iterations", TAKES_ITERATIONS, false, STEADY_STEPS_TEXT},
    {DEVICE_TYPE_ARGUMENT},
    {USE_SHORT_NAME_ARGUMENT},
    {"runs", TAKES_TEXT, false,
     "'auto': one run per directory of a pattern or entry of a JSON array; 'file': one run per "
     "file; default 'auto'"},
    {"by_unit", TAKES_TEXT, false,
     "'run', 'step', or 'auto' (runs if there are 5 or more); default 'auto'"},
    {"measure", TAKES_TEXT, false,
     "'self' (self time on the host, duration on the device), 'total' or 'count'; default 'self'"},
    {"min_effect", TAKES_SHARE, false,
     "smallest change that matters, a ratio: 0.05 is 5 %; default 0.05"},
    {"names", TAKES_TEXT, false,
     "LIKE pattern or JSON array of patterns: only these names, and 'step'; default all"},
    {"min_diff", TAKES_AMOUNT, false,
     "us or events per step, smallest change that matters; default 0"},
    {STEPS_ARGUMENT},
};

struct ab {
    struct trace_paths paths[2]; /* paths of control's and test's runs */
    bool files;                  /* each file is a run */
    bool job;                    /* values come from the paths of jobs (V12) */
    struct step_patterns names;
    bool *met; /* by pattern of names: whether it matches a name */
    struct runs_request request;
    struct comparison_request comparison;
    struct runs runs;
    struct comparisons found;
    size_t n[2], steps[2]; /* number of runs, and of steps in all of them */
    const char *order;     /* note about the order of the runs; NULL: none */
    const struct run_file *copies[2]; /* two files of one recording (V11); NULL: none */
    char *distrusted;      /* path of the first file that cannot be trusted, or NULL; owned */
    struct trust_item why; /* the reason (V13) */
};

static bool is_wanted(const void *argument, const char *name)
{
    const struct ab *ab = argument;
    const struct step_wish *wish = &ab->names.wish;
    bool wanted = wish->kind == STEPS_AUTO;
    for (size_t i = 0; i < wish->count; i++)
        if (wish->like(wish->argument, i, name))
            wanted = ab->met[i] = true;
    return wanted;
}

/* Checks that names exist: a gate must not pass because a name was misspelt. */
static bool check_names(struct call *call, const struct ab *ab)
{
    for (size_t i = 0; i < ab->names.wish.count; i++)
        if (!ab->met[i])
            return failure_set(&call->failure, FAILURE_REQUEST, "names: nothing is like '%s'",
                               ab->names.items[i]);
    return true;
}

static bool read_arguments(struct call *call, struct ab *ab)
{
    static const char *const runs[] = {"auto", "file"};
    static const char *const units[] = {
        [UNIT_AUTO] = "auto", [UNIT_RUN] = "run", [UNIT_STEP] = "step"};
    static const char *const measures[] = {
        [MEASURE_SELF] = "self", [MEASURE_TOTAL] = "total", [MEASURE_COUNT] = "count"};
    int use_short_name, files, unit, measure;
    ab->comparison = (struct comparison_request){.min_effect = 0.05};
    if (!argument_word(call, AB_RUNS, runs, COUNT_OF(runs), &files) ||
        !argument_word(call, AB_BY_UNIT, units, COUNT_OF(units), &unit) ||
        !argument_word(call, AB_MEASURE, measures, COUNT_OF(measures), &measure) ||
        !argument_device_type(call, AB_DEVICE_TYPE, &ab->request.device_type) ||
        !argument_use_short_name(call, AB_USE_SHORT_NAME, &use_short_name) ||
        !argument_real(call, AB_MIN_EFFECT, &ab->comparison.min_effect) ||
        !argument_real(call, AB_MIN_DIFF, &ab->comparison.min_diff) ||
        !argument_names(call, AB_NAMES, &ab->names))
        return false;
    ab->comparison.unit = (enum run_unit)unit;
    ab->comparison.counts = measure == MEASURE_COUNT;
    ab->request.measure = (enum run_measure)measure;
    ab->request.rename = use_short_name == 0   ? NULL
                         : use_short_name == 1 ? name_short
                                               : name_stable;
    ab->request.wanted = is_wanted;
    ab->request.argument = ab;
    ab->files = files == 1;
    ab->met = memory_zeroed(ab->names.wish.count, sizeof *ab->met);
    if (!ab->met)
        return failure_memory(&call->failure);
    return argument_runs(call, AB_CONTROL, files == 1, &ab->paths[0]) &&
           argument_runs(call, AB_TEST, files == 1, &ab->paths[1]);
}

/* Returns the path of the ith run, counting control's runs first. */
static const char *run_path(const struct ab *ab, size_t i, int *side)
{
    *side = i >= ab->paths[0].count;
    return ab->paths[*side].items[*side ? i - ab->paths[0].count : i].path;
}

/* If files of a run do not have different ranks, adds the argument for files that are runs to the
** error. */
static void hint_at_files(struct call *call, const struct ab *ab)
{
    struct failure failure = call->failure;
    if (ab->files || failure.code != FAILURE_SAME_RANK || !failure.text)
        return;
    call->failure = (struct failure){.code = FAILURE_NONE};
    failure_set(&call->failure, FAILURE_REQUEST, "%s; if each file is a run, write runs = 'file'",
                failure.text);
    failure_clear(&failure);
}

static bool check_measure(struct call *call, const struct ab *ab)
{
    return !ab->job || ab->request.measure == MEASURE_SELF ||
           failure_set(&call->failure, FAILURE_REQUEST,
                       "measure must be 'self' with ranks 'job', whose path has times alone");
}

/* V13: finds whether a run can be trusted. */
static bool check_trust(struct call *call, struct ab *ab, const struct call_trace *opened)
{
    const bool one_rank[] = {true, true}; /* there is only one rank per path */
    for (size_t i = 0; i < opened->trace.count && !ab->distrusted; i++) {
        const struct trace_member *member = &opened->trace.members[i];
        struct trust trust = {.count = 0};
        struct health health;
        if (!member->chosen)
            continue;
        if (!health_find(&health, member, call_trace_steps(opened, i), call_stopper(call),
                         &call->failure))
            return false;
        trust_add(&trust, 0, member->rank, &health, false);
        trust_finish(&trust, one_rank);
        const struct trust_item *decides = trust_decides(&trust);
        if (!decides)
            continue;
        ab->why = *decides;
        ab->distrusted = sqlite3_mprintf("%s", member->file->shown);
        if (!ab->distrusted)
            return failure_memory(&call->failure);
    }
    return true;
}

/* Opens the runs in batches, and takes their values. */
static bool take_runs(struct call *call, struct ab *ab)
{
    const struct stopper *stopper = call_stopper(call);
    size_t count = ab->paths[0].count + ab->paths[1].count;
    bool done = true;
    for (size_t i = 0; done && i < count; i += MOST_TRACES) {
        size_t some = count - i < MOST_TRACES ? count - i : MOST_TRACES;
        struct call_trace_request requests[MOST_TRACES];
        struct call_trace opened[MOST_TRACES];
        int sides[MOST_TRACES];
        for (size_t k = 0; k < some; k++)
            requests[k] = (struct call_trace_request){.path = run_path(ab, i + k, &sides[k]),
                                                      .use = TRACE_FOR_DIFF,
                                                      .quoted = true};
        bool open = done = call_traces_open(call, requests, some, opened);
        if (!open)
            hint_at_files(call, ab);
        for (size_t k = 0; done && k < some; k++) {
            ab->job = opened[k].job;
            done = check_measure(call, ab) &&
                   (ab->job ? runs_add_job : runs_add)(&ab->runs, &ab->request, sides[k],
                                                       &opened[k].trace, &opened[k].steps, stopper,
                                                       &call->failure) &&
                   (ab->distrusted || check_trust(call, ab, &opened[k]));
        }
        for (size_t k = 0; open && k < some; k++)
            call_trace_close(&opened[k]);
        cache_trim(&call->connection->cache, false); /* no later run needs these files */
    }
    return done;
}

/* V10: refuses to compare means over different ranks. */
static bool check_ranks(struct call *call, const struct ab *ab)
{
    uint32_t has, lacks;
    int64_t rank;
    int side;
    if (!runs_find_rank(&ab->runs, &has, &lacks, &rank))
        return true;
    const char *path = run_path(ab, lacks, &side);
    return failure_set(&call->failure, FAILURE_REQUEST,
                       "'%s' has no rank %lld, but '%s' has: choose ranks that all runs have%s",
                       path, (long long)rank, run_path(ab, has, &side),
                       ab->files ? "; the files of a run's ranks are one run, a directory" : "");
}

/* V1: refuses to compare sums of whole traces with sums of steps. */
static bool check_steps(struct call *call, const struct ab *ab)
{
    size_t with = ab->runs.count, without = ab->runs.count;
    for (size_t i = ab->runs.count; i-- > 0;)
        *(ab->runs.items[i].whole ? &without : &with) = i;
    if (with == ab->runs.count || without == ab->runs.count)
        return true;
    int side;
    const char *path = run_path(ab, without, &side);
    return failure_set(&call->failure, FAILURE_REQUEST,
                       "'%s' has no steps, but '%s' has: choose runs that have steps, or "
                       "iterations 'all'",
                       path, run_path(ab, with, &side));
}

/* Checks that there are events: a gate must not pass because a side recorded nothing. */
static bool check_events(struct call *call, const struct ab *ab)
{
    static const char *const what[] = {
        [DEVICE_ALL] = "events", [DEVICE_CPU] = "host events", [DEVICE_GPU] = "device work"};
    size_t with[2] = {0, 0};
    for (size_t i = 0; i < ab->runs.count; i++)
        with[ab->runs.items[i].side] += !ab->runs.items[i].empty;
    if (with[0] && with[1])
        return true;
    return failure_set(&call->failure, FAILURE_REQUEST, "%s has no %s to compare",
                       with[0] ? "test" : "control", what[ab->request.device_type]);
}

/* V9: notes if all runs of one side began before the first run of the other. */
static const char *order_of(const struct runs *runs)
{
    int64_t first[2] = {INT64_MAX, INT64_MAX}, last[2] = {INT64_MIN, INT64_MIN};
    for (size_t i = 0; i < runs->count; i++) {
        const struct run *run = &runs->items[i];
        if (run->start == NUMBER_NONE)
            return NULL;
        first[run->side] = run->start < first[run->side] ? run->start : first[run->side];
        last[run->side] = run->start > last[run->side] ? run->start : last[run->side];
    }
    if (last[0] < first[1])
        return "all runs of control came first: a drift of the machine looks like a difference";
    if (last[1] < first[0])
        return "all runs of test came first: a drift of the machine looks like a difference";
    return NULL;
}

static bool compare(struct call *call, struct ab *ab)
{
    const struct stopper *stopper = call_stopper(call);
    for (size_t i = 0; i < ab->runs.count; i++) {
        ab->n[ab->runs.items[i].side]++;
        ab->steps[ab->runs.items[i].side] += ab->runs.items[i].steps;
    }
    if (ab->comparison.unit == UNIT_AUTO)
        ab->comparison.unit = runs_unit(&ab->runs);
    if (ab->comparison.unit == UNIT_RUN)
        ab->order = order_of(&ab->runs);
    if (!check_ranks(call, ab) || !check_steps(call, ab) || !check_events(call, ab) ||
        !check_names(call, ab) ||
        !runs_find_copy(&ab->runs, ab->copies, stopper, &call->failure))
        return false;
    ab->comparison.copied = ab->copies[0] != NULL;
    return runs_sort(&ab->runs, stopper, &call->failure) &&
           compare_runs(&ab->runs, &ab->comparison, &ab->found, stopper, &call->failure);
}

/* A row with its sort keys. */
struct ab_row {
    const struct compared *compared;
    const struct name *name; /* NULL: the step */
};

static double size_of(const struct compared *row)
{
    return fabs(row->mean[1] - row->mean[0]);
}

static int ab_order(const void *a, const void *b)
{
    const struct ab_row *x = a, *y = b;
    if (!x->name || !y->name)
        return (x->name != NULL) - (y->name != NULL);
    int order = COMPARE(size_of(y->compared), size_of(x->compared));
    order = order ? order : (int)op_is_device(x->compared->op) - (int)op_is_device(y->compared->op);
    return order ? order : name_compare(x->name, y->name);
}

static void real_or_null(struct result *result, double real)
{
    if (isnan(real))
        result_null(result);
    else
        result_real(result, real);
}

/* Appends a part of a note after `; `. `text` has room for all parts. */
enum { LONGEST_NOTE = 1000 };
static void note(char *text, const char *format, ...)
{
    size_t length = strlen(text);
    va_list values;
    if (length)
        length += (size_t)snprintf(text + length, LONGEST_NOTE - length, "; ");
    va_start(values, format);
    vsnprintf(text + length, LONGEST_NOTE - length, format, values);
    va_end(values);
}

/* Notes the meaning of a row's unit. */
static void note_unit(char *text, const struct ab *ab, const struct compared *row)
{
    bool here = row->verdict == VERDICT_SLOWER_HERE || row->verdict == VERDICT_FASTER_HERE;
    char few[80] = "one run per side";
    if (ab->comparison.unit == UNIT_RUN) {
        if (ab->order)
            note(text, "%s", ab->order);
        return;
    }
    if (runs_unit(&ab->runs) == UNIT_RUN) {
        note(text, "steps of one run are not independent: ask by run");
        return;
    }
    if (ab->runs.count > 2)
        snprintf(few, sizeof few, "too few runs (%zu against %zu)", ab->n[0], ab->n[1]);
    note(text,
         "%s: %srunning the same program again may differ too. Record 3 or more runs per side, "
         "interleaved.",
         few, here ? "these recordings differ; " : "");
}

/* Whether a row depends on times that cannot be trusted (V13). */
static bool is_distrusted(const struct ab *ab, const struct compared *row)
{
    return ab->distrusted && (row->op == OP_STEP || op_is_device(row->op));
}

/* Adds a note about trust (V13) before the other notes; paths may be longer than LONGEST_NOTE. */
static void add_distrust(struct result *result, const struct ab *ab, const char *rest)
{
    struct writer text = {0};
    write_format(&text, "cannot be compared: %s: ", ab->distrusted);
    trust_write(&text, &ab->why);
    write_format(&text, "%s%s", *rest ? "; " : "", rest);
    if (text.failed)
        result_lost(result);
    result_text(result, text.bytes, text.length);
    writer_clear(&text);
}

/* Adds a note about copies (V11) before the other notes; paths may be longer than LONGEST_NOTE. */
static void add_copies(struct result *result, const struct ab *ab, const char *rest)
{
    const struct name *paths = ab->runs.paths.items;
    char *text = sqlite3_mprintf("'%s' and '%s' are one recording, not two runs%s%s",
                                 paths[ab->copies[0]->path].text, paths[ab->copies[1]->path].text,
                                 *rest ? "; " : "", rest);
    if (text)
        result_string(result, text);
    else
        result_lost(result);
    sqlite3_free(text);
}

/* V12: notes the rank with most of a row's time, on the side with more of it. */
static void note_rank(char *text, const struct ab *ab, const struct compared *row)
{
    int side = row->mean[1] >= row->mean[0];
    int64_t rank;
    double share;
    if (row->op != OP_STEP && runs_find_share(&ab->runs, row->op, side, &rank, &share))
        note(text, "rank %lld has %d %% of it in %s", (long long)rank, (int)(100 * share + 0.5),
             side ? "test" : "control");
}

static void add_note(struct result *result, const struct ab *ab, const struct compared *row)
{
    char text[LONGEST_NOTE] = "", percent[40];
    note_rank(text, ab, row);
    if ((row->runs[0] == 0 || row->runs[1] == 0) && row->op != OP_STEP && op_is_device(row->op))
        note(text, "autotuning may pick other kernels from run to run");
    for (int side = 0; side < 2 && ab->comparison.unit == UNIT_RUN; side++) {
        if (row->runs[side] > 0 && row->runs[side] < ab->n[side])
            note(text, "in %zu of %zu runs of %s", row->runs[side], ab->n[side], side_words[side]);
        if (row->zeros[side] > 0)
            note(text, "no time in %zu of %zu runs of %s", row->zeros[side], ab->n[side],
                 side_words[side]);
    }
    if (!row->every_step)
        note(text, "not in every step: means over steps");
    if (means_disagree(row, ab->comparison.min_effect)) {
        sqlite3_snprintf(sizeof percent, percent, "%+.1f", row->mean_percent); /* in any locale */
        note(text, "means over steps differ by %s %%", percent);
    }
    for (int side = 0; side < 2 && !isnan(row->p); side++)
        if (ab->n[side] < 3)
            note(text, "%zu %s of %s: if its runs differ more than the others, p is too small",
                 ab->n[side], ab->n[side] == 1 ? "run" : "runs", side_words[side]);
    note_unit(text, ab, row);
    if (is_distrusted(ab, row))
        add_distrust(result, ab, text);
    else if (ab->copies[0])
        add_copies(result, ab, text);
    else if (*text)
        result_string(result, text);
    else
        result_null(result);
}

static const char *verdict_word(enum verdict verdict, bool counts)
{
    static const char *const words[] = {
        [VERDICT_UNKNOWN] = "~",
        [VERDICT_SLOWER] = "slower",
        [VERDICT_FASTER] = "faster",
        [VERDICT_SAME] = "same",
        [VERDICT_SLOWER_HERE] = "slower here",
        [VERDICT_FASTER_HERE] = "faster here",
        [VERDICT_ADDED] = "added",
        [VERDICT_DELETED] = "deleted",
        [VERDICT_TOO_FEW] = "too few",
    };
    static const char *const of_counts[] = {[VERDICT_SLOWER] = "more",
                                            [VERDICT_FASTER] = "fewer",
                                            [VERDICT_SLOWER_HERE] = "more here",
                                            [VERDICT_FASTER_HERE] = "fewer here",
                                            [VERDICT_TOO_FEW] = NULL};
    return counts && of_counts[verdict] ? of_counts[verdict] : words[verdict];
}

static void add_row(struct result *result, const struct ab *ab, const struct ab_row *row)
{
    static const char *const gates[] = {[GATE_INCONCLUSIVE] = "inconclusive",
                                        [GATE_SLOWER] = "slower",
                                        [GATE_NOT_SLOWER] = "not slower"};
    const struct compared *it = row->compared;
    if (row->name)
        result_text(result, row->name->text, row->name->length);
    else
        result_string(result, "step");
    result_string(result, !row->name ? "step" : op_is_device(it->op) ? "GPU" : "CPU");
    result_string(result, ab->comparison.unit == UNIT_RUN ? "run" : "step");
    result_integer(result, (int64_t)it->runs[0]);
    result_integer(result, (int64_t)it->runs[1]);
    result_integer(result, (int64_t)ab->steps[0]);
    result_integer(result, (int64_t)ab->steps[1]);
    result_real(result, it->mean[0]);
    result_real(result, it->mean[1]);
    result_real(result, it->mean[1] - it->mean[0]);
    real_or_null(result, it->percent);
    real_or_null(result, it->low);
    real_or_null(result, it->high);
    real_or_null(result, it->detectable);
    real_or_null(result, it->p);
    real_or_null(result, it->q);
    bool distrusted = is_distrusted(ab, it);
    result_string(result, verdict_word(distrusted ? VERDICT_UNKNOWN : it->verdict,
                                       ab->request.measure == MEASURE_COUNT && row->name));
    result_string(result, gates[distrusted ? GATE_INCONCLUSIVE : it->gate]);
    result_number(result, distrusted ? NUMBER_NONE : it->runs_needed);
    add_note(result, ab, it);
}

static bool add_rows(struct call *call, struct result *result, const struct ab *ab)
{
    const struct stopper *stopper = call_stopper(call);
    struct ab_row *rows = memory_zeroed(ab->found.count, sizeof *rows);
    bool done = rows || failure_memory(&call->failure);
    for (size_t i = 0; done && i < ab->found.count; i++) {
        const struct compared *row = &ab->found.items[i];
        rows[i] = (struct ab_row){
            row, row->op == OP_STEP ? NULL : &ab->runs.names.items[op_name(row->op)]};
    }
    done =
        done && sort_items(rows, ab->found.count, sizeof *rows, ab_order, stopper, &call->failure);
    for (size_t i = 0; done && i < ab->found.count; i++) {
        add_row(result, ab, &rows[i]);
        done = stopper_goes_on(stopper, i, &call->failure);
    }
    memory_free(rows);
    return done;
}

static int ab_produce(struct call *call, struct rows **rows)
{
    struct ab ab = {.n = {0, 0}};
    struct result *result = result_new(call->function->column_count);
    if (read_arguments(call, &ab) && take_runs(call, &ab) && compare(call, &ab))
        add_rows(call, result, &ab);
    step_patterns_clear(&ab.names);
    memory_free(ab.met);
    paths_clear(&ab.paths[0]);
    paths_clear(&ab.paths[1]);
    sqlite3_free(ab.distrusted);
    runs_clear(&ab.runs);
    comparisons_clear(&ab.found);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_ab_function = {
    .name = "trace_ab",
    .family = FAMILY_IS_IT_REAL,
    .question = "Several runs per side: is the difference real, or noise?",
    .text =
        "whether operators differ between the runs of two programs, and whether this many runs can "
        "tell",
    COLUMNS(columns_of_ab),
    ARGUMENTS(arguments_of_ab),
    .produce = ab_produce,
};
