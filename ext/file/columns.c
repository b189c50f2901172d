#include "columns.h"

#include <string.h>

#include "base/memory.h"
#include "platform/pages.h"

/* The arrays of struct columns and their item sizes: larger items first, so that each array is
** aligned. The arrays are contiguous, so that large pages can hold them. */
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
enum {
    ARRAYS = sizeof arrays / sizeof *arrays,
    ROW = 3 * 8 + 4 * 4 + 1, /* bytes */
    LARGE = 2 * 1024 * 1024, /* bytes of a large page */
    FEW = 6 /* growth factor for a new block: old and new together need little more */
};

/* Moves the items of array `i` from a layout that begins at `from` to a layout for `capacity` rows
** that begins at `to`. The arrays before it take `before` bytes per row. */
static void move_items(struct columns *columns, size_t i, size_t before, const unsigned char *from,
                       unsigned char *to, size_t capacity)
{
    if (columns->count > 0)
        memmove(to + capacity * before, from + columns->capacity * before,
                columns->count * arrays[i].size);
}

/* Sets the pointers to arrays for `capacity` rows that begin at `start`. */
static void set_arrays(struct columns *columns, unsigned char *start, size_t capacity)
{
    columns->start = start;
    for (size_t i = 0; i < ARRAYS; start += capacity * arrays[i++].size)
        memcpy((char *)columns + arrays[i].offset, &start, sizeof start);
    columns->capacity = capacity;
}

/* Requests large pages: the first access to a page costs as much as reading about 20 events. */
static void use_large_pages(unsigned char *block, size_t size)
{
    if (size >= LARGE)
        pages_prefer_large(block, size);
}

/* Allocates `size` bytes at `*start`, like memory_allocate(). Large pages hold the first byte if
** the memory fills at least one, and the last if it fills over half of the last page. The returned
** block is up to 1.5 pages larger; up to one page before `*start` is never touched. */
static unsigned char *allocate_large(size_t size, unsigned char **start)
{
    size_t rest = size % LARGE, more = size < LARGE ? 0 : LARGE;
    if (more > 0 && rest > LARGE / 2)
        more += LARGE - rest;
    unsigned char *block = size > SIZE_MAX - more ? NULL : memory_allocate(size + more);
    *start = block;
    if (block && more > 0) {
        *start += LARGE - (uintptr_t)block % LARGE;
        use_large_pages(block, size + more);
    }
    return block;
}

/* Allocates a block that begins with a large page, and moves the rows there. */
static bool reserve_anew(struct columns *columns, size_t needed)
{
    size_t before = 0;
    unsigned char *start, *block = allocate_large(needed * ROW, &start);
    if (!block)
        return false;
    for (size_t i = 0; i < ARRAYS; before += arrays[i++].size)
        move_items(columns, i, before, columns->start, start, needed);
    memory_free(columns->block);
    columns->block = block;
    set_arrays(columns, start, needed);
    return true;
}

bool columns_reserve(struct columns *columns, size_t needed)
{
    size_t before = ROW, offset;
    if (needed <= columns->capacity)
        return true;
    if (needed > SIZE_MAX / 2 / ROW)
        return false;
    if (columns->count <= needed / FEW)
        return reserve_anew(columns, needed);
    offset = (size_t)(columns->start - columns->block);
    if (!memory_assign(&columns->block, memory_resize(columns->block, offset + needed * ROW)))
        return false;
    use_large_pages(columns->block, offset + needed * ROW);
    for (size_t i = ARRAYS; i-- > 0;) { /* last array first, because they move up */
        before -= arrays[i].size;
        move_items(columns, i, before, columns->block + offset, columns->block + offset, needed);
    }
    set_arrays(columns, columns->block + offset, needed);
    return true;
}

void columns_fit(struct columns *columns)
{
    size_t before = 0, count = columns->count, offset;
    if (count == 0 || columns->capacity - count <= count / 16)
        return;
    offset = (size_t)(columns->start - columns->block);
    for (size_t i = 0; i < ARRAYS; before += arrays[i++].size)
        move_items(columns, i, before, columns->start, columns->start, count);
    (void)memory_assign(&columns->block, memory_resize(columns->block, offset + count * ROW));
    set_arrays(columns, columns->block + offset, count); /* even a shrinking block may move */
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
