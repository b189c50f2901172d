/*
** The parts of each step (A1 to A12). Every instant of a step has one class, decided in instants.h,
** and one name or path of names. So the parts sum exactly to the step's length.
*/
#ifndef TRACEDIFF_ATTRIBUTE_H
#define TRACEDIFF_ATTRIBUTE_H

#include "analysis/sums/graphs.h"
#include "analysis/sums/intervals.h"
#include "analysis/parts/parts.h"
#include "trace/step_choice.h"

enum step_clock { CLOCK_DEVICE, CLOCK_HOST };

/* The chosen steps of the chosen files of a trace, by rank, then iteration. The parts of a step are
** computed on demand, because the total number of parts can grow with the square of the number of
** steps. */
struct attribution;

struct attribution_request {
    enum label_level level; /* LEVEL_COUNT: parts have paths */
    enum step_clock clock;
    bool job; /* attribute the path of the job (Q1) */
    struct graph_knowledge knowledge;
    bool causes; /* late communication counts as waiting for the host (L9.3) */
    const struct intervals *drained; /* by member: drained times (L8); NULL: not needed */
};

/* The trace and the knowledge's pointers must outlive the attribution; the choice need not. Returns
** NULL on failure. */
struct attribution *attribution_new(const struct trace *trace, const struct step_choice *choice,
                                    const struct attribution_request *request,
                                    const struct stopper *stopper, struct failure *failure);

size_t attribution_count(const struct attribution *attribution);

/* Returns NUMBER_NONE if the step's file has no steps. */
int64_t attribution_iteration(const struct attribution *attribution, size_t number);

/* Computes the parts of a step, and replaces the parts in `step`. Consecutive steps of a rank are
** fast, because the data of its files stays in memory. */
bool attribution_step(struct attribution *attribution, size_t number, struct attributed_step *step,
                      struct failure *failure);

/* The same for the sums over all steps. */
bool attribution_total(struct attribution *attribution, struct attributed_step *total,
                       struct failure *failure);

/* Returns the names of the parts computed so far. */
const struct names *attribution_names(const struct attribution *attribution);

/* Accepts NULL. */
void attribution_free(struct attribution *attribution);

#endif
