/*
** Labels of ranks at the start of pids, such as `[TP00-PP01] 1000` (T7.6). A document with several
** labels has a part for each.
*/
#ifndef TRACEDIFF_RANK_LABELS_H
#define TRACEDIFF_RANK_LABELS_H

#include "loading.h"

/* The length of a text up to the space after its label; 0 without a label. */
size_t rank_label_length(const unsigned char *text, size_t length);

/* Finds the labels after all rows are read. With several labels, the file becomes a mere look at a
** file with several parts. */
bool rank_labels_find(struct loading *loading);

/* Makes a file one part of a file with labels, if an earlier look found any. */
bool rank_labels_take(struct loading *loading);

/* Whether the part being read has the events of a pid. The first part has pids without a label. */
bool rank_label_is_read(const struct trace_file *file, const struct identifier *pid);

#endif
