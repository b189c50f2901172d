#include "opening.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "cycles.h"

/* Traces that are opened together. */
struct opening {
    struct trace *const *traces;
    const struct trace_request *requests;
    size_t count;
    struct cache *cache;
    bool peek; /* only some ranks of a trace with several files were asked for */
};

/* Whether the cache is asked for a file: at first for each; then for those that are chosen and not
** loaded yet, or another part of them, or with other phases. */
static bool is_wanted(const struct trace_member *member, const bool *phases, bool first)
{
    const struct trace_file *file = member->file;
    return first || (member->chosen && (!file->loaded || file->part != member->part ||
                                        !file_has_phases(file, phases)));
}

/* Takes the results of requests, which are those of the wanted members, in their order. */
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

/* Gets the wanted files from the cache: at first what tells their ranks, or if all are chosen the
** whole, and the parts of databases; then the chosen ones. */
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
            const struct trace_member *member = &opening->traces[t]->members[i];
            const bool *phases = opening->requests[t].phases;
            if (is_wanted(member, phases, first))
                requests[count++] = (struct cache_request){.path = member->path,
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

/* Whether two files are of one process (T7.4). */
static bool is_of_process(const struct trace_member *member, const struct trace_member *other)
{
    size_t length = path_process(member->path);
    return length > 0 && length == path_process(other->path) &&
           memcmp(member->path, other->path, length) == 0;
}

/* T7.3, T7.4: gives ranks to the files that have none, without those that others have. */
static void assign_in_order(struct trace *trace, size_t taken)
{
    struct trace_member *before = NULL;
    int64_t next = 0;
    for (size_t i = 0; i < trace->count; i++) {
        struct trace_member *member = &trace->members[i];
        if (!member->is_trace || member->rank_source != RANK_ORDER)
            continue;
        if (before && is_of_process(member, before)) {
            member->rank_source = before->rank_source = RANK_PROCESS;
            member->rank = before->rank;
        } else {
            while (has_integer(trace->ranks, taken, next))
                next++;
            member->rank = next++;
        }
        before = path_process(member->path) > 0 ? member : before;
    }
}

/* T7. */
static bool assign_ranks(struct trace *trace, struct failure *failure)
{
    size_t taken = 0;
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
    assign_in_order(trace, taken);
    for (size_t i = 0; i < trace->count; i++)
        if (trace->members[i].is_trace && trace->members[i].rank_source >= RANK_PROCESS)
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

/* Takes over the paths of the requests. */
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
    struct opening opening = {traces, requests, count, cache, false};
    bool done = begin(&opening, failure) && get_files(&opening, true, failure);
    for (size_t t = 0; done && t < count; t++) {
        drop_twins(traces[t]);
        done = take_parts(traces[t], failure) && check_members(traces[t], &requests[t], failure) &&
               assign_ranks(traces[t], failure) && choose_ranks(traces[t], &requests[t], failure);
    }
    done = done && get_files(&opening, false, failure);
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
