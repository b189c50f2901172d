/*
** A fuzz target for files that become rows and are not documents of events: packets of Perfetto,
** profiles of XLA, rocprofv3's JSON. One is read plain and packed, with its args, which must agree
** and make sense.
**
** An input is three bytes of options and then the file:
**   1. gzip members (two bits), whether a failing allocation is followed by more, and whether
**      events of all phases are wanted (a bit each); the kind of file (two bits)
**   2. which allocation fails
**   3. where the file is cut, and what is written over a byte of it
*/
#include "fuzz.h" /* first: it says what the system's headers are to declare */

#define SQLITE_CORE /* functions of SQLite are the library's, here */
#include <sqlite3ext.h>

#include "columns.h"
#include "derived.h"
#include "perfetto/perfetto_rows.h"
#include "rocprof/rocprof_json.h"
#include "text/mend.h"
#include "text/scan.h"
#include "xplane/xplane_rows.h"

/* Those that write args. */
static const struct sqlite3_api_routines routines = {.free = sqlite3_free,
                                                     .xsnprintf = sqlite3_snprintf,
                                                     .str_append = sqlite3_str_append,
                                                     .str_appendall = sqlite3_str_appendall,
                                                     .str_appendchar = sqlite3_str_appendchar,
                                                     .str_appendf = sqlite3_str_appendf,
                                                     .str_errcode = sqlite3_str_errcode,
                                                     .str_finish = sqlite3_str_finish,
                                                     .str_length = sqlite3_str_length,
                                                     .str_new = sqlite3_str_new,
                                                     .str_value = sqlite3_str_value};
const struct sqlite3_api_routines *sqlite3_api = &routines;

static const struct row_source *const kinds[] = {&perfetto_rows, &xplane_rows, &rocprof_json,
                                                 &perfetto_rows};

static bool always(const char *name, bool json, bool *is, struct failure *failure)
{
    (void)name, (void)json, (void)failure;
    *is = true;
    return true;
}

/* Reads the args of all rows: each is strict JSON. */
static void put_args(struct text *text, const struct trace_file *trace,
                     const struct stopper *stopper, struct failure *failure)
{
    void *begun = trace->source->begin(trace, stopper, failure);
    for (size_t row = 0; begun && row < trace->columns.count; row++) {
        struct token args;
        if (!trace->source->next(begun, trace->columns.event[row], &args, failure))
            break;
        put_number(text, args.kind);
        if (args.kind == TOKEN_NONE)
            continue;
        unsigned char *to = malloc(args.length * MEND_ROOM + 1);
        size_t written;
        MUST(mend_json(args.at, args.length, to, &written) == MEND_STRICT);
        MUST(memchr(args.at + args.length, 1, SCAN_PADDING) == NULL);
        put_array(text, args.at, args.length, 1);
        free(to);
    }
    trace->source->end(begun);
}

/* Loads the file; `text` becomes its columns and args. */
static void load(const struct row_source *kind, const bool *phases, struct text *text)
{
    struct row_source own = *kind;
    const struct row_source *const sources[] = {&own, NULL};
    struct failure failure = {0};
    struct stopper stopper = {.stop = NULL};
    const struct load_options options = {.phases = phases, .sources = sources};
    own.look = always;
    struct trace_file *trace = file_load(path, &options, &stopper, &failure);
    MUST((trace != NULL) == (failure.code == FAILURE_NONE));
    MUST(trace || (failure.code == FAILURE_MEMORY && fail_at > 0));
    if (trace && fail_at == 0) {
        MUST(trace->outcome != DOCUMENT_NOT_TRACE);
        MUST((trace->outcome == DOCUMENT_DAMAGED) == (trace->trouble.code == FAILURE_DAMAGE));
        check_file(trace);
        if (text)
            put_file(text, trace);
    }
    if (trace) {
        struct text unused = {0};
        put_args(text ? text : &unused, trace, &stopper, &failure);
        MUST(failure.code == FAILURE_NONE || (failure.code == FAILURE_MEMORY && fail_at > 0));
        derive(trace);
        free(unused.bytes);
    }
    file_release(trace);
    failure_clear(&failure);
    MUST(live == 0);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    if (size < 3)
        return 0;
    const struct row_source *kind = kinds[data[0] >> 4 & 3];
    const unsigned char *bytes = data + 3;
    size_t length = size - 3;
    bool wanted[256];
    memset(wanted, true, sizeof wanted);
    const bool *phases = data[0] >> 3 & 1 ? wanted : NULL;
    struct text once = {0}, twice = {0}, packed = compressed(bytes, length, (data[0] & 3) + 1);
    any_launch = true;
    bool gzip = length >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
    write_file(bytes, length);
    load(kind, phases, &once);
    write_file(packed.bytes, packed.length);
    load(kind, phases, &twice);
    MUST(gzip || same(&once, &twice));

    fail_on = data[0] >> 2 & 1;
    asked = 0;
    fail_at = data[1] + 1;
    load(kind, phases, NULL);
    fail_at = 0;

    size_t cut = length * data[2] / 256, packed_cut = packed.length * data[2] / 256;
    write_file(bytes, cut);
    load(kind, phases, NULL);
    packed.bytes[packed_cut] ^= data[2] ? data[2] : 0xff;
    write_file(packed.bytes, packed.length);
    load(kind, phases, NULL);
    free(once.bytes);
    free(twice.bytes);
    free(packed.bytes);
    return 0;
}
