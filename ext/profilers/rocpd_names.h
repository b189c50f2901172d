/*
** What rocprofv3 names, as Kineto names it (R5, R7).
*/
#ifndef TRACEDIFF_ROCPD_NAMES_H
#define TRACEDIFF_ROCPD_NAMES_H

#include "profiler.h"

/* What a category is (R5). */
enum rocpd_what { OF_OTHER, OF_CALL, OF_MARKER, OF_KFD };

enum rocpd_what rocpd_what(const unsigned char *text, size_t length);

/* The id of what Kineto calls a category. False on failure. */
bool rocpd_category(struct database_read *read, const unsigned char *text, size_t length,
                    uint32_t *id);

/* What Kineto calls the direction of a copy; NULL: the text itself is its name (R7). */
const char *rocpd_copy(const unsigned char *text, size_t length);

#endif
