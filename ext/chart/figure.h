/*
** A figure: the rows a chart was given, and what Plotly needs to know of them.
**
** 1. Rows stand in the order given. A row without a name, a series or a place on the x axis
**    is left out; a number that is missing or not finite is a gap.
** 2. Rows of one name belong together if texts say which series a value is.
** 3. A page is to stay small: once names and numbers would take about a megabyte, further
**    rows are only counted.
** 4. Lines are thinned (thin.h), and values of histograms are counted (bins.h), when the
**    figure is finished. The title says what is not shown.
*/
#ifndef TRACEDIFF_FIGURE_H
#define TRACEDIFF_FIGURE_H

#include <stdint.h>

#include "chart.h"
#include "writer.h"

enum {
    MOST_SERIES = 64,
    HOVER_WIDTH = 48, /* characters of a line of a name on hover */
    HOVER_LINES = 10
};

/* What a row has in a column. */
struct chart_cell {
    const char *text; /* of a CHART_NAME or CHART_SERIES; NULL: missing */
    size_t length;
    double number; /* of the others; NaN: missing */
};

struct text_span {
    size_t at, length; /* in figure.names */
};

struct series {
    const struct chart_column *column;
    struct text_span title;
    double *x; /* of lines */
    double *y; /* of lines, or by row */
    size_t count, x_capacity, y_capacity;
};

struct figure {
    const struct chart *chart;
    struct writer names;    /* all texts, one after the other */
    struct writer title;    /* empty: the chart's */
    struct text_span *rows; /* their names */
    size_t row_count, row_capacity;
    struct series series[MOST_SERIES];
    int series_count;
    int64_t seen;  /* rows, with a name */
    int64_t kept;  /* of them, or of points */
    size_t cost;   /* bytes that they will take, about */
    bool too_many; /* more than MOST_SERIES */
    bool failed;   /* no memory */
};

void figure_begin(struct figure *figure, const struct chart *chart);
void figure_clear(struct figure *figure);

/* A cell for each of the chart's columns. */
void figure_add(struct figure *figure, const struct chart_cell *cells);

/* After the last row; then it can be written. False if out of memory. */
bool figure_finish(struct figure *figure);

/* The title, with what is not shown. */
void figure_title(const struct figure *figure, struct writer *to);

/* {"data": [...], "layout": {...}}, for any Plotly from version 2 on. */
void figure_write(const struct figure *figure, struct writer *to);

/* A text of the figure; never NULL. */
const char *figure_text(const struct figure *figure, struct text_span span);

/* How a series is called. */
const char *figure_series(const struct figure *figure, int i, size_t *length);

#endif
