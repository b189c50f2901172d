#include "load.h"

#include "../reader/ascii.h"
#include "../reader/memory.h"
#include "../reader/number.h"
#include "../reader/text.h"
#include "annotations.h"
#include "kinds.h"
#include "link.h"
#include "pairs.h"
#include "steps.h"

enum { SHORT_TOKEN = 24, ESCAPED_TOKEN = 6 * SHORT_TOKEN, PEEK_CHUNK = 16 * 1024, KNOWN = 512 };

/* State that is needed only while a file is read. */
struct loading {
    struct trace_file *file;
    struct document *document;
    const struct stopper *stopper;
    struct failure *failure;
    struct edge *edges; /* B and E events */
    size_t edge_count, edge_capacity;
    struct external *externals; /* of annotations */
    size_t external_count, external_capacity;
    unsigned char *scratch; /* for decoded strings */
    size_t scratch_size;
    struct known { /* what a form says; its stream is that of its last event */
        uint64_t form;
        struct place place;
        uint32_t number; /* of the place */
        enum category category;
    } known[KNOWN]; /* of the forms met last; index: form % KNOWN */
};

/* Decodes the escapes of a text into `scratch`; false if out of memory. */
static bool decode(struct loading *loading, int64_t byte, const unsigned char **text,
                   size_t *length)
{
    if (*length * 3 > loading->scratch_size) {
        memory_free(loading->scratch);
        loading->scratch_size = 0;
        loading->scratch = memory_allocate(*length * 3);
        if (!loading->scratch)
            return failure_memory(loading->failure);
        loading->scratch_size = *length * 3;
    }
    *length = text_decode(*text, *length, loading->scratch, &loading->file->problems, byte);
    *text = loading->scratch;
    return true;
}

/* The id of a string; false if out of memory. */
static inline bool intern(struct loading *loading, const struct token *token, int64_t byte,
                          uint32_t *id)
{
    const unsigned char *text = token->at;
    size_t length = token->length;
    if (token->kind == TOKEN_ODD_TEXT && !decode(loading, byte, &text, &length))
        return false;
    *id = names_intern(&loading->file->names, text, length);
    return *id != NAME_NONE || failure_memory(loading->failure);
}

static bool is_text(const struct token *token)
{
    return token->kind == TOKEN_TEXT || token->kind == TOKEN_ODD_TEXT;
}

/* As intern(), but NAME_NONE if the field is not text. */
static bool intern_text(struct loading *loading, const struct event *event, enum event_field field,
                        uint32_t *id)
{
    *id = NAME_NONE;
    return !is_text(&event->field[field]) || intern(loading, &event->field[field], event->byte, id);
}

/* An integer, or NUMBER_NONE. */
static int64_t integer(const struct token *token)
{
    int64_t value = NUMBER_NONE;
    if (token->kind == TOKEN_BARE)
        number_integer(token->at, token->length, &value);
    return value;
}

/* ts or dur (T1). NUMBER_NONE if it is not a time, which is a problem where a time is required. */
static int64_t time_of(struct loading *loading, const struct event *event, enum event_field field)
{
    const struct token *token = &event->field[field];
    int64_t ns;
    if ((token->kind == TOKEN_BARE || token->kind == TOKEN_TEXT) &&
        number_nanoseconds(token->at, token->length, &ns) && ns != NUMBER_NONE)
        return ns;
    if (event->phase == 'X' || event->phase == 'B' || event->phase == 'E')
        problem_add(&loading->file->problems, PROBLEM_TIME, event->byte);
    return NUMBER_NONE;
}

/* pid or tid as written in the file: an integer that fits is an integer, another number is its
** text, a string is text, and anything else is absent. */
static bool identifier_of(struct loading *loading, const struct token *token, int64_t byte,
                          struct identifier *identifier)
{
    uint32_t id = NAME_NONE;
    *identifier = (struct identifier){IDENTIFIER_NONE, 0};
    if (token->kind == TOKEN_BARE && number_integer(token->at, token->length, &identifier->value)) {
        identifier->kind = IDENTIFIER_INTEGER;
    } else if (is_text(token) ||
               (token->kind == TOKEN_BARE && (*token->at == '-' || is_digit(*token->at)))) {
        if (!intern(loading, token, byte, &id))
            return false;
        *identifier = (struct identifier){IDENTIFIER_TEXT, id};
    }
    return true;
}

static bool track_of(struct loading *loading, const struct event *event, uint32_t *number)
{
    struct track track = {.device = false};
    if (!identifier_of(loading, &event->field[EVENT_PID], event->byte, &track.pid) ||
        !identifier_of(loading, &event->field[EVENT_TID], event->byte, &track.tid))
        return false;
    return tracks_number(&loading->file->tracks, &track, number) ||
           failure_memory(loading->failure);
}

/* NULL if out of memory. */
static const struct known *known_of(struct loading *loading, const struct event *event)
{
    const struct name none = {.text = ""}, *name = &none;
    struct known *known = &loading->known[event->form % KNOWN];
    struct place *place = &known->place;
    int64_t stream = integer(&event->field[EVENT_STREAM]);
    bool same = event->form != 0 && known->form == event->form;
    if (same && place->stream == stream)
        return known;
    known->form = 0;
    if (!same) {
        if (!intern_text(loading, event, EVENT_CAT, &place->cat) ||
            !track_of(loading, event, &place->track))
            return NULL;
        if (place->cat != NAME_NONE)
            name = &loading->file->names.items[place->cat];
        known->category = category_of(name->text, name->length);
        place->phase = event->phase;
    }
    place->stream = stream;
    if (!places_number(&loading->file->columns.places, place, &known->number)) {
        failure_memory(loading->failure);
        return NULL;
    }
    known->form = event->form;
    return known;
}

/* Whether a string, with its escapes decoded, begins with a text, or is equal to it if `whole`. */
static bool says(const struct token *token, const char *text, bool whole)
{
    unsigned char decoded[3 * ESCAPED_TOKEN];
    struct problems unused = {0};
    const unsigned char *at = token->at;
    size_t length = token->length, wanted = strlen(text);
    if (!is_text(token))
        return false;
    if (token->kind == TOKEN_ODD_TEXT) { /* an escape has at most 6 bytes */
        if (whole && length > ESCAPED_TOKEN)
            return false;
        length = length < ESCAPED_TOKEN ? length : ESCAPED_TOKEN;
        length = text_decode(at, length, decoded, &unused, 0);
        at = decoded;
    }
    return (whole ? length == wanted : length >= wanted) && memcmp(at, text, wanted) == 0;
}

/* Handles a metadata event: a process that is named like a GPU is a GPU (T9). */
static bool take_process_name(struct loading *loading, const struct event *event)
{
    struct token name;
    struct track process = {.tid = {IDENTIFIER_PROCESS, 0}};
    uint32_t index;
    if (!says(&event->field[EVENT_NAME], "process_name", true) ||
        event->field[EVENT_ARGS].kind != TOKEN_NESTED || *event->field[EVENT_ARGS].at != '{' ||
        !scan_member(&event->field[EVENT_ARGS], "name", &name) || !is_text(&name))
        return true;
    if (!identifier_of(loading, &event->field[EVENT_PID], event->byte, &process.pid))
        return false;
    if (!tracks_number(&loading->file->tracks, &process, &index))
        return failure_memory(loading->failure);
    bool *is_device = &loading->file->tracks.items[index].device;
    *is_device = *is_device || says(&name, "/device:GPU", false) || says(&name, "GPU ", false);
    return true;
}

/* Keeps a B or E. They are paired when all have been read. */
static bool take_edge(struct loading *loading, struct edge edge)
{
    if (!MEMORY_GROW(loading->edges, loading->edge_capacity, loading->edge_count + 1))
        return failure_memory(loading->failure);
    loading->edges[loading->edge_count++] = edge;
    return true;
}

/* Whether the end of an event overflows 64 bits (T1). */
static bool never_ends(int64_t ts, int64_t dur)
{
    int64_t end;
    return ts != NUMBER_NONE && dur != NUMBER_NONE && __builtin_add_overflow(ts, dur, &end);
}

/* The dur of an X event, or NUMBER_NONE (T1, T4). */
static int64_t duration_of(struct loading *loading, const struct event *event, int64_t ts)
{
    struct problems *problems = &loading->file->problems;
    if (event->field[EVENT_DUR].kind == TOKEN_NONE) {
        problem_add(problems, PROBLEM_NO_DURATION, event->byte);
        return NUMBER_NONE;
    }
    int64_t dur = time_of(loading, event, EVENT_DUR);
    if (dur != NUMBER_NONE && dur < 0)
        problem_add(problems, PROBLEM_NEGATIVE_DURATION, event->byte);
    else if (never_ends(ts, dur))
        problem_add(problems, PROBLEM_END, event->byte);
    else
        return dur;
    return NUMBER_NONE;
}

/* Extends the origin and the end of a file (T2). */
static void take_span(struct trace_file *file, int64_t ts, int64_t dur)
{
    if (ts == NUMBER_NONE)
        return;
    int64_t end = dur == NUMBER_NONE ? ts : ts + dur;
    if (file->first == NUMBER_NONE || ts < file->first)
        file->first = ts;
    if (file->last == NUMBER_NONE || end > file->last)
        file->last = end;
}

/* Keeps the External id of an annotation, if it has one. */
static bool take_external(struct loading *loading, const struct event *event,
                          enum category category, uint32_t row)
{
    const struct token *args = &event->field[EVENT_ARGS];
    struct token id;
    if ((category != CATEGORY_USER_ANNOTATION && category != CATEGORY_GPU_ANNOTATION) ||
        args->kind != TOKEN_NESTED || *args->at != '{' || !scan_member(args, "External id", &id) ||
        integer(&id) == NUMBER_NONE)
        return true;
    if (!MEMORY_GROW(loading->externals, loading->external_capacity, loading->external_count + 1))
        return failure_memory(loading->failure);
    loading->externals[loading->external_count++] = (struct external){integer(&id), row};
    return true;
}

/* Makes room for another row, and for those that the rest of the file is likely to have: for a
** quarter to 16 times as many as there are, at first for 1,024 at most. */
static bool reserve_row(struct loading *loading)
{
    enum { FIRST = 1024 };
    struct columns *columns = &loading->file->columns;
    size_t count = columns->count;
    if (count < columns->capacity)
        return true;
    double expected = 1.02 * (double)(count + 1) / document_part(loading->document);
    double most = count > 0 ? 16.0 * (double)count : FIRST;
    size_t wanted = (size_t)(expected < most ? expected : most) + 1;
    size_t least = count + count / 4 + 1;
    return columns_reserve(columns, wanted > least ? wanted : least) ||
           failure_memory(loading->failure);
}

static bool take_row(struct loading *loading, const struct event *event)
{
    struct trace_file *file = loading->file;
    struct columns *columns = &file->columns;
    bool complete = event->phase == 'X', edge = event->phase == 'B' || event->phase == 'E';
    uint32_t name;
    if (!intern_text(loading, event, EVENT_NAME, &name))
        return false;
    const struct known *known = known_of(loading, event);
    if (!known)
        return false;
    int64_t ts = time_of(loading, event, EVENT_TS);
    int64_t dur = complete ? duration_of(loading, event, ts) : NUMBER_NONE;
    if (name == NAME_NONE && (complete || event->phase == 'B'))
        problem_add(&file->problems, PROBLEM_NO_NAME, event->byte);
    bool own_span = known->category == CATEGORY_TRACE;
    if ((complete || event->phase == 'B') && !own_span)
        take_span(file, ts, dur);
    if (edge &&
        !take_edge(loading,
                   (struct edge){.ts = ts,
                                 .byte = event->byte,
                                 .track = known->place.track,
                                 .name = name,
                                 .row = event->phase == 'B' ? (uint32_t)columns->count : ROW_NONE,
                                 .own_span = own_span}))
        return false;
    if (event->phase == 'E')
        return true;
    if (columns->count >= ROW_NONE - 1 || event->position >= UINT32_MAX)
        return failure_set(loading->failure, FAILURE_READ, "cannot read '%s': %s", file->path,
                           "more than 4,294,967,294 events");
    if (!reserve_row(loading))
        return false;
    size_t row = columns->count++;
    columns->ts[row] = ts;
    columns->dur[row] = dur;
    columns->correlation[row] = integer(&event->field[EVENT_CORRELATION]);
    columns->name[row] = name;
    columns->place[row] = known->number;
    columns->event[row] = (uint32_t)event->position;
    columns->link[row] = ROW_NONE;
    columns->iteration[row] = STEP_NONE;
    return (!complete && !edge) || take_external(loading, event, known->category, (uint32_t)row);
}

static bool take_event(struct loading *loading, const struct event *event)
{
    struct trace_file *file = loading->file;
    if (event->passed_over)
        return true;
    if (event->phase == 0) {
        problem_add(&file->problems, PROBLEM_NO_PHASE, event->byte);
        file->skipped++;
        return true;
    }
    if (event->phase == 'M' && !take_process_name(loading, event))
        return false;
    return (!file->phases[event->phase] && event->phase != 'E') || take_row(loading, event);
}

/* Moves the time of a row from the profiler's own zero to ns since 1970 (T1). */
static void add_base_to(struct trace_file *file, size_t row)
{
    struct columns *columns = &file->columns;
    int64_t *ts = &columns->ts[row], *dur = &columns->dur[row];
    if (*ts == NUMBER_NONE)
        return;
    if (__builtin_add_overflow(*ts, file->base, ts) || *ts == NUMBER_NONE) {
        *ts = NUMBER_NONE;
        if (row_place(columns, row)->phase == 'B') /* a B without a time cannot be paired */
            *dur = NUMBER_NONE;
        problem_add(&file->problems, PROBLEM_TIME, 0);
    } else if (never_ends(*ts, *dur)) {
        *dur = NUMBER_NONE;
        problem_add(&file->problems, PROBLEM_END, 0);
    }
}

static bool add_base(struct loading *loading)
{
    struct trace_file *file = loading->file;
    const struct columns *columns = &file->columns;
    if (file->base == 0)
        return true;
    for (size_t row = 0; row < columns->count; row++) {
        if (!stopper_goes_on(loading->stopper, row, loading->failure))
            return false;
        add_base_to(file, row);
    }
    if (file->first == NUMBER_NONE ||
        (!__builtin_add_overflow(file->first, file->base, &file->first) &&
         !__builtin_add_overflow(file->last, file->base, &file->last)))
        return true;
    file->first = file->last = NUMBER_NONE; /* over the rows that have a time */
    for (size_t row = 0; row < columns->count; row++)
        if (columns->kind[row] != KIND_TRACE &&
            (row_place(columns, row)->phase == 'X' || row_place(columns, row)->phase == 'B'))
            take_span(file, columns->ts[row], columns->dur[row]);
    return true;
}

static bool finish(struct loading *loading)
{
    struct trace_file *file = loading->file;
    columns_fit(&file->columns);
    if (!pairs_find(file, loading->edges, loading->edge_count, loading->stopper,
                    loading->failure) ||
        !kinds_find(file, loading->stopper, loading->failure))
        return false;
    for (size_t i = 0; i < loading->edge_count; i++)
        if (loading->edges[i].row == ROW_NONE && !loading->edges[i].own_span)
            take_span(file, loading->edges[i].ts, NUMBER_NONE);
    table_clear(&file->tracks.table);
    table_clear(&file->columns.places.table);
    if (!add_base(loading) || !links_find(file, loading->stopper, loading->failure) ||
        !annotations_find(file, loading->externals, loading->external_count, loading->stopper,
                          loading->failure) ||
        !steps_find(file, loading->stopper, loading->failure))
        return false;
    return links_count_missing(file, loading->stopper, loading->failure);
}

/* Copies from the document what holds for the whole file. */
static void take_document(struct trace_file *file, struct document *document)
{
    struct metadata *metadata = document_metadata(document);
    struct problems *problems = document_problems(document);
    file->identity = *document_identity(document);
    file->rank = metadata->rank;
    file->base = metadata->base;
    file->has_base = metadata->has_base;
    file->metadata = metadata->text;
    file->metadata_length = metadata->length;
    metadata->text = NULL;
    file->outcome = document_outcome(document);
    file->events = document_events(document);
    file->skipped += document_skipped(document);
    file->json_size = document_bytes(document);
    for (int i = 0; i < PROBLEM_COUNT; i++)
        if (problems->count[i] > 0) {
            if (file->problems.count[i] == 0 ||
                (problems->first_byte[i] < file->problems.first_byte[i]))
                file->problems.first_byte[i] = problems->first_byte[i];
            file->problems.count[i] += problems->count[i];
        }
}

static bool read_events(struct loading *loading, struct document *document)
{
    struct event event;
    int result;
    while ((result = document_next(document, &event, loading->failure)) > 0)
        if (!take_event(loading, &event))
            return false;
    return result == 0;
}

/* Reads a file, whole or up to its first event. */
static struct trace_file *read_by(bool by_zlib, const char *path, const bool *phases, bool whole,
                                  atomic_int *idle, const struct stopper *stopper, bool *unsure,
                                  struct failure *failure)
{
    bool done = false, wanted[256] = {false};
    struct document *document = NULL;
    struct loading loading = {.stopper = stopper, .failure = failure};
    struct trace_file *file = loading.file = file_new(path, failure);
    if (!file)
        return NULL;
    if (phases)
        memcpy(file->phases, phases, sizeof file->phases);
    file->phases['X'] = file->phases['B'] = true;
    file->phases['E'] = false;
    memcpy(wanted, file->phases, sizeof wanted);
    wanted['E'] = wanted['M'] = true;
    struct document_options options = {.wanted = wanted,
                                       .stopper = *stopper,
                                       .chunk = whole ? 0 : PEEK_CHUNK,
                                       .by_zlib = by_zlib,
                                       .idle = idle};
    file->by_zlib = by_zlib;
    document = loading.document = document_open(file->path, &options, failure);
    if (!document)
        goto cleanup;
    if (!(whole ? read_events(&loading, document) : document_begin(document, failure)))
        goto cleanup;
    *unsure = document_unsure(document);
    take_document(file, document);
    file->rank_known = whole || file->rank >= 0 || file->outcome != DOCUMENT_WHOLE;
    document_take_trouble(document, &file->trouble);
    if (file->trouble.code == FAILURE_MEMORY) { /* a cached file needs the text */
        failure_memory(failure);
        goto cleanup;
    }
    if (whole) {
        if (!finish(&loading))
            goto cleanup;
        file->loaded = true;
    }
    done = true;
cleanup:
    document_close(document);
    memory_free(loading.edges);
    memory_free(loading.externals);
    memory_free(loading.scratch);
    if (!done) {
        file_release(file);
        file = NULL;
    }
    return file;
}

static struct trace_file *read_file(const char *path, const bool *phases, bool whole,
                                    atomic_int *idle, const struct stopper *stopper,
                                    struct failure *failure)
{
    bool unsure = false;
    struct trace_file *file = read_by(false, path, phases, whole, idle, stopper, &unsure, failure);
    if (!file || !unsure)
        return file;
    file_release(file);
    return read_by(true, path, phases, whole, idle, stopper, &unsure, failure);
}

struct trace_file *file_load(const char *path, const bool *phases, atomic_int *idle,
                             const struct stopper *stopper, struct failure *failure)
{
    return read_file(path, phases, true, idle, stopper, failure);
}

struct trace_file *file_peek(const char *path, const struct stopper *stopper,
                             struct failure *failure)
{
    return read_file(path, NULL, false, NULL, stopper, failure);
}
