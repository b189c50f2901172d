/*
** Paths of Python's files. `/` separates their components, and `\` does, as Windows writes it.
*/
#ifndef TRACEDIFF_PYTHON_PATH_H
#define TRACEDIFF_PYTHON_PATH_H

#include <stdbool.h>
#include <stddef.h>

static inline bool is_separator(int c)
{
    return c == '/' || c == '\\';
}

/* What follows the last folder of a name in a path, which ends at `end`, and a separator; NULL if
** no folder of the path has that name. */
const char *path_after(const char *path, const char *end, const char *folder);

/* Whether a path begins with a module of PyTorch or of Python's standard library (3.8 to 3.14). */
bool path_is_module(const char *path, const char *end);

/* Whether a path is in Python's standard library: of any system in `/lib/pythonN/`; on Windows,
** after a drive, in `\Lib\` before a module of it. */
bool path_is_library(const char *path, const char *end);

/* M8.3: whether a file is the user's, not of PyTorch, a package or Python's standard library. */
bool path_is_users(const char *path, const char *end);

/* M8.4: where the last two components of a path begin. */
const char *path_brief(const char *path, const char *end);

#endif
