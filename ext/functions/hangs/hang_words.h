/*
** Ranks, ops and groups in the words of a summary (FR19).
*/
#ifndef TRACEDIFF_HANG_WORDS_H
#define TRACEDIFF_HANG_WORDS_H

#include "analysis/hang/hang.h"
#include "chart/writer.h"

/* `0, 1, 4-7`. `cut`: at most six of these, or five and `... (count)`. */
void write_rank_ranges(struct writer *text, const int64_t *ranks, size_t count, bool cut);

/* `rank 2` or `ranks 0, 2`, of indices; `Rank` if it begins a sentence. */
void write_ranks_named(struct writer *text, const struct hang *hang, const uint32_t *ranks,
                       size_t count, bool begins);

/* The op of an entry: `all_gather_base`, `send`, `a batch of recv and send`. */
void write_op(struct writer *text, const struct hang *hang, uint32_t entry,
              struct failure *failure);

/* The same with what tells it from others: `all_reduce, seq 4`, `send 0->1`; and its group. */
void write_op_and_group(struct writer *text, const struct hang *hang, uint32_t entry,
                        struct failure *failure);

/* The op that a rank did not call, of the entry that waits for it: of a recv the send. */
void write_missed_op(struct writer *text, const struct hang *hang, uint32_t entry,
                     struct failure *failure);

/* `DATA_PARALLEL_GROUP [0-3]`. */
void write_group(struct writer *text, const struct fr_job *job, const struct fr_group *group);

/* The description of a group, or its name if it has none. */
const struct name *hang_group_label(const struct fr_job *job, const struct fr_group *group);

/* Where a rank called its head, else the last call of its dump; NAME_NONE: not known. */
uint32_t hang_place(const struct hang *hang, size_t rank);

#endif
