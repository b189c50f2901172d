/*
** What is known of one file while the time of its steps is attributed (A3 to A12).
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
    struct compile_regions compiled; /* CL12: those of other parts than runtime */
    size_t next_compiled;            /* the one found last */
    struct busy busy;
    uint32_t *first_launched; /* by index in busy.work: of the computations that start there or
                              ** later, the one that was launched first; ROW_NONE */
    bool has_work;
    size_t stretch; /* the stretch of busy found last */
    struct graph_names graphs;
    uint32_t *graph_ids;   /* by id in graphs.texts: id of the part's name, or NOT_KNOWN */
    struct intervals lost; /* A4: when unrecorded replays may have run */
    size_t next_lost;      /* the interval of `lost` found last */
    struct host_node *host_nodes; /* callbacks of the host in graphs (A18), by start */
    size_t host_node_count, host_node_capacity;
    uint32_t *ids;         /* by name id of the file: id of the part's name, or NOT_KNOWN */
    char *scratch;         /* room for the longest name of a gap */
};

/* Makes what names are taken from: labels, and names in graphs. `wanted` are threads, by track;
** those of launches are added. The next function does the same, and makes the rest. */
bool known_names_make(struct known_file *known, const struct graph_member *of, bool *wanted,
                      const struct stopper *stopper, struct failure *failure);
bool known_file_make(struct known_file *known, const struct graph_member *of, bool *wanted,
                     const struct stopper *stopper, struct failure *failure);

/* How often that was done in this process. */
size_t known_files_made(void);

/* Does nothing to a zeroed struct. */
void known_file_clear(struct known_file *known);

#endif
