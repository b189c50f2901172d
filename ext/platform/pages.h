/*
** Pages of memory.
*/
#ifndef TRACEDIFF_PAGES_H
#define TRACEDIFF_PAGES_H

#include <stddef.h>

/* Asks the system to keep bytes in pages of 2 MiB, as far as they reach over whole ones. It is only
** a hint, and nothing where the system has no such call. */
void pages_prefer_large(void *begin, size_t size);

#endif
