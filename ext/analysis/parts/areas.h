/*
** The parts of the program that time is spent in: areas (A12.7), and families of areas that differ
** only in the number of an instance (L1).
*/
#ifndef TRACEDIFF_AREAS_H
#define TRACEDIFF_AREAS_H

#include "trace/trace.h"
#include "parts.h"

/* The name of a part's area, by its path; NULL if it has none. */
const struct name *area_of(const struct names *names, const struct attributed *part);

/* The id of a part's top_op or, if that is of Python, of what stands for it (L4). */
static inline uint32_t top_name_of(const struct attributed *part)
{
    uint32_t stand_in = part->name[NAME_FOR_FRAME];
    return stand_in != NAME_NONE ? stand_in : part->name[LEVEL_TOP_OP];
}

/* Whether autograd runs an operator: its name says so. */
bool name_is_backward(const struct name *name);

/* What L1.3 has found. A zeroed struct has found nothing. */
struct families {
    struct names stems; /* annotations with `*` in place of the number at their end */
    bool *repeated;     /* by stem: whether two of its annotations start in one step */
};

/* Looks through the annotations of the chosen files. What was found in other traces remains. */
bool families_add(struct families *families, const struct trace *trace,
                  const struct stopper *stopper, struct failure *failure);

/* Writes the family of an area, which is a stable name, to `to`, which has room for as many bytes.
** Returns the number of bytes written. */
size_t family_write(const struct families *families, const struct name *area, char *to);

void families_clear(struct families *families);

#endif
