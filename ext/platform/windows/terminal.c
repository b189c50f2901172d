#include "platform/terminal.h"

#include <windows.h>

bool terminal_is_there(void)
{
    DWORD mode;
    return GetConsoleMode(GetStdHandle(STD_ERROR_HANDLE), &mode);
}

bool terminal_write(const char *bytes, size_t length)
{
    DWORD written;
    return WriteFile(GetStdHandle(STD_ERROR_HANDLE), bytes, (DWORD)length, &written, NULL) &&
           written == length;
}
