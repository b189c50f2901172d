#include "hang_lines.h"

#include <string.h>

#include "analysis/hang/hang_meetings.h"
#include "base/memory.h"
#include "text/text.h"

void lines_add(struct hang_lines *lines, const char *kind, const char *code, size_t rank,
               struct writer *words)
{
    const struct fr_job *job = lines->hang->job;
    if (words->failed ||
        !MEMORY_GROW(lines->items, lines->capacity, lines->count + 1)) {
        failure_memory(&lines->failure);
        writer_clear(words);
        return;
    }
    lines->items[lines->count++] =
        (struct hang_line){kind, code, rank == SIZE_MAX ? NUMBER_NONE : job->ranks[rank],
                           words->bytes, text_visible(words->bytes, words->length)};
    *words = (struct writer){.bytes = NULL};
}

void lines_clear(struct hang_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        memory_free(lines->items[i].words);
    memory_free(lines->items);
    failure_clear(&lines->failure);
}

bool hang_timed_out(const struct hang *hang)
{
    for (size_t i = 0; i < hang->job->dump_count; i++)
        if (hang->job->dumps[i].fate == DUMP_IS_USED && hang->job->dumps[i].timed_out > 0)
            return true;
    return false;
}

bool hang_waits(const struct hang *hang)
{
    for (size_t r = 0; r < hang->rank_count; r++)
        if (hang->ranks[r].head != FR_NONE)
            return true;
    return false;
}

const char *finding_code(const struct hang_finding *finding)
{
    static const char *const codes[] = {
        [FOUND_MISMATCH] = "mismatch",       [FOUND_ORDER] = "order",
        [FOUND_DEVICE_STUCK] = "device_stuck", [FOUND_NOT_STARTED] = "not_started",
        [FOUND_NOT_CALLED] = "not_called",   [FOUND_DEADLOCK] = "deadlock",
        [FOUND_GLOO] = "gloo",               [FOUND_ALL_IN] = "all_in",
        [FOUND_MEMBERS] = "members",         [FOUND_UNKNOWN] = "unknown",
        [FOUND_NO_DUMP] = "no_dump"};
    return codes[finding->kind];
}

size_t members_that_are(const struct hang *hang, uint32_t meeting, enum member_is is, bool are,
                        uint32_t *ranks)
{
    const struct fr_group *group = &hang->job->groups[hang->meetings[meeting].group];
    size_t count = 0;
    for (size_t place = 0; place < group->count; place++)
        if ((meeting_member(hang, &hang->meetings[meeting], place) == is) == are)
            ranks[count++] = (uint32_t)hang_rank_at(hang, group, place);
    return count;
}
