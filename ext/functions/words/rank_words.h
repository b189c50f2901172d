/*
** The text about ranks that are excluded from a job.
*/
#ifndef TRACEDIFF_RANK_WORDS_H
#define TRACEDIFF_RANK_WORDS_H

#include "chart/writer.h"
#include "trace/common_ranks.h"
#include "trace/selection.h"

/* Writes `left out of the job: ranks 1 and 3 (only in test)`; nothing if there are none. */
void write_left_out(struct writer *text, const struct common_ranks *common);

/* Writes `rank 0 only in control, ranks 1 and 3 only in test`; nothing if both have the same
** ranks. */
void write_alone(struct writer *text, const struct common_ranks *common);

/* Write about ranks that are each compared with themselves: `rank 3: ` before the answer, and for
** all ranks `each of 12 ranks is compared with itself: 1 slower, 11 equal`. */
void write_own_rank(struct writer *text, const struct own_ranks *own);
void write_own_ranks(struct writer *text, const struct own_ranks *own);

/* Writes ranks in the form of an argument: `0`, `[0,1]`, `all`, `job`, `job [0,1]`; nothing for the
** default. */
void write_ranks(struct writer *text, const struct selection *ranks);

#endif
