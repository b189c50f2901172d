#include "host_waits.h"

#include "loading/host_collective.h"

bool host_waits_make(struct host_waits *waits, const struct trace_file *file,
                     const struct steps *steps, const bool *wanted, const struct stopper *stopper,
                     struct failure *failure)
{
    *waits = (struct host_waits){.file = file};
    return labels_make(&waits->labels, file, steps, 1u << LEVEL_OP, wanted, NULL, stopper, failure);
}

/* Returns whether a thread may wait during a stretch. Autograd's operators run hooks that may. */
static bool may_wait(const struct trace_file *file, const struct label_stretch *stretch)
{
    uint32_t row = stretch->label[LEVEL_OP];
    if (stretch->inside != IN_EVENT || !row_is(file, row, CATEGORY_OPERATOR))
        return stretch->inside == IN_EVENT || stretch->inside == IN_NOTHING;
    const struct name *name = &file->names.items[file->columns.name[row]];
    const char *end = name->text + name->length;
    return begins(name->text, end, "c10d") || begins(name->text, end, "_c10d") ||
           begins(name->text, end, "autograd::engine::") ||
           host_collective_named(name) != HOST_NONE;
}

bool host_waits_find(struct host_waits *waits, uint32_t track, int64_t *from, int64_t *to)
{
    struct thread_labels *thread = &waits->labels.threads[track];
    (void)labels_at(thread, *from);
    size_t i = thread->hint;
    while (i < thread->count && thread->items[i].start < *to &&
           !may_wait(waits->file, &thread->items[i]))
        i++;
    if (i == thread->count || thread->items[i].start >= *to)
        return false;
    *from = thread->items[i].start > *from ? thread->items[i].start : *from;
    while (i < thread->count && thread->items[i].start < *to &&
           may_wait(waits->file, &thread->items[i]))
        i++;
    *to = i < thread->count && thread->items[i].start < *to ? thread->items[i].start : *to;
    return true;
}

void host_waits_clear(struct host_waits *waits)
{
    labels_clear(&waits->labels);
}
