#include "parts.h"

#include <string.h>

#include "base/memory.h"
#include "base/hash.h"

const char *step_class_name(enum step_class step_class)
{
    static const char *const names[] = {
        "compute",     "comm",      "memory", "idle_call", "idle_host",  "idle_unrecorded",
        "idle_launch", "idle_wait", "call",   "host",      "unrecorded", "compile", NULL};
    return names[step_class];
}

/* A12.4: returns the index of a part's name at a level. */
static int name_at(const struct attributed *part, enum label_level level)
{
    switch (part->step_class) {
    case CLASS_COMPUTE:
    case CLASS_MEMORY:
        return part->alone ? LEVEL_KERNEL : (int)level;
    case CLASS_COMM:
        return LEVEL_KERNEL;
    case CLASS_IDLE_CALL:
    case CLASS_IDLE_LAUNCH:
    case CLASS_IDLE_UNRECORDED:
    case CLASS_CALL:
    case CLASS_UNRECORDED:
        return LEVEL_OP;
    default:
        return level == LEVEL_KERNEL ? LEVEL_OP : (int)level;
    }
}

bool part_at_level(const struct attributed *path, enum label_level level, bool causes,
                   struct attributed *part)
{
    *part = *path;
    part->alone = false;
    part->late = LATE_NEVER;
    if (path->late == (causes ? LATE_COMM : LATE_HOST))
        return false;
    if (level == LEVEL_COUNT)
        return true;
    for (int i = 0; i < PART_NAMES; i++)
        part->name[i] = NAME_NONE;
    part->name[0] = path->name[name_at(path, level)];
    return path->time != 0 || path->step_class == CLASS_NONE;
}

static uint64_t hash_of_part(const struct attributed *part)
{
    uint64_t hash = hash_key() ^ (uint64_t)part->step_class ^ (uint64_t)part->alone << 16 ^
                    (uint64_t)part->drained << 17 ^ (uint64_t)part->late << 18 ^
                    (uint64_t)part->rank << 32;
    return hash_with_ids(hash, part->name, PART_NAMES);
}

static uint64_t hash_of_row(const void *step, uint32_t row)
{
    return hash_of_part(&((const struct attributed_step *)step)->rows[row]);
}

struct part_key {
    const struct attributed_step *step;
    const struct attributed *part;
};

static bool is_part(const void *key, uint32_t row)
{
    const struct attributed *part = ((const struct part_key *)key)->part;
    const struct attributed *other = &((const struct part_key *)key)->step->rows[row];
    return other->step_class == part->step_class && other->rank == part->rank &&
           other->alone == part->alone && other->drained == part->drained &&
           other->late == part->late &&
           memcmp(other->name, part->name, sizeof part->name) == 0;
}

bool parts_add(struct table *parts, struct attributed_step *to, const struct attributed *part)
{
    struct part_key key = {to, part};
    if (!MEMORY_GROW(to->rows, to->capacity, to->count + 1) ||
        !table_reserve(parts, to->count, hash_of_row, to))
        return false;
    uint32_t *slot = table_slot(parts, hash_of_part(part), is_part, &key);
    if (*slot) {
        to->rows[*slot - 1].time += part->time;
        to->rows[*slot - 1].kernels += part->kernels;
        return true;
    }
    to->rows[to->count++] = *part;
    *slot = (uint32_t)to->count;
    return true;
}

/* A part with its names. A comparison function takes no context, so each part carries the
** pointer. */
struct sortable_part {
    struct attributed row;
    const struct names *names;
};

static int part_order(const void *a, const void *b)
{
    const struct sortable_part *x = a, *y = b;
    if (x->row.time != y->row.time)
        return COMPARE(y->row.time, x->row.time);
    if (x->row.step_class == CLASS_NONE || y->row.step_class == CLASS_NONE)
        return COMPARE(x->row.step_class, y->row.step_class);
    if (x->row.step_class != y->row.step_class)
        return strcmp(step_class_name(x->row.step_class), step_class_name(y->row.step_class));
    for (int level = PART_NAMES - 1; level >= 0; level--) {
        uint32_t left = x->row.name[level], right = y->row.name[level];
        if (left == right)
            continue;
        if (left == NAME_NONE || right == NAME_NONE)
            return left == NAME_NONE ? -1 : 1;
        return name_compare(&x->names->items[left], &x->names->items[right]);
    }
    int order = COMPARE(x->row.rank, y->row.rank);
    order = order ? order : COMPARE(x->row.drained, y->row.drained);
    return order ? order : COMPARE(x->row.late, y->row.late);
}

bool parts_sort(struct attributed_step *step, const struct names *names,
                const struct stopper *stopper, struct failure *failure)
{
    struct sortable_part *order = memory_zeroed(step->count, sizeof *order);
    if (!order)
        return failure_memory(failure);
    for (size_t i = 0; i < step->count; i++)
        order[i] = (struct sortable_part){step->rows[i], names};
    bool done = sort_items(order, step->count, sizeof *order, part_order, stopper, failure);
    for (size_t i = 0; i < step->count; i++)
        step->rows[i] = order[i].row;
    memory_free(order);
    return done;
}
