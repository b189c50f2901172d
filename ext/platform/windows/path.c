#include "platform/path.h"

#include <errno.h>
#include <wchar.h>

#include "base/memory.h"
#include "utf16.h"

const char path_separators[] = "/\\";
const bool path_ignores_case = true;
const char path_list_separator = ';';

const char *path_between(const char *directory)
{
    size_t length = strlen(directory);
    char last = 0;
    for (const char *p = directory; *p; p++)
        last = path_separates(*p) ? *p : last;
    return length > 0 && path_separates(directory[length - 1]) ? "" : last == '\\' ? "\\" : "/";
}

int path_variable(const char *name, char **value)
{
    int error;
    WCHAR *wide_name = utf16_path(name, &error), *wide = NULL;
    DWORD size = wide_name ? GetEnvironmentVariableW(wide_name, NULL, 0) : 0;
    *value = NULL;
    if (size > 0) {
        wide = memory_items(size, sizeof *wide);
        if (wide && GetEnvironmentVariableW(wide_name, wide, size) < size)
            *value = utf16_to_utf8(wide);
    }
    memory_free(wide);
    memory_free(wide_name);
    return !wide_name || (size > 0 && !*value) ? ENOMEM : 0;
}

char *path_expanded(const char *text)
{
    char *home = NULL;
    int error = 0;
    if (text[0] == '~' && path_separates(text[1])) {
        error = path_variable("HOME", &home);
        if (error == 0 && !home)
            error = path_variable("USERPROFILE", &home);
    }
    size_t before = home ? strlen(home) : 0, size = strlen(text += home != NULL) + 1;
    char *path = error == 0 ? memory_allocate(before + size) : NULL;
    if (path) {
        if (before > 0)
            memcpy(path, home, before);
        memcpy(path + before, text, size);
    }
    memory_free(home);
    return path;
}

bool path_is_remote(const char *path)
{
    bool drive = strncmp(path, "\\\\?\\", 4) == 0 && path[4] != 0 && path[5] == ':';
    return path_separates(path[0]) && path_separates(path[1]) && !drive;
}

/* SQLite drops the slash before a drive, and takes `//server/share` for what it is. */
const char *path_uri(const char *path)
{
    bool drive = path[0] != 0 && path[1] == ':';
    return drive ? "file:///" : path_separates(path[0]) ? "file://" : "file:./";
}
