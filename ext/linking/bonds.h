/*
** Links device work to its launch by a number that both events carry, where the file has no
** correlations (U10).
*/
#ifndef TRACEDIFF_BONDS_H
#define TRACEDIFF_BONDS_H

#include "base/sort.h"
#include "file/file.h"

/* Kinds of numbers; equal numbers of different kinds do not match. */
enum bond_kind { BOND_SUBMISSION, BOND_FLOW };

struct bond {
    uint64_t id;
    uint32_t row;
    enum bond_kind kind;
    bool device; /* `device` and `ts` are private */
    int64_t ts;
};

/* Links each device event that has no link yet to a host event with the same number: the one that
** starts last, but not after the device event; without any, the one that starts first. Ties: later
** in the file. Submissions take precedence over flows. Reorders the bonds. All other links must
** already be known. */
bool bonds_follow(struct trace_file *file, struct bond *bonds, size_t count,
                  const struct stopper *stopper, struct failure *failure);

#endif
