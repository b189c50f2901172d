#include "hang_states.h"

#include "base/memory.h"
#include "dumps/fr_status.h"
#include "hang_differs.h"
#include "hang_meetings.h"
#include "hang_old.h"
#include "hang_pairs.h"

/* The other members' states in the op that a rank is in. */
struct hang_others {
    size_t count, completed, waited_for;
    size_t started, scheduled; /* of all members, including the rank: entries not completed */
    bool told; /* FR5: no `scheduled` entry lacks start times or is in doubt */
};

static void count_state(const struct hang *hang, struct hang_others *others, uint32_t entry)
{
    const struct fr_entry *own = hang_entry(hang, entry);
    const struct fr_entry *closing = own->batch == FR_NONE ? own : hang_entry(hang, own->batch);
    if (own->state == FR_STARTED || closing->state == FR_STARTED) {
        others->started++;
    } else if (fr_is_pending(own) && own->state == FR_SCHEDULED) {
        others->scheduled++;
        const struct fr_dump *dump = &hang->job->dumps[own->dump];
        others->told = others->told && dump->has_start_times &&
                       !hang->ranks[fr_rank_index(hang->job, dump->rank)].in_doubt;
    }
}

/* Adds a rank's wait for another one. Several p2p waits for one rank count once, with the most
** certain state. */
static bool add_wait(struct hang *hang, struct hang_rank *rank, struct hang_wait wait,
                     struct failure *failure)
{
    enum { MOST_WAITS = 1 << 26 };
    for (size_t i = rank->first_wait; rank->meeting == FR_NONE && i < hang->wait_count; i++)
        if (hang->waits[i].rank == wait.rank) {
            if (wait.how < hang->waits[i].how)
                hang->waits[i] = wait;
            return true;
        }
    if (hang->wait_count == MOST_WAITS)
        return failure_set(failure, FAILURE_REQUEST,
                           "more than 67,108,864 pairs of ranks wait for each other");
    if (!MEMORY_GROW(hang->waits, hang->wait_capacity, hang->wait_count + 1))
        return failure_memory(failure);
    hang->waits[hang->wait_count++] = wait;
    rank->wait_count++;
    return true;
}

/* Counts another rank's state, and adds a wait if the rank waits for it. */
static bool add_other(struct hang *hang, struct hang_others *others, size_t r, size_t other,
                      uint32_t entry, enum member_is is, struct failure *failure)
{
    others->count++;
    others->completed += is == MEMBER_COMPLETED;
    others->waited_for += is >= MEMBER_NOT_CALLED;
    return is < MEMBER_NOT_CALLED ||
           add_wait(hang, &hang->ranks[r], (struct hang_wait){(uint32_t)other, entry, is},
                    failure);
}

static bool meet_members(struct hang *hang, struct hang_others *others, size_t r,
                         struct failure *failure)
{
    const struct hang_meeting *meeting = &hang->meetings[hang->ranks[r].meeting];
    const struct fr_group *group = &hang->job->groups[meeting->group];
    for (size_t place = 0; place < group->count; place++) {
        size_t other = hang_rank_at(hang, group, place);
        if (meeting->entries[place] != FR_NONE)
            count_state(hang, others, meeting->entries[place]);
        if (other != r && !add_other(hang, others, r, other, hang->ranks[r].head,
                                     meeting_member(hang, meeting, place), failure))
            return false;
    }
    return true;
}

/* The same for the sends and recvs of a rank. `*differs` becomes true if a pair differs in size or
** types. */
static bool meet_pairs(struct hang *hang, struct hang_others *others, size_t r, bool *differs,
                       struct failure *failure)
{
    struct hang_parts parts = {NULL, 0, 0};
    bool done = hang_parts_find(hang, hang->ranks[r].head, &parts, failure);
    count_state(hang, others, hang->ranks[r].head);
    for (size_t i = 0; done && i < parts.count; i++) {
        struct hang_pair pair = hang_pair_find(hang, parts.items[i]);
        if (pair.rank == SIZE_MAX || pair.rank == r)
            continue;
        if (pair.entry != FR_NONE) {
            count_state(hang, others, pair.entry);
            *differs =
                *differs || !hang_pair_agrees(hang, parts.items[i], pair.entry, failure);
        }
        done = add_other(hang, others, r, pair.rank, parts.items[i], pair.is, failure);
    }
    memory_free(parts.items);
    return done && failure->code == FAILURE_NONE;
}

/* FR15: true if a rank's device is stuck, because others completed the op. */
static bool is_device_stuck(const struct hang *hang, const struct hang_rank *rank,
                            const struct hang_others *others)
{
    const struct fr_entry *head = hang_entry(hang, rank->head);
    if (!hang_group(hang, rank->head)->known || fr_is_gloo(hang->job, head))
        return false;
    if (rank->meeting != FR_NONE && op_is_strict(hang->job, head))
        return others->completed > 0;
    return others->count > 0 && others->completed == others->count;
}

/* FR15, FR16: sets the state and the culprit of a rank whose calls agree. */
static void judge(const struct hang *hang, struct hang_rank *rank, const struct hang_others *others)
{
    const struct fr_entry *head = hang_entry(hang, rank->head);
    if (is_device_stuck(hang, rank, others)) {
        rank->state = HANG_DEVICE_STUCK;
        if (others->completed == others->count)
            rank->culprit = CULPRIT_DEVICE_STUCK;
        rank->wait_count = 0;
    } else if (others->waited_for == 0 && !hang_group(hang, rank->head)->known) {
        rank->state = HANG_MEMBERS;
    } else if (others->waited_for == 0 && (others->count > 0 || rank->meeting != FR_NONE)) {
        bool some = others->told && others->started > 0 && others->scheduled > 0 &&
                    others->started + others->scheduled == others->count + 1;
        rank->state = !some ? HANG_ALL_IN
                      : head->state == FR_STARTED ? HANG_WAITS
                                                  : HANG_NOT_STARTED;
        if (rank->state == HANG_NOT_STARTED)
            rank->culprit = CULPRIT_NOT_STARTED;
    }
}

bool hang_states_find(struct hang *hang, const struct stopper *stopper, struct failure *failure)
{
    for (size_t r = 0; r < hang->rank_count; r++) {
        struct hang_rank *rank = &hang->ranks[r];
        struct hang_others others = {.told = true};
        bool differs = false;
        rank->first_wait = hang->wait_count;
        if (rank->head == FR_NONE)
            continue;
        if (rank->meeting != FR_NONE)
            differs = hang->meetings[rank->meeting].differs != CALLS_AGREE;
        if (!differs && !(rank->meeting != FR_NONE
                              ? meet_members(hang, &others, r, failure)
                              : meet_pairs(hang, &others, r, &differs, failure)))
            return false;
        if (differs) {
            rank->state = HANG_MISMATCH;
            rank->wait_count = 0;
        } else {
            judge(hang, rank, &others);
        }
        if (!stopper_ask(stopper, failure))
            return false;
    }
    /* FR13: members that differ from the majority are culprits, even if they are in another op. */
    for (size_t i = 0; i < hang->meeting_count; i++) {
        const struct hang_meeting *meeting = &hang->meetings[i];
        const struct fr_group *group = &hang->job->groups[meeting->group];
        for (size_t place = 0; meeting->agreed != FR_NONE && place < group->count; place++)
            if (meeting->entries[place] != FR_NONE &&
                !call_agrees(hang, meeting->differs, meeting->entries[place], meeting->agreed,
                             failure))
                hang->ranks[hang_rank_at(hang, group, place)].culprit = CULPRIT_MISMATCH;
    }
    return failure->code == FAILURE_NONE;
}
