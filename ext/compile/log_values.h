/*
** Values of the JSON of a log, which is strict JSON.
*/
#ifndef TRACEDIFF_LOG_VALUES_H
#define TRACEDIFF_LOG_VALUES_H

#include "base/names.h"
#include "log_reader.h"
#include "text/number.h"
#include "text/scan.h"

#define LOG_LATEST (INT64_MAX / 2) /* ns since 1970, in 2116: the sum of two such times fits */

/* A buffer for texts that are decoded. */
struct log_scratch {
    char *text;
    size_t length, capacity;
};

/* Decodes a string, or copies what else it is; NULL if out of memory, or if there is no value. */
const char *log_text(struct log_scratch *scratch, const struct token *token);

/* The id of a string; NAME_NONE for other values. `*failed`: out of memory. */
uint32_t log_name(struct names *names, struct log_scratch *scratch, const struct token *token,
                  bool *failed);

/* An integer; NUMBER_NONE for other values. */
int64_t log_integer(const struct token *token);

/* Seconds as ns, from 0 to LOG_LATEST; NUMBER_NONE for other values. */
int64_t log_seconds(const struct token *token);

/* The next item of an array, at first of `*p` NULL. */
bool log_item(const struct token *array, const unsigned char **p, struct token *item);

/* The payload of a record, if it is JSON, without space in front of it. */
bool log_payload(const struct log_record *record, struct token *json);

/* CL5: writes `frame_id/frame_compile_id`, after `!autograd/` if there is one; `!autograd` alone;
** or nothing. Returns its length. */
enum { LOG_ID_SIZE = 80 };
size_t log_id(const struct log_record *record, char id[LOG_ID_SIZE]);

/* The id of a text; NAME_NONE also if there are too many. */
uint32_t log_intern(struct names *names, const char *text, size_t length, bool *failed);

#endif
