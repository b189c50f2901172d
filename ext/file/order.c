#include "order.h"

#include "base/memory.h"

enum { DIGIT = 11 /* bits */ };

struct order_item {
    uint64_t key;
    uint32_t row;
};

/* A stable radix sort, lowest digit first. No key may exceed `largest`. Returns the array with the
** result: `items` or `spare`. */
static struct order_item *sort_digits(struct order_item *items, struct order_item *spare,
                                      size_t count, uint64_t largest, const struct stopper *stopper,
                                      struct failure *failure)
{
    for (int shift = 0; shift < 64 && largest >> shift > 0; shift += DIGIT) {
        size_t next[1 << DIGIT] = {0}, total = 0;
        for (size_t i = 0; i < count; i++) {
            if (!stopper_goes_on(stopper, i, failure))
                return NULL;
            next[items[i].key >> shift & ((1 << DIGIT) - 1)]++;
        }
        for (size_t digit = 0; digit < 1 << DIGIT; digit++) {
            size_t here = next[digit];
            next[digit] = total;
            total += here;
        }
        for (size_t i = 0; i < count; i++) {
            if (!stopper_goes_on(stopper, i, failure))
                return NULL;
            spare[next[items[i].key >> shift & ((1 << DIGIT) - 1)]++] = items[i];
        }
        struct order_item *sorted = spare;
        spare = items;
        items = sorted;
    }
    return items;
}

/* Sets the sort keys of rows: greater values have greater keys, and a missing value has key 0. */
static bool put_keys(const struct trace_file *file, enum order order, const uint32_t *places,
                     struct order_item *items, uint64_t *largest, const struct stopper *stopper,
                     struct failure *failure)
{
    const struct columns *columns = &file->columns;
    const int64_t *times = order == ORDER_DUR ? columns->dur : columns->ts;
    int64_t least = INT64_MAX;
    *largest = 0;
    for (size_t row = 0; row < columns->count && !places; row++) {
        if (!stopper_goes_on(stopper, row, failure))
            return false;
        if (times[row] != NUMBER_NONE && times[row] < least)
            least = times[row];
    }
    for (size_t row = 0; row < columns->count; row++) {
        uint64_t key = 0;
        if (!stopper_goes_on(stopper, row, failure))
            return false;
        if (places)
            key = columns->name[row] == NAME_NONE ? 0 : places[columns->name[row]];
        else if (times[row] != NUMBER_NONE)
            key = (uint64_t)times[row] - (uint64_t)least + 1;
        items[row] = (struct order_item){key, (uint32_t)row};
        *largest = key > *largest ? key : *largest;
    }
    return true;
}

/* Groups rows by thread, preserving their order within each thread. */
static bool group_threads(const struct trace_file *file, const struct order_item *items,
                          struct order_item *to, const struct stopper *stopper,
                          struct failure *failure)
{
    const struct columns *columns = &file->columns;
    size_t total = 0, *next = memory_zeroed(file->tracks.count, sizeof *next);
    bool done = next || failure_memory(failure);
    for (size_t row = 0; done && row < columns->count; row++) {
        next[row_place(columns, row)->track]++;
        done = stopper_goes_on(stopper, row, failure);
    }
    for (size_t track = 0; done && track < file->tracks.count; track++) {
        size_t count = next[track];
        next[track] = total;
        total += count;
    }
    for (size_t i = 0; done && i < columns->count; i++) {
        to[next[row_place(columns, items[i].row)->track]++] = items[i];
        done = stopper_goes_on(stopper, i, failure);
    }
    memory_free(next);
    return done;
}

static int key_order(const void *a, const void *b)
{
    return COMPARE(((const struct order_item *)a)->key, ((const struct order_item *)b)->key);
}

/* Sorts rows of a thread with equal starts: longest first. */
static bool order_starts(const struct columns *columns, struct order_item *items,
                         const struct stopper *stopper, struct failure *failure)
{
    bool done = true;
    for (size_t i = 0, end; done && i < columns->count; i = end) {
        uint32_t track = row_place(columns, items[i].row)->track;
        uint64_t start = items[i].key;
        done = stopper_goes_on(stopper, i, failure);
        for (end = i + 1; end < columns->count && items[end].key == start &&
                          row_place(columns, items[end].row)->track == track;
             end++)
            ;
        if (end - i == 1)
            continue;
        for (size_t j = i; j < end; j++) {
            int64_t dur = columns->dur[items[j].row];
            items[j].key = UINT64_MAX - (uint64_t)(dur == NUMBER_NONE ? 0 : dur);
        }
        done = done && sort_items(items + i, end - i, sizeof *items, key_order, stopper, failure);
    }
    return done;
}

static uint32_t *make_order(const struct trace_file *file, enum order order,
                            const struct stopper *stopper, struct failure *failure)
{
    size_t count = file->columns.count;
    uint32_t *places = NULL, *rows = NULL;
    struct order_item *items = memory_items(count, sizeof *items);
    struct order_item *spare = memory_items(count, sizeof *spare), *sorted = NULL;
    uint64_t largest;
    if (!items || !spare)
        failure_memory(failure);
    else if ((order != ORDER_NAME || (places = names_places(&file->names, stopper, failure))) &&
             put_keys(file, order, places, items, &largest, stopper, failure))
        sorted = sort_digits(items, spare, count, largest, stopper, failure);
    if (sorted && order == ORDER_SPANS) {
        struct order_item *other = sorted == items ? spare : items;
        bool done = group_threads(file, sorted, other, stopper, failure) &&
                    order_starts(&file->columns, other, stopper, failure);
        sorted = done ? other : NULL;
    }
    if (sorted && !(rows = memory_items(count, sizeof *rows)))
        failure_memory(failure);
    for (size_t i = 0; rows && i < count; i++) {
        rows[i] = sorted[i].row;
        if (!stopper_goes_on(stopper, i, failure)) {
            memory_free(rows);
            rows = NULL;
        }
    }
    memory_free(items);
    memory_free(spare);
    memory_free(places);
    return rows;
}

const uint32_t *order_rows(struct trace_file *file, enum order order, const struct stopper *stopper,
                           struct failure *failure)
{
    if (!file->orders[order])
        file->orders[order] = make_order(file, order, stopper, failure);
    return file->orders[order];
}

/* The number of rows whose name sorts before `name` or, with `itself`, equals it. */
static size_t rows_before(const struct trace_file *file, const uint32_t *rows,
                          const struct name *name, bool itself)
{
    const uint32_t *names = file->columns.name;
    size_t i = 0;
    LOWER_BOUND(i, file->columns.count,
                names[rows[i]] == NAME_NONE ||
                    name_compare(&file->names.items[names[rows[i]]], name) < itself);
    return i;
}

void order_of_name(const struct trace_file *file, const uint32_t *rows, uint32_t name,
                   size_t *first, size_t *end)
{
    *first = rows_before(file, rows, &file->names.items[name], false);
    *end = rows_before(file, rows, &file->names.items[name], true);
}

size_t orders_memory(const struct trace_file *file)
{
    size_t made = 0;
    for (int order = 0; order < ORDER_COUNT; order++)
        made += file->orders[order] != NULL;
    return made * file->columns.count * sizeof **file->orders;
}

void orders_clear(struct trace_file *file)
{
    for (int order = 0; order < ORDER_COUNT; order++) {
        memory_free(file->orders[order]);
        file->orders[order] = NULL;
    }
}
