/*
** gzip by Intel's ISA-L. Only its header is needed for building, without which there is no
** such decoder; the library is loaded at run time, so that one binary runs with and without
** it.
*/
#include "decoder.h"

#if defined(__has_include) && __has_include(<isa-l/igzip_lib.h>)

#include <dlfcn.h>
#include <isa-l/igzip_lib.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* The library stays loaded until the process ends. */
static struct {
    void (*init)(struct inflate_state *state);
    void (*reset)(struct inflate_state *state);
    int (*inflate)(struct inflate_state *state);
} library;

static bool find(void *handle, const char *name, void *function)
{
    void *found = dlsym(handle, name);
    memcpy(function, &found, sizeof found); /* C has no cast from data to functions */
    return found != NULL;
}

static bool loaded;

static void load(void)
{
    const char *asked = getenv("TRACEDIFF_DECODER");
    if (asked && strcmp(asked, "zlib") == 0)
        return;
    void *handle = dlopen("libisal.so.2", RTLD_NOW | RTLD_LOCAL);
    loaded = handle && find(handle, "isal_inflate_init", &library.init) &&
             find(handle, "isal_inflate_reset", &library.reset) &&
             find(handle, "isal_inflate", &library.inflate);
    if (handle && !loaded)
        dlclose(handle);
}

struct isal_state {
    struct inflate_state stream;
    size_t header; /* bytes of the member's header that were looked at, up to 4 */
};

static void isal_reset(void *state)
{
    struct isal_state *isal = state;
    library.reset(&isal->stream);
    isal->stream.crc_flag = ISAL_GZIP;
    isal->header = 0;
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

/* Whether the member's header has flags that are left to zlib: the three that RFC 1952
** reserves, which ISA-L accepts, and those of an extra field and of a checksum of the header,
** for which ISA-L 2.30 reads what it has not set. */
static bool has_odd_flags(struct isal_state *isal, const struct decoder_buffers *buffers)
{
    enum { FLAGS = 3, ODD = 0xe6 };
    for (size_t i = 0; isal->header <= FLAGS && i < buffers->in_left; i++)
        if (isal->header++ == FLAGS && (buffers->in[i] & ODD))
            return true;
    return false;
}

static enum decoded isal_read(void *state, struct decoder_buffers *buffers)
{
    struct isal_state *isal = state;
    struct inflate_state *stream = &isal->stream;
    uint32_t in = (uint32_t)buffers->in_left, out = (uint32_t)buffers->out_left;
    if (has_odd_flags(isal, buffers))
        return DECODED_DAMAGED;
    memcpy(&stream->next_in, &buffers->in, sizeof buffers->in); /* it is not const there */
    stream->avail_in = in;
    stream->next_out = buffers->out;
    stream->avail_out = out;
    int code = library.inflate(stream);
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
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return loaded ? &isal : NULL;
}

#else

const struct decoder *decoder_isal(void)
{
    return NULL;
}

#endif
