/*
** Decimal text to integers, without locale and without a double in between.
** Nothing here can fail but by saying so: false leaves the result as it was.
*/
#ifndef TRACEDIFF_NUMBER_H
#define TRACEDIFF_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A JSON number of microseconds to nanoseconds (T1): fraction and exponent are
** read, digits past the nanosecond are rounded half to even. False for what is
** not a JSON number and for what does not fit. */
bool number_nanoseconds(const unsigned char *text, size_t length, int64_t *nanoseconds);

/* A JSON number without fraction and exponent. False for anything else and for
** what does not fit. */
bool number_integer(const unsigned char *text, size_t length, int64_t *integer);

#endif
