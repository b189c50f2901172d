#include "compile_load.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "log_loading.h"
#include "paths/directory.h"
#include "paths/file_name.h"
#include "platform/path.h"

/* CL3: a number above this one is of a thread, not of a process. */
enum { LAST_PID = 4194304, MOST_PROCESSES = 1 << 12 };

/* The process of the record's number, which is added if it is new. */
static bool find_process(struct log_loading *loading)
{
    struct compile_log *log = loading->log;
    struct compile_file *file = &log->files[log->file_count - 1];
    int64_t number = loading->record.pid > LAST_PID ? LAST_PID + 1 : loading->record.pid;
    if (file->process_count > 0 && loading_process(loading)->number == number)
        return true;
    for (uint32_t i = 0; i < file->process_count; i++) {
        loading->process = file->first_process + i;
        if (loading_process(loading)->number == number)
            return true;
    }
    if (file->process_count == MOST_PROCESSES)
        return true; /* the rest counts as the last one's */
    if (!MEMORY_GROW(log->processes, log->process_capacity, log->process_count + 1))
        return failure_memory(loading->failure);
    loading->process = (uint32_t)log->process_count;
    file->process_count++;
    log->processes[log->process_count++] =
        (struct compile_process){.file = (uint32_t)log->file_count - 1,
                                 .number = number,
                                 .pid = number > LAST_PID ? NUMBER_NONE : number,
                                 .rank = NUMBER_NONE,
                                 .version = NAME_NONE,
                                 .first_local = NUMBER_NONE,
                                 .last_local = NUMBER_NONE,
                                 .first_event = NUMBER_NONE,
                                 .last_event = NUMBER_NONE,
                                 .spans = {COMPILE_NONE, COMPILE_NONE},
                                 .found = {COMPILE_NONE, COMPILE_NONE},
                                 .breaks = {COMPILE_NONE, COMPILE_NONE},
                                 .guards = {COMPILE_NONE, COMPILE_NONE}};
    return true;
}

/* Counts a record, what is wrong with its payload, and its rank. */
static void count(struct log_loading *loading)
{
    struct compile_process *process = loading_process(loading);
    int64_t rank = log_integer(&loading->record.members[LOG_RANK]);
    int64_t local = loading->record.local;
    process->records++;
    for (size_t i = 0; i < LOG_PROBLEMS; i++)
        process->problems[i] += loading->reader.of_payload[i];
    if (process->rank == NUMBER_NONE)
        process->rank = rank;
    process->problems[LOG_RANKS] += rank != NUMBER_NONE && rank != process->rank;
    if (scan_equal(&loading->record.kind, "chromium_event"))
        return; /* it has a time of its own */
    if (process->first_local == NUMBER_NONE || local < process->first_local)
        process->first_local = local;
    if (process->last_local == NUMBER_NONE || local > process->last_local)
        process->last_local = local;
}

static bool read_records(struct log_loading *loading)
{
    struct failure *failure = loading->failure;
    enum log_read read;
    char id[LOG_ID_SIZE];
    while ((read = log_next(&loading->reader, &loading->record, failure)) == LOG_RECORD) {
        if (!find_process(loading))
            return false;
        size_t length = log_id(&loading->record, id);
        loading->id = length > 0 ? log_intern(&loading->log->texts, id, length, &loading->failed)
                                 : NAME_NONE;
        int64_t attempt = log_integer(&loading->record.members[LOG_ATTEMPT]);
        loading->attempt = attempt > 0 ? attempt : 0;
        count(loading);
        loading_record(loading);
        if (loading->failed)
            return failure_memory(failure);
    }
    return read == LOG_END;
}

/* What is known of a file's processes once it has been read: CL3. */
static void end_file(struct log_loading *loading)
{
    struct compile_log *log = loading->log;
    struct compile_file *file = &log->files[log->file_count - 1];
    struct compile_process *processes = &log->processes[file->first_process];
    file->lines = loading->reader.lines;
    for (uint32_t i = 0; i < file->process_count; i++) {
        struct compile_process *process = &processes[i];
        process->problems[LOG_BEGIN_WITHOUT_END] += (int64_t)process->open_count;
        memory_free(process->open);
        memory_free(process->files);
        process->open = process->files = NULL;
        if (file->process_count > 1 || file->rank < 0)
            continue;
        process->problems[LOG_RANKS] +=
            process->rank != NUMBER_NONE && process->rank != file->rank;
        process->rank = file->rank;
    }
    for (size_t i = 0; i < LOG_PROBLEMS; i++)
        processes->problems[i] += loading->reader.problems[i];
}

bool compile_load_file(struct compile_log *log, const char *path, bool listed,
                       const struct stopper *stopper, struct failure *failure)
{
    struct log_loading loading = {.log = log, .failure = failure};
    if (!MEMORY_GROW(log->files, log->file_capacity, log->file_count + 1))
        return failure_memory(failure);
    struct compile_file *file = &log->files[log->file_count];
    *file = (struct compile_file){.path = path_joined(path, "", ""),
                                  .first_process = (uint32_t)log->process_count,
                                  .listed = listed};
    if (!file->path)
        return failure_memory(failure);
    log->file_count++;
    file->name = path_name(file->path);
    file->rank = path_rank(file->path);
    bool done = log_open(&loading.reader, file->path, stopper, failure);
    if (done) {
        file->size = source_identity(loading.reader.in.source)->size;
        done = read_records(&loading);
    }
    if (done && loading.reader.records == 0 && loading.reader.lines > 0 && !listed)
        done = failure_set(failure, FAILURE_REQUEST, "'%s' is not a log of TORCH_TRACE", path);
    if (done && file->process_count == 0) { /* a row says what is wrong with the file */
        loading.record.pid = -1;
        done = find_process(&loading);
        if (done)
            loading_process(&loading)->pid = NUMBER_NONE;
    }
    if (done)
        end_file(&loading);
    log_close(&loading.reader);
    names_clear(&loading.keys);
    memory_free(loading.latest);
    memory_free(loading.scratch.text);
    return done;
}

/* CL5: the ends of spans, in which inner ones end, too, and their own times. */
static bool end_spans(struct compile_log *log, const struct stopper *stopper,
                      struct failure *failure)
{
    for (size_t i = 0; i < log->span_count; i++) {
        struct compile_span *span = &log->spans[i];
        struct compile_span *parent =
            span->parent == COMPILE_NONE ? NULL : &log->spans[span->parent];
        if (!stopper_goes_on(stopper, i, failure))
            return false;
        span->chained = span->dur != NUMBER_NONE && (!parent || parent->chained);
        span->self = span->dur;
        if (!parent || span->dur == NUMBER_NONE || parent->dur == NUMBER_NONE)
            continue;
        int64_t first = span->ts > parent->ts ? span->ts : parent->ts;
        int64_t end = span->ts + span->dur, last = parent->ts + parent->dur;
        int64_t within = (end < last ? end : last) - first;
        within = within < 0 ? 0 : within < parent->self ? within : parent->self;
        span->self = within;
        parent->self -= within;
    }
    return true;
}

/* Adds up the phases of compilations by their spans (CL7). */
static void add_phases(struct compile_log *log)
{
    for (size_t i = 0; i < log->span_count; i++) {
        const struct compile_span *span = &log->spans[i], *root = span;
        if (!span->chained || span->phase == COMPILE_NO_PHASE)
            continue;
        while (root->parent != COMPILE_NONE)
            root = &log->spans[root->parent];
        if (root->compilation != COMPILE_NONE &&
            log->compilations[root->compilation].source == BY_EVENTS)
            log->compilations[root->compilation].phases[span->phase] += span->self;
    }
}

void compile_times(struct compile_log *log, struct compile_process *process)
{
    for (uint32_t i = process->found.first; i != COMPILE_NONE; i = log->compilations[i].next) {
        struct compilation *of = &log->compilations[i];
        const struct compile_span *root =
            of->root == COMPILE_NONE ? NULL : &log->spans[of->root];
        if (root && root->dur != NUMBER_NONE) {
            of->source = BY_EVENTS;
            of->start = root->ts;
            of->dur = root->dur;
            memset(of->phases, 0, sizeof of->phases);
        } else if (of->has_metrics && of->metrics_dur != NUMBER_NONE) {
            of->source = BY_METRICS;
            of->start = of->metrics_start;
            of->dur = of->metrics_dur;
            memcpy(of->phases, of->metrics_phases, sizeof of->phases);
        } else if (root) {
            of->source = BY_OPEN_END;
            of->start = root->ts;
            of->dur = process->last_event - root->ts;
        } else if (process->clock.known && of->first_local != NUMBER_NONE) {
            of->source = BY_RECORDS;
            of->start = log_time(&process->clock, of->first_local);
            of->dur = log_time(&process->clock, of->last_local) - of->start;
        }
    }
}

/* CL8: names the functions of compilations whose metrics do not. */
static bool name_functions(struct compile_log *log, const struct stopper *stopper,
                           struct failure *failure)
{
    struct names frames = {.items = NULL};
    uint32_t *known = memory_filled(log->compilation_count, sizeof *known);
    bool done = known || failure_memory(failure);
    for (size_t i = 0; done && i < log->compilation_count; i++) {
        struct compilation *of = &log->compilations[i];
        bool ends = log->processes[of->process].frames_end;
        char key[128];
        if (!stopper_goes_on(stopper, i, failure)) {
            done = false;
            break;
        }
        of->caller = ends ? of->outer_caller : of->inner_caller;
        if (of->function == NAME_NONE && ends && of->last_function != NAME_NONE) {
            of->function = of->last_function;
            of->file = of->last_file;
            of->place = of->last_place;
        }
        const char *id = compile_text(log, of->id)->text, *slash = strrchr(id, '/');
        int length = snprintf(key, sizeof key, "%lu %.*s", (unsigned long)of->process,
                              slash ? (int)(slash - id) : 0, id);
        uint32_t frame = names_intern(&frames, key,
                                      length < (int)sizeof key ? (size_t)length : 0);
        if (frame == NAME_NONE)
            done = failure_memory(failure);
        else if (of->function != NAME_NONE)
            known[frame] = (uint32_t)i;
        else if (known[frame] != COMPILE_NONE) {
            of->function = log->compilations[known[frame]].function;
            of->file = log->compilations[known[frame]].file;
            of->place = log->compilations[known[frame]].place;
        }
    }
    memory_free(known);
    names_clear(&frames);
    return done;
}

bool compile_load_end(struct compile_log *log, const struct stopper *stopper,
                      struct failure *failure)
{
    if (!end_spans(log, stopper, failure))
        return false;
    for (size_t i = 0; i < log->process_count; i++)
        compile_times(log, &log->processes[i]);
    add_phases(log);
    return name_functions(log, stopper, failure);
}
