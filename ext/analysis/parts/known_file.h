/*
** The data of one file needed to attribute the time of its steps (A3 to A12).
*/
#ifndef TRACEDIFF_KNOWN_FILE_H
#define TRACEDIFF_KNOWN_FILE_H

#include "busy.h"
#include "analysis/names/compile_regions.h"
#include "analysis/sums/graphs.h"
#include "analysis/sums/intervals.h"

#define NOT_KNOWN (NAME_NONE - 1)

struct host_node {
    int64_t start, end;
    uint32_t row;
};

struct known_file {
    bool made;
    struct labels labels; /* with gaps */
    struct compile_regions compiled; /* CL12: all regions except runtime ones */
    size_t next_compiled;            /* the region found last */
    struct busy busy;
    uint32_t *first_launched; /* by index in busy.work: among the computations that start then or
                               ** later, the one launched first; ROW_NONE */
    bool has_work;
    size_t stretch; /* index of the stretch found last in busy */
    struct graph_names graphs;
    uint32_t *graph_ids;   /* by id in graphs.texts: id of the part's name, or NOT_KNOWN */
    struct intervals lost; /* A4: intervals in which unrecorded replays may have run */
    size_t next_lost;      /* index of the interval found last in lost */
    struct host_node *host_nodes; /* host callbacks in graphs (A18), by start */
    size_t host_node_count, host_node_capacity;
    uint32_t *ids;         /* by name id of the file: id of the part's name, or NOT_KNOWN */
    char *scratch;         /* room for the longest name of a gap */
};

/* Makes the sources of names: labels, and names in graphs. `wanted`: threads by track, to which the
** threads of launches are added. known_file_make() does the same, and fills in the other fields. */
bool known_names_make(struct known_file *known, const struct graph_member *of, bool *wanted,
                      const struct stopper *stopper, struct failure *failure);
bool known_file_make(struct known_file *known, const struct graph_member *of, bool *wanted,
                     const struct stopper *stopper, struct failure *failure);

/* Returns the number of known_file_make() calls that succeeded in this process. */
size_t known_files_made(void);

/* A zeroed struct is allowed. */
void known_file_clear(struct known_file *known);

#endif
