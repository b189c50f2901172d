/*
** A page of figures that needs nothing but itself: style, script and library stand in it,
** and its policy lets it load nothing. Every figure is a table, too.
*/
#ifndef TRACEDIFF_PAGE_H
#define TRACEDIFF_PAGE_H

#include "figure.h"

/* Whether pages have the charting library; else their figures are tables. */
bool page_has_library(void);

void page_begin(struct writer *to, const char *title, size_t length);

/* `heading` may be NULL: the figure's title, and `sql`: none is shown. */
void page_figure(struct writer *to, const struct figure *figure, const char *heading,
                 const char *sql);

void page_end(struct writer *to);

#endif
