#include "compile_log.h"

#include "base/memory.h"

bool compile_at_limit(const struct compile_log *log, const struct compilation *compilation)
{
    const struct name *reason = compile_text(log, compilation->fail_reason);
    return reason && (name_contains(reason, "recompile limit") ||
                      name_contains(reason, "recompile_limit") ||
                      name_contains(reason, "cache_size_limit"));
}

const char *compile_part_name(enum compile_part part)
{
    static const char *const names[] = {[COMPILE_FORWARD] = "forward",
                                        [COMPILE_BACKWARD] = "backward",
                                        [COMPILE_AHEAD] = "aot",
                                        [COMPILE_RUNTIME] = "runtime"};
    return names[part];
}

const char *compile_cache_name(enum compile_cache cache)
{
    static const char *const names[] = {[CACHE_UNKNOWN] = NULL,
                                        [CACHE_HIT] = "hit",
                                        [CACHE_BYPASS] = "bypass",
                                        [CACHE_MISS] = "miss"};
    return names[cache];
}

const char *compile_phase_name(enum compile_phase phase)
{
    static const char *const names[] = {[COMPILE_DYNAMO] = "dynamo",
                                        [COMPILE_AOT] = "aot",
                                        [COMPILE_INDUCTOR] = "inductor",
                                        [COMPILE_CODEGEN] = "codegen",
                                        [COMPILE_NO_PHASE] = NULL};
    return names[phase];
}

const char *compile_source_name(enum compile_source source)
{
    static const char *const names[] = {[BY_NOTHING] = NULL,
                                        [BY_EVENTS] = "events",
                                        [BY_METRICS] = "metrics",
                                        [BY_RECORDS] = "records",
                                        [BY_OPEN_END] = "open"};
    return names[source];
}

void compile_log_clear(struct compile_log *log)
{
    for (size_t i = 0; i < log->file_count; i++)
        memory_free(log->files[i].path);
    for (size_t i = 0; i < log->process_count; i++) {
        memory_free(log->processes[i].open);
        memory_free(log->processes[i].files);
        memory_free(log->processes[i].caches.bytes);
    }
    memory_free(log->files);
    memory_free(log->processes);
    memory_free(log->spans);
    memory_free(log->compilations);
    memory_free(log->breaks);
    memory_free(log->guards);
    names_clear(&log->texts);
    *log = (struct compile_log){.files = NULL};
}
