#include "held.h"

#include <string.h>

#include "source/decoder.h"
#include "base/memory.h"

enum { BLOCK_ROWS = 64, LONGEST_BLOCK = 32 << 20, LONGEST_PACKED = 1 << 20 /* bytes */ };

struct held_block {
    unsigned char *bytes; /* owned; NULL: not held */
    size_t length;        /* of the records */
    size_t packed;        /* compressed bytes; 0: uncompressed */
};

struct held_file {
    const struct trace_file *file; /* borrowed */
    struct held_block *blocks;     /* owned; NULL: left earlier, but not held */
    size_t count;                  /* of the blocks */
};

/* A row in a block, followed by its args. */
struct record {
    int64_t byte;
    uint32_t length; /* 0 unless the args are an object or an array */
    enum token_kind kind;
};

static struct held_file *find_file(const struct held *held, const struct trace_file *file)
{
    for (size_t i = 0; i < held->count; i++)
        if (held->files[i].file == file)
            return &held->files[i];
    return NULL;
}

void held_leave(struct held *held, const struct trace_file *file)
{
    if (!find_file(held, file) && MEMORY_GROW(held->files, held->capacity, held->count + 1))
        held->files[held->count++] = (struct held_file){.file = file};
}

bool held_begin(struct held *held, const struct trace_file *file)
{
    struct held_file *of = find_file(held, file);
    if (!of || of->blocks)
        return false;
    of->count = (file->columns.count + BLOCK_ROWS - 1) / BLOCK_ROWS;
    of->blocks = memory_zeroed(of->count, sizeof *of->blocks);
    held->filling = of;
    return of->blocks != NULL;
}

/* Copies the text into a block, compressed or not. The block stays empty if memory runs out.
** False if there is no room. */
static bool fill_block(struct held *held, struct held_block *block)
{
    size_t most_plain = held->most_plain ? held->most_plain : HELD_PLAIN;
    size_t most = held->most ? held->most : HELD_MOST, packed = 0, length = held->length;
    unsigned char *bytes = memory_allocate(length);
    if (!bytes)
        return true;
    if (held->memory + length > most_plain && length <= LONGEST_PACKED)
        packed = decoder_pack(held->text, length, bytes, length);
    if (packed == 0)
        memcpy(bytes, held->text, length);
    else
        (void)memory_assign(&bytes, memory_resize(bytes, packed));
    if (held->memory + (packed ? packed : length) > most) {
        memory_free(bytes);
        return false;
    }
    *block = (struct held_block){bytes, length, packed};
    held->memory += packed ? packed : length;
    return true;
}

bool held_add(struct held *held, size_t row, const struct event *event)
{
    const struct token *args = &event->field[EVENT_ARGS];
    struct record record = {.byte = event->byte, .kind = args->kind};
    if (args->kind == TOKEN_NESTED)
        record.length = (uint32_t)args->length;
    size_t length = held->length + sizeof record + record.length;
    held->lost = held->lost || length > LONGEST_BLOCK ||
                 !MEMORY_GROW(held->text, held->text_capacity, length);
    if (!held->lost) {
        memcpy(held->text + held->length, &record, sizeof record);
        if (record.length > 0)
            memcpy(held->text + held->length + sizeof record, args->at, record.length);
        held->length = length;
    }
    bool last = row + 1 == held->filling->file->columns.count;
    if (!last && (row + 1) % BLOCK_ROWS != 0)
        return true;
    bool room = held->lost || fill_block(held, &held->filling->blocks[row / BLOCK_ROWS]);
    held->length = 0;
    held->lost = false;
    return room;
}

/* Decompresses a block; false if memory runs out. */
static bool unpack(struct held *held, const struct held_block *block, struct held_unpacked *to)
{
    const struct decoder *decoder = decoder_fastest();
    to->block = NULL;
    if (!held->decoder)
        held->decoder = decoder->open();
    if (!held->decoder || !MEMORY_GROW(to->text, to->capacity, block->length))
        return false;
    decoder->reset(held->decoder);
    struct decoder_buffers buffers = {block->bytes, block->packed, to->text, block->length};
    if (decoder->read(held->decoder, &buffers) == DECODED_NO_MEMORY || buffers.out_left > 0)
        return false;
    to->block = block;
    return true;
}

/* The records of a block; NULL if memory runs out. */
static const unsigned char *records_of(struct held *held, const struct held_block *block)
{
    if (block->packed == 0)
        return block->bytes;
    for (size_t i = 0; i < HELD_UNPACKED; i++)
        if (held->unpacked[i].block == block)
            return held->unpacked[i].text;
    struct held_unpacked *to = &held->unpacked[held->next_unpacked++ % HELD_UNPACKED];
    return unpack(held, block, to) ? to->text : NULL;
}

bool held_find(struct held *held, const struct trace_file *file, size_t row, struct event *event)
{
    const struct held_file *of = find_file(held, file);
    const struct held_block *block = of && of->blocks ? &of->blocks[row / BLOCK_ROWS] : NULL;
    const unsigned char *at = block && block->bytes ? records_of(held, block) : NULL;
    struct record record;
    if (!at)
        return false;
    memcpy(&record, at, sizeof record);
    for (size_t i = row % BLOCK_ROWS; i > 0; i--) {
        at += sizeof record + record.length;
        memcpy(&record, at, sizeof record);
    }
    event->byte = record.byte;
    event->field[EVENT_ARGS] = (struct token){at + sizeof record, record.length, record.kind};
    return true;
}

void held_clear(struct held *held)
{
    for (size_t i = 0; i < held->count; i++) {
        struct held_file *of = &held->files[i];
        for (size_t b = 0; of->blocks && b < of->count; b++)
            memory_free(of->blocks[b].bytes);
        memory_free(of->blocks);
    }
    if (held->decoder)
        decoder_fastest()->close(held->decoder);
    for (size_t i = 0; i < HELD_UNPACKED; i++)
        memory_free(held->unpacked[i].text);
    memory_free(held->files);
    memory_free(held->text);
    memset(held, 0, sizeof *held);
}
