#include "fr_status.h"

#include "base/memory.h"
#include "text/ascii.h"

/* FR3, for a single entry. */
static enum fr_status own_status(const struct fr_job *job, const struct fr_entry *entry)
{
    enum { NS_OF_MS = 1000000 };
    bool completed = entry->state == FR_COMPLETED || (entry->retired && fr_is_gloo(job, entry));
    bool aborted = completed && entry->completed != NUMBER_NONE &&
                   entry->timeout_ms != NUMBER_NONE && entry->completed > entry->created &&
                   (entry->completed - entry->created) / NS_OF_MS >= entry->timeout_ms &&
                   entry->completed - entry->created > entry->timeout_ms * NS_OF_MS;
    return completed && !aborted      ? FR_STATUS_COMPLETED
           : aborted || entry->retired ? FR_STATUS_TIMED_OUT
                                       : FR_STATUS_PENDING;
}

/* FR4: whether an entry closes a batch. */
static bool closes_batch(const struct fr_job *job, const struct fr_entry *entry)
{
    const struct name *op = fr_text(job, fr_op_of(job, entry)->op);
    return fr_op_of(job, entry)->op == FR_COALESCED ||
           (ends(op->text, op->text + op->length, "coalesced") &&
            job->sizes.items[entry->input_sizes].length == 0);
}

static int64_t seq_of(const struct fr_entry *entry)
{
    return entry->is_p2p ? entry->p2p_seq : entry->collective_seq;
}

/* State for finding the batches of a dump. */
struct fr_batches {
    struct fr_job *job;
    struct fr_dump *dump;
    uint32_t *before; /* by entry of the dump: previous entry in its group, or FR_NONE */
    uint32_t *last;   /* by member of the dump: its latest entry, or FR_NONE */
};

/* Gives the state of an entry that closes a batch to the entries right before it. */
static void close_batch(const struct fr_batches *batches, size_t i)
{
    struct fr_entry *entries = batches->job->entries, *closing = &entries[i];
    size_t first = batches->dump->first;
    closing->batch = (uint32_t)i;
    for (uint32_t at = batches->before[i - first];
         at != FR_NONE && entries[at].batch == FR_NONE && entries[at].is_p2p == closing->is_p2p &&
         seq_of(&entries[at]) == seq_of(closing);
         at = batches->before[at - first]) {
        entries[at].batch = (uint32_t)i;
        entries[at].status = closing->status;
    }
}

/* Marks p2p entries as completed that share a number without a closing entry. */
static void complete_shared(const struct fr_batches *batches, size_t i)
{
    struct fr_job *job = batches->job;
    struct fr_entry *entries = job->entries, *entry = &entries[i];
    size_t first = batches->dump->first;
    uint32_t at = batches->before[i - first];
    while (at != FR_NONE && !entries[at].is_p2p)
        at = batches->before[at - first];
    if (at == FR_NONE || entries[at].batch != FR_NONE || entries[at].p2p_seq != entry->p2p_seq)
        return;
    entry->status = entries[at].status = FR_STATUS_COMPLETED;
    job->members[entry->member].has_batches = true;
}

static void find_batches(const struct fr_batches *batches)
{
    struct fr_job *job = batches->job;
    const struct fr_dump *dump = batches->dump;
    for (size_t i = dump->first; i < dump->first + dump->count; i++) {
        struct fr_entry *entry = &job->entries[i];
        uint32_t *last = &batches->last[entry->member - dump->first_member];
        batches->before[i - dump->first] = *last;
        *last = (uint32_t)i;
        if (closes_batch(job, entry)) {
            close_batch(batches, i);
            if (entry->is_p2p)
                job->members[entry->member].has_batches = true;
        }
    }
    for (size_t i = dump->first; i < dump->first + dump->count; i++)
        if (job->entries[i].is_p2p && job->entries[i].batch == FR_NONE)
            complete_shared(batches, i);
}

static void raise(int64_t *most, int64_t value)
{
    if (value != NUMBER_NONE && value > *most) /* NUMBER_NONE is the lowest */
        *most = value;
}

static void lower(int64_t *least, int64_t value)
{
    if (*least == NUMBER_NONE || value < *least)
        *least = value;
}

static void count_entry(struct fr_job *job, struct fr_dump *dump, size_t i)
{
    const struct fr_entry *entry = &job->entries[i];
    struct fr_member *member = &job->members[entry->member];
    bool pending = fr_is_pending(entry);
    dump->pending += pending && !fr_is_part(entry, i);
    dump->timed_out += entry->status == FR_STATUS_TIMED_OUT;
    dump->has_start_times = dump->has_start_times || entry->started != NUMBER_NONE;
    raise(&dump->last_record, entry->record);
    raise(&dump->last_call, entry->created);
    raise(&dump->last_time, entry->created);
    raise(&dump->last_time, entry->started);
    raise(&dump->last_time, entry->completed);
    member->has_entries = true;
    member->is_p2p = member->is_p2p || entry->is_p2p;
    member->pending += pending && !fr_is_part(entry, i);
    if (member->group_id == NUMBER_NONE)
        member->group_id = entry->group_id;
    raise(&member->called, entry->collective_seq);
    if (entry->is_p2p)
        return;
    lower(&member->first_kept, entry->collective_seq);
    if (pending)
        lower(&member->first_pending, entry->collective_seq);
    else
        raise(&member->completed, entry->collective_seq);
}

bool fr_status_find(struct fr_job *job, struct fr_dump *dump, const struct stopper *stopper,
                    struct failure *failure)
{
    struct fr_batches batches = {job, dump, NULL, NULL};
    bool any_completed = false, was_active = false;
    batches.before = memory_filled(dump->count, sizeof *batches.before);
    batches.last = memory_filled(dump->member_count, sizeof *batches.last);
    bool done = (batches.before && batches.last) || failure_memory(failure);
    for (size_t i = dump->first; done && i < dump->first + dump->count; i++) {
        job->entries[i].status = (uint8_t)own_status(job, &job->entries[i]);
        any_completed = any_completed || job->entries[i].status == FR_STATUS_COMPLETED;
        done = stopper_goes_on(stopper, i, failure);
    }
    for (size_t i = 0; i < dump->status_count; i++)
        was_active = was_active || job->statuses[dump->first_status + i].completed >= 1;
    dump->active_only = !any_completed && was_active;
    dump->last_record = dump->last_call = dump->last_time = NUMBER_NONE;
    if (dump->count > 0 && !dump->active_only)
        dump->lost = job->entries[dump->first].record;
    if (done)
        find_batches(&batches);
    for (size_t i = dump->first; done && i < dump->first + dump->count; i++) {
        count_entry(job, dump, i);
        done = stopper_goes_on(stopper, i, failure);
    }
    memory_free(batches.before);
    memory_free(batches.last);
    return done;
}
