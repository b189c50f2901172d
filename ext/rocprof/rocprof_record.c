#include "rocprof_record.h"

#include "base/memory.h"
#include "text/number.h"
#include "text/text.h"

enum { IN_NOTHING, IN_DOCUMENT, IN_PROCESSES, IN_PROCESS, IN_BUFFERS, IN_RECORDS, AT_END };
enum { AGENT_INDEX, AGENT_IS_GPU };
enum { TEXT_ID };

bool rocprof_open(struct rocprof *rocprof, const char *path, bool by_zlib,
                  const struct stopper *stopper, struct failure *failure)
{
    *rocprof = (struct rocprof){.stopper = stopper, .pid = NUMBER_NONE, .host = NAME_NONE};
    return json_walk_open(&rocprof->walk, path, by_zlib, stopper, failure);
}

void rocprof_close(struct rocprof *rocprof)
{
    json_walk_close(&rocprof->walk);
    for (size_t i = 0; i < rocprof->kind_count; i++)
        memory_free(rocprof->kinds[i].operations);
    memory_free(rocprof->kinds);
    memory_free(rocprof->room);
    ids_clear(&rocprof->agents);
    ids_clear(&rocprof->kernels);
    ids_clear(&rocprof->markers);
    names_clear(&rocprof->texts);
}

static bool is_object(const struct token *token)
{
    return token->kind == TOKEN_NESTED && *token->at == '{';
}

static int64_t integer(const struct token *token)
{
    int64_t value = NUMBER_NONE;
    if (token->kind == TOKEN_BARE)
        number_integer(token->at, token->length, &value);
    return value;
}

/* A member of a nested object, such as `agent_id.handle`. */
static int64_t inner(const struct token *token, const char *key)
{
    struct token value;
    return is_object(token) && scan_member(token, key, &value) ? integer(&value) : NUMBER_NONE;
}

/* Finds the id of a text, NAME_NONE for other values. False on failure. */
static bool intern(struct rocprof *rocprof, const struct token *token, uint32_t *id,
                   struct failure *failure)
{
    struct problems unused = {0};
    const unsigned char *text = token->at;
    size_t length = token->length;
    *id = NAME_NONE;
    if (token->kind == TOKEN_ODD_TEXT) {
        if (!MEMORY_GROW(rocprof->room, rocprof->room_capacity, 3 * length + 1))
            return failure_memory(failure);
        length = text_decode(text, length, rocprof->room, &unused, 0);
        text = rocprof->room;
    } else if (token->kind != TOKEN_TEXT) {
        return true;
    }
    *id = names_intern(&rocprof->texts, text, length);
    return *id != NAME_NONE || failure_memory(failure);
}

/* A function that takes an element of an array. */
typedef bool element_taker(struct rocprof *rocprof, const struct token *element,
                           struct failure *failure);

/* Takes the elements of the current array. */
static enum walked take_each(struct rocprof *rocprof, element_taker *taker, struct failure *failure)
{
    struct json_walk *walk = &rocprof->walk;
    struct token element;
    enum walked walked = json_walk_enter(walk, '[', failure);
    if (walked != WALK_VALUE)
        return walked == WALK_END ? WALK_VALUE : walked;
    while ((walked = json_walk_next(walk, failure)) == WALK_VALUE) {
        walked = json_walk_take(walk, &element, failure);
        if (walked != WALK_VALUE)
            return walked;
        if (is_object(&element) && !taker(rocprof, &element, failure))
            return WALK_FAILED;
    }
    return walked == WALK_END ? WALK_VALUE : walked;
}

static bool take_agent(struct rocprof *rocprof, const struct token *element,
                       struct failure *failure)
{
    enum { GPU = 2 };
    static const char *const keys[] = {"id", "type", "logical_node_type_id", "gpu_index"};
    struct token values[4];
    scan_members(element, keys, 4, values);
    int64_t index = integer(&values[2]);
    struct id_row row = {
        .id = inner(&values[0], "handle"),
        .values = {[AGENT_INDEX] = index != NUMBER_NONE ? index : integer(&values[3]),
                   [AGENT_IS_GPU] = integer(&values[1]) == GPU}};
    return ids_add(&rocprof->agents, &row, failure);
}

static bool take_kernel(struct rocprof *rocprof, const struct token *element,
                        struct failure *failure)
{
    static const char *const keys[] = {"kernel_id", "formatted_kernel_name",
                                       "demangled_kernel_name", "kernel_name"};
    struct token values[4];
    uint32_t text = NAME_NONE;
    scan_members(element, keys, 4, values);
    for (int i = 1; i < 4 && text == NAME_NONE; i++)
        if (!intern(rocprof, &values[i], &text, failure))
            return false;
    return ids_add(&rocprof->kernels,
                   &(struct id_row){.id = integer(&values[0]), .values = {[TEXT_ID] = text}},
                   failure);
}

static bool take_marker(struct rocprof *rocprof, const struct token *element,
                        struct failure *failure)
{
    static const char *const keys[] = {"key", "value"};
    struct token values[2];
    uint32_t text;
    scan_members(element, keys, 2, values);
    return intern(rocprof, &values[1], &text, failure) &&
           (text == NAME_NONE ||
            ids_add(&rocprof->markers,
                    &(struct id_row){.id = integer(&values[0]), .values = {[TEXT_ID] = text}},
                    failure));
}

/* Takes the strings of a kind: its category, and the names of its operations. */
static bool take_kind(struct rocprof *rocprof, const struct token *element, struct failure *failure)
{
    static const char *const keys[] = {"kind", "operations"};
    struct token values[2], text;
    scan_members(element, keys, 2, values);
    if (!MEMORY_GROW(rocprof->kinds, rocprof->kind_capacity, rocprof->kind_count + 1))
        return failure_memory(failure);
    struct record_strings *kind = &rocprof->kinds[rocprof->kind_count++];
    *kind = (struct record_strings){.operations = NULL};
    if (!intern(rocprof, &values[0], &kind->category, failure))
        return false;
    if (values[1].kind != TOKEN_NESTED || *values[1].at != '[')
        return true;
    struct scan scan = {values[1].at + values[1].length, NULL};
    const unsigned char *p = scan_space(values[1].at + 1);
    while (p && *p != ']') {
        if (!MEMORY_GROW(kind->operations, kind->capacity, kind->count + 1))
            return failure_memory(failure);
        p = scan_value(&scan, p, &text);
        if (p && !intern(rocprof, &text, &kind->operations[kind->count++], failure))
            return false;
        p = p ? scan_space(p) : NULL;
        p = p && *p == ',' ? scan_space(p + 1) : p && *p == ']' ? p : NULL;
    }
    return true;
}

static enum walked take_strings(struct rocprof *rocprof, struct failure *failure)
{
    struct json_walk *walk = &rocprof->walk;
    enum walked walked = json_walk_enter(walk, '{', failure);
    if (walked != WALK_VALUE)
        return walked == WALK_END ? WALK_VALUE : walked;
    while ((walked = json_walk_next(walk, failure)) == WALK_VALUE) {
        if (json_walk_key_is(walk, "buffer_records"))
            walked = take_each(rocprof, take_kind, failure);
        else if (json_walk_key_is(walk, "marker_api"))
            walked = take_each(rocprof, take_marker, failure);
        if (walked != WALK_VALUE)
            return walked;
    }
    return walked == WALK_END ? WALK_VALUE : walked;
}

static enum walked take_metadata(struct rocprof *rocprof, struct failure *failure)
{
    struct token value, member;
    enum walked walked = json_walk_take(&rocprof->walk, &value, failure);
    if (walked != WALK_VALUE || !is_object(&value))
        return walked;
    rocprof->pid = inner(&value, "pid");
    if (scan_member(&value, "node", &member) && is_object(&member) &&
        scan_member(&member, "hostname", &value) &&
        !intern(rocprof, &value, &rocprof->host, failure))
        return WALK_FAILED;
    return WALK_VALUE;
}

/* Counts a member that comes after the records that need it. */
static void note_late(struct rocprof *rocprof)
{
    static const char *const keys[] = {"metadata", "agents", "strings", "kernel_symbols"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys && rocprof->has_records; i++)
        if (json_walk_key_is(&rocprof->walk, keys[i]) && rocprof->late++ == 0)
            rocprof->late_byte = rocprof->walk.byte;
}

/* Handles a member of a process. `*place` changes at the start of records. */
static enum walked take_member(struct rocprof *rocprof, struct failure *failure)
{
    struct json_walk *walk = &rocprof->walk;
    enum walked walked = WALK_VALUE;
    note_late(rocprof);
    if (json_walk_key_is(walk, "metadata"))
        return take_metadata(rocprof, failure);
    if (json_walk_key_is(walk, "agents"))
        return take_each(rocprof, take_agent, failure);
    if (json_walk_key_is(walk, "strings"))
        return take_strings(rocprof, failure);
    if (json_walk_key_is(walk, "kernel_symbols"))
        return take_each(rocprof, take_kernel, failure);
    if (!json_walk_key_is(walk, "buffer_records"))
        return walked;
    if (!ids_order(&rocprof->agents, rocprof->stopper, failure) ||
        !ids_order(&rocprof->kernels, rocprof->stopper, failure) ||
        !ids_order(&rocprof->markers, rocprof->stopper, failure))
        return WALK_FAILED;
    rocprof->has_records = true;
    walked = json_walk_enter(walk, '{', failure);
    rocprof->place = walked == WALK_VALUE ? IN_BUFFERS : rocprof->place;
    return walked == WALK_END ? WALK_VALUE : walked;
}

static enum walked begin_records(struct rocprof *rocprof, struct failure *failure)
{
    static const struct {
        const char *key;
        enum record_kind kind;
    } arrays[] = {{"kernel_dispatch", RECORD_DISPATCH},
                  {"memory_copy", RECORD_COPY},
                  {"hip_api", RECORD_CALL},
                  {"hsa_api", RECORD_CALL},
                  {"marker_api", RECORD_CALL},
                  {"rccl_api", RECORD_CALL},
                  {"rocdecode_api", RECORD_CALL},
                  {"rocjpeg_api", RECORD_CALL}};
    rocprof->kind = RECORD_OTHER;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (json_walk_key_is(&rocprof->walk, arrays[i].key))
            rocprof->kind = arrays[i].kind;
    enum walked walked = json_walk_enter(&rocprof->walk, '[', failure);
    rocprof->place = walked == WALK_VALUE ? IN_RECORDS : rocprof->place;
    return walked == WALK_END ? WALK_VALUE : walked;
}

static void read_three(const struct token *object, int64_t three[3])
{
    static const char *const keys[] = {"x", "y", "z"};
    for (int i = 0; i < 3; i++)
        three[i] = inner(object, keys[i]);
}

static void read_dispatch(const struct rocprof *rocprof, const struct token *info,
                          struct rocprof_record *record)
{
    static const char *const keys[] = {"agent_id", "queue_id", "kernel_id", "workgroup_size",
                                       "grid_size"};
    struct token values[5] = {{.kind = TOKEN_NONE}};
    if (is_object(info))
        scan_members(info, keys, 5, values);
    record->device = ids_value(&rocprof->agents, inner(&values[0], "handle"), AGENT_INDEX);
    record->queue = inner(&values[1], "handle");
    record->kernel = integer(&values[2]);
    read_three(&values[3], record->block);
    read_three(&values[4], record->grid);
}

static void read_record(const struct rocprof *rocprof, const struct token *element,
                        struct rocprof_record *record)
{
    enum { START, END, CORRELATION, KIND, OPERATION, THREAD, STREAM, INFO, TO, FROM, BYTES, ALL };
    static const char *const keys[] = {
        "start_timestamp", "end_timestamp", "correlation_id", "kind",
        "operation",       "thread_id",     "stream_id",      "dispatch_info",
        "dst_agent_id",    "src_agent_id",  "bytes"};
    struct token values[ALL] = {{.kind = TOKEN_NONE}};
    if (is_object(element))
        scan_members(element, keys, record->kind == RECORD_COPY ? ALL : INFO + 1, values);
    record->start = integer(&values[START]);
    record->end = integer(&values[END]);
    record->correlation = inner(&values[CORRELATION], "internal");
    record->of_kind = integer(&values[KIND]);
    record->operation = integer(&values[OPERATION]);
    record->thread = integer(&values[THREAD]);
    record->stream = inner(&values[STREAM], "handle");
    if (record->kind == RECORD_DISPATCH) {
        read_dispatch(rocprof, &values[INFO], record);
    } else if (record->kind == RECORD_COPY) {
        int64_t to = inner(&values[TO], "handle"), from = inner(&values[FROM], "handle");
        bool gpu = ids_value(&rocprof->agents, to, AGENT_IS_GPU) == true;
        record->device = ids_value(&rocprof->agents, gpu ? to : from, AGENT_INDEX);
        record->queue = NUMBER_NONE;
        record->bytes = integer(&values[BYTES]);
    }
}

/* Enters a value on the way to records. */
static enum walked go_in(struct rocprof *rocprof, struct failure *failure)
{
    struct json_walk *walk = &rocprof->walk;
    enum walked walked = WALK_VALUE;
    switch (rocprof->place) {
    case IN_NOTHING:
        walked = json_walk_enter(walk, '{', failure);
        break;
    case IN_DOCUMENT:
        if (!json_walk_key_is(walk, "rocprofiler-sdk-tool"))
            return WALK_VALUE;
        walked = json_walk_enter(walk, '[', failure);
        break;
    case IN_PROCESSES:
        if (rocprof->event > 0 || rocprof->kind_count > 0) {
            walk->damaged = true;
            failure_at(&walk->trouble, FAILURE_DAMAGE, walk->path,
                       "only the first process is read: another one begins", walk->byte);
            return WALK_DAMAGED;
        }
        walked = json_walk_enter(walk, '{', failure);
        break;
    case IN_PROCESS:
        return take_member(rocprof, failure);
    default:
        return begin_records(rocprof, failure);
    }
    rocprof->place += walked == WALK_VALUE;
    return walked == WALK_END ? WALK_VALUE : walked;
}

int rocprof_next(struct rocprof *rocprof, struct rocprof_record *record, struct failure *failure)
{
    struct json_walk *walk = &rocprof->walk;
    while (rocprof->place != AT_END) {
        struct token element;
        enum walked walked = json_walk_next(walk, failure);
        if (walked == WALK_VALUE && rocprof->place == IN_RECORDS) {
            walked = json_walk_take(walk, &element, failure);
            if (walked == WALK_VALUE) {
                *record = (struct rocprof_record){
                    .kind = rocprof->kind, .event = rocprof->event++, .byte = walk->byte};
                read_record(rocprof, &element, record);
                return 1;
            }
        } else if (walked == WALK_VALUE) {
            walked = go_in(rocprof, failure);
        } else if (walked == WALK_END) {
            rocprof->place = rocprof->place == IN_NOTHING ? AT_END : rocprof->place - 1;
        }
        if (walked == WALK_DAMAGED || walked == WALK_FAILED)
            return walked == WALK_FAILED ? -1 : 0;
    }
    return 0;
}

static const struct name *text_of(const struct rocprof *rocprof, uint32_t id)
{
    return id == NAME_NONE ? NULL : &rocprof->texts.items[id];
}

const struct name *rocprof_category(const struct rocprof *rocprof,
                                    const struct rocprof_record *record)
{
    bool known = record->of_kind >= 0 && (uint64_t)record->of_kind < rocprof->kind_count;
    return known ? text_of(rocprof, rocprof->kinds[record->of_kind].category) : NULL;
}

const struct name *rocprof_operation(const struct rocprof *rocprof,
                                     const struct rocprof_record *record)
{
    if (record->of_kind < 0 || (uint64_t)record->of_kind >= rocprof->kind_count)
        return NULL;
    const struct record_strings *kind = &rocprof->kinds[record->of_kind];
    bool known = record->operation >= 0 && (uint64_t)record->operation < kind->count;
    return known ? text_of(rocprof, kind->operations[record->operation]) : NULL;
}

const struct name *rocprof_text(const struct rocprof *rocprof, const struct id_table *of,
                                int64_t id)
{
    int64_t text = ids_value(of, id, TEXT_ID);
    return text == NUMBER_NONE || text == NAME_NONE ? NULL : &rocprof->texts.items[text];
}
