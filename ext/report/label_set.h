/*
** The names of a table or a map and their labels (label.h). Labels can be told apart: equal ones of
** different names are followed by ` · ` and what comes after the last `<`, `(` or `,` before the
** names differ, about 36 bytes, and if that is equal, too, by ` #2`, ` #3` and so on.
*/
#ifndef TRACEDIFF_LABEL_SET_H
#define TRACEDIFF_LABEL_SET_H

#include "base/names.h"
#include "chart/writer.h"

struct label_text;

struct label_set {
    struct names names; /* by id */
    struct label_text *items;
    struct writer bytes; /* of all labels */
};

/* The id of a name; NAME_NONE if out of memory. */
uint32_t label_set_add(struct label_set *set, const char *name, size_t length);

/* Makes the labels, after all names were added. Without `apart`, different names may have one
** label. False if out of memory. */
bool label_set_finish(struct label_set *set, bool apart);

/* Appends the label of a name to `to`, written by `escape`. Returns whether it is the name. */
bool label_set_write(const struct label_set *set, uint32_t id, struct writer *to,
                     void (*escape)(struct writer *to, const char *text, size_t length));

void label_set_clear(struct label_set *set);

#endif
