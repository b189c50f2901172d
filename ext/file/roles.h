/*
** Roles of processes and threads, by name, for events without a category (T9, T10).
*/
#ifndef TRACEDIFF_ROLES_H
#define TRACEDIFF_ROLES_H

#include "file.h"

enum process_name {
    PROCESS_OTHER,
    PROCESS_GPU,
    PROCESS_ACCELERATOR,   /* XLA: /device:TPU, /device:CUSTOM */
    PROCESS_XLA_HOST,      /* /host: */
    PROCESS_ASCEND,        /* Ascend Hardware */
    PROCESS_OVERLAP,       /* Ascend: Overlap Analysis */
    PROCESS_COMMUNICATION, /* Ascend: Communication, HCCL */
};

/* Properties of a thread's name; bits. */
enum { THREAD_STREAM = 1, THREAD_OPS = 2, THREAD_COMMUNICATION = 4 };

enum role {
    ROLE_HOST,
    ROLE_XLA_HOST, /* events with a correlation are calls */
    ROLE_WORK,
    ROLE_ANNOTATION
};

enum process_name process_name_of(const char *name, size_t length);
unsigned char thread_name_of(const char *name, size_t length);

/* Finds the roles of a file's tracks. Gives device events without a category their stream, and
** annotations among them their category (T9). */
bool roles_find(struct trace_file *file, struct failure *failure);

#endif
