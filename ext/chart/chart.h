/*
** The charts there are, each a table of what goes where: a chart says what its columns
** are, and everything else follows from that.
*/
#ifndef TRACEDIFF_CHART_H
#define TRACEDIFF_CHART_H

#include <stdbool.h>

/* Colours of series, those that have no meaning last. */
#define BLUE "#4c8bd6"   /* control, computation */
#define ORANGE "#f08a24" /* test, other work */
#define GREEN "#3ba272"  /* shorter */
#define RED "#e0564f"    /* longer */
#define PURPLE "#b565c9" /* difference */
#define GREY "#9a9aa0"   /* idle */
#define OCHRE "#c9a227"
#define TEAL "#2fa7b8"
#define VIOLET "#7a6ff0"
#define OLIVE "#8fae3c"
#define PINK "#d9709a"
#define BROWN "#a07855"

enum chart_kind {
    CHART_BARS,       /* next to each other, a group for each name */
    CHART_STACK,      /* on top of each other */
    CHART_PIE,        /* the first value of each name */
    CHART_RANGES,     /* a pie of the first value, and bars from low to high */
    CHART_LINES,      /* steps: a value holds until the next */
    CHART_WATERFALL,  /* from the sum of the first value to that of the second */
    CHART_HISTOGRAMS, /* how many of each column's values lie where */
};

enum chart_role {
    CHART_NONE,   /* no such column */
    CHART_NAME,   /* text on the axis; several are joined */
    CHART_DETAIL, /* the same, that may be missing */
    CHART_SERIES, /* text: a series for each; several are joined */
    CHART_AT,     /* a number: where on the x axis */
    CHART_VALUE,  /* a number: a series of its own, unless texts say which */
    CHART_LOW,
    CHART_HIGH,
};

enum { MOST_CHART_COLUMNS = 6 };

struct chart_column {
    enum chart_role role;
    const char *name;   /* of the argument */
    const char *text;   /* what it means */
    const char *title;  /* of a series; before a name or a text: `rank ` */
    const char *colour; /* NULL: the next one */
};

struct chart {
    const char *function; /* that makes it */
    const char *text;     /* what it shows, in a line */
    const char *title;
    enum chart_kind kind;
    const char *axis; /* title of the axis of values */
    const char *at;   /* and of the other one, of lines */
    const char *unit; /* behind a value, with its space */
    bool difference;  /* there is a third series, the second value minus the first */
    bool shorten;     /* names are those of kernels */
    struct chart_column columns[MOST_CHART_COLUMNS + 1];
};

extern const struct chart charts[];
extern const int chart_count;

#endif
