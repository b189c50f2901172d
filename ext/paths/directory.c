#include "directory.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "access/roots.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/table.h"
#include "pattern.h"
#include "platform/path.h"
#include "text/ascii.h"
#include "text/number.h"
#include "text/text.h"

char *path_joined(const char *a, const char *between, const char *b)
{
    size_t x = strlen(a), y = strlen(between), z = strlen(b);
    char *to = memory_allocate(x + y + z + 1);
    if (to) {
        memcpy(to, a, x);
        memcpy(to + x, between, y);
        memcpy(to + x + y, b, z + 1);
    }
    return to;
}

/* Adds a path. The list takes ownership; on failure the path is freed. */
static bool add(struct trace_paths *paths, char *path, bool listed, struct failure *failure)
{
    if (!path || !MEMORY_GROW(paths->items, paths->capacity, paths->count + 1)) {
        memory_free(path);
        return failure_memory(failure);
    }
    paths->items[paths->count++] = (struct trace_path){.path = path, .listed = listed};
    return true;
}

static bool ends_with(const char *name, const char *tail)
{
    size_t length = strlen(name), tail_length = strlen(tail);
    return length > tail_length && strcasecmp(name + length - tail_length, tail) == 0;
}

/* Whether a file is a log of TORCH_TRACE by its name (CL1). */
static bool is_log(const char *name)
{
    return begins(name, name + strlen(name), "dedicated_log_torch_trace_") &&
           (ends_with(name, ".log") || ends_with(name, ".log.gz"));
}

/* Whether a file of a directory may be a trace, a snapshot or a log. */
static bool is_listed(const char *name, const struct trace_paths *paths)
{
    bool snapshots = paths->snapshots;
    static const char *const tails[] = {".json",   ".gz",        ".sqlite",  ".sqlite3",
                                        ".db",     ".xplane.pb", ".pftrace", ".perfetto-trace",
                                        ".pickle", ".pickle.gz", ".pkl"};
    enum { OF_TRACES = 8 };
    size_t end = snapshots ? sizeof tails / sizeof *tails : OF_TRACES;
    bool listed = false;
    if (paths->logs || is_log(name))
        return paths->logs && is_log(name);
    for (size_t i = snapshots ? OF_TRACES : 0; i < end && name[0] != '.'; i++)
        listed = listed || ends_with(name, tails[i]);
    return listed;
}

static bool is_directory(const char *path)
{
    struct file_status status;
    return file_status(path, &status) == 0 && status.kind == FILE_IS_DIRECTORY;
}

static void refuse_to_list(const char *path, int error, struct failure *failure)
{
    if (error == ENOMEM)
        failure_memory(failure);
    else if (error != EINTR || failure->code == FAILURE_NONE) /* of the stopper */
        failure_set(failure, FAILURE_READ, "cannot read '%s': %s", path, strerror(error));
}

/* Whether a file is what XLA makes of a profile that is beside it (Y1). */
static bool is_made_of_profile(const char *path, struct failure *failure)
{
    static const char tail[] = ".trace.json.gz", profile[] = ".xplane.pb";
    if (!ends_with(path, tail))
        return false;
    char *beside = path_joined(path, "", "");
    if (!beside)
        return failure_memory(failure);
    memcpy(beside + strlen(beside) - (sizeof tail - 1), profile, sizeof profile);
    struct file_status status;
    bool there = file_status(beside, &status) == 0;
    memory_free(beside);
    return there;
}

static bool add_directory(struct trace_paths *paths, const char *path,
                          const struct stopper *stopper, struct failure *failure)
{
    int error;
    const char *name, *between = path_between(path);
    struct listing *listing = listing_open(path, &error);
    while (listing && failure->code == FAILURE_NONE && stopper_ask(stopper, failure) &&
           (name = listing_next(listing, &error)) != NULL) {
        if (!is_listed(name, paths))
            continue;
        struct file_status status = {.kind = FILE_IS_OTHER};
        char *file = path_joined(path, between, name);
        bool known = file && file_status(file, &status) == 0;
        if (known && (status.kind == FILE_IS_DIRECTORY || is_made_of_profile(file, failure))) {
            memory_free(file);
        } else if (add(paths, file, true, failure)) {
            paths->items[paths->count - 1].identified = known && status.kind == FILE_IS_REGULAR;
            paths->items[paths->count - 1].identity = status.identity;
        }
    }
    if (listing)
        listing_close(listing);
    if (error != 0)
        refuse_to_list(path, error, failure);
    return failure->code == FAILURE_NONE;
}

/* Whether a pattern matches a file. */
static bool matches_file(const char *pattern, const struct stopper *stopper,
                         struct failure *failure)
{
    struct found_paths found = {.count = 0};
    char *path = path_expanded(pattern);
    bool some = false;
    int error = path ? pattern_find(path, false, &found, stopper, failure) : ENOMEM;
    if (error != 0)
        refuse_to_list(pattern, error, failure);
    for (size_t i = 0; i < found.count && !some; i++)
        some = !is_directory(found.paths[i]);
    found_paths_clear(&found);
    memory_free(path);
    return some;
}

/* A pattern for files in the folders below a path that has no trace files itself. It is the
** narrowest that matches, because every file that a pattern matches must be a trace. NULL: none
** matches, or a failure. */
static char *pattern_below(const char *text, bool folders, const struct stopper *stopper,
                           struct failure *failure)
{
    enum { OF_FOLDERS = 6 };
    static const char *const tails[] = {
        "/*.pt.trace.json*", "/*.xplane.pb", "/*.json*", "/*.gz", "/*.sqlite", "/*.pftrace",
        /* those before are in the folder itself */
        "/*/*.pt.trace.json*", "/*/*.xplane.pb", "/*/*.json*", "/*/*.gz", "/*/*.sqlite",
        "/*/*.pftrace", "/*/*/*.pt.trace.json*", "/*/*/*.xplane.pb", "/*/*/*.json*", "/*/*/*.gz",
        "/*/*/*.sqlite", "/*/*/*.pftrace"};
    size_t length = strlen(text);
    char *path = path_joined(text, "", ""), *pattern = NULL;
    if (!path)
        failure_memory(failure);
    while (path && length > 1 && path_separates(path[length - 1]))
        path[--length] = 0;
    for (size_t i = folders ? 0 : OF_FOLDERS; path && !pattern && i < sizeof tails / sizeof *tails;
         i++) {
        pattern = path_joined(path, tails[i], "");
        if (!pattern)
            failure_memory(failure);
        if (!pattern || !matches_file(pattern, stopper, failure)) {
            memory_free(pattern);
            pattern = NULL;
        }
    }
    memory_free(path);
    return pattern;
}

/* Sets the failure for a text that has no files itself: a directory, or a pattern of `folders`. */
static bool none_itself(const char *text, bool folders, const struct stopper *stopper,
                        struct failure *failure)
{
    char *pattern = pattern_below(text, folders, stopper, failure);
    failure_set(failure, FAILURE_REQUEST,
                folders ? "'%s' matches directories, but no file%s%s%s"
                        : "no trace in '%s': there is no " TRACE_FILES "%s%s%s",
                text, pattern ? "; did you mean '" : "", pattern ? pattern : "",
                !pattern  ? ""
                : folders ? "'?"
                          : "', or one of its folders?");
    memory_free(pattern);
    return false;
}

bool paths_none(const struct trace_paths *paths, const char *text, const struct stopper *stopper,
                struct failure *failure)
{
    if (paths->snapshots)
        return failure_set(failure, FAILURE_REQUEST,
                           "no snapshot in '%s': there is no " SNAPSHOT_FILES
                           ", as torch.cuda.memory._dump_snapshot() writes",
                           text);
    if (paths->logs)
        return failure_set(failure, FAILURE_REQUEST,
                           "no log in '%s': there is no " LOG_FILES
                           ", as TORCH_TRACE=folder makes PyTorch write",
                           text);
    return none_itself(text, false, stopper, failure);
}

/* Whether a text is written like a URL; `*rest` is the part after `://`. */
static bool is_url(const char *text, const char **rest)
{
    size_t length =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
    if (length == 0 || strncmp(text + length, "://", 3) != 0)
        return false;
    *rest = text + length + 3;
    return true;
}

static bool refuse_url(const char *text, const char *rest, struct failure *failure)
{
    if (strncasecmp(text, "file://", 7) == 0)
        return failure_set(failure, FAILURE_REQUEST, "'%s' is a URL: give the path '%s'", text,
                           rest);
    return failure_set(failure, FAILURE_REQUEST,
                       "'%s' is a URL: copy the files to this machine first", text);
}

static bool add_pattern(struct trace_paths *paths, const char *pattern,
                        const struct stopper *stopper, struct failure *failure)
{
    struct found_paths found;
    size_t before = paths->count;
    int error = pattern_find(pattern, true, &found, stopper, failure);
    if (error != 0)
        refuse_to_list(pattern, error, failure);
    else if (found.count == 0)
        failure_set(failure, FAILURE_REQUEST, "no file matches '%s'", pattern);
    for (size_t i = 0; i < found.count && failure->code == FAILURE_NONE; i++)
        if (stopper_ask(stopper, failure) && !is_directory(found.paths[i]))
            add(paths, path_joined(found.paths[i], "", ""), false, failure);
    found_paths_clear(&found);
    if (failure->code == FAILURE_NONE && paths->count == before)
        none_itself(pattern, true, stopper, failure);
    return failure->code == FAILURE_NONE;
}

bool paths_add(struct trace_paths *paths, const char *text, const struct stopper *stopper,
               struct failure *failure)
{
    struct file_status status;
    bool done;
    const char *rest;
    char *path = path_expanded(text);
    if (!path)
        return failure_memory(failure);
    int error = file_status(path, &status);
    bool link = error != 0 && file_is_link(path);
    if (path[0] == 0)
        done = failure_set(failure, FAILURE_REQUEST,
                           "the %s is an empty text: name a directory, a file or a pattern",
                           paths->snapshots ? "snapshot" : paths->logs ? "log" : "trace");
    else if (error == 0 && status.kind == FILE_IS_DIRECTORY)
        done = add_directory(paths, path, stopper, failure);
    else if (error == 0 || link) /* a dangling link counts as a file that cannot be read */
        return add(paths, path, false, failure);
    else if (is_url(path, &rest))
        done = refuse_url(path, rest, failure);
    else if (error == ENOENT && pattern_is(path))
        done = add_pattern(paths, path, stopper, failure);
    else
        done = failure_set(failure, FAILURE_REQUEST, "cannot read '%s': %s", path, strerror(error));
    memory_free(path);
    return done;
}

/* Adds the directories that a pattern matches. */
static bool add_directories(struct trace_paths *runs, const char *text, const char *pattern,
                            const struct stopper *stopper, struct failure *failure)
{
    struct found_paths found;
    const char *file = NULL;
    size_t before = runs->count;
    int unread = pattern_find(pattern, false, &found, stopper, failure);
    if (unread != 0)
        refuse_to_list(pattern, unread, failure);
    for (size_t i = 0; i < found.count && failure->code == FAILURE_NONE &&
                       stopper_ask(stopper, failure);
         i++) {
        const char *path = found.paths[i];
        struct file_status status;
        int error = file_status(path, &status);
        if (error != 0 && error != ENOENT) /* a dangling link is a file */
            failure_set(failure, FAILURE_READ, "cannot read '%s': %s", path, strerror(error));
        else if (error == 0 && status.kind == FILE_IS_DIRECTORY)
            add(runs, path_joined(path, "", ""), false, failure);
        else if (is_listed(path_name(path), runs))
            file = path;
    }
    if (file && runs->count > before && failure->code == FAILURE_NONE)
        failure_set(failure, FAILURE_REQUEST,
                    "'%s' matches directories and the file '%s': runs are the one or the other",
                    text, file);
    found_paths_clear(&found);
    return failure->code == FAILURE_NONE;
}

bool paths_add_runs(struct trace_paths *runs, const char *text, const struct stopper *stopper,
                    struct failure *failure)
{
    struct file_status status;
    size_t before = runs->count;
    char *path = path_expanded(text);
    if (!path)
        return failure_memory(failure);
    bool done = file_status(path, &status) == 0 || file_is_link(path) || !pattern_is(path) ||
                add_directories(runs, text, path, stopper, failure);
    memory_free(path);
    if (done && runs->count == before)
        done = add(runs, path_joined(text, "", ""), false, failure);
    return done;
}

static int path_order(const void *a, const void *b)
{
    const struct trace_path *x = a, *y = b;
    int order = text_order(x->path, y->path);
    return order ? order : (int)x->listed - (int)y->listed;
}

/* Merges a path that was given twice. It must be a trace if it was named at least once. */
static void merge(struct trace_path *path, struct trace_path *other)
{
    path->listed = path->listed && other->listed;
    path->again += 1 + other->again;
    memory_free(other->path);
}

void paths_sort(struct trace_paths *paths)
{
    size_t kept = 0;
    if (paths->count > 0)
        qsort(paths->items, paths->count, sizeof *paths->items, path_order);
    for (size_t i = 0; i < paths->count; i++) {
        if (kept > 0 && strcmp(paths->items[i].path, paths->items[kept - 1].path) == 0)
            merge(&paths->items[kept - 1], &paths->items[i]);
        else
            paths->items[kept++] = paths->items[i];
    }
    paths->count = kept;
}

size_t paths_find(const struct trace_paths *paths, size_t count, const char *path)
{
    size_t i = 0;
    LOWER_BOUND(i, count, text_order(paths->items[i].path, path) < 0);
    return i;
}

void paths_merge(struct trace_paths *paths, size_t first, size_t i)
{
    merge(&paths->items[first], &paths->items[i]);
    paths->items[i].path = NULL;
}

/* Files that are known, by the paths that are kept. */
struct known_files {
    struct identity *items;
    struct table table;
};

static uint64_t hash_of_file(const void *known, uint32_t i)
{
    const struct identity *file = &((const struct known_files *)known)->items[i];
    return hash_with(hash_with(hash_key(), file->device), file->inode);
}

struct wanted_identity {
    const struct known_files *known;
    const struct identity *file;
};

static bool is_file(const void *key, uint32_t i)
{
    const struct wanted_identity *wanted = key;
    const struct identity *file = &wanted->known->items[i];
    return file->device == wanted->file->device && file->inode == wanted->file->inode;
}

/* The place of the path of a file among those that are kept, `*count`, which it becomes the last
** of if it is new; UINT32_MAX if out of memory. */
static uint32_t place_of(struct known_files *known, size_t *count, const struct identity *file)
{
    const struct wanted_identity wanted = {known, file};
    known->items[*count] = *file;
    if (!table_reserve(&known->table, *count, hash_of_file, known))
        return UINT32_MAX;
    uint32_t *slot =
        table_slot(&known->table, hash_of_file(known, (uint32_t)*count), is_file, &wanted);
    if (*slot == 0)
        *slot = (uint32_t)++*count;
    return *slot - 1;
}

bool paths_join(struct trace_paths *paths, const struct stopper *stopper, struct failure *failure)
{
    struct known_files known = {.items = memory_zeroed(paths->count, sizeof *known.items)};
    size_t kept = 0, i = 0;
    bool done = known.items || failure_memory(failure);
    for (; done && i < paths->count; i++) {
        struct file_status status;
        size_t before = kept;
        if (file_status(paths->items[i].path, &status) != 0) /* of a pattern; it is itself */
            status.identity = (struct identity){.device = UINT64_MAX, .inode = i};
        uint32_t place = stopper_ask(stopper, failure)
                             ? place_of(&known, &kept, &status.identity)
                             : UINT32_MAX;
        done = place != UINT32_MAX || failure_memory(failure);
        if (!done)
            break;
        if (kept == before)
            merge(&paths->items[place], &paths->items[i]);
        else
            paths->items[place] = paths->items[i];
    }
    for (; i < paths->count; i++)
        memory_free(paths->items[i].path);
    paths->count = kept;
    memory_free(known.items);
    table_clear(&known.table);
    return done;
}

bool paths_copy(struct trace_paths *to, const struct trace_paths *from)
{
    struct failure failure = {.code = FAILURE_NONE};
    *to = (struct trace_paths){.snapshots = from->snapshots, .logs = from->logs};
    for (size_t i = 0; i < from->count; i++) {
        const struct trace_path *path = &from->items[i];
        if (!add(to, path_joined(path->path, "", ""), path->listed, &failure)) {
            paths_clear(to);
            return false;
        }
        char *copy = to->items[i].path;
        to->items[i] = *path;
        to->items[i].path = copy;
    }
    return true;
}

void paths_clear(struct trace_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        memory_free(paths->items[i].path);
    memory_free(paths->items);
    memset(paths, 0, sizeof *paths);
}
