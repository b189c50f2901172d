/*
** Threads, and waiting for what they do.
*/
#ifndef TRACEDIFF_THREAD_H
#define TRACEDIFF_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread with all signals blocked, because signals belong to the host's threads. */
bool thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/* Makes a condition for thread_wait(). */
void thread_make_condition(pthread_cond_t *condition);

/* As pthread_cond_wait(), but for 10 ms at most; false when these have passed. */
bool thread_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);

#endif
