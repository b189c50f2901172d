/*
** fr_groups: the members of the process groups of a job.
*/
#include "call_job.h"

static const struct table_column columns_of_groups[] = {
    {"name", "TEXT", "name of the group, usually a number"},
    {"description", "TEXT", "purpose of the group, such as TENSOR_MODEL_PARALLEL_GROUP"},
    {"ranks", "TEXT", "JSON array of its ranks"},
    {"members_known", "INTEGER",
     "1 if ranks has all members; 0 if it has only the ranks that called something in the group"},
    {"rank", "INTEGER", "a rank of the group"},
    {"dump", "INTEGER", "1 if a dump of the rank is used, else 0"},
    {"last_called_seq", "INTEGER", "number of the last collective that the rank called"},
    {"last_completed_seq", "INTEGER", "number of the last collective that the rank completed"},
    {"pending", "INTEGER", "calls that are not completed; a batch counts once"},
    {"p2p", "INTEGER",
     "1 if the group also sends and receives, so that pg_status is not used; else 0"},
};

static const struct argument arguments_of_groups[] = {DUMPS_ARGUMENTS};

static void write_list(struct writer *text, const struct fr_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        write_string(text, i ? ", " : "[");
        write_integer(text, group->ranks[i]);
    }
    write_string(text, group->count ? "]" : "[]");
}

static void add_groups(struct result *result, const struct fr_job *job)
{
    for (size_t g = 0; g < job->group_count; g++) {
        const struct fr_group *group = &job->groups[g];
        struct writer ranks = {0};
        write_list(&ranks, group);
        for (size_t place = 0; place < group->count; place++) {
            uint32_t index = group->members[place];
            const struct fr_member *member = index == FR_NONE ? NULL : &job->members[index];
            size_t rank = fr_rank_index(job, group->ranks[place]);
            result_job_text(result, job, group->name);
            result_job_text(result, job, group->description);
            if (ranks.failed)
                result_lost(result);
            else
                result_text(result, ranks.bytes, ranks.length);
            result_integer(result, group->known);
            result_integer(result, group->ranks[place]);
            result_integer(result, job->dump_of[rank] != FR_NONE);
            result_number(result, member ? member->called : NUMBER_NONE);
            result_number(result, member ? member->completed : NUMBER_NONE);
            result_integer(result, member ? member->pending : 0);
            result_integer(result, group->is_p2p);
        }
        writer_clear(&ranks);
    }
}

static int groups_produce(struct call *call, struct rows **rows)
{
    return call_job_rows(call, rows, add_groups);
}

const struct table_function fr_groups_function = {
    .name = "fr_groups",
    .family = FAMILY_RANKS_AND_THE_JOB,
    .question = "How far did each rank of a process group come?",
    .text =
        "the members of a job's process groups, from the dumps of its ranks, one row per group and "
        "rank",
    COLUMNS(columns_of_groups),
    ARGUMENTS(arguments_of_groups),
    .produce = groups_produce,
};
