#include "opening.h"

#include <string.h>

#include "base/memory.h"
#include "copies.h"
#include "cycles.h"
#include "file_ranks.h"

/* Traces being opened together. */
struct opening {
    struct trace *const *traces;
    const struct trace_request *requests;
    size_t count;
    struct cache *cache;
    bool peek; /* only some ranks of a trace with several files are requested */
};

/* Whether to request a file from the cache. The first round requests all. Later rounds request
** files that are chosen or needed for the ranks, if they are not loaded or lack a part or
** phases. */
static bool is_wanted(const struct trace_member *member, const bool *phases, bool first)
{
    const struct trace_file *file = member->file;
    return first || ((member->chosen || member->unclear) &&
                     (!file->loaded || file->part != member->part ||
                      !file_has_phases(file, phases)));
}

/* Takes the results of the requests, which follow the order of the wanted members. */
static void take_files(struct trace *trace, const bool *phases, bool first,
                       struct cache_request **next)
{
    for (size_t i = 0; i < trace->count; i++) {
        struct trace_member *member = &trace->members[i];
        if (!is_wanted(member, phases, first))
            continue;
        struct cache_request *request = (*next)++;
        file_release(member->file);
        member->file = request->file;
        member->twin = request->twin ? request->twin->path : NULL;
        failure_move(&member->failure, &request->failure);
    }
}

/* The identity of a member's file, if it is known before reading, or NULL. */
static const struct identity *known_identity(const struct trace *trace, size_t i, bool first)
{
    return first && trace->paths.items[i].identified ? &trace->paths.items[i].identity : NULL;
}

/* Gets the wanted files from the cache. The first round gets their heads, or whole files if all are
** chosen, and the parts of databases; the second gets the chosen files. */
static bool get_files(const struct opening *opening, bool first, struct failure *failure)
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
            const struct trace *trace = opening->traces[t];
            const struct trace_member *member = &trace->members[i];
            const bool *phases = opening->requests[t].phases;
            if (is_wanted(member, phases, first))
                requests[count++] = (struct cache_request){.path = member->path,
                                                           .identity =
                                                               known_identity(trace, i, first),
                                                           .phases = phases,
                                                           .part = member->part,
                                                           .look = first,
                                                           .head = first ? NULL : member->file,
                                                           .trace = (int)t};
        }
    bool done = cache_get(opening->cache, requests, count, first && opening->peek, failure);
    for (size_t t = 0; t < opening->count; t++)
        take_files(opening->traces[t], opening->requests[t].phases, first, &next);
    memory_free(requests);
    return done;
}

/* Keeps a file with several paths only under the first. A twin has neither a file nor a failure. */
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

/* Adds a member for each part of a database. */
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

/* Decides which files are traces, and whether other files are an error (T16). */
static bool check_members(struct trace *trace, const struct trace_request *request,
                          struct failure *failure)
{
    size_t traces = 0;
    for (size_t i = 0; i < trace->count; i++) {
        struct trace_member *member = &trace->members[i];
        member->is_trace = member->file && member->file->outcome != DOCUMENT_NOT_TRACE;
        member->chosen = member->unclear = false;
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

/* Whether some rank has the requested coordinates. */
static bool check_place(const struct trace *trace, const struct trace_request *request,
                        struct failure *failure)
{
    size_t count = 0;
    if (request->ranks->kind != SELECT_AT)
        return true;
    struct coordinates *there = memory_items(trace->count, sizeof *there);
    if (!there)
        return failure_memory(failure);
    for (size_t i = 0; i < trace->count; i++)
        if (trace->members[i].is_trace)
            there[count++] = member_coordinates(&trace->members[i]);
    bool done =
        selection_check_place(request->ranks, there, count, request->subject, failure);
    memory_free(there);
    return done;
}

static bool choose_ranks(struct trace *trace, const struct trace_request *request,
                         struct failure *failure)
{
    const struct selection *ranks = request->ranks;
    if (trace->unclear)
        return true;
    if (!selection_check(ranks, trace->ranks, trace->rank_count, request->subject, "rank",
                         failure) ||
        !check_place(trace, request, failure))
        return false;
    for (size_t i = 0; i < trace->count; i++) {
        struct trace_member *member = &trace->members[i];
        if (!member->is_trace)
            continue;
        const struct coordinates at = member_coordinates(member);
        if (ranks->kind == SELECT_AT)
            member->chosen = selection_is_at(ranks, &at);
        else if (ranks->kind == SELECT_LIST)
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

/* Takes the paths from the requests. */
static bool begin(struct opening *opening, struct failure *failure)
{
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
        if (request->ranks->kind != SELECT_ALL && trace->count > 1)
            opening->peek = true;
    }
    return true;
}

/* Checks the chosen files after loading. */
static bool check_files(struct trace *trace, const struct trace_request *request,
                        const struct stopper *stopper, struct failure *failure)
{
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
    struct opening opening = {traces, requests, count, cache, false};
    const struct stopper *stopper = &cache->stopper;
    bool done = begin(&opening, failure) && get_files(&opening, true, failure), more = done;
    for (size_t t = 0; done && t < count; t++) {
        drop_twins(traces[t]);
        done = take_parts(traces[t], failure);
    }
    while (done && more) {
        more = false;
        for (size_t t = 0; done && t < count; t++) {
            struct trace *trace = traces[t];
            const struct trace_request *request = &requests[t];
            done = check_members(trace, request, failure);
            if (done && !request->captures)
                copies_find(trace);
            done = done && file_ranks_find(trace, stopper, failure) &&
                   choose_ranks(trace, request, failure);
            for (size_t i = 0; done && i < trace->count; i++)
                more = more || is_wanted(&trace->members[i], request->phases, false);
        }
        done = done && (!more || get_files(&opening, false, failure));
    }
    for (size_t t = 0; done && t < count; t++)
        done = check_files(traces[t], &requests[t], stopper, failure);
    return done;
}

bool trace_of_rank(struct trace *trace, const struct trace *from, int64_t rank,
                   struct failure *failure)
{
    size_t count = 0;
    for (size_t i = 0; i < from->count; i++)
        count += from->members[i].chosen && from->members[i].rank == rank;
    *trace = (struct trace){.members = memory_zeroed(count, sizeof *trace->members),
                            .ranks = memory_zeroed(1, sizeof *trace->ranks),
                            .origins = memory_zeroed(1, sizeof *trace->origins),
                            .replicas = from->replicas};
    if (!trace->members || !trace->ranks || !trace->origins)
        return failure_memory(failure);
    for (size_t i = 0; i < from->count; i++) {
        const struct trace_member *member = &from->members[i];
        if (!member->chosen || member->rank != rank)
            continue;
        struct trace_member *own = &trace->members[trace->count++];
        *own = *member;
        own->file->references++;
        own->own_steps = NULL;
        own->unshared = NULL;
        own->unshared_key = 0;
        own->rank_index = 0;
        trace->origins[0] = from->origins[member->rank_index];
    }
    trace->ranks[0] = rank;
    trace->rank_count = 1;
    return true;
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
