/*
** Decompressors of gzip, one interface for all. A decoder reads one member (RFC 1952) at a
** time; source.c finds members, padding and what follows them.
**
** 1. zlib is the reference: the bytes that it gives, and the place where it finds damage,
**    are what users see.
** 2. ISA-L is several times as fast. It is used if libisal.so.2 can be loaded when it is first
**    wanted, unless the environment has TRACEDIFF_DECODER=zlib then.
** 3. A whole member gives the same bytes with both. Of a damaged one ISA-L may give more, or
**    fewer, so a file that does not turn out whole is read again with zlib
**    (document_unsure).
*/
#ifndef TRACEDIFF_DECODER_H
#define TRACEDIFF_DECODER_H

#include <stdbool.h>
#include <stddef.h>

enum decoded {
    DECODED_SOME,   /* it needs more input, or more room */
    DECODED_MEMBER, /* the member has ended, and its checksum is right */
    DECODED_DAMAGED,
    DECODED_NO_MEMORY
};

/* What is read next, and where to; read() moves both on. Each has INT32_MAX bytes at most. */
struct decoder_buffers {
    const unsigned char *in;
    size_t in_left;
    unsigned char *out;
    size_t out_left;
};

struct decoder {
    const char *name;    /* and version */
    void *(*open)(void); /* NULL: no memory */
    enum decoded (*read)(void *state, struct decoder_buffers *buffers);
    void (*reset)(void *state); /* before the next member */
    void (*close)(void *state); /* NULL is allowed */
};

extern const struct decoder decoder_zlib;

/* NULL if this library was built without it, or rule 2 says so. Safe to call from several
** threads. */
const struct decoder *decoder_isal(void);

/* The fastest decoder there is (rule 2), the same throughout the process. */
const struct decoder *decoder_fastest(void);

#endif
