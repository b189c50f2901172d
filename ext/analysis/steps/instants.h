/*
** Attributes stretches of time to classes and names (A3 to A15). The names of an instant are a path
** (A12).
*/
#ifndef TRACEDIFF_INSTANTS_H
#define TRACEDIFF_INSTANTS_H

#include "analysis/parts/part_names.h"
#include "analysis/parts/step_windows.h"

struct instants {
    const struct trace *trace;
    struct graph_knowledge knowledge;
    const struct intervals *drained; /* by member; NULL: not needed */
    const struct stopper *stopper;
    struct part_names names;
    struct known_file *files; /* by member; only the current rank's are filled in */
    size_t loops;             /* iterations of all loops, for the stopper */

    /* The destination of parts. */
    struct failure *failure;
    struct attributed_step *to;
    uint32_t rank;      /* rank of the parts */
    struct table parts; /* parts in `to`, by class, names and rank; cleared with a new `to` */

    /* The current stretch. */
    bool in_drain;
    enum late late;
    const struct trace_file *file;
    const struct window *window;
    struct known_file *known;
    const struct intervals *drains; /* the member's; NULL: none */
};

/* Returns false if out of memory. */
bool instants_make(struct instants *instants, const struct trace *trace,
                   struct graph_knowledge knowledge, const struct stopper *stopper,
                   struct failure *failure);

/* Sets the step and the rank for the next parts. `names` receives their names; it must be the same
** for all steps of a member. */
void instants_begin(struct instants *instants, struct attributed_step *to, struct names *names,
                    uint32_t rank, struct failure *failure);

/* Adds the parts of [from, to), which must lie in the member's window. Consecutive stretches of a
** rank are fast, because the data of its files stays in memory. */
bool instants_add(struct instants *instants, size_t member, const struct window *window,
                  int64_t from, int64_t to);

/* The same, but attributes [from, to) to one communication row. */
bool instants_add_row(struct instants *instants, size_t member, const struct window *window,
                      uint32_t row, int64_t from, int64_t to);

/* Adds a part without class and time (A10). */
bool instants_add_none(struct instants *instants);

void instants_clear(struct instants *instants);

#endif
