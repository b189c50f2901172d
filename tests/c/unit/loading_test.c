/*
** Loading whole files and traces: times, ranks, messages; and what becomes of it
** when any allocation fails.
*/
#include "unit.h"

#include <sys/stat.h>

#include "analysis/sums/summary.h"
#include "loading/load.h"
#include "trace/opening.h"

static const struct stopper no_stopper;

static const char whole[] =
    "{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":3},\"traceEvents\":["
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":9,\"args\":{\"name\":\"GPU \\u0030\"}},"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\\\"::add\",\"pid\":1,\"tid\":\"t 1\",\"ts\":10,"
    "\"dur\":5.25},"
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\",\"pid\":1,\"tid\":2,"
    "\"ts\":0,\"dur\":50},"
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#2\",\"pid\":1,\"tid\":2,"
    "\"ts\":50,\"dur\":50},"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"launch\",\"pid\":1,\"tid\":2,\"ts\":20,"
    "\"dur\":1,"
    "\"args\":{\"correlation\":4}},"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":60,\"dur\":2,"
    "\"args\":{\"stream\":7,\"correlation\":4}},"
    "{\"ph\":\"B\",\"name\":\"span\",\"pid\":1,\"tid\":3,\"ts\":1},"
    "{\"ph\":\"E\",\"name\":\"span\",\"pid\":1,\"tid\":3,\"ts\":2},"
    "{\"ph\":\"X\",\"name\":\"n\",\"pid\":9,\"tid\":3,\"ts\":2,\"dur\":1}"
    "],\"baseTimeNanoseconds\":1000}";

TEST(columns_of_a_file)
{
    struct failure failure = {.code = FAILURE_NONE};
    struct trace_file *file =
        file_load(unit_file(whole, strlen(whole)), &(struct load_options){.phases = NULL},
                  &no_stopper, &failure);
    if (!CHECK(file != NULL))
        return;
    const struct columns *columns = &file->columns;
    CHECK_INT(file->rank, 3);
    CHECK_INT(file->events, 9);
    CHECK_INT(columns->count, 7);
    CHECK_INT(columns->ts[0], 11000); /* with the base */
    CHECK_INT(columns->dur[0], 5250);
    CHECK_TEXT(file->names.items[columns->name[0]].text, "a\"::add");
    CHECK_INT(columns->event[5], 6);
    CHECK_INT(columns->dur[5], 1000);
    CHECK_INT(columns->link[4], 3);
    CHECK_INT(columns->link[3], 4);
    CHECK_INT(file->profiler_steps.iterations[step_of(&file->profiler_steps, 4)], 1);
    CHECK_INT(row_place(columns, 4)->stream, 7);
    CHECK_INT(columns->kind[4], KIND_WORK);
    CHECK_INT(columns->kind[6], KIND_WORK); /* its process is a GPU (T9) */
    CHECK_INT(file->first, 1000);
    CHECK_INT(file->last, 101000);
    file_release(file);
}

/* Operators, launches and their kernels. With `again`, correlations come twice. */
static const char *many_events(int count, bool again)
{
    size_t room = (size_t)count * 130 + 100, length = 0;
    char *text = malloc(room);
    CHECK(text != NULL);
    length += (size_t)snprintf(text, room, "{\"traceEvents\": [");
    for (int i = 0; i < count; i++) {
        static const char *const what[] = {"\"cat\":\"cpu_op\",\"name\":\"o\",\"pid\":1",
                                           "\"cat\":\"cuda_runtime\",\"name\":\"l\",\"pid\":1",
                                           "\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0"};
        length += (size_t)snprintf(text + length, room - length,
                                   "{\"ph\":\"X\",%s,\"tid\":7,\"ts\":%d,\"dur\":1,"
                                   "\"args\":{\"correlation\":%d}}%s",
                                   what[i % 3], i, 1 + (again ? i % (count / 2) : i) / 3,
                                   i + 1 < count ? ",\n" : "]}");
    }
    const char *path = unit_file(text, length);
    free(text);
    return path;
}

/* What a file keeps, and the most that is held while it is read, in bytes. */
static void measure(int count, bool again, int64_t *kept, int64_t *most)
{
    struct failure failure = {.code = FAILURE_NONE};
    const char *path = many_events(count, again);
    int64_t before = unit_bytes;
    unit_most = 0;
    struct trace_file *file =
        file_load(path, &(struct load_options){.phases = NULL}, &no_stopper, &failure);
    if (!CHECK(file != NULL))
        return;
    CHECK_INT(file->columns.count, count);
    CHECK(file->columns.link[1] != ROW_NONE);
    *kept = unit_bytes - before;
    *most = unit_most - before;
    file_release(file);
}

TEST(memory_of_a_row)
{
    enum { FEW = 60000, MANY = 240000 };
    for (int again = 0; again < 2; again++) {
        int64_t few[2] = {0}, many[2] = {0};
        measure(FEW, again, &few[0], &few[1]);
        measure(MANY, again, &many[0], &many[1]);
        int64_t kept = many[0] - few[0], most = many[1] - few[1], rows = MANY - FEW;
        unit_trying("%.1f bytes per row are kept, %.1f at most", (double)kept / (double)rows,
                    (double)most / (double)rows);
        CHECK(kept <= 48 * rows);
        CHECK(most <= kept + 8 * rows);
    }
}

TEST(times_that_are_none)
{
    static const char text[] =
        "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":\"1.5\",\"dur\":\"2\"},"
        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1},{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":-1},"
        "{\"ph\":\"X\",\"ts\":1,\"dur\":1},{\"ph\":\"X\",\"name\":7,\"ts\":1,\"dur\":1},"
        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":\"x\",\"dur\":1e99},"
        "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"a\",\"ts\":-5,\"dur\":1},{\"name\":\"a\"}]";
    struct failure failure = {.code = FAILURE_NONE};
    struct trace_file *file =
        file_load(unit_file(text, strlen(text)), &(struct load_options){.phases = NULL},
                  &no_stopper, &failure);
    if (!CHECK(file != NULL))
        return;
    for (size_t row = 0; row < file->columns.count; row++)
        CHECK_INT(row_counts(&file->columns, row), row == 0);
    CHECK_INT(file->columns.count, 7);
    CHECK_INT(file->columns.ts[0], 1500);
    CHECK_INT(file->columns.dur[0], 2000);
    CHECK_INT(file->problems.count[PROBLEM_NO_DURATION], 1);
    CHECK_INT(file->problems.count[PROBLEM_NEGATIVE_DURATION], 1);
    CHECK_INT(file->problems.count[PROBLEM_NO_NAME], 2);
    CHECK_INT(file->problems.count[PROBLEM_TIME], 2);
    CHECK_INT(file->problems.count[PROBLEM_NO_PHASE], 1);
    CHECK_INT(file->skipped, 1);
    CHECK_INT(file->first, 1000); /* category Trace has no say (T2) */
    file_release(file);
}

TEST(rank_of_a_path)
{
    static const struct {
        const char *path;
        int64_t rank;
    } cases[] = {{"rank0.json", 0},
                 {"rank-12.json.gz", 12},
                 {"RANK_007_x.json", 7},
                 {"a/rank3/trace.json", -1},
                 {"rank1/rank2.json", 2},
                 {"rank1_rank2.json", 2},
                 {"rank1rank2.json", 2},
                 {"frank1.json", -1},
                 {"1rank2.json", 2},
                 {"_rank2.json", 2},
                 {"rank.json", -1},
                 {"rank--1.json", -1},
                 {"rank_-1.json", -1},
                 {"rank 1.json", -1},
                 {"rank4_rank.json", 4},
                 {"rank5_rank99999999999999999999", 5},
                 {"rank9223372036854775807", INT64_MAX},
                 {"rank000", 0},
                 {"rank0000000000000000000000000000000001", 1},
                 {"", -1},
                 {"/", -1},
                 {"rank1/", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unit_trying("%s", cases[i].path);
        CHECK_INT(path_rank(cases[i].path), cases[i].rank);
    }
}

TEST(what_a_selection_lacks)
{
    int64_t there[300], asked[] = {2, 7, 8};
    struct selection list = {.kind = SELECT_LIST, .values = asked, .count = 3},
                     all = {.kind = SELECT_ALL};
    struct failure failure = {.code = FAILURE_NONE};
    for (int i = 0; i < 300; i++)
        there[i] = 1000000 + i;
    CHECK(selection_check(&all, NULL, 0, "control", "rank", &failure));
    CHECK(!selection_check(&list, (int64_t[]){0, 2, 8}, 3, "control", "rank", &failure));
    CHECK_INT(failure.code, FAILURE_REQUEST);
    CHECK_TEXT(failure.text, "control has no rank 7 (ranks: 0, 2, 8)");
    failure_clear(&failure);
    CHECK(selection_check(&list, (int64_t[]){2, 7, 8, 9}, 4, "control", "rank", &failure));
    CHECK(!selection_check(&list, NULL, 0, "the trace", "step", &failure));
    CHECK_TEXT(failure.text, "the trace has no step 2: it has no steps");
    failure_clear(&failure);
    CHECK(!selection_check(&list, there, 300, "test", "step", &failure));
    CHECK(strlen(failure.text) < 500);
    CHECK(strstr(failure.text, ", 1000044, ...)") != NULL);
    failure_clear(&failure);
    int64_t values[] = {3, 1, INT64_MAX, 3, INT64_MIN, 1};
    CHECK_INT(sort_integers(values, 6), 4);
    CHECK_BYTES(values, 4 * sizeof *values, ((int64_t[]){INT64_MIN, 1, 3, INT64_MAX}),
                4 * sizeof *values);
    CHECK(has_integer(values, 4, INT64_MAX) && !has_integer(values, 4, 2));
    CHECK_INT(sort_integers(NULL, 0), 0);
}

/* Does something with the n-th allocation failing, once and from then on, for
** every n there is. It says whether it succeeded. */
static void fail_everywhere(bool (*act)(struct failure *failure))
{
    for (int for_good = 0; for_good < 2; for_good++) {
        int64_t n = 0, live = unit_live;
        bool failed = true;
        while (failed && n < 2000) {
            struct failure failure = {.code = FAILURE_NONE};
            unit_fail_allocation(++n, for_good);
            bool done = act(&failure);
            failed = unit_asked >= n;
            unit_fail_allocation(0, false);
            unit_trying("allocation %d fails%s", (int)n, for_good ? " for good" : "");
            CHECK(done || failed);
            CHECK_INT(failure.code, done ? FAILURE_NONE : FAILURE_MEMORY);
            CHECK(failure.text == NULL);
            failure_clear(&failure);
            CHECK_INT(unit_live - live, 0);
        }
        CHECK(n > 5 && n < 2000);
    }
}

static enum document_outcome expected_outcome;

static bool load_file(struct failure *failure)
{
    struct trace_file *file =
        file_load(unit_file_path(), &(struct load_options){.phases = NULL}, &no_stopper, failure);
    if (!file)
        return false;
    CHECK_INT(file->outcome, expected_outcome);
    CHECK_INT(file->trouble.code, expected_outcome == DOCUMENT_WHOLE     ? FAILURE_NONE
                                  : expected_outcome == DOCUMENT_DAMAGED ? FAILURE_DAMAGE
                                                                         : FAILURE_NOT_TRACE);
    if (expected_outcome == DOCUMENT_WHOLE) {
        CHECK_INT(file->columns.count, 7);
        CHECK_INT(file->profiler_steps.count, 2);
        CHECK_INT(file->columns.link[4], 3);
        CHECK_INT(file->rank, 3);
    }
    file_release(file);
    return true;
}

TEST(no_memory_to_load_a_file)
{
    expected_outcome = DOCUMENT_WHOLE;
    unit_gzip_file(whole, strlen(whole), "wb");
    fail_everywhere(load_file);
}

TEST(no_memory_to_load_a_damaged_file)
{
    static unsigned char zipped[4000];
    expected_outcome = DOCUMENT_DAMAGED;
    unit_gzip_file(whole, strlen(whole), "wb");
    unit_file(zipped, unit_file_bytes(zipped, sizeof zipped) - 9);
    fail_everywhere(load_file);
    unit_file(whole, strlen(whole) - 1);
    fail_everywhere(load_file);
}

TEST(no_memory_to_load_no_trace)
{
    expected_outcome = DOCUMENT_NOT_TRACE;
    unit_file("{\"a\":1}", 7);
    fail_everywhere(load_file);
}

static char folder[220];

/* A diff's side: two files of different ranks, opened, chosen from, summed up. */
static bool open_trace(struct failure *failure)
{
    struct cache cache = {.threads = 1};
    struct trace_paths paths = {.count = 0};
    struct trace trace = {.count = 0};
    struct step_choice choice = {.everything = false};
    struct summary summary = {.count = 0};
    const struct selection ranks = {.kind = SELECT_DEFAULT}, steps = {.kind = SELECT_STEADY};
    struct trace *const traces[] = {&trace};
    const struct trace_request request = {
        .paths = &paths, .use = TRACE_FOR_DIFF, .ranks = &ranks, .subject = "control"};
    bool done = paths_add(&paths, folder, &no_stopper, failure);
    paths_sort(&paths);
    done = done && trace_open(traces, &request, 1, &cache, failure) &&
           trace_choose_steps(&trace, &steps, STEPS_OF_RANKS, "control", &choice, failure) &&
           summary_make(&summary,
                        &(struct summary_request){&trace, &choice, DEVICE_ALL, BY_EVERYTHING, true},
                        &no_stopper, failure) &&
           summary_sort(&summary, &no_stopper, failure);
    if (done) {
        CHECK_INT(trace.count, 2);
        CHECK_INT(trace.rank_count, 2);
        CHECK_INT(trace.members[0].rank, 0);
        CHECK_INT(trace.members[1].rank, 3);
        CHECK_INT(choice.steps, 1);
        CHECK(trace.members[0].chosen && !trace.members[1].chosen);
        CHECK_INT(summary.count, 1);
    }
    summary_clear(&summary);
    step_choice_clear(&trace, &choice);
    trace_close(&trace);
    paths_clear(&paths);
    cache_clear(&cache);
    return done;
}

TEST(no_memory_to_open_a_trace)
{
    static const char small[] = "[{\"ph\":\"X\",\"name\":\"ProfilerStep#5\",\"ts\":1,\"dur\":2}]";
    char a[240], b[240];
    snprintf(folder, sizeof folder, "%s.d", unit_file_path());
    snprintf(a, sizeof a, "%s/a.json", folder);
    snprintf(b, sizeof b, "%s/b.json.gz", folder);
    CHECK_INT(mkdir(folder, 0700), 0);
    unit_file(small, strlen(small));
    CHECK_INT(rename(unit_path, a), 0);
    unit_gzip_file(whole, strlen(whole), "wb");
    CHECK_INT(rename(unit_path, b), 0);
    fail_everywhere(open_trace);
    unlink(a);
    unlink(b);
    rmdir(folder);
}
