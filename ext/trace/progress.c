#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "platform/terminal.h"
#include "platform/thread.h"

enum { WIDTH = 76, FIRST = 500 * 1000 * 1000 /* ns */, EVERY = 100 * 1000 * 1000 /* ns */ };

/* Set while a thread of the process shows a line on stderr. */
static atomic_flag taken = ATOMIC_FLAG_INIT;

static bool is_wanted(void)
{
    const char *asked = getenv("TRACEDIFF_PROGRESS");
    if (asked && (strcmp(asked, "0") == 0 || strcmp(asked, "1") == 0))
        return *asked == '1';
    return terminal_is_there();
}

/* Replaces the line. False if the write fails. */
static bool put(const char *text, const char *end)
{
    char line[WIDTH + 3];
    int length = snprintf(line, sizeof line, "\r%-*s%s", WIDTH, text, end);
    return terminal_write(line, (size_t)length);
}

static bool show(const struct progress *progress)
{
    char text[WIDTH + 1];
    size_t whole = 0;
    double read = 0, size = 0;
    for (size_t i = 0; i < progress->count; i++) {
        const struct cache_request *request = progress->requests[i];
        int64_t of_file = atomic_load_explicit(&request->read, memory_order_relaxed);
        whole += of_file >= request->size;
        read += (double)of_file;
        size += (double)request->size;
    }
    snprintf(text, sizeof text, "tracediff: read %zu of %zu file%s, %d %%", whole, progress->count,
             progress->count == 1 ? "" : "s", read < size ? (int)(100 * read / size) : 100);
    return put(text, "");
}

void progress_begin(struct progress *progress, struct cache_request *const *requests, size_t count,
                    const struct stopper *stopper)
{
    *progress = (struct progress){
        .stopper = stopper, .requests = requests, .count = count, .next = clock_now() + FIRST};
}

bool progress_stop(void *argument)
{
    struct progress *progress = argument;
    int64_t time = clock_now();
    if (time >= progress->next) {
        progress->next = time + EVERY;
        if (!progress->shown && !is_wanted())
            progress->next = INT64_MAX;
        else if (progress->shown || !atomic_flag_test_and_set(&taken)) {
            progress->shown = true;
            if (!show(progress))
                progress->next = INT64_MAX;
        }
    }
    return progress->stopper->stop && progress->stopper->stop(progress->stopper->argument);
}

void progress_end(struct progress *progress)
{
    if (!progress->shown)
        return;
    put("", "\r");
    atomic_flag_clear(&taken);
}
