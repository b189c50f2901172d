#include "fr_entries_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "naming/python_path.h"
#include "text/ascii.h"

/* A file being read into a job. */
struct fr_reading {
    struct fr_job *job;
    struct fr_dump *dump;
    const struct values *values;
    const char *path;
    uint32_t *texts;  /* by text of the file: text of the job plus 1; 0: none yet */
    uint32_t *frames; /* by node of the file: frame of the job plus 1 */
    unsigned char *bytes; /* buffer for a list */
    size_t length, capacity;
    size_t last_member; /* member of the previous entry */
    struct failure *failure;
};

static bool damaged(struct fr_reading *reading, const char *what)
{
    return failure_at(reading->failure, FAILURE_DAMAGE, reading->path, what, 0);
}

static bool lost(struct fr_reading *reading)
{
    return failure_memory(reading->failure);
}

bool fr_is_dump(const struct pickle *pickle)
{
    return values_field(&pickle->values, pickle->root, FR_KEY_ENTRIES) != 0 ||
           values_field(&pickle->values, pickle->root, FR_KEY_PG_CONFIG) != 0;
}

/* The job's text for a value; FR_EMPTY for other values. NAME_NONE if out of memory. */
static uint32_t text_of(struct fr_reading *reading, pickled value)
{
    if (pickled_kind(value) != PICKLED_TEXT)
        return FR_EMPTY;
    uint32_t *known = &reading->texts[pickled_id(value)];
    if (*known == 0)
        *known = names_adopt(&reading->job->texts, values_name(reading->values, value)) + 1;
    return *known - 1;
}

/* The integer of a value or text, because JSON has some as texts. Otherwise NUMBER_NONE. */
static int64_t number_of(const struct values *values, pickled value)
{
    int64_t number = NUMBER_NONE;
    const struct name *text = values_name(values, value);
    if (text)
        number_integer((const unsigned char *)text->text, text->length, &number);
    else
        values_number(values, value, &number);
    return number;
}

/* A time; 0 and None mean no time. */
static int64_t time_of(const struct values *values, pickled value)
{
    int64_t time = number_of(values, value);
    return time > 0 ? time : NUMBER_NONE;
}

static bool add_bytes(struct fr_reading *reading, const void *bytes, size_t length)
{
    if (!MEMORY_GROW(reading->bytes, reading->capacity, reading->length + length))
        return lost(reading);
    memcpy(reading->bytes + reading->length, bytes, length);
    reading->length += length;
    return true;
}

static bool add_number(struct fr_reading *reading, int64_t number)
{
    return add_bytes(reading, &number, sizeof number);
}

/* Stores the list in the buffer. */
static bool keep(struct fr_reading *reading, struct names *lists, uint32_t *id)
{
    *id = names_intern(lists, reading->bytes ? (const void *)reading->bytes : "", reading->length);
    return *id != NAME_NONE || lost(reading);
}

/* Reads sizes: for each tensor the number of dimensions, followed by the dimensions. */
static bool take_sizes(struct fr_reading *reading, pickled list, uint32_t *id)
{
    const struct values *values = reading->values;
    struct value_walk tensors = values_walk(values, list);
    pickled tensor, dimension;
    reading->length = 0;
    while ((tensor = walk_next(&tensors)) != 0) {
        struct value_walk walk = values_walk(values, tensor);
        size_t at = reading->length;
        int64_t count = 0;
        if (!add_number(reading, 0))
            return false;
        for (; (dimension = walk_next(&walk)) != 0; count++) {
            int64_t size = 0;
            values_number(values, dimension, &size);
            if (!add_number(reading, size))
                return false;
        }
        memcpy(reading->bytes + at, &count, sizeof count);
    }
    return keep(reading, &reading->job->sizes, id);
}

static bool take_types(struct fr_reading *reading, pickled list, uint32_t *id)
{
    struct value_walk walk = values_walk(reading->values, list);
    pickled item;
    reading->length = 0;
    while ((item = walk_next(&walk)) != 0) {
        uint32_t text = text_of(reading, item);
        if (text == NAME_NONE)
            return lost(reading);
        if (!add_bytes(reading, &text, sizeof text))
            return false;
    }
    return keep(reading, &reading->job->lists, id);
}

/* Adds a frame to the job: `FILE:LINE NAME`. */
static bool add_frame(struct fr_reading *reading, pickled dict, uint32_t *id)
{
    enum { LINE_ROOM = 32 };
    struct fr_job *job = reading->job;
    const struct values *values = reading->values;
    static const struct name unknown = {.text = "", .length = 0};
    const struct name *file = values_name(values, values_field(values, dict, FR_KEY_FILENAME));
    const struct name *function = values_name(values, values_field(values, dict, FR_KEY_NAME));
    int64_t line = number_of(values, values_field(values, dict, FR_KEY_LINE));
    char between[LINE_ROOM];
    file = file ? file : &unknown;
    function = function ? function : &unknown;
    snprintf(between, sizeof between, ":%lld ", (long long)(line == NUMBER_NONE ? 0 : line));
    size_t from = 0; /* start of the file's base name */
    for (size_t i = 0; i < file->length; i++)
        from = is_separator((unsigned char)file->text[i]) ? i + 1 : from;
    reading->length = 0;
    if (!MEMORY_GROW(job->frames, job->frame_capacity, job->frame_count + 1) ||
        !add_bytes(reading, file->text, file->length) ||
        !add_bytes(reading, between, strlen(between)) ||
        !add_bytes(reading, function->text, function->length))
        return lost(reading);
    struct fr_frame *frame = &job->frames[job->frame_count];
    frame->whole = names_intern(&job->texts, reading->bytes, reading->length);
    frame->brief = names_intern(&job->texts, reading->bytes + from, reading->length - from);
    frame->is_torch = path_after(file->text, file->text + file->length, "torch") != NULL;
    *id = (uint32_t)job->frame_count++;
    return (frame->whole != NAME_NONE && frame->brief != NAME_NONE) || lost(reading);
}

static bool take_frames(struct fr_reading *reading, pickled list, uint32_t *id)
{
    struct value_walk walk = values_walk(reading->values, list);
    pickled item;
    for (; (item = walk_next(&walk)) != 0;) { /* first, because it uses the buffer, too */
        uint32_t frame = 0, *known;
        if (pickled_kind(item) != PICKLED_DICT)
            return damaged(reading, "a frame of an entry is not a dictionary");
        known = &reading->frames[pickled_id(item)];
        if (*known == 0) {
            if (!add_frame(reading, item, &frame))
                return false;
            *known = frame + 1;
        }
    }
    walk = values_walk(reading->values, list);
    reading->length = 0;
    while ((item = walk_next(&walk)) != 0) {
        uint32_t frame = reading->frames[pickled_id(item)] - 1;
        if (!add_bytes(reading, &frame, sizeof frame))
            return false;
    }
    return keep(reading, &reading->job->lists, id);
}

/* Reads the digits at `*p`; -1 without digits. */
static int64_t take_rank(const char **p)
{
    enum { MOST_RANK = 100000000 };
    int64_t rank = -1;
    for (; is_digit((unsigned char)**p) && rank < MOST_RANK; ++*p)
        rank = (rank < 0 ? 0 : rank) * 10 + (**p - '0');
    return rank;
}

/* Parses a profiling name such as `nccl:send 0->3`, `nccl:recv 0<-3` or `gloo:barrier`. */
static bool take_op(struct fr_reading *reading, uint32_t text, uint32_t *op)
{
    struct fr_job *job = reading->job;
    size_t before = job->op_of_capacity;
    if (!MEMORY_GROW(job->op_of_text, job->op_of_capacity, job->texts.count))
        return lost(reading);
    if (job->op_of_capacity > before)
        memset(job->op_of_text + before, 0,
               (job->op_of_capacity - before) * sizeof *job->op_of_text);
    if (job->op_of_text[text] == 0) {
        const char *p = fr_text(job, text)->text, *colon = strchr(p, ':');
        const char *name = colon ? colon + 1 : p, *end = name + strcspn(name, " ");
        struct fr_op made = {FR_EMPTY, FR_EMPTY, -1, -1};
        if (!MEMORY_GROW(job->ops, job->op_capacity, job->op_count + 1))
            return lost(reading);
        made.backend = names_intern(&job->texts, p, colon ? (size_t)(colon - p) : 0);
        made.op = names_intern(&job->texts, name, (size_t)(end - name));
        if (made.backend == NAME_NONE || made.op == NAME_NONE)
            return lost(reading);
        if (*end == ' ' && (made.op == FR_SEND || made.op == FR_RECV)) {
            const char *q = end + 1;
            int64_t own = take_rank(&q), other = -1;
            if (q[0] && q[1]) {
                q += 2; /* -> or <- */
                other = take_rank(&q);
            }
            made.from = made.op == FR_SEND ? own : other;
            made.to = made.op == FR_SEND ? other : own;
        }
        job->ops[job->op_count] = made;
        job->op_of_text[text] = (uint32_t)++job->op_count;
    }
    *op = job->op_of_text[text] - 1;
    return true;
}

/* Finds the member for a group name in this dump, and adds new ones. */
static bool find_member(struct fr_reading *reading, uint32_t name, uint32_t description,
                        uint32_t *member)
{
    struct fr_job *job = reading->job;
    size_t first = reading->dump->first_member, i = reading->last_member;
    if (i < first || i >= job->member_count || job->members[i].name != name)
        for (i = first; i < job->member_count && job->members[i].name != name;)
            i++;
    reading->last_member = i;
    *member = (uint32_t)i;
    if (i < job->member_count)
        return true;
    if (!MEMORY_GROW(job->members, job->member_capacity, job->member_count + 1))
        return lost(reading);
    job->members[job->member_count++] = (struct fr_member){
        .dump = (uint32_t)(reading->dump - job->dumps),
        .group = FR_NONE,
        .name = name,
        .description = description,
        .ranks = NAME_NONE,
        .group_id = NUMBER_NONE,
        .called = NUMBER_NONE,
        .completed = NUMBER_NONE,
        .first_kept = NUMBER_NONE,
        .first_pending = NUMBER_NONE,
    };
    return true;
}

/* Reads ranks from pg_config: a text `[0, 1]`, or a list. */
static bool take_ranks(struct fr_reading *reading, pickled value, uint32_t *id)
{
    const struct name *text = values_name(reading->values, value);
    struct value_walk walk = values_walk(reading->values, value);
    pickled item;
    reading->length = 0;
    for (const char *p = text ? text->text : ""; *p;) {
        int64_t rank = take_rank(&p);
        if (rank >= 0 && !add_number(reading, rank))
            return false;
        p += rank < 0;
    }
    while ((item = walk_next(&walk)) != 0) {
        int64_t rank = number_of(reading->values, item);
        if (rank >= 0 && !add_number(reading, rank))
            return false;
    }
    return keep(reading, &reading->job->sizes, id);
}

/* FR9: reads the groups of pg_config. Gloo writes one without a name. */
static bool take_groups(struct fr_reading *reading, pickled config)
{
    const struct values *values = reading->values;
    size_t count = values_pairs(values, config);
    if (config != 0 && pickled_kind(config) != PICKLED_DICT)
        return damaged(reading, "pg_config is not a dictionary");
    for (size_t i = 0; i < count; i++) {
        pickled key, dict;
        uint32_t name, description, ranks, member;
        values_pair(values, config, i, &key, &dict);
        if (pickled_kind(dict) != PICKLED_DICT)
            return damaged(reading, "a group of pg_config is not a dictionary");
        name = text_of(reading, values_field(values, dict, FR_KEY_NAME));
        description = text_of(reading, values_field(values, dict, FR_KEY_DESC));
        if (name == NAME_NONE || description == NAME_NONE)
            return lost(reading);
        if (name == FR_EMPTY)
            continue;
        if (!take_ranks(reading, values_field(values, dict, FR_KEY_RANKS), &ranks) ||
            !find_member(reading, name, description, &member))
            return false;
        if (reading->length > 0)
            reading->job->members[member].ranks = ranks;
    }
    return true;
}

static bool take_statuses(struct fr_reading *reading, pickled all)
{
    struct fr_job *job = reading->job;
    const struct values *values = reading->values;
    size_t count = values_pairs(values, all);
    if (!MEMORY_GROW(job->statuses, job->status_capacity, job->status_count + count))
        return lost(reading);
    for (size_t i = 0; i < count; i++) {
        pickled key, dict;
        values_pair(values, all, i, &key, &dict);
        int64_t id = number_of(values, key),
                called = number_of(values, values_field(values, dict, FR_KEY_ENQUEUED)),
                completed = number_of(values, values_field(values, dict, FR_KEY_COMPLETED));
        if (id == NUMBER_NONE || pickled_kind(dict) != PICKLED_DICT)
            return damaged(reading, "a status of pg_status is not a dictionary");
        job->statuses[job->status_count++] = (struct fr_group_status){
            id, called >= 0 ? called : NUMBER_NONE, completed >= 0 ? completed : NUMBER_NONE};
    }
    return true;
}

static bool is_true(pickled value)
{
    return value == pickled_of(PICKLED_BOOL, 1) || value == pickled_of(PICKLED_INTEGER, 1);
}

static bool take_lists(struct fr_reading *reading, pickled dict, struct fr_entry *entry)
{
    const struct values *values = reading->values;
    return take_sizes(reading, values_field(values, dict, FR_KEY_INPUT_SIZES),
                      &entry->input_sizes) &&
           take_sizes(reading, values_field(values, dict, FR_KEY_OUTPUT_SIZES),
                      &entry->output_sizes) &&
           take_types(reading, values_field(values, dict, FR_KEY_INPUT_TYPES),
                      &entry->input_types) &&
           take_types(reading, values_field(values, dict, FR_KEY_OUTPUT_TYPES),
                      &entry->output_types) &&
           take_frames(reading, values_field(values, dict, FR_KEY_FRAMES), &entry->frames);
}

/* Reads a number of an entry; 0 if an older version lacks it. */
static int64_t number_or_zero(const struct values *values, pickled dict, enum fr_key key)
{
    int64_t number = number_of(values, values_field(values, dict, key));
    return number == NUMBER_NONE ? 0 : number;
}

static bool take_entry(struct fr_reading *reading, pickled dict)
{
    struct fr_job *job = reading->job;
    const struct values *values = reading->values;
    struct fr_entry entry = {.batch = FR_NONE, .dump = (uint32_t)(reading->dump - job->dumps)};
    if (pickled_kind(dict) != PICKLED_DICT)
        return damaged(reading, "an entry is not a dictionary");
    struct value_walk group = values_walk(values, values_field(values, dict, FR_KEY_PROCESS_GROUP));
    pickled name = walk_next(&group), description = walk_next(&group);
    pickled profiling = values_field(values, dict, FR_KEY_PROFILING_NAME),
            state = values_field(values, dict, FR_KEY_STATE);
    entry.record = number_of(values, values_field(values, dict, FR_KEY_RECORD_ID));
    entry.created = number_of(values, values_field(values, dict, FR_KEY_CREATED));
    if (entry.record < 0 || entry.created < 0)
        return damaged(reading, "an entry has no record_id or time_created_ns");
    if (pickled_kind(name) != PICKLED_TEXT || pickled_kind(profiling) != PICKLED_TEXT ||
        pickled_kind(state) != PICKLED_TEXT)
        return damaged(reading, "an entry has no process_group, profiling_name or state");
    uint32_t name_text = text_of(reading, name), description_text = text_of(reading, description),
             profiling_text = text_of(reading, profiling);
    entry.state = text_of(reading, state);
    entry.thread = text_of(reading, values_field(values, dict, FR_KEY_THREAD));
    if (name_text == NAME_NONE || description_text == NAME_NONE || profiling_text == NAME_NONE ||
        entry.state == NAME_NONE || entry.thread == NAME_NONE)
        return lost(reading);
    entry.collective_seq = number_or_zero(values, dict, FR_KEY_COLLECTIVE_SEQ);
    entry.p2p_seq = number_or_zero(values, dict, FR_KEY_P2P_SEQ);
    entry.op_id = number_or_zero(values, dict, FR_KEY_OP_ID);
    entry.group_id = number_of(values, values_field(values, dict, FR_KEY_PG_ID));
    entry.started = time_of(values, values_field(values, dict, FR_KEY_STARTED_NS));
    entry.completed = time_of(values, values_field(values, dict, FR_KEY_COMPLETED_NS));
    entry.timeout_ms = number_of(values, values_field(values, dict, FR_KEY_TIMEOUT));
    entry.duration_ms = values_double(values, values_field(values, dict, FR_KEY_DURATION));
    entry.is_p2p = is_true(values_field(values, dict, FR_KEY_IS_P2P));
    entry.retired = is_true(values_field(values, dict, FR_KEY_RETIRED));
    if (!find_member(reading, name_text, description_text, &entry.member) ||
        !take_op(reading, profiling_text, &entry.op) || !take_lists(reading, dict, &entry))
        return false;
    if (!MEMORY_GROW(job->entries, job->entry_capacity, job->entry_count + 1))
        return lost(reading);
    job->entries[job->entry_count++] = entry;
    return true;
}

static bool take_all(struct fr_reading *reading, pickled root, const struct stopper *stopper)
{
    const struct values *values = reading->values;
    pickled list = values_field(values, root, FR_KEY_ENTRIES), entry;
    struct value_walk walk = values_walk(values, list);
    if (list != 0 && !walk.node && pickled_kind(list) != PICKLED_NONE)
        return damaged(reading, "entries is not a list");
    reading->dump->version = text_of(reading, values_field(values, root, FR_KEY_VERSION));
    if (reading->dump->version == NAME_NONE)
        return lost(reading);
    if (!take_groups(reading, values_field(values, root, FR_KEY_PG_CONFIG)) ||
        !take_statuses(reading, values_field(values, root, FR_KEY_PG_STATUS)))
        return false;
    for (size_t i = 0; (entry = walk_next(&walk)) != 0; i++)
        if (!take_entry(reading, entry) || !stopper_goes_on(stopper, i, reading->failure))
            return false;
    return true;
}

static int by_record(const void *a, const void *b)
{
    const struct fr_entry *x = a, *y = b;
    return COMPARE(x->record, y->record);
}

bool fr_entries_read(struct fr_job *job, struct fr_dump *dump, const struct pickle *pickle,
                     const char *path, const struct stopper *stopper, struct failure *failure)
{
    struct fr_reading reading = {.job = job,
                                 .dump = dump,
                                 .values = &pickle->values,
                                 .path = path,
                                 .last_member = SIZE_MAX,
                                 .failure = failure};
    reading.texts = memory_zeroed(pickle->values.texts.count, sizeof *reading.texts);
    reading.frames = memory_zeroed(pickle->values.node_count, sizeof *reading.frames);
    bool done = reading.texts && reading.frames ? take_all(&reading, pickle->root, stopper)
                                                : failure_memory(failure);
    dump->count = job->entry_count - dump->first;
    dump->member_count = job->member_count - dump->first_member;
    dump->status_count = job->status_count - dump->first_status;
    done = done && sort_items(job->entries + dump->first, dump->count, sizeof *job->entries,
                              by_record, stopper, failure);
    memory_free(reading.texts);
    memory_free(reading.frames);
    memory_free(reading.bytes);
    return done;
}
