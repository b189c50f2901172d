/*
** A self-contained page of figures. It contains style, script and library, and its content
** security policy forbids loading anything. Each figure is also a table.
*/
#ifndef TRACEDIFF_PAGE_H
#define TRACEDIFF_PAGE_H

#include "figure.h"

/* Whether pages contain the charting library. Without it, they have tables only. */
bool page_has_library(void);

void page_begin(struct writer *to, const char *title, size_t length);

void page_figure(struct writer *to, const struct figure *figure);

void page_end(struct writer *to);

#endif
