#include "platform/files.h"

#include <errno.h>
#include <string.h>
#include <wchar.h>

#include "base/memory.h"
#include "platform/path.h"
#include "utf16.h"

int file_system_error(int number)
{
    static const struct {
        DWORD system;
        int error;
    } errors[] = {{ERROR_SUCCESS, 0},
                  {ERROR_FILE_NOT_FOUND, ENOENT},
                  {ERROR_PATH_NOT_FOUND, ENOENT},
                  {ERROR_INVALID_NAME, ENOENT},
                  {ERROR_INVALID_DRIVE, ENOENT},
                  {ERROR_BAD_PATHNAME, ENOENT},
                  {ERROR_BAD_NETPATH, ENOENT},
                  {ERROR_BAD_NET_NAME, ENOENT},
                  {ERROR_NOT_READY, ENOENT}, /* a drive without a disk */
                  {ERROR_ACCESS_DENIED, EACCES},
                  {ERROR_SHARING_VIOLATION, EACCES},
                  {ERROR_LOCK_VIOLATION, EACCES},
                  {ERROR_DIRECTORY, ENOTDIR},
                  {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
                  {ERROR_CANT_RESOLVE_FILENAME, ELOOP},
                  {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
                  {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
                  {ERROR_OUTOFMEMORY, ENOMEM}};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].system == (DWORD)number)
            return errors[i].error;
    return EIO;
}

static int last_error(void)
{
    return file_system_error((int)GetLastError());
}

static bool separates(WCHAR c)
{
    return c == L'/' || c == L'\\';
}

/* Why there is nothing at a path, which Windows does not tell: the nearest folder above it that is
** there is a file, or has no room for the name. Ends the path there. */
static int why_missing(WCHAR *path)
{
    enum { LONGEST = 255 /* of a name, in units of UTF-16 */ };
    size_t end = wcslen(path);
    while (end > 0) {
        size_t name = end;
        while (name > 0 && !separates(path[name - 1]))
            name--;
        bool below = name > 1; /* not in the root or the current folder */
        path[below ? name - 1 : 0] = 0;
        DWORD found = below ? GetFileAttributesW(path) : FILE_ATTRIBUTE_DIRECTORY;
        if (found != INVALID_FILE_ATTRIBUTES)
            return !(found & FILE_ATTRIBUTE_DIRECTORY) ? ENOTDIR
                   : end - name > LONGEST              ? ENAMETOOLONG
                                                       : ENOENT;
        end = name - 1;
    }
    return ENOENT;
}

/* Opens what a path leads to, or with OPEN_REPARSE_POINT itself. Returns an error. */
static int open_handle(const char *path, DWORD rights, DWORD flags, HANDLE *handle)
{
    int error;
    *handle = INVALID_HANDLE_VALUE;
    WCHAR *wide = utf16_path(path, &error);
    if (!wide)
        return error;
    *handle = CreateFileW(wide, rights, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                          NULL, OPEN_EXISTING, flags | FILE_FLAG_BACKUP_SEMANTICS, NULL);
    error = *handle == INVALID_HANDLE_VALUE ? last_error() : 0;
    error = error == ENOENT ? why_missing(wide) : error;
    memory_free(wide);
    return error;
}

static int64_t joined(DWORD high, DWORD low)
{
    return (int64_t)((uint64_t)high << 32 | low);
}

/* ns since 1970 of 100 ns since 1601. */
static int64_t nanoseconds(int64_t time)
{
    return (time - 116444736000000000) * 100;
}

int file_status_of(intptr_t file, struct file_status *status)
{
    HANDLE handle = (HANDLE)file;
    BY_HANDLE_FILE_INFORMATION found;
    FILE_BASIC_INFO basic;
    *status = (struct file_status){.kind = FILE_IS_OTHER};
    if (GetFileType(handle) != FILE_TYPE_DISK)
        return 0;
    if (!GetFileInformationByHandle(handle, &found))
        return last_error();
    if (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY)
        status->kind = FILE_IS_DIRECTORY;
    else if (!(found.dwFileAttributes & FILE_ATTRIBUTE_DEVICE))
        status->kind = FILE_IS_REGULAR;
    status->identity = (struct identity){
        .device = found.dwVolumeSerialNumber,
        .inode = (uint64_t)joined(found.nFileIndexHigh, found.nFileIndexLow),
        .size = joined(found.nFileSizeHigh, found.nFileSizeLow),
        .modified = nanoseconds(
            joined(found.ftLastWriteTime.dwHighDateTime, found.ftLastWriteTime.dwLowDateTime)),
    };
    if (GetFileInformationByHandleEx(handle, FileBasicInfo, &basic, sizeof basic))
        status->identity.changed = nanoseconds(basic.ChangeTime.QuadPart); /* not of every volume */
    return 0;
}

int system_status(const char *path, struct file_status *status)
{
    HANDLE handle;
    int error = open_handle(path, FILE_READ_ATTRIBUTES, 0, &handle);
    if (error == 0)
        error = file_status_of((intptr_t)handle, status);
    if (handle != INVALID_HANDLE_VALUE)
        CloseHandle(handle);
    return error;
}

bool system_is_link(const char *path)
{
    HANDLE handle;
    FILE_ATTRIBUTE_TAG_INFO found;
    if (open_handle(path, FILE_READ_ATTRIBUTES, FILE_FLAG_OPEN_REPARSE_POINT, &handle) != 0)
        return false;
    bool link = GetFileInformationByHandleEx(handle, FileAttributeTagInfo, &found, sizeof found) &&
                (found.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) &&
                found.ReparseTag == IO_REPARSE_TAG_SYMLINK;
    CloseHandle(handle);
    return link;
}

int system_real_path_of(intptr_t file, char *real, size_t room)
{
    HANDLE handle = (HANDLE)file;
    int error = 0;
    DWORD size = GetFinalPathNameByHandleW(handle, NULL, 0, FILE_NAME_NORMALIZED);
    if (size == 0)
        return last_error();
    WCHAR *wide = memory_items(size + 1, sizeof *wide);
    if (!wide)
        error = ENOMEM;
    else if (GetFinalPathNameByHandleW(handle, wide, size + 1, FILE_NAME_NORMALIZED) > size)
        error = EIO;
    else if (!WideCharToMultiByte(CP_UTF8, 0, wide, -1, real, (int)room, NULL, NULL))
        error = ENAMETOOLONG;
    memory_free(wide);
    return error;
}

int system_real_path(const char *path, char *real, size_t room)
{
    HANDLE handle;
    int error = open_handle(path, FILE_READ_ATTRIBUTES, 0, &handle);
    if (error != 0)
        return error;
    error = system_real_path_of((intptr_t)handle, real, room);
    CloseHandle(handle);
    return error;
}

int system_open(const char *path, intptr_t *file)
{
    HANDLE handle;
    int error = open_handle(path, GENERIC_READ, FILE_FLAG_SEQUENTIAL_SCAN, &handle);
    *file = (intptr_t)handle;
    return error;
}

void file_close(intptr_t file)
{
    CloseHandle((HANDLE)file);
}

int file_read(intptr_t file, void *to, size_t room, size_t *got)
{
    DWORD count = 0;
    *got = 0;
    if (!ReadFile((HANDLE)file, to, room > INT32_MAX ? INT32_MAX : (DWORD)room, &count, NULL) &&
        GetLastError() != ERROR_HANDLE_EOF)
        return last_error();
    *got = count;
    return 0;
}

struct listing {
    HANDLE handle;
    WIN32_FIND_DATAW found;
    bool first;
    char name[4 * MAX_PATH]; /* a name has less than MAX_PATH characters of UTF-16 */
};

struct listing *system_listing(const char *path, int *error)
{
    struct file_status status;
    struct listing *listing = memory_allocate(sizeof *listing);
    const char *between = path_between(path);
    size_t length = strlen(path), end = length + strlen(between);
    char *pattern = memory_allocate(end + sizeof "*");
    *error = listing && pattern ? system_status(path, &status) : ENOMEM;
    if (*error == 0 && status.kind != FILE_IS_DIRECTORY)
        *error = ENOTDIR;
    WCHAR *wide = NULL;
    if (*error == 0) {
        memcpy(pattern, path, length);
        memcpy(pattern + length, between, end - length);
        memcpy(pattern + end, "*", sizeof "*");
        wide = utf16_path(pattern, error);
    }
    if (wide) {
        listing->first = true;
        listing->handle = FindFirstFileW(wide, &listing->found);
        *error = listing->handle == INVALID_HANDLE_VALUE ? last_error() : 0;
    }
    memory_free(wide);
    memory_free(pattern);
    if (*error == 0)
        return listing;
    memory_free(listing);
    return NULL;
}

const char *listing_next(struct listing *listing, int *error)
{
    *error = 0;
    if (!listing->first && !FindNextFileW(listing->handle, &listing->found)) {
        *error = GetLastError() == ERROR_NO_MORE_FILES ? 0 : last_error();
        return NULL;
    }
    listing->first = false;
    WideCharToMultiByte(CP_UTF8, 0, listing->found.cFileName, -1, listing->name,
                        sizeof listing->name, NULL, NULL);
    return listing->name;
}

void listing_close(struct listing *listing)
{
    FindClose(listing->handle);
    memory_free(listing);
}
