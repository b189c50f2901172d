/*
** What args say of the collectives that run on the device: rules W5, W6 and W8.
*/
#ifndef TRACEDIFF_COLLECTIVE_ARGS_H
#define TRACEDIFF_COLLECTIVE_ARGS_H

#include "collective_work.h"
#include "sqlite/table_function.h"
#include "file/file.h"

/* A collective. Of numbers, NUMBER_NONE: not known. */
struct collective_row {
    uint32_t row;
    enum collective collective;
    uint32_t dtype; /* id in `dtypes`, or NAME_NONE */
    int64_t group_size, bytes, channels;
};

struct collective_rows {
    struct collective_row *items; /* in the order of the file */
    size_t count;
    struct names dtypes;
};

/* Those of a file, which reads them once and keeps them. NULL on failure, with call->failure
** filled. */
const struct collective_rows *collective_args_find(struct call *call, struct trace_file *file);

/* For who reads other args of the file, too: the keys to read with them. Of each, the rows of
** collective_args_values() that are not NAME_NONE are wanted, and are to be set to ids in
** `texts`. */
enum collective_arg {
    COLLECTIVE_NAME,
    COLLECTIVE_IN,
    COLLECTIVE_OUT,
    COLLECTIVE_DTYPE,
    COLLECTIVE_SIZE,
    COLLECTIVE_GRID,
    COLLECTIVE_ARGS
};
extern const char *const collective_arg_keys[COLLECTIVE_ARGS];

/* NULL on failure, with call->failure filled. */
struct collective_args *collective_args_begin(struct call *call, struct trace_file *file);

/* By row. The arrays are NULL if nothing is to be read: the file has no collectives, or keeps
** them. */
uint32_t *const *collective_args_values(const struct collective_args *args);

/* As collective_args_find(), of what was read. */
const struct collective_rows *collective_args_end(struct collective_args *args,
                                                  const struct names *texts);

/* NULL is allowed. */
void collective_args_free(struct collective_args *args);

/* The collective of a row; NULL: it is none, or `rows` is NULL. `*next` is the index where to look
** first, for rows in the order of the file. */
const struct collective_row *collective_rows_at(const struct collective_rows *rows, uint32_t row,
                                                size_t *next);

/* What args say of the process group of a collective (W1): an id in the names of its file, or
** NAME_NONE. */
uint32_t collective_group(const struct trace_file *file, uint32_t row, size_t *next);

#endif
