/*
** The shapes of operators: "Input Dims" of their args, read from the file again (T6).
*/
#ifndef TRACEDIFF_SHAPES_H
#define TRACEDIFF_SHAPES_H

#include "../sqlite/table_function.h"

/* Reads the shapes of those rows of a file that are operators and not NAME_NONE in `shapes`,
** which is by row. Then it has the id in `names` of each one's JSON text, or NAME_NONE. On
** failure, fills call->failure and returns false. */
bool shapes_read(struct call *call, struct trace_file *file, uint32_t *shapes, struct names *names);

#endif
