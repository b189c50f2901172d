/*
** Adds events to a memo (memo.h).
*/
#ifndef TRACEDIFF_LESSON_H
#define TRACEDIFF_LESSON_H

#include "memo.h"

/* Learns an event that begins after the brace before `p` and ends before `stop`. memo_read() has
** just failed to find it. */
void memo_learn(struct memo *memo, const unsigned char *p, const unsigned char *stop,
                const struct event *event) __attribute__((cold));

/* Removes all spans and readings. */
void memo_begin_anew(struct memo *memo);

#endif
