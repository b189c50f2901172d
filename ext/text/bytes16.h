/*
** 16 bytes of text at a time. Vectors are those of gcc and clang: an operator works on each byte,
** and a comparison gives 0xff where it is true, else 0. Only masks of bits need the instructions of
** a processor.
*/
#ifndef TRACEDIFF_BYTES16_H
#define TRACEDIFF_BYTES16_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined __SSE2__
#include <emmintrin.h>
#elif defined __ARM_NEON && defined __aarch64__
#include <arm_neon.h>
#define BYTE_BITS ((bytes16){1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128})
#endif

typedef unsigned char bytes16 __attribute__((vector_size(16)));
typedef signed char signed16 __attribute__((vector_size(16)));

/* Needs no alignment. */
static inline bytes16 bytes16_at(const unsigned char *p)
{
    bytes16 bytes;
    memcpy(&bytes, p, sizeof bytes);
    return bytes;
}

/* Bit i of the result is set if byte i is 0xff. Every byte must be 0 or 0xff. */
static inline uint32_t bytes16_mask(bytes16 bytes)
{
#if defined __SSE2__
    return (uint32_t)_mm_movemask_epi8((__m128i)bytes);
#elif defined BYTE_BITS
    bytes16 bits = bytes & BYTE_BITS;
    return vaddvq_u16((uint16x8_t)vzip1q_u8(bits, vextq_u8(bits, bits, 8)));
#else
    uint32_t mask = 0;
    for (int i = 0; i < 16; i++)
        mask |= (bytes[i] & 1U) << i;
    return mask;
#endif
}

/* Whether the bytes at `p` are those of `text` where `mask` has a bit. */
static inline bool bytes16_same(bytes16 text, const unsigned char *p, uint32_t mask)
{
    return (~bytes16_mask((bytes16)(bytes16_at(p) == text)) & mask) == 0;
}

/* As bytes16_mask(), of four times 16 bytes. */
static inline uint64_t bytes64_mask(const bytes16 *bytes)
{
#if defined BYTE_BITS
    bytes16 low = vpaddq_u8(bytes[0] & BYTE_BITS, bytes[1] & BYTE_BITS);
    bytes16 high = vpaddq_u8(bytes[2] & BYTE_BITS, bytes[3] & BYTE_BITS);
    bytes16 all = vpaddq_u8(low, high);
    return vgetq_lane_u64((uint64x2_t)vpaddq_u8(all, all), 0);
#else
    return (uint64_t)bytes16_mask(bytes[0]) | (uint64_t)bytes16_mask(bytes[1]) << 16 |
           (uint64_t)bytes16_mask(bytes[2]) << 32 | (uint64_t)bytes16_mask(bytes[3]) << 48;
#endif
}

#endif
