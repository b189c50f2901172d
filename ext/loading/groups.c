#include "groups.h"

#include <string.h>

#include "base/memory.h"
#include "file/kernel_type.h"
#include "host_collective.h"

/* The results known for a name. */
enum collective_type {
    WORK_ASKED = 1, /* checked as a name of device work */
    WORK_IS = 2,
    HOST_ASKED = 4, /* checked as a name of a host operator or annotation */
    HOST_IS = 8
};

const char *const group_keys[GROUP_KEYS] = {"Process Group Ranks", "Process Group Name",
                                            "Process Group Description", "Collective name",
                                            "Src Rank", "Dst Rank"};

/* Whether a name is a collective's (K3, Q10.1). False also if out of memory. */
static bool is_collective(struct group_names *known, const struct names *names, uint32_t id,
                          bool on_host, struct failure *failure)
{
    if (id == NAME_NONE)
        return false;
    if (id >= known->count) {
        size_t count = names->count + names->count / 2;
        if (!memory_assign(&known->types, memory_resize(known->types, count)))
            return failure_memory(failure);
        memset(known->types + known->count, 0, count - known->count);
        known->count = count;
    }
    unsigned char *type = &known->types[id];
    const struct name *name = &names->items[id];
    if (on_host && !(*type & HOST_ASKED))
        *type |= host_collective_named(name) == HOST_NONE ? HOST_ASKED : HOST_ASKED | HOST_IS;
    if (!on_host && !(*type & WORK_ASKED))
        *type |= kernel_types_find(NULL, name->text, name->length, NULL, 0) == KERNEL_COMMUNICATION
                     ? WORK_ASKED | WORK_IS
                     : WORK_ASKED;
    return *type & (on_host ? HOST_IS : WORK_IS);
}

bool groups_may(struct group_names *names, const struct trace_file *file, size_t row,
                enum category category, struct failure *failure)
{
    return groups_in(category) && is_collective(names, &file->names, file->columns.name[row],
                                                groups_on_host(category), failure);
}

bool groups_add(struct trace_file *file, size_t row, enum category category,
                const uint32_t values[GROUP_KEYS], struct failure *failure)
{
    struct process_group group = {.row = (uint32_t)row,
                                  .ranks = values[GROUP_RANKS],
                                  .name = values[GROUP_NAME],
                                  .collective = NAME_NONE,
                                  .source = values[GROUP_SOURCE],
                                  .target = values[GROUP_TARGET]};
    if (group.name == NAME_NONE)
        group.name = values[GROUP_DESCRIPTION];
    if (groups_on_host(category))
        group.collective = values[GROUP_COLLECTIVE];
    if (group.name == NAME_NONE)
        group.name = group.ranks;
    if (group.name == NAME_NONE && group.collective == NAME_NONE)
        return true;
    if (!MEMORY_GROW(file->groups, file->group_capacity, file->group_count + 1))
        return failure_memory(failure);
    file->groups[file->group_count++] = group;
    return true;
}

void group_names_clear(struct group_names *names)
{
    memory_free(names->types);
    *names = (struct group_names){.types = NULL};
}
