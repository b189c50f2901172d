/*
** How the system writes the path of a file.
*/
#ifndef TRACEDIFF_PATH_H
#define TRACEDIFF_PATH_H

#include <stdbool.h>
#include <string.h>

/* What separates the names of a path: a slash; of Windows also a backslash. */
extern const char path_separators[];

/* Whether `a.json` and `A.JSON` are one file. Only letters of ASCII are taken for equal. */
extern const bool path_ignores_case;

/* What separates the paths of a list: a colon; of Windows a semicolon. */
extern const char path_list_separator;

static inline bool path_separates(char c)
{
    return c != 0 && strchr(path_separators, c) != NULL;
}

/* The name at the end of a path, after its last separator. */
static inline const char *path_name(const char *path)
{
    const char *name = path;
    for (; *path; path++)
        name = path_separates(*path) ? path + 1 : name;
    return name;
}

/* What to put between the path of a directory and a name: the last separator in it, `/` if it has
** none, nothing if it ends with one. */
const char *path_between(const char *directory);

/* Gets a variable of the environment that has paths, in UTF-8; owned by the caller, NULL if it is
** not set. Returns 0 or ENOMEM. */
int path_variable(const char *name, char **value);

/* The text with the home directory for `~` where it begins with `~/`, if it is known; owned by the
** caller. NULL if out of memory. */
char *path_expanded(const char *text);

/* Whether looking for a path may ask another machine, which learns who asks: of Windows, what
** begins with two separators, but for a drive after `\\?\`. */
bool path_is_remote(const char *path);

/* What makes a URI of a path, put before it: of an absolute one, `file://` or `file:///`; of
** another one `file:./`, so that `:memory:` is a file, too. */
const char *path_uri(const char *path);

#endif
