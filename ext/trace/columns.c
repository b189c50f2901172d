#include "columns.h"

#include <string.h>

#include "../reader/memory.h"

/* Every array of struct columns, with the size of its items: larger items first, so that each
** array is aligned. They lie one after the other in one block, which can so use large pages. */
static const struct {
    size_t offset, size;
} arrays[] = {
    {offsetof(struct columns, ts), sizeof(int64_t)},
    {offsetof(struct columns, dur), sizeof(int64_t)},
    {offsetof(struct columns, correlation), sizeof(int64_t)},
    {offsetof(struct columns, name), sizeof(uint32_t)},
    {offsetof(struct columns, place), sizeof(uint32_t)},
    {offsetof(struct columns, event), sizeof(uint32_t)},
    {offsetof(struct columns, link), sizeof(uint32_t)},
    {offsetof(struct columns, kind), 1},
};
enum { ARRAYS = sizeof arrays / sizeof *arrays, ROW = 3 * 8 + 4 * 4 + 1 /* bytes */ };

/* Moves the items of array `i`, before which a row has `before` bytes, from their place in a block
** for `from` rows to that in one for `to` rows. */
static void move_items(struct columns *columns, size_t i, size_t before, size_t from, size_t to)
{
    memmove(columns->block + to * before, columns->block + from * before,
            columns->count * arrays[i].size);
}

/* Points to the arrays of a block for `capacity` rows. */
static void set_arrays(struct columns *columns, size_t capacity)
{
    unsigned char *array = columns->block;
    for (size_t i = 0; i < ARRAYS; array += capacity * arrays[i++].size)
        memcpy((char *)columns + arrays[i].offset, &array, sizeof array);
    columns->capacity = capacity;
}

bool columns_reserve(struct columns *columns, size_t needed)
{
    size_t before = ROW;
    if (needed <= columns->capacity)
        return true;
    if (needed > SIZE_MAX / ROW ||
        !memory_assign(&columns->block, memory_resize(columns->block, needed * ROW)))
        return false;
    memory_use_large_pages(columns->block, needed * ROW);
    for (size_t i = ARRAYS; i-- > 0;) { /* the last first: they move up */
        before -= arrays[i].size;
        move_items(columns, i, before, columns->capacity, needed);
    }
    set_arrays(columns, needed);
    return true;
}

void columns_fit(struct columns *columns)
{
    size_t before = 0, count = columns->count;
    if (count == 0 || columns->capacity - count <= count / 16)
        return;
    for (size_t i = 0; i < ARRAYS; before += arrays[i++].size)
        move_items(columns, i, before, columns->capacity, count);
    (void)memory_assign(&columns->block, memory_resize(columns->block, count * ROW));
    set_arrays(columns, count); /* a block that shrinks may move, too */
}

size_t columns_memory(const struct columns *columns)
{
    return columns->capacity * ROW + places_memory(&columns->places);
}

void columns_clear(struct columns *columns)
{
    memory_free(columns->block);
    places_clear(&columns->places);
    memset(columns, 0, sizeof *columns);
}
