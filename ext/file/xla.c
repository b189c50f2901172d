#include "xla.h"

#include "base/memory.h"

bool xla_add(struct trace_file *file, uint32_t op, uint32_t module, int64_t step,
             struct failure *failure)
{
    size_t row = file->columns.count - 1;
    bool work = file->columns.correlation[row] != NUMBER_NONE;
    if (work ? op == NAME_NONE : step < 0)
        return true;
    if (!MEMORY_GROW(file->xla, file->xla_capacity, file->xla_count + 1))
        return failure_memory(failure);
    file->xla[file->xla_count++] = (struct xla_said){.row = (uint32_t)row,
                                                     .op = work ? op : NAME_NONE,
                                                     .module = work ? module : NAME_NONE,
                                                     .step = work ? NUMBER_NONE : step};
    return true;
}
