#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "memory.h"

enum { INPUT_SIZE = 64 * 1024, MOST_PADDING = 1024 * 1024 };

struct source {
    const char *path; /* borrowed */
    int file;
    struct identity identity;
    bool gzip;
    bool in_member;  /* gzip: between a member's header and its end */
    bool any_member; /* gzip: one member has ended */
    bool ended;      /* no further byte will come */
    int64_t read;    /* bytes read from the file */
    int64_t member;  /* gzip: where the member begins, if it is not the first */
    int64_t trailing;
    z_stream stream; /* gzip: next_in and avail_in are what is left of input */
    unsigned char input[INPUT_SIZE];
};

static bool cannot_read(const char *path, int error, struct failure *failure)
{
    return failure_set(failure, FAILURE_READ, "cannot read '%s': %s", path, strerror(error));
}

static int64_t nanoseconds(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static bool identity_of(const char *path, const struct stat *status, struct identity *identity,
                        struct failure *failure)
{
    if (S_ISDIR(status->st_mode))
        return cannot_read(path, EISDIR, failure);
    if (!S_ISREG(status->st_mode))
        return failure_set(failure, FAILURE_READ, "cannot read '%s': not a regular file", path);
    *identity = (struct identity){
        .device = (uint64_t)status->st_dev,
        .inode = (uint64_t)status->st_ino,
        .size = (int64_t)status->st_size,
        .modified = nanoseconds(status->st_mtim),
        .changed = nanoseconds(status->st_ctim),
    };
    return true;
}

bool source_same(const struct identity *a, const struct identity *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->modified == b->modified && a->changed == b->changed;
}

bool source_identify(const char *path, struct identity *identity, struct failure *failure)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return cannot_read(path, errno, failure);
    return identity_of(path, &status, identity, failure);
}

static voidpf zlib_allocate(voidpf unused, uInt items, uInt size)
{
    (void)unused;
    return memory_allocate((size_t)items * size);
}

static void zlib_free(voidpf unused, voidpf block)
{
    (void)unused;
    memory_free(block);
}

/* Reads more of the file into `to`; false on failure. 0 bytes mean its end. */
static bool read_file(struct source *source, unsigned char *to, size_t room, size_t *got,
                      struct failure *failure)
{
    ssize_t count;
    do
        count = read(source->file, to, room);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return cannot_read(source->path, errno, failure);
    source->read += count;
    *got = (size_t)count;
    return true;
}

static bool fill_input(struct source *source, struct failure *failure)
{
    size_t got = 0;
    if (!read_file(source, source->input, INPUT_SIZE, &got, failure))
        return false;
    source->stream.next_in = source->input;
    source->stream.avail_in = (uInt)got;
    return true;
}

/* The first two bytes tell gzip: a read may give less. */
static bool fill_first(struct source *source, struct failure *failure)
{
    size_t have = 0, got = 1;
    while (have < 2 && got > 0) {
        if (!read_file(source, source->input + have, INPUT_SIZE - have, &got, failure))
            return false;
        have += got;
    }
    source->stream.next_in = source->input;
    source->stream.avail_in = (uInt)have;
    return true;
}

struct source *source_open(const char *path, struct failure *failure)
{
    struct source *source = memory_allocate(sizeof *source);
    if (!source) {
        failure_memory(failure);
        return NULL;
    }
    memset(source, 0, offsetof(struct source, input));
    source->path = path;
    source->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    if (source->file < 0 || fstat(source->file, &status) != 0) {
        cannot_read(path, errno, failure);
        goto refused;
    }
    if (!identity_of(path, &status, &source->identity, failure) || !fill_first(source, failure))
        goto refused;
    source->gzip =
        source->stream.avail_in >= 2 && source->input[0] == 0x1f && source->input[1] == 0x8b;
    if (source->gzip) {
        source->stream.zalloc = zlib_allocate;
        source->stream.zfree = zlib_free;
        if (inflateInit2(&source->stream, 16 + MAX_WBITS) != Z_OK) {
            source->gzip = false;
            failure_memory(failure);
            goto refused;
        }
        source->in_member = true;
    }
    return source;
refused:
    source_close(source);
    return NULL;
}

void source_close(struct source *source)
{
    if (!source)
        return;
    if (source->gzip)
        inflateEnd(&source->stream);
    if (source->file >= 0)
        close(source->file);
    memory_free(source);
}

bool source_unchanged(const struct source *source, struct failure *failure)
{
    struct stat status;
    struct identity now = source->identity;
    if (fstat(source->file, &status) != 0)
        return cannot_read(source->path, errno, failure);
    if (!identity_of(source->path, &status, &now, failure))
        return false;
    return source_same(&now, &source->identity) ||
           failure_set(failure, FAILURE_READ, "'%s' has changed while it was read", source->path);
}

const struct identity *source_identity(const struct source *source)
{
    return &source->identity;
}

int64_t source_trailing(const struct source *source)
{
    return source->trailing;
}

const char *source_decoder(void)
{
    return "zlib " ZLIB_VERSION;
}

static ptrdiff_t read_plain(struct source *source, unsigned char *to, size_t room,
                            struct failure *failure)
{
    size_t got = source->stream.avail_in;
    if (got > 0) {
        got = got < room ? got : room;
        memcpy(to, source->stream.next_in, got);
        source->stream.next_in += got;
        source->stream.avail_in -= (uInt)got;
    } else if (!read_file(source, to, room, &got, failure)) {
        return -1;
    }
    return (ptrdiff_t)got;
}

/* The byte of the file, from 1, that is read next. */
static int64_t position(const struct source *source)
{
    return source->read - source->stream.avail_in + 1;
}

static ptrdiff_t damaged(struct source *source, const char *what, struct failure *failure)
{
    source->ended = true;
    failure_at(failure, FAILURE_DAMAGE, source->path, what, position(source));
    return -1;
}

/* After a member: another one, padding, or something else. False on failure. */
static bool next_member(struct source *source, struct failure *failure)
{
    z_stream *stream = &source->stream;
    int64_t padding = 0;
    for (;;) {
        if (padding > MOST_PADDING) {
            source->ended = true;
            return true;
        }
        if (stream->avail_in == 0) {
            if (!fill_input(source, failure))
                return false;
            if (stream->avail_in == 0) {
                source->ended = true;
                return true;
            }
        }
        if (*stream->next_in != 0)
            break;
        padding++;
        stream->next_in++;
        stream->avail_in--;
    }
    if (padding > 0 || *stream->next_in != 0x1f) {
        source->ended = true;
        source->trailing = position(source);
    } else {
        source->member = position(source);
        inflateReset(stream);
        source->in_member = true;
    }
    return true;
}

static ptrdiff_t read_gzip(struct source *source, unsigned char *to, size_t room,
                           struct failure *failure)
{
    z_stream *stream = &source->stream;
    stream->next_out = to;
    stream->avail_out = (uInt)room;
    while (stream->avail_out > 0 && !source->ended) {
        if (!source->in_member) {
            if (!next_member(source, failure))
                return -1;
            continue;
        }
        if (stream->avail_in == 0 && !fill_input(source, failure))
            return -1;
        bool cut = stream->avail_in == 0; /* but inflate() may hold more output */
        uInt before = stream->avail_out;
        int code = inflate(stream, Z_NO_FLUSH);
        if (cut && (code == Z_OK || code == Z_BUF_ERROR) && stream->avail_out == before) {
            if (stream->avail_out < room)
                break; /* first what there is, the failure with the next call */
            return damaged(source, "the gzip data ends too early", failure);
        }
        if (code == Z_STREAM_END) {
            source->in_member = false;
            source->any_member = true;
        } else if (code == Z_MEM_ERROR) {
            failure_memory(failure);
            return -1;
        } else if (code != Z_OK && code != Z_BUF_ERROR) {
            if (stream->avail_out < room)
                break; /* inflate() answers the same with the next call */
            if (source->any_member && stream->total_out == 0 && stream->total_in < 10) {
                source->ended = true; /* began with 0x1f, but was no member */
                source->trailing = source->member;
                return 0;
            }
            return damaged(source, "the gzip data is damaged", failure);
        }
    }
    return (ptrdiff_t)(room - stream->avail_out);
}

ptrdiff_t source_read(struct source *source, unsigned char *to, size_t room,
                      struct failure *failure)
{
    if (source->ended)
        return 0;
    if (room > INT32_MAX)
        room = INT32_MAX;
    return source->gzip ? read_gzip(source, to, room, failure)
                        : read_plain(source, to, room, failure);
}
