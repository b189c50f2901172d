/*
** FLOPs and bytes of an operator, from the shapes of its inputs (F1 to F6).
*/
#ifndef TRACEDIFF_OPERATOR_WORK_H
#define TRACEDIFF_OPERATOR_WORK_H

#include <stdbool.h>

#include "base/names.h"

/* NUMBER_NONE: unknown */
struct work {
    int64_t flops, bytes;
};

/* how to compute the work of operators with one name */
struct formula {
    const struct formula_entry *entry; /* NULL: unknown */
    bool in_place;                     /* the name ends in `_` */
};

/* Returns the formula for an operator's name, such as aten::mm. */
struct formula formula_find(const struct name *name);

/* Returns whether the formula gives FLOPs, not only bytes. */
bool formula_has_flops(const struct formula *formula);

/* Computes the work of an operator from its args (dense JSON); NULL for missing args. */
struct work formula_work(const struct formula *formula, const char *dims, const char *types,
                         const char *concrete);

#endif
