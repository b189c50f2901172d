/*
** Which files may be read: those below the directories that a host names.
**
** 1. TRACEDIFF_ROOTS in the environment names them, as PATH does: separated by `:`, on Windows
**    by `;`. If it is not set, any file may be read. It is taken once in the life of a process,
**    when the extension is first loaded, and no SQL changes it.
** 2. A path that leads elsewhere, through links and `..`, is an error, EACCES: to read a file, to
**    list a directory, and to ask whether something is there. That is the same whether it is or
**    not, but for what a link below leads to. `\\server\share` is not even looked for.
** 3. An open file is asked where it is, on Linux by /proc: a link that turns meanwhile is of no use
**    to who turns it. Databases, which SQLite opens by their path, and directories are not asked.
*/
#ifndef TRACEDIFF_ROOTS_H
#define TRACEDIFF_ROOTS_H

#include "base/failure.h"
#include "platform/files.h"

/* Takes the directories, before the first of the functions below. Failures: FAILURE_REQUEST if one
** is not there, FAILURE_MEMORY; the next call tries again. */
bool roots_take(struct failure *failure);

/* As the functions of files.h: system_status() and so on. `*real` is owned by the caller, NULL with
** an error. */
int file_status(const char *path, struct file_status *status);
bool file_is_link(const char *path);
int file_real_path(const char *path, char **real);
int file_open(const char *path, intptr_t *file);
struct listing *listing_open(const char *path, int *error);

#endif
