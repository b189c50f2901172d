#include "job_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "loading/host_collective.h"
#include "text/number.h"

/* a call with args of a send or receive, or a launch of device work */
struct pair_call {
    uint32_t track, row;
    int64_t start, end;
    const struct process_group *group; /* NULL: a launch */
};

static int call_order(const void *a, const void *b)
{
    const struct pair_call *x = a, *y = b;
    int order = COMPARE(x->track, y->track);
    order = order ? order : COMPARE(x->start, y->start);
    return order ? order : COMPARE(x->row, y->row);
}

static bool add_call(struct job_pairs *pairs, uint32_t row, const struct process_group *group)
{
    const struct columns *columns = &pairs->file->columns;
    if (columns->dur[row] < 0 || columns->ts[row] == NUMBER_NONE)
        return true;
    if (!MEMORY_GROW(pairs->calls, pairs->capacity, pairs->count + 1))
        return false;
    pairs->calls[pairs->count++] =
        (struct pair_call){row_place(columns, row)->track, row, columns->ts[row],
                           columns->ts[row] + columns->dur[row], group};
    return true;
}

bool job_pairs_make(struct job_pairs *pairs, const struct trace_file *file,
                    const struct stopper *stopper, struct failure *failure)
{
    const struct columns *columns = &file->columns;
    bool done = true, any = false;
    *pairs = (struct job_pairs){.file = file};
    for (size_t i = 0; done && i < file->group_count; i++) {
        const struct process_group *group = &file->groups[i];
        any |= group->source != NAME_NONE || group->target != NAME_NONE;
        if (host_collective_row(file, group->row) == HOST_DESCRIBED)
            done = add_call(pairs, group->row, group);
    }
    for (size_t row = columns_find(columns, 0, KIND_WORK); done && any && row < columns->count;
         row = columns_find(columns, row + 1, KIND_WORK))
        if (columns->link[row] != ROW_NONE)
            done = add_call(pairs, columns->link[row], NULL);
    pairs->count = any ? pairs->count : 0;
    return (done || failure_memory(failure)) &&
           sort_items(pairs->calls, pairs->count, sizeof *pairs->calls, call_order, stopper,
                      failure);
}

/* Parses a text as a number; NUMBER_NONE if it is none. */
static int64_t number_of(const struct trace_file *file, uint32_t id)
{
    int64_t number = NUMBER_NONE;
    if (id != NAME_NONE)
        number_integer((const unsigned char *)file->names.items[id].text,
                       file->names.items[id].length, &number);
    return number;
}

/* Returns the rank at an index of a list such as `[0, 2]` or, with `place`, the index of a rank;
** NUMBER_NONE if it is not there. A missing or unreadable list stands for all ranks. */
static int64_t look_up(const struct trace_file *file, uint32_t list, int64_t value, bool place)
{
    const char *at = list == NAME_NONE ? "" : file->names.items[list].text;
    if (*at != '[' || strstr(at, "..."))
        return value;
    for (int64_t i = 0; *at && *at != ']'; i++) {
        char *end;
        int64_t rank = strtoll(at + 1, &end, 10);
        if (end == at + 1)
            return value;
        if (place ? rank == value : i == value)
            return place ? i : rank;
        at = end;
    }
    return NUMBER_NONE;
}

/* Returns the peer of a rank in a send or receive; NUMBER_NONE unless the args name exactly one. */
static int64_t other_rank(const struct trace_file *file, const struct process_group *group,
                          int64_t rank)
{
    int64_t own = look_up(file, group->ranks, rank, true), other = NUMBER_NONE;
    const int64_t ends[] = {number_of(file, group->source), number_of(file, group->target)};
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0 && ends[i] != own) {
            if (other != NUMBER_NONE && other != ends[i])
                return NUMBER_NONE;
            other = ends[i];
        }
    return other == NUMBER_NONE ? other : look_up(file, group->ranks, other, false);
}

/* Returns the peer of a launch: from the call around it or else from all calls of its thread since
** the previous launch. NUMBER_NONE: none or several. `*group` comes from one of the calls. */
static int64_t other_of_calls(const struct job_pairs *pairs, uint32_t launch, int64_t rank,
                              const struct process_group **group)
{
    const struct columns *columns = &pairs->file->columns;
    uint32_t track = row_place(columns, launch)->track;
    int64_t at = columns->ts[launch], other = NUMBER_NONE;
    bool launched = false;
    size_t i = 0;
    LOWER_BOUND(i, pairs->count,
                pairs->calls[i].track < track ||
                    (pairs->calls[i].track == track && pairs->calls[i].start <= at));
    for (; i > 0 && pairs->calls[i - 1].track == track; i--) {
        const struct pair_call *call = &pairs->calls[i - 1];
        if (call->row == launch)
            continue;
        if (!call->group) {
            launched = true;
            if (other != NUMBER_NONE)
                break;
            continue;
        }
        bool around = other == NUMBER_NONE && call->end >= at;
        if (launched && !around)
            break;
        int64_t now = other_rank(pairs->file, call->group, rank);
        if (now == NUMBER_NONE || (other != NUMBER_NONE && now != other))
            return NUMBER_NONE;
        other = now;
        *group = call->group;
        if (around)
            break;
    }
    return other;
}

const struct process_group *job_pairs_find(const struct job_pairs *pairs, uint32_t row,
                                           const struct process_group *own, int64_t rank,
                                           int64_t between[2])
{
    uint32_t launch = pairs->file->columns.link[row];
    const struct process_group *group = own;
    int64_t other = own ? other_rank(pairs->file, own, rank) : NUMBER_NONE;
    if (other == NUMBER_NONE && launch != ROW_NONE)
        other = other_of_calls(pairs, launch, rank, &group);
    if (other == NUMBER_NONE)
        return NULL;
    between[0] = rank < other ? rank : other;
    between[1] = rank < other ? other : rank;
    return group;
}

void job_pairs_clear(struct job_pairs *pairs)
{
    memory_free(pairs->calls);
    *pairs = (struct job_pairs){.file = NULL};
}
