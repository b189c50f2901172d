/*
** The texts that PyTorch's emit_nvtx() gives to NVTX ranges (N7):
**
**     NAME[, seq = N][, op_id = N][, sizes = [[..], ..]][, input_op_ids = [(N,N), ..]]
**
** NAME ends before the first `, ` from which on the whole text matches this, in at least one part.
** And the texts that name steps (N10), and DLProf's markers.
*/
#ifndef TRACEDIFF_NVTX_H
#define TRACEDIFF_NVTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parts of a text; NULL and 0 where one is missing. */
struct nvtx_text {
    size_t name_length; /* the name is the beginning of the text */
    bool emitted;       /* it has parts */
    const unsigned char *seq, *op_id, *sizes;
    size_t seq_length, op_id_length; /* digits, without leading zeros */
    size_t sizes_length;             /* with its brackets and spaces */
};

/* Takes a text apart in time that is proportional to its length. */
void nvtx_read(const unsigned char *text, size_t length, struct nvtx_text *parts);

/* Whether a range is an operator, not an annotation. */
bool nvtx_is_operator(const unsigned char *text, const struct nvtx_text *parts);

/* The length of the name that a marker of DLProf gives (N7.4), in its text; 0 if it is none. */
size_t nvtx_marker(const unsigned char *text, size_t length, const unsigned char **name);

enum { NVTX_NO_WORD = -1 };

/* The number of the word with which the name of a step begins, the better the lower; NVTX_NO_WORD
** if it is no step's. `*number` is the step's. */
int nvtx_step(const unsigned char *name, size_t length, int64_t *number);

#endif
