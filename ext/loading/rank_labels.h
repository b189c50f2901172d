/*
** Labels of ranks at the beginning of pids, as in `[TP00-PP01] 1000` (T7.6). A document with
** several of them has a part for each.
*/
#ifndef TRACEDIFF_RANK_LABELS_H
#define TRACEDIFF_RANK_LABELS_H

#include "loading.h"

/* The length of a text up to the space after its label; 0: it has none. */
size_t rank_label_length(const unsigned char *text, size_t length);

/* Finds the labels of a file whose rows have been read. If there are several, the file becomes one
** that was only looked at. */
bool rank_labels_find(struct loading *loading);

/* Makes a file a part of one that was looked at, if that has labels. */
bool rank_labels_take(struct loading *loading);

/* Whether the events of a pid are of the part that is read. Those without a label are of the
** first. */
bool rank_label_is_read(const struct trace_file *file, const struct identifier *pid);

#endif
