#include "copies.h"

/* Whether 90 % of the launches of a file are in captures. */
static bool is_of_captures(const struct trace_file *file)
{
    const struct file_health *health = &file->health;
    return file->loaded && health->captured > 0 &&
           health->captured >= health->calls - health->calls / 10;
}

void copies_find(struct trace *trace)
{
    size_t originals = 0, of_one_rank = 0;
    for (size_t i = 0; i < trace->count && trace->count > 1; i++) {
        struct trace_member *member = &trace->members[i];
        member->copy = COPY_NONE;
        if (!member->is_trace)
            continue;
        if (is_of_captures(member->file))
            member->copy = COPY_OF_CAPTURE;
        else if (member->file->labels)
            member->copy = COPY_OF_RANKS;
        of_one_rank += member->copy == COPY_NONE;
        originals += member->copy != COPY_OF_CAPTURE;
    }
    for (size_t i = 0; i < trace->count; i++) {
        struct trace_member *member = &trace->members[i];
        if ((member->copy == COPY_OF_RANKS && of_one_rank == 0) ||
            (member->copy == COPY_OF_CAPTURE && originals == 0))
            member->copy = COPY_NONE;
        member->is_trace = member->is_trace && member->copy == COPY_NONE;
    }
}
