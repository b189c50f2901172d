#include "step_parts.h"

#include "analysis/parts/areas.h"
#include "base/memory.h"
#include "naming/step_form.h"
#include "call_trace.h"
#include "graph_args.h"
#include "step_rows.h"
#include "step_text.h"

#define KEPT_STEPS ((size_t)16 << 20) /* bytes: most memory for the kept parts of a call's steps */

/* The steps of a call, or one total for all of them. */
struct parts_rows {
    struct step_rows base; /* must be first */
    const struct step_parts *columns;
    struct call_trace opened;
    struct graph_args graphs;
    struct attribution *attribution;
    struct families families; /* families of paths */
    bool total;               /* the only step is the sum of all steps */
};

struct found_parts {
    struct found_step base; /* must be first */
    struct attributed_step step;
};

static bool find_parts(struct step_rows *rows, size_t i, struct found_step **step,
                       struct failure *failure)
{
    const struct parts_rows *steps = (const struct parts_rows *)rows;
    if (!*step && !(*step = memory_zeroed(1, sizeof(struct found_parts))))
        return failure_memory(failure);
    struct found_parts *found = (struct found_parts *)*step;
    bool done = steps->total ? attribution_total(steps->attribution, &found->step, failure)
                             : attribution_step(steps->attribution, i, &found->step, failure);
    found->base = (struct found_step){found->step.count,
                                      found->step.capacity * sizeof *found->step.rows};
    return done;
}

static void free_parts(struct found_step *step)
{
    memory_free(((struct found_parts *)step)->step.rows);
    memory_free(step);
}

static void name_column(const struct parts_rows *steps, uint32_t id, sqlite3_context *context)
{
    if (id == NAME_NONE)
        return;
    const struct name *name = &attribution_names(steps->attribution)->items[id];
    sqlite3_result_text64(context, name->text, name->length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void area_column(const struct parts_rows *steps, const struct attributed *part,
                        sqlite3_context *context)
{
    const struct name *area = area_of(attribution_names(steps->attribution), part);
    if (area)
        sqlite3_result_text64(context, area->text, area->length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* L1 */
static void family_column(const struct parts_rows *steps, const struct attributed *part,
                          sqlite3_context *context)
{
    const struct name *area = area_of(attribution_names(steps->attribution), part);
    if (!area)
        return;
    char *text = sqlite3_malloc64(area->length + 1);
    if (!text) {
        sqlite3_result_error_nomem(context);
        return;
    }
    size_t length = family_write(&steps->families, area, text);
    sqlite3_result_text64(context, text, length, sqlite3_free, SQLITE_UTF8);
}

static void stratum_column(const struct attributed_step *step, sqlite3_context *context)
{
    struct step_form form;
    if (!step->form || !step_form_read(step->form->text, step->form->length, &form))
        return;
    char *text = step_stratum(&form);
    if (text)
        sqlite3_result_text(context, text, -1, sqlite3_free);
    else
        sqlite3_result_error_nomem(context);
}

static int step_parts_column(struct rows *rows, struct row_scan *scan,
                             const struct position *position, int column, sqlite3_context *context,
                             struct failure *failure)
{
    const struct parts_rows *steps = (const struct parts_rows *)rows;
    const struct found_step *found = ((const struct step_scan *)scan)->step;
    const struct attributed_step *step = &((const struct found_parts *)found)->step;
    const struct attributed *part = &step->rows[position->part_row];
    int after_names = column - STEP_PARTS_NAMES - steps->columns->name_count;
    (void)failure;
    if (column == STEP_PARTS_RANK && !step->total)
        sqlite3_result_int64(context, steps->opened.trace.ranks[part->rank]);
    else if (column == STEP_PARTS_ITERATION && step->iteration != NUMBER_NONE)
        sqlite3_result_int64(context, step->iteration);
    else if (column == STEP_PARTS_CLASS && part->step_class != CLASS_NONE)
        sqlite3_result_text(context, step_class_name(part->step_class), -1, SQLITE_STATIC);
    else if (column >= STEP_PARTS_NAMES && after_names < 0)
        name_column(steps, part->name[steps->columns->names[column - STEP_PARTS_NAMES]], context);
    else if (after_names == 0)
        sqlite3_result_double(context, microseconds(part->time));
    else if (after_names == 1)
        sqlite3_result_int64(context, (int64_t)part->time);
    else if (after_names == 2 && steps->columns->level)
        stratum_column(step, context);
    else if (after_names == 2)
        sqlite3_result_int64(context, part->kernels);
    else if (after_names == 3)
        sqlite3_result_int64(context, (sqlite3_int64)step->steps);
    else if (after_names == 4)
        area_column(steps, part, context);
    else if (after_names == 5)
        family_column(steps, part, context);
    else if (after_names == 6)
        name_column(steps, top_name_of(part), context);
    return SQLITE_OK;
}

static void step_parts_destroy(struct rows *rows)
{
    struct parts_rows *steps = (struct parts_rows *)rows;
    step_rows_clear(&steps->base);
    attribution_free(steps->attribution);
    families_clear(&steps->families);
    graph_args_close(&steps->graphs);
    call_trace_close(&steps->opened);
    memory_free(steps);
}

static const struct rows_methods step_parts_methods = {
    .begin = step_rows_begin,
    .next = step_rows_next,
    .end = step_rows_end,
    .column = step_parts_column,
    .destroy = step_parts_destroy,
};

bool argument_step_clock(struct call *call, int argument, enum step_clock *clock)
{
    static const char *const clocks[] = {[CLOCK_DEVICE] = "device", [CLOCK_HOST] = "host"};
    int chosen;
    if (!argument_word(call, argument, clocks, COUNT_OF(clocks), &chosen))
        return false;
    *clock = (enum step_clock)chosen;
    return true;
}

static bool find_steps(struct call *call, struct parts_rows *steps)
{
    static const char *const levels[] = {[LEVEL_OP] = "op",
                                         [LEVEL_TOP_OP] = "top_op",
                                         [LEVEL_MODULE] = "module",
                                         [LEVEL_ANNOTATION] = "annotation",
                                         [LEVEL_KERNEL] = "kernel"};
    static const char *const sums[] = {"step", "trace"};
    const struct step_parts *columns = steps->columns;
    /* quoted: a statement may name two traces */
    static const struct call_trace_request request = {.use = TRACE_FOR_DIFF, .quoted = true};
    const struct stopper *stopper = call_stopper(call);
    enum step_clock clock;
    int level = LEVEL_COUNT, per = 0;
    if ((!columns->level ||
         argument_word(call, columns->level, levels, COUNT_OF(levels), &level)) &&
        argument_step_clock(call, columns->clock, &clock) &&
        (!columns->per || argument_word(call, columns->per, sums, COUNT_OF(sums), &per)) &&
        call_trace_open(call, &request, &steps->opened) &&
        graph_args_read(call, &steps->opened.trace, false, &steps->graphs)) {
        const struct attribution_request asked = {
            .level = (enum label_level)level,
            .clock = clock,
            .job = steps->opened.job,
            .knowledge = graph_args_knowledge(&steps->graphs)};
        steps->attribution = attribution_new(&steps->opened.trace, &steps->opened.steps, &asked,
                                             stopper, &call->failure);
    }
    if (!steps->attribution ||
        (!columns->level &&
         !families_add(&steps->families, &steps->opened.trace, stopper, &call->failure)))
        return false;
    steps->total = per != 0;
    size_t count = attribution_count(steps->attribution);
    return step_rows_make(&steps->base, steps->total && count > 1 ? 1 : count, KEPT_STEPS) ||
           failure_memory(&call->failure);
}

int step_parts_produce(struct call *call, struct rows **rows, const struct step_parts *columns)
{
    struct parts_rows *steps = memory_zeroed(1, sizeof *steps);
    if (!steps)
        return SQLITE_NOMEM;
    steps->base = (struct step_rows){.rows = {.methods = &step_parts_methods},
                                     .connection = call->connection,
                                     .find = find_parts,
                                     .free = free_parts};
    steps->columns = columns;
    if (!find_steps(call, steps)) {
        step_parts_destroy(&steps->base.rows);
        return SQLITE_ERROR;
    }
    steps->base.rows.memory = call_trace_memory(&steps->opened);
    *rows = &steps->base.rows;
    return SQLITE_OK;
}
