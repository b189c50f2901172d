#include "undo_step.h"

#include "base/memory.h"

/* Finds the points of control. */
static void find_points(struct undo_step *step)
{
    const struct undo_sequence *control = step->pairs->control;
    size_t end = step->from;
    while (end < step->to && control->events[end].lane != UNDO_DEVICE)
        end++;
    step->points = control->points + 2 * step->from;
    step->point_count = 2 * (end - step->from);
    for (size_t i = 0; i < step->point_count; i++)
        (step->points[i].end ? step->ends : step->begins)[step->points[i].event - step->from] = i;
}

static bool make_room(struct undo_step *step)
{
    size_t count = step->to - step->from;
    step->test_of = memory_filled(count, sizeof *step->test_of);
    step->begins = memory_filled(count, sizeof *step->begins);
    step->ends = memory_filled(count, sizeof *step->ends);
    step->last = memory_items(2 * count, sizeof *step->last);
    step->next = memory_items(2 * count, sizeof *step->next);
    return step->test_of && step->begins && step->ends && step->last && step->next;
}

/* Finds the points around others that are paired. */
static void find_paired(struct undo_step *step)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < step->point_count; i++) {
        const struct undo_point *point = &step->points[i];
        if (i > 0 && point->lane != point[-1].lane)
            found = SIZE_MAX;
        if (undo_test_of(step, point->event) != UNDO_NONE)
            found = i;
        step->last[i] = found;
    }
    found = SIZE_MAX;
    for (size_t i = step->point_count; i-- > 0;) {
        const struct undo_point *point = &step->points[i];
        if (i + 1 < step->point_count && point->lane != point[1].lane)
            found = SIZE_MAX;
        if (undo_test_of(step, point->event) != UNDO_NONE)
            found = i;
        step->next[i] = found;
    }
}

bool undo_step_next(struct undo_step *step, const struct stopper *stopper, struct failure *failure)
{
    const struct undo_pairs *pairs = step->pairs;
    size_t number = step->number;
    if (number == pairs->step_count || !stopper_ask(stopper, failure))
        return false;
    const struct undo_pair_of_steps *of = &pairs->steps[number];
    undo_step_clear(step);
    *step = (struct undo_step){.pairs = pairs,
                               .number = number + 1,
                               .first = of->first[1],
                               .end = of->end[1],
                               .from = of->first[0],
                               .to = of->end[0]};
    if (!make_room(step))
        return failure_memory(failure);
    for (size_t i = step->first; i < step->end; i++)
        if (pairs->pair[i] != UNDO_NONE)
            step->test_of[pairs->pair[i] - step->from] = (uint32_t)i;
    find_points(step);
    find_paired(step);
    return true;
}

uint32_t undo_test_node(const struct undo_step *step, size_t point)
{
    const struct undo_point *of = &step->points[point];
    const struct undo_event *event = &step->pairs->test->events[undo_test_of(step, of->event)];
    const struct sim_rows *rows = &step->pairs->test->graph->rows[event->member];
    return (of->end ? rows->ends : rows->begins)[event->row];
}

void undo_step_clear(struct undo_step *step)
{
    memory_free(step->test_of);
    memory_free(step->begins);
    memory_free(step->ends);
    memory_free(step->last);
    memory_free(step->next);
    *step = (struct undo_step){.pairs = step->pairs};
}
