#include "steps.h"

#include <stdlib.h>
#include <string.h>

#include "../reader/memory.h"
#include "../reader/number.h"
#include "select.h"
#include "step_form.h"

/* A stretch of time in which one step wins, or no step. */
struct step_stretch {
    int64_t start;
    uint32_t iteration;
};

struct step_finder {
    struct trace_file *file;
    const struct stopper *stopper;
    uint32_t *first;                /* by iteration: row of the step that starts first; ROW_NONE */
    int64_t *number;                /* by name id: N of ProfilerStep#N, or NUMBER_NONE */
    struct step_stretch *stretches; /* ascending; the first begins before all events */
    size_t stretch_count;
    size_t hint; /* the stretch found last */
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
    size_t steps = 0, numbers = 0;
    for (size_t row = 0; row < columns->count; row++) {
        if (!stopper_goes_on(finder->stopper, row, failure))
            return false;
        if (row_number(finder, row) == NUMBER_NONE)
            continue;
        bool step = row_is_step(columns, row);
        steps += step;
        numbers += step || columns->kind[row] == KIND_ANNOTATION;
    }
    if (numbers == 0)
        return true;
    file->iterations = memory_allocate(numbers * sizeof *file->iterations);
    file->steps = memory_zeroed(steps, sizeof *file->steps);
    if (!file->iterations || !file->steps)
        return failure_memory(failure);
    for (size_t row = 0; row < columns->count; row++) {
        int64_t number = row_number(finder, row);
        if (!stopper_goes_on(finder->stopper, row, failure))
            return false;
        if (number == NUMBER_NONE)
            continue;
        bool step = row_is_step(columns, row);
        if (step)
            file->steps[file->step_count++] = (struct profiler_step){
                (uint32_t)row, 0, columns->ts[row], columns->ts[row] + columns->dur[row]};
        if (step || columns->kind[row] == KIND_ANNOTATION)
            file->iterations[file->iteration_count++] = number;
    }
    if (!sort_items(file->iterations, file->iteration_count, sizeof(int64_t), integer_order,
                    finder->stopper, failure))
        return false;
    file->iteration_count = drop_doubles(file->iterations, file->iteration_count);
    finder->first = memory_filled(file->iteration_count, sizeof *finder->first);
    if (!finder->first)
        return failure_memory(failure);
    for (size_t i = 0; i < file->step_count; i++) {
        struct profiler_step *step = &file->steps[i];
        step->iteration = iteration_of(file, row_number(finder, step->row));
        uint32_t *first = &finder->first[step->iteration];
        if (*first == ROW_NONE || step->start < columns->ts[*first])
            *first = step->row;
    }
    return true;
}

static int step_order(const void *a, const void *b)
{
    const struct profiler_step *const *x = a, *const *y = b;
    return COMPARE((*x)->start, (*y)->start);
}

static void add_stretch(struct step_finder *finder, int64_t start, uint32_t iteration)
{
    struct step_stretch *last = &finder->stretches[finder->stretch_count - 1];
    if (last->start == start)
        last->iteration = iteration;
    else
        finder->stretches[finder->stretch_count++] = (struct step_stretch){start, iteration};
}

/* Divides time into stretches (rule 2): one sweep over the steps by start, with the open ones on
** a stack. The top of the stack began last, so it wins. A step below it that has ended is
** dropped only when it comes to the top. */
static bool cut_stretches(struct step_finder *finder, struct failure *failure)
{
    struct trace_file *file = finder->file;
    size_t count = file->step_count, open = 0;
    bool done = false;
    const struct profiler_step **order = memory_zeroed(count, sizeof *order);
    const struct profiler_step **stack = memory_zeroed(count, sizeof *stack);
    finder->stretches = memory_allocate((2 * count + 1) * sizeof *finder->stretches);
    if (!order || !stack || !finder->stretches) {
        failure_memory(failure);
        goto cleanup;
    }
    finder->stretches[0] = (struct step_stretch){INT64_MIN, STEP_NONE};
    finder->stretch_count = 1;
    for (size_t i = 0; i < count; i++)
        order[i] = &file->steps[i];
    if (!sort_items(order, count, sizeof(struct profiler_step *), step_order, finder->stopper,
                    failure))
        goto cleanup;
    for (size_t i = 0; i <= count; i++) {
        int64_t now = i < count ? order[i]->start : INT64_MAX;
        while (open > 0 && stack[open - 1]->end <= now) {
            int64_t end = stack[--open]->end;
            while (open > 0 && stack[open - 1]->end <= end)
                open--;
            add_stretch(finder, end, open > 0 ? stack[open - 1]->iteration : STEP_NONE);
        }
        if (i < count && order[i]->end > now) {
            stack[open++] = order[i];
            add_stretch(finder, now, order[i]->iteration);
        }
    }
    done = true;
cleanup:
    memory_free(order);
    memory_free(stack);
    return done;
}

static uint32_t iteration_at(struct step_finder *finder, int64_t ts)
{
    const struct step_stretch *stretches = finder->stretches;
    size_t low = finder->hint, high = finder->stretch_count;
    if (ts == NUMBER_NONE || high == 0)
        return STEP_NONE;
    if (ts >= stretches[low].start && (low + 1 == high || ts < stretches[low + 1].start))
        return stretches[low].iteration;
    low = 1;
    LOWER_BOUND(low, high, stretches[low].start <= ts);
    finder->hint = low - 1;
    return stretches[low - 1].iteration;
}

/* The iteration of an annotation of the device (rule 4). */
static uint32_t annotation_iteration(struct step_finder *finder, struct annotation *annotation)
{
    int64_t number = row_number(finder, annotation->row);
    if (number == NUMBER_NONE)
        return iteration_at(finder, finder->file->columns.ts[annotation->by]);
    uint32_t iteration = iteration_of(finder->file, number);
    uint32_t first = finder->first[iteration];
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
    bool done = false;
    finder.number = memory_allocate((file->names.count + 1) * sizeof *finder.number);
    if (!finder.number) {
        failure_memory(failure);
        goto cleanup;
    }
    for (size_t id = 0; id < file->names.count; id++) {
        if (!stopper_goes_on(stopper, id, failure))
            goto cleanup;
        finder.number[id] = step_number(&file->names.items[id]);
    }
    if (!collect_steps(&finder, failure) ||
        (file->step_count > 0 && !cut_stretches(&finder, failure)))
        goto cleanup;
    done = assign_steps(&finder, failure);
cleanup:
    memory_free(finder.number);
    memory_free(finder.first);
    memory_free(finder.stretches);
    return done;
}
