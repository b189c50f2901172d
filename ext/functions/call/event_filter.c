#include "event_filter.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "file/columns.h"

const unsigned char served_of_events[EVENTS_COLUMNS] = {
    [EVENTS_RANK] = SERVES_EQUAL,
    [EVENTS_ITERATION] = SERVES_EQUAL,
    [EVENTS_DEVICE] = SERVES_EQUAL,
    [EVENTS_CAT] = SERVES_EQUAL,
    [EVENTS_NAME] = SERVES_EQUAL | SERVES_ORDER,
    [EVENTS_TS] = SERVES_RANGE | SERVES_ORDER,
    [EVENTS_DUR] = SERVES_ORDER,
    [EVENTS_STREAM] = SERVES_EQUAL,
    [EVENTS_PH] = SERVES_EQUAL,
    [EVENTS_ARGS] = IN_FILE_ORDER,
    [EVENTS_FILE] = SERVES_EQUAL,
    [EVENTS_EVENT] = SERVES_EQUAL,
};

/* Returns SQLITE_ROW for the next value, SQLITE_DONE after the last one, or an error. */
static int term_next(struct term_values *values)
{
    bool first = !values->value;
    int code = first ? SQLITE_OK : SQLITE_DONE;
    if (values->term->op != '*')
        values->value = values->term->value;
    else
        code = first ? sqlite3_vtab_in_first(values->term->value, &values->value)
                     : sqlite3_vtab_in_next(values->term->value, &values->value);
    return code == SQLITE_OK ? SQLITE_ROW : code;
}

int term_next_text(struct term_values *values, const char **text)
{
    int code = SQLITE_DONE;
    *text = NULL;
    while (!*text && (code = term_next(values)) == SQLITE_ROW) {
        *text = (const char *)sqlite3_value_text(values->value);
        if (!*text && sqlite3_value_type(values->value) != SQLITE_NULL)
            return SQLITE_NOMEM;
    }
    return code;
}

/* Whether a text may equal a different text: SQLite compares texts that look like numbers as
** numbers if their expression has numeric affinity. */
static bool looks_like_number(sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);
    return text && *text && text[strspn(text, " \t\n\v\f\r0123456789+-.eE")] == 0;
}

/* Sets `*all` to whether each value of a term is a text (if `texts`) or a number (if not), or
** NULL. Returns SQLITE_DONE, or an error. */
static int all_are(const struct term *term, bool texts, bool *all)
{
    struct term_values values = {.term = term};
    int code;
    for (*all = true; (code = term_next(&values)) == SQLITE_ROW;) {
        int type = sqlite3_value_type(values.value);
        if (texts ? type != SQLITE_TEXT || looks_like_number(values.value)
                  : type != SQLITE_INTEGER && type != SQLITE_FLOAT)
            *all = *all && type == SQLITE_NULL;
    }
    return code;
}

/* Collects the integers among the values of a term. An integer column equals no other number. */
static int take_integers(struct event_filter *filter, const struct term *term,
                         struct integers *integers)
{
    struct term_values values = {.term = term};
    int code = all_are(term, false, &integers->given);
    if (code != SQLITE_DONE || !integers->given)
        return code;
    while ((code = term_next(&values)) == SQLITE_ROW) {
        int type = sqlite3_value_type(values.value);
        double real = sqlite3_value_double(values.value);
        if (type == SQLITE_NULL || (type == SQLITE_FLOAT && !(fabs(real) < 0x1p63)))
            continue;
        if (!MEMORY_GROW(integers->items, integers->capacity, integers->count + 1))
            return SQLITE_NOMEM;
        integers->items[integers->count++] =
            type == SQLITE_FLOAT ? (int64_t)real : sqlite3_value_int64(values.value);
    }
    integers->count = sort_integers(integers->items, integers->count);
    filter->nothing = filter->nothing || integers->count == 0;
    return code;
}

/* Applies a term on `ph` or `device` to the wanted phases or kinds. */
static int take_texts(struct event_filter *filter, const struct term *term)
{
    struct term_values values = {.term = term};
    bool texts, phases[256] = {false};
    unsigned kinds = 0;
    const char *text;
    int code = all_are(term, true, &texts);
    if (code != SQLITE_DONE || !texts)
        return code;
    while ((code = term_next_text(&values, &text)) == SQLITE_ROW) {
        phases[(unsigned char)text[0]] = true;
        for (unsigned kind = KIND_HOST; kind <= KIND_SYNC; kind++)
            if (strcmp(text, kind_is_device(kind) ? "GPU" : "CPU") == 0)
                kinds |= 1u << kind;
    }
    if (term->column == EVENTS_DEVICE)
        filter->kinds &= kinds;
    filter->nothing = filter->nothing || filter->kinds == 0;
    for (int c = 0; c < 256 && term->column == EVENTS_PH; c++)
        filter->phases[c] = filter->phases[c] && phases[c];
    return code;
}

/* Sets `*to` to a term on a name or category if the term can be used. */
static int take_name(const struct term *term, const struct term **to)
{
    bool texts;
    int code = all_are(term, true, &texts);
    if (code == SQLITE_DONE && texts)
        *to = term;
    return code;
}

static void take_bound(struct event_filter *filter, const struct term *term)
{
    int type = sqlite3_value_type(term->value);
    if (type == SQLITE_NULL)
        filter->nothing = true;
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
        return;
    if (term->op != '<')
        filter->low = term;
    if (term->op != '>')
        filter->high = term;
}

static int take_term(struct event_filter *filter, const struct term *term)
{
    switch (term->column) {
    case EVENTS_RANK:
        return take_integers(filter, term, &filter->ranks);
    case EVENTS_ITERATION:
        return take_integers(filter, term, &filter->iterations);
    case EVENTS_STREAM:
        return take_integers(filter, term, &filter->streams);
    case EVENTS_EVENT:
        return take_integers(filter, term, &filter->numbers);
    case EVENTS_NAME:
        return take_name(term, &filter->name);
    case EVENTS_CAT:
        return take_name(term, &filter->cat);
    case EVENTS_FILE:
        return take_name(term, &filter->file);
    case EVENTS_TS:
        take_bound(filter, term);
        return SQLITE_DONE;
    default:
        return take_texts(filter, term);
    }
}

int event_filter_take(struct event_filter *filter, const struct term *term)
{
    int code = take_term(filter, term);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

void event_filter_clear(struct event_filter *filter)
{
    memory_free(filter->ranks.items);
    memory_free(filter->iterations.items);
    memory_free(filter->streams.items);
    memory_free(filter->numbers.items);
}
