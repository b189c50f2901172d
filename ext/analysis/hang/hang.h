/*
** Finds the ranks that hold up a hanging job, from its dumps (FR10 to FR18). Ranks are indices in
** job.ranks.
*/
#ifndef TRACEDIFF_HANG_H
#define TRACEDIFF_HANG_H

#include "dumps/fr_job.h"

enum hang_state {
    HANG_IDLE,
    HANG_WAITS,
    HANG_DEVICE_STUCK,
    HANG_NOT_STARTED,
    HANG_ALL_IN,
    HANG_MISMATCH,
    HANG_MEMBERS,
    HANG_NO_DUMP,
    HANG_OLD_DUMP,
    HANG_OVERWRITTEN
};

enum hang_culprit {
    CULPRIT_NONE,
    CULPRIT_NOT_CALLED,
    CULPRIT_DEVICE_STUCK,
    CULPRIT_NOT_STARTED,
    CULPRIT_MISMATCH,
    CULPRIT_ORDER
};

/* The state of a group's member in an op that another rank is in (FR10, FR11, FR14). */
enum member_is {
    MEMBER_IN,
    MEMBER_COMPLETED,
    MEMBER_NOT_CALLED, /* from here on, ranks wait for it; earlier values win */
    MEMBER_BEHIND,
    MEMBER_WITHOUT_DUMP,
    MEMBER_UNKNOWN
};

/* A rank's wait for another rank. */
struct hang_wait {
    uint32_t rank;  /* the awaited rank */
    uint32_t entry; /* the waiting rank's head or, in a batch of p2p ops, the part that waits */
    enum member_is how;
};

struct hang_rank {
    enum hang_state state;
    enum hang_culprit culprit;
    uint32_t dump;    /* the usable dump, or FR_NONE */
    uint32_t head;    /* its head (FR11), an entry; FR_NONE: nothing is pending */
    uint32_t meeting; /* of the head; FR_NONE if that is p2p */
    bool in_doubt;
    size_t first_wait, wait_count;
    uint32_t set;     /* FR17: its set of ranks that wait for each other */
};

/* The first difference between the calls of a collective (FR13). */
enum call_differs { CALLS_AGREE, CALLS_DIFFER_IN_OP, CALLS_DIFFER_IN_SIZE, CALLS_DIFFER_IN_TYPE,
                    CALLS_DIFFER_IN_SUMS };

/* A collective that is the head of some rank: number `seq` of a group. */
struct hang_meeting {
    uint32_t group;
    int64_t seq;
    uint32_t *entries; /* by place in the group, or FR_NONE */
    enum call_differs differs;
    uint32_t agreed; /* FR13: an entry of the majority, or FR_NONE */
};

/* In the order of FR20. */
enum finding_kind {
    FOUND_MISMATCH,
    FOUND_ORDER,
    FOUND_DEVICE_STUCK,
    FOUND_NOT_STARTED,
    FOUND_NOT_CALLED,
    FOUND_DEADLOCK,
    FOUND_GLOO,
    FOUND_ALL_IN,
    FOUND_MEMBERS,
    FOUND_UNKNOWN,
    FOUND_NO_DUMP
};

struct hang_finding {
    enum finding_kind kind;
    bool told;        /* its ranks are culprits */
    uint32_t *ranks;  /* culprits, or else affected ranks; ascending */
    size_t count;
    uint32_t entry;   /* entry of the op on a rank that is in it */
    uint32_t meeting; /* FR_NONE: p2p */
    int64_t last;     /* last seq that its ranks called in the group, or NUMBER_NONE */
    size_t waiting;   /* number of ranks that wait for them, directly or through others */
};

struct hang {
    const struct fr_job *job;
    struct hang_rank *ranks;
    size_t rank_count;
    struct hang_wait *waits;
    size_t wait_count, wait_capacity;
    struct hang_meeting *meetings;
    size_t meeting_count, meeting_capacity;
    struct table meeting_table;
    uint32_t *set_first; /* by set: its first rank in `in_sets`, with one more entry */
    uint32_t *in_sets;   /* ranks, grouped by set; a set comes after the sets that it waits for */
    size_t set_count;
    uint32_t *set_root;  /* by set: index of the root, or FR_NONE if it is none */
    uint32_t *set_row;   /* by set: its row of `roots`, or FR_NONE if it waits for no other set */
    uint64_t *roots;     /* bit set per row, `root_words` long: its roots */
    size_t root_words;
    uint32_t *root_sets; /* by root: its set */
    size_t root_count;
    struct hang_finding *findings; /* in the order of FR20 */
    size_t finding_count, finding_capacity;
};

/* Finds states, waits, roots and findings. Marks old dumps in the job (FR12). On failure, the
** caller must still call hang_clear(). */
bool hang_find(struct hang *hang, struct fr_job *job, const struct stopper *stopper,
               struct failure *failure);

void hang_clear(struct hang *hang);

static inline const struct fr_entry *hang_entry(const struct hang *hang, uint32_t entry)
{
    return &hang->job->entries[entry];
}

static inline const struct fr_group *hang_group(const struct hang *hang, uint32_t entry)
{
    return fr_group_of(hang->job, hang_entry(hang, entry));
}

/* True if a set waits for a root, directly or through others, or is the root. */
static inline bool hang_leads_to(const struct hang *hang, uint32_t set, size_t root)
{
    enum { BITS = 64 };
    if (hang->set_row[set] == FR_NONE)
        return hang->set_root[set] == root;
    return hang->roots[hang->set_row[set] * hang->root_words + root / BITS] >> root % BITS & 1;
}

#endif
