#include "tally.h"

#include <string.h>

bool tally_add(struct tally *tally, const struct tally_row *row, struct failure *failure)
{
    if (!MEMORY_GROW(tally->rows, tally->capacity, tally->count + 1))
        return failure_memory(failure);
    tally->rows[tally->count++] = *row;
    return true;
}

static int row_order(const void *a, const void *b)
{
    const struct tally_row *x = a, *y = b;
    for (int i = 0; i < TALLY_KEYS; i++)
        if (x->key[i] == NAME_NONE || y->key[i] == NAME_NONE) {
            if (x->key[i] != y->key[i])
                return x->key[i] == NAME_NONE ? -1 : 1;
        } else if (x->key[i] != y->key[i]) {
            return COMPARE(x->places[x->key[i]], y->places[y->key[i]]);
        }
    return 0;
}

void tally_add_to(struct tally_row *sum, const struct tally_row *row)
{
    for (int side = 0; side < 2; side++) {
        sum->on[side] = sum->on[side] || row->on[side];
        sum->sum[side] += row->sum[side];
    }
}

static bool order(struct tally *tally, const uint32_t *places, const struct stopper *stopper,
                  struct failure *failure)
{
    size_t count = 0;
    for (size_t i = 0; i < tally->count; i++)
        tally->rows[i].places = places;
    if (!sort_items(tally->rows, tally->count, sizeof *tally->rows, row_order, stopper, failure))
        return false;
    for (size_t i = 0; i < tally->count; i++)
        if (count > 0 && row_order(&tally->rows[count - 1], &tally->rows[i]) == 0)
            tally_add_to(&tally->rows[count - 1], &tally->rows[i]);
        else
            tally->rows[count++] = tally->rows[i];
    tally->count = count;
    return true;
}

bool tallies_order(struct tally *const *tallies, size_t count, const struct names *names,
                   const struct stopper *stopper, struct failure *failure)
{
    uint32_t *places = names_places(names, stopper, failure);
    bool done = places != NULL;
    for (size_t i = 0; done && i < count; i++)
        done = order(tallies[i], places, stopper, failure);
    memory_free(places);
    return done;
}

size_t tally_run(const struct tally *tally, size_t from, int keys, struct tally_row *sum)
{
    size_t i = from;
    *sum = tally->rows[from];
    while (++i < tally->count && memcmp(tally->rows[i].key, sum->key,
                                        (size_t)keys * sizeof *sum->key) == 0)
        tally_add_to(sum, &tally->rows[i]);
    return i;
}

void tally_clear(struct tally *tally)
{
    memory_free(tally->rows);
}
