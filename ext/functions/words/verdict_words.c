#include "verdict_words.h"

const char *verdict_words(const struct verdict *verdict)
{
    static const char *const others[] = {"nothing to compare", "no difference",
                                         "no clear difference"};
    static const char *const slower[] = {[OF_STEPS] = "slower here",
                                         [OF_SOME_STEPS] = "slower in some steps",
                                         [OF_LIKE_SIZES] = "slower at like sizes",
                                         [OF_SOME_SIZES] = "slower at some sizes"};
    static const char *const faster[] = {[OF_STEPS] = "faster here",
                                         [OF_LIKE_SIZES] = "faster at like sizes",
                                         [OF_SOME_SIZES] = "faster at some sizes"};
    return verdict->is == VERDICT_SLOWER   ? slower[verdict->of]
           : verdict->is == VERDICT_FASTER ? faster[verdict->of]
                                           : others[verdict->is];
}
