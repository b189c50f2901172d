/*
** A fuzz target for logs of the compiler: one file, read plain and packed, which must agree.
**
** An input is two bytes of options and then the log:
**   1. gzip members (two bits), and whether a failing allocation is followed by more (one bit)
**   2. which allocation fails
*/
#include "fuzz.h" /* first: it says what the system's headers are to declare */

#include "compile/compile_load.h"
#include "text/number.h"

static void put_text(struct text *text, const struct compile_log *log, uint32_t id)
{
    const struct name *name = compile_text(log, id);
    put_number(text, name != NULL);
    if (name)
        put_array(text, name->text, name->length, 1);
}

static void put_log(struct text *text, const struct compile_log *log)
{
    for (size_t i = 0; i < log->span_count; i++) {
        const struct compile_span *span = &log->spans[i];
        MUST(span->parent == COMPILE_NONE || span->parent < i);
        MUST(span->self == NUMBER_NONE || (span->self >= 0 && span->self <= span->dur));
        put_number(text, span->line);
        put_number(text, span->ts);
        put_number(text, span->dur);
        put_number(text, span->self);
        put_text(text, log, span->name);
    }
    for (size_t i = 0; i < log->compilation_count; i++) {
        const struct compilation *compilation = &log->compilations[i];
        int64_t sum = 0;
        for (size_t k = 0; compilation->source == BY_EVENTS && k < COMPILE_PHASES; k++)
            sum += compilation->phases[k];
        MUST(compilation->source != BY_EVENTS || sum <= compilation->dur);
        put_number(text, compilation->start);
        put_number(text, compilation->dur);
        put_text(text, log, compilation->function);
        put_text(text, log, compilation->guard);
    }
    put_number(text, (int64_t)log->break_count);
    put_number(text, (int64_t)log->guard_count);
    for (size_t i = 0; i < log->process_count; i++)
        for (size_t k = 0; k < LOG_PROBLEMS; k++)
            put_number(text, log->processes[i].problems[k]);
}

/* Reads the file; `text` becomes what it says, or the code of the failure. */
static void read_log(struct text *text)
{
    struct failure failure = {0};
    struct stopper stopper = {.stop = NULL};
    struct compile_log log = {.files = NULL};
    bool done = compile_load_file(&log, path, true, &stopper, &failure) &&
                compile_load_end(&log, &stopper, &failure);
    MUST(done == (failure.code == FAILURE_NONE));
    MUST(failure.code != FAILURE_MEMORY || fail_at > 0);
    if (done)
        put_log(text, &log);
    put_number(text, failure.code);
    compile_log_clear(&log);
    failure_clear(&failure);
    MUST(live == 0);
}

/* Such a file is unpacked. */
static bool begins_packed(const unsigned char *bytes, size_t length)
{
    return length >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    if (size < 2)
        return 0;
    struct text packed = compressed(data + 2, size - 2, (data[0] & 3) + 1);
    struct text once = {0}, twice = {0}, lost = {0};
    write_file(data + 2, size - 2);
    read_log(&once);
    fail_on = data[0] >> 2 & 1;
    asked = 0;
    fail_at = data[1] + 1;
    read_log(&lost);
    fail_at = 0;
    write_file(packed.bytes, packed.length);
    read_log(&twice);
    MUST(same(&once, &twice) || begins_packed(data + 2, size - 2));
    free(once.bytes);
    free(twice.bytes);
    free(lost.bytes);
    free(packed.bytes);
    return 0;
}
