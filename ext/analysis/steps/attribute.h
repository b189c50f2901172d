/*
** The parts of each step, by rules A1 to A12. Every instant of a step belongs to one class, which
** instants.h decides, and one name or path of names, so the parts sum to its length exactly.
*/
#ifndef TRACEDIFF_ATTRIBUTE_H
#define TRACEDIFF_ATTRIBUTE_H

#include "analysis/sums/graphs.h"
#include "analysis/sums/intervals.h"
#include "analysis/parts/parts.h"
#include "trace/step_choice.h"

enum step_clock { CLOCK_DEVICE, CLOCK_HOST };

/* The chosen steps of the chosen files of a trace, by rank, then iteration. The parts of a step
** are computed when they are asked for, because all parts together can be as many as the square
** of the number of steps. */
struct attribution;

struct attribution_request {
    enum label_level level; /* LEVEL_COUNT: parts have paths */
    enum step_clock clock;
    bool job; /* the path of the job that the chosen ranks are (Q1) */
    struct graph_knowledge knowledge;
    bool causes; /* parts are as causes have them (L9) */
    const struct intervals *drained; /* by member: the times that are (L8); NULL: not asked for */
};

/* The trace and what the knowledge points to must outlive the attribution; the choice need not.
** NULL on failure. */
struct attribution *attribution_new(const struct trace *trace, const struct step_choice *choice,
                                    const struct attribution_request *request,
                                    const struct stopper *stopper, struct failure *failure);

/* The number of steps. */
size_t attribution_count(const struct attribution *attribution);

/* The number of a step; NUMBER_NONE: its file has no steps. */
int64_t attribution_iteration(const struct attribution *attribution, size_t number);

/* Computes the parts of a step and replaces those that `step` holds. Asking for the steps of a
** rank one after the other is quick, because the data of its files is kept in between. */
bool attribution_step(struct attribution *attribution, size_t number, struct attributed_step *step,
                      struct failure *failure);

/* The same for the sums of the parts of all steps. */
bool attribution_total(struct attribution *attribution, struct attributed_step *total,
                       struct failure *failure);

/* The names of the parts computed so far. */
const struct names *attribution_names(const struct attribution *attribution);

/* NULL is allowed. */
void attribution_free(struct attribution *attribution);

#endif
