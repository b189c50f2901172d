/* realpath() is of XSI; Darwin hides the nanoseconds of times. */
#define _XOPEN_SOURCE 700
#define _DARWIN_C_SOURCE
#include "platform/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __APPLE__
#define st_mtim st_mtimespec
#define st_ctim st_ctimespec
#endif

static int64_t nanoseconds(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int take(int failed, const struct stat *found, struct file_status *status)
{
    if (failed)
        return errno;
    status->kind = S_ISREG(found->st_mode)   ? FILE_IS_REGULAR
                   : S_ISDIR(found->st_mode) ? FILE_IS_DIRECTORY
                                             : FILE_IS_OTHER;
    status->identity = (struct identity){
        .device = (uint64_t)found->st_dev,
        .inode = (uint64_t)found->st_ino,
        .size = (int64_t)found->st_size,
        .modified = nanoseconds(found->st_mtim),
        .changed = nanoseconds(found->st_ctim),
    };
    return 0;
}

int system_status(const char *path, struct file_status *status)
{
    struct stat found;
    return take(stat(path, &found), &found, status);
}

int file_status_of(intptr_t file, struct file_status *status)
{
    struct stat found;
    return take(fstat((int)file, &found), &found, status);
}

bool system_is_link(const char *path)
{
    struct stat found;
    return lstat(path, &found) == 0 && S_ISLNK(found.st_mode);
}

static int copy_path(const char *path, size_t length, char *to, size_t room)
{
    if (length >= room)
        return ENAMETOOLONG;
    memcpy(to, path, length);
    to[length] = 0;
    return 0;
}

int system_real_path(const char *path, char *real, size_t room)
{
    char found[PATH_MAX];
    return realpath(path, found) ? copy_path(found, strlen(found), real, room) : errno;
}

int system_real_path_of(intptr_t file, char *real, size_t room)
{
    char found[PATH_MAX];
#ifdef __APPLE__
    return fcntl((int)file, F_GETPATH, found) != -1 ? copy_path(found, strlen(found), real, room)
                                                    : errno;
#else
    char link[sizeof "/proc/self/fd/-2147483648"];
    snprintf(link, sizeof link, "/proc/self/fd/%d", (int)file);
    ssize_t length = readlink(link, found, sizeof found);
    return length >= 0 ? copy_path(found, (size_t)length, real, room) : errno;
#endif
}

int system_open(const char *path, intptr_t *file)
{
    *file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return *file < 0 ? errno : 0;
}

void file_close(intptr_t file)
{
    close((int)file);
}

int file_read(intptr_t file, void *to, size_t room, size_t *got)
{
    ssize_t count;
    do
        count = read((int)file, to, room);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return errno;
    *got = (size_t)count;
    return 0;
}

int file_system_error(int number)
{
    return number;
}

struct listing *system_listing(const char *path, int *error)
{
    DIR *directory = opendir(path);
    *error = directory ? 0 : errno;
    return (struct listing *)directory;
}

const char *listing_next(struct listing *listing, int *error)
{
    errno = 0;
    const struct dirent *entry = readdir((DIR *)listing);
    *error = entry ? 0 : errno;
    return entry ? entry->d_name : NULL;
}

void listing_close(struct listing *listing)
{
    closedir((DIR *)listing);
}
