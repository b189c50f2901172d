/*
** The process groups that the args of collectives tell (W1, Q10.1).
*/
#ifndef TRACEDIFF_GROUPS_H
#define TRACEDIFF_GROUPS_H

#include "file/file.h"

/* What is known of names. A zeroed struct knows nothing. */
struct group_names {
    unsigned char *types; /* by name id: what may be a collective; bits of enum collective_type */
    size_t count;
};

/* Keys of args, and what they say. */
enum group_key { GROUP_RANKS, GROUP_NAME, GROUP_DESCRIPTION, GROUP_COLLECTIVE, GROUP_SOURCE,
                 GROUP_TARGET, GROUP_KEYS };
extern const char *const group_keys[GROUP_KEYS];

/* Whether a category is that of operators and annotations of the host. */
static inline bool groups_on_host(enum category category)
{
    return category == CATEGORY_USER_ANNOTATION || category == CATEGORY_OPERATOR;
}

/* Whether rows of a category may be collectives. */
static inline bool groups_in(enum category category)
{
    return groups_on_host(category) || category == CATEGORY_KERNEL || category == CATEGORY_MTIA ||
           category == CATEGORY_OTHER;
}

/* Whether a row may be a collective that tells its process group, by its name and category. False
** also on failure. */
bool groups_may(struct group_names *names, const struct trace_file *file, size_t row,
                enum category category, struct failure *failure);

/* Keeps what args say of a row that may be one: ids of names, or NAME_NONE. */
bool groups_add(struct trace_file *file, size_t row, enum category category,
                const uint32_t values[GROUP_KEYS], struct failure *failure);

void group_names_clear(struct group_names *names);

#endif
