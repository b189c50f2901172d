#include "labels.h"

#include <string.h>

#include "../reader/memory.h"
#include "../trace/python_frame.h"
#include "../trace/steps.h"

enum among {
    AMONG_ALL,
    AMONG_EVENTS,
    AMONG_OPERATORS,
    AMONG_MODULES,
    AMONG_ANNOTATIONS,
    AMONG_FRAMES,
    AMONG_OTHERS
};

/* The lines of a thread: what it is in, then those that labels are taken from. */
enum {
    LINE_INSIDE,
    LINE_INNER_OPERATOR,
    LINE_INNER_EVENT,
    LINE_OUTER_OPERATOR,
    LINE_OUTER_EVENT,
    LINE_MODULE,
    LINE_ANNOTATION,
    LINE_FRAME,
    LINE_OTHER,
    LINES
};

static const struct {
    enum among among;
    bool outermost;
} kinds_of_lines[LINES] = {[LINE_INSIDE] = {AMONG_ALL, false},
                           [LINE_INNER_OPERATOR] = {AMONG_OPERATORS, false},
                           [LINE_INNER_EVENT] = {AMONG_EVENTS, false},
                           [LINE_OUTER_OPERATOR] = {AMONG_OPERATORS, true},
                           [LINE_OUTER_EVENT] = {AMONG_EVENTS, true},
                           [LINE_MODULE] = {AMONG_MODULES, false},
                           [LINE_ANNOTATION] = {AMONG_ANNOTATIONS, false},
                           [LINE_FRAME] = {AMONG_FRAMES, false},
                           [LINE_OTHER] = {AMONG_OTHERS, false}};

/* A11.4: the lines of each level, best first; ended by LINE_INSIDE. */
static const unsigned char lines_of_levels[LABEL_LEVELS][4] = {
    [LEVEL_OP] = {LINE_INNER_OPERATOR, LINE_INNER_EVENT},
    [LEVEL_TOP_OP] = {LINE_OUTER_OPERATOR, LINE_OUTER_EVENT},
    [LEVEL_MODULE] = {LINE_MODULE, LINE_OUTER_OPERATOR, LINE_OUTER_EVENT},
    [LEVEL_ANNOTATION] = {LINE_ANNOTATION}};

/* The innermost or the outermost of some events of a thread, at each instant. */
struct label_line {
    bool wanted;
    struct span_line line;
    size_t next;
    uint32_t now; /* the current event, while lines are joined */
};

struct label_builder {
    const struct trace_file *file;
    const struct steps *steps;
    const struct stopper *stopper;
    struct failure *failure;
    struct spans spans;
    struct span_line step_line; /* if gaps are wanted */
    unsigned levels;            /* wanted */
    struct label_line lines[LINES];
    enum among among;         /* of the current line */
    unsigned char *own;       /* by name: 1 if it is a frame of the user's code, 2 if not; 0: not asked */
    size_t change_capacity;   /* of each line */
    const struct span **open; /* room for as many */
};

/* Selects the rows that take part. */
struct label_rows {
    const struct trace_file *file;
    const struct steps *steps[2]; /* the steps, and those of the profiler */
    size_t next[2];               /* index of the next step of each */
    const bool *wanted;           /* by track */
};

/* A11.1. */
static bool takes_part(void *argument, size_t row)
{
    struct label_rows *part = argument;
    const struct trace_file *file = part->file;
    const struct columns *columns = &file->columns;
    bool is_step = false;
    for (int i = 0; i < 2; i++) {
        const struct steps *steps = part->steps[i];
        size_t *next = &part->next[i];
        *next = row == 0 ? 0 : *next;
        if (*next < steps->count && steps->items[*next].row == row) {
            ++*next;
            is_step = true;
        }
    }
    return !is_step && part->wanted[row_place(columns, row)->track] &&
           columns->ts[row] != NUMBER_NONE && columns->dur[row] > 0 &&
           !kind_is_device(columns->kind[row]) && row_counts(columns, row);
}

/* Whether a row is a Python frame of the user's code. */
static bool is_own_frame(const struct label_builder *builder, uint32_t row)
{
    const char *function;
    size_t length;
    uint32_t id = builder->file->columns.name[row];
    const struct name *name = &builder->file->names.items[id];
    if (!label_is_frame(builder->file, row))
        return false;
    if (builder->own[id] == 0)
        builder->own[id] = frame_is_own(name->text, name->length, &function, &length) ? 1 : 2;
    return builder->own[id] == 1;
}

/* Whether a row is among the events of the builder's current line. */
static bool is_among(const void *argument, uint32_t row)
{
    const struct label_builder *builder = argument;
    const struct trace_file *file = builder->file;
    enum among among = builder->among;
    const struct columns *columns = &file->columns;
    enum kind kind = columns->kind[row];
    if (among == AMONG_ALL)
        return true;
    if (among == AMONG_OTHERS)
        return !label_is_frame(file, row);
    if (kind == KIND_CALL || kind == KIND_DRIVER_CALL)
        return false;
    if (among == AMONG_OPERATORS)
        return row_is(file, row, CATEGORY_OPERATOR);
    if (among == AMONG_ANNOTATIONS)
        return row_is(file, row, CATEGORY_USER_ANNOTATION);
    if (among == AMONG_FRAMES)
        return is_own_frame(builder, row);
    const struct name *name = &file->names.items[columns->name[row]];
    return among == AMONG_EVENTS || label_is_module(name);
}

/* Spans are sorted from outer to inner, so an event is the outermost for the part of its time
** after the end of all earlier ones. */
static bool find_outermost(const struct label_builder *builder, struct span_line *line,
                           const struct span *spans, size_t count)
{
    int64_t reach = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        if (!stopper_goes_on(builder->stopper, i, builder->failure))
            return false;
        if (span_end(&spans[i]) <= reach || !is_among(builder, spans[i].row))
            continue;
        if (reach != INT64_MIN)
            span_line_add(line, reach, ROW_NONE);
        span_line_add(line, spans[i].start > reach ? spans[i].start : reach, spans[i].row);
        reach = span_end(&spans[i]);
    }
    if (reach != INT64_MIN)
        span_line_add(line, reach, ROW_NONE);
    return true;
}

static bool has_frames(const struct trace_file *file)
{
    return memchr(file->categories, CATEGORY_PYTHON, file->names.count) != NULL;
}

static void choose_lines(struct label_builder *builder)
{
    builder->lines[LINE_INSIDE].wanted = true;
    if (builder->levels & LABEL_FRAMES && has_frames(builder->file))
        builder->lines[LINE_FRAME].wanted = builder->lines[LINE_OTHER].wanted = true;
    for (int level = 0; level < LABEL_LEVELS; level++)
        if (builder->levels >> level & 1)
            for (const unsigned char *line = lines_of_levels[level]; *line; line++)
                builder->lines[*line].wanted = true;
}

/* Makes room for the changes of a thread with `count` spans. */
static bool make_room(struct label_builder *builder, size_t count)
{
    size_t needed = 2 * count + 1;
    if (needed <= builder->change_capacity)
        return true;
    builder->change_capacity = 0;
    if (!memory_assign(&builder->open,
                       memory_resize(builder->open, needed * sizeof *builder->open)))
        return failure_memory(builder->failure);
    for (int i = 0; i < LINES; i++) {
        struct span_change **items = &builder->lines[i].line.items;
        if (builder->lines[i].wanted &&
            !memory_assign(items, memory_resize(*items, needed * sizeof **items)))
            return failure_memory(builder->failure);
    }
    builder->change_capacity = needed;
    return true;
}

static uint32_t inside_of(const struct columns *columns, uint32_t row)
{
    if (row == ROW_NONE)
        return IN_NOTHING;
    enum kind kind = columns->kind[row];
    return kind == KIND_CALL || kind == KIND_DRIVER_CALL ? row : IN_EVENT;
}

/* A11.3 and A11.4: the stretch that begins at an instant, from the current events of the lines. */
static struct label_stretch stretch_at(const struct label_builder *builder, int64_t start)
{
    struct label_stretch stretch = {
        start, inside_of(&builder->file->columns, builder->lines[LINE_INSIDE].now), {0},
        builder->lines[LINE_FRAME].now, builder->lines[LINE_OTHER].now};
    for (int level = 0; level < LABEL_LEVELS; level++) {
        const unsigned char *line = lines_of_levels[level];
        stretch.label[level] = ROW_NONE;
        for (; *line && stretch.label[level] == ROW_NONE && builder->levels >> level & 1; line++)
            stretch.label[level] = builder->lines[*line].now;
    }
    return stretch;
}

/* Joins the lines of a thread into stretches. */
static bool join_lines(struct label_builder *builder, struct thread_labels *thread, size_t spans)
{
    for (int i = 0; i < LINES; i++) {
        builder->lines[i].next = 0;
        builder->lines[i].now = ROW_NONE;
    }
    thread->items = memory_allocate((2 * spans + 2) * sizeof *thread->items);
    if (!thread->items)
        return failure_memory(builder->failure);
    thread->items[0] = stretch_at(builder, INT64_MIN);
    thread->count = 1;
    for (size_t step = 0;; step++) {
        int64_t now = INT64_MAX;
        bool more = false;
        if (!stopper_goes_on(builder->stopper, step, builder->failure))
            return false;
        for (int i = 0; i < LINES; i++) {
            const struct label_line *line = &builder->lines[i];
            if (line->next < line->line.count && line->line.items[line->next].start <= now) {
                now = line->line.items[line->next].start;
                more = true;
            }
        }
        if (!more)
            return true;
        for (int i = 0; i < LINES; i++) {
            struct label_line *line = &builder->lines[i];
            if (line->next < line->line.count && line->line.items[line->next].start == now)
                line->now = line->line.items[line->next++].row;
        }
        struct label_stretch stretch = stretch_at(builder, now);
        const struct label_stretch *last = &thread->items[thread->count - 1];
        if (last->inside != stretch.inside || last->frame != stretch.frame || last->event != stretch.event ||
            memcmp(last->label, stretch.label, sizeof stretch.label) != 0)
            thread->items[thread->count++] = stretch;
    }
}

/* Takes Python frames out of the spans of a thread. Returns how many are left. */
static size_t drop_frames(const struct trace_file *file, struct span *spans, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!label_is_frame(file, spans[i].row))
            spans[kept++] = spans[i];
    return kept;
}

static bool make_thread(struct label_builder *builder, struct thread_labels *thread,
                        struct span *spans, size_t count)
{
    if (!make_room(builder, count))
        return false;
    for (int i = 0; i < LINES; i++) {
        struct label_line *line = &builder->lines[i];
        builder->among = kinds_of_lines[i].among;
        line->line.count = 0;
        if (line->wanted &&
            !(kinds_of_lines[i].outermost
                  ? find_outermost(builder, &line->line, spans, count)
                  : span_line_innermost(&line->line, spans, count, is_among, builder, builder->open,
                                        builder->stopper, builder->failure)))
            return false;
    }
    if (!join_lines(builder, thread, count))
        return false;
    if (builder->levels & LABEL_GAPS &&
        !gaps_make(&thread->gaps, spans, drop_frames(builder->file, spans, count), builder->steps,
                   &builder->step_line, builder->stopper, builder->failure))
        return false;
    (void)memory_assign(&thread->items,
                        memory_resize(thread->items, thread->count * sizeof *thread->items));
    return true;
}

bool labels_make(struct labels *labels, const struct trace_file *file, const struct steps *steps,
                 unsigned levels, const bool *wanted, const struct stopper *stopper,
                 struct failure *failure)
{
    struct label_builder builder = {
        .file = file, .steps = steps, .stopper = stopper, .failure = failure, .levels = levels};
    choose_lines(&builder);
    builder.own = memory_zeroed(file->names.count, sizeof *builder.own);
    *labels = (struct labels){memory_zeroed(file->tracks.count, sizeof *labels->threads),
                              file->tracks.count};
    struct label_rows part = {
        .file = file, .steps = {steps, &file->profiler_steps}, .wanted = wanted};
    bool done = labels->threads && builder.own
                    ? spans_make(&builder.spans, file, takes_part, &part, stopper, failure)
                    : failure_memory(failure);
    if (done && levels & LABEL_GAPS)
        done = steps_line(steps, &builder.step_line, stopper, failure);
    for (size_t track = 0; done && track < labels->count; track++)
        if (wanted[track])
            done = make_thread(&builder, &labels->threads[track],
                               builder.spans.items + builder.spans.first[track],
                               builder.spans.first[track + 1] - builder.spans.first[track]);
    for (int i = 0; i < LINES; i++)
        memory_free(builder.lines[i].line.items);
    memory_free(builder.open);
    memory_free(builder.own);
    memory_free(builder.step_line.items);
    spans_clear(&builder.spans);
    if (!done)
        labels_clear(labels);
    return done;
}

size_t labels_find(struct thread_labels *thread, int64_t instant)
{
    const struct label_stretch *items = thread->items;
    size_t low = thread->hint, high = low + 1, stride = 1;
    if (items[low].start > instant) { /* search backwards, doubling the stride */
        do {
            high = low;
            low = low > stride ? low - stride : 0;
            stride *= 2;
        } while (items[low].start > instant && low > 0);
    } else {
        while (high < thread->count && items[high].start <= instant) {
            low = high;
            high = thread->count - high > stride ? high + stride : thread->count;
            stride *= 2;
        }
    }
    low++;
    LOWER_BOUND(low, high, items[low].start <= instant);
    thread->hint = low - 1;
    return low - 1;
}

void labels_clear(struct labels *labels)
{
    for (size_t i = 0; labels->threads && i < labels->count; i++) {
        memory_free(labels->threads[i].items);
        gaps_clear(&labels->threads[i].gaps);
    }
    memory_free(labels->threads);
    *labels = (struct labels){NULL, 0};
}
