/*
** What the name of a file says of its rank.
*/
#ifndef TRACEDIFF_FILE_NAME_H
#define TRACEDIFF_FILE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `tp`, `pp`, ...: by enum coordinate. */
extern const char coordinate_names[][3];

/* The place of a rank in a job, by kind of parallelism (T7.7). */
enum coordinate { COORDINATE_TP, COORDINATE_PP, COORDINATE_DP, COORDINATE_EP, COORDINATES };

struct coordinates {
    struct {
        int64_t number; /* -1: none */
        bool dashed;    /* it is written as in `-TP-0` */
    } of[COORDINATES];
};

/* The rank in a path (T7.2): the number in the last `rank`, `rank-` or `rank_` with digits of the
** base name (any case, not after a letter); -1 if there is none. */
int64_t path_rank(const char *path);

/* The length of a path before `.TIME.pt.trace.json` or `.TIME.pt.trace.json.gz` (T7.4); 0 if it
** does not end so, or has no name before that. */
size_t path_process(const char *path);

/* The coordinates in a text. */
struct coordinates coordinates_in(const char *text);

#endif
