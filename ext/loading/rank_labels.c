#include "rank_labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "text/text.h"

size_t rank_label_length(const unsigned char *text, size_t length)
{
    const unsigned char *end = length > 2 && *text == '[' ? memchr(text, ']', length) : NULL;
    return end && end > text + 1 && end + 1 < text + length && end[1] == ' ' &&
                   !memchr(text, 0, (size_t)(end - text))
               ? (size_t)(end + 1 - text)
               : 0;
}

/* The name of a pid, and the length of its label; NULL without a label. */
static const struct name *labelled(const struct trace_file *file, const struct identifier *pid,
                                   size_t *length)
{
    if (pid->kind != IDENTIFIER_TEXT)
        return NULL;
    const struct name *name = &file->names.items[pid->value];
    *length = rank_label_length((const unsigned char *)name->text, name->length);
    return *length > 0 ? name : NULL;
}

static int label_order(const void *a, const void *b)
{
    return text_order(*(char *const *)a, *(char *const *)b);
}

/* Keeps sorted labels in a file, without duplicates. */
static bool keep(struct loading *loading, char *const *labels, size_t count)
{
    struct trace_file *file = loading->file;
    size_t size = 0, parts = 0;
    for (size_t i = 0; i < count; i++)
        size += strlen(labels[i]) + 1;
    file->labels = memory_allocate(size);
    file->parts = memory_zeroed(count, sizeof *file->parts);
    if (!file->labels || !file->parts)
        return failure_memory(loading->failure);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && strcmp(labels[i], labels[i - 1]) == 0)
            continue;
        size_t length = strlen(labels[i]) + 1;
        memcpy(file->labels + file->labels_size, labels[i], length);
        file->labels_size += length;
        file->parts[parts++] = -1;
    }
    file->part_count = parts;
    return true;
}

bool rank_labels_find(struct loading *loading)
{
    struct trace_file *file = loading->file;
    const struct tracks *tracks = &file->tracks;
    char **labels = memory_zeroed(tracks->count, sizeof *labels);
    size_t count = 0, length;
    bool done = labels || failure_memory(loading->failure), several = false;
    for (size_t i = 0; done && i < tracks->count; i++) {
        const struct name *name = labelled(file, &tracks->items[i].pid, &length);
        if (!name)
            continue;
        char *label = labels[count] = memory_zeroed(length - 1, 1);
        done = label || failure_memory(loading->failure);
        if (!label)
            break;
        memcpy(label, name->text + 1, length - 2);
        several = several || strcmp(label, labels[0]) != 0;
        count++;
    }
    if (done && several) {
        qsort(labels, count, sizeof *labels, label_order);
        done = keep(loading, labels, count);
        loading->whole = false;
        file_shrink(file);
        file->first = file->last = NUMBER_NONE;
    }
    for (size_t i = 0; i < count; i++)
        memory_free(labels[i]);
    memory_free(labels);
    return done;
}

bool rank_labels_take(struct loading *loading)
{
    const struct trace_file *from = loading->head;
    struct trace_file *file = loading->file;
    if (!from || !from->labels)
        return true;
    size_t size = from->part_count * sizeof *file->parts;
    if (!memory_assign(&file->labels, memory_allocate(from->labels_size)) ||
        !memory_assign(&file->parts, memory_allocate(size)))
        return failure_memory(loading->failure);
    memcpy(file->labels, from->labels, from->labels_size);
    memcpy(file->parts, from->parts, size);
    file->labels_size = from->labels_size;
    file->part_count = from->part_count;
    return true;
}

bool rank_label_is_read(const struct trace_file *file, const struct identifier *pid)
{
    size_t length = 0;
    const struct name *name = file->labels ? labelled(file, pid, &length) : NULL;
    if (!file->labels)
        return true;
    const char *label = file_label(file, file->part);
    return name ? strlen(label) == length - 2 && memcmp(name->text + 1, label, length - 2) == 0
                : file->part == 0;
}
