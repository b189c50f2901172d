#include "steps.h"

#include <stdlib.h>

#include "../reader/memory.h"
#include "../reader/number.h"
#include "select.h"
#include "spans.h"
#include "step_form.h"

struct step_finder {
    struct trace_file *file;
    const struct stopper *stopper;
    int64_t *number;       /* by name id: N of ProfilerStep#N, or NUMBER_NONE */
    struct span_line line; /* the iteration at each instant; it begins before all events */
    size_t hint;           /* the change found last */
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
static int64_t row_number(const struct step_finder *finder, size_t row)
{
    const struct columns *columns = &finder->file->columns;
    if (columns->name[row] == NAME_NONE)
        return NUMBER_NONE;
    return finder->number[columns->name[row]];
}

static bool row_is_step(const struct columns *columns, size_t row)
{
    return !kind_is_device(columns->kind[row]) && columns->ts[row] != NUMBER_NONE &&
           columns->dur[row] >= 0;
}

static uint32_t iteration_of(const struct trace_file *file, int64_t number)
{
    const int64_t *found =
        bsearch(&number, file->iterations, file->iteration_count, sizeof number, integer_order);
    return found ? (uint32_t)(found - file->iterations) : STEP_NONE;
}

/* Collects the steps and the distinct numbers. */
static bool collect_steps(struct step_finder *finder, struct failure *failure)
{
    struct trace_file *file = finder->file;
    struct columns *columns = &file->columns;
    size_t step_capacity = 0, number_capacity = 0;
    for (size_t row = 0; row < columns->count; row++) {
        if (!stopper_goes_on(finder->stopper, row, failure))
            return false;
        int64_t number = row_number(finder, row);
        if (number == NUMBER_NONE)
            continue;
        bool step = row_is_step(columns, row);
        if (!step && columns->kind[row] != KIND_ANNOTATION)
            continue;
        if (!MEMORY_GROW(file->iterations, number_capacity, file->iteration_count + 1) ||
            !MEMORY_GROW(file->steps, step_capacity, file->step_count + 1))
            return failure_memory(failure);
        file->iterations[file->iteration_count++] = number;
        if (step)
            file->steps[file->step_count++] = (struct profiler_step){
                (uint32_t)row, 0, columns->ts[row], columns->ts[row] + columns->dur[row]};
    }
    if (file->iteration_count == 0)
        return true;
    if (!sort_items(file->iterations, file->iteration_count, sizeof(int64_t), integer_order,
                    finder->stopper, failure))
        return false;
    file->iteration_count = drop_doubles(file->iterations, file->iteration_count);
    file->first_steps = memory_filled(file->iteration_count, sizeof *file->first_steps);
    if (!file->first_steps)
        return failure_memory(failure);
    for (size_t i = 0; i < file->step_count; i++) {
        struct profiler_step *step = &file->steps[i];
        step->iteration = iteration_of(file, row_number(finder, step->row));
        uint32_t *first = &file->first_steps[step->iteration];
        if (*first == ROW_NONE || step->start < columns->ts[*first])
            *first = step->row;
    }
    return true;
}

static int step_order(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return COMPARE(x->start, y->start);
}

/* Finds the iteration at each instant (rule 2). */
static bool find_line(struct step_finder *finder, struct failure *failure)
{
    const struct trace_file *file = finder->file;
    size_t count = file->step_count;
    struct span *spans = memory_zeroed(count, sizeof *spans);
    const struct span **open = memory_zeroed(count, sizeof *open);
    finder->line.items = memory_allocate((2 * count + 1) * sizeof *finder->line.items);
    bool done = (spans && open && finder->line.items) || failure_memory(failure);
    for (size_t i = 0; done && i < count; i++) {
        const struct profiler_step *step = &file->steps[i];
        spans[i] = (struct span){step->start, step->end - step->start, step->iteration};
    }
    if (done)
        span_line_add(&finder->line, INT64_MIN, STEP_NONE);
    done = done && sort_items(spans, count, sizeof *spans, step_order, finder->stopper, failure) &&
           span_line_innermost(&finder->line, spans, count, NULL, NULL, open, finder->stopper,
                               failure);
    memory_free(spans);
    memory_free(open);
    return done;
}

static uint32_t iteration_at(struct step_finder *finder, int64_t ts)
{
    const struct span_change *items = finder->line.items;
    size_t low = finder->hint, high = finder->line.count;
    if (ts == NUMBER_NONE || high == 0)
        return STEP_NONE;
    if (ts >= items[low].start && (low + 1 == high || ts < items[low + 1].start))
        return items[low].row;
    low = 1;
    LOWER_BOUND(low, high, items[low].start <= ts);
    finder->hint = low - 1;
    return items[low - 1].row;
}

/* The iteration of an annotation of the device (rule 4). */
static uint32_t annotation_iteration(struct step_finder *finder, struct annotation *annotation)
{
    int64_t number = row_number(finder, annotation->row);
    if (number == NUMBER_NONE)
        return iteration_at(finder, finder->file->columns.ts[annotation->by]);
    uint32_t iteration = iteration_of(finder->file, number);
    uint32_t first = finder->file->first_steps[iteration];
    annotation->by = first == ROW_NONE ? annotation->row : first;
    return iteration;
}

static bool assign_steps(struct step_finder *finder, struct failure *failure)
{
    struct columns *columns = &finder->file->columns;
    size_t annotations = 0;
    for (size_t row = 0; row < columns->count; row++) {
        if (!stopper_goes_on(finder->stopper, row, failure))
            return false;
        enum kind kind = columns->kind[row];
        if (kind == KIND_WORK || kind == KIND_SYNC)
            columns->iteration[row] = columns->link[row] == ROW_NONE
                                          ? STEP_NONE
                                          : iteration_at(finder, columns->ts[columns->link[row]]);
        else if (kind == KIND_ANNOTATION)
            columns->iteration[row] =
                annotation_iteration(finder, &finder->file->annotations[annotations++]);
        else
            columns->iteration[row] = iteration_at(finder, columns->ts[row]);
    }
    return true;
}

bool steps_find(struct trace_file *file, const struct stopper *stopper, struct failure *failure)
{
    struct step_finder finder = {.file = file, .stopper = stopper};
    finder.number = memory_allocate((file->names.count + 1) * sizeof *finder.number);
    bool done = finder.number || failure_memory(failure);
    for (size_t id = 0; done && id < file->names.count; id++) {
        finder.number[id] = step_number(&file->names.items[id]);
        done = stopper_goes_on(stopper, id, failure);
    }
    done = done && collect_steps(&finder, failure) &&
           (file->step_count == 0 || find_line(&finder, failure)) && assign_steps(&finder, failure);
    memory_free(finder.number);
    memory_free(finder.line.items);
    return done;
}
