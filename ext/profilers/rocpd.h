/*
** State for reading a database of rocprofv3 (rules R).
*/
#ifndef TRACEDIFF_ROCPD_H
#define TRACEDIFF_ROCPD_H

#include "id_table.h"
#include "ranges.h"

/* Kinds of tables, in the order of events (R2). */
enum rocpd_table { ROCPD_REGION, ROCPD_DISPATCH, ROCPD_COPY, ROCPD_SAMPLE, ROCPD_TABLES };

struct rocpd {
    struct rocpd_part {
        char *suffix; /* suffix of its table names */
        int64_t rank; /* -1: unknown */
        int64_t pid;  /* NUMBER_NONE: unknown */

        /* used only while rows or args are read */
        struct string_table messages; /* of events */
        struct id_table places;       /* by track and enum rocpd_place */
        bool opened, placed;          /* state of `messages` and `places` */
    } * parts;                        /* in the order of their suffixes */
    size_t part_count, part_capacity;
    size_t part; /* the part being read */
    char schema[16];
    int word; /* that marks steps (N10); NVTX_NO_WORD: none */

    /* used only while rows or args are read */
    bool joined;
    struct string_table strings, categories, kernels, mangled;
    struct id_table events, processes, threads, agents, tracks, timestamps;
    unsigned char *json; /* a text and its padding, then room to decode one of its strings */
    size_t json_capacity;
    struct ranges ranges;
    uint32_t cats[2]; /* by enum rocpd_cat: id of the name plus 1 */
};

extern const char *const rocpd_table_names[ROCPD_TABLES];

/* The text after a table's base name and `_`; NULL if the table has another name, or no suffix. */
const char *rocpd_suffix(const char *table, const char *name);

/* Finds the parts (R1) and, while rows are read, their ranks (R4). */
bool rocpd_look(struct database_read *read);

/* Finds a table of a part; NULL if missing. `*table` is unchanged on failure. */
bool rocpd_table(struct database_read *read, size_t part, const char *name,
                 struct readonly_table **table);

/* The location of work on a track of schema 4. */
enum rocpd_place { PLACE_AGENT, PLACE_QUEUE, PLACE_STREAM };

/* Reads the places of a part, if not done yet. False on failure, or with trouble. */
bool rocpd_places(struct database_read *read, size_t part);

/* The text of a range in a part: the message of its event. NULL: no text. Valid until the next
** call. False on failure, or with trouble. */
bool rocpd_message(struct database_read *read, size_t part, int64_t event,
                   const unsigned char **text, size_t *length);

#endif
