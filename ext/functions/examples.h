/*
** One example for each function, for tracediff_help. Each is SQL that runs in the directory of
** this project, names its columns and fits a terminal of 120 columns.
*/
#ifndef TRACEDIFF_EXAMPLES_H
#define TRACEDIFF_EXAMPLES_H

/* The example of a function: lines of SQL. NULL if there is none. */
const char *example_of(const char *function);

#endif
