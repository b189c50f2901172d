#include "ranges.h"

#include <string.h>

#include "base/memory.h"

bool ranges_note(struct ranges *ranges, struct database_read *read, int word)
{
    if (word == NVTX_NO_WORD)
        return true;
    if (!MEMORY_GROW(ranges->items, ranges->capacity, ranges->count + 1))
        return failure_memory(read->failure);
    ranges->items[ranges->count++] = (struct range){(uint32_t)read->file->columns.count, word};
    return true;
}

/* Turns a row into ProfilerStep#N, a user_annotation. */
static bool name_step(struct database_read *read, uint32_t row)
{
    static const char annotation[] = "user_annotation";
    struct columns *columns = &read->file->columns;
    const struct name *name = &read->file->names.items[columns->name[row]];
    struct place place = *row_place(columns, row);
    int64_t number = 0;
    char text[40];
    nvtx_step((const unsigned char *)name->text, name->length, &number);
    sqlite3_snprintf(sizeof text, text, "ProfilerStep#%lld", (long long)number);
    return database_name(read, text, strlen(text), &columns->name[row]) &&
           database_name(read, annotation, sizeof annotation - 1, &place.cat) &&
           (places_number(&columns->places, &place, &columns->place[row]) ||
            failure_memory(read->failure));
}

bool ranges_name_steps(const struct ranges *ranges, struct database_read *read, int *word)
{
    *word = NVTX_NO_WORD;
    for (size_t i = 0; i < ranges->count; i++)
        if (*word == NVTX_NO_WORD || ranges->items[i].word < *word)
            *word = ranges->items[i].word;
    for (size_t i = 0; i < ranges->count; i++)
        if (ranges->items[i].word == *word && !name_step(read, ranges->items[i].row))
            return false;
    return true;
}

void ranges_clear(struct ranges *ranges)
{
    memory_free(ranges->items);
    *ranges = (struct ranges){.items = NULL};
}

/* Writes sizes without spaces. */
static bool write_sizes(const struct nvtx_text *parts, sqlite3_str *json, struct failure *failure)
{
    char *dense = memory_allocate(parts->sizes_length + 1);
    size_t used = 0;
    if (!dense)
        return failure_memory(failure);
    for (size_t i = 0; i < parts->sizes_length; i++)
        if (parts->sizes[i] != ' ')
            dense[used++] = (char)parts->sizes[i];
    args_raw(json, "Input Dims", dense, used);
    memory_free(dense);
    return true;
}

bool ranges_args(const struct nvtx_text *parts, sqlite3_str *json, struct failure *failure)
{
    args_raw(json, "Record function id", (const char *)parts->op_id, parts->op_id_length);
    args_raw(json, "Sequence number", (const char *)parts->seq, parts->seq_length);
    return !parts->sizes || write_sizes(parts, json, failure);
}
