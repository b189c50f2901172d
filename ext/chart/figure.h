/*
** A figure: the rows that a chart was given, as names and series.
**
** 1. Rows keep the order given. A row without a name, a series or a position on the x axis is left
**    out. A number that is missing, not finite, or 1e19 or more is a gap.
** 2. If texts name the series of a value, and in CHART_RANGES, rows of the same name are merged.
** 3. To keep pages small, rows beyond about a megabyte of names and numbers are only counted, and
**    so are events of a timeline.
** 4. Finishing a figure (arrange.c, points.h) puts rows into their order, thins lines and counts
**    the values of histograms. The title tells how much is not shown.
*/
#ifndef TRACEDIFF_FIGURE_H
#define TRACEDIFF_FIGURE_H

#include <stdint.h>

#include "base/names.h"
#include "base/stopper.h"
#include "catalogue.h"
#include "writer.h"

enum {
    MOST_SERIES = 64,
    HOVER_WIDTH = 48, /* characters of a line of a name in hover text */
    HOVER_LINES = 10
};

/* The value of a row in a column. */
struct chart_cell {
    const char *text; /* of a name, detail or series; NULL: missing */
    size_t length;
    double number; /* of the other roles; NaN: missing */
};

struct text_span {
    size_t at, length; /* bytes in figure.names */
};

/* The name of an event, and whether it is on the path, or not and drawn pale. */
struct point_label {
    struct text_span name;
    bool on_path, pale;
};

struct chart_row {
    struct text_span name;
    size_t first; /* bytes of the first text of the name; 0: not to be shortened */
};

struct series {
    const struct chart_column *column;
    struct text_span title;
    double *x;                /* of points only */
    double *y;                /* of points: by point; else by row */
    struct point_label *labels; /* of CHART_TIMELINE: by point */
    size_t count, x_capacity, y_capacity, label_capacity;
};

/* A key has more or, if value is negative, less from a position on; -INFINITY: from before all. */
struct area_change {
    double at, value;
    uint32_t key;
};

/* The rows of CHART_AREAS. */
struct stacked_areas {
    struct names keys;
    struct area_change *changes;
    size_t count, capacity;
    size_t rows; /* that were given */
    struct text_span only[MOST_CHART_COLUMNS];
};

struct figure {
    const struct chart *chart;
    struct writer names; /* all texts, concatenated */
    struct writer title; /* empty: the chart's title */
    enum chart_unit unit;
    struct chart_row *rows;
    size_t row_count, row_capacity;
    double *marks; /* positions of lines behind */
    size_t mark_count, mark_capacity;
    struct series series[MOST_SERIES];
    int series_count;
    struct stacked_areas areas;
    const char *mixed; /* a column of CHART_ONLY that differs; NULL: none */
    bool has_pale; /* an event is pale */
    int64_t seen;  /* rows with a name, or points of lines, that were given */
    int64_t kept;  /* how many of them are shown */
    size_t cost;   /* estimate of the bytes of rows in the page */
    bool too_many; /* more than MOST_SERIES */
    bool failed;   /* out of memory */
};

void figure_begin(struct figure *figure, const struct chart *chart);
void figure_clear(struct figure *figure);

/* Adds a row; `cells` has one for each of the chart's columns. */
void figure_add(struct figure *figure, const struct chart_cell *cells);

/* Must be called after the last row, before the figure is written. On failure, which is of memory
** if none is set, returns false. */
bool figure_finish(struct figure *figure, const struct stopper *stopper, struct failure *failure);

/* Writes the title, with the amount that is shown if it is not everything. */
void figure_title(const struct figure *figure, struct writer *to);

/* Writes {"data": [...], "layout": {...}}, for Plotly 2 or newer. */
void figure_write(const struct figure *figure, struct writer *to);

/* A text of the figure; never NULL. */
const char *figure_text(const struct figure *figure, struct text_span span);
bool figure_same(const struct figure *figure, struct text_span a, struct text_span b);

/* The title of a series; not terminated. */
const char *figure_series(const struct figure *figure, int i, size_t *length);

/* Whether series have points, on an axis of time, and not rows. The points of CHART_TIMELINE have a
** length (y), and a series is a lane. */
bool figure_has_points(const struct figure *figure);

/* Whether a row's bars are stacked. */
bool figure_is_stack(const struct figure *figure);

/* The sum of a row's values, and of a series. */
double figure_sum(const struct figure *figure, size_t row);
double figure_total(const struct figure *figure, int series);

/* How numbers are shown. */
struct scale {
    double divisor;   /* of us, for the unit */
    const char *unit; /* with a space before it; may be empty */
    int decimals;     /* as many as the numbers have, at most 3 */
    int brief;        /* as many as the greatest one, or the greatest difference, needs */
};

/* The decimals that show three digits of a number, at most 3. */
int brief_of(double greatest);

struct scale scale_of(enum chart_unit unit, double greatest);

/* The scale of a series, and of those on the same axis. */
struct scale figure_scale(const struct figure *figure, int series);

/* What the x axis of points has. */
static inline const char *figure_at(const struct figure *figure)
{
    return figure->chart->at ? figure->chart->at : "time";
}

/* The scale of that axis. */
struct scale figure_time_scale(const struct figure *figure);

#endif
