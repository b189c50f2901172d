/*
** The terminal that a person who waits looks at: stderr.
*/
#ifndef TRACEDIFF_TERMINAL_H
#define TRACEDIFF_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Whether stderr is a terminal. */
bool terminal_is_there(void);

/* Writes bytes to stderr. False if not all were written. */
bool terminal_write(const char *bytes, size_t length);

#endif
