/*
** Patterns: queries over facts that name the change a person made (DG1).
*/
#ifndef TRACEDIFF_CHANGE_PATTERN_H
#define TRACEDIFF_CHANGE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* Of which pairs a pattern may speak (DG3). */
enum alike { ALIKE_NAMES, ALIKE_WITHIN, ALIKE_ANY };

struct pattern {
    const char *name;
    const char *text; /* the head, in comments, and one SELECT of sentence, advice, cause */
    /* Of the head: */
    int rank;
    bool is_guess; /* `Said: a tenth`: it concludes from time */
    enum alike alike;
};

/* A pattern by its text. False with a line of the head that is not known in `*wrong`, which has
** `*length` bytes. */
bool pattern_read(struct pattern *pattern, const char *name, const char *text, const char **wrong,
                  size_t *length);

/* Our own, sql/patterns/, embedded by the build; of these only names and texts are set. */
extern const struct pattern embedded_patterns[];
extern const int embedded_pattern_count;

#endif
