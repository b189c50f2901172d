#include "hang_old.h"

#include "base/memory.h"
#include "dumps/fr_status.h"
#include "text/ascii.h"

bool op_is_strict(const struct fr_job *job, const struct fr_entry *entry)
{
    static const char *const strict[] = {"all_reduce", "allreduce",      "all_gather",
                                         "allgather",  "reduce_scatter", "reducescatter",
                                         "barrier"};
    const struct name *op = fr_text(job, fr_op_of(job, entry)->op);
    const char *p = op->text, *end = op->text + op->length;
    p += p < end && *p == '_';
    for (size_t i = 0; i < sizeof strict / sizeof *strict; i++)
        if (begins(p, end, strict[i]))
            return !entry->is_p2p;
    return false;
}

/* The latest completed collectives of a group on two ranks, the later one first. */
struct latest {
    int64_t seq[2], rank[2]; /* -1: none */
};

/* Records a completed collective; with equal seq, the higher rank comes first. */
static void note(struct latest *latest, int64_t seq, int64_t rank)
{
    int at = latest->rank[0] == rank ? 0 : 1;
    if (seq < latest->seq[at] || (seq == latest->seq[at] && rank < latest->rank[at]))
        return;
    latest->seq[at] = seq;
    latest->rank[at] = rank;
    if (at == 1 && (latest->seq[1] > latest->seq[0] ||
                    (latest->seq[1] == latest->seq[0] && latest->rank[1] > latest->rank[0]))) {
        struct latest other = *latest;
        for (int i = 0; i < 2; i++) {
            latest->seq[i] = other.seq[1 - i];
            latest->rank[i] = other.rank[1 - i];
        }
    }
}

/* Marks a dump as old if another rank completed a later collective of the group (FR12). */
static void mark(struct fr_dump *dump, const struct fr_member *member, const struct latest *latest)
{
    int64_t last = member->first_pending != NUMBER_NONE ? member->first_pending : member->called;
    int at = latest->rank[0] == dump->rank ? 1 : 0;
    if (last == NUMBER_NONE || latest->seq[at] <= last)
        return;
    if (dump->worth != DUMP_IS_OLD || latest->seq[at] > dump->newer_seq) {
        dump->newer_seq = latest->seq[at];
        dump->newer_rank = latest->rank[at];
        dump->newer_group = member->group;
    }
    dump->worth = DUMP_IS_OLD;
}

bool hang_old_find(struct fr_job *job, const struct stopper *stopper, struct failure *failure)
{
    struct latest *latest = memory_filled(job->group_count, sizeof *latest); /* -1 */
    bool done = latest || failure_memory(failure);
    for (size_t i = 0; done && i < job->entry_count; i++) {
        const struct fr_entry *entry = &job->entries[i];
        const struct fr_dump *dump = &job->dumps[entry->dump];
        if (dump->fate == DUMP_IS_USED && entry->status == FR_STATUS_COMPLETED &&
            !fr_is_gloo(job, entry) && op_is_strict(job, entry))
            note(&latest[job->members[entry->member].group], entry->collective_seq, dump->rank);
        done = stopper_goes_on(stopper, i, failure);
    }
    for (size_t m = 0; done && m < job->member_count; m++) {
        const struct fr_member *member = &job->members[m];
        if (job->dumps[member->dump].fate == DUMP_IS_USED)
            mark(&job->dumps[member->dump], member, &latest[member->group]);
    }
    memory_free(latest);
    return done;
}
