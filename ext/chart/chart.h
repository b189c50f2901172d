/*
** The descriptors of all charts. A descriptor lists a chart's columns and their roles; its
** aggregate, arguments and help follow from it.
*/
#ifndef TRACEDIFF_CHART_H
#define TRACEDIFF_CHART_H

#include <stdbool.h>

/* Colours of series. Those without a meaning come last. */
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
    CHART_BARS,       /* bars side by side, a group for each name */
    CHART_STACK,      /* bars stacked, one stack for each name */
    CHART_PIE,        /* a slice for each name: its first value */
    CHART_RANGES,     /* a pie of the first value, and bars from low to high */
    CHART_LINES,      /* step lines: a value holds until the next one */
    CHART_WATERFALL,  /* from the sum of the first values to that of the second ones */
    CHART_HISTOGRAMS, /* counts of each column's values, by bin */
};

enum chart_role {
    CHART_NONE,   /* ends the list of columns */
    CHART_NAME,   /* text on the axis; several are joined */
    CHART_DETAIL, /* like CHART_NAME, but may be missing */
    CHART_SERIES, /* text that names a series; several are joined */
    CHART_AT,     /* a number: the position on the x axis */
    CHART_VALUE,  /* a number: a series of its own, or of the series that texts name */
    CHART_LOW,
    CHART_HIGH,
};

enum { MOST_CHART_COLUMNS = 6 };

struct chart_column {
    enum chart_role role;
    const char *name;   /* name of the argument */
    const char *text;   /* description of the argument */
    const char *title;  /* title of a series, or prefix of a name or text: `rank ` */
    const char *colour; /* NULL: the next one of `colours` */
};

struct chart {
    const char *function; /* the aggregate that makes it */
    const char *text;     /* description in one line */
    const char *title;
    enum chart_kind kind;
    const char *axis; /* title of the value axis */
    const char *at;   /* title of the x axis of lines */
    const char *unit; /* after a value, including the space */
    bool difference;  /* adds a third series, the second value minus the first */
    bool shorten;     /* names are long, as those of kernels: shorten them on the axis */
    struct chart_column columns[MOST_CHART_COLUMNS + 1];
};

extern const struct chart charts[];
extern const int chart_count;

#endif
