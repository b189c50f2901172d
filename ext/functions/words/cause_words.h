/*
** Causes in words, as trace_step_causes and trace_undo show them.
*/
#ifndef TRACEDIFF_CAUSE_WORDS_H
#define TRACEDIFF_CAUSE_WORDS_H

#include "chart/writer.h"
#include "functions/call/call_causes.h"
#include "sqlite/rows.h"

/* The causes in words. */
struct cause_words {
    const struct causes *causes;
    const struct call_trace *opened; /* whose they are */
    const struct cause_rates *rates;
    struct names labels;  /* of communication */
    size_t *label_counts; /* causes by label */
    size_t late, unrecorded; /* causes of the kinds 'host late' and 'not recorded' */
    char *room;           /* for a label */
    struct writer text;   /* of the current cause */
    bool bare; /* without `copies: ` and the rank, which a line says elsewhere */
    bool brief; /* without its areas and what is computed again */
    const char *instead; /* what stands for the label of the cause's name; NULL: the label */
    size_t instead_length;
    bool named; /* the current cause has been written with its name */
};

/* False if out of memory; to be ended then, too. */
bool cause_words_begin(struct cause_words *words, const struct call_causes *found);

/* Writes a cause to `text`, and sets `named`. */
void cause_words_write(struct cause_words *words, const struct cause *cause);

/* Writes on which ranks a cause is, if it is not on all: `, only on rank 1`. */
void cause_words_ranks(struct writer *text, const struct causes *causes, const struct cause *cause);

/* Adds what was written to `text` to a result, and empties it; NULL if nothing was. */
void cause_words_add(struct cause_words *words, struct result *result);

void cause_words_end(struct cause_words *words);

#endif
