/*
** gzip with Intel's ISA-L. Building needs only its header; without the header this decoder does
** not exist. The library is loaded at run time, so one binary works with and without it. With
** TRACEDIFF_LINKS_ISAL, as packages are built, it is linked.
*/
#include "decoder.h"

#if defined(__has_include) && __has_include(<isa-l/igzip_lib.h>)

#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "platform/library.h"
#include "platform/thread.h"

/* The library stays loaded until the process ends. */
static struct {
    void (*init)(struct inflate_state *state);
    void (*reset)(struct inflate_state *state);
    int (*inflate)(struct inflate_state *state);
} library;

static bool find_functions(void)
{
#ifdef TRACEDIFF_LINKS_ISAL
    library.init = isal_inflate_init;
    library.reset = isal_inflate_reset;
    library.inflate = isal_inflate;
    return true;
#else
    const struct library_function functions[] = {{"isal_inflate_init", &library.init},
                                                 {"isal_inflate_reset", &library.reset},
                                                 {"isal_inflate", &library.inflate}};
    return library_load("isal", 2, functions, sizeof functions / sizeof *functions);
#endif
}

static bool loaded;

static void load(void)
{
    const char *asked = getenv("TRACEDIFF_DECODER");
    loaded = !(asked && strcmp(asked, "zlib") == 0) && find_functions();
}

/* ISA-L 2.30 forgets a header's flags when the header arrives in parts, and accepts flags that
** RFC 1952 reserves. So headers are read here, and ISA-L reads the rest. */
struct isal_state {
    struct inflate_state stream;
    int header;  /* bytes of the member's header read so far, up to HEADER */
    int strings; /* NUL-terminated strings still to come after them */
};

enum { HEADER = 10, FLAGS = 3, HAS_NAME = 0x08, HAS_COMMENT = 0x10, IS_TEXT = 0x01 };

static void isal_reset(void *state)
{
    struct isal_state *isal = state;
    library.reset(&isal->stream);
    isal->stream.crc_flag = ISAL_GZIP_NO_HDR_VER;
    isal->header = isal->strings = 0;
}

static void *isal_open(void)
{
    struct isal_state *isal = memory_allocate(sizeof *isal);
    if (isal) {
        library.init(&isal->stream);
        isal_reset(isal);
    }
    return isal;
}

/* Reads a byte of the member's header. False if it is not a gzip header, or one that only zlib
** handles. */
static bool take_header(struct isal_state *isal, unsigned char byte)
{
    static const unsigned char begin[FLAGS] = {0x1f, 0x8b, 8};
    int at = isal->header;
    if (at == HEADER) {
        isal->strings -= byte == 0;
        return true;
    }
    isal->header++;
    if (at == FLAGS)
        isal->strings = !!(byte & HAS_NAME) + !!(byte & HAS_COMMENT);
    return at < FLAGS    ? byte == begin[at]
           : at == FLAGS ? !(byte & ~(HAS_NAME | HAS_COMMENT | IS_TEXT))
                         : true;
}

/* ISA-L leaves with the upper halves of vector registers in use. As long as they are, each SSE
** instruction has to keep them and so waits for the one before it: reading events took a quarter
** longer. */
#if defined __x86_64__
static __attribute__((target("avx"))) void clear_upper_halves(void)
{
    __builtin_ia32_vzeroupper();
}

static void leave_wide_vectors(void)
{
    if (__builtin_cpu_supports("avx"))
        clear_upper_halves();
}
#else
static void leave_wide_vectors(void)
{
}
#endif

static enum decoded isal_read(void *state, struct decoder_buffers *buffers)
{
    struct isal_state *isal = state;
    struct inflate_state *stream = &isal->stream;
    while (isal->header < HEADER || isal->strings > 0) {
        if (buffers->in_left == 0)
            return DECODED_SOME;
        if (!take_header(isal, *buffers->in))
            return DECODED_DAMAGED;
        buffers->in++;
        buffers->in_left--;
    }
    uint32_t in = (uint32_t)buffers->in_left, out = (uint32_t)buffers->out_left;
    memcpy(&stream->next_in, &buffers->in, sizeof buffers->in); /* it is not const there */
    stream->avail_in = in;
    stream->next_out = buffers->out;
    stream->avail_out = out;
    int code = library.inflate(stream);
    leave_wide_vectors();
    if (stream->avail_in > in)
        stream->avail_in = 0; /* of damaged data ISA-L may count two bytes after the end as read */
    buffers->in += in - stream->avail_in;
    buffers->in_left -= in - stream->avail_in;
    buffers->out += out - stream->avail_out;
    buffers->out_left -= out - stream->avail_out;
    if (code < ISAL_DECOMP_OK || code == ISAL_NEED_DICT)
        return DECODED_DAMAGED;
    return stream->block_state == ISAL_BLOCK_FINISH ? DECODED_MEMBER : DECODED_SOME;
}

static const struct decoder isal = {.name = "ISA-L 2",
                                    .open = isal_open,
                                    .read = isal_read,
                                    .reset = isal_reset,
                                    .close = memory_free};

const struct decoder *decoder_isal(void)
{
    static struct once once = ONCE_INITIAL;
    once_run(&once, load);
    return loaded ? &isal : NULL;
}

#else

const struct decoder *decoder_isal(void)
{
    return NULL;
}

#endif
