/*
** Functions that all profilers use to read a database.
*/
#include <string.h>

#include "base/memory.h"
#include "text/text.h"
#include "profiler.h"

/* Adds a text as a name. In a crafted file many texts may share the same pages. In a real file
** names are not much longer than the file, even after conversion. */
static bool keep_name(struct database_read *read, const void *text, size_t length, uint32_t *id)
{
    enum { TIMES = 8, LEAST = 1 << 20 };
    struct names *names = &read->file->names;
    size_t before = names->count;
    *id = names_intern(names, text, length);
    if (*id == NAME_NONE)
        return failure_memory(read->failure);
    read->named += names->count > before ? (int64_t)length : 0;
    return read->named <= TIMES * read->readonly->identity.size + LEAST ||
           readonly_damaged(read->readonly, "its texts are longer than the file", NULL,
                            read->failure);
}

bool database_name(struct database_read *read, const void *text, size_t length, uint32_t *id)
{
    const unsigned char *p = text, *end = p + length;
    bool whole = true;
    while (p < end && whole)
        p += *p < 0x80 ? 1 : text_sequence(p, end, &whole);
    if (whole)
        return keep_name(read, text, length, id);
    char *repaired = text_repaired(text, &length);
    problem_add(&read->file->problems, PROBLEM_UTF8, 0);
    bool done = repaired ? keep_name(read, repaired, length, id) : failure_memory(read->failure);
    memory_free(repaired);
    return done;
}

bool database_kept_name(struct database_read *read, const char *name, uint32_t *kept, uint32_t *id)
{
    if (*kept == 0) {
        if (!database_name(read, name, strlen(name), id))
            return false;
        *kept = *id + 1;
    }
    *id = *kept - 1;
    return true;
}

bool database_string(struct database_read *read, struct string_table *strings, int64_t id, int how,
                     string_maker *make, struct string_use *use)
{
    const struct string_use *found = strings_use(strings, id, how, make, read, read->failure);
    if (found)
        *use = *found;
    return found;
}

void database_times(struct database_read *read, int64_t start, int64_t end, bool ended, int64_t *ts,
                    int64_t *dur)
{
    struct problems *problems = &read->file->problems;
    *ts = start;
    *dur = NUMBER_NONE;
    if (start == NUMBER_NONE || (ended && end == NUMBER_NONE))
        problem_add(problems, PROBLEM_TIME, 0);
    else if (ended && __builtin_sub_overflow(end, start, dur))
        problem_add(problems, end < start ? PROBLEM_NEGATIVE_DURATION : PROBLEM_END, 0);
    else if (ended)
        return;
    *dur = NUMBER_NONE;
}

static struct identifier number_of(int64_t value)
{
    return (struct identifier){value == NUMBER_NONE ? IDENTIFIER_NONE : IDENTIFIER_INTEGER,
                               value == NUMBER_NONE ? 0 : value};
}

bool database_add(struct database_read *read, const struct database_row *row)
{
    struct trace_file *file = read->file;
    struct track track = {.pid = number_of(row->pid), .tid = number_of(row->tid)};
    struct place place = {.stream = row->stream, .cat = row->cat, .phase = row->phase};
    struct new_row new = {.ts = row->ts,
                          .correlation = row->correlation,
                          .name = row->name,
                          .event = row->event,
                          .phase = row->phase};
    if (row->named_thread)
        track.tid.kind = IDENTIFIER_TEXT;
    if (!file->phases[row->phase])
        return true;
    if (!tracks_number(&file->tracks, &track, &place.track) ||
        !places_number(&file->columns.places, &place, &new.place))
        return failure_memory(read->failure);
    new.dur = row->dur == NUMBER_NONE ? NUMBER_NONE : loading_duration(file, row->ts, row->dur, 0);
    return loading_reserve(read->loading, 2.0 * (double)file->columns.count) &&
           loading_add(read->loading, &new);
}

bool database_has(struct database_read *read, const struct readonly_table *table,
                  const char *column)
{
    if (readonly_column(table, column))
        return true;
    char *what = sqlite3_mprintf("table %s has no column %s", table->name, column);
    bool done = what ? readonly_damaged(read->readonly, what, NULL, read->failure)
                     : failure_memory(read->failure);
    sqlite3_free(what);
    return done;
}

bool database_each(struct database_read *read, struct readonly_table *table,
                   const char *const *columns, const char *only,
                   bool (*take)(struct database_read *read, const struct table_scan *scan))
{
    struct table_scan scan = {.statement = NULL};
    enum scanned scanned = SCANNED_FAILED;
    if (!table)
        return true;
    bool done = scan_open(&scan, read->readonly, table, columns, only, read->failure);
    while (done &&
           ((scanned = scan_next(&scan, read->failure)) == SCANNED_ROW || scanned == SCANNED_LONG))
        done = scanned == SCANNED_LONG || take(read, &scan);
    scan_close(&scan);
    return done && scanned == SCANNED_END && read->readonly->trouble.code == FAILURE_NONE;
}
