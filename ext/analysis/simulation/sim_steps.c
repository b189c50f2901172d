#include "sim_steps.h"

#include "base/memory.h"
#include "linking/link.h"
#include "analysis/parts/busy.h"

/* The bounds of a step from its marks, ns. */
struct sim_bounds {
    wide_time start, end, work, backlog;
};

#define NEVER ((wide_time)1 << 100)

/* The state of add_member(). */
struct step_adder {
    struct sim_steps *to;
    const struct trace_member *member;
    size_t index;    /* index of the member */
    size_t *numbers; /* the member's `numbers`; one entry for a file without steps */
    const struct stopper *stopper;
    struct failure *failure;
};

static bool put_mark(struct sim_steps *to, uint32_t node, size_t step, enum sim_mark_kind kind,
                     struct failure *failure)
{
    if (!MEMORY_GROW(to->marks, to->mark_capacity, to->mark_count + 1))
        return failure_memory(failure);
    to->marks[to->mark_count++] = (struct sim_mark){node, (uint32_t)step, kind};
    return true;
}

static bool add_mark(const struct step_adder *adder, uint32_t node, size_t step,
                     enum sim_mark_kind kind)
{
    return node == SIM_NONE || step == SIZE_MAX ||
           put_mark(adder->to, node, step, kind, adder->failure);
}

/* Marks the host's steps. An annotated step ends where the next one begins (T20.6). */
static bool add_host_marks(const struct step_adder *adder)
{
    const struct steps *steps = adder->member->steps;
    const struct sim_rows *rows = &adder->to->graph->rows[adder->index];
    for (size_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        size_t number = adder->numbers[step->iteration];
        bool next = steps->by_annotation && step->iteration + 1 < steps->iteration_count;
        uint32_t end = next ? rows->begins[steps->items[steps->first[step->iteration + 1]].row]
                            : rows->ends[step->row];
        if (!add_mark(adder, rows->begins[step->row], number, MARK_START) ||
            !add_mark(adder, end, number, MARK_END) ||
            !stopper_goes_on(adder->stopper, i, adder->failure))
            return false;
    }
    return true;
}

/* Finds the device work, by row, that always ends before other work of its step: the next on its
** stream, or work that waits for it. It needs no marks. */
static bool find_covered(const struct step_adder *adder, bool *covered)
{
    const struct sim_graph *graph = adder->to->graph;
    const struct columns *columns = &adder->member->file->columns;
    const struct sim_rows *rows = &graph->rows[adder->index];
    for (size_t row = 0; row < columns->count; row++) {
        if (!stopper_goes_on(adder->stopper, row, adder->failure))
            return false;
        uint32_t node = busy_takes(columns, row) ? rows->begins[row] : SIM_NONE;
        uint32_t end = node == SIM_NONE ? 0 : graph->first[node + 1];
        for (uint32_t edge = node == SIM_NONE ? 0 : graph->first[node]; edge < end; edge++) {
            uint32_t before = graph->row[graph->from[edge]];
            if (graph->kind[edge] == EDGE_STREAM &&
                step_of(adder->member->steps, before) == step_of(adder->member->steps, row))
                covered[before] = true;
        }
    }
    return true;
}

/* Marks the ends of the steps' device work. */
static bool add_work_marks(const struct step_adder *adder)
{
    const struct columns *columns = &adder->member->file->columns;
    const uint32_t *ends = adder->to->graph->rows[adder->index].ends;
    bool *covered = memory_zeroed(columns->count + 1, sizeof *covered);
    bool done = (covered || failure_memory(adder->failure)) && find_covered(adder, covered);
    for (size_t row = 0; done && row < columns->count; row++) {
        uint32_t step = busy_takes(columns, row) && !covered[row]
                            ? step_of(adder->member->steps, row)
                            : STEP_NONE;
        done = (step == STEP_NONE || add_mark(adder, ends[row], adder->numbers[step], MARK_WORK)) &&
               stopper_goes_on(adder->stopper, row, adder->failure);
    }
    memory_free(covered);
    return done;
}

/* A2.2: marks the backlog that starts before a limit. Raises `*reach` to its latest end. */
static bool add_backlog(const struct step_adder *adder, size_t step, int64_t limit, int64_t *reach)
{
    const struct columns *columns = &adder->member->file->columns;
    const uint32_t *ends = adder->to->graph->rows[adder->index].ends;
    if (!links_have_backlog(adder->member->file))
        return true;
    int64_t *first = links_first(adder->member->file, adder->stopper, adder->failure);
    bool done = first != NULL;
    for (size_t row = 0; done && row < columns->count; row++) {
        done = stopper_goes_on(adder->stopper, row, adder->failure);
        if (!link_is_backlog(columns, first, row) || !busy_takes(columns, row) ||
            columns->ts[row] >= limit)
            continue;
        *reach = busy_end(columns, row) > *reach ? busy_end(columns, row) : *reach;
        done = done && add_mark(adder, ends[row], step, MARK_BACKLOG);
    }
    memory_free(first);
    return done;
}

/* A2.1: returns the latest end of a step's device work, or the end of the host's step if it
** launched none. */
static int64_t own_end(const struct step_adder *adder, const struct window *host)
{
    const struct columns *columns = &adder->member->file->columns;
    int64_t end = NUMBER_NONE;
    for (size_t row = 0; row < columns->count; row++)
        if (busy_takes(columns, row) && step_of(adder->member->steps, row) == host->step &&
            (end == NUMBER_NONE || busy_end(columns, row) > end))
            end = busy_end(columns, row);
    return end == NUMBER_NONE ? host->end : end;
}

/* Marks every end in a file without steps. */
static bool add_all_ends(const struct step_adder *adder, struct sim_stretch *stretch)
{
    const struct sim_graph *graph = adder->to->graph;
    const uint32_t *ends = graph->rows[adder->index].ends;
    stretch->last = INT64_MIN;
    for (size_t row = 0; row < adder->member->file->columns.count; row++) {
        if (ends[row] != SIM_NONE && graph->at[ends[row]] > stretch->last)
            stretch->last = graph->at[ends[row]];
        if (!add_mark(adder, ends[row], stretch->first, MARK_WORK) ||
            !stopper_goes_on(adder->stopper, row, adder->failure))
            return false;
    }
    return true;
}

static bool add_marks(const struct step_adder *adder, struct sim_stretch *stretch)
{
    const struct window *host = &adder->to->items[stretch->first].host;
    int64_t reach = host->start;
    if (stretch->none)
        return add_all_ends(adder, stretch);
    bool done = add_host_marks(adder) &&
                (!stretch->device ||
                 (add_work_marks(adder) &&
                  add_backlog(adder, stretch->first, own_end(adder, host), &reach)));
    stretch->whole = stretch->count == 1 && reach == host->start;
    return done;
}

static bool add_steps(const struct step_adder *adder, const struct windows *host,
                      const struct windows *own, bool device, const struct step_choice *choice)
{
    struct sim_steps *to = adder->to;
    const struct sim_share *share = sim_share_of(to->graph->sample, adder->index);
    size_t first = to->count;
    if (!MEMORY_GROW(to->items, to->capacity, to->count + host->count))
        return failure_memory(adder->failure);
    for (size_t i = 0; i < host->count; i++) {
        uint32_t step = host->items[i].step;
        bool chosen =
            step == STEP_NONE ? choice->everything : choice->chosen[adder->index][step];
        const struct window *window = &own->items[i];
        bool known = sim_share_has(share, window->end, window->end);
        bool whole = known && sim_share_has(share, host->items[i].start, host->items[i].start);
        adder->numbers[step == STEP_NONE ? 0 : step] = known ? to->count : SIZE_MAX;
        to->chosen += chosen;
        to->items[to->count++] =
            (struct sim_step){adder->index, *window, whole ? host->items[i] : *window,
                              to->stretch_count, chosen};
    }
    if (host->count == 0)
        return true;
    struct sim_stretch *stretch = &to->stretches[to->stretch_count++];
    *stretch = (struct sim_stretch){.first = first,
                                    .count = host->count,
                                    .none = adder->member->steps->count == 0,
                                    .device = device};
    return add_marks(adder, stretch);
}

static bool add_member(struct step_adder *adder, const struct step_choice *choice)
{
    const struct trace_member *member = adder->member;
    bool device = busy_any(&member->file->columns);
    struct windows host, own = {.items = NULL};
    adder->numbers = memory_filled(member->steps->iteration_count + 1, sizeof *adder->numbers);
    adder->to->numbers[adder->index] = adder->numbers;
    bool done = adder->numbers || failure_memory(adder->failure);
    host.items = NULL;
    done = done && windows_make(&host, member, false, adder->stopper, adder->failure) &&
           windows_make(&own, member, device, adder->stopper, adder->failure) &&
           add_steps(adder, &host, &own, device, choice);
    windows_clear(&host);
    windows_clear(&own);
    return done;
}

bool sim_steps_make(struct sim_steps *steps, const struct sim_graph *graph,
                    const struct step_choice *choice, const struct stopper *stopper,
                    struct failure *failure)
{
    const struct trace *trace = graph->trace;
    *steps = (struct sim_steps){.graph = graph, .members = trace->count};
    steps->stretches = memory_zeroed(trace->count, sizeof *steps->stretches);
    steps->numbers = memory_zeroed(trace->count, sizeof *steps->numbers);
    bool done = (steps->stretches && steps->numbers) || failure_memory(failure);
    for (size_t i = 0; done && i < trace->count && graph->job.rank_count > 0; i++) {
        const struct trace_member *member = &trace->members[i];
        struct step_adder adder = {steps, member, i, NULL, stopper, failure};
        if (member->chosen && member->rank_index == graph->job.ranks[0].rank)
            done = add_member(&adder, choice);
    }
    steps->bounds = done ? memory_zeroed(steps->count, sizeof *steps->bounds) : NULL;
    done = done && (steps->bounds || failure_memory(failure));
    if (!done)
        sim_steps_clear(steps);
    return done;
}

bool sim_steps_add(struct sim_steps *steps, uint32_t node, size_t member, uint32_t step,
                   struct failure *failure)
{
    const size_t *numbers = steps->numbers[member];
    return !numbers || numbers[step] == SIZE_MAX ||
           put_mark(steps, node, numbers[step], MARK_WORK, failure);
}

static wide_time later_of(wide_time a, wide_time b)
{
    return a > b ? a : b;
}

/* Finds the bounds of all steps. */
static void collect(const struct sim_steps *steps, const int64_t *later)
{
    for (size_t i = 0; i < steps->count; i++)
        steps->bounds[i] = (struct sim_bounds){NEVER, -NEVER, -NEVER, -NEVER};
    for (size_t i = 0; i < steps->mark_count; i++) {
        const struct sim_mark *mark = &steps->marks[i];
        struct sim_bounds *bounds = &steps->bounds[mark->step];
        wide_time at = (wide_time)steps->graph->at[mark->node] + (later ? later[i] : 0);
        if (mark->kind == MARK_START)
            bounds->start = at < bounds->start ? at : bounds->start;
        else if (mark->kind == MARK_END)
            bounds->end = later_of(bounds->end, at);
        else if (mark->kind == MARK_WORK)
            bounds->work = later_of(bounds->work, at);
        else
            bounds->backlog = later_of(bounds->backlog, at);
    }
}

/* Computes the lengths of a member's steps from their bounds (A2). */
static void find_lengths(const struct sim_steps *steps, const struct sim_stretch *stretch,
                         wide_time *lengths)
{
    wide_time reach = 0;
    for (size_t i = stretch->first; i < stretch->first + stretch->count; i++) {
        const struct sim_bounds *bounds = &steps->bounds[i];
        const struct window *host = &steps->items[i].host;
        wide_time start = bounds->start == NEVER ? host->start : bounds->start;
        wide_time end = bounds->end == -NEVER ? host->end : bounds->end;
        if (stretch->device) {
            reach = i == stretch->first ? later_of(start, bounds->backlog) : reach;
            start = reach;
            if (bounds->work != -NEVER)
                end = stretch->whole ? later_of(end, bounds->work) : bounds->work;
            reach = end = later_of(end, reach);
        }
        lengths[i] = end > start ? end - start : 0;
    }
}

void sim_steps_find(const struct sim_steps *steps, const int64_t *later, wide_time *lengths)
{
    collect(steps, later);
    for (size_t s = 0; s < steps->stretch_count; s++) {
        const struct sim_stretch *stretch = &steps->stretches[s];
        if (!stretch->none) {
            find_lengths(steps, stretch, lengths);
            continue;
        }
        const struct window *window = &steps->items[stretch->first].window;
        wide_time work = steps->bounds[stretch->first].work;
        wide_time whole = (wide_time)window->end - window->start;
        whole += work == -NEVER ? 0 : work - stretch->last;
        lengths[stretch->first] = whole > 0 ? whole : 0;
    }
}

bool sim_steps_whole(const struct sim_steps *steps, size_t step)
{
    const struct sim_stretch *stretch = &steps->stretches[steps->items[step].stretch];
    return stretch->whole || !stretch->device;
}

wide_time sim_steps_sum(const struct sim_steps *steps, const wide_time *lengths)
{
    wide_time sum = 0;
    for (size_t i = 0; i < steps->count; i++)
        sum += steps->items[i].chosen ? lengths[i] : 0;
    return sum;
}

void sim_steps_clear(struct sim_steps *steps)
{
    memory_free(steps->items);
    memory_free(steps->marks);
    for (size_t i = 0; steps->numbers && i < steps->members; i++)
        memory_free(steps->numbers[i]);
    memory_free(steps->numbers);
    memory_free(steps->stretches);
    memory_free(steps->bounds);
    *steps = (struct sim_steps){.items = NULL};
}
