#include "copies.h"

#include "linking/captured.h"

/* Whether nine tenths of the launches of a file are in captures. */
static bool is_of_captures(struct trace_file *file, bool *is, const struct stopper *stopper,
                           struct failure *failure)
{
    *is = false;
    if (!file->loaded)
        return true;
    if (!launches_count(file, stopper, failure))
        return false;
    int64_t launches = file->launches, captured = file->captured;
    *is = captured > 0 && captured >= launches - launches / 10;
    return true;
}

bool copies_find(struct trace *trace, const struct stopper *stopper, struct failure *failure)
{
    size_t originals = 0, of_one_rank = 0;
    for (size_t i = 0; i < trace->count && trace->count > 1; i++) {
        struct trace_member *member = &trace->members[i];
        bool captures = false;
        member->copy = COPY_NONE;
        if (!member->is_trace)
            continue;
        if (!is_of_captures(member->file, &captures, stopper, failure))
            return false;
        if (captures)
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
    return true;
}
