/*
** The rows of trace_step_time and trace_step_path: the parts of each step.
*/
#ifndef TRACEDIFF_STEP_PARTS_H
#define TRACEDIFF_STEP_PARTS_H

#include "analysis/steps/attribute.h"
#include "sqlite/table_function.h"

/* Columns: these, the names, time, time_ns; then stratum or, for paths, kernels, steps, area,
** family, top_name. */
enum { STEP_PARTS_RANK, STEP_PARTS_ITERATION, STEP_PARTS_CLASS, STEP_PARTS_NAMES };

struct step_parts {
    /* Indices of arguments; 0: the function lacks it. With a level, names belong to this level,
    ** else to paths. `per`: the unit to sum over. */
    int level, clock, per;
    const unsigned char *names; /* by column of names: the index in attributed.name */
    int name_count;
};

/* A complete producer. */
int step_parts_produce(struct call *call, struct rows **rows, const struct step_parts *columns);

/* Reads the clock of the steps: 'device', the default, or 'host'. On failure, fills
** call->failure. */
bool argument_step_clock(struct call *call, int argument, enum step_clock *clock);

/* Description of an argument. */
#define STEP_CLOCK_ARGUMENT \
    "clock", TAKES_TEXT, false, "whose steps: 'device' or 'host'; default 'device'"

#endif
