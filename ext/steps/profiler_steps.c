/*
** Steps of the profiler, and steps of serving frameworks with known names.
*/
#include "profiler_steps.h"
#include "base/memory.h"
#include "text/number.h"
#include "annotation_steps.h"
#include "base/integers.h"
#include "file/roles.h"
#include "naming/step_form.h"
#include "file/xla.h"

/* Returns N of a step's name, or NUMBER_NONE. */
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

/* Returns the step number in the name of a row or, for XLA, in its args (T11); otherwise
** NUMBER_NONE. `*next` is the cursor of xla_of_row(). */
static int64_t number_of(const struct trace_file *file, const int64_t *number, size_t row,
                         size_t *next)
{
    const struct xla_said *said = xla_of_row(file, row, next);
    const struct place *place = row_place(&file->columns, row);
    bool step = said && said->step != NUMBER_NONE && place->cat == NAME_NONE &&
                file->columns.name[row] != NAME_NONE &&
                file->tracks.items[place->track].role == ROLE_XLA_HOST;
    return step ? said->step : step_number_of_row(file, number, row);
}

static bool row_is_step(const struct columns *columns, size_t row)
{
    return !kind_is_device(columns->kind[row]) && columns->ts[row] != NUMBER_NONE &&
           columns->dur[row] >= 0;
}

/* Collects the steps of the profiler and their distinct numbers. */
static bool collect_steps(struct steps *steps, const struct trace_file *file, const int64_t *number,
                          const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &file->columns;
    size_t step_capacity = 0, number_capacity = 0, next = 0;
    for (size_t row = 0; row < columns->count; row++) {
        if (!stopper_goes_on(stopper, row, failure))
            return false;
        int64_t its = number_of(file, number, row, &next);
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
    next = 0;
    for (size_t i = 0; i < steps->count; i++)
        steps->items[i].iteration =
            steps_iteration(steps, number_of(file, number, steps->items[i].row, &next));
    return true;
}

static size_t count_steps(const struct steps *steps)
{
    size_t count = 0;
    for (size_t i = 0; i < steps->iteration_count; i++)
        count += steps->first[i] != ROW_NONE;
    return count;
}

/* Makes the steps with known names. Keeps them if they outnumber the profiler's (T20). */
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
    int64_t *number = memory_items(file->names.count, sizeof *number);
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
