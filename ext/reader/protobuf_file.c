#include "protobuf.h"

#include "base/memory.h"
#include "text/scan.h"

enum { CHUNK = 256 * 1024, LONGEST_HEAD = 20 /* bytes of a key and a length */ };

struct protobuf_file *protobuf_open(const char *path, const struct protobuf_options *options,
                                    struct failure *failure)
{
    struct protobuf_file *file = memory_zeroed(1, sizeof *file);
    if (!file) {
        failure_memory(failure);
        return NULL;
    }
    file->path = path;
    file->excerpt.stopper = options->stopper;
    file->excerpt.chunk = options->chunk ? options->chunk : CHUNK;
    file->excerpt.longest = PROTOBUF_LONGEST + LONGEST_HEAD;
    file->excerpt.source = source_open(path, options->by_zlib, failure);
    if (!file->excerpt.source) {
        protobuf_close(file);
        return NULL;
    }
    if (options->idle)
        source_read_ahead(file->excerpt.source, options->idle);
    return file;
}

void protobuf_close(struct protobuf_file *file)
{
    if (!file)
        return;
    excerpt_clear(&file->excerpt);
    failure_clear(&file->trouble);
    memory_free(file);
}

/* The offset of the next byte, from 0. */
static int64_t byte_of(const struct protobuf_file *file)
{
    return file->excerpt.origin + (int64_t)file->excerpt.at;
}

static size_t in_memory(const struct protobuf_file *file)
{
    return file->excerpt.end - file->excerpt.at;
}

static enum protobuf_step damage(struct protobuf_file *file, const char *what)
{
    file->damaged = true;
    if (file->excerpt.last && file->excerpt.damage.code != FAILURE_NONE)
        failure_move(&file->trouble, &file->excerpt.damage);
    else
        failure_at(&file->trouble, FAILURE_DAMAGE, file->path, what, file->begin + 1);
    return PROTOBUF_DAMAGED;
}

/* Reads until `count` bytes are available; PROTOBUF_END if the file ends earlier. */
static enum protobuf_step need(struct protobuf_file *file, size_t count, struct failure *failure)
{
    while (in_memory(file) < count) {
        enum more more = excerpt_read(&file->excerpt, file->excerpt.at, failure);
        if (more != MORE_YES)
            return more == MORE_FAILED ? PROTOBUF_FAILED : PROTOBUF_END;
    }
    return PROTOBUF_FIELD;
}

/* Skips the rest of the previous field. */
static enum protobuf_step pass(struct protobuf_file *file, struct failure *failure)
{
    while (file->pending > 0) {
        size_t left = in_memory(file);
        if (left == 0) {
            enum protobuf_step step = need(file, 1, failure);
            if (step == PROTOBUF_END)
                return damage(file, "the file ends within a field that begins");
            if (step != PROTOBUF_FIELD)
                return step;
            left = in_memory(file);
        }
        size_t count = (uint64_t)file->pending < left ? (size_t)file->pending : left;
        file->excerpt.at += count;
        file->pending -= (int64_t)count;
    }
    return PROTOBUF_FIELD;
}

enum protobuf_step protobuf_step(struct protobuf_file *file, struct protobuf_field *field,
                                 struct failure *failure)
{
    if (file->damaged)
        return PROTOBUF_DAMAGED;
    enum protobuf_step step = pass(file, failure);
    if (step != PROTOBUF_FIELD)
        return step;
    file->begin = byte_of(file);
    int64_t most = INT64_MAX;
    if (file->depth > 0) {
        most = file->ends[file->depth - 1] - file->begin;
        if (most == 0) {
            file->depth--;
            return PROTOBUF_END;
        }
    }
    step = in_memory(file) < LONGEST_HEAD ? need(file, LONGEST_HEAD, failure) : PROTOBUF_FIELD;
    if (step == PROTOBUF_FAILED)
        return step;
    if (in_memory(file) == 0 && file->depth == 0)
        return file->excerpt.damage.code != FAILURE_NONE ? damage(file, "") : PROTOBUF_END;
    size_t room = in_memory(file);
    if ((uint64_t)most < room)
        room = (size_t)most;
    const unsigned char *at = file->excerpt.bytes + file->excerpt.at, *from = at, *end = at + room;
    const char *ends = (uint64_t)most > room ? "the file ends within a field that begins"
                                             : "a field is longer than its message";
    uint64_t key = 0, value = 0;
    bool cut = false;
    at = protobuf_varint(at, end, &key, &cut);
    *field = (struct protobuf_field){.number = (uint32_t)(key >> 3),
                                     .type = (enum protobuf_type)(key & 7)};
    if (!at || key >> 3 < 1 || key >> 3 >= 1 << 29 || field->type == PROTOBUF_GROUP ||
        field->type == PROTOBUF_GROUP_END || field->type > PROTOBUF_FIXED32)
        return damage(file, cut ? ends : "not a field of protobuf");
    size_t fixed = field->type == PROTOBUF_FIXED64 ? 8 : field->type == PROTOBUF_FIXED32 ? 4 : 0;
    if ((size_t)(end - at) < fixed)
        return damage(file, ends);
    for (size_t i = 0; i < fixed; i++)
        value |= (uint64_t)at[i] << 8 * i;
    at += fixed;
    if (fixed == 0 && !(at = protobuf_varint(at, end, &value, &cut)))
        return damage(file, cut ? ends : "not a field of protobuf");
    field->value = value;
    file->excerpt.at += (size_t)(at - from);
    if (field->type != PROTOBUF_BYTES)
        return PROTOBUF_FIELD;
    if (value > (uint64_t)(INT64_MAX - byte_of(file)))
        return damage(file, "the file ends within a field that begins");
    if (file->depth > 0 && value > (uint64_t)(file->ends[file->depth - 1] - byte_of(file)))
        return damage(file, "a field is longer than its message");
    file->pending = (int64_t)value;
    return PROTOBUF_FIELD;
}

enum protobuf_step protobuf_take(struct protobuf_file *file, struct protobuf_field *field,
                                 struct failure *failure)
{
    if (field->value > PROTOBUF_LONGEST) {
        enum protobuf_step step = pass(file, failure);
        return step == PROTOBUF_FIELD ? PROTOBUF_END : step;
    }
    size_t length = (size_t)field->value;
    if (in_memory(file) < length) {
        enum protobuf_step step = need(file, length, failure);
        if (step == PROTOBUF_END)
            return damage(file, "the file ends within a field that begins");
        if (step != PROTOBUF_FIELD)
            return step;
    }
    field->at = file->excerpt.bytes + file->excerpt.at;
    file->excerpt.at += length;
    file->pending = 0;
    return PROTOBUF_FIELD;
}

bool protobuf_enter(struct protobuf_file *file, const struct protobuf_field *field)
{
    if (file->depth == PROTOBUF_DEPTH)
        return false;
    file->ends[file->depth++] = byte_of(file) + (int64_t)field->value;
    file->pending = 0;
    return true;
}

int64_t protobuf_read_to(const struct protobuf_file *file)
{
    return byte_of(file);
}

double protobuf_part(const struct protobuf_file *file)
{
    int64_t size = source_identity(file->excerpt.source)->size;
    double part = size > 0 ? (double)source_position(file->excerpt.source) / (double)size : 1;
    /* excludes bytes that are in memory but not given */
    double given =
        (double)byte_of(file) / (double)(file->excerpt.origin + (int64_t)file->excerpt.end + 1);
    return part * given;
}

void protobuf_take_trouble(struct protobuf_file *file, struct failure *failure)
{
    failure_move(failure, &file->trouble);
}

const struct identity *protobuf_identity(const struct protobuf_file *file)
{
    return source_identity(file->excerpt.source);
}

bool protobuf_unchanged(const struct protobuf_file *file, struct failure *failure)
{
    return source_unchanged(file->excerpt.source, failure);
}

bool protobuf_unsure(const struct protobuf_file *file)
{
    return source_unsure(file->excerpt.source);
}

int64_t protobuf_trailing(const struct protobuf_file *file)
{
    return source_trailing(file->excerpt.source);
}
