#include "roots.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "platform/path.h"
#include "platform/thread.h"

/* They stay until the process ends. */
static struct {
    bool taken, limited;
    char **paths; /* absolute, without links */
    size_t count, capacity;
} roots;

static bool add(const char *path, struct failure *failure)
{
    char *real;
    int error = system_real_path(path, &real);
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
    roots.count = 0;
    for (char *name = names; name && done; name = next) {
        next = strchr(name, path_list_separator);
        if (next)
            *next++ = 0;
        done = add(name, failure);
    }
    memory_free(names);
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
    if (!roots.limited)
        return 0;
    size_t size = strlen(path) + 1;
    char *real = NULL, *there = memory_allocate(size);
    int error = ENOMEM;
    if (there)
        memcpy(there, path, size);
    /* Of what is not there, the first directory above it that is. */
    while (there && (error = system_real_path(there, &real)) != 0 && error != ENOMEM && cut(there))
        continue;
    if (error != ENOMEM)
        error = real && is_below(real) ? 0 : EACCES;
    memory_free(real);
    memory_free(there);
    return error;
}

static int check_open(intptr_t file)
{
    if (!roots.limited)
        return 0;
    char *real;
    int error = system_real_path_of(file, &real);
    if (error == 0 && !is_below(real))
        error = EACCES;
    memory_free(real);
    return error;
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
    return error ? error : system_real_path(path, real);
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
