#include "class_words.h"

#include <string.h>

#include "analysis/causes/causes.h"
#include "sqlite/table_function.h"

const char *class_word(const char *step_class)
{
    static const char *const words[] = {[CLASS_COMPUTE] = "compute",
                                        [CLASS_COMM] = "communication",
                                        [CLASS_MEMORY] = "copies",
                                        [CLASS_IDLE_CALL] = "idle, host in a call",
                                        [CLASS_IDLE_HOST] = "idle, host late",
                                        [CLASS_IDLE_UNRECORDED] = "idle, not recorded",
                                        [CLASS_IDLE_LAUNCH] = "idle, launching",
                                        [CLASS_IDLE_WAIT] = "idle, queued",
                                        [CLASS_CALL] = "call",
                                        [CLASS_HOST] = "host",
                                        [CLASS_UNRECORDED] = "not recorded",
                                        [CLASS_COMPILE] = "compile"};
    for (int i = 0; i < CLASS_NONE && step_class; i++)
        if (strcmp(step_class, step_class_name((enum step_class)i)) == 0)
            return words[i];
    return NULL;
}

const char *cause_word(const char *kind, const char *step_class)
{
    static const enum cause_kind idle[] = {CAUSE_HOST_LATE, CAUSE_QUEUED, CAUSE_SYNCHRONIZED,
                                           CAUSE_NOT_RECORDED};
    const char *unrecorded = step_class_name(CLASS_UNRECORDED);
    if (strcmp(kind, "mix") == 0)
        return "mix";
    if (strcmp(kind, "moved") == 0)
        return "moved";
    if (step_class && strcmp(step_class, unrecorded) == 0)
        return class_word(unrecorded);
    for (int i = 0; i < COUNT_OF(idle); i++)
        if (strcmp(kind, cause_kind_name(idle[i])) == 0)
            return "GPU idle";
    for (int i = CLASS_COMPUTE; i < CLASS_NONE && step_class; i++)
        if ((i <= CLASS_MEMORY || i == CLASS_COMPILE) &&
            strcmp(step_class, step_class_name((enum step_class)i)) == 0)
            return class_word(step_class);
    return class_word(step_class_name(CLASS_HOST));
}
