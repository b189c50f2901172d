/*
** hang_ranks: the state of each rank in a job, and the ranks that it waits for.
*/
#include "call_job.h"

#include "base/memory.h"
#include "hang_words.h"

static const struct table_column columns_of_ranks[] = {
    {"rank", "INTEGER", "rank of the job"},
    {"state", "TEXT",
     "'idle' (nothing is pending), 'waits', 'device stuck', 'not started', 'all in', 'mismatch', "
     "'members', 'no dump', 'old dump' or 'overwritten'"},
    {"culprit", "TEXT",
     "'not called', 'device stuck', 'not started', 'mismatch' or 'order'; NULL: not a culprit"},
    {"op", "TEXT", "the op that the rank is in"},
    {"group", "TEXT", "process group of that op"},
    {"seq", "INTEGER", "number of that op in its group"},
    {"waits_for", "TEXT", "ranks that it waits for"},
    {"root", "TEXT", "ranks at the end of the chain of waits"},
    {"at", "TEXT", "where the rank called the op, or its last op if it is in none"},
};

static const struct argument arguments_of_ranks[] = {DUMPS_ARGUMENTS};

/* Adds the chosen ranks as text. */
static void add_list(struct result *result, const struct hang *hang, const bool *chosen,
                     int64_t *list)
{
    struct writer text = {0};
    size_t count = 0;
    for (size_t r = 0; r < hang->rank_count; r++)
        if (chosen[r])
            list[count++] = hang->job->ranks[r];
    write_rank_ranges(&text, list, count, false);
    result_written(result, &text);
}

static void choose_waits(const struct hang *hang, size_t r, bool *chosen)
{
    const struct hang_rank *rank = &hang->ranks[r];
    for (size_t i = 0; i < hang->rank_count; i++)
        chosen[i] = false;
    for (size_t i = 0; i < rank->wait_count; i++)
        chosen[hang->waits[rank->first_wait + i].rank] = true;
}

static void choose_roots(const struct hang *hang, size_t r, bool *chosen)
{
    for (size_t i = 0; i < hang->rank_count; i++) {
        uint32_t root = hang->set_root[hang->ranks[i].set];
        chosen[i] = i != r && root != FR_NONE && hang->ranks[r].wait_count > 0 &&
                    hang_leads_to(hang, hang->ranks[r].set, root);
    }
}

static void add_ranks(struct result *result, const struct hang *hang)
{
    static const char *const states[] = {
        [HANG_IDLE] = "idle",           [HANG_WAITS] = "waits",
        [HANG_DEVICE_STUCK] = "device stuck", [HANG_NOT_STARTED] = "not started",
        [HANG_ALL_IN] = "all in",       [HANG_MISMATCH] = "mismatch",
        [HANG_MEMBERS] = "members",     [HANG_NO_DUMP] = "no dump",
        [HANG_OLD_DUMP] = "old dump",   [HANG_OVERWRITTEN] = "overwritten"};
    static const char *const culprits[] = {[CULPRIT_NONE] = NULL,
                                           [CULPRIT_NOT_CALLED] = "not called",
                                           [CULPRIT_DEVICE_STUCK] = "device stuck",
                                           [CULPRIT_NOT_STARTED] = "not started",
                                           [CULPRIT_MISMATCH] = "mismatch",
                                           [CULPRIT_ORDER] = "order"};
    const struct fr_job *job = hang->job;
    bool *chosen = memory_zeroed(hang->rank_count, sizeof *chosen);
    int64_t *list = memory_items(hang->rank_count, sizeof *list);
    if (!chosen || !list)
        result_lost(result);
    for (size_t r = 0; chosen && list && r < hang->rank_count; r++) {
        const struct hang_rank *rank = &hang->ranks[r];
        const struct fr_entry *head = rank->head == FR_NONE ? NULL : hang_entry(hang, rank->head);
        uint32_t place = hang_place(hang, r);
        result_integer(result, job->ranks[r]);
        result_string(result, states[rank->state]);
        result_string(result, culprits[rank->culprit]);
        if (head) {
            result_job_text(result, job, fr_op_of(job, head)->op);
            result_named(result, hang_group_label(job, fr_group_of(job, head)));
            result_integer(result, head->is_p2p ? head->p2p_seq : head->collective_seq);
        } else {
            result_nulls(result, 3);
        }
        choose_waits(hang, r, chosen);
        add_list(result, hang, chosen, list);
        choose_roots(hang, r, chosen);
        add_list(result, hang, chosen, list);
        result_job_text(result, job, place);
    }
    memory_free(chosen);
    memory_free(list);
}

static int ranks_produce(struct call *call, struct rows **rows)
{
    return call_hang_rows(call, rows, add_ranks);
}

const struct table_function hang_ranks_function = {
    .name = "hang_ranks",
    .family = FAMILY_RANKS_AND_THE_JOB,
    .question = "What does each rank of a hang wait for?",
    .text =
        "the ranks of a hanging job: the op that each is in and the ranks that it waits for, one "
        "row per rank",
    COLUMNS(columns_of_ranks),
    ARGUMENTS(arguments_of_ranks),
    .produce = ranks_produce,
};
