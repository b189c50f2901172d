#include "hang_lines.h"

#include "analysis/hang/hang_differs.h"
#include "analysis/hang/hang_meetings.h"
#include "base/memory.h"

/* The findings in the first line, and their ranks: the culprits if there are any, or else all
** findings of the same kind as the first. */
struct hang_verdict {
    const struct hang_finding *first;
    size_t findings;
    bool one_kind;
    uint32_t *ranks; /* ascending */
    size_t count;
};

static bool find_verdict(const struct hang *hang, struct hang_verdict *verdict)
{
    bool *chosen = memory_zeroed(hang->rank_count, sizeof *chosen);
    verdict->ranks = memory_items(hang->rank_count, sizeof *verdict->ranks);
    verdict->first = hang->findings;
    verdict->one_kind = true;
    for (size_t i = 0; chosen && i < hang->finding_count; i++) {
        const struct hang_finding *finding = &hang->findings[i];
        if (!finding->told &&
            (verdict->first->told || finding->kind != verdict->first->kind ||
             (i > 0 && finding->kind != FOUND_NO_DUMP && finding->kind != FOUND_GLOO &&
              finding->kind != FOUND_UNKNOWN)))
            continue;
        verdict->findings++;
        verdict->one_kind = verdict->one_kind && finding->kind == verdict->first->kind;
        for (size_t k = 0; k < finding->count; k++)
            chosen[finding->ranks[k]] = true;
    }
    for (size_t r = 0; chosen && verdict->ranks && r < hang->rank_count; r++)
        if (chosen[r])
            verdict->ranks[verdict->count++] = (uint32_t)r;
    bool done = chosen && verdict->ranks;
    memory_free(chosen);
    return done;
}

/* Writes `; 3 of 4 ranks wait`. */
static void write_waiting(struct writer *text, const struct hang *hang)
{
    size_t waiting = 0;
    for (size_t r = 0; r < hang->rank_count; r++)
        waiting += hang->ranks[r].head != FR_NONE && hang->ranks[r].culprit == CULPRIT_NONE;
    write_string(text, "; ");
    write_integer(text, (int64_t)waiting);
    write_string(text, " of ");
    write_integer(text, (int64_t)hang->rank_count);
    write_string(text, waiting == 1 ? " ranks waits" : " ranks wait");
}

/* Writes the ranks' action after their names. */
static void write_did(struct hang_lines *lines, struct writer *text, const char *one,
                      const char *several, bool is_one, uint32_t entry)
{
    write_string(text, is_one ? one : several);
    if (entry != FR_NONE)
        write_op(text, lines->hang, entry, &lines->failure);
}

/* Writes `rank 3 called broadcast, the others all_gather_base`. */
static void write_mismatch(struct hang_lines *lines, struct writer *text,
                           const struct hang_verdict *verdict)
{
    const struct hang *hang = lines->hang;
    const struct hang_finding *first = verdict->first;
    const struct hang_meeting *meeting = &hang->meetings[first->meeting];
    const struct fr_group *group = &hang->job->groups[meeting->group];
    bool same = verdict->findings == 1;
    for (size_t i = 0; i < first->count; i++) {
        size_t place = fr_place_in(group, hang->job->ranks[first->ranks[i]]);
        same = same && call_agrees(hang, CALLS_DIFFER_IN_OP, meeting->entries[place],
                                   first->entry, &lines->failure);
    }
    if (!same) {
        write_string(text, " called something else than the others");
        return;
    }
    write_string(text, " called ");
    write_op(text, hang, first->entry, &lines->failure);
    if (meeting->differs == CALLS_DIFFER_IN_OP) {
        write_string(text, ", the others ");
        write_op(text, hang, meeting->agreed, &lines->failure);
    } else {
        write_string(text, meeting->differs == CALLS_DIFFER_IN_SIZE
                               ? " with other sizes than the others"
                               : " with another dtype than the others");
    }
}

/* Returns the head of a rank of the set that is in another collective. */
static uint32_t other_head(const struct hang *hang, const struct hang_finding *finding)
{
    uint32_t set = hang->ranks[finding->ranks[0]].set;
    for (uint32_t i = hang->set_first[set]; i < hang->set_first[set + 1]; i++)
        if (hang->ranks[hang->in_sets[i]].meeting != finding->meeting)
            return hang->ranks[hang->in_sets[i]].head;
    return finding->entry;
}

static void write_culprits(struct hang_lines *lines, struct writer *text,
                           const struct hang_verdict *verdict)
{
    const struct hang *hang = lines->hang;
    const struct hang_finding *first = verdict->first;
    bool one = verdict->count == 1, one_finding = verdict->findings == 1;
    write_ranks_named(text, hang, verdict->ranks, verdict->count, false);
    if (!verdict->one_kind) {
        write_string(text, " hold up the others, in different ways");
        return;
    }
    switch (first->kind) {
    case FOUND_MISMATCH:
        write_mismatch(lines, text, verdict);
        break;
    case FOUND_ORDER:
        if (!one_finding) {
            write_string(text, " wait in something else than the others");
            break;
        }
        write_did(lines, text, " waits in ", " wait in ", one, first->entry);
        write_string(text, ", the others in ");
        write_op(text, hang, other_head(hang, first), &lines->failure);
        break;
    case FOUND_DEVICE_STUCK:
        write_did(lines, text, " has not completed ",
                  " have not completed on the device what the others have", one,
                  one ? first->entry : FR_NONE);
        write_string(text, one ? " on the device, the others have" : "");
        break;
    case FOUND_NOT_STARTED:
        write_did(lines, text, one ? " has not started " : " have not started ",
                  " have not started on the device what the others have", one_finding,
                  one_finding ? first->entry : FR_NONE);
        write_string(text, one_finding ? " on the device" : "");
        break;
    default:
        write_string(text, one ? " has not called " : " have not called what others wait in");
        if (one)
            write_missed_op(text, hang, first->entry, &lines->failure);
    }
}

/* Writes why the dumps of ranks are not conclusive: all are missing, older or overwritten, or the
** reasons differ. */
static void write_without(struct writer *text, const struct hang *hang,
                          const struct hang_verdict *verdict)
{
    enum hang_state state = hang->ranks[verdict->ranks[0]].state;
    for (size_t i = 1; i < verdict->count; i++)
        if (hang->ranks[verdict->ranks[i]].state != state)
            state = HANG_IDLE;
    write_string(text, state == HANG_OLD_DUMP      ? ", which dumped too early"
                       : state == HANG_OVERWRITTEN ? ", whose pending calls are overwritten"
                       : state == HANG_IDLE        ? ", which have no dump that tells"
                       : verdict->count == 1       ? ", which has no dump"
                                                   : ", which have no dump");
}

/* Writes a verdict without a culprit, and returns its code. */
static const char *write_untold(struct hang_lines *lines, struct writer *text,
                                const struct hang_verdict *verdict)
{
    static const char cannot[] = ": the culprit cannot be told";
    const struct hang *hang = lines->hang;
    const struct hang_finding *first = verdict->first;
    uint32_t *ranks = memory_items(hang->rank_count, sizeof *ranks);
    const char *code = finding_code(first);
    text->failed = text->failed || !ranks;
    if (!ranks)
        return code;
    size_t count = verdict->count;
    for (size_t i = 0; i < count; i++)
        ranks[i] = verdict->ranks[i];
    switch (first->kind) {
    case FOUND_MISMATCH:
        code = "mismatch_one_of";
        write_string(text, "the calls of ");
        write_ranks_named(text, hang, ranks, count, false);
        write_string(text, " differ, which is wrong cannot be told");
        write_waiting(text, hang);
        break;
    case FOUND_DEVICE_STUCK:
        code = "device_one_of";
        count = members_that_are(hang, first->meeting, MEMBER_COMPLETED, false, ranks);
        write_string(text, "one of ");
        write_ranks_named(text, hang, ranks, count, false);
        write_string(text, " is stuck on the device, which cannot be told");
        write_waiting(text, hang);
        break;
    case FOUND_DEADLOCK:
        write_ranks_named(text, hang, ranks, count, false);
        write_string(text, " wait for each other, which is wrong cannot be told");
        write_waiting(text, hang);
        break;
    case FOUND_GLOO:
        write_ranks_named(text, hang, ranks, count, false);
        write_string(text, count == 1 ? " has" : " have");
        write_string(text, " not called what others wait in; with gloo it may have failed");
        break;
    case FOUND_ALL_IN:
        write_ranks_named(text, hang, ranks, count, false);
        write_string(text, count == 1 ? " is alone in " : " are all in ");
        write_op(text, hang, first->entry, &lines->failure);
        write_string(text, "; which holds it up cannot be told");
        break;
    case FOUND_MEMBERS:
        write_ranks_named(text, hang, ranks, count, false);
        write_string(text, count == 1 ? " waits in " : " wait in ");
        write_op(text, hang, first->entry, &lines->failure);
        write_string(text, "; who else is in the group is not known");
        write_string(text, cannot);
        break;
    case FOUND_UNKNOWN:
        write_string(text, "ranks wait for ");
        write_ranks_named(text, hang, ranks, count, false);
        write_string(text, count == 1 ? ", whose dump does not tell what it called"
                                      : ", whose dumps do not tell what they called");
        write_string(text, cannot);
        write_waiting(text, hang);
        break;
    default:
        write_string(text, "ranks wait for ");
        write_ranks_named(text, hang, ranks, count, false);
        write_without(text, hang, verdict);
        write_string(text, cannot);
        write_waiting(text, hang);
    }
    memory_free(ranks);
    return code;
}

/* Writes a verdict without findings, and returns its code. */
static const char *write_none(struct writer *text, const struct hang *hang)
{
    const struct fr_job *job = hang->job;
    size_t used = 0, old = 0, overwritten = 0, doubtful = 0;
    for (size_t r = 0; r < hang->rank_count; r++) {
        used += job->dump_of[r] != FR_NONE;
        old += hang->ranks[r].state == HANG_OLD_DUMP;
        overwritten += hang->ranks[r].state == HANG_OVERWRITTEN;
        doubtful += hang->ranks[r].in_doubt;
    }
    if (hang_waits(hang)) {
        write_string(text, "the dumps do not tell for whom ranks wait");
        write_waiting(text, hang);
        return "unknown";
    }
    write_string(text, "No hang is shown: ");
    if (overwritten > 0) {
        write_string(text, "pending calls are overwritten");
        return "overwritten";
    }
    if (old > 0) {
        write_string(text, "the dumps were taken at different times");
        return "old_dump";
    }
    if (doubtful > 0) {
        write_string(text, "whether the sends and recvs left are pending is not known");
        return "unknown";
    }
    write_string(text, used == 1 ? "nothing is pending in the dump" : "nothing is pending in the ");
    if (used != 1) {
        write_integer(text, (int64_t)used);
        write_string(text, " dumps");
    }
    return "none";
}

void add_verdict(struct hang_lines *lines)
{
    const struct hang *hang = lines->hang;
    struct hang_verdict verdict = {.first = NULL};
    struct writer text = {0};
    const char *code;
    size_t rank = SIZE_MAX;
    if (hang_waits(hang))
        write_string(&text, hang_timed_out(hang) ? "Hang: " : "Wait: ");
    if (hang->finding_count == 0) {
        code = write_none(&text, hang);
    } else if (!find_verdict(hang, &verdict)) {
        failure_memory(&lines->failure);
        code = NULL;
    } else if (verdict.first->told) {
        code = verdict.one_kind ? finding_code(verdict.first) : "several";
        rank = verdict.count == 1 ? verdict.ranks[0] : SIZE_MAX;
        write_culprits(lines, &text, &verdict);
        write_waiting(&text, hang);
    } else {
        bool named = verdict.first->kind == FOUND_GLOO || verdict.first->kind == FOUND_UNKNOWN ||
                     verdict.first->kind == FOUND_NO_DUMP;
        code = write_untold(lines, &text, &verdict);
        rank = named && verdict.count == 1 ? verdict.ranks[0] : SIZE_MAX;
    }
    write_string(&text, ".");
    lines_add(lines, "verdict", code, rank, &text);
    memory_free(verdict.ranks);
}
