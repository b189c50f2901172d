#include "platform/path.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

const char path_separators[] = "/";
const bool path_ignores_case = false;
const char path_list_separator = ':';

const char *path_between(const char *directory)
{
    size_t length = strlen(directory);
    return length > 0 && directory[length - 1] == '/' ? "" : "/";
}

int path_variable(const char *name, char **value)
{
    const char *set = getenv(name);
    size_t size = set ? strlen(set) + 1 : 0;
    *value = set ? memory_allocate(size) : NULL;
    if (*value)
        memcpy(*value, set, size);
    return set && !*value ? ENOMEM : 0;
}

char *path_expanded(const char *text)
{
    const char *home = text[0] == '~' && text[1] == '/' ? getenv("HOME") : NULL;
    size_t before = home ? strlen(home) : 0, size = strlen(text += home != NULL) + 1;
    char *path = memory_allocate(before + size);
    if (path) {
        if (before > 0)
            memcpy(path, home, before);
        memcpy(path + before, text, size);
    }
    return path;
}

bool path_is_remote(const char *path)
{
    (void)path;
    return false;
}

const char *path_uri(const char *path)
{
    return *path == '/' ? "file://" : "file:./";
}
