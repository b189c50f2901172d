#include "step_rows.h"

#include "base/memory.h"

bool step_rows_make(struct step_rows *steps, size_t count, size_t room)
{
    steps->count = count;
    steps->room = room;
    steps->kept = memory_zeroed(count, sizeof *steps->kept);
    return steps->kept != NULL;
}

static int find_next(struct step_scan *scan, struct failure *failure)
{
    struct step_rows *steps = (struct step_rows *)scan->base.rows;
    struct found_step **kept = &steps->kept[scan->next];
    if (!*kept) {
        connection_begin_work(steps->connection);
        bool found = steps->find(steps, scan->next, &scan->own, failure);
        connection_end_work(steps->connection);
        if (!found)
            return SQLITE_ERROR;
    }
    if (!*kept && scan->own->memory <= steps->room) {
        *kept = scan->own;
        scan->own = NULL;
        steps->room -= (*kept)->memory;
        steps->rows.memory += (*kept)->memory;
    }
    scan->step = *kept ? *kept : scan->own;
    scan->row = 0;
    scan->next++;
    return SQLITE_OK;
}

int step_rows_begin(struct rows *rows, const struct wish *wish, struct row_scan **scan,
                    struct failure *failure)
{
    (void)wish;
    (void)failure;
    struct step_scan *it = *scan ? (struct step_scan *)*scan : memory_zeroed(1, sizeof *it);
    if (!it)
        return SQLITE_NOMEM;
    *it = (struct step_scan){.base = {rows}, .own = it->own};
    *scan = &it->base;
    return SQLITE_OK;
}

int step_rows_next(struct row_scan *base, struct position *position, bool *end,
                   struct failure *failure)
{
    struct step_scan *scan = (struct step_scan *)base;
    const struct step_rows *steps = (const struct step_rows *)base->rows;
    *end = false;
    while (!scan->step || scan->row == scan->step->rows) {
        *end = scan->next == steps->count;
        int code = *end ? SQLITE_OK : find_next(scan, failure);
        if (*end || code != SQLITE_OK)
            return code;
    }
    *position = (struct position){scan->number++, scan->next - 1, (int64_t)scan->row++};
    return SQLITE_OK;
}

void step_rows_end(struct row_scan *base)
{
    struct step_scan *scan = (struct step_scan *)base;
    if (scan->own)
        ((const struct step_rows *)base->rows)->free(scan->own);
    memory_free(scan);
}

void step_rows_clear(struct step_rows *steps)
{
    for (size_t i = 0; steps->kept && i < steps->count; i++)
        if (steps->kept[i])
            steps->free(steps->kept[i]);
    memory_free(steps->kept);
}
