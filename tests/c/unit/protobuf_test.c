/*
** protobuf.h: fields of messages in memory, and of files read piece by piece, whole, cut and
** broken.
*/
#include "unit.h"

#include "reader/protobuf.h"

enum { ROOM = 4096, FIELDS = 64, SHORT = 60 };

/* A message that is being written, and the fields that it has. */
static struct {
    unsigned char bytes[ROOM];
    size_t length;
    struct protobuf_field fields[FIELDS];
    size_t ends[FIELDS]; /* by field: the byte after it */
    size_t count;
} made;

static void put_varint(uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        made.bytes[made.length++] = (unsigned char)(value | 0x80);
    made.bytes[made.length++] = (unsigned char)value;
}

static void put_fixed(uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        made.bytes[made.length++] = (unsigned char)(value >> 8 * i);
}

/* A number with few or many bits. */
static uint64_t any_value(void)
{
    uint64_t value = (uint64_t)unit_random(UINT32_MAX) << 32 | unit_random(UINT32_MAX);
    return value >> unit_random(64);
}

static void put_field(uint32_t number, enum protobuf_type type)
{
    struct protobuf_field *field = &made.fields[made.count];
    *field = (struct protobuf_field){.number = number, .type = type, .value = any_value()};
    put_varint((uint64_t)number << 3 | type);
    if (type == PROTOBUF_VARINT) {
        put_varint(field->value);
    } else if (type == PROTOBUF_BYTES) {
        field->value = unit_random(SHORT);
        put_varint(field->value);
        field->at = made.bytes + made.length;
        for (uint64_t i = 0; i < field->value; i++)
            made.bytes[made.length++] = (unsigned char)unit_random(256);
    } else {
        size_t size = type == PROTOBUF_FIXED64 ? 8 : 4;
        field->value = size == 8 ? field->value : (uint32_t)field->value;
        put_fixed(field->value, size);
    }
    made.ends[made.count++] = made.length;
}

static void make_message(size_t fields)
{
    static const enum protobuf_type types[] = {PROTOBUF_VARINT, PROTOBUF_BYTES, PROTOBUF_BYTES,
                                               PROTOBUF_FIXED64, PROTOBUF_FIXED32};
    made.length = made.count = 0;
    while (made.count < fields)
        put_field(1 + unit_random(unit_random(2) ? 15 : (1 << 29) - 1), types[unit_random(5)]);
}

static bool same_field(const struct protobuf_field *field, const struct protobuf_field *other)
{
    return CHECK_INT(field->number, other->number) && CHECK_INT(field->type, other->type) &&
           CHECK_INT(field->value, other->value);
}

TEST(fields_are_those_that_were_written_and_a_cut_message_has_those_before_the_cut)
{
    for (int round = 0; round < unit_series(20, 300); round++) {
        make_message(1 + unit_random(8));
        for (size_t length = 0; length <= made.length; length++) {
            struct protobuf message = protobuf_message(made.bytes, length);
            struct protobuf_field field;
            size_t count = 0;
            bool whole = length == 0;
            for (; protobuf_next(&message, &field); count++) {
                if (!same_field(&field, &made.fields[count]))
                    return;
                CHECK(field.type != PROTOBUF_BYTES || field.at == made.fields[count].at);
            }
            for (size_t i = 0; i < made.count; i++)
                whole = whole || made.ends[i] == length;
            CHECK_INT(message.broken, !whole);
            CHECK(count == made.count || made.ends[count] > length);
        }
    }
}

/* How many fields a message gives, and whether it is broken after them. */
static size_t fields_of(const char *bytes, size_t length, bool *broken)
{
    struct protobuf message = protobuf_message(bytes, length);
    struct protobuf_field field;
    size_t count = 0;
    while (protobuf_next(&message, &field))
        count++;
    *broken = message.broken;
    CHECK(!protobuf_next(&message, &field));
    return count;
}

#define GIVES(bytes, fields, is_broken)                                     \
    do {                                                                    \
        bool broken_;                                                       \
        unit_trying("%s", #bytes);                                          \
        CHECK_INT(fields_of((bytes), sizeof(bytes) - 1, &broken_), fields); \
        CHECK_INT(broken_, is_broken);                                      \
    } while (0)

TEST(what_is_not_protobuf_ends_a_message)
{
    GIVES("", 0, false);
    GIVES("\x08\x01", 1, false);
    GIVES("\x08\x01\x00\x01", 1, true);                                     /* number 0 */
    GIVES("\x08\x01\x0e\x01", 1, true);                                     /* type 6 */
    GIVES("\x08\x01\x0f\x01", 1, true);                                     /* type 7 */
    GIVES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 1, false);        /* 64 bits */
    GIVES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 0, true);         /* 65 */
    GIVES("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 0, true);     /* 11 bytes */
    GIVES("\xf8\xff\xff\xff\x0f\x01", 1, false);                            /* the highest number */
    GIVES("\x80\x80\x80\x80\x10\x01", 0, true);                             /* the next one */
    GIVES("\x88\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00\x01", 0, true); /* a key of 12 bytes */
    GIVES("\x0a\x02\x01", 0, true);                                         /* longer than all */
    GIVES("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 0, true);         /* much longer */
    GIVES("\x0a\xff\xff\xff\xff\x0f\x01", 0, true);
    GIVES("\x09\x01\x02\x03\x04\x05\x06\x07", 0, true);
    GIVES("\x0d\x01\x02\x03", 0, true);
}

TEST(groups_are_passed_over)
{
    char deep[2 * 70 + 2];
    bool broken;
    GIVES("\x0b\x10\x01\x0c\x08\x01", 1, false);
    GIVES("\x0b\x13\x10\x01\x14\x0c\x08\x01", 1, false);
    GIVES("\x0b\x10\x01\x0c", 0, false);
    GIVES("\x0b\x10\x01", 0, true);     /* without its end */
    GIVES("\x0c\x08\x01", 0, true);     /* an end alone */
    GIVES("\x0b\x14\x0c", 0, true);     /* the end of another */
    GIVES("\x0b\x13\x0c\x14", 0, true); /* not within each other */
    unit_trying("deep groups");
    for (int depth = 63; depth <= 65; depth++) {
        memset(deep, 0x0b, (size_t)depth);
        memset(deep + depth, 0x0c, (size_t)depth);
        memcpy(deep + 2 * depth, "\x08\x01", 2);
        CHECK_INT(fields_of(deep, (size_t)(2 * depth) + 2, &broken), depth <= 64);
        CHECK_INT(broken, depth > 64);
    }
}

TEST(repeated_values_are_packed_or_not)
{
    static const unsigned char packed[] = {0x01, 0x96, 0x01, 0x80};
    struct protobuf_field field = {1, PROTOBUF_BYTES, sizeof packed, packed};
    struct protobuf rest = {NULL, NULL, false};
    uint64_t value;
    CHECK(protobuf_repeated(&field, PROTOBUF_VARINT, &rest, &value) && value == 1);
    CHECK(protobuf_repeated(&field, PROTOBUF_VARINT, &rest, &value) && value == 150);
    CHECK(!protobuf_repeated(&field, PROTOBUF_VARINT, &rest, &value)); /* cut */
    CHECK(!protobuf_repeated(&field, PROTOBUF_VARINT, &rest, &value));
    rest = (struct protobuf){NULL, NULL, false};
    CHECK(protobuf_repeated(&field, PROTOBUF_FIXED32, &rest, &value) && value == 0x80019601);
    CHECK(!protobuf_repeated(&field, PROTOBUF_FIXED32, &rest, &value));
    rest = (struct protobuf){NULL, NULL, false};
    CHECK(!protobuf_repeated(&field, PROTOBUF_FIXED64, &rest, &value)); /* too short for one */
    field = (struct protobuf_field){1, PROTOBUF_VARINT, 7, NULL};
    rest = (struct protobuf){NULL, NULL, false};
    CHECK(protobuf_repeated(&field, PROTOBUF_VARINT, &rest, &value) && value == 7);
    CHECK(!protobuf_repeated(&field, PROTOBUF_VARINT, &rest, &value));
    rest = (struct protobuf){NULL, NULL, false};
    CHECK(!protobuf_repeated(&field, PROTOBUF_FIXED64, &rest, &value)); /* of another type */
}

/* Files. */

static const size_t chunks[] = {1, 2, 7, 64, 0};
enum { CHUNKS = sizeof chunks / sizeof *chunks };

static struct protobuf_file *open_made(const char *path, size_t chunk, bool by_zlib)
{
    struct failure failure = {.code = FAILURE_NONE};
    struct protobuf_options options = {.chunk = chunk, .by_zlib = by_zlib};
    struct protobuf_file *file = protobuf_open(path, &options, &failure);
    CHECK(file != NULL);
    return file;
}

/* Reads a file to its end, taking some fields and passing over others; returns their number. */
static size_t read_made(struct protobuf_file *file, enum protobuf_step *last)
{
    struct failure failure = {.code = FAILURE_NONE};
    struct protobuf_field field;
    size_t count = 0;
    while ((*last = protobuf_step(file, &field, &failure)) == PROTOBUF_FIELD) {
        const struct protobuf_field *expected = &made.fields[count];
        if (count == made.count || !same_field(&field, expected))
            break;
        if (field.type == PROTOBUF_BYTES && unit_random(2)) {
            *last = protobuf_take(file, &field, &failure);
            if (*last != PROTOBUF_FIELD)
                break;
            CHECK_BYTES(field.at, field.value, expected->at, expected->value);
        }
        CHECK_INT(protobuf_byte(file), (count ? made.ends[count - 1] : 0) + 1);
        count++;
    }
    CHECK_INT(failure.code, FAILURE_NONE);
    return count;
}

TEST(a_file_gives_the_same_fields_whatever_is_read_at_a_time)
{
    for (int round = 0; round < unit_series(10, 100); round++) {
        make_message(1 + unit_random(30));
        for (int i = 0; i < 2 * CHUNKS; i++) {
            enum protobuf_step last;
            unit_trying("round %d, reading %d", round, i);
            const char *path = i < CHUNKS ? unit_file(made.bytes, made.length)
                                          : unit_gzip_file(made.bytes, made.length, "wb");
            struct protobuf_file *file = open_made(path, chunks[i % CHUNKS], unit_random(2));
            CHECK_INT(read_made(file, &last), made.count);
            CHECK_INT(last, PROTOBUF_END);
            CHECK_INT(protobuf_read_to(file), made.length);
            protobuf_close(file);
        }
    }
}

TEST(a_file_that_is_cut_gives_the_fields_before_the_cut_and_says_where)
{
    make_message(12);
    for (size_t length = 0; length <= made.length; length++) {
        struct failure trouble = {.code = FAILURE_NONE};
        enum protobuf_step last;
        size_t whole = 0;
        while (whole < made.count && made.ends[whole] <= length)
            whole++;
        bool cut = length > (whole ? made.ends[whole - 1] : 0);
        unit_trying("%zu of %zu bytes", length, made.length);
        struct protobuf_file *file =
            open_made(unit_file(made.bytes, length), chunks[length % CHUNKS], false);
        size_t count = read_made(file, &last);
        CHECK_INT(last, cut ? PROTOBUF_DAMAGED : PROTOBUF_END);
        CHECK(count == whole || (cut && count == whole + 1)); /* the field that was passed over */
        protobuf_take_trouble(file, &trouble);
        CHECK_INT(trouble.code, cut ? FAILURE_DAMAGE : FAILURE_NONE);
        if (cut)
            CHECK(strstr(trouble.text, "the file ends within a field that begins at byte ") !=
                  NULL);
        failure_clear(&trouble);
        protobuf_close(file);
    }
}

TEST(messages_are_entered_and_left)
{
    /* 1 { 2 { 1: 5 }, 3: 6 }, 4: 7 */
    static const unsigned char bytes[] = {0x0a, 6, 0x12, 2, 0x08, 5, 0x18, 6, 0x20, 7};
    for (int i = 0; i < CHUNKS; i++) {
        struct failure failure = {.code = FAILURE_NONE};
        struct protobuf_field field;
        struct protobuf_file *file = open_made(unit_file(bytes, sizeof bytes), chunks[i], false);
        CHECK_INT(protobuf_step(file, &field, &failure), PROTOBUF_FIELD);
        CHECK(protobuf_enter(file, &field));
        CHECK_INT(protobuf_step(file, &field, &failure), PROTOBUF_FIELD);
        CHECK(protobuf_enter(file, &field));
        CHECK_INT(protobuf_step(file, &field, &failure), PROTOBUF_FIELD);
        CHECK(field.number == 1 && field.value == 5);
        CHECK_INT(protobuf_step(file, &field, &failure), PROTOBUF_END);
        CHECK_INT(protobuf_step(file, &field, &failure), PROTOBUF_FIELD);
        CHECK(field.number == 3 && field.value == 6);
        CHECK_INT(protobuf_step(file, &field, &failure), PROTOBUF_END);
        CHECK_INT(protobuf_step(file, &field, &failure), PROTOBUF_FIELD);
        CHECK(field.number == 4 && field.value == 7);
        CHECK_INT(protobuf_step(file, &field, &failure), PROTOBUF_END);
        CHECK_INT(protobuf_step(file, &field, &failure), PROTOBUF_END);
        protobuf_close(file);
    }
}

/* Enters every message of a file; returns how many, and how that ended. */
static size_t enter_all(const void *bytes, size_t length, enum protobuf_step *last, char *text)
{
    struct failure failure = {.code = FAILURE_NONE}, trouble = {.code = FAILURE_NONE};
    struct protobuf_field field;
    struct protobuf_file *file = open_made(unit_file(bytes, length), 3, false);
    size_t count = 0;
    while ((*last = protobuf_step(file, &field, &failure)) == PROTOBUF_FIELD)
        if (field.type != PROTOBUF_BYTES || !protobuf_enter(file, &field))
            break;
        else
            count++;
    protobuf_take_trouble(file, &trouble);
    snprintf(text, 200, "%.199s", trouble.text ? strchr(trouble.text, ':') : "");
    failure_clear(&trouble);
    protobuf_close(file);
    return count;
}

TEST(messages_that_do_not_fit_into_each_other_are_damage)
{
    char text[200];
    enum protobuf_step last;
    unsigned char deep[2 * PROTOBUF_DEPTH + 2];
    CHECK_INT(enter_all("\x0a\x02\x0a\x01\x00", 5, &last, text), 1);
    CHECK_INT(last, PROTOBUF_DAMAGED);
    CHECK_TEXT(text, ": a field is longer than its message at byte 3");
    CHECK_INT(enter_all("\x0a\x01\x0a\x00", 4, &last, text), 1);
    CHECK_TEXT(text, ": a field is longer than its message at byte 3");
    CHECK_INT(enter_all("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, &last, text), 0);
    CHECK_TEXT(text, ": the file ends within a field that begins at byte 1");
    CHECK_INT(enter_all("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x0a\x01\x00", 13, &last, text),
              0);
    CHECK_INT(last, PROTOBUF_DAMAGED);
    CHECK_INT(enter_all("\x0b\x0c", 2, &last, text), 0);
    CHECK_TEXT(text, ": not a field of protobuf at byte 1");
    for (size_t i = 0; i <= PROTOBUF_DEPTH; i++) {
        deep[2 * i] = 0x0a;
        deep[2 * i + 1] = (unsigned char)(2 * (PROTOBUF_DEPTH - i));
    }
    CHECK_INT(enter_all(deep, sizeof deep, &last, text), PROTOBUF_DEPTH);
}

TEST(a_field_that_is_too_long_is_passed_over)
{
    enum { LENGTH = PROTOBUF_LONGEST + 1 };
    unsigned char *bytes = calloc(LENGTH + 8, 1);
    struct failure failure = {.code = FAILURE_NONE};
    struct protobuf_field field;
    memcpy(bytes, "\x0a\x81\x80\x80\x08", 5); /* 16 MiB + 1 */
    memcpy(bytes + 5 + LENGTH, "\x08\x05", 2);
    struct protobuf_file *file = open_made(unit_gzip_file(bytes, LENGTH + 7, "wb"), 0, false);
    unit_most = (int64_t)unit_bytes;
    int64_t before = unit_most;
    CHECK_INT(protobuf_step(file, &field, &failure), PROTOBUF_FIELD);
    CHECK_INT(field.value, LENGTH);
    CHECK_INT(protobuf_take(file, &field, &failure), PROTOBUF_END);
    CHECK_INT(protobuf_step(file, &field, &failure), PROTOBUF_FIELD);
    CHECK_INT(field.value, 5);
    CHECK_INT(protobuf_step(file, &field, &failure), PROTOBUF_END);
    CHECK(unit_most - before < 2 << 20);
    protobuf_close(file);
    free(bytes);
}

TEST(memory_that_runs_out_is_a_failure)
{
    make_message(20);
    const char *path = unit_gzip_file(made.bytes, made.length, "wb");
    for (int n = 1; n < 10; n++) {
        struct failure failure = {.code = FAILURE_NONE};
        struct protobuf_options options = {.chunk = 7};
        struct protobuf_field field;
        unit_fail_allocation(n, false);
        struct protobuf_file *file = protobuf_open(path, &options, &failure);
        size_t count = 0;
        enum protobuf_step step = PROTOBUF_FAILED;
        while (file && (step = protobuf_step(file, &field, &failure)) == PROTOBUF_FIELD)
            count++;
        CHECK(failure.code == FAILURE_MEMORY || count == made.count);
        CHECK_INT(step, failure.code == FAILURE_MEMORY ? PROTOBUF_FAILED : PROTOBUF_END);
        unit_fail_allocation(0, false);
        protobuf_close(file);
        failure_clear(&failure);
    }
}
