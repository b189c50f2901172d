#include "decoder.h"

#define ZLIB_CONST
#include <zlib.h>

#include "base/memory.h"

static voidpf zlib_allocate(voidpf unused, uInt items, uInt size)
{
    (void)unused;
    return memory_items(items, size);
}

static void zlib_free(voidpf unused, voidpf block)
{
    (void)unused;
    memory_free(block);
}

static void *zlib_open(void)
{
    z_stream *stream = memory_zeroed(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->zalloc = zlib_allocate;
    stream->zfree = zlib_free;
    if (inflateInit2(stream, 16 + MAX_WBITS) == Z_OK)
        return stream;
    memory_free(stream);
    return NULL;
}

static enum decoded zlib_read(void *state, struct decoder_buffers *buffers)
{
    z_stream *stream = state;
    uInt in = (uInt)buffers->in_left, out = (uInt)buffers->out_left;
    stream->next_in = buffers->in;
    stream->avail_in = in;
    stream->next_out = buffers->out;
    stream->avail_out = out;
    int code = inflate(stream, Z_NO_FLUSH);
    buffers->in += in - stream->avail_in;
    buffers->in_left -= in - stream->avail_in;
    buffers->out += out - stream->avail_out;
    buffers->out_left -= out - stream->avail_out;
    if (code == Z_STREAM_END)
        return DECODED_MEMBER;
    if (code == Z_MEM_ERROR)
        return DECODED_NO_MEMORY;
    return code == Z_OK || code == Z_BUF_ERROR ? DECODED_SOME : DECODED_DAMAGED;
}

static void zlib_reset(void *state)
{
    inflateReset(state);
}

static void zlib_close(void *state)
{
    if (state)
        inflateEnd(state);
    memory_free(state);
}

const struct decoder decoder_zlib = {.name = "zlib " ZLIB_VERSION,
                                     .open = zlib_open,
                                     .read = zlib_read,
                                     .reset = zlib_reset,
                                     .close = zlib_close};

size_t decoder_pack(const unsigned char *from, size_t length, unsigned char *to, size_t room)
{
    z_stream stream = {.zalloc = zlib_allocate,
                       .zfree = zlib_free,
                       .next_in = from,
                       .avail_in = (uInt)length,
                       .next_out = to,
                       .avail_out = (uInt)room};
    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 16 + MAX_WBITS, MAX_MEM_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    bool whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    deflateEnd(&stream);
    return whole ? room - stream.avail_out : 0;
}

const struct decoder *decoder_fastest(void)
{
    const struct decoder *isal = decoder_isal();
    return isal ? isal : &decoder_zlib;
}
