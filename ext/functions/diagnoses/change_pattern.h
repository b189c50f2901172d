/*
** Patterns: queries over facts that name the change a person made (DG1).
*/
#ifndef TRACEDIFF_CHANGE_PATTERN_H
#define TRACEDIFF_CHANGE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* The pairs of traces to which a pattern applies (DG3). */
enum alike { ALIKE_NAMES, ALIKE_WITHIN, ALIKE_ANY };

struct pattern {
    const char *name;
    const char *text; /* the head, in comments, and one SELECT of sentence, advice, cause */
    /* From the head: */
    int rank;
    bool is_guess; /* `Said: a tenth`: its conclusion rests on times */
    enum alike alike;
    const char *wrong; /* an invalid line of the head, and its length in bytes; NULL: none */
    size_t wrong_length;
};

/* Reads a pattern from its text. */
void pattern_read(struct pattern *pattern, const char *name, const char *text);

/* The built-in patterns of sql/patterns/, embedded by the build. Only their names and texts are
** set. */
extern const struct pattern embedded_patterns[];
extern const int embedded_pattern_count;

#endif
