#include "read_again.h"

#include "base/memory.h"
#include "reader/event_values.h"

/* Takes the facts of an event. `*row` is the first row that may be its own. */
static void take_event(const struct trace_file *file, const struct event *event, size_t *row,
                       struct read_again *again)
{
    const struct columns *columns = &file->columns;
    if (event->phase == 'i' && scan_equal(&event->field[EVENT_NAME], "Record Window End")) {
        const struct token *ts = &event->field[EVENT_TS];
        int64_t at = number_nanoseconds(ts->at, ts->length);
        if (at != NUMBER_NONE && !__builtin_add_overflow(at, file->base, &at))
            again->window_end = at;
    }
    while (*row < columns->count && columns->event[*row] < event->position)
        ++*row;
    if (*row < columns->count && columns->event[*row] == event->position &&
        columns->kind[*row] == KIND_WORK)
        again->contexts[*row] = event_integer(event, "context");
}

bool read_again(struct loading *loading, struct read_again *again)
{
    const struct trace_file *file = loading->file;
    const bool wanted[256] = {['i'] = true, ['X'] = true, ['B'] = true};
    struct document_options options = {.wanted = wanted,
                                       .stopper = *loading->stopper,
                                       .by_zlib = file->by_zlib,
                                       .no_memo = true,
                                       .idle = loading->idle};
    struct event event;
    size_t row = 0;
    int result = 0;
    if (again->done)
        return true;
    again->done = true;
    again->window_end = NUMBER_NONE;
    if (file->source)
        return true;
    again->contexts = memory_items(file->columns.count, sizeof *again->contexts);
    if (!again->contexts)
        return failure_memory(loading->failure);
    for (size_t i = 0; i < file->columns.count; i++)
        again->contexts[i] = NUMBER_NONE;
    options.stopper.read = NULL; /* progress was reported the first time */
    struct document *document = document_open(file->path, &options, loading->failure);
    while (document && (result = document_next(document, &event, loading->failure)) > 0)
        take_event(file, &event, &row, again);
    bool same = document && source_same(document_identity(document), &file->identity);
    document_close(document);
    return document && result == 0 && (same || file_changed(file, loading->failure));
}
