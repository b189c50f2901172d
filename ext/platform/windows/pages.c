#include "platform/pages.h"

void pages_prefer_large(void *begin, size_t size)
{
    (void)begin, (void)size;
}
