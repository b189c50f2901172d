#include "attribute.h"

#include <string.h>

#include "base/memory.h"
#include "instants.h"
#include "analysis/job/job_schedule.h"
#include "kept_parts.h"
#include "analysis/parts/parts.h"

/* A set of parts, with a map from its names to the attribution's. */
struct part_source {
    struct kept_parts *kept;
    uint32_t *ids; /* by name id of the set: id in the attribution, or NOT_KNOWN */
    size_t id_count, id_capacity;
};

/* A step of the attribution. */
struct step_place {
    struct part_source *source;
    size_t step; /* index in source.kept */
    size_t member;
    int64_t rank, iteration;
};

struct attribution {
    const struct trace *trace;
    struct attribution_request request;
    struct instants instants;
    const struct stopper *stopper;
    struct part_source *sources; /* by member; a job has only the first */
    struct step_place *places;   /* by rank, then iteration */
    size_t count, capacity;
    struct names names; /* names of the answered parts */
    struct table parts; /* parts of the current answer */
    struct job job;     /* made only when missing parts are needed */
    struct job_schedule schedule;
    bool scheduled;
};

static struct kept_step *kept_step(const struct step_place *place)
{
    return &place->source->kept->steps[place->step];
}

/* Maps a name id of the source to the attribution's. Returns false if out of memory. */
static bool adopt_name(struct attribution *attribution, struct part_source *source, uint32_t id,
                       uint32_t *name)
{
    const struct names *names = &source->kept->names;
    *name = NAME_NONE;
    if (id == NAME_NONE)
        return true;
    if (id >= source->id_count) {
        if (!MEMORY_GROW(source->ids, source->id_capacity, names->count))
            return false;
        while (source->id_count < names->count)
            source->ids[source->id_count++] = NOT_KNOWN;
    }
    if (source->ids[id] == NOT_KNOWN) {
        uint32_t own = names_adopt(&attribution->names, &names->items[id]);
        if (own == NAME_NONE)
            return false;
        source->ids[id] = own;
    }
    *name = source->ids[id];
    return true;
}

/* Adds the parts of a step to an answer. Sums over all steps have no ranks. */
static bool add_parts(struct attribution *attribution, const struct step_place *place,
                      struct attributed_step *to, struct failure *failure)
{
    const struct attributed_step *from = &kept_step(place)->parts;
    enum label_level level = attribution->request.level;
    for (size_t i = 0; i < from->count; i++) {
        struct attributed part;
        bool named = true;
        if (!part_at_level(&from->rows[i], level, attribution->request.causes, &part))
            continue;
        for (int name = 0; name < PART_NAMES && named; name++)
            named = adopt_name(attribution, place->source, part.name[name], &part.name[name]);
        if (!attribution->request.job)
            part.rank = (uint32_t)attribution->trace->members[place->member].rank_index;
        if (to->total)
            part.rank = 0;
        if (!stopper_goes_on(attribution->stopper, i, failure))
            return false;
        if (!named || !parts_add(&attribution->parts, to, &part))
            return failure_memory(failure);
    }
    return true;
}

/* Checks and sorts the parts of step `first` or, in a total, of all steps. */
static bool finish_parts(struct attribution *attribution, struct attributed_step *to, size_t first,
                         struct failure *failure)
{
    const char *error = to->steps == 1 ? "'%s': a part of a step is beyond 64 bits of nanoseconds"
                                       : "'%s': a part of all steps is beyond 64 bits";
    bool done = true;
    for (size_t i = 0; i < to->count && done; i++)
        if (to->rows[i].time > INT64_MAX)
            done =
                failure_set(failure, FAILURE_REQUEST, error,
                            attribution->trace->members[attribution->places[first].member].path);
    return done && parts_sort(to, &attribution->names, attribution->stopper, failure);
}

/* Finds the parts of a rank's step. */
static bool make_step(struct attribution *attribution, struct kept_parts *kept,
                      struct kept_step *step, struct failure *failure)
{
    const struct window *window = &step->window;
    struct instants *instants = &attribution->instants;
    if (step->made)
        return true;
    instants_begin(instants, &step->parts, &kept->names, 0, failure);
    if (window->start < window->end
            ? instants_add(instants, step->member, window, window->start, window->end)
            : instants_add_none(instants)) {
        kept_parts_made(kept, step);
        return true;
    }
    kept_parts_drop(kept, step);
    return false;
}

/* Finds the parts of a rank's step. In a file with few steps, finds them all for later queries,
** because preparing the file costs as much as many steps. */
static bool make_steps(struct attribution *attribution, const struct step_place *place,
                       struct failure *failure)
{
    struct kept_parts *kept = place->source->kept;
    bool few = kept->owner && kept->count <= KEPT_TOGETHER, done = true;
    bool others = few && !kept_step(place)->made;
    for (size_t i = 0; others && i < kept->count && done; i++)
        done = make_step(attribution, kept, &kept->steps[i], failure);
    return done && make_step(attribution, kept, kept_step(place), failure);
}

static int stretch_order(const void *a, const void *b)
{
    const struct job_stretch *x = a, *y = b;
    int order = COMPARE(x->rank, y->rank);
    order = order ? order : COMPARE(x->window, y->window);
    return order ? order : COMPARE(x->start, y->start);
}

/* Finds the path of the job on the first call. */
static bool make_schedule(struct attribution *attribution, struct failure *failure)
{
    struct job_schedule *schedule = &attribution->schedule;
    if (!attribution->scheduled)
        attribution->scheduled =
            job_make(&attribution->job, attribution->trace,
                     attribution->request.clock == CLOCK_DEVICE, false, attribution->stopper,
                     failure) &&
            job_schedule_make(schedule, &attribution->job, failure) &&
            sort_items(schedule->items, schedule->count, sizeof *schedule->items, stretch_order,
                       attribution->stopper, failure);
    return attribution->scheduled;
}

static bool add_stretch(struct attribution *attribution, const struct job_stretch *stretch)
{
    struct instants *instants = &attribution->instants;
    const struct job_rank *rank = &attribution->job.ranks[stretch->rank];
    struct job_piece piece = {.window = NULL};
    bool done = true;
    while (done && job_stretch_piece(&attribution->job, stretch, &piece))
        done = stretch->queued == JOB_NONE
                   ? instants_add(instants, piece.window->member, &piece.window->window,
                                  piece.start, piece.end)
                   : instants_add_row(instants, piece.window->member, &piece.window->window,
                                      rank->collectives[stretch->queued].row, piece.start,
                                      piece.end);
    return done;
}

/* Adds the parts of the wanted steps of a job, rank by rank. `wanted` is by step. */
static bool add_job(struct attribution *attribution, struct kept_parts *kept, const bool *wanted,
                    struct failure *failure)
{
    const struct job *job = &attribution->job;
    struct instants *instants = &attribution->instants;
    uint32_t last_rank = JOB_NONE, last_window = JOB_NONE;
    for (size_t i = 0; i < attribution->schedule.count; i++) {
        const struct job_stretch *stretch = &attribution->schedule.items[i];
        if (!wanted[stretch->window])
            continue;
        if (stretch->rank != last_rank || stretch->window != last_window)
            instants_begin(instants, &kept->steps[stretch->window].parts, &kept->names,
                           (uint32_t)job->ranks[stretch->rank].rank, failure);
        last_rank = stretch->rank;
        last_window = stretch->window;
        if (!add_stretch(attribution, stretch))
            return false;
    }
    for (size_t i = 0; i < kept->count; i++) {
        const struct window *window = &kept->steps[i].window;
        if (!wanted[i] || window->start < window->end)
            continue;
        instants_begin(instants, &kept->steps[i].parts, &kept->names,
                       (uint32_t)job->ranks[0].rank, failure);
        if (!instants_add_none(instants))
            return false;
    }
    return true;
}

/* Finds the missing parts of the chosen steps of a job. */
static bool make_job_steps(struct attribution *attribution, struct failure *failure)
{
    struct kept_parts *kept = attribution->sources[0].kept;
    size_t missing = 0;
    for (size_t i = 0; i < attribution->count; i++)
        missing += !kept_step(&attribution->places[i])->made;
    if (missing == 0)
        return true;
    bool *wanted = memory_zeroed(kept->count, sizeof *wanted);
    bool done = (wanted || failure_memory(failure)) && make_schedule(attribution, failure);
    for (size_t i = 0; done && i < attribution->count; i++)
        wanted[attribution->places[i].step] = !kept_step(&attribution->places[i])->made;
    done = done && add_job(attribution, kept, wanted, failure);
    for (size_t i = 0; wanted && i < kept->count; i++)
        if (wanted[i] && done)
            kept_parts_made(kept, &kept->steps[i]);
        else if (wanted[i])
            kept_parts_drop(kept, &kept->steps[i]);
    memory_free(wanted);
    return done;
}

static void begin_answer(struct attribution *attribution, struct attributed_step *to, bool total)
{
    to->steps = total ? attribution->count : 1;
    to->total = total;
    to->iteration = NUMBER_NONE;
    to->form = NULL;
    to->count = 0;
    table_clear(&attribution->parts);
}

/* Adds a step to an answer. Frees parts beyond the limit at once, except for jobs, whose steps are
** found together. */
static bool answer_step(struct attribution *attribution, size_t number, struct attributed_step *to,
                        struct failure *failure)
{
    const struct step_place *place = &attribution->places[number];
    struct kept_parts *kept = place->source->kept;
    bool job = attribution->request.job;
    bool done = (job ? make_job_steps(attribution, failure)
                     : make_steps(attribution, place, failure)) &&
                add_parts(attribution, place, to, failure);
    if (!job && kept_parts_full(kept))
        kept_parts_drop(kept, kept_step(place));
    return done;
}

int64_t attribution_iteration(const struct attribution *attribution, size_t number)
{
    return attribution->places[number].iteration;
}

bool attribution_step(struct attribution *attribution, size_t number, struct attributed_step *step,
                      struct failure *failure)
{
    const struct step_place *place = &attribution->places[number];
    const struct trace_member *member = &attribution->trace->members[place->member];
    const struct steps *steps = member->steps;
    uint32_t of = kept_step(place)->window.step;
    uint32_t form = of == STEP_NONE ? NAME_NONE : steps->items[steps->first[of]].form;
    begin_answer(attribution, step, false);
    step->iteration = place->iteration;
    step->form = form == NAME_NONE ? NULL : &member->file->names.items[form];
    if (answer_step(attribution, number, step, failure) &&
        finish_parts(attribution, step, number, failure))
        return true;
    step->count = 0;
    return false;
}

bool attribution_total(struct attribution *attribution, struct attributed_step *total,
                       struct failure *failure)
{
    bool done = true;
    begin_answer(attribution, total, true);
    for (size_t i = 0; done && i < attribution->count; i++)
        done = answer_step(attribution, i, total, failure);
    if (done && finish_parts(attribution, total, 0, failure))
        return true;
    total->count = 0;
    return false;
}

/* Adds the chosen steps of a source. */
static bool add_places(struct attribution *attribution, struct part_source *source,
                       const struct step_choice *choice, struct failure *failure)
{
    for (size_t i = 0; i < source->kept->count; i++) {
        const struct kept_step *step = &source->kept->steps[i];
        uint32_t of = step->window.step;
        if (of == STEP_NONE ? !choice->everything : !choice->chosen[step->member][of])
            continue;
        if (!MEMORY_GROW(attribution->places, attribution->capacity, attribution->count + 1))
            return failure_memory(failure);
        attribution->places[attribution->count++] =
            (struct step_place){source, i, step->member,
                                attribution->trace->members[step->member].rank,
                                step->window.iteration};
    }
    return true;
}

/* kept_parts.h, rule 4: true if a member's parts are the same for every query. */
static bool can_keep(const struct attribution *attribution, const struct trace_member *member)
{
    return !member->own_steps && !attribution->request.knowledge.captures &&
           !attribution->request.drained;
}

/* Finds or makes the set of parts for a member. */
static bool open_member(struct attribution *attribution, size_t index,
                        const struct step_choice *choice, struct failure *failure)
{
    const struct trace_member *member = &attribution->trace->members[index];
    bool device_clock = attribution->request.clock == CLOCK_DEVICE;
    enum { KEY = 5 };
    const uint64_t key[KEY] = {device_clock, (uintptr_t)member->steps,
                               (uint64_t)member->first_step, index, member->unshared_key};
    struct part_source *source = &attribution->sources[index];
    struct windows windows;
    if (can_keep(attribution, member))
        source->kept = kept_parts_find(member->file, key, KEY);
    if (source->kept)
        return add_places(attribution, source, choice, failure);
    if (!windows_make(&windows, member, device_clock && busy_any(&member->file->columns),
                      attribution->stopper, failure))
        return false;
    source->kept = kept_parts_new(key, KEY);
    bool done = source->kept != NULL;
    for (size_t i = 0; i < windows.count && done; i++)
        done = kept_parts_add(source->kept, &windows.items[i], index);
    windows_clear(&windows);
    if (done && can_keep(attribution, member))
        kept_parts_keep(source->kept, member->file, member->file->columns.count);
    return done ? add_places(attribution, source, choice, failure) : failure_memory(failure);
}

/* Finds or makes the set of parts for the path of a job. */
static bool open_job(struct attribution *attribution, const struct step_choice *choice,
                     struct failure *failure)
{
    enum { FIRST = 1, EACH = 6 };
    const struct trace *trace = attribution->trace;
    const struct trace_member *reference = trace_reference(trace);
    struct part_source *source = attribution->sources;
    uint64_t *key = memory_zeroed(FIRST + EACH * trace->count, sizeof *key);
    size_t count = FIRST, rows = 0;
    bool done = key || failure_memory(failure), keep = reference != NULL;
    for (size_t i = 0; done && i < trace->count; i++) {
        const struct trace_member *member = &trace->members[i];
        if (!member->chosen)
            continue;
        const uint64_t part[EACH] = {member->file->serial, (uintptr_t)member->steps,
                                     (uint64_t)member->first_step, i, member->rank_index,
                                     member->unshared_key};
        memcpy(key + count, part, sizeof part);
        count += EACH;
        keep = keep && can_keep(attribution, member);
        rows += member->file->columns.count;
    }
    if (done)
        key[0] = 2 + (attribution->request.clock == CLOCK_DEVICE);
    if (done && keep)
        source->kept = kept_parts_find(reference->file, key, count);
    if (done && !source->kept) {
        source->kept = kept_parts_new(key, count);
        const struct job *job = &attribution->job;
        done = (source->kept || failure_memory(failure)) && make_schedule(attribution, failure);
        for (size_t i = 0; done && job->rank_count > 0 && i < job->ranks[0].window_count; i++)
            done = kept_parts_add(source->kept, &job->ranks[0].windows[i].window,
                                  job->ranks[0].windows[i].member) ||
                   failure_memory(failure);
        if (done && keep)
            kept_parts_keep(source->kept, reference->file, rows);
    }
    memory_free(key);
    return done && add_places(attribution, source, choice, failure);
}

static int place_order(const void *a, const void *b)
{
    const struct step_place *x = a, *y = b;
    int order = COMPARE(x->rank, y->rank);
    return order ? order : COMPARE(x->iteration, y->iteration);
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
    attribution->trace = trace;
    attribution->request = *request;
    attribution->stopper = stopper;
    attribution->sources = memory_zeroed(trace->count + 1, sizeof *attribution->sources);
    bool done = (attribution->sources || failure_memory(failure)) &&
                instants_make(&attribution->instants, trace, request->knowledge, stopper, failure);
    attribution->instants.drained = request->drained;
    if (done && request->job)
        done = open_job(attribution, choice, failure);
    for (size_t i = 0; i < trace->count && done && !request->job; i++)
        done = !trace->members[i].chosen || open_member(attribution, i, choice, failure);
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
    return &attribution->names;
}

void attribution_free(struct attribution *attribution)
{
    if (!attribution)
        return;
    for (size_t i = 0; attribution->sources && i <= attribution->trace->count; i++) {
        kept_parts_close(attribution->sources[i].kept);
        memory_free(attribution->sources[i].ids);
    }
    memory_free(attribution->sources);
    memory_free(attribution->places);
    table_clear(&attribution->parts);
    names_clear(&attribution->names);
    job_schedule_clear(&attribution->schedule);
    job_clear(&attribution->job);
    instants_clear(&attribution->instants);
    memory_free(attribution);
}
