/*
** The names of the parts of steps, from the rows that explain an instant (A9, A11, A12, L4).
*/
#ifndef TRACEDIFF_PART_NAMES_H
#define TRACEDIFF_PART_NAMES_H

#include "parts.h"
#include "known_file.h"

/* The rows whose names explain an instant, or ROW_NONE. */
struct name_origin {
    uint32_t row[LEVEL_COUNT]; /* by level */
    uint32_t work;             /* whose name in a graph (A14, A15) goes before labels */
    uint32_t frame, event;     /* as in struct label_stretch */
    bool alone;                /* as in struct attributed */
    bool compiles;             /* the thread compiles (CL12) */
};

static const struct name_origin nowhere = {
    {ROW_NONE, ROW_NONE, ROW_NONE, ROW_NONE, ROW_NONE}, ROW_NONE, ROW_NONE, ROW_NONE, false, false};

#define NO_NAMES {NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE}

/* The names of parts, and the file that rows are of. */
struct part_names {
    struct names *names;
    const struct trace_file *file;
    struct known_file *known;
    struct failure *failure;
};

/* These give ids in *part_names.names. Those that return bool fail if out of memory. */

/* Finds the labels of a thread at an instant. Returns what the thread is in (A11.3); `*end` becomes
** the time at which that or a label changes, if that is earlier. */
uint32_t part_labels(const struct part_names *names, uint32_t track, int64_t instant,
                     struct name_origin *origin, int64_t *end);

/* The labels of a launch, and the rows whose names device work has (A12). */
struct name_origin part_origin_of_launch(const struct part_names *names, uint32_t launch);
struct name_origin part_origin_of_work(const struct part_names *names, uint32_t row);

/* The same of a collective, which may be of the host (Q10.5): all names are its own. */
struct name_origin part_origin_of_collective(const struct part_names *names, uint32_t row);

/* Fills in the names of a part, but for gaps (A5.4). */
bool part_names_find(struct part_names *names, const struct name_origin *origin,
                     struct attributed *part);

/* The id of the name of a gap, or of the function that it is time of; NAME_NONE if nothing is
** around it. */
bool part_name_of_gap(struct part_names *names, const struct gap *gap, uint32_t *name);

/* Whether what stands for the top_op of a path is a function or a gap (L4.5, L4.6). */
bool part_needs_gap(const struct part_names *names, const struct name_origin *origin);

#endif
