#include "fr_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "fr_entries_read.h"
#include "json_values.h"

static const char *const key_texts[FR_KEYS] = {
    [FR_KEY_ENTRIES] = "entries",
    [FR_KEY_PG_CONFIG] = "pg_config",
    [FR_KEY_PG_STATUS] = "pg_status",
    [FR_KEY_VERSION] = "version",
    [FR_KEY_NAME] = "name",
    [FR_KEY_DESC] = "desc",
    [FR_KEY_RANKS] = "ranks",
    [FR_KEY_ENQUEUED] = "last_enqueued_collective",
    [FR_KEY_COMPLETED] = "last_completed_collective",
    [FR_KEY_RECORD_ID] = "record_id",
    [FR_KEY_PG_ID] = "pg_id",
    [FR_KEY_PROCESS_GROUP] = "process_group",
    [FR_KEY_COLLECTIVE_SEQ] = "collective_seq_id",
    [FR_KEY_P2P_SEQ] = "p2p_seq_id",
    [FR_KEY_OP_ID] = "op_id",
    [FR_KEY_PROFILING_NAME] = "profiling_name",
    [FR_KEY_CREATED] = "time_created_ns",
    [FR_KEY_STARTED_NS] = "time_discovered_started_ns",
    [FR_KEY_COMPLETED_NS] = "time_discovered_completed_ns",
    [FR_KEY_DURATION] = "duration_ms",
    [FR_KEY_TIMEOUT] = "timeout_ms",
    [FR_KEY_INPUT_SIZES] = "input_sizes",
    [FR_KEY_INPUT_TYPES] = "input_dtypes",
    [FR_KEY_OUTPUT_SIZES] = "output_sizes",
    [FR_KEY_OUTPUT_TYPES] = "output_dtypes",
    [FR_KEY_STATE] = "state",
    [FR_KEY_RETIRED] = "retired",
    [FR_KEY_IS_P2P] = "is_p2p",
    [FR_KEY_THREAD] = "thread_name",
    [FR_KEY_FRAMES] = "frames",
    [FR_KEY_FILENAME] = "filename",
    [FR_KEY_LINE] = "line",
};
_Static_assert((int)FR_KEYS <= (int)MOST_KNOWN_KEYS, "raise MOST_KNOWN_KEYS");

bool fr_job_begin(struct fr_job *job, struct failure *failure)
{
    static const char *const words[FR_WORDS] = {
        [FR_EMPTY] = "",         [FR_COMPLETED] = "completed",
        [FR_STARTED] = "started", [FR_SCHEDULED] = "scheduled",
        [FR_GLOO] = "gloo",      [FR_SEND] = "send",
        [FR_RECV] = "recv",      [FR_COALESCED] = "coalesced",
        [FR_DEFAULT_GROUP] = "default_pg"};
    for (size_t i = 0; i < FR_WORDS; i++)
        if (names_intern(&job->texts, words[i], strlen(words[i])) == NAME_NONE)
            return failure_memory(failure);
    return true;
}

enum fr_kind fr_kind_of(const char *path, struct failure *failure)
{
    enum { OF_PICKLES = 0x80 };
    unsigned char first = 0;
    struct source *source = source_open(path, true, failure);
    bool got = source && source_read(source, &first, 1, failure) == 1;
    source_close(source);
    return !got                  ? FR_NOT_A_DUMP
           : first == OF_PICKLES ? FR_PICKLE
           : first == '{'        ? FR_JSON
                                 : FR_NOT_A_DUMP;
}

/* Notes why a file is unreadable, in Python's terms where these are clearer. */
static bool note_problem(struct fr_dump *dump, const struct pickle *pickle,
                         const struct failure *own)
{
    enum { ROOM = 400 };
    char text[ROOM];
    static const char cannot[] = "cannot be read";
    if (pickle->truncated)
        snprintf(text, sizeof text, "%s: pickle data was truncated", cannot);
    else if (pickle->refused[0])
        snprintf(text, sizeof text, "%s: class %s is not allowed", cannot, pickle->refused);
    else if (own->code == FAILURE_NOT_TRACE)
        snprintf(text, sizeof text, "%s: not a pickle of protocols 2 to 5", cannot);
    else if (own->what && own->byte > 0)
        snprintf(text, sizeof text, "%s: %s at byte %lld", cannot, own->what, own->byte);
    else
        snprintf(text, sizeof text, "%s: %s", cannot, own->what   ? own->what
                                                      : own->text ? own->text
                                                                  : "it has changed");
    size_t size = strlen(text) + 1;
    dump->fate = DUMP_IS_UNREADABLE;
    dump->problem = memory_allocate(size);
    if (dump->problem)
        memcpy(dump->problem, text, size);
    return dump->problem;
}

/* Whether a failure ends the work instead of affecting only this file. */
static bool ends_work(const struct failure *failure)
{
    return failure->code == FAILURE_MEMORY || failure->code == FAILURE_INTERRUPTED ||
           failure->code == FAILURE_READ;
}

/* Removes the data that a damaged file has added. */
static void take_back(struct fr_job *job, struct fr_dump *dump)
{
    job->entry_count = dump->first;
    job->member_count = dump->first_member;
    job->status_count = dump->first_status;
    dump->count = dump->member_count = dump->status_count = 0;
    dump->version = FR_EMPTY;
}

bool fr_read(struct fr_job *job, struct fr_dump *dump, const char *path, bool *is_dump,
             const struct stopper *stopper, struct failure *failure)
{
    struct pickle pickle;
    struct identity identity;
    struct failure own = {FAILURE_NONE, NULL, NULL, 0};
    dump->first = job->entry_count;
    dump->first_member = job->member_count;
    dump->first_status = job->status_count;
    bool done = dump->is_pickle
                    ? pickle_read(&pickle, path, key_texts, FR_KEYS, &identity, stopper, &own)
                    : json_values_read(&pickle, path, key_texts, FR_KEYS, stopper, &own);
    *is_dump = !done || fr_is_dump(&pickle);
    if (done && *is_dump)
        done = fr_entries_read(job, dump, &pickle, path, stopper, &own);
    if (!done && !ends_work(&own)) {
        take_back(job, dump);
        done = note_problem(dump, &pickle, &own) || failure_memory(failure);
    } else if (!done) {
        failure_move(failure, &own);
    }
    failure_clear(&own);
    pickle_clear(&pickle);
    return done;
}
