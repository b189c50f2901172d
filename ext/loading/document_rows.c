#include "document_rows.h"

#include <stdio.h>

#include "base/memory.h"
#include "document_facts.h"
#include "file/kinds.h"
#include "file/roles.h"
#include "file/xla.h"
#include "groups.h"
#include "loading.h"
#include "rank_labels.h"
#include "reader/event_values.h"
#include "reader/memo.h"
#include "text/ascii.h"
#include "text/number.h"
#include "text/text.h"

enum { PEEK_CHUNK = 16 * 1024, KNOWN = 512 };

/* State that is needed only while a document is read. */
struct document_reading {
    struct loading *loading;
    struct trace_file *file;
    struct document *document;
    struct failure *failure;
    bool ascend;                     /* one process is named Ascend Hardware: its flows are links */
    bool spans;                      /* the document has an X, B or E */
    int64_t empty_event, empty_byte; /* position of the last {}; byte 0: already counted */
    struct names ids;                /* of flows, or of async events */
    struct group_names group_names;
    unsigned char *scratch; /* for decoded strings */
    size_t scratch_size;
    struct known { /* what a form determines; the stream is from its latest event */
        uint32_t form;
        struct place place;
        uint32_t number; /* of the place */
        enum category category;
        bool is_read; /* its events belong to the part being read (T7.6) */
    } known[KNOWN]; /* the latest forms; index: form % KNOWN */
};

/* Decodes the escapes of a text into `scratch`; false if out of memory. */
static bool decode(struct document_reading *reading, int64_t byte, struct problems *problems,
                   const unsigned char **text, size_t *length)
{
    if (*length * 3 > reading->scratch_size) {
        memory_free(reading->scratch);
        reading->scratch_size = 0;
        reading->scratch = memory_allocate(*length * 3);
        if (!reading->scratch)
            return failure_memory(reading->failure);
        reading->scratch_size = *length * 3;
    }
    *length = text_decode(*text, *length, reading->scratch, problems, byte);
    *text = reading->scratch;
    return true;
}

/* Finds the id of a string; false if out of memory. */
static inline bool intern(struct document_reading *reading, const struct token *token, int64_t byte,
                          uint32_t *id)
{
    const unsigned char *text = token->at;
    size_t length = token->length;
    if (token->kind == TOKEN_ODD_TEXT &&
        !decode(reading, byte, &reading->file->problems, &text, &length))
        return false;
    *id = names_intern(&reading->file->names, text, length);
    return *id != NAME_NONE || failure_memory(reading->failure);
}

/* Like intern(), but gives NAME_NONE if the field is not a string. */
static bool intern_text(struct document_reading *reading, const struct event *event,
                        enum event_field field, uint32_t *id)
{
    const struct token *token = &event->field[field];
    *id = NAME_NONE;
    return !token_is_text(token) || intern(reading, token, event->byte, id);
}

/* Finds the id of an event's name, or NAME_NONE; false if out of memory. */
static inline bool name_of(struct document_reading *reading, struct event *event, uint32_t *id)
{
    if (event->known_name) {
        *id = event->known_name->number;
        return true;
    }
    event_complete(event);
    if (!intern_text(reading, event, EVENT_NAME, id))
        return false;
    if (event->new_name)
        event_keep_name(event, reading->file->names.items[*id].text, *id);
    return true;
}

/* The time in a string with escapes, or NUMBER_NONE. Running out of memory sets the failure, which
** read_events() and read_flows() check at their end. */
static __attribute__((cold)) int64_t escaped_time(struct document_reading *reading,
                                                  const struct token *token)
{
    struct problems unused = {0};
    const unsigned char *text = token->at;
    size_t length = token->length;
    return decode(reading, 0, &unused, &text, &length) ? number_nanoseconds(text, length)
                                                       : NUMBER_NONE;
}

static bool is_begin(const struct trace_file *file, const struct event *event)
{
    return event->phase == 'B' || (event->phase == 'b' && file->async);
}

static bool is_end(const struct trace_file *file, const struct event *event)
{
    return event->phase == 'E' || (event->phase == 'e' && file->async);
}

/* Reads ts or dur (T1). Gives NUMBER_NONE for anything else, a problem if a time is required. */
static int64_t time_of(struct document_reading *reading, const struct event *event,
                       enum event_field field)
{
    const struct token *token = &event->field[field];
    int64_t ns = NUMBER_NONE;
    if (token->kind == TOKEN_BARE || token->kind == TOKEN_TEXT)
        ns = number_nanoseconds(token->at, token->length);
    else if (token->kind == TOKEN_ODD_TEXT)
        ns = escaped_time(reading, token);
    if (ns != NUMBER_NONE)
        return ns;
    if (event->phase == 'X' || is_begin(reading->file, event) || is_end(reading->file, event))
        problem_add(&reading->file->problems, PROBLEM_TIME, event->byte);
    return NUMBER_NONE;
}

/* Reads a pid or tid: integers that fit stay integers, other numbers become their text, strings are
** text, and anything else is absent. */
static bool identifier_of(struct document_reading *reading, const struct token *token, int64_t byte,
                          struct identifier *identifier)
{
    uint32_t id = NAME_NONE;
    *identifier = (struct identifier){IDENTIFIER_NONE, 0};
    if (token->kind == TOKEN_BARE && number_integer(token->at, token->length, &identifier->value)) {
        identifier->kind = IDENTIFIER_INTEGER;
    } else if (token_is_text(token) || token_is_number(token)) {
        if (!intern(reading, token, byte, &id))
            return false;
        *identifier = (struct identifier){IDENTIFIER_TEXT, id};
    }
    return true;
}

static bool track_of(struct document_reading *reading, const struct event *event, uint32_t *number)
{
    struct track track = {.role = 0};
    if (!identifier_of(reading, &event->field[EVENT_PID], event->byte, &track.pid) ||
        !identifier_of(reading, &event->field[EVENT_TID], event->byte, &track.tid))
        return false;
    return tracks_number(&reading->file->tracks, &track, number) ||
           failure_memory(reading->failure);
}

/* NULL if out of memory. */
static const struct known *known_of(struct document_reading *reading, struct event *event)
{
    const struct name none = {.text = ""}, *name = &none;
    struct known *known = &reading->known[event->form % KNOWN];
    struct place *place = &known->place;
    int64_t stream = token_integer(&event->field[EVENT_STREAM]);
    bool same = event->form != 0 && known->form == event->form;
    if (same && place->stream == stream)
        return known;
    known->form = 0;
    if (!same) {
        event_complete(event);
        if (!intern_text(reading, event, EVENT_CAT, &place->cat) ||
            !track_of(reading, event, &place->track))
            return NULL;
        if (place->cat != NAME_NONE)
            name = &reading->file->names.items[place->cat];
        known->category = category_of(name->text, name->length);
        known->is_read = rank_label_is_read(
            reading->file, &reading->file->tracks.items[place->track].pid);
        place->phase = event->phase;
    }
    place->stream = stream;
    if (!places_number(&reading->file->columns.places, place, &known->number)) {
        failure_memory(reading->failure);
        return NULL;
    }
    known->form = event->form;
    return known;
}

/* Handles a metadata event that names a process or a thread (T9). */
static bool take_track_name(struct document_reading *reading, struct event *event)
{
    const struct token *args = &event->field[EVENT_ARGS];
    struct track key = {.tid = {IDENTIFIER_PROCESS, 0}};
    struct problems unused = {0};
    struct token name;
    uint32_t index;
    event_complete(event);
    bool process = scan_equal(&event->field[EVENT_NAME], "process_name");
    if ((!process && !scan_equal(&event->field[EVENT_NAME], "thread_name")) ||
        !token_is_object(args) || !scan_member(args, "name", &name) || !token_is_text(&name))
        return true;
    const unsigned char *text = name.at;
    size_t length = name.length;
    if (name.kind == TOKEN_ODD_TEXT && !decode(reading, event->byte, &unused, &text, &length))
        return false;
    if (process)
        key.process = (unsigned char)process_name_of((const char *)text, length);
    else
        key.threads = thread_name_of((const char *)text, length);
    if (key.process == PROCESS_OTHER && key.threads == 0)
        return true;
    if (!identifier_of(reading, &event->field[EVENT_PID], event->byte, &key.pid) ||
        (!process && !identifier_of(reading, &event->field[EVENT_TID], event->byte, &key.tid)))
        return false;
    if (!tracks_number(&reading->file->tracks, &key, &index))
        return failure_memory(reading->failure);
    struct track *track = &reading->file->tracks.items[index];
    if (track->process == PROCESS_OTHER)
        track->process = key.process;
    track->threads |= key.threads;
    reading->ascend = reading->ascend || key.process == PROCESS_ASCEND;
    return true;
}

/* The number that identifies the pair of an async event: its process, category and id (T3.5). */
static bool async_of(struct document_reading *reading, const struct event *event,
                     const struct place *place, uint32_t *number)
{
    const struct identifier *pid = &reading->file->tracks.items[place->track].pid;
    const struct token *token = &event->id;
    uint32_t id = NAME_NONE;
    char key[64];
    if ((token_is_text(token) || token_is_number(token)) &&
        !intern(reading, token, event->byte, &id))
        return false;
    int length = snprintf(key, sizeof key, "%d %lld %u %u", (int)pid->kind, (long long)pid->value,
                          place->cat, id);
    *number = names_intern(&reading->ids, key, (size_t)length);
    return *number != NAME_NONE || failure_memory(reading->failure);
}

/* Keeps a B or E. They are paired after the last event. */
static bool take_edge(struct loading *loading, struct edge edge)
{
    if (!MEMORY_GROW(loading->edges, loading->edge_capacity, loading->edge_count + 1))
        return failure_memory(loading->failure);
    loading->edges[loading->edge_count++] = edge;
    return true;
}

/* The dur of an X event, or NUMBER_NONE (T1, T4). */
static int64_t duration_of(struct document_reading *reading, const struct event *event, int64_t ts)
{
    if (event->field[EVENT_DUR].kind == TOKEN_NONE) {
        problem_add(&reading->file->problems, PROBLEM_NO_DURATION, event->byte);
        return NUMBER_NONE;
    }
    return loading_duration(reading->file, ts, time_of(reading, event, EVENT_DUR), event->byte);
}

/* Keeps the External id of an annotation, if it has one. */
static bool take_external(struct loading *loading, struct event *event, enum category category,
                          uint32_t row)
{
    const struct token *args = &event->field[EVENT_ARGS];
    struct token id;
    if (category != CATEGORY_USER_ANNOTATION && category != CATEGORY_GPU_ANNOTATION)
        return true;
    event_complete(event);
    if (!token_is_object(args) || !scan_member(args, "External id", &id) ||
        token_integer(&id) == NUMBER_NONE)
        return true;
    if (!MEMORY_GROW(loading->externals, loading->external_capacity, loading->external_count + 1))
        return failure_memory(loading->failure);
    loading->externals[loading->external_count++] = (struct external){token_integer(&id), row};
    return true;
}

/* The id of the value of a key of args, as text; NAME_NONE without the key. */
static bool value_in_args(struct document_reading *reading, const struct event *event,
                          const char *key, uint32_t *id)
{
    struct problems unused = {0};
    struct token value;
    *id = NAME_NONE;
    if (!scan_member(&event->field[EVENT_ARGS], key, &value) ||
        (value.kind == TOKEN_BARE && text_is((const char *)value.at, value.length, "null")))
        return true;
    if (value.kind == TOKEN_ODD_TEXT &&
        !decode(reading, event->byte, &unused, &value.at, &value.length))
        return false;
    *id = names_intern(&reading->file->names, value.at, value.length);
    return *id != NAME_NONE || failure_memory(reading->failure);
}

/* Keeps the process group if the last row may be a collective that names one (W1, Q10.1). */
static bool take_group(struct document_reading *reading, struct event *event,
                       enum category category)
{
    struct trace_file *file = reading->file;
    size_t row = file->columns.count - 1;
    uint32_t values[] = {NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE, NAME_NONE};
    if (!groups_may(&reading->group_names, file, row, category, reading->failure))
        return reading->failure->code == FAILURE_NONE;
    event_complete(event);
    if (!token_is_object(&event->field[EVENT_ARGS]))
        return true;
    for (int key = 0; key < GROUP_KEYS; key++) {
        bool asked = key == GROUP_DESCRIPTION  ? values[GROUP_NAME] == NAME_NONE
                     : key == GROUP_COLLECTIVE ? groups_on_host(category)
                                               : true;
        if (asked && !value_in_args(reading, event, group_keys[key], &values[key]))
            return false;
    }
    return groups_add(file, row, category, values, reading->failure);
}

/* Like value_in_args(), but only if the value is a string. */
static bool text_in_args(struct document_reading *reading, const struct event *event,
                         const char *key, uint32_t *id)
{
    struct token value;
    *id = NAME_NONE;
    return !scan_member(&event->field[EVENT_ARGS], key, &value) || !token_is_text(&value) ||
           value_in_args(reading, event, key, id);
}

/* Keeps the facts that XLA wrote about the last row (T11, A17). */
static bool take_xla(struct document_reading *reading, struct event *event)
{
    struct trace_file *file = reading->file;
    uint32_t op = NAME_NONE, module = NAME_NONE;
    if (!token_is_object(&event->field[EVENT_ARGS]))
        return true;
    if (file->columns.correlation[file->columns.count - 1] == NUMBER_NONE)
        return xla_add(file, op, module, event_integer(event, "step_num"), reading->failure);
    return text_in_args(reading, event, "hlo_op", &op) &&
           text_in_args(reading, event, "hlo_module", &module) &&
           xla_add(file, op, module, NUMBER_NONE, reading->failure);
}

/* For a last row without a category, finds its stream and correlation by their other keys (T9.8,
** T10.6), and XLA's facts about it. */
static __attribute__((noinline)) bool look_in_args(struct document_reading *reading,
                                                   struct event *event)
{
    struct columns *columns = &reading->file->columns;
    size_t row = columns->count - 1;
    struct place place = *row_place(columns, row);
    event_complete(event);
    if (columns->correlation[row] == NUMBER_NONE)
        columns->correlation[row] = event_integer(event, "correlation_id");
    if (!take_xla(reading, event))
        return false;
    if (place.stream != NUMBER_NONE)
        return true;
    place.stream = event_integer(event, "Stream Id");
    return place.stream == NUMBER_NONE ||
           places_number(&columns->places, &place, &columns->place[row]) ||
           failure_memory(reading->failure);
}

static bool take_row(struct document_reading *reading, struct event *event)
{
    struct trace_file *file = reading->file;
    struct columns *columns = &file->columns;
    bool complete = event->phase == 'X', begin = is_begin(file, event), end = is_end(file, event);
    bool edge = begin || end;
    uint32_t name;
    if (!name_of(reading, event, &name))
        return false;
    const struct known *known = known_of(reading, event);
    if (!known || !known->is_read)
        return known;
    int64_t ts = time_of(reading, event, EVENT_TS);
    int64_t dur = complete ? duration_of(reading, event, ts) : NUMBER_NONE;
    bool own_span = known->category == CATEGORY_TRACE;
    uint32_t track = known->place.track;
    if (edge && file->async && !async_of(reading, event, &known->place, &track))
        return false;
    if (edge && !take_edge(reading->loading,
                           (struct edge){.ts = ts,
                                         .byte = event->byte,
                                         .track = track,
                                         .name = name,
                                         .row = begin ? (uint32_t)columns->count : ROW_NONE,
                                         .own_span = own_span}))
        return false;
    if (end)
        return true;
    if (columns->count == columns->capacity &&
        !loading_reserve(reading->loading,
                         1.02 * (double)(columns->count + 1) / document_part(reading->document)))
        return false;
    const struct new_row row = {.ts = ts,
                                .dur = dur,
                                .correlation = token_integer(&event->field[EVENT_CORRELATION]),
                                .name = name,
                                .place = known->number,
                                .event = event->position,
                                .byte = event->byte,
                                .phase = event->phase,
                                .own_span = own_span};
    if (!loading_add(reading->loading, &row) ||
        (known->place.cat == NAME_NONE && !look_in_args(reading, event)))
        return false;
    return (!complete && !edge) || (take_group(reading, event, known->category) &&
                                    take_external(reading->loading, event, known->category,
                                                  (uint32_t)(columns->count - 1)));
}

static void skip(struct document_reading *reading, int64_t byte)
{
    problem_add(&reading->file->problems, PROBLEM_NO_PHASE, byte);
    reading->file->skipped++;
}

/* Counts the last {} as a problem, unless it is counted or was the element `last` (T14). */
static void skip_empty(struct document_reading *reading, int64_t last)
{
    if (reading->empty_byte > 0 && reading->empty_event != last)
        skip(reading, reading->empty_byte);
    reading->empty_byte = 0;
}

static bool take_event(struct document_reading *reading, struct event *event)
{
    struct trace_file *file = reading->file;
    if (event->phase == 0) {
        skip_empty(reading, -1);
        if (event->empty) {
            reading->empty_event = event->position;
            reading->empty_byte = event->byte;
        } else {
            skip(reading, event->byte);
        }
        return true;
    }
    if (event->phase == 'M' && !take_track_name(reading, event))
        return false;
    reading->spans = reading->spans || event->phase == 'X' || event->phase == 'B' ||
                     event->phase == 'E';
    return (!file->phases[event->phase] && !is_end(file, event)) || take_row(reading, event);
}

static bool read_events(struct document_reading *reading)
{
    struct event event;
    int result;
    while ((result = document_next(reading->document, &event, reading->failure)) > 0)
        if (!take_event(reading, &event))
            return false;
    skip_empty(reading, document_events(reading->document) - 1);
    return result == 0 && reading->failure->code == FAILURE_NONE;
}

/* Keeps the start or the finish of a flow from an operator to device work (T10.7). */
static bool take_flow(struct document_reading *reading, const struct event *event)
{
    struct loading *loading = reading->loading;
    struct flow flow = {
        .order = (uint32_t)event->position, .row = ROW_NONE, .end = event->phase == 'f'};
    const struct token *id = &event->id;
    if (event->phase == 0 || !scan_equal(&event->field[EVENT_CAT], "async_npu") ||
        !(token_is_text(id) || token_is_number(id)))
        return true;
    flow.ts = time_of(reading, event, EVENT_TS);
    if (flow.ts == NUMBER_NONE)
        return true;
    const unsigned char *text = id->at;
    size_t length = id->length;
    struct problems unused = {0};
    if (id->kind == TOKEN_ODD_TEXT && !decode(reading, event->byte, &unused, &text, &length))
        return false;
    flow.id = names_intern(&reading->ids, text, length);
    if (flow.id == NAME_NONE ||
        !MEMORY_GROW(loading->flows, loading->flow_capacity, loading->flow_count + 1))
        return failure_memory(loading->failure);
    if (!track_of(reading, event, &flow.track))
        return false;
    if (!rank_label_is_read(reading->file, &reading->file->tracks.items[flow.track].pid))
        return true;
    loading->flows[loading->flow_count++] = flow;
    return true;
}

/* Reads the document again for its flows. Most flows precede the process name that makes them
** links, and documents without that name do not need them. */
static bool read_flows(struct document_reading *reading)
{
    const bool wanted[256] = {['s'] = true, ['f'] = true};
    struct document_options options = {.wanted = wanted,
                                       .stopper = *reading->loading->stopper,
                                       .by_zlib = reading->file->by_zlib,
                                       .no_memo = true,
                                       .idle = reading->loading->idle};
    struct event event;
    int result;
    options.stopper.read = NULL; /* progress was reported the first time */
    document_close(reading->document);
    reading->document = document_open(reading->file->path, &options, reading->failure);
    if (!reading->document)
        return false;
    if (!source_same(document_identity(reading->document), &reading->file->identity))
        return file_changed(reading->file, reading->failure);
    while ((result = document_next(reading->document, &event, reading->failure)) > 0)
        if (!take_flow(reading, &event))
            return false;
    return result == 0 && reading->failure->code == FAILURE_NONE;
}

/* Whether the pid of the first event has a label: then the ranks are known only at the end. */
static bool begins_with_label(struct document_reading *reading)
{
    struct event event;
    const struct token *pid = &event.field[EVENT_PID];
    if (document_next(reading->document, &event, reading->failure) <= 0 || event.phase == 0)
        return false;
    event_complete(&event);
    return token_is_text(pid) && rank_label_length(pid->at, pid->length) > 0;
}

/* Reads a document without X, B and E again, and takes its async events (T3.5). */
static bool read_async(struct document_reading *reading, const struct document_options *first)
{
    struct trace_file *file = reading->file;
    struct document_options options = *first;
    bool wanted[256], asked = file->phases['b'];
    memcpy(wanted, first->wanted, sizeof wanted);
    wanted['b'] = wanted['e'] = file->phases['b'] = file->async = true;
    options.wanted = wanted;
    options.kept = NULL;
    options.no_memo = true; /* the ids are needed */
    options.stopper.read = NULL;
    struct identity identity = *document_identity(reading->document);
    document_close(reading->document);
    memset(reading->known, 0, sizeof reading->known);
    memset(&file->problems, 0, sizeof file->problems);
    file->columns.count = file->group_count = file->xla_count = 0;
    file->skipped = reading->empty_byte = 0;
    reading->loading->external_count = 0;
    reading->document = document_open(file->path, &options, reading->failure);
    if (!reading->document || !read_events(reading))
        return false;
    if (!source_same(document_identity(reading->document), &identity))
        return file_changed(file, reading->failure);
    file->async = reading->loading->edge_count > 0;
    file->phases['b'] = asked || file->async;
    return true;
}

bool document_rows_read(struct loading *loading)
{
    struct trace_file *file = loading->file;
    bool wanted[256];
    memcpy(wanted, file->phases, sizeof wanted);
    wanted['E'] = wanted['M'] = true;
    struct document_options options = {.wanted = wanted,
                                       .stopper = *loading->stopper,
                                       .chunk = loading->whole ? 0 : PEEK_CHUNK,
                                       .by_zlib = file->by_zlib,
                                       .kept = loading->kept,
                                       .idle = loading->idle};
    struct document_reading reading = {
        .loading = loading, .file = file, .failure = loading->failure};
    reading.document = document_open(file->path, &options, loading->failure);
    bool done = reading.document && rank_labels_take(loading);
    if (done && file->labels && !source_same(document_identity(reading.document),
                                             &loading->head->identity))
        done = file_changed(file, loading->failure);
    done = done && (loading->whole ? read_events(&reading)
                                   : document_begin(reading.document, loading->failure));
    if (done && loading->whole && !reading.spans && !document_unsure(reading.document))
        done = read_async(&reading, &options);
    if (done) {
        loading->unsure = document_unsure(reading.document);
        document_facts_take(file, reading.document);
        file->rank_known = loading->whole || file->rank >= 0 || file->outcome != DOCUMENT_WHOLE;
        document_take_trouble(reading.document, &file->trouble);
        if (loading->look && loading->whole)
            done = rank_labels_find(loading);
        else if (!loading->whole && file->rank >= 0 && begins_with_label(&reading))
            file->rank_known = false;
        done = done && (!reading.ascend || loading->unsure || !loading->whole ||
                        read_flows(&reading)) &&
               loading->failure->code == FAILURE_NONE;
    }
    document_close(reading.document);
    names_clear(&reading.ids);
    group_names_clear(&reading.group_names);
    memory_free(reading.scratch);
    return done;
}
