#include "wide.h"

#include <math.h>
#include <stddef.h>

__extension__ typedef unsigned __int128 wide_magnitude;

struct wide_member {
    char before;
    wide_time time;
};
_Static_assert(offsetof(struct wide_member, time) == 8, "wide_time is aligned to 8 bytes");

static int leading_zeros(wide_magnitude magnitude)
{
    uint64_t high = (uint64_t)(magnitude >> 64), low = (uint64_t)magnitude;
    return high ? __builtin_clzll(high) : 64 + __builtin_clzll(low);
}

/* The dividend is shifted up so that the quotient has more bits than a double holds. Its lowest bit
** then stands for all that is below it: so rounding it to a double is the only rounding. */
double wide_quotient(wide_time dividend, wide_time divisor)
{
    wide_magnitude by = (wide_magnitude)divisor;
    wide_magnitude magnitude = dividend < 0 ? -(wide_magnitude)dividend : (wide_magnitude)dividend;
    if (magnitude == 0)
        return 0;
    int shift = leading_zeros(magnitude);
    magnitude <<= shift;
    double quotient = ldexp((double)(magnitude / by | (magnitude % by != 0)), -shift);
    return dividend < 0 ? -quotient : quotient;
}
