#include "ahead.h"

#include <signal.h>
#include <string.h>

#include "memory.h"

enum { BUFFERS = 2, BUFFER_SIZE = 256 * 1024 };

struct buffer {
    ptrdiff_t got; /* bytes, or the last result of `read` */
    int64_t position;
    struct failure failure;
    unsigned char bytes[BUFFER_SIZE];
};

struct ahead {
    ahead_reader *read;
    void *argument;
    atomic_int *idle; /* borrowed */
    pthread_t thread;
    bool joined;
    size_t used; /* bytes of the first filled buffer that were given */
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* signalled when one of the following changes */
    size_t filled, emptied; /* number of buffers, in all */
    bool stop;
    struct buffer buffers[BUFFERS];
};

bool thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(thread, NULL, run, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* Adds one to a counter that is shared with the other thread. */
static void count(struct ahead *ahead, size_t *counter)
{
    pthread_mutex_lock(&ahead->mutex);
    ++*counter;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->mutex);
}

/* Waits for a buffer to fill; NULL: the thread is to stop. */
static struct buffer *empty_buffer(struct ahead *ahead)
{
    pthread_mutex_lock(&ahead->mutex);
    while (!ahead->stop && ahead->filled - ahead->emptied == BUFFERS)
        pthread_cond_wait(&ahead->changed, &ahead->mutex);
    struct buffer *buffer = ahead->stop ? NULL : &ahead->buffers[ahead->filled % BUFFERS];
    pthread_mutex_unlock(&ahead->mutex);
    return buffer;
}

static void *fill_buffers(void *argument)
{
    struct ahead *ahead = argument;
    struct buffer *buffer;
    bool more = true;
    while (more && (buffer = empty_buffer(ahead))) {
        buffer->got = ahead->read(ahead->argument, buffer->bytes, BUFFER_SIZE, &buffer->position,
                                  &buffer->failure);
        more = buffer->got > 0;
        count(ahead, &ahead->filled);
    }
    atomic_fetch_add(ahead->idle, 1);
    return NULL;
}

static bool take_processor(atomic_int *idle)
{
    int there = atomic_load_explicit(idle, memory_order_relaxed);
    while (there > 0)
        if (atomic_compare_exchange_weak(idle, &there, there - 1))
            return true;
    return false;
}

struct ahead *ahead_start(atomic_int *idle, ahead_reader *read, void *argument)
{
    if (!take_processor(idle))
        return NULL;
    struct ahead *ahead = memory_allocate(sizeof *ahead);
    if (ahead) {
        memset(ahead, 0, offsetof(struct ahead, buffers));
        for (int i = 0; i < BUFFERS; i++)
            ahead->buffers[i].failure = (struct failure){.code = FAILURE_NONE};
        ahead->read = read;
        ahead->argument = argument;
        ahead->idle = idle;
        pthread_mutex_init(&ahead->mutex, NULL);
        pthread_cond_init(&ahead->changed, NULL);
        if (thread_start(&ahead->thread, fill_buffers, ahead))
            return ahead;
        ahead->joined = true;
        ahead_close(ahead);
    }
    atomic_fetch_add(idle, 1);
    return NULL;
}

/* Waits for a buffer that is filled. */
static struct buffer *filled_buffer(struct ahead *ahead)
{
    if (ahead->used == 0) { /* else it is known to be */
        pthread_mutex_lock(&ahead->mutex);
        while (ahead->filled == ahead->emptied)
            pthread_cond_wait(&ahead->changed, &ahead->mutex);
        pthread_mutex_unlock(&ahead->mutex);
    }
    return &ahead->buffers[ahead->emptied % BUFFERS];
}

ptrdiff_t ahead_read(struct ahead *ahead, unsigned char *to, size_t room, int64_t *position,
                     struct failure *failure)
{
    struct buffer *buffer = filled_buffer(ahead);
    ptrdiff_t got = buffer->got;
    *position = buffer->position;
    if (got <= 0) {
        failure_move(failure, &buffer->failure);
        buffer->got = 0; /* a failure is given once */
        return got;
    }
    size_t left = (size_t)got - ahead->used, given = left < room ? left : room;
    memcpy(to, buffer->bytes + ahead->used, given);
    ahead->used += given;
    if (given == left) {
        ahead->used = 0;
        count(ahead, &ahead->emptied);
    }
    return (ptrdiff_t)given;
}

void ahead_stop(struct ahead *ahead)
{
    if (ahead->joined)
        return;
    pthread_mutex_lock(&ahead->mutex);
    ahead->stop = true;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->mutex);
    pthread_join(ahead->thread, NULL);
    ahead->joined = true;
}

void ahead_close(struct ahead *ahead)
{
    if (!ahead)
        return;
    ahead_stop(ahead);
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->mutex);
    for (int i = 0; i < BUFFERS; i++)
        failure_clear(&ahead->buffers[i].failure);
    memory_free(ahead);
}
