/*
** Threads, what they share, and waiting for it; and the processors that they run on.
*/
#ifndef TRACEDIFF_THREAD_H
#define TRACEDIFF_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#ifdef _WIN32
typedef void *system_thread, *system_mutex, *system_condition, *system_once;
#define SYSTEM_MUTEX NULL
#define SYSTEM_ONCE NULL
#else
#include <pthread.h>
typedef pthread_t system_thread;
typedef pthread_mutex_t system_mutex;
typedef pthread_cond_t system_condition;
typedef pthread_once_t system_once;
#define SYSTEM_MUTEX PTHREAD_MUTEX_INITIALIZER
#define SYSTEM_ONCE PTHREAD_ONCE_INIT
#endif

struct thread {
    system_thread system;
    void (*body)(void *argument);
    void *argument;
};

struct mutex {
    system_mutex system;
};

struct condition {
    system_condition system;
};

struct once {
    system_once system;
};

/* Of those that are static; they need no mutex_destroy(). */
#define MUTEX_INITIAL \
    {                 \
        SYSTEM_MUTEX  \
    }
#define ONCE_INITIAL \
    {                \
        SYSTEM_ONCE  \
    }

/* Starts a thread with all signals blocked, because signals belong to the host's threads. False if
** the system gives none. The struct must not move until thread_join(), which waits for its end. */
bool thread_start(struct thread *thread, void (*body)(void *argument), void *argument);
void thread_join(struct thread *thread);

void mutex_init(struct mutex *mutex);
void mutex_lock(struct mutex *mutex);
void mutex_unlock(struct mutex *mutex);
void mutex_destroy(struct mutex *mutex);

void condition_init(struct condition *condition);
void condition_destroy(struct condition *condition);

/* Wakes one of those that wait. */
void condition_signal(struct condition *condition);

/* Unlocks the mutex, waits, and locks it again. It may also return without a signal. */
void condition_wait(struct condition *condition, struct mutex *mutex);

/* The same for 10 ms at most; false when these have passed. */
bool condition_wait_shortly(struct condition *condition, struct mutex *mutex);

/* Calls the function once in the life of the process; all return after it has. */
void once_run(struct once *once, void (*body)(void));

/* The number of processors that this thread may run on, at least 1. taskset and the cpusets of
** containers reduce it; quotas of CPU time do not. Where it is not known, the number of processors
** online. */
int processors_available(void);

/* ns of a clock that nobody sets. Only differences mean something. */
int64_t clock_now(void);

#endif
