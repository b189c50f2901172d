/*
** A harness for unit tests: a C file is a program, a TEST in it is a test.
**
**     TEST(sums)
**     {
**         CHECK_INT(1 + 1, 2);
**     }
**
** The program runs its tests in order and prints for each `ok NAME` or `not ok
** NAME`, and before it a line for each check that did not hold (the first few of
** them). It exits with 1 if any test failed. A check says whether it held, so a
** loop can end at the first that did not.
**
** The layers under test take their memory from here: any allocation can be made
** to fail, and a block that a test leaves behind is a failure.
*/
#ifndef TRACEDIFF_UNIT_H
#define TRACEDIFF_UNIT_H

#include <malloc.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#include "base/memory.h"

enum { UNIT_MOST_TESTS = 64, UNIT_MOST_LINES = 8, UNIT_CONTEXT = 400 };

static struct {
    const char *name;
    void (*run)(void);
} unit_tests[UNIT_MOST_TESTS];
static int unit_count;
static int unit_failures; /* of the test that is running */
static char unit_context[UNIT_CONTEXT];
static char unit_path[200]; /* of the file tests write to; empty: not there yet */

#define TEST(test)                                                 \
    static void test(void);                                        \
    __attribute__((constructor)) static void test##_register(void) \
    {                                                              \
        unit_tests[unit_count].name = #test;                       \
        unit_tests[unit_count++].run = test;                       \
    }                                                              \
    static void test(void)

/* Checks: each is true if it held. Text ends with a NUL, bytes need not. */
#define CHECK(condition) unit_check(__FILE__, __LINE__, #condition, (condition))
#define CHECK_INT(actual, expected) \
    unit_check_int(__FILE__, __LINE__, #actual, (int64_t)(actual), (int64_t)(expected))
#define CHECK_TEXT(actual, expected) unit_check_text(__FILE__, __LINE__, #actual, actual, expected)
#define CHECK_BYTES(actual, length, expected, expected_length) \
    unit_check_bytes(__FILE__, __LINE__, #actual, actual, length, expected, expected_length)

/* Says what is being tried; failures that follow show it. */
__attribute__((format(printf, 1, 2))) static inline void unit_trying(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(unit_context, sizeof unit_context, format, arguments);
    va_end(arguments);
}

/* Counts a failure; true if it is to be shown. */
static inline bool unit_fail(const char *file, int line)
{
    if (++unit_failures > UNIT_MOST_LINES)
        return false;
    printf("%s:%d: ", file, line);
    if (unit_context[0])
        printf("[%s] ", unit_context);
    return true;
}

static inline bool unit_check(const char *file, int line, const char *what, bool held)
{
    if (!held && unit_fail(file, line))
        printf("%s does not hold\n", what);
    return held;
}

static inline bool unit_check_int(const char *file, int line, const char *what, int64_t actual,
                                  int64_t expected)
{
    if (actual != expected && unit_fail(file, line))
        printf("%s is %lld, not %lld\n", what, (long long)actual, (long long)expected);
    return actual == expected;
}

static inline bool unit_check_text(const char *file, int line, const char *what, const char *actual,
                                   const char *expected)
{
    bool same = actual && expected ? strcmp(actual, expected) == 0 : actual == expected;
    if (!same && unit_fail(file, line))
        printf("%s is\n    %s\nnot\n    %s\n", what, actual ? actual : "NULL",
               expected ? expected : "NULL");
    return same;
}

static inline void unit_print_bytes(const void *bytes, size_t length)
{
    const unsigned char *p = bytes;
    putchar('"');
    for (size_t i = 0; i < length; i++)
        if (p[i] >= ' ' && p[i] < 0x7f && p[i] != '"' && p[i] != '\\')
            putchar(p[i]);
        else
            printf("\\x%02x", p[i]);
    putchar('"');
}

static inline bool unit_check_bytes(const char *file, int line, const char *what,
                                    const void *actual, size_t length, const void *expected,
                                    size_t expected_length)
{
    bool same = length == expected_length && (length == 0 || memcmp(actual, expected, length) == 0);
    if (!same && unit_fail(file, line)) {
        printf("%s is ", what);
        unit_print_bytes(actual, length);
        printf(", not ");
        unit_print_bytes(expected, expected_length);
        putchar('\n');
    }
    return same;
}

/* Memory, as ext/base/sqlite_memory.c gives it: no bytes are no block. */

static _Atomic int64_t unit_live;    /* blocks that have not been freed */
static _Atomic int64_t unit_bytes;   /* in those blocks */
static _Atomic int64_t unit_most;    /* the most bytes there were at a time */
static _Atomic int64_t unit_asked;   /* how often there was a call for memory */
static _Atomic int64_t unit_fail_at; /* the call that gets none; 0: all get some */
static atomic_bool unit_fail_on;     /* nor do those after it */

/* Makes the n-th call for memory from now on fail, and those after it too if
** `for_good`; 0: none. */
static inline void unit_fail_allocation(int64_t n, bool for_good)
{
    unit_asked = 0;
    unit_fail_at = n;
    unit_fail_on = for_good;
}

static inline bool unit_no_memory(void)
{
    int64_t asked = ++unit_asked;
    return unit_fail_at > 0 && (unit_fail_on ? asked >= unit_fail_at : asked == unit_fail_at);
}

static inline void unit_count_bytes(int64_t more)
{
    int64_t bytes = atomic_fetch_add(&unit_bytes, more) + more;
    if (bytes > unit_most) /* of several threads, one may be missed */
        unit_most = bytes;
}

/* Fills memory of unknown content: whoever relies on zeros, or goes on with what is freed, will
** see. AddressSanitizer and memcheck see that by themselves, the latter only if nothing has been
** written. */
static inline void unit_fill(void *block, size_t size)
{
#if defined __SANITIZE_ADDRESS__ || defined UNIT_MEASURES_TIME
    (void)block, (void)size;
#else
    if (!RUNNING_ON_VALGRIND)
        memset(block, 0xa5, size);
#endif
}

void *memory_allocate(size_t size)
{
    void *block = size == 0 || unit_no_memory() ? NULL : malloc(size);
    if (block) {
        unit_live++;
        unit_count_bytes((int64_t)malloc_usable_size(block));
        unit_fill(block, size);
    }
    return block;
}

void *memory_resize(void *block, size_t size)
{
    if (!block)
        return memory_allocate(size);
    if (size == 0 || unit_no_memory())
        return NULL;
    size_t before = malloc_usable_size(block);
#ifdef UNIT_MEASURES_TIME
    void *resized = realloc(block, size);
#else /* the block always moves: whoever goes on with the old one will see */
    void *resized = malloc(size);
    if (resized) {
        memcpy(resized, block, before < size ? before : size);
        unit_fill(block, before);
        free(block);
    }
#endif
    if (resized)
        unit_count_bytes((int64_t)malloc_usable_size(resized) - (int64_t)before);
    return resized;
}

void memory_free(void *block)
{
    unit_live -= block != NULL;
    unit_bytes -= block ? (int64_t)malloc_usable_size(block) : 0;
    free(block);
}

/* Random numbers, the same in every run: 0 <= number < limit. */
static inline uint32_t unit_random(uint32_t limit)
{
    static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 32) * limit >> 32);
}

/* The length of a random series, or the step through one: `few` in `make test`, which leaves the
** slow tests out. */
static inline int unit_series(int few, int all)
{
    const char *slow = getenv("SLOW");
    return slow && strcmp(slow, "skip") == 0 ? few : all;
}

/* A file for the test to read: each of these writes the same one anew, and gives
** its path. */

static inline const char *unit_file_path(void)
{
    if (!unit_path[0]) {
        const char *folder = getenv("TMPDIR");
        snprintf(unit_path, sizeof unit_path, "%.150s/unit-XXXXXX", folder ? folder : "/tmp");
        int file = mkstemp(unit_path);
        if (file < 0 || close(file) != 0) {
            perror(unit_path);
            exit(2);
        }
    }
    return unit_path;
}

static inline const char *unit_file(const void *bytes, size_t length)
{
    FILE *file = fopen(unit_file_path(), "wb");
    if (!file || fwrite(bytes, 1, length, file) != length || fclose(file) != 0) {
        perror(unit_path);
        exit(2);
    }
    return unit_path;
}

/* `how` as for gzopen(): "wb" writes, "ab" adds another gzip member. */
static inline const char *unit_gzip_file(const void *bytes, size_t length, const char *how)
{
    gzFile file = gzopen(unit_file_path(), how);
    if (!file || gzwrite(file, bytes, (unsigned)length) != (int)length || gzclose(file) != Z_OK) {
        perror(unit_path);
        exit(2);
    }
    return unit_path;
}

/* What the file holds: the number of its bytes, or `room` if there are more. */
static inline size_t unit_file_bytes(void *bytes, size_t room)
{
    FILE *file = fopen(unit_file_path(), "rb");
    size_t length = file ? fread(bytes, 1, room, file) : 0;
    if (file)
        fclose(file);
    return length;
}

int main(void)
{
    bool failed = false;
    for (int i = 0; i < unit_count; i++) {
        int64_t live = unit_live;
        unit_failures = 0;
        unit_context[0] = 0;
        unit_tests[i].run();
        unit_fail_allocation(0, false);
        unit_context[0] = 0;
        unit_check_int(__FILE__, __LINE__, "blocks left", unit_live - live, 0);
        if (unit_failures > UNIT_MOST_LINES)
            printf("... and %d more\n", unit_failures - UNIT_MOST_LINES);
        printf("%s %s\n", unit_failures ? "not ok" : "ok", unit_tests[i].name);
        fflush(stdout);
        failed = failed || unit_failures;
    }
    if (unit_path[0])
        unlink(unit_path);
    return failed;
}

#endif
