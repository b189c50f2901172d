/*
** What texts of the compiler say: guards, the reasons of recompilations and of graph breaks, and
** places of frames (CL8 to CL10).
*/
#ifndef TRACEDIFF_LOG_WORDS_H
#define TRACEDIFF_LOG_WORDS_H

#include "chart/writer.h"

/* A piece of a text. */
struct log_words {
    const char *p, *end;
};

/* `path/file.py:12 NAME`, with the last two components of a path; without NAME if it is empty. */
void write_place(struct writer *to, struct log_words path, int64_t line, struct log_words name);

/* The next line of a text, without its LF; false at the end. */
bool next_words(struct log_words *text, struct log_words *line);

/* With one space for any white space. */
void write_squeezed(struct writer *to, struct log_words words);

/* CL9: `GUARD  # CODE # FILE:LINE in NAME`, after `0/0: ` if there is one. `place` may be NULL. */
void write_guard(struct log_words line, struct writer *guard, struct writer *place);

/* The same of a reason of a recompilation: the guard without `L['']` and ids of objects. */
void write_reason(struct log_words line, struct writer *guard, struct writer *argument,
                  struct writer *place);

/* CL10: what the payload of dynamo_graph_break_reason says. */
void write_break(struct log_words text, struct writer *place, struct writer *reason,
                 struct writer *explanation, struct writer *stack);

#endif
