/*
** Writes ranks, ops and groups for a summary (FR19).
*/
#ifndef TRACEDIFF_HANG_WORDS_H
#define TRACEDIFF_HANG_WORDS_H

#include "analysis/hang/hang.h"
#include "chart/writer.h"

/* Writes `0, 1, 4-7`. `cut`: at most six ranges, or five and `... (count)`. */
void write_rank_ranges(struct writer *text, const int64_t *ranks, size_t count, bool cut);

/* Writes `rank 2` or `ranks 0, 2`, from indices; `Rank` at the start of a sentence. */
void write_ranks_named(struct writer *text, const struct hang *hang, const uint32_t *ranks,
                       size_t count, bool begins);

/* Writes the op of an entry: `all_gather_base`, `send`, `a batch of recv and send`. */
void write_op(struct writer *text, const struct hang *hang, uint32_t entry,
              struct failure *failure);

/* The same with its sequence number or pair, and its group: `all_reduce, seq 4`, `send 0->1`. */
void write_op_and_group(struct writer *text, const struct hang *hang, uint32_t entry,
                        struct failure *failure);

/* Writes the op that a rank did not call, from the entry that waits for it: for a recv, the
** send. */
void write_missed_op(struct writer *text, const struct hang *hang, uint32_t entry,
                     struct failure *failure);

/* Writes `DATA_PARALLEL_GROUP [0-3]`. */
void write_group(struct writer *text, const struct fr_job *job, const struct fr_group *group);

/* Returns the description of a group, or its name if it has none. */
const struct name *hang_group_label(const struct fr_job *job, const struct fr_group *group);

/* Returns the place where a rank called its head, or else the last call in its dump; NAME_NONE:
** unknown. */
uint32_t hang_place(const struct hang *hang, size_t rank);

#endif
