/*
** Args in any order: what a reader gives must not depend on what was asked before, nor on how much
** it may hold.
*/
#include "unit.h"

#include "trace/args.h"
#include "loading/load.h"

enum { EVENTS = 1000, LONGEST = 900 };

static const struct stopper no_stopper;

/* The args of an event, and whether it has any. */
static bool expected(int number, char *args)
{
    int length = sprintf(args, "{\"n\": %d, \"pad\": \"", number);
    int pad = number * 7919 % LONGEST;
    memset(args + length, 'a' + number % 26, (size_t)pad);
    strcpy(args + length + pad, "\"}");
    return number % 11 != 3;
}

static const char *write_events(void)
{
    char args[LONGEST + 60], *text = malloc((size_t)EVENTS * (sizeof args + 60)), *end = text;
    CHECK(text != NULL);
    for (int i = 0; i < EVENTS; i++) {
        bool some = expected(i, args);
        end += sprintf(end, "%s{\"ph\":\"X\",\"ts\":%d,\"dur\":1%s%s}", i ? ",\n" : "[", i,
                       some ? ",\"args\":" : "", some ? args : "");
    }
    *end++ = ']';
    const char *path = unit_file(text, (size_t)(end - text));
    free(text);
    return path;
}

static struct trace_file *load(const char *path)
{
    struct failure failure = {.code = FAILURE_NONE};
    struct trace_file *file =
        file_load(path, &(struct load_options){.phases = NULL}, &no_stopper, &failure);
    CHECK_INT(failure.code, FAILURE_NONE);
    return file;
}

/* Asks for the args of a row. False if that fails. */
static bool ask(struct args_reader *reader, struct trace_file *file, size_t row,
                enum failure_code *code)
{
    struct failure failure = {.code = FAILURE_NONE};
    const unsigned char *text;
    size_t length;
    char args[LONGEST + 60];
    bool done = args_read(reader, file, row, &no_stopper, &text, &length, &failure);
    if (done && !expected((int)row, args))
        CHECK(text == NULL);
    else if (done)
        CHECK_BYTES(text, length, args, strlen(args));
    *code = failure.code;
    failure_clear(&failure);
    return done;
}

TEST(any_order_and_any_room)
{
    static const size_t rooms[][2] = {{0, 0},        {1, 0},      {1, 1},
                                      {9000, 45000}, {200000, 0}, {1, 10000}};
    enum failure_code code;
    struct trace_file *file = load(write_events());
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        struct args_reader reader = {.held = {.most_plain = rooms[i][0], .most = rooms[i][1]}};
        unit_trying("%d plain, %d in all", (int)rooms[i][0], (int)rooms[i][1]);
        for (int n = 0; n < 300; n++)
            CHECK(ask(&reader, file, unit_random(EVENTS), &code));
        CHECK(reader.held.memory <= (rooms[i][1] ? rooms[i][1] : HELD_MOST));
        CHECK(rooms[i][1] == 1 || reader.held.memory > 0);
        for (size_t row = 0; row < EVENTS && rooms[i][1] == 0; row++)
            CHECK(ask(&reader, file, row, &code));
        args_close(&reader);
    }
    file_release(file);
}

TEST(files_are_told_apart)
{
    enum failure_code code;
    const char *path = write_events();
    struct trace_file *files[] = {load(path), load(path), load(path)};
    struct args_reader reader = {.held = {.most_plain = 250000}};
    for (int n = 0; n < 1000; n++)
        CHECK(ask(&reader, files[unit_random(3)], unit_random(EVENTS), &code));
    args_close(&reader);
    for (int i = 0; i < 3; i++)
        file_release(files[i]);
}

/* Without memory, args are not held but read again, or out of memory is the answer. */
TEST(memory_runs_out)
{
    struct trace_file *file = load(write_events());
    int failures = 0, asked = 0;
    for (int64_t at = 1; at < 400; at += at < 100 ? unit_series(5, 1) : 17) {
        struct args_reader reader = {.held = {.most_plain = 100000}};
        unit_trying("at %d", (int)at);
        unit_fail_allocation(at, false);
        for (int n = 0; n < 20; n++) {
            enum failure_code code;
            asked++;
            if (!ask(&reader, file, unit_random(EVENTS), &code)) {
                failures++;
                CHECK_INT(code, FAILURE_MEMORY);
                CHECK(reader.held.count == 0);
            }
        }
        unit_fail_allocation(0, false);
        args_close(&reader);
    }
    CHECK(failures > 0 && failures < asked / 20);
    file_release(file);
}
