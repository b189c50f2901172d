#include <string.h>

#include "base/memory.h"
#include "log_loading.h"

enum { MOST_OPEN = 1024 };

/* Adds a span, in the innermost one that is open. */
static struct compile_span *add_span(struct log_loading *loading, uint32_t name, uint32_t id,
                                     int64_t ts)
{
    struct compile_log *log = loading->log;
    struct compile_process *process = loading_process(loading);
    uint32_t number = (uint32_t)log->span_count;
    if (number >= COMPILE_NONE - 1 ||
        !MEMORY_GROW(log->spans, log->span_capacity, log->span_count + 1)) {
        loading->failed = true;
        return NULL;
    }
    struct compile_span *span = &log->spans[log->span_count++];
    uint32_t parent = process->open_count > 0 ? process->open[process->open_count - 1]
                                              : COMPILE_NONE;
    *span = (struct compile_span){.process = loading->process,
                                  .next = COMPILE_NONE,
                                  .parent = parent,
                                  .compilation = COMPILE_NONE,
                                  .name = name,
                                  .id = id,
                                  .line = loading->record.line,
                                  .attempt = loading->attempt,
                                  .ts = ts,
                                  .dur = NUMBER_NONE,
                                  .self = NUMBER_NONE,
                                  .depth = (uint32_t)process->open_count};
    const struct name *text = compile_text(log, name);
    span->phase = compile_phase_of(text->text, text->length,
                                   parent == COMPILE_NONE ? COMPILE_NO_PHASE
                                                          : log->spans[parent].phase);
    list_append(&process->spans, number,
                number > 0 && process->spans.last != COMPILE_NONE
                    ? &log->spans[process->spans.last].next
                    : NULL);
    process->events++;
    return span;
}

static void begin_span(struct log_loading *loading, uint32_t name, uint32_t id, int64_t ts)
{
    struct compile_log *log = loading->log;
    struct compile_process *process = loading_process(loading);
    if (process->open_count == MOST_OPEN) {
        process->problems[LOG_EVENT]++;
        return;
    }
    struct compile_span *span = add_span(loading, name, id, ts);
    if (!span || !MEMORY_GROW(process->open, process->open_capacity, process->open_count + 1)) {
        loading->failed = true;
        return;
    }
    uint32_t number = (uint32_t)(span - log->spans);
    process->open[process->open_count++] = number;
    const struct name *text = compile_text(log, name);
    enum compile_part part = compile_part_of(text->text, text->length);
    if (span->depth > 0 || part == COMPILE_RUNTIME || id == NAME_NONE)
        return;
    uint32_t begun = loading_begin(loading, id, part, BEGINS_BY_SPAN);
    if (begun == COMPILE_NONE)
        return;
    log->spans[number].compilation = begun;
    log->compilations[begun].root = number;
}

/* CL5: ends the last open span of a name and id, else of the name. */
static void end_span(struct log_loading *loading, uint32_t name, uint32_t id, int64_t ts)
{
    struct compile_log *log = loading->log;
    struct compile_process *process = loading_process(loading);
    size_t found = SIZE_MAX;
    for (size_t i = process->open_count; i-- > 0;) {
        const struct compile_span *span = &log->spans[process->open[i]];
        if (span->name != name)
            continue;
        if (span->id == id) {
            found = i;
            break;
        }
        found = found == SIZE_MAX ? i : found;
    }
    if (found == SIZE_MAX) {
        process->problems[LOG_END_WITHOUT_BEGIN]++;
        return;
    }
    struct compile_span *span = &log->spans[process->open[found]];
    span->dur = ts > span->ts ? ts - span->ts : 0;
    if (span->compilation != COMPILE_NONE)
        log->compilations[span->compilation].done = true;
    process->open_count--;
    memmove(process->open + found, process->open + found + 1,
            (process->open_count - found) * sizeof *process->open);
}

/* CL4: the first event tells the clock. */
static void tell_clock(struct log_loading *loading, int64_t ts)
{
    struct compile_process *process = loading_process(loading);
    if (process->told != CLOCK_OF_EVENTS) {
        process->clock = log_clock_of(loading->record.local, ts);
        process->told = CLOCK_OF_EVENTS;
    }
    if (process->first_event == NUMBER_NONE || ts < process->first_event)
        process->first_event = ts;
    if (process->last_event == NUMBER_NONE || ts > process->last_event)
        process->last_event = ts;
}

void loading_event(struct log_loading *loading)
{
    enum { NAME, TS, PH, DUR, ARGS, KEYS };
    static const char *const keys[] = {"name", "ts", "ph", "dur", "args"};
    const struct log_record *record = &loading->record;
    struct compile_process *process = loading_process(loading);
    struct token event, values[KEYS], compile_id;
    int64_t ts = NUMBER_NONE;
    bool good = log_payload(record, &event) && *event.at == '{';
    if (good)
        scan_members(&event, keys, KEYS, values);
    if (good && values[TS].kind == TOKEN_BARE)
        ts = number_nanoseconds(values[TS].at, values[TS].length);
    uint32_t name = good ? log_name(&loading->log->texts, &loading->scratch, &values[NAME],
                                    &loading->failed)
                         : NAME_NONE;
    if (name == NAME_NONE || ts < 0 || ts > LOG_LATEST || values[PH].kind != TOKEN_TEXT ||
        values[PH].length != 1) {
        process->problems[LOG_EVENT] += record->has_payload && !loading->failed;
        return;
    }
    uint32_t id = loading->id;
    if (id == NAME_NONE && values[ARGS].kind == TOKEN_NESTED && *values[ARGS].at == '{' &&
        scan_member(&values[ARGS], "compile_id", &compile_id))
        id = log_name(&loading->log->texts, &loading->scratch, &compile_id, &loading->failed);
    process->frames_end = true;
    tell_clock(loading, ts);
    if (*values[PH].at == 'B') {
        begin_span(loading, name, id, ts);
    } else if (*values[PH].at == 'E') {
        end_span(loading, name, id, ts);
    } else {
        struct compile_span *span = add_span(loading, name, id, ts);
        int64_t dur = 0;
        if (values[DUR].kind == TOKEN_BARE)
            dur = number_nanoseconds(values[DUR].at, values[DUR].length);
        if (span) {
            span->instant = true;
            span->dur = dur > 0 && dur < LOG_LATEST ? dur : 0;
        }
    }
}
