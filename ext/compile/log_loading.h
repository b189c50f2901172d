/*
** A log while it is read.
*/
#ifndef TRACEDIFF_LOG_LOADING_H
#define TRACEDIFF_LOG_LOADING_H

#include "compile_log.h"
#include "log_values.h"

/* What begins a compilation (CL6). */
enum compile_begin {
    BEGINS_BY_SPAN = 1,
    BEGINS_BY_REASONS = 2,
    BEGINS_BY_START = 4,
    BEGINS_BY_METRICS = 8
};

struct log_loading {
    struct compile_log *log;
    struct log_reader reader;
    struct log_record record;
    uint32_t process;
    uint32_t id; /* of the record's envelope; NAME_NONE */
    int64_t attempt;
    struct names keys; /* of process, id and part */
    uint32_t *latest;  /* by these: the compilation */
    size_t latest_capacity;
    struct log_scratch scratch;
    struct failure *failure;
    bool failed; /* out of memory */
};

static inline struct compile_process *loading_process(const struct log_loading *loading)
{
    return &loading->log->processes[loading->process];
}

/* The compilation that something begins, if no other thing of its has done so before. */
uint32_t loading_begin(struct log_loading *loading, uint32_t id, enum compile_part part,
                       enum compile_begin by);

/* The compilation that the record is of: of the outermost span, else the last one of its id. */
uint32_t loading_current(struct log_loading *loading);

/* Takes the event of the record's payload (CL5). */
void loading_event(struct log_loading *loading);

/* Takes another record: of the compiler's start, its metrics, guards, breaks and caches. */
void loading_record(struct log_loading *loading);

/* Appends an item to a list of a process: `next` is the field of the item before. */
static inline void list_append(struct compile_list *list, uint32_t item, uint32_t *next)
{
    if (list->first == COMPILE_NONE)
        list->first = item;
    else
        *next = item;
    list->last = item;
}

#endif
