#include "verdict_words.h"

const char *verdict_words(const struct pair_verdict *verdict)
{
    static const char *const others[] = {"nothing to compare", "no difference",
                                         "no clear difference"};
    static const char *const slower[] = {[OF_STEPS] = "slower here",
                                         [OF_SOME_STEPS] = "slower in some steps",
                                         [OF_LIKE_SIZES] = "slower at like sizes",
                                         [OF_SOME_SIZES] = "slower at some sizes",
                                         [OF_COMPILING] = "slower here"};
    static const char *const faster[] = {[OF_STEPS] = "faster here",
                                         [OF_LIKE_SIZES] = "faster at like sizes",
                                         [OF_SOME_SIZES] = "faster at some sizes",
                                         [OF_COMPILING] = "faster here"};
    return verdict->is == VERDICT_SLOWER   ? slower[verdict->of]
           : verdict->is == VERDICT_FASTER ? faster[verdict->of]
                                           : others[verdict->is];
}

void write_judged(struct writer *text, enum judged judged, const struct pair_verdict *verdict,
                  const struct pair *pair)
{
    static const char *const others[] = {[JUDGED_NOTHING] = "nothing to compare",
                                         [JUDGED_CANNOT] = "cannot be compared",
                                         [JUDGED_SAME] = "no difference",
                                         [JUDGED_UNCLEAR] = "no clear difference",
                                         [JUDGED_OTHER_WORK] = "test does different work"};
    if (pair_is_whole(pair) && judged != JUDGED_CANNOT)
        write_string(text, "one trace per side, ");
    if (judged == JUDGED_LOAD) {
        write_string(text, verdict->is == VERDICT_SLOWER ? "test is slower, as load explains"
                                                         : "test is faster, as load explains");
    } else if (judged != JUDGED_CLEAR) {
        write_string(text, others[judged]);
    } else if (verdict->of == OF_SOME_STEPS) {
        write_string(text, "test is slower here in ");
        write_integer(text, verdict->slow);
        write_string(text, " of ");
        write_integer(text, pair->sides[1].windows);
        write_string(text, " steps");
    } else {
        write_string(text, "test is ");
        write_string(text, verdict_words(verdict));
    }
}

const char *judged_code(enum judged judged, const struct pair_verdict *verdict)
{
    return judged == JUDGED_CANNOT         ? "cannot"
           : judged == JUDGED_SAME         ? "same"
           : judged != JUDGED_CLEAR        ? "unknown"
           : verdict->is == VERDICT_SLOWER ? "slower"
                                           : "faster";
}

void write_steps(struct writer *text, const struct pair_side *side, bool out)
{
    const char *before = "";
    write_string(text, "[");
    for (size_t i = 0; i < side->count; i++)
        if (side->steps[i].is_out == out) {
            write_string(text, before);
            write_integer(text, side->steps[i].iteration);
            before = ",";
        }
    write_string(text, "]");
}

const char *judged_word(enum judged judged, const struct pair_verdict *verdict)
{
    static const char *const others[] = {[JUDGED_NOTHING] = "nothing",
                                         [JUDGED_CANNOT] = "cannot",
                                         [JUDGED_SAME] = "same",
                                         [JUDGED_UNCLEAR] = "unclear",
                                         [JUDGED_LOAD] = "load",
                                         [JUDGED_OTHER_WORK] = "other work"};
    return judged == JUDGED_CLEAR ? judged_code(judged, verdict) : others[judged];
}
