#include "compile_join.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

/* A step of a file. */
struct joined_step {
    int64_t number, start, end;
};

/* State of the search for a file's compilations. */
struct file_join {
    struct call *call;
    struct compile_join *join;
    const struct trace_member *member;
    struct compile_regions regions;
    struct joined_step *steps;
    size_t step_count;
    struct compile_process *process; /* NULL: the file has no log */
};

static bool has_pid(const struct trace_file *file, int64_t pid)
{
    for (size_t i = 0; i < file->tracks.count; i++)
        if (file->tracks.items[i].pid.kind == IDENTIFIER_INTEGER &&
            file->tracks.items[i].pid.value == pid)
            return true;
    return false;
}

/* Whether a process and a file overlap in time, or might. */
static bool shares_time(const struct compile_process *process, const struct trace_file *file)
{
    return process->first_event == NUMBER_NONE ||
           (process->first_event <= file->last && process->last_event >= file->first);
}

/* CL11: rates how well a process fits a file, from 1, the best; 0: not at all. */
static int fit_of(const struct file_join *at, const struct compile_process *process, bool only)
{
    bool same = process->rank == at->member->rank;
    bool pid = process->pid != NUMBER_NONE && has_pid(at->member->file, process->pid);
    return same && pid                             ? 1
           : same                                  ? 2
           : process->rank == NUMBER_NONE && pid   ? 3
           : only && process->rank == NUMBER_NONE && process->records > 0 ? 4
                                                   : 0;
}

/* CL11: chooses the process of the log that belongs to the file. */
static void choose_process(struct file_join *at, size_t members)
{
    struct compile_log *log = &at->join->log;
    int best = 0;
    bool best_shares = false, several = false;
    for (size_t i = 0; i < log->process_count; i++) {
        struct compile_process *process = &log->processes[i];
        int fit = fit_of(at, process, log->process_count == 1 && members == 1);
        bool shares = shares_time(process, at->member->file);
        if (fit == 0 || (best > 0 && (fit > best || (fit == best && best_shares && !shares))))
            continue;
        several = fit == best && shares == best_shares;
        best = fit;
        best_shares = shares;
        at->process = process;
    }
    if (several && best > 1)
        at->process = NULL; /* a log of another run is worse than no log */
    if (at->process)
        at->join->used[at->process - log->processes] = true;
}

#define PREFIX_NS 1000000 /* resolution of the times in prefixes */

/* Counts the compilations that start inside a region, given a clock. */
static size_t held_by(const struct file_join *at, const struct log_clock *clock)
{
    const struct compile_log *log = &at->join->log;
    size_t held = 0;
    for (uint32_t i = at->process->found.first; i != COMPILE_NONE; i = log->compilations[i].next)
        for (size_t k = 0; k < at->regions.count; k++) {
            const struct compile_region *region = &at->regions.items[k];
            int64_t local = log->compilations[i].start_local;
            if (local == NUMBER_NONE || region->part == COMPILE_RUNTIME)
                continue;
            int64_t time = log_time(clock, local);
            if (time > region->start - PREFIX_NS && time < region->end) {
                held++;
                break;
            }
        }
    return held;
}

/* CL4.3: finds the clock of a log from the trace if the log does not tell it. */
static void find_clock(struct file_join *at)
{
    enum { MOST_TRIED = 64 };
    struct compile_log *log = &at->join->log;
    struct compile_process *process = at->process;
    size_t best = 0, tried = 0;
    struct log_clock clock = {.known = false};
    if (process->clock.known)
        return;
    for (uint32_t i = process->found.first; i != COMPILE_NONE && tried < MOST_TRIED; tried++) {
        int64_t local = log->compilations[i].start_local;
        for (size_t k = 0; k < at->regions.count && k < MOST_TRIED && local != NUMBER_NONE; k++) {
            struct log_clock trial = log_clock_of(local, at->regions.items[k].start);
            size_t held = held_by(at, &trial);
            if (held > best) {
                best = held;
                clock = trial;
            }
        }
        i = log->compilations[i].next;
    }
    if (best == 0)
        return;
    process->clock = clock;
    process->told = CLOCK_OF_TRACE;
    compile_times(log, process);
}

static int joined_order(const void *a, const void *b)
{
    const struct joined_step *x = a, *y = b;
    return COMPARE(x->number, y->number);
}

/* Lists the chosen steps of the file, merging steps with equal numbers (A2.6). Without steps, the
** whole file is one. */
static bool find_steps(struct file_join *at, const unsigned char *chosen)
{
    const struct steps *steps = at->member->steps;
    const struct columns *columns = &at->member->file->columns;
    size_t count = 0;
    at->steps = memory_items(steps->count + 1, sizeof *at->steps);
    if (!at->steps)
        return failure_memory(&at->call->failure);
    if (steps->count == 0)
        at->steps[count++] = (struct joined_step){NUMBER_NONE, at->member->file->first,
                                                  at->member->file->last};
    for (size_t i = 0; i < steps->count; i++) {
        uint32_t row = steps->items[i].row, iteration = step_of(steps, row);
        if (iteration == STEP_NONE || columns->dur[row] < 0 ||
            columns->dur[row] > INT64_MAX / 2 - columns->ts[row] / 2 ||
            (chosen && !chosen[iteration]))
            continue;
        at->steps[count++] = (struct joined_step){member_iteration(at->member, iteration),
                                                  columns->ts[row],
                                                  columns->ts[row] + columns->dur[row]};
    }
    if (!sort_items(at->steps, count, sizeof *at->steps, joined_order, call_stopper(at->call),
                    &at->call->failure))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct joined_step *last = at->step_count > 0 ? &at->steps[at->step_count - 1] : NULL;
        if (last && last->number == at->steps[i].number) {
            last->start = at->steps[i].start < last->start ? at->steps[i].start : last->start;
            last->end = at->steps[i].end > last->end ? at->steps[i].end : last->end;
        } else {
            at->steps[at->step_count++] = at->steps[i];
        }
    }
    return true;
}

/* Adds a compilation to each step that it overlaps. */
static bool add_to_steps(struct file_join *at, const struct compile_in_step *found)
{
    struct compile_join *join = at->join;
    for (size_t i = 0; i < at->step_count; i++) {
        const struct joined_step *step = &at->steps[i];
        if (found->start >= step->end || found->end <= step->start)
            continue;
        if (!MEMORY_GROW(join->items, join->capacity, join->count + 1))
            return failure_memory(&at->call->failure);
        struct compile_in_step *item = &join->items[join->count++];
        *item = *found;
        item->rank = at->member->rank;
        item->step = step->number;
        item->step_start = step->start;
        item->step_end = step->end;
    }
    return stopper_ask(call_stopper(at->call), &at->call->failure);
}

static void take_name(const struct name *name, const char **text, size_t *length)
{
    *text = name ? name->text : NULL;
    *length = name ? name->length : 0;
}

/* Returns the end of a compilation, or its start if the end is unknown. */
static int64_t end_of(const struct compilation *of)
{
    return of->dur > 0 ? of->start + of->dur : of->start;
}

/* Adds the compilations of the log, and its outermost spans outside of compilations. */
static bool add_logged(struct file_join *at)
{
    const struct compile_log *log = &at->join->log;
    bool done = true;
    for (uint32_t i = at->process->found.first; done && i != COMPILE_NONE;
         i = log->compilations[i].next) {
        const struct compilation *of = &log->compilations[i];
        if (of->start == NUMBER_NONE)
            continue;
        struct compile_in_step item = {.start = of->start,
                                       .end = end_of(of),
                                       .part = of->part,
                                       .by_log = true,
                                       .compilation = i,
                                       .recompile = of->recompile,
                                       .frame = -1};
        take_name(compile_text(log, of->id), &item.id, &item.id_length);
        if (of->root != COMPILE_NONE)
            take_name(compile_text(log, log->spans[of->root].name), &item.name,
                      &item.name_length);
        memcpy(item.phases, of->phases, sizeof item.phases);
        done = add_to_steps(at, &item);
    }
    for (uint32_t i = at->process->spans.first; done && i != COMPILE_NONE;
         i = log->spans[i].next) {
        const struct compile_span *span = &log->spans[i];
        if (span->parent != COMPILE_NONE || span->compilation != COMPILE_NONE || span->instant ||
            span->dur == NUMBER_NONE)
            continue;
        struct compile_in_step item = {.start = span->ts,
                                       .end = span->ts + span->dur,
                                       .part = COMPILE_RUNTIME,
                                       .by_log = true,
                                       .compilation = COMPILE_NONE,
                                       .recompile = NUMBER_NONE,
                                       .frame = -1};
        take_name(compile_text(log, span->id), &item.id, &item.id_length);
        take_name(compile_text(log, span->name), &item.name, &item.name_length);
        for (size_t k = 0; k < COMPILE_PHASES; k++)
            item.phases[k] = NUMBER_NONE;
        done = add_to_steps(at, &item);
    }
    return done;
}

/* Whether the log has a compilation that overlaps a region. */
static bool is_logged(const struct file_join *at, const struct compile_region *region)
{
    const struct compile_log *log = &at->join->log;
    uint32_t i = at->process ? at->process->found.first : COMPILE_NONE;
    for (; i != COMPILE_NONE; i = log->compilations[i].next) {
        const struct compilation *of = &log->compilations[i];
        if (of->start != NUMBER_NONE && of->start < region->end &&
            end_of(of) > region->start)
            return true;
    }
    return false;
}

/* Finds the compilation with the id and part of a region, in a log that does not overlap the trace
** in time. */
static uint32_t compilation_of(const struct file_join *at, const struct compile_region *region)
{
    const struct compile_log *log = &at->join->log;
    uint32_t i = at->process && region->id ? at->process->found.first : COMPILE_NONE;
    for (; i != COMPILE_NONE; i = log->compilations[i].next) {
        const struct name *id = compile_text(log, log->compilations[i].id);
        if (log->compilations[i].part == region->part && id->length == region->id_length &&
            memcmp(id->text, region->id, id->length) == 0)
            return i;
    }
    return COMPILE_NONE;
}

/* Returns the index of an id's frame in the order in which frames first run in the file (CL11); -1:
** unknown. */
static int64_t frame_of(const struct file_join *at, const struct compile_region *region)
{
    static const char prefix[] = "Torch-Compiled Region: ";
    const struct trace_file *file = at->member->file;
    int64_t order = 0;
    size_t frame = region->id_length, prefixed = strlen(prefix);
    while (frame > 0 && region->id[frame - 1] != '/')
        frame--;
    if (frame == 0)
        return -1;
    for (size_t i = 0; i < file->names.count; i++) { /* in the order of first events */
        const struct name *name = &file->names.items[i];
        if (name->length <= prefixed || memcmp(name->text, prefix, prefixed) != 0 ||
            strcmp(name->text + name->length - 2, "/0") != 0)
            continue;
        if (name->length >= prefixed + frame &&
            memcmp(name->text + prefixed, region->id, frame) == 0)
            return order;
        order++;
    }
    return order;
}

/* Adds the regions of the trace that the log lacks. */
static bool add_regions(struct file_join *at)
{
    const struct trace_file *file = at->member->file;
    bool done = true;
    for (size_t i = 0; done && i < at->regions.count; i++) {
        const struct compile_region *region = &at->regions.items[i];
        if (is_logged(at, region))
            continue;
        struct compile_in_step item = {.start = region->start,
                                       .end = region->end,
                                       .part = region->part,
                                       .compilation = compilation_of(at, region),
                                       .id = region->id,
                                       .id_length = region->id_length,
                                       .recompile = NUMBER_NONE,
                                       .frame = region->id ? frame_of(at, region) : -1};
        if (region->id && region->part != COMPILE_RUNTIME)
            item.recompile = compile_number(region->id, region->id_length) > 0;
        take_name(&file->names.items[file->columns.name[region->row]], &item.name,
                  &item.name_length);
        for (size_t k = 0; k < COMPILE_PHASES; k++)
            item.phases[k] = region->part == COMPILE_RUNTIME ? NUMBER_NONE : region->phases[k];
        done = add_to_steps(at, &item);
    }
    return done;
}

static bool join_file(struct call *call, struct compile_join *join,
                      const struct call_trace *opened, size_t member, size_t members)
{
    struct file_join at = {
        .call = call, .join = join, .member = &opened->trace.members[member]};
    bool done = compile_regions_find(&at.regions, at.member->file, call_stopper(call),
                                     &call->failure) &&
                find_steps(&at, opened->steps.chosen ? call_trace_steps(opened, member) : NULL);
    if (done) {
        choose_process(&at, members);
        if (at.process)
            find_clock(&at);
        join->compiled = join->compiled || at.regions.count > 0;
        done = (!at.process || !shares_time(at.process, at.member->file) || add_logged(&at)) &&
               add_regions(&at);
    }
    compile_regions_clear(&at.regions);
    memory_free(at.steps);
    return done;
}

static int item_order(const void *a, const void *b)
{
    const struct compile_in_step *x = a, *y = b;
    return x->rank != y->rank     ? COMPARE(x->rank, y->rank)
           : x->step != y->step   ? COMPARE(x->step, y->step)
           : x->start != y->start ? COMPARE(x->start, y->start)
                                  : COMPARE(y->end, x->end);
}

bool compile_join_find(struct call *call, const struct call_trace *opened, int argument,
                       struct compile_join *join)
{
    size_t members = 0;
    *join = (struct compile_join){.items = NULL};
    bool done = call_logs_of_trace(call, argument, &opened->trace, &join->log);
    join->used = done ? memory_zeroed(join->log.process_count + 1, sizeof *join->used) : NULL;
    done = done && (join->used || failure_memory(&call->failure));
    for (size_t i = 0; i < opened->trace.count; i++)
        members += opened->trace.members[i].is_trace;
    for (size_t i = 0; done && i < opened->trace.count; i++)
        if (opened->trace.members[i].chosen && opened->trace.members[i].is_trace)
            done = join_file(call, join, opened, i, members);
    return done && sort_items(join->items, join->count, sizeof *join->items, item_order,
                              call_stopper(call), &call->failure);
}

void compile_join_clear(struct compile_join *join)
{
    compile_log_clear(&join->log);
    memory_free(join->used);
    memory_free(join->items);
    *join = (struct compile_join){.items = NULL};
}
