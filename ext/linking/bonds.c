#include "bonds.h"

#include "link.h"

/* By kind and number; host events come before device events with the same number. */
static int bond_order(const void *a, const void *b)
{
    const struct bond *x = a, *y = b;
    int order = COMPARE(x->kind, y->kind);
    order = order ? order : COMPARE(x->id, y->id);
    order = order ? order : COMPARE(x->device, y->device);
    order = order ? order : COMPARE(x->ts, y->ts);
    return order ? order : COMPARE(x->row, y->row);
}

/* Finds a device event's launch among the `count` host events with its number, from `first` on. */
static uint32_t launch_of(const struct bond *bonds, size_t first, size_t count, int64_t ts)
{
    size_t after = first, end = first + count;
    LOWER_BOUND(after, end, bonds[after].ts <= ts);
    if (after > first)
        return bonds[after - 1].row;
    while (after + 1 < first + count && bonds[after + 1].ts == bonds[first].ts)
        after++;
    return bonds[after].row;
}

bool bonds_follow(struct trace_file *file, struct bond *bonds, size_t count,
                  const struct stopper *stopper, struct failure *failure)
{
    struct columns *columns = &file->columns;
    size_t kept = 0, first = 0, hosts = 0, devices = 0;
    for (size_t i = 0; i < count; i++) {
        struct bond bond = bonds[i];
        if (!stopper_goes_on(stopper, i, failure))
            return false;
        bond.device = kind_is_device(columns->kind[bond.row]);
        bond.ts = columns->ts[bond.row];
        if (bond.ts == NUMBER_NONE || (bond.device && columns->link[bond.row] != ROW_NONE))
            continue;
        bonds[kept++] = bond;
        devices += bond.device;
    }
    if (devices == 0)
        return true;
    if (!sort_items(bonds, kept, sizeof *bonds, bond_order, stopper, failure))
        return false;
    for (size_t i = 0; i < kept; i++) {
        if (!stopper_goes_on(stopper, i, failure))
            return false;
        if (bonds[i].id != bonds[first].id || bonds[i].kind != bonds[first].kind) {
            first = i;
            hosts = 0;
        }
        if (!bonds[i].device)
            hosts++;
        else if (hosts > 0 && columns->link[bonds[i].row] == ROW_NONE)
            link_rows(columns, bonds[i].row, launch_of(bonds, first, hosts, bonds[i].ts));
    }
    return true;
}
