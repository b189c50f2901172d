/*
** Kineto's names for categories and copies of rocprofv3 (R5, R7).
*/
#ifndef TRACEDIFF_ROCPD_NAMES_H
#define TRACEDIFF_ROCPD_NAMES_H

#include "profiler.h"

/* The meaning of a category (R5). */
enum rocpd_what { OF_OTHER, OF_CALL, OF_MARKER, OF_KFD };

enum rocpd_what rocpd_what(const unsigned char *text, size_t length);

/* Finds the name id of Kineto's category. False on failure. */
bool rocpd_category(struct database_read *read, const unsigned char *text, size_t length,
                    uint32_t *id);

/* Kineto's name for the direction of a copy; NULL: keep the original text (R7). */
const char *rocpd_copy(const unsigned char *text, size_t length);

#endif
