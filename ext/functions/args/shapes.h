/*
** The shapes and the types of operators' inputs: "Input Dims" and "Input type" in their args; and
** other values of args. They are read from the file again (T6).
*/
#ifndef TRACEDIFF_SHAPES_H
#define TRACEDIFF_SHAPES_H

#include "sqlite/table_function.h"

/* Reads the shapes of a file's operators, and the types unless these are NULL. Both are by
** row: on entry, a row whose shapes are not NAME_NONE is wanted; on return, each wanted row has
** the id in `names` of its JSON text, or NAME_NONE. On failure, fills call->failure and returns
** false. */
bool shapes_read(struct call *call, struct trace_file *file, uint32_t *shapes, uint32_t *types,
                 struct names *names);

/* Writes a string of JSON up to its closing quote, as SQLite writes it. Returns its length, at most
** JSON_STRING_ROOM times `length`. */
enum { JSON_STRING_ROOM = 6 };
size_t shapes_write_string(const unsigned char *text, size_t length, char *to);

/* Reads the values that args have for at most 13 keys, which differ, as `->>` gives them, in one
** reading of the file. Of each key, the rows that are not NAME_NONE are wanted; `values[i]` may be
** NULL. */
bool args_values_read(struct call *call, struct trace_file *file, const char *const *keys,
                      uint32_t *const *values, int count, struct names *names);

/* The same for one key. */
bool arg_read(struct call *call, struct trace_file *file, const char *key, uint32_t *values,
              struct names *names);

#endif
