#include "judgement.h"

enum judged judge(const struct pair *pair, const struct verdict *verdict, const struct load *load)
{
    (void)pair;
    if (verdict->is == VERDICT_NOTHING)
        return JUDGED_NOTHING;
    if (verdict->is == VERDICT_SAME)
        return JUDGED_SAME;
    if (verdict->is == VERDICT_UNCLEAR)
        return JUDGED_UNCLEAR;
    if (!load->there || load->is_waiting)
        return JUDGED_CLEAR;
    return load->other_work ? JUDGED_OTHER_WORK : JUDGED_UNCLEAR;
}
