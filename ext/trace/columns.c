#include "columns.h"

#include <string.h>

#include "../reader/memory.h"

/* Every array of struct columns, with the size of its items. */
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
    {offsetof(struct columns, iteration), sizeof(uint32_t)},
    {offsetof(struct columns, kind), 1},
};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

static void *array_of(const struct columns *columns, size_t i)
{
    void *array;
    memcpy(&array, (const char *)columns + arrays[i].offset, sizeof array);
    return array;
}

/* Resizes every array to `capacity` items; false if out of memory. */
static bool resize(struct columns *columns, size_t capacity)
{
    for (size_t i = 0; i < ARRAYS; i++)
        if (!memory_assign((char *)columns + arrays[i].offset,
                           memory_resize(array_of(columns, i), capacity * arrays[i].size)))
            return false;
    columns->capacity = capacity;
    return true;
}

bool columns_reserve(struct columns *columns, size_t needed)
{
    return needed <= columns->capacity || resize(columns, needed);
}

void columns_fit(struct columns *columns)
{
    if (columns->count > 0 && columns->count < columns->capacity)
        (void)resize(columns, columns->count);
}

size_t columns_memory(const struct columns *columns)
{
    size_t row = 0;
    for (size_t i = 0; i < ARRAYS; i++)
        row += arrays[i].size;
    return columns->capacity * row + places_memory(&columns->places);
}

void columns_clear(struct columns *columns)
{
    for (size_t i = 0; i < ARRAYS; i++)
        memory_free(array_of(columns, i));
    places_clear(&columns->places);
    memset(columns, 0, sizeof *columns);
}
