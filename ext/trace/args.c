#include "args.h"

#include <string.h>

#include "base/memory.h"
#include "file/row_source.h"
#include "reader/memo.h"
#include "text/mend.h"

/* Ends the reader of a database. */
static void close_rows(struct rows_reader *rows)
{
    if (rows->file)
        rows->file->source->args_close(rows->reader);
    file_release(rows->file);
    *rows = (struct rows_reader){NULL, NULL};
}

/* Closes the file that is open. */
static void close_file(struct args_reader *reader)
{
    document_close(reader->document);
    if (reader->begun)
        reader->file->source->end(reader->begun);
    reader->document = NULL;
    reader->begun = NULL;
}

void args_close(struct args_reader *reader)
{
    for (size_t i = 0; i < ROWS_READERS; i++)
        close_rows(&reader->rows[i]);
    close_file(reader);
    held_clear(&reader->held);
    memory_free(reader->text);
    memset(reader, 0, sizeof *reader);
}

/* Opens the file at its beginning, if it is unchanged since loading. */
static bool open_file(struct args_reader *reader, const struct trace_file *file,
                      const struct stopper *stopper, struct failure *failure)
{
    close_file(reader);
    reader->file = file;
    reader->next = reader->checked = 0;
    if (file->source) {
        reader->begun = file->source->begin(file, stopper, failure);
        return reader->begun;
    }
    reader->options = (struct document_options){
        .wanted = file->phases, .stopper = *stopper, .by_zlib = file->by_zlib};
    reader->document = document_open(file->path, &reader->options, failure);
    if (!reader->document)
        return false;
    return file_same(file, document_identity(reader->document), failure);
}

/* Counts the args of a row as a problem, at most once per row. */
static bool count_problem(struct trace_file *file, size_t row, enum problem problem, int64_t byte,
                          struct failure *failure)
{
    if (!file->args_counted)
        file->args_counted = memory_zeroed(file->columns.count / 8 + 1, 1);
    if (!file->args_counted)
        return failure_memory(failure);
    unsigned char bit = (unsigned char)(1 << row % 8);
    if (!(file->args_counted[row / 8] & bit)) {
        problem_add(&file->problems, problem, byte);
        if (byte < file->problems.first_byte[problem])
            file->problems.first_byte[problem] = byte;
    }
    file->args_counted[row / 8] |= bit;
    return true;
}

/* Copies the args of an event into the reader, and mends them if needed. */
static bool take(struct args_reader *reader, struct trace_file *file, const struct event *event,
                 struct failure *failure)
{
    const struct token *args = &event->field[EVENT_ARGS];
    enum mended mended = MEND_IMPOSSIBLE;
    if (args->kind == TOKEN_NONE)
        return true;
    if (args->kind == TOKEN_NESTED) {
        if (!MEMORY_GROW(reader->text, reader->capacity, args->length * MEND_ROOM + SCAN_PADDING))
            return failure_memory(failure);
        mended = mend_json(args->at, args->length, reader->text, &reader->length);
        memset(reader->text + reader->length, 0, SCAN_PADDING);
    }
    reader->there = mended != MEND_IMPOSSIBLE;
    if (mended == MEND_STRICT)
        return true;
    return count_problem(file, reader->row,
                         mended == MEND_MENDED ? PROBLEM_ARGS_MENDED : PROBLEM_ARGS_LEFT_OUT,
                         event->byte, failure);
}

/* Like read_to(), for a source, which may give many bytes without reading the file. */
static bool read_source(struct args_reader *reader, const struct trace_file *file, int64_t wanted,
                        const struct stopper *stopper, struct event *event, struct failure *failure)
{
    enum { ASKED = 1 << 20 /* bytes */ };
    struct token *args = &event->field[EVENT_ARGS];
    event->byte = 0;
    reader->next = wanted + 1;
    if (!file->source->next(reader->begun, wanted, args, failure))
        return false;
    reader->unasked += args->length;
    if (reader->unasked < ASKED)
        return true;
    reader->unasked = 0;
    return stopper_ask(stopper, failure);
}

/* Reads the open file up to the event of a row. */
static bool read_to(struct args_reader *reader, const struct trace_file *file, size_t row,
                    const struct stopper *stopper, struct event *event, struct failure *failure)
{
    int64_t wanted = file->columns.event[row];
    if (reader->begun)
        return read_source(reader, file, wanted, stopper, event, failure);
    for (event->position = -1; event->position < wanted;) {
        int result = document_next(reader->document, event, failure);
        if (result < 0)
            return false;
        if (result == 0)
            return file_changed(file, failure);
    }
    event_complete(event);
    reader->next = event->position + 1;
    if (document_read_to(reader->document) != reader->checked) {
        if (!document_unchanged(reader->document, failure))
            return false;
        reader->checked = document_read_to(reader->document);
    }
    return event->position == wanted || file_changed(file, failure);
}

/* Reads a file from its beginning and holds the args of its rows. */
static bool hold(struct args_reader *reader, const struct trace_file *file,
                 const struct stopper *stopper, struct failure *failure)
{
    struct event event;
    bool room = true;
    if (!open_file(reader, file, stopper, failure))
        return false;
    for (size_t row = 0; row < file->columns.count && room; row++) {
        if (!read_to(reader, file, row, stopper, &event, failure))
            return false;
        room = held_add(&reader->held, row, &event);
    }
    close_file(reader);
    return true;
}

static bool find(struct args_reader *reader, struct trace_file *file, size_t row,
                 const struct stopper *stopper, struct failure *failure)
{
    struct event event;
    bool held = held_find(&reader->held, file, row, &event);
    bool open = reader->document || reader->begun;
    bool onward = open && reader->file == file && reader->next <= file->columns.event[row];
    reader->found = reader->there = false;
    if (!held && !onward) {
        if (open)
            held_leave(&reader->held, reader->file);
        if (held_begin(&reader->held, file)) {
            if (!hold(reader, file, stopper, failure))
                return false;
            held = held_find(&reader->held, file, row, &event);
        }
        if (!held && !open_file(reader, file, stopper, failure))
            return false;
    }
    if (!held && !read_to(reader, file, row, stopper, &event, failure))
        return false;
    reader->row_file = file;
    reader->row = row;
    reader->found = take(reader, file, &event, failure);
    return reader->found;
}

/* The reader of a file's database. */
static struct rows_reader *rows_of(struct args_reader *reader, struct trace_file *file)
{
    for (size_t i = 0; i < ROWS_READERS; i++) {
        const struct trace_file *other = reader->rows[i].file;
        if (other && strcmp(other->path, file->path) == 0 &&
            source_same(&other->identity, &file->identity))
            return &reader->rows[i];
    }
    struct rows_reader *rows = &reader->rows[reader->next_rows++ % ROWS_READERS];
    close_rows(rows);
    rows->file = file;
    file->references++;
    return rows;
}

/* Like args_read(), for a row of a database. */
static bool read_rows(struct args_reader *reader, struct trace_file *file, size_t row,
                      const struct stopper *stopper, const unsigned char **text, size_t *length,
                      struct failure *failure)
{
    return file->source->args(&rows_of(reader, file)->reader, file, row, stopper, text, length,
                              failure);
}

bool args_read(struct args_reader *reader, struct trace_file *file, size_t row,
               const struct stopper *stopper, const unsigned char **text, size_t *length,
               struct failure *failure)
{
    if (file->source && file->source->args)
        return read_rows(reader, file, row, stopper, text, length, failure);
    bool known = reader->found && reader->row_file == file && reader->row == row;
    if (!known && !find(reader, file, row, stopper, failure)) {
        args_close(reader);
        return false;
    }
    *text = reader->there ? reader->text : NULL;
    *length = reader->length;
    return true;
}
