#include "trace.h"

#include <string.h>

#include "base/memory.h"
#include "cycles.h"
#include "base/sort.h"

/* Traces that are opened together. */
struct opening {
    struct trace *const *traces;
    const struct trace_request *requests;
    size_t count;
    struct cache *cache;
};

/* Takes the results of requests, which are those of the wanted members, in their order. */
static void take_files(struct trace *trace, bool (*wanted)(const struct trace_member *member),
                       struct cache_request **next)
{
    for (size_t i = 0; i < trace->count; i++) {
        struct trace_member *member = &trace->members[i];
        if (!wanted(member))
            continue;
        struct cache_request *request = (*next)++;
        file_release(member->file);
        member->file = request->file;
        member->twin = request->twin ? request->twin->path : NULL;
        failure_move(&member->failure, &request->failure);
    }
}

/* Gets files from the cache: all of them, those whose head did not tell their rank, or the
** chosen ones. Databases are looked at first: `look`. */
static bool get_files(const struct opening *opening, bool peek, bool look,
                      bool (*wanted)(const struct trace_member *member), struct failure *failure)
{
    size_t count = 0;
    for (size_t t = 0; t < opening->count; t++)
        count += opening->traces[t]->count;
    struct cache_request *requests = memory_zeroed(count, sizeof *requests), *next = requests;
    if (!requests)
        return failure_memory(failure);
    count = 0;
    for (size_t t = 0; t < opening->count; t++)
        for (size_t i = 0; i < opening->traces[t]->count; i++) {
            const struct trace_member *member = &opening->traces[t]->members[i];
            if (wanted(member))
                requests[count++] = (struct cache_request){.path = member->path,
                                                           .phases = opening->requests[t].phases,
                                                           .part = member->part,
                                                           .look = look,
                                                           .head = look ? NULL : member->file,
                                                           .trace = (int)t};
        }
    bool done = cache_get(opening->cache, requests, count, peek, failure);
    for (size_t t = 0; t < opening->count; t++)
        take_files(opening->traces[t], wanted, &next);
    memory_free(requests);
    return done;
}

static bool any_member(const struct trace_member *member)
{
    (void)member;
    return true;
}

static bool rank_not_known(const struct trace_member *member)
{
    return member->file && !member->file->rank_known;
}

static bool chosen_member(const struct trace_member *member)
{
    return member->chosen && member->file;
}

/* Whether a member is still to be loaded, or its part, or with other phases. */
static bool is_unread(const struct trace_member *member, const bool *phases)
{
    return member->chosen && (!member->file->loaded || member->file->part != member->part ||
                              !file_has_phases(member->file, phases));
}

static bool any_unread(const struct opening *opening)
{
    for (size_t t = 0; t < opening->count; t++)
        for (size_t i = 0; i < opening->traces[t]->count; i++)
            if (is_unread(&opening->traces[t]->members[i], opening->requests[t].phases))
                return true;
    return false;
}

/* Keeps a file that was given under several paths only under the first of them. A twin has
** neither a file nor a failure. */
static void drop_twins(struct trace *trace)
{
    struct trace_paths *paths = &trace->paths;
    size_t kept = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const char *twin = trace->members[i].twin;
        if (twin) {
            paths_merge(paths, paths_find(paths, kept, twin), i);
        } else {
            paths->items[kept] = paths->items[i];
            trace->members[kept++] = trace->members[i];
        }
    }
    trace->count = paths->count = kept;
}

/* Makes a member of each part of a database. */
static bool take_parts(struct trace *trace, struct failure *failure)
{
    size_t count = 0, used = 0;
    for (size_t i = 0; i < trace->count; i++)
        count += trace->members[i].file ? trace->members[i].file->part_count : 1;
    struct trace_member *members = memory_zeroed(count, sizeof *members);
    if (!members)
        return failure_memory(failure);
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_path *path = &trace->paths.items[i];
        struct trace_member *member = &members[used++];
        struct trace_file *file = trace->members[i].file;
        *member = trace->members[i];
        member->path = path->path;
        member->listed = path->listed;
        member->again = path->again;
        for (size_t part = 1; file && part < file->part_count; part++) {
            members[used] = *member;
            members[used++].part = part;
            file->references++;
        }
    }
    memory_free(trace->members);
    trace->members = members;
    trace->count = count;
    return true;
}

/* Decides which files are traces, and whether the others are an error (T16). */
static bool check_members(struct trace *trace, const struct trace_request *request,
                          struct failure *failure)
{
    size_t traces = 0;
    for (size_t i = 0; i < trace->count; i++) {
        struct trace_member *member = &trace->members[i];
        member->is_trace = member->file && member->file->outcome != DOCUMENT_NOT_TRACE;
        member->chosen = member->chosen && member->is_trace;
        traces += member->is_trace;
        if (!(request->use & TRACE_READABLE) || member->is_trace)
            continue;
        if (!member->file)
            return failure_copy(failure, &member->failure);
        if (!member->listed)
            return failure_copy(failure, &member->file->trouble);
    }
    const struct trace_member *first = &trace->members[0];
    if (traces > 0 || !(request->use & TRACE_READABLE))
        return true;
    if (trace->count == 1 || !first->file->trouble.text)
        return failure_copy(failure, &first->file->trouble);
    return failure_set(failure, FAILURE_REQUEST, "none of the %lld files is a trace; the first: %s",
                       (long long)trace->count, first->file->trouble.text);
}

/* T7. */
static bool assign_ranks(struct trace *trace, struct failure *failure)
{
    size_t taken = 0;
    int64_t next = 0;
    trace->ranks = memory_zeroed(trace->count, sizeof *trace->ranks);
    trace->origins = memory_zeroed(trace->count, sizeof *trace->origins);
    if (!trace->ranks || !trace->origins)
        return failure_memory(failure);
    for (size_t i = 0; i < trace->count; i++) {
        struct trace_member *member = &trace->members[i];
        if (!member->is_trace)
            continue;
        const struct trace_file *file = member->file;
        member->rank = file->parts ? file->parts[member->part] : file->rank;
        member->rank_source = file->rank_source;
        if (member->rank < 0 && file->part_count == 1) {
            member->rank = path_rank(member->path);
            member->rank_source = RANK_NAME;
        }
        if (member->rank < 0)
            member->rank_source = RANK_ORDER;
        else
            trace->ranks[taken++] = member->rank;
    }
    taken = sort_integers(trace->ranks, taken);
    trace->rank_count = taken;
    for (size_t i = 0; i < trace->count; i++) {
        struct trace_member *member = &trace->members[i];
        if (!member->is_trace || member->rank_source != RANK_ORDER)
            continue;
        while (has_integer(trace->ranks, taken, next))
            next++;
        member->rank = next++;
    }
    for (size_t i = 0; i < trace->count; i++)
        if (trace->members[i].is_trace && trace->members[i].rank_source == RANK_ORDER)
            trace->ranks[trace->rank_count++] = trace->members[i].rank;
    trace->rank_count = sort_integers(trace->ranks, trace->rank_count);
    for (size_t i = 0; i < trace->count; i++) {
        size_t index = 0;
        LOWER_BOUND(index, trace->rank_count, trace->ranks[index] < trace->members[i].rank);
        trace->members[i].rank_index = index;
    }
    return true;
}

static bool choose_ranks(struct trace *trace, const struct trace_request *request,
                         struct failure *failure)
{
    const struct selection *ranks = request->ranks;
    if (!selection_check(ranks, trace->ranks, trace->rank_count, request->subject, "rank", failure))
        return false;
    for (size_t i = 0; i < trace->count; i++) {
        struct trace_member *member = &trace->members[i];
        if (!member->is_trace)
            continue;
        if (ranks->kind == SELECT_LIST)
            member->chosen = has_integer(ranks->values, ranks->count, member->rank);
        else
            member->chosen = ranks->kind == SELECT_ALL || member->rank_index == 0;
    }
    return true;
}

static void find_origins(struct trace *trace)
{
    for (size_t i = 0; i < trace->rank_count; i++)
        trace->origins[i] = NUMBER_NONE;
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_member *member = &trace->members[i];
        if (!member->is_trace || member->file->first == NUMBER_NONE)
            continue;
        int64_t *origin = &trace->origins[member->rank_index];
        if (*origin == NUMBER_NONE || member->file->first < *origin)
            *origin = member->file->first;
    }
}

/* Takes over the paths of the requests. Whether only some ranks of a trace with several files were
** asked for, so that heads are to be read first, is put into `*peek`. */
static bool begin(const struct opening *opening, bool *peek, struct failure *failure)
{
    *peek = false;
    for (size_t t = 0; t < opening->count; t++) {
        const struct trace_request *request = &opening->requests[t];
        struct trace *trace = opening->traces[t];
        *trace = (struct trace){.paths = *request->paths, .count = request->paths->count};
        *request->paths = (struct trace_paths){.items = NULL};
        if (trace->count == 0)
            return failure_set(failure, FAILURE_REQUEST, "no trace: there is no " TRACE_FILES);
        trace->members = memory_zeroed(trace->count, sizeof *trace->members);
        if (!trace->members)
            return failure_memory(failure);
        for (size_t i = 0; i < trace->count; i++)
            trace->members[i].path = trace->paths.items[i].path;
        *peek = *peek || (request->ranks->kind != SELECT_ALL && trace->count > 1);
    }
    return true;
}

static bool choose_files(struct trace *trace, const struct trace_request *request,
                         struct failure *failure)
{
    return check_members(trace, request, failure) && assign_ranks(trace, failure) &&
           choose_ranks(trace, request, failure);
}

/* Checks the chosen files once they are loaded. */
static bool check_files(struct trace *trace, const struct trace_request *request,
                        const struct stopper *stopper, struct failure *failure)
{
    if (!check_members(trace, request, failure))
        return false;
    if (request->use & TRACE_WHOLE)
        for (size_t i = 0; i < trace->count; i++)
            if (trace->members[i].chosen && trace->members[i].file->outcome == DOCUMENT_DAMAGED)
                return failure_copy(failure, &trace->members[i].file->trouble);
    if (!cycles_make(trace, request, stopper, failure))
        return false;
    find_origins(trace);
    return true;
}

bool trace_open(struct trace *const *traces, const struct trace_request *requests, size_t count,
                struct cache *cache, struct failure *failure)
{
    const struct opening opening = {traces, requests, count, cache};
    bool peek, done = begin(&opening, &peek, failure) &&
                      get_files(&opening, peek, true, any_member, failure);
    for (size_t t = 0; done && t < count; t++)
        drop_twins(traces[t]);
    done = done && get_files(&opening, false, true, rank_not_known, failure);
    for (size_t t = 0; done && t < count; t++)
        done = take_parts(traces[t], failure) && choose_files(traces[t], &requests[t], failure);
    /* a file that was only peeked at may be cached already with other phases */
    if (done && (peek || any_unread(&opening)))
        done = get_files(&opening, false, false, chosen_member, failure);
    for (size_t t = 0; done && t < count; t++)
        done = check_files(traces[t], &requests[t], &cache->stopper, failure);
    return done;
}

void trace_close(struct trace *trace)
{
    for (size_t i = 0; trace->members && i < trace->count; i++) {
        cycle_clear(&trace->members[i]);
        file_release(trace->members[i].file);
        failure_clear(&trace->members[i].failure);
    }
    memory_free(trace->members);
    memory_free(trace->ranks);
    memory_free(trace->origins);
    paths_clear(&trace->paths);
    memset(trace, 0, sizeof *trace);
}

void trace_last_step(const struct trace *trace, bool included, int64_t *limits)
{
    for (size_t rank = 0; rank < trace->rank_count; rank++) {
        bool any = false, several = false; /* steps; events of one number are one */
        int64_t start = INT64_MIN, end = INT64_MIN, number = 0;
        for (size_t i = 0; i < trace->count; i++) {
            const struct trace_member *member = &trace->members[i];
            if (!member->chosen || member->rank_index != rank)
                continue;
            const struct steps *steps = &member->file->profiler_steps;
            for (size_t s = 0; s < steps->count; s++) {
                const struct step *step = &steps->items[s];
                start = step->start > start ? step->start : start;
                end = step->end > end ? step->end : end;
                several = several || (any && steps->iterations[step->iteration] != number);
                number = steps->iterations[step->iteration];
                any = true;
            }
        }
        if (!several)
            limits[rank] = INT64_MAX;
        else
            limits[rank] = included ? end + (end < INT64_MAX) : start;
    }
}
