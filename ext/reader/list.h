/*
** Reads the elements of a JSON array: either the whole file, or a member of its top-level object.
** Such files are small compared to traces, and their values are summed up, so nothing may be
** skipped (T14 does not apply). A file that is truncated, is not JSON, or lacks the array is a
** failure that names file and byte. zlib decompresses gzip.
*/
#ifndef TRACEDIFF_LIST_H
#define TRACEDIFF_LIST_H

#include "base/failure.h"
#include "text/scan.h"
#include "base/stopper.h"

struct list;

/* Opens a file. `member` is the key of the array; NULL: the file is the array. `kind` completes the
** error "not ..." for a file without it. NULL on failure. The arguments must outlive the list. */
struct list *list_open(const char *path, const char *member, const char *kind,
                       const struct stopper *stopper, struct failure *failure);

/* Closes a list; NULL is allowed. */
void list_close(struct list *list);

/* Reads the next element. Returns 1 for an element, which is valid until the next call; 0 at the
** end of the file, after checking the rest of it; -1 on failure. */
int list_next(struct list *list, struct token *element, struct failure *failure);

/* Sets the failure for the latest element. Always returns false. */
bool list_refuse(const struct list *list, const char *what, struct failure *failure);

#endif
