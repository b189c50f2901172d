#include "select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../reader/memory.h"
#include "sort.h"

enum { LIST_LENGTH = 400 /* bytes of a list in an error */ };

void selection_clear(struct selection *selection)
{
    memory_free(selection->values);
    memory_free(selection->phase);
    *selection = (struct selection){.kind = SELECT_DEFAULT};
}

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

bool selection_check(const struct selection *selection, const int64_t *there, size_t there_count,
                     const char *subject, const char *what, struct failure *failure)
{
    char list[LIST_LENGTH + 32] = "";
    size_t length = 0, i = 0;
    if (selection->kind != SELECT_LIST)
        return true;
    while (i < selection->count && has_integer(there, there_count, selection->values[i]))
        i++;
    if (i == selection->count)
        return true;
    for (size_t j = 0; j < there_count; j++) {
        if (length > LIST_LENGTH) {
            memcpy(list + length, ", ...", 6);
            break;
        }
        int written = snprintf(list + length, sizeof list - length, "%s%lld", j ? ", " : "",
                               (long long)there[j]);
        length += (size_t)written;
    }
    if (there_count == 0)
        return failure_set(failure, FAILURE_REQUEST, "%s has no %s %lld: it has no %ss", subject,
                           what, (long long)selection->values[i], what);
    return failure_set(failure, FAILURE_REQUEST, "%s has no %s %lld (%ss: %s)", subject, what,
                       (long long)selection->values[i], what, list);
}
