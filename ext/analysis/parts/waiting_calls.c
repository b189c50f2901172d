#include "waiting_calls.h"

#include <string.h>

bool call_waits(const struct name *name)
{
    static const char *const copies[] = {"cudaMemcpy", "hipMemcpy", "hipMemcpyWithStream"};
    static const char word[] = "Synchronize";
    size_t length = sizeof word - 1;
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        if (name->length == strlen(copies[i]) && memcmp(name->text, copies[i], name->length) == 0)
            return true;
    for (size_t i = 0; i + length <= name->length; i++)
        if (memcmp(name->text + i, word, length) == 0)
            return true;
    return false;
}
