/*
** The lines of a summary (FR19 to FR24). Several files write them.
*/
#ifndef TRACEDIFF_HANG_LINES_H
#define TRACEDIFF_HANG_LINES_H

#include "hang_words.h"

struct hang_line {
    const char *kind, *code; /* code NULL: none */
    int64_t rank;            /* NUMBER_NONE: none, or several */
    char *words;             /* owned */
    size_t length;
};

struct hang_lines {
    const struct hang *hang;
    struct hang_line *items;
    size_t count, capacity;
    struct failure failure;
};

/* Adds a line with the written words, and empties the writer. `rank` is an index, or SIZE_MAX. */
void lines_add(struct hang_lines *lines, const char *kind, const char *code, size_t rank,
               struct writer *words);

void lines_clear(struct hang_lines *lines);

/* Whether a call has timed out (FR19), and whether any rank waits. */
bool hang_timed_out(const struct hang *hang);
bool hang_waits(const struct hang *hang);

/* Returns the word for a kind of finding. */
const char *finding_code(const struct hang_finding *finding);

/* Lists the ranks of a meeting whose members are, or are not, of a kind. `ranks` has room for all
** ranks. Returns the number of ranks. */
size_t members_that_are(const struct hang *hang, uint32_t meeting, enum member_is is, bool are,
                        uint32_t *ranks);

/* FR19, FR20: adds the first line. */
void add_verdict(struct hang_lines *lines);

/* FR21: adds the causes, and the places of the calls. */
void add_causes(struct hang_lines *lines);

/* FR22, FR23: add the waiting ranks with their ops, and cautions. */
void add_waiting(struct hang_lines *lines);
void add_cautions(struct hang_lines *lines);

#endif
