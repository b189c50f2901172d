#include "fr_job.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

uint32_t fr_place(const struct fr_job *job, const struct fr_entry *entry)
{
    const struct name *frames = &job->lists.items[entry->frames];
    for (size_t at = 0; at < frames->length; at += sizeof(uint32_t)) {
        uint32_t frame;
        memcpy(&frame, frames->text + at, sizeof frame);
        if (!job->frames[frame].is_torch)
            return job->frames[frame].brief;
    }
    return NAME_NONE;
}

/* Sizes list, for each tensor, the number of dimensions and the dimensions. */
int64_t fr_elements(const struct fr_job *job, uint32_t sizes)
{
    const struct name *list = &job->sizes.items[sizes];
    uint64_t sum = 0, elements = 0;
    int64_t dimensions = 0, value;
    for (size_t at = 0; at < list->length; at += sizeof value) {
        memcpy(&value, list->text + at, sizeof value);
        if (dimensions == 0) {
            sum += elements;
            dimensions = value;
            elements = 1; /* also for a scalar */
        } else {
            elements *= (uint64_t)value;
            dimensions--;
        }
    }
    return (int64_t)(sum + elements);
}

size_t fr_place_in(const struct fr_group *group, int64_t rank)
{
    size_t i = 0;
    LOWER_BOUND(i, group->count, group->ranks[i] < rank);
    return i < group->count && group->ranks[i] == rank ? i : SIZE_MAX;
}

size_t fr_rank_index(const struct fr_job *job, int64_t rank)
{
    size_t i = 0;
    LOWER_BOUND(i, job->rank_count, job->ranks[i] < rank);
    return i < job->rank_count && job->ranks[i] == rank ? i : SIZE_MAX;
}

void fr_job_clear(struct fr_job *job)
{
    for (size_t i = 0; i < job->dump_count; i++) {
        memory_free(job->dumps[i].file);
        memory_free(job->dumps[i].problem);
    }
    for (size_t i = 0; i < job->group_count; i++) {
        memory_free(job->groups[i].ranks);
        memory_free(job->groups[i].members);
    }
    names_clear(&job->texts);
    names_clear(&job->sizes);
    names_clear(&job->lists);
    memory_free(job->ops);
    memory_free(job->op_of_text);
    memory_free(job->frames);
    memory_free(job->entries);
    memory_free(job->members);
    memory_free(job->statuses);
    memory_free(job->dumps);
    memory_free(job->groups);
    memory_free(job->ranks);
    memory_free(job->dump_of);
    memset(job, 0, sizeof *job);
}
