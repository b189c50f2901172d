#include "brief_evidence.h"

#include <math.h>

#include "base/memory.h"
#include "base/sort.h"

/* Work with one operator, shapes, types and kernel. Arrays are by side. */
struct evidence_row {
    const struct name *keys[DEVICE_EVIDENCE]; /* NULL: none */
    struct keyed_sums sums[2];
    struct keyed_measure flops[2];
};

static int evidence_row_order(const void *a, const void *b)
{
    const struct evidence_row *x = a, *y = b;
    int order = 0;
    for (int i = 0; i < DEVICE_EVIDENCE && order == 0; i++)
        if (!x->keys[i] || !y->keys[i])
            order = COMPARE(x->keys[i] != NULL, y->keys[i] != NULL);
        else
            order = name_compare(x->keys[i], y->keys[i]);
    return order;
}

static void add_sums(struct evidence_row *to, const struct keyed_sums *sums,
                     const struct keyed_work *work)
{
    for (int side = 0; side < 2; side++) {
        to->sums[side].executions += sums[side].executions;
        to->sums[side].kernels += sums[side].kernels;
        to->sums[side].device_time += sums[side].device_time;
        to->flops[side].kernels += work[side].flops.kernels;
        to->flops[side].amount += work[side].flops.amount;
        to->flops[side].time += work[side].flops.time;
    }
}

/* Lists the rows of sums that have a name. */
static bool list_rows(const struct keyed *keyed, int key, const struct name *name,
                      struct evidence_row **rows, size_t *count, size_t *capacity)
{
    uint32_t id = names_find(&keyed->names, name->text, name->length);
    for (size_t row = 0; id != NAME_NONE && row < keyed->count; row++) {
        if (work_key(keyed, row, key) != id)
            continue;
        if (!MEMORY_GROW(*rows, *capacity, *count + 1))
            return false;
        struct evidence_row *to = &(*rows)[(*count)++];
        *to = (struct evidence_row){.keys = {NULL}};
        for (int i = 0; i < DEVICE_EVIDENCE; i++)
            if (work_key(keyed, row, i) != NAME_NONE)
                to->keys[i] = &keyed->names.items[work_key(keyed, row, i)];
        add_sums(to, keyed->sums[row], keyed->work[row]);
    }
    return true;
}

/* Merges rows with equal keys; rows are sorted by key. Returns the number of remaining rows. */
static size_t join_rows(struct evidence_row *rows, size_t count)
{
    size_t joined = 0;
    for (size_t i = 0; i < count; i++)
        if (joined > 0 && evidence_row_order(&rows[joined - 1], &rows[i]) == 0) {
            const struct keyed_work work[2] = {{.flops = rows[i].flops[0]},
                                               {.flops = rows[i].flops[1]}};
            add_sums(&rows[joined - 1], rows[i].sums, work);
        } else {
            rows[joined++] = rows[i];
        }
    return joined;
}

static double change_of(const struct evidence_row *row, const int64_t *steps)
{
    return fabs(mean_difference(row->sums[0].device_time, steps[0], row->sums[1].device_time,
                                steps[1]));
}

bool device_evidence_find(struct call *call, const struct device_work *work, int key,
                          const struct name *name, struct evidence *evidence, bool *found)
{
    struct evidence_row *rows = NULL;
    size_t count = 0, capacity = 0, largest = 0;
    bool done = true;
    for (size_t i = 0; i < work->count && done; i++)
        done = list_rows(work->sums[i], key, name, &rows, &count, &capacity) ||
               failure_memory(&call->failure);
    done = done && sort_items(rows, count, sizeof *rows, evidence_row_order, call_stopper(call),
                              &call->failure);
    count = done ? join_rows(rows, count) : 0;
    for (size_t i = 1; i < count; i++)
        if (change_of(&rows[i], work->steps) > change_of(&rows[largest], work->steps))
            largest = i;
    *found = count > 0;
    *evidence = (struct evidence){.of_device = true};
    for (int side = 0; *found && side < 2; side++) {
        const struct evidence_row *row = &rows[largest];
        const struct keyed_measure *flops = &row->flops[side];
        bool timed = flops->kernels > 0 && flops->time > 0;
        evidence->shapes = row->keys[DEVICE_SHAPES];
        evidence->counts[side] = (double)row->sums[side].executions / (double)work->steps[side];
        evidence->kernels[side] = (double)row->sums[side].kernels / (double)work->steps[side];
        evidence->tflops[side] =
            timed ? (double)flops->amount / microseconds(flops->time) / 1e6 : NAN;
    }
    memory_free(rows);
    return done;
}

bool run_evidence_find(const struct run_changes *changes, const struct name *name,
                       struct evidence *evidence)
{
    for (size_t i = 0; i < changes->count; i++) {
        const struct run_change *change = &changes->items[i];
        if (name_compare(&changes->names.items[change->name], name) != 0)
            continue;
        *evidence = (struct evidence){.counts = {change->counts[0], change->counts[1]}};
        return true;
    }
    return false;
}
