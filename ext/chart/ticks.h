/*
** The labels of rows on an axis.
**
** 1. A name is shortened (short_name.h), and loses what names of PyTorch have in common, such as
**    `at::native::`.
** 2. If the short names of two rows agree, ` · ` and 36 characters of the full name follow, from
**    the last `<`, `(` or `,` before the names differ.
** 3. If two labels still agree, the later one ends with ` #2`.
** 4. A name has room for 108 characters of a label, which has four lines of 42 characters.
*/
#ifndef TRACEDIFF_TICKS_H
#define TRACEDIFF_TICKS_H

#include "figure.h"

enum { LABEL_WIDTH = 42, LABEL_LINES = 4 };

struct ticks {
    struct writer text;      /* all labels, concatenated */
    struct text_span *spans; /* of each row, without a number after it; one more at the end */
};

/* False if out of memory. Must be cleared in any case. */
bool ticks_make(const struct figure *figure, struct ticks *ticks);

/* Writes the label of a row as a JSON string; returns the number of its lines. */
size_t ticks_write(const struct ticks *ticks, size_t row, struct writer *to);

void ticks_clear(struct ticks *ticks);

#endif
