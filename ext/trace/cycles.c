#include "cycles.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"

/* A step of a file, for finding steps that occur in two files of a rank. */
struct placed_step {
    size_t rank_index;
    int64_t number;
    size_t member;
};

static int placed_order(const void *a, const void *b)
{
    const struct placed_step *x = a, *y = b;
    int order = COMPARE(x->rank_index, y->rank_index);
    order = order ? order : COMPARE(x->number, y->number);
    return order ? order : COMPARE(x->member, y->member);
}

/* Finds the first chosen file of a rank; trace.count if there is none. */
static size_t first_of_rank(const struct trace *trace, size_t rank_index, size_t but)
{
    size_t i = 0;
    while (i < trace->count &&
           (i == but || !trace->members[i].chosen || trace->members[i].rank_index != rank_index))
        i++;
    return i;
}

/* Whether a pattern selects the steps. */
static bool is_like(const struct step_wish *wish)
{
    return wish && wish->kind == STEPS_LIKE;
}

/* Marks two files that cannot be cycles of one run (T8). Returns whether this is an error. */
static bool mark_clash(struct trace_member *one, struct trace_member *other, bool check)
{
    one->clashes = other->clashes = true;
    return check;
}

/* Finds steps that occur in two files of a rank. */
static bool check_numbers(struct trace *trace, size_t count, bool check, struct failure *failure)
{
    size_t used = 0;
    struct placed_step *steps = memory_zeroed(count, sizeof *steps);
    if (!steps)
        return failure_memory(failure);
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_member *member = &trace->members[i];
        for (size_t s = 0; member->chosen && s < member->steps->count; s++)
            steps[used++] = (struct placed_step){
                member->rank_index, member_iteration(member, member->steps->items[s].iteration), i};
    }
    if (count > 0)
        qsort(steps, used, sizeof *steps, placed_order);
    for (size_t i = 1; i < used && failure->code == FAILURE_NONE; i++)
        if (steps[i].rank_index == steps[i - 1].rank_index &&
            steps[i].number == steps[i - 1].number && steps[i].member != steps[i - 1].member &&
            mark_clash(&trace->members[steps[i - 1].member], &trace->members[steps[i].member],
                       check))
            failure_set(failure, FAILURE_SAME_RANK,
                        "'%s' and '%s' are both of rank %lld, and step %lld is in both: leave one "
                        "of them out",
                        trace->members[steps[i - 1].member].path,
                        trace->members[steps[i].member].path,
                        (long long)trace->ranks[steps[i].rank_index], (long long)steps[i].number);
    memory_free(steps);
    return failure->code == FAILURE_NONE;
}

/* Finds files of a rank that are not cycles of one run (T8); with `check`, this is an error. */
static bool check_cycles(struct trace *trace, bool check, struct failure *failure)
{
    size_t count = 0, chosen = 0;
    for (size_t i = 0; i < trace->count; i++)
        if (trace->members[i].chosen) {
            count += trace->members[i].steps->count;
            chosen++;
        }
    for (size_t i = 0; i < trace->count && chosen > 1; i++) {
        struct trace_member *member = &trace->members[i];
        size_t other = member->chosen && member->steps->count == 0
                           ? first_of_rank(trace, member->rank_index, i)
                           : trace->count;
        if (other < trace->count && mark_clash(member, &trace->members[other], check))
            return failure_set(
                failure, FAILURE_SAME_RANK,
                "'%s' and '%s' are both of rank %lld, but the first has no steps: leave "
                "one of them out",
                member->path, trace->members[other].path, (long long)member->rank);
    }
    return chosen < 2 || check_numbers(trace, count, check, failure);
}

/* Gives each chosen file its requested steps. */
static bool make_steps(struct trace *trace, const struct step_wish *wish,
                       const struct stopper *stopper, struct failure *failure)
{
    for (size_t i = 0; i < trace->count; i++) {
        struct trace_member *member = &trace->members[i];
        if (!member->chosen)
            continue;
        member->steps = wish && wish->kind == STEPS_PROFILER ? &member->file->profiler_steps
                                                             : steps_of_file(member->file);
        if (!is_like(wish))
            continue;
        member->steps = member->own_steps = memory_zeroed(1, sizeof *member->own_steps);
        if (!member->own_steps)
            return failure_memory(failure);
        if (!wished_steps_make(member->own_steps, member->file, wish, stopper, failure))
            return false;
    }
    return true;
}

/* The longest host event of a file; without any, the first event. */
static uint32_t longest_row(const struct trace_file *file)
{
    const struct columns *columns = &file->columns;
    uint32_t longest = 0;
    int64_t most = 0;
    for (size_t row = 0; row < columns->count; row++)
        if (columns->kind[row] <= KIND_DRIVER_CALL && columns->ts[row] != NUMBER_NONE &&
            columns->dur[row] > most) {
            most = columns->dur[row];
            longest = (uint32_t)row;
        }
    return longest;
}

/* Makes a whole file one step, named after a row. */
static bool make_whole(struct trace_member *member, uint32_t row, struct failure *failure)
{
    const struct trace_file *file = member->file;
    struct steps *steps = member->own_steps = memory_zeroed(1, sizeof *steps);
    if (!steps)
        return failure_memory(failure);
    member->steps = steps;
    steps->iterations = memory_zeroed(1, sizeof *steps->iterations);
    steps->first = memory_zeroed(1, sizeof *steps->first);
    steps->items = memory_zeroed(1, sizeof *steps->items);
    steps->of = memory_zeroed(file->columns.count, sizeof *steps->of);
    if (!steps->iterations || !steps->first || !steps->items || !steps->of)
        return failure_memory(failure);
    steps->items[0] =
        (struct step){.row = row, .start = file->first, .end = file->last, .form = NAME_NONE};
    steps->iteration_count = steps->count = 1;
    return true;
}

/* T8.2: turns files of one process without steps into steps. */
static bool make_files_steps(struct trace *trace, struct failure *failure)
{
    for (size_t i = 0; i < trace->count; i++) {
        struct trace_member *member = &trace->members[i];
        if (member->chosen && member->rank_source == RANK_PROCESS && member->steps->count == 0 &&
            member->file->first != NUMBER_NONE &&
            !make_whole(member, longest_row(member->file), failure))
            return false;
    }
    return true;
}

/* A file that may continue the numbering of an earlier one: its steps are annotations, or it is one
** of several files of a process. Times run from the start of its first step to its last end. */
struct stretch_of_steps {
    size_t rank_index, member;
    int64_t start, end;
    int64_t lowest, highest; /* numbers of steps in the file */
};

static int stretch_order(const void *a, const void *b)
{
    const struct stretch_of_steps *x = a, *y = b;
    int order = COMPARE(x->rank_index, y->rank_index);
    order = order ? order : COMPARE(x->start, y->start);
    return order ? order : COMPARE(x->member, y->member);
}

/* The stretch of a file with steps. */
static struct stretch_of_steps stretch_of(const struct trace_member *member, size_t i)
{
    const struct steps *steps = member->steps;
    struct stretch_of_steps stretch = {member->rank_index, i, INT64_MAX, INT64_MIN, INT64_MAX, 0};
    for (size_t s = 0; s < steps->count; s++) {
        const struct step *step = &steps->items[s];
        int64_t number = steps->iterations[step->iteration];
        stretch.start = step->start < stretch.start ? step->start : stretch.start;
        stretch.end = step->end > stretch.end ? step->end : stretch.end;
        stretch.lowest = number < stretch.lowest ? number : stretch.lowest;
        stretch.highest = number > stretch.highest ? number : stretch.highest;
    }
    return stretch;
}

/* The offset that makes the numbers of a file continue after another number. */
static int64_t go_on(int64_t after, const struct stretch_of_steps *stretch)
{
    int64_t added, highest;
    bool fits = !__builtin_sub_overflow(after, stretch->lowest, &added) && added < INT64_MAX &&
                !__builtin_add_overflow(added + 1, stretch->highest, &highest);
    return fits && added >= 0 ? added + 1 : 0;
}

/* T8.2, T21: continues the numbering over the files of a rank if step numbers repeat. With `check`,
** overlapping files are an error. */
static bool number_steps(struct trace *trace, bool check, struct failure *failure)
{
    struct stretch_of_steps *items = memory_zeroed(trace->count, sizeof *items);
    size_t count = 0;
    if (!items)
        return failure_memory(failure);
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_member *member = &trace->members[i];
        if (member->chosen && member->steps->count > 0 &&
            (member->steps->by_annotation || member->rank_source == RANK_PROCESS))
            items[count++] = stretch_of(member, i);
    }
    if (count > 0)
        qsort(items, count, sizeof *items, stretch_order);
    for (size_t i = 1; i < count && failure->code == FAILURE_NONE; i++) {
        struct trace_member *before = &trace->members[items[i - 1].member];
        struct trace_member *member = &trace->members[items[i].member];
        if (items[i].rank_index != items[i - 1].rank_index)
            continue;
        member->first_step = go_on(before->first_step + items[i - 1].highest, &items[i]);
        if (items[i].start < items[i - 1].end && mark_clash(before, member, check))
            failure_set(failure, FAILURE_SAME_RANK,
                        "'%s' and '%s' are both of rank %lld, and their steps overlap in time: "
                        "leave one of them out",
                        before->path, member->path, (long long)member->rank);
    }
    memory_free(items);
    return failure->code == FAILURE_NONE;
}

/* T20.3 */
static bool check_wish(const struct trace *trace, const struct step_wish *wish, const char *subject,
                       struct failure *failure)
{
    if (!is_like(wish))
        return true;
    for (size_t i = 0; i < trace->count; i++)
        if (trace->members[i].chosen && trace->members[i].steps->count > 0)
            return true;
    return failure_set(failure, FAILURE_REQUEST,
                       "%s has no step: no host event has a name like '%s' (argument steps)",
                       subject, wish->text);
}

bool cycles_make(struct trace *trace, const struct trace_request *request,
                 const struct stopper *stopper, struct failure *failure)
{
    bool check = request->use & TRACE_CYCLES;
    return make_steps(trace, request->steps, stopper, failure) &&
           (is_like(request->steps) || make_files_steps(trace, failure)) &&
           number_steps(trace, check, failure) &&
           (!check || check_wish(trace, request->steps, request->subject, failure)) &&
           check_cycles(trace, check, failure);
}

void cycle_clear(struct trace_member *member)
{
    if (member->own_steps)
        steps_clear(member->own_steps);
    memory_free(member->own_steps);
}
