#include "selection.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "text/ascii.h"
#include "text/number.h"

enum { LIST_LENGTH = 400 /* bytes of a list in an error message */ };

void selection_clear(struct selection *selection)
{
    memory_free(selection->values);
    memory_free(selection->phase);
    *selection = (struct selection){.kind = SELECT_DEFAULT};
}

bool selection_copy(struct selection *to, const struct selection *from)
{
    *to = (struct selection){.kind = from->kind, .job = from->job};
    memcpy(to->at, from->at, sizeof to->at);
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

/* Appends numbers to a list of `length` bytes; returns the new length, at most LIST_LENGTH + 32. */
static size_t write_numbers(char *list, size_t length, const int64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (length > LIST_LENGTH) {
            memcpy(list + length, ", ...", 6);
            return length + 5;
        }
        length += (size_t)snprintf(list + length, 32, "%s%lld", i ? ", " : "",
                                   (long long)numbers[i]);
    }
    return length;
}

bool selection_check(const struct selection *selection, const int64_t *there, size_t there_count,
                     const char *subject, const char *what, struct failure *failure)
{
    char list[LIST_LENGTH + 64] = "";
    size_t i = 0;
    if (selection->kind != SELECT_LIST)
        return true;
    while (i < selection->count && has_integer(there, there_count, selection->values[i]))
        i++;
    if (i == selection->count)
        return true;
    write_numbers(list, 0, there, there_count);
    if (there_count == 0)
        return failure_set(failure, FAILURE_REQUEST, "%s has no %s %lld: it has no %ss", subject,
                           what, (long long)selection->values[i], what);
    return failure_set(failure, FAILURE_REQUEST, "%s has no %s %lld (%ss: %s)", subject, what,
                       (long long)selection->values[i], what, list);
}

bool selection_read_place(struct selection *selection, const char *text)
{
    for (int kind = 0; kind < COORDINATES; kind++)
        selection->at[kind] = -1;
    for (;;) {
        int kind = 0;
        text += strspn(text, " ");
        while (kind < COORDINATES && strncasecmp(text, coordinate_names[kind], 2) != 0)
            kind++;
        size_t length = 0;
        if (kind == COORDINATES || text[2] != '=' || selection->at[kind] >= 0)
            return false;
        text += 3;
        while (*text == '0' && is_digit(text[1]))
            text++;
        while (is_digit(text[length]))
            length++;
        if (!number_integer((const unsigned char *)text, length, &selection->at[kind]))
            return false;
        text += length + strspn(text + length, " ");
        selection->kind = SELECT_AT;
        if (*text != ',')
            return !*text;
        text++;
    }
}

bool selection_is_at(const struct selection *selection, const struct coordinates *at)
{
    for (int kind = 0; kind < COORDINATES; kind++)
        if (selection->at[kind] >= 0 && selection->at[kind] != at->of[kind].number)
            return false;
    return true;
}

bool selection_check_place(const struct selection *selection, const struct coordinates *there,
                           size_t count, const char *subject, struct failure *failure)
{
    char place[COORDINATES * 32] = "", list[COORDINATES * (LIST_LENGTH + 64)] = "";
    size_t length = 0, used = 0, of_kind;
    for (size_t i = 0; i < count; i++)
        if (selection_is_at(selection, &there[i]))
            return true;
    int64_t *numbers = memory_items(count, sizeof *numbers);
    if (!numbers)
        return failure_memory(failure);
    for (int kind = 0; kind < COORDINATES; kind++) {
        if (selection->at[kind] >= 0)
            used += (size_t)snprintf(place + used, 32, "%s%s=%lld", used ? "," : "",
                                     coordinate_names[kind], (long long)selection->at[kind]);
        of_kind = 0;
        for (size_t i = 0; i < count; i++)
            if (there[i].of[kind].number >= 0)
                numbers[of_kind++] = there[i].of[kind].number;
        of_kind = sort_integers(numbers, of_kind);
        if (of_kind > 0) {
            length += (size_t)snprintf(list + length, 8, "%s%s: ", length ? "; " : "",
                                       coordinate_names[kind]);
            length = length + write_numbers(list + length, 0, numbers, of_kind);
        }
    }
    memory_free(numbers);
    return failure_set(failure, FAILURE_REQUEST, "%s has no rank at %s (%s)", subject, place,
                       length ? list : "no name or label of a file tells tp, pp, dp or ep");
}
