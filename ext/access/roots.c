#include "roots.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "platform/path.h"
#include "platform/thread.h"

enum { LONGEST = 8192 }; /* bytes of a path, with a NUL */

/* They stay until the process ends. */
static struct {
    bool taken, limited;
    char **paths; /* absolute, without links */
    size_t count, capacity;
} roots;

static int copied_real_path(const char *path, char **real)
{
    char found[LONGEST];
    int error = system_real_path(path, found, sizeof found);
    size_t size = error == 0 ? strlen(found) + 1 : 0;
    *real = error == 0 ? memory_allocate(size) : NULL;
    if (*real)
        memcpy(*real, found, size);
    return error == 0 && !*real ? ENOMEM : error;
}

static bool add(const char *path, struct failure *failure)
{
    char *real;
    int error = copied_real_path(path, &real);
    if (error == 0 && !MEMORY_GROW(roots.paths, roots.capacity, roots.count + 1))
        error = ENOMEM;
    if (error == 0) {
        roots.paths[roots.count++] = real;
        return true;
    }
    memory_free(real);
    if (error == ENOMEM)
        return failure_memory(failure);
    return failure_set(failure, FAILURE_REQUEST, "TRACEDIFF_ROOTS: cannot read '%s': %s", path,
                       strerror(error));
}

static bool take(struct failure *failure)
{
    char *names, *next = NULL;
    bool done = path_variable("TRACEDIFF_ROOTS", &names) == 0 || failure_memory(failure);
    roots.limited = done && names;
    for (char *name = names; name && done; name = next) {
        next = strchr(name, path_list_separator);
        if (next)
            *next++ = 0;
        done = add(name, failure);
    }
    memory_free(names);
    while (!done && roots.count > 0)
        memory_free(roots.paths[--roots.count]);
    return done;
}

bool roots_take(struct failure *failure)
{
    static struct mutex mutex = MUTEX_INITIAL;
    mutex_lock(&mutex);
    bool taken = roots.taken = roots.taken || take(failure);
    mutex_unlock(&mutex);
    return taken;
}

static bool is_below(const char *real)
{
    bool is = false;
    for (size_t i = 0; i < roots.count && !is; i++) {
        size_t length = strlen(roots.paths[i]);
        is =
            strncmp(real, roots.paths[i], length) == 0 &&
            (real[length] == 0 || path_separates(real[length]) || path_separates(real[length - 1]));
    }
    return is;
}

/* Leaves of a path the directory that its last name is in. False if there is none. */
static bool cut(char *path)
{
    char *name = (char *)path_name(path);
    while (name > path + 1 && path_separates(name[-1]))
        name--;
    if (*name == 0 || strcmp(path, ".") == 0)
        return false;
    strcpy(name, name > path ? "" : ".");
    return true;
}

/* EACCES if a path leads elsewhere, 0, or another error. */
static int check(const char *path)
{
    char there[LONGEST], real[LONGEST];
    size_t size = strlen(path) + 1;
    int error;
    if (!roots.limited)
        return 0;
    if (path_is_remote(path))
        return EACCES;
    if (size > sizeof there)
        return ENAMETOOLONG;
    memcpy(there, path, size);
    /* Of what is not there, the first directory above it that is. */
    while ((error = system_real_path(there, real, sizeof real)) != 0 && error != ENOMEM &&
           cut(there))
        continue;
    return error == ENOMEM ? ENOMEM : error == 0 && is_below(real) ? 0 : EACCES;
}

static int check_open(intptr_t file)
{
    char real[LONGEST];
    int error = roots.limited ? system_real_path_of(file, real, sizeof real) : 0;
    return error == 0 && roots.limited && !is_below(real) ? EACCES : error;
}

int file_status(const char *path, struct file_status *status)
{
    int error = check(path);
    return error ? error : system_status(path, status);
}

bool file_is_link(const char *path)
{
    return check(path) == 0 && system_is_link(path);
}

int file_real_path(const char *path, char **real)
{
    int error = check(path);
    *real = NULL;
    return error ? error : copied_real_path(path, real);
}

int file_open(const char *path, intptr_t *file)
{
    int error = check(path);
    *file = -1;
    if (error == 0)
        error = system_open(path, file);
    if (error == 0 && (error = check_open(*file)) != 0) {
        file_close(*file);
        *file = -1;
    }
    return error;
}

struct listing *listing_open(const char *path, int *error)
{
    *error = check(path);
    return *error ? NULL : system_listing(path, error);
}
