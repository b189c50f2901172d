#include "steps.h"

#include <stdlib.h>

#include "../reader/memory.h"
#include "../reader/number.h"
#include "annotation_steps.h"
#include "select.h"
#include "step_form.h"

struct step_finder {
    struct trace_file *file;
    struct steps *steps;
    const struct stopper *stopper;
    const int64_t *number; /* by name id: N of ProfilerStep#N, or NUMBER_NONE; NULL: none */
    struct span_line line; /* the iteration at each instant; it begins before all events */
    int64_t from, until;   /* from and until then, `iteration` is the one found last */
    uint32_t iteration;
};

/* N of a step's name, or NUMBER_NONE. */
static int64_t step_number(const struct name *name)
{
    const char *end = name->text + name->length, *digits = step_digits(name->text, end);
    int64_t number = NUMBER_NONE;
    while (digits && digits + 1 < end && *digits == '0')
        digits++;
    if (digits)
        number_integer((const unsigned char *)digits, (size_t)(end - digits), &number);
    return number;
}

/* N if a row is a step (rule 1) or an annotation with the name of one (rule 4). */
static int64_t row_number(const struct trace_file *file, const int64_t *number, size_t row)
{
    uint32_t name = file->columns.name[row];
    return number && name != NAME_NONE ? number[name] : NUMBER_NONE;
}

static bool row_is_step(const struct columns *columns, size_t row)
{
    return !kind_is_device(columns->kind[row]) && columns->ts[row] != NUMBER_NONE &&
           columns->dur[row] >= 0;
}

static uint32_t iteration_of(const struct steps *steps, int64_t number)
{
    const int64_t *found = steps->iteration_count == 0
                               ? NULL
                               : bsearch(&number, steps->iterations, steps->iteration_count,
                                         sizeof number, integer_order);
    return found ? (uint32_t)(found - steps->iterations) : STEP_NONE;
}

/* Collects the steps of the profiler, and the distinct numbers. */
static bool collect_steps(struct steps *steps, const struct trace_file *file, const int64_t *number,
                          const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &file->columns;
    size_t step_capacity = 0, number_capacity = 0;
    for (size_t row = 0; row < columns->count; row++) {
        if (!stopper_goes_on(stopper, row, failure))
            return false;
        int64_t its = row_number(file, number, row);
        if (its == NUMBER_NONE)
            continue;
        bool step = row_is_step(columns, row);
        if (!step && columns->kind[row] != KIND_ANNOTATION)
            continue;
        if (!MEMORY_GROW(steps->iterations, number_capacity, steps->iteration_count + 1) ||
            !MEMORY_GROW(steps->items, step_capacity, steps->count + 1))
            return failure_memory(failure);
        steps->iterations[steps->iteration_count++] = its;
        if (step)
            steps->items[steps->count++] =
                (struct step){(uint32_t)row, 0, columns->ts[row],
                              columns->ts[row] + columns->dur[row], NAME_NONE};
    }
    if (!sort_items(steps->iterations, steps->iteration_count, sizeof(int64_t), integer_order,
                    stopper, failure))
        return false;
    steps->iteration_count = drop_doubles(steps->iterations, steps->iteration_count);
    for (size_t i = 0; i < steps->count; i++)
        steps->items[i].iteration =
            iteration_of(steps, row_number(file, number, steps->items[i].row));
    return true;
}

static int step_order(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return COMPARE(x->start, y->start);
}

bool steps_line(const struct steps *steps, struct span_line *line, const struct stopper *stopper,
                struct failure *failure)
{
    size_t count = steps->count;
    struct span *spans = memory_zeroed(count, sizeof *spans);
    const struct span **open = memory_zeroed(count, sizeof *open);
    *line = (struct span_line){memory_allocate((2 * count + 1) * sizeof *line->items), 0};
    bool done = (spans && open && line->items) || failure_memory(failure);
    for (size_t i = 0; done && i < count; i++) {
        const struct step *step = &steps->items[i];
        spans[i] = (struct span){step->start, step->end - step->start, step->iteration};
    }
    if (done)
        span_line_add(line, INT64_MIN, STEP_NONE);
    done = done && sort_items(spans, count, sizeof *spans, step_order, stopper, failure) &&
           span_line_innermost(line, spans, count, NULL, NULL, open, stopper, failure);
    memory_free(spans);
    memory_free(open);
    return done;
}

static uint32_t iteration_at(struct step_finder *finder, int64_t ts)
{
    const struct span_change *items = finder->line.items;
    size_t low = 1, high = finder->line.count;
    if (ts >= finder->from && ts < finder->until)
        return finder->iteration;
    if (ts == NUMBER_NONE || high == 0)
        return STEP_NONE;
    LOWER_BOUND(low, high, items[low].start <= ts);
    finder->from = items[low - 1].start;
    finder->until = low < finder->line.count ? items[low].start : INT64_MAX;
    return finder->iteration = items[low - 1].row;
}

/* The iteration of an annotation of the device (rule 4). */
static uint32_t annotation_iteration(struct step_finder *finder, struct annotation *annotation)
{
    const struct steps *steps = finder->steps;
    int64_t number = row_number(finder->file, finder->number, annotation->row);
    if (number == NUMBER_NONE)
        return iteration_at(finder, finder->file->columns.ts[annotation->by]);
    uint32_t iteration = iteration_of(steps, number), first = steps->first[iteration];
    annotation->named = first == ROW_NONE ? annotation->row : steps->items[first].row;
    return iteration;
}

static bool assign_steps(struct step_finder *finder, struct failure *failure)
{
    const struct columns *columns = &finder->file->columns;
    uint32_t *of = finder->steps->of;
    size_t annotations = 0;
    for (size_t row = 0; row < columns->count; row++) {
        if (!stopper_goes_on(finder->stopper, row, failure))
            return false;
        enum kind kind = columns->kind[row];
        if (kind == KIND_WORK || kind == KIND_SYNC)
            of[row] = columns->link[row] == ROW_NONE
                          ? STEP_NONE
                          : iteration_at(finder, columns->ts[columns->link[row]]);
        else if (kind == KIND_ANNOTATION)
            of[row] = annotation_iteration(finder, &finder->file->annotations[annotations++]);
        else
            of[row] = iteration_at(finder, columns->ts[row]);
    }
    return true;
}

bool steps_place(struct steps *steps, struct trace_file *file, const int64_t *number,
                 const struct stopper *stopper, struct failure *failure)
{
    struct step_finder finder = {
        .file = file, .steps = steps, .stopper = stopper, .number = number};
    if (steps->iteration_count == 0)
        return true;
    steps->first = memory_filled(steps->iteration_count, sizeof *steps->first);
    steps->of = memory_allocate((file->columns.count + 1) * sizeof *steps->of);
    bool done = (steps->first && steps->of) || failure_memory(failure);
    for (size_t i = 0; done && i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        uint32_t *first = &steps->first[step->iteration];
        if (*first == ROW_NONE || step->start < steps->items[*first].start)
            *first = (uint32_t)i;
    }
    done = done &&
           (steps->count == 0 || steps_line(steps, &finder.line, finder.stopper, failure)) &&
           assign_steps(&finder, failure);
    memory_free(finder.line.items);
    return done;
}

/* How many distinct steps there are. */
static size_t count_steps(const struct steps *steps)
{
    size_t count = 0;
    for (size_t i = 0; i < steps->iteration_count; i++)
        count += steps->first[i] != ROW_NONE;
    return count;
}

/* Makes the known steps, if they are more than those of the profiler (T20). */
static bool find_known_steps(struct trace_file *file, const unsigned char *known,
                             const struct stopper *stopper, struct failure *failure)
{
    struct steps *steps = memory_zeroed(1, sizeof *steps);
    if (!steps)
        return failure_memory(failure);
    bool done = annotation_steps_make(steps, file, known, KNOWN_STEP, false, stopper, failure) &&
                step_forms_find(steps, file, known, stopper, failure);
    if (done && steps->count > count_steps(&file->profiler_steps)) {
        file->known_steps = steps;
        return true;
    }
    steps_clear(steps);
    memory_free(steps);
    return done;
}

bool steps_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure)
{
    struct steps *steps = &file->profiler_steps;
    unsigned char *known = NULL;
    int64_t *number = memory_allocate((file->names.count + 1) * sizeof *number);
    bool done = number || failure_memory(failure);
    for (size_t id = 0; done && id < file->names.count; id++) {
        number[id] = step_number(&file->names.items[id]);
        done = stopper_goes_on(stopper, id, failure);
    }
    done = done && collect_steps(steps, file, number, stopper, failure) &&
           steps_place(steps, file, number, stopper, failure) &&
           known_names(file, &known, stopper, failure) &&
           step_forms_find(steps, file, known, stopper, failure) &&
           (!known || find_known_steps(file, known, stopper, failure));
    memory_free(number);
    memory_free(known);
    return done;
}

size_t steps_memory(const struct trace_file *file, const struct steps *steps)
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
