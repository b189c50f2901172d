#include "selection.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

enum { LIST_LENGTH = 400 /* bytes of a list in an error */ };

void selection_clear(struct selection *selection)
{
    memory_free(selection->values);
    memory_free(selection->phase);
    *selection = (struct selection){.kind = SELECT_DEFAULT};
}

bool selection_copy(struct selection *to, const struct selection *from)
{
    *to = (struct selection){.kind = from->kind, .job = from->job};
    bool done = true;
    if (from->kind == SELECT_LIST) {
        done = memory_assign(&to->values, memory_items(from->count, sizeof *to->values));
        to->count = done ? from->count : 0;
        if (to->count > 0)
            memcpy(to->values, from->values, from->count * sizeof *to->values);
    } else if (from->kind == SELECT_PHASE) {
        size_t size = strlen(from->phase) + 1;
        done = memory_assign(&to->phase, memory_allocate(size));
        if (done)
            memcpy(to->phase, from->phase, size);
    }
    if (!done)
        selection_clear(to);
    return done;
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
