/*
** Launches that a file says otherwise than by a correlation: by numbers that a host event and its
** device work share (U10).
*/
#ifndef TRACEDIFF_BONDS_H
#define TRACEDIFF_BONDS_H

#include "base/sort.h"
#include "file/file.h"

/* Numbers of different kinds are different. */
enum bond_kind { BOND_SUBMISSION, BOND_FLOW };

struct bond {
    uint64_t id;
    uint32_t row;
    enum bond_kind kind;
    bool device; /* this and `ts` are private */
    int64_t ts;
};

/* Links device events that have no link yet: to the host event with the same number that starts
** last, but not after the device event, else to the one that starts first; ties: later in the
** file. Submissions come before flows. Reorders the bonds. The other links must be known. */
bool bonds_follow(struct trace_file *file, struct bond *bonds, size_t count,
                  const struct stopper *stopper, struct failure *failure);

#endif
