/*
** Faults from outside: the first, the second, ... allocation or system call of a
** statement fails, until there is none left to fail.
**
** usage: fault EXTENSION [STATEMENT [KIND]]      in the folder test_fault.py makes
**
** With a KIND every point is tried. Otherwise some kinds pass over some; and of a statement's
** allocations with the same call stack, only the 1st, 2nd, 3rd, 5th, 9th, 17th, ... is tried; what
** SQLite calls within itself is of that stack only six calls deep.
**
** Whatever fails, a statement gives the right answer, or an error that says what
** has failed; nothing is left open or allocated when the connection is closed; and
** without the fault, the same connection then gives the right answer. A line for
** each statement and kind of fault says how many points were tried.
*/
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define INTERPOSED __attribute__((visibility("default")))
#define JOB_ROW \
    "kind, rank, file, iteration, start_ns, end_ns, event, queued_behind, " \
    "process_group, process_group_ranks, name, waits_for_all"

enum call { NO_CALL, ALLOCATE, OPEN, READ, FSTAT, STAT, LSTAT, OPENDIR, READDIR, THREAD };
enum { SHORT_READ = -1, MOST_SHOWN = 3, MOST_STACKS = 1 << 20 };

/* A kind of fault. */
static const struct fault {
    const char *name;
    enum call call;
    int error;      /* errno; SHORT_READ: no error, but a byte at a time; of ALLOCATE, none */
    bool stays;     /* every call from then on fails */
    bool warm;      /* the files have been read before */
    bool harmless;  /* the answer is to be right all the same */
    int processors; /* that there seem to be */
    long stride;    /* every so many points, unless the kind was asked for */
} faults[] = {
    {"memory", ALLOCATE, 0, false, false, false, 1, 1},
    {"memory from then on", ALLOCATE, 0, true, false, false, 1, 3},
    {"memory, files known", ALLOCATE, 0, false, true, false, 1, 3},
    {"memory, threads", ALLOCATE, 0, false, false, false, 3, 7},
    {"open: EMFILE", OPEN, EMFILE, true, false, false, 1, 1},
    {"open: EACCES", OPEN, EACCES, false, false, false, 3, 1},
    {"read: EIO", READ, EIO, false, false, false, 1, 1},
    {"read: EIO, threads", READ, EIO, true, false, false, 3, 1},
    {"read: EINTR", READ, EINTR, false, false, true, 1, 1},
    {"read: one short", READ, SHORT_READ, false, false, true, 1, 1},
    {"read: all short", READ, SHORT_READ, true, false, true, 1, 1},
    {"fstat: EIO", FSTAT, EIO, false, false, false, 1, 1},
    {"stat: EIO", STAT, EIO, false, false, false, 1, 1},
    {"stat: EIO from then on", STAT, EIO, true, true, false, 1, 1},
    {"lstat: EIO", LSTAT, EIO, false, false, false, 1, 1},
    {"opendir: EMFILE", OPENDIR, EMFILE, false, false, false, 1, 1},
    {"readdir: EIO", READDIR, EIO, false, false, false, 1, 1},
    {"thread: EAGAIN", THREAD, EAGAIN, false, false, true, 4, 1},
    {"thread: EAGAIN from then on", THREAD, EAGAIN, true, false, true, 4, 1},
};

/* What is tried. Several statements in one text are run one after the other. */
static const struct trial {
    const char *name, *sql;
    bool fails;    /* the right answer is an error */
    bool tells;    /* rows may tell of a file that cannot be read */
    bool utf16;    /* a connection whose texts are UTF-16 */
    bool load;     /* loading the extension is part of it */
    bool database; /* of a database, of which SQLite says what has failed */
    long stride;   /* as that of a fault, for a statement that SQLite allocates much for; 0: 1 */
} trials[] = {
    {.name = "load_extension", .sql = "SELECT count(*) FROM tracediff_help", .load = true},
    {.name = "load_extension, then an error",
     .sql = "SELECT * FROM ops_diff('a', 'none')",
     .fails = true,
     .load = true},
    {.name = "tracediff_help", .sql = "SELECT * FROM tracediff_help"},
    {.name = "tracediff_columns", .sql = "SELECT * FROM tracediff_columns"},
    {.name = "tracediff_help, a page",
     .sql = "SELECT text FROM tracediff_help('trace_step_diff');"
            "SELECT text FROM tracediff_help('visualize_step_diff')"},
    {.name = "tracediff_help: error",
     .sql = "SELECT * FROM tracediff_help('trace_dif')",
     .fails = true},
    {.name = "scalars",
     .sql = "SELECT tracediff_version(), tracediff_debug(), trace_kernel_type('nccl', 'kernel')"},
    {.name = "aggregates",
     .sql = "SELECT trace_busy_time(column1, 2), trace_overlap_time(column1, 2, column1 % 2),"
            " trace_quantile(column1, 0.5), trace_stddev(column1), trace_only_rank(column1, 1, 2)"
            " FROM (VALUES (40), (10), (30), (20), (1), (60), (50), (80), (70), (100), (5), (15),"
            " (25), (35), (45), (55), (65), (75), (85), (95))"},
    {.name = "comparisons",
     .sql = "SELECT trace_mannwhitney(column1, column2), trace_shift(column1, column2),"
            " trace_ttest(column1, column2)"
            " FROM (VALUES (40, 0), (10, 1), (30, 0), (20, 1), (1, 1), (60, 0), (50, 'test'),"
            " (80, 1), (70, 'control'), (100, 1), (5, 0));"
            "SELECT trace_mannwhitney(1, 0), trace_mannwhitney(1, column1),"
            " trace_shift(column1, column1), trace_ttest(NULL, 1)"
            " FROM (VALUES (0), (1), (1))"},
    {.name = "change points",
     .sql = "SELECT trace_change_points(column1, column2)"
            " FROM (VALUES (5, 'f'), (5, 'e'), (1, 1), (1, 2.5), (1, 'a'), (1, 'a'), (4, 'd'),"
            " (9, 'g'), (9, 'h'), (9, 'i'), (9, 'j'), (3, NULL));"
            "SELECT trace_change_points(NULL, 1, NULL, 5, 10)"},
    {.name = "change points: error",
     .sql = "SELECT trace_change_points(1, column1) FROM (VALUES (0), ('test'), (x'01'))",
     .fails = true},
    {.name = "comparisons: error",
     .sql = "SELECT trace_shift(1, column1) FROM (VALUES (0), ('test'), ('tset'))",
     .fails = true},
    {.name = "aggregates: error", .sql = "SELECT trace_busy_time(1, 'x')", .fails = true},
    {.name = "charts",
     .sql =
         "SELECT visualize_counts_diff(column1, column2, 1, 'T') FROM (VALUES ('a<', 2), ('b', 3));"
         "SELECT visualize_idle_time_breakdown(0, column1, column1 % 3, column1, NULL, 'plotly')"
         " FROM (VALUES (1), (2), (3), (4), (1));"
         "SELECT visualize_cuda_kernel_launch_stats(column1, 1, 2.5) FROM (VALUES (1), (20));"
         "SELECT visualize_queue_length_time_series(0, 7, column1, 1) FROM (VALUES (1), (20));"
         "SELECT visualize_gpu_kernel_breakdown('k', 1, 2, 3, 4), trace_bar(1, 2);"
         "SELECT visualize_gpu_kernel_type_breakdown('a overlapping b', 1),"
         " visualize_comm_comp_overlap(0, 5, NULL, NULL, 1, 2), visualize_timeline(0, 7, 'k', 1, "
         "2)"},
    {.name = "charts of two sides",
     .sql = "SELECT visualize_step_diff('c', column1, column2, 2)"
            " FROM (VALUES ('f<1>(int)', 5), ('f<2>(int)', 1), ('g', 2.001));"
            "SELECT visualize_temporal_breakdown(column1, 1, 2, 3, NULL, NULL, column2)"
            " FROM (VALUES (0, 'test'), (0, 'control'));"
            "SELECT visualize_memory_bw_time_series(0, 'm', column1, column2, NULL, NULL, 0)"
            " FROM (VALUES (1, 5), (20, 0));"
            "SELECT visualize_memory(0, 0, column1, 5, column1, 20)"
            " FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))"},
    {.name = "charts: error in the first row",
     .sql = "SELECT visualize_gpu_kernel_type_breakdown('a', '1.5', 't', 'plotly')",
     .fails = true},
    {.name = "charts: error in a later row",
     .sql = "SELECT visualize_queue_length_time_series(0, column1, column1, column1)"
            " FROM (VALUES (1), (2), ('x'))",
     .fails = true},
    {.name = "aggregates: q changes",
     .sql = "SELECT trace_quantile(1, column1) FROM (VALUES (0.5), (0.5), (50))",
     .fails = true},
    {.name = "trace_diff_report",
     .sql = "SELECT html FROM trace_diff_report('a', 'b') WHERE control_memory = 'snapshots'"
            " AND test_memory = 'snapshots/rank0.pickle'",
     .tells = true,
     .stride = 131},
    {.name = "trace_diagnoses",
     .sql = "SELECT * FROM trace_diagnoses('syncs', 'syncs');"
            "SELECT * FROM trace_diagnoses('host_job', 'host_job')",
     .stride = 17},
    {.name = "trace_summary", .sql = "SELECT * FROM trace_summary('a', 'b')", .stride = 37},
    {.name = "trace_brief", .sql = "SELECT * FROM trace_brief('a', 'b')", .stride = 37},
    {.name = "idle_time_breakdown", .sql = "SELECT * FROM idle_time_breakdown('a')"},
    {.name = "queue_length_summary", .sql = "SELECT * FROM queue_length_summary('a')"},
    {.name = "error: a last step",
     .sql = "SELECT * FROM comm_comp_overlap('a', 0, 7)",
     .fails = true},
    {.name = "trace_events", .sql = "SELECT *, rowid FROM trace_events('a')"},
    {.name = "trace_events, phases", .sql = "SELECT * FROM trace_events('a', NULL, NULL, 'all')"},
    {.name = "trace_events, UTF-16",
     .sql = "SELECT * FROM trace_events('a', NULL, NULL, 'XC')",
     .utf16 = true},
    {.name = "trace_events, damaged", .sql = "SELECT * FROM trace_events('bad/cut.json.gz')"},
    {.name = "memory_timeline", .sql = "SELECT * FROM memory_timeline('lists/mem*.json*')"},
    {.name = "memory_events",
     .sql = "SELECT * FROM memory_events('snapshots'); SELECT * FROM memory_segments('snapshots')"},
    {.name = "memory_files", .sql = "SELECT * FROM memory_files('snapshots')", .tells = true},
    {.name = "memory_allocations",
     .sql = "SELECT * FROM memory_allocations('snapshots/rank0.pickle')"},
    {.name = "memory_diff",
     .sql = "SELECT * FROM memory_diff('snapshots', 'snapshots', 'phase,annotation,place,node',"
            " 'all')"},
    {.name = "memory_peak",
     .sql = "SELECT * FROM memory_peak('snapshots', 'top_op,function', 'worst')"},
    {.name = "memory_peak, damaged",
     .sql = "SELECT * FROM memory_peak('snapshots/cut')",
     .fails = true},
    {.name = "memory_summary",
     .sql = "SELECT * FROM memory_summary('snapshots', 'snapshots', 'worst')",
     .stride = 5},
    {.name = "memory_peak, no rank",
     .sql = "SELECT * FROM memory_peak('snapshots', NULL, 7)",
     .fails = true},
    {.name = "memory_peak, no snapshot",
     .sql = "SELECT * FROM memory_peak('no snapshots')",
     .fails = true},
    {.name = "hang_summary",
     .sql = "SELECT * FROM hang_summary('hangs'); SELECT * FROM hang_ranks('hangs')"},
    {.name = "fr_entries",
     .sql = "SELECT * FROM fr_entries('hangs'); SELECT * FROM fr_groups('hangs')"},
    {.name = "fr_dumps", .sql = "SELECT * FROM fr_dumps('hangs')"},
    {.name = "compilations",
     .sql = "SELECT * FROM compilations('logs'); SELECT * FROM compile_breaks('logs')"},
    {.name = "compile_guards",
     .sql = "SELECT * FROM compile_guards('logs'); SELECT * FROM compile_events('logs')"},
    {.name = "compile_records", .sql = "SELECT * FROM compile_records('logs')"},
    {.name = "compile_ranks",
     .sql = "SELECT * FROM compile_ranks('logs'); SELECT * FROM compile_files('logs')"},
    {.name = "compile_steps", .sql = "SELECT * FROM compile_steps('compiled')"},
    {.name = "compile_diff",
     .sql = "SELECT * FROM compile_diff('logs/dedicated_log_torch_trace_a.log', 'compiled')"},
    {.name = "trace_summary, compiled",
     .sql = "SELECT * FROM trace_summary('compiled', 'compiled again') WHERE diagnoses = 0"},
    {.name = "compile_files: error", .sql = "SELECT * FROM compile_files('lists')", .fails = true},
    {.name = "fr_dumps: error", .sql = "SELECT * FROM fr_dumps('lists')", .fails = true},
    {.name = "execution_trace", .sql = "SELECT * FROM execution_trace('lists/et.json')"},
    {.name = "execution_trace: error",
     .sql = "SELECT * FROM execution_trace('lists/bad.json')",
     .fails = true},
    {.name = "memory_timeline: error",
     .sql = "SELECT * FROM memory_timeline('lists/cut.json')",
     .fails = true},
    {.name = "trace_events, a large file",
     .sql = "SELECT ts, length(name) FROM trace_events('large')"},
    {.name = "trace_events, JSON array",
     .sql = "SELECT name, file FROM trace_events('[\"a/rank0.json\", \"b/rank1.json.gz\"]')"},
    {.name = "trace_events, pattern",
     .sql = "SELECT name, file FROM trace_events('a/r*[0-9].json*')"},
    {.name = "trace_events, link to itself",
     .sql = "SELECT work.name, call.name, work.ts - call.ts"
            " FROM trace_events('a') AS work JOIN trace_events('a') AS call"
            " ON call.file = work.file AND call.event = work.link WHERE work.device = 'GPU'"},
    {.name = "trace_events, orders",
     .sql = "SELECT name, ts FROM trace_events('a') ORDER BY ts;"
            "SELECT name FROM trace_events('a') WHERE rank IN (0, 1) ORDER BY dur DESC;"
            "SELECT name, count(*) FROM trace_events('a') GROUP BY name"},
    {.name = "trace_events, terms",
     .sql = "SELECT name FROM trace_events('a') WHERE name = 'op1' AND cat IN ('cpu_op', 'kernel');"
            "SELECT name FROM trace_events('a') WHERE iteration IN (1, 2) AND ts > 1 AND ts < 1e9"
            " AND stream = 7 AND device IN ('CPU', 'GPU') AND ph = 'X';"
            "SELECT a.name, b.self_dur FROM trace_events('a') AS a JOIN trace_events('a') AS b"
            " ON b.event = a.link AND b.rank = a.rank"},
    {.name = "trace_events, stacks and args",
     .sql = "SELECT parent, depth, self_dur FROM trace_events('a');"
            "SELECT operator FROM trace_events('a', NULL, NULL, NULL, 'op');"
            "SELECT name, args FROM trace_events('bad/cut.json.gz') WHERE args IS NOT NULL"},
    {.name = "trace_events, args of scattered events",
     .sql = "SELECT e.args FROM (VALUES (7), (3), (19), (0), (5)) AS p"
            " CROSS JOIN trace_events('a') AS e WHERE e.event = p.column1"},
    {.name = "a database",
     .sql = "SELECT *, rowid FROM trace_events('db/x.db')",
     .database = true,
     .stride = 3},
    {.name = "a database, args of scattered events",
     .sql = "SELECT e.args FROM (VALUES (27), (3), (26), (12), (5)) AS p"
            " CROSS JOIN trace_events('db/x.db') AS e WHERE e.event = p.column1",
     .database = true,
     .stride = 7},
    {.name = "a database of several processes",
     .sql = "SELECT * FROM trace_events('db/two.sqlite', NULL, NULL, 'all');"
            "SELECT * FROM trace_files('db/two.sqlite')",
     .database = true,
     .stride = 7,
     .tells = true},
    {.name = "databases and others in a folder",
     .sql = "SELECT file, rank, name FROM trace_events('db')",
     .database = true,
     .stride = 7},
    {.name = "databases of other profilers",
     .sql = "SELECT * FROM trace_events('db/others', NULL, NULL, 'all')",
     .database = true,
     .stride = 7},
    {.name = "trace_files of databases",
     .sql = "SELECT * FROM trace_files('db'); SELECT * FROM trace_metadata('db/x.db')",
     .database = true,
     .stride = 7,
     .tells = true},
    {.name = "a diff of databases",
     .sql = "SELECT * FROM trace_diff('db/x.db', 'db/y.db')",
     .database = true,
     .stride = 7},
    {.name = "a damaged database",
     .sql = "SELECT * FROM trace_events('bad/damaged.db');"
            "SELECT * FROM trace_files('bad/damaged.db')",
     .database = true,
     .stride = 7,
     .tells = true},
    {.name = "a database with values that are too long",
     .sql = "SELECT * FROM trace_events('db/long.db')",
     .database = true,
     .stride = 7},
    {.name = "a database of rocprofv3",
     .sql = "SELECT * FROM trace_events('other/rocpd.db', NULL, NULL, 'all');"
            "SELECT * FROM trace_files('other/rocpd.db');"
            "SELECT * FROM trace_metadata('other/rocpd.db')",
     .database = true,
     .stride = 7,
     .tells = true},
    {.name = "a database of Ascend",
     .sql = "SELECT * FROM trace_events('other/ascend.db');"
            "SELECT * FROM trace_files('other/ascend.db');"
            "SELECT * FROM trace_metadata('other/ascend.db')",
     .database = true,
     .stride = 7,
     .tells = true},
    {.name = "rocprofv3's JSON",
     .sql = "SELECT * FROM trace_events('other/x_results.json');"
            "SELECT * FROM trace_files('other/x_results.json');"
            "SELECT * FROM trace_metadata('other/x_results.json')",
     .stride = 3,
     .tells = true},
    {.name = "a profile of XLA",
     .sql = "SELECT * FROM trace_events('other/x.xplane.pb.gz');"
            "SELECT * FROM trace_files('other/x.xplane.pb.gz');"
            "SELECT * FROM trace_metadata('other/x.xplane.pb.gz')",
     .stride = 3,
     .tells = true},
    {.name = "a trace of Perfetto",
     .sql = "SELECT * FROM trace_events('other/window.gz', NULL, NULL, 'all') ORDER BY ts DESC;"
            "SELECT * FROM trace_files('other/window.gz')",
     .stride = 7,
     .tells = true},
    {.name = "error: a database that is not a trace",
     .sql = "SELECT * FROM trace_events('bad/other.db')",
     .database = true,
     .stride = 7,
     .fails = true},
    {.name = "error: a database with changes beside it",
     .sql = "SELECT * FROM trace_events('bad/wal.db')",
     .database = true,
     .stride = 7,
     .fails = true},
    {.name = "trace_health", .sql = "SELECT * FROM trace_health('odd/odd.json')"},
    {.name = "trace_files", .sql = "SELECT * FROM trace_files('a')", .tells = true},
    {.name = "trace_files, UTF-16",
     .sql = "SELECT * FROM trace_files('a')",
     .tells = true,
     .utf16 = true},
    {.name = "trace_files, bad ones",
     .sql = "SELECT * FROM trace_files('bad')",
     .database = true,
     .stride = 7,
     .tells = true},
    {.name = "trace_files, given again",
     .sql = "SELECT * FROM trace_files('[\"a\", \"./a/rank0.json\", \"a/../a/rank1.json.gz\"]');"
            "SELECT count(*) FROM trace_events('[\"a\", \"./a/rank0.json\"]')",
     .tells = true},
    {.name = "files as they come",
     .sql = "SELECT rank, name, pid FROM trace_events('labels');"
            "SELECT iteration, name FROM trace_ops('come', 2)"},
    {.name = "ranks by their place",
     .sql = "SELECT * FROM trace_health('labels'); SELECT name FROM trace_ops('labels', 'tp=0');"
            "SELECT * FROM trace_compared_ranks('labels', 'labels', 'tp=1', 'tp=1')"},
    {.name = "no rank at a place",
     .sql = "SELECT * FROM trace_ops('labels', 'tp=7')",
     .fails = true},
    {.name = "memory of the host",
     .sql = "SELECT * FROM memory_files('pinned', 'dp=0')"},
    {.name = "files as they come, listed",
     .sql = "SELECT * FROM trace_files('come')",
     .tells = true},
    {.name = "trace_metadata", .sql = "SELECT * FROM trace_metadata('a')"},
    {.name = "trace_metadata, UTF-16", .sql = "SELECT * FROM trace_metadata('a')", .utf16 = true},
    {.name = "trace_steps", .sql = "SELECT * FROM trace_steps('a')"},
    {.name = "trace_steps, IN",
     .sql = "SELECT iteration, ts, file FROM trace_steps WHERE trace IN ('a', 'b', 'a')"},
    {.name = "trace_ops", .sql = "SELECT * FROM trace_ops('a', 'all', 'all')"},
    {.name = "trace_ops, selections",
     .sql = "SELECT * FROM trace_ops('a', '[0,1]', '[1,2]', 'GPU')"},
    {.name = "trace_ops, UTF-16",
     .sql = "SELECT name, counts FROM trace_ops('[\"a\"]', '[1]', 'steady', 'CPU')",
     .utf16 = true},
    {.name = "trace_ops, rows kept in a join",
     .sql = "SELECT r.column1, o.name, o.counts FROM (VALUES ('a'), ('b'), ('a'), (NULL)) AS r"
            " JOIN (VALUES ('CPU'), ('GPU'), ('CPU')) AS d"
            " JOIN trace_ops(r.column1, 'all', 'all', d.column1) AS o"},
    {.name = "trace_diff", .sql = "SELECT * FROM trace_diff('a', 'b')"},
    {.name = "trace_diff, selections",
     .sql = "SELECT * FROM trace_diff('a', 'b', 'all', '[0,1]', 'steady', 'all', 'CPU')"},
    {.name = "ops_diff", .sql = "SELECT * FROM ops_diff('a', 'b')"},
    {.name = "compare_traces", .sql = "SELECT * FROM compare_traces('a', 'b', 'all', 'all')"},
    {.name = "top_count_increases", .sql = "SELECT * FROM top_count_increases('a', 'b')"},
    {.name = "top_duration_changes", .sql = "SELECT * FROM top_duration_changes('a', 'b')"},
    {.name = "top_duration_changes, UTF-16",
     .sql = "SELECT * FROM top_duration_changes('a', 'b', 'all', 'all', 'all', 'steady')",
     .utf16 = true},
    {.name = "CREATE VIRTUAL TABLE",
     .sql = "DROP TABLE IF EXISTS temp.x;"
            "CREATE VIRTUAL TABLE temp.x USING trace_ops('a', iterations = 'it''s', ranks = +1);"
            "SELECT name, counts FROM x WHERE iterations = 'all'; DROP TABLE x"},
    {.name = "trace_step_time",
     .sql = "SELECT * FROM trace_step_time('a', 'all', 'all', 'module')"},
    {.name = "trace_step_path",
     .sql = "SELECT * FROM trace_step_path('a', 'all', 'all');"
            "SELECT * FROM trace_step_path('a', 'all', 'all', NULL, 'trace')"},
    {.name = "the path of a job",
     .sql = "SELECT * FROM trace_job_path('job', NULL, 'all');"
            "SELECT * FROM trace_step_time('job', 'job', 'all');"
            "SELECT * FROM trace_step_path('job', 'job', 'all', 'host', 'trace');"
            "SELECT * FROM trace_job_clocks('job')"},
    {.name = "the path of a job of rows",
     .sql = "WITH path AS (SELECT trace_job_schedule(" JOB_ROW ") AS stretches"
            " FROM trace_job_ranks('job'))"
            "SELECT * FROM path CROSS JOIN trace_job_parts('job', stretches);"
            "SELECT trace_job_offsets(" JOB_ROW ") FROM trace_job_ranks('job')"},
    {.name = "the path of a job without device work",
     .sql = "SELECT * FROM trace_job_path('host_job', NULL, 'all')"},
    {.name = "ranks that are compared",
     .sql = "SELECT * FROM trace_compared_ranks('job', 'a');"
            "SELECT * FROM trace_compared_ranks('job', 'job', 'job [0, 1]', 'job', 'decode')"},
    {.name = "trace_step_diff", .sql = "SELECT * FROM trace_step_diff('a', 'b')"},
    {.name = "trace_step_causes",
     .sql = "SELECT * FROM trace_step_causes('a', 'b');"
            "SELECT * FROM trace_step_causes('a', 'b', 'all', 'all', NULL, NULL, NULL, 2)"},
    {.name = "trace_gate",
     .sql = "SELECT * FROM trace_gate('a', 'b', 5); SELECT * FROM trace_gate('job', 'a', 0);"
            "SELECT * FROM trace_gate('untied', 'untied', 0)",
     .stride = 3},
    {.name = "trace_what_if",
     .sql = "SELECT * FROM trace_what_if('a', '[]');"
            "SELECT * FROM trace_what_if('job', '[{\"what\": \"transfer\", \"factor\": 0.5}]', "
            "NULL, 'all')"},
    {.name = "trace_what_if, many changes",
     .sql = "SELECT * FROM trace_what_if('host_job', '[{\"what\": \"host\", \"op\": \"%\", "
            "\"set_us\": 5},"
            " {\"what\": \"host\", \"module\": \"%\", \"factor\": 2}, {\"what\": \"host\", "
            "\"remove\": true}]')"},
    {.name = "error: trace_what_if, changes",
     .sql = "SELECT * FROM trace_what_if('a', '[{\"what\": \"device\", \"name\": \"nothing\", "
            "\"factor\": 2}]')",
     .fails = true},
    {.name = "trace_gains",
     .sql =
         "SELECT * FROM trace_gains('job', NULL, 'all'); SELECT * FROM trace_gains('host_job', 0);"
         "SELECT * FROM trace_gains('syncs', NULL, NULL, 'kernel')"},
    {.name = "trace_undo",
     .sql = "SELECT * FROM trace_undo('a', 'b');"
            "SELECT * FROM trace_undo('b', 'a', 'all', 'all', NULL, NULL, 3)"},
    {.name = "trace_undo of jobs", .sql = "SELECT * FROM trace_undo('job', 'host_job')"},
    {.name = "trace_work_diff",
     .sql = "SELECT * FROM trace_work_diff('a', 'b');"
            "SELECT * FROM trace_work_diff('a', 'b', 'all', 'all', 'all', 0)"},
    {.name = "common factors",
     .sql = "SELECT * FROM trace_clock_factor('a', 'b');"
            "SELECT * FROM trace_host_factor('a', 'b')"},
    {.name = "critical_path",
     .sql = "SELECT * FROM critical_path('a', 'all', 'all');"
            "SELECT * FROM critical_path('syncs')"},
    {.name = "critical_path_diff", .sql = "SELECT * FROM critical_path_diff('a', 'b')"},
    {.name = "steps by annotation",
     .sql = "SELECT * FROM trace_steps('serving/control.json');"
            "SELECT * FROM trace_steps('serving/control.json', '[\"aten::%\", \"x\"]');"
            "SELECT * FROM trace_events('serving/test.json') WHERE steps = 'scheduler%'"},
    {.name = "steps of a phase",
     .sql = "SELECT * FROM trace_ops('serving/control.json', 0, 'decode');"
            "SELECT * FROM trace_step_path('serving/control.json', 0, 'prefill')"},
    {.name = "error: no step of a phase",
     .sql = "SELECT * FROM trace_step_time('serving/control.json', 0, 'verify')",
     .fails = true},
    {.name = "like with like",
     .sql = "SELECT * FROM trace_step_diff('serving/control.json', 'serving/test.json')",
     .stride = 3},
    {.name = "a capture",
     .sql = "SELECT * FROM trace_step_time('serving/control.json', 0, 'all') WHERE"
            " capture = 'serving/capture.json';"
            "SELECT * FROM trace_kernel_owners('serving/test.json', 0, 'all') WHERE"
            " capture = 'serving/capture.json'",
     .stride = 3},
    {.name = "trace_graph_diff",
     .sql = "SELECT * FROM trace_graph_diff('serving/control.json', 'serving/test.json')"},
    {.name = "trace_ab",
     .sql = "SELECT * FROM trace_ab('[\"a\", \"b\"]', '[\"b\"]') WHERE iterations = 'all';"
            "SELECT * FROM trace_ab('[ab]', 'a') WHERE by_unit = 'run' AND names = '[\"step\", "
            "\"%a%\"]'",
     .stride = 3},
    {.name = "trace_ab of a job",
     .sql = "SELECT * FROM trace_ab('job', 'job', 'job') WHERE iterations = 'all'",
     .stride = 3},
    {.name = "error: runs of directories and files",
     .sql = "SELECT * FROM trace_ab('mixed/*', 'a')",
     .fails = true},
    {.name = "trace_subtree",
     .sql = "SELECT * FROM trace_subtree('a', 'all');"
            "SELECT * FROM trace_subtree('a', NULL, '[1, 4]')"},
    {.name = "trace_subtree, error",
     .sql = "SELECT * FROM trace_subtree('a', NULL, 777)",
     .fails = true},
    {.name = "trace_kernel_owners", .sql = "SELECT * FROM trace_kernel_owners('a', 'all', 'all')"},
    {.name = "trace_kernel_owners, by flows",
     .sql = "SELECT * FROM trace_kernel_owners('ascend', 'all', 'all')"},
    {.name = "trace_collectives", .sql = "SELECT * FROM trace_collectives('a', 'all', 'all')"},
    {.name = "trace_collectives, bytes",
     .sql = "SELECT * FROM trace_collectives('nccl', 'all', 'all');"
            "SELECT * FROM trace_device_peaks"},
    {.name = "trace_diff_by", .sql = "SELECT * FROM trace_diff_by('a', 'b', 'op,shapes,stream')"},
    {.name = "trace_diff_by, collectives",
     .sql = "SELECT * FROM trace_diff_by('nccl', 'nccl', 'collective,process_group')"},
    {.name = "error: no argument", .sql = "SELECT * FROM trace_diff('a')", .fails = true},
    {.name = "error: no such file", .sql = "SELECT * FROM trace_events('none')", .fails = true},
    {.name = "error: traces in folders", .sql = "SELECT * FROM trace_events('.')", .fails = true},
    {.name = "error: unknown argument",
     .sql = "CREATE VIRTUAL TABLE temp.x USING trace_ops('a', rank = 1)",
     .fails = true},
    {.name = "error: what is no selection",
     .sql = "SELECT * FROM trace_ops('a', '[0,\"x\"]')",
     .fails = true},
    {.name = "error: no step", .sql = "SELECT * FROM trace_ops('a', 0, 77)", .fails = true},
    {.name = "error: no trace", .sql = "SELECT * FROM trace_steps('bad/not.json')", .fails = true},
    {.name = "error: a diff of what is damaged",
     .sql = "SELECT * FROM compare_traces('a', 'bad/cut.json.gz')",
     .fails = true},
    {.name = "error: created elsewhere",
     .sql = "CREATE VIRTUAL TABLE x USING trace_events('a')",
     .fails = true},
};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* The fault that is set; calls are counted only while there is one. */
static struct {
    atomic_int call;
    atomic_long calls, hits;
    atomic_int benign; /* SQLite says that it can do without what it allocates now */
    atomic_bool benign_hit;
    long at; /* 0: none is to fail */
    const struct fault *fault;
    uint64_t
        *stacks; /* of the first MOST_STACKS calls, a hash each: for these to be noted; or NULL */
} armed;
static atomic_long blocks, directories; /* in use */
static atomic_long threads;             /* started */
static atomic_bool files[1024];         /* that open() has opened */

static void arm(const struct fault *fault, long at)
{
    armed.fault = fault;
    armed.at = at;
    atomic_store(&armed.calls, 0);
    atomic_store(&armed.hits, 0);
    atomic_store(&armed.benign_hit, false);
    atomic_store(&armed.call, (int)fault->call);
}

static void disarm(void)
{
    atomic_store(&armed.call, NO_CALL);
}

/* Where SQLite's code lies. */
static uintptr_t sqlite_begins, sqlite_ends;

static int find_sqlite(struct dl_phdr_info *object, size_t size, void *inside)
{
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        uintptr_t begins = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        uintptr_t ends = begins + object->dlpi_phdr[i].p_memsz;
        if (object->dlpi_phdr[i].p_type != PT_LOAD || (uintptr_t)inside < begins ||
            (uintptr_t)inside >= ends)
            continue;
        sqlite_begins = begins;
        sqlite_ends = ends;
        return 1;
    }
    return 0;
}

static bool in_sqlite(const void *frame)
{
    return (uintptr_t)frame >= sqlite_begins && (uintptr_t)frame < sqlite_ends;
}

/* Of all callers, but of the innermost functions of SQLite only the KEPT that are nearest to their
** caller: how deep its parser is when it fails is up to SQLite. */
static uint64_t hash_of_stack(void)
{
    enum { DEEPEST = 64, KEPT = 6 };
    void *frames[DEEPEST];
    uint64_t hash = 0;
    int count = backtrace(frames, DEEPEST), first = 0, caller;
    while (first < count && !in_sqlite(frames[first])) /* these are of this program */
        first++;
    for (caller = first; caller < count && in_sqlite(frames[caller]);)
        caller++;
    if (caller - KEPT > first)
        first = caller - KEPT;
    for (int i = count - 1; i >= first; i--)
        hash = (hash ^ (uintptr_t)frames[i]) * 0x9e3779b97f4a7c15;
    return hash;
}

/* Whether a call is to fail. */
static bool fails(enum call call)
{
    if (atomic_load(&armed.call) != (int)call)
        return false;
    long i = atomic_fetch_add(&armed.calls, 1) + 1;
    if (armed.stacks && i <= MOST_STACKS)
        armed.stacks[i - 1] = hash_of_stack();
    bool hit = armed.at > 0 && (i == armed.at || (i > armed.at && armed.fault->stays));
    if (hit) {
        atomic_fetch_add(&armed.hits, 1);
        if (atomic_load(&armed.benign) > 0)
            atomic_store(&armed.benign_hit, true);
        errno = armed.fault->error;
    }
    return hit;
}

static void begin_benign(void)
{
    atomic_fetch_add(&armed.benign, 1);
}

static void end_benign(void)
{
    atomic_fetch_sub(&armed.benign, 1);
}

/* Memory: what is freed is overwritten, so that using it is seen. */

static sqlite3_mem_methods memory;

static void *allocate(int size)
{
    void *block = fails(ALLOCATE) ? NULL : memory.xMalloc(size);
    if (block)
        atomic_fetch_add(&blocks, 1);
    return block;
}

static void *resize(void *block, int size)
{
    return fails(ALLOCATE) ? NULL : memory.xRealloc(block, size);
}

static void release(void *block)
{
    if (!block)
        return;
    memset(block, 0xdd, (size_t)memory.xSize(block));
    atomic_fetch_sub(&blocks, 1);
    memory.xFree(block);
}

/* The system calls stand before those of the C library. */

#define NEXT(name)                                  \
    __typeof__(name) *next;                         \
    void *symbol_of_next = dlsym(RTLD_NEXT, #name); \
    memcpy((void *)&next, &symbol_of_next, sizeof next);

/* SQLite calls those whose offsets have 64 bits, where it was compiled with them. */

#define INTERPOSE_OPEN(name)                                     \
    INTERPOSED int name(const char *path, int flags, ...)        \
    {                                                            \
        NEXT(name)                                               \
        va_list arguments;                                       \
        va_start(arguments, flags);                              \
        int mode = flags & O_CREAT ? va_arg(arguments, int) : 0; \
        va_end(arguments);                                       \
        int file = fails(OPEN) ? -1 : next(path, flags, mode);   \
        if (file >= 0 && (size_t)file < COUNT_OF(files))         \
            atomic_store(&files[file], true);                    \
        return file;                                             \
    }
INTERPOSE_OPEN(open)
INTERPOSE_OPEN(open64)

INTERPOSED int close(int file)
{
    NEXT(close)
    if (file >= 0 && (size_t)file < COUNT_OF(files))
        atomic_store(&files[file], false);
    return next(file);
}

INTERPOSED ssize_t read(int file, void *to, size_t room)
{
    NEXT(read)
    if (!fails(READ))
        return next(file, to, room);
    return armed.fault->error == SHORT_READ ? next(file, to, room > 0) : -1;
}

#define INTERPOSE_PREAD(name, offset)                                                \
    INTERPOSED ssize_t name(int file, void *to, size_t room, offset at)              \
    {                                                                                \
        NEXT(name)                                                                   \
        if (!fails(READ))                                                            \
            return next(file, to, room, at);                                         \
        return armed.fault->error == SHORT_READ ? next(file, to, room > 0, at) : -1; \
    }
INTERPOSE_PREAD(pread, off_t)
INTERPOSE_PREAD(pread64, off64_t)

#define INTERPOSE_STAT(name, call, of, status_of)          \
    INTERPOSED int name(of file, struct status_of *status) \
    {                                                      \
        NEXT(name)                                         \
        return fails(call) ? -1 : next(file, status);      \
    }
INTERPOSE_STAT(fstat, FSTAT, int, stat)
INTERPOSE_STAT(fstat64, FSTAT, int, stat64)
INTERPOSE_STAT(stat, STAT, const char *, stat)
INTERPOSE_STAT(stat64, STAT, const char *, stat64)
INTERPOSE_STAT(lstat, LSTAT, const char *, stat)
INTERPOSE_STAT(lstat64, LSTAT, const char *, stat64)

INTERPOSED DIR *opendir(const char *path)
{
    NEXT(opendir)
    DIR *directory = fails(OPENDIR) ? NULL : next(path);
    atomic_fetch_add(&directories, directory != NULL);
    return directory;
}

INTERPOSED struct dirent *readdir(DIR *directory)
{
    NEXT(readdir)
    return fails(READDIR) ? NULL : next(directory);
}

INTERPOSED int closedir(DIR *directory)
{
    NEXT(closedir)
    atomic_fetch_sub(&directories, 1);
    return next(directory);
}

INTERPOSED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                              void *(*start)(void *), void *argument)
{
    NEXT(pthread_create)
    atomic_fetch_add(&threads, 1);
    return fails(THREAD) ? armed.fault->error : next(thread, attributes, start, argument);
}

static int processors;

INTERPOSED int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set)
{
    (void)process;
    CPU_ZERO_S(size, set);
    for (int i = 0; i < processors; i++)
        CPU_SET_S((size_t)i, size, set);
    return 0;
}

/* Questions and answers. */

static const char *extension;

/* What a connection has said: rows as text, or an error. */
struct answer {
    int code;
    char *text;
    size_t length, capacity;
};

/* Room for so many bytes and a 0 at the end of what has been said. */
static char *room(struct answer *answer, size_t length)
{
    if (answer->length + length + 1 > answer->capacity) {
        answer->capacity = 2 * (answer->length + length + 1);
        answer->text = realloc(answer->text, answer->capacity);
    }
    return answer->text + answer->length;
}

__attribute__((format(printf, 2, 3))) static void say(struct answer *answer, const char *format,
                                                      ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t needed = (size_t)vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *to = room(answer, needed);
    va_start(arguments, format);
    vsnprintf(to, needed + 1, format, arguments);
    va_end(arguments);
    answer->length += needed;
}

/* As say() would, which is slow where a text is a page of 500 KB. */
static void say_text(struct answer *answer, const char *text)
{
    size_t length = strlen(text);
    memcpy(room(answer, length), text, length + 1);
    answer->length += length;
}

static int say_row(struct answer *answer, sqlite3_stmt *statement)
{
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
        const char *text;
        switch (sqlite3_column_type(statement, i)) {
        case SQLITE_INTEGER:
            say(answer, "%lld|", (long long)sqlite3_column_int64(statement, i));
            break;
        case SQLITE_FLOAT:
            say(answer, "%.17g|", sqlite3_column_double(statement, i));
            break;
        case SQLITE_NULL:
            say(answer, "NULL|");
            break;
        default:
            text = (const char *)sqlite3_column_text(statement, i);
            if (!text)
                return SQLITE_NOMEM;
            say_text(answer, "'");
            say_text(answer, text);
            say_text(answer, "'|");
        }
    }
    say_text(answer, "\n");
    return SQLITE_OK;
}

static void ask(sqlite3 *db, const char *sql, struct answer *answer)
{
    int code = SQLITE_OK;
    answer->length = 0;
    say_text(answer, "");
    while (*sql && code == SQLITE_OK) {
        sqlite3_stmt *statement = NULL;
        code = sqlite3_prepare_v2(db, sql, -1, &statement, &sql);
        while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW)
            code = say_row(answer, statement);
        int finalized = sqlite3_finalize(statement);
        if (code == SQLITE_DONE)
            code = finalized;
    }
    answer->code = code;
    if (code != SQLITE_OK) {
        answer->length = 0;
        say_text(answer, code == SQLITE_NOMEM ? "out of memory" : sqlite3_errmsg(db));
    }
}

static int load(sqlite3 *db)
{
    return sqlite3_load_extension(db, extension, NULL, NULL);
}

static sqlite3 *opened(const struct trial *trial)
{
    sqlite3 *db;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL) != SQLITE_OK ||
        (trial->utf16 && sqlite3_exec(db, "PRAGMA encoding = 'UTF-16'", 0, 0, 0) != SQLITE_OK) ||
        (!trial->load && load(db) != SQLITE_OK)) {
        printf("cannot load %s: %s\n", extension, sqlite3_errmsg(db));
        exit(2);
    }
    return db;
}

/* Whether an answer is right, or tells of the fault. */
static bool acceptable(const struct trial *trial, const struct fault *fault,
                       const struct answer *right, const struct answer *answer)
{
    if (answer->code == right->code && strcmp(answer->text, right->text) == 0)
        return true;
    if (fault->harmless)
        return false;
    if (fault->call == ALLOCATE)
        return answer->code == SQLITE_NOMEM || /* the error may go without its message then */
               (atomic_load(&armed.benign_hit) && trial->fails && answer->code == SQLITE_ERROR);
    if (answer->code != SQLITE_ERROR && !trial->tells)
        return false;
    return strstr(answer->text, strerror(fault->error)) ||
           (trial->database && (strstr(answer->text, "disk I/O error") ||
                                strstr(answer->text, "unable to open database file")));
}

/* What is wrong after the fault at a point, or NULL. `*last` is true if there is
** no such point. */
static const char *point(const struct trial *trial, const struct fault *fault, long at,
                         const struct answer *right, struct answer *answer, bool *last)
{
    long blocks_before = atomic_load(&blocks);
    const char *wrong = NULL;
    sqlite3 *db = opened(trial);
    if (fault->warm && !trial->load)
        ask(db, trial->sql, answer);
    arm(fault, at);
    int code = trial->load ? load(db) : SQLITE_OK;
    if (code == SQLITE_OK)
        ask(db, trial->sql, answer);
    disarm();
    *last = atomic_load(&armed.hits) == 0;
    if (code != SQLITE_OK && fault->call == ALLOCATE) /* SQLite makes SQLITE_ERROR of it */
        code = load(db) == SQLITE_OK ? SQLITE_OK : SQLITE_ERROR;
    else if (code == SQLITE_OK && !acceptable(trial, fault, right, answer))
        wrong = "a wrong answer";
    if (code != SQLITE_OK)
        wrong = "cannot load";
    if (!wrong) {
        ask(db, trial->sql, answer);
        if (answer->code != right->code || strcmp(answer->text, right->text) != 0)
            wrong = "a wrong answer afterwards";
    }
    if (sqlite3_close(db) != SQLITE_OK)
        wrong = wrong ? wrong : "the connection cannot be closed";
    if (atomic_load(&blocks) != blocks_before)
        wrong = wrong ? wrong : "a leak of memory";
    for (size_t i = 0; i < COUNT_OF(files); i++)
        if (atomic_exchange(&files[i], false))
            wrong = wrong ? wrong : "a file left open";
    if (atomic_exchange(&directories, 0) != 0)
        wrong = wrong ? wrong : "a directory left open";
    return wrong;
}

/* The call stacks of a statement's allocations, by their order; NULL if they may come in another.
 */
static uint64_t *note_stacks(const struct trial *trial, const struct fault *fault,
                             const struct answer *right, struct answer *answer)
{
    bool last;
    if (fault->call != ALLOCATE || fault->processors > 1)
        return NULL;
    uint64_t *stacks = calloc(MOST_STACKS, sizeof *stacks);
    armed.stacks = stacks;
    point(trial, fault, 0, right, answer, &last);
    armed.stacks = NULL;
    return stacks;
}

/* Whether a point is like others before it: their number is not 0, 1, 2, 4, 8, ... */
static bool repeats(const uint64_t *stacks, long at)
{
    long seen = 0;
    for (long i = 0; stacks && at <= MOST_STACKS && stacks[at - 1] && i < at - 1; i++)
        seen += stacks[i] == stacks[at - 1];
    return (seen & (seen - 1)) != 0;
}

/* Whether a statement starts no threads, where memory among threads is to fail: it would be as
** without. */
static bool lacks_threads(const struct trial *trial, const struct fault *fault,
                          const struct answer *right, struct answer *answer)
{
    bool last;
    if (fault->call != ALLOCATE || fault->processors == 1)
        return false;
    long before = atomic_load(&threads);
    point(trial, fault, 0, right, answer, &last);
    return atomic_load(&threads) == before;
}

/* All the points of a statement; returns how many are wrong. */
static long sweep(const struct trial *trial, const struct fault *fault, const struct answer *right,
                  bool every, long *points)
{
    struct answer answer = {0, NULL, 0, 0};
    long wrong = 0, tried = -1; /* the last point is none */
    bool last = false;
    processors = fault->processors;
    if (!every && lacks_threads(trial, fault, right, &answer)) {
        free(answer.text);
        return 0;
    }
    uint64_t *stacks = every ? NULL : note_stacks(trial, fault, right, &answer);
    long stride = every ? 1 : fault->stride * (trial->stride > 0 ? trial->stride : 1);
    for (long at = 1; !last; at += stride) {
        if (repeats(stacks, at))
            continue;
        tried++;
        const char *what = point(trial, fault, at, right, &answer, &last);
        if (what && ++wrong <= MOST_SHOWN)
            printf("%s: %s, at %ld: %s: %d %.400s\n", trial->name, fault->name, at, what,
                   answer.code, answer.text);
    }
    free(answer.text);
    free(stacks);
    *points += tried;
    if (tried > 0)
        printf("%-34s %-28s %6ld points%s\n", trial->name, fault->name, tried,
               wrong ? "  WRONG" : "");
    fflush(stdout);
    return wrong;
}

/* The right answer; false if it is not the one expected. */
static bool right_answer(const struct trial *trial, struct answer *right)
{
    sqlite3 *db = opened(trial);
    if (trial->load)
        load(db);
    ask(db, trial->sql, right);
    sqlite3_close(db);
    bool expected = right->code == (trial->fails ? SQLITE_ERROR : SQLITE_OK) && right->length > 0;
    if (!expected)
        printf("%s: without a fault: %d %.400s\n", trial->name, right->code, right->text);
    return expected;
}

int main(int count, char **arguments)
{
    sqlite3_mem_methods wrapped;
    long points = 0, wrong = 0;
    if (count < 2)
        return 2;
    extension = arguments[1];
    dl_iterate_phdr(find_sqlite, dlsym(RTLD_DEFAULT, "sqlite3_open"));
    if (sqlite_begins == sqlite_ends)
        return 2;
    mallopt(M_TRIM_THRESHOLD, 64 << 20); /* pages are kept for the next connection */
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory);
    wrapped = memory;
    wrapped.xMalloc = allocate;
    wrapped.xRealloc = resize;
    wrapped.xFree = release;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &wrapped);
    sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0); /* every allocation is to be seen */
    sqlite3_test_control(SQLITE_TESTCTRL_BENIGN_MALLOC_HOOKS, begin_benign, end_benign);
    void *stays = dlopen(extension, RTLD_NOW); /* so that loading is quick */
    for (size_t t = 0; t < COUNT_OF(trials); t++) {
        struct answer right = {0, NULL, 0, 0};
        if (count > 2 && strcmp(trials[t].name, arguments[2]) != 0)
            continue;
        processors = 1;
        if (!right_answer(&trials[t], &right))
            wrong++;
        for (size_t f = 0; f < COUNT_OF(faults); f++)
            if (count < 4 || strcmp(faults[f].name, arguments[3]) == 0)
                wrong += sweep(&trials[t], &faults[f], &right, count > 3, &points);
        free(right.text);
    }
    if (stays)
        dlclose(stays);
    printf("%ld points, %ld wrong\n", points, wrong);
    return wrong > 0;
}
