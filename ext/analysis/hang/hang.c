#include "hang.h"

#include <string.h>

#include "base/memory.h"
#include "hang_differs.h"
#include "hang_findings.h"
#include "hang_meetings.h"
#include "hang_old.h"
#include "hang_roots.h"
#include "hang_states.h"

/* Makes the ranks. A rank uses its dump only if that is neither old nor overwritten. */
static bool make_ranks(struct hang *hang, struct failure *failure)
{
    const struct fr_job *job = hang->job;
    hang->rank_count = job->rank_count;
    hang->ranks = memory_zeroed(job->rank_count, sizeof *hang->ranks);
    if (!hang->ranks)
        return failure_memory(failure);
    for (size_t r = 0; r < hang->rank_count; r++) {
        uint32_t dump = job->dump_of[r];
        hang->ranks[r] = (struct hang_rank){
            .dump = FR_NONE, .head = FR_NONE, .meeting = FR_NONE, .set = FR_NONE};
        if (dump == FR_NONE)
            hang->ranks[r].state = HANG_NO_DUMP;
        else if (job->dumps[dump].worth == DUMP_IS_OLD)
            hang->ranks[r].state = HANG_OLD_DUMP;
        else if (job->dumps[dump].worth == DUMP_IS_OVERWRITTEN)
            hang->ranks[r].state = HANG_OVERWRITTEN;
        else
            hang->ranks[r].dump = dump;
    }
    return true;
}

bool hang_find(struct hang *hang, struct fr_job *job, const struct stopper *stopper,
               struct failure *failure)
{
    *hang = (struct hang){.job = job};
    return hang_old_find(job, stopper, failure) && make_ranks(hang, failure) &&
           hang_meetings_find(hang, stopper, failure) &&
           hang_differs_find(hang, stopper, failure) && hang_states_find(hang, stopper, failure) &&
           hang_roots_find(hang, stopper, failure) && hang_findings_find(hang, stopper, failure);
}

void hang_clear(struct hang *hang)
{
    for (size_t i = 0; i < hang->meeting_count; i++)
        memory_free(hang->meetings[i].entries);
    for (size_t i = 0; i < hang->finding_count; i++)
        memory_free(hang->findings[i].ranks);
    memory_free(hang->ranks);
    memory_free(hang->waits);
    memory_free(hang->meetings);
    table_clear(&hang->meeting_table);
    memory_free(hang->set_first);
    memory_free(hang->in_sets);
    memory_free(hang->set_root);
    memory_free(hang->set_row);
    memory_free(hang->roots);
    memory_free(hang->root_sets);
    memory_free(hang->findings);
    memset(hang, 0, sizeof *hang);
}
