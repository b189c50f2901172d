/*
** Decompressors of gzip with one interface. A decoder reads one member (RFC 1952) at a time;
** source.c finds the members, the padding and any data after them.
**
** 1. zlib is the reference: users see the bytes that it gives and the place where it finds damage.
** 2. ISA-L is several times as fast. It is used if it is linked, or if libisal.so.2 can be loaded
**    when it is first needed, unless the environment has TRACEDIFF_DECODER=zlib at that time.
** 3. Both give the same bytes for a whole member. For a damaged member ISA-L may give more or fewer
**    bytes, so a file that does not turn out whole is read again with zlib (document_unsure).
*/
#ifndef TRACEDIFF_DECODER_H
#define TRACEDIFF_DECODER_H

#include <stddef.h>

enum decoded {
    DECODED_SOME,   /* needs more input or more room */
    DECODED_MEMBER, /* the member has ended with the right checksum */
    DECODED_DAMAGED,
    DECODED_NO_MEMORY
};

/* The input and the output; read() advances both. Each has at most INT32_MAX bytes. */
struct decoder_buffers {
    const unsigned char *in;
    size_t in_left;
    unsigned char *out;
    size_t out_left;
};

struct decoder {
    const char *name;    /* with the version */
    void *(*open)(void); /* NULL: out of memory */
    enum decoded (*read)(void *state, struct decoder_buffers *buffers);
    void (*reset)(void *state); /* call before the next member */
    void (*close)(void *state); /* NULL is allowed */
};

extern const struct decoder decoder_zlib;

/* Compresses bytes, quickly rather than well, to a member that every decoder reads. Returns its
** length; 0 if it is longer than `room`, or if out of memory. At most INT32_MAX bytes. */
size_t decoder_pack(const unsigned char *from, size_t length, unsigned char *to, size_t room);

/* NULL if the library was built without ISA-L, or if rule 2 excludes it. Safe to call from
** several threads. */
const struct decoder *decoder_isal(void);

/* The fastest decoder available (rule 2). It is the same for the whole process. */
const struct decoder *decoder_fastest(void);

#endif
