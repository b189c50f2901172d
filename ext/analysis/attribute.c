#include "attribute.h"

#include <string.h>

#include "../reader/memory.h"
#include "instants.h"
#include "job_schedule.h"
#include "parts.h"

/* A step of the attribution. */
struct step_place {
    struct window window;
    size_t member; /* index into the trace's members */
    int64_t rank;
    uint32_t job_window; /* of a job: the window of the reference; else undefined */
};

struct attribution {
    const struct trace *trace;
    struct instants instants;
    struct step_place *places; /* by rank, then iteration */
    size_t count, capacity;
    bool is_job;
    struct job job;
    struct job_schedule schedule;
    struct attributed_step *steps; /* of a job: by place; NULL: not asked for yet */
};

const char *step_class_name(enum step_class step_class)
{
    static const char *const names[] = {
        "compute",     "comm",      "memory", "idle_call", "idle_host",  "idle_unrecorded",
        "idle_launch", "idle_wait", "call",   "host",      "unrecorded", NULL};
    return names[step_class];
}

/* Makes a step the one that parts are added to. */
static void begin_parts(struct instants *instants, struct attributed_step *to, size_t rank)
{
    instants->to = to;
    instants->rank = (uint32_t)rank;
    table_clear(&instants->parts);
}

/* Checks and sorts the parts of a step, or of all steps of which this is the first. */
static bool finish_parts(struct attribution *attribution, struct attributed_step *to, size_t first,
                         struct failure *failure)
{
    const struct instants *instants = &attribution->instants;
    const char *error = to->steps == 1 ? "'%s': a part of a step is beyond 64 bits of nanoseconds"
                                       : "'%s': a part of all steps is beyond 64 bits";
    bool done = true;
    for (size_t i = 0; i < to->count && done; i++)
        if (to->rows[i].time > INT64_MAX)
            done =
                failure_set(failure, FAILURE_REQUEST, error,
                            attribution->trace->members[attribution->places[first].member].path);
    done = done && parts_sort(to, &instants->names.names, instants->stopper, failure);
    if (!done)
        to->count = 0;
    return done;
}

/* Adds the parts of a step of a rank. */
static bool add_step(struct attribution *attribution, size_t number)
{
    const struct step_place *place = &attribution->places[number];
    const struct window *window = &place->window;
    struct instants *instants = &attribution->instants;
    return window->start < window->end
               ? instants_add(instants, place->member, window, window->start, window->end)
               : instants_add_none(instants);
}

/* Adds a stretch of the path of a job. */
static bool add_stretch(struct attribution *attribution, const struct job_stretch *stretch)
{
    struct instants *instants = &attribution->instants;
    const struct job_rank *rank = &attribution->job.ranks[stretch->rank];
    const struct job_window *own = &rank->windows[stretch->window];
    int64_t from = stretch->own_start, to = from + (stretch->end - stretch->start), since;
    if (stretch->queued != JOB_NONE) {
        const struct job_collective *queued = &rank->collectives[stretch->queued];
        for (own = rank->windows; own->member != queued->member;)
            own++;
        return instants_add_row(instants, queued->member, &own->window, queued->row, from, to);
    }
    if (stretch->rank == 0)
        return instants_add(instants, own->member, &own->window, from, to);
    for (; from < to; to = since) {
        own = &rank->windows[job_rank_window(rank, to, &since)];
        since = since > from ? since : from;
        if (!instants_add(instants, own->member, &own->window, since, to))
            return false;
    }
    return true;
}

/* Adds the parts of the chosen steps of a job, rank by rank: to `total`, or each to its own. */
static bool add_job(struct attribution *attribution, struct attributed_step *total)
{
    const struct job *job = &attribution->job;
    struct instants *instants = &attribution->instants;
    size_t windows = job->rank_count > 0 ? job->ranks[0].window_count : 0;
    uint32_t *places = memory_filled(windows, sizeof *places);
    bool done = places || failure_memory(instants->failure);
    for (size_t i = 0; done && i < attribution->count; i++)
        places[attribution->places[i].job_window] = (uint32_t)i;
    uint32_t last_rank = JOB_NONE, last_window = JOB_NONE;
    for (size_t i = 0; done && i < attribution->schedule.count; i++) {
        const struct job_stretch *stretch = &attribution->schedule.items[i];
        uint32_t place = places[stretch->window];
        if (place == JOB_NONE)
            continue;
        if (!total && (stretch->rank != last_rank || stretch->window != last_window))
            begin_parts(instants, &attribution->steps[place], job->ranks[stretch->rank].rank);
        last_rank = stretch->rank;
        last_window = stretch->window;
        done = add_stretch(attribution, stretch);
    }
    for (size_t i = 0; done && i < attribution->count; i++) {
        const struct step_place *place = &attribution->places[i];
        if (place->window.start < place->window.end)
            continue;
        if (!total)
            begin_parts(instants, &attribution->steps[i], job->ranks[0].rank);
        done = instants_add_none(instants);
    }
    memory_free(places);
    return done;
}

/* Computes the steps of a job. */
static bool make_steps(struct attribution *attribution, struct failure *failure)
{
    attribution->instants.failure = failure;
    attribution->steps = memory_zeroed(attribution->count, sizeof *attribution->steps);
    bool done = attribution->steps ? add_job(attribution, NULL) : failure_memory(failure);
    for (size_t i = 0; done && i < attribution->count; i++) {
        attribution->steps[i].steps = 1;
        done = finish_parts(attribution, &attribution->steps[i], i, failure);
    }
    return done;
}

static void clear_steps(struct attribution *attribution)
{
    for (size_t i = 0; attribution->steps && i < attribution->count; i++)
        memory_free(attribution->steps[i].rows);
    memory_free(attribution->steps);
    attribution->steps = NULL;
}

/* Copies a step of a job. */
static bool copy_step(struct attribution *attribution, size_t number, struct attributed_step *step,
                      struct failure *failure)
{
    if (!attribution->steps && !make_steps(attribution, failure)) {
        clear_steps(attribution);
        return false;
    }
    const struct attributed_step *from = &attribution->steps[number];
    if (!MEMORY_GROW(step->rows, step->capacity, from->count))
        return failure_memory(failure);
    memcpy(step->rows, from->rows, from->count * sizeof *step->rows);
    step->count = from->count;
    return true;
}

bool attribution_step(struct attribution *attribution, size_t number, struct attributed_step *step,
                      struct failure *failure)
{
    const struct step_place *place = &attribution->places[number];
    const struct trace_member *member = &attribution->trace->members[place->member];
    const struct steps *steps = member->steps;
    uint32_t form = place->window.step == STEP_NONE
                        ? NAME_NONE
                        : steps->items[steps->first[place->window.step]].form;
    step->steps = 1;
    step->total = false;
    step->iteration = place->window.iteration;
    step->form = form == NAME_NONE ? NULL : &member->file->names.items[form];
    step->count = 0;
    if (attribution->is_job)
        return copy_step(attribution, number, step, failure);
    attribution->instants.failure = failure;
    begin_parts(&attribution->instants, step, member->rank_index);
    if (add_step(attribution, number) && finish_parts(attribution, step, number, failure))
        return true;
    step->count = 0;
    return false;
}

bool attribution_total(struct attribution *attribution, struct attributed_step *total,
                       struct failure *failure)
{
    total->steps = attribution->count;
    total->total = true;
    total->iteration = NUMBER_NONE;
    total->form = NULL;
    total->count = 0;
    attribution->instants.failure = failure;
    begin_parts(&attribution->instants, total, 0);
    bool done = !attribution->is_job || add_job(attribution, total);
    for (size_t i = 0; done && !attribution->is_job && i < attribution->count; i++)
        done = add_step(attribution, i);
    if (done && finish_parts(attribution, total, 0, failure))
        return true;
    total->count = 0;
    return false;
}

/* Adds a window if its step is chosen. */
static bool add_place(struct attribution *attribution, const struct window *window, size_t member,
                      uint32_t job_window, const struct step_choice *choice,
                      struct failure *failure)
{
    if (window->step == STEP_NONE ? !choice->everything : !choice->chosen[member][window->step])
        return true;
    if (!MEMORY_GROW(attribution->places, attribution->capacity, attribution->count + 1))
        return failure_memory(failure);
    attribution->places[attribution->count++] = (struct step_place){
        *window, member, attribution->trace->members[member].rank, job_window};
    return true;
}

/* Adds the chosen steps of a member. */
static bool add_member(struct attribution *attribution, size_t member,
                       const struct step_choice *choice, bool device_clock,
                       struct failure *failure)
{
    const struct trace_member *of = &attribution->trace->members[member];
    struct windows windows;
    if (!windows_make(&windows, of, device_clock && busy_any(&of->file->columns),
                      attribution->instants.stopper, failure))
        return false;
    bool done = true;
    for (size_t i = 0; i < windows.count && done; i++)
        done = add_place(attribution, &windows.items[i], member, 0, choice, failure);
    windows_clear(&windows);
    return done;
}

static int stretch_order(const void *a, const void *b)
{
    const struct job_stretch *x = a, *y = b;
    int order = COMPARE(x->rank, y->rank);
    order = order ? order : COMPARE(x->window, y->window);
    return order ? order : COMPARE(x->start, y->start);
}

/* Finds the path of the job, and adds the chosen steps of the reference. */
static bool add_reference(struct attribution *attribution, const struct step_choice *choice,
                          bool device_clock, struct failure *failure)
{
    struct job *job = &attribution->job;
    struct job_schedule *schedule = &attribution->schedule;
    const struct stopper *stopper = attribution->instants.stopper;
    bool done = job_make(job, attribution->trace, device_clock, stopper, failure) &&
                job_schedule_make(schedule, job, failure) &&
                sort_items(schedule->items, schedule->count, sizeof *schedule->items,
                           stretch_order, stopper, failure);
    for (size_t i = 0; done && job->rank_count > 0 && i < job->ranks[0].window_count; i++)
        done = add_place(attribution, &job->ranks[0].windows[i].window,
                         job->ranks[0].windows[i].member, (uint32_t)i, choice, failure);
    return done;
}

static int place_order(const void *a, const void *b)
{
    const struct step_place *x = a, *y = b;
    int order = COMPARE(x->rank, y->rank);
    return order ? order : COMPARE(x->window.iteration, y->window.iteration);
}

struct attribution *attribution_new(const struct trace *trace, const struct step_choice *choice,
                                    const struct attribution_request *request,
                                    const struct stopper *stopper, struct failure *failure)
{
    struct attribution *attribution = memory_zeroed(1, sizeof *attribution);
    if (!attribution) {
        failure_memory(failure);
        return NULL;
    }
    bool device_clock = request->clock == CLOCK_DEVICE;
    attribution->trace = trace;
    attribution->is_job = request->job;
    bool done = instants_make(&attribution->instants, trace, request->level, request->knowledge,
                              stopper, failure);
    if (done && request->job)
        done = add_reference(attribution, choice, device_clock, failure);
    for (size_t i = 0; i < trace->count && done && !request->job; i++)
        done = !trace->members[i].chosen ||
               add_member(attribution, i, choice, device_clock, failure);
    if (done && sort_items(attribution->places, attribution->count, sizeof *attribution->places,
                           place_order, stopper, failure))
        return attribution;
    attribution_free(attribution);
    return NULL;
}

size_t attribution_count(const struct attribution *attribution)
{
    return attribution->count;
}

const struct names *attribution_names(const struct attribution *attribution)
{
    return &attribution->instants.names.names;
}

void attribution_free(struct attribution *attribution)
{
    if (!attribution)
        return;
    clear_steps(attribution);
    job_schedule_clear(&attribution->schedule);
    job_clear(&attribution->job);
    instants_clear(&attribution->instants);
    memory_free(attribution->places);
    memory_free(attribution);
}
