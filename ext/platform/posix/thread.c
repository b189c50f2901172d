/* Processors are not of POSIX: sched_getaffinity() is of Linux; Darwin hides more. */
#define _GNU_SOURCE
#define _DARWIN_C_SOURCE
#include "platform/thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

static void *run_thread(void *argument)
{
    struct thread *thread = argument;
    thread->body(thread->argument);
    return NULL;
}

/* Bytes, of which a thread takes only what it touches. musl would give 128 KiB, of which SQLite
** needs 100 to read an expression as deep as it allows. */
enum { STACK = 8 * 1024 * 1024 };

bool thread_start(struct thread *thread, void (*body)(void *argument), void *argument)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    thread->body = body;
    thread->argument = argument;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setstacksize(&attributes, STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread->system, &attributes, run_thread, thread) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

void thread_join(struct thread *thread)
{
    pthread_join(thread->system, NULL);
}

void mutex_init(struct mutex *mutex)
{
    pthread_mutex_init(&mutex->system, NULL);
}

void mutex_lock(struct mutex *mutex)
{
    pthread_mutex_lock(&mutex->system);
}

void mutex_unlock(struct mutex *mutex)
{
    pthread_mutex_unlock(&mutex->system);
}

void mutex_destroy(struct mutex *mutex)
{
    pthread_mutex_destroy(&mutex->system);
}

enum { SHORTLY = 10 * 1000 * 1000 /* ns */ };

/* While we wait, the wall clock may be set: so the time is of the monotonic one, or relative. */
#ifdef __APPLE__
void condition_init(struct condition *condition)
{
    pthread_cond_init(&condition->system, NULL);
}

bool condition_wait_shortly(struct condition *condition, struct mutex *mutex)
{
    struct timespec time = {.tv_nsec = SHORTLY};
    return pthread_cond_timedwait_relative_np(&condition->system, &mutex->system, &time) !=
           ETIMEDOUT;
}
#else
void condition_init(struct condition *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&condition->system, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

bool condition_wait_shortly(struct condition *condition, struct mutex *mutex)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += SHORTLY;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return pthread_cond_timedwait(&condition->system, &mutex->system, &until) != ETIMEDOUT;
}
#endif

void condition_destroy(struct condition *condition)
{
    pthread_cond_destroy(&condition->system);
}

void condition_signal(struct condition *condition)
{
    pthread_cond_signal(&condition->system);
}

void condition_wait(struct condition *condition, struct mutex *mutex)
{
    pthread_cond_wait(&condition->system, &mutex->system);
}

void once_run(struct once *once, void (*body)(void))
{
    pthread_once(&once->system, body);
}

int processors_available(void)
{
    long count = 0;
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        count = CPU_COUNT(&set);
#endif
    if (count == 0)
        count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 1 ? (int)count : 1;
}

int64_t clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
