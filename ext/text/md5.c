#include "md5.h"

#include <stdint.h>
#include <string.h>

enum { BLOCK = 64, ROUND = 16, LENGTH_AT = 56 };

static inline uint32_t rotated(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

/* One step of a round: of the function `f` of b, c and d. */
#define STEP(f, a, b, c, d, k, s, t) \
    a = b + rotated(a + (f) + words[k] + UINT32_C(t), s);
#define F(b, c, d) (d ^ (b & (c ^ d)))
#define G(b, c, d) (c ^ (d & (b ^ c)))
#define H(b, c, d) (b ^ c ^ d)
#define I(b, c, d) (c ^ (b | ~d))
/* Four steps of a round, from the word k on, each `by` words further. */
#define FOUR(f, k, by, s, u, v, w, x, y, z0, z1)                  \
    STEP(f(b, c, d), a, b, c, d, (k) % ROUND, s, x)               \
    STEP(f(a, b, c), d, a, b, c, ((k) + (by)) % ROUND, u, y)      \
    STEP(f(d, a, b), c, d, a, b, ((k) + 2 * (by)) % ROUND, v, z0) \
    STEP(f(c, d, a), b, c, d, a, ((k) + 3 * (by)) % ROUND, w, z1)

static void add_block(uint32_t state[4], const unsigned char *p)
{
    uint32_t words[ROUND], a = state[0], b = state[1], c = state[2], d = state[3];
    for (size_t i = 0; i < ROUND; i++, p += 4)
        words[i] = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
                   (uint32_t)p[3] << 24;
    FOUR(F, 0, 1, 7, 12, 17, 22, 0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee)
    FOUR(F, 4, 1, 7, 12, 17, 22, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501)
    FOUR(F, 8, 1, 7, 12, 17, 22, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be)
    FOUR(F, 12, 1, 7, 12, 17, 22, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821)
    FOUR(G, 1, 5, 5, 9, 14, 20, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa)
    FOUR(G, 5, 5, 5, 9, 14, 20, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8)
    FOUR(G, 9, 5, 5, 9, 14, 20, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed)
    FOUR(G, 13, 5, 5, 9, 14, 20, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a)
    FOUR(H, 5, 3, 4, 11, 16, 23, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c)
    FOUR(H, 1, 3, 4, 11, 16, 23, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70)
    FOUR(H, 13, 3, 4, 11, 16, 23, 0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05)
    FOUR(H, 9, 3, 4, 11, 16, 23, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665)
    FOUR(I, 0, 7, 6, 10, 15, 21, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039)
    FOUR(I, 12, 7, 6, 10, 15, 21, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1)
    FOUR(I, 8, 7, 6, 10, 15, 21, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1)
    FOUR(I, 4, 7, 6, 10, 15, 21, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391)
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

void md5(const unsigned char *bytes, size_t length, unsigned char digest[MD5_SIZE])
{
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    unsigned char last[2 * BLOCK] = {0};
    size_t whole = length / BLOCK * BLOCK, rest = length - whole;
    size_t end = rest < LENGTH_AT ? BLOCK : 2 * BLOCK;
    for (size_t i = 0; i < whole; i += BLOCK)
        add_block(state, bytes + i);
    if (rest > 0)
        memcpy(last, bytes + whole, rest);
    last[rest] = 0x80;
    for (size_t i = 0; i < 8; i++)
        last[end - 8 + i] = (unsigned char)((uint64_t)length * 8 >> (8 * i));
    for (size_t i = 0; i < end; i += BLOCK)
        add_block(state, last + i);
    for (size_t i = 0; i < MD5_SIZE; i++)
        digest[i] = (unsigned char)(state[i / 4] >> (8 * (i % 4)));
}
