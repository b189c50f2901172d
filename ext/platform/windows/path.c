#include "platform/path.h"

#include <wchar.h>

#include "base/memory.h"
#include "utf16.h"

const char path_separators[] = "/\\";
const bool path_ignores_case = true;

const char *path_between(const char *directory)
{
    size_t length = strlen(directory);
    char last = 0;
    for (const char *p = directory; *p; p++)
        last = path_separates(*p) ? *p : last;
    return length > 0 && path_separates(directory[length - 1]) ? "" : last == '\\' ? "\\" : "/";
}

/* A variable of the environment, in UTF-8; owned by the caller. NULL if it is not set. */
static char *variable(const WCHAR *name)
{
    WCHAR value[MAX_PATH];
    DWORD length = GetEnvironmentVariableW(name, value, MAX_PATH);
    return length > 0 && length < MAX_PATH ? utf16_to_utf8(value) : NULL;
}

char *path_expanded(const char *text)
{
    char *home = NULL;
    if (text[0] == '~' && path_separates(text[1])) {
        home = variable(L"HOME");
        home = home ? home : variable(L"USERPROFILE");
    }
    size_t before = home ? strlen(home) : 0, size = strlen(text += home != NULL) + 1;
    char *path = memory_allocate(before + size);
    if (path) {
        if (before > 0)
            memcpy(path, home, before);
        memcpy(path + before, text, size);
    }
    memory_free(home);
    return path;
}

/* SQLite drops the slash before a drive, and takes `//server/share` for what it is. */
const char *path_uri(const char *path)
{
    bool drive = path[0] != 0 && path[1] == ':';
    return drive ? "file:///" : path_separates(path[0]) ? "file://" : "file:./";
}
