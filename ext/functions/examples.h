#ifndef TRACEDIFF_EXAMPLES_H
#define TRACEDIFF_EXAMPLES_H

/* The example of a function: lines of SQL. */
struct example {
    const char *function, *sql;
};

/* One example per function, in the order of the help: by family, the most important first. */
extern const struct example examples[];
extern const int example_count;

#endif
