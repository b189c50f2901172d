/*
** Which ranks hold up a job that hangs, by its dumps (FR10 to FR18). Ranks are indices of the job's
** ranks.
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

/* What a member of a group is to an op that another one is in (FR10, FR11, FR14). */
enum member_is {
    MEMBER_IN,
    MEMBER_COMPLETED,
    MEMBER_NOT_CALLED, /* this and those below are waited for, the first one told rather */
    MEMBER_BEHIND,
    MEMBER_WITHOUT_DUMP,
    MEMBER_UNKNOWN
};

/* That a rank waits for another one. */
struct hang_wait {
    uint32_t rank;  /* the other one */
    uint32_t entry; /* what it waits in: its head, or of a batch the part */
    enum member_is how;
};

struct hang_rank {
    enum hang_state state;
    enum hang_culprit culprit;
    uint32_t dump;    /* FR_NONE: it has none that tells */
    uint32_t head;    /* an entry; FR_NONE: nothing is pending */
    uint32_t meeting; /* of the head, if that is a collective; else FR_NONE */
    bool in_doubt;
    size_t first_wait, wait_count;
    uint32_t set;     /* FR17: of ranks that wait for each other */
};

/* How the calls of a collective differ (FR13). */
enum call_differs { CALLS_AGREE, CALLS_DIFFER_IN_OP, CALLS_DIFFER_IN_SIZE, CALLS_DIFFER_IN_TYPE,
                    CALLS_DIFFER_IN_SUMS };

/* A collective that a rank is in: number `seq` of a group. */
struct hang_meeting {
    uint32_t group;
    int64_t seq;
    uint32_t *entries; /* by place in the group; FR_NONE: there is none */
    enum call_differs differs;
    uint32_t agreed; /* FR13: an entry of those that more than half agree with, or FR_NONE */
};

/* In the order in which they are told. */
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
    uint32_t *ranks;  /* the culprits, or those that it is about; ascending */
    size_t count;
    uint32_t entry;   /* of the op: the head, or the part, of one that is in it */
    uint32_t meeting; /* FR_NONE: p2p */
    int64_t last;     /* the last number that its ranks called in the group; NUMBER_NONE */
    size_t waiting;   /* ranks that wait for them, also through others */
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
    uint32_t *set_first; /* by set: its first rank in `in_sets`; one more at the end */
    uint32_t *in_sets;   /* ranks, set by set; a set comes after those that it waits for */
    size_t set_count;
    uint32_t *set_root;  /* by set: the root that it is, or FR_NONE */
    uint32_t *set_row;   /* by set that waits for others: its row of `roots`; else FR_NONE */
    uint64_t *roots;     /* `root_words` a row: which roots it leads to */
    size_t root_words;
    uint32_t *root_sets; /* by root: its set */
    size_t root_count;
    struct hang_finding *findings; /* in the order of FR20 */
    size_t finding_count, finding_capacity;
};

/* Finds all. Marks old dumps in the job (FR12). The hang is to be cleared on failure, too. */
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

/* Whether the set of a rank leads to a root. */
static inline bool hang_leads_to(const struct hang *hang, uint32_t set, size_t root)
{
    enum { BITS = 64 };
    if (hang->set_row[set] == FR_NONE)
        return hang->set_root[set] == root;
    return hang->roots[hang->set_row[set] * hang->root_words + root / BITS] >> root % BITS & 1;
}

#endif
