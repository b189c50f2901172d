#include "log_loading.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

static uint32_t *latest_of(struct log_loading *loading, uint32_t id, enum compile_part part)
{
    char key[64];
    int length = snprintf(key, sizeof key, "%lu %lu %d", (unsigned long)loading->process,
                          (unsigned long)id, (int)part);
    uint32_t number = names_intern(&loading->keys, key, (size_t)length);
    size_t had = loading->latest_capacity;
    if (number == NAME_NONE ||
        !MEMORY_GROW(loading->latest, loading->latest_capacity, (size_t)number + 1)) {
        loading->failed = true;
        return NULL;
    }
    for (; had < loading->latest_capacity; had++)
        loading->latest[had] = COMPILE_NONE;
    return &loading->latest[number];
}

/* The last compilation of an id and a part; COMPILE_NONE: there is none. */
static uint32_t latest_or_none(struct log_loading *loading, uint32_t id, enum compile_part part)
{
    const uint32_t *latest = id == NAME_NONE ? NULL : latest_of(loading, id, part);
    return latest ? *latest : COMPILE_NONE;
}

uint32_t loading_begin(struct log_loading *loading, uint32_t id, enum compile_part part,
                       enum compile_begin by)
{
    struct compile_log *log = loading->log;
    struct compile_process *process = loading_process(loading);
    uint32_t *latest = id == NAME_NONE ? NULL : latest_of(loading, id, part);
    uint32_t number = (uint32_t)log->compilation_count;
    if (!latest)
        return COMPILE_NONE;
    struct compilation *last = *latest == COMPILE_NONE ? NULL : &log->compilations[*latest];
    if (last && !(last->began & (unsigned)by) && (by == BEGINS_BY_METRICS || !last->done)) {
        last->began |= (unsigned)by;
        return *latest;
    }
    int64_t nth = last ? last->nth + 1 : 1;
    if (!MEMORY_GROW(log->compilations, log->compilation_capacity, log->compilation_count + 1)) {
        loading->failed = true;
        return COMPILE_NONE;
    }
    struct compilation *begun = &log->compilations[log->compilation_count++];
    memset(begun, 0xff, sizeof *begun); /* names, spans and other compilations: none */
    begun->process = loading->process;
    begun->id = id;
    begun->nth = nth;
    begun->attempts = 1;
    begun->line = loading->record.line;
    begun->part = part;
    begun->source = BY_NOTHING;
    begun->cache_aot = begun->cache_fx = CACHE_UNKNOWN;
    begun->began = (unsigned)by;
    begun->has_metrics = begun->done = false;
    const struct name *text = compile_text(log, id);
    begun->recompile = compile_number(text->text, text->length) > 0;
    begun->breaks = begun->restarts = 0;
    int64_t *unknown[] = {&begun->start,         &begun->dur,         &begun->first_local,
                          &begun->last_local,    &begun->start_local, &begun->metrics_start,
                          &begun->metrics_dur,   &begun->ops,         &begun->nodes,
                          &begun->guards};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        *unknown[i] = NUMBER_NONE;
    for (size_t i = 0; i < COMPILE_PHASES; i++)
        begun->phases[i] = begun->metrics_phases[i] = NUMBER_NONE;
    list_append(&process->found, number,
                process->found.last == COMPILE_NONE ? NULL
                                                    : &log->compilations[process->found.last].next);
    process->compilations++;
    return *latest = number;
}

uint32_t loading_current(struct log_loading *loading)
{
    const struct compile_process *process = loading_process(loading);
    const struct compile_log *log = loading->log;
    if (process->open_count > 0) {
        uint32_t root = log->spans[process->open[0]].compilation;
        if (root != COMPILE_NONE && log->compilations[root].id == loading->id)
            return root;
    }
    return latest_or_none(loading, loading->id, COMPILE_FORWARD);
}
