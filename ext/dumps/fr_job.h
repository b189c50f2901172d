/*
** What the dumps of PyTorch's flight recorder say of a job, a dump a rank (FR1 to FR9).
**
** 1. Texts, sizes, types and stacks are each kept once for the job; entries have their ids.
** 2. A member is a group as one dump knows it. A group's places are its ranks in order, and each
**    has the member of the rank's dump, if there is one.
*/
#ifndef TRACEDIFF_FR_JOB_H
#define TRACEDIFF_FR_JOB_H

#include "base/names.h"
#include "text/number.h"

/* Texts that mean something: the first of the job's texts. */
enum fr_word {
    FR_EMPTY,
    FR_COMPLETED,
    FR_STARTED,
    FR_SCHEDULED,
    FR_GLOO,
    FR_SEND,
    FR_RECV,
    FR_COALESCED,
    FR_DEFAULT_GROUP,
    FR_WORDS
};

enum fr_status { FR_STATUS_COMPLETED, FR_STATUS_TIMED_OUT, FR_STATUS_PENDING };

/* An index that is none: of an entry, a dump, a group, a member. */
#define FR_NONE UINT32_MAX

/* What `nccl:send 0->3` says: the ranks are those in the group, -1 of what is not sent. */
struct fr_op {
    uint32_t backend, op; /* texts */
    int64_t from, to;
};

struct fr_frame {
    uint32_t whole, brief; /* texts: `/job/train.py:55 step`, and without folders */
    bool is_torch;
};

struct fr_entry {
    int64_t record, collective_seq, p2p_seq, op_id, group_id;
    int64_t created, started, completed; /* ns; NUMBER_NONE: not yet */
    int64_t timeout_ms;
    double duration_ms;                     /* NAN: not known */
    uint32_t dump, member, op, state;       /* op: of `ops`; state: a text */
    uint32_t input_sizes, output_sizes;     /* of `sizes` */
    uint32_t input_types, output_types;     /* of `lists`: texts */
    uint32_t frames, thread;                /* of `lists`: frames; a text */
    uint32_t batch; /* FR4: the entry that closes it; FR_NONE: it is in no batch */
    bool is_p2p, retired;
    bool in_doubt; /* FR5 */
    uint8_t status;
};

/* A status of a group by its number, as a dump has it. */
struct fr_group_status {
    int64_t id, called, completed;
};

struct fr_member {
    uint32_t dump, group;
    uint32_t name, description; /* texts */
    uint32_t ranks;             /* of `sizes`, as pg_config has them; NAME_NONE: it does not */
    int64_t group_id;           /* of its entries, else by order (FR7); NUMBER_NONE: not known */
    int64_t called, completed;  /* the last numbers of collectives; NUMBER_NONE: none */
    int64_t first_kept;         /* the lowest number of a collective with an entry; NUMBER_NONE */
    int64_t first_pending;      /* of these, of a pending one */
    int64_t pending;            /* entries; a batch is one */
    bool has_entries, is_p2p, has_batches;
};

enum dump_fate { DUMP_IS_USED, DUMP_HAS_NO_RANK, DUMP_IS_SECOND, DUMP_IS_UNREADABLE };
/* What a dump tells: those of the last two count as no dump. */
enum dump_worth { DUMP_TELLS, DUMP_IS_OLD, DUMP_IS_OVERWRITTEN };

struct fr_dump {
    char *file;     /* name in the directory */
    int64_t rank;   /* -1: none */
    char *problem;  /* of one that is unreadable; NULL: out of memory or none */
    uint32_t other; /* of a second one: the dump that is used */
    enum dump_fate fate;
    enum dump_worth worth;
    uint32_t version; /* a text */
    bool is_pickle, active_only, has_start_times;
    size_t first, count; /* entries */
    size_t first_member, member_count;
    size_t first_status, status_count;
    int64_t pending, timed_out, lost, last_record, last_call, last_time;
    /* of an old one (FR12): the rank that completed a collective, its number and group */
    int64_t newer_rank, newer_seq;
    uint32_t newer_group;
};

struct fr_group {
    uint32_t name, description; /* texts */
    int64_t *ranks;             /* by place */
    uint32_t *members;          /* by place; FR_NONE: no dump of the rank has the group */
    size_t count;
    bool known;   /* who is in it */
    bool is_p2p, has_batches;
};

struct fr_job {
    struct names texts, sizes, lists;
    struct fr_op *ops;
    size_t op_count, op_capacity;
    uint32_t *op_of_text; /* by text: index + 1 */
    size_t op_of_capacity;
    struct fr_frame *frames;
    size_t frame_count, frame_capacity;
    struct fr_entry *entries;
    size_t entry_count, entry_capacity;
    struct fr_member *members;
    size_t member_count, member_capacity;
    struct fr_group_status *statuses;
    size_t status_count, status_capacity;
    struct fr_dump *dumps; /* by file name */
    size_t dump_count, dump_capacity;
    struct fr_group *groups;
    size_t group_count, group_capacity;
    int64_t *ranks; /* of dumps and of groups, ascending */
    uint32_t *dump_of; /* by these: the dump that is used, or FR_NONE */
    size_t rank_count, rank_capacity;
};

static inline const struct name *fr_text(const struct fr_job *job, uint32_t text)
{
    return &job->texts.items[text];
}

static inline const struct fr_op *fr_op_of(const struct fr_job *job, const struct fr_entry *entry)
{
    return &job->ops[entry->op];
}

static inline bool fr_is_gloo(const struct fr_job *job, const struct fr_entry *entry)
{
    return job->ops[entry->op].backend == FR_GLOO;
}

static inline struct fr_group *fr_group_of(const struct fr_job *job, const struct fr_entry *entry)
{
    return &job->groups[job->members[entry->member].group];
}

/* Whether a dump is used, and neither old nor overwritten. */
static inline bool fr_tells(const struct fr_dump *dump)
{
    return dump->fate == DUMP_IS_USED && dump->worth == DUMP_TELLS;
}

/* The first frame outside of PyTorch (FR18), a text; NAME_NONE: there is none. */
uint32_t fr_place(const struct fr_job *job, const struct fr_entry *entry);

/* The elements that sizes have in all. */
int64_t fr_elements(const struct fr_job *job, uint32_t sizes);

/* The place of a rank in a group; SIZE_MAX: it is not in it. */
size_t fr_place_in(const struct fr_group *group, int64_t rank);

/* The index of a rank in the job's ranks; SIZE_MAX: it is none. */
size_t fr_rank_index(const struct fr_job *job, int64_t rank);

void fr_job_clear(struct fr_job *job);

#endif
