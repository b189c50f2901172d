/*
** A producer for functions whose rows come from files with one JSON array (list.h).
*/
#ifndef TRACEDIFF_CALL_LIST_H
#define TRACEDIFF_CALL_LIST_H

#include "reader/list.h"
#include "sqlite/arguments.h"

struct list_rows {
    struct call *call;
    struct result *result;
    const char *path; /* of the current file */
    struct list *list;
    void *state; /* the function's own state */
};

/* Takes an element; false on failure, with call->failure filled. */
typedef bool take_element(struct list_rows *rows, const struct token *element);

/* Reads the files that the first argument names; `member` and `kind` are like in list_open().
** `take` gets each element. `end` is called after the last element of a file; it may be NULL. */
int call_list_rows(struct call *call, const char *member, const char *kind, take_element *take,
                   void (*end)(struct list_rows *rows), void *state, struct rows **rows);

/* Adds the first two columns, which all such functions share. */
void add_list_file(struct list_rows *rows);

/* clang-format off */
#define LIST_COLUMNS \
    {"file", "TEXT", "path"}, \
    {"rank", "INTEGER", "rank in the file's name; NULL: none"}
/* clang-format on */
#define LIST_ARGUMENT "trace", TAKES_TRACE, true, "file, pattern, directory or JSON array of these"

#endif
