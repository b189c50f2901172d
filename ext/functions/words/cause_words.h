/*
** The text of causes in trace_step_causes and trace_undo.
*/
#ifndef TRACEDIFF_CAUSE_WORDS_H
#define TRACEDIFF_CAUSE_WORDS_H

#include "chart/writer.h"
#include "functions/call/call_causes.h"
#include "sqlite/rows.h"

/* State of writing causes as text. */
struct cause_words {
    const struct causes *causes;
    const struct call_trace *opened; /* the traces of the causes */
    const struct cause_rates *rates;
    struct names labels;  /* labels of causes of communication */
    size_t *label_counts; /* number of causes by label */
    size_t late, unrecorded; /* numbers of causes of the kinds 'host late' and 'not recorded' */
    char *room;           /* buffer for a label */
    struct writer text;   /* text of the current cause */
    bool bare; /* omit `copies: ` and the rank, which are elsewhere in the line */
    bool brief; /* omit areas and recomputed work */
    const char *instead; /* stand-in for the label of the cause's name; NULL: the label */
    size_t instead_length;
    bool named; /* the text of the current cause contains its name */
};

/* False if out of memory. End them in this case, too. */
bool cause_words_begin(struct cause_words *words, const struct call_causes *found);

/* Writes a cause to `text`, and sets `named`. */
void cause_words_write(struct cause_words *words, const struct cause *cause);

/* Writes the ranks of a cause, if not all ranks have it: `, only on rank 1`. */
void cause_words_ranks(struct writer *text, const struct causes *causes, const struct cause *cause);

/* Adds `text` to a result and empties it; an empty text is NULL. */
void cause_words_add(struct cause_words *words, struct result *result);

void cause_words_end(struct cause_words *words);

#endif
