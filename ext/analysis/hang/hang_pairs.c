#include "hang_pairs.h"

#include "dumps/fr_status.h"
#include "hang_differs.h"
#include "hang_meetings.h"

/* True if an entry is a send or recv (`op`) between the same two ranks of the group as `wanted`. */
static bool is_of_pair(const struct hang *hang, const struct fr_entry *entry, uint32_t group,
                       const struct fr_op *wanted, uint32_t op)
{
    const struct fr_job *job = hang->job;
    const struct fr_op *own = fr_op_of(job, entry);
    return entry->is_p2p && own->op == op && own->from == wanted->from && own->to == wanted->to &&
           job->members[entry->member].group == group;
}

/* FR5: entries in doubt only look pending. */
static bool counts_as_pending(const struct fr_entry *entry)
{
    return fr_is_pending(entry) && !entry->in_doubt;
}

struct hang_pair hang_pair_find(const struct hang *hang, uint32_t entry)
{
    const struct fr_job *job = hang->job;
    const struct fr_entry *own = hang_entry(hang, entry);
    const struct fr_op *op = fr_op_of(job, own);
    uint32_t group = job->members[own->member].group,
             other_op = op->op == FR_SEND ? FR_RECV : FR_SEND;
    const struct fr_group *of = &job->groups[group];
    int64_t place = op->op == FR_SEND ? op->to : op->from;
    struct hang_pair pair = {SIZE_MAX, FR_NONE, MEMBER_UNKNOWN};
    size_t pending = 0, all = 0, there = 0;
    if (place < 0 || (size_t)place >= of->count || (op->op != FR_SEND && op->op != FR_RECV))
        return pair;
    pair.rank = hang_rank_at(hang, of, (size_t)place);
    if (hang->ranks[pair.rank].dump == FR_NONE) {
        pair.is = MEMBER_WITHOUT_DUMP;
        return pair;
    }
    const struct fr_dump *dump = &job->dumps[own->dump],
                         *other = &job->dumps[hang->ranks[pair.rank].dump];
    for (size_t i = dump->first; i <= entry; i++)
        if (is_of_pair(hang, &job->entries[i], group, op, op->op)) {
            all++;
            pending += counts_as_pending(&job->entries[i]);
        }
    for (size_t i = other->first; i < other->first + other->count; i++)
        if (is_of_pair(hang, &job->entries[i], group, op, other_op)) {
            there++;
            if (counts_as_pending(&job->entries[i]) && --pending == 0) {
                pair.entry = (uint32_t)i;
                pair.is = hang_is_in(hang, pair.rank, pair.entry) ? MEMBER_IN : MEMBER_BEHIND;
                return pair;
            }
        }
    if (dump->lost == 0 && !dump->active_only && other->lost == 0 && !other->active_only)
        pair.is = there >= all ? MEMBER_COMPLETED : MEMBER_NOT_CALLED;
    return pair;
}

bool hang_pair_agrees(const struct hang *hang, uint32_t entry, uint32_t other,
                      struct failure *failure)
{
    return call_agrees(hang, CALLS_DIFFER_IN_SIZE, entry, other, failure) &&
           call_types(hang, entry) == call_types(hang, other);
}
