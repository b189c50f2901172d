#include "slices.h"

#include "base/memory.h"

static int64_t begin_of(const struct loading *loading, const struct slice_block *block, size_t i)
{
    return loading->file->columns.ts[block->begins[i]];
}

static void pair(struct loading *loading, uint32_t row, int64_t end)
{
    struct trace_file *file = loading->file;
    int64_t dur;
    if (__builtin_sub_overflow(end, file->columns.ts[row], &dur)) {
        problem_add(&file->problems, PROBLEM_TIME, 0);
        return;
    }
    file->columns.dur[row] = dur;
    loading_span(file, end, NUMBER_NONE);
}

/* Whether the slices of a block, paired in order, all have times and end after they begin. */
static bool fits(const struct loading *loading, const struct slice_block *block)
{
    for (size_t i = 0; i < block->begin_count; i++)
        if (begin_of(loading, block, i) == NUMBER_NONE || block->ends[i] == NUMBER_NONE ||
            block->ends[i] < begin_of(loading, block, i))
            return false;
    return true;
}

/* Whether pairing in order would make slices cross, for a block in which time never goes back. */
static bool crosses(const struct loading *loading, const struct slice_block *block)
{
    size_t last = block->begin_count - 1;
    return begin_of(loading, block, last) < block->ends[0] &&
           begin_of(loading, block, 0) < begin_of(loading, block, last) &&
           block->ends[0] < block->ends[last];
}

/* Leaves the edges of a block for rule 1. */
static bool leave(struct loading *loading, const struct slice_block *block, uint32_t lane)
{
    size_t count = block->begin_count + block->end_count;
    if (!MEMORY_GROW(loading->edges, loading->edge_capacity, loading->edge_count + count))
        return failure_memory(loading->failure);
    for (size_t i = 0; i < block->begin_count; i++)
        loading->edges[loading->edge_count++] = (struct edge){.ts = begin_of(loading, block, i),
                                                              .track = lane,
                                                              .name = NAME_NONE,
                                                              .row = block->begins[i]};
    for (size_t i = 0; i < block->end_count; i++)
        loading->edges[loading->edge_count++] =
            (struct edge){.ts = block->ends[i], .track = lane, .name = NAME_NONE, .row = ROW_NONE};
    return true;
}

/* Pairs the slices of a block and empties it. `written_so`: rule 2 holds for its sequence. */
static bool finish(struct loading *loading, struct slice_block *block, uint32_t lane,
                   bool written_so)
{
    size_t count = block->begin_count;
    bool whole = count > 0 && count == block->end_count && !block->mixed && fits(loading, block);
    bool in_order = whole && (block->goes_back || (written_so && !crosses(loading, block)));
    bool done = true;
    if (in_order)
        for (size_t i = 0; i < count; i++)
            pair(loading, block->begins[i], block->ends[i]);
    else /* later packets may fall between these in time */
        done = leave(loading, block, lane);
    block->begin_count = block->end_count = 0;
    block->mixed = block->goes_back = false;
    return done;
}

/* Makes room for a lane's block; NULL if out of memory. */
static struct slice_block *block_of(struct slices *slices, uint32_t lane, struct loading *loading)
{
    size_t before = slices->count;
    if (!MEMORY_GROW(slices->blocks, slices->count, (size_t)lane + 1)) {
        failure_memory(loading->failure);
        return NULL;
    }
    for (size_t i = before; i < slices->count; i++)
        slices->blocks[i] = (struct slice_block){.last = INT64_MIN};
    return &slices->blocks[lane];
}

/* Notes the time of a begin or an end, in file order. */
static void note(struct slice_block *block, struct packets *packets, uint32_t number, int64_t ts)
{
    struct packet_sequence *sequence = &packets->sequences[number];
    bool first = block->begin_count + block->end_count == 0;
    bool back = ts < block->last;
    block->goes_back = block->goes_back || (!first && back);
    block->mixed = block->mixed || (!first && block->sequence != number);
    sequence->goes_back = sequence->goes_back || (back && block->sequence == number);
    block->sequence = number;
    block->last = ts;
}

bool slices_begin(struct slices *slices, uint32_t lane, struct loading *loading,
                  struct packets *packets, const struct packet *packet, int64_t ts)
{
    struct slice_block *block = block_of(slices, lane, loading);
    if (!block || (block->end_count > 0 &&
                   !finish(loading, block, lane, packets->sequences[block->sequence].goes_back)))
        return false;
    if (!MEMORY_GROW(block->begins, block->begin_capacity, block->begin_count + 1))
        return failure_memory(loading->failure);
    note(block, packets, packet->sequence, ts);
    block->begins[block->begin_count++] = (uint32_t)(loading->file->columns.count - 1);
    return true;
}

bool slices_end(struct slices *slices, uint32_t lane, struct loading *loading,
                struct packets *packets, const struct packet *packet, int64_t ts)
{
    struct slice_block *block = block_of(slices, lane, loading);
    if (!block)
        return false;
    if (!MEMORY_GROW(block->ends, block->end_capacity, block->end_count + 1))
        return failure_memory(loading->failure);
    note(block, packets, packet->sequence, ts);
    block->ends[block->end_count++] = ts;
    return true;
}

bool slices_finish(struct slices *slices, struct loading *loading, const struct packets *packets)
{
    for (size_t i = 0; i < slices->count; i++) {
        struct slice_block *block = &slices->blocks[i];
        if (!stopper_goes_on(loading->stopper, i, loading->failure) ||
            (block->begin_count + block->end_count > 0 &&
             !finish(loading, block, (uint32_t)i, packets->sequences[block->sequence].goes_back)))
            return false;
    }
    return true;
}

void slices_clear(struct slices *slices)
{
    for (size_t i = 0; i < slices->count; i++) {
        memory_free(slices->blocks[i].begins);
        memory_free(slices->blocks[i].ends);
    }
    memory_free(slices->blocks);
    *slices = (struct slices){.blocks = NULL};
}
