#include "platform/library.h"

bool library_load(const char *name, int version, const struct library_function *functions,
                  size_t count)
{
    (void)name, (void)version, (void)functions, (void)count;
    return false;
}
