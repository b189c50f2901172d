#include "annotation_steps.h"

#include "text/ascii.h"
#include "base/memory.h"
#include "file/spans.h"
#include "naming/step_form.h"

/* a filter for events that may be steps */
struct candidates {
    const struct trace_file *file;
    const unsigned char *named; /* by name id: a bit set that must share a bit with `bits` */
    unsigned bits;
    bool any_host;
};

static bool takes_part(void *argument, size_t row)
{
    const struct candidates *part = argument;
    const struct columns *columns = &part->file->columns;
    uint32_t name = columns->name[row];
    return columns->kind[row] == KIND_HOST && name != NAME_NONE &&
           (part->named[name] & part->bits) && columns->ts[row] != NUMBER_NONE &&
           columns->dur[row] > 0 &&
           (part->any_host || row_is(part->file, row, CATEGORY_USER_ANNOTATION) ||
            row_is(part->file, row, CATEGORY_OPERATOR));
}

/* Returns whether a framework names its steps like this. Sets `*form` if the name has a phase. */
static bool is_known(const struct name *name, bool *form)
{
    struct step_form unused;
    *form = step_form_read(name->text, name->length, &unused);
    return *form || text_is(name->text, name->length, "scheduler.run_batch"); /* SGLang */
}

bool name_is_step(const struct name *name)
{
    bool unused;
    return step_digits(name->text, name->text + name->length) || is_known(name, &unused);
}

bool known_names(const struct trace_file *file, unsigned char **known,
                 const struct stopper *stopper, struct failure *failure)
{
    unsigned char *bits = memory_zeroed(file->names.count + 1, 1);
    bool any = false, done = bits || failure_memory(failure);
    for (size_t id = 0; done && id < file->names.count; id++) {
        bool form;
        if (is_known(&file->names.items[id], &form))
            bits[id] = form ? KNOWN_STEP | KNOWN_FORM : KNOWN_STEP;
        any = any || bits[id];
        done = stopper_goes_on(stopper, id, failure);
    }
    *known = done && any ? bits : NULL;
    if (!*known)
        memory_free(bits);
    return done;
}

/* Moves the spans of a thread that start inside no other to the front. Returns their number. */
static size_t drop_inner(struct span *spans, size_t count)
{
    size_t kept = 0;
    int64_t reach = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        int64_t end = span_end(&spans[i]);
        if (spans[i].start >= reach)
            spans[kept++] = spans[i];
        reach = end > reach ? end : reach;
    }
    return kept;
}

/* Returns whether rule 2 prefers the thread of `spans` to the thread of `other`. */
static bool is_rather(const struct span *spans, size_t count, const struct span *other,
                      size_t other_count)
{
    if (count != other_count)
        return count > other_count;
    return count > 0 && (spans->start < other->start ||
                         (spans->start == other->start && spans->row < other->row));
}

static int row_order(const void *a, const void *b)
{
    return COMPARE(((const struct step *)a)->row, ((const struct step *)b)->row);
}

/* Fills the items and numbers of steps from spans ordered by start. */
static bool take_spans(struct steps *steps, const struct span *spans, size_t count,
                       const struct stopper *stopper, struct failure *failure)
{
    steps->items = memory_zeroed(count, sizeof *steps->items);
    steps->iterations = memory_zeroed(count, sizeof *steps->iterations);
    if (!steps->items || !steps->iterations)
        return failure_memory(failure);
    steps->count = steps->iteration_count = count;
    for (size_t i = 0; i < count; i++) {
        int64_t end = i + 1 < count ? spans[i + 1].start : span_end(&spans[i]);
        steps->iterations[i] = (int64_t)i;
        steps->items[i] = (struct step){spans[i].row, (uint32_t)i, spans[i].start, end, NAME_NONE};
    }
    return sort_items(steps->items, count, sizeof *steps->items, row_order, stopper, failure);
}

bool annotation_steps_make(struct steps *steps, struct trace_file *file, const unsigned char *named,
                           unsigned bits, bool any_host, const struct stopper *stopper,
                           struct failure *failure)
{
    struct candidates part = {file, named, bits, any_host};
    struct spans spans;
    const struct span *best = NULL;
    size_t best_count = 0;
    *steps = (struct steps){.by_annotation = true};
    bool done = spans_make(&spans, file, takes_part, &part, stopper, failure);
    for (size_t track = 0; done && track < file->tracks.count; track++) {
        struct span *of_track = spans.items + spans.first[track];
        size_t count = drop_inner(of_track, spans.first[track + 1] - spans.first[track]);
        if (is_rather(of_track, count, best, best_count)) {
            best = of_track;
            best_count = count;
        }
    }
    done = done && (best_count == 0 || take_spans(steps, best, best_count, stopper, failure)) &&
           steps_place(steps, file, NULL, stopper, failure);
    spans_clear(&spans);
    if (!done)
        steps_clear(steps);
    return done;
}

/* Finds the first span of a thread, by start, that starts inside another one (T5), or NULL. */
static const struct span *first_inside(const struct span *spans, size_t count,
                                       const struct span *outer)
{
    size_t i = 0;
    LOWER_BOUND(i, count, spans[i].start < outer->start);
    while (
        i < count && spans[i].start == outer->start &&
        (spans[i].dur > outer->dur || (spans[i].dur == outer->dur && spans[i].row <= outer->row)))
        i++;
    return i < count && spans[i].start < span_end(outer) ? &spans[i] : NULL;
}

bool step_forms_find(struct steps *steps, const struct trace_file *file, const unsigned char *known,
                     const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &file->columns;
    struct candidates part = {file, known, KNOWN_FORM, false};
    struct spans spans;
    if (!known || steps->count == 0)
        return true;
    bool done = spans_make(&spans, file, takes_part, &part, stopper, failure);
    for (size_t i = 0; done && i < steps->count; i++) {
        struct step *step = &steps->items[i];
        uint32_t name = columns->name[step->row], track = row_place(columns, step->row)->track;
        const struct span *of_track = spans.items + spans.first[track];
        const struct span outer = {step->start, columns->dur[step->row], step->row};
        const struct span *within =
            first_inside(of_track, spans.first[track + 1] - spans.first[track], &outer);
        step->form = known[name] & KNOWN_FORM ? name
                     : within                 ? columns->name[within->row]
                                              : NAME_NONE;
    }
    spans_clear(&spans);
    return done;
}

/* Sets `*are` to whether several steps share one name and no other event on their thread starts
** inside one (A11.1). */
static bool are_work(const struct steps *steps, const struct trace_file *file,
                     const struct stopper *stopper, struct failure *failure, bool *are)
{
    const struct columns *columns = &file->columns;
    *are = steps->count > 1;
    for (size_t i = 1; i < steps->count && *are; i++)
        *are = columns->name[steps->items[i].row] == columns->name[steps->items[0].row];
    for (size_t row = 0; row < columns->count && *are; row++) {
        uint32_t step = step_of(steps, row);
        if (!stopper_goes_on(stopper, row, failure))
            return false;
        if (step == STEP_NONE || kind_is_device(columns->kind[row]) || columns->dur[row] <= 0 ||
            columns->ts[row] == NUMBER_NONE || !row_counts(columns, row))
            continue;
        size_t mark = steps->items[steps->first[step]].row;
        const struct span span = {columns->ts[mark], columns->dur[mark], (uint32_t)mark};
        *are = row == mark || columns->ts[row] >= span_end(&span) ||
               row_place(columns, row)->track != row_place(columns, mark)->track;
    }
    return true;
}

bool wished_steps_make(struct steps *steps, struct trace_file *file, const struct step_wish *wish,
                       const struct stopper *stopper, struct failure *failure)
{
    enum { COMPARED = 1 << 16 /* bytes of names compared between two checks for an interrupt */ };
    size_t compared = 0;
    unsigned char *known = NULL, *named = memory_zeroed(file->names.count + 1, 1);
    bool done = (named || failure_memory(failure)) && known_names(file, &known, stopper, failure);
    for (size_t id = 0; done && id < file->names.count; id++)
        for (size_t i = 0; done && i < wish->count && !named[id]; i++) {
            const struct name *name = &file->names.items[id];
            named[id] = wish->like(wish->argument, i, name->text);
            compared += name->length + 1;
            if (compared >= COMPARED) {
                done = stopper_ask(stopper, failure);
                compared = 0;
            }
        }
    done = done && annotation_steps_make(steps, file, named, 1, true, stopper, failure) &&
           step_forms_find(steps, file, known, stopper, failure) &&
           are_work(steps, file, stopper, failure, &steps->by_work);
    memory_free(known);
    memory_free(named);
    return done;
}
