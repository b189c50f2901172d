/*
** What the columns of a file must be, whatever the file: rules T10 and T11
** word by word, and what ext/file/columns.h says of each.
*/
#ifndef TRACEDIFF_FUZZ_COLUMNS_H
#define TRACEDIFF_FUZZ_COLUMNS_H

#include "fuzz.h"
#include "loading/load.h"

static bool is_utf8(const char *text, size_t length)
{
    const unsigned char *p = (const unsigned char *)text, *end = p + length;
    while (p < end) {
        static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
        int more = *p < 0x80 ? 0 : *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : 1;
        uint32_t code = more ? *p & (0x3fU >> more) : *p;
        if ((*p >= 0x80 && *p < 0xc0) || *p > 0xf7 || end - p <= more)
            return false;
        p++;
        for (int i = 0; i < more; i++, p++) {
            if ((*p & 0xc0) != 0x80)
                return false;
            code = code << 6 | (*p & 0x3f);
        }
        if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            return false;
    }
    return true;
}

static bool is_call(const struct columns *columns, size_t row)
{
    return columns->kind[row] == KIND_CALL || columns->kind[row] == KIND_DRIVER_CALL;
}

/* T10, word by word: whether one call launches a device event rather than another. */
static bool rather(const struct columns *columns, uint32_t one, uint32_t other, int64_t start)
{
    int64_t a = columns->ts[one], b = columns->ts[other];
    if (columns->kind[one] != columns->kind[other])
        return columns->kind[one] == KIND_CALL;
    if ((a <= start) != (b <= start))
        return a <= start;
    if (a != b)
        return a <= start ? a > b : a < b;
    return one > other;
}

static bool any_launch; /* links by other numbers than correlations may be of any host event */

static void check_link(const struct trace_file *trace, uint32_t row)
{
    const struct columns *columns = &trace->columns;
    uint32_t link = columns->link[row], best = ROW_NONE;
    MUST(link == ROW_NONE || link < columns->count);
    if (!kind_is_device(columns->kind[row])) {
        bool launches =
            any_launch || is_call(columns, row) || row_is(trace, row, CATEGORY_OPERATOR);
        MUST(link == ROW_NONE || (launches && columns->link[link] == row));
        return;
    }
    for (uint32_t i = 0; columns->correlation[row] > 0 && i < columns->count; i++)
        if (is_call(columns, i) && columns->ts[i] != NUMBER_NONE &&
            columns->correlation[i] == columns->correlation[row] &&
            (best == ROW_NONE || rather(columns, i, best, columns->ts[row])))
            best = i;
    MUST(link == best ||
         (best == ROW_NONE && (any_launch ? !kind_is_device(columns->kind[link])
                                          : row_is(trace, link, CATEGORY_OPERATOR))));
    if (link == ROW_NONE)
        return;
    uint32_t first = columns->link[link];
    MUST(first < columns->count && columns->link[first] == link);
    if (columns->ts[row] != NUMBER_NONE)
        MUST(columns->ts[first] != NUMBER_NONE && columns->ts[first] <= columns->ts[row]);
}

/* T11, word by word, but for annotations. */
static void check_iteration(const struct trace_file *trace, uint32_t row)
{
    const struct columns *columns = &trace->columns;
    const struct steps *steps = &trace->profiler_steps;
    const struct step *best = NULL;
    uint32_t iteration = step_of(steps, row);
    bool device = kind_is_device(columns->kind[row]);
    uint32_t from = device ? columns->link[row] : row;
    MUST(iteration == STEP_NONE || iteration < steps->iteration_count);
    if (columns->kind[row] == KIND_ANNOTATION)
        return;
    for (size_t i = 0; from != ROW_NONE && i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        if (step->start <= columns->ts[from] && columns->ts[from] < step->end &&
            (!best || step->start >= best->start))
            best = step;
    }
    MUST(iteration == (best ? best->iteration : STEP_NONE));
}

static void check_steps(const struct trace_file *trace, const struct steps *steps)
{
    const struct columns *columns = &trace->columns;
    for (size_t i = 1; i < steps->iteration_count; i++)
        MUST(steps->iterations[i - 1] < steps->iterations[i]);
    for (size_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        MUST(step->row < columns->count && step->iteration < steps->iteration_count);
        MUST(i == 0 || step[-1].row < step->row);
        MUST(step->start == columns->ts[step->row]);
        MUST(steps->by_annotation || step->end - step->start == columns->dur[step->row]);
        MUST(step->form == NAME_NONE || step->form < trace->names.count);
    }
}

static void check_file(const struct trace_file *trace)
{
    const struct columns *columns = &trace->columns;
    for (uint32_t id = 0; id < trace->names.count; id++) {
        const struct name *name = &trace->names.items[id];
        MUST(is_utf8(name->text, name->length) && name->text[name->length] == 0);
        MUST(names_find(&trace->names, name->text, name->length) == id);
    }
    check_steps(trace, &trace->profiler_steps);
    if (trace->known_steps)
        check_steps(trace, trace->known_steps);
    for (uint32_t row = 0; row < columns->count; row++) {
        MUST(columns->event[row] < trace->events);
        MUST(row == 0 || columns->event[row - 1] < columns->event[row]);
        MUST(columns->name[row] == NAME_NONE || columns->name[row] < trace->names.count);
        MUST(row_place(columns, row)->cat == NAME_NONE ||
             row_place(columns, row)->cat < trace->names.count);
        MUST(row_place(columns, row)->track < trace->tracks.count);
        MUST(columns->dur[row] == NUMBER_NONE || columns->dur[row] >= 0);
        MUST(columns->kind[row] <= KIND_SYNC && trace->phases[row_place(columns, row)->phase]);
        if (columns->count <= 2000) {
            check_link(trace, row);
            check_iteration(trace, row);
        }
    }
}

static void put_file(struct text *text, const struct trace_file *trace)
{
    const struct columns *columns = &trace->columns;
    const void *const numbers[] = {columns->ts, columns->dur, columns->correlation};
    const uint32_t *const ids[] = {columns->name, columns->place, columns->event, columns->link};
    for (size_t i = 0; i < 3; i++)
        put_array(text, numbers[i], columns->count, sizeof(int64_t));
    for (size_t i = 0; i < 4; i++)
        put_array(text, ids[i], columns->count, sizeof(uint32_t));
    if (trace->profiler_steps.of)
        put_array(text, trace->profiler_steps.of, columns->count, sizeof(uint32_t));
    for (size_t i = 0; i < columns->places.count; i++) {
        const struct place *place = &columns->places.items[i];
        put_number(text, place->stream);
        put_number(text, (int64_t)place->track << 32 | place->cat);
        put_number(text, place->phase);
    }
    put_array(text, columns->kind, columns->count, 1);
    put_array(text, trace->profiler_steps.iterations, trace->profiler_steps.iteration_count,
              sizeof(int64_t));
    put(text, &trace->problems, sizeof trace->problems);
    for (size_t i = 0; i < trace->names.count; i++)
        put_array(text, trace->names.items[i].text, trace->names.items[i].length, 1);
    for (size_t i = 0; i < trace->tracks.count; i++) {
        put_number(text, trace->tracks.items[i].pid.value);
        put_number(text, trace->tracks.items[i].tid.value);
    }
    put_number(text, trace->first);
    put_number(text, trace->last);
    put_number(text, trace->backlog);
    put_number(text, trace->unlaunched);
}

#endif
