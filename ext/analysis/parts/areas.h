/*
** The areas of the program where time is spent (A12.7), and families of areas that differ only in
** an instance number (L1).
*/
#ifndef TRACEDIFF_AREAS_H
#define TRACEDIFF_AREAS_H

#include "trace/trace.h"
#include "parts.h"

/* Returns the name of a part's area from its path; NULL if it has none. */
const struct name *area_of(const struct names *names, const struct attributed *part);

/* Returns the id of a part's top_op or, for a Python frame, of its substitute (L4). */
static inline uint32_t top_name_of(const struct attributed *part)
{
    uint32_t stand_in = part->name[NAME_FOR_FRAME];
    return stand_in != NAME_NONE ? stand_in : part->name[LEVEL_TOP_OP];
}

/* Whether an operator belongs to the backward pass, by its name. */
bool name_is_backward(const struct name *name);

/* The families found by L1.3. A zeroed struct is empty. */
struct families {
    struct names stems; /* annotations with `*` for the number at their end */
    bool *repeated;     /* by stem: whether two of its annotations start in the same step */
};

/* Adds the families of the annotations in the chosen files. Families of earlier traces remain. */
bool families_add(struct families *families, const struct trace *trace,
                  const struct stopper *stopper, struct failure *failure);

/* Writes the family of an area to `to` and returns its length. The area is a stable name; `to`
** needs room for its length. */
size_t family_write(const struct families *families, const struct name *area, char *to);

void families_clear(struct families *families);

#endif
