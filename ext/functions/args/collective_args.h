/*
** The args of the collectives on the device: rules W5, W6 and W8.
*/
#ifndef TRACEDIFF_COLLECTIVE_ARGS_H
#define TRACEDIFF_COLLECTIVE_ARGS_H

#include "collective_work.h"
#include "sqlite/table_function.h"
#include "file/file.h"

/* A collective. NUMBER_NONE: the number is unknown. */
struct collective_row {
    uint32_t row;
    enum collective collective;
    uint32_t dtype; /* id in `dtypes`, or NAME_NONE */
    int64_t group_size, bytes, channels;
};

struct collective_rows {
    struct collective_row *items; /* in file order */
    size_t count;
    struct names dtypes;
};

/* Returns the collectives of a file, which are read once and kept by the file. NULL on failure,
** with call->failure filled. */
const struct collective_rows *collective_args_find(struct call *call, struct trace_file *file);

/* For callers that read other args of the file in the same pass: the keys to read. For each key,
** read the rows of collective_args_values() that are not NAME_NONE, and set them to ids in
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

/* Returns NULL on failure, with call->failure filled. */
struct collective_args *collective_args_begin(struct call *call, struct trace_file *file);

/* Returns one array per key, indexed by row. The arrays are NULL if there is nothing to read: the
** file has no collectives, or keeps them already. */
uint32_t *const *collective_args_values(const struct collective_args *args);

/* Like collective_args_find(), from the args that the caller read. */
const struct collective_rows *collective_args_end(struct collective_args *args,
                                                  const struct names *texts);

/* NULL is allowed. */
void collective_args_free(struct collective_args *args);

/* Returns the collective of a row; NULL: the row is no collective, or `rows` is NULL. The search
** starts at index `*next`, which suits rows in file order. */
const struct collective_row *collective_rows_at(const struct collective_rows *rows, uint32_t row,
                                                size_t *next);

/* Returns the process group of a collective according to its args (W1): an id in the names of its
** file, or NAME_NONE. */
uint32_t collective_group(const struct trace_file *file, uint32_t row, size_t *next);

#endif
