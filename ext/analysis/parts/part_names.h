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
};

static const struct name_origin nowhere = {
    {ROW_NONE, ROW_NONE, ROW_NONE, ROW_NONE, ROW_NONE}, ROW_NONE, ROW_NONE, ROW_NONE, false};

#define NO_NAMES {NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE}

/* The names of parts, and the file that rows are of. */
struct part_names {
    struct names *names;
    const struct trace_file *file;
    struct known_file *known;
    struct failure *failure;
};

/* These give ids in *part_names.names. Those that return bool fail if out of memory. */

/* The id of the stable name of a row (A9); NAME_NONE for ROW_NONE and for a row without a name. */
bool part_name(struct part_names *names, uint32_t row, uint32_t *name);

/* The id of the name that work has in a graph, by level. False also if it has none; then the
** failure is not set. */
bool part_name_in_graph(struct part_names *names, const struct name_origin *origin, int level,
                        uint32_t *name);

/* The id of the name of a gap; NAME_NONE if nothing is around it. */
bool part_name_of_gap(struct part_names *names, const struct gap *gap, uint32_t *name);

/* Whether what stands for the top_op of a path is a gap (L4.5). */
bool part_needs_gap(const struct part_names *names, const struct name_origin *origin);

/* What stands for the top_op of a path, if that is of Python (L4). If `*name` is not NAME_NONE, it
** is that already. */
bool part_name_for_frame(struct part_names *names, const struct name_origin *origin,
                         uint32_t *name);

#endif
