/*
** The page about two traces. It is made of sections, each the rows of a query in sql/report/. The
** query says what a section tells and in what order, this file how it looks.
**
** 1. LAYOUT_PROSE: rows of block, strong, text and diff. A block begins an element: `h1`, `lead`,
**    `p`, `note`, `state`, `warn`, `check` (a line that follows the next table), or `bars`, the
**    steps of both sides. Without a block, a row continues the element. Then come the strong text,
**    the text and the difference, ms.
** 2. LAYOUT_TABLE: a column's name is its head and its role, as `control|time`. The roles are those
**    of report_table.c.
** 3. LAYOUT_CAUSES: rows of place, diff, share, title, item and text. A new place begins a cause;
**    an item is `evidence`, `instances` (a text to unfold) or `sql`.
** 4. LAYOUT_MAP, LAYOUT_STEPS and LAYOUT_PATH: rows as below.
** 5. Every text is escaped: names stay text. Differences are test minus control.
*/
#ifndef TRACEDIFF_REPORT_H
#define TRACEDIFF_REPORT_H

#include "label_set.h"
#include "chart/writer.h"

enum report_layout {
    LAYOUT_HELD,  /* not drawn: the statement stays open while the page is made */
    LAYOUT_FACTS, /* not drawn: one row, whose columns are parameters of the other sections */
    LAYOUT_PROSE,
    LAYOUT_TABLE,
    LAYOUT_CAUSES,
    LAYOUT_MAP,
    LAYOUT_STEPS,
    LAYOUT_PATH
};

struct report_section {
    const char *heading, *style; /* style: classes of the table; `app`: it is folded */
    const char *id, *link;       /* if not "", the section has a heading and a link to it */
    const char *empty;           /* what the page says if there are no rows */
    const char *shown, *sql;     /* the statement on the page, with parameters; the query */
    enum report_layout layout;
    bool of_memory; /* only with snapshots of the allocator; numbers are bytes */
    bool of_all;    /* also if the traces cannot be compared */
};

/* Generated from sql/report/ by the build. */
extern const struct report_section report_sections[];
extern const int report_section_count;
extern const char *const report_facts[]; /* the columns of the facts */
extern const int report_fact_count;

enum { MOST_REPORT_COLUMNS = 16 };

/* A value of a row. */
struct report_cell {
    const char *text; /* NULL: it has none */
    size_t length;
    double number;
    bool is_number;
};

/* What all sections of times share, in ms; of those of memory, in bytes. */
struct report_style {
    double control, test; /* a step of each side; its peak */
    double size;          /* in a unit */
    const char *unit;     /* "ms" or "s"; "GB", "MB" or "kB" */
    int digits;           /* decimals */
};

struct report {
    struct writer page;
    struct writer later;     /* lines that follow the next table; nodes of the map */
    struct label_set labels; /* of the map */
    size_t named;            /* bytes of these names, about */
    struct report_steps *steps;
    bool cannot; /* the traces cannot be compared: no section of times would be true */
    struct report_style times, memory; /* memory.unit NULL: without snapshots */
    struct report_style style;         /* of the section: one of these */
    struct writer *open_in; /* where an element of prose is open; NULL: none is */
    const char *closing;    /* ends it */
    bool in_warnings;
    const struct report_section *section;
    size_t rows; /* of the section */
    struct report_table *table;
    double place; /* of the open cause */
};

/* Begins the page, after both styles were filled. `title` is the title of the window. */
void report_begin(struct report *report, const char *title, size_t length);

/* Begin and end a section that the page has. Between them, each row is given to report_row().
** `columns` are the names of the columns of the query. `shown` is the statement to show; NULL:
** none. */
bool report_has_section(const struct report *report, const struct report_section *section);
void report_section_begin(struct report *report, const struct report_section *section);
void report_row(struct report *report, const char *const *columns, const struct report_cell *cells,
                int count);
void report_section_end(struct report *report, const char *shown);

/* Whether the last cell of a row is a statement, with parameters that the caller replaces. */
bool report_row_is_sql(const struct report *report, const struct report_cell *cells);

void report_end(struct report *report);
void report_clear(struct report *report);

/* For the files of the report. */

/* Rows of LAYOUT_TABLE. */
void report_table_row(struct report *report, const char *const *columns,
                      const struct report_cell *cells, int count);
void report_table_end(struct report *report);
void report_table_free(struct report_table *table);

/* Rows of LAYOUT_MAP: five levels of names, ns in control, ns in test. */
void report_map_row(struct report *report, const struct report_cell *cells);
void report_map_end(struct report *report);

/* Rows of LAYOUT_STEPS: side (0, 1), rank, iteration, number from 1, ms, whether it counts. */
void report_steps_row(struct report *report, const struct report_cell *cells);
void report_steps_end(struct report *report);
void report_steps_free(struct report_steps *steps);

/* Rows of LAYOUT_PATH: a lane in words, rank, ms from the start of the step, ms, who waits at the
** end in words, ms of the longest step. */
void report_path_row(struct report *report, const struct report_cell *cells);
void report_path_end(struct report *report);

#endif
