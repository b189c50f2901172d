#include "align.h"

#include "../reader/memory.h"

enum { BLOCK = 64 /* rows that are kept at once */ };

/* lengths[i][j] is the length of a longest common subsequence of a[i...] and b[j...]. A row has
** those of one i; its first item is for `from`, its last for b_count. */
struct aligner {
    const uint32_t *a, *b;
    size_t b_count;
    struct aligned *to;
    size_t count, i, j; /* reached */
    size_t cells;       /* for the stopper */
    const struct stopper *stopper;
    struct failure *failure;
};

/* Computes the row of `i` from that of i + 1, from column `from` on. Both begin at that column. */
static bool row_before(struct aligner *aligner, size_t i, size_t from, const uint32_t *below,
                       uint32_t *row)
{
    size_t last = aligner->b_count - from;
    const uint32_t *b = aligner->b + from;
    row[last] = below[last];
    for (size_t j = last; j-- > 0;) {
        uint32_t longer = below[j] > row[j + 1] ? below[j] : row[j + 1];
        row[j] = aligner->a[i] == b[j] ? below[j + 1] + 1 : longer;
        if (!stopper_goes_on(aligner->stopper, aligner->cells++, aligner->failure))
            return false;
    }
    return true;
}

/* Goes to row `end` with the rows up to it, which begin at column `from`. */
static void walk(struct aligner *aligner, size_t end, size_t from, uint32_t *const *rows)
{
    size_t first = aligner->i;
    while (aligner->i < end) {
        size_t i = aligner->i, j = aligner->j;
        const uint32_t *row = rows[i - first], *below = rows[i + 1 - first];
        bool more = j < aligner->b_count;
        struct aligned pair = {i, ALIGN_NONE};
        if (more && aligner->a[i] == aligner->b[j])
            pair.b = j;
        else if (more && below[j - from] < row[j + 1 - from])
            pair = (struct aligned){ALIGN_NONE, j};
        aligner->i += pair.a != ALIGN_NONE;
        aligner->j += pair.b != ALIGN_NONE;
        aligner->to[aligner->count++] = pair;
    }
}

/* Aligns a block of rows up to `end`, whose row is given and begins at column `from`. */
static bool align_block(struct aligner *aligner, size_t end, size_t from, const uint32_t *last)
{
    size_t start = aligner->i, count = end - start, at = aligner->j;
    size_t width = aligner->b_count - at + 1;
    uint32_t *rows[BLOCK + 1];
    uint32_t *room = memory_allocate((count + 1) * width * sizeof *room);
    if (!room)
        return failure_memory(aligner->failure);
    for (size_t i = 0; i <= count; i++)
        rows[i] = room + i * width;
    for (size_t j = 0; j < width; j++)
        rows[count][j] = last[j + at - from];
    bool done = true;
    for (size_t i = count; done && i-- > 0;)
        done = row_before(aligner, start + i, at, rows[i + 1], rows[i]);
    if (done)
        walk(aligner, end, at, rows);
    memory_free(room);
    return done;
}

/* Aligns the rows up to `end`, whose row is given and begins at column `from`: the upper half with the
** row in the middle, then the lower half, which needs fewer columns. */
static bool align_rows(struct aligner *aligner, size_t end, size_t from, const uint32_t *last)
{
    size_t start = aligner->i, at = aligner->j, middle = start + (end - start) / 2;
    size_t width = aligner->b_count - at + 1;
    if (end - start <= BLOCK)
        return align_block(aligner, end, from, last);
    uint32_t *row = memory_allocate(2 * width * sizeof *row), *other = row + width, *both = row;
    if (!row)
        return failure_memory(aligner->failure);
    for (size_t j = 0; j < width; j++)
        row[j] = last[j + at - from];
    bool done = true;
    for (size_t i = end; done && i-- > middle;) {
        uint32_t *made = other;
        done = row_before(aligner, i, at, row, made);
        other = row;
        row = made;
    }
    done = done && align_rows(aligner, middle, at, row);
    memory_free(both);
    return done && align_rows(aligner, end, from, last);
}

bool align(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count, struct aligned *to,
           size_t *count, const struct stopper *stopper, struct failure *failure)
{
    struct aligner aligner = {
        .a = a, .b = b, .b_count = b_count, .to = to, .stopper = stopper, .failure = failure};
    while (aligner.i < a_count && aligner.j < b_count && a[aligner.i] == b[aligner.j]) {
        to[aligner.count++] = (struct aligned){aligner.i, aligner.j};
        aligner.i++;
        aligner.j++;
    }
    size_t from = aligner.j;
    uint32_t *last = memory_zeroed(b_count - from + 1, sizeof *last);
    bool done = last ? align_rows(&aligner, a_count, from, last) : failure_memory(failure);
    memory_free(last);
    for (; done && aligner.j < b_count; aligner.j++)
        to[aligner.count++] = (struct aligned){ALIGN_NONE, aligner.j};
    *count = aligner.count;
    return done;
}
