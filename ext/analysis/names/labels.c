#include "labels.h"

#include <string.h>

#include "base/memory.h"
#include "naming/python_frame.h"
#include "shared_labels.h"
#include "steps/steps.h"

/* The lines of a thread: the events that it is in, and the events that give labels. */
enum {
    LINE_INSIDE,
    LINE_INNER_OPERATOR,
    LINE_INNER_EVENT,
    LINE_MODULE,
    LINE_ANNOTATION,
    LINE_FRAME,
    LINE_OTHER,
    LINE_OUTER_OPERATOR, /* outermost events, like the next line; the lines above are innermost */
    LINE_OUTER_EVENT,
    LINES
};

/* An open event, or a future outermost one. */
struct label_event {
    int64_t end;
    uint32_t row;
};

/* The current innermost or outermost event of one kind while a thread is swept. */
struct label_line {
    /* Innermost lines: the open events, the current one last. An outer event that has ended stays
    ** until it becomes the last. Outermost lines: the current event and its successors; each starts
    ** where the one before ends. */
    struct label_event *events;
    size_t first, count, capacity;
};

/* An open event on a thread with nested events, and the current event of each line from its start
** on. */
struct open_event {
    int64_t end;
    uint32_t now[LINES];
};

struct label_builder {
    const struct trace_file *file;
    const struct steps *steps;
    const struct stopper *stopper;
    struct failure *failure;
    struct spans spans;
    struct span_line step_line; /* only if gaps are wanted */
    unsigned levels;            /* the wanted levels */
    unsigned wanted;            /* bits: the wanted lines */
    struct label_line lines[LINES];
    uint32_t now[LINES];        /* by line: row of the current event, or ROW_NONE */
    int64_t end[LINES];         /* its end; INT64_MAX if there is none */
    unsigned char *own; /* by name: 1 is a frame of the user's code, 2 is not, 0 is unknown */
    int64_t next;               /* a lower bound of these ends */
    struct thread_labels *thread;
    struct open_event *open; /* of the current thread, after a sentinel */
    size_t open_capacity;
    struct span *functions; /* of the current thread: Python frames of the user's code */
    size_t function_count, function_capacity;
};

/* The selection of rows that take part. */
struct label_rows {
    const struct trace_file *file;
    const struct steps *steps[2]; /* the steps, and the profiler's steps */
    size_t next[2];               /* index of the next step in each */
    const bool *wanted;           /* by track */
    const bool *unshared;         /* by name; NULL: no name is unshared */
};

/* Whether a row is a step. */
static bool is_step(struct label_rows *part, size_t row)
{
    for (int i = 0; i < 2; i++) {
        const struct steps *steps = part->steps[i];
        size_t *next = &part->next[i];
        while (*next < steps->count && steps->items[*next].row < row)
            ++*next;
        if (*next < steps->count && steps->items[*next].row == row)
            return true;
    }
    return false;
}

/* A11.1: selects the rows that take part. */
static bool takes_part(void *argument, size_t row)
{
    struct label_rows *part = argument;
    const struct columns *columns = &part->file->columns;
    return columns->dur[row] > 0 && columns->ts[row] != NUMBER_NONE &&
           !kind_is_device(columns->kind[row]) && row_counts(columns, row) &&
           part->wanted[row_place(columns, row)->track] && !is_step(part, row) &&
           !label_is_unshared(part->file, part->unshared, row);
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

static bool wants(const struct label_builder *builder, int line)
{
    return builder->wanted >> line & 1;
}

/* Returns the lines that a row belongs to, one bit each. */
static unsigned lines_of_row(const struct label_builder *builder, uint32_t row)
{
    const struct trace_file *file = builder->file;
    enum kind kind = file->columns.kind[row];
    unsigned lines = 1u << LINE_INSIDE;
    if (wants(builder, LINE_OTHER) && !label_is_frame(file, row))
        lines |= 1u << LINE_OTHER;
    if (kind == KIND_CALL || kind == KIND_DRIVER_CALL)
        return lines & builder->wanted;
    lines |= 1u << LINE_INNER_EVENT | 1u << LINE_OUTER_EVENT;
    if (row_is(file, row, CATEGORY_OPERATOR))
        lines |= 1u << LINE_INNER_OPERATOR | 1u << LINE_OUTER_OPERATOR;
    if (row_is(file, row, CATEGORY_USER_ANNOTATION))
        lines |= 1u << LINE_ANNOTATION;
    if (wants(builder, LINE_MODULE) &&
        label_is_module(&file->names.items[file->columns.name[row]]))
        lines |= 1u << LINE_MODULE;
    if (wants(builder, LINE_FRAME) && is_own_frame(builder, row))
        lines |= 1u << LINE_FRAME;
    return lines & builder->wanted;
}

static bool has_frames(const struct trace_file *file)
{
    return memchr(file->categories, CATEGORY_PYTHON, file->names.count) != NULL;
}

static void choose_lines(struct label_builder *builder)
{
    /* A11.4: the lines that each level needs */
    static const unsigned lines_of_levels[LABEL_LEVELS] = {
        [LEVEL_OP] = 1u << LINE_INNER_OPERATOR | 1u << LINE_INNER_EVENT,
        [LEVEL_TOP_OP] = 1u << LINE_OUTER_OPERATOR | 1u << LINE_OUTER_EVENT,
        [LEVEL_MODULE] = 1u << LINE_MODULE | 1u << LINE_OUTER_OPERATOR | 1u << LINE_OUTER_EVENT,
        [LEVEL_ANNOTATION] = 1u << LINE_ANNOTATION};
    builder->wanted = 1u << LINE_INSIDE;
    if (builder->levels & LABEL_FRAMES && has_frames(builder->file))
        builder->wanted |= 1u << LINE_FRAME | 1u << LINE_OTHER;
    for (int level = 0; level < LABEL_LEVELS; level++)
        if (builder->levels >> level & 1)
            builder->wanted |= lines_of_levels[level];
}

static uint32_t inside_of(const struct columns *columns, uint32_t row)
{
    if (row == ROW_NONE)
        return IN_NOTHING;
    enum kind kind = columns->kind[row];
    return kind == KIND_CALL || kind == KIND_DRIVER_CALL ? row : IN_EVENT;
}

/* Returns the row, or the other one if it is ROW_NONE. */
static inline uint32_t row_or(uint32_t row, uint32_t other)
{
    return row == ROW_NONE ? other : row;
}

/* A11.3 and A11.4: returns the stretch that starts at an instant, from the current events of the
** lines. */
static inline struct label_stretch stretch_at(const struct label_builder *builder,
                                              const uint32_t *now, int64_t start)
{
    unsigned levels = builder->levels;
    uint32_t outer = row_or(now[LINE_OUTER_OPERATOR], now[LINE_OUTER_EVENT]);
    return (struct label_stretch){
        start,
        inside_of(&builder->file->columns, now[LINE_INSIDE]),
        {[LEVEL_OP] = row_or(now[LINE_INNER_OPERATOR], now[LINE_INNER_EVENT]),
         [LEVEL_TOP_OP] = levels >> LEVEL_TOP_OP & 1 ? outer : ROW_NONE,
         [LEVEL_MODULE] = levels >> LEVEL_MODULE & 1 ? row_or(now[LINE_MODULE], outer) : ROW_NONE,
         [LEVEL_ANNOTATION] = now[LINE_ANNOTATION]},
        now[LINE_FRAME],
        now[LINE_OTHER]};
}

/* Updates the current event of a line. */
static inline void set_current(struct label_builder *builder, int i)
{
    const struct label_line *line = &builder->lines[i];
    bool none = line->count == line->first;
    const struct label_event *event =
        none ? NULL : &line->events[i >= LINE_OUTER_OPERATOR ? line->first : line->count - 1];
    builder->now[i] = none ? ROW_NONE : event->row;
    builder->end[i] = none ? INT64_MAX : event->end;
}

/* Opens an event in the lines that it belongs to. */
static bool open_event(struct label_builder *builder, const struct span *span)
{
    struct label_event event = {span_end(span), span->row};
    unsigned lines = lines_of_row(builder, span->row);
    for (int i = 0; lines >> i; i++) {
        struct label_line *line = &builder->lines[i];
        bool any = line->count > line->first;
        if (!(lines >> i & 1) ||
            (i >= LINE_OUTER_OPERATOR && any && event.end <= line->events[line->count - 1].end))
            continue;
        if (!any)
            line->first = line->count = 0;
        if (!MEMORY_GROW(line->events, line->capacity, line->count + 1))
            return failure_memory(builder->failure);
        line->events[line->count++] = event;
        set_current(builder, i);
    }
    if (event.end < builder->next)
        builder->next = event.end;
    return true;
}

/* Advances to the next end of a current event. */
static void close_events(struct label_builder *builder)
{
    int64_t now = builder->next;
    builder->next = INT64_MAX;
    for (int i = 0; i < LINES; i++) {
        struct label_line *line = &builder->lines[i];
        if (builder->end[i] <= now) {
            if (i >= LINE_OUTER_OPERATOR)
                line->first++;
            else
                while (line->count > 0 && line->events[line->count - 1].end <= now)
                    line->count--;
            set_current(builder, i);
        }
        if (builder->end[i] < builder->next)
            builder->next = builder->end[i];
    }
}

/* Adds the stretch that starts at an instant, unless it continues the one before. */
static void add_stretch(struct label_builder *builder, const uint32_t *now, int64_t start)
{
    struct thread_labels *thread = builder->thread;
    struct label_stretch stretch = stretch_at(builder, now, start);
    if (thread->items[thread->count - 1].start == start)
        thread->count--;
    const struct label_stretch *last = &thread->items[thread->count - 1];
    if (last->inside != stretch.inside || last->frame != stretch.frame ||
        last->event != stretch.event ||
        memcmp(last->label, stretch.label, sizeof stretch.label) != 0)
        thread->items[thread->count++] = stretch;
}

/* Opens an event inside the innermost one, which is at `depth`. */
static bool open_within(struct label_builder *builder, const struct span *span, size_t depth)
{
    if (!MEMORY_GROW(builder->open, builder->open_capacity, depth + 2))
        return failure_memory(builder->failure);
    const struct open_event *outer = &builder->open[depth];
    struct open_event *event = &builder->open[depth + 1];
    *event = *outer;
    event->end = span_end(span);
    for (unsigned lines = lines_of_row(builder, span->row); lines > 0; lines &= lines - 1) {
        int i = __builtin_ctz(lines);
        if (i < LINE_OUTER_OPERATOR || outer->now[i] == ROW_NONE)
            event->now[i] = span->row;
    }
    return true;
}

/* Makes the stretches of a thread with nested events. The open events form a stack, so the end of
** an event restores the state before its start. Clears `*nested` if events overlap; the stretches
** are incomplete then. */
static bool make_nested(struct label_builder *builder, const struct span *spans, size_t count,
                        bool *nested)
{
    struct thread_labels *thread = builder->thread;
    struct open_event around = {.end = INT64_MAX}; /* a sentinel around all events */
    size_t depth = 0;
    memset(around.now, 0xff, sizeof around.now);
    if (!MEMORY_GROW(builder->open, builder->open_capacity, 1))
        return failure_memory(builder->failure);
    builder->open[0] = around;
    thread->items[0] = stretch_at(builder, around.now, INT64_MIN);
    thread->count = 1;
    for (size_t i = 0; i <= count; i++) {
        int64_t start = i < count ? spans[i].start : INT64_MAX;
        if (!stopper_goes_on(builder->stopper, i, builder->failure))
            return false;
        while (depth > 0 && builder->open[depth].end <= start) {
            int64_t end = builder->open[depth--].end;
            if (builder->open[depth].end > end)
                add_stretch(builder, builder->open[depth].now, end);
        }
        *nested = i == count || span_end(&spans[i]) <= builder->open[depth].end;
        if (i == count || !*nested)
            return true;
        if (!open_within(builder, &spans[i], depth++))
            return false;
        if (i + 1 == count || spans[i + 1].start > start)
            add_stretch(builder, builder->open[depth].now, start);
    }
    return true;
}

/* Makes the stretches of any thread. */
static bool make_any(struct label_builder *builder, const struct span *spans, size_t count)
{
    struct thread_labels *thread = builder->thread;
    for (int i = 0; i < LINES; i++) {
        builder->lines[i].first = builder->lines[i].count = 0;
        set_current(builder, i);
    }
    builder->next = INT64_MAX;
    thread->items[0] = stretch_at(builder, builder->now, INT64_MIN);
    thread->count = 1;
    for (size_t i = 0; i <= count; i++) {
        int64_t start = i < count ? spans[i].start : INT64_MAX;
        if (!stopper_goes_on(builder->stopper, i, builder->failure))
            return false;
        while (builder->next <= start && builder->next < INT64_MAX) {
            int64_t now = builder->next;
            close_events(builder);
            add_stretch(builder, builder->now, now);
        }
        if (i == count)
            return true;
        if (!open_event(builder, &spans[i]))
            return false;
        if (i + 1 == count || spans[i + 1].start > start)
            add_stretch(builder, builder->now, start);
    }
    return true;
}

static bool make_stretches(struct label_builder *builder, const struct span *spans, size_t count)
{
    bool nested = false;
    builder->thread->items = memory_items(2 * count + 2, sizeof *builder->thread->items);
    if (!builder->thread->items)
        return failure_memory(builder->failure);
    return make_nested(builder, spans, count, &nested) &&
           (nested || make_any(builder, spans, count));
}

/* Removes Python frames from the spans of a thread, and keeps frames of the user's code in
** `functions`. `*left`: number of remaining spans. */
static bool drop_frames(struct label_builder *builder, struct span *spans, size_t count,
                        size_t *left)
{
    builder->function_count = *left = 0;
    for (size_t i = 0; i < count; i++) {
        if (!label_is_frame(builder->file, spans[i].row)) {
            spans[(*left)++] = spans[i];
        } else if (builder->levels & LABEL_FRAMES && is_own_frame(builder, spans[i].row)) {
            if (!MEMORY_GROW(builder->functions, builder->function_capacity,
                             builder->function_count + 1))
                return failure_memory(builder->failure);
            builder->functions[builder->function_count++] = spans[i];
        }
        if (!stopper_goes_on(builder->stopper, i, builder->failure))
            return false;
    }
    return true;
}

/* Makes the gaps of a thread. Removes Python frames from its spans. */
static bool make_gaps(struct label_builder *builder, struct gaps *gaps, struct span *spans,
                      size_t count)
{
    size_t left;
    return drop_frames(builder, spans, count, &left) &&
           gaps_make(gaps, spans, left, builder->steps, &builder->step_line, builder->stopper,
                     builder->failure) &&
           (builder->function_count == 0 ||
            gaps_divide(gaps, builder->functions, builder->function_count, builder->stopper,
                        builder->failure));
}

static bool make_thread(struct label_builder *builder, struct thread_labels *thread,
                        struct span *spans, size_t count)
{
    builder->thread = thread;
    if (!make_stretches(builder, spans, count))
        return false;
    if (builder->levels & LABEL_GAPS && !make_gaps(builder, &thread->gaps, spans, count))
        return false;
    (void)memory_assign(&thread->items,
                        memory_resize(thread->items, thread->count * sizeof *thread->items));
    return true;
}

bool labels_make(struct labels *labels, const struct trace_file *file, const struct steps *steps,
                 unsigned levels, const bool *wanted, const bool *unshared,
                 const struct stopper *stopper, struct failure *failure)
{
    struct label_builder builder = {
        .file = file, .steps = steps, .stopper = stopper, .failure = failure, .levels = levels};
    choose_lines(&builder);
    builder.own = memory_zeroed(file->names.count, sizeof *builder.own);
    *labels = (struct labels){memory_zeroed(file->tracks.count, sizeof *labels->threads),
                              file->tracks.count};
    const struct steps none = {.count = 0};
    struct label_rows part = {.file = file,
                              .steps = {steps->by_work ? &none : steps, &file->profiler_steps},
                              .wanted = wanted,
                              .unshared = unshared};
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
        memory_free(builder.lines[i].events);
    memory_free(builder.own);
    memory_free(builder.open);
    memory_free(builder.functions);
    memory_free(builder.step_line.items);
    spans_clear(&builder.spans);
    if (!done)
        labels_clear(labels);
    return done;
}

/* Returns the index of the stretch at an instant. The thread has labels. */
static size_t find_stretch(const struct thread_labels *thread, int64_t instant)
{
    const struct label_stretch *items = thread->items;
    size_t low = thread->hint, high = low + 1, stride = 1;
    if (items[low].start > instant) { /* searches backwards, doubling the stride */
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
    return low - 1;
}

const struct label_stretch *labels_at(struct thread_labels *thread, int64_t instant)
{
    static const struct label_stretch nothing = {.start = INT64_MIN,
                                                 .inside = IN_NOTHING,
                                                 .label = {[LEVEL_OP] = ROW_NONE,
                                                           [LEVEL_TOP_OP] = ROW_NONE,
                                                           [LEVEL_MODULE] = ROW_NONE,
                                                           [LEVEL_ANNOTATION] = ROW_NONE},
                                                 .frame = ROW_NONE,
                                                 .event = ROW_NONE};
    if (thread->count == 0)
        return &nothing;
    thread->hint = find_stretch(thread, instant);
    return &thread->items[thread->hint];
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
