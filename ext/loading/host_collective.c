#include "host_collective.h"

#include <string.h>

#include "text/ascii.h"

enum host_collective host_collective_named(const struct name *name)
{
    static const struct {
        const char *text;
        enum host_collective is;
    } starts[] = {{"gloo:", HOST_NAMED},
                  {"mpi:", HOST_NAMED},
                  {"ucc:", HOST_NAMED},
                  {"nccl:", HOST_LAUNCH},
                  {"xccl:", HOST_LAUNCH},
                  {"hccl:", HOST_LAUNCH},
                  {"record_param_comms", HOST_DESCRIBED}};
    const char *end = name->text + name->length;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (begins(name->text, end, starts[i].text))
            return starts[i].is;
    return HOST_NONE;
}

enum host_collective host_collective_row(const struct trace_file *file, size_t row)
{
    uint32_t name = file->columns.name[row];
    bool may_be = name != NAME_NONE && (row_is(file, row, CATEGORY_USER_ANNOTATION) ||
                                        row_is(file, row, CATEGORY_OPERATOR));
    return may_be ? host_collective_named(&file->names.items[name]) : HOST_NONE;
}

bool host_collective_any(const struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (host_collective_named(&names->items[i]) == HOST_NAMED)
            return true;
    return false;
}

bool host_collective_is_pair(const struct name *name)
{
    return strstr(name->text, "send") || strstr(name->text, "recv");
}
