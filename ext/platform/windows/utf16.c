#include "utf16.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <wchar.h>

#include "base/memory.h"

enum {
    SHORT_PATH = 240 /* characters; a directory has at most 247, so that there is room for names */
};

static WCHAR *from_utf8(const char *text, int *error)
{
    int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    WCHAR *wide = length > 0 ? memory_items((size_t)length, sizeof *wide) : NULL;
    *error = wide ? 0 : length > 0 ? ENOMEM : ENOENT;
    if (wide)
        MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, wide, length);
    return wide;
}

/* The absolute path with the mark of a long one before it; takes ownership of `path`. */
static WCHAR *marked(WCHAR *path, int *error)
{
    static const WCHAR mark[] = L"\\\\?\\", unc[] = L"\\\\?\\UNC";
    DWORD size = GetFullPathNameW(path, 0, NULL, NULL);
    WCHAR *full = memory_items(wcslen(unc) + size, sizeof *full);
    if (!full) {
        *error = ENOMEM;
    } else {
        WCHAR *at = full + wcslen(unc);
        DWORD length = GetFullPathNameW(path, size, at, NULL);
        bool server = length > 1 && at[0] == L'\\' && at[1] == L'\\';
        const WCHAR *before = server ? unc : mark;
        at += server; /* `\\server` becomes `\\?\UNC\server` */
        memmove(full + wcslen(before), at, (length + 1 - server) * sizeof *at);
        memcpy(full, before, wcslen(before) * sizeof *before);
    }
    memory_free(path);
    return full;
}

WCHAR *utf16_path(const char *path, int *error)
{
    WCHAR *wide = from_utf8(path, error);
    bool is_marked = wide && wcsncmp(wide, L"\\\\?\\", 4) == 0;
    return wide && wcslen(wide) >= SHORT_PATH && !is_marked ? marked(wide, error) : wide;
}

char *utf16_to_utf8(const WCHAR *text)
{
    int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *narrow = memory_items((size_t)size, 1);
    if (narrow)
        WideCharToMultiByte(CP_UTF8, 0, text, -1, narrow, size, NULL, NULL);
    return narrow;
}
