#include "thin.h"

#include <stdbool.h>

/* The bucket of a point. `width` is 0 if buckets have equally many points. */
static size_t bucket_of(const double *x, size_t i, size_t count, size_t buckets, double width)
{
    if (width == 0)
        return (size_t)((double)i / (double)count * (double)buckets);
    size_t bucket = (size_t)((x[i] - x[0]) / width);
    return bucket < buckets ? bucket : buckets - 1;
}

size_t thin(double *x, double *y, size_t count, size_t buckets)
{
    if (count <= 4 * buckets)
        return count;
    double first = x[0], width = (x[count - 1] - first) / (double)buckets;
    for (size_t i = 1; i < count && width > 0; i++)
        if (x[i] < x[i - 1])
            width = 0;
    if (!(width > 0))
        width = 0;
    size_t kept = 0;
    for (size_t begin = 0, end; begin < count; begin = end) {
        size_t bucket = bucket_of(x, begin, count, buckets, width), low = begin, high = begin;
        for (end = begin + 1; end < count && bucket_of(x, end, count, buckets, width) == bucket;
             end++) {
            low = y[end] < y[low] ? end : low;
            high = y[end] > y[high] ? end : high;
        }
        size_t points[] = {begin, low < high ? low : high, low < high ? high : low, end - 1};
        for (int i = 0; i < 4; i++) {
            if (i > 0 && points[i] == points[i - 1])
                continue;
            x[kept] = x[points[i]];
            y[kept++] = y[points[i]];
        }
    }
    return kept;
}
