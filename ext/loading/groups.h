/*
** Process groups from the args of collectives (W1, Q10.1).
*/
#ifndef TRACEDIFF_GROUPS_H
#define TRACEDIFF_GROUPS_H

#include "file/file.h"

/* Results known for names. A zeroed struct is empty. */
struct group_names {
    unsigned char *types; /* by name id: bits of enum collective_type */
    size_t count;
};

/* Keys of args that describe a process group. */
enum group_key { GROUP_RANKS, GROUP_NAME, GROUP_DESCRIPTION, GROUP_COLLECTIVE, GROUP_SOURCE,
                 GROUP_TARGET, GROUP_KEYS };
extern const char *const group_keys[GROUP_KEYS];

/* Whether a category holds operators or annotations of the host. */
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

/* Whether a row may be a collective that names its process group. False also on failure. */
bool groups_may(struct group_names *names, const struct trace_file *file, size_t row,
                enum category category, struct failure *failure);

/* Keeps the values that the args of such a row have: name ids, or NAME_NONE. */
bool groups_add(struct trace_file *file, size_t row, enum category category,
                const uint32_t values[GROUP_KEYS], struct failure *failure);

void group_names_clear(struct group_names *names);

#endif
