#include "platform/terminal.h"

#include <unistd.h>

bool terminal_is_there(void)
{
    return isatty(STDERR_FILENO);
}

bool terminal_write(const char *bytes, size_t length)
{
    return write(STDERR_FILENO, bytes, length) == (ssize_t)length;
}
