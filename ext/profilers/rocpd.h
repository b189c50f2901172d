/*
** The state of reading a database of rocprofv3 (rules R).
*/
#ifndef TRACEDIFF_ROCPD_H
#define TRACEDIFF_ROCPD_H

#include "id_table.h"
#include "ranges.h"

/* Kinds of tables, in the order of events (R2). */
enum rocpd_table { ROCPD_REGION, ROCPD_DISPATCH, ROCPD_COPY, ROCPD_SAMPLE, ROCPD_TABLES };

struct rocpd {
    struct rocpd_part {
        char *suffix; /* of the names of its tables */
        int64_t rank; /* -1: not known */
        int64_t pid;  /* NUMBER_NONE: not known */

        /* only while rows or args are read */
        struct string_table messages; /* of events */
        struct id_table places;       /* of tracks, by enum rocpd_place */
        bool opened, placed;          /* `messages`, `places` */
    } * parts;                        /* in the order of their suffixes */
    size_t part_count, part_capacity;
    size_t part; /* the one that is read */
    char schema[16];
    int word; /* of steps (N10); NVTX_NO_WORD: none */

    /* only while rows or args are read */
    bool joined;
    struct string_table strings, categories, kernels, mangled;
    struct id_table events, processes, threads, agents, tracks, timestamps;
    unsigned char *json; /* a text, with padding; and after it room to decode one of its strings */
    size_t json_capacity;
    struct ranges ranges;
    uint32_t cats[2]; /* by enum rocpd_cat: id of the name, plus 1 */
};

extern const char *const rocpd_table_names[ROCPD_TABLES];

/* What follows a name and `_` in that of a table; NULL: it has another name, or no suffix. */
const char *rocpd_suffix(const char *table, const char *name);

/* Finds the parts (R1) and, while rows are read, their ranks (R4). */
bool rocpd_look(struct database_read *read);

/* A table of a part, or NULL. `*table` is left alone on failure. */
bool rocpd_table(struct database_read *read, size_t part, const char *name,
                 struct readonly_table **table);

/* Where the work of a track of schema 4 is. */
enum rocpd_place { PLACE_AGENT, PLACE_QUEUE, PLACE_STREAM };

/* Reads the places of a part, once. False on failure, or with trouble. */
bool rocpd_places(struct database_read *read, size_t part);

/* The text that a range of a part is given: the message of its event. NULL: it has none. It is
** valid until the next call. False on failure, or with trouble. */
bool rocpd_message(struct database_read *read, size_t part, int64_t event,
                   const unsigned char **text, size_t *length);

#endif
