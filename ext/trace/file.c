#include "file.h"

#include <string.h>

#include "../reader/memory.h"
#include "../reader/text.h"
#include "order.h"
#include "stacks.h"

/* Sets the path and the text shown for it. */
static bool file_name(struct trace_file *file, const char *path, struct failure *failure)
{
    size_t length = strlen(path);
    char *copy = memory_allocate(length + 1), *shown = memory_allocate(3 * length + 1);
    if (!copy || !shown) {
        memory_free(copy);
        memory_free(shown);
        return failure_memory(failure);
    }
    memcpy(copy, path, length + 1);
    shown[text_repair((const unsigned char *)path, length, (unsigned char *)shown)] = 0;
    if (strcmp(shown, path) == 0) {
        memory_free(shown);
        shown = copy;
    }
    file->path = copy;
    file->shown = shown;
    return true;
}

struct trace_file *file_new(const char *path, struct failure *failure)
{
    struct trace_file *file = memory_zeroed(1, sizeof *file);
    if (!file)
        failure_memory(failure);
    if (!file || !file_name(file, path, failure)) {
        memory_free(file);
        return NULL;
    }
    file->references = 1;
    file->rank = -1;
    file->first = file->last = NUMBER_NONE;
    return file;
}

void file_shrink(struct trace_file *file)
{
    columns_clear(&file->columns);
    tracks_clear(&file->tracks);
    stacks_clear(&file->stacks);
    orders_clear(file);
    memory_free(file->args_counted);
    memory_free(file->categories);
    file->args_counted = NULL;
    file->categories = NULL;
    memory_free(file->iterations);
    memory_free(file->steps);
    memory_free(file->annotations);
    file->iterations = NULL;
    file->steps = NULL;
    file->annotations = NULL;
    file->iteration_count = file->step_count = file->annotation_count = 0;
    file->loaded = false;
}

void file_release(struct trace_file *file)
{
    if (!file || --file->references > 0)
        return;
    file_shrink(file);
    if (file->shown != file->path)
        memory_free(file->shown);
    memory_free(file->path);
    memory_free(file->metadata);
    failure_clear(&file->trouble);
    names_clear(&file->names);
    memory_free(file);
}

size_t file_memory(const struct trace_file *file)
{
    return sizeof *file + columns_memory(&file->columns) + names_memory(&file->names) +
           stacks_memory(file) + orders_memory(file) +
           file->names.count * sizeof *file->categories +
           file->annotation_count * sizeof *file->annotations +
           file->tracks.capacity * sizeof *file->tracks.items + file->metadata_length;
}
