/*
** The dumps of PyTorch's flight recorder for one job, one dump per rank (FR1 to FR9).
**
** 1. Texts, sizes, types and stacks are kept once per job; entries have their ids.
** 2. A member is a group from the view of one dump. The places of a group are its ranks in order;
**    each place has the member from the rank's dump, if there is one.
*/
#ifndef TRACEDIFF_FR_JOB_H
#define TRACEDIFF_FR_JOB_H

#include "base/names.h"
#include "text/number.h"

/* Texts with a meaning: the first texts of the job. */
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

/* No index: of an entry, a dump, a group or a member. */
#define FR_NONE UINT32_MAX

/* A parsed name such as `nccl:send 0->3`. Ranks are those in the group; -1 for other ops. */
struct fr_op {
    uint32_t backend, op; /* texts */
    int64_t from, to;
};

struct fr_frame {
    uint32_t whole, brief; /* texts: `/job/train.py:55 step`; without directories */
    bool is_torch;
};

struct fr_entry {
    int64_t record, collective_seq, p2p_seq, op_id, group_id;
    int64_t created, started, completed; /* ns; NUMBER_NONE: not reached */
    int64_t timeout_ms;
    double duration_ms;                     /* NAN: unknown */
    uint32_t dump, member, op, state;       /* op: index in `ops`; state: a text */
    uint32_t input_sizes, output_sizes;     /* ids in `sizes` */
    uint32_t input_types, output_types;     /* ids in `lists`, of texts */
    uint32_t frames, thread;                /* id in `lists`, of frames; a text */
    uint32_t batch; /* FR4: entry that closes its batch; FR_NONE: no batch */
    bool is_p2p, retired;
    bool in_doubt; /* FR5 */
    uint8_t status;
};

/* The status of a group number in a dump. */
struct fr_group_status {
    int64_t id, called, completed;
};

struct fr_member {
    uint32_t dump, group;
    uint32_t name, description; /* texts */
    uint32_t ranks;             /* id in `sizes`, from pg_config; NAME_NONE: missing there */
    int64_t group_id;           /* from its entries, else by order (FR7); NUMBER_NONE: unknown */
    int64_t called, completed;  /* highest collective numbers; NUMBER_NONE: none */
    int64_t first_kept;         /* lowest collective number with an entry; NUMBER_NONE: none */
    int64_t first_pending;      /* lowest number of a pending collective */
    int64_t pending;            /* number of pending entries; a batch counts once */
    bool has_entries, is_p2p, has_batches;
};

enum dump_fate { DUMP_IS_USED, DUMP_HAS_NO_RANK, DUMP_IS_SECOND, DUMP_IS_UNREADABLE };
/* Whether a dump is evidence. The last two are treated like missing dumps. */
enum dump_worth { DUMP_TELLS, DUMP_IS_OLD, DUMP_IS_OVERWRITTEN };

struct fr_dump {
    char *file;     /* file name in the directory */
    int64_t rank;   /* -1: none */
    char *problem;  /* reason that it is unreadable; NULL: out of memory or none */
    uint32_t other; /* for a duplicate: the dump in use */
    enum dump_fate fate;
    enum dump_worth worth;
    uint32_t version; /* a text */
    bool is_pickle, active_only, has_start_times;
    size_t first, count; /* range of entries */
    size_t first_member, member_count;
    size_t first_status, status_count;
    int64_t pending, timed_out, lost, last_record, last_call, last_time;
    /* for an old dump (FR12): a rank that completed a later collective, its number and group */
    int64_t newer_rank, newer_seq;
    uint32_t newer_group;
};

struct fr_group {
    uint32_t name, description; /* texts */
    int64_t *ranks;             /* by place */
    uint32_t *members;          /* by place; FR_NONE: no dump of the rank has the group */
    size_t count;
    bool known;   /* its ranks are known */
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
    struct fr_dump *dumps; /* by file name, ascending */
    size_t dump_count, dump_capacity;
    struct fr_group *groups;
    size_t group_count, group_capacity;
    int64_t *ranks; /* ranks of dumps and of groups, ascending */
    uint32_t *dump_of; /* by index of these: the dump in use, or FR_NONE */
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

/* Whether a dump is in use, and neither old nor overwritten. */
static inline bool fr_tells(const struct fr_dump *dump)
{
    return dump->fate == DUMP_IS_USED && dump->worth == DUMP_TELLS;
}

/* The first frame outside of PyTorch (FR18), a text; NAME_NONE without one. */
uint32_t fr_place(const struct fr_job *job, const struct fr_entry *entry);

/* The total number of elements for some sizes. */
int64_t fr_elements(const struct fr_job *job, uint32_t sizes);

/* The place of a rank in a group; SIZE_MAX if it is not a member. */
size_t fr_place_in(const struct fr_group *group, int64_t rank);

/* The index of a rank in the job's ranks; SIZE_MAX if it is not there. */
size_t fr_rank_index(const struct fr_job *job, int64_t rank);

void fr_job_clear(struct fr_job *job);

#endif
