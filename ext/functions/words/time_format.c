#include "time_format.h"

#include <math.h>

#include "analysis/answer/thresholds.h"
#include "label_words.h"

struct time_format time_format_of(const struct pair *pair)
{
    const struct pair_side *sides = pair->sides;
    bool there[2] = {sides[0].count > 0, sides[1].count > 0}, both = there[0] && there[1];
    bool seconds = both && fmax(sides[0].mean, sides[1].mean) >= SECONDS_FROM;
    struct time_format amounts = {.unit = seconds ? "s" : "ms", .size = seconds ? 1000 : 1};
    double diff = fabs(pair_diff(pair));
    double of = (diff < CLEAR_PART * sides[0].mean ? sides[0].mean : diff) / amounts.size;
    amounts.digits = decimals_for(both ? of : 0, AMOUNT_DIGITS);
    amounts.least = amounts.size * 0.5 * pow(10, -amounts.digits);
    return amounts;
}

struct time_format time_format_beside(const struct time_format *amounts, double ms, double other)
{
    struct time_format own = *amounts;
    double size = fabs(ms);
    if (size >= FAR_SMALLER * fabs(other))
        return own;
    while (size > 0 && size < own.size && own.size >= 1) {
        own.unit = own.size > 1 ? "ms" : "us";
        own.size /= 1000;
    }
    own.digits = size > 0 ? decimals_for(ms / own.size, AMOUNT_DIGITS) : 0;
    own.least = own.size * 0.5 * pow(10, -own.digits);
    return own;
}
