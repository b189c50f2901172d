/*
** How long work goes on before it asks whether to stop: while a file of many events is read,
** and while what is derived from it is made.
*/
#define UNIT_MEASURES_TIME
#include "unit.h"

#include <time.h>

#include "analysis/sums/owners.h"
#include "analysis/parts/replays.h"
#include "analysis/parts/step_windows.h"
#include "loading/load.h"
#include "file/order.h"
#include "file/stacks.h"

enum {
    EVENTS = 300000,
    SHORT = 5, /* ms: never too long */
    PART = 12, /* else, the part of the whole that it may take: tools make all of it slower */
    ROUNDS = 5 /* the best counts: a busy machine makes some of them slower */
};

/* When a stopper was asked first and last, and the longest it was not: ms of this thread's
** processor time. */
struct asked {
    double first, last, longest;
    bool too_long; /* something took too long in this round */
    bool checked;  /* this is the last round */
};

/* Other processes do not count. */
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static bool ask(void *argument)
{
    struct asked *asked = argument;
    double at = now();
    asked->longest = at - asked->last > asked->longest ? at - asked->last : asked->longest;
    asked->last = at;
    return false;
}

static void check_longest(struct asked *asked, const char *during)
{
    (void)ask(asked);
    double whole = asked->last - asked->first;
    bool short_enough = asked->longest < SHORT || asked->longest < whole / PART;
    unit_trying("%s: %.1f of %.1f ms without asking", during, asked->longest, whole);
    asked->too_long = asked->too_long || !short_enough;
    if (asked->checked)
        CHECK(short_enough);
    asked->longest = 0;
    asked->first = asked->last = now();
}

/* Events in no order, of a few long threads or many short ones: operators, launches with
** their kernels, pairs of B and E, steps. */
static const char *many_events(int threads)
{
    size_t room = (size_t)EVENTS * 140, length = 0;
    char *text = malloc(room);
    CHECK(text != NULL);
    length += (size_t)snprintf(text, room, "{\"baseTimeNanoseconds\": 7, \"traceEvents\": [");
    for (int i = 0; i < EVENTS; i++) {
        int ts = (int)((int64_t)i * 7919 % EVENTS) * 5, tid = i % threads, what = i % 6;
        const char *comma = i + 1 < EVENTS ? ",\n" : "]}";
        char *to = text + length;
        size_t left = room - length;
        if (what == 0)
            length += (size_t)snprintf(
                to, left,
                "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"l\",\"pid\":1,\"tid\":%d,"
                "\"ts\":%d,\"dur\":3,\"args\":{\"correlation\":%d}}%s",
                tid, ts, i % 200000, comma);
        else if (what == 1)
            length += (size_t)snprintf(
                to, left,
                "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k%d\",\"pid\":0,\"tid\":7,"
                "\"ts\":%d,\"dur\":9,\"args\":{\"correlation\":%d}}%s",
                i, ts, i % 200000, comma);
        else if (what < 4)
            length +=
                (size_t)snprintf(to, left,
                                 "{\"ph\":\"%c\",\"cat\":\"x\",\"name\":\"p\",\"pid\":2,\"tid\":%d,"
                                 "\"ts\":%d}%s",
                                 what == 2 ? 'B' : 'E', tid, ts, comma);
        else if (i % 600 == 4)
            length += (size_t)snprintf(
                to, left,
                "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%d\","
                "\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":3000}%s",
                i, ts, comma);
        else
            length += (size_t)snprintf(
                to, left,
                "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op%d\",\"pid\":1,\"tid\":%d,"
                "\"ts\":%d,\"dur\":50}%s",
                i, tid, ts, comma);
    }
    const char *path = unit_file(text, length);
    free(text);
    return path;
}

/* Whether all was short enough, which is checked in the last round. */
static bool try_once(const char *path, bool checked)
{
    struct failure failure = {.code = FAILURE_NONE};
    struct asked asked = {.checked = checked};
    struct stopper stopper = {.stop = ask, .argument = &asked};
    struct owners owners;
    struct windows windows;
    struct intervals lost;
    asked.first = asked.last = now();
    struct trace_file *file =
        file_load(path, &(struct load_options){.phases = NULL}, &stopper, &failure);
    if (!CHECK(file != NULL))
        return true;
    check_longest(&asked, "reading, pairs, links and steps");
    CHECK(stacks_find(file, &stopper, &failure));
    check_longest(&asked, "call stacks");
    for (int order = 0; order < ORDER_COUNT; order++) {
        CHECK(order_rows(file, (enum order)order, &stopper, &failure) != NULL);
        check_longest(&asked, "an order");
    }
    const struct trace_member member = {.file = file, .steps = steps_of_file(file)};
    const struct graph_member of = {.member = &member};
    CHECK(owners_find(&owners, &of, NULL, 15, &stopper, &failure));
    check_longest(&asked, "owners");
    owners_clear(&owners);
    CHECK(windows_make(&windows, &member, true, &stopper, &failure));
    check_longest(&asked, "windows");
    windows_clear(&windows);
    CHECK(replays_find(&lost, file, &stopper, &failure));
    check_longest(&asked, "replays");
    intervals_clear(&lost);
    file_release(file);
    failure_clear(&failure);
    return !asked.too_long;
}

static void try_all(int threads)
{
    const char *path = many_events(threads);
    for (int round = 1; round < ROUNDS; round++)
        if (try_once(path, false))
            return;
    (void)try_once(path, true);
}

TEST(few_long_threads)
{
    try_all(2);
}

TEST(many_short_threads)
{
    try_all(5000);
}
