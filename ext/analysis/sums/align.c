#include "align.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

enum {
    AT_ONCE = 1 << 15, /* items of each sequence aligned at a time; half of the result is final */
    BLOCK = 256,       /* columns computed at once */
    MOST_HELD = 1 << 19, /* most words to keep all columns; beyond, one block is kept */
    BITS = 64            /* bits per word */
};

/* places of an item in `a` */
struct occurrence {
    uint32_t item, first, count; /* first: index into aligner.places */
    bool common;                 /* `b` has the item, too */
    uint64_t *mask;              /* one bit per place; NULL: there are few */
};

/* Within a window, L(i, j) is the length of a longest common subsequence of a[i...] and b[j...].
** The columns leave out items that only one side has, and the common suffix, which makes every
** earlier L longer by the same length. Column j has one bit for each i, the last i first: 0 if L(i,
** j) is L(i + 1, j) + 1, 1 if both are equal. It follows from column j + 1 by one addition:
** Crochemore et al., "A fast and practical bit-vector algorithm for the longest common subsequence
** problem", 2001. */
struct aligner {
    const uint32_t *a, *b; /* current window */
    size_t a_count, b_count;
    struct aligned *to;
    size_t count, i, j;             /* length of the result; positions in the whole sequences */
    struct occurrence *occurrences; /* by item */
    size_t occurrence_count;
    uint32_t *a_of, *b_of; /* by item of the window: its occurrence; in `b` may be ALIGN_ALONE */
    uint32_t *a_at, *b_at; /* by item of the window: number of earlier items common to both sides */
    uint32_t *common;      /* occurrences of the common items in `b` */
    size_t rows, columns;  /* number of common items in `a` and `b`, without the suffix */
    uint64_t *places;      /* in `a`, sorted by item: item in the upper half, place in the lower */
    size_t words;          /* words per column */
    uint64_t *masks;       /* of items with more than `words` places; there are fewer than BITS */
    uint64_t *mask;        /* scratch mask for other items; all 0 between uses */
    uint64_t *kept;        /* first column of each block, and the column after the last */
    uint64_t *block;       /* columns of one block, or all columns */
    size_t held;           /* number of columns in `block` */
    const struct stopper *stopper;
    struct failure *failure;
};

#define ALIGN_ALONE UINT32_MAX

static int place_order(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return COMPARE(*x, *y);
}

/* Sorts the places by item. Items are usually small numbers from 0, so it can count them. */
static bool sort_places(struct aligner *aligner)
{
    uint32_t most = 0;
    for (size_t i = 0; i < aligner->a_count; i++)
        most = aligner->a[i] > most ? aligner->a[i] : most;
    for (size_t i = 0; i < aligner->a_count; i++)
        aligner->places[i] = (uint64_t)aligner->a[i] << 32 | i;
    if (most > AT_ONCE + 4 * aligner->a_count)
        return sort_items(aligner->places, aligner->a_count, sizeof *aligner->places, place_order,
                          aligner->stopper, aligner->failure);
    uint32_t *next = memory_zeroed((size_t)most + 2, sizeof *next), total = 0;
    if (!next)
        return failure_memory(aligner->failure);
    for (size_t i = 0; i < aligner->a_count; i++)
        next[aligner->a[i]]++;
    for (size_t item = 0; item <= most; item++) {
        uint32_t here = next[item];
        next[item] = total;
        total += here;
    }
    for (size_t i = 0; i < aligner->a_count; i++)
        aligner->places[next[aligner->a[i]]++] = (uint64_t)aligner->a[i] << 32 | i;
    memory_free(next);
    return true;
}

/* Returns the bit of a row within a column. */
static size_t bit_of(const struct aligner *aligner, size_t row)
{
    return aligner->rows - 1 - row;
}

/* Flips the bits at the places of an item. */
static void flip(const struct aligner *aligner, const struct occurrence *occurrence, uint64_t *mask)
{
    for (size_t i = 0; i < occurrence->count; i++) {
        uint32_t place = (uint32_t)aligner->places[occurrence->first + i];
        size_t bit = bit_of(aligner, aligner->a_at[place]);
        mask[bit / BITS] ^= UINT64_C(1) << bit % BITS;
    }
}

/* Finds the items of `a`, and which items of `b` are among them. */
static bool find_occurrences(struct aligner *aligner)
{
    uint64_t *places = aligner->places;
    if (!sort_places(aligner))
        return false;
    aligner->occurrence_count = 0;
    for (size_t i = 0; i < aligner->a_count;) {
        struct occurrence *occurrence = &aligner->occurrences[aligner->occurrence_count];
        *occurrence =
            (struct occurrence){.item = (uint32_t)(places[i] >> 32), .first = (uint32_t)i};
        for (; i < aligner->a_count && places[i] >> 32 == occurrence->item; i++)
            aligner->a_of[(uint32_t)places[i]] = (uint32_t)aligner->occurrence_count;
        occurrence->count = (uint32_t)i - occurrence->first;
        aligner->occurrence_count++;
    }
    for (size_t j = 0; j < aligner->b_count; j++) {
        size_t i = 0;
        LOWER_BOUND(i, aligner->occurrence_count, aligner->occurrences[i].item < aligner->b[j]);
        bool found = i < aligner->occurrence_count && aligner->occurrences[i].item == aligner->b[j];
        aligner->b_of[j] = found ? (uint32_t)i : ALIGN_ALONE;
        if (found)
            aligner->occurrences[i].common = true;
    }
    return stopper_ask(aligner->stopper, aligner->failure);
}

/* Counts the items common to both sides, and removes the common suffix. */
static void find_common(struct aligner *aligner)
{
    size_t last = aligner->a_count;
    aligner->rows = aligner->columns = 0;
    for (size_t i = 0; i < aligner->a_count; i++) {
        aligner->a_at[i] = (uint32_t)aligner->rows;
        aligner->rows += aligner->occurrences[aligner->a_of[i]].common;
    }
    for (size_t j = 0; j < aligner->b_count; j++) {
        aligner->b_at[j] = (uint32_t)aligner->columns;
        if (aligner->b_of[j] != ALIGN_ALONE)
            aligner->common[aligner->columns++] = aligner->b_of[j];
    }
    while (aligner->rows > 0 && aligner->columns > 0) {
        struct occurrence *occurrence = &aligner->occurrences[aligner->a_of[--last]];
        if (!occurrence->common)
            continue;
        if (aligner->common[aligner->columns - 1] != aligner->a_of[last])
            break;
        occurrence->count--;
        aligner->rows--;
        aligner->columns--;
    }
}

/* Makes masks for items with many places. */
static void make_masks(struct aligner *aligner)
{
    uint64_t *mask = aligner->masks;
    for (size_t i = 0; i < aligner->occurrence_count; i++) {
        struct occurrence *occurrence = &aligner->occurrences[i];
        if (!occurrence->common || occurrence->count <= aligner->words)
            continue;
        occurrence->mask = mask;
        flip(aligner, occurrence, mask);
        mask += aligner->words;
    }
}

/* Computes a column from the next one and the places of its item. */
static void column_before(uint64_t *to, const uint64_t *after, const uint64_t *mask, size_t words)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < words; i++) {
        uint64_t now = after[i], equal = now & mask[i], sum = now + equal, whole = sum + carry;
        carry = (sum < equal) | (whole < sum);
        to[i] = whole | (now ^ equal);
    }
}

/* Computes the columns of a block. */
static bool fill_block(struct aligner *aligner, size_t number)
{
    size_t words = aligner->words, start = number * BLOCK;
    size_t end = start + BLOCK < aligner->columns ? start + BLOCK : aligner->columns;
    const uint64_t *after = aligner->kept + (number + 1) * words;
    for (size_t j = end; j-- > start;) {
        const struct occurrence *occurrence = &aligner->occurrences[aligner->common[j]];
        uint64_t *to = aligner->block + j % aligner->held * words;
        bool few = !occurrence->mask;
        if (few)
            flip(aligner, occurrence, aligner->mask);
        column_before(to, after, few ? aligner->mask : occurrence->mask, words);
        if (few)
            flip(aligner, occurrence, aligner->mask);
        after = to;
    }
    return stopper_ask(aligner->stopper, aligner->failure);
}

/* Returns whether the alignment gets shorter without item i of `a`, while item j of `b` differs
** from it. The block of that column must be filled. Within the suffix, all of the shorter rest is
** aligned. */
static bool is_needed(const struct aligner *aligner, size_t i, size_t j)
{
    size_t row = aligner->a_at[i], column = aligner->b_at[j];
    if (!aligner->occurrences[aligner->a_of[i]].common)
        return false;
    if (row >= aligner->rows || column >= aligner->columns)
        return aligner->rows + column <= aligner->columns + row;
    size_t bit = bit_of(aligner, row);
    return !(aligner->block[column % aligner->held * aligner->words + bit / BITS] >> bit % BITS &
             1);
}

/* Aligns from the start of the window until it reaches one of the two ends. */
static bool walk(struct aligner *aligner, size_t a_end, size_t b_end)
{
    size_t i = 0, j = 0, filled = 0;
    while (i < a_end && j < b_end) {
        size_t column = aligner->b_at[j];
        if (column / BLOCK != filled && column < aligner->columns && aligner->held == BLOCK) {
            filled = column / BLOCK;
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

/* Aligns the items common to both sides of the window. */
static bool align_common(struct aligner *aligner, size_t a_end, size_t b_end)
{
    size_t words = (aligner->rows + BITS - 1) / BITS;
    size_t blocks = (aligner->columns + BLOCK - 1) / BLOCK;
    size_t held = blocks * BLOCK * words <= MOST_HELD ? blocks * BLOCK : BLOCK;
    uint64_t *room = memory_items((BITS + 1 + blocks + 1 + held) * words, sizeof *room);
    bool done = room || failure_memory(aligner->failure);
    aligner->words = words;
    aligner->held = held;
    if (done) {
        aligner->masks = room;
        aligner->mask = aligner->masks + BITS * words;
        aligner->kept = aligner->mask + words;
        aligner->block = aligner->kept + (blocks + 1) * words;
        memset(room, 0, (BITS + 1) * words * sizeof *room);
        memset(aligner->kept + blocks * words, 0xff, words * sizeof *aligner->kept);
        make_masks(aligner);
    }
    for (size_t i = blocks; done && i-- > 0;) {
        done = fill_block(aligner, i);
        memcpy(aligner->kept + i * words, aligner->block + i * BLOCK % held * words,
               words * sizeof *aligner->kept);
    }
    done = done && walk(aligner, a_end, b_end);
    memory_free(room);
    return done;
}

static bool align_window(struct aligner *aligner, size_t a_end, size_t b_end)
{
    size_t a = aligner->a_count, b = aligner->b_count;
    uint32_t *room = memory_items(2 * a + 3 * b, sizeof *room);
    aligner->occurrences = memory_items(a, sizeof *aligner->occurrences);
    aligner->places = memory_items(a, sizeof *aligner->places);
    bool done =
        (room && aligner->occurrences && aligner->places) || failure_memory(aligner->failure);
    if (done) {
        aligner->a_of = room;
        aligner->a_at = room + a;
        aligner->b_of = room + 2 * a;
        aligner->b_at = aligner->b_of + b;
        aligner->common = aligner->b_at + b;
        done = find_occurrences(aligner);
    }
    if (done)
        find_common(aligner);
    done = done && align_common(aligner, a_end, b_end);
    memory_free(room);
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
