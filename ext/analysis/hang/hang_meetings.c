#include "hang_meetings.h"

#include "base/hash.h"
#include "base/memory.h"
#include "dumps/fr_status.h"

/* A key of the table of meetings. */
struct meeting_key {
    const struct hang *hang;
    uint32_t group;
    int64_t seq;
};

static uint64_t meeting_hash(uint32_t group, int64_t seq)
{
    return hash_with(hash_with(hash_key(), group), (uint64_t)seq);
}

static uint64_t hash_of_meeting(const void *owner, uint32_t id)
{
    const struct hang_meeting *meeting = &((const struct hang *)owner)->meetings[id];
    return meeting_hash(meeting->group, meeting->seq);
}

static bool is_meeting(const void *key, uint32_t id)
{
    const struct meeting_key *wanted = key;
    const struct hang_meeting *meeting = &wanted->hang->meetings[id];
    return meeting->group == wanted->group && meeting->seq == wanted->seq;
}

/* Returns FR_NONE if the collective has no meeting. */
static uint32_t find_meeting(const struct hang *hang, const struct fr_entry *entry)
{
    struct meeting_key key = {hang, hang->job->members[entry->member].group,
                              entry->collective_seq};
    return table_find(&hang->meeting_table, meeting_hash(key.group, key.seq), is_meeting, &key);
}

static bool make_meeting(struct hang *hang, const struct fr_entry *entry, uint32_t *made,
                         struct failure *failure)
{
    *made = find_meeting(hang, entry);
    if (*made != FR_NONE)
        return true;
    struct meeting_key key = {hang, hang->job->members[entry->member].group,
                              entry->collective_seq};
    uint32_t *entries =
        memory_filled(hang->job->groups[key.group].count, sizeof *entries);
    if (!entries || !MEMORY_GROW(hang->meetings, hang->meeting_capacity, hang->meeting_count + 1) ||
        !table_reserve(&hang->meeting_table, hang->meeting_count, hash_of_meeting, hang)) {
        memory_free(entries);
        return failure_memory(failure);
    }
    *made = (uint32_t)hang->meeting_count;
    hang->meetings[hang->meeting_count] =
        (struct hang_meeting){key.group, key.seq, entries, CALLS_AGREE, FR_NONE};
    *table_slot(&hang->meeting_table, meeting_hash(key.group, key.seq), is_meeting, &key) =
        *made + 1;
    hang->meeting_count++;
    return true;
}

/* FR11: finds the pending entry with the lowest record_id; for a batch, the closing entry. */
static void find_head(struct hang *hang, struct hang_rank *rank)
{
    const struct fr_job *job = hang->job;
    const struct fr_dump *dump = &job->dumps[rank->dump];
    for (size_t i = dump->first; i < dump->first + dump->count; i++) {
        const struct fr_entry *entry = &job->entries[i];
        rank->in_doubt = rank->in_doubt || entry->in_doubt;
        if (fr_is_pending(entry) && !entry->in_doubt && rank->head == FR_NONE)
            rank->head = entry->batch == FR_NONE ? (uint32_t)i : entry->batch;
    }
}

/* Enters a dump's entries of collectives into their meetings. */
static bool note_entries(struct hang *hang, const struct fr_dump *dump,
                         const struct stopper *stopper, struct failure *failure)
{
    const struct fr_job *job = hang->job;
    for (size_t i = dump->first; i < dump->first + dump->count; i++) {
        const struct fr_entry *entry = &job->entries[i];
        uint32_t found = entry->is_p2p || fr_is_part(entry, i) ? FR_NONE
                                                               : find_meeting(hang, entry);
        if (found != FR_NONE) {
            struct hang_meeting *meeting = &hang->meetings[found];
            size_t place = fr_place_in(&job->groups[meeting->group], dump->rank);
            if (place != SIZE_MAX)
                meeting->entries[place] = (uint32_t)i;
        }
        if (!stopper_goes_on(stopper, i, failure))
            return false;
    }
    return true;
}

bool hang_meetings_find(struct hang *hang, const struct stopper *stopper, struct failure *failure)
{
    const struct fr_job *job = hang->job;
    for (size_t r = 0; r < hang->rank_count; r++) {
        struct hang_rank *rank = &hang->ranks[r];
        if (rank->dump == FR_NONE)
            continue;
        find_head(hang, rank);
        if (rank->head == FR_NONE)
            continue;
        rank->state = HANG_WAITS;
        if ((!job->entries[rank->head].is_p2p &&
             !make_meeting(hang, &job->entries[rank->head], &rank->meeting, failure)) ||
            !stopper_ask(stopper, failure))
            return false;
    }
    for (size_t r = 0; r < hang->rank_count && hang->meeting_count > 0; r++)
        if (hang->ranks[r].dump != FR_NONE &&
            !note_entries(hang, &job->dumps[hang->ranks[r].dump], stopper, failure))
            return false;
    return true;
}

bool hang_is_in(const struct hang *hang, size_t rank, uint32_t entry)
{
    const struct fr_entry *own = hang_entry(hang, entry);
    uint32_t closing = own->batch == FR_NONE ? entry : own->batch;
    return hang->ranks[rank].head == closing || own->state == FR_STARTED ||
           hang_entry(hang, closing)->state == FR_STARTED;
}

/* Applies FR10.2 to FR10.5 to a member without an entry. */
static enum member_is without_entry(const struct hang *hang, const struct hang_meeting *meeting,
                                    size_t place)
{
    const struct fr_job *job = hang->job;
    uint32_t index = job->groups[meeting->group].members[place];
    if (index == FR_NONE)
        return MEMBER_NOT_CALLED; /* FR10.4: pg_config lacks the group */
    const struct fr_member *member = &job->members[index];
    const struct fr_dump *dump = &job->dumps[member->dump];
    if (member->called != NUMBER_NONE && meeting->seq > member->called)
        return MEMBER_NOT_CALLED;
    if ((member->completed != NUMBER_NONE && meeting->seq <= member->completed) ||
        (dump->active_only && member->first_kept != NUMBER_NONE &&
         meeting->seq > member->first_kept))
        return MEMBER_COMPLETED;
    if (member->called == NUMBER_NONE && dump->lost == 0 && !dump->active_only)
        return MEMBER_NOT_CALLED;
    return MEMBER_UNKNOWN;
}

enum member_is meeting_member(const struct hang *hang, const struct hang_meeting *meeting,
                              size_t place)
{
    const struct fr_group *group = &hang->job->groups[meeting->group];
    size_t rank = hang_rank_at(hang, group, place);
    uint32_t entry = meeting->entries[place];
    if (hang->ranks[rank].dump == FR_NONE)
        return MEMBER_WITHOUT_DUMP;
    if (entry == FR_NONE)
        return without_entry(hang, meeting, place);
    if (!fr_is_pending(hang_entry(hang, entry)))
        return MEMBER_COMPLETED;
    return hang_is_in(hang, rank, entry) ? MEMBER_IN : MEMBER_BEHIND;
}

bool hang_parts_find(const struct hang *hang, uint32_t entry, struct hang_parts *parts,
                     struct failure *failure)
{
    const struct fr_entry *closing = hang_entry(hang, entry);
    size_t first = hang->job->dumps[closing->dump].first;
    parts->count = 0;
    for (uint32_t i = entry; i > first && closing->batch == entry; i--) {
        const struct fr_entry *part = hang_entry(hang, i - 1);
        if (part->member != closing->member)
            continue;
        if (part->batch != entry)
            break;
        if (!MEMORY_GROW(parts->items, parts->capacity, parts->count + 1))
            return failure_memory(failure);
        parts->items[parts->count++] = i - 1;
    }
    for (size_t i = 0; i < parts->count / 2; i++) {
        uint32_t other = parts->items[parts->count - 1 - i];
        parts->items[parts->count - 1 - i] = parts->items[i];
        parts->items[i] = other;
    }
    if (parts->count > 0)
        return true;
    if (!MEMORY_GROW(parts->items, parts->capacity, 1))
        return failure_memory(failure);
    parts->items[parts->count++] = entry;
    return true;
}
