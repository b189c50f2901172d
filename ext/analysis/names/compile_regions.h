/*
** The regions in which threads compile (CL11): the outermost compiler events of each thread.
*/
#ifndef TRACEDIFF_COMPILE_REGIONS_H
#define TRACEDIFF_COMPILE_REGIONS_H

#include "file/file.h"

/* CL7 */
enum compile_phase {
    COMPILE_DYNAMO,
    COMPILE_AOT,
    COMPILE_INDUCTOR,
    COMPILE_CODEGEN,
    COMPILE_PHASES,
    COMPILE_NO_PHASE = COMPILE_PHASES
};

/* CL6; COMPILE_RUNTIME: any other work of the compiler. */
enum compile_part { COMPILE_FORWARD, COMPILE_BACKWARD, COMPILE_AHEAD, COMPILE_RUNTIME };

struct compile_region {
    int64_t start, end; /* ns */
    uint32_t row, track;
    enum compile_part part;
    const char *id; /* `0/1`, inside a name of the file; NULL: unknown */
    size_t id_length;
    int64_t phases[COMPILE_PHASES];
};

struct compile_regions {
    struct compile_region *items; /* by start; owned */
    size_t count, capacity;
};

/* Finds the regions of a file. A file without compiler events has none. False on failure. */
bool compile_regions_find(struct compile_regions *regions, const struct trace_file *file,
                          const struct stopper *stopper, struct failure *failure);

void compile_regions_clear(struct compile_regions *regions);

/* Returns the number after the last slash of an id; 0 if there is none. */
int64_t compile_number(const char *id, size_t length);

/* Return the part that an outermost span starts, and the phase of a span inside `around`, by the
** span's name. It may end in ` (dynamo_timed)`. */
enum compile_part compile_part_of(const char *name, size_t length);
enum compile_phase compile_phase_of(const char *name, size_t length, enum compile_phase around);

#endif
