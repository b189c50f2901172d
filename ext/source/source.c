#include "source.h"

#include <errno.h>
#include <string.h>

#include "access/roots.h"
#include "base/memory.h"
#include "decoder.h"

enum {
    INPUT_SIZE = 64 * 1024,
    HEAD_SIZE = 512, /* what is read at a time to look at the beginning */
    MOST_PADDING = 1024 * 1024,
    WORTH_A_THREAD = 256 * 1024 /* bytes of the file still to be read, at least */
};

struct source {
    const char *path; /* borrowed */
    size_t most;      /* bytes read at a time */
    intptr_t file;    /* -1: none */
    struct identity identity;
    const struct decoder *decoder; /* NULL: a plain file */
    void *state;                   /* the decoder's; owned */
    bool in_member;                /* gzip: inside a member */
    bool member_empty;             /* gzip: the member has given no bytes yet */
    bool any_member;               /* gzip: at least one member has ended */
    bool broken;                   /* gzip: damage has been found */
    bool ended;                    /* no more bytes will come */
    int64_t read;                  /* bytes read from the file */
    int64_t member;                /* gzip: the byte of the file, from 1, where the member begins */
    int64_t trailing;
    struct ahead *ahead; /* owned; until it has stopped it owns the fields above, from in_member */
    int64_t position;    /* as source_position() */
    atomic_int *idle;    /* borrowed; NULL: no thread is to be started */
    struct decoder_buffers buffers; /* `in` is the rest of the input */
    unsigned char input[INPUT_SIZE];
};

static bool cannot_read(const char *path, int error, struct failure *failure)
{
    return failure_set(failure, FAILURE_READ, "cannot read '%s': %s", path, strerror(error));
}

/* Gets the identity of what must be a regular file; `error` is that of its status. */
static bool identity_of(const char *path, int error, const struct file_status *status,
                        struct identity *identity, struct failure *failure)
{
    if (error == 0 && status->kind == FILE_IS_DIRECTORY)
        error = EISDIR;
    if (error != 0)
        return cannot_read(path, error, failure);
    if (status->kind != FILE_IS_REGULAR)
        return failure_set(failure, FAILURE_READ, "cannot read '%s': not a regular file", path);
    *identity = status->identity;
    return true;
}

bool source_same(const struct identity *a, const struct identity *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->modified == b->modified && a->changed == b->changed;
}

bool source_identify(const char *path, struct identity *identity, struct failure *failure)
{
    struct file_status status;
    int error = file_status(path, &status);
    return identity_of(path, error, &status, identity, failure);
}

/* Reads more of the file into `to`; false on failure. 0 bytes mean the end of the file. */
static bool read_file(struct source *source, unsigned char *to, size_t room, size_t *got,
                      struct failure *failure)
{
    int error = file_read(source->file, to, room, got);
    if (error != 0)
        return cannot_read(source->path, error, failure);
    source->read += (int64_t)*got;
    return true;
}

static bool fill_input(struct source *source, struct failure *failure)
{
    size_t got = 0;
    if (!read_file(source, source->input, source->most, &got, failure))
        return false;
    source->buffers.in = source->input;
    source->buffers.in_left = got;
    return true;
}

/* Fills the input until it has the two bytes that identify gzip; a single read may give fewer. */
static bool fill_first(struct source *source, struct failure *failure)
{
    size_t have = 0, got = 1;
    while (have < 2 && got > 0) {
        if (!read_file(source, source->input + have, source->most - have, &got, failure))
            return false;
        have += got;
    }
    source->buffers.in = source->input;
    source->buffers.in_left = have;
    return true;
}

/* Chooses the decoder by the first two bytes. */
static bool open_decoder(struct source *source, bool by_zlib, struct failure *failure)
{
    if (source->buffers.in_left < 2 || source->input[0] != 0x1f || source->input[1] != 0x8b)
        return true;
    source->decoder = by_zlib ? &decoder_zlib : decoder_fastest();
    source->state = source->decoder->open();
    source->in_member = source->member_empty = true;
    source->member = 1;
    return source->state || failure_memory(failure);
}

static struct source *open_source(const char *path, bool by_zlib, size_t most,
                                  struct failure *failure)
{
    struct source *source = memory_allocate(sizeof *source);
    if (!source) {
        failure_memory(failure);
        return NULL;
    }
    memset(source, 0, offsetof(struct source, input));
    source->path = path;
    source->most = most;
    struct file_status status;
    int error = file_open(path, &source->file);
    if (error == 0)
        error = file_status_of(source->file, &status);
    if (identity_of(path, error, &status, &source->identity, failure) &&
        fill_first(source, failure) && open_decoder(source, by_zlib, failure))
        return source;
    source_close(source);
    return NULL;
}

struct source *source_open(const char *path, bool by_zlib, struct failure *failure)
{
    return open_source(path, by_zlib, INPUT_SIZE, failure);
}

bool source_begins(const char *path, const char *bytes, size_t length)
{
    enum { MOST = 32 };
    char first[MOST];
    struct file_status status;
    intptr_t file;
    size_t got;
    bool begins = file_open(path, &file) == 0 && file_status_of(file, &status) == 0 &&
                  status.kind == FILE_IS_REGULAR && length <= MOST &&
                  file_read(file, first, length, &got) == 0 && got == length &&
                  memcmp(first, bytes, length) == 0;
    if (file != -1)
        file_close(file);
    return begins;
}

void source_read_ahead(struct source *source, atomic_int *idle)
{
    source->idle = source->decoder ? idle : NULL;
}

void source_close(struct source *source)
{
    if (!source)
        return;
    ahead_close(source->ahead);
    if (source->decoder)
        source->decoder->close(source->state);
    if (source->file != -1)
        file_close(source->file);
    memory_free(source);
}

bool source_head(const char *path, void *bytes, size_t room, size_t *length,
                 struct failure *failure)
{
    struct failure seen = {.code = FAILURE_NONE};
    struct source *source = open_source(path, true, HEAD_SIZE, &seen);
    ptrdiff_t got = source ? 1 : 0;
    for (*length = 0; *length < room && got > 0; *length += got > 0 ? (size_t)got : 0)
        got = source_read(source, (unsigned char *)bytes + *length, room - *length, &seen);
    source_close(source);
    if (seen.code == FAILURE_DAMAGE)
        failure_clear(&seen);
    failure_move(failure, &seen);
    return failure->code == FAILURE_NONE;
}

bool source_unchanged(const struct source *source, struct failure *failure)
{
    struct file_status status;
    struct identity now = source->identity;
    int error = file_status_of(source->file, &status);
    if (!identity_of(source->path, error, &status, &now, failure))
        return false;
    return source_same(&now, &source->identity) ||
           failure_set(failure, FAILURE_READ,
                       "'%s' has changed while it was read: run the query again", source->path);
}

const struct identity *source_identity(const struct source *source)
{
    return &source->identity;
}

int64_t source_trailing(const struct source *source)
{
    return source->trailing;
}

bool source_unsure(const struct source *source)
{
    if (source->ahead)
        ahead_stop(source->ahead);
    bool checked = source->ended && !source->broken;
    return source->decoder && source->decoder != &decoder_zlib && !checked;
}

int64_t source_position(const struct source *source)
{
    return source->position;
}

const char *source_decoder(void)
{
    return decoder_fastest()->name;
}

static ptrdiff_t read_plain(struct source *source, unsigned char *to, size_t room,
                            struct failure *failure)
{
    struct decoder_buffers *buffers = &source->buffers;
    size_t got = buffers->in_left < room ? buffers->in_left : room;
    if (got > 0) {
        memcpy(to, buffers->in, got);
        buffers->in += got;
        buffers->in_left -= got;
    } else if (!read_file(source, to, room, &got, failure)) {
        return -1;
    }
    return (ptrdiff_t)got;
}

/* The byte of the file, from 1, that is read next. */
static int64_t input_position(const struct source *source)
{
    return source->read - (int64_t)source->buffers.in_left + 1;
}

static ptrdiff_t damaged(struct source *source, const char *what, struct failure *failure)
{
    source->ended = true;
    source->broken = true;
    failure_at(failure, FAILURE_DAMAGE, source->path, what, input_position(source));
    return -1;
}

/* Handles what follows a member: another member, padding, or other bytes. False on failure. */
static bool next_member(struct source *source, struct failure *failure)
{
    struct decoder_buffers *buffers = &source->buffers;
    int64_t padding = 0;
    for (;;) {
        if (padding > MOST_PADDING) {
            source->ended = true;
            return true;
        }
        if (buffers->in_left == 0) {
            if (!fill_input(source, failure))
                return false;
            if (buffers->in_left == 0) {
                source->ended = true;
                return true;
            }
        }
        if (*buffers->in != 0)
            break;
        padding++;
        buffers->in++;
        buffers->in_left--;
    }
    if (padding > 0 || *buffers->in != 0x1f) {
        source->ended = true;
        source->trailing = input_position(source);
    } else {
        source->member = input_position(source);
        source->decoder->reset(source->state);
        source->in_member = source->member_empty = true;
    }
    return true;
}

/* Whether the damage is at a place where no member may have begun, so that other bytes follow
** the gzip data. */
static bool is_no_member(const struct source *source)
{
    enum { HEADER = 10 };
    return source->any_member && source->member_empty &&
           input_position(source) - source->member < HEADER && source->decoder == &decoder_zlib;
}

static ptrdiff_t read_gzip(struct source *source, unsigned char *to, size_t room,
                           struct failure *failure)
{
    struct decoder_buffers *buffers = &source->buffers;
    buffers->out = to;
    buffers->out_left = room;
    while (buffers->out_left > 0 && !source->ended) {
        if (!source->in_member) {
            if (!next_member(source, failure))
                return -1;
            continue;
        }
        if (buffers->in_left == 0 && !fill_input(source, failure))
            return -1;
        bool cut = buffers->in_left == 0; /* the decoder may still hold output */
        size_t before = buffers->out_left;
        enum decoded decoded =
            source->broken ? DECODED_DAMAGED : source->decoder->read(source->state, buffers);
        source->member_empty = source->member_empty && buffers->out_left == before;
        if (decoded == DECODED_NO_MEMORY) {
            failure_memory(failure);
            return -1;
        }
        if (decoded == DECODED_MEMBER) {
            source->in_member = false;
            source->any_member = true;
        }
        bool too_short = cut && decoded == DECODED_SOME && buffers->out_left == before;
        if (decoded != DECODED_DAMAGED && !too_short)
            continue;
        source->broken = decoded == DECODED_DAMAGED;
        if (buffers->out_left < room)
            break; /* give these bytes first, the failure with the next call */
        if (too_short)
            return damaged(source, "the gzip data is truncated", failure);
        if (!is_no_member(source))
            return damaged(source, "the gzip data is damaged", failure);
        source->ended = true; /* it began with 0x1f, like a member */
        source->trailing = source->member;
        return 0;
    }
    return (ptrdiff_t)(room - buffers->out_left);
}

static ptrdiff_t read_now(void *argument, unsigned char *to, size_t room, int64_t *now,
                          struct failure *failure)
{
    struct source *source = argument;
    ptrdiff_t got = 0;
    if (room > INT32_MAX)
        room = INT32_MAX;
    if (!source->ended)
        got = source->decoder ? read_gzip(source, to, room, failure)
                              : read_plain(source, to, room, failure);
    *now = input_position(source) - 1;
    return got;
}

bool source_lends(struct source *source)
{
    if (!source->ahead && source->idle) { /* else the thread counts what is read */
        int64_t left = source->identity.size - source->read;
        if (left >= WORTH_A_THREAD)
            source->ahead = ahead_start(source->idle, read_now, source, left);
    }
    return source->ahead != NULL;
}

ptrdiff_t source_read(struct source *source, unsigned char *to, size_t room,
                      struct failure *failure)
{
    return source_lends(source) ? ahead_read(source->ahead, to, room, &source->position, failure)
                                : read_now(source, to, room, &source->position, failure);
}

ptrdiff_t source_lend(struct source *source, const unsigned char *before, size_t length,
                      unsigned char **bytes, struct failure *failure)
{
    return ahead_lend(source->ahead, before, length, bytes, &source->position, failure);
}
