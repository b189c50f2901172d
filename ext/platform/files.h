/*
** Files, their identity, and the names in a directory: posix/files.c or windows/files.c, as SYSTEM
** in the Makefile says.
**
** Paths are UTF-8, of any length that the system allows; of Windows with slashes or backslashes,
** with a drive or as `\\server\share`. Bytes are read as they are: there is no text mode.
** An error is 0 or a number of errno.h, for strerror(), also where the system has other numbers.
** What takes a path, system_..., is for access/roots.h, which says what may be read.
*/
#ifndef TRACEDIFF_FILES_H
#define TRACEDIFF_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two openings of a path with equal identities have the same file with the same content. */
struct identity {
    uint64_t device, inode; /* of Windows: the serial number of the volume, the index of the file */
    int64_t size;           /* bytes on disk */
    int64_t modified;       /* ns since 1970 */
    int64_t changed;        /* ns since 1970: of the content, the name or the rights */
};

enum file_kind {
    FILE_IS_REGULAR,
    FILE_IS_DIRECTORY,
    FILE_IS_OTHER /* a device, a pipe, ... */
};

struct file_status {
    enum file_kind kind;
    struct identity identity;
};

/* The status of what a path leads to, through links. Returns an error. */
int system_status(const char *path, struct file_status *status);

/* Whether a path is a symbolic link itself, also one that leads nowhere. */
bool system_is_link(const char *path);

/* Writes the path without links, absolute, to `real`, which has `room` bytes. Returns an error,
** ENAMETOOLONG if it does not fit. */
int system_real_path(const char *path, char *real, size_t room);
int system_real_path_of(intptr_t file, char *real, size_t room);

/* Opens a file to read it from its beginning; others may write it, rename it and remove it
** meanwhile. Never waits for a pipe's other end. Programs that the host starts do not inherit it.
** Returns an error; `*file` is then -1. file_close() ends it. */
int system_open(const char *path, intptr_t *file);
void file_close(intptr_t file);

int file_status_of(intptr_t file, struct file_status *status);

/* Reads up to `room` bytes; `*got` is 0 at the end only. Returns an error. */
int file_read(intptr_t file, void *to, size_t room, size_t *got);

/* The error for a number that the system gave, as SQLite keeps it (SQLITE_FCNTL_LAST_ERRNO). */
int file_system_error(int number);

/* The names in a directory, in no order, with `.` and `..`. */
struct listing;

/* NULL with the error in `*error`. listing_close() ends it. */
struct listing *system_listing(const char *path, int *error);

/* A name, which stays until the next call. NULL at the end, or with an error. */
const char *listing_next(struct listing *listing, int *error);

void listing_close(struct listing *listing);

#endif
