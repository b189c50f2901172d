#include "steps.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/integers.h"

struct step_finder {
    struct trace_file *file;
    struct steps *steps;
    const struct stopper *stopper;
    const int64_t *number; /* by name id: N of ProfilerStep#N, or NUMBER_NONE; may be NULL */
    struct span_line line; /* iteration at each instant; begins before all events */
    int64_t from, until;   /* range in which `iteration`, the last answer, holds */
    uint32_t iteration;
};

uint32_t steps_iteration(const struct steps *steps, int64_t number)
{
    const int64_t *found = steps->iteration_count == 0
                               ? NULL
                               : bsearch(&number, steps->iterations, steps->iteration_count,
                                         sizeof number, integer_order);
    return found ? (uint32_t)(found - steps->iterations) : STEP_NONE;
}

static int step_order(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return COMPARE(x->start, y->start);
}

bool steps_line(const struct steps *steps, struct span_line *line, const struct stopper *stopper,
                struct failure *failure)
{
    size_t most = 2 * steps->count, count = 0;
    struct span *spans = memory_zeroed(most, sizeof *spans);
    *line = (struct span_line){memory_items(2 * most + 1, sizeof *line->items), 0};
    bool done = (spans && line->items) || failure_memory(failure);
    for (size_t i = 0; done && i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        span_put(spans, &count, step->start, step->end, step->iteration);
    }
    if (done)
        span_line_add(line, INT64_MIN, STEP_NONE);
    done = done && sort_items(spans, count, sizeof *spans, step_order, stopper, failure) &&
           span_line_innermost(line, spans, count, stopper, failure);
    memory_free(spans);
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

/* Returns the iteration of a device annotation (profiler_steps.h, rule 4). */
static uint32_t annotation_iteration(struct step_finder *finder, struct annotation *annotation)
{
    const struct steps *steps = finder->steps;
    int64_t number = step_number_of_row(finder->file, finder->number, annotation->row);
    if (number == NUMBER_NONE)
        return iteration_at(finder, finder->file->columns.ts[annotation->by]);
    uint32_t iteration = steps_iteration(steps, number), first = steps->first[iteration];
    annotation->named = first == ROW_NONE ? annotation->row : steps->items[first].row;
    return iteration;
}

/* Finds the launch that decides the step of device work: its own, or the launch of the work that
** places it (I8). `*next` is a cursor into health.placed. */
static uint32_t placing_launch(const struct trace_file *file, size_t row, size_t *next)
{
    const struct file_health *health = &file->health;
    while (*next < health->placed_count && health->placed[*next].row < row)
        ++*next;
    bool placed = *next < health->placed_count && health->placed[*next].row == row &&
                  health->placed[*next].by != ROW_NONE;
    return file->columns.link[placed ? health->placed[*next].by : row];
}

static bool assign_steps(struct step_finder *finder, struct failure *failure)
{
    const struct columns *columns = &finder->file->columns;
    uint32_t *of = finder->steps->of;
    size_t annotations = 0, placed = 0;
    for (size_t row = 0; row < columns->count; row++) {
        if (!stopper_goes_on(finder->stopper, row, failure))
            return false;
        enum kind kind = columns->kind[row];
        if (kind == KIND_WORK || kind == KIND_SYNC) {
            uint32_t launch = placing_launch(finder->file, row, &placed);
            of[row] =
                launch == ROW_NONE ? STEP_NONE : iteration_at(finder, columns->ts[launch]);
        } else if (kind == KIND_ANNOTATION)
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
    steps->of = memory_items(file->columns.count, sizeof *steps->of);
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
