/*
** The work of an operator, from the shapes of its inputs: rules F1 to F6.
*/
#ifndef TRACEDIFF_OPERATOR_WORK_H
#define TRACEDIFF_OPERATOR_WORK_H

#include <stdbool.h>

#include "base/names.h"

/* NUMBER_NONE: not known. */
struct work {
    int64_t flops, bytes;
};

/* How the work of operators of one name is computed. */
struct formula {
    const struct formula_entry *entry; /* NULL: it is not known */
    bool in_place;                     /* the name ends in `_` */
};

/* The formula for the name of an operator, such as aten::mm. */
struct formula formula_find(const struct name *name);

/* Whether it gives FLOPs, not only bytes. */
bool formula_has_flops(const struct formula *formula);

/* The work of an operator, from its args, as dense JSON; NULL: it does not have them. */
struct work formula_work(const struct formula *formula, const char *dims, const char *types,
                         const char *concrete);

#endif
