#include "bins.h"

/* The lower bounds of the bins from BIN_FIRST to BIN_LARGE. They are literals, not computed, so
** that each equals the double that a parser makes of the same decimals. */
static const double ends[] = {
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1,   2,   5,   10,
    20,    50,    100,   200,  500,  1e3,  2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5,
    5e5,   1e6,   2e6,   5e6,  1e7,  2e7,  5e7, 1e8, 2e8, 5e8, 1e9,
};

static int bin_of(double value)
{
    if (value <= 0)
        return value < 0 ? BIN_NEGATIVE : BIN_ZERO;
    int bin = BIN_TINY;
    while (bin < BIN_LARGE && value >= ends[bin + 1 - BIN_FIRST])
        bin++;
    return bin;
}

void bins_count(struct bins *bins, const double *values, size_t count)
{
    *bins = (struct bins){{0}};
    for (size_t i = 0; i < count; i++)
        if (values[i] == values[i])
            bins->counts[bin_of(values[i])]++;
}

static void write_end(struct writer *to, double end)
{
    if (end < 1)
        write_number(to, end);
    else
        write_grouped(to, (int64_t)end);
}

void bin_name(struct writer *to, int bin)
{
    if (bin == BIN_NEGATIVE || bin == BIN_ZERO) {
        write_string(to, bin == BIN_ZERO ? "0 µs" : "below 0 µs");
        return;
    }
    if (bin == BIN_TINY) {
        write_string(to, "below ");
    } else {
        write_end(to, ends[bin - BIN_FIRST]);
        write_string(to, bin == BIN_LARGE ? " µs or more" : " to ");
    }
    if (bin == BIN_LARGE)
        return;
    write_end(to, ends[bin + 1 - BIN_FIRST]);
    write_string(to, " µs");
}
