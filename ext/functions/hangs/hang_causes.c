#include "hang_lines.h"

#include <string.h>

#include "analysis/hang/hang_differs.h"
#include "analysis/hang/hang_meetings.h"
#include "analysis/hang/hang_pairs.h"
#include "base/memory.h"
#include "base/sort.h"

/* Ends a cause with the op and the group, and adds the line. */
static void end_cause(struct hang_lines *lines, const struct hang_finding *finding, bool of_rank,
                      uint32_t entry, struct writer *text)
{
    write_op_and_group(text, lines->hang, entry, &lines->failure);
    write_string(text, ".");
    lines_add(lines, "cause", finding_code(finding), of_rank ? finding->ranks[0] : SIZE_MAX, text);
}

/* Adds `Rank 1 called it at train.py:70 step.` */
static void add_called_it(struct hang_lines *lines, const struct hang_finding *finding, size_t rank,
                          uint32_t entry)
{
    const struct fr_job *job = lines->hang->job;
    uint32_t place = fr_place(job, hang_entry(lines->hang, entry)), index = (uint32_t)rank;
    struct writer text = {0};
    if (place == NAME_NONE)
        return;
    write_ranks_named(&text, lines->hang, &index, 1, true);
    write_string(&text, " called it at ");
    write_bytes(&text, fr_text(job, place)->text, fr_text(job, place)->length);
    write_string(&text, ".");
    lines_add(lines, "at", finding_code(finding), rank, &text);
}

/* Adds `Rank 2 called last all_reduce at train.py:55 step.` */
static void add_called_last(struct hang_lines *lines, const struct hang_finding *finding,
                            uint32_t rank)
{
    const struct hang *hang = lines->hang;
    const struct fr_job *job = hang->job;
    const struct fr_dump *dump = &job->dumps[hang->ranks[rank].dump];
    struct writer text = {0};
    if (dump->count == 0)
        return;
    uint32_t last = (uint32_t)(dump->first + dump->count - 1);
    uint32_t place = fr_place(job, hang_entry(hang, last));
    if (place == NAME_NONE)
        return;
    write_ranks_named(&text, hang, &rank, 1, true);
    write_string(&text, " called last ");
    write_op(&text, hang, last, &lines->failure);
    write_string(&text, " at ");
    write_bytes(&text, fr_text(job, place)->text, fr_text(job, place)->length);
    write_string(&text, ".");
    lines_add(lines, "at", finding_code(finding), rank, &text);
}

/* Adds ranks that did not call an op, including ranks that use gloo. */
static void add_not_called(struct hang_lines *lines, const struct hang_finding *finding)
{
    enum { MOST_PLACES = 2 };
    const struct hang *hang = lines->hang;
    const struct fr_entry *entry = hang_entry(hang, finding->entry);
    struct writer text = {0};
    write_ranks_named(&text, hang, finding->ranks, finding->count, true);
    write_string(&text, " did not call ");
    write_missed_op(&text, hang, finding->entry, &lines->failure);
    if (!entry->is_p2p) {
        write_string(&text, ", seq ");
        write_integer(&text, entry->collective_seq);
        if (finding->last != NUMBER_NONE) {
            write_string(&text, " (its last: ");
            write_integer(&text, finding->last);
            write_string(&text, ")");
        }
    }
    write_string(&text, ", ");
    write_group(&text, hang->job, hang_group(hang, finding->entry));
    write_string(&text, ".");
    lines_add(lines, "cause", finding_code(finding), finding->ranks[0], &text);
    for (size_t i = 0; i < finding->count && i < MOST_PLACES; i++)
        add_called_last(lines, finding, finding->ranks[i]);
}

/* The ranks whose calls in a meeting, or a pair, agree. */
struct agreeing {
    uint32_t entry;
    uint32_t *ranks;
    size_t count;
};

static int agreeing_order(const void *a, const void *b)
{
    const struct agreeing *x = a, *y = b;
    int order = COMPARE(y->count, x->count);
    return order ? order : COMPARE(x->ranks[0], y->ranks[0]);
}

/* Writes the property in which a call differs from the others. */
static void write_differing(struct hang_lines *lines, struct writer *text,
                            enum call_differs differs, uint32_t entry)
{
    const struct hang *hang = lines->hang;
    if (differs == CALLS_DIFFER_IN_OP) {
        write_op(text, hang, entry, &lines->failure);
    } else if (differs == CALLS_DIFFER_IN_SIZE) {
        int64_t elements = call_elements(hang, entry, &lines->failure);
        write_integer(text, elements);
        write_string(text, elements == 1 ? " element" : " elements");
    } else {
        struct hang_parts parts = {NULL, 0, 0};
        bool found = hang_parts_find(hang, entry, &parts, &lines->failure);
        for (size_t part = 0, written = 0; found && part < parts.count; part++) {
            const struct name *list =
                &hang->job->lists.items[call_types(hang, parts.items[part])];
            for (size_t at = 0; at < list->length; at += sizeof(uint32_t)) {
                uint32_t type;
                memcpy(&type, list->text + at, sizeof type);
                write_string(text, written++ > 0 ? ", " : "");
                write_bytes(text, fr_text(hang->job, type)->text, fr_text(hang->job, type)->length);
            }
        }
        memory_free(parts.items);
    }
}

/* Adds a call to the group of calls that agree with it. */
static bool add_agreeing(struct hang_lines *lines, struct agreeing *agreeing, size_t *count,
                         enum call_differs differs, uint32_t entry, size_t rank)
{
    const struct hang *hang = lines->hang;
    size_t i = 0;
    while (i < *count &&
           !call_agrees(hang, differs, agreeing[i].entry, entry, &lines->failure))
        i++;
    if (i == *count) {
        uint32_t *ranks = memory_items(hang->rank_count, sizeof *ranks);
        if (!ranks)
            return failure_memory(&lines->failure);
        agreeing[(*count)++] = (struct agreeing){entry, ranks, 0};
    }
    agreeing[i].ranks[agreeing[i].count++] = (uint32_t)rank;
    return true;
}

/* Writes `Ranks 0-2: Float; rank 3: Half: `. */
static void write_agreeing(struct hang_lines *lines, struct writer *text,
                           enum call_differs differs, struct agreeing *agreeing, size_t count)
{
    static const struct stopper never = {NULL, NULL, NULL};
    sort_items(agreeing, count, sizeof *agreeing, agreeing_order, &never, &lines->failure);
    for (size_t i = 0; i < count; i++) {
        write_string(text, i > 0 ? "; " : "");
        write_ranks_named(text, lines->hang, agreeing[i].ranks, agreeing[i].count, i == 0);
        write_string(text, ": ");
        write_differing(lines, text, differs, agreeing[i].entry);
        memory_free(agreeing[i].ranks);
    }
    write_string(text, ": ");
}

/* Returns the part of a batch, or the head, whose pair differs. `*other` is the matching send or
** recv. */
static uint32_t differing_part(struct hang_lines *lines, uint32_t rank, uint32_t *other)
{
    const struct hang *hang = lines->hang;
    struct hang_parts parts = {NULL, 0, 0};
    uint32_t found = hang->ranks[rank].head;
    *other = FR_NONE;
    if (found != FR_NONE && hang_parts_find(hang, found, &parts, &lines->failure))
        for (size_t i = 0; i < parts.count && *other == FR_NONE; i++) {
            struct hang_pair pair = hang_pair_find(hang, parts.items[i]);
            if (pair.entry == FR_NONE ||
                hang_pair_agrees(hang, parts.items[i], pair.entry, &lines->failure))
                continue;
            found = parts.items[i];
            *other = pair.entry;
        }
    memory_free(parts.items);
    return found;
}

static size_t rank_of_entry(const struct hang *hang, uint32_t entry)
{
    return fr_rank_index(hang->job, hang->job->dumps[hang_entry(hang, entry)->dump].rank);
}

static void add_pair_mismatch(struct hang_lines *lines, const struct hang_finding *finding)
{
    const struct hang *hang = lines->hang;
    struct agreeing agreeing[2];
    struct writer text = {0};
    size_t count = 0;
    uint32_t other = FR_NONE, entry = finding->entry;
    for (size_t i = 0; i < finding->count && other == FR_NONE; i++)
        entry = differing_part(lines, finding->ranks[i], &other);
    if (other == FR_NONE)
        return;
    enum call_differs differs =
        call_agrees(hang, CALLS_DIFFER_IN_SIZE, entry, other, &lines->failure)
            ? CALLS_DIFFER_IN_TYPE
            : CALLS_DIFFER_IN_SIZE;
    if (add_agreeing(lines, agreeing, &count, differs, entry, rank_of_entry(hang, entry)))
        add_agreeing(lines, agreeing, &count, differs, other, rank_of_entry(hang, other));
    write_agreeing(lines, &text, differs, agreeing, count);
    end_cause(lines, finding, false, entry, &text);
}

static void add_mismatch(struct hang_lines *lines, const struct hang_finding *finding)
{
    const struct hang *hang = lines->hang;
    struct writer text = {0};
    if (finding->meeting == FR_NONE) {
        add_pair_mismatch(lines, finding);
        return;
    }
    const struct hang_meeting *meeting = &hang->meetings[finding->meeting];
    const struct fr_group *group = &hang->job->groups[meeting->group];
    if (meeting->differs == CALLS_DIFFER_IN_SUMS) {
        int64_t inputs, outputs;
        call_sums(hang, meeting, &inputs, &outputs);
        write_string(&text, "All inputs have ");
        write_integer(&text, inputs);
        write_string(&text, " elements, all outputs ");
        write_integer(&text, outputs);
        write_string(&text, ": ");
        end_cause(lines, finding, false, finding->entry, &text);
        return;
    }
    struct agreeing *agreeing = memory_items(group->count, sizeof *agreeing);
    size_t count = 0;
    bool done = agreeing || failure_memory(&lines->failure);
    for (size_t place = 0; done && place < group->count; place++)
        if (meeting->entries[place] != FR_NONE)
            done = add_agreeing(lines, agreeing, &count, meeting->differs, meeting->entries[place],
                                hang_rank_at(hang, group, place));
    write_agreeing(lines, &text, meeting->differs, agreeing, count);
    memory_free(agreeing);
    write_string(&text, "seq ");
    write_integer(&text, meeting->seq);
    write_string(&text, ", ");
    write_group(&text, hang->job, group);
    write_string(&text, ".");
    lines_add(lines, "cause", finding_code(finding), finding->told ? finding->ranks[0] : SIZE_MAX,
              &text);
    if (finding->told)
        add_called_it(lines, finding, finding->ranks[0],
                      meeting->entries[fr_place_in(group, hang->job->ranks[finding->ranks[0]])]);
}

/* Adds `Rank 3 did not complete (rank 0: no dump), ranks 1, 2 did: `, or that it did not start. */
static void add_device(struct hang_lines *lines, const struct hang_finding *finding)
{
    const struct hang *hang = lines->hang;
    bool started = finding->kind == FOUND_NOT_STARTED;
    uint32_t *ranks = memory_items(3 * hang->rank_count, sizeof *ranks), *own = ranks,
             *without = ranks + hang->rank_count, *others = without + hang->rank_count;
    size_t own_count = 0, without_count = 0, other_count = 0;
    struct writer text = {0};
    if (!ranks) {
        failure_memory(&lines->failure);
        return;
    }
    for (size_t i = 0; i < finding->count; i++)
        own[own_count++] = finding->ranks[i];
    if (finding->meeting == FR_NONE) {
        struct hang_parts parts = {NULL, 0, 0};
        bool found = hang_parts_find(hang, finding->entry, &parts, &lines->failure);
        for (size_t i = 0; found && i < parts.count; i++) {
            size_t rank = hang_pair_find(hang, parts.items[i]).rank;
            bool known = rank == SIZE_MAX;
            for (size_t k = 0; k < other_count; k++)
                known = known || others[k] == rank;
            if (!known)
                others[other_count++] = (uint32_t)rank;
        }
        memory_free(parts.items);
    } else if (started) {
        other_count = members_that_are(hang, finding->meeting, MEMBER_IN, true, others);
        size_t kept = 0;
        for (size_t i = 0; i < other_count; i++)
            if (hang->ranks[others[i]].state != HANG_NOT_STARTED)
                others[kept++] = others[i];
        other_count = kept;
    } else {
        const struct fr_group *group =
            &hang->job->groups[hang->meetings[finding->meeting].group];
        own_count = 0;
        for (size_t place = 0; place < group->count; place++) {
            uint32_t rank = (uint32_t)hang_rank_at(hang, group, place);
            enum member_is is = meeting_member(hang, &hang->meetings[finding->meeting], place);
            if (is == MEMBER_COMPLETED)
                others[other_count++] = rank;
            else if (is == MEMBER_WITHOUT_DUMP)
                without[without_count++] = rank;
            else
                own[own_count++] = rank;
        }
    }
    write_ranks_named(&text, hang, own, own_count, true);
    write_string(&text, started ? " did not start" : " did not complete");
    if (without_count > 0) {
        write_string(&text, " (");
        write_ranks_named(&text, hang, without, without_count, false);
        write_string(&text, ": no dump)");
    }
    write_string(&text, ", ");
    write_ranks_named(&text, hang, others, other_count, false);
    write_string(&text, " did: ");
    end_cause(lines, finding, finding->told, finding->entry, &text);
    if (finding->told)
        add_called_it(lines, finding, finding->ranks[0],
                      hang->ranks[finding->ranks[0]].head);
    memory_free(ranks);
}

/* Adds the ranks that a rank waits for, and the place of its call. */
static void add_wait(struct hang_lines *lines, const struct hang_finding *finding, uint32_t r)
{
    const struct hang *hang = lines->hang;
    const struct hang_rank *rank = &hang->ranks[r];
    uint32_t *ranks = memory_items(rank->wait_count, sizeof *ranks);
    struct writer text = {0};
    if (!ranks) {
        failure_memory(&lines->failure);
        return;
    }
    for (size_t i = 0; i < rank->wait_count; i++) { /* the waits of a batch are unsorted */
        size_t at = i;
        uint32_t other = hang->waits[rank->first_wait + i].rank;
        for (; at > 0 && ranks[at - 1] > other; at--)
            ranks[at] = ranks[at - 1];
        ranks[at] = other;
    }
    write_ranks_named(&text, hang, &r, 1, true);
    write_string(&text, " waits for ");
    write_ranks_named(&text, hang, ranks, rank->wait_count, false);
    write_string(&text, ": ");
    write_op_and_group(&text, hang, rank->head, &lines->failure);
    write_string(&text, ".");
    lines_add(lines, "cause", finding_code(finding), r, &text);
    add_called_it(lines, finding, r, rank->head);
    memory_free(ranks);
}

/* Adds ranks that wait for each other: at most three, culprits first. */
static void add_deadlock(struct hang_lines *lines, const struct hang_finding *finding)
{
    enum { MOST = 3 };
    const struct hang *hang = lines->hang;
    uint32_t set = hang->ranks[finding->ranks[0]].set;
    size_t added = 0;
    for (size_t i = 0; i < finding->count && added < MOST; i++, added++)
        add_wait(lines, finding, finding->ranks[i]);
    for (uint32_t r = 0; finding->told && r < hang->rank_count && added < MOST; r++)
        if (hang->ranks[r].set == set && hang->ranks[r].culprit == CULPRIT_NONE) {
            add_wait(lines, finding, r);
            added++;
        }
}

static void add_all_in(struct hang_lines *lines, const struct hang_finding *finding)
{
    const struct hang *hang = lines->hang;
    struct writer text = {0};
    if (finding->kind == FOUND_MEMBERS) {
        write_string(&text, "Who is in the group of ");
        write_ranks_named(&text, hang, finding->ranks, finding->count, false);
        write_string(&text, " is not known: ");
    } else if (finding->count == 1) {
        write_ranks_named(&text, hang, finding->ranks, finding->count, true);
        write_string(&text, " did not complete: ");
    } else {
        write_string(&text, "None of ");
        write_ranks_named(&text, hang, finding->ranks, finding->count, false);
        write_string(&text, " completed: ");
    }
    end_cause(lines, finding, false, finding->entry, &text);
    add_called_it(lines, finding, finding->ranks[0], hang->ranks[finding->ranks[0]].head);
}

/* Lists the ranks that wait for the first rank of a finding, in its meeting or for its entry. */
static size_t waiters(const struct hang *hang, const struct hang_finding *finding, uint32_t *ranks)
{
    size_t count = 0;
    for (uint32_t r = 0; r < hang->rank_count; r++) {
        const struct hang_rank *rank = &hang->ranks[r];
        bool waits = false;
        for (size_t i = 0; i < rank->wait_count && !waits; i++) {
            const struct hang_wait *wait = &hang->waits[rank->first_wait + i];
            waits = wait->rank == finding->ranks[0] &&
                    (finding->meeting == FR_NONE ? wait->entry == finding->entry
                                                 : rank->meeting == finding->meeting);
        }
        if (waits)
            ranks[count++] = r;
    }
    return count;
}

/* Adds ranks without a dump, or whose dump is not conclusive. */
static void add_no_dump(struct hang_lines *lines, const struct hang_finding *finding)
{
    const struct hang *hang = lines->hang;
    enum hang_state state = hang->ranks[finding->ranks[0]].state;
    uint32_t *ranks = memory_items(hang->rank_count, sizeof *ranks);
    struct writer text = {0};
    if (!ranks) {
        failure_memory(&lines->failure);
        return;
    }
    size_t count = waiters(hang, finding, ranks);
    write_ranks_named(&text, hang, finding->ranks, finding->count, true);
    write_string(&text, state == HANG_OLD_DUMP      ? " dumped too early; "
                        : state == HANG_OVERWRITTEN ? " lost pending calls; "
                        : state != HANG_NO_DUMP     ? " may have called or not; "
                        : finding->count == 1       ? " has no dump; "
                                                    : " have no dump; ");
    write_ranks_named(&text, hang, ranks, count, false);
    write_string(&text, count == 1 ? " waits in " : " wait in ");
    end_cause(lines, finding, true, finding->entry, &text);
    memory_free(ranks);
}

void add_causes(struct hang_lines *lines)
{
    for (size_t i = 0; i < lines->hang->finding_count; i++) {
        const struct hang_finding *finding = &lines->hang->findings[i];
        switch (finding->kind) {
        case FOUND_MISMATCH:
            add_mismatch(lines, finding);
            break;
        case FOUND_ORDER:
        case FOUND_DEADLOCK:
            add_deadlock(lines, finding);
            break;
        case FOUND_DEVICE_STUCK:
        case FOUND_NOT_STARTED:
            add_device(lines, finding);
            break;
        case FOUND_NOT_CALLED:
        case FOUND_GLOO:
            add_not_called(lines, finding);
            break;
        case FOUND_ALL_IN:
        case FOUND_MEMBERS:
            add_all_in(lines, finding);
            break;
        case FOUND_UNKNOWN:
        case FOUND_NO_DUMP:
            add_no_dump(lines, finding);
            break;
        }
    }
}
