/*
** A self-contained page of figures. It contains style, script and library, and its content
** security policy forbids loading anything. Each figure is also a table.
**
** A page can be put into another one, as notebooks do: as the HTML of an element, where html, head
** and body are dropped.
** 1. All that is seen is in one element, of class `tracediff-KIND`. Styles are about it, and ids
**    begin with `tracediff-`. Around a page of its own, html has the class `tracediff-KIND-page`.
** 2. A script is a function of that element, and adds no names to the page.
*/
#ifndef TRACEDIFF_PAGE_H
#define TRACEDIFF_PAGE_H

#include "figure.h"

/* Whether pages contain the charting library. Without it, they have tables only. */
bool page_has_library(void);

/* Begins and ends a page of a kind, "chart" or "report". `sources`: what its policy allows besides
** styles and scripts of its own. */
void page_frame_begin(struct writer *to, const char *kind, const char *sources, const char *title,
                      size_t length, const char *style);
void page_frame_end(struct writer *to, const char *kind, const char *script);

void page_begin(struct writer *to, const char *title, size_t length);

void page_figure(struct writer *to, const struct figure *figure);

void page_end(struct writer *to);

#endif
