#include "integers.h"

#include <stdlib.h>

#include "sort.h"

int integer_order(const void *a, const void *b)
{
    return COMPARE(*(const int64_t *)a, *(const int64_t *)b);
}

size_t sort_integers(int64_t *values, size_t count)
{
    if (count > 0)
        qsort(values, count, sizeof *values, integer_order);
    return drop_doubles(values, count);
}

size_t drop_doubles(int64_t *values, size_t count)
{
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++)
        if (distinct == 0 || values[i] != values[distinct - 1])
            values[distinct++] = values[i];
    return distinct;
}

bool has_integer(const int64_t *values, size_t count, int64_t value)
{
    return count > 0 && bsearch(&value, values, count, sizeof *values, integer_order) != NULL;
}
