/*
** Parses texts of NVTX ranges from PyTorch's emit_nvtx() (N7):
**
**     NAME[, seq = N][, op_id = N][, sizes = [[..], ..]][, input_op_ids = [(N,N), ..]]
**
** NAME ends before the first `, ` that begins such parts, one or more, up to the end of the text.
** Also parses names of steps (N10), and markers of DLProf.
*/
#ifndef TRACEDIFF_NVTX_H
#define TRACEDIFF_NVTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parts of a text; missing parts are NULL and 0. */
struct nvtx_text {
    size_t name_length; /* the text begins with the name */
    bool emitted;       /* it has parts after the name */
    const unsigned char *seq, *op_id, *sizes;
    size_t seq_length, op_id_length; /* digits, without leading zeros */
    size_t sizes_length;             /* including brackets and spaces */
};

/* Parses a text in linear time. */
void nvtx_read(const unsigned char *text, size_t length, struct nvtx_text *parts);

/* Whether a range is an operator rather than an annotation. */
bool nvtx_is_operator(const unsigned char *text, const struct nvtx_text *parts);

/* The length of the name within a DLProf marker (N7.4); 0 for other texts. */
size_t nvtx_marker(const unsigned char *text, size_t length, const unsigned char **name);

enum { NVTX_NO_WORD = -1 };

/* The number of the word at the start of a step's name; lower numbers have priority. NVTX_NO_WORD
** if the name is no step. `*number` is the number of the step. */
int nvtx_step(const unsigned char *name, size_t length, int64_t *number);

#endif
