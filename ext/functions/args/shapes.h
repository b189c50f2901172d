/*
** The shapes and types of operators' inputs ("Input Dims" and "Input type" in their args), and
** other values of args. They are read from the file again (T6).
*/
#ifndef TRACEDIFF_SHAPES_H
#define TRACEDIFF_SHAPES_H

#include "sqlite/table_function.h"

/* Reads the shapes of a file's operators, and the types unless `types` is NULL. Both are indexed by
** row. On entry, a row whose shapes are not NAME_NONE is requested; on return, each requested row
** has the id in `names` of its JSON text, or NAME_NONE. On failure, fills call->failure and returns
** false. */
bool shapes_read(struct call *call, struct trace_file *file, uint32_t *shapes, uint32_t *types,
                 struct names *names);

/* Writes a JSON string without its quotes, in SQLite's format. Returns its length, at most
** JSON_STRING_ROOM times `length`. */
enum { JSON_STRING_ROOM = 6 };
size_t shapes_write_string(const unsigned char *text, size_t length, char *to);

/* Reads the values of up to 13 different keys of args, in the form that `->>` returns, in one pass
** over the file. For each key, the rows that are not NAME_NONE are requested; `values[i]` may be
** NULL. */
bool args_values_read(struct call *call, struct trace_file *file, const char *const *keys,
                      uint32_t *const *values, int count, struct names *names);

/* The same for one key. */
bool arg_read(struct call *call, struct trace_file *file, const char *key, uint32_t *values,
              struct names *names);

#endif
