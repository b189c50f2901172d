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
    const char *wrong; /* a line that is not known, of so many bytes; NULL: none */
    size_t wrong_length;
};

/* A pattern by its text. */
void pattern_read(struct pattern *pattern, const char *name, const char *text);

/* Our own, sql/patterns/, embedded by the build; of these only names and texts are set. */
extern const struct pattern embedded_patterns[];
extern const int embedded_pattern_count;

#endif
