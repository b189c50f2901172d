#include "event_scan.h"

#include <math.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

#include "../analysis/summary.h"
#include "../reader/memory.h"
#include "../trace/annotations.h"
#include "../trace/order.h"

enum { ROUND = 1 << 13 /* rows passed over between two questions whether to stop */ };

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

/* Integers that a column must have one of. */
struct integers {
    bool given; /* else anything goes */
    int64_t *items;
    size_t count, capacity; /* ascending */
};

/* A file that is gone through. */
struct part {
    size_t member;
    const struct columns *columns;
    const uint32_t *rows;        /* in which order; NULL: as they are */
    size_t at, end;              /* what is left of them; descending, from the end */
    int64_t low, high;           /* ns: ts must be from the one to the other */
    int64_t limit;               /* ns: T13 */
    unsigned char *names_wanted; /* by id, bits of name_use; NULL: anything goes */
    unsigned char *steps_wanted; /* by index of the file's iterations; NULL: anything goes */
};

enum name_use { USE_NAME = 1, USE_CAT = 2 };

struct row_scan {
    struct event_rows *events;
    struct args_reader args;
    struct part *parts; /* a heap: the next row is of the first part */
    size_t part_count;
    bool begun;
    int64_t passed; /* rows passed over */

    /* What a row must have. */
    bool nothing;   /* none has it */
    unsigned kinds; /* a bit for each enum kind */
    bool phases[256];
    struct integers ranks, iterations, streams, numbers;
    const struct term *name, *cat, *file, *low, *high; /* while the scan begins */
    unsigned names_used;                               /* of enum name_use */

    int order; /* an event_column, or -1 */
    bool descending;
};

struct args_reader *event_scan_args(struct row_scan *scan)
{
    return &scan->args;
}

/* Forgets what was wanted, but not where args are read. */
static void clear(struct row_scan *scan)
{
    struct integers *lists[] = {&scan->ranks, &scan->iterations, &scan->streams, &scan->numbers};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        memory_free(lists[i]->items);
    for (size_t i = 0; i < scan->part_count; i++) {
        memory_free(scan->parts[i].names_wanted);
        memory_free(scan->parts[i].steps_wanted);
    }
    memory_free(scan->parts);
    *scan = (struct row_scan){.events = scan->events, .args = scan->args};
}

void event_scan_end(struct row_scan *scan)
{
    clear(scan);
    args_close(&scan->args);
    memory_free(scan);
}

/* The values of a term, which are one unless it is an IN: SQLITE_OK, SQLITE_DONE
** behind the last one, or what went wrong. */

static int first_value(const struct term *term, sqlite3_value **value)
{
    *value = term->value;
    return term->op == '*' ? sqlite3_vtab_in_first(term->value, value) : SQLITE_OK;
}

static int next_value(const struct term *term, sqlite3_value **value)
{
    return term->op == '*' ? sqlite3_vtab_in_next(term->value, value) : SQLITE_DONE;
}

/* Whether a value may be equal to texts that are not the same: what looks like a number
** is compared as one if the expression it comes from has that affinity. */
static bool looks_like_number(sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);
    return text && *text && text[strspn(text, " \t\n\v\f\r0123456789+-.eE")] == 0;
}

/* Whether all values of a term are numbers, or all texts, or NULL; and no other
** trouble. */
static int all_are(const struct term *term, bool texts, bool *all)
{
    sqlite3_value *value;
    int code = first_value(term, &value);
    for (*all = true; code == SQLITE_OK; code = next_value(term, &value)) {
        int type = sqlite3_value_type(value);
        if (texts ? type != SQLITE_TEXT || looks_like_number(value)
                  : type != SQLITE_INTEGER && type != SQLITE_FLOAT)
            *all = *all && type == SQLITE_NULL;
    }
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* The integers among the values of a term; a column of integers has no others. */
static int take_integers(struct row_scan *scan, const struct term *term, struct integers *integers)
{
    sqlite3_value *value;
    int code = all_are(term, false, &integers->given);
    if (code != SQLITE_OK || !integers->given)
        return code;
    code = first_value(term, &value);
    for (; code == SQLITE_OK; code = next_value(term, &value)) {
        int type = sqlite3_value_type(value);
        double real = sqlite3_value_double(value);
        if (type == SQLITE_NULL || (type == SQLITE_FLOAT && !(fabs(real) < 0x1p63)))
            continue;
        int64_t integer = type == SQLITE_FLOAT ? (int64_t)real : sqlite3_value_int64(value);
        if (!MEMORY_GROW(integers->items, integers->capacity, integers->count + 1))
            return SQLITE_NOMEM;
        integers->items[integers->count++] = integer;
    }
    integers->count = sort_integers(integers->items, integers->count);
    scan->nothing = scan->nothing || integers->count == 0;
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static bool has(const struct integers *integers, int64_t value)
{
    return !integers->given || has_integer(integers->items, integers->count, value);
}

/* Which phases, or kinds, the values of a term stand for. */
static int take_texts(struct row_scan *scan, const struct term *term)
{
    sqlite3_value *value;
    bool texts, phases[256] = {false};
    unsigned kinds = 0;
    int code = all_are(term, true, &texts);
    if (code != SQLITE_OK || !texts)
        return code;
    code = first_value(term, &value);
    for (; code == SQLITE_OK; code = next_value(term, &value)) {
        const char *text = (const char *)sqlite3_value_text(value);
        if (!text && sqlite3_value_type(value) != SQLITE_NULL)
            return SQLITE_NOMEM;
        if (!text)
            continue;
        phases[(unsigned char)text[0]] = true;
        for (unsigned kind = KIND_HOST; kind <= KIND_SYNC; kind++)
            if (strcmp(text, kind_is_device(kind) ? "GPU" : "CPU") == 0)
                kinds |= 1u << kind;
    }
    if (term->column == EVENTS_DEVICE)
        scan->kinds &= kinds;
    scan->nothing = scan->nothing || scan->kinds == 0;
    for (int c = 0; c < 256 && term->column == EVENTS_PH; c++)
        scan->phases[c] = scan->phases[c] && phases[c];
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* A term on a name or category, if it can be used; `*to` is it then. */
static int take_name(const struct term *term, const struct term **to)
{
    bool texts;
    int code = all_are(term, true, &texts);
    if (code == SQLITE_OK && texts)
        *to = term;
    return code;
}

static void take_bound(struct row_scan *scan, const struct term *term)
{
    int type = sqlite3_value_type(term->value);
    if (type == SQLITE_NULL)
        scan->nothing = true;
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
        return;
    if (term->op != '<')
        scan->low = term;
    if (term->op != '>')
        scan->high = term;
}

static int take_term(struct row_scan *scan, const struct term *term)
{
    switch (term->column) {
    case EVENTS_RANK:
        return take_integers(scan, term, &scan->ranks);
    case EVENTS_ITERATION:
        return take_integers(scan, term, &scan->iterations);
    case EVENTS_STREAM:
        return take_integers(scan, term, &scan->streams);
    case EVENTS_EVENT:
        return take_integers(scan, term, &scan->numbers);
    case EVENTS_NAME:
        return take_name(term, &scan->name);
    case EVENTS_CAT:
        return take_name(term, &scan->cat);
    case EVENTS_FILE:
        return take_name(term, &scan->file);
    case EVENTS_TS:
        take_bound(scan, term);
        return SQLITE_OK;
    default:
        return take_texts(scan, term);
    }
}

/* A bound on ts as ns: as wide as a double makes it, and beyond what is certain no
** bound at all. */
static int64_t bound(int64_t origin, const struct term *term, int direction)
{
    double ns = term ? sqlite3_value_double(term->value) * 1000 : INFINITY;
    ns += direction * (2 + fabs(ns) * 1e-12);
    if (!(fabs(ns) < 9e18))
        return direction < 0 ? INT64_MIN : INT64_MAX;
    wide_time sum = (wide_time)origin + (int64_t)ns;
    return sum < INT64_MIN ? INT64_MIN : sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
}

/* Marks the names of a file that a term has; a part of a file that has none is empty. */
static int mark_names(struct part *part, const struct names *names, const struct term *term,
                      enum name_use use)
{
    sqlite3_value *value;
    bool any = false;
    if (!part->names_wanted && !(part->names_wanted = memory_zeroed(names->count, 1)))
        return SQLITE_NOMEM;
    int code = first_value(term, &value);
    for (; code == SQLITE_OK; code = next_value(term, &value)) {
        const char *text = (const char *)sqlite3_value_text(value);
        if (!text && sqlite3_value_type(value) != SQLITE_NULL)
            return SQLITE_NOMEM;
        uint32_t id =
            text ? names_find(names, text, (size_t)sqlite3_value_bytes(value)) : NAME_NONE;
        if (id != NAME_NONE)
            part->names_wanted[id] |= (unsigned char)use;
        any = any || id != NAME_NONE;
    }
    if (!any)
        part->end = part->at;
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* Whether a term on the path has that of a file; a code of SQLite. */
static int has_path(const struct term *term, const char *path, bool *has)
{
    sqlite3_value *value;
    int code = first_value(term, &value);
    for (*has = false; code == SQLITE_OK; code = next_value(term, &value)) {
        const char *text = (const char *)sqlite3_value_text(value);
        if (!text && sqlite3_value_type(value) != SQLITE_NULL)
            return SQLITE_NOMEM;
        *has = *has || (text && strcmp(text, path) == 0);
    }
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* The order of a file's rows, and which of them are left, if it is one name's. */
static int take_order(const struct row_scan *scan, struct part *part, struct trace_file *file,
                      struct failure *failure)
{
    const struct stopper *stopper = &scan->events->database->cache.stopper;
    bool one_name =
        scan->name && scan->name->op == '=' && (scan->order < 0 || scan->order == EVENTS_NAME);
    enum order order = scan->order == EVENTS_TS    ? ORDER_TS
                       : scan->order == EVENTS_DUR ? ORDER_DUR
                                                   : ORDER_NAME;
    if (scan->order < 0 && !one_name)
        return SQLITE_OK;
    part->rows = order_rows(file, order, stopper, failure);
    if (!part->rows)
        return SQLITE_ERROR;
    if (!one_name)
        return SQLITE_OK;
    const char *text = (const char *)sqlite3_value_text(scan->name->value);
    size_t length = (size_t)sqlite3_value_bytes(scan->name->value);
    uint32_t name = text ? names_find(&file->names, text, length) : NAME_NONE;
    part->end = part->at;
    if (name != NAME_NONE)
        order_of_name(file, part->rows, name, &part->at, &part->end);
    return SQLITE_OK;
}

/* How many of a file's rows are of events before a number. */
static size_t rows_before(const struct columns *columns, int64_t number)
{
    size_t low = 0, high = columns->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (columns->event[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int make_part(struct row_scan *scan, size_t member, struct part *part,
                     struct failure *failure)
{
    struct trace_file *file = scan->events->trace.members[member].file;
    int64_t origin = scan->events->trace.origins[scan->events->trace.members[member].rank_index];
    int code = SQLITE_OK;
    *part = (struct part){.member = member,
                          .columns = &file->columns,
                          .end = file->columns.count,
                          .low = bound(origin, scan->low, -1),
                          .high = bound(origin, scan->high, 1),
                          .limit = INT64_MAX};
    if (scan->events->limits)
        part->limit = scan->events->limits[scan->events->trace.members[member].rank_index];
    if (scan->iterations.given) {
        part->steps_wanted = memory_zeroed(file->iteration_count, 1);
        if (!part->steps_wanted)
            return SQLITE_NOMEM;
        for (size_t i = 0; i < file->iteration_count; i++)
            part->steps_wanted[i] = has(&scan->iterations, file->iterations[i]);
    }
    if (scan->order < 0 && scan->numbers.given) {
        part->at = rows_before(part->columns, scan->numbers.items[0]);
        int64_t last = scan->numbers.items[scan->numbers.count - 1];
        part->end = rows_before(part->columns, last < INT64_MAX ? last + 1 : last);
    } else {
        code = take_order(scan, part, file, failure);
    }
    if (code == SQLITE_OK && scan->name)
        code = mark_names(part, &file->names, scan->name, USE_NAME);
    if (code == SQLITE_OK && scan->cat)
        code = mark_names(part, &file->names, scan->cat, USE_CAT);
    return code;
}

static bool id_wanted(const struct row_scan *scan, const struct part *part, uint32_t id,
                      enum name_use use)
{
    return !(scan->names_used & use) || (id != NAME_NONE && part->names_wanted[id] & use);
}

/* T4, T13: whether an analysis counts a row. Work and syncs go by their launch, if they
** have one. */
static bool row_analysed(const struct row_scan *scan, const struct part *part, size_t row)
{
    const struct columns *columns = part->columns;
    size_t by = row;
    if (!row_counts(columns, row) || part->limit == INT64_MAX)
        return row_counts(columns, row);
    if (columns->kind[row] == KIND_ANNOTATION)
        by = annotation_by(scan->events->trace.members[part->member].file, (uint32_t)row);
    else if (kind_is_device(columns->kind[row]) && columns->link[row] != ROW_NONE)
        by = columns->link[row];
    return columns->ts[by] < part->limit;
}

static bool row_wanted(const struct row_scan *scan, const struct part *part, size_t row)
{
    const struct columns *columns = part->columns;
    return scan->phases[columns->phase[row]] && scan->kinds >> columns->kind[row] & 1 &&
           columns->ts[row] >= part->low && columns->ts[row] <= part->high &&
           id_wanted(scan, part, columns->name[row], USE_NAME) &&
           id_wanted(scan, part, columns->cat[row], USE_CAT) &&
           (!part->steps_wanted || (columns->iteration[row] != STEP_NONE &&
                                    part->steps_wanted[columns->iteration[row]])) &&
           (!scan->events->limits ||
            (columns->ts[row] != NUMBER_NONE && row_analysed(scan, part, row))) &&
           has(&scan->streams, columns->stream[row]) && has(&scan->numbers, columns->event[row]);
}

/* The next row of a part that is not empty. */
static size_t next_row(const struct row_scan *scan, const struct part *part)
{
    size_t i = scan->descending ? part->end - 1 : part->at;
    return part->rows ? part->rows[i] : i;
}

static void drop_row(const struct row_scan *scan, struct part *part)
{
    if (scan->descending)
        part->end--;
    else
        part->at++;
}

/* Goes on to the next row of a part that is wanted. */
static int settle(struct row_scan *scan, struct part *part, struct failure *failure)
{
    for (; part->at < part->end && !row_wanted(scan, part, next_row(scan, part));
         drop_row(scan, part))
        if (++scan->passed % ROUND == 0 && database_interrupted(scan->events->database, failure))
            return SQLITE_INTERRUPT;
    return SQLITE_OK;
}

static int compare(wide_time x, wide_time y)
{
    return x < y ? -1 : x > y;
}

/* The time that a row has in the order of ts or dur, after a missing one. */
static wide_time time_of(const struct row_scan *scan, const struct part *part, size_t row)
{
    const struct trace *trace = &scan->events->trace;
    bool ts = scan->order == EVENTS_TS;
    int64_t time = ts ? part->columns->ts[row] : part->columns->dur[row];
    int64_t origin = ts ? trace->origins[trace->members[part->member].rank_index] : 0;
    if (time == NUMBER_NONE || origin == NUMBER_NONE)
        return (wide_time)INT64_MIN * 4;
    return (wide_time)time - origin;
}

static const struct name *name_of(const struct row_scan *scan, const struct part *part, size_t row)
{
    uint32_t id = part->columns->name[row];
    return id == NAME_NONE ? NULL
                           : &scan->events->trace.members[part->member].file->names.items[id];
}

/* Whether the next row of a part comes before that of another. */
static bool comes_first(const struct row_scan *scan, const struct part *a, const struct part *b)
{
    int order = 0;
    if (scan->order == EVENTS_NAME) {
        const struct name *x = name_of(scan, a, next_row(scan, a));
        const struct name *y = name_of(scan, b, next_row(scan, b));
        order = x && y ? name_compare(x, y) : (x != NULL) - (y != NULL);
    } else if (scan->order >= 0) {
        order = compare(time_of(scan, a, next_row(scan, a)), time_of(scan, b, next_row(scan, b)));
    }
    if (order != 0)
        return scan->descending ? order > 0 : order < 0;
    return a->member < b->member;
}

/* Lets a part sink in the heap to its place. */
static void sink(struct row_scan *scan, size_t i)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child + 1 < scan->part_count &&
            comes_first(scan, &scan->parts[child + 1], &scan->parts[child]))
            child++;
        if (child >= scan->part_count || !comes_first(scan, &scan->parts[child], &scan->parts[i]))
            return;
        struct part part = scan->parts[i];
        scan->parts[i] = scan->parts[child];
        scan->parts[child] = part;
        i = child;
    }
}

static void remove_part(struct row_scan *scan, size_t i)
{
    memory_free(scan->parts[i].names_wanted);
    memory_free(scan->parts[i].steps_wanted);
    scan->parts[i] = scan->parts[--scan->part_count];
}

static int make_parts(struct row_scan *scan, struct failure *failure)
{
    const struct trace *trace = &scan->events->trace;
    scan->parts = memory_zeroed(trace->count, sizeof *scan->parts);
    if (!scan->parts)
        return SQLITE_NOMEM;
    for (size_t i = 0; i < trace->count && !scan->nothing; i++) {
        if (!trace->members[i].chosen || !has(&scan->ranks, trace->members[i].rank))
            continue;
        bool wanted = true;
        int code = SQLITE_OK;
        if (scan->file)
            code = has_path(scan->file, trace->members[i].file->shown, &wanted);
        if (code != SQLITE_OK)
            return code;
        if (!wanted)
            continue;
        struct part *part = &scan->parts[scan->part_count++];
        code = make_part(scan, i, part, failure);
        if (code == SQLITE_OK)
            code = settle(scan, part, failure);
        if (code != SQLITE_OK)
            return code;
        if (part->at == part->end)
            remove_part(scan, scan->part_count - 1);
    }
    for (size_t i = scan->part_count; i-- > 0;)
        sink(scan, i);
    return SQLITE_OK;
}

int event_scan_begin(struct rows *rows, const struct wish *wish, struct row_scan **scan,
                     struct failure *failure)
{
    if (!*scan && !(*scan = memory_zeroed(1, sizeof **scan)))
        return SQLITE_NOMEM;
    struct row_scan *it = *scan;
    clear(it);
    it->events = (struct event_rows *)rows;
    it->kinds = ~0u;
    memcpy(it->phases, it->events->phases, sizeof it->phases);
    it->order = wish->order;
    it->descending = wish->descending;
    for (int i = 0; i < wish->term_count; i++) {
        int code = take_term(it, &wish->terms[i]);
        if (code != SQLITE_OK)
            return code;
    }
    it->names_used = (it->name ? USE_NAME : 0u) | (it->cat ? USE_CAT : 0u);
    int code = make_parts(it, failure);
    it->name = it->cat = it->file = it->low = it->high = NULL;
    return code;
}

int event_scan_next(struct row_scan *scan, struct position *position, bool *end,
                    struct failure *failure)
{
    if (scan->begun) {
        drop_row(scan, scan->parts);
        int code = settle(scan, scan->parts, failure);
        if (code != SQLITE_OK)
            return code;
        if (scan->parts->at == scan->parts->end)
            remove_part(scan, 0);
        if (scan->part_count > 1)
            sink(scan, 0);
    }
    scan->begun = true;
    *end = scan->part_count == 0;
    if (*end)
        return SQLITE_OK;
    size_t row = next_row(scan, scan->parts), member = scan->parts->member;
    *position =
        (struct position){(int64_t)(scan->events->first[member] + row), member, (int64_t)row};
    return SQLITE_OK;
}
