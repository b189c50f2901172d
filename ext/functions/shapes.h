/*
** The shapes of operators: "Input Dims" of their args, read from the file again (T6).
*/
#ifndef TRACEDIFF_SHAPES_H
#define TRACEDIFF_SHAPES_H

#include "../sqlite/table_function.h"
#include "../trace/names.h"

/* Reads the shapes of a file's rows, which ascend, each once: `shapes` is then the id in
** `names` of each one's JSON text, or NAME_NONE. A code of SQLite; SQLITE_ERROR stands
** for what call->failure says. */
int shapes_read(struct call *call, struct trace_file *file, const uint32_t *rows, size_t count,
                struct names *names, uint32_t *shapes);

#endif
