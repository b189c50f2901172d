/*
** The lines of a summary (FR19 to FR24), of which these files each write some.
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

/* Adds a line of what was written, and clears that. `rank`: an index, or SIZE_MAX. */
void lines_add(struct hang_lines *lines, const char *kind, const char *code, size_t rank,
               struct writer *words);

void lines_clear(struct hang_lines *lines);

/* Whether a call has timed out (FR19), and whether any rank waits. */
bool hang_timed_out(const struct hang *hang);
bool hang_waits(const struct hang *hang);

/* The word of a kind of findings. */
const char *finding_code(const struct hang_finding *finding);

/* Of a meeting, the ranks whose members are, or are not, of a kind: into `ranks`, which has room
** for all ranks. Returns how many. */
size_t members_that_are(const struct hang *hang, uint32_t meeting, enum member_is is, bool are,
                        uint32_t *ranks);

/* FR19, FR20: the first line. */
void add_verdict(struct hang_lines *lines);

/* FR21: the causes, and where they were called. */
void add_causes(struct hang_lines *lines);

/* FR22, FR23: who waits in what, and cautions. */
void add_waiting(struct hang_lines *lines);
void add_cautions(struct hang_lines *lines);

#endif
