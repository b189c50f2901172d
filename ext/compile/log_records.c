#include <string.h>

#include "base/memory.h"
#include "log_loading.h"
#include "log_words.h"
#include "naming/python_path.h"
#include "text/ascii.h"

static uint32_t intern_written(struct log_loading *loading, struct writer *text)
{
    bool none = text->length == 0;
    uint32_t id = none ? NAME_NONE
                       : log_intern(&loading->log->texts, text->bytes, text->length,
                                    &loading->failed);
    loading->failed = loading->failed || text->failed;
    writer_clear(text);
    return id;
}

static struct log_words words_of(const struct name *name)
{
    static const char none[] = "";
    return name ? (struct log_words){name->text, name->text + name->length}
                : (struct log_words){none, none};
}

/* `path:line`, and the name of a function if there is one. */
static uint32_t place_of(struct log_loading *loading, uint32_t path, int64_t line, uint32_t name)
{
    struct writer text = {0};
    if (path == NAME_NONE || line == NUMBER_NONE)
        return NAME_NONE;
    write_place(&text, words_of(compile_text(loading->log, path)), line,
                words_of(compile_text(loading->log, name)));
    return intern_written(loading, &text);
}

/* The last two components of a path. */
static uint32_t brief_of(struct log_loading *loading, uint32_t path)
{
    struct writer text = {0};
    if (path == NAME_NONE)
        return NAME_NONE;
    write_place(&text, words_of(compile_text(loading->log, path)), 0, words_of(NULL));
    text.length -= text.failed ? 0 : strlen(":0");
    return intern_written(loading, &text);
}

/* Keeps file name N: {"str": [TEXT, N]}. */
static void take_file_name(struct log_loading *loading)
{
    enum { MOST_FILES = 1 << 20 };
    struct compile_process *process = loading_process(loading);
    const unsigned char *p = NULL;
    struct token name, number;
    if (!log_item(&loading->record.value, &p, &name) ||
        !log_item(&loading->record.value, &p, &number))
        return;
    int64_t at = log_integer(&number);
    size_t had = process->file_capacity;
    if (at < 0 || at >= MOST_FILES)
        return;
    if (!MEMORY_GROW(process->files, process->file_capacity, (size_t)at + 1)) {
        loading->failed = true;
        return;
    }
    for (; had < process->file_capacity; had++)
        process->files[had] = NAME_NONE;
    process->files[at] =
        log_name(&loading->log->texts, &loading->scratch, &name, &loading->failed);
}

/* A frame of a stack. */
struct log_frame {
    uint32_t file, name;
    int64_t line;
};

static struct log_frame read_frame(struct log_loading *loading, const struct token *token)
{
    enum { LINE, NAME, FILE_NAME, KEYS };
    static const char *const keys[] = {"line", "name", "filename"};
    const struct compile_process *process = loading_process(loading);
    struct log_frame frame = {NAME_NONE, NAME_NONE, NUMBER_NONE};
    struct token values[KEYS];
    if (token->kind != TOKEN_NESTED || *token->at != '{')
        return frame;
    scan_members(token, keys, KEYS, values);
    int64_t number = log_integer(&values[FILE_NAME]);
    frame.line = log_integer(&values[LINE]);
    frame.name =
        log_name(&loading->log->texts, &loading->scratch, &values[NAME], &loading->failed);
    if (number >= 0 && (size_t)number < process->file_capacity)
        frame.file = process->files[number];
    else
        frame.file = log_name(&loading->log->texts, &loading->scratch, &values[FILE_NAME],
                              &loading->failed);
    return frame;
}

static bool is_users(const struct log_loading *loading, const struct log_frame *frame)
{
    const struct name *file = compile_text(loading->log, frame->file);
    return file && path_is_users(file->text, file->text + file->length);
}

/* CL8: the frames of dynamo_start: the last one, and the user's, or else the last, before it. */
static void take_start(struct log_loading *loading)
{
    struct compile_log *log = loading->log;
    struct log_frame last = {NAME_NONE, NAME_NONE, NUMBER_NONE}, outer = last, inner = last;
    struct token stack, item;
    const unsigned char *p = NULL;
    size_t count = 0;
    bool user = false;
    uint32_t number = loading->attempt == 0 ? loading_begin(loading, loading->id, COMPILE_FORWARD,
                                                            BEGINS_BY_START)
                                            : loading_current(loading);
    if (number == COMPILE_NONE)
        return;
    if (loading->attempt == 0)
        log->compilations[number].start_local = loading->record.local;
    if (log->compilations[number].last_place != NAME_NONE ||
        loading->record.value.kind != TOKEN_NESTED || *loading->record.value.at != '{' ||
        !scan_member(&loading->record.value, "stack", &stack))
        return;
    for (; log_item(&stack, &p, &item); count++) {
        outer = inner;
        last = read_frame(loading, &item);
        bool own = is_users(loading, &last);
        inner = own || !user ? last : inner;
        user = user || own;
    }
    struct compilation *compilation = &log->compilations[number];
    if (count == 0)
        return;
    compilation->last_function = last.name;
    compilation->last_file = brief_of(loading, last.file);
    compilation->last_place = place_of(loading, last.file, last.line, NAME_NONE);
    compilation->outer_caller = place_of(loading, outer.file, outer.line, outer.name);
    compilation->inner_caller = place_of(loading, inner.file, inner.line, inner.name);
}

/* Adds a break, without its texts. */
static struct compile_break *add_break(struct log_loading *loading, uint32_t compilation)
{
    struct compile_log *log = loading->log;
    if (!MEMORY_GROW(log->breaks, log->break_capacity, log->break_count + 1)) {
        loading->failed = true;
        return NULL;
    }
    struct compile_list *list = &loading_process(loading)->breaks;
    uint32_t number = (uint32_t)log->break_count++;
    struct compile_break *added = &log->breaks[number];
    list_append(list, number, list->last == COMPILE_NONE ? NULL : &log->breaks[list->last].next);
    *added = (struct compile_break){.compilation = compilation,
                                    .next = COMPILE_NONE,
                                    .attempt = loading->attempt,
                                    .place = NAME_NONE,
                                    .reason = NAME_NONE,
                                    .explanation = NAME_NONE,
                                    .stack = NAME_NONE};
    return added;
}

static void take_break(struct log_loading *loading)
{
    const struct log_record *record = &loading->record;
    uint32_t number = loading_current(loading);
    struct compile_break *added = number == COMPILE_NONE ? NULL : add_break(loading, number);
    struct writer place = {0}, reason = {0}, explanation = {0}, stack = {0};
    if (!added)
        return;
    const char *text = (const char *)record->payload;
    write_break((struct log_words){text, text + record->payload_length}, &place, &reason,
                &explanation, &stack);
    added->place = intern_written(loading, &place);
    added->reason = intern_written(loading, &reason);
    added->explanation = intern_written(loading, &explanation);
    added->stack = intern_written(loading, &stack);
    loading->log->compilations[number].breaks++;
}

static uint32_t squeezed(struct log_loading *loading, const struct token *token)
{
    struct writer text = {0};
    bool is_text = token->kind == TOKEN_TEXT || token->kind == TOKEN_ODD_TEXT;
    const char *words = is_text ? log_text(&loading->scratch, token) : NULL;
    loading->failed = loading->failed || (is_text && !words);
    const char *why = words ? strstr(words, "\n  Explanation: ") : NULL;
    why = words && !why ? words + loading->scratch.length : why;
    if (words)
        write_squeezed(&text, (struct log_words){words, why});
    return intern_written(loading, &text);
}

/* Takes restart_reasons: breaks, unless artifacts say more of these (CL10). */
static void take_restarts(struct log_loading *loading, uint32_t compilation,
                          const struct token *reasons)
{
    const unsigned char *p = NULL;
    struct token item;
    for (int64_t i = 0; log_item(reasons, &p, &item); i++) {
        uint32_t reason = squeezed(loading, &item);
        struct compile_break *added = add_break(loading, compilation);
        if (!added)
            return;
        added->attempt = i;
        added->reason = reason;
        added->restart = true;
        loading->log->compilations[compilation].restarts++;
    }
}

static int64_t less(int64_t a, int64_t b)
{
    return a == NUMBER_NONE || b == NUMBER_NONE ? a : a - b;
}

/* Takes the times of metrics (CL6, CL7). */
static void take_times(struct compilation *compilation, const int64_t *seconds,
                       int64_t microseconds)
{
    enum { START, ENTIRE, BACKEND, INDUCTOR, CODEGEN };
    int64_t dur = seconds[ENTIRE];
    if (dur == NUMBER_NONE && microseconds >= 0 && microseconds < LOG_LATEST / 1000)
        dur = microseconds * 1000;
    int64_t codegen = seconds[CODEGEN], inductor = seconds[INDUCTOR], backend = seconds[BACKEND];
    codegen = codegen == NUMBER_NONE ? 0 : codegen;
    inductor = inductor == NUMBER_NONE ? codegen : inductor;
    backend = backend == NUMBER_NONE ? inductor : backend;
    compilation->metrics_start = seconds[START];
    compilation->metrics_dur = dur;
    compilation->metrics_phases[COMPILE_DYNAMO] = less(dur, backend);
    compilation->metrics_phases[COMPILE_AOT] = backend - inductor;
    compilation->metrics_phases[COMPILE_INDUCTOR] = inductor - codegen;
    compilation->metrics_phases[COMPILE_CODEGEN] = codegen;
}

static void take_metrics(struct log_loading *loading, enum compile_part part)
{
    enum { START, ENTIRE, BACKEND, INDUCTOR, CODEGEN, TIMES };
    enum { US = TIMES, NAME, FILE_NAME, LINE, FAIL_TYPE, FAIL_REASON, RESTARTS, OPS, NODES,
           GUARDS, KEYS };
    static const char *const keys[] = {
        "start_time", "entire_frame_compile_time_s", "backend_compile_time_s",
        "inductor_compile_time_s", "code_gen_time_s", "duration_us", "co_name", "co_filename",
        "co_firstlineno", "fail_type", "fail_reason", "restart_reasons", "graph_op_count",
        "graph_node_count", "guard_count"};
    struct compile_process *process = loading_process(loading);
    struct names *texts = &loading->log->texts;
    struct token values[KEYS];
    int64_t seconds[TIMES];
    if (loading->record.value.kind != TOKEN_NESTED || *loading->record.value.at != '{')
        return;
    scan_members(&loading->record.value, keys, KEYS, values);
    uint32_t number = loading_begin(loading, loading->id, part, BEGINS_BY_METRICS);
    if (number == COMPILE_NONE)
        return;
    for (size_t i = 0; i < TIMES; i++)
        seconds[i] = log_seconds(&values[i]);
    uint32_t file = log_name(texts, &loading->scratch, &values[FILE_NAME], &loading->failed);
    uint32_t place = place_of(loading, file, log_integer(&values[LINE]), NAME_NONE);
    uint32_t brief = brief_of(loading, file);
    struct compilation *compilation = &loading->log->compilations[number];
    compilation->has_metrics = true;
    process->frames_end = true;
    take_times(compilation, seconds, log_integer(&values[US]));
    compilation->function = log_name(texts, &loading->scratch, &values[NAME], &loading->failed);
    compilation->file = brief;
    compilation->place = place;
    compilation->fail_type = squeezed(loading, &values[FAIL_TYPE]);
    compilation->fail_reason = squeezed(loading, &values[FAIL_REASON]);
    compilation->ops = log_integer(&values[OPS]);
    compilation->nodes = log_integer(&values[NODES]);
    compilation->guards = log_integer(&values[GUARDS]);
    take_restarts(loading, number, &values[RESTARTS]);
    if (process->told == CLOCK_NONE && seconds[START] > 0 && seconds[ENTIRE] >= 0 &&
        seconds[START] + seconds[ENTIRE] <= LOG_LATEST) {
        process->told = CLOCK_OF_METRICS;
        process->clock = log_clock_of(loading->record.local, seconds[START] + seconds[ENTIRE]);
    }
}

/* CL9: the newest reason is the first of an array, or the whole payload. */
static void take_reasons(struct log_loading *loading)
{
    const struct log_record *record = &loading->record;
    uint32_t number =
        loading_begin(loading, loading->id, COMPILE_FORWARD, BEGINS_BY_REASONS);
    struct token array, item;
    const unsigned char *p = NULL;
    const char *text = (const char *)record->payload;
    size_t length = record->payload_length;
    if (number == COMPILE_NONE)
        return;
    loading->log->compilations[number].recompile = true;
    if (log_payload(record, &array) && log_item(&array, &p, &item)) {
        text = log_text(&loading->scratch, &item);
        loading->failed = loading->failed || !text;
        length = text ? loading->scratch.length : 0;
    }
    if (length == 0) /* then there may be no text */
        return;
    struct log_words all = {text, text + length}, line;
    struct writer guard = {0}, argument = {0}, place = {0};
    if (!next_words(&all, &line))
        return;
    write_reason(line, &guard, &argument, &place);
    uint32_t ids[] = {intern_written(loading, &guard), intern_written(loading, &argument),
                      intern_written(loading, &place)};
    struct compilation *compilation = &loading->log->compilations[number];
    compilation->guard = ids[0];
    compilation->argument = ids[1];
    compilation->guard_place = ids[2];
}

static void add_guard(struct log_loading *loading, uint32_t compilation, struct log_words line,
                      int64_t number)
{
    struct compile_log *log = loading->log;
    struct writer guard = {0}, place = {0};
    if (!MEMORY_GROW(log->guards, log->guard_capacity, log->guard_count + 1)) {
        loading->failed = true;
        return;
    }
    write_guard(line, &guard, &place);
    uint32_t ids[] = {intern_written(loading, &guard), intern_written(loading, &place)};
    struct compile_list *list = &loading_process(loading)->guards;
    uint32_t added = (uint32_t)log->guard_count++;
    list_append(list, added, list->last == COMPILE_NONE ? NULL : &log->guards[list->last].next);
    log->guards[added] =
        (struct compile_guard){compilation, COMPILE_NONE, ids[0], ids[1], number};
}

/* The guard of a line such as `| +- TYPE_MATCH: GUARD`; false: it has none. */
static bool find_guard(struct log_words *line)
{
    const char *p = line->p, *from;
    while (p < line->end && (*p == '|' || *p == ' '))
        p++;
    if (!begins(p, line->end, "+- "))
        return false;
    for (from = p += strlen("+- "); p < line->end && (is_capital(*p) || is_digit(*p) || *p == '_');)
        p++;
    if (p == from || !begins(p, line->end, ": "))
        return false;
    line->p = p + 2;
    return true;
}

/* Takes the guards of dynamo_cpp_guards_str, lines of a tree, or of dynamo_guards, JSON. */
static void take_guards(struct log_loading *loading, bool is_json)
{
    const struct log_record *record = &loading->record;
    uint32_t compilation = loading_current(loading);
    const char *text = (const char *)record->payload;
    struct log_words all = {text, text + record->payload_length}, line;
    struct token array, item, code;
    const unsigned char *p = NULL;
    int64_t number = 0;
    if (compilation == COMPILE_NONE || record->payload_length == 0)
        return;
    if (!is_json) {
        while (next_words(&all, &line))
            if (find_guard(&line))
                add_guard(loading, compilation, line, number++);
        return;
    }
    if (!log_payload(record, &array))
        return;
    while (log_item(&array, &p, &item)) {
        if (item.kind != TOKEN_NESTED || *item.at != '{' || !scan_member(&item, "code", &code))
            continue;
        const char *guard = log_text(&loading->scratch, &code);
        loading->failed = loading->failed || !guard;
        if (guard)
            add_guard(loading, compilation,
                      (struct log_words){guard, guard + loading->scratch.length}, number++);
    }
}

/* Takes an artifact that a lookup of a cache leaves, if its name is of one. */
static void take_cache(struct log_loading *loading, const struct token *name)
{
    static const char *const caches[] = {"aotautograd_cache_", "fx_graph_cache_"};
    static const struct {
        const char *state;
        enum compile_cache cache;
    } states[] = {{"hit", CACHE_HIT}, {"bypass", CACHE_BYPASS}, {"miss", CACHE_MISS}};
    const char *at = (const char *)name->at, *end = at + name->length;
    struct log_bytes *letters = &loading_process(loading)->caches;
    for (size_t i = 0; name->kind == TOKEN_TEXT && i < 2; i++)
        for (size_t k = 0; k < 3 && begins(at, end, caches[i]); k++) {
            if (!text_is(at + strlen(caches[i]), (size_t)(end - at) - strlen(caches[i]),
                         states[k].state))
                continue;
            uint32_t number = loading_current(loading);
            struct compilation *of =
                number == COMPILE_NONE ? NULL : &loading->log->compilations[number];
            enum compile_cache *cache = !of ? NULL : i == 0 ? &of->cache_aot : &of->cache_fx;
            if (cache && *cache < states[k].cache)
                *cache = states[k].cache;
            if (MEMORY_GROW(letters->bytes, letters->capacity, letters->length + 1))
                letters->bytes[letters->length++] = (unsigned char)*states[k].state;
            else
                loading->failed = true;
        }
}

static void take_artifact(struct log_loading *loading)
{
    const struct log_record *record = &loading->record;
    struct token name, version, payload;
    if (record->value.kind != TOKEN_NESTED || *record->value.at != '{' ||
        !scan_member(&record->value, "name", &name))
        return;
    if (scan_equal(&name, "recompile_reasons")) {
        take_reasons(loading);
    } else if (scan_equal(&name, "dynamo_graph_break_reason")) {
        take_break(loading);
    } else if (scan_equal(&name, "torch_version")) {
        if (!log_payload(record, &payload) || *payload.at != '{' ||
            !scan_member(&payload, "pytorch_version", &version))
            return;
        loading_process(loading)->version = log_name(&loading->log->texts, &loading->scratch,
                                                     &version, &loading->failed);
    } else {
        take_cache(loading, &name);
    }
}

/* Counts the record for the compilation that it is of. */
static void count_record(struct log_loading *loading)
{
    uint32_t number = loading->id == NAME_NONE ? COMPILE_NONE : loading_current(loading);
    if (number == COMPILE_NONE)
        return;
    struct compilation *compilation = &loading->log->compilations[number];
    int64_t local = loading->record.local;
    if (loading->attempt < INT32_MAX && compilation->attempts < loading->attempt + 1)
        compilation->attempts = loading->attempt + 1;
    if (compilation->first_local == NUMBER_NONE)
        compilation->first_local = local;
    if (compilation->last_local == NUMBER_NONE || compilation->last_local < local)
        compilation->last_local = local;
}

void loading_record(struct log_loading *loading)
{
    const struct token *kind = &loading->record.kind;
    if (scan_equal(kind, "chromium_event")) {
        loading_event(loading);
    } else if (scan_equal(kind, "str")) {
        take_file_name(loading);
    } else if (scan_equal(kind, "artifact")) {
        take_artifact(loading);
    } else if (loading->id != NAME_NONE) {
        if (scan_equal(kind, "dynamo_start"))
            take_start(loading);
        else if (scan_equal(kind, "compilation_metrics"))
            take_metrics(loading, COMPILE_FORWARD);
        else if (scan_equal(kind, "bwd_compilation_metrics"))
            take_metrics(loading, COMPILE_BACKWARD);
        else if (scan_equal(kind, "dynamo_cpp_guards_str") || scan_equal(kind, "dynamo_guards"))
            take_guards(loading, scan_equal(kind, "dynamo_guards"));
    }
    count_record(loading);
}
