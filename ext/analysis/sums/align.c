#include "align.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

enum {
    AT_ONCE = 1 << 15, /* items of each sequence that are aligned at a time; half of them stay so */
    BLOCK = 256,       /* columns that are held at once */
    BITS = 64          /* of a word */
};

/* The places of an item in `a`. */
struct occurrence {
    uint32_t item, first, count; /* first: of aligner.places */
    uint64_t *mask;              /* a bit for each place; NULL: they are few */
};

/* In a window L(i, j) is the length of a longest common subsequence of a[i...] and b[j...]. Column
** j has a bit for each i, the last one first: 0 where L(i, j) is L(i + 1, j) + 1, 1 where both are
** equal. It follows from column j + 1 by an addition: Crochemore et al., "A fast and practical
** bit-vector algorithm for the longest common subsequence problem", 2001. */
struct aligner {
    const uint32_t *a, *b; /* the window */
    size_t a_count, b_count;
    struct aligned *to;
    size_t count, i, j; /* reached; i and j count from the beginning of the sequences */
    struct occurrence *occurrences; /* by item */
    size_t occurrence_count;
    uint64_t *places; /* in `a`, by item: the item in the upper half, the place in the lower */
    size_t words;     /* of a column */
    uint64_t *masks;  /* of the items with more places than that, which are fewer than BITS */
    uint64_t *mask;   /* of another item; else 0 */
    uint64_t *kept;   /* the first column of each block, and the one after the last */
    uint64_t *block;  /* the columns of one */
    const struct stopper *stopper;
    struct failure *failure;
};

static int place_order(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return COMPARE(*x, *y);
}

/* The bit of a column for row i. */
static size_t bit_of(const struct aligner *aligner, size_t i)
{
    return aligner->a_count - 1 - i;
}

/* Changes the bits of the places of an item. */
static void flip(const struct aligner *aligner, const struct occurrence *occurrence, uint64_t *mask)
{
    for (size_t i = 0; i < occurrence->count; i++) {
        size_t bit = bit_of(aligner, (uint32_t)aligner->places[occurrence->first + i]);
        mask[bit / BITS] ^= UINT64_C(1) << bit % BITS;
    }
}

static bool find_occurrences(struct aligner *aligner)
{
    uint64_t *places = aligner->places, *mask = aligner->masks;
    for (size_t i = 0; i < aligner->a_count; i++)
        places[i] = (uint64_t)aligner->a[i] << 32 | i;
    if (!sort_items(places, aligner->a_count, sizeof *places, place_order, aligner->stopper,
                    aligner->failure))
        return false;
    aligner->occurrence_count = 0;
    for (size_t i = 0; i < aligner->a_count;) {
        struct occurrence *occurrence = &aligner->occurrences[aligner->occurrence_count++];
        *occurrence =
            (struct occurrence){.item = (uint32_t)(places[i] >> 32), .first = (uint32_t)i};
        while (i < aligner->a_count && places[i] >> 32 == occurrence->item)
            i++;
        occurrence->count = (uint32_t)i - occurrence->first;
        if (occurrence->count > aligner->words) {
            occurrence->mask = mask;
            flip(aligner, occurrence, mask);
            mask += aligner->words;
        }
    }
    return true;
}

/* The places of an item; NULL if it has none. */
static const struct occurrence *occurrence_of(const struct aligner *aligner, uint32_t item)
{
    size_t i = 0;
    LOWER_BOUND(i, aligner->occurrence_count, aligner->occurrences[i].item < item);
    return i < aligner->occurrence_count && aligner->occurrences[i].item == item
               ? &aligner->occurrences[i]
               : NULL;
}

/* Computes a column from the one after it and the places of its item. */
static void column_before(uint64_t *to, const uint64_t *after, const uint64_t *mask, size_t words)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < words; i++) {
        uint64_t equal = after[i] & mask[i], sum = after[i] + equal, whole = sum + carry;
        carry = sum < equal || whole < sum;
        to[i] = whole | (after[i] & ~mask[i]);
    }
}

/* Fills in the columns of a block. */
static bool fill_block(struct aligner *aligner, size_t number)
{
    size_t words = aligner->words, start = number * BLOCK;
    size_t end = start + BLOCK < aligner->b_count ? start + BLOCK : aligner->b_count;
    const uint64_t *after = aligner->kept + (number + 1) * words;
    for (size_t j = end; j-- > start;) {
        const struct occurrence *occurrence = occurrence_of(aligner, aligner->b[j]);
        uint64_t *to = aligner->block + (j - start) * words;
        bool few = occurrence && !occurrence->mask;
        if (few)
            flip(aligner, occurrence, aligner->mask);
        column_before(to, after, occurrence && occurrence->mask ? occurrence->mask : aligner->mask,
                      words);
        if (few)
            flip(aligner, occurrence, aligner->mask);
        after = to;
    }
    return stopper_ask(aligner->stopper, aligner->failure);
}

/* Whether an alignment without item i of `a` is shorter. Needs the block of column j. */
static bool is_needed(const struct aligner *aligner, size_t i, size_t j)
{
    size_t bit = bit_of(aligner, i);
    return !(aligner->block[j % BLOCK * aligner->words + bit / BITS] >> bit % BITS & 1);
}

/* Aligns from the beginning of the window on, up to one of the two ends. */
static bool walk(struct aligner *aligner, size_t a_end, size_t b_end)
{
    size_t i = 0, j = 0, filled = 0;
    while (i < a_end && j < b_end) {
        if (j / BLOCK != filled) {
            filled = j / BLOCK;
            if (!fill_block(aligner, filled))
                return false;
        }
        bool same = aligner->a[i] == aligner->b[j], needed = !same && is_needed(aligner, i, j);
        aligner->to[aligner->count++] = (struct aligned){
            needed ? ALIGN_NONE : aligner->i + i, same || needed ? aligner->j + j : ALIGN_NONE};
        i += !needed;
        j += same || needed;
    }
    aligner->i += i;
    aligner->j += j;
    return true;
}

static bool align_window(struct aligner *aligner, size_t a_end, size_t b_end)
{
    size_t words = (aligner->a_count + BITS - 1) / BITS;
    size_t blocks = (aligner->b_count + BLOCK - 1) / BLOCK;
    size_t columns = BITS + 1 + blocks + 1 + BLOCK;
    aligner->words = words;
    aligner->occurrences = memory_items(aligner->a_count, sizeof *aligner->occurrences);
    aligner->places = memory_zeroed(aligner->a_count + columns * words, sizeof *aligner->places);
    bool done = (aligner->occurrences && aligner->places) || failure_memory(aligner->failure);
    if (done) {
        aligner->masks = aligner->places + aligner->a_count;
        aligner->mask = aligner->masks + BITS * words;
        aligner->kept = aligner->mask + words;
        aligner->block = aligner->kept + (blocks + 1) * words;
        memset(aligner->kept + blocks * words, 0xff, words * sizeof *aligner->kept);
        done = find_occurrences(aligner);
    }
    for (size_t i = blocks; done && i-- > 0;) {
        done = fill_block(aligner, i);
        memcpy(aligner->kept + i * words, aligner->block, words * sizeof *aligner->kept);
    }
    done = done && walk(aligner, a_end, b_end);
    memory_free(aligner->occurrences);
    memory_free(aligner->places);
    return done;
}

bool align(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count, struct aligned *to,
           size_t *count, const struct stopper *stopper, struct failure *failure)
{
    struct aligner aligner = {.to = to, .stopper = stopper, .failure = failure};
    bool done = true;
    while (done && aligner.i < a_count && aligner.j < b_count) {
        size_t a_rest = a_count - aligner.i, b_rest = b_count - aligner.j;
        if (a[aligner.i] == b[aligner.j]) {
            to[aligner.count++] = (struct aligned){aligner.i++, aligner.j++};
            continue;
        }
        aligner.a = a + aligner.i;
        aligner.b = b + aligner.j;
        aligner.a_count = a_rest < AT_ONCE ? a_rest : AT_ONCE;
        aligner.b_count = b_rest < AT_ONCE ? b_rest : AT_ONCE;
        done = align_window(&aligner, a_rest > AT_ONCE ? AT_ONCE / 2 : a_rest,
                            b_rest > AT_ONCE ? AT_ONCE / 2 : b_rest);
    }
    for (; done && aligner.i < a_count; aligner.i++)
        to[aligner.count++] = (struct aligned){aligner.i, ALIGN_NONE};
    for (; done && aligner.j < b_count; aligner.j++)
        to[aligner.count++] = (struct aligned){ALIGN_NONE, aligner.j};
    *count = aligner.count;
    return done;
}
