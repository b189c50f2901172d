/*
** What each rank is in (FR11), and what the members of a collective are to it (FR10).
*/
#ifndef TRACEDIFF_HANG_MEETINGS_H
#define TRACEDIFF_HANG_MEETINGS_H

#include "hang.h"

bool hang_meetings_find(struct hang *hang, const struct stopper *stopper, struct failure *failure);

/* What the member at a place of the group is. */
enum member_is meeting_member(const struct hang *hang, const struct hang_meeting *meeting,
                              size_t place);

/* Whether a rank is in an op with a pending entry: it is its head, or of its batch, or started. */
bool hang_is_in(const struct hang *hang, size_t rank, uint32_t entry);

/* The index of the rank at a place of a group. */
static inline size_t hang_rank_at(const struct hang *hang, const struct fr_group *group,
                                  size_t place)
{
    return fr_rank_index(hang->job, group->ranks[place]);
}

/* The parts of a batch, first to last: entries of the closing one's group, into `parts`, which
** grows. An entry that closes nothing is its own only part. */
struct hang_parts {
    uint32_t *items;
    size_t count, capacity;
};

bool hang_parts_find(const struct hang *hang, uint32_t entry, struct hang_parts *parts,
                     struct failure *failure);

#endif
