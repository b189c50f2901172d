#include "step_parts.h"

#include "analysis/parts/areas.h"
#include "base/memory.h"
#include "naming/step_form.h"
#include "call_trace.h"
#include "graph_args.h"
#include "step_text.h"

#define KEPT_STEPS ((size_t)16 << 20) /* bytes of parts of steps that one call may keep */

/* The steps of a call, or one for all of them. The parts of a step are found when it is first read,
** and kept for later reads until they take KEPT_STEPS bytes in all. */
struct step_rows {
    struct rows rows; /* must be first */
    const struct step_parts *columns;
    struct database *database;
    struct call_trace opened;
    struct graph_args graphs;
    struct attribution *attribution;
    struct families families; /* of paths */
    size_t count;
    bool total;                   /* the only step is the sum of all */
    struct attributed_step *kept; /* by step; count 0: not kept */
    size_t room;                  /* bytes that may still be kept */
};

struct step_scan {
    struct row_scan base; /* must be first */
    size_t next;          /* the next step */
    const struct attributed_step *step;
    struct attributed_step own; /* the step, if it is not kept */
    size_t part;                /* the next of its parts */
    int64_t number;             /* of the next row */
};

/* Finds the parts of the next step. */
static int find_next_step(struct step_scan *scan, struct failure *failure)
{
    struct step_rows *steps = (struct step_rows *)scan->base.rows;
    struct attributed_step *kept = &steps->kept[scan->next];
    scan->part = 0;
    scan->step = kept;
    if (kept->count == 0) {
        database_begin_work(steps->database);
        bool found = steps->total
                         ? attribution_total(steps->attribution, &scan->own, failure)
                         : attribution_step(steps->attribution, scan->next, &scan->own, failure);
        database_end_work(steps->database);
        if (!found)
            return SQLITE_ERROR;
        size_t size = scan->own.capacity * sizeof *scan->own.rows;
        scan->step = &scan->own;
        if (size <= steps->room) {
            *kept = scan->own;
            scan->own = (struct attributed_step){.count = 0};
            scan->step = kept;
            steps->room -= size;
            steps->rows.memory += size;
        }
    }
    scan->next++;
    return SQLITE_OK;
}

static int step_parts_begin(struct rows *rows, const struct wish *wish, struct row_scan **scan,
                            struct failure *failure)
{
    (void)wish;
    (void)failure;
    struct step_scan *it = *scan ? (struct step_scan *)*scan : memory_zeroed(1, sizeof *it);
    if (!it)
        return SQLITE_NOMEM;
    *it = (struct step_scan){.base = {rows}, .own = it->own};
    *scan = &it->base;
    return SQLITE_OK;
}

static int step_parts_next(struct row_scan *base, struct position *position, bool *end,
                           struct failure *failure)
{
    struct step_scan *scan = (struct step_scan *)base;
    const struct step_rows *steps = (const struct step_rows *)base->rows;
    *end = false;
    while (!scan->step || scan->part == scan->step->count) {
        *end = scan->next == steps->count;
        int code = *end ? SQLITE_OK : find_next_step(scan, failure);
        if (*end || code != SQLITE_OK)
            return code;
    }
    *position = (struct position){scan->number++, scan->next - 1, (int64_t)scan->part++};
    return SQLITE_OK;
}

static void step_parts_end(struct row_scan *base)
{
    struct step_scan *scan = (struct step_scan *)base;
    memory_free(scan->own.rows);
    memory_free(scan);
}

static void name_column(const struct step_rows *steps, uint32_t id, sqlite3_context *context)
{
    if (id == NAME_NONE)
        return;
    const struct name *name = &attribution_names(steps->attribution)->items[id];
    sqlite3_result_text64(context, name->text, name->length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void area_column(const struct step_rows *steps, const struct attributed *part,
                        sqlite3_context *context)
{
    const struct name *area = area_of(attribution_names(steps->attribution), part);
    if (area)
        sqlite3_result_text64(context, area->text, area->length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* L1 */
static void family_column(const struct step_rows *steps, const struct attributed *part,
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
    const struct step_rows *steps = (const struct step_rows *)rows;
    const struct attributed_step *step = ((const struct step_scan *)scan)->step;
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
    struct step_rows *steps = (struct step_rows *)rows;
    for (size_t i = 0; steps->kept && i < steps->count; i++)
        memory_free(steps->kept[i].rows);
    memory_free(steps->kept);
    attribution_free(steps->attribution);
    families_clear(&steps->families);
    graph_args_close(&steps->graphs);
    call_trace_close(&steps->opened);
    memory_free(steps);
}

static const struct rows_methods step_parts_methods = {
    .begin = step_parts_begin,
    .next = step_parts_next,
    .end = step_parts_end,
    .column = step_parts_column,
    .destroy = step_parts_destroy,
};

static bool find_steps(struct call *call, struct step_rows *steps)
{
    static const char *const levels[] = {[LEVEL_OP] = "op",
                                         [LEVEL_TOP_OP] = "top_op",
                                         [LEVEL_MODULE] = "module",
                                         [LEVEL_ANNOTATION] = "annotation",
                                         [LEVEL_KERNEL] = "kernel"};
    static const char *const clocks[] = {[CLOCK_DEVICE] = "device", [CLOCK_HOST] = "host"};
    static const char *const sums[] = {"step", "trace"};
    const struct step_parts *columns = steps->columns;
    const struct call_trace_request request = {
        .trace = STEP_PARTS_TRACE,
        .ranks = STEP_PARTS_RANKS,
        .iterations = STEP_PARTS_ITERATIONS,
        .steps = columns->steps,
        .use = TRACE_FOR_DIFF,
        .quoted = true}; /* a statement may name two traces */
    const struct stopper *stopper = &call->database->cache.stopper;
    int level = LEVEL_COUNT, clock, per = 0;
    if ((!columns->level || argument_word(call, columns->level, levels, COUNT_OF(levels), &level)) &&
        argument_word(call, columns->clock, clocks, COUNT_OF(clocks), &clock) &&
        (!columns->per || argument_word(call, columns->per, sums, COUNT_OF(sums), &per)) &&
        call_trace_open(call, &request, &steps->opened) &&
        (!columns->capture || graph_args_read(call, columns->capture, columns->steps, &steps->opened.trace, false,
                                              &steps->graphs)))
        steps->attribution = attribution_new(
            &steps->opened.trace, &steps->opened.steps,
            &(struct attribution_request){(enum label_level)level, (enum step_clock)clock,
                                          steps->opened.job, graph_args_knowledge(&steps->graphs), NULL},
            stopper, &call->failure);
    if (!steps->attribution ||
        (!columns->level &&
         !families_add(&steps->families, &steps->opened.trace, stopper, &call->failure)))
        return false;
    steps->total = per != 0;
    steps->count = attribution_count(steps->attribution);
    if (steps->total && steps->count > 1)
        steps->count = 1;
    steps->kept = memory_zeroed(steps->count, sizeof *steps->kept);
    return steps->kept || failure_memory(&call->failure);
}

int step_parts_produce(struct call *call, struct rows **rows, const struct step_parts *columns)
{
    struct step_rows *steps = memory_zeroed(1, sizeof *steps);
    if (!steps)
        return SQLITE_NOMEM;
    steps->rows.methods = &step_parts_methods;
    steps->columns = columns;
    steps->database = call->database;
    steps->room = KEPT_STEPS;
    if (!find_steps(call, steps)) {
        step_parts_destroy(&steps->rows);
        return SQLITE_ERROR;
    }
    steps->rows.memory = call_trace_memory(&steps->opened);
    *rows = &steps->rows;
    return SQLITE_OK;
}
