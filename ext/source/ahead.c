#include "ahead.h"

#include <string.h>

#include "base/memory.h"
#include "platform/thread.h"
#include "text/scan.h"

/* To wake a thread for each buffer costs time on both sides. The one that fills is woken when all
** but SPARE buffers are empty (one is lent, one waits), the one that reads when all but SPARE are
** filled, or after 10 ms when one is. With more buffers both are woken less often, which is worth
** their memory from MUCH bytes of a file on. */
enum { FEW = 4, MANY = 8, SPARE = 2, MUCH = 4 * 1024 * 1024 };

struct buffer {
    ptrdiff_t got; /* bytes, or the last result of `read` */
    int64_t position;
    struct failure failure;
    unsigned char before[AHEAD_BEFORE];
    unsigned char bytes[AHEAD_SIZE + SCAN_PADDING];
};

struct ahead {
    ahead_reader *read;
    void *argument;
    atomic_int *idle;    /* borrowed */
    size_t buffer_count; /* FEW or MANY */
    struct thread thread;
    bool joined;
    bool lent;   /* the first filled buffer is */
    size_t used; /* bytes of the next one that were given */
    struct mutex mutex;
    struct condition changed; /* signalled when one of the following changes and it may matter */
    size_t filled, emptied;   /* number of buffers, in all */
    bool ended;               /* no other buffer will be filled */
    bool late;                /* a single buffer is waited for */
    bool stop;
    struct buffer buffers[MANY];
};

/* Whether as many buffers are filled as the thread that reads is woken for. */
static bool many_filled(const struct ahead *ahead)
{
    return ahead->ended || ahead->filled - ahead->emptied >= ahead->buffer_count - SPARE;
}

static void count_filled(struct ahead *ahead, bool more)
{
    mutex_lock(&ahead->mutex);
    ahead->filled++;
    ahead->ended = !more;
    if (ahead->late || many_filled(ahead))
        condition_signal(&ahead->changed);
    mutex_unlock(&ahead->mutex);
}

static void count_emptied(struct ahead *ahead)
{
    mutex_lock(&ahead->mutex);
    ahead->emptied++;
    if (ahead->filled - ahead->emptied <= SPARE)
        condition_signal(&ahead->changed);
    mutex_unlock(&ahead->mutex);
}

/* Waits for a buffer to fill; NULL: the thread is to stop. */
static struct buffer *empty_buffer(struct ahead *ahead)
{
    mutex_lock(&ahead->mutex);
    while (!ahead->stop && ahead->filled - ahead->emptied == ahead->buffer_count)
        condition_wait(&ahead->changed, &ahead->mutex);
    struct buffer *buffer =
        ahead->stop ? NULL : &ahead->buffers[ahead->filled % ahead->buffer_count];
    mutex_unlock(&ahead->mutex);
    return buffer;
}

static void fill_buffers(void *argument)
{
    struct ahead *ahead = argument;
    struct buffer *buffer;
    bool more = true;
    while (more && (buffer = empty_buffer(ahead))) {
        buffer->got = ahead->read(ahead->argument, buffer->bytes, AHEAD_SIZE, &buffer->position,
                                  &buffer->failure);
        more = buffer->got > 0;
        count_filled(ahead, more);
    }
    atomic_fetch_add(ahead->idle, 1);
}

static bool take_processor(atomic_int *idle)
{
    int there = atomic_load_explicit(idle, memory_order_relaxed);
    while (there > 0)
        if (atomic_compare_exchange_weak(idle, &there, there - 1))
            return true;
    return false;
}

struct ahead *ahead_start(atomic_int *idle, ahead_reader *read, void *argument, int64_t left)
{
    if (!take_processor(idle))
        return NULL;
    struct ahead *ahead = memory_allocate(sizeof *ahead);
    if (ahead) {
        memset(ahead, 0, offsetof(struct ahead, buffers));
        ahead->buffer_count = left < MUCH ? FEW : MANY;
        for (size_t i = 0; i < ahead->buffer_count; i++)
            ahead->buffers[i].failure = (struct failure){.code = FAILURE_NONE};
        ahead->read = read;
        ahead->argument = argument;
        ahead->idle = idle;
        mutex_init(&ahead->mutex);
        condition_init(&ahead->changed);
        if (thread_start(&ahead->thread, fill_buffers, ahead))
            return ahead;
        ahead->joined = true;
        ahead_close(ahead);
    }
    atomic_fetch_add(idle, 1);
    return NULL;
}

/* Waits for buffer `next` and, but for the first, more: of many files only the head is read. */
static void wait_for_buffer(struct ahead *ahead, size_t next)
{
    while (next > 0 && !many_filled(ahead) &&
           condition_wait_shortly(&ahead->changed, &ahead->mutex))
        continue;
    ahead->late = true;
    while (ahead->filled == next)
        condition_wait(&ahead->changed, &ahead->mutex);
    ahead->late = false;
}

/* Waits for the buffer to give next. Sets `*got` to its bytes that were not given yet, or to the
** last result of `read`. */
static struct buffer *next_buffer(struct ahead *ahead, ptrdiff_t *got, int64_t *position,
                                  struct failure *failure)
{
    size_t next = ahead->emptied + ahead->lent;
    if (ahead->used == 0) { /* else it is known to be filled */
        mutex_lock(&ahead->mutex);
        if (ahead->filled == next)
            wait_for_buffer(ahead, next);
        mutex_unlock(&ahead->mutex);
    }
    struct buffer *buffer = &ahead->buffers[next % ahead->buffer_count];
    *position = buffer->position;
    *got = buffer->got;
    if (buffer->got > 0) {
        *got -= (ptrdiff_t)ahead->used;
    } else {
        failure_move(failure, &buffer->failure);
        buffer->got = 0; /* a failure is given once */
    }
    return buffer;
}

static void give_back(struct ahead *ahead)
{
    if (ahead->lent)
        count_emptied(ahead);
    ahead->lent = false;
}

ptrdiff_t ahead_read(struct ahead *ahead, unsigned char *to, size_t room, int64_t *position,
                     struct failure *failure)
{
    ptrdiff_t left;
    give_back(ahead);
    struct buffer *buffer = next_buffer(ahead, &left, position, failure);
    if (left <= 0)
        return left;
    size_t given = (size_t)left < room ? (size_t)left : room;
    memcpy(to, buffer->bytes + ahead->used, given);
    ahead->used += given;
    if (given == (size_t)left) {
        ahead->used = 0;
        count_emptied(ahead);
    }
    return (ptrdiff_t)given;
}

ptrdiff_t ahead_lend(struct ahead *ahead, const unsigned char *before, size_t length,
                     unsigned char **bytes, int64_t *position, struct failure *failure)
{
    ptrdiff_t left;
    struct buffer *buffer = next_buffer(ahead, &left, position, failure);
    if (left <= 0)
        return left;
    *bytes = buffer->before + AHEAD_BEFORE + ahead->used - length;
    if (length > 0)
        memcpy(*bytes, before, length);
    give_back(ahead);
    ahead->lent = true;
    ahead->used = 0;
    return left;
}

void ahead_stop(struct ahead *ahead)
{
    if (ahead->joined)
        return;
    mutex_lock(&ahead->mutex);
    ahead->stop = true;
    condition_signal(&ahead->changed);
    mutex_unlock(&ahead->mutex);
    thread_join(&ahead->thread);
    ahead->joined = true;
}

void ahead_close(struct ahead *ahead)
{
    if (!ahead)
        return;
    ahead_stop(ahead);
    condition_destroy(&ahead->changed);
    mutex_destroy(&ahead->mutex);
    for (size_t i = 0; i < ahead->buffer_count; i++)
        failure_clear(&ahead->buffers[i].failure);
    memory_free(ahead);
}
