#include "hang_differs.h"

#include "base/hash.h"
#include "base/memory.h"
#include "hang_meetings.h"
#include "text/ascii.h"

/* True if an op's name starts with a text, after an optional underscore. */
static bool op_begins(const struct hang *hang, uint32_t entry, const char *with)
{
    const struct fr_job *job = hang->job;
    const struct name *op = fr_text(job, fr_op_of(job, hang_entry(hang, entry))->op);
    const char *p = op->text, *end = op->text + op->length;
    return begins(p + (p < end && *p == '_'), end, with);
}

static bool is_all_to_all(const struct hang *hang, uint32_t entry)
{
    return op_begins(hang, entry, "all_to_all") || op_begins(hang, entry, "alltoall");
}

static bool counts_outputs(const struct hang *hang, uint32_t entry)
{
    return op_begins(hang, entry, "scatter") ||
           fr_op_of(hang->job, hang_entry(hang, entry))->op == FR_RECV;
}

int64_t call_elements(const struct hang *hang, uint32_t entry, struct failure *failure)
{
    struct hang_parts parts = {NULL, 0, 0};
    uint64_t sum = 0;
    if (hang_parts_find(hang, entry, &parts, failure))
        for (size_t i = 0; i < parts.count; i++) {
            const struct fr_entry *part = hang_entry(hang, parts.items[i]);
            sum += (uint64_t)fr_elements(hang->job, counts_outputs(hang, parts.items[i])
                                                        ? part->output_sizes
                                                        : part->input_sizes);
        }
    memory_free(parts.items);
    return (int64_t)sum;
}

uint32_t call_types(const struct hang *hang, uint32_t entry)
{
    const struct fr_entry *call = hang_entry(hang, entry);
    return counts_outputs(hang, entry) ? call->output_types : call->input_types;
}

/* Hashes the ops or the types of the parts of a call. */
static uint64_t parts_hash(const struct hang *hang, uint32_t entry, bool of_types,
                           struct failure *failure)
{
    struct hang_parts parts = {NULL, 0, 0};
    uint64_t hash = hash_key();
    if (hang_parts_find(hang, entry, &parts, failure))
        for (size_t i = 0; i < parts.count; i++)
            hash = hash_with(hash, of_types ? call_types(hang, parts.items[i])
                                            : fr_op_of(hang->job,
                                                       hang_entry(hang, parts.items[i]))->op);
    memory_free(parts.items);
    return hash;
}

/* Returns a key that is equal for calls that agree. */
static uint64_t call_key(const struct hang *hang, enum call_differs differs, uint32_t entry,
                         struct failure *failure)
{
    switch (differs) {
    case CALLS_DIFFER_IN_OP:
        return parts_hash(hang, entry, false, failure);
    case CALLS_DIFFER_IN_SIZE:
        return is_all_to_all(hang, entry) ? 0 : (uint64_t)call_elements(hang, entry, failure);
    case CALLS_DIFFER_IN_TYPE:
        return parts_hash(hang, entry, true, failure);
    default:
        return 0;
    }
}

bool call_agrees(const struct hang *hang, enum call_differs differs, uint32_t a, uint32_t b,
                 struct failure *failure)
{
    return call_key(hang, differs, a, failure) == call_key(hang, differs, b, failure);
}

void call_sums(const struct hang *hang, const struct hang_meeting *meeting, int64_t *inputs,
               int64_t *outputs)
{
    uint64_t in = 0, out = 0;
    for (size_t i = 0; i < hang->job->groups[meeting->group].count; i++) {
        const struct fr_entry *entry = hang_entry(hang, meeting->entries[i]);
        in += (uint64_t)fr_elements(hang->job, entry->input_sizes);
        out += (uint64_t)fr_elements(hang->job, entry->output_sizes);
    }
    *inputs = (int64_t)in;
    *outputs = (int64_t)out;
}

/* True if the dump's format is 2.4 or later. Earlier ones have wrong sizes for all_to_all
** (FR13.1). */
static bool has_sizes(const struct hang *hang, uint32_t entry)
{
    enum { MINOR = 4 };
    const struct fr_job *job = hang->job;
    const char *p = fr_text(job, job->dumps[hang_entry(hang, entry)->dump].version)->text;
    int numbers[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        for (; is_digit((unsigned char)*p) && numbers[i] < 10000; p++)
            numbers[i] = 10 * numbers[i] + (*p - '0');
        p += *p == '.';
    }
    return numbers[0] > 2 || (numbers[0] == 2 && numbers[1] >= MINOR);
}

/* FR13.1: compares all inputs of an all_to_all with all outputs. */
static bool sums_differ(const struct hang *hang, const struct hang_meeting *meeting)
{
    int64_t inputs, outputs;
    size_t count = hang->job->groups[meeting->group].count;
    for (size_t i = 0; i < count; i++)
        if (meeting->entries[i] == FR_NONE || !is_all_to_all(hang, meeting->entries[i]) ||
            !has_sizes(hang, meeting->entries[i]))
            return false;
    call_sums(hang, meeting, &inputs, &outputs);
    return inputs != outputs;
}

/* A call, and the number of calls that agree with it. */
struct call_vote {
    uint64_t key;
    uint32_t entry;
    size_t count;
};

/* Finds the first difference between the calls, and the majority of all members (FR13). */
static bool compare(struct hang *hang, struct hang_meeting *meeting, struct failure *failure)
{
    const struct fr_group *group = &hang->job->groups[meeting->group];
    struct call_vote *votes = memory_items(group->count, sizeof *votes);
    if (!votes)
        return failure_memory(failure);
    for (enum call_differs differs = CALLS_DIFFER_IN_OP;
         differs <= CALLS_DIFFER_IN_TYPE && meeting->differs == CALLS_AGREE; differs++) {
        size_t count = 0;
        for (size_t i = 0; i < group->count; i++) {
            uint32_t entry = meeting->entries[i];
            if (entry == FR_NONE)
                continue;
            uint64_t key = call_key(hang, differs, entry, failure);
            size_t vote = 0;
            while (vote < count && votes[vote].key != key)
                vote++;
            if (vote == count)
                votes[count++] = (struct call_vote){key, entry, 0};
            votes[vote].count++;
        }
        meeting->differs = count > 1 ? differs : CALLS_AGREE;
        for (size_t vote = 0; vote < count && count > 1; vote++)
            if (2 * votes[vote].count > group->count && group->known)
                meeting->agreed = votes[vote].entry;
    }
    memory_free(votes);
    if (meeting->differs == CALLS_AGREE && sums_differ(hang, meeting))
        meeting->differs = CALLS_DIFFER_IN_SUMS;
    return failure->code == FAILURE_NONE;
}

bool hang_differs_find(struct hang *hang, const struct stopper *stopper, struct failure *failure)
{
    for (size_t i = 0; i < hang->meeting_count; i++)
        if (!compare(hang, &hang->meetings[i], failure) || !stopper_ask(stopper, failure))
            return false;
    return true;
}
