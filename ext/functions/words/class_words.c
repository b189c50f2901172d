#include "class_words.h"

#include <string.h>

#include "analysis/causes/causes.h"
#include "sqlite/table_function.h"

const char *class_word(const char *step_class)
{
    static const char *const words[] = {[CLASS_COMPUTE] = "compute",
                                        [CLASS_COMM] = "communication",
                                        [CLASS_MEMORY] = "copies",
                                        [CLASS_IDLE_CALL] = "host in a call",
                                        [CLASS_IDLE_HOST] = "host late",
                                        [CLASS_IDLE_UNRECORDED] = "not recorded",
                                        [CLASS_IDLE_LAUNCH] = "launching",
                                        [CLASS_IDLE_WAIT] = "queued",
                                        [CLASS_CALL] = "call",
                                        [CLASS_HOST] = "host",
                                        [CLASS_UNRECORDED] = "host not recorded",
                                        [CLASS_COMPILE] = "compile"};
    for (int i = 0; i < CLASS_NONE && step_class; i++)
        if (strcmp(step_class, step_class_name((enum step_class)i)) == 0)
            return words[i];
    return NULL;
}

const char *cause_word(const char *kind, const char *step_class)
{
    static const char *const kinds[] = {"host late", "queued", "not recorded", "mix", "moved"};
    if (strcmp(kind, cause_kind_name(CAUSE_SYNCHRONIZED)) == 0)
        return cause_kind_name(CAUSE_HOST_LATE);
    for (int i = 0; i < COUNT_OF(kinds); i++)
        if (strcmp(kind, kinds[i]) == 0)
            return kinds[i];
    for (int i = CLASS_COMPUTE; i < CLASS_NONE && step_class; i++)
        if ((i <= CLASS_MEMORY || i == CLASS_COMPILE) &&
            strcmp(step_class, step_class_name((enum step_class)i)) == 0)
            return class_word(step_class);
    return class_word(step_class_name(CLASS_HOST));
}
