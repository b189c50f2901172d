#include "file_ranks.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "platform/path.h"

/* A file whose rank may also be claimed by other files. */
struct ranked_file {
    struct trace_member *member;
    size_t index;  /* of the member */
    size_t length; /* length of the part of the path that files of one process share */
    struct coordinates at;
    bool by_coordinates;
};

static int64_t start_of(const struct ranked_file *of)
{
    return of->member->file->first;
}

/* Whether the events of two files overlap in time. */
static bool overlap(const struct trace_member *a, const struct trace_member *b)
{
    const struct trace_file *x = a->file, *y = b->file;
    return x->first != NUMBER_NONE && y->first != NUMBER_NONE && x->first < y->last &&
           y->first < x->last;
}

/* Whether the times of the files from `a` to `b` are known; marks files without known times. */
static bool know_times(struct trace *trace, struct ranked_file *a, struct ranked_file *b)
{
    bool known = true;
    for (; a < b; a++)
        if (!a->member->file->loaded) {
            a->member->unclear = trace->unclear = true;
            known = false;
        }
    return known;
}

/* T7.4: sorts candidates for the same process next to each other. */
static int process_order(const void *a, const void *b)
{
    const struct ranked_file *x = a, *y = b;
    int order = COMPARE(x->by_coordinates, y->by_coordinates);
    order = order ? order : COMPARE(x->length, y->length);
    order = order ? order : memcmp(x->member->path, y->member->path, x->length);
    for (int i = 0; !order && x->by_coordinates && i < COORDINATES; i++)
        order = COMPARE(x->at.of[i].number, y->at.of[i].number);
    return order;
}

static int process_start_order(const void *a, const void *b)
{
    const struct ranked_file *x = a, *y = b;
    int order = process_order(x, y);
    order = order ? order : COMPARE(start_of(x), start_of(y));
    return order ? order : COMPARE(x->index, y->index);
}

/* Fills in the facts that identify the process of a file; false without any. */
static bool take_process(struct ranked_file *of)
{
    const char *path = of->member->path, *name = path_name(path);
    of->at = coordinates_in(name);
    for (int i = 0; i < COORDINATES; i++) {
        of->by_coordinates = of->by_coordinates || of->at.of[i].dashed;
        if (!of->at.of[i].dashed)
            of->at.of[i].number = -1;
    }
    of->length = of->by_coordinates ? (size_t)(name - path) : path_process(path);
    return of->length > 0 || of->by_coordinates;
}

/* Finds files of one process that do not overlap (T7.4). Sets rank_source RANK_PROCESS, and
** `process` to the first of them. */
static bool find_processes(struct trace *trace, struct ranked_file *files,
                           const struct stopper *stopper, struct failure *failure)
{
    size_t count = 0, next;
    for (size_t i = 0; i < trace->count; i++) {
        struct trace_member *member = &trace->members[i];
        files[count] = (struct ranked_file){.member = member, .index = i};
        count += member->is_trace && member->rank_source == RANK_ORDER && !member->file->labels &&
                 take_process(&files[count]);
    }
    if (!sort_items(files, count, sizeof *files, process_start_order, stopper, failure))
        return false;
    for (size_t i = 0; i < count; i = next) {
        size_t first = files[i].index;
        for (next = i + 1; next < count && process_order(&files[i], &files[next]) == 0; next++)
            first = files[next].index < first ? files[next].index : first;
        bool apart = next - i > 1 && know_times(trace, files + i, files + next);
        for (size_t j = i + 1; j < next; j++)
            apart = apart && !overlap(files[j - 1].member, files[j].member);
        for (size_t j = i; j < next && apart; j++) {
            files[j].member->rank_source = RANK_PROCESS;
            files[j].member->process = first;
        }
    }
    return true;
}

static int rank_order(const void *a, const void *b)
{
    const struct ranked_file *x = a, *y = b;
    int order = COMPARE(x->member->rank, y->member->rank);
    return order ? order : COMPARE(x->index, y->index);
}

/* T7.5: makes replicas with the same rank separate ranks. */
static bool find_replicas(struct trace *trace, struct ranked_file *files,
                          const struct stopper *stopper, struct failure *failure)
{
    size_t count = 0, next;
    int64_t highest = 0, of_replica, rank;
    for (size_t i = 0; i < trace->count; i++) {
        struct trace_member *member = &trace->members[i];
        files[count] = (struct ranked_file){
            .member = member, .index = i, .at = coordinates_in(path_name(member->path))};
        if (!member->is_trace || member->rank_source == RANK_ORDER || member->file->source ||
            files[count].at.of[COORDINATE_DP].number < 0)
            continue;
        highest = member->rank > highest ? member->rank : highest;
        count++;
    }
    if (!sort_items(files, count, sizeof *files, rank_order, stopper, failure))
        return false;
    for (size_t i = 0; i < count; i = next) {
        bool differ = false;
        next = i + 1;
        for (; next < count && files[next].member->rank == files[i].member->rank; next++)
            differ = differ || files[next].at.of[COORDINATE_DP].number !=
                                   files[i].at.of[COORDINATE_DP].number;
        if (!differ || !know_times(trace, files + i, files + next))
            continue;
        for (size_t j = i; j < next; j++)
            for (size_t k = j + 1; k < next && !trace->replicas; k++)
                trace->replicas = files[j].at.of[COORDINATE_DP].number !=
                                      files[k].at.of[COORDINATE_DP].number &&
                                  overlap(files[j].member, files[k].member);
    }
    for (size_t i = 0; i < count && trace->replicas; i++) {
        struct trace_member *member = files[i].member;
        if (!__builtin_mul_overflow(files[i].at.of[COORDINATE_DP].number, highest + 1,
                                    &of_replica) &&
            !__builtin_add_overflow(of_replica, member->rank, &rank)) {
            member->rank = rank;
            member->replica = files[i].at.of[COORDINATE_DP].number;
            member->rank_source = RANK_REPLICA;
        }
    }
    return true;
}

/* T7.3, T7.4: gives the remaining files the free ranks in order. */
static void assign_in_order(struct trace *trace, size_t taken)
{
    int64_t next = 0;
    for (size_t i = 0; i < trace->count; i++) {
        struct trace_member *member = &trace->members[i];
        if (!member->is_trace || member->rank_source < RANK_PROCESS)
            continue;
        if (member->rank_source == RANK_PROCESS && member->process < i) {
            member->rank = trace->members[member->process].rank;
            continue;
        }
        while (has_integer(trace->ranks, taken, next))
            next++;
        member->rank = next++;
    }
}

/* Takes the rank from the file alone (T7.1, T7.2). */
static void take_own_rank(struct trace_member *member)
{
    const struct trace_file *file = member->file;
    member->replica = 0;
    member->rank = file->parts ? file->parts[member->part] : file->rank;
    member->rank_source = file->rank_source;
    if (member->rank < 0 && file->part_count == 1) {
        member->rank = path_rank(member->path);
        member->rank_source = RANK_NAME;
    }
    if (member->rank < 0)
        member->rank_source = RANK_ORDER;
}

bool file_ranks_find(struct trace *trace, const struct stopper *stopper, struct failure *failure)
{
    struct ranked_file *files = memory_zeroed(trace->count, sizeof *files);
    memory_free(trace->ranks);
    memory_free(trace->origins);
    trace->ranks = memory_zeroed(trace->count, sizeof *trace->ranks);
    trace->origins = memory_zeroed(trace->count, sizeof *trace->origins);
    trace->rank_count = 0;
    trace->unclear = trace->replicas = false;
    bool done = (files && trace->ranks && trace->origins) || failure_memory(failure);
    for (size_t i = 0; done && i < trace->count; i++) {
        trace->members[i].unclear = false;
        if (trace->members[i].is_trace)
            take_own_rank(&trace->members[i]);
    }
    done = done && find_replicas(trace, files, stopper, failure) &&
           find_processes(trace, files, stopper, failure);
    memory_free(files);
    for (int pass = 0; done && pass < 2; pass++) {
        for (size_t i = 0; i < trace->count; i++)
            if (trace->members[i].is_trace &&
                (trace->members[i].rank_source >= RANK_PROCESS) == (pass == 1))
                trace->ranks[trace->rank_count++] = trace->members[i].rank;
        trace->rank_count = sort_integers(trace->ranks, trace->rank_count);
        if (pass == 0)
            assign_in_order(trace, trace->rank_count);
    }
    for (size_t i = 0; done && i < trace->count; i++) {
        size_t index = 0;
        LOWER_BOUND(index, trace->rank_count, trace->ranks[index] < trace->members[i].rank);
        trace->members[i].rank_index = index;
    }
    return done;
}

struct coordinates member_coordinates(const struct trace_member *member)
{
    struct coordinates at = coordinates_in(path_name(member->path));
    const char *label =
        member->file && member->file->labels ? file_label(member->file, member->part) : NULL;
    struct coordinates told = coordinates_in(label ? label : "");
    for (int i = 0; i < COORDINATES; i++)
        at.of[i] = told.of[i].number >= 0 ? told.of[i] : at.of[i];
    return at;
}
