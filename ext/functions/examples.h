#ifndef TRACEDIFF_EXAMPLES_H
#define TRACEDIFF_EXAMPLES_H

/* The example of a function: lines of SQL. NULL if there is none. */
const char *example_of(const char *function);

#endif
