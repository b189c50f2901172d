/*
** Reads the elements of a JSON array, which a file consists of, or which is a member of the object
** that it consists of. Such files are small beside traces, and what they hold adds up: nothing is
** left out (T14 does not hold). A file that is not whole or not JSON, or lacks the array, is a
** failure that names file and byte. gzip is read by zlib.
*/
#ifndef TRACEDIFF_LIST_H
#define TRACEDIFF_LIST_H

#include "base/failure.h"
#include "text/scan.h"
#include "base/stopper.h"

struct list;

/* Opens a file. `member` is the key of the array; NULL: the file is the array. `kind` says what a
** file without the array is not. NULL on failure. The arguments must outlive the list. */
struct list *list_open(const char *path, const char *member, const char *kind,
                       const struct stopper *stopper, struct failure *failure);

/* NULL is allowed. */
void list_close(struct list *list);

/* Reads the next element. Returns 1 for an element, which is valid until the next call; 0 at the
** end of the file, of which all has been read then; -1 on failure. */
int list_next(struct list *list, struct token *element, struct failure *failure);

/* Sets the failure for the element that was read last. Always returns false. */
bool list_refuse(const struct list *list, const char *what, struct failure *failure);

#endif
