#include "hang_findings.h"

#include "base/memory.h"
#include "base/sort.h"
#include "hang_meetings.h"
#include "hang_pairs.h"

/* Returns NULL if out of memory. */
static struct hang_finding *add_finding(struct hang *hang, enum finding_kind kind, uint32_t entry,
                                        struct failure *failure)
{
    if (!MEMORY_GROW(hang->findings, hang->finding_capacity, hang->finding_count + 1)) {
        failure_memory(failure);
        return NULL;
    }
    struct hang_finding *finding = &hang->findings[hang->finding_count++];
    *finding = (struct hang_finding){
        .kind = kind, .entry = entry, .meeting = FR_NONE, .last = NUMBER_NONE};
    return finding;
}

static bool add_rank(struct hang_finding *finding, uint32_t rank, struct failure *failure)
{
    uint32_t *more = memory_resize(finding->ranks, (finding->count + 1) * sizeof *more);
    if (!more)
        return failure_memory(failure);
    finding->ranks = more;
    more[finding->count++] = rank;
    return true;
}

/* Returns the finding of a kind in a meeting, and adds one if necessary. Without a meeting, always
** adds one. Returns NULL if out of memory. */
static struct hang_finding *finding_of(struct hang *hang, enum finding_kind kind, bool told,
                                       uint32_t meeting, uint32_t entry, struct failure *failure)
{
    for (size_t i = 0; i < hang->finding_count && meeting != FR_NONE; i++)
        if (hang->findings[i].kind == kind && hang->findings[i].told == told &&
            hang->findings[i].meeting == meeting)
            return &hang->findings[i];
    struct hang_finding *finding = add_finding(hang, kind, entry, failure);
    if (finding) {
        finding->meeting = meeting;
        finding->told = told;
    }
    return finding;
}

static bool has_rank(const struct hang_finding *finding, uint32_t rank)
{
    for (size_t i = 0; i < finding->count; i++)
        if (finding->ranks[i] == rank)
            return true;
    return false;
}

/* Returns the p2p finding of a kind that includes a rank, or NULL. */
static struct hang_finding *pair_of(struct hang *hang, enum finding_kind kind, uint32_t rank)
{
    for (size_t i = 0; i < hang->finding_count; i++)
        if (hang->findings[i].kind == kind && hang->findings[i].meeting == FR_NONE &&
            has_rank(&hang->findings[i], rank))
            return &hang->findings[i];
    return NULL;
}

/* Adds a rank and its peers in pending sends and recvs; for a mismatch, only peers whose calls
** differ. Ranks connected by such pairs are one finding. */
static bool add_pair(struct hang *hang, uint32_t r, enum finding_kind kind,
                     struct failure *failure)
{
    struct hang_parts parts = {NULL, 0, 0};
    struct hang_finding *finding = pair_of(hang, kind, r);
    bool done = hang_parts_find(hang, hang->ranks[r].head, &parts, failure);
    for (size_t i = 0; done && i < parts.count; i++) {
        struct hang_pair pair = hang_pair_find(hang, parts.items[i]);
        uint32_t other = (uint32_t)pair.rank;
        if (pair.entry == FR_NONE ||
            (kind == FOUND_MISMATCH && hang_pair_agrees(hang, parts.items[i], pair.entry, failure)))
            continue;
        finding = finding ? finding : pair_of(hang, kind, other);
        finding = finding ? finding : add_finding(hang, kind, parts.items[i], failure);
        done = finding && (has_rank(finding, r) || add_rank(finding, r, failure)) &&
               (has_rank(finding, other) || add_rank(finding, other, failure));
    }
    memory_free(parts.items);
    return done && failure->code == FAILURE_NONE;
}

/* Adds the finding that follows from a rank's own state, if any. */
static bool add_own(struct hang *hang, uint32_t r, struct failure *failure)
{
    static const struct {
        enum finding_kind kind;
        bool found;
    } of_state[] = {
        [HANG_DEVICE_STUCK] = {FOUND_DEVICE_STUCK, true},
        [HANG_NOT_STARTED] = {FOUND_NOT_STARTED, true},
        [HANG_ALL_IN] = {FOUND_ALL_IN, true},
        [HANG_MISMATCH] = {FOUND_MISMATCH, true},
        [HANG_MEMBERS] = {FOUND_MEMBERS, true},
        [HANG_OVERWRITTEN] = {0, false}};
    const struct hang_rank *rank = &hang->ranks[r];
    bool told = rank->culprit != CULPRIT_NONE;
    if (!of_state[rank->state].found)
        return true;
    if (rank->state == HANG_MISMATCH && rank->meeting != FR_NONE &&
        hang->meetings[rank->meeting].agreed != FR_NONE)
        return true; /* by add_mismatches() */
    if (rank->meeting == FR_NONE && (rank->state == HANG_MISMATCH || rank->state == HANG_ALL_IN))
        return add_pair(hang, r, of_state[rank->state].kind, failure);
    struct hang_finding *finding = finding_of(hang, of_state[rank->state].kind, told, rank->meeting,
                                              rank->head, failure);
    return finding && add_rank(finding, r, failure);
}

/* FR13: adds the culprits of collectives that differ. They may be in another op. */
static bool add_mismatches(struct hang *hang, struct failure *failure)
{
    for (uint32_t i = 0; i < hang->meeting_count; i++) {
        const struct hang_meeting *meeting = &hang->meetings[i];
        const struct fr_group *group = &hang->job->groups[meeting->group];
        for (size_t place = 0; meeting->agreed != FR_NONE && place < group->count; place++) {
            size_t r = hang_rank_at(hang, group, place);
            if (hang->ranks[r].culprit != CULPRIT_MISMATCH || meeting->entries[place] == FR_NONE)
                continue;
            struct hang_finding *finding = finding_of(hang, FOUND_MISMATCH, true, i,
                                                      meeting->entries[place], failure);
            if (!finding || !add_rank(finding, (uint32_t)r, failure))
                return false;
        }
    }
    return true;
}

/* The wait that names the op that a rank did not call (FR18). */
struct missed {
    const struct hang_wait *wait; /* NULL: nobody waits */
    bool is_sure, is_gloo;
};

/* FR18: finds, by rank, the oldest head that waits for it, sure waits first. */
static void find_missed(const struct hang *hang, struct missed *missed)
{
    for (size_t r = 0; r < hang->rank_count; r++)
        for (size_t w = 0; w < hang->ranks[r].wait_count; w++) {
            const struct hang_wait *wait = &hang->waits[hang->ranks[r].first_wait + w];
            struct missed *best = &missed[wait->rank];
            const struct fr_entry *head = hang_entry(hang, hang->ranks[r].head);
            bool is_gloo = fr_is_gloo(hang->job, head);
            struct missed own = {wait, wait->how == MEMBER_NOT_CALLED && !is_gloo, is_gloo};
            if (!best->wait || own.is_sure > best->is_sure ||
                (own.is_sure == best->is_sure &&
                 head->created < hang_entry(hang, best->wait->entry)->created))
                *best = own;
        }
}

static uint32_t meeting_of(const struct hang *hang, uint32_t entry)
{
    uint32_t rank = (uint32_t)fr_rank_index(
        hang->job, hang->job->dumps[hang_entry(hang, entry)->dump].rank);
    return hang->ranks[rank].meeting;
}

/* Returns the last seq that a rank called in the group of an entry, or NUMBER_NONE. */
static int64_t last_called(const struct hang *hang, uint32_t rank, uint32_t entry)
{
    const struct fr_group *group = hang_group(hang, entry);
    size_t place = fr_place_in(group, hang->job->ranks[rank]);
    uint32_t member = place == SIZE_MAX ? FR_NONE : group->members[place];
    if (member == FR_NONE || hang->ranks[rank].dump == FR_NONE)
        return NUMBER_NONE;
    return hang->job->members[member].called;
}

/* Adds a root of one rank that is idle or has no dump. Ranks with the same op and the same last seq
** are one finding (FR21). */
static bool add_waited_for(struct hang *hang, uint32_t r, const struct missed *missed,
                           struct failure *failure)
{
    struct hang_rank *rank = &hang->ranks[r];
    enum finding_kind kind = rank->dump == FR_NONE              ? FOUND_NO_DUMP
                             : missed->is_gloo                  ? FOUND_GLOO
                             : missed->is_sure && !rank->in_doubt ? FOUND_NOT_CALLED
                                                                : FOUND_UNKNOWN;
    uint32_t entry = missed->wait->entry, meeting = meeting_of(hang, entry);
    int64_t last = last_called(hang, r, entry);
    if (kind == FOUND_NOT_CALLED && rank->culprit != CULPRIT_NONE)
        return true; /* already the culprit of a mismatch */
    if (kind == FOUND_NOT_CALLED)
        rank->culprit = CULPRIT_NOT_CALLED;
    for (size_t i = 0; i < hang->finding_count; i++) {
        struct hang_finding *finding = &hang->findings[i];
        if (finding->kind == kind && finding->last == last &&
            hang->ranks[finding->ranks[0]].state == rank->state &&
            (meeting != FR_NONE ? finding->meeting == meeting : finding->entry == entry))
            return add_rank(finding, r, failure);
    }
    struct hang_finding *finding = add_finding(hang, kind, entry, failure);
    if (!finding)
        return false;
    finding->told = kind == FOUND_NOT_CALLED;
    finding->meeting = meeting;
    finding->last = last;
    return add_rank(finding, r, failure);
}

/* Finds the two collectives that the ranks of a set are in; false if there are not exactly two. */
static bool two_meetings(const struct hang *hang, uint32_t set, uint32_t meetings[2])
{
    size_t count = 0;
    for (uint32_t i = hang->set_first[set]; i < hang->set_first[set + 1]; i++) {
        uint32_t meeting = hang->ranks[hang->in_sets[i]].meeting;
        bool known = (count > 0 && meetings[0] == meeting) || (count > 1 && meetings[1] == meeting);
        if (meeting == FR_NONE || (!known && count == 2))
            return false;
        if (!known)
            meetings[count++] = meeting;
    }
    return count == 2;
}

/* FR17.2: true if more than half of the ranks in both groups are in the first collective. */
static bool most_are_in(const struct hang *hang, uint32_t first, uint32_t second)
{
    const struct hang_meeting *meeting = &hang->meetings[first];
    const struct fr_group *group = &hang->job->groups[meeting->group],
                          *other = &hang->job->groups[hang->meetings[second].group];
    size_t both = 0, in = 0;
    for (size_t place = 0; place < group->count; place++)
        if (fr_place_in(other, group->ranks[place]) != SIZE_MAX) {
            both++;
            in += meeting_member(hang, meeting, place) == MEMBER_IN;
        }
    return group->known && other->known && 2 * in > both;
}

/* FR5: true if a rank of the set in this meeting is in doubt, so that it cannot be blamed. */
static bool any_doubt(const struct hang *hang, uint32_t set, uint32_t meeting)
{
    for (uint32_t i = hang->set_first[set]; i < hang->set_first[set + 1]; i++)
        if (hang->ranks[hang->in_sets[i]].meeting == meeting &&
            hang->ranks[hang->in_sets[i]].in_doubt)
            return true;
    return false;
}

/* Adds a root of several ranks (FR17.2). */
static bool add_deadlock(struct hang *hang, uint32_t set, struct failure *failure)
{
    uint32_t meetings[2], wrong = FR_NONE, first = hang->set_first[set];
    if (two_meetings(hang, set, meetings))
        for (int i = 0; i < 2; i++)
            if (most_are_in(hang, meetings[i], meetings[1 - i]) &&
                !any_doubt(hang, set, meetings[1 - i]))
                wrong = meetings[1 - i];
    struct hang_finding *finding =
        add_finding(hang, wrong == FR_NONE ? FOUND_DEADLOCK : FOUND_ORDER,
                    hang->ranks[hang->in_sets[first]].head, failure);
    if (!finding)
        return false;
    finding->told = wrong != FR_NONE;
    for (uint32_t i = first; i < hang->set_first[set + 1]; i++) {
        struct hang_rank *rank = &hang->ranks[hang->in_sets[i]];
        if (wrong != FR_NONE && rank->meeting != wrong)
            continue;
        if (wrong != FR_NONE) {
            rank->culprit = CULPRIT_ORDER;
            finding->meeting = wrong;
            finding->entry = rank->head;
        }
        if (!add_rank(finding, hang->in_sets[i], failure))
            return false;
    }
    return true;
}

static int rank_order(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return COMPARE(x, y);
}

/* Sorts by FR20. */
static int finding_order(const void *a, const void *b)
{
    const struct hang_finding *x = a, *y = b;
    int order = COMPARE(y->told, x->told);
    order = order ? order : COMPARE(x->kind, y->kind);
    order = order ? order : COMPARE(y->waiting, x->waiting);
    return order ? order : COMPARE(x->ranks[0], y->ranks[0]);
}

/* Counts the ranks that wait for a rank of the finding, directly or through others. */
static void count_waiting(const struct hang *hang, struct hang_finding *finding)
{
    for (size_t r = 0; r < hang->rank_count; r++) {
        bool waits = false;
        for (size_t i = 0; i < finding->count && !waits && hang->ranks[r].wait_count > 0; i++) {
            uint32_t set = hang->ranks[finding->ranks[i]].set;
            waits = finding->ranks[i] != r && hang->set_root[set] != FR_NONE &&
                    hang_leads_to(hang, hang->ranks[r].set, hang->set_root[set]);
        }
        finding->waiting += waits;
    }
}

bool hang_findings_find(struct hang *hang, const struct stopper *stopper, struct failure *failure)
{
    struct missed *missed = memory_zeroed(hang->rank_count, sizeof *missed);
    bool done = (missed || failure_memory(failure)) && add_mismatches(hang, failure);
    for (uint32_t r = 0; done && r < hang->rank_count; r++)
        done = add_own(hang, r, failure) && stopper_ask(stopper, failure);
    if (done)
        find_missed(hang, missed);
    for (uint32_t r = 0; done && r < hang->rank_count; r++) {
        uint32_t set = hang->ranks[r].set;
        bool alone = hang->set_first[set + 1] - hang->set_first[set] == 1;
        if (hang->set_root[set] == FR_NONE)
            continue;
        if (!alone && hang->in_sets[hang->set_first[set]] == r)
            done = add_deadlock(hang, set, failure);
        else if (alone && hang->ranks[r].head == FR_NONE)
            done = add_waited_for(hang, r, &missed[r], failure);
        done = done && stopper_ask(stopper, failure);
    }
    for (size_t i = 0; done && i < hang->finding_count; i++) {
        struct hang_finding *finding = &hang->findings[i];
        done = sort_items(finding->ranks, finding->count, sizeof *finding->ranks, rank_order,
                          stopper, failure);
        count_waiting(hang, finding);
    }
    memory_free(missed);
    return done && sort_items(hang->findings, hang->finding_count, sizeof *hang->findings,
                              finding_order, stopper, failure);
}
