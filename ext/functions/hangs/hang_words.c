#include "hang_words.h"

#include "analysis/hang/hang_meetings.h"
#include "base/memory.h"

/* Returns the end of the range of ranks that begins at `i`: three or more consecutive ranks. */
static size_t range_end(const int64_t *ranks, size_t count, size_t i)
{
    enum { FEWEST = 3 };
    size_t end = i + 1;
    while (end < count && ranks[end] == ranks[end - 1] + 1)
        end++;
    return end - i >= FEWEST ? end : i + 1;
}

void write_rank_ranges(struct writer *text, const int64_t *ranks, size_t count, bool cut)
{
    enum { MOST = 6 };
    size_t ranges = 0, written = 0, end;
    for (size_t i = 0; i < count; i = range_end(ranks, count, i))
        ranges++;
    for (size_t i = 0; i < count; i = end) {
        end = range_end(ranks, count, i);
        write_string(text, i > 0 ? ", " : "");
        if (cut && ranges > MOST && written++ == MOST - 1) {
            write_string(text, "... (");
            write_integer(text, (int64_t)count);
            write_string(text, ")");
            return;
        }
        write_integer(text, ranks[i]);
        if (end > i + 1) {
            write_string(text, "-");
            write_integer(text, ranks[end - 1]);
        }
    }
}

void write_ranks_named(struct writer *text, const struct hang *hang, const uint32_t *ranks,
                       size_t count, bool begins)
{
    int64_t *numbers = memory_items(count, sizeof *numbers);
    text->failed = text->failed || !numbers;
    for (size_t i = 0; numbers && i < count; i++)
        numbers[i] = hang->job->ranks[ranks[i]];
    write_string(text, begins ? "Rank" : "rank");
    write_string(text, count == 1 ? " " : "s ");
    if (numbers)
        write_rank_ranges(text, numbers, count, true);
    memory_free(numbers);
}

static void write_name(struct writer *text, const struct name *name)
{
    write_bytes(text, name->text, name->length);
}

/* Writes an op without a leading underscore. */
static void write_plain_op(struct writer *text, const struct fr_job *job, uint32_t op)
{
    const struct name *name = fr_text(job, op);
    size_t from = name->length > 0 && name->text[0] == '_';
    write_bytes(text, name->text + from, name->length - from);
}

/* Writes the different ops of a batch by name. */
static void write_batch(struct writer *text, const struct hang *hang,
                        const struct hang_parts *parts)
{
    enum { MOST = 4 };
    const struct fr_job *job = hang->job;
    const struct name *names[MOST];
    size_t count = 0;
    for (size_t i = 0; i < parts->count && count < MOST; i++) {
        uint32_t op = fr_op_of(job, hang_entry(hang, parts->items[i]))->op;
        const struct name *name = fr_text(job, op);
        size_t at = 0;
        while (at < count && name_compare(names[at], name) < 0)
            at++;
        if (at < count && names[at] == name)
            continue;
        for (size_t k = count++; k > at; k--)
            names[k] = names[k - 1];
        names[at] = name;
    }
    write_string(text, "a batch of ");
    for (size_t i = 0; i < count; i++) {
        write_string(text, i == 0 ? "" : i + 1 == count ? " and " : ", ");
        write_name(text, names[i]);
    }
}

void write_op(struct writer *text, const struct hang *hang, uint32_t entry,
              struct failure *failure)
{
    struct hang_parts parts = {NULL, 0, 0};
    if (hang_parts_find(hang, entry, &parts, failure) && parts.items[0] != entry)
        write_batch(text, hang, &parts);
    else
        write_plain_op(text, hang->job, fr_op_of(hang->job, hang_entry(hang, entry))->op);
    memory_free(parts.items);
}

/* Writes `send 0->1` or `recv 1<-0`: the calling rank comes first. */
static void write_pair(struct writer *text, const struct hang *hang, uint32_t entry, uint32_t op)
{
    const struct fr_op *own = fr_op_of(hang->job, hang_entry(hang, entry));
    const struct fr_group *group = hang_group(hang, entry);
    int64_t ends[2] = {op == FR_SEND ? own->from : own->to, op == FR_SEND ? own->to : own->from};
    write_plain_op(text, hang->job, op);
    if (ends[0] < 0 || ends[1] < 0 || (size_t)ends[0] >= group->count ||
        (size_t)ends[1] >= group->count)
        return;
    write_string(text, " ");
    write_integer(text, group->ranks[ends[0]]);
    write_string(text, op == FR_SEND ? "->" : "<-");
    write_integer(text, group->ranks[ends[1]]);
}

static bool is_pair(const struct hang *hang, uint32_t entry)
{
    uint32_t op = fr_op_of(hang->job, hang_entry(hang, entry))->op;
    return op == FR_SEND || op == FR_RECV;
}

void write_op_and_group(struct writer *text, const struct hang *hang, uint32_t entry,
                        struct failure *failure)
{
    const struct fr_entry *own = hang_entry(hang, entry);
    if (is_pair(hang, entry))
        write_pair(text, hang, entry, fr_op_of(hang->job, own)->op);
    else
        write_op(text, hang, entry, failure);
    if (!own->is_p2p) {
        write_string(text, ", seq ");
        write_integer(text, own->collective_seq);
    }
    write_string(text, ", ");
    write_group(text, hang->job, hang_group(hang, entry));
}

void write_missed_op(struct writer *text, const struct hang *hang, uint32_t entry,
                     struct failure *failure)
{
    if (is_pair(hang, entry))
        write_pair(text, hang, entry,
                   fr_op_of(hang->job, hang_entry(hang, entry))->op == FR_SEND ? FR_RECV : FR_SEND);
    else
        write_op(text, hang, entry, failure);
}

const struct name *hang_group_label(const struct fr_job *job, const struct fr_group *group)
{
    return fr_text(job, group->description == FR_EMPTY ? group->name : group->description);
}

void write_group(struct writer *text, const struct fr_job *job, const struct fr_group *group)
{
    write_name(text, hang_group_label(job, group));
    write_string(text, " [");
    write_rank_ranges(text, group->ranks, group->count, true);
    write_string(text, "]");
}

uint32_t hang_place(const struct hang *hang, size_t rank)
{
    const struct fr_job *job = hang->job;
    const struct hang_rank *own = &hang->ranks[rank];
    uint32_t dump = job->dump_of[rank];
    if (own->head != FR_NONE)
        return fr_place(job, hang_entry(hang, own->head));
    if (dump == FR_NONE || job->dumps[dump].count == 0)
        return NAME_NONE;
    return fr_place(job, &job->entries[job->dumps[dump].first + job->dumps[dump].count - 1]);
}
