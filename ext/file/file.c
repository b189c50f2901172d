#include "file.h"

#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "order.h"
#include "row_source.h"
#include "stacks.h"
#include "text/text.h"

static size_t steps_memory(const struct trace_file *file, const struct steps *steps)
{
    return sizeof *steps + (steps->of ? file->columns.count * sizeof *steps->of : 0) +
           steps->count * sizeof *steps->items +
           steps->iteration_count * (sizeof *steps->iterations + sizeof *steps->first);
}

void steps_clear(struct steps *steps)
{
    memory_free(steps->iterations);
    memory_free(steps->first);
    memory_free(steps->items);
    memory_free(steps->of);
    *steps = (struct steps){.by_annotation = false};
}

const char *file_label(const struct trace_file *file, size_t part)
{
    const char *label = file->labels;
    while (part-- > 0)
        label += strlen(label) + 1;
    return label;
}

bool file_changed(const struct trace_file *file, struct failure *failure)
{
    return failure_set(failure, FAILURE_READ,
                       "'%s' has changed while it was read: run the query again", file->path);
}

bool file_same(const struct trace_file *file, const struct identity *identity,
               struct failure *failure)
{
    return source_same(identity, &file->identity) || file_changed(file, failure);
}

struct trace_file *file_new(const char *path, struct failure *failure)
{
    size_t length = strlen(path);
    static atomic_uint_fast64_t serials;
    struct trace_file *file = memory_zeroed(1, sizeof *file);
    if (file) {
        *file = (struct trace_file){.references = 1,
                                    .serial = atomic_fetch_add(&serials, 1),
                                    .rank = -1,
                                    .part_count = 1,
                                    .first = NUMBER_NONE,
                                    .last = NUMBER_NONE,
                                    .health = {.waits_from = INT64_MAX}};
        file->path = memory_allocate(length + 1);
        file->shown = text_repaired(path, &length);
    }
    if (!file || !file->path || !file->shown) {
        failure_memory(failure);
        file_release(file);
        return NULL;
    }
    strcpy(file->path, path);
    return file;
}

void file_shrink(struct trace_file *file)
{
    columns_clear(&file->columns);
    tracks_clear(&file->tracks);
    stacks_clear(&file->stacks);
    orders_clear(file);
    while (file->derived) {
        struct derived *next = file->derived->next;
        file->derived->free(file->derived);
        file->derived = next;
    }
    memory_free(file->args_counted);
    memory_free(file->categories);
    file->args_counted = NULL;
    file->categories = NULL;
    steps_clear(&file->profiler_steps);
    if (file->known_steps)
        steps_clear(file->known_steps);
    memory_free(file->known_steps);
    memory_free(file->annotations);
    memory_free(file->groups);
    memory_free(file->xla);
    memory_free(file->health.odd);
    memory_free(file->health.launches);
    memory_free(file->health.placed);
    if (file->source && file->source->release)
        file->source->release(file->origin);
    file->origin = NULL;
    file->origin_size = 0;
    file->known_steps = NULL;
    file->annotations = NULL;
    file->annotation_count = 0;
    file->groups = NULL;
    file->group_count = file->group_capacity = 0;
    file->xla = NULL;
    file->xla_count = file->xla_capacity = 0;
    file->health = (struct file_health){.waits_from = INT64_MAX};
    file->loaded = false;
}

bool file_has_phases(const struct trace_file *file, const bool *phases)
{
    for (int c = 0; c < 256; c++) {
        bool wanted = c == 'X' || c == 'B' || (c != 'E' && phases && phases[c]);
        if (file->phases[c] != wanted && !(c == 'b' && file->async))
            return false;
    }
    return true;
}

void file_release(struct trace_file *file)
{
    if (!file || --file->references > 0)
        return;
    file_shrink(file);
    memory_free(file->shown);
    memory_free(file->path);
    memory_free(file->metadata);
    memory_free(file->parts);
    memory_free(file->labels);
    failure_clear(&file->trouble);
    names_clear(&file->names);
    memory_free(file);
}

size_t file_memory(const struct trace_file *file)
{
    size_t derived = 0;
    for (const struct derived *each = file->derived; each; each = each->next)
        derived += each->memory;
    return derived + sizeof *file + columns_memory(&file->columns) + names_memory(&file->names) +
           steps_memory(file, &file->profiler_steps) +
           (file->known_steps ? steps_memory(file, file->known_steps) : 0) + stacks_memory(file) +
           orders_memory(file) + file->names.count * sizeof *file->categories +
           file->annotation_count * sizeof *file->annotations +
           file->group_capacity * sizeof *file->groups +
           file->xla_capacity * sizeof *file->xla +
           file->health.odd_capacity * sizeof *file->health.odd +
           file->health.launch_capacity * sizeof *file->health.launches +
           file->health.placed_capacity * sizeof *file->health.placed +
           file->tracks.capacity * sizeof *file->tracks.items + file->metadata_length +
           file->origin_size + file->labels_size + file->part_count * sizeof *file->parts;
}

bool file_intern(struct trace_file *file, const char *text, size_t length, uint32_t *id,
                 struct failure *failure)
{
    const unsigned char *p = (const unsigned char *)text, *end = p + length;
    bool whole = true;
    while (p < end && whole)
        p += *p < 0x80 ? 1 : text_sequence(p, end, &whole);
    if (whole) {
        *id = names_intern(&file->names, text, length);
    } else {
        char *repaired = text_repaired(text, &length);
        problem_add(&file->problems, PROBLEM_UTF8, 0);
        *id = repaired ? names_intern(&file->names, repaired, length) : NAME_NONE;
        memory_free(repaired);
    }
    return *id != NAME_NONE || failure_memory(failure);
}
