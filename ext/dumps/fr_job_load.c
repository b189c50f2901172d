#include "fr_job_load.h"

#include <errno.h>
#include <string.h>

#include "access/roots.h"
#include "base/memory.h"
#include "base/sort.h"
#include "fr_groups_find.h"
#include "fr_read.h"
#include "fr_status.h"
#include "paths/directory.h"
#include "paths/file_name.h"
#include "platform/path.h"
#include "text/ascii.h"

/* The names in a directory. */
struct fr_listing {
    char **names;
    size_t count, capacity;
};

static int name_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool list_names(struct fr_listing *names, const char *directory,
                       const struct stopper *stopper, struct failure *failure)
{
    int error;
    const char *name;
    struct listing *listing = listing_open(directory, &error);
    while (listing && failure->code == FAILURE_NONE && stopper_ask(stopper, failure) &&
           (name = listing_next(listing, &error)) != NULL) {
        if (name[0] == '.')
            continue;
        char *copy = path_joined(name, "", "");
        if (copy && MEMORY_GROW(names->names, names->capacity, names->count + 1)) {
            names->names[names->count++] = copy;
        } else {
            memory_free(copy);
            failure_memory(failure);
        }
    }
    if (listing)
        listing_close(listing);
    if (error == ENOMEM)
        failure_memory(failure);
    else if (error != 0)
        failure_set(failure, FAILURE_READ, "cannot read '%s': %s", directory, strerror(error));
    return failure->code == FAILURE_NONE &&
           sort_items(names->names, names->count, sizeof *names->names, name_order, stopper,
                      failure);
}

/* FR2: the rank in a file name, or the number at its end; -1 without one. */
static int64_t rank_of(const char *name)
{
    static const char *const endings[] = {".json", ".pickle", ".pkl", ".pt",
                                          ".bin",  ".txt",    ".gz"};
    enum { MOST_DIGITS = 9 };
    int64_t rank = path_rank(name);
    const char *end = name + strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings;)
        if (ends(name, end, endings[i])) {
            end -= strlen(endings[i]);
            i = 0;
        } else {
            i++;
        }
    const char *p = end;
    while (p > name && is_digit((unsigned char)p[-1]))
        p--;
    if (rank >= 0 || p == end || end - p > MOST_DIGITS)
        return rank;
    for (rank = 0; p < end; p++)
        rank = rank * 10 + (*p - '0');
    return rank;
}

/* Finds the possible kind of a file. A file that the system refuses to read is a failure; a
** dangling link is not a dump. */
static bool find_kind(const char *path, enum fr_kind *kind, struct failure *failure)
{
    struct file_status status;
    struct failure own = {FAILURE_NONE, NULL, NULL, 0};
    int error = file_status(path, &status);
    *kind = FR_NOT_A_DUMP;
    if (error != 0 && error != ENOENT)
        return error == ENOMEM ? failure_memory(failure)
                               : failure_set(failure, FAILURE_READ, "cannot read '%s': %s", path,
                                             strerror(error));
    if (error != 0 || status.kind != FILE_IS_REGULAR)
        return true;
    *kind = fr_kind_of(path, &own);
    if (own.code == FAILURE_DAMAGE) { /* fr_read() reports the details */
        *kind = FR_PICKLE;
        failure_clear(&own);
    }
    failure_move(failure, &own);
    return failure->code == FAILURE_NONE;
}

/* Adds the dump of a file, if it is one. */
static bool add_file(struct fr_job *job, const char *path, const char *name,
                     const struct stopper *stopper, struct failure *failure)
{
    bool is_dump = true, done = true;
    enum fr_kind kind;
    if (!find_kind(path, &kind, failure))
        return false;
    if (kind == FR_NOT_A_DUMP)
        return true;
    if (!MEMORY_GROW(job->dumps, job->dump_capacity, job->dump_count + 1))
        return failure_memory(failure);
    struct fr_dump *dump = &job->dumps[job->dump_count++];
    *dump = (struct fr_dump){.rank = rank_of(name),
                             .other = FR_NONE,
                             .is_pickle = kind != FR_JSON,
                             .last_record = NUMBER_NONE,
                             .last_call = NUMBER_NONE,
                             .last_time = NUMBER_NONE};
    dump->file = path_joined(name, "", "");
    done = (dump->file || failure_memory(failure)) &&
           fr_read(job, dump, path, &is_dump, stopper, failure);
    if (done && !is_dump) {
        memory_free(dump->file);
        job->dump_count--;
        return true;
    }
    if (done && dump->fate == DUMP_IS_USED && dump->rank < 0)
        dump->fate = DUMP_HAS_NO_RANK;
    return done && fr_status_find(job, dump, stopper, failure);
}

/* Whether a dump is better than an earlier one of the same rank (FR8). */
static bool is_better(const struct fr_dump *dump, const struct fr_dump *than)
{
    return dump->last_time != than->last_time ? dump->last_time > than->last_time
                                              : dump->is_pickle && !than->is_pickle;
}

/* A usable dump and its rank. */
struct fr_candidate {
    int64_t rank;
    uint32_t dump;
};

static bool choose_dumps(struct fr_job *job, const struct stopper *stopper,
                         struct failure *failure)
{
    size_t count = 0;
    struct fr_candidate *candidates = memory_items(job->dump_count, sizeof *candidates);
    if (!candidates)
        return failure_memory(failure);
    for (size_t i = 0; i < job->dump_count; i++)
        if (job->dumps[i].fate == DUMP_IS_USED)
            candidates[count++] = (struct fr_candidate){job->dumps[i].rank, (uint32_t)i};
    bool done = sort_numbered(candidates, count, sizeof *candidates, stopper, failure);
    for (size_t i = 0, end; done && i < count; i = end) {
        uint32_t best = candidates[i].dump;
        for (end = i; end < count && candidates[end].rank == candidates[i].rank; end++)
            if (is_better(&job->dumps[candidates[end].dump], &job->dumps[best]))
                best = candidates[end].dump;
        for (size_t k = i; k < end; k++) {
            struct fr_dump *dump = &job->dumps[candidates[k].dump];
            dump->fate = candidates[k].dump == best ? DUMP_IS_USED : DUMP_IS_SECOND;
            dump->other = best;
        }
    }
    memory_free(candidates);
    return done;
}

/* Whether some dump can be read; otherwise explains why none can. */
static bool check_dumps(const struct fr_job *job, const char *directory, struct failure *failure)
{
    for (size_t i = 0; i < job->dump_count; i++)
        if (job->dumps[i].fate != DUMP_IS_UNREADABLE)
            return true;
    if (job->dump_count == 0)
        return failure_set(failure, FAILURE_REQUEST,
                           "no file in '%s' is a dump of PyTorch's flight recorder", directory);
    return failure_set(failure, FAILURE_REQUEST, "no dump in '%s' can be read; the first, %s, %s",
                       directory, job->dumps[0].file, job->dumps[0].problem);
}

bool fr_job_load(struct fr_job *job, const char *directory, const struct stopper *stopper,
                 struct failure *failure)
{
    struct fr_listing names = {NULL, 0, 0};
    char *expanded = path_expanded(directory);
    const char *between = expanded ? path_between(expanded) : NULL;
    bool done = (expanded || failure_memory(failure)) && fr_job_begin(job, failure) &&
                list_names(&names, expanded, stopper, failure);
    for (size_t i = 0; i < names.count; i++) {
        char *path = done ? path_joined(expanded, between, names.names[i]) : NULL;
        done = done && stopper_ask(stopper, failure) && (path || failure_memory(failure)) &&
               add_file(job, path, names.names[i], stopper, failure);
        memory_free(path);
        memory_free(names.names[i]);
    }
    memory_free(names.names);
    memory_free(expanded);
    return done && check_dumps(job, directory, failure) && choose_dumps(job, stopper, failure) &&
           fr_groups_find(job, stopper, failure);
}
