/*
** The names of parts of steps, found from the rows that explain an instant (A9, A11, A12, L4).
*/
#ifndef TRACEDIFF_PART_NAMES_H
#define TRACEDIFF_PART_NAMES_H

#include "parts.h"
#include "known_file.h"

/* The rows that explain an instant by their names, or ROW_NONE. */
struct name_origin {
    uint32_t row[LEVEL_COUNT]; /* by level */
    uint32_t work;             /* device work; its name in a graph (A14, A15) precedes labels */
    uint32_t frame, event;     /* as in struct label_stretch */
    bool alone;                /* as in struct attributed */
    bool compiles;             /* the thread compiles (CL12) */
};

static const struct name_origin nowhere = {
    {ROW_NONE, ROW_NONE, ROW_NONE, ROW_NONE, ROW_NONE}, ROW_NONE, ROW_NONE, ROW_NONE, false, false};

#define NO_NAMES {NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE}

/* The names of parts, and the file of their rows. */
struct part_names {
    struct names *names;
    const struct trace_file *file;
    struct known_file *known;
    struct failure *failure;
};

/* These return ids in *part_names.names. A bool function fails if out of memory. */

/* Finds the labels of a thread at an instant. Returns the call or event that the thread is in
** (A11.3). Lowers `*end` to the time of the next change, if that is earlier. */
uint32_t part_labels(const struct part_names *names, uint32_t track, int64_t instant,
                     struct name_origin *origin, int64_t *end);

/* Return the labels of a launch, and the origin of the names of device work (A12). */
struct name_origin part_origin_of_launch(const struct part_names *names, uint32_t launch);
struct name_origin part_origin_of_work(const struct part_names *names, uint32_t row);

/* Returns the same for a collective, which may be an event of the host (Q10.5). All its names are
** its own. */
struct name_origin part_origin_of_collective(const struct part_names *names, uint32_t row);

/* Fills in the names of a part, except for gaps (A5.4). */
bool part_names_find(struct part_names *names, const struct name_origin *origin,
                     struct attributed *part);

/* Finds the name id of a gap, or of the function that it belongs to; NAME_NONE if no event
** surrounds it. */
bool part_name_of_gap(struct part_names *names, const struct gap *gap, uint32_t *name);

/* Whether the substitute for the top_op of a path is a function or a gap (L4.5, L4.6). */
bool part_needs_gap(const struct part_names *names, const struct name_origin *origin);

#endif
