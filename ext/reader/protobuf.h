/*
** Protobuf's wire format: the fields of a message in memory, and of a file being read.
**
** 1. A varint has at most 10 bytes and a value of 64 bits. A key has a field number from 1 to
**    536,870,911.
** 2. A field lies within its message. A message that violates rule 1 or 2 is broken from there on;
**    its earlier fields are valid.
** 3. Groups, which are no longer written, are skipped, nested up to 64 deep. Between the fields of
**    a file that is read in pieces, they are damage.
** 4. This layer does not recurse, knows no meanings of fields, and examines a field's content only
**    on request.
*/
#ifndef TRACEDIFF_PROTOBUF_H
#define TRACEDIFF_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/stopper.h"
#include "excerpt.h"

enum protobuf_type {
    PROTOBUF_VARINT,
    PROTOBUF_FIXED64,
    PROTOBUF_BYTES, /* bytes, text, a message, or packed values */
    PROTOBUF_GROUP,
    PROTOBUF_GROUP_END,
    PROTOBUF_FIXED32
};

struct protobuf_field {
    uint32_t number;
    enum protobuf_type type; /* VARINT, FIXED64, BYTES or FIXED32 */
    uint64_t value;          /* raw value; for BYTES, their number */
    const unsigned char *at; /* for BYTES; valid as long as the message */
};

/* A message in memory. */
struct protobuf {
    const unsigned char *at, *end;
    bool broken;
};

static inline struct protobuf protobuf_message(const void *at, size_t length)
{
    return (struct protobuf){at, (const unsigned char *)at + length, false};
}

/* The message inside a field; empty and broken unless the field has BYTES. */
static inline struct protobuf protobuf_inner(const struct protobuf_field *field)
{
    return field->type == PROTOBUF_BYTES ? protobuf_message(field->at, (size_t)field->value)
                                         : (struct protobuf){NULL, NULL, true};
}

/* Reads a varint of at most `end - at` bytes. Returns the byte after it, or NULL on error. `*cut`:
** the error is that the bytes end. */
const unsigned char *protobuf_long_varint(const unsigned char *at, const unsigned char *end,
                                          uint64_t *value, bool *cut);

enum { PROTOBUF_VARINT_LONGEST = 10 /* bytes */ };

/* A faster version for at least PROTOBUF_VARINT_LONGEST readable bytes. */
static inline const unsigned char *protobuf_ten(const unsigned char *at, uint64_t *value)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    enum { IN_WORD = 8, BITS = 56 };
    const uint64_t more = UINT64_C(0x8080808080808080);
    uint64_t word, last;
    memcpy(&word, at, sizeof word);
    last = ~word & more; /* its lowest bit is in the last byte */
    size_t length = IN_WORD;
    if (last != 0) {
        length = ((size_t)__builtin_ctzll(last) >> 3) + 1;
        word &= last ^ (last - 1);
    }
    word &= ~more; /* eight groups of 7 bits, then four of 14, then two of 28 */
    word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
    word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
    word = (word & UINT64_C(0x000000000fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
    if (last == 0) {
        unsigned char ninth = at[length++];
        word |= (uint64_t)(ninth & 0x7f) << BITS;
        if (ninth >= 0x80) {
            if (at[length] > 1)
                return NULL;
            word |= (uint64_t)at[length++] << (BITS + 7);
        }
    }
    *value = word;
    return at + length;
#else
    bool cut;
    return protobuf_long_varint(at, at + PROTOBUF_VARINT_LONGEST, value, &cut);
#endif
}

static inline const unsigned char *
protobuf_varint(const unsigned char *at, const unsigned char *end, uint64_t *value, bool *cut)
{
    if (at < end && *at < 0x80) {
        *value = *at;
        return at + 1;
    }
    if (end - at >= 4) {
        if (at[1] < 0x80) {
            *value = (uint64_t)(*at & 0x7f) | (uint64_t)at[1] << 7;
            return at + 2;
        }
        if (at[2] >= 0x80 && at[3] < 0x80) { /* lengths that Perfetto patches in later */
            *value = (uint64_t)(*at & 0x7f) | (uint64_t)(at[1] & 0x7f) << 7 |
                     (uint64_t)(at[2] & 0x7f) << 14 | (uint64_t)at[3] << 21;
            return at + 4;
        }
    }
    return protobuf_long_varint(at, end, value, cut);
}

/* Continues protobuf_next() for fields other than varints or bytes with short keys. */
bool protobuf_other(struct protobuf *message, struct protobuf_field *field);

/* Gives the next field. False at the end, or where the message is broken. */
static inline bool protobuf_next(struct protobuf *message, struct protobuf_field *field)
{
    const unsigned char *at = message->at, *end = message->end;
    bool cut;
    if (at >= end)
        return false;
    uint32_t key = *at++;
    if (key >= 0x80 && at < end)
        key = (key & 0x7f) | (uint32_t)*at++ << 7;
    if (key < 1 << 3 || key >= 1 << 14 || (key & 5) != 0) /* neither VARINT nor BYTES */
        return protobuf_other(message, field);
    field->number = key >> 3;
    field->type = (enum protobuf_type)(key & 7);
    at = protobuf_varint(at, end, &field->value, &cut);
    if (!at || (field->type == PROTOBUF_BYTES && field->value > (uint64_t)(end - at))) {
        message->broken = true;
        message->at = end;
        return false;
    }
    field->at = at;
    message->at = field->type == PROTOBUF_BYTES ? at + field->value : at;
    return true;
}

/* Reads the next field if it is a varint with a short key; otherwise reads nothing: false. */
static inline bool protobuf_number(struct protobuf *message, unsigned char key, uint64_t *value)
{
    const unsigned char *at = message->at, *end = message->end;
    bool cut;
    if (at >= end || *at != key || !(at = protobuf_varint(at + 1, end, value, &cut)))
        return false;
    message->at = at;
    return true;
}

/* The same for BYTES. */
static inline bool protobuf_bytes(struct protobuf *message, unsigned char key,
                                  const unsigned char **bytes, size_t *length)
{
    struct protobuf after = *message;
    uint64_t count;
    if (!protobuf_number(&after, key, &count) || count > (uint64_t)(after.end - after.at))
        return false;
    *bytes = after.at;
    *length = (size_t)count;
    message->at = after.at + count;
    return true;
}

/* Values of fields. Signed values are 64 bits in two's complement. */
static inline int64_t protobuf_signed(const struct protobuf_field *field)
{
    int64_t value;
    memcpy(&value, &field->value, sizeof value);
    return value;
}

static inline double protobuf_double(const struct protobuf_field *field)
{
    double value;
    memcpy(&value, &field->value, sizeof value);
    return value;
}

/* Iterates over the values of a repeated numeric field, packed into BYTES or not. `packed` keeps
** the remaining ones; initially zeroed. False after the last value, or at malformed packed data. */
bool protobuf_repeated(const struct protobuf_field *field, enum protobuf_type type,
                       struct protobuf *packed, uint64_t *value);

enum protobuf_step {
    PROTOBUF_FIELD,
    PROTOBUF_END,     /* end of the innermost entered message, which is left; or of the file */
    PROTOBUF_DAMAGED, /* nothing more can be read: protobuf_file_take_trouble() */
    PROTOBUF_FAILED   /* FAILURE_READ, FAILURE_MEMORY, FAILURE_INTERRUPTED */
};

enum { PROTOBUF_LONGEST = 16 << 20 /* bytes of a field in memory */, PROTOBUF_DEPTH = 8 };

/* A file that is one message, read in pieces; private. */
struct protobuf_file {
    struct excerpt excerpt;
    const char *path;
    int64_t ends[PROTOBUF_DEPTH]; /* file offsets of the ends of the entered messages */
    size_t depth;
    int64_t begin;   /* start of the current field */
    int64_t pending; /* bytes of it that are neither taken nor entered */
    bool damaged;
    struct failure trouble;
};

struct protobuf_options {
    struct stopper stopper; /* called before every chunk */
    size_t chunk;           /* bytes read at a time; 0: 256 KiB */
    bool by_zlib;           /* see source_open() */
    atomic_int *idle;       /* see source_read_ahead(); NULL: no thread */
};

/* Opens a file, with or without gzip compression. NULL on failure. `path` and the stopper's
** argument must outlive it. */
struct protobuf_file *protobuf_open(const char *path, const struct protobuf_options *options,
                                    struct failure *failure);

/* Closes a file; NULL is allowed. */
void protobuf_close(struct protobuf_file *file);

/* Advances to the next field of the innermost entered message; initially of the file. A field of
** BYTES has `at` NULL: until the next call its bytes can be taken or entered. */
enum protobuf_step protobuf_step(struct protobuf_file *file, struct protobuf_field *field,
                                 struct failure *failure);

/* Loads the bytes of the current field into memory, where they are valid until the next call:
** PROTOBUF_FIELD. PROTOBUF_END: they exceed PROTOBUF_LONGEST and are skipped. */
enum protobuf_step protobuf_take(struct protobuf_file *file, struct protobuf_field *field,
                                 struct failure *failure);

/* Does both if the next field of a file has BYTES and a given short key, and is in memory already.
** Otherwise reads nothing: false. SCAN_PADDING bytes after the field are readable. */
static inline bool protobuf_take_next(struct protobuf_file *file, unsigned char key,
                                      struct protobuf_field *field)
{
    struct excerpt *excerpt = &file->excerpt;
    size_t room = excerpt->end - excerpt->at;
    uint64_t length;
    bool cut;
    if (room < 2 || file->damaged || file->pending > 0 || file->depth > 0)
        return false;
    const unsigned char *at = excerpt->bytes + excerpt->at, *end = at + room, *bytes;
    if (*at != key || !(bytes = protobuf_varint(at + 1, end, &length, &cut)) ||
        length > (uint64_t)(end - bytes) || length > PROTOBUF_LONGEST)
        return false;
    file->begin = excerpt->origin + (int64_t)excerpt->at;
    *field = (struct protobuf_field){key >> 3, PROTOBUF_BYTES, length, bytes};
    excerpt->at += (size_t)(bytes - at) + (size_t)length;
    return true;
}

/* Enters the message in the current field. False if PROTOBUF_DEPTH messages are already entered. */
bool protobuf_enter(struct protobuf_file *file, const struct protobuf_field *field);

/* The offset (from 1) of the current field in the uncompressed file. */
static inline int64_t protobuf_byte(const struct protobuf_file *file)
{
    return file->begin + 1;
}

/* Bytes of the uncompressed file given so far. */
int64_t protobuf_read_to(const struct protobuf_file *file);

/* The fraction of the file read so far: 0 to 1. */
double protobuf_part(const struct protobuf_file *file);

/* Moves the reason for PROTOBUF_DAMAGED to a failure. */
void protobuf_take_trouble(struct protobuf_file *file, struct failure *failure);

const struct identity *protobuf_identity(const struct protobuf_file *file);

/* See source_unchanged(), source_unsure() and source_trailing(). */
bool protobuf_unchanged(const struct protobuf_file *file, struct failure *failure);
bool protobuf_unsure(const struct protobuf_file *file);
int64_t protobuf_trailing(const struct protobuf_file *file);

#endif
