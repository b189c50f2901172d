/*
** Several threads and processes, closing in the middle, and being stopped.
**
** usage: threads EXTENSION [TEST]      in the folder test_fault.py makes
**
** SLACK is how many times longer than it should stopping may take (default 1): a
** program that is watched is slower. Each test is a process of its own; a line for
** each says what it found.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ThreadSanitizer calls some of these before it is ready. */
#define INTERPOSED __attribute__((visibility("default"), no_sanitize_thread))
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

enum { SECONDS = 120, LATEST = 100 /* ms from the wish to stop to the end */, ROUNDS = 10 };

static const char small_sql[] = "SELECT count(*), sum(counts), sum(total_duration), "
                                "group_concat(name) FROM trace_ops('a', 'all', 'all')";
static const char diff_sql[] = "SELECT count(*), sum(diff_counts), sum(diff_duration) FROM "
                               "top_duration_changes('a', 'b', 'all', 'all')";
static const char scan_sql[] = "SELECT name, ts FROM trace_events('a')";
static const char database_sql[] = "SELECT count(*), sum(dur), sum(length(args)), sum(link), "
                                   "group_concat(name) FROM trace_events('db/two.sqlite')";
static const char long_database_sql[] = "SELECT count(*), sum(dur) FROM trace_events('big.db')";
static const char long_sql[] = "SELECT count(*) FROM trace_events('big')";
static const char long_file_sql[] =
    "SELECT count(*), sum(dur) FROM trace_events('big/rank0.json.gz')";
static const char long_diff_sql[] =
    "SELECT count(*) FROM ops_diff('big', 'big', 'all', 'all', 'all', 'all')";
static const char long_step_diff_sql[] = "SELECT count(*) FROM trace_step_diff('big', 'big')";

static const char *extension;
static int failures;
static atomic_int threads_started, threads_running, most_running;
static int processors = 3;
static int refused = -1; /* this thread, from 0, is not started */

struct started {
    void *(*start)(void *);
    void *argument;
};

/* Runs a thread and counts it as long as it runs. */
static void *run_counted(void *argument)
{
    struct started started = *(struct started *)argument;
    free(argument);
    int running = atomic_fetch_add(&threads_running, 1) + 1, most = atomic_load(&most_running);
    while (running > most && !atomic_compare_exchange_weak(&most_running, &most, running))
        ;
    void *result = started.start(started.argument);
    atomic_fetch_sub(&threads_running, 1);
    return result;
}

INTERPOSED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                              void *(*start)(void *), void *argument)
{
    __typeof__(pthread_create) *next;
    void *symbol_of_next = dlsym(RTLD_NEXT, "pthread_create");
    memcpy((void *)&next, &symbol_of_next, sizeof next);
    struct started *started = malloc(sizeof *started);
    if (!started || atomic_fetch_add(&threads_started, 1) == refused) {
        free(started);
        return EAGAIN;
    }
    *started = (struct started){start, argument};
    return next(thread, attributes, run_counted, started);
}

INTERPOSED int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set)
{
    (void)process;
    CPU_ZERO_S(size, set);
    for (int i = 0; i < processors; i++)
        CPU_SET_S((size_t)i, size, set);
    return 0;
}

/* A wall clock that is set an hour ahead: nothing may wait for it. */
INTERPOSED int clock_gettime(clockid_t clock, struct timespec *time)
{
    __typeof__(clock_gettime) *next;
    void *symbol_of_next = dlsym(RTLD_NEXT, "clock_gettime");
    memcpy((void *)&next, &symbol_of_next, sizeof next);
    int result = next(clock, time);
    time->tv_sec += clock == CLOCK_REALTIME ? 3600 : 0;
    return result;
}

static bool check(bool right, const char *what, int line)
{
    if (!right) {
        printf("threads.c:%d: %s\n", line, what);
        failures++;
    }
    return right;
}
#define CHECK(condition) check((condition), #condition, __LINE__)

static sqlite3 *opened(void)
{
    sqlite3 *db;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL) != SQLITE_OK ||
        sqlite3_load_extension(db, extension, NULL, NULL) != SQLITE_OK) {
        printf("cannot load %s: %s\n", extension, sqlite3_errmsg(db));
        exit(2);
    }
    return db;
}

/* Runs a query; the first row, as text, if there is one. */
static int ask(sqlite3 *db, const char *sql, char *answer, size_t size)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    answer[0] = 0;
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(statement) && answer[0] != '!'; i++) {
            const char *text = (const char *)sqlite3_column_text(statement, i);
            size_t length = strlen(answer);
            snprintf(answer + length, size - length, "%s|", text ? text : "NULL");
        }
        code = SQLITE_OK;
    }
    int finalized = sqlite3_finalize(statement);
    return code == SQLITE_DONE ? finalized : code;
}

static const char *const questions[] = {small_sql, diff_sql, database_sql};
static char right_answers[COUNT_OF(questions)][4096];

static void find_right_answers(void)
{
    sqlite3 *db = opened();
    for (size_t i = 0; i < COUNT_OF(questions); i++)
        CHECK(ask(db, questions[i], right_answers[i], sizeof right_answers[i]) == SQLITE_OK);
    CHECK(sqlite3_close(db) == SQLITE_OK);
}

static bool answers_right(sqlite3 *db)
{
    char answer[4096];
    bool right = true;
    for (size_t i = 0; i < COUNT_OF(questions); i++)
        right = ask(db, questions[i], answer, sizeof answer) == SQLITE_OK &&
                strcmp(answer, right_answers[i]) == 0 && right;
    return right;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void sleep_ms(double ms)
{
    struct timespec time = {(time_t)(ms / 1e3), 0};
    time.tv_nsec = (long)((ms - (double)time.tv_sec * 1e3) * 1e6);
    nanosleep(&time, NULL);
}

static void *use_own_connection(void *argument)
{
    bool *right = argument;
    *right = true;
    for (int i = 0; i < ROUNDS; i++) {
        sqlite3 *db = opened();
        *right = answers_right(db) && *right;
        *right = sqlite3_close(db) == SQLITE_OK && *right;
    }
    return NULL;
}

/* The library stays loaded meanwhile: ThreadSanitizer does not see that unloading
** it is ordered before loading it again, at the same address. */
static void run_two(void *(*function)(void *), void *first, void *second)
{
    pthread_t threads[2];
    void *stays = dlopen(extension, RTLD_NOW);
    CHECK(stays != NULL);
    CHECK(pthread_create(&threads[0], NULL, function, first) == 0);
    CHECK(pthread_create(&threads[1], NULL, function, second) == 0);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    dlclose(stays);
}

static void two_connections(void)
{
    bool right[2] = {false, false};
    find_right_answers();
    run_two(use_own_connection, &right[0], &right[1]);
    CHECK(right[0] && right[1]);
}

struct shared {
    sqlite3 *db;
    bool right;
};

static void *use_shared_connection(void *argument)
{
    struct shared *shared = argument;
    shared->right = true;
    for (int i = 0; i < ROUNDS; i++)
        shared->right = answers_right(shared->db) && shared->right;
    return NULL;
}

static void one_connection(void)
{
    find_right_answers();
    struct shared first = {opened(), false}, second = {first.db, false};
    run_two(use_shared_connection, &first, &second);
    CHECK(first.right && second.right);
    CHECK(sqlite3_close(first.db) == SQLITE_OK);
}

static void fork_after_load(void)
{
    find_right_answers();
    sqlite3 *db = opened();
    CHECK(answers_right(db)); /* threads have run, and files are kept */
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        bool right = answers_right(db);
        sqlite3 *own = opened();
        right = answers_right(own) && right;
        right = sqlite3_close(own) == SQLITE_OK && right;
        _exit(sqlite3_close(db) == SQLITE_OK && right ? 0 : 1);
    }
    CHECK(answers_right(db));
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(answers_right(db));
    CHECK(sqlite3_close(db) == SQLITE_OK);
}

static void load_twice(void)
{
    find_right_answers();
    sqlite3 *db = opened();
    CHECK(sqlite3_load_extension(db, extension, NULL, NULL) == SQLITE_OK);
    CHECK(answers_right(db));
    CHECK(sqlite3_load_extension(db, extension, "sqlite3_tracediff_nofs_init", NULL) == SQLITE_OK);
    CHECK(answers_right(db));
    sqlite3_stmt *statement;
    CHECK(sqlite3_prepare_v2(db, scan_sql, -1, &statement, NULL) == SQLITE_OK);
    CHECK(sqlite3_step(statement) == SQLITE_ROW);
    CHECK(sqlite3_load_extension(db, extension, NULL, NULL) == SQLITE_OK);
    CHECK(sqlite3_step(statement) == SQLITE_ROW);
    CHECK(sqlite3_finalize(statement) == SQLITE_OK);
    CHECK(answers_right(db));
    CHECK(sqlite3_close(db) == SQLITE_OK);
}

static void close_in_a_scan(void)
{
    static const char *const scans[] = {
        scan_sql, "SELECT name FROM ops_diff('a', 'b')", "SELECT name FROM tracediff_help",
        "SELECT a.name FROM trace_events('a') AS a JOIN trace_events('b') AS b USING (name)"};
    for (size_t i = 0; i < COUNT_OF(scans); i++)
        for (int v2 = 0; v2 < 2; v2++) {
            sqlite3 *db = opened();
            sqlite3_stmt *statement;
            CHECK(sqlite3_prepare_v2(db, scans[i], -1, &statement, NULL) == SQLITE_OK);
            CHECK(sqlite3_step(statement) == SQLITE_ROW);
            CHECK((v2 ? sqlite3_close_v2(db) : sqlite3_close(db)) ==
                  (v2 ? SQLITE_OK : SQLITE_BUSY));
            CHECK(sqlite3_step(statement) == SQLITE_ROW);
            CHECK(strlen((const char *)sqlite3_column_text(statement, 0)) > 0);
            CHECK(sqlite3_finalize(statement) == SQLITE_OK);
            CHECK(v2 || sqlite3_close(db) == SQLITE_OK);
        }
    CHECK(sqlite3_memory_used() == 0);
}

static void singlethread(void)
{
    CHECK(sqlite3_config(SQLITE_CONFIG_SINGLETHREAD) == SQLITE_OK);
    find_right_answers();
    CHECK(atomic_load(&threads_started) == 0);
}

static void multithread(void)
{
    CHECK(sqlite3_config(SQLITE_CONFIG_MULTITHREAD) == SQLITE_OK);
    find_right_answers();
    CHECK(atomic_load(&threads_started) > 0);
    bool right[2] = {false, false};
    run_two(use_own_connection, &right[0], &right[1]);
    CHECK(right[0] && right[1]);
}

static void no_memory_statistics(void)
{
    CHECK(sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK);
    two_connections();
}

/* How many threads there are. */

static void as_many_threads_as_needed(void)
{
    static const struct {
        const char *sql;
        int files, large; /* of these, files that are worth a second thread */
    } cases[] = {
        {"SELECT count(*) FROM trace_events('a/rank1.json.gz')", 1, 0},
        {"SELECT count(*) FROM trace_events('a', 'all', NULL, 'X')", 3, 0},
        {"SELECT count(*) FROM trace_diff('a/rank0.json', 'b/rank0.json')", 2, 0},
        {"SELECT count(*) FROM trace_diff('a/rank0.json', 'a/rank0.json')", 1, 0},
        {"SELECT count(*) FROM trace_step_diff('a/rank0.json', 'b/rank0.json')", 2, 0},
        {"SELECT count(*) FROM trace_events('large/rank0.json.gz')", 1, 1},
        {"SELECT count(*) FROM trace_diff('large/rank0.json.gz', 'large/rank1.json.gz')", 2, 2},
        {"SELECT count(*) FROM trace_diff('large/rank0.json.gz', 'a/rank0.json')", 2, 1},
    };
    char answer[4096];
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (processors = 1; processors <= 5; processors++) {
            int readers = cases[i].files < processors ? cases[i].files : processors;
            int threads = readers < 2 ? 0 : readers; /* one reader is the calling thread */
            int ahead =
                processors - readers < cases[i].large ? processors - readers : cases[i].large;
            sqlite3 *db = opened();
            atomic_store(&threads_started, 0);
            atomic_store(&most_running, 0);
            CHECK(ask(db, cases[i].sql, answer, sizeof answer) == SQLITE_OK);
            CHECK(sqlite3_close(db) == SQLITE_OK);
            printf("  %s, %d processors: %d threads, %d at once\n", cases[i].sql, processors,
                   atomic_load(&threads_started), atomic_load(&most_running));
            CHECK(atomic_load(&threads_running) == 0);
            CHECK(atomic_load(&threads_started) >= threads + ahead);
            /* a processor is taken when a file has been read, for what is left of another */
            CHECK(atomic_load(&threads_started) <= threads + (processors > 1 ? cases[i].large : 0));
            /* a thread that has given back its processor may still be there */
            CHECK(atomic_load(&most_running) <= processors + (cases[i].large > 0));
        }
}

static const char *const same_questions[] = {
    "SELECT count(*), sum(ts), sum(dur), sum(event * length(name)), sum(link) "
    "FROM trace_events('damaged', 'all', NULL, 'all')",
    "SELECT group_concat(events || ' ' || skipped || ' ' || json_size || ' ' || problems) "
    "FROM trace_files('damaged')",
    "SELECT count(*), sum(control_counts), sum(test_total_duration), sum(length(name)) "
    "FROM trace_diff('large/rank0.json.gz', 'damaged/tail.json.gz', 'all', 'all', 'all', 'all')",
    "SELECT count(*), sum(ts), sum(dur), sum(event * length(name)), sum(link), sum(length(args)) "
    "FROM trace_events('db', 'all', NULL, 'all')"};

static void same_answers_of(int processors_there, int refused_thread,
                            char answers[COUNT_OF(same_questions)][4096])
{
    sqlite3 *db = opened();
    char answer[4096];
    processors = processors_there;
    refused = refused_thread;
    for (size_t i = 0; i < COUNT_OF(same_questions); i++) {
        atomic_store(&threads_started, 0);
        CHECK(ask(db, same_questions[i], answer, sizeof answer) == SQLITE_OK && answer[0]);
        if (processors == 1)
            strcpy(answers[i], answer);
        if (!CHECK(strcmp(answer, answers[i]) == 0))
            printf("  %s, %d processors, without thread %d: %s\n  not %s\n", same_questions[i],
                   processors, refused, answer, answers[i]);
    }
    refused = -1;
    CHECK(sqlite3_close(db) == SQLITE_OK);
}

/* The answers do not depend on the number of threads, nor on threads that cannot be started. */
static void same_answers(void)
{
    char answers[COUNT_OF(same_questions)][4096];
    for (int there = 1; there <= 4; there++)
        same_answers_of(there, -1, answers);
    for (int thread = 0; thread < 4; thread++)
        same_answers_of(4, thread, answers);
    for (size_t i = 0; i < COUNT_OF(same_questions); i++)
        printf("  %.60s...: %.200s\n", same_questions[i], answers[i]);
}

static void same_answers_by_zlib(void)
{
    CHECK(setenv("TRACEDIFF_DECODER", "zlib", 1) == 0);
    same_answers();
}

/* Stopping. */

struct wish {
    sqlite3 *db;
    double after;           /* ms */
    _Atomic double uttered; /* when */
};

static void *interrupt(void *argument)
{
    struct wish *wish = argument;
    sleep_ms(wish->after);
    wish->uttered = now();
    sqlite3_interrupt(wish->db);
    return NULL;
}

static double slack(void)
{
    const char *text = getenv("SLACK");
    return text ? atof(text) : 1;
}

/* Interrupts a query at many moments of the time that it takes. */
static void interrupt_query(const char *sql, int processors_there)
{
    char answer[4096], whole[4096];
    processors = processors_there;
    find_right_answers();
    sqlite3 *db = opened();
    double start = now(), latest = 0, latest_after = 0;
    CHECK(ask(db, sql, whole, sizeof whole) == SQLITE_OK);
    double takes = now() - start;
    int stopped = 0, tries = slack() > 1 ? ROUNDS / 2 : ROUNDS;
    CHECK(sqlite3_close(db) == SQLITE_OK);
    for (int i = 0; i < tries; i++) {
        db = opened();
        struct wish wish = {db, takes * (i + 0.5) / tries, 0};
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, interrupt, &wish) == 0);
        int code = ask(db, sql, answer, sizeof answer);
        double ended = now();
        pthread_join(thread, NULL);
        if (code == SQLITE_INTERRUPT) {
            stopped++;
            if (ended - wish.uttered > latest) {
                latest = ended - wish.uttered;
                latest_after = wish.after;
            }
        } else {
            CHECK(code == SQLITE_OK && strcmp(answer, whole) == 0);
        }
        CHECK(answers_right(db));
        CHECK(sqlite3_close(db) == SQLITE_OK);
    }
    printf("  %s: takes %.0f ms, stopped %d of %d times, at the latest %.1f ms after, at %.0f ms\n",
           sql, takes, stopped, tries, latest, latest_after);
    CHECK(stopped > 0);
    CHECK(latest < LATEST * slack());
}

static void interrupt_threads(void)
{
    interrupt_query(long_sql, 3);
}

static void interrupt_one_thread(void)
{
    interrupt_query(long_sql, 1);
}

static void interrupt_a_file(void)
{
    interrupt_query(long_file_sql, 3);
}

static void interrupt_a_database(void)
{
    interrupt_query(long_database_sql, 3);
}

static void interrupt_a_diff(void)
{
    interrupt_query(long_diff_sql, 3);
    interrupt_query(long_step_diff_sql, 2);
}

static int stop_after(void *argument)
{
    int *left = argument;
    return --*left < 0;
}

static void progress_handler(void)
{
    static const struct {
        int left, operations;
    } handlers[] = {{0, 1}, {30, 1}, {0, 1000}, {3, 1000}};
    char answer[4096];
    find_right_answers();
    for (size_t i = 0; i < COUNT_OF(handlers); i++) {
        sqlite3 *db = opened();
        int left = handlers[i].left;
        sqlite3_progress_handler(db, handlers[i].operations, stop_after, &left);
        double start = now();
        CHECK(ask(db, long_sql, answer, sizeof answer) == SQLITE_INTERRUPT);
        double took = now() - start;
        printf("  %d times %d operations: %.1f ms\n", handlers[i].left + 1, handlers[i].operations,
               took);
        sqlite3_progress_handler(db, 0, NULL, NULL);
        CHECK(answers_right(db));
        CHECK(sqlite3_close(db) == SQLITE_OK);
    }
}

static const struct test {
    const char *name;
    void (*run)(void);
} tests[] = {
    {"two connections, each in a thread", two_connections},
    {"one connection in two threads", one_connection},
    {"fork after load", fork_after_load},
    {"load twice", load_twice},
    {"close in a scan", close_in_a_scan},
    {"SQLITE_CONFIG_SINGLETHREAD", singlethread},
    {"SQLITE_CONFIG_MULTITHREAD", multithread},
    {"SQLITE_CONFIG_MEMSTATUS off", no_memory_statistics},
    {"as many threads as needed", as_many_threads_as_needed},
    {"the same answers by any number of threads", same_answers},
    {"the same answers by any number of threads and zlib", same_answers_by_zlib},
    {"interrupt, reading in threads", interrupt_threads},
    {"interrupt, reading in no thread", interrupt_one_thread},
    {"interrupt, one file", interrupt_a_file},
    {"interrupt, a database", interrupt_a_database},
    {"interrupt, a diff", interrupt_a_diff},
    {"progress handler", progress_handler},
};

/* In a process of its own: SQLite's configuration is for a whole process. */
static bool passes(const struct test *test)
{
    double start = now();
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        test->run();
        CHECK(sqlite3_memory_used() == 0);
        exit(failures > 0);
    }
    bool passed = child > 0 && waitpid(child, &status, 0) == child && status == 0;
    printf("%s %s, %.0f ms", passed ? "ok" : "not ok", test->name, now() - start);
    if (WIFSIGNALED(status))
        printf(", signal %d", WTERMSIG(status));
    printf("\n");
    return passed;
}

int main(int count, char **arguments)
{
    bool passed = true;
    if (count < 2)
        return 2;
    extension = arguments[1];
    for (size_t i = 0; i < COUNT_OF(tests); i++)
        if (count < 3 || strcmp(tests[i].name, arguments[2]) == 0)
            passed = passes(&tests[i]) && passed;
    return passed ? 0 : 1;
}
