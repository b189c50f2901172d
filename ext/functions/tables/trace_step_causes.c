/*
** trace_step_causes: why a step takes longer or shorter in another trace, in causes that add up.
*/
#include "analysis/causes/causes.h"
#include "naming/label.h"
#include "chart/writer.h"
#include "text/ascii.h"
#include "base/memory.h"
#include "functions/call/call_trace.h"
#include "functions/call/step_parts.h"

static const struct table_column columns_of_step_causes[] = {
    {"kind", "TEXT",
     "changed, replaced, communication, host late, queued, synchronized, not recorded, moved (to "
     "another rank) or merged (of small ones)"},
    {"class", "TEXT", "as trace_step_time has it; NULL if the parts are of several"},
    {"area", "TEXT",
     "part of the program, as trace_step_path has it; if there are several, their family"},
    {"name", "TEXT",
     "operator or kernel; of 'replaced' the longest new one, else old one; NULL: several"},
    {"added", "INTEGER", "names that only test has"},
    {"removed", "INTEGER", "names that only control has"},
    {"names", "INTEGER", "names in all"},
    {"control_time", "REAL", "us a step in control"},
    {"test_time", "REAL", "us a step in test"},
    {"diff_time", "REAL", "us a step, test minus control"},
    {"control_ns", "INTEGER", "ns, of all steps of control"},
    {"test_ns", "INTEGER", "ns, of all steps of test"},
    {"share", "REAL", "part of the difference of the steps, 1: all of it; NULL if that is 0"},
    {"instances", "INTEGER", "areas of the family that it is in; 0 without an area"},
    {"only_in", "TEXT", "JSON array of the few areas that have four fifths of it; NULL: many have"},
    {"changes", "REAL", "us a step, |diff_time|; if merged, the sum of those of the causes in it"},
    {"rank", "INTEGER",
     "of jobs: the only rank whose own steps differ so; NULL: several, or communication"},
    {"text", "TEXT", "the cause in words, with names as trace_label gives them"},
    {"replaced", "TEXT", "JSON array of the names that 'replaced' counts; NULL: another kind"},
};

/* Each argument of test follows the same one of control. */
enum {
    CAUSES_CONTROL,
    CAUSES_CONTROL_RANK = 2,
    CAUSES_CONTROL_ITERATION = 4,
    CAUSES_CLOCK = 6,
    CAUSES_SHOWN,
    CAUSES_STEPS
};

static const struct argument arguments_of_step_causes[] = {
    {CONTROL_ARGUMENT},
    {TEST_ARGUMENT},
    {"control_rank", "", false, JOB_BY_DEFAULT_TEXT},
    {"test_rank", "", false, "the same for test"},
    {"control_iteration", "", false, STEADY_STEPS_TEXT},
    {"test_iteration", "", false, "the same for test"},
    {STEP_CLOCK_ARGUMENT},
    {"shown", "INTEGER>=0", false,
     "small causes are merged until so many hold three quarters of the sum of |diff_time|; "
     "default none is merged"},
    {STEPS_ARGUMENT},
};

static const struct call_sides_request sides_of_call = {
    .control = CAUSES_CONTROL,
    .ranks = CAUSES_CONTROL_RANK,
    .iterations = CAUSES_CONTROL_ITERATION,
    .steps = CAUSES_STEPS};

/* One trace, with the parts of its chosen steps. */
struct causes_side {
    struct attribution *attribution;
    struct attributed_step total;
    struct attribution *own; /* of a job: the steps of all ranks, each by itself */
    struct step_choice steps;
};

static bool sum_up_side(struct call *call, struct causes_side *side, struct families *families,
                        const struct call_trace *opened, enum step_clock clock,
                        const struct intervals *drained)
{
    const struct stopper *stopper = &call->database->cache.stopper;
    side->attribution = attribution_new(
        &opened->trace, &opened->steps,
        &(struct attribution_request){
            .level = LEVEL_COUNT, .clock = clock, .job = opened->job, .drained = drained},
        stopper, &call->failure);
    return side->attribution &&
           attribution_total(side->attribution, &side->total, &call->failure) &&
           families_add(families, &opened->trace, stopper, &call->failure);
}

/* Begins the attribution of the own steps of the ranks of a job. */
static bool open_ranks(struct call *call, int number, struct causes_side *side,
                       const struct call_trace *opened, enum step_clock clock)
{
    struct selection iterations;
    bool done = argument_selection(call, CAUSES_CONTROL_ITERATION + number, true, &iterations) &&
                trace_choose_steps(&opened->trace, &iterations, STEPS_OF_ANY, number == 0 ? "control" : "test",
                                   &side->steps, &call->failure);
    if (done)
        side->own = attribution_new(
            &opened->trace, &side->steps,
            &(struct attribution_request){.level = LEVEL_COUNT, .clock = clock},
            &call->database->cache.stopper, &call->failure);
    selection_clear(&iterations);
    return done && side->own;
}

static void clear_side(struct causes_side *side, const struct call_trace *opened)
{
    step_choice_clear(&opened->trace, &side->steps);
    attribution_free(side->own);
    attribution_free(side->attribution);
    memory_free(side->total.rows);
}

/* The causes in words. */
struct wording {
    const struct causes *causes;
    struct names labels;  /* of communication */
    size_t *label_counts; /* causes by label */
    size_t late, unrecorded; /* causes of the kinds 'host late' and 'not recorded' */
    char *room;           /* for a label */
    struct writer text;   /* of the current cause */
};

static size_t label_of(struct wording *words, uint32_t name)
{
    const struct name *of = &words->causes->names.items[name];
    return label_write(of->text, of->length, words->room + of->length + LABEL_ROOM, words->room);
}

static void write_label_of(struct wording *words, uint32_t name)
{
    write_bytes(&words->text, words->room, label_of(words, name));
}

static bool wording_begin(struct wording *words, const struct causes *causes)
{
    *words = (struct wording){.causes = causes};
    words->room = memory_allocate(2 * (names_longest(&causes->names) + LABEL_ROOM));
    words->label_counts = memory_zeroed(causes->count, sizeof *words->label_counts);
    bool done = words->room && words->label_counts;
    for (size_t i = 0; i < causes->count && done; i++) {
        const struct cause *cause = &causes->items[i];
        words->late += cause->kind == CAUSE_HOST_LATE;
        words->unrecorded += cause->kind == CAUSE_NOT_RECORDED;
        if (cause->kind != CAUSE_COMMUNICATION || cause->name == NAME_NONE)
            continue;
        uint32_t label =
            names_intern(&words->labels, words->room, label_of(words, cause->name));
        done = label != NAME_NONE;
        if (done)
            words->label_counts[label]++;
    }
    return done;
}

static void wording_end(struct wording *words)
{
    names_clear(&words->labels);
    memory_free(words->label_counts);
    memory_free(words->room);
    writer_clear(&words->text);
}

/* Where a cause is: ` (X)`, ` in 24 X`, `, only in X_7`. */
static void write_area(struct wording *words, const struct cause *cause)
{
    struct writer *text = &words->text;
    const uint32_t *only = words->causes->only_in + cause->only_first;
    if (cause->area == NAME_NONE)
        return;
    if (cause->instances > 1) {
        write_string(text, " in ");
        write_integer(text, cause->instances);
        write_string(text, " ");
        write_label_of(words, cause->area);
    } else if (cause->area != cause->name) {
        write_string(text, " (");
        write_label_of(words, cause->area);
        write_string(text, ")");
    }
    if (cause->only_count == 0)
        return;
    write_string(text, ", only in ");
    if (cause->only_count == 1) {
        write_label_of(words, *only);
    } else {
        write_integer(text, (int64_t)cause->only_count);
        write_string(text, " of them");
    }
}

static void write_communication(struct wording *words, const struct cause *cause)
{
    struct writer *text = &words->text;
    const struct name *area =
        cause->area == NAME_NONE ? NULL : &words->causes->names.items[cause->area];
    const char *end = area ? area->text + area->length : NULL;
    if (area && (begins(area->text, end, "nccl:") || begins(area->text, end, "gloo:"))) {
        write_bytes(text, area->text, area->length);
    } else {
        size_t length = label_of(words, cause->name);
        write_bytes(text, words->room, length);
        if (words->label_counts[names_find(&words->labels, words->room, length)] > 1)
            write_area(words, cause);
    }
    write_string(text, ", not hidden");
}

static void write_replaced(struct wording *words, const struct cause *cause)
{
    struct writer *text = &words->text;
    if (cause->step_class == CLASS_MEMORY)
        write_string(text, "copies of ");
    write_label_of(words, cause->name);
    if (cause->step_class != CLASS_MEMORY) {
        int64_t others = cause->names - (cause->added > 0 ? cause->added : cause->removed);
        if (cause->added > 1) {
            write_string(text, " and ");
            write_integer(text, cause->added - 1);
            write_string(text, " more take over from ");
        } else {
            write_string(text, cause->added ? " takes over from " : " gives way to ");
        }
        write_integer(text, others);
        write_string(text, others == 1 ? " operator" : " operators");
    }
    write_area(words, cause);
}

/* Whether the name of a cause is that of a gap (A5.4), which is no thing to wait for. */
static bool is_gap(const struct wording *words, const struct cause *cause)
{
    const struct name *name =
        cause->name == NAME_NONE ? NULL : &words->causes->names.items[cause->name];
    const char *end = name ? name->text + name->length : NULL;
    return name && (begins(name->text, end, "between ") || begins(name->text, end, "before ") ||
                    begins(name->text, end, "after "));
}

static void write_late(struct wording *words, const struct cause *cause)
{
    struct writer *text = &words->text;
    if (is_gap(words, cause)) {
        write_label_of(words, cause->name);
        return;
    }
    write_string(text, cause->step_class == CLASS_IDLE_LAUNCH ? "launching: " : "waiting for ");
    if (cause->name != NAME_NONE)
        write_label_of(words, cause->name);
    else
        write_string(text, words->late > 1 ? "the host, elsewhere" : "the host");
}

static void write_merged(struct wording *words, const struct cause *cause)
{
    static const char *const stages[] = {"backward", "forward", "loader", "optimizer"};
    struct writer *text = &words->text;
    if (cause->step_class == CLASS_MEMORY)
        write_string(text, "copies: ");
    if (cause->merge == MERGE_BY_NAME) {
        write_label_of(words, cause->name);
        write_string(text, cause->beside ? ", elsewhere" : ", everywhere");
        return;
    }
    write_string(text, cause->beside ? "all else in " : "all in ");
    if (cause->merge == MERGE_BY_STAGE)
        write_string(text, stages[cause->stage]);
    else
        write_label_of(words, cause->area);
    write_string(text, ", ");
    write_integer(text, (int64_t)cause->merged);
    write_string(text, " parts");
}

static void write_synchronized(struct wording *words, const struct cause *cause)
{
    struct writer *text = &words->text;
    int64_t others = words->causes->drains->operators - 1;
    write_string(text, "synchronization: ");
    write_label_of(words, cause->name);
    if (others > 0) {
        write_string(text, " and ");
        write_integer(text, others);
        write_string(text, " more");
    }
}

static void write_kind(struct wording *words, const struct cause *cause)
{
    struct writer *text = &words->text;
    switch (cause->kind) {
    case CAUSE_QUEUED:
        write_string(text, "launched, not begun");
        break;
    case CAUSE_SYNCHRONIZED:
        write_synchronized(words, cause);
        break;
    case CAUSE_NOT_RECORDED:
        if (cause->name != NAME_NONE)
            write_label_of(words, cause->name);
        else
            write_string(text, cause->step_class == CLASS_UNRECORDED
                                   ? "nothing recorded of the host"
                                   : "idle, nothing recorded of the host");
        if (cause->name == NAME_NONE && words->unrecorded > 1)
            write_string(text, ", elsewhere");
        break;
    case CAUSE_COMMUNICATION:
        write_communication(words, cause);
        break;
    case CAUSE_REPLACED:
        write_replaced(words, cause);
        break;
    case CAUSE_HOST_LATE:
        write_late(words, cause);
        break;
    case CAUSE_MOVED:
        write_string(text, "the path goes over other ranks");
        break;
    case CAUSE_MERGED:
        write_merged(words, cause);
        break;
    case CAUSE_CHANGED:
        if (cause->step_class == CLASS_MEMORY)
            write_string(text, "copies: ");
        if (cause->name == NAME_NONE)
            write_string(text, "work without a launch");
        else
            write_label_of(words, cause->name);
        write_area(words, cause);
        break;
    }
}

static void write_cause(struct wording *words, const struct cause *cause)
{
    write_kind(words, cause);
    if (cause->rank != NUMBER_NONE) {
        write_string(&words->text, ", only on rank ");
        write_integer(&words->text, cause->rank);
    }
}

/* Writes names as a JSON array; nothing if there are none. */
static void write_names(struct wording *words, const uint32_t *ids, size_t count)
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

/* Adds the text that was written; NULL if none was. */
static void result_written(struct result *result, struct writer *text)
{
    if (text->failed)
        result_lost(result);
    result_text(result, text->length ? text->bytes : NULL, text->length);
    text->length = 0;
}

/* us a step; NULL if a side has no events. */
static void result_difference(struct result *result, wide_time diff, double windows)
{
    if (windows > 0)
        result_real(result, (double)diff / windows);
    else
        result_null(result);
}

static void add_row(struct result *result, struct wording *words, const struct cause *cause)
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
    result_written(result, &words->text);
    result_difference(result, cause->changes, windows);
    result_number(result, cause->rank);
    write_cause(words, cause);
    result_written(result, &words->text);
    write_names(words, causes->replaced + cause->replaced_first, cause->replaced_count);
    result_written(result, &words->text);
}

static bool add_rows(struct call *call, struct result *result, const struct causes *causes)
{
    struct wording words;
    bool done = wording_begin(&words, causes) || failure_memory(&call->failure);
    for (size_t i = 0; i < causes->count && done; i++) {
        const struct cause *cause = &causes->items[i];
        done = (cause->time[0] <= INT64_MAX && cause->time[1] <= INT64_MAX) ||
               failure_set(&call->failure, FAILURE_REQUEST,
                           "a cause takes more than 64 bits of nanoseconds");
        if (done)
            add_row(result, &words, cause);
    }
    wording_end(&words);
    return done;
}

/* Finds the causes of two sides that are opened, and adds their rows. */
static bool find_causes(struct call *call, const struct call_trace *opened, enum step_clock clock,
                        size_t shown, struct result *result)
{
    const struct stopper *stopper = &call->database->cache.stopper;
    struct causes_side sides[2] = {{.attribution = NULL}, {.attribution = NULL}};
    struct families families = {.repeated = NULL};
    struct causes causes = {.items = NULL};
    struct drains drains = {.name = NAME_NONE};
    struct drain_side waits[2];
    bool done = true, jobs = opened[0].job && opened[1].job;
    for (int i = 0; i < 2; i++) {
        done = done && (!jobs || open_ranks(call, i, &sides[i], &opened[i], clock));
        waits[i] = (struct drain_side){&opened[i].trace, jobs ? &sides[i].steps : &opened[i].steps};
    }
    done = done && drains_find(&drains, waits, stopper, &call->failure);
    for (int i = 0; i < 2 && done; i++)
        done = sum_up_side(call, &sides[i], &families, &opened[i], clock, drains.times[i]);
    if (done) {
        const struct cause_ranks ranks[2] = {{sides[0].own, &opened[0].trace},
                                             {sides[1].own, &opened[1].trace}};
        struct cause_side given[2];
        for (int i = 0; i < 2; i++)
            given[i] = (struct cause_side){&sides[i].total,
                                           attribution_names(sides[i].attribution)};
        done = causes_find(&causes, given, &families, &drains, jobs ? ranks : NULL, shown, stopper,
                           &call->failure) &&
               add_rows(call, result, &causes);
    }
    causes_clear(&causes);
    families_clear(&families);
    drains_clear(&drains, waits);
    for (int i = 0; i < 2; i++)
        clear_side(&sides[i], &opened[i]);
    return done;
}

static int step_causes_produce(struct call *call, struct rows **rows)
{
    static const char *const clocks[] = {[CLOCK_DEVICE] = "device", [CLOCK_HOST] = "host"};
    struct call_trace opened[2] = {{.trace = {.count = 0}}, {.trace = {.count = 0}}};
    struct result *result = result_new(call->function->column_count);
    double shown = 0;
    int clock;
    if (argument_word(call, CAUSES_CLOCK, clocks, COUNT_OF(clocks), &clock) &&
        argument_real(call, CAUSES_SHOWN, &shown) &&
        call_sides_open(call, &sides_of_call, opened))
        find_causes(call, opened, (enum step_clock)clock, (size_t)shown, result);
    for (int i = 0; i < 2; i++)
        call_trace_close(&opened[i]);
    return result_finish(result, call_code(call), rows);
}

const struct table_function trace_step_causes_function = {
    .name = "trace_step_causes",
    .family = FAMILY_THE_ANSWER,
    .question = "Which causes add up to the difference of a step?",
    .text = "why a step takes longer or shorter in another trace, in causes that add up",
    COLUMNS(columns_of_step_causes),
    ARGUMENTS(arguments_of_step_causes),
    .reads_files = true,
    .produce = step_causes_produce,
};
