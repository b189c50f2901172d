/*
** The descriptors of all charts. A descriptor lists a chart's columns and their roles; its
** aggregate, arguments and help follow from it.
*/
#ifndef TRACEDIFF_CATALOGUE_H
#define TRACEDIFF_CATALOGUE_H

#include <stdbool.h>

/* Colours of a direction and of a side; a page has others for dark screens (page.js). */
#define MORE "#c2500a"
#define LESS "#0b67a8"
#define CONTROL_GREY "#6b7480"
#define TEST_INK "#1f2328"

/* Colours of series, to be seen on a light and on a dark page. Those without a meaning come
** last. */
#define TEAL "#1b8a7a" /* computation, a busy device, what is hidden */
#define OCHRE "#b07d00"
#define GREY "#9aa3ad" /* idle */
#define VIOLET "#8e63c7"
#define CYAN "#2a93b5"
#define PINK "#c9588f"
#define OLIVE "#7d8f1f"
#define BROWN "#a3704c"

enum chart_kind {
    CHART_PAIRS,      /* two bars, control and test, for each name, and their difference */
    CHART_WATERFALL,  /* from control's step to test's, part by part */
    CHART_STACK,      /* bars stacked, one stack for each name */
    CHART_OVERLAP,    /* a stack of two: hidden and not hidden */
    CHART_RANGES,     /* a bar of the first value, and a range from low to high around another */
    CHART_LINES,      /* step lines: a value holds until the next one */
    CHART_AREAS,      /* step lines, stacked, of rows that say from when until when (points.h) */
    CHART_DOTS,       /* a dot where a value rises, on a logarithmic axis */
    CHART_TIMELINE,   /* a bar for each event, in a lane for each series */
    CHART_HISTOGRAMS, /* how each column's values are distributed, side by side */
};

/* What numbers are. Times are in us, and shown in the unit that fits them. */
enum chart_unit { UNIT_TIME, UNIT_COUNT, UNIT_BANDWIDTH, UNIT_PERCENT, UNIT_BYTES };

enum chart_order {
    ORDER_GIVEN,
    ORDER_SIDES, /* of each rank control above test; two groups if the ranks differ */
    ORDER_BASE,  /* of each rank the greatest base first */
    ORDER_SUM,   /* the greatest sum first, `others` last */
};

/* What is written at the end of a stack. */
enum chart_end { END_NONE, END_FIRST, END_SUM };

enum chart_role {
    CHART_NONE,   /* ends the list of columns */
    CHART_NAME,   /* text on the axis; several are joined */
    CHART_DETAIL, /* like CHART_NAME, but may be missing */
    CHART_TAG,    /* text after a detail, in brackets; alone if there is no detail */
    CHART_FOLDED, /* text on the axis; what follows ` overlapping ` names a series */
    CHART_SERIES, /* text that names a series; several are joined */
    CHART_ONLY,   /* text that all rows must have in common */
    CHART_AT,     /* a number: the position on the x axis */
    CHART_FROM,   /* a number: from there on a row counts; NULL: from before all */
    CHART_TO,     /* a number: until there; NULL: to the end */
    CHART_MARK,   /* a number: the position of a line behind the others; the title says of what */
    CHART_ON,     /* a number: 0 makes a bar pale */
    CHART_BASE,   /* a number of a row whose values texts name: its first series */
    CHART_VALUE,  /* a number: a series of its own, or of the series that texts name */
    CHART_LOW,
    CHART_HIGH,
};

enum { MOST_CHART_COLUMNS = 7 };

struct chart_column {
    enum chart_role role;
    const char *name;   /* name of the argument */
    const char *text;   /* description of the argument */
    const char *title;  /* title of a series, or prefix of a name or text: `rank ` */
    const char *colour; /* NULL: the next one of `colours` */
    bool optional;      /* given after title and format; comes after the others */
};

struct chart {
    const char *function; /* the aggregate that makes it */
    const char *question; /* what a user asks who needs it */
    const char *text;     /* description in one line */
    const char *title;
    enum chart_kind kind;
    const char *axis; /* title of the value axis, without its unit */
    const char *at;   /* what numbers the x axis of lines; NULL: time, from the first one */
    enum chart_unit unit;
    enum chart_order order;
    enum chart_end end; /* of a stack */
    bool percent;       /* of a stack: bars are percent of their sum */
    bool shorten;       /* names are long, as those of kernels: shorten them on the axis */
    struct chart_column columns[MOST_CHART_COLUMNS + 1];
};

extern const struct chart charts[];
extern const int chart_count;

#endif
