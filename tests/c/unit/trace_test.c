/*
** What is made of the events of a file: names, pairs, links, steps; ranks from
** paths; messages. The rules are said again here in the plainest way, each event
** against all others, and compared with what a loaded file has.
*/
#include "unit.h"

#include "paths/directory.h"
#include "loading/load.h"
#include "trace/selection.h"

static const struct stopper no_stopper;

static struct trace_file *load(const char *path)
{
    struct failure failure = {.code = FAILURE_NONE};
    struct trace_file *file =
        file_load(path, &(struct load_options){.phases = NULL}, &no_stopper, &failure);
    CHECK_INT(failure.code, FAILURE_NONE);
    failure_clear(&failure);
    return file;
}

static char text[64 * 1024];

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, sizeof text - length, format, arguments);
    va_end(arguments);
}

static struct trace_file *load_text(void)
{
    return load(unit_file(text, strlen(text)));
}

TEST(names_are_dense_and_stay)
{
    enum { COUNT = 3000 };
    struct names names = {0};
    const char *kept[COUNT];
    char name[40];
    CHECK_INT(names_find(&names, "x", 1), NAME_NONE);
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < COUNT; i++) {
            int length = snprintf(name, sizeof name, "%.*s%u", (int)(i % 30),
                                  "a name of thirty letters or so", i);
            CHECK_INT(names_intern(&names, name, (size_t)length), i);
            kept[i] = round == 0 ? names.items[i].text : kept[i];
            CHECK(names.items[i].text == kept[i]);
            CHECK_BYTES(names.items[i].text, names.items[i].length + 1, name, (size_t)length + 1);
        }
    CHECK_INT(names.count, COUNT);
    CHECK(names_memory(&names) > COUNT * sizeof(struct name));
    names_clear(&names);
    CHECK_INT(names.count, 0);
}

/* Texts of every length, two of each that differ in one byte, wherever it is. */
TEST(names_that_differ_in_a_byte)
{
    struct names names = {0}, others = {0};
    static char name[40 * 1024];
    memset(name, 0, sizeof name); /* NULs are bytes like others */
    CHECK_INT(names_intern(&names, "", 0), 0);
    for (size_t length = 1; length < 70; length++)
        for (size_t i = 0; i < length; i++) {
            name[i] = 1;
            uint32_t id = (uint32_t)names.count;
            CHECK_INT(names_find(&names, name, length), NAME_NONE);
            CHECK_INT(names_intern(&names, name, length), id);
            CHECK_INT(names_find(&names, name, length), id);
            name[i] = 0;
        }
    uint32_t count = (uint32_t)names.count;
    for (size_t length = sizeof name; length > 9000; length -= 7000) /* blocks of their own */
        CHECK_INT(names_intern(&names, name, length), count++);
    CHECK_INT(names_intern(&names, "", 0), 0);
    for (uint32_t i = 0; i < count; i++)
        CHECK_INT(names_adopt(&others, &names.items[i]), i);
    CHECK_INT(names_find(&others, name, sizeof name), names_find(&names, name, sizeof name));
    names_clear(&names);
    names_clear(&others);
}

TEST(names_compare_by_bytes)
{
    static const char *const ascending[] = {"", "A", "AB", "B", "a", "\x7f", "\xc3\xa9"};
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 7; j++) {
            struct name a = {.text = ascending[i], .length = (uint32_t)strlen(ascending[i])};
            struct name b = {.text = ascending[j], .length = (uint32_t)strlen(ascending[j])};
            int order = name_compare(&a, &b);
            CHECK_INT((order > 0) - (order < 0), (i > j) - (i < j));
        }
}

/* T3. The durations of the Bs in us, -1 for none, and what is counted. */
static void check_pairs(const char *edges, const char *durations, int open, int closed)
{
    char got[200] = "";
    unit_trying("%s", edges);
    strcpy(text, "[");
    for (const char *p = edges; *p; p += 4) /* B or E, a name or -, ts, and a space */
        put("{\"ph\":\"%c\",%s%c%s\"ts\":%c,\"pid\":1,\"tid\":1},", p[0],
            p[1] == '-' ? "\"x\":\"" : "\"name\":\"", p[1], "\",", p[2]);
    struct trace_file *file = load_text();
    for (size_t row = 0; file && row < file->columns.count; row++)
        sprintf(got + strlen(got), "%s%d", row ? " " : "",
                file->columns.dur[row] == NUMBER_NONE ? -1 : (int)file->columns.dur[row] / 1000);
    CHECK_TEXT(got, durations);
    CHECK_INT(file->problems.count[PROBLEM_BEGIN_WITHOUT_END], open);
    CHECK_INT(file->problems.count[PROBLEM_END_WITHOUT_BEGIN], closed);
    file_release(file);
}

TEST(pairs_by_hand)
{
    check_pairs("Ba1 Ea3 ", "2", 0, 0);
    check_pairs("Ba1 Bb2 Eb4 Ea5 ", "4 2", 0, 0);
    check_pairs("Ba1 Bb2 Ea4 Eb5 ", "3 3", 0, 0); /* crossed */
    check_pairs("Ba1 Bb2 E-4 E-5 ", "4 2", 0, 0); /* E without a name */
    check_pairs("Ba1 Ba2 Ea4 Ea6 ", "5 2", 0, 0);
    check_pairs("Ea4 Ba1 ", "3", 0, 0); /* by time, not by place */
    check_pairs("Ba1 Ea1 ", "0", 0, 0);
    check_pairs("Ea1 Ba1 ", "-1", 1, 1); /* the same time: by place */
    check_pairs("B-1 Ea3 ", "-1", 1, 1);
    check_pairs("B-1 E-3 ", "2", 0, 0);
    check_pairs("Ba1 Bb2 Eb3 Eb4 Ea5 ", "4 1", 0, 1);
    check_pairs("Ba1 Bb2 Ea3 E-4 E-5 ", "2 2", 0, 1);
    check_pairs("Ba1 Bax ", "-1 -1", 2, 0); /* a time that is none */
    check_pairs("Ea1 ", "", 0, 1);
}

/* T3 again: edges in order of time, the open ones in a list. */
TEST(random_pairs)
{
    enum { MOST = 60 };
    for (int round = 0; round < 500; round++) {
        struct {
            int phase, name, ts, thread, row, dur;
            bool used;
        } edges[MOST] = {{0}};
        int count = 1 + (int)unit_random(MOST - 1), rows = 0, closed = 0, open = 0;
        strcpy(text, "[");
        for (int i = 0; i < count; i++) {
            edges[i].phase = unit_random(2) ? 'B' : 'E';
            edges[i].name = (int)unit_random(4); /* 3: none */
            edges[i].ts = 1 + (int)unit_random(30); /* at 0 it may have no time (I3) */
            edges[i].thread = (int)unit_random(2);
            edges[i].row = edges[i].phase == 'B' ? rows++ : -1;
            edges[i].dur = -1;
            put("{\"ph\":\"%c\",\"ts\":%d,\"tid\":%d", edges[i].phase, edges[i].ts,
                edges[i].thread);
            put(edges[i].name < 3 ? ",\"name\":\"%d\"}," : "},", edges[i].name);
        }
        int opened[MOST], depth = 0;
        for (int next = 0; next < count; next++) {
            int i = -1;
            for (int j = 0; j < count; j++) /* the earliest that is left */
                if (!edges[j].used && (i < 0 || edges[j].ts < edges[i].ts))
                    i = j;
            edges[i].used = true;
            int b = depth - 1;
            while (b >= 0 && (edges[opened[b]].thread != edges[i].thread ||
                              (edges[i].name < 3 && edges[opened[b]].name != edges[i].name)))
                b--;
            if (edges[i].phase == 'B') {
                opened[depth++] = i;
            } else if (b < 0) {
                closed++;
            } else {
                edges[opened[b]].dur = edges[i].ts - edges[opened[b]].ts;
                memmove(opened + b, opened + b + 1, (size_t)(--depth - b) * sizeof *opened);
            }
        }
        open = depth;
        struct trace_file *file = load_text();
        unit_trying("%s", text);
        CHECK_INT(file->columns.count, rows);
        for (int i = 0; i < count; i++)
            if (edges[i].row >= 0)
                CHECK_INT(file->columns.dur[edges[i].row],
                          edges[i].dur < 0 ? NUMBER_NONE : edges[i].dur * 1000);
        CHECK_INT(file->problems.count[PROBLEM_BEGIN_WITHOUT_END], open);
        CHECK_INT(file->problems.count[PROBLEM_END_WITHOUT_BEGIN], closed);
        file_release(file);
    }
}

static bool is(const struct trace_file *file, uint32_t name, const char *expected)
{
    return name != NAME_NONE && strcmp(file->names.items[name].text, expected) == 0;
}

static bool is_device(const struct trace_file *file, size_t row)
{
    uint32_t cat = row_place(&file->columns, row)->cat;
    return is(file, cat, "kernel") || is(file, cat, "gpu_memcpy") || is(file, cat, "cuda_sync") ||
           is(file, cat, "gpu_user_annotation");
}

static bool is_call(const struct trace_file *file, size_t row)
{
    uint32_t cat = row_place(&file->columns, row)->cat;
    return is(file, cat, "cuda_runtime") || is(file, cat, "cuda_driver") ||
           is(file, cat, "Runtime") || is(file, cat, "mtia_runtime");
}

/* T10: whether call `a` is preferred to call `b` by a device event. */
static bool preferred(const struct trace_file *file, size_t a, size_t b, int64_t start)
{
    const struct columns *columns = &file->columns;
    bool driver_a = is(file, row_place(columns, a)->cat, "cuda_driver");
    bool driver_b = is(file, row_place(columns, b)->cat, "cuda_driver");
    int64_t ts_a = columns->ts[a], ts_b = columns->ts[b];
    if (driver_a != driver_b)
        return driver_b;
    if ((ts_a <= start) != (ts_b <= start))
        return ts_a <= start;
    if (ts_a != ts_b)
        return ts_a <= start ? ts_a > ts_b : ts_a < ts_b;
    return a > b;
}

static uint32_t plain_link(const struct trace_file *file, size_t row)
{
    const struct columns *columns = &file->columns;
    uint32_t best = ROW_NONE;
    for (size_t other = 0; other < columns->count; other++) {
        if (is_device(file, row) && is_call(file, other) && columns->correlation[row] > 0 &&
            columns->correlation[row] == columns->correlation[other] &&
            (best == ROW_NONE || preferred(file, other, best, columns->ts[row])))
            best = (uint32_t)other;
        if (is_call(file, row) && is_device(file, other) && plain_link(file, other) == row &&
            (best == ROW_NONE || columns->ts[other] < columns->ts[best]))
            best = (uint32_t)other;
    }
    return best;
}

/* T11. The number of a step, by its name; -1 for others. */
static int64_t plain_number(const struct trace_file *file, uint32_t name)
{
    static const char *const names[] = {"ProfilerStep#1", "ProfilerStep#2", "ProfilerStep #3",
                                        "ProfilerStep#0"};
    static const int numbers[] = {1, 2, 3, 0};
    for (int i = 0; i < 4; i++)
        if (is(file, name, names[i]))
            return numbers[i];
    return -1;
}

/* The first device work with a launch that starts within an annotation; ROW_NONE. */
static uint32_t first_within(const struct trace_file *file, size_t row)
{
    const struct columns *columns = &file->columns;
    uint32_t first = ROW_NONE;
    for (size_t other = 0; other < columns->count; other++)
        if ((is(file, row_place(columns, other)->cat, "kernel") ||
             is(file, row_place(columns, other)->cat, "gpu_memcpy")) &&
            columns->ts[other] >= columns->ts[row] &&
            columns->ts[other] < columns->ts[row] + columns->dur[row] &&
            plain_link(file, other) != ROW_NONE &&
            (first == ROW_NONE || columns->ts[other] < columns->ts[first]))
            first = (uint32_t)other;
    return first;
}

static bool is_work(const struct trace_file *file, size_t row)
{
    uint32_t cat = row_place(&file->columns, row)->cat;
    return is(file, cat, "kernel") || is(file, cat, "gpu_memcpy");
}

/* I8. The launch of the linked work that starts last before work that tells none; ROW_NONE. */
static uint32_t plain_placing(const struct trace_file *file, size_t row)
{
    const struct columns *columns = &file->columns;
    uint32_t last = ROW_NONE;
    if (!is_work(file, row) || columns->correlation[row] > 0)
        return ROW_NONE;
    for (size_t other = 0; other < columns->count; other++)
        if (is_work(file, other) && plain_link(file, other) != ROW_NONE &&
            columns->ts[other] < columns->ts[row] &&
            (last == ROW_NONE || columns->ts[other] >= columns->ts[last]))
            last = (uint32_t)other;
    return last == ROW_NONE ? ROW_NONE : plain_link(file, last);
}

static int64_t plain_iteration(const struct trace_file *file, size_t row)
{
    const struct columns *columns = &file->columns;
    bool annotation = is(file, row_place(columns, row)->cat, "gpu_user_annotation");
    int64_t number = plain_number(file, columns->name[row]), best = -1;
    if (annotation && number >= 0)
        return number;
    if (is_device(file, row) && !annotation) {
        uint32_t launch = plain_link(file, row);
        launch = launch == ROW_NONE ? plain_placing(file, row) : launch;
        return launch == ROW_NONE ? -1 : plain_iteration(file, launch);
    }
    uint32_t first = annotation ? first_within(file, row) : ROW_NONE;
    if (first != ROW_NONE)
        return plain_iteration(file, first);
    for (size_t step = 0; step < columns->count; step++)
        if (!is_device(file, step) && plain_number(file, columns->name[step]) >= 0 &&
            columns->ts[step] <= columns->ts[row] &&
            columns->ts[row] < columns->ts[step] + columns->dur[step] &&
            (best < 0 || columns->ts[step] >= columns->ts[best]))
            best = (int64_t)step;
    return best < 0 ? -1 : plain_number(file, columns->name[best]);
}

TEST(random_links_and_steps)
{
    static const char *const cats[] = {
        "kernel",       "gpu_memcpy",      "cuda_sync", "gpu_user_annotation",
        "cuda_runtime", "cuda_driver",     "Runtime",   "mtia_runtime",
        "cpu_op",       "user_annotation", "cpu_op",    "user_annotation"};
    static const char *const names[] = {"ProfilerStep#1",   "ProfilerStep#2",   "ProfilerStep #3",
                                        "ProfilerStep#0",   "ProfilerStep",     "ProfilerStep#",
                                        "ProfilerStep#1x",  "ProfilerStep  #1", "profilerstep#1",
                                        "a ProfilerStep#1", "ProfilerStep#-1",  "ProfilerStep# 1"};
    for (int round = 0; round < 300; round++) {
        strcpy(text, "[");
        for (uint32_t i = unit_random(60); i > 0; i--) {
            uint32_t cat = unit_random(12), name = cat < 3 ? 4 : unit_random(12);
            uint32_t span = unit_random(3) ? 8 : 30; /* also none at all */
            put("{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"ts\":%u,\"dur\":%u,\"args\":{",
                cats[cat], names[name], 1 + unit_random(40), unit_random(span));
            put("\"correlation\":%d}},", (int)unit_random(8) - 1);
        }
        struct trace_file *file = load_text();
        const struct columns *columns = &file->columns;
        const struct steps *steps = &file->profiler_steps;
        unit_trying("round %d", round);
        for (size_t row = 0; row < columns->count; row++) {
            uint32_t iteration = step_of(steps, row);
            bool held = CHECK_INT(columns->link[row], plain_link(file, row));
            held = CHECK_INT(iteration == STEP_NONE ? -1 : steps->iterations[iteration],
                             plain_iteration(file, row)) &&
                   held;
            if (!held)
                fprintf(stderr, "row %zu of %s\n", row, text);
        }
        for (size_t i = 1; i < steps->iteration_count; i++)
            CHECK(steps->iterations[i - 1] < steps->iterations[i]);
        file_release(file);
    }
}
