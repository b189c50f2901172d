/*
** Converts decimal text to integers, without using the locale or a double.
*/
#ifndef TRACEDIFF_NUMBER_H
#define TRACEDIFF_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_NONE INT64_MIN /* no time, no stream, no correlation */

/* Converts a JSON number of microseconds to nanoseconds (T1). Fraction and exponent are read;
** digits below a nanosecond are rounded half to even. NUMBER_NONE if the text is not a JSON number
** or the value does not fit. */
int64_t number_nanoseconds(const unsigned char *text, size_t length);

/* Reads a JSON number without fraction and exponent. False if the text is anything else or the
** value does not fit: `*integer` is then unchanged. */
bool number_integer(const unsigned char *text, size_t length, int64_t *integer);

/* Whether a text is a JSON number. */
bool number_is_valid(const unsigned char *text, size_t length);

#endif
