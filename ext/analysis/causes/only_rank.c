#include "only_rank.h"

#include "text/number.h"

void only_rank_add(struct only_rank *of, int64_t rank, double own)
{
    of->ranks++;
    of->sum += own;
    if (own > of->first) {
        of->second = of->first;
        of->first = own;
        of->rank = rank;
    } else if (own > of->second) {
        of->second = own;
    }
}

bool only_rank_supports(const struct only_rank *of, double whole)
{
    return 2 * of->first >= whole;
}

int64_t only_rank_find(const struct only_rank *of, double whole)
{
    bool only = whole > 0 && only_rank_supports(of, whole) && 2 * of->second < of->first &&
                4 * (of->sum - of->first) < of->first;
    return only ? of->rank : NUMBER_NONE;
}
