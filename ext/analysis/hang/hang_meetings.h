/*
** The head of each rank (FR11), and the states of a collective's members (FR10).
*/
#ifndef TRACEDIFF_HANG_MEETINGS_H
#define TRACEDIFF_HANG_MEETINGS_H

#include "hang.h"

bool hang_meetings_find(struct hang *hang, const struct stopper *stopper, struct failure *failure);

/* Returns the state of the member at a place of the group. */
enum member_is meeting_member(const struct hang *hang, const struct hang_meeting *meeting,
                              size_t place);

/* FR11: true if a rank is in the op of its pending entry: its head is this op or its batch, or the
** op is `started`. */
bool hang_is_in(const struct hang *hang, size_t rank, uint32_t entry);

/* Returns the index of the rank at a place of a group. */
static inline size_t hang_rank_at(const struct hang *hang, const struct fr_group *group,
                                  size_t place)
{
    return fr_rank_index(hang->job, group->ranks[place]);
}

/* The parts of a batch in order, without other groups' entries. An entry that closes no batch is
** its only part. `parts` is reused; the caller frees `items`. */
struct hang_parts {
    uint32_t *items;
    size_t count, capacity;
};

bool hang_parts_find(const struct hang *hang, uint32_t entry, struct hang_parts *parts,
                     struct failure *failure);

#endif
