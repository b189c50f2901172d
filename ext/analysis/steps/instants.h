/*
** Attributes stretches of time of files, by rules A3 to A15: each instant to a class and, as a path
** (A12), to names.
*/
#ifndef TRACEDIFF_INSTANTS_H
#define TRACEDIFF_INSTANTS_H

#include "analysis/parts/part_names.h"
#include "analysis/parts/step_windows.h"

struct instants {
    const struct trace *trace;
    struct graph_knowledge knowledge;
    const struct intervals *drained; /* by member; NULL: not asked for */
    const struct stopper *stopper;
    struct part_names names;
    struct known_file *files; /* by member; only those of one rank are filled in */
    size_t loops;             /* over all loops, for the stopper */

    /* Where parts are added. */
    struct failure *failure;
    struct attributed_step *to;
    uint32_t rank;      /* of parts */
    struct table parts; /* of `to`, by class, names and rank; emptied when `to` changes */

    /* The current stretch. */
    bool in_drain;
    enum late late;
    const struct trace_file *file;
    const struct window *window;
    struct known_file *known;
    const struct intervals *drains; /* of the member; NULL: none */
};

/* False if out of memory. */
bool instants_make(struct instants *instants, const struct trace *trace,
                   struct graph_knowledge knowledge, const struct stopper *stopper,
                   struct failure *failure);

/* Makes a step the one that parts are added to, which have a rank. `names` gets their names: for a
** member it is always the same one. */
void instants_begin(struct instants *instants, struct attributed_step *to, struct names *names,
                    uint32_t rank, struct failure *failure);

/* Adds the parts of [from, to) of a member, which lies in a window of it. Quick if the stretches of
** a rank come one after the other, because the data of its files is kept in between. */
bool instants_add(struct instants *instants, size_t member, const struct window *window,
                  int64_t from, int64_t to);

/* The same for [from, to) as time of one row of communication. */
bool instants_add_row(struct instants *instants, size_t member, const struct window *window,
                      uint32_t row, int64_t from, int64_t to);

/* Adds a part without class and time (A10). */
bool instants_add_none(struct instants *instants);

void instants_clear(struct instants *instants);

#endif
